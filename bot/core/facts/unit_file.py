"""What a unit's file says now: the file, its drop-ins, the environment files that it names, and the shell scripts that
it runs. Read only, without root: what this account may not read is listed as unread.

Values of variables that are secrets by their name stay on the host, and all of the file that our own units keep
secrets in."""

from dataclasses import dataclass, field

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.domain.shell import quote
from bot.core.facts._fact import Fact, ProbeTarget

#: of one file; longer ones are unread
_FILE_LIMIT_BYTES = 200_000
#: ends of names, as a pattern of sed
_SECRET_NAMES = r"TOKEN\|KEY\|SECRET\|PASSWORD\|PASSWD\|CREDENTIALS\|token\|key\|secret\|password"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPart:
    """One file. Its text may hold secrets: the repr does not show it."""

    #: "unit", "dropin", "env_file" or "script"
    kind: str
    path: str
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitFile:
    """A unit as its files stand; without `there` the host has none of this name."""

    there: bool
    parts: tuple[UnitPart, ...] = ()
    #: files that are named and may not be read
    unread: tuple[str, ...] = ()
    #: files that are named and do not exist
    absent: tuple[str, ...] = ()


def snippet(target: ProbeTarget) -> str:
    """The managers say where the files lie; where neither knows the unit, the place where it was found counts."""
    if not target.unit:
        return ""
    user_first = target.unit_path is not None and "/systemd/user/" in target.unit_path
    order = "user system" if user_first else "system user"
    return f"unit={quote(target.unit)} found={quote(target.unit_path or '')} order='{order}'" + _LOOK


_LOOK = rf"""
export XDG_RUNTIME_DIR="${{XDG_RUNTIME_DIR:-/run/user/$(id -u)}}"
stem=${{unit%.*}} instance=
case $stem in *@*) instance=${{stem#*@}} ;; esac
prefix=${{stem%%@*}}
say() {{ printf '%s\n' "$*"; }}
hidden() {{
  sed -e 's/^\([[:space:]]*[A-Za-z0-9_]*\({_SECRET_NAMES}\)\)=.*/\1=<secret>/' \
    -e 's#\(://[^/:@ ]*\):[^/@ ]*@#\1:<secret>@#g'
}}
names() {{ sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1=<secret>/p'; }}
may_be_there() {{ # path that is not seen: whether its folder may not be looked into
  above=${{1%/*}}
  while [ -n "$above" ] && [ ! -e "$above" ]; do above=${{above%/*}}; done
  [ ! -x "${{above:-/}}" ]
}}
give() {{ # kind, path, filter
  if [ ! -e "$2" ]; then
    if may_be_there "$2"; then say "unread $2"; else say "absent $2"; fi
  elif [ -f "$2" ] && [ -r "$2" ] && [ "$(wc -c <"$2")" -le {_FILE_LIMIT_BYTES} ]; then
    say "file $1 $2"
    "$3" <"$2" | awk '{{ print "|" $0 }}'
  else
    say "unread $2"
  fi
}}
resolved() {{ # text with specifiers
  printf '%s' "$1" | sed -e "s#%n#$unit#g; s#%N#$stem#g; s#%p#$prefix#g; s#%[iI]#$instance#g" \
    -e "s#%h#$home#g; s#%u#$account#g; s#%%#%#g"
}}
settings() {{ # key, files: its values, without the marks in front
  key=$1
  shift
  cat "$@" 2>/dev/null | sed -n "s/^[[:space:]]*$key=[-@:+!|]*//p"
}}
is_shell() {{ head -c 100 "$1" | tr -d '\000' | sed -n 1p | grep -q '^#!.*sh *$\|^#!.*sh -'; }}
dropins_of() {{ for one in "$1".d/*.conf; do [ ! -f "$one" ] || say "$one"; done; }}
main= dropins= answered= why=
for manager in $order; do
  shown=$(systemctl "--$manager" show "$unit" -p FragmentPath -p SourcePath -p DropInPaths 2>&1) || {{
    [ -n "$why" ] || why=$shown
    continue
  }}
  answered=yes
  main=$(printf '%s\n' "$shown" | sed -n 's/^SourcePath=\(.*\.container\)$/\1/p')
  if [ -n "$main" ]; then
    dropins=$(dropins_of "$main")
  else
    main=$(printf '%s\n' "$shown" | sed -n 's/^FragmentPath=//p')
    dropins=$(printf '%s\n' "$shown" | sed -n 's/^DropInPaths=//p' | tr ' ' '\n')
  fi
  [ -z "$main" ] || break
done
if [ -z "$main" ] && [ -f "$found" ]; then
  main=$found
  dropins=$(dropins_of "$main")
elif [ -z "$main" ] && [ -n "$found" ] && may_be_there "$found"; then
  printf '%s: permission denied for this login\n' "$found" >&2
  exit 1
elif [ -z "$main" ]; then
  [ -n "$answered" ] || {{ printf '%s\n' "${{why:-no systemd here}}" >&2; exit 1; }}
  say gone
  exit 0
fi
home=/root account=root
case $main in */systemd/user/*) home=$HOME account=$(id -un) ;; esac
say there
IFS='
'
set -f
give unit "$main" cat
for one in $dropins; do give dropin "$one" cat; done
for named in $(settings EnvironmentFile "$main" $dropins); do
  place=$(resolved "$named")
  set +f
  for one in $place; do
    case $unit:$one in
    relaunch-*/secrets) give env_file "$one" names ;;
    *) give env_file "$one" hidden ;;
    esac
  done
  set -f
done
for one in $(settings ExecStart "$main" $dropins | tr ' "'\' '\n\n\n' | grep '^/.' | sort -u | head -n 40); do
  one=$(resolved "$one")
  [ ! -f "$one" ] || [ ! -r "$one" ] || ! is_shell "$one" || give script "$one" cat
done
exit 0
"""


def parse(output: str) -> Reading[UnitFile]:
    """Lines "there" or "gone"; "file KIND PATH" with the file's own lines behind "|"; "unread PATH"; "absent PATH"."""
    heads: list[tuple[str, str]] = []
    bodies: list[list[str]] = []
    listed: dict[str, list[str]] = {"unread": [], "absent": []}
    said: set[str] = set()
    for line in output.split("\n"):
        word, _, rest = line.partition(" ")
        if line.startswith("|"):
            if bodies:
                bodies[-1].append(line[1:])
        elif word == "file":
            kind, _, path = rest.partition(" ")
            heads.append((kind, path))
            bodies.append([])
        elif word in listed:
            listed[word].append(rest)
        else:
            said.add(word)
    if not said & {"there", "gone"}:
        return Unknown("the look at the unit's files was cut short")
    parts = tuple(
        UnitPart(kind=kind, path=path, text="".join(f"{line}\n" for line in body))
        for (kind, path), body in zip(heads, bodies, strict=True)
    )
    return Known(
        UnitFile(there="there" in said, parts=parts, unread=tuple(listed["unread"]), absent=tuple(listed["absent"]))
    )


FACT: Fact[UnitFile] = Fact(name="unit_file", snippet=snippet, parse=parse)
