"""Talks to a session's supervisor, which starts and ends the adapter and its programs."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from debugger.errors import DebuggerError, ErrorCode

_CHUNK = 1 << 16


class PipeReader:
    """The read end of a pipe that has no other reader."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._is_in_use = False
        self._is_closing = False

    async def read_chunk(self) -> bytes:
        """Return the next bytes; none at the pipe's end."""
        chunks: list[bytes] = []

        def keep_chunk(chunk: bytes) -> bool:
            chunks.append(chunk)
            return False

        await self._wait_for_bytes(keep_chunk)
        return b"".join(chunks)

    async def forward_chunks(self, take: Callable[[bytes], None]) -> None:
        """Pass each chunk to `take` until the pipe ends; `take`'s exception is raised here."""

        def forward_chunk(chunk: bytes) -> bool:
            take(chunk)
            return True

        await self._wait_for_bytes(forward_chunk)

    async def _wait_for_bytes(self, take: Callable[[bytes], bool]) -> None:
        """Call `take` with each chunk until it returns False, or the pipe ends."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()

        def read_available() -> None:
            if ended.done():  # and its waiter has not removed this reader yet
                return
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except BlockingIOError:
                return
            except OSError:
                chunk = b""
            try:
                goes_on = bool(chunk) and take(chunk)
            except Exception as error:  # noqa: BLE001 - raised where it is awaited
                ended.set_exception(error)
                return
            if not goes_on:
                ended.set_result(None)

        self._is_in_use = True
        loop.add_reader(self._descriptor, read_available)
        try:
            await ended
        finally:
            loop.remove_reader(self._descriptor)
            self._is_in_use = False
            # `close` came during the read, and left the descriptor open for it.
            if self._is_closing:
                self.close()

    def close(self) -> None:
        """Close the pipe, or let a read in progress close it."""
        self._is_closing = True
        if not self._is_in_use and self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


_log = logging.getLogger(__name__)
_LOGGED_LINES = 200  # of one adapter
_GUARD = str(Path(__file__).with_name("supervisor.py"))
# As a module it is read from Python's cache; run by its path it would be compiled at each start,
# which takes longer than all the rest of it. -I -S: it is standard library only, and must not read
# the user's environment.
_IMPORT_GUARD = (
    "import sys; del sys.argv[0]; sys.path.append(sys.argv[0].rpartition('/')[0]);"
    " import supervisor; supervisor.run_supervisor()"
)
_RUN_GUARD = (sys.executable, "-I", "-S", "-c", _IMPORT_GUARD, _GUARD)
_STDERR_LINES = 40  # last lines of an adapter's standard error
_STDERR_LINE_MAX = 500
# Long for a small script, which only a machine with far more to do keeps waiting.
_START_S = 30.0
_END_S = 4.0  # seconds, more than the supervisor's own limit
_REPLY_S = 5.0  # seconds for the supervisor to answer an order
_DIED_S = 0.5
# Seconds until the supervisor must have reported that its adapter has ended, and until all must be
# ended that a killed one has left.
_EXIT_REPORT_S, _SWEEP_S = 2.0, 15.0


class SupervisedEnd(msgspec.Struct, frozen=True):
    """The supervisor's report of the end."""

    killed: tuple[str, ...] = ()  # processes that had to be killed, as `PID (name)`


def _build_command(control: int, scratch: Path, *, ignores_sigpipe: bool) -> list[str]:
    options = ["--ignore-sigpipe"] if ignores_sigpipe else []
    return [*_RUN_GUARD, str(control), str(scratch), *options, "--"]


_NOT_STARTED = "the adapter could not be started"


class SupervisedProcess:
    """An adapter process under its supervisor, or a supervisor that runs programs alone.

    Nothing below the supervisor outlives `end_processes`, or the daemon.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        output: PipeReader,
        control: socket.socket,
        scratch: Path,
    ) -> None:
        self._process = process
        self._output = output
        self._control = control
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._spawns: dict[int, asyncio.Future[int]] = {}
        self._exits: dict[int, asyncio.Future[tuple[int | None, int | None]]] = {}
        self._next_spawn = 1
        loop = asyncio.get_running_loop()
        self._started: asyncio.Future[int] = loop.create_future()
        self._ended: asyncio.Future[SupervisedEnd] = loop.create_future()
        self.exited: asyncio.Future[str] = loop.create_future()
        self._releases = False
        # The processes to end if the guard is killed: see `_end_left_over`.
        self._scratch = scratch
        self._sessions: set[int] = {process.pid}
        self._programs: dict[int, int] = {}
        self._released: set[int] = set()
        self.is_lost = False
        self.pid = 0  # of the adapter; 0 without one

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        scratch: Path,
        tasks: asyncio.TaskGroup,
        ignores_sigpipe: bool = False,
    ) -> SupervisedProcess:
        """Start a supervisor with an adapter, or without one where `argv` is empty.

        The supervisor removes the session's `scratch` directory at the end. `ignores_sigpipe`: the
        adapter ignores the signal, and what it starts inherits that.

        Raises:
            DebuggerError: ADAPTER_FAILED.
        """
        name = argv[0] if argv else "the supervisor"
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *_build_command(theirs.fileno(), scratch, ignores_sigpipe=ignores_sigpipe),
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=writing,
                stderr=asyncio.subprocess.PIPE,
                cwd=cwd,
                env=dict(env),
                pass_fds=[theirs.fileno()],
                # Ctrl-C in the daemon's terminal must not reach the adapter.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # ValueError: a NUL in a word, a name with a "="
            ours.close()
            os.close(reading)
            problem = getattr(error, "strerror", None) or error
            raise DebuggerError(
                ErrorCode.ADAPTER_FAILED, f"cannot start {name}: {problem}"
            ) from error
        finally:
            theirs.close()
            os.close(writing)
        ours.settimeout(0)
        guarded = cls(process, PipeReader(reading), ours, scratch)
        tasks.create_task(guarded._read_reports())
        collecting = tasks.create_task(guarded._collect_stderr())
        try:
            async with asyncio.timeout(_START_S):
                guarded.pid = await asyncio.shield(guarded._started)
        except TimeoutError:
            await guarded.end_processes()
            raise DebuggerError(
                ErrorCode.ADAPTER_FAILED, f"{name} did not start within {_START_S:g} s"
            ) from None
        except DebuggerError as error:
            await guarded.end_processes()
            raise await guarded._describe_failed_start(error, collecting) from error
        return guarded

    async def _describe_failed_start(
        self, error: DebuggerError, collecting: asyncio.Task[None]
    ) -> DebuggerError:
        """Return the error of a start, with the last words of a supervisor that has failed.

        A daemon that has run since before an update starts the supervisor of another version.
        """
        await asyncio.wait({collecting}, timeout=_REPLY_S)
        last = next((line for line in reversed(self._stderr) if line.strip()), "")
        if error.message != _NOT_STARTED or not last:
            return error
        return DebuggerError(
            error.code,
            f"{_NOT_STARTED}: {last.strip()}",
            hint="debugger daemon stop; the next command starts a daemon of the installed version",
        )

    async def read_output(self) -> bytes:
        """Return a chunk of the adapter's output; nothing at its end."""
        return await self._output.read_chunk()

    async def forward_output(self, take: Callable[[bytes], None]) -> None:
        """Pass the adapter's output to `take` as it comes, until its end."""
        await self._output.forward_chunks(take)

    def write_input(self, data: bytes) -> None:
        """Write to the adapter's input; data that the adapter no longer reads is lost."""
        assert self._process.stdin is not None
        if not self._process.stdin.is_closing():
            self._process.stdin.write(data)

    def stderr_tail(self) -> str:
        """Return the last lines of the adapter's standard error."""
        return "\n".join(self._stderr)

    async def describe_exit(self) -> str:
        """Return how the adapter ended, whose output is at its end (bounded)."""
        with suppress(TimeoutError):
            # The supervisor reports the exit a moment after the pipe has ended. What a killed one
            # has left is ended first.
            async with asyncio.timeout(_SWEEP_S if self.is_lost else _EXIT_REPORT_S):
                return await asyncio.shield(self.exited)
        return "closed its output"

    async def describe_loss(self) -> str | None:
        """Return how the adapter ended, if its supervisor was killed; None otherwise.

        All below the supervisor is ended then: what the adapter reports is no end of the program's
        own.
        """
        return await self.describe_exit() if self.is_lost else None

    async def spawn_program(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdio: tuple[str | None, str | None, str | None],
    ) -> tuple[int, asyncio.Future[tuple[int | None, int | None]]]:
        """Run a program on the given files; return its pid and a future of (status, signal).

        Raises:
            DebuggerError: LAUNCH_FAILED.
        """
        number, self._next_spawn = self._next_spawn, self._next_spawn + 1
        loop = asyncio.get_running_loop()
        spawned: asyncio.Future[int] = loop.create_future()
        ended: asyncio.Future[tuple[int | None, int | None]] = loop.create_future()
        self._spawns[number], self._exits[number] = spawned, ended
        names = dict(zip(("stdin", "stdout", "stderr"), stdio, strict=True))
        order = {"op": "spawn", "id": number, "argv": list(argv), "cwd": cwd, "env": dict(env)}
        await self._send_order(order | names)
        try:
            async with asyncio.timeout(_START_S):
                return await spawned, ended
        except TimeoutError:
            raise DebuggerError(
                ErrorCode.LAUNCH_FAILED, f"{argv[0]} did not start within {_START_S:g} s"
            ) from None

    async def release_processes(self, pids: Sequence[int], outputs: Sequence[int]) -> None:
        """Exempt these processes and their children from the end.

        `outputs` are the descriptors of their output. The supervisor continues to read them,
        because a program cannot write to a pipe without a reader.
        """
        line = msgspec.json.encode({"op": "release", "pids": list(pids)}) + b"\n"
        with suppress(OSError):
            # The descriptors travel with the order, since the daemon may be gone when they are
            # needed.
            socket.send_fds(self._control, [line], list(outputs))
        self._releases = bool(outputs)
        self._released.update(pids)

    async def kill_process(self, pid: int) -> None:
        """Kill one process below the supervisor."""
        await self._send_order({"op": "signal", "pid": pid, "signal": signal.SIGKILL})

    async def interrupt_process(self, pid: int) -> None:
        """Interrupt one process below the supervisor, as Ctrl-C does."""
        await self._send_order({"op": "signal", "pid": pid, "signal": signal.SIGINT})

    async def end_processes(self) -> SupervisedEnd:
        """Kill everything below the supervisor, and wait for its end (bounded)."""
        await self._send_order({"op": "end"})
        try:
            async with asyncio.timeout(_END_S):
                ending = await asyncio.shield(self._ended)
                if not self._releases:
                    await self._process.wait()
        except TimeoutError:
            ending = SupervisedEnd()
            if self._process.returncode is None:
                # A supervisor that does not answer is killed; its processes are then swept by
                # `_end_left_over`.
                self._process.kill()
        self._output.close()
        return ending

    async def _send_order(self, order: dict[str, Any]) -> None:
        # An environment may have bytes that are no UTF-8: as JSON escapes the guard can read them.
        line = json.dumps(order).encode("ascii") + b"\n"
        try:
            async with asyncio.timeout(_REPLY_S):
                await asyncio.get_running_loop().sock_sendall(self._control, line)
        except (OSError, TimeoutError):
            return  # the guard is gone, and so is all below it

    async def _read_reports(self) -> None:
        loop = asyncio.get_running_loop()
        received = b""
        try:
            while chunk := await loop.sock_recv(self._control, 1 << 16):
                *lines, received = (received + chunk).split(b"\n")
                for line in lines:
                    self._take_report(msgspec.json.decode(line))
        except OSError:
            pass
        try:
            if not self._ended.done() and not self._has_start_failed():
                self.is_lost = True
                await self._end_left_over()
        finally:
            self._control.close()
            if not self._ended.done():
                self._ended.set_result(SupervisedEnd())
            for ended in self._exits.values():
                if not ended.done():
                    ended.set_result((None, signal.SIGKILL))
            start_error = DebuggerError(ErrorCode.ADAPTER_FAILED, _NOT_STARTED)
            # Nobody may be awaiting them; reading the exception keeps asyncio from logging it.
            for waiter in (self._started, *self._spawns.values()):
                if not waiter.done():
                    waiter.set_exception(start_error)
                    waiter.exception()

    def _has_start_failed(self) -> bool:
        return self._started.done() and self._started.exception() is not None

    async def _end_left_over(self) -> None:
        """End all processes of a killed supervisor, with a second supervisor process.

        The children of a killed supervisor run on unsupervised.
        """
        # Only a live adapter: the pid of one that has exited may belong to another process.
        roots = [] if self.exited.done() or not self.pid else [self.pid]
        order = {
            "roots": [*roots, *self._programs.values()],
            "sessions": list(self._sessions),
            "released": list(self._released),
        }
        sweeper = await asyncio.create_subprocess_exec(
            *(*_RUN_GUARD, "--sweep", str(self._scratch)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        swept, _ = await sweeper.communicate(msgspec.json.encode(order))
        if not self.exited.done():
            how = await self._describe_guard_death()
            self.exited.set_result(f"was ended, because its guard {how},")
        if not self._ended.done():
            self._ended.set_result(_to_end(msgspec.json.decode(swept or b"[]")))

    async def _describe_guard_death(self) -> str:
        with suppress(TimeoutError):
            # Its end is known once nobody has its pipes any more: a program that was let go may.
            async with asyncio.timeout(_DIED_S):
                status = await self._process.wait()
                return f"was killed by signal {-status}" if status < 0 else f"exited with {status}"
        return "died"

    def _take_report(self, report: dict[str, Any]) -> None:  # noqa: C901 - one case for each report
        match report:
            case {"event": "started", "pid": int(pid)}:
                self._started.set_result(pid)
            case {"event": "failed", "error": str(error)}:
                self._started.set_exception(
                    DebuggerError(
                        ErrorCode.ADAPTER_FAILED,
                        f"the adapter cannot be run: {error}",
                        hint="debugger doctor names its file, and what to do about it",
                    )
                )
            case {"event": "adapter_exited", "code": code, "signal": number}:
                ended = f"was killed by signal {number}" if number else f"exited with {code}"
                if not self.exited.done():
                    self.exited.set_result(ended)
            case {"event": "forked", "id": int(order), "pid": int(pid)}:
                self._programs[order] = pid
                self._sessions.add(pid)
            case {"event": "spawned", "id": int(order), "pid": int(pid)}:
                if not self._spawns[order].done():  # else it was not waited for so long
                    self._spawns[order].set_result(pid)
            case {"event": "spawn_failed", "id": int(order), "error": error}:
                if not self._spawns[order].done():
                    self._spawns[order].set_exception(
                        DebuggerError(
                            ErrorCode.LAUNCH_FAILED, f"the program cannot be run: {error}"
                        )
                    )
            case {"event": "exited", "id": int(order), "code": code, "signal": number}:
                self._programs.pop(order, None)
                self._exits[order].set_result((code, number))
            case {"event": "ended", "killed": [*killed]}:
                self._ended.set_result(_to_end(killed))

    async def _collect_stderr(self) -> None:
        assert self._process.stderr is not None
        rest, logged = b"", 0
        while chunk := await self._process.stderr.read(1 << 14):
            *lines, rest = (rest + chunk).split(b"\n")
            # An adapter may write without newlines for as long as it lives.
            rest = rest[-_STDERR_LINE_MAX:]
            for line in lines[-_STDERR_LINES:]:
                text = line[:_STDERR_LINE_MAX].decode(errors="backslashreplace")
                self._stderr.append(text)
                if logged < _LOGGED_LINES and text.strip():
                    logged += 1
                    _log.info("process %d, an adapter, wrote: %s", self.pid, text)
        if rest:
            self._stderr.append(rest.decode(errors="backslashreplace"))
            _log.info("process %d, an adapter, wrote: %s", self.pid, self._stderr[-1])


def _to_end(killed: Sequence[Mapping[str, Any]]) -> SupervisedEnd:
    return SupervisedEnd(killed=tuple(f"{one['pid']} ({one['name']})" for one in killed))
