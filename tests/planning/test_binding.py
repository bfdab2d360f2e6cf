"""What arguments may be is told to the grammar by tool and argument."""

from __future__ import annotations

from surefoot.models.types import Binding
from surefoot.planning.binding import bindings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

TOOLS = Catalogue(builtin())
SAID = ["Zahnarzt am Freitag", "Flug nach Málaga"]
COPIED = Binding(spans=("Zahnarzt am Freitag", "Flug nach Málaga"))


def test_dates_places_and_tags_are_copied():
    """From the request and the titles that a date may hang on."""
    found = bindings(TOOLS, {}, SAID)
    assert found["addEvent"] == {"start": COPIED, "end": COPIED, "place": COPIED}
    assert found["addNote"] == {"tags": COPIED}
    assert found["listTasks"] == {"since": COPIED, "until": COPIED}
    assert all(set(keys) <= set(TOOLS.get(name).parameters["properties"]) for name, keys in found.items())


def test_names_of_what_there_is_are_the_only_ones():
    """Beside what is copied; no name at all is a binding too, that no name fits."""
    found = bindings(TOOLS, {"tagNote": {"note": ["Tee", "Café"]}, "completeTask": {"task": []}}, SAID)
    assert found["tagNote"] == {"note": Binding(texts=("Tee", "Café")), "tag": COPIED}
    assert found["completeTask"] == {"task": Binding()}


def test_an_argument_that_may_be_anything_is_not_bound():
    """Too many names to list, or no rule for the tool."""
    found = bindings(TOOLS, {"tagNote": {"note": None}, "deleteNote": {"note": None}}, SAID)
    assert found["tagNote"] == {"tag": COPIED}
    assert "deleteNote" not in found
    assert "listNotes" not in found


def test_foreign_tools_are_free():
    """They say nothing about their arguments."""
    schema = {
        "name": "forecast",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
    assert bindings(Catalogue.from_function_schemas([schema]), {}, SAID) == {}


def test_names_win_over_copied_words():
    """An argument that is copied can be narrowed to names."""
    found = bindings(TOOLS, {"tagNote": {"tag": ["home"]}}, SAID)
    assert found["tagNote"] == {"tag": Binding(texts=("home",))}
