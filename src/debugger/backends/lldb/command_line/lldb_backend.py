"""Implements the Backend protocol by questions to LLDB's command line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from debugger.backends import abilities
from debugger.backends.backend_names import LLDB_CLI
from debugger.backends.base import (
    AttachTarget,
    BackendEnded,
    BackendEvent,
    ClosedBackend,
    LaunchTarget,
    OutputPrinted,
    ProcessStarted,
    Sink,
)
from debugger.backends.expressions.expression_walk import assign_shown, evaluate_shown
from debugger.backends.lldb import lldb_common, lldb_exceptions, lldb_values
from debugger.backends.lldb.command_line import cli_abilities, cli_breakpoints, lldb_answers
from debugger.backends.lldb.command_line.cli_breakpoints import CliStopFilter
from debugger.backends.lldb.command_line.lldb_console import LldbConsole, LldbLimits
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.debugger_words import RawEffect, lldb_effect, one_line
from debugger.model.events import OutputStream
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    Frame,
    ResumeKind,
    Scope,
    Stack,
    Stopped,
    StopReason,
    Thread,
    Variable,
)
from debugger.system.process_info import go_on
from debugger.system.program_streams import ProgramStreams

T = TypeVar("T")

ADAPTER = "lldb"
KIND = LLDB_CLI
_ONE_LINE = "debugger raw COMMAND takes one; debugger raw help lists some"
_END_S = 2.0
# Seconds of a detach: stop, remove traps, run until no signal is pending, up to three times.
_DETACH_S = 16.0


class LldbBackend:
    """One program behind one LLDB (`Backend`).

    LLDB's command line runs a script of ours (`inside`), which answers questions and reports
    events.
    """

    backend_name = KIND
    adapter_name = ADAPTER
    traits = lldb_common.COMMAND_LINE_TRAITS

    def __init__(
        self,
        lldb: Sequence[str],
        *,
        sink: Sink,
        scratch: Path,
        limits: LldbLimits,
        tasks: asyncio.TaskGroup,
        others: Callable[[type[Any]], str] = lambda _: "",
    ) -> None:
        self._sink = sink
        self._scratch = scratch
        self._tasks = tasks
        self._others = others
        self._abilities: dict[type[Any], Any] = {}
        self._console = LldbConsole(
            lldb, limits=limits, on_news=self._take_news, on_loss=self._on_lldb_lost, tasks=tasks
        )
        self._stdio: ProgramStreams | None = None
        self._pid: int | None = None
        self._signal: str | None = None
        self._known: dict[int, Variable] = {}
        self._is_over = self._is_muted = False
        self.launch_target: LaunchTarget | None = None
        self.attach_target: AttachTarget | None = None
        self.stop_checks: list[Callable[[Stopped], Awaitable[None]]] = []
        self._breakpoints = cli_breakpoints.CliBreakpoints(self)
        self.step_keeper = self._breakpoints.steps
        self.breakpoint_conditions = self._breakpoints.conditions
        self.caught_types = self._breakpoints.thrown
        self.breakpoint_lock = self._breakpoints.changing
        self._judge = CliStopFilter(self)

    def report_event(self, event: BackendEvent) -> None:
        """Report an event to the session."""
        self._sink(event)

    def set_sink(self, sink: Sink) -> None:
        """Report to another sink from now on."""
        self._sink = sink

    def find_ability(self, kind: type[T]) -> T:
        """Return the implementation of an ability (see `Backend.find_ability`)."""
        implementation: Any = self._abilities.get(kind)
        if implementation is None:
            if kind not in cli_abilities.ABILITIES:
                raise abilities.missing_ability(kind, KIND, self._others(kind))
            self._abilities[kind] = implementation = cli_abilities.ABILITIES[kind](self)
        ability: T = implementation
        return ability

    # -- begin and end -------------------------------------------------------------------------

    async def start(self, launch: LaunchTarget) -> None:
        """Start LLDB and the program, up to where breakpoints can be set."""
        assert launch.program is not None
        self.launch_target = launch
        await self._console.start_lldb(cwd=launch.cwd, env=launch.env, scratch=self._scratch)
        self._stdio = stdio = ProgramStreams(
            self._scratch, as_terminal=True, on_output=self._report_output
        )
        # The program reads the user's file; nothing is written to our FIFO.
        if launch.stdin is not None:
            stdio.end_input()
        env = lldb_common.sendable_environment(launch.env)
        answer = await self.ask_lldb(
            "launch",
            program=launch.program,
            args=list(launch.args),
            cwd=launch.cwd,
            # The rest it has from LLDB, where these are left out.
            # LLDB is started with the user's environment but for PYTHON…, which would change its
            # own Python.
            env=[f"{key}={value}" for key, value in env.items() if key.startswith("PYTHON")],
            files=[launch.stdin or stdio.stdin, stdio.stdout, stdio.stderr],
            stop=launch.stop_on_entry,
            commands=lldb_common.build_init_commands(launch),
        )
        self._note_started(answer)
        # The program has opened its files: from here on the end of its output can be seen.
        stdio.note_opened()

    async def attach(self, target: AttachTarget) -> None:
        """Start LLDB and attach to a process, a core file or a debug server's program."""
        self.attach_target = target
        await self._console.start_lldb(cwd=target.cwd, env=target.env, scratch=self._scratch)
        common_arguments: Any = {
            "program": target.program,
            "commands": lldb_common.build_init_commands(target),
        }
        if target.core is not None:
            answer = await self.ask_lldb("core", file=target.core, **common_arguments)
        elif target.connect is not None:
            host, port = target.connect
            address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            answer = await self.ask_lldb(
                "connect", url=f"connect://{address}", stop=target.pause, **common_arguments
            )
        else:
            answer = await self.ask_lldb(
                "attach", pid=target.pid, stop=target.pause, **common_arguments
            )
        self._note_started(answer)

    def _note_started(self, answer: dict[str, Any]) -> None:
        self._pid = answer["pid"] or None
        self._sink(ProcessStarted(self._pid))

    async def probe_version(self, env: Mapping[str, str]) -> str:
        """Start LLDB and return its version."""
        await self._console.start_lldb(cwd="/", env=env, scratch=self._scratch)
        return self._console.version

    async def connect_child(self) -> None:
        """Refuse: LLDB follows no child processes.

        Raises:
            DebuggerError: NOT_SUPPORTED.
        """
        raise DebuggerError(ErrorCode.NOT_SUPPORTED, f"{KIND} follows no child processes")

    async def run_program(self) -> None:
        """End the configuration: the program runs from here on."""
        await self.ask_lldb("run")

    async def close(self, *, kill: bool) -> ClosedBackend:
        """End LLDB, and the program with it if `kill`."""
        self._is_muted = True
        self._console.close()
        # The order of an end: reports end first; a program that is to go on is taken off the
        # guard's list; LLDB kills or detaches, within its time limit; the guard ends what is left;
        # the output is read to its end.
        guard, stdio = self._console.guard, self._stdio
        if guard is None:
            return ClosedBackend()
        if not kill and self._pid is not None:
            # Before LLDB ends: the guard would end the program with it.
            await guard.release_processes(
                [self._pid], stdio.output_descriptors if stdio is not None else []
            )
        if not self._console.is_lost:
            with suppress(DebuggerError):
                await self.ask_lldb("end", kill=kill, within=_END_S if kill else _DETACH_S)
        ending = await guard.end_processes()
        if not kill and self._pid and (self.attach_target is None or self.attach_target.pid):
            # A stop signal of the debugger's may have become pending during the detach.
            go_on(self._pid)
        if stdio is not None:
            await stdio.read_to_end()
            stdio.close()
        return ClosedBackend(killed=ending.killed)

    # -- events --------------------------------------------------------------------------------

    def _report_output(self, stream: OutputStream, text: str) -> None:
        self._sink(OutputPrinted(stream, text))

    def _take_news(self, answer: lldb_answers.News) -> None:
        if self._is_muted or self._is_over:
            return
        match answer:
            case lldb_answers.LldbHalted():
                stop = lldb_answers.to_stopped(answer)
                self._signal = stop.signal
                # In a task, as the filter asks LLDB, and the answers come by way of this caller.
                self._tasks.create_task(self._filter_and_report(stop))
            case lldb_answers.LldbExited(code):
                self._tasks.create_task(
                    self._end_program(lldb_common.to_exited(code, self._signal))
                )
            case lldb_answers.LldbDetached():
                self._tasks.create_task(self._end_program(None))
            case lldb_answers.LldbLogged():
                if self._stdio is not None:
                    # What the program printed before the logpoint is reported before it.
                    self._stdio.read_now()
                self._sink(lldb_answers.to_event(answer))
            case _:
                self._sink(lldb_answers.to_event(answer))

    async def _filter_and_report(self, stop: Stopped) -> None:
        try:
            filtered_stop = await self._judge.filter_stop(stop)
        except DebuggerError:
            filtered_stop = stop  # the program has stopped, whatever else failed
        # The program may have ended while the filter asked.
        if filtered_stop is None or self._is_over or self._is_muted:
            return
        self.step_keeper.note_stop(filtered_stop)
        for check in list(self.stop_checks):  # a copy: a check may remove itself
            with suppress(DebuggerError):
                await check(filtered_stop)
        # Handles are valid for one stop only.
        self._known.clear()
        if self._stdio is not None:
            # Output that the program wrote before the stop is reported before the stop.
            self._stdio.read_now()
        self._sink(filtered_stop)

    async def _end_program(self, exited: BackendEvent | None) -> None:
        # `exited` may be followed by the loss of LLDB.
        if self._is_over:
            return
        self._is_over = True
        if self._stdio is not None:
            # Output may follow the end of the program.
            await self._stdio.read_to_end()
        guard = self._console.guard
        loss = await guard.describe_loss() if guard is not None else None
        if not self._is_muted and loss is not None:
            self._sink(BackendEnded(error=f"lldb {loss} unexpectedly"))
        elif not self._is_muted:
            if exited is not None:
                self._sink(exited)
            self._sink(BackendEnded())

    def _on_lldb_lost(self, problem: str) -> None:
        if not self._is_over and not self._is_muted:
            self._is_over = True
            self._sink(BackendEnded(error=problem))

    async def ask_lldb(self, do: str, *, within: float | None = None, **arguments: Any) -> Any:
        """Send LLDB a question (see `LldbConsole.ask_lldb`), and clarify its error message."""
        try:
            return await self._console.ask_lldb(do, within=within, **arguments)
        except DebuggerError as error:
            # Other codes have hints of their own, made where the failure is known better.
            if error.code is ErrorCode.LAUNCH_FAILED:
                raise DebuggerError(
                    error.code, error.message, hint="debugger doctor tries each adapter"
                ) from error
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            raise DebuggerError(
                error.code,
                lldb_common.error_text(error.message),
                hint="debugger locals lists what is here",
            ) from error

    # -- breakpoints ---------------------------------------------------------------------------

    def locate_breakpoint(self, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
        """Return the location at which a breakpoint is to be set, or why it cannot be set."""
        launched = self.launch_target
        program = launched.program if launched is not None else None
        return cli_breakpoints.locate_breakpoint(spec, program)

    async def set_breakpoints(
        self, file: str, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the breakpoints of a source file (their `at`)."""
        return await self._breakpoints.replace_list(f"file {file}", breakpoints, file)

    async def set_function_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the function breakpoints."""
        return await self.replace_breakpoints("functions", breakpoints)

    async def replace_breakpoints(
        self, name: str, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace a list of breakpoints; the answers come in the same order."""
        return await self._breakpoints.replace_list(name, breakpoints, None)

    async def explain_unbound(self, spec: BreakpointSpec) -> BoundBreakpoint:
        """Explain why a breakpoint does not bind."""
        return await cli_breakpoints.explain_unbound(self, spec)

    # -- running -------------------------------------------------------------------------------

    async def resume(self, how: ResumeKind, thread: int) -> None:
        """Let the program run."""
        await self.step_keeper.begin_step(how, thread)
        await self.ask_lldb("resume", how=how.value, thread=thread)

    async def pause(self) -> None:
        """Request that a running program stops."""
        await self.ask_lldb("pause")

    # -- inspection ----------------------------------------------------------------------------

    async def list_threads(self) -> list[Thread]:
        """Return the threads."""
        return lldb_answers.parse_threads(await self.ask_lldb("threads"))

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread, innermost first."""
        return lldb_answers.parse_stack(
            await self.ask_lldb("stack", thread=thread, start=start, levels=levels)
        )

    async def read_scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""
        return lldb_answers.parse_scopes(await self.ask_lldb("scopes", frame=frame.handle))

    async def read_variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return the variables of a scope, the children of a value, or a part of either."""
        return await self.complete_values(
            await self.fetch_variables(handle, start=start, count=count)
        )

    async def fetch_variables(
        self, handle: int, *, start: int | None, count: int | None
    ) -> list[Variable]:
        """Return the children of a value, or a part of them, unchanged."""
        answer = await self.ask_lldb("variables", handle=handle, start=start or 0, count=count)
        return [lldb_answers.parse_variable(one) for one in answer]

    async def count_elements(self, handle: int) -> int | None:
        """Return how many elements a value has."""
        size: int = await self.ask_lldb("size", handle=handle)
        return size

    async def complete_values(self, values_: Sequence[Variable]) -> list[Variable]:
        """Shorten pointers, and add the first elements to containers."""
        # Values are written inside LLDB without a time limit: none is cut by it.
        return await lldb_values.complete_variables(self, values_, is_doubtful=lambda _: False)

    async def argument_names(self, frame: Frame) -> list[str] | None:
        """Return the names of the arguments among a frame's locals."""
        names: list[str] = await self.ask_lldb("arguments", frame=frame.handle)
        return names

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression in a frame, as its language has it."""
        if frame is None or purpose is EvaluationPurpose.RAW:
            return await self.evaluate_plain(expression, frame, purpose)
        return await evaluate_shown(self, expression, frame, purpose)

    async def evaluate_plain(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression in a frame, as LLDB does."""
        del purpose  # LLDB has one way
        # Base64 lets any text through to LLDB, which takes one line.
        one_line(expression)
        await lldb_values.refuse_misread_expression(self, expression, frame)
        handle = frame.handle if frame is not None else None
        return lldb_answers.parse_variable(
            await self.ask_lldb("evaluate", expression=expression, frame=handle)
        )

    async def assign_value(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field or an element; return it as it is now."""
        one_line(value)
        await assign_shown(self, target, value, frame)
        return await self.evaluate(target, frame, EvaluationPurpose.PRINT)

    async def assign_plain(self, target: str, value: str, frame: Frame) -> None:
        """Set what an expression of LLDB's names."""
        await self.evaluate_plain(f"{target} = {value}", frame, EvaluationPurpose.EVALUATE)

    async def assign_child(self, handle: int, name: str, value: str) -> None:
        """Set a child of a value."""
        await self.ask_lldb("assign", handle=handle, name=name, value=value)

    async def returned_value(self, stop: Stopped, frame: Frame) -> Variable | None:
        """Return the value of the function that was just left; None where it is not known."""
        del frame
        if stop.thread is None or stop.reason is not StopReason.STEP:
            return None
        answer = await self.ask_lldb("returned", thread=stop.thread)
        if answer is None:
            return None
        return (await self.complete_values([lldb_answers.parse_variable(answer)]))[0]

    async def read_exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the exception, or the signal, that a thread stopped at."""
        is_live = self.attach_target is None or self.attach_target.core is None
        own = await lldb_exceptions.read_exception(self, stop) if is_live else None
        return own or lldb_common.signal_details(ExceptionDetails("exception", stop.description))

    async def read_source(self, frame: Frame) -> str | None:
        """Return None: LLDB has no source text of its own."""
        del frame
        return None

    async def run_raw(self, command: str, frame: Frame | None) -> str:
        """Run one command of LLDB's own and return its output.

        Raises:
            DebuggerError: USAGE for a control character.
        """
        if any(ord(letter) < ord(" ") for letter in command):
            raise DebuggerError(ErrorCode.USAGE, "a debugger command is one line", hint=_ONE_LINE)
        handle = frame.handle if frame is not None else None
        output: str = await self.ask_lldb("raw", command=command, frame=handle)
        return output

    @property
    def has_command_line(self) -> bool:
        """Whether raw commands are a debugger's own: always, LLDB's."""
        return True

    def classify_raw_command(self, command: str) -> RawEffect:
        """Return the effect of a raw command on the program."""
        return lldb_effect(command)

    # -- input ---------------------------------------------------------------------------------

    async def write_input(self, text: bytes) -> None:
        """Write to the program's standard input."""
        await self._require_stdio().write_input(text)

    async def close_input(self) -> None:
        """End the program's standard input."""
        self._require_stdio().end_input()

    def _require_stdio(self) -> ProgramStreams:
        if self._stdio is None:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "an attached program's input is not ours to write",
                hint="debugger start PROGRAM",
            )
        return self._stdio
