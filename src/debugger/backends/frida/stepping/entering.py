"""Resolves the function that a call reaches, through the stubs between."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from debugger.backends.frida.dwarf.expressions import Reader, Unreadable
from debugger.backends.frida.dwarf.symbols import readable
from debugger.backends.frida.dwarf.unwind import Module, Modules
from debugger.backends.frida.stepping.body import Bodies, Body, code_at
from debugger.backends.frida.stepping.decoding import Flow, Instruction, decode

_STUBS_MAX: Final = 4
_INSTRUCTIONS_MAX: Final = 8
_JUMP: Final = 5  # the bytes of a jump
_RELOCATION: Final = struct.Struct("<QQq")
_SYMBOL: Final = struct.Struct("<IBBHQQ")


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a call comes to, and the function there.

    What is hooked returns to Frida, not to its caller: no step goes into it.
    """

    address: int
    body: Body
    is_hooked: bool = False

    @property
    def can_be_entered(self) -> bool:
        """Whether a step may end there."""
        return self.body.has_lines and not self.is_hooked

    @property
    def inside(self) -> int:
        """Where a step into it ends: behind its prologue."""
        body = self.body
        return body.behind_prologue if self.address == body.start else self.address

    @property
    def name(self) -> str:
        """The function's name, as the source writes it."""
        return readable(self.body.name)


def destination(address: int, modules: Modules, bodies: Bodies, read: Reader) -> Destination:
    """Follow a call's target through procedure linkage tables and thunks to a function."""
    for _ in range(_STUBS_MAX):
        body = bodies.at(address, modules)
        if body.has_lines:
            break
        further = _further(address, modules, read)
        if further is None:
            break
        address = further
    body = bodies.at(address, modules)
    return Destination(address, body, body.has_lines and _is_hooked(address, body.module, read))


def _is_hooked(address: int, module: Module | None, read: Reader) -> bool:
    """Tell whether the agent has changed how a function of the C library begins."""
    if module is None or not module.image.binary.path.name.startswith(("libc.so", "libc-")):
        return False
    kept = module.image.binary.read(address - module.bias, _JUMP)
    try:
        return kept is not None and read(address, _JUMP) != kept
    except Unreadable:
        return False


def _further(address: int, modules: Modules, read: Reader) -> int | None:
    """Find where a stub leads: a few plain instructions, and a jump out of it."""
    module = modules.at(address)
    for _ in range(_INSTRUCTIONS_MAX):
        one = decode(code_at(module, address, read), address)
        if one is None or one.flow not in {Flow.ON, Flow.JUMP}:
            return None
        if one.flow is Flow.JUMP:
            return one.target if one.target is not None else _from_table(one, modules, read)
        address = one.after
    return None


def _from_table(one: Instruction, modules: Modules, read: Reader) -> int | None:
    """Read a jump's target from the global offset table, filled or not yet."""
    place = one.place
    if place is None or not place.is_memory or place.base or place.index:
        return None
    try:
        target = int.from_bytes(read(place.offset, 8), "little")
    except Unreadable:
        return None
    module = modules.at(one.address)
    if module is None or not _is_in_table(target, module):
        return target or None
    name = _name_of(place.offset - module.bias, module)
    return _defined(name, modules) if name else None


def _is_in_table(address: int, module: Module) -> bool:
    """Tell whether an address is in a procedure linkage table: the loader has yet to be asked."""
    own = address - module.bias
    found = (module.image.binary.sections.get(name) for name in (".plt", ".plt.sec", ".plt.got"))
    return any(one is not None and 0 <= own - one.address < one.size for one in found)


def _name_of(slot: int, module: Module) -> str:
    """Name the symbol whose address the loader will put into a slot."""
    binary = module.image.binary
    for place, info, _ in _RELOCATION.iter_unpack(binary.section(".rela.plt")):
        if place == slot and info >> 32:
            names = binary.section(".dynstr")
            number, *_ = _SYMBOL.unpack_from(binary.section(".dynsym"), (info >> 32) * _SYMBOL.size)
            return names[number : names.find(b"\0", number)].decode(errors="replace")
    return ""


def _defined(name: str, modules: Modules) -> int | None:
    for module in modules:
        for one in module.image.symbols.named(name):
            if one.is_function and one.name == name:
                return one.address + module.bias
    return None
