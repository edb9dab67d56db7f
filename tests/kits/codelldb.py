"""The contract suite's specification of CodeLLDB (1.11.8)."""

from __future__ import annotations

from debugger.backends import abilities, select_backend
from kits.compiled import ABILITIES, CALLS, SPINS, compiled
from kits.kit import Raw

KIT = compiled(
    "codelldb",
    select_backend.ADAPTERS["codelldb"],
    abilities=ABILITIES | {abilities.RawCommandAbility, abilities.StepTargetAbility},
    raw=Raw("version", "lldb version"),
    calls=CALLS,
    spins=SPINS,
)
