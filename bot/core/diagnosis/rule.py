"""What a rule says: data only. `matching` tries rules on a log, `rules/` holds them, one table per family."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One sign of one kind of failure. Patterns are regular expressions over lower-case text, line by line."""

    kind: str
    #: 90 and more: this line is the cause. 70: it names the kind. 50: a likely guess. 30: a hint.
    weight: int
    #: what the software prints
    pattern: str
    #: must be found somewhere in the log, in the kernel log or in the facts
    also: str = ""
    #: must be found nowhere in the log
    never: str = ""
    #: must be found in the same traceback, or within NEAR_LINES lines before and a few after
    near: str = ""
    #: must not be found there
    not_near: str = ""
    #: must not be found in the matching line itself
    not_line: str = ""
    #: must be found in the command line
    argv: str = ""
    not_argv: str = ""
    #: phases that the launch was in at this line; empty: any
    phases: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    #: must be one of the last so many lines that say something; 0: anywhere
    tail: int = 0
    #: name of a condition on the numbers of the match, in `checks`
    check: str = ""
    #: True: counts even when the server came up after it
    survives: bool = False
    #: False: never more than a guess
    sure: bool = True
    #: sentences with the named groups of `pattern` in braces; empty: the kind's own words
    cause: str = ""
    fix: str = ""
    #: name of a computation in `overrides`
    overrides: str = ""
    #: kinds that are easily meant instead
    alternatives: tuple[str, ...] = ()
