"""Runs the launcher of a job, such as mpirun, without a debugger: its ranks have theirs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

import msgspec

from debugger.backends.base import (
    AttachTarget,
    BackendEnded,
    ClosedBackend,
    LaunchTarget,
    OutputPrinted,
    ProcessStarted,
    Sink,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits
from debugger.model.events import OutputStream
from debugger.model.launcher_messages import LauncherMessages
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    ExitedProgram,
    Frame,
    ResumeKind,
    Scope,
    Stack,
    Stopped,
    Thread,
    Variable,
)
from debugger.model.signals import signal_name
from debugger.system.program_streams import ProgramStreams, require_stdio
from debugger.system.supervised_process import SupervisedProcess

T = TypeVar("T")
LAUNCHER = "launcher"
# What stands before each line, by the option that puts it there: `[1,0]<stdout>:` of Open MPI 4 and
# 5, `0: ` of srun.
_TAGS = {
    "--tag-output": re.compile(r"\[[^\],\s]*,(\d+)\]<std(?:out|err)>: ?", re.ASCII),
    "--label": re.compile(r"\s*(\d{1,6}): ", re.ASCII),
}
_LINE_MAX = 1 << 16
_IN_MEMBERS = "each member gets it as it starts"


class LauncherBackend:
    """A launcher below a supervisor, with its streams and its end (`Backend`).

    It never stops. Its breakpoints are those of the members that it starts.
    """

    adapter_name = LAUNCHER
    backend_name = LAUNCHER
    traits = DebuggerTraits(is_launcher=True)

    def __init__(self, sink: Sink, tasks: asyncio.TaskGroup, *, scratch: Path) -> None:
        self._sink = sink
        self._tasks = tasks
        self._scratch = scratch
        self._guard: SupervisedProcess | None = None
        self._stdio: ProgramStreams | None = None
        self._launch: LaunchTarget | None = None
        self._is_closing = False
        # The beginning of a line of each stream.
        self._unfinished: dict[OutputStream, str] = {}
        self._messages = LauncherMessages()

    async def start(self, launch: LaunchTarget) -> None:
        """Start the supervisor; the launcher runs from `run_program` on."""
        self._launch = launch
        self._guard = await SupervisedProcess.start(
            (), cwd=launch.cwd, env=launch.env, scratch=self._scratch, tasks=self._tasks
        )
        self._stdio = ProgramStreams(
            self._scratch,
            as_terminal=False,
            on_output=self._report_output,
        )
        if launch.stdin is not None:
            self._stdio.end_input()

    async def run_program(self) -> None:
        """Run the launcher."""
        assert self._guard is not None
        assert self._launch is not None
        stdio, launch = require_stdio(self._stdio), self._launch
        pid, ended = await self._guard.spawn_program(
            (str(launch.program), *launch.args),
            cwd=launch.cwd,
            env=launch.env,
            stdio=(launch.stdin or stdio.stdin, stdio.stdout, stdio.stderr),
        )
        stdio.note_opened()
        self._sink(ProcessStarted(pid))
        self._tasks.create_task(self._await_end(ended))

    def _report_output(self, stream: OutputStream, text: str) -> None:
        """Report whole lines, each as the output of its rank."""
        *lines, self._unfinished[stream] = (self._unfinished.get(stream, "") + text).split("\n")
        for line in lines:
            self._report_line(stream, f"{line}\n")
        if len(self._unfinished[stream]) > _LINE_MAX:
            self._report_line(stream, self._unfinished.pop(stream))

    def _report_line(self, stream: OutputStream, line: str) -> None:
        options = self._launch.args[:1] if self._launch is not None else ()
        tags = [_TAGS[one] for one in options if one in _TAGS]
        tag = tags[0].match(line) if tags else None
        if tag is None:
            self._messages.add_line(line)
            self._sink(OutputPrinted(stream, line))
        else:
            # A rank that writes a line in parts has a tag before each of them (Open MPI 4.1).
            text = line[tag.end() :].replace(tag[0], "") if "<std" in tag[0] else line[tag.end() :]
            self._messages.add_line(text, tag[1])
            self._sink(OutputPrinted(stream, text, tag[1]))

    async def _await_end(self, ended: asyncio.Future[tuple[int | None, int | None]]) -> None:
        code, number = await ended
        if self._is_closing:
            return
        await require_stdio(self._stdio).read_to_end()
        for stream, text in self._unfinished.items():
            if text:
                self._report_line(stream, text)
        exited = ExitedProgram(signal=signal_name(number)) if number else ExitedProgram(code)
        if number or code:
            exited = msgspec.structs.replace(exited, reason=self._messages.reason or None)
        self._sink(exited)
        is_lost = self._guard is not None and self._guard.is_lost
        self._sink(BackendEnded("its supervisor was killed" if is_lost else None))

    async def attach(self, target: AttachTarget) -> None:
        """Attach to nothing: a launcher is only started."""
        del target
        _refuse()

    async def connect_child(self) -> None:
        """Connect to nothing: members have debuggers of their own."""
        _refuse()

    def find_ability(self, kind: type[T]) -> T:
        """Return no ability."""
        del kind
        _refuse()

    def set_sink(self, sink: Sink) -> None:
        """Report to another sink from now on."""
        self._sink = sink

    def locate_breakpoint(self, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
        """Return the location as it is: the members' debuggers look it up."""
        return spec

    async def set_breakpoints(
        self, file: str, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Take breakpoints for the members that will start."""
        del file
        return [BoundBreakpoint(verified=False, why=_IN_MEMBERS) for _ in breakpoints]

    async def set_function_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Take function breakpoints for the members that will start."""
        return [BoundBreakpoint(verified=False, why=_IN_MEMBERS) for _ in breakpoints]

    async def resume(self, how: ResumeKind, thread: int) -> None:
        """Refuse: it never stops."""
        del how, thread
        _refuse()

    async def pause(self) -> None:
        """Refuse to stop."""
        _refuse()

    async def list_threads(self) -> list[Thread]:
        """Refuse: nothing of it is inspected, here and below."""
        _refuse()

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Refuse."""
        del thread, start, levels
        _refuse()

    async def read_scopes(self, frame: Frame) -> list[Scope]:
        """Refuse."""
        del frame
        _refuse()

    async def read_variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Refuse."""
        del handle, start, count
        _refuse()

    async def count_elements(self, handle: int) -> int | None:
        """Refuse."""
        del handle
        _refuse()

    async def complete_values(self, values: Sequence[Variable]) -> list[Variable]:
        """Return values as they are."""
        return list(values)

    async def argument_names(self, frame: Frame) -> list[str] | None:
        """Return nothing known."""
        del frame
        return None

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Refuse."""
        del expression, frame, purpose
        _refuse()

    async def assign_value(self, target: str, value: str, frame: Frame) -> Variable:
        """Refuse."""
        del target, value, frame
        _refuse()

    async def read_exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return none."""
        del stop
        return None

    async def explain_unbound(self, spec: BreakpointSpec) -> BoundBreakpoint:
        """Explain that breakpoints are the members'."""
        del spec
        return BoundBreakpoint(verified=False, why=_IN_MEMBERS)

    async def read_source(self, frame: Frame) -> str | None:
        """Return none."""
        del frame
        return None

    async def write_input(self, text: bytes) -> None:
        """Write to the launcher's standard input, which it forwards."""
        await require_stdio(self._stdio).write_input(text)

    async def close_input(self) -> None:
        """End the launcher's standard input."""
        require_stdio(self._stdio).end_input()

    async def close(self, *, kill: bool) -> ClosedBackend:
        """End the launcher and all below it."""
        del kill  # it is never let go: its ranks end with it
        self._is_closing = True
        killed: tuple[str, ...] = ()
        if self._guard is not None:
            killed = (await self._guard.end_processes()).killed
        if self._stdio is not None:
            await self._stdio.read_to_end()
            self._stdio.close()
        return ClosedBackend(killed=killed)


def _refuse() -> NoReturn:
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        "the launcher runs without a debugger; its members have theirs",
        hint="debugger status shows the members; debugger focus LABEL chooses one",
    )
