"""What a failing PostgreSQL server or connection says, as a `StorageError` with the next move; never the password."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from surefoot.errors import StorageError
from surefoot.redaction import MASK
from surefoot.storage.failures import Sentence, failure

if TYPE_CHECKING:
    from sqlalchemy import URL

_SETTING = "database_url"

FULL: Sentence = (
    "full",
    "The disk of the server of {path} is full.",
    "Free some space there and try again; nothing was written.",
)
CROWDED: Sentence = (
    "too_many_connections",
    "{path} takes no more connections.",
    "End a program that is connected, or raise max_connections of the server; each of ours takes up to five.",
)
EXHAUSTED: Sentence = (
    "resources",
    "The server of {path} is out of memory or another resource.",
    "Try again later.",
)
LOCKED: Sentence = (
    "locked",
    "Another program holds what is to be written in {path}.",
    "Wait for it or end it (a migration, a session left open in a console), then try again.",
)
BUSY: Sentence = (
    "busy",
    "Other programs changed the same rows of {path} each time this was tried.",
    "Try again; nothing was written.",
)
READ_ONLY: Sentence = (
    "read_only",
    "{path} takes no writes: it is a standby, or set to read only.",
    "Name the primary server in " + _SETTING + ", or allow writing.",
)
FORBIDDEN: Sentence = (
    "forbidden",
    "The user of {path} lacks a permission there.",
    "Let its owner grant it: GRANT ALL ON SCHEMA public TO the user, or make the user the database's owner.",
)
DAMAGED: Sentence = (
    "damaged",
    "{path} lacks a table or column that its schema version promises, or is damaged.",
    "Put a backup in its place, or name another database in " + _SETTING + ".",
)
DISK: Sentence = (
    "disk",
    "The server of {path} could not read or write its disk.",
    "Look at the server's log.",
)
STOPPED: Sentence = (
    "stopped",
    "The server of {path} ended the connection: it stops, or starts just now.",
    "Try again when it is up; what was not committed was not written.",
)
LOST: Sentence = (
    "connection_lost",
    "The connection to {path} was lost.",
    "Try again: the connection is opened anew. The transaction was not committed.",
)
OUTCOME_UNKNOWN: Sentence = (
    "outcome_unknown",
    "The connection to {path} was lost while a transaction committed: nobody knows whether it was written.",
    "Look before you do it again (`surefoot runs`, `surefoot show RUN`); the connection is opened anew.",
)
UNREACHABLE: Sentence = (
    "cannot_open",
    "{path} cannot be reached.",
    "Look whether the server runs and whether host and port in " + _SETTING + " are right.",
)
NO_ENTRY: Sentence = (
    "auth",
    "{path} does not let this user in.",
    "Look at user and password in "
    + _SETTING
    + " (special characters of a password as %xx) and at pg_hba.conf.",
)
NO_DATABASE: Sentence = (
    "no_database",
    "{path} does not exist on that server.",
    "Make it (createdb), or name another one in " + _SETTING + ".",
)
ENCODING: Sentence = (
    "encoding",
    "{path} cannot keep every script.",
    "Make a database with ENCODING 'UTF8' and name that one.",
)
TOO_BIG: Sentence = ("too_big", "A value is too large for its column in {path}.", "Store less in one value.")
NUL: Sentence = (
    "nul",
    "A text with a NUL character was to be kept in {path}, and PostgreSQL keeps none.",
    "Take the character out of the text.",
)

READ_ONLY_TRANSACTION = "25006"
MET_ANOTHER = frozenset({"40001", "40P01"})
"""Serialization failure, deadlock: run again as a whole, either may succeed."""

SENTENCES: dict[str, Sentence] = {
    "53100": FULL,
    "53300": CROWDED,
    READ_ONLY_TRANSACTION: READ_ONLY,
    "42501": FORBIDDEN,
    "3F000": FORBIDDEN,
    "42P01": DAMAGED,
    "42703": DAMAGED,
    "42883": DAMAGED,
    "3D000": NO_DATABASE,
    "55P03": LOCKED,
    "40001": BUSY,
    "40P01": BUSY,
    "54000": TOO_BIG,
    "22001": TOO_BIG,
    "57P01": STOPPED,
    "57P02": STOPPED,
    "57P03": STOPPED,
    "57P05": LOST,
    "25P03": LOST,
    "25P04": LOST,
}
"""By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html)."""

CLASSES: dict[str, Sentence] = {
    "08": LOST,
    "28": NO_ENTRY,
    "53": EXHAUSTED,
    "58": DISK,
    "XX": DAMAGED,
}
"""By the class of an SQLSTATE, where the state itself is not listed. Every other one is the caller's own error."""

OPENING: tuple[tuple[re.Pattern[str], Sentence], ...] = (
    (re.compile(r"too many (clients|connections)|connection slots"), CROWDED),
    (
        re.compile(
            r"authentication failed|no password supplied|no pg_hba\.conf entry|role .* does not exist"
        ),
        NO_ENTRY,
    ),
    (re.compile(r"database .* does not exist"), NO_DATABASE),
    (re.compile(r"database system is (starting up|shutting down|in recovery)|not yet accepting"), STOPPED),
    (
        re.compile(r"server closed the connection|connection (is|was) (closed|lost)|consuming input failed"),
        LOST,
    ),
)
"""What libpq says where there is no SQLSTATE: while a connection is made, or when it broke. A server that speaks
another language is told as unreachable, with its words."""


def passwords_of(url: URL) -> tuple[str, ...]:
    """What of a URL must never be shown, in each form it may come back in."""
    query = [url.query.get(name) for name in ("password", "sslpassword")]
    plain = [str(one) for one in (url.password, *query) if one and isinstance(one, str)]
    return tuple(
        sorted({form for one in plain for form in (one, quote(one, safe=""), quote_plus(one))}, key=len)
    )[::-1]


def state_of(error: Any) -> str:
    """The SQLSTATE of a driver's error; empty for none."""
    return str(getattr(error, "sqlstate", None) or "")


def met_another(error: BaseException) -> bool:
    """It, or what it was made of, says that the transaction met another one and may be run again."""
    seen: BaseException | None = error
    while seen is not None:
        if state_of(seen) in MET_ANOTHER:
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def storage_error(error: BaseException, name: str, passwords: Iterable[str]) -> StorageError | None:
    """The error that says what server or connection did; None when it is no failure of theirs."""
    driver = getattr(error, "orig", error)
    if "psycopg" not in type(driver).__module__.split("."):
        return None
    sentence = _sentence(driver)
    return None if sentence is None else failure(sentence, name, said_by(driver, passwords))


def _sentence(driver: Any) -> Sentence | None:
    from psycopg import DataError, OperationalError

    state = state_of(driver)
    if state:
        return SENTENCES.get(state) or CLASSES.get(state[:2])
    text = str(driver)
    if isinstance(driver, DataError) and "NUL" in text:
        return NUL
    if not isinstance(driver, OperationalError):
        return None
    return next((sentence for pattern, sentence in OPENING if pattern.search(text)), UNREACHABLE)


def said_by(driver: Any, passwords: Iterable[str]) -> str:
    """The driver's first sentence: no values of rows, no password."""
    text = driver.diag.message_primary or str(driver)
    for password in passwords:
        text = text.replace(password, MASK)
    return str(text)
