"""Reads the values of expressions of Ruby and PHP out of a recorded history. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from debugger.recorders.script.step_history import Change, PassedValue, Step, StepCall, StepHistory

_ROOT = re.compile(
    r"(?P<static>(?:self|static|parent|[A-Z][\w\\]*)::\$\w+)|(?P<field>@{1,2}\w+)"
    r"|(?P<name>\$?[A-Za-z_]\w*)"
)
_PART = re.compile(r"\s*(?:(?:\?->|->|&?\.)\s*(?P<field>\w+)|\[(?P<key>[^\[\]]*)\])")
_BLOCK = re.compile(r"(?:block |\{closure\})")
_PLAIN_KEY = re.compile(r"-?\d+|:\w+|'[^']*'|\"[^\"]*\"")
_SUM = re.compile(r"(?P<left>[^'\"]+?)\s*(?P<sign>[-+])(?!>)\s*(?P<right>[\w$@]+)")
_WHOLE = re.compile(r"-?\d+")


@dataclass(frozen=True)
class Slot:
    """Where a value is: the owner, its name there with the keys behind it, and the value."""

    owner: str
    path: tuple[str, ...]
    value: PassedValue


class HistoryValues:
    """Resolves expressions at a point of a history.

    An owner is a call (`L3`), an object (`O5`), a class (`SCart`) or the globals (`G`).
    """

    def __init__(self, history: StepHistory, is_php: bool) -> None:  # noqa: FBT001
        self._history = history
        self._is_php = is_php

    def resolve(self, expression: str, call: int, index: int) -> Slot | None:
        """Return where the value of an expression is; None for what is no path, or not recorded."""
        text = expression.strip()
        root = _ROOT.match(text)
        slot = self._resolve_root(root, call, index) if root is not None else None
        position = root.end() if root is not None else 0
        while slot is not None and position < len(text):
            part = _PART.match(text, position)
            if part is None:
                return None
            position = part.end()
            slot = self._resolve_part(slot, part, call, index)
        return slot

    def read(self, owner: str, path: Sequence[str], index: int) -> Slot | None:
        """Return the slot of an owner, if it has a value at a record."""
        change = self._history.last_change(owner, tuple(path), index)
        if change is None or change.value.text is None:
            return None
        if change.path != tuple(path):
            return None
        return Slot(owner, tuple(path), change.value)

    def _resolve_root(self, root: re.Match[str], call: int, index: int) -> Slot | None:
        if root["static"]:
            return self._resolve_static(root["static"], call, index)
        if root["field"]:
            return self._read_field(self._receiver(call), root["field"], index)
        name = root["name"]
        if name in {"$this", "self"}:
            number = self._receiver(call)
            return Slot(f"O{number}", (), PassedValue("", number)) if number else None
        for one in self._scopes(call):
            found = self.read(f"L{one}", (name,), index) or self._argument(one, name)
            if found is not None:
                return found
        found = self.read("G", (name,), index)
        if found is not None or self._is_php:
            return found
        # An attribute of the object itself.
        return self._read_field(self._receiver(call), f"@{name}", index)

    def _argument(self, call: int, name: str) -> Slot | None:
        known = self._history.calls.get(call)
        for one, value in known.arguments if known is not None else ():
            if one == name:
                return Slot(f"L{call}", (name,), value)
        return None

    def shares(self, inner: int, outer: int, name: str) -> bool:
        """Return whether a call is a block or a closure that has a variable of another call's."""
        if self._is_php:
            is_closure = self._history.function_of(inner).name == "{closure}"
            return is_closure and (name,) in self._history.changes.get(f"L{inner}", {})
        return outer in self._scopes(inner)[1:]

    def _scopes(self, call: int) -> list[int]:
        """Return a call, and those whose variables a block in it has, too."""
        found = [call]
        while not self._is_php and _BLOCK.match(self._history.function_of(found[-1]).name):
            outer = self._enclosing(found[-1])
            if outer is None:
                break
            found.append(outer)
        return found

    def _enclosing(self, block: int) -> int | None:
        function = self._history.function_of(block)
        at: StepCall | None = self._history.calls.get(block)
        at = self._history.calls.get(at.parent) if at is not None else None
        while at is not None:
            outer = self._history.function_of(at.number)
            if outer.file == function.file and function.name.endswith(
                (outer.name, f" {outer.name.rpartition(' in ')[2]}")
            ):
                return at.number
            at = self._history.calls.get(at.parent)
        return None

    def _receiver(self, call: int) -> int:
        for one in self._scopes(call):
            known = self._history.calls.get(one)
            if known is not None and known.receiver:
                return known.receiver
        return 0

    def _read_field(self, number: int, name: str, index: int) -> Slot | None:
        return self.read(f"O{number}", (name,), index) if number else None

    def _resolve_static(self, text: str, call: int, index: int) -> Slot | None:
        name, _, field = text.partition("::")
        if name in {"self", "static", "parent"}:
            name = re.split(r"->|::", self._history.function_of(call).name)[0]
        owners = [
            one for one in self._history.changes if one == f"S{name}" or one.endswith(f"\\{name}")
        ]
        slots = [self.read(one, (f"::{field}",), index) for one in owners if one.startswith("S")]
        return next((one for one in slots if one is not None), None)

    def _resolve_part(self, slot: Slot, part: re.Match[str], call: int, index: int) -> Slot | None:
        number = slot.value.object
        if part["field"] is not None:
            sign = "->" if self._is_php else "@"
            return self._read_field(number, f"{sign}{part['field']}", index)
        key = self._key(part["key"].strip(), call, index)
        if key is None:
            return None
        if self._is_php:
            return self.read(slot.owner, (*slot.path, f"[{key}]"), index)
        if key.startswith("-"):
            return self._from_end(number, int(key), index)
        return self._read_field(number, f"[{key}]", index)

    def _from_end(self, number: int, at: int, index: int) -> Slot | None:
        count = len(list(self._history.items_of(f"O{number}", (), index)))
        return self._read_field(number, f"[{count + at}]", index)

    def key_of(self, subscript: str, call: int, index: int) -> str | None:
        """Return a subscript with the value of its key: `["name"]` of `[key]`."""
        key = self._key(subscript[1:-1].strip(), call, index)
        return f"[{key}]" if key is not None else None

    def _key(self, text: str, call: int, index: int) -> str | None:
        if _PLAIN_KEY.fullmatch(text):
            quote = "'" if self._is_php else '"'
            return f"{quote}{text[1:-1]}{quote}" if text[0] in "'\"" else text
        total = _SUM.fullmatch(text)
        if total is not None:
            return self._sum_key(total, call, index)
        slot = self.resolve(text, call, index)
        return slot.value.text if slot is not None else None

    def _sum_key(self, total: re.Match[str], call: int, index: int) -> str | None:
        """Return the sum or the difference of whole numbers, as of `[at + 1]`."""
        left, right = (self._key(total[one], call, index) for one in ("left", "right"))
        if (
            left is None
            or right is None
            or not (_WHOLE.fullmatch(left) and _WHOLE.fullmatch(right))
        ):
            return None
        return str(int(left) + (int(right) if total["sign"] == "+" else -int(right)))

    def find_element(self, slot: Slot, value: PassedValue, index: int) -> Slot | None:
        """Return the element of a container that is a value; None if several are."""
        owner, path = (slot.owner, slot.path)
        if not self._is_php or slot.value.object:
            owner, path = f"O{slot.value.object}", ()
        same = [
            one
            for one in self._history.items_of(owner, path, index)
            if one.value.text == value.text and one.value.object == value.object
        ]
        return Slot(owner, same[0].path, same[0].value) if len(same) == 1 else None


def writer_of(
    history: StepHistory,
    change: Change,
    is_write: Callable[[Step], bool],
    shares: Callable[[int, int, str], bool],
) -> tuple[Step | None, bool]:
    """Return the statement that made a change, and whether no other can have made it.

    Args:
        history: The run.
        change: The change.
        is_write: Tells whether a statement's text may make it.
        shares: Tells whether a call is a block's or a closure's that has another call's variables.
    """
    if change.owner.startswith("L"):
        return _local_writer(history, change, is_write, shares)
    if change.scanned < 0:
        # What is seen for the first time was made by what ran last, or before.
        return history.step_before(change.index), False
    candidates = list(history.steps_between(max(change.scanned, 0), change.index))
    writing = [one for one in candidates if is_write(one)]
    writing = writing or [one for one in _continued_statements(history, change) if is_write(one)]
    if len(candidates) == 1 and (not writing or writing == candidates):
        return candidates[0], True
    return (writing[0], len(writing) == 1) if writing else (None, False)


def _continued_statements(history: StepHistory, change: Change) -> list[Step]:
    """Return the statements that began before an object was read, and went on after calls.

    `$this->total += $this->sum($child)` writes when the call has returned; the last one is first.
    """
    before = [one.index for one in history.steps if one.number <= change.scanned]
    since = before[-1] if before else 0
    ended = [one for one in history.calls.values() if since < one.end <= change.index]
    steps = map(history.calling_step, sorted(ended, key=lambda one: one.end, reverse=True))
    return list(dict.fromkeys(one for one in steps if one is not None))


def _local_writer(
    history: StepHistory,
    change: Change,
    is_write: Callable[[Step], bool],
    shares: Callable[[int, int, str], bool],
) -> tuple[Step | None, bool]:
    call = int(change.owner[1:])
    own = history.last_step(call, change.index)
    if own is None or history.step_before(change.index) == own:
        return own, own is not None
    # Blocks that ran since, within the same statement, may have changed it.
    since = max(own.number, change.scanned)
    later = [
        one
        for one in history.steps_between(since, change.index)
        if shares(one.call, call, change.path[0]) and is_write(one)
    ]
    if later:
        return later[0], len(later) == 1
    return own, True
