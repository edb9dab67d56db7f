"""Reports what was thrown at a stop in the runtime's throwing or catching function.

By the Itanium C++ ABI: a type_info holds its name behind its virtual table, and then its only base.
Before an exception that is caught lies the runtime's own header.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Protocol

from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.program import CatchFilter, ExceptionDetails, Stopped
from debugger.symbols.dwarf.elf_file import demangle

THROW, CATCH, PANIC = "throw", "catch", "panic"
FUNCTIONS = {THROW: "__cxa_throw", CATCH: "__cxa_begin_catch", PANIC: "rust_panic"}
CATCHES: Mapping[str, CatchFilter] = {
    THROW: CatchFilter(THROW, "C++ exceptions, when they are thrown", takes_type=True),
    CATCH: CatchFilter(CATCH, "C++ exceptions, when they are caught", takes_type=True),
    PANIC: CatchFilter(PANIC, "Rust panics"),
}

_TYPE_OF_CAUGHT, _CAUGHT = -80, 32  # from the unwinder's header (unwind-cxx.h)
# libstdc++ stores the message of these two behind the virtual table, as a pointer to letters;
# classes derived from them are found by their bases. Others are asked by a call of `what`.
_WITH_TEXT = ("St13runtime_error", "St11logic_error")
# Memory that is no type_info might lead in a circle.
_BASES_MAX = 20
_TEXT_MAX = 1000
_WHAT = 16  # the place of `what` in the table, behind two destructors
_CALL_S = 2.0


class ExceptionAccess(TargetAccess, Protocol):
    """Gives access to the session's program."""

    async def set_catches(self, breakpoints: Sequence[Breakpoint]) -> list[BoundBreakpoint]:
        """Replace the catchpoints."""


class InProcessExceptions:
    """Sets breakpoints on the functions of the runtime that throw, catch and panic."""

    def __init__(self, access: ExceptionAccess) -> None:
        self._access = access

    @property
    def catch_filters(self) -> Mapping[str, CatchFilter]:
        """The events that can be caught, by the words of `catch`."""
        return CATCHES

    async def set_catches(self, breakpoints: Sequence[Breakpoint]) -> list[BoundBreakpoint]:
        """Replace the catchpoints, which bind when the language's runtime is loaded."""
        return await self._access.set_catches(breakpoints)


def locate_catch(spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
    """Return the location of a catchpoint, or why there is none."""
    word = spec.catch or ""
    if word not in CATCHES:
        return BoundBreakpoint(
            verified=False, why=f"frida cannot catch {word}; it can: {', '.join(CATCHES)}"
        )
    if spec.type is not None and not CATCHES[word].takes_type:
        return BoundBreakpoint(verified=False, why=f"a {word} has no type to choose by")
    return spec


def type_condition(spec: BreakpointSpec) -> str | None:
    """Write a condition for the engine by which exceptions of other types pass."""
    if spec.type is None:
        return None
    # In the agent, as it must be cheap: the name in type_info is mangled, so the wanted name
    # is mangled here. `std` is St; a nested name ends with E; a suffix matches a type of any
    # outer namespace.
    parts = spec.type.removeprefix("::").split("::")
    is_standard = parts[0] == "std"
    words = "".join(f"{len(part)}{part}" for part in parts[is_standard:])
    ends = [words, f"{words}E"]
    names = [f"St{words}"] if is_standard else ends
    # __cxa_throw(object, type_info *, destructor); __cxa_begin_catch(_Unwind_Exception *), in
    # front of which is the header with the type_info.
    at = "c.rsi" if spec.catch == THROW else f"c.rdi.add({_TYPE_OF_CAUGHT}).readPointer()"
    return (
        f"(c) => {{ const name = {at}.add(8).readPointer().readCString();"
        f" return {json.dumps(names)}.some((one) => name.endsWith(one)); }}"
    )


async def read_thrown(target: TargetAccess, stop: Stopped, word: str) -> ExceptionDetails | None:
    """Read the type and the message of what a thread throws or catches."""
    if word == PANIC:
        return ExceptionDetails("panic", stop.description)
    assert stop.thread is not None
    registers = target.paused_thread(stop.thread).registers
    if word == THROW:
        there, kind = registers["rdi"], registers["rsi"]
    else:
        there = registers["rdi"] + _CAUGHT
        kind = await _read_pointer(target, registers["rdi"] + _TYPE_OF_CAUGHT)
    try:
        names = await _type_names(target, kind)
        return ExceptionDetails(
            _demangle_name(names[0]), await _exception_message(target, stop.thread, there, names)
        )
    except (DebuggerError, ValueError):
        return ExceptionDetails("exception", stop.description)


async def _type_names(target: TargetAccess, kind: int) -> list[str]:
    """Read the names of a type and of its bases, as long as each has only one base."""
    found: list[str] = []
    while len(found) < _BASES_MAX:
        found.append(
            (await _read_text(target, await _read_pointer(target, kind + 8))).removeprefix("*")
        )
        # The virtual table of the type_info says which kind it is; __si_class_type_info has
        # one base.
        table = target.modules.symbol_name(await _read_pointer(target, kind)) or ""
        if "__si_class_type_info" not in table:
            break
        kind = await _read_pointer(target, kind + 16)
    return found


async def _exception_message(
    target: TargetAccess, thread: int, there: int, names: Sequence[str]
) -> str:
    if any(name in _WITH_TEXT for name in names):
        return await _read_text(target, await _read_pointer(target, there + 8))
    if names[-1] == "St9exception":
        table = await _read_pointer(target, there)
        # The object is complete at a throw, so `what` may be called; it may also hang, hence
        # the bound.
        pointer = await target.engine.call_function(
            thread,
            await _read_pointer(target, table + _WHAT),
            takes=["pointer"],
            returns="pointer",
            values=[hex(there)],
            within=_CALL_S,
        )
        return await _read_text(target, int(pointer, 16))
    # throw "text", and below throw 42.
    if names == ["PKc"]:
        return await _read_text(target, await _read_pointer(target, there))
    if names == ["i"]:
        return str(int.from_bytes(await target.engine.read_memory(there, 4), "little", signed=True))
    return ""


async def _read_pointer(target: TargetAccess, address: int) -> int:
    return int.from_bytes(await target.engine.read_memory(address, 8), "little")


async def _read_text(target: TargetAccess, address: int) -> str:
    content = await target.engine.read_memory(address, _TEXT_MAX)
    return content.partition(b"\0")[0].decode("utf-8", "replace")


def _demangle_name(name: str) -> str:
    # What the demangler takes is a symbol: the name of the type's own is one.
    return demangle(f"_ZTS{name}").removeprefix("typeinfo name for ")
