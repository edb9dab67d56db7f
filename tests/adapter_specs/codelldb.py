"""The contract suite's specification of CodeLLDB (1.11.8)."""

from __future__ import annotations

from adapter_specs.adapter_spec import RawCommand
from adapter_specs.compiled_spec import ABILITIES, CALLS, SPINS, make_compiled_spec
from debugger.backends import abilities, select_backend

SPEC = make_compiled_spec(
    "codelldb",
    select_backend.ADAPTERS["codelldb"],
    abilities=ABILITIES | {abilities.RawCommandAbility, abilities.StepTargetAbility},
    raw=RawCommand("version", "lldb version"),
    calls=CALLS,
    spins=SPINS,
)
