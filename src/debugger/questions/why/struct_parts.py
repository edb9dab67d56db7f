"""Finds a field again in the structs that it is copied with, and in their literals."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from debugger.questions.why import statement_origin
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin
from debugger.questions.why.traced_run import TraceFrame, TraceValue

_POINTER = re.compile(r"^(?:&(?:mut )?|\*(?:mut|const) )|^const |\s*(?:const )?[*&]$")
_BRACES = re.compile(r"^(?:[A-Za-z_][\w:]*(?:<[^{}]*>)?\s*|\([\w\s]+\)\s*)?\{(.*)\}$", re.DOTALL)
_PART_DIGITS = 8  # in hexadecimal: shorter values are in a struct by chance


class StructPart(Struct, frozen=True):
    """The place of a value in a struct."""

    # The struct's type and size.
    type: str
    size: int
    # Bytes from the struct's begin.
    offset: int
    # The field's name, if an expression has shown it.
    field: str = ""


def part_at(
    expression: str, value: TraceValue, frame: TraceFrame, known: StructPart | None = None
) -> StructPart | None:
    """Return the struct that holds a value's memory: of a frame, or one that it points to.

    Of several, the outermost one; without any, the one that is known from before.
    """
    named = frame.vars.values()
    structs = [(one.address, one.size, one.type) for one in named if one.kind == "struct"]
    structs += [
        (one.number, one.pointee, _POINTER.sub("", one.type))
        for one in named
        if one.kind == "pointer"
    ]
    holders = [
        one for one in structs if one[1] > value.size and 0 < one[0] <= value.address < sum(one[:2])
    ]
    if not holders:
        return known
    start, size, type_ = max(holders, key=lambda one: one[1])
    field = re.search(r"(?:\.|->)(\w+)(?: \(byte \d+\))?$", expression)
    name = field[1] if field else ""
    # gdb's name of a tuple's field.
    name = f"__{name}" if name.isdecimal() else name
    found = StructPart(type_, size, value.address - start, name)
    # A name of the whole struct does not say which field it is, and another one has said so.
    is_known = known is not None and msgspec.structs.replace(known, field="") == found
    return known if is_known else found


def is_inside(value: TraceValue, holder: TraceValue) -> bool:
    """Return whether a value's memory is that of another value, or lies in it."""
    return bool(holder.address) and holder.address <= value.address < holder.address + holder.size


def part_of(
    value: TraceValue, place: TraceValue, frame: TraceFrame, known: StructPart | None
) -> TraceValue | None:
    """Return the part of a struct that was copied to some memory: at the same offset.

    None where the struct's type does not show which part it is.
    """
    if value.kind not in {"struct", "array"} or value.size <= place.size or not place.address:
        return value
    named = value.fields.get(known.field) if known is not None and not known.type else None
    if named is not None:
        offset, size, kind = named
        its = value.bytes[2 * offset : 2 * (offset + size)]
        if not value.address or (its and not its.startswith(place.bytes[: len(its)])):
            return None
        return msgspec.structs.replace(
            place, address=value.address + offset, size=size, kind=kind, bytes=its or place.bytes
        )
    # The struct on the left side is of the same size.
    for one in frame.vars.values():
        if one.size == value.size and one.address <= place.address < one.address + one.size:
            return msgspec.structs.replace(
                place, address=value.address + place.address - one.address
            )
    is_same = known is not None and (known.type, known.size) == (value.type, value.size)
    offset = known.offset if known is not None and is_same else 0
    its = value.bytes[2 * offset :][: len(place.bytes)]
    if (is_same or its) and its == place.bytes[: len(its)]:
        return msgspec.structs.replace(place, address=value.address + offset)
    inner = find_equal_part({"": value}, place)
    return inner[1] if inner is not None else None


def find_equal_part(
    named: Mapping[str, TraceValue], value: TraceValue
) -> tuple[str, TraceValue] | None:
    """Return the one part of a statement's structs that has a value; None if there are several."""
    requested = value.bytes[: 2 * value.size]
    found = []
    for name, one in named.items():
        step = 2 * min(value.size, 8)
        is_other = not one.address <= value.address < one.address + max(one.size, 1)
        if one.kind != "struct" or not one.address or step < _PART_DIGITS or not is_other:
            continue
        for at in range(0, len(one.bytes) - len(requested) + 1, step):
            if one.bytes[at : at + len(requested)] == requested and value.number:
                inner = msgspec.structs.replace(value, address=one.address + at // 2)
                found.append((_name_part(name, one, at // 2, value.size) if at else name, inner))
    # One object may have several names.
    is_one = len({one.address for _, one in found}) == 1
    return min(found, key=lambda one: len(one[0])) if is_one else None


def _name_part(name: str, holder: TraceValue, offset: int, size: int) -> str:
    """Return `row.price`, where a struct has a field of that size there, else `row (byte 4)`."""
    fields = [one for one, about in holder.fields.items() if about[:2] == (offset, size)]
    is_path = re.fullmatch(r"[A-Za-z_]\w*(?:(?:\.|->)\w+)*", name) is not None
    return f"{name}.{fields[0]}" if fields and is_path else f"{name} (byte {offset})"


def leading_part(name: str, holder: TraceValue, value: TraceValue) -> tuple[str, TraceValue] | None:
    """Return the begin of a struct that begins with a value; None for another struct."""
    is_begin = holder.kind == "struct" and bool(value.bytes) and bool(holder.address)
    if not is_begin or not holder.bytes.startswith(value.bytes):
        return None
    return name, msgspec.structs.replace(value, address=holder.address)


def literal_element(
    origin: StatementOrigin, frame: TraceFrame, part: StructPart | None, size: int
) -> StatementOrigin:
    """Return what `{a, b}` or `Box{a, .w = b}` gives to a part; any other origin as it is.

    The order of the fields is that of a struct in the frame, or else all have the value's size.
    """
    literal = _BRACES.match(origin.text)
    items = statement_origin.split_arguments(literal[1]) if literal is not None else ()
    number = re.fullmatch(r"__(\d+)", part.field) if part is not None else None
    if number is not None and origin.kind in {OriginKind.COMPUTED, OriginKind.CALL}:
        # A tuple of Rust, without its brackets: `a, b.len()` looks like a call.
        given = statement_origin.split_arguments(origin.text)
        is_tuple = len(given) > max(int(number[1]), 1)
        return statement_origin.classify_expression(given[int(number[1])]) if is_tuple else origin
    if not items or part is None:
        return origin
    for one in items:
        named = re.match(r"\.(\w+)\s*=\s*(.*)$", one, re.DOTALL)
        if named is not None and named[1] == part.field:
            return statement_origin.classify_expression(named[2])
    at = _field_number(frame, part, size, len(items))
    is_named = any(re.match(r"\.\w+\s*=|\w+\s*:(?!:)", one) for one in items)
    # `Plan { first, rest }` of Rust names its fields, and leaves none out.
    if is_named or at is None or (frame.file or "").endswith(".rs"):
        return origin
    text = items[at] if at < len(items) else "0"
    return statement_origin.classify_expression(text)


def _field_number(frame: TraceFrame, part: StructPart, size: int, count: int) -> int | None:
    for one in frame.vars.values():
        is_of_part = one.kind == "struct" and part.field in one.fields
        # A field of a struct within the struct has no number of its own.
        is_whole = not part.size or (one.size, one.fields.get(part.field, (-1,))[0]) == (
            part.size,
            part.offset,
        )
        if is_of_part and is_whole:
            names = sorted(one.fields, key=lambda name: one.fields[name][0])
            return names.index(part.field)
    is_even = size > 0 and part.size == size * count
    return part.offset // size if is_even else None


def known_operand(origin: StatementOrigin, frame: TraceFrame, field: str) -> StatementOrigin:
    """Return what an expression with memory of its own, a struct's literal or a newtype stands for.

    `*(int *) p` is an operand; `Span { days, ..rest }` is what it gives to the field, and Rust's
    `Days(x)` is `x`.
    """
    value = frame.vars.get(origin.text)
    is_expression = origin.kind in {OriginKind.COMPUTED, OriginKind.CALL}
    if is_expression and value is not None and value.address:
        return StatementOrigin(OriginKind.OPERAND, origin.text)
    literal = statement_origin.struct_field(origin.text, field)
    if literal is not None:
        return literal
    is_newtype = origin.kind is OriginKind.CALL and origin.function[:1].isupper()
    if is_newtype and len(origin.arguments) == 1 and (frame.file or "").endswith(".rs"):
        return statement_origin.classify_expression(origin.arguments[0])
    return origin
