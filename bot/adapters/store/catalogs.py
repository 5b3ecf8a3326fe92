"""Launch configs, revisions, and the launch history that the resolver ranks by."""

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from bot.adapters.store.database import Database
from bot.adapters.store.launches import record, speeds
from bot.adapters.store.tables import ConfigRow, LaunchRow, RevisionRow, WaitRow
from bot.core.domain.catalog import ONE_OFF_SOURCES, Catalog, LaunchConfig, Measured, Revision
from bot.core.domain.records import from_json, to_json
from bot.errors import BadInputError


class SqlCatalog:
    """CatalogRepository on SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def catalog(self) -> Catalog:
        """Everything: three queries."""
        with self._database.transaction() as session:
            revisions: dict[str, list[Revision]] = {}
            for row in session.scalars(select(RevisionRow).order_by(RevisionRow.config, RevisionRow.position)):
                revisions.setdefault(row.config, []).append(from_json(Revision, row.content))
            configs = {
                row.name: _config(row, revisions[row.name])
                for row in session.scalars(select(ConfigRow).order_by(ConfigRow.name))
                if row.name in revisions
            }
            measured = speeds(session)
            launches = session.scalars(select(LaunchRow).order_by(LaunchRow.number)).all()
            return Catalog(configs=configs, launches=tuple(record(row, measured.get(row.id)) for row in launches))

    def save(self, config: LaunchConfig) -> None:
        """Add or replace a config; revisions that are there stay as they are, new ones are added."""
        with self._database.transaction() as session:
            session.merge(
                ConfigRow(
                    name=config.name,
                    host=config.host,
                    aliases=list(config.aliases),
                    tags=list(config.tags),
                    pinned=config.pinned,
                    archived=config.archived,
                    measured=to_json(config.measured) if config.measured else None,
                )
            )
            session.flush()
            for revision in config.revisions:
                _add(session, config.name, revision)

    def add_revision(self, config: str, revision: Revision) -> None:
        """Append a revision. Raises BadInputError for an unknown config."""
        with self._database.transaction() as session:
            if session.get(ConfigRow, config) is None:
                raise BadInputError(f"there is no config {config}", remedy="see `catalog` for the known ones")
            _add(session, config, revision)

    def rename(self, old: str, new: str) -> None:
        """Rename a config and all that is of it. Raises BadInputError when `new` is taken or `old` unknown."""
        with self._database.transaction() as session:
            if session.get(ConfigRow, new) is not None:
                raise BadInputError(f"there is a config {new} already", remedy="choose another name")
            if session.get(ConfigRow, old) is None:
                raise BadInputError(f"there is no config {old}", remedy="see `catalog` for the known ones")
            session.execute(update(ConfigRow).where(ConfigRow.name == old).values(name=new))
            session.execute(update(LaunchRow).where(LaunchRow.config == old).values(config=new))
            session.execute(update(WaitRow).where(WaitRow.config == old).values(config=new))


def _add(session: Session, config: str, revision: Revision) -> None:
    there = session.get(RevisionRow, (config, revision.id))
    if there is not None:
        if revision.source not in ONE_OFF_SOURCES and there.content.get("source") in ONE_OFF_SOURCES:
            # what was tried once is saved now
            there.content = to_json(revision)
        return
    last = session.scalar(select(func.max(RevisionRow.position)).where(RevisionRow.config == config))
    session.add(
        RevisionRow(
            config=config,
            id=revision.id,
            position=(last or 0) + 1,
            content=to_json(revision),
            created_at=revision.created_at,
        )
    )
    session.flush()


def _config(row: ConfigRow, revisions: list[Revision]) -> LaunchConfig:
    return LaunchConfig(
        name=row.name,
        revisions=tuple(revisions),
        host=row.host,
        aliases=tuple(row.aliases),
        tags=tuple(row.tags),
        pinned=row.pinned,
        archived=row.archived,
        measured=from_json(Measured, row.measured) if row.measured else None,
    )
