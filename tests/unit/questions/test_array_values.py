"""How arrays and tensors are described: by shape, type, range, NaNs and a hash."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from debugger.questions.group.inside.array_values import describe


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.arange(4, dtype=np.int64).reshape(2, 2), "int64 [2, 2] min=0 max=3 hash="),
        (np.array([1.5, np.nan, -2]), "float64 [3] min=-2 max=1.5 nan=1 hash="),
        (np.array([np.nan]), "float64 [1] min=nan max=nan nan=1 hash="),
        (np.array([True, False]), "bool [2] min=False max=True hash="),
        (np.zeros((0, 3)), "float64 [0, 3] hash=00000000"),
        (np.array(1.0), "float64 [] min=1 max=1 hash="),
        (np.array(["a", "b"]), "<U1 [2] hash="),
        (np.array([1j]), "complex128 [1] hash="),
        (np.array([object()]), "object [1], values not read"),
        (np.lib.stride_tricks.as_strided(np.zeros(1), (1 << 26,), (0,)), "values not read"),
        ({"a": np.zeros(2), "b": np.array([np.nan])}, "dict of 2 arrays nan=1 hash="),
        ([np.zeros(2)], "list of 1 arrays hash="),
    ],
)
def test_an_array_is_described_in_one_line(value: Any, text: str) -> None:
    assert text in repr(describe(value))
    assert "\n" not in repr(describe(value))


@pytest.mark.parametrize("value", [1, "text", [], {}, [1, np.zeros(1)], None, np.float32(1)])
def test_another_value_stays_what_it_is(value: Any) -> None:
    assert describe(value) is value


def test_equal_values_have_equal_hashes_however_they_lie_in_memory() -> None:
    value = np.arange(6.0).reshape(2, 3)
    same = np.asfortranarray(value)
    other = value.copy()
    other[1, 1] += 1e-12
    assert repr(describe(value)) == repr(describe(same))
    assert repr(describe(value)) != repr(describe(other))


def test_the_operations_of_a_subclass_are_not_run() -> None:
    class Own(np.ndarray):
        def __array_finalize__(self, _of: Any) -> None: ...

        def reshape(self, *_: Any) -> Any:
            raise AssertionError

    value = np.zeros(2).view(Own)
    assert describe(value) is value


def test_nothing_is_imported_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numpy")
    value = np.zeros(1)
    assert describe(value) is value
    assert "numpy" not in sys.modules
