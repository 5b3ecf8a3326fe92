"""Decode tok/s over the launches of one config, with the noise band and what changed."""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator

from bot.adapters.plots.picture import (
    BAND,
    BLUE,
    INK,
    PAPER,
    RUST,
    SOFT,
    dress,
    finish,
    legend,
    new_figure,
    set_title,
    tok_s,
    write,
)
from bot.core.domain.picture import LaunchPoint, Picture

#: more points than this do not fit on a phone; the newest are shown
MAX_POINTS = 16
_LABEL_EVERY_UP_TO = 10
_CHANGE_LIMIT = 28


def history_plot(
    config: str, host: str, points: Sequence[LaunchPoint], *, baseline_tok_s: float | None, noise_pct: float
) -> Picture:
    """Decode tok/s of one stream over launches, oldest first. `noise_pct`: half width of the band around the baseline
    within which launches are the same. Raises ValueError without a point."""
    if not points:
        raise ValueError("no measured launch to draw")
    shown = list(points[-MAX_POINTS:])
    figure = new_figure()
    axes = figure.add_subplot()
    dress(axes, xlabel="", ylabel="tok/s, one stream")
    if baseline_tok_s is not None:
        _band(axes, baseline_tok_s, noise_pct)
    _points(axes, shown)
    _changes(axes, shown)
    _limits(axes, shown, baseline_tok_s, noise_pct)
    marks = _marks(shown, baseline_tok_s, noise_pct)
    if marks:
        legend(figure, marks, len(marks))
    title = f"{config} on {host}: decode speed by launch"
    set_title(figure, title)
    return finish(figure, title, _alt_text(title, shown, len(points), baseline_tok_s, noise_pct))


def _band(axes: Axes, baseline: float, noise_pct: float) -> None:
    low, high = baseline * (1 - noise_pct / 100), baseline * (1 + noise_pct / 100)
    axes.axhspan(low, high, color=BAND, linewidth=0, zorder=1)
    axes.axhline(baseline, color=BLUE, linewidth=1.8, linestyle=(0, (6, 4)), zorder=2)


def _points(axes: Axes, shown: Sequence[LaunchPoint]) -> None:
    xs, ys = range(len(shown)), [p.decode_tok_s for p in shown]
    axes.plot(xs, ys, color=SOFT, linewidth=1.5, zorder=3)
    for x, p in zip(xs, shown, strict=True):
        if p.low is not None and p.high is not None:
            axes.plot([x, x], [p.low, p.high], color=INK, linewidth=2, zorder=4)
        edge = RUST if p.change else INK
        axes.plot(
            [x],
            [p.decode_tok_s],
            "D" if p.change else "o",
            markersize=10,
            color=PAPER if p.doubtful else edge,
            markeredgecolor=edge,
            markeredgewidth=2,
            zorder=5,
        )
        if len(shown) <= _LABEL_EVERY_UP_TO or p.change or x == len(shown) - 1:
            top = p.high if p.high is not None else p.decode_tok_s
            write(axes, tok_s(p.decode_tok_s), (x, top), above=True, fontweight="bold")


def _changes(axes: Axes, shown: Sequence[LaunchPoint]) -> None:
    """Changes are written under their point, leaning away from the picture's edge; neighbours at different heights."""
    for x, p in enumerate(shown):
        if not p.change:
            continue
        text = p.change if len(p.change) <= _CHANGE_LIMIT else p.change[: _CHANGE_LIMIT - 1] + "…"
        side = "left" if x < len(shown) * 0.2 else ("right" if x > len(shown) * 0.75 else "center")
        lines = "\n" * (_rank(shown, x) % 2)
        bottom = p.low if p.low is not None else p.decode_tok_s
        write(axes, lines + text, (x, bottom), above=False, colour=RUST, fontsize=13, ha=side)


def _marks(shown: Sequence[LaunchPoint], baseline: float | None, noise_pct: float) -> list[Artist]:
    """Legend entries for what is in the picture."""
    marks: list[Artist] = []
    if baseline is not None:
        text = f"baseline {tok_s(baseline)} ± {noise_pct:.2g} %"
        marks.append(Line2D([], [], color=BLUE, linewidth=1.8, linestyle=(0, (5, 3)), label=text))
    if any(p.change for p in shown):
        marks.append(Line2D([], [], color=RUST, marker="D", markersize=9, linestyle="", label="launched differently"))
    if any(p.doubtful for p in shown):
        hollow = Line2D([], [], color=PAPER, markeredgecolor=INK, markeredgewidth=2, marker="o", markersize=9)
        hollow.set(linestyle="", label="measured while disturbed")
        marks.append(hollow)
    return marks


def _rank(shown: Sequence[LaunchPoint], x: int) -> int:
    """How many changes stand right before this one: neighbours are written at different heights."""
    rank = 0
    while x - rank - 1 >= 0 and shown[x - rank - 1].change:
        rank += 1
    return rank


def _limits(axes: Axes, shown: Sequence[LaunchPoint], baseline: float | None, noise_pct: float) -> None:
    values = [v for p in shown for v in (p.decode_tok_s, p.low, p.high) if v is not None]
    if baseline is not None:
        values += [baseline * (1 - noise_pct / 100), baseline * (1 + noise_pct / 100)]
    low, high = min(values), max(values)
    room = max(high - low, 0.08 * high)
    bottom = low - 0.45 * room
    # from zero when the differences are large: a drop by half must look like one
    axes.set_ylim(0 if bottom < 0.45 * high else bottom, high + 0.3 * room)
    axes.set_xlim(-0.5, len(shown) - 0.5)
    axes.xaxis.set_major_locator(FixedLocator(list(range(len(shown)))))
    days = [f"#{p.number}\n{p.measured_at:%d %b}" for p in shown]
    step = 1 if len(shown) <= _LABEL_EVERY_UP_TO else 2
    axes.set_xticklabels([d if (len(shown) - 1 - i) % step == 0 else "" for i, d in enumerate(days)])


def _alt_text(title: str, shown: Sequence[LaunchPoint], total: int, baseline: float | None, noise_pct: float) -> str:
    said = [title + (f" (last {len(shown)} of {total})" if total > len(shown) else "") + "."]
    if baseline is not None:
        said.append(f"Baseline {tok_s(baseline)} tok/s, noise ±{noise_pct:.2g} %.")
    each = []
    for p in shown:
        text = f"#{p.number} {tok_s(p.decode_tok_s)}"
        text += f" ({p.change})" if p.change else ""
        each.append(text + (" disturbed" if p.doubtful else ""))
    return " ".join([*said, "tok/s: " + ", ".join(each) + "."])
