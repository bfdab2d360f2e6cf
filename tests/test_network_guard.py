"""The guard of the tests themselves: nothing leaves the machine, and loopback works."""

from __future__ import annotations

import asyncio
import os
import socket

import httpx
import pytest

from network_guard import NetworkBlockedError, allow_network


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("example.com", 443), ("2001:db8::1", 80, 0, 0)])
@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_a_connection_out_is_refused(address, method):
    """The error names the host, and is no OSError that a retry would swallow."""
    family = socket.AF_INET6 if len(address) == 4 else socket.AF_INET
    with socket.socket(family) as sock, pytest.raises(NetworkBlockedError, match=address[0]):
        getattr(sock, method)(address)


def test_a_datagram_out_is_refused():
    """No packet leaves either."""
    with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(NetworkBlockedError):
        sock.sendto(b"x", ("192.0.2.1", 9))


@pytest.mark.parametrize("name", ["example.com", b"example.com"])
def test_a_look_up_is_refused_and_numbers_and_localhost_are_not(name):
    """Name servers are the network too; numeric addresses need none."""
    with pytest.raises(NetworkBlockedError, match="look up"):
        socket.getaddrinfo(name, 80)
    assert socket.getaddrinfo("192.0.2.1", 80)
    assert socket.getaddrinfo("localhost", 80)
    assert socket.getaddrinfo(None, 80)


def test_the_guard_can_be_lifted_for_a_moment():
    """For smoke tests; it is back afterwards, also behind an error."""

    def connected():
        with allow_network(), socket.socket(type=socket.SOCK_DGRAM) as sock:
            sock.connect(("192.0.2.1", 9))  # sends nothing: a datagram socket only notes the address
            raise LookupError

    with pytest.raises((LookupError, OSError)):  # OSError: a machine without any route says so
        connected()
    with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(NetworkBlockedError):
        sock.connect(("192.0.2.1", 9))


async def test_an_http_client_is_refused():
    """Also through a library, in a worker thread and on the loop."""
    async with httpx.AsyncClient() as client:
        with pytest.raises(NetworkBlockedError):
            await client.get("http://example.com/")


async def test_loopback_works():
    """A server on this machine is a real one."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        writer.close()


def test_nothing_of_the_person_is_seen(isolated):
    """Own folders, no keys, no proxies."""
    assert os.environ["SUREFOOT_DATA_DIR"].startswith(str(isolated))
    assert not [name for name in os.environ if name.upper().endswith(("_API_KEY", "_TOKEN", "_PROXY"))]
