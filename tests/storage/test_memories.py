"""The memories' table: what is set is found, what is taken back is not."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from surefoot.storage import Database, memories
from surefoot.storage.memories import MemoryRow

AT = "2026-11-30T18:30:00.000000Z"


def _row(id_, text, kind="fact", run="r", at=AT, *, undone=False):
    return MemoryRow(id_, kind, text, run, at, undone)


@pytest.fixture
def database(place):
    with Database(place) as opened:
        yield opened


def _search(database, question, limit=8):
    return [row.id for row in database.read_sync(lambda tx: memories.search(tx, question, limit))]


def test_a_row_is_set_changed_and_removed(database):
    """`put` sets a row whether or not it is there, `remove` sets it to nothing; the index follows."""
    first = _row("a", "Anna likes tea")
    database.write_sync(lambda tx: memories.put(tx, first))
    assert database.read_sync(lambda tx: memories.get(tx, "a")) == first
    changed = replace(first, text="Anna likes coffee", version=2)
    database.write_sync(lambda tx: memories.put(tx, changed))
    assert database.read_sync(lambda tx: memories.get(tx, "a")) == changed
    assert (_search(database, "tea"), _search(database, "coffee")) == ([], ["a"])
    database.write_sync(lambda tx: memories.remove(tx, "a"))
    database.write_sync(lambda tx: memories.remove(tx, "a"))
    assert database.read_sync(lambda tx: memories.get(tx, "a")) is None
    assert _search(database, "coffee") == []


def test_valid_ones_are_listed_by_kind(database):
    """Oldest first, those taken back left out."""
    rows = [
        _row("b", "one"),
        _row("a", "two"),
        _row("c", "three", undone=True),
        _row("d", "four", kind="diary"),
    ]
    database.write_sync(lambda tx: [memories.add(tx, row) for row in rows])
    assert [row.id for row in database.read_sync(lambda tx: memories.valid(tx, "fact"))] == ["b", "a"]
    assert [row.id for row in database.read_sync(lambda tx: memories.valid(tx, "diary"))] == ["d"]


def test_a_memory_rolled_back_is_not_in_the_index(database):
    """Table and index commit together."""

    def fails(tx):
        memories.add(tx, _row("a", "Anna likes tea"))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        database.write_sync(fails)
    assert _search(database, "tea") == []


def _changes(database):
    for number in range(20):
        database.write_sync(lambda tx, n=number: memories.put(tx, _row(str(n % 7), f"text {n} 喝茶")))
        database.write_sync(lambda tx, n=number: memories.remove(tx, str(n % 3)))


def test_the_index_finds_what_the_table_holds(database):
    """After inserts, updates and deletes: each row by its own word, and nothing that is gone."""
    _changes(database)
    left = {row.text: row.id for row in database.read_sync(lambda tx: memories.valid(tx, "fact"))}
    assert len(left) == 4
    for number in range(20):
        text = f"text {number} 喝茶"
        assert _search(database, str(number)) == ([left[text]] if text in left else [])
    assert sorted(_search(database, "喝茶")) == sorted(left.values())


def test_the_index_of_sqlite_stays_whole(migrated, tmp_path):
    """It agrees with the table, by SQLite's own check."""
    with Database(shutil.copy(migrated, tmp_path / "kept.db")) as database:
        _changes(database)
        database.write_sync(
            lambda tx: tx.exec_driver_sql(
                "INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)"
            )
        )


@pytest.mark.parametrize("length", [499, 500, 501, 3_000])
def test_words_of_any_length_are_found(database, length):
    """What an index cannot hold whole is found all the same, and told from what begins alike."""
    word, other = "x" * length, "x" * (length - 1) + "y"
    database.write_sync(lambda tx: [memories.add(tx, _row(id_, id_)) for id_ in (word[:60], "short")])
    database.write_sync(
        lambda tx: [memories.add(tx, _row("a", f"tea {word}")), memories.add(tx, _row("b", other))]
    )
    assert _search(database, word) == ["a"]
    assert _search(database, other) == ["b"]


def test_a_text_of_a_megabyte_can_be_kept(database):
    """Longer than any index takes: what stands in front is found."""
    text = "kayak " + " ".join(f"word{number}" for number in range(200_000))
    database.write_sync(lambda tx: memories.add(tx, _row("a", text)))
    assert _search(database, "kayak") == ["a"]
    assert database.read_sync(lambda tx: memories.get(tx, "a")).text == text


def test_a_rare_word_is_not_lost_behind_common_ones(database):
    """Hundreds hold both common words of the question, one holds the rare one and nothing else."""
    rows = [_row(f"n{number}", f"the day number {number}") for number in range(memories.CANDIDATES + 50)]
    database.write_sync(lambda tx: [memories.add(tx, row) for row in [_row("best", "kayak"), *rows]])
    assert "best" in _search(database, "the day kayak", memories.CANDIDATES)


def test_more_matches_than_candidates_still_give_the_best(database):
    """The rare word wins over hundreds of hits of the common one."""
    rows = [_row(f"n{number}", f"the day number {number}") for number in range(memories.CANDIDATES + 50)]
    database.write_sync(lambda tx: [memories.add(tx, row) for row in [*rows, _row("best", "the kayak day")]])
    assert _search(database, "the day of the kayak", 1) == ["best"]
    assert len(_search(database, "the", 10_000)) == memories.CANDIDATES
    assert _search(database, "the", 0) == []


def test_a_text_of_another_spelling_of_the_index_is_not_ranked():
    """What the index hands over without one of the words (its own idea of a word) is left out."""
    assert memories.rank(["tea"], [_row("a", "coffee")]) == []
