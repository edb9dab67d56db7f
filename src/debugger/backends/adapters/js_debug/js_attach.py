"""Attaches to a running Node, and detaches from it or ends it."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from debugger.backends.adapters.js_debug.js_breakpoints import SHARED
from debugger.backends.base import AttachTarget, ProcessStarted
from debugger.backends.dap import dap_transport
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.debug_adapter import AdapterConnection
from debugger.backends.dap.two_connection_launch import PendingLaunch
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import EvaluationPurpose
from debugger.system.descriptor_peers import ListeningSocket, find_owners
from debugger.system.process_info import command_line

# Node's documentation of --inspect.
_DEFAULT_PORT = 9229
# A server may listen at many ports: only the first few are asked, for 0.3 s each.
_PORTS_MAX = 4
_ANSWER_S = 0.3
_ANSWER_MAX = 1 << 12
_WORDS_MAX = 60
_INSPECT = re.compile(
    r"--(?:inspect|inspect-brk|inspect-wait|inspect-port|debug-port)(?:=(?:(?P<host>[\w.\[\]:-]+):)?"
    r"(?P<port>\d+))?\Z"
)
_LISTENS = "0A"  # proc(5), /proc/net/tcp: TCP_LISTEN
_WHO = "JSON.stringify([process.pid,process.execArgv.join(' ')])"
# Node 20's inspector thread crashes where the inspector is closed with a connection: the answer to
# its WebSocket's close may be read before it has noted that its own was written. So it is closed in
# a later turn of the event loop, when ours has ended for long.
_CLOSE_MS = 400
_CLOSE = (
    "setTimeout(()=>(process.getBuiltinModule?.('inspector').close??process._debugEnd)(),"
    f"{_CLOSE_MS}).unref(),0"
)
_BEGIN_TURN = f"{SHARED}.turned=0,setTimeout(()=>{SHARED}.turned=1,0),0"
_HAS_TURNED = f"{SHARED}.turned"
# Seconds for the program to come to its event loop: only there the inspector can be closed.
_TURN_S = 1.0
_CLOSED_S = 2.0
_POLL_S = 0.02
# For a process of another machine, whose pid means nothing here.
_KILL = "process.kill(process.pid,'SIGKILL')"
# Processes whose inspector was opened here, by a signal, and is closed when they are let go of.
_opened: set[int] = set()


def attach_arguments(target: AttachTarget) -> dict[str, Any]:
    """Return the arguments of an attach, after waking a process's inspector if it has none yet.

    Raises:
        DebuggerError: LAUNCH_FAILED for a process that is no Node.
    """
    if target.connect is not None:
        host, port = target.connect
    elif target.pid is not None:
        # A pid alone is no address: an attach to Node is always to its inspector's port. The order
        # of the search: the port that the options name, another port of the process at which an
        # inspector answers, and else SIGUSR1, at which Node opens its inspector at the port of the
        # options. The attach itself then waits for that port, since js-debug tries again until it
        # listens.
        host, port = "127.0.0.1", _inspector_port(target.pid)
    else:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED, "js-debug reads no core files", hint="debugger attach PID"
        )
    return {
        "type": "pwa-node",
        "request": "attach",
        "name": f"{host}:{port}",
        "address": host,
        "port": port,
        # One that waits for a debugger goes on once its breakpoints are set.
        "continueOnAttach": False,
        # To follow its children js-debug would change the environment of what runs, for good.
        "autoAttachChildProcesses": False,
        "attachExistingChildren": False,
    }


def _inspector_port(pid: int) -> int:
    """Return the port of a process's inspector, which SIGUSR1 starts if none listens."""
    # The program file, not the command line: a process may call itself anything.
    exe = _program_name(pid)
    if not exe.startswith("node"):
        # The signal would end it.
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"process {pid} is no Node" + f": it runs {exe}" * bool(exe),
            hint="debugger attach --connect HOST:PORT reaches an inspector that listens",
        )
    requested = _requested_port(pid)
    open_ports = _listening_ports(pid)
    if requested in open_ports:
        return requested
    # One that was given port 0, or had a debugger before, listens somewhere.
    for port in sorted(open_ports)[:_PORTS_MAX]:
        if _is_inspector(port):
            return port
    # Node would log that the address is in use, and go on without an inspector: the attach would
    # then reach the other process.
    if (inode := _all_ports(pid).get(requested)) is not None:
        raise _port_taken_error(pid, ListeningSocket("", requested, int(inode)))
    try:
        os.kill(pid, signal.SIGUSR1)
    except OSError as error:
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"cannot wake process {pid}: {error.strerror}",
            hint="debugger attach lists the processes",
        ) from error
    _opened.add(pid)
    return requested


def _requested_port(pid: int) -> int:
    """Return the port at which a process's inspector is to listen, by its options."""
    port = _DEFAULT_PORT
    # Node reads the command line after NODE_OPTIONS: the last one counts.
    for word in (*_node_options(pid), *command_line(pid)):
        found = _INSPECT.match(word)
        if found is not None and found["port"]:
            port = int(found["port"])
    return port


def _port_taken_error(pid: int, listener: ListeningSocket) -> DebuggerError:
    """Build the error for a process whose inspector would listen at another process's port."""
    found = find_owners([listener])
    holder, hint = "another process does", "end what listens there, or"
    if found:
        words = " ".join(found[0].words)[:_WORDS_MAX] or found[0].name
        holder = f"process {found[0].pid} ({words}) does"
        is_node = found[0].interpreter == "javascript"
        hint = f"debugger attach {found[0].pid} reaches that one;" if is_node else hint
    return DebuggerError(
        ErrorCode.LAUNCH_FAILED,
        f"process {pid} would listen for debuggers at port {listener.port}, where {holder} already",
        hint=f"{hint} start this one with --inspect-port=0: it then takes a port of its own",
    )


def _is_inspector(port: int) -> bool:
    """Return whether the listener at a port of this machine is an inspector of Node's."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_S)
    try:
        connection.request("GET", "/json/version")
        version = json.loads(connection.getresponse().read(_ANSWER_MAX))
        return str(version.get("Browser", "")).startswith("node")
    except (OSError, http.client.HTTPException, ValueError, AttributeError):
        return False
    finally:
        connection.close()


def _program_name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return ""


def _node_options(pid: int) -> list[str]:
    try:
        pairs = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
    found = [one for one in pairs if one.startswith(b"NODE_OPTIONS=")]
    return found[0].decode(errors="replace").partition("=")[2].split() if found else []


def _listening_ports(pid: int) -> set[int]:
    """Return the ports that a process listens at."""
    own: set[str] = set()
    try:
        for one in Path(f"/proc/{pid}/fd").iterdir():
            name = str(one.readlink())
            if name.startswith("socket:["):
                own.add(name[len("socket:[") : -1])
    except OSError:
        return set()
    return {port for port, inode in _all_ports(pid).items() if inode in own}


def _all_ports(pid: int) -> dict[int, str]:
    """Return the listening ports of a process's network namespace, with each socket's inode.

    From proc(5), /proc/net/tcp.
    """
    try:
        # Of the process's own network namespace: in a container others listen.
        rows = Path(f"/proc/{pid}/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return {}
    fields = [row.split() for row in rows]
    return {int(one[1].rpartition(":")[2], 16): one[9] for one in fields if one[3] == _LISTENS}


async def close_inspector(connection: AdapterConnection) -> str | None:
    """Close the inspector that an attach opened; return a note where it stays open."""
    pid = connection.attach_target.pid if connection.attach_target is not None else None
    if pid is None or pid not in _opened or connection.breakpoint_sender is None:
        return None
    _opened.discard(pid)
    try:
        # A detach from Node in its order:
        #
        # 1. All breakpoints and exception filters go, so that nothing stops the program any more.
        # 2. The program is continued, if it is stopped, until a turn of its event loop is seen. One
        #    that computes comes to none: the note says then that the inspector stays open.
        # 3. An expression plans the closing of the inspector, and we disconnect well before it.
        async with asyncio.timeout(_TURN_S):
            await connection.breakpoint_sender.clear_all()
            await _wait_turn(connection)
        async with asyncio.timeout(_CLOSED_S):
            await connection.evaluate(_CLOSE, None, EvaluationPurpose.PRINT)
            going_on = ask.DisconnectArguments(terminate_debuggee=False)
            await connection.send_request("disconnect", going_on, dap.DapBody)
            while _requested_port(pid) in _listening_ports(pid):  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(_POLL_S)
    except TimeoutError:
        return _note_left_open(pid, ", for the program does not come back to its event loop")
    except DebuggerError:
        return _note_left_open(pid)
    return None


async def _wait_turn(connection: AdapterConnection) -> None:
    """Wait until the program has come to its event loop."""
    await connection.evaluate(_BEGIN_TURN, None, EvaluationPurpose.PRINT)
    with suppress(DebuggerError):  # it runs
        await connection.send_request("continue", ask.ThreadArguments(0), dap.DapBody)
    while True:
        turned = await connection.evaluate(_HAS_TURNED, None, EvaluationPurpose.PRINT)
        if turned.value == "1":
            return
        await asyncio.sleep(_POLL_S)


def _note_left_open(pid: int, why: str = "") -> str | None:
    """Return the note on an inspector that still listens; the next detach tries again."""
    port = _requested_port(pid)
    if port not in _listening_ports(pid):
        return None
    _opened.add(pid)
    return (
        f"its inspector, which attach opened, could not be closed{why}: it still listens at "
        f"127.0.0.1:{port}, for anybody on this machine"
    )


def end_process(connection: AdapterConnection) -> None:
    """End the process: js-debug 1.112 only disconnects from one that it did not start."""
    pid = connection.attach_target.pid if connection.attach_target is not None else None
    if pid is None:
        connection.post_request("evaluate", ask.EvaluateArguments(_KILL, "watch"))
        return
    _opened.discard(pid)
    with suppress(OSError):  # it has ended
        os.kill(pid, signal.SIGKILL)


async def wait_for_start(
    connection: AdapterConnection, launch: PendingLaunch, *, within_s: float
) -> None:
    """Report which process was reached, and wait for the stop of one that waits for a debugger."""
    try:
        answer = await connection.evaluate(_WHO, None, EvaluationPurpose.PRINT)
        # js-debug shows a text in single quotes, with backslashes doubled.
        pid, options = json.loads(answer.value.strip("'").replace("\\\\", "\\"))
    except (DebuggerError, ValueError):
        return
    connection.report_event(ProcessStarted(pid))
    if _program_name(pid).startswith("node"):  # else it is a process of another machine
        dap_transport.disable_nagle(pid)
    # Node stops before the first line then; without this report nobody would continue the program.
    if "--inspect-brk" in options and await launch.wait_first_stop(within_s) is not None:
        launch.report_first_stop()
