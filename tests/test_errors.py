"""The error tree: codes, exit codes, what an error says, and that it survives pickling and JSON."""

from __future__ import annotations

import copy
import json
import pickle
import re

import pytest

from surefoot import errors
from surefoot.errors import (
    LimitError,
    MisuseError,
    PersonError,
    ProviderError,
    ProviderRateLimitError,
    StorageError,
    SurefootError,
    ToolError,
    error_from_dict,
)

ALL = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, SurefootError)]
EXIT_CODES = {1, 2, 3, 4, 6}  # 0, 5 and 130 are no errors: done, waiting, interrupted
METRIC_KINDS = {"safety", "rate_limit", "capability", "auth", "unknown"}


def test_tree_at_the_top_of_the_module_is_the_tree_of_the_classes():
    """The drawing names every class once, indented below its parent."""
    parents: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := re.search(r"\w+Error\b", line):
            depth = (match.start() - 4) // 4
            parents[depth:] = [match.group()]
            if depth:
                assert getattr(errors, parents[depth]).__bases__ == (getattr(errors, parents[depth - 1]),)
    drawn = re.findall(r"^.*[├└]── (\w+)|^    (SurefootError)$", errors.__doc__ or "", re.MULTILINE)
    assert sorted(a or b for a, b in drawn) == sorted(kind.__name__ for kind in ALL)


def test_codes_are_unique():
    """A code names one class."""
    codes = [kind.code for kind in ALL]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("kind", ALL)
def test_every_class_states_its_own_code_and_a_known_exit_code(kind: type[SurefootError]):
    """No class borrows its parent's code, and its exit code is one of the documented ones."""
    assert "code" in vars(kind)
    assert kind.exit_code in EXIT_CODES


@pytest.mark.parametrize("kind", ALL)
def test_an_error_without_arguments_still_says_something(kind: type[SurefootError]):
    """Misuse errors and their like need no arguments."""
    error = kind()
    assert error.message == (kind.__doc__ or "").splitlines()[0]
    assert str(error) == error.message


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("way", [copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_survives_pickling_and_copying(kind: type[SurefootError], way):
    """Class, message, next move and details are the same again."""
    again = way(kind("no 'x'", "Use y.", value=0, allowed=["y"]))
    assert type(again) is kind
    assert again.to_dict() == kind("no 'x'", "Use y.", value=0, allowed=["y"]).to_dict()
    assert str(again) == "no 'x' Use y."


@pytest.mark.parametrize("kind", ALL)
def test_an_error_survives_json(kind: type[SurefootError]):
    """What `to_dict` wrote comes back as the same class."""
    error = kind("no 'x'", "Use y.", value=None, empty="", zero=0, no=False)
    again = error_from_dict(json.loads(json.dumps(error.to_dict())))
    assert type(again) is kind
    assert again.to_dict() == error.to_dict()


@pytest.mark.parametrize(
    ("data", "message", "details"),
    [
        ({"code": "of_a_later_version", "message": "m"}, "m", {"unknown_code": "of_a_later_version"}),
        ({"code": "", "message": "m", "details": None}, "m", {"unknown_code": ""}),
        ({}, "Base of all errors.", {"unknown_code": ""}),
    ],
)
def test_an_unknown_code_becomes_a_plain_error(data, message, details):
    """A journal written by a later version can still be read."""
    error = error_from_dict(data)
    assert type(error) is SurefootError
    assert (error.message, error.details) == (message, details)


@pytest.mark.parametrize("name", ["message", "next_move", "self", "code"])
def test_details_may_have_any_name(name: str):
    """Details come from other programs too: their names cannot break the reading of an error."""
    error = error_from_dict({"code": "input", "message": "m", "next_move": "n", "details": {name: 1}})
    assert (error.message, error.next_move, error.details) == ("m", "n", {name: 1})
    assert pickle.loads(pickle.dumps(error)).details == {name: 1}


def test_a_class_without_a_code_of_its_own_does_not_take_its_parents_place():
    """A program may derive from our classes; what was written as the parent is read as the parent."""

    class SpecialToolError(ToolError):
        """Special."""

    assert type(error_from_dict(ToolError("m").to_dict())) is ToolError
    assert type(error_from_dict(SpecialToolError("m").to_dict())) is ToolError


def test_the_five_who_must_act_and_the_disk_and_tools_stand_below_the_root():
    """Every class has exactly one of these above it, or is the root."""
    heads = (MisuseError, ProviderError, LimitError, PersonError, StorageError, ToolError)
    for kind in ALL:
        assert sum(issubclass(kind, head) for head in heads) == (kind is not SurefootError)


def test_every_provider_error_has_a_kind_for_metrics():
    """One of the five kinds and no other."""
    assert {kind.kind for kind in ALL if issubclass(kind, ProviderError)} == METRIC_KINDS


@pytest.mark.parametrize(
    ("details", "seconds"), [({}, None), ({"retry_after": 0}, 0.0), ({"retry_after": "1.5"}, 1.5)]
)
def test_retry_after_tells_zero_from_not_said(details, seconds):
    """0 seconds is a floor the provider named; None means it named none."""
    assert ProviderRateLimitError("slow down", **details).retry_after == seconds
