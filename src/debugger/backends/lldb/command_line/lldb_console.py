"""Finds LLDB's command line, sends it questions, and receives its answers and events."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import secrets
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from debugger.backends.lldb.command_line import lldb_answers
from debugger.errors import DebuggerError, ErrorCode
from debugger.system.supervised_process import SupervisedProcess

_NEWEST_FIRST = range(30, 13, -1)
_XCRUN_S = 10


def find_lldb(env: Mapping[str, str]) -> str | None:
    """Return LLDB's path, of the newest version on the caller's PATH; None without one."""
    path = env.get("PATH")
    if sys.platform == "darwin":
        # Only Xcode's own LLDB knows Swift.
        own = _find_by_xcrun()
        if own is not None:
            return own
    # The unversioned name first: it is the user's own choice of a version.
    for name in ("lldb", *(f"lldb-{number}" for number in _NEWEST_FIRST)):
        lldb_path = shutil.which(name, path=path)
        if lldb_path is not None:
            return str(Path(lldb_path).absolute())
    for number in _NEWEST_FIRST:
        file = Path(f"/usr/lib/llvm-{number}/bin/lldb")
        if file.exists():
            return str(file)
    return None


def _find_by_xcrun() -> str | None:
    answer = _run_lldb("/usr/bin/xcrun", "--find", "lldb", within=_XCRUN_S)
    return answer.strip() or None


def _run_lldb(*words: str, within: float) -> str:
    try:
        answer = subprocess.run(
            words, capture_output=True, text=True, timeout=within, check=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout


# ASCII's record separator, which no text of a command has.
MARK = b"\x1e"
NEWS = 0
# Bytes of an answer, as of a message of DAP.
_ANSWER_MAX = 64 << 20
_TALK_MAX = 1 << 16


class LldbAnswerText(Struct, frozen=True):
    """The answer to the question of a number, or an event where the number is 0."""

    number: int
    body: bytes


class LldbTalk(Struct, frozen=True):
    """A line that is no answer: a prompt, an echo, a message of LLDB's own."""

    text: str


class LldbOutputSplitter:
    """Splits LLDB's output, fed in any chunks."""

    def __init__(self, secret: str) -> None:
        self._head = MARK + secret.encode("ascii") + b" "
        self._received = bytearray()

    def add_bytes(self, chunk: bytes) -> list[LldbAnswerText | LldbTalk]:
        """Add bytes and return the pieces that are complete.

        Raises:
            DebuggerError: PROTOCOL for an answer of over 64 MiB, or a malformed one.
        """
        if b"\n" not in chunk:
            self._received += chunk
            self._limit_buffer()
            return []
        *lines, rest = bytes(self._received + chunk).split(b"\n")
        # The last line is not complete yet.
        self._received = bytearray(rest)
        self._limit_buffer()
        return [piece for line in lines for piece in self._split_line(line)]

    def _limit_buffer(self) -> None:
        # Talk may be of any length, an answer may not: only the end of the former is kept.
        if self._head not in self._received:
            # A line of talk may be of any length; an answer may begin in its last bytes.
            del self._received[: max(0, len(self._received) - _TALK_MAX)]
        elif len(self._received) > _ANSWER_MAX:
            raise DebuggerError(ErrorCode.PROTOCOL, f"lldb's answer is over {_ANSWER_MAX} bytes")

    def _split_line(self, line: bytes) -> list[LldbAnswerText | LldbTalk]:
        # A prompt or an echo may be before an answer, on the same line.
        before, head, after = line.partition(self._head)
        talk = [LldbTalk(before.decode(errors="backslashreplace"))] if before else []
        if not head:
            return [*talk]
        number, _, body = after.partition(b" ")
        if not number.isdigit():
            raise DebuggerError(ErrorCode.PROTOCOL, f"no answer of ours: {line[:80]!r}")
        return [*talk, LldbAnswerText(int(number), body)]


def question_command(number: int, do: str, arguments: dict[str, Any]) -> bytes:
    """Encode a question as a command of LLDB's, in base64: no word of it can act as a command."""
    # The answer has the same number: LLDB answers in order, but events come in between.
    body = base64.b64encode(msgspec.json.encode({"number": number, "do": do, "with": arguments}))
    return b'script lldb_inside.ask("' + body + b'")\n'


def opening_commands(script: str, secret: str) -> bytes:
    """Write the commands that begin a conversation.

    The last one prints the prompt, unless the script before it has taken over the output: that is
    how an LLDB without Python is recognised.
    """
    path = script.replace("\\", "\\\\").replace('"', '\\"')
    lines = (
        f'settings set prompt "{_prompt_setting(secret)}"',
        f'command script import "{path}"',
        f'script lldb_inside.begin("{secret}")',
        "settings show prompt",
    )
    return "".join(f"{line}\n" for line in lines).encode()


def is_end_of_opening(talk: LldbTalk, secret: str) -> bool:
    """Return whether all commands of the opening have run."""
    return talk.text.endswith(f'prompt (string) = "{_prompt_setting(secret)}"')


def _prompt_setting(secret: str) -> str:
    return f"debugger-{secret[:8]}> "


_SCRIPT = str(Path(__file__).with_name("inside") / "lldb_inside.py")
_TALK_LINES = 20
# The user's settings could change any output that is parsed here.
_OPTIONS = ("--no-lldbinit", "--no-use-colors")


class LldbLimits(Struct, frozen=True):
    """Time limits in seconds: for LLDB's start, for an answer, and for an interrupted one."""

    ready_s: float = 10.0
    answer_s: float = 30.0
    resync_s: float = 3.0  # for an interrupted question to be answered with its failure


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
        # New for each session: no program can know it.
        self._secret = secrets.token_hex(16)
        self._splitter = LldbOutputSplitter(self._secret)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._next = 1
        self._talk: deque[str] = deque(maxlen=_TALK_LINES)
        # Set by the first event of our script, or failed by the prompt that an LLDB without Python
        # prints.
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
        self.guard.write_input(opening_commands(_SCRIPT, self._secret))
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
        # From 1: 0 is the number of events.
        number, self._next = self._next, self._next + 1
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        seconds = self._limits.answer_s if within is None else within
        self.guard.write_input(question_command(number, do, arguments))
        try:
            async with asyncio.timeout(seconds):
                # The future stays: an interrupted question is still answered, and LLDB is free only
                # then.
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
        # SIGINT ends LLDB's expression or command, and is answered as a failure.
        await self.guard.interrupt_process(self.guard.pid)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.resync_s):
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
            # Output that cannot be parsed means that answers are lost: LLDB is ended.
            problem = str(error)
            await guard.kill_process(guard.pid)
        if not problem:
            problem = f"lldb {await guard.describe_exit()} unexpectedly{self._last_words()}"
        self._on_lldb_lost(problem)

    def _take_piece(self, piece: LldbAnswerText | LldbTalk) -> None:
        if isinstance(piece, LldbTalk):
            self._talk.append(piece.text[:500])
            if is_end_of_opening(piece, self._secret) and not self._ready.done():
                self._ready.set_exception(self._no_python())
        elif piece.number == NEWS:
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
