"""Practice engines and models on a rig host: the same words and behaviour as real ones, under its real systemd."""

import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from bot.practice.engines.install import Engine, make_environment, write_llama_server
from bot.practice.hosts.models import Placeholder, write_gguf, write_model

#: cards that the engines see, and one file for each process that holds memory
GPU_FOLDER = "/var/lib/practice/gpu"
_MISSING = "/var/lib/practice/missing-library"
_NVIDIA_SMI = '''#!/usr/bin/env python3
"""The rig's nvidia-smi, which also shows what practice engines hold."""
import json, os, pathlib
state = json.load(open("/run/gpus.json"))
for path in pathlib.Path({folder!r}).glob("[0-9]*.json"):
    holding = json.loads(path.read_text())
    if os.path.exists("/proc/%d/cmdline" % holding["pid"]):
        for index, mib in holding["gpus"].items():
            card = next(c for c in state["gpus"] if str(c["index"]) == index)
            card["memory.used"] += mib
            state["processes"].append({{"pid": holding["pid"], "mib": mib, "name": holding["name"], "gpu": int(index)}})
source = open("/usr/bin/nvidia-smi").read().replace('json.load(open("/run/gpus.json"))', "STATE")
exec(compile(source, "nvidia-smi", "exec"), {{"STATE": state, "__name__": "__main__"}})
'''


class Furnished(Protocol):
    """What engines are put on: a systemd host, or the folder that a container gets its files from."""

    @property
    def root(self) -> Path: ...

    def change_gpus(self, **values: Any) -> list[dict[str, Any]]: ...


class PracticeEngines:
    """What is installed on one rig host. `start_s`: seconds from a server's start to ready."""

    def __init__(self, host: Furnished, *, start_s: float = 2.0) -> None:
        self.host = host
        self._variables = {"PRACTICE_GPU_DIR": GPU_FOLDER, "PRACTICE_START_S": str(start_s)}
        gpus = host.change_gpus(compute_cap="8.6")
        cards = [{**{n: g[n] for n in ("index", "name", "uuid")}, "memory_mib": g["memory.total"]} for g in gpus]
        folder = host.root / GPU_FOLDER[1:]
        folder.mkdir(parents=True)
        # engines run under several accounts
        folder.chmod(0o1777)
        (folder / "gpus.json").write_text(json.dumps({"gpus": cards}))
        shim = host.root / "usr/local/bin/nvidia-smi"
        shim.parent.mkdir(parents=True, exist_ok=True)
        shim.write_text(_NVIDIA_SMI.format(folder=GPU_FOLDER))
        shim.chmod(0o755)

    def install(self, path: str, engines: Iterable[Engine]) -> None:
        """A Python environment with these engines; its interpreter is the host's own."""
        with tempfile.TemporaryDirectory() as staging:
            made = Path(staging) / "env"
            (made / "bin").mkdir(parents=True)
            (made / "lib/python3.11/site-packages").mkdir(parents=True)
            (made / "bin/python3").symlink_to("/usr/bin/python3")
            (made / "bin/python").symlink_to("python3")
            (made / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
            make_environment(made, engines, self._variables)
            for library in made.rglob("*.so"):
                library.unlink()
            for script in (p for p in (made / "bin").iterdir() if not p.is_symlink()):
                script.write_text(script.read_text().replace(str(made), path))
            shutil.copytree(made, self.host.root / path.lstrip("/"), symlinks=True)

    def install_llama_server(self, path: str) -> None:
        """An executable llama-server."""
        target = self.host.root / path.lstrip("/")
        write_llama_server(target, self._variables)
        words = target.read_text().replace(str(self.host.root), "").splitlines()
        target.write_text("\n".join(["#!/usr/bin/python3 -I", *words[1:]]) + "\n")

    def takes(self, start_s: float) -> None:
        """From now on a start takes so long."""
        self._variables["PRACTICE_START_S"] = str(start_s)
        for file in self.host.root.glob("opt/**/practice_engine/variables.json"):
            file.write_text(json.dumps(self._variables))

    def upgrade(self, path: str, package: str, version: str) -> None:
        """Another version of a package is installed in an environment."""
        site = self.host.root / path.lstrip("/") / "lib/python3.11/site-packages"
        for old in site.glob(f"{package.replace('-', '_')}-*.dist-info"):
            shutil.rmtree(old)
        new = site / f"{package.replace('-', '_')}-{version}.dist-info"
        new.mkdir()
        (new / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")

    def model(self, folder: str, model: Placeholder) -> None:
        """A model folder with real headers and sparse weights."""
        write_model(self.host.root / folder.lstrip("/"), model)

    def gguf(self, path: str, *, gib: float, tok_s: float) -> None:
        """A GGUF file, sparse."""
        write_gguf(self.host.root / path.lstrip("/"), gib, tok_s)

    def miss_library(self, library: str | None) -> None:
        """From now on engines cannot load this shared library; None: they can."""
        path = self.host.root / _MISSING[1:]
        if library:
            path.write_text(library)
        else:
            path.unlink(missing_ok=True)
