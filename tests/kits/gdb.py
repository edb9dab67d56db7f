"""The contract suite's specification of gdb (16.3)."""

from __future__ import annotations

from debugger.backends import abilities, select_backend
from kits.compiled import ABILITIES, CHILD, SPINS, compiled
from kits.kit import Raw

KIT = compiled(
    "gdb",
    select_backend.ADAPTERS["gdb"],
    child=CHILD,
    abilities=ABILITIES | {abilities.RawCommandAbility, abilities.SingleThreadAbility},
    raw=Raw("show version", "GNU gdb"),
    spins=SPINS,
)
