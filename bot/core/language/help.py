"""What can be said, as data: for each intent its forms, and examples with names of the live catalog."""

from collections.abc import Iterator
from dataclasses import dataclass

from bot.core.catalog.index import CatalogIndex
from bot.core.catalog.proven import decode_tok_s
from bot.core.domain.catalog import Catalog, LaunchConfig
from bot.core.domain.command import Intent
from bot.core.domain.host import Inventory


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One way to ask. `syntax` writes optional parts in square brackets and values in capitals."""

    intent: Intent
    syntax: str
    #: sentence with places to fill: {config} {model} {host} {tag} {other} {speed}
    example: str


FORMS: tuple[Form, ...] = (
    Form(
        intent=Intent.START,
        syntax="start CONFIG|MODEL [on HOST] [with SETTINGS]",
        example="start {config} on {host}",
    ),
    Form(intent=Intent.START, syntax="start the NUMBER tok/s config", example="start the {speed} tok/s config"),
    Form(
        intent=Intent.START,
        syntax="start MODEL, same as last time",
        example="start {model} on {host}, same as last time",
    ),
    Form(
        intent=Intent.START,
        syntax="start CONFIG --FLAG VALUE NAME=VALUE",
        example="start {config} with 64k context on port 9000",
    ),
    Form(intent=Intent.STOP, syntax="stop MODEL|CONFIG [on HOST]", example="stop {config}"),
    Form(
        intent=Intent.RESTART,
        syntax="restart MODEL|CONFIG|HOST [with SETTINGS]",
        example="restart {config} with 32k context",
    ),
    Form(intent=Intent.RESTART, syntax="switch HOST from A to B", example="switch {host} to {config}"),
    Form(intent=Intent.CHANGE, syntax="(in a launch's thread) with SETTINGS", example="and with 32k context"),
    Form(intent=Intent.STATUS, syntax="status [HOST|MODEL]", example="what is running on {host}?"),
    Form(intent=Intent.HEALTH, syntax="health [HOST|MODEL]", example="health"),
    Form(intent=Intent.LOGS, syntax="logs [of] HOST|MODEL [last N lines]", example="logs of {config}"),
    Form(
        intent=Intent.BENCH,
        syntax="bench MODEL|HOST [with N clients]",
        example="bench {config} with 8 clients",
    ),
    Form(intent=Intent.COMPARE, syntax="compare A with B", example="compare {config} with {other}"),
    Form(
        intent=Intent.INSPECT,
        syntax="is TOPIC on? what about TOPIC?",
        example="are cuda graphs on for {config}?",
    ),
    Form(intent=Intent.SCAN, syntax="scan HOST", example="scan {host} for launch scripts"),
    Form(intent=Intent.CATALOG, syntax="configs [for MODEL] [on HOST]", example="what configs do we have for {model}?"),
    Form(intent=Intent.SHOW, syntax="show CONFIG", example="show {config}"),
    Form(
        intent=Intent.SAVE,
        syntax="(in a launch's thread) save this as NAME, tag it TAG, pin this as baseline",
        example="save this as fast",
    ),
    Form(
        intent=Intent.SAVE,
        syntax="rename CONFIG to NAME, tag|untag|alias|pin|unpin|archive|unarchive CONFIG",
        example="tag {config} as prod",
    ),
    Form(
        intent=Intent.HISTORY,
        syntax="history [HOST|MODEL], who started MODEL?",
        example="when did we last run {model}?",
    ),
    Form(intent=Intent.HOSTS, syntax="hosts", example="list hosts"),
    Form(
        intent=Intent.SCHEDULE,
        syntax="post health [of HOST] every N minutes|hours, daily at HH:MM",
        example="post health of {host} every 30 minutes",
    ),
    Form(intent=Intent.UNSCHEDULE, syntax="stop the health posts", example="no more hourly reports"),
    Form(intent=Intent.SCHEDULES, syntax="schedules", example="what is scheduled?"),
    Form(intent=Intent.CANCEL, syntax="cancel", example="cancel"),
    Form(intent=Intent.HELP, syntax="help [WHAT]", example="help"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One intent's forms with filled examples."""

    intent: Intent
    syntax: tuple[str, ...]
    examples: tuple[str, ...]


def topics(catalog: Catalog, inventory: Inventory) -> tuple[Topic, ...]:
    """All intents in the order of FORMS. Examples that need what the catalog lacks are left out."""
    names = _names(catalog, inventory)
    result: dict[Intent, tuple[list[str], list[str]]] = {}
    for form in FORMS:
        syntax, examples = result.setdefault(form.intent, ([], []))
        syntax.append(form.syntax)
        if (filled := _fill(form.example, names)) is not None:
            examples.append(filled)
    return tuple(Topic(intent=i, syntax=tuple(s), examples=tuple(e)) for i, (s, e) in result.items())


def _fill(example: str, names: dict[str, str]) -> str | None:
    try:
        return example.format_map(names)
    except KeyError:
        return None


def _names(catalog: Catalog, inventory: Inventory) -> dict[str, str]:
    """Names for the examples: the best measured config that has a host which may be used, and another of its model."""
    configs = [c for c in catalog.configs.values() if not c.archived and c.revisions]
    launches = CatalogIndex.of(catalog).launches
    usable = [
        c for c in configs if c.host and not (c.host in inventory.hosts and inventory.hosts[c.host].protected)
    ] or configs
    if not usable:
        return {"host": next(iter(inventory.hosts))} if inventory.hosts else {}
    best = max(usable, key=lambda c: (decode_tok_s(c, launches.get(c.name, ())) or 0.0, c.name))
    return dict(_about(best, configs, decode_tok_s(best, launches.get(best.name, ()))))


def _about(best: LaunchConfig, configs: list[LaunchConfig], speed: float | None) -> Iterator[tuple[str, str]]:
    yield "config", best.name
    yield "model", best.model
    if best.host:
        yield "host", best.host
    if best.tags:
        yield "tag", best.tags[0]
    if speed:
        yield "speed", f"{speed:.0f}"
    other = next((c.name for c in configs if c.name != best.name and c.model == best.model), None)
    other = other or next((c.name for c in configs if c.name != best.name), None)
    if other:
        yield "other", other
