"""Filters that templates may use: they format values and decide nothing. None is shown as "unknown", never as zero."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from jinja2 import Undefined
from markupsafe import Markup

from bot.core.domain.container import Container, run_words
from bot.core.domain.records import from_json
from bot.core.rendering import spans
from bot.core.rendering.clean import clean, cut, one_line, units

UNKNOWN = "unknown"
_USER_ID = re.compile(r"[UW][A-Z0-9]{2,20}")
_URL = re.compile(r"https?://[^\s<>|]+")
_MIB = 1024**2
_SECRET = "<secret>"
#: words of a command that are shown
MAX_WORDS = 600


def finalize(value: object) -> Markup:
    """Everything that a template prints passes here: its own words stay, all else becomes foreign text."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, Undefined):
        return Markup(str(value))
    if value is None:
        value = UNKNOWN
    return Markup(spans.foreign(value))


def long(value: object) -> Markup:
    """A value that may take up to 1,500 characters in a sentence."""
    return Markup(spans.foreign(UNKNOWN if value is None else value, spans.LONG_LIMIT))


def code(value: object) -> Markup:
    """A value in code style."""
    return Markup("`") + finalize(value) + Markup("`")


def user(value: object) -> Markup:
    """Mention of a Slack user id; anything else ("cli:ana") as it is."""
    if isinstance(value, str) and _USER_ID.fullmatch(value):
        return Markup(spans.user(value))
    return finalize(value)


def link(label: object, url: object) -> Markup:
    """The label as a link, when `url` is an http address."""
    if isinstance(url, str) and _URL.fullmatch(url) and len(url) < 2000:
        return Markup(spans.link(url, cut(str(label), 200)))
    return finalize(label)


def when(value: object) -> Markup:
    """Day and time of an ISO 8601 text or Unix seconds, in the reader's own time zone."""
    return _date(value, "{date_short_pretty} {time}", "%Y-%m-%d %H:%M UTC")


def clock(value: object) -> Markup:
    """Time of day only."""
    return _date(value, "{time}", "%H:%M UTC")


def ago(value: object) -> Markup:
    """How long ago, kept up to date by Slack."""
    return _date(value, "{ago}", "on %Y-%m-%d %H:%M UTC")


def _date(value: object, pattern: str, fallback: str) -> Markup:
    moment = _moment(value)
    if moment is None:
        return finalize(value)
    return Markup(spans.date(int(moment.timestamp()), pattern, moment.strftime(fallback)))


def _moment(value: object) -> datetime | None:
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def duration(seconds: object) -> str:
    """Seconds as "0.4 s", "48 s", "4 min 51 s", "3 h 2 min" or "5 d 3 h"."""
    if not _is_number(seconds):
        return _other(seconds)
    value = max(float(seconds), 0.0)  # type: ignore[arg-type]  # _is_number has looked
    if value < 9.95:
        return f"{value:.1f}".removesuffix(".0") + " s"
    whole = round(value)
    for size, name, next_size, next_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // next_size
            return f"{whole // size} {name}" + (f" {rest} {next_name}" if rest else "")
    return f"{whole} s"


def milliseconds(value: object) -> str:
    """Milliseconds as "182 ms" or "2.3 s"."""
    if not _is_number(value):
        return _other(value)
    number = float(value)  # type: ignore[arg-type]  # _is_number has looked
    return f"{number:.1f} ms" if number < 10 else f"{number:.0f} ms" if number < 1000 else f"{number / 1000:.1f} s"


def size(value: object) -> str:
    """Bytes as "12.4 GiB"."""
    if not _is_number(value):
        return _other(value)
    number = float(value)  # type: ignore[arg-type]  # _is_number has looked
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(number) < 1024:
            return f"{number:.0f} {unit}" if unit in ("B", "KiB") else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} TiB"


def mib(value: object) -> str:
    """MiB as "46.1 GiB"."""
    return size(float(value) * _MIB) if _is_number(value) else _other(value)  # type: ignore[arg-type]  # looked at


def tok_s(value: object) -> str:
    """Tokens per second."""
    if not _is_number(value):
        return _other(value)
    number = float(value)  # type: ignore[arg-type]  # _is_number has looked
    return f"{number:.1f} tok/s" if number < 100 else f"{number:,.0f} tok/s"


def number(value: object, digits: int = 0) -> str:
    """A number with thousands separators and fixed decimals."""
    return f"{float(value):,.{digits}f}" if _is_number(value) else _other(value)  # type: ignore[arg-type]  # looked at


def percent(fraction: object) -> str:
    """A fraction of 1 as "45 %"."""
    return f"{float(fraction) * 100:.0f} %" if _is_number(fraction) else _other(fraction)  # type: ignore[arg-type]


def change(value: object) -> str:
    """Per cent with its sign: "+4.2 %", "-12 %"."""
    if not _is_number(value):
        return _other(value)
    number_ = float(value)  # type: ignore[arg-type]  # _is_number has looked
    return f"{number_:+.1f} %" if abs(number_) < 10 else f"{number_:+.0f} %"


def plural(count: object, noun: str, many: str | None = None) -> str:
    """ "1 server", "3 servers"."""
    if not _is_number(count):
        return f"{_other(count)} {many or noun + 's'}"
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def bar(fraction: object, width: int = 12) -> str:
    """Progress as "▓▓▓▓▓▓░░░░░░"; unknown progress is an empty bar."""
    share = min(max(float(fraction), 0.0), 1.0) if _is_number(fraction) else 0.0  # type: ignore[arg-type]  # looked at
    full = int(share * width + 0.5)
    return "▓" * full + "░" * (width - full)


def table(rows: Sequence[Sequence[object]]) -> str:
    """Rows as aligned columns of text, numbers to the right. The first row is the heading."""
    texts = [[cut(one_line(UNKNOWN if cell is None else str(cell)), 60) for cell in row] for row in rows]
    columns = max((len(row) for row in texts), default=0)
    widths = [max((units(row[c]) for row in texts if c < len(row)), default=0) for c in range(columns)]
    lines = [
        "  ".join(
            _pad(cell, widths[c], left=c == 0 or not _starts_with_digit(texts[-1], c)) for c, cell in enumerate(row)
        )
        for row in texts
    ]
    return "\n".join(line.rstrip() for line in lines)


def _pad(text: str, width: int, *, left: bool) -> str:
    fill = " " * (width - units(text))
    return text + fill if left else fill + text


def _starts_with_digit(row: Sequence[str], column: int) -> bool:
    return column < len(row) and row[column][:1] in set("0123456789+-.")


def command_line(argv: Sequence[object] | str) -> str:
    """A command as people paste it: one flag with its values a line, continued by backslashes."""
    if isinstance(argv, str):
        return argv
    lines: list[list[str]] = []
    for word in map(_quoted, map(str, argv[:MAX_WORDS])):
        # the program stands alone; what follows belongs to the flag before it
        if word.startswith("-") or len(lines) < 2:
            lines.append([word])
        else:
            lines[-1].append(word)
    if len(argv) > MAX_WORDS:
        lines.append([f"… {len(argv) - MAX_WORDS} more"])
    return " \\\n  ".join(" ".join(line) for line in lines)


def shell_text(launch: Mapping[str, Any]) -> str:
    """A plan or revision as shell text: directory, environment, wrappers, command. To read, never to run."""
    if launch.get("container"):
        return _container_text(launch)
    lines = [f"cd {_quoted(launch['cwd'])} &&"] if launch.get("cwd") else []
    lines += [f"{name}={_quoted(_word(value))}" for name, value in launch.get("env") or ()]
    lines += list(launch.get("wrappers") or ())
    return " \\\n".join([*lines, command_line([_word(word) for word in launch["argv"]])]).replace("&& \\\n", "&&\n")


def _word(value: object) -> str:
    """A word, or "<secret>" for where one lives."""
    return _SECRET if isinstance(value, Mapping) else str(value)


def _container_text(launch: Mapping[str, Any]) -> str:
    """The `docker run` of a plan, exactly, or of a revision: an option a line, then the image and the words inside.
    Secrets come from a file on the host."""
    env = [(str(name), _word(value)) for name, value in launch.get("env") or ()]
    plain = [(name, value) for name, value in env if value != _SECRET]
    name = next((str(step["unit"]) for step in launch.get("steps") or () if step.get("kind") == "start"), "")
    container = from_json(Container, launch["container"])
    words = run_words(
        container,
        [_word(word) for word in launch["argv"]],
        name=name,
        operation=name.rpartition("-")[2],
        config=launch.get("config"),
        env=plain,
        secrets=len(plain) < len(env),
        cwd=launch.get("cwd"),
        user=launch.get("user"),
        wrappers=launch.get("wrappers") or (),
    )
    image = next((at for at, word in enumerate(words) if at > 1 and not word.startswith("-")), len(words))
    options = [f"  {_quoted(word)}" for word in words[2:image]]
    return " \\\n".join([" ".join(words[:2]), *options, "  " + command_line(words[image:])])


def level_table(levels: Sequence[Mapping[str, Any]]) -> str:
    """Levels of a measurement (domain.Level) as a table that fits a phone."""
    rows: list[list[object]] = [["streams", "tok/s", "each", "TTFT", "p95"]]
    for level in levels:
        rows.append(
            [
                level["concurrency"],
                number(level["aggregate_tok_s"], 1),
                number(level["decode_tok_s"], 1),
                milliseconds(level["ttft_ms_p50"]),
                milliseconds(level["ttft_ms_p95"]),
            ]
        )
    return table(rows)


def numbered(lines: Sequence[Mapping[str, Any]]) -> str:
    """Evidence lines with their line numbers, each cut to 400 characters."""
    return "\n".join(f"{line['number']}: {cut(clean(str(line['text'])), 400)}" for line in lines)


def _quoted(word: str) -> str:
    if word == _SECRET or (word and re.fullmatch(r"(?!~)[A-Za-z0-9_@%+=:,./~-]+", word)):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _is_number(value: object) -> bool:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and value == value
        and abs(value) != float("inf")
    )


def _other(value: object) -> str:
    """Not a number: unknown, or the text that stands there."""
    if isinstance(value, Undefined):
        return str(value)
    return value if isinstance(value, str) and value else UNKNOWN


#: by the name that templates use
FILTERS: Mapping[str, Callable[..., Any]] = {
    "foreign": finalize,
    "long": long,
    "code": code,
    "user": user,
    "link": link,
    "when": when,
    "clock": clock,
    "ago": ago,
    "duration": duration,
    "ms": milliseconds,
    "bytes": size,
    "mib": mib,
    "tok_s": tok_s,
    "number": number,
    "percent": percent,
    "change": change,
    "plural": plural,
    "bar": bar,
    "table": table,
    "command_line": command_line,
    "shell_text": shell_text,
    "numbered": numbered,
    "level_table": level_table,
}
