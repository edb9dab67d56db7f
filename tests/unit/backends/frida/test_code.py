"""Is the code of a program read as it is: where it begins, and where an instruction does?"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from debuggees import source
from debugger.backends.frida.code import beginning, started
from debugger.backends.frida.dwarf.image import Image
from debugger.backends.frida.dwarf.unwind import Module

_BASE = 0x400000


def _module(folder: Path, *flags: str) -> Module:
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("gcc is missing")
    program = folder / "program"
    subprocess.run([gcc, *flags, source("loop.c"), "-o", program], check=True, timeout=60)
    image = Image(program)
    size = max(one.address + one.size for one in image.binary.segments)
    return Module(image, _BASE, _BASE + size)


@pytest.mark.parametrize("flags", [("-pie", "-fPIE"), ("-no-pie",)])
def test_main_is_found_by_what_the_c_library_is_handed(tmp_path: Path, flags: tuple[str, ...]):
    module = _module(tmp_path, *flags)
    (main,) = module.image.symbols.named("main")
    assert started(module) == main.address


class _Memory:
    """What the engine reads, out of the file."""

    def __init__(self, module: Module) -> None:
        self._module = module

    async def read(self, address: int, count: int) -> bytes:
        at, found = address - self._module.bias, None
        while count and found is None:  # as much as is there
            found, count = self._module.image.binary.read(at, count), count - 1
        return found or b""


def _instructions(module: Module) -> set[int]:
    """Read where the instructions of `main` begin, as binutils say it."""
    (main,) = module.image.symbols.named("main")
    words = ["objdump", "-d", "--no-show-raw-insn", f"--start-address={main.address:#x}"]
    words += [f"--stop-address={main.address + main.size:#x}", str(module.image.binary.path)]
    told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    return {int(line.split(":")[0], 16) for line in told.splitlines() if line.startswith(" ")}


async def test_only_where_an_instruction_begins_a_breakpoint_may_stand(tmp_path: Path):
    module = _module(tmp_path, "-O0")
    (main,) = module.image.symbols.named("main")
    memory = _Memory(module)
    starts = sorted(_instructions(module))
    for at in range(main.address, main.address + main.size):
        found = await beginning(at + module.bias, module, memory)
        assert found - module.bias == max(one for one in starts if one <= at)
