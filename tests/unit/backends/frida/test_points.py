"""What is an engine told of the place that a breakpoint stands at?"""

from __future__ import annotations

from debugger.backends.frida import points
from debugger.backends.frida.dwarf.image import Image
from debugger.backends.frida.dwarf.unwind import Module
from debugger.backends.frida.engine.displaced import decode
from debugger.backends.frida.program import Place
from debugger.core.breakpoints import Spec
from engine_live import build

_BIAS = 0x7F00_0000_0000


def _callers(flag: str, count: int) -> list[tuple[str, int] | None]:
    """Return where the caller of `work` is told to be, at each of its first instructions."""
    program = build("hammer.c", flag, "-fno-omit-frame-pointer", "-fcf-protection=none")
    image = Image(program.path)
    (function,) = image.functions.named("work")
    module = Module(image, _BIAS, _BIAS)
    at, found = function.address, []
    for _ in range(count):
        place = Place(at + module.bias, module)
        made = points.make("b", Spec(function="work"), place, group="b")
        found.append(made.point.caller)
        at += decode(image.binary.read(at, 16) or b"", at).size
    image.close()
    return found


def test_where_the_return_address_is_follows_the_prologue():
    assert _callers("-O0", 3) == [("rsp", 0), ("rsp", 8), ("rbp", 8)]


def test_only_points_that_let_hits_pass_count_them_together():
    image = Image(build("hammer.c", "-O0").path)
    (function,) = image.functions.named("work")
    place = Place(function.body + _BIAS, Module(image, _BIAS, _BIAS))
    groups = [
        points.make("b.1", Spec(function="work", hit_count=count), place, group="b").point.group
        for count in (None, 1, 2)
    ]
    assert groups == [None, None, "b"]
    image.close()
