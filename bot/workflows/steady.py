"""Try again what may help trying again. Only for work that is harmless when done twice."""

from collections.abc import Callable
from typing import TypeVar

from bot.errors import TemporaryError
from bot.workflows.ports import Clock

T = TypeVar("T")
PAUSES_S = (1.0, 3.0, 8.0)


def steady(clock: Clock, work: Callable[[], T]) -> T:
    """The result of `work`, tried up to four times while it raises TemporaryError."""
    for pause_s in PAUSES_S:
        try:
            return work()
        except TemporaryError as error:
            clock.sleep(error.retry_after_s or pause_s)
    return work()
