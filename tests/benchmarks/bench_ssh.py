"""Our SSH against stock paramiko, in one run against one private sshd: python tests/benchmarks/bench_ssh.py.

Prints medians and their ratios. Absolute figures depend on the machine; on loopback there is no network to wait for."""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import paramiko

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bot.adapters.ssh.remote import SshRemote
from bot.core.domain.shell import ShellCommand, shell
from tests.rig.sshd import Sshd

COLD, WARM, THREADS, BULK_BYTES = 20, 200, 8, 100_000_000


class Stock:
    """paramiko as its documentation shows it."""

    def __init__(self, sshd: Sshd) -> None:
        self.failures = 0
        self.client = paramiko.SSHClient()
        self.client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
        self.client.connect(
            "127.0.0.1", sshd.port, sshd.user, key_filename=str(sshd.client_key), allow_agent=False, look_for_keys=False
        )

    def run(self, text: str) -> int:
        """Run a command; the size of its output. Under several threads it sometimes loses a channel: once more then."""
        try:
            _, stdout, _ = self.client.exec_command(text)
        except paramiko.SSHException:
            self.failures += 1
            return self.run(text)
        size = len(stdout.read())
        stdout.channel.recv_exit_status()
        return size

    def close(self) -> None:
        """Disconnect."""
        self.client.close()


def seconds(work: Callable[[], object], times: int) -> list[float]:
    """How long each of several calls took."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return found


def line(name: str, stock: list[float], ours: list[float]) -> None:
    """Print one comparison."""
    a, b = statistics.median(stock) * 1e3, statistics.median(ours) * 1e3
    high = sorted(ours)[int(len(ours) * 0.99)] * 1e3
    print(f"{name:44} stock {a:9.2f} ms   ours {b:9.2f} ms (p99 {high:8.2f})   {a / b:5.1f} times")


def main() -> int:
    """Run all comparisons."""
    with tempfile.TemporaryDirectory() as folder:
        # stock paramiko runs into the usual limit of 10 with 8 threads: closed sessions take a moment to be gone
        sshd = Sshd(Path(folder), ["MaxSessions 100"])
        try:
            compare(sshd)
        finally:
            sshd.close()
    return 0


def compare(sshd: Sshd) -> None:
    """Cold, warm, threads, script and bulk."""
    host = sshd.host()

    def ours_cold() -> None:
        remote = sshd.remote()
        remote.run(host, shell("true"))
        remote.close()

    def stock_cold() -> None:
        client = Stock(sshd)
        client.run("true")
        client.close()

    line("connect and run one command", seconds(stock_cold, COLD), seconds(ours_cold, COLD))

    stock, remote = Stock(sshd), sshd.remote()
    remote.run(host, shell("true"))
    line("command on a kept connection", seconds(lambda: stock.run("true"), WARM), warm(remote, sshd, "true"))
    script = "x='a\nb'\n" + ": 'a line of a probe script'\n" * 200
    line("script of 5 kB on a kept connection", seconds(lambda: stock.run(script), WARM), warm(remote, sshd, script))
    line(
        f"{THREADS} threads, {WARM} commands in all",
        seconds(lambda: threaded(lambda: stock.run("true")), 3),
        seconds(lambda: threaded(lambda: remote.run(host, shell("true"))), 3),
    )
    print(f"  (stock had to repeat {stock.failures} commands)")
    bulk = ShellCommand(text=f"head -c {BULK_BYTES} /dev/zero", output_limit_bytes=BULK_BYTES, timeout_s=120)
    line("100 MB of output", seconds(lambda: stock.run(bulk.text), 3), seconds(lambda: remote.run(host, bulk), 3))
    stock.close()


def warm(remote: SshRemote, sshd: Sshd, text: str) -> list[float]:
    """Times of a command on our kept connection."""
    host, command = sshd.host(), ShellCommand(text=text)
    return seconds(lambda: remote.run(host, command), WARM)


def threaded(work: Callable[[], object]) -> None:
    """The same work from several threads."""
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda _: work(), range(WARM)))


if __name__ == "__main__":
    raise SystemExit(main())
