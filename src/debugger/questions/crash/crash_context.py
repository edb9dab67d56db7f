"""Inspects the stop of a crash: values, callers, the address, other threads."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError
from debugger.model import answers
from debugger.model.exception_cause import ENVIRONMENTS
from debugger.model.location import is_library
from debugger.model.program import Frame, Stack, Variable
from debugger.model.statement import StatementReads
from debugger.questions.crash.comprehension_element import name_element
from debugger.questions.crash.crash_facts import CrashFacts, is_null
from debugger.questions.crash.failed_condition import (
    compared_values,
    guilty_values,
    is_result_followed,
)
from debugger.questions.crash.failed_statement import (
    FailedStatement,
    inspect_statement,
    parse_statement,
    read_statement,
)
from debugger.questions.crash.fault_address import address_of
from debugger.questions.crash.memory_fault import THIS
from debugger.questions.crash.replaced_exception import add_replaced, note_rethrow
from debugger.questions.crash.sanitizer_report import summed_up
from debugger.questions.runner import evidence_store
from debugger.questions.runner.answer import CallerView, ThreadGroup
from debugger.session import source_files, stop_report, views
from debugger.session.pointers import pointer_notes
from debugger.session.pointers.pointer_notes import PointerNotes
from debugger.session.session import Session

_FAULTING = "faulting address"  # no expression
_PLAIN = frozenset({"number", "unmapped", "no_address"})  # kinds of pointers
_LEVELS = 40  # frames to read
_DEPTH_MAX = 100_000  # frames to count in a recursion
_RECURSIVE = 8  # frames of one function among the innermost: it calls itself
_TOO_DEEP = ("call stack size", "stack overflow")  # of V8, of Go
_CYCLE_SHOWN = 4  # functions that call one another
_THREADS_S = 2.0  # seconds to read the other threads' stacks
_SANITIZERS = ("__sanitizer::", "__tsan::", "__asan::", "__lsan::")
_THREADS_MAX = 60
_CALLERS = 6  # callers with source
_OF_A_CALLER = 5  # values of one caller
_MAINS = frozenset({"argc", "argv", "envp"})  # unless the call names them


class CrashContext(Struct, frozen=True):
    """The inspection of one stop; `facts` are the input for its cause."""

    stop: answers.Stop
    facts: CrashFacts
    frame: answers.FrameView | None
    source: tuple[answers.SourceLine, ...]
    inside: answers.FrameView | None
    address: str | None
    values: tuple[answers.VariableView, ...]
    locals: tuple[answers.VariableView, ...]
    locals_total: int
    callers: tuple[CallerView, ...]
    frames_total: int | None
    thread_name: str = ""
    threads: tuple[ThreadGroup, ...] = ()
    threads_total: int = 0
    notes: tuple[str, ...] = ()
    pointers: PointerNotes = PointerNotes()
    # The variable of a comprehension, and which element it is.
    element: tuple[str, str] = ("", "")


async def inspect_crash(
    session: Session, stop: answers.Stop, output: Sequence[str]
) -> CrashContext:
    """Inspect a stop at a crash (a job).

    Raises:
        DebuggerError: The backend's error if not even the stack can be read.
    """
    thread = stop.thread if stop.thread is not None else 0
    stack = await session.backend.read_stack(thread, levels=_LEVELS)
    address, kind, words = await address_of(session, stop, stack)
    is_deep = kind == "stack_overflow" or _is_too_deep(stop)
    library_frame, frame = _crash_frames(session, stop, stack, kind)
    session.selection.select_frame(frame)
    exception = None if stop.signal else stop.exception
    is_call = kind == "not_executable"
    statement = await inspect_statement(session, frame, is_call=is_call, raised=exception)
    read, known = statement.reads, statement.values
    shown, place = _reported_frame(session, frame, output)
    own, total_locals = await _crash_locals(session, _frame_with_locals(frame, shown), read)
    this = {one.name: one.value for one in own if one.name == "this" and is_null(one.value)}
    recursion, outer, first = await _inspect_recursion(session, thread, stack, is_deep=is_deep)
    threads = await _read_threads(session, thread)
    facts = CrashFacts(
        function=shown.function if shown is not None else "",
        place=place,
        signal=stop.signal,
        exception=exception.type if exception else None,
        message=exception.message if exception else "",
        address=address,
        address_kind=kind,
        address_words=words,
        accesses=(*read.accesses, THIS) if this else read.accesses,
        operands=read.operands,
        values={name: one.value for name, one in known.items()} | this,
        said=tuple(output),
        runtime=_functions_below(stack, frame),
        recursion=recursion,
        is_recursion_cut=is_deep and recursion is not None and first is None,
    )
    facts = await add_replaced(session, frame, exception, facts)
    return CrashContext(
        stop=stop,
        facts=_add_failed_check(facts, statement, shown, own),
        frame=shown,
        source=_failure_source(shown),
        inside=views.frame_view(library_frame) if library_frame is not None else None,
        address=hex(address) if address is not None else None,
        values=_other_values((*(one.base for one in read.accesses), *read.operands), known, own),
        locals=own,
        locals_total=total_locals,
        callers=await _caller_views(session, frame, outer),
        frames_total=stack.total if recursion is None else recursion[1],
        thread_name=threads.name,
        threads=threads.groups,
        threads_total=threads.total,
        notes=(*await _began_with(session, first), *await note_rethrow(session, frame)),
        pointers=await _explain_pointers(session, frame, address, [*known.values(), *own]),
        element=await name_element(session, frame),
    )


def _frame_with_locals(frame: Frame | None, shown: answers.FrameView | None) -> Frame | None:
    """Return the user frame; None where a report names another one: its locals are not that's."""
    return frame if frame is None or shown == views.frame_view(frame) else None


def _add_failed_check(
    facts: CrashFacts,
    statement: FailedStatement,
    shown: answers.FrameView | None,
    own: Sequence[answers.VariableView],
) -> CrashFacts:
    """Add the operands by which the check of a statement failed."""
    guilty = guilty_values(shown, statement.values, own)
    every = {one.name: one.value for one in own}
    every |= {name: one.value for name, one in statement.values.items()}
    compared = compared_values(shown, guilty, every)
    call = statement.find_nothing_call(
        facts.message, is_fault=facts.signal is not None, is_inside=bool(facts.runtime)
    )
    return msgspec.structs.replace(
        facts,
        called=statement.reads.called,
        guilty=tuple(guilty),
        compared=tuple(compared),
        reported=statement.list_reported(every),
        compared_calls=statement.list_compared_calls(shown, every),
        suspect=statement.suspect,
        nothing_call=call,
        is_nothing_followed=is_result_followed(shown, call),
        values=compared | guilty | dict(facts.values),
    )


async def _explain_pointers(
    session: Session,
    frame: Frame | None,
    address: int | None,
    values: Sequence[answers.VariableView],
) -> PointerNotes:
    """Explain the suspicious pointers of a crash, at most 3, those of its statement first."""
    found = pointer_notes.find_pointers(values)
    if address:
        found.append(pointer_notes.ExaminedPointer(_FAULTING, address))
    known = await pointer_notes.explain_pointers(session, found, frame)
    # The answer's first lines say what a faulting address is that is only a number, but not of one
    # below zero that it is a number.
    shown = (
        one
        for one in known.views
        if one.kind not in _PLAIN
        or int(one.value, 16) != address
        or (one.kind == "number" and int(one.value, 16) >> 63)
    )
    omitted = tuple(one for one in known.omitted if one != _FAULTING)
    return msgspec.structs.replace(known, views=tuple(shown), omitted=omitted)


def _crash_frames(
    session: Session, stop: answers.Stop, stack: Stack, address_kind: str
) -> tuple[Frame | None, Frame | None]:
    """Return the library frame of the crash, if any, and the user frame to inspect."""
    library_frame, frame = _user_frames(session, stack)
    if library_frame is None and stop.exception is not None and stop.signal is None:
        library_frame = _raising_frame(session, stack, frame)
    if address_kind == "stack_overflow":
        frame = _calling_frame(stack, frame)
    elif _is_too_deep(stop):
        frame = _recursing_frame(stack, frame)
    return library_frame, frame


def _functions_below(stack: Stack, frame: Frame | None) -> tuple[str, ...]:
    inner = [one for one in stack.frames if frame is None or one.index < frame.index]
    return tuple(one.function for one in inner)


def _failure_source(frame: answers.FrameView | None) -> tuple[answers.SourceLine, ...]:
    if frame is None:
        return ()
    return source_files.failure_lines(frame.file, frame.line, column=frame.column)


def _other_values(
    names: Iterable[str],
    known: Mapping[str, answers.VariableView],
    own: Sequence[answers.VariableView],
) -> tuple[answers.VariableView, ...]:
    """Return the values of a statement that are not among the frame's locals."""
    return tuple(
        answers.VariableView(name, known[name].value)
        for name in dict.fromkeys(names)
        if name in known and name not in ENVIRONMENTS and not _is_local(name, own)
    )


def _user_frames(session: Session, stack: Stack) -> tuple[Frame | None, Frame | None]:
    """Return the library frame of the crash, if any, and the user frame that called it."""
    chosen = session.selection.frame
    if chosen is None or not is_library(chosen.file, session.target.cwd):
        return None, chosen
    own = next(
        (
            one
            for one in stack.frames
            if source_files.is_readable(one.file) and not is_library(one.file, session.target.cwd)
        ),
        None,
    )
    return (chosen, own) if own is not None else (None, chosen)


def _raising_frame(session: Session, stack: Stack, frame: Frame | None) -> Frame | None:
    """Return the library function that raised an exception, below the shown frame."""
    innermost = next(iter(stack.frames), None)
    if innermost is None or frame is None or innermost.index == frame.index:
        return None
    return innermost if is_library(innermost.file, session.target.cwd) else None


def _calling_frame(stack: Stack, frame: Frame | None) -> Frame | None:
    """Return the frame of a recursive call: the innermost one has no room for its own values."""
    if frame is None:
        return None
    later = [one for one in stack.frames if one.index > frame.index]
    return later[0] if later and source_files.is_readable(later[0].file) else frame


def _reported_frame(
    session: Session, frame: Frame | None, output: Sequence[str]
) -> tuple[answers.FrameView | None, str]:
    """Return the frame to report, and its index.

    Debuggers see only the runtime's frames at a report of TSan, which switches to its own stack.
    """
    view = views.frame_view(frame) if frame is not None else None
    summary = summed_up(output)
    if summary is not None and frame is not None and is_library(frame.file, session.target.cwd):
        function, file, line = summary
        view = answers.FrameView(0, function, file, line)
    if view is None or view.file is None:
        return view, ""
    name = Path(view.file).name
    return view, f"{name}:{view.line}" if view.line else name


def _is_local(name: str, own: Iterable[answers.VariableView]) -> bool:
    return any(one.name == name for one in own)


def _is_too_deep(stop: answers.Stop) -> bool:
    """Return whether an exception reports too deep a recursion, in Python or in V8."""
    exception = stop.exception
    if exception is None:
        return False
    message = exception.message.lower()
    return exception.type == "RecursionError" or any(words in message for words in _TOO_DEEP)


def _recursing_frame(stack: Stack, frame: Frame | None) -> Frame | None:
    """Return the innermost frame at one of the lines of a recursion.

    The innermost frame of all may be at its function's beginning: a debugger's trace function had
    no stack left there, and the program alone would have had.
    """
    lines = Counter((one.function, one.line) for one in stack.frames)
    for one in stack.frames:
        is_at_or_outside = frame is not None and one.index >= frame.index
        if is_at_or_outside and lines[one.function, one.line] >= _RECURSIVE // 2:
            return one
    return frame


def _recursion_cycle(stack: Stack) -> tuple[str, ...]:
    """Return the functions that call one another repeatedly, callers first."""
    counted = Counter(one.function for one in stack.frames)
    most = max(counted.values(), default=0)
    if most < _RECURSIVE:
        return ()
    often = {function for function, count in counted.items() if count > most // 2}
    names = dict.fromkeys(one.function for one in stack.frames if one.function in often)
    return tuple(names)[::-1]


async def _inspect_recursion(
    session: Session, thread: int, stack: Stack, *, is_deep: bool
) -> tuple[tuple[str, int] | None, Stack, Frame | None]:
    """Return a recursion and its depth, the frames before it, and its first frame.

    Without a deep recursion the frames are those of the given stack.
    """
    recursion = await _describe_recursion(session, thread, stack)
    if recursion is None or not is_deep:
        return recursion, stack, None
    outer, first = await _recursion_start(session, thread, stack, recursion[1])
    return (recursion[0], _count_recursing(stack, first) or recursion[1]), outer, first


async def _describe_recursion(
    session: Session, thread: int, stack: Stack
) -> tuple[str, int] | None:
    """Describe the recursive functions, and the depth of the stack."""
    names = _recursion_cycle(stack)
    if not names:
        return None
    shown = names[:_CYCLE_SHOWN]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    function = ", ".join(shown) + more
    total = stack.total
    if total is None or total <= _LEVELS:
        with suppress(DebuggerError):
            total = len((await session.backend.read_stack(thread, levels=_DEPTH_MAX)).frames)
    return function, total or len(stack.frames)


async def _recursion_start(
    session: Session, thread: int, innermost: Stack, total: int
) -> tuple[Stack, Frame | None]:
    """Return the frames that began a recursion, and the recursion's own first frame.

    The first is None if the debugger does not report it.
    """
    cycle = _recursion_cycle(innermost)
    try:
        start = max(0, total - _LEVELS)
        stack = await session.backend.read_stack(thread, start=start, levels=_LEVELS)
    except DebuggerError:
        return Stack(()), None
    recursing = [one for one in stack.frames if one.function in cycle]
    outer = tuple(one for one in stack.frames if one.function not in cycle)
    if not recursing or recursing[-1] is stack.frames[-1]:
        return Stack(()), None
    first = recursing[-1]
    return Stack(tuple(one for one in outer if one.index > first.index), total), first


def _count_recursing(innermost: Stack, first: Frame | None) -> int:
    """Count the frames of a recursion, without its callers and callees; 0: unknown."""
    cycle = _recursion_cycle(innermost)
    inner = next((one.index for one in innermost.frames if one.function in cycle), 0)
    return first.index - inner + 1 if first is not None else 0


async def _began_with(session: Session, first: Frame | None) -> tuple[str, ...]:
    """Describe a recursion's first call, with its arguments."""
    if first is None:
        return ()
    shown: list[str] = []
    with suppress(DebuggerError):
        names = await session.backend.argument_names(first) or []
        own = {one.name: one for one in await stop_report.frame_locals(session, first)}
        for name in names[:_OF_A_CALLER]:
            if name in own and not evidence_store.is_dull(own[name]):
                value = await evidence_store.expanded_view(session, own[name])
                shown.append(f"{name}={value.value}")
    return (f"the recursion began with {first.function}({' '.join(shown)})",)


async def _crash_locals(
    session: Session, frame: Frame | None, read: StatementReads
) -> tuple[tuple[answers.VariableView, ...], int]:
    """Return the locals, those in the statement first, each with its children."""
    if frame is None:
        return (), 0
    try:
        found = await stop_report.frame_locals(session, frame)
    except DebuggerError:
        return (), 0
    roots = {re.split(r"[.\[>-]", one)[0] for one in _read_names(read)}
    by_name = {one.name: one for one in found if not evidence_store.is_dull(one)}
    chosen = sorted(by_name.values(), key=lambda one: one.name not in roots)
    shown = [
        await evidence_store.expanded_view(session, one)
        for one in chosen[: evidence_store.LOCALS_MAX]
    ]
    return tuple(shown), len(chosen)


def _read_names(read: StatementReads) -> list[str]:
    return [*(one.base for one in read.accesses), *read.operands]


async def _caller_views(
    session: Session, frame: Frame | None, stack: Stack
) -> tuple[CallerView, ...]:
    """Return the callers with source, each with its arguments and the values of its call."""
    if frame is None:
        return ()
    found: list[CallerView] = []
    previous = frame
    for one in stack.frames:
        if one.index <= frame.index or not source_files.is_readable(one.file) or one.is_subtle:
            continue
        if is_library(one.file, session.target.cwd) and not is_library(
            frame.file, session.target.cwd
        ):
            continue
        if (one.function, one.line) == (previous.function, previous.line):
            continue  # a recursion is told once
        previous = one
        found.append(await _caller_view(session, one))
        if len(found) == _CALLERS:
            break
    return tuple(found)


async def _caller_view(session: Session, frame: Frame) -> CallerView:
    text = read_statement(frame)
    own: Sequence[Variable] = []
    arguments: Sequence[str] = []
    with suppress(DebuggerError):  # of a function that awaits, js-debug knows the place alone
        own = await stop_report.frame_locals(session, frame)
        arguments = await session.backend.argument_names(frame) or []
    named = {re.split(r"[.\[>-]", one)[0] for one in _read_names(parse_statement(frame))}
    is_module = frame.function in {"<module>", "<anonymous>", "<main>", "(anonymous)"}
    chosen = [
        one
        for one in own
        if one.name in named or (one.name in arguments and not is_module and one.name not in _MAINS)
    ]
    by_name = {one.name: one for one in chosen if not evidence_store.is_dull(one)}
    return CallerView(
        frame=views.frame_view(frame),
        text=text,
        values=tuple(
            [
                await evidence_store.expanded_view(session, one)
                for one in list(by_name.values())[:_OF_A_CALLER]
            ]
        ),
    )


@dataclass(frozen=True, slots=True)
class _ProgramThreads:
    """Describes the threads at a crash: the name of its own, and where the others are."""

    name: str = ""
    groups: tuple[ThreadGroup, ...] = ()
    total: int = 0


async def _read_threads(session: Session, crashed: int) -> _ProgramThreads:
    """Return the name of the thread that crashed, and the others grouped by location.

    A name that another thread has, too, is the program's own, and left out.
    """
    try:
        threads = await session.backend.list_threads()
    except DebuggerError:
        return _ProgramThreads()
    others = [one for one in threads if one.id != crashed]
    shared = {one.name for one in others}
    name = next((one.name for one in threads if one.id == crashed), "")
    name = "" if name in shared else name
    total = len(threads)
    groups: dict[tuple[object, ...], ThreadGroup] = {}
    limit = asyncio.get_running_loop().time() + _THREADS_S
    for one in others[:_THREADS_MAX]:
        if asyncio.get_running_loop().time() > limit:
            break
        with suppress(DebuggerError):
            frames = (await session.backend.read_stack(one.id, levels=12)).frames
            readable = [each for each in frames if source_files.is_readable(each.file)]
            cwd = session.target.cwd
            # The sources of Go's runtime can be read, too.
            written = (each for each in readable if not is_library(each.file, cwd))
            own = next(written, next(iter(readable), None))
            if own is None and any(each.function.startswith(_SANITIZERS) for each in frames):
                total -= 1  # it has a thread of its own, and may stop others
                continue
            at = own or (frames[0] if frames else None)
            key = (at.function, at.file, at.line) if at is not None else ()
            group = groups.get(key) or ThreadGroup(
                0, views.frame_view(at) if at is not None else None
            )
            names = group.names if one.name in group.names else (*group.names, one.name)[:3]
            groups[key] = msgspec.structs.replace(group, count=group.count + 1, names=names)
    return _ProgramThreads(name, tuple(sorted(groups.values(), key=lambda one: -one.count)), total)
