"""Decides which record of a Go program gave a value, and what to follow next."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec import Struct

from debugger.questions.why import go_expressions, go_source, go_values
from debugger.questions.why.answer import ChainEnd, LinkCertainty
from debugger.questions.why.go_run import GoFrame, GoRecord
from debugger.questions.why.go_source import GoSite, GoSourceFunction, SiteKind

_NEAR = 4096  # bytes: a field within its variable
_CALL_LINES = 12  # lines of a call, above the line that its frame stands at
_COMPUTED_ELEMENT = re.compile(r"([\w.*]+)\[(?!\d+\])(?!\").*\]$")
# Always the same part of what a variable has.
_FIXED_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])+")


class CallSite(Struct, frozen=True):
    """The call that made an activation, as far as a record has seen it."""

    activation: Activation
    statement: str
    line: int
    sequence: int


class Activation(Struct, frozen=True):
    """One call of a function."""

    function: GoSourceFunction
    goroutine: int
    depth: int
    # Its frame on the stack of the stop; None if it is not there.
    index: int | None = None
    call: CallSite | None = None
    # A record of it, to which another run can go.
    record: GoRecord | None = None


class GoPosition(Struct, frozen=True):
    """The value of an expression in an activation, before a moment."""

    expression: str
    activation: Activation
    # Records from this sequence number on are later.
    before: int
    line: int
    value: str | None = None
    certainty: LinkCertainty = LinkCertainty.SEEN
    # Of the expression and its beginnings, as far as they are known.
    addresses: Mapping[str, int] = {}
    pointers: Mapping[str, int] = {}


class FoundWrite(Struct, frozen=True):
    """A record that wrote an expression, or one of its beginnings; and how that is known."""

    record: GoRecord
    target: str
    prefix: str
    certainty: LinkCertainty


class ChainEnded(Struct, frozen=True):
    """The end of the chain, and its reason."""

    end: ChainEnd
    reason: str
    # Whether it is the end because no record shows more.
    is_unseen: bool = False


class NeedsRun(Struct, frozen=True):
    """A further run is needed, to a record: the stack there tells who called."""

    record: GoRecord
    position: GoPosition


class WatchStart(Struct, frozen=True):
    """A recorded line after which an expression can be watched."""

    record: GoRecord
    expression: str


class NeedsWatch(Struct, frozen=True):
    """No line that names a value was seen to write it: its memory is to be watched."""

    # The nearest to the end of the chain first.
    starts: tuple[WatchStart, ...]
    value: str | None
    # The links that a write of the memory follows on.
    kept: int
    # The end of the chain if no write is seen.
    otherwise: ChainEnded


GoStep = GoPosition | ChainEnded | NeedsRun | NeedsWatch


def find_write(records: Sequence[GoRecord], position: GoPosition) -> FoundWrite | None:
    """Return the last write of an expression, or of the variable that it begins with."""
    best: FoundWrite | None = None
    expression = position.expression.lstrip("&")
    for prefix in go_expressions.split_path(expression):
        found = _last_write(records, position, prefix)
        if found is None:
            continue
        mine, outer = (position.addresses.get(one, 0) for one in (expression, prefix))
        # The write of a variable hides those of its fields if these lie in it, or may.
        is_inside = best is None or (
            found.record.sequence > best.record.sequence
            and (mine == 0 or (outer != 0 and 0 <= mine - outer < _NEAR))
            and "*" not in prefix
        )
        if is_inside:
            best = found
    return best


def is_same_call(records: Sequence[GoRecord], record: GoRecord, position: GoPosition) -> bool:
    """Return whether a record is of the very call that a position is in.

    Two calls one after the other have frames of one depth; between them their caller goes on.
    """
    mine = position.activation
    if record.site.function != mine.function:
        return False
    if (record.goroutine, record.depth) != (mine.goroutine, mine.depth):
        return False
    if mine.call is not None and record.sequence <= mine.call.sequence:
        return False
    return not any(
        one.goroutine == mine.goroutine
        and one.depth < mine.depth
        and record.sequence < one.sequence < position.before
        for one in records
    )


def find_appended(records: Sequence[GoRecord], position: GoPosition) -> FoundWrite | None:
    """Return the last line that appended an equal value to the slice of an element.

    It is looked for where the index is no number, as of `stack[len(stack)-1]`. A value that delve
    could not read is the element's if the slice had one element less than where it was read.
    """
    element = _COMPUTED_ELEMENT.match(position.expression)
    if element is None or position.value is None:
        return None
    name = element[1].rpartition(".")[2]
    top = _last_index(position, element[1])
    for one in reversed(records):
        site = one.site
        is_same = any(target.rpartition(".")[2] == name for target in site.targets)
        if not is_same or one.sequence >= position.before or not site.values:
            continue
        side = go_expressions.classify_value(site.values[0])
        added = side.origin.arguments[1:] if side.kind == "append" and side.origin else ()
        for text in added:
            value = one.values.get(text, text)
            is_top = go_values.plain_value(value) is None and top in one.lengths.values()
            if value == position.value or is_top:
                return FoundWrite(one, text, site.targets[0], LinkCertainty.INFERRED)
    return None


def _last_index(position: GoPosition, base: str) -> int | None:
    """Return the index of a slice's last element, where the position's record shows its length."""
    record = position.activation.record
    length = record.lengths.get(base) if record is not None else None
    is_last = position.expression.replace(" ", "") == f"{base}[len({base})-1]"
    return length - 1 if length is not None and is_last else None


def call_statement(frame: GoFrame, called: GoSourceFunction) -> str:
    """Return the statement of a frame that calls a function."""
    lines = go_source.lines_of(frame.file or "")
    line = frame.line or 0
    for number in range(line, max(line - _CALL_LINES, 0), -1):
        text = lines[number - 1] if number <= len(lines) else ""
        if f"{called.name}(" in text and not text.startswith("func "):
            return go_source.join_statement(lines, number)
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def with_call_record(records: Sequence[GoRecord], outer: Activation, call: CallSite) -> Activation:
    """Return the activation with the record of its line, if that was logged."""
    found = [
        one
        for one in records
        if one.site.line == call.line
        and one.site.function == outer.function
        and (one.goroutine, one.depth) == (outer.goroutine, outer.depth)
    ]
    return msgspec.structs.replace(outer, record=found[-1]) if found else outer


def _last_write(
    records: Sequence[GoRecord], position: GoPosition, prefix: str
) -> FoundWrite | None:
    by_name: FoundWrite | None = None
    for one in reversed(records):
        if one.sequence >= position.before or one.site.kind is not SiteKind.ASSIGN:
            continue
        for target in one.site.targets:
            known = _match_memory(one, target, position, prefix)
            if known is None:
                known = _match_name(records, one, target, position, prefix)
            if known is LinkCertainty.SEEN:
                return FoundWrite(one, target, prefix, known)
            if known is LinkCertainty.INFERRED and by_name is None:
                by_name = FoundWrite(one, target, prefix, known)
    return by_name


def _match_memory(
    record: GoRecord, target: str, position: GoPosition, prefix: str
) -> LinkCertainty | None:
    """Return whether a target is the memory of the prefix, by its address or its map and key."""
    element, own = go_expressions.split_element(target), go_expressions.split_element(prefix)
    if element is not None and own is not None and position.pointers.get(own[0]):
        is_same = record.pointers.get(element[0]) == position.pointers[own[0]]
        key = record.values.get(element[1], element[1])
        if is_same and key == position_key(position, own[1]):
            return LinkCertainty.SEEN
    address = position.addresses.get(prefix, 0)
    if address and record.addresses.get(target) == address:
        return LinkCertainty.SEEN
    return None


def position_key(position: GoPosition, key: str) -> str:
    """Return the value of an index or a key at a position."""
    record = position.activation.record
    if record is not None and key in record.values:
        return record.values[key]
    return key


def _match_name(
    records: Sequence[GoRecord], record: GoRecord, target: str, position: GoPosition, prefix: str
) -> LinkCertainty | None:
    """Return whether a target is a variable of the activation, or a part of one, by its name."""
    activation = position.activation
    if target != prefix:
        return None
    if not prefix.isidentifier():
        # A later assignment to the variable itself hides it (`find_write`).
        is_part = _FIXED_PATH.fullmatch(prefix) is not None
        is_one = is_part and is_same_call(records, record, position)
        return LinkCertainty.SEEN if is_one else None
    if record.site.function != activation.function:
        return None
    if not is_in_scope(record.site.line, record.site.operator, position.line, record.site.file):
        return None
    is_same = (record.goroutine, record.depth) == (activation.goroutine, activation.depth)
    if is_same and record.depth:
        return LinkCertainty.SEEN
    known = record.addresses.get(target)
    mine = position.addresses.get(prefix)
    # A closure sees a variable of the function around it, in another frame.
    return LinkCertainty.INFERRED if not known or not mine else None


def is_in_scope(declared: int, operator: str, line: int, file: str) -> bool:
    """Return whether a variable that a line declares is still there at a line, by the indents."""
    if operator not in go_source.DECLARING or line <= declared:
        return operator not in go_source.DECLARING or line >= declared
    lines = go_source.lines_of(file)
    text = lines[declared - 1]
    width = len(text) - len(text.lstrip())
    is_head = re.match(r"\s*(?:\}\s*else\s+)?(?:if|for|switch|select|case)\b", text) is not None
    for at in range(declared, min(line, len(lines))):
        inner = lines[at]
        if not inner.strip() or inner.lstrip().startswith("//"):
            continue
        here = len(inner) - len(inner.lstrip())
        is_closed = here < width or (is_head and here <= width and at + 1 < line)
        is_case = inner.lstrip().startswith(("case ", "default:", "} else"))
        if is_closed and not (is_case and here == width and at + 1 < line and is_head):
            return False
    return True


def end_of_call(records: Sequence[GoRecord], call: GoRecord, before: int) -> int:
    """Return the sequence number at which a call that a record's line has made is over at last.

    Its goroutine has reached another line of the caller then, or of a function around that.
    """
    over = (
        one.sequence
        for one in records
        if call.sequence < one.sequence < before
        and (one.site.line, one.hit) != (call.site.line, call.hit)
        and (one.goroutine, one.depth <= call.depth) == (call.goroutine, True)
    )
    return min(over, default=before)


def find_return(
    records: Sequence[GoRecord],
    call: GoRecord,
    functions: Sequence[GoSourceFunction],
    before: int,
    sites: Sequence[GoSite] = (),
) -> GoRecord | None:
    """Return the `return` of a call that a record's line has made: of functions, or at sites."""
    found = [
        one
        for one in records
        if one.site.kind is SiteKind.RETURN
        and (one.site in sites or one.site.function in functions)
        and one.goroutine == call.goroutine
        and call.sequence < one.sequence < before
        and one.depth > call.depth
    ]
    # The outermost of a recursion; of several calls on one line the last.
    return min(reversed(found), key=lambda one: one.depth, default=None)


def find_result(
    records: Sequence[GoRecord],
    call: GoRecord,
    functions: Sequence[GoSourceFunction],
    number: int,
    before: int,
) -> FoundWrite | None:
    """Return the last assignment to a named result of a call, as of a deferred function's."""
    for one in reversed(records):
        names = one.site.function.results[number : number + 1]
        is_inside = call.sequence < one.sequence < before and one.depth > call.depth
        is_result = one.site.function in functions and set(names) & set(one.site.targets)
        if is_inside and is_result and one.goroutine == call.goroutine:
            return FoundWrite(one, names[0], names[0], LinkCertainty.INFERRED)
    return None


def find_send(  # noqa: PLR0917 - what tells the sends apart
    records: Sequence[GoRecord],
    receive: GoRecord,
    channel: str,
    before: int,
    value: str | None,
    sent: Callable[[GoRecord], str | None],
) -> GoRecord | None:
    """Return the last send to the channel of a receive, of an equal value if it is known.

    `sent` returns the part that is followed of what a record sends, as far as it is known.
    """
    pointer = receive.pointers.get(channel)
    found = [
        one
        for one in records
        if one.site.kind is SiteKind.SEND
        and one.sequence < before
        and pointer
        and pointer in one.pointers.values()
    ]
    equal = [one for one in found if value is not None and sent(one) == value]
    unknown = [one for one in found if not go_values.are_different(sent(one), value)]
    chosen = equal or unknown
    return chosen[-1] if chosen else None
