"""Facts: names without values, secrets that nobody can make shared, values that show nowhere."""

from __future__ import annotations

import copy
import json
import pickle
from contextvars import copy_context
from dataclasses import FrozenInstanceError

import pytest

from surefoot.errors import FactError, MisuseError
from surefoot.flows.facts import MAX_NAME, FactNames, Facts
from surefoot.redaction import MASK, redact

CARD = "4111111111111111"
IBAN = "DE89370400440532013000"


# --- names -------------------------------------------------------------------------------------------------------


def test_names_keep_their_order_and_come_once():
    """What is given twice counts once; the first place is kept."""
    names = FactNames(("email", "first name", "email"), ("memory", "memory", "answer"))
    assert names.shared == ("email", "first name")
    assert names.secret == ("memory", "answer")
    assert names.all == ("email", "first name", "memory", "answer")
    assert list(names) == list(names.all)
    assert len(names) == 4


@pytest.mark.parametrize(
    "name", ["card number", "Passwort", "IBAN", "mot de passe", "カード番号", "PIN", "one-time code"]
)
def test_a_shared_name_that_labels_a_secret_is_secret(name):
    """The caller can never make one of those shared: the constructor moves it, whatever was asked."""
    names = FactNames(shared=("email", name))
    assert names.shared == ("email",)
    assert names.secret == (name,)
    assert names.is_secret(name)
    assert name in FactNames().plus(shared=[name]).secret


def test_any_fact_can_be_made_secret():
    """Named as a secret, an ordinary name is one, also when it is given as shared too."""
    names = FactNames(("email", "nickname"), ("nickname",))
    assert (names.shared, names.secret) == (("email",), ("nickname",))
    assert not names.is_secret("email")
    assert not names.is_secret("nobody")


def test_plus_adds_and_never_takes_the_secret_away():
    """More names, and a secret one that is added as shared stays secret."""
    names = FactNames(("email",), ("nickname",)).plus(shared=("nickname", "city"), secret=("email",))
    assert names == FactNames(("city",), ("nickname", "email"))


def test_names_hold_no_values_and_cannot_be_changed():
    """A frozen type without a place for a value."""
    names = FactNames(("email",))
    assert not hasattr(names, "__dict__")
    with pytest.raises((FrozenInstanceError, AttributeError)):
        names.shared = ()
    assert pickle.loads(pickle.dumps(names)) == names
    assert "email" in names
    assert "nobody" not in names
    assert 3 not in names


def test_a_name_is_the_same_composed_and_decomposed():
    """`é` typed as one sign or as two is one name."""
    names = FactNames(("pre\u0301nom",))
    assert "pr\u00e9nom" in names
    assert "pre\u0301nom" in names
    assert names.all == ("pr\u00e9nom",)


@pytest.mark.parametrize(
    "name", ["first_name", "O'Neill-Str.", "नाम", "住所2", "Straße", "x", "a" * MAX_NAME]
)
def test_names_of_every_script(name):
    """Letters, digits, spaces and four signs."""
    assert name in FactNames((name,))


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        " email",
        "email ",
        "a" * (MAX_NAME + 1),
        "${email}",
        "a{b",
        "a}b",
        "a$b",
        "a\nb",
        "a\tb",
        "a\x00b",
        "a/b",
        "a=b",
        "a:b",
        "a\u202eb",
        "a\u00a0b",
        "🙂",
        "½",
        3,
        None,
    ],
)
def test_what_is_no_name_is_refused(name):
    """With one code, so that programs can tell; every other sign is refused, those of `${}` first."""
    for make in (lambda: FactNames((name,)), lambda: FactNames((), (name,)), lambda: Facts({name: "x"})):
        with pytest.raises(FactError) as caught:
            make()
        assert caught.value.code == "fact"
        assert caught.value.details == {"reason": "name"}


@pytest.mark.parametrize("name", [f"card={CARD}", CARD, "4111 1111 1111 1111", "password:hunter2", IBAN])
def test_a_value_in_place_of_a_name_is_refused_and_not_repeated(name):
    """People write the value there by mistake: the error says where it is wrong, not what stands there."""
    with pytest.raises(FactError) as caught:
        FactNames((name,))
    told = json.dumps(caught.value.to_dict())
    for part in (CARD, "4111", "hunter2", IBAN):
        assert part not in told


def test_one_text_is_one_name():
    """A text where a list is meant is not taken apart into letters."""
    assert FactNames("email", "memory").all == ("email", "memory")
    assert Facts({"email": "a@example.org"}, "email").names.secret == ("email",)


# --- values ------------------------------------------------------------------------------------------------------


def test_secret_by_the_caller_by_name_and_by_value():
    """The three ways; everything else is shared."""
    facts = Facts(
        {"email": "a@example.org", "nickname": "Bo", "Passwort": "p4ss!", "visa": CARD, "rent to": IBAN},
        ["nickname"],
    )
    assert facts.names == FactNames(("email",), ("nickname", "Passwort", "visa", "rent to"))
    assert set(facts.names.secret) == {"nickname", "Passwort", "visa", "rent to"}
    assert len(facts) == 5
    assert "visa" in facts
    assert "nobody" not in facts


def test_naming_a_secret_that_is_no_fact_is_an_error():
    """A slip in the name would leave the real one shared."""
    with pytest.raises(FactError, match="'nickmane' is named as a secret") as caught:
        Facts({"nickname": "Bo"}, ["nickmane"])
    assert caught.value.details["reason"] == "unknown"
    with pytest.raises(FactError, match="none"):
        Facts({}, ["nickname"])


@pytest.mark.parametrize("value", ["", "  ", "\n", "a\x00b", "a\ud800b", 3, None])
def test_what_is_no_value_is_refused_without_showing_it(value):
    """A field takes text; the error names the fact."""
    with pytest.raises(FactError, match="'email'") as caught:
        Facts({"email": value})
    assert caught.value.details == {"reason": "value", "name": "email"}


def test_the_value_is_given_for_typing():
    """Whole, as it was given; an unknown name is an error with those there are."""
    facts = Facts({"email": " a@example.org ", "pr\u00e9nom": "Zoë"})
    assert facts.value("email") == " a@example.org "
    assert facts.value("pre\u0301nom") == "Zoë"
    with pytest.raises(FactError, match="no fact 'phone'"):
        facts.value("phone")


def test_nothing_shows_a_value():
    """repr, str, format, pickle, JSON, copies and attributes: names only."""
    facts = Facts({"email": "a@example.org", "Passwort": "hunter-zwei"})
    for shown in (repr(facts), str(facts), f"{facts}", repr([facts]), repr({"f": facts})):
        assert "a@example.org" not in shown
        assert "hunter" not in shown
        assert "Passwort" in shown
    with pytest.raises(MisuseError):
        pickle.dumps(facts)
    with pytest.raises(MisuseError):
        facts.__getstate__()
    with pytest.raises(TypeError):
        json.dumps(facts)
    assert not hasattr(facts, "__dict__")
    assert copy.copy(facts) is facts
    assert copy.deepcopy(facts) is facts


def test_secrets_are_masked_from_the_moment_the_facts_are_made():
    """Secret values only: a shared one may be read."""

    def inside() -> str:
        Facts({"email": "a@example.org", "Passwort": "hunter-zwei"})
        return redact("a@example.org hunter-zwei")

    assert copy_context().run(inside) == f"a@example.org {MASK}"


def test_and_again_where_a_value_is_taken_in_another_context():
    """A task that began before knows the secret once it types it; `mask` does it without typing."""
    made = []
    copy_context().run(lambda: made.append(Facts({"Passwort": "hunter-zwei", "email": "a@example.org"})))
    (facts,) = made
    assert redact("hunter-zwei") == "hunter-zwei"

    def types(name: str) -> str:
        facts.value(name)
        return redact("hunter-zwei a@example.org")

    assert copy_context().run(types, "email") == "hunter-zwei a@example.org"
    assert copy_context().run(types, "Passwort") == f"{MASK} a@example.org"

    def masks() -> str:
        facts.mask()
        return redact("hunter-zwei")

    assert copy_context().run(masks) == MASK
