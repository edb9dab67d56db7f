"""Statements of PHP that name a variable are found in its source, and those that may write it."""

from __future__ import annotations

import pytest

from debugger.questions.who_wrote.php_sources import (
    PhpVariable,
    find_naming_lines,
    parse_variable,
    recording_code,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$x", PhpVariable("x")),
        ("$x['a'][0]", PhpVariable("x", keys="['a'][0]")),
        ("$this->a->b", PhpVariable("b", "->", "$this->a")),
        ("$a['k']->b[1]", PhpVariable("b", "->", "$a['k']", "[1]")),
        ("Shop\\Cart::$made", PhpVariable("made", "::$", "Shop\\Cart")),
        ("1 + 2", None),
        ("f()", None),
    ],
)
def test_an_expression_is_split_into_owner_name_and_subscripts(text, expected):
    assert parse_variable(text) == expected


@pytest.mark.parametrize(
    ("line", "expression", "writes"),
    [
        ("$x = 1;", "$x", True),
        ("$x['a'][] = 1;", "$x", True),
        ("$x .= 'a';", "$x", True),
        ("$x ??= 2;", "$x", True),
        ("++$x;", "$x", True),
        ("$y = $x;", "$x", False),
        ("if ($x == 1) {", "$x", False),
        ("$f = fn() => $x;", "$x", False),
        ("[$x, $y] = f();", "$x", True),
        ("['k' => $x] = f();", "$x", True),
        ("foreach ($all as $key => $x) {", "$x", True),
        ("foreach ($x as $one) {", "$x", False),
        ("sort($x);", "$x", True),
        ("$y = &$x;", "$x", True),
        ("unset($x);", "$x", True),
        ("$GLOBALS['x'] = 3;", "$x", True),
        ("$this->total += 2;", "$this->total", True),
        ("$order->total->cents = 2;", "$this->total", True),
        ("return $this->total;", "$this->total", False),
        ("self::$made++;", "Cart::$made", True),
        ("$this->total();", "$this->total", None),
        ("$xx = 1;", "$x", None),
        ("// $x = 1;", "$x", None),
    ],
)
def test_a_statement_that_may_write_is_told_from_one_that_reads(line, expression, writes):
    variable = parse_variable(expression)
    assert variable is not None
    found = list(find_naming_lines("a.php", f"<?php\n{line}\n", variable))
    assert [one.may_write for one in found] == ([] if writes is None else [writes])


def test_a_statement_of_several_lines_is_recorded_where_it_begins():
    text = "<?php\nfunction f(\n    $x,\n) {\n    g(\n        1,\n        $x = 2,\n    );\n}\n"
    (found,) = find_naming_lines("a.php", text, PhpVariable("x"))
    assert (found.line, found.may_write) == (5, True)


def test_a_function_that_names_the_global_is_told_from_one_with_a_local():
    text = "<?php\nfunction f() {\n    global $x;\n    $x = 1;\n}\nfunction g() {\n    $x = 2;\n}\n"
    found = {
        one.line: one.in_global_scope for one in find_naming_lines("a", text, PhpVariable("x"))
    }
    assert found == {3: True, 4: True, 7: False}


def test_the_code_that_records_quotes_the_path():
    variable = PhpVariable("x", "->", "$this")
    line = next(find_naming_lines("a.php", "<?php\n$this->x = 1;\n", variable))
    assert "'/tmp/it\\'s'" in recording_code(3, variable, line, "/tmp/it's")


def test_a_reference_is_another_name_of_a_variable():
    text = (
        "<?php\nforeach ($this->rows as $key => &$row) {\n    $row += 1;\n}\n$x = $row;\n"
        "function other() {\n    $row = 2;\n}\n"
    )
    found = list(find_naming_lines("a.php", text, PhpVariable("rows", "->", "$cart", "[0]")))
    assert [(one.line, one.value, one.may_write) for one in found] == [
        (2, "$this->rows[0]", False),
        (3, "$this->rows[0]", True),
        (5, "$this->rows[0]", False),
    ]
    assert {one.owner for one in found} == {"$this"}
    text = "<?php\n$other = &$sum;\n$other += 2;\n"
    assert [one.line for one in find_naming_lines("a.php", text, PhpVariable("sum"))] == [2, 3]
