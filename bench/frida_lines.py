"""What does the first breakpoint by line of a large program take, and what do 100 steps?

    python bench/frida_lines.py

The engine inside the program and gdb, by the command line, in turns; the daemon runs already. Then
the pieces of ours: the line looked for, cold and from the cache.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from debugger.symbols.dwarf.binary_image import BinaryImage

UNITS, TYPES, TIMES = 9, 20, 3
PROGRAMS = Path(__file__).parent.parent / ".cache" / "bench"

UNIT = """#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace part@U@ {
template <int N> struct Number {
  long value;
  bool operator<(const Number &other) const { return value < other.value; }
};
template <int N> long with(long seed) {
  std::vector<Number<N>> items;
  std::map<std::string, Number<N>> named;
  items.push_back({seed});
  named["k" + std::to_string(N)] = items[0];
  std::sort(items.begin(), items.end());
  return std::make_shared<Number<N>>(items.back())->value + N;
}
}
long unit@U@(long seed) {
  long total = seed;
@CALLS@
  return total; // @last
}
"""
STEPS = """int main(void) {
  volatile long sum = 0;
  for (int i = 0; i < 1000; i++) {
    sum += i;
    sum ^= 1;
  }
  return (int) sum & 1;
}
"""


def _tool(name: str) -> str:
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed"
    return found


def unit(number: int) -> str:
    """Return the source of one unit."""
    calls = "\n".join(f"  total += part{number}::with<{one}>(seed & 7);" for one in range(TYPES))
    return UNIT.replace("@U@", str(number)).replace("@CALLS@", calls)


def large() -> Path:
    """Build the large program, once."""
    path = PROGRAMS / f"large-{UNITS}-{TYPES}"
    if path.exists():
        return path
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    root = PROGRAMS / f"sources-{UNITS}-{TYPES}"
    root.mkdir(exist_ok=True)
    for number in range(UNITS):
        (root / f"unit{number}.cpp").write_text(unit(number), encoding="utf-8")
    declared = "".join(f"long unit{number}(long);\n" for number in range(UNITS))
    called = " + ".join(f"unit{number}(1)" for number in range(UNITS))
    main = f"{declared}int main() {{ return ({called}) == 0; }}\n"
    (root / "main.cpp").write_text(main, encoding="utf-8")
    sources = sorted(root.glob("*.cpp"))

    def compile_one(source: Path) -> str:
        target = str(source.with_suffix(".o"))
        subprocess.run([_tool("g++"), "-g", "-O0", "-c", str(source), "-o", target], check=True)
        return target

    with ThreadPoolExecutor(os.cpu_count()) as workers:
        objects = list(workers.map(compile_one, sources))
    partial = path.with_suffix(".partial")
    subprocess.run([_tool("g++"), *objects, "-o", str(partial)], check=True)
    partial.replace(path)
    return path


class Shell:
    """The command line, with a daemon and a cache of its own."""

    def __init__(self, root: Path) -> None:
        self.cache = root / "cache"
        self._env = os.environ | {
            "DEBUGGER_RUNTIME_DIR": str(root / "run"),
            "DEBUGGER_CONFIG": str(root / "config.toml"),
            "XDG_CACHE_HOME": str(self.cache),
        }

    def __call__(self, *argv: str) -> float:
        """Run one command; return the milliseconds that it took."""
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "debugger", *argv],
            env=self._env,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=60,
        )
        return (time.perf_counter() - began) * 1e3


WAYS = {"frida": ("--backend", "frida"), "gdb": ("--adapter", "gdb")}


def starts(shell: Shell, place: Sequence[str]) -> dict[str, list[float]]:
    """Start with a breakpoint, in turns; the first time of ours is without a cache."""
    took: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(TIMES + 1):
        for name, way in WAYS.items():
            took[name].append(shell("start", place[0], *way, "--break", place[1]))
            shell("stop")
    return took


def steps(shell: Shell, root: Path) -> dict[str, list[float]]:
    """Do 100 steps in a loop, in turns."""
    source, path = root / "steps.c", root / "steps"
    source.write_text(STEPS, encoding="utf-8")
    subprocess.run([_tool("gcc"), "-g", "-O0", str(source), "-o", str(path)], check=True)
    took: dict[str, list[float]] = {name: [] for name in WAYS}
    for name, way in WAYS.items():
        shell("start", str(path), *way, "--break", "steps.c:2")
        for _ in range(TIMES):
            took[name].append(shell("next", "100"))
        shell("stop")
    return took


def lines(path: Path, root: Path, line: int) -> list[float]:
    """Look a line up, cold and from the cache; return the milliseconds."""
    cache = root / "lines"
    cache.mkdir(mode=0o700)
    took = []
    for _ in range(TIMES + 1):
        began = time.perf_counter()
        image = BinaryImage(path, cache=cache)
        found = image.lines.find_line("unit7.cpp", line).locations
        assert image.lines.line_at(found[0].address)
        took.append((time.perf_counter() - began) * 1e3)
        image.close()
    return took


def main() -> None:
    """Measure everything once and print it."""
    path = large()
    line = unit(7).splitlines().index("  return total; // @last") + 1
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shell = Shell(root)
        print(f"load {os.getloadavg()[0]:.1f}; {path.stat().st_size / 1e6:.0f} MB; medians, ms")
        cold, *rest = lines(path, root, line)
        cached = statistics.median(rest)
        print(f"{'line to address and back':32}{cold:8.0f} cold{cached:8.0f} cached")
        try:
            shell("sessions")
            took = starts(shell, (str(path), f"unit7.cpp:{line}"))
            stepped = steps(shell, root)
        finally:
            shell("daemon", "stop")
        for name, times in took.items():
            then = statistics.median(times[1:])
            print(f"{f'start --break, {name}':32}{times[0]:8.0f} first{then:7.0f} then")
        for name, times in stepped.items():
            print(f"{f'next 100, {name}':32}{statistics.median(times):8.0f}")


if __name__ == "__main__":
    main()
