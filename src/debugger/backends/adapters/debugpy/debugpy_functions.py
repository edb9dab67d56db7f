"""Where a Python function's breakpoint is set: at its first line, and at its entry alone.

debugpy 1.8.22 calls every name verified, so the function is looked up in the source files of the
project, whether they are imported yet or not.
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from debugger.backends.adapters.debugpy import python_outline
from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.location import near_names
from debugger.sources.project_files import project_files, with_text
from debugger.system.process_info import look_at

_SUFFIXES = frozenset({".py", ".pyw"})
_SIZE_MAX = 4 << 20
_NAMES_MAX = 400  # files that are read for names that are near
_DEFINED = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_OTHERS_MAX = 3
_ASK_S = 5.0
# What stands before the user's own condition in one that is true at the entry of a function only.
OWN_CONDITION = " or not 'entry' else "
# Instructions before a function's first own one, of CPython 3.8 to 3.14.
_PROLOGUE = (
    "RESUME",
    "COPY_FREE_VARS",
    "MAKE_CELL",
    "RETURN_GENERATOR",
    "GEN_START",
    "POP_TOP",
    "NOP",
)


def find_function(
    launched: LaunchTarget | None, attached: AttachTarget | None, spec: BreakpointSpec
) -> BreakpointSpec | BoundBreakpoint:
    """Return the line of a function's first statement; why not, where it is not found."""
    assert spec.function is not None
    folders = _program_folders(launched, attached)
    files = _program_files(launched, folders)
    last = spec.function.rpartition(".")[2]
    matches = list(
        _matching_functions(with_text(files, f"def {last}", size_max=_SIZE_MAX), spec.function)
    )
    if not matches:
        path = _module_file(spec.function, _search_path(launched, attached, folders))
        matches = list(_matching_functions([path], spec.function)) if path is not None else []
    if not matches:
        return _not_found_bound(spec.function, files, folders)
    path, _, line = matches[0]
    others = [f"{one.name}:{at}" for one, _, at in matches[1 : 1 + _OTHERS_MAX]]
    note = f"others of this name: {', '.join(others)}" if others else None
    return msgspec.structs.replace(spec, file=str(path), line=line, function=None, note=note)


def _not_found_bound(
    function: str, files: Sequence[Path], folders: Sequence[str]
) -> BoundBreakpoint:
    names: list[str] = []
    for path in files[:_NAMES_MAX]:
        try:
            names += _DEFINED.findall(path.read_text(errors="replace"))
        except OSError:
            continue
    where = " and ".join(folders) or "no folder"
    return BoundBreakpoint(
        verified=False,
        why=f"no function {function} in {len(files):,} Python files below {where}; "
        "FILE:LINE sets it anywhere",
        near_names=near_names(function.rpartition(".")[2], names),
    )


def _matching_functions(paths: Sequence[Path], function: str) -> Iterator[tuple[Path, str, int]]:
    """Yield where a function of this name is: the name alone, with its class, its module."""
    for path in paths:
        outline = python_outline.outline_file(str(path))
        for name, line in outline.functions.items() if outline is not None else ():
            if _is_named(function, name, path):
                yield path, name, line


def _is_named(function: str, name: str, path: Path) -> bool:
    """Tell whether a function's qualified name, with its module's before it, ends so."""
    parts = path.with_suffix("").parts
    module = parts[:-1] if parts[-1] == "__init__" else parts
    whole = [*module, *name.split(".")]
    wanted = function.replace(".<locals>", "").split(".")
    return whole[-len(wanted) :] == wanted and len(wanted) <= len(whole)


def _program_folders(launched: LaunchTarget | None, attached: AttachTarget | None) -> list[str]:
    """Return the folders of a program's own files: its script's, and its current directory."""
    if launched is not None:
        program = Path(launched.program) if launched.program else None
        beside = str(program.parent) if program and program.suffix in _SUFFIXES else None
        return list(dict.fromkeys(one for one in (beside, launched.cwd) if one))
    process = look_at(attached.pid) if attached is not None and attached.pid else None
    if process is None:
        return []
    script = next((word for word in process.words[1:] if word.endswith(".py")), None)
    beside = str(Path(process.cwd, script).parent) if script else None
    return list(dict.fromkeys(one for one in (beside, process.cwd) if one))


def _program_files(launched: LaunchTarget | None, folders: Sequence[str]) -> list[Path]:
    program = Path(launched.program) if launched is not None and launched.program else None
    own = [program] if program is not None and program.is_file() else []
    return list(dict.fromkeys([*own, *project_files(folders, _SUFFIXES)]))


def _search_path(
    launched: LaunchTarget | None, attached: AttachTarget | None, folders: Sequence[str]
) -> list[Path]:
    """Return where the program's interpreter may import modules from."""
    if launched is not None:
        environment = tuple(sorted(launched.env.items()))
        found = _path_of(launched.python or sys.executable, launched.cwd, environment)
        return [*map(Path, folders), *map(Path, found)]
    process = look_at(attached.pid) if attached is not None and attached.pid else None
    words = process.words[:1] if process is not None else ()
    links = [Path(one) for one in (*words, process.exe if process is not None else "") if one]
    roots = dict.fromkeys(link.parent.parent for link in links)
    installed = [
        folder
        for root in roots
        for pattern in ("lib/python3*/site-packages", "lib/python3*")
        for folder in sorted(root.glob(pattern))
    ]
    return [*map(Path, folders), *installed]


@functools.lru_cache(maxsize=8)
def _path_of(python: str, cwd: str, environment: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Ask an interpreter where it imports modules from: a shim's folders say nothing of it."""
    words = [python, "-c", "import sys; print('\\n'.join(sys.path))"]
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line for line in done.stdout.decode(errors="replace").splitlines() if line)


def _module_file(function: str, folders: Sequence[Path]) -> Path | None:
    """Return the file of the module that a qualified name begins with, wherever it is installed."""
    parts = function.split(".")
    for count in range(len(parts) - 1, 0, -1):
        relative = Path(*parts[:count])
        for folder in folders:
            for path in (folder / relative.with_suffix(".py"), folder / relative / "__init__.py"):
                if path.is_file():
                    return path
    return None


def condition_of(one: Breakpoint) -> str | None:
    """Return a breakpoint's condition; that of a function is true at its entry only.

    The first line of a function may have code of others (a comprehension, a lambda, the class
    around it), or be the head of a loop, which is passed again and again.
    """
    at, own = one.at or one.spec, one.spec.condition
    if at.file is None or at.line is None:
        return own
    outline = python_outline.outline_file(at.file)
    name = outline.function_entered(at.line) if outline is not None else None
    is_definition = outline is not None and one.spec.line in outline.definitions
    if name is None or not (one.spec.function is not None or is_definition):
        return own
    entry = _at_entry(Path(at.file).name, name.rpartition(".")[2], at.line)
    return f"False if not {entry}{OWN_CONDITION}{own}" if own is not None else entry


def _at_entry(file: str, function: str, line: int) -> str:
    """Write an expression that is true where the innermost frame at a line enters a function.

    The frame is looked for on the stack: pydevd evaluates a condition above it.
    """
    prologue = repr(_PROLOGUE)
    starts = f"next((o for o,l in d.findlinestarts(f.f_code) if l=={line}),0)"
    first = f"next(i.offset for i in d.get_instructions(f.f_code) if i.opname not in {prologue})"
    return (
        "(lambda w,d:w(w,d,__import__('sys')._getframe()))(lambda w,d,f:f is None or ("
        f"w(w,d,f.f_back) if f.f_lineno!={line} or not f.f_code.co_filename.endswith({file!r}) "
        f"else f.f_code.co_name=={function!r} and f.f_lasti<=max({starts},{first})),"
        "__import__('dis'))"
    )


def own_condition(text: str) -> str:
    """Return the user's part of a condition."""
    _, mark, own = text.partition(OWN_CONDITION)
    return own if mark else text
