"""Notes where items were taken out of containers: which statement emptied one, or removed a key."""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict, defaultdict, deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

REMOVED = "removed"  # how such a link came, which ends a chain
_EMPTIED = "(emptied)"
_FEWER = "(fewer)"
_CHANGED = ("changed size during iteration", "mutated during iteration")  # CPython's messages
_KEYED = frozenset({"pop", "remove", "discard"})  # their first argument is a key of a dict or set
# Only of types of the interpreter, as others run code of the program for their length.
_MAPPINGS = frozenset(map(id, (dict, OrderedDict, defaultdict, Counter)))
_CONTAINERS = _MAPPINGS | frozenset(map(id, (list, set, deque, bytearray)))
_PLAIN_KEYS = frozenset(map(id, (str, bytes, int, float, bool, type(None))))
_KEY_TEXT = 60  # characters


class RemovedItems:
    """Stores the statements that took items out of containers."""

    def __init__(self, reader: Any, missing: Any) -> None:
        self._reader = reader
        self._missing = missing

    def prepare(self, plan: Any, scope: Any) -> None:
        """Note how many items the containers have from which a statement may take some."""
        for node, holder in plan.removing:
            owner = self._reader.read(holder, scope)
            if id(type(owner)) in _CONTAINERS:
                scope.counts[id(node)] = (len(owner), self._key_of(node, owner, scope))

    def finish(self, plan: Any, scope: Any) -> None:
        """Note what a statement that has run took out."""
        for node, holder in plan.removing:
            count, key = scope.counts.pop(id(node), (0, ""))
            owner = self._reader.read(holder, scope) if count else self._missing
            if id(type(owner)) not in _CONTAINERS or len(owner) >= count:
                continue
            for name in (key, _FEWER if len(owner) else _EMPTIED):
                if name:
                    kind = "emptied" if name is _EMPTIED else "taken out"
                    link = scope.new_link(kind, holder, REMOVED, (), self._missing)
                    link.note = key[1:-1] if name is not _EMPTIED else ""
                    link.line = plan.line
                    self._reader.store.put(owner, name, link)

    def find_emptied(self, value: Any) -> Any:
        """Return the link of the statement that emptied a container; None if none is the last."""
        if id(type(value)) not in _CONTAINERS or len(value):
            return None
        return self._reader.store.newest(value, _EMPTIED)

    def find_cause(self, value: Any, error: BaseException | None) -> Any:
        """Return the link of the statement that changed a container so that an error was raised."""
        if type(error) is RuntimeError and id(type(value)) in _CONTAINERS:
            message = error.args[0] if error.args and type(error.args[0]) is str else ""
            is_changed = message.endswith(_CHANGED)
            return self._reader.store.last_of(value) if is_changed else None
        return self._find_missing(value, error)

    def _find_missing(self, value: Any, error: BaseException | None) -> Any:
        """Return the link of the statement that took out the key that an error misses."""
        if type(error) is not KeyError or id(type(value)) not in _MAPPINGS:
            return None
        key = error.args[0] if len(error.args) == 1 else self._missing
        if id(type(key)) not in _PLAIN_KEYS or key in value:
            return None
        return self._reader.store.last_key(value, _key_text(key))

    def _key_of(self, node: Any, owner: Any, scope: Any) -> str:
        """Return the text of the key that may be taken out of a dictionary; empty without one."""
        if id(type(owner)) not in _MAPPINGS:
            return ""
        if isinstance(node, ast.Subscript):
            key = scope.keys.get(id(node), self._missing)
        elif getattr(node.func, "attr", "") in _KEYED and node.args:
            key = self._reader.read(node.args[0], scope)
        else:
            return ""
        return _key_text(key) if id(type(key)) in _PLAIN_KEYS else ""


def _key_text(key: Any) -> str:
    """Return the name under which the removal of a key is stored, which no item has."""
    text = key[: _KEY_TEXT + 1] if type(key) in (str, bytes) else key
    return f"({text!r})"
