"""Explains a deadlock by the report that Go's runtime writes of all goroutines.

The runtime ends the program by itself, where all goroutines wait: no debugger samples it then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from debugger.model.exception_cause import TracebackFrame
from debugger.model.location import is_library
from debugger.questions.hang.goroutine_waits import find_awaited, find_locked
from debugger.session import source_files

_HEAD = re.compile(r"goroutine (?P<number>\d+)(?: gp=\S+ m=\S+)?(?: mp=\S+)? \[(?P<state>[^\],]+)")
_CALL = re.compile(r"(?P<created>created by )?(?P<function>\S.*?)(?:\([^()]*\)| in .*)?$")
_PLACE = re.compile(r"\t(?P<file>/.*\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$")
# What the runtime calls a wait, and its kind.
_KINDS = {
    "sync.Mutex.Lock": "lock",
    "sync.RWMutex.Lock": "rwlock",
    "sync.RWMutex.RLock": "rwlock",
    "sync.WaitGroup.Wait": "group",
    "chan send": "send",
    "chan receive": "receive",
}
_BEFORE = {"send": "sends to", "receive": "receives from"}
_ASLEEP = "all goroutines are asleep"
_CONCURRENT = "concurrent map"
_USES_MAP = re.compile(r"\w\[|\brange\b|\bdelete\(|\bclear\(")
_SHOWN_MAX = 4


class ReportedGoroutine(Struct, frozen=True):
    """A goroutine of a report, with its own frames, the innermost first."""

    number: int
    # What the runtime says of it: `sync.Mutex.Lock`, `chan receive`, `running`.
    state: str
    frames: tuple[TracebackFrame, ...]


def parse_goroutines(lines: Sequence[str]) -> list[ReportedGoroutine]:
    """Return the goroutines of the last report in an output."""
    found: dict[int, ReportedGoroutine] = {}
    number, state, frames, function = 0, "", list[TracebackFrame](), ""
    for line in [*lines, "goroutine 0 [end]:"]:
        head = _HEAD.match(line)
        place = _PLACE.match(line)
        if head is not None:
            if number:
                found[number] = ReportedGoroutine(number, state, tuple(frames))
            number, state, frames, function = int(head["number"]), head["state"], [], ""
        elif place is not None and function:
            frames.append(TracebackFrame(function, place["file"], int(place["line"])))
            function = ""
        else:
            call = _CALL.match(line)
            function = call["function"] if call is not None and not call["created"] else ""
    return list(found.values())


def describe_deadlock(message: str, lines: Sequence[str], cwd: str) -> list[str]:
    """Say for what the goroutines of a deadlock wait, and which locks they have; none for others.

    A lock is named by the source: what its function has locked above, and not released.

    Args:
        message: That of the runtime's fatal error.
        lines: The output.
        cwd: The folder of the program.
    """
    if _ASLEEP not in message:
        return []
    found = [_describe_wait(one, cwd) for one in parse_goroutines(lines)]
    shown = [text for _, text in sorted(filter(None, found), key=lambda one: one[0])]
    more = len(shown) - _SHOWN_MAX
    return shown[:_SHOWN_MAX] + ([f"{more} more goroutines wait"] if more > 0 else [])


def describe_map_users(message: str, others: Sequence[tuple[str, str, int]]) -> list[str]:
    """Say where other goroutines use a map, where one failed for using it at the same time.

    Args:
        message: That of the runtime's fatal error.
        others: Of the other goroutines, where their own code is: the function, the file, the line.
    """
    if _CONCURRENT not in message:
        return []
    found = []
    for function, file, line in others:
        lines = source_files.read_source(file) or ()
        text = lines[line - 1].strip() if line <= len(lines) else ""
        if _USES_MAP.search(text):
            found.append(f"another goroutine is in {function} {Path(file).name}:{line}: {text}")
    return list(dict.fromkeys(found))[:_SHOWN_MAX]


def _describe_wait(one: ReportedGoroutine, cwd: str) -> tuple[int, str] | None:
    """Return how early a goroutine is named, which holds a lock at first, and its wait."""
    own = [frame for frame in one.frames if not is_library(frame.file, cwd)]
    if not own:
        return None
    kind = _KINDS.get(one.state, "")
    what = find_awaited(own[0], kind) or one.state
    locked = {name: line for frame in own for name, line in find_locked(frame).items()}
    locked.pop(what, None)
    who = "main" if own[-1].function == "main.main" else f"goroutine {one.number}"
    where = f"in {own[0].function} {Path(own[0].file).name}:{own[0].line}"
    has = ", ".join(f"{name} since line {line}" for name, line in locked.items())
    text = f"{who} {_BEFORE.get(kind, 'waits for')} {what} {where}"
    return (0 if has else 1), f"{text}, and has locked {has}" if has else text
