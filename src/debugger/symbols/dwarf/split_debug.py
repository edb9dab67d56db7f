"""Finds the .dwo and .dwp files of a program whose debug information is split (-gsplit-dwarf)."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from debugger.errors import DebuggerError
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf import elf_file as elf
from debugger.symbols.dwarf.debug_entries import DebugUnit, DebugUnits, Range, SplitPart
from debugger.symbols.dwarf.elf_file import ElfFile

# What the columns of a package's index are (DWARF 5, 7.3.5.3; GNU's version 2 for DWARF 4).
_COLUMNS: Final = {
    2: {1: "info", 3: "abbrev", 4: "line", 5: "loc", 6: "str_offsets"},
    5: {1: "info", 3: "abbrev", 4: "line", 5: "loclists", 6: "str_offsets", 8: "rnglists"},
}
_INDEX: Final = struct.Struct("<HHIII")
_ROW_SIZE: Final = 4


@dataclass(frozen=True, slots=True)
class MissingPart:
    """A unit whose variables and types are in a .dwo file that cannot be read, and why."""

    file: str
    why: str
    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class SplitParts:
    """The units that were found in .dwo files, those that were not, and what identifies them."""

    found: tuple[SplitPart, ...] = ()
    missing: tuple[MissingPart, ...] = ()
    identity: str = ""


def find_parts(debug: ElfFile, program: ElfFile) -> SplitParts:
    """Find the split units of a program: in its package PROGRAM.dwp, else in its .dwo files."""
    skeletons = list(_skeleton_units(debug, program))
    if not skeletons:
        return SplitParts()
    packages = _read_packages(debug, program)
    found, missing = [], []
    digest = hashlib.sha256()
    for unit in skeletons:
        part = next((one for one in (_from_package(unit, one) for one in packages) if one), None)
        known: SplitPart | str = part if part is not None else _from_file(unit, program)
        if isinstance(known, SplitPart):
            found.append(known)
        else:
            missing.append(MissingPart(str(_part_path(unit)), known, unit.code_ranges))
        digest.update(repr((unit.split_id, not isinstance(known, str))).encode())
    return SplitParts(tuple(found), tuple(missing), digest.hexdigest()[:16])


def _skeleton_units(debug: ElfFile, program: ElfFile) -> Iterator[DebugUnit]:
    # Their addresses are always in this table; without it no unit needs to be read.
    if not debug.read_section(".debug_addr"):
        return
    for unit in DebugUnits(debug.read_section, loaded=program.loaded_range):
        if unit.top_entry.has_attribute(dw.AT_DWO_NAME) or unit.top_entry.has_attribute(
            dw.AT_GNU_DWO_NAME
        ):
            yield unit


def _part_path(unit: DebugUnit) -> Path:
    name = unit.top_entry.get_text(dw.AT_DWO_NAME) or unit.top_entry.get_text(dw.AT_GNU_DWO_NAME)
    return Path(unit.directory, name)


def _from_file(unit: DebugUnit, program: ElfFile) -> SplitPart | str:
    """Read the file that a skeleton names, or say why that is not possible."""
    path = _part_path(unit)
    beside = program.path.resolve().parent / path.name
    why = "which is not there"
    for one in (path, beside):
        if not one.is_file():
            continue
        try:
            load = partial(_dwo_section, elf.read_elf(one))
        except (DebuggerError, OSError):
            why = "which cannot be read"
            continue
        offset = _offset_of(load, unit)
        if offset is not None:
            return SplitPart(unit.offset, offset, load)
        why = "which is of another build"
    return why


def _offset_of(load: Callable[[str], bytes], unit: DebugUnit) -> int | None:
    """Find the unit of a .dwo file that belongs to a skeleton."""
    units = DebugUnits(lambda name: load(name.removeprefix(".debug_")))
    return next(
        (
            one.offset
            for one in units
            if one.signature is None and one.split_id == unit.split_id is not None
        ),
        None,
    )


def _dwo_section(file: ElfFile, name: str) -> bytes:
    return file.read_section(f".debug_{name}.dwo")


def _read_packages(debug: ElfFile, program: ElfFile) -> list[dict[int, Callable[[str], bytes]]]:
    paths = {one.path.resolve() for one in (program, debug)}
    packages = [path.with_name(f"{path.name}.dwp") for path in sorted(paths)]
    found = []
    for path in packages:
        if path.is_file():
            try:
                found.append(_read_package(elf.read_elf(path)))
            except (DebuggerError, OSError, struct.error):
                continue
    return found


def _from_package(unit: DebugUnit, package: dict[int, Callable[[str], bytes]]) -> SplitPart | None:
    load = package.get(unit.split_id) if unit.split_id is not None else None
    return SplitPart(unit.offset, 0, load) if load is not None else None


def _read_package(file: ElfFile) -> dict[int, Callable[[str], bytes]]:
    """Read the index of a package: what each compilation unit has of each section."""
    raw = file.read_section(".debug_cu_index")
    if len(raw) < _INDEX.size:
        return {}
    version, _, columns, units, slots = _INDEX.unpack_from(raw)
    names = _COLUMNS.get(version, {})
    keys = struct.unpack_from(f"<{slots}Q", raw, _INDEX.size)
    rows_at = _INDEX.size + 8 * slots
    rows = struct.unpack_from(f"<{slots}I", raw, rows_at)
    table = list(struct.iter_unpack(f"<{columns}I", raw[rows_at + _ROW_SIZE * slots :]))
    found: dict[int, Callable[[str], bytes]] = {}
    for key, row in zip(keys, rows, strict=True):
        if row:
            spans = zip(table[0], table[row], table[units + row], strict=True)
            own = {names[kind]: (at, size) for kind, at, size in spans if kind in names}
            found[key] = partial(_packed_section, file, own)
    return found


def _packed_section(file: ElfFile, spans: dict[str, tuple[int, int]], name: str) -> bytes:
    whole = _dwo_section(file, name)
    if name not in spans:
        return whole
    at, size = spans[name]
    return whole[at : at + size]
