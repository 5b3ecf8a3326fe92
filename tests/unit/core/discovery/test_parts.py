"""Parts of discovery on their own: systemd syntax, container options, secrets, histories, merging, revisions, drift."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.core.discovery.artefact import Artefact, artefact_from_row, artefacts_from_paths, guess_kind
from bot.core.discovery.candidate import Candidate, candidate_to_revision
from bot.core.discovery.container_run import entrypoint_of, read_docker_run, read_gpus, read_port
from bot.core.discovery.discover import discover
from bot.core.discovery.drift import compare, drift
from bot.core.discovery.history_entries import entries
from bot.core.discovery.merge import same_value
from bot.core.discovery.process import container_of_cgroup, read_ps, unit_of_cgroup
from bot.core.discovery.secrets import Masker, is_secret_name
from bot.core.discovery.systemd_unit import expand_command, parse_environment_file, parse_unit, split_words
from bot.core.discovery.units import unit_name
from bot.core.domain.catalog import SecretRef
from bot.core.domain.engine import Engine
from bot.core.domain.finding import Judgement
from bot.core.domain.reading import Known, Unknown

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
UNIT = """[Service]
User=serve
WorkingDirectory=/srv/q
EnvironmentFile=/etc/q.env
ExecStart=/opt/sgl/bin/python -m sglang.launch_server --model-path /m/q --tp 2 --port 30000 --api-key ${API_KEY}
"""


def unit_artefacts(text: str = UNIT) -> list[Artefact]:
    return [
        Artefact(path="/etc/systemd/system/q.service", kind="unit", text=text),
        Artefact(path="/etc/q.env", kind="env_file", text="API_KEY=made-up-000001\nHF_HOME=/data\n"),
    ]


# systemd


def test_unit_lines_continue_over_comments() -> None:
    settings = parse_unit("[Service]\nExecStart=a \\\n# no\n  b\\\n; neither\n c\nUser = x\n")
    assert [(one.key, one.value.split()) for one in settings] == [("ExecStart", ["a", "b", "c"]), ("User", ["x"])]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('a \'b c\' "d\\"e"', ["a", "b c", 'd"e']),
        (r"a\x20b \s'\'' c\d", ["a b", " '", r"c\d"]),
        ("'' x", ["", "x"]),
    ],
)
def test_unit_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_unit_variables() -> None:
    table = {"A": "x 'y z'", "B": "b c"}
    command = ["$A", "$A", "${B}", "-p=${B}", "m$A", "$$A", "$NONE", "${NONE}"]
    assert expand_command(command, table.get) == ["$A", "x", "y z", "b c", "-p=b c", "m$A", "$A", ""]


def test_environment_file() -> None:
    text = '# c\n; d\nA=1 \nB=\'two  words\' \nC="q\\"\\$x\\n"\nexport D=4\nE=a\\\n b\n=x\nF\nG=x # y\n'
    assert parse_environment_file(text) == {"A": "1", "B": "two  words", "C": 'q"$x\\n', "E": "a b", "G": "x # y"}


def test_unit_names() -> None:
    assert unit_name("/etc/systemd/system/a@b.service").instance == "b"
    assert unit_name("/home/u/.config/systemd/user/x.service").user_home == "/home/u"
    assert unit_name("/etc/systemd/system/x.service.d/o.conf").name == "x.service"
    assert unit_name("systemctl cat x").name == "x.service"


@pytest.mark.parametrize(
    ("cgroup", "unit"),
    [
        ("0::/system.slice/a.service", "a.service"),
        ("0::/system.slice/system-sgl.slice/sgl@1.service", "sgl@1.service"),
        ("0::/user.slice/user-1.slice/session-3.scope", None),
        ("0::/user.slice/user-1.slice/user@1.service/app.slice/x.service", "x.service"),
        ("0::/user.slice/user-1.slice/user@1.service/tmux-spawn-1.scope", None),
        ("0::/system.slice/cron.service", None),
        (None, None),
    ],
)
def test_unit_of_a_process(cgroup: str | None, unit: str | None) -> None:
    assert unit_of_cgroup(cgroup) == unit


def test_container_of_a_process() -> None:
    digits = "0123456789ab" * 5 + "cdef"
    assert container_of_cgroup(f"0::/system.slice/docker-{digits}.scope") == digits
    assert container_of_cgroup(f"12:memory:/docker/{digits}") == digits
    assert container_of_cgroup("0::/system.slice/a.service") is None


# containers


def test_docker_options() -> None:
    command = read_docker_run(
        ["-itd", "-p8001:8000", "--rm", "--name=x", "-e", "A=1", "--gpus", "all", "-w/w", "img:1", "--rm", "-p", "2"],
        {},
        "here",
    )
    assert command is not None
    assert (command.container.name, command.container.image, command.cwd) == ("x", "img:1", "/w")
    assert command.argv == ("--rm", "-p", "2")
    assert command.env["A"].text == "1"
    assert command.container.ports[0].host == "8001"


@pytest.mark.parametrize(
    ("text", "host", "inside"),
    [
        ("1:2", "1", "2"),
        ("127.0.0.1:1:2/tcp", "1", "2"),
        ("2", None, "2"),
        ("[::1]:1:2", "1", "2"),
        ("127.0.0.1::2", None, "2"),
    ],
)
def test_ports(text: str, host: str | None, inside: str) -> None:
    mapping = read_port(text)
    assert mapping is not None
    assert (mapping.host, mapping.container) == (host, inside)


def test_gpu_requests() -> None:
    assert read_gpus('"device=0,1"') == ("0", "1")
    assert read_gpus("all") == ()
    assert read_gpus("nvidia.com/gpu=3") == ("3",)
    assert read_gpus("nvidia.com/gpu=all") == ()


def test_image_entrypoints() -> None:
    assert entrypoint_of("reg.example:5000/m/vllm-openai:v0.20.0") == ("vllm", "serve")
    assert entrypoint_of("ghcr.io/ggml-org/llama.cpp:server-cuda-b1") == ("llama-server",)
    assert entrypoint_of("lmsysorg/sglang:latest") is None
    assert entrypoint_of("open-webui:main") is None


# secrets


@pytest.mark.parametrize(
    "name",
    [
        "HF_TOKEN",
        "OPENAI_API_KEY",
        "--api-key",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "DB_PASSWORD",
        "admin-api-key",
        "HUGGING_FACE_HUB_TOKEN",
        "hf-token",
        "ssl-keyfile-password",
        "WANDB_API_KEY",
        "X_SECRET",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "MAX_TOKENS",
        "--max-total-tokens",
        "TOKENIZERS_PARALLELISM",
        "tokenizer-path",
        "--api-key-file",
        "ssl-keyfile",
        "KV_CACHE",
        "HF_TOKEN_PATH",
        "SSH_AUTH_SOCK",
        "eos-token",
        "speculative-token-map",
        "kv-cache-dtype",
        "NCCL_DEBUG",
        "PATH",
    ],
)
def test_names_that_are_none(name: str) -> None:
    assert not is_secret_name(name)


def test_masking() -> None:
    masker = Masker()
    masker.learn("made-up-secret")
    said = masker.text('a made-up-secret http://u:pw123@h/x?k=1 hf_abcdefghijkl Bearer abcdefgh {"api_key": "zzz"}')
    assert said == 'a <secret> http://u:<secret>@h/x?k=1 <secret> Bearer <secret> {"api_key": "<secret>"}'


def test_a_secret_is_kept_as_the_place_where_it_lives(engines: Mapping[str, Engine]) -> None:
    (found,) = discover(unit_artefacts(), engines=engines)
    assert dict(found.env)["API_KEY"] == SecretRef("env file /etc/q.env, API_KEY")
    assert found.argv[-1] == SecretRef("env file /etc/q.env, API_KEY")


# histories


def test_bash_entries_with_times_may_have_several_lines() -> None:
    artefact = Artefact(
        path="/h/.bash_history", kind="history", text="#1700000000\nfor i in 1\ndo x\ndone\n#1700000100\ny\n"
    )
    assert [one.text for one in entries(artefact)] == ["for i in 1\ndo x\ndone", "y\n"]


def test_zsh_and_fish_entries() -> None:
    zsh = Artefact(path="/h/.zsh_history", kind="history", text=": 1700000000:5;a \\\\\n  b\nplain\n")
    assert [one.text for one in entries(zsh)][:2] == ["a \\\n  b", "plain"]
    fish = Artefact(path="/h/fish_history", kind="history", text="- cmd: a \\\\\\n b\n  when: 1700000000\n- cmd: c\n")
    assert [(one.text, one.at is not None) for one in entries(fish)] == [("a \\\n b", True), ("c", False)]


def test_a_history_of_fifty_megabytes(engines: Mapping[str, Engine]) -> None:
    filler = ("git status && ls -la /some/quite/long/path/to/make/this/a/line\n" * 16 + "cd /tmp\n") * 50_000
    text = filler + "vllm serve Qwen/Qwen3-8B --port 8000\n" + filler[:1000]
    assert len(text) > 50_000_000
    (found,) = discover([Artefact(path="/home/u/.bash_history", kind="history", text=text)], engines=engines)
    assert (found.model, found.cwd) == ("Qwen/Qwen3-8B", "/tmp")


def test_the_latest_of_a_history_counts_and_says_when(engines: Mapping[str, Engine]) -> None:
    text = "#1763600100\nvllm serve m --port 1 --seed 1\n#1763610000\nvllm serve m --port 1 --seed 2\n"
    (found,) = discover([Artefact(path="/home/u/.bash_history", kind="history", text=text)], engines=engines)
    assert "2" in found.argv
    assert found.provenance["argv"].source == "history /home/u/.bash_history line 4"
    assert found.last_seen == datetime.fromtimestamp(1763610000, UTC)


# copied files


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("/etc/systemd/system/x.service", "", "unit"),
        ("x.service.d/o.conf", "", "dropin"),
        ("copy/.bash_history", "", "history"),
        ("notes", "#!/bin/sh\n", "script"),
        ("dump.json", '[{"Id": "1"}]', "inspect"),
        ("out.txt", "x server_args=ServerArgs(a=1)", "log"),
        ("stack.yaml", "services:\n  a:\n", "compose"),
        ("picture.png", "xyz", None),
    ],
)
def test_kinds_of_copied_files(path: str, text: str, kind: str | None) -> None:
    assert guess_kind(path, text) == kind


def test_copied_files_keep_their_place(engines: Mapping[str, Engine]) -> None:
    files = [
        ("gpu1/etc/systemd/system/q.service", UNIT.encode()),
        ("gpu1/etc/q.env", b"API_KEY=made-up-000001\n"),
        ("x", b"\x7fELF\0"),
    ]
    artefacts = artefacts_from_paths(files)
    assert [one.path for one in artefacts] == ["/etc/systemd/system/q.service", "/etc/q.env"]
    (found,) = discover(artefacts, engines=engines)
    assert {one.kind for one in found.evidence} == {"unit", "env_file"}


def test_rows_with_bytes_and_odd_values() -> None:
    assert artefact_from_row({"path": "p", "kind": "log", "b64": "AAH//mE="}).text.endswith("a")
    assert artefact_from_row({"kind": "log", "b64": "***"}).text == ""
    assert artefact_from_row({"kind": "proc", "pid": "7", "cmdline": None, "environ": 5}).pid == 7


# processes


def test_ps_words_of_json_are_joined_again() -> None:
    text = '  PID USER ARGS\n 5 u vllm serve m --x {"a": [1, 2], "b": 3} --port 1\n junk\n'
    (row,) = read_ps(Artefact(path="ps", kind="ps", text=text))
    assert row.cmdline[4:] == ('{"a": [1, 2], "b": 3}', "--port", "1")


# revisions and drift


def test_a_start_from_a_found_unit_repeats_its_words(engines: Mapping[str, Engine]) -> None:
    unit = UNIT.replace(" --api-key ${API_KEY}", " --served-model-name 'a b' --json-model-override-args '{\"x\": 1}'")
    (found,) = discover(unit_artefacts(unit), NOW, engines=engines)
    revision = candidate_to_revision(found, author="scan", created_at=NOW)
    assert revision.argv == (
        "/opt/sgl/bin/python", "-m", "sglang.launch_server", "--model-path", "/m/q", "--tp", "2", "--port", "30000",
        "--served-model-name", "a b", "--json-model-override-args", '{"x": 1}',
    )  # fmt: skip
    assert (revision.cwd, revision.user, revision.source) == (
        "/srv/q",
        "serve",
        "scan: unit /etc/systemd/system/q.service",
    )
    assert revision.provenance["env.HF_HOME"].startswith("env file /etc/q.env, HF_HOME")


def test_flags_compare_by_meaning() -> None:
    assert same_value("0.80", "0.8")
    assert same_value('{"a": 1}', '{"a":1}')
    assert same_value(["x"], "x")
    assert not same_value("1", None)
    assert not same_value(True, "1")


def found_in(unit: str, engines: Mapping[str, Engine]) -> Candidate:
    (found,) = discover(unit_artefacts(unit), NOW, engines=engines)
    return found


def test_drift_names_each_change_once(engines: Mapping[str, Engine]) -> None:
    engine = engines["sglang"]
    recorded = candidate_to_revision(found_in(UNIT, engines))
    changed = found_in(UNIT.replace("--tp 2", "--tensor-parallel-size 4").replace("/srv/q", "/srv/r"), engines)
    assert [(line.group, line.name, line.old, line.new) for line in compare(recorded, changed, engine)] == [
        ("parallelism", "tp-size", "2", "4"),
        ("environment", "cwd", "/srv/q", "/srv/r"),
    ]
    findings = drift(
        recorded,
        engine=engine,
        unit=changed,
        proven={"sglang": "0.5.9", "driver": "570.1", "torch": "2.9"},
        now={"sglang": Known("0.5.11"), "driver": Unknown("nvidia-smi: command not found"), "torch": Known("2.9")},
    )
    assert [(one.judgement, one.summary) for one in findings] == [
        (Judgement.WARN, "tp-size: recorded 2, the unit file says 4"),
        (Judgement.WARN, "cwd: recorded /srv/q, the unit file says /srv/r"),
        (Judgement.WARN, "sglang: proven with 0.5.9, now 0.5.11"),
        (Judgement.UNKNOWN, "driver: proven with 570.1, now unknown (nvidia-smi: command not found)"),
    ]


def test_no_drift_where_names_of_flags_differ_only(engines: Mapping[str, Engine]) -> None:
    recorded = candidate_to_revision(found_in(UNIT, engines))
    running = replace(found_in(UNIT.replace("--tp 2", "--tp-size=2"), engines), status="running")
    assert drift(recorded, engine=engines["sglang"], running=running) == ()
