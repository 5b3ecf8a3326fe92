"""The catalog by words, built once per catalog so that one sentence costs a few set intersections."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from bot.core.catalog.atoms import atoms, number_keys, word_keys
from bot.core.catalog.proven import rank_key
from bot.core.domain.catalog import Catalog, LaunchConfig, LaunchRecord, Revision
from bot.core.domain.engine import Engine

#: a tag that begins so says what the config has not
NEGATIONS = frozenset({"no", "without", "non", "not"})
_NOTHING: frozenset[int] = frozenset()
_LONGEST_JOIN = 4
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogIndex:
    """Config numbers (positions in `configs`) by the words that name them."""

    configs: tuple[LaunchConfig, ...]
    numbers: Mapping[str, int]
    #: atom -> configs whose model, name, tags, aliases or served name have it
    words: Mapping[str, frozenset[int]]
    #: whole names, aliases, models, tags and engines by their atoms
    phrases: Mapping[tuple[str, ...], frozenset[int]]
    #: whole config names and aliases
    exact: Mapping[tuple[str, ...], frozenset[int]]
    #: whole tags, for `Command.tags`
    tags: Mapping[tuple[str, ...], str]
    engines: Mapping[tuple[str, ...], str]
    #: "gptoss" -> ("gpt", "oss")
    joined: Mapping[str, tuple[str, ...]]
    #: word -> configs tagged "no <word>"
    negative: Mapping[str, frozenset[int]]
    speculative: frozenset[int]
    by_host: Mapping[str, frozenset[int]]
    by_model: Mapping[str, frozenset[int]]
    launches: Mapping[str, tuple[LaunchRecord, ...]]
    #: by config number
    models: tuple[str, ...]
    engine_of: tuple[str, ...]
    hosts: tuple[str | None, ...]
    #: place in the order "best proven first, then by name"
    order: tuple[int, ...]

    @classmethod
    def of(cls, catalog: Catalog, engines: Mapping[str, Engine] | None = None) -> "CatalogIndex":
        """Index the configs that are not archived."""
        return _Builder(catalog, engines or {}).build()

    def lookup(self, words: tuple[str, ...]) -> frozenset[int]:
        """Configs that have all these atoms, or are named, tagged or run by this whole phrase."""
        found = self.phrases.get(words, _NOTHING)
        if words in self.engines:
            return found
        parts = [self.words.get(w, _NOTHING) for w in word_keys(words)]
        return found | frozenset.intersection(*parts) if parts else found

    def all(self) -> frozenset[int]:
        """Every config's number."""
        return frozenset(range(len(self.configs)))


class _Builder:
    def __init__(self, catalog: Catalog, engines: Mapping[str, Engine]) -> None:
        self.configs = tuple(c for c in catalog.configs.values() if not c.archived and c.revisions)
        self.catalog = catalog
        self.engines = engines
        self.words: defaultdict[str, set[int]] = defaultdict(set)
        self.phrases: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
        self.exact: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
        self.negative: defaultdict[str, set[int]] = defaultdict(set)
        self.tags: dict[tuple[str, ...], str] = {}
        self.joined: dict[str, tuple[str, ...]] = {}
        self.speculative: set[int] = set()

    def build(self) -> CatalogIndex:
        """Index every config."""
        hosts: defaultdict[str, set[int]] = defaultdict(set)
        models: defaultdict[str, set[int]] = defaultdict(set)
        names: dict[tuple[str, ...], str] = {}
        for number, config in enumerate(self.configs):
            self._name(number, config)
            self._tags(number, config)
            self._traits(number, config.latest)
            models[config.model].add(number)
            if config.host:
                hosts[config.host].add(number)
            names[atoms(config.engine)] = config.engine
            self.phrases[atoms(config.engine)].add(number)
        launches = launches_by_config(self.catalog)
        return CatalogIndex(
            configs=self.configs,
            numbers={c.name: i for i, c in enumerate(self.configs)},
            words=_frozen(self.words),
            phrases=_frozen(self.phrases),
            exact=_frozen(self.exact),
            tags=self.tags,
            engines=names,
            joined=self.joined,
            negative=_frozen(self.negative),
            speculative=frozenset(self.speculative),
            by_host=_frozen(hosts),
            by_model=_frozen(models),
            launches=launches,
            models=tuple(c.model for c in self.configs),
            engine_of=tuple(c.engine for c in self.configs),
            hosts=tuple(c.host for c in self.configs),
            order=_order(self.configs, launches),
        )

    def _name(self, number: int, config: LaunchConfig) -> None:
        for name in (config.name, *config.aliases):
            self.exact[atoms(name)].add(number)
            self._phrase(number, name)
        self._phrase(number, config.model)

    def _tags(self, number: int, config: LaunchConfig) -> None:
        for tag in config.tags:
            parts = atoms(tag)
            if len(parts) > 1 and parts[0] in NEGATIONS:
                self.negative[parts[-1]].add(number)
                self.phrases[("no", *parts[1:])].add(number)
                self.tags[("no", *parts[1:])] = tag
            else:
                self._phrase(number, tag)
                self.tags.setdefault(parts, tag)

    def _phrase(self, number: int, text: str) -> None:
        parts = atoms(text)
        self.phrases[parts].add(number)
        self._words(number, parts)
        for start in range(len(parts)):
            for end in range(start + 2, min(len(parts), start + _LONGEST_JOIN) + 1):
                self.joined.setdefault("".join(parts[start:end]), parts[start:end])

    def _words(self, number: int, parts: tuple[str, ...]) -> None:
        for part in word_keys(parts):
            self.words[part].add(number)
            for key in number_keys(part):
                self.words[key].add(number)

    def _traits(self, number: int, revision: Revision) -> None:
        """Speculation, and the names of its method, from the command line."""
        engine = self.engines.get(revision.engine)
        words = tuple(w for w in revision.argv if isinstance(w, str))
        if engine is None:
            if any("speculative" in w for w in words):
                self.speculative.add(number)
            return
        for flag, value in engine.parse(words).flags.items():
            if engine.group(flag) != "speculative":
                continue
            self.speculative.add(number)
            if isinstance(value, str) and "algorithm" in flag:
                self._words(number, atoms(value))


def launches_by_config(catalog: Catalog) -> dict[str, tuple[LaunchRecord, ...]]:
    """Launches of each config, oldest first."""
    found: defaultdict[str, list[LaunchRecord]] = defaultdict(list)
    for record in catalog.launches:
        found[record.config].append(record)
    return {name: tuple(records) for name, records in found.items()}


def _order(configs: tuple[LaunchConfig, ...], launches: Mapping[str, tuple[LaunchRecord, ...]]) -> tuple[int, ...]:
    numbers = sorted(range(len(configs)), key=lambda i: configs[i].name)
    numbers.sort(key=lambda i: rank_key(configs[i], launches.get(configs[i].name, ())), reverse=True)
    place = {number: at for at, number in enumerate(numbers)}
    return tuple(place[i] for i in range(len(configs)))


def _frozen(sets: Mapping[_Key, set[int]]) -> dict[_Key, frozenset[int]]:
    return {key: frozenset(value) for key, value in sets.items()}
