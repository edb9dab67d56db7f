"""Runs a program to its end, and evaluates expressions in the last moment before it."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import State
from debugger.model.location import is_library
from debugger.model.program import Frame
from debugger.questions.probe.probe_table import ProbeCell
from debugger.questions.probe.recorded_probe import evaluate_cell
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.why.go_source import GoSources, SiteKind
from debugger.recorders.node.origin_run import EXIT_BEGIN
from debugger.session import stop_report
from debugger.session.session import Session
from debugger.symbols.function_definitions import find_last_line

_LEVELS = 100  # frames in which the program's own are looked for
_RETURNS_MAX = 50  # lines at which Go's main returns
_STOPS_MAX = 10_000
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_NODE_SCOPE = "globalThis[Symbol.for('debugger.exit')].evaluate({})"
_BY_EXIT = "a call of exit"
_RETURNED = "main returned"


class EventValues(Struct, frozen=True):
    """The values of expressions at a stop, and its location, if the program's own code has one."""

    cells: tuple[ProbeCell, ...]
    what: str
    file: str | None = None
    line: int | None = None
    function: str | None = None
    local_names: frozenset[str] = frozenset()
    adapter: str = ""
    took_s: float = 0.0


class ExitPlan(Struct, frozen=True):
    """The breakpoints before the end: the first where all ends come by, the others at `main`'s."""

    breakpoints: tuple[BreakpointSpec, ...]
    env: Mapping[str, str] = {}
    # An expression is evaluated with the names of the script, where none of its frames is left.
    has_scope: bool = False


def plan_exit(question: QuestionRun) -> ExitPlan:
    """Return where to stop a program before its end, by its language.

    Raises:
        DebuggerError: NOT_SUPPORTED for a process that runs already.
    """
    target = question.target
    if not isinstance(target, LaunchTarget):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "--at exit is for a command, not for a process that runs already",
            hint="debugger probe --at exit EXPR -- CMD",
        )
    if question.language == "javascript":
        return ExitPlan((), node_scope_env(target.env), has_scope=True)
    if question.language == "go":
        return ExitPlan((BreakpointSpec(function="os.Exit"), *_returns_of_go(target)))
    last = find_last_line(target.program, "main") if target.program is not None else None
    returns = (BreakpointSpec(file=last[0], line=last[1]),) if last is not None else ()
    return ExitPlan((BreakpointSpec(function="_exit"), *returns))


def node_scope_env(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with which Node keeps the names of its main script within reach."""
    options = f'{env.get("NODE_OPTIONS", "")} --expose-internals --require "{EXIT_BEGIN}"'
    return {"NODE_OPTIONS": options.strip(), "DEBUGGER_AT_EXIT": "1"}


def in_node_scope(text: str) -> str:
    """Return what evaluates an expression with the names of Node's main script."""
    return _NODE_SCOPE.format(json.dumps(text))


def _returns_of_go(target: LaunchTarget) -> list[BreakpointSpec]:
    """Return the lines of Go's `main` at which it may return: each `return`, and its end."""
    program = target.program or ""
    folder = Path(program) if Path(program).is_dir() else Path(program).parent
    files = [program] if program.endswith(".go") else sorted(map(str, folder.glob("*.go")))
    sources = GoSources(files)
    found = []
    for one in sources.functions_named("main"):
        if not one.receiver:
            lines = [site.line for site in sources.sites_in(one, SiteKind.RETURN)]
            found += [(one.file, line) for line in [*lines, one.last]]
    return [BreakpointSpec(file=file, line=line) for file, line in found[:_RETURNS_MAX]]


async def run_to_exit(question: QuestionRun, expressions: Sequence[str]) -> EventValues:
    """Run a program to its end, and evaluate expressions in the last moment before it.

    Raises:
        DebuggerError: NOT_FOUND for a program that a crash ended, or that ended in an unknown way;
            TIMEOUT; what starting it raises.
    """
    plan = await asyncio.to_thread(plan_exit, question)
    target = msgspec.structs.replace(question.target, env={**question.target.env, **plan.env})
    planned = replace(question, target=target, breakpoints=plan.breakpoints)
    async with question_run.run_question(planned) as run:
        began = time.monotonic()
        known: EventValues | None = None
        fault: answers.Stop | None = None
        stop = await run.wait_first()
        for _ in range(_STOPS_MAX):
            if stop.state != State.STOPPED.value:
                break
            session = run.session_of(stop)
            if _is_fault(stop):
                # What handles it goes on; else the program ends, without the end of `main`.
                fault, known = stop, None
            elif plan.breakpoints or await _is_in_hook(session):
                known = await _observe_stop(session, plan, expressions, known)
                fault = None
                if 1 in stop.hit_breakpoints or not plan.breakpoints:
                    break
            stop = await run.go_on(session)
        else:
            known = None
        if known is None or stop.timed_out:
            raise _no_exit(run, stop, fault)
        return msgspec.structs.replace(
            known, adapter=run.session.adapter, took_s=time.monotonic() - began
        )


def _is_fault(stop: answers.Stop) -> bool:
    return stop.signal is not None or stop.exception is not None


async def _is_in_hook(session: Session) -> bool:
    """Return whether a stop is at the end of a Node program, and none of its own."""
    thread = session.selection.thread or 0
    stack = await session.run_job(lambda: session.backend.read_stack(thread, levels=1))
    return [one.file for one in stack.frames] == [EXIT_BEGIN]


async def _observe_stop(
    session: Session, plan: ExitPlan, expressions: Sequence[str], known: EventValues | None
) -> EventValues:
    """Evaluate expressions in the program's own frame, or where `main` has returned, without one.

    What `main`'s variables gave as it returned is kept.
    """
    own, local_names = await session.run_job(lambda: _select_own_frame(session))
    if own is not None:
        cells = [await _evaluate_or(session, one, plan) for one in expressions]
        what = _BY_EXIT if own.index else _RETURNED
        return EventValues(
            tuple(cells), what, own.file, own.line, own.function, local_names=local_names
        )
    found = []
    for at, text in enumerate(expressions):
        before = known.cells[at] if known is not None else None
        if before is not None and _names_local(text, known):
            found.append(before)
            continue
        cell = await evaluate_cell(session, in_node_scope(text) if plan.has_scope else text)
        found.append(before if before is not None and cell.is_error else cell)
    if known is None:
        return EventValues(tuple(found), "its script ended")
    return msgspec.structs.replace(known, cells=tuple(found))


async def _evaluate_or(session: Session, text: str, plan: ExitPlan) -> ProbeCell:
    """Evaluate an expression in the selected frame, else with the names of the script."""
    cell = await evaluate_cell(session, text)
    if not cell.is_error or not plan.has_scope:
        return cell
    again = await evaluate_cell(session, in_node_scope(text))
    return cell if again.is_error else again


def _names_local(text: str, known: EventValues | None) -> bool:
    return known is not None and not known.local_names.isdisjoint(_NAME.findall(text))


async def _select_own_frame(session: Session) -> tuple[Frame | None, frozenset[str]]:
    """Select the innermost frame of the program's own code, else the innermost (a job)."""
    thread = session.selection.thread
    stack = await session.backend.read_stack(thread or 0, levels=_LEVELS)
    cwd = session.target.cwd
    own = next((one for one in stack.frames if _is_own(one, cwd)), None)
    if own is None:
        session.selection.select_frame(stack.frames[0] if stack.frames else None)
        return None, frozenset()
    session.selection.select_frame(own)
    return own, frozenset(one.name for one in await stop_report.frame_locals(session, own))


def _is_own(frame: Frame, cwd: str) -> bool:
    is_ours = frame.file == EXIT_BEGIN
    return bool(frame.line) and not is_ours and not is_library(frame.file, cwd)


def _no_exit(run: RunningQuestion, stop: answers.Stop, fault: answers.Stop | None) -> DebuggerError:
    if stop.timed_out:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            "--at exit: the program did not end in time",
            hint="--timeout 300 waits longer; debugger hang -- CMD says where it is",
        )
    exception = fault.exception if fault is not None else None
    what = stop.signal or (exception.type if exception is not None else None)
    what = what or (fault.signal if fault is not None else None)
    if what is not None:
        return DebuggerError(
            ErrorCode.NOT_FOUND,
            f"--at exit: the program did not end: {what}",
            hint="debugger crash -- CMD shows why; --at crash is that moment",
        )
    status = f" with status {stop.exit_code}" if stop.exit_code is not None else ""
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"--at exit: it ended{status}, and {run.session.adapter} did not stop before",
        hint="debugger probe --at LOC EXPR --nth last -- CMD shows the last values of a line",
    )
