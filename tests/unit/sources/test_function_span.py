"""The lines of a function are found in its text, whatever stands in strings and comments."""

from __future__ import annotations

import pytest

from debugger.sources.function_span import find_span, may_define, scan_names

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
# Calls of the function itself, which need no semicolon, are no heads.
GO = """\
func fib(n int) int {
	left := fib(n - 1)
	if left > 5 {
		left = 5
	}
	return left + fib(n-2)
}

func main() {
}
""".splitlines()
RECURSIVE_RUST = """\
fn fib(n: i64) -> i64 {
    if n < 2 { return n }
    fib(n - 1) + match n { 3 => 1, _ => 0 }
}
""".splitlines()
JAVASCRIPT = """\
function fib(n) {
  return fib(n - 1)
}
function main() {
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
        ("a.go", GO, 2, "main.fib", (1, 7)),
        ("a.go", GO, 6, "main.fib", (1, 7)),
        ("a.go", GO, 10, "main.main", (9, 10)),
        ("a.rs", RECURSIVE_RUST, 3, "app::fib", (1, 4)),
        ("a.js", JAVASCRIPT, 2, "fib", (1, 3)),
    ],
)
def test_a_function_has_its_lines(path, text, line, name, span):
    assert find_span(path, text, line, name) == span


@pytest.mark.parametrize(
    ("source", "is_possible"),
    [
        ("def add(a): pass", True),
        ("async def \\\n  add(a): pass", True),
        ("add = lambda a: a", True),
        ("Sum.add: Callable = lambda a: a", True),
        ("add = (  # of two\n    lambda a: a\n)", True),
        ("if (add := lambda a: a)(1): pass", True),
        ("add = other = lambda a: a", True),
        ("def add_all(a): pass", False),
        ("add = sorted(some, key=lambda a: a)", True),  # only a parse shows that it is not
        ("add(1)\nother = lambda a: a", False),
        ("add = 1", False),
    ],
)
def test_a_source_without_a_definition_of_a_name_is_known_without_a_parse(source, is_possible):
    assert may_define(source, "add") is is_possible


def test_the_names_of_functions_are_scanned_with_what_they_are_in():
    source = """\
class Sum:
    @cached
    async def add(self):
        def inner(): ...

    sub: Callable = (
        lambda a: a)

def after(key=lambda a: a): ...
"""
    assert list(scan_names(source)) == ["Sum.add", "Sum.add.inner", "after", "sub", "key"]
