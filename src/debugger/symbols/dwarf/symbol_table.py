"""Finds the symbol at an address, and demangles its name."""

from __future__ import annotations

import bisect
import ctypes
import ctypes.util
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Final

from debugger.model import location
from debugger.symbols.dwarf.elf_file import ElfSymbol

# Escapes of Rust's legacy mangling, whose names are otherwise C++'s with a hash at the end.
_RUST: Final = {
    "$SP$": "@",
    "$BP$": "*",
    "$RF$": "&",
    "$LT$": "<",
    "$GT$": ">",
    "$LP$": "(",
    "$RP$": ")",
    "$C$": ",",
}
_RUST_CODE: Final = re.compile(r"\$u([0-9a-f]{1,6})\$")
_RUST_HASH: Final = re.compile(r"17h[0-9a-f]{16}E")
_PARTS: Final = re.compile(r"_ZN(.*)E")


class SymbolTable:
    """Searches the functions and objects of one binary's symbol table, in link-time addresses."""

    def __init__(self, symbols: Iterable[ElfSymbol]) -> None:
        self._symbols = sorted(symbols, key=lambda one: (one.address, one.size))

    @cached_property
    def _symbol_starts(self) -> list[int]:
        return [one.address for one in self._symbols]

    @property
    def function_names(self) -> Iterator[str]:
        """The names of the functions, as the source writes them."""
        return (demangle(one.name) for one in self._symbols if one.is_function)

    @cached_property
    def object_names(self) -> tuple[str, ...]:
        """The linkage names of the objects."""
        return tuple(one.name for one in self._symbols if not one.is_function)

    @cached_property
    def linkage_names(self) -> tuple[str, ...]:
        """The linkage names of the functions."""
        return tuple(one.name for one in self._symbols if one.is_function)

    def symbol_at(self, address: int) -> ElfSymbol | None:
        """Find the symbol that an address is in."""
        number = bisect.bisect_right(self._symbol_starts, address) - 1
        if number < 0:
            return None
        found = self._symbols[number]
        inside = address < found.address + max(found.size, 1) or not found.size
        return found if inside else None

    def find_by_name(self, name: str) -> tuple[ElfSymbol, ...]:
        """Find symbols by a linkage name, or by a demangled name without arguments."""
        # The linkage name first: it needs no demangling.
        exact = tuple(one for one in self._symbols if one.name == name)
        if exact:
            return exact
        last = name.rpartition("::")[2]
        return tuple(
            one for one in self._symbols if last in one.name and demangle(one.name) == name
        )


@functools.lru_cache(maxsize=4096)
def demangle(name: str) -> str:
    """Return a linkage name in the source's spelling, without arguments: C, C++, legacy Rust.

    Rust's newer form (`_R...`) stays as it is: the debug information has those names.
    """
    # Before C++: legacy Rust names are valid C++ names, with a hash as the last part.
    if _RUST_HASH.search(name):
        return _demangle_rust(name)
    if not name.startswith("_Z"):
        return name
    demangled = _load_demangler()(name)
    return location.plain_function(demangled) if demangled else name


def _demangle_rust(name: str) -> str:
    match = _PARTS.match(name)
    # Each part is preceded by its length, as in C++; the last one is the hash.
    rest, parts = match[1] if match else "", []
    while rest:
        digits = re.match(r"\d+", rest)
        if digits is None:
            return name
        size = int(digits[0])
        parts.append(rest[digits.end() : digits.end() + size])
        rest = rest[digits.end() + size :]
    text = "::".join(part.removeprefix("_") if "$" in part else part for part in parts[:-1])
    for code, meant in _RUST.items():
        text = text.replace(code, meant)
    text = _RUST_CODE.sub(lambda found: chr(int(found[1], 16)), text)
    return text.replace("..", "::")


@functools.cache
def _load_demangler() -> Callable[[str], str]:
    """Load the demangler of the C++ library, where there is one."""
    try:
        library = ctypes.CDLL(ctypes.util.find_library("stdc++") or "libstdc++.so.6")
        demangle = library["__cxa_demangle"]
        free = ctypes.CDLL(None)["free"]
    except (OSError, AttributeError):
        return lambda _: ""
    demangle.restype = ctypes.c_void_p
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    free.argtypes = [ctypes.c_void_p]
    free.restype = None

    def run(name: str) -> str:
        found = demangle(name.encode(), None, None, None)
        if not found:
            return ""
        try:
            return ctypes.string_at(found).decode("utf-8", "replace")
        finally:
            free(found)

    return run
