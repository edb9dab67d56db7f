"""What does the suite have to know of gdb? (Facts are of 16.3.)"""

from __future__ import annotations

from debugger.backends import abilities, choose
from kits.compiled import ABILITIES, CHILD, SPINS, compiled
from kits.kit import Raw

KIT = compiled(
    "gdb",
    choose.PROFILES["gdb"],
    child=CHILD,
    abilities=ABILITIES | {abilities.RawCommands, abilities.ThreadsAlone},
    raw=Raw("show version", "GNU gdb"),
    spins=SPINS,
)
