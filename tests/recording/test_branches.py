"""Counted blocks become counts of addresses and branches, which are compared between runs."""

from __future__ import annotations

import struct

from debugger.recorders.branch_outcomes import DivergingBranch, find_diverging_branches
from debugger.recorders.counted_recording import CoveredFunction, make_recording
from debugger.recorders.go.go_cover import CoverBlock, read_covered
from debugger.recorders.model import BranchCount, RecordedProcess, Recording
from debugger.recorders.native.block_counts import AddressCounts, JumpCount, parse_blocks


def record(*words: int, jump: int = 0, least: int = 0, greatest: int = 0, bits: int = 0) -> bytes:
    address, size, count, taken, target, returns = words
    return struct.pack(
        "<QIIQQQQiiQ",
        *(address, size, jump, count, taken, target, returns, least, greatest, bits),
    )


def block_file(*records: bytes) -> bytes:
    return struct.pack("<Q56x", len(records)) + b"".join(records)


def test_an_address_ran_as_often_as_all_blocks_around_it() -> None:
    data = block_file(record(0x10, 8, 5, 0, 0, 0), record(0x14, 4, 2, 0, 0, 0))
    counts = AddressCounts(parse_blocks(data, 10))
    assert [counts.count_at(at) for at in (0xF, 0x10, 0x13, 0x14, 0x17, 0x18)] == [0, 5, 5, 7, 7, 0]
    assert [counts.first_at(at) for at in (0xF, 0x10, 0x14, 0x18)] == [0, 1, 2, 0]


def test_the_jump_of_several_blocks_is_counted_once() -> None:
    first = record(0x10, 8, 5, 4, 0x40, 0, jump=7)
    middle = record(0x14, 4, 3, 1, 0x40, 0, jump=3)
    counts = AddressCounts(parse_blocks(block_file(first, middle), 10))
    assert counts.jumps == [JumpCount(0x16, 0x40, 0x18, 5, 3)]


def test_records_beyond_the_file_and_blocks_that_never_ran_are_none() -> None:
    data = block_file(record(0x10, 8, 5, 0, 0, 1, least=-2, greatest=70, bits=0b1001))
    (one,) = parse_blocks(data[:8] + data[8:] + record(0x20, 1, 0, 0, 0, 0), 10)
    assert (one.least, one.greatest, sorted(one.results), one.is_return) == (-2, 70, [0, 3], True)
    assert parse_blocks(struct.pack("<Q56x", 9), 10) == []


def counted_run(**branches: tuple[int, int]) -> list[Recording]:
    covered = [
        CoveredFunction(
            name, "f.c", at, 1, branches=(BranchCount(at, 1, (at + 1, at + 2), times, first=at),)
        )
        for at, (name, times) in enumerate(branches.items(), 1)
    ]
    return [make_recording(covered, RecordedProcess())]


def names_of(found: tuple[DivergingBranch, ...]) -> list[str]:
    return [one.place.function for one in found]


def test_branches_that_went_opposite_ways_come_before_those_that_once_went_otherwise() -> None:
    bad = counted_run(once=(7, 1), same=(3, 4), opposite=(2, 0), alone=(1, 0))
    good = counted_run(once=(9, 0), same=(8, 1), opposite=(0, 3))
    found = find_diverging_branches([bad], [good])
    assert names_of(found) == ["opposite", "once"]
    assert (found[0].only_failing, found[0].only_passing) == (0, 1)
    assert (found[1].only_failing, found[1].only_passing) == (1, None)


def test_the_branches_of_several_runs_are_summed() -> None:
    bad, good = counted_run(a=(1, 0), b=(1, 0)), counted_run(a=(0, 1), b=(0, 1))
    other = counted_run(a=(0, 2), b=(1, 0))
    assert names_of(find_diverging_branches([bad], [good, other])) == ["a", "b"]
    found = find_diverging_branches([bad], [good, other])
    assert [one.passing for one in found] == [(0, 3), (1, 1)]


GO = """\
package main
func rate(n int) int {
	n++
	if n > 3 {
		return 1
	} else if n > 2 {
		return 2
	}
	for n < 9 {
		n++
	}
	return n
}
""".splitlines()


def test_conditions_of_go_are_counted_by_the_blocks_around_their_braces() -> None:
    blocks = [
        CoverBlock((2, 22), (4, 11), 7),
        CoverBlock((4, 11), (5, 11), 2),
        CoverBlock((6, 9), (6, 18), 5),
        CoverBlock((6, 18), (7, 11), 1),
        CoverBlock((9, 2), (9, 12), 4),
        CoverBlock((9, 12), (10, 6), 4),
        CoverBlock((12, 2), (12, 10), 4),
    ]
    (one,) = read_covered("rate.go", blocks, GO)
    assert one.branches == (
        BranchCount(4, 1, (5, 0), (2, 5), is_condition=True),
        BranchCount(6, 1, (7, 0), (1, 4), is_condition=True),
    )
