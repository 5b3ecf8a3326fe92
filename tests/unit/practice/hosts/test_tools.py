"""nvidia-smi, systemctl and journalctl of a practice host answer as the real ones do."""

import json

from bot.practice.hosts import PracticeHost
from tests.unit.practice.hosts.conftest import Run

UNIT = """[Unit]
Description=A service
[Service]
Type=exec
Environment="GREETING=hello world"
ExecStart=/bin/sh -c "echo $GREETING; printf 'bar\\r50%%%%\\rdone\\n'; exec sleep 600"
ExecStopPost=-+/bin/sh -c "echo $$SERVICE_RESULT $$EXIT_CODE $$EXIT_STATUS >/home/serve/ended"
"""
USER = "~/.config/systemd/user"


def write_unit(run: Run, name: str, text: str) -> None:
    run(f"mkdir -p {USER}; cat >{USER}/{name}.service && systemctl --user daemon-reload", text)


def test_nvidia_smi_in_csv_and_as_table(run: Run) -> None:
    out = run("nvidia-smi --query-gpu=index,name,memory.total,memory.used --format=csv,noheader,nounits")[1]
    assert out.splitlines() == ["0, NVIDIA RTX A6000, 49140, 4", "1, NVIDIA RTX A6000, 49140, 4"]
    assert "[MiB]" in run("nvidia-smi --query-gpu=memory.free --format=csv")[1]
    assert run("nvidia-smi -L")[1].startswith("GPU 0: NVIDIA RTX A6000 (UUID: GPU-")
    assert "Driver Version: 580" in run("nvidia-smi")[1]
    status, out, _ = run("nvidia-smi --query-gpu=colour --format=csv")
    assert (status, "not a valid field" in out + _) == (2, True)


def test_a_foreign_job_holds_memory_under_its_own_account(host: PracticeHost, run: Run) -> None:
    pid = host.start_training([1], 40000, owner="mlteam")
    apps = run("nvidia-smi --query-compute-apps=pid,used_memory,process_name --format=csv,noheader,nounits")[1]
    assert apps.strip() == f"{pid}, 40000, python"
    assert run(f"ps -p {pid} -o user=,args=")[1].split() == [
        "mlteam",
        "python",
        "train.py",
        "--config",
        "configs/pretrain-7b.yaml",
    ]
    assert run(f"stat -c %U /proc/{pid}")[1].strip() == "mlteam"
    run(f"kill {pid}")
    assert run("nvidia-smi --query-compute-apps=pid --format=csv,noheader")[1] == ""


def test_a_user_unit_from_start_to_stop(run: Run) -> None:
    write_unit(run, "one", UNIT)
    assert run("systemctl --user start one")[0] == 0
    shown = run("systemctl --user show one -p ActiveState,SubState,LoadState")[1]
    assert set(shown.split()) == {"ActiveState=active", "SubState=running", "LoadState=loaded"}
    pid = run("systemctl --user show one -p MainPID --value")[1].strip()
    assert run(f"cat /proc/{pid}/cgroup")[1].strip().endswith("/one.service")
    log = run("journalctl --user -u one -o json --no-pager")[1]
    entries = [json.loads(line) for line in log.splitlines()]
    assert "hello world" in [e["MESSAGE"] for e in entries]
    assert bytes(next(e["MESSAGE"] for e in entries if isinstance(e["MESSAGE"], list))) == b"bar\r50%\rdone"
    assert run("systemctl --user stop one; systemctl --user is-active one")[1] == "inactive\n"
    assert run("cat ended")[1] == "success killed TERM\n"
    assert run(f"kill -0 {pid}")[0] == 1


def test_following_the_journal_after_a_cursor(run: Run) -> None:
    write_unit(run, "two", UNIT)
    run("systemctl --user start two")
    cursor = run("journalctl --user -u two -n 1 --show-cursor -o cat")[1].splitlines()[-1].removeprefix("-- cursor: ")
    run("systemctl --user stop two")
    after = run(f"journalctl --user -u two --after-cursor='{cursor}' -o cat")[1]
    assert "Stopping A service..." in after
    assert "hello world" not in after


def test_failures_of_a_unit(run: Run) -> None:
    write_unit(run, "bad", "[Service]\nType=exec\nExecStart=/opt/nothing --x\n")
    status, _, err = run("systemctl --user start bad")
    assert status == 1
    assert "control process exited" in err
    assert (
        run("systemctl --user show bad -p ExecMainStatus --value; systemctl --user is-failed bad")[1] == "203\nfailed\n"
    )
    assert run("systemctl --user reset-failed bad; systemctl --user is-failed bad")[1] == "inactive\n"
    assert run("systemctl --user start nothing")[0] == 5
    assert "Interactive authentication required" in run("systemctl start one")[2]


def test_restart_policy(run: Run) -> None:
    write_unit(run, "again", "[Service]\nExecStart=/bin/sh -c 'exit 3'\nRestart=on-failure\nRestartSec=50ms\n")
    run("systemctl --user start again")
    count = "n=$(systemctl --user show again -p NRestarts --value)"
    assert int(run(f"for i in $(seq 100); do {count}; [ $n -ge 2 ] && break; done; echo $n")[1]) >= 2
    # a run that is just failing stays "failed"; what counts is that no further one follows
    assert run("systemctl --user stop again; systemctl --user is-active again")[1] in ("inactive\n", "failed\n")


def test_listening_ports_name_their_process(run: Run) -> None:
    code = "import socket,time; s=socket.create_server(('127.0.0.1',0)); "
    code += "print(s.getsockname()[1],flush=True); time.sleep(60)"
    out = run(f'(python3 -c "{code}" & echo $! >pid) 2>/dev/null | head -n 1')[1]
    pid = run("cat pid")[1].strip()
    line = run(f"ss -Hltnp 'sport = :{out.strip()}'")[1]
    assert f"127.0.0.1:{out.strip()}" in line
    assert f"pid={pid}" in line
    run(f"kill {pid}")
