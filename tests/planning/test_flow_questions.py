"""Questions: which names are asked for, and as what."""

from __future__ import annotations

import pytest

from surefoot.flows import FactNames, Flow
from surefoot.planning.flow_questions import Question, asked_too, kind_of, questions_of

KINDS = {
    "email": [
        "email", "Email", "e-mail", "work email", "email_address", "E-Mail-Adresse", "Mailadresse", "correo electrónico",
        "courriel", "ईमेल", "メールアドレス", "邮箱",
    ],
    "phone": [
        "phone", "phone number", "mobile", "home-phone", "Telefonnummer", "Handynummer", "teléfono", "numéro de portable",
        "मोबाइल नंबर", "फ़ोन", "फोन", "電話番号", "手机号码",
    ],
    "date": [
        "date of birth", "departure date", "birthday", "day", "Geburtsdatum", "Anreise", "Reisetag", "fecha de salida",
        "data di nascita", "जन्म तिथि", "तारीख", "出発日", "生年月日", "日期",
    ],
    "number": [
        "number of guests", "amount", "quantity", "age", "adults", "Anzahl der Personen", "Personenanzahl", "Rechnungsbetrag",
        "Alter", "cantidad", "nombre de nuits", "यात्रियों की संख्या", "人数", "金額",
    ],
    "text": [
        "name", "first name", "order number", "house number", "passport", "postcode", "update", "candidate", "message",
        "language", "Hausnummer", "Vertrag", "Beitrag", "adresse", "नाम", "名前", "地址", "price tag", "village",
    ],
}  # fmt: skip
CASES = [(name, kind) for kind, names in KINDS.items() for name in names]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_kind_is_guessed_from_the_name(name, kind):
    """Rule "questions carry a kind guessed from the name (email, phone, date, number, text)", in eight languages."""
    assert kind_of(name) == kind


def flow(*values, **more):
    return {
        "app": "browser",
        "steps": [{"enter": {f"field {at}": value for at, value in enumerate(values)}}],
        **more,
    }


def test_each_name_is_asked_for_once_in_the_order_of_the_flow():
    """Whether it comes as JSON or as a flow."""
    data = flow("${seat}", "${email} and ${date of birth}", "${seat}")
    wanted = (Question("seat"), Question("email", "email"), Question("date of birth", "date"))
    assert questions_of(data, FactNames()) == wanted
    assert questions_of(Flow.from_json(data), FactNames()) == wanted


def test_given_names_are_not_asked_for():
    """Shared or secret."""
    assert questions_of(flow("${seat}", "${pin}"), FactNames(("seat",), ("pin",))) == ()


def test_two_names_for_one_thing_are_one_question():
    """The second is a slip of the first, which the check tells."""
    assert [one.name for one in questions_of(flow("${passport name}", "${pasport name}"), FactNames())] == [
        "passport name"
    ]


@pytest.mark.parametrize("name", ["a" * 65, "x=y", " seat", "seat/row", "", "4111 1111 1111 1111"])
def test_what_cannot_be_a_facts_name_is_no_question(name):
    """It stays a problem of the flow."""
    assert questions_of(flow(f"${{{name}}}"), FactNames()) == ()


@pytest.mark.parametrize("name", ["card number", "cvv", "iban", "Kreditkartennummer", "カード番号"])
def test_a_payment_detail_is_no_question(name):
    """It comes only from a secret that was given."""
    assert questions_of(flow(f"${{{name}}}"), FactNames()) == ()


@pytest.mark.parametrize("value", [None, 3, [], {}, {"steps": 1}, {"app": "x", "steps": [{"enter": 1}]}])
def test_any_json_has_questions_or_none(value):
    """It never raises."""
    assert questions_of(value, FactNames()) == ()


def test_the_facts_of_later_have_the_answers_among_them():
    """Secret ones among the secrets."""
    questions = (Question("seat"), Question("library password", "text", secret=True))
    facts = asked_too(FactNames(("email",), ("pin",)), questions)
    assert facts == FactNames(("email", "seat"), ("pin", "library password"))


def test_a_question_is_json():
    """For the form that asks it."""
    assert Question("seat").to_dict() == {"name": "seat", "kind": "text", "secret": False}
