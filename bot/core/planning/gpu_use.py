"""The GPUs of a host in one line: which are free, which our servers have, and who else has any."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.core.facts.gpu_processes import GpuProcess
from bot.core.facts.gpus import Gpu
from bot.core.planning.free import IDLE_MIB, large

#: of a card's name, what its maker and use add
_LEFT_OUT = ("NVIDIA ", "GeForce ", "Tesla ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """GPUs that one user has: a config of ours, or "owner: program"; `memory_mib` None where it is not known."""

    gpus: str
    who: str
    ours: bool
    memory_mib: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuUse:
    """All cards of a host. Numbers are written as "0-3, 6"."""

    gpus: str
    #: one, or several where the cards differ
    models: tuple[str, ...]
    count: int
    free: str
    free_count: int
    taken: tuple[Taken, ...] = ()
    #: memory is in use there, and nobody who has it can be seen
    unseen: str = ""


def gpu_use(
    cards: Sequence[Gpu],
    processes: Sequence[GpuProcess],
    ours: Mapping[int, str],
    *,
    units: Collection[str] = (),
    account: str | None = None,
) -> GpuUse:
    """`ours`: config by GPU index; `units`, `account`: how our processes are told from those of others."""
    index = {card.uuid: card.index for card in cards}
    foreign = [
        one
        for one in processes
        if one.gpu_uuid in index and large(one) and not _is_ours(one, ours, index[one.gpu_uuid], units, account)
    ]
    busy = {index[one.gpu_uuid] for one in foreign} | {card.index for card in cards if card.index in ours}
    unseen = [card.index for card in cards if card.index not in busy and (card.memory_used_mib or 0) > IDLE_MIB]
    free = [card.index for card in cards if card.index not in busy and card.index not in unseen]
    return GpuUse(
        gpus=spelled(index.values()),
        models=tuple(dict.fromkeys(short_name(card.name) for card in cards if card.name)),
        count=len(cards),
        free=spelled(free),
        free_count=len(free),
        taken=(*_ours(ours), *_foreign(foreign, index)),
        unseen=spelled(unseen),
    )


def _is_ours(one: GpuProcess, ours: Mapping[int, str], card: int, units: Collection[str], account: str | None) -> bool:
    if one.process.unit and one.process.unit.removesuffix(".service") in units:
        return True
    return card in ours and one.process.owner in (None, account)


def _ours(ours: Mapping[int, str]) -> list[Taken]:
    by_config: dict[str, list[int]] = {}
    for card, config in ours.items():
        by_config.setdefault(config, []).append(card)
    return [Taken(gpus=spelled(cards), who=config, ours=True) for config, cards in by_config.items()]


def _foreign(processes: Iterable[GpuProcess], index: Mapping[str, int]) -> list[Taken]:
    """One entry a user: a run on eight cards is one user."""
    by_who: dict[str, list[GpuProcess]] = {}
    for one in processes:
        name = one.process.unit or one.name.rpartition("/")[2] or "?"
        by_who.setdefault(f"{one.process.owner or 'somebody who cannot be seen'}: {name}", []).append(one)
    found = []
    for who, mine in by_who.items():
        sizes = [one.memory_mib for one in mine if one.memory_mib is not None]
        memory = sum(sizes) if len(sizes) == len(mine) else None
        found.append(Taken(gpus=spelled({index[one.gpu_uuid] for one in mine}), who=who, ours=False, memory_mib=memory))
    return found


def short_name(name: str) -> str:
    """ "NVIDIA H200" as "H200"."""
    for word in _LEFT_OUT:
        name = name.removeprefix(word)
    return name


def spelled(numbers: Iterable[int]) -> str:
    """ "0-3, 6"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
