"""Facts to the context of one probe script, and its output back to readings."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.core.domain.reading import Reading, Unknown
from bot.core.domain.shell import ShellCommand, quote
from bot.core.facts._fact import Fact, HostFacts, ProbeTarget

#: of each fact; what is longer is cut and then unknown
OUTPUT_LIMIT_BYTES = 400_000
#: how the reason begins where nothing was looked at, because nobody asked
NOT_ASKED = "not asked"
#: exit statuses of `timeout`: ran out, and had to be killed
_TIMED_OUT = ("124", "137")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    out: str
    complaints: str
    #: exit status, or "late" when it had not ended
    status: str
    bytes_out: int


def probe_context(facts: Sequence[Fact[Any]], target: ProbeTarget, nonce: str) -> dict[str, Any]:
    """Values for templates/scripts/probe.sh.j2. `nonce` must be unguessable on the host: it marks the frames."""
    asked = [(fact, fact.snippet(target)) for fact in facts]
    asked = [(fact, snippet) for fact, snippet in asked if snippet]
    longest = max((fact.timeout_s for fact, _ in asked), default=1)
    return {
        "facts": [
            {"name": fact.name, "timeout_s": fact.timeout_s, "script": quote(snippet)} for fact, snippet in asked
        ],
        "names": [fact.name for fact, _ in asked],
        "mark": quote(_mark(nonce)),
        "output_limit_bytes": OUTPUT_LIMIT_BYTES,
        "rounds": 10 * (longest + 3),
    }


def probe_limit_s(facts: Sequence[Fact[Any]], target: ProbeTarget) -> float:
    """Seconds after which the script ends by itself: its slowest fact's limit and a little."""
    return float(max((fact.timeout_s for fact in facts if fact.snippet(target)), default=1) + 5)


def probe_command(script: str, *, timeout_s: float) -> ShellCommand:
    """The rendered script as a command. It goes over stdin, as the account's own shell need not be a POSIX one."""
    return ShellCommand(text="sh -s", stdin=script.encode(), timeout_s=timeout_s, output_limit_bytes=8_000_000)


def parse_probe(
    output: str, facts: Sequence[Fact[Any]], target: ProbeTarget, nonce: str, *, taken_at: datetime | None = None
) -> HostFacts:
    """Readings of all `facts` from a probe's standard output, which may be cut short."""
    frames = _frames(output, _mark(nonce))
    readings: dict[str, Reading[object]] = {}
    for fact in facts:
        if not fact.snippet(target):
            readings[fact.name] = Unknown(f"{NOT_ASKED}: the launch does not say what to look at")
        elif fact.name not in frames:
            readings[fact.name] = Unknown(_silent(output, _mark(nonce)))
        else:
            readings[fact.name] = _read(fact, frames[fact.name])
    return HostFacts(readings=readings, taken_at=taken_at)


def _silent(output: str, mark: str) -> str:
    """Why a fact has no answer. A login that runs nothing says so in its own words."""
    said = " ".join(output.split())[:200]
    if mark in output or not said:
        return "the probe ended before it answered"
    return f"the login ran nothing, it said: {said}"


def _read(fact: Fact[Any], frame: _Frame) -> Reading[Any]:
    if frame.status == "late" or frame.status in _TIMED_OUT:
        return Unknown(f"no answer within {fact.timeout_s} s")
    if frame.status != "0":
        return Unknown(_reason(frame) or f"ended with exit status {frame.status} and no word")
    if frame.bytes_out > OUTPUT_LIMIT_BYTES:
        return Unknown(f"the answer is longer than {OUTPUT_LIMIT_BYTES} bytes")
    return fact.parse(frame.out)


def _reason(frame: _Frame) -> str:
    """The last line that says why, from the complaints, else from the output."""
    for text in (frame.complaints, frame.out):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            return lines[-1][:300]
    return ""


def _mark(nonce: str) -> str:
    return f"=={nonce}=="


def _frames(output: str, mark: str) -> Mapping[str, _Frame]:
    """Complete frames only."""
    pattern = re.compile(
        rf"^{re.escape(mark)} begin (\w+)\n(.*?)\n{re.escape(mark)} complaints \1\n(.*?)"
        rf"\n{re.escape(mark)} end \1 (\w+) +(\d+)$",
        re.DOTALL | re.MULTILINE,
    )
    found = pattern.finditer(output)
    return {one[1]: _Frame(out=one[2], complaints=one[3], status=one[4], bytes_out=int(one[5])) for one in found}
