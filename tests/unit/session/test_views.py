"""A stack that the debugger could not follow says so."""

from __future__ import annotations

import pytest

from debugger.model.program import Frame
from debugger.session.views import lost_callers


def _frame(index: int, function: str, address: str, file: str | None = None) -> Frame:
    return Frame(handle=index, index=index, function=function, file=file, address=address)


def test_a_frame_that_is_no_code_says_that_the_callers_are_not_known() -> None:
    frames = [_frame(0, "read_field", "0x555555561b00", "/a.cpp"), _frame(1, "3", "0x3")]
    said = lost_callers(frames) or ""
    assert said.startswith("who called read_field is not known")
    assert "0x3 is no code" in said


@pytest.mark.parametrize("address", ["0x0", "0x7ffff7a4524a", "3f2a"])
def test_other_frames_without_source_are_believed(address: str) -> None:
    assert lost_callers([_frame(0, "f", "0x5555", "/a.c"), _frame(1, "?", address)]) is None
