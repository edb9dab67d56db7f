"""Conditions that are evaluated in a JavaScript program read the program's names, not their own."""

from __future__ import annotations

import json
import string
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from debugger.questions.holds.logged_checks import key_expressions
from debugger.questions.holds.node_narrowing import STATE_NAME, NarrowingCondition
from debugger.questions.who_wrote.javascript_writes import WritingSource, recording_condition

NAMES = [*string.ascii_letters, "live", "read", "text", "known", "key", "name", "value", "state"]
RECORDS = 'globalThis[Symbol.for("debugger.writes")]'
pytestmark = pytest.mark.adapter("js-debug")


def run_node(statements: list[str]) -> list[Any]:
    """Run each statement in a function of its own; return what they return."""
    source = ",".join(f"()=>{{{one}}}" for one in statements)
    script = f"console.log(JSON.stringify([{source}].map(f=>f())))"
    printed = subprocess.run(
        ["node", "-"], input=script, capture_output=True, text=True, check=True, timeout=60
    )
    found: list[Any] = json.loads(printed.stdout)
    return found


def test_a_write_is_recorded_whatever_the_variables_are_called() -> None:
    def record(source: WritingSource, expression: str, declared: str) -> str:
        condition = recording_condition(1, source, expression)
        return f"{declared};{condition};const [, , $key, $old]={RECORDS}.pop();return [$key,$old]"

    field = [
        record(WritingSource("a.js", 1, name, '"x"'), f"{name}.x", f"const {name}={{x:1}}")
        for name in NAMES
    ]
    element = [
        record(WritingSource("a.js", 1, "$a", name), f"$a[{name}]", f"const $a=[4,5],{name}=1")
        for name in NAMES
    ]
    variable = [record(WritingSource("a.js", 1, "", ""), name, f"let {name}=7") for name in NAMES]
    assert run_node(field) == [["x", "1"]] * len(NAMES)
    assert run_node(element) == [["1", "5"]] * len(NAMES)
    assert run_node(variable) == [["", "7"]] * len(NAMES)


def test_objects_are_numbered_whatever_the_variables_are_called() -> None:
    numbers = [
        f"const {name}={{n:1}};return {key_expressions(f'{name}.n > 0', 'javascript')[1]}"
        for name in NAMES
        if name != "known"
    ]
    assert run_node(numbers) == list(range(1, len(NAMES)))


def test_a_change_to_false_is_noted_whatever_the_variables_are_called() -> None:
    def narrow(name: str) -> str:
        window: Any = SimpleNamespace(
            expression=f"{name}<5",
            operands=(name,),
            when="",
            good=SimpleNamespace(ordinal=1),
            bad=SimpleNamespace(ordinal=1),
        )
        conditions = NarrowingCondition(window, "")
        good = conditions.check_line(is_good=True, is_bad=False)
        home = conditions.home_line()
        state = f"globalThis.{STATE_NAME}"
        # Each has a state of its own: the property is fixed, its value is not.
        begin = f"if({state})Object.assign({state},{{g:0,b:0,n:0,on:false,c:null}})"
        return (
            f"{begin};let {name}=1;{good};{name}=6;{home};"
            f"return [{state}.n,{state}.c.before,{state}.c.after]"
        )

    assert run_node([narrow(name) for name in NAMES]) == [[1, ["1"], ["6"]]] * len(NAMES)
