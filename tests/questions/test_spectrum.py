"""`test` names the lines that only the failing test ran, by passing tests beside it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from debugger.model.events import OutputStream
from debugger.recorders.model import LineRecording, RecordingOrder
from debugger.recorders.recorded_process import record_run
from debugger.recorders.suspect_ranking import run_spectrum

PROGRAMS = Path(__file__).parent.parent / "programs" / "spectrum"


def copied_project(name: str, folder: Path) -> Path:
    """Copy a project of the debuggees, so that nothing is built beside it."""
    return Path(shutil.copytree(PROGRAMS / name, folder / name))


def named_lines(answer: Mapping[str, Any]) -> list[tuple[str, int, int, str]]:
    """Return the file, the lines and the function of each row."""
    return [
        (Path(row["frame"]["file"]).name, row["frame"]["line"], row["last"], row["text"])
        for row in answer["spectrum"]["rows"]
    ]


@pytest.mark.adapter("delve")
def test_the_lines_of_go_that_only_the_failing_test_ran_are_named(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    folder = copied_project("go", tmp_path)
    answer = cli("test", "--json", "--", "go", "test", ".", cwd=folder, timeout=100, check=0)
    found = answer.data["data"]
    assert named_lines(found) == [
        ("prices.go", 10, 10, "total = discounted(total)"),
        ("prices.go", 16, 17, "percent := 20 · return total - total*percent/100"),
    ]
    assert found["spectrum"]["passing"] == 2
    assert found["why"]["command"] == (
        "debugger why found --at fail -- go test ./. '-run=^TestMany$'"
    )
    # The value was followed into the package, and not only to the test's own line.
    assert Path(found["why"]["frame"]["file"]).name == "prices.go"


@pytest.mark.adapter("lldb-dap")
def test_the_lines_of_rust_that_only_the_failing_test_ran_are_named_in_their_order(
    cli: Callable[..., Any], tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    require_tool("cargo")
    folder = copied_project("rust", tmp_path)
    command = ["cargo", "test", "--offline"]
    answer = cli("test", "--json", "--", *command, cwd=folder, timeout=100, check=0)
    found = answer.data["data"]
    assert [(one[:2]) for one in named_lines(found)] == [("lib.rs", 8), ("lib.rs", 13)]
    assert found["spectrum"]["names"] == ["tests::one_price", "tests::two_prices"]
    # The checked call's result is followed to its statement.
    assert found["why"]["frame"]["line"] == 15
    # The program of one test is what another question runs, and not cargo.
    one = [*command, "one_price"]
    answer = cli("probe", "--at", "total", "len(prices)", "--", *one, cwd=folder, timeout=100)
    assert answer.out.startswith("probe: 1 hit; exited with status 0")


@pytest.mark.adapter("js-debug")
def test_the_lines_of_node_that_only_the_failing_test_ran_are_named(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    folder = copied_project("node", tmp_path)
    command = ["node", "--test", "prices.test.js"]
    answer = cli("test", "--", *command, cwd=folder, timeout=100, check=0)
    assert "only the failing test ran (of it and 2 passing tests beside it, " in answer.out
    row = "  prices.js:7 in total, as `prices.length > 2` was true :6  sum = discounted(sum);"
    assert row in answer.out
    assert "  prices.js:13-14 in discounted  const percent = 20; · return sum - " in answer.out


def test_the_lines_of_python_that_only_the_failing_test_ran_are_named(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    folder = copied_project("python", tmp_path)
    command = [sys.executable, "-m", "unittest", "-q", "test_prices"]
    answer = cli("test", "--json", "--", *command, cwd=folder, timeout=100, check=0)
    assert [one[:3] for one in named_lines(answer.data["data"])] == [
        ("prices.py", 6, 6),
        ("prices.py", 11, 12),
    ]


async def test_a_single_test_of_pytest_is_recorded_with_its_lines(tmp_path: Path) -> None:
    folder = copied_project("python", tmp_path)
    order = RecordingOrder(
        (str(folder),),
        tests=True,
        only=("test_prices.py::Prices::test_two",),
        lines=LineRecording.HIT,
    )
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = await record_run(words, order, cwd=str(folder), env=dict(os.environ), timeout_s=100)
    assert ran.status == 0
    assert "1 passed" in ran.joined_output(OutputStream.STDOUT)
    lines = {
        one.line
        for one in run_spectrum(ran.recordings, passed=True).lines
        if one.file.endswith("/prices.py") and one.function == "total"
    }
    assert lines == {2, 3, 4, 5, 7}


def with_source_map(source: Path, script: Path, shift: int) -> None:
    """Write a script that is a source moved down by some lines, with its source map."""
    lines = source.read_text().split("\n")
    # Each line of the script begins where the source's next line does: AACA, in base 64 VLQ.
    mappings = ";" * shift + ";".join(["AAAA"] + ["AACA"] * (len(lines) - 1))
    url = f"{script.name}.map"
    script.write_text("\n" * shift + "\n".join(lines) + f"\n//# sourceMappingURL={url}\n")
    (script.parent / url).write_text(
        f'{{"version":3,"sources":["../{source.name}"],"names":[],"mappings":"{mappings}"}}'
    )


@pytest.mark.adapter("js-debug")
def test_a_failure_in_a_compiled_script_is_named_in_its_source(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    folder = copied_project("node", tmp_path)
    (folder / "dist").mkdir()
    for name in ("prices.js", "prices.test.js"):
        source = (folder / name).rename((folder / name).with_suffix(".ts"))
        with_source_map(source, folder / "dist" / name, 5)
    command = ["node", "--test", "dist/prices.test.js"]
    answer = cli("test", "--json", "--", *command, cwd=folder, timeout=100, check=0)
    found = answer.data["data"]
    assert Path(found["frame"]["file"]).name == "prices.test.ts"
    assert found["frame"]["line"] == 14
    assert [one[:2] for one in named_lines(found)] == [("prices.ts", 7), ("prices.ts", 13)]


@pytest.mark.adapter("delve")
def test_a_passing_test_that_ran_the_same_lines_is_named(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    folder = copied_project("go", tmp_path)
    tests = folder / "prices_test.go"
    text = tests.read_text().replace("[]int{100, 200}) != 300", "[]int{0, 0, 0}) != 0")
    tests.write_text(text)
    answer = cli("test", "--", "go", "test", ".", cwd=folder, timeout=100, check=0)
    assert "the fewest of 2 passing tests beside it ran (" in answer.out
    assert "total = discounted(total) (1 of 2 passing ran it)" in answer.out
    tests.write_text(text.replace("[]int{100}) != 100", "[]int{1, 0, 0}) != 1"))
    same = cli("test", "--", "go", "test", ".", cwd=folder, timeout=100, check=0)
    assert "no line that the failing test alone ran" in same.out
