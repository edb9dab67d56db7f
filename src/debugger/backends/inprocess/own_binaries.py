"""Tells the program's own binaries from the system's."""

from __future__ import annotations

import struct
import weakref
from typing import Final

from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.function_index import name_components
from debugger.symbols.dwarf.unwinding import LoadedBinary

_SYSTEM: Final = ("/lib", "/usr/lib")
_SYMBOL: Final = struct.Struct("<I2xH16x")  # its name, and the section that defines it
_given: weakref.WeakKeyDictionary[BinaryImage, frozenset[bytes]] = weakref.WeakKeyDictionary()


def is_of_system(module: LoadedBinary) -> bool:
    """Tell whether a binary lies where the system's libraries do."""
    return str(module.image.binary.path).startswith(_SYSTEM)


def defines_name(module: LoadedBinary, name: str) -> bool:
    """Tell whether a name of a binary is meant by a program that does not qualify it.

    What a system's library keeps to itself has the names of anything.
    """
    if not is_of_system(module):
        return True
    last = name_components(name)[-1].partition("<")[0].encode()
    given = _given.get(module.image)
    if given is None:
        given = _given[module.image] = _exported_names(module.image)
    # As it is mangled, of C++.
    within = b"%d%s" % (len(last), last)
    return last in given or any(within in one for one in given)


def _exported_names(image: BinaryImage) -> frozenset[bytes]:
    texts = bytes(image.binary.read_section(".dynstr"))
    raw = bytes(image.binary.read_section(".dynsym"))
    whole = raw[: len(raw) // _SYMBOL.size * _SYMBOL.size]
    return frozenset(
        texts[name : texts.find(b"\0", name)]
        for name, section in _SYMBOL.iter_unpack(whole)
        if section
    )
