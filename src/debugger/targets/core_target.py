"""Checks a core file, and finds its program and the adapter that reads it."""

from __future__ import annotations

import os.path

from debugger.backends.base import AttachTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.symbols import core_file
from debugger.symbols.program_file import inspect_program
from debugger.targets.attach_request import AttachRequest, PreparedAttach, choose_adapter, file_of


def to_core(wanted: AttachRequest, name: str) -> PreparedAttach:
    """Return how to look at a core file.

    Raises:
        DebuggerError: NOT_FOUND for what is no core file or of another program, NOT_SUPPORTED,
            ADAPTER_NOT_FOUND.
    """
    path = file_of(name, wanted.cwd, "debugger attach --core FILE PROGRAM")
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
    program = _program_of(core, path, wanted)
    of = core_file.explain_mismatch(core, program, core_file.read_build_id(program))
    if of is not None:
        found = core.program if os.path.exists(core.program) else "PROGRAM"
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"{path} is not a core file of {program}, but of {of}",
            hint=f"debugger attach --core {name} {found}",
        )
    kind = inspect_program(program).language or "native"
    profile = choose_adapter(wanted, kind, program)
    if not {kind, "native"} & set(profile.languages):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{profile.name} reads no core files of {kind} programs",
            hint=f"debugger attach --core {name} {program}",
        )
    target = AttachTarget(
        pid=None, core=path, program=program, cwd=wanted.cwd, env=wanted.env, pause=True
    )
    return PreparedAttach(target, profile, _core_notes(core, path))


def _program_of(core: core_file.CoreFile, path: str, wanted: AttachRequest) -> str:
    if wanted.what is not None:
        return file_of(wanted.what, wanted.cwd, f"debugger attach --core {path} PROGRAM")
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
