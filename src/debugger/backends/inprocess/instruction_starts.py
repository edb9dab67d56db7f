"""Reads from instructions where each begins, and which function the program calls first."""

from __future__ import annotations

import capstone

from debugger.backends.inprocess.engine.engine import Engine
from debugger.symbols.dwarf.unwinding import LoadedBinary

_FUNCTION_MAX = 1 << 20
_ENTRY_AT, _ENTRY_END = 24, 32  # in an ELF file's header
_START_SIZE = 64


async def instruction_start(address: int, module: LoadedBinary, engine: Engine) -> int:
    """Return where the instruction at an address begins, as far as its function is known."""
    symbol = module.image.symbol_at(address - module.load_bias)
    if symbol is None or not symbol.is_function:
        return address
    start = symbol.address + module.load_bias
    if not 0 < address - start < _FUNCTION_MAX:
        return address
    code = await engine.read_memory(start, address - start + 16)
    for at, size, _, _ in _make_decoder().disasm_lite(code, start):
        if at <= address < at + size:
            return int(at)
    return address


def find_main(module: LoadedBinary) -> int | None:
    """Find `main` by the code that a program begins with; None where that is not as usual.

    It hands the C library the address of `main` in rdi (System V ABI, AMD64, 3.2.3).
    """
    binary = module.image.binary
    entry = int.from_bytes(bytes(memoryview(binary.content)[_ENTRY_AT:_ENTRY_END]), "little")
    code = binary.read_at(entry, _START_SIZE)
    found = None
    for at, size, name, text in _make_decoder().disasm_lite(code or b"", entry):
        if name == "call":
            break
        target, _, value = text.partition(", ")
        if target not in {"rdi", "edi"}:
            continue
        if name == "lea" and value.startswith("[rip + 0x"):
            found = at + size + int(value[len("[rip + ") : -1], 16)
        elif name == "lea" and value.startswith("[rip - 0x"):
            found = at + size - int(value[len("[rip - ") : -1], 16)
        elif name in {"mov", "movabs"} and value.startswith("0x"):
            found = int(value, 16)
    return found


def _make_decoder() -> capstone.Cs:
    return capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
