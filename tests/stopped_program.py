"""Registers and memory of a program that gdb stopped at a line."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from debugger.backends.inprocess.expressions.declared_names import DeclaredNames
from debugger.backends.inprocess.expressions.node_evaluation import NodeWorld
from debugger.symbols.dwarf.binary_image import BinaryImage

_TIMEOUT_S = 60
_MARK = "@asked@"
_REGISTER = re.compile(r"^(r\w+)\s+0x([0-9a-f]+)", re.MULTILINE)


@dataclass(frozen=True)
class StoppedProgram:
    """A program at a stop: its image, its registers, and its memory out of a core file."""

    image: BinaryImage
    world: NodeWorld
    answers: list[str]

    def scope(self) -> DeclaredNames:
        return DeclaredNames(self.image, self.world.registers["rip"])


def stop_with_gdb(program: Path, place: str, asked: list[str], *, gdb: str) -> StoppedProgram:
    """Run a program without PIE to a place; ask gdb to print expressions there."""
    core = program.with_suffix(".core")
    prints = [word for one in asked for word in ("-ex", f"echo {_MARK}", "-ex", f"print {one}")]
    setup = ["set confirm off", "set debuginfod enabled off", f"break {place}", "run"]
    last = ["info registers", "p $xmm0.uint128", "p $xmm1.uint128", f"generate-core-file {core}"]
    words = [word for one in setup for word in ("-ex", one)]
    words += prints + [word for one in last for word in ("-ex", one)]
    done = subprocess.run(
        [gdb, "-nx", "-q", "-batch", *words, str(program)],
        capture_output=True, text=True, timeout=_TIMEOUT_S, check=False,
    )  # fmt: skip
    assert core.exists(), done.stdout + done.stderr
    registers = {name: int(value, 16) for name, value in _REGISTER.findall(done.stdout)}
    for number, value in enumerate(re.findall(r"^\$\d+ = (\d+)$", done.stdout, re.MULTILINE)[-2:]):
        registers[f"xmm{number}"] = int(value)
    # Each answer stands behind a mark, since one that is an error goes elsewhere.
    answers = [part.split("\n")[0] for part in done.stdout.split(_MARK)[1:]]
    segments = [*read_segments(core), *read_segments(program)]

    def read(address: int, size: int) -> bytes:
        for start, content in segments:
            if start <= address < start + len(content):
                return content[address - start : address - start + size]
        raise OSError(address)

    answers = [one.partition("= ")[2] for one in answers][: len(asked)]
    return StoppedProgram(BinaryImage(program), NodeWorld(registers, read), answers)


def read_segments(path: Path) -> list[tuple[int, bytes]]:
    with path.open("rb") as file:
        return [
            (one["p_vaddr"], one.data())
            for one in ELFFile(file).iter_segments("PT_LOAD")
            if one["p_filesz"]
        ]
