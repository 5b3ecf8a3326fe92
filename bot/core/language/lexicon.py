"""The words of the grammar, as data. No name of a host, model or config is in here."""


def words(text: str) -> frozenset[str]:
    """Words between blanks."""
    return frozenset(text.split())


#: verb -> what it asks for when its object is a server
START_VERBS = words(
    "start launch run boot deploy serve load spawn host spin fire bring kick put stand get have turn "
    "switch power set wake "
    "roll resume revive activate initiate execute light crank begin resurrect restore prepare "
    "provision open warm restart2"
) - {"restart2"}
#: these start something only with a particle ("spin up", "get … running")
PARTICLE_START = words(
    "spin fire bring kick put stand get have turn switch power set wake roll light crank warm fetch boot pull"
)
STOP_VERBS = words(
    "stop kill terminate halt unload end quit close evict undeploy nuke free clear drain cut drop remove murder"
)
#: these stop something only with a particle ("take down", "turn off")
PARTICLE_STOP = words("take bring shut turn switch spin tear pull power put get knock")
RESTART_VERBS = words(
    "restart relaunch reload reboot bounce cycle recycle respawn redeploy rerun retry reset reinit "
    "restarting reinitialize"
) - {"restarting"}
#: from one config to another
SWITCH_VERBS = words("switch swap replace flip move migrate exchange go roll return revert rollback downgrade")
CHANGE_VERBS = words(
    "change set make use try increase decrease lower raise bump reduce add double halve triple enable expand shorten "
    "disable adjust tweak "
    "update modify give up drop limit cap keep allow shrink grow extend cut put turn switch apply repeat do"
)
PARTICLES_UP = words("up on back online running going live alive again")
PARTICLES_DOWN = words("down off offline")

READ_VERBS = words(
    "show give get list see print display view fetch pull dump tail check tell look inspect examine "
    "verify confirm find "
    "scan discover search rescan measure benchmark bench profile compare diff contrast describe "
    "explain report summarize "
    "cat grep open read follow stream watch monitor test ping probe monitor track know count"
)
BENCH_VERBS = words("measure benchmark bench profile perf speedtest loadtest stress clock")
SCAN_VERBS = words("scan discover search rescan find crawl import detect rediscover")
COMPARE_VERBS = words("compare diff contrast difference")
SAVE_VERBS = words(
    "save call name tag alias pin remember store bookmark label mark rename keep note record nickname "
    "archive unarchive untag unpin unalias retire"
)
SCHEDULE_VERBS = words(
    "post send report ping schedule notify message publish remind give show update tell drop do run check"
)
END_VERBS = (
    STOP_VERBS
    | words("cancel disable delete turn mute silence unschedule pause shut switch unsubscribe quit")
    | {"take", "forget", "skip", "remove", "drop", "end"}
)
CANCEL_VERBS = words("cancel abort nvm nevermind scrap scratch undo")

#: past forms: a report, not a request
PAST_FORMS = words(
    "started launched ran booted deployed served loaded spawned hosted spun fired brought kicked "
    "turned switched set2 "
    "restarted relaunched reloaded rebooted bounced cycled recycled respawned redeployed reran "
    "retried stopped killed "
    "terminated halted unloaded ended quit2 closed evicted took taken tore torn pulled shut2 stood "
    "woke resumed revived "
    "activated swapped replaced moved migrated changed bumped lowered raised used tried made gave "
    "went got saw crashed "
    "died failed happened touched broke broken updated upgraded rolled reset2 freed cleared drained "
    "removed dropped had"
) - words("set2 quit2 shut2 reset2")
GERUNDS = words(
    "starting launching running booting deploying serving loading spawning hosting spinning firing "
    "bringing restarting "
    "relaunching reloading rebooting bouncing stopping killing terminating halting unloading taking "
    "tearing pulling "
    "shutting turning switching swapping replacing moving changing setting making using trying "
    "putting getting posting "
    "sending pinging reporting redeploying cycling"
)
GERUND_OF = {
    "running": "run",
    "getting": "get",
    "putting": "put",
    "setting": "set",
    "stopping": "stop",
    "spinning": "spin",
    "shutting": "shut",
    "swapping": "swap",
    "starting": "start",
    "launching": "launch",
    "booting": "boot",
    "deploying": "deploy",
    "serving": "serve",
    "loading": "load",
    "spawning": "spawn",
    "hosting": "host",
    "firing": "fire",
    "bringing": "bring",
    "restarting": "restart",
    "relaunching": "relaunch",
    "reloading": "reload",
    "rebooting": "reboot",
    "bouncing": "bounce",
    "killing": "kill",
    "terminating": "terminate",
    "halting": "halt",
    "unloading": "unload",
    "taking": "take",
    "tearing": "tear",
    "pulling": "pull",
    "turning": "turn",
    "switching": "switch",
    "replacing": "replace",
    "moving": "move",
    "changing": "change",
    "making": "make",
    "using": "use",
    "trying": "try",
    "posting": "post",
    "sending": "send",
    "pinging": "ping",
    "reporting": "report",
    "redeploying": "redeploy",
    "cycling": "cycle",
    "checking": "check",
    "measuring": "measure",
    "showing": "show",
    "benchmarking": "benchmark",
    "scanning": "scan",
    "comparing": "compare",
    "giving": "give",
    "telling": "tell",
}
PARTICIPLE_STOP = words("stopped killed terminated down off unloaded gone halted")
PARTICIPLE_START = words("started up running launched deployed live online loaded served back going ready hosted")
PARTICIPLE_RESTART = words("restarted relaunched reloaded rebooted bounced")

FINITE = words(
    "is are was were am has had does did will would can could should may might must seems seem looks "
    "feels hangs hang "
    "keeps crashed died failed works worked needs went takes says said told came became gets got "
    "goes sounds appears "
    "stopped started finished wants ought runs broke stays sucks crashes shows means happens "
    "happened eats uses used "
    "makes made serves responds answers wins helped helps did does"
)
PLURAL_VERBS = words("look seem feel hang keep fail crash mean sound need want think die time")
COPULA = words("is are was were am be been being seems looks feels has had")
SUBJECTS = words(
    "i we it they he she you there someone somebody anyone everybody everyone nobody this that these those"
)

#: words before the request proper
OPENERS = words(
    "hi hey hello yo ok okay k kk so well alright right great yes yep yeah yup sure cool now then "
    "and also next first but "
    "please kindly just quickly again folks team guys bot asap urgent urgently btw oh ah um uh hm "
    "hmm sorry dear damn wtf ffs "
    "argh perfect nice awesome good morning afternoon evening thanks thank fyi ugh omg jesus christ "
    "god fine roger hola "
    "servus moin hallo bonjour greetings mate bro dude man everyone all lol haha ty cheers friend "
    "friends buddy pal sir "
    "madam gentlemen ladies ping quick actually anyway immediately finally dammit goddamn bloody fucking freaking "
    "fuck shit bitte danke merci gracias por favor"
)
SOCIAL = OPENERS | words(
    "lgtm thx cheers tnx tysm welcome np problem nice work job well done great amazing wow brilliant "
    "excellent lovely "
    "beautiful sweet yay congrats congratulations bye later ciao you very much a lot for your help "
    "that this is it was "
    "good fast works indeed agreed same here got see understood noted ack love legend star rock "
    "super awesome cool so much "
    "appreciated appreciate day night weekend one all rocks bot relaunch"
)
POLITE = words("please pls plz kindly just quickly possibly also now again then simply quick directly")

#: grammar words that never name anything by themselves
FILLERS = words(
    "the a an our my your their his her its that this these those which who whom whose of for to "
    "from in on at with and or "
    "but so as by into onto over under up down off out back again also too only just please kindly "
    "now then asap quickly "
    "both each every all any some no not without instead same like version variant one ones config "
    "configs configuration "
    "configurations setup setups recipe recipes profile profiles server servers service instance "
    "instances process model "
    "models engine box boxes machine machines host hosts node nodes rig gpu gpus it them him there "
    "here we i you they me us "
    "he she is are was were be been being am do does did have has had having will would can could "
    "should may might must "
    "shall what when where why how if else than last latest before previous prior earlier old new fresh current "
    "currently running deployed deploy deployment had used ran using use thing stuff guy team folks "
    "day today yesterday "
    "tonight tomorrow morning afternoon evening night week month monday tuesday wednesday thursday "
    "friday saturday sunday "
    "hour hours minute minutes second seconds min mins sec secs please thanks thank cheers want need "
    "like via per about "
    "around between against vs versus more less most least very really still already yet even ever "
    "never always maybe "
    "perhaps though while until since because due once after during upon across anything something "
    "everything nothing "
    "nobody anybody somebody someone anyone everyone let go get got good well ok okay yes hey hi "
    "hello bot it's whole entire "
    "default usual normal regular standard original exact exactly identical settings setting options "
    "option arguments args "
    "flags flag parameters params command set size mode enabled disabled full complete right way "
    "time times bit much many "
    "few other another different next first second third whatever wherever somewhere available free "
    "idle lot lots big "
    "tokens token steps step draft drafts context ctx port number speed tok tps rate decode decoding speculative "
    "speculation spec parallel tensor data memory mem fraction max min length len window requests "
    "request concurrent "
    "concurrency clients users streams stream single backend attention cache kv dtype precision "
    "quantization graphs graph "
    "cuda env environment variable variables name named called baseline launch launches launched "
    "started start stop "
    "stopped restart restarted run status health logs log lines line history scan bench benchmark "
    "compare show save "
    "schedule help cancel list check test details info information output fast faster fastest slow slower slowest "
    "quick working worked proven reliable stable safe little small smallest tiny mini large largest "
    "bigger smaller huge "
    "freshly soon possible able sure going went gone come comes take takes make makes made give "
    "gives keep keeps put puts "
    "look looks see saw say says said tell told think know knows knew work works job jobs eval evals demo training "
    "experiment experiments test tests testing customer customers users agents agent hi thx pls plz "
    "exactly together "
    "separately onwards online offline live public internal currently presently whichever same-ish "
    "identical nice lovely "
    "beloved favorite favourite dear poor damn bloody fucking freaking stupid goddamn crappy ol holy "
    "space sessions session prompts prompt replies answers "
    "rid wanting needing looking meant today's yesterday's reason reasons purpose purposes"
)

#: frequent English words that are never corrected to a name or a verb (besides everything above)
COMMON = words(
    "able about above accept across act add afraid age ago agree air almost alone along already "
    "although among amount angry "
    "animal answer appear apply area arm around arrive art ask away baby bad bag ball bank base "
    "basic bear beat beautiful "
    "become bed begin behind believe below best better beyond bill bird bit black blood blue board "
    "boat body book born boss "
    "bottle bottom box boy break breakfast bright broad brother brown build burn business busy buy "
    "calm came camp car card "
    "care carry case cat catch cause cent center certain chair chance character cheap child choose "
    "city class clean clear "
    "climb clock cloud coat coffee cold color common company cook cool copy corn corner cost count "
    "country couple course "
    "cover cross crowd cry cup curious cut dance danger dark date daughter dead deal death decide "
    "deep depend desk die "
    "difficult dinner direct dirt doctor dog door double doubt draw dream dress drink drive dry dust "
    "ear early earth ease "
    "east eat edge egg eight either electric eleven empty energy enjoy enough enter equal especially "
    "evening event exact "
    "example excite exercise expect experience eye face fact fail fall family famous far farm fat "
    "father fear feed feel feet "
    "field fight figure fill find fine finger finish fire fish five flat floor flow flower fly "
    "follow food foot force forest "
    "forget form forward found four friend front fruit fun funny game garden gas gather gentle girl "
    "glad glass gold gone "
    "grand grass gray green grew ground group grow guess gun hair half hand happen happy hard hat "
    "hate head hear heard heart "
    "heat heavy held hello hers high hill hit hold hole home hope horse hospital hot hotel house "
    "huge human hundred hungry "
    "hurry ice idea important inch increase indeed inside interest iron island issue item join joke "
    "judge jump keep kept key "
    "kid kidding kind king kitchen knew lady lake land language late laugh law lay lead learn "
    "learning leave led left leg "
    "lesson letter level lie life lift light list listen local lonely long lose lost love low luck "
    "lunch machine mail main "
    "manager map march mark market marry matter mean measure meat meet meeting member men metal "
    "middle mile milk million mind "
    "miss mistake moment money monkey moon mother mountain mouth move music nail narrow nation "
    "nature near neck needle neither "
    "news nine noise none noon north nose note notice object ocean odd offer office often oil old "
    "onto open opposite orange "
    "order others ought outside own page pain paint pair paper parent park part party pass past pay "
    "peace pen people person "
    "pick picture piece place plan plane plant plate play please point police pool poor post pound "
    "power practice prepare "
    "present president press pretty price print prison private prize problem produce promise proper "
    "protect prove pull push "
    "question quiet quite race radio rain raise reach read ready real reason receive red refuse "
    "remember repeat reply report "
    "rest result rice rich ride ring rise river road rock roll room rose rough round rule safe sail "
    "salt sand sat save school "
    "science sea season seat seem sell send sense sent sentence separate serious serve seven shade "
    "shake shall shape share "
    "sharp she ship shirt shoe shop shore short shot shoulder shout side sight sign silent silver "
    "similar simple sing sister "
    "sit six skin sky sleep smell smile smoke snow social soft sold soldier solve song sorry sort "
    "soul sound south space speak "
    "special spend spoke spot spread spring square staff stage stair stand star state station stay "
    "steal steam steel stick "
    "stone stood store storm story strange street strong student study subject sudden suffer sugar "
    "suit summer sun support "
    "suppose sure surface surprise sweet swim system table tail talk tall taste tax tea teach tear "
    "ten term than thank their "
    "them thick thin third thirty thousand three throw tie till tired tomorrow tongue tool top total "
    "touch toward town trade "
    "train travel tree trip trouble truck true trust truth try twelve twenty two type uncle "
    "understand union unit usual valley "
    "value various view village visit voice wait walk wall war warm wash waste watch water wave "
    "weather wedding weight west "
    "wet wheel white wife wild wind window winter wish woman wonder wood word world worry worse "
    "worst worth write wrong yard "
    "year yellow young zero paris london berlin kiss party release merge branch commit deploy push "
    "review ticket sprint "
    "standup retro bug fix fixed patch error errors issue issues crash crashed crashes broken weird "
    "odd strange bad worse "
    "hang hangs hung stuck slow slows dead sick ill healthy alive eval evals overnight weekend "
    "holiday vacation budget"
)

BOX_NOUNS = words(
    "box boxes machine machines host hosts node nodes server servers rig workstation system systems gpu gpus card cards"
)
CONFIG_NOUNS = words(
    "config configs configuration configurations setup setups recipe recipes preset presets profile "
    "profiles variant variants version versions catalog catalogue"
)
HEALTH_WORDS = words("health healthy healthcheck healthchecks")
REPORT_NOUNS = words(
    "health report reports post posts update updates ping pings message messages notification "
    "notifications alert alerts "
    "status schedule schedules check checks healthcheck healthchecks spam digest summary summaries "
    "reminder reminders "
    "posting pinging reporting"
)
LOG_WORDS = words("log logs journal stderr stdout traceback stacktrace logfile output journalctl")
HISTORY_WORDS = words("history launches runs timeline audit")
RECURRENCE = words("every each hourly daily weekly weekdays nightly")

#: words that, inside an action, say it is not meant for now or not sure
HYPOTHETICAL = words(
    "could might maybe perhaps should would shall supposing suppose imagine hypothetically "
    "theoretically probably wonder wondering"
)
JOKE = words("kidding jk joking jking jks sarcasm sarcastic")

NUMBER_WORDS = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "sixteen": 16,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "hundred": 100,
    "single": 1,
    "half": 0,
}

DAYS = {
    "sunday": 0,
    "monday": 1,
    "tuesday": 2,
    "wednesday": 3,
    "thursday": 4,
    "friday": 5,
    "saturday": 6,
    "sundays": 0,
    "mondays": 1,
    "tuesdays": 2,
    "wednesdays": 3,
    "thursdays": 4,
    "fridays": 5,
    "saturdays": 6,
    "sun": 0,
    "mon": 1,
    "tue": 2,
    "tues": 2,
    "wed": 3,
    "thu": 4,
    "thurs": 4,
    "thur": 4,
    "fri": 5,
    "sat": 6,
}

CONTRACTIONS = {
    "don't": "do not",
    "dont": "do not",
    "doesn't": "does not",
    "doesnt": "does not",
    "didn't": "did not",
    "didnt": "did not",
    "can't": "can not",
    "cant": "can not",
    "cannot": "can not",
    "couldn't": "could not",
    "shouldn't": "should not",
    "shouldnt": "should not",
    "wouldn't": "would not",
    "won't": "will not",
    "wont": "will not",
    "isn't": "is not",
    "isnt": "is not",
    "aren't": "are not",
    "wasn't": "was not",
    "weren't": "were not",
    "hasn't": "has not",
    "haven't": "have not",
    "mustn't": "must not",
    "needn't": "need not",
    "i'd": "i would",
    "we'd": "we would",
    "you'd": "you would",
    "i'll": "i will",
    "we'll": "we will",
    "you'll": "you will",
    "they'll": "they will",
    "it'll": "it will",
    "he'll": "he will",
    "she'll": "she will",
    "i'm": "i am",
    "im": "i am",
    "we're": "we are",
    "you're": "you are",
    "they're": "they are",
    "i've": "i have",
    "ive": "i have",
    "we've": "we have",
    "you've": "you have",
    "it's": "it is",
    "he's": "he is",
    "she's": "she is",
    "that's": "that is",
    "thats": "that is",
    "there's": "there is",
    "theres": "there is",
    "here's": "here is",
    "what's": "what is",
    "whats": "what is",
    "who's": "who is",
    "whos": "who is",
    "where's": "where is",
    "wheres": "where is",
    "when's": "when is",
    "how's": "how is",
    "hows": "how is",
    "why's": "why is",
    "let's": "let us",
    "lets": "let us",
    "lemme": "let me",
    "gimme": "give me",
    "gonna": "going to",
    "wanna": "want to",
    "gotta": "got to",
    "u": "you",
    "ya": "you",
    "yall": "you",
    "y'all": "you",
    "r": "are",
    "ur": "your",
    "pls": "please",
    "plz": "please",
    "plss": "please",
    "pleas": "please",
    "plese": "please",
    "pleease": "please",
    "thx": "thanks",
    "tnx": "thanks",
    "tks": "thanks",
    "w/": "with",
    "w/o": "without",
    "wo": "without",
    "cuz": "because",
    "coz": "because",
    "cos": "because",
    "bc": "because",
    "b/c": "because",
    "becuase": "because",
    "cld": "could",
    "wld": "would",
    "shld": "should",
    "abt": "about",
    "tmrw": "tomorrow",
    "tmr": "tomorrow",
    "tmw": "tomorrow",
    "tomorow": "tomorrow",
    "tommorow": "tomorrow",
    "tommorrow": "tomorrow",
    "nvm": "nevermind",
    "shutdown": "shut down",
    "startup": "start up",
    "takedown": "take down",
    "conf": "config",
    "cfg": "config",
    "cfgs": "configs",
    "confs": "configs",
    "srv": "server",
    "stats": "status",
    "stat": "status",
    "hist": "history",
    "benchmarks": "benchmark",
    "q": "question",
    "aint": "is not",
    "ain't": "is not",
    "whatre": "what are",
    "what're": "what are",
    "howre": "how are",
    "alr": "already",
    "rn": "now",
    "imma": "i will",
    "ima": "i will",
    "pleez": "please",
    "some1": "someone",
    "any1": "anyone",
    "every1": "everyone",
    "vs.": "vs",
    "compre": "compare",
    "shant": "shall not",
}

#: inspect topics: topic -> phrases
TOPICS: dict[str, tuple[str, ...]] = {
    "cuda_graphs": ("cuda graphs", "cuda graph", "cudagraph", "cudagraphs", "graph capture", "graphs captured"),
    "nccl": ("nccl",),
    "attention_backend": (
        "attention backend",
        "attention backends",
        "attn backend",
        "attention kernel",
        "attention kernels",
        "flashinfer",
        "flash attention",
        "flashattention",
        "fa3",
        "attention implementation",
        "attention",
    ),
    "kv_cache_dtype": ("kv cache dtype", "kv dtype", "kv cache precision", "kv cache quantization"),
    "kv_cache": ("kv cache", "kv pool", "kvcache", "kv-cache", "cache usage"),
    "prefix_cache": ("prefix cache", "prefix caching", "radix cache", "radix attention"),
    "chunked_prefill": ("chunked prefill", "prefill chunk", "prefill size"),
    "speculative": (
        "speculation",
        "speculative decoding",
        "speculative",
        "spec decoding",
        "spec decode",
        "draft model",
        "draft tokens",
        "accept length",
        "accept len",
        "acceptance length",
        "acceptance rate",
        "accept rate",
        "acceptance",
    ),
    "accept_length": (
        "accept length",
        "accept len",
        "acceptance length",
        "acceptance rate",
        "accept rate",
        "acceptance",
    ),
    "context_length": ("context length", "context size", "context window", "max context", "max model len", "ctx"),
    "tensor_parallel": ("tensor parallel", "tensor parallelism", "tp size", "tp"),
    "data_parallel": ("data parallel", "dp size"),
    "memory": ("gpu memory", "memory fraction", "vram", "mem fraction", "memory"),
    "memory_fraction": ("memory fraction", "mem fraction", "gpu memory utilization"),
    "environment": ("environment variables", "environment", "env vars", "env variables", "env"),
    "arguments": ("arguments", "args", "command line", "cmdline", "flags", "launch flags", "parameters"),
    "version": (
        "engine version",
        "sglang version",
        "vllm version",
        "which version",
        "what version",
        "version",
        "commit",
    ),
    "quantization": ("quantization", "quantisation", "quantized", "quant"),
    "dtype": ("dtype", "precision", "data type"),
    "port": ("port",),
    "p2p": ("p2p", "peer to peer", "custom all reduce", "custom allreduce", "all reduce", "allreduce"),
    "nvlink": ("nvlink", "pcie", "topology"),
    "torch_compile": ("torch compile", "torch.compile", "compilation", "inductor"),
    "overlap_schedule": ("overlap schedule", "overlap scheduling", "overlap scheduler"),
    "max_running_requests": ("max running requests", "max requests", "batch size", "max num seqs"),
    "driver": ("driver", "cuda version", "nvidia driver"),
    "served_name": ("served name", "served model name", "model name"),
    "eager": ("enforce eager", "eager mode", "eager"),
    "moe": ("moe backend", "moe runner", "expert parallel", "expert parallelism"),
    "metrics": ("metrics",),
}
#: topics whose words are also common in other requests: they count only in a question, or after "inspect"
WEAK_TOPICS = frozenset({"memory", "port", "version", "arguments", "environment", "metrics", "context_length", "dtype"})

ATTENTION_BACKENDS = words(
    "flashinfer fa3 fa4 triton torch_native flashmla cutlass_mla trtllm_mla trtllm_mha flash_attn "
    "xformers aiter wave "
    "intel_amx dual_chunk_flash_attn flex_attention flash_attn_mla ascend"
)
DTYPES = {
    "bf16": "bfloat16",
    "bfloat16": "bfloat16",
    "fp16": "float16",
    "float16": "float16",
    "half": "half",
    "fp32": "float32",
    "float32": "float32",
}
KV_DTYPES = words("fp8 fp8_e4m3 fp8_e5m2 fp8_inc bf16 bfloat16 fp16 auto q8_0 q4_0 int8 f16 fp4_e2m1 nvfp4")
QUANTIZATIONS = words(
    "awq awq_marlin gptq gptq_marlin fp8 w8a8_int8 w8a8_fp8 bitsandbytes marlin compressed-tensors "
    "modelopt modelopt_fp4 "
    "nvfp4 mxfp4 int8 int4 gguf fp4 bnb"
)
