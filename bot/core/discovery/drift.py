"""Drift: what is recorded against what runs, what the unit file says now, and what the launch was proven with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.core.discovery.candidate import Candidate
from bot.core.discovery.merge import same_value
from bot.core.discovery.secrets import MARK
from bot.core.domain.catalog import Revision, Word
from bot.core.domain.engine import Engine
from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.plan import DiffLine
from bot.core.domain.reading import Reading, Unknown

CHECK = "drift"
Value = str | bool | list[str] | None


@dataclass(frozen=True, slots=True)
class _Launchable:
    """What is compared of a revision or a candidate."""

    model: str
    argv: tuple[Word, ...]
    env: tuple[tuple[str, Word], ...]
    cwd: str | None
    user: str | None
    wrappers: tuple[str, ...]


def compare(recorded: Revision, found: Candidate, engine: Engine) -> tuple[DiffLine, ...]:
    """What differs between a revision and a candidate: old is the revision's, new the candidate's. Equal flags under
    other names are equal. A variable that only a live process has is no difference; a secret only by its presence."""
    old, new = _of(recorded), _of(found)
    lines = [*_flag_lines(old, new, engine)]
    live = found.status == "running" and any(one.kind in ("proc", "inspect") for one in found.evidence)
    lines.extend(_env_lines(dict(old.env), dict(new.env), live=live))
    for name, a, b in (("cwd", old.cwd, new.cwd), ("user", old.user, new.user)):
        if a is not None and b is not None and a.rstrip("/") != b.rstrip("/"):
            lines.append(DiffLine(group="environment", name=name, old=a, new=b))
    if new.wrappers and old.wrappers != new.wrappers:
        lines.append(
            DiffLine(
                group="environment",
                name="wrappers",
                old=", ".join(old.wrappers) or None,
                new=", ".join(new.wrappers) or None,
            )
        )
    return tuple(lines)


def _of(one: Revision | Candidate) -> _Launchable:
    return _Launchable(one.model, one.argv, one.env, one.cwd, one.user, one.wrappers)


def _flag_lines(old: _Launchable, new: _Launchable, engine: Engine) -> list[DiffLine]:
    lines: list[DiffLine] = []
    if old.model != new.model:
        lines.append(DiffLine(group="model", name="model", old=old.model, new=new.model))
    before = engine.parse([str(word) for word in old.argv]).flags
    after = engine.parse([str(word) for word in new.argv]).flags
    for name in sorted({*before, *after}):
        a, b = before.get(name), after.get(name)
        if not same_value(a, b):
            lines.append(DiffLine(group=engine.group(name), name=name, old=_text(a), new=_text(b)))
    return lines


def _env_lines(old: Mapping[str, Word], new: Mapping[str, Word], *, live: bool) -> list[DiffLine]:
    lines: list[DiffLine] = []
    if live and not new:
        return lines
    for name in sorted({*old, *new}):
        a, b = old.get(name), new.get(name)
        if (a is None and live) or str(a) == str(b) or (None not in (a, b) and MARK in (str(a), str(b))):
            continue
        shown = (None if a is None else str(a), None if b is None else str(b))
        lines.append(DiffLine(group="environment", name=f"env.{name}", old=shown[0], new=shown[1]))
    return lines


def _text(value: Value) -> str | None:
    if value is None:
        return None
    if isinstance(value, list):
        return " ".join(value)
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


def drift(
    recorded: Revision,
    *,
    engine: Engine,
    running: Candidate | None = None,
    unit: Candidate | None = None,
    unit_recorded: Revision | None = None,
    proven: Mapping[str, str] | None = None,
    now: Mapping[str, Reading[str]] | None = None,
) -> tuple[Finding, ...]:
    """One finding for each change, nothing where all is as recorded.

    `proven`: facts of the launch that proved the revision ("sglang": "0.5.9", "torch", "driver", "model hash", "chat
    template", "gpus", "power limit"); `now`: the same facts today. What cannot be read is unknown, not unchanged.
    `unit_recorded`: what the unit file is compared with, where that is another one than `recorded`.
    """
    findings: list[Finding] = []
    if unit is not None:
        findings.extend(_changes(unit_recorded or recorded, unit, engine, "the unit file says"))
    if running is not None:
        said = {one.summary.partition(":")[0] for one in findings}
        for finding in _changes(recorded, running, engine, "running with"):
            # one line for a change that the unit file and the process share
            if finding.summary.partition(":")[0] not in said or unit is None:
                findings.append(finding)
        findings.extend(_unit_against_running(unit, running, engine))
    findings.extend(_facts(proven or {}, now or {}))
    return tuple(findings)


def _changes(recorded: Revision, found: Candidate, engine: Engine, says: str) -> list[Finding]:
    source = str(found.evidence[0]) if found.evidence else ""
    return [
        _warning(f"{line.name}: recorded {_or_none(line.old)}, {says} {_or_none(line.new)}", source)
        for line in compare(recorded, found, engine)
    ]


def _unit_against_running(unit: Candidate | None, running: Candidate, engine: Engine) -> list[Finding]:
    """What a restart of the unit would change."""
    if unit is None:
        return []
    before = engine.parse([str(word) for word in running.argv]).flags
    after = engine.parse([str(word) for word in unit.argv]).flags
    changed = [name for name in sorted({*before, *after}) if not same_value(before.get(name), after.get(name))]
    if not changed:
        return []
    return [
        Finding(
            check=CHECK,
            judgement=Judgement.WARN,
            summary=f"the unit file has changed since the start: a restart changes {', '.join(changed)}",
            remedy="compare the two before a restart",
        )
    ]


def _facts(proven: Mapping[str, str], now: Mapping[str, Reading[str]]) -> list[Finding]:
    findings: list[Finding] = []
    for name, was in proven.items():
        reading = now.get(name)
        if reading is None:
            continue
        if isinstance(reading, Unknown):
            findings.append(
                Finding(
                    check=CHECK,
                    judgement=Judgement.UNKNOWN,
                    summary=f"{name}: proven with {was}, now unknown ({reading.reason})",
                )
            )
        elif reading.value != was:
            findings.append(_warning(f"{name}: proven with {was}, now {reading.value}", ""))
    return findings


def _warning(summary: str, source: str) -> Finding:
    evidence: Sequence[str] = (source,) if source else ()
    return Finding(check=CHECK, judgement=Judgement.WARN, summary=summary, evidence=tuple(evidence))


def _or_none(text: str | None) -> str:
    return "nothing" if text is None else text
