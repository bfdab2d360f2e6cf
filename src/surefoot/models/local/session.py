"""A working connection to the loaded model: made when needed, taken over when its owner is gone, prefixes restored."""

from __future__ import annotations

import asyncio
import atexit
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from surefoot.errors import ProviderError
from surefoot.models.local import engine, threads
from surefoot.models.local.owner import Hold, Place, connect
from surefoot.models.local.prefixes import Prefix, PrefixStore, SlotNotes, identity
from surefoot.models.local.requests import slot_of
from surefoot.models.local.wire import EngineGoneError, Wire

_open: weakref.WeakSet[Session] = weakref.WeakSet()
"""What is open when the process ends: leaving with a loaded model crashes."""

MEASURE_CONTEXT = 512
"""Tokens of context while threads are measured: the measured prompt is one line."""
MEASURE_TOKENS = 24
"""Tokens written for each number of threads: a second or two on a slow machine."""


class Session:
    """Everything about one model file and context length that outlives a single call.

    Args:
        path: the GGUF file.
        model: what identifies its content, for keys.
        num_ctx: tokens of context for each slot.
        cache_dir: the person's cache folder; entries lie in `local/`, states in `prefixes/`.
        configured_threads: the setting, 0 for measured.
        start: loads the model; another function in tests.
    """

    def __init__(
        self,
        path: Path,
        model: str,
        *,
        num_ctx: int,
        cache_dir: Path,
        configured_threads: int = 0,
        start: Callable[[engine.Options], engine.Engine] = engine.start,
    ) -> None:
        self.path = path
        self.model = model
        self.num_ctx = num_ctx
        self._folder = cache_dir / "local"
        self._threads = configured_threads
        self._start = start
        self._place = Place(self._folder, identity(model, num_ctx)[:16])
        self._store = PrefixStore(cache_dir / "prefixes")
        self._prefixes: dict[int, list[Prefix]] = {}
        self._hold: Hold | None = None
        self._lock = threading.Lock()

    @property
    def owner(self) -> bool:
        """This process has the model loaded."""
        return self._hold is not None and self._hold.owner

    async def wire(self) -> Wire:
        """The way to the model, loading it where nobody has."""
        hold = self._hold
        if hold is None:
            hold = await asyncio.to_thread(self._connect)
        return hold.wire

    async def lost(self, address: str) -> None:
        """Nobody answers at this address any more: the next call connects anew."""
        await asyncio.to_thread(self._forget, address)

    def close(self) -> None:
        """Let go of the model; blocks for as long as unloading takes."""
        with self._lock:
            hold, self._hold = self._hold, None
            if hold is not None:
                hold.close()
        _open.discard(self)

    def add_prefix(self, purpose: str, text: str, key: str, template: str) -> Prefix:
        """Register a prefix whose state is worth keeping for the slot of `purpose`."""
        parts = (self.model, engine.engine_version(), self.num_ctx, engine.KV_TYPE, template, key, text)
        prefix = Prefix(text, identity(*parts))
        kept = self._prefixes.setdefault(slot_of(purpose), [])
        if prefix not in kept:
            kept.append(prefix)
        return prefix

    async def keep_prefix(self, wire: Wire, purpose: str, prefix: Prefix) -> None:
        """Read the prefix and save its state."""
        slot = slot_of(purpose)
        body = {"prompt": prefix.text, "id_slot": slot, "n_predict": 0, "cache_prompt": True}
        read = await wire.post("/completion", body)
        saved = await wire.slot(slot, "save", self._store.temporary(prefix))
        if saved.get("n_saved") == read.get(
            "tokens_evaluated"
        ):  # else another process's call came in between
            await asyncio.to_thread(self._store.accept, prefix)
            self._notes(wire).write(slot, prefix.identity)

    async def on_disk(self, prefix: Prefix) -> bool:
        """Its state is kept and whole."""
        return await asyncio.to_thread(self._store.holds, prefix)

    async def ready(self, wire: Wire, body: dict[str, Any]) -> None:
        """Bring the slot to the kept state that this prompt begins with, unless it has it."""
        slot, prompt = int(body["id_slot"]), str(body["prompt"])
        fitting = [one for one in self._prefixes.get(slot, ()) if prompt.startswith(one.text)]
        wanted = max(fitting, key=lambda one: len(one.text), default=None)
        notes = self._notes(wire)
        if wanted is None:
            notes.write(slot, "")
        elif notes.read(slot) != wanted.identity:
            await self._restore(wire, slot, wanted)
            notes.write(slot, wanted.identity)

    async def _restore(self, wire: Wire, slot: int, prefix: Prefix) -> None:
        if not await self.on_disk(prefix):
            return
        try:
            await wire.slot(slot, "restore", prefix.filename)
        except ProviderError:
            await asyncio.to_thread(
                self._store.drop, prefix
            )  # of another build: read again, saved by the next warm
        else:
            self._store.used(prefix)

    def _notes(self, wire: Wire) -> SlotNotes:
        return SlotNotes(self._place.slots, wire.address)

    def _connect(self) -> Hold:
        with self._lock:
            if self._hold is None:
                self._hold = connect(self._place, self._load)
                _open.add(self)
            return self._hold

    def _forget(self, address: str) -> None:
        with self._lock:
            if self._hold is not None and self._hold.wire.address == address:
                self._hold.close()
                self._hold = None

    def _load(self) -> engine.Engine:
        count = threads.choose(self._threads, self._folder, self._rate)
        return self._start(self._options(count, self.num_ctx))

    def _options(self, count: threads.Threads, num_ctx: int) -> engine.Options:
        return engine.Options(self.path, num_ctx, count, self._store.folder)

    def _rate(self, writing: int) -> float:
        """Tokens a second written with this many threads."""
        count = threads.Threads(threads.available_cores(), writing)
        measured = self._start(self._options(count, MEASURE_CONTEXT))
        try:
            body = {"prompt": "Count:", "n_predict": MEASURE_TOKENS, "ignore_eos": True, "temperature": 0.0}
            last = asyncio.run(Wire(measured.address, measured.key).post("/completion", body))
            return float(last["timings"]["predicted_per_second"])
        except EngineGoneError:
            return 0.0
        finally:
            measured.close()


def close_all() -> None:
    """Let go of every model that is still open."""
    for session in list(_open):
        session.close()


atexit.register(close_all)
