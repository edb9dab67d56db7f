"""Runs, stops, reads and traces one program through its agent; the engine's asyncio interface."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from debugger.backends.inprocess.engine import child_processes
from debugger.backends.inprocess.engine.agent_connection import AgentConnection, agent_source
from debugger.backends.inprocess.engine.agent_messages import (
    read_module,
    read_registers,
    read_tally,
)
from debugger.backends.inprocess.engine.engine_events import (
    EngineBreakpoint,
    EngineEvent,
    EngineModule,
    EngineThread,
    EngineWatch,
    HitTally,
    ModuleLoaded,
    ModuleUnloaded,
    ThreadPaused,
    TracedFunction,
)
from debugger.backends.inprocess.engine.host_events import HostEventDispatcher, wait_within
from debugger.backends.inprocess.engine.host_link import EngineFolders, HostLink, PendingProgram
from debugger.backends.inprocess.engine.loader_state import wait_until_loaded
from debugger.backends.inprocess.engine.patch_sites import EngineBreakpoints, PatchSites
from debugger.backends.inprocess.engine.preflight import (
    check_machine,
    check_process,
    check_program,
    still_loading,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.system.supervised_process import SupervisedEnd, SupervisedProcess

_WORD = 8


class ReturnTrampolines:
    """Knows the trampolines that traced calls return to; each stands for a caller's address."""

    # While a traced call is under way, its return address on the stack is a trampoline of
    # trace.c, and the caller's address lies `size` bytes above the trampoline's own. Whoever
    # reads the stack must see the caller's, so every word in memory that points to a
    # trampoline is replaced. The program itself knows no address in that memory, so such a
    # word is never anything else.
    def __init__(self, agent: AgentConnection) -> None:
        self._agent = agent
        self._places: dict[int, int] = {}

    def set_trampolines(self, first: int, size: int) -> None:
        """Note where the trampolines are; the addresses that they stand for lie `size` above."""
        self._places[first] = size

    def inherit_from(self, parent: ReturnTrampolines) -> None:
        """Take over the trampolines of the process that forked this one; it may return to them."""
        self._places |= parent._places

    def find_trampolines(self, address: int, data: bytes) -> dict[int, int]:
        """Find addresses of trampolines in memory.

        Returns:
            Where in `data` each one is, with the address at which the caller's address is.
        """
        if not self._places:
            return {}
        # Return addresses are aligned on the stack: only whole words are looked at.
        lead = -address % _WORD
        count = max(len(data) - lead, 0) // _WORD
        words = struct.unpack_from(f"<{count}Q", data, lead)
        return {
            lead + number * _WORD: word + size
            for number, word in enumerate(words)
            for first, size in self._places.items()
            if first <= word < first + size
        }

    async def restore_addresses(self, address: int, data: bytes) -> bytes:
        """Return memory as the program wrote it, with the callers' addresses put back."""
        found = self.find_trampolines(address, data)
        if not found:
            return data
        places = [hex(place) for place in found.values()]
        _, right = await self._agent.send_order("peek", addresses=places, count=_WORD)
        changed = bytearray(data)
        for number, at in enumerate(found):
            changed[at : at + _WORD] = right[number * _WORD : (number + 1) * _WORD]
        return bytes(changed)


_EXEC_S = 10.0
_READY_S = 10.0


class Engine:
    """Debugs one program by the agent inside it."""

    # Three parts: the host below a guard (`HostLink`), the agent in the program
    # (`AgentConnection`), and what arrives from both (`HostEventDispatcher`, in a field with
    # the name of its first purpose). There are three ways in: `start` launches, `attach`
    # enters a process that runs, `follow` enters a forked child or the program that this one
    # became, through the host of the engine that knows it.
    def __init__(self, sink: Callable[[EngineEvent], None], *, holds_modules: bool) -> None:
        self._source = agent_source(holds_modules=holds_modules)
        self._sink = sink
        self._dispatcher = HostEventDispatcher(self._take_event)
        self._link: HostLink
        self._agent: AgentConnection
        self._sites: PatchSites
        # For readers of /proc/PID/mem; `read_memory` restores callers' addresses itself.
        self.returns: ReturnTrampolines
        self._points: EngineBreakpoints
        self._held = False
        self._waits_at = self._lets_go_at = 0
        self.pid = 0

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        place: EngineFolders,
        stdio: tuple[str | None, str | None, str | None],
        tasks: asyncio.TaskGroup,
        sink: Callable[[EngineEvent], None],
        follows_children: bool = False,
        holds_modules: bool = False,
    ) -> Engine:
        """Start a program and hold it before its first instruction; `run_program` resumes it.

        Raises:
            DebuggerError: LAUNCH_FAILED, NOT_SUPPORTED, ADAPTER_FAILED, TIMEOUT.
        """
        check_machine()
        check_program(argv[0])
        engine = cls(sink, holds_modules=holds_modules)
        await engine._open_parts(place, tasks)
        launching = PendingProgram(place.scratch)
        try:
            engine.pid, ended = await launching.spawn(
                engine._link, argv, cwd=place.cwd, env=place.env, stdio=stdio
            )
            engine._dispatcher.pid = engine.pid
            # Into the launcher, for its exec alone: Frida then holds the program before its
            # first instruction (`became`). The session ends with the exec, so `_inject_agent`
            # attaches again, without gating.
            await engine._link.send_order("attach", pid=engine.pid, gate=True)
            launching.run_program()
            await wait_within(_EXEC_S, engine._dispatcher.became, f"{argv[0]} did not begin")
            await engine._inject_agent(follows_children=follows_children)
            # Frida holds it until it is resumed; breakpoints are set meanwhile.
            engine._held = True
        except BaseException:
            await engine.end_program()
            raise
        finally:
            launching.close()
        # By the guard, which is the program's parent: it alone gets the exit status.
        engine._dispatcher.watch_for_end(ended, tasks)
        return engine

    @classmethod
    async def attach(
        cls,
        pid: int,
        *,
        place: EngineFolders,
        tasks: asyncio.TaskGroup,
        sink: Callable[[EngineEvent], None],
        follows_children: bool = False,
        holds_modules: bool = False,
    ) -> Engine:
        """Enter a process that runs, and goes on running.

        Raises:
            DebuggerError: NOT_FOUND, DENIED, NOT_SUPPORTED, ADAPTER_FAILED, TIMEOUT.
        """
        check_machine()
        is_loaded = await wait_until_loaded(pid)
        check_process(pid)
        if not is_loaded:
            raise still_loading(pid)
        engine = cls(sink, holds_modules=holds_modules)
        engine.pid = engine._dispatcher.pid = pid
        await engine._open_parts(place, tasks)
        try:
            await engine._inject_agent(follows_children=follows_children)
        except BaseException:
            await engine.end_program()
            raise
        engine._dispatcher.watch_end(child_processes.ForeignProcess(pid), tasks)
        return engine

    @classmethod
    async def follow(
        cls,
        known: Engine,
        child: child_processes.ForeignProcess | None,
        *,
        at: int,
        tasks: asyncio.TaskGroup,
        sink: Callable[[EngineEvent], None],
        holds_modules: bool = False,
    ) -> Engine:
        """Enter a child of a known program, or the program that the known one has become.

        The process waits at `at` (`ChildAppeared`, `ProgramReplaced`) until `run_program`.

        Raises:
            DebuggerError: ADAPTER_FAILED, NOT_FOUND, TIMEOUT; then the process runs without the
                agent.
        """
        engine = cls(sink, holds_modules=holds_modules)
        engine.pid = engine._dispatcher.pid = pid = child.pid if child is not None else known.pid
        engine._link, engine._waits_at = known._link, at or known._lets_go_at
        # A process waits 10 s by itself. Entering it may take longer on a machine under load,
        # so it is asked first to wait 60 s.
        known.send_child_word(pid, child_processes.WAIT, at)
        engine._link.add_listener(pid, engine._dispatcher.handle_event)
        try:
            # A forked child (`at` is 0) has its parent's memory, with our int3 in the code
            # and no agent to handle them. After an exec there is nothing of ours.
            if not at:
                child_processes.restore_code(pid, known._sites.original_code)
            await engine._inject_agent(follows_children=True)
        except BaseException as error:
            # Whatever went wrong, the process must not wait for ever.
            known.send_child_word(pid, child_processes.FREE, at)
            engine._link.remove_listener(pid)
            if isinstance(error, OSError | DebuggerError):
                raise child_processes.not_entered(pid, error) from error
            raise
        if not at:
            engine.returns.inherit_from(known.returns)
        if child is not None:
            engine._dispatcher.watch_end(child, tasks)
        else:
            # The same process, and one exit status: it belongs to the engine of the new
            # program now.
            known._dispatcher.pass_on(engine._dispatcher, tasks)
        return engine

    async def _open_parts(self, place: EngineFolders, tasks: asyncio.TaskGroup) -> None:
        self._link = await HostLink.start(
            cwd=place.cwd,
            env=place.env,
            scratch=place.scratch,
            tasks=tasks,
            on_event=self._dispatcher.handle_event,
        )

    async def _inject_agent(self, *, follows_children: bool) -> None:
        self._agent = AgentConnection(self._link, self.pid)
        self._dispatcher.set_agent(self._agent)
        self._sites = PatchSites(self._agent)
        self._points = EngineBreakpoints(self._agent, self._sites)
        self.returns = ReturnTrampolines(self._agent)
        # Not gated: children of a process with an agent die or hang when Frida holds them
        # (17.26). The agent holds them itself (agent/65_children.js).
        await self._link.send_order("attach", pid=self.pid, gate=False)
        await self._link.send_order(
            "load", pid=self.pid, source=f"const HOST = {self.host_pid};\n{self._source}"
        )
        # `abort` gets a site of ours: Frida leaves the program at its beginning, so the
        # signal itself would come too late (`catchAbort` in agent/40_points.js).
        abort = await wait_within(_READY_S, self._dispatcher.ready, "the agent was not ready")
        if not await self._sites.make_sites([abort]):
            await self._agent.send_order("aborts", address=hex(abort))
        if follows_children:
            at, _ = await self._agent.send_order("follow", on=True)
            self._lets_go_at = int(at, 16)

    def _take_event(self, event: EngineEvent) -> None:
        """Pass an event on; sites in code that was unmapped are forgotten first."""
        if isinstance(event, ModuleLoaded):
            module = self._with_file(event.module)
            event = msgspec.structs.replace(event, module=module)
        if isinstance(event, ModuleUnloaded):
            self._sites.forget_range(event.base, event.base + event.size)
            self._points.forget_range(event.base, event.base + event.size)
        self._sink(event)

    # --- requests ---

    @property
    def supervised_host(self) -> SupervisedProcess:
        """The guard of the host, and of the program that was started."""
        return self._link.guarded

    @property
    def host_pid(self) -> int:
        """The number of the process that runs Frida."""
        return self._link.guarded.pid

    @property
    def has_lost_host(self) -> bool:
        """Whether the process that runs Frida has ended."""
        return self._link.is_over

    async def run_program(self) -> None:
        """Let a program that was started begin, or a child go on."""
        if self._waits_at:
            at, self._waits_at = self._waits_at, 0
            child_processes.let_go(self.pid, at, child_processes.FOLLOWED)
        if self._held:
            self._held = False
            await self._link.send_order("resume", pid=self.pid)

    async def add_breakpoints(self, points: Iterable[EngineBreakpoint]) -> dict[str, str]:
        """Add breakpoints in one order; return why some could not be added, by id."""
        return await self._points.add_breakpoints(points)

    async def remove_breakpoints(self, ids: Iterable[str], *, is_awaited: bool = True) -> None:
        """Remove breakpoints; without `is_awaited` a thread may still pause at one."""
        await self._points.remove_breakpoints(ids, is_awaited=is_awaited)

    async def enable_breakpoints(self, ids: Iterable[str], *, on: bool) -> None:
        """Take breakpoints out of the program and remember them, or put them back."""
        await self._points.enable_breakpoints(ids, on=on)

    async def hit_counts(self) -> dict[str, HitTally]:
        """Return how often each breakpoint was hit; after the program's end, its last report.

        The last report is exact after an exit and up to a tenth of a second old after a kill: see
        `has_last_words`.
        """
        if self._dispatcher.gone.done() or self._dispatcher.has_exited:
            return self._dispatcher.last
        value, _ = await self._agent.send_order("tally")
        return read_tally(value)

    @property
    def last_counts(self) -> Mapping[str, HitTally]:
        """The counts of the program's last report."""
        return self._dispatcher.last

    @property
    def has_last_words(self) -> bool:
        """Whether the program reported all its counts when it ended."""
        return self._dispatcher.has_last_words

    def resume(self, threads: Iterable[int] | None = None) -> list[int]:
        """Resume paused threads, all of them without `threads`; return those that were paused."""
        chosen = list(self._dispatcher.paused) if threads is None else list(threads)
        going = [
            thread for thread in chosen if self._dispatcher.paused.pop(thread, None) is not None
        ]
        # Out of `paused` before the agent knows: a second `resume` must not send a second
        # order, which the thread would take at its next pause.
        for thread in going:
            self._agent.resume_thread(thread)
        return going

    async def pause(self, threads: Iterable[int] | None = None) -> list[int]:
        """Request a pause of threads, all of them without `threads`; return those that agree."""
        if threads is None:
            threads = [one.id for one in await self.list_threads() if not one.is_paused]
        value, _ = await self._agent.send_order("pause", threads=list(threads))
        return list(value)

    @property
    def paused_threads(self) -> Mapping[int, ThreadPaused]:
        """The paused threads, each with its report."""
        return self._dispatcher.paused

    async def list_threads(self) -> list[EngineThread]:
        """List the program's threads."""
        value, _ = await self._agent.send_order("threads")
        return [
            EngineThread(id=it["thread"], name=it["name"], is_paused=it["paused"]) for it in value
        ]

    async def read_memory(self, address: int, count: int) -> bytes:
        """Read memory as the program wrote it; fewer bytes where the mapping ends."""
        _, code = await self._agent.send_order("read", address=hex(address), count=count)
        return await self.returns.restore_addresses(
            address, self._sites.remove_patches(address, code)
        )

    async def write_memory(self, address: int, data: bytes) -> None:
        """Write memory.

        Raises:
            DebuggerError: WRONG_STATE where a breakpoint stands, EVALUATION_FAILED.
        """
        # The bytes there would be lost: a removal of the breakpoint writes the old ones back.
        if self._sites.remove_patches(address, data) != data:
            raise DebuggerError(
                ErrorCode.WRONG_STATE,
                f"a breakpoint was set in the {len(data)} bytes at {address:#x}, which are code",
                hint="debugger memory write ADDR BYTES, of another place",
            )
        written, _ = await self._agent.send_order("write", address=hex(address), data=data)
        if written != len(data):
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"{address:#x} cannot be written: no memory is mapped there",
            )

    async def read_registers(self, thread: int) -> dict[str, int]:
        """Return the registers of a paused thread."""
        value, _ = await self._agent.send_order("registers", thread=thread)
        return read_registers(value)

    async def set_registers(self, thread: int, values: Mapping[str, int]) -> None:
        """Set registers of a paused thread; at a breakpoint rsp cannot be set."""
        texts = {name: hex(value) for name, value in values.items()}
        await self._agent.send_order("set", thread=thread, values=texts)
        self._dispatcher.note_registers(thread, values)

    async def call_function(
        self,
        thread: int,
        address: int,
        *,
        takes: Sequence[str],
        returns: str,
        values: Sequence[str],
        within: float = 10.0,
    ) -> str:
        """Call a function on a paused thread; types are those of Frida's NativeFunction.

        Raises:
            DebuggerError: EVALUATION_FAILED when it faults, TIMEOUT.
        """
        value = await self._agent.send_thread_order(
            thread,
            "call",
            within=within,
            address=hex(address),
            takes=list(takes),
            returns=returns,
            values=list(values),
        )
        return str(value["value"])

    async def set_watch(self, one: EngineWatch) -> None:
        """Watch memory, in all threads.

        Raises:
            DebuggerError: EVALUATION_FAILED when all four are in use.
        """
        order = msgspec.to_builtins(one) | {"address": hex(one.address)}
        await self._agent.send_order("watch", watch=order)

    async def remove_watch(self, name: str) -> None:
        """Remove a watchpoint."""
        await self._agent.send_order("unwatch", name=name)

    async def trace_functions(
        self, functions: Iterable[TracedFunction], *, rate: int = 0
    ) -> dict[int, str]:
        """Trace calls and returns of functions; return why some cannot be traced, by number.

        `rate` bounds the calls recorded in one second for each function; 0 is no bound. It is the
        same for all functions.
        """
        wished = list(functions)
        roomy = frozenset(one.address for one in wished if one.has_room)
        refused = await self._sites.make_sites([one.address for one in wished], roomy=roomy)
        orders = [
            {"id": one.id, "address": hex(one.address), "texts": one.texts}
            for one in wished
            if one.address not in refused
        ]
        value, _ = await self._agent.send_order("trace", functions=orders, rate=rate)
        self.returns.set_trampolines(int(value["ways"], 16), value["size"])
        return {one.id: refused[one.address] for one in wished if one.address in refused}

    async def skipped_calls(self) -> dict[int, int]:
        """Return how many calls were beyond the rate, for each function that had such calls."""
        value, _ = await self._agent.send_order("skipped")
        return {int(number): count for number, count in value.items()}

    async def untrace_functions(self, ids: Iterable[int]) -> None:
        """Stop tracing functions."""
        await self._agent.send_order("untrace", ids=list(ids))

    async def list_modules(self) -> list[EngineModule]:
        """List the files that are mapped as code."""
        value, _ = await self._agent.send_order("modules")
        return [self._with_file(read_module(one)) for one in value]

    def _with_file(self, module: EngineModule) -> EngineModule:
        """Set the path of a module to its mapped file, where the loader got a relative one."""
        if not module.path or module.path.startswith("/"):
            return module
        path = child_processes.mapped_file(self.pid, module.base)
        return msgspec.structs.replace(module, path=path or module.path)

    def send_child_word(self, pid: int, word: int = child_processes.FREE, at: int = 0) -> None:
        """Send a word to a child that waits: go on without the agent, or wait for longer."""
        child_processes.let_go(
            pid, at or self._lets_go_at, word, () if at else self._sites.original_code
        )

    async def detach(self) -> None:
        """Remove the agent from the program, which goes on as it was."""
        # 1. follow off: no child starts to wait for an engine that is going.
        # 2. leave: all patches, watchpoints, signal handlers and hooks of libc's exits are
        #    taken out.
        # 3. resume: paused threads run on, out of the agent's code.
        # 4. idle: wait until no thread is in a stub, in Frida's code, or has a SIGTRAP
        #    pending. Frida's unloading removes the SIGTRAP handler, and a thread with a
        #    pending int3 would die of it.
        # 5. detach: Frida unloads the agent.
        #
        # Code that a thread may still come to stays mapped; the next attach unmaps it
        # (agent/77_earlier.js).
        if not self._dispatcher.gone.done():  # else it becomes another just now
            await self._agent.send_order("follow", on=False)
            await self._agent.send_order("leave")
            self.resume()
            await self._agent.send_order("idle")
        await self._link.send_order("detach", pid=self.pid)
        self._dispatcher.note_left("detached")

    async def end_program(self) -> SupervisedEnd:
        """End the program that was started, and the host; an attached program goes on."""
        self.end_child()
        return await self._link.end()

    def end_child(self) -> None:
        """Stop listening to a process that has ended, or that was detached from."""
        self._link.remove_listener(self.pid)
        self._dispatcher.stop_watching()
