"""Put the practice engines into a Python environment: packages, scripts and version metadata, as pip leaves them."""

import json
import shutil
import sys
import sysconfig
import venv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from bot.core.domain.engine import Flag
from bot.core.engines._flags_llama_cpp import FLAGS as LLAMA_CPP
from bot.core.engines._flags_sglang import FLAGS as SGLANG
from bot.core.engines._flags_sglang import VERSIONS as SGLANG_VERSIONS
from bot.core.engines._flags_vllm import FLAGS as VLLM
from bot.core.engines._flags_vllm import VERSIONS as VLLM_VERSIONS

Engine = Literal["sglang", "vllm"]

_PROGRAM = Path(__file__).parent / "program"
#: what else a look at the environment finds
_BESIDE = {
    "torch": "2.11.0",
    "transformers": "5.3.0",
    "flashinfer-python": "0.6.1",
    "sgl-kernel": "0.3.21",
    "nvidia-cuda-runtime": "13.0.96",
}
#: where each engine keeps its models, and some that it knows
_MODELS = {"sglang": "sglang/srt/models", "vllm": "vllm/model_executor/models"}
_KNOWN = {
    "qwen3_5": ["Qwen3_5ForConditionalGeneration", "Qwen3_5ForCausalLM"],
    "qwen3_next": ["Qwen3NextForCausalLM"],
    "llama": ["LlamaForCausalLM"],
}
_VERSION: dict[str, str] = {"sglang": "0.5.11", "vllm": "0.32.0"}
_START = "import os, sys\nfrom practice_engine import marks, {engine}\nmarks.restore()\n"
_MAIN = "sys.exit({engine}.main({arguments}, dict(os.environ)))\n"
#: a name that shows its own command line, not Python's, in ps and /proc
_LLAMA = """#!{python} -I
import sys
sys.path.insert(0, {program!r})
from practice_engine import llama_cpp, marks, own_name
import os
marks.restore()
own_name.take([sys.argv[0], *sys.argv[1:]])
sys.exit(llama_cpp.main(sys.argv[1:], dict(os.environ)))
"""


def make_environment(path: Path, engines: Iterable[Engine], variables: Mapping[str, str] | None = None) -> None:
    """Create a Python environment at `path` in which these engines are installed.

    `variables`: environment variables that the engines take back where a launcher has cleared them."""
    if not (path / "bin" / "python3").exists():
        venv.EnvBuilder(symlinks=True, with_pip=False).create(path)
    site = next((path / "lib").glob("python3*")) / "site-packages"
    write_program(site, variables)
    for engine in engines:
        _package(site, engine)
        _console_script(path, engine)


def write_program(folder: Path, variables: Mapping[str, str] | None = None) -> None:
    """Copy the program with its flag table into a folder that is on the module path."""
    target = folder / "practice_engine"
    shutil.copytree(_PROGRAM, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "flags.json").write_text(json.dumps(flag_tables(), separators=(",", ":")), encoding="utf-8")
    if variables:
        (target / "variables.json").write_text(json.dumps(dict(variables)), encoding="utf-8")


def write_llama_server(path: Path, variables: Mapping[str, str] | None = None) -> None:
    """Write an executable named as given that runs the practice llama-server."""
    program = path.parent.parent / "lib" / "practice-llama"
    program.mkdir(parents=True, exist_ok=True)
    write_program(program, variables)
    path.parent.mkdir(parents=True, exist_ok=True)
    python = Path(sys.executable).resolve()
    path.write_text(_LLAMA.format(python=python, program=str(program)), encoding="utf-8")
    path.chmod(0o755)


def flag_tables() -> dict[str, list[list[object]]]:
    """Engine -> [name, spellings, kind, type, choices] of each flag that the practised version has."""
    return {
        "sglang": _rows(SGLANG, SGLANG_VERSIONS, _VERSION["sglang"]),
        "vllm": _rows(VLLM, VLLM_VERSIONS, _VERSION["vllm"]),
        "llama.cpp": _rows(LLAMA_CPP, ("b11434",), "b11434"),
    }


def _rows(flags: Iterable[Flag], versions: tuple[str, ...], version: str) -> list[list[object]]:
    now = versions.index(version)
    rows: list[list[object]] = []
    for flag in flags:
        since = versions.index(flag.since) if flag.since in versions else 0
        until = versions.index(flag.until) if flag.until in versions else len(versions)
        gone = flag.until is not None and flag.until not in versions
        if since <= now <= until and not gone:
            rows.append([flag.name, _spellings(flag), flag.kind, flag.type, list(flag.choices)])
    return rows


def _spellings(flag: Flag) -> list[str]:
    spellings = [f"--{flag.name}", *flag.aliases]
    if flag.kind == "pair":
        spellings.append(f"--no-{flag.name}")
    return list(dict.fromkeys(spellings))


def _package(site: Path, engine: Engine) -> None:
    version = _VERSION[engine]
    for name, number in {engine: version, **_BESIDE}.items():
        info = site / f"{name.replace('-', '_')}-{number}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n", encoding="utf-8")
    folder = site / _MODELS[engine]
    folder.mkdir(parents=True, exist_ok=True)
    for name, classes in _KNOWN.items():
        (folder / f"{name}.py").write_text("".join(f"class {c}: ...\n" for c in classes), encoding="utf-8")
    modules = {"sglang": "sglang/launch_server.py", "vllm": "vllm/entrypoints/openai/api_server.py"}
    module = site / modules[engine]
    module.parent.mkdir(parents=True, exist_ok=True)
    for folder in [p for p in module.parents if site in p.parents]:
        (folder / "__init__.py").touch()
    (site / engine / "__init__.py").write_text(f'__version__ = "{version}"\n', encoding="utf-8")
    # a real shared object, so that a look at the environment's libraries has one to resolve
    library = next((Path(sysconfig.get_path("platstdlib")) / "lib-dynload").glob("*.so"), None)
    if library is not None:
        (site / engine / "_C.abi3.so").unlink(missing_ok=True)
        (site / engine / "_C.abi3.so").symlink_to(library)
    start = _START.format(engine=engine)
    module.write_text(start + _MAIN.format(engine=engine, arguments="sys.argv[1:]"), encoding="utf-8")


def _console_script(path: Path, engine: Engine) -> None:
    script = path / "bin" / engine
    arguments = 'sys.argv[2:] if sys.argv[1:2] == ["serve"] else sys.argv[1:]'
    body = _START.format(engine=engine) + _MAIN.format(engine=engine, arguments=arguments)
    script.write_text(f"#!{path}/bin/python3\n{body}", encoding="utf-8")
    script.chmod(0o755)
