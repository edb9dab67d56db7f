"""Runs a program once, recorded, and chooses the process for the answer."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from msgspec import Struct, structs

from debugger.backends import backend_names
from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.signals import signal_name
from debugger.model.text_filters import clip_text, without_traces
from debugger.model.typescript_refusal import typescript_notes
from debugger.questions.recordings import (
    counted_run,
    function_lookup,
    script_run,
    traced_run,
)
from debugger.questions.recordings.answer import RunView, ValueView, VaryView
from debugger.questions.runner import command_call
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_run import QuestionRun, waiting_note
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    FunctionPlace,
    RecordedValue,
    Recording,
    RecordingNote,
    RecordingOrder,
    RecordingWindow,
)
from debugger.recorders.recorded_process import (
    CompletedRun,
    record_run,
    require_recording,
    roots_of,
)
from debugger.recorders.script import script_recorder
from debugger.recorders.suspect_ranking import ValueVariation
from debugger.session.stepping import WaitLimit
from debugger.session.stop_report import waiting_view

FAILING = "failing"
_WORDS = 60  # characters of a command line
_SPAWNED = "--multiprocessing-fork"  # on the command line of multiprocessing's children
_VALUES = 400  # characters of arguments
_NOTES = 4  # other processes


def check_choice(which: str | None, *, is_single: bool) -> None:
    """Reject an invalid choice of a process, and any choice for several runs.

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
    """Return the processes with calls of the program's functions, in order of their starts."""
    return [one for one in recordings if one.functions]


def choose_process(recordings: Sequence[Recording], which: str) -> Recording:
    """Return a process by its number, or the first failed one: children before the program.

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


def coming_to(recordings: Sequence[Recording], function: FunctionPlace) -> Recording | None:
    """Return the first process that reached a location; a failed one before others."""
    found: list[tuple[bool, bool, int, Recording]] = []
    for one in processes_with_calls(recordings):
        matches = function_lookup.function_matcher(function, one)
        numbers = {each for each in one.executed_functions if matches(one.find_function(each))}
        if numbers:
            is_line = function.line in one.counted_lines(numbers)
            found.append((not is_line, not raised_in(one), len(found), one))
    return min(found, default=(None,))[-1]


def process_name(recordings: Sequence[Recording], one: Recording) -> str:
    """Format `process 2 (pid 4711, a fork)`."""
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
    """Return notes on the other processes with calls; a failed one is the likely subject.

    If another process than the program's own was chosen, only failed ones are named.
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
    """Return where the first exception that left a function was raised; "" without one."""
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


_OUTPUT = 6  # last lines
_LINE = 400  # characters
_NATIVE = frozenset({"c", "c++", "cpp", "rust", "native"})
# Chooses the process that an answer is about; None: the program's own.
Pick = Callable[[Sequence[Recording]], Recording | None]
SAME_SETS = {"PYTHONHASHSEED": "0"}


class RecordedProgram(Struct, frozen=True):
    """The program to record, as its caller would run it; `words` is the command as typed."""

    words: tuple[str, ...]
    launch: LaunchTarget
    patience: WaitLimit
    scratch: Path | None = None
    language: str = ""
    question: QuestionRun | None = None
    options: QuestionOptions | None = None  # those of the command
    # The words in front of it of the launcher that starts it several times; on another host the
    # shell command that such a launcher runs there, which starts it too.
    launcher: tuple[str, ...] = ()
    shell: str = ""
    # The same, by the debugger that traces calls; asked for only where it is needed.
    traced: Callable[[], Awaitable[QuestionRun]] | None = None
    # Where the command starts this program, and is another one.
    note: str = ""

    @property
    def is_native(self) -> bool:
        """Whether it is compiled code whose calls can be traced."""
        return self.language in _NATIVE

    @property
    def launch_argv(self) -> list[str]:
        """The program's command line, with the interpreter if it needs one."""
        return self.wrap_command(command_call.launch_argv(self.launch))

    def wrap_command(self, words: Sequence[str]) -> list[str]:
        """Return the command line that starts the program, by its launcher if it has one."""
        return ["/bin/sh", "-c", self.shell] if self.shell else [*self.launcher, *words]

    @property
    def is_python(self) -> bool:
        """Whether it runs in a Python."""
        return self.launch.python is not None

    @property
    def is_counted(self) -> bool:
        """Whether its lines are counted, and its calls are not recorded."""
        return self.language in counted_run.LANGUAGES and not self.is_python

    @property
    def source_roots(self) -> tuple[str, ...]:
        """The folders of the program's own code."""
        own = command_call.launch_argv(self.launch)
        return roots_of((*self.launcher, *own), self.launch.cwd)


class RecordedRun(Struct, frozen=True):
    """A run: the process of the answer, all processes, and the run's end."""

    recording: Recording
    recordings: tuple[Recording, ...]
    view: RunView
    engine: str
    process: str | None = None  # what it is called, where it is not the program's own


async def run_recorded(
    program: RecordedProgram,
    order: Callable[[tuple[str, ...]], RecordingOrder],
    *,
    is_compared: bool = False,
    window: RecordingWindow | None = None,
    pick: Pick | None = None,
    tells_all: bool = False,
) -> RecordedRun:
    """Run a program recorded; `order` makes the request from its roots, in Python.

    Native programs are traced; of counted ones the window is reported. Runs for a comparison get
    the same hash seed for sets, unless the caller has chosen one. `pick` chooses the process of the
    answer; an answer that `tells_all` of them needs no notes on the others.

    Raises:
        DebuggerError: LAUNCH_FAILED; NOT_SUPPORTED if no part of it could be recorded.
    """
    if program.is_native and program.traced is not None:
        traced, view_ = await traced_run.run_traced(
            await program.traced(), program.words, is_compared=is_compared
        )
        return RecordedRun(
            _picked_recording(pick, (traced,)) or traced, (traced,), view_, backend_names.FRIDA
        )
    if program.is_counted:
        return await _run_counted(program, window, pick)
    if program.language in script_recorder.LANGUAGES and not program.is_python:
        ran = await record_script(program, order(program.source_roots))
    elif program.is_python:
        ran = await record_python(program, order(program.source_roots), is_compared=is_compared)
    else:
        raise unsupported_error(program)
    own = require_recording(ran, program.launch_argv, program.language)
    chosen = _picked_recording(pick, ran.recordings) or own
    run_view = recorded_run_view(
        program,
        ran,
        chosen,
        is_own=chosen is own,
        tells_all=tells_all,
        is_compared=is_compared,
    )
    process = None if chosen is own else process_name(ran.recordings, chosen)
    engine = "python" if program.is_python else program.language
    return RecordedRun(chosen, ran.recordings, run_view, engine, process)


async def record_script(program: RecordedProgram, order: RecordingOrder) -> CompletedRun:
    """Run a program in Ruby or PHP recorded.

    Raises:
        DebuggerError: LAUNCH_FAILED.
    """
    return await script_run.run_script(
        program.launch,
        program.language,
        order,
        patience=program.patience,
        scratch=program.scratch,
        wrap=program.wrap_command,
    )


async def record_python(
    program: RecordedProgram, order: RecordingOrder, *, is_compared: bool
) -> CompletedRun:
    """Run a Python program recorded; no recording is an answer, too.

    Raises:
        DebuggerError: LAUNCH_FAILED.
    """
    return await record_run(
        program.launch_argv,
        order,
        cwd=program.launch.cwd,
        # The order of a set of strings depends on the hash seed; the caller's own seed wins.
        env={**(SAME_SETS if is_compared else {}), **program.launch.env},
        stdin=await command_call.stdin_bytes(program.launch),
        timeout_s=program.patience.seconds,
        scratch_root=program.scratch,
        interrupted=program.patience.interrupted,
        idle_limits=program.patience.idle_limits,
    )


async def _run_counted(
    program: RecordedProgram, window: RecordingWindow | None, pick: Pick | None
) -> RecordedRun:
    """Run a program whose calls are counted, and choose the process of the answer."""
    ran = await counted_run.run_counted(
        program.launch,
        program.language,
        words=program.words,
        roots=program.source_roots,
        patience=program.patience,
        scratch=program.scratch,
        window=window,
    )
    own = counted_run.first_process(ran.recordings)
    first = _picked_recording(pick, ran.recordings) or own
    run_view = recorded_run_view(program, ran, first, is_own=first is own)
    if first is own and first is not ran.recordings[0] and not ran.recordings[0].functions:
        # A command such as npx or tsx starts another process, which runs the program.
        note = f"counted in process {first.process.pid}: {shlex.join(first.process.words[:6])}"
        run_view = structs.replace(run_view, notes=(note, *run_view.notes))
    process = None if first is own else process_name(ran.recordings, first)
    return RecordedRun(first, ran.recordings, run_view, counted_run.COUNTED, process)


def _picked_recording(pick: Pick | None, recordings: Sequence[Recording]) -> Recording | None:
    return pick(recordings) if pick is not None else None


def unsupported_error(program: RecordedProgram) -> DebuggerError:
    """Return the error for a program that cannot be recorded, with alternatives."""
    path = program.launch.program or ""
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"programs in {program.language or 'this language'} cannot be recorded: {Path(path).name}",
        hint=f"debugger probe --at FILE:LINE 'EXPR, EXPR' -- {shlex.join(program.words)}",
    )


def recorded_run_view(
    program: RecordedProgram,
    ran: CompletedRun,
    first: Recording,
    *,
    is_own: bool = True,
    tells_all: bool = False,
    is_compared: bool = False,
) -> RunView:
    """Describe a run's end; `first` is the process of the answer, if not all are."""
    chunks = [
        (stream, "".join(one.text for one in some))
        for stream, some in groupby(ran.output, key=lambda one: one.stream)
    ]
    lines = [
        answers.OutputLine(stream.value, clip_text(line, _LINE), 0)
        for stream, text in chunks
        for line in text.splitlines()
        if line.strip()
    ]
    shown, _ = without_traces(lines)
    return RunView(
        command=shlex.join(program.words),
        exit_code=ran.status,
        exit_signal=signal_name(ran.signal) if ran.signal is not None else None,
        timed_out=ran.is_timed_out,
        took_s=round(ran.took_s, 3),
        output=tuple(shown[-_OUTPUT:]),
        output_total=len(lines),
        output_dropped=max(ran.printed - sum(len(one.text) for one in ran.output), 0),
        notes=(
            *(() if tells_all else other_process_notes(ran.recordings, first, is_own=is_own)),
            *_run_notes(ran, first, is_compared=is_compared),
            *(typescript_notes([line.text for line in lines]) if ran.status else ()),
        ),
    )


def _run_notes(ran: CompletedRun, first: Recording, *, is_compared: bool) -> Iterable[str]:
    if first.dropped:
        yield f"{first.dropped:,} events had no room, and are only counted"
    if first.uncounted:
        names = [first.find_function(number).name for number in sorted(first.uncounted)][:_NOTES]
        yield f"called too often to go on counting: {', '.join(names)}"
    if first.further and not is_compared:
        yield _further_note(first)
    if ran.waiting is not None:
        yield waiting_note(waiting_view(ran.waiting))
    for leftover in ran.killed[:_NOTES]:
        yield f"ended what the program left running: {leftover}"
    for kind, text in _FAILURE_NOTES.items():
        texts = [
            one.text for one in first.events if isinstance(one, RecordingNote) and one.kind == kind
        ]
        if texts:
            yield text.format(texts[0], len(texts))


def _further_note(one: Recording) -> str:
    """Name the functions of which only the first calls are in the tree, with all their calls."""
    # How often each is in the tree is told there; here are those that are not.
    most = sorted(one.further.items(), key=lambda pair: -pair[1])
    named = [f"{one.find_function(number).name} ({count:,})" for number, count in most[:_NOTES]]
    more = [f"{len(most) - _NOTES:,} more functions"] if len(most) > _NOTES else []
    return (
        "further calls that are not in the tree, where what they called is below their callers: "
        + ", ".join(named + more)
    )


_FAILURE_NOTES = {
    "fault": "the recorder failed: {}",
    "refused": "it could not be recorded: {}",
    "condition": "--when could not be evaluated {1} times: {0}",
    "exec": "it became another program: {}",
    "tracer": "{}: a thread is not recorded while it has one",
    "silent": "{}",
    "foreign": "nothing of the program's own files ran; what ran is in node_modules, or outside of "
    "the current directory: {}",
    "changed": "changed when they were loaded, and not counted: {}",
    "partly": "{}",
    "traced": "recorded by tracing, which is slower: {}",
}


def vary_view(one: ValueVariation) -> VaryView:
    """Summarise the values of one name."""
    return VaryView(
        one.name, one.count, one.distinct, one.first, one.last, one.least, one.most, one.some
    )


def value_views(pairs: Iterable[RecordedValue]) -> tuple[ValueView, ...]:
    """Convert names with their values."""
    return tuple(ValueView(one.name, one.text) for one in pairs)


def is_passing(run: RunView) -> bool:
    """Return whether a run ended successfully."""
    return run.exit_code == 0 and not run.timed_out
