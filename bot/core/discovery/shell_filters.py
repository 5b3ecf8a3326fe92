"""Filters over text that is known: tr, cut, wc, head, tail, sort, uniq, rev, grep, and what is simple of sed and awk.
What they cannot tell without running stays unknown."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from bot.core.discovery.posix_patterns import Pattern, posix_pattern, run_sed
from bot.core.discovery.program_options import Options
from bot.core.discovery.shell_files import readable_file
from bot.core.discovery.shell_state import has_unknown
from bot.core.discovery.shell_syntax import Simple
from bot.core.discovery.shell_tests import LIKELY, Status

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter

#: lines in, lines out; None where the options are more than is known here
Filter = Callable[[list[str], Sequence[str]], list[str] | None]
_TEXT_LIMIT = 20_000
_CLASSES = {
    "[:space:]": " \t\n",
    "[:blank:]": " \t",
    "[:digit:]": "0123456789",
    "[:punct:]": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
}
_LOWER, _UPPER = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_AWK_PRINT = re.compile(r"\s*\{\s*print\s+\$(NF|\d+)\s*;?\s*\}\s*")
#: programs that read files too, and the options of theirs that take a value
_SED = Options(frozenset(("-e", "--expression", "-f")))
_GREP = Options(frozenset(("-e", "-f", "-m", "-A", "-B", "-C")))
_OF_FILES = frozenset(("sed", "grep", "egrep", "cut", "head", "tail", "sort", "uniq", "awk", "gawk"))


def run_filter(shell: "Interpreter", words: list[str], node: Simple) -> Status | None:
    """A filter on known input; None where it must be looked at as any program."""
    arguments = words[1:]
    lines = shell.stdin
    if len(arguments) > 1 and words[0] in _OF_FILES:
        file = readable_file(shell, arguments[-1])
        if file is not None:
            lines, arguments = file.text.splitlines(), arguments[:-1]
            if file.path:
                shell.scope.add_source(file.kind, file.path)
    if lines is None or has_unknown("".join(lines)) or sum(map(len, lines)) > _TEXT_LIMIT:
        return None
    result = FILTERS[words[0]](list(lines), arguments)
    if result is None:
        return None
    shell.write("".join(line + "\n" for line in result))
    return LIKELY


def _set(text: str) -> str | None:
    """The characters of a set of tr."""
    for name, characters in {**_CLASSES, "[:lower:]": _LOWER, "[:upper:]": _UPPER}.items():
        text = text.replace(name, characters)
    text = text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
    ranges = re.sub(r"([0-9A-Za-z])-([0-9A-Za-z])", lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))), text)
    return ranges or None


def _tr(lines: list[str], arguments: Sequence[str]) -> list[str] | None:
    options = "".join(word[1:] for word in arguments if re.fullmatch(r"-[cCdst]+", word))
    sets = [_set(word) for word in arguments if not re.fullmatch(r"-[cCdst]+", word)]
    if not sets or None in sets:
        return None
    text = "".join(line + "\n" for line in lines)
    first, second = sets[0] or "", (sets[1] if len(sets) > 1 else "") or ""
    if "d" in options:
        kept = "c" in options.lower()
        return "".join(char for char in text if (char in first) == kept).splitlines()
    if "c" in options.lower() or (not second and "s" not in options):
        return None
    if second:
        text = text.translate({ord(a): second[min(i, len(second) - 1)] for i, a in reversed(list(enumerate(first)))})
    if "s" in options:
        text = re.sub(f"([{re.escape(second or first)}])\\1+", r"\1", text)
    return text.splitlines()


def _wc(lines: list[str], arguments: Sequence[str]) -> list[str] | None:
    text = "".join(line + "\n" for line in lines)
    counts = {"-l": len(lines), "-w": len(text.split()), "-c": len(text.encode()), "-m": len(text)}
    return [str(counts[arguments[0]])] if len(arguments) == 1 and arguments[0] in counts else None


def _cut(lines: list[str], arguments: Sequence[str]) -> list[str] | None:
    given = dict(re.findall(r"(?:^|\0)-([dfc])\0?([^\0]*)", "\0".join(arguments)))
    wanted = re.fullmatch(r"(\d+)?(-)?(\d+)?", given.get("f") or given.get("c") or "x")
    if wanted is None or not (wanted[1] or wanted[3]) or ("d" in given and len(given["d"]) != 1):
        return None
    start = int(wanted[1] or 1) - 1
    end = int(wanted[3]) if wanted[3] else (None if wanted[2] else start + 1)
    if "c" in given:
        return [line[start:end] for line in lines]
    delimiter = given.get("d", "\t")
    return [delimiter.join(line.split(delimiter)[start:end]) if delimiter in line else line for line in lines]


def _head(lines: list[str], arguments: Sequence[str]) -> list[str] | None:
    count = _count(arguments)
    return None if count is None else lines[: max(int(count), 0)]


def _tail(lines: list[str], arguments: Sequence[str]) -> list[str] | None:
    count = _count(arguments)
    if count is None:
        return None
    return lines[int(count) - 1 :] if count.startswith("+") else lines[-int(count) :]


def _count(arguments: Sequence[str]) -> str | None:
    if not arguments:
        return "10"
    match = re.fullmatch(r"-n?\0?(\+?[1-9]\d{0,5})", "\0".join(arguments))
    return match[1] if match else None


def _sort(lines: list[str], arguments: Sequence[str]) -> list[str] | None:
    options = "".join(word[1:] for word in arguments if word.startswith("-"))
    if not set(options) <= set("unrV") or len([word for word in arguments if not word.startswith("-")]):
        return None
    numbers = all(re.fullmatch(r"-?\d+", line) for line in lines)
    if "n" in options and not numbers:
        return None
    ordered = sorted(lines, key=(lambda line: (int(line), line)) if "n" in options else (lambda line: (0, line)))
    ordered = ordered[::-1] if "r" in options else ordered
    return list(dict.fromkeys(ordered)) if "u" in options else ordered


def _uniq(lines: list[str], arguments: Sequence[str]) -> list[str] | None:
    return (
        None if arguments else [line for number, line in enumerate(lines) if number == 0 or line != lines[number - 1]]
    )


def _rev(lines: list[str], arguments: Sequence[str]) -> list[str] | None:
    return None if arguments else [line[::-1] for line in lines]


def _sed(lines: list[str], arguments: Sequence[str]) -> list[str] | None:
    pairs, position = _SED.read(arguments, 0)
    given = dict(pairs)
    if not set(given) <= {"-e", "--expression", "-E", "-r", "-n", "--quiet", "--regexp-extended"}:
        return None
    programs = [value for option, value in pairs if option in ("-e", "--expression")]
    rest = list(arguments[position:])
    if not programs:
        programs, rest = rest[:1], rest[1:]
    extended = bool({"-E", "-r", "--regexp-extended"} & given.keys())
    return None if rest else run_sed(lines, programs, extended=extended, quiet=bool({"-n", "--quiet"} & given.keys()))


def _grep(lines: list[str], arguments: Sequence[str]) -> list[str] | None:
    pairs, position = _GREP.read(arguments, 0)
    letters = {option for option, _ in pairs}
    rest = list(arguments[position:])
    patterns = [value for option, value in pairs if option == "-e"] or [rest.pop(0)] if rest or pairs else []
    if rest or not patterns or not letters <= {"-v", "-E", "-i", "-e", "-F", "-o", "-P", "-h", "-m"}:
        return None
    found: list[Pattern] = []
    for text in patterns:
        wanted = re.sub(r"([\\.*\[\]^$])", r"\\\1", text) if "-F" in letters else text
        pattern = posix_pattern(wanted, extended=bool({"-E", "-P"} & letters), ignore_case="-i" in letters)
        if pattern is None or not pattern.bearable(lines):
            return None
        found.append(pattern)
    if "-o" in letters:
        return [match[0] for line in lines for match in found[0].compiled.finditer(line) if match[0]]
    most = int(next((value for option, value in pairs if option == "-m" and value.isdigit()), len(lines)))
    return [line for line in lines if any(one.compiled.search(line) for one in found) != ("-v" in letters)][:most]


def _awk(lines: list[str], arguments: Sequence[str]) -> list[str] | None:
    """{print $N}, with -F for one character."""
    match = re.fullmatch(r"(?:-F\0?(.)\0)?([^\0]*)", "\0".join(arguments))
    wanted = _AWK_PRINT.fullmatch(match[2]) if match else None
    if match is None or wanted is None:
        return None
    out: list[str] = []
    for line in lines:
        fields = line.split(match[1] if match[1] and match[1] != " " else None)
        number = len(fields) if wanted[1] == "NF" else int(wanted[1])
        out.append(line if number == 0 else fields[number - 1] if number <= len(fields) else "")
    return out


def _string(lines: list[str], arguments: Sequence[str]) -> list[str] | None:
    """fish's string: join, lower, upper."""
    match list(arguments):
        case ["join", separator]:
            return [separator.join(lines)]
        case ["lower"]:
            return [line.lower() for line in lines]
        case ["upper"]:
            return [line.upper() for line in lines]
        case _:
            return None


FILTERS: Mapping[str, Filter] = {
    "tr": _tr,
    "wc": _wc,
    "cut": _cut,
    "head": _head,
    "tail": _tail,
    "sort": _sort,
    "uniq": _uniq,
    "rev": _rev,
    "sed": _sed,
    "string": _string,
    "grep": _grep,
    "egrep": lambda lines, arguments: _grep(lines, ["-E", *arguments]),
    "awk": _awk,
    "gawk": _awk,
}
