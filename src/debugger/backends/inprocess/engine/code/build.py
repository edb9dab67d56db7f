"""Assembles the sources here, and prints the module that holds the bytes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = {
    "TRAP": ("trap.c",),
    "CRASH": ("crash.c",),
    "ENTER": ("enter.S",),
    "TRACE": ("trace.S", "trace.c"),
    "LOG": ("log.S", "log.c"),
    "ARRIVE": ("arrive.S",),
}
FLAGS = [
    *("-O2", "-fPIC", "-ffreestanding", "-fno-stack-protector", "-fcf-protection=none"),
    *("-mgeneral-regs-only", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"),
    "-fno-tree-vectorize",
]
WIDTH = 32
HEADER = '''"""Assembles the machine code of handlers and of the trampolines' common part.

Written by code/build.py from the sources beside it: change those.
"""

from __future__ import annotations
'''


def build_code(sources: Sequence[str]) -> bytes:
    """Compile sources, and return their code, that of the first one first."""
    with tempfile.TemporaryDirectory() as scratch:
        linked, raw = Path(scratch) / "a.elf", Path(scratch) / "a.bin"
        compiled = [str(Path(scratch) / f"{number}.o") for number in range(len(sources))]
        for argv in (
            *(
                ["gcc", *FLAGS, "-c", str(HERE / source), "-o", target]
                for source, target in zip(sources, compiled, strict=True)
            ),
            # The handlers come first, whatever else the compiler leaves in .text.
            ["ld", "--no-dynamic-linker", "-Ttext=0", "-e", "0", *compiled, "-o", str(linked)],
            ["objcopy", "-O", "binary", "-j", ".text", str(linked), str(raw)],
        ):
            subprocess.run(argv, check=True)
        return raw.read_bytes()


def module_text() -> str:
    """Return the text of the module."""
    lines = [HEADER]
    for name, sources in SOURCES.items():
        code = build_code(sources)
        lines += [f"# {', '.join(sources)}", f"{name} = bytes.fromhex("]
        lines += [f'    "{code[at : at + WIDTH].hex()}"' for at in range(0, len(code), WIDTH)]
        lines += [")"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(module_text())
