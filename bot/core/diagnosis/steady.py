"""What the steady-state lines of a log say when they are held against each other: speeds, accept lengths, graphs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from bot.core.diagnosis.matching import Context, Match
from bot.core.diagnosis.rule import Rule

_SPEED = re.compile(r"(?:gen(?:eration)? throughput(?: \(token/s\))?|eval time.{0,80}?,)\W+(?P<speed>\d+\.\d+)")
_ACCEPT = re.compile(r"accept(?:ance)?[_ ]len(?:gth)?\W+(?P<accept>\d+\.\d+)")
_REQUESTS = re.compile(r"(?:#running-req|running)\W+(?P<requests>\d+)")

SPECULATION_COSTS = Rule(
    kind="slow_spec",
    weight=66,
    pattern="",
    sure=False,
    cause="Decode runs at {with_spec} tok/s with speculation and at {without} tok/s without it.",
    fix="Serve this model without speculation, or with fewer draft tokens, and measure again.",
    alternatives=("slow_other", "slow_after_upgrade"),
)
ACCEPT_VARIES = Rule(
    kind="slow_spec",
    weight=58,
    pattern="",
    sure=False,
    cause="The accept length is {low} in some lines and {high} in others of the same load.",
    fix="Find what differs between the two runs (graphs, data parallel attention, depth); the drafts are right "
    "in one only.",
    alternatives=("slow_cuda_graph_off",),
)


@dataclass(frozen=True, slots=True)
class _Line:
    index: int
    speed: float
    accept: float | None
    requests: int


def steady_matches(context: Context) -> Iterator[Match]:
    """Matches that need more than one line."""
    lines = [line for index, text in enumerate(context.lower_lines) if (line := _read(index, text)) is not None]
    plain = [line for line in lines if line.accept is None and line.speed > 1]
    drafted = [line for line in lines if line.accept is not None and line.speed > 1]
    if len(plain) >= 2 and len(drafted) >= 2 and {x.requests for x in plain} & {x.requests for x in drafted}:
        with_spec, without = median(x.speed for x in drafted), median(x.speed for x in plain)
        if with_spec < without * 0.9:
            numbers = {"with_spec": f"{with_spec:.0f}", "without": f"{without:.0f}"}
            yield Match(rule=SPECULATION_COSTS, index=drafted[0].index, groups=numbers, weight=SPECULATION_COSTS.weight)
    accepts = sorted((line.accept, line.index) for line in drafted if line.accept is not None)
    if len(accepts) >= 4 and accepts[0][0] < 2.2 and accepts[0][0] < accepts[-1][0] * 0.62:
        yield Match(
            rule=ACCEPT_VARIES,
            index=accepts[0][1],
            groups={"low": f"{accepts[0][0]:.2f}", "high": f"{accepts[-1][0]:.2f}"},
            weight=ACCEPT_VARIES.weight - (30 if context.started else 0),
        )


def _read(index: int, text: str) -> _Line | None:
    speed = _SPEED.search(text)
    if speed is None:
        return None
    accept, requests = _ACCEPT.search(text), _REQUESTS.search(text)
    return _Line(
        index=index,
        speed=float(speed["speed"]),
        accept=float(accept["accept"]) if accept else None,
        requests=int(requests["requests"]) if requests else 1,
    )
