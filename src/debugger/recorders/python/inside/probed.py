"""Evaluates a probe's expressions at each hit of its location.

At a line with very many hits fewer and fewer values are taken; all its hits are counted.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter_ns as now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_STATE_NS = 250_000_000  # the interval of state records
_NEAREST = 4  # lines
_NAMES = 30  # variables in scope
_SHORT = 60  # characters of an expression in a note
_FUNCTIONS = 12  # of one name that are places of their own
# What has the lines of the function around it, and hardly any of its names.
_INNER = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"})


class ProbedLocation:
    """One probe: its location, its expressions, and its results."""

    def __init__(
        self, number: int, order: dict[str, Any], parts: Any, of: int | None = None
    ) -> None:
        self.number = number
        self.of = number if of is None else of  # the place that was ordered
        self.order = order
        self.function = ""
        self.split: dict[tuple[str, int, str], ProbedLocation] = {}  # for each function of its name
        self.file: str = order["file"]
        self.line: int = order["line"]
        self.name: str = order["name"]
        self.first: int = order["first"]
        self.last: int = order["last"]
        self.from_ns: int = order["from_ns"]
        self.to_ns: int = order["to_ns"]
        self.thread: int = order["thread"]
        self.thread_name: str = order["thread_name"]
        self.inside: str = order["inside"]
        self.changes: bool = order["changes"]
        self.event: str = order["event"]
        self.most: int = order["kept_last"]
        self.numbers_all: bool = order["numbers_all"]
        self.is_exit: bool = order["is_exit"]
        self.has_test = bool(order["when"]) or self.changes
        made = parts.CompiledExpression
        self.when = made(order["when"]) if order["when"] else None
        self.wanted = [made(text) for text in order["expressions"]]
        self.spots: set[tuple[str, int]] = set()
        # Variables of a comprehension on one line, which begins before it has the first element.
        self.needed: set[str] = set()
        self.is_loaded = False
        self.reset()

    def reset(self) -> None:
        """Drop the counts, as a forked child does; the resolved location stays."""
        self.passed = self.hits = self.entered = self.failed = self.taken = 0
        self.met = 0  # hits at which the condition was true
        self.every = 1
        self.lines: set[int] = set()
        self.nearest: list[int] = []
        self.names: list[str] = []
        self.problem = ""
        self.previous: list[Any] | None = None  # the values of the hit before
        # The records of the last hits, where these are requested, beyond those written at once.
        self.held: list[list[Any]] = []
        self.functions: dict[str, int] = {}  # hits of each, where several have the place's name

    def has_changed(self, values: list[Any]) -> bool:
        """Return whether the values differ from those of the hit before, and keep them."""
        texts = [one[0] if isinstance(one, list) else one for one in values]
        if texts == self.previous:
            return False
        self.previous = texts
        return True

    def state(self) -> list[Any]:
        """Return the current state as a record."""
        counts = [self.number, self.passed, self.hits, self.entered]
        place = [self.file, self.line, self.function]
        return ["Q", *counts, *place, sorted(self.lines)[:400], self.nearest, self.names,
                self.problem, self.failed, self.is_loaded, self.of]  # fmt: skip


class CodePlan:
    """The probes of one code object: by line, and at its entry.

    `watched` are the lines that still trigger a callback: those with a probe, and those not yet
    executed, because of every other line one execution is enough to know.
    """

    __slots__ = ("entered", "lines", "near", "trace", "watched")

    def __init__(self, lines: frozenset[int]) -> None:
        self.watched = set(lines)
        self.trace: Any = None
        self.lines: dict[int, list[ProbedLocation]] = {}
        self.entered: list[ProbedLocation] = []
        self.near: list[ProbedLocation] = []  # in this function, whether passed or not


class ProbeRecorder:
    """The probes of one process."""

    def __init__(self, order: dict[str, Any], journal: Any, write: Any, parts: Any) -> None:
        self._journal = journal
        self._write = write
        self._parts = parts
        self._chosen = parts.CodeChooser(order)
        self._limits = order["limits"]
        self._done: str = order.get("done", "")
        self._here = os.getcwd()  # noqa: PTH109 - pathlib is slow to import
        self._ordered = [
            ProbedLocation(number, one, parts) for number, one in enumerate(order["probes"])
        ]
        self._places = list(self._ordered)  # with those of more functions of one name
        self._files: dict[str, list[ProbedLocation]] = {}
        # By the code's identity: to hash code is to hash all that is in it, at each call. `codes`
        # keeps it alive, so that no other gets its identity.
        self._is_begun = all(place.event != "after" for place in self._places)
        self._is_ended = False
        self.plans: dict[int, CodePlan | None] = {}
        self.codes: list[CodeType] = []
        self._exit: Any = None
        if any(place.is_exit for place in self._places):
            self._exit = parts.ExitCall()
        self.reset()

    def reset(self) -> None:
        """Start over, as a forked child does."""
        self.began = now()
        self._due = _STATE_NS
        self._threads: dict[tuple[int, str], int] = {}
        self._is_hinted = False
        self._marks = self._parts.ObjectMarks()
        self._departed: set[str] = set()  # expressions whose departure was found
        if self._exit is not None:
            self._exit.begin_process()
        for place in self._places:
            place.reset()

    def note(self, kind: str, text: str) -> None:
        """Write a note on the recording itself."""
        self._journal.write(["n", kind, now() - self.began, text], last=True)

    def fault(self, error: BaseException) -> bool:
        """Record an error of our own, which must not reach the program; True if we must stop."""
        if isinstance(error, RecursionError):
            return False
        self.note("fault", f"{type(error).__name__}: {self._write.raised(error)}")
        return True

    def end(self) -> None:
        """Write the final states."""
        for place in self._places:
            if place.is_exit and not place.hits:
                self._take_exit(place)
        self._write_states()
        for place in self._places:
            for record in place.held:
                self._journal.write(record, last=True)
            if len(place.functions) > 1:
                each = ", ".join(f"{name} {count:,}" for name, count in place.functions.items())
                self.note("several functions", f"{place.name} stands for {each} hits")
        self._journal.write(["end", now() - self.began, self._journal.dropped, 0, 0], last=True)

    def _write_states(self) -> None:
        for place in self._places:
            self._journal.write(place.state(), last=True)

    # -- which code ------------------------------------------------------------------------------

    def plan(self, code: CodeType) -> CodePlan | None:
        """Make the plan of a code object at its first start; None if no probe concerns it."""
        plan = None
        places = self._of_file(code.co_filename)
        if code.co_name == "<module>" and places:
            self._resolve_locations(code, [one for one in places if one.line])
        own = self._parts.own_lines(code)
        for place in places:
            if place.name:
                is_in = self._is_named(place, code)
            else:
                spot = (code.co_name, code.co_firstlineno)
                is_known = spot in place.spots or not (place.spots or code.co_name in _INNER)
                is_in = place.line in own and is_known
            if not is_in:
                continue
            plan = plan or CodePlan(own)
            place = self._of_function(place, code)  # noqa: PLW2901 - the one for this function
            plan.near.append(place)
            place.function = place.function or self._parts.name_of(code, {})
            if place.name:
                place.file = self._chosen.shown_file(code.co_filename)
                place.line = place.line or code.co_firstlineno
                plan.entered.append(place)
            else:
                plan.lines.setdefault(place.line, []).append(place)
        self.codes.append(code)
        self.plans[id(code)] = plan
        return plan

    def _of_function(self, place: ProbedLocation, code: CodeType) -> ProbedLocation:
        """Return the location for one function of a name; the first one is the ordered probe."""
        if not place.name or not place.order["is_split"]:
            return place
        key = (code.co_filename, code.co_firstlineno, self._parts.name_of(code, {}))
        found = place.split.get(key)
        if found is None:
            if not place.split:
                found = place
            elif len(place.split) < _FUNCTIONS:
                found = ProbedLocation(len(self._places), place.order, self._parts, place.number)
                self._places.append(found)
            else:
                found = list(place.split.values())[-1]
            place.split[key] = found
        return found

    def _is_named(self, place: ProbedLocation, code: CodeType) -> bool:
        order = place.order
        if order["spots"]:
            file = os.path.realpath(self._absolute_path(code.co_filename))
            if self._parts.is_spot(order["spots"], code, file):
                return True
        if order["is_anywhere"] and self._chosen.is_named_anywhere(code, [place.name]):
            return True
        if not code.co_flags & 0x1 or code.co_name != place.name.rpartition(".")[2]:
            return False
        # A name without a file could be any library's function, too.
        if not place.file and not self._chosen.is_ours(code):
            return False
        name = getattr(code, "co_qualname", "").replace("<locals>.", "") or place.name
        return bool(name == place.name or name.endswith(f".{place.name}"))

    def _absolute_path(self, name: str) -> str:
        return os.path.normpath(os.path.join(self._here, name))  # noqa: PTH118 - slow to import

    def _of_file(self, name: str) -> list[ProbedLocation]:
        found = self._files.get(name)
        if found is None:
            path = self._absolute_path(name)
            # The program may be started through a link.
            real = os.path.realpath(path)
            found = self._files[name] = [
                one
                for one in self._ordered
                if (one.name and not one.file)
                or one.file in (path, real)
                or os.path.realpath(one.file) == real
                or (one.file[:1] != "/" and path.endswith(f"/{one.file}"))
            ]
        return found

    def _resolve_locations(self, module: CodeType, places: list[ProbedLocation]) -> None:
        """Find the line with code for each probe, and the functions that contain it."""
        blocks = [
            (code, self._parts.own_lines(code), max(self._parts.all_lines(code), default=0))
            for code in self._parts.codes_in(module)
        ]
        for place in places:
            place.is_loaded = True
            if place.name or place.spots:
                continue
            requested = place.line
            # At a `def` line the function's first line is meant; the `def` itself runs once, at
            # import.
            entries = [min(own) for code, own, _ in blocks if _is_function(code, requested) and own]
            enclosing = [one for one in blocks if one[0].co_firstlineno <= requested <= one[2]]
            enclosing.sort(key=lambda one: (-one[0].co_firstlineno, one[2]))
            later = [
                min(after) for _, own, _ in enclosing if (after := _lines_from(own, requested))
            ]
            exact = [requested] if any(requested in own for _, own, _ in blocks) else []
            line = next(iter([*entries, *exact, *later]), 0)
            spots = [code for code, own, _ in blocks if line in own]
            # A comprehension has the line of its function, and would hit once more for each
            # element.
            outer = [code for code in spots if code.co_name not in _INNER]
            chosen = _choose_inner(place, spots, outer) or outer or spots
            place.spots = {(code.co_name, code.co_firstlineno) for code in chosen}
            place.function = self._parts.name_of(chosen[0], {}) if chosen else ""
            if not line:
                known = sorted({one for _, own, _ in blocks for one in own})
                nearest = sorted(known, key=lambda one: (abs(one - requested), one))[:_NEAREST]
                place.nearest = sorted(nearest)
                # Reported at once, and not at the end: the program may run forever.
                place.problem = f"there is no code at line {requested}"
            place.line = line or requested
            place.file = self._absolute_path(module.co_filename)
        self._write_states()

    # -- what happens ----------------------------------------------------------------------------

    def entered(self, plan: CodePlan, frame: FrameType) -> None:
        """Record the entry of a function."""
        for place in plan.near:
            # The first entry is written at once: a process that is killed later still shows how
            # near it came.
            place.entered += 1
            if place.entered == 1:
                self._write_states()
        for place in plan.entered:
            name = self._parts.name_of(frame.f_code, {})
            place.functions[name] = place.functions.get(name, 0) + 1
            self._take_hit(place, frame)

    def passed(self, plan: CodePlan, frame: FrameType, line: int) -> None:
        """Record that a line is reached."""
        for place in plan.near:
            if not place.passed and line not in place.lines:
                place.lines.add(line)
                self._journal.write(place.state(), last=True)
        places = plan.lines.get(line)
        if places is None:
            plan.watched.discard(line)
            return
        for place in places:
            self._take_hit(place, frame)

    def _take_hit(self, place: ProbedLocation, frame: FrameType) -> None:
        self._record_hit(place, frame)
        if self._done and place.hits == place.last:
            self._end_run()

    def _record_hit(self, place: ProbedLocation, frame: FrameType) -> None:
        names: Any = None
        if place.needed:
            names = self._parts.variables(frame.f_code, frame)
            if not place.needed.intersection(names):
                return
        place.passed += 1
        is_tested_later = place.event or place.numbers_all
        if not is_tested_later and not self._is_requested(place, frame):
            return
        if names is None and place.has_test:
            names = self._parts.variables(frame.f_code, frame)
        if place.when is not None and not self._is_true(place, place.when, names or {}, frame):
            return
        place.met += 1
        if place.event:
            self._note_event(place)
        elif not is_tested_later or self._is_requested(place, frame):
            self._record_values(place, names, frame)

    def _take_exit(self, place: ProbedLocation) -> None:
        """Record the values at the end of the process, with the names of what ended it."""
        frame = self._exit.find_frame(self._chosen)
        names: dict[str, Any] = {}
        known = getattr(sys.modules.get("__main__"), "__dict__", {})
        if frame is not None:
            names = self._parts.variables(frame.f_code, frame)
            known = {**known, **frame.f_globals}
            place.file = self._chosen.shown_file(frame.f_code.co_filename)
            place.line = frame.f_lineno or 0
            place.function = self._parts.name_of(frame.f_code, {})
        else:
            place.file = str(known.get("__file__") or "")
            place.file = place.file and self._absolute_path(place.file)
        place.passed = place.hits = 1
        found: list[Any] = []
        for one in place.wanted:
            try:
                found.append([one.error] if one.error else self._write(one.value(names, known)))
            except BaseException as error:  # noqa: BLE001 - none of it is the program's
                found.append([f"{type(error).__name__}: {self._write.raised(error)}"])
        at = now() - self.began
        self._journal.write(["q", place.number, 1, at, self._thread_number(), found], last=True)

    def _record_values(
        self, place: ProbedLocation, names: dict[str, Any] | None, frame: FrameType
    ) -> None:
        """Count a hit, and record its values if they are requested."""
        values: Any = None
        if place.changes:
            values = self._location_values(place, names or {}, frame)
            if not place.has_changed(values):
                return
        place.hits += 1
        at = now() - self.began
        if at > self._due:
            self._due = at + _STATE_NS
            self._write_states()
        if not self._is_in_range(place, at):
            return
        if values is None:
            names = self._parts.variables(frame.f_code, frame) if names is None else names
            values = self._location_values(place, names, frame)
        number = place.met if place.numbers_all else place.hits
        self._write_hit(place, ["q", place.number, number, at, self._thread_number(), values])

    def _note_event(self, place: ProbedLocation) -> None:
        """Begin or end the part of the run whose hits count."""
        place.hits += 1
        self._is_ended = self._is_ended or (place.event == "until" and self._is_begun)
        self._is_begun = self._is_begun or place.event == "after"

    def _is_true(
        self,
        place: ProbedLocation,
        when: Any,
        names: dict[str, Any],
        frame: FrameType,
    ) -> bool:
        value, error = self._parts.evaluate_in_frame(self._parts, self._write, when, names, frame)
        if not error:
            try:
                return bool(value)
            except BaseException as raised:  # noqa: BLE001 - the truth of an array has none
                error = f"{type(raised).__name__}: {self._write.raised(raised)}"
        place.failed += 1
        place.problem = error
        return False

    def _is_in_range(self, place: ProbedLocation, at: int) -> bool:
        """Return whether the values of this hit are wanted."""
        number = place.hits
        if number < place.first or (place.last and number > place.last):
            return False
        if at < place.from_ns or (place.to_ns and at > place.to_ns):
            return False
        return place.most > 0 or not number % place.every

    def _write_hit(self, place: ProbedLocation, record: list[Any]) -> None:
        if not place.most:
            self._journal.write(record)
            self._reduce_hits(place)
        elif place.taken < self._limits["probed"]:
            self._journal.write(record)
            place.taken += 1
        else:
            # Only the last ones are written, at the program's end.
            place.held.append(record)
            del place.held[: -place.most]

    def _is_requested(self, place: ProbedLocation, frame: FrameType) -> bool:
        """Test the event, the thread and the callers that the filter names."""
        if not self._is_begun or self._is_ended:
            return False
        if place.thread and self._thread_number() != place.thread:
            return False
        if place.thread_name and self._parts.thread_key()[1] != place.thread_name:
            return False
        return not place.inside or self._is_below(place.inside, frame)

    def _is_below(self, function: str, frame: FrameType) -> bool:
        last = function.rpartition(".")[2]
        caller: FrameType | None = frame
        while caller is not None:
            if caller.f_code.co_name == last:
                name = self._parts.name_of(caller.f_code, {}).replace("<locals>.", "")
                if name == function or name.endswith(f".{function}") or last == function:
                    return True
            caller = caller.f_back
        return False

    def _end_run(self) -> None:
        """Request the end of the run once no later hit counts, and wait here for it."""
        if not all(0 < place.last <= place.hits for place in self._places if not place.event):
            return
        self._write_states()
        self._parts.request_end(self._done)

    def _reduce_hits(self, place: ProbedLocation) -> None:
        """Take fewer of the next hits, once there are many."""
        place.taken += 1
        most = self._limits["probed"]
        if place.taken >= most and not (place.taken - most) % max(most // 2, 1):
            # Every further half of the limit doubles the distance, so the record grows only with
            # the logarithm of the number of hits.
            place.every *= 2

    def _location_values(
        self, place: ProbedLocation, names: dict[str, Any], frame: FrameType
    ) -> list[Any]:
        found: list[Any] = []
        for one in place.wanted:
            value, error = self._parts.evaluate_in_frame(
                self._parts, self._write, one, names, frame
            )
            if error:
                if error.startswith("NameError") and not place.names:
                    place.names = [name for name in names if name[:1] != "."][:_NAMES]
                found.append([error])
            else:
                text = self._write(value)
                found.append(self._with_marks(one, value, text))
                if not self._is_hinted:
                    self._hint_own_text(one, value, text)
        return found

    def _with_marks(self, one: Any, value: Any, text: str) -> Any:
        """Return a value's text, of an object with its number and its departure from a pattern."""
        was_full = self._marks.is_full
        number = self._marks.number_of(value)
        departure = "" if one.text in self._departed else self._parts.find_departure(value)
        if departure:
            self._departed.add(one.text)
        if self._marks.is_full and not was_full:
            most = self._parts.OBJECTS_MAX
            self.note("many objects", f"only the first {most:,} objects are told apart")
        return [text, number, departure] if number or departure else text

    def _hint_own_text(self, one: Any, value: Any, text: str) -> None:
        """Note once how to see a value whose fields say little, and whose type can write it."""
        name = self._write.own_text_type(value, text)
        if name:
            self._is_hinted = True
            shown = f"str({one.text})" if len(one.text) <= _SHORT else "str() of it"
            self.note("fields alone say little", f"{shown} shows {name} as the program writes it")

    def _thread_number(self) -> int:
        number: int = self._parts.thread_number(self._threads, self._journal.write)
        return number


def _is_function(code: CodeType, line: int) -> bool:
    """Return whether a line begins a function, which then stands for the function's entry."""
    return bool(code.co_flags & 0x1) and code.co_firstlineno == line and code.co_name not in _INNER


def _lines_from(lines: frozenset[int], line: int) -> list[int]:
    return [one for one in lines if one >= line]


def _choose_inner(
    place: ProbedLocation, spots: list[CodeType], outer: list[CodeType]
) -> list[CodeType]:
    """Return the lambdas and comprehensions of a line whose own variables a probe names."""
    named = {name for one in place.wanted for name in one.own_names}
    named |= place.when.own_names if place.when is not None else set()
    known = {name for code in outer for name in (*code.co_varnames, *code.co_cellvars)}
    inner = [code for code in spots if code.co_name in _INNER]
    own = {name for code in inner for name in code.co_varnames}
    place.needed = (named & own) - known if outer else set()
    return [code for code in inner if place.needed.intersection(code.co_varnames)]
