"""A model's files: complete against the index, no git-lfs pointers, no truncated shard, config, tokenizer, template.

The hash is over shard names, sizes and the index: it tells checkpoints apart without reading them. safetensors: 8 bytes
of header length (little endian), the header in JSON with each tensor's end, then the data."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.domain.shell import quote
from bot.core.facts._fact import Fact, ProbeTarget
from bot.core.facts._model_script import MODEL_SCRIPT
from bot.core.facts._python import find_python


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """What is on the host; without `exists` only `asked` and `source` count."""

    asked: str
    #: "path", or "hub" for an owner/name that would be downloaded when it is not in the cache
    source: str
    exists: bool
    path: str = ""
    config: Mapping[str, Any] | None = None
    weight_files: int = 0
    bytes: int = 0
    index: str | None = None
    #: shards that the index or the numbering names and that are not there
    missing: tuple[str, ...] = ()
    #: file -> (kind: "lfs", "truncated", "link" or "unreadable", words)
    faults: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()
    tokenizer: tuple[str, ...] = ()
    chat_template: bool = False
    #: 12 hex digits over the chat template in use, the one that the command gives first; "": there is none
    chat_template_hash: str = ""
    #: why that could not be read; "": it could
    chat_template_unread: str = ""
    hash: str = ""


def snippet(target: ProbeTarget) -> str:
    """The command's own interpreter looks, else any python3."""
    if not target.model:
        return ""
    given = (target.model, target.model_cache, target.chat_template, target.tokenizer)
    words = " ".join(quote(word or "") for word in given)
    find = find_python(target) + "printf '%s' \"$py\"" if target.program else "return 1"
    move = f"cd {quote(target.cwd)} 2>/dev/null\n" if target.cwd else ""
    return f"""{move}find_py() {{
{find}
}}
py=$(find_py 2>/dev/null)
[ -n "$py" ] || py=$(command -v python3) || {{ printf 'no Python to look with\\n' >&2; exit 127; }}
"$py" -c {quote(MODEL_SCRIPT)} {words}"""


def parse(output: str) -> Reading[ModelFiles]:
    try:
        read = json.loads(output)
    except ValueError:
        return Unknown("the look at the model's files was cut short")
    return Known(
        ModelFiles(
            asked=read["asked"],
            source=read["source"],
            exists=read["exists"],
            path=read.get("path", ""),
            config=read.get("config"),
            weight_files=read.get("weights", 0),
            bytes=read.get("bytes", 0),
            index=read.get("index"),
            missing=tuple(read.get("missing", ())),
            faults={name: (kind, words) for name, (kind, words) in read.get("faults", {}).items()},
            unreadable=tuple(read.get("unreadable", ())),
            tokenizer=tuple(read.get("tokenizer", ())),
            chat_template=bool(read.get("template")),
            chat_template_hash=read.get("template_hash", ""),
            chat_template_unread=read.get("template_unread", ""),
            hash=read.get("hash", ""),
        )
    )


FACT: Fact[ModelFiles] = Fact(name="model_files", snippet=snippet, parse=parse, timeout_s=30)
