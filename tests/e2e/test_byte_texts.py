"""Lists of bytes that are a text are shown as that text, and others as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import debuggees

RUST = ('size=15 "GET /index.html"', '"hello"', "size=5 {1, 2, 255, 65, 66}")
# The variables `request`, `word` and `few` of each program.
SHOWN = {
    ("bytes.rs", "lldb-dap"): RUST,
    ("bytes.rs", "codelldb"): RUST,
    ("bytes.cpp", "lldb-dap"): (
        *('size=15 "GET /index.html"', 'size=5 "hello"'),
        "size=5 {'\\x01', '\\x02', '\\xff', 'A', 'B'}",
    ),
    ("bytes.cpp", "gdb"): (
        'std::vector of length 15, capacity 15 = "GET /index"...',
        '{_M_elems = "hello"}',
        r"std::vector of length 5, capacity 5 = {1 '\001', 2 '\002', 255 '\377', 65 'A', 66 'B'}",
    ),
    ("bytes.go", "delve"): (
        '[]uint8 len: 15, cap: 15, "GET /index.html"',
        '[8]uint8 "hello"',
        "[]uint8 len: 5, cap: 5, [1,2,255,65,66]",
    ),
    ("bytes.js", "js-debug"): (
        'Buffer(15) "GET /index.html"',
        'Uint8Array(5) "hello"',
        "Uint8Array(5) [1, 2, 255, 65, 66]",
    ),
    ("java/ByteTexts.java", "java"): (
        'byte[15] "GET /index.html"',
        'char[5] "hello"',
        "{1, 2, -1, 65, 66}",
    ),
}
CASES = [
    pytest.param(*case, shown, marks=pytest.mark.adapter(case[1])) for case, shown in SHOWN.items()
]


@pytest.mark.parametrize(("name", "adapter", "shown"), CASES)
def test_bytes_that_are_a_text_are_shown_as_that(
    cli: Callable[..., Any], name: str, adapter: str, shown: Sequence[str]
) -> None:
    name = name if name.startswith("java/") else f"bytes/{name}"
    source = debuggees.find_source(name)
    is_built = source.suffix not in {".js", ".java"}
    program = debuggees.build_debuggee(name) if is_built else source
    place = f"{source}:{debuggees.find_marker(name, 'end')}"
    cli("start", program, "--adapter", adapter, "--break", place, check=0)
    for variable, text in zip(("request", "word", "few"), shown, strict=True):
        (first, *rows) = cli("print", variable, check=0).out.splitlines()
        assert first.startswith(f"{variable} = {text}"), first
        # A text needs no rows of numbers.
        assert not rows or variable == "few", rows
