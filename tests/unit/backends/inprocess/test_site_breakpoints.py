"""What the engine gets for a breakpoint's location."""

from __future__ import annotations

from debugger.backends.inprocess import site_breakpoints
from debugger.backends.inprocess.engine.displaced_instruction import decode_instruction
from debugger.backends.inprocess.loaded_program import BreakpointAddress
from debugger.model.breakpoints import BreakpointSpec
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.unwinding import LoadedBinary
from live_engine import build_program

_BIAS = 0x7F00_0000_0000


def _callers(flag: str, count: int) -> list[tuple[str, int] | None]:
    """Return where the caller of `work` is told to be, at each of its first instructions."""
    program = build_program("hammer.c", flag, "-fno-omit-frame-pointer", "-fcf-protection=none")
    image = BinaryImage(program.path)
    (function,) = image.functions.find_by_name("work")
    module = LoadedBinary(image, _BIAS, _BIAS)
    at, found = function.address, []
    for _ in range(count):
        place = BreakpointAddress(at + module.load_bias, module)
        made = site_breakpoints.compile_breakpoint(
            "b", BreakpointSpec(function="work"), place, group="b"
        )
        found.append(made.point.caller)
        at += decode_instruction(image.binary.read_at(at, 16) or b"", at).size
    image.close()
    return found


def test_where_the_return_address_is_follows_the_prologue():
    assert _callers("-O0", 3) == [("rsp", 0), ("rsp", 8), ("rbp", 8)]


def test_only_points_that_let_hits_pass_count_them_together():
    image = BinaryImage(build_program("hammer.c", "-O0").path)
    (function,) = image.functions.find_by_name("work")
    place = BreakpointAddress(function.body + _BIAS, LoadedBinary(image, _BIAS, _BIAS))
    groups = [
        site_breakpoints.compile_breakpoint(
            "b.1", BreakpointSpec(function="work", hit_count=count), place, group="b"
        ).point.group
        for count in (None, 1, 2)
    ]
    assert groups == [None, None, "b"]
    image.close()
