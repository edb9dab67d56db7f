"""The contract suite's specification of delve (1.27.2, Go 1.26)."""

from __future__ import annotations

from adapter_specs.adapter_spec import (
    AdapterSpec,
    LargeValue,
    MemoryBytes,
    RawCommand,
    ThreadedStop,
    ThrowingProgram,
    WatchedVariable,
    marked_line,
    native_program,
)
from debuggees import build_debuggee, find_marker, find_source
from debugger.backends import select_backend
from debugger.model.program import ExitedProgram
from driven_backend import launch_target

_ADAPTER = select_backend.ADAPTERS["delve"]

SPEC = AdapterSpec(
    name="delve",
    debug_adapter=_ADAPTER,
    loop=lambda: launch_target(build_debuggee("loop.go")),
    file=str(find_source("loop.go")),
    inner="main.calculate",
    outer="main.sumTo",
    variable="i",
    first=1,
    stop_line=find_marker("loop.go", "step"),
    call_line=find_marker("loop.go", "add"),
    prints="step 1\n",
    programs={
        "forever": native_program("endless.go"),
        "both": native_program("output.go"),
        "input": native_program("stdin.go"),
        # Go's runtime makes an exit with status 2 of most signals, SIGSEGV too.
        "killed": native_program("exits.go", "kill"),
    },
    killed_ends=ExitedProgram(signal="SIGKILL"),
    large=LargeValue(
        native_program("values.go"),
        marked_line("values.go", "ready"),
        name="numbers",
        function="main.main",
        size=200,
        shown="2500",
    ),
    threads=ThreadedStop(
        native_program("threads.go"), marked_line("threads.go", "all_alive"), least=5
    ),
    abilities=_ADAPTER.request_abilities | _ADAPTER.own_abilities.keys(),
    returns="1",
    raw=RawCommand("sources loop.go", "loop.go"),
    memory=MemoryBytes(
        native_program("values.go"),
        marked_line("values.go", "ready"),
        address="&letters[0]",
        holds=b"bytes",
        first="letters[0]",
    ),
    watched=(
        WatchedVariable(
            native_program("values.go"), marked_line("values.go", "before"), "counter", ("1", "3")
        ),
    ),
    throws=ThrowingProgram(
        native_program("panic.go", "recovers"),
        word="raised",
        type="main.mishap",
        message="nothing serious",
        other="main.refused",
    ),
)
