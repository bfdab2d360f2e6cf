"""The assistant: ask, and take back. The same for a program, the command line and a server."""

from __future__ import annotations

import asyncio
import contextlib
import locale
import secrets
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from surefoot.assistant.handle import RunHandle, RunResult
from surefoot.assistant.opened import Models, Servers, check_journal, idle_policies
from surefoot.assistant.turn import Turn
from surefoot.assistant.undoing import Undoing
from surefoot.errors import InputError, StateError, StorageError, SurefootError
from surefoot.events import EventType
from surefoot.journal.owner import current_owner
from surefoot.journal.types import FINAL, Journal, Run, RunStatus
from surefoot.models.types import LanguageModel, Message
from surefoot.planning.outline import Outline
from surefoot.running import lifecycle
from surefoot.running.budget import Budget, default_limits
from surefoot.running.session import Session
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

        dialogue, now, masked = self.dialogue, self._clock(), mask_found(text)
        return self._held(
            RunHandle(lambda handle: self._ask(handle, text, dialogue, now, masked), self._decide)
        )

    def resume(self, run: str) -> RunHandle:
        """Go on with a run that was interrupted or approved. What is done is not done again.

        Raises (from the handle):
            StateError: it is final, still waits for a person, or somebody works on it.
            NotFoundError: there is no such run.
        """
        return self._held(RunHandle(lambda handle: self._resume(handle, run), self._decide))

    def _held(self, handle: RunHandle) -> RunHandle:
        """A run goes on when its handle is dropped, and ends with the assistant."""
        self._handles = {one for one in self._handles if not one.over} | {handle}
        return handle

    async def _ask(
        self, handle: RunHandle, text: str, dialogue: str, now: datetime, masked: Sequence[str]
    ) -> RunResult:
        if not text.strip():
            raise InputError("The request is empty.", "Say what you want.")
        journal = await self.journal()
        run = lifecycle.new_run(
            text,
            kind="ask",
            actor=self._actor,
            now=now,
            zone=self.settings.zone_name,
            language=self.language,
            owner=current_owner(),
            extra={"dialogue": dialogue},
        )
        events = [(EventType.RUN_CREATED, {"goal": text, "kind": "ask"})]
        if masked:
            events.append((EventType.NOTICE, {"text": MASKED.format(kinds=", ".join(masked))}))
        with lifecycle.working_on(run.id):
            run = await lifecycle.settled(journal.create_run(run, events))
            session = self._session(run, journal)
            handle.begin(session)
            session.told(events)
            return await self._work(session, self._begin(session))

    async def _resume(self, handle: RunHandle, name: str) -> RunResult:
        journal = await self.journal()
        await journal.release_dead()
        run = await journal.find_run(name)
        await self._check_may_resume(run, journal)
        if run.kind == "ask":
            await (await self.model()).capabilities()  # without a model the run stays as it is
        with lifecycle.working_on(run.id):
            run = await lifecycle.settled(journal.claim(run.id, current_owner()))
            session = self._session(run, journal)
            if run.kind == "ask":
                return await self._work(session, self._take_up(session, handle))
            await self._undoing(journal).go_on(session, handle.begin)
            return await result_of(journal, session.run)

    async def _check_may_resume(self, run: Run, journal: Journal) -> None:
        if run.status in FINAL:
            raise StateError(f"Run {run.id} is {run.status}: there is nothing to go on with.", "Ask again.")
        waiting = [call for call in await journal.calls(run.id) if call.status == "waiting"]
        if waiting:
            raise StateError(
                f"Run {run.id} waits for you to agree to call {waiting[0].ordinal} ({waiting[0].tool}).",
                f"surefoot approve {run.id[:8]}, or surefoot decline {run.id[:8]}.",
                run=run.id,
            )

    async def _begin(self, session: Session) -> None:
        session.catalogue = await self.open_tools()  # within a run they stay as they are now
        await self._tell_of_servers(session)
        for name in idle_policies(self.settings, self.catalogue):
            text = f"The settings name {name!r} in `policy`, and no tool, kit or effect is called that."
            await session.tell((EventType.NOTICE, {"text": text}))

    async def _tell_of_servers(self, session: Session) -> None:
        await session.tell(*[(EventType.NOTICE, {"text": text}) for text in self.tool_notices()])

    async def _take_up(self, session: Session, handle: RunHandle) -> None:
        session.catalogue = await self.open_tools()
        await session.load()
        await self._tell_of_servers(session)
        await session.set(status=RunStatus.RUNNING)
        handle.begin(session)

    async def _work(self, session: Session, beginning: Coroutine[Any, Any, None]) -> RunResult:
        try:
            await beginning
            turn = await self._turn(session)
            await turn.take()
        except asyncio.CancelledError:
            await asyncio.shield(session.rest(RunStatus.CANCELLED))
            raise
        except StorageError:
            with contextlib.suppress(StorageError):  # else it is found so once this process has ended
                await session.rest(RunStatus.INTERRUPTED)
            raise
        except SurefootError as error:
            await session.rest(RunStatus.FAILED, error=error.to_dict())
        except Exception as error:
            await session.rest(
                RunStatus.FAILED, error=SurefootError(f"A fault of Surefoot: {error!r}").to_dict()
            )
            raise
        return await result_of(session.journal, session.run)

    async def _turn(self, session: Session) -> Turn:
        model = await self.model()
        planner = await self._models.planner()
        local = (await model.capabilities()).local
        session.budget.limits = default_limits(local=local).with_settings(self.settings.limits)
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
        run = lifecycle.new_run(
            text,
            kind="plan",
            actor=self._actor,
            now=self._clock(),
            zone=self.settings.zone_name,
            language=self.language,
            owner=current_owner(),
        )
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

            self._database = Database(self.settings.database_url)
            self._journal = SqlJournal(self._database)
        return self._journal

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


async def result_of(journal: Journal, run: Run) -> RunResult:
    """What a run came to so far, from the journal."""
    from surefoot.models.types import Usage

    usage = Usage()
    model_calls = await journal.model_calls(run.id)
    for entry in model_calls:
        usage += Usage(**entry.completion["usage"])
    outline = Outline.from_list(run.context.get("outline", ()))
    return RunResult(run, outline, tuple(await journal.calls(run.id)), usage, len(model_calls))
