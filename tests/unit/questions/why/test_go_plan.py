"""Which lines of a Go program are logged from the beginning, and which in the last pass alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from debuggees import find_marker
from debugger.questions.why import go_plan
from debugger.questions.why.go_links import GoLinks
from debugger.questions.why.go_run import LogWindow
from debugger.questions.why.go_source import GoSources

_TABLE = Path(__file__).parents[3] / "programs" / "why" / "table"
_TESTS = _TABLE / "table_test.go"


@pytest.fixture(name="sources")
def read_sources() -> GoSources:
    return GoSources([str(_TABLE / "table.go"), str(_TESTS)])


def test_a_pass_begins_with_the_first_line_of_the_loop_around_a_check(sources: GoSources) -> None:
    failed = find_marker(_TESTS, "failed")
    found = go_plan.find_pass(sources, sources.function_at(str(_TESTS), failed), failed)
    assert found is not None
    assert (found.place, found.last) == ("table_test.go:11", 21)
    assert found.fresh == {"_", "n", "width", "extra", "want"}


def test_without_a_loop_the_pass_is_that_of_the_function(sources: GoSources) -> None:
    [width] = sources.functions_named("Width")
    found = go_plan.find_pass(sources, width, width.last - 1)
    assert found is not None
    assert (found.line, found.fresh) == (width.head, None)
    assert go_plan.find_pass(sources, width, width.head) is None
    assert go_plan.find_pass(sources, None, 3) is None


def test_what_a_pass_gives_its_own_variables_is_logged_in_it_alone(sources: GoSources) -> None:
    failed = find_marker(_TESTS, "failed")
    test = sources.function_at(str(_TESTS), failed)
    begin = go_plan.find_pass(sources, test, failed)
    assert test is not None
    assert begin is not None
    window = LogWindow(begin, 11, (test,))
    always = {one.line for one in sources.sites if window.logs_always(one)}
    # The variables of the function, and the line of the loop.
    assert always == {6, 7, 8, 10}


def test_a_constant_and_the_zero_of_a_sum_are_no_origin(sources: GoSources) -> None:
    links = GoLinks(sources)
    assert links.varying_operands(["digits", "factor"], {"digits": "3"}, "") == ["digits"]
    read = {"width": "0", "extra": "18"}
    assert links.varying_operands([*read], read, "width + extra") == ["extra"]
    assert links.varying_operands([*read], read, "") == ["width", "extra"]


def test_the_writer_of_an_entry_is_planned_whatever_it_calls_the_key() -> None:
    copied = _TABLE.parent / "copied.go"
    sources = GoSources([str(copied)])
    [found] = sources.functions_named("find")
    lines = {one.line for one in go_plan.plan_sites(sources, found, "prices[id]")}
    assert find_marker(copied, "put") in lines
    [main] = sources.functions_named("main")
    # What a field of an appended struct is computed by.
    part = {one.line for one in go_plan.plan_sites(sources, main, "rows[1].Price")}
    assert {find_marker(copied, "appended"), find_marker(copied, "parsed")} <= part
