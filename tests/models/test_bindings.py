"""What a bound argument can be: one of the names that there are, or words that stand in a text, and nothing else."""

from __future__ import annotations

import json
import random

import pytest

from models.gbnf import Grammar
from surefoot.errors import MisuseError
from surefoot.models._schema_rules import MAX_ITEMS, RuleBook, ValueRules
from surefoot.models._span_rules import MOST_WORDS, pieces_of, spans_rule
from surefoot.models.families.qwen2_5 import FAMILY
from surefoot.models.grammar import calls_grammar
from surefoot.models.local.requests import grammar_of
from surefoot.models.types import Binding, Message, Request, ToolChoice, ToolSpec

TEXT = {"type": "string"}
DONE = ToolSpec("completeTask", "", {"type": "object", "properties": {"task": TEXT}, "required": ["task"]})
ADD = ToolSpec(
    "addTask", "", {"type": "object", "properties": {"title": TEXT, "due": TEXT}, "required": ["title"]}
)
TAGS = ToolSpec(
    "addNote",
    "",
    {
        "type": "object",
        "properties": {"title": TEXT, "tags": {"type": "array", "items": TEXT}},
        "required": ["title"],
    },
)
PLACEHOLDER = "<the task, from step 1>"


def spans(*texts: str) -> Grammar:
    """The grammar of one row of words of these texts."""
    book = RuleBook()
    return Grammar.parse(book.text(spans_rule(book, texts)))


def calls(*tools: ToolSpec, **options: object) -> Grammar:
    return Grammar.parse(calls_grammar(tools, form=FAMILY.form, **options))  # type: ignore[arg-type]


def written(*made: tuple[str, dict[str, object]]) -> str:
    shown = [
        json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False) for name, arguments in made
    ]
    return "```json\n[" + ", ".join(shown) + "]\n```"


def due(grammar: Grammar, value: str) -> bool:
    return grammar.accepts(written(("addTask", {"title": "x", "due": value})))


@pytest.mark.parametrize(
    ("text", "copies", "others"),
    [
        (
            "Call the bank tomorrow, please!",
            ["tomorrow", "bank tomorrow", "tomorrow, please", "Call the bank tomorrow, please"],
            ["tomorrow,", "please!", "call", "Tomorrow", "the tomorrow", "tomor", "bank  tomorrow", ""],
        ),
        (
            "Zahnarzt am 3. Mai (um 17:30 Uhr)",
            ["am 3. Mai", "3. Mai", "um 17:30 Uhr", "3. Mai (um 17:30"],
            ["(um 17:30 Uhr)", "3 Mai", "Mai um", "Uhr)"],
        ),
        (
            "avant d'aujourd'hui ou l’après-midi",
            ["aujourd'hui", "d'aujourd'hui", "après-midi", "l’après-midi", "aujourd'hui ou l’après-midi"],
            ["hui", "l'après-midi", "midi"],
        ),
        ("le jour qu'arrive Zoé", ["qu'arrive", "arrive Zoé"], ["u'arrive", "rrive"]),
        ("¡llama mañana «a las 3»!", ["mañana", "a las 3", "mañana «a las 3"], ["3»", "manana"]),
        ("on the 3.", ["3.", "the 3."], ["3"]),
        (
            "明天下午，三点提醒我",
            ["明天", "明天下午", "三点", "下午，三点", "我"],
            ["明下", "，三点", "下午三点"],
        ),
        ("3月5日に買う", ["3月5日", "5日", "買う"], ["35", "月 5"]),
        ("see you Friday …", ["Friday"], ["…", "Friday …"]),
    ],
)
def test_a_copy_is_words_in_a_row_as_they_stand_there(
    text: str, copies: list[str], others: list[str]
) -> None:
    """From a word to a word; marks between them are kept, those around them and other spellings are none of it."""
    grammar = spans(text)
    assert [one for one in copies if not grammar.accepts(one)] == []
    assert [one for one in others if grammar.accepts(one)] == []


@pytest.mark.parametrize(
    ("text", "copies", "others"),
    [
        ('the "old" flat', ["the", "old", "flat"], ['the "old', "old flat", 'old" flat']),
        ("today\nor tomorrow", ["today", "or tomorrow"], ["today\nor", "today or"]),
        ("today a\\b tomorrow", ["today", "tomorrow"], ["a\\b", "today a", "today  tomorrow", "a"]),
        ("<x> friday", ["friday"], ["<x>", "x", "<x> friday"]),
        ("a<b friday", ["friday"], ["a<b"]),
        ("by\tfriday", ["by", "friday"], ["by\tfriday"]),
        ("am\udcc3 freitag", ["freitag"], ["am\udcc3"]),
    ],
)
def test_no_copy_goes_over_what_json_would_escape(text: str, copies: list[str], others: list[str]) -> None:
    """Quotation marks, line ends, backslashes, lone surrogates, and angles that begin a placeholder."""
    book = RuleBook()
    source = book.text(spans_rule(book, [text]))
    source.encode()
    grammar = Grammar.parse(source)
    assert [one for one in copies if not grammar.accepts(one)] == []
    assert [one for one in others if grammar.accepts(one)] == []


@pytest.mark.parametrize("texts", [[], [""], ["  \n"], ["?! … «»"], ["<x>"]])
def test_without_a_word_there_is_no_rule(texts: list[str]) -> None:
    """Nothing can be copied."""
    book = RuleBook()
    assert spans_rule(book, texts) == ""
    assert book.text("x") == "root ::= x\n"


def test_a_copy_stays_inside_one_text() -> None:
    """The end of the request does not run into a title."""
    grammar = spans("on friday", "Dentist visit")
    assert grammar.accepts("friday")
    assert grammar.accepts("Dentist visit")
    assert not grammar.accepts("friday Dentist")


def test_a_long_text_is_cut() -> None:
    """The words of all texts together are bounded, the first are kept."""
    grammar = spans(" ".join(f"w{n}" for n in range(MOST_WORDS - 1)), "last lost")
    assert grammar.accepts("w0 w1")
    assert grammar.accepts("last")
    assert not grammar.accepts("lost")
    assert not grammar.accepts("last lost")


def test_pieces_know_what_stands_between_them() -> None:
    """A gap is text, nothing at all between Han characters, or None where no copy crosses."""
    assert pieces_of('a, (b) 明天 "c"') == [("a", ", ("), ("b", ") "), ("明", ""), ("天", None), ("c", None)]


TITLES = (
    "Buy milk",
    'Say "hi"',
    "C:\\temp",
    "two\nlines",
    "Müll raus",
    "牛奶",
    "tab\there",
    "\udcff",
    "{[|]}",
)


def test_only_the_names_that_there_are_can_be_named() -> None:
    """Quotes, backslashes and line ends of a title are spelled as JSON spells them."""
    grammar = calls(DONE, bindings={"completeTask": {"task": Binding(texts=(*TITLES, "Buy milk"))}})
    for title in TITLES:
        shown = written(("completeTask", {"task": title}))
        assert grammar.accepts(shown.replace("\udcff", "\\udcff")), title
    for other in ("buy milk", "Buy", "Buy milk ", "", "Buy milk, Müll raus", PLACEHOLDER):
        assert not grammar.accepts(written(("completeTask", {"task": other}))), other
    source = calls_grammar([DONE], form=FAMILY.form, bindings={"completeTask": {"task": Binding(TITLES)}})
    source.encode()


def test_whatever_is_written_reads_back_as_one_of_the_names() -> None:
    """Random sentences of the grammar are JSON, and their argument is a title or a copy."""
    rng = random.Random(5)
    said = 'remind me tomorrow, at "five" or d\'ici vendredi'
    bindings = {
        "completeTask": {"task": Binding(texts=TITLES)},
        "addTask": {"due": Binding(spans=(said,))},
    }
    grammar = calls(DONE, ADD, bindings=bindings, choice=ToolChoice("required"))
    seen = set()
    for _ in range(200):
        (*_, inner, _) = grammar.sentence(rng, long=1).split("\n")
        for call in json.loads(inner):
            seen.add(call["name"])
            if call["name"] == "completeTask":
                assert call["arguments"]["task"] in TITLES
            for word in call["arguments"].get("due", "").split():
                assert word.strip(",") in said
    assert seen == {"completeTask", "addTask"}


@pytest.mark.parametrize(
    ("said", "right", "wrong"),
    [
        (
            "Call Rosa on Friday, not at home but at 5 pm",
            ["Friday", "Friday 5 pm", "on Friday at 5 pm", "Friday at 5 pm"],
            ["2026-12-04", "Saturday", "next Friday", "pm 5 but Friday", ""],
        ),
        ("am Freitag, wie immer um 8", ["Freitag um 8", "am Freitag um 8"], ["Samstag", "am freitag"]),
        ("vendredi, chez moi, à midi", ["vendredi à midi"], ["samedi", "demain"]),
        ("el viernes en casa a las tres", ["viernes a las tres"], ["sábado", "viernes a las cuatro"]),
    ],
)
def test_a_date_is_up_to_three_rows_of_words(said: str, right: list[str], wrong: list[str]) -> None:
    """A day and a time may stand apart; no date is worked out."""
    grammar = calls(ADD, bindings={"addTask": {"due": Binding(spans=(said,))}})
    assert [one for one in right if not due(grammar, one)] == []
    assert [one for one in wrong if due(grammar, one)] == []


def test_never_more_than_three_rows() -> None:
    """Four words that do not stand together are no date any more."""
    grammar = calls(ADD, bindings={"addTask": {"due": Binding(spans=("a x b x c x d",))}})
    assert due(grammar, "a b c")
    assert not due(grammar, "a b c d")


def test_names_and_copies_may_be_offered_together() -> None:
    """Either is right."""
    grammar = calls(ADD, bindings={"addTask": {"due": Binding(texts=("2026-12-01",), spans=("on friday",))}})
    assert due(grammar, "2026-12-01")
    assert due(grammar, "friday")
    assert not due(grammar, "2026-12-01 friday")


def test_other_arguments_are_as_free_as_before() -> None:
    """A binding of one argument says nothing about the next, or about another tool's argument of that name."""
    grammar = calls(ADD, TAGS, bindings={"addTask": {"due": Binding(spans=("on friday",))}, "gone": {}})
    assert grammar.accepts(written(("addTask", {"title": "Anything at all"})))
    assert grammar.accepts(written(("addNote", {"title": "on friday", "tags": ["x"]})))


def test_a_list_is_a_list_of_copies() -> None:
    """At least one, at most as many as any list."""
    grammar = calls(TAGS, bindings={"addNote": {"tags": Binding(spans=("tag it home and garden",))}})

    def tags(*found: str) -> bool:
        return grammar.accepts(written(("addNote", {"title": "x", "tags": list(found)})))

    assert tags("home")
    assert tags("home", "garden")
    assert tags(*["home"] * MAX_ITEMS)
    assert not tags(*["home"] * (MAX_ITEMS + 1))
    assert not tags()
    assert not tags("house")
    assert not grammar.accepts(written(("addNote", {"title": "x", "tags": "home"})))


def test_an_optional_argument_without_a_value_is_left_out() -> None:
    """Nothing was said that could be a date; the task can be made all the same."""
    grammar = calls(ADD, bindings={"addTask": {"due": Binding(spans=("?!",)), "unknown": Binding()}})
    assert grammar.accepts(written(("addTask", {"title": "x"})))
    assert not due(grammar, "")
    assert not due(grammar, "friday")


def test_an_optional_argument_without_a_value_may_come_from_an_earlier_step() -> None:
    """The first call has none before it."""
    grammar = calls(ADD, bindings={"addTask": {"due": Binding()}}, placeholders=True)
    assert not due(grammar, PLACEHOLDER)
    later = written(("addTask", {"title": "x"}), ("addTask", {"title": "y", "due": PLACEHOLDER}))
    assert grammar.accepts(later)
    assert not grammar.accepts(later.replace(PLACEHOLDER, "friday"))


def test_a_tool_that_nothing_can_be_named_for_is_not_called_first() -> None:
    """There is no task to be done; behind another call it may be the one that this makes."""
    bound = {"completeTask": {"task": Binding()}}
    grammar = calls(DONE, ADD, bindings=bound, placeholders=True)
    assert not grammar.accepts(written(("completeTask", {"task": "x"})))
    assert not grammar.accepts(written(("completeTask", {"task": PLACEHOLDER})))
    made = written(("addTask", {"title": "x"}), ("completeTask", {"task": PLACEHOLDER}))
    assert grammar.accepts(made)
    assert not grammar.accepts(made.replace(PLACEHOLDER, "x"))
    assert not calls(DONE, ADD, bindings=bound).accepts(made)


def test_a_name_may_come_from_an_earlier_step_too() -> None:
    """Behind the first call a placeholder stands beside the names."""
    grammar = calls(
        DONE, bindings={"completeTask": {"task": Binding(texts=("Buy milk",))}}, placeholders=True
    )
    first = ("completeTask", {"task": "Buy milk"})
    assert grammar.accepts(written(first, first))
    assert grammar.accepts(written(first, ("completeTask", {"task": PLACEHOLDER})))
    assert not grammar.accepts(written(("completeTask", {"task": PLACEHOLDER})))


@pytest.mark.parametrize("placeholders", [False, True])
@pytest.mark.parametrize("most", [1, 5])
def test_where_no_tool_is_left_there_is_prose(placeholders: bool, most: int) -> None:
    """No rule is empty: an answer in words is all that can be written."""
    source = calls_grammar(
        [DONE],
        form=FAMILY.form,
        bindings={"completeTask": {"task": Binding()}},
        placeholders=placeholders,
        max_calls=most,
    )
    assert all(line.partition("::=")[2].strip() for line in source.strip().split("\n"))
    grammar = Grammar.parse(source)
    assert grammar.accepts("There is no open task.")
    assert not grammar.accepts(written(("completeTask", {"task": "x"})))


@pytest.mark.parametrize("choice", [ToolChoice("required"), ToolChoice(name="completeTask")])
def test_a_call_that_must_be_made_and_cannot_is_said(choice: ToolChoice) -> None:
    """Before the model is asked."""
    with pytest.raises(MisuseError, match="no tool may be called"):
        calls(DONE, choice=choice, bindings={"completeTask": {"task": Binding()}})


@pytest.mark.parametrize("bindings", [None, {}, {"addTask": {}}, {"other": {"due": Binding(("x",))}}])
def test_empty_bindings_bind_nothing(bindings: dict[str, dict[str, Binding]] | None) -> None:
    """The grammar is the one without them."""
    assert calls_grammar([ADD], form=FAMILY.form, bindings=bindings) == calls_grammar([ADD], form=FAMILY.form)


def test_every_rule_is_mentioned_and_there() -> None:
    """No rule that is missing, in a grammar of all sorts of bindings."""
    grammar = calls(
        ADD,
        DONE,
        TAGS,
        placeholders=True,
        bindings={
            "addTask": {"due": Binding(spans=("on friday",))},
            "completeTask": {"task": Binding()},
            "addNote": {"tags": Binding(spans=("home",)), "title": Binding(texts=("A", "B"))},
        },
    )
    assert grammar.used() <= set(grammar.rules)


def test_the_same_rule_is_not_offered_twice() -> None:
    """Where only a placeholder is left, it is the one way to write it."""
    source = calls_grammar(
        [ADD, DONE], form=FAMILY.form, bindings={"completeTask": {"task": Binding()}}, placeholders=True
    )
    assert "placeholder | placeholder" not in source


@pytest.mark.parametrize("schema", [True, {}, {"type": "string"}, {"enum": ["a"]}])
def test_a_bound_member_is_its_rule_whatever_its_schema(schema: object) -> None:
    """Required and optional ones; the name of the rule stands for the schema."""
    book = RuleBook()
    rules = ValueRules(book, {}, bound={"key": "mine"})
    for required in ([], ["key"]):
        found = rules.members({"properties": {"key": schema, "free": {"type": "null"}}, "required": required})
        assert ("key", "mine", bool(required)) in found


def test_a_request_to_the_embedded_model_carries_its_bindings() -> None:
    """What is asked is what binds the sampler."""
    bound = {"completeTask": {"task": Binding(texts=("Buy milk",))}}
    request = Request((Message("user", "done"),), tools=(DONE,), bindings=bound)
    grammar = Grammar.parse(grammar_of(request, FAMILY))
    assert grammar.accepts(written(("completeTask", {"task": "Buy milk"})))
    assert not grammar.accepts(written(("completeTask", {"task": "Buy bread"})))
    assert Request((Message("user", "x"),)).bindings == {}
    assert Binding() == Binding((), ())


def test_a_list_of_a_known_length() -> None:
    """Exactly as many items as were asked for; a name that is no argument changes nothing."""
    grammar = calls(TAGS, bindings={"addNote": {"tags": Binding(items=2), "gone": Binding(items=3)}})

    def takes(*tags: str) -> bool:
        return grammar.accepts(written(("addNote", {"title": "x", "tags": list(tags)})))

    assert takes("a", "b")
    assert not takes("a")
    assert not takes("a", "b", "c")
    one_row = calls(ADD, bindings={"addTask": {"due": Binding(spans=("friday at five",), rows=1)}})
    assert due(one_row, "at five")
    assert not due(one_row, "five friday")
