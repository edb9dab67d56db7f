"""Classifies the stops of a run as crash or not, and stores the inspection of each crash."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.crash_reports import panic_message
from debugger.model.debugger_words import Runtime
from debugger.model.exception_cause import (
    Traceback,
    is_cut,
    parse_traceback,
    parse_uncaught,
)
from debugger.model.location import is_library
from debugger.model.node_report import NodeReport, read_node_report
from debugger.model.program import StopReason
from debugger.questions.crash.crash_cause import explain_crash
from debugger.questions.crash.crash_context import CrashContext, inspect_crash
from debugger.questions.crash.crash_facts import Cause
from debugger.questions.crash.failed_condition import asserted_values
from debugger.questions.crash.failed_statement import unwrapped_call
from debugger.questions.crash.runtime_errors import (
    RUNTIME_ERRORS,
    complete_by_report,
    may_be_handled,
    read_report,
    runtime_function,
)
from debugger.questions.runner.answer import Crash
from debugger.questions.runner.question_run import RunningQuestion
from debugger.session import process_tree
from debugger.session.session import Session

_PANIC = "rust_panic"
_SIGNALS_MAX = 5  # stops at other signals, which may end the program later
_RAISED_MAX = 40  # stops for what is thrown: 50 ms each
_RAISED_KEPT = 10
THROWN_VALUE = "thrown value"  # what is thrown in JavaScript and is no Error
_THROW, _RAISE = BreakpointSpec(catch="throw"), BreakpointSpec(catch="raised")
# Stops at everything that is thrown, caught or not.
RAISED: Mapping[str, BreakpointSpec] = {
    "python": _RAISE,
    "javascript": _THROW,
    "java": _RAISE,
    "ruby": _RAISE,
    "php": _RAISE,
    "rust": BreakpointSpec(function=_PANIC),
    "c++": _THROW,
    "go": _THROW,
}
_UNCAUGHT = re.compile(r"Node\.js v\d|\s+triggerUncaughtException|Uncaught ")
# source-map-support (ts-node) reports an uncaught error itself, below its source line.
_MARKED = re.compile(r":\d+\n.*\n\s*\^\n(?:Uncaught )?[\w$.]*Error\b")
CRASHES = frozenset(
    {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGSYS", "SIGTRAP", "SIGSTKFLT"}
)
# How Rust writes the payload of a thread's panic, which is of no type that it knows.
_PASSED_ON = "Any { .. }"
_REPORTS = ("asan", "ubsan", "sanitizer", "tsan", "msan", "lsan")


class CrashStop(Struct, frozen=True):
    """A stop that may be the crash."""

    scene: CrashContext
    cause: Cause
    # The program cannot survive it unless it handles the signal itself.
    is_fatal: bool
    is_panic: bool
    is_caught: bool = False
    # The function of a runtime library that ends the program, or raises an exception.
    runtime_function: str = ""


def crash_breakpoints(language: str, *, keep: bool) -> tuple[BreakpointSpec, ...]:
    """Return the breakpoints that stop at the crashes of a language.

    To `keep` a session, the stop itself must already identify the crash.
    """
    if language == "javascript" and not keep:
        # Behind an await V8 cannot tell what nobody will catch; the end of the program tells.
        return (BreakpointSpec(catch="throw"),)
    if language in RUNTIME_ERRORS:
        return tuple(BreakpointSpec(function=one) for one in RUNTIME_ERRORS[language].functions)
    return (BreakpointSpec(function=_PANIC),) if language == "rust" else ()


def raised_breakpoints(languages: Sequence[str]) -> tuple[BreakpointSpec, ...]:
    """Return the breakpoints that stop at every exception of a language, caught or not.

    Raises:
        DebuggerError: NOT_SUPPORTED.
    """
    # A debugger of compiled programs is for several languages.
    found = tuple(dict.fromkeys(spec for one, spec in RAISED.items() if one in languages))
    if not found:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "--raised is for programs in Python, JavaScript, Java, Ruby, PHP, C++, Go and Rust",
            hint="debugger start PROGRAM, then debugger catch throw, stops at each throw",
        )
    return found


class AwaitedException(Struct, frozen=True):
    """The exception that ended an earlier run, and its location, to stop at in another run."""

    exception: answers.ExceptionView
    place: tuple[str | None, int | None] | None

    @property
    def has_file(self) -> bool:
        """Whether it is known where it was thrown, as far as the earlier run shows."""
        return self.place is None or self.place[0] is not None

    def matches(self, stop: answers.Stop) -> bool:
        """Return whether a stop is for this exception.

        If the earlier run's report names a built file, no frame of the stack is in that file.
        """
        exception = stop.exception
        if exception is None:
            return False
        is_value = self.exception.type == exception.type == THROWN_VALUE
        if self.place is None:
            return is_value
        is_same = _first_line(exception.message) == _first_line(self.exception.message)
        frames = [(one.file, one.line) for one in stop.stack]
        is_elsewhere = all(file != self.place[0] for file, _ in frames)
        return (is_same or is_value) and (self.place in frames or is_elsewhere)


_RETHROW = "__cxa_rethrow"  # `throw;` of a handler


@dataclass
class CrashStops:
    """The stops of a run: faults, other signals, and exceptions that may be caught.

    With `takes_raised` the first exception in the program's own code is the one to find, with
    `awaited` the exception of an earlier run.
    """

    takes_raised: bool = False
    awaited: AwaitedException | None = None
    seen: list[CrashStop] = field(default_factory=list)
    signalled: list[CrashStop] = field(default_factory=list)
    raised: list[CrashStop] = field(default_factory=list)
    count: int = 0
    # Called at each stop that is the crash, while the program is there.
    on_crash: Callable[[RunningQuestion, answers.Stop], Awaitable[None]] | None = None

    async def add_stop(self, run: RunningQuestion, stop: answers.Stop) -> bool:
        """Inspect a stop; tell whether it may be a crash."""
        if stop.reason == StopReason.EXCEPTION.value and _catches_all_throws(run.session_of(stop)):
            if self.takes_raised:
                return await self._take_raised(run, stop)
            if self.awaited is not None:
                return self.awaited.matches(stop) and await self._take_fault(run, stop)
            return await self._take_thrown(run, stop)
        by_runtime = _runtime_function_of(stop)
        if by_runtime is not None and may_be_handled(by_runtime):
            return await self._take_thrown(run, stop)
        if by_runtime is not None or may_be_a_crash(stop):
            return await self._take_fault(run, stop)
        if stop.signal is not None and len(self.signalled) < _SIGNALS_MAX:
            self.signalled.append(await _looked_at(run, stop))
        return False

    async def _take_fault(self, run: RunningQuestion, stop: answers.Stop) -> bool:
        self.seen.append(await _looked_at(run, stop))
        if self.on_crash is not None:
            await self.on_crash(run, stop)
        return True

    async def _take_thrown(self, run: RunningQuestion, stop: answers.Stop) -> bool:
        """Store a thrown exception that may be caught: only the program's end shows it."""
        self.count += 1
        # Each stop costs time, and this program uses exceptions for its control flow.
        if self.count > _RAISED_MAX:
            await _stop_at_throws_no_more(run.session_of(stop))
            return False
        raised = await _looked_at(run, stop)
        # V8 ends the process at this one, without a further stop.
        if raised.cause.kind == "out_of_memory":
            self.seen.append(raised)
            return True
        # The last ones: the uncaught exception is thrown after all that were caught.
        self.raised = [*self.raised[1 - _RAISED_KEPT :], raised]
        return False

    async def _take_raised(self, run: RunningQuestion, stop: answers.Stop) -> bool:
        """Take the first exception that reaches a frame of the program's own."""
        cwd = run.session.target.cwd if isinstance(run.session.target, LaunchTarget) else ""
        if stop.frame is None or is_library(stop.frame.file, cwd):
            return False
        self.seen.append(await _looked_at(run, stop))
        return True

    def at_the_end(self, run: RunningQuestion, last: answers.Stop) -> list[CrashStop]:
        """Return the stops of the crash, given the program's end."""
        # A debugger of Node guesses that a rejected promise will not be caught.
        is_guess = run.session.traits.runtime is Runtime.NODE and last.exit_code == 0
        if self.seen and not is_guess:
            *earlier, last_seen = _without_raise_in_handler(self.seen)
            thrown = [one for one in earlier if _RETHROW not in one.scene.facts.runtime]
            if self.awaited is not None and not self.awaited.has_file and thrown:
                return thrown[-1:]
            return [*earlier, with_runtime_report(last_seen, run.all_output_lines())]
        if last.signal is not None:
            return [one for one in self.signalled if one.scene.stop.signal == last.signal][-1:]
        output = run.last_output_lines()
        is_well = last.exit_code in {0, None}
        if self.raised and self.raised[-1].runtime_function:
            return [] if is_well else self._unhandled_in_runtime(run.all_output_lines())
        reported = self._reported_exception(output)
        if reported is None:  # of a report that was cut the error's own words are lost
            return self.raised[-1:] if is_cut(output) and not is_well else []
        # A program may end well whose child process or worker did not.
        own = run.session.name
        is_its_end = not is_well or not (reported.is_caught or reported.scene.stop.session == own)
        return [reported] if is_its_end else []

    def _reported_exception(self, output: Sequence[str]) -> CrashStop | None:
        """Return the last thrown exception that the output reports.

        An exception that Node itself threw, for a module that it cannot load, is better described
        by its report.
        """
        text = "\n".join(output)
        report = read_node_report(output)
        reported = [one for one in self.raised if _is_reported(one, text, report)]
        if not reported or (_is_of_node(reported[-1]) and parse_traceback(output) is not None):
            return None
        was_caught = not any(_UNCAUGHT.match(line) for line in output) and not _MARKED.search(text)
        trace = parse_traceback(output)
        first = _in_a_worker(reported) or _first_throw(reported, trace) or reported[-1]
        found = _with_report(msgspec.structs.replace(first, is_caught=was_caught), report)
        origin = _rethrow_place(first, reported[-1]) or _error_origin(found, trace)
        if origin is None:
            return found
        scene = msgspec.structs.replace(found.scene, notes=(*found.scene.notes, origin))
        return msgspec.structs.replace(found, scene=scene)

    def _unhandled_in_runtime(self, output: Sequence[str]) -> list[CrashStop]:
        """Return the last exception of a compiled language, if its runtime reports one."""
        if self.runtime_report(output) is None or self.count > _RAISED_MAX:
            return []
        # What is raised behind the report, or by the runtime alone, is its own while it reports.
        own = (
            one
            for one in reversed(self.raised)
            if one.scene.source and read_report(one.runtime_function, one.scene.facts.said) is None
        )
        last = next(own, None)
        return [with_runtime_report(last, output)] if last is not None else []

    def runtime_report(self, output: Sequence[str]) -> tuple[str, str] | None:
        """Return the type and message of the exception by which a runtime ended the program."""
        function = self.raised[-1].runtime_function if self.raised else ""
        return read_report(function, output) if function else None

    def complete_answer(self, answer: Crash, output: Sequence[str]) -> Crash:
        """Complete the answer of a run without a crash by what its runtime reported."""
        return complete_by_report(answer, self.runtime_report(output))

    @property
    def last_raised(self) -> str | None:
        """The last raised exception, which may have been caught, in one line."""
        return self.raised[-1].cause.text if self.raised else None


def choose_crash(crashes: Sequence[CrashStop], *, is_survived: bool) -> CrashStop:
    """Return the crash that is the cause: the last one ended the program, if it has not survived.

    A panic of Rust that only passes on another thread's (`handle.join().unwrap()`) is not it.
    """
    if is_survived:
        return crashes[0]
    *before, last = crashes
    if last.is_panic and _PASSED_ON in last.scene.facts.message:
        thread = last.scene.stop.thread
        others = [one for one in before if one.is_panic and one.scene.stop.thread != thread]
        return others[-1] if others else last
    return last


def earlier_causes(crashes: Sequence[CrashStop], chosen: CrashStop) -> tuple[str, ...]:
    """Return what happened before the chosen crash, each once."""
    before = crashes[: crashes.index(chosen)]
    causes = dict.fromkeys(one.cause.text for one in before)  # a fault may be reported twice
    return tuple(text for text in causes if text != chosen.cause.text)


def later_causes(crashes: Sequence[CrashStop], chosen: CrashStop) -> list[str]:
    """Return a note of the panic that passed on the chosen one."""
    last = crashes[-1]
    is_passed_on = chosen.is_panic and last is not chosen and _PASSED_ON in last.scene.facts.message
    return [f"it was passed on: {last.cause.text}"] if is_passed_on else []


def _runtime_function_of(stop: answers.Stop) -> str | None:
    if stop.reason not in {StopReason.BREAKPOINT.value, StopReason.FUNCTION_BREAKPOINT.value}:
        return None
    return runtime_function([one.function for one in stop.stack])


def _without_raise_in_handler(crashes: list[CrashStop]) -> list[CrashStop]:
    """Drop the unhandled exception into which a runtime's signal handler turned a fault."""
    *earlier, last = crashes
    fault = earlier[-1].scene if earlier else None
    if not last.runtime_function or fault is None or fault.facts.signal is None:
        return crashes
    return earlier if fault.frame == last.scene.frame else crashes


def with_runtime_report(crash: CrashStop, output: Sequence[str]) -> CrashStop:
    """Complete a stop in a runtime library by what the library wrote when it ended the program."""
    report = read_report(crash.runtime_function, output) if crash.runtime_function else None
    if report is None:
        return crash
    kind, message = report
    facts = msgspec.structs.replace(crash.scene.facts, exception=kind, message=message)
    stop = msgspec.structs.replace(crash.scene.stop, exception=answers.ExceptionView(kind, message))
    scene = msgspec.structs.replace(crash.scene, facts=facts, stop=stop)
    return msgspec.structs.replace(crash, scene=scene, cause=explain_crash(facts))


def _in_a_worker(raised: Sequence[CrashStop]) -> CrashStop | None:
    """Return the worker's location of the last of these, whose copy Node threw in the parent."""
    last = raised[-1].scene
    if not last.inside:
        return None
    for one in reversed(raised[:-1]):
        facts = (one.scene.facts.exception, one.scene.facts.message)
        is_copied = facts == (last.facts.exception, last.facts.message)
        if is_copied and one.scene.stop.session != last.stop.session:
            return one
    return None


def _first_throw(raised: Sequence[CrashStop], trace: Traceback | None) -> CrashStop | None:
    """Return the stop at which a rethrown error was thrown first, where its stack begins.

    What is thrown on asynchronously has no frame of that location left, and its values are gone.
    """
    if trace is None or not trace.frames:
        return None
    made, last = trace.frames[0], raised[-1].scene.facts
    thrown = raised[-1].scene.frame
    if thrown is not None and (thrown.file, thrown.line) == (made.file, made.line):
        return None  # an earlier one of that place was another error, which was caught
    for one in reversed(raised[:-1]):
        frame, facts = one.scene.frame, one.scene.facts
        is_same = (facts.exception, facts.message) == (last.exception, last.message)
        if is_same and frame is not None and (frame.file, frame.line) == (made.file, made.line):
            return one
    return None


def _rethrow_place(first: CrashStop, last: CrashStop) -> str | None:
    """Return where an error that is shown at its first throw was thrown on last."""
    frame = last.scene.frame
    if first is last or frame is None or first.scene.stop.session != last.scene.stop.session:
        return None
    return f"thrown on by {frame.function} {Path(frame.file or '').name}:{frame.line}"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _is_reported(crash: CrashStop, text: str, report: NodeReport | None) -> bool:
    """Return whether an output has an exception's message, or Node's report its location."""
    if _first_line(crash.scene.facts.message) in text:
        return True
    frame = crash.scene.frame
    if report is None or report.type or frame is None:
        return False
    # Of what a module throws that is no Error, Node writes no place.
    is_value = crash.scene.facts.exception == THROWN_VALUE
    return is_value if report.place is None else report.place == (frame.file, frame.line)


def _is_of_node(crash: CrashStop) -> bool:
    """Return whether Node's own JavaScript threw it, without a frame of the program's."""
    file = (crash.scene.frame.file if crash.scene.frame is not None else None) or ""
    return file.startswith(("<node_internals>", "node:"))


def _with_report(crash: CrashStop, report: NodeReport | None) -> CrashStop:
    """Complete an exception by Node's report: its class, its fields, its nested causes."""
    facts, stop = crash.scene.facts, crash.scene.stop
    if report is None:
        return crash
    if not report.type:
        facts = msgspec.structs.replace(facts, message=report.message)
        view = answers.ExceptionView(facts.exception or "", report.message)
    elif _first_line(report.message) == _first_line(facts.message):
        facts = msgspec.structs.replace(facts, exception=report.type, fields=report.fields)
        view = answers.ExceptionView(report.type, facts.message, report.causes)
    else:
        return crash
    stop = msgspec.structs.replace(stop, exception=view)
    scene = msgspec.structs.replace(crash.scene, facts=facts, stop=stop)
    return msgspec.structs.replace(crash, scene=scene, cause=explain_crash(facts))


def _error_origin(crash: CrashStop, trace: Traceback | None) -> str | None:
    """Return where a rethrown error was made, as its stack shows.

    For a bundle the files in Node's stack and the debugger's differ: then the result is nothing.
    """
    scene = crash.scene
    frames = [one for one in (scene.frame, *(each.frame for each in scene.callers)) if one]
    if trace is None or not trace.frames or not frames:
        return None
    made = trace.frames[0]
    places = {(one.file, one.line) for one in frames}
    if made.file not in {one.file for one in frames} or (made.file, made.line) in places:
        return None
    is_same = trace.type == scene.facts.exception
    where = f"{made.function} {Path(made.file).name}:{made.line}"
    return f"the error was made in {where}, and thrown on here" if is_same else None


def _catches_all_throws(session: Session) -> bool:
    """Return whether the breakpoints stop at every throw, caught or not."""
    return any(one.spec.catch is not None for one in session.breakpoints.user_breakpoints())


async def _stop_at_throws_no_more(session: Session) -> None:
    """Stop no more at throws, because this program throws all the time."""
    for known in session.breakpoints.user_breakpoints():
        function = runtime_function([known.spec.function or ""])
        is_handled = function is not None and may_be_handled(function)
        if known.spec.catch is not None or is_handled:
            await process_tree.drop_breakpoint(session, known)


async def _looked_at(run: RunningQuestion, stop: answers.Stop) -> CrashStop:
    at = run.session_of(stop)
    return _classify_stop(
        await at.run_job(lambda: inspect_crash(at, stop, run.last_output_lines()))
    )


def may_be_a_crash(stop: answers.Stop) -> bool:
    """Return whether a stop is for a fault, an exception, a panic or a sanitizer's report."""
    if stop.signal is not None:
        return stop.signal in CRASHES
    if stop.reason == StopReason.EXCEPTION.value:
        return True
    names = [one.function for one in stop.stack[:4]]
    return any(_PANIC in name or name.lstrip("_").startswith(_REPORTS) for name in names)


def _classify_stop(scene: CrashContext) -> CrashStop:
    names = scene.facts.runtime[:4]
    is_panic = any(_PANIC in name for name in names)
    facts = scene.facts
    if is_panic:
        found = panic_message(facts.said)
        message = found[1] if found else ""
        known = {one.name: one.value for one in scene.locals} | dict(facts.values)
        asserted = asserted_values(scene.frame, known)
        facts = msgspec.structs.replace(
            facts,
            exception="panic",
            message=message,
            is_panic=True,
            nothing_call=unwrapped_call(scene.frame, message, found[0] if found else ""),
            asserted=tuple(asserted),
            values=asserted | dict(facts.values),
        )
    elif facts.signal == "SIGABRT" and scene.stop.exception and scene.stop.exception.causes:
        # An exception of C++ that nobody catches is told as the cause of the signal.
        kind, _, message_ = scene.stop.exception.causes[0].partition(": ")
        facts = msgspec.structs.replace(facts, exception=kind, message=message_)
    elif facts.signal == "SIGABRT":
        thrown = parse_uncaught(facts.said)
        kind_, message_ = thrown or (facts.exception, facts.message)
        facts = msgspec.structs.replace(facts, exception=kind_, message=message_)
    scene = msgspec.structs.replace(scene, facts=facts)
    is_report = any("ubsan" in name for name in names)
    called = _runtime_function_of(scene.stop) or ""
    return CrashStop(
        scene,
        explain_crash(facts),
        is_fatal=not is_panic and not is_report,
        is_panic=is_panic,
        runtime_function=called,
    )


def explain_chosen(crashes: Sequence[CrashStop], chosen: CrashStop, output: Sequence[str]) -> Cause:
    """Return a crash's cause; what a sanitizer says of the only one may be written only now."""
    if len(crashes) > 1:
        return chosen.cause
    return explain_crash(msgspec.structs.replace(chosen.scene.facts, said=tuple(output)))
