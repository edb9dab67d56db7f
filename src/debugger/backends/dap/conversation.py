"""Starts an adapter, exchanges messages with it, and ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends.base import (
    AttachTarget,
    ClosedBackend,
    LaunchTarget,
    NoteReported,
    OutputPrinted,
    Sink,
)
from debugger.backends.dap import adapter_server, dap_client, dap_transport
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.dap_client import AdapterLimits, DapClient, HandshakeWaits
from debugger.backends.dap.dap_transport import (
    ByteStream,
    MessageDecoder,
    ProgramLink,
    TcpConnection,
    encode_message,
)
from debugger.backends.dap.debug_adapter import AdapterLocation, DebugAdapter, StreamFiles
from debugger.backends.dap.event_dispatcher import EventDispatcher
from debugger.backends.dap.program_listener import ProgramListener
from debugger.backends.dap.two_connection_launch import LaunchConnection
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import OutputStream
from debugger.model.program import ExitedProgram, Stopped
from debugger.system.program_streams import ProgramStreams
from debugger.system.supervised_process import SupervisedProcess

# Seconds for the response to a disconnect that ends the program. An adapter that does not answer is
# no harm: the guard kills what is left.
_DISCONNECT_S = 2.0
# Seconds between the end of the connection and the guard's report of the program's end.
_LAST_S = 5.0
_WORDS_MAX = 2000  # characters of the last output in the message of a failed start


class AdapterConversation:
    """A started and initialized adapter, with the program's streams.

    The handshake: `initialize` and its response; `launch` or `attach`; the `initialized` event;
    breakpoints; `configurationDone`; then the response to `launch`, or the first stop, or the end.
    Newer lldb-dap, debugpy and gdb answer `launch` only then: to await it before would deadlock.
    """

    def __init__(
        self,
        adapter: DebugAdapter,
        found: AdapterLocation,
        *,
        sink: Sink,
        scratch: Path,
        limits: AdapterLimits,
        judge: Callable[[Stopped], Awaitable[Stopped | None]],
        on_child: Callable[[dict[str, Any], ByteStream | None], None],
        tasks: asyncio.TaskGroup,
    ) -> None:
        self._adapter = adapter
        self._found = found
        self._sink = sink
        self._scratch = scratch
        self._limits = limits
        self._on_child = on_child
        self._tasks = tasks
        self._link: ByteStream | None = None
        self._guard: SupervisedProcess | None = None
        self.address: tuple[str, int] | None = None  # where an adapter that listens is
        self._pump: asyncio.Task[None] | None = None
        # The response to `launch` or `attach`, which is awaited only in `finish_configuration`.
        self._begun: asyncio.Future[dap.DapMessage] | None = None
        self._is_closing = False
        # The process that `runInTerminal` started: debugpy's launcher, or js-debug's program
        # itself.
        self._launcher: int | None = None
        self._delegation: LaunchConnection | None = None
        self._listener: ProgramListener | None = None  # for a program that connects to us
        self._is_child = False  # a process whose connection its parent's session has taken
        self._end_s = _DISCONNECT_S
        self._start_s = 0.0  # least seconds for each step of the start
        self._first_output = ""  # of a program that we run, until it has begun
        self._ended: adapter_server.Ended | None = None  # of a program that is its own adapter
        self.stdio: ProgramStreams | None = None
        self.launched: LaunchTarget | None = None
        self._sent_functions: frozenset[tuple[str | None, str]] = frozenset()  # the same by name
        self.chosen_functions: dict[str, str] = {}  # by an ambiguous name
        self.sent: dict[str, frozenset[tuple[int, str]]] = {}  # of each file, by line: log, …
        self.client = DapClient(
            adapter.name,
            write=self._write_message,
            on_event=lambda name, body: self.events.handle_event(name, body),  # noqa: PLW0108 - made below
            on_request=self._answer_request,
            tasks=tasks,
            logs_messages=limits.logs_messages,
        )
        # Made after the client, which calls it only once messages arrive.
        self.events = EventDispatcher(
            adapter, sink=sink, judge=judge, drain=self._drain_output, tasks=tasks
        )
        self._handshake = HandshakeWaits(
            self.client, adapter.name, self.events.initialized, self.events.happened
        )

    def inherit_from(self, parent: AdapterConversation) -> None:
        """Copy what holds for a child process as for its parent."""
        self.launched = parent.launched
        self.address = parent.address
        self.events.inherit_from(parent.events)

    def replace_sent_functions(
        self, options: frozenset[tuple[str | None, str]]
    ) -> frozenset[tuple[str | None, str]]:
        """Note the function breakpoints that are being sent; return those of before."""
        before, self._sent_functions = self._sent_functions, options
        return before

    # -- start ---------------------------------------------------------------------------------

    async def start(self, launch: LaunchTarget) -> None:
        """Start adapter and program, up to where breakpoints can be set."""
        self.launched = launch
        await self._start_adapter(launch.cwd, launch.env)
        if (serving := self._adapter.server) is not None and serving.is_program:
            await self._run_target_adapter(launch)
        else:
            self.stdio = ProgramStreams(
                self._scratch, as_terminal=self._adapter.is_terminal, on_output=self._report_output
            )
        if launch.stdin is not None and self.stdio is not None:
            # The program reads the user's file; our FIFO for its input gets no writer.
            self.stdio.end_input()
        # js-debug reports what the program prints, which our files have already.
        self.events.note_target(copies_output=self._adapter.delegated_launch is not None)
        await self._send_start(
            "launch", self._adapter.launch_arguments(launch, self._stream_files(launch))
        )

    def _report_output(self, stream: OutputStream, text: str) -> None:
        if self._delegation is not None:
            text = self._delegation.take_output(stream, text)
        if self._adapter.runs_in_terminal and not self.events.happened.done():
            self._first_output = (self._first_output + text)[-_WORDS_MAX:]
        if text:
            self._sink(OutputPrinted(stream, text))

    # js-debug: the program's own session is opened on a second connection.
    async def _send_start(self, command: str, arguments: dict[str, Any]) -> None:
        """Launch or attach, on a connection of its own where the adapter launches on another."""
        if self._adapter.delegated_launch is not None and self.address is not None:
            link = await TcpConnection.open_connection(*self.address)
            self._delegation = LaunchConnection(
                self._adapter, link, serve=self._answer_request, tasks=self._tasks
            )
            with self._with_last_words(ErrorCode.LAUNCH_FAILED):
                arguments = await self._delegation.start_program(
                    command,
                    arguments,
                    initialize_s=self._limits.initialize_s,
                    within_s=self._limits.request_s,
                )
        await self._begin_handshake(str(arguments.get("request", command)), arguments)

    async def _run_target_adapter(self, launch: LaunchTarget) -> None:
        """Run a program that contains its own adapter."""
        assert self._guard is not None
        output_reader = adapter_server.ProgramOutput(
            self._adapter.server, self._found.listens, self._report_output
        )
        self.stdio = ProgramStreams(
            self._scratch, as_terminal=False, on_output=output_reader.take_output
        )
        link, pid, self._ended = await adapter_server.run_as_adapter(
            self._adapter,
            self._found,
            launch,
            guard=self._guard,
            files=self._stream_files(launch),
            heard=output_reader,
            within_s=self._limits.initialize_s,
            tasks=self._tasks,
            listener=self._make_listener(),
        )
        # Such an adapter goes with its program: the exit status comes from the guard, the parent.
        self._ended.add_done_callback(self._note_target_exit)
        self.events.note_process(pid)
        self._read_link(link)

    def _make_listener(self) -> ProgramListener:
        def take_child(link: ByteStream, pid: int) -> None:
            self._on_child({"request": "attach", "subProcessId": pid}, link)

        self._listener = ProgramListener(self._scratch, take_child)
        return self._listener

    def _stream_files(self, launch: LaunchTarget) -> StreamFiles:
        assert self.stdio is not None
        return StreamFiles(launch.stdin or self.stdio.stdin, self.stdio.stdout, self.stdio.stderr)

    async def attach(self, target: AttachTarget, more: Mapping[str, Any]) -> None:
        """Start the adapter and attach to a process; `more` are extra arguments of the request."""
        self.events.note_target(wants_entry=target.pause)
        # debugpy's stdio adapter ignores `connect`: a program that listens is itself the server.
        serving = self._adapter.server
        if serving is not None and serving.socket_variable is not None:
            await self._start_adapter(target.cwd, target.env)  # only the guard of our files
            self._read_link(
                await adapter_server.enter_process(
                    self._adapter,
                    target,
                    listener=self._make_listener(),
                    within_s=self._limits.initialize_s,
                )
            )
        elif serving is not None and serving.open_link is not None:
            await self._start_adapter(target.cwd, target.env)  # the guard alone, as above
            link = serving.open_link(self._tasks)
            await link.listen_for(target)
            self._read_link(link)
        elif target.connect is not None and self._adapter.is_server:
            self._read_link(await TcpConnection.open_connection(*target.connect))
        else:
            await self._start_adapter(target.cwd, target.env)
        await self._send_start("attach", {**self._adapter.attach_arguments(target), **more})

    async def connect_child(
        self, configuration: Mapping[str, Any], link: ByteStream | None
    ) -> None:
        """Attach to a child process by the adapter's configuration for it, or by its own link."""
        # Without a guard: to its parent's adapter (js-debug), debugpy's port, or its own to us.
        self._is_child = link is not None
        self._read_link(
            link
            or await dap_client.connect_child(
                self._adapter.name, configuration, self.address, within_s=self._limits.child_s
            )
        )
        self._start_s = self._limits.child_s
        self.events.expect_no_status()  # neither debugpy nor js-debug knows a child's
        await self._begin_handshake(
            str(configuration.get("request", "attach")), dict(configuration)
        )

    async def _start_adapter(self, cwd: str, env: Mapping[str, str]) -> None:
        guard, port = await adapter_server.start_supervised(
            self._adapter, self._found, cwd=cwd, env=env, scratch=self._scratch, tasks=self._tasks
        )
        self._guard = guard
        if (serving := self._adapter.server) is not None and serving.is_program:
            return
        link, self.address = await adapter_server.connect_started(
            guard, self._adapter, self._found, port=port, within_s=self._limits.initialize_s
        )
        # The pipes of an adapter on TCP are free for other output. Delve 1.20 ignores `outputMode`:
        # the program writes there.
        if link is not guard:
            self._tasks.create_task(
                adapter_server.forward_output(guard, self._report_adapter_output)
            )
        self._read_link(link)

    def _report_adapter_output(self, text: str) -> None:
        """Report output of an adapter on TCP, which may be the program's."""
        if not self._is_closing:
            self._sink(OutputPrinted(self._adapter.served_output, text))

    def _read_link(self, link: ByteStream) -> None:
        self._link = link
        self._pump = self._tasks.create_task(self._receive_messages(link))

    async def probe_adapter(self, cwd: str, env: Mapping[str, str]) -> dict[str, Any]:
        """Start the adapter and initialize it; return its capabilities.

        Raises:
            DebuggerError: ADAPTER_FAILED, TIMEOUT.
        """
        await self._start_adapter(cwd, env)
        if (serving := self._adapter.server) is not None and serving.is_program:
            await self._run_target_adapter(
                LaunchTarget(
                    adapter_server.make_trial_program(self._scratch, serving), cwd=cwd, env=env
                )
            )
        return await self._initialize_adapter()

    async def _initialize_adapter(self) -> dict[str, Any]:
        initialize = ask.InitializeArguments(adapter_id=self._adapter.name)
        with self._with_last_words(ErrorCode.ADAPTER_FAILED):
            answer = await self.client.send_and_wait(
                "initialize",
                initialize,
                within=max(self._limits.initialize_s, self._adapter.start_limit_s, self._start_s),
            )
            self.client.decode_body(answer, dap.DapBody, ErrorCode.ADAPTER_FAILED)
            try:
                # The body is decoded as a plain dictionary, too: later `capabilities` events are
                # merged into it key by key, and `doctor` shows it as it is.
                advertised = msgspec.json.decode(answer.body, type=dict[str, Any] | None)
            except (ValueError, RecursionError) as error:
                raise DebuggerError(
                    ErrorCode.PROTOCOL, f"malformed capabilities: {error}"
                ) from error
            capabilities: dict[str, Any] = advertised or {}
            self.client.merge_capabilities(capabilities)
        return capabilities

    async def _begin_handshake(self, command: str, arguments: dict[str, Any]) -> None:
        """Initialize, then launch or attach without awaiting the response (see the class)."""
        # The handshake, in the order that every adapter of `adapters/` takes:
        #
        # 1. `initialize`, and its response with the capabilities.
        # 2. `launch` or `attach`, without waiting for the response. lldb-dap 19 answers at once;
        #    newer lldb-dap, debugpy and gdb answer only after `configurationDone`, so that waiting
        #    here would deadlock.
        # 3. The `initialized` event, or a failed response to step 2, whichever comes first. gdb
        #    sends the event right after step 1: it is a latch in the dispatcher, not a message that
        #    is waited for.
        # 4. The caller sets breakpoints and exception filters.
        # 5. `finish_configuration`: `configurationDone`, then the response to step 2 together with
        #    the first stop or the end. gdb reports errors of launch and attach only there.
        if (delegating := self._adapter.delegated_launch) is not None:
            # Node's end of js-debug's connection to it has Nagle's algorithm on, and no option to
            # turn it off: it is turned off from outside.
            dap_transport.disable_nagle(delegating.read_child_pid(arguments) or 0)
        await self._initialize_adapter()
        self._begun = self._handshake.post_request(command, arguments)
        with self._with_last_words(ErrorCode.LAUNCH_FAILED):
            await self._wait_first(self.events.initialized, unless=self._begun, doing=command)
        # The program has opened its files: from here on the end of its output can be seen.
        if self.stdio is not None and self.events.pid is not None:
            self.stdio.note_opened()
        # setDebuggerProperty is pydevd's own request, and no part of the protocol.
        if self._adapter.breakpoint_options:
            await self.send_request(
                "setDebuggerProperty", dict(self._adapter.breakpoint_options), dap.DapBody
            )

    async def finish_configuration(self) -> None:
        """End the configuration, and wait for the launch's success, a stop or the end."""
        assert self._begun is not None
        self.events.report_early_stop()
        with self._with_last_words(ErrorCode.LAUNCH_FAILED):
            if self.client.supports_request("configurationDone"):
                # A program that ends or stops at once may do so before this response: then
                # `happened` is enough.
                done = self._handshake.post_request("configurationDone", ask.NoArguments())
                await self._wait_first(self.events.happened, unless=done, doing="configurationDone")
            await self._wait_first(self.events.happened, unless=self._begun, doing="launch")
        if self.stdio is not None:
            self.stdio.note_opened()

    async def _wait_first(
        self, event: asyncio.Future[None], *, unless: asyncio.Future[dap.DapMessage], doing: str
    ) -> None:
        """Wait for an event, or for a response that reports a failure."""
        await self._handshake.wait_for_event(
            event,
            unless=unless,
            doing=doing,
            # In the first wait a success is not enough: lldb-dap 19 sends it before `initialized`.
            is_enough=event is self.events.happened,
            # `launch_s` allows for a build: delve compiles the package before it starts the
            # program.
            within_s=max(
                self._limits.request_s,
                self._adapter.build_limit_s * (doing == "launch"),
                self._start_s,
            ),
        )

    @contextmanager
    def _with_last_words(self, code: ErrorCode) -> Iterator[None]:
        try:
            yield
        except DebuggerError as error:
            raise self._add_last_words(error, code) from error

    def _add_last_words(self, error: DebuggerError, code: ErrorCode) -> DebuggerError:
        """Add the adapter's last output to a failure of its start."""
        # Only the general code is replaced: a TIMEOUT or ADAPTER_DIED says more than `code` does.
        error_code = error.code if error.code is not ErrorCode.ADAPTER_FAILED else code
        last_words = self._last_words()
        message = self._adapter.shorten_launch_problem(error.message)
        if last_words and last_words not in message:
            message = f"{message}\n{self._adapter.name} said: {last_words}"
        is_lost = error.code is ErrorCode.ADAPTER_DIED
        hint = None if is_lost else error.hint  # what never began cannot be restarted
        hint = hint or self._adapter.find_launch_hint(f"{error.message}\n{last_words}")
        return DebuggerError(error_code, message, hint=hint or "debugger doctor tries each adapter")

    def _last_words(self) -> str:
        # Adapters on TCP have no stderr of ours: their last words came as output events.
        tail = self._link.stderr_tail() if self._link is not None else ""
        return (tail or self.events.console_tail() or self._first_output)[-_WORDS_MAX:].strip()

    # -- messages ------------------------------------------------------------------------------

    def _write_message(self, body: bytes) -> None:
        if self._link is not None:
            self._link.write_input(encode_message(body))

    async def _receive_messages(self, link: ByteStream) -> None:
        decoder = MessageDecoder()
        problem: DebuggerError | None = None

        # Messages are handled in the turn of the event loop in which their bytes come: asyncio's
        # streams would take two turns more for each message.
        def feed_decoder(chunk: bytes) -> None:
            for body in decoder.add_bytes(chunk):
                self.client.receive_message(body)

        try:
            await link.forward_output(feed_decoder)
        except DebuggerError as error:
            problem = error
        # Also reached at a normal end: the link's end is the one event that all adapters share.
        await self._on_adapter_lost(problem)

    async def _on_adapter_lost(self, problem: DebuggerError | None) -> None:
        if self._is_closing:
            self.client.fail_all(DebuggerError(ErrorCode.ADAPTER_DIED, "the session was closed"))
            return
        has_guard = self._guard is not None and not self._guard.is_lost
        if self._ended is not None and problem is None and has_guard:
            # The connection's end may be known before the program's.
            await asyncio.wait({self._ended}, timeout=_LAST_S)
            if self._ended.done():
                # The program was its own adapter, and has ended: no fault of the adapter's. The
                # report of the end comes by `_note_target_exit`.
                self.client.fail_all(
                    DebuggerError(ErrorCode.PROGRAM_EXITED, "the program has ended")
                )
                return
        if self._is_child and problem is None:
            # Nobody but its parent knows the status.
            self.client.fail_all(DebuggerError(ErrorCode.PROGRAM_EXITED, "the program has ended"))
            self.events.note_end(ExitedProgram())
            return
        how = "closed its connection"
        if self._guard is not None and problem is None:
            how = await self._guard.describe_exit()
        output = self._last_words()
        message = problem.message if problem else f"{self._adapter.name} {how} unexpectedly"
        if output:
            message = f"{message}; it said: {output}"
        error = DebuggerError(
            ErrorCode.ADAPTER_DIED, message, hint="debugger restart starts it again"
        )
        self.client.fail_all(error)
        self.events.note_adapter_lost(None if self.events.is_over else message)

    async def _drain_output(self) -> str | None:
        if self.stdio is not None:
            await self.stdio.read_to_end()
        loss = await self._guard.describe_loss() if self._guard is not None else None
        return f"{self._adapter.name} {loss} unexpectedly" if loss is not None else None

    async def _answer_request(self, command: str, raw: msgspec.Raw) -> dict[str, Any]:
        if command == "runInTerminal":
            # debugpy and js-debug start the program by this request, so that it is a child of the
            # guard's, on our files, and its exit status is known at first hand.
            return await self._run_in_terminal(
                msgspec.json.decode(raw, type=dap.RunInTerminalArguments)
            )
        if command == "startDebugging":
            request = msgspec.json.decode(raw, type=dap.StartDebuggingArguments)
            # Answered before the child's session exists: the child itself waits until its backend
            # is run (`base.ChildStarted`).
            self._on_child({"request": request.request, **request.configuration}, None)
            return {}
        raise DebuggerError(ErrorCode.NOT_SUPPORTED, f"unknown request {command!r}")

    async def _run_in_terminal(self, arguments: dap.RunInTerminalArguments) -> dict[str, Any]:
        """Run the program ourselves, on our files (DAP: RunInTerminalRequest)."""
        if self._guard is None or self.stdio is None or self.launched is None:
            raise DebuggerError(ErrorCode.NOT_SUPPORTED, "nothing was launched here")
        files = self._stream_files(self.launched)
        self._launcher, ended = await adapter_server.run_in_terminal(
            self._adapter, arguments, self.launched, guard=self._guard, files=files
        )
        if self._adapter.runs_in_terminal:
            self.events.note_process(self._launcher)
            ended.add_done_callback(self._note_launched_exit)
        elif self._delegation is not None and self._adapter.delegated_launch is not None:
            other = self._adapter.delegated_launch.note_replaced_program(
                self.launched, arguments.args
            )
            if other is not None:
                self._sink(NoteReported(other))
            self._end_s = 0  # the program is the guard's own child: no adapter has to end it
            self.events.note_process(self._launcher)
            # js-debug sends neither `process` nor `exited`: pid and status are known from the guard
            # alone. debugpy's own launcher sends both, and is not the program.
            ended.add_done_callback(self._note_launched_exit)
        return {"processId": self._launcher}

    def _note_target_exit(self, ended: adapter_server.Ended) -> None:
        """Note the exit of a program that is its own adapter, unless its guard ended it."""
        if self._guard is not None and not self._guard.is_lost:
            self.events.note_end(adapter_server.to_exited(ended.result()))

    def _note_launched_exit(self, ended: adapter_server.Ended) -> None:
        """Note the exit of a program that we ran; its adapter may have more to say."""
        if self._guard is not None and self._guard.is_lost:
            return  # the loss is reported once the connection closes
        exit_event = adapter_server.to_exited(ended.result())
        # An end before the program's session began is a failed launch, which `start_program`
        # raises.
        if self._delegation is None or not self._delegation.note_end(exit_event):
            self.events.note_end(exit_event, is_last=False)

    async def send_request(
        self,
        command: str,
        arguments: msgspec.Struct | dict[str, Any],
        body: type[Any],
        *,
        failure: ErrorCode = ErrorCode.ADAPTER_FAILED,
        sent: asyncio.Future[dap.DapMessage] | None = None,
    ) -> Any:
        """Send a request and return its response's body (see `DapClient.send_request`)."""
        is_resume = command in ask.RESUMES.values()
        if is_resume:
            # Cleared before the request is sent: the stop may come before its response.
            self.events.halted.clear()
        try:
            return await self.client.send_request(
                command, arguments, body, within=self._limits.request_s, failure=failure, sent=sent
            )
        except DebuggerError:
            # A program that ends at once takes the response of its own adapter with it: it has run,
            # and its end is reported.
            if is_resume and self.events.has_program_ended:
                return body()
            raise

    # -- end -----------------------------------------------------------------------------------

    async def _release_target(self) -> None:
        with suppress(DebuggerError, TimeoutError):
            async with asyncio.timeout(self._adapter.detach_limit_s):
                await self._adapter.release_target(
                    self.send_request, self.events.halted, tuple(self.sent)
                )
        # Killed, not disconnected: the disconnect of such an adapter (delve) would end the program.
        if self._guard is not None:
            await self._guard.kill_process(self._guard.pid)

    async def close(self, *, kill: bool) -> ClosedBackend:
        """End the adapter, and the program with it if `kill`."""
        # From here on the adapter's end is expected, and is not reported as a loss.
        # lldb-dap 19 nearly always crashes after a disconnect, and writes a backtrace.
        self._is_closing = True
        self.events.stop_reporting()
        # The guard ends what it finds below it when the session is over. A process that is to go on
        # is taken off its list first, and the guard goes on reading its output: a program cannot
        # write to a pipe without a reader.
        if not kill and self._guard is not None and self.events.pid is not None:
            outputs = self.stdio.output_descriptors if self.stdio is not None else []
            await self._guard.release_processes([self.events.pid], outputs)
        if not kill and self.launched is not None and self._adapter.releases_target:
            await self._release_target()
        elif self._link is not None and not self.client.is_lost:
            arguments = ask.DisconnectArguments(terminate_debuggee=kill)
            with suppress(DebuggerError):
                # debugpy detaches at once but answers only when the program has ended; lldb-dap 19
                # takes up to 5 s to let a launched program go.
                within_s = self._end_s if kill else self._adapter.detach_limit_s
                await self.client.send_and_wait("disconnect", arguments, within=within_s)
        killed: tuple[str, ...] = ()
        if not kill and self._guard is not None and self._launcher not in {None, self.events.pid}:
            # debugpy's launcher would kill the program when it sees its adapter go.
            await self._guard.kill_process(self._launcher)
        if self._guard is not None:
            # This runs after the disconnect: lldb's running debuggee survives its adapter's death,
            # and only the guard ends it then.
            killed = (await self._guard.end_processes()).killed
        if self._listener is not None:
            self._listener.close()
        for link in (self._link, self._delegation):
            if isinstance(link, TcpConnection | LaunchConnection | ProgramLink):
                link.close()
        if self.stdio is not None:
            # Output may follow the end of the adapter: the files are read until they are quiet.
            await self.stdio.read_to_end()
            self.stdio.close()
        return ClosedBackend(killed=killed)
