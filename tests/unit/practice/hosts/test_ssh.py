"""A practice host is a real SSH server with a view of its own."""

import base64
from pathlib import Path

import paramiko
import pytest

from bot.practice.hosts import PracticeHost
from bot.practice.hosts.shell import Outward
from bot.practice.hosts.sshd import make_key
from tests.unit.practice.hosts.conftest import Run


def test_a_command_runs_as_the_hosts_account(run: Run) -> None:
    status, out, _ = run("id -un; id -u; uname -n; echo $HOME; pwd")
    assert status == 0
    assert out.split() == ["serve", "1000", "gpu-a", "/home/serve", "/home/serve"]


def test_streams_and_exit_status(run: Run) -> None:
    assert run("cat; echo bad >&2; exit 7", "in\n") == (7, "in\n", "bad\n")
    assert run("kill -TERM $$")[0] == 143


def test_binary_input_is_not_touched(host: PracticeHost, run: Run) -> None:
    data = "\0/etc/hosts\n" * 3
    run("cat >/home/serve/blob", data)
    assert (host.home / "blob").read_bytes() == data.encode()


def test_absolute_paths_are_the_hosts_own(host: PracticeHost, run: Run) -> None:
    run("mkdir -p /etc/llm && cat >/etc/llm/note", "about /opt/models\n")
    assert (host.root / "etc/llm/note").exists()
    assert not Path("/etc/llm").exists()
    assert run("cat /etc/llm/note; ls -d /etc/llm")[1] == "about /opt/models\n/etc/llm\n"
    assert "Debian" in run(". /etc/os-release; echo $PRETTY_NAME")[1]


def test_processes_of_the_machine_are_not_seen(run: Run) -> None:
    out = run("ps -eo pid=,args=; for p in /proc/[0-9]*; do echo ${p##*/}; done")[1]
    assert "pytest" not in out
    assert 1 < len(out.splitlines()) < 12


def test_encoded_output_is_shortened_as_well(run: Run) -> None:
    out = run("cd /opt/models; sh -c 'pwd; base64 -w 0 </proc/self/cmdline; echo; pwd | base64'")[1].splitlines()
    assert out[0] == "/opt/models"
    assert base64.b64decode(out[2]) == b"/opt/models\n"


def test_scripts_with_an_empty_root_of_their_own(run: Run) -> None:
    script = 'R=""\nsed -n 1p "$R/etc/passwd"; ls -d "$R"/opt/models; cd "$R/proc" && echo [0-9]*/cmdline\n'
    passwd, models, processes = run("sh -s", script)[1].splitlines()
    assert passwd.startswith("serve:")
    assert models == "/opt/models"
    assert len(processes.split()) < 12


def test_no_sudo_no_docker(run: Run) -> None:
    assert run("sudo -n true")[::2] == (1, "sudo: a password is required\n")
    assert run("docker ps")[0] == 1


def test_wrong_key_and_wrong_account_are_refused(host: PracticeHost, tmp_path: Path) -> None:
    for user, key in (("serve", make_key(tmp_path / "other")), ("root", make_key(host.root.parent / "id"))):
        client = paramiko.SSHClient()
        client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
        with pytest.raises(paramiko.AuthenticationException):
            client.connect("127.0.0.1", host.port, user, pkey=key, look_for_keys=False, allow_agent=False)


def test_a_command_outlives_its_connection(host: PracticeHost, run: Run) -> None:
    out = run("setsid sleep 60 >/dev/null 2>&1 </dev/null & echo $!")[1]
    assert run(f"ps -p {out.strip()} -o args=")[1].strip() == "sleep 60"


def test_output_is_shown_short_even_when_a_path_is_cut_in_two() -> None:
    outward = Outward(Path("/tmp/x/gpu-a"))
    text = b"a /tmp/x/gpu-a/opt b /tmp/x/gpu-b/opt /tmp/x/gpu-a/"
    shown = b"".join(outward.feed(text[i : i + 1]) for i in range(len(text))) + outward.end()
    assert shown == b"a /opt b /tmp/x/gpu-b/opt /"
