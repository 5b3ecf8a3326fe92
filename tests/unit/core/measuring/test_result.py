"""Records of the script read into values."""

import json

import pytest

from bot.core.domain.measurement import Workload
from bot.core.measuring import script
from bot.core.measuring.encoding import measurement_from_json, measurement_to_json, verdict_to_json
from bot.core.measuring.result import measurement_from
from bot.core.measuring.verdict import compare_measurements
from bot.errors import BadInputError, TemporaryError
from tests.unit.core.measuring.records import CARD, NOON, counters, level_record, result_record


def test_a_result_becomes_a_measurement() -> None:
    gpu = {"samples": [{"at_s": 3.0, "phase": phase, "gpus": [CARD]} for phase in ("before", "during", "after")],
           "apps": [], "error": None}  # fmt: skip
    errors = [{"at_s": 1.0, "error": "HTTP 503: full"}]
    record = result_record(level_record(), level_record(concurrency=4, failed=1, errors=errors), gpu=gpu)
    measurement = measurement_from(
        record,
        workload=Workload(concurrency=(1, 4)),
        measured_at=NOON,
        read=counters,
        facts={"engine_version": "0.5.11"},
    )
    one, four = measurement.levels
    assert (one.decode_tok_s, one.aggregate_tok_s, one.ttft_ms_p95, one.itl_ms_p99) == (50.0, 49.0, 90.0, 22.0)
    assert (one.samples, one.stopped_because, one.tokens) == ((50.0,) * 8, "time up", 2048)
    assert four.errors == ("HTTP 503: full",)
    assert measurement.facts["gpu"] == "NVIDIA H200"
    assert measurement.facts["driver"] == "580.159.04"
    assert measurement.facts["sm_mhz"] == "1980"
    assert measurement.facts["engine_version"] == "0.5.11"
    assert measurement.accept_length is None


def test_the_servers_own_count_stands_beside_ours_or_is_unknown() -> None:
    told = level_record(metrics_before="generation_tokens=100", metrics_after="generation_tokens=2148")
    silent = level_record(metrics_before="drafts=1", metrics_after="drafts=2")
    record = result_record(told, silent, level_record())
    made = measurement_from(record, workload=Workload(), measured_at=NOON, read=counters)
    assert [level.counted_tokens for level in made.levels] == [2048, None, None]


def test_a_gpu_that_could_not_be_looked_at_is_said() -> None:
    record = result_record(gpu={"samples": [], "apps": [], "error": "nvidia-smi: not found"})
    assert measurement_from(record, workload=Workload(), measured_at=NOON).notes == (
        "the GPU could not be looked at: nvidia-smi: not found",
    )


def test_measurements_survive_json() -> None:
    made = measurement_from(result_record(level_record(client_busy=0.9)), workload=Workload(), measured_at=NOON)
    data = json.loads(json.dumps(measurement_to_json(made)))
    assert measurement_from_json(data) == made
    assert measurement_from_json({"measurement": {**data, "something_newer": 1}}) == made
    assert json.loads(json.dumps(verdict_to_json(compare_measurements(made, made))))["kind"] == "same within noise"


@pytest.mark.parametrize(
    "data", [{}, {"levels": []}, {"measurement": []}, {"workload": 3, "levels": [], "measured_at": ""}]
)
def test_other_json_is_refused_in_words(data: dict[str, object]) -> None:
    with pytest.raises(BadInputError, match="not a measurement"):
        measurement_from_json(data)


def test_lines_that_are_not_records_are_left_out() -> None:
    for line in ("", "Last login: Mon", "[1, 2]", "{broken", '{"no": "type"}'):
        assert script.parse_line(line) is None
    record = script.parse_line('{"type":"beat"}')
    assert record
    assert script.progress(record) is None
    assert script.final(record) is None


def test_a_failed_record_is_an_error_with_its_reason() -> None:
    with pytest.raises(TemporaryError, match="HTTP 401: Invalid API key"):
        script.final({"type": "failed", "error": "HTTP 401: Invalid API key"})


def test_progress_is_read() -> None:
    line = '{"type":"progress","concurrency":4,"level":2,"levels":3,"phase":"measure","requests":7,"failed":1,'
    line += '"elapsed_s":3.5,"limit_s":30,"decode_tok_s":48.2}'
    step = script.progress(script.parse_line(line) or {})
    assert step
    assert (step.concurrency, step.level, step.levels, step.phase, step.decode_tok_s) == (4, 2, 3, "measure", 48.2)


def test_the_key_goes_in_front_of_the_script_as_a_literal() -> None:
    text = script.with_key(b"print(1)\n", 'a"\n\\')
    space: dict[str, object] = {}
    exec(text.splitlines()[0], space)
    assert space["RELAUNCH_API_KEY"] == 'a"\n\\'
    assert script.with_key(b"x", None) == b"x"
