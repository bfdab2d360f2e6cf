"""The program of docs/missions.md does what the page says."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import surefoot
from surefoot import Assistant, ScriptedModel
from surefoot.missions import said

from .support import call

PAGE = (Path(__file__).parents[2] / "docs" / "missions.md").read_text(encoding="utf-8")


async def test_the_program_runs(monkeypatch, capsys):
    """A mission is made, carried out and taken back."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    model = ScriptedModel([call("addTask", title="Water the plants")], "I remind you.")
    monkeypatch.setattr(surefoot, "Assistant", partial(Assistant, model=model))
    names: dict = {}
    exec(compile(program, "missions.md", "exec"), names)
    await names["water"]()
    assert capsys.readouterr().out == "done I remind you.\n"


def test_every_cadence_of_the_page_is_read():
    """The table's rows, and the German words below it."""
    table = PAGE.split("| cadence | says |")[1].split("## ")[0]
    shown = re.findall(r"`([^`]+)`", table.split("`surefoot missions due`")[0])
    assert len(shown) >= 9
    for text in shown:
        said.read(text)
