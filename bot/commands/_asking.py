"""Ask before doing: candidates as buttons that show what differs; refuse text that hides something."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from bot.core.catalog.proven import best_revision, decode_tok_s, of_revision, was_ready
from bot.core.domain.catalog import Catalog, LaunchConfig
from bot.core.domain.command import Command
from bot.core.domain.message import Message
from bot.workflows.answer import answer
from bot.workflows.edit_config import archived, archived_message
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services
from bot.workflows.speed import revision_settings

#: a longer sentence is not carried in a button
_TEXT_LIMIT = 1200
_CONFIRMS = ("confirm_wish", "confirm_wait", "confirm_quote", "protected_host")
#: settings that tell two configs apart best, in the order they are shown, and how
_TELLING = {
    "speculative_algorithm": "{}",
    "speculative_steps": "{} steps",
    "speculative_draft_tokens": "{} draft tokens",
    "tensor_parallel": "tp {}",
    "context_length": "{} context",
    "quantization": "{}",
    "memory_fraction": "memory {}",
    "port": "port {}",
}
_SPECULATIVE = ("speculative_algorithm", "speculative_steps", "speculative_draft_tokens")


def ask(services: Services, request: Request, run: Run) -> None:
    """Post the question of a command that must not be carried out as it is."""
    answer(services, request, run, lambda: question(services, request), name="ask")


def question(services: Services, request: Request) -> Message:
    """The question as a message."""
    command = request.command
    code = command.question.code if command.question else "which_target"
    values = command.question.values if command.question else {}
    if code == "unsafe_text":
        reason = {"code": str(values.get("reason", "")), "part": str(values.get("words", "")) or None}
        return Message(template="hostile", context=reason)
    hidden = archived(services, command.text)
    if hidden is not None:
        return archived_message(services, hidden)
    names = sorted(_texts(values.get("names") or values.get("name")), key=_place(command.text))
    unknown_host = _is_unknown_host(services, command, code, names)
    candidates = _hosts(services, command) if unknown_host else _candidates(services, request, code, values)
    return Message(
        template="question",
        context={
            "code": "unknown_host" if unknown_host else code,
            "verb": command.intent.value,
            "host": command.host,
            "names": names,
            "hosts": _texts(values.get("hosts")),
            "words": _texts(values.get("words") or values.get("actions")),
            "near": _texts(values.get("near")),
            "operation": request.id,
            "candidates": candidates[:5],
            "more": max(0, len(candidates) - 5),
        },
    )


def _place(text: str) -> Callable[[str], int]:
    """Names in the order in which they were said."""
    return lambda name: text.lower().find(name.lower())


def _is_unknown_host(services: Services, command: Command, code: str, names: list[str]) -> bool:
    """Whether the one name that is not known stands where a host does: "start qwen on gpu99"."""
    if code != "unknown_name" or len(names) != 1 or names[0] in services.hosts.inventory().hosts:
        return False
    return (
        re.search(rf"\b(?:on|at|to|from)\s+(?:host\s+)?{re.escape(names[0])}\b", command.text, re.IGNORECASE)
        is not None
    )


def _hosts(services: Services, command: Command) -> list[dict[str, Any]]:
    """The hosts that are known, the nearest ones first, each in place of the name that is not."""
    near = [name for names in command.nearest.values() for name in names]
    hosts = services.hosts.inventory().hosts
    ordered = dict.fromkeys([*(name for name in near if name in hosts), *sorted(hosts)])
    word = next(iter(_texts(command.question.values.get("names") if command.question else None)), "")
    said = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    return [
        {**_choice(f"on {name}", command), "extra": {"text": said.sub(lambda _, name=name: name, command.text)}}  # type: ignore[misc]  # bound now
        for name in ordered
    ]


def _candidates(services: Services, request: Request, code: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    command = request.command
    if len(command.text) > _TEXT_LIMIT:
        return []
    if code in ("which_host", "several_targets"):
        return [_choice(f"on {host}", command, host=host) for host in _texts(values.get("hosts"))]
    if code in _CONFIRMS:
        target = " on ".join(filter(None, (command.config or command.model, command.host)))
        return [_choice(f"{command.intent.value} {target}".strip(), command, host=command.host, config=command.config)]
    near = [name for names in command.nearest.values() for name in names]
    catalog = services.catalog.catalog()
    hosts = services.hosts.inventory().hosts
    names = dict.fromkeys([*command.candidates, *(name for name in near if name in catalog.configs)])
    configs = [catalog.configs[name] for name in names if name in catalog.configs]
    shown = [_config(services, catalog, config, configs, command) for config in configs]
    shown += [_choice(f"on {name}", command, host=name) for name in near if name in hosts]
    if command.host in hosts and not any(config.host == command.host for config in catalog.configs.values()):
        # nothing is known there yet: what others launched may be what is meant
        scan = _choice(f"scan {command.host} for launches", command)
        return [{**scan, "extra": {"text": f"scan {command.host}"}}, *shown]
    return shown


def _config(
    services: Services, catalog: Catalog, config: LaunchConfig, among: list[LaunchConfig], command: Command
) -> dict[str, Any]:
    launches = [one for one in catalog.launches if one.config == config.name]
    # what is told is of one revision: the one that a start would take
    mine = of_revision(best_revision(config, launches), launches)
    last = mine[-1] if mine else None
    outcome = None
    if last is not None:
        outcome = "ready" if was_ready(last) else last.state
    return {
        **_choice(config.name, command, config=config.name, host=command.host or config.host),
        "differs": differs(services, config, among),
        "decode_tok_s": decode_tok_s(config, launches),
        "last_used_at": last.started_at.isoformat() if last else None,
        "outcome": outcome,
    }


def differs(services: Services, config: LaunchConfig, among: list[LaunchConfig]) -> list[str]:
    """What tells a config from the others, shortly, at most three: "3 steps", "no speculation", "tp 4"."""
    launches = services.catalog.catalog().launches

    def settings(one: LaunchConfig) -> dict[str, str]:
        own = [launch for launch in launches if launch.config == one.name]
        return revision_settings(services, best_revision(one, own))

    mine = settings(config)
    others = [settings(other) for other in among if other.name != config.name]
    telling = [name for name in _TELLING if any(other.get(name) != mine.get(name) for other in others)]
    words = [_TELLING[name].format(_short(mine[name])) for name in telling if name in mine]
    if not any(name in mine for name in _SPECULATIVE) and any(name in telling for name in _SPECULATIVE):
        words.insert(0, "no speculation")
    places = {other.host for other in among}
    return ([f"on {config.host}"] if len(places) > 1 and config.host else []) + words[:3]


def _short(value: str) -> str:
    """ "262144" as "256k": contexts are thought of in steps of 1,024."""
    whole = int(value) if value.isdecimal() else 0
    return f"{whole // 1024}k" if whole >= 4096 and whole % 1024 == 0 else value


def _choice(label: str, command: Command, *, host: str | None = None, config: str | None = None) -> dict[str, Any]:
    extra = {"text": command.text, **({"host": host} if host else {}), **({"config": config} if config else {})}
    return {
        "label": label,
        "differs": [],
        "decode_tok_s": None,
        "last_used_at": None,
        "outcome": None,
        "extra": extra,
    }


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(one) for one in value] if isinstance(value, list | tuple | set) else [str(value)]
