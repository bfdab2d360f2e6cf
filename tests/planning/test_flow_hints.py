"""What a task says plainly is read by code, and what a small model's flow lost of it is told once."""

from __future__ import annotations

import json

import pytest

from surefoot.flows.facts import FactNames
from surefoot.planning.flow_hints import MOST, Hints, form_facts, hints_of, lost, without_details

NOTHING = Hints()
NO_FACTS = FactNames()


def flow(*steps, app="browser"):
    return {"app": app, "steps": list(steps)}


def codes(hints, made, facts=NO_FACTS):
    return [problem.code for problem in lost(hints, made, facts)]


@pytest.mark.parametrize(
    ("goal", "hosts"),
    [
        ("Get two seats at myvue-tickets.co.uk, please", ("myvue-tickets.co.uk",)),
        ("Look on https://Shop.example.com/offers for it", ("shop.example.com",)),
        ("桜が丘市のサイト(city-sakuragaoka.jp)で住民票を", ("city-sakuragaoka.jp",)),
        ("on a.example and b.example.", ("a.example", "b.example")),
        ("Save it as pitch.pptx", ()),
        ("Write to jo.hartley@example.org", ()),
        ("Mach das bis 10.30 Uhr", ()),
        ("", ()),
    ],
)
def test_hosts_that_a_task_names(goal, hosts):
    """Not files, not mail addresses, not times."""
    assert hints_of(goal).hosts == hosts


@pytest.mark.parametrize(
    ("goal", "stop"),
    [
        ("Get two tickets for Friday", "paying"),
        ("Bestell mir eine Pizza", "paying"),
        ("redBus पर बस बुक करो", "paying"),
        ("電池を2つ注文して", "paying"),
        ("Mail Dad the picture", "sending"),
        ("Reply to the last message from Kim", "sending"),
        ("Antworte meinem Vermieter", "sending"),
        ("部長に議事録を送って", "sending"),
        ("Empty the trash in my mail", "deleting"),
        ("Lösche alle alten Entwürfe", "deleting"),
        ("Fill in the lost property form", "submitting"),
        ("Kündige mein Abo", "submitting"),
        ("Sort the list by surname and save it", ""),
        ("What is the cheapest hire car?", ""),
    ],
)
def test_what_the_last_step_stops_before(goal, stop):
    """By the act that the task speaks of; the dearest of several."""
    assert hints_of(goal).stop == stop


@pytest.mark.parametrize(
    "goal", ["the cheapest fare", "das billigste Angebot", "सबसे सस्ती बस", "一番安い宿を"]
)
def test_a_task_that_ranks(goal):
    """It asks for the best of several."""
    assert hints_of(goal).ranked


@pytest.mark.parametrize(
    "goal", ["the first page", "Antworte auf die letzte Mail", "a cheap fare", "宿を予約"]
)
def test_places_in_a_row_and_plain_words_rank_nothing(goal):
    """They are read or opened, not ranked."""
    assert not hints_of(goal).ranked


def test_words_that_must_not_be_lost():
    """Quoted texts, files, figures, numbers in words and names; each once."""
    goal = (
        'Make two slides, "Our plan" and "Our costs", for Moonlit Harbour, from 2 to 9 May, save pitch.pptx'
    )
    said = hints_of(goal).words
    assert said == ("two", "Our plan", "Our costs", "Moonlit Harbour", "2 to 9 May", "pitch.pptx")


def test_what_is_the_persons_own_is_no_word_of_a_step():
    """Addresses and telephone numbers stay `${...}`."""
    assert hints_of("call me at 0171 392 0012 or jo@example.org, card 4111 1111 1111 1111").words == ()
    assert hints_of("from 10. to 12. April").words == ("10. to 12. April",)


def test_many_words_are_cut():
    """A prompt's line holds a few."""
    assert len(hints_of(" ".join(f"and Name{chr(97 + n)}x," for n in range(20))).words) <= MOST


def test_the_lines_of_a_prompt():
    """One for each hint, none for nothing."""
    assert NOTHING.lines() == ""
    lines = Hints(("a.example",), True, "paying", ("two", "Friday")).lines().splitlines()
    assert lines == [
        'Begin with {"browse": "https://a.example"}.',
        "In the steps, word for word: two, Friday.",
        "Use one `pick` for the best.",
        'End with {"stop_before": "paying"}.',
    ]


def test_a_flow_that_lost_nothing():
    """Numbers count in words and figures, words in any case."""
    hints = Hints(("a.example",), True, "paying", ("two", "Friday", "Moonlit Harbour"))
    made = flow(
        {"browse": "https://www.a.example/x"},
        "choose 2 seats for moonlit HARBOUR on friday",
        {"pick": {"from": "rows", "by": "best"}},
        {"stop_before": "paying"},
    )
    assert codes(hints, made) == []
    assert codes(NOTHING, flow("x")) == []


def test_each_thing_that_was_lost_is_told():
    """In words that the model can act on."""
    hints = Hints(("a.example",), True, "paying", ("two", "Friday"))
    found = lost(
        hints,
        flow({"browse": "https://b.example"}, "a seat on friday"),
        FactNames(("email",), ("card number",)),
    )
    assert [one.code for one in found] == ["task_place", "task_words", "task_best", "task_stop", "task_facts"]
    assert '{"browse": "https://a.example"}' in found[0].message
    assert found[1].message.startswith("The task says two: ")
    assert "${email}, ${card number}" in found[4].message


def test_facts_are_missed_only_where_a_form_is_filled_in():
    """A task that reads or writes a text needs none of them."""
    facts = FactNames(("email",))
    assert codes(Hints(stop="sending"), flow({"stop_before": "sending"}), facts) == []
    assert codes(Hints(stop="submitting"), flow({"stop_before": "submitting"}), facts) == ["task_facts"]
    used = flow({"enter": {"email": "${email}"}}, {"stop_before": "submitting"})
    assert codes(Hints(stop="submitting"), used, facts) == []


def test_a_host_matters_in_the_browser_only():
    """An application has no address."""
    assert codes(Hints(("a.example",)), flow({"open": "Mail"}, app="Mail")) == []


def test_what_is_told_holds_the_flow_in_any_script():
    """Words of other scripts are found where they stand."""
    assert json.dumps(codes(Hints(words=("さくら",)), flow("さくらを開く"))) == "[]"


@pytest.mark.parametrize(
    ("goal", "app", "hosts"),
    [
        ("Make a PowerPoint with two slides", "Microsoft PowerPoint", ()),
        ("Sort the list in Excel", "Microsoft Excel", ()),
        ("वर्ड में एक आवेदन लिखो", "Microsoft Word", ()),
        ("このパソコンのOutlookで送って", "Outlook", ()),
        ("Leave a review on Tripadvisor", "", ("www.tripadvisor.com",)),
        ("じゃらんで宿を探して", "", ("www.jalan.net",)),
        ("Look on shop.example.com, not on Amazon", "", ("shop.example.com",)),
        ("A word about wording", "", ()),
    ],
)
def test_applications_and_sites_by_the_names_people_have_for_them(goal, app, hosts):
    """A host that is written out wins; parts of other words are no names."""
    hints = hints_of(goal)
    assert (hints.app, hints.hosts) == (app, hosts)


@pytest.mark.parametrize(
    ("goal", "saved"),
    [
        ("Open members.xlsx, sort it and save it as sorted.xlsx", "sorted.xlsx"),
        ("aavedan.docx नाम से सेव करो", "aavedan.docx"),
        ("Öffne umsatz.csv, mach ein Diagramm nach Monaten und exportier es", ""),
        ("Attach plan.pdf", ""),
    ],
)
def test_the_file_that_the_work_ends_in(goal, saved):
    """Named behind the verb, or right before it where the verb comes last."""
    assert hints_of(goal).saved == saved


@pytest.mark.parametrize(
    "goal",
    [
        "Put it into the basket, don't order it",
        "ऑर्डर मत करना, बस कार्ट में डाल दो",
        "カートに入れて、注文はしないで",
    ],
)
def test_a_task_that_forbids_to_buy_needs_no_stop_for_it(goal):
    """It says so itself."""
    assert hints_of(goal).stop == ""


def test_a_letter_is_asked_for_nothing_and_ranks_nothing():
    """Its words belong into its text, and the newest mail is read, not ranked."""
    hints = hints_of("Reply to the newest mail from Mara Lindqvist that Tuesday suits me")
    assert (hints.asked, hints.ranked) == ((), False)
    assert hints.words == ("Mara Lindqvist", "Tuesday")


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        ("Reach me at jo.hartley@example.org.", "Reach me at ${email from the task}."),
        ("Ring 07700 900142. Thanks", "Ring ${phone from the task}. Thanks"),
        ("連絡先は080-1234-5678で", "連絡先は${phone from the task}で"),
        ("a@b.example or c@d.example", "${email from the task} or ${email 2 from the task}"),
        ("from 10 to 12 April 2027, 120 Euro", "from 10 to 12 April 2027, 120 Euro"),
    ],
)
def test_addresses_and_numbers_never_reach_a_model(goal, told):
    """They are asked for by a name; days and sums stay."""
    assert without_details(goal) == told


def test_details_of_the_task_are_asked_for_by_name():
    """They belong into the form, and are missed where no step enters them."""
    hints = hints_of(without_details("Fill in the form, I am at 0171 392 0012"))
    assert hints.details == ("phone from the task",)
    assert form_facts(NO_FACTS, hints) == ["phone from the task"]
    assert codes(hints, flow({"stop_before": "submitting"})) == ["task_facts"]


def test_facts_that_nearly_every_form_asks_for():
    """One of each kind; of two addresses neither, and nothing where no form is filled in."""
    facts = FactNames(
        ("First_Name", "E-Mail", "home address", "address", "shirt size", "氏名"), ("card number",)
    )
    assert form_facts(facts, Hints(stop="paying")) == ["First_Name", "E-Mail", "氏名"]
    assert form_facts(facts, Hints(stop="sending")) == []


def test_a_fact_of_somebody_whom_the_task_names_is_missed():
    """Whatever the task is for."""
    facts = FactNames(("dad's email", "mum's email"))
    hints = hints_of("Please mail Dad the picture")
    (problem,) = lost(hints, flow("the picture for Dad", {"stop_before": "sending"}), facts)
    assert "${dad's email}" in problem.message
    assert "mum" not in problem.message
