"""Parses the project's own sources and tests, each file once for all tests that look at it."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "debugger"


@contextmanager
def _without_collection() -> Iterator[None]:
    """Look for no garbage in trees: there is none, and each look costs more than to parse them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


@cache
def parse_text(text: str) -> ast.Module:
    """Parse a module's text; the tree is shared, and not to be changed."""
    with _without_collection():
        return ast.parse(text)


@cache
def walk_tree(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Return all nodes of a tree, which is walked once for all rules."""
    with _without_collection():
        return tuple(ast.walk(tree))


@cache
def parse_package() -> Mapping[str, ast.Module]:
    """Return the modules of the package, by their paths in it."""
    return _parse(PACKAGE)


@cache
def parse_tests() -> Mapping[str, ast.Module]:
    """Return the modules of the tests, by their paths; debuggees may be no valid Python."""
    return _parse(TESTS, left_out="programs")


def _parse(folder: Path, left_out: str = "") -> Mapping[str, ast.Module]:
    with _without_collection():
        trees = {
            str(path.relative_to(folder)): parse_text(path.read_text("utf-8"))
            for path in folder.rglob("*.py")
            if left_out not in path.parts
        }
        for tree in trees.values():
            walk_tree(tree)
    return trees
