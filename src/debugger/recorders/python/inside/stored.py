"""Records the lines that wrote the value of a name, a field or an item seen at a location.

The recorder checks the candidates after each line that assigns to that name, field or item, and the
objects seen last after each line that may change them. So the writes of every candidate object are
known from its creation on, when the location is reached and identifies the object. No code of the
program is called.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import deque
from time import perf_counter_ns as now
from weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_WRITES_MAX = 50_000  # writes before the location is reached
_OBJECTS_MAX = 10_000  # objects that are followed at once
_STACK = 12  # frames of a write
_RECENT = 16  # holders that are looked at after each line that may write
_LOOKED_NS = 15_000_000_000  # in all; then only what a line assigns to is looked at
_LIBRARIES = frozenset({"pandas", "numpy"})  # whose items are read as they are
_SCALARS = frozenset(map(id, (int, float, complex, bool, str, bytes, type(None))))
_MISSING: Any = object()
_KEYS = frozenset(map(id, (str, int, float, bool, bytes, type(None), tuple)))
_MRO: Any = type.__dict__["__mro__"].__get__
_NAMES: Any = type.__dict__["__dict__"].__get__
_CHANGING = frozenset(
    ("append", "insert", "extend", "pop", "remove", "clear", "update", "setdefault", "sort", "add")
)


class WriteRecorder:
    """Records the writes of one process."""

    def __init__(self, book: Any, order: dict[str, Any], parts: Any) -> None:
        self._book = book
        self._parts = parts
        self._root: str = order["root"]
        self._steps: list[Any] = order["steps"]
        self._line: int = order["place"]["line"]
        self._left_hits: int = order["hit"]
        self._when = compile(order["when"], "<when>", "eval") if order["when"] else None
        self._final = self._steps[-1] if self._steps else None
        self._target: int | None = None  # the object that the place was reached with
        self._writes: deque[tuple[int, list[Any]]] = deque(maxlen=_WRITES_MAX)
        self._files: dict[str, dict[int, list[ast.expr]]] = {}
        self._bindings: dict[str, list[ast.Assign]] = {}
        # The lines of class bodies that assign the attribute, by file and class; no event tells.
        self._bodies: dict[tuple[str, str], int] = {}
        # By frame: the line that runs, the holders of what it assigns to, and the thread.
        self._before: dict[int, tuple[int, list[Any], Any]] = {}
        self._recent: dict[
            int, Any
        ] = {}  # holders by number, the one that was seen last at the end
        self._writing: dict[CodeType, Any] = {}
        self._spent = 0
        self._numbers: dict[int, tuple[int, Any]] = {}  # of holders, by id
        self._frames: dict[int, int] = {}
        self._given: set[int] = set()  # frames whose parameter is as it was passed
        self._last: dict[int, Any] = {}
        self._next = 1
        self._count = 0

    # -- what the program does ---------------------------------------------------------------------

    def entered(self, thread: Any, code: CodeType, frame: FrameType) -> None:
        """Record a call, or that a generator goes on; the location may be the function's entry."""
        thread.stack.append((thread.root, 0))
        if code.co_flags & self._parts.GENERATES:
            if not self._parts.is_entered(code, frame.f_lasti):
                return
            self._forget_frame(frame)  # another one had its number, and was never ended
        if not self._steps and id(frame) not in self._frames and self._has_name(code):
            number = self._holder_number(frame)
            if self._root in self._parts.parameters(code):
                self._given.add(number)
                self._last[number] = self._value_state(self._read_value(frame))
        if not self._line and self._target is None:
            name = self._parts.name_of(code, self._parts.arguments(code, frame))
            if self._book.chosen.is_requested(code, name):
                self._on_reached(code, frame)

    def line(self, thread: Any, code: CodeType, line: int, frame: FrameType) -> None:
        """Check the writes of the frame's previous line, and note the targets of this one."""
        self._check_lines(thread, code, frame)
        if line == self._line and self._target is None:
            name = self._parts.name_of(code, self._parts.arguments(code, frame))
            if self._book.chosen.is_requested(code, name):
                self._on_reached(code, frame)
        targets = self._assignment_targets(code).get(line, ())
        found = [holder for one in targets
                 if (holder := self._target_holder(one, code, frame)) is not _MISSING]  # fmt: skip
        self._before[id(frame)] = (line, found, thread)
        for holder in found:
            self._holder_number(holder)

    def leave_frame(self, thread: Any, frame: FrameType) -> None:
        """Check the writes of a call's last line."""
        self._check_lines(thread, frame.f_code, frame)
        if thread.stack:
            thread.stack.pop()
        self._forget_frame(frame)

    def suspend_frame(self, thread: Any, frame: FrameType) -> None:
        """Check the writes of a generator's line so far: the rest of it runs when it goes on."""
        before = self._before.get(id(frame))
        self._check_lines(thread, frame.f_code, frame)
        if before is not None:
            self._before[id(frame)] = before
        if thread.stack:
            thread.stack.pop()

    def _forget_frame(self, frame: FrameType) -> None:
        self._before.pop(id(frame), None)
        number = self._frames.pop(id(frame), 0)
        self._given.discard(number)
        self._last.pop(number, None)
        self._recent.pop(number, None)

    # -- what is written ---------------------------------------------------------------------------

    def _check_lines(self, thread: Any, code: CodeType, frame: FrameType) -> None:
        """Find the values that a finished line has changed."""
        line, holders, _ = self._before.get(id(frame), (0, (), None))
        if not line:
            return
        for holder in holders:
            self._check_holder(thread, frame, line, holder)
        self._before.pop(id(frame), None)
        if self._steps and not self._parts.looks_at_itself(code):
            self._take_object(thread, code, frame, line)
        if not self._may_write(code, line) or self._spent > _LOOKED_NS:
            return
        began = now()
        elsewhere = {
            id(holder)
            for _, assigned, other in list(self._before.values())
            if other is not thread
            for holder in assigned
        }
        for _, stored in list(self._recent.items())[-_RECENT:]:
            holder = stored() if type(stored) is ref else stored
            # What a line of another thread assigns to now is that line's write.
            if holder is not None and id(holder) not in elsewhere:
                self._check_holder(thread, frame, line, holder)
        self._spent += now() - began

    def _take_object(self, thread: Any, code: CodeType, frame: FrameType, line: int) -> None:
        """Add the object that the expression names in this frame, at its first appearance.

        An object that the line itself made got its value there, without a statement that assigns
        it.
        """
        holder = self._resolve_holder(code, frame)
        if holder is _MISSING or id(type(holder)) in _SCALARS or id(holder) in self._numbers:
            return
        number = self._holder_number(holder)
        state = self._last.get(number)
        if issubclass(type(holder), type):
            return  # it was made by its body
        if state is not None and line in self._making_lines(code, frame):
            self._record_write(thread, frame, line, number, (None, state[0]))

    def _making_lines(self, code: CodeType, frame: FrameType) -> set[int]:
        """Return the lines of a file that bind the first name to a newly made object."""
        self._assignment_targets(code)
        found = set()
        for node in self._bindings.get(code.co_filename, ()):
            value = node.value
            made = isinstance(value, (ast.List, ast.Dict, ast.Tuple, ast.ListComp, ast.DictComp))
            if isinstance(value, ast.Call):
                made = issubclass(type(self._resolve_node(value.func, code, frame)), type)
            if made:
                found.add(node.lineno)
        return found

    def _check_holder(self, thread: Any, frame: FrameType, line: int, holder: Any) -> None:
        number = self._holder_number(holder)
        value = self._read_value(holder)
        known = self._last.get(number)
        if value is _MISSING and known is None:
            return
        if known is not None and known[1].ident == id(value) and self._parts.is_fixed(value):
            return
        state = self._value_state(value)
        old, new = (known[0] if known else None), (state[0] if state else None)
        if self._is_of_library(value):
            if old == new:  # what is behind its text is made anew at each look
                return
        elif known is not None and state is not None and not known[1].is_other(state[1]):
            changes = self._parts.differences(known[1], state[1])
            if not changes:
                self._last[number] = state
                return
            if old == new:  # what has changed is not among what is shown
                new = f"{new} (changed: {changes[0].path or 'its items'})"
        self._last[number] = state
        self._given.discard(number)
        self._record_write(thread, frame, line, number, (old, new))

    def _record_write(
        self, thread: Any, frame: FrameType, line: int, number: int, change: tuple[Any, Any]
    ) -> None:
        stack = self._stack_lines(frame, line)
        record = ["w", self._book.stamp(), thread.number, stack[0][0], line, *change, stack]
        # Until the location is reached every candidate's writes are kept; after that only those of
        # the one object.
        if self._target is None:
            self._writes.append((number, record))
        elif self._target == number:
            self._write_record(record)

    def _may_write(self, code: CodeType, line: int) -> bool:
        if code not in self._writing:
            self._writing[code] = self._parts.writing_lines(code)
        lines = self._writing[code]
        return lines is None or line in lines

    def _value_state(self, value: Any) -> Any:
        """Return a value's text and its snapshot; None if there is no value."""
        if value is _MISSING:
            return None
        return (self._book.texts(value), self._parts.snapshot(value, self._parts.fields, {}))

    def _write_record(self, record: list[Any]) -> None:
        self._count += 1
        if self._count <= self._book.limits["writes"]:
            self._book.write(record)

    def _on_reached(self, code: CodeType, frame: FrameType) -> None:
        if self._when is not None and not self._book.holds(self._when, frame):
            return
        self._left_hits -= 1
        if self._left_hits > 0:
            return
        holder = self._resolve_holder(code, frame)
        book = self._book
        reported: dict[str, Any] = {"line": frame.f_lineno, "found": holder is not _MISSING}
        # The cell of a function around this one, which no frame names: its writes are not known.
        reported["is_captured"] = not self._steps and self._root in code.co_freevars
        if holder is not _MISSING:
            self._target = self._holder_number(holder)
            value = self._read_value(holder)
            reported["value"] = None if value is _MISSING else self._book.texts(value)
            reported["known"] = (self._last.get(self._target) or (None,))[0]
            reported["why"] = self._why_unseen(holder, value)
            records = [record for number, record in self._writes if number == self._target]
            reported["cut"] = max(len(records) - book.limits["writes"], 0)
            for record in records[-book.limits["writes"] :]:
                book.write(record)
            reported["full"] = len(self._writes) == _WRITES_MAX
            if self._target in self._given:
                reported["passed"] = self._parameter_record(code, frame)
        else:
            self._target = 0
        self._writes.clear()
        book.write(["n", "reached", book.stamp(), json.dumps(reported)])

    def _parameter_record(self, code: CodeType, frame: FrameType) -> dict[str, Any]:
        """Describe the call of a parameter that was never written."""
        stack: list[tuple[str, str, int]] = []
        chosen, names, count = self._book.chosen, code.co_varnames, code.co_argcount
        caller = frame.f_back
        while caller is not None and len(stack) < _STACK:
            called = caller.f_code
            if not stack or chosen.is_ours(called):
                file = chosen.file(called.co_filename) or called.co_filename
                stack.append((self._parts.name_of(called, {}), file, caller.f_lineno or 0))
            caller = caller.f_back
        return {
            "function": self._parts.name_of(code, self._parts.arguments(code, frame)),
            "positional": names[:count],
            "keywords": names[count : count + code.co_kwonlyargcount],
            "stack": stack,
        }

    def _resolve_holder(self, code: CodeType, frame: FrameType) -> Any:
        """Return the holder of the expression's value in a frame."""
        is_own = self._has_name(code) or self._root in code.co_freevars or code.co_flags & 1 == 0
        own = self._parts.variables(code, frame) if is_own else {}
        if not self._steps:
            if self._root in own and code.co_name != "<module>":
                return frame
            return frame.f_globals if self._root in frame.f_globals else _MISSING
        value = own.get(self._root, frame.f_globals.get(self._root, _MISSING))
        for step in self._steps[:-1]:
            value = self._follow_step(value, step)
        if self._final is not None and self._final[0] == "attribute" and value is not _MISSING:
            return self._attribute_owner(value, self._final[1])
        return value

    def _attribute_owner(self, value: Any, name: str) -> Any:
        """Return the class that has an attribute for its instances; else the object itself."""
        is_class = issubclass(type(value), type)
        if not is_class and self._parts.field(value, name)[0]:
            return value
        for base in _MRO(value if is_class else type(value)):
            if name in _NAMES(base):
                is_stored = not hasattr(type(_NAMES(base)[name]), "__get__")
                return base if is_stored else value
        return value

    def _why_unseen(self, holder: Any, value: Any) -> str:
        """Return a reason why writes of a value may be invisible."""
        if value is _MISSING and self._final is not None and self._final[0] == "attribute":
            for base in type(holder).__mro__:
                if isinstance(vars(base).get(self._final[1]), property):
                    return f"{self._final[1]} is a property: its function computes the value"
        if issubclass(type(holder), type) and value is not _MISSING:
            return self._body_text(holder)
        if value is _MISSING and self._final is not None and self._final[0] == "item":
            return f"{type(holder).__name__} has no such item, or computes it"
        if value is _MISSING:
            return f"it is not stored where it can be read: {type(holder).__name__} computes it"
        return ""

    def _body_text(self, owner: Any) -> str:
        """Say where the body of a class assigns the attribute; "" if its source is not known."""
        module = sys.modules.get(str(_NAMES(owner).get("__module__")))
        file = getattr(module, "__file__", None)
        if type(file) is not str:
            return ""
        self._read_assignments(file)
        line = self._bodies.get((file, owner.__name__))
        place = file.rpartition("/")[2]
        return f"the class {owner.__name__} has it from its body, {place}:{line}" if line else ""

    def _has_name(self, code: CodeType) -> bool:
        return any(self._root in names
                   for names in (code.co_varnames, code.co_cellvars))  # fmt: skip

    def _read_value(self, holder: Any) -> Any:
        if self._final is not None:
            return self._follow_step(holder, self._final)
        if type(holder) is dict:
            return holder.get(self._root, _MISSING)
        return self._parts.variables(holder.f_code, holder).get(self._root, _MISSING)

    def _follow_step(self, value: Any, step: list[Any]) -> Any:
        kind, key = step
        if value is _MISSING:
            return _MISSING
        return self._read_field(value, key) if kind == "attribute" else self._read_item(value, key)

    def _read_field(self, value: Any, key: Any) -> Any:
        if key == "__class__":
            return type(value)
        owner = self._attribute_owner(value, key)
        if issubclass(type(owner), type) and key in _NAMES(owner):
            return _NAMES(owner)[key]
        there, found = self._parts.field(value, key)
        return found if there else _MISSING

    def _read_item(self, value: Any, key: Any) -> Any:
        base = next((one for one in (dict, list, tuple, deque) if isinstance(value, one)), None)
        if base is not None and type(value).__getitem__ is base.__getitem__:
            if base is dict:
                return dict.get(value, key, _MISSING) if id(type(key)) in _KEYS else _MISSING
            if type(key) is int and -len(value) <= key < len(value):
                return value[key]
            return _MISSING
        return self._item_of_library(value, key)

    def _is_of_library(self, value: Any) -> bool:
        return self._parts.module_of(type(value)).partition(".")[0] in _LIBRARIES

    def _item_of_library(self, value: Any, key: Any) -> Any:
        """Read an item by a known library's own access: a pandas column, a numpy cell."""
        if not self._is_of_library(value):
            return _MISSING
        try:
            return value[key]
        except (LookupError, TypeError, ValueError):
            return _MISSING

    # -- who holds it ------------------------------------------------------------------------------

    def _next_number(self) -> int:
        self._next += 1
        return self._next

    def _holder_number(self, holder: Any) -> int:
        """Return a holder's number, which no other holder gets while it lives."""
        key = id(holder)
        if type(holder) is type(sys._getframe()):  # noqa: SLF001 - there is no other way
            # A frame cannot be weakly referenced, and its identity is reused: `left` removes it.
            number = self._frames.setdefault(key, self._next_number())
            self._keep_holder(number, holder)
            return number
        known = self._numbers.get(key)
        if known is not None:
            self._keep_holder(known[0], known[1])
            return known[0]
        number = self._next_number()
        try:
            # Weak, so that the program's objects die as they would without us.
            stored: Any = ref(holder, lambda _gone: self._numbers.pop(key, None))
        except TypeError:
            # Lists and dictionaries have no weak references; they are kept alive, up to `_HELD` of
            # them.
            stored = holder
        if len(self._numbers) < _OBJECTS_MAX:
            self._numbers[key] = (number, stored)
        self._last[number] = self._value_state(self._read_value(holder))
        self._keep_holder(number, stored)
        return number

    def _keep_holder(self, number: int, stored: Any) -> None:
        """Mark a holder as the one seen last."""
        self._recent.pop(number, None)
        self._recent[number] = stored
        # In batches, and not at each new holder.
        if len(self._recent) > 4 * _RECENT:
            for one in list(self._recent)[: -2 * _RECENT]:
                del self._recent[one]

    def _target_holder(self, target: ast.expr, code: CodeType, frame: FrameType) -> Any:
        if isinstance(target, ast.Name) and not self._steps:
            is_local = target.id in code.co_varnames or target.id in code.co_cellvars
            return frame if is_local else frame.f_globals
        found = self._resolve_node(target, code, frame)
        return found if found is not None else _MISSING

    def _resolve_node(self, node: ast.expr, code: CodeType, frame: FrameType) -> Any:
        if isinstance(node, ast.Name):
            own = self._parts.variables(code, frame)
            return own.get(node.id, frame.f_globals.get(node.id, _MISSING))
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute):
            owner = self._resolve_node(node.value, code, frame)
            return self._follow_step(owner, ["attribute", node.attr])
        if isinstance(node, ast.Subscript):
            owner = self._resolve_node(node.value, code, frame)
            key = self._resolve_node(node.slice, code, frame)
            return self._follow_step(owner, ["item", key])
        return self._resolve_type(node, code, frame)

    def _resolve_type(self, node: ast.expr, code: CodeType, frame: FrameType) -> Any:
        """Return the class of `type(x)`."""
        if not isinstance(node, ast.Call) or len(node.args) != 1:
            return _MISSING
        value = self._resolve_node(node.args[0], code, frame)
        is_type = isinstance(node.func, ast.Name) and node.func.id == "type"
        return type(value) if is_type and value is not _MISSING else _MISSING

    # -- which lines may write ---------------------------------------------------------------------

    def _assignment_targets(self, code: CodeType) -> dict[int, list[ast.expr]]:
        """Return a file's assignments to the name, field or item, by line."""
        return self._read_assignments(code.co_filename)

    def _read_assignments(self, file: str) -> dict[int, list[ast.expr]]:
        if file not in self._files:
            found: dict[int, list[ast.expr]] = {}
            try:
                with open(file, "rb") as source:  # noqa: PTH123 - the program's own pathlib
                    tree: ast.AST = ast.parse(source.read())
            except (OSError, SyntaxError, ValueError, RecursionError):
                # A source that cannot be read has no known assignments.
                tree = ast.Module([], [])
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self._note_class(file, node)
                if isinstance(node, ast.Assign) and self._is_root(node.targets):
                    self._bindings.setdefault(file, []).append(node)
                target = self._write_target(node)
                for line in (
                    {getattr(node, "lineno", 0), *self._statement_starts(node)} if target else ()
                ):
                    found.setdefault(line, []).append(target)  # type: ignore[arg-type]
            self._files[file] = found
        return self._files[file]

    def _note_class(self, file: str, node: ast.ClassDef) -> None:
        """Note the line of a class body that assigns the attribute."""
        for one in node.body:
            targets: Any = getattr(one, "targets", None) or [getattr(one, "target", None)]
            names = [each.id for each in targets if isinstance(each, ast.Name)]
            if self._final is not None and self._final == ["attribute", *names[:1]]:
                self._bodies[file, node.name] = one.lineno

    def _is_root(self, targets: list[ast.expr]) -> bool:
        return any(isinstance(one, ast.Name) and one.id == self._root for one in targets)

    def _statement_starts(self, node: ast.AST) -> tuple[int, ...]:
        # Of a call over several lines, the line that ends it may be told again.
        end = getattr(node, "end_lineno", None)
        return (end,) if isinstance(node, ast.Call) and end else ()

    def _write_target(self, node: ast.AST) -> ast.expr | None:
        """Return the holder that a syntax node may write to."""
        if self._final is None:
            is_stored = isinstance(node, ast.Name) and node.id == self._root and _is_store(node)
            return node if is_stored and isinstance(node, ast.Name) else None
        kind, key = self._final
        if isinstance(node, ast.Call):
            return _set_by(node, kind)
        if not isinstance(node, (ast.Attribute, ast.Subscript)) or not _is_store(node):
            return None
        if isinstance(node, ast.Attribute):
            return node.value if kind == "attribute" and node.attr == key else None
        return node.value if kind == "item" else None

    def _stack_lines(self, frame: FrameType | None, line: int) -> list[list[int]]:
        found: list[list[int]] = []
        while frame is not None and len(found) < _STACK:
            if self._book.chosen.is_ours(frame.f_code):
                number = self._book.number(frame.f_code, None)
                found.append([number, frame.f_lineno or 0 if found else line])
            frame = frame.f_back
        return found


def _is_store(node: Any) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _set_by(node: ast.Call, kind: str) -> ast.expr | None:
    """Return the object that a call may change: by `setattr`, or by a container's method."""
    if kind == "attribute":
        is_set = isinstance(node.func, ast.Name) and node.func.id == "setattr"
        return node.args[0] if is_set and node.args else None
    is_method = isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING
    return node.func.value if is_method and isinstance(node.func, ast.Attribute) else None
