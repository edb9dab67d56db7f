"""The line after the one that assigns a variable is found in the source of any language."""

from __future__ import annotations

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.locations.assigned_line import explain_no_value, find_line_after


@pytest.mark.parametrize(
    ("source", "expression", "after"),
    [
        ("total = f(2)\nprint(total)\n", "total", 2),
        ("for row in rows:\n    use(row)\n", "row.name", 2),
        ("with open(path) as file:\n    read(file)\n", "file", 2),
        ("low, high = bounds()\nuse(low)\n", "high", 2),
        ("self.size = len(rows)\nuse(self)\n", "self.size", 2),
        ("    total: int = f(\n        2,\n    )\n\n    # done\n    use(total)\n", "total", 6),
        ("  const total = f(2)  // a ( there\n  log(total)\n", "total", 2),
        ("  const { id, name } = row;\n  log(name)\n", "name", 2),
        ("  for (const one of rows) {\n    log(one)\n", "one", 2),
        ("  const sum = rows.reduce((a, b) => {\n    return a\n  }, 0)\n  log(sum)\n", "sum", 4),
        ("  int total = f(2);\n  use(total);\n", "total", 2),
        ("  for (String one : names) {\n    use(one);\n", "one", 2),
        ("    let mut total: u32 = f(2);\n    use(total);\n", "total", 2),
        ("\ttotal, err := f(2)\n\tuse(total)\n", "err", 2),
        ("  $total = f(2);\n  echo $total;\n", "$total", 2),
        ("  if (x) {\n", "x", 0),
        # It is read there: the value that it had is asked about.
        ("  sum = sum + 1;\n  use(sum);\n", "sum", 0),
        ("  sum += 1;\n  use(sum);\n", "sum", 0),
        ("  if (total == 3) {\n    use(total);\n", "total", 0),
        ("  call(total=3)\n  use(total)\n", "other", 0),
        # The function ends there, and nothing of it runs after.
        ("  total = f(2)\nend\nwork\n", "total", 0),
    ],
)
def test_the_line_after_an_assignment_is_found(source: str, expression: str, after: int) -> None:
    assert find_line_after(source.splitlines(), 1, expression) == after


def test_only_an_expression_without_a_value_is_explained(tmp_path) -> None:
    (tmp_path / "app.py").write_text("total = f(2)\nprint(total)\n")
    missing = DebuggerError(ErrorCode.EVALUATION_FAILED, "total has no value", hint="no help")
    found = explain_no_value("why", str(tmp_path), "app.py:1", "total", missing)
    assert found.hint == "debugger why total --at app.py:2 -- CMD"
    assert "app.py:1 assigns total, and has not run yet" in found.message
    for place in ("app.py:2", "gone.py:1", "crash"):
        assert explain_no_value("why", str(tmp_path), place, "total", missing) is missing
    other = DebuggerError(ErrorCode.TIMEOUT, "too late", hint="")
    assert explain_no_value("why", str(tmp_path), "app.py:1", "total", other) is other
