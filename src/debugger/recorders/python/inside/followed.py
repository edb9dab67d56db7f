"""Finds the statement after which an invariant is false, between two of its checks.

From the last good check on (or from the construction of the object), the invariant is evaluated
after each line of the program's own code. It is read in the frame of the check while that frame
runs, and otherwise of the objects that the check had. Of an invariant that takes long, only some
lines are followed by an evaluation, ever fewer; a further run then evaluates it between two of
these alone.
"""

from __future__ import annotations

from _thread import get_ident
from collections import deque
from time import perf_counter_ns as now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_OUTWARD = 60  # frames in which the frame of the check is searched
_EXACT_NS = 500_000_000  # of evaluations; then lines are skipped
_PASSED = 60  # last lines of a call that are kept
_SITES = 40  # lines of a call whose last callee is kept


class StatementFollower:
    """Follows one invariant of one process, and keeps its last change from true to false."""

    def __init__(self, recorder: Any, order: dict[str, Any], write: Any, parts: Any) -> None:
        self._recorder = recorder
        self._write = write
        self._parts = parts
        self._number: int = order["expression"]
        self._start: int = order["start"]
        self._end: int = order["end"]
        self._type: str = order["type"]
        self._ordinal: int = order["ordinal"]
        self._name: str = order["name"]
        self._most: int = order["steps"]
        # The part of the window that is evaluated: after this step, up to that one; 0: all of it.
        self._first_step: int = order["first_step"]
        self._last_step: int = order["last_step"]
        self._expression = recorder.expressions[self._number]
        self.is_active = self.is_over = False
        self.on_start: Any = None  # the event source's, which then reports each line
        self._home = 0  # the frame of the check
        self._home_code: Any = None
        self._roots: dict[str, Any] = {}
        self._scalars = False
        self._globals: Any = None
        self._state: bool | None = None
        self._values: list[list[str]] = []
        self._change: dict[str, Any] | None = None
        self._changes = self._steps = 0
        self._spent_ns = self._gap = self._wait = 0  # evaluations, and the lines to skip
        self._known_step = 0  # the step of the last state
        self._has_skipped = False  # lines since then
        self._between = [0, 0]  # the steps of a change that skipped lines may have made
        self._locals: list[list[str]] = []  # plain variables at the good check
        self._passed: dict[int, deque[int]] = {}  # lines of the calls under way
        self._callees: dict[int, dict[int, list[Any]]] = {}  # their last callee at each line
        self._last: dict[int, tuple[int, str, str, int]] = {}  # by thread: the line that runs
        self._latest = 0  # the thread of the last event
        self._threads: set[int] = set()

    def end(self) -> None:
        """Report a run that did not come to the false check."""
        if not self.is_over:
            self._report(is_reached=False, visit=0, state=self._state)

    def constructed(
        self, kind: str, ordinal: int, own: Any, code: CodeType, frame: FrameType
    ) -> None:
        """Begin at the construction of the object, if the order names it."""
        if not self._start and kind == self._type and ordinal == self._ordinal:
            self._begin({self._name: own}, frame)
            if self._name not in code.co_varnames:
                self._home = 0  # the constructor has another name for it

    def checked(
        self, visit: int, names: dict[str, Any], frame: FrameType, *, is_exit: bool = False
    ) -> None:
        """Handle a check: begin after the good one, end at the false one."""
        if self.is_over:
            return
        if self.is_active or visit >= self._end:
            is_true, error = self._recorder.truth(self._expression, names, frame)
            # Threads may come to it at another visit: the first false check is the one to explain.
            if not error and not is_true:
                self.is_over = True
                if self.is_active and self._has_skipped and self._is_in_part():
                    self._evaluate(frame, is_other=False)  # of the lines skipped last
                self._report(
                    is_reached=True,
                    visit=visit,
                    state=self._state,
                    is_same=all(
                        names.get(name) is one
                        for name, one in self._roots.items()
                        if id(type(one)) not in self._parts.SCALARS
                    ),
                    at=self._recorder.operand_texts(self._number, names, frame),
                    plain=self._recorder.plain_locals(names),
                )
                self.is_active = False
            return
        if visit == self._start:
            self._begin(names, frame)
            if is_exit:
                self._end_call(frame)

    def _begin(self, names: dict[str, Any], frame: FrameType) -> None:
        values = {one: names[one] for one in self._expression.names if one in names}
        self._roots = values
        scalars = self._parts.SCALARS
        self._scalars = any(id(type(one)) in scalars for one in values.values())
        self._home, self._home_code = id(frame), frame.f_code
        self._globals = frame.f_globals
        self._state, _, self._values = self._read_state(frame)
        self._locals = self._recorder.plain_locals(names)
        self._recorder.write_record("begun", {"plain": self._locals})
        self.is_active = True
        self._set_line(frame)
        if self.on_start is not None:
            self.on_start(frame)

    # -- the program's lines -----------------------------------------------------------------------

    def line(self, frame: FrameType) -> None:
        """Handle the start of a line: the line before it has ended."""
        self._follow(frame)
        self._set_line(frame)
        key = id(frame)
        lines = self._passed.get(key)
        if lines is None:
            lines = self._passed[key] = deque(maxlen=_PASSED)
        lines.append(frame.f_lineno or 0)

    def suspend(self, frame: FrameType) -> None:
        """Handle a yield or an await: the line of what resumed the frame goes on."""
        self._follow(frame)
        self._set_line(frame.f_back)

    def resume(self, frame: FrameType) -> None:
        """Handle the resumption of a generator or coroutine, within a line."""
        self._follow(frame)
        self._set_line(frame)

    def leave(self, frame: FrameType) -> None:
        """Handle the end of a call: its caller's line goes on."""
        self._follow(frame)
        self._end_call(frame)

    def _end_call(self, frame: FrameType) -> None:
        key = id(frame)
        if key == self._home:
            self._home = 0  # another frame may get its identity
        lines = self._passed.pop(key, None)
        self._callees.pop(key, None)
        back = frame.f_back
        code = frame.f_code
        is_call = lines and code.co_name[:1] != "<"  # no comprehension
        if is_call and back is not None and self._recorder.chosen.file(back.f_code.co_filename):
            sites = self._callees.setdefault(id(back), {})
            if len(sites) < _SITES or back.f_lineno in sites:
                sites[back.f_lineno or 0] = [code.co_name, code.co_filename, lines]
        self._set_line(back)

    def _set_line(self, frame: FrameType | None) -> None:
        """Note the line of the program's own code that runs: a frame's, or its caller's."""
        while frame is not None and not self._recorder.chosen.file(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return
        code = frame.f_code
        self._last[get_ident()] = (id(frame), code.co_name, code.co_filename, frame.f_lineno or 0)

    def _follow(self, frame: FrameType) -> None:
        self._steps += 1
        if self._steps > self._most:
            self.is_active = False
            return
        ident = get_ident()
        is_other = self._latest not in {0, ident}
        self._latest = ident
        if is_other:
            self._threads.add(ident)
        is_waiting = self._wait > 1 and self._steps != self._last_step
        if is_waiting or not self._is_in_part():
            self._wait -= 1
            self._has_skipped = True
            return
        self._evaluate(frame, is_other=is_other)

    def _is_in_part(self) -> bool:
        """Return whether the lines that run now are those to evaluate after."""
        return self._steps >= self._first_step and (
            not self._last_step or self._steps <= self._last_step
        )

    def _evaluate(self, frame: FrameType, *, is_other: bool) -> None:
        """Evaluate the invariant, and note a change from true to false since the last time."""
        began = now()
        state, _, values = self._read_state(frame)
        self._spent_ns += now() - began
        if self._spent_ns > _EXACT_NS:
            # One line more each time: of n lines about the root of 2 n are evaluated after, and as
            # many are left for the further run.
            self._gap += 1
        self._wait = self._gap
        if state is None:
            return
        if state is False and self._state is not False:
            self._changes += 1
            self._change = self._describe_change(frame, values, is_other=is_other)
            steps = [self._known_step, self._steps]
            self._between = steps if self._has_skipped else [0, 0]
        self._has_skipped = False
        self._state, self._values, self._known_step = state, values, self._steps

    def _read_state(self, frame: FrameType) -> tuple[bool | None, Any, list[list[str]]]:
        """Evaluate the invariant; None: its names or objects cannot be read here."""
        home = self._find_home(frame)
        if home is not None:
            names = {**self._parts.variables(home.f_code, home), **self._recorder.known}
        elif self._scalars:
            return None, None, []
        else:
            names = {**self._roots, **self._recorder.known}
        where = home if home is not None else _GlobalsFrame(self._globals, frame)
        is_true, error = self._recorder.truth(self._expression, names, where)
        if error:
            return None, home, []
        return is_true, home, self._recorder.operand_texts(self._number, names, where)

    def _find_home(self, frame: FrameType) -> FrameType | None:
        """Return the running frame in which the names of the check are those of the check."""
        back: FrameType | None = frame
        plans, scalars = self._recorder.plans, self._parts.SCALARS
        for _ in range(_OUTWARD):
            if back is None:
                return None
            code = back.f_code
            if id(back) == self._home and code is self._home_code:
                return back
            plan = plans.get(id(code))
            # Another call of a checked function, with the same objects under the same names.
            if plan is not None and self._roots and (plan.lines or plan.entry >= 0):
                values = self._parts.variables(code, back)
                if all(
                    name in values and (id(type(one)) in scalars or values[name] is one)
                    for name, one in self._roots.items()
                ):
                    return back
            back = back.f_back
        return None

    def _describe_change(
        self, frame: FrameType, values: list[list[str]], *, is_other: bool
    ) -> dict[str, Any]:
        known = self._last.get(get_ident())
        stack = self._recorder.stack_of(frame)
        back: FrameType | None = frame
        while known is not None and back is not None and id(back) != known[0]:
            back = back.f_back
        if known is not None and back is not None:
            stack = self._recorder.stack_of(back)
            if stack and stack[0][1] == self._recorder.chosen.file(known[2]):
                stack[0][2] = known[3]
        return {
            "stack": stack,
            "before": self._values,
            "after": values,
            "is_first_value": self._state is None,
            "is_other_thread": is_other,
            "passed": self._passed_lines(frame),
        }

    def _passed_lines(self, frame: FrameType) -> list[list[Any]]:
        """Return, of a frame and its callers, the lines that it passed, and those of its callees.

        Each is a file, lines, and callees: the line of the call, the name, the file and the lines.
        """
        found: list[list[Any]] = []
        back: FrameType | None = frame
        while back is not None and len(found) < self._recorder.stack_most:
            file = self._recorder.chosen.file(back.f_code.co_filename)
            if file:
                calls = [
                    [site, name, self._recorder.chosen.file(where), list(lines)]
                    for site, (name, where, lines) in self._callees.get(id(back), {}).items()
                ]
                found.append([file, list(self._passed.get(id(back), ())), calls])
            if id(back) == self._home:
                break
            back = back.f_back
        return found

    def _report(
        self,
        *,
        is_reached: bool,
        visit: int,
        state: bool | None,
        is_same: bool = False,
        at: list[list[str]] | None = None,
        plain: list[list[str]] | None = None,
    ) -> None:
        self._recorder.write_record(
            "narrowed",
            {
                "is_reached": is_reached,
                "is_begun": bool(self._globals is not None),
                "is_cut": self._steps > self._most,
                "visit": visit,
                "is_false": state is False,
                "is_same": is_same,
                "change": self._change,
                "changes": self._changes,
                "steps": min(self._steps, self._most),
                "threads": len(self._threads),
                "at": at or [],
                "between": self._between,
                "plain_before": self._locals,
                "plain_after": plain or [],
            },
        )


class _GlobalsFrame:
    """Stands for a frame of which only the globals are read."""

    def __init__(self, names: Any, frame: FrameType) -> None:
        self.f_globals = names
        self.f_code = frame.f_code
        self.f_back = None
