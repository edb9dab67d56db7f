"""Measures how much longer a program takes because it is asked about, with the aims.

    python bench/asking.py [--json]

What is compared is measured in turns, in one run.

- `crash` beside the plain run of a program that crashes after some work: 1.5 s and a tenth more.
- The program's own time under `probe`, over the plain run, for a program of 2 to 3 s that passes
  the line 10 or 10,000 times: 1.5 times in Python, 1.2 times with Frida in a compiled one.
  `Python, calls` computes by functions of its own. Before Python 3.12 the interpreter calls a
  tracer at each of their calls and looks at it at each of their instructions; `floor` is the same
  program under a tracer in C that does nothing, which no recorder that traces can be below. From
  3.12 on, `sys.monitoring` tells of the probed function only. `PYTHON=PATH` chooses another Python.
- `test` beside the plain run of a suite of 2,000 tests with one that fails: the plain run, three
  times the failing test, and 2 s.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from run import Daemon, turns

TIMES = 3
HITS = 10_000  # as the programs below have it
CRASH_S, CRASH_PART = 1.5, 0.1
PYTHON_TIMES, FRIDA_TIMES = 1.5, 1.2
TEST_S, TEST_TIMES = 2.0, 3
TEST_FILES, TESTS_EACH = 20, 100
PYTHON = os.environ.get("PYTHON", sys.executable)

PYTHON_CRASH = """
import sys
total = 0
for number in range(int(sys.argv[1])):
    total += number % 7
print([total][total])
"""
C_CRASH = """
#include <stdlib.h>
int main(int count, char **words) {
  volatile long total = 0;
  for (long at = 0, end = atol(words[1]); at < end; at++) total += at % 7;
  return *(int *)(total - total);
}
"""
# The work is done in C here, and by functions of the program's own below.
PYTHON_HITS = """
import sys
def work():
    return sum(range(15_000))
def step(number):
    total = work()
    seen = total + number
    return seen
every = 10_000 // int(sys.argv[1])
for number in range(10_000):
    step(number) if number % every == 0 else work()
"""
PYTHON_CALLS = """
import sys
def term(number):
    total = 0
    for at in range(30):
        total += at * number % 7
    return total
def work():
    return sum(term(number) for number in range(100))
def step(number):
    total = work()
    seen = total + number
    return seen
every = 10_000 // int(sys.argv[1])
for number in range(10_000):
    step(number) if number % every == 0 else work()
"""
TRACED = """
import runpy, sys
sys.argv = sys.argv[1:]
sys.settrace(getattr)  # of a call it finds that the frame has no attribute `call`, and says None
runpy.run_path(sys.argv[0], run_name="__main__")
"""
TESTS = """
import pytest
def work(number):
    return sum(at * number % 7 for at in range(500))
@pytest.mark.parametrize("number", range({count}))
def test_work(number):
    found = work(number)
    assert found == work(number)
"""
FAILING_TEST = """
def weigh(number):
    return sum(at * number % 7 for at in range(1_000_000))
def test_weight():
    weight = weigh(3)
    assert weight == 1
"""
C_HITS = """
#include <stdio.h>
static long step(long number) {
  volatile long total = 0;
  for (long at = 0; at < 60000; at++) total += at % 7;
  long seen = total + number;
  return seen;
}
int main(void) {
  long sum = 0;
  for (long number = 0; number < 10000; number++) sum += step(number);
  printf("%ld\\n", sum);
  return 0;
}
"""


def built(folder: Path, name: str, text: str) -> str:
    """Compile a program."""
    (folder / f"{name}.c").write_text(text, encoding="ascii")
    words = ["gcc", "-g", "-O0", "-o", str(folder / name), str(folder / f"{name}.c")]
    subprocess.run(words, check=True)
    return str(folder / name)


def written(folder: Path, name: str, text: str) -> list[str]:
    """Write a script, and return the command that runs it."""
    (folder / name).write_text(text, encoding="ascii")
    return [PYTHON, str(folder / name)]


def plain(words: Sequence[str]) -> Callable[[], object]:
    """Return what runs a command without us."""
    return lambda: subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def crashed(daemon: Daemon, words: Sequence[str]) -> dict[str, float]:
    """Compare a crash that is asked about with a plain one."""

    def ask() -> None:
        said = daemon.run("crash", "--", *words)
        assert said.startswith("crash: "), said

    bare, ours = (each / 1000 for each in turns(TIMES, plain(words), ask))
    return {"plain_s": bare, "asked_s": ours, "bound_s": bare * (1 + CRASH_PART) + CRASH_S}


def probed(
    daemon: Daemon,
    words: Sequence[str],
    place: str,
    way: Sequence[str],
    *,
    bound: float,
    hits: int = HITS,
) -> dict[str, float]:
    """Compare a program's own time at so many hits with that of the plain run."""
    seen: list[float] = []

    def ask() -> None:
        said = daemon.run("--json", "probe", *way, "--at", place, "seen", "--", *words)
        told = json.loads(said)["data"]
        assert told["places"][0]["hits"] == hits, said[:2000]
        seen.append(told["took_s"])

    bare, all_of_it = (each / 1000 for each in turns(TIMES, plain(words), ask))
    ran = sorted(seen)[len(seen) // 2]
    return {
        "plain_s": bare,
        "ran_s": ran,
        "times": ran / bare,
        "asked_s": all_of_it,
        "bound": bound,
    }


def traced_floor(folder: Path, words: Sequence[str]) -> dict[str, float]:
    """Compare a program under a tracer in C that does nothing with the plain run."""
    tracer = written(folder, "traced.py", TRACED)
    bare, traced = (
        each / 1000 for each in turns(TIMES, plain(words), plain([*tracer, *words[1:]]))
    )
    return {"plain_s": bare, "ran_s": traced, "times": traced / bare, "bound": 0.0}


def tested(daemon: Daemon, folder: Path) -> dict[str, float]:
    """Compare a suite with a test that fails, asked about, with its plain run."""
    suite = folder / "suite"
    suite.mkdir()
    for number in range(TEST_FILES):
        text = TESTS.format(count=TESTS_EACH)
        (suite / f"test_{number:02}.py").write_text(text, encoding="ascii")
    (suite / "test_weight.py").write_text(FAILING_TEST, encoding="ascii")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(suite)]
    alone = [sys.executable, "-c", FAILING_TEST + "test_weight()"]
    nothing = [sys.executable, "-c", "pass"]

    def ask() -> None:
        said = daemon.run("test", "--", *words)
        assert "test_weight" in said, said

    bare, ours, failing, least = (
        each / 1000 for each in turns(TIMES, plain(words), ask, plain(alone), plain(nothing))
    )
    bound = bare + TEST_TIMES * (failing - least) + TEST_S
    return {"plain_s": bare, "asked_s": ours, "bound_s": bound}


def measure_python(daemon: Daemon, folder: Path) -> dict[str, dict[str, float]]:
    """Measure the probes of Python, and a suite of tests."""
    found = {}
    for name, text, line in (("work", PYTHON_HITS, 7), ("calls", PYTHON_CALLS, 12)):
        program = written(folder, f"{name}.py", text)
        for hits in (10, HITS):
            words = [*program, str(hits)]
            place = f"{name}.py:{line}"
            found[f"probe, Python, {name}, {hits:,}"] = probed(
                daemon, words, place, (), bound=PYTHON_TIMES, hits=hits
            )
        found[f"floor, Python, {name}"] = traced_floor(folder, [*program, str(HITS)])
    found["test, pytest"] = tested(daemon, folder)
    return found


def main() -> None:
    """Measure, and print."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as private:
        folder = Path(private)
        daemon = Daemon(folder)
        try:
            crash = written(folder, "crash.py", PYTHON_CRASH)
            for name, count in (("short", "1000"), ("long", "10000000")):
                found[f"crash, Python, {name}"] = crashed(daemon, [*crash, count])
            found |= measure_python(daemon, folder)
            if shutil.which("gcc"):
                program = built(folder, "crash", C_CRASH)
                for name, count in (("short", "1000"), ("long", "400000000")):
                    found[f"crash, C, {name}"] = crashed(daemon, [program, count])
                counted = [built(folder, "hits", C_HITS)]
                frida = ("--by", "frida")
                found["probe, Frida"] = probed(
                    daemon, counted, "hits.c:6", frida, bound=FRIDA_TIMES
                )
        finally:
            daemon.run("daemon", "stop")
    if "--json" in sys.argv:
        print(json.dumps(found, indent=1))
        return
    for name, one in found.items():
        if "times" in one:
            told = f"{one['times']:.2f} times {one['plain_s']:.2f} s"
            told += f" (at most {one['bound']:.1f})" if one["bound"] else ""
        else:
            bound = f"at most {one['bound_s']:.2f} s"
            told = f"{one['asked_s']:.2f} s, plain {one['plain_s']:.2f} s ({bound})"
        print(f"{name:28} {told}")


if __name__ == "__main__":
    main()
