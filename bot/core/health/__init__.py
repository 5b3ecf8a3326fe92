"""One module per probe; each ends in PROBE and judges facts into Findings. A probe that cannot look says UNKNOWN."""

from bot.core.health._probe import Probe, worst

__all__ = ["Probe", "worst"]

EVERY_MODULE_IS_A_PLUGIN = True
