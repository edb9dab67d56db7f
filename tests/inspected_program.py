"""Inspects a program that the in-process engine has stopped, in a test."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conftest import require_tool
from debuggees import build_debuggee, find_marker, find_source
from debugger.backends.inprocess.engine.engine_events import EngineBreakpoint, ThreadPaused
from debugger.backends.inprocess.inspection.inspection_abilities import ABILITIES
from debugger.backends.inprocess.inspection.inspector import ThreadInspector
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import EvaluationPurpose, Frame, ScopeKind, Variable
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.unwinding import LoadedBinaries, LoadedBinary
from live_engine import BuiltProgram, EngineSession, EngineStarter

_GDB_S = 110
_MARK = "@asked@"


class InspectedProgram:
    """A stopped program, as the backend is to what looks at it."""

    def __init__(
        self, live: EngineSession, modules: LoadedBinaries, main: LoadedBinary, name: str
    ) -> None:
        self.live = live
        self.engine = live.engine
        self.modules = modules
        self.main = main
        self._name = name
        self.thread = 0
        self.inspector = ThreadInspector(self)
        self.told: list[Any] = []

    def paused_thread(self, thread: int) -> ThreadPaused:
        found: ThreadPaused | None = self.engine.paused_threads.get(thread)
        if found is None:
            raise DebuggerError(ErrorCode.WRONG_STATE, f"thread {thread} is running")
        return found

    def report_event(self, event: Any) -> None:
        self.told.append(event)

    def ability(self, kind: type[Any]) -> Any:
        return ABILITIES[kind](self)

    async def stopped(self) -> ThreadPaused:
        """Wait for the next stop."""
        paused: ThreadPaused = await self.live.until(ThreadPaused)
        self.thread = paused.thread
        self.inspector.new_stop()
        return paused

    async def break_at(self, place: str) -> None:
        """Set a breakpoint at a marker of its source, a link-time address, or a function."""
        if place.startswith("@"):
            line = find_marker(self._name, place[1:])
            found = self.main.image.lines.find_line(str(find_source(self._name)), line).locations
            addresses = [one.address for one in found]
        elif place.startswith("0x"):
            addresses = [int(place, 16)]
        else:
            addresses = [one.body for one in self.main.image.functions.find_by_name(place)]
        points = [
            EngineBreakpoint(id=f"{place}{one}", address=one + self.main.load_bias)
            for one in addresses
        ]
        assert points
        assert not await self.engine.add_breakpoints(points)

    def resume(self) -> None:
        self.engine.resume()

    async def frame(self, index: int = 0) -> Frame:
        stack = await self.inspector.read_stack(self.thread, start=index, levels=1)
        return stack.frames[0]

    async def print(self, text: str, index: int = 0) -> Variable:
        frame = await self.frame(index)
        return await self.inspector.evaluate(text, frame, EvaluationPurpose.PRINT)

    async def locals(self, index: int = 0) -> dict[str, Variable]:
        found: dict[str, Variable] = {}
        for scope in await self.inspector.read_scopes(await self.frame(index)):
            if scope.kind in {ScopeKind.ARGUMENTS, ScopeKind.LOCALS}:
                found |= {
                    one.name: one for one in await self.inspector.read_variables(scope.handle)
                }
        return found


async def stop_debuggee(
    start: EngineStarter, name: str, place: str, *args: str
) -> InspectedProgram:
    """Run a debuggee to a marker, or a function."""
    return await stop_program(start, BuiltProgram(build_debuggee(name)), place, *args, source=name)


async def stop_program(
    start: EngineStarter, program: BuiltProgram, place: str, *args: str, source: str = ""
) -> InspectedProgram:
    """Run a program to a marker of its source, or a function."""
    live = await start(program, *args)
    told = await live.engine.list_modules()
    modules = [
        LoadedBinary(BinaryImage(one.path), one.base, one.base + one.size)
        for one in told
        if _is_file(one)
    ]
    main = next(one for one in modules if str(one.image.binary.path) == str(program.path))
    seen = InspectedProgram(live, LoadedBinaries(modules), main, source)
    await seen.break_at(place)
    await live.engine.run_program()
    await seen.stopped()
    return seen


def _is_file(module: Any) -> bool:
    return Path(module.path).is_file()


def print_with_gdb(name: str, place: str, asked: Sequence[str], *args: str) -> list[str]:
    """What gdb says of expressions at the same stop."""
    program = build_debuggee(name)
    at = f"{Path(name).name}:{find_marker(name, place[1:])}" if place.startswith("@") else place
    orders = ["set confirm off", "set debuginfod enabled off", "set print pretty off"]
    orders += [f"break {at}", "run"]
    for one in asked:
        orders += [f"echo {_MARK}", f"print {one}"]
    argv = [require_tool("gdb"), "-nx", "-q", "-batch"]
    argv += [word for one in orders for word in ("-ex", one)]
    done = subprocess.run(
        [*argv, "--args", str(program), *args],
        capture_output=True,
        text=True,
        timeout=_GDB_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    parts = [part.split("\n")[0] for part in done.stdout.split(_MARK)[1:]]
    return [re.sub(r"^\$\d+ = ", "", part) for part in parts]
