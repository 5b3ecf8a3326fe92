"""Whether the installed engine's own source names the model's architecture. Its files are searched as text: importing
an engine takes many seconds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.domain.shell import quote
from bot.core.facts._fact import Fact, ProbeTarget
from bot.core.facts._python import find_python

_SCRIPT = r"""
import importlib.util, json, os, sys
package, model = sys.argv[1], os.path.expanduser(sys.argv[2])
with open(os.path.join(model, "config.json"), encoding="utf-8") as f:
    names = json.load(f).get("architectures") or []
spec = importlib.util.find_spec(package)
roots = list(spec.submodule_search_locations or []) if spec else sys.exit("%s is not installed" % package)
found = {}
for root in roots:
    for folder, inner, files in os.walk(root):
        inner[:] = [i for i in inner if i not in ("__pycache__", "csrc", "third_party", "benchmarks", "tests")]
        if "models" not in folder.split(os.sep) and "model_executor" not in folder.split(os.sep):
            continue
        for name in files:
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
                    text = f.read()
                for one in names:
                    if one in text:
                        found.setdefault(one, name)
print(json.dumps({"names": names, "found": found}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """Architectures of the model's config.json; `found`: name -> file of the engine that speaks of it."""

    names: tuple[str, ...]
    found: Mapping[str, str] = field(default_factory=dict)


def snippet(target: ProbeTarget) -> str:
    if not target.program or not target.packages or not target.model or target.model.endswith(".gguf"):
        return ""
    words = f"{quote(target.packages[0])} {quote(target.model)}"
    return find_python(target) + f'"${{py:-python3}}" -c {quote(_SCRIPT)} {words} 2>&1'


def parse(output: str) -> Reading[Architecture]:
    try:
        read = json.loads(output)
    except ValueError:
        return Unknown("the engine's source could not be searched")
    return Known(Architecture(names=tuple(read["names"]), found=read["found"]))


FACT: Fact[Architecture] = Fact(name="architecture", snippet=snippet, parse=parse, timeout_s=15)
