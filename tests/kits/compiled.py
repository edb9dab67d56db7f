"""What the specifications of all debuggers of compiled programs share."""

from __future__ import annotations

from typing import Any, Final

from debuggees import build, marker, source
from debugger.backends import abilities
from debugger.backends.dap.debug_adapter import DebugAdapter
from kits.kit import Bytes, Calls, Child, Kit, Large, Spins, Threads, Throws, Watched, native, place
from live import launch

ABILITIES: Final = frozenset(
    {
        abilities.DisassemblyAbility,
        abilities.ExceptionAbility,
        abilities.InstructionBreakpointAbility,
        abilities.InstructionStepAbility,
        abilities.JumpAbility,
        abilities.MemoryAbility,
        abilities.ModuleAbility,
        abilities.RegisterAbility,
        abilities.ReturnValueAbility,
        abilities.WatchpointAbility,
    }
)
CHILD: Final = Child(
    native("family.c", "many", "1"),
    words_end="family",
    at=place("family.c", "work"),
    expression="number",
    value="1",
    prints="1 is worked\nended, together 2\n",
)
CALLS: Final = Calls(
    native("memory.c"), place("memory.c", "calls"), label="minus", function="minus"
)
SPINS: Final = Spins(native("spins.c"), place("spins.c", "alone"), turns="turns")


def compiled(name: str, profile: DebugAdapter, **own: Any) -> Kit:
    """Return the kit of a debugger; `own` is what not all of them have."""
    return Kit(
        name=name,
        profile=profile,
        loop=lambda: launch(build("loop.c")),
        file=str(source("loop.c")),
        inner="calculate",
        outer="sum_to",
        variable="i",
        first=1,
        stop_line=marker("loop.c", "step"),
        call_line=marker("loop.c", "add"),
        prints="step 1\n",
        programs={
            "forever": native("endless.c"),
            "both": native("output.c", "lines", "2", "both"),
            "input": native("stdin.c"),
            "killed": native("exits.c", "segv"),
        },
        large=Large(
            native("values.cpp"),
            place("values.cpp", "lambda"),
            name="numbers",
            function="main",
            size=200,
            shown="2500",
        ),
        threads=Threads(native("threads.c"), place("threads.c", "all_alive"), least=5),
        stops_at_signals=True,
        returns="1",
        memory=Bytes(
            native("memory.c"),
            place("memory.c", "ready"),
            address="&bytes",
            holds=bytes(range(0x11, 0x99, 0x11)),
            first="bytes[0] + 0",
        ),
        watched=(
            Watched(native("memory.c"), place("memory.c", "ready"), "counter", ("1", "2")),
            Watched(native("memory.c"), place("memory.c", "ready"), "local", ("6", "7")),
        ),
        throws=Throws(
            native("throws.cpp"), word="throw", type="OrderError", message="order 3 has no items"
        ),
        jump_line=marker("loop.c", "return"),
        **own,
    )
