"""Sends requests to the agent in one process and awaits its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends.inprocess.engine.host_link import HOST_ENDED, HostLink
from debugger.backends.inprocess.engine.machine_code import CRASH, ENTER, LOG, TRACE, TRAP
from debugger.errors import DebuggerError, ErrorCode

_AGENT = Path(__file__).parent / "agent"
_REPLY_S = 20.0


def agent_source(*, holds_modules: bool) -> str:
    """Concatenate the agent's files, with the machine code that the agent places in memory."""
    codes = {"trap": TRAP, "crash": CRASH, "enter": ENTER, "trace": TRACE, "log": LOG}
    machine = {name: code.hex() for name, code in codes.items()}
    # The files share one scope, and their numbers are the order in which they are evaluated.
    head = f"const MACHINE = {msgspec.json.encode(machine).decode()};\n"
    head += f"const HOLDS_MODULES = {'true' if holds_modules else 'false'};\n"
    return head + "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(_AGENT.glob("*.js"))
    )


class AgentConnection:
    """Sends requests to the agent in one process, and gives its answers to who waits for them."""

    # What goes between this class and the agent:
    #
    # - An order has a number; the agent's answer has the same (`take_reply`). Several may be
    #   under way at once. Number 0 is an order whose answer nobody waits for.
    # - All messages go through one pipe to the host, and from there through Frida's queue of
    #   the script, so they arrive in the order in which they were sent. That makes
    #   `post_order` safe.
    # - An order for a paused thread is a message of the type `thread-ID`: that thread itself
    #   waits for it in recv().wait(), and runs it on its own stack. All others run on the
    #   agent's thread.
    # - Batches of records are acknowledged one by one: the agent stops sending when too many
    #   are on their way, and counts what it drops (agent/10_ground.js). Python reads about
    #   19,000 messages a second, a hot line writes more.
    def __init__(self, link: HostLink, pid: int) -> None:
        self._link = link
        self.pid = pid
        self._waiting: dict[int, asyncio.Future[tuple[Any, bytes]]] = {}
        self._next = 1
        self.gone: str | None = None

    async def send_order(
        self, op: str, *, data: bytes | None = None, within: float = _REPLY_S, **arguments: Any
    ) -> tuple[Any, bytes]:
        """Send the agent one order; return its answer and the bytes that came with it.

        Raises:
            DebuggerError: EVALUATION_FAILED with its words, PROGRAM_EXITED, TIMEOUT.
        """
        return await self._send_and_wait("order", op, data, within, arguments)

    async def send_thread_order(
        self, thread: int, op: str, *, within: float = _REPLY_S, **arguments: Any
    ) -> Any:
        """Send an order to a paused thread, which carries it out itself.

        Raises:
            DebuggerError: as `send_order` does.
        """
        value, _ = await self._send_and_wait(f"thread-{thread}", op, None, within, arguments)
        return value

    def post_order(self, op: str, **arguments: Any) -> None:
        """Send the agent an order without awaiting its answer; it is done before any later order.

        Raises:
            DebuggerError: PROGRAM_EXITED.
        """
        if self.gone is not None:
            raise self._left_error()
        self._link.post_message(self.pid, {**arguments, "type": "order", "op": op, "id": 0})

    def resume_thread(self, thread: int) -> None:
        """Resume a paused thread."""
        self._link.post_message(self.pid, {"type": f"thread-{thread}", "op": "resume"})

    def acknowledge_batch(self) -> None:
        """Allow the agent to send one batch more."""
        self._link.post_message(self.pid, {"type": "ack"})

    async def _send_and_wait(
        self, kind: str, op: str, data: bytes | None, within: float, arguments: Mapping[str, Any]
    ) -> tuple[Any, bytes]:
        if self.gone is not None:
            raise self._left_error()
        number, self._next = self._next, self._next + 1
        # Registered before the message leaves: an answer may come while the pipe is being
        # written.
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        message = {**arguments, "type": kind, "op": op, "id": number}
        self._link.post_message(self.pid, message, data)
        try:
            async with asyncio.timeout(within):
                value, answered = await waiting
        except TimeoutError:
            raise DebuggerError(
                ErrorCode.TIMEOUT,
                f"the agent in process {self.pid} did not answer {op} within {within:g} s",
                hint="debugger stop ends the session",
            ) from None
        finally:
            del self._waiting[number]
        return value, answered

    def _left_error(self) -> DebuggerError:
        return DebuggerError(
            ErrorCode.ADAPTER_DIED if self.gone == HOST_ENDED else ErrorCode.PROGRAM_EXITED,
            f"process {self.pid} has gone: {self.gone}",
            hint="debugger restart runs it again",
        )

    def take_reply(self, reply: Mapping[str, Any], data: bytes | None) -> None:
        """Complete the request that an answer belongs to."""
        waiting = self._waiting.get(reply["id"])
        # The answer to a request that has timed out, or to one that nobody awaits.
        if waiting is None or waiting.done():
            return
        if "error" in reply:
            waiting.set_exception(DebuggerError(ErrorCode.EVALUATION_FAILED, reply["error"]))
        else:
            waiting.set_result((reply["value"], data or b""))

    def take_end(self, reason: str) -> None:
        """Fail all requests under way: no answer will come any more."""
        self.gone = reason
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._left_error())
