"""The contract suite's specification of gdb (16.3)."""

from __future__ import annotations

from adapter_specs.adapter_spec import RawCommand
from adapter_specs.compiled_spec import ABILITIES, CHILD, SPINS, make_compiled_spec
from debugger.backends import abilities, select_backend

SPEC = make_compiled_spec(
    "gdb",
    select_backend.ADAPTERS["gdb"],
    child=CHILD,
    abilities=ABILITIES | {abilities.RawCommandAbility, abilities.SingleThreadAbility},
    raw=RawCommand("show version", "GNU gdb"),
    spins=SPINS,
)
