"""The parts of a job are brought to the moment at which the first member fails."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from debugger.hosts.first_failure import FirstFailure
from debugger.questions.group.answer import PART_BEGUN, PART_FAILED, PART_READ


async def test_a_failure_is_held_until_the_members_of_all_others_were_read() -> None:
    failure = FirstFailure()
    waits = {label: failure.add_part(label) for label in ("h1", "h2", "h3")}
    await failure.take_reports("h1", f"{PART_BEGUN} job\n")
    assert not failure.is_known
    await failure.take_reports("h1", f"{PART_FAILED}\n{PART_READ}\n")
    assert failure.is_known
    assert [one for one, wait in waits.items() if wait.is_set()] == ["h2", "h3"]
    await failure.take_reports("h2", f"{PART_READ}\n")
    assert not waits["h1"].is_set()
    failure.end_part("h3")  # its connection broke
    assert waits["h1"].is_set()


async def test_a_part_that_joins_after_the_failure_is_interrupted_at_once() -> None:
    failure = FirstFailure()
    own = failure.add_part("here")
    await failure.take_reports("here", PART_FAILED)
    assert failure.add_part("h1").is_set()
    assert not own.is_set()


async def test_a_job_of_one_part_holds_nothing() -> None:
    failure = FirstFailure()
    own = failure.add_part("here")
    await failure.take_reports("here", f"{PART_FAILED}\n{PART_READ}")
    assert own.is_set()


REPORTS = st.sampled_from([PART_FAILED, PART_READ, "end"])


@given(st.lists(st.tuples(st.sampled_from("abc"), REPORTS), max_size=12))
async def test_no_part_waits_once_all_have_read_or_ended(reports: list[tuple[str, str]]) -> None:
    failure = FirstFailure()
    waits = {label: failure.add_part(label) for label in "abc"}
    for label, report in reports:
        if report == "end":
            failure.end_part(label)
        else:
            await failure.take_reports(label, report)
    has_failed = any(report == PART_FAILED for _, report in reports)
    assert failure.is_known is has_failed
    for label in "abc":
        failure.end_part(label)
    assert all(one.is_set() for one in waits.values()) is has_failed
