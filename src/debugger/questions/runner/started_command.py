"""Finds the process, of those that a program starts, that comes to a location, and its command."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, structs

from debugger.backends import backend_names
from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.location import CRASH, EVENTS, parse_location
from debugger.questions.runner import started_processes
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_build import build_question
from debugger.questions.runner.question_run import QuestionRun, run_question
from debugger.session.process_tree import root_session
from debugger.session.session import Session
from debugger.symbols.program_file import may_start_processes
from debugger.symbols.source_names import sources_of
from debugger.system.process_info import ProcessRow, list_rows, read_environment

_NATIVE = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".rs")
_Answer = TypeVar("_Answer")
# What shells, make and the debugger itself change for what they start.
_PASSING = frozenset({"_", "PWD", "OLDPWD", "SHLVL"})

_MAIN = "main"
_OF_MAKE = ("MAKEFLAGS", "MAKELEVEL", "MAKE_TERM", "MFLAGS")


class StartedCommand(Struct, frozen=True):
    """The command of a process that a program starts, to be run by itself."""

    words: tuple[str, ...]
    cwd: str
    env: tuple[str, ...] = ()  # `NAME=VALUE`, where it differs from the program's own
    stdin: str | None = None  # the file that it reads
    is_piped: bool = False  # whether it reads what another process writes
    # The forks that lead from this command to the process, each by its number among its parent's.
    forks: tuple[int, ...] = ()

    def is_own(self, requested: QuestionOptions) -> bool:
        """Return whether the process is the program itself, as with a location in a library."""
        return self.words == requested.words and not self.forks

    def run_options(self, requested: QuestionOptions) -> QuestionOptions:
        """Return the options of a question that runs this command instead."""
        return structs.replace(
            requested,
            words=self.words,
            cwd=self.cwd,
            env=(*requested.env, *self.env),
            stdin=self.stdin or requested.stdin,
        )


class StartedLocation(Struct, frozen=True):
    """The location that a process comes to: a line, a function, or a crash."""

    place: str = _MAIN
    when: str | None = None

    def breakpoint(self, call: CommandCall, question: QuestionRun) -> BreakpointSpec | None:
        """Return the breakpoint of the location; a crash needs none."""
        if self.place == CRASH:
            return None
        target = question.target
        spec = call.breakpoint_spec(
            self.place, near=[target.cwd], current=None, program=target.program
        )
        return structs.replace(spec, condition=self.when)

    @property
    def file(self) -> str | None:
        """The file of the location, if it names one."""
        return parse_location(self.place).file if self.place not in EVENTS else None


async def ask_also_started(
    call: CommandCall,
    requested: QuestionOptions,
    location: StartedLocation,
    ask: Callable[[QuestionOptions, tuple[int, ...]], Awaitable[_Answer]],
    *,
    forked_hint: str | None = None,
) -> tuple[_Answer, tuple[str, ...]]:
    """Ask about a program, or where it does not come to a location, about what it starts.

    Returns the answer, and a note if it is of another process.

    A program whose sources do not have the location is not asked first. A question that cannot be
    asked about a forked process gives `forked_hint`, the command that can.

    Raises:
        DebuggerError: What asking raises, of the program where none of its processes comes there.
    """
    plain = structs.replace(requested, keep=False)
    error: DebuggerError | None = None
    question = await build_question(call, plain)
    if not await asyncio.to_thread(_is_elsewhere, question, location):
        try:
            return await ask(requested, ()), ()
        except DebuggerError as one:
            is_compiled = question.traits.runtime is Runtime.NATIVE
            if one.code is not ErrorCode.NOT_FOUND or not is_compiled:
                raise
            error = one
    started = await _find_started(call, plain, question, location)
    if started is None:
        if error is None and await asyncio.to_thread(_may_start, question):
            error = _none_started(requested, location.place)
        if error is not None:
            raise error
    if started is None or started.is_own(requested):
        return await ask(requested, ()), ()
    again = started.run_options(requested)
    note = _describe(started, requested, call.cwd, location.place)
    if started.forks and forked_hint is not None:
        text = f"{location.place} was reached {note}, and {requested.verb} does not follow a fork"
        raise DebuggerError(ErrorCode.NOT_FOUND, text, hint=forked_hint) from error
    try:
        return await ask(again, started.forks), (note,)
    except DebuggerError as second:
        raise DebuggerError(second.code, f"{note}: {second.message}", hint=second.hint) from second


def _may_start(question: QuestionRun) -> bool:
    """Return whether a program starts others, and has no sources of its own: a shell, make."""
    program = question.target.program
    return program is not None and not sources_of(program) and may_start_processes(program)


def _none_started(requested: QuestionOptions, place: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"of what {shlex.join(requested.words)} starts no compiled program came to {place}; what "
        "it starts in Go or by an interpreter is not followed",
        hint=f"debugger {requested.verb} … -- PROGRAM ARGUMENTS, the command that it starts",
    )


async def choose_command(
    call: CommandCall, requested: QuestionOptions
) -> tuple[QuestionOptions, str]:
    """Return the options of the program to record, and a note where it is not the requested one.

    Of a shell, make, or another program without sources it is the first process with sources that
    it starts.
    """
    location = StartedLocation()
    question = await build_question(call, requested)
    if not await asyncio.to_thread(_is_elsewhere, question, location):
        return requested, ""
    started = await _find_started(call, requested, question, location)
    if started is None and await asyncio.to_thread(_may_start, question):
        raise _none_started(requested, location.place)
    if started is None or started.is_own(requested):
        return requested, ""
    return started.run_options(requested), _describe(started, requested, call.cwd, location.place)


def _is_elsewhere(question: QuestionRun, location: StartedLocation) -> bool:
    """Return whether a location is in no source that a program was compiled from."""
    program, file = question.target.program, location.file
    if program is None or not isinstance(question.target, LaunchTarget):
        return False
    runtime = question.traits.runtime
    if runtime is not Runtime.NATIVE:
        # The Frida engine, which would find it, runs no program in Go.
        return file is not None and file.endswith(_NATIVE) and runtime is not Runtime.GO
    sources = {Path(one).name for one in sources_of(program)}
    return not sources or (file is not None and Path(file).name not in sources)


def _describe(started: StartedCommand, requested: QuestionOptions, cwd: str, place: str) -> str:
    """Say which process the answer is of, that it is of no other, and how its command is typed."""
    forks = ", of this one ".join(f"fork {one:,}" for one in started.forks)
    if started.words == requested.words:
        return f"in a process that it forks ({forks})"
    words = [word for pair in started.env for word in ("--env", pair)]
    if os.path.realpath(started.cwd) != os.path.realpath(requested.cwd or cwd):
        words = ["--cwd", started.cwd, *words]
    if started.stdin is not None:
        words += ["--stdin", started.stdin]
    command = shlex.join([*words, "--", *started.words])
    piped = ", which reads a pipe there and nothing here" if started.is_piped else ""
    comes = "has sources" if place == _MAIN else "comes there"
    below = f", in a process that it forks ({forks})" if forks else ""
    return (
        f"only in the first process of {shlex.join(requested.words)} that {comes}{piped}, "
        f"run by itself{below}: "
        f"debugger {requested.verb} … {command}"
    )


async def _find_started(
    call: CommandCall,
    requested: QuestionOptions,
    question: QuestionRun,
    location: StartedLocation,
) -> StartedCommand | None:
    """Run a program until a process that it starts comes to a location, and read its command.

    None where none comes there, or no debugger sees what the program starts.
    """
    following = await started_processes.follow_started(call, requested, question)
    if question.traits.runtime is not Runtime.NATIVE and started_processes.has_frida(call):
        # Its interpreter is a compiled program, too.
        following = structs.replace(requested, backend=backend_names.FRIDA)
    if following is None:
        return None
    question = await build_question(call, following)
    spec = location.breakpoint(call, question)
    if spec is not None:
        question = replace(question, breakpoints=(spec,))
    async with run_question(question) as run:
        stop = await run.wait_first()
        while stop.state == State.STOPPED.value and not _has_sources(run.session_of(stop)):
            stop = await run.go_on(run.session_of(stop))
        session = run.session_of(stop)
        if stop.state != State.STOPPED.value:
            return None
        found = _read_command(session, call.cwd)
    if found is None or found.words:
        return found
    return structs.replace(found, words=requested.words, cwd=requested.cwd or call.cwd)


def _read_command(session: Session, cwd: str) -> StartedCommand | None:
    """Return the command of a stopped process; None if it cannot be read.

    It has no words where the process is a fork of the program itself.
    """
    forks: list[int] = []
    row = _row_of(session)
    while row is not None and session.parent is not None:
        before = _row_of(session.parent)
        if before is None or (before.exe, before.words) != (row.exe, row.words):
            break
        family = session.family.tree_sessions(session)
        if session.family.count_forgotten(session):
            return None
        # By pid: debuggers may report them in another order.
        siblings = sorted(one.pid or 0 for one in family if one.parent is session.parent)
        forks.insert(0, siblings.index(session.pid or 0) + 1)
        session = session.parent
    if row is None or not row.words or session.pid is None:
        return None
    if session.parent is None:
        return StartedCommand((), "", forks=(*forks,))
    target = root_session(session).target
    env = target.env if isinstance(target, LaunchTarget) else {}
    found = read_environment(session.pid)
    changed = {
        name: value
        for name, value in found.items()
        if name not in _PASSING and not name.startswith(_OF_MAKE) and env.get(name) != value
    }
    read = ""
    with suppress(OSError):  # it may have closed its standard input
        read = str(Path(f"/proc/{session.pid}/fd/0").readlink())
    return StartedCommand(
        words=(_short_path(row, cwd), *row.words[1:]),
        cwd=row.cwd,
        env=tuple(f"{name}={value}" for name, value in changed.items()),
        stdin=read if Path(read).is_file() else None,
        is_piped=read.startswith("pipe:"),
        forks=(*forks,),
    )


def _has_sources(session: Session) -> bool:
    row = _row_of(session)
    return row is None or bool(sources_of(row.exe))


def _row_of(session: Session) -> ProcessRow | None:
    return next(iter(list_rows(session.pid)), None) if session.pid is not None else None


def _short_path(row: ProcessRow, cwd: str) -> str:
    """Return the program's file as it is typed in a folder."""
    inner = os.path.relpath(row.exe, cwd)
    return row.exe if inner.startswith("..") else f"./{inner}"
