"""Launches a program by an adapter that launches on one connection and debugs on another.

The code inside the adapter has sent them a SIGSTOP: whoever gives up on one must send SIGCONT.

js-debug answers a launch with the reverse request to start a debug session for the program: that
session does the debugging. The launching connection stays open beside it and reports nothing
relevant any more.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec

from debugger.backends.base import AttachTarget, BackendEvent, ClosedBackend, LaunchTarget
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.dap_client import DapClient, OnRequest, decode_body
from debugger.backends.dap.dap_transport import MessageDecoder, TcpConnection, encode_message
from debugger.backends.dap.debug_adapter import AdapterConnection, DebugAdapter
from debugger.backends.dap.event_dispatcher import EventDispatcher
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import Breakpoint
from debugger.model.events import OutputStream
from debugger.model.program import ExitedProgram, Stopped, Variable


class CloseFunction(Protocol):
    """Ends an adapter, and the process with it if `kill`."""

    async def __call__(self, *, kill: bool) -> ClosedBackend:
        """End the adapter."""


# Each has an adapter of its own, and a session that stays to be seen; the rest runs free.
AT_ONCE = 16
ALTOGETHER = 200


@dataclass(eq=False)
class ForkedChild:
    """A stopped child process that waits for its debugger."""

    pid: int
    process: int  # a pidfd: signals cannot reach another process that reuses the pid
    family: ForkedChildren
    is_taken: bool = False  # its own adapter holds it, with its breakpoints

    def note_taken(self) -> None:
        """Note that the process's own adapter holds it."""
        self.is_taken = True

    def attach_target(self, parent: LaunchTarget | AttachTarget | None) -> AttachTarget:
        """Return the request that attaches to the process, in its parent's surroundings."""
        cwd, env = (parent.cwd, parent.env) if parent is not None else ("/", {})
        return AttachTarget(pid=self.pid, cwd=cwd, env=env)

    def make_scratch(self, parent: Path) -> Path:
        """Return a directory of the process's own, which its guard may remove."""
        # A guard removes its scratch directory at its end: a shared one would go with the first
        # child.
        return parent / f"child-{self.pid}"

    def close_function(self, close: CloseFunction) -> CloseFunction:
        """Wrap the function that closes the adapter, to kill only a process that it holds."""

        async def close_and_release(*, kill: bool) -> ClosedBackend:
            try:
                # A process whose attach failed belongs to no debugger: it goes on instead of being
                # killed.
                return await close(kill=kill and self.is_taken)
            finally:
                self.family.release_child(self)

        return close_and_release


class ForkedChildren:
    """The forked children of one process tree."""

    def __init__(self) -> None:
        self._pending_children: set[ForkedChild] = set()
        self._count = 0

    def hold_child(self, pid: int) -> ForkedChild | None:
        """Accept a new process, or let it run on where there are too many."""
        try:
            child = ForkedChild(pid, os.pidfd_open(pid), self)
        except (AttributeError, OSError):  # no pidfd_open (Linux before 5.3), or it was killed
            with suppress(OSError):
                os.kill(pid, signal.SIGCONT)  # it was stopped for us
            return None
        self._pending_children.add(child)
        if len(self._pending_children) <= AT_ONCE and self._count < ALTOGETHER:
            self._count += 1
            return child
        # A program that forks without end must not start adapters without end.
        self.release_child(child)
        return None

    def release_child(self, forked: ForkedChild) -> None:
        """Let a process run on, if it lives: its adapter is done with it."""
        if forked not in self._pending_children:
            return
        self._pending_children.remove(forked)
        with suppress(OSError):
            # After a detach, too: the SIGSTOP may not have been taken by a tracer yet.
            signal.pidfd_send_signal(forked.process, signal.SIGCONT)
        os.close(forked.process)


_OUTPUT_MAX = 2000


class BreakpointSender(Protocol):
    """Sends a file's breakpoints to an adapter that needs more than the protocol's request."""

    is_changed: bool  # the user may have changed variables at this stop
    returned: Variable | None  # by the function that was just left

    @property
    def is_live(self) -> bool:
        """Whether the launch is done: more than breakpoints can be requested then."""

    def note_live(self) -> None:
        """Note that the launch is done."""

    def expect_replay(self) -> None:
        """Drop what the adapter repeats of what an attached program logged before."""

    async def clear_all(self) -> None:
        """Remove all breakpoints."""

    async def send_file(
        self, file: str, breakpoints: Sequence[Breakpoint]
    ) -> Sequence[dap.DapBreakpoint]:
        """Replace a file's breakpoints; the answers come in the same order."""

    async def send_functions(
        self, breakpoints: Sequence[Breakpoint]
    ) -> Sequence[dap.DapBreakpoint]:
        """Replace the breakpoints at functions that are in no file."""

    async def attribute_stop(self, stop: Stopped) -> Stopped:
        """Return a stop with the breakpoints that the adapter does not know."""

    async def set_entry(self) -> None:
        """Set the entry breakpoint, if the user requested a stop there."""

    async def keep_numbers(self) -> None:
        """Update breakpoints that were set before the launch was done."""

    async def step_out(self, thread: int) -> None:
        """Step out of a function."""

    async def pause_program(self, thread: int) -> None:
        """Pause a running program, whether or not any of its code runs."""

    async def is_user_stop(self, stop: Stopped) -> bool:
        """Return whether a stop is for the user; False for a part of a step of ours."""

    def note_event(self, event: BackendEvent) -> None:
        """Note an event that is reported to the session."""

    def is_replayed(self, event: BackendEvent) -> bool:
        """Return whether an event repeats output from before the attach."""

    async def end_replay(self) -> None:
        """Find the end of the output that is repeated from before the attach."""


class PendingLaunch:
    """A program between its beginning and the setting of its breakpoints."""

    def __init__(
        self,
        events: EventDispatcher,
        run: Callable[[], Awaitable[None]],
        configuration: Mapping[str, Any] | None,
        lines: BreakpointSender,
    ) -> None:
        self._events = events
        self._run = run
        self._lines = lines
        self.configuration = configuration or {}
        self._has_begun = False
        self._first_stop: asyncio.Future[Stopped | None] | None = None
        self._stop: Stopped | None = None
        self._is_reported = False

    async def begin_program(self) -> None:
        """Let the program begin; its first stop is not reported to the session."""
        # The first stop, or the end, comes here before it is reported to the session: in a launched
        # process that stop is at the `debugger` statement of `begin.cjs`.
        self._first_stop = self._events.divert_first_stop()
        self._has_begun = True
        self._lines.note_live()
        await self._run()

    async def wait_first_stop(self, within_s: float) -> Stopped | None:
        """Wait for the first stop; None if the program ended or the time passed."""
        assert self._first_stop is not None
        done, _ = await asyncio.wait({self._first_stop}, timeout=within_s)
        self._stop = self._first_stop.result() if done else None
        return self._stop

    def report_first_stop(self) -> None:
        """Report the first stop once the session can take it, instead of continuing."""
        self._is_reported = True

    async def run_program(
        self, connection: AdapterConnection, tell: Callable[[BackendEvent], None]
    ) -> None:
        """Let the program run, now that its breakpoints are set."""
        # A worker, or a process that was not begun early: its breakpoints are set while it waits,
        # as with any adapter.
        if not self._has_begun:
            await self._run()
            # js-debug numbers breakpoints from 1 on before a session's launch, and from 0 on after
            # it.
            await self._lines.keep_numbers()
            self._lines.note_live()
            return
        if not self.configuration:
            await self._lines.set_entry()
        # From here on stops go to the session. One that came in between must not be lost.
        self._events.end_diversion()
        if self._stop is None and self._first_stop is not None and self._first_stop.done():
            # It came while breakpoints were set, and is for the user.
            # What begins the wait is not known to be ours: reported rather than continued.
            self._stop, self._is_reported = self._first_stop.result(), True
        if self._stop is not None and self._is_reported:
            tell(self._stop)
        elif self._stop is not None:
            await connection.send_request(
                "continue", ask.ThreadArguments(self._stop.thread or 0), dap.DapBody
            )


class DelegatedLaunch(Protocol):
    """What an adapter does that launches on one connection and debugs on another."""

    def read_child_pid(self, configuration: Mapping[str, Any]) -> int | None:
        """Read the process from the configuration of a session that the adapter wants started."""

    def adapter_environment(self, scratch: Path) -> Mapping[str, str]:
        """Return additions to the environment of the adapter."""

    def program_environment(self, variables: Mapping[str, str | None]) -> Mapping[str, str | None]:
        """Return the environment of the program, made from the one that the adapter requests."""

    def note_replaced_program(self, launch: LaunchTarget, words: Sequence[str]) -> str | None:
        """Return a note if the adapter runs another program than the requested one."""

    def remove_debugger_output(self, stream: OutputStream, text: str) -> str:
        """Remove what only a debugger's presence makes the program write."""

    async def begin_program(self, connection: AdapterConnection, launch: PendingLaunch) -> None:
        """Let the program run to where it waits for us, before its breakpoints are set."""

    def make_breakpoint_sender(self, connection: AdapterConnection) -> BreakpointSender:
        """Make the object that sends breakpoints."""

    async def leave_program(self, connection: AdapterConnection) -> str | None:
        """Clean up an attached program before the detach; return a note on what stays."""

    def end_program(self, connection: AdapterConnection) -> None:
        """End an attached program."""


class LaunchConnection:
    """The launching connection, on which the program's own session is requested."""

    def __init__(
        self,
        adapter: DebugAdapter,
        link: TcpConnection,
        *,
        serve: OnRequest,
        tasks: asyncio.TaskGroup,
    ) -> None:
        assert adapter.delegated_launch is not None
        self._name = adapter.name
        self._remove_debugger_output = adapter.delegated_launch.remove_debugger_output
        self._link = link
        self._serve = serve
        self._output = ""
        self._exited: ExitedProgram | None = None
        loop = asyncio.get_running_loop()
        self._program: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._is_ready = asyncio.Event()
        self._client = DapClient(
            adapter.name,
            write=lambda body: link.write_input(encode_message(body)),
            on_event=self._dispatch_event,
            on_request=self._answer_request,
            tasks=tasks,
        )
        tasks.create_task(self._receive_messages())

    async def start_program(
        self, command: str, arguments: dict[str, Any], *, initialize_s: float, within_s: float
    ) -> dict[str, Any]:
        """Launch or attach; return the configuration of the program's own session.

        Raises:
            DebuggerError: LAUNCH_FAILED, ADAPTER_FAILED, ADAPTER_DIED, TIMEOUT.
        """
        # js-debug launches on one connection and debugs on another:
        #
        # 1. On this, the launching connection: `initialize`, then `launch` without waiting.
        # 2. `initialized` comes; `configurationDone` is sent. Breakpoints are not: this session has
        #    no program of its own, and never stops.
        # 3. js-debug asks us, by `runInTerminal`, to run the program. It runs with NODE_OPTIONS
        #    that make Node connect to js-debug, and then wait for its breakpoints (`begin.cjs`).
        # 4. js-debug asks us, by `startDebugging`, for a session for that process. The
        #    configuration in it (`__pendingTargetId`) is the result here: `AdapterConversation`
        #    sends it on its own connection, with the usual handshake, and breakpoints are set
        #    there.
        # 5. Output comes here, stops come there. The end of the program comes from the guard, since
        #    js-debug reports no exit status.
        #
        # The response to `launch` counts only if it is a failure. A program that ends before step 4
        # never began to be debugged (`note_end`).
        client = self._client
        initialize = ask.InitializeArguments(adapter_id=self._name)
        answer = await client.send_and_wait("initialize", initialize, within=initialize_s)
        client.decode_body(answer, dap.DapBody, ErrorCode.ADAPTER_FAILED)
        client.merge_capabilities(msgspec.json.decode(answer.body, type=dict[str, Any]))
        launch_response = client.post_request(command, arguments)
        try:
            async with asyncio.timeout(initialize_s):
                await self._is_ready.wait()
        except TimeoutError:
            raise self._timeout_error(command, initialize_s) from None
        await client.send_request(
            "configurationDone", ask.NoArguments(), dap.DapBody, within=initialize_s
        )
        # One deadline for all turns of the loop: a response to `launch` does not extend the wait.
        pending: set[asyncio.Future[Any]] = {self._program, launch_response}
        limit = asyncio.get_running_loop().time() + within_s
        while not self._program.done():
            remaining_s = limit - asyncio.get_running_loop().time()
            done, pending = await asyncio.wait(
                pending, timeout=remaining_s, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                raise self._timeout_error(command, within_s)
            if launch_response in done and not self._program.done():
                client.decode_body(launch_response.result(), dap.DapBody, ErrorCode.LAUNCH_FAILED)
        return self._program.result()

    def take_output(self, stream: OutputStream, text: str) -> str:
        """Note the program's output; return the part that is the program's own."""
        # Until the session exists, what the program wrote is the only explanation of its end.
        if not self._program.done():
            self._output = (self._output + text)[-_OUTPUT_MAX:]
        return self._remove_debugger_output(stream, text)

    def note_end(self, exited: ExitedProgram | None = None) -> bool:
        """Note that the program or adapter has ended; return whether the session never began."""
        self._exited = exited or self._exited
        if self._program.done():
            # A program that failed to begin may be reported twice: by the guard and by
            # `terminated`.
            return self._program.exception() is not None
        exit_note = ""
        if self._exited is not None:
            status = (
                f"status {self._exited.code}"
                if self._exited.signal is None
                else self._exited.signal
            )
            exit_note = f": it ended with {status}"
        output_note = f"; it said: {self._output.strip()}" if self._output.strip() else ""
        problem = DebuggerError(
            ErrorCode.LAUNCH_FAILED, f"the program did not begin{exit_note}{output_note}"
        )
        self._program.set_exception(problem)
        # Marks the exception as retrieved: nobody may be waiting for the future any more.
        self._program.exception()
        return True

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

    def _timeout_error(self, command: str, seconds: float) -> DebuggerError:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"{self._name} did not finish {command} within {seconds:g} s",
            hint="debugger doctor tries each adapter",
        )

    def _dispatch_event(self, name: str, body: msgspec.Raw) -> None:
        if name == "initialized":
            self._is_ready.set()
        elif name == "terminated":
            self.note_end()
        elif name == "output" and not self._program.done():
            output = decode_body(body, dap.OutputBody)
            if output.category != "telemetry":
                self._output = (self._output + output.output)[-_OUTPUT_MAX:]

    async def _answer_request(self, command: str, raw: msgspec.Raw) -> dict[str, Any]:
        # The first request is for the program itself. Later ones are for its children, and go the
        # way that all children go.
        if command == "startDebugging" and not self._program.done():
            request = msgspec.json.decode(raw, type=dap.StartDebuggingArguments)
            self._program.set_result({"request": request.request, **request.configuration})
            return {}
        return await self._serve(command, raw)

    async def _receive_messages(self) -> None:
        decoder = MessageDecoder()
        problem = DebuggerError(ErrorCode.ADAPTER_DIED, f"{self._name} closed its connection")

        def feed_decoder(chunk: bytes) -> None:
            for body in decoder.add_bytes(chunk):
                self._client.receive_message(body)

        try:
            await self._link.forward_output(feed_decoder)
        except DebuggerError as error:
            problem = error
        self._client.fail_all(problem)
        # A lost connection before the session's beginning is a failed launch, too.
        self.note_end()
