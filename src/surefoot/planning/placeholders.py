"""Placeholders: `<what it is, from step 2>` stands for something that an earlier step will reveal.

They may stand anywhere in a value, lists and objects included. `<each note id from step 1>` makes one call for each
item. `fill` puts values in their place and never changes the plan; `resolve` finds those values in the results by
code alone, where exactly one field can be meant, and says when a model must look instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from surefoot.planning.words import folded, words

_ANGLE: Final = re.compile(r"<[^<>\n]{4,200}>")
_HAN_NUMBERS: Final = "一二三四五六七八九十"
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """`text` is as written, brackets included. Step 0 is what the memory search brought. `each`: fan out."""

    text: str
    what: str
    step: int
    each: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """The arguments of each call to make: one, or one for each item of a fan-out (none when there is no item)."""

    calls: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class NeedsModel:
    """Code cannot tell what is meant. `why` says it in one sentence."""

    why: str


@lru_cache(maxsize=1024)
def read(text: str) -> Placeholder | None:
    """The placeholder that `text` (with its angle brackets) is; None when it is ordinary text."""
    inner = text[1:-1].strip()
    for form in words().placeholders:
        found = form.fullmatch(inner)
        if found:
            what = (found.groupdict().get("what") or "").strip(" ,，")
            each = words().each.match(what)
            number = found["n"]
            step = _HAN_NUMBERS.index(number) + 1 if number in _HAN_NUMBERS else int(number)
            return Placeholder(text, what[each.end() :].strip() if each else what, step, bool(each))
    return None


def find(value: Any, before: int) -> tuple[tuple[Placeholder, ...], bool]:
    """The placeholders in a value of step number `before`, without repeats, and whether one names no earlier step."""
    found: dict[str, Placeholder] = {}
    astray = False
    for text in texts_in(value):
        for placeholder in _in_text(text):
            if placeholder.step < before:
                found[placeholder.text] = placeholder
            else:
                astray = True
    return tuple(found.values()), astray


def _in_text(text: str) -> Iterator[Placeholder]:
    if "<" not in text:
        return
    for match in _ANGLE.finditer(text):
        placeholder = read(match.group())
        if placeholder:
            yield placeholder


def texts_in(value: Any, *, keys: bool = True) -> Iterator[str]:
    """Every text inside a JSON value, the keys of objects too unless they are left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if keys:
                yield str(key)
            yield from texts_in(item, keys=keys)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item, keys=keys)


def fill(value: Any, found: Mapping[str, Any]) -> Any:
    """A new value with each placeholder text in `found` replaced.

    One that fills a whole text keeps the type of what it stands for; inside a longer text it is written out. What is
    put in is never read again, so a result cannot smuggle in a placeholder.
    """
    if isinstance(value, str):
        return _fill_text(value, found)
    if isinstance(value, list):
        return [fill(item, found) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, found) for key, item in value.items()}
    return value


def _fill_text(text: str, found: Mapping[str, Any]) -> Any:
    if text.strip() in found:
        return found[text.strip()]
    if "<" not in text:
        return text
    return _ANGLE.sub(
        lambda match: _written(found[match.group()]) if match.group() in found else match.group(), text
    )


def _written(value: Any) -> str:
    """A value inside a text: lists of plain values with commas, nothing else is ever put there."""
    return ", ".join(str(item) for item in value) if isinstance(value, list) else str(value)


def renumbered(value: Any, numbers: Mapping[int, int]) -> Any:
    """The value with the step numbers of its placeholders changed; a step that is missing from `numbers` becomes 0."""
    if isinstance(value, str):
        return (
            _ANGLE.sub(lambda match: _renumbered_text(match.group(), numbers), value)
            if "<" in value
            else value
        )
    if isinstance(value, list):
        return [renumbered(item, numbers) for item in value]
    if isinstance(value, dict):
        return {key: renumbered(item, numbers) for key, item in value.items()}
    return value


def _renumbered_text(text: str, numbers: Mapping[int, int]) -> str:
    placeholder = read(text)
    if placeholder is None or numbers.get(placeholder.step, 0) == placeholder.step:
        return text
    each = "each " if placeholder.each else ""
    return f"<{each}{placeholder.what or 'result'} from step {numbers.get(placeholder.step, 0)}>"


# --- what code can find --------------------------------------------------------------------------------------


def resolve(
    arguments: dict[str, Any],
    wanted: tuple[Placeholder, ...],
    results: Mapping[int, Any],
    tools: Mapping[int, str] | None = None,
) -> Found | NeedsModel:
    """The arguments with every placeholder replaced, when each can mean only one thing.

    Args:
        arguments: of the step; not changed.
        wanted: its placeholders.
        results: JSON results by step number.
        tools: the tool each step called, by number; its words explain words such as "note" in "note id".
    """
    single: dict[str, Any] = {}
    fanned: dict[str, list[Any]] = {}
    for placeholder in wanted:
        if placeholder.step not in results:
            return NeedsModel(f"There is no result of step {placeholder.step} for {placeholder.text}.")
        result, tool = results[placeholder.step], (tools or {}).get(placeholder.step, "")
        value = _each_item(placeholder, result, tool) if placeholder.each else _one(placeholder, result, tool)
        if value is None:
            return NeedsModel(
                f"The result of step {placeholder.step} has no single field for {placeholder.text}."
            )
        if placeholder.each:
            fanned[placeholder.text] = value
        else:
            single[placeholder.text] = value
    return _combined(arguments, single, fanned, {item.step for item in wanted if item.each})


def _combined(
    arguments: dict[str, Any], single: dict[str, Any], fanned: dict[str, list[Any]], sources: set[int]
) -> Found | NeedsModel:
    if not fanned:
        return Found((fill(arguments, single),))
    if len(sources) > 1 or len({len(items) for items in fanned.values()}) > 1:
        return NeedsModel("Items of several lists would have to be matched with each other.")
    rows = zip(*fanned.values(), strict=True)
    return Found(tuple(fill(arguments, single | dict(zip(fanned, row, strict=True))) for row in rows))


def _one(placeholder: Placeholder, result: Any, tool: str) -> Any:
    """The one value that is meant, or None."""
    asked = _parts(placeholder.what)
    if _is_plain(result):
        explained = words().whole | words().filler | _nouns(tool)
        return result if result not in (None, "") and asked <= explained else None
    objects = _objects(result)
    if len(objects) != 1:
        return None
    value = objects[0][0].get(_field(asked, *objects[0], tool) or "")
    return value if _is_usable(value) else None


def _each_item(placeholder: Placeholder, result: Any, tool: str) -> list[Any] | None:
    """The field of every object of the one list in the result, or None."""
    asked = _parts(placeholder.what)
    plain = _plain_list(result)
    if plain is not None and asked <= words().whole | words().filler | _nouns(tool) | {"item", "items"}:
        return plain
    listed = _listed(result)
    if listed is None:
        return None
    rows, key = listed
    fields = {_field(asked, row, key, tool) for row in rows}
    if not rows:
        return []
    if len(fields) != 1 or None in fields:
        return None
    field = fields.pop() or ""
    values = [row.get(field) for row in rows]
    return values if all(_is_usable(value) for value in values) else None


def _plain_list(result: Any) -> list[Any] | None:
    if isinstance(result, list) and result and all(_is_plain(item) and item is not None for item in result):
        return result
    return None


def _objects(result: Any) -> list[tuple[dict[str, Any], str]]:
    """The objects a result is about, each with the name it stands under: itself, its one list, or its one object."""
    listed = _listed(result)
    if listed is not None:
        return [(row, listed[1]) for row in listed[0]]
    if not isinstance(result, dict):
        return []
    inner = [(item, key) for key, item in result.items() if isinstance(item, dict)]
    own = [key for key, item in result.items() if not isinstance(item, dict)]
    return inner if len(inner) == 1 and not own else [(result, "")]


def _listed(result: Any) -> tuple[list[dict[str, Any]], str] | None:
    """The one list of objects in a result and its name; an empty list counts."""
    lists = [(result, "")] if isinstance(result, list) else []
    if isinstance(result, dict):
        lists = [(item, key) for key, item in result.items() if isinstance(item, list)]
        if any(key in words().fields.values() for key in result):
            return None  # an object with fields of its own, one of which happens to be a list
    lists = [(items, key) for items, key in lists if all(isinstance(item, dict) for item in items)]
    return lists[0] if len(lists) == 1 else None


def _field(asked: set[str], row: dict[str, Any], key: str, tool: str) -> str | None:
    """The one field of an object that the asked words name, all the other words being explained."""
    explained = words().filler | _nouns(tool) | _nouns(key)
    named = [name for name in row if _names_field(asked, name)]
    if not named and len(row) == 1 and asked & words().whole and asked <= explained | words().whole:
        return next(iter(row))
    named = [
        name
        for name in named
        if asked - _parts(name) - _synonyms(asked, name) <= explained | {"date", "time"}
    ]
    return named[0] if len(named) == 1 else None


def _names_field(asked: set[str], name: str) -> bool:
    return _parts(name) <= asked or bool(_synonyms(asked, name))


def _synonyms(asked: set[str], name: str) -> set[str]:
    """The asked words that mean this field in any language."""
    meaning = words().fields
    return {word for word in asked if meaning.get(word) == name.casefold()}


def _parts(text: str) -> set[str]:
    """The words of a text, `noteId` and `note_id` taken apart."""
    return {folded(part) for part in _PART.findall(text)}


def _nouns(name: str) -> set[str]:
    """The words of a tool's or list's name, singular and plural."""
    parts = _parts(name)
    singular = {part[:-1] for part in parts if part.endswith("s")} | {
        part[:-3] + "y" for part in parts if part.endswith("ies")
    }
    return parts | singular | {part + "s" for part in parts}


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def _is_usable(value: Any) -> bool:
    """Something that may be an argument: a plain value or a list of them."""
    if isinstance(value, list):
        return all(_is_plain(item) for item in value)
    return value is not None and _is_plain(value)
