"""NVIDIA driver, and the newest CUDA version that it runs (nvidia-smi's heading)."""

import re
from dataclasses import dataclass

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts._fact import Fact, ProbeTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """Versions as "580.159.04" and "13.0"."""

    version: str
    cuda: str | None


def snippet(target: ProbeTarget) -> str:
    return """
nvidia-smi || exit $?
exit 0
"""


def parse(output: str) -> Reading[Driver]:
    version = re.search(r"Driver Version:\s*([\d.]+)", output)
    cuda = re.search(r"CUDA Version:\s*([\d.]+)", output)
    if version is None:
        first = next((line.strip() for line in output.splitlines() if line.strip()), "no output")
        return Unknown(f"nvidia-smi: {first[:200]}")
    return Known(Driver(version=version[1], cuda=cuda[1] if cuda else None))


FACT: Fact[Driver] = Fact(name="driver", snippet=snippet, parse=parse, timeout_s=15)
