"""How much longer does a program take because it is asked about?

    python bench/asking.py [--json]

`crash` beside the plain run of a program that crashes after some work (the aim: 1.5 s and a tenth
more), and the program's own time under `probe` at 10,000 hits of a line: in Python (three times at
most), and with Frida in a compiled one (1.2 times). What is compared is measured in turns.
"""

from __future__ import annotations

import json
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
PYTHON_TIMES, FRIDA_TIMES = 3.0, 1.2

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
# Each of the 10,000 hits stands for some work, as a line of a program does that is worth a look.
PYTHON_HITS = """
import sys
def step(number):
    total = sum(range(600))
    seen = total + number
    return seen
for number in range(10_000):
    step(number)
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
    return [sys.executable, str(folder / name)]


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
    daemon: Daemon, words: Sequence[str], place: str, way: Sequence[str], bound: float
) -> dict[str, float]:
    """Compare a program's own time at 10,000 hits with that of the plain run."""
    seen: list[float] = []

    def ask() -> None:
        said = daemon.run(
            "--json", "probe", *way, "--at", place, "seen", "--limit", str(HITS), "--", *words
        )
        told = json.loads(said)["data"]
        assert told["places"][0]["hits"] == HITS, said[:2000]
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
            hits = written(folder, "hits.py", PYTHON_HITS)
            found["probe, Python"] = probed(daemon, hits, "hits.py:5", (), PYTHON_TIMES)
            if shutil.which("gcc"):
                program = built(folder, "crash", C_CRASH)
                for name, count in (("short", "1000"), ("long", "400000000")):
                    found[f"crash, C, {name}"] = crashed(daemon, [program, count])
                counted = [built(folder, "hits", C_HITS)]
                frida = ("--by", "frida")
                found["probe, Frida"] = probed(daemon, counted, "hits.c:6", frida, FRIDA_TIMES)
        finally:
            daemon.run("daemon", "stop")
    if "--json" in sys.argv:
        print(json.dumps(found, indent=1))
        return
    for name, one in found.items():
        if "times" in one:
            told = f"{one['times']:.2f} times {one['plain_s']:.2f} s (at most {one['bound']:.1f})"
        else:
            bound = f"at most {one['bound_s']:.2f} s"
            told = f"{one['asked_s']:.2f} s, plain {one['plain_s']:.2f} s ({bound})"
        print(f"{name:22} {told}")


if __name__ == "__main__":
    main()
