"""Runs one failed test again, alone, under a debugger, and finds the stop at which it fails."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import State
from debugger.model.go_test_words import go_build_words
from debugger.model.program import StopReason
from debugger.model.statement import join_statement
from debugger.questions.crash.crash_cause import explain_crash
from debugger.questions.crash.crash_context import CrashContext, inspect_crash
from debugger.questions.crash.crash_facts import Cause, CrashFacts
from debugger.questions.crash.crash_stops import CrashStops, may_be_a_crash
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.test import java_tests, php_tests, ruby_tests, test_runners
from debugger.questions.test.answer import MadeView
from debugger.questions.test.test_reports import NamedFailure, parse_thrown
from debugger.questions.test.test_runners import DebuggedRerun, RunnerSetting
from debugger.questions.test.value_sources import find_value_sources, root_names
from debugger.questions.why.why_request import GO_FAIL
from debugger.session import source_files
from debugger.sources.project_files import TEST_PROGRAM
from debugger.targets.cargo_command import built_programs

_STOPS_MAX = 500  # passes of the assertion's line
_PANIC = "panic: "  # of Go, as the report of its tests has it
_BREAKS = "SIGTRAP"  # googletest's way to stop at a failure
JAVASCRIPT = frozenset({test_runners.NODE, *test_runners.SCRIPTS})
# tap's and tape's assertions, and vitest's soft ones.
_GOES_ON = re.compile(r"(?<![\w.])(?:t|tap|st|tt)\.(?!assert\b|test\b)\w+\(|\bexpect\.soft\(")
_SPAN = 40  # lines in which the condition is that an assertion stands under


class FailureStop(Struct, frozen=True):
    """A test stopped at its failure; `session` is set while it is kept."""

    cause: Cause
    facts: CrashFacts
    scene: CrashContext
    made: tuple[MadeView, ...]
    adapter: str
    session: str | None = None
    passes: int = 1  # of the line, that fit what the runner says of the failure as well


async def observe_failure(
    question: QuestionRun, setting: RunnerSetting, named: NamedFailure, *, is_alone: bool = True
) -> tuple[FailureStop | None, answers.Stop]:
    """Run a test to its failure; return the inspected stop, or None, and the last stop.

    A JavaScript test in a loop passes its assertion's line often. The failing pass is the last one,
    because the thrown error ends a test that runs alone. Among several tests it is the pass with
    the values of the runner's message.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED.
    """
    runner = setting.runner
    if runner not in JAVASCRIPT:
        return await _observe_first(question, setting, named)
    # Which pass fails is known only at the end of the run. To keep a session at it, the test runs
    # once more, with the pass as a hit count.
    found, stop, hits = await _observe_failing_time(question, runner, named, is_alone=is_alone)
    if found is None or not question.keep:
        return found, stop
    specs = [msgspec.structs.replace(one, hit_count=hits) for one in question.breakpoints]
    limited = dataclasses.replace(question, breakpoints=tuple(specs))
    return await _observe_first(limited, setting, named)


async def _observe_failing_time(
    question: QuestionRun, runner: str, named: NamedFailure, *, is_alone: bool
) -> tuple[FailureStop | None, answers.Stop, int]:
    """Return the inspected failing pass, the last stop, and the pass's number."""
    async with question_run.run_question(question) as run:
        stop = await run.wait_first()
        best, hit, hits = None, 0, 0
        while hits < _STOPS_MAX and stop.state == State.STOPPED.value:
            found = await _failure_at_stop(run, stop, runner, named)
            if found is not None:
                hits += 1
                is_as_good = best is not None and _matching_values(
                    found, named
                ) == _matching_values(best, named)
                passes = best.passes + 1 if best is not None and is_as_good else 1
                if best is None or _is_later(found, best, named, is_alone=is_alone):
                    best, hit = found, hits
                    if not is_alone:
                        best = msgspec.structs.replace(best, passes=passes)
            stop = await run.go_on(run.session_of(stop))
        return best, stop, hit


def _is_later(
    failure: FailureStop, best: FailureStop, named: NamedFailure, *, is_alone: bool
) -> bool:
    """Return whether a later pass of a line may be the failing one.

    An assertion that does not throw lets its test continue: there the values decide.
    """
    line = next((one.text for one in failure.scene.source if one.current), "")
    # tap's `t.…` assertions and `expect.soft` report a failure without throwing.
    ends_test = is_alone and not _GOES_ON.search(line)
    return ends_test or _matching_values(failure, named) >= _matching_values(best, named)


def _matching_values(failure: FailureStop, named: NamedFailure) -> int:
    """Count the values of the assertion that the runner's message contains."""
    read = set(failure.facts.operands)
    values = [
        one.value for one in (*failure.scene.values, *failure.scene.locals) if one.name in read
    ]
    return sum(one.strip("'\"") in named.message for one in values)


async def _observe_first(
    question: QuestionRun, setting: RunnerSetting, named: NamedFailure
) -> tuple[FailureStop | None, answers.Stop]:
    async with question_run.run_question(question) as run:
        stop = await run.wait_first()
        for _ in range(_STOPS_MAX):
            if stop.state != State.STOPPED.value:
                break
            found = await _failure_at_stop(run, stop, setting.runner, named)
            if found is not None:
                if setting.on_failure is not None and found.scene.frame is not None:
                    await setting.on_failure(run, stop, found.scene.frame)
                name = run.keep_stopped(stop) if question.keep else None
                return msgspec.structs.replace(found, session=name), stop
            stop = await run.go_on(run.session_of(stop))
        return None, stop


async def _failure_at_stop(
    run: RunningQuestion, stop: answers.Stop, runner: str, named: NamedFailure
) -> FailureStop | None:
    at = run.session_of(stop)
    if _is_assertion(stop, runner):
        scene = await at.run_job(lambda: inspect_crash(at, stop, run.last_output_lines()))
        return _assertion_failure(run, scene, runner, named)
    if runner in JAVASCRIPT or not may_be_a_crash(stop):
        return None
    if runner in test_runners.RAISING:
        return await _raised_failure(run, stop, runner, named)
    found = CrashStops()
    await found.add_stop(run, stop)
    if not found.seen:
        return None
    scene, cause = found.seen[-1].scene, found.seen[-1].cause
    return FailureStop(cause, scene.facts, scene, value_lines(scene), run.session.adapter)


async def _raised_failure(
    run: RunningQuestion, stop: answers.Stop, runner: str, named: NamedFailure
) -> FailureStop | None:
    """Describe what a test raises: of Ruby, PHP and Java a failed assertion is an exception."""
    at = run.session_of(stop)
    raised = stop.exception
    # Another exception of the same type may be rescued.
    if not is_reported(raised.message if raised is not None else "", stop.stack, named):
        return None
    scene = await at.run_job(lambda: inspect_crash(at, stop, run.last_output_lines()))
    if raised is not None and _is_assertion_type(raised.type):
        return _assertion_failure(run, scene, runner, named)
    cause = explain_crash(scene.facts)
    return FailureStop(cause, scene.facts, scene, value_lines(scene), run.session.adapter)


def is_reported(message: str, stack: Sequence[answers.FrameView], named: NamedFailure) -> bool:
    """Return whether the failure that a runner names is the exception of a stop.

    Gradle's report has no message of a NullPointerException, which the JVM words in its own process
    only: then the line tells.
    """
    first = message.strip().partition("\n")[0].strip()
    is_worded_later = bool(named.thrown) and named.message == named.thrown
    is_there = any((one.file, one.line) == (named.file, named.line) for one in stack)
    return first in named.message or (is_worded_later and is_there)


def _is_assertion_type(name: str) -> bool:
    if name.startswith("PHPUnit\\Framework\\Error\\"):  # a warning of PHP's
        return False
    is_java = name.rpartition(".")[2] in java_tests.ASSERTIONS
    return is_java or name.startswith(("Minitest::", "RSpec::", "PHPUnit\\"))


def _is_assertion(stop: answers.Stop, runner: str) -> bool:
    """Return whether a stop is at the runner's report of a failure, as opposed to a crash."""
    if runner in {test_runners.CTEST, test_runners.PROGRAM}:
        # A test program that is told to break at failures raises this signal.
        return stop.signal == _BREAKS
    is_crash = stop.reason == StopReason.EXCEPTION.value or stop.signal is not None
    return runner in {test_runners.GO, *JAVASCRIPT} and not is_crash


def _assertion_failure(
    run: RunningQuestion, scene: CrashContext, runner: str, named: NamedFailure
) -> FailureStop:
    """Describe a failed assertion by the runner's message and the inspected values.

    A test of Go that panics is failed by `testing` too, before the panic ends the program.
    """
    exception, message = failure_text(runner, named)
    panic = message.removeprefix(_PANIC) if runner == test_runners.GO else message
    is_panic = panic != message
    facts = msgspec.structs.replace(
        scene.facts,
        signal=None,
        exception=None if is_panic else exception,
        message=panic,
        is_panic=is_panic,
    )
    # The innermost frames are the runner's, which reports the failure.
    scene = msgspec.structs.replace(scene, inside=None)
    return FailureStop(explain_crash(facts), facts, scene, value_lines(scene), run.session.adapter)


def failure_text(runner: str, named: NamedFailure) -> tuple[str, str]:
    """Return the type of a test's failure, and the runner's message in one line."""
    message = " ".join(named.message.partition(_DIFFERENCE)[0].split())
    return parse_thrown(message) if runner in JAVASCRIPT else ("AssertionError", message)


def value_lines(scene: CrashContext) -> tuple[MadeView, ...]:
    """Return the lines above that made the assertion's values, with current values."""
    frame = scene.frame
    if frame is None or frame.file is None or frame.line is None:
        return ()
    known = {one.name: one for one in (*scene.values, *scene.locals)}
    return value_lines_above(frame, known)


def value_lines_above(
    frame: answers.FrameView, known: dict[str, answers.VariableView]
) -> tuple[MadeView, ...]:
    """Return the lines above a frame's line that made its values, and the known values."""
    lines = source_files.read_source(frame.file) if frame.file is not None else None
    if lines is None or frame.line is None or not 1 <= frame.line <= len(lines):
        return ()
    names = set(root_names(join_statement(lines[frame.line - 1 : frame.line + 4])))
    names |= set(root_names(_enclosing_condition(lines, frame.line)))
    return tuple(
        MadeView(
            answers.FrameView(0, frame.function, frame.file, one.line),
            one.text,
            tuple(known[name] for name in one.names if name in known),
        )
        for one in find_value_sources(lines, frame.line, names)
    )


def _enclosing_condition(lines: tuple[str, ...], at: int) -> str:
    """Return the `if` around a line, which is the assertion in Go."""
    depth = len(lines[at - 1]) - len(lines[at - 1].lstrip())
    for number in range(at - 1, max(at - _SPAN, 0), -1):
        line = lines[number - 1]
        if line.strip() and len(line) - len(line.lstrip()) < depth:
            text = line.strip().lstrip("} ")
            return text if text.startswith(("if ", "else if ", "for ", "if(")) else ""
    return ""


_DIFFERENCE = "\n--- Expected"  # PHPUnit's, which the answer has in lines of its own
_PROGRAMS_MAX = 40  # test programs that are asked for the test
_GTEST = ("GTEST_BREAK_ON_FAILURE=1", "GTEST_CATCH_EXCEPTIONS=0", "GTEST_COLOR=no")
_NAME_OPTIONS = frozenset({"-t", "--testNamePattern", "--test-name-pattern"})
# How tests are shared out is said by us, and may not be said twice.
_OWN_JEST = _NAME_OPTIONS | {"--maxWorkers", "-w"}
_OWN_VITEST = _NAME_OPTIONS | {"--pool"}
_OWN_MOCHA = frozenset({"-g", "--grep", "-f", "--fgrep", "-t", "--timeout", "--timeouts"})


async def _rerun_go(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    """Build the package's tests without optimisation, and run the failed one."""
    go = setting.words[0]
    output = await setting.run_helper(
        [go, "list", "-f", "{{.Dir}}|{{with .Module}}{{.Path}}{{end}}", named.of]
    )
    folder, _, module = output.strip().partition("|")
    program = str(setting.scratch / f"{Path(folder).name}{TEST_PROGRAM}")
    of = f"{module}/..." if module else "all"
    before, after = go_build_words(setting.words[2:])
    flags = f"-gcflags={of}=-N -l"
    await setting.run_helper([go, "test", "-c", "-o", program, flags, *before, named.of])
    pattern = "/".join(f"^{re.escape(part)}$" for part in named.name.split("/"))
    words = (program, f"-test.run={pattern}", "-test.count=1", *after)
    return DebuggedRerun(words, folder, specs=(BreakpointSpec(function=GO_FAIL),))


async def _rerun_cargo(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    """Run the program, built by cargo, that contains the test."""
    at = setting.words.index("--") if "--" in setting.words else len(setting.words)
    own = list(setting.words[:at])
    output = await setting.run_helper([*own, "--no-run", "--message-format=json"])
    found = built_programs(output)
    for program, folder in found[:_PROGRAMS_MAX]:
        if len(found) > 1:
            listed = await setting.run_helper([program, "--list", "--format=terse"], cwd=folder)
            if f"{named.name}: test" not in listed.splitlines():
                continue
        words = (
            program,
            named.name,
            "--exact",
            "--test-threads=1",
            "--nocapture",
            "--include-ignored",
        )
        env = (f"CARGO_MANIFEST_DIR={folder}",)
        return DebuggedRerun(words, folder, env, specs=(BreakpointSpec(function="rust_panic"),))
    raise DebuggerError(
        ErrorCode.NOT_FOUND,
        f"no program of cargo's has the test {named.name}: a test of the documentation, perhaps",
        hint="debugger test -- cargo test --lib",
    )


def _json_object(line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _assertion_breakpoint(named: NamedFailure) -> tuple[BreakpointSpec, ...]:
    """Return the breakpoint for a JavaScript test: its assertion's line.

    The assertion's error is thrown in Node's own code, where the debugger does not stop.
    """
    if named.file is None or named.line is None:
        raise DebuggerError(ErrorCode.NOT_FOUND, f"where {named.name} failed is not known")
    return (BreakpointSpec(file=named.file, line=named.line),)


async def _rerun_node(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    """Run the test's file itself: Node's tests then run in its own process."""
    if not named.of or not Path(named.of).is_file():
        raise DebuggerError(ErrorCode.NOT_FOUND, f"the file of {named.name} is not known")
    options = [
        one
        for one in setting.words[1:]
        if one.startswith("-") and not one.startswith(("--test", "--watch", "--experimental-test"))
    ]
    # Of a test in a suite Node's pattern is of its own name; what is not chosen is passed over.
    own = re.escape(named.name.rpartition(" > ")[2])
    node = (setting.words[0], *options)
    # A test that another one begins is never come to alone: Node passes over that one.
    words, others = (*node, f"--test-name-pattern={own}$", named.of), (*node, named.of)
    return DebuggedRerun(words, setting.cwd, specs=_assertion_breakpoint(named), with_others=others)


async def _rerun_jest(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    own = _without_options(setting.words[1:], _OWN_JEST)
    is_chosen = any(not one.startswith("-") for one in own[1:])
    file = [] if is_chosen else [re.escape(named.of)]
    pattern = f"^{re.escape(named.name)}$"
    others = (*setting.words[:1], *own, *file, "--runInBand", "--coverage=false")
    words = (*others, "-t", pattern)
    return DebuggedRerun(words, setting.cwd, specs=_assertion_breakpoint(named), with_others=others)


async def _rerun_vitest(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    own = _without_options(setting.words[1:], _OWN_VITEST)
    script, *rest = [one for one in own if one not in {"run", "watch", "dev"}]
    pattern = f"^{re.escape(named.name)}$"
    in_order = ("--no-file-parallelism", "--pool=forks", "--coverage.enabled=false")
    others = (setting.words[0], script, "run", *rest, named.of, *in_order)
    return DebuggedRerun(
        (*others, "-t", pattern),
        setting.cwd,
        specs=_assertion_breakpoint(named),
        with_others=others,
    )


async def _rerun_mocha(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    own = _without_options(setting.words[1:], _OWN_MOCHA)
    pattern = f"^{re.escape(named.name)}$"
    others = (setting.words[0], *own, "--no-parallel", "--timeout=0")
    return DebuggedRerun(
        (*others, "-g", pattern),
        setting.cwd,
        specs=_assertion_breakpoint(named),
        with_others=others,
    )


def _without_options(words: Sequence[str], options: frozenset[str]) -> list[str]:
    """Remove options and their values, either after `=` or in the next word."""
    found: list[str] = []
    remaining = list(words)
    while remaining:
        word = remaining.pop(0)
        if word in options:
            remaining = remaining[1:]
        elif word.partition("=")[0] not in options:
            found.append(word)
    return found


async def _rerun_program(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    own = [one for one in setting.words if not one.startswith("--gtest_filter")]
    return DebuggedRerun((*own, f"--gtest_filter={named.name}"), setting.cwd, _GTEST)


async def _rerun_ctest(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    """Run the program of a ctest test, in its folder and environment."""
    output = await setting.run_helper([*setting.words, "--show-only=json-v1"])
    shown = _json_object(output[output.index("{") :] if "{" in output else "")
    listed = shown.get("tests")
    for one in listed if isinstance(listed, list) else ():
        if one.get("name") != named.name or not one.get("command"):
            continue
        properties = {each["name"]: each["value"] for each in one.get("properties", ())}
        env = properties.get("ENVIRONMENT", [])
        folder = str(properties.get("WORKING_DIRECTORY", setting.cwd))
        return DebuggedRerun(tuple(one["command"]), folder, (*_GTEST, *env))
    raise DebuggerError(ErrorCode.NOT_FOUND, f"ctest does not say what {named.name} runs")


WAYS: Mapping[str, Callable[[RunnerSetting, NamedFailure], Awaitable[DebuggedRerun]]] = {
    test_runners.GO: _rerun_go,
    test_runners.CARGO: _rerun_cargo,
    test_runners.NODE: _rerun_node,
    test_runners.JEST: _rerun_jest,
    test_runners.VITEST: _rerun_vitest,
    test_runners.MOCHA: _rerun_mocha,
    test_runners.CTEST: _rerun_ctest,
    test_runners.PROGRAM: _rerun_program,
    test_runners.MINITEST: ruby_tests.rerun_minitest,
    test_runners.RSPEC: ruby_tests.rerun_rspec,
    test_runners.PHPUNIT: php_tests.rerun_phpunit,
    test_runners.MAVEN: java_tests.rerun_java,
    test_runners.GRADLE: java_tests.rerun_java,
    test_runners.JUNIT: java_tests.rerun_java,
}
