"""What a container is given besides its command, as options of `docker run`: from such a line, from `inspect`, from a
compose service, from a quadlet."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_LONG = {
    "-v": "--volume", "-p": "--publish", "-m": "--memory", "-c": "--cpu-shares", "-h": "--hostname",
    "-P": "--publish-all", "--net": "--network",
}  # fmt: skip
#: said by whoever starts it, or kept as environment, folder and account of the launch
_NOT_KEPT = frozenset(
    ("-d", "--detach", "-i", "--interactive", "-t", "--tty", "-a", "--attach", "--rm", "--rmi", "--name", "--restart",
     "--pull", "-q", "--quiet", "-l", "--label", "--label-file", "--cidfile", "--pidfile", "--conmon-pidfile",
     "--replace", "--sdnotify", "--cgroups", "--sig-proxy", "--detach-keys", "-e", "--env", "--env-file",
     "--entrypoint", "-w", "--workdir", "-u", "--user", "--log-driver", "--log-opt")
)  # fmt: skip
_DOCKER_SHM = 64 * 2**20
_PODMAN_SHM = 64_000 * 2**10
_PLAIN_NETWORKS = frozenset(("", "default", "bridge", "podman", "slirp4netns", "pasta"))
#: keys of a quadlet, and the options that they are
QUADLET_KEYS: Mapping[str, str] = {
    "AddDevice": "device", "Network": "network", "PublishPort": "publish", "Volume": "volume", "Mount": "mount",
    "ShmSize": "shm-size", "Ulimit": "ulimit", "Tmpfs": "tmpfs",
}  # fmt: skip
_PLAIN_RUNTIMES = frozenset(("", "runc", "crun", "oci", "io.containerd.runc.v2"))


def options_of_run(pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Of a `docker run` line's (option, value) pairs."""
    named = ((_LONG.get(name, name), value) for name, value in pairs if name not in _NOT_KEPT)
    return tuple(f"{name}={value}" if value else name for name, value in named)


def options_of_inspect(item: Mapping[str, Any]) -> tuple[str, ...]:
    """Of an `inspect` record that holds no command of its creation: docker's."""
    host = _mapping(item.get("HostConfig"))
    found = [f"--gpus={_gpus(one)}" for one in _records(host.get("DeviceRequests")) if one.get("Driver") != "cdi"]
    found += [
        f"--device={name}"
        for one in _records(host.get("DeviceRequests"))
        if one.get("Driver") == "cdi"
        for name in _texts(one.get("DeviceIDs"))
    ]
    found += [f"--device={_device(one)}" for one in _records(host.get("Devices"))]
    network = str(host.get("NetworkMode") or "")
    found += [f"--network={network}"] if network not in _PLAIN_NETWORKS else []
    found += [f"--publish={value}" for value in _bindings(host.get("PortBindings"))]
    found += [f"--volume={_volume(bind)}" for bind in _texts(host.get("Binds"))]
    found += [f"--mount={_mount(one)}" for one in _records(host.get("Mounts"))]
    found += [f"--tmpfs={path}{':' + how if how else ''}" for path, how in _mapping(host.get("Tmpfs")).items()]
    ipc = str(host.get("IpcMode") or "")
    found += [f"--ipc={ipc}"] if ipc == "host" or ipc.startswith("container:") else []
    size = host.get("ShmSize")
    found += [f"--shm-size={size}"] if size and size not in (_DOCKER_SHM, _PODMAN_SHM) and ipc != "host" else []
    found += [f"--ulimit={_ulimit(one)}" for one in _records(host.get("Ulimits"))]
    for name, key in (("cap-add", "CapAdd"), ("security-opt", "SecurityOpt"), ("group-add", "GroupAdd")):
        found += [f"--{name}={value}" for value in _texts(host.get(key))]
    found += [f"--add-host={value}" for value in _texts(host.get("ExtraHosts"))]
    for name, key in (("pid", "PidMode"), ("uts", "UTSMode")):
        found += [f"--{name}=host"] if host.get(key) == "host" else []
    for name, key in (("cpuset-cpus", "CpusetCpus"), ("memory", "Memory")):
        found += [f"--{name}={host[key]}"] if host.get(key) else []
    runtime = str(host.get("Runtime") or "")
    found += [f"--runtime={runtime}"] if runtime not in _PLAIN_RUNTIMES else []
    for name, key in (("privileged", "Privileged"), ("init", "Init"), ("read-only", "ReadonlyRootfs")):
        found += [f"--{name}"] if host.get(key) is True else []
    return tuple(found)


def options_of_compose(body: Mapping[str, Any], folder: str) -> tuple[str, ...]:
    """Of a compose service whose values are filled in. Networks of the project are not made: it gets the usual one."""
    found = [f"--gpus={gpus}" for gpus in _compose_gpus(body)]
    found += [f"--device={one}" for one in _texts(body.get("devices"))]
    mode = body.get("network_mode")
    found += [f"--network={mode}"] if mode and not str(mode).startswith("service:") else []
    found += [f"--publish={_compose_port(one)}" for one in _listed(body.get("ports"))]
    for one in _listed(body.get("volumes")):
        found.append(_compose_mount(one, folder) if isinstance(one, Mapping) else _compose_volume(str(one), folder))
    for name, limit in _mapping(body.get("ulimits")).items():
        value = f"{limit.get('soft')}:{limit.get('hard')}" if isinstance(limit, Mapping) else str(limit)
        found.append(f"--ulimit={name}={value}")
    singles = (("ipc", "ipc"), ("shm-size", "shm_size"), ("pid", "pid"), ("memory", "mem_limit"),
               ("cpuset-cpus", "cpuset"), ("runtime", "runtime"), ("hostname", "hostname"))  # fmt: skip
    found += [f"--{name}={body[key]}" for name, key in singles if body.get(key)]
    lists = (("cap-add", "cap_add"), ("security-opt", "security_opt"), ("group-add", "group_add"), ("tmpfs", "tmpfs"))
    found += [f"--{name}={value}" for name, key in lists for value in _texts(body.get(key))]
    hosts = body.get("extra_hosts")
    named = [f"{name}:{address}" for name, address in hosts.items()] if isinstance(hosts, Mapping) else _texts(hosts)
    found += [f"--add-host={value}" for value in named]
    flags = (("privileged", "privileged"), ("init", "init"), ("read-only", "read_only"))
    return (*found, *(f"--{name}" for name, key in flags if str(body.get(key)).lower() == "true"))


def options_of_quadlet(values: Mapping[str, Sequence[str]], pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Of a quadlet's [Container] values by key, and the (option, value) pairs of its PodmanArgs."""
    found = [f"--{name}={value}" for key, name in QUADLET_KEYS.items() for value in values.get(key, ())]
    return (*found, *options_of_run(pairs))


def _records(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(one) for one in _listed(value)]


def _gpus(request: Mapping[str, Any]) -> str:
    """--gpus reads CSV: device ids stand in double quotes."""
    ids, count = request.get("DeviceIDs"), request.get("Count")
    if ids:
        return f'"device={",".join(_texts(ids))}"'
    return "all" if count == -1 else str(count)


def _device(one: Mapping[str, Any]) -> str:
    outside, inside, how = (str(one.get(key) or "") for key in ("PathOnHost", "PathInContainer", "CgroupPermissions"))
    if how in ("", "rwm"):
        return outside if inside in ("", outside) else f"{outside}:{inside}"
    return f"{outside}:{inside or outside}:{how}"


def _bindings(value: Any) -> Iterable[str]:
    for inside, places in _mapping(value).items():
        target = str(inside).removesuffix("/tcp")
        for place in _records(places):
            address, port = str(place.get("HostIp") or ""), str(place.get("HostPort") or "")
            address = "" if address in ("0.0.0.0", "::") else f"[{address}]" if ":" in address else address
            yield f"{address}:{port}:{target}" if address else f"{port}:{target}" if port else target


def _volume(bind: str) -> str:
    """Without what docker and podman fill in."""
    head, _, how = bind.rpartition(":")
    if not head or how.startswith("/"):
        return bind
    kept = [one for one in how.split(",") if one not in ("rw", "rprivate", "rbind")]
    return f"{head}:{','.join(kept)}" if kept else head


def _mount(one: Mapping[str, Any]) -> str:
    parts = [f"type={one.get('Type') or 'bind'}"]
    parts += [f"source={one['Source']}"] if one.get("Source") else []
    parts += [f"target={one.get('Target')}", *(["readonly"] if one.get("ReadOnly") else [])]
    return ",".join(parts)


def _ulimit(one: Mapping[str, Any]) -> str:
    name = str(one.get("Name") or "").removeprefix("RLIMIT_").lower()
    return f"{name}={one.get('Soft')}:{one.get('Hard')}"


def _compose_gpus(body: Mapping[str, Any]) -> Iterable[str]:
    resources = _mapping(_mapping(body.get("deploy")).get("resources"))
    requests = _records(_mapping(resources.get("reservations")).get("devices")) + _records(body.get("gpus"))
    if body.get("gpus") == "all":
        yield "all"
    for one in requests:
        if "gpu" in _texts(one.get("capabilities")) or one in _listed(body.get("gpus")):
            ids, count = _texts(one.get("device_ids")), str(one.get("count") or "all")
            yield f'"device={",".join(ids)}"' if ids else count


def _compose_port(one: Any) -> str:
    if not isinstance(one, Mapping):
        return str(one)
    head = [str(one[key]) for key in ("host_ip", "published") if one.get(key)]
    protocol = str(one.get("protocol") or "tcp")
    return ":".join([*head, str(one.get("target"))]) + ("" if protocol == "tcp" else f"/{protocol}")


def _compose_volume(text: str, folder: str) -> str:
    source, colon, rest = text.partition(":")
    return f"--volume={_compose_source(source, folder)}{colon}{rest}" if colon else f"--volume={text}"


def _compose_mount(one: Mapping[str, Any], folder: str) -> str:
    kind = str(one.get("type") or "volume")
    parts = [f"type={kind}"]
    parts += [f"source={_compose_source(str(one['source']), folder)}"] if one.get("source") else []
    parts += [f"target={one.get('target')}", *(["readonly"] if str(one.get("read_only")).lower() == "true" else [])]
    return "--mount=" + ",".join(parts)


def _compose_source(source: str, folder: str) -> str:
    """A path from the compose file's folder; a volume's name with the project's in front."""
    if source.startswith(("/", "~")):
        return source
    if source.startswith("."):
        return re.sub(r"/\.(?=/|$)", "", f"{folder.rstrip('/')}/{source}").rstrip("/") or "/"
    project = re.sub(r"[^a-z0-9_-]", "", folder.rstrip("/").rpartition("/")[2].lower())
    return f"{project}_{source}" if project else source
