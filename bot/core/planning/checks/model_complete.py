"""The model's files: there, complete against the index, no git-lfs pointer, no truncated shard, tokenizer, template."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import model_files
from bot.core.facts.model_files import ModelFiles
from bot.core.planning.situation import Check, Situation, finding, unknown

_REMEDIES = {
    "lfs": "fetch the real files: git lfs pull in the model's folder",
    "truncated": "download these files again",
    "link": "restore what the links point to, or download these files again",
    "unreadable": "give the server's account the right to read them",
}


def judge(situation: Situation) -> tuple[Finding, ...]:
    reading = situation.facts.reading(model_files.FACT)
    if isinstance(reading, Unknown):
        return unknown("model_complete", "the model's files", reading.reason)
    files = reading.value
    if not files.exists:
        return (_absent(files),)
    faults = _faults(files)
    if faults:
        return tuple(faults)
    gib = files.bytes / 2**30
    summary = f"{files.weight_files} weight files, {gib:.1f} GiB, complete"
    return (finding("model_complete", Judgement.OK, summary, f"{files.path} (hash {files.hash})"),)


def _absent(files: ModelFiles) -> Finding:
    if files.source == "hub":
        return finding(
            "model_complete",
            Judgement.WARN,
            f"{files.asked} is not in the model cache: the start downloads it first",
            remedy="download it before, or give the path of a copy",
        )
    return finding(
        "model_complete",
        Judgement.REFUSE,
        f"{files.asked} is not on the host",
        remedy="correct the path in the launch, or copy the model there",
    )


def _faults(files: ModelFiles) -> list[Finding]:
    found = []
    if files.missing:
        found.append(
            finding(
                "model_complete",
                Judgement.REFUSE,
                f"{len(files.missing)} weight files that the index names are missing",
                *files.missing[:10],
                remedy="finish the download",
            )
        )
    for kind, remedy in _REMEDIES.items():
        broken = [f"{name}: {words}" for name, (one, words) in files.faults.items() if one == kind]
        if broken:
            what = {"lfs": "git-lfs pointers", "link": "dangling links"}.get(kind, kind)
            summary = f"{len(broken)} weight files are {what}"
            found.append(finding("model_complete", Judgement.REFUSE, summary, *broken[:10], remedy=remedy))
    if not files.weight_files and not files.missing:
        found.append(
            finding(
                "model_complete", Judgement.REFUSE, "the folder holds no weight files", remedy="finish the download"
            )
        )
    if found or files.path.endswith(".gguf"):
        return found
    return _soft_faults(files)


def _soft_faults(files: ModelFiles) -> list[Finding]:
    """What is worth a word and does not stop every engine."""
    lacks = [
        what
        for what, there in (
            ("config.json", files.config is not None),
            ("a tokenizer", bool(files.tokenizer)),
            ("a chat template", files.chat_template),
        )
        if not there
    ]
    if not lacks and not files.unreadable:
        return []
    return [
        finding(
            "model_complete",
            Judgement.WARN,
            f"the model's folder lacks {' and '.join(lacks)}" if lacks else "some files cannot be read",
            *files.unreadable,
            remedy="copy the missing files from the model's source",
        )
    ]


CHECK: Check = Check(judge=judge, needs=("model_files",))
