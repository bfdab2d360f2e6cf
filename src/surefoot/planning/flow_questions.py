"""What a flow needs to know from the person: the names it uses that nobody gave, as questions.

No question is a name that was meant for one there is, which is a slip to be mended, nor a payment detail, which comes
only from a secret that was given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, cast

from surefoot.errors import FactError
from surefoot.flows.detection import is_payment, is_secret_name
from surefoot.flows.facts import FactNames, checked_name
from surefoot.flows.scope import defined_names, missing_names, nearest
from surefoot.planning._data import table

QuestionKind = Literal["email", "phone", "date", "number", "text"]

_MARKS: Final = re.compile("[\u0300-\u036f\u093c]")
"""Accents of Latin letters, and the nukta of Hindi, which is often left out."""
_TIGHT: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_GAPS: Final = re.compile(r"[\s_\-.’']+")


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to ask the person for before the flow can run.

    Attributes:
        name: as the flow writes it in `${name}`.
        kind: what the answer will be, guessed from the name: `email`, `phone`, `date`, `number`, else `text`.
        secret: the answer is typed and never shown.
    """

    name: str
    kind: QuestionKind = "text"
    secret: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The question as JSON."""
        return {"name": self.name, "kind": self.kind, "secret": self.secret}


def questions_of(flow: Any, facts: FactNames) -> tuple[Question, ...]:
    """The questions of a flow (a `Flow` or its JSON), in the order in which it uses their names.

    A name that is near to a known one, is a payment detail or cannot be a fact's name is none: `check_flow` says so.
    """
    known = [*facts.all, *defined_names(flow)]
    asked: list[Question] = []
    for name in missing_names(flow):
        if name in facts or is_payment(name) or not _can_be_fact(name) or nearest(name, known):
            continue
        secret = is_secret_name(name)
        asked.append(Question(name, "text" if secret else kind_of(name), secret))
        known.append(name)
    return tuple(asked)


def asked_too(facts: FactNames, questions: Iterable[Question]) -> FactNames:
    """The facts there will be once the questions are answered."""
    found = list(questions)
    return facts.plus(
        shared=[one.name for one in found if not one.secret], secret=[one.name for one in found if one.secret]
    )


def kind_of(name: str) -> QuestionKind:
    """What the answer to this name will be, by its words in eight languages; `text` where they say nothing."""
    plain = _folded(name)
    return next((kind for kind, words in _kinds().items() if words.search(plain)), "text")


def _can_be_fact(name: str) -> bool:
    try:
        return checked_name(name) == name
    except FactError:
        return False


def _folded(text: str) -> str:
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return _GAPS.sub(" ", unicodedata.normalize("NFC", plain)).strip()


@cache
def _kinds() -> dict[QuestionKind, re.Pattern[str]]:
    data = table("flow_questions")
    return {
        cast("QuestionKind", kind): re.compile("|".join(map(_pattern, words))) for kind, words in data.items()
    }


def _pattern(word: str) -> str:
    plain = re.escape(_folded(word.removeprefix("*")))
    if _TIGHT.search(word):
        return plain
    return rf"{plain}(?!\S)" if word.startswith("*") else rf"(?<!\S){plain}(?!\S)"
