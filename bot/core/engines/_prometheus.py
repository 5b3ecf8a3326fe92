"""Reading Prometheus text pages."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_SAMPLE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?\s*$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """All samples of a page: (name, labels, value)."""

    samples: tuple[tuple[str, dict[str, str], float], ...]

    def values(self, name: str) -> list[float]:
        """Values of every label set of a metric."""
        return [value for one, _, value in self.samples if one == name]

    def total(self, name: str) -> float | None:
        """Sum over label sets (ranks, replicas), or None where the page lacks the metric."""
        return self._over(name, sum)

    def largest(self, name: str) -> float | None:
        """Largest over label sets, or None."""
        return self._over(name, max)

    def mean(self, name: str) -> float | None:
        """Mean over label sets, or None."""
        values = self.values(name)
        return sum(values) / len(values) if values else None

    def by_position(self, name: str) -> tuple[float, ...]:
        """Values by their `position` label, summed over the other labels, in order of position."""
        sums: dict[int, float] = {}
        for one, labels, value in self.samples:
            if one == name and labels.get("position", "").isdigit():
                position = int(labels["position"])
                sums[position] = sums.get(position, 0.0) + value
        return tuple(sums[position] for position in sorted(sums))

    def _over(self, name: str, fold: Callable[[Iterable[float]], float]) -> float | None:
        values = self.values(name)
        return float(fold(values)) if values else None


def read_page(text: str) -> Page:
    """Read a page; comments, lines that are no sample, and NaN are left out."""
    samples = []
    for line in text.splitlines():
        match = _SAMPLE.match(line) if line and not line.startswith("#") else None
        if match is None:
            continue
        try:
            value = float(match[3])
        except ValueError:
            continue
        if value == value:
            samples.append((match[1], dict(_LABEL.findall(match[2] or "")), value))
    return Page(samples=tuple(samples))
