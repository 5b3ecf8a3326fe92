"""How containers get at NVIDIA GPUs on a host: NVIDIA's container toolkit (docker's --gpus), docker's runtimes, and CDI
specifications (podman, and --device=nvidia.com/gpu=…). Read from files and from the tools; nothing is started."""

from dataclasses import dataclass

from bot.core.domain.reading import Known, Reading
from bot.core.facts._fact import Fact, ProbeTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerGpu:
    """What is set up."""

    #: whether the toolkit's hook is installed
    toolkit: bool
    #: files in which CDI names NVIDIA's devices
    cdi: tuple[str, ...] = ()
    #: docker's runtimes; None: docker is not there, or did not say
    runtimes: tuple[str, ...] | None = None


def snippet(target: ProbeTarget) -> str:
    if target.image is None:
        return ""
    return r"""
for name in nvidia-container-runtime-hook nvidia-container-toolkit nvidia-container-cli; do
  command -v "$name" >/dev/null 2>&1 && printf 'toolkit %s\n' "$name"
done
for file in /etc/cdi/*.yaml /etc/cdi/*.json /var/run/cdi/*.yaml /var/run/cdi/*.json; do
  [ -r "$file" ] && grep -q 'nvidia\.com/gpu' "$file" && printf 'cdi %s\n' "$file"
done
if command -v docker >/dev/null 2>&1; then
  format='{{range $name, $one := .Runtimes}}{{$name}} {{end}}'
  found=$(timeout 8 docker info --format "$format" 2>/dev/null) ||
    found=$(timeout 8 sudo -n docker info --format "$format" 2>/dev/null) || found=
  [ -z "$found" ] || printf 'runtimes %s\n' "$found"
fi
exit 0
"""


def parse(output: str) -> Reading[ContainerGpu]:
    rows = [line.partition(" ")[::2] for line in output.splitlines()]
    runtimes = next((tuple(value.split()) for kind, value in rows if kind == "runtimes"), None)
    return Known(
        ContainerGpu(
            toolkit=any(kind == "toolkit" for kind, _ in rows),
            cdi=tuple(value for kind, value in rows if kind == "cdi"),
            runtimes=runtimes,
        )
    )


FACT: Fact[ContainerGpu] = Fact(name="container_gpu", snippet=snippet, parse=parse, timeout_s=20)
