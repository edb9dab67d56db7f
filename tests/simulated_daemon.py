"""Runs a real daemon in a thread of the test's process, whose programs are in memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from debugger.daemon import transport
from debugger.daemon.daemon_process import RuntimeFiles
from debugger.daemon.dispatch import Dispatcher
from debugger.daemon.server import DaemonServer
from debugger.questions.runner.evidence_store import EvidenceStore
from debugger.session.session_list import SessionList

T = TypeVar("T")
BOUND_S = 60.0
_TOKEN = "t" * 32


class SimulatedDaemon:
    """The daemon, its sessions and its evidence; `run` lets the test act in its event loop."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def sessions(self) -> SessionList:
        return self._dispatcher._sessions

    @property
    def evidence(self) -> EvidenceStore:
        return self._dispatcher._evidence

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(BOUND_S)

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run work in the daemon's loop, and return its result."""

        async def awaited() -> T:
            return await work()

        return asyncio.run_coroutine_threadsafe(awaited(), self._loop).result(BOUND_S)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._server.stop)
        self._thread.join(BOUND_S)
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        listener, address = transport.listen_for_clients(str(self._directory), _TOKEN)
        presence = RuntimeFiles(str(self._directory), address)
        self._server = DaemonServer(
            self._build, listener, presence, token=_TOKEN, idle_s=10 * BOUND_S
        )
        self._loop.run_until_complete(self._server.run(self._ready.set))
        self._loop.close()

    def _build(self, publish: Any) -> Dispatcher:
        self._dispatcher = Dispatcher(publish)
        return self._dispatcher


@contextmanager
def simulate_daemon(directory: Path) -> Iterator[SimulatedDaemon]:
    """Run a daemon in the runtime directory, which the environment must name."""
    daemon = SimulatedDaemon(directory)
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.stop()
