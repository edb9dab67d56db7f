"""Lists what this backend can do beyond the common commands. Read without importing Frida."""

from __future__ import annotations

from typing import Any

from debugger.backends import abilities

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
