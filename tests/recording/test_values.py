"""Values of well-known types are recorded as they are, without the program's own repr."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from debuggees import program_text
from debugger.recorders.call_tree import build_trees, walk_calls
from debugger.recorders.python.inside import known_types, texts
from debugger.recorders.recorded_process import CompletedRun
from recording.recorders import PROGRAMS, PYTHONS, run_plain, run_recorded

PROGRAM = program_text("counted_lines/values.py")
TEXTS = [
    "Decimal('1.10')", "Fraction(1, 3)", "datetime.date(2024, 1, 2)",
    "datetime.datetime(2024, 1, 2, 0, 0, tzinfo=datetime.timezone.utc)", "PurePosixPath('/x')",
    "deque([1, 2])", "Counter({'a': 2, 'b': 1})", "bytearray(b'ab')", "Color.RED",
    "SimpleNamespace(a=1)", "Mock(name='send', 1 call, last (1, to='x'), return_value=3)",
    "Money(1.5)", "<Own, str() shows it>", "<Decimal, str() shows it>",
]  # fmt: skip


async def values(python: str, program: str, folder: Path) -> list[str]:
    """Return the texts of what a program's `take` was given."""
    scratch = folder / "scratch"
    scratch.mkdir()
    (folder / "prog.py").write_text(program)
    ran = await run_recorded([python, "prog.py"], folder, scratch)
    assert ran.status == 0
    return _given(ran, "take")


@pytest.mark.parametrize("name", PYTHONS)
async def test_values_of_the_standard_library_are_written(name: str, tmp_path: Path) -> None:
    found = await values(PYTHONS[name], PROGRAM, tmp_path)
    assert found[: len(TEXTS) - 1] == TEXTS[:-1]
    assert found[-1] == TEXTS[-1]


async def test_arrays_are_written_when_small_and_described_when_large(tmp_path: Path) -> None:
    program = (
        "import numpy as np\ndef take(value):\n    pass\nbig = np.arange(1000.0)\n"
        "big[3] = np.nan\ntake(np.array([1, 2]))\ntake(big)\ntake(np.array([object()]))\n"
    )
    found = await values(sys.executable, program, tmp_path)
    assert found[:2] == [
        "array([1, 2])",
        "array(shape (1000,), dtype float64, min 0.0, max 999.0, NaN 1)",
    ]
    assert found[2].startswith("array(shape (1,), dtype object, first <object")


@pytest.mark.parametrize("name", PYTHONS)
async def test_a_text_of_a_library_imports_nothing_while_that_library_is_being_imported(
    name: str, tmp_path: Path
) -> None:
    argv, folder = [PYTHONS[name], "prog.py", "site-packages"], PROGRAMS / "algebra"
    assert run_plain(argv, folder) == (0, "printer loaded\n", "")
    ran = await run_recorded(argv, folder, tmp_path)
    assert (ran.status, "".join(one.text for one in ran.output)) == (0, "printer loaded\n")
    texts = _given(ran, "take")
    assert texts[:2] == ["Basic(_args=())", "x"]
    assert texts[2].startswith("Basic(_args=(x, x, x, x, x, x, … 44 more)")


async def test_the_printer_of_a_library_is_not_called_where_the_library_is_the_program(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "project"
    shutil.copytree(PROGRAMS / "algebra/site-packages", folder / "source")
    shutil.copy(PROGRAMS / "algebra/prog.py", folder)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    ran = await run_recorded([sys.executable, "prog.py", "source"], folder, scratch)
    texts = _given(ran, "take")
    assert texts[:2] == ["Basic"] * 2
    assert texts[2] == "Basic(Basic(0), Basic(1), Basic(2), Basic(3), Basic(4), Basic(5), …)"
    names = {one.name for one in ran.recordings[0].functions.values()}
    assert not {"Printable.__str__", "text"} & names


async def test_a_class_is_neither_hashed_nor_compared(tmp_path: Path) -> None:
    ran = await run_recorded([sys.executable, "unhashable.py"], PROGRAMS, tmp_path)
    assert "".join(one.text for one in ran.output) == ""
    assert _given(ran, "take") == ["Row([1])", "<Own>", "[<class Own>, <class Row>]"]


def _given(ran: CompletedRun, name: str) -> list[str]:
    (one,) = ran.recordings
    every = walk_calls(build_trees(one))
    return [
        call.arguments[0].text for call in every if one.find_function(call.function).name == name
    ]


def test_fields_of_a_class_with_several_bases_are_written_once() -> None:
    class Named:
        pass

    class Sized:
        __slots__ = ("size",)

    class Both(Named, Sized):
        pass

    class Failed(Named, Exception):
        pass

    write = texts.ValueTexts(120, 6, 2, known_types)
    one = Both()
    one.name, one.size = "a", 3
    assert write(one) == "Both(name='a', size=3)"
    assert write([Both()]) == "[<Both>]"
    error = Failed("wrong")
    error.name = "b"
    assert texts.fields(error) == [("name", "b")]
