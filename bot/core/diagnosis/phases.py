"""Where in its life a server was at a line, which lines are never a cause, and which say that something else failed."""

import re

from bot.core.domain.launch import Phase

#: a line that matches opens this phase; a later phase of the same launch does not go back except to SPAWNED
PHASE_MARKERS: tuple[tuple[Phase, re.Pattern[str]], ...] = tuple(
    (phase, re.compile(pattern))
    for phase, pattern in (
        (
            Phase.SPAWNED,
            r"server_args=serverargs\(|vllm api server version|non-default args|llama_server: initializing|"
            r"\bstarted \S+\.service|systemd\[\d+\]: start(ed|ing) ",
        ),
        (
            Phase.DISTRIBUTED,
            r"init torch distributed begin|distributed_init_method|is using nccl|nccl version \d"
            r"|nccl info bootstrap|p2p access cache|message queue communication handle"
            r"|initializing a v1 llm engine",
        ),
        (
            Phase.WEIGHTS,
            r"load weight begin|starting to load model|loading model weights|loading (safetensors|pt) checkpoint|"
            r"load_model: loading model|llama_model_loader: loaded meta data|load_tensors: loading model tensors|"
            r"using model weights format",
        ),
        (
            Phase.KV_CACHE,
            r"load weight end|model loading took|loading model weights took|loading weights took|using kv cache dtype|"
            r"kv[ _]cache is allocated|llama_kv_cache(_unified|_init)?: |llama_new_context_with_model: n_ctx|"
            r"llama_context: constructing|llama_context: n_ctx\b|available kv cache memory|gpu kv cache size"
            r"|# gpu blocks:",
        ),
        (
            Phase.GRAPHS,
            r"capture (cuda|npu|draft|target|piecewise)?[ \w]*graph\w* (begin|bs)"
            r"|capturing (the model for )?(cuda|cudagraphs)|"
            r"capturing batches|capturing cuda graph",
        ),
        (Phase.WARMUP, r"capture [ \w]*graph end|graph capturing finished|init engine \(profile|warming up the model"),
        (
            Phase.LISTENING,
            r"application startup complete|uvicorn running on|starting vllm (api )?server|http server (is )?listening|"
            r"server is listening on",
        ),
        (
            Phase.READY,
            r"fired up and ready to roll|llama_server: listening on|all slots are idle|"
            r"\"(post|get) /(v1/(chat/)?completions|v1/messages|generate|v1/responses)[^\"]*\" 200|decode batch|"
            r"avg generation throughput|slot launch_slot_|processing task",
        ),
    )
)
_ORDER = tuple(Phase)

#: Lines that are no cause although they look like one. Each is printed by healthy servers, too.
NOISE = re.compile(
    "|".join(
        (
            r"libnccl-net\.so",
            r"net/plugin",
            r"ignore import error when loading",
            r"can not initialize openaiservingresponses",
            r"no module named 'openai_harmony'",
            r"this can cause fd limit errors like",
            r"fail(ed)? to set rlimit_nofile",
            r"torch_cuda_arch_list is not set",
            r"please set os\.environ\['torch_cuda_arch_list'\]",
            r"pyspy failed|py-spy: not found",
            r"destroy_process_group\(\) was not called",
            r"^\s*warnings\.warn\(",
            r"^\W*(?:\[(?:pip3?|conda)\]|(?:py)?torch\w*|cuda driver version|cuda available|python|triton"
            r"|transformers|numpy"
            r"|flashinfer[-_ ]?python|sgl[-_ ]kernel|xgrammar|nccl|cudnn version|os"
            r"|gcc)\W{1,3}(?:version)?\W{0,20}\S*\d\S*$",
            r"resource_tracker: there appear to be",
            r"producer process has been terminated before all shared",
            r"is deprecated|deprecationwarning|futurewarning",
            r"possible solutions:",
            r"^\s*\d\. (set|disable) (--)?(mem-fraction|cuda.?graph|torch compile)",
            r"^\W*open an issue on github",
            r"if reserved but unallocated memory is large try setting max_split_size_mb to avoid fragmentation\.$",
            r"libtcmalloc is not found|libiomp is not found",
            r"^\s{4,}\[?(-h\]|--?[a-z][\w-]*)[ ,|]",
            r"^usage: |^\s+\[-{1,2}[a-z]",
            r"^exception ignored in:",
            r"failed to create onednn linear",
            r"nccl info (ncclosgetenv|plugin|env plugin|net/ib : no device found)",
            r"gloo\] rank \d+ is connected",
            r"expected number of connected peer ranks",
            r"not compiled with (gpu offload|curl) support",
            r"error in sitecustomize",
            r"failed to get device capability",
            r"warning: .*(setlocale|unexpected keyword arguments in config)",
            r"use of \S+ is deprecated",
        )
    )
)

#: One long line that lists every setting: names of flags in it say nothing.
ARGUMENT_LINES = re.compile(
    r"server_args=|serverargs\(|non-default args|namespace\(|initializing (a|an) (v\d )?llm engine|engine_config=|"
    r"engineargs\("
)

#: Alarming lines that are known to be harmless by themselves.
BENIGN = re.compile(
    "|".join(
        (
            r"this warning is normal",
            r"\[spec\] failed to measure draft model memory",
            r"failed to measure the memory of the extra model",
            r"libnccl-net\.so: cannot open shared object file",
            r"can not initialize openaiservingresponses",
            r"ignore import error when loading",
            r"failed to create onednn linear",
            r"destroy_process_group\(\) was not called",
            r"resource_tracker: there appear to be",
            r"failed to (import|load) (from )?(vllm\._c|triton_kernels|flash_attn_3|deep_?gemm|vllm\._moe_c)",
            r"failed to import triton kernels",
            r"unable to register (cudnn|cublas|cufft) factory",
            r"fail(ed)? to set rlimit_nofile",
            r"this can cause fd limit errors like",
            r"unknown vllm environment variable",
            r"could not find tensorrt",
            r"special_eog_ids|control-looking token|the tokenizer config may be incorrect",
            r"triton is not installed|triton is installed, but",
            r"warning: \S+ is not marked as eog",
            r"error retrieving safetensors|error retrieving file list",
            r"invalid http request received",
            r"pynvml package is deprecated",
            r"using default w8a8 block fp8 kernel config",
            r"failed to load plugin|skipping import of cpp extensions",
            r"current platform \S* does not have '\S+' attribute",
            r"failed to determine .*pci|unable to detect (the )?numa",
            r"no module named 'vllm\._version'",
        )
    )
)

#: A line that its software marks as an error.
LOUD = re.compile(r"^\W*(?:\([\w ]+ pid=\d+\) )?(?:error|critical|fatal|e \w)\b|\] ?error\b|\berror:")

#: Messages which only repeat that something else failed.
CONSEQUENCE = re.compile(
    "|".join(
        (
            r"engine core initialization failed|see root cause above|see stack trace (above )?for (the )?root cause",
            r"workerproc initialization failed|workerproc failed to start|worker failed with error"
            r"|workerproc hit an exception",
            r"enginecore (failed to start|encountered a fatal error|encountered an issue)|enginedeaderror"
            r"|engine (process|loop) (failed|is dead)",
            r"received sigquit from a child|sigquit received",
            r"scheduler is dead|subprocess exited with code|detokenizer is dead|initialization failed\. please see",
            r"broken pipe|eoferror|connection reset by peer|brokenprocesspool|processexitedexception",
            r"failed to load model$|exiting due to model loading error|failed to create context with model"
            r"|failed to create_context",
            r"encountered an error while trying to fit params|common_init_: failed",
            r"exited with code|exit status|exit code|main process exited|failed with result",
            r"traceback \(most recent call last\)|scheduler hit an exception|the above exception was"
            r"|during handling of",
            r"sendbytes failed on socketimpl|recvvalue failed|failed to check the \"should dump\""
            r"|tcpstore.*(wait timeout|closed)",
        )
    )
)

#: Words without which a line is hardly an error.
ALARM = re.compile(
    r"error|exception|fail|fatal|cannot|can't|can ?not|couldn't|could not|unable|\bnot?\b|\bn't|denied|invalid"
    r"|unsupported|"
    r"illegal|killed|killing|abort|missing|refused|mismatch|tim(?:ed )?(?:eout|out)|exceed|\btoo\b|out of"
    r"|unkn?own|unrecogni|"
    r"already|less than|larger than|greater than|only support|requires?\b|must|undefined|assert|xid|fallen|oom"
    r"|bad |corrupt|"
    r"gated|offline|unbalanced|is dead|restart counter|too quickly|throttl|enomem|eaddrinuse|emfile|git-lfs|oid sha256|"
    r"divisible|removed|hung|stuck|watchdog|fp8e4nv|unexpected|insufficient|-lfs|fault"
)

#: The end of a start that went through.
UP = re.compile(r"startup complete|ready to roll|listening on")

#: A stop that somebody wanted.
WANTED_STOP = re.compile(
    r"sigterm received|received sigterm|received signal 15|gracefully exit|shutting down|draining requests|"
    r"stopping \S+\.service|received sigint|keyboardinterrupt|cleaning up before exit|finished server process"
)

#: what a server says when it goes on another way
FELL_BACK = re.compile(
    r"fall(?:s|ing)?[ -]?back|\binstead\b|will be (?:disabled|ignored|used|set|skipped)|\bdisabling\b|\bis disabled\b"
    r"|\bignor(?:ed|ing)\b|\badjusted\b|\bdefaulting\b|\busing \S+ (?:attention )?backend\b"
)
#: a line of level INFO: what it says stops nothing
INFORMS = re.compile(r"^\W*(?:\([\w ]+ pid=\d+\) )?info\b")
WARNING_LEVEL = re.compile(
    r"(?<!nccl )\bwarn(ing)?\b|^\[\S*\]:?\[?w\d{4} |\[rank\d+\]:\[?w|^[\d.]+ w |userwarning:|\blevel=(info|warn)"
    r"|^w\d{4} "
)


def phase_at(text: str) -> Phase | None:
    """Phase that a lower-case line opens, or None."""
    for phase, pattern in PHASE_MARKERS:
        if pattern.search(text):
            return phase
    return None


def is_later(one: Phase, other: Phase) -> bool:
    """Whether `one` comes after `other` in a start."""
    return _ORDER.index(one) > _ORDER.index(other)


def phases_between(one: Phase, other: Phase) -> int:
    """How many phases `other` is after `one`."""
    return _ORDER.index(other) - _ORDER.index(one)
