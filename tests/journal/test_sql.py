"""What only the journal in a database does: other processes, signs of life, power of two."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading

import pytest

from surefoot.errors import MisuseError, StorageError
from surefoot.events import EventType
from surefoot.journal import SqlJournal, lease
from surefoot.journal.lease import Heart, holder_lives
from surefoot.journal.types import Call, CallStatus, Finished, Run, RunStatus
from surefoot.storage import Database
from surefoot.tools.types import Effect

RUN = "0123456789abcdef"


@pytest.fixture
async def journal(database_path, clock):
    with Database(database_path) as database:
        opened = SqlJournal(database, clock)
        yield opened
        await opened.close()


async def test_json_in_the_database_is_canonical(journal):
    """Sorted keys, no escapes: equal values are equal bytes, and a person can read them."""
    await journal.create_run(Run(RUN, "g", context={"ü": 1, "b": [1, {"z": 0, "a": None}], "a": "x"}))
    stored = await journal.transact(lambda tx: tx.exec_driver_sql("SELECT context FROM runs").scalar())
    assert stored == '{"a":"x","b":[1,{"a":null,"z":0}],"ü":1}'
    times = await journal.transact(lambda tx: tx.exec_driver_sql("SELECT created_at FROM runs").scalar())
    assert times == "2026-11-30T18:30:00.000001Z"


# --- what is on the disk -------------------------------------------------------------------------------------


async def test_the_intent_of_a_payment_waits_for_the_disk(journal):
    """Durable intents commit with synchronous=FULL, every other write with NORMAL."""
    await journal.create_run(Run(RUN, "g"))
    levels = []

    def look(tx):
        levels.append(tx.exec_driver_sql("PRAGMA synchronous").scalar())

    def body(tx, call):
        look(tx)
        return Finished(call.with_(status=CallStatus.DONE))

    for number, durable in enumerate((True, False)):
        call = Call(RUN, f"a{number}", 0, "c", "pay", {}, Effect.EXTERNAL)
        await journal.intend(call, look, durable=durable)
        await journal.perform(
            Call(RUN, f"b{number}", 0, "c", "pay", {}, Effect.EXTERNAL), look, (), body, durable=durable
        )
    assert levels == [2, 2, 1, 1, 1, 1]


async def test_a_full_disk_is_an_error_of_the_write_and_nothing_is_half_written(journal):
    """Intent and result are refused as StorageError; what stood before stands."""
    await journal.create_run(Run(RUN, "g"))
    call = await journal.intend(Call(RUN, "k", 0, "c", "t", {}, Effect.WRITE), None)
    pages = await journal.transact(lambda tx: tx.exec_driver_sql("PRAGMA page_count").scalar())
    await journal.transact(lambda tx: tx.exec_driver_sql(f"PRAGMA max_page_count={pages}").scalar())
    big = call.with_(status=CallStatus.DONE, result="x" * 100_000)
    with pytest.raises(StorageError, match="full"):
        await journal.finish(call, lambda _: Finished(big, [(EventType.CALL_DONE, {})]))
    assert await journal.calls(RUN) == [call]
    assert await journal.events(RUN) == []
    await journal.transact(lambda tx: tx.exec_driver_sql(f"PRAGMA max_page_count={pages + 1000}").scalar())
    assert await journal.finish(big, None) == big


async def test_a_call_costs_a_handful_of_statements(journal):
    """The hot path does not grow: three statements for an intent, three for a result, and no second look."""
    await journal.create_run(Run(RUN, "g"))
    statements = []

    def watch(tx):
        raw = tx.connection.driver_connection
        raw.set_trace_callback(statements.append)

    await journal.transact(watch)
    statements.clear()
    call = await journal.intend(
        Call(RUN, "k", 0, "c", "t", {}, Effect.WRITE), None, [(EventType.CALL_INTENDED, {})], fence=0
    )
    await journal.finish(
        call, lambda _: Finished(call.with_(status=CallStatus.DONE), [(EventType.CALL_DONE, {})])
    )
    kinds = [one.split()[0] for one in statements]
    assert kinds == [
        "BEGIN",
        "SELECT",
        "INSERT",
        "INSERT",
        "COMMIT",
        "BEGIN",
        "SELECT",
        "UPDATE",
        "INSERT",
        "COMMIT",
    ]


async def test_no_query_reads_a_whole_table(journal):
    """Every prepared query finds its rows by a key, so a call costs the same after a million of them."""
    from surefoot.journal import statements as sql
    from surefoot.storage import Prepared

    named = {name: value for name, value in vars(sql).items() if isinstance(value, Prepared)}
    whole = {"RUNS"}  # lists the newest runs, in the order of the primary key, up to its limit

    def plans(tx):
        found = {}
        for name, statement in named.items():
            form = statement._form(tx.dialect)
            rows = tx.exec_driver_sql(
                f"EXPLAIN QUERY PLAN {form.sql}", tuple(1 for _ in form.names)
            ).fetchall()
            found[name] = " / ".join(row[-1] for row in rows)
        return found

    scans = {name for name, plan in (await journal.transact(plans)).items() if "SCAN" in plan}
    assert scans <= whole | {"RUN_LAST", "LAST_DIALOGUE"}  # the last row by the primary key


# --- signs of life -------------------------------------------------------------------------------------------


async def test_a_living_worker_gives_signs(journal, clock, monkeypatch):
    """Runs that are held get a new heartbeat, until they rest; other runs get none."""
    beats = []
    heart = Heart(lambda held: beats.append(held) or journal._beat(held), every=0.01)
    journal._heart = heart
    await journal.create_run(Run("a" * 16, "g"))
    await journal.create_run(Run("b" * 16, "g", owner="elsewhere/1/x"))
    run = await journal.claim("a" * 16, "here/1/x")
    clock.forward(lease.LEASE_SECONDS + 1)

    async def beaten(count):
        while len(beats) < count:
            await asyncio.sleep(0.01)

    await asyncio.wait_for(beaten(2), 10)
    assert beats[0] == {"b" * 16: 1, "a" * 16: 1}
    assert await journal.release_dead() == []
    clock.forward(lease.LEASE_SECONDS - 5)
    run = await journal.set_run(run.with_(status=RunStatus.RUNNING))
    await journal.set_run(run.with_(status=RunStatus.DONE))
    beats.clear()
    await asyncio.wait_for(beaten(2), 10)
    assert set(beats[-1]) == {"b" * 16}


async def test_a_run_that_was_taken_over_gets_no_more_signs(journal):
    """The old owner's heart drops it at the first beat."""
    await journal.create_run(Run(RUN, "g"))
    await journal.claim(RUN, "here/1/x")
    run = await journal.claim(RUN, "here/1/x")
    assert journal._beat({RUN: 1, "nobody": 1}) == [RUN, "nobody"]
    assert journal._beat({RUN: run.fence}) == []


def test_a_heart_survives_a_disk_that_fails():
    """A sign that cannot be written is tried again; a run that is lost is dropped."""
    calls, done = [], threading.Event()

    def beat(held):
        calls.append(dict(held))
        if len(calls) == 1:
            raise StorageError("full")
        if len(calls) == 4:
            done.set()
        return ["lost"]

    heart = Heart(beat, every=0.001)
    heart.hold("lost", 1)
    heart.hold("kept", 2)
    assert done.wait(10)
    heart.drop("kept")
    heart.drop("nobody")
    heart.close()
    heart.close()
    heart.hold("late", 1)  # a heart that stopped does not start again
    assert calls[:3] == [{"lost": 1, "kept": 2}, {"lost": 1, "kept": 2}, {"kept": 2}]


def test_a_heart_without_runs_writes_nothing():
    """Nothing held: nothing to say."""
    calls = []
    heart = Heart(lambda held: calls.append(held) or [], every=0.001)
    heart.hold("a", 1)
    heart.drop("a")
    before = len(calls)
    threading.Event().wait(0.05)
    heart.close()
    assert len(calls) <= before + 1


@pytest.mark.parametrize(
    ("seen", "age", "lives"),
    [(True, 10**6, True), (False, 0, False), (None, 29, True), (None, 31, False), (None, None, False)],
)
def test_who_lives(clock, seen, age, lives):
    """A process that can be looked at is judged by that, another by its last sign."""
    from datetime import timedelta

    at = clock.now
    heartbeat = None if age is None else at - timedelta(seconds=age)
    assert holder_lives("x", heartbeat, at, look=lambda _: seen) is lives


# --- the room ------------------------------------------------------------------------------------------------


async def test_a_closed_database_is_named(tmp_path):
    """A journal whose database was closed says so."""
    database = Database(tmp_path / "journal.db")
    journal = SqlJournal(database)
    await journal.create_run(Run(RUN, "g", owner="a/1/x"))
    database.close()
    with pytest.raises(MisuseError, match="closed"):
        await journal.run(RUN)
    await journal.close()


def test_the_room_is_lazy_and_names_what_it_lacks():
    """An unknown name is an AttributeError; the known ones are the journals."""
    import surefoot.journal as room

    assert sorted(room.__all__) == room.__all__ == ["MemoryJournal", "SqlJournal"]
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = room.nothing_such


def test_both_journals_have_the_whole_contract():
    """Every method of the protocol, with the same parameters."""
    import inspect

    from surefoot.journal import MemoryJournal
    from surefoot.journal.types import Journal

    for name, declared in vars(Journal).items():
        if name.startswith("_") or not callable(declared):
            continue
        for kind in (SqlJournal, MemoryJournal):
            ours = inspect.signature(getattr(kind, name)).parameters
            assert list(ours) == list(inspect.signature(declared).parameters), (kind, name)
            assert [one.default for one in ours.values()] == [
                one.default for one in inspect.signature(declared).parameters.values()
            ]


def test_sqlite_reads_the_journal_without_us(tmp_path):
    """Any program can read it: plain tables, plain JSON."""
    path = tmp_path / "journal.db"
    with Database(path) as database:
        asyncio.run(SqlJournal(database).create_run(Run(RUN, "g"), [(EventType.RUN_CREATED, {"goal": "g"})]))
    connection = sqlite3.connect(path)
    assert json.loads(connection.execute("SELECT data FROM events").fetchone()[0]) == {"goal": "g"}
    connection.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("context", "{broken"),
        ("status", "weird"),
        ("created_at", "never"),
        ("error", "[" * 3),
    ],
)
async def test_a_row_that_something_else_wrote_is_damage(journal, database_path, column, value):
    """Told as what it is, with the row; the other runs can still be read."""
    await journal.create_run(Run(RUN, "first"))
    await journal.create_run(Run("fedcba9876543210", "second"))
    raw = sqlite3.connect(database_path)
    raw.execute(f"UPDATE runs SET {column} = ? WHERE id = ?", (value, RUN))
    raw.commit()
    raw.close()
    with pytest.raises(StorageError, match=RUN) as raised:
        await journal.find_run(RUN)
    assert raised.value.details["reason"] == "damaged"
    assert raised.value.next_move
    assert (await journal.find_run("fedc")).goal == "second"
