"""`surefoot tools list` and `surefoot tools check` with MCP servers."""

from __future__ import annotations

import signal
import subprocess
import time

from tools.mcp_support import PATIENCE, by_hand, is_running, settings_with

from .support import EXECUTABLE


def test_tools_of_servers_are_listed_under_their_kit(cli):
    """With what they do to the world; `tools` and `tools list` are the same."""
    settings_with(box=by_hand("plain", effects={"go": "read"}))
    ran = cli("tools", "list")
    assert (ran.code, ran.err) == (0, "")
    assert "  mcp-box\n    box__go()\n" in ran.out
    assert ran.out == cli("tools").out
    listed = {tool["name"]: tool for tool in cli("tools", "list", "--json").json}
    assert (listed["box__go"]["effect"], listed["box__go"]["policy"]) == ("read", "auto")
    assert (listed["box__act"]["effect"], listed["box__act"]["policy"]) == ("external", "confirm")
    (best, *_) = cli("tools", "list", "--search", "act", "--json").json
    assert best["name"] == "box__act"


def test_a_server_that_is_down_is_told_beside_the_list(cli):
    """The list stays readable for programs."""
    settings_with(box=by_hand("broken"))
    ran = cli("tools", "list", "--json")
    assert ran.code == 0
    assert "addNote" in [tool["name"] for tool in ran.json]
    assert "MCP server 'box' cannot be used" in ran.err


def test_servers_are_checked_one_by_one(cli):
    """What each offers, or why not; a problem is exit 1."""
    settings_with(good=by_hand("plain", effects={"go": "read"}), bad=by_hand("broken"))
    ran = cli("tools", "check")
    assert ran.code == 1
    first, *others = ran.out.splitlines()
    assert first == "  good is up; of its tools 1 read and 1 cannot be taken back"
    assert "MCP server 'bad' cannot be used" in " ".join(others)
    good, bad = cli("tools", "check", "--json").json
    assert (good["server"], good["up"], good["notices"]) == ("good", True, [])
    assert good["tools"] == [
        {"name": "good__go", "effect": "read"},
        {"name": "good__act", "effect": "external"},
    ]
    assert (bad["server"], bad["up"], bad["tools"], len(bad["notices"])) == ("bad", False, [], 1)


def test_without_servers_the_check_says_where_to_read(cli):
    """On standard error, and it is no problem."""
    ran = cli("tools", "check")
    assert (ran.code, ran.out) == (0, "")
    assert "docs/mcp.md" in ran.err


def test_a_table_that_cannot_be_used_is_a_usage_error(cli):
    """With its place."""
    settings_with(box={"command": "x", "truste": True})
    ran = cli("tools", "check")
    assert ran.code == 2
    assert "'mcp.box.truste' cannot be used" in ran.err


def test_the_doctor_looks_at_the_tables_of_servers(cli, monkeypatch):
    """Without opening them; names of the policy that speak of them are no mistake."""
    monkeypatch.setenv("SUREFOOT_POLICY", '{"mcp-box": "deny", "BOX__go": "deny"}')
    assert "mcp" not in [check["name"] for check in cli("doctor", "--json").json["checks"]]
    settings_with(box=by_hand("broken"))
    checks = {check["name"]: check for check in cli("doctor", "--json").json["checks"]}
    assert checks["mcp"]["level"] == checks["settings"]["level"] == "ok"
    assert "box" in checks["mcp"]["text"]
    monkeypatch.setattr("surefoot.tools.mcp.sdk.find_spec", lambda name: None)
    checks = {check["name"]: check for check in cli("doctor", "--json").json["checks"]}
    assert (checks["mcp"]["level"], checks["mcp"]["move"]) == ("problem", "pip install 'surefoot[mcp]'")
    settings_with(box={})
    checks = {check["name"]: check for check in cli("doctor", "--json").json["checks"]}
    assert "'mcp.box' cannot be used" in checks["mcp"]["text"]


def test_ctrl_c_leaves_no_program_behind(isolated):
    """While a server that says nothing is waited for."""
    settings_with(box=by_hand("silent"))
    process = subprocess.Popen([EXECUTABLE, "tools", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    noted = isolated / "data" / "mcp" / "box" / "pid.txt"
    end = time.monotonic() + PATIENCE
    while not (noted.exists() and noted.read_text()):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert is_running(int(noted.read_text()))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert not is_running(int(noted.read_text()))
