"""The address policy: public only, pinned after resolution, again at each redirect; configured endpoints exactly."""

from __future__ import annotations

import socket

import httpx
import pytest

from models.servers import Answer, LoopbackServer, as_json, free_port
from surefoot.errors import AddressRefusedError, MisuseError, SettingsError
from surefoot.models.address import AddressPolicy, system_resolver
from surefoot.models.networks import is_local_host
from surefoot.settings import Settings

PUBLIC = AddressPolicy(resolve=lambda host, port: ["93.184.215.14"])


@pytest.fixture
def server():
    with LoopbackServer().running() as running:
        yield running


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.8.9.1:8080/",
        "http://0.0.0.0/",
        "http://10.1.2.3/",
        "http://172.16.0.1/",
        "http://172.31.255.255/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",  # CGNAT
        "http://100.100.100.200/",  # a cloud's metadata behind CGNAT
        "http://169.254.169.254/latest/meta-data/",
        "http://168.63.129.16/",  # a cloud's host service on a public-looking address
        "http://192.0.0.192/",
        "http://198.18.0.1/",
        "http://224.0.0.1/",
        "http://239.255.255.250/",
        "http://240.0.0.1/",
        "http://255.255.255.255/",
        "http://[::]/",
        "http://[::1]/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
        "http://[fd00:ec2::254]/",
        "http://[ff02::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:a00:1]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::127.0.0.1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[64:ff9b:1::1]/",
        "http://[2002:7f00:1::]/",  # 6to4
        "http://[2001:0:7f00:1::]/",  # Teredo
        "http://[2001:db8::1]/",
    ],
)
def test_addresses_that_are_not_public_are_refused(url):
    """Loopback, private, link-local, multicast, carrier, reserved, and IPv6 forms that wrap such an address."""
    with pytest.raises(AddressRefusedError) as caught:
        PUBLIC.check(url)
    assert "public" in caught.value.next_move


@pytest.mark.parametrize(
    "url",
    [
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.1/",
        "http://0/",
        "http://1.2.3.4.5/",
        "http://%31%32%37.0.0.1/",
        "http://１２７.0.0.1/",
        "http://127。0。0。1/",
        "http://[fe80::1%25eth0]/",
        "http://999.1.1.1/",
    ],
)
def test_ip_addresses_in_forms_readers_disagree_about_are_refused(url):
    """Decimal, octal, hex, short, escaped, full-width: whatever another reader would make of them."""
    with pytest.raises(AddressRefusedError):
        PUBLIC.check(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/",
        "http://LOCALHOST:8080/",
        "http://localhost./",
        "http://a.localhost/",
        "http://ⓛocalhost/",
        "http://metadata.google.internal/",
        "http://printer.local/",
        "http://router.lan/",
        "http://wiki.corp/",
        "http://intranet/",
        "http://a..example.com/",
        "http://-/",
        "http://xn--/",
        f"http://{'a' * 64}.com/",
    ],
)
def test_names_of_local_networks_are_refused_without_asking_a_resolver(url):
    """The name alone is enough, whatever it would resolve to."""

    def never(host: str, port: int) -> list[str]:
        raise AssertionError(f"{host} was looked up")

    with pytest.raises(AddressRefusedError):
        AddressPolicy(resolve=never).check(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://user@example.com/",
        "http://example.com@127.0.0.1/",
        "http://example.com:80@127.0.0.1/",
        "http://127.0.0.1%2f@example.com/",
        "http://example.com\\@127.0.0.1/",
        "http://example.com\t/",
        "http://exam ple.com/",
        "http://example.com/\r\nHost: x",
        "ftp://example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "gopher://example.com/",
        "//example.com/",
        "example.com",
        "",
        "http://",
        "http:///path",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:x/",
        "http://[::1/",
    ],
)
def test_tricks_with_the_form_of_a_url_are_refused(url):
    """User names, backslashes, control characters, other schemes, missing or impossible parts."""
    with pytest.raises(AddressRefusedError):
        PUBLIC.check(url)


def test_a_password_in_a_url_is_not_shown():
    """A message about a URL names its host and nothing that may be secret."""
    for url in ("http://ann:hunter22@example.com/?token=abc", "http://ann:hunter22@exa mple.com/"):
        with pytest.raises(AddressRefusedError) as caught:
            PUBLIC.check(url)
        assert "hunter22" not in str(caught.value.to_dict())
        assert "token" not in str(caught.value.to_dict())


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("http://example.com/a?b=c", ("example.com", 80)),
        ("https://Example.COM:8443/", ("example.com", 8443)),
        ("https://example.com./", ("example.com", 443)),
        ("http://bücher.example/", ("xn--bcher-kva.example", 80)),
        ("http://8.8.8.8/", ("8.8.8.8", 80)),
        ("http://[2606:4700::1111]/", ("2606:4700::1111", 80)),
        ("http://[64:ff9b::8.8.8.8]/", ("64:ff9b::808:808", 80)),
        ("http://[::ffff:8.8.8.8]/", ("::ffff:808:808", 80)),
    ],
)
def test_public_addresses_pass(url, endpoint):
    """Names and addresses of the public internet, and NAT64 and mapped forms of them."""
    host, port = PUBLIC.check(url)
    assert port == endpoint[1]
    assert host in {endpoint[0], endpoint[0].replace("808:808", "8.8.8.8")}


@pytest.mark.parametrize(
    "found",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["::1"],
        ["fe80::1%eth0"],
        ["169.254.169.254"],
        ["93.184.215.14", "192.168.0.1"],
    ],
)
def test_a_public_name_that_leads_inside_is_refused_after_resolution(found):
    """Every address of a name is checked; one bad one among good ones refuses the name."""
    policy = AddressPolicy(resolve=lambda host, port: found)
    policy.check("http://rebind.example.com/")
    with pytest.raises(AddressRefusedError, match=r"rebind\.example\.com leads to"):
        policy.addresses("rebind.example.com", 80)


def test_a_name_without_an_address_is_an_os_error(monkeypatch):
    """Nothing to connect to is a network failure, not a refusal; so is a name the DNS cannot hold."""
    with pytest.raises(OSError, match="has no address"):
        AddressPolicy(resolve=lambda host, port: []).addresses("example.com", 80)
    assert system_resolver("127.0.0.1", 80) == ["127.0.0.1"]

    def cannot_encode(*args, **kwargs):
        raise UnicodeError("label empty or too long")

    monkeypatch.setattr(socket, "getaddrinfo", cannot_encode)
    with pytest.raises(OSError, match="no name of the DNS"):
        system_resolver("a" * 64 + ".example.com", 80)


async def test_the_connection_goes_to_the_address_that_was_checked(server):
    """DNS rebinding: the second answer of the resolver would lead elsewhere, and is never asked for."""
    server.on("/", as_json({"ok": True}))
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    policy = AddressPolicy(allowed=[("site.example.com", server.port)], resolve=resolve)
    async with policy.client(timeout=5) as client:
        answer = await client.get(f"http://site.example.com:{server.port}/")
    assert answer.json() == {"ok": True}
    assert asked == ["site.example.com"]
    assert server.seen[0].headers["host"] == f"site.example.com:{server.port}"


async def test_a_client_cannot_reach_what_is_refused_after_resolution(server):
    """The check sits where the connection is made, so no caller can go around it."""
    policy = AddressPolicy(resolve=lambda host, port: ["127.0.0.1"])
    async with policy.client(timeout=5) as client:
        with pytest.raises(AddressRefusedError, match="leads to"):
            await client.get(f"http://example.com:{server.port}/")
    with policy.sync_client(timeout=5) as sync, pytest.raises(AddressRefusedError, match="leads to"):
        sync.get(f"http://example.com:{server.port}/")
    assert server.seen == []


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:1/",
        "http://localhost/",
        "http://169.254.169.254/",
        "file:///etc/passwd",
        "http://user@127.0.0.1/",
        "http://[::1]/",
    ],
)
async def test_each_redirect_is_checked(server, target):
    """An allowed page that sends on to a refused address ends there, in both clients."""
    server.on("/go", Answer(302, headers={"location": target}))
    policy = AddressPolicy(allowed=[server.url])
    async with policy.client(timeout=5, follow_redirects=True) as client:
        with pytest.raises(AddressRefusedError):
            await client.get(f"{server.url}/go")
    with policy.sync_client(timeout=5, follow_redirects=True) as sync, pytest.raises(AddressRefusedError):
        sync.get(f"{server.url}/go")


async def test_redirects_on_the_allowed_endpoint_are_followed_but_not_for_ever(server):
    """A redirect to the same host and port works; a loop ends after five."""
    server.on("/a", Answer(302, headers={"location": "/b"}))
    server.on("/b", as_json({"here": 1}))
    server.on("/loop", Answer(302, headers={"location": "/loop"}))
    async with AddressPolicy(allowed=[server.url]).client(timeout=5, follow_redirects=True) as client:
        assert (await client.get(f"{server.url}/a")).json() == {"here": 1}
        with pytest.raises(httpx.TooManyRedirects):
            await client.get(f"{server.url}/loop")


def test_a_sync_client_for_threads(server):
    """The sync form reaches the same allowed endpoint, with its headers."""
    server.on("/", as_json([1]))
    with AddressPolicy(allowed=[server.url]).sync_client(timeout=5, headers={"x-a": "b"}) as client:
        assert client.get(server.url).json() == [1]
    assert server.seen[0].headers["x-a"] == "b"


@pytest.mark.parametrize(
    ("configured", "asked"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11435/"),
        ("http://127.0.0.1:11434", "http://localhost:11434/"),
        ("http://127.0.0.1:11434", "http://127.0.0.2:11434/"),
        ("http://api.example.com", "http://example.com/"),
        ("http://api.example.com", "http://api.example.com.evil.io/"),
        ("http://api.example.com", "http://evil-api.example.com/"),
        ("http://api.example.com", "https://api.example.com/"),
    ],
)
def test_a_configured_endpoint_is_exactly_its_host_and_port(configured, asked):
    """Look-alike hosts and other ports are not the endpoint; the endpoint itself is, wherever it leads."""
    policy = AddressPolicy(allowed=[configured], public=False)
    assert policy.check(f"{configured}/x")
    with pytest.raises(AddressRefusedError, match="not the configured endpoint"):
        policy.check(asked)


def test_an_endpoint_may_be_written_in_three_ways_and_must_be_one():
    """URL, `host:port` and a pair mean the same; what is no endpoint is a misuse of ours."""
    for form in ("http://localhost:80", "localhost:80", "localhost", ("LOCALHOST", 80)):
        assert AddressPolicy(allowed=[form], public=False).check("http://localhost/") == ("localhost", 80)
    for wrong in ("ftp://x.com", "http://", "http://u:p@x.com"):
        with pytest.raises(MisuseError):
            AddressPolicy(allowed=[wrong])


@pytest.mark.parametrize("url", ["http://ann:hunter22@x.com/v1", "ftp://x.com", "http://a b", "http://", ""])
def test_a_setting_that_is_no_endpoint_is_the_persons_to_mend(url):
    """The error is about the setting, and shows no password that stands in it."""
    with pytest.raises(SettingsError) as caught:
        AddressPolicy.for_endpoint(url, Settings())
    assert "hunter22" not in str(caught.value.to_dict())


def test_only_the_endpoint_is_connected_to_even_by_address():
    """A policy without public addresses refuses an address that is not its endpoint's."""
    policy = AddressPolicy(
        allowed=["http://api.example.com"], public=False, resolve=lambda host, port: ["8.8.8.8"]
    )
    assert policy.addresses("api.example.com", 80) == ["8.8.8.8"]
    with pytest.raises(AddressRefusedError):
        policy.addresses("other.example.com", 80)


def test_offline_leaves_loopback_only():
    """With `offline` set nothing but this machine is reached, configured or not, before a name is looked up."""
    settings = Settings(offline=True)
    chosen = AddressPolicy.for_model_addresses(settings)
    for url in ("http://example.com/", "http://8.8.8.8/"):
        with pytest.raises(AddressRefusedError, match="`offline` is set"):
            chosen.check(url)
    with pytest.raises(AddressRefusedError):
        chosen.check("http://127.0.0.1/")
    mapped = AddressPolicy(
        allowed=["localhost"], offline=True, resolve=lambda host, port: ["::ffff:127.0.0.1"]
    )
    assert mapped.addresses("localhost", 80) == ["::ffff:127.0.0.1"]
    ours = AddressPolicy.for_endpoint("http://127.0.0.1:11434", settings)
    assert ours.addresses(*ours.check("http://127.0.0.1:11434/api/tags")) == ["127.0.0.1"]
    far = AddressPolicy(
        allowed=["http://gpu.example.com"], offline=True, resolve=lambda host, port: ["10.0.0.9"]
    )
    for refused in (
        lambda: far.check("http://gpu.example.com/v1"),
        lambda: far.addresses("gpu.example.com", 80),
    ):
        with pytest.raises(AddressRefusedError, match="`offline` is set"):
            refused()
    assert AddressPolicy(allowed=["localhost:1"], offline=True).check("http://localhost:1/") == (
        "localhost",
        1,
    )


def test_without_offline_the_named_policies_are_public_only_and_endpoint_only():
    """A model's addresses are public ones; an endpoint's policy knows the endpoint."""
    assert AddressPolicy.for_model_addresses(Settings()).check("https://example.com/") == ("example.com", 443)
    with pytest.raises(AddressRefusedError):
        AddressPolicy.for_endpoint("http://127.0.0.1:1", Settings()).check("https://example.com/")


@pytest.mark.parametrize("seconds", [0, -1])
def test_clients_always_have_a_time_out(seconds):
    """0 is no time-out and not "none"."""
    for make in (PUBLIC.client, PUBLIC.sync_client):
        with pytest.raises(MisuseError):
            make(timeout=seconds)


async def test_the_next_address_of_a_name_is_tried(server):
    """A name with a dead and a living address reaches the living one, in both clients."""
    server.on("/", as_json("alive"))
    policy = AddressPolicy(
        allowed=[("two.example.com", server.port)], resolve=lambda host, port: ["127.0.0.9", "127.0.0.1"]
    )
    async with policy.client(timeout=5) as client:
        assert (await client.get(f"http://two.example.com:{server.port}/")).json() == "alive"
    with policy.sync_client(timeout=5) as sync:
        assert sync.get(f"http://two.example.com:{server.port}/").json() == "alive"


async def test_network_failures_stay_httpx_errors():
    """No address and nobody listening are `ConnectError`s; a resolver that hangs is a `ConnectTimeout`."""

    def fails(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    policy = AddressPolicy(resolve=fails)
    async with policy.client(timeout=5) as client:
        with pytest.raises(httpx.ConnectError, match="cannot be resolved"):
            await client.get("http://example.com/")
    with policy.sync_client(timeout=5) as sync, pytest.raises(httpx.ConnectError, match="cannot be resolved"):
        sync.get("http://example.com/")
    port = free_port()
    async with AddressPolicy(allowed=[("127.0.0.1", port)]).client(timeout=5) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(f"http://127.0.0.1:{port}/")


async def test_a_resolver_that_hangs_runs_into_the_time_out():
    """Looking a name up is part of connecting, and has its limit."""
    import threading

    held = threading.Event()

    def hangs(host: str, port: int) -> list[str]:
        held.wait(20)
        return []

    async with AddressPolicy(resolve=hangs).client(timeout=0.05) as client:
        with pytest.raises(httpx.ConnectTimeout, match="not resolved in time"):
            await client.get("http://example.com/")
    held.set()


async def test_proxies_and_netrc_of_the_person_are_not_used(server, monkeypatch, tmp_path):
    """A proxy would connect where no check reaches, and a netrc would send passwords."""
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login ann password hunter22\n")
    monkeypatch.setenv("NETRC", str(netrc))
    server.on("/", as_json(1))
    async with AddressPolicy(allowed=[server.url]).client(timeout=5) as client:
        assert (await client.get(server.url)).status_code == 200
    assert "authorization" not in server.seen[0].headers


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:11434", True),
        ("http://localhost:11434/v1", True),
        ("http://LOCALHOST./", True),
        ("http://models.localhost/", True),
        ("http://[::1]:8080/v1", True),
        ("http://[::ffff:127.0.0.1]/", True),
        ("http://127.0.0.1.example.com/", False),
        ("http://10.0.0.1/", False),
        ("http://notlocalhost/", False),
        ("", False),
    ],
)
def test_which_urls_are_this_machine(url, local):
    """By their host alone; nothing is looked up."""
    assert is_local_host(url) is local


@pytest.mark.parametrize("url", ["\ud800", "http://\udcff.com", "http://example.com/\udfff"])
def test_half_a_surrogate_pair_is_no_address(url):
    """Nothing can be sent of it; it is refused like any other character that has no place there."""
    with pytest.raises(AddressRefusedError, match="control character"):
        AddressPolicy().check(url)
