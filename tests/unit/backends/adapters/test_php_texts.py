"""What PHP prints of its settings and of exceptions is parsed, and code for it is built."""

from __future__ import annotations

import pytest

from debugger.backends.adapters.xdebug import php_code, php_errors, php_settings

CHAIN = """Uncaught InvalidArgumentException: not a number: 3x
second line in /app/a b.php:2
Stack trace:
#0 /app/a b.php(4): parse()
#1 {main}

Next App\\LoadError: cannot load in time in /app/b.php:4
Stack trace:
#0 {main}
  thrown"""
SETTINGS = """xdebug.client_host => localhost => localhost
xdebug.client_port => 9123 => 9003
xdebug.mode => debug,develop => develop
xdebug.start_with_request => trigger => default
"""


def test_an_uncaught_exception_has_its_causes_the_nearest_first():
    found = php_errors.parse_uncaught(CHAIN)
    assert found is not None
    assert (found.type, found.message) == ("App\\LoadError", "cannot load in time")
    (cause,) = found.causes
    assert cause.type == "InvalidArgumentException"
    assert cause.message == "not a number: 3x\nsecond line, in parse a b.php:2"
    details = php_errors.describe_thrown(found)
    assert details["innerException"][0]["typeName"] == "InvalidArgumentException"


def test_a_cause_of_a_function_of_php_stands_in_the_function_that_called_it():
    text = CHAIN.replace("#0 /app/a b.php(4): parse()", "#0 /app/a b.php(2): intdiv()")
    found = php_errors.parse_uncaught(
        text.replace("#1 {main}", "#1 /app/c.php(9): A->b()\n#2 {main}")
    )
    assert found is not None
    assert found.causes[0].message.endswith(", in A->b a b.php:2")


@pytest.mark.parametrize("text", ["Undefined variable $x", "", "Uncaught"])
def test_other_errors_of_php_are_no_exceptions(text):
    assert php_errors.parse_uncaught(text) is None


def test_settings_are_parsed_and_the_environment_has_priority():
    found = php_settings.parse_settings(SETTINGS)
    assert (found.debugs, found.port, found.starts) == (True, 9123, "trigger")
    changed = php_settings.apply_variables(
        found, {"XDEBUG_MODE": "off", "XDEBUG_CONFIG": "client_port=9200 client_host=php"}
    )
    assert (changed.debugs, changed.host, changed.port) == (False, "php", 9200)
    assert php_settings.parse_settings("no such extension").port == 9003


def test_code_is_quoted_and_functions_without_a_name_have_no_parameters():
    assert php_code.quote_text("a'b\\c") == "'a\\'b\\\\c'"
    assert "ReflectionMethod('Cart', 'add')" in (php_code.list_parameters("Cart->add") or "")
    assert php_code.list_parameters("{closure:/x.php:3-4}") is None
    assert php_code.check_breakpoints([]) is None
