"""`relaunch hosts …`: list, add, remove, trust."""

import sys
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from bot.cli.wiring import me, print_json, stored
from bot.core.domain.host import Host, host_faults
from bot.core.domain.records import to_json
from bot.errors import BadInputError, RelaunchError
from bot.workflows.hosts import trust as pin
from bot.workflows.look import look_everywhere
from bot.workflows.propose import known_host

app = typer.Typer(help="Hosts.", no_args_is_help=True)


@app.command("list")
def list_hosts(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ask: Annotated[bool, typer.Option("--ask", help="Ask each host whether it answers.")] = False,
) -> None:
    """Known hosts."""
    with stored() as opened:
        hosts = opened.ready.hosts.inventory().hosts
        seen = look_everywhere(opened.ready, hosts.values(), only=("uptime",)) if ask else {}
    if as_json:
        print_json([to_json(host) for host in hosts.values()])
        return
    if not hosts:
        print("no host is known yet: relaunch hosts add NAME ADDRESS", file=sys.stderr)
        return
    table = Table("host", "address", "GPUs", "tags", *(["answers"] if ask else []))
    for name, host in hosts.items():
        error = seen.get(name)
        answers = error.message if isinstance(error, RelaunchError) else "yes"
        where = f"{host.user + '@' if host.user else ''}{host.address}{f':{host.port}' if host.port else ''}"
        marks = [*host.tags, *(["protected"] if host.protected else [])]
        table.add_row(name, where, host.gpus, ", ".join(marks), *([answers] if ask else []))
    Console(soft_wrap=True).print(table)


@app.command()
def add(
    name: str,
    address: Annotated[str, typer.Argument(help="DNS name, IP address, or a Host of ~/.ssh/config.")],
    user: Annotated[str | None, typer.Option(help="Login.")] = None,
    port: Annotated[int | None, typer.Option(help="SSH port.", min=1, max=65535)] = None,
    gpus: Annotated[str | None, typer.Option(help='As people write it: "2x NVIDIA RTX A6000 48GB".')] = None,
    tag: Annotated[list[str] | None, typer.Option(help="May be given several times.")] = None,
    via: Annotated[str | None, typer.Option(help="Jump host, as in ProxyJump.")] = None,
    identity: Annotated[str | None, typer.Option(help="Private key file.")] = None,
    protected: Annotated[
        bool | None, typer.Option("--protected/--no-protected", help="Everything there needs an approval.")
    ] = None,
) -> None:
    """Add a host, or change it: what is not said stays as it was."""
    given = {
        "user": user,
        "port": port,
        "gpus": gpus,
        "tags": tuple(tag) if tag else None,
        "via": via,
        "identity_file": identity,
        "protected": protected,
    }
    said: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    with stored() as opened:
        known = opened.ready.hosts.inventory().hosts.get(name)
        host = replace(known or Host(name=name, address=address), address=address, **said)
        if faults := host_faults(host):
            raise BadInputError("; ".join(faults), remedy="relaunch hosts add NAME ADDRESS")
        opened.ready.hosts.save(host)
    print(f"{'changed' if known else 'added'} {name}; next: relaunch hosts trust {name}", file=sys.stderr)


@app.command()
def remove(name: str) -> None:
    """Forget a host; its history stays."""
    with stored() as opened:
        if not opened.ready.hosts.remove(name):
            raise BadInputError(f"{name} is not a known host", remedy="relaunch hosts list")


@app.command()
def trust(
    name: str,
    fingerprint: Annotated[str | None, typer.Option(help="Pin only if the host shows this key.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Show the key that a host presents, and pin it."""
    with stored() as opened:
        services = opened.ready
        shown = services.remote.fingerprint(known_host(services, name))
        print(f"{name} shows {shown}")
        if fingerprint is not None and fingerprint != shown:
            raise BadInputError(f"that is not {fingerprint}", remedy="do not trust it; ask whoever runs the host")
        if not (yes or fingerprint or typer.confirm("Is that the right key?", default=False)):
            raise typer.Exit(1)
        pin(services, name, shown, me(opened.settings))
    print(f"pinned the key of {name}", file=sys.stderr)
