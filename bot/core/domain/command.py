"""What a person asked for: intent and slots, with how each slot was found. Wording is in templates/."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Intent(StrEnum):
    """What a sentence asks for. NONE: nothing that is for us."""

    START = "start"
    STOP = "stop"
    RESTART = "restart"
    #: a follow-up that modifies the launch of the thread
    CHANGE = "change"
    STATUS = "status"
    HEALTH = "health"
    LOGS = "logs"
    BENCH = "bench"
    COMPARE = "compare"
    INSPECT = "inspect"
    SCAN = "scan"
    CATALOG = "catalog"
    SHOW = "show"
    SAVE = "save"
    HISTORY = "history"
    HOSTS = "hosts"
    SCHEDULE = "schedule"
    UNSCHEDULE = "unschedule"
    SCHEDULES = "schedules"
    CANCEL = "cancel"
    HELP = "help"
    NONE = "none"


#: intents that change what runs on a host
ACTIONS = frozenset({Intent.START, Intent.STOP, Intent.RESTART, Intent.CHANGE})


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadContext:
    """The launch that the thread is about."""

    config: str | None = None
    host: str | None = None
    #: a domain.launch.LaunchState value
    state: str | None = None
    launch_number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Why we ask before doing anything, as a code with its values; templates hold the sentence.

    Codes: "which_config", "which_host", "which_target", "unknown_name", "several_targets", "several_actions",
    "everything", "protected_host", "contradiction", "bad_value", "unsafe_environment", "unknown_flag", "identity_flag",
    "unsafe_text", "confirm_wish", "confirm_wait", "confirm_quote", "no_verb", "guessed_name", "no_match", "no_value",
    "no_reference", "no_schedule", "no_name", "no_base" (a setting is to be changed by an amount that the config does
    not set), "negated_flag" (a flag is to be left out).
    "unsafe_text" has `reason`: a suspicion of core/language/normalise, "instructions", or "secret_value" (a secret was
    typed into a setting: `words` has its name only, but Command.text still holds it).
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """How one slot was found: `how` is a code ("named", "tag", "alias", "thread", "only one", "reference", "default
    host", "typo", "words", "flag"), `words` what the person typed for it."""

    slot: str
    value: str
    how: str
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A config named by its past. kind: "last" (same as last time), "yesterday", "previous" (the one before),
    "before_upgrade", "speed" (value in tok/s), "fastest", "slowest", "launch" (value is its number), "baseline"."""

    kind: str
    value: float | None = None
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relative:
    """A setting said by what it was: the new value is the config's own, times `factor`, plus `add`."""

    name: str
    factor: float = 1.0
    add: float = 0.0
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One understood sentence. Nothing is done while `ask` is set."""

    intent: Intent
    text: str = ""
    #: the model, where exactly one fits
    model: str | None = None
    models: tuple[str, ...] = ()
    #: the host, where exactly one is meant
    host: str | None = None
    hosts: tuple[str, ...] = ()
    config: str | None = None
    #: configs of a comparison, or several targets
    configs: tuple[str, ...] = ()
    engine: str | None = None
    #: words that name the target, each as atoms: (("qwen", "3.6"), ("stock", "mtp"))
    names: tuple[tuple[str, ...], ...] = ()
    #: words that the target must not have: "mtp", "speculative"
    without: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    #: "small" or "large": the least or greatest of the models that fit
    size: str | None = None
    #: True: with speculative decoding, False: without, None: not said
    speculative: bool | None = None
    #: neutral names (domain of DESIGN 5); `env` is a dict
    overrides: Mapping[str, Any] = field(default_factory=dict)
    #: pasted flags that have no neutral name: engine -> canonical flag -> value (as Engine.parse gives it)
    flags: Mapping[str, Mapping[str, str | bool | list[str]]] = field(default_factory=dict)
    #: settings said by what they were; once the config is known, `overrides` has their values as well
    relative: tuple[Relative, ...] = ()
    reference: Reference | None = None
    lines: int | None = None
    concurrency: int | list[int] | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    topics: tuple[str, ...] = ()
    name: str | None = None
    #: what `save` does with the name: "name", "tag", "alias", "baseline", or a change of the catalog
    #: (core.catalog.edits.EditKind), whose value `name` is
    save_as: str | None = None
    #: ISO 8601 duration
    every: str | None = None
    #: five fields, 0 = Sunday
    cron: str | None = None
    #: "#name" or a Slack channel id; None: where it was said
    channel: str | None = None
    channel_id: str | None = None
    all: bool = False
    launch_numbers: tuple[int, ...] = ()
    #: id of a schedule to end
    schedule: str | None = None
    #: a start that is meant for when its GPUs are free: "start X on H when the GPUs are free"
    when_free: bool = False
    ask: bool = False
    question: Question | None = None
    #: at most five config names, best first
    candidates: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    #: nearest known names for each unknown one
    nearest: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    #: the trailing reason, as typed
    note: str | None = None
    #: time that a history, log or comparison is about, as typed: "yesterday", "last week"
    when: str | None = None
    #: why an action that the sentence mentions is not taken: "negated", "question", "hypothetical", "past", "own_plan",
    #: "statement", "quoted", "deferred", "conditional", "withdrawn", "joke"
    held: str | None = None
    reasons: tuple[Reason, ...] = ()
