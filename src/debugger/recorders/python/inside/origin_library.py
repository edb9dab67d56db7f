"""Finds what a library did with the program's values: results in a cache, calls on an object.

Neither runs code of the program's own when the value is read, so no event tells of it.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_RESULTS = 1_000  # of one function with a cache
_CALLS = 3  # on one object
_CALL_KEY = "()"  # of the calls on an object; items have "[", fields "."
_CACHE = "_lru_cache_wrapper"  # the type of functions that `functools` has given a cache
_FUNCTION = type(lambda: None)
_PLAIN = frozenset({"int", "float", "complex", "bool", "NoneType", "str", "bytes"})


class CachedResults:
    """The results of functions that `functools.lru_cache` or `cache` has given a cache.

    A call that the cache answers does not run the function: its result is that of an earlier call
    with the same arguments.
    """

    def __init__(self, reader: Any, links: Any, plans: Any) -> None:
        self._reader = reader
        self._links = links
        self._plans = plans
        # By code, which it keeps alive; None for code without a cache.
        self._results: dict[int, tuple[CodeType, list[Any] | None]] = {}

    def note_arguments(self, scope: Any) -> None:
        """Keep the arguments of a call of a function with a cache, before its code changes them."""
        if self._results_of(scope.code) is not None:
            names = _parameters(scope.code)
            scope.arguments = {
                name: scope.names[name].value for name in names if name in scope.names
            }

    def note_result(self, scope: Any, link: Any) -> None:
        """Keep the result of such a call."""
        results = self._results_of(scope.code)
        if results is not None and scope.arguments is not None:
            results.append((scope.arguments, link))
            del results[:-_RESULTS]

    def find(self, call: ast.Call, scope: Any, value: Any) -> Any:
        """Return the link of the result that a cache gave a call; None if there is no cache."""
        function = self._reader.function_of(call, scope)
        if type(function).__name__ != _CACHE:
            return None
        inner = function.__wrapped__
        known = self._results.get(id(inner.__code__)) if type(inner) is _FUNCTION else None
        if known is None or not known[1]:
            return None
        given = self._given(call, known[0], scope)
        is_same, missing = self._links.is_same, self._reader.missing
        equal = [
            link
            for arguments, link in known[1]
            if (value is missing or is_same(link.value, value))
            and all(is_same(one, arguments.get(name, missing)) for name, one in given.items())
        ]
        if not equal or (value is missing and len(equal) > 1):
            return None
        operand = self._links.ValueOperandLink(call, equal[-1], equal[-1].value)
        found = scope.new_link("cached", call, "copy", (operand,), equal[-1].value)
        found.callee, found.is_inferred = known[0], len(equal) > 1
        return found

    def _results_of(self, code: CodeType) -> list[Any] | None:
        known = self._results.get(id(code))
        if known is None:
            function = self._plans.function_of(code)
            names = map(_name_of, getattr(function, "decorator_list", ()))
            results: Any = [] if any(one.endswith("cache") for one in names) else None
            known = self._results[id(code)] = (code, results)
        return known[1]

    def _given(self, call: ast.Call, code: CodeType, scope: Any) -> dict[str, Any]:
        """Return the arguments of a call that can be read, by parameter."""
        names = _parameters(code)
        nodes: list[Any] = list(call.args)
        if len(nodes) < code.co_argcount and names[:1] == ("self",):
            nodes.insert(0, getattr(call.func, "value", None))
        pairs = list(zip(names, nodes))  # noqa: B905 - of Python 3.8, too
        pairs += [(one.arg, one.value) for one in call.keywords if one.arg is not None]
        found = {}
        for name, node in pairs:
            if isinstance(node, ast.Starred):
                break
            value = self._reader.read(node, scope) if node is not None else self._reader.missing
            if value is not self._reader.missing:
                found[name] = self._links.snap_value(value)
        return found


class ObjectCalls:
    """The calls of methods of a library's objects as statements: they may set the object's state.

    `c.read_string(text)` gives nothing, and `c.get(key)` may return what it read.
    """

    def __init__(self, reader: Any, links: Any) -> None:
        self._reader = reader
        self._links = links

    def note_call(self, call: ast.Call, scope: Any) -> None:
        """Keep a call of a method, if it is the whole statement and no own code ran in it."""
        statement = scope.statements[-1].node if scope.statements else None
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            return
        owner = self._reader.read(call.func.value, scope)  # type: ignore[attr-defined]
        name = self._links.call_name(call)
        if name == "seek" or (type(owner).__name__ == "array" and not name.startswith("from")):
            return  # a position is no content, and items that are put in are known each
        if scope.results() or not self._is_object(owner):
            return
        nodes = [*call.args, *(one.value for one in call.keywords)]
        given = [leaf for one in nodes for leaf in self._reader.leaves(one, scope)]
        how = "drawn" if len(given) == 1 else "library" if given else "constant"
        link = scope.new_link("called", call, how, tuple(given), self._links.snap_value(owner))
        link.note, link.is_inferred = self._links.call_name(call), True
        self._reader.store.put(owner, f"{_CALL_KEY}{scope.line}", link)

    def find_of_method(self, call: ast.Call, scope: Any) -> list[Any]:
        """Return the operands for the last calls on the object whose method a call is."""
        if not isinstance(call.func, ast.Attribute):
            return []
        return self.find(self._reader.read(call.func.value, scope))

    def find(self, owner: Any) -> list[Any]:
        """Return the operands for the last calls on an object."""
        if not self._is_object(owner):
            return []
        parts = self._reader.store.parts_of(self._links.snap_value(owner))
        known = [link for key, link in parts.items() if key[:2] == _CALL_KEY]
        made, missing = self._links.ValueOperandLink, self._reader.missing
        return [made(link.name, link, missing) for link in known[-_CALLS:]]

    def _is_object(self, owner: Any) -> bool:
        """Return whether a value is an object of a library's class, and no container."""
        kind = type(owner)
        if owner is self._reader.missing or kind.__name__ in _PLAIN or issubclass(kind, type):
            return False
        is_opaque = kind.__name__ == "array" or not self._reader.is_container(owner)
        return kind.__module__ != "builtins" and is_opaque


def _parameters(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _name_of(decorator: Any) -> str:
    """Return the last name of a decorator: `lru_cache` of `@functools.lru_cache(maxsize=5)`."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    return str(getattr(decorator, "attr", getattr(decorator, "id", "")))
