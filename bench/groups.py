"""What does a group cost, in time and characters, by the number of its members?

    python bench/groups.py [--json] [COUNT...]

For each count (8, 64 and 128 without any), real Python processes that multiprocessing forks and
that wait at a barrier, all but one: the time until all are members, a merged backtrace and its
characters, `hang --group`, the time of `pause` where they run Python code, and until the last of
them had stopped, the time of `stop`, and the daemon's memory per member. For 1,000 members whose
debug adapter `fake_ranks.py` plays, each over a connection of its own: the same, and `print`.
For a group of one: the daemon's processor
time for `print` and `backtrace` over the same in a plain session, measured in turns. For 32
compiled processes that `debugger member` takes, by each adapter: the same, and the memory of their
debuggers per member. The machine's load is that at the end of a row.

What `pause` stops computes without an end up to 8 processes for each processor (`load: full`).
More would measure how the machine shares its processors: they sleep 50 ms in each turn of their
loop (`load: light`). What has not come in time is a row of its own, with the states then; the other
rows follow, and the status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import fake_ranks
from run import ANSWER_S, Daemon, once, turns

COUNTS = (8, 64, 128)
FAKES, FAKES_S = 1000, 120.0  # members that are played, and seconds until all must be there
FAKE_ADAPTER = """[adapters.fake-ranks]
command = ["{python}", "{file}", "{{port}}"]
transport = "tcp"
connect = "127.0.0.1:{{port}}"
extensions = [".ranks"]
languages = ["ranks"]
launch = {{ program = "{{program}}", args = "{{args}}" }}
"""
BEGIN_S = 60.0  # seconds until all must be members
FULL_LEAST = 8  # processes that compute, for each processor
ONE_TURNS, ONE_ASKS = 20, 30
RANKS = """import multiprocessing as mp, sys, time
def work(rank, barrier, go, load):
    if rank == 2:
        go.get()
    while load == "full":
        rank += 1
    while load == "light":
        time.sleep(0.05)
    barrier.wait()
if __name__ == "__main__":
    context, count = mp.get_context("fork"), int(sys.argv[1])
    barrier, go = context.Barrier(count), context.Queue()
    given = (barrier, go, sys.argv[2])
    members = [context.Process(target=work, args=(rank, *given)) for rank in range(count)]
    for one in members:
        one.start()
    for one in members:
        one.join()
"""
NATIVE, NATIVE_ADAPTERS = 32, ("lldb-dap", "gdb")
NATIVE_RANK = """#include <stdlib.h>
#include <unistd.h>
static void wait_for_data(void) {
    int ends[2];
    char read_to;
    if (!pipe(ends)) read(ends[0], &read_to, 1);
}
static void wait_for_signal(void) { pause(); }
int main(void) {
    if (atoi(getenv("RANK")) == 2) wait_for_data(); else wait_for_signal();
    return 0;
}
"""
NATIVE_JOB = """i=0
while [ $i -lt %d ]; do
    RANK=$i %s -m debugger member --group native --adapter %s -- ./rank &
    i=$((i + 1))
done
wait
"""
ONE = "def work(n):\n    return n\nwork(1)\nwork(2)\n"


class NotMeasured(Exception):
    """Something has not come in time; what there was."""


def start_members(daemon: Daemon, program: str, count: int, load: str) -> float:
    """Start ranks; return the seconds until all are members and have their names.

    Raises:
        NotMeasured: Some are not there in time.
    """
    begun = time.perf_counter()
    daemon.run("start", "--group", program, "--no-wait", "--", str(count), load)
    expected = f"{count + 1} running (main,1-{count})"
    while expected not in (found := daemon.run("backtrace", "--by", "state")):
        if time.perf_counter() > begun + BEGIN_S:
            states = found.partition("\n")[0]
            raise NotMeasured(f"not all there after {BEGIN_S:g} s (load: {load}): {states}")
    return time.perf_counter() - begun


def measure_members(folder: Path, count: int) -> dict[str, Any]:
    """Measure a group of so many real processes."""
    with Daemon(folder) as daemon:
        before = daemon.memory_mb()
        program = str(folder / "ranks.py")
        begun_s = start_members(daemon, program, count, "none")
        found: dict[str, Any] = {
            "members": count + 1,
            "all there, s": round(begun_s, 1),
            "mb a member": round((daemon.memory_mb() - before) / (count + 1), 2),
        }
        found["backtrace, ms"] = round(turns(5, lambda: daemon.ask("backtrace"))[0])
        found["characters"] = len(daemon.run("backtrace"))
        found["hang, ms"] = round(once(lambda: daemon.ask("hang", "--group")))
        found["cause"] = daemon.run("hang", "--group").splitlines()[0]
        found["stop, ms"] = round(once(lambda: daemon.run("stop")))
        is_full = count <= FULL_LEAST * len(os.sched_getaffinity(0))
        found["load"] = "full" if is_full else "light"
        start_members(daemon, program, count, found["load"])
        found |= measure_pause(daemon)
        return found


def measure_pause(daemon: Daemon, *words: str) -> dict[str, Any]:
    """Stop the members that run; an event's time is that of the monotonic clock."""
    begun = time.monotonic_ns()
    found: dict[str, Any] = {"pause, ms": round(once(lambda: daemon.run("pause", *words)))}
    last = json.loads(daemon.run("--json", "events", "--kind", "stop", "--limit", "1", *words))
    found["last stop, ms"] = round((last["data"]["events"][0]["time_ns"] - begun) / 1e6)
    stopped = re.search(r"([\d,]+) stopped", daemon.run("status", *words))
    found["stopped by pause"] = int(stopped[1].replace(",", "")) if stopped is not None else 0
    return found


def measure_native(folder: Path, adapter: str) -> dict[str, Any]:
    """Measure compiled members, each of which has a debugger of its own."""
    build = [shutil.which("cc") or "cc", "-g", "-o", "rank", "rank.c"]
    subprocess.run(build, cwd=folder, check=True)
    job = ["/bin/sh", "-c", NATIVE_JOB % (NATIVE, sys.executable, adapter)]
    with Daemon(folder) as daemon:
        launcher = subprocess.Popen(job, env=daemon.env, cwd=folder, start_new_session=True)
        try:
            row = measure_job(daemon, launcher)
        finally:
            # What has not ended by `stop` is ours to end: its debuggers are only attached to it.
            with suppress(ProcessLookupError):
                os.killpg(launcher.pid, signal.SIGKILL)
        return {"members": NATIVE, "adapter": adapter, **row}


def measure_job(daemon: Daemon, launcher: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Measure the members that a launcher starts, and end them.

    Raises:
        NotMeasured: Some are not there in time.
    """
    before, begun = daemon.memory_mb(), time.perf_counter()
    group, all_members = ("--group", "native"), ("--kill", "--members", "all")
    expected = f"{NATIVE} members: {NATIVE} running"
    while expected not in (found := daemon.run("backtrace", "--by", "state", *group)):
        if time.perf_counter() > begun + BEGIN_S:
            states = found.partition("\n")[0]
            raise NotMeasured(f"not all there after {BEGIN_S:g} s: {states}")
    row: dict[str, Any] = {
        "all there, s": round(time.perf_counter() - begun, 1),
        "mb a member": round((daemon.memory_mb() - before) / NATIVE, 2),
        "mb a debugger": round(children_mb(daemon.pid()) / NATIVE, 1),
        "hang, ms": round(once(lambda: daemon.run("hang", *group))),
        "cause": daemon.run("hang", *group).splitlines()[0],
        **measure_pause(daemon, *group),
        "backtrace, ms": round(turns(5, lambda: daemon.ask("backtrace", *group))[0]),
        "characters": len(daemon.run("backtrace", *group)),
        "stop, ms": round(once(lambda: daemon.run("stop", *all_members, *group))),
    }
    launcher.wait(ANSWER_S)
    return row


def children_mb(pid: int) -> float:
    """Return the memory of all processes below one; what several share counts once."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    total = 0.0
    for one in map(int, children):
        rollup = Path(f"/proc/{one}/smaps_rollup").read_text()
        pss = next(line for line in rollup.splitlines() if line.startswith("Pss:"))
        total += int(pss.split()[1]) / 1024 + children_mb(one)
    return total


def measure_fakes(folder: Path) -> dict[str, Any]:
    """Measure members that one process plays, each over a connection of its own."""
    config = FAKE_ADAPTER.format(python=sys.executable, file=Path(fake_ranks.__file__).as_posix())
    (folder / "fakes.toml").write_text(config)
    (folder / "train.ranks").write_text(fake_ranks.SOURCE)
    with Daemon(folder, config="fakes.toml") as daemon:
        before, begun = daemon.memory_mb(), time.perf_counter()
        daemon.run("start", "--group", "train.ranks", "--no-wait", "--", str(FAKES - 1))
        expected = f"{FAKES:,} running (main,0-{FAKES - 2})"
        while expected not in (found := daemon.run("backtrace", "--by", "state")):
            if time.perf_counter() > begun + FAKES_S:
                raise NotMeasured(
                    f"not all there after {FAKES_S:g} s: {found.partition(chr(10))[0]}"
                )
        row: dict[str, Any] = {"all there, s": round(time.perf_counter() - begun, 1)}
        row |= measure_pause(daemon)
        row["backtrace, ms"] = round(turns(5, lambda: daemon.ask("backtrace"))[0])
        row["characters"] = len(daemon.run("backtrace"))
        row["print, ms"] = round(turns(3, lambda: daemon.ask("print", "step"))[0])
        row["values"] = daemon.run("print", "step").strip()
        row["daemon, mb"] = round(daemon.memory_mb(), 1)
        row["mb a member"] = round((daemon.memory_mb() - before) / FAKES, 3)
        row["stop, ms"] = round(once(lambda: daemon.run("stop")))
        return {"members": FAKES, "adapter": "fake-ranks", **row}


def daemon_seconds(pid: int) -> float:
    """Return the processor time of the daemon's main thread, which other programs do not change."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def measure_one(folder: Path) -> dict[str, Any]:
    """Compare a group of one with a plain session."""
    with Daemon(folder) as daemon:
        program = str(folder / "one.py")
        daemon.run("--session", "plain", "start", program, "--break", "one.py:2")
        daemon.run("--session", "group", "start", "--group", program, "--break", "one.py:2")
        pid = daemon.pid()
        found = {}
        for words in (("print", "n"), ("backtrace",)):
            used = dict.fromkeys(("plain", "group"), 0.0)
            for _ in range(ONE_TURNS):
                for session in used:
                    before = daemon_seconds(pid)
                    for _ in range(ONE_ASKS):
                        daemon.ask("--session", session, *words)
                    used[session] += daemon_seconds(pid) - before
            plain, grouped = used.values()
            found[f"{words[0]}, % more"] = round((grouped / plain - 1) * 100, 1)
        return found


def main() -> int:
    """Measure all, and print a line for each."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("counts", type=int, nargs="*", metavar="COUNT", default=COUNTS)
    options.add_argument("--json", action="store_true", help="a row is an object")
    given = options.parse_args()
    status = 0
    # What cannot be removed is said below, in place of an error that hides the one before it.
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "ranks.py").write_text(RANKS)
        (folder / "one.py").write_text(ONE)
        (folder / "rank.c").write_text(NATIVE_RANK)
        measures: list[tuple[dict[str, Any], Callable[[], dict[str, Any]]]] = [
            ({"members": 1}, partial(measure_one, folder)),
            ({"members": FAKES, "adapter": "fake-ranks"}, partial(measure_fakes, folder)),
            *(
                ({"members": one + 1}, partial(measure_members, folder, one))
                for one in given.counts
            ),
            *(
                ({"members": NATIVE, "adapter": one}, partial(measure_native, folder, one))
                for one in NATIVE_ADAPTERS
            ),
        ]
        for what, measure in measures:
            try:
                row = measure()
            except (NotMeasured, TimeoutError, OSError, subprocess.SubprocessError) as error:
                row, status = {**what, "not measured": str(error)}, 1
            row["machine's load"] = round(os.getloadavg()[0], 1)
            text = ", ".join(f"{name}: {value}" for name, value in row.items())
            print(json.dumps(row) if given.json else text, flush=True)
    if folder.exists():
        print(f"could not be removed: {folder}", file=sys.stderr)
        status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
