"""The README's story with the bot on a real GPU: practice workspace, the real bot, SSH, SGLang.

usage: bot_story.py --out FOLDER --python PYTHON --model FOLDER [--sshd PATH --sshd-libraries FOLDER]
       bot_story.py --out FOLDER --practice
Run by hand on a machine with an NVIDIA GPU, from the root of a checkout; README.md beside this says how. The host is
this machine itself, reached over SSH. PYTHON is the one that has SGLang. `--practice` tries the story on a practice host.

Started with three steps, measured; restarted with one step after an approval, found slower, why, relaunched after an
approval, measured; status, health; stopped with GPU memory returned; refused while another process holds the card, and
started by itself when that is gone; without speculation, compared with one step. Each expectation is printed as ok or FAILED; exit status 1 with any failure.

In FOLDER: thread.txt (all messages), messages.json (messages and files), story.json (numbers),
machine.txt (nvidia-smi at each station), bot.log, pictures/, server_*.log.
"""

import argparse
import base64
import contextlib
import json
import logging
import platform
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

# ruff: noqa: E402  # the checkout is not installed on that machine
import yaml

from bot.app import App
from bot.cli.practice_bot import practice_bot
from bot.core.domain.message import Payload
from bot.core.measuring.encoding import measurement_to_json
from bot.core.rendering.terminal import render_terminal
from bot.practice.fleet import Fleet
from bot.practice.run import Practice
from bot.practice.workspace import PracticeWorkspace
from bot.practice.workspace.roster import ANA, BOB, SERVING
from bot.practice.workspace.state import TEAM_ID
from tests.acceptance.thread import Talk, words
from tests.gpu.machine import NAME, Machine, practice_machine, this_machine

CONFIG, PLAIN = "mimo-mtp", "mimo-plain"
PORT = 30000
COMMON = (
    "--attention-backend triton --sampling-backend pytorch --grammar-backend none --mem-fraction-static 0.5 "
    "--cuda-graph-max-bs 16 --trust-remote-code --enable-metrics"
)
THREE = "--speculative-algorithm NEXTN --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
#: in the bot's ready message, once it has measured
SPEED = "tok/s for one stream"
START_S = 420.0
SOON_S = 120.0
AGREEMENT = 0.02
HOLD_GIB = 100
#: the driver keeps a little for itself
MEMORY_LEFT_MIB = 1500


class Story:
    """Says what people say, checks what comes back, keeps everything."""

    def __init__(self, practice: Practice, app: App, machine: Machine, out: Path) -> None:
        self.practice, self.app, self.machine, self.out = practice, app, machine, out
        self.talk = Talk(practice)
        self.failed: list[str] = []
        self.said: list[str] = []
        self.roots: list[str] = []
        self.only: list[str] = []
        self.began = time.monotonic()
        self.memory_before = machine.memory_mib()

    # --- keeping

    def note(self, text: str) -> None:
        """Print with the time since the beginning."""
        line = f"{time.monotonic() - self.began:6.0f} s  {text}"
        self.said.append(line)
        print(line, flush=True)

    def check(self, name: str, ok: bool) -> None:
        """One expectation."""
        self.note(f"{'ok    ' if ok else 'FAILED'} {name}")
        if not ok:
            self.failed.append(name)

    def look(self, station: str) -> None:
        """nvidia-smi as it is now, into machine.txt; everything said so far into its files."""
        with (self.out / "machine.txt").open("a") as file:
            queries = (
                (), ("--query-gpu=name,driver_version,memory.used,clocks.sm,power.draw,temperature.gpu", "--format=csv"),
                ("--query-compute-apps=gpu_uuid,pid,used_memory,process_name", "--format=csv"),
            )  # fmt: skip
            file.write(f"=== {station}\n" + "\n".join(self.machine.smi(*query) for query in queries) + "\n")
        self.keep()

    def keep(self) -> None:
        """Write what there is."""
        channel = self.practice.workspace.messages("ml-serving")
        files = self.practice.workspace.office.state.files
        content = {
            "messages": channel,
            "ephemerals": [{"user": u, "message": m} for u in (ANA, BOB) for m in self.practice.workspace.ephemerals(u)],
            "files": {
                f.id: {"name": f.name, "title": f.title, "user": f.user, "alt_text": f.alt_text, "data": base64.b64encode(f.data).decode()}
                for f in files.values()
            },
        }  # fmt: skip
        (self.out / "messages.json").write_text(json.dumps(content, indent=1))
        (self.out / "thread.txt").write_text(self.thread_text(channel))
        pictures = self.out / "pictures"
        pictures.mkdir(exist_ok=True)
        for stored in files.values():
            if stored.name.endswith(".png"):
                (pictures / f"{stored.id}_{stored.name}").write_bytes(stored.data)
        numbers = {
            "said": self.said, "failed": self.failed, "launches": self.launches(), "ssh": self.machine.ssh,
            "machine": platform.platform(), "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }  # fmt: skip
        (self.out / "story.json").write_text(json.dumps(numbers, indent=1))

    def launches(self) -> list[dict[str, Any]]:
        """Every launch with its measurements."""
        store = self.app.ready.launches
        return [
            {
                "number": one.number, "state": str(one.state), "ready_after_s": one.ready_after_s,
                "measurements": [measurement_to_json(m) for m in store.measurements(one.id)],
                "facts": dict(store.facts(one.id)),
            }
            for one in reversed(store.recent(config=None, host=NAME, limit=20))
        ]  # fmt: skip

    def thread_text(self, channel: list[dict[str, Any]]) -> str:
        """All messages, each thread together, as a terminal would show them."""
        names = {user.id: user.real_name for user in self.practice.workspace.office.state.users.values()}
        parts = []
        for root in self.roots:
            for message in (m for m in channel if root in (m["ts"], m.get("thread_ts"))):
                at = datetime.fromtimestamp(float(message["ts"]), UTC).strftime("%H:%M:%S")
                payload = Payload(text=str(message.get("text", "")), blocks=message.get("blocks") or [])
                text = render_terminal(payload)
                for file in message.get("files") or []:
                    text += f"\n[picture] {file.get('title')}: {file.get('alt_txt', '')}"
                for user, name in names.items():
                    text = text.replace(f"<@{user}>", f"@{name}").replace(f"@{user}", f"@{name}")
                indent = "" if message["ts"] == root else "    "
                body = "\n".join(f"{indent}{line}".rstrip() for line in text.splitlines())
                parts.append(f"{indent}[{at}] {names.get(message.get('user', ''), 'Relaunch')}\n{body}\n")
            parts.append("─" * 100 + "\n")
        return "\n".join(parts)

    # --- talking

    def say(self, text: str, thread: str | None = None) -> str:
        """Ana says something; gives the thread."""
        self.note(f"Ana: {text}")
        ts = self.talk.say(text, thread=thread)
        if thread is None:
            self.roots.append(ts)
        return thread or ts

    def wait(self, ts: str, part: str, seconds: float, after: str = "") -> dict[str, Any]:
        """The bot's message of the thread, later than `after`, that holds `part`."""

        def found() -> dict[str, Any] | None:
            later = [m for m in self.talk.replies(ts) if m["ts"] > after]
            self._stop_early(later, part)
            return next((m for m in later if part in words(m)), None)

        try:
            message = self.practice.workspace.wait_for(found, seconds)
        except TimeoutError:
            said = "\n---\n".join(self.talk.texts(ts))
            raise AssertionError(f"no “{part}” within {seconds:.0f} s in:\n{said}") from None
        assert message is not None
        return message

    def _stop_early(self, messages: list[dict[str, Any]], part: str) -> None:
        for message in messages:
            text = words(message)
            if part not in text and re.search(r"did not start on|^(⚠️|🚫)[^\n]*\nWhat to do", text):
                raise AssertionError(f"waited for “{part}”, came:\n{text}")

    def approve(self, ts: str, title: str, after: str = "") -> None:
        """Bob approves a card."""
        card = self.wait(ts, f"Approve: {title}", SOON_S, after)
        self.note(f"Bob approves: {title}")
        self.talk.click(card["ts"], "Approve", user=BOB)

    def ready(self, ts: str, number: int, after: str = "", *, config: str = CONFIG) -> str:
        """Wait until launch `number` is measured; check what its message says."""
        self.wait(ts, f"{config} is ready on {NAME}", START_S, after)
        self.note(f"launch {number} is ready")
        text = words(self.wait(ts, SPEED, SOON_S + 60, after))
        for proof in ("runs exactly the planned command", f"owns port {PORT}", "a real token came back"):
            self.check(f"launch {number}: {proof}", proof in text)
        for line in text.splitlines():
            if line.strip():
                self.note(f"    {line.strip()}")
        self.agreement(number)
        self.look(f"launch {number} is ready and measured")
        return text

    def agreement(self, number: int) -> None:
        """Our tokens against the server's own counter."""
        found = [one for one in self.launches() if one["number"] == number]
        for measurement in found[0]["measurements"] if found else []:
            for level in measurement["levels"]:
                ours, counted = level["tokens"], level.get("counted_tokens")
                close = bool(counted) and abs(ours / counted - 1) <= AGREEMENT
                self.check(
                    f"launch {number} at {level['concurrency']}: {ours} tokens came, the server counted {counted}",
                    close,
                )

    # --- the story

    def start_three(self) -> str:
        """The seed sentence."""
        ts = self.say(f"@Relaunch start mimo on {NAME} with stock mtp")
        self.wait(ts, "--speculative-num-steps 3", SOON_S)
        self.look("before the first start")
        text = self.ready(ts, 1)
        self.check("three steps: accept length near 3", bool(re.search(r"accept length [23]\.\d", text)))
        return ts

    def restart_one(self) -> None:
        """One step: slower, why, relaunched."""
        ts = self.say(f"@Relaunch restart mimo on {NAME} with 1 step and 2 draft tokens")
        card = self.wait(ts, f"Approve: restart {CONFIG} on {NAME}?", SOON_S)
        self.talk.click(card["ts"], "Approve", user=ANA)
        refused = self.practice.workspace.wait_for(
            lambda: any("may" in m["text"].lower() for m in self.practice.workspace.ephemerals(ANA)), 30
        )
        self.check("Ana may not approve her own restart", bool(refused))
        self.approve(ts, f"restart {CONFIG} on {NAME}?")
        stopped = words(self.wait(ts, "GPU memory returned", SOON_S))
        self.note(f"    {stopped.strip()[:300]}")
        text = self.ready(ts, 2)
        self.check("one step is found slower", "Slower" in text)
        self.check("one step: accept length below 2", bool(re.search(r"accept length 1\.\d", text)))
        self.say("@Relaunch we're at only 350 tok/s, were above 500 before, why is it slower?", ts)
        offer = self.wait(ts, "speculative steps: 3 → 1", SOON_S)
        for line in words(offer).splitlines():
            self.note(f"    {line.strip()}")
        self.keep()
        self.note("Ana clicks: Relaunch as in launch #1")
        self.talk.click(offer["ts"], "Relaunch as in launch #1", user=ANA)
        self.approve(ts, f"restart {CONFIG} on {NAME}?", offer["ts"])
        text = self.ready(ts, 3, offer["ts"])
        self.check("three steps again: not called slower", "Slower" not in text)
        self.check("three steps again: accept length near 3", bool(re.search(r"accept length [23]\.\d", text)))

    def look_round(self) -> None:
        """Status, health, comparison while it runs."""
        ts = self.say("@Relaunch status")
        text = words(self.wait(ts, CONFIG, SOON_S))
        self.check("status names the server", CONFIG in text and NAME in text)
        ts = self.say("@Relaunch health")
        text = words(self.wait(ts, NAME, SOON_S))
        self.note(f"    {text.strip()[:600]}")
        ts = self.say("@Relaunch compare launch 1 with launch 2")
        self.wait(ts, "%", SOON_S)
        self.keep()

    def stop(self, config: str = CONFIG) -> None:
        """Stopped after an approval, GPU memory returned."""
        ts = self.say(f"@Relaunch stop mimo on {NAME}")
        self.approve(ts, f"stop {config} on {NAME}?")
        text = words(self.wait(ts, f"is stopped on {NAME}", SOON_S))
        for line in text.splitlines():
            self.note(f"    {line.strip()}")
        self.check("stop: the port is closed", "closed" in text)
        self.check("stop: GPU memory is said to be returned", "GPU" in text and "returned" in text)
        used = self.machine.memory_mib()
        self.check(
            f"stop: {used} MiB in use ({self.memory_before} before)", used <= self.memory_before + MEMORY_LEFT_MIB
        )
        self.look("after the stop")

    def foreign(self) -> None:
        """Another account's process holds the card: a start is refused, waits until it is free, and goes on."""
        owner = self.machine.take_card(Path("/home/mlteam/train"), HOLD_GIB)
        try:
            self.look("another process holds the card")
            ts = self.say(f"@Relaunch start mimo on {NAME} with stock mtp")
            refusal = self.wait(ts, "train.py", SOON_S)
            text = words(refusal)
            for line in text.splitlines():
                self.note(f"    {line.strip()}")
            self.check("a start beside it is refused with owner and command", owner in text and "train.py" in text)
            self.talk.click(refusal["ts"], "Start when free", user=ANA)
            self.wait(ts, "when its GPUs are free", SOON_S)
            health = self.say("@Relaunch health")
            text = words(self.wait(health, NAME, SOON_S))
            self.note(f"    {text.strip()[:600]}")
            self.check("health names who is on the card", owner in text)
            self.check("nothing was started beside it", len(self.launches()) == 3)
        finally:
            self.machine.free_card()
        self.note("the card is free again")
        self.ready(ts, 4, refusal["ts"])
        self.stop()

    def without(self) -> None:
        """No speculation: what one step brought."""
        ts = self.say(f"@Relaunch start mimo on {NAME} without mtp")
        self.ready(ts, 5, config=PLAIN)
        ts = self.say("@Relaunch compare launch 5 with launch 2")
        text = words(self.wait(ts, "%", SOON_S))
        for line in text.splitlines():
            self.note(f"    {line.strip()}")
        ts = self.say(f"@Relaunch bench {PLAIN} on {NAME} at concurrency 1, 4 and 16")
        text = words(self.wait(ts, "Pin as baseline", SOON_S + 60))
        for line in text.splitlines():
            self.note(f"    {line.strip()}")
        self.stop(PLAIN)

    def run(self) -> None:
        """All of it; what depends on nothing before goes on after a failure."""
        parts: list[tuple[str, Callable[[], Any], bool]] = [
            ("start", self.start_three, True), ("restart", self.restart_one, False), ("look round", self.look_round, False),
            ("stop", self.stop, True), ("foreign process", self.foreign, False), ("without speculation", self.without, False),
        ]  # fmt: skip
        for name, part, needed in parts:
            if self.only and name not in self.only:
                continue
            try:
                part()
            except Exception as error:
                traceback.print_exc()
                self.check(f"{name}: {str(error)[:2000]}", False)
                if needed:
                    break
            finally:
                self.keep()
        refusals = self.practice.workspace.refusals()
        self.check(f"nothing that Slack would refuse: {refusals}", not refusals)
        self.keep()


def catalog(machine: Machine) -> dict[str, Any]:
    """The catalog file: one host, a config with three steps and one without."""
    command = (
        f"{machine.python} -m sglang.launch_server --model-path {machine.model} --served-model-name mimo-3b "
        f"--host 127.0.0.1 --port {PORT} {'--enable-metrics' if machine.practice else COMMON}"
    )
    shared = {
        "model": "Qwen3.6-27B" if machine.practice else "MiMo-3B", "engine": "sglang", "host": NAME, "aliases": ["mimo"],
        "env": machine.env,
    }  # fmt: skip
    configs = [
        {"name": CONFIG, "tags": ["stock mtp"], "command": f"{command} {THREE}", **shared},
        {"name": PLAIN, "tags": ["no mtp"], "command": command, **shared},
    ]
    host = {
        "address": "127.0.0.1", "port": machine.port, "user": machine.user, "gpus": "1x NVIDIA H200 141GB",
        "tags": ["serving"], "identity_file": str(machine.identity),
    }  # fmt: skip
    return {"hosts": {NAME: host}, "configs": configs}


@contextlib.contextmanager
def workspace(data: Path, machine: Machine) -> Iterator[Practice]:
    """The practice workspace with this one host."""
    content = catalog(machine)
    paths = {name: data / name for name in ("catalog.yaml", "known_hosts", "ssh_config")}
    paths["catalog.yaml"].write_text(yaml.safe_dump(content, sort_keys=False, width=10_000))
    paths["known_hosts"].write_text(machine.known_hosts_line + "\n")
    paths["ssh_config"].write_text(f"Host 127.0.0.1\n  IdentityFile {machine.identity}\n  IdentitiesOnly yes\n")
    with PracticeWorkspace(ROOT / "manifest.yaml", rate_limits=True) as running:
        yield Practice(
            workspace=running, fleet=Fleet({}, content, []), data_dir=data, url=running.url, slack_api_url=running.api_url,
            bot_token=running.bot_token, app_token=running.app_token, team_id=TEAM_ID, catalog_file=paths["catalog.yaml"],
            known_hosts_file=paths["known_hosts"], identity_file=machine.identity, ssh_config_file=paths["ssh_config"],
            channels={"serving": SERVING},
        )  # fmt: skip


def main() -> int:
    """Run the story; 1 when an expectation failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--practice", action="store_true")
    parser.add_argument("--python")
    parser.add_argument("--model")
    parser.add_argument("--env", action="append", default=[], help="NAME=VALUE in the launches' environment")
    parser.add_argument("--only", action="append", default=[], help="a part of the story; may be repeated")
    parser.add_argument("--sshd", help="path of sshd; default: the installed one")
    parser.add_argument("--sshd-libraries", default="", help="folder with its shared libraries")
    given = parser.parse_args()
    out: Path = given.out.resolve()
    data = out / "data"
    data.mkdir(parents=True, exist_ok=True)
    log = (out / "bot.log").open("a", buffering=1)
    logging.basicConfig(stream=log, level=logging.WARNING)
    if given.practice:
        host = practice_machine(data)
    else:
        host = this_machine(
            data / "ssh", python=given.python, model=given.model, sshd=given.sshd, sshd_libraries=given.sshd_libraries
        )
    with contextlib.redirect_stderr(log), host as machine:
        machine.env = dict(one.split("=", 1) for one in given.env)
        seconds, tokens = (2.0, 32) if given.practice else (10.0, 512)
        with (
            workspace(data, machine) as practice,
            practice_bot(
                practice,
                measure_level_s=seconds,
                measure_output_tokens=tokens,
                measure_concurrency=(1, 8),
                log_level="INFO",
            ) as app,
        ):
            story = Story(practice, app, machine, out)
            story.only = given.only
            story.note(f"the host is {platform.platform()}, SSH by {machine.ssh}")
            story.run()
    print("DONE", "with failures:" if story.failed else "ok", *story.failed, sep="\n", flush=True)
    return 1 if story.failed else 0


if __name__ == "__main__":
    sys.exit(main())
