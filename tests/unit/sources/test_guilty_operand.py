"""Of a condition in several parts the operand of the part that decided is the guilty one."""

from __future__ import annotations

import pytest

from debugger.sources.guilty_operand import (
    FailedCondition,
    find_asserted_calls,
    find_asserted_part,
    find_compared_calls,
    find_compared_part,
    find_failed_condition,
    find_guard,
    find_guilty_operands,
)

CONDITIONS = [
    ("err != nil || found != false", True, {"err": "error nil", "found": "bool true"}, ["found"]),
    ("err != nil || found != false", True, {"err": "*E {1}", "found": "bool false"}, ["err"]),
    ("a == 1 and b == 2", False, {"a": "1", "b": "3"}, ["b"]),
    ("a && (b || !c)", False, {"a": "true", "b": "false", "c": "true"}, ["b", "c"]),
    ("ok && n < 3", False, {"ok": "true", "n": "(int) 5"}, ["n"]),
    ("not (a or b)", False, {"a": "False", "b": "True"}, ["b"]),
    ("err != nil || !equal(got, want)", True, {"err": "nil"}, ["got", "want"]),
    ("a == 'x' or b == 'y'", False, {"a": "'z'", "b": "'w'"}, ["a", "b"]),
    ("name is None or n > 2", True, {"name": "None", "n": "1"}, ["name"]),
    ('s == "a || b" && t', False, {"s": '"a || b"', "t": "false"}, ["t"]),
]


@pytest.mark.parametrize(("text", "is_true", "values", "guilty"), CONDITIONS)
def test_the_part_that_decided_is_the_guilty_one(
    text: str, is_true: bool, values: dict[str, str], guilty: list[str]
) -> None:
    found = find_guilty_operands(FailedCondition(text, is_true), values)
    assert list(found) == guilty


def test_an_assertion_in_one_part_has_no_guilty_part_of_its_own() -> None:
    assert find_guilty_operands(FailedCondition("a == b", is_true=False), {"a": "1"}) == ()


CHECKS = [
    ("a.go", "func f() {\n\tif a || b {\n\t\tt.Fatal(a)\n\t}\n}", 3, ("a || b", True)),
    ("a.py", "def f():\n    assert a and b, c", 2, ("a and b", False)),
    ("a.rs", "fn f() {\n    assert!(a && b);\n}", 2, ("a && b", False)),
    ("a.cc", "void f() {\n  EXPECT_FALSE(a || b);\n}", 2, ("a || b", True)),
    ("a.js", "f();\nassert.ok(g(a, b) && c, 'm')", 2, ("g(a, b) && c", False)),
]


@pytest.mark.parametrize(("file", "source", "line", "condition"), CHECKS)
def test_the_condition_of_a_check_is_found(
    file: str, source: str, line: int, condition: tuple[str, bool]
) -> None:
    found = find_failed_condition(file, source, line, source.split("\n")[line - 1])
    assert found is not None
    assert (found.text, found.is_true) == condition


GUARDS = [
    ("a.py", "def f(n):\n    if n > m:\n        raise ValueError(n)", 3, ("n > m", True)),
    ("a.py", "def f(n):\n    if n:\n        return n\n    else:\n        raise E", 5, ("n", False)),
    ("a.js", "function f(n) {\n  if (n > 1) throw new E(n);\n}", 2, ("n > 1", True)),
    ("a.rs", 'fn f() {\n  if a.len() > b {\n    panic!("x");\n  }\n}', 3, ("a.len() > b", True)),
    ("a.cpp", "void f() {\n  if (p->n < 0)\n    throw E(p);\n}", 3, ("p->n < 0", True)),
]  # fmt: skip
NO_GUARDS = [
    ("a.py", "def f(n):\n    if n > m:\n        g(n)", 3),
    ("a.py", "def f(n):\n    raise ValueError(n)", 2),
    ("a.py", "if n:\n    try:\n        g()\n    except E:\n        raise F", 5),
    ("a.js", "if (n) {\n  try { g(); }\n  catch (e) {\n    throw e;\n  }\n}", 4),
]


@pytest.mark.parametrize(("file", "source", "line", "condition"), GUARDS)
def test_the_condition_around_a_raise_is_its_guard(
    file: str, source: str, line: int, condition: tuple[str, bool]
) -> None:
    guard = find_guard(file, source, line)
    assert guard is not None
    assert (guard.text, guard.is_true) == condition


@pytest.mark.parametrize(("file", "source", "line"), NO_GUARDS)
def test_other_statements_and_handlers_have_no_guard(file: str, source: str, line: int) -> None:
    assert find_guard(file, source, line) is None


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("f(a) == 3", ["f(a)"]),
        ("f(a) == 'b = 1'", ["f(a)"]),
        ("f(a).b.c(d)[0] == g(a).b.c(d)", ["g(a).b.c(d)"]),
        ("a.b().c > limit[k](x, (1, 2))", ["limit[k](x, (1, 2))"]),
        ("not is_ok(x)", ["is_ok(x)"]),
        ("len(a) > cap(b)", ["cap(b)"]),
        ('f(a) == Decimal("7.00")', ["f(a)"]),
        ('a == Decimal("7.00")', []),
        ("Cart(a) == date(2024, 1, 2)", ["Cart(a)"]),
        ("a + f(b) > 3", []),
        ("f(a)(b) and x", []),
    ],
)
def test_the_calls_that_a_check_compares_are_whole_sides(text: str, calls: list[str]) -> None:
    assert list(find_compared_calls(FailedCondition(text, is_true=True), {})) == calls


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('got[3] == Decimal("7.00")', "got[3]"),
        ("7 == order.total", "order.total"),
        ('got["a"]["b"] != 3 ', 'got["a"]["b"]'),
        ("got[0].name == expected[0].name", "got[0].name"),
        ("wanted[0] == got[0]", "got[0]"),
        ("got[0].name == rows[1].name", "got[0].name"),
        ("total == order.total", ""),
        ("total == 3", ""),
        ("order.total() == 3", ""),
        ("len(got[0]) == 3", ""),
    ],
)
def test_the_element_or_member_that_a_check_compares(text: str, part: str) -> None:
    assert find_compared_part(FailedCondition(text, is_true=False), {}) == part
    sides = text.replace(" == ", ", ").replace(" != ", ", ")
    assert find_asserted_part(f"self.assertEqual({sides})") == part


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("self.assertEqual(c.total(x, [1, 2]), 6.0)", ["c.total(x, [1, 2])"]),
        ("self.assertAlmostEqual(6, f(a), places=2)", ["f(a)"]),
        ("assert.deepStrictEqual(parse('a,b'), want(1))", ["parse('a,b')", "want(1)"]),
        ("expect(cart.total()).toBe(6);", ["cart.total()"]),
        ("self.assertEqual(a, b)", []),
        ("log(total())", []),
    ],
)
def test_the_calls_that_an_assertion_of_a_library_compares(text: str, calls: list[str]) -> None:
    assert list(find_asserted_calls(text)) == calls


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("a.rs", "if n > 0 {\n    assert_eq!(got, want);\n}"),
        ("a.py", "if n > 0:\n    self.assertEqual(got, want)"),
        ("a.cpp", "if (n > 0)\n    EXPECT_EQ(got, want);"),
        ("a.js", "if (n > 0) {\n    assert.equal(got, want);\n}"),
    ],
)
def test_the_condition_around_an_assertion_is_not_what_failed(file: str, source: str) -> None:
    assert find_failed_condition(file, source, 2, source.splitlines()[1]) is None
