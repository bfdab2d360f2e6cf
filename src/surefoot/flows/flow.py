"""A flow: the application it acts on, its variables, its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surefoot.flows.formatting import layout
from surefoot.flows.shape import need_shape
from surefoot.flows.steps import BROWSER, Step, step_from_json, step_to_json


@dataclass(frozen=True, slots=True)
class Flow:
    """A script of plain-language steps for web pages or a desktop application.

    `app` is the application's name or `browser`; `vars` are texts by name, None where the flow has no such key. That
    it may run is another question: `check_flow` answers it.
    """

    app: str
    steps: tuple[Step, ...]
    vars: Mapping[str, str] | None = None

    @property
    def on_pages(self) -> bool:
        """It begins in the browser."""
        return self.app == BROWSER

    @classmethod
    def from_json(cls, data: Any) -> Flow:
        """The flow of this JSON value; a text is read as JSON first. `to_json` gives the same value back.

        Raises:
            FlowInvalidError: it has not the shape of a flow; all that is wrong stands in `details["problems"]`.
            UnreadableInputError: the text is no JSON.
        """
        if isinstance(data, str):
            from surefoot.flows.source import read_flow

            data = read_flow(data).value
        need_shape(data)
        given = data.get("vars")
        return cls(
            data["app"],
            tuple(map(step_from_json, data["steps"])),
            None if given is None else dict(given),
        )

    def to_json(self) -> dict[str, Any]:
        """The flow as a JSON value: `app`, `vars` where it has them, `steps`."""
        head: dict[str, Any] = {"app": self.app}
        if self.vars is not None:
            head["vars"] = dict(self.vars)
        return {**head, "steps": [step_to_json(step) for step in self.steps]}

    def to_text(self) -> str:
        """The flow as JSON text, in the one layout of flows."""
        return layout(self.to_json())
