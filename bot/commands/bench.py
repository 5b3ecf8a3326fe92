"""bench: measure a running server's speed."""

from typing import Any

from bot.commands._asking import ask
from bot.commands._spec import CommandSpec
from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.errors import BadInputError
from bot.workflows.answer import answer
from bot.workflows.bench import submit_bench
from bot.workflows.find_launch import find_launch
from bot.workflows.ports import Run
from bot.workflows.propose import known_host
from bot.workflows.servers import busy_requests
from bot.workflows.services import Request, Services
from bot.workflows.speed import workload_of


def _run(services: Services, request: Request, run: Run) -> None:
    command = request.command
    if command.ask:
        ask(services, request, run)
        return
    launch = find_launch(services, request)
    if launch.state != "ready":
        raise BadInputError(
            f"{launch.config} on {launch.host} is {launch.state}; only a ready server can be measured",
            remedy="start it first",
        )
    if not request.confirmed and (
        busy := busy_requests(services, launch, known_host(services, launch.host), of_users=False)
    ):
        answer(services, request, run, lambda: _busy_question(request, launch, busy), name="ask")
        return
    plan = services.launches.plan(launch.id)
    if plan is None:
        raise BadInputError("the launch's plan is not known", remedy="restart it, then measure")
    widths = command.concurrency if isinstance(command.concurrency, list) else [command.concurrency]
    workload = workload_of(services, [width for width in widths if width], command.prompt_tokens)
    run.step(
        "submit",
        lambda: submit_bench(
            services,
            request_id=request.id,
            launch=launch,
            plan=plan,
            workload=workload,
            actor=request.actor,
            conversation=request.conversation,
            text=command.text,
        ),
    )


def _busy_question(request: Request, launch: LaunchRecord, busy: int) -> Message:
    choice: dict[str, Any] = {
        "label": "Measure anyway",
        "differs": [],
        "decode_tok_s": None,
        "last_used_at": None,
        "outcome": None,
        "extra": {"text": request.command.text[:1200], "confirmed": True},
    }
    return Message(
        template="question",
        context={
            "code": "busy_server",
            "verb": "measure",
            "host": launch.host,
            "names": [launch.config],
            "hosts": [],
            "words": [str(busy)],
            "near": [],
            "operation": request.id,
            "candidates": [choice],
            "more": 0,
        },
    )


COMMAND = CommandSpec(intent=Intent.BENCH, permission=Permission.OPERATE, run=_run)
