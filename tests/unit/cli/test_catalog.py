"""`relaunch catalog import`, `export` and `diff` on a database of their own."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from bot.cli.main import app
from bot.errors import BadInputError

SECRET = "hf_" + "Qx7b" * 9
FLEET = f"""
hosts:
  lab1: {{address: 10.0.0.1, user: serve}}
configs:
- {{name: small, model: small, engine: vllm, host: lab1, tags: [], env: {{HF_TOKEN: {SECRET}, A: "1"}},
   command: vllm serve /models/small --api-key {SECRET}}}
- {{name: wide, model: small, engine: vllm, host: elsewhere, tags: [],
   command: "vllm serve /models/small --max-model-len 65536 --api-key='<secret: env file /etc/llm/key.env>'"}}
"""


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET)
    return file


def relaunch(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_a_secret_in_a_catalog_file_is_not_stored(fleet: Path, tmp_path: Path) -> None:
    said = relaunch("catalog", "import", fleet, "--yes")
    assert "small holds a secret" in said.stderr
    assert "elsewhere, which is no known host" in said.stderr
    for file in (tmp_path / "relaunch-data").iterdir():
        assert SECRET.encode() not in file.read_bytes()
    exported = yaml.safe_load(relaunch("catalog", "export").stdout)
    small, wide = exported["configs"]
    assert small["env"] == {"HF_TOKEN": "<secret>", "A": "1"}
    assert "<secret>" in small["command"]
    assert "<secret: env file /etc/llm/key.env>" in wide["command"]


def test_what_was_exported_comes_back_as_nothing_to_change(fleet: Path, tmp_path: Path) -> None:
    relaunch("catalog", "import", fleet, "--yes")
    relaunch("catalog", "export", tmp_path / "out.yaml")
    assert "nothing to change" in relaunch("catalog", "import", tmp_path / "out.yaml").stdout


def test_a_difference_is_also_json(fleet: Path) -> None:
    relaunch("catalog", "import", fleet, "--yes")
    assert "max-model-len" in json.dumps(json.loads(relaunch("catalog", "diff", "small", "wide", "--json").stdout))


def test_an_engine_that_is_none_and_a_file_that_cannot_be_written_are_named(fleet: Path, tmp_path: Path) -> None:
    fleet.write_text(FLEET.replace("engine: vllm", "engine: vlm"))
    with pytest.raises(BadInputError, match="no such engine: small: vlm"):
        relaunch("catalog", "import", fleet, "--yes")
    with pytest.raises(BadInputError, match="cannot be written"):
        relaunch("catalog", "export", tmp_path)


def test_a_host_that_is_added_again_keeps_what_is_not_said(fleet: Path) -> None:
    relaunch("hosts", "add", "gpu1", "10.0.0.7", "--user", "root", "--gpus", "8x H100", "--tag", "lab", "--protected")
    assert "changed gpu1" in relaunch("hosts", "add", "gpu1", "10.0.0.8").stderr
    host = next(one for one in json.loads(relaunch("hosts", "list", "--json").stdout) if one["name"] == "gpu1")
    assert (host["address"], host["user"], host["gpus"], host["tags"]) == ("10.0.0.8", "root", "8x H100", ["lab"])
    assert host["protected"] is True
    relaunch("hosts", "add", "gpu1", "10.0.0.8", "--no-protected")
    assert json.loads(relaunch("hosts", "list", "--json").stdout)[0]["protected"] is False


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "../x", "$(id)"])
def test_a_host_with_a_name_that_is_none_is_not_added(fleet: Path, name: str) -> None:
    with pytest.raises(BadInputError, match="host's name"):
        relaunch("hosts", "add", "--", name, "10.0.0.7")
