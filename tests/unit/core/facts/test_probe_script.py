"""The probe script, really run under sh: fakes on PATH stand for what this machine lacks."""

import hashlib
import json
import os
import shutil
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bot.core.domain.reading import Known, Unknown
from bot.core.facts import HostFacts, ProbeTarget, parse_probe, probe_context
from tests.unit.core.facts.test_facts import FACTS

TEMPLATES = Path(__file__).parents[4] / "templates"
SHELLS = [name for name in ("sh", "dash", "bash") if shutil.which(name)]
Probe = Callable[..., HostFacts]

NVIDIA_SMI = """#!/bin/sh
case $1 in
--query-gpu=index,uuid*)
  echo "0, GPU-a, 49140, 20000, 29000, 5, 40, 20.1, 300, 210, 2100, P8, 580.1, NVIDIA RTX A6000" ;;
--query-gpu=index,compute_cap) echo "0, 8.6" ;;
--query-gpu=*) echo 'Field "x" is not a valid field to query.'; exit 2 ;;
--query-compute-apps=*) echo "GPU-a, $PPID, 19990, python3" ;;
*) echo "| NVIDIA-SMI 580.1    Driver Version: 580.1    CUDA Version: 13.0 |" ;;
esac
"""


def rendered(target: ProbeTarget, names: tuple[str, ...] = ()) -> str:
    environment = Environment(loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, autoescape=False)
    facts = [fact for name, fact in FACTS.items() if not names or name in names]
    return environment.get_template("scripts/probe.sh.j2").render(probe_context(facts, target, "nonce"))


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


@pytest.fixture
def probe(tools: Path, tmp_path: Path) -> Probe:
    def run(target: ProbeTarget, *names: str, shell: str = "sh", seconds: float = 60) -> HostFacts:
        done = subprocess.run(
            [shell, "-s"],
            input=rendered(target, names),
            capture_output=True,
            text=True,
            timeout=seconds,
            env={"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)},
        )
        facts = [fact for name, fact in FACTS.items() if not names or name in names]
        return parse_probe(done.stdout, facts, target, "nonce")

    return run


def tool(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)


@pytest.mark.parametrize("shell", SHELLS)
def test_one_round_trip_answers_everything(probe: Probe, tools: Path, tmp_path: Path, shell: str) -> None:
    tool(tools, "nvidia-smi", NVIDIA_SMI)
    names = (
        "gpus",
        "gpu_processes",
        "driver",
        "memory",
        "shm",
        "disk",
        "system",
        "ulimits",
        "uptime",
        "ports",
        "compilers",
    )
    found = probe(ProbeTarget(folders=("/no/such folder", str(tmp_path))), *names, shell=shell)
    unknown = {name: one.reason for name, one in found.readings.items() if isinstance(one, Unknown)}
    assert unknown == {}
    gpus, processes = found.reading(FACTS["gpus"]), found.reading(FACTS["gpu_processes"])
    assert isinstance(gpus, Known)
    assert isinstance(processes, Known)
    assert (gpus.value[0].name, gpus.value[0].compute_capability, gpus.value[0].throttle_mask) == (
        "NVIDIA RTX A6000",
        "8.6",
        None,
    )
    assert processes.value[0].process.command.startswith("sh ")
    assert processes.value[0].process.owner
    assert processes.value[0].process.age_s >= 0


def test_a_hanging_tool_takes_nobody_down(probe: Probe, tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(tools, "nvidia-smi", "#!/bin/sh\ntrap '' TERM\nsleep 600\n")
    for name in ("gpus", "gpu_processes", "driver"):
        monkeypatch.setitem(FACTS, name, type(FACTS[name])(**{**_fields(FACTS[name]), "timeout_s": 1}))
    found = probe(ProbeTarget(), "gpus", "driver", "memory", seconds=30)
    assert isinstance(found.readings["memory"], Known)
    assert found.readings["gpus"] == Unknown("no answer within 1 s")
    assert found.readings["driver"] == Unknown("no answer within 1 s")


def test_a_missing_tool_is_unknown(probe: Probe, tools: Path) -> None:
    tool(tools, "nvidia-smi", "#!/bin/sh\necho 'sh: 1: nvidia-smi: not found' >&2\nexit 127\n")
    found = probe(ProbeTarget(), "gpus", "gpu_processes")
    assert all(isinstance(one, Unknown) and "not found" in one.reason for one in found.readings.values())


def test_looking_leaves_nothing_behind(probe: Probe, tmp_path: Path) -> None:
    folder = Path("/dev/shm")
    before = set(folder.glob("relaunch-probe*")) if folder.is_dir() else set()
    probe(ProbeTarget(), "memory", "uptime")
    assert not list(tmp_path.glob("relaunch-probe*"))
    # probes of tests beside this one come and go there; what ours left would stay
    left = set(folder.glob("relaunch-probe*")) - before if folder.is_dir() else set()
    until = time.monotonic() + 30
    while left and time.monotonic() < until:
        left = {one for one in left if one.exists()}
    assert not left


@pytest.mark.parametrize("word", ["a'b", 'a"b', "$(touch pwned)", "a;b", "a\nb", "-n", "`id`", "a b"])
def test_names_of_people_and_paths_never_become_commands(probe: Probe, tmp_path: Path, word: str) -> None:
    target = ProbeTarget(program=(word,), distribution=word, model=word, cwd=str(tmp_path), path=word, folders=(word,),
                         packages=(word,), help_words=((word,),), unit_words=(word,))  # fmt: skip
    found = probe(target)
    assert not list(tmp_path.glob("pwned"))
    assert isinstance(found.readings["memory"], Known)
    model = found.reading(FACTS["model_files"])
    assert isinstance(model, Known)
    assert (model.value.asked, model.value.exists) == (word, False)


def test_a_version_is_read_without_importing_the_engine(probe: Probe, tools: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "fake_engine-1.2.3.dist-info").mkdir(parents=True)
    (site / "fake_engine-1.2.3.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: fake-engine\nVersion: 1.2.3\n"
    )
    (site / "fake_engine.py").write_text("raise SystemExit('imported')\n")
    python = shutil.which("python3") or "python3"
    tool(tools, "python-of-env", f'#!/bin/sh\nPYTHONPATH={site} exec {python} "$@"\n')
    console = tmp_path / "fake-engine"
    console.write_text(f"#!{tools}/python-of-env\nimport fake_engine\n")
    console.chmod(0o755)
    for program in ((f"{tools}/python-of-env", "-m", "fake_engine"), (str(console), "serve")):
        found = probe(ProbeTarget(program=program, distribution="fake-engine"), "engine_version")
        reading = found.reading(FACTS["engine_version"])
        assert isinstance(reading, Known)
        assert reading.value.version == "1.2.3"


def test_a_program_that_is_not_there(probe: Probe) -> None:
    found = probe(ProbeTarget(program=("/no/such/python", "-m", "x"), distribution="x"), "engine_version")
    reading = found.reading(FACTS["engine_version"])
    assert isinstance(reading, Known)
    assert (reading.value.program, reading.value.version) == ("", None)


def test_the_installed_flags_are_asked(probe: Probe, tools: Path) -> None:
    lines = "".join(f"  --flag-{i} N   does it\n" for i in range(30))
    tool(tools, "my-engine", f"#!/bin/sh\n[ \"$1 $2\" = 'serve --help=all' ] || exit 2\ncat <<'X'\n{lines}X\n")
    target = ProbeTarget(program=("my-engine", "serve"), help_words=(("--help=everything",), ("--help=all",)))
    reading = probe(target, "engine_help").reading(FACTS["engine_help"])
    assert isinstance(reading, Known)
    assert "--flag-7" in reading.value.flags


def shard(path: Path, data: int, missing: int = 0) -> None:
    header = json.dumps({"w": {"dtype": "BF16", "shape": [data // 2], "data_offsets": [0, data]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * (data - missing))


def test_a_models_files_are_looked_through(probe: Probe, tmp_path: Path) -> None:
    model = tmp_path / "model dir"
    model.mkdir()
    shard(model / "model-00001-of-00004.safetensors", 100)
    shard(model / "model-00002-of-00004.safetensors", 100, missing=40)
    (model / "model-00003-of-00004.safetensors").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    )
    names = {f"w{i}": f"model-0000{i}-of-00004.safetensors" for i in range(1, 5)}
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    (model / "config.json").write_text(json.dumps({"text_config": {"num_hidden_layers": 2}, "architectures": ["A"]}))
    (model / "tokenizer.json").write_text("{}")
    value = _model(probe(ProbeTarget(model=str(model)), "model_files"))
    assert value.missing == ("model-00004-of-00004.safetensors",)
    assert {name: kind for name, (kind, _) in value.faults.items()} == {
        "model-00002-of-00004.safetensors": "truncated",
        "model-00003-of-00004.safetensors": "lfs",
    }
    assert value.config["text_config"]["num_hidden_layers"] == 2
    assert (value.tokenizer, value.chat_template) == (("tokenizer.json",), False)


def test_a_model_in_the_hub_cache(probe: Probe, tmp_path: Path) -> None:
    base = tmp_path / "hf" / "hub" / "models--org--name"
    (base / "refs").mkdir(parents=True)
    (base / "refs" / "main").write_text("abc")
    (base / "snapshots" / "abc").mkdir(parents=True)
    shard(base / "snapshots" / "abc" / "model.safetensors", 64)
    value = _model(probe(ProbeTarget(model="org/name", model_cache=str(tmp_path / "hf")), "model_files"))
    assert (value.exists, value.source, value.weight_files, value.faults) == (True, "hub", 1, {})


def test_a_single_gguf_file(probe: Probe, tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF" + b"\0" * 60)
    (tmp_path / "b.gguf").write_bytes(b"<html>")
    good, bad = (_model(probe(ProbeTarget(model=str(tmp_path / name)), "model_files")) for name in ("a.gguf", "b.gguf"))
    assert (good.faults, good.bytes) == ({}, 64)
    assert bad.faults == {"b.gguf": ("truncated", "no GGUF header")}


def test_the_engines_source_is_searched_for_the_architecture(probe: Probe, tools: Path, tmp_path: Path) -> None:
    models = tmp_path / "site" / "fake_engine" / "models"
    models.mkdir(parents=True)
    (models.parent / "__init__.py").write_text("raise SystemExit('imported')\n")
    (models / "good.py").write_text("class GoodForCausalLM: ...\n")
    python = shutil.which("python3") or "python3"
    tool(tools, "python-of-env", f'#!/bin/sh\nPYTHONPATH={tmp_path}/site exec {python} "$@"\n')
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["GoodForCausalLM", "OtherForCausalLM"]}))
    target = ProbeTarget(program=("python-of-env", "-m", "fake_engine"), packages=("fake_engine",), model=str(tmp_path))
    reading = probe(target, "architecture").reading(FACTS["architecture"])
    assert isinstance(reading, Known)
    assert reading.value.found == {"GoodForCausalLM": "good.py"}


def test_ports_without_ss(probe: Probe, tools: Path) -> None:
    tool(tools, "ss", "#!/bin/sh\nexit 1\n")
    reading = probe(ProbeTarget(), "ports").reading(FACTS["ports"])
    assert isinstance(reading, Known)


def _model(found: HostFacts) -> Any:
    reading = found.reading(FACTS["model_files"])
    assert isinstance(reading, Known), reading
    return reading.value


def _fields(fact: Any) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in ("name", "snippet", "parse", "timeout_s")}


SYSTEMCTL = """#!/bin/sh
[ "$1" = --system ] || {{ echo 'Failed to connect to bus' >&2; exit 1; }}
[ "$2" = show ] || exit 9
case $3 in
q.service) printf 'FragmentPath=%s\\nSourcePath=\\nDropInPaths=%s\\n' '{0}/q.service' '{0}/q.service.d/b.conf' ;;
*) printf 'FragmentPath=\\nSourcePath=\\nDropInPaths=\\n' ;;
esac
"""


@pytest.mark.parametrize("shell", SHELLS)
def test_a_unit_comes_with_what_it_names_and_without_secrets(
    probe: Probe, tools: Path, tmp_path: Path, shell: str
) -> None:
    tool(tools, "systemctl", SYSTEMCTL.format(tmp_path))
    run = tmp_path / "run.sh"
    run.write_text("#!/bin/bash\nexec vllm serve m\n")
    (tmp_path / "console").write_text("#!/usr/bin/python3\nimport engine\n")
    (tmp_path / "q.service").write_text(
        f"[Service]\nEnvironmentFile={tmp_path}/*.env\nEnvironmentFile=-{tmp_path}/no.env2\n"
        f'ExecStart=-"{run}" {tmp_path}/console'
    )
    (tmp_path / "q.service.d").mkdir()
    (tmp_path / "q.service.d" / "b.conf").write_text(f"[Service]\nEnvironmentFile={tmp_path}/%p.conf\n")
    (tmp_path / "a.env").write_text("HF_TOKEN=made-up-1\nA=http://u:made-up-1@h\n")
    (tmp_path / "q.conf").write_text("B=|x\\\n  y")
    found = probe(ProbeTarget(unit="q.service"), "unit_file", shell=shell).reading(FACTS["unit_file"])
    assert isinstance(found, Known)
    assert [(part.kind, Path(part.path).name, part.text) for part in found.value.parts[2:]] == [
        ("env_file", "a.env", "HF_TOKEN=<secret>\nA=http://u:<secret>@h\n"),
        ("env_file", "q.conf", "B=|x\\\n  y\n"),
        ("script", "run.sh", "#!/bin/bash\nexec vllm serve m\n"),
    ]
    assert [part.kind for part in found.value.parts[:2]] == ["unit", "dropin"]
    assert found.value.parts[0].text.rstrip("\n") == (tmp_path / "q.service").read_text()
    assert (found.value.unread, found.value.absent) == ((), (f"{tmp_path}/no.env2",))
    assert "made-up" not in repr(found)


def test_what_a_unit_of_ours_keeps_secrets_in_gives_names_only(probe: Probe, tools: Path, tmp_path: Path) -> None:
    tool(tools, "systemctl", SYSTEMCTL.format(tmp_path).replace("q.service", "relaunch-q.service"))
    (tmp_path / "secrets").write_text("PLAIN='made-up-1'\nRELAUNCH_ARGUMENT_3='made-up-2'\n")
    (tmp_path / "relaunch-q.service").write_text(f"[Service]\nEnvironmentFile={tmp_path}/secrets\n")
    found = probe(ProbeTarget(unit="relaunch-q.service"), "unit_file").reading(FACTS["unit_file"])
    assert isinstance(found, Known)
    assert "PLAIN=<secret>\nRELAUNCH_ARGUMENT_3=<secret>\n" in [part.text for part in found.value.parts]
    assert not any("made-up" in part.text for part in found.value.parts)


def test_a_unit_that_is_gone_and_one_that_no_manager_answers_for(probe: Probe, tools: Path, tmp_path: Path) -> None:
    tool(tools, "systemctl", SYSTEMCTL.format(tmp_path))
    gone = probe(ProbeTarget(unit="x.service", unit_path=f"{tmp_path}/x.service"), "unit_file")
    tool(tools, "systemctl", "#!/bin/sh\necho 'System has not been booted' >&2\nexit 1\n")
    silent = probe(ProbeTarget(unit="x.service"), "unit_file")
    (tmp_path / "x.service").write_text("[Service]\nExecStart=/bin/x\n")
    copied = probe(ProbeTarget(unit="x.service", unit_path=f"{tmp_path}/x.service"), "unit_file")
    reading = gone.reading(FACTS["unit_file"])
    assert isinstance(reading, Known)
    assert not reading.value.there
    assert silent.reading(FACTS["unit_file"]) == Unknown("System has not been booted")
    reading = copied.reading(FACTS["unit_file"])
    assert isinstance(reading, Known)
    assert [part.path for part in reading.value.parts] == [f"{tmp_path}/x.service"]


def test_the_chat_template_in_use(probe: Probe, tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "tokenizer_config.json").write_text(json.dumps({"chat_template": "from config"}))

    def digest(**named: str) -> str:
        found = probe(ProbeTarget(model=str(model), **named), "model_files").reading(FACTS["model_files"])
        assert isinstance(found, Known)
        assert found.value.chat_template_unread == ""
        return str(found.value.chat_template_hash)

    of_config = digest()
    (model / "chat_template.jinja").write_text("from jinja")
    of_jinja = digest()
    given = tmp_path / "mine.jinja"
    given.write_text("mine")
    of_file = digest(chat_template=str(given))
    given.write_text("mine, edited")
    assert len({of_config, of_jinja, of_file, digest(chat_template=str(given)), digest(chat_template="chatml")}) == 5
    assert digest(tokenizer=str(model)) == of_jinja == hashlib.sha256(b"from jinja").hexdigest()[:12]
    for name in ("chat_template.jinja", "tokenizer_config.json"):
        (model / name).unlink()
    assert digest() == ""
