"""Write the tools that a practice host finds before the machine's own."""

import shutil
import sys
from pathlib import Path

_SHIMS = Path(__file__).parent / "shims"
_PYTHON_TOOLS = {
    "nvidia-smi": "nvidia_smi",
    "systemctl": "systemctl",
    "journalctl": "journalctl",
    "loginctl": "loginctl",
    "ss": "ss",
    "ps": "ps",
    "practice-supervisor": "supervisor",
}
#: tools that end in the machine's own
_REAL = ("uname", "stat", "base64")
_SYSTEMD_TOOLS = {"systemctl", "journalctl", "loginctl"}
_NO_SYSTEMD = """#!/bin/sh
echo 'System has not been booted with systemd as init system (PID 1). Cannot operate.' >&2
exit 1
"""
_LAUNCHER = """#!{python} -IS
import sys
sys.path.insert(0, {library!r})
from practice_host import {module}
sys.exit({module}.main(sys.argv[1:]))
"""
_ID = """case "$*" in
-u|-ru|-g|-rg) echo 1000 ;;
-un|-nu|-gn|-ng) echo "$PRACTICE_USER" ;;
-Gn|-nG) echo "$PRACTICE_USER" ;;
-G) echo 1000 ;;
*) echo "uid=1000($PRACTICE_USER) gid=1000($PRACTICE_USER) groups=1000($PRACTICE_USER)" ;;
esac"""
_UNAME = """case "$*" in
-n) echo "$PRACTICE_NAME" ;;
*) exec {uname} "$@" ;;
esac"""
_STAT = """case "$*" in
"-c %U /proc/"*)
  user=$(tr '\\000' '\\n' <"$3/environ" 2>/dev/null | sed -n 's/^PRACTICE_USER=//p')
  [ -n "$user" ] && {{ echo "$user"; exit 0; }} ;;
"-c %U "*) echo "$PRACTICE_USER"; exit 0 ;;
esac
exec {stat} "$@" """
#: what is sent encoded cannot be shortened on its way out, so it is shortened before
_BASE64 = """options= file=-
while [ $# -gt 0 ]; do
  case $1 in
  -w) options="$options -w $2"; shift ;;
  -) ;;
  -*) options="$options $1" ;;
  *) file=$1 ;;
  esac
  shift
done
case $options in *-d*) cat -- "$file" | {base64} $options; exit ;; esac
cat -- "$file" | LC_ALL=C sed "s#${{PRACTICE_ROOT%/.practice}}/#/#g" | {base64} $options"""
_DF = """last=; for last; do :; done
echo 'Filesystem     1024-blocks      Used Available Capacity Mounted on'
case $last in
/dev/shm) echo 'tmpfs            263943120         0 263943120       0% /dev/shm' ;;
*) echo '/dev/nvme0n1p2  1921724676 812340112 1011696704      45% /' ;;
esac"""
#: scripts of sh; the machine's own tools, where needed, by their full path
_SHELL_TOOLS = {
    "id": _ID,
    "whoami": 'echo "$PRACTICE_USER"',
    "hostname": 'echo "$PRACTICE_NAME"',
    "uname": _UNAME,
    "stat": _STAT,
    "base64": _BASE64,
    "df": _DF,
    "who": "exit 0",
    "sudo": "echo 'sudo: a password is required' >&2; exit 1",
    "dmesg": "echo '[    0.000000] Linux version 6.1.0-38-amd64'; echo '[   12.400000] NVRM: loading module'",
    "docker": "echo 'Cannot connect to the Docker daemon. Is the docker daemon running?' >&2; exit 1",
    "podman": "exit 0",
    "crontab": "echo 'no crontab' >&2; exit 1",
    "systemd-detect-virt": "echo none; exit 1",
}


def write_tools(state: Path, *, systemd: bool = True) -> Path:
    """Write all tools below a host's state folder; gives the folder for PATH. Without systemd its tools refuse."""
    library, bin_folder = state / "lib", state / "bin"
    shutil.copytree(_SHIMS, library / "practice_host", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    bin_folder.mkdir(parents=True, exist_ok=True)
    python = Path(sys.executable).resolve()
    for name, module in _PYTHON_TOOLS.items():
        if not systemd and module in _SYSTEMD_TOOLS:
            _executable(bin_folder / name, _NO_SYSTEMD)
            continue
        text = _LAUNCHER.format(python=python, library=str(library), module=module)
        _executable(bin_folder / name, text)
    real = {name: shutil.which(name, path="/usr/bin:/bin") or f"/usr/bin/{name}" for name in _REAL}
    for name, body in _SHELL_TOOLS.items():
        text = body.format(**real) if name in real else body
        _executable(bin_folder / name, f"#!/bin/sh\n{text}\n")
    for name in ("python3", "python"):
        (bin_folder / name).unlink(missing_ok=True)
        (bin_folder / name).symlink_to(python)
    return bin_folder


def _executable(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
