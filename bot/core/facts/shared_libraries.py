"""Native libraries of the engine's packages that the loader cannot find.

`ldd` over the packages' .so files; names that some installed package brings along are left out, as Python loads them
first (libtorch.so, libc10.so). A package may bring one build per version of a system library
(libtorchcodec_core4 … core8 for FFmpeg 4 … 8): it needs only one of them to load."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.domain.shell import quote
from bot.core.facts._fact import Fact, ProbeTarget
from bot.core.facts._python import find_python

_SCRIPT = r"""
import json, os, shutil, subprocess, sys, sysconfig
standard = sysconfig.get_path("stdlib")
found = [p for p in sys.path if os.path.isdir(p) and (not p.startswith(standard) or p.endswith("-packages"))]
roots = list(dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")] + found))
if not shutil.which("ldd"):
    sys.exit("ldd: command not found")
bundled, wanted = set(), []
for root in roots:
    for folder, inner, files in os.walk(root):
        top = os.path.relpath(folder, root).split(os.sep)[0]
        for name in files:
            if ".so" in name:
                bundled.add(name)
                if top in sys.argv[1:]:
                    wanted.append(os.path.join(folder, name))
seen, out = {}, {}
for name in sys.argv[1:]:
    mine = sorted(f for f in wanted if os.sep + name + os.sep in f)[:40]
    for file in mine:
        done = subprocess.run(["ldd", file], capture_output=True, text=True)
        lost = [l.split()[0] for l in done.stdout.splitlines() if "not found" in l and l.split()]
        out[file] = sorted(set(lost) - bundled)
print(json.dumps(out))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLibraries:
    """`files` were looked at; `unresolved`: file -> libraries that are nowhere."""

    files: int
    unresolved: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def snippet(target: ProbeTarget) -> str:
    if not target.program:
        return ""
    find = find_python(target)
    packages = " ".join(quote(package) for package in target.packages)
    return f"""{find}
if [ -n "$py" ] && [ -n "{"x" if packages else ""}" ]; then "$py" -c {quote(_SCRIPT)} {packages}; exit $?; fi
command -v ldd >/dev/null || {{ printf 'ldd: command not found\\n' >&2; exit 127; }}
printf 'binary %s\\n' "$prog"; ldd "$prog" 2>&1 | sed -n 's/ => not found.*//p'; exit 0"""


def parse(output: str) -> Reading[SharedLibraries]:
    """Families of builds ("core4", "core5") count as one file: unresolved only where none of them resolves."""
    if output.startswith("binary "):
        head, _, rest = output.partition("\n")
        lost = tuple(line.strip() for line in rest.splitlines() if line.strip())
        return Known(SharedLibraries(files=1, unresolved={head.removeprefix("binary "): lost} if lost else {}))
    try:
        read: dict[str, list[str]] = json.loads(output)
    except ValueError:
        return Unknown("the look at the shared libraries was cut short")
    if not read:
        return Unknown("none of the engine's packages has native libraries there")
    families: dict[str, list[str]] = {}
    for file in read:
        families.setdefault(re.sub(r"\d+", "#", file.rsplit("/", 1)[-1]) + file.rsplit("/", 1)[0], []).append(file)
    unresolved = {}
    for members in families.values():
        if all(read[file] for file in members):
            unresolved.update({file: tuple(read[file]) for file in members})
    return Known(SharedLibraries(files=len(read), unresolved=unresolved))


FACT: Fact[SharedLibraries] = Fact(name="shared_libraries", snippet=snippet, parse=parse, timeout_s=40)
