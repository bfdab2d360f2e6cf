"""A catalogue like the built-in kits', and odd tools that other programs bring."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot.settings import Settings
from surefoot.tools.catalogue import Catalogue

TEXT = {"type": "string"}


def schema(name: str, required: str = "", description: str = "", **properties: Any) -> dict[str, Any]:
    """A function schema; a property given as a text is of that type."""
    shown = {key: {"type": part} if isinstance(part, str) else part for key, part in properties.items()}
    parameters = {"type": "object", "properties": shown, "required": required.split()}
    return {"name": name, "description": description or f"What {name} does.", "parameters": parameters}


SCHEMAS = [
    schema("addNote", "title", title="string", text="string", tags={"type": "array", "items": TEXT}),
    schema("listNotes", search="string", tag="string"),
    schema("tagNote", "note tag", note="string", tag="string"),
    schema("addTask", "title", title="string", due="string"),
    schema(
        "listTasks",
        since="string",
        until="string",
        status={"type": "string", "enum": ["open", "done", "all"]},
    ),
    schema("writeFile", "path text", path="string", text="string"),
    schema("fetchPage", "url", url={"type": "string", "format": "uri"}),
    schema("webSearch", "query", query="string"),
    schema("getWeather", "place", place="string", day="string"),
    schema("f", units="string", q="string", n="integer", x="number", exact="boolean"),
    schema("add", "numbers", numbers={"type": "array", "items": {"type": "number"}}),
    schema("move", "to", to={"type": "object", "properties": {"x": {"type": "integer"}, "who": TEXT}}),
    schema("chrome-devtools__navigate_page", "url", url="string"),
    schema("chrome-devtools__navigate", "url", url="string"),
    schema("math.factorial", "number", number="integer"),
    schema("anything"),
    schema("search", "for", **{"for": "string"}),
]


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    """The tools of `SCHEMAS`."""
    return Catalogue.from_function_schemas(SCHEMAS)


@pytest.fixture
def settings() -> Settings:
    """The defaults."""
    return Settings()
