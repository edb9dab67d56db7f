"""Describes one running call: its names' links, the statement that runs, and what it called."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_STACK = 3  # callers of a link
_CELL_LINKS = 16  # of one variable of a closure
_OPTIMIZED = 0x1
# Calls whose result is what a generator has yielded; "" is an operator or a loop.
_ONE_BY_ONE = frozenset({"", "next", "send", "throw", "__next__", "anext", "asend", "__anext__"})
_YIELDED = 4  # items of a generator that are operands
_OF_STATEMENT = (  # what is known of the statement that runs
    *("statements", "line", "loaded", "files", "bases", "keys", "sizes", "counts", "positions"),
    *("_returns", "began", "unrecorded"),
)
_RETURNS = 200  # of one statement, as of a comprehension's calls


class ClosureLinks:
    """The links of variables that inner functions share with the function around them."""

    def __init__(self, is_same: Any) -> None:
        self._is_same = is_same
        self._outer: dict[int, CodeType] = {}
        self._links: dict[tuple[int, str], list[Any]] = {}

    def add_code(self, code: CodeType) -> None:
        """Note the functions that are defined in a code object."""
        for one in code.co_consts:
            if type(one) is type(code):
                self._outer[id(one)] = code
                self.add_code(one)

    def _key(self, code: CodeType, name: str) -> tuple[int, str]:
        owner: CodeType | None = code
        while owner is not None and name not in owner.co_cellvars:
            owner = self._outer.get(id(owner))
        return (id(owner if owner is not None else code), name)

    def put(self, code: CodeType, name: str, link: Any) -> None:
        """Store the link of a shared variable."""
        known = self._links.setdefault(self._key(code, name), [])
        known.append(link)
        del known[:-_CELL_LINKS]

    def find(self, code: CodeType, name: str, snap: Any) -> Any:
        """Return the last link of a shared variable with this value."""
        for one in reversed(self._links.get(self._key(code, name), ())):
            if self._is_same(one.value, snap):
                return one
        return None


class CallScope:
    """One running call of a function, or a module body or a class body."""

    def __init__(self, shared: Any, code: CodeType, names: dict[str, Any], plans: Any) -> None:
        self._shared = shared
        self.code = code
        self.plans = plans
        self.globals = names
        self.held: Any = {}
        self.names: dict[str, Any] = {}
        self.parent: CallScope | None = None
        self.is_direct = False
        self.is_cached = False  # a library's descriptor called it, which may store the result
        self.position: Any = None  # of the call in its caller
        self.stack: Any = None
        self.call = 0
        self.arguments: dict[str, Any] | None = None  # of a function with a cache
        self.thread = 0
        self.line = 0
        self.note = ""
        self.value: Any = None  # the object whose origin is looked for, where it is at hand
        self.pieces: tuple[Any, ...] = ()  # of the value whose origin was found last
        self.error: Any = None
        self.passing = 0  # the identity of an exception that a handler of the call may let pass
        self.inner: dict[str, Any] = {}  # the links of a comprehension's variables
        self.loops: dict[int, int] = {}  # the rounds of each loop
        self.loop_starts: dict[int, int] = {}  # the instruction of each
        self.loop_results: dict[int, list[Any]] = {}  # of the calls in the head of each
        self.round = 0  # of the loop whose element is bound
        self.loop_key: Any = shared.missing  # the first part of that element
        self.classes: dict[str, dict[str, Any]] = {}  # the names of class bodies that have run
        self.trace: Any = None
        self.number = 0  # among all own calls
        self.frames: tuple[int, ...] = ()  # the calls on its stack, if the caller is not recorded
        self.is_partial = False  # only the writes of watched names are recorded
        self.is_kept = False  # recorded outside of the windows, too
        self.spent = 0  # statements recorded outside of the windows
        self.began = self.unrecorded = 0  # own calls before the statement
        self.statements: tuple[Any, ...] = ()
        self.lasti = -1
        self._returning: dict[str, Any] = {}
        self.start_statement(())

    def start_statement(self, statements: tuple[Any, ...]) -> None:
        """Begin a statement, with nothing read and nothing called."""
        before = self.statements
        if before and isinstance(before[-1].node, ast.Return):
            # What comes behind a `return` is the end of a `with`, or a `finally`.
            self._returning = {name: getattr(self, name) for name in _OF_STATEMENT}
        self.statements = statements
        self.loaded: dict[int, Any] = {}
        self.files: dict[int, str] = {}
        self.bases: dict[int, Any] = {}  # the objects whose fields and items it assigns
        self.keys: dict[int, Any] = {}
        self.sizes: dict[int, int] = {}  # of dictionaries that it gives items with unknown keys
        self.counts: dict[int, tuple[int, str]] = {}  # of the containers that it takes items from
        self.positions: dict[int, int] = {}  # of the buffers that its calls read or write
        self._returns: list[tuple[Any, str, Any]] = []
        windows = self._shared.windows
        self.began, self.unrecorded = windows.count, windows.unrecorded

    def drop_statement(self) -> None:
        """End a statement that an exception left."""
        self.statements, self._returning = (), {}
        self.start_statement(())

    def result_node(self, plans: Any, value: Any, *, is_yield: bool) -> tuple[Any, int]:
        """Return the expression that gave a call's result, None if there is none; and its line.

        The line is 0 if it is that of the statement that runs.
        """
        node = plans.result_node(self.code, self.statements, is_yield=is_yield)
        if node is not None or is_yield or not self._resume_return(value):
            return node, 0
        return plans.result_node(self.code, self.statements, is_yield=False), self.line

    def _resume_return(self, value: Any) -> bool:
        """Go back to the `return` behind which a `with` or a `finally` ran, if there is one."""
        known = self._returning
        if not known or (value is None and len(known["statements"]) > 1):
            return False  # of `if x: return y` only the test may have run
        for name, one in known.items():
            setattr(self, name, one)
        return True

    def has_unrecorded_call(self) -> bool:
        """Return whether own calls of this statement were not recorded."""
        return bool(self._shared.windows.unrecorded != self.unrecorded)

    # -- names -------------------------------------------------------------------------------------

    @property
    def is_module(self) -> bool:
        """Whether its names are a module's globals."""
        return self.code.co_name == "<module>"

    def name_value(self, name: str) -> Any:
        """Return the value of a name; MISSING for none."""
        missing = self._shared.missing
        if name in self.held:
            return self.held[name]
        if name in self.globals:
            return self.globals[name]
        builtins = self.globals.get("__builtins__", {})
        names = builtins if type(builtins) is dict else vars(builtins)
        return names.get(name, missing)

    def name_link(self, name: str, snap: Any) -> Any:
        """Return the link of a name's value; None if its assignment was not seen."""
        if name in self.inner:
            return self.inner[name]
        code = self.code
        if name in code.co_cellvars or name in code.co_freevars:
            return self._shared.closures.find(code, name, snap)
        link = self.names.get(name)
        if link is None and name not in code.co_varnames:
            return self._shared.store.find(self.globals, name, snap)
        if link is not None and not self._shared.links.is_same(link.value, snap):
            return None
        return link

    def previous_link(self, name: str) -> Any:
        """Return the link that a name has, whatever its value."""
        if self.is_global(name):
            return self._shared.store.last_key(self.globals, name)
        return self.names.get(name)

    def is_global(self, name: str) -> bool:
        """Return whether a name is one of the module's."""
        code = self.code
        if self.is_module:
            return True
        is_own = name in code.co_varnames or name in code.co_cellvars or name in code.co_freevars
        return bool(code.co_flags & _OPTIMIZED) and not is_own

    def put_name(self, name: str, link: Any) -> None:
        """Store the link of a name that was assigned."""
        code = self.code
        if self.is_global(name):
            link.kind = "global" if not self.is_module else link.kind
            self._shared.store.put(self.globals, name, link)
            return
        if name in code.co_cellvars or name in code.co_freevars:
            self._shared.closures.put(code, name, link)
        self.names[name] = link

    # -- links -------------------------------------------------------------------------------------

    def new_link(self, kind: str, name: Any, how: str, sources: Any, value: Any) -> Any:
        """Make a link of an event in this call."""
        link = self._shared.links.ValueLink(kind, name, how, sources, value)
        link.code, link.line, link.thread = self.code, self.line, self.thread
        link.call, link.stack = self.call, self.stack
        link.began, link.number = self.began, self._shared.windows.count
        link.frame, link.frames = self.number, self.frames
        return link

    def complete(self, link: Any, note: str = "") -> None:
        """Give a link what is known of its value, whose origin was found last."""
        link.note, link.pieces = note or self.note, self.pieces

    def caller_stack(self, line: int) -> Any:
        """Return this call and its callers, for the links of a call that it makes."""
        stack, count = self.stack, 1
        stack_lines = [(self.code, line)]
        while stack is not None and count < _STACK:
            stack_lines.append(stack[:2])
            stack, count = stack[2], count + 1
        found: Any = None
        for code, at in reversed(stack_lines):
            found = (code, at, found)
        return found

    def add_return(self, position: Any, name: str, link: Any) -> None:
        """Store the result of a call that the statement made."""
        self._returns.append((position, name, link))
        del self._returns[:-_RETURNS]

    def begin_round(self, node: Any) -> None:
        """Begin a round of a loop; the calls that its head made in the first round count on."""
        number = self.loops[id(node)] = self.loops.get(id(node), 0) + 1
        self.round = number - 1
        if number == 1:
            results = [one for one in self._returns if one[2].kind != "yielded"]
            self.loop_results[id(node)] = results
        else:
            self._returns[:0] = self.loop_results.get(id(node), [])

    def returned(self, node: Any, name: str) -> Any:
        """Return the link of the result of a call, by its position in the source or its name."""
        if not self._returns or not hasattr(node, "lineno"):
            return None
        at = self._shared.plans.position_of(node)
        for position, _, link in reversed(self._returns):
            # What goes through a generator, as `list(f(x))`, is none of its items.
            if position == at and (link.kind != "yielded" or name in _ONE_BY_ONE):
                return link
        if not name:
            return None
        for position, known, link in reversed(self._returns):
            # Before Python 3.11 code has no columns; an awaited call continues elsewhere.
            is_here = position is None or not isinstance(node, ast.Attribute)
            if known == name and is_here and link.kind != "yielded":
                return link
        return None

    def yielded_value(self, snap: Any) -> Any:
        """Return the link of the last item with a value that a generator has yielded."""
        for _, _, link in reversed(self._returns):
            if link.kind == "yielded" and self._shared.links.is_same(link.value, snap):
                return link
        return None

    def yielded_by(self, name: str) -> list[Any]:
        """Return the links of the last items that a generator has yielded to the statement."""
        found = [one for _, known, one in self._returns if known == name and one.kind == "yielded"]
        return found[-_YIELDED:]

    def returned_value(self, snap: Any) -> Any:
        """Return the link of the last result that is this object."""
        if type(snap) is not tuple:
            return None
        for _, _, link in reversed(self._returns):
            if link.kind != "made" and self._shared.links.is_same(link.value, snap):
                return link
        return None

    def results(self) -> list[Any]:
        """Return the links of all results of the statement's calls."""
        return [link for _, _, link in self._returns]


class ExpressionScope(CallScope):
    """The expression of the question, as a statement of the call at the location."""

    def __init__(self, shared: Any, outer: CallScope, code: CodeType, node: Any) -> None:
        super().__init__(shared, code, outer.globals, ())
        self._outer = outer
        self.held, self.line = outer.held, outer.line
        self.number, self.thread, self.call = outer.number, outer.thread, outer.call
        self.stack, self.frames = outer.stack, outer.frames
        statement = ast.copy_location(ast.Expr(node), node)
        self.start_statement((shared.plans.StatementPlan(statement),))

    def name_link(self, name: str, snap: Any) -> Any:
        """Return the link of a name, which is one of the call's."""
        return self._outer.name_link(name, snap)

    def is_global(self, name: str) -> bool:
        """Return whether a name is one of the module's."""
        return self._outer.is_global(name)
