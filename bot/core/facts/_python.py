"""sh text that finds the interpreter which a command runs in, without running the command."""

from bot.core.domain.shell import quote
from bot.core.facts._fact import ProbeTarget

_FIND = r"""
case $prog in */*) ;; *) prog=$(command -v "$prog" 2>/dev/null) ;; esac
[ -n "$prog" ] && [ -x "$prog" ] || { printf '%s: not found\n' "$asked" >&2; exit $missing; }
py=
case ${prog##*/} in
python*|pypy*) py=$prog ;;
*)
  first=$(head -c 300 "$prog" | tr -d '\000' | sed -n '1s/^#!//p')
  case $first in
  */env\ *) py=$(command -v "${first#*env }") ;;
  */sh) py=$(sed -n "2s/^'''exec' \"\{0,1\}\([^\" ]*\).*/\1/p" "$prog") ;;
  /*) py=${first%% *} ;;
  esac ;;
esac
"""


def find_python(target: ProbeTarget, *, missing_status: int = 127) -> str:
    """Sets $prog (the program's path) and $py (its interpreter, empty for a binary); exits when it is not there.

    Console scripts name their interpreter in the first line, long paths through `exec` in the second."""
    lines = [f"asked={quote(target.program[0])}", "prog=$asked", f"missing={missing_status}"]
    if target.path:
        lines.insert(0, f"PATH={quote(target.path)}:$PATH")
    if target.cwd:
        lines.insert(0, f"cd {quote(target.cwd)} || exit 1")
    return "\n".join(lines) + _FIND
