"""The functions below a loop that return the same values over and over are found."""

from __future__ import annotations

import msgspec

from debuggees import PROGRAMS
from debugger.questions.hang.answer import RepeatedReturnView
from debugger.questions.hang.repeated_returns import find_period, find_return_sites, rank_returns
from debugger.questions.hang.thread_sampling import SampledFrame

VM = str(PROGRAMS / "hang" / "vm.c")
LINES = (PROGRAMS / "hang" / "vm.c").read_text(encoding="utf-8").splitlines()


def line_with(part: str) -> int:
    (found,) = [number for number, one in enumerate(LINES, 1) if part in one]
    return found


def test_the_values_from_the_last_one_back_have_a_period() -> None:
    assert find_period(["9", "8", "1", "2", "3", "1", "2", "3", "1"]) == 3
    assert find_period(["1", "1", "1"]) == 1
    assert find_period(["1", "2", "1"]) == 0
    assert find_period(["1", "2", "3", "4"]) == 0
    assert find_period([]) == 0


def test_return_statements_below_the_loop_are_found_also_of_functions_too_short_to_be_seen() -> (
    None
):
    loop = SampledFrame("run", VM, line_with("for (;;)"), is_own=True)
    inner = SampledFrame("next_key", VM, line_with("at++;"), is_own=True)
    outside = SampledFrame("main", VM, line_with('printf("%d'), is_own=True)
    found = find_return_sites([[inner, loop, outside]], loop, {VM: LINES})
    named = {one.function: {each.value for each in found if each.function == one.function}
             for one in found}  # fmt: skip
    # What is outside of the loop, and the loop's own function, are not below it.
    assert named == {"next_key": {"at"}, "find_index": {"SLOTS", "key - 3", "key"}}
    assert {one.function: one.depth for one in found} == {"next_key": 1, "find_index": 2}
    # What varies is watched rather than a constant.
    assert found[-1].value == "SLOTS"


def test_what_comes_round_is_ranked_before_what_is_always_the_same_and_progress_is_left_out() -> (
    None
):
    sites = [
        RepeatedReturnView(name, "vm.c", at, f"return {name};", name, depth=at)
        for at, name in enumerate(("same", "turns", "grows", "rare"))
    ]
    passed = [["7"] * 6, ["1", "2"] * 3, list("123456"), ["1"]]
    found = rank_returns(sites, passed, [6, 6, 6, 1])
    assert [(one.function, one.period, one.times) for one in found] == [
        ("turns", 2, 6),
        ("same", 1, 6),
    ]
    assert msgspec.structs.replace(found[0], values=()).text == "return turns;"
