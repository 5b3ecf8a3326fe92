"""Private keys: those named for a host, those of the agent, those in the usual places."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import paramiko
from cryptography.exceptions import UnsupportedAlgorithm
from paramiko.pkey import PublicBlob, UnknownKeyType

from bot.adapters.ssh.endpoint import Endpoint


@dataclass(slots=True)
class Tried:
    """What was offered to a host and what could not be, for the error message."""

    offered: list[str] = field(default_factory=list)
    encrypted: list[str] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)


class Identities:
    """Loads each key file once (again when it changes). Thread-safe."""

    def __init__(self, default_files: Sequence[Path], *, use_agent: bool) -> None:
        self._default_files = tuple(default_files)
        self._use_agent = use_agent
        self._lock = threading.Lock()
        self._loaded: dict[Path, tuple[int, paramiko.PKey]] = {}

    def candidates(self, endpoint: Endpoint, tried: Tried) -> Iterator[tuple[str, paramiko.PKey]]:
        """Keys to offer, best first, each once: named files, then the agent's, then the usual files. Servers count
        offers (six by default), so the order matters. Files that cannot be used are noted in `tried`."""
        named = [Path(file) for file in endpoint.identity_files]
        agent = self._agent_keys() if self._use_agent and endpoint.use_agent else {}
        seen: set[bytes] = set()
        for file in named:
            public = _public_blob(file)
            if public is not None and public in agent:
                seen.add(public)
                yield f"{file} (agent)", agent[public]
                continue
            key = self._load(file, tried, must_exist=True)
            if key is not None and key.asbytes() not in seen:
                seen.add(key.asbytes())
                yield str(file), key
        if endpoint.identities_only:
            return
        for blob, agent_key in agent.items():
            if blob not in seen:
                seen.add(blob)
                yield f"agent key {agent_key.comment or agent_key.get_name()}", agent_key
        for file in () if named else self._default_files:
            key = self._load(file, tried, must_exist=False)
            if key is not None and key.asbytes() not in seen:
                seen.add(key.asbytes())
                yield str(file), key

    def _agent_keys(self) -> dict[bytes, paramiko.AgentKey]:
        try:
            return {key.asbytes(): key for key in paramiko.Agent().get_keys()}
        except (paramiko.SSHException, OSError):
            return {}

    def _load(self, file: Path, tried: Tried, *, must_exist: bool) -> paramiko.PKey | None:
        try:
            stamp = file.stat().st_mtime_ns
            with self._lock:
                known = self._loaded.get(file)
            if known is not None and known[0] == stamp:
                return known[1]
            key = paramiko.PKey.from_path(file)
        except FileNotFoundError:
            if must_exist:
                tried.unusable.append(f"{file} (no such file)")
            return None
        except TypeError:  # cryptography's way to say that a password is needed
            tried.encrypted.append(str(file))
            return None
        except (OSError, ValueError, paramiko.SSHException, UnknownKeyType, UnsupportedAlgorithm) as error:
            tried.unusable.append(f"{file} ({error})")
            return None
        with self._lock:
            self._loaded[file] = (stamp, key)
        return key


def _public_blob(file: Path) -> bytes | None:
    """Public half from the .pub file beside a private key, to find the key in the agent."""
    try:
        words = file.with_name(file.name + ".pub").read_text().split()
        blob: bytes = PublicBlob.from_string(" ".join(words[:2])).key_blob
        return blob
    except (OSError, ValueError, IndexError, UnicodeDecodeError, AttributeError):
        return None
