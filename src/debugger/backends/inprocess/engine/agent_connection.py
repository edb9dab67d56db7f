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
    """Put the agent's files together, with the machine code that it places."""
    codes = {"trap": TRAP, "crash": CRASH, "enter": ENTER, "trace": TRACE, "log": LOG}
    machine = {name: code.hex() for name, code in codes.items()}
    head = f"const MACHINE = {msgspec.json.encode(machine).decode()};\n"
    head += f"const HOLDS_MODULES = {'true' if holds_modules else 'false'};\n"
    return head + "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(_AGENT.glob("*.js"))
    )


class AgentConnection:
    """The agent in one process."""

    def __init__(self, link: HostLink, pid: int) -> None:
        self._link = link
        self.pid = pid
        self._waiting: dict[int, asyncio.Future[tuple[Any, bytes]]] = {}
        self._next = 1
        self.gone: str | None = None

    async def send_order(
        self, op: str, *, data: bytes | None = None, within: float = _REPLY_S, **arguments: Any
    ) -> tuple[Any, bytes]:
        """Give the agent one order; return its answer and the bytes that came with it.

        Raises:
            DebuggerError: EVALUATION_FAILED with its words, PROGRAM_EXITED, TIMEOUT.
        """
        return await self._send_and_wait("order", op, data, within, arguments)

    async def send_thread_order(
        self, thread: int, op: str, *, within: float = _REPLY_S, **arguments: Any
    ) -> Any:
        """Have a paused thread do something itself.

        Raises:
            DebuggerError: as `send_order` does.
        """
        value, _ = await self._send_and_wait(f"thread-{thread}", op, None, within, arguments)
        return value

    def post_order(self, op: str, **arguments: Any) -> None:
        """Give the agent an order whose answer nobody needs; it comes before what is asked next.

        Raises:
            DebuggerError: PROGRAM_EXITED.
        """
        if self.gone is not None:
            raise self._left_error()
        self._link.post_message(self.pid, {**arguments, "type": "order", "op": op, "id": 0})

    def resume_thread(self, thread: int) -> None:
        """Let a paused thread go on."""
        self._link.post_message(self.pid, {"type": f"thread-{thread}", "op": "resume"})

    def acknowledge_batch(self) -> None:
        """Let the agent send one batch more."""
        self._link.post_message(self.pid, {"type": "ack"})

    async def _send_and_wait(
        self, kind: str, op: str, data: bytes | None, within: float, arguments: Mapping[str, Any]
    ) -> tuple[Any, bytes]:
        if self.gone is not None:
            raise self._left_error()
        number, self._next = self._next, self._next + 1
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
        """Give an answer to who waits for it."""
        waiting = self._waiting.get(reply["id"])
        if waiting is None or waiting.done():
            return
        if "error" in reply:
            waiting.set_exception(DebuggerError(ErrorCode.EVALUATION_FAILED, reply["error"]))
        else:
            waiting.set_result((reply["value"], data or b""))

    def take_end(self, reason: str) -> None:
        """Note that nobody will answer any more."""
        self.gone = reason
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._left_error())
