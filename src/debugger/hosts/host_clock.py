"""Compares the clock of a host with this machine's, within bounds that are known. Pure.

Clocks of machines differ, and a message takes its time: of a clock that was read between a question
and its answer it is certain only that it was read in that time. Each answer narrows what is known.
"""

from __future__ import annotations

from msgspec import Struct

# Two clocks that NTP adjusts go apart by at most 500 millionths each.
_DRIFT = 1e-3


class HostClock(Struct, frozen=True):
    """What is to be added to a host's monotonic clock for the same moment here, in seconds."""

    least_s: float
    most_s: float
    # When that was known, by this machine's clock.
    at_s: float

    @property
    def shift_s(self) -> float:
        """The middle of what it may be."""
        return (self.least_s + self.most_s) / 2

    @property
    def error_s(self) -> float:
        """By how much the middle may be wrong."""
        return (self.most_s - self.least_s) / 2

    def narrow(self, reading: HostClock) -> HostClock:
        """Return what is known with another reading, after which the clocks may have gone apart."""
        drift_s = _DRIFT * max(0.0, reading.at_s - self.at_s)
        least_s = max(self.least_s - drift_s, reading.least_s)
        most_s = min(self.most_s + drift_s, reading.most_s)
        # Where both cannot be, one of the clocks has been set: a machine that slept.
        return HostClock(least_s, most_s, reading.at_s) if least_s <= most_s else reading


def read_clock(sent_s: float, ticks_s: float, received_s: float) -> HostClock:
    """Return what a host's clock says that was read between a message and its answer."""
    return HostClock(sent_s - ticks_s, received_s - ticks_s, received_s)
