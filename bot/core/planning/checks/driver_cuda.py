"""The driver runs the CUDA version that the environment's libraries were built for (same major version or newer)."""

import re

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Known, Unknown
from bot.core.facts import driver, engine_version
from bot.core.planning.situation import Check, Situation, finding, unknown

_CHECK = "driver_cuda"


def judge(situation: Situation) -> tuple[Finding, ...]:
    install, reading = situation.facts.reading(engine_version.FACT), situation.facts.reading(driver.FACT)
    if isinstance(install, Known) and situation.engine.distribution is None:
        return ()
    if isinstance(reading, Unknown):
        return unknown(_CHECK, "driver version", reading.reason)
    if isinstance(install, Unknown):
        return unknown(_CHECK, "CUDA version of the environment", install.reason)
    built = _built_for(dict(install.value.packages))
    runs = reading.value.cuda
    if built is None or runs is None:
        return unknown(_CHECK, "CUDA version of the environment", "no package names its CUDA version")
    package, version = built
    evidence = (f"driver {reading.value.version} runs CUDA {runs}", f"{package} is built for CUDA {version}")
    if int(version.split(".")[0]) > int(runs.split(".")[0]):
        return (
            finding(
                _CHECK,
                Judgement.WARN,
                f"the driver is too old for CUDA {version}",
                *evidence,
                remedy="update the driver, install CUDA's compatibility package, or use libraries for the older CUDA",
            ),
        )
    return (finding(_CHECK, Judgement.OK, f"driver {reading.value.version} runs CUDA {runs}", *evidence),)


def _built_for(packages: dict[str, str]) -> tuple[str, str] | None:
    """(package, CUDA version): the runtime's own package, else torch's local version (+cu130)."""
    for name, version in packages.items():
        if name.startswith("nvidia-cuda-runtime"):
            return f"{name} {version}", ".".join(version.split(".")[:2])
    match = re.search(r"\+cu(\d+)(\d)$", packages.get("torch", ""))
    return (f"torch {packages['torch']}", f"{match[1]}.{match[2]}") if match else None


CHECK: Check = Check(judge=judge, needs=("driver", "engine_version"))
