"""The practice as a whole: what the bot is told of it, and that nothing is left behind."""

import subprocess
import sys
import time
from pathlib import Path

import paramiko
import yaml

import bot
from bot.core.catalog.files import catalog_from_yaml_data
from bot.practice.hosts.shell import processes
from bot.practice.run import run


def test_the_bot_is_told_all_it_needs_and_nothing_is_left(tmp_path: Path) -> None:
    with run(data_dir=tmp_path / "practice", hosts=["ct129", "blackwell-train"]) as practice:
        catalog, inventory = catalog_from_yaml_data(yaml.safe_load(practice.catalog_file.read_text()))
        assert set(inventory.hosts) == {"ct129", "blackwell-train"}
        assert all(config.host in inventory.hosts for config in catalog.configs.values())
        assert not any("{" in str(w) for c in catalog.configs.values() for w in c.latest.argv)
        host = inventory.hosts["ct129"]
        client = paramiko.SSHClient()
        client.load_host_keys(str(practice.known_hosts_file))
        client.set_missing_host_key_policy(paramiko.RejectPolicy())
        client.connect(
            host.address,
            host.port or 0,
            host.user,
            key_filename=host.identity_file,
            look_for_keys=False,
            allow_agent=False,
        )
        client.exec_command("setsid sleep 300 >/dev/null 2>&1 </dev/null & echo started")[1].read()
        client.close()
        marks = [h.shell.mark for h in practice.fleet.hosts.values()]
        assert all(processes(mark) for mark in marks)
    assert not any(processes(mark) for mark in marks)


def test_a_killed_practice_leaves_nothing_running(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from bot.practice.run import run\n"
        "with run(data_dir=Path(sys.argv[1]), hosts=['blackwell-train']) as practice:\n"
        "    print(practice.fleet.hosts['blackwell-train'].shell.mark, flush=True); time.sleep(60)\n"
    )
    root = Path(bot.__file__).parent.parent
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert child.stdout is not None
    mark = child.stdout.readline().strip()
    assert processes(mark)
    child.kill()
    child.communicate()
    until = time.monotonic() + 20
    while processes(mark):
        assert time.monotonic() < until


def test_state_below_the_data_folder_survives_a_restart(tmp_path: Path) -> None:
    lines = []
    for _ in range(2):
        with run(data_dir=tmp_path, hosts=["ct129"]) as practice:
            (practice.fleet.hosts["ct129"].home / "note").touch()
            lines.append(practice.known_hosts_file.read_text().split()[-1])
    assert lines[0] == lines[1], "the host keeps its key"
