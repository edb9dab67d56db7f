"""Finds the debug server to connect to, and the adapter that speaks with it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from debugger.backends.base import Attach
from debugger.backends.dap.profile import Profile
from debugger.errors import Code, DebuggerError
from debugger.setup.attached import Prepared, Wanted, adapter, adapters, file_of, is_named
from debugger.setup.processes import shown
from debugger.targets import listening
from debugger.targets.process import Process

_PORT_MAX = 65535
_SERVERS = (
    "start one: python -m debugpy --listen 5678 APP.py; node --inspect=9229 APP.js; "
    "lldb-server gdbserver :1234 PROGRAM"
)
_FAILURES = frozenset(
    {Code.ADAPTER_DIED, Code.ADAPTER_FAILED, Code.LAUNCH_FAILED, Code.PROTOCOL, Code.TIMEOUT}
)
_HOST_PORT = re.compile(r"(?:(?P<host>[^:\[\]]*|\[[0-9a-fA-F:.%\w]+\]):)?(?P<port>\d{1,5})\Z")
# What speaks the protocol of gdb's remote debugging, by the beginning of its name.
_STUBS = ("lldb-server", "gdbserver", "debugserver", "qemu-")


def to_server(wanted: Wanted, place: str) -> Prepared:
    """Return how to attach to a debug server.

    Raises:
        DebuggerError: USAGE, NOT_FOUND if nobody listens there, NOT_SUPPORTED if what listens is
            none, ADAPTER_NOT_FOUND.
    """
    host, port = _address(place)
    where = f"{host}:{port}"
    program = None
    if wanted.what is not None:
        program = file_of(wanted.what, wanted.cwd, f"debugger attach --connect {where} PROGRAM")
    try:
        addresses = listening.addresses_of(host, port)
    except (OSError, UnicodeError) as error:
        raise DebuggerError(
            Code.NOT_FOUND,
            f"no such host: {host}",
            hint="debugger attach --connect HOST:PORT",
        ) from error
    profile = adapter(wanted, "", where) if is_named(wanted) else None
    if any(listening.is_here(one) for one in addresses):
        serving = listening.serving(listening.listeners(), addresses, port)
        if not serving and listening.sees_all():
            raise DebuggerError(Code.NOT_FOUND, f"nobody listens at {where}", hint=_SERVERS)
        profile = profile or _behind(listening.owners(serving), where, wanted)
    if profile is None:
        raise DebuggerError(
            Code.USAGE,
            f"what listens at {where} cannot be seen from here",
            hint=f"debugger attach --connect {where} --adapter NAME ({adapters(wanted)})",
        )
    target = Attach(
        pid=None,
        connect=(host, port),
        program=program,
        cwd=wanted.cwd,
        env=wanted.env,
        pause=wanted.pause,
    )
    return Prepared(target, profile)


def unanswered(error: DebuggerError, prepared: Prepared) -> DebuggerError:
    """Say of a failed attach that what listens is perhaps no debug server."""
    assert prepared.target.connect is not None
    host, port = prepared.target.connect
    name = prepared.profile.name
    if error.code not in _FAILURES:
        return error
    if error.message.startswith("cannot connect"):
        return DebuggerError(error.code, error.message, hint=_SERVERS)
    code = Code.TIMEOUT if error.code is Code.TIMEOUT else Code.ADAPTER_FAILED
    return DebuggerError(
        code,
        f"what listens at {host}:{port} is no debug server that {name} can speak with, or serves "
        f"another client: {error.message.strip()}",
        hint=_SERVERS,
    )


def _address(place: str) -> tuple[str, int]:
    match = _HOST_PORT.match(place.strip())
    port = int(match["port"]) if match else 0
    if match is None or not 1 <= port <= _PORT_MAX:
        raise DebuggerError(
            Code.USAGE, f"not HOST:PORT: {place!r}", hint="debugger attach --connect localhost:5678"
        )
    return (match["host"] or "localhost").strip("[]"), port


def _behind(owners: Sequence[Process], where: str, wanted: Wanted) -> Profile | None:
    """Choose the adapter by who listens; None where nobody can be seen.

    Raises:
        DebuggerError: NOT_SUPPORTED if it is no debug server.
    """
    for one in owners:
        language = server_language(one)
        if language:
            return adapter(wanted, language, f"process {one.pid} ({shown(one)})")
    if not owners:
        return None
    raise DebuggerError(
        Code.NOT_SUPPORTED,
        f"what listens at {where} is no debug server that is known here: "
        f"process {owners[0].pid} ({shown(owners[0])})",
        hint=f"debugger attach --connect {where} --adapter NAME ({adapters(wanted)})",
    )


def server_language(process: Process) -> str:
    """Return the language that a debug server is for; "" for what is none."""
    if process.program.startswith(_STUBS):
        return "native"
    if process.program == "dlv":
        return "go"
    if process.interpreter == "python":
        return "python" if any("debugpy" in word for word in process.words) else ""
    if process.interpreter == "ruby":
        return "ruby" if any("rdbg" in word for word in process.words) else ""
    # Its inspector may have been switched on after its start, by a signal.
    return process.interpreter if process.interpreter == "javascript" else ""
