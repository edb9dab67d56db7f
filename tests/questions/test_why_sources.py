"""`why` follows a value through containers, closures, threads and inputs of each language."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS, build_debuggee, find_marker

FOLDER = PROGRAMS / "why"
Why = Callable[..., dict[str, Any]]


@pytest.fixture
def why(cli: Callable[..., Any]) -> Why:
    """Return what asks the question of a debuggee, or of any other command."""

    def run(source: str, expression: str, at: str, *words: object) -> dict[str, Any]:
        name = f"why/{source}"
        program: tuple[object, ...] = {
            ".py": (sys.executable, source),
            ".js": ("node", source),
            ".go": ("go", "run", source),
        }.get(Path(source).suffix) or (build_debuggee(name),)
        place = f"{source}:{find_marker(name, at[1:])}" if at.startswith("@") else at
        # A busy machine must not end the runs: their number alone is the bound.
        command = [expression, "--at", place, "--timeout", "100", "--", *program, *words]
        told = cli("--json", "why", *map(str, command), check=0, cwd=FOLDER, timeout=120)
        data: dict[str, Any] = told.data["data"]
        assert cli("sessions", check=0).out == "no sessions\n"
        return data

    return run


@pytest.fixture
def number_file(tmp_path: Path) -> Path:
    path = tmp_path / "number.txt"
    path.write_text("42\n", encoding="utf-8")
    return path


def lines_of(answer: dict[str, Any]) -> list[int]:
    return [one["frame"]["line"] for one in answer["links"]]


def marked(source: str, *names: str) -> list[int]:
    return [find_marker(f"why/{source}", name) for name in names]


@pytest.mark.adapter("gdb")
def test_a_value_of_cpp_that_another_thread_wrote_is_followed_into_it(
    why: Why, number_file: Path
) -> None:
    answer = why("sources.cpp", "doubled", "@input", number_file)
    assert lines_of(answer)[:2] == marked("sources.cpp", "copy", "work")
    assert answer["links"][1]["thread"].startswith("2 ")


@pytest.mark.adapter("gdb")
def test_a_number_that_a_stream_read_is_an_input(why: Why, number_file: Path) -> None:
    answer = why("sources.cpp", "number", "@read", number_file)
    assert lines_of(answer) == marked("sources.cpp", "input")
    assert (answer["value"], answer["ended"]) == ("42", "input")


@pytest.mark.adapter("gdb")
def test_a_block_that_was_freed_since_its_value_was_written_is_said_to_be(
    why: Why, number_file: Path
) -> None:
    answer = why("sources.cpp", "raw->key", "@stale", number_file)
    (made, freed) = marked("sources.cpp", "made", "freed")
    assert lines_of(answer) == [made]
    (detail,) = answer["links"][0]["details"]
    assert detail == f"the block was freed since, in read_freed at sources.cpp:{freed}"


@pytest.mark.adapter("gdb")
def test_a_pointer_into_a_moved_vector_of_rust_leads_to_the_block_and_the_files_byte(
    why: Why, tmp_path: Path
) -> None:
    file = tmp_path / "in.txt"
    file.write_text("abcd123")
    answer = why("raw_blocks.rs", "stale", "@end", file)
    assert lines_of(answer)[1] == find_marker("why/raw_blocks.rs", "stored")
    moved, allocated = marked("raw_blocks.rs", "moved", "allocated")
    (detail,) = answer["links"][1]["details"]
    assert detail == (
        f"the block was freed in raw_blocks::main at raw_blocks.rs:{moved}, and allocated again in "
        f"raw_blocks::stored at raw_blocks.rs:{allocated}"
    )
    # What the system wrote is no write of the allocator's.
    assert lines_of(answer)[-1] == find_marker("why/raw_blocks.rs", "read")
    assert (answer["ended"], answer["ending"]) == ("input", f"{file}, byte 3")


@pytest.mark.adapter("gdb")
def test_an_assignment_that_its_condition_left_out_gave_a_local_nothing(why: Why) -> None:
    answer = why("taken.c", "chosen", "@unset")
    assert answer["ended"] == "uninitialised"
    assert not any("literal" in one["text"] for one in answer["links"])


@pytest.mark.adapter("gdb")
def test_a_value_that_was_popped_is_followed_to_the_call_that_pushed_it(why: Why) -> None:
    answer = why("taken.c", "last", "@end")
    assert lines_of(answer) == marked("taken.c", "pop", "return", "value", "push", "call")
    assert answer["ended"] == "constant"


@pytest.mark.adapter("gdb")
@pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is missing")
def test_an_element_of_rust_is_followed_to_the_function_that_wrote_it(why: Why) -> None:
    answer = why("filled.rs", "second", "@end")
    assert lines_of(answer) == marked("filled.rs", "second", "fill")
    assert answer["ended"] == "constant"


def test_a_popped_value_of_python_is_followed_into_the_closure(why: Why) -> None:
    answer = why("taken.py", "last", "taken.py:23")
    # pop, append, the argument, its assignment, the return, and `start += count`, of which neither
    # operand is more at fault than the other: both are listed.
    assert lines_of(answer) == [22, 14, 21, 20, 8, 7]
    assert answer["ended"] == "not followed"
    assert {one["text"]: one["value"] for one in answer["links"][-1]["operands"]} == {
        "start": "8",
        "count": "4",
    }


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("expression", "lines", "ended"),
    [("last", [8, 4, 7], "constant"), ("number", [10, 9], "input")],
)
def test_a_popped_value_and_an_input_of_javascript_are_followed(
    why: Why, number_file: Path, expression: str, lines: list[int], ended: str
) -> None:
    answer = why("taken.js", expression, "taken.js:11", number_file)
    assert (lines_of(answer), answer["ended"]) == (lines, ended)


@pytest.mark.adapter("delve")
def test_a_text_of_go_is_followed_to_the_file_that_it_was_read_from(
    why: Why, number_file: Path
) -> None:
    answer = why("read.go", "text", "read.go:12", number_file)
    assert lines_of(answer) == [11, 10]
    assert answer["ended"] == "input"
    assert answer["ending"].startswith("os.ReadFile(")


@pytest.mark.adapter("gdb")
def test_a_location_in_a_library_that_is_loaded_by_a_relative_path_is_reached(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is missing")
    for name, output, options in (
        ("plugin.c", "plugin.so", ("-shared", "-fPIC")),
        ("plugged.c", "plugged", ("-ldl",)),
    ):
        words = [compiler, "-g", "-O0", str(FOLDER / name), "-o", str(tmp_path / output), *options]
        subprocess.run(words, check=True, timeout=60)
    told = cli(
        "--json", "why", "scaled", "--at", "plugin.c:3", "--timeout", "100", "--", "./plugged",
        check=0, cwd=tmp_path, timeout=120,
    )  # fmt: skip
    data = told.data["data"]
    assert (data["value"], data["links"][0]["frame"]["line"]) == ("15", 2)
