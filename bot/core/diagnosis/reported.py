"""Speeds that a person reports, and the name each stands under: a version, a point in time, or a setting.

The name of a figure is in its own line ("0.14.1: 92 tok/s"), in a heading above it, in a table's header, or, in the
tables of llama-bench, in the `build:` line below.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

#: characters of one line that are read, and lines
LINE_CHARACTERS = 600
MOST_LINES = 3000

#: how the key of a figure from the server's own log begins; the number of requests follows
STEADY = "steady"
VERSION, STAGE = "version", "stage"

_NUMBER = r"(?<![\w.])(?P<{0}>\d[\d,]*(?:\.\d+)?k?)"
_RATE_UNIT = (
    r"(?:t/s|tps\b|tok(?:en)?s?\s?(?:/|per |/ )\s?s(?:ec(?:ond)?)?\b|req(?:uest)?s?\s?(?:/|per )\s?s(?:ec(?:ond)?)?\b"
    r"|it/s|samples?/s)"
)
_TIME_UNIT = r"(?:ms|µs|us|s|secs?|seconds?|min(?:utes)?)\b"
_TIME_NAME = (
    r"(?:tpot|ttft|itl|e2el?|latenc\w+|runtime|duration|took|takes|elapsed|time(?: to first token| per token)?)\b"
)
_FIGURES = tuple(
    (family, re.compile(pattern))
    for family, pattern in (
        (
            "rate",
            _NUMBER.format("a") + r"\s*(?:(?:±|\+/-)\s*[\d.]+\s*)?(?:output |input |total |generated )?" + _RATE_UNIT,
        ),
        ("rate", _RATE_UNIT + r"[^\d|\n]{0,24}?[:=|(~ ]\s*[~≈]?\s*" + _NUMBER.format("b") + r"(?!\s*(?:ms|s)\b)"),
        ("rate", r"\b(?:through?put|speed|rate)\b[^\d|\n]{0,30}?[:=~ ]\s*[~≈]?\s*" + _NUMBER.format("c")),
        ("time", _TIME_NAME + r"[^\d|\n]{0,30}?" + _NUMBER.format("d") + r"\s*(?:" + _TIME_UNIT + r"|$)"),
        ("time", _NUMBER.format("e") + r"\s*(?:ms|s|seconds?)\s?(?:/|per )\s?(?:tok\w*|req\w*|iter\w*)"),
        ("time", _NUMBER.format("f") + r"\s*(?:ms|s|seconds?) (?:tpot|ttft|itl|latency)"),
        ("time", _NUMBER.format("h") + r"\s*(?:ms|s|secs?|seconds)(?=\s*(?:vs\.?|->|→|to|against)\s*[~≈]?\d)"),
        ("time", r"(?:\bvs\.?|->|→|\bto|\bagainst)\s*[~≈]?" + _NUMBER.format("i") + r"\s*(?:ms|s|secs?|seconds)\b"),
        ("rate", r"\|\s*(?:tg|pp)\s?\d+[^|]*\|\s*" + _NUMBER.format("g")),
    )
)
_BARE = re.compile(r"^\**~?(?P<v>\d[\d,]*(?:\.\d+)?)(?:\s*(?:±|\().*|\s*[a-zµ/]{1,8})?\**$")

_RELEASE = r"\d{1,2}\.\d{1,3}(?:\.\d{1,4})(?![.\d]\d)(?:[.\-+]?(?:post|rc|dev|alpha|beta)[\w.]*)?"
_NAMES = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (VERSION, rf"(?<![\w.])v?(?P<x>{_RELEASE})"),
        (
            VERSION,
            r"(?:\bv|\b(?:vllm|sglang|version|release|llama\.cpp|ollama)[ :=@-]{1,3}v?)(?P<x>\d{1,2}\.\d{1,3})\b",
        ),
        (VERSION, r"(?<![\w.])(?P<x>b\d{4,5})\b"),
        (VERSION, r"\b(?:build|version)\W{1,2}(?P<x>\d{3,5}|[0-9a-f]{7,40}) \("),
        (VERSION, r"(?<![\w./-])(?P<x>(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,10}|[0-9a-f]{40})(?![\w./-])"),
        (VERSION, r"(?<![\w.])(?P<x>v[01])(?: engine)?(?![\w.])"),
        (VERSION, r"\b(?P<x>(?:nightly|dev|image|tag)[-: ]?\d{4}-?\d\d-?\d\d\w*)"),
        (
            STAGE,
            r"\b(?P<x>before|after|old|new|previous(?:ly)?|now|currently|last|earlier|latest|main|master|older"
            r"|newer)\b",
        ),
        (
            "slow_spec",
            r"\b(?P<x>(?:with|without|no|w/o?) (?:spec\w*|mtp|eagle\d?|draft\w*|nextn|n-?gram|dflash|medusa))\b",
        ),
        ("slow_spec", r"\b(?P<x>baseline)\b"),
        ("slow_spec", r"\b(?P<x>without)[,:]? (?=[~≈]?\d)"),
        (
            "slow_spec",
            r"\b(?P<x>(?:mtp|eagle\d?|spec\w*(?: decod\w+)?|draft\w*|nextn|dflash)[ =:]{1,3}"
            r"(?:on|off|enabled|disabled))\b",
        ),
        (
            "slow_cuda_graph_off",
            r"\b(?P<x>(?:with|without|no|w/o?|disable[d-]?|enable[d-]?)[ -](?:--)?(?:disable-)?cuda[ -]?graphs?"
            r"|(?:enforce[-_ ]?)?eager"
            r"|cuda[ -]?graphs? (?:on|off|enabled|disabled))\b",
        ),
        ("slow_comm", r"\b(?P<x>(?:tp|tensor[-_ ]parallel\w*)(?:[-_ ]size)?[ =:]{0,2}\d)\b"),
        (
            "slow_comm",
            r"\b(?P<x>(?:with|without|no|w/o) (?:tp|p2p|nvlink|tensor parallel\w*|custom all-?reduce)"
            r"|p2p (?:on|off|enabled|disabled))\b",
        ),
        ("slow_comm", r"\b(?P<x>(?:\d|one|two|four|single|multi)[ -]?(?:x )?(?:gpus?|cards?))\b"),
        ("slow_gpu_clocks", r"(?<![\w.])(?P<x>\d{2,4} ?(?:w|watts?|mhz))\b"),
        ("slow_moe_config", r"\b(?P<x>(?:un)?tuned|default (?:moe )?config)\b"),
        (
            "slow_other",
            r"\b(?P<x>hf|hugging ?face|transformers|tgi|lmdeploy|tensorrt(?:-llm)?|trt-?llm"
            r"|exllama\w*|ollama|other engine)\b",
        ),
    )
)
_OTHER_SOFTWARE = re.compile(
    r"(?:torch|cuda|driver|python|transformers|flashinfer|nccl|triton|numpy|ubuntu|kernel|cudnn|gcc|cmake|os|linux"
    r"|sgl[-_]kernel|rocm|xgrammar|pip)\w*\W{0,6}(?:version\W{0,3})?v?$"
)
_LOG_LINE = re.compile(
    r"^\W*(?:\([\w ]+ pid=\d+\) )?(?:\[?\d{4}-\d\d-\d\d[ t]|(?:info|warning|error|debug)\b"
    r"|(?:srv|slot|llama_\w+|load_\w+|ggml_\w+|common_\w+|print_info)\b|"
    r"file \"|traceback|\w+\[\d+\]:)"
)
_STEADY = re.compile(r"gen(?:eration)? throughput(?: \(token/s\))?\W+(?P<v>\d+\.\d+)")
_LOAD = re.compile(r"(?:#running-req|running)\W+(?P<n>\d+)")
_LOG_VERSION = re.compile(r"(?:server version|llm engine \(v|sglang version|\bbuild: |^version: |build_info: )")
_TIMED = re.compile(rf"{_TIME_NAME}|\b(?:ms|s)\b(?<!/s)|\(s\)")
_MEASURED = re.compile(rf"{_RATE_UNIT}|{_TIME_NAME}|through?put|speed|\bdecode|\bprefill|\bms\b")
_AGAINST = re.compile(r"\b(?:vs|versus|against|to|and|compared|than)\b|->|→")
_BUILD = re.compile(r"\W*build: ")
_RULER = re.compile(r"^[\s|:+=-]*$")


@dataclass(frozen=True, slots=True)
class Named:
    """One figure: its value, its family ("rate": more is better; "time": less is), and its names by kind."""

    index: int
    value: float
    family: str
    #: the words around it without names and numbers: figures of one key measure the same thing
    key: str
    names: dict[str, str]


@dataclass(slots=True)
class _Reader:
    heading: dict[str, str] = field(default_factory=dict)
    columns: list[dict[str, str]] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    last_row: list[str] = field(default_factory=list)
    found: list[Named] = field(default_factory=list)
    #: the two versions that the last heading names, where it names two
    pair: tuple[str, ...] = ()
    #: rows of llama-bench whose `build:` line is still to come
    unbuilt: int = 0

    def read(self, index: int, text: str) -> None:
        """Take one line (lower case)."""
        if _RULER.match(text):
            if "|" in text and "-" in text and self.last_row:
                self._set_header(self.last_row)
            return
        if _LOG_LINE.match(text):
            self._read_log_line(index, text)
            return
        names, figures = _names_in(text), _figures_in(text)
        if _BUILD.match(text):
            self._name_rows_above(names)
            return
        if text.count("|") >= 2 and self._read_row(index, text, names, figures):
            pass
        elif figures:
            self._read_figures(index, text, names, figures)
        elif names:
            self._head(names, text)
        if "|" not in text:
            self.columns, self.header, self.last_row = [], [], []

    def _head(self, names: Sequence[tuple[int, str, str]], text: str) -> None:
        new = {kind: name for _, kind, name in reversed(names)}
        self.pair = _two_versions(names, text)
        if VERSION in new:
            self.heading.pop(STAGE, None)
        elif STAGE in new and len(text) < 60:
            self.heading.pop(VERSION, None)
        self.heading.update(new)

    def _read_log_line(self, index: int, text: str) -> None:
        if _LOG_VERSION.search(text):
            self.heading.update({k: n for _, k, n in _names_in(text) if k == VERSION})
            return
        steady = _STEADY.search(text)
        if steady and float(steady["v"]) > 0:
            load = _LOAD.search(text)
            key = f"{STEADY} {load['n'] if load else 1}"
            self.found.append(Named(index, float(steady["v"]), "rate", key, dict(self.heading)))

    def _name_rows_above(self, names: Sequence[tuple[int, str, str]]) -> None:
        version = next((name for _, kind, name in names if kind == VERSION), None)
        if version is not None:
            for i in range(self.unbuilt, len(self.found)):
                self.found[i] = replace(self.found[i], names={**self.found[i].names, VERSION: version})
        self.unbuilt = len(self.found)

    def _set_header(self, cells: list[str]) -> None:
        self.header = cells
        self.columns = [{kind: name for _, kind, name in _names_in(cell)} for cell in cells]

    def _read_row(
        self,
        index: int,
        text: str,
        names: Sequence[tuple[int, str, str]],
        figures: Sequence[tuple[int, int, float, str]],
    ) -> bool:
        """A row of a table: a header that names its columns, or cells under one. False: read it like a sentence."""
        cells = self.last_row = [cell.strip() for cell in text.split("|")]
        values = [(i, float(m["v"].replace(",", ""))) for i, cell in enumerate(cells) if (m := _BARE.match(cell))]
        if not self.header:
            if values:
                return False
            self._set_header(cells)
            return not figures
        if not values:
            return False
        row = " ".join(cells[i] for i in range(len(cells)) if i not in dict(values))
        own = {kind: name for _, kind, name in names}
        key = re.sub(r"[\d\W_]+", " ", _without_names(row)).strip()
        for column, value in values:
            over = self.columns[column] if column < len(self.columns) else {}
            title = self.header[column] if column < len(self.header) else ""
            said = f"{title} {cells[column]}"
            if not over and not _MEASURED.search(said):
                continue
            family = "time" if _TIMED.search(f"{said} {row}" if over else said) else "rate"
            measured = f"{key}/{_without_names(title)}"
            self.found.append(Named(index, value, family, measured, {**self.heading, **own, **over}))
        return True

    def _read_figures(
        self,
        index: int,
        text: str,
        names: Sequence[tuple[int, str, str]],
        figures: Sequence[tuple[int, int, float, str]],
    ) -> None:
        paired = self._paired(names, figures, text)
        claimed: set[tuple[int, str]] = set()
        before = 0
        for count, (start, end, value, family) in enumerate(figures):
            following = figures[count + 1][0] if count + 1 < len(figures) else len(text)
            own = dict(self.heading)
            for kind in {kind for _, kind, _ in names}:
                chosen = _nearest([n for n in names if n[1] == kind], start, end, following, claimed)
                if chosen is not None:
                    claimed.add((chosen[0], kind))
                    own[kind] = chosen[2]
                    if kind == VERSION:
                        own.pop(STAGE, None) if STAGE not in {k for _, k, _ in names} else None
            if paired:
                own[VERSION] = paired[count]
                self.found.append(Named(index, value, family, "paired", own))
                continue
            key = re.sub(r"[\d\W_]+", " ", _without_names(text[before:start])).strip()
            self.found.append(Named(index, value, family, key, own))
            before = end
        self.pair = _two_versions(names, text) or self.pair

    def _paired(
        self, names: Sequence[tuple[int, str, str]], figures: Sequence[tuple[int, int, float, str]], text: str
    ) -> tuple[str, ...]:
        """The versions of two figures, in order, where both come before both ("a against b: 92 against 61")."""
        if len(figures) != 2 or figures[0][3] != figures[1][3]:
            return ()
        versions = [at for at, kind, _ in names if kind == VERSION]
        if not versions:
            return self.pair if _AGAINST.search(text[figures[0][0] : figures[1][1]]) else ()
        return _two_versions(names, text) if versions[-1] < figures[0][0] else ()


def _two_versions(names: Sequence[tuple[int, str, str]], text: str) -> tuple[str, ...]:
    """The versions of a line that holds two against each other; the number and the commit of one build are no two."""
    versions = [(at, name) for at, kind, name in names if kind == VERSION]
    if len(versions) != 2 or versions[0][1] == versions[1][1]:
        return ()
    between = text[versions[0][0] + len(versions[0][1]) : versions[1][0]]
    return tuple(name for _, name in versions) if len(between) < 40 and _AGAINST.search(between) else ()


def _nearest(
    names: Sequence[tuple[int, str, str]], start: int, end: int, following: int, claimed: set[tuple[int, str]]
) -> tuple[int, str, str] | None:
    """The last name before a figure; where an earlier figure has that one, the next name after it, if there is one."""
    earlier = [n for n in names if n[0] < start]
    later = [n for n in names if n[0] >= end]
    if earlier and (earlier[-1][0], earlier[-1][1]) not in claimed:
        return earlier[-1]
    free = [n for n in later if (n[0], n[1]) not in claimed]
    if free and (free[0][0] < following or earlier):
        return free[0]
    return earlier[-1] if earlier else (free[0] if free else None)


def _names_in(text: str) -> list[tuple[int, str, str]]:
    """(position, kind, name) of the names in a line, in order."""
    names: dict[int, tuple[int, str, str]] = {}
    for kind, pattern in _NAMES:
        for match in pattern.finditer(text):
            at = match.start("x")
            if kind == VERSION and _OTHER_SOFTWARE.search(text[max(0, at - 30) : at]):
                continue
            names.setdefault(at, (at, kind, " ".join(match["x"].split())))
    return [names[at] for at in sorted(names)]


def _without_names(text: str) -> str:
    for _, pattern in _NAMES:
        text = pattern.sub(" ", text)
    return text


def _figures_in(text: str) -> list[tuple[int, int, float, str]]:
    """(start, end, value, family) of the speeds in a line, in order, none inside another."""
    found: dict[int, tuple[int, int, float, str]] = {}
    for family, pattern in _FIGURES:
        for match in pattern.finditer(text):
            group = match.lastgroup or ""
            value = float(match[group].replace(",", "").rstrip("k") or 0)
            value *= 1000 if match[group].endswith("k") else 1
            if value > 0 and not any(
                s <= at < e for at in (match.start(), match.start(group)) for s, e, _, _ in found.values()
            ):
                found[match.start(group)] = (match.start(group), match.end(), value, family)
    return [found[at] for at in sorted(found)]


def reported(lines: Sequence[str]) -> Iterator[Named]:
    """Every speed that is reported, with the names it stands under. `lines` are in lower case."""
    reader = _Reader()
    for index, text in enumerate(lines[:MOST_LINES]):
        if text.strip():
            reader.read(index, text[:LINE_CHARACTERS])
    yield from reader.found
