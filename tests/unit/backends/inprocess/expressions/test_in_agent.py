"""Compiled expressions run in Frida: in QuickJS, and in a CModule by TinyCC."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text
from debugger.backends.inprocess.expressions import c_writer, javascript_writer, log_text
from debugger.backends.inprocess.expressions.log_pieces import parse_template
from debugger.backends.inprocess.expressions.node_evaluation import evaluate_node
from debugger.backends.inprocess.expressions.operands import load_node
from debugger.backends.inprocess.expressions.resolution import (
    resolve_condition,
    resolve_expression,
)
from expression_cases import CASES, FAULTS, TEXTS
from expression_runner import START, ExpressionMemory, condition_for_value, require_module
from random_expressions import check_expressions, evaluate_outcome, write_expression
from random_expressions import sample_memory as arithmetic

if sys.platform != "linux":
    pytest.skip_attributes("Frida is used on Linux", allow_module_level=True)

_AGENT = program_text("counted_lines/in_agent.js")


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    frida = require_module("frida")
    folder = tmp_path_factory.mktemp("frida")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        yield from _loaded(frida)
    _end_helper(folder)


def _loaded(frida: Any) -> Iterator[Any]:
    with subprocess.Popen(["sleep", "60"]) as target:
        session = frida.get_local_device().attach(target.pid)
        try:
            made = session.create_script(_AGENT % json.dumps(hex(START)), runtime="qjs")
            made.load()
            yield made.exports_sync
        finally:
            session.detach()
            target.kill()


def _end_helper(folder: Path) -> None:
    """End Frida's own helper, which it leaves in its folder for temporary files."""
    for link in Path("/proc").glob("[0-9]*/exe"):
        with suppress(OSError):  # it has gone, or is another's
            if link.readlink().is_relative_to(folder):
                os.kill(int(link.parent.name), signal.SIGKILL)


def registers(held: ExpressionMemory) -> dict[str, str]:
    return {name: hex(value) for name, value in held.registers.items()}


def test_quickjs_gives_the_same(expression_memory: ExpressionMemory, script: Any) -> None:
    nodes = [
        load_node(resolve_expression(text, expression_memory.scope())) for text, _ in CASES + TEXTS
    ]
    conditions = [
        javascript_writer.condition_script(condition_for_value(node, value)).function_text
        for node, (_, value) in zip(nodes, CASES + TEXTS, strict=True)
    ]
    found = script.javascript(
        list(expression_memory.held), registers(expression_memory), conditions
    )
    wrong = {
        text: answer
        for (text, _), answer in zip(CASES + TEXTS, found, strict=True)
        if answer.get("value") != "true"
    }
    assert wrong == {}


def test_tinycc_gives_the_same(expression_memory: ExpressionMemory, script: Any) -> None:
    nodes = [load_node(resolve_expression(text, expression_memory.scope())) for text, _ in CASES]
    sources = [
        c_writer.write_condition(condition_for_value(node, value))
        for node, (_, value) in zip(nodes, CASES, strict=True)
    ]
    found = script.native(list(expression_memory.held), list(expression_memory.frame()), sources)
    assert {text: one for (text, _), one in zip(CASES, found, strict=True) if one != 1} == {}


@pytest.mark.parametrize("seed", [31, 32])
def test_random_arithmetic_is_the_same_in_frida(script: Any, seed: int) -> None:
    chance, held = random.Random(seed), arithmetic()
    cases = check_expressions([write_expression(chance, 4) for _ in range(300)], held)
    nodes = [load_node(operand) for _, operand in cases]
    values = [
        evaluate_outcome(lambda node=node: evaluate_node(node, held.world())) for node in nodes
    ]
    assert sum(value is not None for value in values) > 100
    conditions = [
        condition_for_value(node, 0 if value is None else value)
        for node, value in zip(nodes, values, strict=True)
    ]
    sources = [javascript_writer.condition_script(one).function_text for one in conditions]
    in_js = script.javascript(list(held.held), {}, sources)
    in_c = script.native(
        list(held.held), list(held.frame()), [c_writer.write_condition(one) for one in conditions]
    )
    for (text, _), value, from_js, from_c in zip(cases, values, in_js, in_c, strict=True):
        if value is None:
            assert from_c < 0, (text, from_c)
            assert "error" in from_js, (text, from_js)
        else:
            assert (from_js.get("value"), from_c) == ("true", 1), (text, value)


def test_a_bad_read_ends_no_program(expression_memory: ExpressionMemory, script: Any) -> None:
    nodes = [resolve_condition(text, expression_memory.scope()) for text, _ in FAULTS]
    native = script.native(
        list(expression_memory.held),
        list(expression_memory.frame()),
        [c_writer.write_condition(n) for n in nodes],
    )
    assert all(one < 0 for one in native), native
    sources = [javascript_writer.condition_script(one).function_text for one in nodes]
    found = script.javascript(list(expression_memory.held), registers(expression_memory), sources)
    assert all("error" in one for one in found), found


def test_a_template_is_written_in_quickjs_as_in_python(
    expression_memory: ExpressionMemory, script: Any
) -> None:
    text = (
        "{i} {word} {str} {long_word} {p->letter} {real} {node.in} {grid} {1e21} {0.1f} {nobody} "
        "{big} {p->colour} {i == 2} {in_xmm}"
    )
    pieces = parse_template(text, expression_memory.scope())
    sources = [log_text.log_script(pieces).function_text]
    (found,) = script.javascript(
        list(expression_memory.held), registers(expression_memory), sources
    )
    assert found == {"value": log_text.format_log(pieces, expression_memory.world())}
