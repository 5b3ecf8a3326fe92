"""The unit that a revision was found as, from where its parts were seen."""

import re
from collections.abc import Mapping

from bot.core.domain.catalog import Revision

#: "unit /etc/systemd/system/qwen.service", "unit qwen.service, Environment=HF_HOME"
_UNIT = re.compile(r"\bunit ((?:/[^\s,]*/)?)([\w@.:\\-]+\.(?:service|container))")
#: beginnings of places that are files of units; a transient unit is only named
_OF_FILES = ("unit ", "dropin ", "env_file ", "env file ")
#: a unit in such a text may never have been written
_WRITERS = ("script ", "history ")
_SCANNED = "scan"


def found_unit(revision: Revision) -> tuple[str, str | None] | None:
    """(name with its type, path of its file where that was seen); None where no unit file was among what showed it."""
    source = revision.source.removeprefix(f"{_SCANNED}: ")
    if source.startswith(_WRITERS):
        return None
    fields = {**revision.provenance, "source": source}
    # the name of the unit itself: others may be of its template
    places = [revision.provenance.get("unit", source), source, *revision.provenance.values()]
    if not any(text.startswith(_OF_FILES) for name, text in fields.items() if name != "unit" or "/" in text):
        return None
    found = [match for place in places if (match := _UNIT.search(place))]
    paths = [match[1] + match[2] for match in found if match[1]]
    if not found:
        return None
    # a quadlet "x.container" is the service "x.service"
    return re.sub(r"\.container$", ".service", found[0][2]), paths[0] if paths else None


def as_found(revision: Revision, known: Mapping[str, Revision]) -> Revision | None:
    """The revision that a scan made, which this one was made from or is. None: no scan made it."""
    seen: set[str] = set()
    one: Revision | None = revision
    while one is not None and one.id not in seen:
        if one.source.startswith(_SCANNED):
            return one
        seen.add(one.id)
        one = known.get(one.parent or "")
    return None
