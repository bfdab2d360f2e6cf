"""Facts at rest: one encrypted row each, so that a run that was paused can go on after a restart.

AES-256-GCM. A row's name and kind are authenticated with its value: a row that was exchanged for another, renamed, or
turned from secret to shared cannot be read. The key is our own, in the system's keyring or a file beside the settings,
never in the database: a copy of the database alone tells names and no value.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Column, LargeBinary, String, Table, bindparam, delete, select

from surefoot.errors import FactError, NotFoundError, VaultError
from surefoot.flows.detection import is_secret_name, is_secret_value
from surefoot.flows.facts import MAX_NAME, Facts, checked_name
from surefoot.storage import Prepared, metadata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from surefoot.models.keys import OwnKey
    from surefoot.storage import Database

KEY_NAME = "SUREFOOT_FACTS_KEY"
MAX_VALUE = 10_000
"""Characters of a value: more than any field of a form takes, keys in several lines included."""

_NONCE_BYTES = 12
"""NIST SP 800-38D. Drawn anew at each write: a person's writes stay far below the 2^32 that one key allows."""

Kind = Literal["shared", "secret"]
Cause = Literal["asked", "name", "value", "before", ""]

facts = Table(
    "facts",
    metadata,
    Column("name", String(MAX_NAME), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("ciphertext", LargeBinary, nullable=False),
    Column("nonce", LargeBinary, nullable=False),
    Column("key_id", String(32), nullable=False),
    Column("updated_at", String(27), nullable=False),
)

_COLUMNS = ("name", "kind", "ciphertext", "nonce", "key_id", "updated_at")
_OF_NAME = facts.c.name == bindparam("of_name")
_INSERT = Prepared.insert(facts, *_COLUMNS)
_DELETE = Prepared(delete(facts).where(_OF_NAME))
_KIND = Prepared(select(facts.c.kind).where(_OF_NAME))
_GET = Prepared(select(*(facts.c[name] for name in _COLUMNS)).where(_OF_NAME))
_LIST = Prepared(select(facts.c.name, facts.c.kind, facts.c.updated_at).order_by(facts.c.name))


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact that is kept, without its value. `updated_at` is UTC, ISO 8601.

    `cause` says why it is secret where that was just decided: `asked` for, by its `name` or `value`, or as `before`.
    """

    name: str
    kind: Kind
    updated_at: str
    cause: Cause = ""

    @property
    def secret(self) -> bool:
        """Its value is only ever typed."""
        return self.kind == "secret"

    def to_dict(self) -> dict[str, Any]:
        """As JSON: `name`, `kind`, `updated_at`."""
        return {"name": self.name, "kind": self.kind, "updated_at": self.updated_at}


def set_fact(database: Database, name: str, value: str, *, secret: bool = False) -> StoredFact:
    """Keep a fact, in place of the one of that name. One that was secret stays so until it is removed.

    Raises:
        FactError: the name or the value cannot be used.
        SettingsError: there is no key, and none can be made.
        StorageError: it could not be written.
    """
    made = Facts({name: value}, [name] if secret else [])
    name = made.names.all[0]
    if len(value) > MAX_VALUE:
        raise FactError(
            f"The value of {name!r} has {len(value):,} characters; {MAX_VALUE:,} are allowed.",
            "Put long texts into a file.",
            reason="value",
            name=name,
        )
    from surefoot.models.keys import own_key

    key = own_key(KEY_NAME)  # before the transaction: a keyring may wait for the person
    at = datetime.now(UTC).isoformat(timespec="microseconds")[:-6] + "Z"

    def write(tx: Connection) -> StoredFact:
        before = _KIND.row(tx, of_name=name)
        cause = _cause(name, value, asked=secret, before=before is not None and before[0] == "secret")
        stored = StoredFact(name, "secret" if cause else "shared", at, cause)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = _cipher(key).encrypt(nonce, value.encode(), _bound(name, stored.kind))
        _DELETE.run(tx, of_name=name)
        _INSERT.run(
            tx, name=name, kind=stored.kind, ciphertext=sealed, nonce=nonce, key_id=key.id, updated_at=at
        )
        return stored

    return database.write_sync(write, durable=True)


def _cause(name: str, value: str, *, asked: bool, before: bool) -> Cause:
    if is_secret_name(name):
        return "name"
    if is_secret_value(value):
        return "value"
    if asked:
        return "asked"
    return "before" if before else ""


def list_facts(database: Database) -> list[StoredFact]:
    """What is kept, by name: names and kinds. Needs no key."""
    return database.read_sync(lambda tx: [StoredFact(*row) for row in _LIST.rows(tx)])


def remove_fact(database: Database, name: str) -> None:
    """Forget a fact. Needs no key: what cannot be read any more can be removed.

    Raises:
        NotFoundError: there is none of that name.
    """
    known = checked_name(name)
    if not database.write_sync(lambda tx: _DELETE.run(tx, of_name=known), durable=True):
        raise _not_kept([known], [fact.name for fact in list_facts(database)])


def load_facts(database: Database, names: Iterable[str] | None = None) -> Facts:
    """The facts of these names with their values; None loads all. Each is secret or shared as it was kept.

    Secret values are masked in the context that calls. Who calls it in a thread calls `Facts.mask` in their own.

    Raises:
        NotFoundError: one of them is not kept.
        VaultError: the key they were encrypted with is not here, or a row is damaged. Nothing is changed by that.
    """
    wanted = [fact.name for fact in list_facts(database)] if names is None else list(map(checked_name, names))
    found = database.read_sync(
        lambda tx: {name: _GET.row(tx, of_name=name) for name in dict.fromkeys(wanted)}
    )
    missing = [name for name, row in found.items() if row is None]
    if missing:
        raise _not_kept(missing, [fact.name for fact in list_facts(database)])
    rows = [row for row in found.values() if row is not None]
    values = _opened(rows) if rows else {}
    return Facts(values, [row[0] for row in rows if row[1] == "secret"])


def _opened(rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    from cryptography.exceptions import InvalidTag

    from surefoot.models.keys import own_keys

    keys = {key.id: key for key in own_keys(KEY_NAME)}
    lost = [row[0] for row in rows if row[4] not in keys]
    if lost:
        raise _key_lost(lost)
    values, damaged = {}, []
    for name, kind, ciphertext, nonce, key_id, _ in rows:
        try:
            values[name] = _cipher(keys[key_id]).decrypt(nonce, ciphertext, _bound(name, kind)).decode()
        except (InvalidTag, ValueError):  # ValueError: a nonce of a wrong length
            damaged.append(name)
    if damaged:
        listed = ", ".join(map(repr, damaged))
        raise VaultError(
            f"What is kept of {listed} is damaged or was changed: it is not what was encrypted for this name.",
            f"Put a backup of the database in its place, or set it again: surefoot facts set {_quoted(damaged[0])}",
            reason="damaged",
            names=damaged,
        )
    return values


def _cipher(key: OwnKey) -> Any:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key.reveal())


def _bound(name: str, kind: str) -> bytes:
    """What a value is bound to: as JSON, so that no two pairs give the same bytes."""
    return json.dumps(["surefoot.facts", 1, name, kind]).encode()


def _key_lost(names: list[str]) -> VaultError:
    from surefoot.models.keys import own_key_places

    return VaultError(
        f"The key that {', '.join(map(repr, names))} was encrypted with is not here any more: it was looked for in "
        f"{own_key_places(KEY_NAME)}.",
        "Unlock the keyring or put the key file back; what is kept stays as it is. Without the key nobody can read "
        f"the values: set them again, as in: surefoot facts set {_quoted(names[0])}",
        reason="key",
        names=names,
    )


def _not_kept(missing: list[str], there: list[str]) -> NotFoundError:
    from rapidfuzz import process

    near = process.extractOne(missing[0], there, score_cutoff=60)
    hint = f"Did you mean {near[0]!r}?" if near else "`surefoot facts list` names those that are kept."
    return NotFoundError(f"No fact is kept as {', '.join(map(repr, missing))}.", hint, names=missing)


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name)
