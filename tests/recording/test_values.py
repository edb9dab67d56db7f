"""Values of well-known types are recorded as they are, without the program's own repr."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from debuggees import program_text
from debugger.recorders.call_tree import build_trees
from recording.recorders import PYTHONS, run_recorded

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
    (one,) = ran.recordings
    calls = [call for root in build_trees(one) for call in root.children]
    return [
        call.arguments[0].text for call in calls if one.find_function(call.function).name == "take"
    ]


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
