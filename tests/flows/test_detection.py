"""What is secret: by the words of a name in eleven languages, by the form of a value, inside a sentence."""

from __future__ import annotations

import random
import time
from contextvars import copy_context
from datetime import date, timedelta

import pytest

from surefoot.flows.detection import (
    find_secrets,
    is_payment,
    is_secret_name,
    is_secret_value,
    kind_of_name,
    kind_of_value,
    mask_found,
)
from surefoot.redaction import MASK, redact

NAMES = {
    "card": [
        "card number",
        "card_number",
        "cardNumber",
        "CARD-NUMBER",
        "cardnumber",
        "the number of my card",
        "card number 2",
        "my credit card",
        "ccNumber",
        "card",
        "card pin",
        "Kartennummer",
        "Kreditkartennummer",
        "Karten-Nr",
        "meine Kartennummer",
        "número de tarjeta",
        "numero de la tarjeta",
        "tarjeta de crédito",
        "numéro de carte",
        "numéro de ma carte bancaire",
        "numero della carta",
        "carta di credito",
        "número do cartão",
        "kaartnummer",
        "creditcardnummer",
        "numer karty",
        "nr mojej karty",
        "कार्ड नंबर",
        "कार्ड संख्या",
        "मेरा कार्ड नंबर",
        "カード番号",
        "クレジットカードの番号",
        "卡号",
        "信用卡号码",
        "銀行卡號",
    ],
    "cvv": [
        "CVV",
        "cvv2",
        "CVC code",
        "security code",
        "Prüfziffer",
        "Pruefziffer",
        "Kartenprüfnummer",
        "código de seguridad",
        "cryptogramme",
        "セキュリティコード",
        "安全码",
        "सीवीवी",
    ],
    "expiry": [
        "card expiry",
        "card expiration date",
        "expiry date",
        "Ablaufdatum der Karte",
        "caducidad de la tarjeta",
        "date d'expiration de la carte",
        "カード有効期限",
        "scadenza della carta",
    ],
    "account": [
        "IBAN",
        "iban_number",
        "bank account number",
        "routing number",
        "sort code",
        "accountNumber",
        "Kontonummer",
        "Bankverbindung",
        "número de cuenta",
        "numéro de compte",
        "numero di conto",
        "número da conta",
        "rekeningnummer",
        "numer konta",
        "खाता संख्या",
        "口座番号",
        "银行账号",
    ],
    "password": [
        "password",
        "passwd",
        "Password1",
        "passwords",
        "wifi password",
        "pass-phrase",
        "passcode",
        "mother's maiden name",
        "Passwort",
        "WLAN-Passwort",
        "Kennwort",
        "contraseña",
        "mot de passe",
        "motDePasse",
        "parola d'ordine",
        "senha",
        "palavra-passe",
        "wachtwoord",
        "hasło",
        "haslo",
        "पासवर्ड",
        "パスワード",
        "密码",
        "登录密码",
    ],
    "pin": [
        "PIN",
        "pin",
        "userPIN",
        "pin code",
        "SIM PIN",
        "Geheimzahl",
        "code pin",
        "codice PIN",
        "暗証番号",
        "पिन",
    ],
    "code": [
        "one-time code",
        "oneTimeCode",
        "OTP",
        "2FA code",
        "verification code",
        "SMS code",
        "TAN",
        "Einmalcode",
        "Bestätigungscode",
        "código de verificación",
        "code à usage unique",
        "codice di verifica",
        "kod SMS",
        "ओटीपी",
        "認証コード",
        "验证码",
    ],
    "key": [
        "api key",
        "API_KEY",
        "OPENAI_API_KEY",
        "apiKey",
        "access token",
        "private key",
        "client secret",
        "recovery phrase",
        "API-Schlüssel",
        "clé API",
        "秘密鍵",
        "私钥",
    ],
    "identity": [
        "passport number",
        "passport",
        "social security number",
        "SSN",
        "driver's license",
        "drivers licence number",
        "national insurance number",
        "Aadhaar",
        "Aadhar number",
        "PAN",
        "PAN card",
        "Personalausweis",
        "Ausweisnummer",
        "Reisepassnummer",
        "Steuer-ID",
        "Steueridentifikationsnummer",
        "NIF",
        "DNI",
        "número de pasaporte",
        "numéro de sécurité sociale",
        "carte d'identité",
        "codice fiscale",
        "CPF",
        "BSN",
        "burgerservicenummer",
        "PESEL",
        "dowód osobisty",
        "आधार संख्या",
        "पासपोर्ट नंबर",
        "マイナンバー",
        "パスポート番号",
        "身份证号",
        "护照号码",
    ],
}

PLAIN_NAMES = [
    "card holder name",
    "cardHolder",
    "name on card",
    "credit card type",
    "discard",
    "pinboard",
    "pin board",
    "zip code",
    "country code",
    "postcode",
    "post code",
    "promo code",
    "coupon code",
    "discount code",
    "account name",
    "area code",
    "QR code",
    "booking code",
    "first name",
    "email",
    "phone number",
    "mobile",
    "date of birth",
    "city",
    "street",
    "house number",
    "order number",
    "invoice number",
    "tracking number",
    "flight number",
    "seat",
    "username",
    "keyword",
    "opinion",
    "spinning class",
    "top in",
    "shop in",
    "company",
    "passenger",
    "boarding pass",
    "bus pass",
    "compass",
    "panama",
    "japan",
    "secretary",
    "birthday card",
    "business card",
    "offer expiry",
    "due date",
    "gift",
    "expired",
    "tandem",
    "stand",
    "tanning",
    "topping",
    "Vorname",
    "Straße",
    "Postleitzahl",
    "Hausnummer",
    "Telefonnummer",
    "Kundennummer",
    "Karteninhaber",
    "Landkarte",
    "Visitenkarte",
    "Passagier",
    "Gutscheincode",
    "nombre del niño",
    "código postal",
    "apellidos",
    "palabra clave",
    "teléfono",
    "prénom",
    "code postal",
    "adresse",
    "code promo",
    "titulaire de la carte",
    "indirizzo",
    "nome",
    "cognome",
    "CAP",
    "titolare della carta",
    "endereço",
    "CEP",
    "telefone",
    "huisnummer",
    "straatnaam",
    "imię",
    "nazwisko",
    "kod pocztowy",
    "ulica",
    "नाम",
    "पता",
    "ईमेल",
    "फ़ोन नंबर",
    "पिनकोड",
    "氏名",
    "住所",
    "郵便番号",
    "電話番号",
    "カード名義",
    "姓名",
    "地址",
    "邮编",
    "电话",
    "优惠码",
    "国家代码",
]


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names])
def test_a_name_that_labels_a_secret_is_known(kind, name):
    """In any case, with or without accents, blanks, small words, plural; written together or in camelCase."""
    assert kind_of_name(name) == kind
    assert is_secret_name(name)
    assert kind_of_name(f"{name} ") == kind


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_a_name_that_only_looks_alike_is_shared(name):
    """Words inside other words, other kinds of codes, numbers, cards and accounts."""
    assert kind_of_name(name) == ""
    assert not is_secret_name(name)
    assert not is_payment(name)


@pytest.mark.parametrize("kind", list(NAMES))
def test_what_pays(kind):
    """Card number, check number, expiry and account; a password or a passport pays nothing by itself."""
    for name in NAMES[kind]:
        assert is_payment(name) is (kind in {"card", "cvv", "expiry", "account"})


def test_a_harmless_part_does_not_hide_a_secret_beside_it():
    """The holder's name is none; with the number in the same name it is."""
    assert kind_of_name("card holder name") == ""
    assert kind_of_name("card holder name and card number") == "card"


# --- values ------------------------------------------------------------------------------------------------------

CARDS = [
    "4111111111111111",
    "4012888888881881",
    "4222222222222",
    "5555555555554444",
    "2223003122003222",
    "378282246310005",
    "30569309025904",
    "36227206271667",
    "6011111111111117",
    "3530111333300000",
    "6304000000000000",
    "6200000000000005",
]
IBANS = [
    "DE89370400440532013000",
    "GB82WEST12345698765432",
    "FR1420041010050500013M02606",
    "NL91ABNA0417164300",
    "ES9121000418450200051332",
    "IT60X0542811101000000123456",
    "PL61109010140000071219812874",
    "PT50000201231234567890154",
    "CH9300762011623852957",
    "NO9386011117947",
    "MT84MALT011000012345MTLCAST001S",
]
IDENTITIES = [
    "12345678Z",
    "X1234567L",
    "RSSMRA85T10A562S",
    "ABCPK1234L",
    "2341 2341 2346",
    "536-90-4399",
    "390.533.447-05",
    "2 95 10 99 126 111 93",
    "11010519491231002X",
    "131052-308T",
    "756.9217.0769.85",
    "BOXW310820HNERXN09",
]


def _unlike(key: str) -> str:
    """A star keeps the samples from looking like keys in this file."""
    return key.replace("*", "")


KEYS = [
    _unlike(key)
    for key in (
        "sk*-abcdEFGH1234567890abcdEFGH",
        "sk*-proj-Ab3dEFGH1234567890abcdEFGH",
        "sk*-ant-api03-Ab3dEFGH1234567890",
        "sk*_live_Ab3dEFGH1234567890",
        "ghp*_16C7e42F292c6912E7710c838347Ae178B4a",
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb*-123456789012-abcdefGHIJ",
        "hf*_abcdefghij1234567890KLMN",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
        "-----BEG*IN RSA PRIVATE KEY-----\nMIIB\nAAEC\n-----END RSA PRIVATE KEY-----",
    )
]

HALF = _unlike("-----BEG*IN PRIVATE KEY-----\nMIIB\nhalf")


def _fours(value: str, mark: str) -> str:
    return mark.join(value[at : at + 4] for at in range(0, len(value), 4))


@pytest.mark.parametrize(
    ("kind", "value"),
    [("card", value) for value in CARDS]
    + [("account", value) for value in IBANS]
    + [("identity", value) for value in IDENTITIES]
    + [("key", value) for value in KEYS],
)
def test_a_value_that_is_secret_by_itself(kind, value):
    """By check digits and form, whatever it is called; also inside a sentence, and where other scripts touch it."""
    assert kind_of_value(value) == kind
    assert is_secret_value(f" {value}\n")
    for text in (f"please use {value}, thanks", f"({value})", f"番号は{value}"):
        (found,) = find_secrets(text)
        assert found.kind == kind
        assert text[found.start : found.end] == found.value
        assert value.startswith(found.value)
        assert value not in repr(found)


@pytest.mark.parametrize("mark", [" ", "-", "\u00a0", "\u202f"])
@pytest.mark.parametrize("value", [CARDS[0], *IBANS[:3]])
def test_groups_of_four_do_not_hide_it(value, mark):
    """As cards and statements print them."""
    written = _fours(value, mark)
    (found,) = find_secrets(f"from {written} to")
    assert found.value == written
    assert is_secret_value(written)


@pytest.mark.parametrize(
    "written",
    [
        "3782 822463 10005",
        "3056 930902 5904",
        "４１１１１１１１１１１１１１１１",
        "４１１１ １１１１ １１１１ １１１１",
        "de89 3704 0044 0532 0130 00",
        "४१११ ११११ ११११ ११११",
    ],
)
def test_other_groups_and_other_digits(written):
    """American Express and Diners; wide digits of Japanese keyboards, those of Hindi; small letters."""
    (found,) = find_secrets(f"x {written} y")
    assert found.value == written
    assert is_secret_value(written)


def test_two_cards_beside_each_other_and_an_expiry_behind():
    """Groups are told apart: each card ends where it ends."""
    text = "4111 1111 1111 1111 5555 5555 5555 4444 12/27"
    assert [one.value for one in find_secrets(text)] == ["4111 1111 1111 1111", "5555 5555 5555 4444"]


@pytest.mark.parametrize(
    "value",
    [
        "4111111111111112",
        "411111111111111",
        "0000000000000000",
        "1111111111111111",
        "DE89370400440532013001",
        "XX89370400440532013000",
        "DE8937040044",
        "12345678A",
        "9999 9999 9999",
        "000-00-0000",
        "+49 170 1234567",
        "0049 170 1234567 89",
        "2026-04-27",
        "1700000000000",
        "978-3-16-148410-0",
        "9783161484100",
        "anna@example.org",
        "Anna Müller",
        "10115 Berlin",
        "https://example.org/?id=4111",
        "3.14159265358979",
        "-----BEGIN PUBLIC KEY-----",
        "sk-ating-on-the-lake-tomorrow",
        "b3f1c1d2-7e0f-4a57-9d6e-2f4c8f0c1a11",
    ],
)
def test_a_value_that_is_none(value):
    """A wrong check digit, a wrong length, or something of everyday."""
    assert kind_of_value(value) == ""
    assert find_secrets(f"note {value} please") == []


def test_half_a_private_key_is_one_to_its_end():
    """Who pastes it without its last line gave away as much."""
    (found,) = find_secrets("my key " + HALF)
    assert (found.kind, found.value) == ("key", HALF)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("account", "DE89.3704.0044.0532.0130.00"),
        ("account", "DE89 3704 0044\n0532 0130 00"),
        ("identity", "abcpk1234l"),
        ("identity", "rssmra85t10a562s"),
        ("card", "41111111 11111111"),
    ],
)
def test_a_whole_value_may_be_written_in_other_ways(kind, value):
    """Dots, line ends, small letters: a field takes it, and nothing stands around it that it could belong to."""
    assert kind_of_value(value) == kind


def test_a_value_that_holds_a_secret_is_one():
    """The number with words around it is the number."""
    assert kind_of_value("Visa 4111 1111 1111 1111, valid to 12/27") == "card"


def test_a_long_mixed_run_is_a_token_as_a_fact_and_not_in_a_text():
    """In a text such runs name videos and files as often."""
    token = "Zk3vQ9mT7xLr2Wb8Nc5Yp1Hd6Js4Gf0A"
    assert kind_of_value(token) == "key"
    assert find_secrets(f"play {token} now") == []
    assert kind_of_value(token.lower()) == ""


# --- false alarms, measured --------------------------------------------------------------------------------------

PATTERNS = {
    "phones": (
        0.0,
        [
            "+49 170 #######",
            "0049 170 ########",
            "+49 (0)30 ########",
            "030/########",
            "(N##) N##-####",
            "+1 N## N## ####",
            "N##-N##-####",
            "+91 N#### #####",
            "91N#########",
            "+44 20 #### ####",
            "+33 N ## ## ## ##",
            "+81-90-####-####",
            "+86 1## #### ####",
            "0048 ### ### ###",
            "00 49 170 #######",
            "004917########",
        ],
    ),
    "postcodes": (0.0, ["#####", "#####-####", "#### @@", "@@# #@@", "###-####", "######", "@#@ #@#"]),
    "orders": (
        0.002,
        [
            "########",
            "##########",
            "############",
            "ORD-########",
            "@@########",
            "RE-2026-####",
            "@@##########",
            "#########@",
        ],
    ),
    "amounts and ids": (
        0.0,
        ["########-####-####-####-############", "@@####", "N.###,## €", "##:##", "192.168.#.##"],
    ),
    "long numbers": (
        0.02,
        ["#############", "##############", "################", "1Z@@@@##########", "9780#########"],
    ),
}


@pytest.mark.parametrize("group", list(PATTERNS))
def test_ordinary_values_are_hardly_ever_taken_for_secrets(group):
    """Thousands of each form; only long bare numbers, of which some are cards by chance, stay under two in a hundred."""
    chance = random.Random(20261201)
    allowed, patterns = PATTERNS[group]
    values = [_drawn(chance, pattern) for pattern in patterns for _ in range(300)]
    assert sum(map(is_secret_value, values)) <= allowed * len(values)
    assert sum(bool(find_secrets(f"please note {value} for me")) for value in values) <= allowed * len(values)


@pytest.mark.parametrize(
    "form",
    [
        "%d.%m.%Y",
        "%Y-%m-%d",
        "%m/%d/%Y",
        "%Y%m%d",
        "%d %B %Y",
        "%Y年%m月%d日",
        "%d.%m.%Y - %d.%m.%Y",
        "%Y-%m-%dT%H:%M:%S",
    ],
)
def test_no_date_is_taken_for_a_secret(form):
    """Any day of a century, and two days behind one another in a text."""
    days = [date(1930, 1, 1) + timedelta(days=37 * number) for number in range(1000)]
    assert not any(is_secret_value(day.strftime(form)) for day in days)
    assert not any(find_secrets(f"from {day.strftime(form)} {day.strftime(form)}") for day in days)


def _drawn(chance: random.Random, pattern: str) -> str:
    drawn = {"#": "0123456789", "N": "123456789", "@": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    return "".join(chance.choice(drawn.get(sign, sign)) for sign in pattern)


# --- named in a sentence -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("my password is hunter2", "hunter2"),
        ("Password: hunter2.", "hunter2"),
        ("the wifi password is 'blue7sky', ok?", "blue7sky"),
        ("password=pa%&ss", "pa%&ss"),
        ("PIN: 4711", "4711"),
        ("my cvv is 123", "123"),
        ("Mein Passwort ist Hund$1!", "Hund$1!"),
        ("Das Kennwort lautet geheim99", "geheim99"),
        ("mi contraseña es Abc123", "Abc123"),
        ("mot de passe : soleil42", "soleil42"),
        ("la password è sole42", "sole42"),
        ("パスワードはhunter2です", "hunter2"),
        ("密码是abc123。", "abc123"),
        ("verification code: 884213", "884213"),
        ("set the router password to fritz!7490", "fritz!7490"),
    ],
)
def test_what_a_sentence_calls_a_password_is_one(text, value):
    """Its name, a small word or a sign, and something with a digit or a sign in it."""
    assert [one.value for one in find_secrets(text)] == [value]
    assert find_secrets(text, named=False) == []


@pytest.mark.parametrize(
    "text",
    [
        "the password is wrong",
        "Password: see below",
        "my password expires: 2027-01-31",
        "the PIN is 2026",
        "password reset at 10:30",
        "remind me to change the password on 3 May 2027",
        "the code is 1234",
        "promo code: SAVE20",
        "postcode: 10115",
        "zip code is 94107",
        "Passwort vergessen? Hilfe: https://example.org/x1",
        "password hint: mail anna@example.org",
        "the pinboard is 120 cm wide",
        "I lost my password. The room is 204",
        "email is anna@example.org",
        "order number: 4711",
        "das Passwort ist falsch-herum",
    ],
)
def test_sentences_about_passwords_hold_none(text):
    """Words, dates, times, addresses, other codes, the next sentence."""
    assert find_secrets(text) == []


def test_what_was_found_is_masked_in_the_context_that_asks():
    """The kinds are given back for telling the person; nothing found changes nothing."""

    def inside() -> tuple[tuple[str, ...], str]:
        kinds = mask_found("card ４１１１１１１１１１１１１１１１ and my password is hunter2")
        return kinds, redact("4111 1111 1111 1111 ４１１１１１１１１１１１１１１１ hunter2")

    assert copy_context().run(inside) == (("card", "password"), f"{MASK} {MASK} {MASK}")
    assert mask_found("note that Anna's birthday is on 3 May") == ()
    assert redact("4111 1111 1111 1111") == "4111 1111 1111 1111"


@pytest.mark.parametrize(
    "piece",
    [
        "1234 ",
        "DE12",
        "DE12 ",
        " ",
        "\n",
        "sk-",
        HALF,
        "1",
        "password: a1",
        "is ",
        "a.",
        "2-",
        "é ",
        "：",
        "eyJ",
    ],
)
def test_no_text_takes_for_ever(piece):
    """Time grows with length and not with its square: twenty times the text, less than a hundred times the time."""

    def cost(length: int) -> float:
        text = (piece * length)[:length]
        began = time.process_time()
        find_secrets(text)
        return time.process_time() - began

    cost(1_000)
    assert cost(100_000) < 100 * max(cost(5_000), 0.002)
