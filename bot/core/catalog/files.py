"""Catalog files (the YAML shape of `catalog export`) as parsed data, to and from the vocabulary."""

import json
import math
import re
import shlex
from collections.abc import Mapping
from typing import Any

from bot.core.domain.catalog import Catalog, LaunchConfig, Measured, Revision, SecretRef, Word
from bot.core.domain.container import Container
from bot.core.domain.host import Host, Inventory, host_faults
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
    "container",
    "measured",
    "note",
    "archived",
)
_CONTAINER_FIELDS = ("image", "image_id", "tool", "options", "lead", "image_entrypoint")
_MEASURED_FIELDS = ("decode_tok_s", "accept_length", "ttft_ms")
#: a secret stays where it lives: "<secret: env file /etc/llm/hf.env>"; without its place nothing can be started
_SECRET = re.compile(r"<secret(?:: (?P<source>[^<>]+))?>")
_LONGEST_NAME = 100


def catalog_from_yaml_data(data: Any) -> tuple[Catalog, Inventory]:
    """Read parsed YAML: {hosts: {name: …}, configs: [{name, model, engine, command, …}]}.

    Raises BadInputError naming every fault."""
    faults: list[str] = []
    if not isinstance(data, Mapping):
        raise BadInputError("the catalog file is no mapping", remedy="it needs the keys `hosts` and `configs`")
    hosts = _hosts({} if data.get("hosts") is None else data["hosts"], faults)
    configs = _configs([] if data.get("configs") is None else data["configs"], faults)
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
    for name, given in data.items():
        fields = _Fields({} if given is None else given, f"host {name}", _HOST_FIELDS, faults)
        host = Host(
            name=str(name),
            address=fields.text("address") or str(name),
            port=fields.port("port"),
            user=fields.text("user"),
            gpus=fields.text("gpus") or "",
            tags=fields.texts("tags"),
            protected=fields.flag("protected"),
            via=fields.text("via"),
            identity_file=fields.text("identity_file"),
        )
        faults += [f"host {name!r}: {fault}" for fault in host_faults(host)]
        result[host.name] = host
    return result


def _configs(data: Any, faults: list[str]) -> dict[str, LaunchConfig]:
    if not isinstance(data, list):
        faults.append("`configs` is no list")
        return {}
    result: dict[str, LaunchConfig] = {}
    for place, given in enumerate(data, 1):
        name = given.get("name") if isinstance(given, Mapping) else None
        where = f"config {name}" if isinstance(name, str) else f"config {place}"
        fields = _Fields(given, where, _CONFIG_FIELDS, faults)
        missing = [key for key in ("name", "model", "engine", "command") if not fields.text(key)]
        if missing:
            faults.append(f"{where}: no {', '.join(missing)}")
            continue
        if name in result:
            faults.append(f"{where}: twice")
        config = _config(fields, where, faults)
        if config is not None:
            result[config.name] = config
    return result


def _config(fields: "_Fields", where: str, faults: list[str]) -> LaunchConfig | None:
    name = fields.text("name") or ""
    if not name.isprintable() or len(name) > _LONGEST_NAME:
        faults.append(f"{where}: a name has at most {_LONGEST_NAME} letters, all in one line")
    try:
        argv = tuple(shlex.split(fields.text("command") or ""))
    except ValueError as error:
        faults.append(f"{where}: command: {error}")
        return None
    revision = Revision(
        engine=fields.text("engine") or "",
        model=fields.text("model") or "",
        argv=tuple(word for one in argv for word in _words(one, name)),
        env=tuple((key, _word(value, name)) for key, value in fields.pairs("env").items()),
        cwd=fields.text("cwd"),
        user=fields.text("user"),
        wrappers=fields.texts("wrappers"),
        container=fields.container("container"),
        source="catalog file",
        note=fields.text("note") or "",
    )
    return LaunchConfig(
        name=name,
        revisions=(revision,),
        host=fields.text("host"),
        aliases=fields.texts("aliases"),
        tags=fields.texts("tags"),
        archived=fields.flag("archived"),
        measured=fields.measured("measured"),
    )


def _words(text: str, config: str) -> tuple[Word, ...]:
    """A word of the command. A reference is a word of its own, also behind "--flag="."""
    flag, equals, value = text.partition("=")
    if flag.startswith("-") and equals and _SECRET.fullmatch(value):
        return flag, _word(value, config)
    return (_word(text, config),)


def _word(text: str, config: str) -> Word:
    match = _SECRET.fullmatch(text)
    return SecretRef(source=match["source"] or _unplaced(config)) if match else text


def _unplaced(config: str) -> str:
    return f"catalog file, config {config}"


class _Fields:
    """Values of one entry by key, each of the kind that is asked for; what is of another kind is a fault."""

    def __init__(self, data: Any, where: str, known: tuple[str, ...], faults: list[str]) -> None:
        self._where = where
        self._faults = faults
        self._data: Mapping[Any, Any] = data if isinstance(data, Mapping) else {}
        if not isinstance(data, Mapping):
            faults.append(f"{where}: not a mapping")
        faults.extend(f"{where}: unknown key `{key}`" for key in self._data if key not in known)

    def _wrong(self, key: str, kind: str) -> None:
        self._faults.append(f"{self._where}: `{key}` is no {kind}")

    def text(self, key: str) -> str | None:
        """A text, or a number as text."""
        value = self._data.get(key)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._wrong(key, "text")
            return None
        return str(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, or one."""
        value = self._data.get(key)
        if value is None:
            return ()
        given = value if isinstance(value, list) else [value]
        if any(isinstance(one, bool) or not isinstance(one, str | int | float) for one in given):
            self._wrong(key, "list of texts")
            return ()
        return tuple(str(one) for one in given)

    def pairs(self, key: str) -> dict[str, str]:
        """A mapping of texts to texts or numbers."""
        value = self._data.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping) or not all(isinstance(one, str | int | float) for one in value.values()):
            self._wrong(key, "mapping of names to texts")
            return {}
        # YAML reads an unquoted true as a truth value; the file means the word
        return {str(k): str(v).lower() if isinstance(v, bool) else str(v) for k, v in value.items()}

    def flag(self, key: str) -> bool:
        """true or false."""
        value = self._data.get(key)
        if value is not None and not isinstance(value, bool):
            self._wrong(key, "true or false")
        return value is True

    def port(self, key: str) -> int | None:
        """A port number."""
        value = self._data.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536):
            return value
        self._wrong(key, "port (1 to 65535)")
        return None

    def measured(self, key: str) -> Measured | None:
        """What was measured before, as far as it is said."""
        value = self._data.get(key)
        if value is None:
            return None
        numbers = _Fields(value, f"{self._where}: {key}", _MEASURED_FIELDS, self._faults)
        speed, accept_length, ttft_ms = (numbers.number(name) for name in _MEASURED_FIELDS)
        return Measured(decode_tok_s=speed, accept_length=accept_length, ttft_ms=ttft_ms)

    def container(self, key: str) -> Container | None:
        """How it runs in a container."""
        value = self._data.get(key)
        if value is None:
            return None
        given = _Fields(value, f"{self._where}: {key}", _CONTAINER_FIELDS, self._faults)
        image = given.text("image")
        if not image:
            self._faults.append(f"{self._where}: {key}: no image")
            return None
        return Container(
            image=image,
            image_id=given.text("image_id"),
            tool=given.text("tool") or "docker",
            options=given.texts("options"),
            lead=given.texts("lead"),
            image_entrypoint=isinstance(value, Mapping)
            and (value.get("image_entrypoint") is None or given.flag("image_entrypoint")),
        )

    def number(self, key: str) -> float | None:
        """A finite number."""
        value = self._data.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            self._wrong(key, "number")
            return None
        return float(value)


def catalog_to_yaml_data(catalog: Catalog, inventory: Inventory) -> dict[str, Any]:
    """The inverse: plain data for a YAML writer. One revision per config (the latest); secrets as "<secret: PLACE>"."""
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
        "env": {k: _written(v, config.name) for k, v in revision.env},
        "cwd": revision.cwd,
        "user": revision.user,
        "wrappers": list(revision.wrappers),
        "container": _container_data(revision.container) if revision.container else None,
        "measured": {k: v for k, v in numbers.items() if v is not None},
        "note": revision.note,
        "archived": config.archived,
    }
    fields |= {k: v for k, v in optional.items() if v}
    return fields | {"tags": list(config.tags), "command": shlex.join(_written(w, config.name) for w in revision.argv)}


def _container_data(container: Container) -> dict[str, Any]:
    fields = {
        "image": container.image,
        "image_id": container.image_id,
        "tool": container.tool,
        "options": list(container.options),
        "lead": list(container.lead),
    }
    own = {} if container.image_entrypoint else {"image_entrypoint": False}
    return {k: v for k, v in fields.items() if v} | own


def _written(word: Word, config: str) -> str:
    if isinstance(word, str):
        return word
    return "<secret>" if word.source == _unplaced(config) else f"<secret: {word.source}>"


def dumps(data: Mapping[str, Any]) -> str:
    """Stable JSON of catalog data, for comparisons."""
    return json.dumps(data, sort_keys=True)
