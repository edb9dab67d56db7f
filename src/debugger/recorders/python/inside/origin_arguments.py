"""Finds where the arguments of a call came from, by the call in the caller's statement."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_VARARGS, _VARKEYWORDS = 0x4, 0x8
_OWN = frozenset({"self", "cls", "mcs", "_cls"})
_CONSTRUCTORS = frozenset({"__init__", "__new__"})
# Functions of the interpreter that call a getter, a setter or `__getattr__`.
_ACCESSORS = frozenset({"getattr", "setattr", "hasattr"})
_MAKING = frozenset({"new", "computed", "library", "drawn"})
_UNKNOWN: Any = object()  # an argument that the source does not show
_FUNCTION = type(lambda: None)
_WIDE = 2  # bytes of an instruction


class CallPositions:
    """The positions of calls in the source, by instruction, from Python 3.11 on."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[CodeType, list[Any]]] = {}

    def position(self, code: CodeType, lasti: int) -> Any:
        """Return the position of an instruction; None if code has no columns."""
        if not hasattr(code, "co_positions") or lasti < 0:
            return None
        known = self._known.get(id(code))
        if known is None:
            # The code is kept, so that no other gets its identity.
            known = self._known[id(code)] = (code, list(code.co_positions()))
        at = lasti // _WIDE
        if at >= len(known[1]):
            return None
        line, end_line, column, end_column = known[1][at]
        return None if column is None else (line, end_line, column, end_column)


_ITERATED = 0x20 | 0x80 | 0x200  # generators and coroutines, whose code begins to run later


class ArgumentOrigins:
    """Stores the links of the parameters of calls."""

    def __init__(self, reader: Any, links: Any, plans: Any, sources: Any) -> None:
        self._reader = reader
        self._sources = sources
        self._links = links
        self._plans = plans
        self._missing = links.MISSING

    def bind_fields(self, scope: Any) -> None:
        """Give the fields of a data class the links of its constructor's parameters.

        Its code was made by the library, so it is known by the name of the class.
        """
        names = scope.code.co_varnames[: scope.code.co_argcount + scope.code.co_kwonlyargcount]
        made = scope.held.get(names[0])
        for name in names[1:]:
            link = scope.names.get(name)
            if link is not None:
                link.callee = self._links.class_name(made)
                self._reader.store.put(made, f".{name}", link)

    def bind_parameters(self, scope: Any) -> None:
        """Give each parameter of a call that begins its link."""
        code = scope.code
        call, given = self._find_arguments(scope)
        line = call.lineno if call is not None else scope.stack[1] if scope.stack else scope.line
        count = code.co_argcount + code.co_kwonlyargcount
        for name in code.co_varnames[:count]:
            value = scope.held.get(name, self._missing)
            if value is self._missing:
                continue
            snap = self._links.snap_value(value)
            if scope.parent is not None:
                scope.parent.value, scope.parent.pieces = value, ()
            how, sources, note = self._origin(name, given, call, scope, snap)
            link = scope.new_link("argument", name, how, sources, snap)
            link.note = note
            link.pieces = scope.parent.pieces if scope.parent is not None else ()
            # The link is the caller's: its line is that of the call.
            link.callee = code
            if scope.parent is not None and how != "default":
                link.code, link.line, link.call = scope.parent.code, line, scope.parent.call
                link.stack = scope.parent.stack
                link.began, link.frame = scope.parent.began, scope.parent.number
                if how in _MAKING and isinstance(given.get(name), ast.AST):
                    self._note_new(given[name], how, sources, value, scope.parent)
                link.is_inferred = not scope.is_direct and bool(sources)
            scope.put_name(name, link)
        self._bind_collected(scope, given, count)

    def note_made_tuple(self, scope: Any, value: Any, name: str) -> None:
        """Give the fields of a named tuple the links of its constructor's parameters."""
        store, code = self._reader.store, scope.code
        store.forget(value)
        for at, field in enumerate(code.co_varnames[1 : code.co_argcount]):
            if field in scope.names:
                scope.names[field].callee = name
                store.put(value, f"[{at}]", scope.names[field])
        link = scope.parent.new_link("made", code, "new", (), self._links.snap_value(value))
        link.callee, link.line = name, scope.stack[1]
        scope.parent.add_return(scope.position, name, link)

    def _note_new(self, node: Any, how: str, sources: Any, value: Any, parent: Any) -> None:
        """Store where the items of a new container come from, or the content of a new buffer."""
        if how in ("new", "computed"):
            self._reader.items.note_new(node, value, parent)
        else:
            self._reader.buffers.add_content(node, value, sources)

    def _find_arguments(self, scope: Any) -> tuple[Any, dict[str, Any]]:
        """Return the expression that made a call, and the argument of each parameter."""
        call = self._find_call(scope)
        if call is not None and self._plans.call_name(call) not in _ACCESSORS:
            return call, self._given(scope.code, call, scope)
        node = self._find_access(scope)
        return node, self._accessed(node, scope) if node is not None else {}

    def _find_access(self, scope: Any) -> Any:
        """Return the field or item whose reading or writing made a call, as that of a getter."""
        if scope.parent is None or scope.position is None:
            return None
        for plan in scope.parent.statements:
            for one in (*plan.loads, *plan.targets, *plan.calls):
                is_access = not isinstance(one, (ast.Name, ast.Call)) or (
                    isinstance(one, ast.Call) and self._plans.call_name(one) in _ACCESSORS
                )
                if is_access and self._plans.position_of(one) == scope.position:
                    return one
        return None

    def _accessed(self, node: Any, scope: Any) -> dict[str, Any]:
        """Return the arguments of a method that the interpreter called for a field or an item."""
        key: Any = None
        value = self._assigned_value(node, scope.parent)
        if isinstance(node, ast.Call):
            holder = node.args[0] if node.args else None
            value = node.args[2] if self._plans.call_name(node) == "setattr" else None
        else:
            holder = node.value
            key = node.slice if isinstance(node, ast.Subscript) else None
        name, count = scope.code.co_name, scope.code.co_argcount
        order: tuple[Any, ...] = (holder, value, None)
        if name in ("__get__", "__set__"):
            order = (None, holder, value)
        elif name in ("__getitem__", "__setitem__", "__setattr__", "__missing__"):
            order = (holder, key, value)
        names = scope.code.co_varnames[:count]
        pairs = zip(names, order)  # noqa: B905 - of Python 3.8, too
        return {one: given for one, given in pairs if given is not None}

    def _assigned_value(self, node: Any, parent: Any) -> Any:
        """Return the expression that a statement assigns to a field or an item."""
        for plan in parent.statements:
            if isinstance(plan.node, (ast.Assign, ast.AnnAssign)) and node in plan.targets:
                return plan.node.value
        return None

    def _find_call(self, scope: Any) -> Any:
        """Return the call in the caller's statement, by its position or by the function's name."""
        parent = scope.parent
        if parent is None:
            return None
        name = scope.code.co_name
        names = {name}
        if name in _CONSTRUCTORS and scope.code.co_varnames:
            first = scope.held.get(scope.code.co_varnames[0], self._missing)
            kind = first if issubclass(type(first), type) else type(first)
            names |= {type.__dict__["__name__"].__get__(kind), "cls"}
        exact = None
        for plan in parent.statements if scope.position is not None else ():
            exact = exact or plan.call_at(scope.position)
        if exact is not None and self._plans.call_name(exact) in names:
            return exact
        calls = [one for plan in parent.statements for one in plan.calls]
        if exact is not None:
            # A generator begins where it is used: `list(f(x))` is no call of it.
            if not scope.code.co_flags & _ITERATED:
                is_other = self._reader.is_called_back(exact, scope.code, parent)
                return None if is_other else exact
            inner = [one for one in calls if self._plans.call_name(one) in names]
            return inner[0] if len(inner) == 1 else None
        same = [one for one in calls if self._plans.call_name(one) in names]
        # A call of another function in between may have passed other values; a decorator of a
        # library passes on what it gets.
        is_passed = scope.is_direct or (len(same) == 1 and self._wraps(same[0], scope))
        return same[0] if len(same) == 1 and is_passed else None

    def _wraps(self, call: ast.Call, scope: Any) -> bool:
        """Return whether a call is of a decorator's function around that of a scope."""
        function = self._reader.function_of(call, scope.parent)
        inner = function.__dict__.get("__wrapped__") if type(function) is _FUNCTION else None
        return type(inner) is _FUNCTION and inner.__code__ is scope.code

    def _given(self, code: CodeType, call: Any, scope: Any) -> dict[str, Any]:
        """Return the argument of each parameter: a node, or a star's node with the item's key."""
        parent = scope.parent
        positional = code.co_varnames[: code.co_argcount]
        shift = int(self._is_bound(code, call, scope))
        found: dict[str, Any] = {}
        if shift and positional:
            is_made = code.co_name in _CONSTRUCTORS
            function = call.func
            owner = function.value if isinstance(function, ast.Attribute) else _UNKNOWN
            found[positional[0]] = None if is_made else owner
        at = shift
        for one in call.args:
            if isinstance(one, ast.Starred):
                items = self._reader.read(one.value, parent)
                size = len(items) if type(items) in (tuple, list) else 0
                for item in range(size):
                    self._add_positional(found, positional, at, (one.value, f"[{item}]"))
                    at += 1
                if not size:
                    break
                continue
            self._add_positional(found, positional, at, one)
            at += 1
        for word in call.keywords:
            if word.arg is not None:
                found[word.arg] = word.value
                continue
            items = self._reader.read(word.value, parent)
            for key in items if type(items) is dict else ():
                if type(key) is str:
                    found[key] = (word.value, f"[{key!r}]")
        return found

    def _add_positional(
        self, found: dict[str, Any], positional: tuple[str, ...], at: int, node: Any
    ) -> None:
        name = positional[at] if at < len(positional) else f"*{at - len(positional)}"
        found[name] = node

    def _is_bound(self, code: CodeType, call: Any, scope: Any) -> bool:
        """Return whether the first parameter is the object of a method."""
        if not code.co_argcount:
            return False
        name = code.co_varnames[0]
        first = scope.held.get(name, self._missing)
        if code.co_name in _CONSTRUCTORS and self._plans.call_name(call) not in _CONSTRUCTORS:
            return True
        if isinstance(call.func, ast.Attribute):
            base = self._reader.read(call.func.value, scope.parent)
            if base is first and base is not self._missing:
                return True
            if issubclass(type(base), type):
                return name in ("cls", "mcs")
        return name in _OWN

    def _origin(  # noqa: PLR0911 - one for each kind
        self, name: str, given: dict[str, Any], call: Any, scope: Any, snap: Any
    ) -> tuple[str, tuple[Any, ...], str]:
        made = self._links.ValueOperandLink
        if scope.parent is None:
            return "", (), ""
        is_call = isinstance(call, ast.Call) and self._plans.call_name(call) not in _ACCESSORS
        if call is None or (name not in given and not is_call):
            how, sources, note = self._passed_on(name, scope, snap)
            return how, sources, note if call is None else ""
        if name not in given:
            has_stars = any(isinstance(one, ast.Starred) for one in call.args)
            has_stars = has_stars or any(one.arg is None for one in call.keywords)
            if has_stars:
                return "", (), ""
            default = self._default_text(name, scope)
            field = self._default_field(name, scope, snap) if not default else None
            if field is not None:
                return "copy", (made(None, field, snap),), ""
            return ("default", (), default) if default else self._passed_on(name, scope, snap)
        node = given[name]
        if node is _UNKNOWN:
            return self._passed_on(name, scope, snap)
        if node is None:
            return "new", (), ""
        parent = scope.parent
        if type(node) is tuple:
            holder = self._reader.read(node[0], parent)
            link = self._reader.store.find(holder, node[1], snap)
            return "copy", (made(node[0], link, snap),), ""
        how, sources = self._reader.origin(node, parent, snap)
        if how == "copy" and not is_call and not self._may_be(sources[0].value, snap):
            return "", (), ""
        return how, sources, parent.note

    def _default_field(self, name: str, scope: Any, snap: Any) -> Any:
        """Return the link of a data class's attribute, the default of its constructor."""
        first = scope.held.get(scope.code.co_varnames[0]) if scope.code.co_varnames else None
        for one in type.__dict__["__mro__"].__get__(type(first)):
            link = self._reader.store.find(one, f".{name}", snap)
            if link is not None:
                return link
        return None

    def _may_be(self, one: Any, snap: Any) -> bool:
        """Return whether a stored value is the same, or not known."""
        is_unknown = one is self._missing or snap is self._missing
        return is_unknown or bool(self._links.is_same(one, snap))

    def _passed_on(self, name: str, scope: Any, snap: Any) -> tuple[str, tuple[Any, ...], str]:
        """Return the same object among what the caller's statement read, or an equal field of it.

        `replace(x, a=1)` passes on the other fields of `x`.
        """
        for one in (*scope.parent.loaded.values(), *scope.parent.results()):
            field = self._reader.store.parts_of(one.value).get(f".{name}")
            if field is not None and self._links.is_same(field.value, snap):
                return "copy", (self._links.ValueOperandLink(None, field, snap),), "library"
        if type(snap) is tuple:
            for one in scope.parent.loaded.values():
                if one.link is not None and self._links.is_same(one.value, snap):
                    return "copy", (one,), "library"
            for plan in scope.parent.statements:
                operands = tuple(
                    one for one in scope.parent.loaded.values()
                    if self._reader.store.find_value((one,), snap) is not None
                )  # fmt: skip
                if operands and plan.calls:
                    link = self._reader.store.find_value(operands, snap)
                    return "copy", (self._links.ValueOperandLink(None, link, snap),), "library"
        return "", (), "library"

    def _default_text(self, name: str, scope: Any) -> str:
        """Return the source text of a parameter's default."""
        code = scope.code
        node = self._sources.function_of(code)
        if node is None:
            return ""
        arguments = node.args
        plain = [*getattr(arguments, "posonlyargs", []), *arguments.args]
        pairs = list(zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults))  # noqa: B905
        pairs += list(zip(arguments.kwonlyargs, arguments.kw_defaults))  # noqa: B905
        for one, default in pairs:
            if one.arg == name and default is not None:
                return ast.unparse(default)
        return ""

    def _bind_collected(self, scope: Any, given: dict[str, Any], count: int) -> None:
        """Store the links of the items of `*args` and `**kwargs`."""
        code = scope.code
        if code.co_flags & _VARARGS:
            value = scope.held.get(code.co_varnames[count], ())
            self._bind_items(value, given, scope, [f"*{at}" for at in range(len(value))], "[{}]")
            self._bind_whole(code.co_varnames[count], value, given, scope)
            count += 1
        if code.co_flags & _VARKEYWORDS:
            value = scope.held.get(code.co_varnames[count], {})
            self._bind_items(value, given, scope, list(value), "[{!r}]")
            self._bind_whole(code.co_varnames[count], value, given, scope)

    def _bind_whole(self, name: str, values: Any, given: dict[str, Any], scope: Any) -> None:
        """Give `*args` or `**kwargs` itself a link, which leads on to what was unpacked into it."""
        snap = self._links.snap_value(values)
        nodes = {id(one[0]): one[0] for one in given.values() if type(one) is tuple}
        sources: tuple[Any, ...] = ()
        if len(nodes) == 1:
            sources = (self._reader.operand(next(iter(nodes.values())), scope.parent),)
        link = scope.new_link("argument", name, "copied" if sources else "new", sources, snap)
        link.callee = scope.code
        if scope.parent is not None:
            link.code, link.stack = scope.parent.code, scope.parent.stack
            link.line = scope.stack[1] if scope.stack else scope.parent.line
            link.began, link.frame = scope.parent.began, scope.parent.number
        scope.put_name(name, link)

    def _bind_items(
        self, values: Any, given: dict[str, Any], scope: Any, names: list[str], text: str
    ) -> None:
        if not values:
            return
        self._reader.store.forget(values)
        for name in names:
            key = int(name[1:]) if name[:1] == "*" else name
            node = given.get(name)
            snap = self._links.snap_value(values[key])
            if node is not None:
                how, sources, note = self._origin(name, given, node, scope, snap)
                if how in _MAKING and isinstance(node, ast.AST):
                    self._note_new(node, how, sources, values[key], scope.parent)
            elif scope.parent is not None and not given:
                # The call went through code that is not followed, or unpacked what has no name.
                how, sources, note = self._passed_on(name, scope, snap)
                note = "unpacked" if scope.is_direct else note
                if not sources:
                    continue
            else:
                continue
            link = scope.new_link("argument", name, how, sources, snap)
            link.note, link.callee = note, scope.code
            link.is_inferred = node is None
            if scope.parent is not None:
                link.code, link.stack = scope.parent.code, scope.parent.stack
                link.line = getattr(node, "lineno", scope.parent.line)
            self._reader.store.put(values, text.format(key), link)
