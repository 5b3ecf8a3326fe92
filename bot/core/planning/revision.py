"""Revisions with overrides applied, their differences, and what to look at for one."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.core.catalog.diff import container_diff
from bot.core.catalog.found_unit import found_unit
from bot.core.domain.catalog import Revision, SecretRef, Word
from bot.core.domain.container import Container
from bot.core.domain.engine import CommandLine, Engine
from bot.core.domain.plan import DiffLine
from bot.core.facts import ProbeTarget


def derived_revision(
    engine: Engine,
    revision: Revision,
    overrides: Mapping[str, Any],
    *,
    flags: Mapping[str, str | bool | list[str]] | None = None,
    source: str = "",
    author: str = "",
    note: str = "",
    created_at: datetime | None = None,
) -> Revision:
    """The revision with overrides, and with flags that have no neutral name; the same object where nothing changes.

    Raises BadInputError for an override that the engine has no setting for."""
    container, rest = _container_with(engine, revision, overrides)
    argv = engine.apply(revision.argv, rest)
    if flags:
        argv = engine.set_flags(argv, flags)
    env = _merged(revision.env, engine.environment(rest))
    if argv == revision.argv and env == revision.env and container == revision.container:
        return revision
    return replace(
        revision,
        argv=argv,
        env=env,
        container=container,
        parent=revision.id,
        source=source,
        author=author,
        note=note,
        created_at=created_at,
    )


def _container_with(
    engine: Engine, revision: Revision, overrides: Mapping[str, Any]
) -> tuple[Container | None, Mapping[str, Any]]:
    """The container with what is set on its outside (a published port, the GPUs that it is given), and the other
    overrides."""
    container, rest = revision.container, dict(overrides)
    if container is None:
        return None, rest
    line = engine.parse(revision.argv)
    inside = line.port if line.port is not None else engine.default_port
    if isinstance(rest.get("port"), int) and not container.host_network and container.host_port(inside) is not None:
        container = container.with_host_port(inside, rest.pop("port"))
    devices = engine.environment({"gpus": rest["gpus"]}).get("CUDA_VISIBLE_DEVICES") if rest.get("gpus") else None
    if devices and container.gpu_devices is not None:
        container = container.with_gpus(devices)
        del rest["gpus"]
    return container, rest


def probe_target(engine: Engine, revision: Revision, *, with_help: bool = False) -> ProbeTarget:
    """What the facts of a start are about. `with_help` asks the engine for its flags, which may take a minute."""
    line = engine.parse(revision.argv)
    env = {name: value for name, value in revision.env if isinstance(value, str)}
    container = revision.container
    unit, unit_path = found_unit(revision) or (None, None)
    template = _text_flag(line, "chat-template-file", "chat-template")
    tokenizer = _text_flag(line, "tokenizer", "tokenizer-path")
    if container is not None:
        # of what is inside only the model may lie on the host
        return ProbeTarget(
            model=container.on_host(line.model) if line.model else None,
            chat_template=(container.on_host(template) or template) if template else None,
            tokenizer=container.on_host(tokenizer) if tokenizer else None,
            image=container.image,
            unit_words=unit_words(engine),
            unit=unit,
            unit_path=unit_path,
        )
    return ProbeTarget(
        program=line.program,
        distribution=engine.distribution,
        packages=engine.packages,
        help_words=engine.help_words if with_help else (),
        model=line.model,
        cwd=revision.cwd,
        path=env.get("PATH"),
        model_cache=env.get("HF_HUB_CACHE") or env.get("HF_HOME"),
        chat_template=template,
        tokenizer=tokenizer,
        unit_words=unit_words(engine),
        unit=unit,
        unit_path=unit_path,
    )


def _text_flag(line: CommandLine, *names: str) -> str | None:
    """The value of the first of these flags that is given."""
    values = (line.flags.get(name) for name in names)
    return next((value for value in values if isinstance(value, str)), None)


def unit_words(engine: Engine) -> tuple[str, ...]:
    """Words by which a unit's command is seen to be this engine's."""
    return tuple(dict.fromkeys((engine.name.split(".")[0], *engine.packages[:1])))


def diff_lines(engine: Engine, old: Revision | None, new: Revision) -> tuple[DiffLine, ...]:
    """Differences of two revisions by meaning: flags under their canonical names, environment, folder, wrappers."""
    if old is None or old.id == new.id:
        return ()
    before, after = engine.parse(old.argv), engine.parse(new.argv)
    lines = [
        DiffLine(
            group=engine.group(name), name=name, old=_text(before.flags.get(name)), new=_text(after.flags.get(name))
        )
        for name in sorted({*before.flags, *after.flags})
        if before.flags.get(name) != after.flags.get(name)
    ]
    if before.model != after.model:
        lines.insert(0, DiffLine(group="model", name="model", old=before.model, new=after.model))
    if before.program != after.program:
        old_program, new_program = " ".join(before.program), " ".join(after.program)
        lines.append(DiffLine(group="other", name="program", old=old_program, new=new_program))
    old_env, new_env = dict(old.env), dict(new.env)
    lines += [
        DiffLine(group="environment", name=name, old=_text(old_env.get(name)), new=_text(new_env.get(name)))
        for name in sorted({*old_env, *new_env})
        if old_env.get(name) != new_env.get(name)
    ]
    lines += container_diff(old.container, new.container)
    for name, was, now in (
        ("working folder", old.cwd, new.cwd),
        ("account", old.user, new.user),
        ("wrappers", " ".join(old.wrappers) or None, " ".join(new.wrappers) or None),
    ):
        if was != now:
            lines.append(DiffLine(group="other", name=name, old=was, new=now))
    return tuple(lines)


def _merged(env: tuple[tuple[str, Word], ...], changes: Mapping[str, str | None]) -> tuple[tuple[str, Word], ...]:
    """Environment with changes: in place where a name is there, appended where not, taken out for None."""
    result: dict[str, Word] = dict(env)
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = value
    return tuple(result.items())


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, SecretRef):
        return str(value)
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
