"""Containers: hashes and fingerprints of what is not one stay, ports, GPUs and paths, and the words of `docker run`."""

import re
from dataclasses import replace

import pytest

from bot.core.catalog.files import catalog_from_yaml_data, catalog_to_yaml_data
from bot.core.domain.catalog import Catalog, LaunchConfig, Revision, SecretRef
from bot.core.domain.container import Container, run_words
from bot.core.domain.host import Inventory
from bot.core.domain.plan import Plan, Step, StepKind
from bot.core.domain.records import from_json, to_json
from bot.core.domain.startable import startable_faults
from bot.core.rendering.filters import shell_text

BOX = Container(
    image="vllm/vllm-openai:v0.10.2",
    image_id="sha256:" + "ab" * 32,
    tool="podman",
    options=("--gpus=all", "--ipc=host", "--volume=/srv/models:/models:ro", "--publish=127.0.0.1:8010:8000/tcp"),
    lead=("serve",),
)
PLAIN = Revision(
    engine="sglang",
    model="Qwen",
    argv=("/opt/env/bin/python3", "-m", "sglang.launch_server", "--api-key", SecretRef("file /k")),
    env=(("A", "1"), ("HF_TOKEN", SecretRef("env file /e"))),
    cwd="/opt",
    user="llm",
    wrappers=("numactl -N 0",),
)


def test_a_revision_without_a_container_keeps_its_id() -> None:
    # stored ids of before there were containers
    assert PLAIN.id == "8052e6cf8b09"
    assert Revision(engine="vllm", model="m", argv=("vllm", "serve", "m")).id == "1097668cf63a"
    stored = to_json(PLAIN)
    del stored["container"]
    assert from_json(Revision, stored) == PLAIN


def test_a_plan_without_a_container_keeps_its_fingerprint() -> None:
    plan = Plan(
        operation="restart",
        host="h",
        config="c",
        revision=PLAIN.id,
        argv=PLAIN.argv,
        env=PLAIN.env,
        steps=(Step(kind=StepKind.STOP, summary="stop x", unit="x"), Step(kind=StepKind.START, summary="go", unit="y")),
    )

    assert plan.fingerprint == "82bf6305b55b4e1c77c6f93a0d7ff3e596d8259d0f3cbcdeaa374fff5f2899cd"
    other = replace(plan, container=BOX)
    assert other.fingerprint != plan.fingerprint
    assert replace(plan, steps=(replace(plan.steps[0], runner="docker"), plan.steps[1])).fingerprint != plan.fingerprint


@pytest.mark.parametrize(
    "changed",
    [
        {"image": "vllm/vllm-openai:v0.11.0"},
        {"image_id": None},
        {"tool": "docker"},
        {"options": ()},
        {"lead": ()},
        {"image_entrypoint": False},
    ],
)
def test_each_part_of_a_container_counts(changed: dict[str, object]) -> None:
    one = replace(PLAIN, container=BOX)

    assert one.id != PLAIN.id
    assert replace(PLAIN, container=replace(BOX, **changed)).id != one.id  # type: ignore[arg-type]  # fields by name
    assert from_json(Revision, to_json(one)) == one


@pytest.mark.parametrize(
    "box", [BOX, Container(image="a"), replace(BOX, image_entrypoint=False, lead=("/entry.sh", "two words"))]
)
def test_a_catalog_file_keeps_a_container_exactly(box: Container) -> None:
    revision = replace(PLAIN, container=box, source="catalog file", user="1000:1000", wrappers=())
    catalog = Catalog(configs={"boxed": LaunchConfig(name="boxed", revisions=(revision,), host="h")})

    again, _ = catalog_from_yaml_data(catalog_to_yaml_data(catalog, Inventory()))

    assert again.configs["boxed"].latest == revision
    assert again.configs["boxed"].latest.id == revision.id


@pytest.mark.parametrize(
    ("options", "inside", "outside"),
    [
        ((), 8000, None),
        (("--network=host",), 8000, 8000),
        (("--publish=8010:8000",), 8000, 8010),
        (("--publish=127.0.0.1:8010:8000/tcp",), 8000, 8010),
        (("--publish=[::1]:8010:8000",), 8000, 8010),
        (("--publish=8010:8000",), 9000, None),
        (("--publish=8000",), 8000, None),
    ],
)
def test_the_port_on_the_host(options: tuple[str, ...], inside: int, outside: int | None) -> None:
    assert Container(image="a", options=options).host_port(inside) == outside


def test_another_port_is_published_and_the_inside_stays() -> None:
    moved = BOX.with_host_port(8000, 9000)

    assert moved.options[-1] == "--publish=127.0.0.1:9000:8000/tcp"
    assert moved.options[:-1] == BOX.options[:-1]
    assert replace(BOX, options=("--publish=8010:8000",)).with_host_port(8000, 1).options == ("--publish=1:8000",)


@pytest.mark.parametrize(
    ("options", "devices"),
    [
        ((), None),
        (("--gpus=all",), None),
        (("--gpus=2",), None),
        (('--gpus="device=0,2"',), "0,2"),
        (("--gpus=device=1",), "1"),
        (("--device=nvidia.com/gpu=0", "--device=nvidia.com/gpu=1"), "0,1"),
        (("--device=nvidia.com/gpu=all",), None),
    ],
)
def test_which_gpus_it_is_given(options: tuple[str, ...], devices: str | None) -> None:
    assert Container(image="a", options=options).gpu_devices == devices


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ("/models/qwen/", "/srv/models/qwen/"),
        ("/models", "/srv/models"),
        ("/modelsx", None),
        ("/data/a", "/mnt/a"),
        ("/data/deep/a", "/fast/a"),
        ("owner/name", None),
    ],
)
def test_where_a_path_inside_lies_on_the_host(inside: str, outside: str | None) -> None:
    box = Container(
        image="a",
        options=(
            "--volume=/srv/models:/models:ro",
            "--mount=type=bind,source=/mnt,target=/data",
            "--volume=/fast:/data/deep",
            "--volume=named:/owner",
        ),
    )

    assert box.on_host(inside) == outside


def test_the_words_of_a_run() -> None:
    words = run_words(
        BOX,
        ["--model", "/models/q", "--port", "8000"],
        name="relaunch-q-12",
        operation="12",
        config="q",
        env=[("A", "b c")],
        secrets=True,
        cwd="/w",
        user="0:0",
    )

    assert words == (
        "podman", "run", "--detach", "--pull=never", "--restart=no", "--name=relaunch-q-12",
        "--label=relaunch.operation=12", "--label=relaunch.config=q", *BOX.options, "--env=A=b c",
        "--env-file=~/.local/state/relaunch/relaunch-q-12/env", "--workdir=/w", "--user=0:0",
        "vllm/vllm-openai:v0.10.2", "serve", "--model", "/models/q", "--port", "8000",
    )  # fmt: skip
    own = replace(BOX, image_entrypoint=False, lead=("/entry.sh",))
    assert run_words(own, ["python3", "-m", "x"])[-5:] == ("--entrypoint=/entry.sh", BOX.image, "python3", "-m", "x")


def test_a_plan_shows_the_very_command_and_no_secret() -> None:
    plan = Plan(
        operation="start",
        host="h",
        config="q",
        revision="r",
        argv=("--model", "two words"),
        env=(("A", "b c"), ("HF_TOKEN", SecretRef("env file /etc/hf.env"))),
        container=replace(BOX, options=('--gpus="device=0,1"',)),
        runner="docker",
        steps=(Step(kind=StepKind.START, summary="start", unit="relaunch-q-12"),),
    )

    shown = shell_text(to_json(plan))

    joined = re.sub(r" \\\n +", " ", shown)
    assert joined.startswith("podman run --detach --pull=never --restart=no --name=relaunch-q-12")
    assert "'--env=A=b c' --env-file=~/.local/state/relaunch/relaunch-q-12/env vllm/vllm-openai:v0.10.2 serve" in joined
    assert joined.endswith("--model 'two words'")
    assert "hf.env" not in shown


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"tool": "rm"}, "runs no containers"),
        ({"image": "--privileged"}, "no image's name"),
        ({"image": ""}, "no image's name"),
        ({"options": ("-v", "/a:/b")}, "no option"),
        ({"options": ("--",)}, "no option"),
        ({"lead": ("a\0b",)}, "NUL"),
    ],
)
def test_what_no_container_can_be_given_is_named(changed: dict[str, object], words: str) -> None:
    box = replace(BOX, **changed)  # type: ignore[arg-type]  # fields by name

    faults = startable_faults(argv=("a",), env=(), cwd=None, user=None, wrappers=(), container=box)

    assert any(words in fault for fault in faults)
    assert not startable_faults(argv=("a",), env=(), cwd=None, user="1000:docker", wrappers=(), container=BOX)
