"""Observes a stepped program: by our engine, and by gdb to compare."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

from debuggees import CACHE
from debugger.backends.base import BackendEvent
from debugger.backends.inprocess.engine.engine import Engine
from debugger.backends.inprocess.engine.engine_events import (
    EngineBreakpoint,
    EngineExited,
    ModuleLoaded,
    ThreadPaused,
)
from debugger.backends.inprocess.inspection.memory_reading import run_reading
from debugger.backends.inprocess.stepping.step_marks import count_hidden, number_registers
from debugger.backends.inprocess.stepping.thread_steps import StepVerdict, ThreadSteps
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import ResumeKind
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.unwinding import LoadedBinaries, LoadedBinary, unwind_stack
from live_engine import BuiltProgram, EngineSession, run

EXIT = "exit"
_HOW = {
    "next": ResumeKind.NEXT,
    "step": ResumeKind.STEP,
    "finish": ResumeKind.FINISH,
    "nexti": ResumeKind.NEXT,
    "stepi": ResumeKind.STEP,
}
_IMAGES: dict[str, BinaryImage | None] = {}


class SteppedProgram:
    """A program under the engine, with what steps ask for: an `Inside`, and the steps."""

    def __init__(self, live: EngineSession) -> None:
        self.live = live
        self.modules = LoadedBinaries(())
        self.steps = ThreadSteps(self)
        self.ours = False
        self.goes_on = 0

    @property
    def engine(self) -> Engine:
        return self.live.engine

    def paused_thread(self, thread: int) -> ThreadPaused:
        if thread not in self.engine.paused_threads:
            raise DebuggerError(ErrorCode.WRONG_STATE, f"thread {thread} runs")
        return self.engine.paused_threads[thread]

    def report_event(self, event: BackendEvent) -> None:
        raise AssertionError(event)

    async def load(self) -> None:
        """Look which binaries there are."""
        found = []
        for one in await self.engine.list_modules():
            if one.path not in _IMAGES:
                _IMAGES[one.path] = read_image(one.path)
            image = _IMAGES[one.path]
            if image is not None:
                found.append(LoadedBinary(image, one.base, one.base + one.size))
        self.modules = LoadedBinaries(found)

    def body(self, function: str) -> int:
        """Find the address behind a function's prologue, or where a line (`file:line`) begins."""
        image = _IMAGES[str(self.live.program.path)]
        assert image is not None
        file, _, line = function.rpartition(":")
        if line.isdigit():
            at = image.lines.find_line(file, int(line)).locations[0].address
        else:
            at = image.functions.find_by_name(function)[0].body
        return self.live.base + at - image.binary.lowest_address

    async def to(self, place: str, condition: str | None = None) -> ThreadPaused:
        """Run to a function or a line; the breakpoint is gone then."""
        await self.load()
        point = EngineBreakpoint(
            id="to", address=self.body(place), temporary=True, condition=condition
        )
        await self.engine.add_breakpoints([point])
        await self.engine.run_program()
        paused: ThreadPaused = await self.live.until(ThreadPaused)
        await self.load()
        return paused

    async def step(self, how: str, thread: int, **options: Any) -> ThreadPaused | EngineExited:
        """Step as the backend does, up to what is told."""
        await self.steps.begin_step(_HOW[how], thread, by_instruction=how.endswith("i"), **options)
        return await self.told()

    async def told(self) -> ThreadPaused | EngineExited:
        """Wait for what is told: a stop, or the end."""
        while True:
            event = await self.live.until(
                lambda one: isinstance(one, ThreadPaused | EngineExited | ModuleLoaded)
            )
            if isinstance(event, ModuleLoaded):
                # The program may have ended since then.
                with contextlib.suppress(DebuggerError):
                    await self.load()
                continue
            if isinstance(event, EngineExited):
                return event
            judged = await self.steps.decide_pause(event)
            if judged is not StepVerdict.GO_ON:
                self.ours = judged is StepVerdict.ENDED
                return event
            self.goes_on += 1
            self.engine.resume([event.thread])

    async def where(self, paused: ThreadPaused, *, exactly: bool = False) -> str:
        """Say where a thread is as `function:line`, or with the address in its page."""
        values = number_registers(paused.registers)
        frames = await run_reading(
            self, lambda memory: unwind_stack(values, self.modules, memory.read, most=20)
        )
        frame = frames[count_hidden(paused)]
        return f"{frame.function}:{f'+{frame.pc & 0xFFF:x}' if exactly else frame.line}"

    async def trail(self, how: str, paused: ThreadPaused, count: int) -> list[str]:
        """Step so many times; say where each step ended."""
        found: list[str] = []
        for _ in range(count):
            told = await self.step(how, paused.thread)
            if isinstance(told, EngineExited):
                found.append(EXIT)
                break
            assert self.ours, told
            found.append(await self.where(told, exactly=how.endswith("i")))
            paused = told
        return found


def read_image(path: str) -> BinaryImage | None:
    try:
        return BinaryImage(path, cache=CACHE / "dwarf")
    except (DebuggerError, OSError):
        return None


_TRAIL = """
import gdb, json
for one in ("pagination off", "confirm off", "debuginfod enabled off"):
    gdb.execute("set " + one)
gdb.execute("handle SIGUSR1 nostop noprint pass", to_string=True)
gdb.execute("tbreak " + place)
gdb.execute("run > /dev/null", to_string=True)
found = []
for _ in range(count):
    try:
        gdb.execute(how, to_string=True)
        frame = gdb.newest_frame()
    except gdb.error:
        found.append("exit")
        break
    place = f"+{frame.pc() & 0xfff:x}" if how.endswith("i") else frame.find_sal().line
    found.append(f"{frame.name()}:{place}")
open(answer, "w").write(json.dumps(found))
try:
    gdb.execute("kill")
except gdb.error:
    pass
"""


def step_with_gdb(
    program: BuiltProgram, place: str, how: str, count: int, scratch: Path
) -> list[str]:
    """Say where gdb's steps end."""
    answer = scratch / "gdb.json"
    head = f"place={place!r}\nhow={how!r}\ncount={count}\nanswer={str(answer)!r}\n"
    script = scratch / "gdb_trail.py"
    script.write_text(head + _TRAIL)
    gdb = shutil.which("gdb") or "gdb"
    argv = [gdb, "-nx", "-batch", "-x", str(script), str(program.path)]
    run(*argv)
    found: list[str] = json.loads(answer.read_text())
    return found
