"""Drives the in-process engine in a test: builds and starts a program, and collects events."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from debuggees import CACHE
from debugger.backends.inprocess.engine.child_processes import ForeignProcess
from debugger.backends.inprocess.engine.engine import Engine
from debugger.backends.inprocess.engine.engine_events import EngineChildAppeared
from debugger.backends.inprocess.engine.host_link import EngineFolders

PROGRAMS = Path(__file__).parent / "frida" / "programs"
BOUND_S = 30.0


@dataclass
class BuiltProgram:
    """A built program, where its symbols are, and what it does without us."""

    path: Path
    _symbols: dict[str, int] = field(default_factory=dict)

    def symbol(self, name: str) -> int:
        if not self._symbols:
            told = run("nm", str(self.path)).stdout
            lines = [line.split() for line in told.splitlines()]
            self._symbols = {line[2]: int(line[0], 16) for line in lines if len(line) == 3}
        return self._symbols[name]

    def statements(self) -> list[int]:
        """The addresses where a statement of its own source begins."""
        told = run("objdump", "--dwarf=decodedline", str(self.path)).stdout
        name = next(one.name for one in PROGRAMS.glob(f"{self.path.name.split('-')[0]}.*"))
        found = set()
        for line in told.splitlines():
            words = line.split()
            if len(words) >= 4 and words[0] == name and words[1].isdigit() and words[-1] == "x":
                found.add(int(words[2], 16))
        # What the linker has thrown away is said to be near address 0.
        (text,) = (
            line.split()
            for line in run("objdump", "-h", str(self.path)).stdout.splitlines()
            if " .text " in line
        )
        start, size = int(text[3], 16), int(text[2], 16)
        return sorted(one for one in found if start <= one < start + size)

    def instructions(self) -> list[int]:
        """The addresses of all instructions of the code that the compiler wrote."""
        told = run("objdump", "-d", "-j", ".text", "--no-show-raw-insn", str(self.path)).stdout
        heads = (line.partition(":") for line in told.splitlines() if line.startswith(" "))
        return [int(head, 16) for head, _, rest in heads if rest.strip()]

    def alone(self, *args: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [str(self.path), *args], capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout, done.stderr


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True)


def build_program(name: str, *flags: str, also: Sequence[str] = ()) -> BuiltProgram:
    """Compile a program, of several sources where `also` names more, unless it is there."""
    source = PROGRAMS / name
    compilers = {".c": "gcc", ".cpp": "g++", ".rs": "rustc"}
    argv = [compilers[source.suffix], "-g", *flags]
    if source.suffix != ".rs":
        argv.append("-pthread")
    stem = name.partition(".")[0]
    path = CACHE / f"{stem}-{'-'.join(flags).replace('=', '').replace(' ', '')}"
    if not path.exists() or path.stat().st_mtime < source.stat().st_mtime:
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        run(*argv, str(source), *(str(PROGRAMS / one) for one in also), "-o", str(partial))
        partial.replace(path)
    return BuiltProgram(path)


class EngineSession:
    """An engine and what it has told."""

    def __init__(self, program: BuiltProgram, scratch: Path) -> None:
        self.program = program
        self.events: list[Any] = []
        self.scratch = scratch
        self._news = asyncio.Event()
        self.engine: Any = None
        self.base = 0

    def take(self, event: Any) -> None:
        self.events.append(event)
        self._news.set()

    async def until(self, wanted: Callable[[Any], object] | type) -> Any:
        """Take the first event that is wanted out of those told, in time."""
        test = (lambda one: isinstance(one, wanted)) if isinstance(wanted, type) else wanted
        async with asyncio.timeout(BOUND_S):
            while True:
                for event in self.events:
                    if test(event):
                        self.events.remove(event)
                        return event
                self._news.clear()
                await self._news.wait()

    async def find_base(self) -> None:
        for module in await self.engine.list_modules():
            if module.path == str(self.program.path):
                self.base = module.base

    def at(self, symbol: str) -> int:
        return self.base + self.program.symbol(symbol)

    def output(self, stream: str = "out") -> str:
        return (self.scratch / stream).read_text(encoding="utf-8")


class EngineStarter:
    def __init__(self, tasks: asyncio.TaskGroup, root: Path) -> None:
        self._tasks = tasks
        self._root = root
        self.started: list[EngineSession] = []
        self._places = 0

    def _place(self) -> tuple[Path, Any]:
        self._places += 1
        files = self._root / f"files{self._places}"
        files.mkdir()
        for name in ("in", "out", "err"):
            (files / name).touch()
        scratch = self._root / f"scratch{self._places}"
        scratch.mkdir()
        return files, EngineFolders(cwd=str(files), env=dict(os.environ), scratch=scratch)

    async def __call__(self, program: BuiltProgram, *args: str, **options: Any) -> EngineSession:
        files, place = self._place()
        stdin = options.pop("stdin", str(files / "in"))
        live = EngineSession(program, files)
        live.engine = await Engine.start(
            [str(program.path), *args],
            place=place,
            stdio=(stdin, str(files / "out"), str(files / "err")),
            tasks=self._tasks,
            sink=live.take,
            **options,
        )
        self.started.append(live)
        await live.find_base()
        return live

    async def attach(self, program: BuiltProgram, pid: int, **options: Any) -> EngineSession:
        files, place = self._place()
        live = EngineSession(program, files)
        live.engine = await Engine.attach(
            pid, place=place, tasks=self._tasks, sink=live.take, **options
        )
        self.started.append(live)
        await live.find_base()
        return live

    async def follow(self, live: EngineSession, event: Any, program: BuiltProgram) -> EngineSession:
        """Enter a process that an engine has told of, or what its own program has become."""
        inside = EngineSession(program, live.scratch)
        inside.engine = await Engine.follow(
            live.engine,
            ForeignProcess(event.pid) if isinstance(event, EngineChildAppeared) else None,
            at=event.at,
            tasks=self._tasks,
            sink=inside.take,
        )
        await inside.find_base()
        return inside


def count_with_gdb(
    program: BuiltProgram, addresses: Sequence[int], args: Sequence[str], base: int
) -> list[int]:
    """How often gdb sees each address reached."""
    orders = ["set pagination off", "set confirm off", "set breakpoint pending off", "starti"]
    orders += [f"break *{base + one:#x}" for one in addresses]
    orders += [f"ignore {number} 100000000" for number in range(1, len(addresses) + 1)]
    orders += ["continue", "info breakpoints"]
    argv = ["gdb", "-nx", "-batch", *(f"-ex={one}" for one in orders)]
    told = run(*argv, "--args", str(program.path), *args).stdout
    counts = [0] * len(addresses)
    number = 0
    for line in told.splitlines():
        words = line.split()
        if len(words) > 2 and words[0].isdigit() and words[1] == "breakpoint":
            number = int(words[0])
        elif line.strip().startswith("breakpoint already hit") and number:
            counts[number - 1] = int(words[3])
    return counts
