"""What a probe is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.core.domain.finding import Finding, Judgement
from bot.core.facts import HostFacts

_ORDER = (Judgement.OK, Judgement.UNKNOWN, Judgement.WARN, Judgement.REFUSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One health check: the facts it reads, and its judgement of them (no findings: nothing to say)."""

    needs: tuple[str, ...]
    judge: Callable[[HostFacts], tuple[Finding, ...]]


def worst(judgements: Iterable[Judgement]) -> Judgement:
    """The worst of all; of none: ok. Unknown is worse than ok and never hidden by it."""
    return max(judgements, key=_ORDER.index, default=Judgement.OK)
