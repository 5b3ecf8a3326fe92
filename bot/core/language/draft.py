"""Slots as a Command in which nothing is resolved yet."""

from dataclasses import replace

from bot.core.catalog.index import CatalogIndex
from bot.core.catalog.nearest import nearest_names
from bot.core.catalog.resolve import by_names
from bot.core.domain.command import Command, Intent, Reason
from bot.core.language import lexicon as lex
from bot.core.language import phrases
from bot.core.language.slots import Slots
from bot.core.language.speech import Act
from bot.core.language.tokens import Token
from bot.core.language.vocabulary import Vocabulary

_GRAMMAR = (
    lex.FILLERS
    | lex.OPENERS
    | lex.POLITE
    | lex.REPORT_NOUNS
    | lex.START_VERBS
    | lex.STOP_VERBS
    | lex.RESTART_VERBS
    | lex.SWITCH_VERBS
    | lex.CHANGE_VERBS
    | lex.READ_VERBS
    | lex.PARTICLE_STOP
    | lex.SCHEDULE_VERBS
    | lex.SAVE_VERBS
    | lex.PAST_FORMS
)


_PLAIN = (("plain",), ("vanilla",))


def draft(text: str, intent: Intent, found: Slots) -> Command:
    """Every slot in its place; model, config and what is asked are still open."""
    hits, hosts = found.names.hits, found.hosts
    off = [h for h in hits if intent is not Intent.STOP and (h.off or _off_before(found.tokens, h.start))]
    return Command(
        intent=intent,
        text=text,
        host=hosts.named[0] if len(hosts.named) == 1 else None,
        hosts=tuple(hosts.named),
        engine=found.names.engine if not found.names.engine_negated else None,
        names=tuple(dict.fromkeys(h.words for h in found.names.positive if h not in off)),
        without=tuple(dict.fromkeys(h.words[-1] for h in hits if h.negated or h in off)),
        size=found.names.size,
        speculative=found.names.speculative,
        overrides=dict(found.settings.values),
        relative=found.settings.relative,
        flags=dict(found.pasted.flags),
        reference=found.reference,
        all=found.all,
        unknown=(*(n for n, _ in found.names.unknown), *hosts.unknown),
        channel=found.channel,
        channel_id=found.channel_id,
        launch_numbers=phrases.launches(found.text),
        reasons=tuple(Reason(slot="host", value=h, how=hosts.how[h], words=hosts.words[h]) for h in hosts.named),
    )


def _off_before(tokens: list[Token], start: int) -> bool:
    """ "turn off mtp"."""
    before = [t.text for t in tokens[max(0, start - 3) : start] if t.text not in ("the", "our")]
    return len(before) > 1 and before[-1] == "off" and before[-2] in ("turn", "switch")


def names_target(command: Command) -> bool:
    """Whether any word says which config is meant."""
    said = command.names or command.engine or command.without
    return bool(said) or command.speculative is not None


def plain_by_trait(command: Command, index: CatalogIndex) -> Command:
    """ "plain" names a config where one is called so, else it means without speculation."""
    rest = tuple(n for n in command.names if n not in _PLAIN)
    if rest == command.names or by_names(command, index):
        return command
    return replace(command, names=rest, speculative=False)


def tags(names: tuple[tuple[str, ...], ...], index: CatalogIndex) -> tuple[str, ...]:
    """Those names that are tags, as the catalog writes them."""
    return tuple(index.tags[n] for n in names if n in index.tags)


def nearest(unknown: tuple[str, ...], vocabulary: Vocabulary) -> dict[str, tuple[str, ...]]:
    """Known names near each unknown one."""
    return {name: nearest_names(name, vocabulary.names) for name in unknown[:3]}


def leftovers(tokens: list[Token]) -> list[str]:
    """Words that no slot took and that are no grammar."""
    free = (t for t in tokens if not t.role and t.kind in ("word", "clock"))
    return [t.text for t in free if t.text not in _GRAMMAR]


def unknown_object(act: Act) -> str:
    """The words right behind the verb that name something unknown, or ""."""
    words: list[str] = []
    for token in act.clause.tokens[act.at + 1 :]:
        small = token.text in lex.FILLERS or token.text in lex.POLITE or token.text in lex.OPENERS
        if token.kind not in ("word", "literal") or token.role in ("host", "override", "flag", "time"):
            break
        if token.role or small:
            if words:
                break
            continue
        words.append(token.raw)
    return " ".join(words)
