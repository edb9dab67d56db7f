"""Runs a native program once with all calls of its own functions traced."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import structs

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.events import Event, EventKind, State
from debugger.model.location import is_library
from debugger.questions.recordings.answer import RunView
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.recorders.model import Recording
from debugger.recorders.traced_recording import NATIVE, make_recording
from debugger.session import function_tracing
from debugger.session.timeline import Filters
from debugger.symbols.program_file import may_start_processes
from debugger.symbols.source_names import sources_of

_KINDS = frozenset({EventKind.FUNCTION_ENTER, EventKind.FUNCTION_EXIT})
_EVENTS_MAX = 100_000  # calls and returns
_PAGE = 500  # events in one read of the timeline
_STOPS_MAX = 5  # unrequested stops of a run
_END_S = 5.0
_LINES = 6  # last lines of output
_NAMES = 4


async def run_traced(
    question: QuestionRun, words: Sequence[str], *, is_compared: bool = False
) -> tuple[Recording, RunView]:
    """Run a program to its end; return the calls of its own functions, and its end.

    Raises:
        DebuggerError: NOT_SUPPORTED if nothing can be traced; what starting it raises.
    """
    target = question.target
    assert isinstance(target, LaunchTarget)
    assert target.program is not None
    patterns = [f"@file:{file}" for file in own_sources(target.program, target.cwd)]
    if not patterns:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{target.program} has no debug information of sources of its own",
            hint="compile it with -g (cargo build, without --release)",
        )
    # The functions must be traced before the program calls any of them.
    begun = dataclasses.replace(question, target=structs.replace(target, stop_on_entry=True))
    async with question_run.run_question(begun) as running:
        stop = await running.wait_first()
        notes: list[str] = []
        tracer = None
        began = asyncio.get_running_loop().time()
        if stop.state == State.STOPPED.value:
            notes += await _trace_in_time(running, patterns)
            entry = stop.frame.function if stop.frame is not None else "main"
            notes.append(f"its calls were recorded, not lines, nor {entry} itself")
            if await asyncio.to_thread(may_start_processes, target.program):
                notes.append("the processes that it starts are not recorded")
            tracer = function_tracing.tracing_ability(running.session)
            began = asyncio.get_running_loop().time()
            stop = await _to_the_end(running, notes)
        took_s = asyncio.get_running_loop().time() - began
        skipped = await function_tracing.skipped_calls(tracer) if tracer is not None else {}
        found, beyond = await _read_calls(running, notes, sum(skipped.values()))
        skipped = dict(Counter(skipped) + beyond)
        if skipped:
            notes.append(_skipped_note(skipped))
        made = await asyncio.to_thread(
            make_recording, found, language=NATIVE, is_compared=is_compared, skipped=skipped
        )
        return made, traced_run_view(running, stop, words, took_s=took_s, notes=notes)


def own_sources(program: str, cwd: str) -> list[str]:
    """List a program's own sources, without those of libraries: the nearest ones.

    Up to version 4 of DWARF a line table does not name the compilation's directory, and a library's
    `src/lib.rs` looks like one of the user's: a relative file counts if it exists below `cwd` or
    one of the program's own folders, and is listed by its whole path. If none of them exists, all
    are listed under the program's own names.
    """
    every = [one for one in sources_of(program) if not is_library(one, cwd)]
    folders = [cwd, *(str(one) for one in Path(program).absolute().parents[:-1])]
    near = [one for one in (_existing_path(file, folders) for file in every) if one is not None]
    return list(dict.fromkeys(near or every))


def _existing_path(file: str, folders: Sequence[str]) -> str | None:
    """Return the whole path of a source near the program, or None."""
    if file.startswith("/"):
        return file if any(file.startswith(f"{one}/") for one in folders[:2]) else None
    paths = (Path(os.path.normpath(Path(one) / file)) for one in folders)
    return next((str(one) for one in paths if one.is_file()), None)


async def _trace_in_time(running: RunningQuestion, patterns: Sequence[str]) -> list[str]:
    """Trace the functions of all patterns within the question's time limit.

    Raises:
        DebuggerError: TIMEOUT; NOT_SUPPORTED where nothing can be traced.
    """
    try:
        async with asyncio.timeout(running.left_s):
            return await _add_traces(running, patterns)
    except TimeoutError:
        raise DebuggerError(
            ErrorCode.TIMEOUT,
            f"finding the functions of {len(patterns):,} source files took all the time there was; "
            "the program was not run",
            hint="ask again with a longer --timeout: what was read is kept",
        ) from None


async def _add_traces(running: RunningQuestion, patterns: Sequence[str]) -> list[str]:
    notes = []
    untraced, traced = 0, 0
    # In parts, since one request has a limit of patterns.
    for start in range(0, len(patterns), function_tracing.PATTERNS_MAX):
        some = patterns[start : start + function_tracing.PATTERNS_MAX]
        made = await function_tracing.add_traces(
            running.session, some, function_tracing.FUNCTIONS_MAX
        )
        traced += made.functions
        untraced += sum(one.left_out for one in made.traced)
    if untraced:
        notes.append(f"{untraced:,} more functions are too many to be traced, {traced:,} are")
    if not traced:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "none of its functions can be traced",
            hint="debugger start PROGRAM --backend frida --stop-on-entry; debugger trace add '*'",
        )
    return notes


async def _to_the_end(running: RunningQuestion, notes: list[str]) -> answers.Stop:
    """Run to the end; stops on the way are noted and passed, as without a debugger."""
    stop = await running.go_on(running.session)
    for _ in range(_STOPS_MAX):
        if stop.state != State.STOPPED.value:
            break
        where = f" in {stop.frame.function}" if stop.frame is not None else ""
        notes.append(f"it stopped for {stop.signal or stop.reason}{where}: debugger crash says why")
        stop = await running.go_on(running.session_of(stop), min(_END_S, max(running.left_s, 1.0)))
    if stop.state == State.STOPPED.value:
        notes.append(f"it stopped more than {_STOPS_MAX} times, and was ended there")
    return stop


async def _read_calls(
    running: RunningQuestion, notes: list[str], skipped: int
) -> tuple[list[Event], Counter[str]]:
    """Return the calls and returns, and by function the calls that are too many to be told.

    `skipped` ones are counted elsewhere.
    """
    timeline = running.session.timeline
    found: list[Event] = []
    beyond = Counter[str]()
    since, dropped = 0, 0
    while True:
        page = timeline.events(Filters(kinds=_KINDS), since=since, limit=_PAGE)
        dropped = max(dropped, page.dropped)
        shown = page.events[: _EVENTS_MAX - len(found)]
        found += shown
        beyond.update(
            one.function or "?"
            for one in page.events[len(shown) :]
            if one.kind is EventKind.FUNCTION_ENTER
        )
        # No progress: the end, or events that were dropped meanwhile.
        if not page.events or page.next <= since:
            break
        since = page.next
        await asyncio.sleep(0)  # there may be 100,000, and other clients wait
    if beyond:
        notes.append(f"only the first {_EVENTS_MAX:,} calls and returns are told")
    dropped -= 2 * skipped  # each would have been a call and a return
    if dropped > 0:
        notes.append(f"{dropped:,} calls and returns had no room: functions called too often")
    return found, beyond


def _skipped_note(skipped: Mapping[str, int]) -> str:
    counts = sorted(skipped.items(), key=lambda one: -one[1])
    named = [f"{name} ({count:,} calls)" for name, count in counts[:_NAMES]]
    more = [f"{len(counts) - _NAMES:,} more functions"] if len(counts) > _NAMES else []
    return (
        f"sampled, for they are called too often: {', '.join(named + more)} were not told, only"
        " counted, and those of a function with several callers are in no count of the tree"
    )


def traced_run_view(
    running: RunningQuestion,
    stop: answers.Stop,
    words: Sequence[str],
    *,
    took_s: float,
    notes: Sequence[str],
) -> RunView:
    """Describe the end of a run under a debugger."""
    output = running.read_output()
    is_over = stop.state == State.TERMINATED.value
    return RunView(
        command=shlex.join(words),
        exit_code=stop.exit_code if is_over else None,
        exit_signal=stop.signal if is_over else None,
        timed_out=not is_over,
        took_s=round(took_s, 3),
        output=tuple(one for one in output.lines if one.text.strip())[-_LINES:],
        output_total=output.total,
        notes=tuple(dict.fromkeys([*running.notes_of(stop)[:_NAMES], *notes])),
    )
