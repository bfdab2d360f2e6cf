"""What a task says plainly, read by code: where to go, what to rank by, what to stop before, which words to keep.

A large model reads it for itself. A small one forgets half of it: so it is told, its grammar is held to it, and what
its flow lost is handed back once.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from surefoot.flows.facts import FactNames
from surefoot.flows.problems import Problem
from surefoot.flows.said import acts_in, ranks
from surefoot.flows.steps import BROWSER
from surefoot.planning._data import table
from surefoot.planning.counts import number_of
from surefoot.storage.words import words

MOST: Final = 8
"""Words that are named: a line of a prompt; with more the task itself is as easy to read."""
PAYING: Final = "paying"
"""What a purchase stops before, as flow_hints.toml names it."""
FORMS: Final = (PAYING, "submitting")
"""What a form is filled in for."""
NEAR: Final = 15
"""Letters between a file and the verb behind it, in languages that end with their verb."""
MOST_ASKED: Final = 5
"""Of them, fields of one form: more are a form of several pages."""
LONGEST_FIGURE: Final = 6
"""Digits: longer ones are telephone numbers and the like, which no step may hold."""

_HOST: Final = re.compile(
    r"(?<![\w@.])(?:https?://)?((?:[a-z0-9-]+\.)+[a-z]{2,12})(?=[\s,;:!?)/」』、。]|\.(?:\s|$)|$|[^\x00-\x7f])",
    re.IGNORECASE,
)
_PERSONAL: Final = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w.])\+?\d[\d\s()/-]{5,}\d(?!\w|\.\d)", re.ASCII
)
"""Addresses and telephone numbers: no step may hold them."""
_QUOTED: Final = re.compile(r"[\"“„«「『‘']([^\"“”„«»「」『』‘’']{2,60})[\"”“»」』’'](?!\w)")
_FILE: Final = re.compile(
    r"[\w-]+\.(?:pdf|docx?|od[tspg]|xlsx?|csv|pptx?|txt|md|rtf|jpe?g|png|gif|svg|zip|json|html)\b",
    re.IGNORECASE,
)
_BETWEEN: Final = re.compile(
    r"(\S+) से (\S+)(?= (?:की|के|का|तक|जाने))|([一-龯ァ-ヶー]{2,})から([一-龯ァ-ヶー]{2,})(?=まで|へ|に|行)"
)
"""Two places, in Hindi and Japanese, which have no capitals."""
_COUNTED: Final = re.compile(r"\d+(?:本|つ|個|枚|泊|名|人|通|台|冊|箱|キロ)")
_UNSAID: Final = re.compile(r'["\\${}<>\x00-\x1f]')
"""What a text of the grammar cannot hold as it stands."""
_FIGURE: Final = re.compile(r"(?<![\w.+-])\d[\d.,:/-]*(?=\D|$)")
_CAPITAL: Final = r"[A-ZÄÖÜ][\w'’-]+"
_NAME: Final = re.compile(rf"(?<![^\d][.!?]\s)(?<!^)(?<=[\s(])(?!I\b){_CAPITAL}(?:\s{_CAPITAL})*")
_NOUNS: Final = re.compile(r"\b(?:und|auf|mir|mein\w*|ein|eine|einen|der|die|das|den|vom|zum|bitte)\b")
"""Words of German, where every noun has a capital and a capital says no name."""
_GERMAN_NAME: Final = re.compile(
    rf"(?:(?<=\bin\s)|(?<=\bvon\s)|(?<=\bnach\s)|(?<=\bab\s)|(?<=\baus\s)|(?<=\bbei\s)|(?<=\bHerrn\s)|(?<=\bFrau\s)){_CAPITAL}"
    rf"|(?<!^)(?<![^\d][.!?]\s)(?<!\w){_CAPITAL}\s{_CAPITAL}(?:\s{_CAPITAL})*"
)
_NAMED: Final = re.compile(r"\$\{[^{}]*\}")


def without_details(goal: str) -> str:
    """The task with mail addresses and telephone numbers as `${...}`: no model needs them, no flow may hold them."""
    counts: Counter[str] = Counter()

    def name(found: re.Match[str]) -> str:
        said = found.group()
        if "@" not in said and _is_date(said):
            return said
        kind = "email" if "@" in said else "phone"
        counts[kind] += 1
        return f"${{{kind}{'' if counts[kind] == 1 else f' {counts[kind]}'} from the task}}"

    return _PERSONAL.sub(name, goal)


@dataclass(frozen=True, slots=True)
class Hints:
    """What a task says plainly.

    Attributes:
        hosts: hosts that it names, for the first `browse`.
        ranked: it asks for the best by a criterion, which is a `pick`.
        stop: what the last step stops before; empty where the task speaks of no such act.
        words: days, figures, names, files and quoted texts that a step must have, in the order of the task.
        asked: those of them that a page is asked for: days, figures, names; none where a letter is written.
        saved: the file that the work ends in.
        app: the desktop application that it names, for the first `open`.
        details: names of the person's own details that stand in the task as `${...}`.
        goal: the task itself, without what it is done with.
        read: a task was read for them, so that a grammar may hold a flow to the secrets that were given for it, too.
    """

    hosts: tuple[str, ...] = ()
    ranked: bool = False
    stop: str = ""
    words: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    saved: str = ""
    app: str = ""
    details: tuple[str, ...] = ()
    goal: str = ""
    read: bool = False

    def lines(self) -> str:
        """The same as lines of a prompt."""
        said = [
            f'Begin with {{"browse": "https://{self.hosts[0]}"}}.' if self.hosts else "",
            f'Begin with {{"open": "{self.app}"}}.' if self.app and not self.hosts else "",
            f"In the steps, word for word: {', '.join(self.words)}." if self.words else "",
            "Use one `pick` for the best." if self.ranked else "",
            f'End with {{"stop_before": "{self.stop}"}}.' if self.stop else "",
        ]
        return "\n".join(line for line in said if line)


def hints_of(goal: str) -> Hints:
    """What the task says plainly; the person's own address and number are no part of it."""
    text = _NAMED.sub(" ", without_details(goal))
    hosts = tuple(dict.fromkeys(one.lower() for one in _HOST.findall(text) if not _is_file(one)))
    acts = acts_in(text) | _asked(text)
    if _buys_nothing(text):
        acts -= {"pay"}
    app = _named("apps", text)
    site = "" if hosts or app else _named("sites", text)
    stop = next((words for act, words in table("flow_hints")["stops"].items() if act in acts), "")
    said = _words(_without(text, [*hosts, app, site]))[:MOST]
    letter = any(word in text.casefold() for word in table("flow_hints")["letters"])
    asked = [word for word, quoted in said if not (letter or quoted or _is_file(word))]
    return Hints(
        hosts or ((site,) if site else ()),
        ranks(text) and not letter,
        stop,
        tuple(word for word, _ in said),
        tuple(asked[:MOST_ASKED]),
        _saved(text),
        app,
        details=tuple(name[2:-1] for name in _NAMED.findall(goal)),
        goal=text,
        read=True,
    )


def _without(text: str, named: Iterable[str]) -> str:
    """The text without the place it names, in whatever words."""
    said = {one for one in named if one}
    for kind in ("apps", "sites"):
        said |= {word for name, found in table("flow_hints")[kind].items() if name in said for word in found}
    for one in sorted(said, key=len, reverse=True):
        text = re.sub(re.escape(one), " ", text, flags=re.IGNORECASE)
    return text


def _named(kind: str, text: str) -> str:
    """The application or site that the text names, by the words people have for it; the longest of several."""
    folded = text.casefold()
    found = [
        (len(word), name)
        for name, words_ in table("flow_hints")[kind].items()
        for word in words_
        if re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", folded)
    ]
    return max(found, default=(0, ""))[1]


def _words(text: str) -> list[tuple[str, bool]]:
    """What must not be lost, in the order of the task, each once, none that is part of another; and if it is quoted."""
    names = _GERMAN_NAME if len(_NOUNS.findall(text)) > 1 else _NAME
    patterns = (_QUOTED, _FILE, _day(), names, _COUNTED, _FIGURE)
    spans = [match.span(match.lastindex or 0) for one in patterns for match in one.finditer(text)]
    spans += [span for match in _BETWEEN.finditer(text) for span in match.regs[1:] if span[0] >= 0]
    spans += [match.span() for match in re.finditer(r"\S+", text) if number_of(match.group().casefold())]
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: span[0] - span[1]):
        digits = sum(sign.isdigit() for sign in text[start:end])
        if digits <= LONGEST_FIGURE and not any(start < other[1] and other[0] < end for other in kept):
            kept.append((start, end))
    quoted = {match.span(1) for match in _QUOTED.finditer(text)}
    said = {text[start:end].strip(" .,:;!?/-\n"): (start, end) in quoted for start, end in sorted(kept)}
    return [(one, is_quoted) for one, is_quoted in said.items() if one and not _UNSAID.search(one)]


@cache
def _day() -> re.Pattern[str]:
    """A day as it is said: with its month, or by its name."""
    months, weekdays, tight = (
        "|".join(table("flow_hints")[name]) for name in ("months", "weekdays", "tight_days")
    )
    day = r"\d{1,2}(?:st|nd|rd|th|\.)?"
    return re.compile(
        rf"{day}(?:\s?(?:to|bis|and|und|–|-)\s?{day})?\s(?:of\s)?(?:{months})\b"
        rf"|\b(?:{months})\s{day}\b|\d{{1,2}}月\d{{1,2}}日|(?<!\w)(?:{weekdays})(?!\w)|(?:{tight})",
        re.IGNORECASE,
    )


def _saved(text: str) -> str:
    """The last file that the task names, where it is to be saved."""
    saves = [
        match.start() for match in re.finditer("|".join(table("flow_hints")["saves"]), text, re.IGNORECASE)
    ]
    named = [
        match.group()
        for match in _FILE.finditer(text)
        if any(match.start() > at or at - match.end() < NEAR for at in saves)
    ]
    return named[-1] if named else ""


def _asked(text: str) -> set[str]:
    """Acts that a task asks for in words that a step would not use."""
    folded = text.casefold()
    return {
        act
        for act, found in table("flow_hints")["asks"].items()
        if any(re.search(one, folded) for one in found)
    }


def _buys_nothing(text: str) -> bool:
    """The task says itself that nothing is to be bought."""
    return re.search(table("flow_hints")["no_purchase"], text.casefold()) is not None


def _is_date(figures: str) -> bool:
    """Figures that are a day or a span of them, and no telephone number."""
    return sum(sign.isdigit() for sign in figures) <= LONGEST_FIGURE


def _is_file(name: str) -> bool:
    return name.rpartition(".")[2].lower() in table("flow_hints")["files"]


def form_facts(facts: FactNames, hints: Hints) -> list[str]:
    """The shared facts that nearly every form asks for: name, address, telephone; where two are of a kind, neither.

    What the task itself gives as a detail is among them.
    """
    if hints.stop not in FORMS:
        return []
    kinds: dict[str, list[str]] = {}
    for name in facts.shared:
        spelt = {" ".join(words(name)), name.casefold()}
        kind = next((kind for kind, found in table("flow_hints")["form"].items() if spelt & set(found)), "")
        kinds.setdefault(kind, []).append(name)
    chosen = {found[0] for kind, found in kinds.items() if kind and len(found) == 1}
    return [*(name for name in facts.shared if name in chosen), *hints.details]


# --- what a flow lost ----------------------------------------------------------------------------------------


def lost(hints: Hints, flow: Any, facts: FactNames) -> tuple[Problem, ...]:
    """What the task says and the valid flow does not, as sentences for the model that wrote it."""
    kinds = [next(iter(step)) for step in flow["steps"] if isinstance(step, dict)]
    text = json.dumps(flow, ensure_ascii=False)
    there = set(words(text))
    numbers = {number for word in there if (number := number_of(word))}
    gone = [one for one in hints.words if not _is_there(one, there, numbers)]
    unused = [name for name in (*facts.all, *hints.details) if f"${{{name}}}" not in text]
    meant = [
        name for name in unused if hints.stop in FORMS or name in hints.details or _is_named(name, hints)
    ]
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
    if meant:
        names = ", ".join(f"${{{name}}}" for name in meant)
        found.append(("task_facts", f"No step uses {names}. Enter those that the form asks for."))
    return tuple(Problem("", code, sentence) for code, sentence in found)


def _is_named(fact: str, hints: Hints) -> bool:
    """The fact is of somebody or something that the task names."""
    said = {word for one in hints.words for word in words(one)}
    return any(word in said for word in words(fact))


def _is_there(said: str, there: set[str], numbers: set[int]) -> bool:
    """All words of it stand in the flow, a number in words or figures."""
    return all(word in there or number_of(word) in numbers for word in words(said))
