"""Lines of a plan, and one line for what became of each step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from surefoot.cli.out import Channel, Piece
from surefoot.cli.sentences import call_words, error_words, ms_words, numbered, result_words, step_words
from surefoot.cli.shown import cells, cut, folded
from surefoot.cli.texts import Texts

if TYPE_CHECKING:
    from surefoot.journal.types import Call

MARGIN = "  "
MIN_WORDS = 24
"""Columns that the words of a line keep; in a terminal narrower than that the rest moves to the next line."""

COLOURS = {
    "done": "green",
    "failed": "red",
    "unsure": "yellow",
    "back": "cyan",
    "left": "yellow",
    "dot": "dim",
}


def plan_lines(channel: Channel, texts: Texts, steps: Iterable[Mapping[str, Any]]) -> list[list[Piece]]:
    """The plan: `plan   1  addNote(...)`, folded under itself."""
    word = plan_word(texts, "plan.word")
    lines: list[list[Piece]] = []
    for number, step in numbered(steps):
        mark = str(number) if number else channel.symbols["dot"].strip()
        before = f"{MARGIN}{' ' * len(word) if lines else word}  {mark:>2}  "
        hang = " " * cells(before)
        for place, text in enumerate(_fold(step_words(step), channel.width, cells(before))):
            lines.append([(before if place == 0 else hang, "dim"), (text, "")])
    return lines


def plan_word(texts: Texts, key: str) -> str:
    """`plan` or `why`, each as wide as the wider of them."""
    width = max(len(texts("plan.word")), len(texts("plan.why")))
    return f"{texts(key):<{width}}"


def _fold(text: str, width: int, before: int) -> list[str]:
    return folded(text, max(width - before, MIN_WORDS)) if width else [text]


class StepLine:
    """One line of what became of a step or a call: mark, number, words; then figures at the right edge."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def __call__(self, mark: str, number: int | str, words: str, right: str = "") -> list[list[Piece]]:
        """The lines; more than one only where the words do not fit."""
        symbol = self._channel.symbols[mark]
        before = f"{symbol} {number:>2}  "
        width = self._channel.width
        head: list[Piece] = [(MARGIN, ""), (symbol, COLOURS.get(mark, "")), (before[len(symbol) :], "")]
        if not width:
            return [[*head, (f"{words}  {right}".rstrip(), "")]]
        return self._laid_out(head, words, right, width - cells(MARGIN + before))

    @staticmethod
    def _laid_out(head: list[Piece], words: str, right: str, room: int) -> list[list[Piece]]:
        gap = cells(right) + 2 if right else 0
        if right and cells(words) <= room - gap:
            fill = " " * (room - cells(words) - cells(right))
            return [[*head, (words, ""), (fill, ""), (right, "dim")]]
        hang = " " * sum(cells(text) for text, _ in head)
        lines = folded(words, max(room, MIN_WORDS))
        found: list[list[Piece]] = [
            [*head, (lines[0], "")],
            *([(hang, ""), (line, "")] for line in lines[1:]),
        ]
        if right and cells(lines[-1]) <= room - gap:
            fill = " " * (room - cells(lines[-1]) - cells(right))
            found[-1] += [(fill, ""), (right, "dim")]
        elif right:
            found.append([(hang, ""), (" " * max(room - cells(right), 0), ""), (right, "dim")])
        return found


def right_words(
    texts: Texts, *, ms: float | None, undoable: bool = False, ordinal: int = 0, step: int = 0
) -> str:
    """`4 ms   undoable`; the call's own number where the step's is another one."""
    took = "" if ms is None else ms_words(ms)
    back = texts("step.undoable") if undoable else ""
    if undoable and ordinal and ordinal != step:
        back = texts("step.undoable_call", n=ordinal)
    width = max(len(texts("step.undoable")), len(back))
    return f"{took:>7}  {back:<{width}}" if took or back else ""


MARKS = {
    "done": "done",
    "failed": "failed",
    "refused": "failed",
    "declined": "left",
    "waiting": "left",
    "approved": "left",
    "interrupted": "unsure",
    "unknown": "unsure",
    "intended": "unsure",
}
"""The mark of a call by its status."""


def call_lines(line: StepLine, texts: Texts, call: Call) -> list[list[Piece]]:
    """A call in a timeline: the call itself, then what it came to."""
    ms = None
    if call.started_at and call.finished_at:
        ms = (call.finished_at - call.started_at).total_seconds() * 1000
    state = texts("show.undone") if call.undone_by else (texts("step.undoable") if call.undoable else "")
    effects = {name: texts(f"effect.{name}") for name in ("read", "write", "external")}
    effect = effects[str(call.effect)].ljust(max(map(len, effects.values())))
    states = [texts("step.undoable"), texts("show.undone")]
    right = f"{effect}  {'' if ms is None else ms_words(ms):>7}  {state:<{max(map(len, states))}}"
    lines = line(MARKS[str(call.status)], call.ordinal, call_words(call.tool, call.arguments))
    return lines + line("", "", outcome_words(texts, call), right)


def outcome_words(texts: Texts, call: Call) -> str:
    """What became of a call, in a sentence."""
    if call.status == "done":
        return result_words(texts, call.result)
    status = texts(f"call_status.{call.status}")
    return f"{status}: {error_words(call.error)}" if call.error else status


def fitted(text: str, channel: Channel, taken: int) -> str:
    """The text cut to what is left of a line in a terminal; whole in a pipe."""
    return cut(text, max(channel.width - taken, MIN_WORDS)) if channel.width else text
