"""Data type, quantization and attention kernels against the GPUs' compute capability.

BF16 has hardware from 8.0, FP8 from 8.9 (older cards unpack weights to 16 bits), FP4 from 10.0 (NVIDIA's CUDA
programming guide, "Compute Capabilities"); FlashAttention 3 is built for 8.0 to 9.0, TensorRT-LLM's attention for 10.0.
"""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Known, Unknown
from bot.core.facts import model_files
from bot.core.planning.situation import Check, Situation, finding, unknown

_CHECK = "compute_capability"
#: setting -> (word in its value, capability from which it runs at full speed, what happens below)
_NEEDS = (
    ("dtype", "bfloat16", (8, 0), "older cards have no BF16: use float16"),
    ("dtype", "bf16", (8, 0), "older cards have no BF16: use float16"),
    ("quantization", "nvfp4", (10, 0), "older cards unpack FP4 weights to 16 bits, slower"),
    ("quantization", "mxfp4", (9, 0), "older cards unpack FP4 weights to 16 bits, slower"),
    ("quantization", "modelopt_fp4", (10, 0), "older cards unpack FP4 weights to 16 bits, slower"),
    ("quantization", "fp8", (8, 9), "older cards unpack FP8 weights to 16 bits, slower"),
    ("kv_cache_dtype", "fp8", (8, 9), "older cards convert an FP8 cache on the fly or refuse it"),
    ("kv_cache_dtype", "fp4", (10, 0), "older cards refuse an FP4 cache"),
    ("attention_backend", "trtllm", (10, 0), "use flashinfer, fa3 or triton"),
    ("attention_backend", "cutlass_mla", (10, 0), "use flashinfer, fa3 or triton"),
    ("attention_backend", "fa3", (8, 0), "use triton"),
    ("attention_backend", "flashinfer", (7, 5), "use triton"),
)


def judge(situation: Situation) -> tuple[Finding, ...]:
    wanted = situation.wanted_gpus()
    if isinstance(wanted, Unknown):
        return unknown(_CHECK, "compute capability", wanted.reason)
    if not wanted.value:
        return ()
    said = [gpu.compute_capability for gpu in wanted.value if gpu.compute_capability]
    if len(said) < len(wanted.value):
        return unknown(_CHECK, "compute capability", "nvidia-smi of this driver does not say")
    lowest = min(tuple(int(part) for part in one.split(".")) for one in said)
    settings = dict(situation.engine.flags_to_overrides(situation.line.flags))
    settings.update({name: value for name, value in _of_model(situation).items() if not settings.get(name)})
    shown = ".".join(str(part) for part in lowest)
    faults = [
        finding(
            _CHECK, Judgement.WARN, f"{name.replace('_', ' ')} {settings[name]} on compute capability {shown}", words
        )
        for name, word, needed, words in _NEEDS
        if word in str(settings.get(name) or "").lower() and lowest < needed
    ]
    if faults:
        return (*faults[:-1], _with_remedy(faults[-1]))
    return (finding(_CHECK, Judgement.OK, f"compute capability {shown}"),)


def _of_model(situation: Situation) -> dict[str, str]:
    """What the model's config.json decides where the launch does not."""
    reading = situation.facts.reading(model_files.FACT)
    config = (reading.value.config or {}) if isinstance(reading, Known) else {}
    quantization = config.get("quantization_config")
    method = quantization.get("quant_method") if isinstance(quantization, dict) else None
    return {"dtype": str(config.get("torch_dtype") or config.get("dtype") or ""), "quantization": str(method or "")}


def _with_remedy(one: Finding) -> Finding:
    return finding(one.check, one.judgement, one.summary, *one.evidence, remedy="expect it slow, or change the setting")


CHECK: Check = Check(judge=judge, needs=("gpus", "model_files"))
