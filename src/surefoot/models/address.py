"""Which addresses may be connected to: checked before, after name resolution, and again at each redirect.

An address that a model chose may only be public. An address that the person configured is allowed exactly as host and
port. The connection goes to the very IP address that was checked, so a name that resolves differently a moment later
(DNS rebinding) changes nothing.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.errors import AddressRefusedError, MisuseError, SettingsError
from surefoot.models.checks import seconds_allowed
from surefoot.models.networks import LOCAL_NAMES, IPAddress, is_local_host, is_loopback, why_not_public

if TYPE_CHECKING:
    import httpx

    from surefoot.settings import Settings

Resolver = Callable[[str, int], Sequence[str]]
"""`resolve(host, port)` gives IP addresses as text, and raises `OSError` where the name has none."""

PORTS = {"http": 80, "https": 443}
"""The schemes that are allowed, with their ports."""

MAX_REDIRECTS = 5
"""Pages that need more are loops or trackers."""

_UNSAFE = re.compile(r"[\s\\\x00-\x1f\x7f\ud800-\udfff]")
"""Browsers drop or turn these; two readers of such a URL may see two hosts."""

_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
"""A host as the DNS can hold it, IDNA already applied."""

_NUMERIC = re.compile(r"0x[0-9a-f]*|\d+", re.IGNORECASE)
"""A last label like this makes the host an IPv4 address for many readers, in whatever form (`127.1`, `0x7f000001`)."""

Endpoint = tuple[str, int]


def system_resolver(host: str, port: int) -> list[str]:
    """The addresses the system knows for a name, each once, in its order."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # a label is empty or too long for the DNS
        raise OSError(f"{host} is no name of the DNS") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class AddressPolicy:
    """Says which addresses may be connected to, and makes clients that hold to it.

    Args:
        allowed: configured endpoints, as URLs (`http://127.0.0.1:11434`), `host:port` texts or `(host, port)`. They
            are allowed exactly as written, wherever they resolve to.
        public: allow every public address besides. False: the configured endpoints only.
        offline: allow loopback only, configured or not.
        resolve: how names are resolved; the system's way unless given.
    """

    def __init__(
        self,
        *,
        allowed: Iterable[str | Endpoint] = (),
        public: bool = True,
        offline: bool = False,
        resolve: Resolver = system_resolver,
    ) -> None:
        self._allowed = frozenset(_endpoint(entry) for entry in allowed)
        self._public = public
        self._offline = offline
        self._resolve = resolve

    @classmethod
    def for_model_addresses(cls, settings: Settings) -> AddressPolicy:
        """For addresses a model chose: public ones only, none while `offline` is set."""
        return cls(offline=settings.offline)

    @classmethod
    def for_endpoint(cls, url: str, settings: Settings) -> AddressPolicy:
        """For one configured endpoint: its host and port and nothing else.

        Raises:
            SettingsError: the URL is none, or has a user name in it.
        """
        try:
            return cls(allowed=[url], public=False, offline=settings.offline)
        except (MisuseError, AddressRefusedError) as error:
            raise SettingsError(
                error.message, "Write it like http://127.0.0.1:11434; a key goes into the keyring."
            ) from error

    def check(self, url: str | httpx.URL) -> Endpoint:
        """Refuse what can be refused without the network; the host and port where nothing speaks against it.

        Raises:
            AddressRefusedError: the scheme, the form of the host, a name or an IP address is not allowed.
        """
        parsed = _parse(url)
        shown = _shown(parsed)
        if parsed.scheme not in PORTS:
            raise _refused(shown, f"has the scheme {parsed.scheme!r}; only http and https are allowed")
        if parsed.userinfo:
            raise _refused(shown, "carries a user name in front of the host, which hides the real host")
        host = _host(parsed)
        if not host:
            raise _refused(shown, "names no host")
        if not _NAME.fullmatch(host) and _ip(host) is None:
            raise _refused(shown, "has a host that is neither a name nor an IP address")
        port = PORTS[parsed.scheme] if parsed.port is None else parsed.port
        if not 0 < port < 1 << 16:
            raise _refused(shown, f"has the port {port}, and ports go from 1 to 65535")
        if (host, port) in self._allowed:
            if self._offline and not is_local_host(str(parsed)):
                raise _offline(shown)
            return host, port
        if not self._public:
            raise _refused(shown, "is not the configured endpoint", allowed=self._listed())
        self._check_public_host(host, shown)
        return host, port

    def addresses(self, host: str, port: int) -> list[str]:
        """Resolve a checked host and check every address it has; these are the ones to connect to. It may wait.

        Raises:
            AddressRefusedError: one of the addresses is not allowed; a name with a good and a bad one is a trick.
            OSError: the name has no address.
        """
        found = self._resolve(_bare(host), port)
        if not found:
            raise OSError(f"{host} has no address")
        configured = (_bare(host), port) in self._allowed
        for text in found:
            self._check_ip(ipaddress.ip_address(text.partition("%")[0]), host, configured=configured)
        return list(found)

    def client(
        self,
        *,
        timeout: float,
        follow_redirects: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.AsyncClient:
        """An async client that cannot connect to anything this policy does not allow.

        `timeout` is in seconds, for each of connecting, reading and writing; it must be positive. Proxies, netrc and
        cookies of the person are not used.
        """
        import httpx

        from surefoot.models._policy_transport import AsyncPolicyTransport

        return httpx.AsyncClient(
            transport=AsyncPolicyTransport(self),
            **_options(timeout, headers, follow_redirects=follow_redirects),
        )

    def sync_client(
        self,
        *,
        timeout: float,
        follow_redirects: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Client:
        """The same for code that runs in a thread."""
        import httpx

        from surefoot.models._policy_transport import PolicyTransport

        return httpx.Client(
            transport=PolicyTransport(self), **_options(timeout, headers, follow_redirects=follow_redirects)
        )

    def _check_public_host(self, host: str, shown: str) -> None:
        address = _ip(host)
        if address is not None:
            self._check_ip(address, shown, configured=False)
            return
        if self._offline:
            raise _offline(shown)
        labels = host.split(".")
        if _NUMERIC.fullmatch(labels[-1]):
            raise _refused(shown, "writes an IP address in a form that readers disagree about")
        if labels[-1] in LOCAL_NAMES:
            raise _refused(shown, LOCAL_NAMES[labels[-1]])
        if len(labels) == 1:
            raise _refused(shown, "is a name of a local network: it has no dot")

    def _check_ip(self, address: IPAddress, shown: str, *, configured: bool) -> None:
        if self._offline and not is_loopback(address):
            raise _offline(shown)
        if configured:
            return
        reason = why_not_public(address)
        if reason is not None:
            itself = _bare(shown.rpartition("//")[2]) == str(address)
            raise _refused(
                shown, reason if itself else f"leads to {address}, which {reason}", ip=str(address)
            )
        if not self._public:
            raise _refused(shown, "is not the configured endpoint", allowed=self._listed())

    def _listed(self) -> list[str]:
        return sorted(f"{host}:{port}" for host, port in self._allowed)


def _options(timeout: float, headers: Mapping[str, str] | None, *, follow_redirects: bool) -> dict[str, Any]:
    return {
        "timeout": seconds_allowed(timeout, timeout),
        "follow_redirects": follow_redirects,
        "max_redirects": MAX_REDIRECTS,
        "headers": dict(headers or {}),
        "trust_env": False,
    }


def _endpoint(entry: str | Endpoint) -> Endpoint:
    if isinstance(entry, tuple):
        return _bare(entry[0].lower()), entry[1]
    url = _parse(entry if "://" in entry else f"http://{entry}")
    if url.scheme not in PORTS or not url.host or url.userinfo:
        raise MisuseError(
            f"{_shown(url)!r} is no endpoint: it needs http or https, a host, and no user name.",
            "Write it like http://127.0.0.1:11434.",
        )
    return _host(url), url.port or PORTS[url.scheme]


def _parse(url: str | httpx.URL) -> httpx.URL:
    import httpx

    if isinstance(url, httpx.URL):
        return url
    if _UNSAFE.search(url):
        raise _refused(repr(_without_user(url)), "has a space, a backslash or a control character in it")
    try:
        return httpx.URL(url)
    except httpx.InvalidURL as error:
        raise _refused(repr(_without_user(url)), f"is no address ({error})") from error


def _host(url: httpx.URL) -> str:
    return _bare(url.raw_host.decode("ascii").lower())


def _bare(host: str) -> str:
    """The host without brackets and without the dot of the root."""
    return host.strip("[]").removesuffix(".")


def _ip(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _shown(url: httpx.URL) -> str:
    """The address as a message may show it: no user name, no password, no query."""
    host = url.raw_host.decode("ascii")
    if not url.scheme or not host:
        return repr(_without_user(str(url)))
    port = "" if url.port is None else f":{url.port}"
    return f"{url.scheme}://[{host}]{port}" if ":" in host else f"{url.scheme}://{host}{port}"


def _without_user(text: str) -> str:
    return re.sub(r"//[^/?#]*@", "//", text)[:200]


def _refused(shown: str, reason: str, **details: Any) -> AddressRefusedError:
    return AddressRefusedError(
        f"{shown} {reason}.",
        "Only public http and https addresses may be opened, and those set in the settings.",
        address=shown,
        reason=reason,
        **details,
    )


def _offline(shown: str) -> AddressRefusedError:
    return AddressRefusedError(
        f"{shown} is not on this machine, and `offline` is set.",
        "Unset SUREFOOT_OFFLINE to use the network.",
        address=shown,
        reason="offline",
    )
