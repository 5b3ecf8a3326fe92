"""vLLM's words for what goes wrong at start, as seen in real logs."""

# ruff: noqa: E501, UP031 - words of the engines are kept as they print them

from __future__ import annotations

from . import console
from .console import site, traceback

_SERVE = [
    "{}:8:<module>:sys.exit(main())".format("vllm"),
    "vllm/entrypoints/cli/main.py:120:main:args.dispatch_function(args)",
    "vllm/entrypoints/cli/serve.py:156:cmd:uvloop.run(run_server(args))",
]


def _frames(*more: str) -> list[str]:
    return [*(f if f.startswith("vllm:") else site(f) for f in _SERVE), *map(site, more)]


def missing_library(library: str) -> int:
    """A shared library that some import needs is not installed."""
    frames = _frames(
        "vllm/multimodal/video.py:18:<module>:import torchcodec",
        "torchcodec/_core/ops.py:85:<module>:load_torchcodec_shared_libraries()",
    )
    console.write(
        traceback(frames, f"ImportError: {library}: cannot open shared object file: No such file or directory")
    )
    return 1


def port_taken(error: OSError) -> int:
    """The port is bound before anything else."""
    frames = _frames(
        "vllm/entrypoints/launchers/api_server/entry.py:176:run_server:listen_address, sock = setup_server(args, reuse_port=False)",
        "vllm/entrypoints/launchers/launcher.py:348:create_server_socket:sock.bind(addr)",
    )
    console.write(traceback(frames, f"OSError: [Errno {error.errno}] Address already in use"))
    return 1


def no_model(path: str) -> int:
    """No such folder, so it is taken for a name on the hub."""
    frames = _frames("vllm/engine/arg_utils.py:1955:create_model_config:return ModelConfig(")
    if path.startswith("/"):
        error = (
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n  Value error, Invalid repository "
            f"ID or local directory specified: '{path}'.\nPlease verify the following requirements:\n1. Provide a valid Hugging Face "
            "repository ID.\n2. Specify a local directory that contains a recognized configuration file."
        )
    else:
        error = (
            "huggingface_hub.errors.LocalEntryNotFoundError: Cannot find an appropriate cached snapshot folder for the "
            "specified revision on the local disk and outgoing traffic has been disabled."
        )
    console.write(traceback(frames, error))
    return 1


def validation(config: str, error: str) -> None:
    """pydantic refuses a config."""
    frames = _frames(
        "pydantic/_internal/_dataclasses.py:121:__init__:s.__pydantic_validator__.validate_python(ArgsKwargs(args, kwargs), self_instance=s)"
    )
    text = f"pydantic_core._pydantic_core.ValidationError: 1 validation error for {config}\n  {error}"
    console.write(
        traceback(frames, text + "\n    For further information visit https://errors.pydantic.dev/2.14/v/value_error")
    )


def context_too_long(wanted: int, derived: int) -> int:
    """The length is above the model's own."""
    validation(
        "ModelConfig",
        "Value error, User-specified max_model_len (%d) is greater than the derived max_model_len "
        "(max_position_embeddings=%s or model_max_length=None in model's config.json). To allow overriding this maximum, set "
        "the env var VLLM_ALLOW_LONG_MAX_MODEL_LEN=1." % (wanted, float(derived)),
    )
    return 1


def memory_held(index: int, free: float, total: float, fraction: float) -> str:
    """Somebody else holds the card."""
    return (
        "ValueError: Free memory on device cuda:%d (%.2f/%.2f GiB) on startup is less than desired GPU memory utilization "
        "(%s, %.2f GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
        % (index, free, total, fraction, fraction * total)
    )


def oom(index: int, total: float) -> str:
    """Out of memory."""
    return (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 270.00 MiB. GPU %d has a total capacity of %.2f GiB of "
        "which 101.50 MiB is free." % (index, total)
    )


def cache_too_small(context: int, pool: float, tokens: int) -> str:
    """One request of full length does not fit."""
    return (
        "ValueError: To serve at least one request with the models's max seq len (%d), (%.2f GiB KV cache is needed, which is "
        "larger than the available KV cache memory (%.2f GiB). Based on the available memory, the estimated maximum model "
        "length is %d. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine."
        % (context, pool * context / max(1, tokens), pool, tokens)
    )


def worker(out: console.Vllm, who: tuple[str, int], core: int, error: str) -> None:
    """A worker's traceback, prefixed, then what the others say of it."""
    frames = [
        site("vllm/v1/worker/gpu_worker.py:245:init_device:"),
        site("vllm/v1/worker/gpu_worker.py:310:load_model:"),
    ]
    for line in traceback(frames, error).rstrip().split("\n"):
        out.line(who[0], who[1], "multiproc_executor.py:833" if who[1] != core else "core.py:1101", line, "ERROR")
    out.line("EngineCore", core, "core.py:1101", "EngineCore failed to start.", "ERROR")
    console.write(
        traceback(
            _frames("vllm/v1/engine/utils.py:1005:wait_for_engine_startup:raise RuntimeError("),
            "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
        )
    )
