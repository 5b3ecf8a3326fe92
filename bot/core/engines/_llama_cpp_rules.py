"""llama.cpp's speculative flags judged (runs of b11434).

`-md` alone does not speculate: the draft is loaded and dropped again; it needs --spec-type draft-simple.
--spec-type draft-simple without a draft serves without speculation. draft-mtp on a model without an MTP layer exits 1,
which only the GGUF file can tell. --draft, --draft-max and --draft-min are still in the help and exit 1.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from bot.core.domain.engine import CommandLine
from bot.core.domain.finding import Finding, Judgement
from bot.core.engines._rules import finding, whole_number

_TYPES = (
    "none", "draft-simple", "draft-eagle3", "draft-mtp", "draft-dflash", "draft-dspark",
    "ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod", "ngram-cache",
)  # fmt: skip
_WITH_MODEL = ("draft-simple", "draft-eagle3", "draft-dflash", "draft-dspark")


def check_speculation(line: CommandLine, config_json: Mapping[str, Any] | None) -> tuple[Finding, ...]:
    """Findings about the speculative flags; `config_json` says nothing about a GGUF file."""
    kinds = [kind for kind in str(line.flags.get("spec-type") or "").split(",") if kind and kind != "none"]
    model = line.flags.get("model-draft") or line.flags.get("hf-repo-draft")
    if not kinds and not model:
        return ()
    return tuple(_faults(line, kinds, model)) or (finding(Judgement.OK, f"speculation {', '.join(kinds)}"),)


def _faults(line: CommandLine, kinds: list[str], model: object) -> Iterator[Finding]:
    unknown = [kind for kind in kinds if kind not in _TYPES]
    if unknown:
        yield finding(
            Judgement.WARN,
            f"speculation type {', '.join(unknown)} is not known here",
            remedy="known types: " + ", ".join(_TYPES),
        )
    if model and not kinds:
        yield finding(
            Judgement.WARN,
            "a draft model without --spec-type is loaded and not used (MTP, DFlash and DSpark files excepted)",
            f"--model-draft {model}",
            remedy="add --spec-type draft-simple",
        )
    if not model and (missing := [kind for kind in kinds if kind in _WITH_MODEL]):
        yield finding(
            Judgement.WARN,
            f"{', '.join(missing)} has no draft model: the server runs without speculation",
            remedy="add --model-draft",
        )
    steps = line.flags.get("spec-draft-n-max")
    if steps is not None and (whole_number(steps) or 0) < 1:
        yield finding(
            Judgement.REFUSE, f"--spec-draft-n-max must be a whole number from 1, not {steps}", remedy="write 3"
        )
    if "draft-mtp" in kinds and not model:
        yield finding(
            Judgement.UNKNOWN,
            "whether the GGUF file has the MTP layer that draft-mtp needs is not known before it is loaded",
            remedy="a model without it ends at start with: model doesn't contain MTP layers",
        )
