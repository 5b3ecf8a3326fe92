"""A host's GPUs in one line: free, ours, and each other user once."""

from bot.core.domain.reading import Known
from bot.core.facts import gpu_processes, gpus
from bot.core.planning.gpu_use import GpuUse, Taken, gpu_use, spelled

ROW = "{0}, GPU-{0}, 143771, {1}, {2}, 0, 40, 20, 300, 210, 2100, P8, 580.1, NVIDIA H200"


def use(used: tuple[int, ...], processes: str = "", described: str = "", ours: dict[int, str] | None = None) -> GpuUse:
    cards = gpus.parse("\n".join(ROW.format(at, mib, 143771 - mib) for at, mib in enumerate(used)))
    running = gpu_processes.parse(f"{processes}---\n{described}")
    assert isinstance(cards, Known)
    assert isinstance(running, Known)
    return gpu_use(cards.value, running.value, ours or {}, account="ops")


def test_an_idle_host_is_all_free():
    seen = use((4,) * 8)
    assert (seen.gpus, seen.models, seen.free_count, seen.count, seen.taken) == ("0-7", ("H200",), 8, 8, ())


def test_somebody_on_several_cards_is_one_user():
    rows = "GPU-2, 77, 40000, /usr/bin/python\nGPU-3, 77, 41000, /usr/bin/python\n"
    seen = use((4, 4, 40400, 41400), rows, "pid 77\nowner dana\n\n")
    assert seen.taken == (Taken(gpus="2-3", who="dana: python", ours=False, memory_mib=81000),)
    assert (seen.free, seen.free_count) == ("0-1", 2)


def test_our_server_is_named_by_its_config_and_a_stranger_beside_it_as_well():
    rows = "GPU-0, 5, 90000, sglang::scheduler\nGPU-0, 77, 4000, python\n"
    seen = use((94500, 4), rows, "pid 5\nowner ops\n\npid 77\nowner dana\n\n", {0: "tutor"})
    assert [(one.who, one.ours, one.gpus) for one in seen.taken] == [
        ("tutor", True, "0"),
        ("dana: python", False, "0"),
    ]
    assert seen.free == "1"


def test_memory_that_nobody_visible_holds_is_not_free():
    seen = use((90000, 4))
    assert (seen.free, seen.unseen) == ("1", "0")


def test_numbers_are_written_as_runs():
    assert [spelled(one) for one in ([], [3], [2, 0, 1], [0, 1, 4, 6, 7])] == ["", "3", "0-2", "0-1, 4, 6-7"]
