"""One request carried the whole way, in a session: route, plan, remember, run, hand over what is left, answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot.assistant.answer import Told, answer_request, plain_answer, said
from surefoot.assistant.brief import brief_of
from surefoot.assistant.context import known_now
from surefoot.assistant.handover import ENDED_BY, NO_TOOL_CALLS, Handed, left_undone, reports_of, tell_open
from surefoot.assistant.memory import Memories, diary_entry, remember
from surefoot.assistant.picking import picked
from surefoot.assistant.planned import planned
from surefoot.assistant.router import Router
from surefoot.assistant.warming import warm_quietly
from surefoot.errors import BudgetExceededError, ProviderError
from surefoot.events import EventType
from surefoot.journal.types import RunStatus
from surefoot.models.types import Completion, LanguageModel, Message, Request
from surefoot.planning import queries
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.planner import Complete, OutlinePlanner, PlanResult
from surefoot.planning.resolver import StepResolver
from surefoot.running.landing import LIMITS
from surefoot.running.loop_types import LoopReport
from surefoot.running.models import call_model
from surefoot.running.outline_runner import HAND_OVER, OutlineReport, OutlineRunner, StepReport
from surefoot.running.session import Session

OFFERED = "offered"
"""Where a run's context keeps the router's tools: a resumed run is offered the same."""

HANDED_OVER = "handed_over"
"""Where it keeps the numbers of the steps that were left to the loop: they stay so, whatever a resolver says later."""


@dataclass
class Turn:
    """One turn of the conversation. `planner` is the model that plans, mostly the one that answers."""

    session: Session
    model: LanguageModel
    planner: LanguageModel
    timeout: float
    dialogue: Sequence[Message] = ()
    router: LanguageModel | None = None
    outline: Outline = field(default_factory=Outline)
    todo: Outline = field(default_factory=Outline)
    memories: Memories = field(default_factory=lambda: Memories(""))
    not_done: list[str] = field(default_factory=list)
    report: OutlineReport | None = None
    looped: LoopReport | None = None
    able: bool = False
    bound: bool = False
    """The model that answers can call tools."""
    loops: bool = False
    """There is no plan to run: the request goes to the loop at once."""
    phase: str = "prepare"
    """Where it stands, for whoever is told of a failure."""

    def __post_init__(self) -> None:
        self.brief = brief_of(self.session.run)

    async def take(self) -> None:
        """From the request to the answer; leaves the run at rest.

        Raises:
            ProviderError: no answer could be had, and nothing was done that would have to be told.
        """
        capabilities = await self.model.capabilities()
        self.able, self.bound = capabilities.tools, capabilities.grammar
        if self.brief and self.brief.data and not self.able:
            self.dialogue = [Message("user", "\n\n".join(self.brief.data))]  # where plans and answers read it
        try:
            await self._plan()
            await self._remember()
            await self._run()
            await self._hand_over()
        except BudgetExceededError as stop:
            await self._stopped(stop)
            return
        if (self.report and self.report.waiting) or (self.looped and self.looped.waiting):
            await self.session.rest(RunStatus.NEEDS_APPROVAL)
        elif self.looped is not None and self.looped.said:
            await self._end_loop(self.looped)
        else:
            await self._answer()

    # --- plan ------------------------------------------------------------------------------------------------

    async def _plan(self) -> None:
        session, self.phase = self.session, "plan"
        if "outline" not in session.run.context and self.brief is not None and self.able:
            await self._without_plan()
        if "outline" in session.run.context:
            self.outline = Outline.from_list(session.run.context["outline"])
            self._choose_way(session.run.context["no_plan"], short=session.run.context.get("short", False))
            return
        query = session.run.goal
        talk = " ".join(message.content for message in self.dialogue[-2:])
        router = Router(list(session.catalogue))
        route = router.route(query, talk)
        if not OutlinePlanner(self.planner, session.settings, session.catalogue).skips(query):
            route = await picked(session, self.router, route, query)
            await warm_quietly(self.planner, self.model, session.settings, session.catalogue)
        result = await planned(
            session,
            self.planner,
            offered=route.names,
            dialogue=self.dialogue,
            complete=self._asker("plan"),
            check=self._asker("check"),
        )
        self.outline = result.outline
        short = result.skipped == "too_short" and bool(router.rank(query))
        await self._write_plan(result, route.names, short=short)
        self._choose_way(no_plan(result), short=short)

    async def _write_plan(self, result: PlanResult, offered: Sequence[str], *, short: bool) -> None:
        """The plan is kept with the run: a resumed run goes on with this one, whatever a model would say now."""
        steps = self.outline.to_list()
        context = {
            **self.session.run.context,
            "outline": steps,
            "no_plan": no_plan(result),
            OFFERED: list(offered),
            "short": short,
        }
        data = {"steps": steps, "encoding": result.encoding, "failed": result.failed}
        await self.session.set((EventType.PLAN_MADE, data), context=context, status=RunStatus.RUNNING)

    async def _without_plan(self) -> None:
        """A run with terms of its own goes to the loop at once, where the model can call tools."""
        offered = Router(list(self.session.catalogue)).route(self.session.run.goal, "").names
        context = {**self.session.run.context, "outline": [], "no_plan": "", OFFERED: list(offered)}
        await self.session.set(context=context, status=RunStatus.RUNNING)

    def _choose_way(self, no_plan: str, *, short: bool) -> None:
        """To the loop where there is nothing to run but something may have to be called; else say what was not done.

        `short`: too short to be planned, and a tool matches it all the same.
        """
        vague = queries.has_unresolved_tool_steps(self.outline)
        briefed = self.brief is not None and queries.is_empty(self.outline)
        self.loops = self.able and (bool(no_plan) or vague or short or briefed)
        if self.able:
            return
        if no_plan:
            self.not_done.append(f"{no_plan}: {NO_TOOL_CALLS}.")
        elif vague:
            steps = "; ".join(step.text for step in self.outline.steps if step.kind is StepKind.PROSE)
            self.not_done.append(f"{steps}: {NO_TOOL_CALLS}.")

    def _asker(self, key: str) -> Complete:
        async def ask(request: Request) -> Completion:
            return await call_model(self.session, self.planner, request, key)

        return ask

    # --- remember, run ---------------------------------------------------------------------------------------

    async def _remember(self) -> None:
        """Only when the plan asks for it; without a plan always, as if there were no planner."""
        self.phase = "work"
        without_a_plan = queries.is_empty(self.outline) and bool(self.session.run.context["no_plan"])
        wanted = queries.requires_memory(self.outline) or without_a_plan
        if self.brief.memory if self.brief else wanted:
            topic = queries.memory_topic(self.outline)
            self.memories = await remember(self.session, self.model, self.session.run.goal, topic)

    async def _run(self) -> None:
        self.todo = queries.strip_memory(self.outline)
        if self.loops or self.not_done or not self.todo.steps or queries.is_reply_only(self.outline):
            return
        resolver = StepResolver(self.planner, self.session.settings, self.session.catalogue)

        async def resolve(number: int, step: Step, results: Mapping[int, Any]) -> list[dict[str, Any]] | None:
            if number in self.session.run.context.get(HANDED_OVER, ()):
                return None
            asker = self._asker(f"resolve.{number}")
            return await resolver.resolve(
                step, results, outline=self.todo, now=self.session.now, complete=asker
            )

        runner = OutlineRunner(self.session, self.todo, resolve)
        self.report = await runner.run({0: self.memories.text})

    # --- hand over -------------------------------------------------------------------------------------------

    async def _hand_over(self) -> None:
        """What no plan says, and what a plan leaves open, is the loop's, where the model can call tools."""
        open_steps = [report.number for report in self.planned if report.reason == HAND_OVER]
        handed = self.able and self.report is not None and bool(self.report.handed_over)
        if handed and HANDED_OVER not in self.session.run.context:
            await self.session.set(context={**self.session.run.context, HANDED_OVER: open_steps})
        if self.loops:
            await tell_open(self.session, self.todo)
        if self.loops or handed:
            offered = self.session.run.context.get(OFFERED, self.session.catalogue.names)
            self.looped = await Handed(
                self.session,
                self.model,
                self.timeout,
                offered,
                self.dialogue,
                self.memories.text,
                await self._known(),
                self.brief,
                self.todo,
                self.planned,
            ).run()

    async def _known(self) -> Sequence[str]:
        """A model that a grammar binds is a small one: it does not look first, so what it may mean is shown to it."""
        return (
            (await known_now(self.session, self.session.run.goal, self.dialogue)).lines if self.bound else ()
        )

    async def _end_loop(self, looped: LoopReport) -> None:
        """What the loop answered is the run's reply; where it could say nothing, the facts are told in code."""
        if looped.error is not None and not self.reports:
            raise looped.error
        undone = left_undone(self.todo, self.planned, looped)
        failed = any(not report.done for report in self.planned if report.reason != HAND_OVER)
        incomplete = bool(undone or failed or looped.stopped_by or looped.error)
        notices = [f"Not done: {text}." for text in undone]
        if looped.stopped_by in ENDED_BY:
            notices.append(ENDED_BY[looped.stopped_by])
        if looped.error is not None:
            notices.append(f"The answer is plain: {looped.error}")
        await self.session.tell(*((EventType.NOTICE, {"text": text}) for text in notices))
        reply = looped.reply or plain_answer(self.reports, [])
        stopped_by = looped.stopped_by if looped.stopped_by in LIMITS else ""
        await self._finish(reply, incomplete=incomplete, stopped_by=stopped_by)

    # --- answer ----------------------------------------------------------------------------------------------

    @property
    def planned(self) -> tuple[StepReport, ...]:
        """What became of the steps of the plan."""
        return self.report.steps if self.report else ()

    @property
    def reports(self) -> tuple[StepReport, ...]:
        """What became of the steps, and of the loop's calls behind them."""
        looped = reports_of(self.session, self.looped, len(self.todo.steps)) if self.looped else ()
        return (*self.planned, *looped)

    async def _answer(self) -> None:
        self.phase = "answer"
        told = Told(self.session.run.goal, self.dialogue, self.memories.text, self.reports, self._left_over())
        incomplete = bool(told.not_done) or (self.report is not None and not self.report.done)
        request = answer_request(self.session, told, self.timeout)
        try:
            completion = await call_model(self.session, self.model, request, "reply", stream=True)
            reply = said(completion)
        except BudgetExceededError as stop:
            await self._stopped(stop)
            return
        except ProviderError as error:
            if not self.reports:
                raise
            await self.session.tell((EventType.NOTICE, {"text": f"The answer is plain: {error}"}))
            await self._finish(plain_answer(self.reports, told.not_done), incomplete=True)
            return
        await self._finish(reply, incomplete=incomplete)

    def _left_over(self) -> list[str]:
        if self.looped is not None:
            return [*self.not_done, *left_undone(self.todo, self.planned, self.looped)]
        if self.report is None or not self.report.handed_over:
            return self.not_done
        reached = self.report.handed_over
        ran = {report.number for report in self.reports}
        later = [
            step.text
            for number, step in enumerate(self.todo.steps, 1)
            if number > reached and number not in ran and step.kind is not StepKind.REPLY
        ]
        return [*self.not_done, *(f"{text}: the step before it was not done" for text in later)]

    async def _stopped(self, stop: BudgetExceededError) -> None:
        reply = f"{plain_answer(self.reports, self._left_over())}\n{stop}"
        await self._finish(reply, incomplete=True, stopped_by=str(stop.details.get("limit", "")))

    async def _finish(self, reply: str, *, incomplete: bool, stopped_by: str = "") -> None:
        session = self.session
        messages = [Message("user", session.run.goal), Message("assistant", reply)]
        await session.end_turn(
            reply,
            messages=[message.to_dict() for message in messages],
            diary=None if self.brief and not self.brief.memory else diary_entry(session, reply),
            incomplete=incomplete,
            stopped_by=stopped_by or self._refused_by_limit(),
        )

    def _refused_by_limit(self) -> str:
        for report in self.reports:
            for outcome in report.outcomes:
                error = outcome.call.error or {}
                if error.get("code") == BudgetExceededError.code:
                    return str(error.get("details", {}).get("limit", ""))
        return ""


def no_plan(result: PlanResult) -> str:
    """Why there is no plan, as the start of a sentence; empty when there is one or none was needed."""
    if result.failed is not None:
        return f"The request could not be planned ({result.failed})"
    return "Planning is switched off" if result.skipped == "off" else ""
