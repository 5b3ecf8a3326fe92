"""The fleet of the language cases, its vocabulary, and a short way to read a sentence with it."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bot import plugins
from bot.core import engines as engine_modules
from bot.core.catalog.files import catalog_from_yaml_data
from bot.core.domain.catalog import Catalog
from bot.core.domain.command import Command, ThreadContext
from bot.core.domain.engine import Engine
from bot.core.domain.host import Inventory
from bot.core.language.understand import understand
from bot.core.language.vocabulary import Vocabulary

CASES = Path(__file__).parents[3] / "cases" / "language"


@cache
def engines() -> dict[str, Engine]:
    """The real engines by name."""
    loaded: Any = plugins.load(engine_modules, "ENGINE")
    return {engine.name: engine for engine in loaded.values()}


@cache
def fleet(name: str = "") -> tuple[Catalog, Inventory]:
    """Catalog and inventory of tests/cases/language[/name]/fleet.yaml."""
    return catalog_from_yaml_data(yaml.safe_load((CASES / name / "fleet.yaml").read_text()))


@cache
def vocabulary(name: str = "") -> Vocabulary:
    """The fleet's vocabulary."""
    return Vocabulary.of(*fleet(name), engines())


def read(text: str, context: ThreadContext | None = None, bot_user: str | None = None, *, name: str = "") -> Command:
    """Understand a sentence in the fleet of that name."""
    return understand(text, *fleet(name), context, bot_user, vocabulary=vocabulary(name))
