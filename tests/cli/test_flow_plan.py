"""`surefoot flow plan`: a flow on standard output, what to know of it beside; names only, and nothing is run."""

from __future__ import annotations

import io
import json

import pytest

from surefoot.flows import FactNames, check_flow

from .support import CHAT, environment, model_server, run, said

FLOW = {
    "app": "browser",
    "steps": [
        {"browse": "https://flights.example.com"},
        {
            "enter": {
                "first name": "${first name}",
                "member": "${membership number}",
                "card number": "${card number}",
            }
        },
        {"enter": {"password": "${site password}"}},
        {"stop_before": "paying"},
    ],
}
PLAIN = {"app": "browser", "steps": [{"browse": "https://a.example"}, "open the page of today"]}
NAMES = ("--fact", "first name", "--secret", "card number")


@pytest.fixture
def answering(monkeypatch):
    """A server on this machine whose model plans flows and gives these answers."""
    running = []

    def make(*texts):
        server = model_server(*[said(one if isinstance(one, str) else json.dumps(one)) for one in texts])
        context = server.running()
        context.__enter__()
        running.append(context)
        monkeypatch.setenv("SUREFOOT_OPENAI_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "k-of-the-test")
        monkeypatch.setenv("SUREFOOT_FLOW_MODEL", "openai:test")
        return server

    yield make
    for context in running:
        context.__exit__(None, None, None)


def asked(server) -> str:
    """Everything that the model was told."""
    return json.dumps(server.bodies(CHAT), ensure_ascii=False)


def test_the_flow_stands_alone_on_standard_output(cli, answering):
    """It can be piped into a file and into `flow check`; questions, notes and figures stand beside it."""
    answering(FLOW)
    ran = cli("flow", "plan", "Book", "a", "flight", *NAMES)
    assert ran.code == 0
    assert ran.json == FLOW
    for words in (
        "asks for membership number (text)",
        "asks for site password (a secret)",
        "Stops before something irreversible or paid: paying.",
        "1 model call",
    ):
        assert words in ran.err
    facts = FactNames(("first name", "membership number"), ("card number", "site password"))
    assert check_flow(ran.json, facts) == []


def test_json_has_the_plan_and_the_configuration(cli, answering):
    """For programs: flow, questions, notes, use and what is in force; no key."""
    answering(FLOW)
    found = cli("flow", "plan", "Book a flight", *NAMES, "--json").json
    assert set(found) == {"flow", "questions", "notes", "use", "attempts", "configuration"}
    assert found["flow"] == FLOW
    assert found["questions"] == [
        {"name": "membership number", "kind": "text", "secret": False},
        {"name": "site password", "kind": "text", "secret": True},
    ]
    assert {note["code"] for note in found["notes"]} == {"stops_before", "asks"}
    assert found["use"]["calls"] == 1
    assert found["configuration"]["planner"]["model"] == "openai:test"
    assert set(found["configuration"]) == {"planner", "rescue", "output"}
    assert "k-of-the-test" not in json.dumps(found)


def test_the_model_gets_names_and_the_guide(cli, answering):
    """The task, the surfaces, the names."""
    server = answering(PLAIN)
    assert cli("flow", "plan", "Look at it", *NAMES, "--surface", "browser").code == 0
    (body,) = server.bodies(CHAT)
    assert "# Writing a flow" in body["messages"][0]["content"]
    told = body["messages"][-1]["content"]
    assert "web pages in the browser.\nShared facts: ${first name}.\nSecret facts: ${card number}." in told


@pytest.mark.parametrize("option", ["--fact", "--secret"])
def test_a_value_is_refused_without_showing_it(cli, answering, option):
    """Planning never needs a value, and a secret's value is never accepted on a command line."""
    server = answering(PLAIN)
    ran = cli("flow", "plan", "Look", option, "email=jane@example.org")
    assert ran.code == 2
    assert "jane" not in ran.out + ran.err
    assert server.seen == []


def test_a_secret_in_the_task_is_kept_from_the_model(cli, answering):
    """And told."""
    server = answering(PLAIN)
    ran = cli("flow", "plan", "Pay with 4111 1111 1111 1111")
    assert ran.code == 0
    assert "4111" not in asked(server) + ran.out + ran.err
    assert "what looks like a secret" in ran.err


def test_a_flow_is_written_into_a_new_file(cli, answering, tmp_path):
    """Laid out as all flows are; the name is shown, the flow is not."""
    answering(PLAIN)
    file = tmp_path / "look.json"
    ran = cli("flow", "plan", "Look", "--output", str(file))
    assert (ran.code, ran.out) == (0, "")
    assert str(file) in ran.err.replace("\n  ", "")
    assert cli("flow", "check", str(file)).code == 0
    assert cli("flow", "fmt", "--check", str(file)).code == 0


def test_a_file_that_is_there_is_not_written_over(cli, answering, tmp_path):
    """It is said before anything is asked."""
    server = answering(PLAIN)
    file = tmp_path / "mine.json"
    file.write_text("mine")
    ran = cli("flow", "plan", "Look", "-o", str(file))
    assert ran.code == 2
    assert "is there already" in ran.err
    assert file.read_text() == "mine"
    assert server.seen == []


def test_a_folder_that_is_not_there_and_a_link_that_leads_nowhere(cli, answering, tmp_path):
    """Both are said before anything is asked."""
    server = answering(PLAIN)
    (tmp_path / "link.json").symlink_to(tmp_path / "gone.json")
    for file, words in (("gone/look.json", "is not there"), ("link.json", "is there already")):
        ran = cli("flow", "plan", "Look", "-o", str(tmp_path / file))
        assert ran.code == 2
        assert words in " ".join(ran.err.split())
    assert server.seen == []


def test_a_flow_that_cannot_be_written_is_shown(cli, answering, tmp_path):
    """A model was asked for it: it is not lost with the file."""
    answering(PLAIN)
    ran = cli("flow", "plan", "Look", "-o", str(tmp_path / ("x" * 300)))
    assert ran.code == 1
    assert json.loads(ran.out) == PLAIN
    assert "stands on standard output" in " ".join(ran.err.split())


def test_a_flow_that_stays_wrong_fails(cli, answering):
    """Exit code 3, PLAN_FAILED, the reason, what to do; nothing on standard output."""
    server = answering({"app": "browser", "steps": [{"press": "it"}]})
    ran = cli("flow", "plan", "Look")
    assert (ran.code, ran.out) == (3, "")
    assert "PLAN_FAILED" in ran.err
    assert "press" in ran.err
    assert "surefoot flow guide" in ran.err.replace("\n", " ").replace("  ", " ")
    assert len(server.bodies(CHAT)) == 3


def test_a_repair_is_counted(cli, answering):
    """Two calls."""
    answering("no idea", PLAIN)
    ran = cli("flow", "plan", "Look")
    assert ran.json == PLAIN
    assert "2 model calls" in ran.err
    assert "Stops before nothing" in ran.err


def test_no_planner_is_exit_code_three(cli, monkeypatch):
    """PLANNER_NOT_CONFIGURED and the way on."""
    monkeypatch.setenv("SUREFOOT_FLOW_MODEL", "none")
    ran = cli("flow", "plan", "Look")
    assert (ran.code, ran.out) == (3, "")
    assert "PLANNER_NOT_CONFIGURED" in ran.err


def test_a_model_can_be_named(cli, answering, monkeypatch):
    """Over the setting."""
    answering(PLAIN)
    monkeypatch.setenv("SUREFOOT_FLOW_MODEL", "none")
    ran = cli("flow", "plan", "Look", "--model", "openai:test", "--json")
    assert ran.json["configuration"]["planner"]["model"] == "openai:test"


def test_the_model_that_answers_plans_with_a_note(cli, answering, monkeypatch):
    """Where no other is set."""
    answering(PLAIN)
    monkeypatch.delenv("SUREFOOT_FLOW_MODEL")
    monkeypatch.setenv("SUREFOOT_MODEL", "openai:test")
    assert "flow_model names it" in cli("flow", "plan", "Look").err.replace("\n  ", " ")
    notes = cli("flow", "plan", "Look", "--json").json["notes"]
    assert notes[0]["code"] == "default_model"


def test_the_task_may_come_from_standard_input(cli, answering, monkeypatch):
    """`-`, as elsewhere."""
    server = answering(PLAIN)
    monkeypatch.setattr("sys.stdin", io.StringIO("Look at the page of today"))
    assert cli("flow", "plan", "-").code == 0
    assert "Task: Look at the page of today" in asked(server)


@pytest.mark.parametrize("arguments", [(), ("",), ("  ",)])
def test_a_task_must_be_there(cli, arguments):
    """An empty one is none."""
    assert cli("flow", "plan", *arguments).code == 2


@pytest.mark.parametrize("sign", ["\u200e", "\u200f", "\x85"])
def test_what_steers_a_terminal_is_written_as_an_escape(cli, answering, sign):
    """A model wrote it, and a flow may have it; the flow is the same."""
    flow = {"app": "browser", "steps": [{"browse": "https://a.example"}, f"open {sign}31m the page"]}
    answering(flow)
    ran = cli("flow", "plan", "Look")
    assert ran.out.isascii()
    assert ran.json == flow


@pytest.mark.parametrize("sign", ["\x9b", "\x1b[", "\u202e", "\u2066"])
def test_what_nobody_sees_goes_back_to_the_model(cli, answering, sign):
    """Control characters and what turns the order of reading are a problem of the flow; none is shown."""
    server = answering({**PLAIN, "steps": [*PLAIN["steps"], f"open {sign}31m the page"]}, PLAIN)
    ran = cli("flow", "plan", "Look")
    assert ran.json == PLAIN
    assert sign not in ran.out + ran.err
    assert f"U+{ord(sign[0]):04X}" in asked(server)


def test_it_speaks_the_persons_language(cli, answering, monkeypatch):
    """German here."""
    answering(FLOW)
    monkeypatch.setenv("SUREFOOT_LANGUAGE", "de")
    err = cli("flow", "plan", "Buche einen Flug", *NAMES).err
    assert "fragt nach membership number (Text)" in err
    assert "Hält vor" in err


def test_the_real_command_in_a_pipe(answering):
    """Only the flow comes through."""
    server = answering(PLAIN)
    done = run(["flow", "plan", "Look"], environment(server, SUREFOOT_FLOW_MODEL="openai:test"))
    assert done.returncode == 0
    assert json.loads(done.stdout) == PLAIN


def test_doctor_shows_the_models_of_flows(cli, answering, monkeypatch):
    """Route, model and address in force, the name of the key and never the key; what is missing is optional."""
    answering(PLAIN)
    checks = {check["name"]: check for check in cli("doctor", "--json").json["checks"]}
    assert checks["flow_planner"]["level"] == "ok"
    assert "openai:test at http://127.0.0.1" in checks["flow_planner"]["text"]
    assert "key OPENAI_API_KEY" in checks["flow_planner"]["text"]
    assert checks["flow_rescue"]["level"] == checks["flow_output"]["level"] == "optional"
    assert "OPENROUTER_API_KEY" in checks["flow_rescue"]["text"]
    assert "k-of-the-test" not in json.dumps(checks)
    monkeypatch.setenv("SUREFOOT_FLOW_MODEL", "none")
    checks = {check["name"]: check for check in cli("doctor", "--json").json["checks"]}
    assert checks["flow_planner"]["level"] == "optional"
    monkeypatch.setenv("SUREFOOT_FLOW_MODEL", "")
    monkeypatch.setenv("SUREFOOT_MODEL", "openai:test")
    checks = {check["name"]: check for check in cli("doctor", "--json").json["checks"]}
    assert "the model that answers" in checks["flow_planner"]["text"]
    assert "flow planner" in cli("doctor").out
