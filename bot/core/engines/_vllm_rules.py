"""vLLM's speculative options judged (config/speculative.py as read in 0.10 to 0.32).

`num_speculative_tokens` counts without the root token: 3 here is 3 steps and 4 draft tokens in SGLang. The methods mtp
and its model-specific names use the model's own layers; eagle, eagle3, medusa and draft_model need a model;
ngram needs none.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bot.core.domain.engine import CommandLine
from bot.core.domain.finding import Finding, Judgement
from bot.core.engines._rules import finding, mtp_findings, whole_number
from bot.core.engines._vllm_speculation import OPTION, STEPS, speculation_of

_WITH_MODEL = ("eagle", "eagle3", "medusa", "draft_model", "mlp_speculator")
_ALONE = ("ngram", "ngram_gpu", "suffix")


def check_speculation(line: CommandLine, config_json: Mapping[str, Any] | None) -> tuple[Finding, ...]:
    """Findings about the speculative options; nothing for a launch without any, one ok finding when all is well."""
    text = line.flags.get(OPTION)
    if isinstance(text, str):
        fault = _json_fault(text)
        if fault:
            return (finding(Judgement.REFUSE, f"--{OPTION} is no JSON object: {fault}", text, remedy=_EXAMPLE),)
    options = speculation_of(line.flags)
    if options is None:
        return ()
    return tuple(_faults(options, config_json)) or (finding(Judgement.OK, _summary(options)),)


_EXAMPLE = f'write it like --{OPTION} \'{{"method": "mtp", "{STEPS}": 3}}\''


def _json_fault(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError as error:
        return str(error)
    return "" if isinstance(value, dict) else "it is a " + type(value).__name__


def _faults(options: Mapping[str, Any], config_json: Mapping[str, Any] | None) -> Iterator[Finding]:
    method, model = str(options.get("method") or ""), options.get("model")
    tokens = options.get(STEPS)
    if tokens is not None and (whole_number(tokens) or 0) < 1:
        yield finding(Judgement.REFUSE, f"{STEPS} must be a whole number from 1, not {tokens}", remedy=_EXAMPLE)
    if not method and not model:
        yield finding(Judgement.REFUSE, "speculation has neither a method nor a model", remedy=_EXAMPLE)
    elif method in _WITH_MODEL and not model:
        yield finding(
            Judgement.REFUSE, f"method {method} needs a draft model", remedy='add "model" to the speculative options'
        )
    elif tokens is None and not _is_mtp(method) and method != "suffix":
        yield finding(
            Judgement.WARN,
            f"no {STEPS}: vLLM refuses to start unless the draft model itself says how many tokens it predicts",
            remedy=f'add "{STEPS}" to the speculative options',
        )
    if _is_mtp(method) and not model:
        yield from mtp_findings(config_json, f"method {method}")


def _is_mtp(method: str) -> bool:
    return method == "mtp" or method.endswith("_mtp")


def _summary(options: Mapping[str, Any]) -> str:
    method = options.get("method") or "the draft model's own method"
    count = options.get(STEPS, "the model's own number of")
    return f"{method}, {count} speculative tokens a step"
