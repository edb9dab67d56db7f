"""Notes where an iterator was used up: whoever goes through it later gets nothing."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_KEY = "(used up)"
_GENERATOR = type(_ for _ in ())
# Types of the interpreter that can be gone through once; of these only the source tells the use.
_ITERATORS = frozenset(
    {
        "generator",
        "map",
        "filter",
        "zip",
        "enumerate",
        "reversed",
        "islice",
        "chain",
        "starmap",
        "groupby",
    }
    | {"takewhile", "dropwhile", "accumulate", "product", "permutations", "combinations"}
    | {"list_iterator", "tuple_iterator", "range_iterator", "set_iterator", "str_iterator"}
    | {"str_ascii_iterator", "dict_keyiterator", "dict_valueiterator", "dict_itemiterator"}
    | {"list_reverseiterator", "callable_iterator", "_reader", "TextIOWrapper", "BufferedReader"}
)
# Functions and methods that go through all of an argument.
_CONSUMING = frozenset(
    {"list", "tuple", "set", "frozenset", "dict", "sorted", "sum", "max", "min", "deque"}
    | {"Counter", "join", "extend", "update", "fromkeys", "reduce", "array", "bytes", "bytearray"}
    | {"writerows", "writelines", "fsum", "prod", "mean", "fmean", "median", "stdev"}
)
_SCANS = (ast.ListComp, ast.SetComp, ast.DictComp)


class UsedIterators:
    """Stores the statement that used up each iterator."""

    def __init__(self, reader: Any, links: Any, plans: Any) -> None:
        self._reader = reader
        self._links = links
        self._plans = plans

    def find_use(self, value: Any, snap: Any) -> Any:
        """Return the link of the statement that used up an iterator; None if none did."""
        return self._reader.store.last_key(value, _KEY) if snap[1] in _ITERATORS else None

    def note_uses(self, plan: Any, scope: Any) -> None:
        """Note the iterators that a finished statement has used up."""
        for node in plan.loads:
            found = scope.loaded.get(id(node))
            snap = found.value if found is not None else None
            if type(snap) is not tuple or snap[1] not in _ITERATORS:
                continue
            value = self._reader.read(node, scope)
            if value is self._reader.missing or self._links.snap_value(value) != snap:
                continue
            if self._reader.store.last_key(value, _KEY) is not None:
                continue
            is_generator = type(value) is _GENERATOR
            if not (value.gi_frame is None if is_generator else self._goes_through(plan, node)):
                continue
            link = scope.new_link("used up", node, "copy", (found,), snap)
            link.line = plan.line
            link.is_inferred = not is_generator
            self._reader.store.put(value, _KEY, link)

    def note_rewind(self, call: Any, scope: Any) -> None:
        """Note that `seek` lets a file be read again."""
        if call.func.attr == "seek":
            self._reader.store.drop(self._reader.read(call.func.value, scope), _KEY)

    def _goes_through(self, plan: Any, node: Any) -> bool:
        """Return whether a statement goes through all items of an expression."""
        return any(node is one for one in self._consumed(plan))

    def _consumed(self, plan: Any) -> Iterator[Any]:
        """Yield the expressions whose items a statement goes through."""
        for root in plan.exprs:
            for one in ast.walk(root):
                if isinstance(one, ast.Starred):
                    yield one.value
                elif isinstance(one, _SCANS):
                    yield one.generators[0].iter
                elif isinstance(one, ast.Call) and self._plans.call_name(one) in _CONSUMING:
                    for argument in one.args:
                        if isinstance(argument, ast.GeneratorExp):
                            yield argument.generators[0].iter
                        yield argument
