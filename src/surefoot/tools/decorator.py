"""`@tool`: a tool from a typed function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import update_wrapper
from typing import Annotated, Any, Generic, ParamSpec, TypeVar, get_args, get_origin, get_type_hints, overload

from surefoot.errors import ArgumentError, ToolDefinitionError
from surefoot.tools import schema as schemas
from surefoot.tools.types import Context, Effect, Look, Tool, Undo, Where

Options = Mapping[str, Callable[[Context], Sequence[str] | None]]
Rather = Callable[[dict[str, Any], Look], tuple[str, dict[str, Any]] | None]
P = ParamSpec("P")
R = TypeVar("R")

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}\Z")
"""What providers allow at most (64 signs), and the dots and hyphens of names that come from elsewhere."""


class FunctionTool(Tool, Generic[P, R]):
    """A tool made from a function. Calling it calls the function itself, with values of its own types."""

    __wrapped__: Callable[P, R]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the function returns."""
        return self.__wrapped__(*args, **kwargs)


@overload
def tool(fn: Callable[P, R], /) -> FunctionTool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect | str = Effect.EXTERNAL,
    undo: Undo | None = None,
    kit: str = "",
    aliases: tuple[str, ...] = (),
    timeout: float | None = None,
    where: Where | None = None,
    max_calls: int | None = None,
    dates: Iterable[str] = (),
    said: Iterable[str] = (),
    options: Options | None = None,
    rather: Rather | None = None,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


def tool(
    fn: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect | str = Effect.EXTERNAL,
    undo: Undo | None = None,
    kit: str = "",
    aliases: tuple[str, ...] = (),
    timeout: float | None = None,
    where: Where | None = None,
    max_calls: int | None = None,
    dates: Iterable[str] = (),
    said: Iterable[str] = (),
    options: Options | None = None,
    rather: Rather | None = None,
) -> FunctionTool[P, R] | Callable[[Callable[P, R]], FunctionTool[P, R]]:
    """Make a tool of a function; it stays callable as it was.

    The annotations give the schema, the docstring (Google, NumPy or reST style) the descriptions. A parameter annotated
    `Context` gets the context and is not part of the schema. `date` and `datetime` stay text for the model and are read
    by `resolve_date` in the person's zone and language.

    Args:
        fn: the function, when used without arguments.
        name: its name for the model; the function's own by default.
        description: what it does; the docstring's summary by default.
        effect: `read`, `write` or `external`. Without one it is external: it asks before it runs.
        undo: how a write is taken back.
        kit: the group it belongs to.
        aliases: words in any language the router ranks it by.
        timeout: seconds.
        where: `thread` (default for a sync function), `loop` (an async one), or `writer`.
        max_calls: calls in one run, where the default of the limits does not fit.
        dates: arguments that are dates, copied from what the person said and read by the tool.
        said: other arguments that are copied so, such as tags.
        options: by argument, the names it can have now: a function of the context.
        rather: the call that is meant instead, by the arguments.

    Raises:
        ToolDefinitionError: it cannot work as it is written; the message names what.
    """
    bound = (frozenset(dates), frozenset(said), dict(options or {}), rather)
    settings = _Stated(
        name, description, effect, undo, kit, tuple(aliases), timeout, where, max_calls, *bound
    )
    if fn is not None:
        return _make(fn, settings)
    return lambda function: _make(function, settings)


@dataclass(frozen=True)
class _Stated:
    """What the decorator was given."""

    name: str | None
    description: str | None
    effect: Effect | str
    undo: Undo | None
    kit: str
    aliases: tuple[str, ...]
    timeout: float | None
    where: Where | None
    max_calls: int | None
    dates: frozenset[str]
    said: frozenset[str]
    options: Options
    rather: Rather | None


@dataclass
class _Signature:
    """A function's parameters, as far as a tool needs them."""

    annotations: dict[str, Any] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    context: str = ""
    context_first: bool = False


def _make(fn: Callable[P, R], stated: _Stated) -> FunctionTool[P, R]:
    name = _name(fn, stated)
    effect = _effect(name, stated)
    signature = _signature(name, fn)
    _check_named(name, stated, signature)
    summary, described = _docstring(fn)
    made: FunctionTool[P, R] = FunctionTool(
        name=name,
        description=summary if stated.description is None else stated.description,
        parameters=_parameters(name, signature, described),
        effect=effect,
        fn=_for_json(name, fn, signature),
        kit=stated.kit,
        undo=stated.undo,
        where=_where(name, fn, stated.where),
        wants_context=bool(signature.context) or _has_moments(signature),
        timeout=stated.timeout,
        aliases=stated.aliases,
        max_calls=stated.max_calls,
        dates=stated.dates,
        said=stated.said,
        options=stated.options,
        rather=stated.rather,
    )
    made.__dict__["__wrapped__"] = fn
    made.__dict__["__doc__"] = fn.__doc__
    made.__dict__["__name__"] = getattr(fn, "__name__", name)
    return made


def _name(fn: Callable[..., Any], stated: _Stated) -> str:
    name = stated.name if stated.name is not None else getattr(fn, "__name__", "")
    if not isinstance(name, str) or not NAME.match(name):
        raise ToolDefinitionError(
            f"{name!r} cannot be the name of a tool.",
            "Use 1 to 64 letters, digits, _, - and dots, starting with a letter: name='addNote'.",
            name=str(name),
        )
    return name


def _effect(name: str, stated: _Stated) -> Effect:
    try:
        effect = Effect(stated.effect)
    except ValueError as error:
        raise ToolDefinitionError(
            f"{name}: {stated.effect!r} is no effect.", "Use 'read', 'write' or 'external'."
        ) from error
    if effect is Effect.WRITE and stated.undo is None:
        raise ToolDefinitionError(
            f"{name} is a write and does not say how it is taken back.",
            "Give undo=Undo(capture, restore), or effect='external' if it cannot be taken back.",
        )
    if effect is not Effect.WRITE and stated.undo is not None:
        raise ToolDefinitionError(
            f"{name} has an undo, and its effect is {effect}.", "Give effect='write', or leave the undo out."
        )
    if stated.undo is not None and not isinstance(stated.undo, Undo):
        raise ToolDefinitionError(f"{name}: undo is {stated.undo!r}.", "Give undo=Undo(capture, restore).")
    return effect


def _where(name: str, fn: Callable[..., Any], stated: Where | None) -> Where:
    asynchronous = inspect.iscoroutinefunction(fn)
    where: Where = stated or ("loop" if asynchronous else "thread")
    if where not in {"writer", "thread", "loop"}:
        raise ToolDefinitionError(f"{name}: where is {where!r}.", "Use 'writer', 'thread' or 'loop'.")
    if asynchronous != (where == "loop"):
        kind = "async" if asynchronous else "not async"
        raise ToolDefinitionError(
            f"{name} is {kind}, and where is {where!r}.", "An async function runs on the loop."
        )
    return where


def _signature(name: str, fn: Callable[..., Any]) -> _Signature:
    hints = _hints(name, fn)
    found = _Signature()
    for place, parameter in enumerate(inspect.signature(fn).parameters.values()):
        _check_kind(name, parameter)
        if parameter.name not in hints:
            raise ToolDefinitionError(
                f"{name}: the parameter {parameter.name!r} has no annotation.",
                f"Write {parameter.name}: str, say.",
            )
        annotation = hints[parameter.name]
        if schemas.without_none(annotation)[0] is Context:
            _set_context(name, found, parameter.name, first=place == 0)
            continue
        found.annotations[parameter.name] = annotation
        if parameter.default is not inspect.Parameter.empty:
            found.defaults[parameter.name] = parameter.default
    return found


def _check_named(name: str, stated: _Stated, signature: _Signature) -> None:
    for what, keys in (("dates", stated.dates), ("said", stated.said), ("options", stated.options)):
        unknown = sorted(set(keys) - signature.annotations.keys())
        if unknown:
            raise ToolDefinitionError(
                f"{name}: {what} names {unknown[0]!r}, which is no parameter of it.",
                f"It has: {', '.join(signature.annotations) or 'none'}. Give names in a tuple: {what}=('due',).",
            )


def _hints(name: str, fn: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(fn, include_extras=True)
    except Exception as error:
        raise ToolDefinitionError(
            f"{name}: its annotations cannot be read: {error}.",
            "Import what they name in the same module, not under TYPE_CHECKING and not inside a function.",
        ) from error


def _check_kind(name: str, parameter: inspect.Parameter) -> None:
    if parameter.kind in {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        raise ToolDefinitionError(
            f"{name}: {parameter} cannot be described to a model.",
            "Name every parameter, or take one list or dict.",
        )
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        raise ToolDefinitionError(
            f"{name}: {parameter.name!r} is positional only, and arguments are passed by name.",
            "Take the / away.",
        )


def _set_context(name: str, found: _Signature, parameter: str, *, first: bool) -> None:
    if found.context:
        raise ToolDefinitionError(
            f"{name}: {found.context!r} and {parameter!r} both take the context.", "Keep one."
        )
    found.context = parameter
    found.context_first = first


def _docstring(fn: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    text = inspect.getdoc(fn) or ""
    if "\n" not in text:
        return text.strip(), {}
    from docstring_parser import parse

    parsed = parse(text)
    described = {item.arg_name: " ".join((item.description or "").split()) for item in parsed.params}
    return " ".join((parsed.short_description or "").split()), described


def _parameters(name: str, signature: _Signature, described: dict[str, str]) -> dict[str, Any]:
    annotations = {key: _shown(signature, key) for key in signature.annotations}
    try:
        made, definitions = schemas.schemas_of(annotations)
    except Exception as error:
        raise ToolDefinitionError(
            f"{name}: its annotations cannot be said in JSON: {str(error).splitlines()[0]}",
            "Use text, numbers, lists, dicts, Literal, Enum, dataclasses, TypedDict or pydantic models.",
        ) from error
    properties = {key: _described(part, signature, key, described.get(key, "")) for key, part in made.items()}
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    required = [key for key in signature.annotations if key not in signature.defaults]
    if required:
        parameters["required"] = required
    if not properties:
        parameters["additionalProperties"] = False  # a schema that declares nothing would take anything
    if definitions:
        parameters["$defs"] = definitions
    return parameters


def _shown(signature: _Signature, key: str) -> Any:
    """An optional parameter that is None by default is left out, not set to null: null is not shown."""
    annotation = signature.annotations[key]
    bare, optional = schemas.without_none(annotation)
    return bare if optional and signature.defaults.get(key, ...) is None else annotation


def _described(part: dict[str, Any], signature: _Signature, key: str, text: str) -> dict[str, Any]:
    annotation = signature.annotations[key]
    if not text and get_origin(annotation) is Annotated:
        text = next((note for note in get_args(annotation)[1:] if isinstance(note, str)), "")
    if text:
        part = {**part, "description": text}
    default = signature.defaults.get(key)
    if default not in (None, "") and type(default) in {str, int, float, bool}:
        part = {**part, "default": default}
    return part


# --- from JSON to the function's own types -------------------------------------------------------------------


def _has_moments(signature: _Signature) -> bool:
    return any(schemas.is_moment(annotation) for annotation in signature.annotations.values())


def _for_json(name: str, fn: Callable[..., Any], signature: _Signature) -> Callable[..., Any]:
    """A form of the function that takes `(ctx, **json)`; the function itself where that is what it takes already."""
    converters = _converters(name, signature)
    if not converters and (not signature.context or signature.context_first):
        return fn

    def called(ctx: Context | None = None, /, **arguments: Any) -> Any:
        values = {
            key: converters[key](value, ctx) if key in converters else value
            for key, value in arguments.items()
        }
        if signature.context:
            values[signature.context] = ctx
        return fn(**values)

    return update_wrapper(called, fn)


def _converters(name: str, signature: _Signature) -> dict[str, Callable[[Any, Any], Any]]:
    found: dict[str, Callable[[Any, Any], Any]] = {}
    for key, annotation in signature.annotations.items():
        if schemas.is_moment(annotation):
            found[key] = _moment_reader(annotation)
        elif not schemas.is_json(annotation):
            found[key] = _type_reader(name, key, annotation)
    return found


def _moment_reader(annotation: Any) -> Callable[[Any, Any], Any]:
    bare = schemas.without_none(annotation)[0]
    bare = get_args(bare)[0] if get_origin(bare) is Annotated else bare

    def read(value: Any, ctx: Context) -> Any:
        if not isinstance(value, str):
            return value
        from surefoot.tools.dates import resolve_date

        moment = resolve_date(value, ctx.now, ctx.zone, ctx.language)
        return moment.first if bare is datetime else moment.day

    return read


def _type_reader(name: str, key: str, annotation: Any) -> Callable[[Any, Any], Any]:
    from pydantic import TypeAdapter, ValidationError

    adapter: TypeAdapter[Any] = TypeAdapter(annotation)

    def read(value: Any, ctx: Any) -> Any:  # noqa: ARG001 - one shape for all readers
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            problems = [
                f"{'.'.join([key, *map(str, item['loc'])])} is {item['input']!r}: {item['msg']}"
                for item in error.errors()
            ]
            raise ArgumentError(
                f"{name}: {'; '.join(problems)}.", "Call it again with values that fit.", problems=problems
            ) from error

    return read
