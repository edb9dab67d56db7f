"""Builds the run of a question from its options, and keeps its answer as evidence."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, Protocol, TypeVar

import msgspec

from debugger.backends import backend_names, select_backend
from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.backends.dap.debug_adapter import DebugAdapter
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import Runtime
from debugger.questions.runner.answer import DrawnCallTree
from debugger.questions.runner.command_call import (
    CommandCall,
    backend_maker,
    caller_commands,
    locate_target,
    pids_with_session,
    with_default,
)
from debugger.questions.runner.evidence_store import AnswerPicture
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_run import QuestionRun
from debugger.session.idle_watch import QUESTION_LIMIT
from debugger.session.session import MakeBackend
from debugger.session.stepping import WaitLimit
from debugger.symbols.program_file import ProgramFile, inspect_program
from debugger.targets import command_line as commands
from debugger.targets import launch_target, launchers
from debugger.targets.attach_request import AttachRequest, PreparedAttach
from debugger.targets.cargo_command import build_program, parse_cargo

_TIMEOUT_S = 60.0  # default of --timeout
_KEPT_TOKENS = 4000  # budget of the stored text
_SELF_RECORDING = frozenset({Runtime.RUBY, Runtime.PHP})
EMPTY = "/dev/null"
# Python's own words for a crash in compiled code, which its debugger does not see.
_OWN_WORDS = ("PYTHONFAULTHANDLER", "1")


class BreakpointChooser(Protocol):
    """Chooses the breakpoints of a question for a language."""

    def __call__(self, language: str, *, keep: bool) -> tuple[BreakpointSpec, ...]:
        """Return the breakpoints; with `keep` the session stays where the answer is found."""


def no_breakpoints(language: str, *, keep: bool) -> tuple[BreakpointSpec, ...]:  # noqa: ARG001 - Breakpoints
    """Return no breakpoints."""
    return ()


async def build_question(
    call: CommandCall, options: QuestionOptions, breakpoints: BreakpointChooser = no_breakpoints
) -> QuestionRun:
    """Build the run of a question; `breakpoints` are those for a language.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, LAUNCH_FAILED, ADAPTER_NOT_FOUND, each with a remedy.
    """
    _refuse_launcher(options)
    patience = _question_limit(call, options)
    if options.core is not None and options.pid is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--core or --pid, not both",
            hint=f"debugger {options.verb} --core FILE PROGRAM",
        )
    if options.core is not None or options.pid is not None:
        prepared = await _prepare_attach(call, options)
        target: LaunchTarget | AttachTarget = prepared.target
        adapter, program = prepared.adapter, prepared.target.program
        inspected = inspect_program(program or "")
    else:
        request = _launch_request(call, await _with_built_program(call, options))
        launch, adapter = launch_target.prepare_launch(with_default(call, request))
        if request.python is not None and launch.python is not None:
            await launch_target.check_python(launch)
        target = launch
        is_python = launch.program is None
        inspected = ProgramFile("python") if is_python else inspect_program(launch.program or "")
    return QuestionRun(
        sessions=call.sessions,
        target=target,
        make_backend=_make_backend(call, adapter),
        name=options.verb,
        patience=patience,
        keep=options.keep,
        breakpoints=breakpoints(inspected.type_language or inspected.language, keep=options.keep),
        adapter=adapter.name,
        traits=adapter.traits,
        language=inspected.language,
        languages=tuple(adapter.languages),
    )


def _make_backend(call: CommandCall, adapter: DebugAdapter) -> MakeBackend:
    """Return the factory of a session's backend.

    Programs of Ruby and PHP record themselves, without the adapter: one that is not installed is an
    error only where a session begins.
    """
    try:
        return backend_maker(call, adapter)
    except DebuggerError as error:
        is_missing = error.code is ErrorCode.ADAPTER_NOT_FOUND
        if not is_missing or adapter.traits.runtime not in _SELF_RECORDING:
            raise
        problem = error

    def refuse(*_: object) -> NoReturn:
        raise problem

    return refuse


# Questions about the processes of a job, by `--group`.
_GROUP_VERBS = frozenset({"crash", "hang", "path", "probe", "diff"})


def _refuse_launcher(options: QuestionOptions) -> None:
    """Refuse the launcher of a job as the one program of a question, which would see no rank.

    Raises:
        DebuggerError: USAGE; not where the user has chosen a debugger, which is for the launcher.
    """
    is_chosen = options.adapter is not None or options.backend is not None
    if is_chosen or not options.words or not launchers.is_launcher(options.words[0]):
        return
    verb = options.verb if options.verb in _GROUP_VERBS else "path"
    has_place = verb in {"probe", "diff"}
    raise DebuggerError(
        ErrorCode.USAGE,
        f"{options.words[0]} starts the processes of a job: {options.verb} would see none of them",
        hint=f"debugger {verb} --group --at LOC EXPR -- CMD"
        if has_place
        else f"debugger {verb} --group -- CMD",
    )


def _question_limit(call: CommandCall, options: QuestionOptions) -> WaitLimit:
    """Return the time limit of a question; a server gets some time for a first request."""
    patience = call.wait_limit(_TIMEOUT_S if options.timeout is None else options.timeout)
    if options.pid is not None:
        return replace(patience, idle_limits={})
    if options.timeout is not None:
        return patience
    return replace(patience, idle_limits={**patience.idle_limits, **QUESTION_LIMIT})


_Answer = TypeVar("_Answer", bound=answers.Answer)


def keep_evidence(
    call: CommandCall,
    again: Sequence[str],
    answer: _Answer,
    *,
    summary: str,
    files: Iterable[str],
    draw: AnswerPicture | None = None,
    trees: tuple[DrawnCallTree, ...] = (),
) -> _Answer:
    """Store an answer as evidence, and set its id.

    `again` is the command that repeats the question, `files` are the quoted sources; `draw` draws
    the answer in a report, or `trees` are its calls.
    """
    number = call.evidence.keep_answer(
        again,
        call.cwd,
        summary=summary,
        text=call.as_text(answer, _KEPT_TOKENS),
        files=files,
        draw=draw,
        trees=trees,
    )
    return msgspec.structs.replace(answer, evidence=number)


def _launch_request(call: CommandCall, options: QuestionOptions) -> launch_target.LaunchRequest:
    """Read a command; the files that it names are looked for in the directory of --cwd first."""
    if options.cwd is not None:
        folder = os.path.normpath(Path(call.cwd, options.cwd))
        stdin = str(Path(call.cwd, options.stdin)) if options.stdin is not None else None
        there = replace(call, cwd=folder)
        with contextlib.suppress(DebuggerError):  # it is in the caller's directory, or in neither
            request = _read_command(
                there, msgspec.structs.replace(options, cwd=folder, stdin=stdin)
            )
            launch_target.prepare_launch(with_default(there, request))
            return request
    return _read_command(call, options)


def _read_command(call: CommandCall, options: QuestionOptions) -> launch_target.LaunchRequest:
    env = call.env
    read = commands.parse_command(options.words, caller_commands(call), verb=options.verb)
    changed = [*(f"{name}={value}" for name, value in read.env), *options.env]
    program, module, args, python = read.program, read.module, read.args, read.python
    profiles = select_backend.list_adapters(call.config.adapters)
    adapter = (
        select_backend.find_named_adapter(options.adapter, profiles)
        if options.adapter is not None
        else None
    )
    if read.interpreter and _is_for_the_interpreter(adapter, options.backend):
        program, *rest = read.interpreter
        module, args, python = None, tuple(rest), None
    if read.interpreter and "PYTHONFAULTHANDLER" not in env:
        changed.insert(0, "=".join(_OWN_WORDS))
    return launch_target.LaunchRequest(
        cwd=call.cwd,
        env=env,
        program=program if module is None else None,
        module=module,
        args=args,
        adapter=options.adapter,
        backend=select_backend.choose_backend(options.backend, env, call.config.defaults.backend),
        python=python,
        stdin=options.stdin if options.stdin is not None else EMPTY,
        changed_env=tuple(changed),
        changed_cwd=options.cwd,
        adapters=call.config.adapters,
        verb=options.verb,
    )


async def _with_built_program(call: CommandCall, options: QuestionOptions) -> QuestionOptions:
    """Replace `cargo run` and `cargo test` by the program that cargo builds.

    Raises:
        DebuggerError: What the build raises.
    """
    command = parse_cargo(options.words)
    if command is None:
        return options
    changed = dict(one.partition("=")[::2] for one in options.env)
    found = await build_program(
        command,
        options.words,
        verb=options.verb,
        cwd=str(Path(call.cwd, options.cwd or "")),
        env={**call.env, **changed},
    )
    words = (found.program, *found.args)
    if not command.is_test:
        return msgspec.structs.replace(options, words=words)
    env = (f"CARGO_MANIFEST_DIR={found.folder}", *options.env)
    return msgspec.structs.replace(options, words=words, cwd=found.folder, env=env)


_SCRIPTED = frozenset({"python", "javascript", "ruby", "php"})


def _is_for_the_interpreter(adapter: DebugAdapter | None, backend: str | None) -> bool:
    """Return whether the chosen adapter debugs compiled code, so the interpreter is the target."""
    if backend not in {None, backend_names.DAP}:
        return True
    return adapter is not None and _SCRIPTED.isdisjoint(adapter.languages)


async def _prepare_attach(call: CommandCall, options: QuestionOptions) -> PreparedAttach:
    if options.core is not None and len(options.words) != 1:
        raise DebuggerError(
            ErrorCode.USAGE,
            "a core file needs the program that crashed",
            hint=f"debugger {options.verb} --core FILE PROGRAM",
        )
    if options.pid is not None and options.words:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--pid or a command, not both",
            hint=f"debugger {options.verb} --pid {options.pid}",
        )
    request = AttachRequest(
        cwd=call.cwd,
        env=call.env,
        what=str(options.pid) if options.pid is not None else options.words[0],
        core=options.core,
        adapter=options.adapter,
        backend=select_backend.choose_backend(
            options.backend, call.env, call.config.defaults.backend
        ),
        adapters=call.config.adapters,
        held=pids_with_session(call),
        verb=options.verb,
    )
    return await locate_target(request, hint=f"debugger {options.verb} --pid N")
