"""The contract suite's specification of delve (1.27.2, Go 1.26)."""

from __future__ import annotations

from debuggees import build, marker, source
from debugger.backends import select_backend
from debugger.model.program import ExitedProgram
from kits.kit import Bytes, Kit, Large, Raw, Threads, Throws, Watched, native, place
from live import launch

_PROFILE = select_backend.ADAPTERS["delve"]

KIT = Kit(
    name="delve",
    profile=_PROFILE,
    loop=lambda: launch(build("loop.go")),
    file=str(source("loop.go")),
    inner="main.calculate",
    outer="main.sumTo",
    variable="i",
    first=1,
    stop_line=marker("loop.go", "step"),
    call_line=marker("loop.go", "add"),
    prints="step 1\n",
    programs={
        "forever": native("endless.go"),
        "both": native("output.go"),
        "input": native("stdin.go"),
        # Go's runtime makes an exit with status 2 of most signals, SIGSEGV too.
        "killed": native("exits.go", "kill"),
    },
    killed_ends=ExitedProgram(signal="SIGKILL"),
    large=Large(
        native("values.go"),
        place("values.go", "ready"),
        name="numbers",
        function="main.main",
        size=200,
        shown="2500",
    ),
    threads=Threads(native("threads.go"), place("threads.go", "all_alive"), least=5),
    abilities=_PROFILE.request_abilities | _PROFILE.own_abilities.keys(),
    returns="1",
    raw=Raw("sources loop.go", "loop.go"),
    memory=Bytes(
        native("values.go"),
        place("values.go", "ready"),
        address="&letters[0]",
        holds=b"bytes",
        first="letters[0]",
    ),
    watched=(Watched(native("values.go"), place("values.go", "before"), "counter", ("1", "3")),),
    throws=Throws(
        native("panic.go", "recovers"),
        word="raised",
        type="main.mishap",
        message="nothing serious",
        other="main.refused",
    ),
)
