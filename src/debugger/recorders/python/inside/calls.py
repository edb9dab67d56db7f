"""Tracks the running calls of each thread, and decides how many details of each are recorded.

Each call belongs to a node of a tree. The first calls of a function are nodes of their own, with
values; later ones share one node for each call path, which counts them. So a record stays small,
and no call is missing from the sums.
"""

from __future__ import annotations

import _thread
from _thread import get_ident
from functools import partial
from time import perf_counter as clock
from weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any, TypeAlias

    # Those of `call_spots`, which this file, as it is run by path, cannot import.
    CallSpot: TypeAlias = Any
    ThreadCalls: TypeAlias = Any

# The interval of the sums: a killed process loses this much of them. Where there are many, they are
# written less often, and cost one part of the run's time in so many.
_FLUSH_S = 0.3
_FLUSH_SHARE = 40
_STOP_SHARE = 20  # the same, where a function is stopped
_NS = 1_000_000_000
_ERRORS_MAX = 3  # of calls that share a spot
_THREADS_MAX = 1_000  # that are told apart; later ones share the records of those at their address
_OUTSIDE = -1


class CallBook:
    """The calls of one process."""

    def __init__(
        self, order: dict[str, Any], journal: Any, chosen: Any, texts: Any, parts: Any
    ) -> None:
        self.order = order
        self.journal = journal
        self.chosen = chosen
        self.texts = texts
        self.limits = order["limits"]
        self.depth = order["depth"]
        self.lines = order["lines"]
        self.code_folder: str = order["code_folder"]
        self.has_focus = bool(order["functions"])
        # Whether the lines are compared with another run's (see `compared_lines`).
        self.is_compared = bool(order["is_compared"])
        self._parts = parts
        # Compiled once, because the condition is evaluated at each requested call.
        # Always the same dictionary, for the hooks.
        self.threads: dict[int, ThreadCalls] = self._parts.ThreadTable()
        self.collect_lines: Any = lambda: None  # reports lines that were not reported yet
        # What each stopped function was called after that, where it is known.
        self.further_calls: Any = tuple
        # Of code that was rewritten to report its events, by its identity.
        self.plain_codes: dict[int, CodeType] = {}
        self._when = compile(order["when"], "<when>", "eval") if order["when"] else None
        names = ("numbers", "thread", "thread_name", "inside", "changes")
        self._has_filter = any(order[name] for name in names)
        self._threads_so_far: list[ThreadCalls] = []  # at most _THREADS_MAX
        self.reset()

    def __reduce__(self) -> Any:
        """Leave nothing of us in code of the program that is sent to another process."""
        return dict, ()

    def reset(self) -> None:
        """Start over, as a forked child does."""
        self.began = clock()
        for thread in (*self._threads_so_far, *self.threads.values()):
            thread.is_over = True
        self.threads.clear()
        self._threads_so_far = []
        self._thread_count = 0
        self._local: Any = _thread._local()  # noqa: SLF001 - without `threading`
        # By the identity of code, which `codes` keeps alive: code of two files can be equal, and to
        # hash it takes long.
        self.functions: dict[int, int] = {}
        self.codes: list[CodeType] = []
        self.singles: dict[int, int] = {}
        self.merged: list[CallSpot] = []
        self.suspended: dict[int, CallSpot] = {}
        self.hits: dict[int, dict[int, int]] = {}  # when each line was first passed
        self.stopped: set[int] = set()
        self.ids = 0
        self.seen = 0  # calls of the functions asked for
        self.met = 0  # those that meet the filter
        self._given: list[list[str]] | None = None  # the arguments of the call before
        self.chosen_calls = 0
        self.is_over_most = False  # enough requested calls are recorded: more are only counted
        self.inside = 0  # calls asked for that are running
        self.events = 0
        self.due = clock() + _FLUSH_S
        self._flushed = self._flush_cost = 0.0
        self._room = 0  # records that counted calls allow
        self._further: dict[int, int] = {}  # by function, as they were written last

    def plain_code(self, frame: FrameType) -> CodeType:
        """Return the code of a frame, as it was before it was rewritten."""
        return self.plain_codes.get(id(frame.f_code), frame.f_code)

    def thread(self) -> ThreadCalls:
        """Return the record of the current thread."""
        ident = get_ident()
        found = self.threads.get(ident)
        if found is None:
            level = _OUTSIDE if self.has_focus else 0
            number = self._thread_count = self._thread_count + 1
            found = self._parts.ThreadCalls(number, level)
            if number <= _THREADS_MAX:
                self._watch_end(ident, found)
            self.threads[ident] = found
            self.write(["t", number, self._parts.thread_key()[1]])
        return found

    def _watch_end(self, ident: int, thread: ThreadCalls) -> None:
        """Let a thread's end remove its record: the system gives its identity to another one.

        The interpreter drops the thread's local values while the thread still has its identity. No
        Python code runs for it, which would be seen as the program's own thread.
        """
        mark: Any = set()
        self._local.mark = mark
        # What is called has the reference as its second argument, the result for a missing key.
        thread.end = ref(mark, partial(self.threads.pop, ident))
        self._threads_so_far.append(thread)

    def number(self, code: CodeType, frame: FrameType | None) -> int:
        """Return a function's number, and describe the function at its first use."""
        found = self.functions.get(id(code))
        if found is None:
            name = code.co_name
            if frame is not None:
                name = self._parts.name_of(code, self._parts.arguments(code, frame))
            found = self.functions[id(code)] = len(self.functions) + 1
            self.codes.append(code)
            # `last`, as every description: records that refer to the number would be useless
            # without it.
            file = self.chosen.shown_file(code.co_filename)
            fields = [found, name, file, code.co_firstlineno]
            self.journal.write(["f", *fields], last=True)
        return found

    def write(self, record: list[Any]) -> bool:
        """Write a record if the event limit allows it."""
        self.events += 1
        if self.events > self.limits["events"]:
            self.journal.dropped += 1
            return False
        return bool(self.journal.write(record))

    def stamp(self) -> int:
        """Return the nanoseconds since the recording began."""
        return int((clock() - self.began) * _NS)

    def fault(self, error: BaseException) -> bool:
        """Record an error of our own, which must not reach the program; True if we must stop.

        A program that recurses too deeply hits the limit first in our code, and in its own right
        after.
        """
        if isinstance(error, RecursionError):
            return False
        self.note("fault", f"{type(error).__name__}: {self.texts.raised(error)}")
        return True

    def note(self, kind: str, text: str) -> None:
        """Write a note on the recording itself."""
        self.journal.write(["n", kind, self.stamp(), text], last=True)

    def _value_pairs(self, values: dict[str, Any]) -> list[list[str]]:
        return [[name, self.texts(one)] for name, one in list(values.items())[:30]]

    def enter(self, thread: ThreadCalls, code: CodeType, frame: FrameType) -> CallSpot | None:
        """Push a call on its thread's stack; None if the call is not to be recorded."""
        top = thread.top
        spot = top.kids.get(id(code))
        if spot is not None:
            spot.count += 1
        elif top.level == _OUTSIDE:
            spot = self._enter_focus(thread, top, code, frame)
            if spot is None:
                return None
        else:
            spot = self.add_call(thread, top, code, frame)
            if spot is None:
                return None
        self.push(thread, top, spot)
        # Found again by its frame when it resumes, possibly in another thread.
        if code.co_flags & self._parts.GENERATES:
            self.suspended[id(frame)] = spot
            spot.steps = 1
        return spot

    def add_call(
        self, thread: ThreadCalls, top: CallSpot, code: CodeType, frame: FrameType
    ) -> CallSpot | None:
        """Return the node of a call whose path is not known yet, below a recorded call.

        Of runs that are compared, it is None for a call that is only counted.
        """
        # What runs at every call looks such a path up itself:
        # 1. `kids` of a node has the merged nodes below it, by the identity of their code: a call
        #    on a known path is only counted.
        # 2. Outside of the requested functions only a call of one of them is of interest.
        # 3. A new call is recorded singly if it is a requested one, or while its function has fewer
        #    than `limits["each"]` such calls and the recording fewer than `limits["calls"]`.
        # 4. Any other call is merged: a recursive one into the node of its outer call, else into a
        #    new node for its path; beyond `limits["merged"]` paths below the thread's root.
        # 5. The sums of merged nodes are written every 0.3 s (`flush`); the last record is valid.
        return self._add_call(thread, top, code, frame, top.level + 1)

    def repeat_call(self, spot: CallSpot, outer: CallSpot) -> CallSpot:
        """Return what counts calls from a node as those of another path, such as recursive ones."""
        call: CallSpot = self._parts.CallSpot(spot.code, outer, spot.level, outer.owner)
        call.spot = spot
        outer.kids[id(spot.code)] = call
        return call

    def push(self, thread: ThreadCalls, top: CallSpot, spot: CallSpot) -> None:
        """Make a node the innermost; a recursion's time belongs to its outer call."""
        at = clock()
        thread.calls += 1
        # Nothing is called between these two, for a program that recurs too deeply ends anywhere.
        thread.stack.append((top, at if spot.is_single or spot.parent is top else 0.0))
        thread.top = spot
        if at > self.due:
            self.flush()

    def _enter_focus(
        self, thread: ThreadCalls, top: CallSpot, code: CodeType, frame: FrameType
    ) -> CallSpot | None:
        self.number(code, frame)
        self.seen += 1
        if self._has_filter and not self._is_filtered(thread, code, frame):
            return None
        self.met += 1
        if self.met < self.order["nth"] or self.is_over_most:
            return None
        if self._when is not None and not self.holds(self._when, frame):
            return None
        self.chosen_calls += 1
        self.is_over_most = self.chosen_calls >= self.order["most"]
        self.inside += 1
        return self._add_call(thread, top, code, frame, 0)

    def _is_filtered(self, thread: ThreadCalls, code: CodeType, frame: FrameType) -> bool:
        """Return whether a requested call meets the filter: its number, thread, callers, values."""
        order = self.order
        if order["numbers"] and self.seen not in order["numbers"]:
            return False
        if order["thread"] and thread.number != order["thread"]:
            return False
        if order["thread_name"] and self._parts.thread_key()[1] != order["thread_name"]:
            return False
        if order["inside"] and not self._is_below(order["inside"], frame.f_back):
            return False
        if order["changes"]:
            given = self._value_pairs(self._parts.arguments(code, frame))
            if given == self._given:
                return False
            self._given = given
        return True

    def _is_below(self, function: str, frame: FrameType | None) -> bool:
        last = function.rpartition(".")[2]
        while frame is not None:
            if frame.f_code.co_name == last:
                name = self._parts.name_of(frame.f_code, {}).replace("<locals>.", "")
                if name == function or name.endswith(f".{function}"):
                    return True
            frame = frame.f_back
        return False

    def holds(self, when: CodeType, frame: FrameType) -> bool:
        """Return whether a condition holds in a frame; its failure is noted."""
        try:
            return bool(eval(when, {**frame.f_globals, **frame.f_locals}))  # noqa: S307 - the user's
        except Exception as error:  # noqa: BLE001 - the user's own condition
            self.note("condition", f"{type(error).__name__}: {self.texts.raised(error)}")
            return False

    def _add_call(
        self, thread: ThreadCalls, top: CallSpot, code: CodeType, frame: FrameType, level: int
    ) -> CallSpot | None:
        if self.is_compared:
            return self._add_compared(thread, top, code, frame)
        is_single = level == 0 and self.has_focus
        if not is_single and not (self.has_focus and 0 <= self.depth < level):
            # What the calls asked for call themselves is told as long as there is room.
            is_recorded = self.singles.get(id(code), 0) < self.limits["each"]
            is_recorded = is_recorded or (self.has_focus and level == 1)
            is_single = is_recorded and self.ids < self.limits["calls"]
        if is_single and not self.journal.is_full:
            return self._add_single(thread, top, code, frame, level)
        return self._add_merged(thread, top, code, frame, level)

    def _add_compared(
        self, thread: ThreadCalls, top: CallSpot, code: CodeType, frame: FrameType
    ) -> CallSpot | None:
        count, limits = self.singles.get(id(code), 0), self.limits
        is_full = self.journal.is_full or self.events >= limits["events"]
        if is_full or not self._parts.is_followed(count, self.events - self._room, limits["each"]):
            self.number(code, frame)
            if not len(self.stopped) % self._parts.COUNTED_LOOKS:
                counted = sum(one for _, one in self.further_calls())
                self._room = counted // self._parts.COUNTED
            return None
        return self._add_single(thread, top, code, frame, top.level + 1)

    def _add_single(
        self, thread: ThreadCalls, top: CallSpot, code: CodeType, frame: FrameType, level: int
    ) -> CallSpot:
        self.singles[id(code)] = self.singles.get(id(code), 0) + 1
        spot: CallSpot = self._parts.CallSpot(code, top, level, thread)
        self.ids += 1
        spot.id, spot.number, spot.count = self.ids, self.number(code, frame), 1
        # Formatted now: the callee may change its arguments.
        values = self._parts.arguments(code, frame)
        pairs = self._value_pairs(values)
        back = caller = frame.f_back
        while (
            caller is not None and top.code is not None and self.plain_code(caller) is not top.code
        ):
            caller = caller.f_back  # a library that the outer call called
        back = caller or back
        line = back.f_lineno or 0 if back is not None else 0
        is_kept = self.write(
            ["c", spot.id, top.id, spot.number, thread.number, self.stamp(), line, pairs]
        )
        spot.is_single = is_kept
        if not is_kept:  # it is counted all the same
            self.merged.append(spot)
        is_near = not self.has_focus or level < self.order["line_depth"]
        is_lined = is_kept and is_near and self.lines == "each"
        if is_lined and not self._parts.looks_at_itself(code):
            spot.begin_lines(dict(pairs))
        return spot

    def _add_merged(
        self, thread: ThreadCalls, top: CallSpot, code: CodeType, frame: FrameType, level: int
    ) -> CallSpot:
        outer: CallSpot | None = top
        while outer is not None and not outer.is_single:
            if outer.code is code:
                outer.count += 1
                top.kids[id(code)] = outer
                return outer
            outer = outer.parent
        if len(self.merged) >= self.limits["merged"] and top is not thread.root:
            # Too many ways lead there: this one is counted as if it came from the outermost.
            found = thread.root.kids.get(id(code))
            if found is None:
                found = self._add_path(thread, thread.root, code, frame, level)
            else:
                found.count += 1
            top.kids[id(code)] = found
            return found
        return self._add_path(thread, top, code, frame, level)

    def _add_path(
        self, thread: ThreadCalls, top: CallSpot, code: CodeType, frame: FrameType, level: int
    ) -> CallSpot:
        spot: CallSpot = self._parts.CallSpot(code, top, level, thread)
        self.ids += 1
        spot.id, spot.number, spot.count = self.ids, self.number(code, frame), 1
        spot.first = self.stamp()
        if top.level != _OUTSIDE or top is not thread.root:
            top.kids[id(code)] = spot
        self.merged.append(spot)
        return spot

    def find(self, thread: ThreadCalls, code: CodeType) -> bool:
        """Make the node of a function that is being left the innermost; False if it has none."""
        if thread.top.code is code:
            return True
        if all(spot.code is not code for spot, _ in thread.stack):
            return False
        # Calls above it have ended without an event.
        while thread.top.code is not code:
            self._pop_spot(thread)
        return True

    def _pop_spot(self, thread: ThreadCalls) -> tuple[CallSpot, int]:
        spot = thread.top
        thread.top, began = thread.stack.pop()
        if spot.level == 0 and self.has_focus:
            self.inside -= 1
        at = clock()
        if began:
            spot.total += at - began
        if at > self.due:
            self.flush()
        return spot, int((at - self.began) * _NS)

    def leave(self, thread: ThreadCalls, code: CodeType, value: Any, frame: FrameType) -> None:
        """Pop a call that returns."""
        if self.find(thread, code):
            spot, at = self._end_call(thread, code, frame)
            if spot.is_single:
                self.write(["r", spot.id, at, self.texts(value)])

    def fail(
        self, thread: ThreadCalls, code: CodeType, error: BaseException, frame: FrameType
    ) -> None:
        """Pop a call that an exception leaves."""
        if self.find(thread, code):
            spot, at = self._end_call(thread, code, frame)
            spot.raised += 1
            if spot.is_single or spot.raised <= _ERRORS_MAX:
                fields = [type(error).__name__, self.texts.raised(error), frame.f_lineno or 0]
                self.write(["x", spot.id, at, *fields])

    def _end_call(
        self, thread: ThreadCalls, code: CodeType, frame: FrameType
    ) -> tuple[CallSpot, int]:
        self.note_changes(thread.top, frame)
        thread.top.fixed.clear()
        if code.co_flags & self._parts.GENERATES:
            self.suspended.pop(id(frame), None)
        return self._pop_spot(thread)

    def suspend(self, thread: ThreadCalls, code: CodeType, frame: FrameType) -> None:
        """Pop a generator or coroutine that will continue later."""
        if self.find(thread, code):
            if thread.top.passed <= self.limits["lines"]:
                self.note_changes(thread.top, frame)
            self._pop_spot(thread)

    def forget(self, code: CodeType) -> None:
        """Drop the running and suspended calls of a function, as if they had ended."""
        for key in [key for key, spot in self.suspended.items() if spot.code is code]:
            del self.suspended[key]
        for thread in list(self.threads.values()):
            spots = [*(spot for spot, _ in thread.stack[1:]), thread.top]
            others = [
                (spot, began)
                for spot, (_, began) in zip(spots, thread.stack, strict=False)
                if spot.code is not code
            ]
            thread.top, thread.stack = thread.root, []
            for spot, began in others:
                thread.stack.append((thread.top, began))
                thread.top = spot

    def resume(self, thread: ThreadCalls, frame: FrameType) -> bool:
        """Push a generator or coroutine again, in whichever thread it continues."""
        spot = self.suspended.get(id(frame))
        if spot is None or spot.code is not frame.f_code:
            return False
        if spot.level == 0 and self.has_focus:
            self.inside += 1
        thread.calls += 1
        thread.stack.append((thread.top, clock()))
        thread.top = spot
        return True

    def line(self, thread: ThreadCalls, code: CodeType, line: int, frame: FrameType) -> None:
        """Record that a line runs, after the changes of the line before it."""
        spot = thread.top
        if spot.code is code and spot.is_lined:
            self.pass_line(spot, line, frame)

    def pass_line(self, spot: CallSpot, line: int, frame: FrameType) -> None:
        """Record a line of a call whose lines are recorded."""
        spot.passed += 1
        if self.is_compared and self.journal.dropped:
            return  # nothing more is kept
        if spot.passed > self.limits["lines"]:
            if spot.line:  # what changes from now on is of no line that is known
                spot.line = 0
                self.write(["s", spot.id, 1])
            return
        self.note_changes(spot, frame)
        spot.line = line
        # The most frequent record, without an encoder.
        self.events += 1
        if self.events > self.limits["events"]:
            self.journal.dropped += 1
        else:
            self.journal.write_line(b'["p",%d,%d,%d]\n' % (spot.id, self.stamp(), line))

    def is_past_lines(self, spot: CallSpot, code: CodeType) -> bool:
        """Return whether no more lines of a call are recorded or counted.

        Only of requested calls it is reported how many more there were.
        """
        return spot.code is code and not self.has_focus and spot.passed > self.limits["lines"]

    def has_lined_call(self, code: CodeType) -> bool:
        """Return whether lines of a running call of a function are still recorded."""
        most = self.limits["lines"]
        for thread in list(self.threads.values()):
            spots = [thread.top, *(spot for spot, _ in list(thread.stack))]
            if any(one.code is code and one.is_lined and one.passed <= most for one in spots):
                return True
        return False

    def hit(self, code: CodeType, line: int, frame: FrameType | None) -> None:
        """Record the first execution of a line."""
        hits = self.hits.get(id(code))
        if hits is None:
            self.number(code, frame)
            hits = self.hits[id(code)] = {}
        if line not in hits:
            hits[line] = self.stamp()

    def note_changes(self, spot: CallSpot, frame: FrameType) -> None:
        """Record the variables of a call that differ from what was recorded of them last."""
        if not spot.is_lined or spot.code is not self.plain_code(frame):
            return
        if spot.passed > self.limits["lines"]:
            self.write(["s", spot.id, spot.passed - self.limits["lines"]])
        if self.is_compared and self._parts.has_line_names(spot.code):
            names = self._parts.line_names(spot.code, self._parts.CHANGING)
            changed = self._parts.changed_names(spot, frame, names, self._parts, self.texts)
            if changed:
                self.write(["v", spot.id, changed])
            return
        # A number that differs if other calls began since.
        before, spot.calls = spot.calls, self.ids + spot.owner.calls
        spot.calls += sum(one.spot.count for one in list(spot.kids.values()))
        # Calls of rewritten code that is followed no more are not in the number.
        is_other = before != spot.calls or bool(self.stopped and self.plain_codes)
        read, write = self._parts.variables, self.texts
        changed = self._parts.changed_variables(spot, frame, read, write, may_differ=is_other)
        if changed:
            self.write(["v", spot.id, changed])

    def stop_counting(self, code: CodeType) -> None:
        """Note that more calls of a function are not followed."""
        self.stopped.add(id(code))
        self.journal.write(["k", self.functions[id(code)], self.stamp()], last=True)
        # Nothing may come any more that would write the sums. Where many functions are stopped,
        # and many paths are known, it is not done for each of them.
        is_due = clock() - self._flushed > self._flush_cost * _STOP_SHARE
        if is_due and not self.is_compared:
            self.flush()

    def flush(self, *, is_last: bool = False) -> None:
        """Write the current sums; later ones replace them."""
        began = clock()
        for spot in list(self.merged):
            state = (spot.count, spot.raised, spot.total)
            if state != spot.told and spot.parent is not None:
                spot.told = state
                head = ["m", spot.id, spot.parent.id, spot.number, spot.owner.number, spot.first]
                sums = [spot.count, spot.raised, int(spot.total * _NS)]
                self.journal.write([*head, *sums], last=True)
        for code, count in self.further_calls():
            # Of functions that are only counted there are many: each count is written some times.
            known = self._further.get(id(code), 0)
            if count > 2 * known or (is_last and count != known):
                self._further[id(code)] = count
                self.journal.write(["K", self.functions[id(code)], count], last=True)
        self._flushed = at = clock()
        self._flush_cost = at - began
        self.due = at + max(_FLUSH_S, self._flush_cost * _FLUSH_SHARE)

    def end(self) -> None:
        """Write the facts that are known only at the end."""
        self.collect_lines()
        self.flush(is_last=True)
        for code, lines in list(self.hits.items()):
            pairs_written = [list(lines), list(lines.values())]
            self.journal.write(["h", self.functions[code], *pairs_written], last=True)
        state = [self.stamp(), self.journal.dropped, self.seen, self.chosen_calls]
        self.journal.write(["end", *state], last=True)
