"""Finds the .dwo and .dwp files of a program whose debug information is split (-gsplit-dwarf)."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from debugger.backends.frida.dwarf import binary as elf
from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf.binary import Binary
from debugger.backends.frida.dwarf.entries import Part, Range, Unit, Units
from debugger.errors import DebuggerError

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

    found: tuple[Part, ...] = ()
    missing: tuple[MissingPart, ...] = ()
    identity: str = ""


def find_parts(debug: Binary, program: Binary) -> SplitParts:
    """Find the split units of a program: in its package PROGRAM.dwp, else in its .dwo files."""
    skeletons = list(_skeletons(debug, program))
    if not skeletons:
        return SplitParts()
    packages = _packages(debug, program)
    found, missing = [], []
    digest = hashlib.sha256()
    for unit in skeletons:
        part = next((one for one in (_from_package(unit, one) for one in packages) if one), None)
        known: Part | str = part if part is not None else _from_file(unit, program)
        if isinstance(known, Part):
            found.append(known)
        else:
            missing.append(MissingPart(str(_named(unit)), known, unit.ranges))
        digest.update(repr((unit.split_id, not isinstance(known, str))).encode())
    return SplitParts(tuple(found), tuple(missing), digest.hexdigest()[:16])


def _skeletons(debug: Binary, program: Binary) -> Iterator[Unit]:
    # Their addresses are always in this table; without it no unit needs to be read.
    if not debug.section(".debug_addr"):
        return
    for unit in Units(debug.section, loaded=program.loaded):
        if unit.top.has(dw.AT_DWO_NAME) or unit.top.has(dw.AT_GNU_DWO_NAME):
            yield unit


def _named(unit: Unit) -> Path:
    name = unit.top.text(dw.AT_DWO_NAME) or unit.top.text(dw.AT_GNU_DWO_NAME)
    return Path(unit.directory, name)


def _from_file(unit: Unit, program: Binary) -> Part | str:
    """Read the file that a skeleton names, or say why that is not possible."""
    path = _named(unit)
    beside = program.path.resolve().parent / path.name
    why = "which is not there"
    for one in (path, beside):
        if not one.is_file():
            continue
        try:
            load = partial(_dwo_section, elf.read(one))
        except (DebuggerError, OSError):
            why = "which cannot be read"
            continue
        offset = _offset_of(load, unit)
        if offset is not None:
            return Part(unit.offset, offset, load)
        why = "which is of another build"
    return why


def _offset_of(load: Callable[[str], bytes], unit: Unit) -> int | None:
    """Find the unit of a .dwo file that belongs to a skeleton."""
    units = Units(lambda name: load(name.removeprefix(".debug_")))
    return next(
        (
            one.offset
            for one in units
            if one.signature is None and one.split_id == unit.split_id is not None
        ),
        None,
    )


def _dwo_section(file: Binary, name: str) -> bytes:
    return file.section(f".debug_{name}.dwo")


def _packages(debug: Binary, program: Binary) -> list[dict[int, Callable[[str], bytes]]]:
    paths = {one.path.resolve() for one in (program, debug)}
    packages = [path.with_name(f"{path.name}.dwp") for path in sorted(paths)]
    found = []
    for path in packages:
        if path.is_file():
            try:
                found.append(_package(elf.read(path)))
            except (DebuggerError, OSError, struct.error):
                continue
    return found


def _from_package(unit: Unit, package: dict[int, Callable[[str], bytes]]) -> Part | None:
    load = package.get(unit.split_id) if unit.split_id is not None else None
    return Part(unit.offset, 0, load) if load is not None else None


def _package(file: Binary) -> dict[int, Callable[[str], bytes]]:
    """Read the index of a package: what each compilation unit has of each section."""
    raw = file.section(".debug_cu_index")
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


def _packed_section(file: Binary, spans: dict[str, tuple[int, int]], name: str) -> bytes:
    whole = _dwo_section(file, name)
    if name not in spans:
        return whole
    at, size = spans[name]
    return whole[at : at + size]
