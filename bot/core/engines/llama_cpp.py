"""llama.cpp's server (flags, logs and metrics measured with build 11434)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.domain.catalog import Word
from bot.core.domain.engine import CommandLine, Engine, EngineMetrics
from bot.core.engines import _llama_cpp_log, _llama_cpp_rules
from bot.core.engines._argv import Syntax, Value
from bot.core.engines._flag_engine import FlagEngine
from bot.core.engines._flags_llama_cpp import FLAGS, VERSIONS
from bot.core.engines._neutral import environment_of, flag_value, neutral_value, translate
from bot.core.engines._program import Program
from bot.core.engines._prometheus import read_page
from bot.core.engines._rules import whole_number
from bot.errors import BadInputError

_PROGRAM = Program(executables=("llama-server", "llama-server.exe"))
_INDEX = Syntax(
    flags=FLAGS,
    prefixes=False,
    equals=False,
    maybe={"flash-attn": ("on", "off", "auto"), "log-colors": ("on", "off", "auto")},
).index()
_NEUTRAL = {
    "context_length": "ctx-size",
    "port": "port",
    "max_running_requests": "parallel",
    "served_name": "alias",
    "speculative_steps": "spec-draft-n-max",
}
_REMEDIES = {
    "tensor_parallel": "choose the GPUs instead (`on gpus 0,1`), or set --split-mode and --tensor-split in the launch",
    "memory_fraction": "set --n-gpu-layers or --ctx-size instead; llama.cpp takes what these need",
    "quantization": "the quantization is in the GGUF file: choose another file",
    "dtype": "the data type is in the GGUF file: choose another file",
    "data_parallel": "start a second server on another port",
    "speculative_draft_tokens": "say the number of speculative steps instead",
    "speculative_topk": "llama.cpp drafts one chain: leave topk out",
    "attention_backend": "llama.cpp knows flash attention only: on, off or auto",
}
_FIT_TARGET_MIB = 1024
_OTHER_METRICS = (
    "prompt_tokens_seconds",
    "n_busy_slots_per_decode",
    "prompt_seconds_total",
    "tokens_predicted_seconds_total",
)
#: old name -> what took its place
RENAMED: Mapping[str, tuple[str, ...]] = {
    "draft": ("spec-draft-n-max",),
    "draft-n": ("spec-draft-n-max",),
    "draft-max": ("spec-draft-n-max",),
    "draft-min": ("spec-draft-n-min",),
    "draft-n-min": ("spec-draft-n-min",),
    "mmap": ("load-mode",),
    "no-mmap": ("load-mode",),
    "mlock": ("load-mode",),
    "direct-io": ("load-mode",),
    "dio": ("load-mode",),
    "context-length": ("ctx-size",),
    "max-model-len": ("ctx-size",),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LlamaCpp(FlagEngine):
    """`llama-server -m FILE.gguf …`."""

    def parse(self, argv: Sequence[Word]) -> CommandLine:
        """The model is the file of -m, else what --hf-repo, --model-url or --docker-repo names (these stay flags)."""
        flags, stray = self.read(argv)
        model = flags.pop("model", None)
        for source in ("hf-repo", "model-url", "docker-repo"):
            model = model or flags.get(source)
        return self.line(argv, model=model, flags=flags, stray=stray)

    def overrides_to_flags(self, overrides: Mapping[str, Any]) -> Mapping[str, str | bool | list[str]]:
        return {name: value for name, value in self._changes(overrides).items() if value is not None}

    def _changes(self, overrides: Mapping[str, Any]) -> dict[str, Value | None]:
        """Canonical flags to set; None takes one out. CUDA graphs are switched by the environment."""
        special = ("cuda_graphs", "kv_cache_dtype", "attention_backend")
        plain = {name: value for name, value in overrides.items() if name not in special}
        changes = translate(self.name, _NEUTRAL, plain, remedies=_REMEDIES)
        if "kv_cache_dtype" in overrides:
            changes["cache-type-k"] = changes["cache-type-v"] = flag_value(overrides["kv_cache_dtype"])
        if "attention_backend" in overrides:
            if overrides["attention_backend"] not in ("on", "off", "auto", None):
                raise BadInputError(
                    f"{self.name} has no attention backend {overrides['attention_backend']!r}",
                    remedy=_REMEDIES["attention_backend"],
                )
            changes["flash-attn"] = flag_value(overrides["attention_backend"])
        return changes

    def flags_to_overrides(self, flags: Mapping[str, str | bool | list[str]]) -> Mapping[str, Any]:
        names = _NEUTRAL | {"kv_cache_dtype": "cache-type-k", "attention_backend": "flash-attn"}
        result: dict[str, Any] = {}
        for neutral, name in names.items():
            value = neutral_value(self.index.by_name.get(name), flags[name]) if name in flags else None
            if value is not None:
                result[neutral] = value
        return result

    def apply(self, argv: Sequence[Word], overrides: Mapping[str, Any]) -> tuple[Word, ...]:
        program, body = self.split(argv)
        if overrides.get("speculative_steps") == 0:
            rest = {name: value for name, value in overrides.items() if not name.startswith("speculative_")}
            changes = self.without_speculation(body) | self._changes(rest)
        else:
            changes = self._changes(overrides)
        return program + self.index.edit(body, changes)

    def environment(self, overrides: Mapping[str, Any]) -> Mapping[str, str | None]:
        result = environment_of(overrides)
        if "cuda_graphs" in overrides:
            result["GGML_CUDA_DISABLE_GRAPHS"] = "1" if overrides["cuda_graphs"] is False else None
        return result

    def gpus_needed(self, line: CommandLine) -> int | None:
        """None: every visible GPU is used; 0 where nothing is offloaded; else the devices named."""
        if str(line.flags.get("n-gpu-layers")) == "0" or line.flags.get("device") == "none":
            return 0
        devices = line.flags.get("device")
        return len(devices.split(",")) if isinstance(devices, str) else None

    def memory_budget(self, line: CommandLine, total_mib: float, free_mib: float) -> tuple[float, str]:
        """All that is free but a margin: --fit shrinks what is not given to leave --fit-target MiB."""
        margin = whole_number(line.flags.get("fit-target"))
        margin = _FIT_TARGET_MIB if margin is None else margin
        return max(0.0, free_mib - margin), f"{free_mib:.0f} MiB free - {margin} MiB margin"

    def parse_metrics(self, text: str) -> EngineMetrics:
        page = read_page(text)
        spec = "llamacpp:spec_decode_num"
        own = {name: page.total(f"llamacpp:{name}") for name in _OTHER_METRICS}
        return EngineMetrics(
            generation_tokens_total=page.total("llamacpp:tokens_predicted_total"),
            prompt_tokens_total=page.total("llamacpp:prompt_tokens_total"),
            cached_prompt_tokens_total=page.total("llamacpp:prompt_tokens_cached_total"),
            drafts_total=page.total(f"{spec}_drafts_total"),
            draft_tokens_total=page.total(f"{spec}_draft_tokens_total"),
            accepted_tokens_total=page.total(f"{spec}_accepted_tokens_total"),
            accepted_per_position_total=page.by_position(f"{spec}_accepted_tokens_per_pos_total"),
            running_requests=page.total("llamacpp:requests_processing"),
            waiting_requests=page.total("llamacpp:requests_deferred"),
            generation_tok_s=page.total("llamacpp:predicted_tokens_seconds"),
            other={name: value for name, value in own.items() if value is not None},
        )


ENGINE: Engine = LlamaCpp(
    name="llama.cpp",
    default_port=8080,
    program=_PROGRAM,
    index=_INDEX,
    newest=VERSIONS[-1],
    renamed=RENAMED,
    read_milestone=_llama_cpp_log.milestone,
    judge_speculation=_llama_cpp_rules.check_speculation,
)
