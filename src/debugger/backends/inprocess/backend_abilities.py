"""Lists the abilities of this backend beyond the common commands, without importing Frida."""

from __future__ import annotations

from typing import Any

from debugger.backends import abilities
from debugger.backends.backend_names import FRIDA
from debugger.model.debugger_words import DebuggerTraits, ForkFollowing

ADAPTER = "frida"
KIND = FRIDA
TRAITS = DebuggerTraits(
    own_programs=("python",),
    fork_following=ForkFollowing.SOON,
    changes_breakpoints_live=True,
    return_hint="debugger start PROGRAM --adapter lldb-dap, or gdb, can",
)
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
