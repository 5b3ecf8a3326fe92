"""Resolution, files, differences, proven-ness."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.core.catalog.atoms import atoms, number_keys, parameters_b
from bot.core.catalog.diff import diff
from bot.core.catalog.files import catalog_from_yaml_data, catalog_to_yaml_data
from bot.core.catalog.nearest import nearest_names, spellings
from bot.core.catalog.proven import best_revision, decode_tok_s, lineage
from bot.core.catalog.resolve import resolve
from bot.core.domain.catalog import Catalog, LaunchConfig, LaunchRecord, Revision, SecretRef
from bot.core.domain.command import Command, Intent
from bot.core.domain.resolution import Ambiguous, NotFound, Resolved
from bot.errors import BadInputError
from tests.unit.core.language.fleet import engines, fleet

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def _command(**slots: object) -> Command:
    return Command(intent=Intent.START, **slots)  # type: ignore[arg-type]  # slots by name


def _revision(*words: str, engine: str = "sglang", **fields: object) -> Revision:
    return Revision(engine=engine, model="M-7B", argv=words, **fields)  # type: ignore[arg-type]  # fields by name


def _launch(config: LaunchConfig, number: int, **fields: object) -> LaunchRecord:
    made = LaunchRecord(
        id=str(number),
        number=number,
        config=config.name,
        revision=config.revisions[-1].id,
        host="h",
        state="ready",
        started_at=NOW - timedelta(days=30 - number),
    )
    return replace(made, **fields)  # type: ignore[arg-type]  # fields by name


def test_names_are_split_alike_however_they_are_written() -> None:
    assert atoms("Qwen3.6-27B") == atoms("qwen 3.6 27b") == ("qwen", "3.6", "27b")
    assert number_keys("27b") == ("27",)
    assert number_keys("3.6") == ("3",)
    assert parameters_b("Qwen3-Next-80B-A3B-Instruct") == 80


def test_one_that_fits_is_resolved_with_its_host_and_reason() -> None:
    found = resolve(_command(names=(("gemma",),)), *fleet())
    assert isinstance(found, Resolved)
    assert (found.candidate.config, found.host) == ("gemma-3-27b", "node8")
    assert found.reasons


def test_a_host_that_was_said_wins_over_the_usual_one() -> None:
    found = resolve(_command(names=(("gemma",),), host="node7"), *fleet())
    assert isinstance(found, Resolved)
    assert found.host == "node7"


def test_several_that_fit_are_ambiguous_and_best_proven_first() -> None:
    catalog, inventory = fleet()
    base = catalog.configs["mistral-24b-base"]
    with_launch = replace(catalog, launches=(_launch(base, 1, ready_after_s=60.0),))
    found = resolve(_command(names=(("mistral", "24b"),)), with_launch, inventory)
    assert isinstance(found, Ambiguous)
    assert found.count == 3
    assert found.candidates[0].config == "mistral-24b-base"


def test_what_the_target_must_not_have_is_left_out() -> None:
    found = resolve(_command(names=(("deepseek",),), without=("mtp",)), *fleet())
    assert isinstance(found, Resolved)
    assert found.candidate.config == "deepseek-r1-plain"


def test_nothing_that_fits_comes_with_what_is_near() -> None:
    found = resolve(_command(names=(("gemma",), ("eagle",))), *fleet())
    assert isinstance(found, NotFound)
    assert "gemma-3-27b" in [c.config for c in found.nearest]


def test_a_whole_name_wins_over_names_that_hold_it() -> None:
    one = LaunchConfig(name="m-7b", revisions=(_revision("a"),))
    other = LaunchConfig(name="m-7b-tuned", revisions=(_revision("b"),))
    catalog = Catalog(configs={c.name: c for c in (one, other)})
    found = resolve(_command(names=(("m", "7b"),)), catalog, fleet()[1])
    assert isinstance(found, Resolved)
    assert found.candidate.config == "m-7b"


def test_the_catalog_file_goes_round_unchanged() -> None:
    catalog, inventory = fleet()
    assert catalog_from_yaml_data(catalog_to_yaml_data(catalog, inventory)) == (catalog, inventory)


def test_secrets_leave_as_the_place_where_they_live_and_come_back() -> None:
    places = SecretRef(source="env file /etc/llm/hf.env"), SecretRef(source="catalog file, config c")
    secret = _revision(
        "vllm", "serve", "m", "--api-key", places[0], engine="vllm", env=(("A", places[0]), ("HF_TOKEN", places[1]))
    )
    catalog = Catalog(configs={"c": LaunchConfig(name="c", revisions=(secret,))})
    data = catalog_to_yaml_data(catalog, fleet()[1])
    assert data["configs"][0]["env"] == {"A": "<secret: env file /etc/llm/hf.env>", "HF_TOKEN": "<secret>"}
    again = catalog_from_yaml_data(data)[0].configs["c"].latest
    assert (again.argv, again.env) == (secret.argv, secret.env)


def test_every_fault_of_a_catalog_file_is_named() -> None:
    data = {
        "hosts": {"a": {"port": "x", "colour": 1}},
        "configs": [{"name": "c"}, {"name": "d", "model": "m", "engine": "e", "command": "a 'b"}],
    }
    with pytest.raises(BadInputError) as caught:
        catalog_from_yaml_data(data)
    for part in ("port", "colour", "no model", "config d"):
        assert part in caught.value.message


def test_the_same_setting_under_another_spelling_is_no_difference() -> None:
    one = _revision(
        "python3", "-m", "sglang.launch_server", "--model-path", "/m", "--tp", "2", "--mem-fraction-static", "0.80"
    )
    two = _revision(
        "python3",
        "-m",
        "sglang.launch_server",
        "--model-path=/m",
        "--tensor-parallel-size=2",
        "--mem-fraction-static",
        "0.8",
    )
    assert diff(one, two, engines()) == ()


def test_differences_are_grouped_by_meaning() -> None:
    one = _revision("python3", "-m", "sglang.launch_server", "--model-path", "/m", "--speculative-num-steps", "3")
    two = replace(one, argv=(*one.argv[:-1], "5", "--tp", "4"), env=(("NCCL_DEBUG", "INFO"),))
    lines = [(line.group, line.name, line.old, line.new) for line in diff(one, two, engines())]
    assert lines == [
        ("speculative", "speculative-num-steps", "3", "5"),
        ("parallelism", "tp-size", "default (1)", "4"),
        ("environment", "NCCL_DEBUG", None, "INFO"),
    ]


def test_a_flag_that_is_not_set_has_the_engines_default() -> None:
    bare = _revision("python3", "-m", "sglang.launch_server", "--model-path", "/m")
    usual = replace(bare, argv=(*bare.argv, "--tp", "1", "--page-size", "16"))
    other = replace(bare, argv=(*bare.argv, "--tp", "2", "--base-gpu-id", "0"))
    # no default of the page size is known
    assert [(line.name, line.old, line.new) for line in diff(bare, usual, engines())] == [("page-size", None, "16")]
    assert [(line.name, line.old, line.new) for line in diff(bare, other, engines())] == [
        ("tp-size", "default (1)", "2")
    ]
    assert [(line.name, line.old, line.new) for line in diff(other, bare, engines())] == [
        ("tp-size", "2", "default (1)")
    ]


def test_two_engines_are_compared_by_neutral_settings() -> None:
    one = _revision(
        "python3", "-m", "sglang.launch_server", "--model-path", "/m", "--tp", "2", "--context-length", "8192"
    )
    two = _revision("vllm", "serve", "/m", "--tensor-parallel-size", "2", "--max-model-len", "16384", engine="vllm")
    names = {line.name: (line.old, line.new) for line in diff(one, two, engines())}
    assert names["context_length"] == ("8192", "16384")
    assert "tensor_parallel" not in names


def test_the_revision_that_was_ready_last_is_the_best() -> None:
    old, new = _revision("a"), _revision("b")
    config = LaunchConfig(name="c", revisions=(old, new))
    failed = _launch(config, 2, state="failed")
    ready = _launch(config, 1, revision=old.id, ready_after_s=10.0)
    assert best_revision(config, ()).id == new.id
    assert best_revision(config, (ready, failed)).id == old.id
    assert best_revision(replace(config, pinned=new.id), (ready,)).id == new.id


def test_a_variation_made_for_once_is_not_what_the_name_means() -> None:
    saved = _revision("a")
    once = replace(_revision("b"), parent=saved.id, source="request")
    config = LaunchConfig(name="c", revisions=(saved, once))
    ready = _launch(config, 1, revision=once.id, ready_after_s=10.0, decode_tok_s=70.0)
    assert config.latest.id == saved.id
    assert best_revision(config, (ready,)).id == saved.id
    assert decode_tok_s(config, (ready,)) is None
    pinned = replace(config, pinned=once.id)
    assert best_revision(pinned, (ready,)).id == once.id
    assert decode_tok_s(pinned, (ready,)) == 70.0
    # under another name it is that name's own
    assert LaunchConfig(name="d", revisions=(once,)).latest.id == once.id


def test_lineage_follows_parents_and_ends() -> None:
    first = _revision("a")
    second = replace(_revision("b"), parent=first.id)
    config = LaunchConfig(name="c", revisions=(first, second))
    assert [r.id for r in lineage(config, second.id)] == [second.id, first.id]


def test_nearest_names_are_offered_most_alike_first() -> None:
    known = spellings(("Gemma-3-27B", "node8", "kimi-k2"))
    assert nearest_names("gemini", known)[0] == "Gemma-3-27B"
