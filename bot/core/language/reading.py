"""Which read-only thing a clause asks for, by its words: rules in order, the first that says something decides."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.core.domain.command import Intent
from bot.core.language import lexicon as lex
from bot.core.language import patterns as pat
from bot.core.language.speech import ACTION_VERBS, Act

_SERVING = lex.words("run serve host load deploy spin")
_LISTING = lex.words("list show give get see print display view tell")
_SHOWING = lex.words("show print describe display view cat explain see open read")
_CHECKING = lex.words("check look test diagnose ping probe monitor verify examine see watch track")
_ASKING_KINDS = frozenset({"question", "request", "wish", "desire", "hypothetical"})
_RUN_VERBS = lex.words("run start do rerun launch repeat give get test redo execute kick make")
_INSPECTING = lex.words("check show inspect look verify confirm tell give see get print read what report display")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One clause as the rules see it. `text`: without its frame; `verb`: of a request, else ""."""

    act: Act
    text: str
    verb: str
    #: a name was said
    target: bool
    host: bool
    #: a name or reference that may mean a config
    config: bool
    topics: tuple[str, ...]
    strong: bool

    @property
    def words(self) -> frozenset[str]:
        """The words of the text."""
        return frozenset(self.text.split())

    @property
    def first(self) -> str:
        """The first word."""
        return self.text.split(" ", 1)[0]

    @property
    def asks(self) -> bool:
        """Whether something is wanted at all."""
        return self.act.kind in _ASKING_KINDS

    @property
    def listing(self) -> bool:
        """Whether things are to be listed."""
        return self.verb in _LISTING or self.act.kind in ("question", "fragment", "desire")

    def has(self, pattern: str) -> bool:
        """Whether the text has this pattern."""
        return re.search(pattern, self.text) is not None


Rule = Callable[[View], Intent | None]


def intent(
    act: Act, text: str, *, target: bool, host: bool, topics: tuple[str, ...], strong_topics: bool, config: bool
) -> Intent:
    """The read-only intent of a request, question or phrase; NONE when no rule fits."""
    verb = act.verb if act.kind in ("request", "wish") else ""
    view = View(
        act=act, text=text, verb=verb, target=target, host=host, config=config, topics=topics, strong=strong_topics
    )
    rules = (_help, *(_QUESTION_RULES if act.kind == "question" else ()), *_RULES)
    for rule in rules:
        if (found := rule(view)) is not None:
            return found
    return Intent.NONE


def _help(view: View) -> Intent | None:
    if not pat.HELP.search(view.text):
        return None
    if view.act.kind == "question" and view.has(r"\bhow (?:did|was|is|are|fast|much|many|long)\b"):
        return None
    reads = view.verb in lex.READ_VERBS and not view.has(r"^help|how to|commands$")
    return None if view.verb and reads else Intent.HELP


# ---- questions


def _asks_schedules(view: View) -> Intent | None:
    return Intent.SCHEDULES if pat.SCHEDULES.search(view.text) else None


def _asks_history(view: View) -> Intent | None:
    words, past = view.words, view.words & pat.PAST_ACTIONS
    looks_back = bool(past or words & {"did", "last", "used"} or view.act.verb or pat.HISTORY.search(view.text))
    if view.first == "when" and view.has(r"^when (?:can|could|should|shall|will|would|may|do)\b"):
        return Intent.NONE if view.act.verb in ACTION_VERBS else None
    if view.first in ("who", "when", "whose") and looks_back:
        return Intent.STATUS if words & {"using", "owns"} else Intent.HISTORY
    if view.first == "why":
        if past - pat.FAILURES - {"changed"}:
            return Intent.HISTORY
        if past & pat.FAILURES or view.has(r"\b(?:crash|die|fail|not start|down|oom|not come)"):
            return Intent.LOGS
    was = view.first in ("did", "has", "have", "had", "was", "were")
    befell = view.has(r"\b(?:crash|fail|die|oom|go (?:down|away))\b")
    if was and (past or view.act.verb in ACTION_VERBS or "been" in words or befell):
        return Intent.HISTORY
    return Intent.HISTORY if pat.ASKS_HISTORY.search(view.text) or pat.ASKS_WHAT_BEFELL.search(view.text) else None


def _asks_how(view: View) -> Intent | None:
    if view.first != "how":
        return None
    if pat.BENCH.search(view.text):
        return Intent.BENCH
    if pat.HOW_MUCH.search(view.text):
        return Intent.STATUS
    if re.match(r"how (?:is|are|do|does)\b", view.text) and not pat.COMPARE.search(view.text):
        return Intent.SHOW if view.has(r"\b(?:launched|started|configured|deployed|set up)\b") else Intent.HEALTH
    return None


def _asks_difference(view: View) -> Intent | None:
    return Intent.COMPARE if pat.COMPARE.search(view.text) and not view.has(r"\bdifferent configs\b") else None


def _asks_topic(view: View) -> Intent | None:
    if view.host and view.has(r"^(?:what|who) is (?:\w+ )?(?:eating|hogging|taking|holding|occupying|blocking)\b"):
        return Intent.STATUS
    if view.topics and view.strong and not view.has(r"\bdo we have\b"):
        return Intent.INSPECT
    if pat.WHICH_RUNS.search(view.text) and not pat.MANY_CONFIGS.search(view.text):
        return Intent.STATUS
    arguments = view.has(r"\b(?:flags|args|arguments|command|parameters|settings|options)\b")
    pointed = view.target or view.host or "it" in view.words
    if arguments and pointed and view.has(r"\b(?:with|running|using|launched|started|have|has|use|uses|does|is)\b"):
        now = view.has(r"\b(?:is|are) (?:\S+ ){1,4}(?:running|using|serving)\b")
        return Intent.SHOW if view.target and not now else Intent.INSPECT
    if view.topics and view.has(r"\b(?:is|does|what|which|are|running|with|use|uses|using|set)\b"):
        free = view.has(r"\bfree\b|\bin use\b")
        return None if free or pat.HOW_MUCH.search(view.text) else Intent.INSPECT
    return None


# ---- everything


def _by_verb(view: View) -> Intent | None:
    verb, text = view.verb, view.text
    if not verb:
        return None
    if verb in lex.BENCH_VERBS or (verb in _RUN_VERBS and pat.BENCH.search(text)):
        return Intent.BENCH
    if verb in ("compare", "diff", "contrast"):
        return Intent.COMPARE
    if verb in pat.LOG_VERBS:
        return Intent.LOGS
    if verb in lex.SCAN_VERBS - {"find", "search", "detect", "import"} or pat.SCAN.search(text):
        shows = verb in ("show", "list", "give", "get", "check", "tell") and "scan" not in text
        return None if shows else Intent.SCAN
    if verb in ("find", "search", "import", "detect") and view.host and not pat.LOGS.search(text):
        return Intent.SCAN
    return Intent.HELP if verb == "help" else None


def _about_acting(view: View) -> Intent | None:
    """ "does anyone mind me restarting X?" asks people, not us."""
    acts = view.act.kind == "question" and view.act.verb in ACTION_VERBS - _SERVING
    return Intent.NONE if acts and pat.SOMEONE_ACTS.search(view.text) else None


def _by_noun(view: View) -> Intent | None:
    text, wanted = view.text, bool(view.verb) or view.asks
    if pat.COMPARE.search(text) and (wanted or pat.COMPARES_FIRST.match(text)):
        return Intent.COMPARE
    if pat.SCHEDULES.search(text):
        return Intent.SCHEDULES
    if pat.HISTORY.search(text):
        return Intent.HISTORY
    if pat.LOGS.search(text) and (view.verb not in ("check", "look") or pat.PLAIN_LOGS.search(text)):
        return Intent.LOGS
    if view.verb in ("inspect", "examine"):
        return Intent.INSPECT
    if view.topics and view.strong and (wanted or view.act.kind == "fragment"):
        return Intent.INSPECT
    if pat.BENCH.search(text) and (wanted or pat.BENCH_FIRST.match(text)):
        return Intent.BENCH
    return None


def _state(view: View) -> Intent | None:
    """Status and health by their names, and "is X up", "what is running"."""
    if view.has(r"\b(?:status|state|usage|utili[sz]ation|occupancy|nvidia-smi|overview)\b"):
        return None if view.act.kind == "statement" else Intent.STATUS
    if view.act.clause.end == "?" and view.has(
        r"^(?:any )?(?:free|idle|available|spare) (?:gpus?|cards?|hosts?|machines?|boxe?s?)\b"
    ):
        return Intent.STATUS
    if view.has(r"\b(?:health|healthy|healthcheck|health-check)\b"):
        return Intent.HEALTH
    if not view.asks or not pat.IS_RUNNING.search(view.text):
        return None
    many = bool(pat.MANY_CONFIGS.search(view.text))
    if view.has(r"\b(?:recommend|suggest)\b"):
        return None
    lists = pat.CATALOG.search(view.text) and (many or not pat.IN_USE.search(view.text))
    if lists or view.has(r"\bcan (?:i|we)\b|\b(?:ok|okay|alright|wrong|sick|broken|responding)\b"):
        return None
    nothing_known = not view.target and not pat.HOSTS.search(view.text) and not pat.CATALOG.search(view.text)
    return Intent.STATUS if not many or nothing_known else None


def _lists(view: View) -> Intent | None:
    running = view.has(r"\bmodels?\b") and view.has(r"\b(?:running|loaded|up|serving)\b")
    if view.listing and pat.CATALOG.search(view.text) and not running:
        return Intent.CATALOG
    if view.host and view.listing and (of := re.match(r"(?:the )?gpus? (of|in|on|at)\b", view.text)):
        return Intent.HOSTS if of.group(1) in ("of", "in") else Intent.STATUS
    if view.host and view.act.kind == "question" and view.has(r"\bgpus?\b.*\b(?:have|got)\b|\b(?:hardware|specs?)\b"):
        return Intent.HOSTS
    if view.listing and pat.HOSTS.search(view.text) and not view.host and not view.target:
        return Intent.STATUS if view.words & {"it", "this"} else Intent.HOSTS
    if pat.MANY_CONFIGS.search(view.text) and (view.target or view.host):
        return Intent.HOSTS if view.has(r"\bgpus?\b") and view.host else Intent.CATALOG
    return None


def _shows(view: View) -> Intent | None:
    shows = view.verb in _SHOWING | {"get", "give", "list"} or view.act.kind in ("fragment", "question", "desire")
    pointed = view.target or bool(view.words & {"this", "it", "current"})
    if shows and pointed and pat.SHOW.search(view.text):
        return Intent.SHOW
    memory = view.verb == "check" and (view.host or view.target) and view.topics == ("memory",)
    if view.topics and view.verb in _INSPECTING and not (memory and "gpu" not in view.text):
        return Intent.INSPECT
    return Intent.SHOW if view.verb in _SHOWING and view.config else None


def _looks(view: View) -> Intent | None:
    """ "check X", "show X": what there is to see of a host or model."""
    placed = view.host or view.target
    if view.verb in _CHECKING and (placed or view.words & {"it", "this", "everything", "servers", "all", "that"}):
        return Intent.HEALTH
    if view.verb in ("show", "list", "tell", "give", "get", "report", "describe", "summarize") and placed:
        return Intent.CATALOG if view.verb == "list" else Intent.STATUS
    return None


def _is_it_well(view: View) -> Intent | None:
    """Questions about the state of things in any words."""
    if view.act.kind != "question":
        return None
    if view.act.verb and view.act.verb not in _SERVING and view.first not in ("is", "are"):
        return None
    placed = view.target or view.host
    if pat.HEALTH.search(view.text) and (placed or pat.THINGS.search(view.text)):
        return Intent.HEALTH
    if pat.STATUS.search(view.text) and (placed or pat.ANYTHING.search(view.text)):
        return Intent.STATUS
    return None


_QUESTION_RULES: tuple[Rule, ...] = (_asks_schedules, _asks_history, _asks_how, _asks_difference, _asks_topic)
_RULES: tuple[Rule, ...] = (_by_verb, _about_acting, _by_noun, _state, _lists, _shows, _looks, _is_it_well)
