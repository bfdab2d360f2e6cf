"""What is taken out of a plan: any text, never an error, never a step more."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from hypothesis import example, given, settings
from hypothesis import strategies as st

from surefoot.planning.grounding import Ground, grounded
from surefoot.planning.outline import Outline
from surefoot.planning.parse import outline_of_calls
from surefoot.planning.things import Thing
from surefoot.planning.vocabulary import vocabulary
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

TOOLS = Catalogue(builtin())
KNOWN = vocabulary(TOOLS)
NOW = datetime(2026, 5, 4, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))
SENTENCE = (
    "move the dentist to Friday at nine a.m. 3 May until noon verschieb Zaun morgen um halb vier bis demain à midi "
    "mañana las cuatro y media antes de la boda two days before Tea ? . , ! ¿ 医者 明日 <x> \u0130 \u00df"
)
WORDS = st.sampled_from(SENTENCE.split())
SAID = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=20).map(" ".join))
TITLES = st.one_of(st.sampled_from(["Dentist", "Zaun streichen", "Tea", "Thé"]), st.text(max_size=12))
THINGS = st.lists(
    st.builds(
        Thing,
        st.sampled_from(["task", "event", "note"]),
        TITLES,
        st.none() | st.dates(NOW.date().replace(year=2025), NOW.date().replace(year=2027)),
        SAID,
    ),
    max_size=4,
)
VALUES = st.one_of(SAID, TITLES, st.sampled_from(["<each task id from step 1>", "friday", "noon"]))
TOOL_NAMES = st.sampled_from([tool.name for tool in TOOLS if tool.kit in {"tasks", "calendar", "notes"}])


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    """A call of a built-in tool with some of its arguments."""
    tool = TOOLS.get(draw(TOOL_NAMES))
    keys = draw(st.lists(st.sampled_from(sorted(tool.parameters["properties"])), unique=True))
    return tool.name, {
        key: draw(st.lists(VALUES, max_size=2)) if key == "tags" else draw(VALUES) for key in keys
    }


LANGUAGES = st.sampled_from(["en", "de", "fr", "es", "ja", "", "xx"])


@settings(max_examples=60, deadline=None)
@given(SAID, SAID, st.lists(calls(), max_size=5), THINGS, LANGUAGES, st.booleans())
@example("", "", [("addTask", {"title": "x", "due": "friday"})], [], "en", True)
@example("9999-12-31", "", [("addTask", {"title": "x", "due": "9999-12-31"})], [], "en", True)
def test_any_plan_is_grounded_and_no_step_is_added(said, talk, planned, things, language, timed):
    """Whatever was said and planned; a plan that was grounded once is an outline as any other."""
    known = [f'{thing.kind} "{thing.title}"' for thing in things]
    outline = outline_of_calls(planned, KNOWN, 9)
    ground = Ground(said, talk, known, things, NOW if timed else None, language)
    found = grounded(outline, TOOLS, ground)
    assert isinstance(found, Outline)
    assert len(found.steps) <= len(outline.steps)
    assert {step.kind for step in found.steps} <= {step.kind for step in outline.steps}
    assert len(grounded(found, TOOLS, ground).steps) <= len(found.steps)
