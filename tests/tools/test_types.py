"""The shared types, and the face of the package."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot.tools
from surefoot.errors import MisuseError
from surefoot.tools.types import Actor

from .harness import context


@pytest.mark.parametrize(
    "actor", [Actor(), Actor("person", "Ann"), Actor("mission", "a:b"), Actor("agent", "")]
)
def test_an_actor_survives_its_text(actor: Actor):
    """As it stands in a row."""
    assert Actor.parse(str(actor)) == actor


@pytest.mark.parametrize("text", ["Ann", "robot:x", ""])
def test_other_texts_are_agents(text: str):
    """Nothing is lost of a name that has no kind."""
    assert Actor.parse(text) == Actor("agent", text)


def test_ids_depend_on_run_and_call_only(tmp_path: Path):
    """A resumed call makes the same ones; every number another."""
    first = context(tmp_path)
    assert first.new_id() == context(tmp_path, language="de").new_id()
    others = {
        first.new_id(),
        first.new_id(1),
        context(tmp_path, "step.2").new_id(),
        context(tmp_path, run="r2").new_id(),
    }
    assert len(others) == 4
    assert all(len(one) == 12 for one in others)


def test_a_context_without_a_transaction(tmp_path: Path):
    """It says who opens one."""
    with pytest.raises(MisuseError):
        _ = context(tmp_path).open_tx


def test_the_face_of_the_package():
    """Every public name loads; others do not exist."""
    for name in surefoot.tools.__all__:
        assert getattr(surefoot.tools, name) is not None
        assert name in dir(surefoot.tools)
    with pytest.raises(AttributeError):
        _ = surefoot.tools.nothing
