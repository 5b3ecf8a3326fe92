"""Engines and their case files."""

import json
from pathlib import Path
from typing import Any, cast

import bot.core.engines
from bot import plugins
from bot.core.domain.engine import Engine

CASES = Path(__file__).parents[3] / "cases" / "engines"
#: module name -> engine; cases of an engine lie under its module's name
ENGINES = cast(dict[str, Engine], plugins.load(bot.core.engines, "ENGINE"))


def rows(kind: str) -> list[Any]:
    """(module, row) of every engine's `kind`.json, with readable ids."""
    import pytest

    return [
        pytest.param(module, row, id=f"{module}-{row.get('name') or row.get('command')}"[:90])
        for module in ENGINES
        for row in json.loads((CASES / module / f"{kind}.json").read_text())
    ]


def log(module: str, name: str) -> str:
    """A log with its carriage returns."""
    return (CASES / module / name).read_bytes().decode()
