"""The walk of `next` in docs/architecture.md, compared with the code."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "debugger"
HOPS_MAX = 60


def read_walk() -> list[list[tuple[str, str]]]:
    """Return the parts of the walk, each a chain of calls: modules and qualified functions."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    block = text.partition("## The walk of `next`")[2].split("```")[1]
    return [
        [
            (line.split()[0], name.strip())
            for line in part.strip().splitlines()
            for name in line.partition(" ")[2].split(">")
        ]
        for part in block.strip().split("\n\n")
    ]


def source_of(module: str, function: str) -> str:
    """Return the text of a function; closures in it are its own."""
    text = (PACKAGE / module).read_text()
    nodes: list[ast.AST] = [ast.parse(text)]
    for name in function.split("."):
        nodes = [
            child
            for node in nodes
            for child in ast.iter_child_nodes(node)
            if getattr(child, "name", None) == name
        ]
    (found,) = nodes
    return ast.get_source_segment(text, found) or ""


WALK = read_walk()
CALLS = [pair for part in WALK for pair in itertools.pairwise(part)]


@pytest.mark.parametrize(("caller", "callee"), CALLS, ids=lambda one: f"{one[0]}:{one[1]}")
def test_each_function_of_the_walk_names_the_next(
    caller: tuple[str, str], callee: tuple[str, str]
) -> None:
    assert source_of(*callee)
    name = callee[1].rpartition(".")[2]
    assert re.search(rf"\b{name}\b", source_of(*caller).partition("\n")[2])


def test_each_part_of_the_walk_begins_with_a_function() -> None:
    for part in WALK:
        assert source_of(*part[0])


def test_the_walk_is_short() -> None:
    hops = sum(map(len, WALK))
    assert hops <= HOPS_MAX
    text = (ROOT / "docs" / "architecture.md").read_text()
    assert f"{hops} hops" in " ".join(text.split())
