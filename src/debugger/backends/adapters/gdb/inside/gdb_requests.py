"""Answers requests that gdb's adapter does not have. Run inside gdb (16.3).

Registers, a jump, why a breakpoint does not bind: each is a request of our own.
"""

from __future__ import annotations

import base64
import importlib
import re
from collections.abc import Iterator
from typing import Any

gdb: Any = importlib.import_module("gdb")
startup: Any = importlib.import_module("gdb.dap.startup")
frames: Any = importlib.import_module("gdb.dap.frames")

# Memory is mapped by pages: a range ends in the middle of one only at its own end.
_PAGE = 4096
_READ_MAX = 1 << 20
_NAMES_MAX = 5000
_STATUS_GROUPS = (
    ("general", "General Purpose"),
    ("float", "Floating Point"),
    ("vector", "Vector"),
)


def _request_error(problem: object) -> Any:
    return startup.DAPException(str(problem))


# -- machine ---------------------------------------------------------------------------------------


def _read_registers(**given: Any) -> dict[str, Any]:
    """Return a frame's registers in groups; numbers in hexadecimal."""
    # By gdb's own handles; the request runs in gdb's main thread, which has the selection.
    frames.select_frame(given["frameId"])
    frame = gdb.selected_frame()
    architecture = frame.architecture()
    groups, visited = [], set()
    for group, title in _STATUS_GROUPS:
        found = []
        for register in architecture.registers(group):
            # A register is in several groups: the first one shows it.
            if register.name in visited:
                continue
            try:
                value = frame.read_register(register)
                text = _register_text(value)
            # An outer frame knows only the registers that its callee has saved.
            except (gdb.error, gdb.MemoryError):  # not kept, or not of this processor
                continue
            visited.add(register.name)
            found.append({"name": register.name, "value": text})
        if found:
            groups.append({"name": title, "registers": found})
    return {"groups": groups}


def _register_text(value: Any) -> str:
    if value.is_optimized_out:
        return "<not saved>"
    plain = value.type.strip_typedefs()
    # A vector register has many views; its bytes are one number (little endian).
    if plain.code in (gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_ARRAY):
        return f"0x{bytes(reversed(value.bytes)).hex()}" if hasattr(value, "bytes") else str(value)
    if plain.code == gdb.TYPE_CODE_FLT:
        return str(value)
    if plain.code == gdb.TYPE_CODE_FLAGS:
        return f"{int(value):#x} {value}"
    # The mask makes a number of a signed type unsigned.
    return hex(int(value) & ((1 << 8 * plain.sizeof) - 1))


def _read_memory(**given: Any) -> dict[str, str]:
    """Read memory as far as it is mapped; gdb's own reads all or nothing."""
    address = int(given["memoryReference"], 0) + int(given.get("offset") or 0)
    count = min(int(given["count"]), _READ_MAX)
    inferior = gdb.selected_inferior()
    try:
        found = bytes(inferior.read_memory(address, count))
    except gdb.MemoryError:
        # Only after the whole range has failed: most ranges are mapped.
        found = b"".join(_read_pages(inferior, address, count))
    return {"address": hex(address), "data": base64.b64encode(found).decode()}


def _read_pages(inferior: Any, address: int, count: int) -> Iterator[bytes]:
    end = address + count
    while address < end:
        step = min(_PAGE - address % _PAGE, end - address)
        try:
            yield bytes(inferior.read_memory(address, step))
        except gdb.MemoryError:
            return
        address += step


def _disassemble_code(**given: Any) -> dict[str, Any]:
    """Return instructions, each with its function and line; gdb's own names first ones only."""
    address = int(given["memoryReference"], 0)
    inferior = gdb.selected_inferior()
    architecture = inferior.architecture()
    found: list[dict[str, Any]] = []
    while len(found) < given["instructionCount"]:
        try:
            # One by one: gdb fails for the whole range if its end is not mapped.
            (one,) = architecture.disassemble(address, count=1)
            code = inferior.read_memory(address, one["length"])
        except (gdb.error, gdb.MemoryError) as error:
            if not found:
                raise _request_error(f"no code at {address:#x}") from error
            break
        row = {"address": hex(address), "instruction": one["asm"].expandtabs(1)}
        found.append({**row, "instructionBytes": bytes(code).hex(" "), **_place_of(address)})
        address += one["length"]
    return {"instructions": found}


def _place_of(address: int) -> dict[str, Any]:
    place: dict[str, Any] = {}
    block = gdb.block_for_pc(address)
    # A lexical block within a function has no name.
    while block is not None and block.function is None:
        block = block.superblock
    if block is not None:
        place["symbol"] = block.function.print_name
    line = gdb.find_pc_line(address)
    if line.symtab is not None and line.line:
        file = line.symtab.fullname()
        place |= {"line": line.line, "location": {"name": line.symtab.filename, "path": file}}
    return place


def _jump_to_line(**given: Any) -> None:
    """Set a thread's program counter to a line of the same function."""
    thread = next(
        one for one in gdb.selected_inferior().threads() if one.global_num == given["threadId"]
    )
    thread.switch()
    frame = gdb.newest_frame()
    frame.select()
    line = int(given["line"])
    # Lines of templates and inlined functions have code in several functions: only that of this
    # one.
    here = frame.function()
    addresses = [
        entry.pc
        for table in _line_tables(given["file"], line)
        for entry in table.linetable().line(line) or ()
        if here is not None and _function_at(entry.pc) == here.print_name
    ]
    if not addresses:
        raise _request_error(f"line {line} has no code in {frame.name()}")
    # Not `jump`, which also continues the program.
    gdb.parse_and_eval(f"$pc = {min(addresses):#x}")
    # What was told of the stack is of the old place.
    frames._clear_frame_ids(None)  # noqa: SLF001 - gdb clears it only when the program runs


def _function_at(address: int) -> str | None:
    return _place_of(address).get("symbol")


# -- why a breakpoint does not bind ----------------------------------------------------------------


def _line_tables(file: str, line: int) -> Iterator[Any]:
    """Return the symbol tables of a source file that have a line, or one after it."""
    visited = set()
    try:
        # decode_line moves to the next line with code; line tables are asked for the very line.
        _, places = gdb.decode_line(f"{_quote_word(file)}:{line}")
    except gdb.error:
        places = None
    for one in places or ():
        if one.symtab is not None and one.symtab.fullname() not in visited:
            visited.add(one.symtab.fullname())
            yield one.symtab


def _quote_word(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _explain_unbound(**given: Any) -> dict[str, Any]:
    """Return the lines of a file that have code, or the names that are like a function's."""
    if given.get("function") is not None:
        pattern = re.escape(given["stem"])
        answer = gdb.execute_mi(
            "-symbol-info-functions", "--name", pattern, "--max-results", str(_NAMES_MAX)
        )
        found = answer.get("symbols", {}).get("debug", [])
        return {"names": [one["name"] for file in found for one in file["symbols"]]}
    try:
        answer = gdb.execute_mi("-symbol-list-lines", given["file"])
    except gdb.error:
        return {"lines": []}
    return {"lines": sorted({one["line"] for one in answer.get("lines", []) if one["line"] > 0})}


def begin(state: Any, replaced: Any) -> None:
    """Add the requests, and take over those of gdb's that lack something."""
    del state
    replaced("debuggerRegisters", _read_registers)
    replaced("debuggerJump", _jump_to_line)
    replaced("debuggerExplain", _explain_unbound, expect_stopped=False)
    replaced("readMemory", _read_memory)
    replaced("disassemble", _disassemble_code)
