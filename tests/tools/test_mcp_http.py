"""Servers at an address: streamable HTTP on loopback, the address policy in between, keys by name."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from surefoot import redaction
from surefoot.errors import OutcomeUnknownError, ToolError
from surefoot.tools.mcp import client, http
from surefoot.tools.mcp.client import McpTools

from .mcp_support import eventually, http_server, opened, settings_with

KEY = "tok-planted-0123456789"


class ByHand:
    """A stateful server of the older protocol; `mode` says how it answers a call."""

    def __init__(self) -> None:
        self.mode = "plain"
        self.session = 0
        self.calls: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""

    def answer(self, request: dict[str, Any], session: str) -> tuple[int, dict[str, str], bytes]:
        method, id_ = request.get("method"), request.get("id")
        headers = {"content-type": "application/json"}
        if self.mode == "locked":
            return 401, {"content-type": "text/html"}, b"<h1>\x1b[31mNo</h1>"
        if method == "initialize":
            self.session += 1
            headers["mcp-session-id"] = f"s{self.session}"
            info = {"name": "by hand", "version": "1"}
            version = request["params"]["protocolVersion"]
            return (
                200,
                headers,
                result(id_, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}),
            )
        if id_ is None:
            return 202, headers, b""
        if method == "tools/list":
            tools = [{"name": "act", "inputSchema": {"type": "object"}}]
            return 200, headers, result(id_, {"tools": tools})
        if method != "tools/call":
            return (
                404,
                headers,
                json.dumps(
                    {"jsonrpc": "2.0", "id": id_, "error": {"code": -32601, "message": "no"}}
                ).encode(),
            )
        return self.called(request, session, headers)

    def called(
        self, request: dict[str, Any], session: str, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        if session != f"s{self.session}" or self.mode == "forgets":
            return 404, {"content-type": "text/plain"}, b"unknown session"
        self.calls.append(request["params"])
        plain = result(request["id"], {"content": [{"type": "text", "text": "done"}]})
        return {
            "plain": (200, headers, plain),
            "fault": (500, {"content-type": "text/plain"}, b"oops"),
            "gone": (0, {}, b""),
            "cut": (-1, headers, plain),
            "moved": (307, {"location": "http://127.0.0.1:9/else"}, b""),
            "packed": (200, {**headers, "content-encoding": "gzip"}, b"\x1f\x8b"),
            "long": (200, headers, plain + b" " * 2_000_000),
            "page": (200, {"content-type": "text/html"}, b"<p>hello"),
            "nonsense": (200, headers, b"{not json"),
        }[self.mode]


def result(id_: Any, value: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "result": value}).encode()


@contextmanager
def by_hand() -> Iterator[ByHand]:
    server = ByHand()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_error(405)

        def do_DELETE(self) -> None:
            self.send_error(405)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            server.headers.append({key.lower(): value for key, value in self.headers.items()})
            status, headers, content = server.answer(json.loads(body), self.headers.get("mcp-session-id", ""))
            if status == 0:
                self.close_connection = True
                return
            self.send_response(abs(status) if status > 0 else 200)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("content-length", str(len(content) + (100 if status < 0 else 0)))
            self.end_headers()
            self.wfile.write(content)
            self.close_connection = status < 0

        def log_message(self, *args: Any) -> None:
            return

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever)
    thread.start()
    server.url = f"http://127.0.0.1:{httpd.server_port}/mcp"
    try:
        yield server
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "WAITS", (0.0, 0.0))


async def test_a_server_of_the_sdk_over_http(tmp_path, quick):
    """Listed, called, changed, cancelled, killed between and during calls."""
    with http_server(tmp_path) as server:
        async with opened(web={"url": server.url, "trusted": True}) as servers:
            assert await servers.call("web__look", word="Grüße") == {"result": "Grüße"}
            assert await eventually(lambda: servers.mcp.servers[0]._connection.watched)
            await servers.refresh()
            await servers.call("web__grow", name="later")
            assert await eventually(lambda: servers.mcp.servers[0]._stale)
            await servers.refresh()
            assert await servers.call("web__later") == "grown"

            task = asyncio.ensure_future(servers.call("web__wait", seconds=600))
            assert await eventually(lambda: "wait begins" in server.sent())
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await eventually(lambda: "wait cancelled" in server.sent())
            assert len(await servers.call("web__big", characters=5_000_000)) < 101_000

            server.kill()
            server.start()
            assert await servers.call("web__send", to="a", text="1") == {"sent": True, "to": "a", "text": "1"}
            with pytest.raises(OutcomeUnknownError):
                await servers.call("web__act_and_die", mark="died")
            assert server.sent().count("acted") == 1
            server.kill()
            with pytest.raises(ToolError, match="cannot be reached") as down:
                await servers.call("web__send", to="a", text="2")
            assert type(down.value) is ToolError
            server.start()
            servers.mcp.servers[0]._not_before = 0.0
            assert await servers.call("web__read_or_die", mark="died") == {"result": "alive"}


async def test_arguments_that_are_wanted_as_headers_too_are_sent_so(tmp_path):
    """Also on a session that was opened for this call and has not listed the tools."""
    with http_server(tmp_path) as server:
        async with opened(web={"url": server.url}) as servers:
            assert await servers.call("web__region", where="Köln") == {"result": "in Köln"}
            await servers.mcp.close()
            assert await servers.call("web__region", where="Rome") == {"result": "in Rome"}


async def test_a_session_that_the_server_forgot_is_opened_anew():
    """It had refused the call before it did anything, so the call is sent again, whatever it does."""
    with by_hand() as server:
        async with opened(web={"url": server.url}) as servers:
            assert await servers.call("web__act") == "done"
            server.session += 7
            assert await servers.call("web__act") == "done"
            assert len(server.calls) == 2


async def test_a_server_that_always_forgets_is_not_asked_for_ever():
    """A few times; nothing was done."""
    with by_hand() as server:
        async with opened(web={"url": server.url}) as servers:
            server.mode = "forgets"
            with pytest.raises(ToolError, match="does not take the call: it has forgotten the session"):
                await servers.call("web__act")
            assert server.session == client.SENDS
            assert server.calls == []


@pytest.mark.parametrize(
    ("mode", "unknown", "why"),
    [
        ("fault", True, "HTTP status 500"),
        ("gone", True, "connection broke"),
        ("cut", True, "connection broke"),
        ("packed", True, "compressed"),
        ("long", True, "more than 1000000 bytes"),
        ("nonsense", True, "parse"),
        ("moved", False, "not followed"),
        ("page", False, "content type"),
    ],
)
async def test_an_answer_that_is_none_is_told_as_what_is_known(mode, unknown, why, monkeypatch):
    """Lost on the way or broken: unknown, and not repeated. Refused: failed. The session goes on either way."""
    monkeypatch.setattr(http, "MAX_MESSAGE_BYTES", 1_000_000)
    with by_hand() as server:
        async with opened(web={"url": server.url}) as servers:
            server.mode = mode
            with pytest.raises(ToolError, match=f"(?i){why}") as told:
                await servers.call("web__act")
            assert isinstance(told.value, OutcomeUnknownError) is unknown
            assert len(server.calls) == 1
            server.mode = "plain"
            assert await servers.call("web__act") == "done"
            assert server.session == 1


async def test_a_server_that_refuses_is_a_notice_with_its_status():
    """Without the page it sent."""
    with by_hand() as server:
        server.mode = "locked"
        async with opened(web={"url": server.url}) as servers:
            assert servers.tools == {}
            (notice,) = servers.notices
            assert notice.startswith("MCP server 'web' cannot be used: it answered with HTTP status 401. ")


async def test_keys_are_sent_by_name_and_never_shown(monkeypatch):
    """As a bearer token and as another header; both are masked from then on."""
    monkeypatch.setenv("WEB_KEY", KEY)
    monkeypatch.setenv("OTHER_KEY", "other-planted-987654")
    with by_hand() as server:
        table = {"url": server.url, "key": "WEB_KEY", "headers": {"X-Api-Key": "OTHER_KEY"}}
        async with opened(web=table) as servers:
            assert servers.notices == ()
            assert all(seen["authorization"] == f"Bearer {KEY}" for seen in server.headers)
            assert all(seen["x-api-key"] == "other-planted-987654" for seen in server.headers)
            assert redaction.redact(f"{KEY} other-planted-987654") == "[secret] [secret]"
            assert KEY not in repr(servers.mcp.servers[0].config)


async def test_a_key_that_is_not_there_is_a_notice_that_names_it():
    """And nothing is sent without it."""
    with by_hand() as server:
        async with opened(web={"url": server.url, "key": "NO_SUCH_KEY"}) as servers:
            assert "there is none named NO_SUCH_KEY" in servers.notices[0]
            assert server.headers == []


async def test_only_the_configured_address_is_connected_to(monkeypatch):
    """A name that leads elsewhere is resolved and pinned; offline, nothing but this machine."""
    monkeypatch.setenv("SUREFOOT_OFFLINE", "true")
    tools = McpTools(settings_with(far={"url": "http://192.0.2.1/mcp"}))
    (notice,) = (await tools.tools()).notices
    assert "is not on this machine, and `offline` is set" in notice
    await tools.close()


async def test_a_name_that_cannot_be_resolved_is_a_notice(monkeypatch):
    """The resolver's word for it."""
    from surefoot.models.address import AddressPolicy

    def nobody(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    policy = AddressPolicy(allowed=["http://nowhere.example"], public=False, resolve=nobody)
    monkeypatch.setattr(AddressPolicy, "for_endpoint", lambda url, settings: policy)
    async with opened(web={"url": "http://nowhere.example/mcp"}) as servers:
        assert "nowhere.example cannot be resolved: no such name" in servers.notices[0]


async def test_of_several_addresses_the_next_is_tried(monkeypatch):
    """As a browser does for a name with a dead address in front."""
    from surefoot.models.address import AddressPolicy

    with by_hand() as server:
        port = int(server.url.rsplit(":", 1)[1].split("/")[0])
        policy = AddressPolicy(
            allowed=[f"http://two.example:{port}"],
            public=False,
            resolve=lambda host, port: ["127.0.0.9", "127.0.0.1"],
        )
        monkeypatch.setattr(AddressPolicy, "for_endpoint", lambda url, settings: policy)
        async with opened(web={"url": f"http://two.example:{port}/mcp"}) as servers:
            assert await servers.call("web__act") == "done"
