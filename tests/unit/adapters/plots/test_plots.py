"""Pictures: size, opaque background, contrast, and alt text that carries the numbers."""

import io
from datetime import UTC, datetime, timedelta

import pytest
from matplotlib.image import imread

from bot.adapters.plots import picture as style
from bot.adapters.plots.history import history_plot
from bot.adapters.plots.levels import levels_plot
from bot.core.domain.measurement import Level, Measurement, Workload
from bot.core.domain.picture import LaunchPoint, Picture

FIRST = datetime(2026, 9, 3, tzinfo=UTC)


def launch(number: int, tok_s: float, change: str = "", *, doubtful: bool = False) -> LaunchPoint:
    return LaunchPoint(
        number=number,
        measured_at=FIRST + timedelta(days=number),
        decode_tok_s=tok_s,
        low=tok_s * 0.98,
        high=tok_s * 1.02,
        change=change,
        doubtful=doubtful,
    )


def measurement(*levels: tuple[int, float | None, float | None]) -> Measurement:
    made = tuple(
        Level(
            concurrency=width,
            requests=9,
            failed=0,
            aggregate_tok_s=tok_s,
            decode_tok_s=tok_s,
            spread_pct=2,
            ttft_ms_p50=wait,
            ttft_ms_p95=wait,
            ttft_ms_p99=wait,
            itl_ms_p50=1,
            itl_ms_p95=2,
        )
        for width, tok_s, wait in levels
    )
    return Measurement(measured_at=FIRST, workload=Workload(), levels=made)


def check(made: Picture) -> None:
    """900 x 600 at two pixels each, opaque to the corners."""
    pixels = imread(io.BytesIO(made.png), format="png")
    assert pixels.shape[:2] == (1200, 1800)
    assert pixels.shape[2] == 3 or float(pixels[..., 3].min()) == 1.0
    paper = [int(style.PAPER[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    assert [round(float(v), 2) for v in pixels[0, 0, :3]] == [round(v, 2) for v in paper]
    assert 0 < len(made.alt_text) <= style.ALT_LIMIT


def test_history_carries_numbers_changes_and_doubts() -> None:
    points = [launch(3, 68.4), launch(7, 52.3, doubtful=True), launch(11, 40.7, "3 → 1 steps"), launch(12, 69.8)]
    made = history_plot("qwen", "gpu1", points, baseline_tok_s=70.2, noise_pct=3.5)
    check(made)
    for said in ("qwen on gpu1", "70.2", "3.5 %", "#3 68.4", "#7 52.3 disturbed", "#11 40.7 (3 → 1 steps)", "#12 69.8"):
        assert said in made.alt_text


def test_a_long_history_shows_the_newest_and_says_so() -> None:
    made = history_plot("qwen " * 30, "gpu1", [launch(i, 70) for i in range(40)], baseline_tok_s=None, noise_pct=3.5)
    check(made)
    assert "last 16 of 40" in made.alt_text
    assert "#39" in made.alt_text
    assert "#23 " not in made.alt_text


def test_one_launch_is_enough_and_none_is_an_error() -> None:
    check(history_plot("qwen", "gpu1", [launch(1, 70)], baseline_tok_s=None, noise_pct=3.5))
    with pytest.raises(ValueError, match="no measured launch"):
        history_plot("qwen", "gpu1", [], baseline_tok_s=None, noise_pct=3.5)


def test_levels_of_two_launches() -> None:
    old, new = measurement((1, 517, 42), (8, 3038, 180)), measurement((1, 340, 44), (8, 2313, 240), (16, 3000, 400))
    made = levels_plot("1 step against 3", [("#9, 3 steps", old), ("#11, 1 step", new)])
    check(made)
    assert "#9, 3 steps: at 1 517 tok/s, first token 42 ms, at 8 3038 tok/s" in made.alt_text
    assert "at 16 3000 tok/s" in made.alt_text


def test_a_level_where_every_request_failed_is_left_out_of_the_line() -> None:
    made = levels_plot("broken", [("#1", measurement((1, 50, 40), (8, None, None)))])
    check(made)
    assert "at 8 no tok/s, first token unknown" in made.alt_text
    with pytest.raises(ValueError, match="at least one concurrency"):
        levels_plot("empty", [("#1", measurement())])


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", [style.INK, style.SOFT, style.BLUE, style.RUST])
@pytest.mark.parametrize("ground", [style.PAPER])
def test_every_colour_of_text_is_readable(colour: str, ground: str) -> None:
    dark, light = sorted((luminance(colour), luminance(ground)))
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_the_background_stands_out_from_neither_light_nor_dark() -> None:
    assert 0.7 < luminance(style.PAPER) < 1.0
