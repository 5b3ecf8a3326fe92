"""Message to Payload, through a template."""

import json
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateError

from bot.core.domain.message import Message, Payload
from bot.core.rendering import filters
from bot.core.rendering.errors import RenderError
from bot.core.rendering.fit import fit_blocks, fit_text, texts

SUFFIX = ".json.j2"


def environment(loader: BaseLoader) -> Environment:
    """Jinja environment over templates/slack. What templates print is foreign text unless it is their own words."""
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=filters.finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(filters.FILTERS)
    return made


def names(templates: Environment) -> tuple[str, ...]:
    """Stems of all message templates; partials begin with an underscore."""
    found = (name for name in templates.list_templates() if name.endswith(SUFFIX) and not name.startswith("_"))
    return tuple(sorted(name.removesuffix(SUFFIX) for name in found))


def render(message: Message, templates: Environment) -> Payload:
    """Slack payload of a message: within all limits, however long the context's texts are.

    Raises RenderError when the template is not there, uses a value that the context lacks, or gives no valid JSON.
    """
    try:
        source = templates.get_template(message.template + SUFFIX).render(dict(message.context))
    except TemplateError as error:
        raise RenderError(f"template {message.template}: {type(error).__name__}: {error}") from error
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise RenderError(f"template {message.template}: {type(error).__name__}: {error}") from error
    try:
        draft = json.loads(source)
    except ValueError as error:
        raise RenderError(f"template {message.template} gives no JSON: {error}") from error
    blocks = fit_blocks(draft["blocks"])
    text = fit_text(draft["text"]) or _first_text(blocks)
    return Payload(text=text, blocks=blocks or [_only(text)])


def _first_text(blocks: list[dict[str, Any]]) -> str:
    return next((text for block in blocks for text in texts(block) if text.strip()), "…")


def _only(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "plain_text", "text": text or "…", "emoji": False}}
