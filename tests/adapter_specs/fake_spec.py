"""The contract suite's specification of the fake adapter and its imaginary program."""

from __future__ import annotations

from pathlib import Path

from adapter_specs.adapter_spec import (
    AdapterSpec,
    LargeValue,
    Program,
    RawCommand,
    ThreadedStop,
    ThrowingProgram,
)
from debugger.backends import abilities
from debugger.backends.base import LaunchTarget
from debugger.model.breakpoints import BreakpointSpec
from driven_backend import launch_target
from fakes import fake_adapter
from fakes.fake_adapter import change_adapter

_FILE = "/imaginary/main.c"


def make_fake_program(*args: str) -> Program:
    def make(_: Path) -> LaunchTarget:
        return launch_target(_FILE, *args)

    return make


SPEC = AdapterSpec(
    name="fake",
    # By itself it stops at every exception that is raised.
    debug_adapter=change_adapter(fake_adapter.FAKE_ADAPTER, exception_filters=()),
    loop=lambda: launch_target(_FILE),
    file=_FILE,
    inner="work",
    outer="main",
    variable="n",
    first=0,
    stop_line=4,
    call_line=12,
    prints="step 0\n",
    programs={"forever": make_fake_program("forever"), "both": make_fake_program("noisy")},
    large=LargeValue(
        make_fake_program(),
        BreakpointSpec(file=_FILE, line=13),
        name="items",
        function="main",
        size=200,
        shown="0",
    ),
    threads=ThreadedStop(make_fake_program(), BreakpointSpec(file=_FILE, line=4), least=1),
    is_real=False,
    stdout="".join(f"step {turn}\n" for turn in range(5)),
    stderr="warning: noisy\n",
    prints_counting=None,  # its time passes only while it is asked something
    abilities=frozenset(
        {abilities.ExceptionAbility, abilities.RawCommandAbility, abilities.ReturnValueAbility}
    ),
    raw=RawCommand("1 + 1", "2"),
    throws=ThrowingProgram(
        make_fake_program("throw"), word="raised", type="ValueError", message="n is 2"
    ),
)
