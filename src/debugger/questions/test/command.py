"""Defines the command that runs tests with any supported runner and explains a failure."""

from __future__ import annotations

import os
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.command_registry import Option, register_command
from debugger.questions.runner.question_arguments import (
    DEFAULT_RUN,
    GROUP,
    RECORDED_RUN,
    QuestionOptions,
    Words,
)

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.model.answers.frames import FrameView
    from debugger.questions.recordings.recorded_run import RecordedProgram
    from debugger.questions.runner.answer import ValueOrigin
    from debugger.questions.runner.command_call import CommandCall
    from debugger.questions.runner.question_run import QuestionRun
    from debugger.questions.test import test_runners
    from debugger.questions.test.answer import SuiteAnswer
    from debugger.questions.test.python_tests import TestRun
    from debugger.questions.test.test_runners import DebuggedRerun
    from debugger.questions.why.java_trace import CrashChain

_TIMEOUT_S = 60.0
_RECORDED = frozenset({"pytest", "unittest", "python"})  # Python's, whose runs `why` records


@register_command("test", group=GROUP)
async def run_tests(
    call: CommandCall,
    words: Words = (),
    *,
    options: Annotated[QuestionOptions, RECORDED_RUN] = DEFAULT_RUN,
    keep: Annotated[bool, Option("--keep", help="leave it stopped where the test failed")] = False,
) -> answers.Answer:
    """Run tests; of the first that fails, say why, and where its wrong value came from.

    CMD is what you would type: pytest, python -m unittest, go test, cargo test, node --test, jest,
    vitest, mocha, mvn test, gradle test, ctest, or a program of googletest. The first failure is
    reported at the assertion in your own code: the values of its operands and the lines that made
    them. Other failures are listed by name. Compile errors, tests not found and tests that do not
    end are reported as such.
    """
    from debugger.questions.runner.evidence_store import files_of
    from debugger.questions.runner.question_build import keep_evidence

    requested = msgspec.structs.replace(options, verb="test", words=words, keep=keep)
    answer = await find_failure(call, requested, is_explained=True)
    callers = [one.frame for one in answer.callers]
    frames = [answer.frame, *callers, *(one.frame for one in answer.made)]
    if answer.why is not None and answer.runner in _RECORDED:
        answer = msgspec.structs.replace(answer, why=_with_command(requested, answer.why))
    summary = answer.cause or answer.summary or answer.outcome
    return keep_evidence(
        call, requested.repeat_command(), answer, summary=summary, files=files_of(frames)
    )


async def find_failure(
    call: CommandCall, options: QuestionOptions, *, is_explained: bool
) -> SuiteAnswer:
    """Run tests, and the first failed one again to its failure; explained, where it came from, too.

    Raises:
        DebuggerError: What running them raises.
    """
    from debugger.questions.test import test_runners

    runner_call = test_runners.parse_runner(options.words)
    if runner_call.runner == test_runners.PYTHON or _is_python(call, options, runner_call):
        return await _test_python(call, options, is_explained=is_explained)
    return await _test_others(call, options, runner_call, is_explained=is_explained)


def _with_command(options: QuestionOptions, origin: ValueOrigin) -> ValueOrigin:
    """Return the origin of a value with the command that follows it further."""
    from debugger.model.location import FAIL

    repeated = msgspec.structs.replace(options, verb="why", keep=False)
    command = repeated.repeat_command([origin.expression, "--at", FAIL])
    return msgspec.structs.replace(origin, command=shlex.join(command))


def _is_python(
    call: CommandCall, options: QuestionOptions, command: test_runners.RunnerCommand
) -> bool:
    """Return whether a program is a script of Python: by its first line."""
    from debugger.questions.test import test_runners

    if command.runner != test_runners.PROGRAM:
        return False
    path = _runner_program(call, options, command)
    with open(path, "rb") as file:
        line = file.readline(200)
    return line.startswith(b"#!") and b"python" in line


async def _test_python(
    call: CommandCall, options: QuestionOptions, *, is_explained: bool
) -> SuiteAnswer:
    import asyncio

    from debugger.questions.recordings.saved_runs import recorded_programs
    from debugger.questions.runner.question_build import build_question
    from debugger.questions.test import python_tests

    [program] = await recorded_programs(call, options)
    began = asyncio.get_running_loop().time()
    run = await python_tests.run_tests(program)
    answer = python_tests.report_tests(run, program)
    if is_explained:
        answer = await _explain_python(call, program, run, answer, began)
    frame = answer.frame
    if not options.keep or answer.outcome != "failed" or frame is None or frame.file is None:
        return answer
    place = BreakpointSpec(file=frame.file, line=frame.line)
    again = await build_question(call, options, lambda _language, *, keep: (place,) if keep else ())
    return await python_tests.keep_failing_test(again, answer)


async def _explain_python(
    call: CommandCall, program: RecordedProgram, run: TestRun, answer: SuiteAnswer, began: float
) -> SuiteAnswer:
    """Add where a failed test's value came from, and what passing tests ran; both take time."""
    import asyncio

    from debugger.questions.test import python_tests
    from debugger.questions.test.value_sources import is_open
    from debugger.questions.why.origin_line import find_python_origin

    loop, frame = asyncio.get_running_loop(), answer.frame
    is_own = answer.outcome == "failed" and answer.phase is None and not answer.timed_out
    is_followed = is_open(answer.why) or (answer.why is not None and answer.why.has_parts())
    if is_own and frame is not None and program.question is not None and is_followed:
        took_s, spent_s = answer.took_s or 0.0, loop.time() - began
        found = await find_python_origin(
            *(call, program.question, answer.why, frame, took_s),
            spent_s=spent_s,
            tests=run.repeated,
        )
        answer = msgspec.structs.replace(answer, why=found or answer.why)
    return await python_tests.add_spectrum(program, run, answer, loop.time() - began)


def _runner_program(
    call: CommandCall, options: QuestionOptions, command: test_runners.RunnerCommand
) -> str:
    """Return the path of the runner's program.

    Raises:
        DebuggerError: LAUNCH_FAILED where there is none.
    """
    from debugger.targets import launch_target

    name = command.words[0]
    folder = os.path.join(call.cwd, options.cwd or "")
    path = os.path.normpath(os.path.join(folder, os.path.expanduser(name)))
    found = path if os.path.isfile(path) else None
    if found is None and "/" not in name:
        found = launch_target.find_on_path(name, call.env, call.cwd)
    if found is None:
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"no such command: {name[:60]}",
            hint="debugger test -- pytest, go test, cargo test, node --test, jest, vitest, mocha, "
            "ctest",
        )
    return found


async def _test_others(
    call: CommandCall,
    options: QuestionOptions,
    command: test_runners.RunnerCommand,
    *,
    is_explained: bool,
) -> SuiteAnswer:
    import asyncio
    import tempfile

    from debugger.questions.test import test_question, test_runners
    from debugger.questions.test.test_runners import RunnerSetting
    from debugger.questions.why.java_trace import CrashChain
    from debugger.targets import launch_target

    cwd = os.path.normpath(os.path.join(call.cwd, options.cwd or ""))
    if not os.path.isdir(cwd):
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no such directory: {cwd}",
            hint="debugger test --cwd DIRECTORY -- CMD",
        )
    pairs = launch_target.parse_environment((*command.env, *options.env), options.verb)
    named = tuple(f"{key}={one}" for key, one in pairs.items())
    # Each run of a Java test is one of its build tool, so the run to the failure begins the chain.
    chain = CrashChain()
    is_followed = command.runner in test_runners.JAVA and is_explained and not options.keep
    call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="test-", dir=call.scratch_root) as scratch:
        setting = RunnerSetting(
            runner=command.runner,
            words=_runner_words(call, options, command, cwd),
            cwd=cwd,
            env={**call.env, **pairs},
            seconds=call.wait_limit(
                _TIMEOUT_S if options.timeout is None else options.timeout
            ).seconds,
            scratch=Path(scratch),
            ask=partial(_debugged_question, call, options, named),
            follow=partial(_follow_value, call, options, named, chain),
            stdin=await asyncio.to_thread(_stdin_bytes, call, options),
            interrupted=call.interrupted,
            is_explained=is_explained,
            on_failure=chain.read_failure if is_followed else None,
        )
        return await test_question.find_failing_test(setting)


def _stdin_bytes(call: CommandCall, options: QuestionOptions) -> bytes:
    from debugger.questions.runner import command_call

    if options.stdin is None:
        return b""
    return command_call.read_stdin_file(
        Path(os.path.normpath(os.path.join(call.cwd, options.stdin)))
    )


def _runner_words(
    call: CommandCall, options: QuestionOptions, command: test_runners.RunnerCommand, cwd: str
) -> tuple[str, ...]:
    """Return the words with the program's path; of a script of Node's, Node and the script."""
    from debugger.questions.test import test_runners
    from debugger.targets import launch_target

    if command.runner not in test_runners.SCRIPTS:
        return (_runner_program(call, options, command), *command.words[1:])
    name = command.runner
    rest = list(command.words)
    while os.path.basename(rest[0]).partition(".")[0] != name:
        rest.pop(0)
    script = Path(cwd) / rest[0]
    if not script.is_file():
        folders = [Path(cwd), *Path(cwd).parents]
        tools = [folder / "node_modules" / ".bin" / name for folder in folders]
        there = next((one for one in tools if one.exists()), None)
        on_path = launch_target.find_on_path(name, call.env, call.cwd)
        if there is None and on_path is None:
            raise DebuggerError(
                ErrorCode.LAUNCH_FAILED,
                f"{name} is not installed here: there is no node_modules/.bin/{name}",
                hint=f"npm install --save-dev {name}",
            )
        script = there if there is not None else Path(str(on_path))
    node = launch_target.find_on_path("node", call.env, call.cwd) or "node"
    return (node, str(script.resolve()), *rest[1:])


async def _follow_value(  # noqa: PLR0917 - what is followed, and by which run
    call: CommandCall,
    options: QuestionOptions,
    pairs: tuple[str, ...],
    chain: CrashChain,
    origin: ValueOrigin,
    frame: FrameView,
    again: DebuggedRerun,
    seconds: float,
) -> ValueOrigin:
    """Follow a value of the failed test by the program that ran it alone."""
    from debugger.questions.why.origin_line import find_test_origin

    inner = msgspec.structs.replace(options, cwd=again.cwd, env=(*pairs, *again.env))
    return await find_test_origin(call, inner, origin, frame, again.words, seconds, chain)


async def _debugged_question(
    call: CommandCall,
    options: QuestionOptions,
    pairs: tuple[str, ...],
    again: DebuggedRerun,
    seconds: float,
) -> QuestionRun:
    """Return how a test is debugged; its breakpoints are the runner's."""
    from debugger.questions.runner.question_build import build_question

    def specs(language: str, *, keep: bool) -> tuple[BreakpointSpec, ...]:
        del language, keep
        return again.specs

    inner = msgspec.structs.replace(
        options,
        words=again.words,
        cwd=again.cwd,
        env=(*pairs, *again.env),
        timeout=seconds,
    )
    return await build_question(call, inner, specs)
