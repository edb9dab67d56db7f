"""How a session's conversation with its adapter begins, goes on and ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from debugger.backends.base import Attach, Closed, Launch, Printed, Sink
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.client import Client
from debugger.backends.dap.events import Events
from debugger.backends.dap.profile import Files, Found, Profile
from debugger.backends.dap.transport import Connection, Guarded, Link
from debugger.backends.dap.wire import Decoder, encode
from debugger.backends.stdio import Stdio
from debugger.core.model import Stopped
from debugger.errors import Code, DebuggerError

_DISCONNECT_S = 2.0
# These would change how the adapter itself runs; the program gets them all the same.
_NOT_FOR_ADAPTERS = ("LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")


class Limits(Struct, frozen=True):
    """How long to wait, in seconds."""

    initialize_s: float = 10.0
    request_s: float = 30.0


class Conversation:
    """A started and initialized adapter, the program's streams and the handshake's latches."""

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
        self._pump: asyncio.Task[None] | None = None
        self._begun: asyncio.Future[dap.Message] | None = None
        self._is_closing = False
        self._launcher: int | None = None
        self.stdio: Stdio | None = None
        self.launched: Launch | None = None
        self.logged: dict[str, frozenset[int]] = {}  # the lines of each file with a logpoint
        self.client = Client(
            profile.name,
            write=self._write,
            on_event=lambda name, body: self.events.take(name, body),  # noqa: PLW0108 - made below
            on_request=self._on_request,
            tasks=tasks,
        )
        self.events = Events(profile, sink=sink, judge=judge, drain=self._drain, tasks=tasks)

    # -- start ---------------------------------------------------------------------------------

    async def start(self, launch: Launch) -> None:
        """Start adapter and program, up to where breakpoints can be set."""
        self.launched = launch
        await self._start_adapter(launch.cwd, launch.env)
        self.stdio = Stdio(
            self._scratch,
            as_terminal=self._profile.is_terminal,
            on_output=lambda stream, text: self._sink(Printed(stream, text)),
        )
        if launch.stdin is not None:
            self.stdio.end_input()
        await self._begin("launch", self._profile.launch(launch, self._files(launch)))

    def _files(self, launch: Launch) -> Files:
        assert self.stdio is not None
        return Files(launch.stdin or self.stdio.stdin, self.stdio.stdout, self.stdio.stderr)

    async def attach(self, target: Attach) -> None:
        """Start the adapter and take hold of a live process."""
        await self._start_adapter(target.cwd, target.env)
        await self._begin("attach", self._profile.attach(target))

    async def connect(self, configuration: Mapping[str, Any]) -> None:
        """Take hold of a child process, as the adapter's configuration for it says."""
        match configuration.get("connect"):
            case {"port": int(port), **more}:
                self._listen(await Connection.open(str(more.get("host", "127.0.0.1")), port))
            case _:
                raise DebuggerError(
                    Code.NOT_SUPPORTED,
                    f"{self._profile.name} does not say where its child process is to be met",
                )
        await self._begin(str(configuration.get("request", "attach")), dict(configuration))

    async def _start_adapter(self, cwd: str, env: Mapping[str, str]) -> None:
        own = {key: value for key, value in env.items() if key not in _NOT_FOR_ADAPTERS}
        self._guard = await Guarded.start(
            self._found.argv, cwd=cwd, env=own, scratch=self._scratch, tasks=self._tasks
        )
        self._listen(self._guard)

    def _listen(self, link: Link) -> None:
        self._link = link
        self._pump = self._tasks.create_task(self._receive(link))

    async def probe(self, cwd: str, env: Mapping[str, str]) -> dict[str, Any]:
        """Start the adapter and initialize it, no more; return its capabilities.

        Raises:
            DebuggerError: ADAPTER_FAILED, TIMEOUT.
        """
        await self._start_adapter(cwd, env)
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
        """Initialize, then launch or attach without awaiting it.

        Newer lldb-dap, debugpy and gdb answer only after configurationDone: waiting would deadlock.
        """
        await self._initialize()
        self._begun = self.client.post(command, arguments)
        with self._blamed(Code.LAUNCH_FAILED):
            await self._first(self.events.initialized, unless=self._begun, doing=command)
        if self.stdio is not None and self.events.pid is not None:
            self.stdio.opened()
        if self._profile.properties:
            await self.request("setDebuggerProperty", dict(self._profile.properties), dap.Body)

    async def run(self) -> None:
        """End the configuration and see the launch succeed, or the program stop or end."""
        assert self._begun is not None
        ours = set(self._profile.exception_filters)
        offered = self.client.capabilities.exception_breakpoint_filters or ()
        filters = tuple(one.filter for one in offered if one.filter in ours)
        if filters:
            arguments = ask.SetExceptionBreakpoints(filters=filters)
            await self.request("setExceptionBreakpoints", arguments, dap.Body)
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
        """Wait for an event or a response; a response that tells of a failure raises."""
        waiter = asyncio.ensure_future(event.wait())
        try:
            # A launch's response counts only as a failure, until the event has come.
            pending: set[asyncio.Future[Any]] = {waiter, unless}
            async with asyncio.timeout(self._limits.request_s):
                while not event.is_set() and pending:
                    await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                    if unless in pending and unless.done():
                        self.client.body(unless.result(), dap.Body, Code.LAUNCH_FAILED)
                        if event is self.events.happened:
                            return
                        pending.discard(unless)
        except TimeoutError:
            raise DebuggerError(
                Code.TIMEOUT,
                f"{self._profile.name} did not finish {doing} within {self._limits.request_s:g} s",
            ) from None
        finally:
            waiter.cancel()

    @contextmanager
    def _blamed(self, code: Code) -> Iterator[None]:
        try:
            yield
        except DebuggerError as error:
            raise self._blame(error, code) from error

    def _blame(self, error: DebuggerError, code: Code) -> DebuggerError:
        """Add the adapter's last words to a failure of its start."""
        kept = error.code if error.code is not Code.ADAPTER_FAILED else code
        said = self._last_words()
        message = error.message
        if said and said not in message:
            message = f"{message}\n{self._profile.name} said: {said}"
        is_lost = error.code is Code.ADAPTER_DIED
        hint = None if is_lost else error.hint  # what never began cannot be restarted
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
        try:
            while chunk := await link.read():
                for body in decoder.feed(chunk):
                    self.client.receive(body)
        except DebuggerError as error:
            problem = error
        await self._lose(problem)

    async def _lose(self, problem: DebuggerError | None) -> None:
        if self._is_closing:
            self.client.lose(DebuggerError(Code.ADAPTER_DIED, "the session was closed"))
            return
        how = "closed its connection"
        if self._guard is not None and problem is None:
            try:
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
        env = dict(self.launched.env)
        for key, value in (asked.env or {}).items():
            if value is None:
                env.pop(key, None)
            else:
                env[key] = value
        files = self._files(self.launched)
        pid, _ = await self._guard.spawn(
            asked.args,
            cwd=asked.cwd or self.launched.cwd,
            env=env,
            stdio=(files.stdin, files.stdout, files.stderr),
        )
        self._launcher = pid
        return {"processId": pid}

    async def request(
        self,
        command: str,
        arguments: msgspec.Struct | dict[str, Any],
        body: type[Any],
        *,
        failure: Code = Code.ADAPTER_FAILED,
    ) -> Any:
        """Send a request and return its response's body (see Client.request)."""
        return await self.client.request(
            command, arguments, body, within=self._limits.request_s, failure=failure
        )

    # -- end -----------------------------------------------------------------------------------

    async def close(self, *, kill: bool) -> Closed:
        """End the adapter, and the program with it if `kill`."""
        self._is_closing = True
        self.events.mute()
        if not kill and self._guard is not None and self.events.pid is not None:
            outputs = self.stdio.outputs if self.stdio is not None else []
            await self._guard.release([self.events.pid], outputs)
        if self._link is not None and not self.client.is_lost:
            arguments = ask.Disconnect(terminate_debuggee=kill)
            with suppress(DebuggerError):
                await self.client.send(
                    "disconnect",
                    arguments,
                    within=_DISCONNECT_S if kill else self._profile.detach_s,
                )
        killed: tuple[str, ...] = ()
        if not kill and self._guard is not None and self._launcher not in {None, self.events.pid}:
            # debugpy's launcher would kill the program when it sees its adapter go.
            await self._guard.kill(self._launcher)
        if self._guard is not None:
            killed = (await self._guard.end()).killed
        elif isinstance(self._link, Connection):
            self._link.close()
        if self.stdio is not None:
            await self.stdio.drain()
            self.stdio.close()
        return Closed(killed=killed)
