"""A start that is refused because its GPUs are in use: GPUs to take instead, and what waiting for them takes."""

import re
from collections.abc import Iterable, Mapping, Sequence

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Known
from bot.core.facts import gpu_processes, gpus
from bot.core.facts.gpu_processes import GpuProcess
from bot.core.facts.gpus import Gpu
from bot.core.planning.situation import Check, Situation

#: a desktop or a monitor holds less; a model or a training run more
SMALL_MIB = 600
#: held by the driver itself on an idle card
IDLE_MIB = 700
#: what ends when those who hold the GPUs end, and what other GPUs get around
_OF_GPUS = frozenset({"foreign_processes", "gpu_memory"})
_PASSING = _OF_GPUS | {"port_free"}
#: facts and checks of one look while waiting
FREE_FACTS = ("gpus", "gpu_processes", "ports", "units", "system")
FREE_CHECKS = ("foreign_processes", "gpu_memory", "port_free", "gpu_count")
_MOST_SETS = 3
_MOST_HOLDERS = 4
#: checks whose figures are the news
_EXACT = frozenset({"drift", "engine_present"})


def large(one: GpuProcess) -> bool:
    """Memory that is not said counts as large."""
    return one.memory_mib is None or one.memory_mib >= SMALL_MIB


def is_passing(situation: Situation, findings: Iterable[Finding]) -> bool:
    """Whether everything that refuses the launch ends with those who hold its GPUs now."""
    refusing = {one.check for one in findings if one.judgement is Judgement.REFUSE}
    return bool(refusing & _OF_GPUS) and refusing <= _PASSING and _fits_an_empty_card(situation)


def free_sets(situation: Situation, findings: Iterable[Finding]) -> tuple[tuple[int, ...], ...]:
    """At most three sets of free GPUs of one model that the launch fits on; blocks that belong together first.

    None where something else than GPUs refuses the launch, or where it names its first GPU itself."""
    if {one.check for one in findings if one.judgement is Judgement.REFUSE} - _OF_GPUS:
        return ()
    needed = situation.engine.gpus_needed(situation.line)
    wanted = situation.wanted_gpus()
    count = needed if needed is not None else len(wanted.value) if isinstance(wanted, Known) else 0
    if count < 1 or situation.engine.first_gpu(situation.line):
        return ()
    by_model: dict[str, list[int]] = {}
    for gpu in _free(situation):
        by_model.setdefault(gpu.name, []).append(gpu.index)
    found = [chosen for indices in by_model.values() for chosen in _blocks(indices, count)]
    return tuple(found[:_MOST_SETS])


def holders(situation: Situation) -> tuple[str, ...]:
    """Who holds the wanted GPUs, one short text each."""
    wanted, reading = situation.wanted_gpus(), situation.facts.reading(gpu_processes.FACT)
    if not isinstance(wanted, Known) or not isinstance(reading, Known):
        return ()
    cards = {gpu.uuid: gpu.index for gpu in wanted.value}
    found: dict[int, list[int]] = {}
    words: dict[int, str] = {}
    for one in reading.value:
        if one.gpu_uuid in cards and large(one) and not situation.is_replaced(one.process):
            found.setdefault(one.process.pid, []).append(cards[one.gpu_uuid])
            command = " ".join((one.process.command or one.name).split())
            words[one.process.pid] = f"{one.process.owner or 'somebody who cannot be seen'}: {command[:80]}"
    texts = [f"{words[pid]} on GPU {', '.join(map(str, sorted(on)))}" for pid, on in found.items()]
    more = len(texts) - _MOST_HOLDERS
    return tuple(texts[:_MOST_HOLDERS]) + ((f"{more} more",) if more > 0 else ())


def still_held(situation: Situation, checks: Mapping[str, Check]) -> tuple[Finding, ...]:
    """What stands against the launch on its GPUs now; empty: they are free. What is not known is not free, nor is
    memory that nobody visible holds."""
    judged = [one for name in FREE_CHECKS if name in checks for one in checks[name].judge(situation)]
    against = (Judgement.REFUSE, Judgement.UNKNOWN)
    return tuple(
        one
        for one in judged
        if one.judgement in against or (one.check == "gpu_memory" and one.judgement is Judgement.WARN)
    )


def pause_s(free_looks: int, busy_looks: int) -> float:
    """Seconds to the next look: soon once free, else longer and longer, two minutes at most."""
    return 15.0 if free_looks else min(120.0, 20.0 * 1.25 ** min(busy_looks, 12))


def telling(findings: Iterable[Finding]) -> tuple[str, ...]:
    """What is not ok, in a form that can be kept and compared."""
    return tuple(dict.fromkeys(_key(one) for one in findings if one.judgement is not Judgement.OK))


def news(shown: Sequence[str], findings: Iterable[Finding]) -> tuple[str, ...]:
    """Summaries of what is not ok and was not among what a person was shown."""
    seen = frozenset(shown)
    fresh = [one for one in findings if one.judgement is not Judgement.OK and _key(one) not in seen]
    return tuple(dict.fromkeys(one.summary for one in fresh))


def _key(one: Finding) -> str:
    # figures such as free space differ from look to look and are no news
    words = one.summary if one.check in _EXACT else re.sub(r"\d[\d.,]*", "#", one.summary)
    return f"{one.check} {one.judgement.value}: {words}"


def _fits_an_empty_card(situation: Situation) -> bool:
    wanted = situation.wanted_gpus()
    if not isinstance(wanted, Known):
        return False
    return all(
        gpu.memory_total_mib is None
        or situation.engine.memory_budget(situation.line, gpu.memory_total_mib, gpu.memory_total_mib)[0]
        <= gpu.memory_total_mib
        for gpu in wanted.value
    )


def _free(situation: Situation) -> list[Gpu]:
    """Cards with nobody large on them and room for the launch."""
    reading, processes = situation.facts.reading(gpus.FACT), situation.facts.reading(gpu_processes.FACT)
    if not isinstance(reading, Known) or not isinstance(processes, Known):
        return []
    busy = {one.gpu_uuid for one in processes.value if large(one)}
    return [gpu for gpu in reading.value if gpu.uuid not in busy and _has_room(situation, gpu)]


def _has_room(situation: Situation, gpu: Gpu) -> bool:
    if gpu.memory_total_mib is None or gpu.memory_free_mib is None or (gpu.memory_used_mib or 0) > IDLE_MIB:
        return False
    budget, _ = situation.engine.memory_budget(situation.line, gpu.memory_total_mib, gpu.memory_free_mib)
    return budget <= gpu.memory_free_mib


def _blocks(indices: list[int], count: int) -> list[tuple[int, ...]]:
    """Blocks that begin at a multiple of their size, as cards are wired; else the free ones in order."""
    free = sorted(indices)
    aligned = [
        tuple(range(first, first + count))
        for first in free
        if first % count == 0 and all(index in free for index in range(first, first + count))
    ]
    return aligned or [tuple(free[at : at + count]) for at in range(0, len(free) - count + 1, count)]
