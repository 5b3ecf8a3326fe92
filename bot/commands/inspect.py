"""inspect: what a running server is really like, from its arguments, environment, log and metrics."""

import re
from typing import Any

from bot.commands._asking import ask
from bot.commands._spec import CommandSpec
from bot.commands.compare import why
from bot.commands.logs import live
from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.core.domain.plan import Plan
from bot.core.rendering.redact import redact
from bot.workflows.answer import answer
from bot.workflows.find_launch import find_launch
from bot.workflows.ports import Run
from bot.workflows.propose import known_host
from bot.workflows.servers import ServerView, observe
from bot.workflows.services import Request, Services
from bot.workflows.speed import known_facts, settings

#: topic -> words of settings, environment variables and log lines that speak of it
_WORDS: dict[str, str] = {
    "cuda_graphs": r"cuda.?graph|graph.?captur|enforce.?eager|piecewise",
    "nccl": r"nccl|p2p|custom.?all.?reduce",
    "attention_backend": r"attention.?backend|attn.?backend|flashinfer|flash.?attn|fa3|triton",
    "speculative": r"specul|accept.?len|draft",
    "accept_length": r"accept.?(len|rate)|acceptance",
    "kv_cache": r"kv.?cache|kv.?pool|#tokens|max_total_num_tokens",
    "kv_cache_dtype": r"kv.?cache.?dtype|cache.?type",
    "prefix_cache": r"prefix.?cach|radix",
    "chunked_prefill": r"chunked.?prefill|prefill",
    "context_length": r"context.?len|max.?model.?len|ctx.?size|n_ctx",
    "tensor_parallel": r"tensor.?parallel|tp.?size",
    "data_parallel": r"data.?parallel|dp.?size",
    "memory": r"mem(ory)?.?fraction|gpu.?memory|avail.?mem|mem usage",
    "memory_fraction": r"mem.?fraction|gpu.?memory.?util",
    "version": r"version",
    "quantization": r"quanti[sz]",
    "dtype": r"dtype",
    "port": r"^port$",
}
_LOG_LINES = 3


def _run(services: Services, request: Request, run: Run) -> None:
    command = request.command
    if command.ask:
        ask(services, request, run)
        return

    def look() -> Message:
        launch = find_launch(services, request)
        if not command.topics and services.launches.measurements(launch.id):
            return why(services, launch)
        return _inspect(services, launch, command.topics)

    answer(services, request, run, look)


def _inspect(services: Services, launch: LaunchRecord, topics: tuple[str, ...]) -> Message:
    plan = services.launches.plan(launch.id)
    host = known_host(services, launch.host)
    view = observe(services, launch, host, prove_token=False)
    lines, source = live(services, launch.id, host)
    asked = topics or ("arguments", "cuda_graphs", "attention_backend", "speculative")
    answers = [
        one for topic in asked for one in (_topic(services, topic, launch, plan, view, lines, source) if plan else [])
    ]
    return Message(
        template="inspect",
        context={
            "config": launch.config,
            "host": launch.host,
            "at": services.clock.now().isoformat(),
            "answers": answers,
        },
    )


def _topic(
    services: Services,
    topic: str,
    launch: LaunchRecord,
    plan: Plan,
    view: ServerView,
    lines: list[str],
    source: str,
) -> list[dict[str, Any]]:
    if topic == "arguments":
        return [_answer(topic, " ".join(str(word) for word in plan.argv), "its plan")]
    if topic == "environment":
        shown = " ".join(f"{name}={value}" for name, value in plan.env) or "nothing of its own"
        return [_answer(topic, shown, "its plan")]
    words = re.compile(_WORDS.get(topic, re.escape(topic).replace("_", ".?")), re.IGNORECASE)
    found = _from_metrics(topic, view)
    given = {**settings(services, plan), **{name: str(value) for name, value in plan.env}}
    said = ", ".join(f"{name} {value}" for name, value in given.items() if words.search(name))
    if said:
        found.append(_answer(topic, said, "its arguments and environment"))
    facts = {k: v for k, v in known_facts(services, launch.id).items() if words.search(k)}
    if facts:
        found.append(_answer(topic, ", ".join(f"{k} {v}" for k, v in facts.items()), "read at its start"))
    logged = [redact(line.rsplit("\r", 1)[-1].strip())[:300] for line in lines if words.search(line)]
    if logged:
        found.append(_answer(topic, "\n".join(logged[-_LOG_LINES:]), source))
    if found:
        return found
    return [_answer(topic, None, "neither its arguments, environment, metrics nor its log say so")]


def _from_metrics(topic: str, view: ServerView) -> list[dict[str, Any]]:
    metrics = view.metrics
    if metrics is None:
        return []
    if topic in ("speculative", "accept_length") and metrics.drafts_total and metrics.accepted_tokens_total is not None:
        length = 1 + metrics.accepted_tokens_total / metrics.drafts_total
        return [_answer(topic, f"accept length {length:.2f} since its start", "its counters")]
    if topic == "kv_cache" and metrics.kv_cache_usage is not None:
        return [_answer(topic, f"{100 * metrics.kv_cache_usage:.0f} % in use", "its metrics")]
    if topic in ("metrics", "queue"):
        running, waiting = metrics.running_requests, metrics.waiting_requests
        return [_answer(topic, f"{running or 0:.0f} running, {waiting or 0:.0f} waiting", "its metrics")]
    return []


def _answer(topic: str, value: str | None, source: str) -> dict[str, Any]:
    return {"topic": topic.replace("_", " "), "value": value, "source": source}


COMMAND = CommandSpec(intent=Intent.INSPECT, permission=Permission.READ, run=_run)
