"""The steps a flow is made of: one definition, from which reading, writing, checking, the schema and the guide come.

A step says what to reach, never how: it holds no selectors, coordinates or shortcuts. In JSON a step is a text (a `Do`)
or an object with one key, the kind's name, whose value is a text or an object of the kind's parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias


class PartType(StrEnum):
    """What stands in a part of a step, and so what may stand there."""

    TEXT = "text"
    """Words for the person and the page, `${name}` of shared facts and variables included."""
    APP = "app"
    """The name of an application."""
    ADDRESS = "address"
    """A web address, with or without `https://`."""
    LABEL = "label"
    """What a control shows, letter for letter; never a description of it."""
    CONDITION = "condition"
    """A sentence that holds on a screen or does not."""
    VARIABLE = "variable"
    """The name of a variable that the step fills: letters, digits and `_`."""
    SLOTS = "slots"
    """An object: the description of a field to the text that goes into it; the one place for secrets."""
    STEPS = "steps"
    """A list of steps, one at least."""
    ROUNDS = "rounds"
    """A whole number of rounds."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a step: its JSON key (empty where it is the whole value), its type and one sentence about it."""

    key: str
    attribute: str
    type: PartType
    meaning: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of step: `example` is the whole step as JSON, and a valid one."""

    name: str
    make: type[Any]
    parts: tuple[Part, ...]
    meaning: str
    example: Any
    surface: str = ""
    """The surface it needs: `browser`, `desktop`, or empty where either will do."""

    @property
    def plain(self) -> bool:
        """Its value is no object of parts but the one part itself."""
        return not self.parts[0].key


@dataclass(frozen=True, slots=True)
class Do:
    """Reach the described state. `bare`: written as a text alone instead of `{"do": text}`."""

    text: str
    bare: bool = True


@dataclass(frozen=True, slots=True)
class Open:
    """Launch an application or bring it forward."""

    app: str


@dataclass(frozen=True, slots=True)
class Browse:
    """Go to an address in the browser."""

    address: str


@dataclass(frozen=True, slots=True)
class Enter:
    """Put each text into the field its slot describes."""

    slots: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Choose:
    """Pick the option with that label."""

    what: str
    option: str


@dataclass(frozen=True, slots=True)
class Read:
    """Store visible text in a variable."""

    what: str
    into: str


@dataclass(frozen=True, slots=True)
class Extract:
    """Store every item of a list as rows."""

    what: str
    into: str


@dataclass(frozen=True, slots=True)
class Pick:
    """Rank a list of results, open the best, store its text."""

    source: str
    by: str
    into: str | None = None


@dataclass(frozen=True, slots=True)
class Verify:
    """Fail unless the condition holds on the current screen."""

    condition: str


@dataclass(frozen=True, slots=True)
class WaitFor:
    """Wait until the condition holds."""

    condition: str


@dataclass(frozen=True, slots=True)
class StopBefore:
    """Find an irreversible control and stop in front of it."""

    action: str


@dataclass(frozen=True, slots=True)
class RepeatUntil:
    """Repeat the steps until the condition holds, 1 to `max` rounds."""

    condition: str
    steps: tuple[Step, ...]
    max: int


@dataclass(frozen=True, slots=True)
class If:
    """Take one branch or the other; without `otherwise`, the first or none."""

    condition: str
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...] | None = field(default=None)


Step: TypeAlias = (
    Do
    | Open
    | Browse
    | Enter
    | Choose
    | Read
    | Extract
    | Pick
    | Verify
    | WaitFor
    | StopBefore
    | RepeatUntil
    | If
)

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "do",
            Do,
            (Part("", "text", PartType.TEXT, "the state to reach, in one sentence"),),
            "reach the described state; it presses, scrolls and waits as needed. A step that is only a text is a `do`",
            "search for flights",
        ),
        Kind(
            "open",
            Open,
            (Part("", "app", PartType.APP, "the application's name"),),
            "launch a desktop application or bring it forward",
            {"open": "LibreOffice Writer"},
            surface="desktop",
        ),
        Kind(
            "browse",
            Browse,
            (Part("", "address", PartType.ADDRESS, "the web address"),),
            "go to the address in the browser; later steps act on that page",
            {"browse": "https://shop.example.com"},
            surface="browser",
        ),
        Kind(
            "enter",
            Enter,
            (Part("", "slots", PartType.SLOTS, "each field's description and the text for it"),),
            "put each text into the field that its description names",
            {"enter": {"email": "${email}", "departure date": "24 December"}},
        ),
        Kind(
            "choose",
            Choose,
            (
                Part("what", "what", PartType.TEXT, "the list, menu, tabs, buttons or calendar"),
                Part("option", "option", PartType.LABEL, "the label the page shows"),
            ),
            "pick the option with that label in a list, menu, popup, group of buttons or calendar",
            {"choose": {"what": "cabin class", "option": "Economy"}},
        ),
        Kind(
            "read",
            Read,
            (
                Part("what", "what", PartType.TEXT, "the visible text"),
                Part("into", "into", PartType.VARIABLE, "the variable for it"),
            ),
            "store a visible text in a variable",
            {"read": {"what": "order number", "into": "order_number"}},
        ),
        Kind(
            "extract",
            Extract,
            (
                Part("what", "what", PartType.TEXT, "the list"),
                Part("into", "into", PartType.VARIABLE, "the variable for its rows"),
            ),
            "store every item of a list as rows in a variable",
            {"extract": {"what": "invoices", "into": "invoices"}},
        ),
        Kind(
            "pick",
            Pick,
            (
                Part("from", "source", PartType.TEXT, "the list of results"),
                Part("by", "by", PartType.TEXT, "what makes one the best: cheapest, earliest, best rated"),
                Part(
                    "into", "into", PartType.VARIABLE, "a variable for the text of the best", required=False
                ),
            ),
            "rank a list of results, open the best one and store its text",
            {"pick": {"from": "flights", "by": "cheapest", "into": "flight"}},
        ),
        Kind(
            "verify",
            Verify,
            (Part("", "condition", PartType.CONDITION, "what must be true now"),),
            "fail unless it holds on the current screen",
            {"verify": "the basket shows one item"},
        ),
        Kind(
            "wait_for",
            WaitFor,
            (Part("", "condition", PartType.CONDITION, "what to wait for"),),
            "wait until it holds",
            {"wait_for": "the results are listed"},
        ),
        Kind(
            "stop_before",
            StopBefore,
            (Part("", "action", PartType.TEXT, "the irreversible action"),),
            "find the control of an irreversible action and stop in front of it, so that the person decides",
            {"stop_before": "paying"},
        ),
        Kind(
            "repeat_until",
            RepeatUntil,
            (
                Part("condition", "condition", PartType.CONDITION, "when to stop"),
                Part("steps", "steps", PartType.STEPS, "what to repeat"),
                Part("max", "max", PartType.ROUNDS, "the most rounds"),
            ),
            "repeat the steps until the condition holds, 1 to max rounds",
            {
                "repeat_until": {
                    "condition": "no unread mail is left",
                    "steps": ["archive the mail"],
                    "max": 20,
                }
            },
        ),
        Kind(
            "if",
            If,
            (
                Part("condition", "condition", PartType.CONDITION, "what decides"),
                Part("then", "then", PartType.STEPS, "the steps if it holds"),
                Part("else", "otherwise", PartType.STEPS, "the steps if it does not", required=False),
            ),
            "take the steps of then when the condition holds, else those of else",
            {"if": {"condition": "a cookie banner is shown", "then": ["decline the cookies"]}},
        ),
    )
}
"""Every kind by its name, in the order the guide tells them."""

BROWSER = "browser"
"""As `app`: the flow acts on web pages."""
SURFACES = frozenset({BROWSER, "desktop"})
"""What a flow can act on."""


def step_from_json(value: Any) -> Step:
    """The step of this JSON, which has passed the checks of shape."""
    if isinstance(value, str):
        return Do(value)
    ((name, inner),) = value.items()
    kind = KINDS[name]
    if kind.plain:
        whole: Any = dict(inner) if kind.parts[0].type is PartType.SLOTS else inner
        made: Step = Do(whole, bare=False) if kind.make is Do else kind.make(whole)
        return made
    parts = {
        part.attribute: _part_from_json(part, inner[part.key]) for part in kind.parts if part.key in inner
    }
    step: Step = kind.make(**parts)
    return step


def _part_from_json(part: Part, value: Any) -> Any:
    return tuple(map(step_from_json, value)) if part.type is PartType.STEPS else value


def step_to_json(step: Step) -> Any:
    """The step as JSON, the same that `step_from_json` read."""
    if isinstance(step, Do) and step.bare:
        return step.text
    kind = _KIND_OF[type(step)]
    if kind.plain:
        whole = getattr(step, kind.parts[0].attribute)
        return {kind.name: dict(whole) if isinstance(whole, Mapping) else whole}
    return {
        kind.name: {
            part.key: [step_to_json(one) for one in value] if part.type is PartType.STEPS else value
            for part in kind.parts
            if (value := getattr(step, part.attribute)) is not None
        }
    }


_KIND_OF: Mapping[type[Any], Kind] = {kind.make: kind for kind in KINDS.values()}
