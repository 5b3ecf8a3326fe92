"""Hosts."""

from sqlalchemy import select

from bot.adapters.store.database import Database
from bot.adapters.store.tables import HostRow
from bot.core.domain.host import Host, Inventory


class SqlHosts:
    """HostRepository on SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def inventory(self) -> Inventory:
        """All hosts."""
        with self._database.transaction() as session:
            rows = session.scalars(select(HostRow).order_by(HostRow.name)).all()
            return Inventory(hosts={row.name: _host(row) for row in rows})

    def save(self, host: Host) -> None:
        """Add or replace one host."""
        with self._database.transaction() as session:
            session.merge(
                HostRow(
                    name=host.name,
                    address=host.address,
                    port=host.port,
                    user=host.user,
                    gpus=host.gpus,
                    tags=list(host.tags),
                    protected=host.protected,
                    via=host.via,
                    identity_file=host.identity_file,
                )
            )

    def remove(self, name: str) -> bool:
        """Forget a host; its launches stay. False when it was not known."""
        with self._database.transaction() as session:
            row = session.get(HostRow, name)
            if row is None:
                return False
            session.delete(row)
            return True


def _host(row: HostRow) -> Host:
    return Host(
        name=row.name,
        address=row.address,
        port=row.port,
        user=row.user,
        gpus=row.gpus,
        tags=tuple(row.tags),
        protected=row.protected,
        via=row.via,
        identity_file=row.identity_file,
    )
