"""Real engines as processes of this machine, for tests and benchmarks. tests/engines/install puts them there."""

import contextlib
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INSTALL = "run tests/engines/install"
MODELS = Path(__file__).with_name("models.py")
#: vLLM on a busy two-core machine
START_LIMIT_S = 240.0


@dataclass(frozen=True, slots=True)
class Engines:
    """Where the engines are."""

    folder: Path

    @property
    def llama_server(self) -> Path:
        return self.folder / "llama-server"

    @property
    def vllm(self) -> Path:
        return self.folder / "vllm/bin/vllm"

    @property
    def python(self) -> Path:
        """A Python with numpy, tokenizers, safetensors and gguf."""
        return self.folder / "vllm/bin/python"

    @property
    def guidellm(self) -> Path:
        return self.folder / "guidellm/bin/guidellm"

    def missing(self) -> list[str]:
        """What is not installed."""
        return [str(p) for p in (self.llama_server, self.vllm, self.guidellm) if not p.exists()]

    def models(self) -> Path:
        """Tiny models, made on the first call: qwen3/ (Hugging Face), llama.gguf, draft.gguf, mtp.gguf."""
        folder = self.folder / "models"
        if not (folder / "mtp.gguf").exists():
            subprocess.run([self.python, MODELS, "hf", folder / "qwen3"], check=True)
            subprocess.run([self.python, MODELS, "gguf", folder], check=True)
        return folder

    def vllm_argv(self, port: int) -> list[str]:
        """A small vLLM. It names the model "tiny"."""
        return [
            str(self.vllm),
            "serve",
            str(self.models() / "qwen3"),
            "--served-model-name",
            "tiny",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--enforce-eager",
            "--max-model-len",
            "1024",
        ]

    def llama_argv(self, port: int, *, draft: bool = False) -> list[str]:
        """A small llama-server with counters, with a draft model on request. It names the model "tiny"."""
        models = self.models()
        argv = [str(self.llama_server), "-m", str(models / "llama.gguf"), "--alias", "tiny", "--host", "127.0.0.1"]
        argv += ["--port", str(port), "--metrics"]
        return argv + (["-md", str(models / "draft.gguf"), "--spec-type", "draft-simple"] if draft else [])


#: environment that vLLM needs on small machines
VLLM_ENV = {"VLLM_CPU_KVCACHE_SPACE": "1"}


def engines() -> Engines:
    """From RELAUNCH_ENGINES, else build/engines of this checkout, else /opt/relaunch-engines."""
    given = os.environ.get("RELAUNCH_ENGINES")
    places = [Path(given)] if given else [ROOT / "build/engines", Path("/opt/relaunch-engines")]
    return Engines(next((p for p in places if not Engines(p).missing()), places[0]))


@contextlib.contextmanager
def running(argv: Sequence[str], port: int, log: Path, env: dict[str, str] | None = None) -> Iterator[str]:
    """Start a server, wait until /health is 200, give its base URL, end it. Raises RuntimeError with the log's tail."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(process, url, log)
        yield url
    finally:
        _end(process)


def _wait(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=5) as reply:
            if reply.status == 200:
                return
        time.sleep(0.2)
    raise RuntimeError(f"{url} did not become ready:\n{log.read_text(errors='replace')[-3000:]}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """SIGTERM twice (llama-server waits for streams at the first), then SIGKILL to the group."""
    for sign, patience_s in ((signal.SIGTERM, 2.0), (signal.SIGTERM, 20.0), (signal.SIGKILL, 10.0)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
            return
