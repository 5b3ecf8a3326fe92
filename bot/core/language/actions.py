"""Which action a request's verb means, with its particle and object."""

import re

from bot.core.domain.command import Intent
from bot.core.language import lexicon as lex
from bot.core.language.speech import Act

_WEAK_STOP = lex.words("end close drop remove cut clear free quit drain murder")
_WEAK_START = lex.words(
    "get have put set bring kick turn switch power light crank warm open execute begin prepare fetch "
    "pull roll spin fire stand wake take give"
)
_RUN_NOUNS = re.compile(
    r"\b(?:bench(?:mark)?s?|load ?test|stress ?test|speed ?test|perf(?:ormance)? ?test|throughput test"
    r"|health ?-?check|healthcheck|scan|discovery|comparison|diff|report|checks?|measurement|status"
    r"|test|tests)\b"
)
_CANCEL_NOUNS = lex.words(
    "benchmark bench launch start restart scan test measurement operation deploy deployment rollout "
    "countdown approval request plan process that"
)


_DONE = {
    "start": Intent.START,
    "launch": Intent.START,
    "deployment": Intent.START,
    "deploy": Intent.START,
    "stop": Intent.STOP,
    "shutdown": Intent.STOP,
    "restart": Intent.RESTART,
    "reload": Intent.RESTART,
    "reboot": Intent.RESTART,
    "relaunch": Intent.RESTART,
}


_IDIOMS = {
    "stop": lex.words("by at being to signs sign"),
    "run": lex.words("out into away across late amok over through by"),
    "start": lex.words("over from being to off"),
    "kill": lex.words("time two"),
    "launch": lex.words("into party day"),
    "load": lex.words("up_on"),
    "end": lex.words("of up"),
    "halt": lex.words("at"),
}


def idiom(act: Act) -> bool:
    """ "stop worrying", "stop by", "run out of memory": the verb does not take a server."""
    words = act.clause.words[act.at + 1 :]
    if not words or act.kind == "desire":
        return False
    if words[0] in _IDIOMS.get(act.verb, ()):
        return True
    gerund = words[0].endswith("ing") and words[0] not in (
        "everything",
        "anything",
        "running",
        "serving",
        "something",
        "nothing",
        "training",
    )
    return (
        gerund
        and act.verb in ("stop", "start", "quit", "end", "begin", "keep", "resume")
        and not act.clause.tokens[act.at + 1].role
    )


def action(act: Act, *, target: bool, own_target: bool, overrides: bool, thread: bool) -> Intent | None:
    """START, STOP, RESTART, CHANGE or CANCEL, else None.

    `target`: a name, host or "everything" is said, or a pronoun in a thread; `own_target`: in the clause itself."""
    words, verb = act.clause.words[act.at + 1 :], act.verb
    if act.kind == "desire":
        return _desired(act)
    if _cancels(verb, words, overrides):
        return Intent.CANCEL
    goes_with = verb == "go" and words[:1] == ["with"] and (overrides or target)
    if verb == "get" and words[:2] == ["rid", "of"]:
        return Intent.STOP
    if goes_with or (overrides and not own_target and verb in _SETTING_VERBS):
        return Intent.CHANGE
    if verb in ("get", "have") and (wanted := _done(words)):
        return wanted
    text, particle = " ".join(words), _particle(verb, words)
    if verb in lex.RESTART_VERBS:
        return None if _RUN_NOUNS.search(text) and not target else Intent.RESTART
    if verb in ("make", "do", "perform", "give") and (done := _DOING.match(text)):
        return _DONE[done.group(1)]
    if verb in ("make", "let", "have", "get") and {"run", "running"} & set(words[1:]) and target:
        return Intent.START
    if _again(verb, words, text, particle):
        return Intent.RESTART
    if particle == "down" and verb in lex.PARTICLE_STOP | lex.STOP_VERBS | {"put"}:
        return Intent.STOP
    if verb in lex.STOP_VERBS and (verb not in _WEAK_STOP or (target and not overrides)):
        return Intent.STOP if target or not _of_ours(words) else Intent.CANCEL
    if verb in lex.START_VERBS | lex.PARTICLE_START and _starts(verb, words, text, particle, target):
        return Intent.CHANGE if thread and overrides and not target and verb in _RUNNING else Intent.START
    changes = overrides or (target and verb in ("use", "try", "apply"))
    return Intent.CHANGE if changes and verb in lex.CHANGE_VERBS | _WEAK_START else None


def _cancels(verb: str, words: list[str], overrides: bool) -> bool:
    pointing = words[0] if words else ""
    if verb == "forget":
        return pointing in ("it", "that", "about", "the")
    return verb in lex.CANCEL_VERBS or (verb == "drop" and pointing in ("it", "that") and not overrides)


def _of_ours(words: list[str]) -> bool:
    """ "stop the benchmark", "stop the launch": an operation of ours, not a server."""
    said = set(words)
    return bool(said & _CANCEL_NOUNS) and said <= _CANCEL_NOUNS | lex.FILLERS and "everything" not in said


def _again(verb: str, words: list[str], text: str, particle: str) -> bool:
    """Restarts in other words: "try again", "give it a kick", "turn it off and on", "switch X to Y"."""
    if verb == "try":
        return bool(re.match(r"(?:it |that |this )?(?:again|once more|one more time|another time)\b", text))
    if verb in ("give", "do"):
        return bool(re.search(r"\b(?:a |another )?(?:restart|reboot|bounce|kick|reload|relaunch)\b", text))
    if verb == "kick" and not particle:
        return True
    if verb in ("turn", "switch", "power") and re.search(r"\boff and (?:back )?on\b", text):
        return True
    return verb in lex.SWITCH_VERBS and _switches(verb, words, particle)


_DOING = re.compile(
    r"(?:(?:a|an|the|it|them|him|another|quick|clean|fresh|full|proper|me) )*"
    r"(start|stop|launch|restart|shutdown|reload|reboot|relaunch|deployment|deploy)\b"
)
_RUNNING = lex.words("run start launch serve use load deploy get bring")
_SETTING_VERBS = lex.words(
    "turn switch disable enable put drop cut set raise lower bump push crank bring take get shut up "
    "increase decrease remove"
)


def _particle(verb: str, words: list[str]) -> str:
    """ "up" or "down" for the particle that goes with the verb, or ""."""
    if verb == "kick" and words[:1] == ["off"]:
        return "up"
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if (word in lex.PARTICLES_DOWN and not (word == "down" and following in ("to", "from"))) or (
            word == "down" and verb in ("take", "bring", "shut")
        ):
            return "down"
        if word in lex.PARTICLES_UP:
            if (
                word == "on"
                and at
                and following
                and following not in ("on", "please", "again", "at", "with", "now", "and")
            ):
                continue
            if (word == "up" and following in ("to",)) or (
                word == "back" and following == "to" and words[at + 2 : at + 3] not in (["life"], ["work"])
            ):
                continue
            return "up"
        if word in lex.PARTICIPLE_START and verb in ("get", "have", "bring", "put", "see"):
            return "up"
    return ""


def _switches(verb: str, words: list[str], particle: str) -> bool:
    """From one thing to another: there is a "to", "with", "for" or "back" behind the verb."""
    if verb in ("go", "roll", "return"):
        return "back" in words[:2] or ("to" in words[:2] and verb == "return")
    if verb in ("rollback", "revert", "downgrade"):
        return True
    if verb in ("switch", "flip") and particle == "down":
        return False
    return bool({"to", "with", "for", "over", "by", "from", "onto", "into", "back"} & set(words)) or (
        verb in ("switch", "swap", "flip") and bool(words)
    )


def _starts(verb: str, words: list[str], text: str, particle: str, target: bool) -> bool:
    if _RUN_NOUNS.search(text) and re.match(
        r"(?:(?:a|an|the|another|quick|new|some|full|short|me|us|on|single|stream|decode|proper|small) )*"
        + _RUN_NOUNS.pattern.lstrip(r"\b"),
        text,
    ):
        return False
    if verb in _WEAK_START:
        if re.match(r"(?:back )?what (?:ran|was|we|i)\b", text):
            return True
        if set(words) & _READ_NOUNS - {"status", "info", "when", "whether", "if", "who"}:
            return False
        placed = bool({"on", "onto", "there", "here"} & set(words)) and verb in (
            "put",
            "get",
            "have",
            "set",
            "stand",
            "roll",
            "open",
        )
        return (particle == "up" or placed) and target
    return True


_READ_NOUNS = lex.words(
    "logs log lines status health history overview summary list configs benchmark numbers report "
    "reports output errors diff comparison schedule "
    "schedules info help details launches tok/s throughput what which how who why when whether if"
)


def _desired(act: Act) -> Intent | None:
    """ "i would like X running on Y": by the participle, or by the place."""
    words = act.clause.words[act.at :]
    if done := _done(words):
        return done
    if set(words) & _READ_NOUNS:
        return None
    if set(words) & {"down", "gone"} or "off" in words[1:]:
        return Intent.STOP
    if set(words) & (lex.PARTICIPLE_START | {"on", "asap", "please", "again"}):
        return Intent.START
    return None


_STOPPED = (lex.PARTICIPLE_STOP - {"off", "down", "gone"}) | lex.words("stop kill terminate halt unload dead")
_RESTARTED = lex.PARTICIPLE_RESTART | lex.words("restart relaunch reload reboot bounce")


def _done(words: list[str]) -> Intent | None:
    """ "get X stopped", "have X restarted", "i want X stop": what is to become of it."""
    said = set(words)
    if said & _READ_NOUNS:
        return None
    if said & _RESTARTED:
        return Intent.RESTART
    return Intent.STOP if said & _STOPPED else None
