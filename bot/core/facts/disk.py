"""Free space of the file systems that a launch touches: /, /tmp, the home, the working folder, the model's folder."""

import re
from dataclasses import dataclass

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.domain.shell import quote
from bot.core.facts._fact import Fact, ProbeTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """File system under one path, in MiB."""

    path: str
    mount: str
    size_mib: int
    available_mib: int


def snippet(target: ProbeTarget) -> str:
    """`df` may hang on a dead network mount: the fact's time limit ends it."""
    paths = [*target.folders, *([target.cwd] if target.cwd else [])]
    if target.model and target.model.startswith("/"):
        paths.append(target.model)
    words = " ".join(quote(path) for path in dict.fromkeys(paths))
    return f"""
for path in / /tmp "$HOME" {words}; do
  [ -e "$path" ] && df -P -k "$path" 2>/dev/null | sed -n '2p' | while read -r row; do
    printf '%s\\t%s\\n' "$path" "$row"; done
done
exit 0
"""


def parse(output: str) -> Reading[tuple[Space, ...]]:
    found: dict[str, Space] = {}
    for line in output.splitlines():
        path, _, row = line.partition("\t")
        match = re.search(r"\s(\d+)\s+(\d+)\s+(\d+)\s+\d+%\s+(/.*)$", row)
        if match:
            found[path] = Space(
                path=path, mount=match[4], size_mib=int(match[1]) // 1024, available_mib=int(match[3]) // 1024
            )
    return Known(tuple(found.values())) if found else Unknown("df gave no file system")


FACT: Fact[tuple[Space, ...]] = Fact(name="disk", snippet=snippet, parse=parse, timeout_s=8)
