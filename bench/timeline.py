"""How fast is a timeline of a million traced calls written, and asked? Figures of one run.

python bench/timeline.py [--json] [EVENTS]
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from debugger.model.events import EventKind
from debugger.model.program import CallEvent
from debugger.session.timeline import Filters, ReturnedCondition, Timeline

EVENTS = 1_000_000
BATCH = 2_000
FUNCTIONS = 2_000
FILE = "/home/someone/project/source/audio.c"
TURNS = 7
START_NS = time.monotonic_ns() - 10**12


def passages(count: int) -> Iterator[list[CallEvent]]:
    """Yield batches of calls and returns; one in 10,000 is slow, the last 3 % fairly so."""
    chance = random.Random(1)  # noqa: S311 - no secret
    now, batch = START_NS, []
    for number in range(count):
        now += chance.randrange(100, 1900)
        at = chance.randrange(FUNCTIONS)
        is_return = number % 2 == 1
        slow = 10**8 if number % 10_000 == 1 else 10**6 if number > count * 0.97 else 0
        value = chance.randrange(-50, 10**6)
        batch.append(
            CallEvent(
                function=f"module::function_{at}",
                thread=4000 + (number // 2) % 4,
                time_ns=now - chance.randrange(5_000_000),
                text=f"function_{at} → {value}" if is_return else f"function_{at}(a={at}, b={now})",
                is_return=is_return,
                file=FILE,
                line=at,
                returned=str(value) if is_return else None,
                duration_ns=slow + chance.randrange(100, 90_000) if is_return else None,
                trace=1,
            )
        )
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def filled(timeline: Timeline, count: int) -> dict[str, float]:
    """Fill a timeline; return how many events a second that were, of which time."""
    of_loop = of_all = 0.0
    batches = passages(count)
    # Some at a time, so that the making of events runs beside no writing of them.
    while some := list(islice(batches, 50)):
        loop, everything = time.thread_time(), time.process_time()
        for batch in some:
            timeline.append_passages(batch, session="bench")
        of_loop += time.thread_time() - loop
        timeline.events(limit=1)
        of_all += time.process_time() - everything
    return {"appended_per_s_of_loop": count / of_loop, "appended_per_s_of_all": count / of_all}


def questions(count: int) -> dict[str, Filters]:
    """Return what is asked, each by an index."""
    middle = START_NS + count * 500
    return {
        "nothing": Filters(),
        "kind": Filters(kinds={EventKind.FUNCTION_EXIT}),
        "kind, none": Filters(kinds={EventKind.CRASH}),
        "kind, two": Filters(
            kinds={EventKind.FUNCTION_EXIT, EventKind.FUNCTION_ENTER, EventKind.STOP}
        ),
        "function": Filters(function="module::function_7"),
        "function, none": Filters(function="module::no"),
        "function, pattern": Filters(function="*function_77*"),
        "file": Filters(file="audio.c"),
        "thread": Filters(thread=4001),
        "thread, none": Filters(thread=5),
        "time": Filters(since_ns=middle, until_ns=middle + 10**6),
        "time, half": Filters(since_ns=middle),
        "duration, rare": Filters(min_duration_ns=10**8),
        "duration, late": Filters(min_duration_ns=10**6),
        "duration, broad": Filters(min_duration_ns=1),
        "duration, none": Filters(min_duration_ns=10**12),
        "duration, between": Filters(min_duration_ns=1000, max_duration_ns=1010),
        "returned, < 0": Filters(returned=ReturnedCondition("<", 0)),
        "returned, = 5": Filters(returned=ReturnedCondition("=", 5)),
        "returned, != 0": Filters(returned=ReturnedCondition("!=", 0)),
        "returned, none": Filters(returned=ReturnedCondition(">", 10**9)),
        "function, kind, duration": Filters(
            function="module::function_7", kinds={EventKind.FUNCTION_EXIT}, min_duration_ns=10**6
        ),
        "thread, returned, kind": Filters(
            thread=4001, returned=ReturnedCondition("<", 0), kinds={EventKind.FUNCTION_EXIT}
        ),
    }


def asked(timeline: Timeline, filters: Filters, *, newest: bool) -> float:
    """Return the median of the milliseconds that an answer takes."""
    taken = []
    for _ in range(TURNS):
        begun = time.process_time()
        timeline.events(filters, limit=50, newest=newest)
        taken.append((time.process_time() - begun) * 1000)
    return statistics.median(taken)


def main() -> None:
    """Measure, and print a table or one JSON object."""
    words = [word for word in sys.argv[1:] if word != "--json"]
    count = int(words[0]) if words else EVENTS
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        timeline = Timeline(max_traced=count, max_traced_bytes=10**9, folder=Path(name))
        figures |= filled(timeline, count)
        file = next(Path(name).glob("*/*.db"))
        figures["file_bytes_per_event"] = file.stat().st_size / count
        for what, filters in questions(count).items():
            figures[f"oldest_ms, {what}"] = asked(timeline, filters, newest=False)
            figures[f"newest_ms, {what}"] = asked(timeline, filters, newest=True)
        for what, filters in (
            ("text", Filters(text="→ 77")),
            ("text, none", Filters(text="no such thing")),
            ("returned, pattern", Filters(returned=ReturnedCondition("like", "*777*"))),
        ):
            figures[f"unindexed_ms, {what}"] = asked(timeline, filters, newest=False)
        more = filled(timeline, max(count // 5, 1))
        figures |= {f"{key}, when full": value for key, value in more.items()}
        timeline.close()
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    for key, value in figures.items():
        print(f"{key:40} {value:14.2f}")


if __name__ == "__main__":
    main()
