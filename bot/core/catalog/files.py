"""Catalog files (the YAML shape of `catalog export`) as parsed data, to and from the vocabulary."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from bot.core.domain.catalog import Catalog, LaunchConfig, Measured, Revision, SecretRef, Word
from bot.core.domain.host import Host, Inventory
from bot.errors import BadInputError

_HOST_FIELDS = ("address", "port", "user", "gpus", "tags", "protected", "via", "identity_file")
_CONFIG_FIELDS = (
    "name",
    "model",
    "engine",
    "host",
    "aliases",
    "tags",
    "command",
    "env",
    "cwd",
    "user",
    "wrappers",
    "measured",
    "note",
    "archived",
)
_SECRET = "<secret>"


def catalog_from_yaml_data(data: Any) -> tuple[Catalog, Inventory]:
    """Read parsed YAML: {hosts: {name: …}, configs: [{name, model, engine, command, …}]}.

    Raises BadInputError naming every fault."""
    faults: list[str] = []
    if not isinstance(data, Mapping):
        raise BadInputError("the catalog file is no mapping", remedy="it needs the keys `hosts` and `configs`")
    hosts = _hosts(data.get("hosts") or {}, faults)
    configs = _configs(data.get("configs") or [], faults)
    faults += [f"unknown key `{k}`" for k in data if k not in ("hosts", "configs")]
    if faults:
        raise BadInputError(
            "catalog file: " + "; ".join(faults), remedy="correct the file; `relaunch catalog export` shows the shape"
        )
    return Catalog(configs=configs), Inventory(hosts=hosts)


def _hosts(data: Any, faults: list[str]) -> dict[str, Host]:
    if not isinstance(data, Mapping):
        faults.append("`hosts` is no mapping")
        return {}
    result: dict[str, Host] = {}
    for name, fields in data.items():
        fields = fields or {}
        if not isinstance(fields, Mapping):
            faults.append(f"host {name}: not a mapping")
            continue
        faults.extend(f"host {name}: unknown key `{k}`" for k in fields if k not in _HOST_FIELDS)
        result[str(name)] = Host(
            name=str(name),
            address=str(fields.get("address") or name),
            port=_number(fields.get("port"), f"host {name}: port", faults),
            user=_text(fields.get("user")),
            gpus=str(fields.get("gpus") or ""),
            tags=_texts(fields.get("tags")),
            protected=bool(fields.get("protected")),
            via=_text(fields.get("via")),
            identity_file=_text(fields.get("identity_file")),
        )
    return result


def _configs(data: Any, faults: list[str]) -> dict[str, LaunchConfig]:
    result: dict[str, LaunchConfig] = {}
    for place, fields in enumerate(data if isinstance(data, list) else []):
        where = f"config {fields.get('name') or place + 1}" if isinstance(fields, Mapping) else f"config {place + 1}"
        missing = [
            k for k in ("name", "model", "engine", "command") if not isinstance(fields, Mapping) or not fields.get(k)
        ]
        if missing:
            faults.append(f"{where}: no {', '.join(missing)}")
            continue
        faults.extend(f"{where}: unknown key `{k}`" for k in fields if k not in _CONFIG_FIELDS)
        if fields["name"] in result:
            faults.append(f"{where}: twice")
        config = _config(fields, where, faults)
        if config is not None:
            result[config.name] = config
    return result


def _config(fields: Mapping[str, Any], where: str, faults: list[str]) -> LaunchConfig | None:
    try:
        argv = tuple(shlex.split(str(fields["command"])))
    except ValueError as error:
        faults.append(f"{where}: command: {error}")
        return None
    env = fields.get("env") or {}
    revision = Revision(
        engine=str(fields["engine"]),
        model=str(fields["model"]),
        argv=tuple(_word(w, str(fields["name"])) for w in argv),
        env=tuple((str(k), _word(str(v), str(fields["name"]))) for k, v in env.items()),
        cwd=_text(fields.get("cwd")),
        user=_text(fields.get("user")),
        wrappers=_texts(fields.get("wrappers")),
        source="catalog file",
        note=str(fields.get("note") or ""),
    )
    return LaunchConfig(
        name=str(fields["name"]),
        revisions=(revision,),
        host=_text(fields.get("host")),
        aliases=_texts(fields.get("aliases")),
        tags=_texts(fields.get("tags")),
        archived=bool(fields.get("archived")),
        measured=_measured(fields.get("measured")),
    )


def _word(text: str, config: str) -> Word:
    return SecretRef(source=f"catalog file, config {config}") if text == _SECRET else text


def _measured(data: Any) -> Measured | None:
    if not isinstance(data, Mapping):
        return None
    return Measured(
        decode_tok_s=_float(data.get("decode_tok_s")),
        accept_length=_float(data.get("accept_length")),
        ttft_ms=_float(data.get("ttft_ms")),
    )


def _number(value: Any, what: str, faults: list[str]) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    faults.append(f"{what} is no number")
    return None


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(str(v) for v in value) if isinstance(value, list | tuple) else (str(value),)


def catalog_to_yaml_data(catalog: Catalog, inventory: Inventory) -> dict[str, Any]:
    """The inverse: plain data for a YAML writer. One revision per config (the latest); secrets as "<secret>"."""
    return {
        "hosts": {name: _host_data(host) for name, host in inventory.hosts.items()},
        "configs": [_config_data(config) for config in catalog.configs.values()],
    }


def _host_data(host: Host) -> dict[str, Any]:
    fields: dict[str, Any] = {"address": host.address}
    optional = {
        "port": host.port,
        "user": host.user,
        "gpus": host.gpus,
        "tags": list(host.tags),
        "protected": host.protected,
        "via": host.via,
        "identity_file": host.identity_file,
    }
    return fields | {k: v for k, v in optional.items() if v}


def _config_data(config: LaunchConfig) -> dict[str, Any]:
    revision = config.latest
    fields: dict[str, Any] = {"name": config.name, "model": revision.model, "engine": revision.engine}
    measured = config.measured
    numbers = (
        {"decode_tok_s": measured.decode_tok_s, "accept_length": measured.accept_length, "ttft_ms": measured.ttft_ms}
        if measured
        else {}
    )
    optional = {
        "host": config.host,
        "aliases": list(config.aliases),
        "env": {k: str(v) for k, v in revision.env},
        "cwd": revision.cwd,
        "user": revision.user,
        "wrappers": list(revision.wrappers),
        "measured": {k: v for k, v in numbers.items() if v is not None},
        "note": revision.note,
        "archived": config.archived,
    }
    fields |= {k: v for k, v in optional.items() if v}
    return fields | {"tags": list(config.tags), "command": shlex.join(str(w) for w in revision.argv)}


def dumps(data: Mapping[str, Any]) -> str:
    """Stable JSON of catalog data, for comparisons."""
    return json.dumps(data, sort_keys=True)
