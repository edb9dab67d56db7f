"""Finds the values of a frame by name and by address."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from debugger.questions.why import native_values, statement_origin
from debugger.questions.why.answer import ValueOperand
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin
from debugger.questions.why.traced_run import TraceEvent, TraceFrame, TraceValue

_OPERANDS = 4
_WHOLE = frozenset({"int", "unsigned", "pointer", "enum", "bool"})
_STACK = 8 << 20  # bytes
# A plain variable on the left side.
_DECLARES = re.compile(r"(?:let\s+)?(?:mut\s+)?[\w:<>&* ]*\b\w+\s*(?::[^=]*)?=(?!=)")
_TYPE_HEAD = re.compile(r"\s*(?:template\s*<.*>\s*)?(?:struct|class|union)\s+\w+[^=()]*$")
_ASSIGNED = re.compile(
    r"(?:let\s+(?:mut\s+)?|(?:[A-Za-z_][\w:<>]*\s+)+[*&]*)?([A-Za-z_]\w*)\s*(?::[^=]+)?=(?!=)"
)
_FIELDS_MAX = 48  # characters of a small struct


def writing_frame(frames: Sequence[TraceFrame], address: int) -> int | None:
    """Return the number of the own frame whose statement a write belongs to; None without one.

    It is the innermost one, unless that writes the local of a caller whose statement is a sum, or a
    conversion: then it only carries an operator or the conversion out.
    """
    own = [at for at, one in enumerate(frames) if not one.library and one.file]
    # A constructor that the compiler has made stands at the head of its type.
    written = [at for at in own if not _TYPE_HEAD.match(frames[at].statement)]
    own = written or own
    if not own:
        return None
    for at in own[1:]:
        frame = frames[at]
        # The callee of a method that writes its object's fields has the object by a pointer.
        is_owner = frame.cfa and 0 < frame.cfa - address < _STACK
        if is_owner and frame.vars:
            origin = statement_origin.origin_of_assignment(frame.statement, "")
            is_conversion = native_values.is_handed_on(origin.function)
            is_sum = origin.kind is OriginKind.COMPUTED and bool(origin.operands)
            is_let = _DECLARES.match(frame.statement) is not None
            return at if is_let and (is_sum or is_conversion) else own[0]
    return own[0]


def value_before(
    name: str, written: str, old_bytes: str | None, frame: TraceFrame, value: TraceValue
) -> TraceValue | None:
    """Return the field that was read through the pointer which the statement then replaced.

    `n = n->next` has read the field of the old `n`, and operands are read after the write.
    """
    base, _, field = name.partition("->")
    pointer, after = frame.vars.get(base), frame.vars.get(name)
    is_replaced = field.isidentifier() and base == written
    if not is_replaced or not old_bytes or pointer is None or after is None:
        return None
    shift = after.address - pointer.number
    old = int.from_bytes(bytes.fromhex(old_bytes), "little")
    return msgspec.structs.replace(value, address=old + shift) if old else None


def is_another_value(source: TraceValue, copied: TraceValue, event: TraceEvent | None) -> bool:
    """Return whether a variable has another whole number than the one that was copied from it.

    Of a single byte it is one that the write has not given to any byte.
    """
    if source.kind not in _WHOLE or not source.bytes or not copied.bytes:
        return False
    if copied.kind == source.kind and copied.size == source.size:
        return not source.is_equal(copied)
    if source.size != 1 or event is None or not event.old or not event.new:
        return False
    old, new = bytes.fromhex(event.old), bytes.fromhex(event.new)
    changed = {after for before, after in zip(old, new, strict=False) if before != after}
    return bool(changed) and bytes.fromhex(source.bytes)[0] not in changed


def assigns_another(frame: TraceFrame, name: str) -> bool:
    """Return whether a frame's statement assigns to another local than the one that was written.

    Optimised code mixes the instructions of several lines.
    """
    target = _ASSIGNED.match(frame.statement)
    written = frame.vars.get(name)
    if target is None or written is None or target[1] == name:
        return False
    other = frame.vars.get(target[1])
    return other is None or other.address != written.address


def choose_call(
    calls: Sequence[StatementOrigin], number: int, caller: TraceFrame, value: TraceValue
) -> StatementOrigin | None:
    """Return the call of a statement that gave a parameter its value; None if that is unclear.

    Of several, as in `sum(t->left) + sum(t->right)`, it is the only one whose argument has the
    value, if the others' are known to have another one.
    """
    able = [one for one in calls if 0 <= number < len(one.arguments)]
    if len(calls) == 1:
        return able[0] if able else None
    given = [caller.vars.get(one.arguments[number].replace(" ", "")) for one in able]
    known = [one for one in given if one is not None and one.bytes and one.size == value.size]
    equal = [at for at, one in enumerate(given) if one is not None and one.is_equal(value)]
    is_clear = len(known) == len(calls) and len(equal) == 1
    return able[equal[0]] if is_clear else None


def begin_of(value: TraceValue) -> int:
    """Return where the memory begins that an argument of a copy names."""
    return value.address if value.kind in {"array", "struct"} else value.number


def name_at(frame: TraceFrame, address: int) -> str:
    """Return the shortest name that a frame has for an address; nothing if it has none."""
    names = [
        name
        for name, one in frame.vars.items()
        if one.address == address
        and one.kind not in {"struct", "array"}
        and not name.startswith("(")
    ]
    return min(names, key=len, default="")


def holder_of(frame: TraceFrame, value: TraceValue) -> str:
    """Return the variable of a frame that holds memory, of several the smallest; "" without one."""
    holders = [
        (one.size, name)
        for name, one in frame.vars.items()
        if one.address and one.address <= value.address < one.address + one.size
    ]
    return min(holders, default=(0, ""))[1]


def argument_at(frame: TraceFrame, address: int) -> str:
    """Return the parameter that lies at an address in its function's frame; "" without one."""
    for name in frame.args:
        value = frame.vars.get(name)
        # What a reference refers to lies in another frame, or in none. Registers pass six.
        end = frame.cfa + 8 * max(len(frame.args) - 6, 0)
        if value is None or (frame.cfa and value.address >= end):
            continue
        if value.address <= address < value.address + max(value.size, 1):
            return name
    return ""


def read_operands(
    origin: StatementOrigin, frame: TraceFrame, event: TraceEvent | None, written: TraceValue
) -> dict[str, TraceValue]:
    """Return the operands of a statement with the values that it has read, as far as known.

    The memory that it wrote has the new value already: in `n = n - step` the old one was read.
    """
    known = {name: frame.vars[name] for name in origin.operands if name in frame.vars}
    old = event.old if event is not None else None
    for name, one in known.items():
        is_written = one.address and (one.address, one.size) == (written.address, written.size)
        if is_written and old and len(old) >= 2 * one.size:
            content = old[: 2 * one.size]
            text = native_values.format_bytes(content, one.kind) or one.text
            known[name] = msgspec.structs.replace(one, bytes=content, text=text)
    return known


def operand_views(
    origin: StatementOrigin, frame: TraceFrame, event: TraceEvent | None, written: TraceValue
) -> tuple[ValueOperand, ...]:
    """Return the operands of a sum with the values that it has read."""
    known = read_operands(origin, frame, event, written)
    texts = {name: _short_text(one) for name, one in known.items()}
    shown = [ValueOperand(name, text) for name, text in texts.items() if text]
    return tuple(shown[:_OPERANDS])


def _short_text(value: TraceValue) -> str:
    """Return a value's text, of a small struct its fields; "" for what says too little."""
    if value.kind not in {"struct", "array"}:
        return value.text
    fields = value.text[value.text.find("{") :] if "{" in value.text else ""
    is_short = value.kind == "struct" and len(fields) <= _FIELDS_MAX and "..." not in fields
    return fields if is_short else ""
