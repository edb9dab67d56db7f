"""The contract suite's specification of the in-process backend (Frida 17.26)."""

from __future__ import annotations

from debugger.backends import abilities, select_backend
from kits.compiled import ABILITIES, CALLS, CHILD, compiled

KIT = compiled(
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
