"""Finds the variables of JavaScript that are declared further down than a line of their block.

Before its declaration has run, a read of such a variable fails in the program (ECMAScript: temporal
dead zone), while V8's debugger reads `undefined`.
"""

from __future__ import annotations

import functools
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from debugger.sources.expression_names import rename_variables, variables_of
from debugger.sources.javascript_outline import (
    JavaScriptFunction,
    JavaScriptOutline,
    blank_quoted,
    match_brackets,
    outline_file,
)

_SIZE_MAX = 1 << 20
# A name, or a pattern of names up to its `=`, or up to `of` in the head of a loop.
_DECLARATION = re.compile(
    r"\b(const|let|class|var)\s+(?:([\w$]+)|([{\[][^=;]*?[}\]])(?=\s*(?:=(?!=)|(?:of|in)\b)))"
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_HEAD_MAX = 80  # characters before a bracket or a line's end
_LINKED = re.compile(
    r"\bexport\s+(?:const|let|class|var)\s+(?P<declared>[\w$]+)|"
    r"\b(?:im|ex)port\s*(?:type\s+)?(?:(?P<default>[A-Za-z_$][\w$]*)\s*(?:,|from\b))?"
    r"\s*(?:\{(?P<list>[^{}]*)\})?"
)
_LOOP = re.compile(r"\b(?:for(?:\s+await)?|while)\s*$")
_DO = re.compile(r"\bdo\s*$")
# A line that ends so goes on in the next one, as does one whose next begins so.
_GOES_ON = re.compile(r"[=+\-*/%&|^?:<>(!~]\s*$")
_CONTINUES = re.compile(r"\s*(?:[=+\-*/%&|^?:<>.(]|in\b|instanceof\b)")


class _Declaration(NamedTuple):
    line: int
    start: int
    end: int  # of its statement, whose value the names get
    names: frozenset[str]
    function: JavaScriptFunction | None
    block: tuple[int, int] | None  # its brackets; None for the whole file
    is_in_head: bool  # of a loop: no line comes before it
    is_var: bool


class _Script(NamedTuple):
    text: str  # without comments and strings
    starts: tuple[int, ...]  # of the lines
    columns: tuple[int, ...]  # of the lines' first statements
    loops: tuple[tuple[int, int], ...]
    linked: frozenset[str]
    declarations: tuple[_Declaration, ...]

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def offset(self, position: tuple[int, int]) -> int:
        """Return the offset of a line and a column."""
        return self.starts[position[0] - 1] + position[1] - 1


def guard_reads(path: str, line: int, expression: str, column: int | None = None) -> str:
    """Return an expression that fails where it reads a variable that has no value yet.

    The text alone decides nothing: the variable has to be undefined as well.
    """
    names = variables_of(expression)
    undeclared = find_undeclared(path, line, names, column)
    linked = linked_names(path).intersection(names)
    if not undeclared and not linked:
        return expression
    reads = {name: _read_undeclared(name, undeclared[name]) for name in undeclared}
    reads |= {
        name: f"({linked_test(name)}?{_failure(name, None)}:{name})"
        for name in linked.difference(undeclared)
    }
    return rename_variables(expression, reads)


def _read_undeclared(name: str, line: int) -> str:
    # V8 fails by itself at a variable that a closure has, as at one that is nowhere.
    is_there = f"try{{if(typeof {name}!=='undefined')return {name}}}catch{{}}"
    return f"(()=>{{{is_there}return {_failure(name, line)}}})()"


def describe_undeclared(name: str, line: int | None) -> str:
    """Say that a variable has no value before its declaration."""
    if line is None:
        return f"{name} has no value yet: its declaration, in its module, has not run"
    return f"{name} is declared in line {line}, and has no value before"


def linked_test(name: str) -> str:
    """Write the test that a name which a module exports or imports has no value yet.

    V8 11.3 gives its mark for that to the debugger's expressions, where it has to fail. The type of
    the mark is undefined, if it is not compared at once, and the mark is not equal to undefined. V8
    ends the program at an access to it.
    """
    return f"`${{typeof {name}}}`==='undefined'&&{name}!==undefined"


def _failure(name: str, line: int | None) -> str:
    why = json.dumps(describe_undeclared(name, line))
    return f"(()=>{{throw new ReferenceError({why})}})()"


def linked_names(path: str) -> frozenset[str]:
    """Return the variables that a module shares with others by its imports and exports."""
    script = _read_script(path)
    return script.linked if script is not None else frozenset()


def find_undeclared(
    path: str, line: int, names: Iterable[str], column: int | None = None
) -> Mapping[str, int]:
    """Return the lines of declarations, by name, that have not run at a position.

    They come behind it in its block, or it is within them. Without a column it is the line's first
    statement.
    """
    requested = set(names)
    found = _read_position(path, line, column) if requested else None
    if found is None:
        return {}
    script, function, here = found
    undeclared: dict[str, int] = {}
    earlier = set(function.arguments) if function is not None else set()
    for one in script.declarations:
        if one.function != function or one.is_var:
            continue
        if one.end <= here:
            earlier.update(one.names)
        elif (
            script.text[here : one.start].startswith("for") and here >= script.starts[one.line - 1]
            if one.is_in_head
            else one.block is None or one.block[0] < here < one.block[1]
        ):
            undeclared |= dict.fromkeys(one.names & requested - set(undeclared), one.line)
    return {name: at for name, at in undeclared.items() if name not in earlier}


def find_unassigned(
    path: str, line: int, column: int | None, undefined: Iterable[str]
) -> Mapping[str, int]:
    """Return the lines of declarations, by name, that have not given a value at a position.

    Args:
        path: The file.
        line: The position's line.
        column: The position's column.
        undefined: Variables of the function that are undefined there. One of `var` is so from the
            function's beginning on.
    """
    requested = set(undefined)
    found = _read_position(path, line, column) if requested else None
    outline = outline_file(path, size_max=_SIZE_MAX)
    if found is None or outline is None:
        return {}
    script, function, here = found
    unassigned = dict(find_undeclared(path, line, requested, column))
    for one in script.declarations:
        if one.is_var and one.function == function and one.end > here:
            for name in one.names & requested - set(unassigned):
                if _is_first_mention(outline, script, one, name, here):
                    unassigned[name] = one.line
    return unassigned


def find_outer_declarations(
    path: str, line: int, names: Iterable[str], column: int | None = None
) -> Mapping[str, int]:
    """Return the lines of declarations in the functions and the file around a position, by name."""
    requested = set(names)
    found = _read_position(path, line, column) if requested else None
    if found is None:
        return {}
    script, function, here = found
    return {
        name: one.line
        for one in script.declarations
        if not one.is_var and one.function != function
        if one.block is None or one.block[0] < here < one.block[1]
        for name in one.names & requested
    }


def find_inner_column(path: str, line: int, expressions: Iterable[str]) -> int | None:
    """Return the column of the code of a line that has the variables of some expressions.

    It is what follows their declaration, or the body of a loop whose head declares them, or of a
    function with such arguments, if it begins on the line. None where the line's first statement
    has them, too, or none has.
    """
    names = {name for one in expressions for name in variables_of(one)}
    found = _read_position(path, line, None) if names else None
    outline = outline_file(path, size_max=_SIZE_MAX)
    if found is None or outline is None:
        return None
    script = found[0]
    first, last = script.starts[line - 1], script.starts[line] - 1
    bodies = [
        one.block[1] + 1 if one.is_in_head and one.block else one.end
        for one in script.declarations
        if one.line == line and one.names & names
    ]
    # Two functions of a line may have arguments of one name.
    inner = [
        script.offset((one.line, one.column))
        for one in outline.functions
        if one.begin[0] == one.line == line and names.intersection(one.arguments)
    ]
    bodies += inner if len(inner) == 1 else []
    at = max(bodies, default=last)
    at += len(script.text[at:last]) - len(script.text[at:last].lstrip(" {;"))
    return at - first + 1 if at < last else None


def _read_position(
    path: str, line: int, column: int | None
) -> tuple[_Script, JavaScriptFunction | None, int] | None:
    """Return a script, and the function and the offset of a position in it."""
    outline = outline_file(path, size_max=_SIZE_MAX)
    script = _read_script(path)
    if outline is None or script is None or not 0 < line < len(script.starts):
        return None
    at = column or script.columns[line - 1]
    return script, outline.innermost_function(line, at), script.starts[line - 1] + at - 1


def _is_first_mention(
    outline: JavaScriptOutline, script: _Script, one: _Declaration, name: str, here: int
) -> bool:
    """Return whether nothing can have assigned a variable of `var` before a position.

    A parameter, an inner function, an earlier statement or a loop's round before may have.
    """
    first, last = 0, len(script.text)
    if one.function is not None:
        first, last = script.offset(one.function.begin), script.offset(one.function.end)
        if name in one.function.arguments:
            return False
    for found in re.finditer(rf"(?<![\w$.]){re.escape(name)}(?![\w$])", script.text[first:last]):
        at = first + found.start()
        is_earlier = at < here and not one.start < at < one.end
        if is_earlier or outline.innermost_function(*script.position(at)) != one.function:
            return False
    return not any(
        first < start < min(here, one.start) and max(here, one.start) < end
        for start, end in script.loops
    )


def _read_script(path: str) -> _Script | None:
    """Return a script; None for a file that is too large, or cannot be read."""
    try:
        info = Path(path).stat()
    except OSError:
        return None
    return (
        _cached_script(path, info.st_mtime_ns, info.st_size) if info.st_size <= _SIZE_MAX else None
    )


@functools.lru_cache(maxsize=16)
def _cached_script(path: str, changed: int, size: int) -> _Script:
    del changed, size  # a file that has changed is another one
    text = blank_quoted(Path(path).read_text(encoding="utf-8", errors="replace"))
    lines = text.split("\n")
    starts = (0, *accumulate(len(one) + 1 for one in lines))
    columns = tuple(len(one) - len(one.lstrip(" \t")) + 1 for one in lines)
    brackets = match_brackets(text)
    loops = tuple(_find_loops(text, brackets))
    script = _Script(text, starts, columns, loops, frozenset(_find_linked(text)), ())
    return script._replace(declarations=tuple(_read_declarations(path, script, brackets)))


def _find_linked(text: str) -> Iterator[str]:
    """Yield the names that are imported or exported."""
    for one in _LINKED.finditer(text):
        yield from filter(None, one.group("declared", "default"))
        for part in (one["list"] or "").split(","):
            # Imported under another name: that is the variable. Exported under another: the first.
            first, _, other = part.strip().partition(" as ")
            yield from filter(None, (first.strip(), other.strip()))


def _find_loops(text: str, brackets: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the parts of loops that run in each round: with the head, behind its first part."""
    heads = {end: start for start, end in brackets.items()}
    for start, end in brackets.items():
        blanks = text[max(0, start - _HEAD_MAX) : start]
        before = start - len(blanks) + len(blanks.rstrip()) if text[start] == "{" else 0
        head = heads.get(before - 1)
        if head is not None and _LOOP.search(text, max(0, head - _HEAD_MAX), head):
            yield max(text.find(";", head, start), head), end
        elif before and _DO.search(text, max(0, before - _HEAD_MAX), before):
            yield start, end


def _read_declarations(
    path: str, script: _Script, brackets: Mapping[int, int]
) -> Iterator[_Declaration]:
    outline = outline_file(path, size_max=_SIZE_MAX)
    functions = outline.functions if outline is not None else ()
    extents = [(script.offset(one.begin), script.offset(one.end)) for one in functions]
    by_extent = dict(zip(extents, functions, strict=True))
    found = list(_DECLARATION.finditer(script.text))
    starts = [one.start() for one in found]
    blocks = _innermost_extents(sorted(brackets.items()), starts)
    enclosing = _innermost_extents(sorted(extents), starts)
    for one, block, extent in zip(found, blocks, enclosing, strict=True):
        line, _ = script.position(one.start())
        function = by_extent[extent] if extent is not None else None
        yield _Declaration(
            line=line,
            start=one.start(),
            end=_statement_end(script.text, one.end(), brackets),
            names=frozenset({one[2]} if one[2] else _NAME.findall(one[3])),
            function=function,
            block=block,
            is_in_head=block is not None and script.text[block[0]] != "{",
            is_var=one[1] == "var",
        )


def _innermost_extents(
    extents: Sequence[tuple[int, int]], offsets: Sequence[int]
) -> Iterator[tuple[int, int] | None]:
    """Yield the innermost of sorted, nested extents around each of some ascending offsets."""
    opened: list[tuple[int, int]] = []
    following = iter(extents)
    extent = next(following, None)
    for at in offsets:
        while extent is not None and extent[0] < at:
            opened.append(extent)
            extent = next(following, None)
        while opened and opened[-1][1] < at:
            opened.pop()
        yield opened[-1] if opened else None


def _statement_end(text: str, at: int, brackets: Mapping[int, int]) -> int:
    """Return the end of a declaration: its comma, its semicolon, or where the next line is new."""
    while at < len(text) and text[at] not in ",;)]}":
        if text[at] == "\n" and not (
            _GOES_ON.search(text, max(0, at - _HEAD_MAX), at) or _CONTINUES.match(text, at)
        ):
            break
        at = brackets.get(at, at) + 1
    return at
