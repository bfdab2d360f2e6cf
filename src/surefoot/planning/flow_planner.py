"""Turns a task in plain words into a flow that may run. It never acts, sees no screen and gets no value of a fact.

One conversation with a model: protocol and guide, the task by names; the flow it writes goes through the one check
there is, and what is wrong goes back in the checker's words, a few times at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from surefoot.errors import (
    ContentFilterError,
    InputError,
    MisuseError,
    OutputCutError,
    PlanFailedError,
    ProviderCapabilityError,
    ProviderError,
    ReplyError,
    SurefootError,
    UnreadableInputError,
)
from surefoot.flows.checker import check_flow
from surefoot.flows.detection import mask_found
from surefoot.flows.facts import FactNames
from surefoot.flows.flow import Flow
from surefoot.flows.problems import Problem
from surefoot.flows.steps import SURFACES
from surefoot.models.types import (
    Capabilities,
    Completion,
    FinishReason,
    LanguageModel,
    Message,
    Request,
)
from surefoot.planning.flow_examples import nearest_examples
from surefoot.planning.flow_grammar import bound_schema, flow_grammar
from surefoot.planning.flow_hints import Hints, hints_of, lost, without_details
from surefoot.planning.flow_plan import Attempt, FlowPlan, ModelUse, best_of, notes_of
from surefoot.planning.flow_prompt import example_turns, flow_prefix, repair_text, task_turn, unread_text
from surefoot.planning.flow_questions import asked_too, questions_of
from surefoot.planning.flow_reading import flow_in
from surefoot.redaction import redact

TEMPERATURE: Final = 0.2
"""A plan should be reproducible rather than creative; a repair that is asked for twice should not be the same twice."""
MAX_TOKENS: Final = 8192
"""Of a hosted model's answer: 20 steps take 700 to 1,500, in Hindi and Japanese more, and some models think first."""
MAX_LOCAL_TOKENS: Final = 1536
"""Of a local model's, which has the prompt and its repairs in 8,192 tokens of context too."""
PURPOSE: Final = "plan.flow"
"""Names the call; a local model answers it in the planner's slot."""
UNREAD: Final = "no_flow"
"""The code of the problem that an answer has in which no flow can be read."""
CUT: Final = "It was cut at its longest before its end. Write fewer and shorter steps."
HINT: Final = (
    "Word the task differently, or write the flow by hand (`surefoot flow guide` tells how) "
    "and check it with `surefoot flow check`."
)


class FlowPlanner:
    """Plans flows with one model.

    Args:
        model: the model that answers; `flow_models.flow_model` gives the one of the settings.
        bound: bind the answer where the model can be: by a grammar, else a local server by a schema. A hosted one is
            asked for a JSON object.
        repairs: how many times the problems go back.
        num_ctx: the context asked of a local server, in tokens.

    Example:
        ```python
        planner = FlowPlanner(model)
        plan = await planner.plan("Book a table for two on Friday", FactNames(shared=["first name"]))
        plan.flow.to_json(), plan.questions
        ```
    """

    def __init__(
        self, model: LanguageModel, *, bound: bool = True, repairs: int = 2, num_ctx: int | None = None
    ) -> None:
        if repairs < 0:
            raise MisuseError(f"repairs is {repairs}.", "Give 0 or more.")
        self.model = model
        self.bound = bound
        self.repairs = repairs
        self.num_ctx = num_ctx

    async def plan(
        self, goal: str, fact_names: FactNames | None = None, surfaces: frozenset[str] = SURFACES
    ) -> FlowPlan:
        """The flow for a task.

        Args:
            goal: the task, in the person's words. What looks like a secret in it is masked from now on and kept from
                the model.
            fact_names: the names of the facts there are; none where it is None. Their values are never given.
            surfaces: what there is to act on: `browser`, `desktop` or both.

        Raises:
            PlanFailedError: the model failed, or its answer stayed invalid after every repair. `details` hold
                `reason`, `problems`, `attempts` and `use`.
            InputError: the goal is empty, or there is nothing to act on.
        """
        facts = fact_names if fact_names is not None else FactNames()
        surfaces = frozenset(surfaces)
        _need_use(goal, facts, surfaces)
        kinds = mask_found(goal)
        talk = _Talk(self, without_details(goal), facts, surfaces)
        attempts = await talk.attempts()
        best = best_of(attempts)
        if best is None:
            raise _invalid(attempts, talk.use)
        flow = Flow.from_json(best.flow)
        questions = questions_of(best.flow, facts)
        notes = notes_of(flow, questions, kinds)
        return FlowPlan(flow, questions, notes, talk.use, tuple(attempts))

    async def warm(self) -> bool:
        """Let a local model read what stands at the beginning of every prompt and keep it. False: nothing to gain.

        Raises:
            ProviderError: the model cannot be loaded.
        """
        able = await self.model.capabilities()
        if able.local:
            prefix = flow_prefix()
            request = Request(prefix.messages, num_ctx=self.num_ctx, purpose=PURPOSE)
            await self.model.warm(request, prefix.key)
        return able.local


class _Talk:
    """The conversation about one task."""

    def __init__(self, planner: FlowPlanner, goal: str, facts: FactNames, surfaces: frozenset[str]) -> None:
        self._planner = planner
        self._facts = facts
        self._surfaces = surfaces
        self._goal = goal
        self._hints = Hints()
        self._messages: list[Message] = []
        self._bound = planner.bound
        self._made: list[Attempt] = []
        self.use = ModelUse()

    async def attempts(self) -> list[Attempt]:
        """The answers, the last of them without a problem or the last that there may be."""
        try:
            able = await self._planner.model.capabilities()
            with suppress(ProviderError):  # a model that cannot be loaded says so when it is asked
                await self._planner.warm()
            self._begin(able)
            for _ in range(self._planner.repairs + 1):
                attempt = await self._attempt(able)
                told_before = any(one.lost for one in self._made)
                self._made.append(attempt)
                if not attempt.problems and (told_before or not attempt.lost):
                    break
                self._hand_back(attempt)
        except ProviderError as error:
            raise _failed(error, self._made, self.use) from error
        return self._made

    def _begin(self, able: Capabilities) -> None:
        """What the model is told. A local one is a small one: examples and what code reads out of the task help it."""
        examples = nearest_examples(self._goal, self._surfaces) if able.local else ()
        self._hints = hints_of(self._goal) if able.local else Hints()
        self._messages = [
            *flow_prefix().messages,
            *example_turns(examples),
            task_turn(self._goal, self._facts, self._surfaces, self._hints),
        ]

    async def _attempt(self, able: Capabilities) -> Attempt:
        try:
            completion = await self._asked(able)
        except ContentFilterError:
            raise
        except OutputCutError:
            return _unread("", CUT)
        except ReplyError as error:
            return _unread("", error.message)
        text = redact(completion.text)
        if completion.finish_reason is FinishReason.LENGTH:
            return _unread("", CUT)
        try:
            flow = flow_in(text)
        except UnreadableInputError as error:
            return _unread(text, str(error))
        facts = asked_too(self._facts, questions_of(flow, self._facts))
        problems = tuple(check_flow(flow, facts, surfaces=self._surfaces))
        return Attempt(text, flow, problems, () if problems else lost(self._hints, flow, self._facts))

    async def _asked(self, able: Capabilities) -> Completion:
        """The model's answer; without a bond, from now on, where the server cannot take it after all."""
        request = self._request(able)
        try:
            return await self._called(request)
        except ProviderCapabilityError:
            if request.grammar is None and request.json_schema is None:
                raise
            self._bound = False
            return await self._called(self._request(able))

    async def _called(self, request: Request) -> Completion:
        self.use = ModelUse(self.use.calls + 1, self.use.usage)
        completion = await self._planner.model.complete(request)
        self.use = ModelUse(self.use.calls, self.use.usage + completion.usage)
        return completion

    def _request(self, able: Capabilities) -> Request:
        request = Request(
            tuple(self._messages),
            json_object=True,
            max_tokens=MAX_LOCAL_TOKENS if able.local else MAX_TOKENS,
            temperature=TEMPERATURE,
            num_ctx=self._planner.num_ctx,
            purpose=PURPOSE,
        )
        if not self._bound:
            return request
        if able.grammar:
            return replace(request, grammar=flow_grammar(self._facts, self._surfaces, self._hints))
        # Hosted servers take schemas of closed objects only, and `enter` names its fields freely.
        return (
            replace(request, json_schema=bound_schema(self._surfaces))
            if able.local and able.json_schema
            else request
        )

    def _hand_back(self, attempt: Attempt) -> None:
        """The answer and what is wrong with it; where nothing of the answer is kept, behind the turn before it."""
        wrong = attempt.problems or attempt.lost
        text = repair_text(wrong) if wrong[0].code != UNREAD else unread_text(wrong[0].message)
        if attempt.text.strip():
            self._messages += [Message("assistant", attempt.text), Message("user", text)]
        else:
            before = self._messages.pop()
            self._messages.append(Message("user", f"{before.content}\n\n{text}"))


def _unread(text: str, sentence: str) -> Attempt:
    return Attempt(text, None, (Problem("", UNREAD, sentence),))


def _need_use(goal: str, facts: FactNames, surfaces: frozenset[str]) -> None:
    if not isinstance(facts, FactNames):
        raise MisuseError(
            f"Planning takes FactNames, which hold no value, and got {type(facts).__name__}.",
            "Give `facts.names`.",
        )
    if not goal.strip():
        raise InputError("The task is empty.", "Say what you want to be done.")
    if not surfaces or not surfaces <= SURFACES:
        raise InputError(
            f"There is nothing to act on in {sorted(surfaces)!r}.",
            f"Give any of {', '.join(sorted(SURFACES))}.",
        )


# --- when there is no plan -----------------------------------------------------------------------------------


def _invalid(attempts: Sequence[Attempt], use: ModelUse) -> PlanFailedError:
    problems = attempts[-1].problems
    more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
    times = "answer" if len(attempts) == 1 else f"{len(attempts)} answers"
    reason = f"after the model's {times} the flow is still wrong: {problems[0]}{more}"
    return _error(reason, HINT, attempts, use, "invalid")


def _failed(error: SurefootError, attempts: Sequence[Attempt], use: ModelUse) -> PlanFailedError:
    return _error(error.message, f"{error.next_move} {HINT}".strip(), attempts, use, error.code)


def _error(
    reason: str, next_move: str, attempts: Sequence[Attempt], use: ModelUse, code: str
) -> PlanFailedError:
    problems = attempts[-1].problems if attempts else ()
    return PlanFailedError(
        f"No flow was planned: {reason}",
        next_move,
        reason=code,
        problems=[problem.to_dict() for problem in problems],
        attempts=[attempt.to_dict() for attempt in attempts],
        use=use.to_dict(),
    )
