"""Sends questions to LLDB's command line, and receives its answers and events.

LLDB runs one command after the other, so that its standard input is the queue. For an answer that
does not come in time, LLDB is interrupted: either it answers then, and questions and answers match
again, or it is killed. Late answers to abandoned questions are ignored.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from debugger.backends.lldb.command_line import lldb_answers, lldb_output
from debugger.errors import DebuggerError, ErrorCode
from debugger.system.supervised_process import SupervisedProcess

_SCRIPT = str(Path(__file__).with_name("inside") / "lldb_inside.py")
_RESYNC_S = 3.0
_TALK_LINES = 20
_OPTIONS = ("--no-lldbinit", "--no-use-colors")


class LldbLimits(Struct, frozen=True):
    """Time limits in seconds: for LLDB's start, and for an answer."""

    ready_s: float = 10.0
    answer_s: float = 30.0


class LldbConsole:
    """A running LLDB that answers questions and reports events."""

    def __init__(
        self,
        lldb: Sequence[str],
        *,
        limits: LldbLimits,
        on_news: Callable[[lldb_answers.News], None],
        on_loss: Callable[[str], None],
        tasks: asyncio.TaskGroup,
    ) -> None:
        self._lldb = lldb
        self._limits = limits
        self._on_news = on_news
        self._on_loss = on_loss
        self._tasks = tasks
        self._secret = secrets.token_hex(16)
        self._splitter = lldb_output.LldbOutputSplitter(self._secret)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._next = 1
        self._talk: deque[str] = deque(maxlen=_TALK_LINES)
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lost: DebuggerError | None = None
        self._is_closing = False
        self.version = ""
        self.guard: SupervisedProcess | None = None

    @property
    def is_lost(self) -> bool:
        """Whether LLDB is gone."""
        return self._lost is not None

    async def start_lldb(self, *, cwd: str, env: Mapping[str, str], scratch: Path) -> None:
        """Start LLDB, up to where it answers questions.

        Raises:
            DebuggerError: ADAPTER_FAILED, ADAPTER_DIED, TIMEOUT, NOT_SUPPORTED without Python.
        """
        # PYTHON… is meant for the caller's Python, not for the one in LLDB.
        plain = {key: value for key, value in env.items() if not key.startswith("PYTHON")}
        words = (*self._lldb, *_OPTIONS)
        self.guard = await SupervisedProcess.start(
            words, cwd=cwd, env=plain, scratch=scratch, tasks=self._tasks
        )
        self._tasks.create_task(self._read_output(self.guard))
        # The secret marks our lines: a program's output cannot imitate an answer.
        self.guard.write_input(lldb_output.opening_commands(_SCRIPT, self._secret))
        try:
            async with asyncio.timeout(self._limits.ready_s):
                await asyncio.shield(self._ready)
        except TimeoutError:
            raise DebuggerError(
                ErrorCode.TIMEOUT,
                f"lldb was not ready within {self._limits.ready_s:g} s{self._last_words()}",
                hint="debugger doctor tries it; debugger config: dap_initialize_secs is the bound",
            ) from None

    async def ask_lldb(self, do: str, *, within: float | None = None, **arguments: Any) -> Any:
        """Send a question and return its answer.

        Raises:
            DebuggerError: LLDB's own error; TIMEOUT after LLDB had to be interrupted; ADAPTER_DIED.
        """
        if self._lost is not None:
            raise self._lost
        assert self.guard is not None
        number, self._next = self._next, self._next + 1
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        seconds = self._limits.answer_s if within is None else within
        self.guard.write_input(lldb_output.question_command(number, do, arguments))
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(answered)
        except TimeoutError:
            await self._interrupt_question(do, answered, seconds)
            raise DebuggerError(
                ErrorCode.TIMEOUT,
                f"lldb took longer than {seconds:g} s to answer ({do}), and was interrupted",
                hint="debugger status; debugger config shows dap_request_secs, the bound",
            ) from None
        except asyncio.CancelledError:
            # LLDB must be free for the next question.
            if not self._is_closing and self._lost is None:
                with contextlib.suppress(DebuggerError):
                    await self._interrupt_question(do, answered, seconds)
            raise
        finally:
            self._waiting.pop(number, None)
            # A late answer finds no future, and is dropped.
            answered.cancel()

    async def _interrupt_question(
        self, do: str, answered: asyncio.Future[Any], seconds: float
    ) -> None:
        """Interrupt LLDB; kill it if it does not answer then."""
        assert self.guard is not None
        await self.guard.interrupt_process(self.guard.pid)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_RESYNC_S):
                await asyncio.wait({answered})
            return
        await self.guard.kill_process(self.guard.pid)
        self._on_lldb_lost(
            f"lldb did not answer ({do}) within {seconds:g} s, and could not be interrupted"
        )
        raise self._lost or DebuggerError(ErrorCode.ADAPTER_DIED, "lldb is gone")

    # -- output of LLDB ------------------------------------------------------------------------

    async def _read_output(self, guard: SupervisedProcess) -> None:
        problem = ""

        def feed_splitter(chunk: bytes) -> None:
            for piece in self._splitter.add_bytes(chunk):
                self._take_piece(piece)

        try:
            await guard.forward_output(feed_splitter)
        except (DebuggerError, msgspec.DecodeError) as error:
            problem = str(error)
            await guard.kill_process(guard.pid)
        if not problem:
            how = "closed its output"
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    how = await asyncio.shield(guard.exited)
            problem = f"lldb {how} unexpectedly{self._last_words()}"
        self._on_lldb_lost(problem)

    def _take_piece(self, piece: lldb_output.LldbAnswerText | lldb_output.LldbTalk) -> None:
        if isinstance(piece, lldb_output.LldbTalk):
            self._talk.append(piece.text[:500])
            if lldb_output.is_end_of_opening(piece, self._secret) and not self._ready.done():
                self._ready.set_exception(self._no_python())
        elif piece.number == lldb_output.NEWS:
            news = lldb_answers.parse_news(piece.body)
            if isinstance(news, lldb_answers.LldbReady):
                self.version = _version_number(news.version)
                if not self._ready.done():
                    self._ready.set_result(None)
            else:
                self._on_news(news)
        else:
            waiting = self._waiting.get(piece.number)
            if waiting is not None and not waiting.done():
                lldb_answers.settle_answer(waiting, piece.body)

    def _no_python(self) -> DebuggerError:
        return DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"this lldb cannot be driven: it has no Python of its own{self._last_words()}",
            hint="debugger start PROGRAM --backend dap",
        )

    def _last_words(self) -> str:
        stderr_text = self.guard.stderr_tail()[-2000:].strip() if self.guard is not None else ""
        return f"; it said: {stderr_text}" if stderr_text else ""

    def _on_lldb_lost(self, problem: str) -> None:
        if self._lost is not None:
            return
        if self._is_closing:
            problem = "the session was closed"
        self._lost = DebuggerError(
            ErrorCode.ADAPTER_DIED, problem, hint="debugger restart starts it again"
        )
        for waiting in (*self._waiting.values(), self._ready):
            if not waiting.done():
                waiting.set_exception(self._lost)
                waiting.exception()  # it may be waited for by nobody
        if not self._is_closing:
            self._on_loss(problem)

    def close(self) -> None:
        """Note that LLDB is about to end: its end is no loss."""
        self._is_closing = True


def _version_number(version: str) -> str:
    """Extract the number from `lldb version 19.1.7 (https://…)`."""
    return next((word for word in version.split() if word[:1].isdigit()), version)
