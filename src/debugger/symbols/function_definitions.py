"""Finds where a compiled program defines a function, by any of the names that users give it.

Debuggers know a function by one spelling: not `geo::hidden` of an anonymous namespace, not
`Square::area` of a Rust trait, not a generic function without its types. The debug information
tells the line, at which any of them sets a breakpoint.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from debugger.model.breakpoints import BreakpointSpec
from debugger.model.location import match_paths
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.debug_cache import cache_folder
from debugger.symbols.dwarf.function_index import DebugFunction

T = TypeVar("T")

_SIZE_MAX = 512 << 20  # bytes of a program; its debug information is read in seconds
_OTHERS_MAX = 5


class FunctionDefinition(Struct, frozen=True):
    """A function's name, and the file and line of its definition."""

    name: str
    file: str
    line: int
    # Debuggers do not know it by this name.
    is_lambda: bool = False

    @property
    def text(self) -> str:
        """The name and the location in short."""
        return f"{self.name} {Path(self.file).name}:{self.line}"


def find_definitions(program: str, name: str, file: str = "") -> list[FunctionDefinition]:
    """Find the functions that a name means, in a file if one is given; each line once.

    Instances of a template are one definition. None are found where the program has no debug
    information that can be read, or where only a debugger can tell.
    """

    def find(image: BinaryImage) -> list[FunctionDefinition]:
        def body_line(one: DebugFunction) -> int:
            row = image.lines.line_at(one.body)
            return row.line if row is not None else 0

        return _distinct_definitions(image.functions.find_by_name(name), file, body_line)

    return _read_image(program, find) or []


def find_code_lines(program: str, file: str) -> list[int]:
    """Find the lines of a source file that have code; none where the program has no such file."""

    def find(image: BinaryImage) -> list[int]:
        paths = match_paths(file, image.lines.files)
        return sorted({line for _, line, _ in image.lines.statements_of(paths) if line})

    return _read_image(program, find) or []


def find_last_line(program: str, name: str) -> tuple[str, int] | None:
    """Find the file and the line of the last instruction of a function: there it returns.

    Of a function of several names, as Rust's `main` beside C's, it is the one with a line.
    """

    def find(image: BinaryImage) -> tuple[str, int] | None:
        for one in image.functions.find_by_name(name):
            end = max((high for _, high in one.ranges), default=0)
            row = image.lines.line_at(end - 1) if end and not one.is_inlined else None
            if row is not None and row.line:
                return row.file, row.line
        return None

    return _read_image(program, find)


def near_functions(program: str, name: str) -> tuple[str, ...]:
    """Return the names of a program's functions that are similar to one."""
    return _read_image(program, lambda image: image.functions.near_names(name)) or ()


def _read_image(program: str, read: Callable[[BinaryImage], T]) -> T | None:
    """Read a program's debug information; None where there is none, or none that can be read."""
    try:
        if Path(program).stat().st_size > _SIZE_MAX:
            return None
        # A command asks for several names, one after the other, and a user for the same program
        # again: of Rust's library, reading what has a name takes seconds.
        image = BinaryImage(program, cache=cache_folder(os.environ))
    except (OSError, ValueError):
        return None
    try:
        return read(image) if image.has_debug else None
    except (ValueError, KeyError, IndexError):  # debug information that is not as it should be
        return None
    finally:
        image.close()


def _distinct_definitions(
    functions: Iterable[DebugFunction], file: str, body_line: Callable[[DebugFunction], int]
) -> list[FunctionDefinition]:
    found: dict[tuple[str, int], FunctionDefinition] = {}
    for one in functions:
        # A copy inside another function has no beginning of its own, and a line without a file (of
        # Zig's own code generator) sets no breakpoint.
        if (
            one.is_inlined
            or not (one.line and one.file)
            or (file and not match_paths(file, [one.file]))
        ):
            continue
        name = one.name.partition("<")[0] if one.name[:1] != "<" else one.name
        line = one.line
        # The line of a closure's head is one of the function around it, too.
        if "{closure" in one.name:
            line = body_line(one) or line
        definition = FunctionDefinition(name, one.file, line, one.is_lambda)
        found.setdefault((one.file, line), definition)
    return list(found.values())


def at_definition(spec: BreakpointSpec, found: list[FunctionDefinition]) -> BreakpointSpec:
    """Return a breakpoint at the line of the first definition; a note names the others."""
    first, others = found[0], found[1 : 1 + _OTHERS_MAX]
    note = f"it is {first.text}"
    if others:
        note += f"; others of this name: {', '.join(one.text for one in others)}"
    return replace(spec, function=None, file=first.file, line=first.line, note=note)
