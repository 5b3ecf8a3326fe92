"""Collective communication and hangs. An error is `nccl_comm`; silence is a hang."""

from bot.core.diagnosis.rule import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        kind="nccl_memlock_enomem",
        weight=97,
        pattern=r"ibv_(?:reg_mr|create_cq|create_qp|reg_dmabuf)\w*.{0,80}(?:cannot allocate memory|enomem"
        r"|errno 12|failed)|max locked memory\D+\d{2,5}$|"
        r"(?:register|registration).{0,40}memory.{0,60}(?:cannot allocate|enomem|failed)|memlock|rlimit_memlock",
        cause="Memory could not be registered with the RDMA card: the limit of locked memory is too low.",
        alternatives=("nccl_comm",),
    ),
    Rule(
        kind="nccl_comm",
        weight=93,
        pattern=r"peer access is not supported between|custom_all_reduce\.cu\S*|no socket interface found"
        r"|unable to find address for|duplicate gpu detected|"
        r"remote process exited or there was a network error|connect to \S+ (?:failed|returned) ?:?"
        r"|exceeded error retry count|socketstartconnect|ncclossocketpoll|"
        r"makedevicefor(?:interface|hostname)|nvshmem.{0,60}(?:error|fail|abort)|ncclremoteerror"
        r"|ncclinvalidusage|ncclinternalerror|"
        r"cudaipc\w*.{0,40}(?:fail|error|invalid)|ibv_\w+ failed|no route to host|handshake.{0,40}(?:fail"
        r"|timeout)|wrong (?:network )?interface",
        never=r"ibv_reg_mr|error while creating shared memory",
        cause="The GPUs or nodes could not set up their communication (peer access, interface, network).",
        alternatives=("hang_nccl_p2p",),
    ),
    Rule(
        kind="nccl_comm",
        weight=84,
        pattern=r"nccl error|rccl error|distbackenderror|unhandled (?:cuda|system) error|ncclsystemerror"
        r"|ncclunhandledcudaerror|"
        r"gloo.{0,80}(?:fail|timeout|timed out|refused|error|closed)|connectfullmesh|hip failure"
        r"|ncclcommin?it\w+.{0,60}(?:fail|error)|nccl failure",
        never=r"error while creating shared memory|/dev/shm|ibv_reg_mr|watchdog caught|out of memory"
        r"|cannot allocate memory|uncorrectable|fallen off",
        sure=False,
        cause="Setting up collective communication failed with an error.",
        alternatives=("shm_too_small", "hang_watchdog", "nccl_memlock_enomem"),
    ),
    Rule(
        kind="nccl_comm",
        weight=82,
        pattern=r"(?:runtimeerror|cuda error|cudaerror|assertionerror|exception)\b.{0,40}(?:invalid (?:argument"
        r"|device|resource)|operation not"
        r"|not (?:supported|permitted)|peer|mapping|ipc)",
        near=r"custom_all_?reduce|pynccl|register_graph_buffers|quick_all_reduce|symm_mem|all_reduce_utils"
        r"|open_mem_handle",
        sure=False,
        cause="The engine's own all-reduce could not be set up between these GPUs.",
        fix="Turn the custom all-reduce off (--disable-custom-all-reduce), or find why the GPUs cannot reach each "
        "other.",
        alternatives=("slow_comm", "hang_nccl_p2p"),
    ),
    Rule(
        kind="nccl_comm",
        weight=58,
        pattern=r"nccl warn (?!.*(?:libibverbs|net/ib : no device|missing \"iommu|acpi))",
        never=r"/dev/shm|ibv_reg_mr|watchdog caught",
        sure=False,
        cause="NCCL warned while it set up communication.",
        alternatives=("hang_nccl_p2p",),
    ),
    Rule(
        kind="nccl_comm",
        weight=60,
        pattern=r"tcpstore.{0,80}(?:fail|time)|client socket has timed out|connection (?:closed by peer"
        r"|reset by peer|refused)|rendezvous|dist_init|"
        r"socket timeout|failed to connect to (?:the )?(?:master|store|\S+:\d+)",
        near=r"torch|distributed|init_process_group|store|gloo|rank|dist_init",
        never=r"huggingface|out of memory|address already",
        sure=False,
        cause="A process of the group could not reach the others' rendezvous.",
        alternatives=("port_in_use", "hang_watchdog"),
    ),
    Rule(
        kind="hang_watchdog",
        weight=93,
        pattern=r"watchdog timeout|watchdog caught collective|scheduler watchdog|engine iteration timed out"
        r"|collective operation timeout|"
        r"ran for \d+ milliseconds before timing out|rpc call to \w+ timed out|heartbeat monitor timed out"
        r"|processgroupnccl.*(?:timeout|hang)|"
        r"last enqueued nccl work|(?:execute_model|sample_tokens|forward)\w* .*timed out|stuck rank"
        r"|collective mismatch|soft watchdog|"
        r"detected (?:a )?hang|worker [^.;|]{0,30}(?:hung\b|is unresponsive|not respond)|timeouterror: (?:rpc|engine)",
        never=r"illegal memory access|fallen off the bus|uncorrectable ecc|ran out of memory|torch\.outofmemory",
        cause="A running server stopped making progress until its watchdog ended it: a rank or collective hangs.",
        alternatives=("nccl_comm", "kernel_fault"),
    ),
    Rule(
        kind="hang_watchdog",
        weight=80,
        pattern=r"generation throughput: (?P<speed>0\.0) tokens/s, running: (?P<requests>[1-9]\d*) reqs",
        check="frozen",
        cause="{requests} requests are running and no token comes: the engine is stuck.",
        alternatives=("health_lies",),
        sure=False,
    ),
    Rule(
        kind="hang_watchdog",
        weight=72,
        pattern=r"#running-req: (?P<requests>[1-9]\d*),.*gen throughput \(token/s\): (?P<speed>0\.00?)\b",
        check="frozen",
        sure=False,
        alternatives=("health_lies",),
    ),
    Rule(
        kind="hang_watchdog",
        weight=70,
        pattern=r"no available shared memory broadcast block|"
        r"(?:request|server|engine|scheduler|decode|generation) (?:hangs?|is stuck|freezes?|froze|stalls?"
        r"|stopped responding)|(?:no progress|stuck) for \d+",
        sure=False,
        phases=("listening", "ready", "spawned"),
        cause="The engine's processes wait for one another and nothing moves.",
        alternatives=("health_lies", "hang_nccl_p2p"),
    ),
    Rule(
        kind="hang_nccl_p2p",
        weight=72,
        pattern=r"no available shared memory broadcast block",
        phases=("distributed", "weights", "kv_cache", "graphs"),
        sure=False,
        cause="The workers wait for one another before the server is up: the first collective does not come back.",
        overrides="no_p2p",
        alternatives=("hang_watchdog",),
    ),
    Rule(
        kind="hang_nccl_p2p",
        weight=82,
        pattern=r"acs (?:is )?(?:enabled|redirect)|iommu.{0,60}(?:enabled|p2p|peer|translat)|p2p.{0,40}(?:hang"
        r"|hung|broken|corrupt|fails? test|test failed|does not work)|"
        r"\b(?:hang|hung|stuck|stall)\w*.{0,60}(?:nccl|p2p|all_?reduce|init_process_group|pynccl)|(?:nccl|p2p"
        r"|all_?reduce|pynccl).{0,60}(?:\bhangs?|\bhung|\bstuck|\bstall)",
        never=r"traceback \(most|watchdog",
        cause="GPU peer-to-peer traffic does not work on this machine (ACS, IOMMU), so the first collective "
        "waits for ever.",
        overrides="no_p2p",
        sure=False,
    ),
    Rule(
        kind="hang_nccl_p2p",
        weight=66,
        pattern=r"nccl info (?!.*abort)|is using nccl|nccl version \d|init torch distributed begin"
        r"|found nccl from library|distributed_init_method|"
        r"p2p_access_cache|generating gpu p2p|custom_all_reduce|rank \d+ (?:in world size|is assigned)"
        r"|using (?:network|non-device net)",
        tail=3,
        never=r"traceback \(most|\berror\b|nccl warn|out of memory|watchdog|capture cuda graph|fired up"
        r"|startup complete|exited with|refused",
        sure=False,
        cause="The log ends at the set-up of the collectives without any error: the first exchange between the "
        "GPUs does not come back.",
        overrides="no_p2p",
        alternatives=("nccl_comm", "hang_watchdog"),
    ),
    Rule(
        kind="hang_nccl_p2p",
        weight=68,
        pattern=r"(?:processed prompts|generating|warm-?up\w*|profiling)\W+0%",
        tail=3,
        also=r"nccl|world_size|tensor_parallel|nranks",
        never=r"traceback \(most|\berror\b|out of memory",
        sure=False,
        cause="The communicators were set up and the first real work never gets on: traffic between the GPUs "
        "does not come back.",
        overrides="no_p2p",
        alternatives=("hang_watchdog",),
    ),
    Rule(
        kind="health_lies",
        weight=46,
        pattern=r"\"get /(?:health\S*|ping|v1/models) http/[\d.]+\" 200",
        tail=2,
        never=r"fired up|startup complete|decode batch|prefill batch|\"post |throughput|traceback \(most"
        r"|listening on|sigterm|shutting down",
        sure=False,
        cause="All that the log shows is the health probe being answered; nothing in it shows that tokens come.",
        alternatives=("hang_watchdog",),
    ),
    Rule(
        kind="health_lies",
        weight=86,
        pattern=r"\"get /health\S* http/[\d.]+\" 200",
        also=r"scheduler hit an exception|scheduler is dead|enginedeaderror|engine is dead|process \S+ (?:died"
        r"|is dead|crashed)|sigquit received",
        check="",
        cause="The health endpoint goes on answering 200 although the engine behind it has died.",
        fix="Watch for real tokens (or the process itself), not for /health; restart the server.",
        sure=False,
    ),
    Rule(
        kind="hang_watchdog",
        weight=72,
        pattern=r"couldn't get a response from (?:the )?detokenizer(?:.*?tic start time: (?P<tick>[\d:]+).*?last"
        r"_heartbeat time: "
        r"(?P<beat>[\d:]+))?",
        check="heartbeat_old",
        sure=False,
        cause="The health check got no token, and the last sign of the engine is from {beat}: it hangs.",
        alternatives=("health_lies",),
    ),
    Rule(
        kind="health_lies",
        weight=66,
        pattern=r"couldn't get a response from (?:the )?detokenizer|health check failed",
        sure=False,
        cause="The health check gave up after its time-out; a long prefill does that to a healthy server, too.",
        fix="Poll less often than the time-out and raise SGLANG_HEALTH_CHECK_TIMEOUT; if no token comes at all, "
        "it is a hang.",
        alternatives=("hang_watchdog",),
    ),
    Rule(
        kind="health_lies",
        weight=76,
        pattern=r"abort(?:ed|ing)? request|(?:scheduler|server) hit an exception|traceback \(most",
        near=r"\"get /health_generate",
        never=r"out of memory|illegal memory|watchdog|nccl error|outofmemory|\"post /",
        sure=False,
        cause="Right after a generating health probe its request was aborted and the server raised.",
        fix="Probe without generation, less often than its time-out, and update the engine.",
        alternatives=("hang_watchdog", "kernel_fault"),
    ),
    Rule(
        kind="health_lies",
        weight=84,
        pattern=r"health_check.{0,80}(?:error|exception|assert|keyerror)|(?:error|exception|assert"
        r"|keyerror).{0,80}health_check|rid=['\"]?health_check",
        sure=False,
        cause="The probe's own generating request brought the server down.",
        fix="Probe without generation, less often than its time-out, and update the engine.",
        alternatives=("hang_watchdog",),
    ),
    Rule(
        kind="health_lies",
        weight=88,
        pattern=r"(?:/health\S*|health endpoint|health check|liveness|readiness).{0,60}(?:still|always|keeps"
        r"|returns?|answers?|reports?|says) .{0,30}(?:200|ok\b|healthy)",
        never=r"\"get /health",
        sure=False,
        cause="The health endpoint says 200 while no tokens come.",
    ),
    Rule(
        kind="health_lies",
        weight=78,
        pattern=r"(?:\"get )?/(?:\w+/)*(?:health\S*|live|ready|ping)\b.{0,60}\b(?:200|ok)\b",
        also=r"\b(?:engine\w*|scheduler|worker|backend)\b.{0,40}\b(?:gone|dead|died|killed|kill|stuck|hung|hangs?)\b"
        r"|\b(?:inference|requests?"
        r"|generat\w+|completions?)\b.{0,60}\b(?:hangs?|stuck|never (?:return|finish|complete)\w*|time ?out"
        r"|timed out)\b",
        never=r"watchdog|traceback \(most",
        survives=True,
        sure=False,
        cause="The health endpoint answers 200 while the engine behind it does not answer.",
        fix="Watch for real tokens (or the process itself), not for /health; restart the server.",
        alternatives=("hang_watchdog",),
    ),
)
