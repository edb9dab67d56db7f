"""What does the suite have to know of LLDB's command line? (Facts are of 19.1.7.)"""

from __future__ import annotations

from debugger.backends import abilities, choose
from kits.compiled import ABILITIES, CALLS, SPINS, compiled
from kits.kit import Raw

KIT = compiled(
    "lldb-cli",
    choose.BY_COMMAND_LINE,
    backend="lldb-cli",
    abilities=ABILITIES | {abilities.RawCommands, abilities.StepTargets, abilities.ThreadsAlone},
    raw=Raw("version", "lldb version"),
    calls=CALLS,
    spins=SPINS,
)
