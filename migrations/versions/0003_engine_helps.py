"""what installed engines print as their flags"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "engine_helps",
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("program", sa.String(length=64), nullable=False),
        sa.Column("version", sa.String(length=255), nullable=False),
        sa.Column("content", sa.JSON(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("host", "program", name=op.f("pk_engine_helps")),
    )


def downgrade() -> None:
    op.drop_table("engine_helps")
