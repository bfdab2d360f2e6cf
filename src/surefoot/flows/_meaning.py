"""What a flow means, checked while its shape is walked: names, secrets, conditions, labels, places, consequences.

Some rules need the whole flow (is a name filled later? is there a stop?). Their findings wait in the list, at their
place, until the walk is over, so that all problems come in the order of the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final
from unicodedata import normalize

from surefoot.flows._consequences import Consequences
from surefoot.flows._data import limits
from surefoot.flows._details import pays, unseen_character, value_problem, written_secret
from surefoot.flows._heard import Listener, Place
from surefoot.flows._options import describes, orders
from surefoot.flows._places import place_problem
from surefoot.flows._shown import listed, masked, shown
from surefoot.flows.facts import FactNames
from surefoot.flows.problems import Problem
from surefoot.flows.scope import nearest
from surefoot.flows.steps import PartType
from surefoot.flows.variables import names_in, unclosed, without_names

Waiting = Callable[[], Problem | None]

_WORD: Final = re.compile(r"(?<![\w/@=&?#:\-.$])[^\W\d]\w*+(?![/@=&]|[.:\-]\w)")
"""A word that is no piece of an address."""
_CODED: Final = re.compile(r"_|\d|[^\W\d_A-Z][A-Z]")
"""What only a program's word has: `_`, a digit or a capital inside."""
_ODD: Final = re.compile(r"[^\W\D]|[!#$%&*+=?@^~|\\/<>{}\[\]_:]|[a-z][A-Z]")
"""What prose has little of, and every secret and every identifier has: most texts are done with after this."""
_OTHER_BRACES: Final = re.compile(r"(?<![${])\{+[^{}]+\}+|<[^<>]+>|\[[^\[\]]+\]|\$\w+|%\w+%")
"""How other languages write a variable."""


def _in_list_around(path: str, other: str) -> bool:
    """The step of `path` stands in a list that the other step is in, too: `4.2` in that of `4.3` and of `4.5.1`."""
    around = path[: path.rfind(".") + 1]
    if other == "app":
        return not around
    return other.startswith(around) and other[len(around) :][:1].isdigit()


def _more(problem: Problem) -> Problem:
    message = f"There are more than {limits().problems} problems, from here on untold. Mend these first."
    return Problem(problem.path, "too_many_problems", message, problem.pointer)


class Meaning(Listener):
    """Hears the walk and keeps what is wrong."""

    def __init__(self, flow: Any, facts: FactNames, surfaces: frozenset[str]) -> None:
        self._facts = facts
        self._given = frozenset(facts.all)
        self._secret = frozenset(facts.secret)
        self._surfaces = surfaces
        self._found: list[Problem | Waiting] = []
        given = flow.get("vars") if isinstance(flow, dict) else None
        self._vars = {name for name in given if isinstance(name, str)} if isinstance(given, dict) else set()
        self._known = set(self._vars)
        self._bodies: list[list[str]] = []
        self._filled: dict[str, list[str]] = {}
        self._picked: set[str] = set()
        self._acts = Consequences()
        self._lists: dict[str, str] = {}

    def note(self, problem: Problem) -> None:
        """Keep a problem of shape."""
        self._found.append(problem)

    def problems(self) -> list[Problem]:
        """All that is wrong, once the walk is over."""
        self._acts.ends()
        told: list[Problem] = []
        for entry in self._found:
            problem = entry if isinstance(entry, Problem) else entry()
            if problem is None:
                continue
            if len(told) == limits().problems:
                return [*told, _more(problem)]
            told.append(problem)
        return told

    # --- what is heard -------------------------------------------------------------------------------------------

    def text(self, place: Place, text: str, /) -> None:
        """Its names, secrets, bare variables and acts."""
        self._add(unseen_character(place, text))
        if "${" in text:
            self._names(place, text, secret_here=False)
        self._written(place, text)
        if place.type is PartType.APP or place.type is PartType.ADDRESS:
            self._add(place_problem(place, text, self._surfaces))
        elif place.kind == "stop_before":
            self._acts.stops(text)
        elif place.kind == "do":
            self._consequence(place, text)
        elif place.kind == "choose":
            self._chosen(place, text)

    def value(self, place: Place, name: str, text: str, /) -> None:
        """The one place where a secret may stand."""
        self._add(unseen_character(place, text))
        if "${" in text:
            self._names(place, text, secret_here=place.kind == "enter")
        if not self._written(place, text):
            self._add(value_problem(place, name, text, self._facts, self._knows))
        if place.kind == "enter" and pays(name, text):
            self._found.append(self._acts.enters(place, name).problem)

    def named(self, place: Place, name: str, /) -> None:
        """It is known from the first step on."""
        self._add(written_secret(place, name))
        if self._is_fact(name):
            self._shadows(place, name, "a fact")

    def fills(self, place: Place, name: str, /) -> None:
        """It is known behind this step, as far as that is certain to run."""
        fact = self._is_fact(name)
        if fact or name in self._vars:
            self._shadows(place, name, "a fact" if fact else "in vars")
        if place.kind == "pick":
            self._picked.add(name)
        self._filled.setdefault(name, []).append(place.path)
        if name not in self._known:
            self._known.add(name)
            if self._bodies:
                self._bodies[-1].append(name)

    def opens(self) -> None:
        """What is filled inside ends with it."""
        self._acts.opens()

    def closes(self) -> None:
        """Back to what was known before it."""
        self._acts.closes()

    def body_opens(self) -> None:
        """A list of steps has a scope of its own."""
        self._acts.body_opens()
        self._bodies.append([])

    def body_closes(self) -> None:
        """Its scope ends."""
        self._acts.body_closes()
        self._known.difference_update(self._bodies.pop())

    # --- what the words say --------------------------------------------------------------------------------------

    def _written(self, place: Place, text: str) -> bool:
        """What must not be written out; whether it was a secret."""
        if _ODD.search(text) is None:
            return False
        plain = without_names(text)
        self._bare(place, plain)
        problem = written_secret(place, plain)
        self._add(problem)
        return problem is not None

    def _consequence(self, place: Place, text: str) -> None:
        self._found.extend(act.problem for act in self._acts.says(place, text))

    def _chosen(self, place: Place, text: str) -> None:
        if place.type is not PartType.LABEL:
            self._lists[place.path] = text
            return
        self._consequence(place, text)
        if describes(text):
            self._found.append(partial(self._described, place, text))

    def _described(self, place: Place, text: str) -> Problem | None:
        if orders(self._lists.get(place.path, "")):
            return None
        return place.problem(
            "described_option",
            f"{shown(text)} describes what to take; an option is the label that the page shows. To take one by a "
            'criterion use {"pick": {"from": ..., "by": ...}}.',
        )

    # --- names ---------------------------------------------------------------------------------------------------

    def _is_fact(self, name: str) -> bool:
        return name in self._given or (not name.isascii() and name in self._facts)

    def _knows(self, name: str) -> bool:
        return name in self._known or self._is_fact(name)

    def _is_secret(self, name: str) -> bool:
        return name in self._secret or (not name.isascii() and self._facts.is_secret(name))

    def _add(self, problem: Problem | None) -> None:
        if problem is not None:
            self._found.append(problem)

    def _shadows(self, place: Place, name: str, what: str) -> None:
        message = f"The name {shown(name)} is {what} already, and one name has one value. Call this variable otherwise."
        self._found.append(place.problem("shadowed_name", message))

    def _names(self, place: Place, text: str, *, secret_here: bool) -> None:
        if unclosed(text):
            message = f"In {shown(text)} a ${{ has no }} behind it. Write ${{name}}, or take the ${{ out."
            self._found.append(place.problem("unclosed_name", message))
        for name in dict.fromkeys(names_in(text)):
            if not name.strip():
                message = "${} holds no name. Write the name of a fact or a variable in it, or take it out."
                self._found.append(place.problem("empty_name", message))
            elif self._is_fact(name):
                if not secret_here and self._is_secret(name):
                    self._found.append(self._misplaced(place, name))
            elif place.kind == "vars":
                self._found.append(partial(self._in_vars, place, name))
            elif name not in self._known or place.type is PartType.CONDITION:
                here = name in self._known
                self._found.append(partial(self._use, place, name, here))

    def _misplaced(self, place: Place, name: str) -> Problem:
        where = f"the {place.kind} step" if place.kind not in ("app", "vars") else place.kind
        if place.kind == "enter":
            where = "the description of a field"
        return place.problem(
            "misplaced_secret",
            f"${{{name}}} is a secret, and it stands in {where}. A secret may only be the text that an enter step puts "
            f'into a field: {{"enter": {{"{name}": "${{{name}}}"}}}}. Say this without it.',
        )

    def _in_vars(self, place: Place, name: str) -> Problem:
        if name in self._vars or name in self._filled:
            return place.problem(
                "variable_in_vars",
                f"vars may name facts only, and {shown(name)} is a variable. Write its text here, or use "
                f"${{{masked(name)}}} in the steps.",
            )
        return self._unknown(place, name)

    def _use(self, place: Place, name: str, here: bool) -> Problem | None:
        if place.type is PartType.CONDITION and name in self._picked:
            return place.problem(
                "picked_in_condition",
                f"{shown(name)} is filled by a pick and holds the whole text of a result, which no screen shows again "
                "letter for letter. Describe in words what the screen shows.",
            )
        if here:
            return None
        if name not in self._filled:
            return self._unknown(place, name)
        later = next((path for path in self._filled[name] if _in_list_around(path, place.path)), None)
        if later:
            return place.problem(
                "used_before_filled",
                f"{shown(name)} is used here and filled only by step {later}. Move that step before this one.",
            )
        return place.problem(
            "filled_in_branch",
            f"{shown(name)} is filled only inside step {self._filled[name][0]}, in a branch or a loop, and is "
            "known only there. Fill it in this list of steps, before this step.",
        )

    def _unknown(self, place: Place, name: str) -> Problem:
        from surefoot.flows.detection import is_payment

        known = [*self._facts.all, *self._vars, *self._filled]
        if near := nearest(name, known):
            message = f"There is no {shown(name)}. Did you mean ${{{masked(near)}}}?"
            if normalize("NFC", name) == normalize("NFC", near):  # one cannot see it
                message += " It looks the same and is made of other characters: copy the name from there."
            return place.problem("misspelt_name", message)
        if is_payment(name):
            return place.problem(
                "payment_not_given",
                f"{shown(name)} is a payment detail that nobody gave. Leave it to the person: take the step out and "
                'end with {"stop_before": "paying"}.',
            )
        there = f" Known are {listed([shown(other) for other in known[:8]])}." if known else ""
        return place.problem(
            "unknown_name",
            f"{shown(name)} is no fact, not in vars and filled by no step.{there} Use one that there is, or read it "
            "from the screen first.",
        )

    def _bare(self, place: Place, plain: str) -> None:
        words = [word for word in _WORD.findall(plain) if _CODED.search(word)]
        if _OTHER_BRACES.search(plain):
            words += [found.group().strip("{}<>[]$% ") for found in _OTHER_BRACES.finditer(plain)]
        self._found.extend(partial(self._bare_word, place, word) for word in dict.fromkeys(words))

    def _bare_word(self, place: Place, word: str) -> Problem | None:
        if word not in self._filled and word not in self._vars and not self._is_fact(word):
            return None
        return place.problem(
            "bare_variable",
            f"{shown(word)} is the name of a value, and written so it is only a word. Write ${{{masked(word)}}}.",
        )
