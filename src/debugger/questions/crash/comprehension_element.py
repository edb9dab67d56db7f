"""Names the element of a container that a comprehension's variable is, in the function around it.

Up to CPython 3.11 a comprehension has a frame of its own, and a generator expression has it still.
Its variables have no value in the function whose statement it is, and the origin of a value is
followed there.
"""

from __future__ import annotations

import ast
from contextlib import suppress

from debugger.errors import DebuggerError
from debugger.model.program import EvaluationPurpose, Frame
from debugger.session import source_files
from debugger.session.session import Session

_KINDS: dict[str, type[ast.expr]] = {
    "<listcomp>": ast.ListComp,
    "<setcomp>": ast.SetComp,
    "<dictcomp>": ast.DictComp,
    "<genexpr>": ast.GeneratorExp,
}
# What a comprehension goes through; the interpreter reads it as an argument of that name. What the
# iterator of a list or a tuple is reduced to has its position behind the element that it gave last.
_ITERATOR = "locals()['.0']"
_POSITION = f"{_ITERATOR}.__reduce__()[2]"
_IS_PLAIN = f"type({_ITERATOR}) in (type(iter([])), type(iter(())))"


async def name_element(session: Session, frame: Frame | None) -> tuple[str, str]:
    """Return the variable of a comprehension's frame, and the element that it is (a job).

    An element is an expression of the function around it, as `("p", "parts[2]")`; ("", "") where
    the frame is no comprehension's, or where it goes through something else than a list or a tuple
    that has a name.
    """
    kind = _KINDS.get(frame.function.rpartition(".")[2]) if frame is not None else None
    if frame is None or kind is None or not frame.line:
        return "", ""
    lines = source_files.read_source(frame.file) if frame.file else None
    variable, container = find_source("\n".join(lines or ()), kind, frame.line)
    if not container:
        return "", ""
    with suppress(DebuggerError):
        text = f"{_POSITION} if {_IS_PLAIN} else 0"
        found = await session.backend.evaluate(text, frame, EvaluationPurpose.PRINT)
        if found.value.isdecimal() and int(found.value) > 0:
            return variable, f"{container}[{int(found.value) - 1}]"
    return "", ""


def find_source(source: str, kind: type[ast.expr], line: int) -> tuple[str, str]:
    """Return the variable and the container of the only comprehension of a kind at a line.

    The container is that of its first `for`, the only one that the function around it evaluates.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return "", ""
    found = [
        one
        for one in ast.walk(tree)
        if isinstance(one, kind) and one.lineno <= line <= (one.end_lineno or one.lineno)
    ]
    if len(found) != 1:
        return "", ""
    generators: list[ast.comprehension] = getattr(found[0], "generators", [])
    first = generators[0]
    if first.is_async or not isinstance(first.target, ast.Name) or not _is_path(first.iter):
        return "", ""
    return first.target.id, ast.unparse(first.iter)


def _is_path(node: ast.expr) -> bool:
    """Return whether an expression is a name with fields and constant items: it calls nothing."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)
