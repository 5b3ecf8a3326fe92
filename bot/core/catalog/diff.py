"""Differences between two revisions by meaning: the same setting under another spelling is no difference."""

from collections.abc import Iterator, Mapping

from bot.core.domain.catalog import Revision, Word
from bot.core.domain.container import Container
from bot.core.domain.engine import CommandLine, Engine
from bot.core.domain.plan import DiffLine

Value = str | bool | list[str]
_ORDER = ("model", "speculative", "parallelism", "memory", "kernels", "serving", "environment", "container", "other")


def diff(old: Revision, new: Revision, engines: Mapping[str, Engine]) -> tuple[DiffLine, ...]:
    """What `new` changes, grouped in reading order. Different engines are compared by neutral settings first."""
    lines = [*_identity(old, new), *_flags(old, new, engines), *_environment(old, new), *_surroundings(old, new)]
    lines += container_diff(old.container, new.container)
    return tuple(
        sorted(lines, key=lambda line: (_ORDER.index(line.group) if line.group in _ORDER else len(_ORDER), line.name))
    )


def container_diff(old: Container | None, new: Container | None) -> tuple[DiffLine, ...]:
    """What a container is given, option by option."""
    if old == new:
        return ()
    one, two = _outside(old), _outside(new)
    return tuple(
        line for name in sorted({*one, *two}) for line in _line("container", name, one.get(name), two.get(name))
    )


def _outside(container: Container | None) -> dict[str, str]:
    if container is None:
        return {}
    found = {"image": container.image, "container tool": container.tool}
    found |= {"image id": container.image_id[:19]} if container.image_id else {}
    for word in container.options:
        name, _, value = word.removeprefix("--").partition("=")
        found[name] = f"{found[name]} {value}" if name in found else value or "on"
    lead = " ".join(container.lead)
    found |= {"entrypoint": lead or ("the image's own" if container.image_entrypoint else "none")}
    return found


def _line(group: str, name: str, old: str | None, new: str | None) -> Iterator[DiffLine]:
    if not _same(old, new):
        yield DiffLine(group=group, name=name, old=old, new=new)


def _same(old: str | None, new: str | None) -> bool:
    """Equal texts, or equal numbers written differently."""
    if old == new:
        return True
    try:
        return old is not None and new is not None and float(old) == float(new)
    except ValueError:
        return False


def _identity(old: Revision, new: Revision) -> Iterator[DiffLine]:
    yield from _line("model", "model", old.model, new.model)
    yield from _line("other", "engine", old.engine, new.engine)


def _words(argv: tuple[Word, ...]) -> list[str]:
    return [str(word) for word in argv]


def _flags(old: Revision, new: Revision, engines: Mapping[str, Engine]) -> Iterator[DiffLine]:
    before, after = engines.get(old.engine), engines.get(new.engine)
    if before is None or after is None:
        yield from _line("other", "command", " ".join(_words(old.argv)), " ".join(_words(new.argv)))
        return
    one, two = before.parse(_words(old.argv)), after.parse(_words(new.argv))
    yield from _line("model", "path", one.model, two.model)
    if before is after:
        yield from _pairs(one.flags, two.flags, before)
        yield from _line("other", "program", " ".join(one.program), " ".join(two.program))
        yield from _line("other", "stray words", " ".join(one.stray) or None, " ".join(two.stray) or None)
    else:
        yield from _across(one, two, before, after)


def _pairs(one: Mapping[str, Value], two: Mapping[str, Value], engine: Engine) -> Iterator[DiffLine]:
    """Flag by flag; a flag that is not set has the engine's default, where that is known."""
    for name in sorted({*one, *two}):
        default = _default(engine, name)
        old, new = _text(one.get(name)), _text(two.get(name))
        if default is None:
            yield from _line(engine.group(name), name, old, new)
        elif not _same(default if old is None else old, default if new is None else new):
            shown = f"default ({default})"
            yield from _line(engine.group(name), name, old or shown, new or shown)


def _default(engine: Engine, name: str) -> str | None:
    flag = engine.flag(name)
    if flag is None or flag.default is None:
        return None
    return {"true": "on", "false": "off"}.get(flag.default.lower(), flag.default)


def _across(one: CommandLine, two: CommandLine, before: Engine, after: Engine) -> Iterator[DiffLine]:
    """Settings of two engines by their neutral names; flags without one are listed as they are."""
    old, new = before.flags_to_overrides(one.flags), after.flags_to_overrides(two.flags)
    for name in sorted({*old, *new}):
        yield from _line(_group(name, before, after, one, two), name, _text(old.get(name)), _text(new.get(name)))
    for engine, line, is_old in ((before, one, True), (after, two, False)):
        for flag, value in sorted(line.flags.items()):
            if not engine.flags_to_overrides({flag: value}):
                yield from _line(
                    engine.group(flag), flag, _text(value) if is_old else None, None if is_old else _text(value)
                )


def _group(name: str, before: Engine, after: Engine, one: CommandLine, two: CommandLine) -> str:
    """The meaning group of the flag that gives this neutral setting."""
    for engine, line in ((before, one), (after, two)):
        for flag, value in line.flags.items():
            if name in engine.flags_to_overrides({flag: value}):
                return engine.group(flag)
    return "other"


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return " ".join(str(v) for v in value)
    return str(value)


def _environment(old: Revision, new: Revision) -> Iterator[DiffLine]:
    before, after = dict(old.env), dict(new.env)
    for name in sorted({*before, *after}):
        one, two = before.get(name), after.get(name)
        yield from _line("environment", name, None if one is None else str(one), None if two is None else str(two))


def _surroundings(old: Revision, new: Revision) -> Iterator[DiffLine]:
    yield from _line("other", "working directory", old.cwd, new.cwd)
    yield from _line("other", "user", old.user, new.user)
    yield from _line("other", "wrappers", "; ".join(old.wrappers) or None, "; ".join(new.wrappers) or None)
