"""The edge to providers: retries, floors, time-outs, framing, and refusals that become the right errors."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
from email.utils import formatdate

import httpx
import pytest

from models.servers import Answer, Clock, LoopbackServer, as_json, client_for, free_port, ndjson, raw_server
from surefoot.errors import (
    AddressRefusedError,
    ProviderAuthError,
    ProviderQuotaError,
    ProviderRateLimitError,
    ProviderRequestError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from surefoot.models import http as edge
from surefoot.models.address import AddressPolicy
from surefoot.models.http import ProviderClient, split_lines, sse_data

BUSY = as_json({"error": {"message": "overloaded", "type": "server_error"}}, 503)
FINE = as_json({"fine": True})


@pytest.fixture
def server():
    with LoopbackServer().running() as running:
        yield running


async def get(server, clock, *, seconds=300.0, **options):
    client = client_for(server, clock, **options)
    try:
        return await client.json("GET", "/x", deadline=client.deadline(seconds))
    finally:
        await client.close()


# --- retries -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [500, 502, 503, 504, 408, 529])
async def test_passing_failures_are_tried_four_times_with_1_2_4_seconds_between(server, status):
    """The fourth attempt is the last; what it says is the error."""
    server.on("/x", as_json({"error": "busy"}, status))
    clock = Clock()
    with pytest.raises(ProviderUnavailableError, match=f"answered {status}: busy"):
        await get(server, clock)
    assert clock.slept == [1, 2, 4]
    assert len(server.seen) == 4


async def test_a_passing_failure_is_forgotten_once_an_attempt_succeeds(server):
    """Two failures, then an answer: two waits, one answer."""
    server.on("/x", BUSY, BUSY, FINE)
    clock = Clock()
    assert await get(server, clock) == {"fine": True}
    assert clock.slept == [1, 2]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (as_json({"error": {"message": "bad key"}}, 401), ProviderAuthError),
        (as_json({"error": {"message": "forbidden"}}, 403), ProviderAuthError),
        (as_json({"error": {"message": "no such field"}}, 400), ProviderRequestError),
        (as_json({"detail": [{"loc": ["body"], "msg": "wrong"}]}, 422), ProviderRequestError),
        (as_json({"error": {"message": "pay"}}, 402), ProviderQuotaError),
        (as_json({"error": {"message": "x", "code": "insufficient_quota"}}, 429), ProviderQuotaError),
        (as_json({"error": "nothing here"}, 404), ProviderRequestError),
        (as_json({"error": "model requires more system memory (8.4 GiB)"}, 500), ProviderUnavailableError),
    ],
)
async def test_what_will_not_change_is_not_tried_again(server, answer, kind):
    """A refused key, a rejected request, an empty account, a model too big for the machine: once is enough."""
    server.on("/x", answer)
    clock = Clock()
    with pytest.raises(kind):
        await get(server, clock)
    assert clock.slept == []
    assert len(server.seen) == 1


async def test_retry_after_is_a_floor(server):
    """A longer wait than ours is kept, a shorter one does not shorten ours."""
    slow = as_json({"error": "slow down"}, 429, retry_after="7")
    quick = as_json({"error": "slow down"}, 429, retry_after="0")
    server.on("/x", slow, quick, FINE)
    clock = Clock()
    assert await get(server, clock) == {"fine": True}
    assert clock.slept == [7, 2]


async def test_retry_after_may_be_a_date(server):
    """The date counts from now; a server error may name one too."""
    clock = Clock()
    server.on("/x", as_json({}, 503, retry_after=formatdate(clock.now + 20, usegmt=True)), FINE)
    await get(server, clock)
    assert clock.slept == [20]


async def test_a_long_retry_after_is_handed_to_the_caller(server):
    """Three hours are not slept; the error says how long."""
    server.on("/x", as_json({"error": {"message": "limit"}}, 429, retry_after="10800"))
    clock = Clock()
    with pytest.raises(ProviderRateLimitError) as caught:
        await get(server, clock)
    assert caught.value.retry_after == 10800
    assert clock.slept == []


async def test_no_wait_beyond_the_time_out(server):
    """A wait that would end after the deadline is not begun."""
    server.on("/x", BUSY)
    clock = Clock()
    with pytest.raises(ProviderUnavailableError):
        await get(server, clock, seconds=3.5)
    assert clock.slept == [1, 2]


# --- connections ---------------------------------------------------------------------------------------------


async def test_a_dropped_connection_is_tried_again(server):
    """The answer broke off in its middle; the next one is whole."""
    cut = Answer(200, [b'{"fin'], {"content-type": "application/json"}, drop=True)
    server.on("/x", cut, FINE)
    clock = Clock()
    assert await get(server, clock) == {"fine": True}
    assert clock.slept == [1]


async def test_a_server_that_hangs_up_without_a_word_is_tried_again():
    """No status line at all is a dropped connection too."""
    served = []

    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        served.append(1)

    clock = Clock()
    with raw_server(serve) as port:
        policy = AddressPolicy(allowed=[("127.0.0.1", port)])
        client = ProviderClient(
            provider="P", base_url=f"http://127.0.0.1:{port}", policy=policy, sleep=clock.sleep, clock=clock
        )
        with pytest.raises(ProviderUnavailableError, match="P dropped the connection"):
            await client.json("GET", "/", deadline=client.deadline(100))
        await client.close()
    assert len(served) == 4
    assert clock.slept == [1, 2, 4]


@pytest.mark.parametrize(("local", "slept"), [(True, []), (False, [1, 2, 4])])
async def test_nobody_listening(local, slept):
    """On this machine that is final, and the person is told at once; elsewhere a server may be restarting."""
    port = free_port()
    clock = Clock()
    client = ProviderClient(
        provider="Ollama",
        base_url=f"http://127.0.0.1:{port}",
        policy=AddressPolicy(allowed=[("127.0.0.1", port)]),
        local=local,
        sleep=clock.sleep,
        clock=clock,
    )
    with pytest.raises(ProviderUnavailableError, match="Ollama cannot be reached") as caught:
        await client.json("GET", "/", deadline=client.deadline(100))
    assert "Is it running?" in caught.value.next_move
    assert clock.slept == slept


async def test_a_server_without_tls_behind_https_is_not_tried_again():
    """What fails in TLS fails again; the person hears that it is the certificate."""
    clock = Clock()

    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")

    with raw_server(serve) as port:
        client = ProviderClient(
            provider="P",
            base_url=f"https://127.0.0.1:{port}",
            policy=AddressPolicy(allowed=[("127.0.0.1", port)]),
            sleep=clock.sleep,
            clock=clock,
        )
        with pytest.raises(ProviderUnavailableError) as caught:
            await client.json("GET", "/", deadline=client.deadline(100))
        await client.close()
    assert isinstance(caught.value.__cause__, httpx.ConnectError)
    assert clock.slept == []
    assert "certificate" in caught.value.next_move


async def test_a_refused_address_is_said_as_it_is(server):
    """The policy's refusal is not hidden behind a provider's error, and not tried again."""
    clock = Clock()
    client = ProviderClient(
        provider="P",
        base_url=server.url,
        policy=AddressPolicy(allowed=["http://other.example.com"], public=False),
        sleep=clock.sleep,
    )
    with pytest.raises(AddressRefusedError):
        await client.json("GET", "/x", deadline=client.deadline(10))
    assert server.seen == clock.slept == []


async def test_redirects_are_not_followed(server):
    """A redirect would carry the key to another place."""
    server.on("/x", Answer(307, headers={"location": "http://elsewhere.example.com/v1"}))
    with pytest.raises(ProviderRequestError, match=r"redirect to http://elsewhere\.example\.com/v1"):
        await get(server, Clock())


async def test_a_web_page_in_place_of_an_answer(server):
    """A page with status 200 is the wrong address, and is said at once."""
    server.on("/x", Answer(200, [b"<html>Welcome</html>"], {"content-type": "text/html; charset=utf-8"}))
    clock = Clock()
    with pytest.raises(ProviderRequestError, match="web page"):
        await get(server, clock)
    assert clock.slept == []


async def test_an_answer_that_is_not_json(server):
    """Broken JSON is taken for an answer that was cut, and tried again."""
    server.on("/x", Answer(200, [b'{"a": '], {"content-type": "application/json"}), FINE)
    assert await get(server, Clock()) == {"fine": True}


async def test_an_answer_that_cannot_be_decoded(server):
    """A body that lies about its encoding is a request that cannot be served."""
    server.on("/x", Answer(200, [b"no gzip"], {"content-encoding": "gzip"}))
    with pytest.raises(ProviderRequestError, match="cannot be asked"):
        await get(server, Clock())


def test_one_client_serves_several_event_loops(server):
    """Connections belong to a loop; a program that calls `asyncio.run` twice gets new ones."""
    server.on("/x", FINE)
    client = client_for(server)

    async def once():
        answer = await client.json("GET", "/x", deadline=client.deadline(10))
        await client.close()
        return answer

    assert [asyncio.run(once()) for _ in range(2)] == [{"fine": True}] * 2
    asyncio.run(client.close())


async def test_headers_are_made_for_each_request_and_text_is_utf8(server):
    """Headers come from a function; half a surrogate pair does not stop a request."""
    server.on("/x", FINE)
    client = client_for(server, headers=lambda: {"authorization": f"Bearer {len(server.seen)}"})
    for _ in range(2):
        await client.json("POST", "/x", {"text": "日本 \ud800"}, deadline=client.deadline(10))
    await client.close()
    assert [seen.headers["authorization"] for seen in server.seen] == ["Bearer 0", "Bearer 1"]
    assert server.bodies("/x")[0] == {"text": "日本 ?"}


# --- time-outs -----------------------------------------------------------------------------------------------


async def test_a_server_that_says_nothing_runs_into_the_time_out(server):
    """The time-out covers the whole answer and is not tried again."""
    held = threading.Event()
    server.on("/x", Answer(200, [b"{}"], {"content-type": "application/json"}, hold=held))
    client = ProviderClient(provider="P", base_url=server.url, policy=AddressPolicy(allowed=[server.url]))
    with pytest.raises(ProviderTimeoutError, match=r"P did not answer within 0\.05 s") as caught:
        await client.json("GET", "/x", deadline=client.deadline(0.05))
    held.set()
    await client.close()
    assert caught.value.details["seconds"] == 0.05
    assert len(server.seen) == 1


async def test_the_deadline_is_the_whole_answers_and_not_each_piece(server):
    """A server that keeps sending crumbs is stopped as well."""
    held = threading.Event()
    server.on("/x", ndjson({"a": 1}, {"a": 2}, hold=held, hold_after=1))
    client = ProviderClient(provider="P", base_url=server.url, policy=AddressPolicy(allowed=[server.url]))
    lines = client.lines("/x", {}, client.deadline(0.3))
    assert json.loads(await anext(lines)) == {"a": 1}
    with pytest.raises(ProviderTimeoutError):
        await anext(lines)
    held.set()
    await client.close()


@pytest.mark.parametrize("kind", [httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout])
def test_httpx_time_outs_are_ours(server, kind):
    """Whichever limit of the HTTP client is hit first, it is the same error."""
    client = client_for(server)
    assert isinstance(client._failure(kind("late"), client.deadline(1)), ProviderTimeoutError)


def test_a_connection_that_is_never_taken_is_unavailable(server):
    """A time-out of connecting may pass; one inside TLS does not."""
    client = client_for(server)
    slow = client._failure(httpx.ConnectTimeout(""), client.deadline(1))
    assert (type(slow), slow.details["passing"]) == (ProviderUnavailableError, True)
    insecure = httpx.ConnectError("x")
    insecure.__context__ = ssl.SSLCertVerificationError("self-signed")
    assert client._failure(insecure, client.deadline(1)).details["passing"] is False


# --- framing -------------------------------------------------------------------------------------------------


async def pieces(*parts: bytes):
    for part in parts:
        yield part


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ((b"a\nb\n",), ["a", "b"]),
        ((b"a", b"b\r", b"\nc"), ["ab", "c"]),
        ((b"a\n\nb",), ["a", "", "b"]),
        (("x\u2028y\x0bz\x85w\n".encode(),), ["x\u2028y\x0bz\x85w"]),
        (("日".encode()[:1], "日".encode()[1:], b"\n"), ["日"]),
        ((b"\xff\n",), ["\ufffd"]),
        ((), []),
    ],
)
async def test_lines_end_at_newlines_only(chunks, lines):
    """JSON may hold other line ends as text, and a character may be cut between two chunks."""
    assert [line async for line in split_lines(pieces(*chunks))] == lines


async def test_an_endless_line_is_refused(monkeypatch):
    """A line without an end does not fill the memory."""
    monkeypatch.setattr(edge, "MAX_LINE", 10)
    with pytest.raises(ProviderRequestError, match="longer than 10 bytes"):
        [line async for line in split_lines(pieces(b"x" * 6, b"x" * 6))]


async def strings(*parts: str):
    for part in parts:
        yield part


@pytest.mark.parametrize(
    ("lines", "data"),
    [
        (["data: a", "", "data: b", ""], ["a", "b"]),
        (["data:a", ""], ["a"]),
        ([": OPENROUTER PROCESSING", "", "data: a", ""], ["a"]),
        (["event: error", "id: 3", "retry: 9", "data: a", ""], ["a"]),
        (["data: {", 'data: "a": 1}', ""], ['{\n"a": 1}']),
        (["data: a"], ["a"]),
        (['{"choices": []}'], ['{"choices": []}']),
        (["", "", ""], []),
        (["data: [DONE]", ""], ["[DONE]"]),
    ],
)
async def test_server_sent_events(lines, data):
    """Comments and other fields are dropped, several data lines are one event, a last blank line may be missing."""
    assert [text async for text in sse_data(strings(*lines))] == data


async def test_a_huge_refusal_is_not_read_to_its_end(server, monkeypatch):
    """A refusal is read up to a limit."""
    monkeypatch.setattr(edge, "MAX_ERROR_BODY", 100)
    server.on("/x", Answer(400, [b"y" * 80, b"y" * 80, b"end"], {"content-type": "text/plain"}))
    with pytest.raises(ProviderRequestError, match="y" * 100) as caught:
        await get(server, Clock())
    assert "end" not in caught.value.message
    assert "y" * 101 not in caught.value.message
