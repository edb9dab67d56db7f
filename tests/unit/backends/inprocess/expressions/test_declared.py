"""Expressions in real C++ and Rust programs mean what their source says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import debuggees
from debugger.backends.inprocess.expressions.expression_evaluation import evaluate_expression
from debugger.backends.inprocess.expressions.log_pieces import parse_template
from debugger.backends.inprocess.expressions.log_text import format_log, log_script
from debugger.backends.inprocess.expressions.node_evaluation import evaluate_node
from debugger.backends.inprocess.expressions.resolution import resolve_condition
from debugger.errors import DebuggerError
from stopped_program import StoppedProgram, stop_with_gdb

RUSTC = ["rustc", "-g", "-C", "relocation-model=static", "--edition=2021"]
pytestmark = pytest.mark.adapter("gdb-cli")


def built(name: str, folder: Path, command: list[str]) -> Path:
    program = folder / name.replace(".", "_")
    source = debuggees.PROGRAMS / name
    subprocess.run([*command, "-o", str(program), str(source)], check=True, timeout=120)
    return program


def line_of(name: str, marker: str) -> int:
    lines = (debuggees.PROGRAMS / name).read_text(encoding="utf-8").splitlines()
    return next(number for number, text in enumerate(lines, 1) if f"@{marker}" in text)


def find_location(name: str, marker: str, program: Path) -> StoppedProgram:
    gdb = shutil.which("gdb")
    assert gdb is not None
    return stop_with_gdb(program, f"{name}:{line_of(name, marker)}", [], gdb=gdb)


@pytest.fixture(scope="module")
def cpp_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    command = ["g++", "-g", "-O0", "-no-pie", "-std=c++17"]
    return built("expressions.cpp", tmp_path_factory.mktemp("cpp"), command)


@pytest.fixture(scope="module")
def cpp(cpp_program: Path) -> StoppedProgram:
    return find_location("expressions.cpp", "here", cpp_program)


@pytest.fixture(scope="module")
def rust(tmp_path_factory: pytest.TempPathFactory) -> StoppedProgram:
    if shutil.which("rustc") is None:
        pytest.skip("rustc is missing")
    program = built("expressions.rs", tmp_path_factory.mktemp("rust"), RUSTC)
    return find_location("expressions.rs", "here", program)


@pytest.fixture(scope="module")
def rust_enums(tmp_path_factory: pytest.TempPathFactory) -> StoppedProgram:
    if shutil.which("rustc") is None:
        pytest.skip("rustc is missing")
    program = built("niche.rs", tmp_path_factory.mktemp("enums"), RUSTC)
    return find_location("niche.rs", "here", program)


@pytest.mark.parametrize(
    "text",
    [
        'small == "eve"',
        'small != "eva" && view == "eve"',
        "small.size() == 3 && !small.empty()",
        'track.name == "a name that is too long for the string itself"',
        "track.kept == 4 && ref.kept == 4",
        "ref.notes[1] == -2 && ref.notes.size() == 3",
        'words[2] == "three" && words.size() == 3',
        "tracks[1].notes[2] == 3",
        "fixed[2] == 9 && len(fixed) == 3",
        "map.size() == 2",
        "track.mode == audio::Mode::on",
        "track.loud && byte == 200",
        "audio::rate > 44 && rate < 45",
        "Counter::made == 12 && made == 12",
        "shadow == 5",
        "argc == 1",
        "((audio::Track *)&track)->kept == 4",
        "(Track *)0 == nullptr",
        "&ref == &track",
        "sizeof(audio::Base) == 4",
    ],
)
def test_a_condition_holds_in_cpp(cpp: StoppedProgram, text: str) -> None:
    assert evaluate_node(resolve_condition(text, cpp.scope()), cpp.world) == 1


def test_a_member_function_knows_its_object(cpp_program: Path) -> None:
    stop = find_location("expressions.cpp", "inside", cpp_program)
    assert (
        evaluate_node(
            resolve_condition("this->kept == 4 && this.notes[0] == 1", stop.scope()), stop.world
        )
        == 1
    )


def shown(program: StoppedProgram, text: str) -> str:
    pieces = parse_template(text, program.scope())
    log_script(pieces)  # JavaScript has words for all of it, too
    return format_log(pieces, program.world)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{word}", '"grüße"'),
        ("{slice}", "size=2 {7, 8}"),
        ("{words}", 'size=2 {"one", "two"}'),
        ("{boxed}", "Box({x:5, y:0.25})"),
        (
            "{*track}",
            '{name:"eve", notes:size=3 {1, -2, 3}, at:{x:-7, y:1.5}, pair:(1, -2)}',
        ),
    ],
)
def test_a_logpoint_writes_values_of_rust_as_rust_has_them(
    rust: StoppedProgram, text: str, expected: str
) -> None:
    assert shown(rust, text) == expected
    assert re.fullmatch(r"0x[0-9a-f]+ 42", shown(rust, "{number}"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{text}", 'Text("b")'),
        ("{number}", "Number(2.5)"),
        ("{empty}", "Empty"),
        ("{pair}", "Pair{key:120, value:7}"),
    ],
)
def test_a_logpoint_writes_the_case_that_an_enum_of_rust_is(
    rust_enums: StoppedProgram, text: str, expected: str
) -> None:
    assert shown(rust_enums, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        'track.name == "eve"',
        "track.notes[1] == -2 && track.notes.len() == 3",
        "track.at.x == -7 && track.at.y == 1.5",
        "track.pair.0 == 1 && track.pair.1 == -2",
        "n == -9",
        'word == "grüße" && word.len() == 7',
        "slice[1] == 8 && slice.len() == 2",
        "*number == 42 && number == 42",
        "letter == 'é'",
        "yes",
        "boxed.x == 5 && boxed.y < 1",
        "array[2] == 30 && len(array) == 3",
        'words[1] == "two" && words.len() == 2',
        "LIMIT == 99",
        "n as u8 == 247",
    ],
)
def test_a_condition_holds_in_rust(rust: StoppedProgram, text: str) -> None:
    assert evaluate_node(resolve_condition(text, rust.scope()), rust.world) == 1


def test_a_name_that_is_not_there_has_near_ones(cpp: StoppedProgram) -> None:
    with pytest.raises(DebuggerError, match="no 'trak' in scope here; near: track"):
        evaluate_expression("trak", cpp.scope(), cpp.world)


def test_arguments_are_known_at_the_entry(tmp_path: Path) -> None:
    program = built("expressions.c", tmp_path, ["gcc", "-g", "-O0", "-no-pie"])
    gdb = shutil.which("gdb")
    assert gdb is not None
    stop = stop_with_gdb(program, "*work", [], gdb=gdb)
    holds = resolve_condition(
        'args[0] == 6 && args[1] == 2.25 && args[2] == "word" && args[3]->value == 1 && n == 6',
        stop.scope(),
    )
    assert evaluate_node(holds, stop.world) == 1
    with pytest.raises(DebuggerError, match=r"no args\[4\]"):
        resolve_condition("args[4]", stop.scope())


def test_at_a_line_arguments_are_what_their_names_are(cpp: StoppedProgram) -> None:
    assert (
        evaluate_node(resolve_condition("args[0] == 1 && args[0] == argc", cpp.scope()), cpp.world)
        == 1
    )
