"""A line's text shows whether it decides, changes state, calls, or only follows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.recorders.line_effect import LineEffect, classify_line

CASES = {
    LineEffect.DECIDES: (
        "if a == b:",
        "elif limit < 3:",
        "} else if (x) {",
        "for i in range(3):",
        "while (p) {",
        "return x",
        "return self.f(a=1)",
        "case 3:",
        "match x:",
        "except ValueError:",
        "} catch (e) {",
        "default:",
        "break;",
    ),
    LineEffect.CHANGES: (
        "x = 3",
        "x: int = f(1)",
        "self.a += 1",
        "d['if'] = f(a=1)",
        "rows[i + 1] <<= 2",
        "n := len(x)",
        "i++;",
        "const k = a === b;",
        "*p = 0;",
        "p->next = q;",
        "del x[3]",
        "delete this.a[b];",
        "x ??= y",
    ),
    LineEffect.CALLS: ("f(1)", "f(a=1)", "self.rows.append(x)", "obj.method(a == b);"),
    LineEffect.FOLLOWS: ("else:", "}", "} else {", "pass", "", "# x = 3", "// x = 3", "try {"),
    LineEffect.REPORTS: (
        "raise ValueError(x)",
        "throw new Error('a')",
        "print(x)",
        "console.error(e);",
        "process.exit(1)",
        "log.Fatal(err)",
        "panic(err)",
        "logger.info('a=%s', a)",
        "assert x == 3",
        "sys.exit(2)",
    ),
}


@pytest.mark.parametrize(
    ("text", "effect"), [(text, effect) for effect, texts in CASES.items() for text in texts]
)
def test_the_effect_of_a_line(text, effect):
    assert classify_line(text) is effect


@given(st.text(st.sampled_from("abif els=()[]{}'\"#/+-:.;, "), max_size=60))
def test_indentation_and_a_comment_change_no_effect(text):
    plain = text.replace("\\", "")
    assert classify_line(f"    {plain.strip()}  ") is classify_line(plain.strip())
