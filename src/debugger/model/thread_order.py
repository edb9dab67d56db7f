"""Numbers the threads of a program by the order in which they come to a location. Pure."""

from __future__ import annotations


class ThreadOrder:
    """The threads of one run: 1 is the first that came.

    The system gives a thread another number in each run; a filter by `--thread N` needs one that
    means the same in the next run.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def number_of(self, thread: int | None) -> int | None:
        """Return a thread's number; the next one for a thread that has not come before."""
        if thread is None:
            return None
        return self._numbers.setdefault(thread, len(self._numbers) + 1)
