"""tok/s and time to the first token against concurrency, two launches overlaid."""

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from bot.adapters.plots.picture import (
    BLUE,
    RUST,
    SOFT,
    dress,
    finish,
    legend,
    ms,
    new_figure,
    set_title,
    tok_s,
    write,
)
from bot.core.domain.measurement import Level, Measurement
from bot.core.domain.picture import Picture

_STYLES = ((BLUE, "o", "-"), (RUST, "s", (0, (5, 3))))


def levels_plot(title: str, measured: Sequence[tuple[str, Measurement]]) -> Picture:
    """One or two measurements by name ("#12, 1 step"), the one to compare with first. Raises ValueError for none."""
    if not 1 <= len(measured) <= len(_STYLES) or not any(m.levels for _, m in measured):
        raise ValueError("one or two measurements with at least one concurrency can be drawn")
    figure = new_figure()
    speed, wait = figure.subplots(1, 2)
    dress(speed, xlabel="streams at once", ylabel="tok/s, all streams together")
    dress(wait, xlabel="streams at once", ylabel="ms to the first token (median)")
    widths = sorted({level.concurrency for _, m in measured for level in m.levels})
    for i, (name, measurement) in enumerate(measured):
        levels = sorted(measurement.levels, key=lambda level: level.concurrency)
        above = _is_above(measured, i)
        _line(speed, name, i, [(x.concurrency, x.aggregate_tok_s) for x in levels], above, tok_s)
        _line(wait, name, i, [(x.concurrency, x.ttft_ms_p50) for x in levels], not above, ms)
    for axes in (speed, wait):
        _scale(axes, widths)
    legend(figure, speed.get_legend_handles_labels()[0], 2)
    set_title(figure, title)
    return finish(figure, title, _alt_text(title, measured))


def _is_above(measured: Sequence[tuple[str, Measurement]], i: int) -> bool:
    """Whether the numbers of line i stand above its points: those of the faster one do."""
    if len(measured) == 1:
        return True

    def total(m: Measurement) -> float:
        return sum(level.aggregate_tok_s or 0.0 for level in m.levels)

    mine, other = total(measured[i][1]), total(measured[1 - i][1])
    return mine > other or (mine == other and i == 0)


def _line(
    axes: Axes,
    name: str,
    i: int,
    points: Sequence[tuple[int, float | None]],
    above: bool,
    text: Callable[[float], str],
) -> None:
    known = [(x, y) for x, y in points if y is not None]
    colour, marker, dashes = _STYLES[i]
    axes.plot(
        [x for x, _ in known],
        [y for _, y in known],
        color=colour,
        marker=marker,
        linestyle=dashes,
        linewidth=2.5,
        markersize=9,
        label=name,
        clip_on=False,
    )
    for x, y in known:
        write(axes, text(y), (x, y), above=above, colour=colour, fontweight="bold")


def _scale(axes: Axes, widths: Sequence[int]) -> None:
    """Concurrencies double: a logarithmic axis with exactly the measured ones. From zero upwards."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(list(widths)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([str(w) for w in widths])
    axes.set_xlim(widths[0] / 1.45, widths[-1] * 1.45)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.14)
    axes.tick_params(axis="y", colors=SOFT)


def _alt_text(title: str, measured: Sequence[tuple[str, Measurement]]) -> str:
    said = [title + "."]
    for name, m in measured:
        each = ", ".join(_level_text(level) for level in m.levels)
        said.append(f"{name}: {each}.")
    return " ".join(said)


def _level_text(level: Level) -> str:
    speed = tok_s(level.aggregate_tok_s) if level.aggregate_tok_s is not None else "no"
    wait = f"{ms(level.ttft_ms_p50)} ms" if level.ttft_ms_p50 is not None else "unknown"
    return f"at {level.concurrency} {speed} tok/s, first token {wait}"
