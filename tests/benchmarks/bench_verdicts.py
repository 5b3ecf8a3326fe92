"""How often verdicts are wrong: 1,000 simulated pairs of runs for each situation that real hosts show.

Of pairs with no difference at most 5 % may be called different; of pairs that differ by 10 % at least 95 % must be
found, on one host. Scatter as measured: 1 to 4 % within a run, about 1 % between launches. Exits 1 when one is broken.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bot.core.domain.measurement import VerdictKind
from bot.core.measuring.verdict import compare
from tests.unit.core.measuring.records import pair

PAIRS = 1000
#: concurrencies, waves at each, scatter within a run and between launches
SITUATIONS: Sequence[tuple[tuple[int, ...], int, float, float]] = (
    ((1,), 5, 0.02, 0.0),
    ((1,), 6, 0.03, 0.01),
    ((1,), 8, 0.03, 0.01),
    ((1,), 8, 0.03, 0.0125),
    ((1,), 12, 0.04, 0.01),
    ((4,), 5, 0.03, 0.01),
    ((1, 4, 16), 4, 0.03, 0.01),
    ((1, 4, 16), 8, 0.04, 0.0125),
)


def rates(change: float, situation: tuple[tuple[int, ...], int, float, float], seed: int) -> Counter[VerdictKind]:
    """How often each verdict came."""
    widths, n, within, between = situation
    source = random.Random(seed)
    return Counter(
        compare(*pair(source, change, widths=widths, n=n, within=within, between=between)).kind for _ in range(PAIRS)
    )


def main() -> int:
    """Print a table; 1 when a bound is broken."""
    broken = 0
    began = time.perf_counter()
    head = f"{'concurrency':>12} {'waves':>5} {'within':>6} {'between':>7}"
    print(f"{head}   no difference:   -10 %    +10 %   (of {PAIRS})")
    for seed, situation in enumerate(SITUATIONS):
        widths, n, within, between = situation
        same, slower, faster = (rates(change, situation, 10 * seed + i) for i, change in enumerate((0.0, -0.1, 0.1)))
        wrong = same[VerdictKind.FASTER] + same[VerdictKind.SLOWER]
        found = slower[VerdictKind.SLOWER], faster[VerdictKind.FASTER]
        bad = wrong > 0.05 * PAIRS or min(found) < 0.95 * PAIRS
        broken += bad
        row = (
            f"{'/'.join(map(str, widths)):>12} {n:>5} {within:>6.1%} {between:>7.2%}   different {wrong / PAIRS:>5.1%}"
        )
        print(f"{row}   {found[0] / PAIRS:>6.1%}   {found[1] / PAIRS:>6.1%}{'   BROKEN' if bad else ''}")
    print(f"{time.perf_counter() - began:.0f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
