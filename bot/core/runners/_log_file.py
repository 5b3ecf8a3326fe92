"""Reading a log file on a host after a cursor "INODE:OFFSET"."""

import re

from bot.core.domain.runner import LogChunk, Script
from bot.core.domain.shell import ShellCommand, ShellResult, quote

_HEAD = re.compile(r"^relaunch log (\d+) (\d+) (\d+) (yes|no)\n", re.MULTILINE)


def file_log(unit: str, cursor: str, script: Script, limit_bytes: int) -> ShellCommand:
    """Command for at most `limit_bytes` after the cursor."""
    text = script("scripts/runner_log_file.sh.j2", unit=quote(unit), cursor=quote(cursor), limit_bytes=limit_bytes)
    return ShellCommand(text=text, timeout_s=60.0, output_limit_bytes=limit_bytes + 1000)


def parse_file_log(result: ShellResult, cursor: str) -> LogChunk:
    """Lines; a progress bar's returns end lines as well."""
    head = _HEAD.search(result.stdout)
    if head is None:
        reason = result.stderr.strip()[-300:] or "the log could not be read"
        return LogChunk(lines=(), cursor=cursor, reason=reason)
    inode, offset, size, gap = head.groups()
    text = result.stdout[head.end() :].replace("\r\n", "\n").replace("\r", "\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    return LogChunk(
        lines=tuple(lines), cursor=f"{inode}:{offset}", more=int(offset) < int(size) and bool(lines), gap=gap == "yes"
    )
