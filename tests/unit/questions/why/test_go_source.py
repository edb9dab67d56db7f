"""What gives values in the text of a Go program."""

from __future__ import annotations

from pathlib import Path

from debugger.questions.why.go_source import GoSources, SiteKind

_SOURCE = """package main

var total int

func add(v int) { total += v }

func twice(n int) int { return 2 * n }

func main() {
\tbump := func() { total++ }
\tbump()
\tadd(twice(3)) // total = 1
}
"""


def test_a_function_on_one_line_gives_values_like_any_other(tmp_path: Path) -> None:
    file = tmp_path / "main.go"
    file.write_text(_SOURCE)
    sources = GoSources([str(file)])
    [add] = sources.functions_named("add")
    [site] = sources.sites_in(add, SiteKind.ASSIGN)
    assert (site.line, site.targets, site.operator) == (5, ("total",), "+")
    [twice] = sources.functions_named("twice")
    assert [one.values for one in sources.sites_in(twice, SiteKind.RETURN)] == [("2 * n",)]


def test_a_closure_on_one_line_may_write_a_variable_unseen(tmp_path: Path) -> None:
    file = tmp_path / "main.go"
    file.write_text(_SOURCE)
    assert GoSources([str(file)]).unseen_writers("total") == ["main.go:10"]
