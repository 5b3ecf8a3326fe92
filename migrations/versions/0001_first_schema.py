"""first schema"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit_events",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=255), nullable=False),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("config", sa.String(length=255), nullable=True),
        sa.Column("operation", sa.String(length=64), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_events")),
    )
    with op.batch_alter_table("audit_events", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_events_at"), ["at"], unique=False)

    op.create_table(
        "configs",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("aliases", sa.JSON(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("pinned", sa.String(length=12), nullable=True),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("measured", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_configs")),
    )
    op.create_table(
        "health_samples",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_health_samples")),
    )
    with op.batch_alter_table("health_samples", schema=None) as batch_op:
        batch_op.create_index("ix_health_samples_host_at", ["host", "at"], unique=False)

    op.create_table(
        "hosts",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("address", sa.String(length=255), nullable=False),
        sa.Column("port", sa.Integer(), nullable=True),
        sa.Column("user", sa.String(length=255), nullable=True),
        sa.Column("gpus", sa.String(length=255), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("protected", sa.Boolean(), nullable=False),
        sa.Column("via", sa.String(length=255), nullable=True),
        sa.Column("identity_file", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_hosts")),
    )
    op.create_table(
        "launches",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("config", sa.String(length=255), nullable=True),
        sa.Column("revision", sa.String(length=12), nullable=True),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("unit", sa.String(length=255), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("channel", sa.String(length=255), nullable=True),
        sa.Column("thread_ts", sa.String(length=255), nullable=True),
        sa.Column("requested_by", sa.String(length=255), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ready_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_by", sa.String(length=255), nullable=True),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("log", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_launches")),
        sa.UniqueConstraint("number", name=op.f("uq_launches_number")),
    )
    with op.batch_alter_table("launches", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_launches_config"), ["config"], unique=False)
        batch_op.create_index("ix_launches_host_state", ["host", "state"], unique=False)
        batch_op.create_index("ix_launches_thread", ["channel", "thread_ts"], unique=False)

    op.create_table(
        "operations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("channel", sa.String(length=255), nullable=False),
        sa.Column("thread_ts", sa.String(length=255), nullable=True),
        sa.Column("actor", sa.JSON(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_operations")),
    )
    with op.batch_alter_table("operations", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_operations_state"), ["state"], unique=False)
        batch_op.create_index("ix_operations_thread", ["channel", "thread_ts"], unique=False)

    op.create_table(
        "posts",
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("channel", sa.String(length=255), nullable=False),
        sa.Column("ts", sa.String(length=64), nullable=False),
        sa.Column("thread_ts", sa.String(length=64), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_posts")),
    )
    op.create_table(
        "schedules",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("channel", sa.String(length=255), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("cron", sa.String(length=255), nullable=True),
        sa.Column("every_s", sa.Integer(), nullable=True),
        sa.Column("time_zone", sa.String(length=255), nullable=False),
        sa.Column("created_by", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedules")),
    )
    op.create_table(
        "terminal_messages",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("channel", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("ts", sa.String(length=64), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_terminal_messages")),
    )
    with op.batch_alter_table("terminal_messages", schema=None) as batch_op:
        batch_op.create_index("ix_terminal_messages_channel", ["channel", "id"], unique=False)

    op.create_table(
        "approvals",
        sa.Column("operation", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_by", sa.String(length=255), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("approved", sa.Boolean(), nullable=True),
        sa.CheckConstraint("(decided_at IS NULL) = (approved IS NULL)", name=op.f("ck_approvals_decided_once")),
        sa.ForeignKeyConstraint(
            ["operation"], ["operations.id"], name=op.f("fk_approvals_operation"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("operation", name=op.f("pk_approvals")),
    )
    op.create_table(
        "measurements",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("launch", sa.String(length=64), nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("baseline", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["launch"], ["launches.id"], name=op.f("fk_measurements_launch"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_measurements")),
    )
    with op.batch_alter_table("measurements", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_measurements_launch"), ["launch"], unique=False)

    op.create_table(
        "milestones",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("launch", sa.String(length=64), nullable=False),
        sa.Column("phase", sa.String(length=32), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("fraction", sa.Double(), nullable=True),
        sa.Column("draft", sa.Boolean(), nullable=False),
        sa.Column("reached_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["launch"], ["launches.id"], name=op.f("fk_milestones_launch"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_milestones")),
    )
    with op.batch_alter_table("milestones", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_milestones_launch"), ["launch"], unique=False)

    op.create_table(
        "revisions",
        sa.Column("config", sa.String(length=255), nullable=False),
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["config"], ["configs.name"], name=op.f("fk_revisions_config"), onupdate="CASCADE", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("config", "id", name=op.f("pk_revisions")),
    )


def downgrade() -> None:
    op.drop_table("revisions")
    with op.batch_alter_table("milestones", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_milestones_launch"))

    op.drop_table("milestones")
    with op.batch_alter_table("measurements", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_measurements_launch"))

    op.drop_table("measurements")
    op.drop_table("approvals")
    with op.batch_alter_table("terminal_messages", schema=None) as batch_op:
        batch_op.drop_index("ix_terminal_messages_channel")

    op.drop_table("terminal_messages")
    op.drop_table("schedules")
    op.drop_table("posts")
    with op.batch_alter_table("operations", schema=None) as batch_op:
        batch_op.drop_index("ix_operations_thread")
        batch_op.drop_index(batch_op.f("ix_operations_state"))

    op.drop_table("operations")
    with op.batch_alter_table("launches", schema=None) as batch_op:
        batch_op.drop_index("ix_launches_thread")
        batch_op.drop_index("ix_launches_host_state")
        batch_op.drop_index(batch_op.f("ix_launches_config"))

    op.drop_table("launches")
    op.drop_table("hosts")
    with op.batch_alter_table("health_samples", schema=None) as batch_op:
        batch_op.drop_index("ix_health_samples_host_at")

    op.drop_table("health_samples")
    op.drop_table("configs")
    with op.batch_alter_table("audit_events", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_audit_events_at"))

    op.drop_table("audit_events")
