"""Missions and agents as a person writes them in the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from surefoot.cli.session import Cli
from surefoot.errors import InputError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from surefoot.assistant import Assistant
    from surefoot.missions.types import Mission


def checked_text(text: str) -> str:
    """A text that a person gave, which may be empty; secrets in it are masked from here on.

    Raises:
        UnreadableInputError: it is no text.
    """
    from surefoot.cli.requests import checked

    return checked(text, "text") if text.strip() else ""


def named_values(given: Sequence[str], before: Mapping[str, Any]) -> dict[str, Any]:
    """`NAME=TEXT` and `NAME:=JSON`, over those of before; `NAME=` takes one out.

    Raises:
        InputError: one is neither, or its JSON cannot be read.
    """
    found = dict(before)
    for one in given:
        name, sign, text = one.partition("=")
        as_json = name.endswith(":")
        name = name.removesuffix(":").strip()
        if not sign or not name:
            raise InputError(f"{one!r} has no name and value.", "Write NAME=TEXT, or NAME:=JSON.", value=one)
        if not text.strip():
            found.pop(name, None)
        else:
            found[name] = _json_of(text) if as_json else checked_text(text)
    return found


def _json_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(
            f"{text!r} is no JSON: {error}.", "Write NAME=TEXT for a text.", value=text
        ) from error


def numbers(given: Sequence[str], before: Mapping[str, float]) -> dict[str, float]:
    """`NAME=NUMBER`, over those of before; `NAME=` takes one out; InputError."""
    found = named_values(given, before)
    return {
        name: amount_of(name, value) if isinstance(value, str) else value for name, value in found.items()
    }


def amount_of(name: str, text: str, *, whole: bool = False) -> Any:
    """A number; None for `none`; InputError."""
    if text.strip().casefold() in {"none", ""}:
        return None
    try:
        return int(text) if whole else float(text)
    except ValueError as error:
        raise InputError(f"{name} is {text!r}.", "Give a number.", value=text) from error


def until_of(cli: Cli, text: str, now: datetime) -> datetime:
    """The moment that a person names: a date ends with its last minute.

    Raises:
        InputError: it is none, or it has passed.
    """
    from surefoot.errors import ToolError
    from surefoot.tools.dates import resolve_date

    try:
        until = resolve_date(text, now, cli.settings.zone_name, cli.texts.language).last
    except ToolError as error:
        raise InputError(error.message, error.next_move, value=text) from error
    if until <= now:
        raise InputError(f"{text!r} has passed.", "Give a later time.", value=text)
    return until


class Given:
    """Fields of a mission as they were given; None for what was not."""

    def __init__(
        self,
        goal: str | None,
        concept: str | None,
        inputs: list[str] | None,
        kits: list[str] | None,
        cadence: str | None,
        zone: str | None,
        limits: list[str] | None,
        agent: str | None,
        title: str | None = None,
    ) -> None:
        self.texts = {"goal": goal, "concept": concept, "title": title}
        self.inputs, self.limits, self.kits = inputs or [], limits or [], kits
        self.cadence, self.zone, self.agent = cadence, zone, agent

    def fields(self, tx: Connection, before: Mission | None) -> dict[str, Any]:
        """What is to be written, over a mission of before."""
        from surefoot.missions import store
        from surefoot.missions.said import read

        found: dict[str, Any] = {
            name: checked_text(text) for name, text in self.texts.items() if text is not None
        }
        if self.inputs:
            found["inputs"] = named_values(self.inputs, before.inputs if before else {})
        if self.limits:
            found["limits"] = numbers(self.limits, before.limits if before else {})
        if self.kits is not None:
            found["kits"] = tuple(kit for kit in self.kits if kit)
        if self.cadence is not None:
            found["cadence"] = read(self.cadence)
        if self.zone is not None:
            found["zone"] = self.zone
        if self.agent is not None:
            found["agent"] = store.find_agent(tx, self.agent).id if self.agent.strip() else ""
        return found


def check_kits(assistant: Assistant, fields: dict[str, Any]) -> None:
    """Said when it is written, not when it runs: InputError for a kit that neither is there nor comes with a server."""
    from surefoot.assistant.brief import Brief
    from surefoot.tools.mcp.servers import kit_of

    servers = assistant.settings.mcp
    of_servers = {kit_of(name) for name in servers}
    kits = tuple(kit for kit in fields.get("kits", ()) if kit not in of_servers)
    Brief("", kits=kits).tools(assistant.catalogue)
