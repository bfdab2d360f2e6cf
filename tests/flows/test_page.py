"""The page on writing flows is true: its flows pass the check, its program runs, its table is that of the steps."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from surefoot import ScriptedModel, models
from surefoot.flows import FactNames, check_flow, read_flow
from surefoot.flows.scope import missing_names
from surefoot.flows.steps import KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "flows.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of this language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


FLOWS = [*blocks("json"), *blocks("yaml")]


def test_the_table_tells_every_step():
    """As the table of the code has it, in its order."""
    rows = []
    for kind in KINDS.values():
        named = [
            f"`{part.key}`{'' if part.required else ', optional'}: {part.meaning}" for part in kind.parts
        ]
        value = kind.parts[0].meaning if kind.plain else "; ".join(named)
        rows.append(f"| `{kind.name}` | {value} | {kind.meaning} |")
    assert "|---|---|---|\n" + "\n".join(rows) + "\n\n" in PAGE


@pytest.mark.parametrize("text", FLOWS)
def test_every_flow_of_the_page_passes_the_check(text):
    """With the facts that it uses; those that are secret by their name stand where secrets may."""
    source = read_flow(text)
    facts = FactNames(shared=tuple(missing_names(source.value)))
    assert check_flow(source, facts) == []


def test_the_flow_in_yaml_is_the_flow_in_json():
    """As the page says of the first two."""
    assert read_flow(blocks("yaml")[0]).value == json.loads(blocks("json")[0])


def test_the_program_tells_problems_with_their_lines(tmp_path):
    """Nothing for the first flow of the page, and what is wrong for one with a slip."""
    program, _ = blocks("python")
    told = []
    for text in (blocks("json")[0], blocks("json")[0].replace('"verify"', '"verfy"')):
        (tmp_path / "tea.json").write_text(text, encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        told.append(ran.stdout)
    assert told[0] == ""
    assert told[1].startswith("tea.json:8: step 5: ")
    assert "verify" in told[1]


def test_the_program_that_plans_shows_the_flow_and_what_to_ask(monkeypatch, capsys):
    """As it stands, with a scripted model as the default one: first a slip, then the flow with a name nobody gave."""
    flow = json.loads(blocks("json")[0])
    flow["steps"].insert(4, {"enter": {"first name": "${first name}"}})
    slip = json.dumps({**flow, "steps": [{"brwose": "shop.example.com"}, *flow["steps"]]})
    model = ScriptedModel(slip, json.dumps(flow))

    async def default_model(settings):
        return model

    monkeypatch.setitem(vars(models), "default_model", default_model)
    _, program = blocks("python")
    exec(compile(program, "flows.md", "exec"), {"__name__": "__main__"})
    model.assert_done()
    text, _, asked = capsys.readouterr().out.partition("To be asked first: ")
    assert json.loads(text) == flow
    assert asked == "['first name']\n"


def test_the_settings_for_an_editor_are_json():
    """And name the file that the command before them writes."""
    (settings,) = blocks("jsonc")
    assert "flow.schema.json" in json.loads(settings)["json.schemas"][0]["url"]
    assert "surefoot flow schema > flow.schema.json" in PAGE
