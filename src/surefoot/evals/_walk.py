"""A flow's steps one by one, branches and bodies included, as the texts that an author wrote into them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from surefoot.flows.steps import KINDS, PartType
from surefoot.flows.variables import names_in, substitute


@dataclass(frozen=True, slots=True)
class StepText:
    """One step: its path (`4.2`, `4.else.1`), its kind, and its texts as written, keys of slots included.

    `stores`: it fills a variable.
    """

    path: str
    kind: str
    texts: tuple[str, ...]
    stores: bool = False

    @property
    def first(self) -> str:
        """Its first text, the whole of a step that is one text; empty where it has none."""
        return self.texts[0] if self.texts else ""

    def names(self, variables: Mapping[str, str]) -> set[str]:
        """What stands in `${...}`, and in the values of the flow's own variables that stand there."""
        direct = {name for text in self.texts for name in names_in(text)}
        return direct | {name for one in direct for name in names_in(variables.get(one, ""))}

    def filled(self, variables: Mapping[str, str]) -> str:
        """All its texts in one, for looking up words: `${name}` as the name and, where the flow has it, the value."""
        return " | ".join(
            substitute(text, lambda name: f"{name} {variables.get(name, '')}") for text in self.texts
        )


def variables_of(flow: Mapping[str, Any]) -> dict[str, str]:
    """The flow's own variables."""
    given = flow.get("vars")
    return {name: str(value) for name, value in given.items()} if isinstance(given, Mapping) else {}


def steps_of(flow: Mapping[str, Any]) -> list[StepText]:
    """All steps in the order they are written."""
    return list(_steps(flow.get("steps"), ""))


def made_by(flow: Mapping[str, Any]) -> set[str]:
    """The variables that steps store something in."""
    values = (value for _, _, value in _raw(flow.get("steps"), "") if isinstance(value, Mapping))
    return {str(value["into"]) for value in values if "into" in value}


def _steps(steps: Any, before: str) -> Iterator[StepText]:
    for path, kind, value in _raw(steps, before):
        stores = isinstance(value, Mapping) and kind != "enter" and "into" in value
        yield StepText(path, kind, tuple(_texts(kind, value)), stores)


def _raw(steps: Any, before: str) -> Iterator[tuple[str, str, Any]]:
    """Path, kind and value of each step; what has not the shape of a step is passed over, the checker tells of it."""
    for at, step in enumerate(steps if isinstance(steps, list) else (), start=1):
        path = f"{before}{at}"
        if isinstance(step, str):
            yield path, "do", step
        elif isinstance(step, Mapping) and len(step) == 1:
            ((kind, value),) = step.items()
            yield path, kind, value
            for key in _bodies(kind) if isinstance(value, Mapping) else ():
                yield from _raw(value.get(key), f"{path}.else." if key == "else" else f"{path}.")


def _bodies(kind: str) -> list[str]:
    return [part.key for part in KINDS[kind].parts if part.type is PartType.STEPS] if kind in KINDS else []


def _texts(kind: str, value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        fields = kind == "enter"
        for key, inner in value.items():
            if fields:
                yield str(key)
            if isinstance(inner, str):
                yield inner
