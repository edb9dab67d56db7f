"""The contract suite's specification of debugpy (1.8.22)."""

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
    python,
    written_program,
)
from debuggees import find_marker, find_source
from debugger.backends import abilities, select_backend
from driven_backend import launch_target

SPEC = AdapterSpec(
    name="debugpy",
    debug_adapter=select_backend.ADAPTERS["debugpy"],
    loop=lambda: launch_target(find_source("loop.py")),
    file=str(find_source("loop.py")),
    inner="calculate",
    outer="sum_to",
    variable="i",
    first=1,
    stop_line=find_marker("loop.py", "step"),
    call_line=find_marker("loop.py", "add"),
    prints="step 1\n",
    programs={
        "forever": python("endless.py"),
        "both": written_program(
            "import sys\n"
            "for n in (1, 2):\n"
            "    print('stdout line', n)\n"
            "    print('stderr line', n, file=sys.stderr)\n"
        ),
        "input": python("stdin.py"),
        "killed": written_program("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"),
    },
    large=LargeValue(
        python("values.py"),
        marked_line("values.py", "ready"),
        name="many",
        function="main",
        size=100_000,
        shown="50",
    ),
    threads=ThreadedStop(python("threads.py"), marked_line("threads.py", "all_alive"), least=5),
    child=ChildProgram(
        python("child.py"),
        words_end="child_worker.py",
        at=marked_line("child_worker.py", "worker"),
        expression="result",
        value="14",
        prints="child ended with 0\n",
    ),
    abilities=frozenset(
        {
            abilities.ExceptionAbility,
            abilities.JumpAbility,
            abilities.LiveValueAbility,
            abilities.ModuleAbility,
            abilities.OwnStepAbility,
            abilities.RawCommandAbility,
            abilities.ReturnValueAbility,
            abilities.StepTargetAbility,
        }
    ),
    raw=RawCommand("1 + 1", "2"),
    returned_as="(return) calculate",
    throws=ThrowingProgram(
        python("throws.py"), word="raised", type="OrderError", message="order 3 has no items"
    ),
    calls=CallsInLine(
        python("calls.py"), marked_line("calls.py", "calls"), label="minus", function="minus"
    ),
    jump_line=find_marker("loop.py", "return"),
)
