"""Finds the lines of a program's sources at which an invariant is checked, outside of Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from debugger.model.location import is_pattern, near_names
from debugger.questions.recordings.function_lookup import lines_of
from debugger.sources import java_project
from debugger.sources.function_names import last_part, split_name
from debugger.sources.function_span import find_span
from debugger.sources.javascript_outline import outline_file
from debugger.sources.project_files import project_files
from debugger.sources.source_map import original_sources
from debugger.symbols.function_definitions import find_definitions, find_last_line
from debugger.symbols.source_names import sources_of

LINES_MAX = 60  # places of one run
_UP_MAX = 4  # folders above a program in which its sources are searched
_LIBRARIES = ("/usr/", "/rustc/", "/rust/deps/", "library/")
_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx")
_WORDS = frozenset(
    {"if", "for", "while", "switch", "catch", "return", "else", "do", "with", "sizeof", "defer"}
    | {"go", "func", "fn", "new", "delete", "match", "loop", "unsafe", "synchronized", "try"}
    | {"throw", "super", "this", "assert"}
)
_GO = re.compile(r"func\s+(?:\(\s*\w*\s*\*?(?P<owner>\w+)[^)]*\)\s*)?(?P<name>\w+)\s*[\[(]")
_RUST = re.compile(r"\s*(?:pub(?:\([^)]*\))?\s+)?(?:const\s+|unsafe\s+)*fn\s+(?P<name>\w+)")
# With type parameters, and the type that an extension function extends.
_KOTLIN = re.compile(
    r"\s*(?:@\w+(?:\([^)]*\))?\s+|[a-z]+\s+)*?fun\s+(?:<[^>]*>\s*)?(?:[\w.?*]+(?:<[^()]*>)?\??\.)?"
    r"`?(?P<name>\w+)`?\s*\("
)
_KOTLIN_OWNER = re.compile(
    r"\s*(?:@\w+(?:\([^)]*\))?\s+|[a-z]+\s+)*?"
    r"(?:class|interface|object)\b\s*(?P<name>\w*)"
)
_C = re.compile(r"\s*(?:[\w:<>,*&~\[\]]+[\s*&]+)*?(?P<name>~?[A-Za-z_][\w:]*~?\w*)\s*\(")
_GO_CLOSURE = re.compile(r"(?:(?P<name>\w+)\s*:?=\s*)?(?<!\w)func\s*\(.*\{\s*\Z")
_OWNER = re.compile(
    r"\s*(?:export\s+|pub(?:\([^)]*\))?\s+|inline\s+|template\s*<[^>]*>\s*|@\w+\s+"
    r"|(?:public|private|protected|static|final|abstract|sealed|non-sealed)\s+)*"
    r"(?:class|struct|namespace|mod|trait|interface|record|enum|impl(?:<[^>]*>)?(?:\s+[\w:<>]+\s+for)?)"
    r"\s+(?P<name>\w[\w:]*)"
)
_OPERATORS = ("=", "+", "-", "*", "/", "&&", "||", "?:", ".", ",", "->")
_COMMENT = ("//", "/*", "*")
_LOOP = re.compile(r"\s*(?:'\w+:\s*)?(?:for|while|loop|do)\b")
_HEAD_LINES = 12  # lines of a function's head
_NO_CODE = re.compile(r"[\s{};)\]]*\Z")


class FunctionLines(Struct, frozen=True):
    """A function: its first line with a body, and its last one."""

    name: str
    file: str
    first: int
    last: int


class CheckedLine(Struct, frozen=True):
    """One line at which an invariant is checked, before the line runs."""

    file: str
    line: int
    # entry, return or line.
    kind: str
    function: str = ""


def source_files_of(program: str | None, cwd: str, language: str) -> list[str]:
    """Return the sources of a program, as far as they are below its folders."""
    if program is None:
        return []
    folders = list(dict.fromkeys([str(Path(program).parent), cwd]))
    if language == "javascript":
        scripts = project_files(folders[:1], _SCRIPTS)
        # Breakpoints are set in the sources of compiled scripts.
        written = [one for script in scripts for one in original_sources(script) or [script]]
        return list(dict.fromkeys(map(str, written)))
    if language == "java":
        is_source = program.endswith((".java", ".class", ".jar"))
        roots = [*(folders[:1] if is_source else ()), *java_project.list_modules(cwd), cwd]
        return [str(one) for one in project_files(list(dict.fromkeys(roots)), (".java", ".kt"))]
    if program.endswith(".go") or Path(program).is_dir():
        root = program if Path(program).is_dir() else folders[0]
        return [str(one) for one in project_files([root], (".go",))]
    # A compiler may name its sources relative to the folder that it ran in.
    bases = [Path(cwd), *list(Path(program).parents)[:_UP_MAX]]
    found: dict[str, None] = {}
    for name in sources_of(program):
        # The sources of the compiler's own libraries are elsewhere.
        if not name.startswith(_LIBRARIES):
            near = (Path(base, name) for base in bases)
            path = next((one for one in near if one.is_file()), None)
            if path is not None:
                found[str(path.resolve())] = None
    return sorted(found)


def list_functions(path: str) -> list[FunctionLines]:
    """List the functions of a source by its text: Go, Rust, C, C++, Java or JavaScript."""
    if path.endswith(_SCRIPTS):
        outline = outline_file(path)
        found = outline.functions if outline is not None else ()
        return [FunctionLines(one.name, path, one.line, one.last_line) for one in found]
    text = lines_of(path)
    return list(_scan_functions(path, text))


class _Scope(Struct):
    """A class, a namespace or a function around lines, to its last line."""

    name: str
    last: int
    is_function: bool = False
    # Closures of a Go function so far, which the compiler numbers.
    closures: int = 0


def _scan_functions(path: str, text: Sequence[str]) -> Iterator[FunctionLines]:
    scopes: list[_Scope] = []
    for number, line in enumerate(text, 1):
        while scopes and number > scopes[-1].last:
            scopes.pop()
        owner = _owner_name(path, line)
        is_block = not path.endswith(".kt") or _kotlin_body(text, number) == "{"
        if owner is not None:
            span = find_span(path, text, number, owner) if is_block else None
            if span is not None and span[0] == number:
                scopes.append(_Scope(owner.replace("::", "."), span[1]))
                continue
        is_inside = bool(scopes) and scopes[-1].is_function
        names = _closure_names(scopes[-1], line) if is_inside and path.endswith(".go") else []
        if not is_inside or path.endswith(".rs"):
            names = list(filter(None, [_head_name(path, line)]))
        span = None
        if names and not is_block:
            span = _expression_span(text, number)
        elif names:
            name = "func" if is_inside and names[1:] else names[0]
            span = find_span(path, text, number, name)
        if span is None or span[0] != number:
            continue
        first = _first_line(text, number, span[1]) if is_block else span[0]
        around = [one.name for one in scopes]
        for name in names:
            yield FunctionLines(".".join((*around, name)), path, first, span[1])
        scopes.append(_Scope(names[0], span[1], is_function=True))


def _closure_names(around: _Scope, line: str) -> list[str]:
    """Return the name that Go's compiler gives a closure, and that of its variable."""
    found = _GO_CLOSURE.search(line)
    if found is None or line.lstrip().startswith(_COMMENT):
        return []
    around.closures += 1
    # Of a closure within a closure the number alone: main.func1.1.
    is_nested = re.fullmatch(r"(?:func)?\d+", around.name) is not None
    number = f"{around.closures}" if is_nested else f"func{around.closures}"
    return [number, found["name"] or number]


def _owner_name(path: str, line: str) -> str | None:
    """Return the name of the class or the namespace that a line begins; None if it begins none."""
    if path.endswith(".kt"):
        found = _KOTLIN_OWNER.match(line)
        return (found["name"] or None) if found is not None else None  # a companion has its class's
    found = _OWNER.match(line) if not path.endswith(".go") else None
    return found["name"] if found is not None else None


def _kotlin_body(text: Sequence[str], head: int) -> str:
    """Return what begins the body of a function or class of Kotlin: `{`, `=`, or nothing."""
    depth = 0
    for number in range(head, min(head + _HEAD_LINES, len(text) + 1)):
        for letter in text[number - 1]:
            depth += (letter in "([") - (letter in ")]")
            if letter in "{=" and not depth:
                return letter
        below = text[number].lstrip() if number < len(text) else ""
        if not depth and not below.startswith(("{", "=", ":")):
            return ""
    return ""


def _expression_span(text: Sequence[str], head: int) -> tuple[int, int] | None:
    """Return the lines of a function of Kotlin whose body stands behind an equals sign."""
    if _kotlin_body(text, head) != "=":
        return None
    depth = 0
    for number in range(head, min(head + LINES_MAX, len(text) + 1)):
        line = text[number - 1]
        depth += sum(line.count(one) for one in "([{") - sum(line.count(one) for one in ")]}")
        below = text[number].lstrip() if number < len(text) else ""
        goes_on = line.rstrip().endswith(_OPERATORS) or below.startswith((".", "?.", "?:", "="))
        if depth <= 0 and not goes_on:
            return head, number
    return None


def _head_name(path: str, line: str) -> str:
    if line.lstrip().startswith((*_COMMENT, "#", "return")):
        return ""
    if path.endswith(".go"):
        found = _GO.match(line)
        if found is None:
            return ""
        return f"{found['owner']}.{found['name']}" if found["owner"] else found["name"]
    pattern = _RUST if path.endswith(".rs") else _KOTLIN if path.endswith(".kt") else _C
    found = pattern.match(line)
    name = found["name"] if found is not None else ""
    return "" if name in _WORDS else name.replace("::", ".")


def _first_line(text: Sequence[str], head: int, last: int) -> int:
    """Return the first line of a body; the head's own for a body on one line."""
    start = next((at for at in range(head, last + 1) if "{" in text[at - 1]), head)
    for number in range(start + 1, last):
        if not _NO_CODE.match(text[number - 1]) and not _is_comment(text[number - 1]):
            return number
    return last if start < last else head


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(_COMMENT)


def _is_named(pattern: str, name: str) -> bool:
    plain = name.replace("::", ".")
    parts = plain.split(".")
    return any(fnmatchcase(".".join(parts[at:]), pattern) for at in range(len(parts)))


def matching_functions(
    pattern: str, files: Sequence[str], program: str | None = None
) -> list[FunctionLines]:
    """Return the functions of sources whose names match a pattern.

    What the text of the sources does not show, the debug information of `program` may.
    """
    plain = pattern if is_pattern(pattern) else ".".join(split_name(pattern))
    plain = plain.replace("::", ".")
    found = [one for path in files for one in list_functions(path) if _is_named(plain, one.name)]
    if not found:
        found = [one for path in files for one in _of_package(plain, path)]
    is_compiled = not any(one.endswith((".go", *_SCRIPTS)) for one in files)
    if found or program is None or not is_compiled or is_pattern(pattern):
        return found
    return list(_compiled_functions(pattern, program))


def _of_package(pattern: str, path: str) -> list[FunctionLines]:
    """Return the functions of a Go source that are named with its package."""
    head = next((one for one in lines_of(path) if one.startswith("package ")), "")
    package = f"{head.removeprefix('package ').split('/')[0].strip()}."
    if not path.endswith(".go") or not pattern.startswith(package):
        return []
    name = pattern.removeprefix(package)
    return [one for one in list_functions(path) if fnmatchcase(one.name, name)]


def _compiled_functions(name: str, program: str) -> Iterator[FunctionLines]:
    for one in find_definitions(program, name):
        end = find_last_line(program, name)
        if end is None or end[1] < one.line or not Path(one.file).is_file():
            continue
        first = one.line if one.is_lambda else _first_line(lines_of(one.file), one.line, end[1])
        yield FunctionLines(one.name, one.file, first, end[1])


def near_function_names(pattern: str, files: Sequence[str]) -> tuple[str, ...]:
    """Return the names of functions of sources that are similar to one."""
    known = [one.name for path in files for one in list_functions(path)]
    every = dict.fromkeys([*known, *(one.rpartition(".")[2] for one in known)])
    return near_names(pattern.strip("*"), [one for one in every if one])


def function_at_line(path: str | None, line: int | None) -> str:
    """Return the name of the function around a line; "" if unknown."""
    if path is None or line is None:
        return ""
    enclosing = [one for one in list_functions(path) if one.first <= line <= one.last]
    return max(enclosing, key=lambda one: one.first).name if enclosing else ""


def edge_lines(one: FunctionLines) -> Iterator[CheckedLine]:
    """Return the entry of a function, and the lines where it is left."""
    text = lines_of(one.file)
    yield CheckedLine(one.file, _entry_line(one, text), "entry", one.name)
    # Where the code of all returns is at the closing bracket, the lines of `return` are not needed.
    if one.file.endswith((".go", ".java", ".kt", *_SCRIPTS)):
        returns = [
            number
            for number in range(one.first, one.last)
            if re.match(r"\s*(?:\}\s*)?return\b", text[number - 1])
        ]
        yield from (CheckedLine(one.file, number, "return", one.name) for number in returns)
        before = next(
            (at for at in range(one.last - 1, one.first - 1, -1) if text[at - 1].strip()), 0
        )
        if before in returns:
            return
    if one.last != one.first:
        yield CheckedLine(one.file, one.last, "return", one.name)


def _entry_line(one: FunctionLines, text: Sequence[str]) -> int:
    """Return the line at which a function is entered: its first one, or its head.

    Each round of a loop comes to the loop's line again, in compiled code.
    """
    is_loop = one.first <= len(text) and _LOOP.match(text[one.first - 1])
    if not is_loop or one.file.endswith((".go", *_SCRIPTS)):
        return one.first
    head = re.compile(rf"\b{re.escape(last_part(one.name))}\b\s*[(<]")
    before = range(one.first - 1, max(one.first - 1 - _HEAD_LINES, 0), -1)
    return next((at for at in before if head.search(text[at - 1])), one.first)


def scope_lines(one: FunctionLines) -> Iterator[CheckedLine]:
    """Return the lines with code of a function."""
    text = lines_of(one.file)
    for number in range(one.first, one.last + 1):
        line = text[number - 1] if number <= len(text) else ""
        if number == one.last or not (_NO_CODE.match(line) or _is_comment(line)):
            kind = "return" if number == one.last and number != one.first else "line"
            yield CheckedLine(one.file, number, kind, one.name)
