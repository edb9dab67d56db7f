"""Which member's value differs first, hit by hit."""

from __future__ import annotations

from debugger.model.group_merge import MergedValue
from debugger.output.structured import OutputStyle, RenderPage, fit_sections
from debugger.questions.group.answer import MemberProbes
from debugger.questions.group.member_differences import (
    MemberHits,
    collect_hits,
    compare_location,
    label_recordings,
)
from debugger.questions.group.render import format_member_probes
from debugger.recorders.model import (
    ProbeHit,
    ProbeSeen,
    RecordedCell,
    RecordedProcess,
    Recording,
)


def member(label: str, *values: tuple[str, ...]) -> MemberHits:
    return MemberHits(label, {0: dict(enumerate(values, 1))})


def test_what_was_the_same_and_then_differs_comes_before_what_always_differs() -> None:
    members = [
        member("0", ("0", "1.0"), ("0", "0.5"), ("0", "0.25")),
        member("1", ("1", "1.0"), ("1", "nan"), ("1", "0.25")),
        member("2", ("2", "1.0"), ("2", "0.5")),
        MemberHits("main", {}),
    ]
    found = compare_location(members, 0, "train.py:9", ("rank", "loss"))
    assert found.compared == 3
    loss, rank = found.expressions
    assert (loss.expression, loss.hit, loss.differing) == ("loss", 2, 1)
    assert loss.values == (MergedValue("0.5", ("0", "2")), MergedValue("nan", ("1",)))
    assert (rank.expression, rank.hit, rank.differing) == ("rank", 1, 3)
    assert found.counts == (MergedValue("3", ("0", "1")), MergedValue("2", ("2",)))


def test_addresses_are_no_difference() -> None:
    members = [member("0", ("<A at 0x7f0000000001>",)), member("1", ("<A at 0x7f0000000002>",))]
    assert compare_location(members, 0, "a.py:1", ("a",)).expressions[0].hit is None


def test_the_answer_says_who_came_where_and_what_differs() -> None:
    places = (
        compare_location([member("0", ("1",)), member("1", ("2",))], 0, "a.py:3", ("x",)),
        compare_location([member("0", ("1",))], 0, "a.py:4", ("x",)),
        compare_location([], 0, "a.py:5", ("x",)),
    )
    answer = MemberProbes("job", ("0", "1"), places, "exited with status 0", 1.25)
    page = RenderPage(OutputStyle.PLAIN, 100, 4000)
    assert fit_sections(format_member_probes(answer, page), page.limit).splitlines() == [
        "job: 2 members; exited with status 0, 1.25 s",
        "a.py:3: 1 hit on 0-1",
        "  x: differs first at hit 1: 1 on 0 · 2 on 1",
        "a.py:4: 1 hit on 0",
        "  x: only one member came here",
        "a.py:5: no member came here",
    ]


def test_processes_are_named_by_what_their_engine_gave_them() -> None:
    words = ("python", "-c", "from multiprocessing.resource_tracker import main;main(5)")
    processes = [
        RecordedProcess(pid=1, variables={"LOCAL_RANK": "7"}),
        RecordedProcess(pid=2, words=words),
        RecordedProcess(pid=3, variables={"RANK": "1", "LOCAL_RANK": "7"}),
        RecordedProcess(pid=4, is_fork=True, variables={"LOCAL_RANK": "7"}),
    ]
    found = label_recordings([Recording(process=one) for one in processes])
    assert [(label, one.process.pid) for label, one in found] == [("main", 1), ("1", 3), ("2", 4)]


def test_the_values_of_a_recording_are_by_location_and_hit() -> None:
    seen = ProbeSeen(0, 1, 1, 1, "/job/a.py", 3, "step")
    hit = ProbeHit(0, 1, 5, 7, (RecordedCell("1.0"),))
    found = collect_hits("0", Recording(events=(hit, seen)))
    assert found == MemberHits("0", {0: {1: ("1.0",)}}, {0: seen})
    place = compare_location([found], 0, "step", ("x",))
    assert (place.function, place.file, place.line) == ("step", "/job/a.py", 3)


def test_processes_are_numbered_as_the_system_did_not_as_their_recorders_began() -> None:
    # Sorted by the time at which a recorder began, as a run has them.
    pids = [812, 815, 813, 814]
    recordings = [Recording(RecordedProcess(pid=one, is_fork=one > 812)) for one in pids]
    named = [(label, one.process.pid) for label, one in label_recordings(recordings)]
    assert named == [("main", 812), ("1", 813), ("2", 814), ("3", 815)]


def test_a_process_that_was_killed_came_to_a_location_as_often_as_it_has_values() -> None:
    stale = ProbeSeen(0, 0, 0, 0, "/job/train.py", 9, "step")
    killed = MemberHits("1", {0: {1: ("a",), 2: ("b",)}}, {0: stale})
    assert compare_location([killed], 0, "train.py:9", ("x",)).counts == (MergedValue("2", ("1",)),)
