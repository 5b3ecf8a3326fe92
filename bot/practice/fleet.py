"""Read fleet.yaml, start its hosts, and write the catalog file that the bot imports."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paramiko
import yaml

from bot.practice.engines.install import make_environment, write_llama_server
from bot.practice.hosts import PracticeHost, models
from bot.practice.hosts.host import Cards
from bot.practice.hosts.sshd import make_key

FLEET = Path(__file__).parent / "fleet.yaml"
_MODELS = {"qwen_27b": models.qwen_27b, "moe_80b": models.moe_80b}
_PORT_TRIES = 200


@dataclass(frozen=True)
class Fleet:
    """Running hosts by name, and the filled catalog in the shape of a catalog file."""

    hosts: Mapping[str, PracticeHost]
    catalog: dict[str, Any]
    suggestions: list[str]

    def stop(self) -> None:
        """End everything that runs on the hosts."""
        for host in self.hosts.values():
            host.stop()


def start_fleet(
    data: Path, identity: Path, settings: dict[str, str], *, only: list[str] | None = None, path: Path = FLEET
) -> Fleet:
    """Start the hosts of a fleet file (`only` these) below `data`; all accept the key in the file `identity`."""
    user_key = make_key(identity)
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    hosts: dict[str, PracticeHost] = {}
    listed: dict[str, Any] = {}
    ports: dict[str, int] = {}
    for name, entry in content["hosts"].items():
        if only is not None and name not in only:
            continue
        own = entry.pop("practice")
        host = _host(data, name, entry, own, user_key, settings)
        hosts[name] = host
        ports[name] = _free_port(int(own["port"]), set(ports.values()))
        listed[name] = entry | {"address": "127.0.0.1", "port": host.start(), "identity_file": str(identity)}
        _furnish(host, own)
    configs = [
        config | {"command": config["command"].replace("{port}", str(ports[config["host"]]))}
        for config in content["configs"]
        if config["host"] in hosts
    ]
    return Fleet(hosts, {"hosts": listed, "configs": configs}, list(content.get("suggestions", [])))


def _host(
    data: Path, name: str, entry: dict[str, Any], own: dict[str, Any], user_key: paramiko.PKey, settings: dict[str, str]
) -> PracticeHost:
    return PracticeHost(
        data,
        name,
        Cards(**own["cards"]),
        user=entry["user"],
        systemd=own.get("systemd", True),
        user_key=user_key,
        settings=settings,
    )


def _furnish(host: PracticeHost, own: dict[str, Any]) -> None:
    """Models, engines, and what is wrong with the host."""
    for folder, names in own.get("models", {}).items():
        for name in names:
            models.write_model(_inside(host, folder), _MODELS[name]())
    for file, size in own.get("gguf", {}).items():
        models.write_gguf(_inside(host, file), size["gib"], size["tok_s"])
    for folder, engines in own.get("environments", {}).items():
        make_environment(_inside(host, folder), engines, host.shell.variables())
    if "llama_server" in own:
        write_llama_server(_inside(host, own["llama_server"]), host.shell.variables())
    host.miss_library(own.get("missing_library"))
    if "training" in own:
        job = own["training"]
        host.start_training(job["gpus"], job["mib_each"], owner=job["owner"])


def _inside(host: PracticeHost, path: str) -> Path:
    return host.root / path.lstrip("/")


def _free_port(wanted: int, taken: set[int]) -> int:
    """A free loopback port at or after `wanted`."""
    for port in range(wanted, wanted + _PORT_TRIES):
        with socket.socket() as probe:
            if port not in taken and probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise OSError(f"no free port from {wanted} on")
