"""Questions for the cause of a failure, among those for a log."""

import re

_WHY = re.compile(
    r"\bwhy\b|\bhow come\b|\bwhat(?:'s| is| was| went| happened| made| caused| killed)\b|\breason\b|\bcause\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\bfail\w*|\bdie[sd]?\b|\bcrash\w*|\bbroke\w*|\bwrong\b|(?:\bnot|n't) (?:\w+ )?(?:start|come up|work)"
    r"|\bkilled\b|\bhappened\b|\bgo down\b|\bwent down\b|\bexit\w*",
    re.IGNORECASE,
)


def asks_why_it_failed(text: str) -> bool:
    """ "why did it fail?", "what went wrong on gpu7?"; not "show me the log of the failed one"."""
    return bool(_WHY.search(text)) and bool(_FAILED.search(text))
