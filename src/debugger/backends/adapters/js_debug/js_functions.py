"""Where a JavaScript or TypeScript function's breakpoint is set: js-debug breaks at lines alone.

The function is looked up in the text of the project's files, whether they are loaded yet or not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.model.breakpoints import BoundBreakpoint, BreakpointSpec
from debugger.model.location import near_names
from debugger.sources import javascript_outline as source
from debugger.sources.javascript_imports import imported_files
from debugger.sources.project_files import project_files, with_text
from debugger.system.process_info import look_at

_SCRIPTS = frozenset({".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx"})
SIZE_MAX = 3 << 20
_NAMES_MAX = 400  # files that are read for names that are near
_NEAR_MAX = 4
_OTHERS_MAX = 3
_NAMED = re.compile(
    r"\bfunction\s*\*?\s*([\w$]+)|\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?[(\w$]"
    r"|^\s*(?:async\s+|static\s+)*([\w$]+)\s*\([^;]*\)\s*\{"
    r"|\b([\w$]+)\s*:\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*=>|[\w$]+\s*=>)",
    re.MULTILINE,
)


def find_function(
    launched: LaunchTarget | None, attached: AttachTarget | None, spec: BreakpointSpec
) -> BreakpointSpec | BoundBreakpoint:
    """Return the line of a function's first statement; why not, where it is not found.

    Without a name it is the function around the line.
    """
    if spec.file is not None:
        return _in_file(Path(spec.file), spec)
    wanted = spec.function or ""
    scripts, cwd = _program_scripts(launched, attached)
    folders = list(dict.fromkeys([*(str(one.parent) for one in scripts), *([cwd] if cwd else [])]))
    files = _project_files(launched, scripts, folders)
    holding = with_text(files, wanted.rpartition(".")[2], size_max=SIZE_MAX)
    matches = list(_matching_functions(holding, wanted))
    if not matches:
        where = " and ".join(folders) or "no folder"
        return BoundBreakpoint(
            verified=False,
            why=f"no function {wanted} in the text of {len(files):,} scripts below {where}; "
            "FILE:LINE sets it anywhere",
            near_names=near_names(wanted.rpartition(".")[2], _function_names(files)),
        )
    path, function = matches[0]
    others = [
        f"{os.path.relpath(one, os.path.realpath(cwd))}:{its.line}"
        for one, its in matches[1 : 1 + _OTHERS_MAX]
    ]
    note = f"others of this name: {', '.join(others)}" if others else None
    return replace(spec, file=str(path), line=function.line, function=None, note=note)


def _in_file(path: Path, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
    wanted, line = spec.function or "", spec.line or 0
    outline = source.outline_file(str(path), size_max=SIZE_MAX)
    functions = outline.functions if outline is not None else ()
    found = (
        outline.find_function(_plain_name(wanted, path), spec.line) if outline is not None else None
    )
    if found is not None:
        return replace(spec, file=str(path), line=found.line, function=None)
    nearest = sorted(functions, key=lambda one: abs(one.first_line - line) if line else 0)
    names = [one.name for one in nearest if one.name]
    if not wanted:
        near = tuple(dict.fromkeys(names))[:_NEAR_MAX]
        return BoundBreakpoint(
            verified=False, why=f"{path.name}:{spec.line} is in no function", near_names=near
        )
    why = f"no function {wanted} in the text of {path.name}; FILE:LINE sets it anywhere"
    return BoundBreakpoint(verified=False, why=why, near_names=near_names(wanted, names))


def _plain_name(wanted: str, path: Path) -> str:
    return wanted.removeprefix(f"{path.name.partition('.')[0]}.")


def _matching_functions(
    paths: Sequence[Path], wanted: str
) -> Iterator[tuple[Path, source.JavaScriptFunction]]:
    for path in paths:
        outline = source.outline_file(str(path), size_max=SIZE_MAX)
        found = outline.find_named(_plain_name(wanted, path)) if outline is not None else None
        if found is not None:
            yield path, found


def _function_names(files: Sequence[Path]) -> list[str]:
    found: list[str] = []
    for path in files[:_NAMES_MAX]:
        try:
            if path.stat().st_size <= SIZE_MAX:
                text = path.read_text(errors="replace")
                found += [next(filter(None, one)) for one in _NAMED.findall(text)]
        except OSError:
            continue
    return found


def _program_scripts(
    launched: LaunchTarget | None, attached: AttachTarget | None
) -> tuple[list[Path], str]:
    """Return the scripts that a program was started with, and the folder where.

    A program that was installed (tsx, mocha) runs scripts that are among its arguments.
    """
    if launched is not None:
        words, cwd = [launched.program or "", *launched.args], launched.cwd
    else:
        process = look_at(attached.pid) if attached is not None and attached.pid else None
        if process is None:
            return [], ""
        words, cwd = list(process.words[1:]), process.cwd
    scripts = [Path(os.path.realpath(Path(cwd, word))) for word in words if word]
    own = [
        one
        for one in scripts
        if one.suffix in _SCRIPTS and "node_modules" not in one.parts and one.is_file()
    ]
    return own, cwd


def _project_files(
    launched: LaunchTarget | None, scripts: Sequence[Path], folders: Sequence[str]
) -> list[Path]:
    """Return the files of a project, each that was compiled by what it was made of, if it is here.

    What the program imports comes first: of functions of one name it is the one that runs.
    """
    program = Path(os.path.realpath(launched.program)) if launched and launched.program else None
    own = [program] if program is not None and program.suffix in _SCRIPTS else []
    known = dict.fromkeys([*own, *imported_files(scripts), *project_files(folders, _SCRIPTS)])
    written = [one for path in known for one in source.original_sources(path) or [path]]
    return list(dict.fromkeys(written))
