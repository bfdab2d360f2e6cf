"""What is true of PostgreSQL only: how a transaction begins and meets others, what durable means, how it searches.

SQLite has one writer at a time, so what a transaction read is still true when it writes. Here several processes write
at once, and the same is had by SERIALIZABLE transactions: the database refuses one of two that could not have run one
after the other, and that one is run again. The driver is psycopg 3; each dialect object is our own engine's, so what is
set on it touches nobody else's.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from surefoot import redaction
from surefoot.errors import MisuseError, StorageError
from surefoot.storage import postgres_failures as failures
from surefoot.storage.failures import failure
from surefoot.storage.place import Look

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

T = TypeVar("T")

CONNECT_SECONDS = 10
"""For a server that does not answer; a URL may say otherwise (`?connect_timeout=30`)."""

FIRST_WAIT = 0.001
LONGEST_WAIT = 0.1
"""Seconds before a refused transaction is run again: the one it met takes milliseconds, and each time twice as long is
waited, with chance in it, so that several do not meet again."""

MASKED_FROM = 8
"""Characters of a password that is masked in everything: a shorter one, or one that is only a name over again, is a
word that people write, and masking it would destroy their texts. In errors of the database any is masked."""

MIGRATION_LOCK = 0x5EF007
"""The number of our advisory lock; locks count within one database."""

BEGIN = "BEGIN ISOLATION LEVEL SERIALIZABLE"


class PostgresPlace:
    """A PostgreSQL database (`place.Place`).

    Args:
        url: with whatever libpq takes in its query (`sslmode`, `host` of a socket).
        busy_seconds: how long a write waits for others, and how long it is run again when it met them.
    """

    path = None

    def __init__(self, url: URL, busy_seconds: float) -> None:
        self._url = _with_defaults(url)
        self._passwords = failures.passwords_of(url)
        self.name = _shown(url)
        self.busy_seconds = busy_seconds

    def make_ready(self) -> None:
        """The driver must be there. The password is masked from here on, in what is journaled and shown too."""
        taken = {self._url.username, self._url.database, self._url.host}
        redaction.register(*(one for one in self._passwords if len(one) >= MASKED_FROM and one not in taken))
        try:
            import psycopg  # noqa: F401 - only whether it can be imported
        except ImportError as error:
            raise MisuseError(
                f"{self.name} is a PostgreSQL database, and its driver is not installed.",
                'Install it with: pip install "surefoot[postgres]"',
            ) from error

    def reader_engine(self) -> Engine:
        """A connection for each reader; a transaction of it sees one state of the database."""
        from psycopg import IsolationLevel
        from sqlalchemy.pool import QueuePool

        def prepare(driver: Any) -> None:
            driver.isolation_level = IsolationLevel.REPEATABLE_READ
            driver.read_only = True

        return self._engine(prepare, poolclass=QueuePool, pool_size=4, max_overflow=-1, pool_pre_ping=True)

    def writer_engine(self) -> Engine:
        """For the writer's one connection, which `transact` uses."""
        from sqlalchemy.pool import NullPool

        def prepare(driver: Any) -> None:
            driver.autocommit = True  # `transact` says BEGIN and COMMIT itself
            usual = driver.execute("SHOW synchronous_commit").fetchone()[0]
            driver.surefoot_durable = (
                "on" if usual == "off" else usual
            )  # a server may ask for more than its own disk
            wait = int(self.busy_seconds * 1000)
            driver.execute(f"SET synchronous_commit = off; SET lock_timeout = {max(wait, 1)}")

        return self._engine(prepare, poolclass=NullPool)

    def migration_engine(self) -> Engine:
        """One connection; table definitions are taken back with their transaction here too."""
        from sqlalchemy.pool import NullPool

        return self._engine(None, poolclass=NullPool)

    @contextmanager
    def migration_lock(self, seconds: float) -> Iterator[None]:
        """An advisory lock: it ends with its connection, also when the process is killed."""
        engine = self.migration_engine()
        try:
            with engine.connect() as connection:
                raw = driver(connection)
                raw.autocommit = True
                raw.execute(f"SET lock_timeout = {max(int(seconds * 1000), 1)}")
                raw.execute(f"SELECT pg_advisory_lock({MIGRATION_LOCK})")
                try:
                    yield
                finally:
                    with suppress(Exception):  # a connection that was lost has let go of it
                        raw.execute(f"SELECT pg_advisory_unlock({MIGRATION_LOCK})")
                        raw.autocommit = False
        finally:
            engine.dispose()

    def look(self, readers: Engine) -> Look:
        """What is in the schema that new tables would go to."""
        with readers.connect() as connection:
            found = connection.exec_driver_sql(
                "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = current_schema()"
            )
            names = tuple(str(row[0]) for row in found)
            row = None
            if "alembic_version" in names:
                row = connection.exec_driver_sql("SELECT version_num FROM alembic_version").fetchone()
            elif not names:
                self._check_encoding(connection)
        return Look(names, str(row[0] or "") if row else "")

    def _check_encoding(self, connection: Connection) -> None:
        encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
        if encoding != "UTF8":
            raise failure(failures.ENCODING, self.name, f"its encoding is {encoding}")

    def check_migrated(self, connection: Connection) -> None:
        """Constraints are in force while tables are changed here."""

    def transact(self, connection: Connection, fn: Callable[[Connection], T], *, durable: bool) -> T:
        """Run `fn` in one transaction, and again from its start where it met another one; see the module.

        Raises:
            StorageError: the connection was lost while it committed, so that nobody knows whether it did.
        """
        deadline = time.monotonic() + self.busy_seconds
        wait = FIRST_WAIT
        while True:
            try:
                return self._once(connection, fn, durable=durable)
            except Exception as error:
                if not failures.met_another(error) or time.monotonic() > deadline:
                    raise
            time.sleep(random.uniform(wait / 2, wait))  # noqa: S311 - nothing secret
            wait = min(wait * 2, LONGEST_WAIT)

    def _once(self, connection: Connection, fn: Callable[[Connection], T], *, durable: bool) -> T:
        raw = _begun(connection, durable=durable)
        try:
            value = fn(connection)
            self._commit(raw)
        except BaseException:
            _roll_back(raw)
            raise
        finally:
            if connection.in_nested_transaction():
                connection.rollback()  # a savepoint that the function left open ends with its transaction
        return value

    def _commit(self, raw: Any) -> None:
        from psycopg import OperationalError
        from psycopg.pq import TransactionStatus

        status = raw.info.transaction_status
        if status == TransactionStatus.INERROR:
            raise MisuseError(
                "A statement of the transaction failed, and the function went on.",
                "Let the error pass, or put the statement into a savepoint: with tx.begin_nested().",
            )
        if status == TransactionStatus.IDLE:
            raise MisuseError(
                "The function ended its own transaction.", "It must neither commit nor roll back."
            )
        try:
            raw.execute("COMMIT")
        except OperationalError as error:
            if raw.closed:
                said = failures.said_by(error, self._passwords)
                raise failure(failures.OUTCOME_UNKNOWN, self.name, said) from error
            raise

    def told(self, error: BaseException) -> StorageError | None:
        """See `postgres_failures.storage_error`."""
        return failures.storage_error(error, self.name, self._passwords)

    def wrote_in_a_read(self, error: BaseException) -> bool:
        """Every reader's transaction is read-only."""
        return failures.state_of(getattr(error, "orig", error)) == failures.READ_ONLY_TRANSACTION

    def _engine(self, prepare: Callable[[Any], None] | None, **pool: Any) -> Engine:
        from sqlalchemy import create_engine, event

        engine = create_engine(self._url, hide_parameters=True, **pool)
        engine.dialect.type_compiler_instance = _type_compiler(engine.dialect)

        if prepare is not None:
            event.listen(engine, "connect", lambda driver, _record: prepare(driver))
        return engine


def _shown(url: URL) -> str:
    """The URL without password and query, which may hold one."""
    from sqlalchemy import URL

    shown = URL.create("postgresql", url.username, None, url.host, url.port, url.database)
    return shown.render_as_string(hide_password=True)


def _with_defaults(url: URL) -> URL:
    usual = {"connect_timeout": str(CONNECT_SECONDS), "application_name": "surefoot"}
    query = {**usual, **url.query, "client_encoding": "utf8"}
    return url.set(drivername="postgresql+psycopg", query=query)


def _type_compiler(dialect: Any) -> Any:
    """Columns of text that sort by code points, as SQLite's do, whatever the database's own collation is.

    Only definitions of columns name the column; a type in an expression is left as it is.
    """
    from sqlalchemy import Column
    from sqlalchemy.dialects.postgresql.base import PGTypeCompiler

    class ByCodePoint(PGTypeCompiler):
        def _render_string_type(self, name: str, length: Any, collation: Any, *rest: Any, **kw: Any) -> str:
            defined = isinstance(kw.get("type_expression"), Column)
            text = super()._render_string_type(name, length, collation, *rest, **kw)
            return f'{text} COLLATE "C"' if defined and not collation else text

    return ByCodePoint(dialect)


def driver(connection: Connection) -> Any:
    """The driver's own connection."""
    return connection.connection.driver_connection


def _begun(connection: Connection, *, durable: bool) -> Any:
    """The driver's connection, its transaction begun; a connection that was lost meanwhile is opened anew.

    Nothing was done yet when BEGIN fails, so beginning once more can do nothing twice.
    """
    from psycopg import OperationalError

    raw = _living(connection)
    try:
        _begin(raw, durable=durable)
    except OperationalError:
        if not raw.closed:
            raise
        raw = _living(connection)
        _begin(raw, durable=durable)
    return raw


def _living(connection: Connection) -> Any:
    if not connection.invalidated and not driver(connection).closed:
        return driver(connection)
    connection.invalidate()
    connection.rollback()  # for SQLAlchemy a transaction was open, and it must be told of its end
    return driver(connection)


def _begin(raw: Any, *, durable: bool) -> None:
    level = f"; SET LOCAL synchronous_commit = {raw.surefoot_durable}" if durable else ""
    raw.execute(f"{BEGIN}{level}")


def _roll_back(raw: Any) -> None:
    from psycopg import Error
    from psycopg.pq import TransactionStatus

    if raw.closed or raw.info.transaction_status == TransactionStatus.IDLE:
        return
    with suppress(Error):  # the connection is lost: the server rolls back by itself
        raw.execute("ROLLBACK")


# --- how it searches -----------------------------------------------------------------------------------------

LEXEME = 500
"""Characters of a word that the index keeps (migration 0001 says why)."""

HITS = """
WITH asked AS (
  SELECT place, CAST(one AS tsquery) AS query
  FROM unnest(string_to_array(:question, chr(10))) WITH ORDINALITY AS words(one, place)
), hits AS (
  SELECT asked.place, memories.number
  FROM asked JOIN memories ON surefoot_lexemes(memories.words) @@ asked.query
  WHERE NOT memories.undone
), rare AS (
  SELECT place, count(*) AS held FROM hits GROUP BY place
), every AS (
  SELECT count(DISTINCT number) AS found FROM hits
)
SELECT hits.number
FROM hits JOIN rare ON rare.place = hits.place CROSS JOIN every
GROUP BY hits.number
ORDER BY sum(ln(1 + CAST(every.found AS double precision) / rare.held)) DESC, hits.number DESC
LIMIT :most
"""
"""Numbers of the memories that hold a word of the question, the best first: by the weights of `memories.rank`, since
`ts_rank` does not know how rare a word is, and a rare one must not fall behind the limit."""


def question(asked: Iterable[tuple[str, bool]]) -> str:
    """The question as `HITS` reads it: a query for each word, in lines.

    Words have only letters and digits, and stand in quotes: nothing in a question is ever an operator.
    """
    return "\n".join(_query(word, prefix=prefix) for word, prefix in asked)


def _query(word: str, *, prefix: bool) -> str:
    return f"'{word[:LEXEME]}'{':*' if prefix or len(word) > LEXEME else ''}"
