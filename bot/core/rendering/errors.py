"""A template or its context is wrong: a defect of this program, never of what people type."""

from bot.errors import PermanentError


class RenderError(PermanentError):
    """Names the template and what is missing or malformed."""
