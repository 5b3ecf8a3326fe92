"""A start whose GPUs are in use: what is offered instead, and when waiting for them ends."""

from typing import Any

import pytest

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.host import Host
from bot.core.domain.plan import Refusal
from bot.core.planning import Running, StartRequest, held_back, plan_restart, plan_start
from bot.core.planning.free import news, telling
from tests.unit.core.planning.launches import CHECKS, ENGINES, config, readings, revision

ONE_GPU = "/opt/env/bin/python3 -m sglang.launch_server --model-path /models/a --tp {tp} --port 30000"
CARD = "{index}, GPU-{index}, 49140, {used}, {free}, 0, 40, 30, 300, 210, 2100, P8, 580.65.06, {name}"


def gpus(*used_mib: int, names: dict[int, str] | None = None) -> str:
    """Cards with so much of their memory used."""
    rows = [
        CARD.format(index=at, used=used, free=49140 - used, name=(names or {}).get(at, "NVIDIA RTX A6000"))
        for at, used in enumerate(used_mib)
    ]
    return "\n".join(rows) + "\n---\n---\n"


def held(*cards: int, pid: int = 9, mib: int = 30000, command: str = "python3 train.py --bs 8") -> str:
    """A training run of ana on these cards."""
    rows = "".join(f"GPU-{card}, {pid}, {mib}, python3\n" for card in cards)
    return f"{rows}---\npid {pid}\nowner ana\nage 7200\ncommand {command}\nparent 1 init\n\n"


def request(tp: int = 1, **facts: str) -> StartRequest:
    one = revision(ONE_GPU.format(tp=tp))
    return StartRequest(
        operation_id="op", host=Host(name="h", address="h.invalid"), config=config(one), revision=one,
        engine=ENGINES["sglang"], facts=readings(facts), checks=CHECKS,
    )  # fmt: skip


def refused(asked: StartRequest) -> Refusal:
    outcome = plan_start(asked)
    assert isinstance(outcome, Refusal), outcome
    return outcome


@pytest.mark.parametrize(
    ("tp", "used", "busy", "expected"),
    [
        # aligned pairs, as cards are wired
        (2, [40000, 40000, 0, 0], [0, 1], [(2, 3)]),
        (2, [40000, 0, 0, 0, 0, 0, 0, 0], [0], [(2, 3), (4, 5), (6, 7)]),
        (1, [40000, 0, 0, 0, 0], [0], [(1,), (2,), (3,)]),
        # no aligned pair is free: any two
        (2, [40000, 0, 0, 40000], [0, 3], [(1, 2)]),
        # a card whose memory somebody unseen holds is not free
        (1, [40000, 9000, 0], [0], [(2,)]),
        (2, [40000, 40000, 0, 40000], [0, 1, 3], []),
    ],
)
def test_free_cards_are_offered(tp: int, used: list[int], busy: list[int], expected: list[tuple[int, ...]]) -> None:
    refusal = refused(request(tp, gpus=gpus(*used), gpu_processes=held(*busy)))
    assert list(refusal.free_gpus) == expected
    assert refusal.passing
    assert refusal.holders[0].startswith("ana: python3 train.py --bs 8 on GPU 0")


def test_cards_of_two_models_are_not_mixed() -> None:
    cards = gpus(40000, 40000, 0, 0, names={3: "NVIDIA L4"})
    assert refused(request(2, gpus=cards, gpu_processes=held(0, 1))).free_gpus == ()


def test_other_cards_do_not_help_when_the_port_is_taken_but_waiting_does() -> None:
    listener = (
        'LISTEN 0 1 0.0.0.0:30000 0.0.0.0:* users:(("p",pid=9,fd=3))\n---\npid 9\nowner ana\nage 9\ncommand c\n\n'
    )
    refusal = refused(request(1, gpus=gpus(40000, 0), gpu_processes=held(0), ports=listener))
    assert (refusal.free_gpus, refusal.passing) == ((), True)


def test_what_does_not_pass_by_itself_is_not_waited_for() -> None:
    gone = '{"asked": "/models/a", "source": "path", "exists": false, "path": "/models/a"}'
    refusal = refused(request(1, gpus=gpus(40000, 0), gpu_processes=held(0), model_files=gone))
    assert (refusal.free_gpus, refusal.passing, refusal.holders) == ((), False, ())


def test_a_restart_does_not_wait() -> None:
    asked = request(1, gpus=gpus(40000, 0), gpu_processes=held(0))
    outcome = plan_restart(asked, Running(unit="relaunch-x", pid=77))
    assert isinstance(outcome, Refusal)
    assert not outcome.passing


@pytest.mark.parametrize(
    ("facts", "free"),
    [
        ({"gpus": gpus(0, 0), "gpu_processes": "---\n"}, True),
        # a monitor's small process may stay
        ({"gpus": gpus(300, 0), "gpu_processes": held(0, mib=120)}, True),
        ({"gpus": gpus(40000, 0), "gpu_processes": held(0)}, False),
        # nobody visible, but the memory is not there
        ({"gpus": gpus(40000, 0), "gpu_processes": "---\n"}, False),
        ({"gpus": "NVIDIA-SMI has failed", "gpu_processes": "---\n"}, False),
    ],
)
def test_free_is_what_is_known_to_be_free(facts: dict[str, str], free: bool) -> None:
    against, _ = held_back(request(1, **facts))
    assert (against == ()) is free


def finding(check: str, summary: str, judgement: Judgement = Judgement.WARN) -> Finding:
    return Finding(check=check, judgement=judgement, summary=summary)


def test_figures_that_move_are_no_news_but_new_warnings_are() -> None:
    shown = telling([finding("disk", "41 GiB free of 100"), finding("x", "fine", Judgement.OK)])
    assert shown == ("disk warn: # GiB free of #",)
    assert news(shown, [finding("disk", "40.5 GiB free of 100"), finding("ram", "ok", Judgement.OK)]) == ()
    assert news(shown, [finding("ram", "RAM is short")]) == ("RAM is short",)


def test_any_other_drift_is_news() -> None:
    shown: tuple[Any, ...] = telling([finding("drift", "sglang: proven with 0.5.9, now 0.5.10")])
    assert news(shown, [finding("drift", "sglang: proven with 0.5.9, now 0.5.10")]) == ()
    assert news(shown, [finding("drift", "sglang: proven with 0.5.9, now 0.5.11")])
