"""Injects the engine into a started, attached or forked program, and takes it out again."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from debugger.backends.base import AttachTarget, ClosedBackend, LaunchTarget
from debugger.backends.inprocess import backend_abilities
from debugger.backends.inprocess.engine.child_processes import WAIT, ForeignProcess
from debugger.backends.inprocess.engine.engine import Engine
from debugger.backends.inprocess.engine.engine_events import EngineBreakpoint, EngineEvent
from debugger.backends.inprocess.engine.host_link import EngineFolders
from debugger.backends.inprocess.engine_event_queue import ENTRY
from debugger.backends.inprocess.loaded_program import LoadedProgram
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import OutputStream
from debugger.system.program_streams import ProgramStreams

# Each child gets a session, which stays visible after its end; beyond these numbers children
# run without the agent.
AT_ONCE = 16
ALTOGETHER = 200


class ParentProcess(Protocol):
    """Describes what a child shares with the process that started it."""

    stdio: ProgramStreams | None
    is_guest: bool
    env: Mapping[str, str]

    @property
    def engine(self) -> Engine:
        """The engine inside the parent."""


@dataclass(eq=False)
class PendingChild:
    """Describes a process that waits to be entered."""

    process: ForeignProcess
    parent: ParentProcess
    family: InjectedChildren
    at: int

    @property
    def command_words(self) -> tuple[str, ...]:
        """The program and its arguments; of a fork, its parent's."""
        try:
            words = Path(f"/proc/{self.process.pid}/cmdline").read_bytes()
        except OSError:
            return ()
        return tuple(word.decode(errors="replace") for word in words.split(b"\0")[:-1])


class InjectedChildren:
    """Counts the entered processes of one process tree, and bounds their number."""

    def __init__(self) -> None:
        self._pending_children: set[PendingChild] = set()
        self._count = 0
        self._is_reported = False
        # A lock, as children are entered one at a time: Frida attaches to one process in 0.12
        # s, and the first that is entered may run first.
        self.turn = asyncio.Lock()

    def hold_child(self, pid: int, parent: ParentProcess, at: int) -> PendingChild | None:
        """Hold a new process, or release it where there are too many (`at`: see the event)."""
        if len(self._pending_children) < AT_ONCE and self._count < ALTOGETHER:
            try:
                child = PendingChild(ForeignProcess(pid), parent, self, at)
            except OSError:  # it was killed
                return None
            # At once, before its session is made: by itself it waits for 10 s and no longer.
            parent.engine.send_child_word(pid, WAIT, at)
            self._pending_children.add(child)
            self._count += 1
            return child
        parent.engine.send_child_word(pid, at=at)
        return None

    def refusal_note(self) -> str | None:
        """Return a note, once, that some children run without the agent."""
        if self._is_reported:
            return None
        self._is_reported = True
        return (
            f"the program starts more than {AT_ONCE} processes at once, or {ALTOGETHER} in all: "
            "the others run free"
        )

    def release_child(self, child: PendingChild) -> None:
        """Note that a child has ended, or was left: another may be held."""
        self._pending_children.discard(child)


async def hold_at_entry(engine: Engine, program: LoadedProgram) -> None:
    """Pause a started program at the beginning of its own code.

    Raises:
        DebuggerError: LAUNCH_FAILED where no breakpoint can be set there.
    """
    points = [
        EngineBreakpoint(id=f"{ENTRY}{number}", address=one.address, temporary=True)
        for number, one in enumerate(program.main_addresses())
    ]
    refused = await engine.add_breakpoints(points)
    if len(refused) == len(points):
        why = "; ".join(refused.values()) or "it has no beginning that is known"
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"the program cannot be stopped where it begins: {why}",
            hint="debugger start --break FUNCTION stops later",
        )


# Longer than the agent's own bounds: 2 s for threads to leave it, 3 s for Frida's unmapping.
_DETACH_S = 8.0

Hear = Callable[[EngineEvent], None]


class EngineLifecycle:
    """Owns one program's engine and its streams, which a child shares with its parent."""

    def __init__(
        self, scratch: Path, tasks: asyncio.TaskGroup, *, child: PendingChild | None
    ) -> None:
        self._scratch = scratch
        self._tasks = tasks
        self.held = child
        self.inside: Engine | None = None
        self._is_entering = False
        # An exec replaces the engine: whoever detaches must do so from the new one.
        self._change = asyncio.Lock()
        self.stdio: ProgramStreams | None = child.parent.stdio if child is not None else None
        self.is_guest = child is not None and child.parent.is_guest
        self.env: Mapping[str, str] = child.parent.env if child is not None else {}

    @property
    def engine(self) -> Engine:
        """The engine inside the program.

        Raises:
            DebuggerError: WRONG_STATE before there is one.
        """
        if self.inside is None:
            raise DebuggerError(
                ErrorCode.WRONG_STATE, "the program has not begun", hint="debugger start PROGRAM"
            )
        return self.inside

    async def start_program(
        self, launch: LaunchTarget, hear: Hear, on_output: Callable[[OutputStream, str], None]
    ) -> None:
        """Start a program, held where breakpoints can be set."""
        assert launch.program is not None
        self.env = launch.env
        self.stdio = stdio = ProgramStreams(self._scratch, as_terminal=True, on_output=on_output)
        # Input comes from a file, and the terminal's is not needed.
        if launch.stdin is not None:
            stdio.end_input()
        self.inside = await Engine.start(
            [launch.program, *launch.args],
            place=EngineFolders(cwd=launch.cwd, env=launch.env, scratch=self._scratch),
            stdio=(launch.stdin or stdio.stdin, stdio.stdout, stdio.stderr),
            tasks=self._tasks,
            sink=hear,
            follows_children=True,
            holds_modules=True,
        )
        # The program has opened its terminals: our side is closed, so that its end ends them.
        stdio.note_opened()

    async def attach_process(self, target: AttachTarget, hear: Hear) -> None:
        """Enter a process that runs.

        Raises:
            DebuggerError: NOT_SUPPORTED for a core file or a debug server.
        """
        if target.pid is None:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                f"{backend_abilities.KIND} goes inside a process that runs here, and this is none",
                hint="--backend dap, or none, takes what can",
            )
        self.is_guest, self.env = True, target.env
        self.inside = await Engine.attach(
            target.pid,
            place=EngineFolders(cwd=target.cwd, env=target.env, scratch=self._scratch),
            tasks=self._tasks,
            sink=hear,
            follows_children=True,
            holds_modules=True,
        )

    async def follow_child(self, hear: Hear) -> None:
        """Enter a child, which waits.

        Raises:
            DebuggerError: ADAPTER_FAILED; then the child runs without the agent.
        """
        child = self.held
        assert child is not None
        async with child.family.turn:
            # Closed while it waited for its turn: its session was ended.
            if child.process.is_closed():
                raise _remaining_error(child)
            self._is_entering = True
            engine = await Engine.follow(
                child.parent.engine,
                child.process,
                at=child.at,
                tasks=self._tasks,
                sink=hear,
                holds_modules=True,
            )
        self.inside = engine
        # The user may have closed the child's session while it was being entered.
        if child.process.is_closed():
            await self._let_go()
            engine.end_child()
            raise _remaining_error(child)

    async def follow_exec(self, at: int, hear: Hear) -> None:
        """Enter the program that this one became by exec, which waits.

        Raises:
            DebuggerError: ADAPTER_FAILED; then it runs without the agent.
        """
        async with self._change:
            self.inside = await Engine.follow(
                self.engine, None, at=at, tasks=self._tasks, sink=hear, holds_modules=True
            )

    async def report_remaining_output(self) -> None:
        """Report what the program has written to its end."""
        if self.stdio is not None:
            await self.stdio.read_to_end()

    async def end_engine(self, *, kill: bool) -> ClosedBackend:
        """End the engine, and the program with it if `kill`."""
        if self.is_guest and self.inside is not None and self.inside.has_lost_host:
            kill = False  # it was there before us, and the agent leaves it by itself
        if self.held is not None:
            return await self._end_child(self.held, kill=kill)
        engine, stdio = self.inside, self.stdio
        killed: tuple[str, ...] = ()
        if engine is not None:
            if kill and self.is_guest:
                # A guest is below no guard of ours, so nothing else kills it.
                with suppress(OSError):
                    os.kill(engine.pid, signal.SIGKILL)
            elif not kill:
                await self._let_go()
            # Frida's helper processes are ended with the host; the user is told only of the
            # program's own.
            helpers = _frida_helpers(self._scratch)
            ended = (await self.engine.end_program()).killed
            killed = tuple(one for one in ended if one.partition(" ")[0] not in helpers)
        if stdio is not None:
            await stdio.read_to_end()
            stdio.close()
        return ClosedBackend(killed=killed)

    async def _end_child(self, child: PendingChild, *, kill: bool) -> ClosedBackend:
        engine = self.inside
        if engine is not None:
            if kill:
                child.process.kill_process()
            else:
                await self._let_go()
            self.engine.end_child()
        elif kill:
            child.process.kill_process()
        elif not self._is_entering:  # else it is left once it was entered
            child.parent.engine.send_child_word(child.process.pid, at=child.at)
        child.process.close()
        child.family.release_child(child)
        return ClosedBackend()

    async def _let_go(self) -> None:
        if not self.is_guest:
            outputs = self.stdio.output_descriptors if self.stdio is not None else []
            # The guard kills what is below it, so it must let the program go before the host
            # ends. Its output pipes stay open, or the program would die of SIGPIPE.
            await self.engine.supervised_host.release_processes([self.engine.pid], outputs)
        # The program may end, or become another, within the detach: it is left in any case.
        with suppress(DebuggerError, TimeoutError):
            async with asyncio.timeout(_DETACH_S), self._change:
                await self.engine.run_program()  # it may never have begun
                await self.engine.detach()


def _remaining_error(child: PendingChild) -> DebuggerError:
    return DebuggerError(
        ErrorCode.ADAPTER_FAILED,
        f"the child process {child.process.pid} was released before its injection, and runs "
        "without a debugger",
        hint="debugger sessions lists those that are debugged",
    )


def _frida_helpers(scratch: Path) -> list[str]:
    """List the processes that Frida has started for itself, from its own files in `scratch`."""
    found = []
    for one in Path("/proc").glob("[0-9]*/exe"):
        with suppress(OSError):
            if str(one.readlink()).startswith(f"{scratch}/"):
                found.append(one.parent.name)
    return found
