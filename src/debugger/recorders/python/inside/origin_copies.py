"""Links the items of new containers with those of the containers that they were made of."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ELEMENTS = 500  # of a new container
_STEPS = 12  # from a text to the container that it was made of
_TEXTS = frozenset({"str", "bytes"})


class CopiedItems:
    """Stores the links of the items of copies, and of what calls have given one by one."""

    def __init__(self, reader: Any, links: Any, plans: Any, items: Any) -> None:
        self._reader = reader
        self._links = links
        self._plans = plans
        self._items = items
        self._missing = links.MISSING

    def note_copied(self, source: Any, sources: Any, value: Any, scope: Any) -> None:
        """Give a copy of a container the links of the items of the original."""
        if self._items.merges.note_merged(source, value, scope):
            return
        inner = source.args[0] if isinstance(source, ast.Call) and source.args else None
        self._reader.store.forget(value)
        self._items.note_elements(inner, value, scope)
        self._note_yielded(value, scope)
        for one in sources:
            original = self._reader.read(one.node, scope)
            if original is value and one.value != self._links.snap_value(value):
                self._reader.store.copy_of(one.value, value)  # its name is that of the copy now
            elif original is not self._missing and original is not value:
                self._reader.store.copy(original, value)
                if self._plans.call_name(source) == "deepcopy":
                    self._note_deep_copied(original, value)

    def note_equal_items(self, value: Any, sources: Any, scope: Any) -> None:
        """Link the items of a library's container with equal ones of what it was made of.

        `json.loads(json.dumps(x))` has those of `x`.
        """
        found = [self._original(one) for one in sources]
        snaps = [one for one in found if type(one) is tuple and one[1] == type(value).__name__]
        waiting = [(value, snaps[0])] if type(value) in (dict, list) and len(snaps) == 1 else []
        count = 0
        while waiting and count < _ELEMENTS:
            holder, original = waiting.pop()
            links = self._reader.store.parts_of(original)
            for key, _, one in self._reader.parts(holder, _ELEMENTS) if links else ():
                link, snap = links.get(key), self._links.snap_value(one)
                count += 1
                if link is None:
                    continue
                if type(snap) is tuple and type(link.value) is tuple and link.value[1] == snap[1]:
                    waiting.append((one, link.value))
                elif self._links.is_same(link.value, snap):
                    operand = self._links.ValueOperandLink(None, link, snap)
                    item = scope.new_link("item", key, "copy", (operand,), snap)
                    item.is_inferred = True
                    self._reader.store.put(holder, key, item)

    def _original(self, operand: Any) -> Any:
        """Return the stored value of the container that a text was made of by a library."""
        for _ in range(_STEPS):
            value, link = operand.value, operand.link
            is_text = type(value) in (str, bytes) or (type(value) is tuple and value[1] in _TEXTS)
            if not is_text or link is None or not link.sources:
                return value
            operand = link.sources[0]
        return None

    def _note_yielded(self, value: Any, scope: Any) -> None:
        """Store the links of the items that a generator has yielded to `list` or `tuple`."""
        yielded = [one for one in scope.results() if one.kind == "yielded"]
        if type(value) not in (list, tuple) or not yielded:
            return
        before = len(value) - len(yielded)  # items whose links were dropped
        for at, item in enumerate(value[-_ELEMENTS:], max(len(value) - _ELEMENTS, 0)):
            snap = self._links.snap_value(item)
            near = yielded[at - before : at - before + 1] if at >= before else []
            same = [one for one in (*near, *yielded) if self._links.is_same(one.value, snap)]
            if same:
                operand = self._links.ValueOperandLink(None, same[0], snap)
                link = scope.new_link("item", f"[{at}]", "copy", (operand,), snap)
                self._reader.store.put(value, f"[{at}]", link)

    def _note_deep_copied(self, original: Any, value: Any) -> None:
        """Give the parts of a deep copy the links of the original's parts."""
        waiting, known = [(original, value)], {id(value)}
        while waiting and len(known) < _ELEMENTS:
            pair = waiting.pop()
            parts = [self._reader.parts(one, _ELEMENTS) for one in pair]
            if type(pair[0]) is not type(pair[1]) or len(parts[0]) != len(parts[1]):
                continue
            for (_, _, one), (_, _, copied) in zip(*parts):  # noqa: B905 - of Python 3.8, too
                if one is not copied and id(copied) not in known:
                    known.add(id(copied))
                    self._reader.store.forget(copied)
                    self._reader.store.copy(one, copied)
                    waiting.append((one, copied))

    def note_results(self, value: Any, sources: Any, scope: Any) -> None:
        """Store the links of a comprehension's items that calls returned."""
        self._reader.store.forget(value)
        items = _items_of(value)
        results = scope.results()
        known = [self._reader.store.of(read) for one in sources
                 if (read := self._reader.read(one.node, scope)) is not self._missing]  # fmt: skip
        for at, (key, one) in enumerate(items):
            snap = self._links.snap_value(one)
            link = None
            if len(results) == len(items) and self._links.is_same(results[at].value, snap):
                link = results[at]
            elif type(snap) is tuple:
                same = [each for each in results if self._links.is_same(each.value, snap)]
                same += [each for holder in known if holder is not None
                         for each in holder.links.values()
                         if self._links.is_same(each.value, snap)]  # fmt: skip
                link = same[0] if same else None
            if link is not None:
                made = scope.new_link(
                    "item", key, "copy", (self._links.ValueOperandLink(None, link, snap),), snap
                )
                self._reader.store.put(value, key, made)


def _items_of(value: Any) -> list[tuple[str, Any]]:
    if type(value) is dict:
        return [(f"[{key!r}]", one) for key, one in list(value.items())[:_ELEMENTS]
                if type(key) in (str, int)]  # fmt: skip
    if type(value) in (list, tuple):
        return [(f"[{at}]", one) for at, one in enumerate(value[:_ELEMENTS])]
    return []
