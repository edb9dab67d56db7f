"""How does a program look while it is stepped: by our engine, and by gdb to compare?"""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

from debuggees import CACHE
from debugger.backends.base import Event
from debugger.backends.frida.dwarf.image import Image
from debugger.backends.frida.dwarf.unwind import Module, Modules, stack
from debugger.backends.frida.engine.engine import Engine
from debugger.backends.frida.engine.events import Breakpoint, Exited, ModuleLoaded, Paused
from debugger.backends.frida.looking.memory import reading
from debugger.backends.frida.stepping.frames import numbered
from debugger.backends.frida.stepping.points import hidden
from debugger.backends.frida.stepping.steps import Judged, Steps
from debugger.core.model import Resume
from debugger.errors import Code, DebuggerError
from engine_live import Live, Program, run

EXIT = "exit"
_HOW = {
    "next": Resume.NEXT,
    "step": Resume.STEP,
    "finish": Resume.FINISH,
    "nexti": Resume.NEXT,
    "stepi": Resume.STEP,
}
_IMAGES: dict[str, Image | None] = {}


class Stepped:
    """A program under the engine, with what steps ask for: an `Inside`, and the steps."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.modules = Modules(())
        self.steps = Steps(self)
        self.ours = False
        self.goes_on = 0

    @property
    def engine(self) -> Engine:
        return self.live.engine

    def paused(self, thread: int) -> Paused:
        if thread not in self.engine.paused:
            raise DebuggerError(Code.WRONG_STATE, f"thread {thread} runs")
        return self.engine.paused[thread]

    def tell(self, event: Event) -> None:
        raise AssertionError(event)

    async def load(self) -> None:
        """Look which binaries there are."""
        found = []
        for one in await self.engine.modules():
            if one.path not in _IMAGES:
                _IMAGES[one.path] = _image(one.path)
            image = _IMAGES[one.path]
            if image is not None:
                found.append(Module(image, one.base, one.base + one.size))
        self.modules = Modules(found)

    def body(self, function: str) -> int:
        """Find the address behind a function's prologue, or where a line (`file:line`) begins."""
        image = _IMAGES[str(self.live.program.path)]
        assert image is not None
        file, _, line = function.rpartition(":")
        if line.isdigit():
            at = image.lines.find(file, int(line)).locations[0].address
        else:
            at = image.functions.named(function)[0].body
        return self.live.base + at - image.binary.lowest

    async def to(self, place: str, condition: str | None = None) -> Paused:
        """Run to a function or a line; the breakpoint is gone then."""
        await self.load()
        point = Breakpoint(id="to", address=self.body(place), temporary=True, condition=condition)
        await self.engine.add([point])
        await self.engine.run()
        paused: Paused = await self.live.until(Paused)
        await self.load()
        return paused

    async def step(self, how: str, thread: int, **options: Any) -> Paused | Exited:
        """Step as the backend does, up to what is told."""
        await self.steps.begin(_HOW[how], thread, by_instruction=how.endswith("i"), **options)
        return await self.told()

    async def told(self) -> Paused | Exited:
        """Wait for what is told: a stop, or the end."""
        while True:
            event = await self.live.until(
                lambda one: isinstance(one, Paused | Exited | ModuleLoaded)
            )
            if isinstance(event, ModuleLoaded):
                # The program may have ended since then.
                with contextlib.suppress(DebuggerError):
                    await self.load()
                continue
            if isinstance(event, Exited):
                return event
            judged = await self.steps.judge(event)
            if judged is not Judged.GO_ON:
                self.ours = judged is Judged.ENDED
                return event
            self.goes_on += 1
            self.engine.resume([event.thread])

    async def where(self, paused: Paused, *, exactly: bool = False) -> str:
        """Say where a thread is as `function:line`, or with the address in its page."""
        values = numbered(paused.registers)
        frames = await reading(
            self, lambda memory: stack(values, self.modules, memory.read, most=20)
        )
        frame = frames[hidden(paused)]
        return f"{frame.function}:{f'+{frame.pc & 0xFFF:x}' if exactly else frame.line}"

    async def trail(self, how: str, paused: Paused, count: int) -> list[str]:
        """Step so many times; say where each step ended."""
        found: list[str] = []
        for _ in range(count):
            told = await self.step(how, paused.thread)
            if isinstance(told, Exited):
                found.append(EXIT)
                break
            assert self.ours, told
            found.append(await self.where(told, exactly=how.endswith("i")))
            paused = told
        return found


def _image(path: str) -> Image | None:
    try:
        return Image(path, cache=CACHE / "dwarf")
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


def gdb_trail(program: Program, place: str, how: str, count: int, scratch: Path) -> list[str]:
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
