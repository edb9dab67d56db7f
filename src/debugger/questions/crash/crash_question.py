"""Explains a crash: runs the program to its end, and inspects each stop that may be the crash."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import UNSET

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.text_filters import without_traces
from debugger.model.typescript_refusal import typescript_notes
from debugger.questions.crash import exit_calls
from debugger.questions.crash.closed_channel import describe_closing
from debugger.questions.crash.crash_cause import parse_assertion
from debugger.questions.crash.crash_facts import CrashFacts
from debugger.questions.crash.crash_stops import (
    CRASHES,
    RAISED,
    AwaitedException,
    CrashStop,
    CrashStops,
    choose_crash,
    earlier_causes,
    explain_chosen,
    later_causes,
    raised_breakpoints,
)
from debugger.questions.crash.reported_crash import (
    OUTPUT_MAX,
    PANICKED,
    explain_from_output,
    is_from_traceback,
    python_stack,
    usual_exit,
)
from debugger.questions.hang.goroutine_report import describe_deadlock, describe_map_users
from debugger.questions.runner import question_run
from debugger.questions.runner.answer import CallerView, Crash, ValueOrigin
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.session import process_tree, source_files
from debugger.session.session_state import is_running_program
from debugger.session.stop_report import MISSED, OVERFLOWED
from debugger.sources.javascript_declarations import (
    describe_undeclared,
    find_outer_declarations,
    find_undeclared,
)

_SEEN_MAX = 20  # possible crashes
_RESUMED_MAX = 10_000  # stops of one run
_END_S = 5.0  # a program that has crashed ends soon; a handler of its own may not
COMPILED = (
    "it crashed in compiled code, which this adapter does not see: "
    "debugger crash --adapter gdb -- CMD debugs the interpreter"
)
_EARLY = re.compile(r"Cannot access '([\w$]+)' before initialization")  # V8's message
_TYPED_NIL = re.compile(r"[\w./]+\((\*[\w./]+)\) nil\Z")  # delve's text
_EMPTY = "its input is empty: --stdin FILE gives it one"
_LAST_RAISED = "before it ended this was raised, and caught as far as its output shows"
_RUST_OVERFLOW = "has overflowed its stack"
_NO_LINES = "its class has no line numbers, and no names of locals: compile it with javac -g"
_RUNS_ON = "it runs on, without the debugger"
_ENDED_THEN = "the program was ended then"
_HANDLED = (
    "an exception that the program handles, as a server does, is no crash: "
    "debugger crash --raised --pid N waits for the first in its own code"
)
_PACKAGE_FILES_MAX = 100  # files of a Go package that are read
_NOT_KEPT = "no session is kept: the debugger did not stop there, and the program has ended"
_AGAIN_S = 20.0  # a longer run is not repeated
_RUN_AGAIN = "it was run a second time, to stop where this is thrown first"
_OVERFLOW_UNSEEN = "V8 does not stop at a stack overflow, so no values are known"


async def find_crash(
    question: QuestionRun,
    *,
    takes_raised: bool = False,
    may_repeat: bool = True,
    on_crash: Callable[[RunningQuestion, answers.Stop], Awaitable[None]] | None = None,
) -> Crash:
    """Run a program to its crash or its end, and explain the crash.

    With `takes_raised`, to the first exception in the program's own code, caught or not. With
    `may_repeat` it is run again where only that shows where an exception was thrown. `on_crash` is
    called at each stop that is the crash.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED; NOT_SUPPORTED for exceptions
        of a language that cannot be stopped at.
    """
    # 1. The program runs with breakpoints on its language's exceptions; faults stop it anyway.
    # 2. Each stop that may be the crash is inspected at once (`CrashStops.add_stop`), because its
    #    values are gone when the program continues. Whether it was the crash is known only at the
    #    end: a handler may survive a signal, and a caller may catch an exception.
    # 3. At the end `CrashStops.at_the_end` chooses by the exit status and the program's own report
    #    of an uncaught exception. Without a stop the answer comes from the output alone.
    # 4. With `keep` the run stays at the first such stop. Where V8 expected a handler it did not
    #    stop; then a second run stops at every throw, up to the same one.
    if takes_raised:
        breakpoints = raised_breakpoints(question.languages)
        question = replace(question, breakpoints=breakpoints)
    began = asyncio.get_running_loop().time()
    answer = await _run_once(question, CrashStops(takes_raised, on_crash=on_crash))
    took_s = asyncio.get_running_loop().time() - began
    # A library has caught it and reports it, as that of Kotlin's coroutines does.
    is_unseen = "java" in question.languages and is_from_traceback(answer)
    is_on = _is_thrown_on(answer)
    is_launched = isinstance(question.target, LaunchTarget) and answer.session is UNSET
    is_hidden = (is_unseen or is_on) and may_repeat and not takes_raised
    if is_hidden and is_launched and took_s < _AGAIN_S:
        again = await _stopped_where_thrown(question, answer, on_crash, is_on=is_on)
        return again or answer
    if not question.keep or answer.session is not UNSET or answer.outcome != "crashed":
        return answer
    again = await _stopped_again(question, answer)
    return again or msgspec.structs.replace(answer, notes=(*answer.notes, _NOT_KEPT))


def _is_thrown_on(answer: Crash) -> bool:
    """Return whether a handler of C++ has thrown an exception on: that hides where it came from."""
    frame = answer.frame
    if answer.signal is None or frame is None or not frame.file or not frame.line:
        return False
    lines = source_files.read_source(frame.file) or ()
    return frame.line <= len(lines) and lines[frame.line - 1].strip() == "throw;"


async def _stopped_where_thrown(
    question: QuestionRun,
    answer: Crash,
    on_crash: Callable[[RunningQuestion, answers.Stop], Awaitable[None]] | None,
    *,
    is_on: bool,
) -> Crash | None:
    """Run a program again, to stop where the exception is thrown that ended it.

    `is_on`: a handler of C++ has thrown it on.
    """
    exception, frame = answer.exception, answer.frame
    if exception is None or frame is None:
        return None
    kind = exception.type.rpartition(".")[2]
    awaited = AwaitedException(exception, (None, None) if is_on else (frame.file, frame.line))
    catch = RAISED["c++"] if is_on else BreakpointSpec(catch="raised", type=kind)
    catching = replace(question, breakpoints=(catch,))
    second = await _run_once(catching, CrashStops(awaited=awaited, on_crash=on_crash))
    if second.exception is None or is_from_traceback(second):
        return None
    return msgspec.structs.replace(second, notes=(*second.notes, _RUN_AGAIN))


async def _stopped_again(question: QuestionRun, answer: Crash) -> Crash | None:
    """Run a Node program again, to stop at an exception that V8 expected to be caught."""
    exception = answer.exception
    is_node = "javascript" in question.languages and isinstance(question.target, LaunchTarget)
    if not is_node or exception is None or answer.kind == "stack_overflow":
        return None
    frame = answer.frame
    awaited = AwaitedException(exception, (frame.file, frame.line) if frame is not None else None)
    catching = replace(question, breakpoints=(BreakpointSpec(catch="throw"),))
    second = await _run_once(catching, CrashStops(awaited=awaited))
    if second.session is UNSET:
        return None
    return msgspec.structs.replace(second, notes=(*second.notes, _RUN_AGAIN))


async def _run_once(question: QuestionRun, found: CrashStops) -> Crash:
    takes_raised = found.takes_raised
    async with question_run.run_question(question) as run:
        stops, last, lost = await _collect_stops(run, question, found)
        if stops and run.over_s > _END_S:
            lost = [*lost, f"it took {run.over_s:.0f} s more than --timeout to inspect it"]
        if question.keep and stops and last.state == State.STOPPED.value:
            run.keep_stopped(last)
        if last.timed_out and not stops and isinstance(question.target, LaunchTarget):
            return await _timed_out_answer(run, last)
        if not stops:
            handled = _describe_handled(question, last) if not takes_raised else []
            notes = [*_notes_of(run, last), *lost, *handled]
            answer = build_no_crash_answer(run, last, run.read_output(), notes, found.last_raised)
            return found.complete_answer(answer, run.all_output_lines())
        if takes_raised and last.state == State.STOPPED.value:
            return _answer_raised(build_crash_answer(run, stops, last, lost, waits=False), question)
        return build_crash_answer(run, stops, last, lost)


def _answer_raised(answer: Crash, question: QuestionRun) -> Crash:
    is_attached = isinstance(question.target, AttachTarget)
    notes = () if question.keep else (_RUNS_ON,) if is_attached else (_ENDED_THEN,)
    return msgspec.structs.replace(answer, outcome="raised", notes=(*answer.notes, *notes))


def _describe_handled(question: QuestionRun, last: answers.Stop) -> list[str]:
    """Return a note on how to find exceptions that a process handles itself."""
    is_over = last.state == State.TERMINATED.value
    target = question.target
    can_catch = not RAISED.keys().isdisjoint(question.languages)
    return [_HANDLED] if can_catch and not is_over and isinstance(target, AttachTarget) else []


async def _collect_stops(
    run: RunningQuestion, question: QuestionRun, found: CrashStops
) -> tuple[list[CrashStop], answers.Stop, list[str]]:
    """Run to the end; return the possible crashes, the last stop, and errors on the way."""
    stop = await run.wait_first()
    over: answers.Stop | None = None
    for _ in range(_RESUMED_MAX):
        if stop.state != State.STOPPED.value:
            over = over or stop
            child = (
                await run.wait_for_child(_END_S) if over.state == State.TERMINATED.value else None
            )
            if child is None or child.state != State.STOPPED.value:
                return found.at_the_end(run, over), over, []
            stop = child
        if await found.add_stop(run, stop):
            _prepare_tracer(question)
            is_full = len(found.seen) == _SEEN_MAX
            if (
                question.keep
                or found.takes_raised
                or not is_running_program(question.target)
                or is_full
            ):
                return found.seen, stop, []
        if not is_running_program(question.target):
            raise _no_crash_in_it(question.target)
        within = _END_S if found.seen and found.seen[-1].is_fatal else run.left_s
        try:
            stop = await run.go_on(run.session_of(stop), min(within, max(run.left_s, _END_S)))
        except DebuggerError as error:
            if not found.seen:
                raise
            return found.seen, stop, [f"how it ended is not known: {error.message}"]
    raise DebuggerError(
        ErrorCode.TIMEOUT,
        f"it stopped {_RESUMED_MAX:,} times, and never for a crash",
        hint="debugger start PROGRAM shows for what it stops",
    )


def _prepare_tracer(question: QuestionRun) -> None:
    """Start the debugger of further runs, while this one comes to its end."""
    if question.tracer is not None:
        with suppress(DebuggerError):  # then the crash is explained without further runs
            question.tracer.prepare()


def _no_crash_in_it(target: LaunchTarget | AttachTarget) -> DebuggerError:
    core = shlex.quote(str(target.core)) if isinstance(target, AttachTarget) else ""
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        "no crash: no signal had ended the process that the core file is of",
        hint=f"debugger attach --core {core}, then debugger backtrace --all",
    )


def build_crash_answer(
    run: RunningQuestion,
    crashes: Sequence[CrashStop],
    last: answers.Stop,
    lost: Sequence[str],
    *,
    waits: bool = True,
) -> Crash:
    """Build the answer of a run that had crashes; `last` is its last stop, or its end."""
    output = run.read_output()
    is_over = last.state == State.TERMINATED.value
    crashes = _without_repeated(crashes)
    chosen = choose_crash(crashes, is_survived=is_over and last.exit_code == 0)
    is_well, survival_notes = _describe_survival(run, chosen, last)
    texts = tuple(line.text for line in output.lines)
    notes = [*_notes_of(run, last), *lost, *survival_notes, *_notes_of_output(run, chosen, texts)]
    cause = explain_chosen(crashes, chosen, texts)
    if waits and not is_over and is_running_program(run.session.target) and not run.is_kept:
        notes.append(f"{_END_S:g} s later it had not ended")
    scene, facts = chosen.scene, chosen.scene.facts
    code, signal = _exit_of(last, facts) if is_over else (None, None)
    shown, traces = without_traces(output.lines, _repeated_lines(chosen))
    exception = _exception_view(chosen)
    return Crash(
        outcome="survived" if is_well else "crashed",
        cause=cause.text,
        kind=cause.kind,
        signal=facts.signal,
        address=scene.address,
        address_kind=facts.address_kind or None,
        address_text=facts.address_words or None,
        exception=exception,
        thread=scene.stop.thread,
        thread_name=scene.thread_name,
        frame=scene.frame,
        source=scene.source,
        values=scene.values,
        locals=scene.locals,
        locals_total=scene.locals_total,
        inside=scene.inside,
        callers=scene.callers,
        frames_total=scene.frames_total,
        threads=scene.threads,
        threads_total=scene.threads_total,
        output=shown[-OUTPUT_MAX:],
        output_total=output.total,
        output_dropped=output.dropped,
        traces_left_out=traces,
        exit_code=code,
        exit_signal=signal,
        earlier=earlier_causes(crashes, chosen),
        adapter=run.session.adapter,
        usual_exit=usual_exit(run, exception.type if exception is not None else None),
        pointers=scene.pointers.views,
        pointers_omitted=scene.pointers.omitted,
        why=_named_value(cause.culprit, facts, scene.element, cause.culprit_value),
        why_compared=_named_value(cause.compared_with, facts, scene.element),
        notes=(*cause.notes, *scene.notes, *later_causes(crashes, chosen), *dict.fromkeys(notes)),
        session=run.kept.name if run.kept is not None else UNSET,
    )


def _named_value(
    expression: str, facts: CrashFacts, element: tuple[str, str], value: str = ""
) -> ValueOrigin | None:
    """Return the value that a cause names, whose origin is not known yet.

    The variable of a comprehension is named as the element that it is.
    """
    if not expression:
        return None
    variable, container = element
    rest = expression.removeprefix(variable)
    is_element = bool(variable) and expression.startswith(variable) and rest[:1] in {"", ".", "["}
    known = value or facts.values.get(expression)
    return ValueOrigin(container + rest if is_element else expression, known)


def _without_repeated(crashes: Sequence[CrashStop]) -> Sequence[CrashStop]:
    """Omit the crashes that report again what the first one was."""
    first = crashes[0]
    # A sanitizer reports a fault again that was handled when it happened.
    crashes = [one for one in crashes if one.cause.kind != "sanitizer" or one is first]
    crashes = [one for one in crashes if one is first or not _is_sent_again(one, first)]
    return _without_runtime_abort(crashes)


def _notes_of_output(run: RunningQuestion, crash: CrashStop, lines: Sequence[str]) -> list[str]:
    """Return what the output, and the reports of the program's processes, add to a crash."""
    facts, raised = crash.scene.facts, _exception_view(crash)
    tasks: list[str] = []
    if raised is not None:
        sessions = run.session.family.tree_sessions(run.session)
        tasks = exit_calls.describe_task_error(sessions, raised, run.session.target.cwd)
    notes = python_stack(lines) if facts.signal is not None else []
    empty = [_EMPTY] if "EOFError" in (facts.exception or "") else []
    frame = crash.scene.frame
    is_java = run.session.traits.runtime is Runtime.JAVA
    unlined = [_NO_LINES] if is_java and frame is not None and frame.line is None else []
    scene = crash.scene
    called = (one for each in scene.callers for one in each.values)
    typed = explain_typed_nil([*scene.values, *scene.locals, *called])
    closing = closing_notes(frame, facts, crash.cause.culprit)
    closing += describe_deadlock(facts.message, lines, run.session.target.cwd)
    others = [one.frame for one in scene.threads if one.frame is not None]
    places = [(one.function, one.file, one.line) for one in others if one.file and one.line]
    closing += describe_map_users(facts.message, places)
    early = [*_early_read(frame, facts), *typed, *closing]
    return [*notes, *early, *empty, *tasks, *typescript_notes(lines), *unlined]


def explain_typed_nil(values: Sequence[answers.VariableView]) -> list[str]:
    """Explain an interface of Go that holds a nil pointer: a comparison with nil is false."""
    for one in values:
        found = _TYPED_NIL.match(one.value)
        if found is not None:
            return [f"{one.name} is an interface that holds a nil {found[1]}: {one.name} != nil"]
    return []


def closing_notes(frame: answers.FrameView | None, facts: CrashFacts, channel: str) -> list[str]:
    """Say which lines of a frame's package close a channel of Go that a panic is about."""
    if not channel or frame is None or not (frame.file or "").endswith(".go"):
        return []
    files = sorted(Path(frame.file or "").parent.glob("*.go"))
    files = [one for one in files if not one.name.endswith("_test.go")][:_PACKAGE_FILES_MAX]
    sources = {str(one): source_files.read_source(str(one)) or () for one in files}
    note = describe_closing(facts.message, channel, sources)
    return [note] if note else []


def _early_read(frame: answers.FrameView | None, facts: CrashFacts) -> list[str]:
    """Say where a variable of JavaScript is declared that was read before (ECMAScript: TDZ)."""
    found = _EARLY.search(facts.message) if facts.exception == "ReferenceError" else None
    if found is None or frame is None or not frame.file or not frame.line:
        return []
    lines = find_undeclared(frame.file, frame.line, [found[1]])
    lines = lines or find_outer_declarations(frame.file, frame.line, [found[1]])
    return [describe_undeclared(name, line) for name, line in lines.items()]


def _exit_of(last: answers.Stop, facts: CrashFacts) -> tuple[int | None, str | None]:
    """Return the exit code or the signal of a program that has ended."""
    if last.exit_code is not None and last.exit_code < 0:
        return None, last.signal or facts.signal  # lldb-dap 19 reports a signal so, at times
    return last.exit_code, last.signal


def _notes_of(run: RunningQuestion, last: answers.Stop) -> list[str]:
    """Return a stop's notes without the advice to use this question."""
    notes = [_OVERFLOW_UNSEEN if one == OVERFLOWED else one for one in run.notes_of(last)]
    return [one for one in notes if one != MISSED]


def _without_runtime_abort(crashes: Sequence[CrashStop]) -> Sequence[CrashStop]:
    """Drop the abort by which Rust's runtime ends a program at a stack overflow."""
    # Rust's handler of SIGSEGV reports the overflow, and then aborts.
    if len(crashes) < 2 or crashes[-1].scene.facts.signal != "SIGABRT":  # noqa: PLR2004
        return crashes
    is_overflow = crashes[-2].cause.kind == "stack_overflow"
    has_overflow = any(_RUST_OVERFLOW in line for line in crashes[-1].scene.facts.said)
    return crashes[:-1] if is_overflow and has_overflow else crashes


def _is_sent_again(one: CrashStop, first: CrashStop) -> bool:
    """Return whether the program's own handler, as Python's faulthandler, raised a fault again.

    LLDB shows this only by the missing address in the signal's description.
    """
    facts = one.scene.facts
    is_same = (facts.signal, one.scene.stop.session) == (
        first.scene.facts.signal,
        first.scene.stop.session,
    )
    return facts.signal is not None and is_same and facts.address_kind in {"sent", ""}


def _describe_survival(
    run: RunningQuestion, chosen: CrashStop, last: answers.Stop
) -> tuple[bool, list[str]]:
    """Return whether the program survived the stops, and describe that."""
    is_over = last.state == State.TERMINATED.value
    is_well = is_over and last.exit_code == 0
    notes = []
    if chosen.is_caught:
        is_well = True
        notes.append("it was caught, and the program ended by itself after it")
    if chosen.is_fatal and chosen.scene.stop.session != run.session.name:
        is_well = False
        kind = "worker" if run.session_of(chosen.scene.stop).pid is None else "process"
        notes.append(f"it was in {chosen.scene.stop.session}, a {kind} that the program started")
    if chosen.is_panic and is_over and last.exit_code not in {PANICKED, None}:
        is_well = True
    return is_well, notes


def _repeated_lines(chosen: CrashStop) -> list[str]:
    """Return the output lines that repeat the answer's first lines."""
    facts = chosen.scene.facts
    exception = chosen.scene.stop.exception
    causes = exception.causes if exception is not None else ()
    texts = [one.rpartition(", in ")[0] or one for one in causes]
    for line in facts.said:
        what = parse_assertion(line)
        if what is not None and f"assertion failed: {what}" in chosen.cause.text:
            texts.append(line.strip())
    if not facts.message:
        return [*texts, facts.exception] if facts.exception else texts
    messages = (f"{facts.exception}: {facts.message}", f"panic: {facts.message}", facts.message)
    return [*texts, *messages]


def _exception_view(chosen: CrashStop) -> answers.ExceptionView | None:
    exception = chosen.scene.stop.exception
    facts = chosen.scene.facts
    if chosen.is_panic:
        return answers.ExceptionView("panic", facts.message)
    if exception is None or facts.signal is None:
        return exception
    # The signal is told beside it; what is left are an exception's own words, and its causes.
    if facts.exception is not None:
        return answers.ExceptionView(facts.exception, facts.message, exception.causes[1:])
    return None


def build_no_crash_answer(
    run: RunningQuestion,
    last: answers.Stop,
    output: answers.Output,
    notes: list[str],
    last_raised: str | None = None,
) -> Crash:
    """Report that there was no crash, as far as can be seen."""
    is_over = last.state == State.TERMINATED.value
    target = run.session.target
    # Without a debugger's stop, as for a sanitizer that exits by itself.
    if is_over and (answer := explain_from_output(run, last, output, notes)) is not None:
        return answer
    unseen = process_tree.describe_unseen(run.session)
    notes += [*filter(None, [unseen]), *exit_calls.describe_exit_call(run.session)]
    if is_over and last.signal is not None:
        notes.append(_describe_kill(last.signal, run.session.traits.runtime))
    is_doubtful = is_over and last.exit_code not in {0, None} and last_raised is not None
    if is_doubtful:
        notes.append(f"{_LAST_RAISED}: {last_raised}")
    if not is_over and isinstance(target, AttachTarget) and is_running_program(target):
        notes.append(_RUNS_ON)
    return Crash(
        outcome="failed" if is_doubtful else "exited" if is_over else "running",
        signal=last.signal if is_over else None,
        frame=last.frame,
        source=last.source,
        output=output.lines[-OUTPUT_MAX:],
        output_total=output.total,
        output_dropped=output.dropped,
        exit_code=last.exit_code if is_over else None,
        exit_signal=last.signal if is_over else None,
        adapter=run.session.adapter,
        usual_exit=usual_exit(run, None),
        timed_out=not is_over,
        waited_s=last.waited_s,
        notes=tuple(dict.fromkeys(notes)),
    )


def _describe_kill(signal: str, runtime: Runtime) -> str:
    if signal in CRASHES and runtime in {Runtime.PYTHON, Runtime.NODE}:
        return COMPILED
    return f"{signal} came from outside, or from itself; no fault was seen"


async def _timed_out_answer(run: RunningQuestion, last: answers.Stop) -> Crash:
    """Report the location of a program that did not end in time."""
    # Stopped only to be reported: its session ends with the question.
    where = await run.stop_and_report()
    found = build_no_crash_answer(run, last, run.read_output(), list(run.notes_of(last)))
    if where is None:
        return found
    return msgspec.structs.replace(
        found,
        thread=where.thread,
        frame=where.frame,
        source=where.source,
        locals=where.locals,
        locals_total=where.locals_total,
        callers=tuple(
            CallerView(one)
            for one in where.stack
            if where.frame is not None and one.index > where.frame.index and one.file is not None
        )[:6],
        notes=(*found.notes, _EMPTY)
        if run.session.target.stdin == "/dev/null"  # type: ignore[union-attr]
        else found.notes,
    )
