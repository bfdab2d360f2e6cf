"""Which IP addresses are public, and which names never are. Data, each with its reason.

Sources: the IANA special-purpose address registries for IPv4 and IPv6, RFC 6052 (NAT64), RFC 6761 and 6762 (names),
and the documentation of the clouds named beside an entry.
"""

from __future__ import annotations

import ipaddress

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_V4 = {
    "0.0.0.0/8": "means this machine",
    "10.0.0.0/8": "is a private address",
    "100.64.0.0/10": "is shared by a carrier's customers (CGNAT), and holds a cloud's metadata service",
    "127.0.0.0/8": "is this machine (loopback)",
    "168.63.129.16/32": "is a cloud's host service (Azure), reachable although it looks public",
    "169.254.0.0/16": "is link-local, and holds the clouds' metadata service",
    "172.16.0.0/12": "is a private address",
    "192.0.0.0/24": "is reserved for protocols, and holds a cloud's metadata service (Oracle)",
    "192.0.2.0/24": "is for documentation",
    "192.31.196.0/24": "is an anycast service of the DNS (AS112)",
    "192.52.193.0/24": "is for tunnels (AMT)",
    "192.88.99.0/24": "was a relay to IPv6 (6to4)",
    "192.168.0.0/16": "is a private address",
    "192.175.48.0/24": "is an anycast service of the DNS (AS112)",
    "198.18.0.0/15": "is for benchmarks",
    "198.51.100.0/24": "is for documentation",
    "203.0.113.0/24": "is for documentation",
    "224.0.0.0/4": "is multicast",
    "240.0.0.0/4": "is reserved",
}

_V6 = {
    "2001::/23": "is reserved for protocols (Teredo and others)",
    "2001:db8::/32": "is for documentation",
    "2002::/16": "wraps an IPv4 address (6to4)",
    "2620:4f:8000::/48": "is an anycast service of the DNS (AS112)",
    "3fff::/20": "is for documentation",
}

_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
"""All that has been given out for the public internet; loopback, link-local, unique-local, multicast lie outside."""

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""A public IPv4 address as a network without IPv4 sees it: judged by the address inside."""

_SPECIAL = {ipaddress.ip_network(network): reason for network, reason in (_V4 | _V6).items()}

LOCAL_NAMES = {
    "localhost": "is this machine",
    "localdomain": "is the local network",
    "local": "is the local network (mDNS)",
    "internal": "is a private network, and holds the clouds' metadata names",
    "intranet": "is a private network",
    "private": "is a private network",
    "corp": "is a private network",
    "home": "is a home network",
    "lan": "is a local network",
    "arpa": "is the DNS's own",
    "onion": "is no address of the public internet",
}
"""Last labels of names that are not on the public internet, whatever a resolver says."""


def why_not_public(address: IPAddress) -> str | None:
    """The reason why an address is not on the public internet (`is a private address`), or None where it is."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = _inner(address)
        if inner is not None:
            reason = why_not_public(inner)
            return None if reason is None else f"wraps {inner}, which {reason}"
        if address not in _GLOBAL_V6:
            return "is this machine (loopback)" if address.is_loopback else "is not on the public internet"
    for network, reason in _SPECIAL.items():
        if address.version == network.version and address in network:
            return reason
    return None


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def is_loopback(address: IPAddress) -> bool:
    """The address is this machine, however it is written."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


def is_local_host(url: str) -> bool:
    """The URL names this machine: `localhost` or a loopback address. Nothing is resolved."""
    from urllib.parse import urlsplit

    host = (urlsplit(url).hostname or "").removesuffix(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return is_loopback(ipaddress.ip_address(host))
    except ValueError:
        return False
