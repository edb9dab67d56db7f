"""Which members of a hanging group are not where the others wait, whatever they do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.model.group_merge import StackPlace
from debugger.questions.group.laggards import (
    CHILD,
    COMPUTES,
    ENDED,
    FAILED,
    SILENT,
    STOPPED,
    WAITS,
    MemberWait,
    is_meeting,
    judge_waits,
)

MEET = StackPlace("step", "/job/train.py", 14, "barrier.wait()")
ODD = StackPlace("load", "/job/data.py", 7, "queue.get()")
KINDS = [WAITS, COMPUTES, CHILD, STOPPED, FAILED, ENDED, SILENT]
ANY_WAITS = st.lists(
    st.builds(
        MemberWait,
        st.integers(0, 200).map(str),
        st.sampled_from(KINDS),
        st.sampled_from([None, MEET, ODD]),
        st.sampled_from(["", "Barrier.wait", "Queue.get"]),
        st.sampled_from(["", "ended by SIGKILL"]),
        st.booleans(),
    ),
    unique_by=lambda one: one.label,
    max_size=30,
)


def wait(label: str, kind: str = WAITS, place: StackPlace | None = MEET, **more) -> MemberWait:
    call = "Barrier.wait" if place is MEET else "Queue.get"
    return MemberWait(label, kind, place, call, **more)


@given(ANY_WAITS)
def test_each_member_is_in_one_row_and_laggards_come_first(waits: list[MemberWait]) -> None:
    verdict = judge_waits(waits)
    rows = verdict.rows
    assert sorted(label for one in rows for label in one.members) == sorted(
        one.label for one in waits
    )
    marks = [one.is_laggard for one in rows]
    assert marks == sorted(marks, reverse=True)
    assert verdict.cause


def test_the_member_that_is_not_at_the_barrier_is_named_with_its_line() -> None:
    verdict = judge_waits([wait("0"), wait("1"), wait("2", place=ODD), wait("3")])
    assert verdict.kind == "lagging"
    assert verdict.cause == (
        "2 waits in Queue.get at load data.py:7; 0-1,3 wait in Barrier.wait at step train.py:14"
    )
    assert verdict.rows[0].members == ("2",)


def test_a_barrier_counts_more_than_a_place_where_more_members_wait() -> None:
    verdict = judge_waits([wait("0"), *(wait(str(rank), place=ODD) for rank in range(1, 5))])
    assert verdict.rows[0].members == ("1", "2", "3", "4")


def test_a_computing_member_comes_before_one_that_waits_elsewhere() -> None:
    waits = [wait("0"), wait("1"), wait("2", place=ODD), wait("3", COMPUTES, ODD)]
    assert judge_waits(waits).cause.startswith("3 computes in Queue.get")


def test_the_member_that_died_is_named_with_how_it_ended_and_who_waits() -> None:
    dead = MemberWait("2", FAILED, detail="ended by SIGKILL")
    verdict = judge_waits([wait("0"), wait("1"), dead, wait("main", CHILD, ODD, is_main=True)])
    assert verdict.kind == "failed"
    assert verdict.cause == "2 ended by SIGKILL; 0-1 wait in Barrier.wait at step train.py:14"


def test_a_program_that_waits_for_its_processes_lags_behind_none() -> None:
    verdict = judge_waits([wait("0"), wait("1"), wait("main", CHILD, ODD, is_main=True)])
    assert verdict.kind == "together"
    assert not any(one.is_laggard for one in verdict.rows)


def test_members_that_only_compute_are_said_to_compute() -> None:
    verdict = judge_waits([wait("0", COMPUTES), wait("1", COMPUTES)])
    assert (verdict.kind, verdict.cause) == ("computing", "0-1: computing, at no wait")


@pytest.mark.parametrize(
    ("call", "text", "meets"),
    [
        ("Barrier.wait", "", True),
        ("all_reduce", "", True),
        ("PMPI_Allreduce", "", True),
        ("MPI_Barrier", "", True),
        ("PMPI_Recv", "", False),
        ("Queue.get", "queue.get()", False),
        ("", "comm.Barrier()", True),
        ("", "total = comm.allreduce(part)", True),
        ("", "comm.bcast(data, root=0)", True),
        ("", "comm.recv(source=1)", False),
        ("", "reduced = load()", False),
        ("Event.wait", "ready.wait()", False),
    ],
)
def test_calls_in_which_members_meet_are_known(call: str, text: str, *, meets: bool) -> None:
    place = StackPlace("step", "/job/train.py", 1, text)
    assert is_meeting(MemberWait("0", WAITS, place, call)) is meets
