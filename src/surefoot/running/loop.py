"""The native loop: a model that supports tools is asked round by round, until it answers in words.

A round is one model call (key `round.N`) and the calls of its answer (`round.N/INDEX`), so a run that is taken up again
answers finished rounds from the journal and goes on where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot.errors import (
    BudgetExceededError,
    ContentFilterError,
    ContextLengthError,
    EmptyReplyError,
    MalformedCallError,
    OutputCutError,
    ProviderCapabilityError,
    ProviderError,
    ReplyError,
)
from surefoot.models.types import (
    AUTO,
    NONE,
    Capabilities,
    Completion,
    FinishReason,
    LanguageModel,
    Message,
    Request,
    ToolChoice,
    Usage,
)
from surefoot.planning import queries
from surefoot.running.copying import Copying
from surefoot.running.executor import Outcome
from surefoot.running.history import NEARLY_FULL, History
from surefoot.running.landing import Pace, landing_text, limit_ahead
from surefoot.running.loop_tools import LoopTools, loop_tools
from surefoot.running.loop_types import LoopGoal, LoopReport
from surefoot.running.models import call_model
from surefoot.running.prefaces import WithoutPrefaces
from surefoot.running.prompting import filled, prompt
from surefoot.running.repeats import Repeats
from surefoot.running.rounds import Answered, RoundCalls, not_made, with_ids
from surefoot.running.session import Session

MAX_TOKENS = 2_048
"""Of a round's answer: ten calls with a paragraph each."""

LOCAL_MAX_TOKENS = 1_024
"""The same for a local model, whose window of 8,192 holds prompt and answer."""

LANDING_TOKENS = 512
"""Of the answer that a limit forces: three sentences, or a list of what was done."""

MAX_CALLS = 10
"""Calls in one message of a model whose calls are bound by a grammar; others are bound by the output limit."""

PROBE_CALLS = 1
"""The same behind a round of nothing but writes that were done. A small model rarely says that it is ready: it writes
all its calls again, and the first of them is enough to see that."""

WINDOW_SHARE = 8
"""An answer takes at most this part of a small window: the rest holds what it is made from."""

LANDING = "landing."
"""Key of the call before a limit ends the loop, followed by the name of the limit."""

_CORRECTIONS: dict[type[ProviderError], str] = {
    OutputCutError: "cut",
    MalformedCallError: "malformed",
    EmptyReplyError: "empty",
}
"""Answers that must not be used, and which a model can better when it is told, once."""


async def run_loop(session: Session, model: LanguageModel, goal: LoopGoal) -> LoopReport:
    """Ask the model round by round until it answers, a limit is near, a person is needed or its provider fails.

    Whatever goes wrong with a tool is told to the model; whatever goes wrong with the model is in the report.

    Raises:
        ProviderCapabilityError: the model has no tool calls; said before it is called.
        StorageError: the journal cannot be written.
        asyncio.CancelledError: what became of the calls under way is in the journal.
    """
    able = await model.capabilities()
    if not able.tools:
        raise ProviderCapabilityError(
            f"{model.name} does not support tool calls, and the loop needs them.",
            "Use a model that does: `surefoot models list` shows what each can do.",
            model=model.name,
            capability="tools",
        )
    before = session.catalogue
    own = loop_tools(before, goal.search)
    session.catalogue = before.with_tools(*own.all)
    try:
        return await _Loop(session, model, goal, able, own).run()
    finally:
        session.catalogue = before


@dataclass
class _Loop:
    session: Session
    model: LanguageModel
    goal: LoopGoal
    able: Capabilities
    own: LoopTools
    rounds: int = 0
    outcomes: list[Outcome] = field(default_factory=list)
    usage: Usage = Usage()
    pace: Pace = field(default_factory=Pace)
    unusable: str = ""
    """What the model is told of its last answer, when that could not be used."""

    most_calls: int = MAX_CALLS

    def __post_init__(self) -> None:
        if not self.able.local:  # a local model's calls are bound: they come without words in front
            self.model = WithoutPrefaces(self.model)
        goal, catalogue = self.goal, self.session.catalogue
        self.history = History(goal.messages)
        self.copying = Copying(goal.said if self.able.grammar else (), goal.names)
        names = catalogue.names if goal.offered is None else goal.offered
        offered = [name for name in catalogue.names if name in set(names) - self.own.names]
        self.offered = [*offered, *(tool.name for tool in self.own.all)]
        self.calls = RoundCalls(self.session, Repeats(goal.earlier), self.own, goal.steps)
        self.steps_done = goal.steps_done
        self.landed = _landed(self.session)
        self.window = self._window()
        self._show_tools()

    def _window(self) -> int:
        """Tokens of prompt and answer together; 0: not known. A local model gets the context that is asked of it."""
        length, asked = self.able.context_length, self.session.settings.num_ctx
        return min(length or asked, asked) if self.able.local else length

    def _show_tools(self) -> None:
        self.specs = tuple(self.session.catalogue.get(name).spec for name in self.offered)
        self.history.offer(self.specs)

    # --- rounds ----------------------------------------------------------------------------------------------

    async def run(self) -> LoopReport:
        """See `run_loop`."""
        try:
            while True:
                self._make_room()
                limit = self._limit_ahead()
                report = await (self._land(limit) if limit else self._round(self.rounds + 1))
                if report is not None:
                    return report
        except BudgetExceededError as stop:
            # Nearer than the rounds before let expect: nothing more can be asked.
            return self._report(stopped_by=str(stop.details.get("limit", "")))
        except ProviderError as error:
            return self._report(error=error)

    async def _round(self, number: int) -> LoopReport | None:
        start = self.session.budget.seconds
        completion = await self._ask(number)
        self.rounds = number
        self.usage += completion.usage
        _refuse_filtered(completion)
        completion = with_ids(completion, number)
        if completion.finish_reason is FinishReason.LENGTH and completion.tool_calls:
            self._cut(completion)
            return None
        if not completion.tool_calls:
            return self._said(completion)
        self.unusable = ""
        report = await self._called(number, completion)
        self.pace.add(completion.usage, self.session.budget.seconds - start)
        return report

    def _cut(self, completion: Completion) -> None:
        """No call of a message that was cut is made: its last one may be half of what was meant."""
        self._correct(OutputCutError("Calls were cut at the output limit, twice.", "Ask for less at once."))
        self._answer_calls(completion, [not_made(call, prompt("cut")) for call in completion.tool_calls])

    def _said(self, completion: Completion) -> LoopReport | None:
        """Words without a call end the loop; nothing at all is asked for again, once."""
        text = completion.text.strip()
        if text:
            return self._report(reply=text)
        self._correct(EmptyReplyError(f"{self.model.name} answered with nothing, twice.", "Ask again."))
        return None

    def _correct(self, error: ProviderError) -> None:
        """The model is told once what was wrong; the second time in a row it is an error."""
        if self.unusable:
            raise error
        self.unusable = prompt(_CORRECTIONS[type(error)])

    async def _called(self, number: int, completion: Completion) -> LoopReport | None:
        answered = await self.calls.make(number, completion.tool_calls)
        self.outcomes += [answer.outcome for answer in answered if answer.outcome is not None]
        if any(answer.waiting for answer in answered):
            return self._report(waiting=True)
        stop = next((answer for answer in answered if self._is(answer, self.own.stop.name)), None)
        if stop is not None:
            return self._report(reply=completion.text.strip() or _reason(stop), stopped_by="stop")
        if self.able.local and all(answer.held for answer in answered):
            return self._report()
        self._answer_calls(completion, answered)
        ready = self.able.local and all(answer.wrote for answer in answered)
        self.most_calls = PROBE_CALLS if ready else MAX_CALLS
        await self.copying.learn(answer.outcome for answer in answered if answer.outcome is not None)
        self._count_steps(answered)
        self._offer_found(answered)
        return None

    def _answer_calls(self, completion: Completion, answered: Sequence[Answered]) -> None:
        self.history.answered(completion)
        for answer in answered:
            self.copying.show(answer.data)
        self.history.results([(answer.call, answer.data) for answer in answered], self.window)

    @staticmethod
    def _is(answer: Answered, name: str) -> bool:
        """It is a call of this tool that was done."""
        return answer.outcome is not None and answer.outcome.ok and answer.outcome.call.tool == name

    def _count_steps(self, answered: Sequence[Answered]) -> None:
        done = [answer.outcome.call.tool for answer in answered if answer.outcome and answer.outcome.ok]
        own = self.own.names
        self.steps_done += sum(tool not in own for tool in done)

    def _offer_found(self, answered: Sequence[Answered]) -> None:
        """What a search found stands behind the tools that were shown before: they keep their place in the cache."""
        if self.own.search is None:
            return
        found = [
            tool["name"]
            for answer in answered
            if answer.outcome is not None and self._is(answer, self.own.search.name)
            for tool in answer.outcome.call.result["tools"]
        ]
        new = [name for name in dict.fromkeys(found) if name not in self.offered]
        if new:
            self.offered += [name for name in new if name in self.session.catalogue]
            self._show_tools()

    # --- asking ----------------------------------------------------------------------------------------------

    async def _ask(self, number: int) -> Completion:
        """The model's answer. One that its adapter refuses leaves no trace, so it is asked for again under its key."""
        told = self.unusable
        again = False
        while True:
            request = self._request(AUTO, [*self._reminders(number), *([told] if told else [])])
            try:
                return await call_model(self.session, self.model, request, f"round.{number}", stream=True)
            except ContextLengthError:
                if self.history.compacted:
                    raise
                self._compact()
            except (OutputCutError, MalformedCallError, EmptyReplyError) as error:
                if again:
                    raise
                told, again = prompt(_CORRECTIONS[type(error)]), True

    def _request(self, choice: ToolChoice, reminders: Sequence[str]) -> Request:
        """The history, and behind it what is told for this one request only."""
        behind = [Message("user", filled("reminder", text=" ".join(reminders)))] if reminders else []
        return Request(
            messages=(*self.history.messages, *behind),
            tools=self.specs,
            tool_choice=choice,
            max_calls=self.most_calls,
            bindings=self.copying.bindings(self.session.catalogue.get(name) for name in self.offered),
            max_tokens=self._room(LANDING_TOKENS) if choice is NONE else self._answer_room,
            temperature=0.0,
            timeout=self.goal.timeout,
            num_ctx=self.session.settings.num_ctx,
            purpose="landing" if choice is NONE else "round",
        )

    @property
    def _answer_room(self) -> int:
        return self._room(LOCAL_MAX_TOKENS if self.able.local else MAX_TOKENS)

    def _room(self, tokens: int) -> int:
        return min(tokens, self.window // WINDOW_SHARE) if self.window else tokens

    def _reminders(self, number: int) -> list[str]:
        told = []
        if self.steps_done and self.goal.outline.steps:  # behind a result, not before the first one
            told.append(queries.progress_nudge(self.goal.outline, self.steps_done))
        allowed = self.session.budget.limits.rounds
        if allowed is not None and number >= allowed:
            told.append(prompt("last_round"))
        return [text for text in told if text]

    # --- room and limits -------------------------------------------------------------------------------------

    def _make_room(self) -> None:
        """Compact the history once when the window is nearly full; refuse with the numbers what does not fit then."""
        if not self._nearly_full():
            return
        if not self.history.compacted:
            self._compact()
        needed, answer = self.history.tokens(), self._room(LANDING_TOKENS)
        if needed + answer > self.window:
            raise ContextLengthError(
                f"The conversation has about {needed} tokens and the answer may take {answer}, "
                f"together more than the {self.window} of {self.model.name}.",
                "Ask for less at once, raise `num_ctx`, or use a model with a longer context.",
                prompt_tokens=needed,
                max_tokens=answer,
                context_length=self.window,
                model=self.model.name,
            )

    def _compact(self) -> None:
        self.history.compact()
        self.calls.repeats.forget_results()  # they are shown again when they are asked for again

    def _nearly_full(self) -> bool:
        return bool(self.window) and self.history.tokens() + self._answer_room >= NEARLY_FULL * self.window

    def _limit_ahead(self) -> str:
        """The limit that this call must answer before; empty: a round fits. What the journal has is never cut short."""
        known = self.session.known_model_calls
        if f"round.{self.rounds + 1}" in known:
            return ""
        if self.landed:
            return self.landed
        if self.calls.repeats.going_in_circles:
            return "repeating"
        if self.rounds and self.history.compacted and self._nearly_full():
            return "context"
        return limit_ahead(self.session.budget, self.rounds, self.history.tokens(), self.pace)

    async def _land(self, limit: str) -> LoopReport:
        """The last call, without tools. Where even that is not to be had, the caller tells what was done."""
        request = self._request(NONE, [landing_text(limit)])
        try:
            completion = await call_model(self.session, self.model, request, f"{LANDING}{limit}", stream=True)
        except (BudgetExceededError, ProviderError):
            return self._report(stopped_by=limit)
        self.usage += completion.usage
        return self._report(reply=completion.text.strip(), stopped_by=limit)

    def _report(self, **said: Any) -> LoopReport:
        return LoopReport(self.rounds, tuple(self.outcomes), usage=self.usage, **said)


def _landed(session: Session) -> str:
    """The limit that an earlier part of this run landed before; empty: none. Looked for once, not in every round."""
    known = session.known_model_calls
    return next((key.removeprefix(LANDING) for key in known if key.startswith(LANDING)), "")


def _reason(stop: Answered) -> str:
    return str(stop.outcome.call.arguments.get("reason", "")) if stop.outcome else ""


def _refuse_filtered(completion: Completion) -> None:
    """An answer that its provider ended as filtered or broken runs nothing, whatever it holds."""
    name = completion.model or "the model"
    if completion.finish_reason is FinishReason.CONTENT_FILTER:
        raise ContentFilterError(f"The filter of {name} stopped the answer.", "Ask in other words.")
    if completion.finish_reason is FinishReason.ERROR:
        raise ReplyError(f"{name} ended its answer with an error.", "No call of it was made. Ask again.")
