"""A container launch: its tool is there and may be used, the image is on the host. Nothing is pulled unasked."""

from bot.core.domain.container import Container
from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import containers
from bot.core.facts.containers import Containers
from bot.core.planning.situation import Check, Situation, finding, unknown

_CHECK = "container"


def judge(situation: Situation) -> tuple[Finding, ...]:
    container = situation.revision.container
    if container is None:
        return ()
    reading = situation.facts.reading(containers.FACT)
    if isinstance(reading, Unknown):
        return unknown(_CHECK, container.tool, reading.reason)
    fault = _fault(situation, container, reading.value)
    if fault is not None:
        return (fault,)
    found = reading.value.images[container.tool]
    if container.image_id is not None and container.image_id != found:
        return (
            finding(
                _CHECK,
                Judgement.WARN,
                f"{container.image} is another image now than the one that ran",
                f"ran {container.image_id[:19]}, now {found[:19]}",
                remedy="expect another engine version, or name the image by its digest",
            ),
        )
    return (finding(_CHECK, Judgement.OK, f"{container.image} is on the host", found[:19]),)


def _fault(situation: Situation, container: Container, seen: Containers) -> Finding | None:
    tool, why = container.tool, seen.tools.get(container.tool)
    if why is None:
        return finding(_CHECK, Judgement.REFUSE, f"{tool} is not on the host", remedy=f"install {tool} there")
    if why:
        remedy = f"let the account use {tool}, or allow sudo without a password; see that {tool} runs"
        return finding(_CHECK, Judgement.REFUSE, f"{tool} cannot be used on the host", why, remedy=remedy)
    if tool not in seen.images:
        return finding(
            _CHECK,
            Judgement.REFUSE,
            f"the image {container.image} is not on the host",
            "how large it is is not known",
            remedy=f"on the host run: {tool} pull {container.image}",
        )
    if situation.port == 0:
        return finding(
            _CHECK,
            Judgement.REFUSE,
            "the container publishes no port of the server",
            *container.options,
            remedy="publish it (--publish) or give it the host's network in the launch config",
        )
    return None


CHECK: Check = Check(judge=judge, needs=("containers",))
