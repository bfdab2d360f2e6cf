"""What is adequate: every reference is, and a reference that is broken in one way is found out, in every task."""

import copy
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import InputError
from surefoot.evals._walk import steps_of, variables_of
from surefoot.evals.adequacy import ACTING, FaultCode, adequacy, holds, host_of, sentences, unlisted_questions
from surefoot.evals.flow_tasks import FlowTask, read_flow_tasks
from surefoot.evals.personal import personal_details
from surefoot.evals.words import density, has_word
from surefoot.flows.checker import check_flow, missing_names
from surefoot.flows.facts import FactNames
from surefoot.flows.steps import KINDS

DATA = Path(__file__).parent.parent / "data"
MEASURED = read_flow_tasks(DATA / "flow_tasks.json")
TUNING = read_flow_tasks(DATA / "flow_tasks_tuning.json")
TASKS = MEASURED + TUNING
BODIES = ("then", "else", "steps")


def codes(flow: Any, task: FlowTask) -> set[str]:
    """The codes of what is wrong."""
    return {str(fault.code) for fault in adequacy(flow, task)}


def copied(task: FlowTask) -> dict[str, Any]:
    """The reference, to be broken."""
    return copy.deepcopy(dict(task.reference))


def kind_of(step: Any) -> str:
    """The kind of a step as JSON."""
    return "do" if isinstance(step, str) else next(iter(step))


def kept(steps: list[Any], keep) -> list[Any]:
    """The steps that are to be kept, bodies included; a step whose body is empty goes with it."""
    left = []
    for step in steps:
        if not keep(step):
            continue
        inner = {} if isinstance(step, str) else next(iter(step.values()))
        if isinstance(inner, dict):
            for key in BODIES:
                if key in inner:
                    inner[key] = kept(inner[key], keep)
            if any(inner.get(key) == [] for key in BODIES):
                continue
        left.append(step)
    return left


def without(task: FlowTask, *kinds: str) -> dict[str, Any]:
    """The reference without the steps of these kinds."""
    flow = copied(task)
    flow["steps"] = kept(flow["steps"], lambda step: kind_of(step) not in kinds)
    return flow


def replaced(task: FlowTask, old: str, new: str) -> dict[str, Any]:
    """The reference with one text for another wherever it stands."""
    return json.loads(json.dumps(task.reference, ensure_ascii=False).replace(old, new))


def cases(tasks, things) -> list[Any]:
    """A parameter for each thing of each task, named by both."""
    return [
        pytest.param(task, thing, id=f"{task.id}-{at}")
        for task in tasks
        for at, thing in enumerate(things(task))
    ]


def named(tasks) -> list[Any]:
    """A parameter for each task."""
    return [pytest.param(task, id=task.id) for task in tasks]


# --- the sets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tasks", "languages"),
    [(MEASURED, {"en": 16, "de": 10, "hi": 7, "ja": 7}), (TUNING, {"en": 10, "de": 6, "hi": 4, "ja": 4})],
    ids=["measured", "tuning"],
)
def test_a_set_has_its_languages(tasks, languages):
    """Forty tasks are measured and twenty-four tuned on, in four languages."""
    assert Counter(task.language for task in tasks) == languages


def test_no_task_is_in_both_sets_or_twice():
    """A prompt that was tuned on a task has seen it."""
    for what in (lambda t: t.id, lambda t: t.goal.casefold(), lambda t: json.dumps(t.reference)):
        assert max(Counter(map(what, TASKS)).values()) == 1


def test_the_measured_set_says_six_personal_details():
    """Six goals hold a detail that no plan may repeat, and it really is in the goal."""
    assert sum(bool(task.literals) for task in MEASURED) == 6
    assert all(literal in task.goal for task in TASKS for literal in task.literals)


def test_both_sets_leave_some_facts_out_of_use():
    """What is given is not what is needed, or using everything would be enough."""
    for tasks in (MEASURED, TUNING):
        spare = [task for task in tasks if set(task.shared + task.secret) - set(task.uses)]
        assert len(spare) >= len(tasks) / 2


@pytest.mark.parametrize("task", named(TASKS))
def test_a_task_is_well_formed(task):
    """Surfaces and kinds are known ones, secrets are typed and nothing else, and every task asks for something."""
    assert task.surfaces
    assert task.surfaces <= {"browser", "desktop"}
    assert task.reach
    assert task.milestones
    assert all(milestone.kinds <= set(KINDS) for milestone in task.milestones)
    assert all(place.words for place in task.reach)
    assert not set(task.shared) & set(task.secret)
    secret = {f"${{{name}}}" for name in task.secret}
    for step in task.reference["steps"]:
        if kind_of(step) != "enter":
            assert not any(name in json.dumps(step, ensure_ascii=False) for name in secret)


@pytest.mark.parametrize("task", named(TASKS))
def test_a_goal_gives_no_personal_detail_away_but_those_listed(task):
    """A plan that copies the goal is at fault only where the task says so."""
    rest = task.goal
    for literal in task.literals:
        rest = rest.replace(literal, "")
    assert personal_details(rest) == []


# --- references ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", named(TASKS))
def test_a_reference_is_adequate(task):
    """What a careful author writes has no fault, and asks nothing that the task does not call for."""
    assert adequacy(task.reference, task) == []
    assert unlisted_questions(task.reference, task) == []


@pytest.mark.parametrize("task", named(TASKS))
def test_a_reference_is_valid(task):
    """The checker has nothing to say, once the person has been asked for what nobody gave."""
    names = FactNames(shared=task.shared, secret=task.secret)
    assert set(names.secret) == set(task.secret)
    asked = names.plus(name for name in missing_names(task.reference) if name not in names)
    assert check_flow(task.reference, asked, surfaces=task.surfaces) == []


@pytest.mark.parametrize("task", named(TASKS))
def test_the_goal_as_one_step_is_not_adequate(task):
    """To get there and say the goal again is no plan."""
    flow = without(task, *(set(KINDS) - {"browse", "open"}))
    flow["steps"].append(task.goal)
    assert codes(flow, task)


@pytest.mark.parametrize("task", named(TASKS))
@pytest.mark.parametrize("other", ["de05", "en08", "hi02", "t-ja02", "t-de02"])
def test_a_reference_is_not_adequate_for_another_task(task, other):
    """The rules tell the tasks apart."""
    flow = next(one.reference for one in TASKS if one.id == other)
    assert task.id == other or codes(flow, task)


# --- one thing broken ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", named(TASKS))
def test_a_flow_that_goes_nowhere_is_found(task):
    """Without its browse or open steps the flow reaches nothing."""
    assert "not_reached" in codes(without(task, "browse", "open"), task)


@pytest.mark.parametrize(("task", "place"), cases(TASKS, lambda task: task.reach))
def test_a_flow_that_goes_elsewhere_is_found(task, place):
    """Another host or application is not the one."""
    flow = copied(task)
    for step in flow["steps"]:
        if kind_of(step) == "browse" and any(word in step["browse"] for word in place.browse):
            step["browse"] = "https://elsewhere.example.com/" + "-".join(place.browse)
        elif kind_of(step) == "open" and place.open:
            step["open"] = "Solitaire"
    assert "not_reached" in codes(flow, task)


@pytest.mark.parametrize(("task", "name"), cases(TASKS, lambda task: task.uses))
def test_a_fact_written_as_a_literal_is_found(task, name):
    """Something stands where `${fact}` should: the fact is not used."""
    faults = adequacy(replaced(task, f"${{{name}}}", "Anna Muster"), task)
    assert [fault.about for fault in faults if fault.code is FaultCode.FACT_UNUSED] == [name]


@pytest.mark.parametrize(("task", "name"), cases(TASKS, lambda task: task.uses))
def test_a_fact_that_is_only_mentioned_in_a_condition_is_not_used(task, name):
    """To verify that it is there puts it nowhere."""
    flow = replaced(task, f"${{{name}}}", "it")
    flow["steps"].append({"verify": f"the page shows ${{{name}}}"})
    assert "fact_unused" in codes(flow, task)


DETAILS = {
    "anna.muster@example.org": "e-mail address",
    "+49 171 3920012": "phone number",
    "(202) 555-0143": "phone number",
    "4111 1111 1111 1111": "card number",
    "5. März 1987": "date of birth",
}


@pytest.mark.parametrize("detail", DETAILS)
@pytest.mark.parametrize(("task", "name"), cases(TASKS, lambda task: task.uses[:2]))
def test_a_personal_detail_in_place_of_a_fact_is_found(task, name, detail):
    """Whatever detail it is, and in whatever language the flow is."""
    flow = replaced(task, f"${{{name}}}", detail)
    faults = adequacy(flow, task)
    assert DETAILS[detail] in [fault.about for fault in faults if fault.code is FaultCode.PERSONAL_DETAIL]
    assert not any(detail in fault.message for fault in faults)


@pytest.mark.parametrize(("task", "literal"), cases(TASKS, lambda task: task.literals))
@pytest.mark.parametrize("change", [str, lambda text: re.sub(r"[\s-]", "", text), str.upper])
def test_a_detail_of_the_goal_is_found_however_it_is_grouped(task, literal, change):
    """In a step, in a field, in the flow's own variables; the message does not repeat it."""
    said = change(literal)
    in_step, in_field, in_vars = copied(task), copied(task), copied(task)
    in_step["steps"].append(f"enter {said} into the field")
    in_field["steps"].append({"if": {"condition": "it is asked", "then": [{"enter": {"field": said}}]}})
    in_vars["vars"] = {"detail": f"({said})"}
    for flow in (in_step, in_field, in_vars):
        faults = [fault for fault in adequacy(flow, task) if fault.code is FaultCode.LITERAL]
        assert faults
        assert not any(said in fault.message for fault in faults)


@pytest.mark.parametrize("task", named(task for task in TASKS if task.stop))
def test_a_flow_without_its_stop_is_found(task):
    """What pays, sends, deletes or publishes stops in front of it."""
    assert codes(without(task, "stop_before"), task) == {"no_stop"}


@pytest.mark.parametrize("task", named(task for task in TASKS if task.stop))
def test_a_stop_for_something_else_does_not_count(task):
    """The stop names the action."""
    flow = without(task, "stop_before")
    flow["steps"].append({"stop_before": "closing the window"})
    fault = next(fault for fault in adequacy(flow, task) if fault.code is FaultCode.NO_STOP)
    assert "closing the window" in fault.message


@pytest.mark.parametrize("task", named(task for task in TASKS if task.stop))
def test_a_stop_in_a_branch_counts(task):
    """Where the stop stands is the author's to say."""
    flow = copied(task)
    flow["steps"] = [{"if": {"condition": "it is there", "then": ["look"], "else": flow["steps"]}}]
    assert "no_stop" not in codes(flow, task)


@pytest.mark.parametrize(("task", "milestone"), cases(TASKS, lambda task: task.milestones))
def test_a_missing_milestone_is_found(task, milestone):
    """Without the steps that are about it, the flow does not do what was asked."""
    flow = copied(task)
    variables = variables_of(flow)

    def keep(step):
        (view, *_) = steps_of({"steps": [step]})
        return not holds(view, variables, milestone)

    flow["steps"] = kept(flow["steps"], keep)
    missed = [fault.about for fault in adequacy(flow, task) if fault.code is FaultCode.MILESTONE_MISSING]
    assert ", ".join(milestone.words) in missed


@pytest.mark.parametrize(
    ("task", "milestone"),
    cases(TASKS, lambda task: [one for one in task.milestones if one.kinds and "do" not in one.kinds]),
)
def test_a_milestone_in_a_step_of_another_kind_does_not_count(task, milestone):
    """To `verify` the cheapest is not to `pick` it."""
    flow = copied(task)
    flow["steps"] = kept(flow["steps"], lambda step: kind_of(step) not in milestone.kinds)
    flow["steps"].append({"verify": milestone.words[0]})
    assert "milestone_missing" in codes(flow, task)


@pytest.mark.parametrize(
    ("task", "milestone"), cases(TASKS, lambda task: [one for one in task.milestones if one.stored])
)
def test_what_the_person_wants_to_know_is_kept(task, milestone):
    """To look at it, or to open the best without keeping its text, tells nobody."""
    flow = copied(task)
    flow["steps"] = kept(flow["steps"], lambda step: kind_of(step) not in ("read", "extract"))
    for step in flow["steps"]:
        if kind_of(step) == "pick":
            step["pick"].pop("into", None)
    flow["steps"] += [milestone.words[0], {"enter": {"into": milestone.words[0]}}]
    fault = next(fault for fault in adequacy(flow, task) if fault.about == ", ".join(milestone.words))
    assert "that fills a variable" in fault.message


PARAGRAPHS = {
    "en": "Look at the page. Then press the button. Then wait until it has ended.",
    "de": "Sieh dir die Seite an. Drücke dann den Knopf! Warte bis es fertig ist.",
    "hi": "पहले पन्ने को देखो। फिर बटन को दबाओ। फिर पूरा होने तक रुको।",
    "ja": "まずページを見る。次にボタンを押す。終わるまで待つ。",
}


@pytest.mark.parametrize("task", named(TASKS))
def test_a_do_of_three_sentences_is_found(task):
    """In every language, as a bare text and as an object, and where it stands."""
    for step in (PARAGRAPHS[task.language], {"do": PARAGRAPHS[task.language]}):
        flow = copied(task)
        flow["steps"].append({"repeat_until": {"condition": "it is done", "steps": [step], "max": 2}})
        (fault,) = adequacy(flow, task)
        assert fault.code is FaultCode.DO_PARAGRAPH
        assert fault.path == f"{len(flow['steps'])}.1"


@pytest.mark.parametrize("task", named(TASKS))
def test_a_long_do_is_found(task):
    """One endless sentence is a paragraph too, and half as many characters of Japanese."""
    word, most = ("見て", 100) if task.language == "ja" else ("look ", 200)
    flow = copied(task)
    flow["steps"].append((word * most)[:most])
    assert codes(flow, task) == set()
    flow["steps"][-1] = (word * most)[: most + 1]
    assert codes(flow, task) == {"do_paragraph"}


@pytest.mark.parametrize("task", named(task for task in TASKS if len(task.milestones) > 2))
def test_a_whole_task_in_one_step_is_found(task):
    """However short: all that was asked in one `do`, and nothing else done."""
    flow = without(task, *(set(KINDS) - {"browse", "open"}))
    flow["steps"].append(", ".join(milestone.words[0] for milestone in task.milestones))
    assert "do_whole_task" in codes(flow, task)


# --- the parts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "stem", "found"),
    [
        ("search for Flights", "flight", True),
        ("search the inflight menu", "flight", False),
        ("Hinflug wählen", "*flug", True),
        ("Round-trips only", "round trip", True),
        ("round the trip", "round trip", False),
        ("the 24th", "24", True),
        ("124 rooms", "24", False),
        ("240 rooms", "24", False),
        ("24.12.2026", "24.12", True),
        ("24.1.2026", "24.12", False),
        ("up to 15,000 rupees", "15,000", True),
        ("cheapest_flight", "flight", True),
        ("STRASSE", "straße", True),
        ("KÖLN Hbf", "köln", True),
        ("１２月２８日の朝", "12月28日", True),
        ("12月28日", "2月28日", False),
        ("12月 28日", "12月28日", True),
        ("売上ファイル", "売上", True),
        ("合計10件", "10", True),
        ("売上sheetを開く", "sheet", True),
        ("दिल्ली से पटना", "पटना", True),
        ("रेलवे स्टेशन", "स्टेशन", True),
        ("फ़ोन", "\u092b\u093c\u094b\u0928", True),
        ("", "flight", False),
        ("cell C40", "c40", True),
        ("cell C401", "c40", False),
    ],
)
def test_words_are_found_by_their_beginnings(text, stem, found):
    """Words by their beginnings, numbers whole, kana, kanji and Devanagari anywhere."""
    assert has_word(text, [stem]) is found


@pytest.mark.parametrize(
    "text",
    [
        "the flight on 24.12.2026",
        "from 2026-12-24 to 2026-12-31",
        "order 4718-2201",
        "the train at 08:15, platform 12",
        "a phone under 15,000 rupees",
        "${email} and ${phone number}",
        "https://mail.example.com/u/anna@example.com?phone=07700900142",
        "see www.example.org/1987-03-05",
        "the museum founded 12 May 1871",
        "2026年12月28日",
        "the @ sign",
        "4111 1111 1111 1112 is no card",
        "model WH-1000XM5 2024",
        "",
    ],
)
def test_what_is_no_personal_detail_is_left_alone(text):
    """Dates of journeys, prices, order numbers, addresses of pages."""
    assert personal_details(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("write to anna@firma.de", "e-mail address"),
        ("an anna.b+x@mail.firma.co.uk senden", "e-mail address"),
        ("宛先はtaro@example.jp", "e-mail address"),
        ("call +44 7700 900142", "phone number"),
        ("call 07700 900142.", "phone number"),
        ("call (202) 555-0143", "phone number"),
        ("नंबर 98765 43210", "phone number"),
        ("電話０９０－１２３４－５６７８", "phone number"),
        ("card 4111-1111-1111-1111", "card number"),
        ("card 4111111111111111", "card number"),
        ("born 1987-03-05", "date of birth"),
        ("geboren am 05.03.1987", "date of birth"),
        ("born 3 February 1988", "date of birth"),
        ("born February 3rd, 1988", "date of birth"),
        ("1987年3月5日生まれ", "date of birth"),
        ("जन्म 5 मार्च 1987", "date of birth"),
    ],
)
def test_a_personal_detail_is_known_by_its_form(text, kind):
    """In the layouts that people write."""
    assert personal_details(text) == [kind]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("search for trains", 1),
        ("Press the button. Then wait a minute.", 2),
        ("open the mail from Dr. Meyer about St. Pauli", 1),
        ("ein Zimmer vom 10. bis 12. April suchen, z. B. am Hafen", 1),
        ("検索する。結果を見る。", 2),
        ("खोज का बटन दबाओ।", 1),
        ("", 0),
    ],
)
def test_sentences_are_counted(text, count):
    """Abbreviations and ordinal numbers end none."""
    assert sentences(text) == count


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://www.Jet2.com/flights?x=1", "www.jet2.com"),
        ("jet2.com", "jet2.com"),
        ("http://[", ""),
        ("", ""),
    ],
)
def test_the_host_of_an_address(address, host):
    """With or without a scheme; what is no address has none."""
    assert host_of(address) == host


def test_an_empty_text_is_not_dense():
    """Nothing has no characters to count."""
    assert density("") == 0


def test_questions_that_the_task_does_not_call_for_are_told():
    """What nobody gave, no step made and the task does not expect is one question too many."""
    task = MEASURED[0]
    flow = copied(task)
    flow["vars"] = {"home": "Leeds"}
    flow["steps"] += [
        "fly from ${home} to ${destination}",
        "show ${chosen_flight} for ${title}",
        "${DESTINATION}",
    ]
    assert unlisted_questions(flow, task) == ["destination", "DESTINATION"]


def test_a_fact_in_a_variable_of_the_flow_is_used():
    """`vars` may hold a shared fact, and a step that uses the variable uses the fact."""
    task = next(task for task in MEASURED if task.id == "en06")
    flow = replaced(task, "${landlord email}", "${recipient}")
    flow["vars"] = {"recipient": "${landlord email}"}
    assert adequacy(flow, task) == []
    del flow["vars"]
    assert codes(flow, task) == {"fact_unused"}


def test_an_address_or_a_word_in_a_variable_of_the_flow_is_seen():
    """What a variable holds is what the step says."""
    task = MEASURED[0]
    flow = replaced(task, '"Leeds"', '"${origin}"')
    flow["steps"][0] = {"browse": "${site}"}
    flow["vars"] = {"site": "https://www.jet2.com", "origin": "Leeds"}
    assert adequacy(flow, task) == []


def test_a_fault_is_json():
    """For programs, the code as a plain text."""
    fault = adequacy({}, MEASURED[0])[0]
    assert json.loads(json.dumps(fault.to_dict())) == {
        "code": "not_reached",
        "message": "No step browses jet2.",
        "path": "",
        "about": "jet2",
    }


def test_what_acts_is_a_kind_of_step():
    """The rules name only kinds that there are."""
    assert set(KINDS) > ACTING


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=20)
    | st.sampled_from(["${a}", "${", "https://["]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*KINDS, *BODIES, "into", "from", "x"]), inner, max_size=3)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["app", "vars", "steps"]), _json))
def test_no_json_is_too_odd_to_be_judged(flow):
    """What has not the shape of a flow is at fault, never an error."""
    for task in (MEASURED[0], MEASURED[4], MEASURED[11]):
        assert adequacy(flow, task)
        unlisted_questions(flow, task)


def written(tmp_path: Path, *tasks: dict[str, Any]) -> Path:
    """A file of these tasks."""
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def test_an_incomplete_task_is_refused(tmp_path):
    """The message names the task and what it lacks."""
    whole = json.loads((DATA / "flow_tasks.json").read_text(encoding="utf-8"))[0]
    del whole["stop"]
    with pytest.raises(InputError, match="'en01' has no 'stop'"):
        read_flow_tasks(written(tmp_path, whole))


def test_a_task_that_needs_what_it_does_not_give_is_refused(tmp_path):
    """No plan could be adequate for it."""
    whole = json.loads((DATA / "flow_tasks.json").read_text(encoding="utf-8"))[0]
    with pytest.raises(InputError, match="'en01' uses the fact 'shoe size'"):
        read_flow_tasks(written(tmp_path, {**whole, "uses": ["shoe size"]}))


def test_two_tasks_of_one_id_are_refused(tmp_path):
    """A result is kept under the id."""
    whole = json.loads((DATA / "flow_tasks.json").read_text(encoding="utf-8"))[0]
    with pytest.raises(InputError, match=r"tasks\.json have the id 'en01'"):
        read_flow_tasks(written(tmp_path, whole, whole))
