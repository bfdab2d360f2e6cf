"""The shape of a flow: what must hold before its steps can be read, and the one walk that every check takes.

The walk goes through a JSON value in the order of the file, notes what is wrong with its shape, and tells a listener of
everything that is sound, so that what the flow means is checked in the same pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import islice
from typing import Any, Final

from surefoot.errors import FlowInvalidError
from surefoot.flows._data import Limits, limits
from surefoot.flows._heard import INK, Listener, Place, below, part_name
from surefoot.flows._keys import nearest_key, nearest_kind
from surefoot.flows._shown import key_shown, kind_of, listed, shown
from surefoot.flows.problems import Problem
from surefoot.flows.steps import KINDS, Kind, Part, PartType
from surefoot.flows.variables import VARIABLE


def shape_problems(data: Any) -> list[Problem]:
    """What keeps this JSON value from being read as a flow, in the order of the file; empty where nothing does."""
    found: list[Problem] = []
    walk(data, found.append, Listener())
    return found


def need_shape(data: Any) -> None:
    """Do nothing for the shape of a flow.

    Raises:
        FlowInvalidError: it has another shape; `details["problems"]` holds all that is wrong (`Problem.to_dict`).
    """
    if found := shape_problems(data):
        more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
        raise FlowInvalidError(
            f"This is no flow that can be read: {found[0]}{more}",
            "`surefoot flow check` lists all that is wrong.",
            problems=[problem.to_dict() for problem in found],
        )


def walk(data: Any, note: Callable[[Problem], None], listener: Listener) -> None:
    """Walk the whole value: problems of its shape go to `note`, sound values to `listener`."""
    _Walk(note, listener).flow(data)


class _Walk:
    def __init__(self, note: Callable[[Problem], None], listener: Listener) -> None:
        self._note = note
        self._hear = listener
        self._limits: Limits = limits()
        self._steps = 0

    def _wrong(self, place: Place, code: str, message: str) -> None:
        self._note(place.problem(code, message))

    # --- the flow itself -----------------------------------------------------------------------------------------

    def flow(self, data: Any) -> None:
        whole = Place("", "", "", PartType.TEXT)
        if not isinstance(data, dict):
            self._wrong(
                whole,
                "not_an_object",
                f"A flow is an object with app and steps, and this is {kind_of(data)}. "
                'Write {"app": "browser", "steps": [...]}.',
            )
            return
        for key, value in islice(data.items(), self._limits.keys):
            self._top(key, value)
        for key, example in (("app", '"browser"'), ("steps", '["..."]')):
            if key not in data:
                self._wrong(whole, "missing_key", f'The flow has no {key}. Add "{key}": {example}.')

    def _top(self, key: Any, value: Any) -> None:
        if key == "app":
            self._text(Place("app", "/app", "app", PartType.APP), value)
        elif key == "vars":
            self._vars(value)
        elif key == "steps":
            self._list(value, Place("", "/steps", "steps", PartType.STEPS), "", 1)
        else:
            place = Place("", below("", key), "", PartType.TEXT)
            self._unknown_key(place, key, "A flow", ("app", "vars", "steps"))

    def _unknown_key(self, place: Place, key: Any, owner: str, known: tuple[str, ...]) -> None:
        near = nearest_key(key, known)
        mend = f"Did you mean {near}?" if near else f"It may have {listed(list(known))}. Take the key out."
        self._wrong(place, "unknown_key", f"{owner} has no key {key_shown(key)}. {mend}")

    def _vars(self, value: Any) -> None:
        place = Place("vars", "/vars", "vars", PartType.SLOTS)
        if not isinstance(value, dict):
            self._wrong(
                place,
                "wrong_type",
                f'vars is {kind_of(value)}. Write an object of texts by name: {{"city": "Oslo"}}.',
            )
            return
        if len(value) > self._limits.vars:
            self._wrong(
                place,
                "too_many_vars",
                f"vars has {len(value)} entries, and {self._limits.vars} is the most. Keep those that steps use.",
            )
        for name, text in islice(value.items(), self._limits.vars):
            at = Place("vars", below("/vars", name), "vars", PartType.TEXT)
            if self._name(at, name, "A variable") and self._text(at, text, heard=False):
                self._hear.named(at, name)
                self._hear.value(at, name, text)

    # --- steps ---------------------------------------------------------------------------------------------------

    def _list(self, value: Any, place: Place, prefix: str, depth: int) -> None:
        if not isinstance(value, list):
            self._wrong(
                place,
                "wrong_type",
                f'{self._owner(place)} is {kind_of(value)}. Write a list of steps: ["..."].',
            )
        elif not value:
            self._wrong(place, "blank", f"{self._owner(place)} has no step in it. Write one at least.")
        elif depth > self._limits.depth:
            self._wrong(
                place,
                "too_deep",
                f"Steps are nested {depth} deep, and {self._limits.depth} is the most. "
                "Move the inner steps out, or say them as one step of words.",
            )
        else:
            for number, step in enumerate(value, 1):
                if not self._counted(place):
                    return
                self._step(step, f"{prefix}{number}", f"{place.pointer}/{number - 1}", depth)

    @staticmethod
    def _owner(place: Place) -> str:
        key = place.pointer.rpartition("/")[2]
        return key if place.kind == "steps" else f"{key} of {place.kind}"

    def _counted(self, place: Place) -> bool:
        self._steps += 1
        if self._steps == self._limits.steps + 1:
            self._wrong(
                place,
                "too_many_steps",
                f"The flow has more than {self._limits.steps} steps. Use repeat_until for what is done again and "
                "again, or make two flows.",
            )
        return self._steps <= self._limits.steps

    def _step(self, value: Any, path: str, pointer: str, depth: int) -> None:
        if isinstance(value, str):
            self._text(Place(path, pointer, "do", PartType.TEXT), value)
            return
        place = Place(path, pointer, "", PartType.TEXT)
        if not isinstance(value, dict):
            self._wrong(
                place,
                "wrong_type",
                f"A step is a text or an object with one key, and this is {kind_of(value)}. "
                'Write "search for flights" or {"open": "Calculator"}.',
            )
        elif not value:
            self._wrong(place, "blank", 'The step is empty. Write what to reach, as "search for flights".')
        elif len(value) > 1:
            self._several(place, value)
        else:
            ((name, inner),) = value.items()
            kind = KINDS.get(name) if isinstance(name, str) else None
            if kind is None:
                self._unknown_step(place, name, inner)
            else:
                self._kind(kind, inner, path, pointer, depth)

    def _several(self, place: Place, value: dict[Any, Any]) -> None:
        keys = list(islice(value, self._limits.keys))
        kinds = [key for key in keys if isinstance(key, str) and key in KINDS]
        names = listed([key_shown(key) for key in keys[:4]])
        if len(kinds) == 1 and not KINDS[kinds[0]].plain:
            wanted = ", ".join(f'"{part.key}": ...' for part in KINDS[kinds[0]].parts if part.required)
            mend = f'Put all of it inside: {{"{kinds[0]}": {{{wanted}}}}}.'
        elif len(kinds) == 1:
            mend = f"Keep {kinds[0]} and take the others out."
        else:
            mend = "Write each as a step of its own."
        self._wrong(place, "several_keys", f"A step has one key, and this one has {names}. {mend}")
        self._filled(place, value)

    def _unknown_step(self, place: Place, name: Any, inner: Any) -> None:
        near = nearest_kind(name) if isinstance(name, str) else None
        mend = (
            f"Did you mean {near}, as in {_example(near)}?"
            if near
            else f"The kinds are {listed(list(KINDS))}."
        )
        self._wrong(place, "unknown_step", f"There is no step {key_shown(name)}. {mend}")
        self._filled(place, inner)

    def _filled(self, place: Place, inner: Any) -> None:
        """Told behind the step, for a wrong one too: its variable's later uses are not wrong a second time."""
        into = inner.get("into") if isinstance(inner, dict) else None
        if isinstance(into, str) and len(into) <= self._limits.name and VARIABLE.fullmatch(into):
            self._hear.fills(place, into)

    def _kind(self, kind: Kind, inner: Any, path: str, pointer: str, depth: int) -> None:
        base = f"{pointer}/{kind.name}"
        if kind.plain:
            self._part(kind.parts[0], inner, Place(path, base, kind.name, kind.parts[0].type), path, depth)
            return
        if not isinstance(inner, dict):
            form = ", ".join(f'"{part.key}": ...' for part in kind.parts if part.required)
            self._wrong(
                Place(path, base, kind.name, PartType.TEXT),
                "wrong_type",
                f'{kind.name} has {kind_of(inner)} as its value. Write {{"{kind.name}": {{{form}}}}}.',
            )
            return
        self._parts(kind, inner, path, base, depth)

    def _parts(self, kind: Kind, inner: dict[Any, Any], path: str, base: str, depth: int) -> None:
        parts = _PARTS[kind.name]
        nests = kind.name in _NESTING
        if nests:
            self._hear.opens()
        for key, value in islice(inner.items(), self._limits.keys):
            part = parts.get(key) if isinstance(key, str) else None
            if part is None:
                at = Place(path, below(base, key), kind.name, PartType.TEXT)
                self._unknown_key(at, key, kind.name, tuple(parts))
            else:
                self._part(part, value, Place(path, f"{base}/{key}", kind.name, part.type), path, depth)
        for part in kind.parts:
            if part.required and part.key not in inner:
                self._wrong(
                    Place(path, base, kind.name, part.type),
                    "missing_key",
                    f'{kind.name} has no {part.key}. Add "{part.key}" to it: {part.meaning}.',
                )
        if nests:
            self._hear.closes()
        elif "into" in parts:
            self._filled(Place(path, f"{base}/into", kind.name, PartType.VARIABLE), inner)

    # --- parts ---------------------------------------------------------------------------------------------------

    def _part(self, part: Part, value: Any, place: Place, path: str, depth: int) -> None:
        if part.type is PartType.STEPS:
            self._hear.body_opens()
            prefix = f"{path}.else." if part.key == "else" else f"{path}."
            self._list(value, place, prefix, depth + 1)
            self._hear.body_closes()
        elif part.type is PartType.SLOTS:
            self._slots(place, value)
        elif part.type is PartType.ROUNDS:
            self._rounds(place, value)
        elif part.type is PartType.VARIABLE:
            self._variable(place, value)
        else:
            self._text(place, value)

    def _text(self, place: Place, value: Any, *, heard: bool = True) -> bool:
        if not isinstance(value, str):
            self._wrong(
                place, "wrong_type", f"{part_name(place)} is {kind_of(value)}. Write a text in quotes."
            )
        elif INK.search(value) is None:
            self._wrong(
                place, "blank", f"{part_name(place)} is empty. Write the words, or take the whole of it out."
            )
        elif len(value) > self._limits.text:
            self._wrong(
                place,
                "too_long",
                f"{part_name(place)} has {len(value)} characters, and {self._limits.text} is the most. "
                "Say what to reach in one sentence.",
            )
        else:
            if heard:
                self._hear.text(place, value)
            return True
        return False

    def _slots(self, place: Place, value: Any) -> None:
        if not isinstance(value, dict):
            self._wrong(
                place,
                "wrong_type",
                f'enter has {kind_of(value)} as its value. Write each field and its text: {{"email": "${{email}}"}}.',
            )
            return
        if not value:
            self._wrong(place, "blank", "enter has no field. Write each field's description and its text.")
        if len(value) > self._limits.slots:
            self._wrong(
                place,
                "too_many_slots",
                f"enter fills {len(value)} fields, and {self._limits.slots} is the most. "
                "Make a step for each page of the form.",
            )
        for name, text in islice(value.items(), self._limits.slots):
            at = Place(place.path, below(place.pointer, name), "enter", PartType.SLOTS)
            sound = self._name(at, name, "A field")
            if sound:
                self._hear.text(at, name)
            if self._text(at._replace(type=PartType.TEXT), text, heard=False) and sound:
                self._hear.value(at, name, text)

    def _rounds(self, place: Place, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= self._limits.rounds:
            self._wrong(
                place,
                "rounds",
                f"max of repeat_until is {kind_of(value)}. Write a whole number from 1 to {self._limits.rounds}.",
            )

    def _name(self, place: Place, name: Any, what: str) -> bool:
        if not isinstance(name, str):
            self._wrong(
                place, "wrong_type", f"{what} has {kind_of(name)} as its name. Write a text in quotes."
            )
        elif INK.search(name) is None:
            self._wrong(place, "blank", f"{what} has no name. Write what it is called.")
        elif len(name) > self._limits.name:
            self._wrong(
                place,
                "too_long",
                f"{what} has a name of {len(name)} characters, and {self._limits.name} is the most. Shorten it.",
            )
        else:
            return True
        return False

    def _variable(self, place: Place, name: Any) -> None:
        if not self._name(place, name, "into") or VARIABLE.fullmatch(name):
            return
        made = re.sub(r"\W+", "_", name).strip("_")
        mend = f" Write {shown(made)}." if VARIABLE.fullmatch(made) and made != name else ""
        self._wrong(
            place,
            "variable_name",
            f"{shown(name)} cannot be a variable's name: it has letters, digits and _ only, no digit first.{mend}",
        )


def _example(name: str) -> str:
    return json.dumps(KINDS[name].example)


_PARTS: Final = {kind.name: {part.key: part for part in kind.parts if part.key} for kind in KINDS.values()}
_NESTING: Final = {
    kind.name for kind in KINDS.values() if any(part.type is PartType.STEPS for part in kind.parts)
}
