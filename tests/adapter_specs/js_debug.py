"""The contract suite's specification of js-debug (1.112, Node 20.20)."""

from __future__ import annotations

from adapter_specs.adapter_spec import (
    AdapterSpec,
    CallsInLine,
    ChildProgram,
    LargeValue,
    RawCommand,
    ThreadedStop,
    ThrowingProgram,
    marked_line,
    source_program,
    written_program,
)
from debuggees import find_marker, find_source
from debugger.backends import abilities, select_backend
from driven_backend import launch_target

SPEC = AdapterSpec(
    name="js-debug",
    debug_adapter=select_backend.ADAPTERS["js-debug"],
    loop=lambda: launch_target(find_source("loop.js")),
    file=str(find_source("loop.js")),
    inner="calculate",
    outer="sumTo",
    variable="i",
    first=1,
    stop_line=find_marker("loop.js", "step"),
    call_line=find_marker("loop.js", "add"),
    prints="step 1\n",
    number="number",
    programs={
        "forever": source_program("endless.js"),
        "both": written_program(
            "for (const n of [1, 2]) {\n"
            "  console.log('stdout line', n);\n"
            "  console.error('stderr line', n);\n"
            "}\n",
            "script.js",
        ),
        "input": source_program("stdin.js"),
        "killed": written_program("process.kill(process.pid, 'SIGSEGV');\n", "script.js"),
    },
    large=LargeValue(
        source_program("values.js"),
        marked_line("values.js", "ready"),
        name="many",
        function="main",
        size=100_000,
        shown="50",
    ),
    # Each worker is a session of its own.
    threads=ThreadedStop(source_program("threads.js"), marked_line("threads.js", "start"), least=1),
    child=ChildProgram(
        source_program("child.js"),
        words_end="child_worker.js",
        at=marked_line("child_worker.js", "worker"),
        expression="result",
        value="14",
        prints="child ended with 0\n",
    ),
    abilities=frozenset(
        {
            abilities.ExceptionAbility,
            abilities.LoadedSourceAbility,
            abilities.RawCommandAbility,
            abilities.ReturnValueAbility,
            abilities.StepTargetAbility,
        }
    ),
    raw=RawCommand("1 + 1", "2"),
    returns="1",
    throws=ThrowingProgram(
        source_program("throws.js"),
        word="raised",
        type="OrderError",
        message="order 3 has no items",
    ),
    calls=CallsInLine(
        source_program("calls.js"),
        marked_line("calls.js", "calls"),
        label="minus",
        function="minus",
    ),
)
