"""Names to save a launch under."""

import re
from dataclasses import dataclass

from bot.core.language import lexicon as lex

_OBJECT = frozenset(
    [
        "this",
        "that",
        "it",
        "one",
        "config",
        "setup",
        "launch",
        "run",
        "the",
        "current",
        "these",
        "settings",
        "configuration",
        "here",
        "now",
        "version",
        "revision",
        "thing",
        "them",
        "please,",
        "server",
        "combo",
        "combination",
        "recipe",
        "command",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Save:
    """A name to save under. `how`: "name", "tag", "alias" or "baseline"."""

    name: str | None
    how: str


def save(words: list[str], raw: list[str]) -> Save | None:
    """The name in "save this as X", "call it X", "tag this X", "pin this as baseline"; None for anything else."""
    verb = next((i for i, w in enumerate(words) if w in lex.SAVE_VERBS or w in ("make", "set")), None)
    if verb is None:
        return None
    rest = words[verb + 1 :]
    baseline = bool({"baseline", "default", "reference"} & set(rest))
    if words[verb] in ("make", "set") and not (baseline and rest and rest[0] in ("this", "that", "it", "the")):
        return None
    how = {"tag": "tag", "label": "tag", "alias": "alias", "nickname": "alias"}.get(words[verb], "name")
    if baseline and (words[verb] in ("pin", "mark", "make", "set", "keep", "use", "save", "tag")):
        return Save(name=next(w for w in rest if w in ("baseline", "default", "reference")), how="baseline")
    if words[verb] == "pin" and set(rest) <= _OBJECT | lex.POLITE:
        return Save(name="baseline", how="baseline")
    place = verb + 1
    while place < len(words) and words[place] in _OBJECT:
        place += 1
    object_said = place > verb + 1
    marker = next((i for i in range(verb + 1, len(words)) if words[i] in ("as", "under", "to", "=")), None)
    if marker is not None and marker >= place - 1:
        start = marker + 1
    elif object_said and words[verb] in ("call", "name", "tag", "label", "alias", "nickname", "rename", "mark"):
        start = place if words[place - 1 : place] != ["the"] else place - 1
    elif (
        object_said and words[verb] in ("save", "store", "remember", "bookmark", "keep", "pin") and place >= len(words)
    ):
        return Save(name=None, how=how) if words[verb] in ("save", "store", "bookmark", "pin") else None
    else:
        return None
    if words[start : start + 2] in (["the", "name"], ["the", "tag"], ["the", "alias"]):
        start += 2
    elif words[start : start + 1] in (["tag"], ["alias"], ["name"], ["called"], ["named"]) and len(words) > start + 1:
        how = words[start] if words[start] in ("tag", "alias") else how
        start += 1
    name = " ".join(raw[start:]).strip()
    name = re.sub(
        r"(?:\s+(?:please|pls|plz|thanks|thx|ok|for (?:me|us|later)|from now on|now))+$", "", name, flags=re.IGNORECASE
    )
    return Save(name=name or None, how=how)
