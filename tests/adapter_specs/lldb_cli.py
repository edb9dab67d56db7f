"""The contract suite's specification of LLDB's command line (19.1.7)."""

from __future__ import annotations

from adapter_specs.adapter_spec import RawCommand
from adapter_specs.compiled_spec import ABILITIES, CALLS, SPINS, make_compiled_spec
from debugger.backends import abilities, select_backend

SPEC = make_compiled_spec(
    "lldb-cli",
    select_backend.BY_COMMAND_LINE,
    backend="lldb-cli",
    abilities=ABILITIES
    | {abilities.RawCommandAbility, abilities.StepTargetAbility, abilities.SingleThreadAbility},
    raw=RawCommand("version", "lldb version"),
    calls=CALLS,
    spins=SPINS,
)
