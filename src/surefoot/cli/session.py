"""What every command works with: settings, words, streams, and the one place where the assistant is made."""

from __future__ import annotations

import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from functools import cached_property
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from surefoot.cli import failures
from surefoot.cli.out import Out
from surefoot.cli.texts import Texts
from surefoot.cli.times import Times

if TYPE_CHECKING:
    import asyncio  # its import takes a tenth of what `--help` may

    from surefoot.assistant import Assistant
    from surefoot.journal.types import Journal, Run
    from surefoot.settings import Settings

T = TypeVar("T")


@dataclass
class Cli:
    """One call of the command line."""

    out: Out
    debug: bool = False

    @property
    def texts(self) -> Texts:
        """The interface's language."""
        return self.out.texts

    @cached_property
    def settings(self) -> Settings:
        """The person's settings, loaded when first needed."""
        from surefoot.models import keys, routes
        from surefoot.settings import load_settings

        settings = load_settings()
        keys.mask_environment(*routes.key_names(settings))
        return settings

    @cached_property
    def times(self) -> Times:
        """Moments in the person's zone."""
        return Times(self.texts, self.settings.zone_name)

    def assistant(
        self, *, model: str = "", dialogue: str | None = None
    ) -> AbstractAsyncContextManager[Assistant]:
        """The assistant, to be used as `async with`."""
        return open_assistant(self.settings, model=model or None, dialogue=dialogue)

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a command's work to its end, in an event loop of its own."""
        import asyncio

        from surefoot.models import keys

        keys.mask_environment()  # here, so that it also holds where the errors of that loop end
        return asyncio.run(work())


def open_assistant(settings: Settings, *, model: str | None = None, dialogue: str | None = None) -> Assistant:
    """The one place where the command line makes an assistant: the settings' journal, all kits, this model."""
    from surefoot.assistant import Assistant

    return Assistant(settings=settings, model=model, dialogue=dialogue)


async def find(journal: Journal, name: str) -> Run:
    """The run that is meant: an id, a unique beginning of one, or `last`."""
    await journal.release_dead()
    return await journal.find_run(name)


async def interruptible(work: Awaitable[T]) -> T:
    """Await it; the first Ctrl-C cancels it and waits for it to end cleanly, the second leaves at once.

    Raises:
        Interrupted: it was cancelled by Ctrl-C.
    """
    import asyncio

    task = asyncio.ensure_future(work)
    presses = Presses(asyncio.get_running_loop(), task)
    with presses:
        try:
            return await task
        except asyncio.CancelledError:
            if presses.count:
                raise failures.Interrupted from None
            raise


class Presses:
    """Counts Ctrl-C while it is entered."""

    def __init__(self, loop: asyncio.AbstractEventLoop, task: asyncio.Future[Any]) -> None:
        self.count = 0
        self._loop = loop
        self._task = task
        self._before: Any = None

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self._before = signal.getsignal(signal.SIGINT)
        with suppress(NotImplementedError):  # Windows, whose loop wakes by itself
            # Wakes the loop also where the signal comes just before it goes to sleep.
            self._loop.add_signal_handler(signal.SIGINT, lambda: None)
        signal.signal(signal.SIGINT, self._pressed)  # acts also where the loop is busy

    def __exit__(self, *exc: object) -> None:
        if self._before is None:
            return
        with suppress(NotImplementedError):
            self._loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, self._before)

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.count += 1
        if self.count > 1:
            failures.leave_hard()
        with suppress(RuntimeError):  # the loop is closed: there is nothing left to cancel
            self._loop.call_soon_threadsafe(self._task.cancel)
