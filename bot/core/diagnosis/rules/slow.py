"""Slow servers: nothing fails, the numbers say it. Weights stay below those of failures."""

from bot.core.diagnosis.rule import Rule

#: the start of a line that no software printed
_SPOKEN = r"^(?!\W*(?:\d{4}-\d\d-|\d\d:\d\d|(?:info|warning)\b|\((?:api|engine|worker)))"
#: how people say that a version changed
_CHANGED = (
    r"\b(?:previous|last|older|earlier|newer|latest|recent) (?:\w+ )?"
    r"(?:versions?|releases?|builds?|commits?|images?|master)\b"
    r"|\bafter (?:release |build )?b\d{4,5}\b"
    r"|\b(?:after|since|when|upon|by|with) (?:\w+ ){0,3}(?:upgrad|updat|downgrad)\w*"
    r"|\b(?:up|down)grad(?:ed|ing|e) (?:from|to|back)|\b(?:roll(?:ed|ing)?|went|go(?:ing)?) back to\b|\bbisect\w*"
    r"|\bcommit [0-9a-f]{7,40}\b|\bfirst bad commit\b|\b(?:between|from) \W?(?:v|b)?\d+[.\d]{2,}\S* (?:and"
    r"|to) \W?(?:v|b)?\d+[.\d]{2,}"
    r"|\b(?:v\d+\.\d+|\d+\.\d+\.\d+)[.\w]* (?:vs\.?|versus|against|->|→) (?:v\d+\.\d+|\d+\.\d+\.\d+)"
    r"|\b(?:after|since|from|with) (?:\w+ ){0,2}version v?\d|\bversion is \d+ ?% (?:faster|slower)"
    r"|\b(?:faster|slower) than (?:in |with |on )?(?:\w+ ){0,2}v?\d+\.\d+"
    r"|(?<![\w.])v[01]\b.{0,60}(?<![\w.])v[01]\b(?!\.)"
    r"|\bstart(?:s|ing|ed) (?:with|in|from|at) \W?(?:v|b|version |commit )\d|\b(?:introduced|caused|broken) "
    r"(?:in|by|since) (?:v|b|pr |#|commit |version )\W?\w*\d|\brevert(?:ed|ing)?\b"
)
#: how people speak of speed
_SPEED_WORDS = (
    r"\bslow|\bfast(?:er)?\b|\bgpus?\b.{0,80}\d ?%|\bperformance\b|\bspeeds?\b|through?put|\d ?(?:t/s|tps"
    r"|tok(?:en)?s?/s"
    r"|it/s)|tok(?:en)?s? per second"
    r"|\blatency\b|\bttft\b|\btpot\b|utili[sz]ation"
)
#: how people say that it is slow without a reason
_SLOW_WORDS = (
    r"\b(?:very|extremely|too|so|really|much|quite|significantly|incredibly|unusably|painfully|abnormally"
    r"|just|is|are|was) slow"
    r"|\bslow(?:er|ness)?\b.{0,20}\b(?:than|inference|generation|speeds?|response|decod\w+|prefill|prompt|token|first)"
    r"|\b(?:performs?|performance) (?:much |far |a lot )?(?:worse|poorly)\b|\bworse (?:than|compared)\b"
    r"|\bslow(?:s|ed|ing)? down\b|\b(?:inference|generation|decod\w+|prefill|prompt|speed|response|server|model)\b"
    r".{0,40}\bslow"
    r"|\b(?:low|lower|poor|bad|limited|drop\w*|degrad\w*|decreas\w*)\b.{0,24}\b(?:utili[sz]ation|through?put"
    r"|performance|speed)\b"
    r"|\b(?:utili[sz]ation|through?put|performance|speed|tps)\b.{0,60}\b(?:low|fluctuat\w*|drop\w*|down|degrad\w*"
    r"|poor|decreas\w*"
    r"|unexpected|not (?:scal|improv|increas)\w*)\b"
    r"|\bgpus?\b.{0,120}\b(?:only|just) \D{0,8}\d{1,2} ?%"
    r"|\bgpu (?:utili[sz]ation|usage|util)\b.{0,40}\b\d{1,2} ?%"
    r"|\b(?:instead of|expect\w*|should (?:be|get)|used to (?:be|get)|other engine).{0,40}\d"
)

RULES: tuple[Rule, ...] = (
    Rule(
        kind="slow_spec",
        weight=62,
        pattern=r"accept(?:ance)?[_ ]len(?:gth)?\W+(?P<accept>\d+\.\d+)",
        check="accept_none",
        cause="The accept length is {accept}: the draft's tokens are not accepted, and every step still pays for "
        "the draft.",
        fix="Check that draft, algorithm and quantisation belong to this target; without that, serve without "
        "speculation.",
        alternatives=("spec_draft_mismatch", "kernel_fault"),
    ),
    Rule(
        kind="slow_spec",
        weight=54,
        pattern=r"accept(?:ance)?[_ ]len(?:gth)?\W+(?P<accept>\d+\.\d+)",
        check="accept_low",
        sure=False,
        cause="The accept length is {accept}, little above 1: speculation costs more than it gives.",
        alternatives=("slow_cuda_graph_off", "slow_after_upgrade"),
    ),
    Rule(
        kind="slow_spec",
        weight=56,
        pattern=r"(?:draft acceptance(?: rate)?|acceptance rate|accept rate)\W+(?P<rate>0\.\d+)",
        check="rate_low",
        sure=False,
        cause="Only {rate} of the drafted tokens are accepted.",
    ),
    Rule(
        kind="slow_spec",
        weight=52,
        pattern=r"(?:with|without|no) (?:spec(?:ulati\w+)?|mtp|eagle\d?|draft|nextn|dflash|ngram)\b"
        r"|(?:spec(?:ulati\w+)?|mtp|eagle\d?|dflash|draft)\b.{0,60}(?:slower|overhead|net loss|"
        r"no (?:speed-?up|gain)|worse|regress|tok/s|tokens/s|tps|tpot)|(?:slower|tok/s|tokens/s|tps"
        r"|tpot)\b.{0,60}(?:spec(?:ulati\w+)?|mtp|eagle\d?|dflash|draft)\b",
        never=r"traceback \(most|error:",
        sure=False,
        cause="Speculation costs more than it gives for this load.",
        alternatives=("slow_other", "slow_after_upgrade"),
    ),
    Rule(
        kind="slow_spec",
        weight=50,
        pattern=r"accept(?:ance)?[_ ]len(?:gth)?\W+(?P<accept>\d+\.\d+)",
        also=r"throughput|tok/s|tokens/s|tps|latency",
        never=r"fired up|startup complete|traceback \(most|server_args=",
        sure=False,
        cause="Accept lengths and speeds are reported together; the speculation is what differs.",
        alternatives=("slow_other", "slow_after_upgrade"),
    ),
    Rule(
        kind="slow_comm",
        weight=64,
        pattern=r"p2p (?:is )?(?:disabled|off|not (?:available|supported))|nccl_p2p_disable=1|nccl_p2p_level"
        r"|custom[_ -]?all[_-]?reduce.{0,20}\b(?:off|disabled)|"
        r"setup custom all-?reduce failed|lacks gpu p2p|without p2p|(?:falling|fall(?:s)?) back to (?:nccl|shm)|"
        r"all[_-]?reduce.{0,60}(?:slow|ms\b|staged|(?:through|over|via|on) nccl)|pcie-only gpus|(?:topolog\w*|link"
        r"|pcie).{0,40}\b(?:phb|sys|node)\b|no nvlink",
        never=r"traceback \(most|peer access is not supported between",
        sure=False,
        cause="GPU-to-GPU traffic is staged through host memory or runs without the fast all-reduce.",
        alternatives=("hang_nccl_p2p", "slow_gpu_clocks"),
    ),
    Rule(
        kind="slow_comm",
        weight=50,
        pattern=r"\b(?:tensor[ _-]?parallel\w*|tp|multi(?:ple)?[ -]gpus?|(?:two|four|eight|\d) (?:gpus"
        r"|cards))\b.{0,140}\b(?:slower|not as good|worse"
        r"|no (?:\w+ )?(?:increase|improvement|speed-?up|gain)|(?:same|lower) (?:speed|through?put)|unchanged"
        r"|can ?not improve|n't scale)\b",
        never=r"traceback \(most|error:",
        sure=False,
        cause="More GPUs are no faster: what they say to one another costs more than they add.",
        fix="Compare with one GPU; look at the link (nvidia-smi topo -m), at P2P and at the custom all-reduce.",
        alternatives=("slow_other", "slow_after_upgrade"),
    ),
    Rule(
        kind="slow_comm",
        weight=48,
        pattern=r"never reached gen ?\d|below its own maximum|\(downgraded\)|pcie.{0,20}\b(?:x[148]|gen ?[12])\b"
        r"|link width|narrower than|lnksta|max_link|pcie\.link",
        never=r"traceback \(most",
        sure=False,
        cause="A GPU sits in a slot that is narrower than it could use.",
        alternatives=("slow_gpu_clocks",),
    ),
    Rule(
        kind="slow_cuda_graph_off",
        weight=57,
        pattern=r"decode batch.{0,200}cuda graph: false",
        sure=False,
        cause="Decode steps run without CUDA graphs (the batch is above the captured sizes, or graphs are off).",
        overrides="cuda_graphs_on",
        alternatives=("slow_spec",),
    ),
    Rule(
        kind="slow_cuda_graph_off",
        weight=52,
        pattern=r"(?:cuda ?graphs?|cudagraphs?).{0,60}(?:disabled|off\b|not (?:used|captured|replayed|hit)|skipp"
        r"|fall(?:s|ing)? back|eager|limit|max[_ -]?bs)|"
        r"(?:batch|bs)(?: size)?.{0,12}(?:limit|cap)\b|--disable-cuda-graph|enforce[-_]eager|(?:falls?"
        r"|falling) back to eager|eager mode",
        never=r"traceback \(most|assertionerror|valueerror|runtimeerror|enforce eager set, disabling"
        r"|possible solutions|out of memory",
        sure=False,
        cause="Decode runs (partly) without CUDA graphs.",
        overrides="cuda_graphs_on",
        alternatives=("slow_spec", "slow_other"),
    ),
    Rule(
        kind="slow_gpu_clocks",
        weight=60,
        pattern=r"(?:power.{0,12})?limit\W{1,3}(?P<limit>[\d.]+) ?w \(default\W(?P<default>[\d.]+) ?w",
        check="power_capped",
        cause="The power limit is {limit} W instead of the card's {default} W.",
        fix="Set the power limit back (nvidia-smi -pl) if cooling and supply allow it.",
        alternatives=("slow_comm",),
    ),
    Rule(
        kind="slow_gpu_clocks",
        weight=63,
        pattern=r"(?:clocks?|throttle)[_ ](?:event|throttle)?[_ ]?reasons?|thermal (?:slowdown|throttl)"
        r"|\bthrottl\w+|(?:sm|graphics|core)(?:/graphics)? clock|hw[_ ]slowdown|"
        r"power (?:cap|brak)|performance state\b.{0,20}\bp[2-8]\b|never (?:enters|reaches) p0"
        r"|\d{3,4} ?mhz\b.{0,60}\b(?:boost\w*|instead|only|against|expected)\b"
        r"|\b(?:boost\w*|only|stuck|stays?|sits?) (?:at|to) ~?\d{3,4} ?mhz"
        r"|\bp[3-8] +\d+w +/ +\d+w.*\b(?:[2-9]\d|100)%|\bpstate\b|\bclocks?\.(?:sm|gr|current)|(?:stuck"
        r"|locked) (?:at|in).{0,30}(?:mhz|p[2-8]|low[- ]power)",
        never=r"traceback \(most",
        sure=False,
        cause="The GPU does not run at its clocks: temperature, a power cap, or a low-power state.",
        fix="Look at nvidia-smi -q -d PERFORMANCE,CLOCK,POWER under load (the counters, not one instant); cool "
        "it, lift the cap, or power-cycle.",
    ),
    Rule(
        kind="slow_moe_config",
        weight=50,
        pattern=r"fused_moe/configs/\S+|using default (?:fused )?moe (?:kernel )?config"
        r"|moe (?:kernel )?config.{0,40}(?:not found"
        r"|missing|sub-optimal)|tuned moe|moe (?:kernel )?config",
        never=r"traceback \(most|fired up|startup complete|error:",
        sure=False,
        cause="There is no tuned MoE kernel config for this shape and GPU; often it changes little.",
        fix="Measure before blaming it: tune the kernel for this shape and compare; look at graphs, clocks and "
        "communication first.",
        alternatives=("slow_other",),
    ),
    Rule(
        kind="slow_after_upgrade",
        weight=58,
        pattern=r"(?:after|since) (?:the )?(?:upgrad|updat|version|v?\d+\.\d+)|regress(?:ion|ed)?\b|(?:slower"
        r"|drops?|dropped|down|decreas\w*|fell) .{0,50}(?:than|from|since|after"
        r"|vs\.?) .{0,20}v?\d+\.\d+\.\d+|"
        r"(?<![\d.])v?\d{1,2}\.\d+\.\d+(?![.\d])\S* .{0,80}(?:tok/s|tokens/s|tps|ms"
        r"|req/s)\b.{0,80}(?<![\d.])v?\d{1,2}\.\d+\.\d+(?![.\d])|same (?:flags"
        r"|command|config).{0,60}(?:slower|old|previous)",
        never=r"traceback \(most|error:",
        sure=False,
        cause="The same launch is slower since a version changed.",
        fix="Compare the two versions at equal load and equal flags in steady state; stay on the faster one and "
        "report it.",
        alternatives=("slow_spec", "slow_other"),
    ),
    Rule(
        kind="slow_after_upgrade",
        weight=53,
        pattern=_CHANGED,
        also=_SPEED_WORDS,
        never=r"traceback \(most|error:|fired up|startup complete|listening on|core dumped|segmentation fault",
        sure=False,
        cause="It is reported to have become slower with another version.",
        fix="Compare the two versions at equal load and equal flags; stay on the faster one and report it.",
        alternatives=("slow_other", "slow_spec"),
    ),
    Rule(
        kind="slow_spec",
        weight=45,
        pattern=r"\b(?:tok(?:en)?s?/s(?:ec)?|tokens per second|tps|tpot|throughput|speed)\b",
        argv=r"--spec(?:ulative)?-|--model-draft|-md ",
        never=r"traceback \(most|error:|startup complete|fired up|listening on|graph: false|throttl|p2p",
        sure=False,
        cause="The launch uses speculation and only speeds are given: speculation is the first thing to compare "
        "without.",
        alternatives=("slow_other", "slow_cuda_graph_off"),
    ),
    Rule(
        kind="slow_spec",
        weight=50,
        pattern=r"^\W*(?:n_accept|accept)\s*=\s*(?P<part>\d+(?:\.\d+)?%?)",
        also=r"n_drafted|draft",
        never=r"traceback \(most|error:",
        sure=False,
        cause="Drafted and accepted tokens are reported with the speed; speculation is what is being judged.",
        alternatives=("slow_other",),
    ),
    Rule(
        kind="slow_spec",
        weight=47,
        pattern=r"\bspeed-?ups?\b",
        also=r"spec(?:ulati\w+)?\b|\bmtp\b|eagle|draft|dflash|medusa|n-?gram",
        never=r"traceback \(most|error:|startup complete|fired up|listening on",
        sure=False,
        cause="Speculation gives less than it should for this load.",
        alternatives=("slow_other", "slow_cuda_graph_off"),
    ),
    Rule(
        kind="slow_other",
        weight=46,
        pattern=r"generation throughput: (?P<speed>[\d.]+) tokens/s, running: (?P<requests>\d+) reqs",
        check="crawling",
        sure=False,
        cause="{requests} request(s) and only {speed} tokens/s: far below what the GPU can do; host CPU or a "
        "shared GPU are suspects.",
        alternatives=("slow_gpu_clocks", "slow_cuda_graph_off"),
    ),
    Rule(
        kind="slow_other",
        weight=44,
        pattern=r"eval time\b.{0,90}?(?P<speed>\d+\.\d+) tokens per second",
        also=r"\b(?:slow\w*|expect\w*|instead of|used to|should)\b",
        check="few_tokens",
        sure=False,
        cause="Only {speed} tokens/s; layers on the CPU or a busy host are suspects.",
        alternatives=("slow_gpu_clocks", "slow_after_upgrade"),
    ),
    Rule(
        kind="slow_other",
        weight=42,
        pattern=_SPOKEN + rf"[^\n]*?(?:{_SLOW_WORDS})",
        also=_SPEED_WORDS,
        never=r"traceback \(most|error:|^\W*error\b|core dumped|segmentation fault"
        r"|\b(?:crash|hang|hung|stuck|oom)\w*\b",
        sure=False,
        alternatives=("slow_after_upgrade", "slow_spec"),
    ),
    Rule(
        kind="slow_other",
        weight=32,
        pattern=r"\b(?:tok/s|tokens/s|tokens per second|tps|tpot|ttft|itl)\b",
        never=r"traceback \(most|error|startup complete|fired up|listening on|decode batch|avg prompt throughput"
        r"|tokens per second\)",
        sure=False,
        alternatives=("slow_after_upgrade", "slow_spec"),
    ),
)
