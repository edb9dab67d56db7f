"""Holds the scenes that every debug adapter should play: start, stop, inspect, step, end."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import msgspec

from debugger.backends.abilities import ExceptionAbility
from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import State
from debugger.model.program import EvaluationPurpose, ResumeKind
from debugger.output.location_text import base_name
from debugger.questions.adapter_suite.answer import AdapterSuite
from debugger.questions.adapter_suite.scene_runner import (
    SCENE_S,
    SceneFailed,
    SceneRunner,
    SceneSkipped,
)
from debugger.questions.adapter_suite.suite_request import SuiteTarget
from debugger.questions.runner.command_call import CommandCall, backend_maker, launch_argv
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion, run_question
from debugger.session import inspection, stepping, value_inspection
from debugger.session.session import Session
from debugger.session.stepping import WaitLimit
from debugger.system.process_info import look_at

START, STACK, VARIABLES, VALUE = "start to a breakpoint", "stack", "variables", "expression"
STEP, HIT, END, GONE = "step over", "second hit", "end", "nothing left running"
CONDITION, COUNT, LOG, ASSIGN = "condition", "hit count", "log message", "set a variable"
RAISED, ATTACH, STEP_OUT = "exception", "attach and detach", "step out"
_WAIT_S = SCENE_S / 2  # for one stop
_ENDING_S = 3.0  # until the ended program must be gone
_LOOKS = 30
_FILTERS_MAX = 6  # each is a run of the program
_RAISED_STARTS = 3  # without a filter, for the list of filters, and with the first of them
_ANY_EXCEPTION = re.compile(r"(?i)uncaught|unhandled|exception|all|throw|raise|\*")


class AdapterScenes:
    """Plays the scenes with one adapter and one program; nothing of it stays."""

    def __init__(self, call: CommandCall, target: SuiteTarget) -> None:
        self._call = call
        self._target = target
        self._runner = SceneRunner(call.interrupted)
        self._values: list[str] = []  # of the expression, at the first hits
        self._pid: int | None = None

    async def play_all(self) -> AdapterSuite:
        """Play all scenes, and return what came of them."""
        await self._play_walk()
        for name, scene in (
            (CONDITION, self._see_condition),
            (COUNT, self._see_hit_count),
            (LOG, self._see_log),
        ):
            await self._runner.run_scene(name, scene, needs=(START,))
        await self._runner.run_scene(RAISED, self._see_exception, starts=_RAISED_STARTS)
        await self._runner.run_scene(ATTACH, self._see_attach)
        words = launch_argv(self._target.launch)
        return AdapterSuite(
            self._target.adapter.name, " ".join(map(base_name, words)), self._runner.scenes
        )

    async def _play_walk(self) -> None:
        """Play the scenes of one session: to a breakpoint, look, step, and on to the end."""
        run_scene = self._runner.run_scene
        async with AsyncExitStack() as stack:
            opened: list[RunningQuestion] = []

            async def begin() -> str:
                run = await stack.enter_async_context(self._run([self._target.at]))
                opened.append(run)
                self._pid = run.session.pid
                return self._check_at_line(await run.wait_first())

            await run_scene(START, begin, is_essential=True)
            run = opened[0] if opened else None
            for name, scene, is_essential in (
                (STACK, self._see_stack, True),
                (VARIABLES, self._see_variables, True),
                (VALUE, self._see_value, True),
                (ASSIGN, self._see_assignment, False),
                (HIT, self._see_second_hit, True),
                (STEP, self._see_step, True),
                (STEP_OUT, self._see_step_out, False),
                (END, self._see_end, True),
            ):
                needs = (HIT,) if name == END else (START,)
                play = partial(scene, run) if run is not None else self._never
                await run_scene(name, play, is_essential=is_essential, needs=needs)
        await run_scene(GONE, self._see_gone, is_essential=True, needs=(START,))

    async def _never(self) -> str:
        raise SceneSkipped(f"it needs: {START}")

    @asynccontextmanager
    async def _run(
        self, breakpoints: list[BreakpointSpec], launch: LaunchTarget | AttachTarget | None = None
    ) -> AsyncIterator[RunningQuestion]:
        adapter = self._target.adapter
        question = QuestionRun(
            sessions=self._call.sessions,
            target=launch or self._target.launch,
            make_backend=backend_maker(self._call, adapter),
            name="doctor",
            patience=WaitLimit(_WAIT_S, self._call.interrupted),
            breakpoints=tuple(breakpoints),
            adapter=adapter.name,
            traits=adapter.traits,
            languages=tuple(adapter.languages),
        )
        async with run_question(question) as run:
            yield run

    def _check_at_line(self, stop: answers.Stop) -> str:
        at = self._target.at
        if stop.state != State.STOPPED.value:
            raise SceneFailed(f"{_describe(stop)}, and no stop at line {at.line}")
        frame = stop.frame
        if frame is None or frame.line is None:
            raise SceneFailed(f"stopped by {stop.reason}, at no line")
        is_there = base_name(frame.file or "") == base_name(at.file or "")
        if not is_there or frame.line != at.line:
            place = f"{base_name(frame.file or '?')}:{frame.line}"
            moved = f" (if it moved the breakpoint there: --at {place})" if is_there else ""
            raise SceneFailed(f"stopped by {stop.reason} at {place}, not at line {at.line}{moved}")
        return f"{stop.reason} at {base_name(frame.file or '')}:{frame.line}"

    async def _see_stack(self, run: RunningQuestion) -> str:
        found = await run.session.run_job(
            lambda: inspection.read_backtrace(run.session, thread=None, limit=20, with_locals=False)
        )
        places = [
            f"{one.function} {base_name(one.file)}:{one.line}" for one in found.frames if one.file
        ]
        if not places:
            raise SceneFailed("no frame has a source file")
        return " < ".join(places[:3])

    async def _see_variables(self, run: RunningQuestion) -> str:
        found = await run.session.run_job(lambda: inspection.frame_variables(run.session))
        if not found.variables:
            raise SceneFailed("there are none")
        some = ", ".join(f"{one.name}={one.value}" for one in found.variables[:3])
        return f"{found.total}: {some}"

    async def _see_value(self, run: RunningQuestion) -> str:
        value = await self._evaluate(run)
        self._values.append(value)
        return f"{self._target.expression} = {value}"

    async def _evaluate(self, run: RunningQuestion) -> str:
        expression = self._target.expression
        if not expression:
            raise SceneSkipped("give a variable there: --expr NAME")
        found = await run.session.run_job(
            lambda: value_inspection.evaluate_expression(
                run.session,
                expression,
                purpose=EvaluationPurpose.PRINT,
                depth=0,
                show_type=False,
            )
        )
        return found.value

    async def _see_assignment(self, run: RunningQuestion) -> str:
        # To its own value: the program goes on as it would.
        before = await self._evaluate(run)
        expression = self._target.expression
        found = await run.session.run_job(
            lambda: value_inspection.assign_value(run.session, expression, before)
        )
        if found.value != before:
            raise SceneFailed(f"{expression} is {found.value} after it was set to {before}")
        return f"{expression} = {before}"

    async def _see_step(self, run: RunningQuestion) -> str:
        if run.session.state is not State.STOPPED:
            raise SceneSkipped("the program is not stopped")
        stop = await run.go_on(run.session, _WAIT_S, ResumeKind.NEXT)
        frame = stop.frame
        if stop.state != State.STOPPED.value or frame is None:
            raise SceneFailed(_describe(stop))
        if frame.line == self._target.at.line and stop.reason == "step":
            raise SceneFailed(f"still at line {frame.line}")
        return f"to {base_name(frame.file or '?')}:{frame.line}"

    async def _see_step_out(self, run: RunningQuestion) -> str:
        if run.session.state is not State.STOPPED:
            raise SceneSkipped("the program is not stopped")
        stop = await stepping.finish_function(
            run.session, WaitLimit(_WAIT_S, self._call.interrupted)
        )
        if stop.state != State.STOPPED.value or stop.frame is None:
            raise SceneFailed(_describe(stop))
        return f"to {stop.frame.function} {base_name(stop.frame.file or '?')}:{stop.frame.line}"

    async def _see_second_hit(self, run: RunningQuestion) -> str:
        if run.session.state is not State.STOPPED:
            raise SceneSkipped("the program is not stopped")
        stop = await run.go_on(run.session, _WAIT_S)
        self._pid = run.session.pid  # which some adapters tell late
        shown = self._check_at_line(stop)
        if self._target.expression:
            self._values.append(await self._evaluate(run))
        return shown

    async def _see_end(self, run: RunningQuestion) -> str:
        session = run.session
        if session.state is State.TERMINATED:
            raise SceneSkipped("the program ended in the scene before")
        await _remove_breakpoints(session)
        stop = await run.go_on(session, _WAIT_S)
        if stop.state != State.TERMINATED.value:
            raise SceneFailed(f"{_describe(stop)}, after all breakpoints were removed")
        code = "unknown" if stop.exit_code is None else str(stop.exit_code)
        lines = len(run.all_output_lines())
        return f"exit status {code}, {lines} lines of output"

    async def _see_gone(self) -> str:
        if self._pid is None:
            raise SceneSkipped("the adapter does not tell the program's process")
        for _ in range(_LOOKS):
            process = look_at(self._pid)
            if process is None or process.state == "Z":
                return f"process {self._pid} has ended"
            await asyncio.sleep(_ENDING_S / _LOOKS)
        raise SceneFailed(f"process {self._pid} still runs")

    async def _see_condition(self) -> str:
        expression = self._target.expression
        if len(self._values) < 2 or self._values[0] == self._values[1]:  # noqa: PLR2004 - two hits
            raise SceneSkipped("it needs an expression with another value at the second hit")
        condition = self._target.condition or f"{expression} == {self._values[1]}"
        at = msgspec.structs.replace(self._target.at, condition=condition)
        async with self._run([at]) as run:
            self._check_at_line(await run.wait_first())
            value = await self._evaluate(run)
        if value != self._values[1]:
            raise SceneFailed(f"stopped by `{condition}` with {expression} = {value}")
        return condition

    async def _see_hit_count(self) -> str:
        at = msgspec.structs.replace(self._target.at, hit_count=2)
        async with self._run([at]) as run:
            shown = self._check_at_line(await run.wait_first())
            value = await self._evaluate(run) if self._target.expression else ""
        if len(self._values) > 1 and value and value != self._values[1]:
            raise SceneFailed(f"stopped with {self._target.expression} = {value}, not at hit 2")
        return f"2: {shown}"

    async def _see_log(self) -> str:
        expression = self._target.expression
        text = f"seen {{{expression}}}" if expression else "seen"
        at = msgspec.structs.replace(self._target.at, log=text)
        async with self._run([at]) as run:
            stop = await run.wait_first()
            lines = [one.text for one in run.session.timeline.lines(since=0).lines]
            logged = [one for one in lines if one.startswith("seen")]
        if stop.state == State.STOPPED.value:
            raise SceneFailed(f"it stopped: {_describe(stop)}")
        if not logged:
            raise SceneFailed(f"{_describe(stop)}, and no message was logged")
        if expression and f"{{{expression}}}" in logged[0]:
            raise SceneFailed(f"{{{expression}}} is not filled in: {logged[0]}")
        return f"{len(logged)} messages: {logged[0]}"

    async def _see_exception(self) -> str:
        raising = self._target.raises
        if raising is None:
            raise SceneSkipped("give arguments with which it raises: --raises 'ARGS'")
        async with self._run([], raising) as run:
            stop = await run.wait_first()
            if stop.state == State.STOPPED.value:
                return _describe_exception(stop)
        return await self._see_caught(raising)

    async def _see_caught(self, raising: LaunchTarget) -> str:
        """Stop at an exception by the first of the adapter's filters that has it."""
        words = await self._list_filters()
        if not words:
            raise SceneFailed("it does not stop by itself, and offers no filter of exceptions")
        for word in words:
            async with self._run([BreakpointSpec(catch=word)], raising) as run:
                stop = await run.wait_first()
                if stop.state == State.STOPPED.value:
                    return f"catch {word}: {_describe_exception(stop)}"
        raise SceneFailed(f"it stops with none of its filters: {', '.join(words)}")

    async def _list_filters(self) -> list[str]:
        async with self._run([self._target.at]) as run:
            await run.wait_first()
            words = run.session.backend.find_ability(ExceptionAbility).catch_filters
        return order_filters(words)[:_FILTERS_MAX]

    async def _see_attach(self) -> str:
        pid = self._target.pid
        if pid is None:
            raise SceneSkipped("give a process that runs: --pid N")
        launch = self._target.launch
        target = AttachTarget(pid, launch.cwd, launch.env, launch.program, pause=True)
        async with self._run([], target) as run:
            if run.session.state is State.RUNNING:
                await run.session.pause()
            stop = await run.wait_first()
            if stop.state != State.STOPPED.value:
                raise SceneFailed(f"attached, and not paused: {_describe(stop)}")
            shown = await self._see_stack(run)
        process = look_at(pid)
        if process is None or process.state in {"Z", "T", "t"}:
            raise SceneFailed(f"process {pid} does not run on after it was let go")
        return f"{shown}; it runs on"


def order_filters(words: Iterable[str]) -> list[str]:
    """Put those filters first that sound like any exception; the others follow in their order."""
    return sorted(words, key=lambda one: _ANY_EXCEPTION.search(one) is None)


async def _remove_breakpoints(session: Session) -> None:
    for one in session.breakpoints.user_breakpoints():
        await session.run_job(partial(session.binding.remove, one))


def _describe(stop: answers.Stop) -> str:
    if stop.state == State.TERMINATED.value:
        code = "" if stop.exit_code is None else f" with status {stop.exit_code}"
        never = next((one for one in (*stop.unbound, *stop.never_hit)), None)
        why = never.why_unbound if never is not None else None
        return f"the program ended{code}" + (f" ({why})" if isinstance(why, str) else "")
    if stop.state == State.RUNNING.value:
        return f"no stop within {_WAIT_S:g} s"
    where = f" at {base_name(stop.frame.file or '?')}:{stop.frame.line}" if stop.frame else ""
    return f"stopped by {stop.reason}{where}"


def _describe_exception(stop: answers.Stop) -> str:
    found = stop.exception
    text = f"{found.type}: {found.message}" if found is not None else stop.description or ""
    return f"{_describe(stop)}: {text}".rstrip(": ")


async def play_suite(call: CommandCall, target: SuiteTarget) -> AdapterSuite:
    """Play all scenes with an adapter.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND.
    """
    backend_maker(call, target.adapter)  # one that is not there is no scene
    return await AdapterScenes(call, target).play_all()
