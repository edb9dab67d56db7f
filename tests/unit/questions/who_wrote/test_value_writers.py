"""Writes of a value are folded by line, and the last before a location is marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from debugger.model import answers
from debugger.model.program import Frame
from debugger.questions.who_wrote import answer
from debugger.questions.who_wrote.value_writers import (
    ValueWrite,
    WriteLocation,
    group_writes,
    last_before,
    line_before,
    skip_made_setter,
)
from debugger.questions.why.answer import LinkCertainty, LinkKind, WhyLink
from debugger.questions.why.last_write import write_of_link
from debugger.session import stop_report

_MAIN = WriteLocation("main", "/src/a.c", 90)


def _write(line: int, new: str, *, caller: int = 90, is_after: bool = False) -> ValueWrite:
    stack = (WriteLocation("add", "/src/a.c", line), WriteLocation("main", "/src/a.c", caller))
    return ValueWrite(stack, str(int(new) - 1), new, is_after=is_after)


async def test_a_write_by_an_inlined_function_is_of_the_line_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = {0x120: ("mod.rs", 547), 0x118: ("mod.rs", 546), 0x110: ("ov.rs", 26)}

    async def read_line(_: object, frame: Frame) -> answers.AccessView:
        file, line = lines.get(int(frame.address or "0", 16), ("ov.rs", 12))
        return answers.AccessView("encode", f"/src/{file}", line)

    monkeypatch.setattr(stop_report, "accessed_by", read_line)
    session: Any = None
    frame = Frame(0, "encode", 1, "/src/ov.rs", 27, address="0x120")
    assert await line_before(session, frame) == 26
    own = msgspec.structs.replace(frame, address="0x90")
    assert await line_before(session, own) == 12


@pytest.mark.parametrize(
    ("new", "certainty", "is_write"),
    [
        ("77", LinkCertainty.SEEN, True),
        ("78", LinkCertainty.SEEN, False),
        # A link of the struct around it, and one by the source alone.
        (None, LinkCertainty.SEEN, False),
        ("77", LinkCertainty.INFERRED, False),
    ],
)
def test_only_a_seen_link_with_the_value_is_its_last_write(
    new: str | None, certainty: LinkCertainty, *, is_write: bool
) -> None:
    frame = answers.FrameView(0, "Move", "/src/a.go", 21)
    link = WhyLink(LinkKind.COMPUTED, certainty, "computed", frame, old="70", new=new)
    found = write_of_link(link, "77")
    assert (found is not None) is is_write
    if found is not None:
        assert (found.location, found.old) == (WriteLocation("Move", "/src/a.go", 21), "70")


def test_a_line_that_writes_often_is_told_once_with_its_first_and_last() -> None:
    found = group_writes([_write(10, "1"), _write(12, "2"), _write(10, "3"), _write(10, "4")])
    assert [(one.site.line, one.count, one.first, one.last) for one in found] == [
        (10, 3, 1, 4),
        (12, 1, 2, 2),
    ]
    assert (found[0].first_write.new, found[0].last_write.new) == ("1", "4")


def test_the_last_before_the_place_is_marked_and_what_came_after_is_told_apart() -> None:
    writes = [_write(10, "1"), _write(12, "2"), _write(10, "3", is_after=True)]
    found = group_writes(writes)
    assert [(one.site.line, one.is_last, one.is_after) for one in found] == [
        (10, False, False),
        (12, True, False),
        (10, False, True),
    ]
    assert last_before(writes) == writes[1]


def test_ways_to_a_line_are_counted_by_its_callers_lines() -> None:
    (found,) = group_writes([_write(10, "1"), _write(10, "2", caller=91), _write(10, "3")])
    assert found.callers == 2


def test_writes_only_after_the_place_have_no_last_before() -> None:
    writes = [_write(10, "1", is_after=True)]
    assert last_before(writes) is None
    assert not group_writes(writes)[0].is_last
    assert group_writes([]) == []


def test_a_caller_whose_line_is_not_known_has_none() -> None:
    """As a constructor of Kotlin that the compiler has made."""
    (found,) = group_writes([_write(10, "1", caller=0)])
    caller = answer._writer_view(found).stack[0]
    assert (caller.function, caller.line) == ("main", None)


def test_the_setter_that_kotlinc_makes_is_passed_over(tmp_path: Path) -> None:
    source = tmp_path / "Bank.kt"
    source.write_text(
        "class Account(var balance: Int) {\n"
        "    var limit: Int = 0\n        set(value) { field = value }\n}\n"
    )

    def skip(function: str, number: int) -> str:
        frames = [WriteLocation(function, str(source), number), WriteLocation("main", "x.kt", 9)]
        return skip_made_setter(frames)[0].function

    assert skip("Account.setBalance", 1) == "main"
    assert skip("Account.setLimit", 3) == "Account.setLimit"
    assert skip("Account.spend", 1) == "Account.spend"
    alone = [WriteLocation("Account.setBalance", str(source), 1)]
    assert skip_made_setter(alone) == alone


def test_of_a_run_that_ended_too_early_no_write_is_the_last_before_the_place() -> None:
    writes = [_write(3, "1"), _write(3, "2")]
    found = answer.build_writers_answer("n", "a.c:9", "80", writes, is_partial=True)
    assert found.cause == (
        "n=80 at a.c:9: only the first 2 writes before it were seen, the last of these 1 → 2, "
        "in add a.c:3"
    )
    assert not any(one.last for one in found.writers)
    found = answer.build_writers_answer("n", "a.c:9", "2", writes)
    assert found.cause == "n=2 at a.c:9 was last written: 1 → 2, in add a.c:3"


def test_a_value_that_was_written_later_is_named_with_its_own_value_at_the_place() -> None:
    writes = [_write(3, "3", is_after=True)]
    found = answer.build_writers_answer("n", "a.c:9", "2", writes)
    assert found.cause == (
        "n=2 at a.c:9: no write before it was seen; the first after it: 2 → 3, in add a.c:3"
    )


def test_the_threads_of_a_line_that_writes_are_counted() -> None:
    writes = [msgspec.structs.replace(_write(3, "1"), thread=one) for one in (7, 8, 7)]
    assert [one.threads for one in group_writes(writes)] == [2]
