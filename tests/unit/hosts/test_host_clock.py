"""The clock of a host is known within bounds, which each answer narrows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from debugger.hosts.host_clock import read_clock

DELAYS = st.floats(0, 5)


@given(
    st.floats(-1e6, 1e6),
    st.floats(-2e-4, 2e-4),
    st.lists(st.tuples(DELAYS, DELAYS, st.floats(0, 100)), min_size=1, max_size=6),
)
def test_the_true_difference_is_always_within_the_bounds(
    shift_s: float, drift: float, ways: list[tuple[float, float, float]]
) -> None:
    now, known = 1000.0, None
    for there_s, back_s, pause_s in ways:
        read_at = now + there_s
        ticks = read_at - shift_s - drift * (read_at - 1000.0)
        reading = read_clock(now, ticks, read_at + back_s)
        known = reading if known is None else known.narrow(reading)
        now = read_at + back_s
        true_s = shift_s + drift * (now - 1000.0)
        assert known.least_s - 0.002 <= true_s <= known.most_s + 0.002
        assert known.error_s <= reading.error_s + 1e-6
        now += pause_s


def test_a_quick_answer_narrows_what_a_slow_connection_left_open() -> None:
    slow = read_clock(10.0, 500.0, 14.0)
    quick = read_clock(14.0, 502.01, 14.02)
    assert (slow.shift_s, slow.error_s) == (-488.0, 2.0)
    known = slow.narrow(quick)
    assert abs(known.shift_s - -488.0) < 0.02
    assert known.error_s <= 0.0101


def test_a_clock_that_was_set_is_read_again() -> None:
    before = read_clock(10.0, 10.0, 10.1)
    after = read_clock(20.0, 80.0, 20.1)
    assert before.narrow(after) == after
