"""Engine logs to sightings: engines print their arguments, from which the command line is rebuilt."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.core.discovery.artefact import Artefact
from bot.core.discovery.launch_call import ContainerRun, Evidence, Sighting
from bot.core.discovery.shell_state import clean
from bot.core.domain.engine import Engine

Scalar = str | bool | None

_JOURNAL = re.compile(r"^\w{3} +\d+ [\d:]{8} \S+ [^\s\[]+\[(\d+)\]: |^\d{4}-\d\d-\d\dT\S+ \S+ [^\s\[]+\[(\d+)\]: ")
_LLAMA_MODEL = re.compile(r"load_model: loading model '([^']+)'")
_LLAMA_LOADER = re.compile(r"llama_model_loader: loaded meta data with .*? from (\S.*?) \(version")
_LLAMA_ADDRESS = re.compile(
    r"hostname\"?[:=] ?\"?(?P<host>[^\s,\"]+)\"?,? ?\"?port\"?[:=] ?\"?(?P<port>\d+)"
    r"|listening on https?://(?P<host_of_url>\[[^\]]*\]|[^\s:/]+):(?P<port_of_url>\d+)"
    r"|port=\"(?P<port_first>\d+)\" hostname=\"(?P<host_last>[^\"]+)\""
)
#: what only a server has, of what vLLM lists as not default, and what only a server prints
_SERVER_FIELDS = frozenset(("model_tag", "host", "port", "api_key", "uvicorn_log_level", "enable_auto_tool_choice"))
_SERVER_LINE = re.compile(
    r"\(APIServer|vLLM API server version|Starting vLLM server|Starting vLLM API server|Uvicorn running"
)
_LINE_LIMIT = 100_000
_DEPTH_LIMIT = 40
#: what SGLang prints where nothing was given (0.5.5 to 0.5.11, its own log); other fields default to None or False
_SGLANG_DEFAULTS: Mapping[str, str] = {
    "tokenizer_mode": "auto", "tokenizer_backend": "huggingface", "tokenizer_worker_num": "1", "load_format": "auto",
    "model_loader_extra_config": "{}", "model_impl": "auto", "dtype": "auto", "kv_cache_dtype": "auto",
    "max_prefill_tokens": "16384", "schedule_policy": "fcfs", "priority_scheduling_preemption_threshold": "10",
    "schedule_conservativeness": "1.0", "page_size": "1", "swa_full_tokens_ratio": "0.8",
    "radix_eviction_policy": "lru", "device": "cuda", "tp_size": "1", "pp_size": "1", "dp_size": "1", "ep_size": "1",
    "stream_interval": "1", "batch_notify_size": "16", "watchdog_timeout": "300", "base_gpu_id": "0",
    "gpu_id_step": "1", "log_level": "info", "log_requests_level": "2", "log_requests_format": "text",
    "tokenizer_metrics_custom_labels_header": "x-custom-labels", "gc_warning_threshold_secs": "0.0",
    "decode_log_interval": "40", "otlp_traces_endpoint": "localhost:4317", "weight_version": "default",
    "file_storage_path": "sglang_storage", "sampling_defaults": "model", "load_balance_method": "round_robin",
    "attn_cp_size": "1", "moe_dp_size": "1", "nnodes": "1", "node_rank": "0", "json_model_override_args": "{}",
    "max_loras_per_batch": "8", "lora_eviction_policy": "lru", "lora_backend": "csgmv", "max_lora_chunk_size": "16",
    "fp8_gemm_runner_backend": "auto", "fp4_gemm_runner_backend": "auto", "mamba_backend": "triton",
    "speculative_accept_threshold_single": "1.0", "speculative_accept_threshold_acc": "1.0",
    "speculative_attention_mode": "prefill", "moe_a2a_backend": "none", "moe_runner_backend": "auto",
    "deepep_mode": "auto", "ep_num_redundant_experts": "0", "init_expert_location": "trivial",
    "eplb_algorithm": "auto", "eplb_rebalance_num_iterations": "1000", "host": "127.0.0.1", "port": "30000",
    "flashinfer_mxfp4_moe_precision": "default", "pp_async_batch_depth": "0", "prefill_delayer_max_delay_passes": "30",
    "speculative_moe_runner_backend": "auto", "hicache_ratio": "2.0", "hicache_size": "0",
    "hicache_write_policy": "write_through", "hicache_io_backend": "kernel", "hicache_mem_layout": "layer_first",
    "disaggregation_mode": "null", "disaggregation_transfer_backend": "mooncake", "num_continuous_decode_steps": "1",
    "triton_attention_num_kv_splits": "8",
}  # fmt: skip
#: fields that SGLang computes, fills in or changes at start: what they hold says nothing about the command line
_SGLANG_FILLED = frozenset(
    ("tokenizer_path", "served_model_name", "random_seed", "attention_backend", "sampling_backend", "grammar_backend",
     "decode_attention_backend", "prefill_attention_backend", "mm_attention_backend", "cuda_graph_bs",
     "cuda_graph_max_bs", "chunked_prefill_size", "mem_fraction_static", "max_running_requests", "max_prefill_tokens",
     "page_size", "device", "dtype", "disable_overlap_schedule", "disable_radix_cache", "disable_cuda_graph",
     "disable_custom_all_reduce", "speculative_num_draft_tokens", "speculative_eagle_topk", "speculative_num_steps",
     "speculative_draft_model_path", "schedule_conservativeness", "moe_runner_backend", "quantization",
     "kv_cache_dtype", "nsa_prefill_backend", "nsa_decode_backend", "enable_multimodal", "enable_lora", "ep_size",
     "pp_max_micro_batch_size", "swa_full_tokens_ratio",
     "mamba_scheduler_strategy", "triton_attention_num_kv_splits", "record_nolora_graph",
     "piecewise_cuda_graph_tokens", "piecewise_cuda_graph_max_tokens", "max_mamba_cache_size", "load_format")
)  # fmt: skip
#: what older vLLM listed where nothing was given (`args: Namespace(…)`)
_VLLM_DEFAULTS: Mapping[str, str] = {
    "dtype": "auto", "task": "auto", "load_format": "auto", "tokenizer_mode": "auto", "uvicorn_log_level": "info",
    "seed": "0", "swap_space": "4", "gpu_memory_utilization": "0.9", "tensor_parallel_size": "1", "block_size": "16",
    "pipeline_parallel_size": "1", "kv_cache_dtype": "auto", "config_format": "auto", "max_num_seqs": "256",
    "allowed_origins": "*", "allowed_methods": "*", "allowed_headers": "*", "distributed_executor_backend": "mp",
    "guided_decoding_backend": "xgrammar", "max_logprobs": "20", "max_lora_rank": "16", "max_loras": "1",
    "lora_dtype": "auto", "lora_extra_vocab_size": "256", "device": "auto", "num_scheduler_steps": "1",
    "response_role": "assistant", "root_path": "", "scheduling_policy": "fcfs", "num_lookahead_slots": "0",
    "tokenizer_pool_size": "0", "tokenizer_pool_type": "ray", "chat_template_content_format": "auto",
    "spec_decoding_acceptance_method": "rejection_sampler", "max_seq_len_to_capture": "8192", "cpu_offload_gb": "0",
    "ssl_cert_reqs": "0", "scheduler_delay_factor": "0.0", "return_tokens_as_token_ids": "False", "worker_cls": "auto",
    "typical_acceptance_sampler_posterior_threshold": "None", "preemption_mode": "None", "code_revision": "None",
    "max_parallel_loading_workers": "None", "long_lora_scaling_factors": "None", "max_cpu_loras": "None",
    "data_parallel_size": "1", "api_server_count": "1", "stream_interval": "1", "prefix_caching_hash_algo": "builtin",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Shape:
    """How one engine prints its arguments. `program`: what the rebuilt command line starts with."""

    engine: str
    pattern: re.Pattern[str]
    program: tuple[str, ...]
    model_fields: tuple[str, ...]
    positional: bool
    lists_defaults: bool
    defaults: Mapping[str, str]
    filled: frozenset[str] = frozenset()


_SHAPES = (
    _Shape(
        "sglang",
        re.compile(r"server_args=ServerArgs\("),
        ("python3", "-m", "sglang.launch_server"),
        ("model_path",),
        False,
        True,
        _SGLANG_DEFAULTS,
        _SGLANG_FILLED,
    ),
    _Shape(
        "vllm",
        re.compile(r"non-default args: (?=\{)"),
        ("vllm", "serve"),
        ("model", "model_tag"),
        True,
        False,
        {},
    ),
    _Shape(
        "vllm",
        re.compile(r"args: Namespace\("),
        ("vllm", "serve"),
        ("model", "model_tag"),
        True,
        True,
        _VLLM_DEFAULTS,
        frozenset(("subparser", "model_tag", "config", "dispatch_function", "block_size")),
    ),
)


def sight_log(artefact: Artefact, engines: Mapping[str, Engine]) -> list[Sighting]:
    """Launches that a log shows; of several starts of one server the last counts, which merging sees to."""
    found = [_llama(artefact, engines)]
    for number, line in enumerate(artefact.text.splitlines(), start=1):
        if "rgs" not in line:
            continue
        for shape in _SHAPES:
            match = shape.pattern.search(line[:_LINE_LIMIT])
            if match:
                found.append(_from_line(line[:_LINE_LIMIT], match.end(), number, shape, artefact, engines))
                break
    return [sighting for sighting in found if sighting is not None]


def _from_line(
    line: str, start: int, number: int, shape: _Shape, artefact: Artefact, engines: Mapping[str, Engine]
) -> Sighting | None:
    engine = next((one for one in engines.values() if one.name == shape.engine), None)
    values = _read_dict(line, start) if line[start : start + 1] == "{" else _read_call(line, start)
    model = next((values[name] for name in shape.model_fields if isinstance(values.get(name), str)), None)
    if engine is None or model is None or not _is_server(values, shape):
        return None
    if not shape.lists_defaults and not (_SERVER_FIELDS & values.keys() or _SERVER_LINE.search(artefact.text)):
        # vllm.LLM(…) prints the same line
        return None
    argv = [*shape.program, *([] if shape.positional else ["--" + shape.model_fields[0].replace("_", "-")]), str(model)]
    listed: dict[str, Scalar] = {}
    for name, value in values.items():
        canonical = engine.canonical("--" + name.replace("_", "-"))
        if canonical is None or name in shape.model_fields:
            continue
        words = _flag_words("--" + canonical, value, negates=not shape.lists_defaults)
        if name not in shape.filled:
            listed[canonical] = _scalar(value)
        if words and not _is_default(name, value, str(model), shape):
            argv.extend(words)
    journal = _JOURNAL.match(line)
    pid = int(journal[1] or journal[2]) if journal else None
    return _sighting(artefact, tuple(map(clean, argv)), number, pid, listed, lists_defaults=shape.lists_defaults)


def _is_server(values: Mapping[str, object], shape: _Shape) -> bool:
    """Other sub-commands (bench, run-batch) list their arguments too, but no port of their own."""
    command = values.get("subparser", values.get("command"))
    return not shape.lists_defaults or ("port" in values and command in (None, "serve"))


def is_listed_default(engine: str, canonical: str, value: str | bool | list[str] | None, model: str) -> bool:
    """Whether a log of this engine may show this value although nobody gave it."""
    shape = next((one for one in _SHAPES if one.engine == engine and one.lists_defaults), None)
    name = canonical.replace("-", "_")
    if shape is None or name in shape.filled or value is None:
        return True
    return value == model or shape.defaults.get(name) == value


def _is_default(name: str, value: object, model: str, shape: _Shape) -> bool:
    """Whether the line shows a field only because it shows all. The address is kept: it says where the server is."""
    if not shape.lists_defaults or name in ("host", "port"):
        return False
    if name in ("tokenizer_path", "tokenizer", "served_model_name") and value == model:
        return True
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return shape.defaults.get(name) == text or name == "random_seed" or name in ("cuda_graph_bs", "dispatch_function")


def _scalar(value: object) -> Scalar:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return json.dumps(value)
    return json.dumps(value) if isinstance(value, list) else str(value)


def _flag_words(flag: str, value: object, *, negates: bool) -> list[str]:
    """A flag with its value as typed; nothing for None, False and what is empty."""
    if value is None or value == "" or value in ([], {}):
        return []
    if value is True:
        return [flag]
    if value is False:
        return ["--no-" + flag.removeprefix("--")] if negates else []
    if isinstance(value, list):
        return [flag, *(one if isinstance(one, str) else _text(one) for one in value)]
    return [flag, _text(value)]


def _text(value: object) -> str:
    return json.dumps(value) if isinstance(value, dict | list) else str(value)


# Python's repr of keyword arguments and dicts


def _read_call(line: str, start: int) -> dict[str, object]:
    """`name=value, …)` up to the closing bracket, or to where the line was cut."""
    found: dict[str, object] = {}
    for piece in _pieces(line, start):
        name, equals, text = piece.partition("=")
        if equals and re.fullmatch(r"\s*[A-Za-z_]\w*\s*", name):
            found[name.strip()] = _literal(text.strip())
    return found


def _read_dict(line: str, start: int) -> dict[str, object]:
    found: dict[str, object] = {}
    for piece in _pieces(line, start + 1):
        match = re.match(r"\s*(['\"])(\w+)\1\s*:\s*(.*)", piece, re.DOTALL)
        if match:
            found[match[2]] = _literal(match[3].strip())
    return found


def _pieces(line: str, start: int) -> Iterator[str]:
    """What commas of the outermost level separate."""
    depth = 0
    begun = start
    position = start
    quote = ""
    while position < len(line):
        char = line[position]
        if quote:
            if char == "\\":
                position += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char in "([{<":
            depth += 1
        elif char in ")]}" or (char == ">" and depth > 0 and line[position - 1] != "-"):
            depth -= 1
            if depth < 0:
                yield line[begun:position]
                return
        elif char == "," and depth == 0:
            yield line[begun:position]
            begun = position + 1
        position += 1
    # a line that was cut: the last piece may be half a value
    return


def _literal(text: str) -> object:
    """A Python literal; objects that have no literal (`<function …>`) are None, `Name(key=…)` becomes a list entry."""
    if sum(text.count(bracket) for bracket in "([{") > _DEPTH_LIMIT:
        return None
    try:
        return _plain(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        pass
    paths = re.findall(r"\(name='([^']*)', path='([^']*)'", text)
    if paths:
        return [f"{name}={path}" for name, path in paths]
    member = re.fullmatch(r"<\w+\.\w+: (.+)>", text)
    return _literal(member[1]) if member else None


def _plain(value: object) -> object:
    if isinstance(value, tuple | set | frozenset):
        return [_plain(one) for one in value]
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return value


def _llama(artefact: Artefact, engines: Mapping[str, Engine]) -> Sighting | None:
    """llama-server prints no arguments; model and address stand in lines of their own."""
    text = artefact.text
    models = _LLAMA_MODEL.findall(text) or _LLAMA_LOADER.findall(text)
    if not models or not any(engine.recognises(["llama-server"]) for engine in engines.values()):
        return None
    address = list(_LLAMA_ADDRESS.finditer(text))
    if not address:
        return None
    last = address[-1]
    host = last["host"] or last["host_of_url"] or last["host_last"]
    port = last["port"] or last["port_of_url"] or last["port_first"]
    argv = ("llama-server", "-m", models[-1], "--host", host, "--port", port)
    line = text.count("\n", 0, last.start()) + 1
    return _sighting(artefact, tuple(map(clean, argv)), line, None, {"port": port}, lists_defaults=True)


def _sighting(
    artefact: Artefact,
    argv: tuple[str, ...],
    line: int,
    pid: int | None,
    values: Mapping[str, Scalar],
    *,
    lists_defaults: bool,
) -> Sighting:
    unit = re.match(r"(?:journal:|journalctl .*?(?:-u|--unit)[ =]?)(\S+)", artefact.path)
    container = re.match(r"(?:docker|podman|nerdctl) (?:container )?logs (?:-\S+ )*(\S+)", artefact.path)
    name = unit[1] if unit else None
    if name and "." not in name.rpartition("@")[2]:
        name += ".service"
    return Sighting(
        argv=argv,
        runner="systemd" if name else "docker" if container else "process",
        unit=name,
        container=ContainerRun(name=container[1], host_network=True) if container else None,
        evidence=(Evidence(kind="log", path=artefact.path, detail=f"line {line}", seen_at=artefact.changed_at),),
        pid=pid,
        logs=(artefact.path,),
        may_have_failed=False,
        log_values=values,
        lists_defaults=lists_defaults,
        seen_at=artefact.changed_at,
    )
