"""Whatever the facts and the texts around them: no secret value leaves, in any form, through any sink."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import pickle
import sqlite3
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from surefoot import Assistant, ScriptedModel
from surefoot.cli import failures
from surefoot.cli.out import Out
from surefoot.cli.texts import Texts
from surefoot.errors import FactError, InputError
from surefoot.events import EventType
from surefoot.flows.detection import find_secrets, is_secret_value
from surefoot.flows.facts import FactNames, Facts
from surefoot.journal import SqlJournal
from surefoot.journal.types import ModelCall, Run
from surefoot.models.types import Completion, ToolCall
from surefoot.redaction import MASK, MIN_LENGTH, RedactingFormatter, redact, redact_json, secrets, unfinished
from surefoot.settings import load_settings
from surefoot.storage import Database

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
# Brackets and parts of the mask are left out: a secret that reads "secret" cannot be told from the mask.
free = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="[]\x00"), min_size=MIN_LENGTH, max_size=24
).filter(lambda value: len(value.strip()) >= MIN_LENGTH and value.strip() not in MASK)
passwords = st.text("abcXYZ0123456789%&\"\\'<>/+ =?#äß漢", min_size=8, max_size=20).filter(
    lambda value: len(value.strip()) >= MIN_LENGTH and value.strip() not in MASK
)


def _luhn(digits: str) -> str:
    doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits))]
    return digits + str(-sum(one - 9 if one > 9 else one for one in doubled) % 10)


cards = st.builds(
    lambda start, rest: _luhn(start + rest),
    st.sampled_from(["4", "51", "6011", "3528"]),
    st.text("0123456789", min_size=15, max_size=15),
).map(lambda digits: _luhn(digits[:15]))


def _iban(bank: str, account: str) -> str:
    number = int(f"{bank}{account}131400")
    return f"DE{98 - number % 97:02}{bank}{account}"


ibans = st.builds(
    _iban, st.text("0123456789", min_size=8, max_size=8), st.text("0123456789", min_size=10, max_size=10)
)
values = st.one_of(free, passwords, cards, ibans)


def _fours(value: str, mark: str) -> str:
    compact = value.replace(" ", "")
    return mark.join(compact[at : at + 4] for at in range(0, len(compact), 4))


def forms_of(value: str) -> dict[str, str]:
    """The forms that design and docs promise, worked out here and not by the code under test."""
    made = {
        "plain": value,
        "stripped": value.strip(),
        "url": quote(value, safe=""),
        "url path": quote(value),
        "form": quote_plus(value),
        "json": json.dumps(value)[1:-1],
        "json unicode": json.dumps(value, ensure_ascii=False)[1:-1],
        "json in json": json.dumps(json.dumps(value)[1:-1])[1:-1],
        "html": value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"),
        "repr": repr(value)[1:-1],
    }
    if value.isascii() and value.isalnum() and sum(map(str.isdigit, value)) >= 6:
        grouped = {
            "blanks": " ",
            "dashes": "-",
            "dots": ".",
            "no-break": "\u00a0",
            "url blanks": "%20",
            "form blanks": "+",
        }
        made |= {name: _fours(value, mark) for name, mark in grouped.items()}
        made |= {"lower": _fours(value.lower(), " "), "json no-break": _fours(value, "\\u00a0")}
    return {name: form for name, form in made.items() if len(form.strip()) >= MIN_LENGTH}


def assert_gone(sink: str, text: str, value: str) -> None:
    bare = text.replace(MASK, "\ue000")
    for name, form in forms_of(value).items():
        assert form not in bare, f"{sink} holds the value, {name}"


@given(values, any_text, any_text)
@example("4111111111111111", "9", "9")
@example("DE89370400440532013000", "x", "0")
@example('pa%&"\\', "", "")
@example("two  words", "", "")
def test_no_form_of_a_value_leaves_through_redaction(value, before, after):
    """Whatever stands around it, digits and letters included; in JSON, as a key and as a value."""
    with secrets():
        Facts({"thing": value}, ["thing"])
        for name, form in forms_of(value).items():
            seen = redact(before + form + after)
            assert_gone(f"redact of {name}", seen, value)
            deep = redact_json({form: [before + form, {"x": form + after}]})
            assert_gone(f"redact_json of {name}", _texts(deep), value)


@given(values, any_text, any_text, st.data())
@example("DE89370400440532013000", "to ", "!", None)
def test_no_form_of_a_value_leaves_through_a_stream(value, before, after, data):
    """However an answer is cut into pieces, groups and escapes included, what was shown of it in all holds no value."""
    with secrets():
        Facts({"thing": value}, ["thing"])
        for name, form in forms_of(value).items():
            text = before + form + after
            cuts = (
                range(len(text))
                if data is None
                else sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
            )
            shown, held = "", ""
            for start, end in pairwise([0, *cuts, len(text)]):
                held += text[start:end]
                ready = unfinished(held)
                shown, held = shown + redact(held[:ready]), held[ready:]
            assert_gone(f"a stream of {name}", shown + redact(held), value)


def _texts(value) -> str:
    r"""Every text in it, apart: JSON's own escapes (`\u0007`) beside a short value are no part of it."""
    if isinstance(value, dict):
        return "\ue001".join(text for key, item in value.items() for text in (key, _texts(item)))
    if isinstance(value, list):
        return "\ue001".join(map(_texts, value))
    return str(value)


def _said(error: InputError) -> list:
    """An error as JSON but its code, which says nothing of anybody."""
    data = error.to_dict()
    return [data["message"], data["next_move"], data["details"]]


@given(values, any_text)
def test_no_value_leaves_through_errors_logs_pickles_and_names(value, around):
    """`to_dict`, `str`, `repr`, pickle of errors and of names; a log line with a traceback; what the command line shows."""
    with secrets():
        facts = Facts({"thing": value}, ["thing"])
        for name, form in forms_of(value).items():
            error = InputError(f"{around} {form} cannot be used.", f"Not {form}.", value=form, list=[form])
            assert_gone(f"to_dict of {name}", _texts(_said(error)), value)
            assert_gone(f"str of {name}", str(error), value)
            assert_gone(f"pickle of {name}", _texts(_said(pickle.loads(pickle.dumps(error)))), value)
            assert_gone(f"the log of {name}", _logged(error, form), value)
            assert_gone(f"the command line of {name}", _shown(error, form), value)
        other = Facts({"thing": "another-1"}, ["thing"])
        assert (repr(facts), str(facts), repr(facts.names)) == (repr(other), str(other), repr(other.names))
        assert pickle.dumps(facts.names) == pickle.dumps(other.names)


def _logged(error: Exception, form: str) -> str:
    record = logging.LogRecord(
        "surefoot", logging.ERROR, "f.py", 1, "typed %s", (form,), (type(error), error, None)
    )
    return RedactingFormatter("%(message)s").format(record)


def _shown(error: InputError, form: str) -> str:
    """What `Out` and the place where errors end write; folding may break lines, so they are joined again."""
    out, err = io.StringIO(), io.StringIO()
    channel = Out(Texts("en"), stdout=out, stderr=err)
    failures.told(channel, error, debug=True)
    channel.data(form)
    channel.json({"x": form})
    return out.getvalue() + err.getvalue()


@settings(max_examples=25)
@given(values.filter(lambda value: len(value.strip()) >= 8))
def test_no_value_leaves_through_the_journal(value):
    """Runs, events, model calls: every row. Values of eight signs, for three of them are in some number of the schema."""
    with secrets(), TemporaryDirectory() as folder:
        Facts({"thing": value}, ["thing"])
        asyncio.run(_journaled(Path(folder) / "kept.db", list(forms_of(value).values())))
        connection = sqlite3.connect(Path(folder) / "kept.db")
        for line in connection.iterdump():
            if line.startswith("INSERT INTO") and "_fts" not in line:
                assert_gone("the journal", line.replace("''", "'"), value)
        connection.close()


async def _journaled(path: Path, forms: list[str]) -> None:
    database = Database(path)
    journal = SqlJournal(database)
    run = await journal.create_run(Run("0a" * 8, " ; ".join(forms)), [(EventType.REPLY, {"text": forms})])
    answer = Completion(forms[0], (ToolCall("c", "find", {"q": forms}),))
    await journal.add_model_call(
        ModelCall(run.id, "k", "k", "m", answer.to_dict()),
        messages=[{"role": "user", "content": form} for form in forms],
    )
    await journal.close()
    database.close()


@settings(max_examples=15)
@given(st.one_of(cards, ibans), st.text("abc .,;\n", max_size=10))
def test_what_is_found_in_a_request_is_in_no_prompt_and_no_event(value, around):
    """A card number or an IBAN that somebody types, in groups: the whole way with a scripted model."""
    asked = f"please note {around} {_fours(value, ' ')} {around} for me"
    model = ScriptedModel(always="reply()")

    async def work() -> str:
        with TemporaryDirectory() as folder:
            chosen = load_settings(zone="UTC", language="en", data_dir=folder)
            async with Assistant(model=model, settings=chosen, kits=("notes",)) as opened:
                return json.dumps([event.to_dict() async for event in opened.ask(asked)], ensure_ascii=False)

    with secrets():
        events = asyncio.run(work())
    assert_gone("the events", events, value)
    prompts = "\n".join(message.content for request in model.requests for message in request.messages)
    assert model.requests
    assert_gone("a prompt", prompts, value)


@given(cards, any_text.filter(lambda text: not text[-1:].isalnum() and text[-1:] not in ("_", "+", ".", ",")))
def test_every_card_number_is_found_as_it_is_printed(card, before):
    """Whatever stands before it but what makes it part of something longer."""
    assert is_secret_value(card)
    assert is_secret_value(_fours(card, "-"))
    for written in (card, _fours(card, " "), _fours(card, "-")):
        found = find_secrets(f"{before} {written}")
        assert any(written.endswith(one.value) and one.kind == "card" for one in found)


@given(st.lists(any_text, max_size=4), st.lists(any_text, max_size=4))
def test_names_are_shared_or_secret_and_never_both(shared, secret):
    """For any names: refused, or each in one of the two; what was secret stays it, in whatever order it is added."""
    try:
        names = FactNames(tuple(shared), tuple(secret))
    except FactError:
        return
    assert not set(names.shared) & set(names.secret)
    assert len(set(names.all)) == len(names.all)
    assert FactNames(names.shared, names.secret) == names
    again = FactNames().plus(shared=names.all).plus(secret=names.secret)
    assert set(again.secret) == set(names.secret)


@given(any_text)
def test_no_text_crashes_the_detection(text):
    """Spans lie in the text, in order, and hold what they say."""
    found = find_secrets(text)
    assert all(text[one.start : one.end] == one.value for one in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    with pytest.raises(FactError) if not text.strip() or "\x00" in text else nullcontext(), secrets():
        Facts({"thing": text})
