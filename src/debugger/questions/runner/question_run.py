"""Runs a program for a question, and ends all of its processes afterwards."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from msgspec import UNSET

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits, Runtime
from debugger.model.events import OutputStream, State
from debugger.model.program import ResumeKind
from debugger.model.text_filters import clip_text, without_colour
from debugger.recorders.trace_server import TraceServer
from debugger.session import process_tree, stepping, stop_report
from debugger.session.session import MakeBackend, Session
from debugger.session.session_list import SessionList
from debugger.session.session_state import is_running_program
from debugger.session.stepping import WaitLimit
from debugger.system.idle_detector import CONNECTIONS, INPUT
from debugger.system.process_info import look_at

_OUTPUT_LINES = 400  # last lines of output
_LINE_MAX = 2000
_REASON = re.compile(
    r"error|fatal|exception|panic|cannot|can't|denied|no such|unknown", re.IGNORECASE
)
_USAGE = re.compile("usage", re.IGNORECASE)  # it often stands behind the reason
_REASON_MAX = 120  # characters
_PAUSE_S = 3.0  # seconds until a running program must stop
_LEFT_MAX = 5  # named processes
_ENDED = "Z"
_AFTER = {
    INPUT: "--stdin FILE gives it input",
    CONNECTIONS: "--timeout S waits for requests that you make meanwhile",
}


@dataclass(frozen=True)
class QuestionRun:
    """A run for a question: the target and its time limit; `name` is the private session's.

    `keep` leaves the session for the ordinary commands, stopped where the answer was found.
    """

    sessions: SessionList
    target: LaunchTarget | AttachTarget
    make_backend: MakeBackend
    name: str
    patience: WaitLimit
    keep: bool = False
    breakpoints: tuple[BreakpointSpec, ...] = ()
    adapter: str = ""
    traits: DebuggerTraits = field(default_factory=DebuggerTraits)
    language: str = ""
    languages: tuple[str, ...] = ()  # those of the adapter
    # Called with the session before its program runs.
    on_created: Callable[[Session], object] | None = None
    # The debugger that its traced runs share; none: each of them starts its own.
    tracer: TraceServer | None = None

    @property
    def has_passing_thread_ids(self) -> bool:
        """Whether the debugger's thread numbers are the system's, which differ in each run."""
        is_native = self.traits.runtime is Runtime.NATIVE
        return is_native and isinstance(self.target, LaunchTarget)


@dataclass
class RunningQuestion:
    """A running program of a question: its session, and the remaining time."""

    session: Session
    patience: WaitLimit
    ends_at: float
    kept: Session | None = None  # the process that stays, stopped
    notes: list[str] = field(default_factory=list)

    @property
    def left_s(self) -> float:
        """The remaining seconds."""
        return max(0.0, self.ends_at - asyncio.get_running_loop().time())

    @property
    def over_s(self) -> float:
        """The seconds since the time-out."""
        return max(0.0, asyncio.get_running_loop().time() - self.ends_at)

    @property
    def is_kept(self) -> bool:
        """Whether the session stays after the answer."""
        return self.kept is not None

    def keep_stopped(self, stop: answers.Stop) -> str:
        """Leave the stopped process in its session; return the session's name."""
        self.kept = self.session_of(stop)
        return self.kept.name

    def session_of(self, stop: answers.Stop) -> Session:
        """Return the session of a stop: the program's, or a child's."""
        return process_tree.find_member(self.session, stop.session) or self.session

    async def wait_first(self) -> answers.Stop:
        """Wait for the first stop, or the end."""
        # From the timeline's start on: the first stop may have come before this wait.
        return await stepping.wait_for_stop(self.session, self._limit(), after=0)

    async def go_on(
        self, at: Session, within_s: float | None = None, how: ResumeKind = ResumeKind.CONTINUE
    ) -> answers.Stop:
        """Resume a stopped process until the next stop or the end.

        Raises:
            DebuggerError: What resuming raises; ADAPTER_DIED.
        """
        return await stepping.resume_and_wait(at, how, self._limit(within_s))

    async def go_on_alone(self, at: Session) -> answers.Stop:
        """Resume a stopped process until its own next stop or the end; others go on at theirs."""
        stop = await self.go_on(at)
        while stop.state == State.STOPPED.value and self.session_of(stop) is not at:
            stop = await self.go_on(self.session_of(stop))
        return stop

    async def wait_for_child(self, within_s: float) -> answers.Stop | None:
        """Wait for a process that outlives the program; None if none stops or ends."""
        if not any(one.is_live for one in self.session.family.tree_sessions(self.session)):
            return None
        limit = self._limit(min(within_s, self.left_s))
        try:
            return await stepping.wait_for_stop(self.session, limit)
        except DebuggerError:
            return None

    async def stop_and_report(self) -> answers.Stop | None:
        """Stop a running program and report its location; None if it does not stop soon."""
        session = process_tree.find_running(self.session)
        if session.state is not State.RUNNING or not is_running_program(session.target):
            return None
        # Before the request, whose stop may come at once.
        cursor = session.timeline.cursor()
        try:
            await session.pause()
            stop = await stepping.wait_for_stop(
                session, WaitLimit(_PAUSE_S, asyncio.Event()), after=cursor
            )
        except DebuggerError:
            return None
        return stop if stop.state == State.STOPPED.value else None

    def last_output_lines(self) -> tuple[str, ...]:
        """Return the last lines of the program's output, without colours and the debugger's."""
        return tuple(without_colour(line.text) for line in self.read_output().lines)

    def all_output_lines(self) -> list[str]:
        """Return all kept lines of the program's output, without colours and the debugger's."""
        return [
            without_colour(line.text)
            for line in self.session.timeline.lines(since=0).lines
            if line.stream is not OutputStream.CONSOLE
        ]

    def read_output(self) -> answers.Output:
        """Return the end of the program's output, and its total size."""
        page = self.session.timeline.lines(since=0)
        lines = [one for one in page.lines if one.stream is not OutputStream.CONSOLE]
        return answers.Output(
            lines=tuple(
                answers.OutputLine(one.stream.value, clip_text(one.text, _LINE_MAX), one.seq)
                for one in lines[-_OUTPUT_LINES:]
            ),
            dropped=page.dropped,
            total=len(lines),
        )

    def notes_of(self, stop: answers.Stop) -> tuple[str, ...]:
        """Return a stop's notes, and at the end a note on processes that still run."""
        notes = stop.notes
        if self.kept is None:
            notes = tuple(one for one in notes if not process_tree.is_of_sessions(one))
        if stop.waiting is not UNSET:
            return (*notes, waiting_note(stop.waiting))
        relatives = self.session.family.tree_sessions(self.session)
        texts = [f"process {one.pid}" for one in relatives if runs_on(one)]
        if stop.state != State.TERMINATED.value or not texts:
            return notes
        named = ", ".join(texts[:_LEFT_MAX]) + f" and {len(texts) - _LEFT_MAX} more" * (
            len(texts) > _LEFT_MAX
        )
        if isinstance(self.session.target, LaunchTarget):
            return (*notes, f"ended what the program left running: {named}")
        return (*notes, f"the program left running, and so they stay: {named}")

    def _limit(self, seconds: float | None = None) -> WaitLimit:
        return replace(self.patience, seconds=self.left_s if seconds is None else seconds)


def waiting_note(waiting: answers.IdleReason) -> str:
    """Describe an idle program's wait, and how to provide its input in a question."""
    return f"{waiting.describe}; {_AFTER[waiting.kind]}"


def reason_line(output: Sequence[str]) -> str:
    """Return the line of a failed program's output that most likely gives the reason; "" if none.

    It is the last that says so, or else the last: a server that cannot begin writes more after it.
    """
    written = [line.strip() for line in output if line.strip()]
    likely = [line for line in written if _REASON.search(line)]
    usage = [line for line in written if _USAGE.search(line)]
    return clip_text((likely or usage or written or [""])[-1], _REASON_MAX)


def describe_end(status: int | None, signal: int | str | None, output: Sequence[str] = ()) -> str:
    """Describe how a program ended before it came to a location, for an error's message.

    `output` are the lines that it wrote.
    """
    if signal is not None:
        name = f"signal {signal}" if isinstance(signal, int) else signal
        ended = f"the program was ended by {name}"
    elif not status:
        return "the program ended"
    else:
        ended = f"the program exited with status {status}"
    return add_reason(ended, output)


def add_reason(ended: str, output: Sequence[str]) -> str:
    """Add to the end of a failed program the line of its output that most likely explains it."""
    reason = reason_line(output)
    return f"{ended} ({reason})" if reason else ended


@asynccontextmanager
async def run_question(question: QuestionRun) -> AsyncIterator[RunningQuestion]:
    """Run a program in a private session, which is ended and removed in any case.

    An attached process is detached. A run that `is_kept` becomes the current session.

    Raises:
        DebuggerError: What starting, or attaching to, the program raises.
    """
    session = await question.sessions.create(
        question.target, question.make_backend, name=None, private=question.name
    )
    run, is_started = None, isinstance(question.target, LaunchTarget)
    try:
        if question.on_created is not None:
            question.on_created(session)
        for spec in question.breakpoints:
            # Before the start, so that they are sent before the program runs.
            session.breakpoints.add(spec)
        await session.run_job(session.start_program)
        # The start itself does not count.
        ends_at = asyncio.get_running_loop().time() + question.patience.seconds
        run = RunningQuestion(session, question.patience, ends_at)
        yield run
    except DebuggerError as error:
        if error.code is not ErrorCode.ADAPTER_DIED or (run is not None and run.kept is not None):
            raise
        # There is no session to restart.
        again = "ask again: it is run anew" if is_started else "ask again"
        raise DebuggerError(error.code, error.message, hint=again) from error
    finally:
        if run is not None and run.kept is not None:
            question.sessions.select(run.kept.name)
        else:
            await _close_whole(question.sessions, session, kill=is_started)


async def _close_whole(sessions: SessionList, session: Session, *, kill: bool) -> None:
    """Close a session, also if the caller is cancelled meanwhile.

    A client that goes while its question ends the program would otherwise leave both.
    """
    closing = asyncio.create_task(sessions.close(session, kill=kill))
    try:
        await asyncio.shield(closing)
    except asyncio.CancelledError:
        await closing
        raise


def runs_on(session: Session) -> bool:
    """Return whether a process of the tree exists and has not ended."""
    if not session.is_live or session.state is State.TERMINATED:
        return False
    process = look_at(session.pid) if session.pid is not None else None
    return process is not None and process.state != _ENDED


def report_run_end(run: RunningQuestion) -> answers.Stop | None:
    """Report the program's end; None while it runs."""
    program = process_tree.root_session(run.session)
    return stop_report.report_end(program) if program.state is State.TERMINATED else None
