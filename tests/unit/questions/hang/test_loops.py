"""The loop that a thread is in, and whether anything ends it."""

from __future__ import annotations

import pytest

from debugger.questions.hang.hang_verdict import Loop, LoopSample, find_loop

SEARCH = """int find(int *list, int low, int high)
{
    for (int round = 0; round < 9; round++) {
        prepare(list);
    }
    while (low < high) {
        int middle = (low + high) / 2;
        if (list[middle] < 5)
            low = middle;
    }
    return low;
}""".splitlines()
NESTED = """def main(rows):
    for row in range(rows):
        for column in range(9):
            total += row * column
""".splitlines()


def _loop(source: list[str], *rounds: tuple[int, dict[str, str]]) -> Loop:
    found = find_loop(source, [LoopSample(line, values) for line, values in rounds])
    assert found is not None
    return found


def test_the_loop_is_the_innermost_around_all_lines_seen() -> None:
    found = _loop(SEARCH, (7, {}), (9, {}))
    assert (found.line, found.text, found.lines) == (6, "while (low < high) {", (7, 9))


@pytest.mark.parametrize(
    ("lines", "at", "header"),
    [
        (["until done?", "  step", "  look"], (3, 4), (2, "until done?")),
        (["begin", "  step", "rescue E", "  nil", "end until done?"], (3, 6), (2, "until done?")),
        (["repeat {", "  step()", "} while busy()"], (3, 4), (2, "while busy()")),
        (["step while busy?"], (2, 2), (2, "while busy?")),
    ],
)
def test_loops_of_ruby_and_swift_are_found(
    lines: list[str], at: tuple[int, int], header: tuple[int, str]
) -> None:
    text = ["def run", *(f"  {one}" for one in lines), "end"]
    found = _loop(text, *((line, {}) for line in at))
    assert (found.line, found.text) == header


def test_a_begin_that_only_rescues_is_no_loop() -> None:
    text = ["def run", "  begin", "    step", "  rescue E", "    nil", "  end", "end"]
    assert find_loop(text, [LoopSample(3), LoopSample(5)]) is None


@pytest.mark.parametrize(
    "lines",
    [
        ["do {", "    $cursor = next();", "    if ($x) {", "    }", "} while ($cursor !== null);"],
        ["do", "{", "    $cursor = next();", "}", "while ($cursor !== null);"],
    ],
)
def test_the_condition_of_do_is_behind_its_body(lines: list[str]) -> None:
    text = ["function all() {", *(f"    {one}" for one in lines), "}"]
    turns = [(4, {"$cursor": one}) for one in ("10", "20", "30", "10")]
    found = _loop(text, *turns)
    assert (found.line, found.text) == (2, "while ($cursor !== null)")
    assert found.names == ("$cursor",)
    assert [(one.first, one.last) for one in found.changed] == [("10", "30")]


def test_what_its_condition_reads_is_told_as_the_same() -> None:
    rounds = [(line, {"tries": str(line), "low": "2", "high": "3"}) for line in (7, 8, 9)]
    found = _loop(SEARCH, *rounds)
    assert found.names == ("low", "high")
    assert dict(found.same) == {"low": "2", "high": "3"}
    assert [one.name for one in found.changed] == ["tries"]
    assert not found.is_moving


def test_a_condition_that_goes_on_in_one_direction_moves() -> None:
    found = _loop(SEARCH, *[(7, {"low": low, "high": "99"}) for low in ("1", "5", "9")])
    assert found.is_moving


@pytest.mark.parametrize("values", [("1", "5", "2"), ("1", "5", "1"), ("4", "4", "5")])
def test_one_that_goes_back_and_forth_or_hardly_at_all_does_not(values: tuple[str, ...]) -> None:
    assert not _loop(SEARCH, *[(7, {"low": low, "high": "99"}) for low in values]).is_moving


def test_an_outer_loop_that_goes_on_is_told_before_an_inner_one_that_goes_round() -> None:
    rounds = [(4, {"row": str(3 * at), "column": str(at * 5 % 7)}) for at in range(4)]
    found = _loop(NESTED, *rounds)
    assert (found.line, found.is_moving) == (2, True)


def test_an_inner_loop_that_goes_one_way_by_chance_is_not_told_for_the_outer_one() -> None:
    rounds = [(4, {"row": str(at), "column": str(8 - 3 * at)}) for at in range(3)]
    found = _loop(NESTED, *rounds)
    assert (found.line, found.is_moving) == (2, True)


def test_a_loop_on_one_line_is_found() -> None:
    found = _loop(["function f() { let n = 0; while (n < 1) { g(); } }"], (1, {"n": "0"}))
    assert (found.text, found.names) == ("while (n < 1)", ("n",))


def test_lines_in_no_loop_have_none() -> None:
    assert find_loop(SEARCH, [LoopSample(11)]) is None
    assert find_loop(SEARCH, []) is None
    assert find_loop(SEARCH, [LoopSample(99)]) is None


def test_what_a_line_does_behind_a_loops_condition_is_no_progress() -> None:
    text = ["long f(struct node *head) {", "    for (i = head; i; i = i->next) n += i->v;", "}"]
    rounds = [LoopSample(2, {"n": str(at), "i": f"0x{at % 2}"}) for at in range(5)]
    found = find_loop(text, rounds)
    assert found is not None
    assert ("n" in found.names, found.is_moving) == (False, False)
