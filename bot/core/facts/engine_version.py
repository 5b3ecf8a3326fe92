"""Engine and library versions in the very interpreter of the command, read from package metadata: importing an engine
takes many seconds and memory on the GPU. A binary is asked with --version."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.domain.shell import quote
from bot.core.facts._fact import Fact, ProbeTarget
from bot.core.facts._python import find_python

#: what decides speed and whether kernels load, besides the engine
_LIBRARIES = (
    "torch", "transformers", "triton", "flashinfer-python", "sgl-kernel", "sglang-kernel", "flash-attn", "torchcodec",
    "xformers", "nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12", "nvidia-nccl-cu12", "nvidia-nccl-cu13",
)  # fmt: skip
_SCRIPT = """
import sys, platform, importlib.metadata as m
print('python', sys.executable)
print('python_version', platform.python_version())
for name in sys.argv[1:]:
    try:
        print('package', name, m.version(name))
    except m.PackageNotFoundError:
        pass
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInstall:
    """What the command's environment holds."""

    #: None: the engine is not installed there
    version: str | None
    #: interpreter, or the binary itself; "": the command's program is not there
    program: str
    python_version: str | None = None
    #: distribution -> version, of those installed
    packages: Mapping[str, str] = field(default_factory=dict)


def snippet(target: ProbeTarget) -> str:
    if not target.program:
        return ""
    if target.distribution is None:
        return find_python(target, missing_status=0) + 'printf \'binary %s\\n\' "$prog"\n"$prog" --version 2>&1'
    names = " ".join(quote(name) for name in (target.distribution, *_LIBRARIES))
    return (
        find_python(target, missing_status=0)
        + '[ -n "$py" ] || { printf \'%s has no Python interpreter\\n\' "$prog" >&2; exit 1; }\n'
        + f"printf 'wanted %s\\n' {quote(target.distribution)}\n"
        + f'"$py" -c {quote(_SCRIPT)} {names}'
    )


def parse(output: str) -> Reading[EngineInstall]:
    if not output.strip():
        return Known(EngineInstall(version=None, program=""))
    lines = [line.split(" ", 1) for line in output.splitlines() if " " in line]
    values = {line[0]: line[1] for line in lines if line[0] != "package"}
    if "binary" in values:
        return _binary(values["binary"], output)
    packages = {name: version for key, rest in lines if key == "package" for name, version in [rest.split(" ", 1)]}
    if "python" not in values or "wanted" not in values:
        return Unknown("the interpreter gave no answer")
    return Known(
        EngineInstall(
            version=packages.get(values["wanted"]),
            program=values["python"],
            python_version=values.get("python_version"),
            packages=packages,
        )
    )


def _binary(program: str, output: str) -> Reading[EngineInstall]:
    """llama.cpp: "version: 0.6.0-dev (build 11434, commit …)"; older ones "version: 5943 (abc1234)"."""
    match = re.search(r"version: .*?build:? (\d+)", output) or re.search(r"version: (\d+) \(", output)
    if match is None:
        return Unknown("--version named no build")
    return Known(EngineInstall(version=f"b{match[1]}", program=program))


FACT: Fact[EngineInstall] = Fact(name="engine_version", snippet=snippet, parse=parse, timeout_s=15)
