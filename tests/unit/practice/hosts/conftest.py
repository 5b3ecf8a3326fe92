"""One practice host for the tests of this folder, and an independent SSH client."""

from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
import pytest

from bot.practice.hosts import PracticeHost, models
from bot.practice.hosts.host import Cards
from bot.practice.hosts.sshd import make_key

#: a command's exit status, standard output and standard error
Answer = tuple[int, str, str]
Run = Callable[..., Answer]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PracticeHost]:
    """A host with two cards and nothing installed but a small model."""
    data = tmp_path_factory.mktemp("practice")
    cards = Cards(name="NVIDIA RTX A6000", count=2, memory_mib=49140)
    running = PracticeHost(data, "gpu-a", cards, user_key=make_key(data / "id"))
    running.start()
    models.write_model(running.root / "opt/models", models.qwen_27b())
    yield running
    running.stop()


@pytest.fixture
def run(host: PracticeHost, tmp_path: Path) -> Iterator[Run]:
    """Run a command over SSH with paramiko's client."""
    known = tmp_path / "known_hosts"
    known.write_text(host.known_hosts_line + "\n")
    client = paramiko.SSHClient()
    client.load_host_keys(str(known))
    client.set_missing_host_key_policy(paramiko.RejectPolicy())
    key = make_key(host.root.parent / "id")
    client.connect("127.0.0.1", host.port, "serve", pkey=key, look_for_keys=False, allow_agent=False)

    def command(text: str, stdin: str = "") -> Answer:
        given, out, err = client.exec_command(text, timeout=30)
        given.write(stdin)
        given.channel.shutdown_write()
        stdout, stderr = out.read().decode(), err.read().decode()
        return out.channel.recv_exit_status(), stdout, stderr

    yield command
    client.close()
