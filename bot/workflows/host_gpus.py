"""A host's GPUs as messages show them: one line, with our servers told from others."""

from collections.abc import Sequence
from typing import Any

from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.host import Host
from bot.core.domain.reading import Known
from bot.core.facts import HostFacts, gpu_processes, gpus
from bot.core.planning.gpu_use import gpu_use
from bot.core.planning.relied_on import gpus_of
from bot.core.rendering.redact import redact
from bot.workflows.services import Services


def host_gpus(
    services: Services, host: Host, facts: HostFacts, launches: Sequence[LaunchRecord]
) -> dict[str, Any] | None:
    """planning.gpu_use.GpuUse as plain values; None where the cards are not known. `launches`: ours that run there."""
    cards, processes = facts.reading(gpus.FACT), facts.reading(gpu_processes.FACT)
    if not isinstance(cards, Known) or not cards.value:
        return None
    ours: dict[int, str] = {}
    for launch in launches:
        plan = services.launches.plan(launch.id)
        for index in gpus_of(plan) if plan else ():
            ours[int(index)] = launch.config
    use = gpu_use(
        cards.value,
        processes.value if isinstance(processes, Known) else (),
        {card.index: ours[card.index] for card in cards.value if card.index in ours},
        units={services.launches.unit(launch.id).removesuffix(".service") for launch in launches},
        account=host.user,
    )
    return {
        **{name: getattr(use, name) for name in ("gpus", "count", "free", "free_count", "unseen")},
        "models": list(use.models),
        "taken": [
            {"gpus": one.gpus, "who": redact(one.who), "ours": one.ours, "memory_mib": one.memory_mib}
            for one in use.taken
        ],
    }
