"""The flow planner: the conversation, repairs, questions, notes, use, and what a model is never given."""

from __future__ import annotations

import inspect
import json

import pytest

from surefoot import ScriptedModel
from surefoot.errors import (
    ContentFilterError,
    EmptyReplyError,
    FactError,
    InputError,
    MisuseError,
    OutputCutError,
    PlanFailedError,
    ProviderAuthError,
    ProviderCapabilityError,
    ProviderUnavailableError,
)
from surefoot.flows import FactNames, Facts, check_flow, flow_guide
from surefoot.flows.steps import SURFACES
from surefoot.models.types import Capabilities, Completion, FinishReason, Usage
from surefoot.planning import flow_planner
from surefoot.planning.flow_planner import MAX_LOCAL_TOKENS, MAX_TOKENS, FlowPlanner
from surefoot.planning.flow_prompt import flow_prefix
from surefoot.planning.flow_questions import Question
from surefoot.redaction import redact, secrets

HOSTED = Capabilities(json_schema=True)
LOCAL = Capabilities(json_schema=True, grammar=True, local=True)
SERVER = Capabilities(json_schema=True, local=True)
PAGES = frozenset({"browser"})
PEOPLE = FactNames(shared=("first name", "email"), secret=("card number",))

GOOD = {
    "app": "browser",
    "steps": [
        {"browse": "https://flights.example.com"},
        {"enter": {"from": "Delhi", "to": "Srinagar", "departure date": "Sunday"}},
        "search for one-way flights",
        {"pick": {"from": "flights", "by": "cheapest", "into": "flight"}},
        {"enter": {"first name": "${first name}", "email": "${email}"}},
        {"enter": {"card number": "${card number}"}},
        {"stop_before": "paying"},
    ],
}
PLAIN = {"app": "browser", "steps": [{"browse": "https://example.com"}, "open the page of today"]}
WRONG = {"app": "browser", "steps": [{"browse": "https://example.com"}, {"press": "the button"}]}


def said(flow) -> str:
    return json.dumps(flow, ensure_ascii=False)


def planner(*answers, able=HOSTED, **options) -> FlowPlanner:
    return FlowPlanner(ScriptedModel(*answers, capabilities=able), **options)


async def planned(*answers, goal="Look at the page of today", facts=PEOPLE, surfaces=SURFACES, **options):
    made = planner(*answers, **options)
    return await made.plan(goal, facts, surfaces), made.model


async def failing(*answers, goal="Look at the page of today", facts=PEOPLE, surfaces=SURFACES, **options):
    made = planner(*answers, **options)
    with pytest.raises(PlanFailedError) as caught:
        await made.plan(goal, facts, surfaces)
    return caught.value, made.model


def with_step(*steps):
    return {"app": "browser", "steps": [{"browse": "https://example.com"}, *steps]}


# --- the conversation --------------------------------------------------------------------------------------------


async def test_the_system_turn_is_the_protocol_and_then_the_guide():
    """Rule "a system turn carries the planner's protocol followed by the flow authoring guide"."""
    _, model = await planned(said(PLAIN))
    system, user = model.requests[0].messages
    assert (system.role, user.role) == ("system", "user")
    assert system.content == flow_prefix().system
    protocol, _, guide = system.content.partition("# Writing a flow")
    assert "You plan a task" in protocol
    assert "# Writing a flow" + guide == flow_guide().strip()


@pytest.mark.parametrize(
    ("goal", "surfaces"), [("Book a room", PAGES), ("बिल भेजो", SURFACES), ("x" * 3000, PAGES)]
)
async def test_the_prefix_is_the_same_for_every_task(goal, surfaces):
    """It can be kept read: nothing of a task is in it."""
    facts = FactNames(shared=("a name of this test",))
    _, model = await planned(said(PLAIN), goal=goal, facts=facts, surfaces=surfaces)
    assert model.requests[0].messages[0] == flow_prefix().messages[0]


@pytest.mark.parametrize(
    ("surfaces", "words"),
    [
        (PAGES, "Available: web pages in the browser."),
        (frozenset({"desktop"}), "Available: desktop applications."),
        (SURFACES, "Available: web pages in the browser and desktop applications."),
    ],
)
async def test_the_user_turn_states_the_task_the_surfaces_and_the_names(surfaces, words):
    """Rule "states the task, which surfaces are available, and which facts the caller can supply, by name only"."""
    flow = (
        PLAIN
        if "browser" in surfaces
        else {"app": "Notepad", "steps": [{"open": "Notepad"}, "make a new file"]}
    )
    _, model = await planned(said(flow), goal="Book a room {goal} {secret}", surfaces=surfaces)
    told = model.requests[0].messages[1].content
    assert words in told
    assert "Shared facts: ${first name}, ${email}.\nSecret facts: ${card number}." in told
    assert told.endswith("Task: Book a room {goal} {secret}")


@pytest.mark.parametrize("facts", [None, FactNames()])
async def test_without_facts_it_says_so(facts):
    """An empty list is told as none, not left out."""
    _, model = await planned(said(PLAIN), facts=facts)
    assert "Shared facts: none.\nSecret facts: none." in model.requests[0].messages[1].content


async def test_a_valid_flow_comes_back_as_it_was_written():
    """Rule "the model replies with exactly one JSON object: a flow", checked with the checker that people's flows get."""
    plan, model = await planned(
        said(GOOD), goal="Book the cheapest flight from Delhi to Srinagar next Sunday"
    )
    assert plan.flow.to_json() == GOOD
    assert check_flow(plan.flow, PEOPLE) == []
    assert [attempt.problems for attempt in plan.attempts] == [()]
    model.assert_done()


def test_the_checker_is_the_one_that_people_get():
    """Rule "validated with the very same checker": there is no second, looser one."""
    assert flow_planner.check_flow is check_flow


async def test_the_reply_may_have_prose_and_thinking_around_it():
    """It is taken out as it is; test_flow_reading has the forms."""
    text = f"<think>Which {{app}}?</think>Here it is:\n```json\n{json.dumps(PLAIN, indent=2)}\n```\nDone."
    plan, _ = await planned(text)
    assert plan.flow.to_json() == PLAIN


# --- repairs -----------------------------------------------------------------------------------------------------


async def test_the_errors_go_back_as_a_fourth_turn():
    """Rule "the specific errors go back to the model as a fourth turn, asking for a corrected flow"."""
    plan, model = await planned(said(WRONG), said(PLAIN))
    first, second = model.requests
    assert second.messages[:2] == first.messages
    assistant, user = second.messages[2:]
    assert (assistant.role, assistant.content) == ("assistant", said(WRONG))
    (problem,) = check_flow(WRONG, PEOPLE)
    assert f"1. step 2: {problem.message}" in user.content
    assert "Write the whole flow again" in user.content
    assert [len(attempt.problems) for attempt in plan.attempts] == [1, 0]
    assert plan.flow.to_json() == PLAIN


async def test_all_problems_go_back_at_once_and_numbered():
    """Not the first only."""
    bad = with_step(
        {"press": "it"}, {"verify": ""}, {"choose": {"what": "fare", "option": "the cheapest fare"}}
    )
    _, model = await planned(said(bad), said(PLAIN))
    told = model.requests[1].messages[-1].content
    problems = check_flow(bad, PEOPLE)
    assert len(problems) == 3
    assert all(f"{number}. {problem}" in told for number, problem in enumerate(problems, 1))


async def test_very_many_problems_are_cut():
    """A prompt of a thousand sentences mends nothing."""
    _, model = await planned(said(with_step(*[{"press": "it"}] * 50)), said(PLAIN))
    told = model.requests[1].messages[-1].content
    assert "20. step 21" in told
    assert "21. " not in told
    assert "and 30 more." in told


@pytest.mark.parametrize("repairs", [0, 1, 2, 4])
async def test_it_is_repaired_so_many_times_and_no_more(repairs):
    """Rule "up to REPAIRS (2) times": then the plan fails, with every answer in the details."""
    error, model = await failing(*[said(WRONG)] * (repairs + 1), repairs=repairs)
    model.assert_done()
    assert len(model.requests) == repairs + 1
    assert len(error.details["attempts"]) == repairs + 1
    assert error.details["use"]["calls"] == repairs + 1


async def test_two_repairs_are_the_default():
    """The third answer counts, a fourth is never asked for."""
    plan, model = await planned(said(WRONG), "no idea", said(PLAIN))
    assert [len(attempt.problems) for attempt in plan.attempts] == [1, 1, 0]
    assert [len(request.messages) for request in model.requests] == [2, 4, 6]
    await failing(said(WRONG), "no idea", said(WRONG))


def test_repairs_below_zero_are_a_mistake():
    """0 is a value."""
    assert FlowPlanner(ScriptedModel(), repairs=0).repairs == 0
    with pytest.raises(MisuseError, match="repairs is -1"):
        FlowPlanner(ScriptedModel(), repairs=-1)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("I would open the browser.", "There is no JSON object in it."),
        ("", None),
        ('{"app": "browser", "steps": [', "The JSON"),
        ('{"app": "browser", "app": "x", "steps": ["go"]}', "app"),
        (said(PLAIN) + "\nor\n" + said(GOOD), "There are 2 JSON objects in it"),
    ],
)
async def test_an_answer_that_is_no_flow_is_a_repair_too(answer, sentence):
    """The sentence says so, and the answer itself stays in the conversation."""
    plan, model = await planned(answer or EmptyReplyError("It answered with nothing."), said(PLAIN))
    last = model.requests[1].messages[-1]
    assert last.role == "user"
    assert (sentence or "It answered with nothing.") in last.content
    assert "as one JSON object" in last.content
    assert plan.attempts[0].flow is None
    assert plan.attempts[0].problems[0].code == "no_flow"


@pytest.mark.parametrize(
    "cut",
    [
        OutputCutError("It was cut."),
        Completion(said(GOOD)[:80], finish_reason=FinishReason.LENGTH, usage=Usage(7, 0, 5)),
    ],
)
async def test_a_cut_answer_counts_as_an_attempt_and_is_not_used(cut):
    """It is told behind the turn before it: half a flow in the conversation would be written on."""
    plan, model = await planned(cut, said(PLAIN))
    assert [len(request.messages) for request in model.requests] == [2, 2]
    told = model.requests[1].messages[-1].content
    assert told.startswith(model.requests[0].messages[-1].content)
    assert "cut at its longest" in told
    assert len(plan.attempts) == 2
    assert plan.use.calls == 2


async def test_a_cut_flow_that_happens_to_be_whole_is_not_used_either():
    """The model wanted to say more."""
    cut = Completion(said(PLAIN), finish_reason=FinishReason.LENGTH)
    error, _ = await failing(cut, repairs=0)
    assert "cut at its longest" in error.message


@pytest.mark.parametrize("flow", [[], "x", 5, None, {}, [{"browse": "https://a.example"}], {"flow": PLAIN}])
async def test_json_of_another_shape_is_told_in_the_checkers_words(flow):
    """Nothing is unwrapped or filled in."""
    error, _ = await failing(said(flow), repairs=0)
    assert error.details["reason"] == "invalid"
    assert error.details["problems"]


# --- questions ---------------------------------------------------------------------------------------------------


async def test_a_name_nobody_gave_becomes_a_question():
    """Rule "questions: an InputField per ${name} the flow uses that the caller did not already name as a fact"."""
    flow = with_step(
        {"enter": {"member": "${membership number}", "mail": "${email}", "born": "${date of birth}"}}
    )
    plan, _ = await planned(said(flow))
    assert plan.questions == (Question("membership number", "text"), Question("date of birth", "date"))
    assert check_flow(plan.flow, PEOPLE.plus(shared=[one.name for one in plan.questions])) == []


async def test_a_secret_name_that_nobody_gave_is_asked_for_as_a_secret():
    """A password is: it is no payment detail."""
    plan, _ = await planned(said(with_step({"enter": {"password": "${library password}"}})))
    assert plan.questions == (Question("library password", "text", secret=True),)


@pytest.mark.parametrize("step", ["say ${library password}", {"verify": "${library password} is shown"}])
async def test_a_secret_that_is_asked_for_stands_only_in_an_enter_too(step):
    """It is checked as the secret it will be."""
    error, _ = await failing(said(with_step(step)), repairs=0)
    assert error.details["problems"][0]["code"] == "misplaced_secret"


@pytest.mark.parametrize("name", ["card number", "card cvv", "card expiry date", "Kartennummer", "IBAN"])
async def test_a_payment_detail_nobody_gave_is_a_problem_and_no_question(name):
    """Decision: payment details come only from secrets that were given."""
    flow = with_step({"enter": {"field": f"${{{name}}}"}}, {"stop_before": "paying"})
    error, _ = await failing(said(flow), facts=FactNames(), repairs=0)
    assert "payment_not_given" in {problem["code"] for problem in error.details["problems"]}


@pytest.mark.parametrize("name", ["emial", "e-mail", "Email", "first_name", "firstname"])
async def test_a_name_near_to_a_known_one_is_a_slip_and_no_question(name):
    """It is mended by the model and not asked of the person."""
    bad = with_step({"enter": {"field": f"${{{name}}}"}})
    good = with_step({"enter": {"field": "${email}"}})
    plan, model = await planned(said(bad), said(good))
    assert "Did you mean" in model.requests[1].messages[-1].content
    assert plan.questions == ()


async def test_what_a_step_fills_is_not_asked_for():
    """Nor is what `vars` has."""
    flow = with_step({"read": {"what": "total", "into": "total"}}, "compare ${total} with ${city}")
    plan, _ = await planned(said({**flow, "vars": {"city": "Oslo"}}))
    assert plan.questions == ()


# --- notes and use -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flow", "code", "words"),
    [
        (GOOD, "stops_before", "paying"),
        (PLAIN, "stops_nowhere", "nothing"),
        (
            with_step({"if": {"condition": "it is there", "then": [{"stop_before": "sending"}]}}),
            "stops_before",
            "sending",
        ),
        (
            with_step({"if": {"condition": "a", "then": ["go"], "else": [{"stop_before": "deleting"}]}}),
            "stops_before",
            "deleting",
        ),
        (
            with_step(
                {"repeat_until": {"condition": "none", "steps": ["go", {"stop_before": "posting"}], "max": 2}}
            ),
            "stops_before",
            "posting",
        ),
    ],
)
async def test_a_note_says_whether_it_stops_before_something_irreversible_or_paid(flow, code, words):
    """Rule "notes: whether the plan stops before something irreversible or paid (a stop_before step is present)"."""
    plan, _ = await planned(said(flow))
    (note,) = [note for note in plan.notes if note.code.startswith("stops")]
    assert note.code == code
    assert words in note.text


async def test_notes_tell_of_questions_and_of_a_masked_secret():
    """A code for programs, a sentence for people."""
    goal = "Sign in with my password is hunter2zzz and look"
    plan, _ = await planned(said(with_step({"enter": {"member": "${membership number}"}})), goal=goal)
    texts = {note.code: note.text for note in plan.notes}
    assert set(texts) == {"masked", "stops_nowhere", "asks"}
    assert "membership number" in texts["asks"]
    assert "hunter2zzz" not in str(texts)


async def test_use_counts_calls_and_tokens_of_every_attempt():
    """Failed ones cost, too."""
    usage = Usage(100, 40, 10, 0.5, 0.01)
    model = ScriptedModel(said(WRONG), said(PLAIN), usage=usage, capabilities=HOSTED)
    plan = await FlowPlanner(model).plan("Look", PEOPLE)
    assert plan.use.calls == 2
    assert plan.use.usage == usage + usage
    assert plan.to_dict()["use"] == {"calls": 2, **(usage + usage).to_dict()}
    assert plan.to_dict()["attempts"] == 2


async def test_a_plan_is_json():
    """For the command line and other programs."""
    plan, _ = await planned(said(GOOD))
    data = json.loads(json.dumps(plan.to_dict()))
    assert set(data) == {"flow", "questions", "notes", "use", "attempts"}
    assert data["flow"] == GOOD


# --- failing -----------------------------------------------------------------------------------------------------


async def test_an_answer_that_stays_invalid_fails_with_the_reason():
    """Rule PLAN_FAILED: "its answer stayed invalid after every repair"; the hint is to reword or to write by hand."""
    error, _ = await failing(*[said(WRONG)] * 3)
    assert error.code == "PLAN_FAILED"
    assert error.exit_code == 3
    assert "press" in error.message
    assert "3 answers" in error.message
    assert error.details["problems"][0]["code"] == "unknown_step"
    assert error.details["attempts"][0]["flow"] == WRONG
    for words in ("Word the task differently", "surefoot flow guide", "surefoot flow check"):
        assert words in error.next_move


@pytest.mark.parametrize(
    "error",
    [
        ProviderAuthError("The key was refused.", "Give another."),
        ProviderUnavailableError("It does not answer."),
        ContentFilterError("The filter stopped it."),
        ProviderCapabilityError("It cannot be asked."),
    ],
)
async def test_a_model_that_fails_outright_fails_the_plan_with_its_reason(error):
    """Rule PLAN_FAILED: "the model failed outright": no repair, the cause in the message."""
    failed, model = await failing(error)
    assert len(model.requests) == 1
    assert error.message in failed.message
    assert failed.details["reason"] == error.code
    assert failed.__cause__ is error
    assert failed.next_move.startswith(error.next_move)
    assert "surefoot flow guide" in failed.next_move


async def test_a_model_that_fails_in_a_repair_keeps_what_was_wrong_before():
    """The first answer is in the details."""
    failed, _ = await failing(said(WRONG), ProviderUnavailableError("Gone."))
    assert failed.details["attempts"][0]["flow"] == WRONG
    assert failed.details["use"]["calls"] == 2


async def test_a_mistake_in_the_calling_code_is_not_hidden():
    """Only what the provider did is a failed plan."""
    with pytest.raises(MisuseError, match="has no answer for it"):
        await planner().plan("Look", PEOPLE)


@pytest.mark.parametrize("goal", ["", "  \n"])
async def test_an_empty_task_is_refused_before_any_call(goal):
    """There is nothing to plan."""
    made = planner(said(PLAIN))
    with pytest.raises(InputError, match="task is empty"):
        await made.plan(goal)
    assert made.model.requests == []


@pytest.mark.parametrize("surfaces", [frozenset(), frozenset({"phone"}), frozenset({"browser", "phone"})])
async def test_there_must_be_something_to_act_on(surfaces):
    """And it must be known."""
    with pytest.raises(InputError, match="nothing to act on"):
        await planner(said(PLAIN)).plan("Look", PEOPLE, surfaces)


# --- how the model is asked --------------------------------------------------------------------------------------


async def test_a_hosted_model_is_asked_for_a_json_object_at_a_low_temperature():
    """Rule "asked for a JSON object response format at a low sampling temperature (0.2)"."""
    _, model = await planned(said(PLAIN))
    request = model.requests[0]
    assert (request.json_object, request.temperature) == (True, 0.2)
    assert (request.grammar, request.json_schema, request.tools) == (None, None, ())
    assert request.max_tokens == MAX_TOKENS
    assert request.purpose == "plan.flow"


async def test_the_embedded_model_is_bound_by_a_grammar():
    """With the names and surfaces of this task."""
    _, model = await planned(said(PLAIN), able=LOCAL, surfaces=PAGES)
    request = model.requests[0]
    assert request.json_schema is None
    assert '"${first name}"' in request.grammar
    assert "open" not in request.grammar
    assert request.max_tokens == MAX_LOCAL_TOKENS


async def test_a_local_server_is_bound_by_a_schema():
    """Where it has no grammar."""
    _, model = await planned(said(PLAIN), able=SERVER, surfaces=PAGES, num_ctx=4096)
    request = model.requests[0]
    assert request.json_schema["properties"]["app"] == {"type": "string", "enum": ["browser"]}
    assert request.num_ctx == 4096


@pytest.mark.parametrize("able", [LOCAL, SERVER])
async def test_nothing_binds_where_it_is_not_wanted(able):
    """`bound=False` measures the model alone."""
    _, model = await planned(said(PLAIN), able=able, bound=False)
    assert (model.requests[0].grammar, model.requests[0].json_schema) == (None, None)


@pytest.mark.parametrize("able", [LOCAL, SERVER])
async def test_a_server_that_cannot_take_the_bond_is_asked_without_it_from_then_on(able):
    """A refusal is no attempt of the model."""
    plan, model = await planned(
        ProviderCapabilityError("No schemas here."), said(WRONG), said(PLAIN), able=able
    )
    assert [bool(one.grammar or one.json_schema) for one in model.requests] == [True, False, False]
    assert len(plan.attempts) == 2
    assert plan.use.calls == 3


async def test_a_local_model_keeps_the_prefix_read():
    """So that a second plan begins where the first did; a hosted one is never asked to."""
    _, model = await planned(said(PLAIN), able=LOCAL)
    ((request, key),) = model.warmed
    assert request.messages == flow_prefix().messages == model.requests[0].messages[:1]
    assert key == flow_prefix().key
    _, hosted = await planned(said(PLAIN))
    assert hosted.warmed == []
    assert await FlowPlanner(ScriptedModel(capabilities=HOSTED)).warm() is False


async def test_a_prefix_that_cannot_be_kept_does_not_stop_a_plan():
    """What is wrong with the model shows when it is asked."""

    class Cold(ScriptedModel):
        async def warm(self, request, key):
            raise ProviderUnavailableError("No room.")

    plan = await FlowPlanner(Cold(said(PLAIN), capabilities=LOCAL)).plan("Look", PEOPLE)
    assert plan.flow.to_json() == PLAIN


# --- what it never gets ------------------------------------------------------------------------------------------


def test_planning_takes_names_and_never_values():
    """Rule "it only ever sees the task's text, the guide, the names of facts, and which surfaces are available"."""
    parameters = inspect.signature(FlowPlanner.plan).parameters
    assert list(parameters) == ["self", "goal", "fact_names", "surfaces"]


@pytest.mark.parametrize("facts", [Facts({"email": "a@example.org"}), {"email": "a@example.org"}, ("email",)])
async def test_anything_that_is_no_fact_names_is_refused(facts):
    """Values handed in by mistake go nowhere, also not into the message."""
    made = planner(said(PLAIN))
    with pytest.raises(MisuseError, match="Planning takes FactNames") as caught:
        await made.plan("Look", facts)
    assert "example.org" not in str(caught.value)
    assert made.model.requests == []


def test_fact_names_hold_no_value():
    """`name=value` is no name."""
    with pytest.raises(FactError) as caught:
        FactNames(shared=("email=a@example.org",))
    assert "example.org" not in str(caught.value)


@pytest.mark.parametrize(
    ("goal", "value"),
    [
        ("Pay with 4111 1111 1111 1111 please", "4111 1111 1111 1111"),
        ("Überweise an DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"),
        ("Log in, my password is hunter2zzz", "hunter2zzz"),
        ("Pay with card ４１１１１１１１１１１１１１１１", "４１１１１１１１１１１１１１１１"),
    ],
)
async def test_a_secret_typed_into_the_task_never_reaches_the_prompt(goal, value):
    """The goal passes the same detection as everything a person types; repairs and errors do, too."""
    wrong = with_step({"press": value}, f"say {value}")
    error, model = await failing(said(wrong), said(wrong), goal=goal, repairs=1)
    prompts = "".join(message.content for one in model.requests for message in one.messages)
    assert len(model.requests) == 2
    for shown in (prompts, str(error), json.dumps(error.to_dict(), ensure_ascii=False)):
        assert value not in shown
        assert value.replace(" ", "") not in shown.replace(" ", "")
    assert "[secret]" in prompts


async def test_a_registered_secret_is_masked_in_names_answers_and_problems():
    """Whatever it stands in: a name, what the model wrote, the checker's quote of it."""
    with secrets("Zanzibar-77"):
        facts = FactNames(shared=("email",), secret=("Zanzibar-77 code",))
        wrong = said(with_step({"press": "Zanzibar-77"}))
        _, model = await planned(wrong, said(PLAIN), goal="Open Zanzibar-77", facts=facts)
        shown = "".join(message.content for one in model.requests for message in one.messages)
        assert "Zanzibar" not in shown
        assert redact(shown) == shown


async def test_the_mask_itself_is_never_typed():
    """A model that copies `[secret]` is told to name a fact."""
    error, _ = await failing(said(with_step({"enter": {"code": "[secret]"}})), repairs=0)
    assert error.details["problems"]
