"""Checks a core file, and finds its program and the adapter that reads it."""

from __future__ import annotations

import os.path

from debugger.backends.base import Attach
from debugger.errors import Code, DebuggerError
from debugger.setup.attached import Prepared, Wanted, adapter, file_of
from debugger.targets import core_file
from debugger.targets.program import look


def to_core(wanted: Wanted, name: str) -> Prepared:
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
            Code.NOT_FOUND, f"{path} {no}", hint="debugger attach --core FILE PROGRAM"
        ) from no
    except OSError as error:
        raise DebuggerError(
            Code.NOT_FOUND, f"cannot read {path}: {error.strerror}", hint=f"chmod u+r {path}"
        ) from error
    program = _program_of(core, path, wanted)
    of = core_file.mismatch(core, program, core_file.read_build_id(program))
    if of is not None:
        found = core.program if os.path.exists(core.program) else "PROGRAM"
        raise DebuggerError(
            Code.NOT_FOUND,
            f"{path} is not a core file of {program}, but of {of}",
            hint=f"debugger attach --core {name} {found}",
        )
    kind = look(program).language or "native"
    profile = adapter(wanted, kind, program)
    if not {kind, "native"} & set(profile.languages):
        raise DebuggerError(
            Code.NOT_SUPPORTED,
            f"{profile.name} reads no core files of {kind} programs",
            hint=f"debugger attach --core {name} {program}",
        )
    target = Attach(
        pid=None, core=path, program=program, cwd=wanted.cwd, env=wanted.env, pause=True
    )
    return Prepared(target, profile, _notes(core, path))


def _program_of(core: core_file.Core, path: str, wanted: Wanted) -> str:
    if wanted.what is not None:
        return file_of(wanted.what, wanted.cwd, f"debugger attach --core {path} PROGRAM")
    if os.path.isfile(core.program):
        return core.program
    of = core.program or core.name
    raise DebuggerError(
        Code.NOT_FOUND,
        f"{path} is of {of}, which is not there" if of else f"{path} does not say what it is of",
        hint=f"debugger attach --core {path} PROGRAM",
    )


def _notes(core: core_file.Core, path: str) -> tuple[str, ...]:
    if not core.missing:
        return ()
    return (
        f"{path} is cut off: {core.missing} bytes are missing, so stacks and values may be too",
    )
