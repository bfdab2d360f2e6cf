"""From a model's text to steps: what is stripped, what is kept, what is refused."""

from __future__ import annotations

import json

import pytest

from surefoot.errors import UnreadableInputError
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.parse import outline_of_calls, parse_outline, parse_step
from surefoot.planning.vocabulary import Vocabulary, vocabulary

REPLY = "Reply to the user."


def kinds(outline):
    return [str(step.kind) for step in outline.steps]


def tools(outline):
    return [step.tool for step in outline.steps if step.tool]


@pytest.mark.parametrize(
    "marker",
    [
        "1. ",
        "1) ",
        "(1) ",
        "[1] ",
        "1: ",
        "1.",
        "12. ",
        "Step 1: ",
        "step 1. ",
        "STEP 2 - ",
        "Schritt 1: ",
        "Étape 1 : ",
        "Paso 1: ",
        "चरण 1: ",
        "步骤1：",
        "第1步：",
        "第一步：",
        "ステップ1：",
        "단계 1: ",
        "１．",
        "１） ",
        "（１） ",
        "一、",
        "（一）",
        "①",
        "⑴ ",
        "❶ ",
        "1️⃣ ",
        "- ",
        "* ",
        "• ",
        "– ",
        "→ ",
        "- [ ] ",
        "- [x] ",
        "[ ] ",
        "iv. ",
        "a) ",
        "б) ",
        "क) ",
        "١. ",
        "१. ",
        "1. - [ ] ",
        "  3.  ",
        "- 1) ",
    ],
)
def test_list_markers_of_any_script_are_stripped(marker, catalogue):
    """Numbering and bullets are no part of a step, whatever they are written in."""
    step = parse_step(f"{marker}webSearch query='x'", catalogue)
    assert (step.text, step.tool, step.concrete) == ("webSearch query='x'", "webSearch", True)
    assert parse_step(f"{marker}look it up", catalogue).text == "look it up"


@pytest.mark.parametrize(
    "line",
    [
        "**1.** webSearch query='x'",
        "**Step 1:** webSearch query='x'",
        "**webSearch** query='x'",
        "`webSearch query='x'`",
        "`webSearch` query='x'",
        "\"webSearch query='x'\"",
        "“webSearch query='x'”",
        "'webSearch query='x''",
        "1. `webSearch query='x'`",
        "`webSearch query='x'",
        "1. - [ ] a) webSearch query='x'",
    ],
)
def test_emphasis_backticks_and_wrapping_quotes_are_stripped(line, catalogue):
    """What a model wraps around a call is taken off; the call inside stays whole."""
    step = parse_step(line, catalogue)
    assert (step.tool, step.arguments, step.concrete) == ("webSearch", {"query": "x"}, True)


@pytest.mark.parametrize(
    "line",
    ["3.5 mm jack search", "2.0 release notes", "12:30 lunch", "-5 degrees", "1.000 euros", "4/5 stars"],
)
def test_decimals_and_times_are_no_list_markers(line, catalogue):
    """A step that starts with 3.5 mm keeps it."""
    assert parse_step(line, catalogue).text == line


@pytest.mark.parametrize(
    "text",
    [
        "<think>x {\"a\":0}\nwebSearch query='no'</think>webSearch query='yes'",
        "webSearch query='no'\n</think>\nwebSearch query='yes'",
        "<think>a</think>webSearch query='no'</think>\n\nwebSearch query='yes'",
        "<THINKING>webSearch query='no'</Thinking> webSearch query='yes'",
    ],
)
def test_only_what_follows_the_last_closing_tag_of_thinking_counts(text, catalogue):
    """Thinking text is dropped, also when its opening tag is missing."""
    assert [step.arguments for step in parse_outline(text, catalogue).steps] == [{"query": "yes"}]


def test_thinking_that_never_ends_is_no_plan(catalogue):
    """An answer cut inside its thinking says nothing."""
    assert parse_outline("<think>webSearch query='no'", catalogue) == Outline()


def test_fences_count_only_at_the_start_of_a_line(catalogue):
    """A fence inside a value is text; a fence line is not a step."""
    plan = parse_outline("```text\nwebSearch query='a'\nReply to the user.\n```\nLet me know!", catalogue)
    assert kinds(plan) == ["tool", "reply"]
    inline = parse_outline("writeFile(path='a.md', text='```py')", catalogue)
    assert inline.steps[0].arguments == {"path": "a.md", "text": "```py"}
    assert kinds(parse_outline("```\njust prose\n```\nwebSearch query='x'", catalogue)) == ["prose", "tool"]
    assert kinds(parse_outline("~~~\nwebSearch query='open'", catalogue)) == ["tool"]


def test_json_ends_at_its_fence(catalogue):
    """A fenced object followed by prose that holds another object: only the fenced one counts."""
    block = '```json\n{"name": "webSearch", "arguments": {"query": "a"}}\n```'
    text = block + '\nAlso {"name": "webSearch", "arguments": {"query": "b"}}'
    assert [step.arguments for step in parse_outline(text, catalogue).steps] == [{"query": "a"}]
    unfenced = text.replace("```json\n", "").replace("\n```", "")
    assert [step.arguments for step in parse_outline(unfenced, catalogue).steps] == [{"query": "a"}]
    twice = f"1. \n{block}\n2. \n" + block.replace('"a"', '"c"')
    assert [step.arguments["query"] for step in parse_outline(twice, catalogue).steps] == ["a", "c"]


CALL = {"name": "webSearch", "arguments": {"query": "x"}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([CALL]),
        json.dumps(CALL),
        json.dumps({"steps": [CALL]}),
        json.dumps({"plan": {"steps": [CALL]}}),
        json.dumps(
            {
                "tool_calls": [
                    {"id": "1", "type": "function", "function": CALL | {"arguments": '{"query": "x"}'}}
                ]
            }
        ),
        json.dumps([{"tool": "webSearch", "args": {"query": "x"}}]),
        json.dumps([{"action": "webSearch", "query": "x"}]),
        json.dumps({"webSearch": {"query": "x"}}),
        json.dumps(["webSearch query='x'"]),
        json.dumps({"steps": [{"step": "webSearch(query='x')"}]}),
        "[{'name': 'webSearch', 'arguments': {'query': 'x',},}]",
        f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>",
        "```json\n" + json.dumps([CALL], indent=2) + "\n```",
        f"Here is the plan:\n{json.dumps(CALL)}",
        "[webSearch(query='x')]",
    ],
)
def test_json_forms_of_a_call_are_read(text, catalogue):
    """Lists of calls, `{"steps": ...}` and their relatives give the same step as a call line."""
    outline = parse_outline(text, catalogue)
    assert [(step.tool, step.arguments, step.concrete) for step in outline.steps] == [
        ("webSearch", {"query": "x"}, True)
    ]


def test_json_that_is_no_plan_is_prose(catalogue):
    """Any JSON gives an outline: unknown tools are prose, numbers and deep nesting are nothing."""
    assert kinds(parse_outline('[{"name": "sendMail", "arguments": {"to": "x"}}]', catalogue)) == ["prose"]
    assert kinds(parse_outline("[" * 3000, catalogue)) == []
    assert kinds(parse_outline('{"answer": 5}', catalogue)) == ["prose"]
    assert kinds(parse_outline('{"name": 5, "tool": null}', catalogue)) == ["prose"]
    assert kinds(
        parse_outline('{"name": {"name": {"name": {"name": {"name": {"name": {"name": "x"}}}}}}}', catalogue)
    ) == ["prose"]
    assert kinds(
        parse_outline('{"steps": {"steps": {"steps": {"steps": {"steps": {"steps": ["x"]}}}}}}', catalogue)
    ) == ["prose"]
    assert kinds(
        parse_outline('[{"name": "webSearch", "arguments": 5}, {"name": ""}, 7, ""]', catalogue)
    ) == ["tool"]
    outline = parse_outline(
        '[{"name": "reply"}, {"name": "webSearch", "arguments": "x"}, "reply()"]', catalogue
    )
    assert kinds(outline) == ["reply", "prose"]
    lone = parse_outline(
        '[{"name": "addNote", "arguments": {"title": "\\ud800", "tags": ["\\ud801"], "n": NaN}}]', catalogue
    )
    assert lone.steps[0].arguments == {"title": "\ufffd", "tags": ["\ufffd"], "n": "NaN"}


def test_several_calls_in_one_line(catalogue):
    """Calls in call spelling may stand behind each other; each is a step of its own."""
    outline = parse_outline("addNote(title='it's a, b'); addTask(title='c'), listNotes()", catalogue)
    assert [step.text for step in outline.steps] == [
        "addNote(title='it's a, b')",
        "addTask(title='c')",
        "listNotes()",
    ]
    assert tools(parse_outline("[addNote(title='a'), addTask(title='b')]", catalogue)) == [
        "addNote",
        "addTask",
    ]
    assert tools(parse_outline("addNote(title='a') and addTask(title='b')", catalogue)) == ["addNote"]


def test_a_call_spread_over_lines_is_one_step(catalogue):
    """A call is read to its end, also when that stands lines later; a call that never ends costs no other step."""
    spread = "addNote(\n  title='x',\n  text='first\n\nthird'\n)\nlistNotes()"
    outline = parse_outline(spread, catalogue)
    assert outline.steps[0].arguments == {"title": "x", "text": "first\n\nthird"}
    assert tools(outline) == ["addNote", "listNotes"]
    broken = parse_outline("addNote(title='x'\nlistNotes()\nReply to the user.", catalogue)
    assert [(step.tool, step.concrete) for step in broken.steps] == [
        ("addNote", False),
        ("listNotes", True),
        ("", False),
    ]
    assert tools(parse_outline("addNote(title='x\n" * 60, catalogue, 100))[0] == "addNote"


def test_names_match_exactly_and_longest_first(catalogue):
    """Hyphens and dots belong to names; a longer known name wins over its beginning; nothing is matched by half."""
    page = parse_step("chrome-devtools__navigate_page url='https://a.b'", catalogue)
    assert (page.tool, page.concrete) == ("chrome-devtools__navigate_page", True)
    assert parse_step("chrome-devtools__navigate(url='x')", catalogue).tool == "chrome-devtools__navigate"
    assert parse_step("math.factorial(number=5)", catalogue).arguments == {"number": 5}
    assert parse_step("listNotes.", catalogue).tool == "listNotes"
    for line in (
        "webSearcher query='x'",
        "websearch query='x'",
        "searching for='x'",
        "f2(q='x')",
        "f-x(q='x')",
    ):
        assert parse_step(line, catalogue).tool == "", line


def test_prose_that_holds_a_tools_name_names_that_tool(catalogue):
    """A sentence that names a tool by a name that is no ordinary word is a step of it, for the resolver."""
    step = parse_step("Use webSearch to find the director", catalogue)
    assert (step.kind, step.tool, step.concrete, step.arguments) == (StepKind.TOOL, "webSearch", False, {})
    assert parse_step("search the shelf for it", catalogue).tool == "search"
    assert parse_step("now search the shelf", catalogue).kind is StepKind.PROSE


@pytest.mark.parametrize(
    "text",
    [
        REPLY,
        "reply",
        "reply()",
        "Reply.",
        "reply(text='hello')",
        "Reply to the user with the combined findings.",
        "**Reply to the user**",
        "Respond to the user in German.",
        "Answer the user's question",
        "Tell the user what was found.",
        "Final answer: 5",
        "Antworte dem Nutzer mit dem Ergebnis.",
        "Dem Nutzer antworten",
        "Répondre à l'utilisateur",
        "Réponds à l’utilisateur avec tout",
        "Responder al usuario con los resultados",
        "Responda ao usuário",
        "Rispondi all'utente",
        "Ответить пользователю",
        "回复用户。",
        "向用户回复结果",
        "ユーザーに返信する",
        "結果をまとめてユーザーに返信する",
        "사용자에게 답변하기",
        "उपयोगकर्ता को उत्तर दें",
        "परिणाम के साथ उपयोगकर्ता को जवाब दें।",
    ],
)
def test_reply_is_known_by_its_kind(text, catalogue):
    """A reply step is known by what it says in the languages of the word list, wherever it stands."""
    assert parse_step(text, catalogue).kind is StepKind.REPLY
    assert kinds(parse_outline(f"{text}\nwebSearch query='x'", catalogue)) == ["reply", "tool"]


@pytest.mark.parametrize(
    "text",
    [
        "Combine the findings.",
        "get the weather",
        "Find replies to the user survey",
        "answering machine test",
        "Antwortet er?",
    ],
)
def test_prose_is_not_a_reply_because_it_is_last(text, catalogue):
    """A prose step is prose, also behind the last tool."""
    assert kinds(parse_outline(f"webSearch query='x'\n{text}", catalogue)) == ["tool", "prose"]


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("searchMemory topic='user food preferences'", "user food preferences"),
        ('searchMemory(topic="food")', "food"),
        ("searchMemory('food')", "food"),
        ("searchMemory food", "food"),
        ("searchMemory", ""),
        ("1. searchMemory(query='food')", "food"),
    ],
)
def test_search_memory_is_a_directive_and_no_tool(line, topic, catalogue):
    """`searchMemory topic='...'` asks for memory; it is never a tool, and names no tool."""
    step = parse_step(line, catalogue)
    assert (step.kind, step.tool, step.arguments) == (StepKind.MEMORY, "", {"topic": topic})


def test_overlong_prose_is_cut_at_200_with_an_ellipsis(catalogue):
    """Overlong steps are truncated; 200 characters are not overlong."""
    step = parse_step("word " * 100, catalogue)
    assert len(step.text) <= 200
    assert step.text.endswith("…")
    assert parse_step("w" * 200, catalogue).text == "w" * 200
    assert len(parse_step("w" * 201, catalogue).text) == 200


def test_call_line_stays_whole_up_to_4000_characters(catalogue):
    """Only prose is cut: a call keeps every character, and one too long is refused with a reason."""
    frame = "writeFile(path='a', text='')"
    text = "x" * (4000 - len(frame))
    assert parse_step(f"writeFile(path='a', text='{text}')", catalogue).arguments["text"] == text
    for too_long in (
        f"writeFile(path='a', text='{text}y')",
        json.dumps([{"name": "writeFile", "arguments": {"text": "y" * 4000}}]),
    ):
        with pytest.raises(UnreadableInputError) as caught:
            parse_outline(too_long, catalogue)
        assert caught.value.details["reason"] == "step_too_long"
        assert caught.value.details["limit"] == 4000
        assert caught.value.details["length"] > 4000
    with pytest.raises(UnreadableInputError):
        outline_of_calls([("writeFile", {"text": "y" * 4000})], catalogue)


def test_list_is_capped_at_max_steps_and_keeps_its_tool_steps(catalogue):
    """Five counts tool steps: memory, reply and prose take none of their places."""
    lines = ["searchMemory topic='x'", "first think", *(f"addTask title='{n}'" for n in range(7)), REPLY]
    outline = parse_outline("\n".join(lines), catalogue)
    assert kinds(outline) == ["memory", "prose", *["tool"] * 5, "reply"]
    assert [step.arguments["title"] for step in outline.steps if step.tool] == ["0", "1", "2", "3", "4"]
    assert len(parse_outline("\n".join(lines), catalogue, max_steps=2).steps) == 5
    assert kinds(parse_outline("chatter\n" * 50, catalogue)) == ["prose"] * 5


def test_equal_writes_stay_in_the_plan(catalogue):
    """The executor merges equal writes and tells the person; the parser does not."""
    assert len(parse_outline("addTask title='x'\naddTask title='x'", catalogue).steps) == 2


def test_headings_and_rules_are_no_steps(catalogue):
    """What announces or separates a plan is not part of it."""
    text = "# Plan\n\nACTION PLAN:\n---\nThe steps are：\nwebSearch query='x'\n***\n"
    assert kinds(parse_outline(text, catalogue)) == ["tool"]


def test_optional_null_is_concrete_and_required_null_is_not(catalogue):
    """An unset optional may be null; a required value may not."""
    assert parse_step("getWeather place='x' day=None", catalogue).concrete
    assert not parse_step("getWeather place=None", catalogue).concrete


@pytest.mark.parametrize(
    "line",
    ["getWeather location='Paris'", "getWeather place='Paris' unit='C'", "getWeather day='x'", "getWeather"],
)
def test_unknown_or_missing_arguments_are_not_concrete(line, catalogue):
    """Keys must be declared and required ones be there, else the resolver has a look."""
    assert not parse_step(line, catalogue).concrete


def test_enum_values_fold_case_and_others_are_not_concrete(catalogue):
    """`OPEN` is `open` (the executor folds it); a value that is not listed is not concrete."""
    assert parse_step("listTasks status='OPEN'", catalogue).concrete
    assert not parse_step("listTasks status='closed'", catalogue).concrete


def test_placeholders_are_those_of_earlier_steps(catalogue):
    """N must be an earlier step; one of this or a later step makes the step not concrete and is no placeholder."""
    outline = parse_outline(
        "webSearch query='a'\nwebSearch query='b <c, from step 1>'\nwebSearch query='<d from step 3>'\n"
        "add numbers=[<n from step 1>, 2, '<n from step 2>']",
        catalogue,
    )
    assert [(step.placeholders, step.concrete) for step in outline.steps] == [
        ((), True), (("<c, from step 1>",), False), ((), False), (("<n from step 1>", "<n from step 2>"), False),
    ]  # fmt: skip
    text = parse_outline("webSearch query='<b>x</b> is a < b and c > d'", catalogue).steps[0]
    assert (text.concrete, text.placeholders) == (True, ())


def test_calls_of_a_models_own_form(catalogue):
    """Names and arguments give the same steps as text does."""
    outline = outline_of_calls(
        [
            ("searchMemory", {"topic": "t"}),
            ("addNote", {"title": "x", "tags": '["a"]'}),
            ("sendMail", {"to": "a"}),
            ("reply", {}),
        ],
        catalogue,
    )
    assert kinds(outline) == ["memory", "tool", "prose", "reply"]
    assert outline.steps[1].arguments == {"title": "x", "tags": ["a"]}
    assert outline.steps[1].concrete
    assert outline.steps[2].text == 'sendMail(to="a")'


def test_steps_survive_json(catalogue):
    """An outline is journaled as JSON and comes back the same."""
    outline = parse_outline(
        f"searchMemory topic='x'\naddNote title='<t from step 1>'\nlook\n{REPLY}", catalogue
    )
    assert Outline.from_list(json.loads(json.dumps(outline.to_list()))) == outline


def test_empty_lines_give_no_step(catalogue):
    """Nothing in, nothing out."""
    assert parse_outline(" \n\n\t", catalogue) == Outline()
    assert parse_step("", catalogue) == Step("", StepKind.PROSE)


def test_vocabulary_is_made_once_for_the_same_tools(catalogue):
    """Parsing every step must not sort and compile the names again; other tools get their own."""
    known = vocabulary(catalogue)
    assert vocabulary(catalogue) is known
    assert vocabulary(known) is known
    assert vocabulary([]) is not known
    for _ in range(40):
        Vocabulary(catalogue)
        vocabulary([next(iter(catalogue)), *list(catalogue)[:_]])
    assert vocabulary(catalogue).shapes.keys() == known.shapes.keys()


def test_reserved_words_win_over_tools_of_the_same_name():
    """A tool named `reply` or `searchMemory` cannot take the plan's own words."""
    from surefoot.models.types import ToolSpec

    tools_of_others = [ToolSpec("reply"), ToolSpec("searchMemory")]
    assert parse_step("reply()", tools_of_others).kind is StepKind.REPLY
    assert parse_step("searchMemory('x')", tools_of_others).kind is StepKind.MEMORY


def test_a_tool_may_be_named_like_a_reply():
    """A call of a tool named `answer` is a call; the sentence stays a reply."""
    from surefoot.models.types import ToolSpec

    odd = [ToolSpec("answer", "", {"type": "object", "properties": {"text": {"type": "string"}}})]
    assert parse_step("answer(text='x')", odd).tool == "answer"
    assert parse_step("answer text='x'", odd).tool == "answer"
    assert parse_step("answer the user", odd).kind is StepKind.REPLY


def test_tags_around_calls_are_dropped_and_those_in_values_stay(catalogue):
    """Tags of calls are markup only where a line starts or ends with one."""
    value = "x <tool_call> y </tool_call> z"
    assert parse_outline(f"addNote(title='{value}')", catalogue).steps[0].arguments == {"title": value}
    call = json.dumps(CALL)
    text = f"<tool_call>{call}</tool_call><tool_call>{call}</tool_call>\n[TOOL_CALLS] {call}"
    assert tools(parse_outline(text, catalogue)) == ["webSearch"] * 3
