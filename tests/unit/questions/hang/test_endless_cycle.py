"""A second run ends early only where the loop cannot end any more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from debugger.model.answers.frames import FrameView
from debugger.model.debugger_words import Runtime
from debugger.questions.hang.answer import CycleView, Hang, LoopExitView, LoopView
from debugger.questions.hang.endless_cycle import TURNS_MIN, EndlessCycle, ends_at_nothing
from debugger.questions.hang.second_run import add_writers
from debugger.questions.probe.probe_points import HitRange
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable

WRITER, LOOP, ENTRY = 0, 1, 2


def turn(at: int, following: int) -> Sequence[ProbeCell]:
    return [ProbeCell(f"0x{one:016x}") for one in (at, following)]


def walk(cycle: EndlessCycle, *nodes: int, last: int) -> list[bool]:
    """Take the turns of one walk through nodes; `last` is the link of the last one."""
    links = [*nodes[1:], last]
    return [cycle.take_hit(LOOP, turn(*one)) for one in zip(nodes, links, strict=True)]


def test_a_ring_is_known_after_some_turns_without_another_hit() -> None:
    cycle = EndlessCycle(LOOP, Runtime.NATIVE)
    assert not any(walk(cycle, *([1, 2, 3] * 16), last=1))
    assert walk(cycle, 1, 2, last=3) == [False, True]


def test_a_list_that_is_walked_again_and_again_in_one_call_is_no_ring() -> None:
    cycle = EndlessCycle(LOOP, Runtime.NATIVE)
    assert not any(any(walk(cycle, 1, 2, 3, last=0)) for _ in range(TURNS_MIN))


def test_turns_before_an_entry_or_a_write_of_a_link_do_not_count() -> None:
    for other in (WRITER, ENTRY):
        cycle = EndlessCycle(LOOP, Runtime.NATIVE)
        for _ in range(TURNS_MIN):
            assert not any(walk(cycle, 1, 2, 1, 2, last=1))
            assert not cycle.take_hit(other, [ProbeCell("1")])


def test_what_cannot_be_evaluated_is_no_turn() -> None:
    cycle = EndlessCycle(LOOP, Runtime.NATIVE)
    cells = [ProbeCell("0x1"), ProbeCell("no such field", is_error=True)]
    assert not any(cycle.take_hit(LOOP, cells) for _ in range(2 * TURNS_MIN))


def test_a_table_whose_hits_are_enough_is_over_at_all_locations() -> None:
    table = ProbeTable([("a",), ("b",)], HitRange(), rows=10, is_enough=lambda place, _: place == 1)
    assert table.ends_run
    table.take_hit(0, [ProbeCell("1")], at_s=0.0)
    assert not table.is_over(0)
    table.take_hit(1, [ProbeCell("1")], at_s=0.0)
    assert table.is_all_over


@pytest.mark.parametrize(
    ("exits", "is_sure"),
    [
        ([("node", True)], True),
        ([("node != NULL", True)], True),
        ([("node is not None", True), ("not node", False)], True),
        ([("node != head", True)], False),
        ([("node", True), ("n > 50", False)], False),
        ([("n < 50", True)], False),
        ([], False),
    ],
)
def test_a_ring_is_sure_to_be_endless_where_only_its_end_would_leave_the_loop(
    exits: list[tuple[str, bool]], is_sure: bool
) -> None:
    assert ends_at_nothing("node", exits) is is_sure


@pytest.mark.parametrize(("condition", "is_ended"), [("node", True), ("node != head", False)])
async def test_a_second_run_ends_early_for_an_endless_ring_alone(
    tmp_path: Path, condition: str, is_ended: bool
) -> None:
    file = tmp_path / "ring.c"
    file.write_text(
        f"void walk(struct node *node) {{\n  while ({condition}) {{\n    node = node->next;\n"
        "  }\n}\nvoid link(struct node *a) {\n  a->next = a;\n}\n"
    )
    cycle = CycleView("node", 1, "#1 → #1", 3, "node = node->next", "node->next")
    exits = (LoopExitView(2, condition, 10, is_header=True),)
    loop = LoopView(2, f"while ({condition}) {{", (3,), exits=exits, cycle=cycle)
    shown = Hang("busy", "", frame=FrameView(0, "walk", str(file), 3), loop=loop)
    question = SimpleNamespace(
        traits=SimpleNamespace(runtime=Runtime.NATIVE), target=SimpleNamespace(cwd=str(tmp_path))
    )
    ended: list[bool] = []

    async def probe(places: Sequence[tuple[str, str]], is_enough: Any) -> Any:
        step = [place for place, _ in places].index(f"{file}:3")
        hits = [is_enough(step, turn(1, 1)) for _ in range(TURNS_MIN)] if is_enough else [False]
        ended.append(hits[-1])
        return SimpleNamespace(rows=(), places=())

    await add_writers(shown, cast("Any", question), probe)
    assert ended == [is_ended]
