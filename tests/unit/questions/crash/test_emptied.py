"""The empty container is found of which a statement took an element."""

from __future__ import annotations

import pytest

from debugger.model.statement import parse_reads
from debugger.questions.crash.complained_operand import find_emptied

POP = "pop from empty list"


@pytest.mark.parametrize(
    ("exception", "message", "statement", "values", "found"),
    [
        ("IndexError", POP, "row['n'].pop()", {"row": "{'n': []}", "row['n']": "[]"}, "row['n']"),
        ("IndexError", "pop from an empty deque", "todo.pop()", {"todo": "deque([])"}, "todo"),
        ("KeyError", "pop from an empty set", "todo.pop()", {"todo": "set()"}, "todo"),
        ("ValueError", "max() arg is an empty sequence", "max(rows)", {"rows": "()"}, "rows"),
        ("NoSuchElementException", "", "return queue.pop();", {"queue": "[]"}, "queue"),
        ("TypeError", "Reduce of empty array with no initial value", "all.reduce(add)",
         {"all": "(0) []", "add": "ƒ add"}, "all"),
        ("ValueError", "max(): Argument #1 ($value) must contain at least one element",
         "max($rows)", {"$rows": "[]"}, "$rows"),
        ("IndexError", POP, "a.pop() + b.pop()", {"a": "[]", "b": "[]"}, ""),
        ("IndexError", POP, "a.pop() + b.pop()", {"a": "[]", "b": "[1]"}, "a"),
        ("ValueError", "bad", "max(rows)", {"rows": "[]"}, ""),
        ("IndexError", POP, "rows.pop()", {"rows": "<Rows>"}, ""),
    ],
)  # fmt: skip
def test_the_only_empty_container_is_named(
    exception: str, message: str, statement: str, values: dict[str, str], found: str
) -> None:
    reads = parse_reads(statement)
    assert find_emptied(exception, message, reads.accesses, reads.operands, values) == found
