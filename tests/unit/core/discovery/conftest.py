"""The engines, as the composition root loads them."""

from collections.abc import Mapping
from typing import cast

import pytest

import bot.core.engines
from bot.core.domain.engine import Engine
from bot.plugins import load


@pytest.fixture(scope="session")
def engines() -> Mapping[str, Engine]:
    """All engines by module name."""
    return cast("Mapping[str, Engine]", load(bot.core.engines, "ENGINE"))
