"""A container launch gets at the GPUs that it needs, in the way that its options ask for."""

from bot.core.domain.container import Container
from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import container_gpu
from bot.core.facts.container_gpu import ContainerGpu
from bot.core.planning.situation import Check, Situation, finding, unknown

_CHECK = "container_gpu"


def judge(situation: Situation) -> tuple[Finding, ...]:
    container = situation.revision.container
    if container is None or situation.engine.gpus_needed(situation.line) == 0:
        return ()
    wish = _wish(container)
    if wish is None:
        return (
            finding(
                _CHECK,
                Judgement.WARN,
                "the container is given no GPU",
                *container.options,
                remedy="add --gpus=all (docker) or --device=nvidia.com/gpu=all to the launch config",
            ),
        )
    reading = situation.facts.reading(container_gpu.FACT)
    if isinstance(reading, Unknown):
        return unknown(_CHECK, "GPU access of containers", reading.reason)
    return (_judge_wish(container, wish, reading.value),)


def _wish(container: Container) -> str | None:
    """How its options ask for GPUs: "cdi", "gpus", "runtime" or "privileged"."""
    if any(value.startswith("nvidia.com/gpu") for value in container.values("device")):
        return "cdi"
    if container.values("gpus"):
        # podman gives --gpus through CDI
        return "cdi" if container.tool == "podman" else "gpus"
    if any(value.startswith("nvidia") for value in container.values("runtime")):
        return "runtime"
    devices = [value for value in container.values("device") if value.startswith("/dev/nvidia")]
    return "privileged" if devices or container.values("privileged") else None


def _judge_wish(container: Container, wish: str, seen: ContainerGpu) -> Finding:
    if wish == "privileged":
        return finding(_CHECK, Judgement.OK, "the container is given the devices themselves")
    if wish == "cdi":
        if seen.cdi:
            return finding(_CHECK, Judgement.OK, "containers get GPUs through CDI", *seen.cdi)
        return finding(
            _CHECK,
            Judgement.REFUSE,
            "no CDI specification names the host's GPUs",
            "looked in /etc/cdi and /var/run/cdi",
            remedy="on the host run: sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
        )
    if wish == "runtime" and seen.runtimes is None:
        return finding(
            _CHECK,
            Judgement.UNKNOWN,
            "docker's runtimes: not known",
            "docker did not say which runtimes it has",
            remedy="see `docker info` on the host",
        )
    if wish == "runtime" and "nvidia" not in (seen.runtimes or ()):
        return finding(
            _CHECK,
            Judgement.REFUSE,
            "docker has no runtime named nvidia",
            f"it has {', '.join(seen.runtimes or ())}",
            remedy="on the host run: sudo nvidia-ctk runtime configure --runtime=docker, and restart docker",
        )
    if not seen.toolkit:
        return finding(
            _CHECK,
            Judgement.REFUSE,
            f"{container.tool} cannot give GPUs to containers: NVIDIA's container toolkit is not on the host",
            "none of its programs is in PATH",
            remedy="install nvidia-container-toolkit there and restart docker",
        )
    return finding(_CHECK, Judgement.OK, "NVIDIA's container toolkit is on the host")


CHECK: Check = Check(judge=judge, needs=("container_gpu",))
