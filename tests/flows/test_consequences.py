"""What cannot be taken back needs a stop on every way that leads to it."""

from __future__ import annotations

from typing import Any

import pytest

from flows.checking import at, codes
from surefoot.flows._consequences import Consequences

PAY = {"stop_before": "paying"}
CARD = {"enter": {"card number": "${card number}"}}


def branch(*then: Any, **more: Any) -> dict[str, Any]:
    return {"if": {"condition": "a total is shown", "then": list(then), **more}}


def otherwise(*steps: Any) -> dict[str, Any]:
    return {"else": list(steps)}


def loop(*steps: Any) -> dict[str, Any]:
    return {"repeat_until": {"condition": "all is done", "steps": list(steps), "max": 5}}


PURCHASES = [
    "buy the ticket",
    "book the cheapest flight",
    "order a pizza",
    "search and book it",
    "place the order",
    "pay for the flight",
    "proceed to checkout",
    "reserve a table for two",
    "den Flug buchen",
    "zur Kasse gehen",
    "jetzt kaufen",
    "weiter zur Bezahlung",
    "die Bestellung abschicken",
    "comprar el billete",
    "pagar la factura",
    "reservar la habitación",
    "acheter le billet",
    "passer la commande",
    "réserver la chambre",
    "टिकट खरीदें",
    "भुगतान वाले पन्ने तक जाओ",
    "होटल बुक करें",
    "航空券を購入する",
    "支払いに進む",
    "ホテルを予約する",
    "注文を確定する",
    "finalize the booking",
    "schließe den Kauf ab",
    "realiza el pago",
    "effectue le paiement",
]
NO_PURCHASES = [
    "search for flights",
    "open the order history",
    "sort the results, order by price",
    "set the check-out date to Sunday",
    "fill in check-in and check-out",
    "open the book about whales",
    "check out the reviews",
    "open the payment history",
    "read the booking number",
    "add the item to the basket",
    "die Bestellung ansehen",
    "ver el historial de compras",
    "voir l'historique des achats",
    "購入履歴を開く",
    "注文履歴を見る",
    "उड़ानें खोजें",
]
ACTS = [
    ("send the mail", "sending"),
    ("post the photo", "sending"),
    ("email the report to Ana", "sending"),
    ("forward the mail to Ben", "sending"),
    ("remove the account", "deleting"),
    ("publish the article", "sending"),
    ("delete the old mails", "deleting"),
    ("submit the complaint", "submitting"),
    ("die E-Mail senden", "sending"),
    ("den Beitrag veröffentlichen", "sending"),
    ("den Ordner löschen", "deleting"),
    ("enviar el mensaje", "sending"),
    ("borrar la foto", "deleting"),
    ("envoyer le message", "sending"),
    ("supprimer le fichier", "deleting"),
    ("ईमेल भेजें", "sending"),
    ("फ़ाइल हटाएं", "deleting"),
    ("メールを送信する", "sending"),
    ("写真を削除する", "deleting"),
    ("申請書を提出する", "submitting"),
]
NO_ACTS = [
    "open the post from yesterday",
    "open the sent mails",
    "delete the text in the search field",
    "submit the search form",
    "send a verification code",
    "go to the post office's page",
    "den Text löschen",
    "送信済みを開く",
    "borrar los filtros",
]

ORDINARY = (
    """
open the settings page|go to the next page of results|close the pop-up|accept the cookies|sign in|
log out|scroll to the reviews|expand the details|select the first result|add two adults|
set the currency to EUR|apply the filter for free cancellation|sort by price|filter by airline|
open the inbox|mark the mail as read|archive the conversation|move the file to the folder Work|
rename the sheet|make the title bold|open the shopping cart|view the basket|
continue without insurance|skip the seat selection|decline the upsell|open the tab Bookings|
look at my orders|track the order 1234|download the invoice|print the receipt|open the file menu|
save the document|create a new note|write the message|attach the report|reply to the message|
open the reply window|check the price of the ticket|compare the plans|find the cheapest phone|
read the refund policy|open the help page about payments|open the bookshop's page|
list the books by Orwell|order the rows by date|go to the delivery options|choose standard delivery|
enter the promo code|show the post by Anna|open the blog post|copy the text|paste the text|
undo the last change|remove the filter|clear the search field|remove the item from the basket|
go back|refresh the page|wait for the page to load|die Ergebnisse nach Preis sortieren|
den Warenkorb öffnen|die Rechnung herunterladen|ohne Versicherung weiter|das Buch suchen|
die Buchungsübersicht öffnen|die Zahlen der Tabelle prüfen|abrir el carrito|ver los resultados|
continuar sin seguro|filtrar por precio|ouvrir le panier|trier par prix|continuer sans assurance|
voir la facture|परिणाम देखें|कार्ट खोलें|अगले पन्ने पर जाओ|किताब खोजें|カートを見る|次のページへ進む|結果を並べ替える|本を探す|
予約一覧を開く|投稿を開く|支払い方法を確認する
""".strip()
    .replace("\n", "")
    .split("|")
)


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_step_needs_no_stop(text):
    """Looking, opening, sorting, filling in and going on, in six languages."""
    assert codes(text) == []


@pytest.mark.parametrize("text", PURCHASES)
def test_a_purchase_ends_with_a_stop_before_paying(text):
    """In the words of six languages, as a step and as a label that is chosen; with the stop nothing is wrong."""
    assert codes(text) == ["unguarded_payment"]
    assert codes({"do": text}) == ["unguarded_payment"]
    assert codes(text, PAY) == []
    assert codes(PAY, text) == []


@pytest.mark.parametrize("text", NO_PURCHASES)
def test_what_is_no_purchase_needs_no_stop(text):
    """Words of buying that speak of a list, a date or a book."""
    assert codes(text) == []


@pytest.mark.parametrize(("text", "stop"), ACTS)
def test_sending_deleting_publishing_and_submitting_are_guarded(text, stop):
    """With a `stop_before` whose words name it, which the message gives."""
    assert codes(text) == ["unguarded_act"]
    assert codes(text, {"stop_before": stop}) == []


@pytest.mark.parametrize("text", NO_ACTS)
def test_what_changes_nothing_needs_no_stop(text):
    """Reading what was sent, clearing a field, asking for a code."""
    assert codes(text) == []


@pytest.mark.parametrize(
    "label", ["Buy now", "Place order", "Send", "Delete", "Jetzt kaufen", "削除", "Pagar"]
)
def test_a_label_that_is_chosen_counts_as_pressing_it(label):
    """A choose presses what it names."""
    assert codes({"choose": {"what": "menu", "option": label}})[0].startswith("unguarded")


def test_texts_that_press_nothing_do_not_count():
    """What is typed, read, looked for or waited for, and the names in `${}`."""
    for step in (
        {"enter": {"search": "buy a house"}},
        {"read": {"what": "how to pay", "into": "x"}},
        {"pick": {"from": "things to buy", "by": "cheapest"}},
        {"verify": "the button Buy now is shown"},
        {"browse": "https://buy.example.com/checkout"},
        branch("go on", condition="the checkout is open")
        if False
        else {"wait_for": "the payment page is open"},
    ):
        assert codes(step) == []
    assert codes({"read": {"what": "x", "into": "buy"}}, "look at ${buy}") == []


def test_payment_details_in_a_field_are_a_purchase():
    """By the field's name or by the secret; the stop comes behind them, since before them there is nothing to press."""
    assert codes(CARD) == ["unguarded_payment"]
    assert codes({"enter": {"number": "${card number}"}}) == ["unguarded_payment"]
    assert codes({"enter": {"card number": "${access key}"}}) == ["unguarded_payment"]
    assert codes(CARD, PAY) == []
    assert at(PAY, CARD) == [("2", "unguarded_payment")]
    assert codes(PAY, CARD, PAY) == []
    assert codes({"enter": {"name on card": "${first name}"}}) == []


@pytest.mark.parametrize(
    "stop",
    [
        "paying",
        "buying the ticket",
        "the last step",
        "confirming",
        "submitting the form",
        "zahlungspflichtig buchen",
        "el pago",
        "payer",
        "भुगतान",
        "支払い",
        "sending the order",
        "placing the order and deleting the draft",
    ],
)
def test_a_stop_for_paying_says_so_or_says_nothing_else(stop):
    """Words that speak of no act at all stop before any."""
    assert codes("buy the ticket", {"stop_before": stop}) == []


@pytest.mark.parametrize(
    "stop",
    [
        "sending the mail",
        "deleting the account",
        "publishing",
        "das Löschen",
        "enviar el correo",
        "メールの送信",
        "ईमेल भेजने",
    ],
)
def test_a_stop_that_speaks_only_of_something_else_is_none(stop):
    """It stops at another button."""
    assert codes("buy the ticket", {"stop_before": stop}) == ["unguarded_payment"]


def test_one_stop_does_not_guard_another_act():
    """Paying and deleting are two."""
    assert codes("delete the mail", PAY) == ["unguarded_act"]
    assert at("buy it", "delete the mail", PAY) == [("2", "unguarded_act")]
    assert codes("buy it", "delete the mail", {"stop_before": "going on"}) == []
    assert codes("submit the form", {"stop_before": "deleting"}) == []


def test_in_a_purchase_a_submit_is_a_page_on_the_way():
    """The stop before paying is the one that counts."""
    assert codes("submit the passenger details", "buy the ticket", PAY) == []
    assert codes("submit the passenger details", branch("buy the ticket", PAY)) == []
    assert codes("submit the passenger details") == ["unguarded_act"]


@pytest.mark.parametrize(
    ("steps", "paths"),
    [
        ([CARD, branch(PAY)], ["1"]),
        ([CARD, branch(PAY, **otherwise("go back"))], ["1"]),
        ([CARD, branch(PAY, **otherwise(PAY))], []),
        ([CARD, branch(PAY, **otherwise(branch(PAY, **otherwise(PAY))))], []),
        ([CARD, branch(PAY, **otherwise({"stop_before": "deleting"}))], ["1"]),
        ([CARD, loop(PAY)], ["1"]),
        ([branch(CARD), PAY], []),
        ([branch(CARD, PAY)], []),
        ([branch("go on", **otherwise(CARD, PAY))], []),
        ([branch(CARD, **otherwise(PAY))], ["1.1"]),
        ([branch(PAY), CARD], ["2"]),
        ([branch(PAY), "buy it"], ["2"]),
        ([PAY, branch("buy it")], []),
        ([PAY, branch(CARD)], ["2.1"]),
        ([loop(CARD, PAY)], []),
        ([loop(CARD), PAY], []),
        ([loop(branch(CARD)), "go on"], ["1.1.1"]),
        ([branch("buy it", **otherwise("buy it"))], ["1.1", "1.else.1"]),
        ([branch("buy it", **otherwise("buy it")), PAY], []),
        ([PAY, CARD, branch(PAY, **otherwise(PAY))], []),
        ([branch(PAY, CARD, **otherwise(PAY))], ["1.2"]),
    ],
)
def test_the_stop_must_be_reached_on_every_way(steps, paths):
    """A stop inside one branch does not cover a purchase outside it; one behind or around it does."""
    assert at(*steps) == [(path, "unguarded_payment") for path in paths]


def test_of_several_acts_in_a_list_the_last_is_told():
    """The stop belongs there; acts of another kind and in other lists are told, too."""
    assert at("go to the checkout", CARD, "buy the ticket") == [("3", "unguarded_payment")]
    assert at("go to the checkout", CARD) == [("2", "unguarded_payment")]
    assert at("buy it", "delete the mail", branch("buy it")) == [
        ("1", "unguarded_payment"),
        ("2", "unguarded_act"),
        ("3.1", "unguarded_payment"),
    ]


def test_a_flow_without_acts_asks_for_nothing():
    """Neither do stops alone."""
    acts = Consequences()
    acts.stops("paying")
    acts.ends()
    assert codes("search", PAY, {"stop_before": "sending"}) == []
