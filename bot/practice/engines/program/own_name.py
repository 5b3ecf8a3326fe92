"""Show another command line in /proc/PID/cmdline than the interpreter's own, as a native program has it."""

from __future__ import annotations

import ctypes
from pathlib import Path

_PR_SET_NAME = 15
_PR_SET_MM = 35
_PR_SET_MM_MAP = 14


class _Map(ctypes.Structure):
    """struct prctl_mm_map of linux/prctl.h."""

    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("start_code", "end_code", "start_data", "end_data", "start_brk", "brk")),
        *((name, ctypes.c_uint64) for name in ("start_stack", "arg_start", "arg_end", "env_start", "env_end")),
        ("auxv", ctypes.c_void_p),
        ("auxv_size", ctypes.c_uint32),
        ("exe_fd", ctypes.c_uint32),
    ]


def take(words: list[str]) -> None:
    """Show these words. Does nothing where the kernel does not let it."""
    try:
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_NAME, Path(words[0]).name.encode()[:15], 0, 0, 0)
        stat = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")
        # fields from the third on; 26, 27, 28: code and stack; 45 to 51: data, brk, arguments, environment
        fields = stat.rpartition(")")[2].split()
        code_start, code_end, stack = (int(f) for f in fields[23:26])
        data_start, data_end, _, start, end, env_start, env_end = (int(f) for f in fields[42:49])
        text = b"".join(w.encode() + b"\0" for w in words)
        if not start or len(text) > end - start:
            return
        ctypes.memmove(start, text + b"\0" * (end - start - len(text)), end - start)
        brk = libc.sbrk
        brk.restype = ctypes.c_void_p
        mapping = _Map(
            code_start, code_end, data_start, data_end, brk(0), brk(0), stack, start, start + len(text),
            env_start, env_end, None, 0, 0xFFFFFFFF,
        )  # fmt: skip
        libc.prctl(_PR_SET_MM, _PR_SET_MM_MAP, ctypes.byref(mapping), ctypes.sizeof(mapping), 0)
    except (OSError, AttributeError, IndexError, ValueError):
        return
