"""`@tool`: what becomes of a typed function, and which functions cannot become a tool."""

from __future__ import annotations

import asyncio
import enum
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from surefoot.errors import ArgumentError, ToolDefinitionError, ToolError
from surefoot.tools import Catalogue, prepare, tool
from surefoot.tools.types import Context, Effect, Undo

from .harness import context

UNDO = Undo(lambda ctx, arguments: None, lambda ctx, arguments, image: None)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    title: str
    lines: list[str] = []


@dataclass
class Point:
    x: int
    y: int = 0


class Pair(TypedDict):
    left: str
    right: int


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


def greet(name: str, times: int = 1) -> str:
    """Greet somebody.

    Args:
        name: whom to greet.
        times: how often.
    """
    return f"hello {name} " * times


def test_bare_and_with_arguments():
    """Both spellings make a tool, and the function stays callable."""
    bare = tool(greet)
    given = tool(name="sayHello", effect="read", kit="talk", aliases=("hi",), timeout=3, max_calls=2)(greet)
    assert bare("Ann", 2) == given("Ann", times=2) == greet("Ann", 2)
    assert (bare.name, given.name) == ("greet", "sayHello")
    assert (given.kit, given.aliases, given.timeout, given.max_calls) == ("talk", ("hi",), 3, 2)
    assert given.__wrapped__ is greet


def test_schema_from_annotations_and_docstring():
    """Types, descriptions, defaults and what is required; nothing else."""
    assert tool(greet).parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "whom to greet."},
            "times": {"type": "integer", "description": "how often.", "default": 1},
        },
        "required": ["name"],
    }
    assert tool(greet).description == "Greet somebody."


def test_no_stated_effect_is_external():
    """What does not say that it is harmless asks first."""
    assert tool(greet).effect is Effect.EXTERNAL


def test_write_without_undo_is_refused():
    """A write must say how it is taken back, at definition."""
    with pytest.raises(ToolDefinitionError, match="greet is a write"):
        tool(effect="write")(greet)
    assert tool(effect="write", undo=UNDO)(greet).effect is Effect.WRITE


@pytest.mark.parametrize("effect", ["read", "external"])
def test_undo_needs_a_write(effect: str):
    """An undo beside another effect is a contradiction."""
    with pytest.raises(ToolDefinitionError, match="has an undo"):
        tool(effect=effect, undo=UNDO)(greet)


def test_undo_must_be_an_undo():
    """A bare function is no undo."""
    with pytest.raises(ToolDefinitionError, match="undo is"):
        tool(effect="write", undo=greet)(greet)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["", "1st", "a b", "naïve", "x" * 65, "a/b", "-a"])
def test_bad_names_are_refused(name: str):
    """Names that a provider would refuse are refused at once, with the name."""
    with pytest.raises(ToolDefinitionError) as caught:
        tool(name=name)(greet)
    assert repr(name) in caught.value.message


@pytest.mark.parametrize(
    "name", ["addNote", "chrome-devtools__navigate_page", "calendar.createEvent", "x" * 64]
)
def test_foreign_names_are_taken(name: str):
    """Hyphens, dots and underscores occur in names from elsewhere."""
    assert tool(name=name)(greet).name == name


def test_a_nameless_function_needs_a_name():
    """A lambda has no name of its own that could be used."""
    with pytest.raises(ToolDefinitionError, match="lambda"):
        tool(lambda: 1)
    assert tool(name="one")(lambda: 1)() == 1


def _star(*names: str) -> None: ...


def _stars(**names: str) -> None: ...


def _bare(name) -> None: ...


def _positional(name: str, /) -> None: ...


def _two_contexts(ctx: Context, other: Context) -> None: ...


def _opaque(value: asyncio.Lock) -> None: ...


def _unknown(value: Nowhere) -> None: ...  # noqa: F821 - that is the point


@pytest.mark.parametrize(
    ("fn", "named"),
    [
        (_star, "names"),
        (_stars, "names"),
        (_bare, "name"),
        (_positional, "name"),
        (_two_contexts, "other"),
        (_opaque, "_opaque"),
        (_unknown, "Nowhere"),
    ],
)
def test_functions_that_cannot_be_described(fn: Any, named: str):
    """The message names the parameter, and says what to do."""
    with pytest.raises(ToolDefinitionError) as caught:
        tool(fn)
    assert named in caught.value.message
    assert caught.value.next_move


def test_unknown_effect_and_place():
    """Words that mean nothing are refused with the words that do."""
    with pytest.raises(ToolDefinitionError, match="'maybe' is no effect"):
        tool(effect="maybe")(greet)
    with pytest.raises(ToolDefinitionError, match="where is 'moon'"):
        tool(where="moon")(greet)  # type: ignore[call-overload]


async def slow(name: str) -> str:
    """Wait."""
    await asyncio.sleep(0)
    return name


@pytest.mark.parametrize(("fn", "where"), [(slow, "thread"), (slow, "writer"), (greet, "loop")])
def test_async_runs_on_the_loop_and_nothing_else_does(fn: Any, where: Any):
    """The place must fit the function."""
    with pytest.raises(ToolDefinitionError):
        tool(where=where)(fn)


async def test_async_function(tmp_path: Path):
    """An async function gives an awaitable, by both ways of calling it."""
    made = tool(slow)
    assert made.where == "loop"
    assert await made("a") == "a"
    assert await made.invoke(context(tmp_path), {"name": "b"}) == "b"


def with_context_first(ctx: Context, title: str) -> str:
    return f"{ctx.run}:{title}"


def with_context_last(title: str, where_it_runs: Context | None = None) -> str:
    return f"{where_it_runs.run if where_it_runs else '-'}:{title}"


@pytest.mark.parametrize("fn", [with_context_first, with_context_last])
def test_context_is_injected_by_annotation(fn: Any, tmp_path: Path):
    """Wherever it stands and whatever it is called, it is given and not in the schema."""
    made = tool(fn)
    assert list(made.parameters["properties"]) == ["title"]
    assert made.wants_context
    assert made.invoke(context(tmp_path), {"title": "x"}) == "r1:x"


def everything(
    colour: Colour,
    kind: Literal["a", "b"],
    point: Point,
    pair: Pair,
    address: Address,
    numbers: list[int],
    table: dict[str, float],
    anything: Any,
    maybe: str | None = None,
    limit: int | None = 10,
    title: Annotated[str, "the heading"] = "",
    *,
    size: Annotated[int, Field(ge=1, description="how big")] = 1,
    either: int | bool = 3,
) -> list[Any]:
    return [colour, kind, point, pair, address, numbers, table, anything, maybe, limit, title, size, either]


def test_schema_is_plain_and_small():
    """Definitions inlined, no made-up titles, a parameter and a field named title kept, None by default not shown."""
    properties = tool(everything).parameters["properties"]
    assert properties["colour"] == {"enum": ["red", "blue"], "type": "string"}
    assert properties["kind"] == {"enum": ["a", "b"], "type": "string"}
    assert properties["address"]["properties"]["title"] == {"type": "string"}
    assert properties["pair"]["required"] == ["left", "right"]
    assert properties["point"]["properties"]["x"] == {"type": "integer"}
    assert properties["numbers"] == {"type": "array", "items": {"type": "integer"}}
    assert properties["maybe"] == {"type": "string"}
    assert properties["limit"] == {"type": ["integer", "null"], "default": 10}
    assert properties["title"] == {"type": "string", "description": "the heading"}
    assert properties["size"] == {"type": "integer", "minimum": 1, "description": "how big", "default": 1}
    assert properties["either"] == {"type": ["integer", "boolean"], "default": 3}
    assert "$defs" not in tool(everything).parameters
    assert "'title': 'Colour'" not in str(tool(everything).parameters)


def test_values_arrive_as_the_functions_own_types(tmp_path: Path):
    """JSON becomes an enum member, a dataclass, a model."""
    made = tool(effect="read")(everything)
    arguments, _ = prepare(
        made,
        {
            "colour": "RED",
            "kind": "b",
            "point": {"x": "1"},
            "pair": {"left": "l", "right": 2},
            "address": {"title": "t"},
            "numbers": [1],
            "table": {"a": 1.5},
            "anything": None,
        },
    )
    assert "anything" not in arguments or arguments["anything"] is None
    colour, kind, point, pair, address, *_ = made.invoke(context(tmp_path), {**arguments, "anything": 7})
    assert (colour, kind, point, pair) == (Colour.RED, "b", Point(1), {"left": "l", "right": 2})
    assert address == Address(title="t")


class Node(BaseModel):
    edges: list[Edge] = []
    label: str = ""


class Edge(BaseModel):
    to: Node | None = None
    weight: dict[str, Any] = {}


def walk(node: Node, start: Edge) -> int:
    return len(node.edges)


def test_types_that_refer_to_each_other():
    """Both stay definitions; what hangs on them is plain."""
    parameters = tool(walk).parameters
    assert sorted(parameters["$defs"]) == ["Edge", "Node"]
    assert "'title'" not in str(parameters)
    assert prepare(tool(walk), {"node": {"edges": [{"weight": {"a": 1}}]}, "start": {}})[0]["start"] == {}


def grow(tree: Tree) -> str:
    return tree.children[0].name


def test_recursive_types_keep_a_definition(tmp_path: Path):
    """What refers to itself cannot be inlined, and still works."""
    made = tool(grow)
    assert list(made.parameters["$defs"]) == ["Tree"]
    arguments, _ = prepare(made, {"tree": {"name": "a", "children": [{"name": "b"}]}})
    assert made.invoke(context(tmp_path), arguments) == "b"


def even(number: Annotated[int, Field(multiple_of=2)], pairs: list[tuple[int, str]] | None = None) -> int:
    return number


def test_a_value_its_type_refuses_is_an_argument_error(tmp_path: Path):
    """What the schema cannot say is checked by the type, with the value in the message."""

    def strict(point: Point) -> int:
        return point.x

    made = tool(strict)
    with pytest.raises(ArgumentError) as caught:
        made.invoke(context(tmp_path), {"point": {"x": "many"}})
    assert "point.x is 'many'" in caught.value.message
    assert caught.value.details["problems"]
    assert tool(even).parameters["properties"]["number"]["multipleOf"] == 2


def meet(day: date, at: datetime, until: Annotated[datetime, "the end"] | None = None) -> list[Any]:
    return [day, at, until]


def test_dates_stay_text_for_the_model_and_are_read_for_the_function(tmp_path: Path):
    """As the person says them, in the person's zone."""
    made = tool(effect="read")(meet)
    assert made.parameters["properties"]["day"] == {"type": "string"}
    day, at, until = made.invoke(context(tmp_path), {"day": "tomorrow", "at": "3 May 2027 5pm"})
    assert (day, at.isoformat(), until) == (date(2026, 12, 1), "2027-05-03T17:00:00+02:00", None)
    now = datetime(2027, 1, 1)  # noqa: DTZ001 - handed through as it is
    assert made.invoke(context(tmp_path), {"day": "tomorrow", "at": now})[1] is now
    with pytest.raises(ToolError, match="'whenever' cannot be read"):
        made.invoke(context(tmp_path), {"day": "whenever", "at": "now"})


def odd_docs(a: str) -> None:
    """First line.

    Args:
      a: what it is
      :::
    """


def no_docs(a: str) -> None: ...


def test_descriptions():
    """A given one wins; without any there is none."""
    assert tool(description="other")(greet).description == "other"
    assert tool(no_docs).description == ""
    assert tool(odd_docs).description.startswith("First line")


def test_a_tool_without_parameters_takes_none(tmp_path: Path):
    """What a model invents for it is left out, with a notice."""

    def ping() -> str:
        """Answer."""
        return "pong"

    made = tool(effect="read")(ping)
    arguments, notices = prepare(made, {"loud": True})
    assert arguments == {}
    assert "loud" in notices[0]
    assert made.invoke(context(tmp_path), arguments) == "pong"


def test_tools_of_functions_fit_a_catalogue():
    """They are tools like any other."""
    assert Catalogue([tool(greet)]).names == ("greet",)
    assert tool(greet).spec.parameters == tool(greet).parameters
