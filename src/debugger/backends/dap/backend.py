"""A debugged program behind a debug adapter: the Backend protocol in terms of DAP requests."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends.base import Attach, ChildAppeared, Closed, Event, Launch, Sink
from debugger.backends.dap import breakpoints, convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.conversation import Conversation, Limits
from debugger.backends.dap.profile import Found, Profile
from debugger.core.breakpoints import Bound, Breakpoint, Spec
from debugger.core.model import (
    ExceptionDetails,
    Frame,
    Purpose,
    Resume,
    Scope,
    Stack,
    Stopped,
    Thread,
    Variable,
)
from debugger.errors import Code, DebuggerError

_RESUME = {
    Resume.CONTINUE: "continue",
    Resume.NEXT: "next",
    Resume.STEP: "stepIn",
    Resume.FINISH: "stepOut",
}
_VALUES_MAX = 10_000


class DapBackend:
    """One program behind one adapter (`Backend`, `RawCommands`)."""

    kind = "dap"

    def __init__(
        self,
        profile: Profile,
        found: Found,
        *,
        sink: Sink,
        scratch: Path,
        limits: Limits,
        tasks: asyncio.TaskGroup,
        child: Mapping[str, Any] | None = None,
    ) -> None:
        self._profile = profile
        self._sink = sink
        self._child = child
        self._values: dict[int, Variable] = {}
        self._thread: int | None = None
        self.looked_at: Frame | None = None

        def adopt(configuration: dict[str, Any]) -> None:
            backend = DapBackend(
                profile,
                found,
                sink=self._sink,
                scratch=scratch,
                limits=limits,
                tasks=tasks,
                child=configuration,
            )
            backend._talk.launched = self._talk.launched
            pid = configuration.get("subProcessId")
            known = pid if isinstance(pid, int) else None
            words = profile.words(known) if known is not None else ()
            self._sink(ChildAppeared(backend, known, words))

        self._talk = Conversation(
            profile,
            found,
            sink=self._tell,
            scratch=scratch,
            limits=limits,
            judge=self._stands,
            on_child=adopt,
            tasks=tasks,
        )

    @property
    def adapter(self) -> str:
        """The adapter's name."""
        return self._profile.name

    @property
    def launched(self) -> Launch | None:
        """What was launched."""
        return self._talk.launched

    def report_to(self, sink: Sink) -> None:
        """Report to another sink from now on: a child gets a session of its own."""
        self._sink = sink

    async def start(self, launch: Launch) -> None:
        """Start adapter and program, up to where breakpoints can be set."""
        await self._talk.start(launch)

    async def attach(self, target: Attach) -> None:
        """Start the adapter and take hold of a live process."""
        await self._talk.attach(target)

    async def connect(self) -> None:
        """Take hold of the child process that this backend was made for."""
        assert self._child is not None
        await self._talk.connect(self._child)

    async def run(self) -> None:
        """End the configuration and see the launch succeed, or the program stop or end."""
        await self._talk.run()

    async def close(self, *, kill: bool) -> Closed:
        """End the adapter, and the program with it if `kill`."""
        return await self._talk.close(kill=kill)

    def _tell(self, event: Event) -> None:
        if isinstance(event, Stopped):
            self._values.clear()
            self.looked_at = None
            self._thread = event.thread if event.thread is not None else self._thread
            if self._talk.stdio is not None:
                # What the program wrote before it stopped is told before the stop.
                self._talk.stdio.poll()
        self._sink(event)

    # -- breakpoints ---------------------------------------------------------------------------

    def place(self, spec: Spec) -> Spec | Bound:
        """Return where a breakpoint is to be set, or why it cannot be."""
        return self._profile.correct(self, spec)

    async def set_breakpoints(self, file: str, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the breakpoints of a source file (their `at`)."""
        answers = await breakpoints.send_lines(self._talk, self._profile, file, wanted)
        return await self._bounds(wanted, answers)

    async def set_function_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the function breakpoints."""
        answers = await breakpoints.send_functions(self._talk, self._profile, wanted)
        return await self._bounds(wanted, answers)

    async def _bounds(
        self, wanted: Sequence[Breakpoint], answers: Sequence[dap.Breakpoint]
    ) -> list[Bound]:
        bounds: list[Bound] = []
        for one, answer in zip(wanted, answers, strict=False):
            bound = await self._explained(convert.bound(answer, one), one)
            bounds.append(bound)
            if bound.backend_id is not None and one.spec.condition is not None:
                condition = (one.id, one.spec.condition)
                self._talk.events.conditions[bound.backend_id] = condition
        missing = Bound(verified=False, why="the adapter did not answer for it")
        return bounds + [missing] * (len(wanted) - len(bounds))

    async def _explained(self, bound: Bound, wanted: Breakpoint) -> Bound:
        if bound.verified or bound.why:
            return bound
        explained = await self.explain(wanted.spec)
        return msgspec.structs.replace(
            bound,
            why=explained.why,
            nearest_lines=explained.nearest_lines,
            near_names=explained.near_names,
        )

    async def explain(self, spec: Spec) -> Bound:
        """Say why a breakpoint does not bind."""
        try:
            return await self._profile.explain(self, spec)
        except DebuggerError:
            return Bound(verified=False, why="the debugger did not say why")

    async def _stands(self, stop: Stopped) -> Stopped | None:
        """Return a stop with its thread; None where its condition cannot be evaluated."""
        if stop.thread is None:  # delve may leave it out
            known = [one.id for one in await self.threads()]
            thread = self._thread if self._thread in known else next(iter(known), None)
            stop = msgspec.structs.replace(stop, thread=thread)
        failures = await breakpoints.failed_conditions(self, stop, self._talk.events.conditions)
        for failure in failures:
            self._sink(failure)
        if failures and stop.thread is not None:
            # A step that the stop interrupted goes on: LLDB keeps its plan until it is done.
            await self._request("continue", ask.OfThread(stop.thread), dap.Body)
            return None
        return stop

    # -- running -------------------------------------------------------------------------------

    async def resume(self, how: Resume, thread: int) -> None:
        """Let the program run."""
        await self._request(_RESUME[how], ask.OfThread(thread), dap.Body)

    async def pause(self) -> None:
        """Ask a running program to stop."""
        thread = self._thread
        if thread is None:
            threads = await self.threads()
            thread = threads[0].id if threads else 0
        await self._request("pause", ask.OfThread(thread), dap.Body)

    # -- looking -------------------------------------------------------------------------------

    async def threads(self) -> list[Thread]:
        """Return the threads."""
        body = await self._request("threads", ask.Nothing(), dap.ThreadsBody)
        return [convert.thread(one) for one in body.threads]

    async def stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread, innermost first."""
        arguments = ask.StackTrace(thread_id=thread, start_frame=start, levels=levels)
        body = await self._request("stackTrace", arguments, dap.StackTraceBody)
        shown = self._profile.frames(body.stack_frames)[:levels]
        total = body.total_frames
        if len(shown) < len(body.stack_frames) or len(body.stack_frames) < levels:
            # The end of the stack: what was left out of it is not counted.
            total = start + len(shown)
        return Stack(convert.frames(shown, start), total)

    async def scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""
        self.looked_at = frame
        body = await self._request("scopes", ask.OfFrame(frame.handle), dap.ScopesBody)
        return [convert.scope(one) for one in body.scopes]

    async def variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return what a scope or a value holds, or a part of it."""
        inside = self._values.get(handle)
        if inside is not None and count is not None:
            page = await self._profile.page(self, inside, start, count)
            if page is not None:
                return self._remembered(page)
        is_part = inside is not None and inside.indexed is not None and count is not None
        found = await self.fetch(
            handle, start=start if is_part else None, count=count if is_part else None
        )
        if not is_part and count is not None:
            found = found[start : start + count]
        return self._remembered(await self._profile.complete(self, found))

    async def fetch(self, handle: int, *, start: int | None, count: int | None) -> list[Variable]:
        """Send a `variables` request as it is."""
        arguments = ask.Variables(handle, start, count)
        body = await self._request("variables", arguments, dap.VariablesBody)
        return [convert.variable(one) for one in body.variables]

    def _remembered(self, variables: list[Variable]) -> list[Variable]:
        for one in variables:
            if one.handle and len(self._values) < _VALUES_MAX:
                self._values[one.handle] = one
        return variables

    async def arguments(self, frame: Frame) -> list[str] | None:
        """Return the names of the arguments among a frame's locals; None where unknown."""
        return await self._profile.arguments(self, frame)

    async def evaluate(self, expression: str, frame: Frame | None, purpose: Purpose) -> Variable:
        """Evaluate an expression; of several ways the first that succeeds counts."""
        problem: DebuggerError | None = None
        for context in self._profile.contexts[purpose]:
            arguments = ask.Evaluate(expression, context, frame.handle if frame else None)
            try:
                body = await self._request(
                    "evaluate", arguments, dap.EvaluateBody, failure=Code.EVALUATION_FAILED
                )
            except DebuggerError as error:
                if error.code is not Code.EVALUATION_FAILED:
                    raise
                problem = problem or error
            else:
                value = convert.evaluated(expression, body)
                return self._remembered([value])[0]
        assert problem is not None
        raise DebuggerError(problem.code, self._profile.problem(problem.message), hint=problem.hint)

    async def completed(self, values: Sequence[Variable]) -> list[Variable]:
        """Add to values what the adapter cut off them."""
        return self._remembered(await self._profile.complete(self, values))

    async def returned(self, stop: Stopped, frame: Frame) -> Variable | None:
        """Return the value of the function that was just left; None where it is not known."""
        return await self._profile.returned(self, stop, frame)

    async def size(self, handle: int) -> int | None:
        """Return how many elements a value has."""
        known = self._values.get(handle)
        if known is None:
            return None
        if known.indexed is not None:
            return known.indexed
        return len(await self.fetch(handle, start=None, count=None))

    async def assign(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field or an element; return it as it is now."""
        if self._talk.client.can("setExpression"):
            arguments = ask.SetExpression(target, value, frame.handle)
            await self._request(
                "setExpression", arguments, dap.EvaluateBody, failure=Code.EVALUATION_FAILED
            )
        elif self._profile.assigns_by_expression:
            await self.evaluate(f"{target} = {value}", frame, Purpose.PRINT)
        else:
            await self._set_variable(target, value, frame)
        return await self.evaluate(target, frame, Purpose.PRINT)

    async def _set_variable(self, target: str, value: str, frame: Frame) -> None:
        for scope in await self.scopes(frame):
            if any(
                one.name == target for one in await self.fetch(scope.handle, start=None, count=None)
            ):
                arguments = ask.SetVariable(scope.handle, target, value)
                await self._request(
                    "setVariable", arguments, dap.EvaluateBody, failure=Code.EVALUATION_FAILED
                )
                return
        raise DebuggerError(
            Code.EVALUATION_FAILED, f"no variable {target} in this frame", hint="debugger locals"
        )

    async def exception(self, thread: int) -> ExceptionDetails | None:
        """Return the exception that a thread stopped at."""
        if not self._talk.client.can("exceptionInfo"):
            return None
        body = await self._request("exceptionInfo", ask.OfThread(thread), dap.ExceptionInfoBody)
        return self._profile.details(convert.exception(body))

    async def source(self, frame: Frame) -> str | None:
        """Return source that only the debugger has."""
        if not frame.source_reference:
            return None
        arguments = ask.SourceRequest(
            frame.source_reference, ask.SourceArgument(source_reference=frame.source_reference)
        )
        body = await self._request("source", arguments, dap.SourceBody)
        content: str | None = body.content
        return content

    async def raw(self, command: str, frame: Frame | None) -> str:
        """Run one command of the debugger's own command line; return what it printed.

        Raises:
            DebuggerError: USAGE for a control character, which could begin another command.
        """
        if any(ord(letter) < ord(" ") for letter in command):
            raise DebuggerError(Code.USAGE, "a debugger command is one line")
        prefix = self._profile.raw_prefix or ""
        self._talk.events.watches_resume = True
        try:
            value = await self.evaluate(prefix + command, frame, Purpose.RAW)
        finally:
            self._talk.events.watches_resume = False
        lines = value.value.splitlines()
        # lldb-dap repeats the command before its answer.
        if prefix and lines and lines[0].startswith("(lldb) "):
            lines = lines[1:]
        return "\n".join(lines)

    # -- the program's input -------------------------------------------------------------------

    async def write_input(self, text: bytes) -> None:
        """Write to the program's standard input."""
        await self._input().write(text)

    async def close_input(self) -> None:
        """End the program's standard input."""
        self._input().end_input()

    def _input(self) -> Any:
        if self._talk.stdio is None:
            raise DebuggerError(
                Code.NOT_SUPPORTED,
                "the program was not started here: its input is not ours",
                hint="write to it where it was started",
            )
        return self._talk.stdio

    async def _request(
        self,
        command: str,
        arguments: msgspec.Struct | dict[str, Any],
        body: type[Any],
        *,
        failure: Code = Code.ADAPTER_FAILED,
    ) -> Any:
        return await self._talk.request(command, arguments, body, failure=failure)
