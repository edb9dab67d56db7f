"""The contract suite's specification of our adapter for Java (OpenJDK 17.0.15)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from adapter_specs.adapter_spec import (
    AdapterSpec,
    ChildProgram,
    LargeValue,
    Program,
    RawCommand,
    ThreadedStop,
    ThrowingProgram,
    WatchedVariable,
    marked_line,
)
from debuggees import PROGRAMS, build_java, find_marker, find_source
from debugger.backends import select_backend
from debugger.backends.base import LaunchTarget
from debugger.model.program import ExitedProgram
from driven_backend import launch_target

_ADAPTER = select_backend.ADAPTERS["java"]


def _launch(name: str, *args: str) -> LaunchTarget:
    # In the folder of the sources: a class file names its source without the folder.
    target = launch_target(build_java(name), *args)
    return msgspec.structs.replace(target, cwd=str(PROGRAMS / "java"))


def java_program(name: str, *args: str) -> Program:
    """Compile a program when it is asked for."""

    def make(folder: Path) -> LaunchTarget:
        del folder
        return _launch(name, *args)

    return make


SPEC = AdapterSpec(
    name="java",
    debug_adapter=_ADAPTER,
    loop=lambda: _launch("Loop"),
    file=str(find_source("java/Loop.java")),
    inner="Loop.calculate",
    outer="Loop.sumTo",
    variable="i",
    watches_locals=False,
    first=1,
    stop_line=find_marker("java/Loop.java", "step"),
    call_line=find_marker("java/Loop.java", "add"),
    prints="step 1\n",
    programs={
        "forever": java_program("Endless"),
        "both": java_program("Streams", "both"),
        "input": java_program("Streams", "echo"),
        "killed": java_program("Streams", "killed"),
    },
    # The JVM makes an exit with status 134 of a SIGSEGV that no code of its own raised.
    killed_ends=ExitedProgram(signal="SIGKILL"),
    large=LargeValue(
        java_program("Values"),
        marked_line("java/Values.java", "ready"),
        name="numbers",
        function="Values.main",
        size=200,
        shown="2500",
    ),
    threads=ThreadedStop(
        java_program("Threads"), marked_line("java/Threads.java", "all_alive"), least=5
    ),
    child=ChildProgram(
        java_program("Child"),
        words_end="ChildWorker",
        at=marked_line("java/ChildWorker.java", "worker"),
        expression="result",
        value="14",
        prints="child ended with 0\n",
    ),
    abilities=_ADAPTER.request_abilities | _ADAPTER.own_abilities.keys(),
    listening=lambda: [
        "java",
        "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0",
        "-cp",
        str(build_java("Endless").parent),
        "Endless",
    ],
    returns="1",
    raw=RawCommand("1 + 1", "2"),
    watched=(
        WatchedVariable(
            java_program("Values"),
            marked_line("java/Values.java", "before"),
            "this.counter",
            ("1", "3"),
        ),
    ),
    throws=ThrowingProgram(
        java_program("Throws"),
        word="raised",
        type="Throws.OrderError",
        message="order 3 has no items",
    ),
)
