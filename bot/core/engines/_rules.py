"""Shared by the engines' speculation rules: making findings, and what a config.json says about MTP layers."""

from collections.abc import Mapping
from typing import Any

from bot.core.domain.finding import Finding, Judgement

CHECK = "speculation"
#: names under which models declare their own multi-token-prediction layers
_MTP_FIELDS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers")


def finding(judgement: Judgement, summary: str, *evidence: str, remedy: str = "") -> Finding:
    """A finding of the speculation check."""
    return Finding(check=CHECK, judgement=judgement, summary=summary, evidence=evidence, remedy=remedy)


def mtp_layers(config_json: Mapping[str, Any]) -> tuple[str, int] | None:
    """(field, layers) that a config.json declares at its top level or, for multimodal wrappers, in text_config; None
    where it declares none. One layer may serve several steps: it is applied again."""
    nested = config_json.get("text_config")
    for part in (config_json, nested if isinstance(nested, Mapping) else {}):
        for name in _MTP_FIELDS:
            count = part.get(name)
            if isinstance(count, int) and not isinstance(count, bool) and count > 0:
                return name, count
    return None


def mtp_findings(config_json: Mapping[str, Any] | None, what: str) -> tuple[Finding, ...]:
    """Whether the model has the MTP layers that `what` needs."""
    if config_json is None:
        return (
            finding(Judgement.UNKNOWN, "whether the model has MTP layers is not known: its config.json was not read"),
        )
    declared = mtp_layers(config_json)
    if declared:
        return ()
    return (
        finding(
            Judgement.WARN,
            f"{what} needs the model's own MTP layers, and its config.json declares none",
            f"architectures: {', '.join(config_json.get('architectures') or ['not said'])}",
            remedy="check that this is the checkpoint with MTP weights, or launch without speculation",
        ),
    )


def whole_number(value: object) -> int | None:
    """The whole number that a flag's value is, or None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and value.strip().lstrip("-").isdigit() else None
