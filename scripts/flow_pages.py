"""The page of the checker's rules, made from flows/rules.toml."""

from __future__ import annotations

import json

from surefoot.flows.checker import check_flow
from surefoot.flows.formatting import layout
from surefoot.flows.rules import Example, Rule, rules

HEAD = """# Problems of flows

`surefoot flow check FILE` and `check_flow` find these. Each has a stable code, the step it is in (`4.2` is the second
step in the fourth, `4.else.1` the first of its else branch) and a sentence that says how to mend it; the same sentences
go back to the model that wrote a flow. All problems are told at once, in the order of the file. A flow without any may
run."""

GROWN = {
    "problems": "There are more names like this than problems are told.",
    "steps": "The step is there more often than is allowed.",
    "text": "The text is repeated until it is longer than is allowed.",
    "slots": "There are more fields like this than are allowed.",
    "vars": "There are more variables like this than are allowed.",
}


def flow_problems() -> str:
    """A section for each code, with its reason and its examples."""
    listing = "\n".join(f"- [`{rule.code}`](#{rule.code}): {rule.title.lower()}" for rule in rules())
    return "\n\n".join([HEAD, listing, *map(_section, rules())])


def _section(rule: Rule) -> str:
    wrong = "\n\n".join(map(_wrong, rule.failing))
    right = "\n\n".join(map(_example, rule.passing))
    return f"## {rule.code}\n\n{rule.title}. {rule.why}\n\nWrong:\n\n{wrong}\n\nRight:\n\n{right}"


def _wrong(example: Example) -> str:
    problem = check_flow(example.flow(), example.facts, surfaces=example.surfaces)[-1]
    return f"{_example(example)}\n\n> {problem.message}"


def _example(example: Example) -> str:
    text = layout(json.loads(example.text)).rstrip().replace("\u200b", "\\u200b")  # nobody would see it
    return f"```json\n{text}\n```{_checked_with(example)}"


def _checked_with(example: Example) -> str:
    said = [
        f"{what}: {', '.join(f'`{name}`' for name in names)}"
        for what, names in (("Facts", example.facts.shared), ("Secrets", example.facts.secret))
        if names
    ]
    if len(example.surfaces) == 1:
        said.append(f"Only the {next(iter(example.surfaces))} is available")
    if example.grow:
        said.append(GROWN[example.grow].rstrip("."))
    return f"\n\n{'. '.join(said)}." if said else ""
