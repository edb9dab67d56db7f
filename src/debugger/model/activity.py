"""What a command does at the moment, for a person who waits for its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Activity:
    """What one command does; nothing at first."""

    def __init__(self) -> None:
        self.describe: Callable[[], str] = str


_current: ContextVar[Activity | None] = ContextVar("activity", default=None)


def begin_activity(activity: Activity) -> None:
    """Make an activity that of the task that calls, and of the tasks that it starts from now on."""
    _current.set(activity)


@contextmanager
def describe_activity(describe: Callable[[], str]) -> Iterator[None]:
    """Let `describe` say what the command does; it is called each time that this is shown.

    It runs in the daemon's loop: it must be quick, and must not raise.
    """
    activity = _current.get()
    if activity is None:
        yield
        return
    before, activity.describe = activity.describe, describe
    try:
        yield
    finally:
        activity.describe = before
