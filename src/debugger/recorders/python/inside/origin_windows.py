"""Decides which calls of the program's own code are recorded in full, by the number of the call.

To record a statement costs a hundred times what the statement costs. So a run has a budget of
statements. A first run records until it is used up, and from then on only counts the calls up to
the location. The next run knows the number of that call, and records the calls before it. Calls of
libraries, and generators that go on within a line, cost time and record no statement: so a number
of them counts as one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NEVER = 1 << 62
_SLACK = 100  # two runs may differ by one call in so many
_LAST_CALLS = 500  # before the end of a window, which are recorded whatever they cost
_NARROWED = 8  # the part of a window that is kept when the budget is used up
_LOOKS = 8  # in the part that a window may be narrowed to
_WATCHED_CALLS = 15_000
_KEPT_STATEMENTS = 3_000  # of a call that is recorded outside of the windows
_CALLS_OF_STATEMENT = 64  # calls of libraries that count as a statement
RESUMED_CALLS = 8  # as so many a generator counts that goes on


class CallWindows:
    """The calls of one process that are recorded."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._windows = sorted(tuple(one) for one in order["windows"])
        self._statements: int = order["statements"]
        self._import_statements: int = order["import_statements"]
        # The numbers of the calls that are recorded wherever they are.
        self.kept: frozenset[int] = frozenset(order["frames"])
        self.watched: frozenset[str] = frozenset(order["names"])
        self.begin_process()

    def begin_process(self) -> None:
        """Count from 0, as a process does that begins."""
        self.count = 0  # own calls so far
        self.unrecorded = 0  # those of them that were not recorded
        self._watched_calls = 0
        self.watches_all = True  # each write of the watched names was recorded
        self.spent = 0  # statements recorded
        self.passed = 0  # calls of libraries since the last of them that counted as a statement
        self.total = 0  # statements recorded since the beginning
        self._import_spent = 0
        self.importing = 0  # module bodies that are being imported and recorded
        self.skipped_import = 0  # the frame of an imported module that is not recorded
        self.is_used_up = False
        self._pending = list(self._windows)
        # The number of the call that the current window is about, and the one at which it ends.
        self._target = self._until = _NEVER
        self._extensions = 0
        self.is_full = not (self._windows or self.kept)
        self.border = self._pending[0][0] if self._pending else _NEVER
        self.gap = 0  # the number of the last call that was not recorded

    def record_all(self) -> dict[str, Any]:
        """Record all calls from now on; return what `restore` takes to go on as before."""
        saved = {**self.__dict__, "_pending": list(self._pending)}
        self.is_full, self.border, self._until, self.spent = True, _NEVER, _NEVER, 0
        self.importing = 0
        return saved

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on as before `record_all`, with the numbers of calls that were then."""
        self.__dict__.update(saved)

    @property
    def has_windows(self) -> bool:
        """Whether only a part of the calls is recorded from the beginning."""
        return bool(self._windows or self.kept)

    @property
    def skips_imports(self) -> bool:
        """Whether the budget of imported modules is used up."""
        return self._import_spent > self._import_statements

    def pass_border(self) -> bool:
        """Begin or end a window; True if one begins."""
        while self._until <= self.count:
            self.is_full, self._until, self.border = False, _NEVER, _NEVER
        begins = False
        while self._pending and self._pending[0][0] <= self.count:
            self._target = self._pending.pop(0)[1]
            self._until = self._target + max(self._target // _SLACK, _SLACK)
            begins = self._until > self.count
        self.is_full = begins or self.is_full
        first = self._pending[0][0] if self._pending else _NEVER
        self.border = min(first, self._until)
        return begins

    def spend_statement(self) -> bool:
        """Count a recorded statement; True if recording has to pause now."""
        self.total += 1
        if self.importing:
            self._import_spent += 1
            return self.skips_imports
        return self._spend()

    def pass_calls(self, number: int) -> bool:
        """Count calls that record no statement; True if those of a window are as many as one."""
        if not self.is_full or self.importing:
            return False
        self.passed += number
        return self.passed >= _CALLS_OF_STATEMENT

    def spend_calls(self, *, is_free: bool) -> None:
        """Count them as one statement, unless they import a library or are ours."""
        self.passed = 0
        if not is_free:
            self._spend()

    def _spend(self) -> bool:
        self.spent += 1
        if self.spent <= self._statements:
            return False
        self.spent = 0
        if self._is_near_target():
            return False
        self._narrow_window()
        return True

    def _is_near_target(self) -> bool:
        """Return whether the calls that matter most run now, which gets the budget once more."""
        is_near = self._until != _NEVER and self._target - self.count < _LAST_CALLS
        self._extensions += is_near
        return is_near and self._extensions == 1

    def _narrow_window(self) -> None:
        """Record only the end of the current window, and without one nothing more."""
        self.is_full = False
        if self._until == _NEVER:
            self.is_used_up = not self._windows
            return
        remaining = (self._target - self.count) // _NARROWED
        if remaining > 0:
            self._pending.insert(0, (self._target - remaining, self._target))
        self._until = _NEVER
        self.border = self._pending[0][0] if self._pending else _NEVER

    def watch_call(self) -> bool:
        """Count a call that is recorded for its writes of watched names; False beyond the limit."""
        self._watched_calls += 1
        self.watches_all = self._watched_calls <= _WATCHED_CALLS
        return self.watches_all

    def skip_call(self) -> None:
        """Count a call that is not recorded."""
        self.unrecorded += 1
        self.gap = self.count

    def is_kept_over(self, spent: int) -> bool:
        """Return whether a call outside of the windows has had its share of statements."""
        return spent > _KEPT_STATEMENTS

    def skip_import(self, frame: int) -> None:
        """Record nothing until an imported module's body has ended."""
        self.skipped_import, self.importing, self.is_full = frame, 0, False

    def end_skipped_import(self) -> None:
        """Record again, if the calls of now are to be recorded."""
        self.skipped_import = 0
        self.is_full = not (self.is_used_up or self.has_windows) or self._until != _NEVER


class NumberedWindows(CallWindows):
    """The same where the program's code takes the numbers itself."""

    def __init__(self, order: dict[str, Any], numbers: Any) -> None:
        self._calls = numbers
        self._recorded = 0
        self._is_ahead = False  # the call that begins is counted as recorded
        self._gap = 0
        super().__init__(order)

    @property
    def count(self) -> int:
        """The own calls so far."""
        number: int = self._calls.count
        return number

    @count.setter
    def count(self, number: int) -> None:
        """Leave it to the code, which goes on counting."""

    @property
    def unrecorded(self) -> int:
        """Those of them that were not recorded."""
        return self.count - self._recorded

    @unrecorded.setter
    def unrecorded(self, number: int) -> None:
        self._recorded = self.count - number

    @property
    def gap(self) -> int:
        """The number of the last call that was not recorded."""
        return self._gap if self.is_full else self.count

    @gap.setter
    def gap(self, number: int) -> None:
        self._gap = number

    @property
    def next_look(self) -> int:
        """The number at which a window may begin or end; one that runs may become narrower."""
        if not self.is_full or self._target == _NEVER:
            return self.border
        part = (self._target - self.count) // (_NARROWED * _LOOKS)
        return min(self.border, self.count + max(part, 1))

    def record_call(self) -> None:
        """Count a recorded call."""
        self._recorded += not self._is_ahead
        self._is_ahead = False

    def record_all(self) -> dict[str, Any]:
        """Record all calls from now on; return what `restore` takes to go on as before."""
        return {**super().record_all(), "taken": self._calls.taken}

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on as before `record_all`, with the numbers of calls that were then."""
        self._calls.pass_over(saved.pop("taken"))
        super().restore(saved)

    def pass_border(self) -> bool:
        """Begin or end a window; True if one begins."""
        before = self.count - 1
        begins = super().pass_border()
        if begins:
            self._gap = before
            self.record_call()
            self._is_ahead = True
        return begins

    def end_skipped_import(self) -> None:
        """Record again, if the calls of now are to be recorded."""
        self._gap = self.count
        super().end_skipped_import()
