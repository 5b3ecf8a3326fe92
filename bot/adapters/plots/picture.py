"""What all pictures share: size, colours, drawing to PNG bytes."""

import io
import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patheffects import withStroke

from bot.core.domain.picture import Picture

WIDTH_IN, HEIGHT_IN, DPI = 9.0, 6.0, 200
#: on 0xF4F2EC: ink 14.6, soft 6.6, blue 5.7, rust 5.1, to 1 (WCAG contrast)
PAPER, INK, SOFT, GRID = "#f4f2ec", "#22262b", "#565b63", "#d5d1c6"
BLUE, RUST, BAND = "#1f5fa8", "#b0421c", "#c9d6e6"
#: Slack's limit for alt text of an uploaded file
ALT_LIMIT = 1000
_TITLE_WIDTH = 52


def new_figure() -> Figure:
    """An empty figure. Not through pyplot, whose global state is not for threads."""
    spacing = ConstrainedLayoutEngine(w_pad=0.14, h_pad=0.12)
    figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN), dpi=DPI, facecolor=PAPER, layout=spacing)
    FigureCanvasAgg(figure)
    return figure


def dress(axes: Axes, *, xlabel: str, ylabel: str) -> None:
    """Quiet axes with horizontal grid lines."""
    axes.set_facecolor(PAPER)
    axes.set_xlabel(xlabel, color=INK, fontsize=15)
    axes.set_ylabel(ylabel, color=INK, fontsize=15)
    axes.tick_params(colors=INK, labelsize=14, length=0)
    axes.grid(axis="y", color=GRID, linewidth=1)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(SOFT)


def set_title(figure: Figure, title: str) -> None:
    """The title, left, on two lines at most."""
    lines = textwrap.wrap(title, _TITLE_WIDTH) or [""]
    text = "\n".join(lines[:2]) + (" …" if len(lines) > 2 else "")
    figure.suptitle(text, x=0.015, ha="left", color=INK, fontsize=18, fontweight="bold")


def finish(figure: Figure, title: str, alt_text: str) -> Picture:
    """Draw it."""
    data = io.BytesIO()
    figure.savefig(data, format="png", facecolor=PAPER)
    return Picture(data.getvalue(), title, textwrap.shorten(alt_text, ALT_LIMIT, placeholder=" …"))


def write(axes: Axes, text: str, at: tuple[float, float], *, above: bool, colour: str = INK, **more: Any) -> None:
    """Text centred over or under a point, with a halo that keeps it readable on lines and bands."""
    axes.annotate(
        text,
        at,
        xytext=(0, 11 if above else -11),
        textcoords="offset points",
        va="bottom" if above else "top",
        color=colour,
        zorder=6,
        path_effects=[withStroke(linewidth=4, foreground=PAPER)],
        **{"ha": "center", "fontsize": 14, **more},
    )


def legend(figure: Figure, handles: Sequence[Artist], columns: int) -> None:
    """What the marks mean, under the picture."""
    figure.legend(
        handles=handles,
        loc="outside lower left",
        ncols=columns,
        fontsize=12.5,
        frameon=False,
        labelcolor=INK,
        handlelength=2.2,
        columnspacing=1.4,
    )


def tok_s(value: float) -> str:
    """Three digits or so: 41.3, 517, 3038."""
    return f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def ms(value: float) -> str:
    """Whole milliseconds, a decimal under ten."""
    return f"{value:.1f}" if abs(value) < 10 else f"{value:.0f}"
