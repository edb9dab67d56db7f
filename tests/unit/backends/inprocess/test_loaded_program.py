"""Where a program begins, and where its instructions do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from debuggees import find_source
from debugger.backends.inprocess.loaded_program import find_main, instruction_start
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.unwinding import LoadedBinary

_BASE = 0x400000


def _module(folder: Path, *flags: str) -> LoadedBinary:
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("gcc is missing")
    program = folder / "program"
    subprocess.run([gcc, *flags, find_source("loop.c"), "-o", program], check=True, timeout=60)
    image = BinaryImage(program)
    size = max(one.address + one.size for one in image.binary.segments)
    return LoadedBinary(image, _BASE, _BASE + size)


@pytest.mark.parametrize("flags", [("-pie", "-fPIE"), ("-no-pie",)])
def test_main_is_found_by_what_the_c_library_is_handed(tmp_path: Path, flags: tuple[str, ...]):
    module = _module(tmp_path, *flags)
    (main,) = module.image.symbols.find_by_name("main")
    assert find_main(module) == main.address


class _Memory:
    """What the engine reads, out of the file."""

    def __init__(self, module: LoadedBinary) -> None:
        self._module = module

    async def read_memory(self, address: int, count: int) -> bytes:
        at, found = address - self._module.load_bias, None
        while count and found is None:  # as much as is there
            found, count = self._module.image.binary.read_at(at, count), count - 1
        return found or b""


def _instructions(module: LoadedBinary) -> set[int]:
    """Read where the instructions of `main` begin, as binutils say it."""
    (main,) = module.image.symbols.find_by_name("main")
    words = ["objdump", "-d", "--no-show-raw-insn", f"--start-address={main.address:#x}"]
    words += [f"--stop-address={main.address + main.size:#x}", str(module.image.binary.path)]
    told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    return {int(line.split(":")[0], 16) for line in told.splitlines() if line.startswith(" ")}


async def test_only_where_an_instruction_begins_a_breakpoint_may_stand(tmp_path: Path):
    module = _module(tmp_path, "-O0")
    (main,) = module.image.symbols.find_by_name("main")
    memory = _Memory(module)
    starts = sorted(_instructions(module))
    for at in range(main.address, main.address + main.size):
        found = await instruction_start(at + module.load_bias, module, memory)
        assert found - module.load_bias == max(one for one in starts if one <= at)
