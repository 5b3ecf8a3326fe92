"""What reading requests are recognised by, as patterns over a clause's words."""

import re

from bot.core.language import lexicon as lex

PAST_ACTIONS = lex.PARTICIPLE_RESTART | lex.words(
    "stopped started launched killed deployed relaunched touched ran changed broke killed took "
    "brought happened unloaded swapped "
    "replaced moved shut crashed died failed updated upgraded booted terminated restarted"
)
BENCH = re.compile(
    r"\b(?:bench(?:mark(?:s|ing)?)?|throughput|tok/s|toks/s|tok/sec|tokens?/s(?:ec)?|t/s|tps"
    r"|tokens (?:per|a) sec(?:ond)?|latency|ttft|speed ?test|load ?test|stress ?test|perf(?:ormance)?"
    r"|(?:decode|generation|inference|prefill|token) (?:speed|rate|performance)|how (?:fast|quick"
    r"|quickly|slow|speedy)|measure(?:ment)?s?|speeds?|itl|numbers)\b"
)
LOGS = re.compile(
    r"\b(?:logs?|logfiles?|journal|journalctl|stderr|stdout|traceback|stack ?trace|output|lines|tail"
    r"|last words|what (?:went wrong|is wrong|was wrong)|errors?|error message|exceptions?)\b"
)
LOG_VERBS = lex.words("tail grep follow stream watch journalctl")
CATALOG = re.compile(
    r"\b(?:configs|configurations|recipes|presets|profiles|setups|variants|catalog(?:ue)?|(?:what"
    r"|which) (?:\w+ ){0,3}(?:versions|config|setup|variant|model)s?|models|launch configs|flavou?rs"
    r"|(?:can|could|may|do) (?:i|we|you) (?:run|start|launch|serve|deploy|load|host|have (?:for|of))"
    r"|options|configured|recommend|suggest|(?:everything|anything|all|what) we have)\b"
)
HOSTS = re.compile(
    r"\b(?:hosts|machines|boxes|nodes|inventory|servers|gpu boxes|rigs|hardware|fleet|(?:what"
    r"|which) (?:gpus?|hardware|hosts?|machines?|boxe?s?|nodes?|servers?))\b"
)
SHOW = re.compile(
    r"\b(?:config|configuration|recipe|command(?: line)?|cmdline|flags|args|arguments|parameters"
    r"|params|settings|launch (?:command|line)|revision|definition|setup|(?:how|with what) (?:is|was"
    r"|do we|did we|\S+) (?:\S+ ){0,6}(?:launched|started|run|start|configured|set up|deployed)"
    r"|details)\b"
)
STATUS = re.compile(
    r"\b(?:status|state|running|up|online|down|offline|free|busy|idle|available|loaded|serving|served"
    r"|using|in use|used|occupied|occupying|hogging|ready|alive|left|uptime|anything|anybody|anyone"
    r"|going on|happening|hosted|deployed|active|empty|taken|still|live|vacant|living|usage"
    r"|utili[sz]ation|occupancy|nvidia-smi|reachable|accessible|load)\b"
)
HEALTH = re.compile(
    r"\b(?:health|healthy|healthcheck|health-check|sick|ok|okay|alright|fine|well|responding"
    r"|responsive|broken|working|works|unhealthy|wrong|sane|good|stable|respond|answering|answers|dead"
    r"|living|reachable|accessible|hung|hanging|stuck|problems?|issues?|unwell|doing|feeling|look"
    r"|looking|diagnose|trouble)\b"
)
COMPARE = re.compile(
    r"\b(?:compare|compared|comparison|diff|diffs|difference|differences|differ|differs|different|vs"
    r"|versus|slower|faster than|quicker than|better than|worse|regress(?:ed|ion)?|got slow|so slow"
    r"|slow(?:ed)?|changed|changes|what changed|contrast|against(?! \w+ing\b)|delta)\b"
)
HISTORY = re.compile(
    r"\b(?:history|launches|timeline|audit|(?:last|recent|previous|past|all|latest|earlier|the|our"
    r"|todays|yesterdays) (?:\d+ )?(?:runs|launches|starts|restarts|deployments|deploys|stops)"
    r"|last (?:time|run|launch|launched|started|restart|restarted|stopped|used|deployed)|who did what"
    r"|crashes|failures(?! in)|failed (?:launch(?:es)?|starts?|restarts?|runs?)"
    r"|what (?:has |have |all )?(?:ran|run|was running|happened|been running)|what we ran)\b"
)
SCHEDULES = re.compile(
    r"\b(?:schedules?|scheduled|recurring|cron ?jobs?|crons?|next (?:\w+ )?report|regular reports|periodic)\b"
)
SCAN = re.compile(
    r"\b(?:scan|rescan|discover|discovery|crawl|rediscover|autodetect)\b"
    r"|\b(?:find|search|look|looking|detect|hunt|dig|import|fish|collect|gather"
    r"|check)\b.*\b(?:scripts?|units?|launch(?:es)?|old|launchers?|systemd|shell history|bash history"
    r"|configs|commands?|files|existing|forgotten|unknown|untracked)\b"
)
HELP = re.compile(
    r"^(?:does|can) (?:start|stop|restart|bench|scan|logs|health|history|compare|save|schedule) \w+"
    r"|\b(?:the|all|your|available|supported) commands\b|"
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
HOW_MUCH = re.compile(
    r"\bhow (?:much|many) (?:\w+ ){0,3}(?:memory|vram|gpus?|ram|mem|space|requests|disk|users|slots)\b"
    r"|\bhow (?:busy|full|loaded|long)\b"
)
MANY_CONFIGS = re.compile(
    r"\bdo we have\b|\bhave we got\b|\bgot for\b|\bavailable for\b|\bis there (?:a|any)\b"
    r"|\bare there (?:any)?\b|\bdo you have\b|\bwe have for\b|\bwe have on\b"
)
FAILURES = lex.words("broke crashed died failed")
ASKS_HISTORY = re.compile(
    r"\bwhat (?:happened|did (?:we|i|you|they|he|she|someone|\w+) (?:run|use|start|launch|do|deploy|serve|have|change"
    r"|stop)|ran|was (?:running|started|on|up))\b|\bwhich (?:\w+ ){0,3}(?:did (?:we|i|you)|was (?:running|used))\b"
    r"|\bhow (?:long did|often|many times)\b|\bhow long (?:does|will|would|do) .*\b(?:take|need)\b"
)
#: things that were done or that befell servers, asked for without a person: "what failed …", "did anything crash …"
ASKS_WHAT_BEFELL = re.compile(
    r"^(?:what|which)(?: (?:models?|servers?|launch(?:es)?|configs?|runs?|starts?|hosts?|things?))?"
    r"(?: (?:all|else|has|have|had|was|were|got|just|recently|ever|been|last))*"
    r" (?:stopped|started|launched|killed|deployed|relaunched|restarted|rebooted|unloaded|crashed|died|failed|broke"
    r"|oomed|terminated|shut down|went (?:down|away))\b(?! (?:with|working|responding|answering)\b)"
    r"|^(?:(?:did|has|have) )?(?:any|some)(?:thing|one|body|(?: \w+){1,2})(?: (?:just|recently|ever|that|which|has))*"
    r" (?:fail|crash|die|break|stop|restart|start|go down)(?:ed)?\b"
)
WHICH_RUNS = re.compile(
    r"\bwhich (?:engine|model|config\w*|setup|version|variant) (?:is|are|does)\b"
    r"|\bwhat (?:config|setup|variant|model) (?:is|are|does)\b"
)
SOMEONE_ACTS = re.compile(
    r"\b(?:to|me|us|if|we|i|you) \w*(?:ing|stop|start|restart|kill|launch|relaunch|reload|reboot)\b"
)
COMPARES_FIRST = re.compile(r"(?:diff|compare|comparison|difference|what changed)|.*\bvs\b")
BENCH_FIRST = re.compile(r"(?:bench|benchmark|speed|throughput|perf|load|ttft|latency|tok)")
PLAIN_LOGS = re.compile(r"\blogs?\b|\bjournal|\blines\b|\berrors?\b|\bstderr|\btraceback")
IS_RUNNING = re.compile(
    r"\b(?:is|are) (?:\S+ ){0,5}(?:free|busy|up|running|down|using|idle|available|loaded|online|offline|alive|in use"
    r"|taken|empty|still|live|there)\b|\b(?:who|what|which|anything|anyone|anybody|where|something|nothing|someone"
    r"|everything)\b.*\b(?:is|are|using|running|on|free|up|down|loaded|serving|uses)\b"
)
IN_USE = re.compile(r"\b(?:running|loaded|serving|served|up|used|in use|active|live|using)\b")
THINGS = re.compile(r"\b(?:servers?|everything|all|it|things|we|box|machine)\b")
ANYTHING = re.compile(r"\b(?:what|who|which|anything|where|it|server|gpus?|everything|still|any|we)\b")
