"""GPU and host memory. An out-of-memory is filed under the phase in which it happens: start-up and run time need
opposite moves."""

from bot.core.diagnosis.rule import Rule

#: a CUDA or HIP allocation that failed, as torch says it (2.x, 2.5+, AcceleratorError of 2.8+)
OOM = (
    r"torch\.(?:cuda\.)?outofmemoryerror|\boutofmemoryerror\b|(?:cuda|hip) (?:error: )?out of memory|"
    r"cudaerrormemoryallocation|hiperroroutofmemory|cuda_error_out_of_memory|cuda failure.{0,12}out of memory"
    r"|cu(?:blas|dnn)_status_alloc_failed|cublas_status_not_initialized|cuda error:? 2\b"
)
#: the numbers of torch's message, where they stand on the same line
OOM_NUMBERS = (
    r"(?:tried to allocate (?P<tried>[\d.]+) (?P<triedunit>[gm]ib)\. )?gpu \d+ has a total capaci?ty of (?P<tota"
    r"l>[\d.]+) gib"
    r"(?: of which (?P<free>[\d.]+) (?P<freeunit>[gm]ib) is free)?"
    r"(?:.*?of the allocated memory (?P<mine>[\d.]+) (?P<mineunit>[gm]ib) is allocated by pytorch)?"
)
_OOM_FULL = rf"(?:{OOM})(?:.*?{OOM_NUMBERS})?"

GRAPH_FRAMES = (
    r"cuda_graph_runner|init_cuda_graphs|init_device_graphs|capture_one_batch|capture_model|cudagraph_capturing|"
    r"cudagraph_utils|capture_one_stream|in capture\b|cuda_graph_backend|_capture_graph|capture cuda graph|"
    r"piecewise_cuda_graph|compile_or_warm_up_model|kernel_warmup|warming up sampler|"
    r"torch/cuda/graphs\.py|in capture_(?:end|begin)\b"
)
POOL_FRAMES = (
    r"memory_pool|init_memory_pool|_init_mamba_pool|initialize_kv_cache|allocate_kv_cache|_allocate_kv|cache_engine|"
    r"initialize_cache|kv_cache_utils|init_kv_cache|create_buffers|_create_kv_buffers|token_to_kv_pool|mamba_pool"
)
PROFILE_FRAMES = (
    r"profile_run|determine_available_memory|determine_num_available_blocks|profile_num_available|_dummy_run"
)
WEIGHT_FRAMES = (
    r"load_model|load_weights|create_weights|initialize_model|process_weights_after_loading|weight_utils|"
    r"model_loader|get_model\(|_initialize_model|loader\.py|replace_parameter|repack"
)
RUN_FRAMES = (
    r"event_loop|run_batch|forward_batch_generation|process_input_queue|run_busy_loop|execute_model|step_with_batch|"
    r"run_engine_loop|sample_tokens|_engine_step|process_batch_result|forward_extend|engine_step|"
    r"_continuation_prefill|_forward_(?:prefill|decode)|failed execution|error in model execution"
)
FIRST_TOUCH_FRAMES = (
    r"mem_get_info|memorysnapshot|init_device|torch\.cuda\.set_device|_cuda_setdevice|_lazy_init|cuda_init|"
    r"get_available_gpu_memory|init_torch_distributed|init_worker_distributed|current_memory_usage|empty_cache"
)

RULES: tuple[Rule, ...] = (
    # --- memory that somebody else has
    Rule(
        kind="gpu_memory_held",
        weight=96,
        pattern=r"free memory on device (?P<device>\S+ )?\((?P<free>[\d.]+)/(?P<total>[\d.]+) gib\) on startup i"
        r"s less than "
        r"desired gpu memory utilization \((?P<fraction>[\d.]+), (?P<needed>[\d.]+) gib\)",
        check="taken_by_another",
        cause="Only {free} of {total} GiB were free on the GPU when the server started, and it wants {needed} "
        "GiB: another "
        "process has the rest.",
        fix="Look with nvidia-smi who holds the memory (a previous server that has not ended, another job) and "
        "start when it "
        "is free; the share that is free now would allow a smaller memory fraction.",
        overrides="memory_to_free",
        alternatives=("gpu_oom_kv_pool",),
    ),
    Rule(
        kind="gpu_oom_kv_pool",
        weight=96,
        pattern=r"free memory on device (?P<device>\S+ )?\((?P<free>[\d.]+)/(?P<total>[\d.]+) gib\) on startup i"
        r"s less than "
        r"desired gpu memory utilization \((?P<fraction>[\d.]+), (?P<needed>[\d.]+) gib\)",
        check="mostly_free",
        cause="The memory fraction {fraction} asks for {needed} GiB, but an empty card has {free} of {total} GiB free.",
        fix="Lower the memory fraction to what an empty card can give.",
        overrides="memory_to_free",
        alternatives=("gpu_memory_held",),
    ),
    Rule(
        kind="gpu_memory_held",
        weight=92,
        pattern=r"error in memory profiling\.|initial free memory \S+.*current free memory"
        r"|other processes sharing the same "
        r"container|gpu memory was not properly cleaned up",
        cause="GPU memory changed while the server measured it: another process on the card took or returned memory.",
        fix="Start only when nothing else starts or ends on this GPU, and look with nvidia-smi for leftovers.",
    ),
    Rule(
        kind="gpu_memory_held",
        weight=93,
        pattern=OOM,
        near=FIRST_TOUCH_FRAMES,
        not_near=f"{WEIGHT_FRAMES}|{POOL_FRAMES}|{GRAPH_FRAMES}|{PROFILE_FRAMES}",
        cause="The very first CUDA call ran out of memory, before any weight was read: the GPU is full of "
        "somebody else's "
        "memory.",
        alternatives=("gpu_oom_weights",),
    ),
    Rule(
        kind="gpu_memory_held",
        weight=94,
        pattern=rf"(?:{OOM}).*?{OOM_NUMBERS}",
        check="other_processes",
        cause="PyTorch of this server has only {mine} {mineunit} of what is in use on a {total} GiB card: "
        "another process holds "
        "the rest.",
        alternatives=("gpu_oom_weights", "gpu_oom_runtime"),
    ),
    Rule(
        kind="gpu_memory_held",
        weight=88,
        pattern=r"(?:load weight begin|init torch distributed ends)\. .*?avail mem=(?P<avail>[\d.]+) gb",
        check="little_left",
        also=rf"{OOM}|not enough memory",
        cause="Only {avail} GB were free on the GPU before the weights were loaded: another process holds the rest.",
        alternatives=("gpu_oom_weights",),
    ),
    Rule(
        kind="gpu_memory_held",
        weight=88,
        pattern=r"using device \S+ \(.*\) .*- (?P<free>\d+) mib free",
        check="few_mib_free",
        also=r"cudamalloc failed|out of memory|unable to allocate",
        cause="Only {free} MiB were free on the GPU when llama.cpp looked: another process holds the rest.",
        alternatives=("gpu_oom_weights",),
    ),
    Rule(
        kind="gpu_memory_held",
        weight=72,
        pattern=r"(?:sglang::|vllm::|enginecore|llama-server|python3?|launch_server|ray::)\S*\s.*?\b\d{4,6} ?mib\b",
        never=r"traceback \(most|xid \(pci",
        cause="A process that belongs to no running launch still holds GPU memory.",
        alternatives=("gpu_oom_weights",),
    ),
    Rule(
        kind="gpu_memory_held",
        weight=86,
        pattern=r"^\s*\d+\s+1\s.*(?:sglang::|vllm::|enginecore|scheduler_)|\s1\s+(?:sglang::|vllm::|\S*scheduler"
        r"|\S*enginecore)|(?:zombie|orphan|defunct|leftover|stale)\w* .*"
        r"(?:gpu|process|worker|scheduler|enginecore)|vram usage didn't recover|gpu memory (?:is )?not released",
        never=r"traceback \(most",
        cause="A worker of an earlier server lives on without its parent and still holds GPU memory.",
        fix="End that process by its id, wait until nvidia-smi shows the memory free, then start.",
    ),
    Rule(
        kind="gpu_memory_unbalanced",
        weight=97,
        pattern=r"memory capacity is unbalanced",
        not_near=r"eagleworker|draft_worker|draftworker|eagle_worker|dflash",
        cause="The ranks see different amounts of free memory: another process is on one of the GPUs.",
        overrides="",
    ),
    Rule(
        kind="gpu_memory_unbalanced",
        weight=97,
        pattern=r"memory capacity is unbalanced",
        near=r"eagleworker|draft_worker|draftworker|eagle_worker|dflash",
        cause="The check of free memory was repeated for the draft worker after the target model had taken its "
        "share: a false "
        "alarm, no foreign process is needed for it.",
        fix="Switch the balance check off, or use a version that skips it for the draft worker.",
        overrides="no_balance_check",
    ),
    # --- out of memory by phase
    Rule(
        kind="gpu_oom_graph_capture",
        weight=94,
        pattern=rf"capture (?:cuda|hip|npu) ?graph failed: .*(?:out of memory|outofmemory)(?:.*?{OOM_NUMBERS})?",
        overrides="memory_down",
    ),
    Rule(
        kind="gpu_oom_graph_capture",
        weight=90,
        pattern=_OOM_FULL,
        near=GRAPH_FRAMES,
        not_near=r"fatal error: |ninja|nvcc",
        overrides="memory_down",
    ),
    Rule(
        kind="gpu_oom_graph_capture",
        weight=94,
        pattern=r"out of memory occurred when warming up (?:the )?sampler with (?P<requests>\d+) dummy requests",
        cause="The warm-up of the sampler with {requests} requests did not fit next to weights and KV cache.",
        fix="Lower the number of concurrent requests or the memory fraction.",
        overrides="fewer_requests",
    ),
    Rule(
        kind="gpu_oom_graph_capture",
        weight=94,
        pattern=r"(?:cuda ?)?graphs? memory (?:reduced|reduces|profiling|took|takes).*kv cache",
        cause="CUDA graphs took the memory that the KV cache needed.",
        fix="Capture fewer or smaller graphs (smaller largest batch, fewer concurrent requests), or raise the "
        "memory fraction.",
        alternatives=("gpu_oom_kv_pool",),
    ),
    Rule(
        kind="gpu_oom_graph_capture",
        weight=76,
        pattern=_OOM_FULL,
        phases=("graphs", "warmup"),
        overrides="memory_down",
        not_near=RUN_FRAMES,
    ),
    Rule(
        kind="gpu_oom_graph_capture",
        weight=34,
        pattern=r"capturing (?:the model for )?cuda ?graphs?|capture cuda graph begin|cuda graphs can take additional",
        never=r"capture cuda graph end|graph capturing finished|startup complete|fatal error|illegal memory|ninja|nvcc",
        sure=False,
        cause="The log stops while CUDA graphs are captured; running out of memory there is the usual reason.",
        overrides="memory_down",
        alternatives=("compile_toolchain", "hang_nccl_p2p"),
    ),
    Rule(
        kind="gpu_oom_kv_pool",
        weight=95,
        pattern=r"to serve at least one request with the model'?s'?s? max(?:imum)? seq(?:uence)? len(?:gth)? \(("
        r"?P<asked>\d+)\),? "
        r"\(?(?P<needed>[\d.]+) gib (?:of )?kv cache (?:memory )?(?:is )?needed, which is larger than the availa"
        r"ble kv cache "
        r"memory \((?P<available>[\d.]+) gib\)(?:.*?estimated maximum model lengt\w* is (?P<estimate>\d+))?",
        cause="One request of {asked} tokens needs {needed} GiB of KV cache, and {available} GiB are left after "
        "weights, "
        "profiling and graphs.",
        fix="Shorten the context to what fits, raise the memory fraction, or use a smaller KV type or more GPUs.",
        overrides="context_that_fits",
        alternatives=("context_length",),
    ),
    Rule(
        kind="gpu_oom_kv_pool",
        weight=92,
        pattern=r"(?P<needed>[\d.]+) gib kv cache (?:is )?needed.*?available(?: kv cache memory)?\D{1,12}(?P<ava"
        r"ilable>[\d.]+) gib"
        r"(?:.*?estimated maximum model lengt\w* is (?P<estimate>\d+))?",
        cause="The KV cache for one full request needs {needed} GiB, and {available} GiB are left.",
        overrides="context_that_fits",
        alternatives=("context_length",),
    ),
    Rule(
        kind="gpu_oom_kv_pool",
        weight=93,
        pattern=r"the model's max seq len \((?P<asked>\d+)\) is larger than the maximum number of tokens that ca"
        r"n be stored in "
        r"(?:the )?kv cache \((?P<pool>\d+)\)",
        cause="The KV pool holds {pool} tokens, fewer than one request of {asked}.",
        overrides="context_that_fits",
        alternatives=("context_length",),
    ),
    Rule(
        kind="gpu_oom_kv_pool",
        weight=93,
        pattern=r"no available memory for the cache blocks|# (?:gpu|cuda|rocm) blocks: (?:0|-\d+)\b"
        r"|num_gpu_blocks\W+(?:0|-\d+)\b",
        cause="After weights and profiling nothing is left of the memory fraction for KV blocks.",
        overrides="memory_up",
    ),
    Rule(
        kind="gpu_oom_kv_pool",
        weight=93,
        pattern=r"not enough memory[.;:,]? (?:please )?(?:try )?(?:to )?increas\w+ (?:the )?-?-?mem",
        cause="The static share is used up by the weights: nothing is left of it for the KV pool.",
        overrides="memory_up",
    ),
    Rule(
        kind="gpu_oom_kv_pool",
        weight=93,
        pattern=r"(?:profiled value|max_total_num_tokens\W|max_total_tokens\W|max_num_tokens\W"
        r"|max_mamba_cache_size\W|#tokens: )"
        r"\s*(?:is )?(?P<value>-\d+|0)\b",
        check="negative",
        cause="The number of KV tokens comes out as {value}: the weights leave less than the static share reserves.",
        overrides="memory_up",
    ),
    Rule(
        kind="gpu_oom_kv_pool",
        weight=90,
        pattern=r"(?:max_total_num_tokens|max_num_token|max_mamba_cache_size|num_blocks|num_pages)\S* (?:> 0"
        r"|must be (?:positive|>))|"
        r"(?:mamba|state|conv|ssm)\w* (?:cache|pool).*(?:too (?:small|large)|not enough|exceed|does not fit)|"
        r"not enough (?:gpu )?memory (?:available )?for (?:the )?(?:kv|mamba|state|hybrid)",
        overrides="memory_up",
    ),
    Rule(
        kind="gpu_oom_kv_pool",
        weight=89,
        pattern=_OOM_FULL,
        near=POOL_FRAMES,
        not_near=GRAPH_FRAMES,
        overrides="memory_down",
    ),
    Rule(
        kind="gpu_oom_kv_pool",
        weight=92,
        pattern=r"failed to allocate buffer for kv cache|failed to allocate (?:\S+ )?kv (?:cache )?buffer|"
        r"unable to allocate (?:the )?kv",
        cause="The KV cache for the asked context did not fit into what the weights left.",
        fix="Shorten the context, use a quantised KV cache, or offload fewer layers.",
        overrides="context_half",
        alternatives=("context_length", "host_oom"),
    ),
    Rule(
        kind="gpu_oom_kv_pool",
        weight=70,
        pattern=_OOM_FULL,
        phases=("kv_cache",),
        sure=False,
        overrides="memory_down",
        not_near=RUN_FRAMES,
        alternatives=("gpu_oom_weights", "gpu_oom_graph_capture"),
    ),
    Rule(
        kind="gpu_oom_graph_capture",
        weight=84,
        pattern=_OOM_FULL,
        near=PROFILE_FRAMES,
        not_near=rf"{GRAPH_FRAMES}",
        sure=False,
        cause="The trial run that measures the peak did not fit: the batch it tries is too large for what the "
        "weights leave.",
        fix="Fewer tokens per batch, fewer concurrent requests, a shorter context, or more GPUs.",
        overrides="fewer_requests",
        alternatives=("gpu_oom_kv_pool", "gpu_oom_weights"),
    ),
    Rule(
        kind="gpu_oom_compute_buffer",
        weight=95,
        pattern=r"failed to allocate compute|graph_reserve: failed|ggml_gallocr_reserve\w*: failed to allocate|"
        r"failed to (?:initialize|reserve|allocate) (?:the )?(?:compute|graph) buffers?"
        r"|compute buffer.*(?:failed|out of memory)",
        overrides="context_half",
        alternatives=("gpu_oom_kv_pool",),
    ),
    Rule(
        kind="gpu_oom_runtime",
        weight=92,
        pattern=r"failed to allocate memory for \w+ with size (?P<size>\d+) .*alignedallocator"
        r"|workspace buffer (?:is )?(?:too small|overflow)",
        sure=False,
        cause="The attention library's workspace is too small for this batch.",
        fix="Fewer or shorter requests at once, or a larger workspace where the engine has a setting for it.",
        alternatives=("attention_backend_unsupported", "kv_pool_exhausted"),
    ),
    Rule(
        kind="gpu_oom_runtime",
        weight=91,
        pattern=_OOM_FULL,
        near=RUN_FRAMES,
        overrides="memory_down",
        not_near=rf"{GRAPH_FRAMES}|{PROFILE_FRAMES}|{POOL_FRAMES}|init_memory_pool|load_model",
    ),
    Rule(
        kind="gpu_oom_runtime",
        weight=86,
        pattern=_OOM_FULL,
        phases=("listening", "ready"),
        overrides="memory_down",
        not_near=rf"{GRAPH_FRAMES}|{POOL_FRAMES}|load_model",
    ),
    Rule(
        kind="gpu_oom_runtime",
        weight=90,
        pattern=r"torch_call_dispatcher\( ?\"aten::(?:new_)?(?:empty|zeros|full)",
        cause="An allocation inside a kernel wrapper failed at run time: an out-of-memory that the stable ABI "
        "does not name.",
        fix="Smaller batches (tokens per batch, concurrent requests) or a smaller memory fraction.",
        overrides="memory_down",
        alternatives=("kernel_fault",),
    ),
    Rule(
        kind="gpu_oom_runtime",
        weight=66,
        pattern=rf"(?:{OOM}|\boom\b).*(?:first request|under load|long prompt|during (?:inference|generation"
        rf"|prefill|decode))|"
        r"(?:crash\w*|dies|died|oom) (?:within|after|under|during) (?:\w+ ){0,3}(?:minutes|seconds|load|traffic"
        r"|concurren|requests)",
        sure=False,
        overrides="fewer_requests",
    ),
    Rule(
        kind="gpu_oom_runtime",
        weight=62,
        pattern=OOM,
        also=r"first request|large batch|long (?:prompt|context|prefill)|concurrent (?:traffic|requests)"
        r"|chunked prefill",
        sure=False,
        not_near=rf"{GRAPH_FRAMES}|{POOL_FRAMES}|{WEIGHT_FRAMES}",
        overrides="memory_down",
    ),
    Rule(
        kind="gpu_oom_runtime",
        weight=88,
        pattern=r"ggml_cuda_pool|ggml_backend_cuda_\w*pool|cuda error: out of memory",
        near=r"current device|in function|ggml-cuda|cumemcreate|cumemsetaccess",
        engines=("llama.cpp",),
        overrides="context_half",
    ),
    Rule(
        kind="gpu_oom_weights",
        weight=91,
        pattern=r"unable to allocate (?P<buffer>\S+) buffer|"
        r"error loading model: (?:unable|failed) to allocate|error loading model: .*out of memory",
        cause="The weights that should go onto the GPU do not fit there.",
        fix="Offload fewer layers (-ngl), use a smaller quantisation, or spread over more GPUs.",
    ),
    Rule(
        kind="gpu_oom_weights",
        weight=88,
        pattern=_OOM_FULL,
        near=WEIGHT_FRAMES,
        not_near=rf"{GRAPH_FRAMES}|{POOL_FRAMES}|{PROFILE_FRAMES}|event_loop|run_batch|execute_model",
    ),
    Rule(
        kind="gpu_oom_weights",
        weight=68,
        pattern=_OOM_FULL,
        phases=("spawned", "distributed", "weights", "arguments"),
        sure=False,
        not_near=rf"{GRAPH_FRAMES}|{POOL_FRAMES}|{PROFILE_FRAMES}|{RUN_FRAMES}|{FIRST_TOUCH_FRAMES}",
        alternatives=("gpu_memory_held", "gpu_oom_kv_pool"),
    ),
    Rule(
        kind="gpu_oom_weights",
        weight=66,
        pattern=r"cudamalloc failed: out of memory|alloc_tensor_range: failed to allocate",
        sure=False,
        never=r"kv (?:self )?size|kv cache|kv buffer|compute buffer|gallocr",
        alternatives=("gpu_oom_kv_pool", "gpu_oom_compute_buffer"),
    ),
    # --- host memory
    Rule(
        kind="host_oom",
        weight=98,
        pattern=r"out of memory: killed process (?P<pid>\d+) \((?P<name>[^)]+)\)|oom-kill:constraint"
        r"|invoked oom-killer|"
        r"memory cgroup out of memory|failed with result 'oom-kill'|killed by the oom killer|oomkilled\W+true|"
        r"oom_reaper: reaped process",
        cause="The kernel's OOM killer ended a process of the server: the host's RAM (or the container's limit) "
        "was used up.",
    ),
    Rule(
        kind="host_oom",
        weight=95,
        pattern=r"not enough host memory|reduce the size of the hierarchical cache|(?:hicache|host pool"
        r"|host memory pool).*"
        r"(?:not enough|exceeds|out of memory|cannot allocate)|not enough (?:cpu|system) memory|"
        r"running low on memory|too large swap space",
        cause="A cache in host memory was asked for that is larger than the free RAM.",
        fix="Make the hierarchical (host) cache smaller, or free RAM.",
    ),
    Rule(
        kind="host_oom",
        weight=92,
        pattern=OOM,
        near=r"pin_memory|cudahostalloc|cudahostregister|memory_pool_host|hicache|hiradix|cpu_offload|swap_space"
        r"|pinned",
        cause="Pinned host memory could not be had: the RAM is too small for the cache or offload that was asked for.",
    ),
    Rule(
        kind="host_oom",
        weight=88,
        pattern=r"defaultcpuallocator: (?:can't allocate|not enough) memory|std::bad_alloc|^(?:\S+ )*memoryerror\b|"
        r"\[errno 12\] cannot allocate memory|mmap failed: cannot allocate memory"
        r"|fork: (?:retry: )?(?:resource temporarily|cannot allocate)|"
        r"ggml_aligned_malloc: insufficient memory",
        never=r"ibv_reg_mr|kv cache",
        cause="The host could not give the memory that was asked for: RAM, overcommit or a limit of the unit.",
    ),
    Rule(
        kind="host_oom",
        weight=58,
        pattern=r"exit(?:ed)?(?: with)?(?: status| code)?:? ?(?:code )?(?:=|:)? ?\(?(?:137|-9)\b|signal 9\b"
        r"|signal sigkill|sigkill\b|"
        r"^killed$|\d+ killed\s|code=killed, status=9/kill|prematurely.*-9",
        never=r"watchdog|timed out\. killing|stop-sigterm|sigterm received|illegal memory|fatal error|xid \(pci"
        r"|outofmemoryerror|"
        r"keyerror|valueerror|runtimeerror",
        sure=False,
        cause="The process was ended with SIGKILL. Without the kernel's log it is not known by whom; during "
        "loading the OOM "
        "killer is the usual suspect.",
        fix="Look at `journalctl -k` for an OOM record at that minute before changing any memory flag.",
        alternatives=("systemd_restart_loop", "hang_watchdog"),
    ),
    Rule(
        kind="host_oom",
        weight=56,
        pattern=r"(?:ssh|node|host|machine|system) (?:became|becomes|is|was|went) (?:unresponsive|unreachable|frozen)",
        sure=False,
        cause="The whole machine stopped answering under load, as it does when the (unified) memory is used up.",
        overrides="memory_down",
        alternatives=("hang_watchdog", "gpu_oom_runtime"),
    ),
    # --- the pool at run time
    Rule(
        kind="kv_pool_exhausted",
        weight=94,
        pattern=r"(?:prefill|decode|extend) out of memory\. ?try to lower|out of memory even after retracting|"
        r"failed to retract any request|no space left for only one request|alloc_req_slots runs out of memory|"
        r"alloc_(?:token|paged_token|for)\w* (?:failed|runs out)|not enough space for \w+ ?(?:ping pong|state"
        r"|slot|cache)?.*"
        r"(?:mamba|idx|slot|pool)|not enough space for mamba|failed to allocate (?:kv|slots|mamba)|can(?:not"
        r"|'t) alloc(?:ate)? mamba",
        cause="The scheduler found no free slot in the KV (or state) pool for work it had already accepted, and "
        "gave up.",
        overrides="fewer_requests",
    ),
    Rule(
        kind="kv_pool_exhausted",
        weight=84,
        pattern=r"in alloc_(?:paged_)?(?:token|req)_slots\w*|in alloc_for_(?:extend|decode)|out_cache_loc is none|"
        r"in alloc_paged_token_slots",
        never=OOM,
        cause="The scheduler found no free slot in the KV pool for the next step, and gave up instead of waiting.",
        overrides="fewer_requests",
    ),
    Rule(
        kind="kv_pool_exhausted",
        weight=82,
        pattern=r"failed to find (?:a memory slot|free space in the kv cache|kv (?:cache )?slot)"
        r"|decode: failed to (?:find|prepare)|"
        r"failed to decode the batch: kv cache is full|context size has been exceeded|(?:kv"
        r"|token_to_kv)\w* pool.*memory leak|"
        r"pool memory leak detected",
        engines=(),
        cause="The KV cache is full for the sequences that run at the same time.",
        overrides="fewer_requests",
        sure=False,
        alternatives=("context_length",),
    ),
)
