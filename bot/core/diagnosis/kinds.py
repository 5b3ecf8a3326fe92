"""Every kind of failure with its default words: what it means, and what to do. Rules may say it more exactly."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: its family, one sentence on the cause, one or two on the fix."""

    family: str
    cause: str
    fix: str


KINDS: Mapping[str, Kind] = {
    "gpu_memory_held": Kind(
        "memory",
        "Another or a forgotten process holds memory on the GPU.",
        "Look with nvidia-smi who holds it; end a forgotten server by its process id, leave a foreign job alone "
        "and take other GPUs.",
    ),
    "gpu_memory_unbalanced": Kind(
        "memory",
        "The GPUs of the launch have different amounts of free memory.",
        "Free the GPU that is in use, or choose GPUs that are all empty; if all are, the check is a false alarm "
        "and can be switched off.",
    ),
    "gpu_oom_compute_buffer": Kind(
        "memory",
        "Weights and KV cache fit, the compute buffer does not.",
        "Use a smaller physical batch (-ub), a shorter context, flash attention, or fewer layers on this GPU.",
    ),
    "gpu_oom_graph_capture": Kind(
        "memory",
        "Weights and KV pool left too little memory for capturing CUDA graphs or for the warm-up.",
        "Lower the memory fraction, or capture smaller batches.",
    ),
    "gpu_oom_kv_pool": Kind(
        "memory",
        "After the weights there is no room for the KV pool.",
        "Raise the memory fraction, shorten the context, use a smaller KV type, or use more GPUs.",
    ),
    "gpu_oom_runtime": Kind(
        "memory",
        "The server started well and ran out of GPU memory under load, outside of what start-up had reserved.",
        "Lower the memory fraction (it leaves more for activations), the prefill chunk, or the number of "
        "concurrent requests.",
    ),
    "gpu_oom_weights": Kind(
        "memory",
        "The weights do not fit on the GPUs that the launch uses.",
        "Spread over more GPUs (set the tensor-parallel size; visible GPUs alone are not used) or take a smaller "
        "quantisation.",
    ),
    "host_oom": Kind(
        "memory",
        "The host ran out of RAM.",
        "Give the host or container more RAM, or ask for less: a smaller host cache, fewer parallel loaders, no "
        "other big process.",
    ),
    "kv_pool_exhausted": Kind(
        "memory",
        "At run time the scheduler found no free KV slots and gave up.",
        "Leave head-room: fewer running requests, smaller prefill chunks, or a larger pool.",
    ),
    "context_length": Kind(
        "flags_model",
        "The context length is above what the model or the KV pool allows.",
        "Use the length that the model declares.",
    ),
    "feature_conflict": Kind(
        "flags_model",
        "Two options that are each valid do not work together in this version.",
        "Leave one of them out, or use a version that supports both.",
    ),
    "flag_bad_or_changed": Kind(
        "flags_model",
        "The command line has a flag or value that this version does not take.",
        "Compare with --help of the installed version; the flag was renamed, removed, or needs another value.",
    ),
    "model_config": Kind(
        "flags_model",
        "The model's config.json is missing or has a value that the loader cannot use.",
        "Check the path and the config against the model card; complete or correct it.",
    ),
    "model_files_corrupt": Kind(
        "flags_model",
        "A weight file is truncated or damaged.",
        "Compare sizes and checksums with the hub and download the damaged file again.",
    ),
    "model_files_lfs_pointer": Kind(
        "flags_model",
        "Weight files are git-lfs pointers, not the weights.",
        "Run git lfs pull in the model directory, or download the files with hf download.",
    ),
    "model_files_missing": Kind(
        "flags_model",
        "A file of the checkpoint is missing.",
        "Complete the download (compare with the index) and check the path.",
    ),
    "model_hub_access": Kind(
        "flags_model",
        "The model could not be fetched from the hub.",
        "Check name, token and network; or give the local directory of a complete copy instead of the name.",
    ),
    "model_unsupported_arch": Kind(
        "flags_model",
        "This engine version does not know the model's architecture or file format.",
        "Update the engine (or use the branch the model card names), or choose a checkpoint that it supports.",
    ),
    "spec_config": Kind(
        "flags_model",
        "The speculative flags contradict each other or the draft.",
        "Give steps, topk and draft tokens together (topk 1: drafts = steps + 1), or none of them.",
    ),
    "spec_draft_mismatch": Kind(
        "flags_model",
        "The draft model does not belong to this target.",
        "Use the draft that was trained for this very target, with the algorithm its card names.",
    ),
    "tokenizer_template": Kind(
        "flags_model",
        "Tokenizer or chat template are missing or not usable.",
        "Use the instruct model, add its tokenizer files, or pass a chat template.",
    ),
    "tp_divisibility": Kind(
        "flags_model",
        "A dimension of the model does not divide by the parallel size.",
        "Choose a parallel size that divides heads, experts and quantisation blocks.",
    ),
    "attention_backend_unsupported": Kind(
        "environment",
        "The attention backend cannot serve this model on this GPU.",
        "Choose another attention backend (triton serves most shapes) or another KV dtype.",
    ),
    "compile_toolchain": Kind(
        "environment",
        "A kernel must be compiled at start and cannot be.",
        "Install what is missing (CUDA toolkit with nvcc, ninja, gcc, Python headers) at a matching version, and "
        "clear the kernel cache.",
    ),
    "gpu_arch_unsupported": Kind(
        "environment",
        "There is no code for this GPU's architecture.",
        "Use a build for this GPU, or a checkpoint and dtype that it supports.",
    ),
    "kernel_fault": Kind(
        "environment",
        "A GPU kernel failed: illegal access, failed assertion, or wrong results.",
        "Change the version or the code path (attention backend, CUDA graphs, speculation, MoE backend); run "
        "once with CUDA_LAUNCH_BLOCKING=1.",
    ),
    "missing_shared_library": Kind(
        "environment",
        "A shared library is missing from this environment.",
        "Install the package that brings it, or put its directory on LD_LIBRARY_PATH.",
    ),
    "python_env": Kind(
        "environment",
        "The Python environment is wrong or broken.",
        "Check which interpreter the command uses and what is installed in it; rebuild the environment from one "
        "lock file.",
    ),
    "version_mismatch_cuda": Kind(
        "environment",
        "torch, CUDA libraries, toolkit and driver do not fit together.",
        "Bring them to one CUDA version: reinstall from one index, or update the driver.",
    ),
    "version_mismatch_kernel": Kind(
        "environment",
        "A kernel package does not fit the engine or torch.",
        "Install the version that this engine release pins, built for the torch and CUDA in use.",
    ),
    "version_mismatch_transformers": Kind(
        "environment",
        "The installed transformers does not fit the model or the engine.",
        "Install the transformers version that the engine pins; for a newer model, update both.",
    ),
    "cuda_unavailable": Kind(
        "host",
        "No usable CUDA device is visible to the server.",
        "Check nvidia-smi in the same container and as the same user, load nvidia_uvm, pass the devices through, "
        "and use a CUDA build.",
    ),
    "disk_full": Kind(
        "host",
        "A disk that the server writes to is full.",
        "Free space (df -h), or move the model cache, temp and compile cache to a larger volume.",
    ),
    "driver_mismatch": Kind(
        "host",
        "The NVIDIA driver parts, or driver and CUDA runtime, do not fit.",
        "Reboot (or reload the modules) after a driver update; update the driver, or install a build for the "
        "CUDA version that it supports.",
    ),
    "gpu_hw_fault": Kind(
        "host",
        "The GPU or its link had a hardware or driver fault.",
        "Read the kernel log (Xid, AER), reset or reboot, and take the GPU out if it repeats.",
    ),
    "permission_device": Kind(
        "host",
        "The process may not open the GPU's device nodes.",
        "Fix the rights of /dev/nvidia*, the container's device list, or the user's groups.",
    ),
    "port_in_use": Kind(
        "host",
        "The port is taken by another process.",
        "Find the owner (ss -ltnp) and stop it, or use another port.",
    ),
    "shm_too_small": Kind(
        "host",
        "/dev/shm is too small.",
        "Start the container with --shm-size=16g or --ipc=host.",
    ),
    "systemd_restart_loop": Kind(
        "host",
        "systemd restarts the unit again and again, or has given up.",
        "Read the first failure in the journal, look for a stray process that holds port or GPU, then "
        "reset-failed and start once.",
    ),
    "systemd_sandbox": Kind(
        "host",
        "A hardening option of the unit breaks the server.",
        "Allow what it needs: AF_UNIX and AF_NETLINK, the /dev/nvidia* devices, its cache directories; compare "
        "with a start by hand.",
    ),
    "ulimit_nofile": Kind(
        "host",
        "The limit of open files is too low.",
        "Set LimitNOFILE=1048576 in the unit (or ulimit -n before the start).",
    ),
    "hang_nccl_p2p": Kind(
        "communication",
        "The start stops at the first collective without an error: peer-to-peer traffic does not get through.",
        "Try NCCL_P2P_DISABLE=1; the cure is to switch off ACS and IOMMU translation in BIOS and kernel command line.",
    ),
    "hang_watchdog": Kind(
        "communication",
        "A running server froze: no rank makes progress.",
        "Restart it; take a stack of each rank (py-spy) next time, and try without custom all-reduce or with "
        "another version.",
    ),
    "health_lies": Kind(
        "communication",
        "The health endpoint does not tell the truth about the engine.",
        "Ask for a real token instead of /health, and restart the server.",
    ),
    "nccl_comm": Kind(
        "communication",
        "Setting up the communication between GPUs or nodes failed.",
        "Run with NCCL_DEBUG=INFO and read the first WARN; check interface names, peer access and the other "
        "node's log.",
    ),
    "nccl_memlock_enomem": Kind(
        "communication",
        "Memory could not be registered for RDMA: the locked-memory limit is too low.",
        "Set LimitMEMLOCK=infinity (or --ulimit memlock=-1 for the container).",
    ),
    "slow_after_upgrade": Kind(
        "slow",
        "Slower since a version changed, with the same flags.",
        "Compare both versions at equal load; go back to the faster one.",
    ),
    "slow_comm": Kind(
        "slow",
        "Traffic between the GPUs is slow.",
        "Get peer-to-peer to work (topology, ACS, slot width, custom all-reduce), or use fewer GPUs.",
    ),
    "slow_cuda_graph_off": Kind(
        "slow",
        "Decode runs without CUDA graphs.",
        "Switch CUDA graphs on and capture batches as large as the number of running requests.",
    ),
    "slow_gpu_clocks": Kind(
        "slow",
        "The GPU does not run at its clocks.",
        "Look at throttle reasons and power limits under load.",
    ),
    "slow_moe_config": Kind(
        "slow",
        "The MoE kernel has no tuned config for this GPU.",
        "Tune it and measure; it is often not the reason.",
    ),
    "slow_other": Kind(
        "slow",
        "The server is slow, and the log does not say why.",
        "Compare with the best earlier launch: flags, versions, clocks, other tenants.",
    ),
    "slow_spec": Kind(
        "slow",
        "Speculative decoding costs more than it gives.",
        "Check draft, algorithm and depth against what was proven; measure once without speculation.",
    ),
    "benign_warning": Kind(
        "other",
        "The alarming line is harmless; it is not the problem.",
        "Nothing needs to change for it; look for another reason if something is wrong.",
    ),
    "unknown": Kind(
        "other",
        "No known cause was recognised in this log.",
        "Read the lines shown, first of all the earliest error.",
    ),
}
