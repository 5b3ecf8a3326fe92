"""Units of ours (relaunch-*) and of engines, in the system's and the user's manager. Their commands are not printed:
they may hold secrets."""

from dataclasses import dataclass

from bot.core.domain.reading import Known, Reading
from bot.core.domain.shell import quote
from bot.core.facts._fact import Fact, ProbeTarget

_PROPERTIES = "Id,LoadState,ActiveState,SubState,MainPID,ExecMainStatus,ExecMainCode,Result,NRestarts,FragmentPath,User"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One service unit."""

    #: with ".service"
    name: str
    #: "active", "failed", "inactive", "activating" …
    state: str
    sub_state: str
    main_pid: int | None
    #: exit status or signal number of the last main process
    exit_status: int | None
    #: systemd's word: "success", "exit-code", "signal", "oom-kill", "timeout"
    result: str
    restarts: int
    #: "system" or "user"
    manager: str
    file: str | None = None
    user: str | None = None


def snippet(target: ProbeTarget) -> str:
    words = quote("|".join(word for word in target.unit_words if word.isalnum() or "-" in word) or "relaunch-")
    return f"""
[ -d /run/systemd/system ] || {{ printf 'no systemd here\\n' >&2; exit 1; }}
export XDG_RUNTIME_DIR="${{XDG_RUNTIME_DIR:-/run/user/$(id -u)}}"
show() {{
  systemctl "$1" show '*.service' --no-pager --property={_PROPERTIES},ExecStart | awk -v words={words} '
    BEGIN {{ RS = ""; FS = "\\n" }}
    {{ wanted = 0; out = ""
      for (i = 1; i <= NF; i++) {{
        if ($i ~ /^Id=relaunch-/) wanted = 1
        if ($i ~ /^ExecStart=/) {{ if ($i ~ words) wanted = 1 }} else out = out $i "\\n"
      }}
      if (wanted) printf "%s\\n", out }}'
}}
printf 'manager system\\n\\n'; show --system || exit 1
if [ -S "$XDG_RUNTIME_DIR/systemd/private" ]; then printf 'manager user\\n\\n'; show --user; fi
exit 0
"""


def parse(output: str) -> Reading[tuple[Unit, ...]]:
    manager, found = "system", []
    for paragraph in output.split("\n\n"):
        text = paragraph.strip()
        if text.startswith("manager "):
            manager = text.removeprefix("manager ")
            continue
        values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        if values.get("Id"):
            found.append(_unit(values, manager))
    return Known(tuple(found))


def _unit(values: dict[str, str], manager: str) -> Unit:
    pid = _whole(values.get("MainPID"))
    return Unit(
        name=values["Id"],
        state=values.get("ActiveState", ""),
        sub_state=values.get("SubState", ""),
        main_pid=pid or None,
        exit_status=_whole(values.get("ExecMainStatus")),
        result=values.get("Result", ""),
        restarts=_whole(values.get("NRestarts")) or 0,
        manager=manager,
        file=values.get("FragmentPath") or None,
        user=values.get("User") or None,
    )


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


FACT: Fact[tuple[Unit, ...]] = Fact(name="units", snippet=snippet, parse=parse)
