"""Arithmetic is the same in Python, JavaScript and C, and gcc's own."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import pytest

from debugger.backends.inprocess.expressions import javascript_writer, nodes
from debugger.backends.inprocess.expressions.node_evaluation import encode_number, evaluate_node
from debugger.backends.inprocess.expressions.nodes import BASIC
from debugger.backends.inprocess.expressions.operands import load_node, machine_type
from expression_runner import compile_and_run, condition_for_value, pack_numbers
from random_expressions import (
    VARIABLES,
    check_expressions,
    evaluate_outcome,
    sample_memory,
    write_expression,
)


@pytest.mark.parametrize("seed", range(4))
def test_random_arithmetic_is_the_same_three_times(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    held, world = sample_memory(), sample_memory().world()
    cases = check_expressions([write_expression(chance, 4) for _ in range(500)], held)
    loaded = [load_node(operand) for _, operand in cases]
    values = [evaluate_outcome(lambda node=node: evaluate_node(node, world)) for node in loaded]
    assert sum(value is None for value in values) > 20
    assert sum(value is not None for value in values) > 200
    conditions = [
        condition_for_value(node, 0 if value is None else value)
        for node, value in zip(loaded, values, strict=True)
    ]
    in_c = held.in_c(conditions, tmp_path)
    in_js = held.in_javascript(
        [javascript_writer.condition_script(one).function_text for one in conditions]
    )
    for (text, _), value, from_c, from_js in zip(cases, values, in_c, in_js, strict=True):
        if value is None:
            assert from_c < 0, text
            assert from_js.get("kind") == "Error", (text, from_js)
        else:
            assert (from_c, from_js.get("value")) == (1, "true"), (text, value, from_js)


@pytest.mark.parametrize("seed", range(10, 13))
def test_random_arithmetic_is_what_gcc_makes_of_it(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    held, world = sample_memory(), sample_memory().world()
    cases = []
    for text, operand in check_expressions([write_expression(chance, 3) for _ in range(500)], held):
        value = evaluate_outcome(lambda operand=operand: evaluate_node(load_node(operand), world))
        # What C leaves open is not asked of gcc; nor is what raises a signal on this machine.
        if value is not None and not _may_trap(load_node(operand), world):
            cases.append((text, operand, value))
    assert len(cases) > 250
    answers = _by_gcc([text for text, _, _ in cases], tmp_path)
    for (text, operand, value), (size, is_signed, content) in zip(cases, answers, strict=True):
        kind = machine_type(operand.type)
        if operand.type is not BASIC["bool"] and operand.type.name != "bool":
            assert size * 8 == kind.bit_width, text
            assert is_signed == kind.is_signed or size < 4, text
            ours = encode_number(value, kind)
        else:
            ours = int(value).to_bytes(size, "little")  # an int in C
        if kind.is_real and value != value:  # noqa: PLR0124  of NaN the sign is nobody's business
            theirs = struct.unpack("<f" if size == 4 else "<d", content)[0]
            assert theirs != theirs, text  # noqa: PLR0124
        else:
            assert ours == content, (text, value)


def _may_trap(node: nodes.Node, world: Any) -> bool:
    """Find a division by -1: of the lowest number it is defined here, and a signal on x86."""
    if isinstance(node, nodes.BinaryNode) and node.op in {"/", "%"} and not node.machine.is_real:
        divisor = evaluate_outcome(lambda: evaluate_node(node.right, world))
        if divisor in {-1, None}:
            return True
    parts = [getattr(node, name) for name in node.__slots__]
    return any(_may_trap(one, world) for one in parts if hasattr(one, "__slots__"))


def _by_gcc(texts: list[str], folder: Path) -> list[tuple[int, bool, bytes]]:
    declared = "".join(f"{kind} {name};\n" for name, kind, _, _ in VARIABLES)
    filled = "".join(
        f'  fill(&{name}, "{pack_numbers(form, value).hex()}");\n'
        for name, _, form, value in VARIABLES
    )
    asked = "".join(
        f"  {{ __typeof__({text}) v = {text}; tell(sizeof v, (__typeof__(v))-1 < 0, &v); }}\n"
        for text in texts
    )
    (folder / "cases.c").write_text(
        f"""\
#include <stdio.h>
#include <string.h>
{declared}
static void fill(void *to, const char *hex) {{
  unsigned char *at = to;
  for (unsigned byte; sscanf(hex, "%2x", &byte) == 1; hex += 2) *at++ = byte;
}}
static void tell(int size, int is_signed, const void *value) {{
  const unsigned char *at = value;
  printf("%d %d ", size, is_signed);
  while (size--) printf("%02x", *at++);
  puts("");
}}
int main(void) {{
{filled}{asked}  return 0;
}}
""",
        encoding="utf-8",
    )
    found = []
    for line in compile_and_run(folder):
        size, is_signed, content = line.split()
        found.append((int(size), is_signed == "1", bytes.fromhex(content)))
    return found
