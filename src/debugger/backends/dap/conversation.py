"""Starts an adapter, exchanges messages with it, and ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from debugger.backends.base import Attach, Closed, Launch, Noted, Printed, Sink, Started
from debugger.backends.dap import handshake, nodelay, served, terminal
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.client import Client
from debugger.backends.dap.delegated import Delegation
from debugger.backends.dap.events import Events
from debugger.backends.dap.profile import Files, Found, LetGo, Profile
from debugger.backends.dap.transport import Connection, Guarded, Link
from debugger.backends.dap.wire import Decoder, encode
from debugger.backends.stdio import Stdio
from debugger.core.events import Stream
from debugger.core.model import Stopped
from debugger.errors import Code, DebuggerError

_DISCONNECT_S = 2.0
_LAST_S = 5.0


class Limits(Struct, frozen=True):
    """Time limits in seconds."""

    initialize_s: float = 10.0
    request_s: float = 30.0
    logs_messages: bool = False  # all messages go to the log


class Conversation:
    """A started and initialized adapter, with the program's streams.

    The handshake: `initialize` and its response; `launch` or `attach`, whose response is not
    awaited; the `initialized` event; breakpoints; `configurationDone`; then the response to
    `launch`, or the first stop, or the end. Newer lldb-dap, debugpy and gdb answer `launch` only
    after `configurationDone`, so that awaiting the response in between would deadlock.
    """

    def __init__(
        self,
        profile: Profile,
        found: Found,
        *,
        sink: Sink,
        scratch: Path,
        limits: Limits,
        judge: Callable[[Stopped], Awaitable[Stopped | None]],
        on_child: Callable[[dict[str, Any]], None],
        tasks: asyncio.TaskGroup,
    ) -> None:
        self._profile = profile
        self._found = found
        self._sink = sink
        self._scratch = scratch
        self._limits = limits
        self._on_child = on_child
        self._tasks = tasks
        self._link: Link | None = None
        self._guard: Guarded | None = None
        self.address: tuple[str, int] | None = None  # where an adapter that listens is
        self._pump: asyncio.Task[None] | None = None
        self._begun: asyncio.Future[dap.Message] | None = None
        self._is_closing = False
        self._launcher: int | None = None
        self._delegation: Delegation | None = None
        self._end_s = _DISCONNECT_S
        self._ended: served.Ended | None = None  # of a program that is its own adapter
        self.stdio: Stdio | None = None
        self.launched: Launch | None = None
        self.sent_functions: frozenset[tuple[str | None, str]] = frozenset()  # the same by name
        self.chosen_functions: dict[str, str] = {}  # by an ambiguous name
        self.sent: dict[str, frozenset[tuple[int, str]]] = {}  # of each file, by line: log, …
        self.client = Client(
            profile.name,
            write=self._write,
            on_event=lambda name, body: self.events.take(name, body),  # noqa: PLW0108 - made below
            on_request=self._on_request,
            tasks=tasks,
            logs_messages=limits.logs_messages,
        )
        self.events = Events(profile, sink=sink, judge=judge, drain=self._drain, tasks=tasks)

    # -- start ---------------------------------------------------------------------------------

    async def start(self, launch: Launch) -> None:
        """Start adapter and program, up to where breakpoints can be set."""
        self.launched = launch
        await self._start_adapter(launch.cwd, launch.env)
        if (serving := self._profile.serving) is not None and serving.is_program:
            await self._run_served(launch)
        else:
            self.stdio = Stdio(
                self._scratch, as_terminal=self._profile.is_terminal, on_output=self._print
            )
        if launch.stdin is not None and self.stdio is not None:
            self.stdio.end_input()
        self.events.is_copied = self._profile.delegating is not None
        await self._enter("launch", self._profile.launch(launch, self._files(launch)))

    def _print(self, stream: Stream, text: str) -> None:
        if self._delegation is not None:
            text = self._delegation.hear(stream, text)
        if text:
            self._sink(Printed(stream, text))

    # js-debug: the program's own session is opened on a second connection.
    async def _enter(self, command: str, arguments: dict[str, Any]) -> None:
        """Launch or attach, on a connection of its own where the adapter launches on another."""
        if self._profile.delegating is not None and self.address is not None:
            link = await Connection.open(*self.address)
            self._delegation = Delegation(
                self._profile, link, serve=self._on_request, tasks=self._tasks
            )
            with self._blamed(Code.LAUNCH_FAILED):
                arguments = await self._delegation.program(
                    command,
                    arguments,
                    initialize_s=self._limits.initialize_s,
                    within_s=self._limits.request_s,
                )
        await self._begin(str(arguments.get("request", command)), arguments)

    async def _run_served(self, launch: Launch) -> None:
        """Run a program that contains its own adapter."""
        assert self._guard is not None
        heard = served.Heard(self._profile.serving, self._found.listens, self._print)
        self.stdio = Stdio(self._scratch, as_terminal=False, on_output=heard.take)
        link, self.events.pid, self._ended = await served.run(
            self._profile,
            self._found,
            launch,
            guard=self._guard,
            files=self._files(launch),
            heard=heard,
            within_s=self._limits.initialize_s,
        )
        self._ended.add_done_callback(self._see_the_last)
        self._sink(Started(self.events.pid))
        self._listen(link)

    def _files(self, launch: Launch) -> Files:
        assert self.stdio is not None
        return Files(launch.stdin or self.stdio.stdin, self.stdio.stdout, self.stdio.stderr)

    async def attach(self, target: Attach, more: Mapping[str, Any]) -> None:
        """Start the adapter and attach to a process; `more` are extra arguments of the request."""
        self.events.wants_entry = target.pause
        if target.connect is not None and self._profile.is_server:
            self._listen(await Connection.open(*target.connect))
        else:
            await self._start_adapter(target.cwd, target.env)
        await self._enter("attach", {**self._profile.attach(target), **more})

    async def connect(self, configuration: Mapping[str, Any]) -> None:
        """Attach to a child process by the adapter's configuration for it."""
        self._listen(await handshake.met(self._profile.name, configuration, self.address))
        self.events.tells_status = False  # neither debugpy nor js-debug knows a child's
        await self._begin(str(configuration.get("request", "attach")), dict(configuration))

    async def _start_adapter(self, cwd: str, env: Mapping[str, str]) -> None:
        guard, port = await served.guarded(
            self._profile, self._found, cwd=cwd, env=env, scratch=self._scratch, tasks=self._tasks
        )
        self._guard = guard
        if (serving := self._profile.serving) is not None and serving.is_program:
            return
        link, self.address = await served.linked(
            guard, self._profile, self._found, port=port, within_s=self._limits.initialize_s
        )
        if link is not guard:
            self._tasks.create_task(served.pour(guard, self._pour))
        self._listen(link)

    def _pour(self, text: str) -> None:
        """Report output of an adapter on TCP, which may be the program's."""
        if not self._is_closing:
            self._sink(Printed(self._profile.served_output, text))

    def _listen(self, link: Link) -> None:
        self._link = link
        self._pump = self._tasks.create_task(self._receive(link))

    async def probe(self, cwd: str, env: Mapping[str, str]) -> dict[str, Any]:
        """Start the adapter and initialize it; return its capabilities.

        Raises:
            DebuggerError: ADAPTER_FAILED, TIMEOUT.
        """
        await self._start_adapter(cwd, env)
        if (serving := self._profile.serving) is not None and serving.is_program:
            await self._run_served(Launch(served.trifle(self._scratch, serving), cwd=cwd, env=env))
        return await self._initialize()

    async def _initialize(self) -> dict[str, Any]:
        initialize = ask.Initialize(adapter_id=self._profile.name)
        with self._blamed(Code.ADAPTER_FAILED):
            answer = await self.client.send(
                "initialize", initialize, within=self._limits.initialize_s
            )
            self.client.body(answer, dap.Body, Code.ADAPTER_FAILED)
            try:
                told = msgspec.json.decode(answer.body, type=dict[str, Any] | None)
            except (ValueError, RecursionError) as error:
                raise DebuggerError(Code.PROTOCOL, f"malformed capabilities: {error}") from error
            capabilities: dict[str, Any] = told or {}
            self.client.merge_capabilities(capabilities)
        return capabilities

    async def _begin(self, command: str, arguments: dict[str, Any]) -> None:
        """Initialize, then launch or attach without awaiting the response (see the class)."""
        if (delegating := self._profile.delegating) is not None:
            nodelay.send_at_once(delegating.child_pid(arguments) or 0)
        await self._initialize()
        self._begun = self.client.post(command, arguments)
        with self._blamed(Code.LAUNCH_FAILED):
            await self._first(self.events.initialized, unless=self._begun, doing=command)
        if self.stdio is not None and self.events.pid is not None:
            self.stdio.opened()
        if self._profile.properties:
            await self.request("setDebuggerProperty", dict(self._profile.properties), dap.Body)

    async def run(self) -> None:
        """End the configuration, and wait for the launch's success, a stop or the end."""
        assert self._begun is not None
        with self._blamed(Code.LAUNCH_FAILED):
            if self.client.can("configurationDone"):
                done = self.client.post("configurationDone", ask.Nothing())
                await self._first(self.events.happened, unless=done, doing="configurationDone")
            await self._first(self.events.happened, unless=self._begun, doing="launch")
        if self.stdio is not None:
            self.stdio.opened()

    async def _first(
        self, event: asyncio.Event, *, unless: asyncio.Future[dap.Message], doing: str
    ) -> None:
        """Wait for an event, or for a response that reports a failure."""
        await handshake.first(
            self.client,
            self._profile.name,
            event,
            unless=unless,
            doing=doing,
            is_enough=event is self.events.happened,
            within_s=max(self._limits.request_s, self._profile.launch_s * (doing == "launch")),
        )

    @contextmanager
    def _blamed(self, code: Code) -> Iterator[None]:
        try:
            yield
        except DebuggerError as error:
            raise self._blame(error, code) from error

    def _blame(self, error: DebuggerError, code: Code) -> DebuggerError:
        """Add the adapter's last output to a failure of its start."""
        kept = error.code if error.code is not Code.ADAPTER_FAILED else code
        said = self._last_words()
        message = self._profile.launch_problem(error.message)
        if said and said not in message:
            message = f"{message}\n{self._profile.name} said: {said}"
        is_lost = error.code is Code.ADAPTER_DIED
        hint = None if is_lost else error.hint  # what never began cannot be restarted
        hint = hint or self._profile.launch_hint(error.message)
        return DebuggerError(kept, message, hint=hint or "debugger doctor tries each adapter")

    def _last_words(self) -> str:
        tail = self._link.stderr_tail() if self._link is not None else ""
        return (tail or self.events.console_tail())[-2000:].strip()

    # -- messages ------------------------------------------------------------------------------

    def _write(self, body: bytes) -> None:
        if self._link is not None:
            self._link.write(encode(body))

    async def _receive(self, link: Link) -> None:
        decoder = Decoder()
        problem: DebuggerError | None = None

        def take(chunk: bytes) -> None:
            for body in decoder.feed(chunk):
                self.client.receive(body)

        try:
            await link.forward(take)
        except DebuggerError as error:
            problem = error
        await self._lose(problem)

    async def _lose(self, problem: DebuggerError | None) -> None:
        if self._is_closing:
            self.client.lose(DebuggerError(Code.ADAPTER_DIED, "the session was closed"))
            return
        has_guard = self._guard is not None and not self._guard.is_lost
        if self._ended is not None and problem is None and has_guard:
            # The connection's end may be known before the program's.
            await asyncio.wait({self._ended}, timeout=_LAST_S)
            if self._ended.done():
                self.client.lose(DebuggerError(Code.PROGRAM_EXITED, "the program has ended"))
                return
        how = "closed its connection"
        if self._guard is not None and problem is None:
            try:
                # The guard reports the exit a moment after the pipe has ended.
                async with asyncio.timeout(1):
                    how = await asyncio.shield(self._guard.exited)
            except TimeoutError:
                how = "closed its output"
        said = self._last_words()
        message = problem.message if problem else f"{self._profile.name} {how} unexpectedly"
        if said:
            message = f"{message}; it said: {said}"
        error = DebuggerError(Code.ADAPTER_DIED, message, hint="debugger restart starts it again")
        self.client.lose(error)
        self.events.lose(None if self.events.is_over else message)

    async def _drain(self) -> None:
        if self.stdio is not None:
            await self.stdio.drain()

    async def _on_request(self, command: str, raw: msgspec.Raw) -> dict[str, Any]:
        if command == "runInTerminal":
            return await self._run_in_terminal(msgspec.json.decode(raw, type=dap.RunInTerminal))
        if command == "startDebugging":
            asked = msgspec.json.decode(raw, type=dap.StartDebugging)
            self._on_child({"request": asked.request, **asked.configuration})
            return {}
        raise DebuggerError(Code.NOT_SUPPORTED, f"unknown request {command!r}")

    async def _run_in_terminal(self, asked: dap.RunInTerminal) -> dict[str, Any]:
        """Run the program ourselves, on our files (DAP: RunInTerminalRequest)."""
        if self._guard is None or self.stdio is None or self.launched is None:
            raise DebuggerError(Code.NOT_SUPPORTED, "nothing was launched here")
        files = self._files(self.launched)
        self._launcher, ended = await terminal.run(
            self._profile, asked, self.launched, guard=self._guard, files=files
        )
        if self._delegation is not None and self._profile.delegating is not None:
            other = self._profile.delegating.replaced(self.launched, asked.args)
            if other is not None:
                self._sink(Noted(other))
            self._end_s = 0  # the program is the guard's own child: no adapter has to end it
            self.events.pid = self._launcher
            self._sink(Started(self._launcher))
            ended.add_done_callback(self._see_the_end)
        return {"processId": self._launcher}

    def _see_the_last(self, ended: served.Ended) -> None:
        """Note the exit of a program that is its own adapter, unless its guard ended it."""
        if self._guard is not None and not self._guard.is_lost:
            self.events.ended(served.exited(ended.result()))

    def _see_the_end(self, ended: served.Ended) -> None:
        """Note the exit of a program that we ran; its adapter may have more to say."""
        if self._guard is not None and self._guard.is_lost:
            return  # the loss is reported once the connection closes
        seen = served.exited(ended.result())
        if self._delegation is None or not self._delegation.over(seen):
            self.events.ended(seen, is_last=False)

    async def request(
        self,
        command: str,
        arguments: msgspec.Struct | dict[str, Any],
        body: type[Any],
        *,
        failure: Code = Code.ADAPTER_FAILED,
        sent: asyncio.Future[dap.Message] | None = None,
    ) -> Any:
        """Send a request and return its response's body (see Client.request)."""
        if command in ask.RESUMES.values():
            # Cleared before the request is sent: the stop may come before its response.
            self.events.halted.clear()
        return await self.client.request(
            command, arguments, body, within=self._limits.request_s, failure=failure, sent=sent
        )

    # -- end -----------------------------------------------------------------------------------

    async def _let_go(self, prepare: LetGo) -> None:
        with suppress(DebuggerError, TimeoutError):
            async with asyncio.timeout(self._profile.detach_s):
                await prepare(self.request, self.events.halted, tuple(self.sent))
        if self._guard is not None:
            await self._guard.kill(self._guard.pid)

    async def close(self, *, kill: bool) -> Closed:
        """End the adapter, and the program with it if `kill`."""
        # From here on the adapter's end is expected, and is not reported as a loss.
        # lldb-dap 19 nearly always crashes after a disconnect, and writes a backtrace.
        self._is_closing = True
        self.events.mute()
        if not kill and self._guard is not None and self.events.pid is not None:
            outputs = self.stdio.outputs if self.stdio is not None else []
            await self._guard.release([self.events.pid], outputs)
        if not kill and self.launched is not None and self._profile.let_go is not None:
            await self._let_go(self._profile.let_go)
        elif self._link is not None and not self.client.is_lost:
            arguments = ask.Disconnect(terminate_debuggee=kill)
            with suppress(DebuggerError):
                within_s = self._end_s if kill else self._profile.detach_s
                await self.client.send("disconnect", arguments, within=within_s)
        killed: tuple[str, ...] = ()
        if not kill and self._guard is not None and self._launcher not in {None, self.events.pid}:
            # debugpy's launcher would kill the program when it sees its adapter go.
            await self._guard.kill(self._launcher)
        if self._guard is not None:
            killed = served.strangers(await self._guard.end(), self._guard, self._profile)
        for link in (self._link, self._delegation):
            if isinstance(link, Connection | Delegation):
                link.close()
        if self.stdio is not None:
            await self.stdio.drain()
            self.stdio.close()
        return Closed(killed=killed)
