"""Source paths are mapped wherever a backend names a file."""

from __future__ import annotations

import inspect
import re

from debugger.backends import abilities
from debugger.backends.abilities import (
    DisassemblyAbility,
    InstructionBreakpointAbility,
    JumpAbility,
    MemoryAbility,
)
from debugger.backends.base import Backend, BreakpointChanged, ChildStarted, OutputPrinted
from debugger.backends.mapped_backend import map_sources
from debugger.backends.wrapped_backend import WrappedBackend
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.events import OutputStream
from debugger.model.location import SourceMap
from debugger.model.program import Frame, Instruction, Stack

MAP = SourceMap((("/build", "/home"),))


class Inner:
    """A backend that knows only /build; `asked` keeps what it was asked."""

    adapter_name = "toy"

    def __init__(self, sink):
        self.sink = sink
        self.asked = []

    def set_sink(self, sink):
        self.sink = sink

    async def set_breakpoints(self, file, wanted):
        self.asked.append(file)
        return [BoundBreakpoint(True, file=file, line=one.spec.line) for one in wanted]

    async def set_function_breakpoints(self, wanted):
        return [BoundBreakpoint(True, file="/build/f.c") for _ in wanted]

    async def explain_unbound(self, spec):
        return BoundBreakpoint(False, file="/build/f.c", why=f"no {spec.line}")

    async def read_stack(self, thread, *, start=0, levels=20):
        frames = (Frame(start, "f", thread, file="/build/f.c", line=3), Frame(1, "g", 2))
        return Stack(frames, total=levels)

    def find_ability(self, kind):
        self.asked.append(kind)
        return self

    async def jump_to(self, file, line, thread):
        self.asked.append((file, line, thread))

    async def read_instructions(self, address, count):
        found = [Instruction(address, "nop", file="/build/f.c"), Instruction(address, "nop")]
        return found[:count]

    async def set_instruction_breakpoints(self, wanted):
        return [BoundBreakpoint(True, file="/build/f.c") for _ in wanted]

    async def read(self, address, count):
        return bytes([address] * count)


def make_mapped(sink=lambda _: None):
    inner = []
    make = map_sources(lambda told, _: inner.append(Inner(told)) or inner[0], MAP)
    return make(sink, None), inner[0]


async def test_what_goes_in_is_named_as_the_program_does_and_what_comes_out_as_it_is_here():
    backend, inner = make_mapped()
    wanted = [Breakpoint(1, BreakpointSpec(file="/home/f.c", line=3))]
    (bound,) = await backend.set_breakpoints("/home/f.c", wanted)
    assert inner.asked == ["/build/f.c"]
    assert (bound.file, bound.line) == ("/home/f.c", 3)
    assert (await backend.set_function_breakpoints(wanted))[0].file == "/home/f.c"
    explained = await backend.explain_unbound(BreakpointSpec(line=9))
    assert (explained.file, explained.why) == ("/home/f.c", "no 9")
    stack = await backend.read_stack(1, start=5, levels=7)
    assert [(one.index, one.file) for one in stack.frames] == [(5, "/home/f.c"), (1, None)]
    assert stack.total == 7


async def test_abilities_that_name_files_are_mapped_and_others_are_as_they_are():
    backend, inner = make_mapped()
    await backend.find_ability(JumpAbility).jump_to("/home/f.c", 4, 1)
    assert ("/build/f.c", 4, 1) in inner.asked
    shown = await backend.find_ability(DisassemblyAbility).read_instructions(16, 2)
    assert [one.file for one in shown] == ["/home/f.c", None]
    addresses = backend.find_ability(InstructionBreakpointAbility)
    assert (await addresses.set_instruction_breakpoints([None]))[0].file == "/home/f.c"
    assert backend.find_ability(MemoryAbility) is inner
    assert backend.adapter_name == "toy"


def test_events_that_name_files_are_mapped_also_to_another_sink():
    seen, others = [], []
    backend, inner = make_mapped(seen.append)
    printed = OutputPrinted(OutputStream.STDOUT, "/build/f.c")
    inner.sink(BreakpointChanged(BoundBreakpoint(True, file="/build/f.c")))
    inner.sink(printed)
    assert seen == [BreakpointChanged(BoundBreakpoint(True, file="/home/f.c")), printed]
    backend.set_sink(others.append)
    inner.sink(BreakpointChanged(BoundBreakpoint(True)))
    assert others == [BreakpointChanged(BoundBreakpoint(True))]


async def test_a_child_process_is_mapped_too():
    seen = []
    _, inner = make_mapped(seen.append)
    inner.sink(ChildStarted(Inner(None), 5, ("app",)))
    (child,) = seen
    assert (child.pid, child.words) == (5, ("app",))
    assert (await child.backend.read_stack(1)).frames[0].file == "/home/f.c"


def test_without_a_map_nothing_is_put_around_a_backend():
    def make(sink, tasks):
        raise AssertionError

    assert map_sources(make, SourceMap()) is make


def methods_with_paths(protocol: type) -> set[str]:
    """The methods of a protocol that take or return something that names a file."""
    words = re.compile(r"\b(file: '?str|BoundBreakpoint|Stack|Instruction|Sink)\b")
    return {
        name
        for name, method in vars(protocol).items()
        if inspect.isfunction(method) and words.search(str(inspect.signature(method)))
    }


def test_every_method_that_names_a_file_is_mapped():
    # The location of a breakpoint is asked for, and answered, as it is on this machine.
    needed = methods_with_paths(Backend) - {"locate_breakpoint"}
    mapped = set(vars(type(make_mapped()[0])))
    assert needed <= mapped
    assert {"set_breakpoints", "set_function_breakpoints", "read_stack", "set_sink"} <= needed


def test_every_ability_that_names_a_file_is_mapped():
    protocols = [one for one in vars(abilities).values() if inspect.isclass(one)]
    needed = {
        one for one in protocols if one.__name__.endswith("Ability") and methods_with_paths(one)
    }
    # A catchpoint and a watchpoint bind to no line of a file.
    needed -= {abilities.ExceptionAbility, abilities.WatchpointAbility}
    assert needed == {DisassemblyAbility, InstructionBreakpointAbility, JumpAbility}


def test_a_wrapped_backend_passes_on_every_call():
    names = {name for name in vars(Backend) if not name.startswith("_")}
    assert names == {name for name in vars(WrappedBackend) if not name.startswith("_")}
