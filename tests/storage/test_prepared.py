"""A prepared statement does what the same statement through SQLAlchemy does."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import (
    Boolean,
    Column,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    create_engine,
    delete,
    func,
    literal,
    select,
    update,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.types import TypeDecorator

from surefoot.errors import MisuseError
from surefoot.storage import Prepared
from surefoot.storage.prepared import _compile


class AsJson(TypeDecorator):
    """A type with its own way in and out."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return json.dumps(value)

    def process_result_value(self, value, dialect):
        return json.loads(value)


own = MetaData()
things = Table(
    "things",
    own,
    Column("number", Integer, primary_key=True),
    Column("key", Text, unique=True),
    Column("flag", Boolean),
    Column("data", AsJson),
)


@pytest.fixture
def tx():
    engine = create_engine("sqlite://")
    own.create_all(engine)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


INSERT = Prepared.insert(things)
ALL = Prepared(select(things).order_by(things.c.number))


def test_values_go_in_and_out_by_their_types(tx):
    """Booleans come back as booleans, own types through their own functions, None as None."""
    INSERT.run(tx, number=1, key="a", flag=True, data={"x": [1]})
    INSERT.run(tx, number=2, key="b", flag=None, data=None)
    assert ALL.rows(tx) == [(1, "a", True, {"x": [1]}), (2, "b", None, None)]
    assert ALL.rows(tx) == [tuple(row) for row in tx.execute(select(things).order_by(things.c.number))]
    assert ALL.row(tx) == (1, "a", True, {"x": [1]})


def test_rows_are_tuples_whatever_the_types(tx):
    """Without own types the driver's tuples are handed on; no row is None."""
    keys = Prepared(select(things.c.key).where(things.c.number == bindparam("of_number")))
    assert keys.row(tx, of_number=1) is None
    assert keys.rows(tx, of_number=1) == []
    INSERT.run(tx, number=1, key="a", flag=False, data=0)
    assert keys.row(tx, of_number=1) == ("a",)
    assert keys.rows(tx, of_number=1) == [("a",)]


def test_the_number_of_rows_is_told(tx):
    """Updates and deletes say how many rows they touched."""
    INSERT.many(tx, [{"number": n, "key": str(n), "flag": False, "data": n} for n in range(5)])
    INSERT.many(tx, [])
    change = Prepared(
        update(things).where(things.c.number < bindparam("below")).values(flag=bindparam("flag"))
    )
    assert change.run(tx, below=3, flag=True) == 3
    assert change.run(tx, below=0, flag=True) == 0
    assert Prepared(delete(things)).run(tx) == 5


def test_an_insert_may_name_its_columns(tx):
    """Columns that are not named keep their default."""
    Prepared.insert(things, "key", "data").run(tx, key="x", data=1)
    assert ALL.rows(tx) == [(1, "x", None, 1)]


def test_constants_in_a_statement_stay(tx):
    """Values that stand in the statement need not be given."""
    Prepared.insert(things, "key", "data").run(tx, key="x", data=1)
    found = Prepared(select(things.c.key, literal(7)).where(things.c.number == 1).limit(3))
    assert found.rows(tx) == [("x", 7)]


def test_a_value_that_is_missing_is_named(tx):
    """A forgotten value is a KeyError with its name, not a NULL."""
    with pytest.raises(KeyError, match="flag"):
        INSERT.run(tx, number=1, key="a", data=1)


def test_errors_are_those_of_sqlalchemy(tx):
    """Who catches `IntegrityError` catches it here too; the driver's error is in it, values are not in its text."""
    INSERT.run(tx, number=1, key="hidden-value", flag=True, data=1)
    with pytest.raises(IntegrityError, match="UNIQUE") as raised:
        INSERT.run(tx, number=2, key="hidden-value", flag=True, data=1)
    assert raised.value.orig is not None
    assert "hidden-value" not in str(raised.value)
    tx.exec_driver_sql("DROP TABLE things")
    with pytest.raises(OperationalError, match="no such table"):
        ALL.rows(tx)


def test_what_the_driver_does_not_raise_passes_unchanged(tx):
    """A text no encoding can write fails as Python's own error."""
    with pytest.raises(UnicodeEncodeError):
        INSERT.run(tx, number=1, key="\ud800", flag=True, data=1)


def test_an_expanding_list_cannot_be_prepared(tx):
    """`IN` with a list has another text for each length."""
    with pytest.raises(MisuseError, match="expanding"):
        Prepared(select(things.c.key).where(things.c.number.in_(bindparam("numbers", expanding=True)))).rows(
            tx
        )


def test_each_dialect_gets_its_own_form():
    """The same statement compiles for PostgreSQL, with that driver's way of naming values."""
    form = _compile(
        update(things).where(things.c.number == bindparam("of")).values(flag=bindparam("flag")),
        postgresql.dialect(),
    )
    assert not form.positional
    assert form.parameters({"of": 1, "flag": True}) == {"of": 1, "flag": True}
    assert "%(of)s" in form.sql


def test_a_statement_is_compiled_once(tx, monkeypatch):
    """Compiling again and again is what preparing saves."""
    import surefoot.storage.prepared as module

    compiled = []
    original = module._compile
    monkeypatch.setattr(module, "_compile", lambda *given: compiled.append(1) or original(*given))
    count = Prepared(select(func.count()).select_from(things))
    assert [count.row(tx) for _ in range(5)] == [(0,)] * 5
    assert compiled == [1]
