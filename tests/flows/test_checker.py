"""The one check of a flow: names, secrets, conditions, labels and places, each rule at its step."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from flows.checking import CARD, NAMES, at, codes, flow, found
from surefoot.errors import MisuseError
from surefoot.flows import FactNames, Facts, check_flow, read_flow
from surefoot.flows.checker import missing_names
from surefoot.flows.flow import Flow
from surefoot.flows.steps import Do, If

READ = {"read": {"what": "total", "into": "total"}}
PICK = {"pick": {"from": "flights", "by": "cheapest", "into": "flight"}}
PAY = {"stop_before": "paying"}


def branch(*then: Any, condition: str = "a banner is shown", **more: Any) -> dict[str, Any]:
    return {"if": {"condition": condition, "then": list(then), **more}}


def loop(*steps: Any, condition: str = "no mail is left") -> dict[str, Any]:
    return {"repeat_until": {"condition": condition, "steps": list(steps), "max": 5}}


# --- what it takes and gives -------------------------------------------------------------------------------------


def test_a_flow_a_value_and_a_source_are_checked_alike():
    """Only the source has lines."""
    value = flow("search for ${nothing}", branch({"verify": "${x} is shown"}))
    text = '{"app": "browser",\n "steps": [\n"search for ${nothing}",\n{"if": {"condition": "a banner is shown",\n"then": [\n{"verify": "${x} is shown"}]}}]}'
    plain = check_flow(value)
    assert [(one.path, one.code, one.line) for one in plain] == [
        ("1", "unknown_name", None),
        ("2.1", "unknown_name", None),
    ]
    assert check_flow(Flow.from_json(value)) == plain
    lined = check_flow(read_flow(text))
    assert [(one.path, one.code, one.message) for one in lined] == [
        (one.path, one.code, one.message) for one in plain
    ]
    assert [one.line for one in lined] == [3, 6]


def test_it_never_changes_what_it_checks_and_says_the_same_twice():
    """No order of sets, no state."""
    value = flow(
        "${a} ${b} c_d", READ, {"choose": {"what": "x", "option": "the cheapest fare"}}, vars={"c_d": "${x}"}
    )
    before = copy.deepcopy(value)
    assert check_flow(value, NAMES) == check_flow(value, NAMES)
    assert value == before


@pytest.mark.parametrize(
    "wrong",
    [Flow("browser", (5,)), Flow("browser", (If("c", (None,)),)), Flow("browser", ("x",), 5), Flow(None, ())],
)
def test_a_flow_made_by_hand_of_something_else_is_a_problem(wrong):
    """No exception, whatever stands in it."""
    assert check_flow(wrong)


def test_a_flow_nested_thousands_deep_by_hand_is_a_problem():
    """Not a RecursionError."""
    steps: tuple[Any, ...] = (Do("x"),)
    for _ in range(5000):
        steps = (If("c", steps),)
    assert [one.code for one in check_flow(Flow("browser", steps))] == ["not_an_object"]


def test_a_wrong_shape_hides_only_what_that_value_means():
    """The rest of the step and of the flow is checked all the same."""
    assert at(
        {"enter": {"a": 5, "b": "${nothing}"}}, {"read": {"what": "", "into": "x"}}, "say ${x} ${y_z}"
    ) == [
        ("1", "wrong_type"),
        ("1", "unknown_name"),
        ("2", "blank"),
        ("3", "unknown_name"),
    ]


def test_problems_come_in_the_order_of_the_file():
    """Those that only the end of the flow decides stand at their step, too."""
    assert at(
        "buy it", "say ${x_y}", READ, 5, {"verify": "${late}"}, {"read": {"what": "a", "into": "late"}}
    ) == [
        ("1", "unguarded_payment"),
        ("2", "unknown_name"),
        ("4", "wrong_type"),
        ("5", "used_before_filled"),
    ]


# --- names -------------------------------------------------------------------------------------------------------


def test_a_name_is_a_fact_in_vars_or_filled_before():
    """Each of the three is known, in every part of a step."""
    steps = [
        READ,
        "say ${total}",
        {"enter": {"${city}": "${trip}"}},
        {"choose": {"what": "${city}", "option": "${total}"}},
    ]
    assert codes(*steps[2:], vars={"trip": "to ${city}"}, names=NAMES) == ["unknown_name"]
    assert codes(READ, *steps[2:], vars={"trip": "to ${city}"}) == []
    assert codes({"extract": {"what": "rows", "into": "rows"}}, "go through ${rows}") == []
    assert codes(PICK, "open ${flight}") == []
    assert codes({"browse": "https://x.example.com/${city}"}) == []
    assert codes("x", app="${city}") == []


def test_without_facts_no_fact_is_known():
    """`check_flow(flow)` has none."""
    assert [one.code for one in check_flow(flow("to ${city}"))] == ["unknown_name"]


def test_used_before_it_is_filled_says_so():
    """With the step that fills it."""
    (problem,) = found("say ${total}", READ)
    assert (problem.code, "step 2" in problem.message) == ("used_before_filled", True)
    assert codes({"read": {"what": "what is left of ${total}", "into": "total"}}) == ["used_before_filled"]
    assert codes({"read": {"into": "total", "what": "what is left of ${total}"}}) == ["used_before_filled"]
    assert codes("x", app="${total}") == ["unknown_name"]
    assert at(READ, "x", app="${total}") == [("app", "used_before_filled")]


@pytest.mark.parametrize(
    "steps",
    [
        [branch(READ), "say ${total}"],
        [branch("x", **{"else": [READ]}), "say ${total}"],
        [branch(READ, **{"else": [READ]}), "say ${total}"],
        [branch(READ, **{"else": ["say ${total}"]})],
        [loop(READ), "say ${total}"],
        [loop(READ, condition="${total} is zero")],
        [loop(branch(READ), "say ${total}")],
    ],
)
def test_what_a_branch_or_a_loop_fills_ends_there(steps):
    """Also for the loop's own condition, and for the other branch."""
    assert codes(*steps) == ["filled_in_branch"]


def test_inside_a_branch_its_own_names_and_those_around_are_known():
    """What was filled before stays known behind, too."""
    assert (
        codes(READ, branch(PICK, "open ${flight} for ${total}"), loop("say ${total}"), "say ${total}") == []
    )
    assert codes(READ, branch(READ), "say ${total}") == []


def test_a_near_miss_is_told():
    """By letters, case, spaces and filler words; never by another digit."""
    names = FactNames(("email", "phone number", "guest 1", "home city"))
    for wrong, right in [
        ("emial", "email"),
        ("E-Mail", "email"),
        ("email_address", "email"),
        ("phone", "phone number"),
        ("home  city", "home city"),
    ]:
        (problem,) = found(f"say ${{{wrong}}}", names=names)
        assert problem.code == "misspelt_name"
        assert f"Did you mean ${{{right}}}?" in problem.message
    for other in ("guest 2", "city", "surname", "mail box", "address"):
        assert codes(f"say ${{{other}}}", names=names) == ["unknown_name"]
    names = FactNames(("guest a", "son's name", "departure date", "check-in date"))
    for other in ("guest b", "mom's name", "check-out date", "return date"):
        assert codes(f"say ${{{other}}}", names=names) == ["unknown_name"]
    assert codes("say ${departrue date}", names=names) == ["misspelt_name"]
    assert codes(READ, "say ${totel}") == ["misspelt_name"]


@pytest.mark.parametrize(
    ("known", "written"),
    [("pr\u00e9nom", "pre\u0301nom"), ("\u00fcbung", "u\u0308bung"), ("\uac00", "\u1100\u1161")],
)
def test_two_names_that_look_the_same_are_told_apart_in_words(known, written):
    """Composed as Unicode has it or not: nobody sees it, so the problem says it. For a fact both are its name."""
    (problem,) = found(f"say ${{{written}}}", vars={known: "x"})
    assert problem.code == "misspelt_name"
    assert f"Did you mean ${{{known}}}? It looks the same" in problem.message
    for name in (known, written):
        assert codes(f"say ${{{name}}}", names=FactNames((written,))) == []
        assert codes(f"say ${{{name}}}", names=FactNames((), (known,))) == ["misplaced_secret"]
    (problem,) = found("say ${emial}")
    assert "looks the same" not in problem.message


def test_an_unclosed_or_empty_name_is_told():
    """Also beside a good one."""
    for text in ("to ${city", "to ${", "to ${ci{ty}", "to ${${city}", "${city} and ${x"):
        assert codes(text) == ["unclosed_name"]
    for text in ("to ${}", "to ${  }", "to ${\t}"):
        assert codes(text) == ["empty_name"]
    for text in ("costs $5", "a { b }", "$ {b}", "a } b"):
        assert codes(text) == []


def test_a_name_may_not_be_two_things():
    """A variable is no fact and not in vars, and nothing in vars is a fact."""
    assert at({"read": {"what": "x", "into": "city"}}) == [("1", "shadowed_name")]
    assert at({"pick": {"from": "x", "by": "y", "into": "trip"}}, vars={"trip": "x"}) == [
        ("1", "shadowed_name")
    ]
    assert at("x", vars={"city": "Oslo"}) == [("vars", "shadowed_name")]
    assert codes(READ, READ) == []


def test_vars_name_facts_only():
    """Neither each other nor what steps fill; a fact that is not there is an unknown name."""
    assert codes("x", vars={"a": "${city}"}) == []
    assert codes("x", vars={"a": "x", "b": "${a}"}) == ["variable_in_vars"]
    assert codes("x", vars={"a": "${a}"}) == ["variable_in_vars"]
    assert codes(READ, vars={"a": "${total}"}) == ["variable_in_vars"]
    assert codes("x", vars={"a": "${nothing}"}) == ["unknown_name"]
    assert [
        one.code for one in check_flow({"steps": ["say ${a}"], "app": "browser", "vars": {"a": "x"}})
    ] == []


def test_a_bare_variable_is_refused_where_its_name_is_no_ordinary_word():
    """With `_`, a digit or a capital inside; the words inside `${...}` do not count, nor do those of addresses."""
    for into, text in [
        ("cheapest_flight", "open cheapest_flight."),
        ("cheapest_flight", 'open "cheapest_flight", then go on'),
        ("flight2", "open flight2"),
        ("bestFlight", "open bestFlight"),
        ("größte_wohnung", "öffne größte_wohnung"),
        ("価格_1", "価格_1 を見る"),
    ]:
        pick = {"pick": {"from": "x", "by": "y", "into": into}}
        assert at(pick, text) == [("2", "bare_variable")]
        assert at(text, pick) == [("1", "bare_variable")]
        assert codes(pick, text.replace(into, f"${{{into}}}")) == []
    assert codes(READ, "look at the total") == []
    assert codes(PICK, "open the flight page") == []
    assert codes("open cheapest_flight") == []
    code = {"read": {"what": "x", "into": "order_id"}}
    assert codes(code, {"browse": "https://shop.example.com/order_id?order_id=5"}) == []
    assert codes("x", "my_trip", vars={"my_trip": "x"}) == ["bare_variable"]
    assert codes("enter my_mail", names=FactNames(("my_mail",))) == ["bare_variable"]
    assert at(code, {"enter": {"search": "order_id"}}, {"enter": {"the order_id": "x"}}) == [
        ("2", "bare_variable"),
        ("3", "bare_variable"),
    ]


@pytest.mark.parametrize("form", ["{{city}}", "{city}", "<city>", "[city]", "{{ city }}", "$city", "%city%"])
def test_a_name_in_the_braces_of_another_language_is_a_bare_variable(form):
    """Where it is one that is known; other brackets are words of the page."""
    assert codes({"enter": {"search": form}}) == ["bare_variable"]
    assert codes(f"look at {form.replace('city', 'menu')}") == []


def test_missing_names_are_those_nobody_defines_anywhere():
    """Each once, in their order; what is filled later or in a branch is not missing."""
    wanted = flow(
        "${b} ${a}", {"enter": {"${c}": "${b}"}}, branch(READ), "${total} ${trip} ${}", vars={"trip": "${d}"}
    )
    assert missing_names(Flow.from_json(flow("${b} ${a}", {"enter": {"${c}": "${b}"}}))) == ["b", "a", "c"]
    assert missing_names(wanted) == ["d", "b", "a", "c"]
    assert missing_names({"app": 5, "steps": None}) == []


# --- secrets -----------------------------------------------------------------------------------------------------

SECRET = "${card number}"
PLACES = {
    "app": flow("x", app=f"Bank {SECRET}"),
    "vars": flow("x", vars={"v": SECRET}),
    "text": flow(f"say {SECRET}", PAY),
    "do": flow({"do": f"say {SECRET}"}),
    "open": flow({"open": SECRET}),
    "browse": flow({"browse": f"https://x.example.com/{SECRET}"}),
    "enter slot": flow({"enter": {f"field {SECRET}": "x"}}),
    "choose what": flow({"choose": {"what": SECRET, "option": "x"}}),
    "choose option": flow({"choose": {"what": "x", "option": SECRET}}),
    "read": flow({"read": {"what": SECRET, "into": "x"}}),
    "extract": flow({"extract": {"what": SECRET, "into": "x"}}),
    "pick from": flow({"pick": {"from": SECRET, "by": "x"}}),
    "pick by": flow({"pick": {"from": "x", "by": SECRET}}),
    "verify": flow({"verify": SECRET}),
    "wait_for": flow({"wait_for": SECRET}),
    "stop_before": flow({"stop_before": SECRET}),
    "repeat_until": flow(loop("x", condition=SECRET)),
    "repeat_until steps": flow(loop(SECRET)),
    "if": flow(branch("x", condition=SECRET)),
    "then": flow(branch(SECRET)),
    "else": flow(branch("x", **{"else": [loop({"verify": SECRET})]})),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_may_appear_only_as_an_enter_value(place):
    """Never in an application's name, an address, any other step's words, a condition, a field's own name or vars."""
    problems = check_flow(PLACES[place], NAMES)
    assert [one.code for one in problems] == ["misplaced_secret"]
    assert "enter" in problems[0].message


def test_a_secret_may_be_an_enter_value():
    """In a branch and beside other words, too."""
    assert codes({"enter": {"card number": SECRET}}, PAY) == []
    assert codes(branch({"enter": {"key": "key ${access key}"}})) == []


def test_a_shared_fact_may_appear_in_any_text():
    """Written the way a person would."""
    for value in PLACES.values():
        text = repr(value).replace(SECRET, "${city}")
        assert check_flow(eval(text), NAMES) == []  # the literals above


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (f"pay with {CARD}", "card number"),
        ({"enter": {"search": CARD}}, "card number"),
        ({"enter": {CARD: "x"}}, "card number"),
        ({"choose": {"what": "x", "option": CARD.replace(" ", "")}}, "card number"),
        ({"verify": f"{CARD.replace(' ', '-')} is shown"}, "card number"),
        ("transfer to DE89 3704 0044 0532 0130 00", "account number"),
        ("log in, my password is hunter2!", "password"),
        ({"enter": {"password": "rosebud"}}, "password"),
        ({"enter": {"Passwort": "rosebud"}}, "Passwort"),
        ({"enter": {"one-time code": "493021"}}, "one-time code"),
        ({"enter": {"card expiry": "12/29"}}, "card expiry"),
        ({"open": "sk-proj-abcd1234efgh5678ijkl"}, "access key"),
    ],
)
def test_a_secret_written_out_is_refused_and_not_repeated(step, kind):
    """By what it looks like, or by what its field is called."""
    problems = found(step, PAY)
    assert [one.code for one in problems] == ["written_secret"]
    assert f"${{{kind}}}" in problems[0].message
    for part in ("1111", "3704", "hunter2", "rosebud", "493021", "abcd1234"):
        assert part not in problems[0].message


@pytest.mark.parametrize("secret", ["hunter2!", "12345678901", "1234-5678-9012"])
def test_a_message_that_quotes_a_text_masks_what_is_secret_in_it(secret):
    """What is called a password, and every long number, whatever it is."""
    problems = found(
        f"buy it, my password is {secret} for ${{nothing}}",
        f"send it, the password is {secret}",
        {"browse": f"my password is {secret}"},
    )
    assert {"unguarded_payment", "no_address", "unknown_name"} <= {one.code for one in problems}
    assert secret not in repr(problems)
    assert "4567" not in repr(found("buy it with 12345678901", {"browse": "1234-5678-9012 x"}))


def test_a_secret_written_out_in_vars_or_the_app_is_refused():
    """In a value, by the variable's name, and as the name."""
    assert at("x", vars={"a": CARD}) == [("vars", "written_secret")]
    assert at("x", vars={"password": "rosebud"}) == [("vars", "written_secret")]
    assert at("x", vars={CARD: "x"}) == [("vars", "written_secret")]
    assert at("x", app=CARD) == [("app", "written_secret")]


def test_what_is_no_secret_may_be_written():
    """Dates, prices, phone and order numbers; a field that only speaks of a card; an expiry that is a day."""
    for text in ("24 December 2026", "order 4711-2026", "+49 170 1234567", "1.234,56 €", "10:30", "row 12"):
        assert codes({"enter": {"search": text}}) == []
    assert (
        codes({"enter": {"card type": "Visa", "valid until": "the end of May", "coupon code": "SPRING"}})
        == []
    )


# --- personal details --------------------------------------------------------------------------------------------


def test_a_personal_detail_that_is_a_fact_is_named_and_not_written():
    """Refer to the person's details only as `${name}`, using the fact names that were given."""
    (problem,) = found({"enter": {"First Name": "Ana"}})
    assert (problem.code, "${first name}" in problem.message) == ("written_detail", True)
    assert codes({"enter": {"e-mail": "ana@x.org"}}, names=FactNames(("e mail",))) == ["written_detail"]
    for fine in ({"email": "${email}"}, {"first name of the child": "Ana"}, {"city": "Oslo"}, {"phone": "5"}):
        assert codes({"enter": fine}) == []


@pytest.mark.parametrize(
    "text",
    [
        "John Doe",
        "max mustermann",
        "山田太郎",
        "your.email@example.com",
        "<your email>",
        "[phone]",
        "{{dob}}",
        "N/A",
        "123 Main St",
    ],
)
def test_a_stand_in_is_refused(text):
    """Never invent a personal detail: a clear name for what is missing, so that the person can be asked."""
    (problem,) = found({"enter": {"guest": text}})
    assert (problem.code, "${guest}" in problem.message) == ("stand_in", True)
    assert codes(f"look for {text}") == []


def test_payment_details_come_only_from_secrets_that_were_given():
    """One that nobody gave is no question; one that was read from a page or is shared is no secret."""
    names = FactNames(("email",), ())
    assert codes({"enter": {"card": "${card number}"}}, PAY, names=names) == ["payment_not_given"]
    assert codes("say ${cvv}", names=names) == ["payment_not_given"]
    assert codes({"enter": {"security code": "${cvv}"}}, PAY, names=names) == ["payment_not_given"]
    assert codes({"enter": {"card number": "${email}"}}, PAY) == ["payment_not_secret"]
    assert codes(READ, {"enter": {"card number": "${total}"}}, PAY) == ["payment_not_secret"]
    assert codes({"enter": {"card number": "${card numbr}"}}, PAY) == ["misspelt_name"]
    assert codes({"enter": {"card number": SECRET, "security code": "${card cvv}"}}, PAY) == []
    assert codes({"enter": {"password": "${first name}", "name on card": "${first name}"}}) == []


# --- conditions and labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "steps",
    [
        [PICK, {"verify": "${flight} is shown"}],
        [PICK, {"wait_for": "${flight} is shown"}],
        [PICK, loop("x", condition="${flight} is shown")],
        [PICK, branch("x", condition="${flight} is shown")],
        [loop(PICK, condition="${flight} is shown")],
        [{"verify": "${flight} is shown"}, PICK],
        [{"read": {"what": "x", "into": "flight"}}, loop(PICK, condition="${flight} is shown")],
        [branch(PICK), {"verify": "${flight} is shown"}],
    ],
)
def test_a_condition_never_names_what_a_pick_stored(steps):
    """In none of the four kinds of condition, wherever the pick stands."""
    assert codes(*steps) == ["picked_in_condition"]


def test_a_condition_may_name_other_variables():
    """And other texts may name what a pick stored."""
    assert codes(READ, {"verify": "the total is ${total}"}) == []
    assert codes(PICK, "open ${flight}", {"read": {"what": "price of ${flight}", "into": "price"}}) == []


def test_an_option_must_be_the_label_the_page_shows():
    """A description is what pick is for; where the list orders results, its labels are criteria."""
    (problem,) = found({"choose": {"what": "fare", "option": "the cheapest fare"}})
    assert (problem.code, "pick" in problem.message) == ("described_option", True)
    assert codes({"choose": {"what": "fare", "option": "Saver"}}) == []
    for what in ("sort by", "Sortierung", "ordenar por", "並べ替え", "the results' tabs", "filter"):
        assert codes({"choose": {"what": what, "option": "cheapest flight"}}) == []
    assert codes({"choose": {"option": "cheapest flight", "what": "sort order"}}) == []


# --- places ------------------------------------------------------------------------------------------------------


def test_only_surfaces_that_are_available_are_used():
    """By the application, an open or a browse; each is told at its place."""
    mixed = flow({"open": "Calc"}, {"browse": "example.com"}, branch({"open": "Calc"}))
    assert check_flow(mixed) == []

    def places(value: Any, *there: str) -> list[tuple[str, str]]:
        return [(one.path, one.code) for one in check_flow(value, surfaces=frozenset(there))]

    assert places(mixed, "browser") == [("1", "surface_missing"), ("3.1", "surface_missing")]
    assert places(mixed, "desktop") == [("app", "surface_missing"), ("2", "surface_missing")]
    assert len(places(mixed)) == 4
    assert places(flow("x", app="Calc"), "browser") == [("app", "surface_missing")]
    assert places(flow("x", app="Calc"), "desktop") == []


def test_the_web_is_reached_with_browse_and_applications_with_open():
    """An address is none of an application, and an application's name no address."""
    for address in (
        "https://x.example.com/a?b=c#d",
        "example.com",
        "www.example.co.uk/",
        "localhost:8080",
        "http://127.0.0.1:5/x",
        "http://intranet/x",
        "https://ja.wikipedia.org/wiki/日本",
        "müller.de",
        "http://[::1]:80/",
        " example.com ",
        "${city}",
        "https://${city}",
    ):
        assert codes({"browse": address}) == []
    for other in (
        "Firefox",
        "the flight search",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "about:blank",
        "data:text/html,x",
        "https://",
        "http://a b.com",
        "example.com and log in",
    ):
        assert codes({"browse": other}) == ["no_address"]
    for app in ("https://example.com", "www.example.com", "browser", "Browser", "web browser"):
        assert codes({"open": app}) == ["no_application"]
    assert codes("x", app="https://example.com") == ["no_application"]
    assert codes("x", app="Browser") == ["no_application"]
    for app in ("Firefox", "LibreOffice Writer", "Paint.NET", "draw.io"):
        assert codes({"open": app}, app=app) == []


@pytest.mark.parametrize("char", ["\x00", "\x1b", "\x7f", "\x9b", "\u202e", "\u2066", "\ud800"])
def test_a_character_that_nobody_sees(char):
    """In every text of a flow, told by its number; never shown as it is."""
    steps = [
        f"go{char} on",
        {"enter": {f"field{char}": "x"}},
        {"enter": {"field": f"x{char}y"}},
        {"browse": f"a.example/{char}"},
    ]
    for step in steps:
        problem = found(step)[0]
        assert problem.code == "unseen_character"
        assert f"U+{ord(char):04X}" in problem.message
        assert char not in problem.message
    assert codes("go on", vars={"a": f"x{char}"}) == ["unseen_character"]


@pytest.mark.parametrize(
    "text",
    [
        "one\ntwo\tthree\r\n",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u05d0\u200e!",
        "\U0001f469\u200d\U0001f4bb",
        "e\u0301",
        "a\u00a0b\u2028c",
    ],
)
def test_what_languages_are_written_with_is_no_such_character(text):
    """Line ends, joiners, marks of direction, combining marks."""
    assert codes({"enter": {"field": text}}) == []


@pytest.mark.parametrize("facts", [["email"], "email", {"email": "a"}, Facts({"email": "a"})])
def test_facts_that_are_no_names_are_a_misuse(facts):
    """Also `Facts`, which have values; no value is repeated."""
    with pytest.raises(MisuseError, match="facts are FactNames"):
        check_flow(flow("say ${email}"), facts)
