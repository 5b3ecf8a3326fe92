"""What a practice engine sees of its machine: GPUs and who holds them, the model folder, settings of the practice.

Environment, all optional:
  PRACTICE_GPU_DIR          folder with gpus.json, and one <pid>.json for each process that holds memory
  PRACTICE_START_S          seconds from exec to ready (10)
  PRACTICE_SPEED            factor on all speeds (1)
  PRACTICE_MISSING_LIBRARY  a shared library that cannot be loaded: every start fails on it. A file `missing-library`
                            beside PRACTICE_GPU_DIR does the same
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

_DEFAULT_GPU: dict[str, Any] = {"index": 0, "name": "NVIDIA H200", "memory_mib": 143771, "uuid": "GPU-practice-0"}


class Gpu(NamedTuple):
    """One card. Memory in MiB; `used` counts every living process."""

    number: int
    name: str
    total: int
    used: int

    @property
    def free(self) -> int:
        return self.total - self.used


class Settings(NamedTuple):
    """The practice's settings."""

    start_s: float
    speed: float
    missing_library: str
    gpu_dir: str


def settings(environ: dict[str, str]) -> Settings:
    """Read the settings of the practice."""
    gpu_dir = environ.get("PRACTICE_GPU_DIR", "")
    missing = environ.get("PRACTICE_MISSING_LIBRARY", "")
    switch = Path(gpu_dir).parent / "missing-library"
    if not missing and gpu_dir and switch.exists():
        missing = switch.read_text(encoding="utf-8").strip()
    return Settings(
        start_s=float(environ.get("PRACTICE_START_S", "10")),
        speed=float(environ.get("PRACTICE_SPEED", "1")),
        missing_library=missing,
        gpu_dir=gpu_dir,
    )


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return text.rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def gpus(gpu_dir: str) -> list[Gpu]:
    """The cards, with what is in use now."""
    cards = [_DEFAULT_GPU]
    if gpu_dir:
        cards = _json(Path(gpu_dir) / "gpus.json")["gpus"]
    used: dict[int, int] = {}
    for holding in holdings(gpu_dir):
        for index, mib in holding["gpus"].items():
            used[int(index)] = used.get(int(index), 0) + mib
    return [Gpu(c["index"], c["name"], c["memory_mib"], used.get(c["index"], 0)) for c in cards]


def holdings(gpu_dir: str) -> list[dict[str, Any]]:
    """Who holds memory: {"pid", "name", "gpus": {index: MiB}} for each living process."""
    found: list[dict[str, Any]] = []
    if not gpu_dir:
        return found
    for path in sorted(Path(gpu_dir).iterdir()):
        if re.match(r"^\d+\.json$", path.name):
            try:
                holding = _json(path)
            except (OSError, ValueError):
                continue
            if alive(holding["pid"]):
                found.append(holding)
    return found


def hold(gpu_dir: str, pid: int, name: str, memory: dict[int, int]) -> None:
    """Say that a process holds so many MiB of these cards."""
    if not gpu_dir:
        return
    new = Path(gpu_dir) / f"{pid}.new"
    new.write_text(json.dumps({"pid": pid, "name": name, "gpus": memory}), encoding="utf-8")
    new.replace(new.with_suffix(".json"))


def _json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def visible(cards: list[Gpu], environ: dict[str, str], wanted: int) -> list[Gpu]:
    """The first `wanted` cards that CUDA_VISIBLE_DEVICES allows."""
    listed = environ.get("CUDA_VISIBLE_DEVICES")
    if listed is not None:
        indices = [int(i) for i in listed.split(",") if i.strip().isdigit()]
        cards = [c for c in cards if c.number in indices]
    return cards[:wanted]


class Model(NamedTuple):
    """A model folder or file."""

    path: str
    architecture: str
    model_type: str
    #: BF16 weights in MiB
    weights_mib: int
    shards: int
    context: int
    #: layers that predict ahead
    mtp_layers: int
    #: single-stream tokens a second without speculation, on the cards that it usually has
    tok_s: float
    config: dict[str, Any]


def read_model(path: str) -> Model | None:
    """Read a model folder (config.json, index) or a GGUF file; None when it is not there."""
    folder = Path(path)
    if folder.is_file():
        size = max(1, folder.stat().st_size // (1024 * 1024))
        hints = _hints(folder.with_name(folder.name + ".practice.json"))
        return Model(path, "gguf", "gguf", size, 1, 32768, 0, float(hints.get("tok_s", 90.0)), {})
    if not (folder / "config.json").is_file():
        return None
    config = _json(folder / "config.json")
    text = config.get("text_config", config)
    index = _hints(folder / "model.safetensors.index.json")
    shards = set(index.get("weight_map", {}).values()) or {p.name for p in folder.glob("*.safetensors")}
    return Model(
        path=path,
        architecture=(config.get("architectures") or ["UnknownForCausalLM"])[0],
        model_type=str(config.get("model_type", "")),
        weights_mib=int(index.get("metadata", {}).get("total_size", 0)) // (1024 * 1024) or 4096,
        shards=max(1, len(shards)),
        context=int(text.get("max_position_embeddings", 32768)),
        mtp_layers=int(text.get("mtp_num_hidden_layers") or text.get("num_nextn_predict_layers") or 0),
        tok_s=float(_hints(folder / "practice.json").get("tok_s", 27.0)),
        config=config,
    )


def _hints(path: Path) -> dict[str, Any]:
    return _json(path) if path.is_file() else {}


def missing_shards(model: Model) -> list[str]:
    """Shards that the index names and that are not there."""
    folder = Path(model.path)
    names = set(_hints(folder / "model.safetensors.index.json").get("weight_map", {}).values())
    return sorted(n for n in names if not (folder / n).exists())
