"""Runs a failing test and the passing ones nearest to it, each alone, with their lines counted."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.model.events import OutputStream
from debugger.model.go_test_words import go_build_words
from debugger.questions.recordings import recorded_run
from debugger.questions.recordings.counted_run import make_node_recorder
from debugger.questions.recordings.native_recording import native_recorders
from debugger.questions.recordings.recorded_run import RecordedProgram
from debugger.questions.runner import command_call
from debugger.questions.test import test_runners
from debugger.questions.test.answer import SpectrumView
from debugger.questions.test.spectrum_ranking import CountedTest, compare_tests
from debugger.questions.test.test_reports import NamedFailure
from debugger.questions.test.test_runners import DebuggedRerun, RunnerSetting
from debugger.recorders.go.go_recorder import build_with_counters
from debugger.recorders.model import LineRecording, Recording, RecordingOrder
from debugger.recorders.recorded_process import (
    CompletedRun,
    ProcessRecorder,
    Unrecorded,
    record_run,
    roots_of,
)
from debugger.recorders.suspect_ranking import CodePlace, run_spectrum
from debugger.recorders.test_failures import FailedTestRecord
from debugger.sources.project_files import GoTarget

TESTS_MAX = 8  # passing tests
_TRIED_MAX = 16  # of which some share nothing with the failing one
TIME_S = 30.0  # for all of them
_SUBTEST = re.compile(r"(?P<indent>\s*)# Subtest: (?P<name>.*)$")
_TAP_OK = re.compile(r"(?P<indent>\s*)ok \d+ - (?P<name>.*?)(?P<skip> # (?:SKIP|TODO).*)?$")
_GO_PASSED = re.compile(r"\s*--- PASS: (?P<name>\S+) \(")


class _TestRuns(Struct, frozen=True):
    """What all runs of single tests share."""

    scratch: Path | None
    interrupted: asyncio.Event | None
    stdin: bytes = b""


class _SingleTests(Struct, frozen=True):
    """How single tests of one program run with their lines counted."""

    # The passing tests, the nearest to the failing one first.
    names: Sequence[str]
    # Returns the command line of a test, and its recorder.
    command: Callable[[str], tuple[Sequence[str], ProcessRecorder | RecordingOrder]]
    cwd: str
    env: Mapping[str, str]


_Prepare = Callable[
    [RunnerSetting, NamedFailure, DebuggedRerun, frozenset[str]], Awaitable[_SingleTests]
]


async def compare_with_passing(
    setting: RunnerSetting,
    named: NamedFailure,
    again: DebuggedRerun,
    *,
    failed: Iterable[NamedFailure],
    passed: Sequence[str] = (),
    seconds: float = TIME_S,
) -> SpectrumView | None:
    """Return what the failing test ran that passing tests beside it did not.

    Args:
        setting: The runner's command line.
        named: The failing test.
        again: How it runs alone.
        failed: All failing tests of the run.
        passed: The passing ones, where the runner's report names them.
        seconds: The time for all of it.

    Returns:
        None where the lines of this runner's tests are not counted, or the test passed alone.

    Raises:
        DebuggerError: What building or running the tests raises.
    """
    prepare = _PREPARED.get(setting.runner)
    if prepare is None:
        return None
    began = time.monotonic()
    others = frozenset(one.name for one in failed)
    try:
        async with asyncio.timeout(seconds):
            tests = await prepare(setting, named, again, others)
    except TimeoutError:
        return None
    if passed:
        names = [one for one in passed if one not in others]
        tests = msgspec.structs.replace(tests, names=_nearest(named.name, names))
    runs = _TestRuns(setting.scratch, setting.interrupted, setting.stdin)
    counted = await _run_nearest(runs, named.name, tests, began + seconds)
    own = frozenset({one for one in (named.file, named.of) if one})
    return await _compare_counted(counted, own, began)


async def compare_python_tests(
    program: RecordedProgram,
    failed: Sequence[FailedTestRecord],
    every: Sequence[str],
    *,
    seconds: float = TIME_S,
) -> SpectrumView | None:
    """Return what the first failing test of Python ran that passing tests beside it did not.

    Args:
        program: The tests' command.
        failed: The failing tests.
        every: The tests of the failing one's process, in their order.
        seconds: The time for all of it.
    """
    began = time.monotonic()
    first = failed[0]
    others = {one.of for one in failed}

    def command(name: str) -> tuple[Sequence[str], RecordingOrder]:
        order = RecordingOrder(
            program.source_roots, tests=True, only=(name,), lines=LineRecording.HIT
        )
        return program.launch_argv, order

    names = _nearest(first.of, [one for one in every if one not in others], every)
    tests = _SingleTests(
        names, command, program.launch.cwd, {**recorded_run.SAME_SETS, **program.launch.env}
    )
    stdin = await command_call.stdin_bytes(program.launch)
    runs = _TestRuns(program.scratch, program.patience.interrupted, stdin)
    counted = await _run_nearest(runs, first.of, tests, began + seconds)
    files = frozenset(one.file for one in first.frames[-1:])
    return await _compare_counted(counted, files, began)


async def _compare_counted(
    counted: Sequence[CountedTest], files: frozenset[str], began: float
) -> SpectrumView | None:
    if len(counted) <= 1:
        return None
    found = await asyncio.to_thread(compare_tests, counted[0], counted[1:], files)
    took_s = round(time.monotonic() - began, 3)
    return msgspec.structs.replace(found, took_s=took_s) if found is not None else None


async def _run_nearest(
    runs: _TestRuns, failing: str, tests: _SingleTests, until: float
) -> list[CountedTest]:
    """Run the failing test and then passing ones, as long as there is time.

    Only tests that share code with the failing one count: others say nothing about its lines.
    """
    counted: list[CountedTest] = []
    lines = frozenset[CodePlace]()
    for name in (failing, *tests.names[:_TRIED_MAX]):
        remaining = until - time.monotonic()
        if remaining <= 0 or len(counted) > TESTS_MAX:
            break
        words, recorder = tests.command(name)
        ran = await record_run(
            words,
            recorder,
            cwd=tests.cwd,
            env=tests.env,
            stdin=runs.stdin,
            timeout_s=remaining,
            scratch_root=runs.scratch,
            interrupted=runs.interrupted,
        )
        is_failing = not counted
        if ran.is_timed_out or (ran.status == 0) is is_failing:
            if is_failing:
                break
            continue
        found = _lines_of(ran.recordings)
        if is_failing:
            lines = found
        if found & lines:
            counted.append(CountedTest(name, not is_failing, ran.recordings))
    return counted


def _lines_of(recordings: Sequence[Recording]) -> frozenset[CodePlace]:
    return run_spectrum(recordings, passed=True).lines


def _nearest(name: str, others: Sequence[str], every: Sequence[str] = ()) -> list[str]:
    """Sort tests by their distance: of the same suite first, then by the order of the sources."""
    suite = re.split(r"(::| > |/|\.)", name)[:-1]
    order = {one: at for at, one in enumerate(every or others)}
    own = order.get(name, 0)

    def key(one: str) -> tuple[int, int]:
        parts = re.split(r"(::| > |/|\.)", one)[:-1]
        shared = next(
            (at for at, (a, b) in enumerate(zip(suite, parts, strict=False)) if a != b),
            min(len(suite), len(parts)),
        )
        return -shared, abs(order.get(one, own) - own)

    return sorted((one for one in others if one != name), key=key)


async def _printed_lines(
    setting: RunnerSetting, words: Sequence[str], cwd: str, env: Mapping[str, str]
) -> list[str]:
    """Return what a program of tests prints, such as the list of its tests."""
    ran: CompletedRun = await record_run(
        words,
        Unrecorded(),
        cwd=cwd,
        env=env,
        timeout_s=TIME_S / 2,
        scratch_root=setting.scratch,
        interrupted=setting.interrupted,
    )
    return ran.joined_output(OutputStream.STDOUT).splitlines()


async def _prepare_go(
    setting: RunnerSetting, named: NamedFailure, again: DebuggedRerun, failed: frozenset[str]
) -> _SingleTests:
    """Build the package's tests with counters; its own tests and subtests are compared."""
    build, own = go_build_words(setting.words[2:])
    env = dict(setting.env)
    if build:
        env["GOFLAGS"] = " ".join([env.get("GOFLAGS", ""), *build]).strip()
    folder = setting.scratch / "counted"
    folder.mkdir()
    recorder = await build_with_counters(
        GoTarget("test", again.cwd, again.cwd),
        folder,
        env=env,
        timeout_s=TIME_S,
        interrupted=setting.interrupted,
    )
    top = named.name.partition("/")[0]
    listed = await _printed_lines(setting, [recorder.program, "-test.list=."], again.cwd, env)
    every = [one for one in listed if one.startswith("Test") and one != top]
    if "/" in named.name:
        words = [recorder.program, f"-test.run=^{re.escape(top)}$", "-test.v"]
        printed = await _printed_lines(setting, words, again.cwd, env)
        every[:0] = [one["name"] for line in printed if (one := _GO_PASSED.match(line))]
    names = [one for one in every if one not in failed]

    def command(name: str) -> tuple[Sequence[str], ProcessRecorder]:
        pattern = "/".join(f"^{re.escape(part)}$" for part in name.split("/"))
        return (recorder.program, f"-test.run={pattern}", "-test.count=1", *own), recorder

    return _SingleTests(_nearest(named.name, names, [top, *listed]), command, again.cwd, env)


async def _prepare_cargo(
    setting: RunnerSetting, named: NamedFailure, again: DebuggedRerun, failed: frozenset[str]
) -> _SingleTests:
    program, own = again.words[0], again.words[2:]
    env = {**setting.env, **_environment(again.env)}
    words = [program, "--list", "--format=terse"]
    printed = await _printed_lines(setting, words, again.cwd, env)
    every = [one.removesuffix(": test") for one in printed if one.endswith(": test")]
    names = _nearest(named.name, [one for one in every if one not in failed], every)
    return await _native_tests(names, lambda name: (program, name, *own), again.cwd, env)


async def _prepare_program(
    setting: RunnerSetting, named: NamedFailure, again: DebuggedRerun, failed: frozenset[str]
) -> _SingleTests:
    """List the tests of a program of googletest: suites, and below each its tests."""
    own = [one for one in again.words if not one.startswith("--gtest_filter")]
    printed = await _printed_lines(setting, [*own, "--gtest_list_tests"], again.cwd, setting.env)
    every = list(_gtest_names(printed))
    names = _nearest(named.name, [one for one in every if one not in failed], every)
    return await _native_tests(
        names, lambda name: (*own, f"--gtest_filter={name}"), again.cwd, setting.env
    )


def _gtest_names(printed: Sequence[str]) -> Iterator[str]:
    suite = ""
    for line in printed:
        name = line.partition("#")[0].strip()
        if not line.startswith(" "):
            suite = name if name.endswith(".") else ""
        elif suite and name:
            yield f"{suite}{name}"


async def _native_tests(
    names: Sequence[str],
    words: Callable[[str], Sequence[str]],
    cwd: str,
    env: Mapping[str, str],
) -> _SingleTests:
    program = words("")[0]
    # Which lines ran is enough, and each of many tests has a process of its own.
    found = native_recorders(program, cwd, env, Path(cwd), needs_counts=False)
    recorder = await asyncio.to_thread(lambda: next(found))

    def command(name: str) -> tuple[Sequence[str], ProcessRecorder]:
        return recorder.command_line(words(name)), recorder

    return _SingleTests(names, command, cwd, env)


async def _prepare_node(
    setting: RunnerSetting, named: NamedFailure, again: DebuggedRerun, failed: frozenset[str]
) -> _SingleTests:
    """List the tests of the failing test's file, by Node's own report of it."""
    *node, file = again.with_others or again.words
    words = [*node, "--test-reporter=tap", file]
    printed = await _printed_lines(setting, words, again.cwd, setting.env)
    every = list(_tap_names(printed))
    passed = [name for name, is_passed in every if is_passed and name not in failed]
    order = [name for name, _ in every]
    roots = roots_of(again.words, again.cwd)

    def command(name: str) -> tuple[Sequence[str], ProcessRecorder]:
        pattern = re.escape(name.rpartition(" > ")[2])
        return (*node, f"--test-name-pattern=^{pattern}$", file), make_node_recorder(roots)

    return _SingleTests(_nearest(named.name, passed, order), command, again.cwd, setting.env)


def _tap_names(printed: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the tests of a TAP report that have no tests of their own, and whether each passed."""
    opened: list[tuple[int, str]] = []
    is_leaf = False
    for line in printed:
        subtest, found = _SUBTEST.match(line), _TAP_OK.match(line)
        if subtest:
            depth = len(subtest["indent"])
            opened = [one for one in opened if one[0] < depth]
            opened.append((depth, subtest["name"]))
            is_leaf = True
        elif line.lstrip().startswith(("ok ", "not ok ")):
            if is_leaf and opened:
                yield " > ".join(name for _, name in opened), bool(found and not found["skip"])
            is_leaf = False


async def _prepare_mocha(
    setting: RunnerSetting, named: NamedFailure, again: DebuggedRerun, failed: frozenset[str]
) -> _SingleTests:
    del named, failed  # its report names the tests that passed
    others = again.with_others or again.words
    roots = roots_of(again.words[2:], again.cwd)

    def command(name: str) -> tuple[Sequence[str], ProcessRecorder]:
        return (*others, "-g", f"^{re.escape(name)}$"), make_node_recorder(roots)

    return _SingleTests((), command, again.cwd, setting.env)


def _environment(env: Sequence[str]) -> dict[str, str]:
    return {name: value for name, _, value in (one.partition("=") for one in env)}


_PREPARED: Mapping[str, _Prepare] = {
    test_runners.GO: _prepare_go,
    test_runners.CARGO: _prepare_cargo,
    test_runners.PROGRAM: _prepare_program,
    test_runners.NODE: _prepare_node,
    test_runners.MOCHA: _prepare_mocha,
}
