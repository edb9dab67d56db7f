"""The processes of one recorded run: which of them an answer is about, and how they are named."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.text_clip import clip_text
from debugger.questions.recordings import function_lookup
from debugger.recorders.model import CallEntered, CallRaised, Recording
from debugger.recorders.recording_order import FunctionPlace

FAILING = "failing"
_WORDS = 60
_SPAWNED = "--multiprocessing-fork"  # on the command line of multiprocessing's children
_VALUES = 400
_NOTES = 4


def check_choice(which: str | None, *, is_single: bool) -> None:
    """Refuse what names no process of one run, which is not kept.

    Raises:
        DebuggerError: USAGE.
    """
    if which is not None and which != FAILING and not (which.isdecimal() and int(which)):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--process is {FAILING}, or a number from 1 (the program's own), not {which!r}",
            hint="debugger path --process failing -- CMD",
        )
    if which is not None and not is_single:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--process is for one run that is not kept",
            hint=f"debugger path --process {which} -- CMD",
        )


def processes_with_calls(recordings: Sequence[Recording]) -> list[Recording]:
    """Return the processes that ran functions of the program's, in the order of their starts."""
    return [one for one in recordings if one.functions]


def choose_process(recordings: Sequence[Recording], which: str) -> Recording:
    """Return a process by its number, or the first that failed: children before the program.

    Raises:
        DebuggerError: NOT_FOUND.
    """
    found = processes_with_calls(recordings)
    if which == FAILING:
        failed = [one for one in (*found[1:], *found[:1]) if raised_in(one)]
        if failed:
            return failed[0]
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no exception left a function in {_count_processes(len(found))}",
            hint="debugger path --process 2 -- CMD"
            if len(found) > 1
            else "debugger path -- CMD shows what ran",
        )
    if int(which) > len(found):
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"there is no process {which}: {_count_processes(len(found))} ran functions "
            "of the program's",
            hint="debugger path -- CMD names them",
        )
    return found[int(which) - 1]


def coming_to(recordings: Sequence[Recording], wanted: FunctionPlace) -> Recording | None:
    """Return the first process that came to a place; one that failed before others."""
    found = []
    for one in processes_with_calls(recordings):
        is_meant = function_lookup.function_matcher(wanted, one)
        if any(is_meant(each) for each in one.functions.values()):
            found.append(one)
    return next((one for one in found if raised_in(one)), next(iter(found), None))


def process_name(recordings: Sequence[Recording], one: Recording) -> str:
    """Return `process 2 (pid 4711, a fork)`."""
    number = processes_with_calls(recordings).index(one) + 1
    words = [Path(word).name if word.startswith("/") else word for word in one.process.words[:6]]
    how = clip_text(shlex.join(words), _WORDS)
    if one.process.is_fork or not words:
        how = "a fork"
    elif _SPAWNED in one.process.words:
        how = "spawned by multiprocessing"
    return f"process {number} (pid {one.process.pid}, {how})"


def other_process_notes(
    recordings: Sequence[Recording], first: Recording, *, is_own: bool = True
) -> Iterator[str]:
    """Say which other processes ran functions: one that failed is what is looked for.

    Where another process than the program's own was chosen, only failed ones are named.
    """
    every = processes_with_calls(recordings)
    others = [one for one in every if one is not first and (is_own or raised_in(one))]
    others.sort(key=lambda one: not raised_in(one))
    for one in others[:_NOTES]:
        raised = raised_in(one)
        yield (
            f"{process_name(recordings, one)} ran {_count_functions(one)}, "
            "which are not told here" + (f": {raised}" if raised else "")
        )
    if len(others) > _NOTES:
        yield f"{_count_processes(len(others) - _NOTES)} more ran functions of the program's"
    if others and is_own:
        which = FAILING if raised_in(others[0]) else every.index(others[0]) + 1
        yield f"path --process {which} shows what such a process did"


def raised_in(one: Recording) -> str:
    """Return where the first exception of a process began that left a function; "" for none."""
    raised = next(
        (
            event
            for event in one.events
            if isinstance(event, CallRaised) and event.type != "SystemExit"
        ),
        None,
    )
    if raised is None:
        return ""
    entered = (event for event in one.events if isinstance(event, CallEntered))
    call = next((event for event in entered if event.call == raised.call), None)
    if call is None or call.function not in one.functions:
        return f"{raised.type} was raised in it"
    function = one.find_function(call.function)
    place = f"{function.name} {Path(function.file).name}:{raised.line or function.line}"
    values = " ".join(f"{each.name}={each.text}" for each in call.arguments if each.text)
    arguments = f" with {clip_text(values, _VALUES)}" if values else ""
    return f"{raised.type} was raised in {place}{arguments}"


def _count_processes(count: int) -> str:
    return f"{count} process" if count == 1 else f"{count} processes"


def _count_functions(one: Recording) -> str:
    count = len(one.functions)
    return f"{count} function" if count == 1 else f"{count} functions"
