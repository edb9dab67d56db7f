"""Which lines and functions a Python file has, to check a breakpoint before it is sent."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

_SIZE_MAX = 4 << 20
_Function = ast.FunctionDef | ast.AsyncFunctionDef
# MemoryError: the parser's word for brackets and signs nested too deep.
_UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)


class PythonOutline(Struct, frozen=True):
    """The lines of a file that have code, by function; and its functions' first lines.

    `functions` maps a qualified name (`Class.method`) to the first line of its body, `definitions`
    the line of a `def` to the name; `shared` are those whose first line has code of others, too, or
    is the head of a loop.
    """

    blocks: tuple[tuple[int, int, frozenset[int]], ...]
    functions: dict[str, int]
    definitions: dict[int, str]
    shared: frozenset[str]

    @property
    def code_lines(self) -> list[int]:
        """Every line with code, in order."""
        return sorted({line for _, _, lines in self.blocks for line in lines})

    def function_entered(self, line: int) -> str | None:
        """Return the function that a line is the first of, if the line has code of others, too."""
        return next((name for name in self.shared if self.functions[name] == line), None)

    def next_code_line(self, line: int) -> int | None:
        """Return the line or the next one with code in the same function; None if none is."""
        around = [block for block in self.blocks if block[0] <= line <= block[1]]
        # The innermost function: one that starts last.
        for _, _, lines in sorted(around, key=lambda block: -block[0]):
            later = [other for other in lines if other >= line]
            if later:
                return min(later)
        return None


def outline_file(path: str) -> PythonOutline | None:
    """Read a file; None if it cannot be read or is not Python that we can parse."""
    try:
        file = Path(path)
        if file.stat().st_size > _SIZE_MAX:
            return None
        source = file.read_bytes()
        tree = ast.parse(source, path)
        code = compile(source, path, "exec", dont_inherit=True)
        nodes = dict(_find_functions(tree, ""))
        functions = {name: _first_statement(node).lineno for name, node in nodes.items()}
        return PythonOutline(
            blocks=tuple(_code_blocks(code)),
            functions=functions,
            definitions={node.lineno: name for name, node in nodes.items()},
            shared=frozenset(name for name, node in nodes.items() if _is_shared(node)),
        )
    except _UNREADABLE:
        return None


def _code_blocks(code: types.CodeType) -> Iterator[tuple[int, int, frozenset[int]]]:
    lines = {line for _, _, line in code.co_lines() if line}
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    if lines:
        # The def line belongs to the outer block: stopping there is stopping at the definition.
        own = lines - ({code.co_firstlineno} if code.co_name != "<module>" else set())
        last = max(lines)
        for block in inner:
            last = max([last, *(line for _, _, line in block.co_lines() if line)])
        yield code.co_firstlineno, last, frozenset(own or lines)
    for block in inner:
        yield from _code_blocks(block)


def _find_functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, _Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
            yield from _find_functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from _find_functions(node, f"{prefix}{node.name}.")
        else:
            yield from _find_functions(node, prefix)


def _first_statement(node: _Function) -> ast.stmt:
    body = node.body
    is_docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1] if is_docstring and len(body) > 1 else body[0]


def _is_shared(node: _Function) -> bool:
    """Tell whether a function's first line may be passed without a call of it.

    It is where its definition is, or another function's, or the head of a loop.
    """
    first = _first_statement(node)
    if isinstance(first, ast.For | ast.AsyncFor | ast.While):
        return True
    arguments = node.args
    defaults = [one for one in (*arguments.defaults, *arguments.kw_defaults) if one is not None]
    end = max([node.lineno, *(one.end_lineno or one.lineno for one in defaults)])
    inner = ast.Lambda | ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp | ast.ClassDef
    return first.lineno <= end or any(isinstance(one, inner) for one in ast.walk(first))


def parameter_names(path: str, function: str, line: int) -> list[str] | None:
    """Return the parameters' names of the function of this name around a line."""
    try:
        tree = ast.parse(Path(path).read_bytes(), path)
    except _UNREADABLE:
        return None
    best: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function:
            inside = node.lineno <= line <= (node.end_lineno or node.lineno)
            if inside and (best is None or node.lineno > best.lineno):
                best = node
    if best is None:
        return None
    every = best.args
    named = [*every.posonlyargs, *every.args, *every.kwonlyargs]
    starred = [one for one in (every.vararg, every.kwarg) if one is not None]
    return [argument.arg for argument in [*named, *starred]]
