"""`why` follows values of Go by logpoints at the lines that may give them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import build_debuggee, find_marker
from debugger.questions.why import go_called, go_expressions, go_plan, go_source, go_values
from debugger.questions.why.go_source import GoSources
from debugger.questions.why.go_unwritten import describe_address_use

PROGRAMS = Path(__file__).parents[1] / "programs" / "why"
_FLOW = PROGRAMS / "flow"
_ALIASED = PROGRAMS / "aliased.go"
_COPIED = PROGRAMS / "copied.go"
_OVERWRITTEN = PROGRAMS / "overwritten.go"
_WEIGHED = PROGRAMS / "weighed.go"


def _line(marker: str) -> int:
    lines = (_FLOW / "flow.go").read_text("utf-8").splitlines()
    return next(at for at, one in enumerate(lines, 1) if one.endswith(f"// @{marker}"))


def _why(cli: Callable[..., Any], expression: str, at: str, *options: str) -> dict[str, Any]:
    place = f"flow.go:{_line(at[1:])}" if at.startswith("@") else at
    words = [expression, "--at", place, *options, "--", "go", "run", "."]
    data: dict[str, Any] = cli("--json", "why", *words, check=0, cwd=_FLOW, timeout=120).data[
        "data"
    ]
    assert cli("sessions", check=0).out == "no sessions\n"
    assert data["runs"] <= 4
    assert all(one["certainty"] in {"seen", "rerun", "inferred"} for one in data["links"])
    return data


def _steps(answer: dict[str, Any]) -> list[tuple[str, int]]:
    return [(one["kind"], one["frame"]["line"]) for one in answer["links"]]


@pytest.mark.adapter("delve")
def test_a_field_is_followed_to_the_argument_that_its_constructor_got(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "limit", "@check")
    assert _steps(answer) == [
        ("copied", _line("limit")),
        ("passed", _line("run")),
        ("returned", _line("chosen") + 1),
        ("returned", _line("newOrder")),
        ("written", _line("made")),
        ("passed", _line("chosen") + 1),
        ("returned", _line("chosen")),
        ("returned", _line("pick")),
        ("passed", _line("chosen")),
        ("passed", _line("main")),
    ]
    assert {one["certainty"] for one in answer["links"]} == {"seen"}
    assert (answer["ended"], answer["value"], answer["runs"]) == ("constant", "40", 1)
    assert answer["ending"] == f"40 is a literal at flow.go:{_line('main')}"


@pytest.mark.adapter("delve")
@pytest.mark.parametrize(
    ("expression", "lines", "ending"),
    [
        ("order.Items[2]", ["element"], "77 is a literal"),
        ("order.Items[1]", ["append", "append-"], "the counter of the loop"),
        ('order.Tags["b"]', ["key", "fill"], "5 is a literal"),
        ('order.Tags["a"]', ["run", "chosen+", "newOrder", "made"], "3 is a literal"),
    ],
)
def test_an_element_is_followed_to_the_line_that_wrote_it(
    cli: Callable[..., Any], expression: str, lines: list[str], ending: str
) -> None:
    answer = _why(cli, expression, "@check")
    wanted = [_line(one.rstrip("+-")) + one.endswith("+") - one.endswith("-") for one in lines]
    assert [line for _, line in _steps(answer)] == wanted
    assert answer["ending"].startswith(ending)


@pytest.mark.adapter("delve")
def test_a_value_is_followed_through_a_closure_and_channels(cli: Callable[..., Any]) -> None:
    answer = _why(cli, "value", "@check")
    assert _steps(answer) == [
        ("passed", _line("run")),
        ("copied", _line("closure")),
        ("copied", _line("back")),
        ("passed", _line("out")),
        ("copied", _line("got")),
        ("passed", _line("sent")),
    ]
    # A goroutine wrote it; which send a receive got is known by the equal value only.
    assert answer["links"][1]["thread"].startswith("goroutine ")
    certainties = [one["certainty"] for one in answer["links"]]
    assert certainties == ["seen", "seen", *["inferred"] * 4]


@pytest.mark.adapter("delve")
def test_a_field_that_a_method_wrote_is_followed_to_its_caller_by_another_run(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "box.side", "@end")
    assert _steps(answer) == [("copied", _line("grow")), ("passed", _line("grown"))]
    assert [one["certainty"] for one in answer["links"]] == ["seen", "rerun"]
    assert answer["runs"] == 2
    assert (answer["links"][0]["old"], answer["links"][0]["new"]) == ("2", "9")


@pytest.mark.adapter("delve")
def test_a_global_is_followed_through_copied_structs_and_results(cli: Callable[..., Any]) -> None:
    answer = _why(cli, "main.rate", "@end")
    assert [line for _, line in _steps(answer)] == [
        *(_line("global"), _line("copied"), _line("copied") - 1, _line("parsed"), _line("two"))
    ]
    assert (answer["links"][0]["old"], answer["links"][0]["new"]) == ("5", "19")
    assert answer["ending"].startswith("19 is a literal")


@pytest.mark.adapter("delve")
def test_a_panic_is_a_location_and_a_zero_value_is_told_with_its_literal(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "last", "crash")
    assert answer["frame"]["line"] == _line("crash")
    assert answer["links"][0]["frame"]["line"] == _line("nil")
    assert answer["ending"].startswith("the zero value: Order{Limit: parsed}")


@pytest.mark.adapter("delve")
def test_a_sum_names_its_operands_and_the_next_command(cli: Callable[..., Any]) -> None:
    answer = _why(cli, "size", "@sized")
    operands = {one["text"]: one["value"] for one in answer["links"][0]["operands"]}
    assert operands == {"b.side": "9", "scale": "21"}
    assert "debugger why b.side --at flow.go:" in answer["ending"]


@pytest.mark.adapter("delve")
def test_the_hit_of_a_line_is_chosen_and_an_element_of_a_range_is_found(
    cli: Callable[..., Any],
) -> None:
    for nth in ("2", "last"):
        answer = _why(cli, "one", "@sum", "--nth", nth)
        assert answer["value"] == "2"
        assert answer["ending"] == f"2 is a literal at flow.go:{_line('end')}"
        assert answer["links"][0]["kind"] == "loaded"


_RECOVERED = PROGRAMS / "recovered.go"


@pytest.mark.adapter("delve")
def test_a_result_that_a_deferred_function_wrote_is_found_though_the_stack_has_moved(
    cli: Callable[..., Any],
) -> None:
    at = {one: find_marker("why/recovered.go", one) for one in ("after", "call", "error", "return")}
    words = ["--json", "why", "err", "--at", f"recovered.go:{at['after']}", "--", str(_RECOVERED)]
    answer = cli(*words, check=0).data["data"]
    assert [(one["frame"]["line"], one["certainty"]) for one in answer["links"]] == [
        *((at["call"], "seen"), (at["return"], "inferred"), (at["error"], "seen")),
        (at["error"] - 1, "seen"),
    ]
    # It ran by the panic, and the `return` was never reached.
    assert answer["links"][1]["text"] == "returned by average, or by its recovered panic"


@pytest.mark.adapter("delve")
def test_a_local_without_a_write_has_its_zero_value_or_is_not_declared_yet(
    cli: Callable[..., Any],
) -> None:
    place = f"recovered.go:{find_marker('why/recovered.go', 'panic')}"
    words = ["--at", place, "--", str(_RECOVERED)]
    ending = cli("--json", "why", "r", *words, check=0).data["data"]["ending"]
    assert ending == f"the zero value: r is a result of average, not written before {place}"
    line = find_marker("why/recovered.go", "after")
    place = f"recovered.go:{line}"
    missing = cli("why", "b", "--at", place, "--", str(_RECOVERED), check=1).err
    assert f"b has no value at {place}: it is declared by {place}, which has not run" in missing
    assert f"hint: debugger why b --at recovered.go:{line + 1} -- " in missing


@pytest.mark.adapter("delve")
def test_nothing_is_seen_in_order_in_an_optimised_build(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    program = tmp_path / "recovered"
    build = ["go", "build", "-o", str(program), str(_RECOVERED)]
    subprocess.run(build, check=True, timeout=100, cwd=tmp_path)
    at = {one: find_marker("why/recovered.go", one) for one in ("after", "minus", "panic")}
    words = ["--at", f"recovered.go:{at['after']}", "--", str(program)]
    answer = cli("--json", "why", "a", *words, check=0).data["data"]
    assert {one["certainty"] for one in answer["links"]} == {"inferred"}
    assert answer["links"][-1]["frame"]["line"] == at["minus"]
    assert "main.main was built with optimisation" in answer["notes"][0]
    words[1] = f"recovered.go:{at['panic']}"
    missed = cli("why", "r", *words, check=1).err
    assert "was not reached; in a build with optimisation a line may run without its" in missed
    words[1] = f"recovered.go:{at['panic'] - 1}"
    answer = cli("--json", "why", "r", *words, check=0).data["data"]
    assert answer["value"] == "<optimized out>"
    assert answer["ending"].startswith("average was built with optimisation: r was in registers")


@pytest.mark.adapter("delve")
def test_a_built_program_and_a_file_are_followed_alike(cli: Callable[..., Any]) -> None:
    place = f"ledger.go:{find_marker('why/ledger.go', 'show')}"
    for words in ([str(build_debuggee("why/ledger.go"))], ["go", "run", "ledger.go"]):
        answer = cli(
            "--json", "why", "main.last", "--at", place, "--", *words, check=0, cwd=PROGRAMS
        ).data["data"]
        lines = [one["statement"] for one in answer["links"]]
        assert lines[0] == "last = total"
        assert lines[-1].startswith(("return price", "price := 777777"))
        assert answer["ending"].startswith("777777 is a literal")


@pytest.mark.adapter("delve")
@pytest.mark.parametrize(("at", "runs"), [("fail", 2), ("sums_test.go:8", 1)])
def test_a_value_of_a_test_is_followed_into_the_package(
    cli: Callable[..., Any], at: str, runs: int
) -> None:
    words = ["got", "--at", at, "--", "go", "test", "."]
    told = cli("--json", "why", *words, check=0, cwd=PROGRAMS / "sums", timeout=120)
    data = told.data["data"]
    assert [(one["frame"]["function"], one["frame"]["line"]) for one in data["links"]] == [
        *(("TestTotal", 6), ("Total", 8), ("Total", 6))
    ]
    assert data["links"][2]["details"] == []
    assert (data["value"], data["runs"]) == ("7", runs)


@pytest.mark.adapter("delve")
def test_a_check_in_a_long_loop_is_followed_from_its_last_pass(cli: Callable[..., Any]) -> None:
    folder = PROGRAMS / "table"
    answer = cli("--json", "test", "--", "go", "test", ".", check=0, cwd=folder, timeout=120)
    why = answer.data["data"]["why"]
    wrong = find_marker(folder / "table.go", "wrong")
    assert (why["expression"], why["value"], why["certainty"]) == ("width", "18", "rerun")
    assert [(one["function"], one["line"]) for one in why["earlier"]] == [
        ("TestWidth", find_marker(folder / "table_test.go", "extra")),
        *(("Width", 19), ("Width", 18), ("Digits", wrong)),
    ]


@pytest.mark.adapter("delve")
def test_the_top_of_a_stack_is_followed_to_what_was_appended(cli: Callable[..., Any]) -> None:
    words = ["found", "--at", "machine_test.go:14", "--", "go", "test", "."]
    told = cli("--json", "why", *words, check=0, cwd=PROGRAMS / "stacked", timeout=120)
    links = told.data["data"]["links"]
    assert [one["frame"]["function"] for one in links[2:]] == ["pop", "pop", "push", "Calculate"]
    assert (links[4]["certainty"], links[4]["text"]) == (
        "inferred",
        "an equal value was appended to m.stack",
    )


@pytest.mark.adapter("delve")
def test_what_has_no_value_or_no_such_place_is_refused(cli: Callable[..., Any]) -> None:
    words = ["--", "go", "run", "."]
    place = f"flow.go:{_line('check')}"
    unknown = cli("why", "nothing", "--at", place, *words, check=1, cwd=_FLOW)
    assert "nothing has no value at flow.go" in unknown.err
    never = cli("why", "order", "--at", place, "--nth", "5", *words, check=1, cwd=_FLOW)
    assert "was not reached" in never.err


@pytest.mark.adapter("delve")
@pytest.mark.parametrize(
    ("expression", "markers", "ending"),
    [
        ("both[1].price", ["both", "pushed", "third"], "30 is a literal"),
        ("copied[2]", ["copied", "source"], "9 is a literal"),
    ],
)
def test_an_element_that_was_written_through_another_slice_is_watched(
    cli: Callable[..., Any], expression: str, markers: list[str], ending: str
) -> None:
    place = f"aliased.go:{find_marker(_ALIASED, 'show')}"
    words = [expression, "--at", place, "--", "go", "run", "aliased.go"]
    answer = cli("--json", "why", *words, check=0, cwd=PROGRAMS, timeout=120).data["data"]
    assert [line for _, line in _steps(answer)] == [find_marker(_ALIASED, one) for one in markers]
    assert "rerun" in {one["certainty"] for one in answer["links"]}
    assert (answer["ended"], answer["runs"]) == ("constant", 3)
    assert answer["ending"].startswith(ending)


@pytest.mark.adapter("delve")
@pytest.mark.parametrize(
    ("bug", "expression", "says"),
    [
        ("plain", "base[2]", "append wrote it"),
        ("structs", "list[1].n", "append wrote it"),
        ("pointer", "t.n", "written by another name"),
        ("copied", "a[1]", "copy wrote it"),
        ("lookup", "rate", 'gives no ["b"]: the zero value'),
    ],
)
def test_a_crash_names_the_write_that_no_line_names(
    cli: Callable[..., Any], bug: str, expression: str, says: str
) -> None:
    words = ("crash", "--json", "--", "go", "run", "overwritten.go", bug)
    origin = cli(*words, check=0, cwd=PROGRAMS, timeout=120).data["data"]["why"]
    assert (origin["expression"], origin["frame"]["line"]) == (
        expression,
        find_marker(_OVERWRITTEN, bug),
    )
    assert says in origin["text"]


@pytest.mark.adapter("delve")
def test_a_cache_that_returns_what_another_call_stored_leads_to_that_call(
    cli: Callable[..., Any],
) -> None:
    place = f"aliased.go:{find_marker(_ALIASED, 'show')}"
    words = ["found.price", "--at", place, "--", "go", "run", "aliased.go"]
    answer = cli("--json", "why", *words, check=0, cwd=PROGRAMS, timeout=120).data["data"]
    lines = [line for _, line in _steps(answer)]
    assert find_marker(_ALIASED, "stored") in lines
    assert lines[-1] == find_marker(_ALIASED, "first")
    assert answer["links"][-1]["statement"] == 'c.get("Ab")'


@pytest.mark.adapter("delve")
def test_a_write_in_another_function_is_seen_by_a_watchpoint_of_go(cli: Callable[..., Any]) -> None:
    place = f"aliased.go:{find_marker(_ALIASED, 'given')}"
    words = ["base[1]", "--at", place, "--", "go", "run", "aliased.go"]
    answer = cli("--json", "who-wrote", *words, check=0, cwd=PROGRAMS, timeout=120).data["data"]
    (writer,) = answer["writers"]
    assert (writer["frame"]["function"], writer["frame"]["line"]) == (
        "main.extend",
        find_marker(_ALIASED, "appended"),
    )
    assert (writer["old"], writer["final_new"]) == ("2", "77")


def test_the_statements_of_go_are_taken_apart() -> None:
    sources = GoSources([str(_FLOW / "flow.go")])
    by_line = {one.line: one for one in sources.sites}
    made = by_line[_line("made")]
    assert (made.targets, made.operator) == (("order",), ":=")
    assert go_values.part_of_literal(made.values[0], ".Limit") == "limit"
    assert go_values.part_of_literal(made.values[0], ".Items") is None
    assert by_line[_line("sum")].operator == "+"
    assert by_line[_line("sum") - 1].targets == ("_", "one")
    assert by_line[_line("sent")].kind is go_source.SiteKind.SEND
    assert by_line[_line("parsed")].value_of("err") == ('two("x")', 1)
    head = sources.functions_named("grow")[0]
    assert (head.parameters, head.receiver) == (("by",), "b")


def test_the_lines_that_may_give_a_value_are_planned_from_the_source_alone() -> None:
    sources = GoSources([str(_FLOW / "flow.go")])
    function = sources.function_at(str(_FLOW / "flow.go"), _line("check"))
    lines = {one.line for one in go_plan.plan_sites(sources, function, "limit")}
    assert {_line("limit"), _line("made"), _line("chosen"), _line("pick")} <= lines
    assert _line("sum") not in lines
    assert len(lines) <= go_plan.SITES_MAX


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<-jobs", "receive"),
        ("int64(total)", "path"),
        ("&Order{Limit: 1}", "literal"),
        ("[]int{1, 2}", "literal"),
        ("&count", "allocation"),
        ("make(map[string]int)", "allocation"),
        ("append(rows, 1)", "append"),
        ("parse(text)", "call"),
        ("a + b", "computed"),
        ("len(rows)", "computed"),
        ("nil", "constant"),
        ("value.(int)", "path"),
        ("func(a int) int { return a }", "closure"),
    ],
)
def test_the_right_side_of_an_assignment_is_classified(text: str, kind: str) -> None:
    assert go_expressions.classify_value(text).kind == kind


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("[4]int [0,0,123,0]", "[2]", "123"),
        ("[4]int [0,0,123,0]", "[i]", None),
        ("main.price {cents: -350, tax: 7}", ".tax", "7"),
        ("*main.acc {balance: 14}", ".balance", None),  # what it points to may have changed
        ("[]int len: 2, cap: 2, [1,2]", "[1]", None),
        (None, ".tax", None),
    ],
)
def test_a_part_of_a_copied_value_is_known(
    text: str | None, part: str, expected: str | None
) -> None:
    assert go_values.part_of_value(text, part) == expected


def test_what_got_the_address_of_an_unwritten_variable_is_named(tmp_path: Path) -> None:
    file = tmp_path / "read.go"
    file.write_text(
        "func read(t string) int {\n"
        "\tvar v struct{ Age int }\n"
        "\t_ = json.Unmarshal([]byte(t), &v) // fills it\n"
        "\tvar other int\n"
        "\treturn v.Age\n"
        "}\n"
    )
    function = go_source.GoSourceFunction("read", str(file), 1, 6)
    text = describe_address_use(function, "v", 5)
    assert text == "what got its address at read.go:3 `_ = json.Unmarshal([]byte(t), &v)`"
    assert describe_address_use(function, "v", 3) == ""
    assert describe_address_use(function, "other", 5) == ""


@pytest.mark.adapter("delve")
def test_a_value_is_followed_through_a_map_a_loop_and_a_list_of_structs(
    cli: Callable[..., Any],
) -> None:
    place = f"copied.go:{find_marker(_COPIED, 'wrong')}"
    words = ("why", "total", "--at", place, "--", "go", "run", "copied.go")
    answer = cli("--json", *words, check=0, cwd=PROGRAMS, timeout=120).data["data"]
    lines = [line for _, line in _steps(answer)]
    put, appended, parsed = (find_marker(_COPIED, one) for one in ("put", "appended", "parsed"))
    assert lines[1] == find_marker(_COPIED, "found")
    assert (lines[3], answer["links"][3]["certainty"]) == (put, "seen")
    assert lines[8:10] == [appended, parsed]
    assert answer["runs"] <= 4


def _why_weighed(cli: Callable[..., Any], expression: str) -> dict[str, Any]:
    place = f"weighed.go:{find_marker(_WEIGHED, 'end')}"
    words = ("why", expression, "--at", place, "--", "go", "run", "weighed.go")
    answer: dict[str, Any] = cli("--json", *words, check=0, cwd=PROGRAMS, timeout=120).data["data"]
    return answer


@pytest.mark.adapter("delve")
def test_the_call_is_followed_that_alone_explains_a_product(cli: Callable[..., Any]) -> None:
    answer = _why_weighed(cli, "last.weight")
    names = ("last", "parts", "built", "weight", "pine")
    # The element that was read is the second one: so is the call that made it.
    assert [line for _, line in _steps(answer)] == [find_marker(_WEIGHED, one) for one in names]
    assert answer["ended"] == "constant"


@pytest.mark.adapter("delve")
def test_the_results_of_the_calls_in_a_sum_are_listed(cli: Callable[..., Any]) -> None:
    answer = _why_weighed(cli, "parts[0].count")
    names = ("parts", "built", "count")
    assert [line for _, line in _steps(answer)] == [find_marker(_WEIGHED, one) for one in names]
    text = f"in it margin returned weighed.go:{find_marker(_WEIGHED, 'two')}: return 2"
    assert answer["links"][-1]["details"] == [text, text]
    assert "computed from n=4, margin(n)=2, margin(n+1)=2" in answer["ending"]


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [("[len(a)-1].x", "[2].x"), ("[key]", '["b"]'), ("[other]", "[other]"), (".x", ".x")],
)
def test_an_index_is_replaced_by_its_value(suffix: str, expected: str) -> None:
    known = {"len(a)-1": "2", "key": '"b"'}
    assert go_called.with_known_index(suffix, known) == expected


@pytest.mark.parametrize(
    ("part", "is_fixed"),
    [(".x", True), ("[2]", True), ('["b"]', True), ("[k]", False), ("[len(a)-1]", False)],
)
def test_a_part_by_a_variable_is_not_fixed(part: str, *, is_fixed: bool) -> None:
    assert go_expressions.is_fixed_part(part) is is_fixed
