"""What a database driver says, as errors of ours with the next step."""

from collections.abc import Iterator
from contextlib import contextmanager

from alembic.util.exc import CommandError
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, OperationalError

from bot.errors import PermanentError, TemporaryError

#: words of SQLite -> the next step; a file with these faults does not mend itself
_LASTING = {
    "not a database": "move the file away, or set RELAUNCH_DATABASE_URL or RELAUNCH_DATA_DIR to another place",
    "malformed": "restore it from a backup; `sqlite3 FILE .recover` saves what can be read",
    "readonly": "give the bot's account the right to write the file and its folder",
    "unable to open": "make the folder, and give the bot's account the right to write there",
    "no such table": "run `relaunch migrate`",
}


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Errors of SQLAlchemy and Alembic become PermanentError or TemporaryError; a broken constraint stays one."""
    try:
        yield
    except IntegrityError:
        raise
    except DBAPIError as error:
        said = str(error.orig).strip().split("\n")[0]
        remedy = next((remedy for words, remedy in _LASTING.items() if words in said), None)
        if remedy is not None:
            raise PermanentError(f"the database {place} cannot be used: {said}", remedy=remedy) from error
        if "full" in said:
            raise TemporaryError(
                f"nothing can be stored in the database {place}: {said}",
                remedy="make room on that disk",
                retry_after_s=10.0,
            ) from error
        if not isinstance(error, OperationalError):
            raise
        raise TemporaryError(
            f"the database {place} did not answer: {said}",
            remedy="try again; if it stays so, see `relaunch check`",
            retry_after_s=1.0,
        ) from error
    except CommandError as error:
        if "locate revision" not in str(error):
            raise
        raise PermanentError(
            f"the database {place} was made by a newer version of Relaunch",
            remedy="run that version, or start with a new database",
        ) from error
    except (ArgumentError, NoSuchModuleError) as error:
        raise PermanentError(
            "RELAUNCH_DATABASE_URL is no database that can be used",
            remedy="write postgresql://USER:PASSWORD@HOST/NAME or sqlite:////absolute/path.db",
        ) from error
