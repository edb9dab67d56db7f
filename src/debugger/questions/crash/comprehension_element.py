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
from debugger.sources.python_suspect import PythonSuspect, find_loop, place_found

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
# The iterator of a dictionary's values or items refers to the dictionary, and knows what is left.
_KEY = (
    f"[*__import__('gc').get_referents({_ITERATOR})[0]][-1 - {_ITERATOR}.__length_hint__()]"
    f" if type({_ITERATOR}) in (type(iter({{}}.values())), type(iter({{}}.items()))) else None"
)


async def name_element(session: Session, frame: Frame | None) -> tuple[str, str]:
    """Return the variable of a comprehension's frame, and the element that it is (a job).

    An element is an expression of the function around it, as `("p", "parts[2]")`; ("", "") where
    the frame is no comprehension's, or where it goes through something else than a list, a tuple,
    or the values or items of a dictionary that has a name.
    """
    kind = _KINDS.get(frame.function.rpartition(".")[2]) if frame is not None else None
    if frame is None or kind is None or not frame.line:
        return "", ""
    lines = source_files.read_source(frame.file) if frame.file else None
    variable, container, is_mapping = find_source("\n".join(lines or ()), kind, frame.line)
    if not container:
        return "", ""
    with suppress(DebuggerError):
        text = _KEY if is_mapping else f"{_POSITION} if {_IS_PLAIN} else 0"
        found = await session.backend.evaluate(text, frame, EvaluationPurpose.PRINT)
        if is_mapping:
            element = place_found(PythonSuspect(template=f"{container}[{{}}]"), found.value)
            return (variable, element) if element else ("", "")
        if found.value.isdecimal() and int(found.value) > 0:
            return variable, f"{container}[{int(found.value) - 1}]"
    return "", ""


def find_source(source: str, kind: type[ast.expr], line: int) -> tuple[str, str, bool]:
    """Return the variable and the container of the only comprehension of a kind at a line.

    The container is that of its first `for`, the only one that the function around it evaluates;
    with it, whether the variable is a value of a mapping, as in `for k, v in sizes.items()`.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return "", "", False
    found = [
        one
        for one in ast.walk(tree)
        if isinstance(one, kind) and one.lineno <= line <= (one.end_lineno or one.lineno)
    ]
    if len(found) != 1:
        return "", "", False
    generators: list[ast.comprehension] = getattr(found[0], "generators", [])
    first = find_loop(generators[0])
    if first is None or not _is_path(first.container):
        return "", "", False
    return first.variable, ast.unparse(first.container), first.is_mapping


def _is_path(node: ast.expr) -> bool:
    """Return whether an expression is a name with fields and constant items: it calls nothing."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)
