"""journalctl: units of the system's and the user's manager, cursors, following, the output forms in use."""

import json
import select
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from . import journal
from .journal import Entry
from .view import complain

_FLAGS = {
    "-q",
    "--quiet",
    "--no-pager",
    "-a",
    "--all",
    "-b",
    "--boot",
    "--no-hostname",
    "--utc",
    "-m",
    "--merge",
    "-x",
    "--catalog",
}
_VALUES = {
    "-n": "--lines",
    "-u": "--unit",
    "-o": "--output",
    "-S": "--since",
    "-U": "--until",
    "-c": "--cursor",
    "-p": "--priority",
    "-t": "--identifier",
    "-g": "--grep",
}
_FOLLOW_S = 0.1


@dataclass
class Asked:
    """What was asked for."""

    units: list[tuple[str, str]] = field(default_factory=list)
    user: bool = False
    system: bool = False
    output: str = "short"
    lines: int | None = None
    follow: bool = False
    show_cursor: bool = False
    after: str = ""
    at: str = ""
    cursor_file: str = ""
    since_us: int = 0
    until_us: int = 0
    reverse: bool = False
    kernel: bool = False
    no_tail: bool = False
    fields: list[str] = field(default_factory=list)
    matches: dict[str, str] = field(default_factory=dict)


def main(arguments: list[str]) -> int:
    """Run with these arguments."""
    asked = _read(list(arguments))
    if isinstance(asked, str):
        return complain(asked, 1)
    if asked.kernel:
        return 0
    if asked.cursor_file and Path(asked.cursor_file).exists():
        asked.after = Path(asked.cursor_file).read_text(encoding="utf-8").strip() or asked.after
    scopes = ["user"] if asked.user or any(s == "user" for s, _ in asked.units) else ["system"]
    if not asked.user and not asked.system and not asked.units:
        scopes = ["system", "user"]
    try:
        return _show(asked, scopes)
    except ValueError:
        return complain("Failed to seek to cursor: Invalid argument", 1)
    except BrokenPipeError:
        return 0


def _read(words: list[str]) -> Asked | str:
    asked = Asked()
    user_manager = False
    plain_units: list[str] = []
    while words:
        word = words.pop(0)
        if word.startswith("-") and not word.startswith("--") and len(word) > 2:
            # -n5, -fu unit
            if word[:2] in _VALUES:
                words.insert(0, word[2:])
                word = word[:2]
            else:
                words[:0] = ["-" + letter for letter in word[1:]]
                continue
        name, equals, value = word.partition("=")
        name = _VALUES.get(name, name)
        if name == "--user":
            user_manager = True
        elif name == "--system":
            asked.system = True
        elif name in ("-f", "--follow"):
            asked.follow = True
        elif name == "--show-cursor":
            asked.show_cursor = True
        elif name in ("-r", "--reverse"):
            asked.reverse = True
        elif name in ("-k", "--dmesg"):
            asked.kernel = True
        elif name == "--no-tail":
            asked.no_tail = True
        elif name in ("-e", "--pager-end"):
            asked.lines = asked.lines or 1000
        elif name in _FLAGS:
            if name in ("-b", "--boot") and words and words[0].lstrip("-").isdigit():
                words.pop(0)
        elif name.startswith("--"):
            if not equals:
                if name == "--lines" and not (words and (words[0].isdigit() or words[0] == "all")):
                    asked.lines = 10
                    continue
                if not words:
                    return f"journalctl: option '{name}' requires an argument"
                value = words.pop(0)
            problem = _set(asked, name, value, plain_units)
            if problem:
                return problem
        elif "=" in word:
            asked.matches[name] = value
        elif name in ("-n", "-u"):
            return f"journalctl: option requires an argument -- '{name[1:]}'"
        else:
            return f"Failed to add match '{word}': Invalid argument"
    asked.user = user_manager
    asked.units += [("user" if user_manager else "system", u) for u in plain_units]
    return asked


def _set(asked: Asked, name: str, value: str, plain_units: list[str]) -> str:
    unit = value if "." in value else value + ".service"
    if name == "--unit":
        plain_units.append(unit)
    elif name == "--user-unit":
        asked.units.append(("user", unit))
    elif name == "--output":
        asked.output = value
    elif name == "--lines":
        asked.lines = None if value.lstrip("+") == "all" else int(value.lstrip("+"))
    elif name == "--after-cursor":
        asked.after = value
    elif name == "--cursor":
        asked.at = value
    elif name == "--cursor-file":
        asked.cursor_file, asked.show_cursor = value, asked.show_cursor
    elif name == "--since":
        asked.since_us = _time(value)
    elif name == "--until":
        asked.until_us = _time(value)
    elif name == "--output-fields":
        asked.fields = value.split(",")
    elif name in ("--priority", "--identifier", "--grep", "--facility", "--directory", "--namespace", "--invocation"):
        if name == "--invocation":
            asked.matches["_SYSTEMD_INVOCATION_ID"] = value
    else:
        return f"journalctl: unrecognized option '{name}'"
    return ""


def _time(text: str) -> int:
    if text.startswith("@"):
        return int(float(text[1:]) * 1e6)
    if text.startswith("-"):
        units = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "hour": 3600, "d": 86400}
        digits = "".join(c for c in text[1:] if c.isdigit() or c == ".")
        unit = text[1 + len(digits) :].strip() or "s"
        return int((time.time() - float(digits) * units.get(unit, units.get(unit.rstrip("s"), 1))) * 1e6)
    if text in ("today", "now"):
        day = time.time() if text == "now" else time.time() // 86400 * 86400
        return int(day * 1e6)
    return int(datetime.fromisoformat(text).timestamp() * 1e6)


def _wanted(asked: Asked, entry: Entry) -> bool:
    if asked.since_us and entry.at_us < asked.since_us:
        return False
    if asked.until_us and entry.at_us > asked.until_us:
        return False
    if any(entry.fields.get(k) != v for k, v in asked.matches.items()):
        return False
    if not asked.units:
        return True
    names = {u for _, u in asked.units}
    keys = ("_SYSTEMD_USER_UNIT", "USER_UNIT", "_SYSTEMD_UNIT", "UNIT")
    return any(entry.fields.get(k) in names for k in keys)


def _show(asked: Asked, scopes: list[str]) -> int:
    start = journal.cursor_offset(asked.after or asked.at) if asked.after or asked.at else 0
    chosen: list[Entry] = []
    ends = dict.fromkeys(scopes, start)
    for scope in scopes:
        for entry, end in journal.entries(scope, start):
            ends[scope] = end
            if _wanted(asked, entry):
                chosen.append(entry)
    chosen.sort(key=lambda e: e.at_us)
    limit = 10 if asked.lines is None and asked.follow and not asked.no_tail and not asked.after else asked.lines
    if limit is not None:
        chosen = chosen[-limit:] if limit else []
    if asked.reverse:
        chosen.reverse()
    for entry in chosen:
        _print(asked, entry)
    if not chosen and not asked.follow and asked.output.startswith("short"):
        print("-- No entries --")
    last = chosen[-1].cursor if chosen else asked.after
    if not chosen and not asked.after:
        everything = [e for s in scopes for e, _ in journal.entries(s)]
        last = everything[-1].cursor if everything else ""
    if asked.show_cursor and last:
        print(f"-- cursor: {last}")
    if asked.cursor_file and last:
        Path(asked.cursor_file).write_text(last + "\n", encoding="utf-8")
    sys.stdout.flush()
    if asked.follow:
        _follow(asked, ends)
    return 0


def _follow(asked: Asked, ends: dict[str, int]) -> None:
    gone = select.poll()
    gone.register(sys.stdout.fileno(), select.POLLERR | select.POLLHUP)
    while not gone.poll(int(_FOLLOW_S * 1000)):
        for scope in ends:
            for entry, end in journal.entries(scope, ends[scope]):
                ends[scope] = end
                if _wanted(asked, entry):
                    _print(asked, entry)
        sys.stdout.flush()


def _print(asked: Asked, entry: Entry) -> None:
    if asked.output.startswith("json"):
        content = entry.as_json()
        if asked.fields:
            kept = {"__CURSOR", "__REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP", "_BOOT_ID", *asked.fields}
            content = {k: v for k, v in content.items() if k in kept}
        print(json.dumps(content))
        return
    text = entry.printable()
    shown = text if text is not None else f"[{_size(len(entry.message))} blob data]"
    if asked.output == "cat":
        print(shown)
        return
    at = datetime.fromtimestamp(entry.at_us / 1e6).astimezone()
    stamp = {
        "short": at.strftime("%b %d %H:%M:%S"),
        "short-precise": at.strftime("%b %d %H:%M:%S.%f"),
        "short-iso": at.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "short-iso-precise": at.strftime("%Y-%m-%dT%H:%M:%S.%f%z"),
        "short-unix": f"{entry.at_us / 1e6:.6f}",
    }.get(asked.output, at.strftime("%b %d %H:%M:%S"))
    content = entry.as_json()
    who = f"{content.get('SYSLOG_IDENTIFIER', '-')}[{content.get('_PID', '-')}]"
    lines = shown.split("\n")
    indent = " " * (len(stamp) + len(content["_HOSTNAME"]) + len(who) + 4)
    print(f"{stamp} {content['_HOSTNAME']} {who}: " + f"\n{indent}".join(lines))


def _size(count: int) -> str:
    return f"{count}B" if count < 1024 else f"{count / 1024:.1f}K"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
