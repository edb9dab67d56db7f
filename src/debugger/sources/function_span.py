"""Finds the functions of a source text and their lines. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

_LINES_MAX: Final = 2000  # lines in which a function's start and end are searched
# The fields of a statement that are blocks, or have blocks: those of `try` and of `match`.
_BLOCKS: Final = frozenset({"body", "handlers", "orelse", "finalbody", "cases"})
_INDENTED: Final = (".py", ".pyw")
# What begins a definition of Python; also of a text in a string that has one.
_HEAD: Final = re.compile(r"^([ \t]*)(?:async[ \t]+)?(?:(class)|def)[ \t]+(\w+)", re.MULTILINE)
_GAP: Final = r"(?:[\s\\(]|#[^\n]*\n)*"  # what may stand between the parts of an assignment
_LAMBDA: Final = re.compile(r"\blambda\b")
_ASSIGNED: Final = re.compile(r"(\w+)\s*(?::[^=\n]*|:)?=[\s(]*\Z")  # what is before a lambda
_BEFORE: Final = 200  # characters of it
# What stands before the name in a head, where a call needs no semicolon behind it.
_KEYWORDS: Final = {
    ".go": re.compile(r"\bfunc\b"),
    ".rs": re.compile(r"\b(?:fn|impl|trait|mod|struct|enum|union)\b"),
}
# Comments, strings and characters: their braces are no code. A lifetime of Rust's is none of them.
_NO_CODE: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.[^'\n]*|[^'\\\n])'|`(?:\\.|[^`\\])*`",
    re.DOTALL,
)


def find_span(path: str, text: Sequence[str], line: int, name: str) -> tuple[int, int] | None:
    """Return the first and the last line of the function that a line is in; None if not found.

    Args:
        path: The file, whose ending tells how its functions end.
        text: Its lines.
        line: A line of the function, from 1.
        name: The function as the debugger names it.
    """
    plain = re.sub(r"<[^<>]*>", "", name.partition("(")[0])
    short = re.split(r"::|\.", plain)[-1].strip()
    if not short or not 1 <= line <= len(text):
        return None
    keyword = next((one for ending, one in _KEYWORDS.items() if path.endswith(ending)), None)
    find = _end_by_indent if path.endswith(_INDENTED) else partial(_end_by_braces, keyword=keyword)
    for start in range(line, max(0, line - _LINES_MAX), -1):
        end = find(text, start, short)
        if end is not None and line <= end:
            return _first_of_head(text, start, path), end
    return None


def _first_of_head(text: Sequence[str], start: int, path: str) -> int:
    """Return the first line of a definition's decorators."""
    while path.endswith(_INDENTED) and start > 1 and text[start - 2].lstrip().startswith("@"):
        start -= 1
    return start


def _end_by_indent(text: Sequence[str], start: int, name: str) -> int | None:
    head = re.match(rf"(\s*)(?:async\s+)?def\s+{re.escape(name)}\b", text[start - 1])
    if head is None:
        return None
    depth, end, brackets = len(head[1].expandtabs()), start, 0
    for number in range(start, min(len(text), start + _LINES_MAX) + 1):
        words = text[number - 1]
        wide = words.expandtabs()
        is_outside = bool(words.strip()) and len(wide) - len(wide.lstrip()) <= depth
        if number > start and brackets <= 0 and is_outside:
            break
        brackets += sum((one in "([{") - (one in ")]}") for one in words)
        end = number if words.strip() else end
    return end


def _end_by_braces(
    text: Sequence[str], start: int, name: str, keyword: re.Pattern[str] | None = None
) -> int | None:
    line_code = _NO_CODE.sub("", text[start - 1])
    named = re.search(rf"(?<![\w.>]){re.escape(name)}\b", line_code)
    if named is None or (keyword is not None and not keyword.search(line_code[: named.end()])):
        return None
    rest = "\n".join(text[start - 1 : start - 1 + _LINES_MAX])
    rest = _NO_CODE.sub(lambda one: "\n" * one[0].count("\n"), rest)
    depth, is_open, line = 0, False, start
    for letter in rest:
        if letter == "\n":
            line += 1
        elif letter == "{":
            depth, is_open = depth + 1, True
        elif letter == "}":
            depth -= 1
            if depth <= 0:
                # Without an opening brace it ends the block around a call.
                return line if is_open else None
        elif letter == ";" and not is_open:
            return None  # a declaration, or a call
    return None


class PythonFunction(Struct, frozen=True):
    """A function by its full name, its first line with decorators, and its last line."""

    name: str
    line: int
    last: int


def list_functions(source: str) -> list[PythonFunction]:
    """List the functions of a source, outer ones first; none if it cannot be parsed."""
    tree = parse_source(source)
    return functions_in(tree) if tree is not None else []


def parse_source(source: str) -> ast.Module | None:
    """Parse a source; None if it cannot be."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None


def functions_in(tree: ast.Module) -> list[PythonFunction]:
    """List the functions of a parsed source, outer ones first."""
    return list(_walk_functions(tree, ()))


def _statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is directly in a node's blocks: statements, and the parts that have blocks."""
    for field in node._fields:
        if field in _BLOCKS:
            yield from getattr(node, field)


def _walk_functions(node: ast.AST, outer: tuple[str, ...]) -> Iterator[PythonFunction]:
    # Expressions, which are most nodes, define none.
    for child in _statements_in(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = (*outer, child.name)
            if not isinstance(child, ast.ClassDef):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                yield PythonFunction(".".join(names), first, child.end_lineno or child.lineno)
            yield from _walk_functions(child, names)
        else:
            yield from _walk_functions(child, outer)


def may_define(source: str, name: str) -> bool:
    """Return whether a source may define a function or a lambda of this name, without a parse.

    False is certain. Parsing takes a hundred times longer.
    """
    if name not in source:
        return False
    word = re.escape(name)
    if re.search(rf"\bdef[\s\\]+{word}(?!\w)", source):
        return True
    is_assigned = "lambda" in source and re.search(rf"(?<!\w){word}{_GAP}(?::|=(?!=))", source)
    return bool(is_assigned) and re.search(rf"={_GAP}lambda\b", source) is not None


def scan_names(source: str) -> Iterator[str]:
    """Yield the names that a source's functions seem to have, without a parse.

    Those of a text in a string are among them.
    """
    outer: list[tuple[int, str]] = []
    for head in _HEAD.finditer(source):
        depth = len(head[1].expandtabs())
        while outer and outer[-1][0] >= depth:
            outer.pop()
        outer.append((depth, head[3]))
        if head[2] is None:
            yield ".".join(name for _, name in outer)
    for found in _LAMBDA.finditer(source):
        before = source[max(0, found.start() - _BEFORE) : found.start()]
        assigned = _ASSIGNED.search(before) if "=" in before[-_BEFORE // 4 :] else None
        if assigned is not None:
            yield assigned[1]


def lambdas_in(tree: ast.Module) -> list[PythonFunction]:
    """List the lambdas of a parsed source that are assigned to a name, by that name."""
    return list(_walk_lambdas(tree, ()))


def _walk_lambdas(node: ast.AST, outer: tuple[str, ...]) -> Iterator[PythonFunction]:
    for child in ast.iter_child_nodes(node):
        names = outer
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = (*outer, child.name)
        targets = child.targets if isinstance(child, ast.Assign) else []
        if isinstance(child, ast.AnnAssign | ast.NamedExpr):
            targets = [child.target]
        value = getattr(child, "value", None)
        if isinstance(value, ast.Lambda):
            for one in targets:
                name = one.id if isinstance(one, ast.Name) else getattr(one, "attr", "")
                if name:
                    first, last = value.lineno, value.end_lineno or value.lineno
                    yield PythonFunction(".".join((*outer, name)), first, last)
        yield from _walk_lambdas(child, names)


def parameter_names(source: str, line: int) -> tuple[str, ...]:
    """Return the parameters of the innermost function around a line; none if there is none."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    around = [
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
        and min([one.lineno, *(each.lineno for each in one.decorator_list)]) <= line
        and line <= (one.end_lineno or one.lineno)
    ]
    if not around:
        return ()
    given = max(around, key=lambda one: one.lineno).args
    stars = [one for one in (given.vararg, given.kwarg) if one is not None]
    return tuple(one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, *stars))


def innermost_function(source: str, line: int) -> PythonFunction | None:
    """Return the innermost function around a line; None for module-level code."""
    fitting = [one for one in list_functions(source) if one.line <= line <= one.last]
    return max(fitting, key=lambda one: one.line, default=None)
