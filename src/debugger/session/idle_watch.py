"""Watches whether the program of a session is idle during a wait for its next stop."""

from __future__ import annotations

import asyncio

from debugger.backends.base import AttachTarget
from debugger.model.events import State
from debugger.session import process_tree
from debugger.session.session import Session
from debugger.system.idle_detector import CONNECTIONS, INPUT, QUIET_S, IdleDetector, IdleWait

# After how many idle seconds a wait ends: for input, and for connections.
INPUT_LIMIT = {INPUT: QUIET_S}
SERVER_LIMIT = {CONNECTIONS: QUIET_S}
# A question ends its program: somebody may be about to make the first request.
QUESTION_LIMIT = {CONNECTIONS: 10.0}


class IdleWatch:
    """Checks the processes of a session's process tree for idleness."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._watched: tuple[int, IdleDetector] | None = None

    async def find_idle_reason(self) -> IdleWait | None:
        """Return the wait of an idle program; None if it is active, or nothing is known."""
        pid = self._first_pid()
        if pid is None:
            self._watched = None
            return None
        if self._watched is None or self._watched[0] != pid:
            self._watched = pid, IdleDetector(pid, self._session.traits.helper_words)
        now_s = asyncio.get_running_loop().time()
        return await asyncio.to_thread(self._watched[1].update, now_s)

    def _first_pid(self) -> int | None:
        """Return the tree's first local process; None if none runs on this machine."""
        program = process_tree.root_session(self._session)
        if isinstance(program.target, AttachTarget) and program.target.connect is not None:
            return None  # the number may be another machine's
        if program.traits.is_launcher:
            return None  # it listens for its ranks, and reads for them; they may be elsewhere
        relatives = program.family.tree_sessions(program)
        if any(one.state is State.STOPPED for one in relatives):
            return None
        running = [one for one in (program, self._session) if one.state is State.RUNNING]
        return next((one.pid for one in running if one.pid is not None), None)
