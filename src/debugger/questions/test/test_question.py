"""Finds the failing test of a language other than Python, and explains its failure.

The tests run once with the user's own command, which yields the failures' names and any build
error. The first failed test then runs again, alone and under the debugger, to its failing
assertion.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import UNSET

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.events import OutputStream
from debugger.model.location import CRASH, FAIL
from debugger.model.text_filters import clip_text
from debugger.questions.crash.crash_cause import explain_crash
from debugger.questions.crash.crash_facts import CrashFacts
from debugger.questions.runner.answer import ValueOrigin
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.test import java_tests, php_tests, ruby_tests, test_reports, test_runners
from debugger.questions.test import test_reports as reports
from debugger.questions.test.answer import FailedTest, SuiteAnswer
from debugger.questions.test.counted_tests import TIME_S, compare_with_passing
from debugger.questions.test.dropped_promises import find_dropped_promises
from debugger.questions.test.test_reports import NamedFailure, RunnerReport
from debugger.questions.test.test_rerun import (
    JAVASCRIPT,
    WAYS,
    FailureStop,
    failure_text,
    observe_failure,
    value_lines_above,
)
from debugger.questions.test.test_runners import DebuggedRerun, RunnerSetting
from debugger.questions.test.value_sources import choose_origin
from debugger.questions.why.answer import LinkCertainty
from debugger.questions.why.why_request import is_call
from debugger.recorders.node.source_maps import original_location
from debugger.recorders.recorded_process import CompletedRun
from debugger.session import source_files

_OTHERS = 20  # failed tests after the first
_MESSAGE = 160  # characters
_OUTPUT = 10  # last lines
_PROMISES_S = 10.0  # for the run that finds those that nobody awaits
_FOLLOW_S = 15.0  # for the origin of a value, of Go with the build of the package's tests
# Of Java: its runner's JVM interprets all code while fields are watched. Or so many times the
# seconds of the run to the failure, most of which are its build.
_JAVA_FOLLOW_S, _FOLLOW_RUNS = 30.0, 8.0
_LEAST_S = 5.0  # for the debugger, however long the tests took
_JSON = {
    test_runners.JEST: ("--json", "--outputFile={file}"),
    test_runners.VITEST: ("--reporter=default", "--reporter=json", "--outputFile={file}"),
    test_runners.MOCHA: ("--full-trace", "--reporter=json", "--reporter-option=output={file}"),
    test_runners.RSPEC: ("--format=progress", "--format=json", "--out={file}"),
}
_LIST = {
    test_runners.GO: "the tests that there are: go test -list . ./...",
    test_runners.CARGO: "the tests that there are: cargo test -- --list",
    test_runners.CTEST: "the tests that there are: ctest -N",
    test_runners.NODE: "it takes files: node --test FILE",
    test_runners.JEST: "the files that there are: npx jest --listTests",
    test_runners.VITEST: "the tests that there are: npx vitest list",
    test_runners.MOCHA: "the tests that there are: npx mocha --dry-run",
    test_runners.MINITEST: "the tests of a file: ruby FILE -n /PATTERN/ -v",
    test_runners.MAVEN: "one class: mvn test -Dtest=CLASS; one test: -Dtest=CLASS#METHOD",
    test_runners.GRADLE: "one class: gradle test --tests CLASS; one test: --tests CLASS.METHOD",
    test_runners.PHPUNIT: "the tests that there are: phpunit --list-tests",
    test_runners.RSPEC: "the examples that there are: rspec --dry-run",
    test_runners.PROGRAM: "a program of googletest lists them: --gtest_list_tests; "
    "of any other: debugger crash -- CMD",
}
_REPORT_READERS = {
    test_runners.MOCHA: reports.parse_mocha,
    test_runners.RSPEC: ruby_tests.parse_rspec,
}
_OUTPUT_READERS = {
    test_runners.MINITEST: ruby_tests.parse_minitest,
    test_runners.PHPUNIT: php_tests.parse_phpunit,
}
# What the runner has put there, and its macros.
_DULL = {
    test_runners.GO: frozenset({"t", "b"}),
    test_runners.CARGO: frozenset({"left_val", "right_val", "kind"}),
    test_runners.PROGRAM: frozenset({"this", "gtest_ar", "gtest_ar_"}),
    test_runners.CTEST: frozenset({"this", "gtest_ar", "gtest_ar_"}),
}
# Runners whose tests are run again by a program that stays, in its own process.
_RUNNABLE = frozenset(
    {test_runners.CARGO, test_runners.NODE, test_runners.PROGRAM, test_runners.CTEST}
)
_COMPILED = _RUNNABLE - {test_runners.NODE}
_IMPORTED = "__vite_ssr_import"  # vitest's names for the modules of a file
_PASSED_ALONE = (
    "it failed among the others, and not when it was run again alone: what it shares with them, "
    "or chance"
)

_WITH_OTHERS = (
    "run again alone it does not fail, or is not come to: it was run with its file's others"
)
_WHICH_TIME = (
    "{} passes of this line fit what the runner says of the failure: this is the last of them"
)


async def find_failing_test(setting: RunnerSetting) -> SuiteAnswer:
    """Run tests, and explain the first failure.

    Raises:
        DebuggerError: LAUNCH_FAILED, and the errors of the debugger.
    """
    began = time.monotonic()
    ran, report = await _run_tests(setting)
    if setting.runner in JAVASCRIPT:
        report = await asyncio.to_thread(_with_original_places, report)
    answer = _base_answer(setting, ran, report)
    if not report.failed:
        return _no_failure_answer(answer, setting, ran, report)
    first = report.failed[0]
    answer = msgspec.structs.replace(
        answer,
        outcome="failed",
        test=first.name,
        failed=len(report.failed),
        others=tuple(_other_failure(one, setting.cwd) for one in report.failed[1 : 1 + _OTHERS]),
    )
    notes: list[str] = []
    again: DebuggedRerun | None = None
    run_again: DebuggedRerun | None = None  # with which it failed
    observed: FailureStop | None = None
    last: answers.Stop | None = None
    run_s = 0.0
    try:
        again = await WAYS[setting.runner](setting, first)
        first = await _detailed_failure(setting, again, first)
        left_s = max(setting.seconds - ran.took_s, _LEAST_S)
        run_began = time.monotonic()
        observed, last, run_again = await _observe_again(
            setting, again, first, notes, seconds=left_s
        )
        run_s = time.monotonic() - run_began
    except DebuggerError as error:
        notes.append(f"it could not be looked at: {error.message}")
        if error.hint:
            notes.append(error.hint)
    if again is not None and setting.is_explained:
        left_s = max(setting.seconds - (time.monotonic() - began), _LEAST_S)
        answer = await _add_spectrum(answer, setting, first, again, report, seconds=left_s)
        left_s = max(setting.seconds - (time.monotonic() - began), _LEAST_S)
        answer = await _add_promises(answer, setting, again, seconds=left_s)
    if observed is not None and run_again is not None:
        notes += [_WHICH_TIME.format(observed.passes)] if observed.passes > 1 else []
        answer = msgspec.structs.replace(answer, notes=(*answer.notes, *notes))
        answer = _answer_with_stop(answer, observed, first)
        origin = _with_command(setting, run_again, observed, answer)
        left_s = setting.seconds - (time.monotonic() - began)
        if observed.session is None and setting.is_explained:
            origin = await _follow_value(
                setting, run_again, answer, origin, seconds=left_s, run_s=run_s
            )
        return msgspec.structs.replace(answer, why=origin)
    if last is not None:
        notes.append(_describe_unseen(last))
    return _answer_from_report(answer, first, setting, notes)


def _describe_unseen(last: answers.Stop) -> str:
    """Say why a test that ran again did not stop where it failed."""
    if last.timed_out:
        return "when it was run again under the debugger, it had not failed in time"
    return _PASSED_ALONE if last.exit_code == 0 else "the debugger did not see it fail"


async def _observe_again(
    setting: RunnerSetting,
    again: DebuggedRerun,
    first: NamedFailure,
    notes: list[str],
    *,
    seconds: float,
) -> tuple[FailureStop | None, answers.Stop, DebuggedRerun]:
    """Run the failed test to its failure, alone, or with its file's others where it must be."""
    question = await setting.ask(again, seconds)
    observed, last = await observe_failure(question, setting, first)
    # An assertion's line in JavaScript is passed by a test that passes, too.
    passes_alone = last.exit_code == 0 and (observed is None or setting.runner in JAVASCRIPT)
    if passes_alone and again.with_others:
        again = msgspec.structs.replace(again, words=again.with_others)
        question = await setting.ask(again, seconds)
        observed, last = await observe_failure(question, setting, first, is_alone=False)
        notes += [_WITH_OTHERS] if observed is not None else []
    return observed, last, again


def _with_original_places(report: RunnerReport) -> RunnerReport:
    """Return a report with the places of compiled scripts, such as a bundle, in their sources."""
    failed = []
    for one in report.failed:
        found = None
        if one.file is not None and one.line is not None and one.column:
            found = original_location(one.file, one.line, one.column)
        file, line = found or (one.file, one.line)
        failed.append(msgspec.structs.replace(one, file=file, line=line))
    return msgspec.structs.replace(report, failed=tuple(failed))


async def _add_spectrum(
    answer: SuiteAnswer,
    setting: RunnerSetting,
    first: NamedFailure,
    again: DebuggedRerun,
    report: RunnerReport,
    *,
    seconds: float,
) -> SuiteAnswer:
    """Add what the failing test ran and passing ones beside it did not."""
    try:
        found = await compare_with_passing(
            setting,
            first,
            again,
            failed=report.failed,
            passed=report.passed,
            seconds=min(seconds, TIME_S),
        )
    except DebuggerError as error:
        if error.code is ErrorCode.NOT_SUPPORTED:
            return answer
        note = f"it could not be compared with passing tests: {error.message}"
        return msgspec.structs.replace(answer, notes=(*answer.notes, note))
    return msgspec.structs.replace(answer, spectrum=found)


async def _add_promises(
    answer: SuiteAnswer, setting: RunnerSetting, again: DebuggedRerun, *, seconds: float
) -> SuiteAnswer:
    """Add the promises that nobody awaited: the value may have come after the assertion."""
    try:
        found = await find_dropped_promises(setting, again, seconds=min(seconds, _PROMISES_S))
    except DebuggerError as error:
        note = f"promises that nobody awaits were not looked for: {error.message}"
        return msgspec.structs.replace(answer, notes=(*answer.notes, note))
    return msgspec.structs.replace(answer, dropped_promises=found)


def _with_command(
    setting: RunnerSetting, again: DebuggedRerun, observed: FailureStop, answer: SuiteAnswer
) -> ValueOrigin | None:
    """Return the origin of the value with the command that follows it, where one can.

    The value is that of the line's first hit, in a program that the user can run as well.
    """
    origin, frame = answer.why, answer.frame
    if setting.runner == test_runners.GO and origin is not None and origin.text:
        options = QuestionOptions("why", words=_go_words(setting, again))
        command = options.repeat_command([origin.expression, "--at", FAIL])
        return msgspec.structs.replace(origin, command=shlex.join(command))
    is_runnable = setting.runner in _RUNNABLE and observed.passes == 1
    if origin is None or not is_runnable or frame is None or frame.file is None:
        return origin
    options = QuestionOptions("why", words=again.words, cwd=again.cwd)
    place = f"{os.path.relpath(frame.file, again.cwd)}:{frame.line}"
    if _is_panic_of_call(setting, origin):
        place = CRASH
    command = options.repeat_command([origin.expression, "--at", place])
    return msgspec.structs.replace(origin, command=shlex.join(command))


def _is_panic_of_call(setting: RunnerSetting, origin: ValueOrigin) -> bool:
    """Return whether the value is a call's in a test of Rust: it is looked for at the panic."""
    return setting.runner == test_runners.CARGO and is_call(origin.expression)


def _go_words(setting: RunnerSetting, again: DebuggedRerun) -> tuple[str, ...]:
    """Return the command by which `why` builds and runs one test of a package itself."""
    package = f"./{os.path.relpath(again.cwd, setting.cwd)}"
    chosen = next(one for one in again.words if one.startswith("-test.run="))
    return "go", "test", package, chosen.replace("-test.", "-", 1)


async def _follow_value(
    setting: RunnerSetting,
    again: DebuggedRerun,
    answer: SuiteAnswer,
    origin: ValueOrigin | None,
    *,
    seconds: float,
    run_s: float,
) -> ValueOrigin | None:
    """Return the origin of the value behind the test's own lines, as far as the time allows.

    Of Go, a value that the test's own lines name is followed; of Node, what a call returned, or the
    part that departs from the expected value, as of C++ and Rust; of Java, what the bytecode of the
    failed assertion looks at.
    """
    if setting.runner in test_runners.JAVA and answer.frame is not None and seconds > 0:
        origin = origin if origin is not None else ValueOrigin("")
        bound_s = min(seconds, max(_JAVA_FOLLOW_S, _FOLLOW_RUNS * run_s))
        # A build that cannot end in time is not begun: what the run to the failure saw stays.
        bound_s = bound_s if bound_s > run_s else 0.0
        found = await setting.follow(origin, answer.frame, again, bound_s)
        return found if found.expression else None
    if origin is None or answer.frame is None or seconds <= 0:
        return origin
    is_go = setting.runner == test_runners.GO and bool(origin.text)
    is_node = setting.runner == test_runners.NODE and (not origin.text or origin.has_parts())
    is_wrong = origin.has_parts() or _is_panic_of_call(setting, origin)
    is_compiled = setting.runner in _COMPILED and bool(origin.command) and is_wrong
    if not (is_go or is_node or is_compiled):
        return origin
    return await setting.follow(origin, answer.frame, again, min(seconds, _FOLLOW_S))


async def _run_tests(setting: RunnerSetting) -> tuple[CompletedRun, RunnerReport]:
    """Run all requested tests, and parse the runner's output."""
    if setting.runner in test_runners.JAVA:
        return await java_tests.run_java_tests(setting)
    words = list(setting.words)
    file = setting.scratch / "report.json"
    if setting.runner == test_runners.NODE and not any("--test-reporter" in one for one in words):
        at = words.index("--test") if "--test" in words else 1
        words[at:at] = ["--test-reporter=tap"]
    if setting.runner == test_runners.VITEST and "run" not in words:
        words.insert(2, "run")
    words += [one.format(file=file) for one in _JSON.get(setting.runner, ())]
    also = {"CTEST_OUTPUT_ON_FAILURE": "1", "NO_COLOR": "1", "RUST_BACKTRACE": "0", "CI": "1"}
    ran = await setting.run_tests(words, **also)
    out, err = (
        "\n".join(test_reports.without_colours(ran.joined_output(one).splitlines()))
        for one in (OutputStream.STDOUT, OutputStream.STDERR)
    )
    if setting.runner in _JSON:
        written = file.read_bytes() if file.is_file() else b""
        output = [line for line in err.splitlines() if line.strip()]
        is_nothing = any("No tests found" in one or "No test files found" in one for one in output)
        read = _REPORT_READERS.get(setting.runner, reports.parse_jest_json)
        return ran, read(written) or RunnerReport(errors=tuple(output[:4]), is_nothing=is_nothing)
    return ran, (_OUTPUT_READERS.get(setting.runner) or reports.READERS[setting.runner])(out, err)


def _base_answer(setting: RunnerSetting, ran: CompletedRun, report: RunnerReport) -> SuiteAnswer:
    lines = [line for one in ran.output for line in one.text.splitlines() if line.strip()]
    return SuiteAnswer(
        outcome="passed",
        runner=_name_runner(setting, lines),
        summary=report.summary,
        output_total=len(lines),
        output_dropped=max(ran.printed - sum(len(one.text) for one in ran.output), 0),
        exit_code=ran.status,
        took_s=round(ran.took_s, 3),
        timed_out=ran.is_timed_out,
        notes=tuple(f"ended what the tests left running: {one}" for one in ran.killed[:4]),
    )


def _name_runner(setting: RunnerSetting, lines: Sequence[str]) -> str:
    """Return the runner; a program without googletest's output is unknown."""
    is_plain = setting.runner == test_runners.PROGRAM and not any("[====" in one for one in lines)
    return "program" if is_plain else setting.runner


def _no_failure_answer(
    answer: SuiteAnswer, setting: RunnerSetting, ran: CompletedRun, report: RunnerReport
) -> SuiteAnswer:
    """Build the answer about tests without a failure."""
    outcome, notes = "passed", list(answer.notes)
    if ran.is_timed_out:
        outcome = "running"
        notes.append("why it does not end: debugger hang --after 5 -- CMD")
    elif ran.status != 0 and report.ended_early:
        outcome = "crashed"
    elif ran.status != 0 and report.errors:
        outcome = "nothing" if report.is_nothing and not _is_built(report) else "broken"
    elif report.is_nothing:
        outcome = "nothing"
    elif ran.status != 0:
        outcome = "crashed"
        notes.append("no test that failed was told; if it crashed: debugger crash -- CMD")
    if outcome == "nothing" and setting.runner in _LIST:
        notes.append(_LIST[setting.runner])
    is_decided = outcome == "passed" or bool(report.errors or report.ended_early)
    errors = report.errors if outcome != "passed" else ()
    ended = report.ended_early if outcome == "crashed" else ""
    return msgspec.structs.replace(
        answer,
        outcome=outcome,
        cause=errors[0] if errors and outcome == "broken" else ended or None,
        kind="build" if outcome == "broken" else None,
        errors=errors[1:] if outcome == "broken" else errors,
        output=() if is_decided else _end_of_output(ran),
        notes=tuple(notes),
    )


def _is_built(report: RunnerReport) -> bool:
    """Return whether an error is the compiler's, because it has a location."""
    return any(":" in one.partition(" ")[0] for one in report.errors)


def _end_of_output(ran: CompletedRun) -> tuple[answers.OutputLine, ...]:
    lines = [
        answers.OutputLine(one.stream.value, clip_text(line, 400), 0)
        for one in ran.output
        for line in test_reports.without_colours(one.text.splitlines())
        if line.strip()
    ]
    return tuple(lines[-_OUTPUT:])


async def _detailed_failure(
    setting: RunnerSetting, again: DebuggedRerun, named: NamedFailure
) -> NamedFailure:
    """Return the message of the failed program itself, which ctest ran."""
    if setting.runner != test_runners.CTEST:
        return named
    inner = msgspec.structs.replace(
        setting, words=again.words, cwd=again.cwd, env={**setting.env, **_environment(again.env)}
    )
    ran = await inner.run_tests(again.words, GTEST_BREAK_ON_FAILURE="0", GTEST_CATCH_EXCEPTIONS="1")
    report = reports.parse_gtest(ran.joined_output(OutputStream.STDOUT), "")
    return report.failed[0] if report.failed else named


def _environment(env: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, _, value in (one.partition("=") for one in env)}


def _other_failure(named: NamedFailure, cwd: str) -> FailedTest:
    frame = _failure_frame(named, cwd)
    return FailedTest(named.name, clip_text(" ".join(named.message.split()), _MESSAGE), frame)


def _failure_frame(named: NamedFailure, cwd: str) -> answers.FrameView | None:
    if named.file is None:
        return None
    folder = Path(named.of).parent if named.of.startswith("/") else Path(cwd)
    path = Path(named.file) if Path(named.file).is_absolute() else folder / named.file
    file = str(path) if path.is_file() else named.file
    return answers.FrameView(0, named.name, file, named.line)


def _answer_with_stop(
    answer: SuiteAnswer, failure: FailureStop, named: NamedFailure
) -> SuiteAnswer:
    scene = failure.scene
    read = {one.name for one in scene.values} | set(failure.facts.operands)
    dull = _DULL.get(answer.runner, frozenset())

    def is_own(one: answers.VariableView) -> bool:
        return one.name not in dull and not one.name.startswith(_IMPORTED)

    own = [one for one in scene.locals if is_own(one)]
    named_ = tuple(one for one in own if one.name in read)
    causes = scene.stop.exception.causes if scene.stop.exception is not None else ()
    callers = tuple(
        msgspec.structs.replace(each, values=tuple(one for one in each.values if is_own(one)))
        for each in scene.callers
    )
    return msgspec.structs.replace(
        answer,
        cause=failure.cause.text,
        kind=failure.cause.kind,
        exception=answers.ExceptionView(failure.facts.exception or "", named.message, causes),
        frame=scene.frame,
        source=scene.source,
        values=(*named_, *scene.values),
        locals=tuple(one for one in own if one.name not in read),
        locals_total=scene.locals_total - len(scene.locals) + len(own) - len(named_),
        made=failure.made,
        why=choose_origin(
            failure.cause.culprit,
            failure.facts.values.get(failure.cause.culprit),
            failure.made,
            LinkCertainty.INFERRED,
        ),
        inside=scene.inside if failure.cause.kind != "assertion" else None,
        callers=callers,
        method=f"run again by {failure.adapter}",
        session=failure.session if failure.session is not None else UNSET,
    )


def _answer_from_report(
    answer: SuiteAnswer, named: NamedFailure, setting: RunnerSetting, notes: list[str]
) -> SuiteAnswer:
    """Build the answer from the runner's message, with the lines that lead there."""
    frame = _failure_frame(named, setting.cwd)
    place = f"{Path(named.file).name}:{named.line}" if named.file else ""
    exception, message = failure_text(setting.runner, named)
    explained = explain_crash(
        CrashFacts(function=named.name, place=place, exception=exception, message=message)
    )
    return msgspec.structs.replace(
        answer,
        cause=explained.text,
        kind=explained.kind,
        exception=answers.ExceptionView("", named.message),
        frame=frame,
        source=source_files.failure_lines(frame.file, frame.line) if frame else (),
        made=value_lines_above(frame, {}) if frame is not None else (),
        method="by the runner's own words",
        notes=(*answer.notes, *notes),
    )
