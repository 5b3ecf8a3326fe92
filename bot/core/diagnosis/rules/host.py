"""The host: CUDA devices, driver, hardware, permissions, disk, ports, limits, systemd."""

from bot.core.diagnosis.rule import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        kind="cuda_unavailable",
        weight=90,
        pattern=r"failed to initialize cuda|no cuda gpus are available|no cuda-capable device|no cuda devices found"
        r"|torch not compiled with cuda|"
        r"cuda (?:is|was) not available|no gpu detected|cuda unknown error|cuda driver initialization failed|"
        r"no (?:usable|compatible) gpu found|no accelerator \(|could not select device driver"
        r"|nvidia-smi: (?:command )?not found|nvml: driver not loaded|"
        r"driver not loaded|couldn't communicate with the nvidia driver|system not yet initialized"
        r"|cuda_error_no_device|cudaerrornodevice|"
        r"cudaerrorsystemnotready|unexpected error from cudagetdevicecount|vram init failure|cuinit.*(?:fail"
        r"|error|999|100)|nvmlinit\w*.*(?:fail|error)|"
        r"found no nvidia driver|no nvidia (?:driver|gpu)|devices? (?:busy or )?unavailable"
        r"|not compiled with gpu|compiled without (?:gpu|cuda)|"
        r"offloaded 0/\d+ layers|unable to load cuda (?:management|driver)|nvml (?:shared )?library not found"
        r"|libcuda\.so.*cannot be found|no devices found|module nvidia not found|modprobe nvidia_uvm"
        r"|no gpu found|is cuda available: false",
        never=r"version mismatch|api mismatch|driver on your system is too old|error 80[34]"
        r"|insufficient permissions|forward compatibility|permission denied|unsatisfied condition",
        survives=True,
        cause="The server finds no usable CUDA device although the hardware is there (device nodes, module, or a "
        "build without CUDA).",
        alternatives=("driver_mismatch", "permission_device"),
    ),
    Rule(
        kind="cuda_unavailable",
        weight=72,
        pattern=r"no devices were found|failed to infer device type|invalid device: cuda|invalid device ordinal",
        sure=False,
        never=r"unrecognized arguments|permission denied|unhandled",
        cause="No GPU is visible to this process.",
        alternatives=("permission_device", "gpu_hw_fault"),
    ),
    Rule(
        kind="permission_device",
        weight=84,
        pattern=r"no devices were found|no cuda gpus are available|failed to initialize nvml",
        also=r"\bsu (?:- ?)?\w+ -c|--user |lxc exec|unprivileged|pct exec|lxc\.cgroup|devices\.allow"
        r"|nobody nogroup|user=",
        cause="The GPU's device nodes are not open to this user or container; NVML then sees no devices.",
        alternatives=("cuda_unavailable",),
    ),
    Rule(
        kind="permission_device",
        weight=94,
        pattern=r"permission denied.{0,60}/dev/(?:nvidia|kfd|dri)|/dev/(?:nvidia|kfd"
        r"|dri)\S*.{0,60}(?:permission denied|operation not permitted|can't open|cannot open)|"
        r"insufficient permissions|bpf_prog_query|device cgroup|cgroup subsystem devices"
        r"|cgroup.{0,60}(?:operation not permitted"
        r"|permission denied|devices?\.)|"
        r"failed to initialize nvml: (?:unknown error|insufficient)|mknod.{0,60}(?:not permitted|nvidia)"
        r"|nvidia-container-cli: .*(?:permission|operation not permitted|mount error)|"
        r"lxc\.(?:cgroup2?|mount)\S*.*nvidia|nvidia-uvm.{0,60}(?:operation not permitted|permission)"
        r"|unable to (?:open|access) /dev/nvidia|not a member of the (?:render|video)",
        cause="The process may not use the GPU's device nodes (file permissions, cgroup device list, container "
        "or LXC set-up).",
        alternatives=("cuda_unavailable",),
    ),
    Rule(
        kind="driver_mismatch",
        weight=96,
        pattern=r"driver/library version mismatch|api mismatch: the client has (?:the )?version (?P<client>[\d.]+)|"
        r"driver on your system is too old(?: \(found version (?P<found>\d+)\))?"
        r"|driver version is insufficient for cuda runtime|"
        r"unsatisfied condition: (?:cuda|driver)\S*|forward compatibility was attempted"
        r"|unsupported display driver|cudaerrorsystemdrivermismatch|"
        r"cudaerrorinsufficientdriver|error 80[34]\b|kernel module .*(?:has )?(?:the )?version"
        r"|please update your gpu driver|"
        r"driver (?:version )?(?:too old|is too old|does not support)|(?:requires"
        r"|needs) (?:a )?(?:newer )?(?:nvidia )?driver|nvml library version",
        cause="The NVIDIA kernel module, the user-space driver and the CUDA runtime are not of versions that fit.",
        alternatives=("version_mismatch_cuda", "cuda_unavailable"),
    ),
    Rule(
        kind="gpu_hw_fault",
        weight=94,
        pattern=r"fallen off the bus|gpu is lost|uncorrectable ecc|ecc error(?!s\b)|double[- ]bit"
        r"|gsp (?:rpc )?(?:timeout|heartbeat|error)|gsp_rpc"
        r"|timeout (?:after \d+s )?(?:of )?waiting for rpc|"
        r"rm_?init_?adapter|row[- ]remap|nvlink.{0,30}(?:fatal|error|recovery|failed)|gpu requires reset"
        r"|requires? (?:a )?(?:gpu )?reset|cudaerroreccuncorrectable|hardware stack error|"
        r"unable to determine the device handle|pcie bus error|\baer: |gpu has (?:crashed|hung)|ring \w+ timeout"
        r"|xid \(pci:(?P<pci>[^)]+)\): (?P<xid>48|56|57|58|61|62|63|64|74|79|92|94|95|109|110|119|120|121|122"
        r"|123|136|137|140|143|149|154)\b",
        cause="The driver reports a fault of the GPU, its link or its firmware; that the process died is a "
        "consequence.",
        alternatives=("kernel_fault",),
    ),
    Rule(
        kind="gpu_hw_fault",
        weight=80,
        pattern=r"\bxid\b(?: \(pci:[^)]*\))?:? ?(?P<xid>\d+)",
        never=r"illegal memory access|device-side assert|illegal_address|out of memory: killed",
        sure=False,
        cause="The kernel log has Xid {xid}. Xid 13, 31, 43 and 45 can also come from a program's own faulty "
        "memory access.",
        alternatives=("kernel_fault",),
    ),
    Rule(
        kind="gpu_hw_fault",
        weight=66,
        pattern=r"segmentation fault",
        also=r"hip transport|rocm|\bhca|ionic|mooncake|transfer_engine",
        sure=False,
        never=r"nvcc|ninja|traceback \(most",
        cause="Every rank crashed in native code at the same place while talking to the device or the fabric.",
        fix="Run the same launch on another node; if it works there, look at this node's GPUs, NICs and firmware.",
        alternatives=("kernel_fault",),
    ),
    Rule(
        kind="disk_full",
        weight=95,
        pattern=r"no space left on device|errno 28|disk quota exceeded|is over 9\d% full"
        r"|not enough (?:free )?disk space|enospc|disk (?:is )?full|"
        r"insufficient disk|low disk space|\s100% /\S*$|not enough space on (?:the )?(?:disk|device)|out of disk",
        never=r"/dev/shm|inotify|shared memory segment|shm",
        cause="A file system that the server writes to (model cache, temp, compile cache, container layer) is full.",
    ),
    Rule(
        kind="shm_too_small",
        weight=96,
        pattern=r"(?:creating|create|extend|allocate).{0,30}shared memory segment|/dev/shm.{0,120}(?:no space"
        r"|failed|error|too small|size)|"
        r"no space left on device.{0,60}(?:/dev/shm|shm)|insufficient shared memory|out of shared memory"
        r"|not enough (?:space in )?(?:/dev/shm|shared memory)|"
        r"unable to (?:open|allocate|create) shared memory|shared memory (?:is )?(?:too small|limit)|(?:increase"
        r"|raise|larger|set) .{0,20}shm[-_]size|shm_open.{0,60}(?:fail|error|no such)|"
        r"bus error.{0,80}(?:shm|shared memory)",
        cause="/dev/shm is too small for the shared-memory segments of NCCL or of the worker processes.",
    ),
    Rule(
        kind="port_in_use",
        weight=93,
        pattern=r"address already in use|eaddrinuse|errno 98"
        r"|couldn't bind http server socket, hostname: (?:127\.|0\.0\.0\.0|localhost|::)"
        r"|port (?P<port>\d+) (?:is )?(?:already )?(?:in use|not available|occupied|taken|used)|"
        r"\bport\b.{0,40} is not available in \d+|only \S+ .{0,20}owns? (?:the )?port|port is already allocated"
        r"|only one usage of each socket|failed to bind"
        r"|server socket has failed to listen|error binding|bind failed|unable to bind|"
        r"could not bind|port (?:\d+ )?(?:is )?already|failed to listen on|another (?:server|instance"
        r"|process) is (?:already )?(?:listening|running|using)",
        cause="The port (HTTP or an internal one) is taken by another process.",
        alternatives=("systemd_restart_loop",),
    ),
    Rule(
        kind="port_in_use",
        weight=80,
        pattern=r"couldn't bind (?:http )?(?:server )?socket(?:, hostname: (?P<address>\S+), port: (?P<port>\d+))?",
        sure=False,
        cause="The server could not bind {address} port {port}: the port is taken, or the address is not one of "
        "this host's.",
        fix="Check the owner of the port (ss -ltnp) and that the host has the address (ip addr).",
    ),
    Rule(
        kind="ulimit_nofile",
        weight=95,
        pattern=r"too many open files|errno 24\b|\bemfile\b",
        cause="The limit of open files of this process is too low.",
    ),
    Rule(
        kind="ulimit_nofile",
        weight=72,
        pattern=r"(?:open files|nofile|max open files)\D{1,60}(?P<value>\d+)\b",
        check="low_limit",
        never=r"ibv_reg_mr",
        sure=False,
        cause="The limit of open files is {value}, too low for a server with many workers and connections.",
        alternatives=("nccl_comm",),
    ),
    Rule(
        kind="systemd_restart_loop",
        weight=86,
        pattern=r"start request repeated too quickly|start-limit-hit|restart counter is at (?P<count>\d{2,})",
        cause="systemd starts the unit again and again without cure (or has given up); the first failure is the cause.",
        alternatives=("port_in_use", "gpu_memory_held"),
        sure=True,
    ),
    Rule(
        kind="systemd_restart_loop",
        weight=64,
        pattern=r"restart counter is at (?P<count>\d+)|scheduled restart job|service holdoff time over"
        r"|restarting \(\d+\) \S+ ago|back-off restarting|crashloopbackoff",
        sure=False,
        cause="The unit is restarted after each exit; the reason of the exit itself is not in these lines.",
    ),
    Rule(
        kind="systemd_restart_loop",
        weight=60,
        pattern=r"deactivated successfully|code=exited, status=0/success|main process exited, code=exited"
        r"|execmainstatus=0|result=success|nrestarts=",
        also=r"systemd\[\d+\]|execmainstatus|nrestarts",
        sure=False,
        never=r"sigterm|stopping ",
        cause="The unit ended by itself; with exit code 0 Restart=on-failure does not start it again.",
    ),
    Rule(
        kind="systemd_sandbox",
        weight=94,
        pattern=r"status=22[468]/\w+|status=218/capabilities|failed to set up mount namespacing"
        r"|failed at step (?:namespace|seccomp|capabilities|apparmor|address_families|device)|"
        r"errno 97\b.*address family|address family not supported|audit: .*(?:seccomp|apparmor=\"denied\")"
        r"|bad system call|sigsys",
        cause="A hardening option of the unit takes something away that the server needs; by hand the same "
        "command works.",
    ),
    Rule(
        kind="systemd_sandbox",
        weight=74,
        pattern=r"restrictaddressfamilies|protectclock|privatedevices|protectsystem|protecthome|protectkerneltunables"
        r"|ipaddressdeny|memorydenywriteexecute|systemcallfilter|restrictnamespaces|devicepolicy=",
        sure=False,
        cause="The unit has hardening options, which can take away sockets, devices or files that the server needs.",
        alternatives=("systemd_restart_loop", "permission_device"),
    ),
    Rule(
        kind="systemd_sandbox",
        weight=78,
        pattern=r"read-only file system|errno 30\b",
        also=r"systemd\[\d+\]|\.service",
        sure=False,
        cause="The unit may not write where the server writes (ProtectSystem or ProtectHome).",
        alternatives=("disk_full",),
    ),
    Rule(
        kind="systemd_sandbox",
        weight=62,
        pattern=r"engine process failed to start|operation not permitted|permission denied",
        also=r"systemd\[\d+\]",
        never=r"restart counter|/dev/nvidia|address already|out of memory|oom",
        sure=False,
        cause="Under systemd the server could not start its processes; a hardening option of the unit is a "
        "likely reason when the command works by hand.",
        alternatives=("systemd_restart_loop", "permission_device"),
    ),
)
