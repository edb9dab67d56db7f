"""The variables of Python that a statement reads, with the paths in them that it reads. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from debugger.questions.test.value_sources import assigned_from, root_names

_OPENS = ("for ", "if ", "while ", "with ", "async for ", "async with ", "elif ")
Paths = Mapping[str, frozenset[str]]


def read_paths(text: str, *, is_assigned: bool = False) -> dict[str, frozenset[str]]:
    """Return by name the paths that a statement reads: "" is the value as a whole.

    With `is_assigned` of an assignment only what is assigned from: of `x += y` both.
    """
    tree = _parse_statement(text)
    if tree is None:
        found = (assigned_from if is_assigned else root_names)(text, hash_comments=True)
        return {name: frozenset({""}) for name in found}
    read: dict[str, set[str]] = {}
    for name, path in _read_paths(tree, is_assigned=is_assigned):
        read.setdefault(name, set()).add(path)
    return {name: frozenset(paths) for name, paths in read.items()}


def paths_overlap(one: str, other: str) -> bool:
    """Tell whether one path is, or holds, the other."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and long[len(short) :][:1] in {"", ".", "["}


def _parse_statement(text: str) -> ast.stmt | None:
    text = text.strip()
    if text.startswith("elif "):
        text = text[2:]
    if text.startswith(("@", "def ", "class ", "async def ")):
        return None
    if text.startswith(_OPENS) and text.endswith(":"):
        text += " pass"
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return None
    return body[0] if len(body) == 1 else None


def _read_paths(tree: ast.stmt, *, is_assigned: bool) -> Iterator[tuple[str, str]]:
    match tree:
        case ast.Assign() | ast.AnnAssign() if is_assigned:
            targets = tree.targets if isinstance(tree, ast.Assign) else [tree.target]
            yield from (one for target in targets for one in _target_reads(target))
            if tree.value is not None:
                yield from _name_chains(tree.value, frozenset())
        case ast.AugAssign():
            target = ast.parse(ast.unparse(tree.target), mode="eval").body
            yield from _name_chains(target, frozenset())
            yield from _name_chains(tree.value, frozenset())
        case ast.For() | ast.AsyncFor():
            yield from _name_chains(tree.iter, frozenset())
        case ast.If() | ast.While():
            yield from _name_chains(tree.test, frozenset())
        case ast.With() | ast.AsyncWith():
            for item in tree.items:
                yield from _name_chains(item.context_expr, frozenset())
        case ast.Assert():
            yield from _name_chains(tree.test, frozenset())
        case _:
            yield from _name_chains(tree, frozenset())


def _target_reads(target: ast.expr) -> Iterator[tuple[str, str]]:
    """Give what is read to find out what an assignment assigns to: the key of an item."""
    for node in ast.walk(target):
        if isinstance(node, ast.Subscript):
            yield from _name_chains(node.slice, frozenset())


def _name_chains(node: ast.AST, bound: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Give the names that are read, each with the longest constant path from it."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            if name not in bound:
                yield name, ""
        case ast.Attribute() | ast.Subscript():
            yield from _longest_path(node, bound)
        case ast.Call(func=ast.Attribute(value=owner, attr=method)):
            if not method.startswith("assert"):  # those of unittest read nothing of the test
                yield from _name_chains(owner, bound)
            for one in (*node.args, *node.keywords):
                yield from _name_chains(one, bound)
        case _:
            inner = bound | _bound_within(node)
            for one in ast.iter_child_nodes(node):
                yield from _name_chains(one, inner)


def _bound_within(node: ast.AST) -> frozenset[str]:
    """Return the names that a comprehension or a lambda has for itself."""
    match node:
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            targets = [name for one in node.generators for name in ast.walk(one.target)]
            return frozenset(one.id for one in targets if isinstance(one, ast.Name))
        case ast.Lambda(args=arguments):
            return frozenset(one.arg for one in (*arguments.args, *arguments.kwonlyargs))
    return frozenset()


def _longest_path(node: ast.expr, bound: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Give the path of fields and items of constant keys; what is beyond another key is unknown."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            parts.insert(0, f".{node.attr}")
        elif isinstance(node.slice, ast.Constant):
            parts.insert(0, f"[{node.slice.value!r}]")
        else:
            parts.clear()
            yield from _name_chains(node.slice, bound)
        node = node.value
    if isinstance(node, ast.Name):
        if node.id not in bound and isinstance(node.ctx, ast.Load):
            yield node.id, "".join(parts)
    else:
        yield from _name_chains(node, bound)
