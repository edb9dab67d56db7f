"""`why` follows a value of a compiled program back to where it comes from."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import build_debuggee, find_marker

pytestmark = pytest.mark.adapter("gdb")


def _why(
    cli: Callable[..., Any],
    source: str,
    expression: str,
    at: str,
    *words: object,
    is_patient: bool = False,
    nth: int | None = None,
) -> dict[str, Any]:
    name = f"why/{source}"
    program = build_debuggee(name)
    place = f"{source}:{find_marker(name, at[1:])}" if at.startswith("@") else at
    limit: tuple[str, ...] = ("--timeout", "100") if is_patient else ()
    limit += ("--nth", str(nth)) if nth is not None else ()
    told = cli(
        "why", "--json", expression, "--at", place, *limit, "--", program, *words,
        check=0, timeout=120,
    )  # fmt: skip
    data: dict[str, Any] = told.data["data"]
    assert cli("sessions", check=0).out == "no sessions\n"
    assert data["runs"] <= (14 if is_patient else 4)
    assert all(one["certainty"] in {"seen", "rerun", "inferred"} for one in data["links"])
    return data


def _steps(answer: dict[str, Any]) -> list[tuple[str, str, int]]:
    return [
        (one["kind"], one["frame"]["function"], one["frame"]["line"]) for one in answer["links"]
    ]


def test_a_value_is_followed_through_parameters_locals_and_returns(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "chain.c", "limit", "fill")
    at = {name: find_marker("why/chain.c", name) for name in ("store", "call", "got", "chosen")}
    assert _steps(answer) == [
        ("copied", "store", at["store"]),
        ("passed", "main", at["call"]),
        ("returned", "main", at["got"]),
        ("returned", "pick", find_marker("why/chain.c", "return")),
        ("copied", "pick", at["chosen"]),
        ("passed", "main", at["got"]),
    ]
    assert answer["value"] == "1234567"
    assert answer["ended"] == "constant"
    assert "static int source = 1234567;" in answer["ending"]


def test_a_value_is_followed_through_structs_that_are_copied_to_a_literal(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "chain.c", "given", "@look")
    assert answer["links"][0]["certainty"] == "seen"
    assert [kind for kind, *_ in _steps(answer)] == [
        *("passed", "copied", "copied", "copied", "passed")
    ]
    assert (answer["ended"], answer["runs"]) == ("constant", 2)
    assert answer["ending"].startswith("987654321L is a literal at chain.c:")


def test_a_counter_is_one_link_and_its_first_value_is_found(cli: Callable[..., Any]) -> None:
    answer = _why(cli, "chain.c", "limit", "check")
    counted = answer["links"][2]
    assert counted["details"] == ["so it was computed 3 times before"]
    # A write of the value that the memory has already is no change.
    assert answer["links"][3]["text"] in {
        "written",
        "written: the value that its memory had already",
    }
    assert answer["links"][3]["frame"]["line"] == counted["frame"]["line"]
    assert answer["ending"].startswith("0 is a literal")


def test_the_owner_of_a_block_that_overflows_is_named_at_a_crash(cli: Callable[..., Any]) -> None:
    answer = _why(cli, "heap.c", "first->next", "crash", "overflow")
    (link,) = answer["links"]
    assert link["text"] == "overwritten by strcpy"
    name, node = (find_marker("why/heap.c", one) for one in ("name", "node"))
    (detail,) = link["details"]
    assert detail == (
        "overflow: 16 bytes past the end of name's block of 24 bytes (allocated in make_name at "
        f"heap.c:{name}); what lies there is first's block (allocated in make_node at "
        f"heap.c:{node})"
    )
    assert answer["event"] == "crash, SIGSEGV"
    assert answer["meaning"] == 'no address: its bytes are the text "opqrstu"'


def test_the_block_is_named_that_a_shifted_pointer_is_of(cli: Callable[..., Any]) -> None:
    # The block of the array, which a local's value leads to.
    answer = _why(cli, "heap.c", "seen", "@shifted", "shifted")
    detail, beyond = answer["links"][1]["details"]
    assert detail.startswith("overflow: 8 bytes past the end of tag->text's block of 24 bytes")
    assert "what lies there is first's block" in detail
    assert beyond == "it writes past the end of tag->text (24 bytes), 8 bytes beyond it"


def test_who_freed_a_block_and_who_has_written_it_since_is_told(cli: Callable[..., Any]) -> None:
    answer = _why(cli, "heap.c", "first->key", "@after-free", "free")
    (link,) = answer["links"]
    assert link["statement"] == "other[0] = 77;"
    free, other = (find_marker("why/heap.c", one) for one in ("free", "other"))
    (detail,) = link["details"]
    assert detail == (
        f"the block was freed in drop at heap.c:{free}, and allocated again in after_free at "
        f"heap.c:{other}"
    )


def test_heap_memory_that_nothing_has_written_is_told_with_its_former_owner(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "heap.c", "fresh->next", "@unwritten")
    assert answer["ended"] == "uninitialised"
    assert answer["links"][0]["frame"]["line"] == find_marker("why/heap.c", "fresh")
    assert answer["links"][0]["details"][0].startswith("the block was freed in unwritten")


def test_the_byte_of_a_file_that_a_value_was_read_from_is_named(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "in.txt"
    file.write_text("12345 abcdefghijklmnop")
    answer = _why(cli, "inputs.c", "buffer[4]", "@header", "read", file)
    assert (answer["ended"], answer["ending"]) == ("input", f"{file}, byte 12")
    answer = _why(cli, "inputs.c", "number", "@header", "read", file)
    assert (answer["ended"], answer["ending"]) == ("input", f"{file}, byte 3")
    answer = _why(cli, "inputs.c", "number", "@number", "line", file)
    assert answer["ended"] == "input"
    assert answer["ending"].endswith(f"{file}, byte 0")


def test_a_local_that_was_never_written_is_told_with_the_former_writer_of_its_memory(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "inputs.c", "result", "@uninitialised")
    assert answer["ended"] == "uninitialised"
    (link,) = answer["links"]
    assert link["text"].startswith("result was not written in this call of read_unwritten")
    assert link["frame"]["function"] == "leave_on_stack"


def test_the_thread_that_changed_a_global_is_named(cli: Callable[..., Any]) -> None:
    answer = _why(cli, "inputs.c", "state", "@state", "thread")
    assert [one["frame"]["function"] for one in answer["links"]] == ["change_state", "run_thread"]
    assert answer["links"][0]["thread"].startswith("2 ")
    assert answer["ending"].startswith("4711 is a literal")


def test_a_value_is_followed_through_containers_and_methods(cli: Callable[..., Any]) -> None:
    answer = _why(cli, "containers.cpp", "order.total", "@show", is_patient=True)
    functions = [one["frame"]["function"] for one in answer["links"]]
    assert functions[:7] == [
        "main", "Ledger::find", "Ledger::keep", "main", "main", "Ledger::last", "Ledger::add",
    ]  # fmt: skip
    # With a time limit it gets more than four runs: the chain comes to its origin.
    assert answer["ended"] == "constant"
    origin = find_marker("why/containers.cpp", "origin")
    assert answer["ending"] == f"424242 is a literal at containers.cpp:{origin}"


@pytest.mark.parametrize(
    ("bug", "expression", "ended", "markers", "ending"),
    [
        # Both variables lie in 8 bytes that are written at once.
        ("adjoining", "q", "constant", ["chosen", "adjoining", "given"], "0 is a literal"),
        ("oneline", "t", "not followed", ["oneline"], "computed from t=3, a=3"),
        ("key", "rate", "constant", ["key", "key"], "the key was not in the container"),
    ],
)
def test_a_write_of_one_word_line_or_key_is_found(  # noqa: PLR0917 - a bug and its answer
    cli: Callable[..., Any],
    bug: str,
    expression: str,
    ended: str,
    markers: list[str],
    ending: str,
) -> None:
    program = build_debuggee("why/one_word.cpp")
    words = (expression, "--at", "crash", "--", program, bug)
    answer = cli("--json", "why", *words, check=0, timeout=100).data["data"]
    lines = [find_marker("why/one_word.cpp", one) for one in markers]
    assert [one["frame"]["line"] for one in answer["links"]] == lines
    assert answer["ended"] == ended
    assert answer["ending"].startswith(ending)


@pytest.mark.parametrize(
    ("expression", "markers", "ending"),
    [
        ("shop.stock[7]", ["stock", "price", "pick", "pick", "price"], "4321 is a literal"),
        (
            "other",
            ["change", "changed", "stock", "price", "pick", "pick", "price"],
            "4321 is a literal",
        ),
        ("shop.best->price", ["best", "item", "price", "pick"], "4321 is a literal"),
        ("shop.name", ["name"], '"abcdefghijklmnopqrstuvwxyz" is a literal'),
        ("sum", ["sum", "twice"], "computed from n=2, copy=4321"),
    ],
)
def test_a_value_of_cpp_is_followed_through_containers_references_and_lambdas(
    cli: Callable[..., Any], expression: str, markers: list[str], ending: str
) -> None:
    answer = _why(cli, "values.cpp", expression, "@end", is_patient=True)
    lines = [line for _, _, line in _steps(answer)]
    wanted = [find_marker("why/values.cpp", one) if one != "sum" else lines[0] for one in markers]
    assert lines[: len(wanted)] == wanted
    assert answer["ending"].startswith(ending)


@pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is missing")
def test_a_value_of_rust_is_followed_through_returns(cli: Callable[..., Any]) -> None:
    answer = _why(cli, "ledger.rs", "total", "@show")
    functions = [one["frame"]["function"] for one in answer["links"]]
    assert functions[:4] == ["ledger::main", "ledger::main", "ledger::sum_up", "ledger::sum_up"]
    assert answer["links"][0]["certainty"] == "seen"
    # Four runs show the element's origin, too: most links need no run of their own.
    assert answer["links"][4]["frame"]["line"] == find_marker("why/ledger.rs", "push")


def test_the_last_hit_and_a_condition_choose_the_value(cli: Callable[..., Any]) -> None:
    program = build_debuggee("why/chain.c")
    last = cli("why", "--json", "value", "--at", "store", "--nth", "last", "--", program, check=0)
    assert last.data["data"]["value"] == "40"
    words = ("--when", "value > 25", "--nth", "2", "--", program)
    some = cli("why", "--json", "value", "--at", "store", *words, check=0)
    assert some.data["data"]["value"] == "30"


def test_a_value_at_the_stop_of_a_session_is_followed(cli: Callable[..., Any]) -> None:
    program = build_debuggee("why/chain.c")
    cli("start", program, "--break", "check", check=0)
    found = cli("why", "--json", "limit", check=0)
    cli("stop", check=0)
    assert found.data["data"]["value"] == "40"
    assert found.data["data"]["links"][0]["frame"]["function"] == "store"


_ADDED = """int add(int a, int b) {
  int s = a + b;
  int t = s * 10;
  return t;
}
int main(void) {
  int all = 0;
  for (int i = 0; i < 5; i++) all += add(i, 1);
  return all > 1000;
}
"""


def test_a_condition_chooses_the_call_whose_local_is_followed(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    program = compile_program(_ADDED)
    words = ("t", "--at", "prog.c:4", "--when", "t == 30", "--", program)
    answer = cli("why", "--json", *words, check=0).data["data"]
    assert answer["value"] == "30"
    assert [one["frame"]["line"] for one in answer["links"][:2]] == [3, 2]
    assert answer["links"][0]["new"] == "30"


def test_the_last_of_many_returns_gives_the_value(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    early = [f"  if (n == {number}) return {number};" for number in range(20)]
    lines = ["int pick(int n) {", *early, "  return n + 7;", "}"]
    main = ["int main(void) {", "  int got = pick(40);", "  return got > 100;", "}"]
    program = compile_program("\n".join([*lines, *main, ""]))
    place = f"prog.c:{len(lines) + 3}"
    answer = cli("why", "--json", "got", "--at", place, "--", program, check=0).data["data"]
    assert answer["value"] == "47"
    returned = [one["frame"]["line"] for one in answer["links"] if "returned by" in one["text"]]
    assert returned == [len(early) + 2]


def test_a_value_after_steps_is_that_of_this_call_and_not_of_the_first(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    program = compile_program(_ADDED)
    cli("start", program, "--break", "prog.c:2", check=0)
    for command in ("continue", "continue", "next", "next"):
        cli(command, check=0)
    answer = cli("why", "--json", "t", check=0).data["data"]
    assert (answer["value"], answer["links"][0]["new"]) == ("30", "30")
    # A breakpoint that was set on the way has not counted the hits before.
    cli("break", "prog.c:4", check=0)
    cli("continue", check=0)
    cli("continue", check=0)
    wrote = cli("who-wrote", "--json", "t", check=0).data["data"]
    cli("stop", check=0)
    assert (wrote["value"], wrote["frame"]["line"]) == ("40", 3)


def test_a_value_of_an_attached_process_is_refused_with_what_helps(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    program = compile_program("#include <unistd.h>\nint main(void) {\n  for (;;) pause();\n}\n")
    with subprocess.Popen([program]) as process:
        try:
            cli("attach", str(process.pid), "--pause", check=0)
            for question in ("why", "who-wrote"):
                refused = cli(question, "x", check=1)
                assert "a process that was attached to" in refused.err
                assert "--at LOC -- CMD" in refused.err
            cli("stop", "--kill", check=0)
        finally:
            process.kill()


def test_a_list_loop_names_the_link_that_gave_the_last_value(cli: Callable[..., Any]) -> None:
    answer = _why(cli, "list.c", "n", "crash")
    at = {name: find_marker("why/list.c", name) for name in ("loop", "spoiled")}
    assert _steps(answer)[:2] == [
        ("copied", "sum_up", at["loop"]),
        ("copied", "spoil", at["spoiled"]),
    ]
    assert "n->next" in answer["links"][0]["text"]
    # The first step of the loop is told from its begin.
    first = _why(cli, "list.c", "n", "crash", "first")
    assert _steps(first)[:2] == [
        ("copied", "sum_up", at["loop"]),
        ("copied", "spoil", at["spoiled"]),
    ]
    begin = _why(cli, "list.c", "n", "@sum")
    assert "head" in begin["links"][0]["statement"] + begin["links"][0]["text"]
    assert begin["links"][1]["kind"] == "passed"


def test_a_field_of_a_returned_struct_is_followed_to_the_sum_and_the_lines_that_made_it(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "spans.rs", "days", "@show")
    at = {one: find_marker("why/spans.rs", one) for one in ("made", "read", "got", "computed")}
    steps = _steps(answer)
    assert steps[0] == ("returned", "spans::main", at["got"])
    assert ("returned", "spans::Span::read_days", at["read"]) in steps
    assert ("returned", "spans::main", at["made"]) in steps
    assert steps[-1] == ("computed", "spans::span_between", at["computed"])
    ran = " ".join(answer["links"][-1]["details"])
    for name, is_shown in (("base", True), ("shift", True), ("skipped", False)):
        assert (f"spans.rs:{find_marker('why/spans.rs', name)}:" in ran) is is_shown
    # `self` lies where `get_months` had its own, with the same value: no source of it.
    assert all(function != "spans::Span::get_months" for _, function, _ in steps)


@pytest.mark.parametrize(
    ("source", "kind", "markers"),
    [
        ("queues.rs", "heap", ["heap-push", "heap-next", "target"]),
        ("queues.rs", "map", ["map-insert", "map-next", "target"]),
        ("queues.cpp", "queue", ["queue-push", "queue-next", "found"]),
        ("queues.cpp", "stack", ["stack-push", "found"]),
    ],
)
def test_an_item_that_was_taken_out_is_followed_to_the_line_that_put_it_in(
    cli: Callable[..., Any], source: str, kind: str, markers: list[str]
) -> None:
    if source.endswith(".rs") and shutil.which("rustc") is None:
        pytest.skip("rustc is missing")
    answer = _why(cli, source, "node", "crash", kind)
    assert answer["value"] == "6"
    # Passed to `mark`, and taken out of the container.
    lines = [line for _, _, line in _steps(answer)][2:]
    assert lines[: len(markers)] == [find_marker(f"why/{source}", one) for one in markers]


def test_a_one_line_loop_is_no_write_of_the_local_that_its_body_assigns(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "pushed.c", "n", "crash")
    line = find_marker("why/pushed.c", "list")
    assert answer["links"][-1]["frame"]["line"] == line
    assert answer["ending"] == f"NULL is a literal at pushed.c:{line}"


def test_a_value_that_its_memory_had_already_is_followed_into_the_call_that_returned_it(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "returned.cpp", "left", "crash")
    at = {one: find_marker("why/returned.cpp", one) for one in ("left", "return", "quantity")}
    first, *steps = _steps(answer)
    # `returned` where the stack's memory had another value, which its environment decides.
    assert first in [(kind, "main", at["left"]) for kind in ("written", "returned")]
    assert steps == [
        ("returned", "make_order", at["return"]),
        ("computed", "make_order", at["quantity"]),
        ("passed", "main", at["left"]),
    ]
    assert answer["ended"] == "constant"


def test_an_assignment_of_the_value_that_a_local_has_already_is_no_older_one(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "unchanged.c", "left", "@end", "5")
    assert _steps(answer)[:2] == [
        ("returned", "main", find_marker("why/unchanged.c", "call")),
        ("returned", "rest", find_marker("why/unchanged.c", "rest")),
    ]
    assert answer["ended"] == "input"


def test_what_sprintf_wrote_past_its_array_is_named_with_the_array(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "formatted.c", "record.count", "crash")
    link = answer["links"][0]
    assert link["frame"]["line"] == find_marker("why/formatted.c", "format")
    beyond = "it writes past the end of record->name (8 bytes), 0 bytes beyond it"
    assert beyond in link["details"]


@pytest.mark.parametrize(
    ("words", "expression", "marker", "function"),
    [
        ((), "config.port", "reset", "std::optional::reset"),
        (("check",), "config.checked", "made", "Config::Config"),
    ],
)
def test_an_empty_object_of_cpp_is_followed_to_what_emptied_or_made_it(
    cli: Callable[..., Any], words: tuple[str, ...], expression: str, marker: str, function: str
) -> None:
    answer = _why(cli, "emptied.cpp", expression, "crash", *words)
    link = answer["links"][0]
    assert link["frame"]["line"] == find_marker("why/emptied.cpp", marker)
    assert function in link["text"]


def test_an_item_of_a_vector_that_has_grown_is_followed_to_the_line_that_put_it_in(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "returned.cpp", "sizes[3]", "crash")
    line = find_marker("why/returned.cpp", "push")
    moves = [(one["text"].partition(" ")[0], one["frame"]["line"]) for one in answer["links"]]
    assert moves[:2] == [("copied", line), ("written", line)]
    # What `i++` has read at that moment, not at the vector's last growth.
    assert answer["links"][2]["operands"] == [{"text": "i", "value": "2", "is_followed": False}]


def test_a_small_number_is_followed_through_statements_that_count(cli: Callable[..., Any]) -> None:
    answer = _why(cli, "counted.c", "answer", "@show", is_patient=True)
    names = ["answer", "returned", "best", "copied", "stored"]
    lines = [find_marker("why/counted.c", one) for one in names]
    # Reading `items[n++]` would count once more, and the program would crash.
    assert [one["frame"]["line"] for one in answer["links"]][:5] == lines
    assert {one["certainty"] for one in answer["links"]} == {"rerun"}


@pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is missing")
@pytest.mark.parametrize(
    ("expression", "marker"), [("first.balance", "set"), ("first.log.borrow()[1]", "push")]
)
def test_a_value_in_a_cell_is_followed_through_the_reference_that_shares_it(
    cli: Callable[..., Any], expression: str, marker: str
) -> None:
    answer = _why(cli, "cells.rs", expression, "@panic")
    frame = answer["links"][0]["frame"]
    assert frame["line"] == find_marker("why/cells.rs", marker)
    assert answer["links"][0]["stack"][0]["line"] == find_marker("why/cells.rs", "second")


@pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is missing")
def test_an_operand_whose_block_ends_with_the_write_has_its_own_value(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "summed.rs", "total", "@end")
    [link] = answer["links"]
    assert {one["text"]: one["value"] for one in link["operands"]}["one"] == "5"


@pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is missing")
@pytest.mark.parametrize(
    ("expression", "at", "markers", "ending"),
    [
        ("rect", "show", ["rect"], "computed from w * h"),
        ("kind", "kind", ["literal"], "20 is a literal"),
        ("large", "show", ["kind"], None),
        ("got", "look", ["some", "found"], None),
        ("unknown", "show", ["none"], "-1 is a literal"),
        ("pair.a", "show", ["swap", "bump", "make"], "7 is a literal"),
    ],
)
def test_the_arm_of_a_match_and_the_last_expression_give_a_value_of_rust(
    cli: Callable[..., Any], expression: str, at: str, markers: list[str], ending: str | None
) -> None:
    answer = _why(cli, "matches.rs", expression, f"@{at}")
    lines = [line for _, _, line in _steps(answer)]
    at_markers = [find_marker("why/matches.rs", one) for one in markers]
    assert [one for one in lines if one in at_markers] == at_markers
    assert ending is None or answer["ending"].startswith(ending)


@pytest.mark.parametrize(
    ("expression", "markers", "last"),
    [
        ("b.h", ["flip", "grown", "grow", "nested"], "passed"),
        ("b.w", ["flip", "grown", "nested"], "passed"),
        ("z", ["field", "flip"], "passed"),
        ("o.total", ["discounted", "discount"], "computed"),
    ],
)
def test_a_field_is_followed_through_nested_calls_that_return_structs(
    cli: Callable[..., Any], expression: str, markers: list[str], last: str
) -> None:
    answer = _why(cli, "nested.cpp", expression, "@show")
    steps = _steps(answer)
    lines = [line for _, _, line in steps]
    assert lines[: len(markers)] == [find_marker("why/nested.cpp", one) for one in markers]
    assert last in [kind for kind, _, _ in steps]
    # `flip` got what `grow` returned, and not its own result.
    assert all(one["text"] != "the result of flip" for one in answer["links"][1:])


def test_a_value_in_registers_is_followed_by_its_calls_and_assignments_as_inferred(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "optimised.c", "price", "@store", nth=2)
    at = {name: find_marker("why/optimised.c", name) for name in ("made", "got", "return")}
    assert _steps(answer)[:3] == [
        ("passed", "main", at["made"]),
        ("returned", "main", at["got"]),
        ("returned", "lookup", at["return"]),
    ]
    assert [one["certainty"] for one in answer["links"][:2]] == ["seen", "inferred"]


def test_a_variable_in_a_register_is_no_constant_and_an_optimised_out_one_is_explained(
    cli: Callable[..., Any],
) -> None:
    factor = _why(cli, "optimised.c", "by", "crash")
    lines = [("scale", "call"), ("total", "total"), ("main", "factor")]
    assert [one["frame"]["line"] for one in factor["links"]] == [
        find_marker("why/optimised.c", marker) for _, marker in lines
    ]
    assert factor["links"][-1]["certainty"] == "inferred"
    gone = _why(cli, "optimised.c", "result", "crash")
    assert gone["value"] == "<optimized out>"
    assert _steps(gone) == [("computed", "scale", find_marker("why/optimised.c", "scaled"))]
    assert gone["links"][0]["certainty"] == "inferred"


def test_a_loop_variable_in_a_register_says_what_is_missing_and_the_flag_that_helps(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "optimised.c", "one", "@call")
    assert (answer["ended"], answer["links"]) == ("not followed", [])
    assert "one lies in a register (optimised code), which no watchpoint sees" in answer["ending"]
    assert "assigns to it in two ways: build with -O0" in answer["ending"]


def test_a_literal_that_overflows_into_a_neighbour_on_a_new_page_is_followed_to_its_end(
    cli: Callable[..., Any],
) -> None:
    answer = _why(cli, "labels.c", "nodes[40]->id", "@shown")
    assert _steps(answer) == [("copied", "label", find_marker("why/labels.c", "copies"))]
    assert any(one.startswith("overflow: ") for one in answer["links"][0]["details"])
    assert (answer["ended"], answer["ending"].partition(" was ")[2]) == (
        "constant",
        "not changed: it has its value from the start",
    )


def test_a_null_stored_in_memory_that_was_zero_is_followed_to_its_return(
    cli: Callable[..., Any],
) -> None:
    # The block was cleared before, and a counter in its first words is written 10,000 times.
    answer = _why(cli, "cleared.c", "one->next", "crash")
    at = {name: find_marker("why/cleared.c", name) for name in ("set", "none")}
    assert _steps(answer) == [("returned", "main", at["set"]), ("returned", "lookup", at["none"])]
    assert answer["ended"] == "constant"
    assert answer["runs"] <= 3


def test_the_operands_of_the_conditions_that_decided_are_read(cli: Callable[..., Any]) -> None:
    answer = _why(cli, "graded.c", "sum", "@end")
    (link,) = [one for one in answer["links"] if one["kind"] == "reached"]
    assert link["frame"]["line"] == find_marker("why/graded.c", "grade")
    read = {one["text"]: one["value"] for one in link["operands"]}
    assert read == {"a->cents": "500", "requested": "20", "rest": "38", "a->level": "2"}
    answer = _why(cli, "graded.c", "bonus", "@end")
    (condition,) = [one for one in answer["reached"] if "level" in one["text"]]
    assert (condition["text"], condition["is_true"]) == ("all[i].level > 2", True)
    assert condition["values"] == "all[i].level=3"
