"""`why` follows a value of Python back to a constant, an input or an allocation."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import find_marker

PROGRAMS = Path(__file__).parents[1] / "programs" / "why"
# The folder is below that of these tests: neither their settings nor their fixtures are for it.
PYTEST = (
    *("-m", "pytest", "-q", "-p", "no:cacheprovider"),
    *("-c", os.devnull, "--rootdir", ".", "--noconftest"),
)
_TEXT_MOST = 1500


def why(
    cli: Callable[..., Any], expression: str, at: str, *words: object, nth: str = "1", runs: int = 1
) -> dict[str, Any]:
    """Return the answer, whose text keeps to its limit."""
    chosen = ["--nth", nth] if at not in {"crash", "fail"} else []
    command = ["why", expression, "--at", at, *chosen, "--", sys.executable, *map(str, words)]
    told = cli("--json", *command, check=0, cwd=PROGRAMS, timeout=90)
    data: dict[str, Any] = told.data["data"]
    assert all(one["certainty"] in {"seen", "inferred"} for one in data["links"])
    assert runs in {0, data["runs"]}  # 0: any number
    return data


def links(data: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the text and the line of each link."""
    return [(one["text"], one["frame"]["line"]) for one in data["links"]]


def test_a_field_that_was_changed_through_an_alias(cli: Callable[..., Any]) -> None:
    data = why(cli, "order.limit", "alias.py:14", "alias.py")
    assert links(data) == [
        ("set as other.limit in call 1 of 2", 9),
        ("passed as factor to relax", 21),
    ]
    assert (data["links"][0]["old"], data["links"][0]["new"]) == ("5", "0")
    assert (data["value"], data["ended"]) == ("0", "constant")


def test_a_default_that_all_calls_share(cli: Callable[..., Any]) -> None:
    data = why(cli, "tags", "defaults.py:8", "defaults.py", nth="last")
    assert links(data)[-1] == ("default of tags of add_tag (call 2)", 1)
    assert "shared by all calls" in data["ending"]
    assert (data["value"], data["ended"]) == ("['draft', 'final']", "allocation")


def test_an_item_of_a_list_that_belongs_to_the_class(cli: Callable[..., Any]) -> None:
    data = why(cli, "seen", "shared_class.py:20", "shared_class.py")
    assert links(data)[-2:] == [
        ("stored by self.history.append in call 1 of 2", 8),
        ("passed as amount to Account.deposit", 17),
    ]
    shared = why(cli, "bob.history", "shared_class.py:20", "shared_class.py")
    assert links(shared) == [("class attribute history, shared by all instances", 2)]
    assert "items were put in at shared_class.py:8" in shared["ending"]


def test_a_cache_that_returns_what_another_call_stored(cli: Callable[..., Any]) -> None:
    data = why(cli, "entry", "cached.py:18", "cached.py", nth="2")
    assert ("set as item CACHE[key] in call 1 of 2", 11) in links(data)
    stored = next(one for one in data["links"] if one["text"].startswith("set as item"))
    assert [one["line"] for one in stored["stack"]] == [16, 21]
    rate = why(cli, "rate", "cached.py:18", "cached.py", nth="2")
    assert links(rate)[-1] == ("passed as region to price", 21)


def test_a_value_that_was_copied_through_containers_and_calls(cli: Callable[..., Any]) -> None:
    data = why(cli, "first", "copied.py:25", "copied.py")
    assert [line for _, line in links(data)] == [24, 23, 16, 3, 11, 22, 21, 20, 7]
    assert links(data)[-1] == ("returned by read_limit", 7)
    assert data["ended"] == "constant"


def test_a_global_that_another_thread_changed(cli: Callable[..., Any]) -> None:
    data = why(cli, "mode", "threads.py:20", "threads.py")
    assert data["links"][1]["text"] == "assigned to the global MODE"
    assert data["links"][1]["thread"] == '2 "tuner"'
    assert data["links"][0]["thread"] == '1 "MainThread"'


def test_a_byte_of_a_file(cli: Callable[..., Any], tmp_path: Path) -> None:
    source = tmp_path / "records.bin"
    source.write_bytes(bytes(range(24)))
    data = why(cli, "flags", "input_bytes.py:22", "input_bytes.py", source)
    assert data["value"] == "18"
    assert data["ended"] == "input"
    assert data["ending"] == f"file {source}, read 4, offset 16; byte 2 of it is at offset 18"
    size = why(cli, "size", "input_bytes.py:22", "input_bytes.py", source)
    assert size["ending"].endswith("byte 4 of it is at offset 20")


def test_an_exception_that_ends_the_program_is_a_location(cli: Callable[..., Any]) -> None:
    data = why(cli, "self.retries", "crash", "crashing.py")
    assert (data["frame"]["line"], data["value"]) == (13, "None")
    assert data["event"].startswith("TypeError: ")
    assert [line for _, line in links(data)] == [8, 19, 3]
    cli("why", "x", "--at", "crash", "--", sys.executable, "alias.py", check=1, cwd=PROGRAMS)


def test_an_exception_that_an_event_loop_raises_again_is_where_it_was_raised(
    cli: Callable[..., Any],
) -> None:
    data = why(cli, "rest", "crash", "awaited.py")
    assert (data["frame"]["function"], data["value"]) == ("mean", "0")
    assert data["links"][0]["frame"]["line"] == find_marker("why/awaited.py", "rest")


def test_a_failing_test_is_a_location(cli: Callable[..., Any]) -> None:
    words = (*PYTEST, "test_totals.py")
    # All tests run first, to find the one that fails.
    data = why(cli, "total", "fail", *words, runs=2)
    assert data["frame"]["function"] == "test_total"
    assert [line for _, line in links(data)] == [30, 12, 11, 10, 6, 29, 19]


def test_the_text_keeps_to_its_limit(cli: Callable[..., Any]) -> None:
    words = ["--at", "copied.py:25", "--", sys.executable, "copied.py"]
    told = cli("why", "first", *words, check=0, cwd=PROGRAMS)
    assert len(told.out) <= _TEXT_MOST
    assert "[seen]" in told.out


@pytest.mark.parametrize(
    ("expression", "at", "message"),
    [("nothing", "alias.py:14", "no value"), ("order", "alias.py:99", "has 26 lines")],
)
def test_what_is_not_there_is_said(
    cli: Callable[..., Any], expression: str, at: str, message: str
) -> None:
    words = ["--at", at, "--", sys.executable, "alias.py"]
    told = cli("why", expression, *words, check=1, cwd=PROGRAMS)
    assert message in told.err, told.err


def test_a_long_run_is_recorded_before_the_location_only(cli: Callable[..., Any]) -> None:
    data = why(cli, "last", "long_run.py:43", "long_run.py", runs=2)
    assert links(data)[:3] == [
        ("assigned to last", 41),
        ("returned by Store.accept (call 9,001)", 11),
        ("set as self.used in call 9,001 of 9,001", 10),
    ]
    assert data["method"].startswith("recording about ")


def test_a_write_long_before_the_location_is_found_by_a_further_run(
    cli: Callable[..., Any],
) -> None:
    data = why(cli, "cap", "long_run.py:43", "long_run.py", runs=3)
    assert links(data) == [
        ("assigned to cap", 42),
        ("set as self.cap", 7),
        ("passed as cap to Store.limit_to", 32),
        ("assigned to cap", 31),
        ("returned by choose_cap", 24),
        ("assigned to found", 23),
    ]
    assert {one["certainty"] for one in data["links"]} == {"seen"}


@pytest.mark.parametrize(
    ("expression", "lines"),
    [
        ("far", [63, 15, 12, 18, 18, 17]),  # heappush and heappop under other names
        ("deep", [63, 27, 26, 30, 30, 26, 23, 23]),  # a deque of tuples, and setdefault
        ("place", [64, 42, 41, 38, 35]),  # a list of tuples, and setdefault(…).append
        ("score", [65, 55, 54, 53, 50, 49, 48, 65]),  # enumerate, zip, sorted with a key
    ],
)
def test_an_item_is_followed_to_the_statement_that_stored_it(
    cli: Callable[..., Any], expression: str, lines: list[int]
) -> None:
    data = why(cli, expression, "queues.py:66", "queues.py")
    assert [line for _, line in links(data)] == lines
    assert {one["certainty"] for one in data["links"]} == {"seen"}


@pytest.mark.parametrize(
    ("expression", "lines", "certainty"),
    [
        ("earlier", [18, 15, 7], "inferred"),  # an equal one is in the queue
        ("later", [19, 16, 11], "seen"),
    ],
)
def test_of_equal_items_the_one_that_was_taken_is_inferred(
    cli: Callable[..., Any], expression: str, lines: list[int], certainty: str
) -> None:
    data = why(cli, expression, "equal_items.py:20", "equal_items.py")
    assert [line for _, line in links(data)] == lines
    assert data["links"][1]["certainty"] == certainty


@pytest.mark.parametrize(
    ("expression", "lines", "operands"),
    [
        ("first", [25, 4, 24], []),
        ("total", [26, 14, 13], ["rate", "items"]),
        ("value", [27, 20, 19, 18], ["value", "factor"]),
    ],
)
def test_a_comprehension_has_each_operand_once_and_its_items_have_their_own(
    cli: Callable[..., Any], expression: str, lines: list[int], operands: list[str]
) -> None:
    data = why(cli, expression, "comprehensions.py:28", "comprehensions.py")
    assert [line for _, line in links(data)] == lines
    assert [one["text"] for one in data["links"][-1]["operands"]] == operands


def test_all_shows_where_each_operand_comes_from(cli: Callable[..., Any]) -> None:
    words = ["--at", "queues.py:66", "--all", "--", sys.executable, "queues.py"]
    told = cli("--json", "why", "far", *words, check=0, cwd=PROGRAMS)
    last = told.data["data"]["links"][-1]
    steps = ["assigned to distance, queues.py:12", "stored by push, queues.py:18",
             "set as item [0], queues.py:18", "assigned to step, queues.py:17"]  # fmt: skip
    cost = "cost=2: cost: the element of this round, queues.py:16 < set as item ['b'], queues.py:59"
    assert last["details"] == [f"distance=1: {' < '.join(steps)}", cost]


def test_an_object_is_followed_through_stars_joined_lists_and_a_cache(
    cli: Callable[..., Any],
) -> None:
    for expression, lines in (("last", [26, 6, 24]), ("size", [28, 6, 24])):
        data = why(cli, expression, "passed_on.py:29", "passed_on.py")
        assert [line for _, line in links(data)] == lines
        assert {one["certainty"] for one in data["links"]} == {"seen"}
    data = why(cli, "joined[2]", "passed_on.py:29", "passed_on.py")
    assert [line for _, line in links(data)] == [20, 25, 24]
    # No name held the tuple that was unpacked, so the call's argument is known by identity only.
    assert [one["certainty"] for one in data["links"]] == ["inferred", "seen", "seen"]
    assert data["links"][0]["text"] == "passed as *2 to make"


def test_a_property_is_followed_into_the_field_of_a_named_tuple(cli: Callable[..., Any]) -> None:
    data = why(cli, 'table["A"].height', "getters.py:85", "getters.py")
    assert links(data) == [("returned by Cell.height", 55), ("passed as height to Size", 84)]
    assert (data["value"], data["ended"]) == ("5", "constant")


@pytest.mark.parametrize(
    ("field", "getter", "line"), [("root", "__getattr__", 63), ("total", "total", 59)]
)
def test_a_value_that_code_of_the_class_computes_is_followed_into_it(
    cli: Callable[..., Any], field: str, getter: str, line: int
) -> None:
    data = why(cli, f'table["A"].{field}', "getters.py:85", "getters.py")
    assert links(data) == [
        (f"returned by Cell.{getter}", line),
        ("set as table['A'].base", 82),
    ]


def test_a_descriptor_is_followed_to_the_write_through_another_owner_of_the_object(
    cli: Callable[..., Any],
) -> None:
    data = why(cli, 'table["A"].face', "getters.py:85", "getters.py")
    written = next(one for one in data["links"] if one["text"].startswith("set as item"))
    assert written["frame"]["line"] == 19
    alias = "other['A'].style is the same object as self.style: set at getters.py:80"
    assert written["details"] == [
        f"{alias} < returned by Style.__copy__, getters.py:38 `return self`"
    ]
    assert links(data)[-1] == ("passed as value to Face.__set__", 81)
    assert (data["value"], data["ended"]) == ("'italic'", "constant")


def test_the_key_decides_what_a_table_of_constants_gives(cli: Callable[..., Any]) -> None:
    data = why(cli, "number", "getters.py:25", "getters.py", nth="last")
    assert data["links"][-2]["operands"][0]["text"] == "value"
    face = why(cli, 'table["A"].face', "getters.py:85", "getters.py")
    chosen = [(one["text"], one.get("is_followed", False)) for one in face["links"][0]["operands"]]
    assert chosen == [("number", True), ("NAMES.get(number, 'plain')", False)]


def test_a_value_where_the_cause_of_the_last_exception_was_raised(cli: Callable[..., Any]) -> None:
    data = why(cli, "limit", "crash", "late_import.py", runs=2)
    assert data["frame"]["function"] == "check"
    assert links(data)[-2:] == [("passed as limit to check", 18), ("passed as count to order", 33)]
    assert (data["value"], data["event"]) == ("4", "ValueError: 4")


def test_a_cache_that_gave_another_call_its_value_is_named_with_the_key(
    cli: Callable[..., Any],
) -> None:
    data = why(cli, "used", "crash", "cached_crash.py")
    stored = next(one for one in data["links"] if one["text"] == "set as item [1]")
    assert stored["details"] == [
        (
            "stored by another call of make_plan, cached_crash.py:29, under an equal key, "
            "cached_crash.py:22-25: key = ( name, len(columns), )"
        )
    ]


def test_a_crash_names_the_cached_value_of_a_calling_frame(cli: Callable[..., Any]) -> None:
    told = cli("--json", "crash", "--", sys.executable, "cached_crash.py", cwd=PROGRAMS, timeout=90)
    origin = told.data["data"]["why"]
    assert (origin["expression"], origin["frame"]["line"]) == ("used", 29)
    assert origin["text"] == "from a cache: stored by another call"
    assert origin["reason"].startswith("under an equal key, cached_crash.py:22-25:")
    assert origin["certainty"] == "rerun"


def test_a_change_through_another_owner_of_what_the_receiver_reaches_is_a_note(
    cli: Callable[..., Any],
) -> None:
    data = why(cli, "total", "shared_filter.py:36", "shared_filter.py")
    (note,) = data["notes"]
    assert note.startswith("low._query.where is the same object as made.where, set at")
    assert "shared_filter.py:15 `made.where = self.where` [seen], and changed through it" in note
    assert "shared_filter.py:25 < shared_filter.py:34" in note


def test_a_failed_test_names_the_object_that_another_owner_changed(cli: Callable[..., Any]) -> None:
    command = [sys.executable, *PYTEST]
    told = cli("--json", "test", "--", *command, "test_shared_rows.py", cwd=PROGRAMS, timeout=100)
    origin = told.data["data"]["why"]
    assert origin["expression"] == "low._query.where"
    assert origin["text"] == "the same object as made.where, set"
    assert (origin["frame"]["line"], origin["statement"]) == (15, "made.where = self.where")
    assert origin["certainty"] == "rerun"
    assert origin["reason"] == (
        "and changed through it: shared_filter.py:25 < test_shared_rows.py:8"
    )


def test_a_failed_test_without_a_shared_object_has_no_such_origin(cli: Callable[..., Any]) -> None:
    command = [sys.executable, *PYTEST]
    told = cli("--json", "test", "--", *command, "test_own_rows.py", cwd=PROGRAMS, timeout=100)
    assert told.data["data"]["outcome"] == "failed"
    assert "same object" not in told.out


def test_nothing_is_said_of_objects_that_no_other_owner_changed(cli: Callable[..., Any]) -> None:
    assert why(cli, "low", "shared_filter.py:34", "shared_filter.py")["notes"] == []


@pytest.mark.parametrize(
    ("expression", "line", "chain", "inferred"),
    [
        # A part of a loop's element, of what a call of the loop's head returned, in its last round.
        ("wide", 54, [53, 14, 13, 13, 13, 22, 19, 53, 52, 29, 28, 28, 27, 52], []),
        ("value", 56, [55, 55, 33, 55], [55]),
        # A part of a part of an unpacked result.
        ("upper", 58, [57, 57, 38, 38, 37, 57], [57, 38]),
        ("best", 60, [59, 49, 48, 59], []),
        ("count", 60, [59, 49, 59], []),
        # The operand with the value of the part, and the piece of joined bytes that the part is.
        ("second", 63, [62, 62, 61, 57, 57, 38, 38, 37, 57], [62, 61, 57, 38]),
        ("value", 64, [63, 63, 52, 29, 28, 28, 28, 27, 52], []),
    ],
)
def test_a_value_is_followed_through_unpacking_and_functions_of_the_interpreter(
    cli: Callable[..., Any], expression: str, line: int, chain: list[int], inferred: list[int]
) -> None:
    data = why(cli, expression, f"decoded.py:{line}", "decoded.py", nth="last")
    assert [at for _, at in links(data)] == chain
    guessed = [one["frame"]["line"] for one in data["links"] if one["certainty"] == "inferred"]
    assert guessed == inferred


@pytest.mark.parametrize(
    ("expression", "chain", "made"),
    [
        ("size", [33, 12, 11, 10, 10, 10, 33, 32], ""),
        ("word", [34, 17, 16, 34], "assigned to found, made by search of text"),
        ("most", [35, 21, 35], ""),
        ("part", [37, 29, 29, 29, 37], "line.split(separator), made by split of line"),
    ],
)
def test_of_a_functions_several_operands_the_one_with_the_data_is_followed(
    cli: Callable[..., Any], expression: str, chain: list[int], made: str
) -> None:
    data = why(cli, expression, "chosen.py:38", "chosen.py")
    assert [at for _, at in links(data)] == chain
    chosen = [one for one in data["links"] if "made by" in one["text"]]
    assert [one["text"].startswith(made) for one in chosen] == [True] * bool(made)
    assert all(one["certainty"] == "inferred" for one in chosen)


@pytest.mark.parametrize(
    ("expression", "chain"),
    [
        # Unpacked of bytes that were read, whose write joined what was packed of a list's item.
        ("size", [35, 35, 35, 34, 23, 23, 22, 21, 21, 16, 15, 14, 13, 12, 32]),
        ("part", [41, 41, 39, 38]),
        # A copy that the library made: by its content.
        ("words", [47, 47, 44, 42]),
        ("number", [49, 48]),
    ],
)
def test_a_value_is_followed_through_a_buffer_in_memory_to_what_was_written(
    cli: Callable[..., Any], expression: str, chain: list[int]
) -> None:
    data = why(cli, expression, "saved.py:50", "saved.py")
    assert [at for _, at in links(data)] == chain
    assert data["ended"] == "constant"
    by_content = [one for one in data["links"] if "by its content" in "".join(one["details"])]
    assert [one["certainty"] for one in by_content] == ["inferred"] * (expression == "words")


def test_a_long_chain_names_the_locations_of_the_links_that_it_leaves_out(
    cli: Callable[..., Any],
) -> None:
    words = ["--at", "saved.py:50", "--", sys.executable, "saved.py"]
    told = cli("why", "size", *words, check=0, cwd=PROGRAMS)
    assert len(told.out) <= _TEXT_MOST
    # All links are there: as rows, or as locations.
    assert all(f":{line}" in told.out for line in (35, 34, 23, 22, 21, 16, 15, 14, 13, 12, 32))


@pytest.mark.parametrize(
    ("item", "line", "link"),
    [
        ("rows[0]", 8, "1 [seen] set as item [2], moved at moves.py:2: 7"),
        ("rows[1]", 8, "1 [seen] set as item rows[0], moved at moves.py:4: 0 → 0"),
        ("rows[2]", 8, "1 [seen] stored by rows.insert, moved at moves.py:5: 0"),
        ("rows[0]", 13, "1 [inferred] set as item rows[1], sorted_rows at moves.py:11: 0 → 0"),
        ("rows[2]", 13, "1 [seen] set as item [2], sorted_rows at moves.py:10: 7"),
        ("rows[0]", 18, "1 [inferred] "),
        ("rows[2]", 18, "1 [seen] stored by rows.append, turned at moves.py:17: 4"),
    ],
)
def test_an_equal_number_is_followed_to_its_true_position_or_inferred(
    cli: Callable[..., Any], item: str, line: int, link: str
) -> None:
    words = ["why", item, "--at", f"moves.py:{line}", "--", sys.executable, "moves.py"]
    assert link in cli(*words, cwd=PROGRAMS, check=0).out


REUSED = """
def check(total):
    assert total == 1


def is_fine(total):
    try:
        check(total)
    except AssertionError:
        return False


for total in range(2, 22):
    is_fine(total)
check(99)
"""


def test_an_exception_that_has_the_number_of_one_that_is_gone_is_another(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "reused.py").write_text(REUSED)
    told = cli("why", "total", "--at", "crash", "--", sys.executable, "reused.py", cwd=tmp_path)
    assert "total = 99 in check at reused.py:" in told.out


def test_items_that_were_put_in_by_another_name_are_told_at_the_end(
    cli: Callable[..., Any],
) -> None:
    data = why(cli, "shared", "late_values.py:41", "late_values.py")
    assert data["ended"] == "allocation"
    assert data["ending"] == 'items were put in at late_values.py:35 `first.names.append("x")`'


def test_a_lambda_among_others_of_a_line_computes_with_its_own_operands(
    cli: Callable[..., Any],
) -> None:
    data = why(cli, "results[0]", "late_values.py:41", "late_values.py")
    (made,) = [one for one in data["links"] if one["text"].startswith("returned by closures")]
    assert [(one["text"], one["value"]) for one in made["operands"]] == [("x", "10"), ("k", "2")]


def test_a_coroutine_begins_later_than_its_call(cli: Callable[..., Any]) -> None:
    data = why(cli, "lost", "late_values.py:41", "late_values.py")
    assert links(data)[-2] == ("set as item counts['n'] in call 2 of 2", 23)
    assert not any("default" in text for text, _ in links(data))
    rest = why(cli, "rest", "late_values.py:41", "late_values.py")
    assert (links(rest)[-1], rest["ended"]) == (("assigned to numbers", 37), "allocation")


@pytest.mark.parametrize(
    ("expression", "text", "line"),
    [
        ("shown['mode']", "item ['mode'] taken from second, overriding first", 17),
        ("shown['rate']", "item ['rate'] taken from first", 17),
        ("called['mode']", "item ['mode'] taken from second, overriding first", 18),
        ("piped['mode']", "item ['mode'] taken from second, overriding first", 19),
        ("chained['mode']", "set as item ['mode'] in call 1 of 2", 13),
        ("joined[4]", "item [4] taken from LAST", 21),
        ("options.known['depth']", "item ['depth'] taken from given, overriding 1", 27),
        ("updated['w']", "item ['w'] taken from one", 33),
        ("updated['mode']", "item ['mode'] taken from load_user()", 34),
        ("upper['MODE']", "set as item ['MODE']", 56),
        ("copied['k'][1]['m']", "set as item ['m']", 54),
    ],
)
def test_of_merged_containers_the_one_that_has_the_key_is_followed(
    cli: Callable[..., Any], expression: str, text: str, line: int
) -> None:
    data = why(cli, expression, "merged.py:57", "merged.py")
    assert links(data)[0] == (text, line)
    assert {one["certainty"] for one in data["links"]} == {"seen"}
    assert data["ended"] == "constant"


def test_a_value_that_a_factory_made_is_followed_through_an_operator(
    cli: Callable[..., Any],
) -> None:
    data = why(cli, "prices['a']", "merged.py:57", "merged.py")
    assert links(data) == [("set as item prices['a']", 44), ("returned by base_price", 39)]


@pytest.mark.parametrize(
    ("name", "used", "line", "certainty"),
    [
        ("second", "numbers", 14, "seen"),
        ("left", "self.rows", 10, "seen"),
        ("joined", "texts", 20, "inferred"),
    ],
)
def test_an_iterator_that_was_used_up_is_said_to_be_with_the_statement(
    cli: Callable[..., Any], name: str, used: str, line: int, certainty: str
) -> None:
    data = why(cli, name, "used_up.py:22", "used_up.py")
    link = data["links"][1]
    assert (link["text"], link["frame"]["line"]) == (
        f"{used} used up: later uses of it get nothing",
        line,
    )
    assert link["certainty"] == certainty
    assert not [
        one for one in why(cli, "first", "used_up.py:22", "used_up.py")["links"]
        if "used up" in one["text"]
    ]  # fmt: skip


_AGAIN = "the cache of {} gave the result of an earlier call again"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("later", [("assigned to later", 50), ("stored by shared.append", 48)]),
        ("first", [("assigned to first", 49), (_AGAIN.format("rates"), 49)]),
        ("price", [("assigned to price", 54), (_AGAIN.format("Shop.price"), 54)]),
        ("point_items['y']", [("item ['y'] taken from point", 56), ("set as item [1]", 55)]),
        (
            "items['high']",
            [
                ("item ['high'] taken from limits", 58),
                ("passed as high to Limits by a library's code", 57),
            ],
        ),
        (
            "values[1]",
            [
                ("item [1] taken from limits", 59),
                ("passed as high to Limits by a library's code", 57),
            ],
        ),
        (
            "number",
            [
                ("assigned to number", 61),
                ("returned by configured", 35),
                ("config.read_string(text) called on it", 34),
                ("passed as text to configured", 61),
            ],
        ),
        ("total", [("assigned to total", 63), ("assigned to values", 59)]),
    ],
)
def test_a_value_is_followed_through_what_a_library_keeps_or_changes(
    cli: Callable[..., Any], expression: str, expected: list[tuple[str, int]]
) -> None:
    data = why(cli, expression, "library.py:64", "library.py")
    assert links(data)[: len(expected)] == expected


def test_a_cached_result_is_that_of_the_call_with_the_same_arguments(
    cli: Callable[..., Any],
) -> None:
    data = why(cli, "first", "library.py:64", "library.py")
    assert links(data)[2] == ("returned by rates (call 2)", 22)
    price = why(cli, "price", "library.py:64", "library.py")
    assert [one["line"] for one in price["links"][2]["stack"]] == [52, 67]


def test_of_several_calls_on_an_object_none_is_chosen(cli: Callable[..., Any]) -> None:
    data = why(cli, "digest", "library.py:64", "library.py")
    operands = [one["text"] for one in data["links"][-1]["operands"]]
    assert operands == ["state.update(first)", "state.update(second)", "state"]
    assert data["ended"] == "not followed"


def test_a_cached_result_is_not_that_of_the_keys_comparison(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    script = tmp_path / "equal_keys.py"
    script.write_text(
        "import functools\nclass Key:\n"
        "    def __init__(self, a, b):\n        self.a, self.b = a, b\n"
        "    def __hash__(self):\n        return 1\n"
        "    def __eq__(self, other):\n        return self.a == other.a\n"
        "@functools.lru_cache\ndef price(key):\n    return key.b * 10\n"
        "one = price(Key(1, 2))\ntwo = price(Key(1, 9))\nend = 1\n"
    )
    data = why(cli, "two", f"{script}:14", script)
    assert ("returned by price", 11) in links(data)
    assert links(data)[-1] == ("passed as b to Key.__init__", 12)


def test_the_last_of_many_hits_is_counted_first(cli: Callable[..., Any]) -> None:
    # Of an imported module fewer statements are recorded: most hits are in other calls.
    at = f"counted_hits.py:{find_marker('why/counted_hits.py', 'hit')}"
    data = why(cli, "row.number", at, "-c", "import counted_hits", nth="last", runs=0)
    assert data["value"] == str(1_799 % 7)
    assert links(data)[0][1] == find_marker("why/counted_hits.py", "field")


def test_a_value_where_the_program_exits_with_a_message(cli: Callable[..., Any]) -> None:
    data = why(cli, "width", "crash", "ended_by_exit.py")
    assert data["links"][-1]["frame"]["line"] == find_marker("why/ended_by_exit.py", "width")


def test_a_global_that_one_of_very_many_calls_changed(cli: Callable[..., Any]) -> None:
    """Functions that only read it, and calls that pass by the write, do not use up the limit."""
    at = f"rates.py:{find_marker('why/rates.py', 'printed')}"
    data = why(cli, "RATES['b']", at, "rates.py", runs=2)
    link = data["links"][0]
    changed = find_marker("why/rates.py", "changed")
    assert (link["frame"]["line"], link["certainty"]) == (changed, "seen")
    assert "in call 19,001 of 20,000" in link["text"]


def test_the_calls_of_code_that_exec_runs_are_numbered_as_well(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    """Such code has no counters, and is traced."""
    text = 'exec(compile(open("rates.py").read(), "rates.py", "exec"))\n'
    (tmp_path / "main.py").write_text(text)
    (tmp_path / "rates.py").write_text((PROGRAMS / "rates.py").read_text())
    at = f"{tmp_path}/rates.py:{find_marker('why/rates.py', 'sum')}"
    words = ("why", "total", "--at", at, "--nth", "last", "--", sys.executable, "main.py")
    data = cli("--json", *words, cwd=tmp_path, timeout=90).data["data"]
    assert [one["frame"]["line"] for one in data["links"][:2]] == [20, 14]
    assert "returned by add (call 20,000)" in data["links"][1]["text"]
