"""Makes a function return at once, and refuses values that cannot be set for good."""

from __future__ import annotations

import re
from collections.abc import Sequence

from debugger.backends.abilities import RawCommandAbility
from debugger.errors import DebuggerError, ErrorCode
from debugger.session import inspection, source_files
from debugger.session.session import Session

_GDB, _LLDB = "return", "thread return"
_WAYS = {"gdb": _GDB, "lldb-dap": _LLDB, "codelldb": _LLDB, "lldb": _LLDB}
_LLDB_CLI = "lldb-cli"
_OTHER = {
    "frida": "debugger start PROGRAM --adapter lldb-dap, or gdb, can",
    "delve": "set what it returns from: debugger try 'x=3'",
    "debugpy": "set what it returns from: debugger try 'x=3'; debugger jump LINE, to its return",
    "js-debug": "set what it returns from: debugger try 'x=3'",
}


def check_can_return(session: Session) -> None:
    """Check that the debugger can force a return.

    Raises:
        DebuggerError: NOT_SUPPORTED, with what else can be tried.
    """
    if session.adapter in _WAYS or session.backend_kind == _LLDB_CLI:
        return
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"{session.adapter} cannot make a function return",
        hint=_OTHER.get(session.adapter, "set values: debugger try 'x=3'"),
    )


def copied_variables(file: str | None, names: Sequence[str]) -> list[str]:
    """Say which of the variables that were set the program may not read again.

    rustc keeps a copy for debuggers of what is bound once, and goes on with its own. Go's compiler,
    without optimisation too, goes on with what an earlier line has in a register: delve sets the
    memory, and cannot set registers.
    """
    plain = [one for one in names if one.isidentifier()]
    if file is not None and file.endswith(".go") and plain:
        return [f"{', '.join(plain)}: Go may hold it in a register, and not see the change"]
    if file is None or not file.endswith(".rs"):
        return []
    text = "\n".join(source_files.read_source(file) or ())
    fixed = [one for one in plain if not re.search(rf"\bmut\s+{one}\b", text)]
    if not fixed:
        return []
    return [f"not mut: {', '.join(fixed)}: Rust may hold it elsewhere, and not see the change"]


async def force_return(session: Session, value: str | None) -> None:
    """Make the function of the current frame return; nothing of it runs (a job).

    Raises:
        DebuggerError: EVALUATION_FAILED for a value that cannot be one of its type.
    """
    words = _WAYS.get(session.adapter, _LLDB)
    before = (await inspection.frame_of(session)).function
    debugger = session.backend.find_ability(RawCommandAbility)
    said = await debugger.run_raw(
        f"{words} {value}" if value is not None else words, await inspection.frame_of(session)
    )
    if said.lstrip().lower().startswith("error"):
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{before} cannot return {value or 'nothing'}: {said.strip()[:300]}",
            hint="debugger try 'return VALUE', of the function's type",
        )
    session.note_jump()
