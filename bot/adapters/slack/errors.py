"""What a person is told when the edge fails: known errors in their own words, others by a reference."""

import secrets

import structlog

from bot.core.domain.message import Message
from bot.errors import RelaunchError, TemporaryError

_log = structlog.get_logger()


def explain(error: BaseException, **where: str) -> Message:
    """The message for an error, logged: known ones at INFO, unknown ones with a reference that the message shows."""
    if isinstance(error, RelaunchError):
        _log.info("request refused or failed", error=error.message, **where)
        context = {
            "message": error.message,
            "remedy": error.remedy,
            "host": error.host,
            "temporary": isinstance(error, TemporaryError),
            "again": None,
        }
        return Message(template="problem", context=context)
    reference = secrets.token_hex(4)
    _log.error("unexpected error at the Slack edge", reference=reference, exc_info=error, **where)
    return Message(template="error", context={"reference": reference, "doing": None})
