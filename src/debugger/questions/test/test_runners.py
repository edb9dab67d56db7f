"""Recognises the test runner in a command line, and runs its program without a debugger."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path, PurePath

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import Stop
from debugger.model.answers.frames import FrameView
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import OutputStream
from debugger.questions.runner.answer import ValueOrigin
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.recorders.recorded_process import CompletedRun, Unrecorded, record_run

PYTHON, GO, CARGO, NODE = "python", "go test", "cargo test", "node --test"
JEST, VITEST, CTEST, PROGRAM = "jest", "vitest", "ctest", "googletest"
MOCHA = "mocha"
MINITEST, RSPEC = "minitest", "rspec"
PHPUNIT = "phpunit"
MAVEN, GRADLE, JUNIT = "maven", "gradle", "junit"
JAVA = frozenset({MAVEN, GRADLE, JUNIT})
# Runners whose failed assertion is an exception that the debugger stops at.
RAISING = frozenset({MINITEST, RSPEC, PHPUNIT, *JAVA})
# Runners that are a script of Node's, found in node_modules.
SCRIPTS = frozenset({JEST, VITEST, MOCHA})
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*t?\Z")
_RUBY = re.compile(r"ruby[0-9.]*\Z")
_BUNDLE = re.compile(r"bundle[0-9.]*\Z")
_ROUND = {
    "npm": "npx jest, npx vitest, npx mocha, or node --test",
    "yarn": "npx jest, npx vitest, npx mocha, or node --test",
    "pnpm": "npx jest, npx vitest, npx mocha, or node --test",
    "rake": "ruby -Ilib -Itest test/NAME_test.rb, or rspec",
    "make": "what it runs: pytest, go test, cargo test, ctest, …",
    "cmake": "ctest --test-dir BUILD",
    "tox": "pytest, in its virtual environment",
    "nox": "pytest, in its virtual environment",
    "bazel": "the test's program, below bazel-bin/",
    "deno": "node --test",
    "bun": "node --test",
}
_BUILD_TOOLS = {"mvn": MAVEN, "mvnw": MAVEN, "gradle": GRADLE, "gradlew": GRADLE}
_JUNIT = re.compile(
    r"org\.junit\.(?:runner\.JUnitCore|platform\.console\.ConsoleLauncher)\Z"
    r"|(?:.*/)?junit-platform-console\S*\.jar\Z"
)
_UNREAD = frozenset({"ava", "tap", "tape", "jasmine", "qunit", "uvu", "playwright", "cypress"})
_NPX = frozenset({"npx", "pnpx"})
_NODE = frozenset({"node", "nodejs"})


class RunnerCommand(Struct, frozen=True):
    """A test runner with its arguments; `env` are the `K=V` assignments before it."""

    runner: str
    words: tuple[str, ...]
    env: tuple[str, ...] = ()


def parse_runner(words: Sequence[str]) -> RunnerCommand:
    """Return the runner of a command line; any other command may be a test program.

    Raises:
        DebuggerError: USAGE for a command that only starts a runner, with the one to name.
    """
    remaining = list(words)
    if remaining and PurePath(remaining[0]).name == "env":
        remaining.pop(0)
    env = []
    while remaining and _ASSIGNED.match(remaining[0]):
        env.append(remaining.pop(0))
    if not remaining:
        raise DebuggerError(
            ErrorCode.USAGE, "which tests?", hint="debugger test -- pytest -q tests/test_x.py"
        )
    return RunnerCommand(_runner_name(remaining), tuple(remaining), tuple(env))


def is_test_command(words: Sequence[str]) -> bool:
    """Return whether a command runs tests by its words alone: what may be any program does not."""
    try:
        command = parse_runner(words)
    except DebuggerError:
        return False
    names = {PurePath(word).name for word in command.words[:3]}
    if command.runner == PYTHON:
        return bool(names & {"pytest", "py.test", "unittest"})
    if command.runner == NODE:
        return "--test" in command.words
    return command.runner not in {PROGRAM, MINITEST}


def _runner_name(words: Sequence[str]) -> str:
    base, rest = PurePath(words[0]).name, list(words[1:])
    _check_is_runner(base, rest)
    raising = _of_ruby(base, rest) or _of_php(base, rest) or _of_java(base, rest)
    if raising is not None:
        return raising
    stem = base.partition(".")[0]
    script = next((one for one in rest if not one.startswith("-")), "")
    if base == "go" and rest[:1] == ["test"]:
        return GO
    if base == "cargo" and _without_toolchain(rest)[:1] in (["test"], ["t"]):
        return CARGO
    if base in _NODE or base in _NPX:
        return NODE if "--test" in rest else _of_javascript(script)
    if stem in _UNREAD:
        raise _unknown_runner(stem)
    if stem in SCRIPTS or stem == CTEST:
        return stem
    is_python = _PYTHON.match(base) or base.endswith(".py") or base in {"pytest", "py.test"}
    return PYTHON if is_python else PROGRAM


def _of_ruby(base: str, rest: Sequence[str]) -> str | None:
    """Return the runner of a command of Ruby's; None for others."""
    if _BUNDLE.match(base) and rest[:1] == ["exec"] and len(rest) > 1:
        inner = PurePath(rest[1]).name
        _check_is_runner(inner, rest[2:])
        return _of_ruby(inner, rest[2:])
    if base == RSPEC:
        return RSPEC
    is_file = base.endswith(".rb") or _RUBY.match(base)
    return MINITEST if is_file or (base == "rails" and rest[:1] == ["test"]) else None


def _of_php(base: str, rest: Sequence[str]) -> str | None:
    script = PurePath(next((one for one in rest if not one.startswith("-")), "")).name
    is_php = re.match(r"php[0-9.]*\Z", base) is not None and script.startswith(PHPUNIT)
    return PHPUNIT if is_php or base.startswith(PHPUNIT) else None


def _of_java(base: str, rest: Sequence[str]) -> str | None:
    if base == "java" and any(_JUNIT.match(one) for one in rest):
        return JUNIT
    return _BUILD_TOOLS.get(base)


def _check_is_runner(base: str, rest: Sequence[str]) -> None:
    """Reject a command that only starts a runner."""
    if base in _ROUND:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{base} starts the tests' runner, which is to be named itself",
            hint=f"debugger test -- {_ROUND[base]}",
        )
    if base == "cargo" and "nextest" in rest:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "cargo nextest is not known here",
            hint="debugger test -- cargo test",
        )


def _without_toolchain(words: Sequence[str]) -> list[str]:
    return [one for one in words if not one.startswith("+")]


def _of_javascript(script: str) -> str:
    """Return the runner of a script by its name: jest, .../jest/bin/jest.js, vitest.mjs.

    Raises:
        DebuggerError: NOT_SUPPORTED for a runner without a parser.
    """
    stem = PurePath(script).name.partition(".")[0]
    if stem in SCRIPTS:
        return stem
    if stem in _UNREAD:
        raise _unknown_runner(stem)
    return NODE


def _unknown_runner(runner: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"what {runner} reports is not read here; of JavaScript, mocha, jest, vitest and "
        "node --test are",
        hint=f"debugger start npx --break FILE:LINE -- {runner}",
    )


_HELPER_S = 120.0  # seconds for a runner's own command, which may build the tests


class DebuggedRerun(Struct, frozen=True):
    """The command that runs one failed test again under a debugger, and its breakpoints."""

    words: tuple[str, ...]
    cwd: str
    env: tuple[str, ...] = ()
    specs: tuple[BreakpointSpec, ...] = ()
    notes: tuple[str, ...] = ()
    with_others: tuple[str, ...] = ()  # the words that run the other tests of its file too


class RunnerSetting(Struct, frozen=True):
    """A runner's command line, the first word a program's path, and its environment."""

    runner: str
    words: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    seconds: float
    # A folder that is removed afterwards.
    scratch: Path
    # Makes a debugging question from a test's command and the remaining seconds.
    ask: Callable[[DebuggedRerun, float], Awaitable[QuestionRun]]
    # Follows a failed test's value by its command, within seconds, from the failing line on.
    follow: Callable[[ValueOrigin, FrameView, DebuggedRerun, float], Awaitable[ValueOrigin]]
    stdin: bytes = b""
    interrupted: asyncio.Event | None = None
    # Whether the failure is compared with passing tests, and its value followed.
    is_explained: bool = True
    # Reads more at the stop where a test fails, from the frame that the answer shows.
    on_failure: Callable[[RunningQuestion, Stop, FrameView], Awaitable[None]] | None = None

    async def run_tests(self, words: Sequence[str], **also: str) -> CompletedRun:
        """Run the tests, or some of them, with the user's command; `also` adds variables."""
        return await record_run(
            words,
            Unrecorded(),
            cwd=self.cwd,
            env={**self.env, **also},
            stdin=self.stdin,
            timeout_s=self.seconds,
            scratch_root=self.scratch,
            interrupted=self.interrupted,
        )

    async def run_helper(self, words: Sequence[str], *, cwd: str | None = None) -> str:
        """Return the output of the runner's own command, such as a list of programs or tests.

        Raises:
            DebuggerError: LAUNCH_FAILED with the end of its output, if it fails.
        """
        ran = await record_run(
            words,
            Unrecorded(),
            cwd=cwd or self.cwd,
            env=self.env,
            timeout_s=_HELPER_S,
            scratch_root=self.scratch,
            interrupted=self.interrupted,
        )
        if ran.status != 0:
            output = ran.joined_output(OutputStream.STDERR).strip().splitlines()
            raise DebuggerError(
                ErrorCode.LAUNCH_FAILED,
                f"{' '.join(words[:3])} failed: {output[-1] if output else ran.status}",
                hint=f"debugger start -- {' '.join(self.words[:2])}",
            )
        return ran.joined_output(OutputStream.STDOUT)
