"""A PostgreSQL cluster for one test run. PostgreSQL refuses to run as root, so that root lends it an account."""

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import create_engine, text

from tests.rig import needs
from tests.rig.sshd import free_port

_ACCOUNTS = ("postgres", "nobody")


def cluster() -> Iterator[str]:
    """The URL of a running cluster; it ends afterwards."""
    given = os.environ.get("RELAUNCH_TEST_POSTGRES_URL")
    if given:
        yield given
        return
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    initdb = needs.program("initdb", *map(str, versions))
    pg_ctl = needs.program("pg_ctl", *map(str, versions))
    # not among pytest's folders: those are closed to other accounts, again by every pytest that starts meanwhile
    folder = Path(tempfile.mkdtemp(prefix="relaunch-postgres-"))
    data, port = folder / "data", free_port()
    account = _account()
    if account is not None:
        shutil.chown(folder, account)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    _run(account, [initdb, "-D", str(data), "-U", "relaunch", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"])
    _run(account, [pg_ctl, "-D", str(data), "-w", "-t", "60", "-l", str(folder / "log"), "-o", options, "start"])
    try:
        yield f"postgresql+psycopg://relaunch@127.0.0.1:{port}/postgres"
    finally:
        _run(account, [pg_ctl, "-D", str(data), "-m", "immediate", "-w", "stop"])
        shutil.rmtree(folder, ignore_errors=True)


def _account() -> str | None:
    """An account to run as; None: our own."""
    if os.geteuid() != 0:
        return None
    for name in _ACCOUNTS:
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    return needs.missing("root needs an account (postgres or nobody) to run PostgreSQL as")


def _run(account: str | None, command: list[str]) -> None:
    done = subprocess.run(command, user=account, cwd="/", capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")


def empty_database(url: str) -> Iterator[str]:
    """The URL of a new, empty database in the cluster of `url`; it is dropped afterwards."""
    name = f"t{uuid.uuid4().hex[:12]}"
    server = create_engine(url, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    try:
        yield url.rsplit("/", 1)[0] + f"/{name}"
    finally:
        with server.connect() as connection:
            connection.execute(text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        server.dispose()
