"""Properties of the models room: whatever the pieces, names and addresses, the whole is the same."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re

from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import AddressRefusedError, MalformedCallError
from surefoot.models.address import AddressPolicy
from surefoot.models.http import split_lines
from surefoot.models.names import ToolNames
from surefoot.models.networks import why_not_public
from surefoot.models.outgoing import read_arguments
from surefoot.models.replies import CallGatherer

texts = st.text(max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(texts, values, max_size=5)


def cut(data, at):
    """The data in pieces, cut at these places."""
    places = sorted({place % (len(data) + 1) for place in at})
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


@given(st.lists(texts | st.sampled_from(["a.b", "a b", "a_b", "x" * 70, "y" * 64]), max_size=12))
def test_names_are_allowed_distinct_and_come_back(names):
    """For any set of names."""
    mapping = ToolNames(names)
    outward = {name: mapping.outward(name) for name in names}
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in outward.values())
    assert len(set(outward.values())) == len(outward)
    assert all(mapping.inward(name) == ours for ours, name in outward.items())


@given(objects, objects, st.lists(st.integers(0, 500), max_size=8), st.lists(st.booleans(), max_size=20))
def test_calls_are_the_same_however_they_are_cut_and_interleaved(first, second, at, turns):
    """Two calls, cut anywhere, their pieces in any order between them."""
    queues = {
        index: [(index, piece) for piece in cut(json.dumps(arguments), at)]
        for index, arguments in enumerate((first, second))
    }
    gatherer = CallGatherer()
    for index, name in enumerate(("one", "two")):
        gatherer.add(call_id=f"id{index}", index=index, name=name, arguments="")
    order = [int(turn) for turn in turns] + [0] * len(queues[0]) + [1] * len(queues[1])
    for index in order:
        if queues[index]:
            _, piece = queues[index].pop(0)
            gatherer.add(call_id="", index=index, name="", arguments=piece)
    calls = gatherer.calls(ToolNames(["one", "two"]))
    assert [(call.id, call.name, call.arguments) for call in calls] == [
        ("id0", "one", first),
        ("id1", "two", second),
    ]


@given(objects, st.integers(1, 500))
def test_arguments_that_were_cut_are_never_read(arguments, at):
    """No beginning of an object's text is taken for the object."""
    text = json.dumps(arguments)
    assert read_arguments(text, "t") == arguments
    half = text[: at % len(text)]
    if half:
        try:
            found = read_arguments(half, "t")
        except MalformedCallError:
            return
        raise AssertionError(f"{half!r} was read as {found!r}")


@given(values)
def test_only_objects_are_arguments(value):
    """Anything else is refused, null excepted, which means none."""
    try:
        assert read_arguments(json.dumps(value), "t") == (value or {})
        assert value is None or isinstance(value, dict)
    except MalformedCallError:
        assert value is not None
        assert not isinstance(value, dict)


@given(
    st.lists(st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]))),
    st.lists(st.integers(0, 999)),
)
def test_lines_are_the_same_however_the_bytes_are_cut(lines, at):
    """Characters and line ends may be cut in their middle."""

    async def read():
        async def chunks():
            for chunk in cut("".join(f"{line}\r\n" for line in lines).encode(), at):
                yield chunk

        return [line async for line in split_lines(chunks())]

    assert asyncio.run(read()) == lines


@given(st.ip_addresses())
def test_no_address_passes_that_the_registries_call_special(address):
    """What passes is global by Python's tables too, and no multicast."""
    if why_not_public(address) is None:
        assert not address.is_multicast
        assert not address.is_private
        assert not address.is_loopback
        assert not address.is_link_local
        assert not address.is_reserved or isinstance(address, ipaddress.IPv6Address)
        assert address.is_global or address in ipaddress.ip_network("64:ff9b::/96")


@given(st.ip_addresses(v=4))
def test_wrapping_an_address_changes_nothing(address):
    """Mapped and NAT64 forms are as public as what they wrap."""
    public = why_not_public(address) is None
    for prefix in ("::ffff:0:0", "64:ff9b::"):
        wrapped = ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | int(address))
        assert (why_not_public(wrapped) is None) is public


@given(texts | texts.map("http://{}".format) | texts.map("http://{}@127.0.0.1/".format))
def test_any_text_is_an_address_or_refused(text):
    """No text makes the policy fall over, and none that names loopback passes."""
    try:
        host, port = AddressPolicy().check(text)
    except AddressRefusedError:
        return
    assert host
    assert not host.startswith("127.")
    assert 0 < port < 65536
