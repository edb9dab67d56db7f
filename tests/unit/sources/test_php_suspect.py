"""What an error of PHP is about, by its message and the statement that failed."""

from __future__ import annotations

import pytest

from debugger.sources.php_suspect import find_php_suspect

ON_NULL = "Call to a member function name() on null"


@pytest.mark.parametrize(
    ("statement", "message", "suspect"),
    [
        ("echo $user?->address->zip->name();", ON_NULL, "$user?->address->zip"),
        ("return 'a->name() ' . $rows[$i][0]->name();", ON_NULL, "$rows[$i][0]"),
        ("$x = App\\Repo::get($id, 'a)')->name();", ON_NULL, "App\\Repo::get($id, 'a)')"),
        ("$x = (new Repo)->find(1)->name();", ON_NULL, "(new Repo)->find(1)"),
        ("$x = $a->name() + $b->name();", ON_NULL, ""),
        ("$words[$i][] = $word;", "[] operator not supported for strings", "$words[$i]"),
        ("[$a, $b] = explode('=', $t);", "Undefined array key 1", "explode('=', $t)"),
        ("list($a, $b) = $pair;", "Undefined array key 1", "$pair"),
        ("$a = $b[1];", "Undefined array key 1", ""),
        ("return Suit::from($x[0]);", '"x" is not a valid backing value for enum Suit', "$x[0]"),
        ("$a = $b;", "something else", ""),
    ],
)
def test_an_error_is_about_an_expression(statement: str, message: str, suspect: str) -> None:
    assert find_php_suspect(statement, message) == suspect
