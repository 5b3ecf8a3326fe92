"""Native libraries that the loader will not find; an engine ends at import, with the cause far up in its traceback."""

import re

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import shared_libraries
from bot.core.planning.situation import Check, Situation, finding, unknown

#: FFmpeg's libavutil.so.N belongs to FFmpeg N - 52 (FFmpeg's release notes)
_FFMPEG = re.compile(r"lib(avutil|avcodec|avformat|avdevice|avfilter|swscale|swresample)\.so\.(\d+)")
_AVUTIL_TO_RELEASE = 52


def judge(situation: Situation) -> tuple[Finding, ...]:
    reading = situation.facts.reading(shared_libraries.FACT)
    if isinstance(reading, Unknown):
        return unknown("shared_libraries", "whether all shared libraries resolve", reading.reason)
    lost = sorted({name for names in reading.value.unresolved.values() for name in names})
    if not lost:
        summary = f"all shared libraries of {reading.value.files} files resolve"
        return (finding("shared_libraries", Judgement.OK, summary),)
    evidence = [f"{file.rsplit('/', 1)[-1]}: {', '.join(names)}" for file, names in reading.value.unresolved.items()]
    return (
        finding(
            "shared_libraries",
            Judgement.WARN,
            f"{', '.join(lost[:4])} cannot be found on the host",
            *evidence[:10],
            remedy=_remedy(lost),
        ),
    )


def _remedy(lost: list[str]) -> str:
    matches = [match for name in lost if (match := _FFMPEG.match(name))]
    if not matches:
        return "install the system package that has it, or set LD_LIBRARY_PATH in the launch"
    releases = sorted({int(match[2]) - _AVUTIL_TO_RELEASE for match in matches if match[1] == "avutil"})
    which = f"FFmpeg {' or '.join(map(str, releases))}" if releases else "FFmpeg"
    return f"install {which} with its shared libraries (package ffmpeg), or a torchcodec that fits the FFmpeg there"


CHECK: Check = Check(judge=judge, needs=("shared_libraries",))
