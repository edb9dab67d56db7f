"""Implements the Backend protocol by questions to LLDB's command line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from debugger.backends import abilities
from debugger.backends.base import (
    Attach,
    Closed,
    Ended,
    Event,
    Launch,
    Printed,
    Sink,
    Started,
)
from debugger.backends.lldb import common, thrown, values
from debugger.backends.lldb_cli import able, breakpoints, parse
from debugger.backends.lldb_cli.console import Console, Limits
from debugger.backends.lldb_cli.judging import Judge
from debugger.backends.stdio import Stdio
from debugger.core.breakpoints import Bound, Breakpoint, Spec
from debugger.core.events import Stream
from debugger.core.model import (
    ExceptionDetails,
    Frame,
    Purpose,
    Reason,
    Resume,
    Scope,
    Stack,
    Stopped,
    Thread,
    Variable,
)
from debugger.core.raw_effects import RawEffect, lldb_effect
from debugger.core.words import one_line
from debugger.errors import Code, DebuggerError
from debugger.targets.threads import go_on

T = TypeVar("T")

ADAPTER = "lldb"
KIND = "lldb-cli"
_ONE_LINE = "debugger raw COMMAND takes one; debugger raw help lists some"
_END_S = 2.0
_DETACH_S = 16.0


class LldbBackend:
    """One program behind one LLDB (`Backend`).

    LLDB's command line runs a script of ours (`inside`), which answers questions and reports
    events.
    """

    kind = KIND
    adapter = ADAPTER

    def __init__(
        self,
        lldb: Sequence[str],
        *,
        sink: Sink,
        scratch: Path,
        limits: Limits,
        tasks: asyncio.TaskGroup,
        others: Callable[[type[Any]], str] = lambda _: "",
    ) -> None:
        self._sink = sink
        self._scratch = scratch
        self._tasks = tasks
        self._others = others
        self._abilities: dict[type[Any], Any] = {}
        self._console = Console(
            lldb, limits=limits, on_news=self._take, on_loss=self._lose, tasks=tasks
        )
        self._stdio: Stdio | None = None
        self._pid: int | None = None
        self._signal: str | None = None
        self._known: dict[int, Variable] = {}
        self._is_over = self._is_muted = False
        self.launched: Launch | None = None
        self.attached: Attach | None = None
        self.checks: list[Callable[[Stopped], Awaitable[None]]] = []
        self._breakpoints = breakpoints.Breakpoints(self)
        self.steps = self._breakpoints.steps
        self.conditions = self._breakpoints.conditions
        self.thrown = self._breakpoints.thrown
        self.changing = self._breakpoints.changing
        self._judge = Judge(self)

    def tell(self, event: Event) -> None:
        """Report an event to the session."""
        self._sink(event)

    def report_to(self, sink: Sink) -> None:
        """Report to another sink from now on."""
        self._sink = sink

    def ability(self, kind: type[T]) -> T:
        """Return the implementation of an ability (see Backend.ability)."""
        found: Any = self._abilities.get(kind)
        if found is None:
            if kind not in able.ABILITIES:
                raise abilities.missing(kind, KIND, self._others(kind))
            self._abilities[kind] = found = able.ABILITIES[kind](self)
        ability: T = found
        return ability

    # -- begin and end -------------------------------------------------------------------------

    async def start(self, launch: Launch) -> None:
        """Start LLDB and the program, up to where breakpoints can be set."""
        assert launch.program is not None
        self.launched = launch
        await self._console.start(cwd=launch.cwd, env=launch.env, scratch=self._scratch)
        self._stdio = stdio = Stdio(self._scratch, as_terminal=True, on_output=self._print)
        if launch.stdin is not None:
            stdio.end_input()
        env = common.sendable(launch.env)
        told = await self.ask(
            "launch",
            program=launch.program,
            args=list(launch.args),
            cwd=launch.cwd,
            # The rest it has from LLDB, where these are left out.
            env=[f"{key}={value}" for key, value in env.items() if key.startswith("PYTHON")],
            files=[launch.stdin or stdio.stdin, stdio.stdout, stdio.stderr],
            stop=launch.stop_on_entry,
            commands=common.init_commands(launch),
        )
        self._begun(told)
        stdio.opened()

    async def attach(self, target: Attach) -> None:
        """Start LLDB and attach to a process, a core file or a debug server's program."""
        self.attached = target
        await self._console.start(cwd=target.cwd, env=target.env, scratch=self._scratch)
        more: Any = {"program": target.program, "commands": common.init_commands(target)}
        if target.core is not None:
            told = await self.ask("core", file=target.core, **more)
        elif target.connect is not None:
            host, port = target.connect
            place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            told = await self.ask("connect", url=f"connect://{place}", stop=target.pause, **more)
        else:
            told = await self.ask("attach", pid=target.pid, stop=target.pause, **more)
        self._begun(told)

    def _begun(self, told: dict[str, Any]) -> None:
        self._pid = told["pid"] or None
        self._sink(Started(self._pid))

    async def probe(self, env: Mapping[str, str]) -> str:
        """Start LLDB and return its version."""
        await self._console.start(cwd="/", env=env, scratch=self._scratch)
        return self._console.version

    async def connect(self) -> None:
        """Refuse: LLDB follows no child processes.

        Raises:
            DebuggerError: NOT_SUPPORTED.
        """
        raise DebuggerError(Code.NOT_SUPPORTED, f"{KIND} follows no child processes")

    async def run(self) -> None:
        """End the configuration: the program runs from here on."""
        await self.ask("run")

    async def close(self, *, kill: bool) -> Closed:
        """End LLDB, and the program with it if `kill`."""
        self._is_muted = True
        self._console.close()
        guard, stdio = self._console.guard, self._stdio
        if guard is None:
            return Closed()
        if not kill and self._pid is not None:
            # Before LLDB ends: the guard would end the program with it.
            await guard.release([self._pid], stdio.outputs if stdio is not None else [])
        if not self._console.is_lost:
            with suppress(DebuggerError):
                await self.ask("end", kill=kill, within=_END_S if kill else _DETACH_S)
        ending = await guard.end()
        if not kill and self._pid and (self.attached is None or self.attached.pid):
            go_on(self._pid)
        if stdio is not None:
            await stdio.drain()
            stdio.close()
        return Closed(killed=ending.killed)

    # -- events --------------------------------------------------------------------------------

    def _print(self, stream: Stream, text: str) -> None:
        self._sink(Printed(stream, text))

    def _take(self, told: parse.News) -> None:
        if self._is_muted or self._is_over:
            return
        match told:
            case parse.Halted():
                stop = parse.stopped(told)
                self._signal = stop.signal
                self._tasks.create_task(self._judged(stop))
            case parse.Exited(code):
                self._tasks.create_task(self._end(common.exited(code, self._signal)))
            case parse.Detached():
                self._tasks.create_task(self._end(None))
            case parse.Logged():
                if self._stdio is not None:
                    self._stdio.poll()
                self._sink(parse.event(told))
            case _:
                self._sink(parse.event(told))

    async def _judged(self, stop: Stopped) -> None:
        try:
            judged = await self._judge.judge(stop)
        except DebuggerError:
            judged = stop  # the program has stopped, whatever else failed
        if judged is None or self._is_over or self._is_muted:
            return
        self.steps.told(judged)
        for check in list(self.checks):  # a copy: a check may remove itself
            with suppress(DebuggerError):
                await check(judged)
        self._known.clear()
        if self._stdio is not None:
            # Output that the program wrote before the stop is reported before the stop.
            self._stdio.poll()
        self._sink(judged)

    async def _end(self, exited: Event | None) -> None:
        if self._is_over:
            return
        self._is_over = True
        if self._stdio is not None:
            await self._stdio.drain()
        if not self._is_muted:
            if exited is not None:
                self._sink(exited)
            self._sink(Ended())

    def _lose(self, problem: str) -> None:
        if not self._is_over and not self._is_muted:
            self._is_over = True
            self._sink(Ended(error=problem))

    async def ask(self, do: str, *, within: float | None = None, **arguments: Any) -> Any:
        """Send LLDB a question (see Console.ask), and clarify its error message."""
        try:
            return await self._console.ask(do, within=within, **arguments)
        except DebuggerError as error:
            if error.code is Code.LAUNCH_FAILED:
                raise DebuggerError(
                    error.code, error.message, hint="debugger doctor tries each adapter"
                ) from error
            if error.code is not Code.EVALUATION_FAILED:
                raise
            raise DebuggerError(
                error.code,
                common.problem(error.message),
                hint="debugger locals lists what is here",
            ) from error

    # -- breakpoints ---------------------------------------------------------------------------

    def place(self, spec: Spec) -> Spec | Bound:
        """Return the location at which a breakpoint is to be set, or why it cannot be set."""
        return breakpoints.place(spec)

    async def set_breakpoints(self, file: str, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the breakpoints of a source file (their `at`)."""
        return await self._breakpoints.replace(f"file {file}", wanted, file)

    async def set_function_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the function breakpoints."""
        return await self.replace("functions", wanted)

    async def replace(self, name: str, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace a list of breakpoints; the answers come in the same order."""
        return await self._breakpoints.replace(name, wanted, None)

    async def explain(self, spec: Spec) -> Bound:
        """Explain why a breakpoint does not bind."""
        return await breakpoints.explained(self, spec)

    # -- running -------------------------------------------------------------------------------

    async def resume(self, how: Resume, thread: int) -> None:
        """Let the program run."""
        await self.steps.begin(how, thread)
        await self.ask("resume", how=how.value, thread=thread)

    async def pause(self) -> None:
        """Request that a running program stops."""
        await self.ask("pause")

    # -- inspection ----------------------------------------------------------------------------

    async def threads(self) -> list[Thread]:
        """Return the threads."""
        return parse.threads(await self.ask("threads"))

    async def stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread, innermost first."""
        return parse.stack(await self.ask("stack", thread=thread, start=start, levels=levels))

    async def scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""
        return parse.scopes(await self.ask("scopes", frame=frame.handle))

    async def variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return the variables of a scope, the children of a value, or a part of either."""
        return await self.completed(await self.fetch(handle, start=start, count=count))

    async def fetch(self, handle: int, *, start: int | None, count: int | None) -> list[Variable]:
        """Return the children of a value, or a part of them, unchanged."""
        told = await self.ask("variables", handle=handle, start=start or 0, count=count)
        return [parse.variable(one) for one in told]

    async def size(self, handle: int) -> int | None:
        """Return how many elements a value has."""
        size: int = await self.ask("size", handle=handle)
        return size

    async def completed(self, values_: Sequence[Variable]) -> list[Variable]:
        """Shorten pointers, and add the first elements to containers."""
        return await values.complete(self, values_, is_doubtful=lambda _: False)

    async def arguments(self, frame: Frame) -> list[str] | None:
        """Return the names of the arguments among a frame's locals."""
        names: list[str] = await self.ask("arguments", frame=frame.handle)
        return names

    async def evaluate(self, expression: str, frame: Frame | None, purpose: Purpose) -> Variable:
        """Evaluate an expression in a frame."""
        del purpose  # LLDB has one way
        one_line(expression)
        await values.refuse_misread(self, expression, frame)
        handle = frame.handle if frame is not None else None
        return parse.variable(await self.ask("evaluate", expression=expression, frame=handle))

    async def assign(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field or an element; return it as it is now."""
        one_line(value)
        await self.evaluate(f"{target} = {value}", frame, Purpose.EVALUATE)
        return await self.evaluate(target, frame, Purpose.PRINT)

    async def returned(self, stop: Stopped, frame: Frame) -> Variable | None:
        """Return the value of the function that was just left; None where it is not known."""
        del frame
        if stop.thread is None or stop.reason is not Reason.STEP:
            return None
        told = await self.ask("returned", thread=stop.thread)
        if told is None:
            return None
        return (await self.completed([parse.variable(told)]))[0]

    async def exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the exception, or the signal, that a thread stopped at."""
        is_live = self.attached is None or self.attached.core is None
        own = await thrown.exception(self, stop) if is_live else None
        return own or common.details(ExceptionDetails("exception", stop.description))

    async def source(self, frame: Frame) -> str | None:
        """Return None: LLDB has no source text of its own."""
        del frame
        return None

    async def raw(self, command: str, frame: Frame | None) -> str:
        """Run one command of LLDB's own and return its output.

        Raises:
            DebuggerError: USAGE for a control character.
        """
        if any(ord(letter) < ord(" ") for letter in command):
            raise DebuggerError(Code.USAGE, "a debugger command is one line", hint=_ONE_LINE)
        handle = frame.handle if frame is not None else None
        said: str = await self.ask("raw", command=command, frame=handle)
        return said

    @property
    def has_command_line(self) -> bool:
        """Whether raw commands are a debugger's own: always, LLDB's."""
        return True

    def raw_effect(self, command: str) -> RawEffect:
        """Return the effect of a raw command on the program."""
        return lldb_effect(command)

    # -- input ---------------------------------------------------------------------------------

    async def write_input(self, text: bytes) -> None:
        """Write to the program's standard input."""
        await self._own_stdio().write(text)

    async def close_input(self) -> None:
        """End the program's standard input."""
        self._own_stdio().end_input()

    def _own_stdio(self) -> Stdio:
        if self._stdio is None:
            raise DebuggerError(
                Code.NOT_SUPPORTED,
                "an attached program's input is not ours to write",
                hint="debugger start PROGRAM",
            )
        return self._stdio
