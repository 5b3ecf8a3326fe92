"""Shell arithmetic over values that are known; None where a value is not."""

import re
from collections.abc import Callable

_TOKEN = re.compile(
    r"\s*(0[xX][0-9a-fA-F]+|\d+#\w+|\d+|[A-Za-z_]\w*(?:\[[^\]]*\])?|\*\*|<<=|>>=|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%<>=!~&|^?:(),])"
)
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<=", ">=", "<", ">"),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_ASSIGNING = ("=", "+=", "-=", "*=", "/=", "%=")
_LIMIT = 2**63


class _UnknownValueError(Exception):
    pass


def evaluate(expression: str, look_up: Callable[[str], str | None], assign: Callable[[str, str], None]) -> int | None:
    """Value of an expression. `look_up` gives a variable's text ("" when unset) or None when it is unknown."""
    tokens: list[str] = []
    position = 0
    stripped = expression.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None or len(tokens) > 500:
            return None
        tokens.append(match[1])
        position = match.end()
    try:
        reader = _Reader(tokens, look_up, assign)
        value = reader.comma()
        return value if reader.at_end() else None
    except (_UnknownValueError, ZeroDivisionError, RecursionError):
        return None


class _Reader:
    def __init__(
        self, tokens: list[str], look_up: Callable[[str], str | None], assign: Callable[[str, str], None]
    ) -> None:
        self._tokens = tokens
        self._position = 0
        self._look_up = look_up
        self._assign = assign

    def at_end(self) -> bool:
        return self._position >= len(self._tokens)

    def _peek(self) -> str:
        return "" if self.at_end() else self._tokens[self._position]

    def _take(self, *wanted: str) -> str:
        token = self._peek()
        if token and token in wanted:
            self._position += 1
            return token
        return ""

    def comma(self) -> int:
        value = self._ternary()
        while self._take(","):
            value = self._ternary()
        return value

    def _ternary(self) -> int:
        following = self._tokens[self._position + 1 : self._position + 2]
        if re.match(r"[A-Za-z_]", self._peek()) and following and following[0] in _ASSIGNING:
            return self._assignment()
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        first = self._ternary()
        if not self._take(":"):
            raise _UnknownValueError
        second = self._ternary()
        return first if condition else second

    def _assignment(self) -> int:
        name = self._peek()
        operator = self._tokens[self._position + 1]
        self._position += 2
        value = self._ternary()
        if operator != "=":
            value = _apply(operator[0], self._value_of(name), value)
        self._assign(name, str(value))
        return value

    def _binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._power()
        value = self._binary(level + 1)
        while operator := self._take(*_LEVELS[level]):
            value = _apply(operator, value, self._binary(level + 1))
        return value

    def _power(self) -> int:
        base = self._unary()
        if self._take("**"):
            exponent = self._power()
            if not 0 <= exponent < 64:
                raise _UnknownValueError
            return _bounded(base**exponent)
        return base

    def _unary(self) -> int:
        operator = self._take("-", "+", "!", "~", "++", "--")
        if operator in ("++", "--"):
            name = self._peek()
            self._position += 1
            value = self._value_of(name) + (1 if operator == "++" else -1)
            self._assign(name, str(value))
            return value
        if operator:
            value = self._unary()
            return {"-": -value, "+": value, "!": int(not value), "~": ~value}[operator]
        return self._primary()

    def _primary(self) -> int:
        if self._take("("):
            value = self.comma()
            if not self._take(")"):
                raise _UnknownValueError
            return value
        token = self._peek()
        self._position += 1
        if not re.match(r"\w", token):
            raise _UnknownValueError
        if token[0].isdigit():
            return _bounded(_number(token))
        value = self._value_of(token)
        if operator := self._take("++", "--"):
            self._assign(token, str(value + (1 if operator == "++" else -1)))
        return value

    def _value_of(self, name: str) -> int:
        text = self._look_up(name)
        if text is None:
            raise _UnknownValueError
        text = text.strip()
        if text == "":
            return 0
        if re.fullmatch(r"-?\w+", text) and text.lstrip("-")[:1].isdigit():
            return _bounded(-_number(text[1:]) if text.startswith("-") else _number(text))
        raise _UnknownValueError


def _number(text: str) -> int:
    try:
        if text[:2] in ("0x", "0X"):
            return int(text, 16)
        if "#" in text:
            base, _, digits = text.partition("#")
            return int(digits, int(base)) if 2 <= int(base) <= 36 else 0
        return int(text, 8) if len(text) > 1 and text.startswith("0") else int(text)
    except ValueError as error:
        raise _UnknownValueError from error


def _bounded(value: int) -> int:
    if abs(value) > _LIMIT:
        raise _UnknownValueError
    return value


def _apply(operator: str, a: int, b: int) -> int:
    if operator in ("/", "%"):
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if operator == "/" else a - b * quotient
    if operator in ("<<", ">>"):
        if not 0 <= b < 64:
            raise _UnknownValueError
        return _bounded(a << b if operator == "<<" else a >> b)
    table: dict[str, Callable[[], int]] = {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "==": lambda: int(a == b),
        "!=": lambda: int(a != b),
        "<": lambda: int(a < b),
        ">": lambda: int(a > b),
        "<=": lambda: int(a <= b),
        ">=": lambda: int(a >= b),
        "&&": lambda: int(bool(a and b)),
        "||": lambda: int(bool(a or b)),
        "&": lambda: a & b,
        "|": lambda: a | b,
        "^": lambda: a ^ b,
    }
    return _bounded(table[operator]())
