"""The contract suite's specification of LLDB's command line (19.1.7)."""

from __future__ import annotations

from debugger.backends import abilities, select_backend
from kits.compiled import ABILITIES, CALLS, SPINS, compiled
from kits.kit import Raw

KIT = compiled(
    "lldb-cli",
    select_backend.BY_COMMAND_LINE,
    backend="lldb-cli",
    abilities=ABILITIES
    | {abilities.RawCommandAbility, abilities.StepTargetAbility, abilities.SingleThreadAbility},
    raw=Raw("version", "lldb version"),
    calls=CALLS,
    spins=SPINS,
)
