"""The software around the engine: Python, CUDA, kernels, compilers, shared libraries."""

from bot.core.diagnosis.rule import Rule

CUDA_LIBRARIES = (
    r"lib(?:cudart|nvrtc|cublas|cublaslt|cusparse|cusparselt|cufft|cudnn|nvjitlink|cusolver|curand"
    r"|cupti|nvtoolsext)[\w.-]*\.so[\w.]*"
)
KERNEL_PACKAGES = (
    r"flashinfer|sgl[_-]kernel|sgl_kernel|flash[_-]attn|flash_attn_3|vllm/_c|vllm\._c|_c\.abi3"
    r"|deep_?gemm|deep_?ep|flash_?mla|triton|tvm_ffi|xformers|cutlass|marlin|common_ops|torchao"
    r"|aiter|quack"
)

#: how symbols of the CUDA libraries and of the driver's own API begin
_CUDA_SYMBOLS = (
    r"nvjitlink|cublas|cusparse|cudnn|nvrtc"
    r"|cu(?:tensor|mem|ctx|device|module|launch|func|graph|stream|event|multicast|library|kernel|get)"
)
#: options beside the model that an attention backend can fail to serve
_MORE_FEATURES = r"--(?:enable-)?lora|--speculative|--spec-|kv-transfer|disaggregation|hierarchical-cache"
r"|pipeline-parallel|--pp-"

RULES: tuple[Rule, ...] = (
    # --- attention
    Rule(
        kind="attention_backend_unsupported",
        weight=94,
        pattern=r"flashattention on ampere/ada cards only supports|flashattention.{0,40}only supports? (?:fp16"
        r"|bf16|head|ampere)|"
        r"no valid attention backend|selected backend .*is not valid|(?:head[_ ]?(?:size|dim)"
        r"|headdim)\S* ?\(?\d*\)?.{0,40}(?:not supported|unsupported|is invalid|must be)|"
        r"unsupported (?:head[_ ]?(?:size|dim)|headdim|max_frags|max_mma|num_mma)|unsupported max_frags_z"
        r"|expect \(\d+ <= head_?dim|assert\(head_(?:size|dim) ?==|invalid configuration ?: num_"
        r"|only supports? head[_ ]?(?:size|dim)|"
        r"(?:attention|attn|mla|flashmla|flashinfer|fa[234]|flash_?attn|trtllm[_ ]m[lh]a|triton|torch_native|aiter"
        r"|cutlass_mla)[ _]?(?:attention )?backend"
        r".{0,80}(?:not (?:yet )?support|only support|does not|doesn't|requires?|incompatible|is not available"
        r"|not available|cannot|unsupported|not implemented|is only)|"
        r"(?:fa3|flashmla|flashattention[- ]?[v23]*|flashattention|trtllm_m[lh]a|fa4) (?:is "
        r"|are )?(?:backend )?(?:requires|only supported|is only|not supported|only supports|does not support"
        r"|doesn't support)|attention sinks?.{0,40}not support|(?:requires?|only supports?|must use"
        r"|needs) .{0,80}\b(?:attention|attn)[_ ]backend|can ?not import fa[34]"
        r"|sinks? (?:is|are) only supported (?:in|by|with|for)"
        r"|\b(?:fa[34]|flashinfer|trtllm_m[lh]a|flashmla|aiter)\b.{0,80}\b(?:is|are) required for"
        r"|\b(?:fa[34]|triton|flashinfer|trtllm_m[lh]a|torch_native)\b.{0,80}\bbut got\b|"
        r"only (?:support|supports) (?:the )?(?:triton|flashinfer|fa3|trtllm_mha|flashmla)\b.{0,30}backend",
        not_line=r"moe[_ -]?(?:runner)?[_ -]?backend|grammar backend|lora backend|not support speculative",
        not_argv=_MORE_FEATURES,
        cause="The attention backend in use cannot serve this combination of head size, dtype, GPU and features.",
        overrides="attention_triton",
        alternatives=("gpu_arch_unsupported", "feature_conflict"),
    ),
    Rule(
        kind="attention_backend_unsupported",
        weight=84,
        pattern=r"\bonly (?:the )?\w+ (?:attention )?backends? (?:is|are) supported|"
        r"(?:attention|attn|mla|flashmla|flashinfer|fa[234]|flash_?attn|trtllm[_ ]m[lh]a|triton|torch_native|aiter)"
        r"[_ ]?(?:attention )?backend.{0,80}(?:not (?:yet )?support|only support|does not|unsupported|is only)|"
        r"(?:head[_ ]?(?:size|dim)|headdim)\S* ?\(?\d*\)?.{0,40}(?:not supported|unsupported)",
        not_line=r"moe[_ -]?(?:runner)?[_ -]?backend|grammar backend|lora backend|not support speculative",
        argv=_MORE_FEATURES,
        sure=False,
        cause="The attention backend in use cannot serve a feature that is switched on, or this model or GPU.",
        overrides="attention_triton",
        alternatives=("feature_conflict", "gpu_arch_unsupported"),
    ),
    Rule(
        kind="attention_backend_unsupported",
        weight=80,
        pattern=r"sinks? (?:is|are) only supported (?:in|by|with|for)"
        r"|\b(?:fa[34]|flashinfer|trtllm_m[lh]a|flashmla|aiter)\b.{0,80}\b(?:is|are) required for"
        r"|\b(?:fa[34]|triton|flashinfer|trtllm_m[lh]a|torch_native)\b.{0,80}\bbut got\b",
        sure=False,
        cause="This model needs another attention backend than the one in use.",
        fix="Choose one of the backends that the message names.",
        alternatives=("gpu_arch_unsupported", "feature_conflict"),
    ),
    Rule(
        kind="attention_backend_unsupported",
        weight=80,
        pattern=r"assertionerror: .{0,20}\bonly (?:sm|compute capabilit\w+)\b.{0,40}supported|\b(?:sm ?\d+\S*|hopper"
        r"|blackwell|ampere)\b"
        r".{0,40}\b(?:is|are) (?:only )?(?:required|supported)",
        near=r"flash_?attn|flash_?attention|flashmla|attention/|_attn|attn_|fmha",
        never=r"no kernel image",
        sure=False,
        cause="The attention kernel that was chosen does not exist for this GPU.",
        overrides="attention_triton",
        alternatives=("gpu_arch_unsupported", "feature_conflict"),
    ),
    Rule(
        kind="attention_backend_unsupported",
        weight=88,
        pattern=r"\b(?:flash ?attention|flashmla|flashinfer|fa[234])\b.{0,60}(?:kv[- _]?cache|fp8|dtype"
        r"|head).{0,30}not (?:yet )?supported",
        cause="The attention backend in use has no support for this KV cache type.",
        fix="Use a KV cache of the model's own type, or another attention backend.",
        overrides="kv_dtype_auto",
        alternatives=("feature_conflict", "gpu_arch_unsupported"),
    ),
    Rule(
        kind="attention_backend_unsupported",
        weight=76,
        pattern=r"(?:runtimeerror|assertionerror|valueerror|notimplementederror): .*(?:dtype|head_?(?:dim|size)"
        r"|page_?size|block_?size|kbfloat16|khalf"
        r"|kv_?cache)",
        near=r"attention/\w+_backend|attention/backends|flash_?mla|flash_attn_interface|flashinfer/(?:decode|prefill"
        r"|mla)|hopper/flash",
        never=r"out of memory|illegal memory|ninja|nvcc|fatal error|no kernel image|undefined symbol",
        sure=False,
        cause="The attention kernel refuses the type, head size or page size that it is given.",
        overrides="attention_triton",
        alternatives=("feature_conflict", "gpu_arch_unsupported"),
    ),
    Rule(
        kind="attention_backend_unsupported",
        weight=58,
        pattern=r"begin_forward\(|\.plan\(|in begin_forward|_fmha|prefill_wrapper|decode_wrapper",
        near=r"flashinfer_backend|attention/\w+_backend|flashinfer/(?:decode|prefill|mla)|attention/backends",
        never=r"out of memory|illegal memory|ninja|nvcc|fatal error|no kernel image|undefined symbol",
        sure=False,
        cause="The attention backend gave up while planning its first call: usually a head size or dtype that it "
        "does not have.",
        overrides="attention_triton",
        alternatives=("compile_toolchain", "version_mismatch_kernel"),
    ),
    # --- compilers
    Rule(
        kind="compile_toolchain",
        weight=68,
        pattern=r"_run_ninja_build|\bin (?:build_and_load|run_ninja|_jit_compile|compile_and_load)\b"
        r"|torch/utils/cpp_extension\.py",
        near=r"calledprocesserror|runtimeerror|subprocess\.run|no such file",
        never=r"out of memory|undefined symbol|no kernel image|illegal memory",
        sure=False,
        cause="A kernel is compiled at start, and its build failed; the compiler's own message is further up.",
        alternatives=("version_mismatch_cuda", "version_mismatch_kernel"),
    ),
    Rule(
        kind="compile_toolchain",
        weight=96,
        pattern=r"python\.h: no such file|fatal error: (?P<header>[\w./]+\.(?:h|hpp|cuh)): no such file|"
        r"no such file or directory: ['\"]?(?:/\S+/)?(?:bin/)?(?P<tool>nvcc|ninja|gcc|cc|c\+\+|g\+\+|clang|ptxas"
        r"|cicc)['\"]?|failed to find c compiler|no working c\+\+ compiler|invalidcxxcompiler"
        r"|ninja is required to load|cuda_home environment variable is not set"
        r"|unsupported gnu version|nvcc fatal|"
        r"cannot find -l(?:cuda|cudart|python|stdc)|ninja exited with status|ninja: build stopped"
        r"|ninja: (?:command )?not found|"
        r"error compiling objects for extension|error building extension|nvcc: (?:command )?not found|(?:g\+\+"
        r"|gcc|cc1plus): (?:command )?not found|"
        r"internal compiler error|nvrtc_error|nvrtc: error|nvcc compilation failed|failed to compile"
        r"|compilation terminated|"
        r"(?:gcc|nvcc|cicc|ptxas|g\+\+|clang|c\+\+|cc)['\"]?(?:.{0,300})(?:returned non-zero exit status"
        r"|died with)|ptxas (?:fatal|error)|no cuda runtime is found, using cuda_home|"
        r"unable to find (?:nvcc|a c compiler|the cuda toolkit)|command '\[?'?(?:ninja|/\S+/(?:gcc|nvcc|cc|ninja"
        r"|c\+\+))|dsl compilation|mlir.*error",
        cause="A kernel has to be compiled at start and the tools for it are missing, too old or crash.",
        alternatives=("version_mismatch_kernel", "version_mismatch_cuda"),
    ),
    Rule(
        kind="compile_toolchain",
        weight=80,
        pattern=r"could not find nvcc|nvcc not found|cuda (?:toolkit|compiler) (?:is )?(?:not found|required"
        r"|missing)|unsupported gpu architecture 'compute_|"
        r"is not defined for option 'gpu-(?:name|architecture)'|failed: \[code=|^failed: .*\.o\b",
        sure=False,
        never=r"cuda compilation tools, release",
        cause="A kernel has to be compiled at start, and the CUDA compiler is missing or too old for this GPU.",
        alternatives=("version_mismatch_kernel", "gpu_arch_unsupported"),
    ),
    Rule(
        kind="compile_toolchain",
        weight=56,
        pattern=r"loading jit ops|jit compil|compiling .*kernels?|building (?:cuda )?extension",
        also=r"traceback|scheduler hit an exception|exception",
        never=r"out of memory|illegal memory|no such option|unrecognized|no kernel image|undefined symbol"
        r"|no such file or directory: '[^']*(?:safetensors|json)",
        sure=False,
        cause="The server fell over while a kernel was compiled at start: usually ninja, nvcc or a compiler is "
        "missing.",
        alternatives=("attention_backend_unsupported", "version_mismatch_kernel"),
    ),
    Rule(
        kind="compile_toolchain",
        weight=97,
        pattern=r"ptxas fatal\s*: value '(?P<arch>sm_\w+)' is not defined for option",
        sure=False,
        cause="The ptxas in use does not know {arch}: it is older than this GPU.",
        fix="Use a CUDA toolkit and a Triton that know {arch} (TRITON_PTXAS_PATH names another ptxas), or a newer "
        "image.",
        alternatives=("gpu_arch_unsupported", "version_mismatch_cuda"),
    ),
    # --- GPU architecture
    Rule(
        kind="gpu_arch_unsupported",
        weight=95,
        pattern=r"fp8e4nv|requires device with (?:compute )?capability|your gpu has (?:compute )?capability"
        r"|no kernel image is available|cudaerrornokernelimage"
        r"|supported on gpus? with compute capability|"
        r"minimum capability: (?P<minimum>\d+)|requires? (?:gpus? with )?compute capability"
        r"|not compatible with the current pytorch installation|"
        r"compute capability.{0,60}(?:not supported|too (?:low|old)|unsupported|is less than|below|at least)|"
        r"(?:not|un)supported on (?:this |the )?(?:current )?(?:gpu|sm_?\d|compute_?\d|device architecture"
        r"|architecture)|"
        r"invalid device function|has no device code compatible|not compiled with any cuda arch"
        r"|unsupported (?:gpu|cuda|sm) ?arch|no compiled cutlass"
        r"|no implemented \w+ for (?:current )?compute capability|"
        r"only supports? (?:sm_?\d|hopper|blackwell|ampere|sm ?>=)|(?:hopper|blackwell|ampere"
        r"|sm_?\d\d+a?)(?: gpus?)? (?:is |are )?(?:only|required|or (?:newer|later|above))|"
        r"named symbol not found|not supported in this architecture|cuda arch <|arch conditional mma"
        r"|hipErrorNoBinaryForGpu|"
        r"gpu arch\w* .*not support|illegal instruction|requires sm_?\d",
        not_near=r"nvcc|ninja",
        not_line=r"attention backend",
        cause="The binary or a kernel has no code for this GPU's architecture, or the GPU lacks the number format.",
        alternatives=("attention_backend_unsupported", "compile_toolchain"),
    ),
    # --- faults
    Rule(
        kind="kernel_fault",
        weight=90,
        pattern=r"illegal memory access|device-side assert|misaligned address|unspecified launch failure"
        r"|cuda_error_illegal_address|cudaerrorillegaladdress|"
        r"invalid program counter|cublas_status_(?:execution_failed|internal_error)|memory access fault by gpu"
        r"|warp (?:illegal|out-of-range)|"
        r"assertion `.*` failed|probability tensor contains either"
        r"|cuda error: invalid (?:configuration )?argument|triton error \[cuda\]|"
        r"cudaerrorassert|cudaerrorlaunchfailure|hsa_status_error_(?:memory|exception)|cudaerrormisaligned",
        never=r"fallen off the bus|uncorrectable ecc",
        cause="A kernel read or wrote where it must not, or its own check failed: a fault of a code path, not of "
        "memory size.",
        alternatives=("gpu_hw_fault",),
    ),
    Rule(
        kind="gpu_arch_unsupported",
        weight=62,
        pattern=r"error internal|failed to initialize (?:the )?(?:cutlass|tma)|cutlass.{0,60}(?:error|fail)"
        r"|no (?:suitable|valid|supported) "
        r"(?:kernel|config|tactic|implementation)",
        near=r"cutlass|gemm|flashinfer|moe|fp4|fp8|nvfp4|marlin",
        sure=False,
        cause="No implementation of a matrix kernel fits this GPU.",
        alternatives=("kernel_fault", "version_mismatch_kernel"),
    ),
    Rule(
        kind="kernel_fault",
        weight=74,
        pattern=r"ggml_assert\(|ggml_abort|cuda error\b(?!.*(?:out of memory|unknown error|initializ"
        r"|no kernel image|system|driver|not ready))",
        sure=False,
        cause="The engine's own check failed inside a computation.",
        alternatives=("gpu_oom_runtime", "feature_conflict"),
    ),
    Rule(
        kind="kernel_fault",
        weight=62,
        pattern=r"segmentation fault|sigsegv|core dumped|signal 11\b|signal sigabrt|bus error",
        sure=False,
        never=r"nvcc|ninja|/dev/shm",
        cause="The process crashed in native code (segmentation fault).",
        fix="Try the same launch with CUDA graphs or the newest feature off, and on another node: only here "
        "points to the hardware.",
        alternatives=("gpu_hw_fault", "version_mismatch_kernel"),
    ),
    Rule(
        kind="kernel_fault",
        weight=64,
        pattern=r"repl(?:y|ies) .{0,30}(?:becomes?|turns? into|is|are) .{0,6}['\"]?!|(?:garbage|gibberish"
        r"|nonsense|!!!!+|\bnan\b).{0,60}(?:output|repl|logits|token)?|"
        r"(?:output|repl\w+|logits|tokens?).{0,40}(?:garbage|gibberish|nonsense|!!!!+|\bnan\b)",
        never=r"traceback \(most",
        sure=False,
        cause="The answers are numerically wrong although nothing crashes: a kernel that does not fit this GPU "
        "or this shape.",
        alternatives=("slow_spec",),
    ),
    # --- shared libraries
    Rule(
        kind="missing_shared_library",
        weight=93,
        pattern=r"(?:^|[\s:'\"/(])(?P<lib>lib[\w.+-]+?\.so(?:\.[\w.]+)*): cannot open shared object file",
        not_near=r"nccl info",
        cause="The shared library {lib} is not on the loader path of this environment.",
        fix="Install the package that brings {lib}, or put its directory on LD_LIBRARY_PATH (the same in the "
        "unit or container).",
    ),
    Rule(
        kind="missing_shared_library",
        weight=92,
        pattern=r"error while loading shared libraries: (?P<lib>[^:\s]+)|could not load (?:library"
        r"|dynamic library|libtorchcodec)|"
        r"failed to load shared (?:library|object)|(?:dll|library|image) (?:load failed|not found)"
        r"|libtorchcodec.*not|unable to load any of \{?lib|"
        r"failed to load (?P<other>lib[\w.+-]+\.so[\w.]*)|dlopen.*failed",
        cause="A shared library that the program is linked to is not on this machine or not on the loader path.",
    ),
    Rule(
        kind="version_mismatch_cuda",
        weight=96,
        pattern=rf"(?P<lib>{CUDA_LIBRARIES}): cannot open shared object file",
        engines=("sglang", "vllm"),
        sure=False,
        cause="A wheel asks for {lib}, which this environment's CUDA wheels do not bring: it was built for "
        "another CUDA major version than torch.",
        fix="Install the build of that wheel for the CUDA version of torch (or the runtime that has {lib}); one "
        "source for both.",
        alternatives=("missing_shared_library", "version_mismatch_kernel"),
    ),
    # --- Python
    Rule(
        kind="python_env",
        weight=86,
        pattern=r"packagenotfounderror: |no module named '?(?P<module>vllm|sglang|torch|transformers|flashinfer"
        r"|sgl_kernel|triton|ray|uvicorn|fastapi)\b|"
        r"partially initialized module|externally-managed-environment|numpy\.dtype size changed|compiled using numpy 1|"
        r"glibc(?:xx)?_[\d.]+'? not found|bad interpreter|can't open file|status=203/exec|(?:vllm|sglang"
        r"|python3?|llama-server)(?::| ).{0,20}command not found|"
        r"cuda_home.{0,40}(?:does not exist|not a directory|wrong)|operator torchvision::|numpy is not available"
        r"|syntaxerror: |invalid syntax|"
        r"no such file or directory: ['\"]?/\S*(?:bin/(?:python|vllm|sglang))|unable to locate executable"
        r"|executable file not found",
        never=r"common_ops library",
        cause="The Python environment is not the one that the command needs: a package is missing, mixed or of "
        "another interpreter.",
        alternatives=("version_mismatch_kernel",),
    ),
    Rule(
        kind="version_mismatch_kernel",
        weight=72,
        pattern=r"nameerror: name '\w*(?:kernel|sgl_|flash|deep_gemm|triton|cutlass)\w*' is not defined",
        sure=False,
        cause="A kernel that the engine calls was not imported: its package is missing or of another version.",
        alternatives=("python_env", "gpu_arch_unsupported"),
    ),
    Rule(
        kind="python_env",
        weight=68,
        pattern=r"modulenotfounderror: no module named '?(?P<module>[\w.]+)|importerror: cannot import name"
        r"|is not installed\. please|please install (?:it|with|the)\b|"
        r"importerror: (?!lib)(?!.*undefined symbol)",
        sure=False,
        not_near=r"ignore import error|transformers_modules",
        cause="A Python package that the command needs is missing from this environment or of the wrong version.",
        alternatives=("version_mismatch_kernel", "version_mismatch_transformers", "missing_shared_library"),
    ),
    # --- versions
    Rule(
        kind="version_mismatch_cuda",
        weight=94,
        pattern=r"unsupportedptxversion|unsupported ptx version|compiled with an unsupported toolchain"
        r"|mismatches the version that was used to compile|"
        rf"undefined symbol: _*(?:{_CUDA_SYMBOLS}|cuda|cufft|nccl)\w*"
        r"|different cuda (?:major )?versions|cuda version mismatch|"
        r"cublas_status_not_supported.*version|cudnn version incompatib|compiled against .*cuda"
        r"|requires cuda (?:>=|version|1\d)|cuda (?:toolkit )?version .*(?:mismatch|too old|does not match"
        r"|not supported)|"
        r"built (?:for|with) cuda \d+.{0,40}(?:but|while)|libtorch_cuda\w*\.so|cuda_error_invalid_ptx"
        r"|ptx jit compilation failed|cuda error:? 222",
        cause="torch, the CUDA libraries, the toolkit and the driver are not of versions that fit together.",
        alternatives=("driver_mismatch", "version_mismatch_kernel"),
    ),
    Rule(
        kind="version_mismatch_kernel",
        weight=93,
        pattern=r"undefined symbol: (?P<symbol>\S+)|_opnamespace' '\S+' object has no attribute"
        r"|does not match flashinfer version|flashinfer-cubin version|"
        rf"(?:{KERNEL_PACKAGES}).{{0,60}}(?:is installed with version|which is less than|version mismatch"
        rf"|version .*(?:required|does not match|incompatible))|"
        rf"cannot import name '\S+' from '(?:{KERNEL_PACKAGES})|module '(?:{KERNEL_PACKAGES})\S*' has no attribute|"
        r"no module named 'common_ops'|module was compiled against abi|"
        r"could not run '\w+::|no such operator (?:sgl_kernel|_c|vllm|flashinfer|_moe_c)::"
        r"|schema .*(?:sgl_kernel|_c|vllm)::",
        never=rf"packagenotfounderror|: cannot open shared object file|undefined symbol: _*(?:{_CUDA_SYMBOLS})",
        cause="A kernel package does not fit the engine, torch or CUDA that are installed beside it.",
        alternatives=("version_mismatch_cuda", "python_env"),
    ),
    Rule(
        kind="version_mismatch_kernel",
        weight=82,
        pattern=r"could not load any common_ops|with minimum required version \S+ is not installed",
        never=r"packagenotfounderror|: cannot open shared object file",
        sure=False,
        cause="A kernel package is not there in the version or build that the engine asks for; why it did not "
        "load is not in these lines.",
        alternatives=("missing_shared_library", "python_env", "version_mismatch_cuda"),
    ),
    Rule(
        kind="version_mismatch_kernel",
        weight=90,
        pattern=r"could not find nvcc|nvcc not found",
        also=r"cuda compilation tools, release",
        cause="nvcc is there, but this version of the kernel package does not find it: a fault of that release.",
        fix="Use another version of the kernel package, or set CUDA_HOME to the toolkit.",
        alternatives=("compile_toolchain",),
    ),
    Rule(
        kind="version_mismatch_kernel",
        weight=80,
        pattern=r"got an unexpected keyword argument '(?P<argument>\w+)'|takes \d+ positional arguments? but \d+"
        r"|missing \d+ required positional|"
        r"expected at most \d+ argument\(s\) but received|incompatible function arguments"
        r"|is missing value for argument",
        near=rf"{KERNEL_PACKAGES}|torch\.ops|_ops\.py|custom_ops",
        never=r"transformers/|draft",
        cause="The engine calls a kernel package with arguments that the installed version does not have.",
        alternatives=("feature_conflict",),
    ),
    Rule(
        kind="version_mismatch_transformers",
        weight=94,
        pattern=r"already used by a transformers (?:model|config)|cannot import name '\S+' from '(?:transformers"
        r"|tokenizers|huggingface_hub)|"
        r"module 'transformers\S*' has no attribute|"
        r"(?:requires|need|upgrade|install|update|with) (?:to )?(?:the )?(?:latest )?['\"`]?transformers ?(?:>|="
        r"|<|version|from source)|"
        r"transformers ?(?:>=|==|<|<=|!=) ?[\d.]+ ?(?:is )?(?:required|needed)"
        r"|is required for a normal functioning of this module|"
        r"untagged enum|all_special_tokens_extended|class tokenizersbackend|transformers version (?:is )?(?:too"
        r"|mismatch|\S+ (?:is )?(?:too|not|required))"
        r"|no module named 'transformers\.|"
        r"installed transformers|pip install (?:-u|--upgrade) transformers",
        cause="The installed transformers is too old or too new for this model or engine version.",
        alternatives=("model_unsupported_arch", "python_env"),
        sure=True,
    ),
    Rule(
        kind="version_mismatch_transformers",
        weight=95,
        pattern=r"transformers does not recognize this architecture|your version of transformers is out of date",
        sure=False,
        cause="The installed transformers does not know this model type: it is older than the model.",
        fix="Update transformers as far as the engine allows, else the engine; check the model type in config.json.",
        alternatives=("model_unsupported_arch",),
    ),
    Rule(
        kind="version_mismatch_transformers",
        weight=76,
        pattern=r"keyerror: '(?P<type>[\w-]+)'"
        r"|attributeerror: '\w+config' object has no attribute '(?:rope_theta|rope_scaling"
        r"|rope_parameters|rope_type|pad_token_id)'|"
        r"attributeerror: '?\w*(?:tokenizer|processor|imageprocessor)\w*'? ?(?:object )?has no attribute"
        r"|typeerror: \S*(?:processor|tokenizer|config)\S* .*unexpected keyword",
        near=r"configuration_auto|config_mapping|transformers/|autoconfig|autoprocessor|rope_theta|rope_parameters",
        sure=False,
        not_near=r"gated|client error",
        cause="The installed transformers does not know this model's config, or names things differently from "
        "what the engine expects.",
        alternatives=("model_unsupported_arch", "model_config"),
    ),
)
