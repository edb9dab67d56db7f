"""Finds the location of an origin, evaluates the expression there, and reports its origin.

A location is a line, a function's entry, or the exception that ends the program or a test. Where
the calls around it are not recorded, its number among the calls is reported instead of the links.
"""

from __future__ import annotations

import ast
import sys
from _thread import get_ident
from collections import deque
from time import process_time_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_ERRORS = 200  # exceptions whose values are kept
_CONTENTS = 8  # writes into a container that is the value
_SEARCHES = 200  # hits at which changed objects are looked for
_UNRECORDED = 1_000  # hits in calls that are not recorded, at which the value is looked at
_LOOKED_AT = 200  # exceptions at which the values are looked at
_ERROR_SLACK = 100  # exceptions by which two runs may differ
_CAUSES = 8  # of an exception
_FRAMES = 400  # of the stack at a location
_OPTIMIZED = 0x1
_EXIT = "SystemExit"
_CRASH, _FAIL = "crash", "fail"
# What is evaluated again for its part.
_EVALUATED = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
_TEXTS = (str, bytes)
_OF_NONE = (AttributeError, TypeError)
_NONE = type(None)
# Outcomes of pytest that are no failures.
_OUTCOMES = frozenset({"Skipped", "XFailed", "Exit", "SkipTest"})


class OriginHit:
    """The value of the expression at one hit of the location, and its origin."""

    __slots__ = (
        *(
            "cached",
            "changed",
            "contents",
            "departs",
            "ends_program",
            "error",
            "frame",
            "how",
            "leaves",
            "located",
            "note",
            "number",
            "sources",
        ),
        *("value",),
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.frame: Any = None  # file, function, line
        self.value: Any = None  # its text, and its stored value
        self.how = ""
        self.note = ""
        self.sources: tuple[Any, ...] = ()
        self.located: Any = None  # the calls so far, and those on the stack
        self.error: Any = None  # the exception's identity, type and text
        self.contents: tuple[Any, ...] = ()  # the last writes into the value, a container
        self.cached: list[Any] = []  # values of the running calls that came out of a cache
        self.changed: Any = None  # what a local name reaches, and another owner's code changed
        self.ends_program = False  # if the exception leaves the program's own code
        self.leaves = ""  # the outermost function of the program that the exception left
        # The part by which the value failed its check or is wrong, its text, and that of the other
        # value there.
        self.departs: tuple[str, str, str | None] | None = None


class OriginHits:
    """The hits of one process's location, for one of the expressions at it."""

    def __init__(
        self, order: dict[str, Any], recorder: Any, write: Any, parts: Any, number: int = 0
    ) -> None:
        origin = order["origin"]
        expressions = (origin["expression"], *origin["further"])
        # Further expressions have hits of their own: one may have a value where another has none.
        self._further: list[OriginHits] = [
            OriginHits(order, recorder, write, parts, one)
            for one in range(1, 0 if number else len(expressions))
        ]
        self._number = number
        self._done: str = order.get("done", "")
        self._file: str = origin["file"]
        self._recorder = recorder
        self._write = write
        self._parts = parts
        self.event: str = origin["event"]
        self._nth: int = origin["nth"]
        self._every_hit: bool = origin["every_hit"]
        self.line: int = origin["line"] if not self.event else 0
        self._name: str = origin["name"] if not self.event else ""
        self._expression = ast.parse(expressions[number], mode="eval").body
        self._names = _find_names(self._expression)
        self._compiled = compile(expressions[number], parts.EXPRESSION_FILE, "eval")
        self._when = compile(origin["when"], "<when>", "eval") if origin["when"] else None
        # What runs the tests says which of them failed, and by which exception.
        self._tests: Any = None
        if self.event == _FAIL and not number:
            self._tests = parts.ChosenTests(order["only"], self._note_failure)
            parts.install(self._tests)
        self.begin_process()

    def begin_process(self) -> None:
        """Count from 0, as a process does that begins."""
        for one in self._further:
            one.begin_process()
        self.is_over = False
        self._main = get_ident()
        # For all expressions: what one of them calls is no code of the program.
        self._recorder.is_evaluating = False
        self._count = 0
        self._kept: deque[OriginHit] = deque(maxlen=max(-self._nth, 1))
        self._errors: dict[int, OriginHit] = {}
        self._escaped: list[OriginHit] = []
        self._met = 0  # exceptions that left calls which are not traced, and may have a value
        self._failed: OriginHit | None = None  # of the first test that failed in the program's code
        self._problem = ""
        self._searches = 0  # for changed objects
        self._unrecorded = 0  # hits in calls that are not recorded
        self._call = -1  # of the last of these hits, and where it was first
        self._located: dict[str, Any] = {}

    # -- lines and entries -------------------------------------------------------------------------

    def has_line(self, code: CodeType) -> bool:
        """Return whether the location is a line of a code object."""
        if not self.line or not self._is_of_file(code):
            return False
        return self.line in self._parts.lines_of(code)

    def is_entry(self, code: CodeType) -> bool:
        """Return whether the location is the entry of a function."""
        name = self._name
        if not name:
            return False
        full = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
        is_named = name in (code.co_name, full) or full.endswith(f".{name}")
        return is_named and bool(code.co_flags & _OPTIMIZED) and self._is_of_file(code)

    def _is_of_file(self, code: CodeType) -> bool:
        file = self._file
        if not file:
            return True
        known = self._recorder.chosen.file(code.co_filename)
        return bool(known) and f"/{known}".endswith(f"/{file.lstrip('/')}")

    def meet_location(self, scope: Any, frame: FrameType) -> None:
        """Count a hit of the location, and report the requested one."""
        if not self._is_counted(lambda: (scope.globals, dict(scope.held))):
            return
        if self._nth < 0 or self._count == self._nth:
            self._take_hit(scope, frame)

    def meet_unrecorded(self, code: CodeType, frame: FrameType) -> None:
        """Count a hit in a call that is not recorded, and report the requested one.

        If the last hit is requested, only the place of the hits after many is kept, and a run that
        knows its number finds the value.
        """
        if not self._is_counted(lambda: (frame.f_globals, self._parts.variables(code, frame))):
            return
        if 0 < self._nth != self._count:
            return
        self._unrecorded += 1
        if self._nth > 0 or self._every_hit or self._unrecorded <= _UNRECORDED:
            self._take_hit(self._recorder.bare_scope(code, frame), frame)
            return
        # The way of most hits, kept short.
        hit = OriginHit(self._count)
        call = self._recorder.number_of(frame)
        if call != self._call:
            self._call, self._located = call, self._locate(frame)
        windows = self._recorder.windows
        hit.located = {
            **self._located,
            "calls": windows.count,
            "unrecorded": windows.unrecorded,
            "gap": windows.gap,
        }
        self._kept.append(hit)

    def _is_counted(self, find_names: Any) -> bool:
        """Return whether a hit counts, by the condition on its names; it is counted then."""
        if self._recorder.is_evaluating:
            return False  # the expression's own call comes to the location
        if self._when is not None:
            try:
                is_true = eval(self._when, *find_names())  # noqa: S307 - the user's
            except BaseException as error:  # noqa: BLE001 - none of it is the program's
                self._problem = f"{type(error).__name__}: {self._write.raised(error)}"
                return False
            if not is_true:
                return False
        self._count += 1
        return True

    def _take_hit(self, scope: Any, frame: FrameType) -> None:
        self._kept.append(self._evaluate(scope, frame, self._count))
        if self._count == self._nth:
            self.is_over = True
            self._report(self._kept[-1])
            self._parts.request_end(self._done)

    def _evaluate(
        self, scope: Any, frame: FrameType, number: int, raised: BaseException | None = None
    ) -> OriginHit:
        """Evaluate the expression in a frame, with the links behind it.

        The calls that it makes are recorded like the program's own: a value may be behind a getter.
        """
        hit, code = OriginHit(number), scope.code
        line = frame.f_lineno or scope.line or code.co_firstlineno
        hit.frame = self._describe_frame(code, line)
        hit.located = self._locate(frame)
        is_test = self.event == _FAIL and code.co_name.startswith("test")
        if (not self.event or is_test) and self._searches < _SEARCHES:
            self._searches += 1  # with --nth last each hit is evaluated
            hit.changed = self._parts.find_changed(scope, self._recorder.reader, self._parts)
        if self._take_made(hit, scope, raised):
            return hit
        self._recorder.is_evaluating = True
        expression = self._expression
        try:
            value, inner = self._recorder.evaluate(self._compiled, expression, scope)
            found = self._find_departure(value, scope, line)
            if found is not None:
                text = f"{ast.unparse(expression)}{found.path}"
                other = "nothing" if found.is_surplus else self._write(found.other)
                hit.departs = (found.shown_path, self._write(found.value), other)
                expression = ast.parse(text, mode="eval").body
                compiled = compile(text, self._parts.EXPRESSION_FILE, "eval")
                value, inner = self._recorder.evaluate(compiled, expression, scope)
        except BaseException as error:  # noqa: BLE001 - none of it is the program's
            self._problem = f"{type(error).__name__}: {self._write.raised(error)}"
            return hit
        finally:
            self._recorder.is_evaluating = False
        snap = self._parts.snap_value(value)
        hit.value = (self._write(value), snap)
        hit.contents = self._recorder.reader.last_writes(value, _CONTENTS)
        reader = self._recorder.reader
        hit.how, hit.sources = reader.origin(expression, inner, snap)
        assigned = self._assigned_within(expression, scope)
        if assigned is not None and not any(one.link is not None for one in hit.sources):
            inner = scope
            hit.how, hit.sources = reader.origin(assigned, scope, snap)
        hit.note = inner.note
        removal = reader.removals.find_cause(value, raised)
        if removal is not None:
            hit.how, hit.sources = (
                "copy",
                (self._parts.ValueOperandLink(expression, removal, snap),),
            )
        return hit

    def _take_made(self, hit: OriginHit, scope: Any, error: BaseException | None) -> bool:
        """Take what the statement's call returned, as another call may give another.

        Only where an exception says that it is None, or which of its items is wrong, as of
        `load()` in `sum(load())`; return False elsewhere.
        """
        message = error.args[0] if error is not None and error.args else None
        is_of_none = type(error) in _OF_NONE and type(message) is str
        if not isinstance(self._expression, ast.Call) or not is_of_none:
            return False
        reader, find = self._recorder.reader, self._parts.find_failed_result
        found = find(self._expression, scope, message, reader)
        if found is None:
            return False
        call, part = found
        if part == "":
            self._problem = f"what {ast.unparse(call)} returned was not recorded"
        elif part is None:
            hit.value = (self._write(None), None)
            hit.how, hit.sources = reader.origin(call, scope, None)
            hit.note = scope.note
        else:
            key, link = part
            hit.value = (self._write(link.value), link.value)
            hit.departs = (key, hit.value[0], None)
            hit.how = "copy"
            hit.sources = (self._parts.ValueOperandLink(call, link, link.value),)
        return True

    def _assigned_within(self, expression: Any, scope: Any) -> Any:
        """Return what the running statement itself assigns to a name, as `x` of `y := x`."""
        name = getattr(expression, "id", "")
        bound = (one for plan in scope.statements for one in plan.bound)
        return next((one.value for one in bound if one.target.id == name), None)

    def _describe_frame(self, code: CodeType, line: int) -> list[Any]:
        name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
        return [self._recorder.chosen.file(code.co_filename) or code.co_filename, name, line]

    def _find_departure(self, value: Any, scope: Any, line: int) -> Any:
        """Return the part by which a value fails the check at a line; None without one."""
        if not (self.event or self.line) or not isinstance(self._expression, _EVALUATED):
            return None
        plans = self._recorder.plans
        statements = [one.node for one in plans.of_code(scope.code).get(line)]
        text = ast.unparse(self._expression)
        where = (statements, plans.function_of(scope.code), line)
        other = self._parts.find_compared(*where, text)
        if other is not None:
            known = self._read_compared(other, scope)
            # A check that has not run yet may hold; equal containers have no part that departs.
            is_equal = type(value) in _TEXTS and type(known) is type(value) and known == value
            if known is self._recorder.reader.missing or is_equal:
                return None
            return self._parts.find_difference(value, known, self._parts.common_size)
        count = self._parts.find_compared(*where, f"len({text})")
        known = self._read_compared(count, scope) if count is not None else None
        return self._parts.find_surplus(value, known) if type(known) is int else None

    def _read_compared(self, other: ast.expr, scope: Any) -> Any:
        """Return the value that the followed one was compared with; MISSING if it is not known."""
        known = self._recorder.reader.read(other, scope)
        if known is not self._recorder.reader.missing:
            return known
        if self.event and (_calls_nothing(other) or self._is_same_call(other)):
            code = compile(ast.Expression(other), self._parts.EXPRESSION_FILE, "eval")
            return self._recorder.evaluate(code, other, scope)[0]
        try:
            return ast.literal_eval(other)
        except ValueError:
            return known

    def _is_same_call(self, other: ast.expr) -> bool:
        """Return whether an expression calls what the followed one calls, which was evaluated."""
        own = self._expression
        if not isinstance(own, ast.Call) or not isinstance(other, ast.Call):
            return False
        return ast.dump(own.func) == ast.dump(other.func)

    def _locate(self, frame: FrameType | None) -> dict[str, Any]:
        """Return where the run is: the number of calls, and the numbers of those on the stack."""
        recorder = self._recorder
        windows = recorder.windows
        return {
            "calls": windows.count,
            "frames": recorder.stack_numbers(frame, _FRAMES),
            "unrecorded": windows.unrecorded,
            "gap": windows.gap,
            "statements": windows.total,
            "ns": process_time_ns(),
        }

    # -- exceptions --------------------------------------------------------------------------------

    def has_names(self, frame: FrameType) -> bool:
        """Return whether a call may have the names of one of the expressions."""
        return any(one.missing_name(frame) is None for one in (self, *self._further))

    def missing_name(self, frame: FrameType) -> str | None:
        """Return a name of the expression that a call cannot have; None if it may have all."""
        code = frame.f_code
        local: Any = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        if not code.co_flags & _OPTIMIZED:
            local = self._parts.local_names(frame)
        outer = (frame.f_globals, frame.f_builtins)
        for name in self._names:
            if name not in local and not any(name in names for names in outer):
                return name
        return None

    def pass_error(
        self, frame: FrameType, error: BaseException, line: int, *, is_new: bool
    ) -> None:
        """Keep an exception in a call that cannot have a value of any expression."""
        for one in (self, *self._further):
            one.keep_passed(frame, error, line, is_new=is_new)

    def keep_passed(
        self, frame: FrameType, error: BaseException, line: int, *, is_new: bool
    ) -> None:
        """Keep an exception in a call that cannot have a value of this expression."""
        if is_new or self._find_error(error) is None:
            self._problem = f"NameError: name {self.missing_name(frame)!r} is not defined"
            # It is described when it leaves the program's code: most of them do not.
            hit = OriginHit(1)
            hit.frame, hit.error = self._describe_frame(frame.f_code, line), (id(error), "", "")
            self._keep_error(hit)

    def meet_error(
        self,
        scope: Any,
        frame: FrameType,
        error: BaseException,
        *,
        is_new: bool,
        is_traced: bool = True,
    ) -> None:
        """Keep the values of the expressions where an exception is raised, and its callers.

        One that is new in its frame may have the number of another that is gone. After many that
        left calls which are not traced, only the place is kept, and a run that knows the number of
        the last one finds the values.
        """
        if self._recorder.is_evaluating:
            return
        number = 0
        if not (is_traced or self._every_hit):
            self._met += 1
            border = self._nth - _ERROR_SLACK
            is_looked_at = self._met > border if self._nth > 1 else self._met <= _LOOKED_AT
            number = 0 if is_looked_at else self._met
        for one in (self, *self._further):
            one.keep_met(scope, frame, error, is_new=is_new, number=number)

    def keep_met(
        self, scope: Any, frame: FrameType, error: BaseException, *, is_new: bool, number: int
    ) -> None:
        """Keep the value of this expression, unless an inner call had one; or only its number."""
        known = self._find_error(error) if not is_new else None
        is_counted = known is not None and known.frame is None
        if known is not None and (known.value is not None or (number and is_counted)):
            return
        if number:
            hit = OriginHit(number)
            hit.located = self._locate(frame) if self._nth <= 1 else None
        else:
            hit = self._evaluate(scope, frame, 1, error)
        if known is not None:
            hit.cached = known.cached
        elif not self._number:
            hit.cached = self._parts.find_cached(frame, self._recorder.scopes)
        hit.error = (id(error), *self._describe_error(error))
        self._keep_error(hit)

    def _keep_error(self, hit: OriginHit) -> None:
        if len(self._errors) >= _ERRORS:
            del self._errors[next(iter(self._errors))]
        self._errors[hit.error[0]] = hit

    def _find_error(self, error: BaseException) -> Any:
        """Return the hit of an exception; one that is gone may have left its number to another.

        An event loop raises a task's exception again, after it has left the program's own code.
        """
        escaped = (one for one in reversed(self._escaped) if one.error[0] == id(error))
        known = self._errors.get(id(error)) or next(escaped, None)
        if known is None or not known.error[1]:
            return known
        return known if known.error[1:] == self._describe_error(error) else None

    def _describe_error(self, error: BaseException) -> tuple[str, str]:
        name = type(error).__name__
        return name, f"{name}: {self._write.raised(error)}"

    def leave_code(self, error: Any, code: CodeType, ident: int) -> None:
        """Keep an exception that leaves the program's own code; None where it is not at hand."""
        # Without a runner that says so, a test is known by its name.
        has_runner = self._tests is not None and self._tests.has_begun
        is_test = self.event == _FAIL and not has_runner and code.co_name.startswith("test")
        for one in (self, *self._further):
            one.keep_escaped(error, code, ident, is_test=is_test)

    def keep_escaped(self, error: Any, code: CodeType, ident: int, *, is_test: bool) -> None:
        """Keep an exception that leaves the program's own code, for this expression."""
        known = self._errors.pop(ident, None)
        if known is None:
            return
        known.leaves = code.co_name
        if error is not None:
            known.error = (ident, *self._describe_error(error))
        is_exit = isinstance(error, SystemExit) or known.error[1] == _EXIT
        in_main = get_ident() == self._main
        # With a status alone it is an ordinary end; a message is printed like an error's.
        status = getattr(error, "code", None)
        known.ends_program = not is_exit or (in_main and type(status) not in (_NONE, int, bool))
        self._escaped.append(known)
        del self._escaped[:-_ERRORS]
        if is_test and self._failed is None and known.error[1] not in _OUTCOMES:
            self._failed = known

    def _note_failure(self, error: BaseException) -> None:
        """Keep what was met at the exception of the first failed test."""
        for one in (self, *self._further):
            one.keep_failure(error)

    def keep_failure(self, error: BaseException) -> None:
        """Keep the hit of a failed test's exception, if it is the first with one."""
        if self._failed is None:
            self._failed = next(iter(self._hits_of_chain(error)), None)

    # -- reports -----------------------------------------------------------------------------------

    def _report(self, hit: OriginHit) -> None:
        recorder = self._recorder
        if hit.frame is None:  # its value was not looked at
            if hit.located is None:
                return  # and should have been: there were fewer than in the run before
            self._note("located", self._parts.encode({**hit.located, "ns": process_time_ns()}))
            self._note("counted", str(hit.number))
            return
        hit.located = hit.located or self._locate(None)
        graph = self._parts.OriginGraph(
            self._write, recorder.chosen, recorder.windows, self._parts, recorder.codes
        )
        self._note("located", self._parts.encode(hit.located))
        self._note("origin", self._parts.encode(graph.build_record(hit)))

    def _note(self, kind: str, text: str) -> None:
        """Write a note; those of a further expression have its number."""
        self._recorder.note(f"{kind} {self._number}" if self._number else kind, text)

    def _final_hit(self) -> OriginHit | None:
        if self.event == _CRASH:
            last = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
            same = self._hits_of_chain(last)
            # One that ends another thread is not the last one of the interpreter, nor is an exit.
            others = [one for one in self._escaped if one.ends_program]
            found = same or (others if last is None else [])
            return found[-1] if found else None
        if self.event == _FAIL:
            return self._failed
        return self._kept[0] if len(self._kept) >= -self._nth else None

    def _hits_of_chain(self, error: BaseException | None) -> list[OriginHit]:
        """Return the hit of an exception or of its nearest cause that has the value, as a list."""
        met = {one.error[0]: one for one in (*self._errors.values(), *self._escaped)}
        found: list[OriginHit] = []
        for _ in range(_CAUSES):
            if error is None:
                break
            hit = met.get(id(error))
            if hit is not None:
                found.append(hit)
            error = error.__cause__ or error.__context__
        chosen = [one for one in found if one.value is not None][:1] or found[:1]
        for one in chosen:
            # The first cause was nearest to what went wrong.
            one.cached = next((each.cached for each in reversed(found) if each.cached), [])
        return chosen

    def end(self) -> None:
        """Report the origin at the last hit, or of the exception that ended the program."""
        for one in self._further:
            one.end()
        if self._nth < 0 or self.event:
            hit = self._final_hit()
            if hit is not None:
                self._report(hit)
        self.is_over = True
        self._note("hits", str(self._count))
        if self._problem:
            self._note("condition", self._problem)


def _calls_nothing(node: ast.expr) -> bool:
    """Return whether an expression runs no code of the program, as that of a property.

    Without a name it can call only methods of the texts and the like that it is written with.
    """
    kinds = {type(one) for one in ast.walk(node)}
    if kinds & {ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom}:
        return False
    return ast.Name not in kinds or not kinds & {ast.Call, ast.Attribute, ast.Subscript}


def _find_names(node: ast.expr) -> tuple[str, ...]:
    """Return the names that an expression needs; none if it defines names itself."""
    every = tuple(ast.walk(node))
    if any(isinstance(one, (ast.comprehension, ast.Lambda, ast.NamedExpr)) for one in every):
        return ()
    return tuple({one.id for one in every if isinstance(one, ast.Name)})
