"""`surefoot plan`: the plan and why; nothing is run."""

from __future__ import annotations

import io
import json
import re

import pytest

from surefoot import ScriptedModel
from surefoot.errors import ProviderUnavailableError
from surefoot.models.types import Usage

from .support import BIRTHDAY, plan

STEP_KEYS = {"text", "kind", "tool", "arguments", "placeholders", "concrete"}
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def test_a_plan_is_shown_and_not_run(cli):
    """Steps, and for each why it would run as it would."""
    cli.answers(BIRTHDAY, usage=Usage(200, 190, 6))
    ran = cli("plan", "note Anna's birthday and a task")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == '  plan   1  addNote(title="Anna\'s birthday", text="3 May")'
    assert lines[5] == (
        "  why    1  it names a tool and every value, so it runs as it is, without a model; "
        "changes your data, can be undone; runs without asking"
    )
    assert "only reads" in lines[7]
    assert "answers you; no tool" in lines[8]
    asked = r"Nothing was run; scripted:model was asked \(encoding \w+\); 206 tokens \(190 from cache\);"
    assert re.search(asked, ran.err)
    assert cli("notes", "list", "--json").json == []
    assert cli("runs", "--json").json == []


def test_a_plan_is_made_as_a_request_would_make_it(cli):
    """With the same prompt and the same bindings: what is there, and what arguments may name."""
    cli.answers('1. addNote(title="Lisbon food")\n2. reply()', "Noted.")
    assert cli("ask", "note Lisbon food").code == 0
    shown = cli.answers('1. tagNote(note="Lisbon food", tag="travel")\n2. reply()').requests
    assert cli("plan", "tag my Lisbon note with travel").code == 0
    asked = cli.answers('1. tagNote(note="Lisbon food", tag="travel")\n2. reply()', "Tagged.").requests
    assert cli("ask", "tag my Lisbon note with travel").code == 0
    assert 'note "Lisbon food"' in shown[0].messages[-1].content
    assert shown[0].messages == asked[0].messages
    assert shown[0].bindings["tagNote"]["note"] == asked[0].bindings["tagNote"]["note"]


def test_the_plan_in_json(cli):
    """Exactly the named keys for each step, and what it took beside them."""
    cli.answers(BIRTHDAY)
    found = cli("plan", "--json", "note Anna's birthday").json
    assert all(set(step) == STEP_KEYS for step in found["steps"])
    assert [step["tool"] for step in found["steps"]] == ["addNote", "addTask", "listTasks", None]
    assert (found["failed"], found["model"]) == (None, "scripted:model")
    assert found["encoding"]
    assert found["usage"]["output_tokens"] > 0


def test_placeholders_and_policy_are_explained(cli, monkeypatch):
    """What waits for an earlier step, what asks first."""
    monkeypatch.setenv("SUREFOOT_POLICY", '{"tagNote": "confirm"}')
    cli.answers(plan(("listNotes", {}), ("tagNote", {"note": "<each note id from step 1>", "tag": "rome"})))
    text = cli("plan", "tag every note with rome").out
    assert "it waits for <each note id from step 1>, which the model fills in" in text
    assert "asks you first" in text


def test_a_plan_that_could_not_be_made_says_why(cli):
    """The provider's own error with its own exit code, not the planner's silence."""
    cli.answers(ProviderUnavailableError("Nobody answers at port 1.", "Start it."))
    ran = cli("plan", "note Anna's birthday")
    assert ran.code == 3
    assert "error  unavailable: Nobody answers at port 1." in ran.err
    cli.answers(ProviderUnavailableError("Nobody answers at port 1.", "Start it."))
    ran = cli("plan", "note Anna's birthday", "--json")
    assert (ran.code, ran.json["steps"], ran.json["failed"]) == (3, [], "unavailable")
    assert ran.json["error"]["code"] == "unavailable"


def test_an_empty_plan_is_a_problem(cli):
    """Nothing usable came back: exit 1."""
    cli.answers("")
    ran = cli("plan", "note Anna's birthday", "--json")
    assert ran.code in {1, 3}
    assert ran.json["failed"]


def test_a_planner_that_takes_too_long_is_a_provider_problem(cli, monkeypatch):
    """Exit 3, with the reason."""
    monkeypatch.setenv("SUREFOOT_PLANNER_TIMEOUT_SEC", "0.01")
    cli.answers(BIRTHDAY, delay=5)
    ran = cli("plan", "note Anna's birthday")
    assert ran.code == 3
    assert "No plan could be made (timeout)." in ran.err


def test_planning_switched_off_says_so(cli, monkeypatch):
    """No call, nothing wrong."""
    monkeypatch.setenv("SUREFOOT_PLANNER_ENABLED", "false")
    ran = cli("plan", "note Anna's birthday")
    assert ran.code == 0
    assert "(off)" in ran.err


def test_a_planner_of_its_own_is_asked(cli, monkeypatch):
    """`planner_model` plans, and is let go of."""
    planner = ScriptedModel(BIRTHDAY, name="scripted:planner")

    async def chosen(settings, chat):
        return planner

    monkeypatch.setattr("surefoot.models.planner_model", chosen)
    assert cli("plan", "note it", "--json").json["model"] == "scripted:planner"
    assert planner.closed


# --- plans that are already written, and other catalogues --------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    """A catalogue and a plan in files."""
    (tmp_path / "tools.json").write_text(json.dumps([WEATHER]), encoding="utf-8")
    (tmp_path / "plan.txt").write_text("1. get_weather(city='Rome')\n2. reply()\n", encoding="utf-8")
    return tmp_path


def test_a_written_plan_is_read_without_a_model(cli, files):
    """--from with --tools: parsed, typed, explained."""
    ran = cli("plan", "--from", str(files / "plan.txt"), "--tools", str(files / "tools.json"), "--json")
    assert ran.code == 0
    first, reply = ran.json["steps"]
    assert first == {
        "text": "get_weather(city='Rome')",
        "kind": "tool",
        "tool": "get_weather",
        "arguments": {"city": "Rome"},
        "placeholders": [],
        "concrete": True,
    }
    assert reply["kind"] == "reply"
    assert (cli.model.requests, cli.asked_for) == ([], [])
    assert (ran.json["model"], ran.json["usage"]) == (None, None)


def test_a_written_plan_is_shown_for_people_too(cli, files):
    """A tool known by its schema only counts as acting outside."""
    text = cli("plan", "--from", str(files / "plan.txt"), "--tools", str(files / "tools.json")).out
    assert '  plan   1  get_weather(city="Rome")' in text
    assert "acts outside, cannot be taken back; asks you first" in text


@pytest.mark.parametrize("step", ["look around", "get_weather(city=)", "1. what's up?"])
def test_a_step_that_is_not_concrete_is_still_a_plan(cli, files, monkeypatch, step):
    """Prose and half a call are shown as what they are; exit 0."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(step.encode())))
    ran = cli("plan", "--from", "-", "--tools", str(files / "tools.json"), "--json")
    assert ran.code == 0
    assert not ran.json["steps"][0]["concrete"]


def test_an_empty_written_plan_is_a_problem(cli, monkeypatch):
    """No steps: exit 1, and the JSON says empty."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    ran = cli("plan", "--from", "-", "--json")
    assert (ran.code, ran.json["steps"], ran.json["failed"]) == (1, [], "empty")


def test_a_catalogue_from_standard_input(cli, monkeypatch):
    """A model plans with somebody else's tools."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps([WEATHER]).encode())))
    model = cli.answers(plan(("get_weather", {"city": "Rome"})))
    ran = cli("plan", "weather in Rome?", "--tools", "-", "--json")
    assert ran.json["steps"][0]["tool"] == "get_weather"
    assert "get_weather" in [spec.name for spec in model.requests[0].tools]
    assert "addNote" not in [spec.name for spec in model.requests[0].tools]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"{", "is no JSON that can be read: Expecting"),
        (b"{}", "not a list of function schemas"),
        (b"[1]", "Function schema 1 cannot be read"),
        (b'[{"name": ""}]', "Function schema 1 cannot be read"),
        (b"\xff\xfe", "no valid UTF-8"),
        (b"[" * 100_000, "it nests too deep"),
    ],
)
def test_a_catalogue_that_cannot_be_read(cli, tmp_path, content, what):
    """Exit 6, with the place."""
    (tmp_path / "tools.json").write_bytes(content)
    ran = cli("plan", "hello", "--tools", str(tmp_path / "tools.json"))
    assert ran.code == 6
    assert what in ran.err


@pytest.mark.parametrize("option", ["--tools", "--from"])
def test_a_file_that_is_not_there(cli, tmp_path, option):
    """Named with the reason; a folder is no file; exit 6."""
    request = ["hello"] if option == "--tools" else []
    for path in (tmp_path / "none.json", tmp_path):
        ran = cli("plan", *request, option, str(path))
        assert ran.code == 6
        assert str(path) in ran.err.replace("\n         ", " ")
    assert cli("plan", *request, option, "a\x00b").code == 6


@pytest.mark.parametrize(
    "arguments",
    [(), ("hello", "--from", "x"), ("-", "--tools", "-"), ("--from", "-", "--tools", "-")],
)
def test_uses_that_make_no_sense(cli, arguments):
    """Nothing to plan, two things to plan, one standard input for two."""
    ran = cli("plan", *arguments)
    assert ran.code == 2
    assert "error  usage:" in ran.err


# --- whatever is given --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--tools", "--from"])
def test_a_file_without_end_is_refused(cli, option):
    """A device that never stops is read up to a limit, not until the memory is full."""
    request = ["hello"] if option == "--tools" else []
    ran = cli("plan", *request, option, "/dev/zero")
    assert ran.code == 6
    assert "'/dev/zero' has more than" in " ".join(ran.err.split())


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("search\x00", "NUL byte at character 7"),
        ("é" * 200_001, "more than 200,000 characters"),
        ("x" * 900_000, "more than 800,000 bytes"),
    ],
)
@pytest.mark.parametrize("stdin", [True, False])
def test_a_written_plan_that_is_none(cli, tmp_path, monkeypatch, content, what, stdin):
    """What is no text, or longer than any plan, is unreadable, from a file as from a pipe."""
    data = content.encode()
    (tmp_path / "plan.txt").write_bytes(data)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    ran = cli("plan", "--from", "-" if stdin else str(tmp_path / "plan.txt"))
    assert ran.code == 6
    assert what in " ".join(ran.err.split())


def test_many_tools_come_through_a_pipe(cli, tmp_path, monkeypatch):
    """A catalogue is larger than any request: the limit of the one is not that of the other."""
    schemas = [{"name": f"tool_{number}", "description": "d" * 300} for number in range(5_000)]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(schemas).encode())))
    (tmp_path / "plan.txt").write_text("tool_4999()", encoding="utf-8")
    ran = cli("plan", "--tools", "-", "--from", str(tmp_path / "plan.txt"), "--json")
    assert ran.json["steps"][0]["tool"] == "tool_4999"


OPEN = {
    "name": "open",
    "parameters": {
        "type": "object",
        "properties": {
            "url": {"type": "string", "format": "uri"},
            "as": {"type": "string", "enum": ["markdown", "json"]},
            "note": {"type": "string"},
            "limit": {"type": "integer"},
        },
        "required": ["url"],
    },
}


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ("open(url='[example.com](http://example.com)')", {"url": "http://example.com"}),
        ("open url='example.com'", {"url": "https://example.com"}),
        (
            "open(url='https://a.b', note='example.com tips')",
            {"url": "https://a.b", "note": "example.com tips"},
        ),
        ("open(url='https://a.b', as='MARKDOWN')", {"url": "https://a.b", "as": "markdown"}),
        ("open(url='https://a.b', note='', limit=None)", {"url": "https://a.b", "limit": None}),
        ("open(url='https://a.b', limit='5')", {"url": "https://a.b", "limit": 5}),
        ("open(url='<link from step 1>', note='')", {"url": "<link from step 1>", "note": ""}),
    ],
)
def test_a_plan_shows_what_would_be_called(cli, tmp_path, written, arguments):
    """Values as the tool would get them, not as they were written, wherever the step would run as it is."""
    (tmp_path / "tools.json").write_text(json.dumps([OPEN]), encoding="utf-8")
    (tmp_path / "plan.txt").write_text(f"open url='https://first.step'\n{written}", encoding="utf-8")
    ran = cli("plan", "--tools", str(tmp_path / "tools.json"), "--from", str(tmp_path / "plan.txt"), "--json")
    assert ran.json["steps"][1]["arguments"] == arguments
    assert ran.json["steps"][1]["text"] == written
