"""ss -ltnp of a practice host: listening loopback ports of its own processes."""

import re
import sys
from pathlib import Path

from .view import comm, processes

_LISTEN = "0A"


def listeners() -> list[tuple[str, int, str]]:
    """(address, port, inode) of the machine's listening sockets."""
    found = []
    for line in Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]:
        fields = line.split()
        if fields[3] == _LISTEN:
            address, _, port = fields[1].partition(":")
            octets = [str(int(address[i : i + 2], 16)) for i in (6, 4, 2, 0)]
            found.append((".".join(octets), int(port, 16), fields[9]))
    return found


def owners() -> dict[str, tuple[int, int]]:
    """inode -> (pid, descriptor) of the sockets of this host's processes."""
    found: dict[str, tuple[int, int]] = {}
    for pid in processes():
        try:
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                target = str(entry.readlink())
                if target.startswith("socket:["):
                    found.setdefault(target[8:-1], (pid, int(entry.name)))
        except OSError:
            continue
    return found


def main(arguments: list[str]) -> int:
    """Run with these arguments."""
    letters = "".join(a[1:] for a in arguments if a.startswith("-") and not a.startswith("--"))
    if "H" not in letters and "--no-header" not in arguments:
        print("State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process")
    own = owners()
    wanted = {port for a in arguments if not a.startswith("-") for port in re.findall(r":(\d+)", a)}
    for address, port, inode in listeners():
        if inode not in own or (wanted and str(port) not in wanted):
            continue
        pid, descriptor = own[inode]
        process = (
            f'users:(("{comm(pid)}",pid={pid},fd={descriptor}))' if "p" in letters or "--processes" in arguments else ""
        )
        print(f"LISTEN 0      128    {address}:{port}      0.0.0.0:*    {process}".rstrip())
    if not wanted:
        print("LISTEN 0      128    0.0.0.0:22      0.0.0.0:*")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
