"""Routes from an inventory entry and ~/.ssh/config."""

from pathlib import Path

import pytest

from bot.adapters.ssh.endpoint import SshConfig
from bot.core.domain.host import Host
from bot.errors import PermanentError


def config(tmp_path: Path, text: str) -> SshConfig:
    path = tmp_path / "config"
    path.write_text(text)
    return SshConfig(path)


def test_the_inventory_wins_over_the_config(tmp_path: Path) -> None:
    ssh = config(tmp_path, "Host gpu1\n  HostName 10.0.0.7\n  User a\n  Port 2200\n  IdentityFile /k/b\n")

    (plain,) = ssh.route(Host(name="x", address="gpu1"))
    (ours,) = ssh.route(Host(name="x", address="gpu1", user="c", port=22, identity_file="/k/d"))

    assert (plain.address, plain.user, plain.port, plain.identity_files) == ("10.0.0.7", "a", 2200, ("/k/b",))
    assert (ours.address, ours.user, ours.port, ours.identity_files) == ("10.0.0.7", "c", 22, ("/k/d", "/k/b"))


@pytest.mark.parametrize(
    ("jump", "route"),
    [
        ("j1", ["j1", "gpu1"]),
        ("j1,j2", ["j1", "j2", "gpu1"]),
        ("u@j1:2201,ssh://j2:22", ["j1", "j2", "gpu1"]),
        ("j3", ["j1", "j3", "gpu1"]),
        ("j1,j3", ["j1", "j3", "gpu1"]),
        ("none", ["gpu1"]),
    ],
)
def test_jump_hosts_in_the_order_of_logging_in(tmp_path: Path, jump: str, route: list[str]) -> None:
    ssh = config(tmp_path, "Host j3\n  ProxyJump j1\n")

    assert [e.name for e in ssh.route(Host(name="gpu1", address="gpu1", via=jump))] == route


def test_parts_of_a_jump_are_read(tmp_path: Path) -> None:
    jump, v6, _ = config(tmp_path, "").route(Host(name="gpu1", address="gpu1", via="root@j1:2201,[fe80::1]:22"))

    assert (jump.user, jump.address, jump.port) == ("root", "j1", 2201)
    assert (v6.address, v6.port) == ("fe80::1", 22)


def test_a_circle_is_refused(tmp_path: Path) -> None:
    ssh = config(tmp_path, "Host a\n  ProxyJump b\nHost b\n  ProxyJump a\n")

    with pytest.raises(PermanentError, match="circle"):
        ssh.route(Host(name="x", address="a"))


def test_tokens_of_a_proxy_command_see_the_inventory(tmp_path: Path) -> None:
    ssh = config(tmp_path, "Host gpu1\n  HostName 10.0.0.7\n  ProxyCommand nc -X 5 %h %p %r\n")

    (endpoint,) = ssh.route(Host(name="x", address="gpu1", port=2200, user="me"))

    assert endpoint.proxy_command == "nc -X 5 10.0.0.7 2200 me"


def test_an_include_inside_a_block_keeps_the_block(tmp_path: Path) -> None:
    (tmp_path / "inner").write_text("Host other\n  User o\n")
    ssh = config(tmp_path, "Host gpu1\n  Include inner\n  User g\n")

    assert ssh.route(Host(name="x", address="gpu1"))[0].user == "g"
    assert ssh.route(Host(name="y", address="other"))[0].user == "o"


def test_without_a_config_the_address_is_used_as_it_is() -> None:
    (endpoint,) = SshConfig(None).route(Host(name="x", address="gpu1", user="u"))

    assert (endpoint.address, endpoint.port, endpoint.host_key_name) == ("gpu1", 22, "gpu1")
