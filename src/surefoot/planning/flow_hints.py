"""What a task says plainly, read by code: where to go, what to rank by, what to stop before, which words to keep.

A large model reads it for itself. A small one forgets half of it: so it is told, its grammar is held to it, and what
its flow lost is handed back once.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from surefoot.flows.facts import FactNames
from surefoot.flows.problems import Problem
from surefoot.flows.said import acts_in, ranks
from surefoot.flows.steps import BROWSER
from surefoot.planning.counts import number_of
from surefoot.storage.words import words

MOST: Final = 8
"""Words that are named: a line of a prompt; with more the task itself is as easy to read."""
LONGEST_FIGURE: Final = 6
"""Digits: longer ones are telephone numbers and the like, which no step may hold."""

_HOST: Final = re.compile(
    r"(?<![\w@.])(?:https?://)?((?:[a-z0-9-]+\.)+[a-z]{2,12})(?=[\s,;:!?)/」』、。]|\.(?:\s|$)|$|[^\x00-\x7f])",
    re.IGNORECASE,
)
_PERSONAL: Final = re.compile(r"\S+@\S+|\+?\d[\d\s()/-]{5,}\d")
"""Addresses and telephone numbers: no step may hold them."""
_QUOTED: Final = re.compile(r"[\"“„«「『‘']([^\"“”„«»「」『』‘’']{2,60})[\"”“»」』’'](?!\w)")
_FILE: Final = re.compile(r"[\w-]+\.([a-z0-9]{2,4})\b", re.IGNORECASE)
_FIGURE: Final = re.compile(r"(?<![\w.+-])\d[\d.,:/-]*(?=\D|$)")
_NAME: Final = re.compile(r"(?<![^\d][.!?]\s)(?<!^)(?<=[\s(])(?!I\b)[A-ZÄÖÜ][\w'’-]+(?:\s[A-ZÄÖÜ][\w'’-]+)*")


@dataclass(frozen=True, slots=True)
class Hints:
    """What a task says plainly.

    Attributes:
        hosts: hosts that it names, for the first `browse`.
        ranked: it asks for the best by a criterion, which is a `pick`.
        stop: what the last step stops before; empty where the task speaks of no such act.
        words: figures, names, files and quoted texts that a step must have.
    """

    hosts: tuple[str, ...] = ()
    ranked: bool = False
    stop: str = ""
    words: tuple[str, ...] = ()

    def lines(self) -> str:
        """The same as lines of a prompt."""
        said = [
            f'Begin with {{"browse": "https://{self.hosts[0]}"}}.' if self.hosts else "",
            f"In the steps, word for word: {', '.join(self.words)}." if self.words else "",
            "Use one `pick` for the best." if self.ranked else "",
            f'End with {{"stop_before": "{self.stop}"}}.' if self.stop else "",
        ]
        return "\n".join(line for line in said if line)


def hints_of(goal: str) -> Hints:
    """What the task says plainly; the person's own address and number are no part of it."""
    text = _PERSONAL.sub(lambda found: found.group() if _is_date(found.group()) else " ", goal)
    hosts = tuple(dict.fromkeys(one.lower() for one in _HOST.findall(text) if not _is_file(one)))
    acts = acts_in(text) | _asked(text)
    stop = next((words for act, words in _table()["stops"].items() if act in acts), "")
    return Hints(hosts, ranks(text), stop, tuple(_words(text, hosts))[:MOST])


def _words(text: str, hosts: Iterable[str]) -> Iterable[str]:
    """Quoted texts, files, figures and names, each once, none that is part of another."""
    for host in hosts:
        text = re.sub(re.escape(host), " ", text, flags=re.IGNORECASE)
    found = [
        *_QUOTED.findall(text),
        *(match.group() for match in _FILE.finditer(text) if _is_file(match.group())),
        *(figure.rstrip(".,:/-") for figure in _FIGURE.findall(text)),
        *(word for word in text.split() if number_of(word.strip(".,").casefold()) and not word[0].isdigit()),
        *_NAME.findall(text),
    ]
    kept: list[str] = []
    for one in found:
        short = sum(sign.isdigit() for sign in one) <= LONGEST_FIGURE
        if short and not any(one in other for other in kept):
            kept.append(one)
    return kept


def _asked(text: str) -> set[str]:
    """Acts that a task asks for in words that a step would not use."""
    folded = text.casefold()
    return {act for act, found in _table()["asks"].items() if any(re.search(one, folded) for one in found)}


def _is_date(figures: str) -> bool:
    """Figures that are a day or a span of them, and no telephone number."""
    return sum(sign.isdigit() for sign in figures) <= LONGEST_FIGURE


def _is_file(name: str) -> bool:
    return name.rpartition(".")[2].lower() in _table()["files"]


@cache
def _table() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(
        files("surefoot.planning").joinpath("flow_hints.toml").read_text(encoding="utf-8")
    )
    return found


# --- what a flow lost ----------------------------------------------------------------------------------------


def lost(hints: Hints, flow: Any, facts: FactNames) -> tuple[Problem, ...]:
    """What the task says and the valid flow does not, as sentences for the model that wrote it."""
    kinds = [next(iter(step)) for step in flow["steps"] if isinstance(step, dict)]
    text = json.dumps(flow, ensure_ascii=False)
    there = set(words(text))
    numbers = {number for word in there if (number := number_of(word))}
    gone = [one for one in hints.words if not _is_there(one, there, numbers)]
    unused = [name for name in facts.all if f"${{{name}}}" not in text]
    found = []
    if hints.hosts and flow["app"] == BROWSER and not any(host in text for host in hints.hosts):
        found.append(("task_place", f'Begin with {{"browse": "https://{hints.hosts[0]}"}}.'))
    if gone:
        found.append(
            ("task_words", f"The task says {', '.join(gone)}: no step does. Put each where it belongs.")
        )
    if hints.ranked and "pick" not in kinds:
        found.append(("task_best", "The task asks for the best of several: rank them with one `pick`."))
    if hints.stop and "stop_before" not in kinds:
        found.append(("task_stop", f'End with {{"stop_before": "{hints.stop}"}}.'))
    if unused and hints.stop in {"paying", "submitting"}:
        names = ", ".join(f"${{{name}}}" for name in unused)
        found.append(("task_facts", f"No step uses {names}. Enter those that the form asks for."))
    return tuple(Problem("", code, sentence) for code, sentence in found)


def _is_there(said: str, there: set[str], numbers: set[int]) -> bool:
    """All words of it stand in the flow, a number in words or figures."""
    return all(word in there or number_of(word) in numbers for word in words(said))
