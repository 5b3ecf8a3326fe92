"""How a launch runs in a container of docker or podman. Both take the same words."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

W = TypeVar("W")

#: label of our containers: id of the operation that started it
OPERATION_LABEL = "relaunch.operation"
#: label of our containers: name of the launch config
CONFIG_LABEL = "relaunch.config"


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What `docker run` is told beside environment, folder, account and command: those are the revision's own, and mean
    the inside."""

    #: as it is named: "vllm/vllm-openai:v0.10.2"
    image: str
    #: "sha256:…" of the image that ran, where known
    image_id: str | None = None
    #: "docker" or "podman"
    tool: str = "docker"
    #: a word each, long names: "--gpus=all", "--volume=/srv/models:/models:ro", "--privileged"
    options: tuple[str, ...] = ()
    #: words before the command: an image's start script, or a sub-command of its entrypoint
    lead: tuple[str, ...] = ()
    #: the image's own entrypoint is given the words; else the first of them is the program
    image_entrypoint: bool = True

    def values(self, *names: str) -> tuple[str, ...]:
        """Values of options by their long names without dashes; "" for a flag."""
        wanted = {f"--{name}" for name in names}
        split = (word.partition("=") for word in self.options)
        return tuple(value for name, _, value in split if name in wanted)

    @property
    def host_network(self) -> bool:
        """Its ports are the host's."""
        return "host" in self.values("network")

    def host_port(self, inside: int) -> int | None:
        """Port on the host of a server that listens on `inside`; None where it is not published."""
        if self.host_network:
            return inside
        for host, port in map(_published, self.values("publish")):
            if port == inside:
                return host
        return None

    def with_host_port(self, inside: int, port: int) -> "Container":
        """The same, published on another port of the host."""
        moved = []
        for word in self.options:
            name, _, value = word.partition("=")
            if name == "--publish" and _published(value)[1] == inside:
                address, _, _ = value.rpartition(":")[0].rpartition(":")
                protocol = value.partition("/")[1] + value.partition("/")[2]
                word = f"--publish={address + ':' if address else ''}{port}:{inside}{protocol}"
            moved.append(word)
        return replace(self, options=tuple(moved))

    @property
    def gpu_devices(self) -> str | None:
        """Indices or UUIDs of the GPUs that it is given, joined by commas; None where nothing limits them."""
        for value in self.values("gpus"):
            _, found, devices = value.strip("\"'").partition("device=")
            if found:
                return devices.strip("\"'")
        named = [value.partition("/gpu=")[2] for value in self.values("device") if "/gpu=" in value]
        return ",".join(named) if named and "all" not in named else None

    def with_gpus(self, devices: str) -> "Container":
        """The same with exactly these GPUs: indices joined by commas."""
        kept = [
            word
            for word in self.options
            if word.partition("=")[0] != "--gpus" and not (word.startswith("--device=") and "/gpu=" in word)
        ]
        if self.tool == "podman":
            given = [f"--device=nvidia.com/gpu={one}" for one in devices.split(",")]
        else:
            given = [f'--gpus="device={devices}"']
        return replace(self, options=(*given, *kept))

    def on_host(self, path: str) -> str | None:
        """Where a path inside lies on the host; None where no volume has it."""
        for source, target in sorted(self._mounts(), key=lambda one: -len(one[1])):
            if path == target or path.startswith(target.rstrip("/") + "/"):
                return source.rstrip("/") + path[len(target.rstrip("/")) :]
        return None

    def _mounts(self) -> Iterable[tuple[str, str]]:
        for value in self.values("volume"):
            source, _, rest = value.partition(":")
            if source.startswith("/") and rest:
                yield source, rest.partition(":")[0]
        for value in self.values("mount"):
            fields = dict(part.partition("=")[::2] for part in value.split(","))
            source = fields.get("source") or fields.get("src") or ""
            target = fields.get("target") or fields.get("dst") or fields.get("destination")
            if source.startswith("/") and target:
                yield source, target


def _published(value: str) -> tuple[int | None, int | None]:
    """(port on the host, port inside) of "8010:8000", "127.0.0.1:8010:8000/tcp", "8000"."""
    head, _, inside = value.partition("/")[0].rpartition(":")
    host = head.rpartition(":")[2]
    return (int(host) if host.isdigit() else None), (int(inside) if inside.isdigit() else None)


def env_file(name: str) -> str:
    """File on the host that brings secrets into a container: readable by its owner only."""
    return f"~/.local/state/relaunch/{name}/env"


def run_words(
    container: Container,
    argv: Sequence[W],
    *,
    name: str = "",
    operation: str = "",
    config: str | None = None,
    env: Iterable[tuple[str, str]] = (),
    secrets: bool = False,
    cwd: str | None = None,
    user: str | None = None,
    wrappers: Iterable[str] = (),
) -> tuple[W | str, ...]:
    """The exact `docker run`, a word each. `env`: without secrets, which come from a file where there are any.
    `wrappers` stand in front of the command, unless the container's own words before it have them.

    Without a name only what the revision says."""
    words: list[W | str] = [container.tool, "run"]
    if name:
        words += ["--detach", "--pull=never", "--restart=no", f"--name={name}"]
        words += [f"--label={OPERATION_LABEL}={operation}", f"--label={CONFIG_LABEL}={config or ''}"]
    words += container.options
    words += [f"--env={key}={value}" for key, value in env]
    words += [f"--env-file={env_file(name)}"] if secrets else []
    words += [f"--workdir={cwd}"] if cwd else []
    words += [f"--user={user}"] if user else []
    lead = container.lead or tuple(word for wrapper in wrappers for word in shlex.split(wrapper))
    inside: list[W | str] = [*lead, *argv]
    if not container.image_entrypoint and inside:
        words.append(f"--entrypoint={inside.pop(0)}")
    return (*words, container.image, *inside)
