"""The end of a program, and the moment at which it hangs, are locations like its crash."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text

Cli = Callable[..., Any]
CRASHES_PY = """\
import sys
def share(total, parts):
    count = len(parts)
    return total // count
for size in range(3, int(sys.argv[1]), -1):
    share(10, [1] * size)
"""
HANGS_PY = """\
import threading
lock = threading.Lock()
def work(jobs):
    left = [one for one in jobs if one > 1]
    lock.acquire()
    lock.acquire()
work([1, 2, 3])
"""
HANGS_C = """\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    int jobs = 4;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    return jobs;
}
"""
HANGS_JS = """\
let jobs = 3;
async function wait() {
    jobs += 1;
    await new Promise(() => setInterval(() => {}, 1000));
}
wait();
"""
HANGS_GO = """\
package main

func spin(limit int) {
\tn := 0
\tfor n < limit {
\t\tn = n * 0
\t}
}

func main() {
\tspin(7)
}
"""
MODULE = """\
import fs from 'node:fs';
let total = 5;
total += fs.existsSync('/') ? 1 : 0;
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ends")
    texts = {f"ends.{one}": program_text(f"ends/ends.{one}") for one in ("c", "py", "js", "go")}
    texts |= {"ends.mjs": MODULE, "crashes.py": CRASHES_PY}
    texts |= {"hangs.py": HANGS_PY, "hangs.c": HANGS_C, "hangs.js": HANGS_JS, "hangs.go": HANGS_GO}
    for name, text in texts.items():
        (made / name).write_text(text)
    for name in ("ends", "hangs"):
        words = ["gcc", "-g", "-O0", "-w", "-pthread", "-o", str(made / name), f"{made / name}.c"]
        subprocess.run(words, check=True, timeout=60)
    return made


def values_at(cli: Cli, folder: Path, event: str, words: list[str]) -> tuple[list[str], str]:
    """Return the values at an event, and where it is."""
    own, _, command = " ".join(words).partition(" -- ")
    words = ["probe", "--json", "--at", event, *own.split(" "), "--", *command.split(" ")]
    data = cli(*words, cwd=folder, check=0, timeout=90).data["data"]
    (row,) = data["rows"]
    place = data["places"][0]
    return row["values"], f"{Path(place['file'] or '').name}:{place['line']}"


LLDB = pytest.mark.adapter("lldb-dap")
NODE = pytest.mark.adapter("js-debug")
GO = pytest.mark.adapter("delve")


@pytest.mark.parametrize(
    ("words", "values", "place"),
    [
        pytest.param(["total,late,n", "--adapter", "lldb-dap", "--", "./ends"], ["10", "7", "5"],
                     "ends.c:17", marks=LLDB, id="main of C returns: then a handler runs"),
        pytest.param(["total,late,why", "--adapter", "lldb-dap", "--", "./ends", "1"],
                     ["10", "7", "6"], "ends.c:8", marks=LLDB, id="a function of C calls exit"),
        pytest.param(["total", "--", sys.executable, "ends.py"], ["11"], ":None",
                     id="the script of Python ends"),
        pytest.param(["total,why", "--", sys.executable, "ends.py", "1"], ["10", "6"], "ends.py:9",
                     id="a function of Python calls sys.exit"),
        pytest.param(["total", "--", "node", "ends.js"], ["111"], ":None", marks=NODE,
                     id="the script of Node ends, behind its timers and listeners"),
        pytest.param(["total,why", "--", "node", "ends.js", "1"], ["110", "6"], "ends.js:4",
                     marks=NODE, id="a function of Node calls process.exit"),
        pytest.param(["total", "--", "node", "ends.mjs"], ["6"], ":None", marks=NODE,
                     id="an ES module ends"),
        pytest.param(["total,n", "--", "go", "run", "ends.go"], ["10", "5"], "ends.go:27", marks=GO,
                     id="main of Go returns early"),
        pytest.param(["total,why", "--", "go", "run", "ends.go", "1"], ["10", "6"], "ends.go:13",
                     marks=GO, id="a function of Go calls os.Exit"),
    ],
)  # fmt: skip
def test_values_at_the_end_are_the_last_ones(
    cli: Cli, folder: Path, words: list[str], values: list[str], place: str
) -> None:
    assert values_at(cli, folder, "exit", words) == (values, place)
    assert cli("sessions", check=0).out == "no sessions\n"


@pytest.mark.parametrize(
    ("words", "values", "place"),
    [
        pytest.param(["jobs,left", "--", sys.executable, "hangs.py"], ["[1, 2, 3]", "[2, 3]"],
                     "hangs.py:6", marks=pytest.mark.adapter("debugpy"), id="Python"),
        pytest.param(["jobs", "--adapter", "lldb-dap", "--", "./hangs"], ["4"], "hangs.c:6",
                     marks=LLDB, id="C"),
        pytest.param(["jobs", "--", "node", "hangs.js"], ["4"], "hangs.js:4", marks=NODE,
                     id="Node"),
        pytest.param(["n,limit", "--", "go", "run", "hangs.go"], ["0", "7"], "hangs.go:5", marks=GO,
                     id="Go"),
    ],
)  # fmt: skip
def test_values_at_the_hang_are_those_of_the_frame_that_it_is_about(
    cli: Cli, folder: Path, words: list[str], values: list[str], place: str
) -> None:
    words = [*words[:1], "--timeout", "1", *words[1:]]
    found, at = values_at(cli, folder, "hang", words)
    assert found == values
    assert at in {place, "hangs.go:6"}  # the loop's head, or the line that it was in


@LLDB
def test_an_event_that_does_not_come_is_reported(cli: Cli, folder: Path) -> None:
    ends = cli("probe", "--at", "hang", "total", "--timeout", "60", "--", "./ends", cwd=folder)
    assert "--at hang: no hang: it ended with status 0" in ends.err
    ends = cli("holds", "total > 3", "--at", "exit", "--", "./ends", cwd=folder)
    assert "debugger probe --at exit EXPR -- ./ends (shows values there)" in ends.err
    hangs = cli("probe", "--at", "exit", "1", "--timeout", "1", "--", "./hangs", cwd=folder)
    assert "--at exit: the program did not end in time" in hangs.err


def test_who_wrote_and_why_take_the_call_that_ends_the_program(cli: Cli, folder: Path) -> None:
    words = ["total", "--at", "exit", "--", sys.executable, "ends.py"]
    wrote = cli("who-wrote", *words, "1", cwd=folder, check=0)
    assert "total=10 at ends.py:9 was last written: 6 → 10, in add ends.py:6" in wrote.out
    found = cli("why", *words, "1", cwd=folder, check=0)
    assert "note: --at exit is the last hit of ends.py:9" in found.out
    itself = cli("why", *words, cwd=folder)
    assert "the script ended by itself, and no line is the last" in itself.err
    hang = cli("why", "total", "--at", "hang", "--", sys.executable, "ends.py", cwd=folder)
    assert "ends.py (shows values there)" in hang.err


@pytest.mark.adapter("debugpy")
def test_a_comparison_and_an_invariant_take_the_crash(cli: Cli, folder: Path) -> None:
    crashing = [sys.executable, "crashes.py", "-2"]
    other = [sys.executable, "crashes.py", "0"]
    words = ["diff", "--at", "crash", "count", "--", *crashing, "--vs", *other]
    one_sided = cli(*words, cwd=folder, check=0).out
    assert "only A has hit 4 of crashes.py:4: count 0" in one_sided
    assert "only A comes to --at crash, at crashes.py:4" in one_sided
    both = cli(*words[:-1], "-1", cwd=folder, check=0).out
    assert "the same values at all 1 hit of both runs" in both
    holds = cli("holds", "count > 0", "--at", "crash", "--", *crashing, cwd=folder, check=0).out
    assert "true 3 times, first false at crashes.py:4 #4 in share" in holds
    assert "made false by crashes.py:3 count = len(parts)" in holds


@LLDB
def test_a_comparison_takes_the_end_of_a_program(cli: Cli, folder: Path) -> None:
    words = ["probe", "--at", "exit", "total", "--", "./ends", "--vs", "./ends", "1"]
    same = cli(*words, cwd=folder, check=0).out
    assert "A: at its end: main returned" in same
    assert "B: at its end: a call of exit" in same
