"""Do compiled conditions and texts decide in a running program, at the engine's breakpoints?"""

from __future__ import annotations

import asyncio
import platform
from pathlib import Path

import pytest

import debuggees
from debugger.backends.frida.dwarf.image import Image
from debugger.backends.frida.expressions import c, javascript, saying
from debugger.backends.frida.expressions.declared import Declared
from debugger.backends.frida.expressions.resolve import condition
from debugger.backends.frida.expressions.template import template
from expressing import needs

if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
    pytest.skip("the engine is for Linux on x86-64", allow_module_level=True)


@pytest.mark.parametrize("flags", ["-O0", "-O2"])
@pytest.mark.parametrize(
    ("wanted", "logged"),
    [
        ("n == 6 && p->next->value == 2 && (int)ratio == 2", True),
        ("n == 6 && p->next->value == 3", False),
        ("null == 0 && p->high < -100", True),
    ],
)
async def test_a_condition_decides_in_a_running_program(
    tmp_path: Path, flags: str, wanted: str, logged: bool
) -> None:
    needs("frida")
    from debugger.backends.frida.engine.events import Breakpoint, Exited, Logged
    from engine_live import Program, Starter, run

    source = debuggees.PROGRAMS / "expressions.c"
    program = Program(tmp_path / "expressions")
    run("gcc", "-g", flags, str(source), "-o", str(program.path))
    image = Image(program.path)
    lines = source.read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "@here" in text)
    address = image.lines.find("expressions.c", line).locations[0].address
    async with asyncio.TaskGroup() as tasks:
        live = await Starter(tasks, tmp_path)(program)
        try:
            scope = Declared(image, address, bias=live.base)
            node = condition(wanted, scope)
            text = saying.script(template("{p->name} {p->value + n} {p->colour}", scope)).function
            for number, more in enumerate(
                ({"condition": javascript.condition(node).function}, {"native": c.condition(node)})
            ):
                point = Breakpoint(
                    id=str(number), address=live.base + address, pauses=False, log=text, **more
                )
                await live.engine.add([point])
            await live.engine.run()
            await live.until(Exited)
        finally:
            await live.engine.end()
    found = [one.values for one in live.events if isinstance(one, Logged)]
    assert found == (['"adam" 7 GREEN'] * 2 if logged else [])
