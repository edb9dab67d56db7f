"""What does the suite have to know of the backend that is inside the program? (Frida 17.26.)"""

from __future__ import annotations

from debugger.backends import abilities, choose
from kits.compiled import ABILITIES, CALLS, CHILD, compiled

KIT = compiled(
    "frida",
    choose.FROM_INSIDE,
    backend="frida",
    child=CHILD,
    abilities=ABILITIES
    | {
        abilities.Calls,
        abilities.LiveValues,
        abilities.PauseAll,
        abilities.StepTargets,
        abilities.ThreadsAlone,
        abilities.Tracing,
    },
    calls=CALLS,
)
