"""Writes Python objects by their fields where their own text is only `<app.Cart object at 0x7f…>`.

The texts are those of the recorder, made inside the program without running code of its own; its
source is sent on the first need. A type that defines a text of its own keeps it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from debugger.backends.dap.debug_adapter import AdapterConnection
from debugger.errors import DebuggerError
from debugger.model.program import EvaluationPurpose, Variable
from debugger.recorders.python import inside

_MARK = " object at 0x"
_WRITTEN_MAX = 60  # objects of one answer
_EXPRESSION_MAX = 100  # characters
_NAME = "_debugger_texts"
# Characters of a text, fields or items of one object, and how deep they are written.
_LIMITS = (400, 8, 3)
_PLAIN = (
    *(ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context),
    *(ast.List, ast.Tuple, ast.Dict, ast.Set),
)
_WRITER: Final = """
import json

def write_all(values):
    return json.dumps([_write(one) for one in values])

def _write(value):
    kind = type(value)
    if kind not in (list, tuple, dict, set, frozenset) and known.has_repr(kind):
        return None
    text = write(value)
    return None if text.startswith("<") else text
"""


def _load_expression() -> str:
    """Return the expression that makes the module of the texts inside the program."""
    folder = Path(inside.__path__[0])
    known, texts = (
        (folder / f"{name}.py").read_text(encoding="utf-8") for name in ("known_types", "texts")
    )
    lines = (
        "import sys, types",
        f"made, known, texts = (types.ModuleType({_NAME!r}) for _ in range(3))",
        f"exec({known!r}, known.__dict__)",
        f"exec({texts!r}, texts.__dict__)",
        "made.known = known",
        f"made.write = texts.ValueTexts(*{_LIMITS!r}, known)",
        f"exec({_WRITER!r}, made.__dict__)",
        f"sys.modules[{_NAME!r}] = made",
    )
    return f"exec({chr(10).join(lines)!r}, {{}})"


_LOAD: Final = _load_expression()


async def write_objects(
    connection: AdapterConnection, variables: Sequence[Variable]
) -> list[Variable]:
    """Replace the texts that name no more than a type and an address, by one request."""
    dull = [one for one in variables if _MARK in one.value and _is_readable(one.expression)]
    dull = dull[:_WRITTEN_MAX]
    if not dull:
        return list(variables)
    requested = ",".join(str(one.expression) for one in dull)
    request = (
        f"(lambda made: made and made.write_all(({requested},)))"
        f"(__import__('sys').modules.get({_NAME!r}))"
    )
    frame, purpose = connection.inspected_frame, EvaluationPurpose.PRINT
    try:
        answer = await connection.evaluate(request, frame, purpose)
        if answer.value == "None":
            await connection.evaluate(_LOAD, frame, purpose)
            answer = await connection.evaluate(request, frame, purpose)
        texts = json.loads(ast.literal_eval(answer.value))
    except (DebuggerError, ValueError, SyntaxError, TypeError):
        return list(variables)
    written = {id(one): text for one, text in zip(dull, texts, strict=False) if text is not None}
    return [
        msgspec.structs.replace(one, value=written[id(one)]) if id(one) in written else one
        for one in variables
    ]


def _is_readable(expression: str | None) -> bool:
    """Return whether an expression can be read again without a call of the program's own."""
    if expression is None or len(expression) > _EXPRESSION_MAX:
        return False
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return False
    return all(isinstance(one, _PLAIN) for one in ast.walk(tree))
