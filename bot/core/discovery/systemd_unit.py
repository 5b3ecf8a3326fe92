"""systemd's syntax as its own parser reads it: unit files, command lines, environment files, specifiers."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_WHITESPACE = " \t\n\r"
_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"', "'": "'",
    "s": " ",
}  # fmt: skip
_CODED = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})")
_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Setting:
    """One assignment of a unit file."""

    section: str
    key: str
    value: str = field(repr=False)


def parse_unit(text: str) -> list[Setting]:
    """The assignments of a unit file, in order. Comment lines vanish even inside a continued line."""
    found: list[Setting] = []
    section = ""
    for line in _logical_lines(text):
        stripped = line.strip()
        header = re.fullmatch(r"\[([^\]]+)\]", stripped)
        if header:
            section = header[1]
            continue
        key, equals, value = stripped.partition("=")
        if equals and section:
            found.append(Setting(section, key.strip(), value.strip()))
    return found


def _logical_lines(text: str) -> list[str]:
    lines: list[str] = []
    pending = ""
    for raw in text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"):
        if raw.lstrip()[:1] in ("#", ";") and raw.strip():
            continue
        trailing = len(raw) - len(raw.rstrip("\\"))
        if trailing % 2:
            pending += raw[:-1] + " "
            continue
        lines.append(pending + raw)
        pending = ""
    if pending:
        lines.append(pending)
    return lines


def split_words(text: str) -> list[str]:
    """Words of a setting: both kinds of quotes anywhere, C escapes also inside quotes; unknown escapes stay."""
    words: list[str] = []
    current: list[str] | None = None
    quote = ""
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        if char == "\\" and position < len(text):
            escaped, position = _unescape(text, position)
            current = _append(current, escaped)
        elif quote:
            if char == quote:
                quote = ""
            else:
                current = _append(current, char)
        elif char in "'\"":
            quote = char
            current = current if current is not None else []
        elif char in _WHITESPACE:
            if current is not None:
                words.append("".join(current))
            current = None
        else:
            current = _append(current, char)
    if current is not None:
        words.append("".join(current))
    return words


def _append(current: list[str] | None, text: str) -> list[str]:
    if current is None:
        return [text]
    current.append(text)
    return current


def _unescape(text: str, position: int) -> tuple[str, int]:
    char = text[position]
    coded = _CODED.match(text, position)
    if coded:
        code = int(coded[4], 8) if coded[4] else int(coded[1] or coded[2] or coded[3], 16)
        return (chr(code) if 0 < code < 0x110000 else "�"), coded.end()
    return _ESCAPES.get(char, "\\" + char), position + 1


def split_variable(text: str) -> list[str]:
    """Words of a variable that stands alone on a command line. Quotes group where they open a word."""
    return [
        match[1] if match[1] is not None else match[2] if match[2] is not None else match[0]
        for match in re.finditer(r"\"([^\"]*)\"(?=\s|$)|'([^']*)'(?=\s|$)|\S+", text)
    ]


def expand_command(words: list[str], look_up: Callable[[str], str | None]) -> list[str]:
    """A command line with its variables: `$X` as a whole word splits, `${X}` does not, `$$` is a dollar sign. The
    program's own name is not expanded; a `$X` inside a longer word is left to the program."""
    expanded: list[str] = words[:1]
    for word in words[1:]:
        if word.startswith("$") and _NAME.fullmatch(word[1:]):
            expanded.extend(split_variable(look_up(word[1:]) or ""))
        else:
            expanded.append(_VARIABLE.sub(lambda match: "$" if match[0] == "$$" else look_up(match[1]) or "", word))
    return expanded


def parse_environment(text: str, specifiers: Callable[[str], str]) -> dict[str, str]:
    """`Environment=`: words NAME=value. No variables are expanded."""
    found: dict[str, str] = {}
    for word in split_words(text):
        name, equals, value = specifiers(word).partition("=")
        if equals and _NAME.fullmatch(name):
            found[name] = value
    return found


def parse_environment_file(text: str) -> dict[str, str]:
    """`EnvironmentFile=`: NAME=value lines, `#` and `;` comments, quotes, backslash continuation; nothing expands."""
    found: dict[str, str] = {}
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    position = 0
    while position < len(text):
        match = re.compile(r"[ \t\n]*(?:[#;](?:\\\n|[^\n])*)?").match(text, position)
        position = match.end() if match else position
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        equals = text.find("=", position, end)
        if equals < 0:
            position = end + 1
            continue
        name = text[position:equals].strip()
        value, position = _file_value(text, equals + 1)
        if _NAME.fullmatch(name):
            found[name] = value
    return found


def _file_value(text: str, position: int) -> tuple[str, int]:
    """(value, position behind its line). Quotes count where the value starts with one, as in systemd's reader."""
    out: list[str] = []
    quote = ""
    solid = 0
    while position < len(text) and text[position] in " \t":
        position += 1
    while position < len(text):
        char = text[position]
        position += 1
        if char == "\n" and not quote:
            break
        if char == "\\" and quote != "'":
            following = text[position : position + 1]
            position += 1
            if following != "\n":
                keeps = quote == '"' and following not in ('"', "\\", "`", "$")
                out.append("\\" + following if keeps else following)
            solid = len(out)
        elif char == quote:
            quote = ""
        elif char in "'\"" and not quote and (not out or text[position - 2] in "'\""):
            quote = char
            solid = len(out)
        else:
            out.append(char)
            if quote or char not in " \t":
                solid = len(out)
    return "".join(out[:solid]), position


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitName:
    """A unit's name in its parts. `user_home`: home of the user whose manager runs it, None for the system's."""

    name: str
    user_manager: bool = False
    user_home: str | None = None
    user: str | None = None
    path: str = ""

    @property
    def stem(self) -> str:
        """Without the type."""
        return self.name.rpartition(".")[0] or self.name

    @property
    def prefix(self) -> str:
        """Before the "@"."""
        return self.stem.partition("@")[0]

    @property
    def instance(self) -> str | None:
        """Behind the "@"; None where there is none, "" for a template."""
        return self.stem.partition("@")[2] if "@" in self.stem else None

    @property
    def template(self) -> str:
        """Name of the template that an instance comes from, or the name itself."""
        if self.instance is None:
            return self.name
        return f"{self.prefix}@.{self.name.rpartition('.')[2]}"

    def specifiers(self) -> Callable[[str], str]:
        """Replaces %-specifiers; those that only the host knows are left as they are."""
        table = self._table()

        def replaced(text: str) -> str:
            return re.sub(r"%(.)", lambda match: table.get(match[1], match[0]), text, flags=re.DOTALL)

        return replaced

    def _table(self) -> Mapping[str, str]:
        instance = self.instance or ""
        home = self.user_home
        table = {
            "%": "%",
            "n": self.name,
            "N": self.stem,
            "p": self.prefix,
            "P": unescape_unit(self.prefix),
            "i": instance,
            "I": unescape_unit(instance),
            "j": self.prefix.rpartition("-")[2],
            "J": unescape_unit(self.prefix.rpartition("-")[2]),
            "f": "/" + unescape_unit(instance or self.prefix).lstrip("/"),
            "T": "/tmp",
            "V": "/var/tmp",
            "y": self.path,
            "Y": self.path.rpartition("/")[0],
        }
        if not self.user_manager:
            table |= {
                "h": "/root", "u": "root", "U": "0", "g": "root", "G": "0", "s": "/bin/sh", "t": "/run",
                "S": "/var/lib", "C": "/var/cache", "L": "/var/log", "E": "/etc",
            }  # fmt: skip
        elif home:
            table |= {"h": home, "S": f"{home}/.local/state", "C": f"{home}/.cache", "E": f"{home}/.config"}
            table |= {"L": f"{home}/.local/state/log"}
            if self.user:
                table |= {"u": self.user, "g": self.user}
        return table


def unescape_unit(text: str) -> str:
    """systemd-escape --unescape: "-" is "/", \\x2d a character."""
    return re.sub(r"\\x([0-9a-fA-F]{2})", lambda match: chr(int(match[1], 16)), text.replace("-", "/"))
