"""Plans the runs behind one answer: which calls of the program the next run records.

The first run records from the beginning until its statements are used up, and counts the calls up
to the location. A later run records the calls before the location, those on the stack there, and
what the open end of the chain is about: the writes of a name, or the calls before a write.
"""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from debugger.questions.why.answer import ChainEnd, Why
from debugger.questions.why.origin_records import OpenEnd
from debugger.recorders.model import OriginOrder

RUNS_MOST = 4
_STATEMENTS_LEAST = 15_000
_STATEMENTS_MOST = 1_000_000
_STATEMENT_NS = 45_000  # what it costs to record one
_STATEMENTS_OF_CALL = 6  # about as many as a call has
_BUFFER_FACTOR = 6  # more calls are recorded to see what was written to a buffer
_FIRST_CALLS = 3  # of a statement whose result was not recorded
_NAMES_MOST = 4
_LAST_NAME = re.compile(r"([A-Za-z_]\w*)(?:\[[^\[\]]*\])*$")
_FINAL = frozenset({ChainEnd.CONSTANT, ChainEnd.INPUT, ChainEnd.ALLOCATION})


class LocatedHit(Struct, frozen=True):
    """Where a run was at the location."""

    # The number of the last own call, and the numbers of those on the stack.
    calls: int
    frames: tuple[int, ...]
    # The calls that were not recorded, and the number of the last of them.
    unrecorded: int
    gap: int
    statements: int
    # The processor time.
    ns: int


def plan_next_run(
    order: OriginOrder,
    located: LocatedHit,
    answer: Why,
    end: OpenEnd | None,
    before: OpenEnd | None = None,
) -> OriginOrder | None:
    """Return the order of the next run; None if the answer is complete, or no run could add.

    Args:
        order: The order of the last run.
        located: Where that run was at the location.
        answer: Its answer.
        end: The open end of its chain.
        before: The open end of the run before.
    """
    if end is None or not located.unrecorded or end.is_same_place(before):
        return None
    if answer.ended in _FINAL and end.oldest >= located.gap:
        return None  # all since the value's origin was recorded
    # As many as cost about what the program itself does.
    alone = located.ns // _STATEMENT_NS - located.statements
    statements = min(max(alone, _STATEMENTS_LEAST), _STATEMENTS_MOST)
    size = max(statements // _STATEMENTS_OF_CALL, 1)
    windows, frames, names = list(order.windows), set(order.frames), set(order.names)
    if not windows:
        windows.append((located.calls - size, located.calls))
        frames |= set(located.frames)
    if end.reads_buffer:
        statements *= _BUFFER_FACTOR
        windows.append((located.calls - _BUFFER_FACTOR * size, located.calls))
    link = end.link
    if link.frame:
        began, number = link.calls
        frames |= {link.frame, *link.frames} - {0}
        names |= {one for text in end.unseen[:_NAMES_MOST] if (one := _last_name(text))}
        if link.how == "unrecorded":
            frames |= {began + 1 + one for one in range(_FIRST_CALLS)}
            windows.append((max(began, number - size), number))
        elif link.frames:
            windows.append((number - size, number))
    found = msgspec.structs.replace(
        order,
        windows=_merge_windows(windows),
        frames=tuple(sorted(frames)),
        names=tuple(sorted(names)),
        statements=statements,
    )
    is_same = (found.windows, found.frames, found.names) == (
        order.windows,
        order.frames,
        order.names,
    )
    return None if is_same else found


class CountedHit(Struct, frozen=True):
    """A last hit whose value a run did not look at."""

    number: int
    located: LocatedHit


def plan_last_hit(
    first: OriginOrder, order: OriginOrder, counted: CountedHit | None
) -> OriginOrder | None:
    """Return the order of a run to a last hit that has no value yet; None if there is none.

    Args:
        first: The order of the first run.
        order: The order of the last run.
        counted: The hit that this run counted; None if it did not come to the number of a hit that
            a run before had counted, which is then not looked for by its number again.
    """
    if counted is not None:
        window = plan_window(order, counted.located) or order
        return msgspec.structs.replace(window, nth=counted.number)
    if first.nth != order.nth:
        return msgspec.structs.replace(first, every_hit=True)
    return None


def plan_window(order: OriginOrder, located: LocatedHit) -> OriginOrder | None:
    """Return the order of a run that records the calls before a location; None if all were."""
    if not located.unrecorded or order.windows:
        return None
    alone = located.ns // _STATEMENT_NS - located.statements
    statements = min(max(alone, _STATEMENTS_LEAST), _STATEMENTS_MOST)
    first = located.calls - max(statements // _STATEMENTS_OF_CALL, 1)
    return msgspec.structs.replace(
        order,
        windows=_merge_windows([(first, located.calls)]),
        frames=tuple(sorted(located.frames)),
        statements=statements,
    )


def _last_name(text: str) -> str:
    """Return the attribute or the name that holds a value: `b` of `a.b[0]`."""
    found = _LAST_NAME.search(text)
    return found[1] if found else ""


def _merge_windows(windows: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for start, end in sorted((max(start, 1), end) for start, end in windows):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)


def describe_recording(order: OriginOrder, located: LocatedHit) -> str:
    """Return how the values were followed, with the part of the run that was recorded."""
    if not order.windows:
        if not located.unrecorded:
            return "recording the assignments and calls"
        recorded = located.calls - located.unrecorded
    else:
        recorded = sum(min(end, located.calls) - start + 1 for start, end in order.windows)
    return f"recording about {max(recorded, 0):,} of the {located.calls:,} calls before it"


def is_better(answer: Why, before: Why | None) -> bool:
    """Return whether a later run's chain explains at least as much as an earlier one's."""
    if before is None or answer.ended in _FINAL:
        return True
    return len(answer.links) >= len(before.links) and before.ended not in _FINAL
