"""The contract suite's specification of js-debug (1.112, Node 20.20)."""

from __future__ import annotations

from debuggees import marker, source
from debugger.backends import abilities, select_backend
from kits.kit import Calls, Child, Kit, Large, Raw, Threads, Throws, place, plain, script
from live import launch

KIT = Kit(
    name="js-debug",
    profile=select_backend.ADAPTERS["js-debug"],
    loop=lambda: launch(source("loop.js")),
    file=str(source("loop.js")),
    inner="calculate",
    outer="sumTo",
    variable="i",
    first=1,
    stop_line=marker("loop.js", "step"),
    call_line=marker("loop.js", "add"),
    prints="step 1\n",
    number="number",
    programs={
        "forever": plain("endless.js"),
        "both": script(
            "for (const n of [1, 2]) {\n"
            "  console.log('stdout line', n);\n"
            "  console.error('stderr line', n);\n"
            "}\n",
            "script.js",
        ),
        "input": plain("stdin.js"),
        "killed": script("process.kill(process.pid, 'SIGSEGV');\n", "script.js"),
    },
    large=Large(
        plain("values.js"),
        place("values.js", "ready"),
        name="many",
        function="main",
        size=100_000,
        shown="50",
    ),
    # Each worker is a session of its own.
    threads=Threads(plain("threads.js"), place("threads.js", "start"), least=1),
    child=Child(
        plain("child.js"),
        words_end="child_worker.js",
        at=place("child_worker.js", "worker"),
        expression="result",
        value="14",
        prints="child ended with 0\n",
    ),
    abilities=frozenset(
        {
            abilities.ExceptionAbility,
            abilities.RawCommandAbility,
            abilities.ReturnValueAbility,
            abilities.StepTargetAbility,
        }
    ),
    raw=Raw("1 + 1", "2"),
    returns="1",
    throws=Throws(
        plain("throws.js"), word="raised", type="OrderError", message="order 3 has no items"
    ),
    calls=Calls(plain("calls.js"), place("calls.js", "calls"), label="minus", function="minus"),
)
