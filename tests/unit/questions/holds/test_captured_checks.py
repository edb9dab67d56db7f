"""An invariant of Ruby or PHP is kept with the scope of its check, unless it reads locals."""

from __future__ import annotations

import pytest

from debugger.model.debugger_words import Runtime
from debugger.questions.holds.captured_checks import capture_check


@pytest.mark.parametrize("text", ["$this->a->b > 1", "self::$n > 1", "Cart::$n", "$GLOBALS['x']"])
def test_what_php_reads_of_the_object_or_the_class_is_kept(text):
    captured = capture_check(Runtime.PHP, text, 2)
    assert captured is not None
    assert text in captured.keep
    assert captured.read == "$GLOBALS['debugger_checks'][2]()"


@pytest.mark.parametrize("text", ["$left >= 0", "$this->a > $left"])
def test_locals_of_php_are_not_kept(text):
    assert capture_check(Runtime.PHP, text, 0) is None


def test_ruby_is_asked_whether_a_name_is_a_local():
    captured = capture_check(Runtime.RUBY, "@acc.balance >= left + 'a b'.size", 1)
    assert captured is not None
    assert captured.keep.startswith("[:left].none?")
    assert captured.read == "$debugger_checks[1].eval('@acc.balance >= left + \\'a b\\'.size')"


@pytest.mark.parametrize("runtime", [Runtime.NATIVE, Runtime.NODE])
def test_other_languages_keep_none(runtime):
    assert capture_check(runtime, "a.b > 1", 0) is None


def test_java_keeps_the_objects_by_its_adapter_and_compares_them() -> None:
    check = capture_check(Runtime.JAVA, "a.b > 1", 2)
    assert check is not None
    assert (check.keep, check.read, check.same) == ("$keep(2,a.b > 1)", "$kept(2)", "$same(2)")
