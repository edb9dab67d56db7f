"""What does the suite have to know of CodeLLDB? (Facts are of 1.11.8.)"""

from __future__ import annotations

from debugger.backends import abilities, choose
from kits.compiled import ABILITIES, CALLS, SPINS, compiled
from kits.kit import Raw

KIT = compiled(
    "codelldb",
    choose.PROFILES["codelldb"],
    abilities=ABILITIES | {abilities.RawCommands, abilities.StepTargets},
    raw=Raw("version", "lldb version"),
    calls=CALLS,
    spins=SPINS,
)
