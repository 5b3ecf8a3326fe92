"""Sentences that try to talk the bot out of its rules. They are answered with a question, never carried out."""

import re

_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|skip)\b[^.!?\n]{0,40}\b(?:instructions?|rules?"
    r"|prompts?|polic(?:y|ies)|safety|guard ?rails?|approvals?|confirmations?|checks?|protections?)\b"
    r"|\b(?:do not|don'?t|dont|never|no need to|without|w/o|skip|no)\s+(?:any\s+|the\s+"
    r"|further\s+)?(?:ask(?:ing)?|confirm(?:ation|ing)?|approv(?:al|ing)|prompt(?:ing)?|questions?"
    r"|permission|check(?:ing)?)\b"
    r"|\b(?:you are now|act as|pretend (?:to be|you)|system prompt|developer mode|maintenance mode"
    r"|admin mode|god mode|debug mode|jailbreak|as (?:an? )?(?:admin|root|administrator|superuser)"
    r"|i am (?:the|your) (?:admin|owner|administrator|developer)|new instructions?)\b"
    r"|\b(?:sudo|auto-?approve|already approved|pre-?approved|approved by|force approve|yes to all)\b"
    r"|<\|?(?:im_start|system|endoftext)|\[/?inst\]|^\s*(?:system|assistant)\s*:",
    re.IGNORECASE | re.MULTILINE,
)


def found(text: str) -> str | None:
    """The words that try it, or None."""
    match = _ORDERS.search(text)
    return match.group() if match else None
