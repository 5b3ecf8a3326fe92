"""The Plotter port on matplotlib, which is only loaded when a picture is drawn."""

from collections.abc import Sequence

from bot.core.domain.measurement import Measurement
from bot.core.domain.picture import LaunchPoint, Picture


class MatplotlibPlotter:
    """Draws in the caller's thread: call it from a worker."""

    def history(
        self, config: str, host: str, points: Sequence[LaunchPoint], *, baseline_tok_s: float | None, noise_pct: float
    ) -> Picture:
        """Decode tok/s over launches, oldest first."""
        from bot.adapters.plots.history import history_plot

        return history_plot(config, host, points, baseline_tok_s=baseline_tok_s, noise_pct=noise_pct)

    def levels(self, title: str, measured: Sequence[tuple[str, Measurement]]) -> Picture:
        """tok/s and TTFT against concurrency, one or two measurements."""
        from bot.adapters.plots.levels import levels_plot

        return levels_plot(title, measured)
