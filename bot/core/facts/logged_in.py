"""Who is logged in: people to think of before something is stopped."""

from dataclasses import dataclass

from bot.core.domain.reading import Known, Reading
from bot.core.facts._fact import Fact, ProbeTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """One session: user, terminal, and the rest of the line (since when, from where)."""

    user: str
    terminal: str
    since: str


def snippet(target: ProbeTarget) -> str:
    return "who"


def parse(output: str) -> Reading[tuple[Login, ...]]:
    rows = (line.split(None, 2) for line in output.splitlines())
    return Known(tuple(Login(user=row[0], terminal=row[1], since=row[2].strip()) for row in rows if len(row) == 3))


FACT: Fact[tuple[Login, ...]] = Fact(name="logged_in", snippet=snippet, parse=parse)
