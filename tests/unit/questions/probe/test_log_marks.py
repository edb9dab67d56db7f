"""A logpoint's values are told apart, and errors from values."""

from __future__ import annotations

import subprocess

import pytest

from debugger.backends.select_backend import ADAPTERS, OWN
from debugger.model.breakpoints import split_template
from debugger.questions.probe import logpoint_probe
from debugger.questions.probe.object_identity import split_mark
from debugger.questions.probe.probe_table import ProbeCell
from debugger.sources.expression_names import variables_of

BREAK = "\x1f"

TRAITS = {one.name: one.traits for one in (*ADAPTERS.values(), *OWN.values())}


@pytest.mark.parametrize("adapter", ["lldb-dap", "gdb", "delve", "js-debug", "debugpy", "frida"])
def test_a_text_asks_for_each_expression_once(adapter: str) -> None:
    text = logpoint_probe.logpoint_text(["a", "f(b, 'x}')"], TRAITS[adapter], "")
    asked = [part for part, is_expression in split_template(text) if is_expression]
    assert [one for one in asked if "f(b, 'x}')" in one] == asked[-1:]
    assert text.endswith(BREAK)


@pytest.mark.parametrize(
    ("adapter", "values", "thread", "found"),
    [
        ("lldb-dap", ['0x00aa "a, b"', "3"], None, ('"a, b"', "3")),
        ("codelldb", ["0x00007fff10 {a:1}", '"0x00"'], None, ("0x7fff10 {a:1}", '"0x00"')),
        (
            "lldb-dap",
            ["0x00ff Big{$variants$:{$variant$0:{$discr$:1}}}", "0x0"],
            None,
            ("0xff Big{...}", "0x0"),
        ),
        ("gdb", ["2", '0x55 "x\\n|"', "{x = 1, y = 2}"], 2, ('"x\\n|"', "{x = 1, y = 2}")),
        ("delve", ["7", "[]int len: 0"], 7, ("[]int len: 0",)),
        ("delve", ["22 = 0x16", "3"], 22, ("3",)),
        ("frida", ["0x7ffe"], None, ("0x7ffe",)),
    ],
)
def test_values_are_told_apart(
    adapter: str, values: list[str], thread: int | None, found: tuple[str, ...]
) -> None:
    printed = "".join(BREAK + one for one in values) + BREAK
    told, cells = logpoint_probe.parse_cells(printed, len(found), TRAITS[adapter].log)
    assert told == thread
    assert [(one.text, one.is_error) for one in cells] == [(text, False) for text in found]


@pytest.mark.parametrize(
    ("adapter", "said", "error"),
    [
        ("lldb-dap", "error: <user expression 4>:1:1: use of undeclared identifier 'zz'\n 1 | zz",
         "use of undeclared identifier 'zz'"),
        ("lldb-dap", "<error: error: it failed: couldn't read from memory\\n>",
         "it failed: couldn't read from memory"),
        ("lldb-dap", ("<error: Couldn't get: couldn't get the value of variable one: variable not "
         "available\\nerror: errored out>"), "one is optimized out"),
        ("gdb", "<Cannot access memory at address 0x2c>", "Cannot access memory at address 0x2c"),
        ("gdb", "<value has been optimized out>", "value has been optimized out"),
        ("lldb-dap", "<error: error: <user expression 3>:1:1: reference to 'n' is ambiguous\n>",
         "reference to 'n' is ambiguous"),
        ("codelldb", "{Error: error: <user expression 0>:1:1: reference to 'n' is ambiguous\n}",
         "reference to 'n' is ambiguous"),
        ("gdb", '<No symbol "zz" in current context.>', 'No symbol "zz" in current context.'),
        ("delve", "{could not find symbol value for zz}", "could not find symbol value for zz"),
        ("delve", "{index out of bounds}", "index out of bounds"),
        ("js-debug", "<ReferenceError: zz is not defined>", "ReferenceError: zz is not defined"),
        ("frida", "<error: zz is not in scope>", "zz is not in scope"),
    ],
)  # fmt: skip
def test_an_error_is_told_from_a_value(adapter: str, said: str, error: str) -> None:
    thread = "1" if adapter in {"gdb", "delve"} else None
    printed = "".join(BREAK + one for one in [thread, said] if one is not None) + BREAK
    assert logpoint_probe.parse_cells(printed, 1, TRAITS[adapter].log)[1] == (
        ProbeCell(error, is_error=True),
    )


def test_a_text_with_other_parts_than_asked_for_is_an_error_of_all() -> None:
    cells = logpoint_probe.parse_cells("Traceback: NameError", 2, TRAITS["debugpy"].log)[1]
    assert cells == (ProbeCell("Traceback: NameError", is_error=True),) * 2


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("v", "6"),
        ("({ a: 1, b: ['x', null] })", '{"a":1,"b":["x",null]}'),
        ("({ a: undefined, n: NaN })", "{ a: undefined, n: NaN }"),
        ("new Map([['1', { a: 1n }]])", "Map(1) { '1' => { a: 1n } }"),
        ("new Cart(2)", "Cart { qty: 2 }"),
        ("[new Set(['1', 1])]", "[ Set(2) { '1', 1 } ]"),
        ("-0", "-0"),
        ("Object.assign(new Error('no'), { code: 1 })", "Error: no { code: 1 }"),
        ("nosuch", "<ReferenceError: nosuch is not defined>"),
    ],
)
@pytest.mark.adapter("js-debug")
def test_values_of_javascript_are_written_as_they_are(expression: str, text: str) -> None:
    said = logpoint_probe.logpoint_text([expression], TRAITS["js-debug"], "javascript")
    asked = said[said.index("{") + 1 : said.rindex("}")]
    program = f"const v=6;class Cart{{constructor(q){{this.qty=q}}}}console.log({asked})"
    ran = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True)
    shown, identity, departure = split_mark(ran.stdout)
    assert shown == f"{text}\n"
    # The first object that the program has met is number 1.
    is_object = expression.startswith(("(", "[", "new", "Object"))
    assert (identity, departure) == ("1" if is_object else "", "")


def test_no_variable_of_javascript_is_hidden_by_those_that_format_its_value() -> None:
    # What has other names in the script that runs is found in the whole text, by name.
    names = ("v", "k", "x", "y", "t", "up", "text", "whole", "plain", "inspect", "h", "d", "n")
    for name in (*names, "s", "w", "i", "e"):
        written = logpoint_probe.logpoint_text([name], TRAITS["js-debug"], "javascript")
        assert name in variables_of(written)


def test_hits_that_had_no_room_are_counted() -> None:
    assert logpoint_probe.parse_missed("(1800 more hits, too many a second to be logged)") == 1800
    assert logpoint_probe.parse_missed("1800") == 0
