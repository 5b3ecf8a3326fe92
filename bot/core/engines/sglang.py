"""SGLang (flags of 0.5.5 to 0.5.23; speculation, logs and metrics read and measured in 0.5.11)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.domain.catalog import Word
from bot.core.domain.engine import CommandLine, Engine, EngineMetrics, Flag, TypedFlag
from bot.core.domain.finding import Finding
from bot.core.domain.launch import Milestone
from bot.core.engines import _sglang_log, _sglang_rules
from bot.core.engines._argv import Syntax, Value
from bot.core.engines._flags_sglang import FLAGS, VERSIONS
from bot.core.engines._groups import group_of
from bot.core.engines._nearest import nearest_flags
from bot.core.engines._neutral import environment_of, neutral_value, translate
from bot.core.engines._program import Program
from bot.core.engines._prometheus import read_page
from bot.core.engines._rules import whole_number
from bot.core.engines._versions import has, newer

_PROGRAM = Program(
    modules=("sglang.launch_server", "sglang.srt.entrypoints.http_server", "sglang.cli.main"),
    executables=("launch_server.py",),
    with_subcommand=(("sglang", "serve"),),
)
_INDEX = Syntax(flags=FLAGS).index()
_NEUTRAL = {
    "tensor_parallel": "tp-size",
    "data_parallel": "dp-size",
    "context_length": "context-length",
    "port": "port",
    "memory_fraction": "mem-fraction-static",
    "speculative_steps": "speculative-num-steps",
    "speculative_draft_tokens": "speculative-num-draft-tokens",
    "speculative_topk": "speculative-eagle-topk",
    "max_running_requests": "max-running-requests",
    "quantization": "quantization",
    "dtype": "dtype",
    "kv_cache_dtype": "kv-cache-dtype",
    "attention_backend": "attention-backend",
    "served_name": "served-model-name",
}
#: the engine works it out from card and model when it is not given; most are near this
_USUAL_FRACTION = 0.85
_OTHER_GAUGES = (
    "spec_accept_rate",
    "is_cuda_graph",
    "cache_hit_rate",
    "utilization",
    "max_total_num_tokens",
    "context_len",
)
#: old name -> what took its place (0.5.20 and later name the targets in their own deprecation messages)
RENAMED: Mapping[str, tuple[str, ...]] = {
    "cuda-graph-max-bs": ("cuda-graph-max-bs-decode",),
    "cuda-graph-bs": ("cuda-graph-bs-decode",),
    "nsa-prefill-backend": ("dsa-prefill-backend",),
    "nsa-decode-backend": ("dsa-decode-backend",),
    "mamba-scheduler-strategy": ("mamba-radix-cache-strategy",),
    "piecewise-cuda-graph-max-tokens": ("cuda-graph-max-bs-prefill",),
    "piecewise-cuda-graph-tokens": ("cuda-graph-bs-prefill",),
    "tensor-parallel": ("tp-size",),
    "max-model-len": ("context-length",),
    "gpu-memory-utilization": ("mem-fraction-static",),
    "max-num-seqs": ("max-running-requests",),
    "enforce-eager": ("disable-cuda-graph",),
}


@dataclass(frozen=True, slots=True)
class Sglang:
    """`python -m sglang.launch_server …` or `sglang serve …`."""

    name: str = "sglang"
    default_port: int = 30000
    distribution: str | None = "sglang"
    packages: tuple[str, ...] = (
        "sglang",
        "sgl_kernel",
        "torchcodec",
        "torchaudio",
        "torchvision",
        "flashinfer",
        "torch",
    )
    help_words: tuple[tuple[str, ...], ...] = (("--help",),)

    def recognises(self, argv: Sequence[Word]) -> bool:
        return _PROGRAM.length([str(word) for word in argv]) is not None

    def parse(self, argv: Sequence[Word]) -> CommandLine:
        words = [str(word) for word in argv]
        length = _PROGRAM.search(words)
        occurrences, stray = _INDEX.read(words[length:])
        flags = _INDEX.flags(occurrences)
        model = flags.pop("model-path", None)
        port = flags.get("port")
        return CommandLine(
            engine=self.name,
            program=tuple(words[:length]),
            model=model if isinstance(model, str) else None,
            flags=flags,
            stray=tuple(words[length + position] for position in stray),
            port=int(port) if isinstance(port, str) and port.isdigit() else None,
        )

    def typed(self, argv: Sequence[Word]) -> tuple[TypedFlag, ...]:
        length = _PROGRAM.search([str(word) for word in argv])
        return _INDEX.typed(tuple(argv)[length:])

    def flag(self, name: str) -> Flag | None:
        return _INDEX.by_name.get(name.split(".", 1)[0])

    def canonical(self, flag: str) -> str | None:
        found = _INDEX.look_up(flag.split("=", 1)[0])
        return found[0] if found else None

    def version_has(self, flag: str, version: str | None) -> bool | None:
        """Whether a version has a canonical flag; None: not known."""
        return has(_INDEX.by_name.get(flag), version)

    def newer_than_known(self, version: str | None) -> str | None:
        """The newest version that is known here, where the given one is newer."""
        return newer(VERSIONS[-1], version)

    def nearest(self, flag: str, version: str | None = None) -> tuple[str, ...]:
        return nearest_flags(_INDEX, flag, version=version, renamed=RENAMED)

    def overrides_to_flags(self, overrides: Mapping[str, Any]) -> Mapping[str, str | bool | list[str]]:
        return {name: value for name, value in self._changes(overrides).items() if value is not None}

    def _changes(self, overrides: Mapping[str, Any]) -> dict[str, Value | None]:
        """Canonical flags to set; None takes one out."""
        plain = {name: value for name, value in overrides.items() if name != "cuda_graphs"}
        changes = translate(self.name, _NEUTRAL, plain, remedies={})
        if "cuda_graphs" in overrides:
            changes["disable-cuda-graph"] = True if overrides["cuda_graphs"] is False else None
        return changes

    def flags_to_overrides(self, flags: Mapping[str, str | bool | list[str]]) -> Mapping[str, Any]:
        result: dict[str, Any] = {}
        for neutral, name in _NEUTRAL.items():
            value = neutral_value(_INDEX.by_name.get(name), flags[name]) if name in flags else None
            if value is not None:
                result[neutral] = value
        if flags.get("disable-cuda-graph") is True:
            result["cuda_graphs"] = False
        return result

    def apply(self, argv: Sequence[Word], overrides: Mapping[str, Any]) -> tuple[Word, ...]:
        words = tuple(argv)
        length = _PROGRAM.search([str(word) for word in words])
        body = words[length:]
        if overrides.get("speculative_steps") == 0:
            present = {one.name for one in _INDEX.read(body)[0] if group_of(one.name) == "speculative"}
            rest = {name: value for name, value in overrides.items() if not name.startswith("speculative_")}
            changes = dict.fromkeys(sorted(present)) | self._changes(rest)
        else:
            changes = self._changes(overrides) | self._completed_speculation(body, overrides)
        return words[:length] + _INDEX.edit(body, changes)

    def _completed_speculation(self, body: Sequence[Word], overrides: Mapping[str, Any]) -> dict[str, Value | None]:
        """What must change along with the number of steps: steps without topk fail at start, and with topk 1 the engine
        itself forces draft tokens to steps + 1 (SGLang 0.5.11, server_args.py)."""
        steps = overrides.get("speculative_steps")
        if not isinstance(steps, int):
            return {}
        flags = _INDEX.flags(_INDEX.read(body)[0])
        result: dict[str, Value | None] = {}
        topk = str(overrides.get("speculative_topk") or flags.get("speculative-eagle-topk") or "")
        if not topk and "speculative-algorithm" in flags:
            topk = result["speculative-eagle-topk"] = "1"
        if topk == "1" and "speculative_draft_tokens" not in overrides:
            result["speculative-num-draft-tokens"] = str(steps + 1)
        return result

    def set_flags(self, argv: Sequence[Word], flags: Mapping[str, Value | None]) -> tuple[Word, ...]:
        words = tuple(argv)
        length = _PROGRAM.search([str(word) for word in words])
        return words[:length] + _INDEX.edit(words[length:], flags)

    def environment(self, overrides: Mapping[str, Any]) -> Mapping[str, str | None]:
        return environment_of(overrides)

    def gpus_needed(self, line: CommandLine) -> int | None:
        """tp x pp, and x dp where replicas are whole servers (without DP attention they share the ranks), per node."""
        tp, pp, dp, nodes = (
            whole_number(line.flags.get(name)) or 1 for name in ("tp-size", "pp-size", "dp-size", "nnodes")
        )
        replicas = 1 if line.flags.get("enable-dp-attention") is True else dp
        return max(1, tp * pp * replicas // nodes)

    def first_gpu(self, line: CommandLine) -> int:
        return whole_number(line.flags.get("base-gpu-id")) or 0

    def memory_budget(self, line: CommandLine, total_mib: float, free_mib: float) -> tuple[float, str]:
        """--mem-fraction-static is the share, of what is free at start, for weights and KV pool."""
        share = self.flags_to_overrides(line.flags).get("memory_fraction")
        fraction = share if isinstance(share, float) else _USUAL_FRACTION
        said = f"--mem-fraction-static {fraction}" if share is not None else f"about {fraction} when not given"
        return fraction * free_mib, f"{said} x {free_mib:.0f} MiB free"

    def group(self, flag: str) -> str:
        return group_of(flag)

    def health_path(self) -> str:
        return "/health"

    def milestone(self, line: str) -> Milestone | None:
        return _sglang_log.milestone(line)

    def parse_metrics(self, text: str) -> EngineMetrics:
        page = read_page(text)
        own = {name: page.largest(f"sglang:{name}") for name in _OTHER_GAUGES}
        return EngineMetrics(
            generation_tokens_total=page.total("sglang:generation_tokens_total"),
            prompt_tokens_total=page.total("sglang:prompt_tokens_total"),
            running_requests=page.total("sglang:num_running_reqs"),
            waiting_requests=page.total("sglang:num_queue_reqs"),
            generation_tok_s=page.total("sglang:gen_throughput"),
            accept_length=page.mean("sglang:spec_accept_length"),
            kv_cache_usage=page.largest("sglang:token_usage"),
            other={name: value for name, value in own.items() if value is not None},
        )

    def check_speculation(self, line: CommandLine, config_json: Mapping[str, Any] | None) -> tuple[Finding, ...]:
        return _sglang_rules.check_speculation(line, config_json)


ENGINE: Engine = Sglang()
