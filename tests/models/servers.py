"""Loopback servers that replay the published examples of providers' wire formats, endings and errors included."""

from __future__ import annotations

import json
import socket
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from surefoot.models.address import AddressPolicy
from surefoot.models.http import ProviderClient


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """One answer. `chunks` are sent one by one; `drop` breaks the connection behind them; `hold` waits before them."""

    status: int = 200
    chunks: Sequence[bytes] = ()
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    hold: threading.Event | None = None
    hold_after: int = 0


def as_json(value: Any, status: int = 200, **headers: str) -> Answer:
    named = {key.replace("_", "-"): text for key, text in headers.items()}
    return Answer(status, [json.dumps(value).encode()], {"content-type": "application/json", **named})


def ndjson(*objects: Any, **options: Any) -> Answer:
    """A stream as Ollama writes it: one object a line."""
    lines = [json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in objects]
    return Answer(200, lines, {"content-type": "application/x-ndjson"}, **options)


def sse(*events: Any, done: bool = True, **options: Any) -> Answer:
    """A stream of server-sent events, `[DONE]` at its end."""
    texts = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in events]
    chunks = [f"data: {text}\n\n".encode() for text in [*texts, *(["[DONE]"] if done else [])]]
    return Answer(200, chunks, {"content-type": "text/event-stream"}, **options)


class LoopbackServer:
    """Answers each path from its queue; the last answer of a queue is given again and again."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.dropped = threading.Event()
        self._answers: dict[str, deque[Answer]] = defaultdict(deque)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._serve(self)

            def do_POST(self) -> None:
                outer._serve(self)

            def log_message(self, *args: Any) -> None:
                del args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.host, self.port = "127.0.0.1", self._server.server_address[1]
        self.url = f"http://{self.host}:{self.port}"

    def on(self, path: str, *answers: Answer) -> None:
        self._answers[path].extend(answers)

    def bodies(self, path: str) -> list[Any]:
        return [request.body for request in self.seen if request.path == path]

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        raw = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        headers = {key.lower(): value for key, value in handler.headers.items()}
        self.seen.append(Seen(handler.command, handler.path, headers, json.loads(raw) if raw else None))
        queue = self._answers[handler.path]
        if not queue:
            answer = as_json({"error": f"path {handler.path} is not here"}, 404)
        else:
            answer = queue.popleft() if len(queue) > 1 else queue[0]
        try:
            self._send(handler, answer)
        except (BrokenPipeError, ConnectionResetError):
            self.dropped.set()
            handler.close_connection = True

    def _send(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        handler.send_response(answer.status)
        for key, value in answer.headers.items():
            handler.send_header(key, value)
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        for number, chunk in enumerate(answer.chunks):
            if answer.hold and number == answer.hold_after:
                answer.hold.wait(20)
            handler.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            handler.wfile.flush()
        if answer.drop:
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
            return
        handler.wfile.write(b"0\r\n\r\n")

    @contextmanager
    def running(self) -> Iterator[LoopbackServer]:
        thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def __call__(self) -> float:
        return self.now


def client_for(server: LoopbackServer, clock: Clock | None = None, **options: Any) -> ProviderClient:
    """A provider client that may speak to this server only."""
    clock = clock or Clock()
    policy = AddressPolicy(allowed=[(server.host, server.port)], public=False)
    return ProviderClient(
        provider="The test server",
        base_url=server.url,
        policy=policy,
        sleep=clock.sleep,
        clock=clock,
        now=clock,
        **options,
    )


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def raw_server(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server below HTTP: `serve` gets each connection. Gives the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                serve(connection)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        stop.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
