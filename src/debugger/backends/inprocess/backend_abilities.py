"""Lists what this backend can do beyond the common commands. Read without importing Frida."""

from __future__ import annotations

from typing import Any

from debugger.backends import abilities

ADAPTER = "frida"
KIND = "frida"
INSTALL = "pip install 'debugger-cli[frida]'"

ABLE: frozenset[type[Any]] = frozenset(
    {
        abilities.CallAbility,
        abilities.DisassemblyAbility,
        abilities.ExceptionAbility,
        abilities.InstructionBreakpointAbility,
        abilities.InstructionStepAbility,
        abilities.JumpAbility,
        abilities.LiveValueAbility,
        abilities.MemoryAbility,
        abilities.ModuleAbility,
        abilities.PauseAllAbility,
        abilities.RegisterAbility,
        abilities.ReturnValueAbility,
        abilities.StepTargetAbility,
        abilities.SingleThreadAbility,
        abilities.TracingAbility,
        abilities.WatchpointAbility,
    }
)
