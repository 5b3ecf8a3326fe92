"""SGLang (flags of 0.5.5 to 0.5.23; speculation, logs and metrics read and measured in 0.5.11)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.domain.catalog import Word
from bot.core.domain.engine import CommandLine, Engine, EngineMetrics
from bot.core.engines import _sglang_log, _sglang_rules
from bot.core.engines._argv import Syntax, Value
from bot.core.engines._flag_engine import FlagEngine
from bot.core.engines._flags_sglang import FLAGS, VERSIONS
from bot.core.engines._neutral import neutral_value, translate
from bot.core.engines._program import Program
from bot.core.engines._prometheus import read_page
from bot.core.engines._rules import whole_number

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sglang(FlagEngine):
    """`python -m sglang.launch_server …` or `sglang serve …`."""

    def parse(self, argv: Sequence[Word]) -> CommandLine:
        flags, stray = self.read(argv)
        return self.line(argv, model=flags.pop("model-path", None), flags=flags, stray=stray)

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
            value = neutral_value(self.index.by_name.get(name), flags[name]) if name in flags else None
            if value is not None:
                result[neutral] = value
        if flags.get("disable-cuda-graph") is True:
            result["cuda_graphs"] = False
        return result

    def apply(self, argv: Sequence[Word], overrides: Mapping[str, Any]) -> tuple[Word, ...]:
        program, body = self.split(argv)
        if overrides.get("speculative_steps") == 0:
            rest = {name: value for name, value in overrides.items() if not name.startswith("speculative_")}
            changes = self.without_speculation(body) | self._changes(rest)
        else:
            changes = self._changes(overrides) | self._completed_speculation(body, overrides)
        return program + self.index.edit(body, changes)

    def _completed_speculation(self, body: Sequence[Word], overrides: Mapping[str, Any]) -> dict[str, Value | None]:
        """What must change along with the number of steps: steps without topk fail at start, and with topk 1 the engine
        itself forces draft tokens to steps + 1 (SGLang 0.5.11, server_args.py)."""
        steps = overrides.get("speculative_steps")
        if not isinstance(steps, int):
            return {}
        flags = self.index.flags(self.index.read(body)[0])
        result: dict[str, Value | None] = {}
        topk = str(overrides.get("speculative_topk") or flags.get("speculative-eagle-topk") or "")
        if not topk and "speculative-algorithm" in flags:
            topk = result["speculative-eagle-topk"] = "1"
        if topk == "1" and "speculative_draft_tokens" not in overrides:
            result["speculative-num-draft-tokens"] = str(steps + 1)
        return result

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

    def parse_metrics(self, text: str) -> EngineMetrics:
        page = read_page(text)
        own = {name: page.largest(f"sglang:{name}") for name in _OTHER_GAUGES}
        return EngineMetrics(
            generation_tokens_total=page.total("sglang:generation_tokens_total"),
            prompt_tokens_total=page.total("sglang:prompt_tokens_total"),
            cached_prompt_tokens_total=page.total("sglang:cached_tokens_total"),
            running_requests=page.total("sglang:num_running_reqs"),
            waiting_requests=page.total("sglang:num_queue_reqs"),
            generation_tok_s=page.total("sglang:gen_throughput"),
            accept_length=page.mean("sglang:spec_accept_length"),
            kv_cache_usage=page.largest("sglang:token_usage"),
            other={name: value for name, value in own.items() if value is not None},
        )


ENGINE: Engine = Sglang(
    name="sglang",
    default_port=30000,
    distribution="sglang",
    packages=(
        "sglang",
        "sgl_kernel",
        "torchcodec",
        "torchaudio",
        "torchvision",
        "flashinfer",
        "torch",
    ),
    program=_PROGRAM,
    index=_INDEX,
    newest=VERSIONS[-1],
    renamed=RENAMED,
    read_milestone=_sglang_log.milestone,
    judge_speculation=_sglang_rules.check_speculation,
)
