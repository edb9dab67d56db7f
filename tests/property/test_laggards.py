"""Which members of a hanging group are not where the others wait, whatever they do."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.model.group_merge import StackPlace
from debugger.questions.group.laggards import (
    GroupVerdict,
    WaitRow,
    is_looked_at_again,
    is_settled,
    judge_waits,
)
from debugger.questions.group.member_wait import (
    CHILD,
    COMPUTES,
    ENDED,
    FAILED,
    LOCKED,
    SILENT,
    STOPPED,
    WAITS,
    Blocker,
    Meeting,
    MemberWait,
    calls_mpi,
    is_meeting,
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
        st.sampled_from(
            [None, Meeting("", (0, 1, 2), 4, "[2]"), Meeting("", (0, 1), 3), Meeting(parties=3)]
        ),
        st.sampled_from([None, 0, 1, 2]),
        st.just({"": 2}),
        st.sampled_from([(), (Blocker("1"),), (Blocker("2"), Blocker("3"))]),
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


def test_a_group_of_one_is_where_its_member_is() -> None:
    verdict = judge_waits([wait("main", place=ODD, is_main=True)])
    assert (verdict.kind, verdict.cause) == ("unknown", "main waits in Queue.get at load data.py:7")


def test_a_member_that_has_ended_is_the_one_that_a_barrier_lacks() -> None:
    there = [wait(one, meeting=Meeting(parties=3, came=2)) for one in ("0", "1")]
    main = wait("main", CHILD, ODD, is_main=True)
    verdict = judge_waits([*there, main, MemberWait("2", ENDED)])
    assert verdict.cause == (
        "2 has ended; 0-1 wait in Barrier.wait at step train.py:14: 2 of 3 are there"
    )
    assert [one.members for one in verdict.rows if one.is_laggard] == [("2",)]


def test_a_member_that_is_stopped_at_an_exception_comes_before_those_that_wait() -> None:
    raised = wait("main", STOPPED, ODD, detail="KeyError: 'missing'", is_main=True)
    verdict = judge_waits([raised, wait("1", place=None)])
    assert verdict.cause == "main is stopped in Queue.get at load data.py:7: KeyError: 'missing'"
    assert verdict.rows[0].is_laggard


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
        ("Client.gather", "client.gather(futures)", False),
        ("", "client.scatter(parts)", False),
        ("gather", "", True),
    ],
)
def test_calls_in_which_members_meet_are_known(call: str, text: str, *, meets: bool) -> None:
    place = StackPlace("step", "/job/train.py", 1, text)
    assert is_meeting(MemberWait("0", WAITS, place, call)) is meets


def rank(number: int, call: str = "all_reduce", at: int | None = 4, **more) -> MemberWait:
    meeting = Meeting("", (0, 1, 2, 3), at, "[4, 3] float32") if at is not None else None
    return MemberWait(
        str(number), more.pop("kind", WAITS), more.pop("place", MEET), call, meeting=meeting,
        rank=number, numbers={"": at or 3}, **more,
    )  # fmt: skip


LAUNCHER = MemberWait("main", WAITS, ODD, "Agent.run", is_main=True)


def test_a_rank_in_another_collective_call_lags_and_what_starts_the_ranks_does_not() -> None:
    odd = rank(2, "barrier", place=ODD)
    verdict = judge_waits([LAUNCHER, rank(0), rank(1), odd, rank(3)])
    assert verdict.cause == (
        "2 waits in barrier #4 at load data.py:7: [4, 3] float32; "
        "0-1,3 wait in all_reduce #4 at step train.py:14: [4, 3] float32"
    )
    assert [one.members for one in verdict.rows if one.is_laggard] == [("2",)]


def test_a_rank_in_no_collective_call_is_said_to_have_come_less_far() -> None:
    odd = rank(1, "", at=None, kind=COMPUTES, place=ODD)
    verdict = judge_waits([rank(0), odd, rank(2), rank(3)])
    assert verdict.cause.startswith("1 computes at load data.py:7: after 3 of the 4 calls; 0,2-3")


def test_the_same_call_at_several_lines_is_one_meeting_and_the_earlier_call_lags() -> None:
    waits = [rank(0), rank(1, place=ODD), rank(2), rank(3, at=3)]
    verdict = judge_waits(waits)
    assert [one.members for one in verdict.rows if one.is_laggard] == [("3",)]
    even = judge_waits([rank(0), rank(1), rank(2, at=3), rank(3, at=3)])
    assert [one.members for one in even.rows if one.is_laggard] == [("2", "3")]


def test_tensors_of_other_shapes_in_one_call_are_seen() -> None:
    odd = MemberWait(
        "1", WAITS, MEET, "all_reduce", meeting=Meeting("", (0, 1), 4, "[5] float32"), rank=1
    )
    verdict = judge_waits([rank(0), odd, rank(2)])
    assert "[4, 3] float32 on 0,2 · [5] float32 on 1" in verdict.cause


@pytest.mark.parametrize(("parties", "laggards"), [(3, [("2",)]), (4, [("main",), ("2",)])])
def test_the_program_is_missed_at_a_barrier_only_if_the_others_are_too_few(
    parties: int, laggards: list[tuple[str, ...]]
) -> None:
    there = Meeting(parties=parties, came=2)
    main = MemberWait(
        "main", WAITS, StackPlace("run", "/job/main.py", 3), "Queue.get", is_main=True
    )
    waits = [wait("0", meeting=there), wait("1", meeting=there), wait("2", place=ODD), main]
    verdict = judge_waits(waits)
    assert sorted(one.members for one in verdict.rows if one.is_laggard) == sorted(laggards)
    assert verdict.cause.endswith(
        f"0-1 wait in Barrier.wait at step train.py:14: 2 of {parties} are there"
    )


def test_members_that_wait_for_each_others_locks_are_a_deadlock() -> None:
    waits = [
        wait("1", place=ODD, blockers=(Blocker("2"),), detail="a lock that member 2 holds"),
        wait("2", place=ODD, blockers=(Blocker("1"),), detail="a lock that member 1 holds"),
        wait("3", place=ODD, blockers=(Blocker("1"),)),
    ]
    verdict = judge_waits(waits)
    assert verdict.kind == "deadlock"
    assert verdict.cause == (
        "deadlock: 1 waits in Queue.get at load data.py:7: a lock that member 2 holds; "
        "2 waits in Queue.get at load data.py:7: a lock that member 1 holds"
    )
    assert verdict.rows[0].members == ("1", "2")


def test_a_member_that_is_gone_is_named_where_nobody_lags() -> None:
    waits = [wait("main", CHILD, ODD, is_main=True), wait("1"), MemberWait("2", ENDED)]
    assert judge_waits(waits).cause.endswith("; 2 has ended")


def test_members_that_import_or_have_just_come_are_looked_at_again() -> None:
    def verdict(kind: str, *rows: WaitRow) -> GroupVerdict:
        return GroupVerdict(kind, "", rows)

    computes = WaitRow(("1",), COMPUTES, MEET, "solve", is_laggard=True)
    imports = WaitRow(("1",), COMPUTES, MEET, "<module>", is_laggard=True)
    waits = verdict("lagging", WaitRow(("1",), WAITS, ODD))
    assert not is_settled(waits, None)
    assert is_settled(waits, waits)
    third, fourth = (WaitRow(("1",), WAITS, MEET, f"all_reduce #{number}") for number in (3, 4))
    assert not is_settled(verdict("lagging", fourth), verdict("lagging", third))
    assert is_settled(verdict("lagging", fourth), verdict("lagging", fourth))
    alone = verdict("unknown", WaitRow(("main@h1",), WAITS, ODD))
    assert is_settled(alone, alone)
    assert not is_settled(alone, alone, may_start=True)
    failed = verdict("failed", WaitRow(("main",), FAILED))
    assert is_settled(failed, None, may_start=True)
    assert not is_settled(verdict("lagging", computes), None)
    later = WaitRow(("1",), COMPUTES, StackPlace("step", "/job/train.py", 15), "", is_laggard=True)
    assert is_settled(verdict("lagging", later), verdict("lagging", computes))
    assert not is_settled(verdict("computing", imports), verdict("computing", imports))
    starved = verdict("lagging", WaitRow(("1",), WAITS, MEET, "<module>", is_laggard=True))
    assert not is_settled(starved, starved)
    early = verdict("lagging", WaitRow(("1",), COMPUTES, None, "spawn_main", is_laggard=True))
    assert not is_settled(early, early, may_start=True)
    assert is_settled(early, early)
    assert not is_settled(verdict("unknown"), None)
    begins = verdict("together", WaitRow(("0-3",), WAITS, MEET, "PMPI_Init"))
    assert not is_settled(begins, begins)
    died = verdict("failed", WaitRow(("3",), FAILED), WaitRow(("0-2",), WAITS, MEET, "MPI_Init"))
    assert is_settled(died, died)


@pytest.mark.parametrize(
    ("row", "until_s", "works_until_s", "silent_until_s"),
    [
        # One that waits, or computes in its own function, is where it hangs.
        (WaitRow(("1",), WAITS, ODD, is_laggard=True), 0, 0, 0),
        (WaitRow(("1",), COMPUTES, MEET, "solve", is_laggard=True), 0, 0, 0),
        # What does not answer is late as long as it works itself: the others are looked at, which
        # uses a processor, too. So is what imports.
        (WaitRow(("main",), SILENT), 10, 10, 300),
        (WaitRow(("1",), COMPUTES, MEET, "<module>", is_laggard=True), 60, 300, 300),
    ],
)
def test_a_program_on_its_way_is_looked_at_as_long_as_it_works(
    row: WaitRow, until_s: int, works_until_s: int, silent_until_s: int
) -> None:
    verdict = GroupVerdict("blocked" if row.kind == SILENT else "lagging", "", (row,))
    cases = ((False, False, until_s), (True, False, works_until_s), (True, True, silent_until_s))
    for works, silent_works, until in cases:
        looked_at = [
            second
            for second in range(1, 400)
            if is_looked_at_again(
                *(verdict, verdict),
                elapsed_s=second - 0.5,
                works=works,
                silent_works=silent_works,
            )
        ]
        assert looked_at == list(range(1, until + 1))


def test_ranks_that_all_join_their_job_have_not_come_to_where_it_hangs() -> None:
    def verdict(*calls: str) -> GroupVerdict:
        return GroupVerdict(
            "together", "", tuple(WaitRow(("1",), WAITS, MEET, one) for one in calls)
        )

    for call in ("PMPI_Init", "MPI_Init_thread", "init_process_group"):
        assert not is_settled(verdict(call), verdict(call))
    missing = verdict("PMPI_Init", "PMPI_Recv")
    assert is_settled(missing, missing)


LOCKS = StackPlace("load", "/job/data.py", 20, "fcntl.flock(file, fcntl.LOCK_EX)")
SLEEPS = StackPlace("write", "/job/data.py", 30, "time.sleep(60)")


def thread(label: str, key: str, place: StackPlace | None, *to: Blocker, **more) -> MemberWait:
    return MemberWait(
        label, more.pop("kind", WAITS), place, "", thread=key, name=key, blockers=to, **more
    )


@pytest.mark.parametrize(
    ("kind", "detail", "cause"),
    [
        (STOPPED, "by a signal", "2 is stopped: by a signal"),
        (SILENT, "no answer within 3 s", "2 does not answer: no answer within 3 s"),
    ],
)
def test_a_member_without_a_line_is_named_with_the_reason(
    kind: str, detail: str, cause: str
) -> None:
    waits = [wait("1", place=ODD, blockers=(Blocker("2"),)), MemberWait("2", kind, detail=detail)]
    assert judge_waits(waits).cause.startswith(f"{cause}")


def test_the_thread_that_holds_what_a_laggard_waits_for_comes_first() -> None:
    odd = wait("2", place=LOCKS, blockers=(Blocker("3", "writer"),), detail="a lock")
    verdict = judge_waits([wait("0"), wait("1"), odd, wait("3"), thread("3", "writer", SLEEPS)])
    assert verdict.cause == (
        "3 (writer) waits at write data.py:30; 2 waits in Queue.get at load data.py:20: "
        "a lock; 0-1,3 wait in Barrier.wait at step train.py:14"
    )
    assert [(one.members, one.thread, one.is_laggard) for one in verdict.rows] == [
        (("3",), "writer", True),
        (("2",), "", True),
        (("0", "1", "3"), "", False),
    ]


def test_a_member_is_where_the_thread_is_that_its_main_thread_waits_for() -> None:
    def joins(label: str) -> list[MemberWait]:
        main = wait(label, place=StackPlace("main", "/job/train.py", 40))
        main = msgspec.structs.replace(main, call="Thread.join", blockers=(Blocker(label, "t"),))
        return [main, MemberWait(label, WAITS, MEET, "Barrier.wait", thread="t", name="trainer")]

    odd = [*joins("2")[:1], thread("2", "t", ODD)]
    verdict = judge_waits([*joins("0"), *joins("1"), *odd])
    assert verdict.kind == "lagging"
    assert (verdict.rows[0].members, verdict.rows[0].thread) == (("2",), "t")
    assert verdict.cause.endswith("; 0-1 wait in Barrier.wait at step train.py:14")


def test_a_member_without_a_meeting_that_waits_for_another_is_blocked_by_it() -> None:
    odd = wait("1", place=LOCKS, blockers=(Blocker("2"),), detail="a lock that member 2 holds")
    verdict = judge_waits([odd, MemberWait("2", WAITS, SLEEPS)])
    assert (verdict.kind, verdict.rows[0].members) == ("blocked", ("2",))
    assert verdict.cause == (
        "2 waits at write data.py:30; "
        "1 waits in Queue.get at load data.py:20: a lock that member 2 holds"
    )


def test_a_program_that_joins_what_still_writes_to_it_is_a_deadlock() -> None:
    # Each of two processes ends once its queue's thread has written; nobody reads.
    waits = [wait("main", CHILD, ODD, is_main=True, blockers=(Blocker("1"),))]
    for label, other in (("1", "2"), ("2", "1")):
        readers = [Blocker(one, is_possible=True) for one in ("main", other)]
        waits.append(wait(label, place=None, blockers=(Blocker(label, "feeder"),)))
        waits.append(thread(label, "feeder", None, *readers))
    verdict = judge_waits(waits)
    assert verdict.kind == "deadlock"
    # A line of the program's own comes before the library's threads.
    assert verdict.cause.startswith("deadlock: main waits in Queue.get at load data.py:7; ")
    assert verdict.rows[0].members == ("main",)
    # Any thread that does not wait for one of them might read.
    free = judge_waits([*waits, thread("main", "reader", SLEEPS)])
    assert free.kind != "deadlock"


def test_a_thread_of_its_own_that_could_read_what_a_member_writes_is_no_deadlock() -> None:
    waits = [
        wait("1", place=ODD, blockers=(Blocker("2", is_possible=True),), has_both_ends=True),
        wait("2", place=ODD, blockers=(Blocker("1"),)),
    ]
    assert judge_waits(waits).kind == "deadlock"
    assert judge_waits([*waits, thread("1", "reader", SLEEPS)]).kind != "deadlock"


def test_of_those_that_could_read_a_pipe_the_one_that_waits_for_nobody_comes_first() -> None:
    readers = [Blocker(one, is_possible=True) for one in ("main", "1", "2")]
    verdict = judge_waits(
        [
            wait("main", CHILD, ODD, is_main=True, blockers=(Blocker("1"),)),
            wait("1", place=LOCKS, blockers=tuple(readers)),
            wait("2", place=SLEEPS),
        ]
    )
    assert (verdict.kind, verdict.rows[0].members) == ("blocked", ("2",))


def test_members_that_wait_for_each_other_come_before_the_program_that_joins_them() -> None:
    waits = [wait("main", CHILD, ODD, is_main=True, blockers=(Blocker("1"),))]
    for label, other in (("1", "2"), ("2", "1")):
        others = [Blocker(one, is_possible=True) for one in ("main", other)]
        waits.append(wait(label, place=LOCKS, blockers=tuple(others)))
    verdict = judge_waits([*waits, wait("3", ENDED)])
    assert (verdict.kind, verdict.rows[0].members) == ("deadlock", ("1", "2"))
    assert verdict.cause.endswith("; 3 has ended")


def test_every_place_where_a_member_is_elsewhere_is_named_one_in_a_smaller_meeting_last() -> None:
    row = MemberWait("2", WAITS, LOCKS, "PMPI_Barrier(row)")
    verdict = judge_waits([wait("0"), wait("1"), row, wait("3", place=ODD)])
    assert verdict.cause == (
        "3 waits in Queue.get at load data.py:7; "
        "2 waits in PMPI_Barrier(row) at load data.py:20; "
        "0-1 wait in Barrier.wait at step train.py:14"
    )


def test_members_that_keep_the_interpreters_lock_are_where_most_wait() -> None:
    locked = [MemberWait(label, WAITS, call=LOCKED) for label in ("0", "1", "3")]
    verdict = judge_waits([*locked, wait("2", place=MEET)])
    assert verdict.rows[0].members == ("2",)


def test_the_roots_of_a_collective_call_are_named_where_they_differ() -> None:
    roots = [
        MemberWait(label, WAITS, MEET, "PMPI_Bcast", detail=f"root {root}")
        for label, root in (("0", 0), ("1", 0), ("2", 1))
    ]
    verdict = judge_waits(roots)
    assert verdict.cause == (
        "0-2 wait in PMPI_Bcast at step train.py:14: root 0 on 0-1 · root 1 on 2, "
        "and no member is elsewhere"
    )


@pytest.mark.parametrize(
    "call",
    ["PMPI_Win_fence", "PMPI_Comm_dup", "PMPI_File_write_all", "ompi_mpi_finalize", "MPI_Scan"],
)
def test_members_meet_in_every_call_of_mpi_that_all_ranks_make(call: str) -> None:
    missing = MemberWait("1", WAITS, ODD, "PMPI_Recv")
    verdict = judge_waits([MemberWait("0", WAITS, MEET, call), missing])
    assert verdict.rows[0].members == ("1",)


def test_who_wait_for_a_manager_come_first_and_not_the_manager() -> None:
    server = Blocker("SyncManager-1", is_possible=True)
    verdict = judge_waits(
        [
            MemberWait("SyncManager-1", WAITS, None, "Condition.wait"),
            wait("2", place=LOCKS, blockers=(server,)),
            wait("3", place=ODD, blockers=(server,)),
            wait("main", CHILD, SLEEPS, is_main=True, blockers=(Blocker("2"),)),
        ]
    )
    assert verdict.cause == (
        "2 waits in Queue.get at load data.py:20; 3 waits in Queue.get at load data.py:7"
    )
    assert [one.members for one in verdict.rows if one.is_laggard] == [("2",), ("3",)]


def test_the_process_that_the_program_waits_for_is_named_where_nobody_meets() -> None:
    main = wait("main", CHILD, ODD, is_main=True, blockers=(Blocker("pid7"),))
    verdict = judge_waits([main, wait("pid7", place=LOCKS)])
    assert (verdict.kind, verdict.rows[0].members) == ("blocked", ("pid7",))
    assert judge_waits([main, wait("pid7", COMPUTES, LOCKS)]).kind == "computing"


def test_a_member_that_died_comes_before_threads_that_nobody_ends() -> None:
    verdict = judge_waits(
        [
            wait("1", place=None, blockers=(Blocker("main"),)),
            MemberWait("main", WAITS, None, "Connection._recv", is_main=True),
            MemberWait("pid9", FAILED, detail="ended with status 3"),
        ]
    )
    assert verdict.rows[0].members == ("pid9",)


def test_ranks_that_keep_the_interpreters_lock_are_where_the_others_are_missed() -> None:
    ranks = [MemberWait(one, WAITS, call=LOCKED) for one in "013"]
    verdict = judge_waits([*ranks, MemberWait("2", WAITS, ODD)])
    assert verdict.cause == (
        "2 waits at load data.py:7; 0-1,3 wait in compiled code that holds the interpreter's lock"
    )


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("comm.recv(source=1, tag=9)", True),
        ("data = comm.Recv(buffer)", True),
        ("comm.Barrier()", True),
        ("comm.Ibcast(data).Wait()", True),
        ("MPI.Request.Waitall(requests)", True),
        ("comm.sendrecv(mine, dest=1)", True),
        ("received(1)", False),
        ("comm.Get_rank()", False),
        ("total += step(3)", False),
    ],
)
def test_the_methods_of_mpi4py_that_wait_are_known(text: str, *, waits: bool) -> None:
    assert calls_mpi(text) is waits


TASK = StackPlace("resize", "/job/tasks.py", 9, "time.sleep(1)")
# A process of a pool that waits for work in its engine's code: its other end is the engine's.
IDLE = {"place": None, "blockers": (Blocker("main", is_possible=True),)}


@pytest.mark.parametrize("own", [None, ODD])
@pytest.mark.parametrize("kind", [WAITS, COMPUTES])
def test_the_task_of_an_engine_is_named_and_not_who_waits_for_work(
    kind: str, own: StackPlace | None
) -> None:
    main = wait("main", place=own, is_main=True)
    queued = wait("4", place=None, blockers=(Blocker("3"),))  # for the lock of a pool's queue
    idle = [wait("1", **IDLE), wait("3", **IDLE), queued]
    verdict = judge_waits([main, wait("2", kind, TASK), *idle])
    assert [one.members for one in verdict.rows if one.is_laggard] == [("2",)]
    assert verdict.cause.startswith("2 ")
    assert " tasks.py:9" in verdict.cause


def test_what_a_task_waits_for_comes_first_where_it_is_known() -> None:
    task = wait("2", place=TASK, blockers=(Blocker("3"),))
    holder = wait("3", place=ODD)
    verdict = judge_waits([wait("main", place=None, is_main=True), wait("1", **IDLE), task, holder])
    assert [one.members for one in verdict.rows if one.is_laggard] == [("3",)]


def test_a_thread_in_own_code_tells_more_than_one_of_a_library() -> None:
    threads = [
        MemberWait("1", WAITS, None, "EpollSelector.select", thread="a"),
        wait("1", thread="b", **IDLE),
        MemberWait("1", WAITS, TASK, "", thread="c", name="thread worker"),
    ]
    verdict = judge_waits([wait("main", place=ODD, is_main=True), *threads, wait("2", **IDLE)])
    (first, *others) = verdict.rows
    assert (first.members, first.thread, first.is_laggard) == (("1",), "thread worker", True)
    assert not any(one.is_laggard for one in others)


@pytest.mark.parametrize(
    ("rows", "works", "is_again"),
    [
        ([WaitRow(("main",), WAITS, MEET), WaitRow(("log",), WAITS)], True, True),
        ([WaitRow(("main",), WAITS, MEET), WaitRow(("log",), COMPUTES)], True, True),
        ([WaitRow(("main",), WAITS, MEET), WaitRow(("log",), WAITS)], False, False),
        ([WaitRow(("main",), WAITS, MEET), WaitRow(("1",), WAITS, TASK)], True, False),
        ([WaitRow(("main",), WAITS, MEET)], True, False),
    ],
)
def test_an_engine_may_still_start_the_processes_of_its_tasks(
    rows: list[WaitRow], *, works: bool, is_again: bool
) -> None:
    verdict = GroupVerdict("unknown", "", tuple(rows))
    assert is_looked_at_again(verdict, verdict, elapsed_s=30, works=works) is is_again
    assert not is_looked_at_again(verdict, verdict, elapsed_s=61, works=works)
