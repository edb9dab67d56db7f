"""The body of a function within the statement that holds it."""

from __future__ import annotations

import pytest

from debugger.questions.why.inner_bodies import body_of


@pytest.mark.parametrize(
    ("function", "arguments", "statement", "body"),
    [
        ("a::build::{closure#1}", ["x"], "p.add(move |x| x * factor);", "x * factor"),
        ("a::f::{closure#0}", ["i"], "v.map(|i| i.price).fold(0, |a, b| a + b)", "i.price"),
        ("a::f::{closure#1}", ["a", "b"], "v.map(|i| i.price).fold(0, |a, b| a + b)", "a + b"),
        ("a::f::{closure#0}", ["x"], "v.map(|x| { let y = x + 1; y * 2 }).max()", "y * 2"),
        ("a::f::{closure#0}", ["x"], "g(|x| x + 1, |x| x + 2)", ""),
        ("a::f::{closure#0}", ["x"], "let y = x + 1;", ""),
        ("operator()", ["this", "p"], "add([k](int p) { return p * k; });", "return p * k;"),
        ("operator()", ["a"], "f([](int a) { return 1; }, [](int b) { return 2; });", "return 1;"),
        ("a::Box::max", ["self"], "fn max(&self) -> i32 { self.w.borrow().max }",
         "self.w.borrow().max"),
        ("a::Box::min", ["self"], "fn max(&self) -> i32 { 3 }", ""),
        ("total", ["n"], "return n * 2;", ""),
    ],
)  # fmt: skip
def test_the_body_of_the_function_that_runs_is_found(
    function: str, arguments: list[str], statement: str, body: str
) -> None:
    assert body_of(function, arguments, statement) == body
