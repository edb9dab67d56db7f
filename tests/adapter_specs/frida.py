"""The contract suite's specification of the in-process backend (Frida 17.26)."""

from __future__ import annotations

from adapter_specs.compiled_spec import ABILITIES, CALLS, CHILD, make_compiled_spec
from debugger.backends import abilities, select_backend

SPEC = make_compiled_spec(
    "frida",
    select_backend.FROM_INSIDE,
    backend="frida",
    child=CHILD,
    abilities=ABILITIES
    | {
        abilities.CallAbility,
        abilities.LiveValueAbility,
        abilities.PauseAllAbility,
        abilities.StepTargetAbility,
        abilities.SingleThreadAbility,
        abilities.TracingAbility,
    },
    calls=CALLS,
)
