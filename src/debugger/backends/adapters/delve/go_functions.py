"""Resolves the name of a Go function by the program's own sources, before delve gets it.

Delve takes a name that several functions end in for ambiguous, the runtime's own included, and
lists five of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from debugger.backends.adapters.delve.delve_breakpoints import outline_file
from debugger.backends.dap.debug_adapter import AdapterConnection
from debugger.model.breakpoints import BoundBreakpoint, BreakpointKind, BreakpointSpec
from debugger.model.location import is_pattern, near_names
from debugger.sources.function_names import choose_matches, last_part, split_name
from debugger.sources.project_files import project_files, with_text

_SUFFIX = ".go"
_SIZE_MAX = 4 << 20  # bytes of a source
_MAIN = "main"
_OTHERS_MAX = 5


class GoDefinition(Struct, frozen=True):
    """A function of the program's own sources, named as delve names it: `shop.(*Tree).Add`."""

    name: str
    package: str
    file: str
    line: int

    @property
    def location(self) -> str:
        """The file's name and the line."""
        return f"{Path(self.file).name}:{self.line}"


def correct_breakpoint(
    connection: AdapterConnection, spec: BreakpointSpec
) -> BreakpointSpec | BoundBreakpoint:
    """Resolve a function's name to one function; of several, the one of package main."""
    if spec.kind is not BreakpointKind.FUNCTION or not spec.function:
        return spec
    if spec.file is not None:
        return _in_file(spec, spec.file)
    if is_pattern(spec.function):
        return spec
    folders = _source_folders(connection)
    files = with_text(
        project_files(folders, {_SUFFIX}), f"{last_part(spec.function)}", size_max=_SIZE_MAX
    )
    known = find_definitions(files, spec.function)
    closure = find_closure(files, spec.function) if not known else None
    if closure is not None:
        note = f"it is the closure {closure.name}, {closure.location}"
        return replace(spec, file=closure.file, line=closure.line, function=None, note=note)
    return _choose_definition(spec, known)


def find_definitions(files: Sequence[Path], requested: str) -> list[GoDefinition]:
    """Find the functions that a name means; one that several files define counts once."""
    found: dict[str, GoDefinition] = {}
    for path in files:
        outline = outline_file(str(path))
        for one in outline.functions if outline is not None else ():
            name = f"{outline.package}.{one.name}" if outline is not None else one.name
            package = outline.package if outline is not None else ""
            # A file for another system may define it, too.
            key = f"{path.parent}/{name}"
            found.setdefault(key, GoDefinition(name, package, str(path), one.first))
    return choose_matches(requested, found.values(), lambda one: (one.name, ""))


def find_closure(files: Sequence[Path], requested: str) -> GoDefinition | None:
    """Find the first line of the closure that a variable holds: `total := func(n int) int {`."""
    *around, name = split_name(requested)
    if not name.isidentifier():
        return None
    head = re.compile(rf"(?<![\w.]){name}\s*(?::?=|:)\s*func\(.*\{{\s*\Z")
    for path in files:
        outline = outline_file(str(path))
        lines = path.read_text("utf-8", "replace").splitlines()
        for number, text in enumerate(lines, 1):
            if not head.search(text) or outline is None or number >= len(lines):
                continue
            function = next(
                (one.name for one in outline.functions if one.first <= number <= one.last), ""
            )
            outer = split_name(f"{outline.package}.{function}")
            if not around or outer[-len(around) :] == tuple(around):
                full_name = ".".join((*outer, name))
                return GoDefinition(full_name, outline.package, str(path), number + 1)
    return None


def _choose_definition(
    spec: BreakpointSpec, known: Sequence[GoDefinition]
) -> BreakpointSpec | BoundBreakpoint:
    assert spec.function is not None
    # Tests of a package have a main of their own; delve knows what is in the program.
    mains = [one for one in known if one.package == _MAIN]
    some = mains if len(known) > 1 and mains else known
    names = list(dict.fromkeys(one.name for one in some))
    if not names:
        return spec
    if len(names) > 1:
        listed = ", ".join(f"{one.name} {one.location}" for one in some[:_OTHERS_MAX])
        more = f" and {len(some) - _OTHERS_MAX} more" if len(some) > _OTHERS_MAX else ""
        why = f"{len(names)} functions are called {spec.function}: {listed}{more}; name one"
        return BoundBreakpoint(verified=False, why=why, near_names=tuple(names[:_OTHERS_MAX]))
    others = [one for one in known if one.name != names[0]]
    note = spec.note
    if others:
        listed = ", ".join(f"{one.name} {one.location}" for one in others[:_OTHERS_MAX])
        note = f"it is {names[0]}, of package main; others of this name: {listed}"
    # Delve takes no types: `(*Tree[...]).Add`.
    is_whole = "[" not in spec.function and len(split_name(spec.function)) >= len(
        split_name(names[0])
    )
    return replace(spec, function=spec.function if is_whole else names[0], note=note)


def _in_file(spec: BreakpointSpec, file: str) -> BreakpointSpec | BoundBreakpoint:
    found = find_definitions([Path(file)], spec.function or "")
    if found:
        note = None
        if len(found) > 1:
            others = ", ".join(f"{one.name} {one.location}" for one in found[1 : 1 + _OTHERS_MAX])
            note = f"it is {found[0].name}; others of this name: {others}"
        return replace(spec, file=file, line=found[0].line, function=None, note=note)
    outline = outline_file(file)
    known = [one.name for one in outline.functions] if outline is not None else []
    name = Path(file).name
    why = f"no function {spec.function} in {name}" if outline else f"cannot read {name}"
    return BoundBreakpoint(
        verified=False,
        why=f"{why}; FILE:LINE sets it anywhere",
        near_names=near_names(spec.function or "", known),
    )


def _source_folders(connection: AdapterConnection) -> list[str]:
    """Return the folders of a program's module: those with its go.mod, or its own folder."""
    launched = connection.launch_target
    if launched is None:
        return []
    program = Path(launched.program) if launched.program else None
    begin = [
        Path(launched.cwd),
        *([program if program.is_dir() else program.parent] if program else []),
    ]
    roots = []
    for folder in begin:
        module = next(
            (one for one in (folder, *folder.parents) if (one / "go.mod").is_file()), None
        )
        if module is not None or any(folder.glob(f"*{_SUFFIX}")):
            roots.append(str(module or folder))
    return list(dict.fromkeys(roots))
