"""What gives values in the text of a Go program."""

from __future__ import annotations

from pathlib import Path

from debugger.questions.why import go_expressions
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


def test_a_closure_on_one_line_gives_values_too(tmp_path: Path) -> None:
    file = tmp_path / "main.go"
    file.write_text(_SOURCE)
    sources = GoSources([str(file)])
    assert sources.unseen_writers("total") == []
    [main] = sources.functions_named("main")
    [site] = [one for one in sources.sites_in(main, SiteKind.ASSIGN) if one.targets == ("total",)]
    # What a closure captures is not readable where delve stops on its one line.
    assert (site.line, site.operator, site.readable) == (10, "+", ())


_EMBEDDED = """package main

type box struct {
	base
	n int
}
type base struct{ id int }
"""
_POINTED = Path(__file__).parents[3] / "programs" / "why" / "pointed_calls.go"


def test_a_variable_may_hold_closures_and_functions_that_are_used_as_values() -> None:
    sources = GoSources([str(_POINTED)])
    assert sources.is_function_value("s")
    assert not sources.is_function_value("guarded")
    assert not sources.is_function_value("len")
    found = [(one.values, one.readable) for one in sources.returns_of_values(str(_POINTED))]
    # What a name alone suggests comes last: which one ran is seen in the run.
    assert found[:2] == [(("x + 1",), ("x",)), (("x * bonus",), ("x",))]


def test_a_field_of_an_embedded_struct_is_found_in_its_literal(tmp_path: Path) -> None:
    file = tmp_path / "main.go"
    file.write_text(_EMBEDDED)
    sources = GoSources([str(file)])
    assert sources.fields_of("box{}") == ("base", "n")
    assert sources.embedded_with("box{}", "id") == "base"
    assert sources.embedded_with("box{}", "n") == ""


_OPERATIONS = """package main

var operations = map[string]func(a int) int{"": same, "-": minus}

func same(a int) int { return a }

func minus(a int) int { return -a }

func pick[T any](one T) T { return one }

func main() {
\tsign := "-"
\tprintln(operations[sign](2), pick[int](3), len(sign))
}
"""


def test_an_element_of_a_table_of_functions_may_be_any_that_is_used_as_a_value(
    tmp_path: Path,
) -> None:
    file = tmp_path / "main.go"
    file.write_text(_OPERATIONS)
    sources = GoSources([str(file)])
    assert sources.is_function_value("operations[sign]")
    assert sources.is_function_value("o.operations[o.sign]")
    values = {one.function.name for one in sources.returns_of_values(str(file))}
    assert values == {"same", "minus"}
    # A function with its type's parameters is no element.
    assert not sources.is_function_value("pick[int]")
    assert [one.name for one in sources.functions_named("pick[int]")] == ["pick"]


def test_a_key_may_have_a_key_of_its_own(tmp_path: Path) -> None:
    assert go_expressions.split_element("found[row[0]]") == ("found", "row[0]")
    assert go_expressions.split_element("o.rows[i].name") is None
    assert go_expressions.split_path("a.b[c[d]].e") == ("a.b[c[d]].e", "a.b[c[d]]", "a.b", "a")
    file = tmp_path / "main.go"
    file.write_text("package main\n\nfunc main() {\n\tfound[row[0]] = row[1]\n}\n")
    [site] = GoSources([str(file)]).sites
    assert (site.targets, site.values) == (("found[row[0]]",), ("row[1]",))
