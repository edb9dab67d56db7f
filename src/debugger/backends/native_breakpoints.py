"""Explains why a breakpoint in a compiled program does not bind, and which lines or names would."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from msgspec.structs import replace

from debugger.model.breakpoints import BoundBreakpoint, BreakpointKind, BreakpointSpec
from debugger.model.location import NO_FUNCTION, near_names, nearest_lines
from debugger.symbols.function_definitions import (
    at_definition,
    find_code_lines,
    find_definitions,
    near_functions,
)
from debugger.symbols.program_file import inspect_program

_NEAR_MAX = 4
Lines = Callable[[str], Awaitable[Iterable[int]]]
Names = Callable[[str, str], Awaitable[Iterable[str]]]


def refuse_pattern(adapter: str) -> BoundBreakpoint:
    """Return the refusal of a breakpoint on a pattern of functions."""
    why = f"{adapter} sets no breakpoints by pattern; --backend frida and --backend lldb-cli do"
    return BoundBreakpoint(verified=False, why=why)


def locate_in_file(program: str | None, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
    """Resolve a function of a file to its line; any other breakpoint is unchanged."""
    if spec.file is None or not spec.function:
        return spec
    name = Path(spec.file).name
    found = find_definitions(program, spec.function, name) if program is not None else []
    if not found:
        why = f"no function {spec.function} in {name} by the program's debug information"
        return BoundBreakpoint(verified=False, why=f"{why}; FILE:LINE sets it anywhere")
    return at_definition(spec, found)


async def explain_native(
    program: str | None, spec: BreakpointSpec, *, lines: Lines, names: Names
) -> BoundBreakpoint:
    """Explain why a breakpoint does not bind, with the lines or names that would.

    `lines` returns the lines of a file that have code, none where the program has no such file;
    `names` returns the functions like a given name, which contain a few of its letters.
    """
    # Read from the file itself: the debugger's own answer is the same for all reasons.
    program_info = inspect_program(program) if program else None
    is_bare = program_info is not None and not program_info.has_debug_info
    if spec.kind is BreakpointKind.FUNCTION:
        unbound = await _explain_unbound_function(program, spec.function or "", names, is_bare)
        return unbound if is_bare or not program else await _find_definition(program, spec, unbound)
    if spec.file is None or spec.line is None:
        return BoundBreakpoint(verified=False, why="no code at this address")
    unbound = BoundBreakpoint(verified=False, file=spec.file, line=spec.line)
    if is_bare:
        return replace(unbound, why="the program has no debug information: compile it with -g")
    name = Path(spec.file).name
    # Compilers give generated code the line 0.
    code_lines = [line for line in await lines(spec.file) if line > 0]
    if not code_lines and program:
        # LLDB lists a file's lines only if a unit has its name, as Rust's units have not.
        code_lines = await asyncio.to_thread(find_code_lines, program, spec.file)
    if not code_lines:
        return replace(unbound, why=f"no such file in the program: {name}")
    nearest = nearest_lines(spec.line, code_lines)
    return replace(unbound, why=f"no code at {name}:{spec.line}", nearest_lines=nearest)


async def _find_definition(
    program: str, spec: BreakpointSpec, unbound: BoundBreakpoint
) -> BoundBreakpoint:
    """Add where the program defines the function, or else the names that are near."""
    name = spec.function or ""
    found = await asyncio.to_thread(find_definitions, program, name)
    if found:
        return replace(unbound, definition=at_definition(BreakpointSpec(), found))
    # The program's own names first: those that the debugger finds may all be of libraries.
    own = await asyncio.to_thread(near_functions, program, name)
    near = tuple(dict.fromkeys((*own, *unbound.near_names)))[:_NEAR_MAX]
    return replace(unbound, near_names=near)


async def _explain_unbound_function(
    program: str | None,
    function: str,
    names: Names,
    is_bare: bool,  # noqa: FBT001 - of one caller
) -> BoundBreakpoint:
    searched = f" ({Path(program).name}, and its libraries)" if program else ""
    why = f"{NO_FUNCTION} {function} in the program{searched}"
    if is_bare:
        why += ", which has no debug information: compile it with -g"
    # Three letters of the longest word find enough candidates: `near_names` ranks them afterwards.
    words = re.findall(r"[A-Za-z0-9]{2,}", function)
    candidates = await names(function, max(words, key=len)[:3]) if words else ()
    return BoundBreakpoint(
        verified=False, why=why, near_names=near_names(function, list(candidates))
    )
