"""The command `relaunch`."""

import io
import sys
from typing import Annotated

import typer

from bot.cli import catalog, hosts, say, serve, texts, watching
from bot.errors import RelaunchError

app = typer.Typer(
    name="relaunch",
    help="Remembers, repeats and proves launches of LLM inference servers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (serve, say, texts, watching):
    module.add_to(app)
app.add_typer(catalog.app, name="catalog")
app.add_typer(hosts.app, name="hosts")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(version("relaunch"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of all commands."""


def main() -> None:
    """Run; errors of ours become one or two lines on stderr and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # text that somebody's file held may be none; in JSON such an escape is right as it is
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except RelaunchError as error:
        print(f"relaunch: {error.message}", file=sys.stderr)
        if error.remedy:
            print(f"  → {error.remedy}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
