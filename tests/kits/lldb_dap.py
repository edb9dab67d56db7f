"""What does the suite have to know of lldb-dap? (Facts are of 19.1.7.)"""

from __future__ import annotations

from debugger.backends import abilities, choose
from kits.compiled import ABILITIES, CALLS, SPINS, compiled
from kits.kit import Raw

KIT = compiled(
    "lldb-dap",
    choose.PROFILES["lldb-dap"],
    abilities=ABILITIES | {abilities.RawCommands, abilities.StepTargets},
    raw=Raw("version", "lldb version"),
    calls=CALLS,
    spins=SPINS,
)
