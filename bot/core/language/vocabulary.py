"""Everything the live catalog and inventory can be called by, built once per catalog."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

from bot.core.catalog.atoms import atoms, compact
from bot.core.catalog.index import CatalogIndex
from bot.core.catalog.nearest import spellings
from bot.core.domain.catalog import Catalog
from bot.core.domain.engine import Engine
from bot.core.domain.host import Inventory
from bot.core.language import lexicon as lex

#: words of the grammar that typing errors are corrected to
_TARGETS = (
    lex.START_VERBS
    | lex.STOP_VERBS
    | lex.RESTART_VERBS
    | lex.BENCH_VERBS
    | lex.SCAN_VERBS
    | lex.COMPARE_VERBS
    | lex.LOG_WORDS
    | lex.HEALTH_WORDS
    | lex.HISTORY_WORDS
    | lex.CONFIG_NOUNS
    | lex.RECURRENCE
    | frozenset(lex.NUMBER_WORDS)
    | lex.words(
        "status with without please context tokens draft steps port every minutes hours show cancel "
        "schedule scheduled save "
        "help catalog hosts what which everything running speculative decoding speculation memory same "
        "config before last "
        "yesterday tail lines check inspect logs server box instead throughput parallel graphs attention "
        "backend topk tensor "
        "concurrency concurrent quantization channel report reports delete switch replace nothing should instance"
    )
)
KNOWN_WORDS = (
    lex.FILLERS
    | lex.COMMON
    | lex.OPENERS
    | lex.SOCIAL
    | _TARGETS
    | lex.PAST_FORMS
    | lex.GERUNDS
    | lex.FINITE
    | lex.SUBJECTS
    | lex.READ_VERBS
    | lex.SAVE_VERBS
    | lex.SCHEDULE_VERBS
    | lex.SWITCH_VERBS
    | lex.CHANGE_VERBS
    | lex.END_VERBS
    | lex.REPORT_NOUNS
    | lex.HYPOTHETICAL
    | lex.JOKE
    | lex.BOX_NOUNS
    | lex.ATTENTION_BACKENDS
    | lex.KV_DTYPES
    | lex.QUANTIZATIONS
    | lex.CANCEL_VERBS
    | lex.POLITE
    | frozenset(lex.DAYS)
    | frozenset(lex.DTYPES)
    | frozenset(lex.GERUND_OF.values())
    | frozenset(w for phrases in lex.TOPICS.values() for p in phrases for w in p.split())
)
#: parts of host names and GPU names that say nothing by themselves
_DULL = lex.words("gpu gpus host node server box machine nvidia amd geforce rtx intel pro gb x the and ti super") | {""}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostIndex:
    """Host names by the ways to say them."""

    names: frozenset[str]
    protected: frozenset[str]
    by_compact: Mapping[str, str]
    #: leading atoms of a name
    by_prefix: Mapping[tuple[str, ...], frozenset[str]]
    #: one word of a name
    by_word: Mapping[str, frozenset[str]]
    by_tag: Mapping[str, frozenset[str]]
    by_gpu: Mapping[str, frozenset[str]]
    #: the last number of a name
    by_number: Mapping[str, frozenset[str]]
    #: compact names with "#" for each number
    shapes: frozenset[str]

    @classmethod
    def of(cls, inventory: Inventory) -> "HostIndex":
        """Index an inventory."""
        prefix: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
        word: defaultdict[str, set[str]] = defaultdict(set)
        tag: defaultdict[str, set[str]] = defaultdict(set)
        gpu: defaultdict[str, set[str]] = defaultdict(set)
        number: defaultdict[str, set[str]] = defaultdict(set)
        for name, host in inventory.hosts.items():
            parts = atoms(name)
            for length in range(1, len(parts)):
                prefix[parts[:length]].add(name)
            for part in parts:
                if part.isalpha() and len(part) >= 3 and part not in _DULL:
                    word[part].add(name)
            digits = [p for p in parts if p[0].isdigit()]
            if digits:
                number[digits[-1].lstrip("0") or "0"].add(name)
            for one in host.tags:
                tag[one.lower()].add(name)
            for piece in host.gpus.lower().split():
                plain = compact(piece)
                if (
                    plain not in _DULL
                    and not plain.endswith("gb")
                    and not (plain.endswith("x") and plain[:-1].isdigit())
                ):
                    gpu[plain].add(name)
        return cls(
            names=frozenset(inventory.hosts),
            protected=frozenset(n for n, h in inventory.hosts.items() if h.protected),
            by_compact={compact(n): n for n in inventory.hosts},
            by_prefix={k: frozenset(v) for k, v in prefix.items()},
            by_word={k: frozenset(v) for k, v in word.items()},
            by_tag={k: frozenset(v) for k, v in tag.items()},
            by_gpu={k: frozenset(v) for k, v in gpu.items()},
            by_number={k: frozenset(v) for k, v in number.items()},
            shapes=frozenset(shape(n) for n in inventory.hosts),
        )


def shape(name: str) -> str:
    """ "ct129" and "ct-130" are both "ct#"."""
    return "".join("#" if a[0].isdigit() else a for a in atoms(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """Words by length, for corrections."""

    by_length: Mapping[int, tuple[str, ...]]

    def nearest(self, word: str) -> tuple[str, str] | None:
        """(right word, kind) when one word is nearest. Kind "swap": letters moved, doubled, left out; "other": one
        replaced. Words of three letters only bear a swap."""
        limit = 2 if len(word) >= 8 else 1
        pool = [w for n in range(len(word) - limit, len(word) + limit + 1) for w in self.by_length.get(n, ())]
        hits = process.extract(word, pool, scorer=OSA.distance, score_cutoff=limit, limit=6)
        found = sorted(
            (
                distance,
                _replaced(word, right, distance),
                squeezed(word) != squeezed(right),
                right[:1] != word[:1],
                right,
            )
            for right, distance, _ in hits
            if len(word) > 3 or sorted(right) == sorted(word)
        )
        if not found:
            return None
        tied = len(found) > 1 and found[0][:4] == found[1][:4] and not _same_family(found[0][4], found[1][4])
        _distance, replaced, _, other_start, right = found[0]
        if tied or (replaced and (len(word) < 5 or other_start)):
            return None
        return right, "other" if replaced else "swap"


def _replaced(word: str, right: str, distance: int) -> bool:
    """Whether a letter stands for another: letters moved, doubled or left out are none."""
    if sorted(word) == sorted(right) or set(word) == set(right):
        return False
    return distance != abs(len(word) - len(right))


def squeezed(text: str) -> str:
    """Doubled letters as one."""
    return re.sub(r"(.)\1+", r"\1", text)


def _same_family(one: str, other: str) -> bool:
    return one.rstrip("s") == other.rstrip("s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Names of the live catalog and inventory with their indexes."""

    index: CatalogIndex
    hosts: HostIndex
    engines: Mapping[str, Engine]
    spelling: Spelling
    #: alphabetic words of the catalog, sorted, for prefixes
    sorted_words: tuple[str, ...]
    known: frozenset[str]
    #: every name by its spellings, to offer the nearest
    names: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, catalog: Catalog, inventory: Inventory, engines: Mapping[str, Engine] | None = None) -> "Vocabulary":
        """Build everything that `understand` looks words up in."""
        index = CatalogIndex.of(catalog, engines)
        hosts = HostIndex.of(inventory)
        letters = frozenset(w for w in index.words if w.isalpha() and len(w) >= 3)
        own = letters | frozenset(hosts.by_word) | frozenset(w for w in index.joined if w.isalpha() and len(w) >= 5)
        return cls(
            index=index,
            hosts=hosts,
            engines=engines or {},
            spelling=_spelling(own | _TARGETS),
            sorted_words=tuple(sorted(letters)),
            names=spellings((*(c.name for c in index.configs), *index.by_model, *inventory.hosts)),
            known=KNOWN_WORDS | own | frozenset(hosts.by_tag) | frozenset(e for e in index.joined),
        )

    def completes(self, start: str) -> str | None:
        """The one catalog word that begins so (at least four letters typed), or None."""
        at = bisect_left(self.sorted_words, start)
        found = [w for w in self.sorted_words[at : at + 2] if w.startswith(start)]
        return found[0] if len(found) == 1 else None


def _spelling(words: Iterable[str]) -> Spelling:
    lengths: defaultdict[int, list[str]] = defaultdict(list)
    for word in sorted(words):
        lengths[len(word)].append(word)
    return Spelling(by_length={n: tuple(w) for n, w in lengths.items()})
