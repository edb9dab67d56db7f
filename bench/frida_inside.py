"""What does a hit cost inside the program, against gdb and lldb on the same line?

`python bench/frida_inside.py`. The program times its own loop, so only what a hit adds is measured;
all of one run is compared. Then: what the first breakpoint by line of a large binary takes.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from debugger.backends.inprocess.engine.displaced_instruction import decode_instruction
from debugger.backends.inprocess.engine.engine import Engine
from debugger.backends.inprocess.engine.engine_events import (
    CallsRecorded,
    EngineBreakpoint,
    EngineExited,
    RecordLogged,
    RecordsDropped,
    TracedFunction,
)
from debugger.backends.inprocess.engine.host_link import EngineFolders
from debugger.symbols.dwarf.binary_image import BinaryImage

_SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
volatile long seen;
__attribute__((noinline)) long hot(long i) {
    long r = i * 3;
    r += seen & 1;
    seen = r;
    return r;
}
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}
int main(int argc, char **argv) {
    long n = atol(argv[1]);
    double began = now();
    for (long i = 0; i < n; i++)
        hot(i);
    printf("%f\\n", (now() - began) / n);
    return 0;
}
"""
_WAIT_S = 120.0
_JUMP = 5
_NEVER_JS = "(c) => c.rdi.toInt32() === -1"
_NEVER_C = "int predicate (const unsigned long long * f) { return (long long) f[8] == -1; }"
_LOG = "(c) => c.rdi.toInt32()"
_RECORD = (
    "int values (const unsigned long long * f, unsigned long long * words)"
    " { words[0] = (int) f[8]; return 1; }"
)
_LARGE_FILES = 60
_LARGE_FUNCTIONS = 2_000  # of each


def _tool(name: str) -> str:
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed"
    return found


@dataclass
class Ran:
    """What one run took a round, in ns, and what came of it."""

    cost: float
    told: int = 0
    lost: int = 0


class Bench:
    """A program that runs one function so many times, and says what each took."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._runs = 0
        source = root / "hot.c"
        source.write_text(_SOURCE, encoding="utf-8")
        self.path = str(root / "hot")
        subprocess.run([_tool("gcc"), "-O0", "-g", "-o", self.path, str(source)], check=True)
        symbols = subprocess.run(
            [_tool("nm"), self.path], capture_output=True, text=True, check=True
        )
        self.offset = next(
            int(line.split()[0], 16)
            for line in symbols.stdout.splitlines()
            if line.endswith(" T hot")
        )
        self.short, self.long = self._sites()

    def _sites(self) -> tuple[int, int]:
        """Find the first instruction with no room for a jump, and the first with room."""
        code = Path(self.path).read_bytes()[self.offset :]
        at, short, long = 0, 0, 0
        while not (short and long):
            one = decode_instruction(code[at:], at)
            if one.size >= _JUMP:
                long = long or at
            elif at:
                short = short or at
            at += one.size
        return short, long

    def alone(self, rounds: int) -> float:
        """Return the nanoseconds of a round without us."""
        argv = [self.path, str(rounds)]
        return float(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)

    def gdb(self, rounds: int, order: str) -> float:
        """Return the nanoseconds of a round under gdb with one breakpoint."""
        place = f"*(char *)&hot + {self.long}"
        argv = [_tool("gdb"), "-nx", "-batch", "-ex", "set breakpoint pending on"]
        argv += ["-ex", order.format(place=place), "-ex", "run"]
        argv += ["--args", self.path, str(rounds)]
        return _told(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)

    def lldb(self, rounds: int) -> float | None:
        """Return the nanoseconds of a round under lldb with a condition; None without lldb."""
        lldb = next(filter(None, map(shutil.which, ("lldb", "lldb-19", "lldb-18"))), None)
        if lldb is None:
            return None
        line = _SOURCE.splitlines().index("    r += seen & 1;") + 1
        argv = [lldb, "-x", "-b", "-o", f"b hot.c:{line}", "-o", "breakpoint modify -c 'i == -1' 1"]
        argv += ["-o", "run", "--", self.path, str(rounds)]
        return _told(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)

    async def ours(self, rounds: int, arm: Callable[[Engine, int], Awaitable[Any]]) -> Ran:
        """Run with the engine inside."""
        self._runs += 1
        scratch = self._root / f"scratch{self._runs}"
        scratch.mkdir()
        out = self._root / f"out{self._runs}"
        out.touch()
        ended = asyncio.Event()
        ran = Ran(0.0)

        def take(event: object) -> None:
            match event:
                case EngineExited():
                    ended.set()
                case RecordLogged():
                    ran.told += 1
                case CallsRecorded(data=data, lost=lost):
                    ran.told += len(data) // 128
                    ran.lost += lost
                case RecordsDropped(records=records):
                    ran.lost += records
                case _:
                    pass

        async with asyncio.timeout(_WAIT_S), asyncio.TaskGroup() as tasks:
            engine = await Engine.start(
                [self.path, str(rounds)],
                place=EngineFolders(cwd=str(self._root), env=dict(os.environ), scratch=scratch),
                stdio=(None, str(out), None),
                tasks=tasks,
                sink=take,
            )
            modules = await engine.list_modules()
            base = next(one.base for one in modules if one.path == self.path)
            await arm(engine, base + self.offset)
            await engine.run_program()
            await ended.wait()
            await engine.end_program()
        ran.cost = float(out.read_text(encoding="utf-8"))
        return ran

    async def armed(self, count: int) -> float:
        """Return the milliseconds that many points take to come and go, in the middle of many."""
        times: list[float] = []

        async def arm(engine: Engine, base: int) -> None:
            code = await engine.read_memory(base, 64)
            places = [base]
            while len(places) < count and places[-1] - base < len(code) - 16:
                at = places[-1] - base
                places.append(places[-1] + decode_instruction(code[at:], places[-1]).size)
            points = [EngineBreakpoint(id=f"s{one:x}", address=one, pauses=False) for one in places]
            for _ in range(20):
                began = time.perf_counter()
                await engine.add_breakpoints(points)
                await engine.remove_breakpoints([one.id for one in points])
                times.append((time.perf_counter() - began) * 1e3)

        await self.ours(1000, arm)
        return sorted(times[1:])[len(times) // 2]


def _told(text: str) -> float:
    """Find the one line that is a number."""
    return float(
        next(line for line in text.splitlines() if line.count(".") == 1 and line[:1].isdigit())
    )


def point(at: int, **what: Any) -> Callable[[Engine, int], Awaitable[Any]]:
    """Arm one point at an offset of the function."""

    async def arm(engine: Engine, base: int) -> None:
        one = EngineBreakpoint(id="b", address=base + at, pauses=False, **what)
        assert await engine.add_breakpoints([one]) == {}

    return arm


def traced(rate: int) -> Callable[[Engine, int], Awaitable[Any]]:
    """Trace the function's calls."""

    async def arm(engine: Engine, base: int) -> None:
        assert (
            await engine.trace_functions(
                [TracedFunction(id=1, address=base, has_room=True)], rate=rate
            )
            == {}
        )

    return arm


def first_line(root: Path) -> tuple[float, float, float]:
    """Return MB of a large binary, and the seconds to a line of it, cold and from the cache."""
    path = root / "large"
    names = [f"large{number}.c" for number in range(_LARGE_FILES)]
    for name in names:
        prefix = name.removesuffix(".c")
        with (root / name).open("w", encoding="utf-8") as file:
            for number in range(_LARGE_FUNCTIONS):
                words = f"long {prefix}_{number}(long a) {{\n    long b = a * {number};\n"
                file.write(f"{words}    return b;\n}}\n")
    (root / "main.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    argv = [_tool("gcc"), "-O0", "-g", "-o", str(path), "main.c", *names]
    subprocess.run(argv, check=True, cwd=root)
    cache = root / "cache"
    cache.mkdir(mode=0o700)  # what others can read is not read from
    took = []
    for _ in range(2):
        began = time.perf_counter()
        image = BinaryImage(path, cache=cache)
        assert image.lines.find_line("large7.c", 4 * _LARGE_FUNCTIONS // 2 + 2).locations
        took.append(time.perf_counter() - began)
        image.close()
    return path.stat().st_size / 1e6, took[0], took[1]


async def main() -> None:
    """Measure everything once and print it."""
    with tempfile.TemporaryDirectory() as root:
        bench = Bench(Path(root))
        base = bench.alone(20_000_000)
        print(f"{'the line alone':44}{base:12.1f} ns")
        conditional = bench.gdb(3_000, "break {place} if $rdi == -1") - base
        printed = bench.gdb(3_000, 'dprintf {place},"%ld\\n",$rdi') - base
        slow = bench.lldb(300)
        print(f"{'gdb: conditional breakpoint, never true':44}{conditional:12.1f} ns")
        print(f"{'gdb: dprintf':44}{printed:12.1f} ns")
        if slow is not None:
            print(f"{'lldb: conditional breakpoint, never true':44}{slow - base:12.1f} ns")
        never = {"native": _NEVER_C, "log": "() => 1"}
        logged = {"log": _LOG, "record": _RECORD, "width": 1}
        cases = [
            (
                "condition, JS at int3",
                200_000,
                point(bench.short, condition=_NEVER_JS),
                conditional,
            ),
            (
                "condition, JS at a jump",
                300_000,
                point(bench.long, condition=_NEVER_JS),
                conditional,
            ),
            ("condition, C at int3", 1_000_000, point(bench.short, **never), conditional),
            ("condition, C at a jump", 5_000_000, point(bench.long, **never), conditional),
            ("count at a jump", 10_000_000, point(bench.long), conditional),
            ("logpoint, JS at a jump", 20_000, point(bench.long, log=_LOG), printed),
            ("logpoint, C at int3", 20_000, point(bench.short, **logged), printed),
            ("logpoint, C at a jump", 20_000, point(bench.long, **logged), printed),
            (
                "logpoint, C at a jump, as fast as it can",
                2_000_000,
                point(bench.long, **logged),
                printed,
            ),
            (
                "logpoint, 1000/s, at a jump",
                10_000_000,
                point(bench.long, log=_LOG, rate=1000),
                printed,
            ),
            ("a traced call and its return", 5_000_000, traced(0), conditional),
            ("a traced call, 10000/s", 5_000_000, traced(10_000), conditional),
        ]
        for name, rounds, arm, against in cases:
            ran = await bench.ours(rounds, arm)
            cost = ran.cost - base
            events = f"  {ran.told} told, {ran.lost} lost" if ran.told or ran.lost else ""
            print(f"{name:44}{cost:12.1f} ns{against / max(cost, 0.1):10.0f} x{events}")
        print(f"{'20 points added and removed':44}{await bench.armed(20):12.1f} ms")
        size, cold, cached = first_line(Path(root))
        print(f"{f'a line of {size:.0f} MB, cold':44}{cold * 1e3:12.1f} ms")
        print(f"{'the same, from the cache':44}{cached * 1e3:12.1f} ms")


if __name__ == "__main__":
    asyncio.run(main())
