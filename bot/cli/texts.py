"""Commands that read text and answer, without a database: understand, diagnose, discover."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.cli.wiring import print_json
from bot.core.domain.yaml_text import parse_yaml
from bot.core.rendering.redact import redact
from bot.errors import BadInputError

#: of one copied file; a history or script is never that long
_MOST_BYTES = 128 << 20


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(understand)
    app.command()(diagnose)
    app.command()(discover)


def understand(
    text: Annotated[str | None, typer.Argument(help="A sentence, as typed in Slack.")] = None,
    jsonl: Annotated[
        Path | None, typer.Option(help="Rows with `text` and perhaps `context`; one answer a line.")
    ] = None,
    catalog: Annotated[Path | None, typer.Option(help="Catalog file (YAML); default: the database.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say how a sentence is read. Nothing is done."""
    from bot.core.language.answer import answer, context_from_json
    from bot.core.language.understand import understand as read

    known, inventory, vocabulary = _names(catalog)
    if jsonl is not None:
        for row in rows(jsonl):
            command = read(
                str(row.get("text", "")),
                known,
                inventory,
                context_from_json(row.get("context")),
                vocabulary=vocabulary,
                now=_now(),
            )
            print(json.dumps(answer(command), ensure_ascii=False, default=str))
        return
    if text is None:
        raise typer.BadParameter("give a sentence or --jsonl FILE")
    result = answer(read(text, known, inventory, None, vocabulary=vocabulary, now=_now()))
    if as_json:
        print_json(result)
        return
    for name, value in result.items():
        if value not in (None, "", [], {}, False):
            print(f"{name}: {json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value}")


def _now() -> Any:
    from bot.adapters.clock.system import SystemClock

    return SystemClock().now()


def _names(catalog: Path | None) -> Any:
    from bot.core.catalog.files import catalog_from_yaml_data
    from bot.core.engines import engines_by_name
    from bot.core.language.vocabulary import Vocabulary

    engines = engines_by_name()
    if catalog is not None:
        known, inventory = catalog_from_yaml_data(read_yaml(catalog))
    else:
        from bot.cli.wiring import stored

        with stored() as app:
            known, inventory = app.ready.catalog.catalog(), app.ready.hosts.inventory()
    return known, inventory, Vocabulary.of(known, inventory, engines)


def diagnose(
    file: Annotated[Path | None, typer.Argument(help="A saved log, or - for standard input.")] = None,
    jsonl: Annotated[Path | None, typer.Option(help="Rows with `log_excerpt`, `launch_command`, `engine`.")] = None,
    engine: Annotated[str | None, typer.Option(help="sglang, vllm or llama.cpp.")] = None,
    command: Annotated[str | None, typer.Option(help="The launch command, if known.")] = None,
    exit_status: Annotated[int | None, typer.Option(help="Exit status of the server.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say why a launch failed or is slow, from its log."""
    from bot.core.diagnosis import answer, diagnose_row, split_command
    from bot.core.diagnosis import diagnose as find_cause
    from bot.core.engines import engines_by_name

    if jsonl is not None:
        for row in rows(jsonl):
            print(json.dumps(_redacted(answer(diagnose_row(row))), ensure_ascii=False, default=str))
        return
    if file is None:
        raise typer.BadParameter("give a log file or --jsonl FILE")
    if engine is not None and engine not in engines_by_name():
        raise typer.BadParameter(f"the engines are {', '.join(engines_by_name())}", param_hint="--engine")
    diagnosis = find_cause(chunks(file), engine=engine, argv=split_command(command), exit_status=exit_status)
    if as_json:
        print_json(_redacted(answer(diagnosis)))
        return
    print(f"{diagnosis.kind}{' (a guess)' if diagnosis.confidence == 'low' else ''}: {redact(diagnosis.cause)}")
    if diagnosis.fix and (diagnosis.evidence or diagnosis.kind != "unknown"):
        print(f"→ {redact(diagnosis.fix)}")
    for line in diagnosis.evidence:
        print(f"  line {line.number}: {redact(line.text)}")
    for name, value in diagnosis.overrides.items():
        print(f"  retry with {name} = {value}")


def _redacted(answer: dict[str, object]) -> dict[str, object]:
    """The answer without secrets that stood in the log."""
    lines = answer["lines"]
    assert isinstance(lines, list)
    shown = {"cause": redact(str(answer["cause"])), "fix": redact(str(answer["fix"]))}
    return answer | shown | {"lines": [redact(str(line)) for line in lines]}


def discover(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Copied unit files, scripts, histories, logs, folders.")
    ] = None,
    jsonl: Annotated[Path | None, typer.Option(help="Rows with `artefacts`; one answer a line.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find launches in copied files. Nothing is executed."""
    from bot.core.discovery.artefact import artefact_from_row, artefacts_from_paths
    from bot.core.discovery.candidate import answer
    from bot.core.discovery.discover import discover as find
    from bot.core.engines import engines_by_name

    engines = engines_by_name()
    if jsonl is not None:
        for row in rows(jsonl):
            given = row.get("artefacts", [])
            if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
                raise BadInputError(
                    f"{jsonl}: a row's `artefacts` is no list of objects", remedy="each has `path`, `kind`, `text`"
                )
            artefacts = [artefact_from_row(one) for one in given]
            found = find(artefacts, _moment(row.get("now")), engines=engines)
            print(json.dumps({"id": row.get("id"), **answer(found)}, ensure_ascii=False))
        return
    if not paths:
        raise typer.BadParameter("give files or folders, or --jsonl FILE")
    found = find(artefacts_from_paths(_files(paths)), None, engines=engines)
    if as_json:
        print_json(answer(found))
        return
    for candidate in found:
        where = ", ".join(str(one) for one in candidate.evidence)
        print(f"{candidate.engine} {candidate.model} port {candidate.port or 'not stated'} ({where})")
        print("  " + " ".join(str(word) for word in candidate.argv))
    if not found:
        print("no launch found", file=sys.stderr)


def _moment(text: object) -> Any:
    from datetime import UTC, datetime

    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as error:
        raise BadInputError(f"{text!r} is no time", remedy="write it as 2026-11-30T21:14:00Z") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _files(paths: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        if not path.exists():
            raise BadInputError(f"{path} is not there", remedy="give existing files or folders")
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                yield str(file), _beginning(file)
            elif not path.is_dir():
                raise BadInputError(f"{path} is no file", remedy="give files or folders")


def _beginning(file: Path) -> bytes:
    pieces, size = [], 0
    for piece in chunks(file):
        pieces.append(piece)
        size += len(piece)
        if size > _MOST_BYTES:
            print(f"{file}: only the first {_MOST_BYTES >> 20} MiB are read", file=sys.stderr)
            break
    return b"".join(pieces)


def chunks(file: Path) -> Iterator[bytes]:
    """A file in pieces; "-" is standard input. Raises BadInputError."""
    if str(file) == "-":
        while piece := sys.stdin.buffer.read(1 << 20):
            yield piece
        return
    try:
        with file.open("rb") as source:
            while piece := source.read(1 << 20):
                yield piece
    except OSError as error:
        raise BadInputError(f"{file} cannot be read: {error.strerror}", remedy="give a readable file") from error


def rows(file: Path) -> Iterator[dict[str, Any]]:
    """Rows of a JSONL file. Raises BadInputError with the line."""
    for number, line in enumerate(b"".join(chunks(file)).decode("utf-8", "replace").split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInputError(f"{file} line {number} is no JSON: {error}", remedy="one JSON object a line") from error
        if not isinstance(row, dict):
            raise BadInputError(f"{file} line {number} is no JSON object", remedy="one JSON object a line")
        yield row


def read_yaml(file: Path) -> Any:
    """A YAML file. Raises BadInputError."""
    remedy = "see `relaunch catalog export` for the shape"
    try:
        return parse_yaml(b"".join(chunks(file)).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadInputError(f"{file} is no UTF-8 text: {error}", remedy=remedy) from error
    except BadInputError as error:
        raise BadInputError(f"{file}: {error.message}", remedy=error.remedy or remedy) from error
