"""The contract suite's specification of lldb-dap (19.1.7)."""

from __future__ import annotations

from debugger.backends import abilities, select_backend
from kits.compiled import ABILITIES, CALLS, SPINS, compiled
from kits.kit import Raw

KIT = compiled(
    "lldb-dap",
    select_backend.ADAPTERS["lldb-dap"],
    abilities=ABILITIES | {abilities.RawCommandAbility, abilities.StepTargetAbility},
    raw=Raw("version", "lldb version"),
    calls=CALLS,
    spins=SPINS,
)
