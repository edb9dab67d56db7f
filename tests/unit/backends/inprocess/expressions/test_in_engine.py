"""Compiled conditions and texts decide at breakpoints of a running program."""

from __future__ import annotations

import asyncio
import platform
from pathlib import Path

import pytest

import debuggees
from debugger.backends.inprocess.expressions import c_writer, javascript_writer, log_text
from debugger.backends.inprocess.expressions.declared_names import DeclaredNames
from debugger.backends.inprocess.expressions.log_pieces import parse_template
from debugger.backends.inprocess.expressions.resolution import resolve_condition
from debugger.symbols.dwarf.binary_image import BinaryImage
from expression_runner import require_module

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
    require_module("frida")
    from debugger.backends.inprocess.engine.engine_events import (
        EngineBreakpoint,
        EngineExited,
        RecordLogged,
    )
    from live_engine import BuiltProgram, EngineStarter, run

    source = debuggees.PROGRAMS / "expressions.c"
    program = BuiltProgram(tmp_path / "expressions")
    run("gcc", "-g", flags, str(source), "-o", str(program.path))
    image = BinaryImage(program.path)
    lines = source.read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "@here" in text)
    address = image.lines.find_line("expressions.c", line).locations[0].address
    async with asyncio.TaskGroup() as tasks:
        live = await EngineStarter(tasks, tmp_path)(program)
        try:
            scope = DeclaredNames(image, address, bias=live.base)
            node = resolve_condition(wanted, scope)
            text = log_text.log_script(
                parse_template("{p->name} {p->value + n} {p->colour}", scope)
            ).function_text
            for number, more in enumerate(
                (
                    {"condition": javascript_writer.condition_script(node).function_text},
                    {"native": c_writer.write_condition(node)},
                )
            ):
                point = EngineBreakpoint(
                    id=str(number), address=live.base + address, pauses=False, log=text, **more
                )
                await live.engine.add_breakpoints([point])
            await live.engine.run_program()
            await live.until(EngineExited)
        finally:
            await live.engine.end_program()
    found = [one.values for one in live.events if isinstance(one, RecordLogged)]
    assert found == (['"adam" 7 GREEN'] * 2 if logged else [])
