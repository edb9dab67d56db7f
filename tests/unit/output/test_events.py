"""Texts of events: calls with durations, crashes, omissions."""

from __future__ import annotations

from typing import Any

import pytest

from debugger.cli.answer_text import format_answer
from debugger.model.answers import CrashNote, Events, EventView, Output, OutputLine
from debugger.output import OutputStyle


def event(seq: int, kind: str, words: str, **more: Any) -> EventView:
    known = {"time_ns": seq * 1000, "session": "s", "thread": 4, "data": {}} | more
    return EventView(seq=seq, kind=kind, text=words, **known)


def answer_lines(answer: Any, budget: int = 1000) -> list[str]:
    return format_answer(answer, budget=budget, style=OutputStyle.PLAIN, width=80).splitlines()


def page(*events: EventView, **more: Any) -> Events:
    known = {"next": 99, "dropped": 0, "total": len(events)} | more
    return Events(events=events, **known)


def test_a_call_is_told_in_a_line_with_its_duration_and_thread() -> None:
    place = {"function": "add", "file": "/src/add.c", "line": 3}
    back = {"returned": "3", "duration_ns": 1_250_000, "trace": 1}
    shown = answer_lines(
        page(
            event(1, "function_enter", "add(a=1, b=2)", **place),
            event(2, "function_exit", "add → 3", data=back, **place),
        )
    )
    assert shown == [
        "1 +0.000000s function_enter add(a=1, b=2) (add.c:3, thread 4)",
        "2 +0.000001s function_exit add → 3 in 1.25ms (add.c:3, thread 4)",
    ]


@pytest.mark.parametrize(
    ("duration_ns", "words"),
    [(0, "0ns"), (999, "999ns"), (1500, "1.5us"), (2_000_000, "2ms"), (61_000_000_000, "61s")],
)
def test_a_duration_has_the_unit_that_a_filter_takes(duration_ns, words) -> None:
    (line,) = answer_lines(
        page(event(1, "function_exit", "f → 0", data={"duration_ns": duration_ns}))
    )
    assert f" in {words} " in line


def test_a_call_that_was_before_the_event_above_it_says_so() -> None:
    shown = answer_lines(
        page(event(1, "stop", "", time_ns=5000), event(2, "function_enter", "f()"))
    )
    assert shown[1].startswith("2 -0.000003s ")


def test_more_events_than_were_counted_are_said_to_be_more() -> None:
    one = event(7, "stop", "here")
    assert answer_lines(page(one, total=10_000, total_is_least=True))[-1] == (
        "… at least 9,999 more events: debugger events --since 99"
    )
    assert answer_lines(page(one, total=10_000, earlier=9_999, total_is_least=True))[0] == (
        "… at least 9,999 earlier events: debugger events --since 0"
    )
    assert "least" not in "".join(answer_lines(page(one, total=10_000)))


def test_a_crash_is_told_with_its_stack_and_locals_within_bounds() -> None:
    frame = {"index": 0, "function": "f", "file": "/src/a.c", "line": 3}
    local = {"name": "p", "value": "0x0", "type": "int *"}
    data = {"stack": [frame] * 20, "locals": [local] * 30}
    head, stack, values = answer_lines(page(event(1, "crash", "SIGSEGV", data=data)))
    assert head == "1 +0.000s crash SIGSEGV (thread 4)"
    assert stack.startswith("  stack: #0 f a.c:3 · #0 f a.c:3")
    assert stack.endswith("… 12 more: --json")
    assert values.startswith("  locals: p=0x0 p=0x0")
    assert values.endswith("… 20 more: --json")


CRASH = CrashNote(
    "SIGSEGV", "signal SIGSEGV", 4, 9, address="0x10", function="f", file="/a.c", line=3
)


def test_an_answer_after_a_crash_says_so_in_a_line() -> None:
    line = "crashed: SIGSEGV at 0x10 in f a.c:3 (debugger events --kind crash)"
    assert answer_lines(page(event(1, "stop", "here"), crash=CRASH))[0] == line
    assert answer_lines(page(crash=CRASH)) == [line, "no events"]
    said = OutputLine("stdout", "hello", 1)
    assert answer_lines(Output(lines=(said,), dropped=0, total=1, crash=CRASH)) == ["hello", line]
    assert answer_lines(Output(lines=(), dropped=0, crash=CRASH)) == ["no new output", line]


def test_a_crash_of_which_little_is_known_is_told_all_the_same() -> None:
    shown = answer_lines(page(crash=CrashNote(None, "bad access", None, 1)))
    assert shown[0] == "crashed: bad access (debugger events --kind crash)"


@pytest.mark.parametrize("budget", [10, 30, 100])
def test_calls_stay_within_the_budget(budget) -> None:
    calls = [event(at, "function_enter", "f(" + "x" * 300 + ")") for at in range(1, 60)]
    shown = answer_lines(page(*calls, crash=CRASH), budget)
    assert len("\n".join(shown)) <= 4 * budget
