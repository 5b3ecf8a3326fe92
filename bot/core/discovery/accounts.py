"""Programs that start a command as another account: sudo, su, setpriv, gosu, start-stop-daemon and their like. The
account is kept; what they limit besides stays a wrapper."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.core.discovery import program_options as options
from bot.core.discovery.launch_call import Call
from bot.core.discovery.program_options import Options
from bot.core.discovery.shell_state import Variable, is_unknown, join_path

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def _as_user(call: Call, user: str | None, *, keep: bool, login: bool) -> Call:
    """The command under another account: a fresh environment unless it is kept, and no virtual environment."""
    user = user_alone(user)
    home = None if user is None else ("/root" if user == "root" else f"/home/{user}")
    return replace(
        call,
        user=user,
        home=home,
        env=call.env if keep else {},
        venv=call.venv if keep else None,
        cwd=home if login else call.cwd,
    )


def user_alone(given: str | None) -> str | None:
    """The account of `USER`, `USER:GROUP`, `:UID` or `#UID`."""
    return (given or "").removeprefix("#").removeprefix(":").partition(":")[0] or None


def with_assignments(call: Call, position: int, origin: str) -> Call:
    """Leading `NAME=value` words as variables of the command."""
    env = dict(call.env)
    while position < len(call.argv):
        match = _ASSIGNMENT.fullmatch(call.argv[position])
        if match:
            env[match[1]] = Variable(match[2], True, origin)
        elif not is_unknown(call.argv[position]):
            # `env $(cat .env) …`: variables that only running would tell
            break
        position += 1
    return replace(call, env=env, argv=call.argv[position:])


def _sudo(shell: "Interpreter", call: Call) -> Call | None:
    pairs, position = options.SUDO.read(call.argv)
    given = dict(pairs)
    user = given.get("-u") or given.get("--user") or "root"
    keep = "-E" in given or given.get("--preserve-env") == ""
    kept = {name: call.env[name] for name in given.get("--preserve-env", "").split(",") if name in call.env}
    inner = _as_user(call, user, keep=keep, login="-i" in given or "--login" in given)
    inner = replace(inner, env={**kept, **inner.env}, cwd=given.get("-D") or given.get("--chdir") or inner.cwd)
    inner = with_assignments(inner, position, shell.origin(call.line))
    shell_asked = {"-i", "-s", "--login", "--shell"} & given.keys()
    return inner.with_argv(("sh",)) if shell_asked and not inner.argv else inner


def _doas(shell: "Interpreter", call: Call) -> Call | None:
    pairs, position = options.DOAS.read(call.argv)
    inner = _as_user(call, dict(pairs).get("-u") or "root", keep=False, login=False)
    return inner.with_argv(call.argv[position:])


def _su(shell: "Interpreter", call: Call) -> Call | None:
    """su [-] USER -c TEXT, runuser -u USER -- COMMAND."""
    pairs, position = options.SU.read(call.argv)
    given = dict(pairs)
    named = given.get("-u") or given.get("--user")
    rest = call.argv[position:]
    if named:
        return _as_user(call, named, keep=True, login=False).with_argv(rest or ("sh",))
    words: list[str] = []
    while rest and "--" not in call.argv[position - 1 : position]:
        # options may stand behind the account as well; `-` alone asks for a login
        if rest[0].startswith("-") and rest[0] != "-":
            late, behind = options.SU.read(("su", *rest))
            given.update(late)
            ended = rest[behind - 2 : behind - 1] == ("--",)
            rest = rest[behind - 1 :]
            if ended:
                break
            continue
        given.update({"-": ""} if rest[0] == "-" else {})
        words.extend(rest[:1] if rest[0] != "-" else ())
        rest = rest[1:]
    user, *arguments = [*words, *rest] or ["root"]
    login = bool({"-", "-l", "--login"} & given.keys())
    text = given.get("-c") or given.get("--command")
    inner = _as_user(call, user, keep=not login, login=login)
    # without a command it is a shell that reads its input
    return inner.with_argv(("sh", *(("-c", text) if text else ()), *arguments))


def _gosu(shell: "Interpreter", call: Call) -> Call | None:
    user = call.argv[1] if len(call.argv) > 1 else None
    return _as_user(call, user, keep=True, login=False).with_argv(call.argv[2:])


def _limiting(syntax: Options, account: frozenset[str], named: tuple[str, ...]) -> Callable[..., Call | None]:
    """A program that sets account and limits alike: what is not about the account stays as a wrapper."""

    def handed_on(shell: "Interpreter", call: Call) -> Call | None:
        pairs, position = syntax.read(call.argv)
        given = dict(pairs)
        user = next((given[name] for name in named if name in given), None)
        kept = [word for pair in pairs if pair[0] not in account for word in _written(*pair)]
        inner = _as_user(call, user, keep="--reset-env" not in given, login=False) if user else call
        inner = (
            replace(inner, argv=call.argv[position:], cwd=join_path(call.cwd, given["-C"]))
            if "-C" in given
            else (inner.with_argv(call.argv[position:]))
        )
        return replace(inner, wrappers=(*call.wrappers, (call.argv[0], *kept))) if kept else inner

    return handed_on


def _written(option: str, value: str) -> tuple[str, ...]:
    if option.startswith("--"):
        return (f"{option}={value}" if value else option,)
    return (option, value) if value else (option,)


def _pkexec(shell: "Interpreter", call: Call) -> Call | None:
    pairs, position = options.PKEXEC.read(call.argv)
    inner = _as_user(call, dict(pairs).get("--user") or "root", keep=False, login="--keep-cwd" not in dict(pairs))
    return inner.with_argv(call.argv[position:])


def _sg(shell: "Interpreter", call: Call) -> Call | None:
    """sg [-] GROUP [-c] TEXT: the same account."""
    words = [word for word in call.argv[1:] if word not in ("-", "-c")]
    return call.with_argv(("sh", "-c", words[1]) if len(words) > 1 else ("sh",))


def _capsh(shell: "Interpreter", call: Call) -> Call | None:
    """capsh --user=USER -- -c TEXT: what follows goes to a shell."""
    pairs, position = options.CAPSH.read(call.argv)
    user = dict(pairs).get("--user") or dict(pairs).get("--uid")
    inner = _as_user(call, user, keep=True, login=False) if user else call
    return inner.with_argv(("bash", *call.argv[position:]))


def _daemon(syntax: Options, folder: tuple[str, ...]) -> Callable[..., Call | None]:
    """A program that sends another into the background; one argument with blanks is a shell's text."""

    def handed_on(shell: "Interpreter", call: Call) -> Call | None:
        pairs, position = syntax.read(call.argv)
        given = dict(pairs)
        user = given.get("-u") or given.get("--user")
        cwd = next((given[name] for name in folder if given.get(name)), None)
        rest = call.argv[position:]
        inner = _as_user(call, user, keep=True, login=False) if user else call
        inner = replace(inner, cwd=join_path(call.cwd, cwd) if cwd else inner.cwd)
        return inner.with_argv(("sh", "-c", rest[0]) if len(rest) == 1 and " " in rest[0] else rest)

    return handed_on


def _start_stop_daemon(shell: "Interpreter", call: Call) -> Call | None:
    """Debian's and OpenRC's: `--user` is the account only of the latter, where there is no `--chuid`."""
    pairs, position = options.START_STOP_DAEMON.read(call.argv)
    given = dict(pairs)
    program = given.get("-a") or given.get("--startas") or given.get("-x") or given.get("--exec")
    if program is None or not ({"-S", "--start"} & given.keys()):
        return call.with_argv(())
    user = next((given[name] for name in ("-c", "--chuid", "-u", "--user") if given.get(name)), None)
    cwd = given.get("-d") or given.get("--chdir") or call.cwd
    inner = _as_user(call, user, keep=True, login=False) if user else call
    inner = replace(inner, argv=tuple(v for o, v in pairs if o in ("-e", "--env") and "=" in v))
    inner = with_assignments(inner, 0, shell.origin(call.line))
    return replace(inner, argv=(program, *call.argv[position:]), cwd=cwd)


def _chroot(shell: "Interpreter", call: Call) -> Call | None:
    pairs, position = options.CHROOT.read(call.argv)
    user = dict(pairs).get("--userspec")
    inner = _as_user(call, user, keep=True, login=False) if user else call
    return inner.with_argv(call.argv[position + options.CHROOT.positional :])


ACCOUNTS: Mapping[str, Callable[["Interpreter", Call], Call | None]] = {
    "sudo": _sudo,
    "doas": _doas,
    "su": _su,
    "runuser": _su,
    **dict.fromkeys(("gosu", "su-exec", "setuidgid", "s6-setuidgid"), _gosu),
    "setpriv": _limiting(options.SETPRIV, options.SETPRIV_ACCOUNT, ("--reuid", "--euid")),
    "chpst": _limiting(options.CHPST, frozenset(("-u", "-U", "-C")), ("-u",)),
    "pkexec": _pkexec,
    "sg": _sg,
    "capsh": _capsh,
    "daemonize": _daemon(options.DAEMONIZE, ("-c",)),
    "daemon": _daemon(options.DAEMON, ("-D", "--chdir")),
    "start-stop-daemon": _start_stop_daemon,
    "chroot": _chroot,
}
