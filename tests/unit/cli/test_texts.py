"""`relaunch understand`, `diagnose`, `discover` and catalog files with input that nobody should give them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.main import app, main
from bot.errors import BadInputError

SECRET = "hf_" + "aB3x" * 9
LOG = f"""INFO HF_TOKEN={SECRET} --api-key sk-{"9f" * 20}
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. token {SECRET}
"""
CATALOG = """hosts: {lab1: {address: 10.0.0.1}}
configs: [{name: small, model: small, engine: vllm, command: vllm serve /models/small}]
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    file = tmp_path / "fleet.yaml"
    file.write_text(CATALOG)
    return file


def relaunch(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_odd_rows_are_understood_as_far_as_they_go(tmp_path: Path, catalog: Path) -> None:
    rows = [
        {"text": "status", "context": 7},
        {"text": None},
        {"text": "restart it", "context": {"launch": {"host": 1}}},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    answers = [json.loads(line) for line in relaunch("understand", "--jsonl", file, "--catalog", catalog).splitlines()]
    assert answers[0]["intent"] == "status"
    assert len(answers) == 3


@pytest.mark.parametrize("flag", ["", "--json"])
def test_a_diagnosis_holds_no_secret_of_the_log(tmp_path: Path, flag: str) -> None:
    log, row = tmp_path / "log", tmp_path / "row.jsonl"
    log.write_text(LOG)
    row.write_text(json.dumps({"log_excerpt": LOG, "launch_command": f"vllm serve m --api-key {SECRET}"}))
    said = relaunch("diagnose", log, *([flag] if flag else [])) + relaunch("diagnose", "--jsonl", row)
    assert "out of memory" in said.lower() or "oom" in said
    assert SECRET not in said
    assert "9f9f" not in said


@pytest.mark.parametrize(
    ("command", "text", "said"),
    [
        ("understand", "{", "line 1 is no JSON"),
        ("understand", "[1]", "no JSON object"),
        ("understand", "[" * 100_000, "line 1 is no JSON"),
        ("discover", '{"artefacts": 3}', "no list of objects"),
        ("discover", '{"artefacts": ["x"]}', "no list of objects"),
        ("discover", '{"artefacts": [], "now": "soon"}', "is no time"),
    ],
)
def test_rows_that_are_none_are_named(tmp_path: Path, catalog: Path, command: str, text: str, said: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(text)
    more = ("--catalog", catalog) if command == "understand" else ()
    with pytest.raises(BadInputError) as caught:
        relaunch(command, "--jsonl", file, *more)
    assert said in caught.value.message


def test_fields_of_a_wrong_type_are_no_launch(tmp_path: Path) -> None:
    artefact = {"path": 3, "kind": "proc", "pid": "x", "cmdline": "vllm", "environ": [1], "cwd": {}, "shell": 4}
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"id": 1, "artefacts": [artefact]}))
    assert json.loads(relaunch("discover", "--jsonl", file))["candidates"] == []


def test_text_that_is_none_comes_out_as_an_escape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id": "\\udc80", "artefacts": []}')
    monkeypatch.setattr("sys.argv", ["relaunch", "discover", "--jsonl", str(file)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert json.loads(capfdbinary.readouterr().out)["id"] == "\udc80"


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "gone", Path("/dev/null"), Path("/proc/self/mem")):
        with pytest.raises(BadInputError):
            relaunch("discover", path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("configs: small", "no list"),
        ("configs: {small: {}}", "no list"),
        ("hosts: [a]", "no mapping"),
        ("hosts: {a: {port: 0}}", "port"),
        ("hosts: {a: {port: 99999}}", "port"),
        ("hosts: {a: {protected: 'no'}}", "true or false"),
        ("hosts: {'a b': {}}", "host's name"),
        ('hosts: {"a\\n": {address: b}}', "host's name"),
        ("hosts: {a: {address: '-oProxyCommand=x'}}", "no DNS name"),
        ("hosts: {a: {address: 'b;reboot'}}", "no DNS name"),
        ("hosts: {a: {user: '$(id)'}}", "no login name"),
        ("hosts: {a: {tags: {b: c}}}", "list of texts"),
        ("configs: [{name: [a], model: m, engine: vllm, command: c}]", "`name` is no text"),
        ("configs: [{name: {a: b}, model: m, engine: vllm, command: c}]", "`name` is no text"),
        ("configs: [{name: a, model: m, engine: [vllm], command: c}]", "`engine` is no text"),
        ("configs: [{name: a, model: m, engine: vllm, command: c, env: [A]}]", "mapping"),
        ("configs: [{name: a, model: m, engine: vllm, command: c, env: x}]", "mapping"),
        ("configs: [{name: a, model: m, engine: vllm, command: c, env: {A: [1]}}]", "mapping"),
        ("configs: [{name: a, model: m, engine: vllm, command: c, measured: {decode_tok_s: fast}}]", "no number"),
        ("configs: [{name: a, model: m, engine: vllm, command: c, measured: {decode_tok_s: .nan}}]", "no number"),
        ('configs: [{name: "a\\nb", model: m, engine: vllm, command: c}]', "one line"),
        ("configs: [3]", "not a mapping"),
    ],
)
def test_a_catalog_file_with_faults_says_which(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(text)
    with pytest.raises(BadInputError) as caught:
        relaunch("understand", "status", "--catalog", file)
    assert said in caught.value.message
