"""Follows the values of a program while it runs, and reports the origin of one at a location.

Each line of the program's own code that assigns, calls or returns stores where its value came from
(see `value_links`). At the location the chain of links behind the expression's value is written.
"""

from __future__ import annotations

import ast
import sys
from time import perf_counter_ns as now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_OUTWARD = 60  # frames of a library between two of the program
_DEEP = 400  # frames of the stack at the beginning of a window
_INNER = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"})
_IMPORTER = "<frozen importlib."
_OPTIMIZED = 0x1
_TEXTS = (str, bytes)
_ITERATED = 0x20 | 0x200  # generators, and asynchronous ones
_set_trace, _get_trace = sys.settrace, sys.gettrace  # before they are wrapped for the program


class _SharedState:
    """What all calls share."""

    def __init__(self, reader: Any, links: Any, plans: Any, closures: Any, windows: Any) -> None:
        self.store = reader.store
        self.links = links
        self.plans = plans
        self.closures = closures
        self.windows = windows
        self.missing = links.MISSING


class OriginRecorder:
    """Follows the values of one process."""

    def __init__(
        self, order: dict[str, Any], journal: Any, write: Any, parts: Any, numbered: Any = None
    ) -> None:
        self._journal = journal
        self._write = write
        self._parts = parts
        self.chosen = parts.CodeChooser(order)
        self.plans = parts.SourcePlans()
        inputs = parts.InputCalls(parts)
        self.reader = parts.OriginReader(parts, parts, inputs)
        self.reader.items = items = parts.ItemLinks(self.reader, parts, parts)
        self.reader.cached = parts.CachedResults(self.reader, parts, self.plans)
        self._writes = parts.StatementWrites(self.reader, parts, parts, inputs, items)
        self._arguments = parts.ArgumentOrigins(self.reader, parts, parts, self.plans)
        self._results = parts.CallResults(
            self.reader, self._writes, self._arguments, self.plans, parts
        )
        closures = parts.ClosureLinks(parts.is_same)
        self.numbered: Any = numbered  # numbers the calls of code that takes numbers itself
        self.windows: Any = (
            parts.CallWindows(order["origin"])
            if numbered is None
            else parts.NumberedWindows(order["origin"], numbered.numbers)
        )
        self._shared = _SharedState(self.reader, parts, parts, closures, self.windows)
        self._positions = parts.CallPositions()
        self._hits = parts.OriginHits(order, self, write, parts)
        self.errors = parts.OriginErrors(self, self._hits, parts)
        found = (self.chosen, self._hits, self.windows, self.plans)
        self.followed = parts.FollowedCodes(*found, parts)
        self.codes: dict[int, Any] = {}
        self.plain_codes: dict[int, CodeType] = {}  # by the identity of code that takes numbers
        self.scopes: dict[int, Any] = {}  # of the recorded calls that run, by frame
        self._numbers: dict[int, int] = {}  # of the own calls, by frame
        self._threads: dict[tuple[int, str], int] = {}
        self.began = now()

    def reset(self) -> None:
        """Start over, as a forked child does; its memory is still that of its parent."""
        self.began = now()
        self._threads = {}
        self._hits.begin_process()

    def note(self, kind: str, text: str) -> None:
        """Write a note on the recording itself."""
        self._journal.write(["n", kind, now() - self.began, text], last=True)

    def fault(self, error: BaseException) -> bool:
        """Record an error of our own, which must not reach the program; True if we must stop."""
        if isinstance(error, RecursionError):
            return False
        self.note("fault", f"{type(error).__name__}: {self._write.raised(error)}")
        return True

    def thread(self) -> Any:
        """Return the state that other recorders have of a thread; this one has none."""
        return None

    @property
    def is_over(self) -> bool:
        """Whether nothing more is recorded."""
        return bool(self._hits.is_over)

    # -- calls -------------------------------------------------------------------------------------

    def called(self, frame: FrameType, event: str, _argument: Any) -> Any:
        """Begin to follow a call (a trace function); None for code that is not the program's."""
        if event != "call" or self._hits.is_over:
            return None
        code = frame.f_code
        try:
            known = self.find_code(frame)
            if known is None:
                if self.windows.pass_calls(int(not self._parts.is_ours(frame))):
                    self.spend_calls(frame)
                return None
            windows = self.windows
            if known.generates and not self._parts.is_entered(code, frame.f_lasti):
                return self.follow_call(known, frame, windows.count)  # a resumption is no call
            windows.count = number = windows.count + 1
            if number >= windows.border and windows.pass_border():
                self.begin_window(frame)
            if not (windows.is_full or number in windows.kept or known.watched or known.generates):
                # The way of most calls, kept short.
                windows.unrecorded += 1
                windows.gap = number
                known.met += 1
                self._numbers[id(frame)] = number
                if known.is_entry:
                    self._hits.meet_unrecorded(code, frame)
                return known.unrecorded_trace
            return self.follow_call(known, frame, number)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self.end_at_fault(error)
            return None

    def follow_call(self, known: Any, frame: FrameType, number: int) -> Any:
        """Begin or go on with a call that may be recorded."""
        code, windows = known.code, self.windows
        if known.enter is not None:
            return known.enter(frame)
        scope: Any = self.scopes.get(id(frame))
        is_resumed = scope is not None and scope.code is code
        if known.generates and not self._parts.is_entered(code, frame.f_lasti):
            if is_resumed and (windows.is_full or scope.is_kept):
                if windows.pass_calls(self._parts.RESUMED_CALLS):
                    windows.spend_calls(is_free=False)
                self._find_caller(scope, frame)
                return scope.trace
            return self._skip_call(known, frame)
        known.met += 1
        if self.numbered is None:
            self._numbers[id(frame)] = number
        # A module in whose import the location is has no budget of its own.
        if known.is_import and windows.is_full and number not in windows.kept:
            if windows.skips_imports:
                self._skip_import(id(frame))
                return self._skip_call(known, frame)
            windows.importing += 1
        if not self._is_recorded(known, number):
            return self._skip_call(known, frame)
        # Its code counts it next.
        return self._record_call(known, frame, number, known.calls + (known.counter is not None))

    def spend_calls(self, frame: FrameType) -> None:
        """Count calls of a library as a statement, of which a frame is the last."""
        back, count, is_free = frame.f_back, 0, False
        while back is not None and count < _OUTWARD and not is_free:
            code = back.f_code
            if self.codes.get(id(code)) is not None:
                break  # the program's own
            is_free = code.co_filename.startswith(_IMPORTER) or self._parts.is_ours(back)
            back, count = back.f_back, count + 1
        self.windows.spend_calls(is_free=is_free)

    def enter_numbered(self, known: Any, frame: FrameType, number: int) -> Any:
        """Begin with a call whose code has taken its number, and return its trace function."""
        if self._is_recorded(known, number):
            return self._record_call(known, frame, number, known.calls)
        if known.is_entry:
            self._hits.meet_unrecorded(known.code, frame)
        return known.unrecorded_trace

    def _is_recorded(self, known: Any, number: int) -> bool:
        """Return whether a call is recorded, at least its writes of watched names."""
        windows = self.windows
        if windows.is_full or number in windows.kept:
            return True
        if known.watched:
            known.watched = windows.watch_call()
        return bool(known.watched)

    def _record_call(self, known: Any, frame: FrameType, number: int, call: int) -> Any:
        windows = self.windows
        is_kept = number in windows.kept
        if known.is_own and self.numbered is not None:
            windows.record_call()
        scope = self._enter_call(known, frame, number, call)
        scope.is_kept = is_kept or not windows.is_full
        if not (is_kept or windows.is_full):
            windows.skip_call()
            scope.is_partial = True
            scope.plans = self._parts.WatchedPlans(known.plans, windows.watched)
        return scope.trace

    def _skip_call(self, known: Any, frame: FrameType) -> Any:
        """Do not record a call; return its trace function."""
        self.windows.skip_call()
        if known.is_entry and self._parts.is_entered(known.code, frame.f_lasti):
            self._hits.meet_unrecorded(known.code, frame)
        self.scopes.pop(id(frame), None)
        return self._unrecorded_trace(known, frame)

    def _unrecorded_trace(self, known: Any, frame: FrameType) -> Any:
        """Return the trace function of a call that is not recorded, or no longer."""
        is_skipped = id(frame) == self.windows.skipped_import
        found = self._trace_unrecorded if is_skipped else known.unrecorded_trace
        # A generator that goes on has the trace function that it had.
        frame.f_trace, frame.f_trace_lines = found, bool(known.is_location)
        return found

    def bare_scope(self, code: CodeType, frame: FrameType) -> Any:
        """Return a scope without links, of a call that is not recorded."""
        scope = self._parts.CallScope(self._shared, code, frame.f_globals, ())
        scope.held, scope.line = self._parts.variables(code, frame), frame.f_lineno
        scope.number = self.number_of(frame)
        scope.thread = self._thread_number()
        return scope

    def find_code(self, frame: FrameType) -> Any:
        """Return what is known of a frame's code; None if it is not followed."""
        code = frame.f_code
        known = self.codes.get(id(code), 0)
        if known != 0:
            return known
        known = self.codes[id(code)] = self.followed.make(code, self._trace_unrecorded)
        if known is None:
            # Kept, so that no other code gets its identity.
            self.codes[-id(code)] = code
            return None
        if self.numbered is not None:
            known.counter = self.numbered.numbering.counter_of(code)
        if code.co_name == "<module>":
            known.is_import = frame.f_globals.get("__name__") != "__main__"
            self._shared.closures.add_code(code)
        return known

    def meet_unrecorded(self, frame: FrameType) -> None:
        """Count a hit of the location in a call that is not recorded."""
        self._hits.meet_unrecorded(frame.f_code, frame)

    def number_of(self, frame: FrameType) -> int:
        """Return which of the program's calls a frame is; 0 if that is not known."""
        if self.numbered is not None:
            return int(self.numbered.number_of(frame))
        return self._numbers.get(id(frame), 0)

    def _enter_call(self, known: Any, frame: FrameType, number: int, call: int) -> Any:
        code = known.code
        scope = self._new_scope(known, frame, number)
        scope.call = call
        scope.line = code.co_firstlineno
        if code.co_flags & _OPTIMIZED:
            name = code.co_name
            if name == "__init__" and code.co_varnames:
                made = scope.held.get(code.co_varnames[0])
                is_first = scope.parent is None or scope.parent.code.co_name != "__init__"
                if is_first:
                    self.reader.store.forget(made)
            self._arguments.bind_parameters(scope)
            if known.is_own:
                self.reader.cached.note_arguments(scope)
            if not known.is_own and name == "__init__":
                self._arguments.bind_fields(scope)
        if known.is_entry:
            self._hits.meet_location(scope, frame)
        return scope

    def _new_scope(self, known: Any, frame: FrameType, number: int) -> Any:
        if known.plans is None:
            known.plans = self.plans.of_code(known.code) if known.is_own else {}
        scope = self._parts.CallScope(self._shared, known.code, frame.f_globals, known.plans)
        self.scopes[id(frame)] = scope
        scope.held = self._parts.local_names(frame)
        scope.thread = self._thread_number()
        scope.number = number
        self._find_caller(scope, frame)
        if scope.parent is None:
            scope.frames = tuple(self.stack_numbers(frame, _OUTWARD))
        scope.trace = self._make_trace(scope, known)
        frame.f_trace_lines = True
        return scope

    def stack_numbers(self, frame: FrameType | None, most: int) -> list[int]:
        """Return the numbers of the own calls on the stack, the innermost first."""
        found: list[int] = []
        back: FrameType | None = frame
        while back is not None and len(found) < most:
            if self.find_code(back) is not None:
                found.append(self.number_of(back))
            back = back.f_back
        return found

    def evaluate(self, code: CodeType, node: Any, outer: Any) -> tuple[Any, Any]:
        """Evaluate the question's expression in a call, with the calls that it makes recorded.

        Returns:
            The value, and the scope in which the expression's operands have their links.
        """
        scope = self._parts.ExpressionScope(self._shared, outer, code, node)
        self._writes.prepare(scope.statements[0], scope)
        known = self.codes[id(code)] = self._parts.FollowedCode(code, is_own=False)
        frames: list[int] = []

        def enter(frame: FrameType) -> None:
            frames.append(id(frame))
            self.scopes[id(frame)] = scope

        known.enter = enter
        saved = self.windows.record_all()
        try:
            # A trace function runs with tracing off.
            names = {**outer.globals, **dict(outer.held)}
            trace = self.numbered.on_call if self.numbered is not None else None
            value = sys.call_tracing(_evaluate_traced, (code, names, trace))
        finally:
            self.windows.restore(saved)
            for one in frames:
                self.scopes.pop(one, None)
        return value, scope

    # -- windows -----------------------------------------------------------------------------------

    def begin_window(self, frame: FrameType) -> None:
        """Record the calls that are running, the outermost first, from where they are now on."""
        running: list[tuple[Any, FrameType]] = []
        back = frame.f_back
        while back is not None and len(running) < _DEEP:
            known = self.find_code(back)
            if known is not None:
                running.append((known, back))
            back = back.f_back
        for known, one in reversed(running):
            scope = self.scopes.get(id(one))
            if scope is not None and scope.code is known.code:
                self._find_caller(scope, one)
                if not scope.is_partial:
                    continue
                scope.plans, scope.is_partial = known.plans, False
            else:
                scope = self._new_scope(known, one, self.number_of(one))
                scope.is_kept = scope.number in self.windows.kept
                if sum(each is known for each, _ in running) == 1:
                    scope.call = known.calls
            self._begin_at(scope, one)
            one.f_trace = scope.trace

    def _begin_at(self, scope: Any, frame: FrameType) -> None:
        """Begin with the statement that a call is at."""
        scope.lasti, scope.line = frame.f_lasti, frame.f_lineno
        statements = scope.plans.get(frame.f_lineno, ())
        scope.start_statement(statements)
        for plan in statements:
            self._writes.prepare(plan, scope)

    def watch_statement(self, known: Any, frame: FrameType) -> Any:
        """Record the statement that a call is at, and return the call's trace function."""
        scope = self._new_scope(known, frame, self.number_of(frame))
        scope.call = known.calls
        scope.is_kept = scope.is_partial = True
        scope.plans = self._parts.WatchedPlans(known.plans, self.windows.watched)
        scope.line = known.code.co_firstlineno
        if not self._parts.stores_parameter(known.code):
            self._arguments.bind_parameters(scope)
        self._begin_at(scope, frame)
        return scope.trace

    def _pause_call(self, known: Any, frame: FrameType) -> None:
        """Record a running call no longer."""
        self._drop_scope(frame)
        self._unrecorded_trace(known, frame)
        self.windows.skip_call()
        if self.numbered is not None:
            self.numbered.pause_call(known, frame)

    def _drop_scope(self, frame: FrameType) -> None:
        scope = self.scopes.pop(id(frame), None)
        if scope is not None:
            scope.held = {}  # or it would keep what the call lets go

    def _skip_imports(self, frame: FrameType) -> None:
        """Record nothing until the outermost of the modules that are being imported is done."""
        outermost = 0
        back: FrameType | None = frame
        while back is not None:
            known = self.find_code(back)
            if known is not None and known.is_import and id(back) in self.scopes:
                outermost = id(back)
            back = back.f_back
        if outermost:
            self._skip_import(outermost)

    def _skip_import(self, frame: int) -> None:
        """Record nothing until an imported module's body has ended."""
        self.windows.skip_import(frame)
        if self.numbered is not None:
            self.numbered.follow_call(frame)

    def _trace_unrecorded(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Handle an event of a call that is not recorded: its location, its exceptions, its end."""
        try:
            hits = self._hits
            if event == "line":
                # The line of an empty module is 0, as is that of an event.
                if 0 < hits.line == frame.f_lineno and not hits.is_over:
                    hits.meet_unrecorded(frame.f_code, frame)
            elif event == "exception":
                self.errors.meet_unrecorded(frame, argument)
            elif event == "return":
                if id(frame) == self.windows.skipped_import:
                    self.windows.end_skipped_import()
                last = self._parts.last_instruction(frame.f_code, frame.f_lasti)
                if self.numbered is not None and last not in self._parts.YIELDS:
                    self.numbered.end_call(frame)
                self.errors.end_unrecorded(frame, argument)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self.end_at_fault(error)
            return None
        return self._trace_unrecorded

    def _find_caller(self, scope: Any, frame: FrameType) -> None:
        """Find the innermost caller of the program's own, and the position of its call."""
        scope.parent, outer, inner = None, frame.f_back, None
        for _ in range(_OUTWARD):
            if outer is None:
                return
            found = self.scopes.get(id(outer))
            if found is not None and found.code is outer.f_code:
                break
            if self.find_code(outer) is not None:
                return  # a call of the program's own that is not recorded
            inner, outer = outer, outer.f_back
        else:
            return
        scope.parent = found
        # The frame of a comprehension is that of the function in whose source it stands.
        is_inner = inner is not None and inner.f_code.co_name in _INNER
        scope.is_direct = inner is None or (is_inner and inner.f_back is outer)
        scope.is_cached = inner is not None and inner.f_code.co_name == "__get__"
        at = inner if is_inner and inner is not None else outer
        scope.position = self._positions.position(at.f_code, at.f_lasti) if at else None
        found.held = self._parts.local_names(outer)
        scope.stack = found.caller_stack(outer.f_lineno)

    def _thread_number(self) -> int:
        number: int = self._parts.thread_number(self._threads, self._journal.write)
        return number

    # -- lines -------------------------------------------------------------------------------------

    def _make_trace(self, scope: Any, known: Any) -> Any:
        """Return the trace function of one call."""
        hits, windows = self._hits, self.windows

        # A closure and no method, because it runs at every line of the call.
        def traced(frame: FrameType, event: str, argument: Any) -> Any:
            if hits.is_over:
                frame.f_trace_lines = False
                return None
            try:
                if event == "line":
                    if not windows.is_full and not self._is_kept(scope):
                        self._pause_call(known, frame)
                        if known.is_location and frame.f_trace is not None:
                            self._trace_unrecorded(frame, event, argument)
                        return None
                    self._on_line(scope, frame, known)
                    if scope.is_partial and self.numbered is not None and not scope.statements:
                        self._drop_scope(frame)
                        self.numbered.end_statement(known, frame)
                        return None
                elif event == "return":
                    self._on_return(scope, frame, argument, known)
                elif event == "exception":
                    self.errors.meet_traced(scope, frame, argument)
            except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
                self.end_at_fault(error)
                return None
            return traced

        return traced

    def is_kept(self, known: Any, frame: FrameType) -> bool:
        """Return whether a running call is recorded outside of windows."""
        scope = self.scopes.get(id(frame))
        return scope is not None and scope.code is known.code and self._is_kept(scope)

    def _is_kept(self, scope: Any) -> bool:
        """Return whether a call is recorded outside of the windows, within its bound."""
        return bool(scope.is_kept) and not self.windows.is_kept_over(scope.spent)

    def end_at_fault(self, error: Exception) -> None:
        """Record an error of our own, and nothing after it."""
        if self.fault(error):
            self._hits.is_over = True

    def _on_line(self, scope: Any, frame: FrameType, known: Any) -> None:
        line = frame.f_lineno
        statements = scope.plans.get(line, ())
        if scope.error is not None:
            # A handler or a `finally` begins, which may let it pass without a further event.
            scope.passing, scope.error = id(scope.error), None
        before = scope.statements
        is_same = bool(before) and bool(statements) and statements[-1] is before[-1]
        # Another line of the same statement; only a jump back begins it again.
        if is_same and frame.f_lasti > scope.lasti:
            return
        scope.held = self._parts.local_names(frame)
        self._finish_statements(scope, line)
        if known.is_location and line == self._hits.line:
            self._hits.meet_location(scope, frame)
        scope.start_statement(statements)
        scope.lasti, scope.line = frame.f_lasti, line
        if statements:
            scope.spent += not self.windows.is_full
            if self.windows.is_full and self.windows.spend_statement() and self.windows.importing:
                self._skip_imports(frame)
        for plan in statements:
            if plan.stores or plan.calls or isinstance(plan.node, (ast.Return, ast.Expr)):
                self._writes.prepare(plan, scope)

    def _finish_statements(self, scope: Any, line: int) -> None:
        """Store what the statements have written that ran before a line; 0 is the call's end."""
        for plan in scope.statements:
            if plan.stores or plan.calls:
                self._writes.finish(plan, scope, line)
        scope.start_statement(())

    def _on_return(self, scope: Any, frame: FrameType, value: Any, known: Any) -> None:
        code = scope.code
        if known.is_import:
            self.windows.importing = max(self.windows.importing - 1, 0)
            if id(frame) == self.windows.skipped_import:
                self.windows.end_skipped_import()
        last = self._parts.last_instruction(code, frame.f_lasti)
        is_yield = last in self._parts.YIELDS and code.co_flags & self._parts.GENERATES
        is_passed = scope.error is not None or (scope.passing and not is_yield)
        if is_passed and value is None and last not in self._parts.RETURNS:
            self._end_scope(frame)
            error, scope.error = scope.error, None
            self.errors.leave_code(frame, error, scope.passing)
            return
        scope.held = self._parts.local_names(frame)
        if code.co_flags & _OPTIMIZED or is_yield:
            self._results.note_result(scope, frame, value, is_yield=bool(is_yield))
        if not is_yield:
            self._finish_statements(scope, 0)
            self._end_scope(frame)
            parent = scope.parent
            if parent is not None and not code.co_flags & _OPTIMIZED:
                parent.classes[code.co_name] = scope.names

    def _end_scope(self, frame: FrameType) -> None:
        self.scopes.pop(id(frame), None)
        if self.numbered is not None:
            self.numbered.end_call(frame)

    def end(self) -> None:
        """Write the origin at the last hit, or of the exception that ended the program."""
        self._hits.end()
        self._journal.write(["end", now() - self.began, self._journal.dropped, 0, 0], last=True)


def _evaluate_traced(code: CodeType, names: dict[str, Any], trace: Any) -> Any:
    """Evaluate code below `sys.call_tracing`, with a trace function where none is set."""
    before = _get_trace()
    _set_trace(before or trace)  # Python 3.11 traces only after that
    try:
        return eval(code, names)  # noqa: S307 - the user's own
    finally:
        if before is None:
            _set_trace(None)
