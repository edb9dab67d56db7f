"""Tracebacks that programs print are parsed."""

from __future__ import annotations

import pytest

from debugger.model.crash_reports import fatal_error
from debugger.model.exception_cause import (
    TracebackFrame,
    innermost_user_frame,
    is_cut,
    parse_traceback,
)
from debugger.model.location import is_library

MODULE = """the door opens
node:internal/modules/run_main:123
    triggerUncaughtException(
    ^

AssertionError [ERR_ASSERTION]: frame 14: 0, not 1.6
    at check (file:///src/the%20door.mjs:22:2)
    at async Promise.all (index 0)
    at file:///src/main.mjs:3:1
    at ModuleJob.run (node:internal/modules/esm/module_job:325:25) {
  code: 'ERR_ASSERTION',
}

Node.js v20.20.2
""".splitlines()
SCRIPT = """/src/cart.js:7
  throw new RangeError('too many');
  ^

RangeError: too many
    at Cart.add [as put] (/src/cart.js:7:9)
    at new Order (/src/order.js:3:1)

Node.js v22.20.0
""".splitlines()


def test_a_module_of_node_is_placed_where_its_own_code_raised() -> None:
    found = parse_traceback(MODULE)
    assert found is not None
    assert (found.type, found.message) == ("AssertionError", "frame 14: 0, not 1.6")
    assert found.frames[0] == TracebackFrame("check", "/src/the door.mjs", 22)
    assert innermost_user_frame(found, lambda file: is_library(file, "/src")) == found.frames[0]


def test_methods_and_constructors_of_node_have_their_names() -> None:
    found = parse_traceback(SCRIPT)
    assert found is not None
    assert found.frames == (
        TracebackFrame("Cart.add", "/src/cart.js", 7),
        TracebackFrame("Order", "/src/order.js", 3),
    )


def test_an_error_that_node_only_printed_is_no_end() -> None:
    assert parse_traceback(SCRIPT[:-1]) is None
    assert parse_traceback(["Node.js v22 is needed"]) is None


def test_a_traceback_of_python_is_read_from_its_innermost_frame() -> None:
    lines = [
        "Traceback (most recent call last):",
        '  File "/src/a.py", line 3, in <module>',
        "    f()",
        '  File "/src/a.py", line 1, in f',
        "  [Previous line repeated 4 more times]",
        "RecursionError: too deep",
    ]
    found = parse_traceback(lines)
    assert found is not None
    assert (found.type, found.depth) == ("RecursionError", 6)
    assert found.frames[0] == TracebackFrame("f", "/src/a.py", 1)


@pytest.mark.parametrize(
    "above", [(), ("Traceback (most recent call last):", '  File "/l.py", line 3, in g')]
)
def test_a_file_that_python_cannot_compile_is_the_place(above: tuple[str, ...]) -> None:
    lines = [*above, '  File "/src/a.py", line 2', "    def f(:", "          ^", "SyntaxError: bad"]
    found = parse_traceback(lines)
    assert found is not None
    assert (found.type, found.message, found.frames[0].line) == ("SyntaxError", "bad", 2)
    assert found.frames[0].file == "/src/a.py"


def test_the_words_with_which_v8_ends_a_process_are_read() -> None:
    lines = ["<--- Last few GCs --->", "FATAL ERROR: Reached heap limit Allocation failed", " 1: x"]
    assert fatal_error(lines) == "Reached heap limit Allocation failed"
    assert fatal_error(["no FATAL ERROR: here"]) is None


def test_a_report_of_node_without_its_end_is_cut() -> None:
    assert is_cut(["start", "/src/dist/out.js:1", "function a(){};function"])
    assert not is_cut(SCRIPT)
    assert not is_cut(["listening at /srv/app.js:1 now"])
