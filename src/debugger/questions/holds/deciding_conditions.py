"""Finds the conditions of Python code that led to a statement, by the lines that ran before. Pure.

Of each call on the stack these are the conditions around its line, and the last one that held in
the call that gave a value for them, which has returned.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from debugger.model.answers.frames import FrameView
from debugger.questions.holds.answer import EarlierCondition
from debugger.questions.recordings.function_lookup import lines_of

_SHOWN_MAX = 3
_TEXT_MAX = 160
_CONDITIONS = (ast.If, ast.While)
_BODIES = ("body", "orelse", "finalbody")
_CalleeLines = tuple[int, str, str, tuple[int, ...]]  # the call's line, name, file, lines


class StackedCall(Struct, frozen=True, array_like=True):
    """The lines that a call on the stack passed last, and those of its last callees."""

    file: str
    lines: tuple[int, ...]
    callees: tuple[_CalleeLines, ...] = ()


def find_deciding(
    stack: Sequence[tuple[str, str, int]], passed: Sequence[StackedCall]
) -> tuple[EarlierCondition, ...]:
    """Return the conditions before a statement; those of calls that have returned come first."""
    returned: list[EarlierCondition] = []
    around: list[EarlierCondition] = []
    for (function, file, line), one in zip(stack, passed, strict=False):
        chain = _enclosing_statements(file, line)
        if one.file != file or not chain:
            continue
        read = _names_read(chain)
        sites: list[ast.stmt] = [node for node in chain if isinstance(node, ast.For)]
        sites += _assignments(file, one.lines, read)
        for callee in one.callees:
            if any(_covers(_iterated(node), callee[0]) for node in sites):
                returned.extend(_last_taken(callee))
        tests = [node for node in chain if isinstance(node, _CONDITIONS)]
        around.extend(_condition(function, file, node) for node in tests[:1])
    found = {(one.frame.file, one.frame.line): one for one in (*returned, *around)}
    return tuple(found.values())[:_SHOWN_MAX]


def _enclosing_statements(file: str, line: int) -> list[ast.stmt]:
    """Return the statement at a line and those around it in its function, innermost first."""
    chain: list[ast.stmt] = []
    inner = _statement_at(_parse(file), line)
    while inner is not None:
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            chain.clear()
        else:
            chain.insert(0, inner)
        inner = _statement_at(inner, line)
    return chain


def _parse(file: str) -> ast.Module:
    try:
        return ast.parse("\n".join(lines_of(file)))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _statement_at(node: ast.AST, line: int) -> ast.stmt | None:
    """Return the statement of a node's bodies that holds a line."""
    for one in _statements(node):
        if one.lineno <= line <= (one.end_lineno or one.lineno):
            return one
    return None


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    for name in _BODIES:
        yield from getattr(node, name, ())
    for handler in getattr(node, "handlers", ()):
        yield from handler.body
    for case in getattr(node, "cases", ()):
        yield from case.body


def _names_read(chain: Sequence[ast.stmt]) -> set[str]:
    """Return the names that a statement and the conditions around it read."""
    nodes = [chain[0], *(one.test for one in chain if isinstance(one, _CONDITIONS))]
    return {
        one.id
        for node in nodes
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    }


def _assignments(file: str, lines: Sequence[int], names: set[str]) -> list[ast.stmt]:
    """Return the last assignments to some names among the lines that ran."""
    found: list[ast.stmt] = []
    for line in dict.fromkeys(reversed(lines)):
        one = next(iter(_enclosing_statements(file, line)), None)
        if not isinstance(one, (ast.Assign, ast.AnnAssign)):
            continue
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        bound = {each.id for part in targets for each in ast.walk(part)
                 if isinstance(each, ast.Name)}  # fmt: skip
        if bound & names:
            found.append(one)
            names = names - bound
    return found


def _iterated(node: ast.stmt) -> ast.AST:
    return node.iter if isinstance(node, ast.For) else node


def _covers(node: ast.AST, line: int) -> bool:
    first: int = getattr(node, "lineno", 0)
    return first <= line <= (getattr(node, "end_lineno", None) or first)


def _last_taken(callee: _CalleeLines) -> Iterator[EarlierCondition]:
    """Return the last condition of a call whose body was run after it."""
    _, function, file, lines = callee
    tree = _parse(file)
    tests = [one for one in ast.walk(tree) if isinstance(one, _CONDITIONS)]
    for line, after in reversed(list(pairwise(lines))):
        for one in tests:
            body = range(one.body[0].lineno, (one.body[-1].end_lineno or 0) + 1)
            if _covers(one.test, line) and after in body and not _covers(one.test, after):
                yield _condition(function, file, one)
                return


def _condition(function: str, file: str, node: ast.stmt) -> EarlierCondition:
    assert isinstance(node, _CONDITIONS)
    text = ast.unparse(node.test)
    return EarlierCondition(
        frame=FrameView(0, function, file, node.test.lineno),
        last_line=node.test.end_lineno or node.test.lineno,
        text=text if len(text) <= _TEXT_MAX else f"{text[: _TEXT_MAX - 2]} …",
    )
