"""Resolves an `attach` command to a process, core file or server, and its adapter."""

from __future__ import annotations

import os.path

from debugger.backends.base import AttachTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.symbols import core_file
from debugger.symbols.program_file import inspect_program
from debugger.system import process_info as processes
from debugger.targets.attach_request import AttachRequest, PreparedAttach, choose_adapter, file_of
from debugger.targets.process_target import (
    PS,
    attach_refusal,
    process_by_name,
    process_by_pid,
    to_process,
)
from debugger.targets.server_target import explain_no_answer, to_server


def to_core(request: AttachRequest, name: str) -> PreparedAttach:
    """Prepare the inspection of a core file.

    Raises:
        DebuggerError: NOT_FOUND for a file that is no core, or is of another program,
        NOT_SUPPORTED, ADAPTER_NOT_FOUND.
    """
    path = file_of(name, request.cwd, "debugger attach --core FILE PROGRAM")
    try:
        core = core_file.read_core(path)
    except core_file.NotACore as no:
        raise DebuggerError(
            ErrorCode.NOT_FOUND, f"{path} {no}", hint="debugger attach --core FILE PROGRAM"
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
            hint=f"debugger attach --core {name} {found}",
        )
    kind = inspect_program(program).language or "native"
    profile = choose_adapter(request, kind, program)
    if not {kind, "native"} & set(profile.languages):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{profile.name} reads no core files of {kind} programs",
            hint=f"debugger attach --core {name} {program}",
        )
    target = AttachTarget(
        pid=None, core=path, program=program, cwd=request.cwd, env=request.env, pause=True
    )
    return PreparedAttach(target, profile, _core_notes(core, path))


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
    "debugger attach PID, --name NAME, --core FILE PROGRAM, --connect HOST:PORT "
    "or --simulator NAME --bundle-id ID"
)


def prepare_attach(request: AttachRequest) -> PreparedAttach:
    """Prepare an attach; a host's name resolution may take time.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, NOT_SUPPORTED, DENIED, WRONG_STATE or ADAPTER_NOT_FOUND,
        each with a remedy.
    """
    words = (request.what, request.name, request.core, request.connect)
    if any("\0" in word for word in words if word):
        raise DebuggerError(ErrorCode.USAGE, "a NUL in an argument", hint="debugger attach --help")
    ways = [one for one in (request.name, request.core, request.connect) if one is not None]
    if len(ways) > 1 or (request.name is not None and request.what is not None):
        raise DebuggerError(ErrorCode.USAGE, "one thing to attach to, please", hint=_WAYS)
    if request.core is not None:
        return to_core(request, request.core)
    if request.connect is not None:
        return to_server(request, request.connect)
    if request.name is not None:
        return to_process(request, process_by_name(request.name, list(processes.list_processes())))
    if request.what is None:
        raise DebuggerError(ErrorCode.USAGE, "attach to what?", hint=_WAYS)
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
            f"process {pid} ended while {prepared.profile.name} attached to it",
            hint=PS,
        )
    refused = attach_refusal(process, prepared.profile)
    if refused is None or error.code not in {ErrorCode.LAUNCH_FAILED, ErrorCode.ADAPTER_FAILED}:
        return error
    return DebuggerError(
        ErrorCode.DENIED, f"{refused.reason} ({error.message.strip()})", hint=refused.remedy
    )
