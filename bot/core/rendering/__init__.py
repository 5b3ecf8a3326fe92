"""Template and context to a Slack payload; Slack limits are checked here.

clean      take out what terminals and Slack would act on; cut by UTF-16 units
redact     take out secrets
spans      text runs, of which foreign ones are never parsed
filters    what templates may call
fit        Block Kit within the limits
render     Message -> Payload
terminal   Payload -> text for `relaunch say`
plain      domain values -> template contexts
"""

from bot.core.rendering.errors import RenderError
from bot.core.rendering.plain import plain
from bot.core.rendering.redact import redact
from bot.core.rendering.render import environment, names, render
from bot.core.rendering.terminal import render_terminal

__all__ = ["RenderError", "environment", "names", "plain", "redact", "render", "render_terminal"]
