"""Plans one request with one model call. It never stands in the way: no plan is as good as no planner."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from surefoot.errors import ProviderCapabilityError, SurefootError
from surefoot.models.types import Binding, Capabilities, Completion, LanguageModel, Message, Request
from surefoot.planning import encodings, queries
from surefoot.planning.binding import Options, bindings
from surefoot.planning.encodings import Encoding, Layout, Question, Tools
from surefoot.planning.grounding import Ground, grounded, nameable, titles_in
from surefoot.planning.outline import Outline
from surefoot.planning.placeholders import texts_in
from surefoot.planning.things import Thing
from surefoot.planning.unserved import Unserved, left_over

if TYPE_CHECKING:
    from surefoot.settings import Settings

Complete = Callable[[Request], Awaitable[Completion]]
"""Makes the model call: `model.complete`, or something that counts, journals and replays it."""

log = logging.getLogger(__name__)

GRACE: Final = 0.25
"""Seconds on top of the request's own time-out, so that a caller who keeps it can say so first."""
_CJK: Final = re.compile(
    "[\\u1100-\\u11ff\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\uff66-\\uff9f]"
)


@dataclass(frozen=True, slots=True)
class PlanResult:
    """What planning came to. The outline is empty when it failed or was skipped.

    `failed` is a stable code (`timeout`, `empty`, an error's code), `skipped` is `off` or `too_short`: then there was
    no call and nothing is wrong. `encoding` is how it was asked for.
    """

    outline: Outline
    failed: str | None = None
    completion: Completion | None = None
    encoding: Encoding | None = None
    skipped: Literal["", "off", "too_short"] = ""
    refused: Outline = field(default_factory=Outline)
    """What a bound model planned, where all its calls were taken out."""


class OutlinePlanner:
    """Plans with one model over one catalogue.

    Args:
        model: the model that answers, or the one that `planner_model` names.
        settings: `planner_enabled`, the time-outs, `max_steps`, `num_ctx` and the least lengths of a request.
        catalogue: the whole catalogue; `only` narrows it for one plan.
        layout: how the prompt lists the tools; the resolver needs the same one to share the cached prefix.
    """

    def __init__(
        self, model: LanguageModel, settings: Settings, catalogue: Tools, *, layout: Layout = "signatures"
    ) -> None:
        self.model = model
        self.settings = settings
        self.catalogue = catalogue
        self.layout = layout

    async def plan(
        self,
        query: str,
        *,
        dialogue: Sequence[Message] = (),
        hint: Sequence[str] = (),
        only: Sequence[str] | None = None,
        now: datetime | None = None,
        known: Sequence[str] = (),
        options: Options | None = None,
        things: Sequence[Thing] = (),
        complete: Complete | None = None,
        check: Complete | None = None,
    ) -> PlanResult:
        """The outline for a request. Raises nothing but a cancellation.

        Args:
            query: what the person wrote.
            dialogue: the conversation before it, oldest first.
            hint: names of tools that probably matter; shown behind the catalogue.
            only: names of the tools that may be called; the prompt stays the same.
            now: the run's clock, in the person's zone.
            known: lines about things the person already has; shown as data, cut and redacted.
            options: by tool and argument, the names it can have now; a model that a grammar binds writes only these.
            things: what the person has; changes of it that nobody asked for are taken out of the plan.
            complete: makes the model call; the model's own `complete` by default.
            check: makes the second one, about what a bound plan left over; there is none without it.
        """
        skipped = self._skipped(query)
        if skipped:
            return PlanResult(Outline(), skipped=skipped)
        question = Question(query, dialogue, hint, only, now, known, things=things)
        try:
            if options is not None:
                question = replace(question, bindings=self._bindings(question, options))
            able = await self.model.capabilities()
            return await self._asked(question, able, complete or self.model.complete, check)
        except Exception as error:  # noqa: BLE001 - fail open: whatever is wrong, the turn goes on without a plan
            log.debug("no plan: %s", error)
            return PlanResult(Outline(), failed=reason_of(error))

    def _bindings(self, question: Question, options: Options) -> dict[str, dict[str, Binding]]:
        choices = nameable(options, self.catalogue, self._ground(question))
        return bindings(self.catalogue, choices, [question.query, *titles_in(question.known)])

    def _ground(self, question: Question) -> Ground:
        talk = "\n".join(message.content for message in question.dialogue)
        language = self.settings.language or "en"
        return Ground(question.query, talk, question.known, question.things, question.now, language)

    def skips(self, query: str) -> bool:
        """No plan will be made for it, so no model will be asked."""
        return bool(self._skipped(query))

    def _skipped(self, query: str) -> Literal["", "off", "too_short"]:
        if not self.settings.planner_enabled:
            return "off"
        least = self.settings.min_query_chars_cjk if has_cjk(query) else self.settings.min_query_chars
        return "too_short" if len(query.strip()) < least else ""

    async def _asked(
        self, question: Question, able: Capabilities, complete: Complete, check: Complete | None
    ) -> PlanResult:
        """The plan in the encoding the model can do; free text once when the provider refuses that after all."""
        encoding = encodings.choose(able)
        ground = self._ground(question)
        try:
            result = await self._in(encoding, question, ground, able, complete)
        except ProviderCapabilityError:
            if encoding == "text":
                raise
            return await self._in("text", question, ground, able, complete)
        if encoding != "bound" or check is None or result.failed:
            return result
        try:
            if result.refused.steps:
                return await self._otherwise(question, ground, result, able, check)
            rest = left_over(result.outline, ground, self.catalogue)
            return await self._with(rest, result, question, able, check) if rest.text else result
        except Exception as error:  # noqa: BLE001 - the plan that is there is worth more than what it may leave over
            log.debug("nothing is asked once more: %s", error)
            return result

    async def _otherwise(
        self, question: Question, ground: Ground, result: PlanResult, able: Capabilities, check: Complete
    ) -> PlanResult:
        """What the model plans when it cannot make the calls that were all refused; else the plan that is there.

        Tools that change what there is are left out; of those that make something new only what they copied is hidden.
        """
        changing = {tool.name for tool in self.catalogue if getattr(tool, "options", None)}
        barred = changing & set(queries.tool_names(result.refused))
        names = [tool.name for tool in self.catalogue] if question.only is None else question.only
        copied = [step for step in result.refused.steps if step.tool not in changing]
        texts = [text for step in copied for text in texts_in(step.arguments, keys=False)]
        lines = [line for line in question.known if not set(titles_in([line])) & set(texts)]
        names = [name for name in names if name not in barred]
        again = replace(question, only=names, known=lines, placeholders=False)
        other = await self._in("bound", again, ground, able, check)
        return result if other.failed or other.refused.steps else other

    async def _with(
        self, rest: Unserved, result: PlanResult, question: Question, able: Capabilities, check: Complete
    ) -> PlanResult:
        """The plan, and what the model says when it is asked once more about wishes that have no call.

        The second call sees the same prefix, that part of the request alone, and may only name what is named there.
        """
        options = rest.options(self.catalogue)
        bound = bindings(self.catalogue, options, [rest.text, *(thing.title for thing in rest.things)])
        lines = [
            line for line in question.known if set(titles_in([line])) & {one.title for one in rest.things}
        ]
        again = replace(
            question, query=rest.text, known=lines, bindings=bound, things=rest.things, placeholders=False
        )
        more = await self._in("bound", again, self._ground(again), able, check)
        return replace(result, outline=queries.joined(result.outline, more.outline, self.settings.max_steps))

    async def _in(
        self,
        encoding: Encoding,
        question: Question,
        ground: Ground,
        able: Capabilities,
        complete: Complete,
    ) -> PlanResult:
        settings = self.settings
        seconds = time_out(settings, able)
        request = encodings.plan_request(
            self.catalogue,
            encoding,
            question,
            max_steps=settings.max_steps,
            timeout=seconds,
            num_ctx=settings.num_ctx,
            layout=self.layout,
        )
        completion: Completion | None = None
        try:
            completion = await within(seconds, complete, request)
            outline = encodings.read_plan(completion, self.catalogue, encoding, max_steps=settings.max_steps)
            planned = outline
            if encoding == "bound":
                outline = grounded(outline, self.catalogue, ground)
        except ProviderCapabilityError:
            raise
        except Exception as error:  # noqa: BLE001 - see `plan`; here the answer is kept with the reason
            return PlanResult(Outline(), reason_of(error), completion, encoding)
        emptied = bool(queries.tool_names(planned)) and not queries.tool_names(outline)
        refused = planned if emptied else Outline()
        failed = None if outline.steps else "empty"
        return PlanResult(outline, failed, completion, encoding, refused=refused)


async def within(seconds: float, complete: Complete, request: Request) -> Completion:
    """The answer, or TimeoutError."""
    async with asyncio.timeout(seconds + GRACE):
        return await complete(request)


def time_out(settings: Settings, able: Capabilities) -> float:
    """Seconds for a plan or a step: a local model gets the time it needs."""
    return settings.local_timeout_sec if able.local else settings.planner_timeout_sec


def reason_of(error: Exception) -> str:
    """A stable word for what went wrong."""
    if isinstance(error, SurefootError):
        return str(error.details.get("reason", error.code))
    return "timeout" if isinstance(error, TimeoutError) else "error"


def has_cjk(text: str) -> bool:
    """The text holds Chinese, Japanese or Korean writing, which says in two characters what others say in a word."""
    return bool(_CJK.search(text))
