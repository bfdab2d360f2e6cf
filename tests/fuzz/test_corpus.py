"""What the fuzzer found worth keeping is read and checked in every run of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.target import read_and_check

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_an_input_of_the_corpus_is_read_and_checked(path: Path):
    """Refused or not, nothing else happens."""
    read_and_check(path.read_bytes())


def test_the_corpus_stays_short():
    """It is replayed in every run."""
    assert 0 < len(CORPUS) < 60
    assert sum(path.stat().st_size for path in CORPUS) < 100_000
