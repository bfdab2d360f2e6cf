"""The command line under hostile circumstances: closed and full streams, odd locales, names and values of all sorts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from surefoot import ToolCall, load_settings
from surefoot.errors import UnreadableInputError
from surefoot.settings import settings_file

from .support import BIRTHDAY, EXECUTABLE, PATIENCE, called, environment, model_server, run, said

ASK = "note Anna's birthday please"


def shell(command, env):
    """The command with the shell's redirections."""
    return subprocess.run(
        ["/bin/sh", "-c", f'"$0" "$@" {command}', EXECUTABLE, "ask", ASK],
        env=env,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_a_request_is_done_whatever_stream_is_missing(streams):
    """A job of a scheduler has no terminal and perhaps no streams; what was asked for is done all the same."""
    with model_server(called(BIRTHDAY), said("Noted.")).running() as server:
        env = environment(server)
        done = shell(streams, env)
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr
        assert b"Anna's birthday" in run(["notes", "list"], env).stdout


def test_an_answer_that_cannot_be_written_is_told_after_the_work():
    """Everything is done, the reason is named, the exit code says that something is wrong."""
    with model_server(called(BIRTHDAY), said("Noted.")).running() as server:
        env = environment(server)
        done = shell(">/dev/full", env)
        assert done.returncode == 1
        assert b"could not be written: No space left on device" in done.stderr
        assert b"Traceback" not in done.stderr
        assert b"Anna's birthday" in run(["notes", "list"], env).stdout


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["runs", "--json"], ["tools"]])
def test_what_only_shows_something_says_the_same(arguments):
    """No command calls a full disk its own fault."""
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [EXECUTABLE, *arguments],
            env=environment(None),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 1
    assert b"No space left on device" in done.stderr
    assert b"fault of Surefoot" not in done.stderr


def test_a_request_in_utf_8_is_read_under_a_locale_of_ascii():
    """The bytes say what was typed; the locale only says how Python reads them."""
    env = environment(None, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    with model_server(said("Gern.")).running() as server:
        env = {
            **environment(server),
            **env,
            "SUREFOOT_OPENAI_URL": f"{server.url}/v1",
            "SUREFOOT_MODEL": "openai:test",
        }
        assert run(["ask", "grüße Zoë"], env).returncode in {0, 1}
        assert "grüße Zoë" in str(server.bodies("/v1/chat/completions"))
        assert run(["ask", b"gr\xfc\xdfe"], env).returncode == 6


@pytest.mark.parametrize("name", [b"\xff", b"\xed\xa0\x80", "\u202e", "💥", "%", "x" * 100_000])
@pytest.mark.parametrize("command", ["show", "undo", "redo", "resume", "cancel", "approve", "decline"])
def test_a_run_of_any_name_is_only_not_found(cli, command, name):
    """Bytes that are no UTF-8 too; and a long name does not fill the screen."""
    text = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
    ran = cli(command, text)
    assert ran.code == 2
    assert "error  not_found" in ran.err
    assert len(ran.err) < 5_000


def test_a_limit_above_what_a_database_counts_to_is_none(cli):
    """All runs, then."""
    assert cli("runs", "--limit", str(10**30), "--json").json == []


@pytest.mark.parametrize("value", ["nan", "-1", "-inf"])
def test_a_limit_that_no_number_passes_is_refused(cli, monkeypatch, value):
    """What is no number would never be reached."""
    monkeypatch.setenv("SUREFOOT_LIMITS__WRITES", value)
    cli.answers(BIRTHDAY, "Noted.")
    ran = cli("ask", ASK)
    assert ran.code == 2
    assert "must be 0 or more" in ran.err
    assert cli("notes", "list", "--json").json == []


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        (
            "SUREFOOT_MAX_STEP",
            "3",
            "no setting SUREFOOT_MAX_STEP; it does nothing. Did you mean SUREFOOT_MAX_STEPS?",
        ),
        ("SUREFOOT_POLCY__ADDNOTE", "deny", "no setting SUREFOOT_POLCY; it does nothing."),
        ("SUREFOOT_POLICY", '{"adNote": "deny"}', "names adnote, which is no tool, kit or effect here."),
        (
            "SUREFOOT_POLICY__WRTE",
            "deny",
            "names wrte, which is no tool, kit or effect here. Did you mean write?",
        ),
        ("SUREFOOT_LIMITS__WRITE", "3", "There is no limit write. Did you mean writes?"),
    ],
)
def test_doctor_tells_names_that_nothing_reads(cli, monkeypatch, variable, value, told):
    """A misspelled name does nothing, and the person believes it does."""
    monkeypatch.setenv(variable, value)
    ran = cli("doctor", "--json")
    (check,) = [check for check in ran.json["checks"] if check["name"] == "settings"]
    assert check["level"] == "problem"
    assert told in check["text"]
    assert ran.code == 1


def test_doctor_takes_every_name_that_is_read(cli, monkeypatch):
    """Tools, kits and effects in any case, nested variables, the config folder."""
    monkeypatch.setenv("SUREFOOT_POLICY", '{"AddNote": "confirm", "notes": "auto", "external": "deny"}')
    monkeypatch.setenv("SUREFOOT_LIMITS__WRITES", "inf")
    ran = cli("doctor", "--json")
    (check,) = [check for check in ran.json["checks"] if check["name"] == "settings"]
    assert check["level"] == "ok"


def test_a_settings_file_that_is_a_folder_is_not_passed_over():
    """What stands there was meant to count."""
    settings_file().mkdir(parents=True)
    with pytest.raises(UnreadableInputError, match="is a folder"):
        load_settings()


@pytest.mark.parametrize("folder", ["/dev/null", "/dev/null/deeper", "/proc/none"])
def test_a_data_folder_that_cannot_be_is_no_fault_of_the_disk(cli, monkeypatch, folder):
    """The next move names the setting."""
    monkeypatch.setenv("SUREFOOT_DATA_DIR", folder)
    ran = cli("runs")
    assert ran.code == 1
    assert "cannot be opened" in ran.err
    assert "SUREFOOT_DATA_DIR" in ran.err


SECRET = "sk-planted-0123456789"
OTHER = "gh-planted-9876543210"


def test_a_secret_of_the_environment_is_in_no_file_and_on_no_screen(tmp_path):
    """Typed, read from a file, in a name, in an error, with --debug, before any model is open: masked at every sink."""
    data = tmp_path / "kept"
    (data / "files").mkdir(parents=True)
    given = data / "files" / "given.txt"
    given.write_text(f"{SECRET} {OTHER}", encoding="utf-8")
    calls = [
        ToolCall("1", "readFile", {"path": "given.txt"}),
        ToolCall("2", "readFile", {"path": f"{SECRET}.txt"}),
        ToolCall("3", "addNote", {"title": SECRET, "text": OTHER}),
        ToolCall("4", "writeFile", {"path": "new.txt", "text": SECRET}),
    ]
    asked = f"Note {SECRET} and {OTHER}"
    with model_server(called(calls), said(f"It is {SECRET} ", f"and {OTHER}.")).running() as server:
        env = environment(server, OPENAI_API_KEY=SECRET, GITHUB_TOKEN=OTHER, SUREFOOT_DATA_DIR=str(data))
        nobody = {**env, "SUREFOOT_OPENAI_URL": "http://127.0.0.1:1/v1"}
        done = [
            run(["ask", "--debug", asked], env),
            run(["ask", "--debug", asked], nobody),
            run(["ask", "--json", asked], nobody),
            run(["plan", "--debug", "--json", asked], nobody),
            run(["show", "--debug", SECRET], env),
            run(["ask", "--debug", "x", "--model", OTHER], env),
            *[run([name, "list", "--json"], env) for name in ("notes", "tasks")],
            run(["runs", "--json"], env),
            run(["show", "--json"], env),
            run(["undo", "last", "--json"], env),
        ]
        sent = str(server.bodies("/v1/chat/completions"))
    given.unlink()
    for text in [sent.encode(), *(one.stdout + one.stderr for one in done)]:
        assert b"planted" not in text
    kept = [path for path in data.rglob("*") if path.is_file()]
    assert kept
    assert [path.name for path in kept if b"planted" in path.read_bytes() or "planted" in path.name] == []


def test_a_secret_typed_into_a_conversation_is_not_in_its_history(tmp_path):
    """The file of what was typed lies beside the journal."""
    from surefoot import redaction
    from surefoot.cli.commands.chat import history

    with redaction.secrets(SECRET):
        history(str(tmp_path / "typed")).append_string(f"it is {SECRET} \udc80")
    assert "it is [secret]" in (tmp_path / "typed").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", ["surefoot.cli.root", "surefoot.cli.texts", "surefoot.cli.out", "typer"])
def test_ctrl_c_while_the_program_loads_is_no_traceback(module):
    """Half of a short command is loading; whoever stops it then sees nothing of that."""
    code = f"""
import sys

class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed())
from surefoot.cli import main
sys.argv = ["surefoot", "runs"]
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(None),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
