"""Resolves an `attach` command to a process, core file or server, and its adapter."""

from __future__ import annotations

import os.path
import re
from collections.abc import Sequence

from debugger.backends import select_backend
from debugger.backends.base import AttachTarget
from debugger.backends.dap.debug_adapter import DebugAdapter
from debugger.errors import DebuggerError, ErrorCode
from debugger.symbols import core_file
from debugger.symbols.program_file import inspect_program
from debugger.system import descriptor_peers
from debugger.system import process_info as processes
from debugger.system.process_info import ProcessInfo
from debugger.targets.attach_request import (
    AttachRequest,
    PreparedAttach,
    adapter_names,
    choose_adapter,
    file_of,
    is_named,
)
from debugger.targets.attachable_processes import describe_attachable
from debugger.targets.kernel_target import to_kernel
from debugger.targets.process_target import (
    PS,
    attach_refusal,
    process_by_name,
    process_by_pid,
    shorten_command,
    to_process,
)

_PORT_MAX = 65535
_SERVERS = (
    "start one: python -m debugpy --listen 5678 APP.py; node --inspect=9229 APP.js; "
    "rdbg --open --port 12345 APP.rb; lldb-server gdbserver :1234 PROGRAM; "
    "java -agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=5005 …"
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
    adapter = choose_adapter(request, "", where) if is_named(request) else None
    # Only a listener on this machine can be looked up. Some adapters listen there themselves.
    listens = adapter is not None and adapter.server is not None and adapter.server.open_link
    if not listens and any(descriptor_peers.is_here(one) for one in addresses):
        serving = descriptor_peers.filter_by_port(
            descriptor_peers.list_listeners(), addresses, port
        )
        # Otherwise the listener may be another user's, whose sockets are invisible.
        if not serving and descriptor_peers.sees_all():
            raise DebuggerError(ErrorCode.NOT_FOUND, f"nothing listens at {where}", hint=_SERVERS)
        adapter = adapter or _adapter_behind(descriptor_peers.find_owners(serving), where, request)
    if adapter is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"the server's process at {where} cannot be read from here",
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
    return PreparedAttach(target, adapter)


def explain_no_answer(error: DebuggerError, prepared: PreparedAttach) -> DebuggerError:
    """Add to a failed attach that the listener may be no debug server."""
    assert prepared.target.connect is not None
    host, port = prepared.target.connect
    name = prepared.adapter.name
    if error.code not in _FAILURES or "cannot listen" in error.message:
        return error
    if error.message.startswith("cannot connect"):
        return DebuggerError(error.code, error.message, hint=_SERVERS)
    code = ErrorCode.TIMEOUT if error.code is ErrorCode.TIMEOUT else ErrorCode.ADAPTER_FAILED
    return DebuggerError(
        code,
        f"the server at {host}:{port} is not a debug server for {name}, or serves another client: "
        f"{error.message.strip()}",
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
) -> DebugAdapter | None:
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
        f"the server at {where} is not a known debug server: "
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
    if process.interpreter == "java":
        return "java"  # its agent may have been named by a variable, or by an option's file
    if process.interpreter == "ruby":
        return "ruby"  # `rdbg --open` leaves no trace in the words of what it runs
    # Its inspector may have been switched on after its start, by a signal.
    return process.interpreter if process.interpreter == "javascript" else ""


def to_core(request: AttachRequest, name: str) -> PreparedAttach:
    """Prepare the inspection of a core file.

    Raises:
        DebuggerError: NOT_FOUND for a file that is no core, or is of another program,
        NOT_SUPPORTED, ADAPTER_NOT_FOUND.
    """
    path = file_of(name, request.cwd, f"debugger {request.verb} --core FILE PROGRAM")
    try:
        core = core_file.read_core(path)
    except core_file.NotACore as no:
        raise DebuggerError(
            ErrorCode.NOT_FOUND, f"{path} {no}", hint=f"debugger {request.verb} --core FILE PROGRAM"
        ) from no
    except OSError as error:
        raise DebuggerError(
            ErrorCode.NOT_FOUND, f"cannot read {path}: {error.strerror}", hint=f"chmod u+r {path}"
        ) from error
    program = _program_of(core, path, request)
    of = core_file.explain_mismatch(core, program, core_file.read_build_id(program))
    if of is not None:
        found = core.program if os.path.exists(core.program) else "PROGRAM"
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"{path} is not a core file of {program}, but of {of}",
            hint=f"debugger {request.verb} --core {name} {found}",
        )
    inspected = inspect_program(program)
    kind = inspected.language or "native"
    adapter = choose_adapter(request, kind, program, inspected.type_language)
    if not {kind, "native"} & set(adapter.languages):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{adapter.name} reads no core files of {kind} programs",
            hint=f"debugger attach --core {name} {program}",
        )
    target = AttachTarget(
        pid=None, core=path, program=program, cwd=request.cwd, env=request.env, pause=True
    )
    return PreparedAttach(target, adapter, _core_notes(core, path))


def _program_of(core: core_file.CoreFile, path: str, request: AttachRequest) -> str:
    if request.what is not None:
        return file_of(request.what, request.cwd, f"debugger attach --core {path} PROGRAM")
    if os.path.isfile(core.program):
        return core.program
    of = core.program or core.name
    raise DebuggerError(
        ErrorCode.NOT_FOUND,
        f"{path} is of {of}, which is not there" if of else f"{path} does not say what it is of",
        hint=f"debugger attach --core {path} PROGRAM",
    )


def _core_notes(core: core_file.CoreFile, path: str) -> tuple[str, ...]:
    if not core.missing:
        return ()
    return (
        f"{path} is cut off: {core.missing} bytes are missing, so stacks and values may be too",
    )


_WAYS = (
    "debugger attach PID, --name NAME, --core FILE PROGRAM, --connect HOST:PORT, --kernel FILE "
    "or --simulator NAME --bundle-id ID"
)


def prepare_attach(request: AttachRequest) -> PreparedAttach:
    """Prepare an attach; a host's name resolution may take time.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, NOT_SUPPORTED, DENIED, WRONG_STATE or ADAPTER_NOT_FOUND,
        each with a remedy.
    """
    words = (request.what, request.name, request.core, request.connect, request.kernel)
    if any("\0" in word for word in words if word):
        raise DebuggerError(ErrorCode.USAGE, "a NUL in an argument", hint="debugger attach --help")
    ways = [one for one in words[1:] if one is not None]
    alone = request.name if request.kernel is None else request.kernel
    if len(ways) > 1 or (alone is not None and request.what is not None):
        raise DebuggerError(ErrorCode.USAGE, "one thing to attach to, please", hint=_WAYS)
    if request.core is not None:
        return to_core(request, request.core)
    if request.connect is not None:
        return to_server(request, request.connect)
    if request.kernel is not None:
        return to_kernel(request, request.kernel)
    if request.name is not None:
        return to_process(request, process_by_name(request.name, list(processes.list_processes())))
    if request.what is None:
        everything = list(processes.list_processes())
        text = describe_attachable("attach to what?", everything, request.held)
        raise DebuggerError(ErrorCode.USAGE, text, hint=_WAYS)
    return to_process(request, process_by_pid(request.what))


def check_alone(*others: str | None) -> None:
    """Check that with a simulator no other attach target is named.

    Raises:
        DebuggerError: USAGE.
    """
    if any(one is not None for one in others):
        raise DebuggerError(ErrorCode.USAGE, "one thing to attach to, please", hint=_WAYS)


def explain_attach_error(error: DebuggerError, prepared: PreparedAttach) -> DebuggerError:
    """Add later knowledge to a failed attach: the process ended, or may not be traced."""
    if prepared.target.connect is not None:
        return explain_no_answer(error, prepared)
    pid = prepared.target.pid
    if pid is None or not processes.has_proc():
        return error
    process = processes.look_at(pid)
    if process is None or process.state in {"Z", "X"}:
        return DebuggerError(
            ErrorCode.NOT_FOUND,
            f"process {pid} ended while {prepared.adapter.name} attached to it",
            hint=PS,
        )
    refused = attach_refusal(process, prepared.adapter)
    if refused is None or error.code not in {ErrorCode.LAUNCH_FAILED, ErrorCode.ADAPTER_FAILED}:
        return error
    return DebuggerError(
        ErrorCode.DENIED, f"{refused.reason} ({error.message.strip()})", hint=refused.remedy
    )
