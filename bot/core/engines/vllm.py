"""vLLM (flags of 0.10 to 0.33; logs and metrics measured with 0.32)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.domain.catalog import Word
from bot.core.domain.engine import CommandLine, Engine, EngineMetrics
from bot.core.engines import _vllm_log, _vllm_rules
from bot.core.engines import _vllm_speculation as speculation
from bot.core.engines._argv import Syntax, Value
from bot.core.engines._flag_engine import FlagEngine
from bot.core.engines._flags_vllm import FLAGS, VERSIONS
from bot.core.engines._neutral import neutral_value, number_of, translate
from bot.core.engines._program import Program
from bot.core.engines._prometheus import read_page
from bot.core.engines._rules import whole_number
from bot.errors import BadInputError

_PROGRAM = Program(
    modules=("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server", "vllm.entrypoints.cli.main"),
    executables=("api_server.py",),
    with_subcommand=(("vllm", "serve"),),
)
_INDEX = Syntax(flags=FLAGS, negation=True, dotted=True).index()
_NEUTRAL = {
    "tensor_parallel": "tensor-parallel-size",
    "data_parallel": "data-parallel-size",
    "context_length": "max-model-len",
    "port": "port",
    "memory_fraction": "gpu-memory-utilization",
    "max_running_requests": "max-num-seqs",
    "quantization": "quantization",
    "dtype": "dtype",
    "kv_cache_dtype": "kv-cache-dtype",
    "attention_backend": "attention-backend",
    "served_name": "served-model-name",
}
_SPECULATIVE = ("speculative_steps", "speculative_draft_tokens", "speculative_topk")
_DEFAULT_UTILIZATION = 0.9
_OTHER_METRICS = ("num_preemptions_total", "prefix_cache_queries_total", "prefix_cache_hits_total")
#: old name -> what took its place
RENAMED: Mapping[str, tuple[str, ...]] = {
    "guided-decoding-backend": ("structured-outputs-config.backend",),
    "max-seq-len-to-capture": ("max-cudagraph-capture-size",),
    "cuda-graph-sizes": ("cudagraph-capture-sizes",),
    "disable-log-requests": ("no-enable-log-requests",),
    "rope-scaling": ("hf-overrides",),
    "rope-theta": ("hf-overrides",),
    "task": ("runner", "convert"),
    "override-pooler-config": ("pooler-config",),
    "disable-mm-preprocessor-cache": ("mm-processor-cache-gb",),
    "enable-multimodal-encoder-data-parallel": ("mm-encoder-tp-mode",),
    "num-speculative-tokens": ("speculative-config.num_speculative_tokens",),
    "speculative-model": ("speculative-config.model",),
    "context-length": ("max-model-len",),
    "mem-fraction-static": ("gpu-memory-utilization",),
    "max-running-requests": ("max-num-seqs",),
    "tp-size": ("tensor-parallel-size",),
    "tp": ("tensor-parallel-size",),
    "dp-size": ("data-parallel-size",),
    "model-path": ("model",),
    "disable-cuda-graph": ("enforce-eager",),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Vllm(FlagEngine):
    """`vllm serve MODEL …` or `python -m vllm.entrypoints.openai.api_server --model MODEL …`."""

    def parse(self, argv: Sequence[Word]) -> CommandLine:
        flags, stray = self.read(argv)
        model = flags.pop("model", None)
        if model is None and stray:
            model = stray.pop(0)
        return self.line(argv, model=model, flags=flags, stray=stray)

    def overrides_to_flags(self, overrides: Mapping[str, Any]) -> Mapping[str, str | bool | list[str]]:
        flags = {name: value for name, value in self._changes(overrides).items() if value is not None}
        steps = _steps(overrides)
        if steps:
            flags[f"{speculation.OPTION}.{speculation.STEPS}"] = str(steps)
        return flags

    def _changes(self, overrides: Mapping[str, Any]) -> dict[str, Value | None]:
        """Canonical flags to set, without speculation; None takes one out."""
        plain = {name: v for name, v in overrides.items() if name != "cuda_graphs" and name not in _SPECULATIVE}
        changes = translate("vLLM", _NEUTRAL, plain, remedies={})
        if "cuda_graphs" in overrides:
            changes["enforce-eager"] = True if overrides["cuda_graphs"] is False else None
        return changes

    def flags_to_overrides(self, flags: Mapping[str, str | bool | list[str]]) -> Mapping[str, Any]:
        result: dict[str, Any] = {}
        for neutral, name in _NEUTRAL.items():
            value = neutral_value(self.index.by_name.get(name), flags[name], human=True) if name in flags else None
            if value is not None:
                result[neutral] = value
        options = speculation.speculation_of(flags) or {}
        if isinstance(options.get(speculation.STEPS), int):
            result["speculative_steps"] = options[speculation.STEPS]
        if isinstance(flags.get("enforce-eager"), bool):
            result["cuda_graphs"] = not flags["enforce-eager"]
        return result

    def apply(self, argv: Sequence[Word], overrides: Mapping[str, Any]) -> tuple[Word, ...]:
        program, body = self.split(argv)
        flags = self.index.flags(self.index.read(body)[0])
        changes = {
            name: value for name, value in self._changes(overrides).items() if not _same_number(flags.get(name), value)
        }
        steps = _steps(overrides)
        if steps is not None:
            changes |= speculation.steps_changes(flags, steps)
        return program + self.index.edit(body, changes)

    def gpus_needed(self, line: CommandLine) -> int | None:
        """tp x pp x dp of this node."""
        tp, pp, dp, local, nodes = (
            whole_number(line.flags.get(name))
            for name in (
                "tensor-parallel-size",
                "pipeline-parallel-size",
                "data-parallel-size",
                "data-parallel-size-local",
                "nnodes",
            )
        )
        return max(1, (tp or 1) * (pp or 1) * (local or dp or 1) // (nodes or 1))

    def memory_budget(self, line: CommandLine, total_mib: float, free_mib: float) -> tuple[float, str]:
        """--gpu-memory-utilization is the share of the whole card for everything; it must be free at start."""
        share = self.flags_to_overrides(line.flags).get("memory_fraction")
        fraction = share if isinstance(share, int | float) else _DEFAULT_UTILIZATION
        said = f"--gpu-memory-utilization {fraction}" + ("" if share is not None else " (default)")
        return fraction * total_mib, f"{said} x {total_mib:.0f} MiB of the card"

    def parse_metrics(self, text: str) -> EngineMetrics:
        page = read_page(text)
        spec = "vllm:spec_decode_num"
        own = {name: page.total(f"vllm:{name}") for name in _OTHER_METRICS}
        return EngineMetrics(
            generation_tokens_total=page.total("vllm:generation_tokens_total"),
            prompt_tokens_total=page.total("vllm:prompt_tokens_total"),
            cached_prompt_tokens_total=page.total("vllm:prefix_cache_hits_total"),
            drafts_total=page.total(f"{spec}_drafts_total"),
            draft_tokens_total=page.total(f"{spec}_draft_tokens_total"),
            accepted_tokens_total=page.total(f"{spec}_accepted_tokens_total"),
            accepted_per_position_total=page.by_position(f"{spec}_accepted_tokens_per_pos_total"),
            running_requests=page.total("vllm:num_requests_running"),
            waiting_requests=page.total("vllm:num_requests_waiting"),
            kv_cache_usage=page.largest("vllm:kv_cache_usage_perc"),
            other={name: value for name, value in own.items() if value is not None},
        )


def _steps(overrides: Mapping[str, Any]) -> int | None:
    """num_speculative_tokens that the overrides ask for (0: none at all), or None when they do not speak of it.

    Raises BadInputError for settings that vLLM lacks: it drafts one chain, and counts draft tokens without the root."""
    steps, drafts = overrides.get("speculative_steps"), overrides.get("speculative_draft_tokens")
    if overrides.get("speculative_topk") not in (None, 1):
        raise BadInputError("vLLM has no speculative topk", remedy="leave topk out: vLLM drafts one chain")
    if drafts is not None and (steps is None or drafts != steps + 1):
        raise BadInputError(
            "vLLM counts draft tokens without the root token",
            remedy="say the number of speculative steps instead: it is vLLM's num_speculative_tokens",
        )
    if steps is None:
        return 0 if "speculative_steps" in overrides else None
    return int(steps)


def _same_number(old: Value | None, new: Value | None) -> bool:
    """Whether both mean the same number, as 16k and 16000 do."""
    if not isinstance(old, str) or not isinstance(new, str):
        return False
    number = number_of(old, human=True)
    return number is not None and number == number_of(new, human=True)


ENGINE: Engine = Vllm(
    name="vllm",
    default_port=8000,
    distribution="vllm",
    packages=(
        "vllm",
        "vllm_flash_attn",
        "torchcodec",
        "torchaudio",
        "torchvision",
        "flashinfer",
        "torch",
    ),
    help_words=(("--help=all",), ("--help",)),
    program=_PROGRAM,
    index=_INDEX,
    newest=VERSIONS[-1],
    renamed=RENAMED,
    read_milestone=_vllm_log.milestone,
    judge_speculation=_vllm_rules.check_speculation,
)
