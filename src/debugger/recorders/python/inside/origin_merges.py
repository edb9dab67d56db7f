"""Stores the links of items that were merged from other containers: `{**a, **b}`, `a | b`, `[*a]`.

Of several operands with a key the last one gives the item.
"""

from __future__ import annotations

import ast
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_ITEMS = 500  # of one container
_DICT_CALLS = frozenset({"dict", "OrderedDict"})
_RECORD_METHODS = frozenset({"_replace", "_asdict"})
_RECORD_FUNCTIONS = frozenset({"asdict", "astuple", "vars"})
_EMPTY: dict[Any, Any] = {}


class MergedPart:
    """A part of a merged container: all items of an operand, or one item with its key."""

    __slots__ = ("is_whole", "key", "node")

    def __init__(self, node: Any, key: Any = None, *, is_whole: bool = True) -> None:
        self.node = node
        self.key = key
        self.is_whole = is_whole


class _MergeOperand:
    """An operand as it was before the statement: its link, and its items if it is still held."""

    __slots__ = ("items", "links", "operand", "text")

    def __init__(self, operand: Any, items: Any, links: Any, text: str) -> None:
        self.operand = operand
        self.items = items
        self.links = links
        self.text = text

    def has(self, key: Any, name: str) -> bool:
        """Return whether the operand has a key."""
        return key in self.items if type(self.items) is dict else name in self.links


class MergedItems:
    """Stores the links of merged containers."""

    def __init__(self, reader: Any, links: Any, plans: Any) -> None:
        self._reader = reader
        self._links = links
        self._plans = plans

    def note_merged(self, node: Any, value: Any, scope: Any) -> bool:
        """Store the links of the items of an expression's value; False if it merged nothing."""
        if type(value) is list or type(value) is tuple:
            return self._note_sequence(node, value, scope)
        parts = list(self._dict_parts(node, scope)) if issubclass(type(value), dict) else []
        # `dict(a)` alone is a copy, and a display without stars has only items of its own.
        is_merged = any(one.is_whole for one in parts)
        if isinstance(node, ast.Call):
            is_merged = bool(node.keywords)
        if not parts or not is_merged:
            return False
        operands = self._operands_of(parts, value, scope)
        self._reader.store.forget(value)
        self._note_pairs(parts, operands, value, scope, is_new=True)
        return True

    def note_update(self, call: Any, owner: Any, scope: Any) -> None:
        """Store the links of the items that `update` put into a dictionary."""
        parts = [MergedPart(one) for one in call.args[:1]]
        parts += [_keyword_part(one) for one in call.keywords]
        operands = self._operands_of(parts, owner, scope)
        self._note_pairs(parts, operands, owner, scope, is_new=False)

    def note_joined(self, node: Any, owner: Any, scope: Any) -> None:
        """Store the links of the items that `owner |= node` put into a dictionary."""
        parts = [MergedPart(node)]
        operands = self._operands_of(parts, owner, scope)
        self._note_pairs(parts, operands, owner, scope, is_new=False)

    def note_fields(self, call: Any, value: Any, scope: Any) -> None:
        """Store the links of the items that were the fields of another value.

        That is what `x._replace(a=1)` and `x._asdict()` of a named tuple give, `asdict(x)` and
        `astuple(x)` of a data class, and `vars(x)`.
        """
        name = self._plans.call_name(call) if isinstance(call, ast.Call) else ""
        is_method = name in _RECORD_METHODS and isinstance(call.func, ast.Attribute)
        if not is_method and not (name in _RECORD_FUNCTIONS and call.args):
            return
        record = call.func.value if is_method else call.args[0]
        operand = self._operand_of(record, value, scope)
        given = {one.arg: one.value for one in call.keywords} if name == "_replace" else _EMPTY
        self._reader.store.forget(value)
        for at, (field, key, one) in enumerate(self._fields_of(value, operand.items)[:_ITEMS]):
            snap = self._links.snap_value(one)
            if field in given:
                link = self._item_link(given[field], key, one, snap, scope)
            else:
                source = f".{field}" if f".{field}" in operand.links else f"[{at}]"
                link = self._merged_link(operand, source, snap, scope)
                link.name = key
            self._reader.store.put(value, key, link)

    def _fields_of(self, value: Any, record: Any) -> list[tuple[str, str, Any]]:
        """Return the name of each field, the key of its item, and the item.

        The items of a plain tuple have the order of the record's fields.
        """
        if type(value) is dict:
            return [(key, self._reader.item_place(value, key).key, one)
                    for key, one in value.items() if type(key) is str]  # fmt: skip
        if not issubclass(type(value), tuple):
            return []
        names = type.__dict__["__dict__"].__get__(type(value)).get("_fields", ())
        if type(value) is tuple:
            names = [key[1:] for key, _, _ in self._reader.parts(record, len(value))]
        names = names if len(names) == len(value) else [""] * len(value)
        return [(names[at], f"[{at}]", one) for at, one in enumerate(value)]

    # -- dictionaries ------------------------------------------------------------------------------

    def _dict_parts(self, node: Any, scope: Any) -> Iterator[MergedPart]:
        """Yield the parts of an expression that makes a dictionary, in the order of its items."""
        if isinstance(node, ast.Dict):
            for key, one in zip(node.keys, node.values):  # noqa: B905 - of Python 3.8, too
                if key is None:
                    yield from self._inner_parts(one, scope)
                else:
                    yield MergedPart(one, self._reader.read(key, scope), is_whole=False)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            yield from self._inner_parts(node.left, scope)
            yield from self._inner_parts(node.right, scope)
        elif isinstance(node, ast.Call) and self._plans.call_name(node) in _DICT_CALLS:
            for one in node.args[:1]:
                yield from self._inner_parts(one, scope)
            yield from map(_keyword_part, node.keywords)

    def _inner_parts(self, node: Any, scope: Any) -> Iterator[MergedPart]:
        """Yield the parts of an operand: those of a display, or all of its items."""
        found = list(self._dict_parts(node, scope))
        yield from found or [MergedPart(node)]

    def _operands_of(self, parts: list[MergedPart], value: Any, scope: Any) -> list[Any]:
        """Return the operands of parts with all items, and None for the others."""
        return [self._operand_of(one.node, value, scope) if one.is_whole else None for one in parts]

    def _operand_of(self, node: Any, value: Any, scope: Any) -> _MergeOperand:
        text = self._plans.node_text(node)
        items = self._reader.read(node, scope)
        if items is self._reader.missing:
            link = self._reader.find_by_snap(node, scope)
            if link is None:
                leaves = tuple(self._reader.leaves(node, scope))
                operand = leaves[0] if leaves else self._links.ValueOperandLink(node, None, items)
                return _MergeOperand(operand, None, _EMPTY, text)
            operand = self._links.ValueOperandLink(node, link, link.value)
        else:
            operand = self._reader.operand(node, scope)
        # The name may be bound to the merged container itself by now.
        is_same = items is not value and self._links.snap_value(items) == operand.value
        links = dict(self._reader.store.parts_of(operand.value))
        return _MergeOperand(operand, items if is_same else None, links, text)

    def _note_pairs(
        self, parts: list[MergedPart], operands: list[Any], value: Any, scope: Any, *, is_new: bool
    ) -> None:
        store, reader = self._reader.store, self._reader
        for key, one in list(islice(dict.items(value), _ITEMS)):
            name = reader.item_place(value, key).key
            snap = self._links.snap_value(one)
            item = (key, name, one, snap)
            link = self._pair_link(parts, operands, item, scope, is_new=is_new)
            if link is not None:
                store.put(value, name, link)

    def _pair_link(
        self, parts: list[MergedPart], operands: list[Any], item: Any, scope: Any, *, is_new: bool
    ) -> Any:
        """Return the link of an item: the last part with its key gave it.

        What no part is known to have, the one unknown operand of a new container gave.
        """
        key, name, value, snap = item
        if name == "[?]":
            return None
        found = None
        others = []
        for at in reversed(range(len(parts))):
            part, operand = parts[at], operands[at]
            if operand is None:
                if part.key != key or type(part.key) is not type(key):
                    continue
                if found is None:
                    return self._item_link(part.node, name, value, snap, scope)
                others.append(self._plans.node_text(part.node))
            elif operand.has(key, name):
                if found is None:
                    found = operand
                else:
                    others.append(operand.text)
        if found is None:
            unknown = [one for one in operands if one is not None and one.items is None]
            if len(unknown) != 1 or not is_new:
                return None
            found = unknown[0]
        link = self._merged_link(found, name, snap, scope)
        link.note = f"{found.text}\0{others[0]}" if others else found.text
        return link

    def _item_link(self, node: Any, name: str, value: Any, snap: Any, scope: Any) -> Any:
        how, sources = self._reader.origin(node, scope, snap)
        link = scope.new_link("item", name, how, sources, snap)
        scope.complete(link)
        if how == "new" and type(snap) is tuple:
            self._reader.store.forget(value)
            self._reader.items.note_elements(node, value, scope)
        return link

    def _merged_link(self, found: _MergeOperand, name: str, snap: Any, scope: Any) -> Any:
        """Return the link of an item that an operand gave, which leads to the item there."""
        inner = found.links.get(name)
        is_seen = inner is not None and self._links.is_same(inner.value, snap)
        if not is_seen:
            inner = scope.new_link("part", name, "part", (found.operand,), snap)
            inner.is_inferred = True
        operand = self._links.ValueOperandLink(found.operand.node, inner, snap)
        link = scope.new_link("merged", name, "copy", (operand,), snap)
        link.note = found.text
        return link

    # -- lists and tuples --------------------------------------------------------------------------

    def _note_sequence(self, node: Any, value: Any, scope: Any) -> bool:
        """Store the links of the items of a display with stars."""
        if not isinstance(node, (ast.List, ast.Tuple)):
            return False
        starred = [one for one in node.elts if isinstance(one, ast.Starred)]
        if not starred:
            return False
        found = {id(one): self._operand_of(one.value, value, scope) for one in starred}
        sizes = self._sizes_of(node, found, len(value))
        self._reader.store.forget(value)
        at = 0
        for one in node.elts:
            operand = found.get(id(one))
            if at >= _ITEMS or (operand is not None and id(one) not in sizes):
                break
            for inner in range(sizes.get(id(one), 1)):
                if at + inner >= min(len(value), _ITEMS):
                    return True
                item, name = value[at + inner], f"[{at + inner}]"
                snap = self._links.snap_value(item)
                if operand is None:
                    link = self._item_link(one, name, item, snap, scope)
                else:
                    link = self._merged_link(operand, f"[{inner}]", snap, scope)
                    link.name = name
                self._reader.store.put(value, name, link)
            at += sizes.get(id(one), 1)
        return True

    def _sizes_of(self, node: Any, found: dict[int, Any], total: int) -> dict[int, int]:
        """Return how many items each starred operand gave; one that is not held had the rest."""
        sizes = {
            one: len(operand.items)
            for one, operand in found.items()
            if type(operand.items) in (list, tuple)
        }
        unknown = [one for one in found if one not in sizes]
        if len(unknown) == 1:
            rest = total - sum(sizes.values()) - (len(node.elts) - len(found))
            sizes[unknown[0]] = max(rest, 0)
        return sizes


def _keyword_part(word: Any) -> MergedPart:
    """Return the part of a keyword argument of a call that makes or updates a dictionary."""
    if word.arg is None:
        return MergedPart(word.value)
    return MergedPart(word.value, word.arg, is_whole=False)
