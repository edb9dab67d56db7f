"""Explains a hang: watches the process in /proc, samples its threads, and judges the samples."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import msgspec

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.errors import DebuggerError
from debugger.model import answers, exception_cause
from debugger.model.debugger_words import Runtime
from debugger.model.events import EventKind, State
from debugger.model.location import is_library
from debugger.model.text_filters import without_traces
from debugger.questions.hang import (
    goroutine_waits,
    loop_details,
    native_waits,
    node_waits,
    php_waits,
    python_waits,
    reported_waits,
    thread_dump,
    thread_sampling,
)
from debugger.questions.hang.answer import (
    LAST_LINES,
    Hang,
    build_hang_answer,
    describe_run_end,
    join_groups,
)
from debugger.questions.hang.goroutine_report import describe_deadlock
from debugger.questions.hang.hang_verdict import HangVerdict, ThreadWait, decide_verdict
from debugger.questions.hang.thread_sampling import (
    ProcessWatch,
    SampledFrame,
    SampledThread,
    find_lasting_loop,
    summarise_thread,
    watch_process,
)
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.session import source_files
from debugger.session.session import Session
from debugger.session.session_state import is_running_program
from debugger.session.stepping import WaitLimit
from debugger.system.idle_detector import queued_s

_WINDOW_S = 0.5
_BETWEEN_S = 0.15
_SAMPLES = 5
_QUIET = 2  # samples of a program that computes nothing
_RETAKEN = 5  # samples that are taken again, because they show a signal handler
_SAMPLING_S = 6.0  # seconds for all samples
_PYTHON_S = 3.0  # seconds for one snapshot
_LATE_S = 5.0  # that a program gets more, at most, where others have the processors
_OWED_S = 0.1  # seconds; a shorter wait for a processor is ignored
_NODE_S = 2.0  # seconds until Node must return to its event loop
_ABORT_S = 3.0  # seconds until an aborted interpreter has ended
_SLOW_VALUES = "the values there took too long to read, and are left out"
_ABORTED = (
    "the interpreter did not answer: a call in compiled code holds its lock; "
    "SIGABRT ended it, and this stack is Python's faulthandler's"
)
_HOLDS_LOCK = (
    "it may be in a call of compiled code that holds the interpreter's lock, as of a regular "
    "expression: debugger hang --adapter gdb --pid {} shows that call; the line in Python is told "
    "only of a program that hang starts"
)
_UNSEEN = "the debugger could not look into it: {} — this is what the system tells"
_DUMPED = (
    "the JVM does not listen for a debugger: these are the threads of its own dump (jcmd), "
    "without values"
)
_IN_CHILD = "it is in {}, a process that the program started"
_CHILDREN = 8  # child processes that are looked into
_CHILD_S = 0.2  # how long what one of them uses is measured
_CAUSES = 2  # of child processes that the headline names
# What a program is started with, so that its waits can be read.
_ENVIRONMENTS = {
    Runtime.NODE: node_waits.with_hook,
    Runtime.PHP: php_waits.with_interrupts,
}
_AT_FAULT = {"deadlock", "busy", "moving"}


# What inspects a program that hangs, before its session ends.
ObserveHang = Callable[[RunningQuestion, Hang], Awaitable[Hang]]


@dataclass
class HangSamples:
    """All samples of a hanging program."""

    outside: ProcessWatch | None = None  # a later look than the first
    sampled: list[SampledThread] = field(default_factory=list)
    samples: int = 0
    notes: list[str] = field(default_factory=list)
    is_aborted: bool = False  # ended by SIGABRT, to learn where it was
    children: list[Hang] = field(default_factory=list)  # child processes of the program


async def explain_hang(
    question: QuestionRun, after_s: float, *, observe: ObserveHang | None = None
) -> Hang:
    """Explain the hang of a running process, or of a program started `after_s` earlier.

    With `observe` the program is not watched further: it inspects the hang, and then it is over.

    Raises:
        DebuggerError: What starting, or attaching to, the program raises.
    """
    # 1. An attached process is observed in /proc first (processor time, system calls), while no
    #    debugger disturbs it. A process that a signal has stopped is reported at once.
    # 2. A started program runs for `after_s`. If it ends by then, its end is the answer.
    # 3. `_sample_program` samples by language: Python by injected code, without a stop; an idle
    #    Node by its pending promises; everything else by stopping it several times.
    # 4. `hang_verdict` judges samples and observation together: a cycle of locks, a loop in which
    #    nothing changes, or a wait for something outside.
    # 5. If the debugger fails, the observation in /proc alone is the answer.
    began = asyncio.get_running_loop().time()
    interrupted = question.patience.interrupted
    target = question.target
    outside = None
    if isinstance(target, AttachTarget):
        # Before the debugger attaches: its own work would count as the program's.
        outside = await watch_process(target.pid or 0, _WINDOW_S, interrupted)
        if outside.is_stopped:
            return _stopped_answer(outside, began)
    elif (prepare := _ENVIRONMENTS.get(question.traits.runtime)) is not None:
        target = msgspec.structs.replace(target, env=prepare(target.env))
    patience = WaitLimit(after_s + _SAMPLING_S, interrupted)
    limited = QuestionRun(question.sessions, target, question.make_backend, question.name, patience)
    try:
        async with question_run.run_question(limited) as run:
            if isinstance(target, LaunchTarget):
                last, fault = await run_for(run, after_s)
                if last is not None:
                    return report_ended(run, last, began, fault)
            if outside is None:
                outside = await watch_process(run.session.pid or 0, _WINDOW_S, interrupted)
            samples = await _sample_program(run, outside)
            if run.session.state is State.TERMINATED and not samples.is_aborted:
                return report_ended(run, await run.wait_first(), began)
            answer = _hang_answer(run, samples, samples.outside or outside, began)
            observe = observe or partial(
                loop_details.add_loop_details, sampled=samples.sampled, began=began
            )
            return await observe(run, answer)
    except DebuggerError as error:
        if outside is None or not outside.last_threads:
            raise
        return await _answer_unattached(question, outside, error, began)


async def run_for(run: RunningQuestion, after_s: float) -> tuple[answers.Stop | None, str]:
    """Run a program for `after_s`; return its end, if it ended, and the last fault."""
    fault = ""
    limit = asyncio.get_running_loop().time() + after_s
    # `run_question` ends the run at this time; it is moved twice below.
    run.ends_at = limit
    stop = await run.wait_first()
    while stop.state == State.STOPPED.value and asyncio.get_running_loop().time() < limit:
        fault = stop.exception.message if stop.exception is not None else stop.signal or fault
        stop = await run.go_on(
            run.session_of(stop), max(0.0, limit - asyncio.get_running_loop().time())
        )
    late_s = 0.0
    while stop.state == State.RUNNING.value:
        # What it had to wait for a processor, on a machine with much to do, is not its own time.
        owed_s = min(queued_s(run.session.pid or 0), _LATE_S) - late_s
        if owed_s < _OWED_S or run.patience.interrupted.is_set():
            break
        late_s += owed_s
        run.ends_at = limit + late_s
        if not await thread_sampling.run_briefly(run, owed_s):
            stop = question_run.report_run_end(run) or stop
            break
    run.ends_at = asyncio.get_running_loop().time() + _SAMPLING_S
    return stop if stop.state == State.TERMINATED.value else None, fault


async def _sample_program(run: RunningQuestion, outside: ProcessWatch) -> HangSamples:
    """Sample the program by the method of its language, within a time limit."""
    samples = HangSamples()
    runtime = run.session.traits.runtime
    try:
        # A program that hangs may hang its debugger, too.
        async with asyncio.timeout(_SAMPLING_S):
            if runtime is Runtime.PYTHON:
                await _sample_python(run, outside, samples)
            elif runtime is Runtime.NODE and not outside.any_computes:
                await _sample_node(run, outside, samples)
                if (child := _launched_process(run, samples)) is not None:
                    return await _sample_child(run, child)
            else:
                await _sample_by_stopping(run, outside, samples)
    except (DebuggerError, TimeoutError) as error:
        reason = error.message if isinstance(error, DebuggerError) else "it did not answer in time"
        samples.notes.append(_UNSEEN.format(reason))
        if runtime is Runtime.PYTHON and outside.any_computes:
            await _written_at_abort(run, outside, samples)
    if runtime is Runtime.PYTHON and samples.sampled:
        # What is known of the program itself is the answer, however long its children take.
        with suppress(TimeoutError):
            async with asyncio.timeout(_SAMPLING_S):
                await _python_children(run, samples.outside or outside, samples.children)
    return samples


async def _sample_python(run: RunningQuestion, outside: ProcessWatch, samples: HangSamples) -> None:
    taken = await _take_snapshots(run, _SAMPLES if outside.any_computes else _QUIET)
    if outside.any_computes:
        # What was still beginning, on a machine with much to do, may wait by now.
        later = await watch_process(run.session.pid or 0, _WINDOW_S, run.patience.interrupted)
        if later.last_threads and not later.any_computes:
            samples.outside = outside = later
            taken = await _take_snapshots(run, _QUIET)
    # Nothing of ours stays in a process that is only attached to.
    await python_waits.remove_snapshot_code(run.session)
    samples.sampled = python_waits.merge_snapshots(taken, outside, run.session.target.cwd)
    samples.samples = len(taken)


async def _take_snapshots(run: RunningQuestion, count: int) -> list[python_waits.PythonSnapshot]:
    taken: list[python_waits.PythonSnapshot] = []
    for at in range(count):
        if at and not await thread_sampling.run_briefly(run, _BETWEEN_S):
            break
        async with asyncio.timeout(_PYTHON_S):
            taken.append(await python_waits.take_snapshot(run.session))
    return taken


async def _python_children(run: RunningQuestion, parent: ProcessWatch, found: list[Hang]) -> None:
    """Explain child processes that run the program's own code; idle ones are omitted."""
    awaited = [one for one in parent.waits.values() if one.kind == "child"]
    for child in run.session.family.live_children(run.session)[:_CHILDREN]:
        pid = child.pid
        if (
            pid is None
            or child.state is not State.RUNNING
            or child.traits.runtime is not Runtime.PYTHON
        ):
            continue
        with suppress(DebuggerError, TimeoutError):
            outside = await watch_process(pid, _CHILD_S, run.patience.interrupted)
            async with asyncio.timeout(_PYTHON_S):
                taken = [await python_waits.take_snapshot(child) for _ in range(_QUIET)]
                await python_waits.remove_snapshot_code(child)
            sampled = python_waits.merge_snapshots(taken, outside, run.session.target.cwd)
            is_awaited = any(str(pid) in re.findall(r"\d+", one.text) for one in awaited)
            own = python_waits.in_child(sampled, pid, is_awaited=is_awaited)
            if own:
                found.append(_verdict_answer(own, outside))


def _with_children(shown: Hang, children: Sequence[Hang]) -> Hang:
    """Add the child processes to the answer; a child at fault becomes its subject."""
    if not children:
        return shown
    ranked = sorted(children, key=lambda one: one.kind not in _AT_FAULT)
    causes = [shown.cause, *(one.cause for one in ranked[:_CAUSES])]
    more = len(children) - _CAUSES
    worst = ranked[0]
    if worst.kind in _AT_FAULT and shown.kind not in _AT_FAULT:
        shown = msgspec.structs.replace(
            shown, kind=worst.kind, frame=worst.frame, source=worst.source, loop=worst.loop
        )
    return msgspec.structs.replace(
        shown,
        cause="; ".join(causes) + (f"; {more} more child processes" if more > 0 else ""),
        groups=join_groups([shown.groups, *(one.groups for one in ranked)]),
        total=shown.total + sum(one.total for one in ranked),
    )


async def _sample_node(run: RunningQuestion, outside: ProcessWatch, samples: HangSamples) -> None:
    try:
        async with asyncio.timeout(_NODE_S):
            samples.sampled, notes = await node_waits.pending_awaits(run)
    except TimeoutError:
        samples.sampled = _by_calls(outside)
        notes = ["it does not come back to its event loop: a call that waits, and is not async"]
    samples.notes += notes
    samples.samples = 1


def _launched_process(run: RunningQuestion, samples: HangSamples) -> Session | None:
    """Return the only process that a launcher (npx, tsx) without user code waits for."""
    places = [place for one in samples.sampled for stack in one.stacks for place in stack]
    children = [
        one
        for one in run.session.family.live_children(run.session)
        if one.pid is not None and one.state is State.RUNNING and one.traits.runtime is Runtime.NODE
    ]
    is_launcher = not any(place.is_own for place in places)
    return children[0] if is_launcher and len(children) == 1 else None


async def _sample_child(run: RunningQuestion, child: Session) -> HangSamples:
    """Sample a child process in place of the program itself."""
    outside = await watch_process(child.pid or 0, _WINDOW_S, run.patience.interrupted)
    samples = await _sample_program(replace(run, session=child), outside)
    samples.outside = samples.outside or outside
    note = _IN_CHILD.format(child.name)
    if not any(one.endswith(_IN_CHILD[-20:]) for one in samples.notes):  # as of a child of its own
        samples.notes.append(note)
    return samples


async def _sample_by_stopping(
    run: RunningQuestion, outside: ProcessWatch, samples: HangSamples
) -> None:
    session = run.session
    computing = [one for one in outside.last_threads if outside.is_computing(one)]
    has_thread_ids = session.traits.has_kernel_thread_ids
    # Without them, the first sample is of frames alone where values may take long.
    is_first_bare = bool(computing) and not has_thread_ids
    valued = computing if computing and has_thread_ids else None
    try:
        most = _SAMPLES if outside.any_computes else _QUIET
        if session.traits.runtime is Runtime.PHP and not outside.any_computes:
            most = 1  # the stop has ended the call that it waited in
        taken = await _take_stack_samples(run, samples, most, valued, is_first_bare=is_first_bare)
        if not taken:
            samples.sampled = _by_calls(outside)
            return
        samples.samples = len(taken)
        if is_first_bare and len(taken) > _QUIET and not taken[-1].is_slow:
            del taken[0]  # with no values it says less than the others
        if session.traits.runtime is Runtime.GO:
            samples.sampled = await session.run_job(
                lambda: goroutine_waits.merge_goroutine_samples(session, taken)
            )
        elif session.traits.runtime in {Runtime.JAVA, Runtime.RUBY}:
            samples.sampled = await session.run_job(
                lambda: reported_waits.merge_reported_waits(session, taken)
            )
        elif session.traits.runtime is Runtime.PHP:
            samples.sampled = php_waits.merge_php_samples(taken, outside)
        else:
            samples.sampled = await session.run_job(
                lambda: native_waits.merge_thread_samples(session, taken, outside)
            )
    finally:
        if isinstance(session.target, AttachTarget):
            await thread_sampling.go_on(session)


async def _take_stack_samples(
    run: RunningQuestion,
    samples: HangSamples,
    most: int,
    valued: Sequence[int] | None,
    *,
    is_first_bare: bool,
) -> list[thread_sampling.StackSample]:
    """Stop the program some times, and return its stacks; notes go to `samples`.

    A sample of Go in the handler of a signal is taken again, a few times.
    """
    session = run.session
    taken: list[thread_sampling.StackSample] = []
    in_handler: list[thread_sampling.StackSample] = []
    while len(taken) < most and len(in_handler) <= _RETAKEN:
        if taken or in_handler:
            await thread_sampling.go_on(session)
            if not await thread_sampling.run_briefly(run, _BETWEEN_S):
                break
        if not await thread_sampling.stop_program(run):
            break
        sample = thread_sampling.StackSample()
        named = () if is_first_bare and not taken else valued
        await session.run_job(partial(thread_sampling.read_stacks, session, sample, valued=named))
        is_go = session.traits.runtime is Runtime.GO
        is_lost = is_go and goroutine_waits.is_in_signal_handler(sample)
        (in_handler if is_lost else taken).append(sample)
        if sample.is_slow:
            samples.notes.append(_SLOW_VALUES)
            break
    return taken or in_handler[-1:]


async def _written_at_abort(
    run: RunningQuestion, outside: ProcessWatch, samples: HangSamples
) -> None:
    """Abort an unresponsive interpreter, so that Python's faulthandler writes its stack.

    A call in compiled code that holds the interpreter's lock lets no Python code run.
    """
    pid = run.session.pid
    if pid is None or not outside.is_computing(pid):
        return
    if not isinstance(run.session.target, LaunchTarget):
        samples.notes.append(_HOLDS_LOCK.format(pid))
        return
    cursor = run.session.timeline.cursor()
    with suppress(OSError):
        os.kill(pid, signal.SIGABRT)
    await run.session.timeline.wait(cursor, {EventKind.EXIT}, _ABORT_S)
    found = exception_cause.parse_traceback(run.all_output_lines())
    if found is None or not found.is_fatal:
        return
    cwd = run.session.target.cwd
    stack = tuple(
        SampledFrame(one.function, one.file, one.line, not is_library(one.file, cwd))
        for one in found.frames
        if "pydevd" not in one.file and "/debugpy/" not in one.file
    )
    name = "the main thread"
    samples.sampled = [
        SampledThread(str(pid), name, stacks=(stack,), cpu=outside.cpu_of(pid), computes=True)
    ]
    samples.samples, samples.is_aborted = 1, True
    samples.notes = [_ABORTED]


def _by_calls(outside: ProcessWatch) -> list[SampledThread]:
    """Return threads by their system calls, if the debugger reports no stacks."""
    return [
        SampledThread(
            key=str(number),
            name="the main thread" if number == outside.pid else f"thread {number} ({one.name})",
            wait=None if outside.is_computing(number) else _by_call(outside, number),
            cpu=outside.cpu_of(number),
            computes=outside.is_computing(number),
        )
        for number, one in outside.last_threads.items()
    ]


def _by_call(outside: ProcessWatch, number: int) -> ThreadWait | None:
    wait = outside.waits.get(number)
    return (
        ThreadWait("lock", "something in its own memory") if wait and wait.kind == "futex" else wait
    )


def _hang_answer(
    run: RunningQuestion, samples: HangSamples, outside: ProcessWatch, began: float
) -> Hang:
    output = run.read_output()
    lines = without_traces(output.lines)[0] if samples.is_aborted else output.lines
    shown = _with_children(
        _verdict_answer(samples.sampled or _by_calls(outside), outside), samples.children
    )
    notes = list(samples.notes)
    if isinstance(run.session.target, AttachTarget) and is_running_program(run.session.target):
        notes.append("it runs on, without the debugger")
    return msgspec.structs.replace(
        shown,
        samples=samples.samples,
        output=lines[-LAST_LINES:],
        output_total=output.total - len(output.lines) + len(lines),
        adapter=run.session.adapter,
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=tuple(notes),
    )


def _verdict_answer(sampled: Sequence[SampledThread], outside: ProcessWatch) -> Hang:
    """Judge the samples, and build the answer."""
    activities = [summarise_thread(one, source_files.read_source) for one in sampled]
    verdict = decide_verdict(activities, computes=outside.any_computes)
    by_key = {one.key: one for one in sampled}
    about = by_key.get(verdict.about or "")
    place = _verdict_location(about, by_key, verdict)
    found = next((one.loop for one in activities if one.key == verdict.about), None)
    return build_hang_answer(
        verdict,
        sampled,
        activities,
        place=place,
        loop=found if verdict.kind in {"busy", "moving"} else None,
        outside=outside,
    )


def _verdict_location(
    about: SampledThread | None, by_key: Mapping[str, SampledThread], verdict: HangVerdict
) -> SampledFrame | None:
    """Return the user frame of the verdict's subject; of a loop, the loop's own frame."""
    if about is None:
        return None
    if verdict.kind in {"busy", "moving"}:
        found, place = find_lasting_loop(about.stacks, source_files.read_source)
        if found is not None and place is not None:
            return msgspec.structs.replace(place, line=found.line)
    for key in (about.key, *reversed(verdict.chain)):
        one = by_key.get(key)
        own = (
            next((each for each in one.last_stack if each.is_own), None)
            if one is not None
            else None
        )
        if own is not None:
            return own
    return next(iter(about.last_stack), None)


def report_ended(run: RunningQuestion, last: answers.Stop, began: float, fault: str = "") -> Hang:
    """Report that a program ended by itself, for example because its runtime saw a deadlock."""
    output = run.read_output()
    texts = [one.text for one in output.lines]
    waits = describe_deadlock(fault, texts, run.session.target.cwd)
    return Hang(
        kind="deadlock" if "deadlock" in fault else "ended",
        cause=describe_run_end(last, fault, waits),
        exit_code=last.exit_code,
        exit_signal=last.signal,
        output=output.lines[-LAST_LINES:],
        output_total=output.total,
        adapter=run.session.adapter,
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=run.notes_of(last),
    )


def _stopped_answer(outside: ProcessWatch, began: float) -> Hang:
    return Hang(
        kind="stopped",
        cause="it is stopped by a signal, or by a debugger: nothing of it runs",
        pid=outside.pid,
        window_s=round(outside.window_s, 1),
        total=len(outside.last_threads),
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=(f"kill -CONT {outside.pid} lets it go on, if no debugger holds it",),
    )


async def _answer_unattached(
    question: QuestionRun, outside: ProcessWatch, error: DebuggerError, began: float
) -> Hang:
    """Answer for a process that the debugger cannot attach to."""
    if question.traits.runtime is Runtime.JAVA:
        dumped = await thread_dump.read_dumps(outside)
        if dumped:
            return _by_dump(outside, dumped, began)
    return _from_outside(outside, error, began)


def _from_outside(outside: ProcessWatch, error: DebuggerError, began: float) -> Hang:
    """Answer from /proc alone, if the debugger cannot inspect the process."""
    shown = _verdict_answer(_by_calls(outside), outside)
    return msgspec.structs.replace(
        shown,
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=(_UNSEEN.format(error.message), *((error.hint,) if error.hint else ())),
    )


def _by_dump(outside: ProcessWatch, dumped: Sequence[SampledThread], began: float) -> Hang:
    """Answer from the JVM's own thread dump, if the debugger cannot attach to it."""
    shown = _verdict_answer(dumped, outside)
    return msgspec.structs.replace(
        shown,
        samples=max(len(one.stacks) for one in dumped),
        adapter="jcmd",
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=(_DUMPED,),
    )
