"""SGLang's words for what goes wrong at start, as seen in real logs."""

# ruff: noqa: E501, UP031 - words of the engines are kept as they print them

from __future__ import annotations

from typing import NoReturn

from . import console
from .console import site, traceback
from .host import Gpu
from .processes import Children

_RUNPY = ["<frozen runpy>:198:_run_module_as_main:", "<frozen runpy>:88:_run_code:"]


def deprecation() -> None:
    """Printed at each start through the module."""
    console.write(
        "{}:54: UserWarning: 'python -m sglang.launch_server' is still supported, but 'sglang serve' is the recommended "
        "entrypoint.\n  Example: sglang serve --model-path <model> [options]\n  warnings.warn(\n".format(
            site("sglang/launch_server.py")
        )
    )


def _in_server_args(line: int, last: str, error: str) -> NoReturn:
    args = site("sglang/srt/server_args.py")
    frames = [
        *_RUNPY,
        "{}:66:<module>:server_args = prepare_server_args(sys.argv[1:])".format(site("sglang/launch_server.py")),
        f"{args}:7299:prepare_server_args:return ServerArgs.from_cli_args(raw_args)",
        f"{args}:6685:from_cli_args:return cls(**{{attr: getattr(args, attr) for attr in attrs}})",
        "<string>:371:__init__:",
        f"{args}:882:__post_init__:self._handle_speculative_decoding()",
        "%s:%d:_handle_speculative_decoding:%s" % (args, line, last),
    ]
    console.write(traceback(frames, error))
    raise SystemExit(1)


def steps_without_topk() -> NoReturn:
    """Steps given, topk not."""
    error = "TypeError: '>' not supported between instances of 'NoneType' and 'int'"
    _in_server_args(3549, "self.speculative_eagle_topk > 1", error)


def topk_without_steps() -> NoReturn:
    """topk or drafts given, steps not: a bare assertion."""
    _in_server_args(3520, "self.speculative_eagle_topk is None", "AssertionError")


def missing_library(library: str) -> int:
    """A shared library that some import needs is not installed."""
    frames = [
        *_RUNPY,
        "{}:8:<module>:from sglang.srt.server_args import prepare_server_args".format(site("sglang/launch_server.py")),
        "{}:43:<module>:from sglang.srt.utils.common import is_cuda".format(site("sglang/srt/server_args.py")),
        "{}:92:<module>:from torchcodec.decoders import VideoDecoder".format(site("sglang/srt/utils/common.py")),
        "{}:14:<module>:from . import _core".format(site("torchcodec/__init__.py")),
    ]
    console.write(
        traceback(frames, f"ImportError: {library}: cannot open shared object file: No such file or directory")
    )
    return 1


def no_model(path: str) -> int:
    """The model path is no folder with a config.json."""
    frames = [
        *_RUNPY,
        "{}:70:<module>:run_server(server_args)".format(site("sglang/launch_server.py")),
        "{}:110:get_config:config = AutoConfig.from_pretrained(model)".format(
            site("sglang/srt/utils/hf_transformers_utils.py")
        ),
        "{}:1172:cached_file:resolved_files = cached_files(path_or_repo_id)".format(site("transformers/utils/hub.py")),
    ]
    error = (
        "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': "
        f"'{path}'. Use `repo_type` argument if needed."
        if path.startswith("/")
        else "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the "
        "cached files.\nCheck your internet connection or see how to run the library in offline mode."
    )
    console.write(traceback(frames, error))
    return 1


def context_too_long(wanted: int, derived: int, environ: dict[str, str]) -> None:
    """The context is longer than the model's own."""
    if environ.get("SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN") in ("1", "true"):
        return
    frames = [
        *_RUNPY,
        "{}:70:<module>:run_server(server_args)".format(site("sglang/launch_server.py")),
        "{}:310:_derive_context_length:raise ValueError(".format(site("sglang/srt/configs/model_config.py")),
    ]
    error = (
        "ValueError: User-specified context_length (%d) is greater than the derived context_length (%d). This may lead to "
        "incorrect model outputs or CUDA errors. To allow overriding this maximum, set the env var "
        "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1" % (wanted, derived)
    )
    console.write(traceback(frames, error))
    raise SystemExit(1)


def _scheduler(last: str, error: str) -> str:
    run = site("sglang/srt/model_executor/model_runner.py")
    frames = [
        "{}:3002:run_scheduler_process:scheduler = Scheduler(".format(site("sglang/srt/managers/scheduler.py")),
        "{}:401:__init__:self.init_model_worker()".format(site("sglang/srt/managers/scheduler.py")),
        f"{run}:388:__init__:self.initialize(min_per_gpu_memory)",
        f"{run}:{last}",
    ]
    return traceback(frames, error)


def _oom(card: Gpu, tried: str) -> str:
    total, free = card.total / 1024.0, max(0.02, card.free / 1024.0)
    return (
        "CUDA out of memory. Tried to allocate %s. GPU %d has a total capacity of %.2f GiB of which %.2f MiB is free. "
        "Including non-PyTorch memory, this process has %.2f GiB memory in use."
        % (tried, card.number, total, 31.44, total - free)
    )


def oom_weights(card: Gpu, weights_gb: float) -> str:
    """The weights do not fit."""
    return _scheduler(
        "912:load_model:self.model = get_model(",
        "torch.OutOfMemoryError: " + _oom(card, "%.2f GiB" % (weights_gb / 64)),
    )


def oom_graphs(card: Gpu) -> str:
    """Nothing is left for the graphs."""
    error = (
        "Exception: Capture cuda graph failed: {}\nPossible solutions:\n"
        "1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)\n"
        "2. set --cuda-graph-max-bs to a smaller value (e.g., 16)\n"
        "3. disable torch compile by not using --enable-torch-compile\n"
        "4. disable CUDA graph by --disable-cuda-graph. (Not recommended. Huge performance loss)\n"
        "Open an issue on GitHub https://github.com/sgl-project/sglang/issues/new/choose ".format(
            _oom(card, "96.00 MiB")
        )
    )
    return _scheduler("2011:init_device_graphs:self.graph_runner = CudaGraphRunner(self)", error)


def no_room_for_pool(fraction: float) -> str:
    """Weights leave no room for the KV pool."""
    error = (
        "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: "
        f"self.server_args.mem_fraction_static={fraction}"
    )
    return _scheduler("1602:init_memory_pool:raise RuntimeError(", error)


def unbalanced(least_gb: float, most_gb: float) -> str:
    """Somebody else holds memory on one of the cards."""
    error = (
        "ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. "
        f"pre_model_load_memory={least_gb:.4f}, local_gpu_memory={most_gb:.4f}, local_gpu_memory * 0.9={most_gb * 0.9:.4f}"
    )
    return _scheduler("846:init_torch_distributed:raise ValueError(", error)


def too_few_gpus(there: int) -> str:
    """More ranks than cards."""
    error = (
        "RuntimeError: CUDA error: invalid device ordinal\nCUDA kernel errors might be asynchronously reported at some "
        "other API call, so the stacktrace below might be incorrect.\n(%d device(s) visible)" % there
    )
    return _scheduler("790:init_torch_distributed:torch.get_device_module(self.device).set_device(self.gpu_id)", error)


def missing_shard(path: str, name: str) -> str:
    """The index names a shard that is not on disk."""
    return _scheduler(
        "912:load_model:self.model = get_model(", f'FileNotFoundError: No such file or directory: "{path}/{name}"'
    )


def harmless() -> str:
    """A traceback in a healthy start."""
    frames = [
        "{}:366:lifespan:from sglang.srt.entrypoints.openai.serving_responses import (".format(
            site("sglang/srt/entrypoints/http_server.py")
        ),
        "{}:30:<module>:from openai_harmony import Message as OpenAIMessage".format(
            site("sglang/srt/entrypoints/openai/serving_responses.py")
        ),
    ]
    return traceback(frames, "ModuleNotFoundError: No module named 'openai_harmony'")


def port_taken(host: str, port: int, error: OSError, children: Children) -> int:
    """Uvicorn cannot bind: seen only at the end, once everything is loaded."""
    console.Sglang(1).line(
        "ERROR:    [Errno %s] error while attempting to bind on address ('%s', %d): address already in use"
        % (error.errno, host, port)
    )
    console.Sglang(1).line("INFO:     Waiting for application shutdown.")
    console.Sglang(1).line("INFO:     Application shutdown complete.")
    children.kill()
    return 1
