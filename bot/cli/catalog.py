"""`relaunch catalog …`: list, show, diff, import, export."""

import sys
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.console import Console
from rich.table import Table

from bot.cli import catalog_edit
from bot.cli.texts import read_yaml
from bot.cli.wiring import print_json, stored
from bot.commands.catalog import row
from bot.commands.show import describe
from bot.core.catalog.files import catalog_from_yaml_data, catalog_to_yaml_data, dumps
from bot.core.discovery.secrets import without_secrets
from bot.core.domain.catalog import Catalog, LaunchConfig
from bot.core.domain.host import Inventory
from bot.core.domain.message import Payload
from bot.core.domain.records import to_json
from bot.core.rendering.render import render
from bot.core.rendering.terminal import render_terminal
from bot.errors import BadInputError
from bot.workflows.compare import diff_configs

app = typer.Typer(help="Launch configs.", no_args_is_help=True)
catalog_edit.add_to(app)


@app.command("list")
def list_configs(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """All configs with how well they are proven."""
    with stored() as opened:
        catalog = opened.ready.catalog.catalog()
    rows = [row(catalog, config) for config in catalog.configs.values()]
    if as_json:
        print_json(rows)
        return
    table = Table("config", "engine", "model", "host", "tags", "tok/s", "ready/launches")
    for one in rows:
        speed = f"{one['decode_tok_s']:.1f}" if one["decode_tok_s"] is not None else ""
        counts = f"{one['ready']}/{one['launches']}"
        table.add_row(one["name"], one["engine"], one["model"], one["host"], ", ".join(one["tags"]), speed, counts)
    Console(soft_wrap=True).print(table)


@app.command()
def show(name: str, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """One config, its revision, and where each field comes from."""
    with stored() as opened:
        config = opened.ready.catalog.catalog().configs.get(name)
        if config is None:
            raise BadInputError(f"there is no config {name}", remedy="relaunch catalog list")
        if as_json:
            print_json(to_json(config))
            return
        _print(render(describe(opened.ready, name), opened.templates))


@app.command()
def diff(a: str, b: str, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """What differs between two configs, grouped by meaning."""
    with stored() as opened:
        if as_json:
            print_json(dict(diff_configs(opened.ready, a, b).context))
            return
        _print(render(diff_configs(opened.ready, a, b), opened.templates))


@app.command("import")
def import_file(
    file: Path,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Read hosts and configs from a YAML file; shows first what would change."""
    catalog, inventory = catalog_from_yaml_data(read_yaml(file))
    with stored() as opened:
        services = opened.ready
        _known_engines(catalog, services.engines)
        catalog = _without_secrets(catalog)
        hosts, configs = services.hosts.inventory().hosts, services.catalog.catalog().configs
        for config in catalog.configs.values():
            if config.host is not None and config.host not in hosts | inventory.hosts:
                print(f"note: {config.name} runs on {config.host}, which is no known host", file=sys.stderr)
        new_hosts = [host for name, host in inventory.hosts.items() if hosts.get(name) != host]
        new_configs = [
            config
            for name, config in catalog.configs.items()
            if name not in configs or catalog_text(configs[name]) != catalog_text(config)
        ]
        for host in new_hosts:
            print(f"{'change' if host.name in hosts else 'add'} host {host.name}")
        for config in new_configs:
            print(f"{'change' if config.name in configs else 'add'} config {config.name}")
        if not new_hosts and not new_configs:
            print("nothing to change")
            return
        if dry_run or not (yes or typer.confirm("Go on?", default=True)):
            raise typer.Exit(0 if dry_run else 1)
        for host in new_hosts:
            services.hosts.save(host)
        for config in new_configs:
            services.catalog.save(config)


def _without_secrets(catalog: Catalog) -> Catalog:
    configs = {}
    for name, config in catalog.configs.items():
        latest = without_secrets(config.latest, f"catalog file, config {name}")
        if latest != config.latest:
            print(
                f"note: {name} holds a secret, which is not stored. Put it in a file on the host and write its place "
                "instead: <secret: env file /path>",
                file=sys.stderr,
            )
        configs[name] = replace(config, revisions=(*config.revisions[:-1], latest))
    return replace(catalog, configs=configs)


def _known_engines(catalog: Catalog, engines: Collection[str]) -> None:
    strange = [
        f"{one.name}: {one.latest.engine}" for one in catalog.configs.values() if one.latest.engine not in engines
    ]
    if strange:
        raise BadInputError(
            f"no such engine: {', '.join(strange)}", remedy=f"the engines are {', '.join(sorted(engines))}"
        )


def catalog_text(config: LaunchConfig) -> str:
    """A config as its file has it, for comparison."""
    return dumps(catalog_to_yaml_data(Catalog(configs={config.name: config}), Inventory()))


@app.command("export")
def export_file(file: Annotated[Path | None, typer.Argument(help="Default: standard output.")] = None) -> None:
    """Write hosts and configs as YAML, to be kept in git."""
    with stored() as opened:
        data = catalog_to_yaml_data(opened.ready.catalog.catalog(), opened.ready.hosts.inventory())
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110)
    if file is None:
        print(text, end="")
    else:
        try:
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise BadInputError(f"{file} cannot be written: {error.strerror}", remedy="give another file") from error


def _print(payload: Payload) -> None:
    Console(soft_wrap=True, highlight=False).print(render_terminal(payload), markup=False)
