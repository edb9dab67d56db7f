"""What an `attach` command means: which process, core file or server, and which adapter."""

from __future__ import annotations

from debugger.errors import DebuggerError, ErrorCode
from debugger.system import process_info as processes
from debugger.targets.attach_request import AttachRequest, PreparedAttach
from debugger.targets.core_target import to_core
from debugger.targets.process_target import (
    PS,
    attach_refusal,
    process_by_name,
    process_by_pid,
    to_process,
)
from debugger.targets.server_target import explain_no_answer, to_server

_WAYS = (
    "debugger attach PID, --name NAME, --core FILE PROGRAM, --connect HOST:PORT "
    "or --simulator NAME --bundle-id ID"
)


def prepare_attach(wanted: AttachRequest) -> PreparedAttach:
    """Return what to attach to; it may wait for the resolver to find a host.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, NOT_SUPPORTED, DENIED, WRONG_STATE or ADAPTER_NOT_FOUND,
            each with what to do about it.
    """
    words = (wanted.what, wanted.name, wanted.core, wanted.connect)
    if any("\0" in word for word in words if word):
        raise DebuggerError(ErrorCode.USAGE, "a NUL in an argument", hint="debugger attach --help")
    ways = [one for one in (wanted.name, wanted.core, wanted.connect) if one is not None]
    if len(ways) > 1 or (wanted.name is not None and wanted.what is not None):
        raise DebuggerError(ErrorCode.USAGE, "one thing to attach to, please", hint=_WAYS)
    if wanted.core is not None:
        return to_core(wanted, wanted.core)
    if wanted.connect is not None:
        return to_server(wanted, wanted.connect)
    if wanted.name is not None:
        return to_process(wanted, process_by_name(wanted.name, list(processes.list_processes())))
    if wanted.what is None:
        raise DebuggerError(ErrorCode.USAGE, "attach to what?", hint=_WAYS)
    return to_process(wanted, process_by_pid(wanted.what))


def check_alone(*others: str | None) -> None:
    """Check that with a simulator no other thing to attach to is named.

    Raises:
        DebuggerError: USAGE.
    """
    if any(one is not None for one in others):
        raise DebuggerError(ErrorCode.USAGE, "one thing to attach to, please", hint=_WAYS)


def explain_attach_error(error: DebuggerError, prepared: PreparedAttach) -> DebuggerError:
    """Say of a failed attach what is known now: that the process ended, or may not be traced."""
    if prepared.target.connect is not None:
        return explain_no_answer(error, prepared)
    pid = prepared.target.pid
    if pid is None or not processes.has_proc():
        return error
    process = processes.look_at(pid)
    if process is None or process.state in {"Z", "X"}:
        return DebuggerError(
            ErrorCode.NOT_FOUND,
            f"process {pid} ended while {prepared.profile.name} attached to it",
            hint=PS,
        )
    refused = attach_refusal(process, prepared.profile)
    if refused is None or error.code not in {ErrorCode.LAUNCH_FAILED, ErrorCode.ADAPTER_FAILED}:
        return error
    return DebuggerError(
        ErrorCode.DENIED, f"{refused.reason} ({error.message.strip()})", hint=refused.remedy
    )


__all__ = [
    "AttachRequest",
    "PreparedAttach",
    "check_alone",
    "explain_attach_error",
    "prepare_attach",
]
