"""What does a hit cost inside the program, against gdb on the same line? `python bench/inside.py`.

The program times its own loop, so only what a hit adds is measured; all of one run is compared.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from debugger.backends.frida.engine.displaced import decode
from debugger.backends.frida.engine.engine import Engine, Place
from debugger.backends.frida.engine.events import Breakpoint, Exited, Function

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


def _tool(name: str) -> str:
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed"
    return found


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
            one = decode(code[at:], at)
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
        told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
        return float(
            next(line for line in told.splitlines() if line.count(".") == 1 and line[0].isdigit())
        )

    async def ours(self, rounds: int, arm: Callable[[Engine, int], Awaitable[Any]]) -> float:
        """Return the nanoseconds of a round with the engine inside."""
        self._runs += 1
        scratch = self._root / f"scratch{self._runs}"
        scratch.mkdir()
        out = self._root / f"out{self._runs}"
        out.touch()
        ended = asyncio.Event()

        def take(event: object) -> None:
            if isinstance(event, Exited):
                ended.set()

        async with asyncio.timeout(_WAIT_S), asyncio.TaskGroup() as tasks:
            engine = await Engine.start(
                [self.path, str(rounds)],
                place=Place(cwd=str(self._root), env=dict(os.environ), scratch=scratch),
                stdio=(None, str(out), None),
                tasks=tasks,
                sink=take,
            )
            modules = await engine.modules()
            base = next(one.base for one in modules if one.path == self.path)
            await arm(engine, base + self.offset)
            await engine.run()
            await ended.wait()
            await engine.end()
        return float(out.read_text(encoding="utf-8"))


def point(at: int, **what: Any) -> Callable[[Engine, int], Awaitable[Any]]:
    """Arm one point at an offset of the function."""

    async def arm(engine: Engine, base: int) -> None:
        one = Breakpoint(id="b", address=base + at, pauses=False, **what)
        assert await engine.add([one]) == {}

    return arm


async def traced(engine: Engine, base: int) -> None:
    """Trace the function's calls."""
    await engine.trace([Function(id=1, address=base)])


async def main() -> None:
    """Measure everything once and print it."""
    with tempfile.TemporaryDirectory() as root:
        bench = Bench(Path(root))
        base = bench.alone(20_000_000)
        print(f"{'the line alone':44}{base:12.1f} ns")
        conditional = bench.gdb(3_000, "break {place} if $rdi == -1") - base
        printed = bench.gdb(3_000, 'dprintf {place},"%ld\\n",$rdi') - base
        cases = [
            (
                "condition, JavaScript at int3",
                200_000,
                point(bench.short, condition=_NEVER_JS),
                conditional,
            ),
            (
                "condition, JavaScript at a jump",
                300_000,
                point(bench.long, condition=_NEVER_JS),
                conditional,
            ),
            (
                "condition, C at int3",
                1_000_000,
                point(bench.short, native=_NEVER_C, log="() => 1"),
                conditional,
            ),
            (
                "condition, C at a jump",
                5_000_000,
                point(bench.long, native=_NEVER_C, log="() => 1"),
                conditional,
            ),
            ("count at a jump", 10_000_000, point(bench.long), conditional),
            ("logpoint at a jump", 200_000, point(bench.long, log=_LOG), printed),
            (
                "logpoint of 1000 a second at a jump",
                10_000_000,
                point(bench.long, log=_LOG, rate=1000),
                printed,
            ),
            ("a traced call and its return", 500_000, traced, conditional),
        ]
        print(f"{'gdb: conditional breakpoint, never true':44}{conditional:12.1f} ns")
        print(f"{'gdb: dprintf':44}{printed:12.1f} ns")
        for name, rounds, arm, against in cases:
            cost = await bench.ours(rounds, arm) - base
            print(f"{name:44}{cost:12.1f} ns{against / max(cost, 0.1):10.0f} x")


if __name__ == "__main__":
    asyncio.run(main())
