"""Explains a fault of memory by the access that is nearest to its address. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from debugger.model.statement import MemoryAccess
from debugger.questions.crash.crash_facts import (
    Cause,
    CrashFacts,
    format_values,
    is_null,
    with_values,
)

_NUMBER = re.compile(r"0x([0-9a-fA-F]+)")
_ARRAY = re.compile(r"\{(?!\w+:)")  # a struct's fields, and an iterator's element, have names
_NEAR = 0x10000
THIS = MemoryAccess("this", "->", "", "this")


def explain_memory_fault(facts: CrashFacts) -> Cause:
    """Explain a signal of memory access (SIGSEGV, SIGBUS)."""
    if facts.address_kind == "sent":
        return Cause("signal", f"{facts.signal}, {facts.address_words}: no fault of memory")
    if facts.address_kind == "not_executable":
        return _jump_cause(facts)
    through = _pointer_accesses(facts)
    null = next((one for one in through if is_null(facts.values.get(one.base, ""))), None)
    low = facts.address is not None and facts.address < _NEAR
    if null is not None and (low or facts.address is None):
        index = [null.inner] if null.how == "[]" else []
        message = format_values(facts, [null.base, *index])
        text = (
            f"null pointer: {null.whole}, {message}" if null != THIS else f"null pointer: {message}"
        )
        return Cause("null_pointer", text, culprit=null.base)
    if low and facts.address is not None:
        return _near_null_cause(facts, through, facts.address)
    kind = {"unmapped": "bad_pointer", "mapped": "bad_pointer"}.get(
        facts.address_kind, facts.address_kind or "bad_pointer"
    )
    return _given_pointer_cause(facts, through, kind) or _bad_pointer_cause(facts, through, kind)


def _bad_pointer_cause(facts: CrashFacts, through: Sequence[MemoryAccess], kind: str) -> Cause:
    """Explain a fault at an address that is not near null, by the access that is nearest to it."""
    culprit = choose_access(facts, through)
    if culprit is None:
        return Cause(
            kind, with_values(f"bad address: {_location_text(facts)}", facts, facts.operands[:2])
        )
    names = [culprit.base, *([culprit.inner] if culprit.how == "[]" else [])]
    text = f"bad pointer: {culprit.whole}, {format_values(facts, names)}"
    if facts.address_kind == "read_only":
        text = f"write to read-only memory: {culprit.whole}, {format_values(facts, names)}"
    text = f"{text}, {_location_text(facts)}"
    return Cause(kind, text, culprit=find_wrong_part(culprit, facts))


def _near_null_cause(facts: CrashFacts, through: Sequence[MemoryAccess], address: int) -> Cause:
    """Explain a fault near null, where no pointer of the statement is known to be null."""
    through = [one for one in through if not _is_readable(facts.values.get(one.base, ""))]
    what = through[0].whole if len(through) == 1 else ""
    # One whose value the debugger does not know is not proved to be the one.
    name = _followed_part(through[0], facts) if what else ""
    is_known = what and name in facts.values
    message = f"null pointer{': ' if is_known else ', perhaps '}{what}" if what else "null pointer"
    offset = f", at {address:#x}" if address else ""
    text = with_values(message + offset, facts, [one.base for one in through])
    # As in `strcmp(name, "a")`: the library followed it.
    is_given = bool(facts.runtime) and not through
    given = [one for one in facts.operands if is_given and is_null(facts.values.get(one, ""))]
    # As in `printf("%s", n)`: a number that the library took for an address.
    numbers = [one for one in facts.operands if facts.values.get(one) == str(address)]
    if is_given and address and len(numbers) == 1:
        text = f"no pointer: {format_values(facts, numbers)} is used as an address"
        return Cause("null_pointer", text, culprit=numbers[0])
    if len(given) == 1:
        text = f"null pointer: {format_values(facts, given)}"
    name = given[0] if len(given) == 1 else name if is_known else ""
    if facts.nothing_call and not name:
        text, name = f"{text}, perhaps what {facts.nothing_call} returned", facts.nothing_call
    return Cause("null_pointer", text, culprit=name)


def _pointer_accesses(facts: CrashFacts) -> list[MemoryAccess]:
    """Return the accesses that may go through a wrong pointer: of no member of a plain struct.

    The last member of a statement may be a pointer that is given away: it stays.
    """
    through = [one for one in facts.accesses if one.how in {"->", "[]", "*", "."}]
    bases = {one.base for one in through}
    return [
        one
        for one in through
        if not (one.how == "." and one.whole in bases and _is_struct(one.base, facts))
    ]


def _is_struct(name: str, facts: CrashFacts) -> bool:
    """Return whether a value is a struct's own: a pointer's begins with an address."""
    return facts.values.get(name, "").startswith("{")


def _followed_part(access: MemoryAccess, facts: CrashFacts) -> str:
    """Return what is wrong about an access: the member itself where its struct has no pointer."""
    is_member = access.how == "." and _is_struct(access.base, facts)
    return access.whole if is_member else access.base


def find_wrong_part(access: MemoryAccess, facts: CrashFacts) -> str:
    """Return the index of an element far from its array, and the pointer of any other access."""
    if access.how != "[]" or access.inner not in facts.values:
        return access.base
    value = facts.values.get(access.base, "")
    # An array's value begins with no address, though its elements may be some.
    is_plain = _ARRAY.match(value) is not None or _NUMBER.search(value) is None
    is_array = is_plain or _is_readable(value)
    return (
        access.inner
        if is_array and not _is_wild(facts.values.get(access.base, ""))
        else access.base
    )


def _jump_cause(facts: CrashFacts) -> Cause:
    """Explain a call through an invalid function pointer."""
    through = [
        name
        for name, value in facts.values.items()
        if (match := _NUMBER.match(value)) and int(match[1], 16) == facts.address
    ]
    name = max(through, key=len, default="")
    if not facts.address:
        text = f"call of a null function pointer: {format_values(facts, [name])}".rstrip(": ")
        return Cause("null_function", text, culprit=name)
    text = with_values(f"call of what is no code: {_location_text(facts)}", facts, [name])
    return Cause("bad_jump", text, culprit=name)


def _location_text(facts: CrashFacts) -> str:
    if facts.address is None:
        return facts.address_words or "unknown"
    return f"{facts.address:#x}, {facts.address_words or 'not mapped'}"


def choose_access(facts: CrashFacts, through: Sequence[MemoryAccess]) -> MemoryAccess | None:
    """Choose the access whose pointer is nearest to the faulting address."""
    if facts.address is None or facts.address_kind == "non_canonical":
        wild = [one for one in through if _is_wild(facts.values.get(one.base, ""))]
        return wild[0] if wild else _indexed_array(facts, through)
    best, least = None, 1 << 32
    for one in through:
        value = facts.values.get(one.base, "")
        match = None if _ARRAY.match(value) else _NUMBER.search(value)
        if match and abs(int(match[1], 16) - facts.address) < least:
            best, least = one, abs(int(match[1], 16) - facts.address)
    if best is not None:
        return best
    return _indexed_array(facts, through)


def _given_pointer_cause(
    facts: CrashFacts, through: Sequence[MemoryAccess], kind: str
) -> Cause | None:
    """Explain a fault in a library's function through a pointer that it was given."""
    given = _given_pointer(facts, through)
    if not given:
        return None
    # LLDB shows a text that it cannot read as an empty one.
    value = facts.values[given].removesuffix(' ""')
    words = facts.address_words or "not mapped"
    return Cause(kind, f"bad pointer: {given}={value}, {words}", culprit=given)


def _given_pointer(facts: CrashFacts, through: Sequence[MemoryAccess]) -> str:
    """Return the wrong pointer that the statement gives away: `puts(s->name)` follows it."""
    if not facts.runtime or facts.address_kind == "read_only":
        return ""
    bases = {one.base for one in through}
    names = dict.fromkeys([*(one.whole for one in facts.accesses), *facts.operands])
    given = [one for one in names if one not in bases and one in facts.values]
    if facts.address is None or facts.address_kind == "non_canonical":
        is_base = any(_is_wild(facts.values.get(one, "")) for one in bases)
        return next((one for one in given if not is_base and _is_wild(facts.values[one])), "")
    numbers = ((one, _NUMBER.match(facts.values[one])) for one in given)
    return next((one for one, it in numbers if it and int(it[1], 16) == facts.address), "")


def _indexed_array(facts: CrashFacts, through: Sequence[MemoryAccess]) -> MemoryAccess | None:
    """Return the access with an index: an array's value is no address."""
    return next((one for one in through if one.how == "[]" and one.inner in facts.values), None)


def _is_readable(value: str) -> bool:
    """Return whether a pointer's value is far from null: it shows a text, or a large address."""
    match = _NUMBER.match(value.strip())
    return value.startswith('"') or (match is not None and int(match[1], 16) >= _NEAR)


def _is_wild(value: str) -> bool:
    match = _NUMBER.match(value.strip())
    return match is not None and int(match[1], 16) >> 47 > 0
