"""What does a group cost, in time and characters, by the number of its members?

    python bench/groups.py [--json] [COUNT...]

For each count (8, 64 and 128 without any), real Python processes that multiprocessing forks and
that wait at a barrier, all but one: the time until all are members, a merged backtrace and its
characters, `hang --group`, the time until all are stopped by `pause` where they run Python code,
the time of `stop`, and the daemon's memory per member. For 1,000 simulated members: the merged
backtrace, and the memory of each. For a group of one: the daemon's processor time for `print` and
`backtrace` over the same in a plain session, measured in turns.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from run import Daemon, once, turns

from debugger.output.structured import OutputStyle, RenderPage, fit_sections
from debugger.questions.group.member_stacks import read_group_stacks
from debugger.questions.group.render import format_stacks
from debugger.session.session_list import SessionList
from debugger.session.timeline import Timeline

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from simulated_groups import start_group

COUNTS = (8, 64, 128)
SIMULATED = 1000
BEGIN_S = 300.0
ONE_TURNS, ONE_ASKS = 20, 30
RANKS = """import multiprocessing as mp, sys
def work(rank, barrier, go, spins):
    if rank == 2:
        go.get()
    if spins:
        while True:
            rank += 1
    barrier.wait()
if __name__ == "__main__":
    context, count = mp.get_context("fork"), int(sys.argv[1])
    barrier, go = context.Barrier(count), context.Queue()
    given = (barrier, go, len(sys.argv) > 2)
    members = [context.Process(target=work, args=(rank, *given)) for rank in range(count)]
    for one in members:
        one.start()
    for one in members:
        one.join()
"""
ONE = "def work(n):\n    return n\nwork(1)\nwork(2)\n"


def wait_for_all(daemon: Daemon, count: int) -> None:
    """Wait until all ranks are members and have their names."""
    limit = time.monotonic() + BEGIN_S
    expected = f"{count + 1} running (main,1-{count})"
    while expected not in daemon.run("backtrace", "--by", "state"):
        assert time.monotonic() < limit, daemon.run("status")


def measure_members(folder: Path, count: int) -> dict[str, Any]:
    """Measure a group of so many real processes."""
    daemon = Daemon(folder)
    try:
        before = daemon.memory_mb()
        program = str(folder / "ranks.py")
        begun = time.perf_counter()
        daemon.run("start", "--group", program, "--no-wait", "--", str(count))
        wait_for_all(daemon, count)
        found: dict[str, Any] = {
            "members": count + 1,
            "all there, s": round(time.perf_counter() - begun, 1),
            "mb a member": round((daemon.memory_mb() - before) / (count + 1), 2),
        }
        found["backtrace, ms"] = round(turns(5, lambda: daemon.ask("backtrace"))[0])
        found["characters"] = len(daemon.run("backtrace"))
        found["hang, ms"] = round(once(lambda: daemon.ask("hang", "--group")))
        found["cause"] = daemon.run("hang", "--group").splitlines()[0]
        found["stop, ms"] = round(once(lambda: daemon.run("stop")))
        daemon.run("start", "--group", program, "--no-wait", "--", str(count), "spins")
        wait_for_all(daemon, count)
        found["pause, ms"] = round(once(lambda: daemon.run("pause", "--timeout", "1")))
        stopped = json.loads(daemon.run("--json", "status"))["data"]["states"]
        states = {one["state"]: len(one["members"]) for one in stopped}
        found["stopped by pause"] = states.get("stopped", 0)
        return found
    finally:
        daemon.run("stop", "--all")


async def measure_simulated() -> dict[str, Any]:
    """Measure a merged backtrace of members without processes."""
    before = memory_mb()
    sessions = SessionList(
        on_change=lambda: None, timeline=lambda: Timeline(max_events=1000, max_bytes=1 << 20)
    )
    group, backends = await start_group(sessions, SIMULATED - 1)
    backends[SIMULATED // 2].line = 7
    after = memory_mb()
    begun = time.perf_counter()
    answer = await read_group_stacks(group, await group.members(), by="line", every=False)
    page = RenderPage(OutputStyle.PLAIN, 100, 4000)
    text = fit_sections(format_stacks(answer, page), page.limit)
    taken = time.perf_counter() - begun
    await sessions.close_all()
    return {
        "members": SIMULATED,
        "backtrace, ms": round(taken * 1000),
        "characters": len(text),
        "mb a member": round((after - before) / SIMULATED, 3),
    }


def memory_mb() -> float:
    """Return this process's resident memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


def daemon_seconds(pid: int) -> float:
    """Return the processor time of the daemon's main thread, which other programs do not change."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def measure_one(folder: Path) -> dict[str, Any]:
    """Compare a group of one with a plain session."""
    daemon = Daemon(folder)
    try:
        program = str(folder / "one.py")
        daemon.run("--session", "plain", "start", program, "--break", "one.py:2")
        daemon.run("--session", "group", "start", "--group", program, "--break", "one.py:2")
        pid = json.loads(daemon.run("--json", "daemon", "status"))["data"]["pid"]
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
    finally:
        daemon.run("stop", "--all")


def main() -> None:
    """Measure all, and print a line for each."""
    counts = [int(one) for one in sys.argv[1:] if one.isdecimal()] or list(COUNTS)
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        (folder / "ranks.py").write_text(RANKS)
        (folder / "one.py").write_text(ONE)
        measures: list[Callable[[], dict[str, Any]]] = [
            partial(measure_one, folder),
            lambda: asyncio.run(measure_simulated()),
            *(partial(measure_members, folder, count) for count in counts),
        ]
        for measure in measures:
            row = measure()
            text = ", ".join(f"{name}: {value}" for name, value in row.items())
            print(json.dumps(row) if "--json" in sys.argv else text, flush=True)


if __name__ == "__main__":
    main()
