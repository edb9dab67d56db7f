"""Reads a stopped program by its core file, and by gdb to compare."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from debuggees import find_marker, find_source
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.debug_types import TypeKind
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory
from debugger.symbols.dwarf.typed_values import (
    TypedValue,
    ValueMemory,
    array_element,
    case_of,
    member_value,
    read_floating,
    read_integer,
)
from debugger.symbols.dwarf.unwinding import (
    LoadedBinaries,
    LoadedBinary,
    UnwoundFrame,
    unwind_stack,
)

_TIMEOUT_S: Final = 110
_DEPTH: Final = 5
_ELEMENTS: Final = 21
# The order of a core file's general registers (struct user_regs_struct), by DWARF number.
_REGISTERS: Final = (15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, None, 16, None, None, 7)
_PRSTATUS, _FILES, _PT_LOAD, _PT_NOTE = 1, 0x46494C45, 1, 4
_REGISTERS_AT: Final = 112
_COMMANDS: Final = {
    ".c": ("gcc", "-g", "-O{}"),
    ".cpp": ("g++", "-g", "-O{}", "-std=c++17", "-pthread"),
    ".rs": ("rustc", "-g", "--edition=2021", "-C", "opt-level={}"),
}


def compile_debuggee(name: str, level: int, directory: Path, *options: str) -> Path:
    """Build a debuggee with debug information at a level of optimisation."""
    path = find_source(name)
    program = directory / "".join([path.stem, path.suffix[1:], str(level), *options])
    if program.exists() and program.stat().st_mtime >= path.stat().st_mtime:
        return program
    command = [word.format(level) for word in _COMMANDS[path.suffix]]
    draft = directory / f"{program.name}.{os.getpid()}"
    subprocess.run([*command, *options, "-o", draft, path], check=True, timeout=_TIMEOUT_S)
    return draft.rename(program)


def run_gdb_script(program: Path, script: str, directory: Path) -> Any:
    """Run a Python script inside gdb, which sets `answer`; give what it set."""
    file, answer = directory / "asked.py", directory / "answer.json"
    ends = f"open({str(answer)!r}, 'w').write(json.dumps(answer))"
    file.write_text(f"import gdb, json\n{script}\n{ends}\n")
    command = [shutil.which("gdb") or "gdb", "-nx", "-batch"]
    for one in ("debuginfod enabled off", "breakpoint pending off", "confirm off"):
        command += ["-iex", f"set {one}"]
    ran = subprocess.run(
        [*command, "-x", file, program],
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    assert answer.exists(), ran.stdout + ran.stderr
    return json.loads(answer.read_text())


_STOP = """
def plain(value, depth=0):
    kind = value.type.strip_typedefs()
    code = kind.code
    try:
        if value.is_optimized_out:
            return "gone"
        if code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            return plain(value.referenced_value(), depth)
        if code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            if depth > 5:
                return "deep"
            fields = [one for one in kind.fields() if hasattr(one, "bitpos")]
            return {
                f"base {number}" if one.is_base_class else one.name or "":
                    plain(value[one], depth + 1)
                for number, one in enumerate(fields)
                if not one.artificial or (one.name or "").startswith("_vptr")
            }
        if code == gdb.TYPE_CODE_ARRAY:
            low, high = kind.range()
            return [plain(value[one], depth + 1) for one in range(low, min(high, low + 20) + 1)]
        if code == gdb.TYPE_CODE_FLT:
            return float(value)
        if code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR,
                    gdb.TYPE_CODE_ENUM):
            return int(value)
    except gdb.MemoryError:
        return "unreadable"
    return "other"

gdb.execute(f"break {place}")
gdb.execute("run")
gdb.execute(f"generate-core-file {core}")
frames = []
frame = gdb.newest_frame()
while frame is not None:
    found = {}
    block = None
    try:
        block = frame.block() if frame.function() else None
    except RuntimeError:
        pass
    while block is not None:
        for symbol in block:
            if (symbol.is_variable or symbol.is_argument) and symbol.name not in found:
                found[symbol.name] = plain(symbol.value(frame))
        if block.function is not None:
            break
        block = block.superblock
    sal = frame.find_sal()
    frames.append({
        "function": frame.name(),
        "line": sal.line if sal.symtab else 0,
        "file": sal.symtab.fullname() if sal.symtab else "",
        "pc": frame.pc(),
        "inlined": frame.type() == gdb.INLINE_FRAME,
        "variables": found,
    })
    if frame.name() == last:
        break
    frame = frame.older()
answer = frames
gdb.execute("kill")
"""


@dataclass(frozen=True)
class GdbStop:
    """One stop: gdb's frames, and what ours are made from."""

    theirs: list[dict[str, Any]]
    registers: Mapping[int, int]
    modules: LoadedBinaries
    memory: ValueMemory

    def own_stack(self) -> list[UnwoundFrame]:
        """Unwind the stack."""
        return unwind_stack(self.registers, self.modules, self.memory.read)


def stop_at_marker(
    name: str, level: int, where: str, directory: Path, *options: str, last: str = "main"
) -> GdbStop:
    """Stop a debuggee at a marked line; gdb tells its frames up to the function `last`."""
    program = compile_debuggee(name, level, directory, *options)
    here = directory / f"{program.name}-{where}"
    here.mkdir(exist_ok=True)
    core = here / "core"
    place = f"{find_source(name).name}:{find_marker(name, where)}"
    words = f"place, core, last = {place!r}, {str(core)!r}, {last!r}\n"
    theirs = run_gdb_script(program, words + _STOP, here)
    content = core.read_bytes()
    core.unlink()
    return parse_stop(theirs, content, program)


def parse_stop(theirs: list[dict[str, Any]], content: bytes, program: Path) -> GdbStop:
    parts, registers, files = read_core_notes(content)
    spans: dict[str, tuple[int, int]] = {}
    for path, low, high in files:
        known = spans.get(path, (low, high))
        spans[path] = (min(known[0], low), max(known[1], high))
    modules = LoadedBinaries(
        LoadedBinary(BinaryImage(path), low, high)
        for path, (low, high) in spans.items()
        if path == str(program) or ".so" in path
    )

    def read(address: int, size: int) -> bytes:
        for low, length, offset in parts:
            if low <= address and address + size <= low + length:
                return content[offset + address - low : offset + address - low + size]
        module = modules.module_at(address)
        found = module.image.binary.read_at(address - module.load_bias, size) if module else None
        if found is None:
            raise UnreadableMemory(address)
        return found

    return GdbStop(theirs, registers, modules, ValueMemory(read, modules.symbol_name))


def read_core_notes(
    content: bytes,
) -> tuple[list[tuple[int, int, int]], dict[int, int], list[tuple[str, int, int]]]:
    parts, registers, files = [], {}, []
    (start,) = struct.unpack_from("<Q", content, 32)
    (count,) = struct.unpack_from("<H", content, 56)
    for number in range(count):
        kind, _, offset, address, _, size, _, _ = struct.unpack_from(
            "<IIQQQQQQ", content, start + 56 * number
        )
        if kind == _PT_LOAD:
            parts.append((address, size, offset))
        at, end = offset, offset + size
        while kind == _PT_NOTE and at < end:
            names, length, note = struct.unpack_from("<III", content, at)
            at += 12 + (names + 3 & ~3)
            if note == _PRSTATUS and not registers:
                held = struct.unpack_from("<20Q", content, at + _REGISTERS_AT)
                pairs = zip(_REGISTERS, held, strict=True)
                registers = {one: value for one, value in pairs if one is not None}
            elif note == _FILES:
                files = parse_mappings(content[at : at + length])
            at += length + 3 & ~3
    return parts, registers, files


def parse_mappings(note: bytes) -> list[tuple[str, int, int]]:
    (count,) = struct.unpack_from("<Q", note)
    names = note[16 + 24 * count :].split(b"\0")
    return [
        (names[number].decode(), *struct.unpack_from("<QQ", note, 16 + 24 * number))
        for number in range(count)
    ]


def plain_value(  # noqa: PLR0911 - one case for each kind of type
    value: TypedValue, memory: ValueMemory, depth: int = 0
) -> Any:
    """Give a value as gdb's script above gives it: without the containers' own forms."""
    kind = value.type.kind
    if value.problem:
        return "gone"
    try:
        if kind is TypeKind.REFERENCE:
            target = TypedValue(
                value.type.target_type, address=read_integer(value, memory, is_signed=False)
            )
            return plain_value(target, memory, depth)
        if kind in {TypeKind.STRUCT, TypeKind.UNION}:
            return plain_members(value, memory, depth)
        if kind is TypeKind.ARRAY:
            count = min(value.type.dimension_counts[0] or 0, _ELEMENTS)
            return [
                plain_value(array_element(value, one), memory, depth + 1) for one in range(count)
            ]
        if kind is TypeKind.FLOAT:
            return read_floating(memory.bytes_of(value))
        if kind in {
            TypeKind.POINTER,
            TypeKind.INTEGER,
            TypeKind.BOOL,
            TypeKind.CHARACTER,
            TypeKind.ENUM,
        }:
            return read_integer(value, memory)
    except UnreadableMemory:
        return "unreadable"
    return "other"


def plain_members(value: TypedValue, memory: ValueMemory, depth: int) -> Any:
    if depth > _DEPTH:
        return "deep"
    case = case_of(value, memory)
    members = case.members if case is not None else value.type.members
    return {
        f"base {number}" if one.is_base else one.name: plain_value(
            member_value(value, one), memory, depth + 1
        )
        for number, one in enumerate(members)
    }
