"""Writes and recognises the guards: breakpoints that keep a step that LLDB would lose. Pure.

Where a step ends by a jump, or in the caller, exactly at a breakpoint that need not stop (a false
condition, a log text, a hit count not reached), LLDB first gives up the step, as an interrupted
one, then finds that the breakpoint need not stop, and lets the program run on. So during a step
each such location gets a second breakpoint, the guard, which stops the stepping thread. (LLDB
19.1.7 and 20.1; `use-fast-stepping` makes no difference.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from msgspec import Struct

from debugger.backends.lldb_text import quote_word
from debugger.model.breakpoints import Breakpoint, BreakpointKind, BreakpointSpec

NAME = "debugger_step"
_BARE = 16  # bytes between a frame's beginning and the stack pointer, where nothing else is there
_HEAD = re.compile(r"^(?P<id>\d+): (?P<rest>.*)$", re.MULTILINE)
_COUNT = re.compile(r", hit count = (\d+)\b(?!.*, hit count = )")
_IGNORE = re.compile(r" Options:.* ignore: (\d+)\b")
_OWN = re.compile(r"stop reason = breakpoint [-\d. ]*(?<![\d.])-\d")
_ACTIVE = re.compile(r"Active plan stack:\n((?:\s+Element \d+: .*(?:\n|\Z))*)")


class HitCount(Struct, frozen=True):
    """A breakpoint's hits, and how many further hits are to be ignored."""

    hits: int = 0
    ignored: int = 0


def may_pass(wanted: Breakpoint) -> bool:
    """Return whether the program may pass a breakpoint without a stop."""
    spec = wanted.spec
    return bool(spec.condition or spec.hit_count or spec.log)


def location_words(wanted: Breakpoint) -> str:
    """Write a breakpoint's location as options of `breakpoint set`."""
    location = wanted.at or wanted.spec
    match location.kind:
        case BreakpointKind.ADDRESS:
            return f"--address {int(location.address or '0', 16):#x}"
        case BreakpointKind.FUNCTION:
            return f"--name {quote_word(location.function or '')}"
        case _:
            return f"--file {quote_word(location.file or '')} --line {location.line or 1}"


def is_in_files(spec: BreakpointSpec, bound_file: str | None, files: Iterable[str | None]) -> bool:
    """Return whether a breakpoint is in one of the files, or may be."""
    own = bound_file or spec.file
    if own is None:
        return True
    return PurePath(own).name in {PurePath(one).name for one in files if one}


def guard_condition(stack: int | None, frame: int | None, caller: int | None) -> str:
    """Write the condition of a guard: it holds in the frame of the step and in its callers.

    The condition may hold elsewhere, too: such a stop is filtered. `stack` and `frame` are the
    stack pointer and the frame pointer where the step begins, `caller` is the stack pointer of the
    caller. Without them, and in a function that has only begun, whose stack pointer is still to go
    down, the guard always stops. The frame pointer identifies a frame that grows by arrays on the
    stack.
    """
    if stack is None or frame is None or caller is None or caller - stack <= _BARE:
        return ""
    return f"$sp >= {stack} || $fp == {frame}"


def parse_counts(text: str) -> Mapping[int, HitCount]:
    """Parse `breakpoint list`: the counts of each breakpoint."""
    hit_counts: dict[int, HitCount] = {}
    for header in _HEAD.finditer(text):
        hits, ignored = _COUNT.search(header["rest"]), _IGNORE.search(header["rest"])
        hit_counts[int(header["id"])] = HitCount(
            int(hits[1]) if hits else 0, int(ignored[1]) if ignored else 0
        )
    return hit_counts


def has_stopped(before: HitCount, after: HitCount) -> bool:
    """Return whether a breakpoint stopped the program, instead of only counting a hit."""
    return after.hits - before.hits > before.ignored


def parse_plan_count(text: str) -> int | None:
    """Parse `thread plan list`: the number of a thread's unfinished steps; None if it has ended."""
    if not text.lstrip().startswith("thread #"):
        return None
    active = _ACTIVE.search(text)
    # The first is that of any thread that runs.
    return max(0, active[1].count("Element ") - 1) if active else 0


def is_lldb_breakpoint_stop(text: str) -> bool:
    """Parse `thread info`: whether a breakpoint of LLDB's own is among those of the stop."""
    return _OWN.search(text) is not None


def parse_pointers(text: str) -> tuple[int | None, ...]:
    """Parse `register read` of some registers, in their order."""
    values = re.findall(r"^\s+\w+ = (0x[0-9a-f]+)", text, re.MULTILINE)
    return tuple(int(one, 16) for one in values)
