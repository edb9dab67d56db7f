"""What an `attach` command means: which process, core file or server, and which adapter."""

from __future__ import annotations

from debugger.errors import Code, DebuggerError
from debugger.setup.attached import Prepared, Wanted
from debugger.setup.cores import to_core
from debugger.setup.processes import PS, named, numbered, refusal, to_process
from debugger.setup.servers import to_server, unanswered
from debugger.targets import process as processes

_WAYS = (
    "debugger attach PID, --name NAME, --core FILE PROGRAM, --connect HOST:PORT "
    "or --simulator NAME --bundle-id ID"
)


def prepare(wanted: Wanted) -> Prepared:
    """Return what to attach to; it may wait for the resolver to find a host.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, NOT_SUPPORTED, DENIED, WRONG_STATE or ADAPTER_NOT_FOUND,
            each with what to do about it.
    """
    words = (wanted.what, wanted.name, wanted.core, wanted.connect)
    if any("\0" in word for word in words if word):
        raise DebuggerError(Code.USAGE, "a NUL in an argument", hint="debugger attach --help")
    ways = [one for one in (wanted.name, wanted.core, wanted.connect) if one is not None]
    if len(ways) > 1 or (wanted.name is not None and wanted.what is not None):
        raise DebuggerError(Code.USAGE, "one thing to attach to, please", hint=_WAYS)
    if wanted.core is not None:
        return to_core(wanted, wanted.core)
    if wanted.connect is not None:
        return to_server(wanted, wanted.connect)
    if wanted.name is not None:
        return to_process(wanted, named(wanted.name, list(processes.every())))
    if wanted.what is None:
        raise DebuggerError(Code.USAGE, "attach to what?", hint=_WAYS)
    return to_process(wanted, numbered(wanted.what))


def check_alone(*others: str | None) -> None:
    """Check that with a simulator no other thing to attach to is named.

    Raises:
        DebuggerError: USAGE.
    """
    if any(one is not None for one in others):
        raise DebuggerError(Code.USAGE, "one thing to attach to, please", hint=_WAYS)


def explained(error: DebuggerError, prepared: Prepared) -> DebuggerError:
    """Say of a failed attach what is known now: that the process ended, or may not be traced."""
    if prepared.target.connect is not None:
        return unanswered(error, prepared)
    pid = prepared.target.pid
    if pid is None or not processes.has_proc():
        return error
    process = processes.look_at(pid)
    if process is None or process.state in {"Z", "X"}:
        return DebuggerError(
            Code.NOT_FOUND,
            f"process {pid} ended while {prepared.profile.name} attached to it",
            hint=PS,
        )
    refused = refusal(process, prepared.profile)
    if refused is None or error.code not in {Code.LAUNCH_FAILED, Code.ADAPTER_FAILED}:
        return error
    return DebuggerError(
        Code.DENIED, f"{refused.reason} ({error.message.strip()})", hint=refused.remedy
    )


__all__ = ["Prepared", "Wanted", "check_alone", "explained", "prepare"]
