"""Two measurements -> Verdict: faster, same within noise, slower, or cannot tell.

Method. The answers of one request wave share their fate, so each wave gives one value, its median. Of the logarithms of
these the trimmed means are compared with Yuen's and Welch's t interval, 95 %. A server launched twice
is not equally fast twice, so the variance between launches is added to what one run shows: without it two runs of the
same launch would be called different far too often. Several concurrencies are averaged into one comparison.
Figures are decode tok/s of one stream; change in per cent of the baseline.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median, stdev

from bot.core.domain.measurement import Level, Measurement, Verdict, VerdictKind
from bot.core.measuring.fairness import DISTURBING

#: standard deviation between launches of one revision on one host, per cent. Five launches on an H200 gave 522, 498,
#: 502, 538 and 510 tok/s alone (3.1 %) and 3,107, 3,041, 3,296, 3,155 and 3,060 at eight streams (3.2 %), part of it
#: within a run; one warm server measured again spread by less than half of that. More than this would hide changes of
#: 10 %; from five measurements of a config on, its own noise is taken
RUN_NOISE_PCT = 1.75
#: standard deviation between machines of one kind, per cent: one launch gave 517 to 531 here and 538 to 565 there
MACHINE_NOISE_PCT = 3.5
CONFIDENCE = 0.95
#: an interval wider than this to either side says too little to call two launches the same
TOO_WIDE_PCT = 10.0
#: share cut off at each end, from eight values on: fewer cannot spare any
TRIM = 0.2
TRIM_FROM = 8
MIN_WAVES = 3

#: facts that say nothing of what was launched
_VOLATILE = frozenset(
    [
        "sm_mhz",
        "speculation_from",
        "gpu_uuids",
        "gpu_cards",
        "gpus_used",
        "gpus_power_limit_w",
        "power_limit_w",
        "served_model",
        "host",
        "endpoint",
        "temperature",
        "url",
    ]
)


@dataclass(frozen=True, slots=True)
class _Estimate:
    """Mean log ratio (current to baseline), its variance and Welch's degrees of freedom."""

    ratio: float
    variance: float
    freedom: float


def wave_medians(samples: Sequence[float], width: int) -> tuple[float, ...]:
    """Medians of consecutive waves of `width` samples; smaller groups where that would leave too few of them."""
    size = max(1, min(width, len(samples) // 4))
    return tuple(median(samples[i : i + size]) for i in range(0, len(samples) - size + 1, size))


def compare(
    baseline: Sequence[Level],
    current: Sequence[Level],
    *,
    run_noise_pct: float = RUN_NOISE_PCT,
    same_host: bool = True,
    notes: Sequence[str] = (),
) -> Verdict:
    """Compare the concurrencies that both have. `run_noise_pct`: spread between launches, see `run_noise`."""
    pairs = _common(baseline, current)
    method = _method(run_noise_pct, same_host)
    if not pairs:
        return _cannot_tell(method, ("no concurrency was measured with at least three answers on both sides", *notes))
    shared = 2 * _log_sd(run_noise_pct) ** 2 + (0 if same_host else 2 * _log_sd(MACHINE_NOISE_PCT) ** 2)
    each = {width: _estimate(old, new) for width, (old, new) in pairs.items()}
    total = _average(tuple(each.values()))
    change, low, high = _interval(total, shared, CONFIDENCE)
    kind = _kind(low, high)
    said = [*_per_level(each, shared), *notes]
    if _split(each, shared):
        said.insert(0, "faster at one concurrency and slower at another")
        kind = VerdictKind.CANNOT_TELL
    elif kind is VerdictKind.CANNOT_TELL:
        said.insert(0, f"too few or too scattered answers: the interval is {low:+.0f} to {high:+.0f} %")
    return Verdict(
        kind=kind,
        change_pct=round(change, 1),
        low_pct=round(low, 1),
        high_pct=round(high, 1),
        method=method,
        notes=tuple(said),
    )


def compare_measurements(
    baseline: Measurement, current: Measurement, *, run_noise_pct: float = RUN_NOISE_PCT
) -> Verdict:
    """Compare two measurements, with what else differs between them (facts) and what was doubtful about either."""
    old, new = baseline.facts, current.facts
    same_host = _same_host(old, new)
    notes = [f"{name.replace('_', ' ')}: {old.get(name, '?')} → {new.get(name, '?')}" for name in differing(old, new)]
    if not same_host:
        notes.insert(
            0,
            f"another machine: two of one kind differ by up to {2 * MACHINE_NOISE_PCT:.0f} %, which is in the interval",
        )
    if reason := _other_work(baseline, current):
        return _cannot_tell(_method(run_noise_pct, same_host), (reason, *notes))
    verdict = compare(baseline.levels, current.levels, run_noise_pct=run_noise_pct, same_host=same_host, notes=notes)
    return _doubted(verdict, baseline, current)


def differing(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, ...]:
    """Facts known on both sides that differ and speak of what was launched or where."""
    return tuple(sorted(k for k in old.keys() & new.keys() if old[k] != new[k] and k not in _VOLATILE))


def run_noise(measurements: Sequence[Measurement], concurrency: int) -> float:
    """Standard deviation, per cent, between launches of one revision on one host; the default where fewer than five
    undisturbed measurements are at hand, and never under half of it."""
    speeds = [
        level.decode_tok_s
        for m in measurements
        if not DISTURBING & set(m.doubts) and (level := m.level(concurrency)) and level.decode_tok_s
    ]
    if len(speeds) < 5:
        return RUN_NOISE_PCT
    return max(RUN_NOISE_PCT / 2, 100 * stdev(math.log(s) for s in speeds))


def _common(
    baseline: Sequence[Level], current: Sequence[Level]
) -> dict[int, tuple[tuple[float, ...], tuple[float, ...]]]:
    old = {level.concurrency: level for level in baseline}
    pairs = {}
    for level in current:
        if level.concurrency not in old:
            continue
        a = wave_medians(_positive(old[level.concurrency].samples), level.concurrency)
        b = wave_medians(_positive(level.samples), level.concurrency)
        if min(len(a), len(b)) >= MIN_WAVES:
            pairs[level.concurrency] = (a, b)
    return pairs


def _positive(samples: Sequence[float]) -> tuple[float, ...]:
    return tuple(s for s in samples if s > 0 and math.isfinite(s))


def _estimate(old: Sequence[float], new: Sequence[float]) -> _Estimate:
    a, b = _trimmed(old), _trimmed(new)
    variance = a[1] + b[1]
    freedom = variance**2 / (a[1] ** 2 / a[2] + b[1] ** 2 / b[2]) if variance > 0 else 1e6
    return _Estimate(b[0] - a[0], variance, freedom)


def _trimmed(values: Sequence[float]) -> tuple[float, float, int]:
    """Trimmed mean of the logarithms, the variance of that mean (Yuen) and its degrees of freedom."""
    from scipy import stats  # half of a command's start-up time, and most commands compare nothing

    logs = [math.log(v) for v in values]
    share = TRIM if len(logs) >= TRIM_FROM else 0.0
    error = float(stats.mstats.trimmed_stde(logs, limits=(share, share))) if share else float(stats.sem(logs))
    return float(stats.trim_mean(logs, share)), error**2, len(logs) - 2 * int(share * len(logs)) - 1


def _average(each: Sequence[_Estimate]) -> _Estimate:
    """Average over concurrencies."""
    n = len(each)
    variance = sum(e.variance for e in each) / n**2
    below = sum((e.variance / n**2) ** 2 / e.freedom for e in each)
    return _Estimate(sum(e.ratio for e in each) / n, variance, variance**2 / below if below > 0 else 1e6)


def _interval(estimate: _Estimate, shared: float, confidence: float) -> tuple[float, float, float]:
    """Change, low and high in per cent. `shared`, the variance between launches, is known: it costs no freedom."""
    from scipy import stats  # half of a command's start-up time, and most commands compare nothing

    variance = estimate.variance + shared
    if estimate.variance > 0:
        freedom = variance**2 / (estimate.variance**2 / estimate.freedom)
    else:
        freedom = 1e6
    half = float(stats.t.ppf(0.5 + confidence / 2, freedom)) * math.sqrt(variance)
    return _pct(estimate.ratio), _pct(estimate.ratio - half), _pct(estimate.ratio + half)


def _kind(low: float, high: float) -> VerdictKind:
    if low > 0:
        return VerdictKind.FASTER
    if high < 0:
        return VerdictKind.SLOWER
    return VerdictKind.CANNOT_TELL if max(-low, high) > TOO_WIDE_PCT else VerdictKind.SAME


def _split(each: Mapping[int, _Estimate], shared: float) -> bool:
    """Whether one concurrency is faster and another slower, each beyond an interval corrected for their number."""
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(each))
    kinds = {_kind(*_interval(e, shared, confidence)[1:]) for e in each.values()}
    return {VerdictKind.FASTER, VerdictKind.SLOWER} <= kinds


def _per_level(each: Mapping[int, _Estimate], shared: float) -> list[str]:
    if len(each) < 2:
        return []
    said = []
    for width, estimate in sorted(each.items()):
        change, low, high = _interval(estimate, shared, CONFIDENCE)
        said.append(f"at {width}: {change:+.1f} % ({low:+.1f} to {high:+.1f})")
    return said


def _method(run_noise_pct: float, same_host: bool) -> str:
    between = f"{run_noise_pct:g} % between launches" + (
        "" if same_host else f" and {MACHINE_NOISE_PCT:g} % between machines"
    )
    return f"Welch–Yuen t interval of trimmed log wave medians, {CONFIDENCE:.0%}, with {between}"


def _same_host(old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Same GPUs where both are known (a host may have several), else the same host name; unknown counts as the same."""
    both = [name for name in ("host", "gpu_uuids") if old.get(name) and new.get(name)]
    return all(old[name] == new[name] for name in both)


def _other_work(old: Measurement, new: Measurement) -> str:
    """Why two workloads cannot be compared, or an empty string."""
    a, b = old.workload, new.workload
    for name, x, y, most in (
        ("prompt", a.prompt_tokens, b.prompt_tokens, 1.5),
        ("answer", a.output_tokens, b.output_tokens, 2.0),
    ):
        if max(x, y) > most * max(1, min(x, y)):
            return f"another workload: {name}s of {x} and of {y} tokens"
    if old.facts.get("endpoint", "") != new.facts.get("endpoint", ""):
        return "another workload: one through chat completions, the other through completions"
    return ""


def _doubted(verdict: Verdict, old: Measurement, new: Measurement) -> Verdict:
    """Keep a verdict only where no disturbance on one side explains it."""
    only_old = DISTURBING & (set(old.doubts) - set(new.doubts))
    only_new = DISTURBING & (set(new.doubts) - set(old.doubts))
    notes = [f"baseline: {c}" for c in old.caveats] + [f"now: {c}" for c in new.caveats]
    kind = verdict.kind
    why: tuple[str, ...] = ()
    if verdict.kind is VerdictKind.SLOWER and only_new:
        kind, why = VerdictKind.CANNOT_TELL, ("slower, but this measurement was disturbed: measure again",)
    elif verdict.kind is VerdictKind.FASTER and only_old:
        kind, why = VerdictKind.CANNOT_TELL, ("faster, but the baseline was disturbed: measure it again",)
    return replace(verdict, kind=kind, notes=(*why, *verdict.notes, *notes))


def _cannot_tell(method: str, notes: Sequence[str]) -> Verdict:
    return Verdict(
        kind=VerdictKind.CANNOT_TELL, change_pct=None, low_pct=None, high_pct=None, method=method, notes=tuple(notes)
    )


def _log_sd(pct: float) -> float:
    return math.log1p(pct / 100)


def _pct(log_ratio: float) -> float:
    return 100 * math.expm1(log_ratio)
