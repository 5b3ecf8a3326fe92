"""starts that wait until their GPUs are free"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "waits",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("open_key", sa.String(length=255), nullable=True),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("config", sa.String(length=255), nullable=False),
        sa.Column("revision", sa.String(length=12), nullable=False),
        sa.Column("actor", sa.JSON(), nullable=False),
        sa.Column("channel", sa.String(length=255), nullable=False),
        sa.Column("thread_ts", sa.String(length=255), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("shown", sa.JSON(), nullable=False),
        sa.Column("holders", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("moved_by", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_look_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("looked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("free_looks", sa.Integer(), nullable=False),
        sa.Column("busy_looks", sa.Integer(), nullable=False),
        sa.Column("away", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_waits")),
        sa.UniqueConstraint("open_key", name=op.f("uq_waits_open_key")),
    )
    with op.batch_alter_table("waits", schema=None) as batch_op:
        batch_op.create_index("ix_waits_state_next_look_at", ["state", "next_look_at"], unique=False)
        batch_op.create_index("ix_waits_thread", ["channel", "thread_ts"], unique=False)


def downgrade() -> None:
    op.drop_table("waits")
