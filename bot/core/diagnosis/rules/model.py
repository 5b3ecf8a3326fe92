"""The model: its files, its config, the hub, its architecture, its tokenizer."""

from bot.core.diagnosis.rule import Rule

HUB = r"huggingface|hf\.co|hf-mirror|modelscope|cdn-lfs|xethub|hf_hub"

RULES: tuple[Rule, ...] = (
    # --- hub
    Rule(
        kind="model_hub_access",
        weight=95,
        pattern=r"gated repo|gatedrepoerror|repositorynotfounderror|revisionnotfounderror|offlinemodeisenabled"
        r"|localentrynotfounderror|"
        r"offline mode is enabled|is restricted\. you must|outgoing traffic has been disabled"
        r"|cannot find an appropriate cached snapshot|"
        r"cannot find the requested files in the (?:disk|local) cache"
        r"|couldn't connect to ['\"]?https?://(?:huggingface|hf)|"
        r"we couldn't connect to|is not a local folder and is not a valid model identifier|hfvalidationerror"
        r"|repo id must (?:be|use)|"
        r"incorrect path_or_model_id|invalid user token"
        r"|can't load the model for .{0,80}if you were trying to load|token is required"
        r"|invalid username or password"
        r"|make sure to have access to it|"
        r"the model '?\S+'? (?:does not exist|not found) on (?:modelscope|huggingface)",
        cause="The model could not be had from the hub: gated, wrong name, no token, or no way to the network.",
    ),
    Rule(
        kind="model_hub_access",
        weight=93,
        pattern=rf"(?:40[134]|403|429|50[0234]) (?:client|server) error.*(?:{HUB})"
        rf"|(?:{HUB}).*(?:max retries exceeded|failed to resolve|"
        r"name resolution|timed out|read timeout|ssl|certificate|proxy|connection (?:refused|reset|aborted)"
        r"|network is unreachable)|"
        rf"(?:max retries exceeded|failed to resolve|name resolution|timed out|read timeout|ssl|connecterror"
        rf"|proxyerror|network is unreachable)"
        rf".*(?:{HUB})",
        cause="The server tried to reach the hub and could not (no network, DNS, proxy or access).",
    ),
    Rule(
        kind="model_hub_access",
        weight=78,
        pattern=r"(?:401|403|404) client error|temporary failure in name resolution|nameresolutionerror"
        r"|newconnectionerror|getaddrinfo failed|"
        r"httpx\.connecterror|error from hf api|get_repo_commit: error|failed to (?:download|get) (?:model|file"
        r"|manifest)|common_download\w*: |"
        r"httperror: http error 40[134]|curl(?:_easy)?\w*.*(?:failed|error)|download failed|unable to download",
        not_near=r"gloo|nccl|tcpstore|torch\.distributed|dist_init",
        cause="A download at start failed: no network, no access, or a wrong name.",
        sure=False,
    ),
    # --- config
    Rule(
        kind="model_config",
        weight=93,
        pattern=r"could not detect config format|no config file found"
        r"|invalid repository id or local directory specified|"
        r"does not appear to have a file named config\.json|no such file or directory: '\S*/config\.json'|"
        r"should have a `?model_type`? key in its config|unrecognized model in|can't load the configuration of|"
        r"no supported config format found|config\.json (?:not found|is missing|does not exist)"
        r"|cannot find (?:the )?config(?:uration)? file|"
        r"model_type.*(?:missing|not found) .*config",
        cause="The path holds no config.json that the engine can use: a wrong or empty directory, or a "
        "checkpoint of another kind.",
        fix="Point to the directory that holds config.json (mind mounts in containers), or complete the checkpoint.",
        alternatives=("model_hub_access", "model_files_missing"),
    ),
    Rule(
        kind="model_config",
        weight=90,
        pattern=r"torch\.(?P<dtype>\w+) is not supported for quantization method"
        r"|quantization method specified in the model config|"
        r"rope_scaling.{0,60}(?:must|unknown|invalid|missing|should|keyerror)|unknown rope scaling"
        r"|unknown (?:rope|scaling) type|"
        r"cannot find the config file for|could not find (?:the )?quantization config"
        r"|quantization_config.*(?:missing|not found|invalid|unsupported)|"
        r"unknown quantization (?:method|type|config)|unsupported (?:quantization|torch_dtype|dtype)|"
        r"(?:torch_)?dtype .{0,40}(?:is not supported|not recognized|unknown)"
        r"|'nonetype' object has no attribute 'architectures'|"
        r"no (?:model )?architectures? (?:found|specified|in)|"
        r"has no attribute 'architectures'|expected (?:a )?dict.*config",
        not_line=r"compute capability|kv[_ ]cache dtype",
        cause="A value in the model's config (dtype, quantisation, rope, keys) is one that the loader cannot use.",
        alternatives=("gpu_arch_unsupported", "version_mismatch_transformers"),
    ),
    Rule(
        kind="model_config",
        weight=70,
        pattern=r"attributeerror: '\w*config' object has no attribute '(?P<attribute>\w+)'"
        r"|keyerror: '(?P<key>hidden_size|num_hidden_layers|"
        r"num_attention_heads|vocab_size|quant_method|bits|rope_theta|model_type|architectures|head_dim|factor"
        r"|type|text_config)'|validation error for modelconfig|jsondecodeerror",
        never=r"draft|greater than the derived|not recognize this architecture|loading this model requires"
        r"|trust_remote_code",
        sure=False,
        cause="The model's config lacks a key that this engine version reads.",
        alternatives=("version_mismatch_transformers", "model_unsupported_arch"),
    ),
    Rule(
        kind="model_config",
        weight=52,
        pattern=r"keyerror: ['\"]?[\w.]*(?:weight|bias|scale|qzeros|layers\.\d+)[\w.]*['\"]?$|"
        r"assert .*(?:loaded_weight|param)\S*\.(?:shape|size)|size mismatch for|loaded_weight\.shape",
        sure=False,
        cause="A weight of the checkpoint has no place, or another shape, in the model class: its config or "
        "quantisation is not what "
        "the loader takes it for.",
        alternatives=("model_unsupported_arch", "spec_draft_mismatch", "tp_divisibility"),
    ),
    Rule(
        kind="model_config",
        weight=66,
        pattern=r"trust_remote_code=true|requires you to execute (?:the )?(?:configuration|modeling|custom|code)"
        r"|contains custom code which must",
        sure=False,
        cause="The model brings its own Python code, and permission to run it was not given.",
        fix="Add --trust-remote-code if the source of the model is trusted.",
        alternatives=("flag_bad_or_changed", "model_unsupported_arch"),
    ),
    # --- files
    Rule(
        kind="model_files_lfs_pointer",
        weight=96,
        pattern=r"\s(?P<size>\d{3}) \w{3} +\d+ +[\d:]+ \S+\.(?:safetensors|gguf|bin|pth?|model|json)$",
        check="pointer_size",
        cause="Some weight files have about 130 bytes: they are git-lfs pointers, not the weights.",
    ),
    Rule(
        kind="model_files_lfs_pointer",
        weight=95,
        pattern=r"version https://git-lfs|git-lfs|invalid load key, 'v'|invalid magic characters: 'vers'"
        r"|magic.{0,20}'?vers'?\b|"
        r"oid sha256:",
        cause="A weight file is a git-lfs pointer (a few lines of text), not the weights.",
    ),
    Rule(
        kind="model_files_lfs_pointer",
        weight=78,
        pattern=r"deserializing header: (?:header ?too ?large)",
        sure=False,
        cause="A safetensors file begins with text instead of a header length, as a git-lfs pointer does.",
        fix="List the file sizes: files of about 130 bytes are pointers (git lfs pull or hf download); others "
        "are damaged and must be "
        "fetched again.",
        alternatives=("model_files_corrupt",),
    ),
    Rule(
        kind="model_files_corrupt",
        weight=94,
        pattern=r"deserializing header: (?:metadata ?incomplete ?buffer|incomplete metadata|invalid ?header"
        r"|header ?too ?small|invalid ?offset)|"
        r"file not fully covered|metadataincompletebuffer|invalidheaderdeserialization|headertoosmall|"
        r"not within the file bounds|corrupted or incomplete|failed to read key-value pairs|failed to read tensor|"
        r"failed to read magic|invalid magic characters|bad magic|unexpectedly reached end of file"
        r"|unexpected end of (?:file|data|stream)|"
        r"pytorchstreamreader failed|failed finding central directory|invalid load key|unpicklingerror"
        r"|ran out of input|file (?:is )?(?:truncated|corrupt)|consistency check failed|checksum (?:mismatch|failed)|"
        r"tensor '\S+' (?:has )?offset|gguf_init_from_file: failed to read|zip archive",
        never=r"git-lfs|zoneinfo|invalid load key, 'v'",
        cause="A weight file is truncated or damaged: its header or tensors go beyond what is on disk.",
    ),
    Rule(
        kind="model_files_corrupt",
        weight=72,
        pattern=r"safetensorerror|safetensors_rust",
        sure=False,
        never=r"no such file|no space left",
        alternatives=("model_files_lfs_pointer", "model_files_missing"),
    ),
    Rule(
        kind="model_files_missing",
        weight=94,
        pattern=r"no such file or directory:? ?\(?['\"]?\S*\.(?:safetensors|gguf|bin|pt|pth|mmproj|json\.index)\b|"
        r"failed to open gguf file '(?P<file>[^']+)'|cannot find any model weights|no (?:\.?safetensors|weight"
        r"|\.bin|model) (?:weights? )?files? (?:were )?found|"
        r"does not appear to have a file named (?:pytorch_model|model|diffusion|preprocessor|processor"
        r"|generation)|no file named (?:pytorch_model|model|tf_model)|"
        r"error no file named|failed to open (?:split|model|file)|illegal split|missing (?:shard|split)|invalid split|"
        r"failed to load (?:clip|multimodal|mmproj)|(?:not found|no such file|can't load"
        r"|does not appear).{0,80}preprocessor_config|"
        r"(?:shard|weight file|checkpoint) .*(?:is |are )?(?:missing|not found|does not exist)",
        cause="A file of the checkpoint is not on disk (a shard, or a part such as the processor or the mmproj).",
        alternatives=("model_config",),
    ),
    Rule(
        kind="model_files_missing",
        weight=70,
        pattern=r"(?:weights were not initialized|not initialized from) (?:from )?checkpoint|missing tensor"
        r"|missing keys?\b|"
        r"done_getting_tensors: wrong number of tensors",
        sure=False,
        alternatives=("model_unsupported_arch", "spec_draft_mismatch", "model_config"),
    ),
    Rule(
        kind="model_files_missing",
        weight=54,
        pattern=r"warmup error|failed to (?:load|initialize) (?:the )?(?:processor|codec|vocoder|component|vision)",
        near=r"processor|codec|vae|vision|audio|component|tokenizer_2",
        never=r"out of memory",
        sure=False,
        cause="A further part of the model (processor, codec) could not be loaded after the weights were.",
        alternatives=("tokenizer_template", "version_mismatch_transformers"),
    ),
    # --- architecture
    Rule(
        kind="model_unsupported_arch",
        weight=94,
        pattern=r"unknown model architecture: '(?P<arch>[^']*)'|(?P<klass>\w+) has no sglang implementation"
        r"|model architectures? \[?['\"]?(?P<name>[\w', ]+)['\"]?\]? "
        r"(?:are|is) not supported|model architectures? .*failed to be inspected|cannot find model module"
        r"|no supported (?:model )?architecture|"
        r"unsupported (?:model )?architecture|architecture \S+ (?:is )?not supported|gguf model with architecture|"
        r"model class \S+ (?:is )?not (?:found|supported)|not compatible with vllm|is not compatible with sglang|"
        r"unsupported (?:gguf|file) (?:version|format)|invalid ggml type|has invalid type"
        r"|gguf(?:v1)? is no longer supported|"
        r"model type \S+ (?:is )?not supported|error loading model hyperparameters|key not found in model"
        r"|check_tensor_dims",
        never=r"failed to load draft model",
        cause="This engine version has no implementation for the model's architecture or file format.",
        alternatives=("version_mismatch_transformers",),
    ),
    # --- tokenizer
    Rule(
        kind="tokenizer_template",
        weight=94,
        pattern=r"chat_template is not set|chat template functions|default chat template is no longer allowed"
        r"|chat[-_ ]?template.{0,80}(?:not found|does not exist|"
        r"not supported|failed|invalid|missing|unsupported|looks like a file path|path-like|doesn't exist"
        r"|could not be|error)"
        r"|(?:failed to|error) (?:parse|load|render|apply)\w*.{0,40}chat[-_ ]?template|"
        r"can't load tokenizer for|couldn't instantiate the backend tokenizer|tokenizer class \S+ does not exist"
        r"|unable to load vocabulary|"
        r"failed to load (?:the )?tokenizer|error loading (?:model )?vocab|cannot find tokenizer merges"
        r"|unknown pre-tokenizer|(?:no such file|not found|missing|unable|can't|cannot|error"
        r"|failed).{0,80}tokenizer\.(?:json|model)|tokenizer\.(?:json|model).{0,60}(?:not found|missing"
        r"|does not exist)|"
        r"jinja2\.exceptions|templatesyntaxerror|templateerror|undefinederror"
        r"|this custom template is not supported|"
        r"you need to have sentencepiece|error opening (?:file )?'?\S*jinja|does not have a chat template"
        r"|no chat template",
        not_line=r"is deprecated",
        cause="The tokenizer or the chat template is missing or not one that this version can use.",
        alternatives=("version_mismatch_transformers", "model_files_missing"),
    ),
    Rule(
        kind="tokenizer_template",
        weight=64,
        pattern=r"typeerror|valueerror|attributeerror|oserror|keyerror|exception: ",
        near=r"tokenization_utils|tokenization_auto|get_tokenizer|hf_transformers_utils|apply_chat_template"
        r"|from_slow|convert_slow_tokenizer",
        sure=False,
        not_near=r"gated repo|client error|couldn't connect|offline",
        cause="Loading or using the tokenizer failed.",
        alternatives=("version_mismatch_transformers", "model_files_missing"),
    ),
)
