"""What does the suite have to know of the backend that is inside the program? (Frida 17.26.)"""

from __future__ import annotations

from debuggees import build, marker, source
from debugger.backends import abilities, choose
from kits.kit import Bytes, Calls, Child, Kit, Large, Threads, Throws, Watched, native, place
from live import launch

KIT = Kit(
    name="frida",
    backend="frida",
    profile=choose.FROM_INSIDE,
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
    child=Child(
        native("family.c", "many", "1"),
        words_end="family",
        at=place("family.c", "work"),
        expression="number",
        value="1",
        prints="1 is worked\nended, together 2\n",
    ),
    threads=Threads(native("threads.c"), place("threads.c", "all_alive"), least=5),
    stops_at_signals=True,
    abilities=frozenset(
        {
            abilities.Calls,
            abilities.Disassembly,
            abilities.Exceptions,
            abilities.InstructionBreakpoints,
            abilities.InstructionSteps,
            abilities.Jump,
            abilities.LiveValues,
            abilities.Memory,
            abilities.Modules,
            abilities.PauseAll,
            abilities.Registers,
            abilities.ReturnValues,
            abilities.StepTargets,
            abilities.ThreadsAlone,
            abilities.Tracing,
            abilities.Watchpoints,
        }
    ),
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
    calls=Calls(native("memory.c"), place("memory.c", "calls"), label="minus", function="minus"),
    jump_line=marker("loop.c", "return"),
)
