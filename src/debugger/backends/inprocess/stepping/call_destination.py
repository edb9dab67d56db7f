"""Resolves the function that a call reaches, through the stubs between."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from debugger.backends.inprocess.stepping.function_body import (
    FunctionBodies,
    FunctionBody,
    code_at,
)
from debugger.backends.inprocess.stepping.instruction_decoding import (
    ControlFlow,
    DecodedInstruction,
    decode_instruction,
)
from debugger.symbols.dwarf.location_evaluation import Reader, UnreadableMemory
from debugger.symbols.dwarf.symbol_table import demangle
from debugger.symbols.dwarf.unwinding import LoadedBinaries, LoadedBinary

_STUBS_MAX: Final = 4
_INSTRUCTIONS_MAX: Final = 8
_JUMP: Final = 5  # the bytes of a jump
_RELOCATION: Final = struct.Struct("<QQq")
_SYMBOL: Final = struct.Struct("<IBBHQQ")


@dataclass(frozen=True, slots=True)
class CallDestination:
    """Where a call comes to, and the function there.

    What is hooked returns to Frida, not to its caller: no step goes into it.
    """

    address: int
    body: FunctionBody
    is_hooked: bool = False

    @property
    def can_be_entered(self) -> bool:
        """Whether a step may end there."""
        return self.body.has_lines and not self.is_hooked

    @property
    def body_address(self) -> int:
        """Where a step into it ends: behind its prologue."""
        body = self.body
        return body.behind_prologue if self.address == body.start else self.address

    @property
    def name(self) -> str:
        """The function's name, as the source writes it."""
        return demangle(self.body.name)


def find_destination(
    address: int, modules: LoadedBinaries, bodies: FunctionBodies, read: Reader
) -> CallDestination:
    """Follow a call's target through procedure linkage tables and thunks to a function."""
    for _ in range(_STUBS_MAX):
        body = bodies.body_at(address, modules)
        if body.has_lines:
            break
        further = _stub_target(address, modules, read)
        if further is None:
            break
        address = further
    body = bodies.body_at(address, modules)
    return CallDestination(address, body, body.has_lines and _is_hooked(address, body.module, read))


def _is_hooked(address: int, module: LoadedBinary | None, read: Reader) -> bool:
    """Tell whether the agent has changed how a function of the C library begins."""
    if module is None or not module.image.binary.path.name.startswith(("libc.so", "libc-")):
        return False
    kept = module.image.binary.read_at(address - module.load_bias, _JUMP)
    try:
        return kept is not None and read(address, _JUMP) != kept
    except UnreadableMemory:
        return False


def _stub_target(address: int, modules: LoadedBinaries, read: Reader) -> int | None:
    """Find where a stub leads: a few plain instructions, and a jump out of it."""
    module = modules.module_at(address)
    for _ in range(_INSTRUCTIONS_MAX):
        one = decode_instruction(code_at(module, address, read), address)
        if one is None or one.flow not in {ControlFlow.ON, ControlFlow.JUMP}:
            return None
        if one.flow is ControlFlow.JUMP:
            return one.target if one.target is not None else _from_table(one, modules, read)
        address = one.next_address
    return None


def _from_table(one: DecodedInstruction, modules: LoadedBinaries, read: Reader) -> int | None:
    """Read a jump's target from the global offset table, filled or not yet."""
    place = one.place
    if place is None or not place.is_memory or place.base or place.index:
        return None
    try:
        target = int.from_bytes(read(place.offset, 8), "little")
    except UnreadableMemory:
        return None
    module = modules.module_at(one.address)
    if module is None or not _is_in_table(target, module):
        return target or None
    name = _name_of(place.offset - module.load_bias, module)
    return _defined_address(name, modules) if name else None


def _is_in_table(address: int, module: LoadedBinary) -> bool:
    """Tell whether an address is in a procedure linkage table: the loader has yet to be asked."""
    own = address - module.load_bias
    found = (module.image.binary.sections.get(name) for name in (".plt", ".plt.sec", ".plt.got"))
    return any(one is not None and 0 <= own - one.address < one.size for one in found)


def _name_of(slot: int, module: LoadedBinary) -> str:
    """Name the symbol whose address the loader will put into a slot."""
    binary = module.image.binary
    for place, info, _ in _RELOCATION.iter_unpack(binary.read_section(".rela.plt")):
        if place == slot and info >> 32:
            names = binary.read_section(".dynstr")
            number, *_ = _SYMBOL.unpack_from(
                binary.read_section(".dynsym"), (info >> 32) * _SYMBOL.size
            )
            return names[number : names.find(b"\0", number)].decode(errors="replace")
    return ""


def _defined_address(name: str, modules: LoadedBinaries) -> int | None:
    for module in modules:
        for one in module.image.symbols.find_by_name(name):
            if one.is_function and one.name == name:
                return one.address + module.load_bias
    return None
