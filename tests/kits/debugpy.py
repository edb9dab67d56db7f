"""The contract suite's specification of debugpy (1.8.22)."""

from __future__ import annotations

from debuggees import marker, source
from debugger.backends import abilities, select_backend
from kits.kit import Calls, Child, Kit, Large, Raw, Threads, Throws, place, python, script
from live import launch

KIT = Kit(
    name="debugpy",
    profile=select_backend.ADAPTERS["debugpy"],
    loop=lambda: launch(source("loop.py")),
    file=str(source("loop.py")),
    inner="calculate",
    outer="sum_to",
    variable="i",
    first=1,
    stop_line=marker("loop.py", "step"),
    call_line=marker("loop.py", "add"),
    prints="step 1\n",
    programs={
        "forever": python("endless.py"),
        "both": script(
            "import sys\n"
            "for n in (1, 2):\n"
            "    print('stdout line', n)\n"
            "    print('stderr line', n, file=sys.stderr)\n"
        ),
        "input": python("stdin.py"),
        "killed": script("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"),
    },
    large=Large(
        python("values.py"),
        place("values.py", "ready"),
        name="many",
        function="main",
        size=100_000,
        shown="50",
    ),
    threads=Threads(python("threads.py"), place("threads.py", "all_alive"), least=5),
    child=Child(
        python("child.py"),
        words_end="child_worker.py",
        at=place("child_worker.py", "worker"),
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
    raw=Raw("1 + 1", "2"),
    returned_as="(return) calculate",
    throws=Throws(
        python("throws.py"), word="raised", type="OrderError", message="order 3 has no items"
    ),
    calls=Calls(python("calls.py"), place("calls.py", "calls"), label="minus", function="minus"),
    jump_line=marker("loop.py", "return"),
)
