"""Command-line flags, speculative decoding, context, feature combinations, parallel sizes."""

from bot.core.diagnosis.rule import Rule

DRAFT_FRAMES = (
    r"eagle|draft_?worker|draft_?model|draftmodel|spec_decode|speculat|nextn|\bmtp\b|_mtp\b|medusa|dflash"
    r"|standalone_worker|"
    r"ngram_worker|init_draft|drafter|dspark|proposer"
)
SPEC_ARGV = r"--spec(?:ulative)?-|-md |--model-draft|--draft"
_SPEC_WORDS = (
    r"speculative_num_steps|speculative_eagle_topk|speculative_num_draft_tokens|num_speculative_tokens|speculative-num|"
    r"speculative-eagle|speculative_config|speculative config|speculative_token_map|num_draft_tokens"
    r"|speculative-draft-model-path|"
    r"speculative_draft_model_path|speculative algorithm|speculative_algorithm|speculative-algorithm"
)
#: features that speculation can clash with; its own numbers are no feature
_OTHER_FEATURES = (
    r"pipeline[- _]parallel\w*|\bpp\b|\blora\b|chunked[- _]prefill|prefix[- _]cach\w+|radix|overlap|dp[- _]attention"
    r"|data[- _]parallel\w*"
    r"|multi-?modal|mmproj|sequence[- _]parallel\w*|cuda ?graph|structured|guided|logprobs?|penalt\w+|hierarchical"
    r"|hicache|kv[- _](?:transfer"
    r"|connector)|disaggregat\w+|expert[- _]parallel\w*|context[- _]parallel\w*|async\w*|min_p|logits? process\w+"
    r"|mamba|torch_native"
    r"|attention ?backend|page[- _]size|beam search|prompt[- _]embed\w*|sharded_state|enforce[-_]eager"
    r"|torch[- ]compile|multi-step"
)
_SPECULATION = r"speculative|spec[- _]?dec\w*|\bmtp\b|\beagle\d?\b|\bnextn\b|draft (?:model|worker)|n-?gram|dflash"
r"|num_speculative_tokens"
_DENIED = (
    r"not (?:yet |currently |fully )?(?:supported?|compatible|implemented|work\w*|allowed)|incompatible|(?:does"
    r"|do)(?: not|n't) (?:yet )?(?:support|work)"
    r"|cannot|can't|can ?not|must|requires?d?|please (?:adjust|disable|set|remove)|unsupported|only support\w*"
    r"|mutually exclusive|conflict"
)

RULES: tuple[Rule, ...] = (
    # --- flags as such
    Rule(
        kind="flag_bad_or_changed",
        weight=96,
        pattern=r"error: unrecognized arguments: (?P<flag>.+)",
        cause="This version does not know {flag}: misspelt, renamed, removed, or a flag of another engine.",
        fix="Take the right spelling from the installed engine's --help (hyphens, not underscores) or leave it out.",
    ),
    Rule(
        kind="flag_bad_or_changed",
        weight=96,
        pattern=r"(?<![a-z])(?<!cuda )(?<!nccl )error: (?:argument (?P<flag>\S+?): (?:invalid|expected|not allowed"
        r"|ignored)|ambiguous option|"
        r"the following arguments are required|one of the arguments|invalid (?:argument|parameter)"
        r"|unknown (?:argument|option)|"
        r"no such option|unexpected argument|unrecognized (?:option|argument)|too few arguments|config file"
        r"|no such command)",
        cause="The argument parser refused the command line; nothing was loaded.",
    ),
    Rule(
        kind="flag_bad_or_changed",
        weight=96,
        pattern=r"error while handling (?:argument|environment variable) \"?(?P<flag>[^\": ]+)\"?: (?P<why>.+)",
        cause="llama.cpp refused {flag}: {why}.",
        fix="Give the flag the value that --help of this build asks for; a flag that used to be a switch may "
        "need one now.",
    ),
    Rule(
        kind="flag_bad_or_changed",
        weight=90,
        pattern=r"the argument has been removed|unkn?own value for --|invalid choice: |expected (?:one"
        r"|at least one) argument|"
        r"unrecognized arguments|no such option: -|unexpected argument '-|unknown (?:flag|option|argument):? '?-|"
        r"flag provided but not defined|found argument '-|unknown command",
    ),
    Rule(
        kind="flag_bad_or_changed",
        weight=84,
        pattern=r"(?:serverargs|engineargs|asyncengineargs|portargs|\w+config|llm"
        r"|from_engine_args)\S*\.?(?:__init__)?\(\)? ?got an "
        r"unexpected keyword argument '(?P<flag>\w+)'|unexpected keyword argument \[type=unexpected_keyword|"
        r"unexpected_keyword_argument|extra inputs are not permitted",
        cause="An option reached the engine under a name that this version does not have.",
    ),
    Rule(
        kind="flag_bad_or_changed",
        weight=78,
        pattern=r"(?:invalid|unknown|unsupported) (?:value|attention backend|tool[- ]call parser"
        r"|reasoning parser|load format|moe backend|"
        r"kv[ -]cache dtype|sampling backend|grammar backend|backend)\b.{0,60}|(?:tool"
        r"|reasoning) parser:? .*(?:not found|not registered|invalid|"
        r"has not been registered|chose from)|cannot be converted to <function|is not a valid \w+ ?(?:type|mode"
        r"|backend|policy)\b|"
        r"option '\S+' (?:is|was) (?:removed|renamed)|has been (?:removed|renamed)[,.:; ].*use"
        r"|no longer (?:supported|accepted).*--\w|"
        r"--\S+ (?:is|was|has been) (?:removed|no longer)",
        alternatives=("feature_conflict",),
        sure=False,
    ),
    # --- context
    Rule(
        kind="context_length",
        weight=95,
        pattern=r"user-specified (?:context_length|max_model_len) \((?P<asked>\d+)\) is greater than the derived "
        r"(?:context_length|max_model_len) \((?:[a-z_]+=)?(?P<derived>\d+)",
        never=r"speculative draft model's|draft model's context",
        cause="A context of {asked} tokens was asked for; the model's config.json gives {derived}.",
        fix="Use {derived}, or a configuration that declares more (rope scaling as the model card says). "
        "Silencing the check "
        "can give wrong output or CUDA errors.",
        overrides="context_derived",
    ),
    Rule(
        kind="context_length",
        weight=84,
        pattern=r"(?:context[_ ]length|max_model_len|max[_ ]seq[_ ]len|sequence length"
        r"|max_position_embeddings)\W.{0,80}"
        r"(?:greater|larger|longer|exceeds?|higher|above|more) (?:than )?(?:the )?.{0,60}(?:max_position|derived"
        r"|model|maximum|supported|config|"
        r"max_total_num_tokens)",
        not_near=r"kv cache memory|sliding window",
        cause="The context length asked for is above what the model or the KV pool allows.",
    ),
    Rule(
        kind="context_length",
        weight=66,
        pattern=r"maximum context length is (?P<derived>\d+) tokens"
        r"|longer than the model's context length \((?P<longest>\d+)|"
        r"exceeds the available context size \((?P<size>\d+)|input length \(?\d+\)? (?:tokens )?exceeds|"
        r"requested token count exceeds the model's maximum context length|prompt is too long"
        r"|exceed_context_size_error",
        sure=False,
        cause="A request was longer than the context that this server was started with; the server itself is well.",
        fix="Start with a longer context if memory and model allow it, or shorten the request.",
    ),
    Rule(
        kind="context_length",
        weight=36,
        pattern=r"n_ctx(?:_seq|_per_seq)? \((?P<asked>\d+)\) > n_ctx_train \((?P<derived>\d+)\)",
        sure=False,
        cause="The context ({asked}) is longer than the model was trained for ({derived}).",
        overrides="context_derived",
    ),
    # --- speculative decoding
    Rule(
        kind="spec_config",
        weight=96,
        pattern=r"(?:^|\] |\) )(?:\S* )?(?:assertionerror|typeerror|valueerror)\b",
        near=r"_handle_speculative|handle_spec_|check_spec|speculative_eagle_topk|speculative_num_steps"
        r"|speculative_num_draft_tokens|"
        r"__post_init__.*speculat|speculativeconfig|in _verify_and_get_draft",
        cause="The speculative flags do not go together: steps, topk and draft tokens must all be given, or "
        "none of them.",
        fix="Give all three (with topk 1 the draft tokens are steps + 1) or none of them.",
        overrides="speculative_triple",
    ),
    Rule(
        kind="spec_config",
        weight=92,
        pattern=rf"(?:error|assert|invalid|must|require|support|cannot|should|provide|greater|less|divisible"
        rf"|equal).*(?:{_SPEC_WORDS})|"
        rf"(?:{_SPEC_WORDS}).*(?:error|invalid|must|require|not support|unsupported|cannot|should|greater"
        rf"|less than|divisible|missing|is not "
        r"allowed|only support|not found|unless)",
        never=r"unrecognized arguments",
        not_line=r"adjusted to speculative_num_steps|is reset to|deprecat",
        cause="The speculative settings contradict each other or what the draft model declares.",
        overrides="speculative_triple",
        alternatives=("spec_draft_mismatch", "feature_conflict"),
    ),
    Rule(
        kind="spec_config",
        weight=90,
        pattern=r"\bn_predict\b(?!\s*=)|topk\w* ?(?:>|greater than) ?1 (?:is )?(?:not|only)"
        r"|only supports? (?:eagle_?)?topk ?={1,2} ?1|"
        r"unknown speculative (?:type|method|algorithm)|unsupported speculative (?:method|algorithm|type)|"
        r"context type mtp requested but|doesn't contain mtp layers|does not contain (?:any )?mtp|no (?:mtp"
        r"|nextn) (?:layers?|weights|module)|"
        r"failed to create mtp context|speculative decoding (?:requires|needs|with|method|is only|must)|"
        r"requires? (?:a |the )?(?:--)?(?:speculative-)?draft[- ]model|draft (?:model )?(?:path )?(?:must"
        r"|is required|should) |"
        r"draft_tensor_parallel_size|draft model's? (?:tensor|context|max_model_len)|speculative draft model's",
        never=r"unrecognized arguments",
        cause="The speculative settings do not fit the model or each other.",
        alternatives=("spec_draft_mismatch",),
    ),
    Rule(
        kind="spec_config",
        weight=88,
        pattern=r"arange's range must be a power of 2|sizes of tensors must match except in dimension"
        r"|expected size \d+ but got size \d+ for tensor",
        near=DRAFT_FRAMES,
        cause="The number of draft tokens (steps, topk) does not fit the shapes that this version's draft path "
        "is built for.",
        fix="Use topk 1 with draft tokens = steps + 1 (and a power of two where a kernel asks for it), or the "
        "non-overlap worker.",
        overrides="speculative_triple",
        alternatives=("spec_draft_mismatch",),
    ),
    Rule(
        kind="spec_config",
        weight=90,
        pattern=r"keyerror: |filenotfounderror|not found in",
        near=r"draft_?worker|eagle_worker|init_draft",
        argv=r"--load-format",
        cause="The draft worker inherits the load format of the main model, and its files hold no draft weights.",
        fix="Give the draft its own load format or path, or load the main model in the ordinary format.",
        alternatives=("spec_draft_mismatch", "feature_conflict"),
    ),
    Rule(
        kind="spec_config",
        weight=87,
        pattern=r"attributeerror: '\w+' object has no attribute '(?:set_embed\w*|hot_token_id|get_embed\w*"
        r"|set_eagle\w*|capture_aux\w*"
        r"|load_lm_head\w*)'",
        argv=r"--speculative-algo\w* (?:eagle|standalone|dflash)",
        not_argv=r"--speculative-draft",
        sure=False,
        cause="No draft model is named, so the target itself is taken as the draft, and it is none.",
        fix="Name the draft (--speculative-draft-model-path), or use an algorithm that needs none.",
        alternatives=("spec_draft_mismatch", "feature_conflict"),
    ),
    Rule(
        kind="spec_draft_mismatch",
        weight=85,
        pattern=r"size mismatch for \S+: copying a param|error\(s\) in loading state_dict",
        argv=r"--speculative-draft|--model-draft|-md |--speculative-(?:config|model)",
        sure=False,
        cause="A checkpoint's tensors have other shapes than the model built for it, most likely the draft's.",
        alternatives=("model_config", "model_files_corrupt"),
    ),
    Rule(
        kind="spec_draft_mismatch",
        weight=86,
        pattern=r"keyerror: ['\"]?[\w.]*(?:layers|model|embed_tokens|lm_head|fc|midlayer|d2t|t2d|qkv_proj|norm"
        r"|mtp)[\w.]*['\"]?$",
        near=DRAFT_FRAMES,
        not_argv=r"--load-format",
        sure=False,
        cause="The draft checkpoint's tensors are not those that its class expects: it is another kind of draft, "
        "or not for this target.",
    ),
    Rule(
        kind="spec_draft_mismatch",
        weight=80,
        pattern=r"keyerror: ['\"]?[\w.]*(?:weight|bias|layers\.\d+)[\w.]*['\"]?$",
        argv=SPEC_ARGV,
        not_argv=r"--load-format",
        cause="A weight of the (draft) checkpoint has no place in the model class: the draft is not for this "
        "target or version.",
        sure=False,
        alternatives=("model_config", "model_files_missing"),
    ),
    Rule(
        kind="spec_draft_mismatch",
        weight=93,
        pattern=r"hidden_states\.shape\[-1\] == input_embeds\.shape|set_eagle3?_layers_to_capture"
        r"|get_eagle3?_aux_hidden|set_embed_and_head|"
        r"get_embed_and_head|does not support eagle3?|eagle3? is only supported|not support eagle3? interface"
        r"|set_dflash|"
        r"aux_hidden_state_outputs|\bd2t\b|"
        r"(?:draft|drafter)\b.{0,80}(?:vocab|hidden[_ ]size|tokenizer).{0,60}(?:match|differ|mismatch|same|compatib)|"
        r"(?:vocab|hidden[_ ]size|tokenizer).{0,80}(?:match|differ|mismatch|same|equal|compatib).{0,60}\bdraft|"
        r"draft model .*(?:is not compatible|not compatible with the target|special tokens|token \d+ content differs)|"
        r"common_speculative_are_compatible|draft (?:model )?architecture.*not supported"
        r"|target .* and draft .* (?:vocab|differ|match)",
        cause="The draft model does not belong to this target (vocabulary, hidden size, or a target class "
        "without the hooks for it).",
        alternatives=("spec_config",),
    ),
    Rule(
        kind="spec_draft_mismatch",
        weight=87,
        pattern=r"mat1 and mat2 shapes cannot be multiplied|size mismatch"
        r"|the size of tensor a \(\d+\) must match the size of tensor b|shape mismatch|"
        r"assert .*(?:loaded_weight|param)\S*\.(?:shape|size)|attempted to load weight .* into parameter|shape\[-1\]",
        near=DRAFT_FRAMES,
        cause="The shapes of the draft do not fit the target's hidden size or vocabulary.",
        alternatives=("spec_config", "model_config"),
    ),
    Rule(
        kind="spec_draft_mismatch",
        weight=84,
        pattern=r"failed to (?:load|open) draft model|(?:weights were not initialized"
        r"|not initialized from) (?:from )?checkpoint|missing tensor|"
        r"attributeerror: '(?P<klass>\w+)' object has no attribute|has no sglang implementation"
        r"|are not supported for now|unknown model architecture",
        near=DRAFT_FRAMES,
        argv=SPEC_ARGV,
        sure=False,
        cause="What was given as the draft model cannot be loaded as one for this target.",
        alternatives=("model_files_missing", "spec_config", "model_unsupported_arch"),
    ),
    # --- combinations
    Rule(
        kind="feature_conflict",
        weight=74,
        pattern=r"(?:is|are) (?:currently )?(?:not compatible|incompatible|mutually exclusive"
        r"|not supported together|not (?:yet )?supported)"
        r"(?: (?:with|when|for|in|together|yet|together with|if)\b.{0,80})|cannot (?:be )?(?:use|used|enable"
        r"|enabled|set|combined?)(?:d)? (?:together )?"
        r"(?:with|both|when|together|at the same time|if)|can't be used (?:with|together)|"
        r"(?:does|do) not (?:yet )?(?:support|work with|work together)|must be disabled (?:when|with|for|if)"
        r"|conflicts? with|not allowed with|"
        r"only (?:works|supported|compatible|be used) (?:with|when|for)|is required when (?:using|enabling)"
        r"|please (?:disable|turn off) (?:--)?\w|"
        r"(?:requires?|needs?) (?:--)?(?:enable|disable)[-_]|requires flash_attn to be enabled",
        not_line=r"compute capability|head[_ ]?(?:size|dim)|attention backend|attn_backend|sm ?\d\d"
        r"|gpu architecture|cuda arch",
        never=r"unrecognized arguments|fp8e4nv",
        cause="Two options or features that are each valid do not work together in this version.",
        sure=False,
        alternatives=("attention_backend_unsupported", "spec_config", "gpu_arch_unsupported"),
    ),
    Rule(
        kind="feature_conflict",
        weight=84,
        pattern=r"attributeerror: '(?P<klass>\w+)' object has no attribute '(?P<attribute>\w+)'|keyerror: "
        r"|notimplementederror|assertionerror|"
        r"runtimeerror: |typeerror: |valueerror: ",
        near=r"lora_manager|lora/layers|/lora/|lora_modules",
        argv=r"--(?:enable-)?lora",
        cause="LoRA meets a layer implementation (MoE or quantisation backend) that has no support for it in "
        "this version.",
        fix="Serve without LoRA, or choose the layer backend that supports it.",
        sure=True,
    ),
    Rule(
        kind="feature_conflict",
        weight=86,
        pattern=r"quantized v cache (?:requires flash|was requested, but)|v cache quantization requires flash"
        r"|flash_attn .* (?:requires|not supported) .*cache",
        cause="A quantised V cache needs flash attention, which is off or not possible here.",
        fix="Turn flash attention on (-fa on) or keep the V cache at f16.",
        alternatives=("attention_backend_unsupported",),
    ),
    Rule(
        kind="feature_conflict",
        weight=78,
        pattern=r"(?:cache|manager|scheduler|connector|runner|worker)\w* only supports? \S.{0,60}\bmodels\b"
        r"|(?:speculative dec\w+|multimodal|lora|embeddings?) is not supported "
        r"(?:with|by) (?:multimodal|speculative|lora)",
        sure=False,
        cause="A feature that was switched on does not exist for this kind of model in this version.",
        fix="Start without that feature, or with a version that has it for this kind of model.",
        alternatives=("model_unsupported_arch", "spec_config"),
    ),
    Rule(
        kind="feature_conflict",
        weight=97,
        pattern=rf"^(?=[^\n]*(?:{_SPECULATION}))(?=[^\n]*(?:{_OTHER_FEATURES}))(?![^\n]*(?:top_?k\b|num[-_]steps"
        rf"|num[-_]draft|n_predict))"
        rf"[^\n]*?(?:{_DENIED})",
        also=r"error|exception|assert|abort|fail|\berr\b",
        never=r"unrecognized arguments",
        sure=False,
        cause="Speculation and another feature that is switched on do not go together in this version.",
        fix="Give up one of the two, as the message says, or use a version that has both.",
        alternatives=("spec_config", "attention_backend_unsupported"),
    ),
    Rule(
        kind="feature_conflict",
        weight=73,
        pattern=r"\b(?:cach\w+|prefill|lora|decoding|parallel\w*|graphs?|attention|scheduling|offload\w*) and \S.{0,40}"
        r"\bare (?:currently )?(?:not (?:yet )?supported|incompatible|exclusive)",
        also=r"error|exception|assert",
        sure=False,
        cause="Two features that are switched on do not go together in this version.",
        fix="Give up one of the two, as the message says.",
        alternatives=("spec_config", "flag_bad_or_changed"),
    ),
    Rule(
        kind="feature_conflict",
        weight=64,
        pattern=r"^\W*assert not \(?(?:self\.)?[\w.]+ and |^\W*assert \(?not (?:self\.)?\w*(?:enable|use|is)_\w+",
        also=r"assertionerror",
        sure=False,
        cause="The engine asserts that two of its features are not on together, and they are.",
        alternatives=("kernel_fault", "spec_config"),
    ),
    Rule(
        kind="feature_conflict",
        weight=72,
        pattern=r"\b(?:pp|dp|ep|tp|async\w*|lora|mtp|eagle\d?|spec\w*|cuda ?graphs?) ?\+ ?(?:pp|dp|ep|tp|async\w*"
        r"|lora|mtp|eagle\d?|spec\w*|cuda ?graphs?)\b",
        also=r"error|exception|assert",
        sure=False,
        cause="The message names two features at once: their combination is what fails.",
        fix="Give up one of the two, or use a version that has both.",
        alternatives=("spec_config", "kernel_fault"),
    ),
    Rule(
        kind="feature_conflict",
        weight=62,
        pattern=r"notimplementederror\b",
        sure=False,
        cause="A code path is not implemented for this combination of options.",
        alternatives=("model_unsupported_arch", "attention_backend_unsupported"),
    ),
    Rule(
        kind="feature_conflict",
        weight=56,
        pattern=r"attributeerror: '(?P<klass>\w+)' object has no attribute '(?P<attribute>\w+)'"
        r"|attributeerror: 'nonetype' object",
        sure=False,
        not_near=r"configuration_|config\.py|transformers/|flashinfer/|tokeniz",
        cause="One part of the engine looks for something that another option has left out ({attribute}).",
        alternatives=("model_config", "version_mismatch_transformers", "spec_draft_mismatch"),
    ),
    Rule(
        kind="feature_conflict",
        weight=44,
        pattern=r"(?:^|\] |\) )(?:exception: )?assertionerror(?:$|: )|validation error for \w*config",
        near=r"sglang/srt|vllm/|server_args|arg_utils|validation error",
        not_near=r"speculat|draft|lora",
        sure=False,
        cause="The engine's own check of a combination of settings failed.",
        alternatives=("flag_bad_or_changed", "model_config", "kernel_fault"),
    ),
    # --- parallel sizes
    Rule(
        kind="tp_divisibility",
        weight=95,
        pattern=r"\((?P<whole>\d+)\) must be divisible by (?:the )?(?:tensor[_ ]parallel[_ ]size|tp[_ ]?size"
        r"|tensor_model_parallel\w*)\W*(?P<size>\d+)?",
        cause="{whole} heads do not divide by the tensor-parallel size {size}.",
        overrides="smaller_parallel",
    ),
    Rule(
        kind="tp_divisibility",
        weight=94,
        pattern=r"\b(?P<whole>\d+) is not divisible by (?P<size>\d+)",
        cause="{whole} (heads, experts, or rows of a matrix) does not divide by {size}.",
        overrides="smaller_parallel",
    ),
    Rule(
        kind="tp_divisibility",
        weight=92,
        pattern=r"\bin ensure_divisibility\b|^\W*assert .*% ?(?:self\.)?(?:denominator|\w*tp_size|\w*world_size"
        r"|\w*parallel_size) == 0",
        also=r"assertionerror",
        cause="A dimension of the model does not divide by the parallel size.",
        fix="Choose a parallel size that divides the heads, the vocabulary and the experts.",
        overrides="smaller_parallel",
    ),
    Rule(
        kind="tp_divisibility",
        weight=93,
        pattern=r"(?:\b\w+ ?= ?(?P<whole>\d+)\W.{0,30})?(?:must be|should be|not|is not|to be"
        r"|evenly) (?:evenly )?divisible by (?:the )?(?:weight quantization|block_[nk]|"
        r"block_size|min_thread|group_size|tensor|tp|ep_size|ep|world_size|attn_tp|moe_tp|pp"
        r"|num_)\w*(?: ?= ?(?P<size>\d+))?|"
        r"not aligned with the quantized weight shape|too large tensor parallel size|"
        r"(?:num_\w*heads|vocab_size|num_experts|hidden_size|intermediate_size|n_\w*experts) ?% ?\S+ ?(?:==|!=) ?0",
        near="",
        not_near=r"speculat|n_predict|page_size",
        cause="A dimension of the model (heads, experts, vocabulary, quantisation blocks) does not divide by the "
        "parallel size.",
        overrides="smaller_parallel",
    ),
    Rule(
        kind="tp_divisibility",
        weight=84,
        pattern=r"total number of (?:attention )?heads|num_attention_heads.*tensor parallel"
        r"|divisible by .*(?:parallel|tp|ep)",
        not_near=r"speculat|n_predict",
        cause="A dimension of the model does not divide by the parallel size.",
        overrides="smaller_parallel",
    ),
)
