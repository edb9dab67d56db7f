"""Follows the values of a program while it runs, and reports the origin of one at a location.

Each line of the program's own code that assigns, calls or returns stores where its value came from
(see `value_links`). At the location the chain of links behind the expression's value is written.
"""

from __future__ import annotations

import ast
import sys
from _thread import get_ident
from time import perf_counter_ns as now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_OUTWARD = 60  # frames of a library between two of the program
_DEEP = 400  # frames of the stack at the beginning of a window
_INNER = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"})
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


class _FollowedCode:
    """A code object of the program's own."""

    __slots__ = (
        *("calls", "code", "enter", "generates", "is_entry", "is_import", "is_location", "is_own"),
        *("plans", "unrecorded_trace", "watched"),
    )

    def __init__(self, code: CodeType, *, is_own: bool) -> None:
        self.code = code
        self.is_own = is_own  # and not made by a library
        self.generates = False
        self.is_entry = self.is_location = self.is_import = False
        self.plans: Any = None  # of its statements, once they are needed
        self.watched = False  # it may write one of the watched names
        self.calls = 0
        self.unrecorded_trace: Any = None  # the trace function of calls that are not recorded
        self.enter: Any = None  # handles the frame of the question's own expression


class OriginRecorder:
    """Follows the values of one process."""

    def __init__(self, order: dict[str, Any], journal: Any, write: Any, parts: Any) -> None:
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
        closures = parts.ClosureLinks(parts.is_same)
        self.windows = parts.CallWindows(order["origin"])
        self._shared = _SharedState(self.reader, parts, parts, closures, self.windows)
        self._positions = parts.CallPositions()
        self._hits = parts.OriginHits(order, self, write, parts)
        self.codes: dict[int, Any] = {}
        self.scopes: dict[int, Any] = {}  # of the recorded calls that run, by frame
        self.numbers: dict[int, int] = {}  # of the own calls, by frame
        self._threads: dict[int, int] = {}
        self._failing: dict[int, Any] = {}  # exceptions in calls that are not recorded, by frame
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

    # -- calls -------------------------------------------------------------------------------------

    def called(self, frame: FrameType, event: str, _argument: Any) -> Any:
        """Begin to follow a call (a trace function); None for code that is not the program's."""
        code = frame.f_code
        known = self.codes.get(id(code), 0)
        if known is None or event != "call" or self._hits.is_over:
            return None
        try:
            if known == 0:
                known = self._add_code(code, frame)
                if known is None:
                    return None
            windows = self.windows
            windows.count = number = windows.count + 1
            if number >= windows.border and windows.pass_border():
                self._begin_window(frame)
            if not (windows.is_full or number in windows.kept or known.watched or known.generates):
                # The way of most calls, kept short.
                windows.unrecorded += 1
                windows.gap = number
                known.calls += 1
                self.numbers[id(frame)] = number
                if known.is_entry:
                    self._hits.meet_unrecorded(code, frame)
                return known.unrecorded_trace
            return self._follow_call(known, frame, number)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self._end_at_fault(error)
            return None

    def _follow_call(self, known: Any, frame: FrameType, number: int) -> Any:
        """Begin or go on with a call that may be recorded."""
        code, windows = known.code, self.windows
        if known.enter is not None:
            return known.enter(frame)
        scope: Any = self.scopes.get(id(frame))
        is_resumed = scope is not None and scope.code is code
        if known.generates and not self._parts.is_entered(code, frame.f_lasti):
            if is_resumed and (windows.is_full or scope.is_kept):
                self._find_caller(scope, frame)
                return scope.trace
            return self._skip_call(known, frame)
        self.numbers[id(frame)] = number
        known.calls += 1
        if known.is_import and windows.is_full:
            if windows.skips_imports:
                windows.skip_import(id(frame))
                return self._skip_call(known, frame)
            windows.importing += 1
        is_kept = number in windows.kept
        is_recorded = windows.is_full or is_kept
        if not is_recorded and known.watched:
            known.watched = windows.watch_call()
        if not (is_recorded or known.watched):
            return self._skip_call(known, frame)
        scope = self._enter_call(known, frame)
        scope.is_kept = is_kept or not is_recorded
        if not is_recorded:
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
        scope.number = self.numbers.get(id(frame), 0)
        scope.thread = self._thread_number()
        return scope

    def _add_code(self, code: CodeType, frame: FrameType) -> Any:
        """Decide whether code is followed: the program's own, and constructors made for it."""
        file = code.co_filename
        is_made = file == "<string>" and (code.co_name == "__init__" or _makes_tuple(code))
        is_own = code.co_name not in _INNER - {"<lambda>"} and bool(self.chosen.file(file))
        if is_own and self._parts.looks_at_itself(code):
            is_own = False
        known = _FollowedCode(code, is_own=is_own) if is_own or is_made else None
        self.codes[id(code)] = known
        if known is None:
            # Kept, so that no other code gets its identity.
            self.codes[-id(code)] = code
            return None
        hits = self._hits
        known.generates = bool(code.co_flags & self._parts.GENERATES)
        known.is_location, known.is_entry = hits.has_line(code), hits.is_entry(code)
        known.watched = not self.windows.watched.isdisjoint(code.co_names)
        if known.is_location or hits.event:
            known.unrecorded_trace = self._trace_unrecorded
        if code.co_name == "<module>":
            known.is_import = frame.f_globals.get("__name__") != "__main__"
            self._shared.closures.add_code(code)
        return known

    def _enter_call(self, known: Any, frame: FrameType) -> Any:
        code = known.code
        scope = self._new_scope(known, frame)
        scope.call = known.calls
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
                self._bind_fields(scope)
        if known.is_entry:
            self._hits.meet_location(scope, frame)
        return scope

    def _new_scope(self, known: Any, frame: FrameType) -> Any:
        if known.plans is None:
            known.plans = self.plans.of_code(known.code) if known.is_own else {}
        scope = self._parts.CallScope(self._shared, known.code, frame.f_globals, known.plans)
        self.scopes[id(frame)] = scope
        scope.held = frame.f_locals
        scope.thread = self._thread_number()
        scope.number = self.numbers.get(id(frame), 0)
        self._find_caller(scope, frame)
        if scope.parent is None:
            scope.frames = tuple(self.stack_numbers(frame, _OUTWARD))
        scope.trace = self._make_trace(scope, known)
        frame.f_trace_lines = True
        return scope

    def stack_numbers(self, frame: FrameType, most: int) -> list[int]:
        """Return the numbers of the own calls on the stack, the innermost first."""
        found: list[int] = []
        back: FrameType | None = frame
        while back is not None and len(found) < most:
            if self.codes.get(id(back.f_code)) is not None:
                found.append(self.numbers.get(id(back), 0))
            back = back.f_back
        return found

    def evaluate(self, code: CodeType, node: Any, outer: Any) -> tuple[Any, Any]:
        """Evaluate the question's expression in a call, with the calls that it makes recorded.

        Returns:
            The value, and the scope in which the expression's operands have their links.
        """
        scope = self._parts.ExpressionScope(self._shared, outer, code, node)
        self._writes.prepare(scope.statements[0], scope)
        known = self.codes[id(code)] = _FollowedCode(code, is_own=False)
        frames: list[int] = []

        def enter(frame: FrameType) -> None:
            frames.append(id(frame))
            self.scopes[id(frame)] = scope

        known.enter = enter
        saved = self.windows.record_all()
        try:
            # A trace function runs with tracing off.
            names = {**outer.globals, **dict(outer.held)}
            value = sys.call_tracing(_evaluate_traced, (code, names))
        finally:
            self.windows.restore(saved)
            for one in frames:
                self.scopes.pop(one, None)
        return value, scope

    # -- windows -----------------------------------------------------------------------------------

    def _begin_window(self, frame: FrameType) -> None:
        """Record the calls that are running, the outermost first, from where they are now on."""
        running: list[tuple[Any, FrameType]] = []
        back = frame.f_back
        while back is not None and len(running) < _DEEP:
            known = self.codes.get(id(back.f_code))
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
                scope = self._new_scope(known, one)
                scope.is_kept = scope.number in self.windows.kept
            scope.lasti, scope.line = one.f_lasti, one.f_lineno
            statements = scope.plans.get(one.f_lineno, ())
            scope.start_statement(statements)
            for plan in statements:
                self._writes.prepare(plan, scope)
            one.f_trace = scope.trace

    def _pause_call(self, known: Any, frame: FrameType) -> None:
        """Record a running call no longer."""
        self.scopes.pop(id(frame), None)
        self._unrecorded_trace(known, frame)
        self.windows.skip_call()

    def _skip_imports(self, frame: FrameType) -> None:
        """Record nothing until the outermost of the modules that are being imported is done."""
        outermost = 0
        back: FrameType | None = frame
        while back is not None:
            known = self.codes.get(id(back.f_code))
            if known is not None and known.is_import and id(back) in self.scopes:
                outermost = id(back)
            back = back.f_back
        if outermost:
            self.windows.skip_import(outermost)

    def _trace_unrecorded(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Handle an event of a call that is not recorded: its location, its exceptions, its end."""
        try:
            hits = self._hits
            if event == "line":
                # The line of an empty module is 0, as is that of an event.
                if 0 < hits.line == frame.f_lineno and not hits.is_over:
                    hits.meet_unrecorded(frame.f_code, frame)
            elif event == "exception":
                if hits.event:
                    self._meet_error(None, frame, argument)
            elif event == "return":
                if id(frame) == self.windows.skipped_import:
                    self.windows.end_skipped_import()
                error = self._failing.pop(id(frame), None)
                last = self._parts.last_instruction(frame.f_code, frame.f_lasti)
                if error is not None and argument is None and last not in self._parts.RETURNS:
                    self._leave_code(frame, error)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self._end_at_fault(error)
            return None
        return self._trace_unrecorded

    def _bind_fields(self, scope: Any) -> None:
        """Give the fields of a data class the links of its constructor's parameters.

        Its code was made by the library, so it is known by the name of the class.
        """
        names = scope.code.co_varnames[: scope.code.co_argcount + scope.code.co_kwonlyargcount]
        made = scope.held.get(names[0])
        for name in names[1:]:
            link = scope.names.get(name)
            if link is not None:
                link.callee = _class_name(made)
                self.reader.store.put(made, f".{name}", link)

    def _find_caller(self, scope: Any, frame: FrameType) -> None:
        """Find the innermost caller of the program's own, and the position of its call."""
        scope.parent, outer, inner = None, frame.f_back, None
        for _ in range(_OUTWARD):
            if outer is None:
                return
            found = self.scopes.get(id(outer))
            if found is not None and found.code is outer.f_code:
                break
            if self.codes.get(id(outer.f_code)) is not None:
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
        found.held = outer.f_locals
        scope.stack = found.caller_stack(outer.f_lineno)

    def _thread_number(self) -> int:
        ident = get_ident()
        found = self._threads.get(ident)
        if found is None:
            found = self._threads[ident] = len(self._threads) + 1
            known = getattr(sys.modules.get("threading"), "_active", {}).get(ident)
            name = getattr(known, "_name", "")
            self._journal.write(["t", found, name if type(name) is str else ""])
        return found

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
                        if known.is_location:
                            self._trace_unrecorded(frame, event, argument)
                        return None
                    self._on_line(scope, frame, known)
                elif event == "return":
                    self._on_return(scope, frame, argument, known)
                elif event == "exception":
                    self._on_exception(scope, frame, argument)
            except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
                self._end_at_fault(error)
                return None
            return traced

        return traced

    def _is_kept(self, scope: Any) -> bool:
        """Return whether a call is recorded outside of the windows, within its bound."""
        return bool(scope.is_kept) and not self.windows.is_kept_over(scope.spent)

    def _end_at_fault(self, error: Exception) -> None:
        if self.fault(error):
            self._hits.is_over = True

    def _on_line(self, scope: Any, frame: FrameType, known: Any) -> None:
        line = frame.f_lineno
        statements = scope.plans.get(line, ())
        scope.error = None
        before = scope.statements
        is_same = bool(before) and bool(statements) and statements[-1] is before[-1]
        # Another line of the same statement; only a jump back begins it again.
        if is_same and frame.f_lasti > scope.lasti:
            return
        scope.held = frame.f_locals
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
        if scope.error is not None and value is None and last not in self._parts.RETURNS:
            self.scopes.pop(id(frame), None)
            error, scope.error = scope.error, None
            self._leave_code(frame, error)
            return
        scope.held = frame.f_locals
        if code.co_flags & _OPTIMIZED or is_yield:
            self._note_result(scope, frame, value, is_yield=bool(is_yield))
        if not is_yield:
            self._finish_statements(scope, 0)
            self.scopes.pop(id(frame), None)
            parent = scope.parent
            if parent is not None and not code.co_flags & _OPTIMIZED:
                parent.classes[code.co_name] = scope.names

    def _note_result(self, scope: Any, frame: FrameType, value: Any, *, is_yield: bool) -> None:
        """Give the caller's statement the link of the value that a call returned or yielded."""
        parent, code = scope.parent, scope.code
        if parent is None:
            return
        if _makes_tuple(code) and type(value) is not tuple:
            self._arguments.note_made_tuple(scope, value, _class_name(value))
            return
        if code.co_name == "__init__" and code.co_varnames:
            made = scope.held.get(code.co_varnames[0])
            link = parent.new_link("made", code, "new", (), self._parts.snap_value(made))
            is_own = code.co_filename != "<string>"
            link.callee, link.line = code if is_own else _class_name(made), scope.stack[1]
            parent.add_return(scope.position, type(made).__name__, link)
            return
        if code.co_flags & _ITERATED and not is_yield and value is None:
            return  # who goes through it gets what it has yielded
        node, line = scope.result_node(self.plans, value, is_yield=is_yield)
        pieces: tuple[Any, ...] = ()
        snap = self._parts.snap_value(value)
        if node is None and code.co_name == "<lambda>":
            how, sources, note = "", (), ""
        elif node is None and (scope.is_partial or value is not None):
            how, sources, note = "unrecorded", (), code.co_name
        elif node is None:
            how, sources, note = "constant", (), "no return statement"
        else:
            is_delegated = isinstance(node, ast.YieldFrom)
            scope.value = value
            how, sources = (
                self._writes.element_origin(node.value, value, scope)
                if is_delegated
                else self.reader.origin(node, scope, snap)
            )
            note, pieces = scope.note, scope.pieces
            if not is_delegated:
                self._writes.note_container(node, how, sources, value, scope)
        kind = "yielded" if is_yield else "returned"
        link = scope.new_link(kind, code, how, sources, snap)
        link.callee, link.line, link.note = code, line or frame.f_lineno or scope.line, note
        link.pieces = pieces
        link.size = len(value) if type(value) in _TEXTS else None
        parent.add_return(scope.position, code.co_name, link)
        self.reader.cached.note_result(scope, link)
        if scope.is_cached and code.co_argcount == 1:  # a library's descriptor may store it
            self.reader.store.put(scope.held[code.co_varnames[0]], f".{code.co_name}", link)

    # -- exceptions --------------------------------------------------------------------------------

    def _on_exception(self, scope: Any, frame: FrameType, raised: Any) -> None:
        step = self._parts.last_instruction(frame.f_code, frame.f_lasti)
        if isinstance(raised[1], StopIteration) and step in self._parts.ENDED_BY_STOP:
            return  # what it awaited or went through has ended
        self._meet_error(scope, frame, raised)
        scope.error = raised[1]
        scope.drop_statement()  # what it was to write was not written

    def _meet_error(self, scope: Any, frame: FrameType, raised: Any) -> None:
        """Keep the value of the expression where an exception, `raised[1]`, is raised."""
        if not self._hits.event:
            return
        error, is_new = raised[1], raised[2] is not None and raised[2].tb_next is None
        if scope is not None:
            scope.held = frame.f_locals
            self._hits.meet_error(scope, frame, error, is_new=is_new)
            return
        self._failing[id(frame)] = error
        known = self.codes.get(id(frame.f_code))
        if known is not None:
            self._hits.meet_error(self.bare_scope(frame.f_code, frame), frame, error, is_new=is_new)

    def _leave_code(self, frame: FrameType, error: Any) -> None:
        """Keep an exception that leaves the program's own code."""
        outer = frame.f_back
        if outer is not None and outer.f_code.co_name in _INNER:
            outer = outer.f_back
        if outer is None or self.codes.get(id(outer.f_code)) is None:
            self._hits.leave_code(error, frame.f_code)

    def end(self) -> None:
        """Write the origin at the last hit, or of the exception that ended the program."""
        self._hits.end()
        self._journal.write(["end", now() - self.began, self._journal.dropped, 0, 0], last=True)


def _class_name(value: Any) -> str:
    return str(type.__dict__["__name__"].__get__(type(value)))


def _makes_tuple(code: CodeType) -> bool:
    """Return whether code is the constructor that `namedtuple` makes."""
    return code.co_name == "<lambda>" and code.co_varnames[:1] == ("_cls",)


def _evaluate_traced(code: CodeType, names: dict[str, Any]) -> Any:
    """Evaluate code below `sys.call_tracing`."""
    _set_trace(_get_trace())  # Python 3.11 traces only after that
    return eval(code, names)  # noqa: S307 - the user's own
