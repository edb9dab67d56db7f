"""The lines of a function are found in its text, whatever stands in strings and comments."""

from __future__ import annotations

import pytest

from debugger.sources.function_span import find_span

C = """\
int twice(int n);
// twice {
int
twice(int n) {
    if (n) { puts("}"); }
    char c = '{';
    return n * 2;
}

int main(void) { return twice(2); }
""".splitlines()
PYTHON = """\
@cached
def twice(
    n,
):
    if n:

        return n * 2

    return 0

def other():
    pass
""".splitlines()
RUST = """\
impl<'a> Point<'a> {
    fn twice(&'a self) -> i32 {
        let s = "{";
        self.x * 2
    }
}
""".splitlines()


@pytest.mark.parametrize(
    ("path", "text", "line", "name", "span"),
    [
        ("a.c", C, 7, "twice", (4, 8)),
        ("a.c", C, 10, "main", (10, 10)),
        ("a.c", C, 2, "twice", None),
        ("a.py", PYTHON, 7, "twice", (1, 9)),
        ("a.py", PYTHON, 12, "a.other", (11, 12)),
        ("a.py", PYTHON, 12, "<module>", None),
        ("a.rs", RUST, 4, "app::Point<T>::twice", (2, 5)),
        ("a.rs", RUST, 4, "app::Point::twice", (2, 5)),
    ],
)
def test_a_function_has_its_lines(path, text, line, name, span):
    assert find_span(path, text, line, name) == span
