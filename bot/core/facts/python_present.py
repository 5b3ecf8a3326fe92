"""Python interpreters on the host: the load script and the look at model files run on them."""

from collections.abc import Mapping

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.domain.shell import quote
from bot.core.facts._fact import Fact, ProbeTarget


def snippet(target: ProbeTarget) -> str:
    own = [target.program[0]] if target.program and "python" in target.program[0].rsplit("/", 1)[-1] else []
    words = " ".join(quote(word) for word in dict.fromkeys([*own, "python3", "/usr/bin/python3"]))
    return f"""
for name in {words}; do
  path=$(command -v "$name" 2>/dev/null) || continue
  printf '%s %s\\n' "$path" "$("$path" -c 'import platform; print(platform.python_version())' 2>/dev/null)"
done
exit 0
"""


def parse(output: str) -> Reading[Mapping[str, str]]:
    """Path -> version, the command's own first; one that does not run is left out."""
    rows = (line.split(" ", 1) for line in output.splitlines() if " " in line)
    found = {path: version.strip() for path, version in rows if version.strip()}
    return Known(found) if found else Unknown("no Python 3 on this host")


FACT: Fact[Mapping[str, str]] = Fact(name="python_present", snippet=snippet, parse=parse)
