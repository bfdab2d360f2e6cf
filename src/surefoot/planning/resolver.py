"""Turns a step into arguments.

By reading it when it is concrete, by code where the results leave no choice, else by one model call that is bound by
the one tool it fills.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from surefoot.models.types import (
    AUTO,
    Capabilities,
    Completion,
    FinishReason,
    LanguageModel,
    Message,
    Request,
    ToolChoice,
)
from surefoot.planning import encodings, json_forms, lines, parse, placeholders, schemas
from surefoot.planning._prompts import prompt
from surefoot.planning.encodings import Encoding, Layout, Tools
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.planner import Complete, time_out, within
from surefoot.planning.values import type_of, typed, types_of
from surefoot.planning.vocabulary import Shape, Vocabulary, vocabulary
from surefoot.redaction import redact, redact_json
from surefoot.tools.signatures import signature

if TYPE_CHECKING:
    from surefoot.settings import Settings

log = logging.getLogger(__name__)

RESULT_CHARS: Final = 6000
"""Of all results together in the prompt: about 1,800 tokens, which leaves room for the catalogue in 8,192."""
MAX_FAN_OUT: Final = 50
"""Calls a model may make of one step; code has no such limit, the run's budget counts there."""
MAX_ANSWER_TOKENS: Final = 512
MAX_FAN_OUT_TOKENS: Final = 2048


@dataclass(frozen=True, slots=True)
class _Ask:
    """What one call of the model is about."""

    step: Step
    shape: Shape
    results: Mapping[int, Any]
    now: datetime | None

    @property
    def each(self) -> bool:
        return any(found.each for text in self.step.placeholders if (found := placeholders.read(text)))


class StepResolver:
    """Resolves steps over one catalogue, with one model where code is not enough. Arguments as `OutlinePlanner`."""

    def __init__(
        self, model: LanguageModel, settings: Settings, catalogue: Tools, *, layout: Layout = "signatures"
    ) -> None:
        self.model = model
        self.settings = settings
        self.catalogue = catalogue
        self.layout = layout

    async def resolve(
        self,
        step: Step,
        results: Mapping[int, Any],
        *,
        outline: Outline | None = None,
        now: datetime | None = None,
        complete: Complete | None = None,
    ) -> list[dict[str, Any]] | None:
        """The arguments of each call that the step means: mostly one, none when it fans out over nothing.

        None when it cannot be said (a step that calls no known tool, an answer that cannot be used, a time-out): the
        chat model takes over. Raises nothing but a cancellation.

        Args:
            step: the step; a concrete one costs no model call.
            results: JSON results of earlier steps, by number.
            outline: the plan; the tools of its steps explain words such as "note" in `<note id, from step 1>`.
            now: the run's clock, in the person's zone.
            complete: makes the model call; the model's own `complete` by default.
        """
        known = vocabulary(self.catalogue)
        if step.kind is not StepKind.TOOL or step.tool not in known.shapes:
            return None
        if step.concrete:
            return [step.arguments]
        found = by_code(step, known.shapes[step.tool], results, outline)
        if found is not None:
            return found
        try:
            ask = _Ask(step, known.shapes[step.tool], results, now)
            return await self._by_model(ask, known, complete or self.model.complete)
        except Exception as error:  # noqa: BLE001 - fail open: the chat model takes the turn
            log.debug("step not resolved: %s", error)
            return None

    async def _by_model(
        self, ask: _Ask, known: Vocabulary, complete: Complete
    ) -> list[dict[str, Any]] | None:
        able = await self.model.capabilities()
        encoding = encodings.choose(able)
        request = self._request(ask, encoding, able)
        completion = await within(time_out(self.settings, able), complete, request)
        return read_arguments(completion, ask.shape, known, most=MAX_FAN_OUT if ask.each else 1)

    def _request(self, ask: _Ask, encoding: Encoding, able: Capabilities) -> Request:
        """Behind the planner's prefix, so that its cache serves this call as well."""
        head = encodings.prefix(
            self.catalogue, encoding, max_steps=self.settings.max_steps, layout=self.layout
        )
        spec = next(spec for spec in self.catalogue.specs() if spec.name == ask.shape.name)
        most = MAX_FAN_OUT if ask.each else 1
        called = ask.step.text.startswith(spec.name)
        own = encoding in encodings.CALLS
        return Request(
            messages=(*head.messages, Message("user", _asked(ask, encoding))),
            tools=encodings.offered_specs(self.catalogue) if own else (),
            tools_shown=encoding == "bound",
            tool_choice=ToolChoice("required", spec.name) if own and called else AUTO,
            only=(spec.name,) if own else None,
            max_calls=most,
            json_schema=schemas.calls_schema(spec.parameters, most) if encoding == "schema" else None,
            grammar=encodings.lines_grammar_of((spec,), most) if encoding == "lines" else None,
            max_tokens=MAX_FAN_OUT_TOKENS if ask.each else MAX_ANSWER_TOKENS,
            timeout=time_out(self.settings, able),
            num_ctx=self.settings.num_ctx,
            purpose="resolve",
        )


def by_code(
    step: Step, shape: Shape, results: Mapping[int, Any], outline: Outline | None = None
) -> list[dict[str, Any]] | None:
    """The arguments when each placeholder can mean only one thing in the results; None when a model must look."""
    wanted, astray = placeholders.find(step.arguments, _ANY_STEP)
    if astray or not wanted or {item.text for item in wanted} != set(step.placeholders):
        return None
    tools = {number: earlier.tool for number, earlier in enumerate(outline.steps if outline else (), 1)}
    found = placeholders.resolve(step.arguments, wanted, results, tools)
    if isinstance(found, placeholders.NeedsModel):
        return None
    calls = [_fitted(arguments, shape) for arguments in found.calls]
    return calls if all(shape.accepts(arguments) for arguments in calls) else None


_ANY_STEP: Final = 10_000
"""The step's own number is not known here; the parser has already refused placeholders of later steps."""


def _fitted(arguments: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """The arguments typed by the schema; a number where only a text is allowed is written out."""
    return {
        key: _fitted_value(value, shape.properties.get(key, {}), shape) for key, value in arguments.items()
    }


def _fitted_value(value: Any, schema: Any, shape: Shape) -> Any:
    allowed = types_of(schema, shape.schema)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and type_of(value) not in allowed:
        return str(value) if "string" in allowed else typed(value, schema, shape.schema)
    return typed(value, schema, shape.schema)


# --- asking --------------------------------------------------------------------------------------------------


def _asked(ask: _Ask, encoding: Encoding) -> str:
    order = prompt("resolve_each" if ask.each else "resolve_once").text
    if encoding == "text":
        order = f"{order}\n{prompt('resolve_text').fill(tool=ask.shape.name)}"
    return prompt("resolve").fill_paragraphs(
        today=encodings.today(ask.now) if ask.now else "",
        results=labelled(_named_results(ask)),
        step=redact(ask.step.text),
        signature=signature(ask.shape.name, ask.shape.schema),
        order=order,
    )


def _named_results(ask: _Ask) -> dict[int, Any]:
    """The results of the steps that the placeholders name; all of them when none is named."""
    named = {found.step for text in ask.step.placeholders if (found := placeholders.read(text))}
    return {number: result for number, result in ask.results.items() if not named or number in named}


def labelled(results: Mapping[int, Any]) -> str:
    """Results as untrusted data between marks. Each is cut first and labelled after, so a mark is never cut off.

    The signs of a mark inside the data are replaced, so data cannot end its own quotation.
    """
    room = RESULT_CHARS // max(1, len(results))
    return "\n".join(
        f"«result of step {number}\n{_data(result, room)}\nend of result {number}»"
        for number, result in sorted(results.items())
    )


def _data(result: Any, room: int) -> str:
    text = (
        result
        if isinstance(result, str)
        else json.dumps(redact_json(result), ensure_ascii=False, default=str)
    )
    text = redact(text).replace("«", "‹").replace("»", "›")
    return text if len(text) <= room else f"{text[:room]} … (cut)"


# --- reading -------------------------------------------------------------------------------------------------


def read_arguments(
    completion: Completion, shape: Shape, known: Vocabulary, *, most: int = 1
) -> list[dict[str, Any]] | None:
    """The arguments an answer gives for this tool; None when it gives none that can be used.

    Unknown keys are dropped; a tool that declares no properties takes what it gets. Another tool's call, a missing
    argument, a placeholder that was not filled or an answer that was cut make the whole answer unusable.
    """
    if completion.finish_reason is FinishReason.LENGTH:
        return None
    given = (
        _from_calls(completion, shape) if completion.tool_calls else _from_text(completion.text, shape, known)
    )
    if not given or len(given) > most:
        return None
    calls = [_fitted(_known_only(arguments, shape), shape) for arguments in given]
    usable = all(shape.accepts(call) and not _is_open(call) for call in calls)
    return calls if usable else None


def _known_only(arguments: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if shape.free or key in shape.properties}


def _is_open(arguments: dict[str, Any]) -> bool:
    """A placeholder still stands in it."""
    found, astray = placeholders.find(arguments, _ANY_STEP)
    return bool(found) or astray


def _from_calls(completion: Completion, shape: Shape) -> list[dict[str, Any]] | None:
    if any(call.name != shape.name for call in completion.tool_calls):
        return None
    return [call.arguments for call in completion.tool_calls]


def _from_text(text: str, shape: Shape, known: Vocabulary) -> list[dict[str, Any]] | None:
    """JSON in or out of fences, `null`, or call lines."""
    body = lines.without_tags(lines.after_thinking(text))
    blocks = lines.fenced(body)
    body = (blocks[0] if blocks else body).strip()
    if body[:1] in {"{", "["}:
        found = json_forms.value_at(body, 0)
        return None if found is None else _objects(found[0], shape)
    steps = [
        step for step in parse.parse_outline(body, known, MAX_FAN_OUT).steps if step.kind is StepKind.TOOL
    ]
    if any(step.tool != shape.name or not (step.arguments or step.concrete) for step in steps):
        return None
    return [step.arguments for step in steps]


def _objects(value: Any, shape: Shape) -> list[dict[str, Any]] | None:
    """The argument objects in a JSON answer: calls, a list of them, or the bare arguments."""
    if isinstance(value, dict) and isinstance(value.get("calls"), list) and "calls" not in shape.properties:
        value = value["calls"]
    items: Sequence[Any] = value if isinstance(value, list) else [value]
    found = [_object(item, shape) for item in items]
    return None if any(item is None for item in found) else [item for item in found if item is not None]


def _object(item: Any, shape: Shape) -> dict[str, Any] | None:
    if not isinstance(item, dict):
        return None
    if isinstance(item.get("name"), str) and ("arguments" in item or item["name"] == shape.name):
        arguments = item.get("arguments") or {}
        return arguments if item["name"] == shape.name and isinstance(arguments, dict) else None
    return item
