"""One function for each reference page; each returns Markdown made from the code."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from surefoot.errors import SurefootError
from surefoot.tools.types import Tool

DEFAULT_FOLDERS = {
    "data_dir": "the platform's data folder",
    "cache_dir": "the platform's cache folder",
}

LIMIT_MEANING = {
    "rounds": "rounds of tool calls in one native loop; one more model call may answer",
    "model_calls": "model calls of the whole run: plan, steps, reply",
    "tokens": "tokens of all prompts and outputs together",
    "seconds": "time, waiting for approval left out",
    "writes": "calls that change something and can be taken back",
    "external": "calls that cannot be taken back",
    "calls_per_tool": "calls of one tool",
    "cost": "what is known of the cost of model calls, in the account's currency",
}

EXIT_CODES = {
    0: "Done.",
    1: "Done in part, or problems were found: some step failed, a conflict kept an undo from a change, "
    "the disk or the database failed.",
    2: "Usage: an option, a value, a name or a setting that cannot be used.",
    3: "The model or its provider.",
    4: "Refused: by the policy, by a limit, or because the model cannot do it.",
    5: "Waiting for approval or input; the command that goes on is printed.",
    6: "A file or text that cannot be read.",
    130: "Interrupted with Ctrl-C. What was done is in the journal and can be undone.",
}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; `|` in a cell is escaped."""
    lines = [list(head)]
    lines += [["---"] * len(lines[0])]
    lines += [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def settings() -> str:
    """Every setting, with its variable, type, default and meaning."""
    from surefoot.settings import FILE_ONLY, Settings

    rows = [
        (
            f"`{name}`",
            "only in the file" if name in FILE_ONLY else f"`SUREFOOT_{name.upper()}`",
            _kind(field),
            _default(name, field),
            field.description or "",
        )
        for name, field in Settings.model_fields.items()
    ]
    return f"""# Settings

Settings come from environment variables and from `settings.toml` in the platform's config folder
(`~/.config/surefoot` on Linux, `~/Library/Application Support/surefoot` on macOS; `SUREFOOT_CONFIG_DIR` names another).
The environment wins over the file, and what a program gives to `load_settings` or a command's option wins over both.
An unknown name in the file is an error. Keys are no settings: see [secrets](secrets.md).

```toml
model = "ollama:qwen3:4b"
zone = "Europe/Berlin"
policy.deleteNote = "confirm"   # one tool
policy.files = "confirm"        # a kit
policy.external = "deny"        # everything that cannot be taken back
limits.writes = 10
routes.mygateway.base_url = "https://gateway.example.com/v1"   # `mygateway:some-model`
```

In the environment a name inside a table follows two underscores: `SUREFOOT_LIMITS__WRITES=10`,
`SUREFOOT_POLICY__DELETENOTE=confirm` (the case of a policy's name does not matter).

{table(("setting", "variable", "type", "default", "what it does"), rows)}
"""


def _kind(field: FieldInfo) -> str:
    kind = field.annotation
    if get_origin(kind) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(kind))
    if get_origin(kind) is dict or any(hasattr(part, "model_fields") for part in get_args(kind)):
        return "table"
    if kind == list[str]:
        return "list of texts (JSON in a variable)"
    name = str(getattr(kind, "__name__", kind)) if not get_args(kind) else "path"
    words = {"str": "text", "int": "whole number", "float": "number", "bool": "yes or no", "Path": "path"}
    bounds = ", ".join(_bound(item) for item in field.metadata if _bound(item))
    return words.get(name, name) + (f", {bounds}" if bounds else "")


def _bound(item: object) -> str:
    signs = {"gt": "more than", "ge": "at least", "le": "at most", "lt": "less than"}
    for name, words in signs.items():
        if hasattr(item, name):
            return f"{words} {getattr(item, name)}"
    return ""


def _default(name: str, field: FieldInfo) -> str:
    if name in DEFAULT_FOLDERS:
        return DEFAULT_FOLDERS[name]
    value = field.get_default(call_default_factory=True)
    if value in ("", None, {}, SecretStr("")):
        return "empty"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def limits() -> str:
    """The limits of a run, with the defaults for hosted and local models."""
    from surefoot.running.budget import Limits, _data, default_limits

    hosted, local = default_limits(local=False), default_limits(local=True)
    rows = [
        (f"`{name}`", LIMIT_MEANING[name], _number(getattr(hosted, name)), _number(getattr(local, name)))
        for name in Limits.__dataclass_fields__
    ]
    kits = [(kit, _number(number)) for kit, number in _data()["calls_per_kit"].items()]
    return f"""# Limits

A run stops at the first of these that it reaches. What was done stays done and can be undone; the run says which limit
it was and how to go on. A limit is taken out of the budget before a call starts, so calls side by side never pass it
together. Change one with `limits.<name>` in the [settings](settings.md); an undo has no limits.

{table(("limit", "what it counts", "hosted model", "local model"), rows)}

Tools of these kits may be called more often, because their ordinary use is many small calls:

{table(("kit", "calls of one tool"), kits)}
"""


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:,g}" if value == int(value) else f"{value:g}"


def errors() -> str:
    """The error tree and a table of the classes."""
    rows = [
        (
            "&nbsp;" * 3 * depth + f"`{kind.__name__}`",
            f"`{kind.code}`",
            str(kind.exit_code),
            _first_line(kind),
        )
        for depth, kind in _tree(SurefootError)
    ]
    return f"""# Errors

Everything Surefoot raises is a `SurefootError`, split by who must act: the developer, the provider of the model, a
limit, the person, the disk, or a tool. An error has a stable `code`, a `message` that names the value, a `next_move`,
and `details` for programs. `to_dict()` is its form as JSON, `error_from_dict` reads it back; it survives pickling too.
The exit code is what the [command line](exit-codes.md) returns for it.

A tool's failure (`ToolError`) never ends a run: it is handed to the model, or shown, as the result of the call.

{table(("class", "code", "exit code", "meaning"), rows)}
"""


def _tree(kind: type[SurefootError], depth: int = 0) -> Iterator[tuple[int, type[SurefootError]]]:
    yield depth, kind
    for child in kind.__subclasses__():
        if child.__module__ == "surefoot.errors":
            yield from _tree(child, depth + 1)


def _first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or "").splitlines()[0]


def exit_codes() -> str:
    """What each exit code means, and which errors return it."""
    codes: dict[int, list[str]] = {}
    for _, kind in _tree(SurefootError):
        codes.setdefault(kind.exit_code, []).append(f"`{kind.code}`")
    unknown = set(codes) - set(EXIT_CODES)
    if unknown:
        raise ValueError(f"exit codes without a meaning: {sorted(unknown)}")
    rows = [(str(code), text, ", ".join(codes.get(code, []))) for code, text in EXIT_CODES.items()]
    return f"""# Exit codes

{table(("code", "meaning", "error codes"), rows)}
"""


def events() -> str:
    """The closed list of event types, with the data of each."""
    from surefoot.events import LIVE_ONLY, EventType

    said = _comments(EventType)
    rows = [
        (
            f"`{kind.value}`",
            said[kind.name].removeprefix("live only: "),
            "live only" if kind in LIVE_ONLY else "yes",
        )
        for kind in EventType
    ]
    return f"""# Events

What happens in a run, in order. Each event has the `run`, a `seq` that counts from 1 within the run, a `type` of this
closed list, `data`, and the time `at`. Stored events are written in the transaction they describe. Live ones carry the
seq of the last stored one.

{table(("type", "data", "stored"), rows)}
"""


def _comments(enum: type) -> dict[str, str]:
    """The comment beside each member of an enumeration: it names the member's data."""
    lines = inspect.getsource(enum).splitlines()
    body = ast.parse(inspect.getsource(enum)).body[0]
    if not isinstance(body, ast.ClassDef):
        raise TypeError(f"{enum} is no class")
    found = {}
    for node in body.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            written = lines[node.lineno - 1 : node.end_lineno]
            comment = next((line.partition("  # ")[2] for line in written if "  # " in line), "")
            found[node.targets[0].id] = comment.partition(" - ")[2] if comment.startswith("noqa") else comment
    return found


def tools() -> str:
    """The built-in tools, kit by kit: arguments, effect, what they do."""
    from surefoot.tools.kits import KITS, builtin

    kits = "\n\n".join(f"## {kit}\n\n{_kit_table(builtin([kit]))}" for kit in KITS)
    return f"""# Built-in tools

What a plan may call. Arguments with `?` may be left out. Dates are text as a person says them ("3 May", "tomorrow at
5pm"), read in the person's zone and language. Where a note, task, event, quiz or article is asked for, its id or its
title will do; a question is named by its text or number. A `read` changes nothing, a `write` can be taken back, an
`external` call cannot and asks first.

{kits}
"""


def _kit_table(kit: Iterable[Tool]) -> str:
    rows = [
        (f"`{tool.name}`", _arguments(tool.parameters), str(tool.effect), tool.description) for tool in kit
    ]
    return table(("tool", "arguments", "effect", "what it does"), rows)


def _arguments(schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    return ", ".join(
        f"`{name}{'' if name in required else '?'}` {_json_type(part)}"
        for name, part in schema.get("properties", {}).items()
    )


def _json_type(part: dict[str, Any]) -> str:
    if "enum" in part:
        return " or ".join(f"`{value}`" for value in part["enum"])
    if part.get("type") == "array":
        return f"list of {_json_type(part.get('items', {}))}"
    if isinstance(part.get("type"), list):
        return " or ".join(_json_type({"type": kind}) for kind in part["type"])
    if part.get("properties"):
        return f"({_arguments(part)})"
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "yes or no"}
    return words.get(part.get("type", ""), "any value")


def cli() -> str:
    """Every command with its arguments and options, from the command line's own help."""
    import typer

    from surefoot.cli import app

    root = typer.main.get_command(app)
    commands = "\n\n".join(_command(path, command) for path, command in _leaves("surefoot", root))
    return f"""# Command line

{root.help}

In a pipe the output is plain text, with `--json` it is JSON. What a script can rely on: [exit codes](exit-codes.md).
Options of every command:

{table(("option", "what it does"), _options(root))}

{commands}
"""


def _leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    for name, child in command.commands.items():
        if hasattr(child, "commands"):
            yield from _leaves(f"{path} {name}", child)
        elif not child.hidden:
            yield f"{path} {name}", child


def _command(path: str, command: Any) -> str:
    usage = " ".join([path, *command.collect_usage_pieces(_context(command))])
    parts = [f"## {path}", inspect.cleandoc(command.help or ""), f"```\n{usage}\n```"]
    options = _options(command)
    parts += [table(("option", "what it does"), options)] if options else []
    return "\n\n".join(parts)


def _context(command: Any) -> Any:
    return command.context_class(command)


def _options(command: Any) -> list[tuple[str, str]]:
    skipped = {"help", "install_completion", "show_completion"}
    wanted = [
        item for item in command.params if item.param_type_name == "option" and item.name not in skipped
    ]
    records = [item.get_help_record(_context(command)) for item in wanted]
    return [(f"`{record[0]}`", record[1]) for record in records if record]
