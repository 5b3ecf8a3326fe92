"""Commands that look: health, history, scan, bench."""

from datetime import datetime, tzinfo
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bot.cli.texts import chunks
from bot.cli.wiring import me, print_json, stored
from bot.core.catalog.past import ACTIONS, Window, window
from bot.core.domain.measurement import Measurement, Workload
from bot.core.domain.operation import Actor
from bot.core.domain.records import from_json, to_json
from bot.core.rendering.render import render
from bot.core.rendering.terminal import render_terminal
from bot.errors import BadInputError
from bot.workflows.look_back import LOOKED_AT, Asked, look_back, report, zone_of
from bot.workflows.propose import known_host
from bot.workflows.services import Services

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (health, history, scan, bench):
        app.command()(command)


def health(host: Annotated[str | None, typer.Argument(help="One host.")] = None, as_json: Json = False) -> None:
    """Hosts, GPUs, servers and a real token of each, now. Exit code 1 when something is broken."""
    from bot.workflows.report import health as report

    with stored() as app:
        message = report(app.ready, host)
        if as_json:
            print_json(dict(message.context))
        else:
            _print(render_terminal(render(message, app.templates)))
    if message.context["judgement"] == "refuse":
        raise typer.Exit(1)


def history(
    host: Annotated[str | None, typer.Option(help="Only this host.")] = None,
    config: Annotated[str | None, typer.Option(help="Only this config.")] = None,
    action: Annotated[str | None, typer.Option(help="Only these: start, stop, restart, change or fail.")] = None,
    since: Annotated[
        str | None, typer.Option(help="“yesterday”, “monday”, “2 hours ago”, 2026-11-30, “2026-11-30 14:00” …")
    ] = None,
    until: Annotated[str | None, typer.Option(help="The same words; a day counts to its end.")] = None,
    limit: Annotated[int, typer.Option(help="How many.", min=1, max=LOOKED_AT)] = 20,
    as_json: Json = False,
) -> None:
    """What was started, stopped and changed, by whom, and how it ended; newest first."""
    if action is not None and action not in ACTIONS:
        raise typer.BadParameter(f"one of {', '.join(ACTIONS)}", param_hint="--action")
    with stored() as app:
        services = app.ready
        if config is not None and config not in services.catalog.catalog().configs:
            raise BadInputError(f"there is no config {config}", remedy="relaunch catalog list")
        asked = Asked(
            hosts=(known_host(services, host).name,) if host else (),
            configs=frozenset({config}) if config else None,
            subject=config,
            window=_window(services, me(app.settings), since, until),
            when=" ".join(part for part in (since and f"since {since}", until and f"until {until}") if part) or None,
            action=action,
            limit=limit,
            # programs want ids, people want names
            names=not as_json,
        )
        if as_json:
            print_json(report(services, asked))
        else:
            _print(render_terminal(render(look_back(services, asked), app.templates)))


def _window(services: Services, actor: Actor, since: str | None, until: str | None) -> Window | None:
    """The time from the beginning of one to the end of the other."""
    if since is None and until is None:
        return None
    now, zone = services.clock.now(), zone_of(actor)
    begun, ended = _time(since, "--since", now, zone), _time(until, "--until", now, zone)
    return Window(start=begun.start if begun else None, end=(ended.end or ended.start) if ended else None)


def _time(words: str | None, option: str, now: datetime, zone: tzinfo) -> Window | None:
    if words is None:
        return None
    found = window(words, now, zone)
    if found is None:
        raise typer.BadParameter("say a time such as yesterday, “3 days ago” or 2026-11-30", param_hint=option)
    return found


def scan(host: str, as_json: Json = False) -> None:
    """Find launches that others made on a host; read-only."""
    from bot.core.discovery.candidate import answer
    from bot.workflows.propose import known_host
    from bot.workflows.scan import scan_host, scan_message

    with stored() as app:
        if as_json:
            print_json(answer(scan_host(app.ready, known_host(app.ready, host)).candidates))
            return
        _print(render_terminal(render(scan_message(app.ready, host, "cli"), app.templates)))


def bench(
    url: Annotated[str, typer.Argument(help="http://host:port of any OpenAI-compatible server.")],
    concurrency: Annotated[str, typer.Option(help="Streams at the same time, such as 1,4,16.")] = "1",
    prompt_tokens: Annotated[int, typer.Option(min=1)] = 128,
    output_tokens: Annotated[int, typer.Option(min=2)] = 256,
    seconds: Annotated[float, typer.Option(help="Longest time for one concurrency.", min=1)] = 30.0,
    reuse_prompts: Annotated[bool, typer.Option("--reuse-prompts", help="Let prompts come from the cache.")] = False,
    model: Annotated[str | None, typer.Option(help="Served name; default: the first.")] = None,
    compare: Annotated[Path | None, typer.Option(help="JSON of an earlier run to compare with.")] = None,
    api_key: Annotated[
        str | None,
        typer.Option(envvar="RELAUNCH_BENCH_API_KEY", help="Best given in the variable.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure a server from this machine. Needs no database."""
    from bot.adapters.clock.system import SystemClock
    from bot.adapters.local_python import SubprocessPython
    from bot.core.engines import engines_by_name
    from bot.core.measuring.verdict import compare_measurements
    from bot.resources import directory
    from bot.workflows.measure import bench_url

    try:
        widths = tuple(int(part) for part in concurrency.split(","))
    except ValueError:
        raise typer.BadParameter("numbers with commas, such as 1,4,16", param_hint="--concurrency") from None
    if min(widths) < 1:
        raise typer.BadParameter("at least 1", param_hint="--concurrency")
    if "@" in url.partition("//")[2].partition("/")[0]:
        raise typer.BadParameter("no password in the address; a key goes into RELAUNCH_BENCH_API_KEY", param_hint="URL")
    earlier = _measurement(compare) if compare else None
    console = Console(stderr=True)
    measurement = bench_url(
        url.rstrip("/"),
        Workload(
            concurrency=widths,
            prompt_tokens=prompt_tokens,
            output_tokens=output_tokens,
            max_level_s=seconds,
            reuse_prompts=reuse_prompts,
        ),
        script=(directory("templates") / "scripts" / "load.py").read_bytes(),
        local=SubprocessPython(),
        engines=list(engines_by_name().values()),
        clock=SystemClock(),
        on_progress=lambda p: console.print(
            f"concurrency {p.concurrency} ({p.phase}): {p.requests} answers, {p.elapsed_s:.0f} s", highlight=False
        ),
        model=model,
        api_key=api_key,
    )
    verdict = compare_measurements(earlier, measurement) if earlier else None
    if as_json:
        print_json({**to_json(measurement), **({"verdict": to_json(verdict)} if verdict else {})})
        return
    for level in measurement.levels:
        print(
            f"at {level.concurrency}: {_number(level.aggregate_tok_s)} tok/s together, "
            f"{_number(level.decode_tok_s)} tok/s a stream (n {level.requests}, spread {_number(level.spread_pct)} %), "
            f"first token {_number(level.ttft_ms_p50)} ms, {level.stopped_because}"
        )
    if measurement.accept_length is not None:
        print(f"accept length {measurement.accept_length:.2f}")
    for line in (*measurement.caveats, *measurement.notes):
        print(f"note: {line}")
    if verdict is not None:
        print(f"verdict: {verdict.kind.value}, {_number(verdict.change_pct)} % "
              f"({_number(verdict.low_pct)} to {_number(verdict.high_pct)}); {verdict.method}")  # fmt: skip


def _measurement(file: Path) -> Measurement:
    import json

    try:
        data = json.loads(b"".join(chunks(file)))
        data.pop("verdict", None)
        return from_json(Measurement, data)
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInputError(f"{file} is no measurement", remedy="give the output of `relaunch bench --json`") from error


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1f}"


def _print(text: str) -> None:
    Console(soft_wrap=True, highlight=False).print(text, markup=False)
