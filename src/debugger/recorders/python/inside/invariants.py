"""Checks invariants at places of the program, and counts true, false and failed evaluations.

Each visit of a place has a number, counted from 1 in its process. The first false evaluation of
each invariant is recorded with the last visit at which it was true of the same objects.
"""

from __future__ import annotations

import os
from time import perf_counter_ns as now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_STATE_NS = 250_000_000  # the interval of state records
_KEYS_MAX = 200_000  # groups of objects of which the last good visit is kept
_MADE_MAX = 200_000  # objects of which the construction is kept
_PLACES_MAX = 2_000  # lines and functions of which the visits are counted
_STACK = 6  # callers of a check
_PLAIN = 12  # variables of a check that are shown
_QUALNAME: Any = type.__dict__["__qualname__"].__get__
_NAMED = frozenset(map(id, (type, type(len), type(lambda: 0))))
_INNER = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"})
SCALARS = frozenset(map(id, (int, float, complex, bool, str, bytes, type(None))))
_ENTRY, _EXIT, _LINE = "entry", "return", "line"


class CheckPlan:
    """The checks of one code object."""

    __slots__ = ("entry", "events", "exit", "lines", "makes")

    def __init__(self) -> None:
        self.lines: dict[int, int] = {}  # places by line
        self.events: dict[int, list[int]] = {}  # ordered places by line, 0 at the entry
        self.entry = self.exit = -1
        self.makes = False  # it may be the constructor of an object


class InvariantRecorder:
    """The invariants of one process."""

    def __init__(
        self, order: dict[str, Any], journal: Any, write: Any, parts: Any, encode: Any
    ) -> None:
        checks = order["checks"]
        self._journal, self._write, self._parts, self._encode = journal, write, parts, encode
        self.stack_most = _STACK
        self.chosen = parts.CodeChooser(order)
        self._done: str = order.get("done", "")
        self._here = os.getcwd()  # noqa: PTH109 - pathlib is slow to import
        made = parts.CompiledExpression
        self.expressions = [made(one) for one in checks["expressions"]]
        self.operands = [[made(one) for one in some] for some in checks["operands"]]
        self._places = checks["places"]
        self._when = made(checks["when"]) if checks["when"] else None
        self._most: int = checks["most"]
        self._nth: int = checks["nth"]
        self._first: int = checks["first"]
        self._thread: int = checks["thread"]
        self._event_tests = [made(one["when"]) if one["when"] else None for one in self._places]
        self.known: dict[str, Any] = {}
        if checks["known"]:
            # A literal, which the daemon has parsed: without builtins it can call nothing.
            self.known["known"] = eval(checks["known"], {"__builtins__": {}})  # noqa: S307
        self._wants_result = ["result" in one.names for one in self.expressions]
        self.plans: dict[int, CheckPlan | None] = {}
        self.codes: list[CodeType] = []
        self.follower: Any = None
        if checks["narrow"]:
            self.follower = parts.StatementFollower(self, checks["narrow"], write, parts)
        self.reset()

    def reset(self) -> None:
        """Start over, as a forked child does."""
        self.began = now()
        self._due = _STATE_NS
        self.visits = self._when_failed = 0
        self._when_error = ""
        self.is_over = False
        count = len(self.expressions)
        self._true, self._failed = [0] * count, [0] * count
        self._errors = [""] * count
        self._false: list[bool] = [False] * count
        self._good: list[dict[tuple[int, ...], int]] = [{} for _ in range(count)]
        self._last_good = [0] * count
        self._counts: dict[int, int] = {}  # visits of each place
        self._labels: list[list[Any]] = []  # kind, function, file, line of each place
        self._numbers: dict[tuple[int, str, int], int] = {}
        self._reached = [0] * len(self._places)
        self._met = [0] * len(self._places)  # hits that the filter's number counts
        self._is_begun = all(one["event"] != "after" for one in self._places)
        self._is_ended = False
        self._loaded = [False] * len(self._places)
        self._ordered_places: list[int] = []  # the ordered place of each place
        # Of each object that a constructor was called for: ordinal, type, file, line, function.
        self._made: dict[int, list[Any]] = {}
        self._types: dict[int, int] = {}
        self._constructors: dict[int, tuple[type, Any]] = {}
        self._threads: dict[tuple[int, str], int] = {}
        self.plans.clear()
        del self.codes[:]

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
        """Write the final state."""
        self._write_state()
        if self.follower is not None:
            self.follower.end()
        self._journal.write(["end", now() - self.began, self._journal.dropped, 0, 0], last=True)

    def write_record(self, kind: str, record: dict[str, Any]) -> None:
        """Write a record of this question."""
        self.note(kind, self._encode(record))

    def _write_state(self) -> None:
        self.write_record(
            "checks",
            {
                "visits": self.visits,
                "true": self._true,
                "failed": self._failed,
                "errors": self._errors,
                "when_failed": self._when_failed,
                "when_error": self._when_error,
                "reached": self._reached,
                "loaded": self._loaded,
                "is_full": self.visits >= self._most,
                "functions": len(self._labels),
            },
        )

    # -- which code is checked -------------------------------------------------------------------

    def plan(self, code: CodeType, frame: FrameType) -> CheckPlan | None:
        """Make the plan of a code object at its first start; None if nothing concerns it."""
        plan = CheckPlan()
        is_ours = self.chosen.is_ours(code) or code.co_name in _INNER
        name = self._parts.name_of(code, self._parts.arguments(code, frame))
        for number, place in enumerate(self._places):
            file = place["file"]
            is_known = self._is_file(code.co_filename, file) if file else is_ours
            if not (is_known or self._is_elsewhere(place, code)):
                continue
            self._loaded[number] = self._loaded[number] or bool(file)
            add = self._add_event if place["event"] else self._add_place
            add(plan, number, code, name)
        is_method = code.co_name == "__init__" and bool(code.co_argcount)
        # A dataclass's constructor is compiled from a text.
        plan.makes = is_method and (is_ours or code.co_filename == "<string>")
        is_of_use = plan.lines or plan.entry >= 0 or plan.exit >= 0 or plan.makes
        self.codes.append(code)
        found = self.plans[id(code)] = plan if is_of_use else None
        return found

    def _is_elsewhere(self, place: dict[str, Any], code: CodeType) -> bool:
        """Test whether a name that the sources do not have is that of generated or library code."""
        name = place["name"]
        return bool(name and place["is_anywhere"]) and self.chosen.is_named_anywhere(code, [name])

    def _add_place(self, plan: CheckPlan, number: int, code: CodeType, name: str) -> None:
        place = self._places[number]
        kind = place["kind"]
        is_function = bool(code.co_flags & 0x1) and code.co_name not in _INNER
        own = self._parts.own_lines(code)
        if place["line"]:
            at = self._line_of(place, code, own)
            if at and is_function and at == code.co_firstlineno:
                plan.entry = self._add_label(number, code, name, _ENTRY)
            elif at:
                plan.lines[at] = self._add_label(number, code, name, _LINE, at)
            return
        is_named = self._is_named(place["name"], name) or self._is_elsewhere(place, code)
        if place["name"] and not (is_named and (is_function or code.co_name == "<module>")):
            return
        if kind == "in":
            for line in own:
                plan.lines[line] = self._add_label(number, code, name, _LINE, line)
        elif is_function:
            plan.entry = self._add_label(number, code, name, _ENTRY)
        # A module's last line is followed by no other check.
        if kind != "at" and (is_function or code.co_name == "<module>"):
            plan.exit = self._add_label(number, code, name, _EXIT)

    def _add_event(self, plan: CheckPlan, number: int, code: CodeType, name: str) -> None:
        """Add an event of the filter; at a place of a check, the check comes first."""
        place = self._places[number]
        is_function = bool(code.co_flags & 0x1) and code.co_name not in _INNER
        at = self._line_of(place, code, self._parts.own_lines(code)) if place["line"] else 0
        if place["line"] and not at:
            return
        is_named = self._is_named(place["name"], name) or self._is_elsewhere(place, code)
        if not at and not (is_function and is_named):
            return
        if not at or (is_function and at == code.co_firstlineno):
            plan.events.setdefault(0, []).append(number)
            if plan.entry < 0:
                plan.entry = self._add_label(number, code, name, _ENTRY)
            return
        plan.events.setdefault(at, []).append(number)
        plan.lines.setdefault(at, self._add_label(number, code, name, _LINE, at))

    def _add_label(self, number: int, code: CodeType, name: str, kind: str, line: int = 0) -> int:
        """Return the number of a place of a code object; the last one stands for all beyond."""
        key = (id(code), kind, line)
        found = self._numbers.get(key)
        if found is None:
            if len(self._labels) >= _PLACES_MAX:
                return len(self._labels) - 1
            path = os.path.normpath(os.path.join(self._here, code.co_filename))  # noqa: PTH118
            found = self._numbers[key] = len(self._labels)
            self._labels.append([kind, name, path, line or code.co_firstlineno])
            self._ordered_places.append(number)
        return found

    def _line_of(self, place: dict[str, Any], code: CodeType, own: frozenset[int]) -> int:
        """Return the line of a code object that a place stands for; 0 for none."""
        requested: int = place["line"]
        if code.co_name == "<module>" and "is_resolved" not in place:
            place["is_resolved"] = True
            inner = self._parts.codes_in(code)
            lines = {line for one in inner for line in self._parts.own_lines(one)}
            heads = {one.co_firstlineno for one in inner if one.co_flags & 0x1}
            later = [line for line in lines if line > requested]
            if requested not in lines and requested not in heads and later:
                place["line"] = requested = min(later)
        if code.co_name in _INNER:
            return 0
        if code.co_flags & 0x1 and code.co_firstlineno == requested:
            return requested
        return requested if requested in own else 0

    def _is_file(self, name: str, file: str) -> bool:
        path = os.path.normpath(os.path.join(self._here, name))  # noqa: PTH118 - slow to import
        if file[:1] != "/":
            return f"/{path}".endswith(f"/{file}")
        return path == file or os.path.realpath(path) == os.path.realpath(file)

    def _is_named(self, pattern: str, name: str) -> bool:
        plain = name.replace("<locals>.", "")
        last = plain.rpartition(".")[2]
        matches = self._parts.matches
        return bool(
            matches(pattern, plain)
            or ("." not in pattern and matches(pattern, last))
            or plain.endswith(f".{pattern}")
        )

    # -- what happens ----------------------------------------------------------------------------

    def entered(self, plan: CheckPlan, frame: FrameType) -> None:
        """Handle the start of a call."""
        if plan.makes:
            self._note_construction(frame)
        if plan.entry >= 0:
            self._check(plan.entry, frame, {})
            self._note_events(plan.events.get(0), frame)

    def passed(self, plan: CheckPlan, frame: FrameType, line: int) -> None:
        """Handle the start of a line with a check."""
        self._check(plan.lines[line], frame, {})
        self._note_events(plan.events.get(line), frame)

    def returned(self, plan: CheckPlan, frame: FrameType, value: Any) -> None:
        """Handle the return of a call."""
        if plan.exit >= 0:
            self._check(plan.exit, frame, {"result": value}, is_exit=True)

    def raised(self, plan: CheckPlan, frame: FrameType) -> None:
        """Handle the end of a call by an exception."""
        if plan.exit >= 0:
            self._check(plan.exit, frame, {}, is_exit=True)

    def _note_construction(self, frame: FrameType) -> None:
        """Count an object of a type, at the constructor of its own type."""
        code = frame.f_code
        values = self._parts.arguments(code, frame)
        own = values.get(code.co_varnames[0])
        kind = type(own)
        known = self._constructors.get(id(kind))
        if known is None:
            # By the type's own descriptors: `__mro__` of a metaclass may run the program's code.
            for base in type.__dict__["__mro__"].__get__(kind):
                found = type.__dict__["__dict__"].__get__(base).get("__init__")
                if found is not None:
                    break
            known = self._constructors[id(kind)] = (kind, getattr(found, "__code__", None))
        if known[1] is not code:
            return
        ordinal = self._types[id(kind)] = self._types.get(id(kind), 0) + 1
        if len(self._made) < _MADE_MAX or id(own) in self._made:
            site = self._own_caller(frame)
            self._made[id(own)] = [ordinal, id(kind), *site]
        if self.follower is not None:
            self.follower.constructed(kind.__qualname__, ordinal, own, code, frame)

    def _own_caller(self, frame: FrameType) -> list[Any]:
        back = frame.f_back
        while back is not None:
            file = self.chosen.file(back.f_code.co_filename)
            if file:
                return [file, back.f_lineno or 0, self._parts.name_of(back.f_code, {})]
            back = back.f_back
        return ["", 0, ""]

    def _check(
        self, place: int, frame: FrameType, more: dict[str, Any], *, is_exit: bool = False
    ) -> None:
        """Evaluate the invariants at a place."""
        ordered = self._ordered_places[place]
        if self.is_over or self._places[ordered]["event"]:
            return
        self._reached[ordered] += 1
        is_of_thread = not self._thread or self.thread_number() == self._thread
        if not is_of_thread or not self._is_begun or self._is_ended:
            return
        names = {**self._parts.variables(frame.f_code, frame), **self.known, **more}
        if self._when is not None:
            is_true, error = self._parts.evaluate_in_frame(
                self._parts, self._write, self._when, names, frame
            )
            if error:
                self._when_failed += 1
                self._when_error = error
            if error or not is_true:
                return
        self._met[ordered] += 1
        if not self._is_numbered(self._met[ordered]):
            return
        self._count_visit(place)
        for number, one in enumerate(self.expressions):
            if self._false[number] or (self._wants_result[number] and "result" not in names):
                continue
            self._check_one(number, one, names, frame, place)
        follower = self.follower
        if follower is not None:
            follower.checked(self.visits, names, frame, is_exit=is_exit)
            self.is_over = self.is_over or follower.is_over
        is_over = self.visits >= self._most or all(self._false) or self._has_all_numbers()
        self.is_over = self.is_over or is_over
        self._end_if_over()

    def _end_if_over(self) -> None:
        if self.is_over:
            self._write_state()
            self._parts.request_end(self._done)

    def _is_numbered(self, number: int) -> bool:
        """Return whether the filter's number chooses this hit of a place."""
        if self._nth:
            return number == self._nth
        return not self._first or number <= self._first

    def _has_all_numbers(self) -> bool:
        """Return whether no later hit of any place is chosen."""
        last = self._nth or self._first
        places = zip(self._places, self._met)  # noqa: B905 - `strict` is of Python 3.10
        return bool(last) and all(met >= last for one, met in places if not one["event"])

    def _note_events(self, numbers: list[int] | None, frame: FrameType) -> None:
        """Begin or end the checks that count."""
        for number in numbers or ():
            test = self._event_tests[number]
            if test is not None:
                names = self._parts.variables(frame.f_code, frame)
                is_true, error = self.truth(test, names, frame)
                if error or not is_true:
                    continue
            self._reached[number] += 1
            if self._places[number]["event"] == "after":
                self._is_begun = True
            elif self._is_begun and not self._is_ended:
                self._is_ended = self.is_over = True
                self._end_if_over()

    def _count_visit(self, place: int) -> None:
        self.visits += 1
        self._counts[place] = self._counts.get(place, 0) + 1
        at = now() - self.began
        # Also early on: another process may end the run at any time.
        if at > self._due or not self.visits & (self.visits - 1):
            self._due = at + _STATE_NS
            self._write_state()

    def _check_one(
        self,
        number: int,
        one: Any,
        names: dict[str, Any],
        frame: FrameType,
        place: int,
    ) -> None:
        is_true, error = self.truth(one, names, frame)
        if error:
            self._failed[number] += 1
            self._errors[number] = error
            return
        key = tuple(
            [id(names[name]) for name in one.names
             if name in names and id(type(names[name])) not in SCALARS]
        )  # fmt: skip
        good = self._good[number]
        if is_true:
            self._true[number] += 1
            self._last_good[number] = self.visits
            if len(good) >= _KEYS_MAX and key not in good:
                good.clear()
            good[key] = self.visits
            return
        self._false[number] = True
        kind, function, file, line = self._labels[place]
        self.write_record(
            "false",
            {
                "expression": number,
                "visit": self.visits,
                "kind": kind,
                "function": function,
                "file": file,
                "line": frame.f_lineno or line,
                "ordinal": self._counts[place],
                "true": self._true[number],
                "failed": self._failed[number],
                "good": good.get(key, 0),
                "any_good": self._last_good[number],
                "values": self.operand_texts(number, names, frame),
                "objects": self._described_objects(one, names),
                "stack": self.stack_of(frame),
                "thread": self.thread_number(),
                "plain": self.plain_locals(names),
            },
        )

    def _described_objects(self, one: Any, names: dict[str, Any]) -> list[Any]:
        """Describe the objects of the names of an expression that were made by a constructor."""
        found = []
        for name in one.names:
            value = names.get(name)
            made = self._made.get(id(value))
            kind = type(value)
            if made is not None and made[1] == id(kind):
                found.append([name, _QUALNAME(kind), made[0], *made[2:]])
        return found

    def truth(self, one: Any, names: dict[str, Any], frame: FrameType) -> tuple[bool, str]:
        """Evaluate an invariant; an error is a text."""
        value, error = self._parts.evaluate_in_frame(self._parts, self._write, one, names, frame)
        if error:
            return False, error
        try:
            return bool(value), ""
        except BaseException as problem:  # noqa: BLE001 - none of it is the program's
            return False, f"{type(problem).__name__}: {self._write.raised(problem)}"

    def operand_texts(
        self, number: int, names: dict[str, Any], frame: FrameType
    ) -> list[list[str]]:
        """Return the operands of an invariant with their values, without those that fail."""
        found = []
        for one in self.operands[number]:
            value, error = self._parts.evaluate_in_frame(
                self._parts, self._write, one, names, frame
            )
            if not error:
                found.append([one.text, self._write(value)])
        return found

    def plain_locals(self, names: dict[str, Any]) -> list[list[str]]:
        """Return the variables that are numbers, texts, functions or types, with their values."""
        found = []
        for name, value in names.items():
            kind = type(value)
            if id(kind) in SCALARS:
                found.append([name, self._write(value)])
            elif id(kind) in _NAMED:
                found.append([name, value.__name__])
            if len(found) >= _PLAIN:
                break
        return found

    def stack_of(self, frame: FrameType) -> list[list[Any]]:
        """Return a frame and its callers in the program's own code: function, file, line."""
        found: list[list[Any]] = []
        back: FrameType | None = frame
        while back is not None and len(found) < _STACK:
            file = self.chosen.file(back.f_code.co_filename)
            if file:
                name = self._parts.name_of(back.f_code, self._parts.arguments(back.f_code, back))
                found.append([name, file, back.f_lineno or 0])
            back = back.f_back
        return found

    def thread_number(self) -> int:
        """Return the number of the current thread, in the order of their first check."""
        return self._threads.setdefault(self._parts.thread_key(), len(self._threads) + 1)
