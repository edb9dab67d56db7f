"""Shortens LLDB's values and completes those that it cut (lldb-dap 19.1.7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate

import msgspec

from debugger.backends.lldb.lldb_common import LldbAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Frame, Stopped, Variable

_CONTAINER = re.compile(r"(?:0x[0-9a-f]+ )?size=(?P<size>\d+)\Z")
# An array of arrays, or of structs without names.
_NESTED = re.compile(r"\{\{\.\.\.\}(?:, (?:\{\.\.\.\}|\.\.\.))*\}\Z")
_TEXT = re.compile(r'(?:0x[0-9a-f]+ )?[LuU8]{0,2}"')
_SHORTENED = re.compile(f"{_CONTAINER.pattern}|{_NESTED.pattern}")
# A quoted text is matched first, so that it stays unchanged.
_PADDED = re.compile(r'"(?:[^"\\]|\\.)*"|0x(?=[0-9a-f]{16}\b)0+(?=[0-9a-f])')
# A character's number, before the character (char32_t, Rust's char).
_CODE_POINT = re.compile(r"""(?:\b[uU]\+0x[0-9a-f]{4,8} )+(?=[uU]')""")
_ADDRESS = re.compile(r"0x[0-9a-f]+ (?=\{)")
_POINTED = re.compile(r" \{\*\*.*\}\Z")  # argv=0x… {**argv:'/'}
# A pointer's value, before a summary that begins with it (lldb_holders).
_REPEATED = re.compile(r"\A(0x[0-9a-f]+) (?=\1 )")
# How LLDB shows that a Rust enum is stored, behind the name of its case.
_STORED = re.compile(r"(?<=\w)\{\$variants\$:.*", re.DOTALL)
# A null pointer to a struct, with the names of fields that are nowhere.
_NULL = re.compile(r"0x0 \{.*\}\Z", re.DOTALL)
# LLDB's texts for a variable that has no location at an address.
_OPTIMIZED = re.compile(
    r"<(?:error: )?(?:variable not available|no location, value may have been optimized out"
    r"|could not evaluate DW_OP_(?:entry_value|implicit_pointer)\b.*)>\Z",
    re.IGNORECASE | re.DOTALL,
)
_OWNERS = ("std::unique_ptr<", "std::shared_ptr<")
_RETURNED = re.compile(
    r"^Return value: \((?P<type>.*?)\) (?:\$\d+ = )?(?P<value>\{\n(?:.*\n)*?\}|.*)", re.MULTILINE
)
# LLDB's text for a member behind a null pointer.
_BEHIND_NULL = re.compile(r"<parent (?:failed to evaluate: parent )?is NULL>")
# A path in an expression, whose address alone is not taken.
_PATH = re.compile(r"(?<![\w.&>:])\**[A-Za-z_]\w*(?:(?:->|\.)[A-Za-z_]\w*|\[\w+\])*")
# Operators that may leave a part of an expression unevaluated.
_DECIDES = re.compile(r"&&|\|\||\?|\bsizeof\b")
# Words that stand before a value; of others two in a row are no expression.
_PREFIXES = frozenset(
    re.findall(
        r"\w+",
        "alignof auto char class compl const co_await delete enum int long new not return short "
        "signed sizeof struct throw try typename union unsigned volatile",
    )
)
RAW = "[raw]"
_CUT = ", ...}"
_SHORT = 32  # characters of a summary after which it is cut
_ELEMENTS = 5
_SHOWN_MAX = 240  # characters of elements
_LOOKED_INTO = 10


def is_cut_early(one: Variable) -> bool:
    """Return whether a value was cut by time, after 10 ms, instead of by length."""
    if one.value.startswith(f"{one.type} @ 0x"):
        return True  # there was no time for anything
    # lldb-dap writes a struct's members until 32 characters are reached or 10 ms have passed. A
    # value that is cut although it is short was cut by the time.
    value = _ADDRESS.sub("", one.value)
    is_short = len(value) - len(_CUT) <= _SHORT
    return value.startswith("{") and value.endswith(_CUT) and is_short


async def complete_variables(
    lldb: LldbAccess,
    variables: Sequence[Variable],
    *,
    is_doubtful: Callable[[Variable], bool] = is_cut_early,
) -> list[Variable]:
    """Shorten pointers, and add the first elements to containers, to at most 10 of them.

    A struct's value for which `is_doubtful` holds is written anew.
    """
    completed: list[Variable] = []
    # Each costs one or more requests: the first ten of a list are what a report shows.
    remaining = _LOOKED_INTO
    for one in map(_shorten_value, variables):
        is_owner = one.type.startswith(_OWNERS)
        if one.handle and remaining and is_doubtful(one):
            remaining -= 1
            rebuilt = await _rebuild_value(lldb, one)
            if _NESTED.match(rebuilt.value):
                rebuilt = await _add_elements(lldb, rebuilt, is_owner=False)
            completed.append(rebuilt)
        elif one.handle and remaining and (is_owner or _SHORTENED.match(one.value)):
            remaining -= 1
            completed.append(await _add_elements(lldb, one, is_owner=is_owner))
        else:
            completed.append(one)
    return completed


async def refuse_misread_expression(lldb: LldbAccess, expression: str, frame: Frame | None) -> None:
    """Refuse an expression that LLDB would evaluate to something else than it says.

    Raises:
        DebuggerError: EVALUATION_FAILED, for such an expression.
    """
    words = expression.split()
    is_list = len(words) > 1 and all(re.fullmatch(r"\w+", one) for one in words)
    # Words of types and operators may stand next to each other.
    if is_list and words[0] not in _PREFIXES:
        # LLDB adds the `;` that the compiler misses, and shows the last of them.
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"expected an operator between {words[0]} and {words[1]}",
            hint="one whole expression of the program's language: debugger print 'a[0] + b'",
        )
    await _refuse_null_in_core(lldb, expression, frame)


async def _refuse_null_in_core(lldb: LldbAccess, expression: str, frame: Frame | None) -> None:
    """Refuse to read through a null pointer in a core file.

    LLDB 19 has memory of its own at address 0, for the expression, and reads that.

    Raises:
        DebuggerError: EVALUATION_FAILED, where a part of the expression is behind a null pointer.
    """
    is_core = lldb.attach_target is not None and lldb.attach_target.core is not None
    # `p && p->x` is right although p is null: with such operators nothing is refused.
    if not is_core or frame is None or _DECIDES.search(expression):
        return
    for path in dict.fromkeys(_PATH.findall(expression)):
        try:
            # `frame variable` reads the path without the expression's own memory, and says where it
            # fails.
            text = await lldb.run_raw(f"frame variable {path}", frame)
        except DebuggerError:
            continue
        _refuse_behind_null(path, text)


def require_readable(one: Variable) -> Variable:
    """Return a value, unless it is behind a null pointer.

    Raises:
        DebuggerError: EVALUATION_FAILED, for such a value.
    """
    _refuse_behind_null(one.name, one.value)
    return one


def _refuse_behind_null(path: str, text: str) -> None:
    if _BEHIND_NULL.search(text):
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{path} cannot be read: it is reached through a null pointer",
            hint="debugger locals shows which pointer is 0x0",
        )


def _shown_children(children: Sequence[Variable]) -> list[Variable]:
    """Remove the child that CodeLLDB adds: the value as it is in memory."""
    return [_shorten_value(child) for child in children if child.name != RAW]


def _shorten_value(variable: Variable) -> Variable:
    # Addresses with their zeros are 16 digits wide: half a line in a list.
    value = _PADDED.sub(lambda match: match[0] if match[0][0] == '"' else "0x", variable.value)
    value = _STORED.sub("{...}", _REPEATED.sub("", _NULL.sub("0x0", value)))
    if _OPTIMIZED.match(value):
        value = "<optimized out>"
    # A text's children are its letters, a null pointer's cannot be read.
    is_leaf = bool(_TEXT.match(value)) or value in {"nullptr", "0x0"}
    return msgspec.structs.replace(
        variable,
        value=_POINTED.sub("", _CODE_POINT.sub("", value)),
        handle=0 if is_leaf else variable.handle,
        indexed=None if is_leaf else variable.indexed,
    )


async def _rebuild_value(lldb: LldbAccess, one: Variable) -> Variable:
    """Write a struct's or array's value from its children, as lldb-dap does when it has time."""
    try:
        children = await lldb.fetch_variables(one.handle, start=0, count=_SHORT)
    except DebuggerError:
        return one
    address = _ADDRESS.match(one.value)
    before, value = address[0] if address else "", "{"
    for index, child in enumerate(_shown_children(children)):
        separator = ", " if index else ""
        if len(value) > _SHORT:
            return msgspec.structs.replace(one, value=before + value + _CUT)
        inner = "{...}" if child.value.startswith("{") else child.value
        name = "" if not child.name or child.name.startswith("[") else f"{child.name}:"
        value += separator + name + inner
    more = _CUT if (one.indexed or 0) > len(children) else "}"
    return msgspec.structs.replace(one, value=before + value + more)


async def _add_elements(lldb: LldbAccess, one: Variable, *, is_owner: bool) -> Variable:
    try:
        children = await lldb.fetch_variables(one.handle, start=0, count=_ELEMENTS)
    except DebuggerError:
        return one
    elements = _shown_children(children)[:_ELEMENTS]
    rebuilt = [
        await _rebuild_value(lldb, each) if is_cut_early(each) else each for each in elements
    ]
    values = [child.value for child in rebuilt]
    if is_owner:
        is_struct = bool(values) and "{" in values[0]
        return msgspec.structs.replace(one, value=values[0]) if is_struct else one
    match = _CONTAINER.match(one.value)
    size = int(match["size"]) if match else one.indexed or 0
    if not values or not all(values):
        return one
    # Of long ones the first few say what they are like.
    lengths = accumulate(len(value) for value in values)
    values = [value for value, so_far in zip(values, lengths, strict=True) if so_far <= _SHOWN_MAX]
    more = "…" if size > len(values) else ""
    before = f"{one.value} " if match else ""
    inner = ", ".join([*values, more] if more else values)
    return msgspec.structs.replace(one, value=f"{before}{{{inner}}}") if values else one


async def returned_value(lldb: LldbAccess, stop: Stopped, frame: Frame) -> Variable | None:
    """Read a function's return value, after a step out of it."""
    return await read_return_value(lldb, frame) if stop.description == "step out" else None


async def read_return_value(lldb: LldbAccess, frame: Frame) -> Variable | None:
    """Read the return value that LLDB reports; None if no function was stepped out of."""
    try:
        match = _RETURNED.search(await lldb.run_raw("thread info", frame))
    except DebuggerError:
        return None
    if match is None:
        return None
    value = match["value"]
    if value.startswith("{"):
        # LLDB reads an object from the registers by C's rules, which Rust does not follow.
        if (frame.file or "").endswith(".rs"):
            return None
        value = _join_members(value)
    return _shorten_value(Variable("(return)", value, match["type"]))


def _join_members(text: str) -> str:
    """Write an object that LLDB shows on several lines on one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return ", ".join(lines).replace(" = ", ":").replace("{, ", "{").replace(", }", "}")
