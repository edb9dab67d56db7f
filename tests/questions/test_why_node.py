"""`why` and `who-wrote` follow values of Node, by its own scripts or by breakpoints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debugger.questions.who_wrote.javascript_writes import (
    find_writing_lines,
    parse_stack,
    split_expression,
)

PROGRAMS = Path(__file__).parents[1] / "programs" / "why"
ORIGINS = PROGRAMS.with_name("origins")
_LOCATION = "promises.js:27"


@pytest.mark.adapter("js-debug")
def test_a_field_that_was_changed_in_an_async_function(cli: Callable[..., Any]) -> None:
    words = ["first.total", "--at", _LOCATION, "--", "node", "promises.js"]
    told = cli("--json", "why", *words, check=0, cwd=PROGRAMS, timeout=90)
    data = told.data["data"]
    link, *_ = data["links"]
    assert (link["frame"]["line"], link["old"], link["new"]) == (12, "80", "0")
    assert link["certainty"] == "seen"
    assert [(one["function"], one["line"]) for one in link["stack"]][:1] == [("main", 24)]
    values = {one["text"]: one["value"] for one in link["operands"]}
    assert values == {"target.total": "80", "share": "1"}
    assert data["ending"] == "100 is a literal at promises.js:24"
    assert data["runs"] == 1


@pytest.mark.adapter("js-debug")
def test_an_element_that_another_function_changed(cli: Callable[..., Any]) -> None:
    words = ["x[0]", "--at", _LOCATION, "--", "node", "promises.js"]
    data = cli("--json", "why", *words, check=0, cwd=PROGRAMS, timeout=90).data["data"]
    assert [one["frame"]["line"] for one in data["links"]] == [16]
    assert data["ended"] == "constant"
    assert data["ending"] == "'changed' is a literal at promises.js:16"
    wrote = cli("--json", "who-wrote", *words, check=0, cwd=PROGRAMS, timeout=90).data["data"]
    assert [(one["frame"]["line"], one["final_new"]) for one in wrote["writers"]] == [
        (25, "1"),
        (16, "'changed'"),
    ]
    assert cli("sessions", check=0).out == "no sessions\n"


def test_lines_that_may_write_a_field_are_found() -> None:
    text = (
        "a.b = 1;\na.b == 1;\nif (x.a.b) {}\nthis.b += 2; // a.b = 3\nc.b++;\nd.bb = 1;\n--e.b;\n"
    )
    found = list(find_writing_lines("/f.js", text, "order.b"))
    assert [(one.line, one.owner) for one in found] == [(1, "a"), (4, "this"), (5, "c"), (7, "e")]


def test_lines_that_may_write_an_element_or_a_variable_are_found() -> None:
    text = "x[i + 1] = 2;\nx[0] === 1;\nrow.cells.push(4);\nlet total = 0;\no.total = 1;\n"
    found = list(find_writing_lines("/f.js", text, "x[0]"))
    assert [(one.line, one.owner, one.key) for one in found] == [
        (1, "x", "i + 1"),
        (3, "row.cells", "0"),
    ]
    assert [one.line for one in find_writing_lines("/f.js", text, "total")] == [4]
    typed = "const total: Map<string, number> = new Map();\nf(total == 1 ? a : b);\n"
    assert [one.line for one in find_writing_lines("/f.ts", typed, "total")] == [1]


def test_what_stands_in_quotes_or_comments_writes_nothing() -> None:
    text = "let total = 1;\nf('total = 5');\nf(`total = ${n}`);\n/* total = 2; */\no['a b'] = 1;\n"
    assert [one.line for one in find_writing_lines("/f.js", text, "total")] == [1]
    assert [one.key for one in find_writing_lines("/f.js", text, "o['a b']")] == ["'a b'"]


def test_an_expression_is_split_into_its_object_and_its_key() -> None:
    assert split_expression("a.b.c") == ("a.b", "c", "")
    assert split_expression("rows[2]") == ("rows", "", "2")
    assert split_expression("total") == ("", "", "")


def test_a_stack_of_v8_is_parsed_without_its_own_frames() -> None:
    text = (
        "Error\n    at <anonymous>:1:9\n    at discount (/w/a.js:12:10)\n"
        "    at async main (file:///w/b%20c.mjs:24:3)\n    at node:internal/main:1:1\n"
    )
    assert [(one.function, one.file, one.line) for one in parse_stack(text)] == [
        ("discount", "/w/a.js", 12),
        ("async main", "/w/b c.mjs", 24),
    ]


def _orders_line(marker: str) -> int:
    lines = (PROGRAMS / "orders.js").read_text("utf-8").splitlines()
    return next(at for at, one in enumerate(lines, 1) if one.endswith(f"// @{marker}"))


def _why_of_orders(cli: Callable[..., Any], expression: str, at: str, *options: str) -> Any:
    place = at if at == "crash" else f"orders.js:{_orders_line(at)}"
    words = [expression, "--at", place, *options, "--", "node", "orders.js"]
    data = cli("--json", "why", *words, check=0, cwd=PROGRAMS, timeout=120).data["data"]
    assert data["runs"] <= 4
    return data


def _node_steps(data: Any) -> list[tuple[str, str, int]]:
    return [(one["kind"], one["certainty"], one["frame"]["line"]) for one in data["links"]]


@pytest.mark.adapter("js-debug")
def test_a_parameter_is_followed_to_the_callers_and_their_variables(
    cli: Callable[..., Any],
) -> None:
    data = _why_of_orders(cli, "total", "show")
    assert _node_steps(data) == [
        ("passed", "seen", _orders_line("written") + 1),
        ("written", "seen", _orders_line("kept")),
        ("passed", "seen", _orders_line("call")),
        ("written", "seen", _orders_line("added")),
        ("loaded", "seen", _orders_line("added") - 1),
        ("written", "seen", _orders_line("run")),
    ]
    assert data["frame"]["function"] == "show"
    assert data["links"][3]["frame"]["function"] == "run"
    assert data["ending"].startswith("2 is a literal at orders.js:")


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("expression", "at", "ending"), [("percent", "percent", "3"), ("amount", "apply", "2")]
)
def test_an_argument_of_a_method_or_a_constructor_is_followed(
    cli: Callable[..., Any], expression: str, at: str, ending: str
) -> None:
    data = _why_of_orders(cli, expression, at)
    assert [one["kind"] for one in data["links"]] == ["passed"]
    assert data["ending"].startswith(f"{ending} is a literal at orders.js:")
    assert data["runs"] == 1


@pytest.mark.adapter("js-debug")
def test_an_exception_that_nobody_catches_is_a_location(cli: Callable[..., Any]) -> None:
    data = _why_of_orders(cli, "key", "crash")
    assert [one["frame"]["line"] for one in data["links"]] == [
        _orders_line("pick"),
        _orders_line("name"),
    ]
    assert (data["value"], data["frame"]["line"]) == ("'missing'", _orders_line("crash"))
    assert data["ended"] == "constant"


@pytest.mark.adapter("js-debug")
def test_the_last_hit_of_a_line_that_writes_the_value_itself_sees_its_earlier_writes(
    cli: Callable[..., Any],
) -> None:
    data = _why_of_orders(cli, "total", "added", "--nth", "last")
    link, *_ = data["links"]
    assert (link["frame"]["line"], link["old"], link["new"]) == (_orders_line("added"), "40", "41")


@pytest.mark.adapter("js-debug")
def test_a_failed_assertion_is_a_location_and_a_returned_value_is_followed_into_the_callee(
    cli: Callable[..., Any],
) -> None:
    words = ["got", "--at", "fail", "--", "node", "--test", "sums.test.js"]
    data = cli("--json", "why", *words, check=0, cwd=PROGRAMS, timeout=120).data["data"]
    assert data["value"] == "7"
    assert [one["frame"]["line"] for one in data["links"]] == [11, 8, 6, 5, 11]
    assert data["ending"] == "2 is a literal at sums.test.js:11"


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("expression", "text", "line", "ending"),
    [
        # The second read of the getter wrote nothing.
        ("stale", "this.#doubled written, write 2", 8, "7 is a literal at ordered.mjs:13"),
        ("worst", "rows[0] moved by reverse, from [2]", 20, "it is made at ordered.mjs:18"),
        ("worst", "[2] before moved by sort, from [1]", 19, "it is made at ordered.mjs:18"),
        # A sort that changed nothing has moved nothing.
        ("still", "[2, 1].sort(() => 0)[1] set in the literal that made the object", 22, None),
        ("counted", "rates.total written, write 2", 3, "5 is a literal at ordered.mjs:24"),
        ("late", "again.total written, write 2", 3, "5 is a literal at ordered.mjs:24"),
        ("answer", "text written", 27, None),
        ("light", "pixels[0] written", 30, None),
    ],
)
def test_a_value_is_followed_through_what_moved_or_left_it(
    cli: Callable[..., Any], expression: str, text: str, line: int, ending: str | None
) -> None:
    words = [expression, "--at", "ordered.mjs:34", "--", "node", "ordered.mjs"]
    data = cli("--json", "why", *words, check=0, cwd=ORIGINS, timeout=90).data["data"]
    (link,) = [one for one in data["links"] if one["text"] == text]
    assert link["frame"]["line"] == line
    assert ending in {None, data["ending"]}
    assert data["ended"] == {"answer": "input"}.get(expression, data["ended"])
    if expression == "light":
        assert link["details"] == ["260 was assigned, and the array's elements hold 4 of it"]


def _marked_line(file: str, marker: str) -> int:
    lines = (ORIGINS / file).read_text("utf-8").splitlines()
    return next(at for at, one in enumerate(lines, 1) if one.endswith(f"// @{marker}"))


def _why_of_collections(cli: Callable[..., Any], expression: str, at: str) -> Any:
    place = f"collections.js:{_marked_line('collections.js', at)}"
    words = [expression, "--at", place, "--", "node", "collections.js"]
    return cli("--json", "why", *words, check=0, cwd=ORIGINS, timeout=90).data["data"]


def _markers(data: Any, *markers: str) -> list[bool]:
    """Tell of each marker whether the lines of the links have its line."""
    lines = {one["frame"]["line"] for one in data["links"]}
    return [_marked_line("collections.js", one) in lines for one in markers]


@pytest.mark.adapter("js-debug")
def test_a_value_made_of_a_collection_is_followed_to_the_change_and_to_its_index(
    cli: Callable[..., Any],
) -> None:
    data = _why_of_collections(cli, "left", "left")
    assert _markers(data, "removed", "remove", "place") == [True, True, True]
    changed = data["links"][1]
    assert changed["text"] == "bag[1] changed in place by Bag.removeAt(at=1)"
    moved = _marked_line("collections.js", "moved")
    others = f"before it [0] = 'c' at collections.js:{moved} by Bag.moveLast(to=0)"
    assert others in changed["details"]


@pytest.mark.adapter("js-debug")
def test_a_value_of_a_map_is_followed_to_the_call_that_stored_it(cli: Callable[..., Any]) -> None:
    data = _why_of_collections(cli, "price", "price")
    assert _markers(data, "lookup", "stored") == [True, True]
    assert "stored under 'p' by learn(name='p', price=1)" in data["links"][2]["text"]


@pytest.mark.adapter("js-debug")
def test_a_sum_that_is_no_number_is_followed_to_the_element_that_spoilt_it(
    cli: Callable[..., Any],
) -> None:
    data = _why_of_collections(cli, "sum", "sum")
    assert _markers(data, "spoilt") == [True]
    assert data["ending"].startswith("NaN is a literal")


@pytest.mark.adapter("js-debug")
def test_a_getter_is_followed_into_the_private_field_that_it_reads(cli: Callable[..., Any]) -> None:
    data = _why_of_collections(cli, "cart.first", "first")
    assert [one["certainty"] for one in data["links"]] == ["inferred", "seen", "seen"]
    assert _markers(data, "getter", "put") == [True, True]


@pytest.mark.adapter("js-debug")
def test_a_destructured_property_is_followed_to_the_literal_it_was_written_in(
    cli: Callable[..., Any],
) -> None:
    data = _why_of_collections(cli, "head.price", "rest")
    assert data["ended"] == "constant"
    assert [one["statement"] for one in data["links"]] == ["price: 1"]


@pytest.mark.adapter("js-debug")
def test_an_object_that_was_made_empty_is_followed_to_what_was_put_into_it(
    cli: Callable[..., Any],
) -> None:
    data = _why_of_collections(cli, "rule", "rule")
    assert _markers(data, "left-side", "text") == [True, True]
    assert data["ending"].startswith("'a -> b' is a literal")


@pytest.mark.adapter("js-debug")
def test_a_property_that_is_written_later_names_the_promise_that_nobody_awaited(
    cli: Callable[..., Any],
) -> None:
    words = ["chunk.code", "--at", "crash", "--", "node", "later.js"]
    data = cli("--json", "why", *words, check=0, cwd=ORIGINS, timeout=90).data["data"]
    written, dropped = data["links"]
    assert written["frame"]["line"] == _marked_line("later.js", "written")
    assert written["text"] == "chunk.code not written before, but later"
    line = _marked_line("later.js", "dropped")
    assert (dropped["frame"]["line"], data["ending"]) == (
        line,
        f"await is missing at later.js:{line}",
    )


@pytest.mark.adapter("js-debug")
def test_a_function_within_the_line_of_a_crash_has_the_names_of_its_arguments(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "sum.js").write_text(
        "const items = [{ price: 1 }, { price: null }];\n"
        "function total(list) {\n"
        "  return list.reduce((sum, one) => sum + one.price.valueOf(), 0);\n"
        "}\n"
        "total(items);\n"
    )
    words = ["one.price", "--at", "crash", "--", "node", "sum.js"]
    data = cli("--json", "why", *words, check=0, cwd=tmp_path, timeout=90).data["data"]
    assert (data["value"], data["links"][0]["frame"]["line"]) == ("null", 1)
    words = ["list", "--at", "sum.js:3", "--", "node", "sum.js"]
    data = cli("--json", "why", *words, check=0, cwd=tmp_path, timeout=90).data["data"]
    assert data["links"][0]["text"] == "list passed as items"


@pytest.mark.adapter("js-debug")
def test_a_promise_that_is_used_as_a_value_is_named(cli: Callable[..., Any]) -> None:
    words = ["found.name", "--at", "crash", "--", "node", "later.js", "promise"]
    data = cli("--json", "why", *words, check=0, cwd=ORIGINS, timeout=90).data["data"]
    assert data["links"][0]["text"] == "found is a Promise, not awaited"
    assert data["links"][0]["frame"]["line"] == _marked_line("later.js", "promise")


@pytest.mark.adapter("js-debug")
def test_a_crashed_program_runs_no_longer_than_by_itself(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    """A wait for later writes ran what the program, which has nothing to do, never runs."""
    (tmp_path / "idle.js").write_text(
        "const found = {};\nsetTimeout(() => { found.name = 'x'; }, 300).unref();\n"
        "found.name.length;\n"
    )
    words = ["found.name", "--at", "crash", "--", "node", "idle.js"]
    data = cli("--json", "why", *words, check=0, cwd=tmp_path, timeout=90).data["data"]
    assert data["ending"] == "found.name was never written in this run"


@pytest.mark.adapter("js-debug")
def test_a_value_is_followed_through_modules_and_what_they_export(cli: Callable[..., Any]) -> None:
    words = ["price", "--at", "prices.mjs:7", "--", "node", "prices.mjs"]
    data = cli("--json", "why", *words, check=0, cwd=ORIGINS, timeout=90).data["data"]
    assert [(Path(one["frame"]["file"]).name, one["frame"]["line"]) for one in data["links"]] == [
        ("prices.mjs", 5),
        ("rates.mjs", 8),
        ("rates.mjs", 5),
        ("prices.mjs", 4),
    ]
    assert data["ending"].startswith("undefined is a literal")


@pytest.mark.adapter("js-debug")
def test_the_next_command_names_an_operand_that_has_a_value_there(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    # A function on one line is found by breakpoints.
    program = (
        "function show(ids) { console.log(ids); }\nfunction main(left, other) {\n"
        "  const ids = Array.from(left, (node) => node + other).join(' ');\n  show(ids);\n}\n"
        "main(['a', 'b'], 'c');\n"
    )
    (tmp_path / "ids.js").write_text(program)
    words = ["ids", "--at", "show", "--", "node", "ids.js"]
    data = cli("--json", "why", *words, check=0, cwd=tmp_path, timeout=120).data["data"]
    assert "none of its operands stands out: debugger why 'other' --at" in data["ending"]


@pytest.mark.adapter("js-debug")
def test_a_location_that_writes_the_value_itself_is_said_to(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "box.js").write_text("const box = { n: 1 };\n\nbox.n = 2;\nbox.n = 3;\n")
    words = ["box.n", "--at", "box.js:4", "--", "node", "box.js"]
    data = cli("--json", "who-wrote", *words, check=0, cwd=tmp_path, timeout=90).data["data"]
    assert data["frame"]["line"] == 3
    itself = "box.js:4 writes box.n itself; the value is that before it"
    assert [one for one in data["notes"] if one.startswith(itself)]


@pytest.mark.adapter("js-debug")
def test_a_function_as_a_location_is_its_first_statement(cli: Callable[..., Any]) -> None:
    words = ["total", "--at", "show", "--", "node", "orders.js"]
    data = cli("--json", "why", *words, check=0, cwd=PROGRAMS, timeout=120).data["data"]
    assert data["links"][0]["kind"] == "passed"
    assert data["links"][0]["frame"]["line"] == _orders_line("written") + 1
    assert data["runs"] == 1


@pytest.mark.adapter("js-debug")
def test_an_assignment_with_an_operator_has_its_own_former_value_as_an_operand(
    cli: Callable[..., Any],
) -> None:
    words = ["got", "--at", "fail", "--", "node", "--test", "sums.test.js"]
    data = cli("--json", "why", *words, check=0, cwd=PROGRAMS, timeout=120).data["data"]
    values = {one["text"]: one["value"] for one in data["links"][2]["operands"]}
    assert values == {"sum": "5", "one": "2"}


@pytest.mark.adapter("js-debug")
def test_an_assignment_that_keeps_the_value_is_followed_to_what_was_there(
    cli: Callable[..., Any],
) -> None:
    data = _why_of_collections(cli, "kept", "kept")
    assert _markers(data, "kept-at-first", "stored") == [True, True]
    assert "7" not in data["ending"].split(" at ")[0]


@pytest.mark.adapter("js-debug")
def test_a_property_is_followed_to_its_prototype_and_items_to_another_name(
    cli: Callable[..., Any],
) -> None:
    def why(expression: str) -> dict[str, Any]:
        words = ["why", expression, "--at", "inherited.js:10", "--", "node", "inherited.js"]
        data: dict[str, Any] = cli("--json", *words, check=0, cwd=ORIGINS).data["data"]
        return data

    link = why("level")["links"][-1]
    assert (link["text"], link["frame"]["line"]) == ("child.level, inherited, written", 4)
    assert (link["old"], link["new"]) == ("1", "7")
    data = why("tags")
    assert data["ended"] == "allocation"
    assert data["ending"].endswith("items were put in at inherited.js:7 `copy.tags.push('n')`")


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("expression", "first", "last"),
    [
        ("spread.mode", "spread.mode copied by a spread", 3),
        ("spread.rate", "spread.rate copied by a spread", 2),
        ("assigned.mode", "assigned.mode written by assign", 3),
        ("list[4]", "list[4] copied by a spread", 24),
        ("list[5]", "list[5] set in the literal that made the object", 8),
        ("copy.nest.deep[1]", "copy.nest.deep[1] copied", 2),
        ("parsed.nest.deep[1]", "parsed.nest.deep[1] copied", 2),
        ("packed[2]", "packed[2] written", 14),
        ("awaited", "awaited written", 3),
        ("both[1]", "resolved by later(value=3)", 2),
        # The argument of its own place, of those that were collected and spread again.
        ("handed", "handed written", 32),
    ],
)
def test_a_value_is_followed_through_merges_deep_copies_and_promises_that_are_awaited_together(
    cli: Callable[..., Any], expression: str, first: str, last: int
) -> None:
    words = [expression, "--at", "merges.js:33", "--", "node", "merges.js"]
    data = cli("--json", "why", *words, check=0, cwd=ORIGINS, timeout=90).data["data"]
    assert data["links"][0]["text"] == first
    assert (data["links"][-1]["frame"]["line"], data["ended"]) == (last, "constant")


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("expression", "texts", "last", "ended"),
    [
        ("fromInner", ["c: by default"], 12, "constant"),
        ("fromOuter", ["c: by default"], 13, "constant"),
        ("fromLater", ["m: by default", "n passed as 6"], 14, "constant"),
        (
            "z",
            ["z written", "options.size set in the literal that made the object"],
            15,
            "constant",
        ),
        ("pair", ["yielded by pairs(n=3)"], 6, "constant"),
        ("step", ["yielded by slow(n=3)", "n passed as 3"], 20, "constant"),
        ("behind", ["returned by later(n=1, m=8)", "m passed as 8"], 21, "constant"),
        ("age", ["JSON.parse(text).user.age is a part of the result"], 22, "constant"),
        ("text", ["n passed as 3"], 23, "constant"),
        ("seen", ["value passed by emit"], 27, "constant"),
        ("proxied", ["proxied written"], 28, "constant"),
    ],
)
def test_a_value_is_followed_to_the_default_the_generator_or_the_call_that_gave_it(
    cli: Callable[..., Any], expression: str, texts: list[str], last: int, ended: str
) -> None:
    words = [expression, "--at", "defaults.js:29", "--", "node", "defaults.js"]
    data = cli("--json", "why", *words, check=0, cwd=ORIGINS, timeout=90).data["data"]
    assert [one["text"] for one in data["links"] if one["text"] in texts] == texts
    assert (data["links"][-1]["frame"]["line"], data["ended"]) == (last, ended)


@pytest.mark.adapter("js-debug")
def test_an_argument_that_a_library_handed_on_is_inferred(cli: Callable[..., Any]) -> None:
    words = ["seen", "--at", "defaults.js:29", "--", "node", "defaults.js"]
    data = cli("--json", "why", *words, check=0, cwd=ORIGINS, timeout=90).data["data"]
    assert data["links"][-1]["certainty"] == "inferred"
    assert data["ending"] == "21 is a literal at defaults.js:27"


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("expression", "line", "ending"),
    [
        ("yielded", 3, "-7 is a literal at iterated.js:3"),
        ("listed", 3, "-7 is a literal at iterated.js:3"),
        ("word", 23, "'cat' is a literal at iterated.js:23"),
        # The other entry has the same value, and the first is not there any more.
        ("entry", 30, "which entry of map it was is not known"),
        ("paired", 33, "20 is a literal at iterated.js:33"),
        ("assigned", 37, "0 is a literal at iterated.js:37"),
        ("behind", 40, "4 is a literal at iterated.js:40"),
        ("frozen", 42, "5 is a literal at iterated.js:42"),
        ("dropped", 15, "holder.a was deleted at iterated.js:15"),
        ("first", 48, "30 is a literal at iterated.js:48"),
        ("sum", 51, "'2' is a literal at iterated.js:51"),
        ("made", 10, "0 is a literal at iterated.js:10"),
        ("fulfilled", 16, "2 is a literal at iterated.js:16"),
        ("absent", 57, "cut[1] was removed at iterated.js:57"),
        ("length", 60, "the last change of grown.length is at iterated.js:60"),
    ],
)
def test_a_value_is_followed_through_what_is_iterated_assigned_and_deleted(
    cli: Callable[..., Any], expression: str, line: int, ending: str
) -> None:
    words = [expression, "--at", "iterated.js:64", "--", "node", "iterated.js"]
    data = cli("--json", "why", *words, check=0, cwd=ORIGINS, timeout=90).data["data"]
    assert (data["links"][-1]["frame"]["line"], data["ending"]) == (line, ending)
    assert data["runs"] == 1


@pytest.mark.adapter("js-debug")
def test_a_write_that_a_frozen_object_ignores_is_told(cli: Callable[..., Any]) -> None:
    words = ["frozen", "--at", "iterated.js:64", "--", "node", "iterated.js"]
    data = cli("--json", "why", *words, check=0, cwd=ORIGINS, timeout=90).data["data"]
    assert data["links"][-1]["details"] == [
        "a write of 50 at iterated.js:14 was ignored: the object does not take it"
    ]


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("expression", "text", "line", "ending"),
    [
        ("word", "words[1]: 1 of its 4 bytes written", 5, "1 is a literal at views.js:5"),
        (
            "number",
            "numbers.readUInt16LE(0) written by writeUInt16BE",
            8,
            "258 is a literal at views.js:8",
        ),
        ("filled", "whole[1] written by fill", 11, "2.5 is a literal at views.js:11"),
        ("added", "bytes[1] written by add", 13, "256 is a literal at views.js:13"),
        ("copied", "bytes[7] written by set", 16, "77 is a literal at views.js:16"),
        ("total", "total written, write 2", 20, "5 is a literal at views.js:20"),
        ("scaled", "o.n written", 22, "2 is a literal at views.js:22"),
        ("round", "i written, write 2", 28, "1 is a literal at views.js:28"),
        (
            "area",
            "this.w set in the literal that made the object",
            30,
            "'x' is a literal at views.js:30",
        ),
        ("bound", "k bound as 8", 31, "8 is a literal at views.js:31"),
        (
            "tag",
            "tags.get(tags) stored under WeakMap",
            34,
            "'second' is a literal at views.js:34",
        ),
        ("stepped", "yield i was given 10", 39, "10 is a literal at views.js:39"),
        ("constant", "fixed.k written by defineProperty", 40, "4 is a literal at views.js:40"),
        ("computed", "getter.k returned by its getter", 20, "5 is a literal at views.js:20"),
        (
            "hit",
            "cache[k.toLowerCase()] written by cached(k='A', n=21)",
            47,
            "21 is a literal at views.js:47",
        ),
        ("day", "date changed by setMonth", 50, "1 is a literal at views.js:50"),
        ("before", "counter written", 52, "0 is a literal at views.js:52"),
        (
            "count",
            "count written",
            26,
            (
                "no write of count gave it this value; the last that was seen gave 1, "
                "at views.js:24; "
                "what script.runInContext(context) at views.js:25 ran is not recorded"
            ),
        ),
    ],
)
def test_a_value_is_followed_into_shared_bytes_made_code_and_the_rounds_of_a_loop(
    shared_cli: Callable[..., Any], expression: str, text: str, line: int, ending: str
) -> None:
    words = [expression, "--at", "views.js:55", "--", "node", "views.js"]
    data = shared_cli("--json", "why", *words, check=0, cwd=ORIGINS, timeout=90).data["data"]
    assert text in [one["text"] for one in data["links"]]
    assert (data["links"][-1]["frame"]["line"], data["ending"]) == (line, ending)


LOOPS = """\
function add(rows) {
  let t = 0;
  for (let k = 0; k < rows.length; k++) t += rows[k].v.x;
  for (const r of rows) t += r.w.x;
  const f = (o) => { const q = o.a; return q.b.c; };
  return f({ a: { b: t || null } });
}
add(JSON.parse(process.argv[2]));
"""


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("expression", "at", "rows", "value"),
    [
        ("rows[k].v", "crash", '[{"v": {"x": 1}}, {}]', "undefined"),
        ("r.w", "crash", '[{"v": {"x": 1}, "w": null}]', "null"),
        ("q.b", "loops.js:5", "[]", "null"),
    ],
)
def test_the_code_of_a_line_that_has_the_variables_is_the_location(  # noqa: PLR0917
    cli: Callable[..., Any], tmp_path: Path, expression: str, at: str, rows: str, value: str
) -> None:
    (tmp_path / "loops.js").write_text(LOOPS)
    words = ["--json", "why", expression, "--at", at, "--", "node", "loops.js", rows]
    assert cli(*words, check=0, cwd=tmp_path, timeout=60).data["data"]["value"] == value


CUT = """\
function main(how) {
  const rows = [{ n: 1 }, { n: 2 }];
  rows.push({ n: 3 });
  if (how === "pop") { rows.pop(); rows.pop(); }
  if (how === "cut") rows.length = 1;
  if (how === "again") { rows.pop(); rows.pop(); rows.push(null); }
  return rows[1].n;
}
main(process.argv[2]);
"""


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("how", "line", "says"),
    [
        ("pop", 4, "rows[1] removed by pop"),
        ("cut", 5, "rows[1] removed as the array was shortened by main(how='cut')"),
        ("again", 6, "rows[1] written by push"),
    ],
)
def test_an_element_that_an_array_has_no_more_is_followed_to_what_removed_it(
    cli: Callable[..., Any], tmp_path: Path, how: str, line: int, says: str
) -> None:
    (tmp_path / "cut.js").write_text(CUT)
    words = ["--json", "why", "rows[1]", "--at", "crash", "--", "node", "cut.js", how]
    link, *_ = cli(*words, check=0, cwd=tmp_path, timeout=60).data["data"]["links"]
    assert link["frame"]["line"] == line
    assert link["text"].startswith(says)


ONE_LINE = """
function lost() { const o = { x: { y: 1 } }; delete o.x; return o.x.y; }
function cut() {
  const rows = [{ y: 1 }];
  rows.length = 0; return rows[0].y;
}
process.argv[2] === "cut" ? cut() : lost();
"""


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(("bug", "text", "line"), [("lost", "deleted", 2), ("cut", "removed", 5)])
def test_of_several_statements_of_a_line_the_one_that_failed_is_the_location(
    cli: Callable[..., Any], tmp_path: Path, bug: str, text: str, line: int
) -> None:
    (tmp_path / "one.js").write_text(ONE_LINE)
    why = cli("crash", "--json", "--", "node", "one.js", bug, cwd=tmp_path).data["data"]["why"]
    assert (why["value"], why["frame"]["line"]) == ("undefined", line)
    assert text in why["text"]
