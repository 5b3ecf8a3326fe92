"""The story of the README: started, measured, slower with one step, why, relaunched after approval, stopped."""

import re

from tests.acceptance.thread import BOB, Talk


def test_the_seed_sentence_brings_up_a_server_with_measured_speed(talk: Talk) -> None:
    ts = talk.say("@Relaunch start qwen on ct129 with stock mtp")
    plan = talk.wait(ts, "--speculative-num-steps 3")
    assert "qwen3.6-27b-mtp" in plan
    ready = talk.wait(ts, "tok/s for one stream", timeout=90)
    assert "is ready on ct129" in ready
    assert "a real token came back" in ready
    assert "runs exactly the planned command" in ready
    assert "accept length 3." in ready


def test_a_restart_with_one_step_needs_an_approval_by_another_person_and_is_slower(talk: Talk) -> None:
    ts = talk.say("@Relaunch restart qwen on ct129 with 1 step and 2 draft tokens")
    card = talk.wait_message(ts, "Approve: restart qwen3.6-27b-mtp on ct129?")
    talk.click(card["ts"], "Approve", user="U0ANA")
    talk.workspace.wait_for(lambda: any("may" in m["text"].lower() for m in talk.workspace.ephemerals("U0ANA")))
    assert "Stopping" not in "".join(talk.texts(ts))
    talk.click(card["ts"], "Approve", user=BOB)
    talk.wait(ts, "Approved: restart qwen3.6-27b-mtp on ct129")
    talk.wait(ts, "GPU memory returned")
    ready = talk.wait(ts, "tok/s for one stream", timeout=90)
    assert "Slower" in ready
    assert re.search(r"accept length 1\.[5-9]", ready)
    talk.say("@Relaunch we're at only 40 tok/s, were around 70 before, why is it slower?", thread=ts)
    why = talk.wait(ts, "Most likely first")
    assert "speculative steps: 3 → 1" in why
    assert "speculative draft tokens: 4 → 2" in why
    offer = talk.wait_message(ts, "Most likely first")
    talk.click(offer["ts"], "Relaunch as in launch #1", user="U0ANA")
    card = talk.workspace.wait_for(
        lambda: next((m for m in talk.replies(ts) if "Approve: restart" in str(m) and m["ts"] > offer["ts"]), None)
    )
    talk.click(card["ts"], "Approve", user=BOB)
    talk.wait(ts, "Launch #3", timeout=90)
    again = talk.workspace.wait_for(
        lambda: next((t for t in talk.texts(ts) if "Launch #3" in t and "tok/s for one stream" in t), None), 90
    )
    assert "accept length 3." in again


def test_a_stop_is_proved_and_a_second_click_does_nothing(talk: Talk) -> None:
    ts = talk.say("@Relaunch stop qwen on ct129")
    card = talk.wait_message(ts, "Approve: stop qwen3.6-27b-mtp on ct129?")
    talk.click(card["ts"], "Approve")
    stopped = talk.wait(ts, "is stopped on ct129")
    assert "is closed" in stopped
    assert stopped.count("is stopped on ct129") == 1


def test_a_missing_library_is_diagnosed(talk: Talk) -> None:
    ts = talk.say("@Relaunch start qwen on ct130 with long context")
    failed = talk.wait(ts, "did not start on ct130")
    assert "Cause: The shared library libavutil.so.58 is not on the loader path" in failed


def test_inconsistent_speculation_is_said_before_it_fails(talk: Talk) -> None:
    ts = talk.say("@Relaunch start qwen on ct129 with stock mtp --speculative-num-draft-tokens 9")
    assert "draft" in talk.wait(ts, "Plan", timeout=60)


def test_a_protected_host_asks_and_a_training_run_is_not_disturbed(talk: Talk) -> None:
    ts = talk.say("@Relaunch start qwen on blackwell-train")
    card = talk.wait_message(ts, "is protected")
    talk.click(card["ts"], "1. start qwen3.6-27b-eval on blackwell-train", user="U0ANA")
    refused = talk.wait(ts, "train.py")
    assert "mlteam" in refused
    health = talk.say("@Relaunch health of blackwell-train")
    assert "mlteam: " in talk.wait(health, "blackwell-train")
