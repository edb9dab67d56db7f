"""Which statement is named for what the entry of a function wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.model.answers.frames import FrameView
from debugger.questions.holds.check_window import enters_function
from debugger.questions.holds.logged_checks import key_expressions


@pytest.mark.parametrize(
    ("line", "is_entered"),
    [
        ("static int average(int total, int n)", True),
        ("fn average(total: i32, n: i32) -> i32 {", True),
        ("{", True),
        ("int average(int total, int n) { return total / n; }", True),
        ("int average(int total, int n) { n--; return total / n; }", False),
        ("int average(int total, int n) { total--; return n / p->n; }", True),
        ("int average(int total, int n) { p->n = 0; return n; }", False),
        ("    n = average(total, n - 1);", False),
        ("    return average(total, n - 1)", False),
        ("    n--;", False),
    ],
)
def test_the_head_of_a_function_stores_its_parameters(
    tmp_path: Path, line: str, is_entered: bool
) -> None:
    file = tmp_path / "a.c"
    file.write_text(line + "\n")
    frames = [FrameView(0, "average", str(file), 1), FrameView(1, "main", str(file), 1)]
    assert enters_function(frames, ["n"]) is is_entered
    # Without a caller there is no call to name.
    assert not enters_function(frames[:1], ["n"])


def test_a_variable_of_go_is_told_apart_by_its_address_as_a_number() -> None:
    assert key_expressions("n != 0", "go") == ("uintptr(&*n)", "uintptr(&n)")
    assert key_expressions("o.n != 0", "go") == ("0", "uintptr(&o.n)")
    assert key_expressions("v[2] == 3", "go") == ("0", "uintptr(&v[2])")
    assert key_expressions("v[2] != 0", "c") == ("0", "&(v[2])")
    assert key_expressions("n != 0", "c") == ("n", "&(n)")
