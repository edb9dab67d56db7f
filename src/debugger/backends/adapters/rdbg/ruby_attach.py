"""Loads our agent into a running Ruby program, which then connects to a socket of ours.

There are two ways. A process of this machine is entered by gdb, which registers a postponed job:
Ruby runs it where the main thread is at rest (rb_postponed_job_register_one, Ruby up to 3.4). A
program that was started with `rdbg --open` evaluates it by the gem's own debug server.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends.dap.dap_transport import MessageDecoder, encode_message
from debugger.errors import DebuggerError, ErrorCode

_GDB_S = 60.0
_SAID_MAX = 300
_SERVER_S = 10.0
_OPEN = (
    "start it so: rdbg --open --port 12345 APP.rb; then: debugger attach --connect localhost:12345"
)
# Only these libraries' symbols are read: an extension's debug information may be of a kind that gdb
# cannot read, and then it does not know the type of mmap (gdb 16 with the gem debug of Debian 12).
_SETTINGS = ("set debuginfod enabled off", "set auto-solib-add off")
_LIBRARIES = ("libc[-.]", "libruby", "ld-musl")
_MAPPED = "((char*(*)(long,long,int,int,int,long))mmap)(0,65536,3,0x22,-1,0)"
_REGISTERED = "((int(*)(unsigned,void*,void*))rb_postponed_job_register_one)"


def entering_code(agent: Path, socket: str) -> str:
    """Return the Ruby code that loads the agent and connects it.

    It does so in a thread: where Ruby runs such code no lock may be taken.
    """
    code = f"require {_quote(str(agent))}; DebuggerAgent.attach_program({_quote(socket)})"
    problem = _quote(f"{socket}.problem")
    failed = f"rescue Exception => e; File.write({problem}, e.message); $debugger_hold&.push(false)"
    return f"Thread.new {{ begin; {code}; {failed}; end }}; nil"


def _holding_code(code: str) -> str:
    """Return code by which the main thread runs other code at its next line, and waits there.

    The gem holds new threads while the program is stopped, and may forget one that begins as it
    lets the program go on (debug 1.4): the agent's thread is made after that. The main thread waits
    until the agent has got the breakpoints, so that the program does not run past them, and stops
    there if that was requested: by no signal, whose handler the gem replaces as its client leaves.
    """
    wait = "DebuggerAgent.stop_held if $debugger_hold.pop"
    return (
        "$debugger_hold = Queue.new; "
        f"TracePoint.new(:line) {{ |one| one.disable; {code}; {wait} }}"
        ".enable(target_thread: Thread.main)"
    )


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


async def enter_by_gdb(pid: int, code: str, env: Mapping[str, str]) -> None:
    """Make a Ruby process of this machine run code in its main thread.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND without gdb, LAUNCH_FAILED.
    """
    gdb = shutil.which("gdb", path=env.get("PATH"))
    if gdb is None:
        raise DebuggerError(
            ErrorCode.ADAPTER_NOT_FOUND,
            "gdb is needed to enter a running Ruby process, and it is not on the PATH",
            hint=f"debugger setup gdb --yes; or {_OPEN}",
        )
    escaped = code.replace("\\", "\\\\").replace('"', '\\"')
    commands = (
        *(f"sharedlibrary {name}" for name in _LIBRARIES),
        # Memory of its own: the thread may be in the middle of the allocator.
        f"set $memory = {_MAPPED}",
        f'set var *(char(*)[{len(os.fsencode(code)) + 1}])$memory = "{escaped}"',
        f"print {_REGISTERED}(0, (void*)&rb_eval_string, $memory)",
    )
    words = [gdb, "-q", "-nx", "-batch"]
    for setting in _SETTINGS:
        words += ["-iex", setting]
    words += ["-p", str(pid)]
    for command in commands:
        words += ["-ex", command]
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=dict(env),
    )
    try:
        async with asyncio.timeout(_GDB_S):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise DebuggerError(
            ErrorCode.TIMEOUT, f"gdb did not enter process {pid} within {_GDB_S:g} s", hint=_OPEN
        ) from None
    text = output.decode(errors="replace")
    if "$1 = 1" not in text:
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"process {pid} cannot be entered; gdb said: {text.strip()[-_SAID_MAX:]}",
            hint=_OPEN,
        )
    # A thread that sleeps looks for such jobs only when it is woken: Ruby's own handler of this
    # signal does it, and most programs do not notice.
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCHLD)


async def enter_by_server(address: tuple[str, int], code: str) -> Callable[[], None]:
    """Make a program that `rdbg --open` started run code, and go on to its next line.

    The gem stops the program for each client that connects (debug 1.4 and 1.11). Returns what
    closes the connection, to be called once the code has run: without its client a gem 1.4 drops
    the commands that it has not run yet, also the one to go on, and its thread ends by an error.

    Raises:
        DebuggerError: ADAPTER_FAILED.
    """
    host, port = address
    try:
        async with asyncio.timeout(_SERVER_S):
            reader, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError) as error:
        raise DebuggerError(
            ErrorCode.ADAPTER_FAILED, f"cannot connect to {host}:{port}: {error}", hint=_OPEN
        ) from error
    server = _GemServer(reader, writer)
    try:
        async with asyncio.timeout(_SERVER_S):
            entry = _quote(_holding_code(code))
            await server.run_code(f"eval({entry}, nil, '(debugger entry)')")
            await server.release_program()
    except (OSError, TimeoutError, ValueError, KeyError, IndexError) as error:
        writer.close()
        raise DebuggerError(
            ErrorCode.ADAPTER_FAILED,
            "it does not answer as the server of the gem debug does",
            hint=_OPEN,
        ) from error
    return writer.close


class _GemServer:
    """The debug server of the gem debug, as far as it takes to evaluate something."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._decoder = MessageDecoder(sender="rdbg")
        self._messages: list[dict[str, Any]] = []
        self._number = 0

    async def run_code(self, code: str) -> None:
        await self._request("initialize", {"adapterID": "rdbg"})
        await self._request("attach", {"localfs": True})
        self._post("configurationDone", {})
        stopped = await self._wait_for(lambda one: one.get("event") == "stopped")
        thread = stopped["body"].get("threadId") or 1
        frames = await self._request("stackTrace", {"threadId": thread})
        frame = frames["body"]["stackFrames"][0]["id"]
        await self._request("evaluate", {"expression": code, "frameId": frame, "context": "repl"})

    async def release_program(self) -> None:
        self._post("disconnect", {"terminateDebuggee": False})
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_SERVER_S):
                await self._writer.drain()
                await self._wait_for(lambda one: one.get("command") == "disconnect")

    def _post(self, command: str, arguments: dict[str, Any]) -> int:
        self._number += 1
        message = {
            "seq": self._number,
            "type": "request",
            "command": command,
            "arguments": arguments,
        }
        self._writer.write(encode_message(msgspec.json.encode(message)))
        return self._number

    async def _request(self, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
        number = self._post(command, arguments)
        return await self._wait_for(lambda one: one.get("request_seq") == number)

    async def _wait_for(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            for one in self._messages:
                if fits(one):
                    self._messages.remove(one)
                    return one
            chunk = await self._reader.read(1 << 16)
            if not chunk:
                raise ConnectionResetError
            self._messages += [
                msgspec.json.decode(body, type=dict[str, Any])
                for body in self._decoder.add_bytes(chunk)
            ]
