"""The scene of an exception tries those filters first that are for any exception."""

from __future__ import annotations

from debugger.questions.adapter_suite.adapter_scenes import order_filters


def test_filters_for_any_exception_are_tried_first():
    php = ["Notice", "Warning", "Error", "Exception", "*"]
    assert order_filters(php) == ["Exception", "*", "Notice", "Warning", "Error"]
    assert order_filters(["cpp_throw", "assert"]) == ["cpp_throw", "assert"]
    assert order_filters([]) == []
