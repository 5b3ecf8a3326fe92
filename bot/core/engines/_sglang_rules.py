"""SGLang's speculative flags judged against each other (server_args.py of 0.5.11, and starts on an H200).

- EAGLE family (EAGLE, EAGLE3, NEXTN, STANDALONE; NEXTN is the model's own MTP head and handled as EAGLE): without steps
  neither topk nor draft tokens may be given (a bare AssertionError after about 26 s); steps without topk end in
  "'>' not supported between instances of 'NoneType' and 'int'" after about 21 s.
- topk 1 forces draft tokens to steps + 1. topk above 1 with pages above 1 needs flashinfer or fa3;
  trtllm_mha needs topk 1.
- DFLASH needs a draft model, pipeline size 1 and no DP attention; it forces steps and topk to 1.
- Without --max-running-requests speculation sets it to 48.
- Measured: 3 steps 1.5 times as fast as none, 1 step 0.97 times.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from bot.core.domain.engine import CommandLine
from bot.core.domain.finding import Finding, Judgement
from bot.core.engines._rules import finding, mtp_findings, mtp_layers, whole_number

_STEPS, _TOPK, _DRAFTS = "speculative-num-steps", "speculative-eagle-topk", "speculative-num-draft-tokens"
_DRAFT_MODEL = "speculative-draft-model-path"
_EAGLE_FAMILY = ("EAGLE", "EAGLE3", "NEXTN", "STANDALONE")
_PAGED_TREE_BACKENDS = ("flashinfer", "fa3")
_ALL_THREE = (
    "give --speculative-num-steps, --speculative-eagle-topk and --speculative-num-draft-tokens, or none of them"
)


def check_speculation(line: CommandLine, config_json: Mapping[str, Any] | None) -> tuple[Finding, ...]:
    """Findings about the speculative flags; nothing for a launch without any, one ok finding when all is well."""
    algorithm = str(line.flags.get("speculative-algorithm") or "").upper()
    given = [name for name in (_STEPS, _TOPK, _DRAFTS, _DRAFT_MODEL) if name in line.flags]
    if not algorithm:
        if not given:
            return ()
        return (
            finding(
                Judgement.WARN,
                "speculative flags without --speculative-algorithm have no effect",
                *(f"--{name} {line.flags[name]}" for name in given),
                remedy="add --speculative-algorithm, or take these flags out",
            ),
        )
    faults = tuple(_faults(algorithm, line, config_json))
    if any(one.judgement is not Judgement.OK for one in faults):
        return faults
    return (*faults, finding(Judgement.OK, _summary(algorithm, line)))


def _faults(algorithm: str, line: CommandLine, config_json: Mapping[str, Any] | None) -> Iterator[Finding]:
    if algorithm in _EAGLE_FAMILY:
        yield from _numbers(line)
        yield from _tree(line)
        yield from _draft(algorithm, line, config_json)
    elif algorithm == "DFLASH":
        yield from _dflash(line)
    elif algorithm != "NGRAM":
        yield finding(
            Judgement.UNKNOWN,
            f"speculative algorithm {algorithm} is not known here",
            remedy="compare with the choices in the installed engine's --help",
        )


def _numbers(line: CommandLine) -> Iterator[Finding]:
    """The three numbers that belong together."""
    values = {name: line.flags.get(name) for name in (_STEPS, _TOPK, _DRAFTS)}
    for name, value in values.items():
        if value is not None and (whole_number(value) or 0) < 1:
            yield finding(Judgement.REFUSE, f"--{name} must be a whole number from 1, not {value}", remedy=_ALL_THREE)
            return
    steps, topk, drafts = (whole_number(values[name]) for name in (_STEPS, _TOPK, _DRAFTS))
    if steps is None and (topk is not None or drafts is not None):
        yield finding(
            Judgement.REFUSE,
            "topk or draft tokens without steps end in a bare AssertionError at start",
            *_given(values),
            remedy=_ALL_THREE,
        )
    elif steps is not None and topk is None:
        yield finding(
            Judgement.REFUSE,
            "steps without topk end in a TypeError about NoneType at start",
            *_given(values),
            remedy=f"add --{_TOPK} 1 --{_DRAFTS} {steps + 1}, or take the steps out",
        )
    elif steps is not None and topk == 1 and drafts is not None and drafts != steps + 1:
        yield finding(
            Judgement.WARN,
            f"with topk 1 the engine sets draft tokens to steps + 1: {drafts} becomes {steps + 1}",
            *_given(values),
            remedy=f"write --{_DRAFTS} {steps + 1}",
        )
    elif steps is not None and topk is not None and topk > 1 and drafts is None:
        yield finding(
            Judgement.WARN, "topk above 1 without a number of draft tokens", *_given(values), remedy=_ALL_THREE
        )
    if steps == 1:
        yield finding(
            Judgement.WARN,
            "one speculative step is about as slow as none",
            "measured on an H200 with one MTP layer: 1 step 0.97 times, 3 steps 1.5 times the speed of none",
            remedy=f"3 steps are usual: --{_STEPS} 3 --{_TOPK} 1 --{_DRAFTS} 4; one MTP layer serves several steps",
        )
    if "max-running-requests" not in line.flags:
        yield finding(
            Judgement.OK, "speculation limits the server to 48 requests at a time", "no --max-running-requests"
        )


def _tree(line: CommandLine) -> Iterator[Finding]:
    """topk above 1 and what can serve it."""
    topk, page = whole_number(line.flags.get(_TOPK)), whole_number(line.flags.get("page-size")) or 1
    backend = line.flags.get("decode-attention-backend") or line.flags.get("attention-backend")
    if topk is None or topk < 2:
        return
    if backend == "trtllm_mha":
        yield finding(Judgement.REFUSE, "attention backend trtllm_mha needs topk 1", remedy=f"write --{_TOPK} 1")
    elif page > 1 and backend is None:
        yield finding(
            Judgement.WARN,
            "topk above 1 with pages above 1 works on flashinfer and fa3 only, and no attention backend is named",
            remedy="name --attention-backend flashinfer or fa3, or write --page-size 1",
        )
    elif page > 1 and backend not in _PAGED_TREE_BACKENDS:
        yield finding(
            Judgement.REFUSE,
            f"topk above 1 with pages above 1 works on flashinfer and fa3 only, not on {backend}",
            remedy=f"write --{_TOPK} 1 or --page-size 1",
        )


def _draft(algorithm: str, line: CommandLine, config_json: Mapping[str, Any] | None) -> Iterator[Finding]:
    """What drafts: a model of its own or the model's MTP layers."""
    if _DRAFT_MODEL in line.flags:
        return
    if algorithm in ("EAGLE3", "STANDALONE") and (config_json is None or not mtp_layers(config_json)):
        yield finding(
            Judgement.REFUSE,
            f"{algorithm} needs a draft model",
            f"no --{_DRAFT_MODEL}",
            remedy=f"add --{_DRAFT_MODEL}, or use NEXTN where the model has MTP layers",
        )
        return
    yield from mtp_findings(config_json, algorithm)


def _dflash(line: CommandLine) -> Iterator[Finding]:
    if _DRAFT_MODEL not in line.flags:
        yield finding(
            Judgement.REFUSE, "DFLASH needs a draft model", f"no --{_DRAFT_MODEL}", remedy=f"add --{_DRAFT_MODEL}"
        )
    if (whole_number(line.flags.get("pp-size")) or 1) > 1:
        yield finding(Judgement.REFUSE, "DFLASH does not run with pipeline parallelism", remedy="write --pp-size 1")
    if line.flags.get("enable-dp-attention") is True:
        yield finding(Judgement.REFUSE, "DFLASH does not run with DP attention", remedy="remove --enable-dp-attention")
    for name in (_STEPS, _TOPK):
        if name in line.flags and whole_number(line.flags[name]) != 1:
            yield finding(
                Judgement.WARN,
                f"DFLASH sets --{name} to 1: {line.flags[name]} has no effect",
                remedy=f"remove --{name}; the drafter's block size decides",
            )


def _given(values: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(f"--{name} {value}" for name, value in values.items() if value is not None)


def _summary(algorithm: str, line: CommandLine) -> str:
    steps, topk, drafts = (line.flags.get(name) for name in (_STEPS, _TOPK, _DRAFTS))
    if steps is None:
        chosen = (
            "" if algorithm not in _EAGLE_FAMILY else "; the engine chooses 5 steps, topk 4, 8 draft tokens for Llama"
        )
        return f"{algorithm} without numbers" + (chosen + " and 3, 1, 4 for others" if chosen else "")
    return f"{algorithm}, {steps} steps, topk {topk}, {drafts or 'as many as needed'} draft tokens"
