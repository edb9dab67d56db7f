"""Reads what the suite needs of a command line, or of the adapter's own section."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.backends.dap.debug_adapter import DebugAdapter
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.questions.runner.command_call import CommandCall
from debugger.targets import launch_target

HINT = "debugger doctor {} --suite --at FILE:LINE --expr NAME -- PROGRAM ARGS"


class SuiteWords(Struct, frozen=True):
    """The words of the suite: of the command line, or of the section `[adapters.NAME.suite]`."""

    program: str = ""
    args: tuple[str, ...] = ()
    # A line that the program comes to several times.
    at: str = ""
    # A variable there whose value is another one each time.
    expression: str = ""
    # True at the second hit; else it is `EXPRESSION == VALUE`.
    condition: str = ""
    # Arguments with which the program raises an exception.
    raises: tuple[str, ...] = ()
    # A process that runs already, for the scene of attaching.
    pid: int | None = None


class SuiteTarget(Struct, frozen=True):
    """What the scenes run: the program, the adapter, and the breakpoint of all of them."""

    launch: LaunchTarget
    adapter: DebugAdapter
    at: BreakpointSpec
    expression: str
    condition: str = ""
    raises: LaunchTarget | None = None
    pid: int | None = None


def merge_words(given: SuiteWords, section: SuiteWords | None) -> SuiteWords:
    """Return the given words, and the section's where nothing was given."""
    if section is None:
        return given
    is_own = not given.program
    return SuiteWords(
        program=given.program or _expand_home(section.program),
        args=section.args if is_own else given.args,
        at=given.at or _expand_home(section.at),
        expression=given.expression or section.expression,
        condition=given.condition or section.condition,
        raises=given.raises or (section.raises if is_own else ()),
        pid=given.pid,
    )


def _expand_home(text: str) -> str:
    return os.path.expanduser(text)  # noqa: PTH111 - pathlib raises for a user who is not known


def prepare_suite(call: CommandCall, name: str, words: SuiteWords) -> SuiteTarget:
    """Resolve the program, the adapter and the breakpoint.

    Raises:
        DebuggerError: USAGE for what is missing; what preparing a start raises.
    """
    missing = "a program" if not words.program else "--at FILE:LINE" if not words.at else ""
    if missing:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"the suite needs {missing}: a line that the program comes to several times",
            hint=HINT.format(name),
        )
    launch, adapter = _prepare_launch(call, name, words.program, words.args)
    near = [launch.cwd, str(Path(launch.program or "").parent)]
    at = call.breakpoint_spec(words.at, near=near, current=launch.program, program=launch.program)
    if at.line is None:
        raise DebuggerError(
            ErrorCode.USAGE, f"--at is FILE:LINE, not {words.at!r}", hint=HINT.format(name)
        )
    raising = None
    if words.raises:
        raising = _prepare_launch(call, name, words.program, words.raises)[0]
    return SuiteTarget(launch, adapter, at, words.expression, words.condition, raising, words.pid)


def _prepare_launch(
    call: CommandCall, name: str, program: str, args: Sequence[str]
) -> tuple[LaunchTarget, DebugAdapter]:
    return launch_target.prepare_launch(
        launch_target.LaunchRequest(
            cwd=call.cwd,
            env=call.env,
            program=program,
            args=tuple(args),
            adapter=name,
            stdin=os.devnull,
            adapters=call.config.adapters,
            verb="doctor",
        )
    )
