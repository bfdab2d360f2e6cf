"""The assistant: ask, and take back. The same for a program, the command line and a server."""

from __future__ import annotations

import contextlib
import locale
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from surefoot.assistant.brief import BRIEF, KIND, Brief, brief_of, set_terms
from surefoot.assistant.handle import RunHandle, RunResult, result_of
from surefoot.assistant.opened import Models, Servers, check_journal, idle_policies
from surefoot.assistant.turn import Turn
from surefoot.assistant.undoing import Undoing
from surefoot.assistant.work import check_may_resume, work
from surefoot.errors import InputError
from surefoot.events import EventType
from surefoot.journal.owner import current_owner
from surefoot.journal.types import Journal, Run, RunStatus
from surefoot.models.types import LanguageModel, Message
from surefoot.running import lifecycle
from surefoot.running.budget import Budget, default_limits
from surefoot.running.session import Session
from surefoot.running.steps import Steps
from surefoot.running.undo import UndoReport
from surefoot.settings import Settings, load_settings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Actor, Tool

if TYPE_CHECKING:
    from surefoot.storage import Database

DIALOGUE_MESSAGES = 12
"""Messages of a conversation that are read again: six exchanges; older ones are in the diary."""

PERSON = Actor("person", "me")

MASKED = (
    "The request holds a secret ({kinds}). It is masked: it is kept nowhere, and no model sees it. "
    "`surefoot facts set` keeps one for flows."
)


class Assistant:
    """Plans requests, runs them, answers, and takes them back.

    Args:
        model: `provider:name`, or a model of your own; None takes the default (see the models page).
        tools: your tools, behind the built-in ones: `@tool` functions.
        kits: names of the built-in kits to offer; None offers all, `()` none.
        settings: None loads the person's.
        journal: None opens the person's.
        dialogue: id of a conversation to go on with; None starts one.
        services: what your tools find in `ctx.services`.
        clock: what "now" is when a run starts; aware.
        actor: in whose name the calls are made.

    Use it as `async with Assistant() as assistant`, or call `close`.
    """

    def __init__(
        self,
        *,
        model: LanguageModel | str | None = None,
        tools: Iterable[Tool] = (),
        kits: Sequence[str] | None = None,
        settings: Settings | None = None,
        journal: Journal | None = None,
        dialogue: str | None = None,
        services: Mapping[str, Any] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        actor: Actor = Actor("agent", "surefoot"),
    ) -> None:
        from surefoot.tools.kits import builtin

        self.settings = settings or load_settings()
        self.catalogue = Catalogue([*builtin(kits), *tools])
        self.dialogue = dialogue or secrets.token_hex(6)
        self._models = Models(self.settings, model)
        self._servers = Servers(self.settings, self.catalogue)
        self._handles: set[RunHandle] = set()
        self._journal = journal
        self._database: Database | None = None
        self._services = dict(services or {})
        self._clock = clock
        self._actor = actor
        check_journal(journal, self.catalogue)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Cancel what is still in work, then let go of the models, servers and journal that this assistant opened."""
        for handle in [one for one in self._handles if not one.over]:
            with contextlib.suppress(Exception):  # whoever holds the handle is told
                await handle.cancel()
        self._handles.clear()
        try:
            await self._servers.close()
            await self._models.close()
        finally:
            if self._database is not None and self._journal is not None:
                await self._journal.close()
                self._database.close()
                self._journal = self._database = None

    # --- asking ----------------------------------------------------------------------------------------------

    def ask(self, text: str) -> RunHandle:
        """Start a run for this request. Await the handle for the result; iterate it for the events.

        It belongs to the conversation that `dialogue` names now. Of two that are asked at once, neither knows of the
        other. Secrets that can be told by their form (card and account numbers, keys, `my password is ...`) are masked
        before the request gets anywhere, in the context that calls; a notice of the run says so.

        Raises (from the handle):
            InputError: the request is empty.
            StorageError: the journal cannot be written.
        """
        from surefoot.flows.detection import mask_found

        masked = mask_found(text)
        run = self._new_run(text, "ask", self._clock(), {"dialogue": self.dialogue})
        return self._held(RunHandle(lambda handle: self._start(handle, run, masked), self._decide))

    def work(
        self, brief: Brief, *, run: str = "", steps: Steps | None = None, actor: Actor | None = None
    ) -> RunHandle:
        """Start a run on terms of its own, outside any conversation.

        A model with tool calls works in the loop at once; another one plans an outline, as for a request.

        Args:
            brief: the terms.
            run: its id, 16 hex digits; empty makes one.
            steps: what its model and tool calls go through, in place of the journal alone.
            actor: in whose name its calls are made; None: the assistant's.

        Raises (from the handle):
            InputError: the goal is empty.
            StorageError: the journal cannot be written.
        """
        made = self._new_run(
            brief.goal, KIND, self._clock(), {**brief.tags, BRIEF: brief.to_dict()}, brief.zone
        )
        made = made.with_(id=run or made.id, actor=actor or made.actor)
        return self._held(RunHandle(lambda handle: self._start(handle, made, steps=steps), self._decide))

    def resume(self, run: str, *, steps: Steps | None = None) -> RunHandle:
        """Go on with a run that was interrupted or approved. What is done is not done again.

        `steps`: what its calls go through, in place of the journal alone.

        Raises (from the handle):
            StateError: it is final, still waits for a person, or somebody works on it.
            NotFoundError: there is no such run.
        """
        return self._held(RunHandle(lambda handle: self._resume(handle, run, steps), self._decide))

    def _held(self, handle: RunHandle) -> RunHandle:
        """A run goes on when its handle is dropped, and ends with the assistant."""
        self._handles = {one for one in self._handles if not one.over} | {handle}
        return handle

    def _new_run(self, goal: str, kind: str, now: datetime, extra: Mapping[str, Any], zone: str = "") -> Run:
        return lifecycle.new_run(
            goal,
            kind=kind,
            actor=self._actor,
            now=now,
            zone=zone or self.settings.zone_name,
            language=self.language,
            owner=current_owner(),
            extra=extra,
        )

    async def _start(
        self, handle: RunHandle, run: Run, masked: Sequence[str] = (), steps: Steps | None = None
    ) -> RunResult:
        if not run.goal.strip():
            raise InputError("The request is empty.", "Say what you want.")
        journal = await self.journal()
        events = [(EventType.RUN_CREATED, {"goal": run.goal, "kind": run.kind})]
        if masked:
            events.append((EventType.NOTICE, {"text": MASKED.format(kinds=", ".join(masked))}))
        with lifecycle.working_on(run.id):
            session = self._session(await lifecycle.settled(journal.create_run(run, events)), journal)
            session.steps = steps or session.steps
            handle.begin(session)
            session.told(events)
            return await work(session, self._begin(session), lambda: self._turn(session))

    async def _resume(self, handle: RunHandle, name: str, steps: Steps | None) -> RunResult:
        journal = await self.journal()
        await journal.release_dead()
        run = await journal.find_run(name)
        await check_may_resume(run, journal)
        undoing = run.kind in {"undo", "redo"}
        if not undoing:
            await (await self.model()).capabilities()  # without a model the run stays as it is
        with lifecycle.working_on(run.id):
            run = await lifecycle.settled(journal.claim(run.id, current_owner()))
            session = self._session(run, journal)
            session.steps = steps or session.steps
            if not undoing:
                return await work(session, self._take_up(session, handle), lambda: self._turn(session))
            await self._undoing(journal).go_on(session, handle.begin)
            return await result_of(journal, session.run)

    async def _begin(self, session: Session) -> None:
        set_terms(session, await self.open_tools())  # within a run they stay as they are now
        await self._tell_of_servers(session)
        for name in idle_policies(self.settings, self.catalogue):
            text = f"The settings name {name!r} in `policy`, and no tool, kit or effect is called that."
            await session.tell((EventType.NOTICE, {"text": text}))

    async def _tell_of_servers(self, session: Session) -> None:
        await session.tell(*[(EventType.NOTICE, {"text": text}) for text in self.tool_notices()])

    async def _take_up(self, session: Session, handle: RunHandle) -> None:
        set_terms(session, await self.open_tools())
        await session.load()
        await self._tell_of_servers(session)
        await session.set(status=RunStatus.RUNNING)
        handle.begin(session)

    async def _turn(self, session: Session) -> Turn:
        model = await self.model()
        planner = await self._models.planner()
        local = (await model.capabilities()).local
        brief, limits = brief_of(session.run), default_limits(local=local).with_settings(self.settings.limits)
        session.budget.limits = brief.bounded(limits) if brief else limits
        messages = await session.journal.messages(
            session.run.context.get("dialogue", ""), limit=DIALOGUE_MESSAGES
        )
        timeout = self.settings.local_timeout_sec if local else 60.0
        return Turn(
            session,
            model,
            planner,
            timeout,
            [Message.from_dict(data) for data in messages],
            router=await self._models.router(),
        )

    # --- people's decisions ----------------------------------------------------------------------------------

    async def approve(self, run: str, call: str | int | None = None) -> RunHandle:
        """Agree to a waiting call (or all of the run), and go on."""
        return await self._decide("approve", run, call)

    async def decline(self, run: str, call: str | int | None = None) -> RunHandle:
        """Refuse a waiting call (or all of the run), and go on without it."""
        return await self._decide("decline", run, call)

    async def _decide(
        self, answer: Literal["approve", "decline"], run: str, call: str | int | None
    ) -> RunHandle:
        journal = await self.journal()
        found = await self._undoing(journal).find(run)
        write = lifecycle.approve if answer == "approve" else lifecycle.decline
        await write(journal, found, call, PERSON)
        return self.resume(found.id)

    async def cancel(self, run: str) -> Run:
        """End a run that waits or was interrupted. A cancelled run never goes on."""
        journal = await self.journal()
        await journal.release_dead()
        return await lifecycle.cancel(journal, await journal.find_run(run), current_owner())

    # --- undo ------------------------------------------------------------------------------------------------

    async def undo(
        self, run: str | RunResult, *, force: bool = False, call: int | None = None, preview: bool = False
    ) -> UndoReport:
        """Take a run (or one call of it) back, newest first. Conflicts are left alone unless forced.

        Running it again after a crash ends the same. With `preview` nothing is changed.
        """
        undoing = self._undoing(await self.journal())
        target = await undoing.find(run.id if isinstance(run, RunResult) else run)
        if preview:
            return await undoing.preview(target, force=force, only=call)
        return await undoing.undo(target, force=force, only=call)

    async def redo(self, run: str | RunResult, *, force: bool = False) -> UndoReport:
        """Take the undo of a run back."""
        undoing = self._undoing(await self.journal())
        return await undoing.redo(
            await undoing.find(run.id if isinstance(run, RunResult) else run), force=force
        )

    async def draft(self, text: str, catalogue: Catalogue | None = None) -> Session:
        """A session for a plan that is only looked at (`planned`): its run stands in no journal."""
        run = self._new_run(text, "plan", self._clock(), {})
        session = self._session(run, await self.journal())
        session.catalogue = catalogue or self.catalogue
        return session

    # --- what it works with ----------------------------------------------------------------------------------

    @property
    def language(self) -> str:
        """Language of the person: the setting, else the locale's, else English."""
        if self.settings.language:
            return self.settings.language
        found = locale.getlocale()[0] or ""
        return found.partition("_")[0].lower() if len(found.partition("_")[0]) == 2 else "en"  # noqa: PLR2004

    async def journal(self) -> Journal:
        """The journal, opened when first needed. From here on nothing holds a secret of the environment."""
        from surefoot.models import keys, routes

        keys.mask_environment(*routes.key_names(self.settings))
        if self._journal is None:
            from surefoot.journal import SqlJournal
            from surefoot.storage import Database

            self._database = Database(self.settings.database)
            self._journal = SqlJournal(self._database)
        return self._journal

    def now(self) -> datetime:
        """This moment, by the assistant's clock."""
        return self._clock()

    async def model(self) -> LanguageModel:
        """The model that answers, opened when first needed."""
        return await self._models.chat()

    async def open_tools(self) -> Catalogue:
        """`catalogue` with the tools of the MCP servers in the settings, opened when this is first asked.

        A server that does not come up is no error: its tools are not there, and the next run says so.
        """
        self.catalogue = await self._servers.catalogue()
        return self.catalogue

    def tool_notices(self) -> list[str]:
        """What is to be known of the servers and was not told in a run yet; each is given once."""
        return self._servers.notices()

    async def warm(self) -> None:
        """Load a local model and let it read the parts of the prompts that never change, before they are needed.

        Raises:
            ProviderError: there is no model, or it cannot be loaded.
        """
        from surefoot.assistant.warming import warm_planner, warm_reply

        model = await self.model()
        await warm_planner(await self._models.planner(), self.settings, await self.open_tools())
        await warm_reply(model, self.settings)

    def _session(self, run: Run, journal: Journal) -> Session:
        return Session(
            run=run,
            journal=journal,
            catalogue=self.catalogue,
            settings=self.settings,
            budget=Budget(default_limits(local=False)),
            policy=self.settings.policy,
            services=self._services,
        )

    def _undoing(self, journal: Journal) -> Undoing:
        return Undoing(journal, self.catalogue, self.settings, self._services, self._clock, self.language)
