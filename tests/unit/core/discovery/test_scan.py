"""The scan script over a folder in place of a host, under the shells at hand, and the reading of its output."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import jinja2
import pytest

from bot.core.discovery.discover import discover
from bot.core.discovery.scan import SCAN_TEMPLATE, follow_ups, is_complete, parse_scan, scan_command, scan_context
from bot.core.domain.catalog import SecretRef
from bot.core.domain.engine import Engine

TEMPLATES = Path(__file__).resolve().parents[4] / "templates"
SHELLS = [shell for shell in ("sh", "dash", "bash", "busybox") if shutil.which(shell)]


def rendered(root: Path, paths: tuple[str, ...] = ()) -> str:
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, autoescape=False)
    return environment.get_template(SCAN_TEMPLATE).render(scan_context(root=str(root), paths=paths))


def scan(root: Path, shell: str = "sh", paths: tuple[str, ...] = ()) -> str:
    command = [shell, "sh", "-s"] if shell == "busybox" else [shell, "-s"]
    done = subprocess.run(
        command,
        input=scan_command(rendered(root, paths)).stdin,
        capture_output=True,
        env={"HOME": "/home/ml", "PATH": "/usr/bin:/bin"},
        timeout=60,
        check=False,
    )
    assert done.stderr == b""
    return done.stdout.decode()


def put(root: Path, path: str, data: str | bytes) -> None:
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)


def process(root: Path, pid: int, parent: int, cmdline: list[str], environ: list[str], cgroup: str = "0::/") -> None:
    put(root, f"/proc/{pid}/cmdline", "\0".join([*cmdline, ""]))
    put(root, f"/proc/{pid}/environ", "\0".join([*environ, ""]))
    put(root, f"/proc/{pid}/status", f"Name:\tx\nPPid:\t{parent}\nUid:\t1000\t1000\t1000\t1000\n")
    put(root, f"/proc/{pid}/cgroup", cgroup)
    (root / f"proc/{pid}/cwd").symlink_to("/srv/work")
    (root / f"proc/{pid}/exe").symlink_to("/usr/bin/python3.12")


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A folder that looks like a host with three servers, a service, a script and a long history."""
    put(tmp_path, "/etc/passwd", "root:x:0:0::/root:/bin/sh\nml:x:1000:1000::/home/ml:/bin/sh\n")
    put(
        tmp_path,
        "/etc/systemd/system/chat.service",
        "[Service]\nUser=ml\nEnvironmentFile=-/etc/default/chat\n"
        "ExecStart=/opt/v/bin/vllm serve ${MODEL} --port 8000\n",
    )
    put(tmp_path, "/etc/systemd/system/chat.service.d/gpu.conf", "[Service]\nEnvironment=CUDA_VISIBLE_DEVICES=1\n")
    put(tmp_path, "/etc/default/chat", "MODEL=/m/chat\nHF_TOKEN=made-up-file-token\n")
    put(tmp_path, "/etc/systemd/system/boot.service", "[Service]\nExecStart=/opt/llm/start.sh fast\n")
    put(tmp_path, "/opt/llm/start.sh", '#!/bin/sh\n. /opt/llm/env.sh\nexec llama-server -m "$GGUF" --port 8081\n')
    put(tmp_path, "/opt/llm/env.sh", "GGUF=/m/x.gguf\n")
    history = "".join(f"ls -la /data/{number}\ncd /srv\n" for number in range(10_000))
    tail = b"\xff\xfe\x00junk\npython3 -m sglang.launch_server --model-path /m/h \\\n  --port 30009\n"
    put(tmp_path, "/home/ml/.bash_history", history.encode() + tail)
    server = [
        "/opt/v/bin/python3",
        "/opt/v/bin/vllm",
        "serve",
        "/m/chat",
        "--port",
        "8000",
        "--api-key",
        "made-up-proc-key",
    ]
    process(tmp_path, 50, 1, server, ["MODEL=/m/chat", "HF_TOKEN=made-up-proc-token"], "0::/system.slice/chat.service")
    process(tmp_path, 60, 1, ["bash", "-c", "x"], [])
    process(tmp_path, 61, 60, ["sglang", "serve", "--model-path", "/m/two words", "--port", "30001"], ["A=line\nbreak"])
    process(tmp_path, 70, 1, ["/usr/bin/vim", "notes"], [])
    return tmp_path


@pytest.mark.parametrize("shell", SHELLS)
def test_one_scan_finds_every_launch(host: Path, shell: str, engines: Mapping[str, Engine]) -> None:
    before = sorted((str(file), file.lstat().st_mtime_ns) for file in host.rglob("*"))
    output = scan(host, shell)
    assert is_complete(output)
    assert sorted((str(file), file.lstat().st_mtime_ns) for file in host.rglob("*")) == before
    artefacts = parse_scan(output)
    wanted = follow_ups(artefacts, engines)
    more = parse_scan(scan(host, shell, wanted))
    found = discover([*artefacts, *more], engines=engines)
    assert {(one.engine, one.model, one.port, one.runner) for one in found} == {
        ("vllm", "/m/chat", "8000", "systemd"),
        ("llama.cpp", "/m/x.gguf", "8081", "systemd"),
        ("sglang", "/m/h", "30009", "process"),
        ("sglang", "/m/two words", "30001", "process"),
    }
    chat = next(one for one in found if one.model == "/m/chat")
    assert (chat.status, chat.unit, chat.user, chat.cwd) == ("running", "chat.service", "ml", "/srv/work")
    assert {one.kind for one in chat.evidence} == {"proc", "unit", "dropin", "env_file"}
    assert {one.field for one in chat.contradictions} == {"api-key", "env.CUDA_VISIBLE_DEVICES"}
    assert dict(chat.env)["HF_TOKEN"] == SecretRef("env file /etc/default/chat, HF_TOKEN")
    typed = next(one for one in found if one.model == "/m/h")
    assert typed.cwd == "/srv"


def test_secrets_of_processes_stay_on_the_host(host: Path) -> None:
    artefacts = parse_scan(scan(host))
    (server,) = [one for one in artefacts if one.pid == 50]
    assert server.environ["HF_TOKEN"] == "<secret>"
    assert server.cmdline[-2:] == ("--api-key", "<secret>")
    (other,) = [one for one in artefacts if one.pid == 61]
    assert (other.environ["A"], other.cmdline[3], other.ppid) == ("line\nbreak", "/m/two words", 60)
    assert not [one for one in artefacts if one.pid == 70]


def test_follow_ups_are_bounded_and_leave_keys_alone(host: Path, engines: Mapping[str, Engine]) -> None:
    put(host, "/home/ml/go.sh", "vllm serve a --port 1\n. ~/.ssh/id_rsa\n. /etc/shadow\n. '/x y;z'\n. /opt/more.sh\n")
    wanted = follow_ups(parse_scan(scan(host)), engines)
    assert "/opt/more.sh" in wanted
    assert not [path for path in wanted if "ssh" in path or "shadow" in path or ";" in path]


def test_half_an_answer_is_read_as_far_as_it_goes(host: Path) -> None:
    output = scan(host)
    cut = output[: len(output) // 2]
    assert not is_complete(cut)
    assert 0 < len(parse_scan(cut)) < len(parse_scan(output))
    assert parse_scan("Last login: today\n=unit $$$ \nxx\n=end\n=proc a b\n=end\n") == ()
