"""Who holds a lease, and whether that process lives."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from surefoot.journal import owner
from surefoot.journal.owner import current_owner, is_alive

SAY = "from surefoot.journal.owner import current_owner; print(current_owner(), flush=True); input()"


@pytest.fixture
def child():
    process = subprocess.Popen(
        [sys.executable, "-c", SAY], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    process.named = process.stdout.readline().strip()
    yield process
    process.kill()
    process.communicate()


def test_an_owner_is_host_pid_and_start():
    """Three parts, the same at each call."""
    host, pid, start = current_owner().split("/")
    assert host.startswith(socket.gethostname())
    assert pid == str(os.getpid())
    assert start
    assert current_owner() == current_owner()
    assert is_alive(current_owner()) is True


def test_another_process_of_this_host_is_looked_at(child):
    """It lives while it lives; killed it is dead at once, even before its parent has asked how it ended."""
    assert child.named.split("/")[1] == str(child.pid)
    assert is_alive(child.named) is True
    child.kill()
    deadline = time.monotonic() + 10
    while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
        time.sleep(0.01)
    assert is_alive(child.named) is False  # a zombie
    child.wait()
    assert is_alive(child.named) is False


def test_a_number_given_again_is_not_the_owner(child):
    """The same pid with another start is another process."""
    host, pid, start = child.named.split("/")
    assert is_alive(f"{host}/{pid}/{start}9") is False
    assert is_alive(f"{host}/{pid}/otherboot-{start.split('-')[-1]}") is False


def test_processes_elsewhere_cannot_be_looked_at():
    """Another host, or another space of process numbers on this one: unknown."""
    host, pid, start = current_owner().split("/")
    assert is_alive(f"not-{host}/{pid}/{start}") is None
    assert is_alive(f"{host}9/{pid}/{start}") is None


@pytest.mark.parametrize("text", ["", "nobody", "a/b", "//", "host/12"])
def test_what_is_no_owner_of_ours_is_unknown(text):
    """Other programs' owners are judged by their signs of life."""
    assert is_alive(text) is None
    host = current_owner().split("/")[0]
    assert is_alive(f"{host}/x/y") is None


def test_a_number_no_process_can_have_is_dead():
    """Too large for the system."""
    host = current_owner().split("/")[0]
    assert is_alive(f"{host}/{2**70}/x") is False


def test_the_start_of_a_process_is_the_systems():
    """What is read here is what psutil reads."""
    ticks = int(owner._look(os.getpid()).start.rsplit("-", 1)[1])
    started = psutil.boot_time() + ticks / os.sysconf("SC_CLK_TCK")
    assert abs(started - psutil.Process().create_time()) < 2


def test_a_process_of_somebody_else_is_alive_when_it_cannot_be_seen(monkeypatch):
    """Where the system hides it, a living owner is never taken for dead."""

    def refuses(_pid, _signal):
        raise PermissionError

    monkeypatch.setattr(owner.os, "kill", refuses)
    monkeypatch.setattr(owner, "_look", lambda _pid: None)
    host = current_owner().split("/")[0]
    assert is_alive(f"{host}/1/x") is True


def test_a_start_that_was_not_known_counts_by_the_number(monkeypatch):
    """Without a start to compare, the process of that number is taken for the owner."""
    host, pid, _ = current_owner().split("/")
    assert is_alive(f"{host}/{pid}/unknown") is True
    owner._owner.cache_clear()
    monkeypatch.setattr(owner, "_look", lambda _pid: None)
    assert current_owner().endswith(f"/{pid}/unknown")
    monkeypatch.undo()
    owner._owner.cache_clear()


@pytest.mark.skipif(not Path("/bin/ps").exists(), reason="there is no ps here")
def test_without_proc_ps_is_asked(monkeypatch, tmp_path, child):
    """The way of macOS: state and start come from ps, and tell the same."""
    monkeypatch.setattr(owner, "_PROC", tmp_path)
    owner._owner.cache_clear()
    mine = current_owner()
    assert mine == f"{socket.gethostname()}/{os.getpid()}/{mine.split('/')[2]}"
    assert is_alive(mine) is True
    assert is_alive(mine + "x") is False
    theirs = f"{socket.gethostname()}/{child.pid}/{owner._look(child.pid).start}"
    assert is_alive(theirs) is True
    child.kill()
    child.wait()
    assert is_alive(theirs) is False
    monkeypatch.undo()
    owner._owner.cache_clear()


def test_ps_that_says_nothing_useful(monkeypatch):
    """A missing or silent ps leaves the start unknown."""
    assert owner._ask_ps(2**22 + 1) is None

    def missing(*_given, **_how):
        raise FileNotFoundError

    monkeypatch.setattr(owner.subprocess, "run", missing)
    assert owner._ask_ps(os.getpid()) is None


def test_a_system_without_names_for_its_boot(monkeypatch, tmp_path):
    """The start is then the ticks alone."""
    owner._boot.cache_clear()
    monkeypatch.setattr(owner, "_PROC", tmp_path)
    assert owner._boot() == "boot"
    assert owner._look_in_proc(os.getpid()) is None
    owner._boot.cache_clear()


@pytest.mark.parametrize("name", ["python3", "a b", "evil) S 1 1", "((("])
def test_the_name_of_a_process_does_not_mislead(monkeypatch, tmp_path, name):
    """Names hold spaces and parentheses; the fields are counted from behind the last one."""
    (tmp_path / "7").mkdir()
    fields = ["S", *[str(number) for number in range(4, 22)], "4242", "0"]
    (tmp_path / "7" / "stat").write_text(f"7 ({name}) {' '.join(fields)}")
    monkeypatch.setattr(owner, "_PROC", tmp_path)
    owner._boot.cache_clear()
    found = owner._look_in_proc(7)
    owner._boot.cache_clear()
    assert (found.start, found.ended) == ("boot-4242", False)


def test_on_windows_nothing_is_sent(monkeypatch):
    """There, the signal that only looks would end the process."""
    monkeypatch.setattr(owner.sys, "platform", "win32")
    monkeypatch.setattr(owner.os, "kill", lambda *_: pytest.fail("a signal was sent"))
    monkeypatch.setattr(owner, "_PROC", Path("/nowhere"))
    assert owner._exists(os.getpid())
    assert owner._look(os.getpid()) is None
