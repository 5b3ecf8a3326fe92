"""Which read-only thing a clause asks for, by its words."""

import re

from bot.core.domain.command import Intent
from bot.core.language import lexicon as lex
from bot.core.language.speech import ACTION_VERBS, Act

_PAST_ACTIONS = lex.PARTICIPLE_RESTART | lex.words(
    "stopped started launched killed deployed relaunched touched ran changed broke killed took "
    "brought happened unloaded swapped "
    "replaced moved shut crashed died failed updated upgraded booted terminated restarted"
)
_BENCH = re.compile(
    r"\b(?:bench(?:mark(?:s|ing)?)?|throughput|tok/s|toks/s|tok/sec|tokens?/s(?:ec)?|t/s|tps"
    r"|tokens (?:per|a) sec(?:ond)?|latency|ttft|speed ?test|load ?test|stress ?test|perf(?:ormance)?"
    r"|(?:decode|generation|inference|prefill|token) (?:speed|rate|performance)|how (?:fast|quick"
    r"|quickly|slow|speedy)|measure(?:ment)?s?|speeds?|itl|numbers)\b"
)
_LOGS = re.compile(
    r"\b(?:logs?|logfiles?|journal|journalctl|stderr|stdout|traceback|stack ?trace|output|lines|tail"
    r"|last words|what (?:went wrong|is wrong|was wrong)|errors?|error message|exceptions?)\b"
)
_LOG_VERBS = lex.words("tail grep follow stream watch journalctl")
_CATALOG = re.compile(
    r"\b(?:configs|configurations|recipes|presets|profiles|setups|variants|catalog(?:ue)?|(?:what"
    r"|which) (?:\w+ ){0,3}(?:versions|config|setup|variant|model)s?|models|launch configs|flavou?rs"
    r"|(?:can|could|may|do) (?:i|we|you) (?:run|start|launch|serve|deploy|load|host|have (?:for|of))"
    r"|options|configured|(?:everything|anything|all|what) we have)\b"
)
_HOSTS = re.compile(
    r"\b(?:hosts|machines|boxes|nodes|inventory|servers|gpu boxes|rigs|hardware|fleet|(?:what"
    r"|which) (?:gpus?|hardware|hosts?|machines?|boxe?s?|nodes?|servers?))\b"
)
_SHOW = re.compile(
    r"\b(?:config|configuration|recipe|command(?: line)?|cmdline|flags|args|arguments|parameters"
    r"|params|settings|launch (?:command|line)|revision|definition|setup|(?:how|with what) (?:is|was"
    r"|do we|did we|\S+) (?:\S+ ){0,6}(?:launched|started|run|start|configured|set up|deployed)"
    r"|details)\b"
)
_STATUS = re.compile(
    r"\b(?:status|state|running|up|online|down|offline|free|busy|idle|available|loaded|serving|served"
    r"|using|in use|used|occupied|occupying|hogging|ready|alive|left|uptime|anything|anybody|anyone"
    r"|going on|happening|hosted|deployed|active|empty|taken|still|live|vacant|living|usage"
    r"|utili[sz]ation|occupancy|nvidia-smi|reachable|accessible|load)\b"
)
_HEALTH = re.compile(
    r"\b(?:health|healthy|healthcheck|health-check|sick|ok|okay|alright|fine|well|responding"
    r"|responsive|broken|working|works|unhealthy|wrong|sane|good|stable|respond|answering|answers|dead"
    r"|living|reachable|accessible|hung|hanging|stuck|problems?|issues?|unwell|doing|feeling|look"
    r"|looking|diagnose|trouble)\b"
)
_COMPARE = re.compile(
    r"\b(?:compare|compared|comparison|diff|diffs|difference|differences|differ|differs|different|vs"
    r"|versus|slower|faster than|quicker than|better than|worse|regress(?:ed|ion)?|got slow|so slow"
    r"|slow(?:ed)?|changed|changes|what changed|contrast|against|delta)\b"
)
_HISTORY = re.compile(
    r"\b(?:history|launches|timeline|audit|(?:last|recent|previous|past|all|latest|earlier|the|our"
    r"|todays|yesterdays) (?:\d+ )?(?:runs|launches|starts|restarts|deployments|deploys|stops)"
    r"|last (?:time|run|launch|launched|started|restart|restarted|stopped|used|deployed)|who did what"
    r"|crashes|what (?:has |have |all )?(?:ran|run|was running|happened|been running)|what we ran)\b"
)
_SCHEDULES = re.compile(
    r"\b(?:schedules?|scheduled|recurring|cron ?jobs?|crons?|next (?:\w+ )?report|regular reports|periodic)\b"
)
_SCAN = re.compile(
    r"\b(?:scan|rescan|discover|discovery|crawl|rediscover|autodetect)\b"
    r"|\b(?:find|search|look|looking|detect|hunt|dig|import|fish|collect|gather"
    r"|check)\b.*\b(?:scripts?|units?|launch(?:es)?|old|launchers?|systemd|shell history|bash history"
    r"|configs|commands?|files|existing|forgotten|unknown|untracked)\b"
)
_HELP = re.compile(
    r"^(?:who (?:can|could|may|is allowed|has)|are you able|can you (?:do|handle|support)"
    r"|do you (?:support|handle|know how))\b|"
    r"^(?:help|usage|commands|manual|man|docs?|documentation|\?)\b|\bwhat (?:can|could) you do\b"
    r"|\bwhat (?:commands|can i (?:say|ask|type)|do you (?:do|understand|know|support))\b|\bhow (?:do"
    r"|can|does|should|would|could|to|must)(?: (?:i|we|you|one|someone))? "
    r"(?:\w+ )?(?!(?:\w+ )?(?:look|looking|feel|doing|compare|get|know)\b)\w+|\bhow to\b|\b(?:best"
    r"|right|proper|correct|easiest|safest|recommended) way (?:to|of)\b|\bhelp(?: me)?$|\bhelp (?:with"
    r"|on|about)\b|\bsyntax\b|\bhow does (?:this|it|that|the bot) work\b|\bwho are you\b"
    r"|\bwhat are you\b|\bexamples?$|\binstructions\b"
)
_HOW_MUCH = re.compile(
    r"\bhow (?:much|many) (?:\w+ ){0,3}(?:memory|vram|gpus?|ram|mem|space|requests|disk|users|slots)\b"
    r"|\bhow (?:busy|full|loaded|long)\b"
)
_MANY_CONFIGS = re.compile(
    r"\bdo we have\b|\bhave we got\b|\bgot for\b|\bavailable for\b|\bis there (?:a|any)\b"
    r"|\bare there (?:any)?\b|\bdo you have\b|\bwe have for\b|\bwe have on\b"
)


def intent(
    act: Act, text: str, *, target: bool, host: bool, topics: tuple[str, ...], strong_topics: bool, config: bool
) -> Intent:
    """The read-only intent of a request, question or phrase; NONE when no rule fits.

    `text` is the clause without its frame; `target` a name was said, `config` a config-like name, `host` a host."""
    verb = act.verb if act.kind in ("request", "wish") else ""
    if (
        _HELP.search(text)
        and not (act.kind == "question" and re.search(r"\bhow (?:did|was|is|are|fast|much|many|long)\b", text))
        and not verb_is_read(verb, text)
    ):
        return Intent.HELP
    if act.kind == "question":
        found = _question(act, text, target=target, host=host, topics=topics, strong=strong_topics)
        if found is not None:
            return found
    for rule in (_by_verb, _by_noun):
        found = rule(verb, text, act, target, host, topics, strong_topics, config)
        if found is not None:
            return found
    return Intent.NONE


def verb_is_read(verb: str, text: str) -> bool:
    """A read request that happens to have "help" words in it."""
    return bool(verb) and verb in lex.READ_VERBS and not text.startswith("help") and "how to" not in text


def _question(act: Act, text: str, *, target: bool, host: bool, topics: tuple[str, ...], strong: bool) -> Intent | None:
    words = text.split()
    first = words[0] if words else ""
    past = set(words) & _PAST_ACTIONS
    if _SCHEDULES.search(text):
        return Intent.SCHEDULES
    if first in ("who", "when", "whose") and (
        past or _HISTORY.search(text) or "did" in words or "last" in words or act.verb
    ):
        return Intent.HISTORY if "using" not in words and "owns" not in words else Intent.STATUS
    if first == "why" and (past - {"changed", "broke", "crashed", "died", "failed"}):
        return Intent.HISTORY
    if first == "why" and (
        past & {"crashed", "died", "failed", "broke"}
        or re.search(r"\b(?:crash|die|fail|not start|down|oom|not come)", text)
    ):
        return Intent.LOGS
    if first in ("did", "has", "have", "had", "was", "were") and (past or act.verb in ACTION_VERBS or "been" in words):
        return Intent.HISTORY
    if re.search(
        r"\bwhat (?:happened|did (?:we|i|you|they|he|she|someone|\w+) (?:run|use|start|launch|do|deploy"
        r"|serve|have|change|stop)|ran|was (?:running|started|on|up))\b|\bwhich (?:\w+ ){0,3}(?:did (?:we"
        r"|i|you)|was (?:running|used))\b",
        text,
    ):
        return Intent.HISTORY
    if re.search(r"\bhow (?:long did|often|many times)\b|\bhow long (?:does|will|would|do) .*\b(?:take|need)\b", text):
        return Intent.HISTORY
    if first == "how" and (found := _how(text, words, target or host)):
        return found
    if _COMPARE.search(text) and not re.search(r"\bwhat (?:is )?different configs\b", text):
        return Intent.COMPARE
    if topics and strong and not re.search(r"\bdo we have\b", text):
        return Intent.INSPECT
    if re.search(
        r"\bwhich (?:engine|model|config\w*|setup|version|variant) (?:is|are|does)\b|\bwhat (?:config"
        r"|setup|variant|model) (?:is|are|does)\b",
        text,
    ) and not _MANY_CONFIGS.search(text):
        return Intent.STATUS
    if (
        re.search(r"\b(?:flags|args|arguments|command|parameters|settings|options)\b", text)
        and re.search(r"\b(?:with|running|using|launched|started|have|has|use|uses|does|is)\b", text)
        and (target or host or "it" in words)
    ):
        return Intent.SHOW if target else Intent.INSPECT
    if (
        topics
        and re.search(r"\b(?:is|does|what|which|are|running|with|use|uses|using|set)\b", text)
        and not _HOW_MUCH.search(text)
        and not re.search(r"\bfree\b|\bin use\b", text)
    ):
        return Intent.INSPECT
    return None


def _how(text: str, words: list[str], placed: bool) -> Intent | None:
    if _BENCH.search(text):
        return Intent.BENCH
    if _HOW_MUCH.search(text):
        return Intent.STATUS
    if re.match(r"how (?:is|are|do|does)\b", text) and not _COMPARE.search(text):
        if re.search(r"\b(?:launched|started|configured|deployed|set up)\b", text):
            return Intent.SHOW
        return Intent.HEALTH
    return None


def _by_verb(
    verb: str, text: str, act: Act, target: bool, host: bool, topics: tuple[str, ...], strong: bool, config: bool
) -> Intent | None:
    if not verb:
        return None
    if verb in lex.BENCH_VERBS or (
        verb
        in ("run", "start", "do", "rerun", "launch", "repeat", "give", "get", "test", "redo", "execute", "kick", "make")
        and _BENCH.search(text)
    ):
        return Intent.BENCH
    if verb in ("compare", "diff", "contrast"):
        return Intent.COMPARE
    if verb in _LOG_VERBS:
        return Intent.LOGS
    if verb in lex.SCAN_VERBS - {"find", "search", "detect", "import"} or _SCAN.search(text):
        return Intent.SCAN if verb not in ("show", "list", "give", "get", "check", "tell") or "scan" in text else None
    if verb in ("find", "search", "import", "detect") and host and not _LOGS.search(text):
        return Intent.SCAN
    if verb == "help":
        return Intent.HELP
    return None


def _by_noun(
    verb: str, text: str, act: Act, target: bool, host: bool, topics: tuple[str, ...], strong: bool, config: bool
) -> Intent | None:
    if (
        act.kind == "question"
        and act.verb in ACTION_VERBS - {"run", "serve", "host", "load", "deploy", "spin"}
        and re.search(
            r"\b(?:to|me|us|if|we|i|you) \w*(?:ing|stop|start|restart|kill|launch|relaunch|reload|reboot)\b", text
        )
    ):
        return None
    asks = act.kind in ("question", "request", "wish", "desire", "hypothetical")
    if _COMPARE.search(text) and (
        verb or asks or re.match(r"(?:diff|compare|comparison|difference|what changed)|.*\bvs\b", text)
    ):
        return Intent.COMPARE
    if _SCHEDULES.search(text):
        return Intent.SCHEDULES
    if _HISTORY.search(text):
        return Intent.HISTORY
    if _LOGS.search(text) and not (
        verb in ("check", "look")
        and not re.search(r"\blogs?\b|\bjournal|\blines\b|\berrors?\b|\bstderr|\btraceback", text)
    ):
        return Intent.LOGS
    if verb in ("inspect", "examine") or (topics and strong and (verb or asks or act.kind == "fragment")):
        return Intent.INSPECT if topics or target or host or "it" in text.split() else Intent.INSPECT
    if _BENCH.search(text) and (
        verb or asks or re.match(r"(?:bench|benchmark|speed|throughput|perf|load|ttft|latency|tok)", text)
    ):
        return Intent.BENCH
    return _by_thing(verb, text, act, target, host, topics, config, asks)


def _by_thing(
    verb: str, text: str, act: Act, target: bool, host: bool, topics: tuple[str, ...], config: bool, asks: bool
) -> Intent | None:
    listing = verb in ("list", "show", "give", "get", "see", "print", "display", "view", "tell") or act.kind in (
        "question",
        "fragment",
        "desire",
    )
    if re.search(r"\b(?:status|state|usage|utili[sz]ation|occupancy|nvidia-smi|overview)\b", text) and (
        act.kind != "statement"
    ):
        return Intent.STATUS
    if re.search(r"\b(?:health|healthy|healthcheck|health-check)\b", text):
        return Intent.HEALTH
    if (
        re.search(
            r"\b(?:is|are) (?:\S+ ){0,5}(?:free|busy|up|running|down|using|idle|available|loaded|online"
            r"|offline|alive|in use|taken|empty|still|live|there)\b|\b(?:who|what|which|anything|anyone"
            r"|anybody|where|something|nothing|someone|everything)\b.*\b(?:is|are|using|running|on|free|up"
            r"|down|loaded|serving|uses)\b",
            text,
        )
        and asks
        and not (
            _CATALOG.search(text)
            and (
                _MANY_CONFIGS.search(text)
                or not re.search(r"\b(?:running|loaded|serving|served|up|used|in use|active|live|using)\b", text)
            )
        )
        and not re.search(r"\bcan (?:i|we)\b", text)
        and not re.search(r"\b(?:ok|okay|alright|wrong|sick|broken|responding)\b", text)
    ):
        if not _MANY_CONFIGS.search(text) or target is False and not _HOSTS.search(text) and not _CATALOG.search(text):
            return Intent.STATUS
    if (
        listing
        and _CATALOG.search(text)
        and not (re.search(r"\bmodels?\b", text) and re.search(r"\b(?:running|loaded|up|serving)\b", text))
    ):
        return Intent.CATALOG
    if listing and _HOSTS.search(text) and not host and not target:
        return Intent.HOSTS
    if _MANY_CONFIGS.search(text) and (target or host):
        return Intent.HOSTS if re.search(r"\bgpus?\b", text) and host else Intent.CATALOG
    if (
        (
            verb
            in (
                "show",
                "print",
                "describe",
                "display",
                "view",
                "cat",
                "explain",
                "see",
                "get",
                "give",
                "open",
                "list",
                "read",
            )
            or act.kind in ("fragment", "question", "desire")
        )
        and _SHOW.search(text)
        and (target or "this" in text.split() or "it" in text.split() or "current" in text)
    ):
        return Intent.SHOW
    if (
        topics
        and verb
        in (
            "check",
            "show",
            "inspect",
            "look",
            "verify",
            "confirm",
            "tell",
            "give",
            "see",
            "get",
            "print",
            "read",
            "what",
            "report",
            "display",
        )
        and not (verb == "check" and (host or target) and topics == ("memory",) and "gpu" not in text)
    ):
        return Intent.INSPECT
    if verb in ("show", "describe", "print", "display", "view", "cat", "explain", "see", "open", "read") and config:
        return Intent.SHOW
    if verb in (
        "check",
        "look",
        "test",
        "diagnose",
        "ping",
        "probe",
        "monitor",
        "verify",
        "examine",
        "see",
        "watch",
        "track",
    ) and (host or target or {"it", "this", "everything", "servers", "all", "that"} & set(text.split())):
        return Intent.HEALTH
    if verb in ("show", "list", "tell", "give", "get", "report", "describe", "summarize") and (host or target):
        return Intent.CATALOG if verb == "list" else Intent.STATUS
    if act.kind == "question":
        if (
            act.verb
            and act.verb not in ("run", "serve", "host", "load", "deploy", "spin")
            and text.split()[:1] not in (["is"], ["are"])
        ):
            return None
        if _HEALTH.search(text) and (
            target or host or re.search(r"\b(?:servers?|everything|all|it|things|we|box|machine)\b", text)
        ):
            return Intent.HEALTH
        if _STATUS.search(text) and (
            target
            or host
            or re.search(r"\b(?:what|who|which|anything|where|it|server|gpus?|everything|still|any|we)\b", text)
        ):
            return Intent.STATUS
    return None
