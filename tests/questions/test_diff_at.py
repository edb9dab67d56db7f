"""`diff --at` finds the first hit at which probed values of two runs differ."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text
from mcp_client import connect_stdio

PYTHON = program_text("counted_lines/diff_at.py")
C = program_text("counted_lines/diff_at.c")
RUST = """\
fn add(total: &mut i64, text: &str) -> i64 {
    let value: i64 = text.parse().unwrap_or(0);
    *total += value;
    *total
}
fn main() {
    let mut total = 0;
    for text in std::env::args().skip(1) {
        add(&mut total, &text);
    }
    println!("{}", total);
}
"""
JAVASCRIPT = """\
function add(total, text) {
  const value = Number(text);
  return total + value;
}
let total = 0;
for (const text of process.argv.slice(2)) total = add(total, text);
console.log(total);
"""
GO = program_text("counted_lines/diff_at.go")
Cli = Callable[..., Any]
SCAN = [sys.executable, "scan.py"]
AT = "scan.py:10"  # the line behind the sum


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scan.py").write_text(PYTHON)
    inputs = {"good": "a b c d e f", "bad": "a b ccc d e f", "more": "a b X c d e f", "less": "a b"}
    for name, text in inputs.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def read_differences(cli: Cli, folder: Path, *words: object, check: int = 0) -> dict[str, Any]:
    answer = cli("diff", "--json", *map(str, words), check=check, cwd=folder, timeout=90)
    found: dict[str, Any] = answer.data["data"]
    return found


def first(found: dict[str, Any]) -> tuple[int, list[str], list[str]]:
    left, right = found["parted"]["left"], found["parted"]["right"]
    assert left["hit"] == right["hit"]
    return left["hit"], left["values"], right["values"]


def test_good_input_and_bad_are_compared_hit_by_hit(cli: Cli, folder: Path) -> None:
    words = ("--at", AT, "total, count, box", "--stdin", "good", "--vs-stdin", "bad", "--", *SCAN)
    out = cli("diff", *words, cwd=folder, check=0).out
    assert out.startswith("diff: the runs differ first at hit 3 of scan.py:10: total 3 | 5, box ")
    assert "scan.py:10 in scan: 6 hits\n" in out
    assert "  total: differs at 4 of 6 hits, first at hit 3: 3 | 5\n" in out
    assert "  count: the same\n" in out
    assert "\n   hit 2  total=2  count=1  box=Box(text='b')\n-> hit 3  total=3 | 5  count=2" in out
    assert "2 hits the same, 4 differ\n" in out
    assert "output A: 6\noutput B: 8\n" in out
    assert "-- " + " ".join(SCAN) in cli("evidence", "show", "e1", check=0).out


def test_a_probe_compares_no_third_command(cli: Cli, folder: Path) -> None:
    words = ("--at", AT, "total", "--stdin", "good", "--", *SCAN)
    refused = cli("probe", *words, "--vs", *SCAN, "--vs", *SCAN, cwd=folder, check=2)
    assert "two commands are compared, not 3" in refused.err


def test_what_only_one_run_has_is_told_and_the_rest_is_not_shifted(cli: Cli, folder: Path) -> None:
    words = ("--at", AT, "text", "--stdin", "good", "--vs-stdin", "more", "--", *SCAN)
    out = cli("diff", *words, cwd=folder, check=0).out
    head = "diff: the runs part, after 2 hits that are the same: only B has hit 3 of scan.py:10"
    assert out.startswith(f"{head}: text 'X'\n")
    assert "scan.py:10 in scan: 6 hits | 7 hits\n  text: the same\n" in out
    assert "the last 4 are the same again, from hit 3 | 4 of scan.py:10" in out


def test_a_run_that_is_longer_than_the_other_is_told_so(cli: Cli, folder: Path) -> None:
    words = ("--at", AT, "text", "--stdin", "less", "--vs-stdin", "good", "--", *SCAN)
    found = read_differences(cli, folder, *words)
    assert found["parted"]["left"] is None
    assert found["parted"]["right"]["hit"] == 3
    assert (found["common"], found["left_only"], found["right_only"]) == (2, 0, 4)


def test_runs_with_the_same_values_are_told_so_whatever_their_addresses(
    cli: Cli, folder: Path
) -> None:
    words = ("--at", AT, "total, id(box)", "--stdin", "good", "--", *SCAN, "--vs", *SCAN)
    out = cli("diff", *words, cwd=folder, check=0).out
    assert out.startswith("diff: the same values at all 6 hits of both runs\n")
    assert "  total: the same\n" in out


def test_several_places_are_compared_in_the_order_of_time(cli: Cli, folder: Path) -> None:
    words = ("--at", "unused", "n", "--at", AT, "total", "--stdin", "good", "--", *SCAN)
    out = cli("diff", *words, "2", "--vs", *SCAN, "3", cwd=folder, check=0).out
    assert out.startswith(
        "diff: the runs part, after 2 hits that are the same: only B has hit 3 of scan.py:13: n 2\n"
    )
    assert "the last 6 are the same again, from hit 1 of scan.py:10" in out


def test_a_place_that_one_run_never_came_to_says_why(cli: Cli, folder: Path) -> None:
    words = ("--at", "unused", "n", "--at", AT, "total", "--stdin", "good", "--", *SCAN)
    out = cli("diff", *words, "--vs", *SCAN, "1", cwd=folder, check=0).out
    assert "scan.py:13 in unused: never hit | 1 hit\n  A: " in out
    assert "only B has hit 1 of scan.py:13: n 0\n" in out


def test_hits_of_threads_are_compared_by_place(cli: Cli, folder: Path) -> None:
    words = ("--at", AT, "''", "--at", "scan", "len(lines)", "--stdin", "good", "--", *SCAN)
    found = read_differences(cli, folder, *words, "threads", "--vs", *SCAN, "threads")
    assert found["parted"] is None
    assert found["common"] == 21
    assert "each place is compared by itself" in found["notes"][-1]


def test_only_the_hits_of_a_condition_are_compared(cli: Cli, folder: Path) -> None:
    found = read_differences(cli, folder, "--at", AT, "count", "--when", "len(text) > 1",
                 "--stdin", "good", "--vs-stdin", "bad", "--", *SCAN)  # fmt: skip
    assert found["parted"]["left"] is None
    assert found["parted"]["right"]["values"] == ["2"]
    assert found["places"][0]["left_why"] == "it was passed 6 times, never with len(text) > 1"


def test_a_run_that_does_not_end_is_compared_as_far_as_it_came(cli: Cli, folder: Path) -> None:
    words = ("--at", "scan", "len(lines)", "--stdin", "good", "--timeout", "3", "--", *SCAN)
    found = read_differences(cli, folder, *words, "--vs", *SCAN, "spins", check=3)
    assert found["timed_out"]
    assert found["parted"]["right"] is None
    assert "a run was ended at its time" in found["notes"][-1]


def test_hits_are_compared_up_to_a_bound_that_is_told(cli: Cli, folder: Path) -> None:
    found = read_differences(
        cli, folder, "--at", "unused", "n", "--", *SCAN, "20003", "--vs", *SCAN, "20001"
    )
    assert (found["common"], found["left_only"], found["right_only"]) == (20_000, 0, 0)
    assert found["notes"] == ["of unused the first 20,000 hits are compared: not later ones"]


@pytest.mark.parametrize(
    ("words", "says", "hint"),
    [
        (["--at", "scan.py:11", "text"], "neither run came there: scan.py:11: scan was entered",
         "debugger probe --at LOC EXPR"),
        (["--at", "scan.py:900", "text"], "there is no code at line 900 (nearest: ",
         "debugger diff --at scan.py:"),
        (["--at", AT, "txt"], "txt never had a value: NameError: name 'txt' is not defined; in sc",
         f"debugger diff --at {AT} "),
        (["--at", "scan", "1", "--when", "1 / 0"], "failed 1 times: ZeroDivisionError",
         "debugger probe --at LOC EXPR"),
        (["--at", AT, "text,,"], "an expression is empty", "debugger diff --at FILE:LINE"),
        (["--at", AT, "1", "--at", AT, "2"], f"{AT} is given twice", "debugger diff --at"),
        (["--at", AT, "1", "--function", "scan"], "--at compares values at places, --function",
         "debugger diff --at scan 'EXPR"),
        (["--when", "n"], "--when is for the hits of --at", "debugger diff --at FILE:LINE"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_with_what_can(
    cli: Cli, folder: Path, words: list[str], says: str, hint: str
) -> None:
    given = ("--stdin", "good", "--", *SCAN, "--vs", *SCAN)
    answer = cli("diff", *words, *given, cwd=folder)
    assert answer.exit in {1, 2}
    assert says in answer.err, str(answer)
    assert f"hint: {hint}" in answer.err


def test_an_expression_that_neither_run_knows_is_named_beside_the_others(
    cli: Cli, folder: Path
) -> None:
    words = ("--at", AT, "total, txt", "--stdin", "good", "--vs-stdin", "bad", "--", *SCAN)
    out = cli("diff", *words, cwd=folder, check=0).out
    assert "  txt: never a value: NameError" in out
    assert "(did you mean text?)" in out


def test_a_saved_run_is_compared_with_later_ones_by_the_same_probes(cli: Cli, folder: Path) -> None:
    probes = ("--at", AT, "total, text")
    saved = cli("diff", *probes, "--save", "base", "--stdin", "good", "--", *SCAN, cwd=folder,
                check=0).out  # fmt: skip
    again = "debugger diff --at scan.py:10 'total, text' -- CMD --vs run:base"
    assert saved == f"saved as run:base: {again}\n"
    assert "run:base" in cli("runs", check=0).out
    (folder / "scan.py").write_text("# new\n" + PYTHON)
    for order in ([*SCAN, "--vs", "run:base"], ["run:base", "--vs", *SCAN]):
        found = read_differences(cli, folder, *probes, "--stdin", "bad", "--", *order)
        mine, base = (10, 11) if order[0] == "run:base" else (11, 10)
        place = found["places"][0]
        assert (place["line"], place["right_line"]) == (mine, base)
        texts = [row["values"][1] for row in (found["parted"]["left"], found["parted"]["right"])]
        assert sorted(texts) == ["'c'", "'ccc'"]
        assert "since then changed scan.py" in " ".join(found["notes"])
    other = cli("diff", "--at", AT, "total", "--", *SCAN, "--vs", "run:base", cwd=folder, check=2)
    assert "which records something else" in other.err
    assert f"hint: {again}" in other.err


def test_a_source_before_and_after_a_change_has_the_place_in_each_folder(
    cli: Cli, tmp_path: Path
) -> None:
    for name, text in (("before", PYTHON), ("after", "# new\n" + PYTHON.replace("= 0", "= 7"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "scan.py").write_text(text)
    (tmp_path / "in").write_text("a b")
    commands = [sys.executable, "before/scan.py", "--vs", sys.executable, "after/scan.py"]
    for at in (AT, "before/scan.py:10", tmp_path / "before" / "scan.py:10"):
        found = read_differences(
            cli, tmp_path, "--at", at, "total", "--stdin", "in", "--", *commands
        )
        assert first(found) == (1, ["1"], ["8"])
        assert (found["places"][0]["line"], found["places"][0]["right_line"]) == (10, 11)


@pytest.mark.adapter("lldb-dap")
@pytest.mark.parametrize("backend", ["", "dap"])
def test_c_is_compared_whatever_its_addresses(
    cli: Cli, compile_program: Callable[..., Path], backend: str
) -> None:
    program = compile_program(C)
    env = {"DEBUGGER_BACKEND": backend} if backend else {}
    words = ("--json", "--at", "prog.c:10", "value, list->next", "--at", "add", "value")
    ways = ("./prog", "1", "2", "3", "--vs", "./prog", "1", "7", "3")
    answer = cli("diff", *words, "--", *ways, cwd=program.parent, env=env, check=0, timeout=90)
    found = answer.data["data"]
    hit, left, right = first(found)
    assert (hit, left[0], right[0]) == (2, "2", "7")
    assert found["places"][0]["columns"][0]["different"] == 1
    assert (found["common"], found["different"]) == (4, 2)


@pytest.mark.adapter("lldb-dap")
def test_rust_is_compared(cli: Cli, tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    require_tool("rustc")
    (tmp_path / "add.rs").write_text(RUST)
    words = ["rustc", "--edition=2021", "-g", "-o", "add", "add.rs"]
    subprocess.run(words, check=True, cwd=tmp_path, timeout=120)
    ways = ("./add", "1", "2", "3", "--vs", "./add", "1", "x", "3")
    found = read_differences(cli, tmp_path, "--at", "add.rs:3", "value, text", "--", *ways)
    assert first(found) == (2, ["2", '"2"'], ["0", '"x"'])


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        pytest.param("add.js", JAVASCRIPT, ["node"], marks=pytest.mark.adapter("js-debug")),
        pytest.param("add.go", GO, ["go", "run"], marks=pytest.mark.adapter("delve")),
    ],
)
def test_node_and_go_are_compared(
    cli: Cli, tmp_path: Path, name: str, text: str, command: list[str]
) -> None:
    (tmp_path / name).write_text(text)
    run = [*command, name]
    line = 1 + next(at for at, one in enumerate(text.splitlines()) if "return total + value" in one)
    found = read_differences(cli, tmp_path, "--at", f"{name}:{line}", "total, text", "--",
                 *run, "1", "2", "3", "--vs", *run, "1", "5", "3")  # fmt: skip
    assert first(found) == (2, ["1", '"2"'], ["1", '"5"'])
    total, text_ = found["places"][0]["columns"]
    assert (total["left_hit"], total["left"], total["right"]) == (3, "3", "6")
    assert text_["different"] == 1


async def test_the_tool_of_an_agent_compares_values(runtime_dir: Path, folder: Path) -> None:
    async with connect_stdio(toolset="all") as agent:
        script = str(folder / "scan.py")
        answer = await agent.call(
            "debug_diff",
            command=[sys.executable, script],
            stdin=str(folder / "good"),
            versusStdin=str(folder / "bad"),
            at={f"{script}:10": "total"},
        )
        assert answer.data["diff"]["parted"]["right"]["values"] == ["5"]
        assert answer.text.startswith("diff: the runs differ first at hit 3 of scan.py:10: total")
        assert "not both" in await agent.refused(
            "debug_diff", command=[script], function="scan", at={"scan.py:10": "total"}
        )
