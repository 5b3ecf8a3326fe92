"""What each engine module must say about its engine. Everything is pure: text and values in, values out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.core.domain.finding import Finding
from bot.core.domain.launch import Milestone


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One flag of an engine. Names are canonical long names without dashes ("tp-size")."""

    name: str
    #: other spellings, with their dashes as typed ("--tp", "--tensor-parallel-size", "-ngl")
    aliases: tuple[str, ...] = ()
    #: "switch", "pair" (has a --no- half), "value", "list" (several words), "repeat" (may be given several times)
    kind: str = "value"
    #: what a value must be: "int", "float", "bool", "json", or "" for any text
    type: str = ""
    choices: tuple[str, ...] = ()
    default: str | None = None
    #: first and last engine version that has it, where known
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedFlag:
    """One flag as it stands in a command line."""

    #: with its dashes, without "=value"
    spelling: str
    #: canonical, else the spelling without dashes
    name: str
    #: False when this engine has no such flag in any known version
    known: bool
    value: str | bool | list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """An engine's command line, read. `flags`: canonical name -> text, True for a switch, False for the --no- half of a
    pair, a list of texts for several values."""

    engine: str
    program: tuple[str, ...]
    model: str | None
    flags: Mapping[str, str | bool | list[str]]
    #: words that belong to no flag
    stray: tuple[str, ...] = ()
    port: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineMetrics:
    """Counters and gauges from /metrics in neutral names; None where the engine does not say.

    Counters are for differences; gauges of an idle server may show its last load (facts/engines)."""

    generation_tokens_total: float | None = None
    prompt_tokens_total: float | None = None
    #: prompt tokens that came from the prefix cache
    cached_prompt_tokens_total: float | None = None
    drafts_total: float | None = None
    draft_tokens_total: float | None = None
    accepted_tokens_total: float | None = None
    accepted_per_position_total: tuple[float, ...] = ()
    running_requests: float | None = None
    waiting_requests: float | None = None
    generation_tok_s: float | None = None
    accept_length: float | None = None
    kv_cache_usage: float | None = None
    #: further gauges worth showing, by the engine's own name
    other: Mapping[str, float] = field(default_factory=dict)


class Engine(Protocol):
    """One inference engine. `name` is "sglang", "vllm" or "llama.cpp"."""

    @property
    def name(self) -> str: ...

    @property
    def default_port(self) -> int: ...

    @property
    def distribution(self) -> str | None:
        """pip distribution whose version is the engine's version; None: ask the binary with --version."""

    @property
    def packages(self) -> tuple[str, ...]:
        """Import names of the Python packages whose native libraries a start needs, the engine's own first."""

    @property
    def help_words(self) -> tuple[tuple[str, ...], ...]:
        """Words after the program that print every flag; the first that exits 0 counts."""

    def recognises(self, argv: Sequence[Any]) -> bool:
        """Whether argv (without wrappers) launches a server of this engine."""

    def parse(self, argv: Sequence[Any]) -> CommandLine:
        """Read a command line. Never raises for odd flags: they end up in `stray` or under their own name."""

    def typed(self, argv: Sequence[Any]) -> tuple[TypedFlag, ...]:
        """The flags of a command line as they were typed, in order."""

    def flag(self, name: str) -> Flag | None:
        """What is known of a canonical flag."""

    def canonical(self, flag: str) -> str | None:
        """Canonical name of a flag as typed ("--tp" -> "tp-size"), or None when it is no flag of this engine."""

    def version_has(self, flag: str, version: str | None) -> bool | None:
        """Whether an engine version has a canonical flag; None: not known."""

    def newer_than_known(self, version: str | None) -> str | None:
        """The newest version that is known here, where the given one is newer: its rules may be others."""

    def nearest(self, flag: str, version: str | None = None) -> tuple[str, ...]:
        """At most three right spellings for a wrong flag, best first."""

    def overrides_to_flags(self, overrides: Mapping[str, Any]) -> Mapping[str, str | bool | list[str]]:
        """Neutral overrides (`context_length` …) as this engine's canonical flags. Raises BadInputError for one that
        the engine has no flag for."""

    def flags_to_overrides(self, flags: Mapping[str, str | bool | list[str]]) -> Mapping[str, Any]:
        """The neutral settings that these flags give; flags without a neutral name are left out."""

    def apply(self, argv: Sequence[Any], overrides: Mapping[str, Any]) -> tuple[Any, ...]:
        """argv with overrides applied: changed in place where the flag is there (keeping its spelling), appended where
        not, removed where the override says so. Words that are not `str` (SecretRef) pass through."""

    def set_flags(self, argv: Sequence[Any], flags: Mapping[str, str | bool | list[str] | None]) -> tuple[Any, ...]:
        """argv with canonical flags set, or taken out (None); nothing else is touched."""

    def environment(self, overrides: Mapping[str, Any]) -> Mapping[str, str | None]:
        """Environment variables that overrides set (None: unset): `env`, and `gpus` as CUDA_VISIBLE_DEVICES."""

    def gpus_needed(self, line: CommandLine) -> int | None:
        """GPUs of one host that the launch takes; None: as many as it sees."""

    def first_gpu(self, line: CommandLine) -> int:
        """Which of the visible GPUs is the first that the launch takes."""

    def memory_budget(self, line: CommandLine, total_mib: float, free_mib: float) -> tuple[float, str]:
        """MiB of one GPU that weights, KV cache and the rest may take, and the arithmetic in words."""

    def group(self, flag: str) -> str:
        """Meaning group of a canonical flag, for diffs: "speculative", "memory", "parallelism", "kernels", "serving" or
        "other"."""

    def health_path(self) -> str:
        """Path that answers 200 once the server takes requests; it proves no token."""

    def milestone(self, line: str) -> Milestone | None:
        """Milestone that a log line shows, or None."""

    def parse_metrics(self, text: str) -> EngineMetrics:
        """Read a Prometheus page of this engine."""

    def check_speculation(self, line: CommandLine, config_json: Mapping[str, Any] | None) -> tuple[Finding, ...]:
        """Judge the speculative flags against each other and the model's config.json (None: not known)."""
