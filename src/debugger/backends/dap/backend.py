"""Implements the Backend protocol by requests of the Debug Adapter Protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from debugger.backends import abilities
from debugger.backends.base import Attach, ChildAppeared, Closed, Event, Launch, Rebound, Sink
from debugger.backends.dap import abilities as generic
from debugger.backends.dap import breakpoints, convert, leaving
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.conversation import Conversation, Limits
from debugger.backends.dap.delegated import Held as Waiting
from debugger.backends.dap.delegated import Lines
from debugger.backends.dap.exceptions import Exceptions
from debugger.backends.dap.forked import Forks, Held
from debugger.backends.dap.judging import Judge
from debugger.backends.dap.lost_steps import LostSteps
from debugger.backends.dap.profile import Found, Profile
from debugger.backends.dap.read_ahead import LEVELS, ReadAhead
from debugger.backends.dap.sites import Sites
from debugger.backends.dap.stacks import CHANGES_NOTHING, Stacks
from debugger.backends.dap.steps import Steps
from debugger.backends.dap.values import Values
from debugger.backends.native import no_patterns
from debugger.backends.stdio import input_of
from debugger.core.breakpoints import Bound, Breakpoint, Kind, Spec
from debugger.core.locate import is_pattern
from debugger.core.model import (
    ExceptionDetails,
    Frame,
    Purpose,
    Reason,
    Resume,
    Scope,
    Stack,
    Stopped,
    Thread,
    Variable,
)
from debugger.core.raw_effects import RawEffect, no_effect
from debugger.errors import Code, DebuggerError

T = TypeVar("T")


class DapBackend:
    """One program behind one debug adapter (`Backend`).

    An adapter's messages come from `Conversation`; its events go through `Events`, which has
    doubtful stops filtered by `_stands` before the session hears of them. All that is specific to
    an adapter is in its `Profile`.
    """

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
        others: Callable[[type[Any]], str] = lambda _: "",
        child: Mapping[str, Any] | None = None,
        held: Held | None = None,
    ) -> None:
        self._profile = profile
        self._sink = sink
        self._child = child
        self._held = held
        self._forks = held.family if held is not None else Forks()
        self._others = others
        self._abilities: dict[type[Any], Any] = {}
        self._values = Values(self, profile)
        self._thread: int | None = None
        self._stepped: int | None = None  # the thread of the last step
        self._stacks = Stacks(self, profile)
        self._sites = Sites(self, profile, self._tell)
        self._lost_steps = LostSteps(self, self._send_step)
        self._pauses = False
        self._is_begun = False
        self.attached: Attach | None = None
        self.looked_at: Frame | None = None
        self._waiting: Waiting | None = None
        delegating = profile.delegating
        self.lines: Lines | None = delegating.lines(self) if delegating else None
        self.steps: Steps | None = profile.steps(self) if profile.steps is not None else None

        make = partial(DapBackend, profile, found, limits=limits, tasks=tasks, others=others)

        def adopt(configuration: dict[str, Any]) -> None:
            backend = make(sink=self._sink, scratch=scratch, child=configuration)
            backend.inherit(self)
            pid = configuration.get("subProcessId")
            known = delegating.child_pid(configuration) if delegating else None
            known = pid if delegating is None and isinstance(pid, int) else known
            words = profile.words(known) if known is not None else ()
            self._sink(ChildAppeared(backend, known, words))

        def follow(pid: int) -> None:
            held = self._forks.hold(pid)
            if held is not None:
                backend = make(sink=self._sink, scratch=held.scratch(scratch), held=held)
                backend.inherit(self)
                self._sink(ChildAppeared(backend, pid, profile.words(pid)))

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
        self._ahead = ReadAhead(self._talk.client, profile.scopes)
        self._exceptions = Exceptions(self, profile, self._talk.client)
        # The dispatcher decides with these whether a stop may be reported without being filtered.
        self._talk.events.judges_exceptions = lambda: self._exceptions.judges
        self._talk.events.on_fork = follow
        self._talk.events.are_shared = lambda: bool(self._sites)
        self._talk.events.is_leaving = lambda: self._lost_steps.is_leaving

    def inherit(self, parent: DapBackend) -> None:
        """Copy to a child process's backend the state that its parent's has."""
        talk, its = self._talk, parent._talk
        talk.launched, talk.address = its.launched, its.address
        talk.events.is_copied, self.attached = its.events.is_copied, parent.attached

    @property
    def adapter(self) -> str:
        """The adapter's name."""
        return self._profile.name

    @property
    def launched(self) -> Launch | None:
        """The launch request; None for a target that was attached to."""
        return self._talk.launched

    @property
    def conditions(self) -> dict[int, tuple[int, str]]:
        """Our number and the condition of each of the adapter's breakpoints."""
        return self._talk.events.conditions

    @property
    def logs(self) -> dict[int, tuple[int, str]]:
        """Our number and text of each logpoint that stops for us to log, by its adapter number."""
        return self._talk.events.logs

    @property
    def checks(self) -> list[Callable[[Stopped], Awaitable[None]]]:
        """Callbacks that run at each stop before it is reported."""
        return self._talk.events.checks

    def tell(self, event: Event) -> None:
        """Report an event to the session."""
        self._tell(event)

    def can(self, command: str) -> bool:
        """Return whether the adapter supports a request."""
        return self._talk.client.can(command)

    def ability(self, kind: type[T]) -> T:
        """Return the implementation of an ability (see Backend.ability)."""
        found: Any = self._abilities.get(kind)
        if found is None:
            if kind is abilities.Exceptions:
                found = self._exceptions if self._exceptions.catches else None
            else:
                found = generic.find(kind, self._profile, self)
            if found is None:
                instead = self._profile.instead.get(kind)
                raise abilities.missing(kind, self.adapter, self._others(kind), instead=instead)
            self._abilities[kind] = found
        ability: T = found
        return ability

    def report_to(self, sink: Sink) -> None:
        """Report to another sink from now on: a child process gets a session of its own."""
        self._sink = sink

    async def start(self, launch: Launch) -> None:
        """Start adapter and program, up to where breakpoints can be set."""
        await self._talk.start(launch)
        await self._begin(self._child)

    async def attach(self, target: Attach) -> None:
        """Start the adapter and attach to a live process."""
        self.attached = target
        self._pauses = target.pause and not self._profile.pauses_on_attach
        if self.lines is not None:
            self.lines.is_replaying = True
        await self._talk.attach(target, {})
        await self._begin(self._child)

    async def connect(self) -> None:
        """Attach to the child process that this backend was made for."""
        if self._held is not None and self._profile.forked is not None:
            target = self._held.target(self.launched or self.attached)
            await self._talk.attach(target, self._profile.forked(self.launched))
            return
        assert self._child is not None
        await self._talk.connect(self._child)
        await self._begin(self._child)

    async def _begin(self, configuration: Mapping[str, Any] | None) -> None:
        """Let the program run to where it waits for breakpoints, for an adapter that needs that."""
        if self._profile.delegating is not None and self.lines is not None:
            self._waiting = Waiting(self._talk.events, self._go, configuration, self.lines)
            await self._profile.delegating.begin(self, self._waiting)

    async def _go(self) -> None:
        await self._exceptions.send()
        if breakpoints.needs_entry(self._talk, self._profile):
            await breakpoints.send_functions(self._talk, self._profile, ())
        await self._talk.run()

    async def run(self) -> None:
        """End the configuration and see the launch succeed, or the program stop or end."""
        if self._waiting is not None:
            await self._waiting.run(self, self._tell)
        else:
            await self._go()
        if self._held is not None:
            self._held.is_taken = True
        self._is_begun = True
        if self._pauses:
            await self.pause()

    async def close(self, *, kill: bool) -> Closed:
        """End the adapter, and the program with it if `kill`."""
        left = await self._release(kill=kill)
        close = self._talk.close if self._held is None else self._held.closing(self._talk.close)
        async with leaving.leaving(self, self._talk, self._profile, kill=kill):
            closed = await close(kill=kill)
        return msgspec.structs.replace(closed, notes=(*closed.notes, left)) if left else closed

    async def _release(self, *, kill: bool) -> str | None:
        """Let go of an attached process, or end it, where the adapter does neither.

        Returns a note on what is left of the debugger in a process that goes on.
        """
        delegating = self._profile.delegating
        if self.attached is None or self._child is not None or delegating is None:
            return None
        # A process that was not reached, or was let go of, is not ended.
        is_live = self._is_begun and not self._talk.events.is_over
        self._is_begun = False
        with suppress(DebuggerError):  # the adapter is gone
            if kill and is_live:
                delegating.end(self)
                return None
            self._talk.events.mute()
            return await delegating.leave(self, self._talk.events.terminated)
        return None

    def _tell(self, event: Event) -> None:
        if self.lines is not None:
            if self.lines.is_replayed(event):
                return
            self.lines.note(event)
        if isinstance(event, Rebound):
            for bound in self._sites.rebound(event.bound):
                self._sink(Rebound(bound))
            return
        if isinstance(event, Stopped):
            self._stacks.told(event)
            if self.steps is not None:
                self.steps.told(event)
            # Handles of values are valid for one stop only.
            self._values.clear()
            self.looked_at = None
            self._read_ahead(event)
            self._thread = event.thread if event.thread is not None else self._thread
            if self._talk.stdio is not None:
                # Output that the program wrote before the stop is reported before the stop.
                self._talk.stdio.poll()
        self._sink(event)

    def _read_ahead(self, stop: Stopped) -> None:
        if stop.reason is Reason.STEP and stop.thread is not None:
            self._ahead.begin(stop.thread, self._stacks.known(stop.thread, LEVELS))
        else:
            self._ahead.forget()

    # -- breakpoints ---------------------------------------------------------------------------

    def place(self, spec: Spec) -> Spec | Bound:
        """Return the location at which a breakpoint is to be set, or why it cannot be set."""
        if spec.kind is Kind.EXCEPTION:
            return self._exceptions.place(spec)
        if spec.kind in {Kind.ADDRESS, Kind.WATCHPOINT}:
            return spec
        if spec.function is not None and is_pattern(spec.function):
            return no_patterns(self.adapter)
        return self._profile.correct(self, spec)

    async def set_breakpoints(self, file: str, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the breakpoints of a source file (their `at`)."""
        groups = self._sites.combine(wanted)
        sent = [self._sites.sent(members) for members in groups]
        if self.lines is not None:
            answers = await self.lines.send(file, sent)
        else:
            shared = {
                (one.at or one.spec).line or 1
                for members, one in zip(groups, sent, strict=True)
                if self._sites.is_judged(members)
            }
            answers = await breakpoints.send_lines(self._talk, self._profile, file, sent, shared)
        return await self._bound(file, wanted, groups, answers)

    async def set_function_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the function breakpoints."""
        groups = self._sites.combine(wanted)
        sent = [self._sites.sent(members) for members in groups]
        answers = await breakpoints.send_functions(self._talk, self._profile, sent)
        return await self._bound("", wanted, groups, answers)

    async def _bound(
        self,
        name: str,
        wanted: Sequence[Breakpoint],
        groups: Sequence[tuple[Breakpoint, ...]],
        answers: Sequence[dap.Breakpoint],
    ) -> list[Bound]:
        sent = [self._sites.sent(members) for members in groups]
        bounds = await breakpoints.bounds(self, self._talk, self._profile, sent, answers)
        if self.steps is not None:
            guarded = [self._sites.guarded(members) for members in groups]
            bounds = await self.steps.note(name, guarded, bounds)
        found: dict[int, Bound] = {}
        for members, bound in zip(groups, bounds, strict=True):
            each = self._sites.bound(members, bound)
            found |= {one.id: its for one, its in zip(members, each, strict=True)}
        return [found[one.id] for one in wanted]

    async def explain(self, spec: Spec) -> Bound:
        """Explain why a breakpoint does not bind."""
        try:
            return await self._profile.explain(self, spec)
        except DebuggerError:
            return Bound(verified=False, why="the debugger did not say why")

    async def _stands(self, stop: Stopped) -> Stopped | None:
        if self.lines is not None and not await self.lines.stands(stop):
            return None
        judge = Judge(
            self,
            self,
            self._profile,
            self._exceptions,
            sites=self._sites,
            lost_steps=self._lost_steps,
            sink=self._sink,
        )
        return await self._stacks.judged(judge.judge(stop, self._talk.events, self._thread))

    # -- running -------------------------------------------------------------------------------

    async def resume(self, how: Resume, thread: int) -> None:
        """Let the program run."""
        if how is not Resume.CONTINUE and self._talk.events.is_step_pending:
            raise DebuggerError(
                Code.WRONG_STATE,
                "a breakpoint interrupted a step of another thread, and it has to end first",
                hint="debugger continue goes on with that step",
            )
        # The adapter may still answer requests that were sent ahead at the last stop.
        await self._ahead.settle()
        may_hold = self._values.has_returned is not False
        if self._profile.step_done is not None and self._stepped is not None and may_hold:
            await self._profile.step_done(self, self._stepped)
        self._stepped = thread if how is not Resume.CONTINUE else None
        self._talk.events.is_stepping = how is not Resume.CONTINUE
        if self.steps is not None:
            await self.steps.begin(how, thread)
        events = self._talk.events
        if not self._profile.keeps_steps and (self._sites or events.logs):
            await self._lost_steps.begin(how, thread)
        else:
            self._lost_steps.forget()
        if how is Resume.FINISH and self.lines is not None:
            await self.lines.finish(thread)
        else:
            await self.request(ask.RESUMES[how], ask.OfThread(thread), dap.Body)

    async def _send_step(self, how: Resume, thread: int) -> None:
        if self._talk.events.is_step_pending:
            how = Resume.CONTINUE  # goes on with the step that was interrupted
        await self.request(ask.RESUMES[how], ask.OfThread(thread), dap.Body)

    async def pause(self) -> None:
        """Request that a running program stops."""
        thread = self._thread
        if thread is None:
            threads = await self.threads()
            thread = threads[0].id if threads else 0
        if self.lines is not None:
            await self.lines.pause(thread)
        else:
            await self.request("pause", ask.OfThread(thread), dap.Body)

    # -- inspection ----------------------------------------------------------------------------

    async def threads(self) -> list[Thread]:
        """Return the threads."""
        body = await self.request("threads", ask.Nothing(), dap.ThreadsBody)
        return [convert.thread(self._profile.thread(one)) for one in body.threads]

    async def stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread, innermost first."""
        return await self._stacks.read(thread, start, levels)

    async def scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""
        self.looked_at = frame
        if frame.index == 0:
            self._ahead.note_read()
        return await self._values.scopes(frame)

    async def variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return the variables of a scope, the children of a value, or a part of either."""
        return await self._values.variables(handle, start=start, count=count)

    async def fetch(self, handle: int, *, start: int | None, count: int | None) -> list[Variable]:
        """Send a `variables` request and return the variables unchanged."""
        return await self._values.fetch(handle, start=start, count=count)

    async def arguments(self, frame: Frame) -> list[str] | None:
        """Return the names of the arguments among a frame's locals; None where unknown."""
        return await self._profile.arguments(self, frame)

    async def evaluate(self, expression: str, frame: Frame | None, purpose: Purpose) -> Variable:
        """Evaluate an expression; of several ways the first that succeeds counts."""
        return await self._values.evaluate(expression, frame, purpose)

    async def completed(self, values: Sequence[Variable]) -> list[Variable]:
        """Return values with the parts that the adapter cut off."""
        return await self._values.completed(values)

    async def returned(self, stop: Stopped, frame: Frame) -> Variable | None:
        """Return the value of the function that was just left; None where it is not known."""
        return await self._profile.returned(self, stop, frame)

    async def size(self, handle: int) -> int | None:
        """Return how many elements a value has."""
        return await self._values.size(handle)

    async def assign(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field or an element; return it as it is now."""
        return await self._values.assign(target, value, frame)

    async def exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the exception, or the signal, that a thread stopped at."""
        details, _ = await self._exceptions.details(stop)
        return details

    async def source(self, frame: Frame) -> str | None:
        """Return source that only the debugger has."""
        if not frame.source_reference:
            return None
        arguments = ask.SourceRequest(
            frame.source_reference, ask.SourceArgument(source_reference=frame.source_reference)
        )
        body: dap.SourceBody = await self.request("source", arguments, dap.SourceBody)
        return body.content

    async def raw(self, command: str, frame: Frame | None) -> str:
        """Run one command of the debugger's own command line and return its output.

        Raises:
            DebuggerError: USAGE for a control character, which could begin another command.
        """
        self._talk.events.watches_resume = True
        try:
            return await self._values.raw(command, frame)
        finally:
            self._talk.events.watches_resume = False

    @property
    def has_command_line(self) -> bool:
        """Whether raw commands are a debugger's own, not expressions of the language."""
        profile = self._profile
        is_prefixed = profile.raw is not None or profile.raw_prefix is not None
        return is_prefixed or profile.raw_effect is not no_effect

    def raw_effect(self, command: str) -> RawEffect:
        """Return the effect of a raw command on the program."""
        return self._profile.raw_effect(command)

    # -- the program's input -------------------------------------------------------------------

    async def write_input(self, text: bytes) -> None:
        """Write to the program's standard input."""
        await input_of(self._talk.stdio).write(text)

    async def close_input(self) -> None:
        """End the program's standard input."""
        input_of(self._talk.stdio).end_input()

    def post(self, command: str, arguments: msgspec.Struct) -> asyncio.Future[dap.Message]:
        """Send a request without waiting for its response."""
        self._note_request(command)
        return self._talk.client.post(command, arguments)

    async def request(
        self,
        command: str,
        arguments: msgspec.Struct | dict[str, Any],
        body: type[Any],
        *,
        failure: Code = Code.ADAPTER_FAILED,
    ) -> Any:
        """Send a request and return its response's body (see Client.request)."""
        self._note_request(command)
        sent = self._ahead.take(command, arguments)
        return await self._talk.request(command, arguments, body, failure=failure, sent=sent)

    def _note_request(self, command: str) -> None:
        self._stacks.requested(command)
        if command not in CHANGES_NOTHING:
            self._ahead.forget()
