"""Follows the values of a program while it runs, and reports the origin of one at a location.

Each line of the program's own code that assigns, calls or returns stores where its value came from
(see `value_links`). At the location the chain of links behind the expression's value is written.
"""

from __future__ import annotations

import ast
import sys
from _thread import get_ident
from collections import deque
from time import perf_counter_ns as now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_OUTWARD = 60  # frames of a library between two of the program
_ERRORS = 200  # exceptions whose values are kept
_INNER = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"})
_OPTIMIZED = 0x1
_CRASH, _FAIL = "crash", "fail"
# Outcomes of pytest that are no failures.
_OUTCOMES = frozenset({"Skipped", "XFailed", "Exit", "SkipTest"})


class OriginHit:
    """The value of the expression at one hit of the location, and its origin."""

    __slots__ = ("error", "frame", "how", "leaves", "link", "note", "number", "sources", "value")

    def __init__(self, number: int) -> None:
        self.number = number
        self.frame: Any = None  # file, function, line
        self.value: Any = None  # its text, and its stored value
        self.how = ""
        self.note = ""
        self.sources: tuple[Any, ...] = ()
        self.error: Any = None  # the exception's identity, type and text
        self.leaves = ""  # the outermost function of the program that the exception left


class _SharedState:
    """What all calls share."""

    def __init__(self, reader: Any, links: Any, plans: Any, closures: Any) -> None:
        self.store = reader.store
        self.links = links
        self.plans = plans
        self.closures = closures
        self.missing = links.MISSING


class OriginRecorder:
    """Follows the values of one process."""

    def __init__(self, order: dict[str, Any], journal: Any, write: Any, parts: Any) -> None:
        self._order = order["origin"]
        self._done: str = order.get("done", "")
        self._journal = journal
        self._write = write
        self._parts = parts
        self._chosen = parts.CodeChooser(order)
        self._plans = parts.SourcePlans()
        inputs = parts.InputCalls(parts)
        self._reader = parts.OriginReader(parts, parts, inputs)
        self._writes = parts.StatementWrites(self._reader, parts, parts, inputs)
        self._arguments = parts.ArgumentOrigins(self._reader, parts, parts, self._plans)
        self._closures = parts.ClosureLinks(parts.is_same)
        self._shared = _SharedState(self._reader, parts, parts, self._closures)
        self._positions = parts.CallPositions()
        self._event: str = self._order["event"]
        self._nth: int = self._order["nth"]
        self._line: int = self._order["line"]
        self._name: str = self._order["name"]
        self._expression = ast.parse(self._order["expression"], mode="eval").body
        self._compiled = compile(self._order["expression"], "<why>", "eval")
        self._when = compile(self._order["when"], "<when>", "eval") if self._order["when"] else None
        self._begin_process()

    def _begin_process(self) -> None:
        self.began = now()
        self._codes: dict[int, Any] = {}
        self._scopes: dict[int, Any] = {}
        self._calls: dict[int, int] = {}
        self._threads: dict[int, int] = {}
        self._count = 0
        self._is_over = False
        self._kept: deque[OriginHit] = deque(maxlen=max(-self._nth, 1))
        self._errors: dict[int, OriginHit] = {}
        self._escaped: list[OriginHit] = []
        self._problem = ""

    def reset(self) -> None:
        """Start over, as a forked child does; its memory is still that of its parent."""
        codes, scopes = self._codes, self._scopes
        self._begin_process()
        self._codes, self._scopes = codes, scopes

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
        known = self._codes.get(id(code), 0)
        if known is None or event != "call" or self._is_over:
            return None
        try:
            if known == 0:
                known = self._add_code(code)
                if known is None:
                    return None
            scope = self._scopes.get(id(frame))
            is_resumed = scope is not None and scope.code is code
            if not is_resumed or self._parts.is_entered(code, frame.f_lasti):
                scope = self._enter_call(code, frame, known[1])
            else:
                self._find_caller(scope, frame)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self._end_at_fault(error)
            return None
        return scope.trace  # type: ignore[union-attr]

    def _add_code(self, code: CodeType) -> Any:
        """Decide whether code is followed: the program's own, and constructors made for it."""
        file = code.co_filename
        is_made = file == "<string>" and code.co_name == "__init__"
        is_own = code.co_name not in _INNER - {"<lambda>"} and bool(self._chosen.file(file))
        if is_own and self._parts.looks_at_itself(code):
            is_own = False
        known = (code, self._plans.of_file(file) if is_own else {}) if is_own or is_made else None
        self._codes[id(code)] = known
        if known is None:
            # Kept, so that no other code gets its identity.
            self._codes[-id(code)] = code
        elif code.co_name == "<module>":
            self._closures.add_code(code)
        return known

    def _enter_call(self, code: CodeType, frame: FrameType, plans: Any) -> Any:
        scope = self._parts.CallScope(self._shared, code, frame, plans)
        self._scopes[id(frame)] = scope
        scope.held = frame.f_locals
        scope.thread = self._thread_number()
        scope.call = self._calls[id(code)] = self._calls.get(id(code), 0) + 1
        self._find_caller(scope, frame)
        scope.line = code.co_firstlineno
        if code.co_flags & _OPTIMIZED:
            name = code.co_name
            if name == "__init__" and code.co_varnames:
                made = scope.held.get(code.co_varnames[0])
                is_first = scope.parent is None or scope.parent.code.co_name != "__init__"
                if is_first:
                    self._reader.store.forget(made)
            self._arguments.bind_parameters(scope)
            if not plans and name == "__init__":
                self._bind_fields(scope)
        scope.trace = self._make_trace(scope)
        if self._name and not self._event and self._matches_name(code):
            self._on_location(scope, frame)
        return scope

    def _bind_fields(self, scope: Any) -> None:
        """Give the fields of a data class the links of its constructor's parameters."""
        names = scope.code.co_varnames[: scope.code.co_argcount + scope.code.co_kwonlyargcount]
        made = scope.held.get(names[0])
        for name in names[1:]:
            link = scope.names.get(name)
            if link is not None:
                self._reader.store.put(made, f".{name}", link)

    def _find_caller(self, scope: Any, frame: FrameType) -> None:
        """Find the innermost caller of the program's own, and the position of its call."""
        scope.parent, outer, inner = None, frame.f_back, None
        for _ in range(_OUTWARD):
            if outer is None:
                return
            found = self._scopes.get(id(outer))
            if found is not None and found.code is outer.f_code:
                break
            inner, outer = outer, outer.f_back
        else:
            return
        scope.parent = found
        # The frame of a comprehension is that of the function in whose source it stands.
        is_inner = inner is not None and inner.f_code.co_name in _INNER
        scope.is_direct = inner is None or (is_inner and inner.f_back is outer)
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
            told = getattr(known, "_name", "")
            self._journal.write(["t", found, told if type(told) is str else ""])
        return found

    # -- lines -------------------------------------------------------------------------------------

    def _make_trace(self, scope: Any) -> Any:
        """Return the trace function of one call."""

        # A closure and no method, because it runs at every line of the call.
        def traced(frame: FrameType, event: str, argument: Any) -> Any:
            if self._is_over:
                return None
            try:
                if event == "line":
                    self._on_line(scope, frame)
                elif event == "return":
                    self._on_return(scope, frame, argument)
                elif event == "exception":
                    self._on_exception(scope, frame, argument[1])
            except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
                self._end_at_fault(error)
                return None
            return traced

        return traced

    def _end_at_fault(self, error: Exception) -> None:
        if self.fault(error):
            self._is_over = True

    def _on_line(self, scope: Any, frame: FrameType) -> None:
        line = frame.f_lineno
        statements = scope.plans.get(line, ())
        scope.error = None
        before = scope.statements
        is_same = bool(before) and bool(statements) and statements[-1] is before[-1]
        # Another line of the same statement; only a jump back begins it again.
        if is_same and frame.f_lasti > scope.lasti:
            return
        scope.held = frame.f_locals
        self._finish_statements(scope)
        if line == self._line and not self._event and self._is_place(scope.code):
            self._on_location(scope, frame)
        scope.start_statement(statements)
        scope.lasti, scope.line = frame.f_lasti, line
        for plan in statements:
            if plan.stores or plan.calls or isinstance(plan.node, (ast.Return, ast.Expr)):
                self._writes.prepare(plan, scope)

    def _finish_statements(self, scope: Any) -> None:
        for plan in scope.statements:
            if plan.stores or plan.calls:
                self._writes.finish(plan, scope)
        scope.start_statement(())

    def _on_return(self, scope: Any, frame: FrameType, value: Any) -> None:
        code = scope.code
        last = self._parts.last_instruction(code, frame.f_lasti)
        is_yield = last in self._parts.YIELDS and code.co_flags & self._parts.GENERATES
        if scope.error is not None and value is None and last not in self._parts.RETURNS:
            self._scopes.pop(id(frame), None)
            self._on_escape(scope)
            return
        scope.held = frame.f_locals
        statements = scope.statements
        if code.co_flags & _OPTIMIZED or is_yield:
            self._note_result(scope, statements, frame, value, is_yield=bool(is_yield))
        if not is_yield:
            self._finish_statements(scope)
            self._scopes.pop(id(frame), None)
            parent = scope.parent
            if parent is not None and not code.co_flags & _OPTIMIZED:
                parent.classes[code.co_name] = scope.names

    def _note_result(
        self, scope: Any, statements: Any, frame: FrameType, value: Any, *, is_yield: bool
    ) -> None:
        """Give the caller's statement the link of the value that a call returned or yielded."""
        parent, code = scope.parent, scope.code
        if parent is None:
            return
        if code.co_name == "__init__" and code.co_varnames:
            made = scope.held.get(code.co_varnames[0])
            link = parent.new_link("made", code, "new", (), self._parts.snap_value(made))
            link.callee, link.line = code, scope.stack[1]
            parent.add_return(scope.position, type(made).__name__, link)
            return
        node = _result_node(statements, is_yield=is_yield)
        snap = self._parts.snap_value(value)
        if node is None and code.co_name == "<lambda>":
            how, sources, note = "", (), ""
        elif node is None:
            how, sources, note = "constant", (), "no return statement"
        else:
            how, sources = self._reader.origin(node, scope, snap)
            note = scope.note
            self._writes.note_container(node, how, sources, value, scope)
        kind = "yielded" if is_yield else "returned"
        link = scope.new_link(kind, code, how, sources, snap)
        link.callee, link.line, link.note = code, frame.f_lineno or scope.line, note
        parent.add_return(scope.position, code.co_name, link)

    # -- exceptions --------------------------------------------------------------------------------

    def _on_exception(self, scope: Any, frame: FrameType, error: BaseException) -> None:
        step = self._parts.last_instruction(frame.f_code, frame.f_lasti)
        if isinstance(error, StopIteration) and step in self._parts.ENDED_BY_STOP:
            return  # what it awaited or went through has ended
        is_first = scope.error is not error and id(error) not in self._errors
        scope.error = error
        if not self._event:
            scope.start_statement(())
            return
        known = self._errors.get(id(error))
        if is_first or known is None or known.value is None:
            scope.held = frame.f_locals
            hit = self._evaluate(scope, frame, 1)
            said = f"{type(error).__name__}: {self._write.raised(error)}"
            hit.error = (id(error), type(error).__name__, said)
            if len(self._errors) >= _ERRORS:
                del self._errors[next(iter(self._errors))]
            self._errors[id(error)] = hit
        # What it was to write was not written.
        scope.start_statement(())

    def _on_escape(self, scope: Any) -> None:
        """Keep an exception that leaves the program's own code."""
        error, scope.error = scope.error, None
        known = self._errors.get(id(error))
        if known is None:
            return
        if scope.parent is not None and scope.is_direct:
            return
        known.leaves = scope.code.co_name
        is_test = known.leaves.startswith("test") and known.error[1] not in _OUTCOMES
        if self._event == _CRASH or is_test:
            self._escaped.append(known)
            del self._escaped[:-_ERRORS]
        self._errors.pop(id(error), None)

    # -- the location ------------------------------------------------------------------------------

    def _matches_name(self, code: CodeType) -> bool:
        name = self._name
        full = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
        is_named = name in (code.co_name, full) or full.endswith(f".{name}")
        return is_named and bool(code.co_flags & _OPTIMIZED) and self._is_place(code)

    def _is_place(self, code: CodeType) -> bool:
        file = self._order["file"]
        if not file:
            return True
        known = self._chosen.file(code.co_filename)
        return bool(known) and f"/{known}".endswith(f"/{file.lstrip('/')}")

    def _on_location(self, scope: Any, frame: FrameType) -> None:
        if self._when is not None:
            try:
                is_true = eval(self._when, scope.globals, dict(scope.held))  # noqa: S307 - the user's
            except BaseException as error:  # noqa: BLE001 - none of it is the program's
                self._problem = f"{type(error).__name__}: {self._write.raised(error)}"
                return
            if not is_true:
                return
        self._count += 1
        if 0 < self._nth < self._count:
            return
        if self._nth < 0 or self._count == self._nth:
            self._kept.append(self._evaluate(scope, frame, self._count))
        if self._count == self._nth:
            self._is_over = True
            self._report(self._kept[-1])
            self._parts.request_end(self._done)

    def _evaluate(self, scope: Any, frame: FrameType, number: int) -> OriginHit:
        """Evaluate the expression in a frame, with the links behind it."""
        hit = OriginHit(number)
        code = scope.code
        name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
        file = self._chosen.file(code.co_filename) or code.co_filename
        hit.frame = [file, name, frame.f_lineno or 0]
        names = {**scope.globals, **dict(scope.held)}
        try:
            value = eval(self._compiled, names)  # noqa: S307 - the user's own
        except BaseException as error:  # noqa: BLE001 - none of it is the program's
            self._problem = f"{type(error).__name__}: {self._write.raised(error)}"
            return hit
        snap = self._parts.snap_value(value)
        hit.value = (self._write(value), snap)
        hit.how, hit.sources = self._reader.origin(self._expression, scope, snap)
        hit.note = scope.note
        return hit

    def _report(self, hit: OriginHit) -> None:
        graph = self._parts.OriginGraph(self._write, self._chosen)
        self.note("origin", self._parts.encode(graph.build_record(hit)))

    def _final_hit(self) -> OriginHit | None:
        if self._event == _CRASH:
            last = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
            same = [one for one in self._escaped if one.error[0] == id(last)]
            # An exception that ends another thread is not the interpreter's last one.
            threads = [one for one in self._escaped if one.error[1] != "SystemExit"]
            found = same or (threads if last is None else [])
            return found[-1] if found else None
        if self._event == _FAIL:
            return self._escaped[0] if self._escaped else None
        return self._kept[0] if len(self._kept) >= -self._nth else None

    def end(self) -> None:
        """Write the origin at the last hit, or of the exception that ended the program."""
        if self._nth < 0 or self._event:
            hit = self._final_hit()
            if hit is not None:
                self._report(hit)
        self._is_over = True
        self.note("hits", str(self._count))
        if self._problem:
            self.note("condition", self._problem)
        self._journal.write(["end", now() - self.began, self._journal.dropped, 0, 0], last=True)


def _result_node(statements: Any, *, is_yield: bool) -> Any:
    """Return the expression whose value a statement returns or yields."""
    for plan in statements:
        if isinstance(plan.node, ast.Return):
            return plan.node.value if plan.node.value is not None else None
        if is_yield:
            for one in plan.exprs:
                for node in ast.walk(one):
                    if isinstance(node, ast.Yield):
                        return node.value
    return None
