"""Values of Java are followed to where they come from; no link is guessed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli_commands import Cli, answer_data
from debuggees import PROGRAMS, find_marker

pytestmark = pytest.mark.adapter("java")
FOLDER = PROGRAMS / "java_bugs"


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("java_why")
    files = [str(FOLDER / f"{name}.java") for name in ("Origins", "Range", "Keys")]
    subprocess.run(["javac", "-g", "-nowarn", "-d", str(folder), *files], check=True)
    return folder


def line(marker: str, name: str = "Origins") -> int:
    return find_marker(f"java_bugs/{name}.java", marker)


def follow(cli: Cli, classes: Path, expression: str, place: str, case: str, *options: str) -> Any:
    """Follow a value without a bound of time that a busy machine could reach."""
    words = ("--json", "why", expression, "--at", place, "--timeout", "300", *options)
    command = ("java", "-cp", str(classes), "Origins", case)
    return answer_data(cli(*words, "--", *command, check=0, cwd=FOLDER, timeout=320))


def at(marker: str) -> str:
    return f"Origins.java:{line(marker)}"


def steps(answer: Any) -> list[tuple[str, int]]:
    return [(one["kind"], one["frame"]["line"]) for one in answer["links"]]


def test_a_wrong_key_is_followed_from_a_record_to_its_literal(
    shared_cli: Cli, classes: Path
) -> None:
    found = follow(shared_cli, classes, "second.cents", at("key"), "key")
    texts = [one["text"] for one in found["links"]]
    assert 'Origins.PRICES has no entry for the key "ink "' in texts
    missing = found["links"][texts.index('Origins.PRICES has no entry for the key "ink "')]
    assert missing["frame"]["line"] == line("lookup")
    assert missing["details"][0].startswith('its keys: "ink"')
    assert found["ended"] == "constant"
    assert found["ending"] == f'"ink " is a literal at {at("codes")}'
    assert {one["certainty"] for one in found["links"]} == {"seen"}


def test_a_field_that_nothing_wrote_names_where_its_object_was_made(
    shared_cli: Cli, classes: Path
) -> None:
    found = follow(shared_cli, classes, "order.coupon", at("unset"), "unset")
    assert steps(found) == [("allocated", line("creates"))]
    assert found["ended"] == "uninitialised"


def test_a_sum_that_does_not_fit_is_named(shared_cli: Cli, classes: Path) -> None:
    found = follow(shared_cli, classes, "sum", at("overflow"), "overflow")
    assert steps(found) == [("written", line("adds"))]
    assert found["ending"] == "2000000000 + 240000000 = 2240000000 does not fit int"


def test_a_cached_value_leads_to_the_call_that_cached_it(shared_cli: Cli, classes: Path) -> None:
    found = follow(shared_cli, classes, "name", at("cached"), "cached")
    last = found["links"][-1]
    assert last["text"] == "put into Origins.NAMES for the key 3"
    assert last["stack"][0]["line"] == line("first")


def test_the_value_of_a_maps_entry_leads_to_the_put_of_its_key(
    shared_cli: Cli, classes: Path
) -> None:
    found = follow(shared_cli, classes, "sum", at("entry"), "entry", "--when", 'one.key == "b"')
    put = next(one for one in found["links"] if one["text"] == 'put into sums for the key "b"')
    assert put["frame"]["line"] == line("puts")


def test_equal_texts_that_are_two_objects_are_told(shared_cli: Cli, classes: Path) -> None:
    found = follow(shared_cli, classes, "same", at("identity"), "identity")
    last = found["links"][-1]
    assert (last["kind"], last["frame"]["line"]) == ("returned", line("compares"))
    assert last["details"] == ["the two are equal, and two objects: == compares objects"]


def test_an_element_has_the_last_write_of_its_own_index(shared_cli: Cli, classes: Path) -> None:
    found = follow(shared_cli, classes, "counts[2]", at("element"), "element")
    assert steps(found)[0] == ("written", line("counts"))
    assert found["ending"].startswith("7 is a literal")


def test_an_element_that_a_collector_put_there_leads_to_where_the_program_listed_it(
    shared_cli: Cli, classes: Path
) -> None:
    found = follow(shared_cli, classes, "first", at("grouped"), "grouped")
    assert steps(found)[-1] == ("written", line("lists"))
    assert found["ended"] == "allocation"


def test_a_write_of_another_thread_names_it(shared_cli: Cli, classes: Path) -> None:
    found = follow(shared_cli, classes, "shared", at("thread"), "thread")
    assert steps(found) == [("written", line("races"))]
    assert found["links"][0]["thread"] == "writer"


def test_a_key_class_without_a_hash_explains_the_null(shared_cli: Cli, classes: Path) -> None:
    found = follow(shared_cli, classes, "room", "crash", "hash")
    assert steps(found) == [("written", line("asks")), ("loaded", line("asks"))]
    assert found["links"][1]["details"] == [
        "Origins.Id has no hashCode of its own: another object is another key"
    ]


def test_a_key_of_another_wrapper_explains_the_null(shared_cli: Cli, classes: Path) -> None:
    found = follow(shared_cli, classes, "name", "crash", "wrapper")
    (fact,) = found["links"][-1]["details"]
    assert fact.endswith("is another object: a Integer, and what is looked for is a Long")


def test_an_exception_that_the_library_throws_again_leads_to_what_it_was_thrown_for(
    shared_cli: Cli, classes: Path
) -> None:
    found = follow(shared_cli, classes, "a caught exception", "crash", "again")
    assert steps(found)[0] == ("other", line("limits"))
    assert found["links"][0]["text"] == "IllegalStateException thrown for most=5"


def test_a_text_that_calls_built_does_not_end_where_its_builder_was_made(
    shared_cli: Cli, classes: Path
) -> None:
    found = follow(shared_cli, classes, "shown", at("state"), "state")
    assert steps(found) == [("written", line("state") - 1)]
    assert found["ending"] == "the calls that changed text up to there"


def test_a_list_changed_in_its_loop_names_the_change(shared_cli: Cli, classes: Path) -> None:
    found = follow(shared_cli, classes, "QUEUE", "crash", "loop")
    assert steps(found) == [("written", line("drops"))]


def test_a_records_text_is_not_taken_for_a_lambda(shared_cli: Cli, classes: Path) -> None:
    """A record's toString is linked at run time, as a lambda is."""
    found = follow(shared_cli, classes, "text", at("text"), "text")
    assert [one["kind"] for one in found["links"]] == ["written", "returned"]
    assert found["ended"] == "not followed"
    assert found["ending"].startswith("a value of toString at Origins.java:")


def test_what_was_thrown_for_another_exception_leads_to_the_first_ones_value(
    shared_cli: Cli, classes: Path
) -> None:
    found = follow(shared_cli, classes, "failed", "crash", "cause")
    assert [one["text"] for one in found["links"]] == [
        'IllegalArgumentException thrown for wrong=NumberFormatException: For input string: "x7"',
        'NumberFormatException thrown for line.code()="x7"',
        "Origins.Line.code written",
        "passed as code to Origins.Line.<init>",
    ]
    assert found["ending"] == f'"x7" is a literal at {at("bad")}'


def test_holds_names_a_write_two_calls_below_the_check(shared_cli: Cli, classes: Path) -> None:
    command = ("--", str(classes / "Range.class"))
    words = ("holds", "window.low <= window.high", "--at", "Range.check")
    shown = shared_cli(*words, *command, check=0, cwd=FOLDER, timeout=120).out
    assert f"made false by Range.java:{line('shrinks', 'Range')} high = before - count;" in shown
    words = ("holds", "low <= high", "--each", "Window.*")
    shown = shared_cli(*words, *command, check=0, cwd=FOLDER, timeout=120).out
    assert f"made false by Range.java:{line('shrinks', 'Range')} high = before - count;" in shown


def test_holds_with_a_call_names_the_statement_in_another_method(
    shared_cli: Cli, classes: Path
) -> None:
    words = ("holds", "ledger.total == ledger.sum()", "--at", "Range.check")
    command = ("--", str(classes / "Range.class"))
    shown = shared_cli(*words, *command, check=0, cwd=FOLDER, timeout=120).out
    assert f"made false by Range.java:{line('forgets', 'Range')} entries.set" in shown


def test_holds_blames_no_statement_for_another_object(shared_cli: Cli, classes: Path) -> None:
    words = ("holds", "window.low <= window.high", "--at", "Range.check")
    command = ("--", str(classes / "Range.class"), "two")
    shown = shared_cli(*words, *command, check=0, cwd=FOLDER, timeout=120).out
    assert "first false at the entry of Range.check #2" in shown
    assert "made false" not in shown
    assert "the false check is about other objects than the good check before" in shown


@pytest.mark.parametrize(
    ("case", "expression", "text"),
    [
        ("flag", "counts.get(true)", "put into counts for the key true"),
        ("letter", "counts.get('x')", "counts has no entry for the key 'x'"),
    ],
)
def test_a_key_is_written_as_in_the_source_which_the_bytecode_has_as_a_number(
    shared_cli: Cli, classes: Path, case: str, expression: str, text: str
) -> None:
    words = ("crash", "--", "java", "-cp", str(classes), "Keys", case)
    shown = shared_cli(*words, check=0, cwd=FOLDER).out
    assert f"why: {expression}=null, {text} at Keys.java:" in shown
    found = str(line("put" if case == "flag" else "letter", "Keys"))
    assert f"Keys.java:{found} in " in shown
