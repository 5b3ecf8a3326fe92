"""Compilers: several engines build kernels at the first start."""

from collections.abc import Mapping

from bot.core.domain.reading import Known, Reading
from bot.core.facts._fact import Fact, ProbeTarget

_TOOLS = ("gcc", "g++", "nvcc", "ninja")


def snippet(target: ProbeTarget) -> str:
    return f"""
for tool in {" ".join(_TOOLS)}; do
  if command -v "$tool" >/dev/null 2>&1; then
    printf '%s %s\\n' "$tool" "$("$tool" --version 2>/dev/null | grep -E '[0-9]+\\.[0-9]+' | head -n 1)"
  else printf '%s -\\n' "$tool"; fi
done
exit 0
"""


def parse(output: str) -> Reading[Mapping[str, str | None]]:
    """Tool -> first line of its --version with a number; None: not there."""
    rows = (line.partition(" ") for line in output.splitlines() if " " in line)
    return Known({name: None if words.strip() == "-" else words.strip() for name, _, words in rows})


FACT: Fact[Mapping[str, str | None]] = Fact(name="compilers", snippet=snippet, parse=parse)
