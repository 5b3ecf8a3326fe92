"""How long one sentence takes to read with a large catalog: `python tests/benchmarks/bench_understand.py`.

10,000 revisions in 2,000 configs, 500 hosts, 2,000 aliases. Prints p50, p95, p99 and the worst in milliseconds, by wall
clock and by processor time, with the machine."""

import json
import platform
import random
import sys
import time
from pathlib import Path

from bot import plugins
from bot.core import engines as engine_modules
from bot.core.domain.catalog import Catalog, LaunchConfig, Measured, Revision
from bot.core.domain.engine import Engine
from bot.core.domain.host import Host, Inventory
from bot.core.language.understand import understand
from bot.core.language.vocabulary import Vocabulary

FAMILIES = (
    "Qwen3.6",
    "Llama-3.3",
    "Mistral-Small",
    "Gemma-3",
    "DeepSeek-V3",
    "GLM-4.5",
    "Kimi-K2",
    "Phi-4",
    "Granite-4",
    "Falcon-H1",
)
TAGS = ("stock mtp", "no mtp", "eagle", "awq", "fp8", "drafter", "prod", "canary", "long context", "batch")
ROUNDS = 5


def catalog_of(size: int = 2000, revisions: int = 5, hosts: int = 500) -> tuple[Catalog, Inventory]:
    """A catalog with names that look like a large team's."""
    rng = random.Random(7)
    inventory = Inventory(
        hosts={
            f"gpu{n:03d}": Host(
                name=f"gpu{n:03d}", address=f"10.0.0.{n}", gpus="8x NVIDIA H100 80GB", tags=("serving",)
            )
            for n in range(hosts)
        }
    )
    configs: dict[str, LaunchConfig] = {}
    for number in range(size):
        family = FAMILIES[number % len(FAMILIES)]
        billions = rng.choice((7, 8, 14, 27, 32, 70, 72, 120, 235))
        tag = rng.choice(TAGS)
        name = f"{family.lower()}-{billions}b-{tag.replace(' ', '-')}-{number}"
        argv = (
            "python3",
            "-m",
            "sglang.launch_server",
            "--model-path",
            f"/models/{family}-{billions}B",
            "--tp",
            "4",
            "--port",
        )
        made = tuple(
            Revision(engine="sglang", model=f"{family}-{billions}B", argv=(*argv, str(30000 + r)), source="benchmark")
            for r in range(revisions)
        )
        configs[name] = LaunchConfig(
            name=name,
            revisions=made,
            host=f"gpu{rng.randrange(hosts):03d}",
            aliases=(f"nick{number} {tag}",),
            tags=(tag,),
            measured=Measured(decode_tok_s=rng.uniform(20, 200)),
        )
    return Catalog(configs=configs), inventory


def sentences() -> list[str]:
    """The language cases, and some with names of this catalog."""
    folder = Path(__file__).parents[1] / "cases" / "language"
    rows = [
        json.loads(line)["text"]
        for file in sorted(folder.glob("*.jsonl"))
        for line in file.read_text().splitlines()
        if line.strip()
    ]
    own = [
        "start qwen 27b on gpu017 with stock mtp and 64k context",
        "restart nick42 awq with 3 steps",
        "stop lama 70b on gpu123",
        "logs gpu499",
    ]
    return rows + own * 20


def main() -> None:
    """Measure and print."""
    catalog, inventory = catalog_of()
    engines: dict[str, Engine] = {e.name: e for e in plugins.load(engine_modules, "ENGINE").values()}  # type: ignore[attr-defined]  # plug-ins
    started = time.perf_counter()
    vocabulary = Vocabulary.of(catalog, inventory, engines)
    built_s = time.perf_counter() - started
    wall: list[float] = []
    cpu: list[float] = []
    for _ in range(ROUNDS):
        for text in sentences():
            at, used = time.perf_counter(), time.process_time()
            understand(text, catalog, inventory, vocabulary=vocabulary)
            wall.append((time.perf_counter() - at) * 1000)
            cpu.append((time.process_time() - used) * 1000)
    revisions = sum(len(c.revisions) for c in catalog.configs.values())
    aliases = sum(len(c.aliases) for c in catalog.configs.values())
    print(
        f"{revisions} revisions, {len(inventory.hosts)} hosts, {aliases} aliases; vocabulary built in {built_s:.2f} s"
    )
    for label, times in (("wall", sorted(wall)), ("cpu", sorted(cpu))):
        p50, p95, p99 = (times[int(len(times) * q)] for q in (0.5, 0.95, 0.99))
        print(f"{label}: p50 {p50:.2f} ms, p95 {p95:.2f} ms, p99 {p99:.2f} ms, worst {times[-1]:.2f} ms")
    print(f"{len(wall)} sentences, {platform.machine()}, Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
