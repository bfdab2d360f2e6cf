"""The real command in a process of its own: pipes, encodings, signals, speed; a loopback server is the model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from .support import BIRTHDAY, EXECUTABLE, PATIENCE, called, environment, model_server, run, said

HEAVY = {
    "asyncio",
    "sqlalchemy",
    "pydantic",
    "httpx",
    "rich",
    "prompt_toolkit",
    "alembic",
    "dateparser",
    "jsonschema",
    "keyring",
}


def test_help_loads_nothing_heavy():
    """That is what keeps it fast: Typer, and what it needs."""
    code = (
        "import sys; from surefoot.cli import app; app(['--help'], standalone_mode=False); "
        "print('MODULES', *sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert "Commands:" in done.stdout
    loaded = set(done.stdout.rpartition("MODULES")[2].split())
    assert not loaded & HEAVY


def test_a_pipe_gets_data_on_one_stream_and_progress_on_the_other():
    """Plain text, no colour, whatever TERM says."""
    with model_server(called(BIRTHDAY), said("I noted ", "it.")).running() as server:
        env = environment(server)
        done = run(["ask", "note Anna's birthday please"], env)
        assert (done.returncode, done.stdout) == (0, b"I noted it.\n")
        assert b"\x1b" not in done.stderr
        assert '✓  1  note "Anna\'s birthday" added' in done.stderr.decode()
        shown = run(["show", "last", "--json"], env)
        assert json.loads(shown.stdout)["status"] == "done"
        listed = run(["tasks", "list"], env)
        assert listed.stdout.startswith(b"  Buy a present  due ")


def test_a_key_is_shown_nowhere():
    """Not in the output, not in the record, also with --debug."""
    with model_server(said("reply()"), said("your key is k-of-the-test")).running() as server:
        env = environment(server)
        done = run(["ask", "--debug", "what is my key?"], env)
        assert done.returncode == 0
        shown = run(["show", "last", "--json"], env)
        for text in (done.stdout, done.stderr, shown.stdout):
            assert b"k-of-the-test" not in text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_without_the_signs_gets_words(encoding):
    """Nothing raises, nothing is lost."""
    with model_server(called(BIRTHDAY), said("漢字 noted")).running() as server:
        done = run(["ask", "note Anna's birthday please"], environment(server, PYTHONIOENCODING=encoding))
        assert done.returncode == 0
        assert b"  ok      1  note" in done.stderr
        assert done.stdout == b"\\u6f22\\u5b57 noted\n"
        env = environment(server, PYTHONIOENCODING=encoding)
        assert json.loads(run(["show", "--json"], env).stdout)["reply"] == "漢字 noted"


def test_bytes_that_are_no_utf8_as_an_argument():
    """Exit 6, before anything is asked."""
    done = run([b"ask", b"gr\xfc\xdfe"], environment(None))
    assert done.returncode == 6
    assert b"no valid UTF-8 at character 3" in done.stderr


def test_a_request_from_standard_input():
    """`surefoot ask -`."""
    with model_server(said("reply()"), said("Hello.")).running() as server:
        done = run(["ask", "-"], environment(server), input="grüß Anna\n".encode())
        assert done.stdout == b"Hello.\n"


def test_a_reader_that_goes_away_is_no_error():
    """`surefoot ask ... | true`: the run goes on to its end all the same."""
    with model_server(called(BIRTHDAY), said("I noted it.")).running() as server:
        env = environment(server)
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen(
            [EXECUTABLE, "ask", "note Anna's birthday please"], env=env, stdout=write, stderr=subprocess.PIPE
        )
        os.close(write)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert b"Traceback" not in err
        assert b"Exception" not in err
        assert json.loads(run(["runs", "--json"], env).stdout)[0]["status"] == "done"


@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["tools"], ["--version"]])
def test_the_head_of_a_long_output(arguments):
    """A closed pipe ends quietly."""
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [EXECUTABLE, *arguments], env=environment(None), stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    _, err = process.communicate(timeout=PATIENCE)
    assert b"Traceback" not in err
    assert process.returncode in {0, 1}


def test_a_server_that_is_not_there():
    """Named with its address; exit 3; no traceback."""
    from models.servers import free_port

    env = environment(
        None, SUREFOOT_OPENAI_URL=f"http://127.0.0.1:{free_port()}/v1", SUREFOOT_MODEL="openai:test"
    )
    done = run(["models", "check"], env)
    assert done.returncode == 3
    assert b"error  unavailable" in done.stderr
    assert b"Traceback" not in done.stderr


def test_broken_settings_are_told():
    """The key, the value, the place; exit 2."""
    done = run(["runs"], environment(None, SUREFOOT_MAX_STEPS="99"))
    assert done.returncode == 2
    assert b"error  settings: Setting 'max_steps' is '99'" in done.stderr


def test_version_help_and_nothing_at_all():
    """Three ways to begin."""
    env = environment(None)
    assert run(["--version"], env).stdout.startswith(b"surefoot ")
    for arguments in ([], ["-h"]):
        done = run(arguments, env)
        assert done.returncode == 0
        assert b"Commands:" in done.stdout
    assert run(["bogus"], env).returncode == 2


def wait_until_asked(server, path: str, times: int) -> None:
    end = time.monotonic() + PATIENCE
    while len(server.bodies(path)) < times:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_ctrl_c_in_a_pipe_cancels_cleanly():
    """Exit 130; what was done stays, the run is cancelled, and can be undone."""
    gate = threading.Event()
    with model_server(called(BIRTHDAY), said("I ", "noted it.", hold=gate, hold_after=1)).running() as server:
        env = environment(server)
        process = subprocess.Popen(
            [EXECUTABLE, "ask", "note Anna's birthday please"],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        wait_until_asked(server, "/v1/chat/completions", 2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        gate.set()
        assert process.returncode == 130
        assert out == b""
        assert b"Stopped. What was done stays. surefoot undo " in err
        assert b"Traceback" not in err
        assert json.loads(run(["runs", "--json"], env).stdout)[0]["status"] == "cancelled"
        assert run(["undo"], env).returncode == 0
        assert json.loads(run(["notes", "list", "--json"], env).stdout) == []


def test_ctrl_c_while_a_list_is_read_is_no_traceback():
    """Any command ends with 130."""
    code = (
        "import asyncio, os, signal\n"
        "from surefoot.cli import session, app\n"
        "class Slow:\n"
        "    async def __aenter__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        await asyncio.sleep(60)\n"
        "    async def __aexit__(self, *exc): pass\n"
        "session.open_assistant = lambda *a, **k: Slow()\n"
        "app(['runs'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env=environment(None),
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 130
    assert b"Traceback" not in done.stderr
