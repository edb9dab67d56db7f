"""Finds the debug server to connect to, and the adapter for its protocol."""

from __future__ import annotations

import re
from collections.abc import Sequence

from debugger.backends import select_backend
from debugger.backends.base import AttachTarget
from debugger.backends.dap.adapter_profile import AdapterProfile
from debugger.errors import DebuggerError, ErrorCode
from debugger.system import descriptor_peers
from debugger.system.process_info import ProcessInfo
from debugger.targets.attach_request import (
    AttachRequest,
    PreparedAttach,
    adapter_names,
    choose_adapter,
    file_of,
    is_named,
)
from debugger.targets.process_target import shorten_command

_PORT_MAX = 65535
_SERVERS = (
    "start one: python -m debugpy --listen 5678 APP.py; node --inspect=9229 APP.js; "
    "lldb-server gdbserver :1234 PROGRAM"
)
_FAILURES = frozenset(
    {
        ErrorCode.ADAPTER_DIED,
        ErrorCode.ADAPTER_FAILED,
        ErrorCode.LAUNCH_FAILED,
        ErrorCode.PROTOCOL,
        ErrorCode.TIMEOUT,
    }
)
_HOST_PORT = re.compile(r"(?:(?P<host>[^:\[\]]*|\[[0-9a-fA-F:.%\w]+\]):)?(?P<port>\d{1,5})\Z")
# What speaks the protocol of gdb's remote debugging, by the beginning of its name.
_STUBS = ("lldb-server", "gdbserver", "debugserver", "qemu-")


def to_server(request: AttachRequest, place: str) -> PreparedAttach:
    """Prepare an attach to a debug server.

    Raises:
        DebuggerError: USAGE, NOT_FOUND if nothing listens there, NOT_SUPPORTED if the listener is
        no debug server, ADAPTER_NOT_FOUND.
    """
    host, port = _parse_address(place)
    where = f"{host}:{port}"
    program = None
    if request.what is not None:
        program = file_of(request.what, request.cwd, f"debugger attach --connect {where} PROGRAM")
    try:
        addresses = descriptor_peers.addresses_of(host, port)
    except (OSError, UnicodeError) as error:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no such host: {host}",
            hint="debugger attach --connect HOST:PORT",
        ) from error
    profile = choose_adapter(request, "", where) if is_named(request) else None
    # Only a listener on this machine can be looked up.
    if any(descriptor_peers.is_here(one) for one in addresses):
        serving = descriptor_peers.filter_by_port(
            descriptor_peers.list_listeners(), addresses, port
        )
        # Otherwise the listener may be another user's, whose sockets are invisible.
        if not serving and descriptor_peers.sees_all():
            raise DebuggerError(ErrorCode.NOT_FOUND, f"nobody listens at {where}", hint=_SERVERS)
        profile = profile or _adapter_behind(descriptor_peers.find_owners(serving), where, request)
    if profile is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"what listens at {where} cannot be seen from here",
            hint=f"debugger attach --connect {where} --adapter NAME ({adapter_names(request)})",
        )
    target = AttachTarget(
        pid=None,
        connect=(host, port),
        program=program,
        cwd=request.cwd,
        env=request.env,
        pause=request.pause,
    )
    return PreparedAttach(target, profile)


def explain_no_answer(error: DebuggerError, prepared: PreparedAttach) -> DebuggerError:
    """Add to a failed attach that the listener may be no debug server."""
    assert prepared.target.connect is not None
    host, port = prepared.target.connect
    name = prepared.profile.name
    if error.code not in _FAILURES:
        return error
    if error.message.startswith("cannot connect"):
        return DebuggerError(error.code, error.message, hint=_SERVERS)
    code = ErrorCode.TIMEOUT if error.code is ErrorCode.TIMEOUT else ErrorCode.ADAPTER_FAILED
    return DebuggerError(
        code,
        f"what listens at {host}:{port} is no debug server that {name} can speak with, or serves "
        f"another client: {error.message.strip()}",
        hint=_SERVERS,
    )


def _parse_address(place: str) -> tuple[str, int]:
    match = _HOST_PORT.match(place.strip())
    port = int(match["port"]) if match else 0
    if match is None or not 1 <= port <= _PORT_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"not HOST:PORT: {place!r}",
            hint="debugger attach --connect localhost:5678",
        )
    return (match["host"] or "localhost").strip("[]"), port


def _adapter_behind(
    owners: Sequence[ProcessInfo], where: str, request: AttachRequest
) -> AdapterProfile | None:
    """Choose the adapter by the listening process; None if that is not visible.

    Raises:
        DebuggerError: NOT_SUPPORTED if it is no debug server.
    """
    for one in owners:
        language = server_language(one)
        if language:
            return choose_adapter(request, language, f"process {one.pid} ({shorten_command(one)})")
    if not owners:
        return None
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"what listens at {where} is no debug server that is known here: "
        f"process {owners[0].pid} ({shorten_command(owners[0])})",
        hint=f"debugger attach --connect {where} --adapter NAME ({adapter_names(request)})",
    )


def server_language(process: ProcessInfo) -> str:
    """Return the language of a debug server; "" for any other process."""
    if process.program_name.startswith(_STUBS):
        return "native"
    if process.program_name == "dlv":
        return "go"
    if process.interpreter == "python":
        is_server = any(select_backend.PYTHON_ADAPTER in word for word in process.words)
        return "python" if is_server else ""
    if process.interpreter == "ruby":
        return "ruby" if any("rdbg" in word for word in process.words) else ""
    # Its inspector may have been switched on after its start, by a signal.
    return process.interpreter if process.interpreter == "javascript" else ""
