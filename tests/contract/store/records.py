"""Values for store tests."""

from datetime import UTC, datetime, timedelta

from bot.core.domain.catalog import LaunchConfig, Revision, SecretRef
from bot.core.domain.measurement import Level, Measurement, Workload
from bot.core.domain.message import Conversation
from bot.core.domain.operation import Actor
from bot.core.domain.plan import Plan, Step, StepKind

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
ANA = Actor(id="U0ANA", name="ana", team="T1")
BOB = Actor(id="U0BOB", name="bob", team="T1")
THREAD = Conversation(channel="C0OPS", thread_ts="1796100000.000100")

REVISION = Revision(
    engine="sglang",
    model="/models/small",
    argv=("python3", "-m", "sglang.launch_server", "--model-path", "/models/small", "--api-key", SecretRef("unit x")),
    env=(("HF_TOKEN", SecretRef("env file /etc/llm.env")), ("A", "b c")),
    note="ünïcode",
    created_at=NOW,
)
CONFIG = LaunchConfig(name="small", revisions=(REVISION,), host="gpu1", aliases=("tiny",), tags=("lab",))
PLAN = Plan(
    operation="start",
    host="gpu1",
    config="small",
    revision=REVISION.id,
    argv=REVISION.argv,
    env=REVISION.env,
    engine="sglang",
    model="/models/small",
    port=30000,
    steps=(Step(kind=StepKind.START, summary="start it", unit="relaunch-op1"),),
)


def level(tok_s: float) -> Level:
    """A level at concurrency 1."""
    return Level(
        concurrency=1,
        requests=5,
        failed=0,
        aggregate_tok_s=tok_s,
        decode_tok_s=tok_s,
        spread_pct=1.0,
        ttft_ms_p50=20.0,
        ttft_ms_p95=25.0,
        ttft_ms_p99=30.0,
        itl_ms_p50=14.0,
        itl_ms_p95=15.0,
        samples=(tok_s, tok_s),
    )


def measurement(tok_s: float) -> Measurement:
    """A measurement with one level."""
    return Measurement(measured_at=NOW, workload=Workload(), levels=(level(tok_s),), accept_length=3.1)
