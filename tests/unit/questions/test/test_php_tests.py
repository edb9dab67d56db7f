"""Failures are read from the output of PHPUnit."""

from __future__ import annotations

from debugger.questions.test.php_tests import parse_phpunit

ITEMS = """\
1) FailTest::testItems
Failed asserting that two arrays are equal.
--- Expected
+++ Actual
@@ @@
 Array (
     'a' => 1
-        0 => 2
+        0 => 3
 )

/x/FailTest.php:9

--
"""
WARNS = """\
1) FailTest::testWarns with data set "a"
Undefined array key "key"

/x/FailTest.php:16

ERRORS!
Tests: 5, Assertions: 3, Errors: 1, Failures: 1.
"""


def test_a_failures_message_has_the_lines_that_differ() -> None:
    items, warns = parse_phpunit(ITEMS + WARNS, "").failed
    message = "Failed asserting that two arrays are equal."
    difference = ["--- Expected", "+++ Actual", "-        0 => 2", "+        0 => 3"]
    assert items.message.splitlines() == [message, *difference]
    assert (items.file, items.line) == ("/x/FailTest.php", 9)
    assert (warns.name, warns.message) == (
        'FailTest::testWarns with data set "a"',
        'Undefined array key "key"',
    )
