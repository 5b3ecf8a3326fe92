"""What a unit's files say today, as a launch that can be compared: with what a scan recorded, or with what was written
for a launch of ours. What cannot be read is unknown, never a difference."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.core.discovery.artefact import Artefact
from bot.core.discovery.candidate import Candidate, candidate_to_revision
from bot.core.discovery.discover import discover, find_missing
from bot.core.discovery.drift import CHECK
from bot.core.discovery.units import Unit, collect_units
from bot.core.domain.catalog import Revision, SecretRef, Word
from bot.core.domain.engine import Engine
from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.plan import Plan
from bot.core.domain.reading import Unknown
from bot.core.facts.unit_file import UnitFile, UnitPart

#: where our units keep what they need of a secret; names only ever leave the host
_SECRETS_FILE = "/secrets"
#: variables that bring secret words of a command to their place
_ARGUMENT = "RELAUNCH_ARGUMENT_"
#: settings that say what is launched
_LAUNCHING = ("ExecStart", "Environment", "WorkingDirectory")
_MOST_NAMED = 2
_SPECIFIER = re.compile(r"%[A-Za-z]")
_OF_UNITS = ("unit ", "dropin ", "env_file ", "env file ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What the unit file would start, and what it is to be compared with; None: nothing to compare."""

    candidate: Candidate | None = None
    recorded: Revision | None = None
    #: what could not be compared
    findings: tuple[Finding, ...] = ()


def declared_by_others(found: UnitFile, recorded: Revision, name: str, engines: Mapping[str, Engine]) -> Declared:
    """A unit that a scan found: what its files say against what was `recorded` of them then."""
    if not found.there:
        return _said(f"unit file: recorded from {name}, the host has no such unit now", Judgement.WARN)
    artefacts = _artefacts(found, name)
    units = collect_units(artefacts)
    unit = next((one for one in units if one.name.name in (name, name.replace(".service", ".container"))), None)
    candidates = discover(artefacts, engines=engines)
    candidate = next((one for one in candidates if one.unit == name), None)
    unread = _unread(found, unit)
    lost = _missing(artefacts, unit, engines)
    if unit is None or candidate is None or lost:
        reason = ", ".join((*unread, *lost)[:_MOST_NAMED]) or name
        return _said(f"unit file: not known, no launch can be read from {reason}", Judgement.UNKNOWN)
    if unread and (_uses_variables(unit) or any(one.kind == "script" for one in candidate.evidence)):
        return _said(f"unit file: not known, {', '.join(unread)} cannot be read", Judgement.UNKNOWN)
    findings = _unknown(f"environment of {name}: not known, {', '.join(unread)} cannot be read") if unread else ()
    return Declared(
        candidate=_comparable(candidate, recorded, unit, env_known=not unread), recorded=recorded, findings=findings
    )


def declared_by_us(found: UnitFile, written: str, plan: Plan, name: str, engines: Mapping[str, Engine]) -> Declared:
    """A unit of ours against the text that was `written` for it: both are read the same way, so that only an edit
    shows."""
    if not found.there:
        return _said(f"unit file: {name} is gone from the host", Judgement.WARN)
    path = next((part.path for part in found.parts if part.kind == "unit"), None)
    if path is None:
        return _said(f"unit file: not known, {', '.join(found.unread)} cannot be read", Judgement.UNKNOWN)
    names = _secret_names(written, plan)
    now, before = _ours_now(found, name, names), _ours_written(path, written, names)
    units = [next((one for one in collect_units(one) if one.name.name == name), None) for one in (now, before)]
    if units[0] is None or units[1] is None:
        return _said(f"unit file: not known, {path} cannot be read", Judgement.UNKNOWN)
    if _launching(units[0]) == _launching(units[1]):
        return Declared()
    seen = [next(iter(discover(one, engines=engines)), None) for one in (now, before)]
    unread = _unread(found, units[0]) if not _only_secrets(found) else ()
    if seen[0] is None or seen[1] is None or (unread and _uses_variables(units[0])):
        return _said(f"unit file: {path} is not as it was written", Judgement.WARN)
    recorded = candidate_to_revision(_without_arguments(seen[1]))
    # the account is the host's to say where the plan names none
    recorded = replace(recorded, user=plan.user, cwd=plan.cwd or "~")
    return Declared(
        candidate=_comparable(_without_arguments(seen[0]), recorded, units[0], env_known=not unread), recorded=recorded
    )


def unreadable(name: str, reading: Unknown) -> Declared:
    """A unit whose files could not be looked at."""
    return _said(f"unit file: {name} not known ({reading.reason})", Judgement.UNKNOWN)


def _comparable(candidate: Candidate, recorded: Revision, unit: Unit, *, env_known: bool) -> Candidate:
    """The candidate with what it cannot tell as it was recorded."""
    before = dict(recorded.env)
    env = {name: _filled(value, [before[name]] if name in before else []) for name, value in candidate.env}
    if not env_known:
        env = dict(before)
    for name, value in before.items():
        place = recorded.provenance.get(f"env.{name}", "unit ")
        if name not in env and not place.startswith(_OF_UNITS):
            # seen of a process only: no file says it
            env[name] = value
    same_wrappers = [shlex.split(one) for one in candidate.wrappers] == [shlex.split(one) for one in recorded.wrappers]
    guessed_home = unit.value("Service", "WorkingDirectory") == "~"
    number = (candidate.user or "").isdigit() != (recorded.user or "").isdigit()
    return replace(
        candidate,
        argv=tuple(_filled(word, recorded.argv) for word in candidate.argv),
        model=str(_filled(candidate.model, [recorded.model])),
        env=tuple(sorted(env.items(), key=lambda pair: pair[0])),
        wrappers=recorded.wrappers if same_wrappers else candidate.wrappers,
        cwd=None if guessed_home or _SPECIFIER.search(candidate.cwd or "") else candidate.cwd,
        user=None if number or _SPECIFIER.search(candidate.user or "") else candidate.user,
    )


def _filled(word: Word, known: Sequence[Word]) -> Word:
    """A word with a specifier that only the host knows (%H), as a recorded word has it that fits."""
    if not isinstance(word, str) or not _SPECIFIER.search(word):
        return word
    pattern = re.compile(".*".join(map(re.escape, _SPECIFIER.split(word))), re.DOTALL)
    return next((one for one in known if isinstance(one, str) and pattern.fullmatch(one)), word)


def _artefacts(found: UnitFile, name: str) -> list[Artefact]:
    """Of an instance the template's file stands for its own."""
    template = re.sub(r"@.*\.", "@.", name)

    def place(part: UnitPart) -> str:
        folder, _, file = part.path.rpartition("/")
        return f"{folder}/{name}" if part.kind == "unit" and file == template else part.path

    return [Artefact(path=place(part), kind=part.kind, text=part.text) for part in found.parts]


def _unread(found: UnitFile, unit: Unit | None) -> tuple[str, ...]:
    """Files of the environment that are named, and neither were read nor are seen to be absent."""
    read = {part.path for part in found.parts} | set(found.absent)
    specifiers = unit.name.specifiers() if unit else str
    named = [specifiers(value.lstrip("-")) for value in _env_file_settings(unit)] if unit else []
    patterns = [one for one in named if one not in read and not re.search(r"[*?\[]", one)]
    return tuple(dict.fromkeys((*found.unread, *patterns)))


def _env_file_settings(unit: Unit) -> list[str]:
    section = "Container" if unit.quadlet else "Service"
    return unit.values(section, "EnvironmentFile")


def _missing(artefacts: Sequence[Artefact], unit: Unit | None, engines: Mapping[str, Engine]) -> tuple[str, ...]:
    """Scripts that are on the way to the launch and were not sent."""
    specifiers = unit.name.specifiers() if unit else str
    environment = {specifiers(value.lstrip("-")) for value in _env_file_settings(unit)} if unit else set()
    return tuple(path for path in find_missing(artefacts, engines) if path not in environment)


def _uses_variables(unit: Unit) -> bool:
    return any("$" in value.replace("$$", "") for value in unit.values("Service", "ExecStart"))


def _secret_names(written: str, plan: Plan) -> tuple[str, ...]:
    """Variables that a unit of ours takes from its file of secrets."""
    arguments = re.findall(rf"\$\{{({_ARGUMENT}\d+)\}}", written)
    return (*(name for name, value in plan.env if isinstance(value, SecretRef)), *arguments)


def _secrets_text(names: Sequence[str]) -> str:
    return "".join(f"{name}=<secret>\n" for name in names)


def _ours_now(found: UnitFile, name: str, names: Sequence[str]) -> list[Artefact]:
    """What was read; the file of secrets is root's, and what it holds is known."""
    hidden = [path for path in found.unread if path.endswith(_SECRETS_FILE)]
    return [
        *_artefacts(found, name),
        *(Artefact(path=path, kind="env_file", text=_secrets_text(names)) for path in hidden),
    ]


def _only_secrets(found: UnitFile) -> bool:
    return all(path.endswith(_SECRETS_FILE) for path in found.unread)


def _ours_written(path: str, written: str, names: Sequence[str]) -> list[Artefact]:
    unit = Artefact(path=path, kind="unit", text=written)
    if not names:
        return [unit]
    place = f"/var/lib/relaunch{_SECRETS_FILE}"
    return [
        unit,
        Artefact(path=f"{path}.d/host.conf", kind="dropin", text=f"[Service]\nEnvironmentFile={place}\n"),
        Artefact(path=place, kind="env_file", text=_secrets_text(names)),
    ]


def _launching(unit: Unit) -> dict[str, list[str]]:
    # a second file of the environment, or the loss of one, shows in their number
    files = [value.rpartition("/")[2] for value in _env_file_settings(unit)]
    return {**{key: unit.values("Service", key) for key in _LAUNCHING}, "EnvironmentFile": files}


def _without_arguments(candidate: Candidate) -> Candidate:
    return replace(candidate, env=tuple(pair for pair in candidate.env if not pair[0].startswith(_ARGUMENT)))


def _unknown(summary: str) -> tuple[Finding, ...]:
    return (Finding(check=CHECK, judgement=Judgement.UNKNOWN, summary=summary),)


def _said(summary: str, judgement: Judgement) -> Declared:
    return Declared(findings=(Finding(check=CHECK, judgement=judgement, summary=summary),))
