"""Which keys are trusted, read from files of every shape."""

import base64
from pathlib import Path

import pytest

from bot.adapters.ssh.host_keys import HostKey, HostKeys, Standing

KEY, OTHER = HostKey("ssh-ed25519", b"one"), HostKey("ssh-ed25519", b"two")


def line(names: str, key: HostKey = KEY) -> str:
    return f"{names} {key.kind} {base64.b64encode(key.blob).decode()}\n"


def judge(tmp_path: Path, text: str, name: str = "gpu1", key: HostKey = KEY) -> Standing:
    known = tmp_path / "known_hosts"
    known.write_text(text)
    return HostKeys(tmp_path / "own", [known]).judge(name, key)[0]


@pytest.mark.parametrize(
    ("text", "name", "standing"),
    [
        (line("gpu1"), "gpu1", Standing.PINNED),
        (line("GPU1,10.0.0.7"), "gpu1", Standing.PINNED),
        (line("gpu*"), "gpu17", Standing.PINNED),
        (line("gpu?,!gpu2"), "gpu2", Standing.UNKNOWN),
        (line("[gpu1]:2222"), "[gpu1]:2222", Standing.PINNED),
        (line("gpu1"), "[gpu1]:2222", Standing.UNKNOWN),
        (line("gpu1", OTHER), "gpu1", Standing.CHANGED),
        (line("gpu1", OTHER) + line("gpu1"), "gpu1", Standing.PINNED),
        (line("gpu1") + "@revoked " + line("*"), "gpu1", Standing.REVOKED),
        ("@cert-authority " + line("*"), "gpu1", Standing.UNKNOWN),
        ("", "gpu1", Standing.UNKNOWN),
        ("# comment\n\ngpu1\ngpu1 ssh-ed25519 !!!\n\xff\n" + line("gpu1"), "gpu1", Standing.PINNED),
    ],
)
def test_known_hosts_lines(tmp_path: Path, text: str, name: str, standing: Standing) -> None:
    assert judge(tmp_path, text, name) is standing


def test_our_own_pin_decides_over_the_users_file(tmp_path: Path) -> None:
    (tmp_path / "known_hosts").write_text(line("gpu1", OTHER))
    keys = HostKeys(tmp_path / "own", [tmp_path / "known_hosts"])

    keys.pin("gpu1", KEY)

    assert keys.judge("gpu1", KEY)[0] is Standing.PINNED
    assert keys.judge("gpu1", OTHER)[0] is Standing.CHANGED


def test_pinning_anew_replaces_only_that_host(tmp_path: Path) -> None:
    keys = HostKeys(tmp_path / "deep" / "own", [])
    keys.pin("gpu1", OTHER)
    keys.pin("gpu2", OTHER)

    keys.pin("gpu1", KEY)

    assert keys.judge("gpu1", OTHER)[0] is Standing.CHANGED
    assert keys.judge("gpu2", OTHER)[0] is Standing.PINNED


def test_the_place_of_a_contradiction_is_named(tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    known.write_text("# first\n" + line("gpu1", OTHER))

    assert HostKeys(tmp_path / "own", [known]).judge("gpu1", KEY) == (Standing.CHANGED, f"{known}:2")
