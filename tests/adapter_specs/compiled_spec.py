"""What the specifications of all debuggers of compiled programs share."""

from __future__ import annotations

from typing import Any, Final

from adapter_specs.adapter_spec import (
    AdapterSpec,
    CallsInLine,
    ChildProgram,
    LargeValue,
    MemoryBytes,
    SpinningThread,
    ThreadedStop,
    ThrowingProgram,
    WatchedVariable,
    marked_line,
    native_program,
)
from debuggees import build_debuggee, find_marker, find_source
from debugger.backends import abilities
from debugger.backends.dap.debug_adapter import DebugAdapter
from driven_backend import launch_target

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
CHILD: Final = ChildProgram(
    native_program("family.c", "many", "1"),
    words_end="family",
    at=marked_line("family.c", "work"),
    expression="number",
    value="1",
    prints="1 is worked\nended, together 2\n",
)
CALLS: Final = CallsInLine(
    native_program("memory.c"), marked_line("memory.c", "calls"), label="minus", function="minus"
)
SPINS: Final = SpinningThread(
    native_program("spins.c"), marked_line("spins.c", "alone"), turns="turns"
)


def make_compiled_spec(name: str, debug_adapter: DebugAdapter, **own: Any) -> AdapterSpec:
    """Return the specification of a debugger; `own` is what not all of them have."""
    return AdapterSpec(
        name=name,
        debug_adapter=debug_adapter,
        loop=lambda: launch_target(build_debuggee("loop.c")),
        file=str(find_source("loop.c")),
        inner="calculate",
        outer="sum_to",
        variable="i",
        first=1,
        stop_line=find_marker("loop.c", "step"),
        call_line=find_marker("loop.c", "add"),
        prints="step 1\n",
        programs={
            "forever": native_program("endless.c"),
            "both": native_program("output.c", "lines", "2", "both"),
            "input": native_program("stdin.c"),
            "killed": native_program("exits.c", "segv"),
        },
        large=LargeValue(
            native_program("values.cpp"),
            marked_line("values.cpp", "lambda"),
            name="numbers",
            function="main",
            size=200,
            shown="2500",
        ),
        threads=ThreadedStop(
            native_program("threads.c"), marked_line("threads.c", "all_alive"), least=5
        ),
        stops_at_signals=True,
        returns="1",
        memory=MemoryBytes(
            native_program("memory.c"),
            marked_line("memory.c", "ready"),
            address="&bytes",
            holds=bytes(range(0x11, 0x99, 0x11)),
            first="bytes[0] + 0",
        ),
        watched=(
            WatchedVariable(
                native_program("memory.c"), marked_line("memory.c", "ready"), "counter", ("1", "2")
            ),
            WatchedVariable(
                native_program("memory.c"), marked_line("memory.c", "ready"), "local", ("6", "7")
            ),
        ),
        throws=ThrowingProgram(
            native_program("throws.cpp"),
            word="throw",
            type="OrderError",
            message="order 3 has no items",
        ),
        jump_line=find_marker("loop.c", "return"),
        **own,
    )
