"""Comparing engine versions: "0.5.10.post1", "0.11.2", "b11434"."""

import re

from bot.core.domain.engine import Flag


def version_key(version: str) -> tuple[int, ...]:
    """Sortable form; release candidates and development versions come before the release, posts after it."""
    match = re.match(r"[vb]?(\d+(?:\.\d+)*)(.*)", version.strip())
    if match is None:
        return ()
    release = [int(part) for part in match[1].split(".")]
    release += [0] * (4 - len(release))
    rest = match[2]
    early = -1 if re.match(r"[.\-_]?(rc|a|b|alpha|beta|dev)\d*", rest) else 0
    post = re.search(r"post(\d+)", rest)
    return (*release[:4], early, int(post[1]) if post else 0)


def has(flag: Flag | None, version: str | None) -> bool | None:
    """Whether a version has a flag; None: nothing is known of the flag or the version."""
    if flag is None:
        return None
    if version is None or not version_key(version):
        return None
    key = version_key(version)
    if flag.since is not None and key < version_key(flag.since):
        return False
    return not (flag.until is not None and key > version_key(flag.until))


def newer(known: str, version: str | None) -> str | None:
    """`known`, where the version is newer than it."""
    return known if version is not None and version_key(version) > version_key(known) else None
