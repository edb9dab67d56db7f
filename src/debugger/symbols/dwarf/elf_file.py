"""Reads the sections and symbols of an ELF file, and finds its debug file."""

from __future__ import annotations

import bisect
import ctypes
import ctypes.util
import functools
import hashlib
import mmap
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Final, TypeAlias

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import location
from debugger.symbols import elf_headers
from debugger.symbols.elf_headers import MACHINE_X86_64, ElfHeader, ElfSection, ElfSegment

Buffer: TypeAlias = bytes | mmap.mmap

DEBUG_ROOT: Final = Path("/usr/lib/debug")

_PAGE: Final = 0xFFF
_SECTION_MAX: Final = 4 << 30  # bytes, of a section that is decompressed
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_DYNAMIC: Final = struct.Struct("<QQ")


_DT_FLAGS_1: Final = 0x6FFFFFFB
_DF_1_PIE: Final = 0x08000000
_SHT_NOBITS: Final = 8
_SHF_TLS: Final = 0x400  # each thread has a copy elsewhere
_SHF_ALLOC: Final = 0x2
_CLASS_64_LITTLE: Final = b"\x7fELF\x02\x01"
_SYMBOL_INDIRECT: Final = 10  # GNU_IFUNC
_SYMBOL_FUNCTIONS: Final = (2, _SYMBOL_INDIRECT)
_SYMBOL_THREAD_LOCAL: Final = 6
_RELOCATION: Final = struct.Struct("<QQq")
_DTPMOD64: Final = 16  # the loader writes the number of the symbol's module here
_SYMBOL_KINDS: Final = (1, *_SYMBOL_FUNCTIONS)  # an object, or a function
LINKAGE_TABLES: Final = (".plt", ".plt.sec", ".plt.got")
_LINKAGE_ENTRY: Final = 8
# An entry jumps by a slot of the global offset table, at a distance from the jump's end.
_LINKAGE_JUMP: Final = re.compile(
    rb"(?:\xf3\x0f\x1e\xfa)?\xf2?\xff\x25(?P<distance>.{4})", re.DOTALL
)
# The name's offset, the kind, something, the section, the address, the size.
_Raw: TypeAlias = tuple[int, int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class ElfSymbol:
    """Describes a function or an object of the symbol table, by linkage name and link-time address.

    The code of an indirect one returns the address of the function to call.
    """

    name: str
    address: int
    size: int
    is_function: bool
    is_indirect: bool = False


@dataclass(eq=False)
class ElfFile:
    """Describes an ELF file of x86-64: its content stays mapped as long as this value lives."""

    path: Path
    content: Buffer = field(repr=False)
    header: ElfHeader
    segments: tuple[ElfSegment, ...]
    sections: dict[str, ElfSection]
    interpreter: str | None
    build_id: str
    thread_local: tuple[int, int] | None = None  # size and alignment of each thread's block

    @property
    def is_pie(self) -> bool:
        """Whether it may be loaded at any address."""
        return self.header.kind == elf_headers.SHARED

    @cached_property
    def lowest_address(self) -> int:
        """The link-time address of the module's base."""
        return min((one.address for one in self.segments), default=0) & ~_PAGE

    @cached_property
    def loaded_range(self) -> tuple[int, int]:
        """The link-time addresses that sections of code and data have: the first, and the end."""
        found = [one for one in self.sections.values() if one.flags & _SHF_ALLOC and one.address]
        if not found:
            return self.lowest_address + 1, max(
                (one.address + one.size for one in self.segments), default=0
            )
        return min(one.address for one in found), max(one.address + one.size for one in found)

    @property
    def block_below(self) -> int | None:
        """The distance from the thread pointer down to thread-locals of a program; else None."""
        if self.thread_local is None or not (
            self.header.kind == elf_headers.EXECUTABLE or self._is_pie_program
        ):
            return None
        # Variant II of the TLS ABI: the program's block ends at the thread pointer, rounded
        # to its alignment.
        size, align = self.thread_local
        return (size + align - 1) // align * align

    @cached_property
    def module_number_slot(self) -> int | None:
        """The slot in which the loader writes the module number of a library's thread-locals."""
        symbols, raw = self.read_section(".dynsym"), self.read_section(".rela.dyn")
        for at in range(0, len(raw) - _RELOCATION.size + 1, _RELOCATION.size):
            place, info, _ = _RELOCATION.unpack_from(raw, at)
            if info & 0xFFFFFFFF != _DTPMOD64:
                continue
            # Without a symbol, or with one that this file defines (its section is not 0), the
            # slot is for this module itself.
            number = info >> 32
            if not number or _SYMBOL.unpack_from(symbols, number * _SYMBOL.size)[3]:
                return int(place)
        return None

    @cached_property
    def thread_local_names(self) -> tuple[str, ...]:
        """The linkage names of its thread-local variables."""
        table, texts = (self.read_section(one) for one in self._symbol_tables)
        entries = table[: len(table) // _SYMBOL.size * _SYMBOL.size]
        return tuple(
            _parse_symbol(one, texts).name
            for one in _SYMBOL.iter_unpack(entries)
            if one[1] & 0xF == _SYMBOL_THREAD_LOCAL and one[3]
        )

    @cached_property
    def _is_pie_program(self) -> bool:
        raw = self.read_section(".dynamic")
        flags = (_DYNAMIC.unpack_from(raw, at) for at in range(0, len(raw) - 15, _DYNAMIC.size))
        return any(tag == _DT_FLAGS_1 and value & _DF_1_PIE for tag, value in flags)

    def load_bias(self, base: int) -> int:
        """Return what to add to a link-time address, when the module was loaded at `base`."""
        return base - self.lowest_address

    def has_section(self, name: str) -> bool:
        """Return whether a section exists, and has content in this file."""
        found = self.sections.get(name)
        return found is not None and found.kind != _SHT_NOBITS

    def read_section(self, name: str) -> bytes:
        """Read a section, decompressed; nothing where it is missing.

        Raises:
            DebuggerError: NOT_SUPPORTED for a compression that Python has no module for.
        """
        found = self.sections.get(name)
        if found is None:
            old = self.sections.get(f".z{name[1:]}")
            return zlib.decompress(self._section_content(old)[12:]) if old is not None else b""
        raw = self._section_content(found)
        if found.flags & elf_headers.COMPRESSED and raw:
            try:
                return elf_headers.decompress_section(raw, self.header.layout, _SECTION_MAX)
            except NotImplementedError as error:
                raise DebuggerError(
                    ErrorCode.NOT_SUPPORTED,
                    f"{self.path}: {name} is compressed by method {error}, not by zlib",
                    hint=f"objcopy --decompress-debug-sections {self.path}",
                ) from error
        return raw

    def _section_content(self, section: ElfSection) -> bytes:
        if section.kind == _SHT_NOBITS:
            return b""
        return bytes(memoryview(self.content)[section.offset : section.offset + section.size])

    def read_at(self, address: int, size: int) -> bytes | None:
        """Read what the file holds at a link-time address, if it holds it all."""
        for one in self.segments:
            if one.address <= address and address + size <= one.address + one.file_size:
                start = one.offset + address - one.address
                return bytes(memoryview(self.content)[start : start + size])
        return None

    def read_symbols(self) -> Iterator[ElfSymbol]:
        """Yield the functions and objects that the file defines, `.symtab` before `.dynsym`."""
        texts = self.read_section(self._symbol_tables[1])
        for raw in self._raw_symbols():
            yield _parse_symbol(raw, texts)

    def symbol_at(self, address: int, behind: int = 0) -> ElfSymbol | None:
        """Return the symbol that an address is in, without building all of them.

        Or the nearest one that ends at most `behind` - 1 bytes below it.
        """
        below = [one for one in self._raw_symbols() if one[4] <= address]
        # Of several names for one function the last.
        found = max(reversed(below), key=itemgetter(4, 5), default=None)
        if found is None or 0 < found[5] <= address - found[4] - behind:
            return None
        return _parse_symbol(found, self.read_section(self._symbol_tables[1]))

    def section_at(self, address: int) -> ElfSection | None:
        """Return the section of code or data that a link-time address is in."""
        return next(
            (
                one
                for one in self.sections.values()
                if one.flags & (_SHF_ALLOC | _SHF_TLS) == _SHF_ALLOC
                and one.address <= address < one.address + one.size
            ),
            None,
        )

    @property
    def _symbol_tables(self) -> tuple[str, str]:
        return (".symtab", ".strtab") if self.has_section(".symtab") else (".dynsym", ".dynstr")

    def _raw_symbols(self) -> Iterator[_Raw]:
        raw = self.read_section(self._symbol_tables[0])
        entries = raw[: len(raw) // _SYMBOL.size * _SYMBOL.size]
        return (
            one
            for one in _SYMBOL.iter_unpack(entries)
            if one[3] and one[4] and one[1] & 0xF in _SYMBOL_KINDS
        )

    @cached_property
    def imported_names(self) -> dict[int, str]:
        """The names of imported symbols, by the link-time address that the loader fills in."""
        texts, symbols = self.read_section(".dynstr"), self.read_section(".dynsym")
        found: dict[int, str] = {}
        for name in (".rela.plt", ".rela.dyn"):
            raw = self.read_section(name)
            for place, info, _ in _RELOCATION.iter_unpack(
                raw[: len(raw) // _RELOCATION.size * _RELOCATION.size]
            ):
                at = (info >> 32) * _SYMBOL.size
                if at and at + _SYMBOL.size <= len(symbols):
                    start, *_ = _SYMBOL.unpack_from(symbols, at)
                    found[place] = texts[start : texts.find(b"\0", start)].decode(errors="replace")
        return found

    @cached_property
    def linkage_entries(self) -> dict[int, str]:
        """The functions that the procedure linkage table leads to, by link-time address."""
        found: dict[int, str] = {}
        for name in LINKAGE_TABLES:
            section = self.sections.get(name)
            code = self.read_section(name) if section is not None else b""
            for at in range(0, len(code), _LINKAGE_ENTRY):
                jump = _LINKAGE_JUMP.match(code, at)
                if section is not None and jump is not None:
                    distance = int.from_bytes(jump["distance"], "little", signed=True)
                    slot = section.address + jump.end() + distance
                    if slot in self.imported_names:
                        found[section.address + at] = self.imported_names[slot]
        return found

    @cached_property
    def build_identity(self) -> str:
        """The identity of this build: the build id, or a digest of path, size and time."""
        if self.build_id:
            return self.build_id
        found = self.path.stat()
        text = f"{self.path.resolve()}\0{found.st_size}\0{found.st_mtime_ns}"
        return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:40]


def _parse_symbol(raw: _Raw, texts: bytes) -> ElfSymbol:
    name, kind, _, _, address, size = raw
    text = texts[name : texts.find(b"\0", name)].decode(errors="replace")
    kind &= 0xF
    return ElfSymbol(text, address, size, kind in _SYMBOL_FUNCTIONS, kind == _SYMBOL_INDIRECT)


def read_elf(path: str | Path) -> ElfFile:
    """Read the headers of an ELF file.

    Raises:
        DebuggerError: NOT_FOUND, or NOT_SUPPORTED for what is no ELF file of x86-64.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            content: Buffer = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise DebuggerError(
            ErrorCode.NOT_FOUND, f"cannot read {path}: {error}", hint="name the program's file"
        ) from error
    try:
        return parse_elf(path, content)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED, f"{path} is a broken ELF file: {error}", hint="build it again"
        ) from error


def parse_elf(path: Path, content: Buffer) -> ElfFile:
    """Parse the headers in an ELF file's content.

    Raises:
        DebuggerError: NOT_SUPPORTED.
        struct.error: It is cut off.
    """
    view = memoryview(content)

    def read(at: int, size: int) -> bytes:
        return bytes(view[at : at + size])

    if read(0, 6) != _CLASS_64_LITTLE:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{path} is not a 64-bit little-endian ELF file",
            hint="use another backend: debugger doctor",
        )
    header = elf_headers.parse_header(read(0, elf_headers.HEADER_SIZE))
    if header.machine != MACHINE_X86_64:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{path} is for machine {header.machine}, not for x86-64",
            hint="use another backend: debugger doctor",
        )
    segments = elf_headers.read_segments(read, header)
    sections = elf_headers.read_sections(read, header)
    if len(segments) < header.segment_count or len(sections) < header.section_count:
        raise struct.error("its tables are cut off")
    loaded = tuple(one for one in segments if one.kind == elf_headers.LOADED)
    interpreter, build_id, block = None, "", None
    for one in segments:
        if one.kind == elf_headers.THREAD_LOCAL:
            block = one.size, max(one.alignment, 1)
        elif one.kind == elf_headers.INTERPRETER:
            interpreter = read(one.offset, one.file_size).rstrip(b"\0").decode()
        elif one.kind == elf_headers.NOTES and not build_id:
            build_id = elf_headers.find_build_id(read(one.offset, one.file_size), "<")
    # Of sections with one name the first.
    by_name = {one.name: one for one in reversed(sections)}
    note = by_name.get(".note.gnu.build-id")
    if not build_id and note is not None and note.kind != _SHT_NOBITS:
        build_id = elf_headers.find_build_id(read(note.offset, note.size), "<")
    return ElfFile(path, content, header, loaded, by_name, interpreter, build_id, block)


def debug_file(binary: ElfFile, *, root: Path = DEBUG_ROOT) -> ElfFile | None:
    """Find the file with the debug information: itself, or a separate one of its build."""
    if binary.has_section(".debug_info") or binary.has_section(".zdebug_info"):
        return binary
    for path in _separate_debug_files(binary, root):
        if not path.is_file():
            continue
        found = read_elf(path)
        # A file of another build would give wrong lines without a sign of it.
        if found.has_section(".debug_info") and found.build_id == binary.build_id:
            return found
    return None


def _separate_debug_files(binary: ElfFile, root: Path) -> Iterator[Path]:
    number = binary.build_id
    if number:
        yield root / ".build-id" / number[:2] / f"{number[2:]}.debug"
    link = binary.read_section(".gnu_debuglink")
    if link:
        name = link[: link.index(b"\0")].decode(errors="surrogateescape")
        folder = binary.path.resolve().parent
        yield folder / name
        yield folder / ".debug" / name
        yield root / folder.relative_to("/") / name


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
        is_inside = address < found.address + max(found.size, 1) or not found.size
        return found if is_inside else None

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
    for code, replacement in _RUST.items():
        text = text.replace(code, replacement)
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
