"""What can this backend do that not every debugger can? Read before it is chosen: no Frida here."""

from __future__ import annotations

from typing import Any

from debugger.backends import abilities
from debugger.errors import Code, DebuggerError

ADAPTER = "frida"
KIND = "frida"
INSTALL = "pip install 'debugger-cli[frida]'"

ABLE: frozenset[type[Any]] = frozenset(
    {
        abilities.Calls,
        abilities.Disassembly,
        abilities.Exceptions,
        abilities.InstructionBreakpoints,
        abilities.InstructionSteps,
        abilities.Jump,
        abilities.LiveValues,
        abilities.Memory,
        abilities.Modules,
        abilities.PauseAll,
        abilities.Registers,
        abilities.ReturnValues,
        abilities.StepTargets,
        abilities.ThreadsAlone,
        abilities.Tracing,
        abilities.Watchpoints,
    }
)


def missing(kind: type[Any], others: str) -> DebuggerError:
    """Say what this backend cannot do, in the words of the ability, and which others can."""
    said = (kind.__doc__ or "").partition("\n")[0].removeprefix("The ability to ").rstrip(".")
    hint = f"adapters that can: {others}" if others else "debugger doctor lists the adapters"
    return DebuggerError(Code.NOT_SUPPORTED, f"{KIND} cannot {said}", hint=hint)
