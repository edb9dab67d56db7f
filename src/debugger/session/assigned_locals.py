"""Marks the locals of a stopped frame that the program cannot have assigned yet."""

from __future__ import annotations

import asyncio
import functools
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

import msgspec

from debugger.backends.abilities import DisassemblyAbility
from debugger.errors import DebuggerError
from debugger.model.debugger_words import Runtime
from debugger.model.program import Frame, Instruction, Variable
from debugger.session import javascript_locals
from debugger.session.pointers.memory_layout import is_loaded_file, read_knowledge
from debugger.session.session import Session
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.unassigned_locals import (
    PossibleLocals,
    find_possible_locals,
    find_unassigned,
)

UNASSIGNED = "(not assigned yet)"
_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".C", ".c++", ".h", ".hh", ".hpp", ".hxx")
_FILE_MAX = 64 << 20  # bytes of a program whose debug information is read for this
_IMAGES = 4
_CHUNK = 256  # instructions read at once
_INSTRUCTIONS_MAX = 1 << 12
_READING = threading.Lock()  # sessions of one program share its image
# The code of the functions that a session stopped in last, by process, file and first address. It
# is read once, and the file compared once with what was loaded: most stops are in the function of
# the stop before.
_FUNCTIONS_MAX = 32
_codes: WeakKeyDictionary[Session, dict[tuple[int | None, Path, int], list[Instruction]]] = (
    WeakKeyDictionary()
)
# A user's expression with one of these may have set a variable, or called what sets it.
_MAY_ASSIGN = re.compile(r"(?<![=!<>])=(?!=)|<<=|>>=|\+\+|--|(?<!\bsizeof)(?<=\w)\s*\(|`")


def may_assign(expression: str) -> bool:
    """Return whether an expression may set a variable of the program."""
    return _MAY_ASSIGN.search(expression) is not None


async def mark_unassigned(
    session: Session, frame: Frame, variables: list[Variable]
) -> list[Variable]:
    """Replace the values of locals that are surely not assigned yet (a job).

    Their memory has what was there before: such a value is no value of the variable.
    """
    names = await unassigned_names(session, frame, variables)
    return [
        msgspec.structs.replace(one, value=UNASSIGNED, raw=one.value, handle=0)
        if one.name in names
        else one
        for one in variables
    ]


async def unassigned_names(
    session: Session, frame: Frame, variables: Sequence[Variable]
) -> frozenset[str]:
    """Return the names of the locals that are surely not assigned yet (a job)."""
    if session.traits.runtime is Runtime.NODE:
        return await javascript_locals.unassigned_names(session, frame, variables)
    if not variables or not frame.line or not frame.address or not _is_examined(session, frame):
        return frozenset()
    address, is_caller = int(frame.address, 16), frame.index > 0
    try:
        found = await _read_function(session, address - is_caller, frame.line)
        if found is None or found[0].names.isdisjoint(one.name for one in variables):
            return frozenset()
        possible, image, bias = found
        possible = possible.shift_by(bias)
        code = await _function_code(session, possible, image, bias)
    except (DebuggerError, OSError):
        return frozenset()
    names = find_unassigned(possible, code, address, is_caller=is_caller)
    shown = [one.name for one in variables]
    return frozenset(name for name in names if shown.count(name) == 1)


def _is_examined(session: Session, frame: Frame) -> bool:
    """Return whether a frame is of C or C++, and nobody but the program's code has set a local."""
    is_c = session.traits.runtime is Runtime.NATIVE and (frame.file or "").endswith(_SUFFIXES)
    return (
        is_c
        and not session.selection.may_have_assigned
        and not any(
            may_assign(one.spec.condition or "") or may_assign(one.spec.log or "")
            for one in session.breakpoints.user_breakpoints()
        )
    )


async def _read_function(
    session: Session, address: int, line: int
) -> tuple[PossibleLocals, BinaryImage, int] | None:
    """Return the possible locals of the function at an address, with its file, and the file's bias.

    Addresses are link-time in the locals.
    """
    regions = read_knowledge(session).regions
    region = next((one for one in regions if one.start <= address < one.end), None)
    if region is None or not region.name.startswith("/"):
        return None
    base = min(one.start for one in regions if one.name == region.name)
    found = Path(region.name).stat()
    if found.st_size > _FILE_MAX:
        return None
    image = _open_image(region.name, found.st_mtime_ns, found.st_size)
    bias = image.binary.load_bias(base)
    # A large unit takes a while to read: other sessions must not wait for it.
    possible = await asyncio.to_thread(_read_possible, image, address - bias, line)
    return (possible, image, bias) if possible is not None else None


def _read_possible(image: BinaryImage, address: int, line: int) -> PossibleLocals | None:
    with _READING:
        return find_possible_locals(image, address, line)


@functools.lru_cache(maxsize=_IMAGES)
def _open_image(path: str, modified_ns: int, size: int) -> BinaryImage:
    del modified_ns, size  # another build is another image
    return BinaryImage(path)


async def _function_code(
    session: Session, function: PossibleLocals, image: BinaryImage, bias: int
) -> list[Instruction]:
    """Return all instructions of a function; nothing if its file is not what was loaded."""
    known = _codes.setdefault(session, {})
    key = session.pid, image.binary.path, function.low
    code = known.pop(key, None)
    if code is None:
        base = image.binary.lowest_address + bias
        if not await is_loaded_file(session, image.binary, base):
            return []
        reader = session.backend.find_ability(DisassemblyAbility)
        code = await _read_code(reader, function.low, function.high)
    known[key] = code
    if len(known) > _FUNCTIONS_MAX:
        del known[next(iter(known))]
    return code


async def _read_code(reader: DisassemblyAbility, low: int, high: int) -> list[Instruction]:
    """Read all instructions of a function; nothing if they are too many."""
    code: list[Instruction] = []
    at = low
    while at < high and len(code) < _INSTRUCTIONS_MAX:
        part = await reader.read_instructions(at, min(_CHUNK, high - at))
        fresh = [one for one in part if one.address >= at]
        if not fresh:
            return []
        code += [one for one in fresh if one.address < high]
        last = fresh[-1]
        size = len(last.bytes.replace(" ", "")) // 2
        if last.address >= high or not size:
            break
        at = last.address + size
    return code
