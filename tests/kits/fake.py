"""The contract suite's specification of the fake adapter and its imaginary program."""

from __future__ import annotations

from pathlib import Path

from debugger.backends import abilities
from debugger.backends.base import LaunchTarget
from debugger.model.breakpoints import BreakpointSpec
from fakes import fake_adapter
from fakes.fake_adapter import change_adapter
from kits.kit import Kit, Large, Program, Raw, Threads, Throws
from live import launch

_FILE = "/imaginary/main.c"


def _fake(*args: str) -> Program:
    def make(_: Path) -> LaunchTarget:
        return launch(_FILE, *args)

    return make


KIT = Kit(
    name="fake",
    # By itself it stops at every exception that is raised.
    profile=change_adapter(fake_adapter.FAKE_ADAPTER, exception_filters=()),
    loop=lambda: launch(_FILE),
    file=_FILE,
    inner="work",
    outer="main",
    variable="n",
    first=0,
    stop_line=4,
    call_line=12,
    prints="step 0\n",
    programs={"forever": _fake("forever"), "both": _fake("noisy")},
    large=Large(
        _fake(),
        BreakpointSpec(file=_FILE, line=13),
        name="items",
        function="main",
        size=200,
        shown="0",
    ),
    threads=Threads(_fake(), BreakpointSpec(file=_FILE, line=4), least=1),
    is_real=False,
    stdout="".join(f"step {turn}\n" for turn in range(5)),
    stderr="warning: noisy\n",
    prints_counting=None,  # its time passes only while it is asked something
    abilities=frozenset(
        {abilities.ExceptionAbility, abilities.RawCommandAbility, abilities.ReturnValueAbility}
    ),
    raw=Raw("1 + 1", "2"),
    throws=Throws(_fake("throw"), word="raised", type="ValueError", message="n is 2"),
)
