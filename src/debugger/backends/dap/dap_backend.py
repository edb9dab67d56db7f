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
from debugger.backends.backend_names import DAP
from debugger.backends.base import (
    AttachTarget,
    BackendEvent,
    BreakpointChanged,
    ChildStarted,
    ClosedBackend,
    LaunchTarget,
    Sink,
)
from debugger.backends.dap import dap_abilities as generic
from debugger.backends.dap import dap_breakpoints, dap_convert, dap_inspection, detach
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.breakpoint_sites import BreakpointSites
from debugger.backends.dap.conversation import AdapterConversation
from debugger.backends.dap.dap_client import AdapterLimits
from debugger.backends.dap.dap_inspection import LEVELS, ProgramStacks, ReadAhead, StopValues
from debugger.backends.dap.dap_transport import ByteStream
from debugger.backends.dap.debug_adapter import AdapterLocation, DebugAdapter
from debugger.backends.dap.event_dispatcher import StopDoubts
from debugger.backends.dap.stop_filter import LostStepRecovery, StepKeeper, StopFilter
from debugger.backends.dap.two_connection_launch import (
    BreakpointSender,
    ForkedChild,
    ForkedChildren,
    PendingLaunch,
)
from debugger.backends.native_breakpoints import locate_in_file, refuse_pattern
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits, RawEffect
from debugger.model.location import is_pattern
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    Frame,
    ResumeKind,
    Scope,
    Stack,
    Stopped,
    StopReason,
    Thread,
    Variable,
)
from debugger.system.program_streams import require_stdio

T = TypeVar("T")


class DapBackend:
    """One program behind one debug adapter (`Backend`).

    An adapter's messages come from `AdapterConversation`; its events go through `EventDispatcher`,
    which has doubtful stops filtered by `_filter_stop` before the session hears of them. All that
    is specific to an adapter is in its `DebugAdapter`.
    """

    backend_name = DAP

    def __init__(
        self,
        adapter: DebugAdapter,
        found: AdapterLocation,
        *,
        sink: Sink,
        scratch: Path,
        limits: AdapterLimits,
        tasks: asyncio.TaskGroup,
        others: Callable[[type[Any]], str] = lambda _: "",
        child: Mapping[str, Any] | None = None,
        link: ByteStream | None = None,
        forked: ForkedChild | None = None,
    ) -> None:
        self._adapter = adapter
        self._sink = sink
        self._child = child
        self._link = link  # of a child that has connected by itself
        self._forked_child = forked
        # One for the whole process tree: the limits are on all children together.
        self._forks = forked.family if forked is not None else ForkedChildren()
        self._others = others
        self._abilities: dict[type[Any], Any] = {}
        self._values = StopValues(self, adapter)
        self._thread: int | None = None
        self._stepped: int | None = None  # the thread of the last step
        self._stacks = ProgramStacks(self, adapter)
        self._sites = BreakpointSites(
            self, adapter, self._report_event, lambda: self._talk.client.capabilities
        )
        self._lost_steps = LostStepRecovery(self, self._send_step)
        self._pauses = False
        self._is_begun = False
        self.attach_target: AttachTarget | None = None
        self.inspected_frame: Frame | None = None
        self._waiting: PendingLaunch | None = None
        delegating = adapter.delegated_launch
        self.breakpoint_sender: BreakpointSender | None = (
            delegating.make_breakpoint_sender(self) if delegating else None
        )
        self.step_keeper: StepKeeper | None = adapter.make_step_keeper(self)

        make = partial(DapBackend, adapter, found, limits=limits, tasks=tasks, others=others)

        def adopt_child(configuration: dict[str, Any], link: ByteStream | None) -> None:
            # The child's session sets its own sink (`set_sink`) when it takes the backend over.
            backend = make(sink=self._sink, scratch=scratch, child=configuration, link=link)
            backend.inherit_from(self)
            # debugpy's key; js-debug names the process in the session's name only.
            pid = configuration.get("subProcessId")
            known = delegating.read_child_pid(configuration) if delegating else None
            known = pid if delegating is None and isinstance(pid, int) else known
            words = adapter.read_child_command(known) if known is not None else ()
            self._sink(ChildStarted(backend, known, words))

        def follow_fork(pid: int) -> None:
            forked_child = self._forks.hold_child(pid)
            if forked_child is not None:
                backend = make(
                    sink=self._sink, scratch=forked_child.make_scratch(scratch), forked=forked_child
                )
                backend.inherit_from(self)
                self._sink(ChildStarted(backend, pid, adapter.read_child_command(pid)))

        self._talk = AdapterConversation(
            adapter,
            found,
            sink=self._report_event,
            scratch=scratch,
            limits=limits,
            judge=self._filter_stop,
            on_child=adopt_child,
            tasks=tasks,
        )
        self._ahead = ReadAhead(self._talk.client, adapter.convert_scopes)
        self._exceptions = dap_breakpoints.DapExceptions(self, adapter, self._talk.client)
        # The dispatcher decides with these whether a stop may be reported without being filtered.
        doubts = StopDoubts(
            filters_exceptions=lambda: self._exceptions.needs_filter,
            has_filtered_sites=lambda: bool(self._sites),
            is_continuing_step=lambda: self._lost_steps.is_continuing_step,
        )
        self._talk.events.set_callbacks(doubts, follow_fork)

    def inherit_from(self, parent: DapBackend) -> None:
        """Copy to a child process's backend the state that its parent's has."""
        self._talk.inherit_from(parent._talk)
        self.attach_target = parent.attach_target

    @property
    def adapter_name(self) -> str:
        """The adapter's name."""
        return self._adapter.name

    @property
    def traits(self) -> DebuggerTraits:
        """Facts about the adapter."""
        return self._adapter.traits

    @property
    def launch_target(self) -> LaunchTarget | None:
        """The launch request; None for a target that was attached to."""
        return self._talk.launched

    @property
    def breakpoint_conditions(self) -> dict[int, tuple[int, str]]:
        """Our number and the condition of each of the adapter's breakpoints."""
        return self._talk.events.conditions

    @property
    def breakpoint_logs(self) -> dict[int, tuple[int, str]]:
        """Our number and text of each logpoint that stops for us to log, by its adapter number."""
        return self._talk.events.logs

    @property
    def stop_checks(self) -> list[Callable[[Stopped], Awaitable[None]]]:
        """Callbacks that run at each stop before it is reported."""
        return self._talk.events.checks

    def report_event(self, event: BackendEvent) -> None:
        """Report an event to the session."""
        self._report_event(event)

    def supports_request(self, command: str) -> bool:
        """Return whether the adapter supports a request."""
        return self._talk.client.supports_request(command)

    def find_ability(self, kind: type[T]) -> T:
        """Return the implementation of an ability (see `Backend.find_ability`)."""
        implementation: Any = self._abilities.get(kind)
        if implementation is None:
            if kind is abilities.ExceptionAbility:
                # By what the adapter offers now: CodeLLDB adds a filter by a late event.
                implementation = self._exceptions if self._exceptions.catch_filters else None
            else:
                implementation = generic.find_ability(kind, self._adapter, self)
            if implementation is None:
                instead = self._adapter.ability_alternatives.get(kind)
                raise abilities.missing_ability(
                    kind, self.adapter_name, self._others(kind), instead=instead
                )
            self._abilities[kind] = implementation
        ability: T = implementation
        return ability

    def set_sink(self, sink: Sink) -> None:
        """Report to another sink from now on: a child process gets a session of its own."""
        self._sink = sink

    async def start(self, launch: LaunchTarget) -> None:
        """Start adapter and program, up to where breakpoints can be set."""
        await self._talk.start(launch)
        await self._begin_program(self._child)

    async def attach(self, target: AttachTarget) -> None:
        """Start the adapter and attach to a live process."""
        self.attach_target = target
        self._pauses = target.pause and not self._adapter.pauses_on_attach
        if self.breakpoint_sender is not None:
            # V8 repeats up to a thousand messages to whoever attaches: they are dropped until our
            # mark.
            self.breakpoint_sender.expect_replay()
        await self._talk.attach(target, {})
        await self._begin_program(self._child)

    async def connect_child(self) -> None:
        """Attach to the child process that this backend was made for."""
        if self._forked_child is not None and self._adapter.attaches_forks:
            target = self._forked_child.attach_target(self.launch_target or self.attach_target)
            await self._talk.attach(target, self._adapter.fork_arguments(self.launch_target))
            return
        assert self._child is not None
        await self._talk.connect_child(self._child, self._link)
        await self._begin_program(self._child)

    async def _begin_program(self, configuration: Mapping[str, Any] | None) -> None:
        """Let the program run to where it waits for breakpoints, for an adapter that needs that."""
        if self._adapter.delegated_launch is not None and self.breakpoint_sender is not None:
            self._waiting = PendingLaunch(
                self._talk.events, self._finish_start, configuration, self.breakpoint_sender
            )
            await self._adapter.delegated_launch.begin_program(self, self._waiting)

    async def _finish_start(self) -> None:
        await self._exceptions.send_filters()
        if dap_breakpoints.needs_entry_breakpoint(self._talk, self._adapter):
            await dap_breakpoints.send_function_breakpoints(self._talk, self._adapter, ())
        await self._talk.finish_configuration()

    async def run_program(self) -> None:
        """End the configuration and see the launch succeed, or the program stop or end."""
        if self._waiting is not None:
            await self._waiting.run_program(self, self._report_event)
        else:
            await self._finish_start()
        if self._forked_child is not None:
            self._forked_child.note_taken()
        self._is_begun = True
        if self._pauses:
            await self.pause()

    async def close(self, *, kill: bool) -> ClosedBackend:
        """End the adapter, and the program with it if `kill`."""
        notice = await self._release_process(kill=kill)
        close = (
            self._talk.close
            if self._forked_child is None
            else self._forked_child.close_function(self._talk.close)
        )
        async with detach.detaching(self, self._talk, self._adapter, kill=kill):
            closed = await close(kill=kill)
        return msgspec.structs.replace(closed, notes=(*closed.notes, notice)) if notice else closed

    async def _release_process(self, *, kill: bool) -> str | None:
        """Detach from an attached process, or end it, where the adapter does neither.

        Returns a note on what is left of the debugger in a process that goes on.
        """
        delegating = self._adapter.delegated_launch
        if self.attach_target is None or self._child is not None or delegating is None:
            return None
        # A process that was not reached, or was let go of, is not ended.
        is_live = self._is_begun and not self._talk.events.is_over
        self._is_begun = False
        with suppress(DebuggerError):  # the adapter is gone
            if kill and is_live:
                delegating.end_program(self)
                return None
            self._talk.events.stop_reporting()
            return await delegating.leave_program(self)
        return None

    def _report_event(self, event: BackendEvent) -> None:
        if self.breakpoint_sender is not None:
            if self.breakpoint_sender.is_replayed(event):
                return
            self.breakpoint_sender.note_event(event)
        if isinstance(event, BreakpointChanged):
            for bound in self._sites.to_member_news(event.bound):
                self._sink(BreakpointChanged(bound))
            return
        if isinstance(event, Stopped):
            self._stacks.note_stop(event)
            if self.step_keeper is not None:
                self.step_keeper.note_stop(event)
            # Handles of values are valid for one stop only.
            self._values.forget_values()
            self.inspected_frame = None
            self._read_ahead(event)
            self._thread = event.thread if event.thread is not None else self._thread
            if self._talk.stdio is not None:
                # Output that the program wrote before the stop is reported before the stop.
                self._talk.stdio.read_now()
        # Last, after all that is kept for one stop has been renewed: the session asks at once.
        self._sink(event)

    def _read_ahead(self, stop: Stopped) -> None:
        if answers := self._talk.events.answers:
            self._ahead.take_answers(answers)
        elif stop.reason is StopReason.STEP and stop.thread is not None:
            self._ahead.begin_reading(stop.thread, self._stacks.kept_stack(stop.thread, LEVELS))
        else:
            self._ahead.forget_requests()

    # -- breakpoints ---------------------------------------------------------------------------

    def locate_breakpoint(self, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
        """Return the location at which a breakpoint is to be set, or why it cannot be set."""
        if spec.kind is BreakpointKind.EXCEPTION:
            return self._exceptions.locate_word(spec)
        if spec.kind in {BreakpointKind.ADDRESS, BreakpointKind.WATCHPOINT}:
            return spec
        if spec.function is not None and is_pattern(spec.function):
            return refuse_pattern(self.adapter_name)
        found = self._adapter.correct_breakpoint(self, spec)
        if isinstance(found, BreakpointSpec) and "native" in self._adapter.languages:
            # The protocol's function breakpoints have no file: the sites filter those of others.
            launched = self.launch_target
            return locate_in_file(launched.program if launched is not None else None, found)
        return found

    async def set_breakpoints(
        self, file: str, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the breakpoints of a source file (their `at`)."""
        groups = self._sites.group_by_site(breakpoints)
        sent = [self._sites.breakpoint_to_send(members) for members in groups]
        if self.breakpoint_sender is not None:
            answers = await self.breakpoint_sender.send_file(file, sent)
        else:
            shared = {
                (one.at or one.spec).line or 1
                for members, one in zip(groups, sent, strict=True)
                if self._sites.is_filtered(members)
            }
            answers = await dap_breakpoints.send_line_breakpoints(
                self._talk, self._adapter, file, sent, shared
            )
        return await self._to_bounds(file, breakpoints, groups, answers)

    async def set_function_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the function breakpoints."""
        groups = self._sites.group_by_site(breakpoints)
        sent = [self._sites.breakpoint_to_send(members) for members in groups]
        talk, adapter = self._talk, self._adapter
        if self.breakpoint_sender is not None:
            answers = await self.breakpoint_sender.send_functions(sent)
        else:
            answers = await dap_breakpoints.send_function_breakpoints(talk, adapter, sent)
        return await self._to_bounds("", breakpoints, groups, answers)

    async def _to_bounds(
        self,
        name: str,
        breakpoints: Sequence[Breakpoint],
        groups: Sequence[tuple[Breakpoint, ...]],
        answers: Sequence[dap.DapBreakpoint],
    ) -> list[BoundBreakpoint]:
        sent = [self._sites.breakpoint_to_send(members) for members in groups]
        bounds = await dap_breakpoints.to_bounds(self, self._talk, self._adapter, sent, answers)
        bounds = self._sites.note_bounds(name, sent, bounds)
        if self.step_keeper is not None:
            guarded_groups = [self._sites.breakpoint_for_steps(members) for members in groups]
            bounds = await self.step_keeper.note_breakpoints(name, guarded_groups, bounds)
        return self._sites.bounds_of_members(breakpoints, groups, bounds)

    async def explain_unbound(self, spec: BreakpointSpec) -> BoundBreakpoint:
        """Explain why a breakpoint does not bind."""
        with suppress(DebuggerError):
            return await self._adapter.explain_unbound(self, spec)
        return BoundBreakpoint(verified=False, why="the debugger did not say why")

    async def _filter_stop(self, stop: Stopped) -> Stopped | None:
        if self.breakpoint_sender is not None:
            stop = await self.breakpoint_sender.attribute_stop(stop)
            if not await self.breakpoint_sender.is_user_stop(stop):
                return None
        stop_filter = StopFilter(
            self,
            self,
            self._adapter,
            self._exceptions,
            values=self._values,
            sites=self._sites,
            lost_steps=self._lost_steps,
            sink=self._sink,
        )
        return await self._stacks.await_filter(
            stop_filter.filter_stop(stop, self._talk.events, self._thread)
        )

    # -- running -------------------------------------------------------------------------------

    async def resume(self, how: ResumeKind, thread: int) -> None:
        """Let the program run."""
        # delve: a step can begin only when the interrupted one has ended.
        if how is not ResumeKind.CONTINUE and self._talk.events.is_step_pending:
            raise DebuggerError(
                ErrorCode.WRONG_STATE,
                "a breakpoint interrupted a step of another thread, and it has to end first",
                hint="debugger continue goes on with that step",
            )
        # The adapter may still answer requests that were sent ahead at the last stop.
        # CodeLLDB loses a return value where a request arrives during a step.
        is_step = how is not ResumeKind.CONTINUE
        answers_ahead = is_step and self._adapter.answers_ahead and self._ahead.was_read
        await self._ahead.wait_for_responses()
        may_have_return_value = self._values.has_returned is not False
        if self._stepped is not None and may_have_return_value:
            await self._adapter.forget_step(self, self._stepped)
        self._stepped = thread if is_step else None
        self._talk.events.note_resume(how)
        if self.step_keeper is not None:
            await self.step_keeper.begin_step(how, thread)
        events = self._talk.events
        if not self._adapter.keeps_steps and (self._sites or events.logs):
            await self._lost_steps.begin_step(how, thread)
        else:
            self._lost_steps.forget_step()
        if how is ResumeKind.FINISH and self.breakpoint_sender is not None:
            await self.breakpoint_sender.step_out(thread)
        else:
            arguments = ask.ReportedResumeArguments(thread, LEVELS if answers_ahead else None)
            await self.send_request(ask.RESUMES[how], arguments, dap.DapBody)

    async def _send_step(self, how: ResumeKind, thread: int) -> None:
        if self._talk.events.is_step_pending:
            how = ResumeKind.CONTINUE  # goes on with the step that was interrupted
        await self.send_request(ask.RESUMES[how], ask.ThreadArguments(thread), dap.DapBody)

    async def pause(self) -> None:
        """Request that a running program stops."""
        thread = self._thread
        if thread is None and not self._adapter.pauses_all_threads:
            thread = next((one.id for one in await self.list_threads()), 0)
        thread = thread or 0
        self._talk.events.note_pause()
        if self.breakpoint_sender is not None:
            await self.breakpoint_sender.pause_program(thread)
        else:
            await self.send_request("pause", ask.ThreadArguments(thread), dap.DapBody)

    # -- inspection ----------------------------------------------------------------------------

    async def list_threads(self) -> list[Thread]:
        """Return the threads."""
        body = await self.send_request("threads", ask.NoArguments(), dap.ThreadsBody)
        return [dap_convert.to_thread(self._adapter.convert_thread(one)) for one in body.threads]

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread, innermost first."""
        return await self._stacks.read_stack(thread, start, levels)

    async def read_scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""
        self.inspected_frame = frame
        if frame.index == 0:
            self._ahead.note_read()
        return await self._values.read_scopes(frame)

    async def read_variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return the variables of a scope, the children of a value, or a part of either."""
        return await self._values.read_variables(handle, start=start, count=count)

    async def fetch_variables(
        self, handle: int, *, start: int | None, count: int | None
    ) -> list[Variable]:
        """Send a `variables` request and return the variables unchanged."""
        return await self._values.fetch_variables(handle, start=start, count=count)

    async def argument_names(self, frame: Frame) -> list[str] | None:
        """Return the names of the arguments among a frame's locals; None where unknown."""
        return await self._adapter.read_argument_names(self, frame)

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression; of several ways the first that succeeds counts."""
        return await self._values.evaluate(expression, frame, purpose)

    async def complete_values(self, values: Sequence[Variable]) -> list[Variable]:
        """Return values with the parts that the adapter cut off."""
        return await self._values.complete_values(values)

    async def returned_value(self, stop: Stopped, frame: Frame) -> Variable | None:
        """Return the value of the function that was just left; None where it is not known."""
        return await self._adapter.read_returned_value(self, stop, frame)

    async def count_elements(self, handle: int) -> int | None:
        """Return how many elements a value has."""
        return await self._values.count_elements(handle)

    async def assign_value(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field or an element; return it as it is now."""
        return await self._values.assign_value(target, value, frame)

    async def read_exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the exception, or the signal, that a thread stopped at."""
        details, _ = await self._exceptions.exception_details(stop)
        return details

    async def read_source(self, frame: Frame) -> str | None:
        """Return source that only the debugger has."""
        if not frame.source_reference:
            return None
        arguments = ask.SourceArguments(
            frame.source_reference,
            ask.SourceReferenceArgument(source_reference=frame.source_reference),
        )
        body: dap.SourceBody = await self.send_request("source", arguments, dap.SourceBody)
        return body.content

    async def run_raw(self, command: str, frame: Frame | None) -> str:
        """Run one command of the debugger's own command line and return its output.

        Raises:
            DebuggerError: USAGE for a control character, which could begin another command.
        """
        with self._talk.events.reporting_resumes():
            return await self._values.run_raw(command, frame)

    @property
    def has_command_line(self) -> bool:
        """Whether raw commands are a debugger's own, not expressions of the language."""
        return self._adapter.has_command_line

    def classify_raw_command(self, command: str) -> RawEffect:
        """Return the effect of a raw command on the program."""
        return self._adapter.classify_raw_command(command)

    async def write_input(self, text: bytes) -> None:
        """Write to the program's standard input."""
        await require_stdio(self._talk.stdio).write_input(text)

    async def close_input(self) -> None:
        """End the program's standard input."""
        require_stdio(self._talk.stdio).end_input()

    def post_request(
        self, command: str, arguments: msgspec.Struct
    ) -> asyncio.Future[dap.DapMessage]:
        """Send a request without waiting for its response."""
        self._note_request(command)
        return self._talk.client.post_request(command, arguments)

    async def send_request(
        self,
        command: str,
        arguments: msgspec.Struct | dict[str, Any],
        body: type[Any],
        *,
        failure: ErrorCode = ErrorCode.ADAPTER_FAILED,
    ) -> Any:
        """Send a request and return its response's body (see `DapClient.send_request`)."""
        self._note_request(command)
        sent = self._ahead.take_response(command, arguments)
        return await self._talk.send_request(command, arguments, body, failure=failure, sent=sent)

    def _note_request(self, command: str) -> None:
        self._stacks.note_request(command)
        if command not in dap_inspection.CHANGES_NOTHING:
            self._ahead.forget_requests()
