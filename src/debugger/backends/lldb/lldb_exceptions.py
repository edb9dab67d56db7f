"""Reads C++ exceptions and Rust panics from memory (LLDB 19.1.7).

The name of an exception's type is in its type_info, as are its base classes (Itanium C++ ABI,
2.9.5). what() is called only on an object that has std::exception among its bases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from debugger.backends import lldb_text
from debugger.backends.lldb import lldb_abilities
from debugger.backends.lldb.lldb_common import LldbAccess
from debugger.errors import DebuggerError
from debugger.model.program import EvaluationPurpose, ExceptionDetails, Frame, Stopped, StopReason

_TEXT_MAX = 4096
_BASES_MAX = 16
_DEPTH_MAX = 16
# Frames from abort() to std::terminate: raise, abort, the terminate handler and their wrappers.
_FRAMES = 12
_STD_EXCEPTION = "St9exception"
_WHAT = 2  # in std::exception's table of virtual functions, behind the two destructors
# The class of an exception (2.2.1): vendor GNUC, language C++; a last byte of 1 marks a dependent
# one (std::exception_ptr).
_PRIMARY = int.from_bytes(b"GNUCC++\0", "big")
_DEPENDENT = _PRIMARY + 1
# From an exception's unwind header (Itanium C++ ABI: Exception Handling, 2.2.1; libstdc++ 12).
# Bytes from the unwind header back to __cxa_exception's type_info, and on to the object behind the
# header, on 64-bit systems.
_TYPE_BEFORE = 80
_OBJECT_AFTER = 32
_UNKNOWN = "an exception of an unknown type"
_STRING = re.compile(
    r"\bstd::(?:__cxx11::|__1::)?basic_string<char, std::(?:__1::)?char_traits<char>,"
    r" std::(?:__1::)?allocator<char> ?>"
)
_POINTED_TEXT = re.compile(r'0x[0-9a-f]+ (?=")')
# Where LLDB stops for its filters: the functions that throw, and the one that catches.
RUNTIME = frozenset({"__cxa_throw", "__cxa_rethrow", "__cxa_begin_catch"})
_PANIC = "rust_panic"
# With rustc's older mangling, `>` is a word and a hash is at the end.
_PAYLOAD_GET = re.compile(r"PanicPayload(?:>|\$GT\$)::get(?:::h[0-9a-f]{16})?\Z")
_STATIC_TEXT, _OWNED_TEXT = 2, 3  # &'static str, String: in words
_PAYLOAD_METHODS = 8


class ThrownObject(msgspec.Struct, frozen=True):
    """The addresses of a thrown object and of its type_info."""

    object: int
    type_info: int


async def read_exception(lldb: LldbAccess, stop: Stopped) -> ExceptionDetails | None:
    """Describe the exception or the cause of death at a stop.

    At a stop in the C++ runtime (`RUNTIME`) the object is in the arguments of the function; at
    SIGABRT below std::terminate it is the exception that is being handled. None where there is
    neither, or the memory cannot be read: LLDB's own description is reported then.
    """
    is_signal = stop.reason is StopReason.SIGNAL
    if stop.thread is None or (is_signal and stop.signal != "SIGABRT"):
        return None
    # One frame is enough for a stop in the runtime: its arguments are still in the registers.
    frames = (await lldb.read_stack(stop.thread, levels=_FRAMES if is_signal else 1)).frames
    try:
        return await (_read_cause_of_abort if is_signal else _read_exception_of_call)(lldb, frames)
    except DebuggerError:
        return None  # LLDB's own description is reported instead


async def describe_caught(lldb: LldbAccess, thread: int, header: int) -> str:
    """Describe in one line what a handler of C++ has caught, by its unwind header."""
    try:
        frames = (await lldb.read_stack(thread, levels=1)).frames
        thrown = await _find_object_of_header(lldb, header)
        if thrown is None:
            return _UNKNOWN  # of another language
        details = await _exception_details(lldb, thrown, frames[0])
    except DebuggerError:
        return _UNKNOWN
    return f"{details.type}: {details.message}" if details.message else details.type


async def describe_caught_panic(lldb: LldbAccess, data: int, table: int) -> str:
    """Describe in one line a caught panic, by its cause's two addresses."""
    try:
        text = await _any_text(lldb, data, table)
    except DebuggerError:
        text = None
    return f"panic: {text}" if text else "a panic"


async def _read_exception_of_call(
    lldb: LldbAccess, frames: Sequence[Frame]
) -> ExceptionDetails | None:
    if not frames:
        return None
    if frames[0].function.rpartition("::")[2] == _PANIC:
        return ExceptionDetails("panic", await _panic_text(lldb, frames[0]) or "")
    thrown = await _thrown_object(lldb, frames[0])
    return await _exception_details(lldb, thrown, frames[0]) if thrown is not None else None


async def _read_cause_of_abort(
    lldb: LldbAccess, frames: Sequence[Frame]
) -> ExceptionDetails | None:
    if not any(frame.function == "std::terminate" for frame in frames):
        return None
    thrown = await _current_exception(lldb, frames[0])
    if thrown is None:
        return None
    cause = await _exception_details(lldb, thrown, frames[0])
    return ExceptionDetails(
        "SIGABRT", "an exception was not caught", causes=(f"{cause.type}: {cause.message}",)
    )


# -- C++ ---------------------------------------------------------------------------------------


async def _thrown_object(lldb: LldbAccess, frame: Frame) -> ThrownObject | None:
    match frame.function:
        case "__cxa_throw":
            thrown, type_info = await _entry_arguments(lldb, frame)
            return ThrownObject(thrown, type_info)
        case "__cxa_begin_catch":
            header, _ = await _entry_arguments(lldb, frame)
            return await _find_object_of_header(lldb, header)
        case "__cxa_rethrow" | "std::terminate":
            return await _current_exception(lldb, frame)
    return None


async def _entry_arguments(lldb: LldbAccess, frame: Frame) -> tuple[int, int]:
    """Return the first two arguments of a function that is being entered."""
    first, second = [
        await _evaluate_number(lldb, f"(unsigned long long)$arg{at}", frame) for at in (1, 2)
    ]
    return first, second


async def _evaluate_number(lldb: LldbAccess, expression: str, frame: Frame) -> int:
    value = (await lldb.evaluate(expression, frame, EvaluationPurpose.PRINT)).value
    try:
        return int(value, 0)
    except ValueError:
        return 0


async def _find_object_of_header(lldb: LldbAccess, header: int) -> ThrownObject | None:
    """Find the object and its type by an unwind header."""
    (kind,) = await lldb_abilities.read_words(lldb, header, 1)
    (first,) = await lldb_abilities.read_words(lldb, header - _TYPE_BEFORE, 1)
    if kind == _DEPENDENT:  # thrown by std::rethrow_exception: the object is another's
        return await _find_object_of_header(lldb, first - _OBJECT_AFTER)
    return ThrownObject(header + _OBJECT_AFTER, first) if kind == _PRIMARY else None


async def _current_exception(lldb: LldbAccess, frame: Frame) -> ThrownObject | None:
    """Find the exception that is being handled (Itanium C++ ABI: __cxa_get_globals)."""
    # The first word of __cxa_eh_globals is the list of caught exceptions, the innermost first; an
    # entry is a __cxa_exception, whose unwind header lies 80 bytes behind its beginning.
    caught_exceptions = await _evaluate_number(
        lldb, "*(unsigned long long *)(void *)__cxa_get_globals()", frame
    )
    return (
        await _find_object_of_header(lldb, caught_exceptions + _TYPE_BEFORE)
        if caught_exceptions
        else None
    )


async def _exception_details(
    lldb: LldbAccess, thrown: ThrownObject, frame: Frame
) -> ExceptionDetails:
    mangled = await _type_name(lldb, thrown.type_info)
    command = f"language cplusplus demangle {lldb_text.quote_word('_ZTI' + mangled)}"
    type_name = lldb_text.parse_demangled(await lldb.run_raw(command, None)) or mangled
    kind = _STRING.sub("std::string", type_name)
    base = await _find_std_exception(lldb, thrown, _DEPTH_MAX)
    if base is not None:
        message = await _call_what(lldb, base, frame)
    else:
        message = await _value_text(lldb, kind, thrown.object, frame)
    return ExceptionDetails(kind, message)


async def _type_name(lldb: LldbAccess, type_info: int) -> str:
    _, name = await lldb_abilities.read_words(lldb, type_info, 2)
    # A star before a name: the type is local to its module.
    return (await _read_text(lldb, name)).removeprefix("*")


async def _read_text(lldb: LldbAccess, address: int) -> str:
    data = await lldb_abilities.read_mapped(lldb, address, _TEXT_MAX)
    return data.partition(b"\0")[0].decode(errors="replace")


async def _find_std_exception(lldb: LldbAccess, thrown: ThrownObject, depth: int) -> int | None:
    """Find the std::exception within an object; None without one."""
    if depth == 0:
        return None
    if await _type_name(lldb, thrown.type_info) == _STD_EXCEPTION:
        return thrown.object
    for base in await _base_objects(lldb, thrown):
        base_address = await _find_std_exception(lldb, base, depth - 1)
        if base_address is not None:
            return base_address
    return None


async def _base_objects(lldb: LldbAccess, thrown: ThrownObject) -> list[ThrownObject]:
    """List a class's bases by its type_info, whose own class determines the layout."""
    # A type_info's own virtual table says which of the three classes it is: without a base, with
    # one at offset 0 (`si`), or with several or virtual ones (`vmi`, 2.9.5).
    table, _, first = await lldb_abilities.read_words(lldb, thrown.type_info, 3)
    kind = " ".join(
        lldb_text.parse_symbols(await lldb.run_raw(f"image lookup --address {table:#x}", None))
    )
    if "__si_class_type_info" in kind:
        return [ThrownObject(thrown.object, first)]
    if "__vmi_class_type_info" not in kind:
        return []
    # vmi: flags and count are two 32-bit numbers; a pair of type_info and offset for each base
    # follows.
    count = min(first >> 32, _BASES_MAX)
    base_entries = await lldb_abilities.read_words(lldb, thrown.type_info + 24, 2 * count)
    base_objects = []
    for base, flags in zip(base_entries[::2], base_entries[1::2], strict=True):
        # A signed number in the upper 56 bits; the lower 8 are flags.
        offset = (flags >> 8) - (1 << 56 if flags >> 63 else 0)
        if flags & 1:  # virtual: the offset is in the object's own table
            (own,) = await lldb_abilities.read_words(lldb, thrown.object, 1)
            (offset,) = await lldb_abilities.read_words(lldb, own + offset, 1)
            offset -= 1 << 64 if offset >> 63 else 0
        base_objects.append(ThrownObject(thrown.object + offset, base))
    return base_objects


async def _call_what(lldb: LldbAccess, base: int, frame: Frame) -> str:
    (table,) = await lldb_abilities.read_words(lldb, base, 1)
    (function,) = await lldb_abilities.read_words(lldb, table + 8 * _WHAT, 1)
    # By address, as the program may have no debug information of std::exception. what() is virtual:
    # the table of the object leads to the thrown class's own.
    call = f"(unsigned long long)((const char *(*)(void *)){function:#x})((void *){base:#x})"
    text = await _evaluate_number(lldb, call, frame)
    return await _read_text(lldb, text) if text else ""


async def _value_text(lldb: LldbAccess, kind: str, address: int, frame: Frame) -> str:
    """Read an object that is no std::exception, by its type's name."""
    try:
        value = await lldb.evaluate(f"*({kind} *){address:#x}", frame, EvaluationPurpose.PRINT)
    except DebuggerError:
        return ""  # a type that has no debug information, or is local
    return _POINTED_TEXT.sub("", value.value)


# -- Rust --------------------------------------------------------------------------------------


async def _panic_text(lldb: LldbAccess, frame: Frame) -> str | None:
    """Call the payload's `get` for a panic's text (Rust 1.95: core::panic::PanicPayload::get)."""
    payload, table = await _entry_arguments(lldb, frame)
    methods = await lldb_abilities.read_words(lldb, table, _PAYLOAD_METHODS)
    for method in methods[3:]:  # behind drop, size and alignment
        names = lldb_text.parse_symbols(
            await lldb.run_raw(f"image lookup --address {method:#x}", None)
        )
        if any(map(_PAYLOAD_GET.search, names)):
            return await _payload_text(lldb, payload, method, frame)
    return None


async def _payload_text(lldb: LldbAccess, payload: int, get: int, frame: Frame) -> str | None:
    """Read the text behind `&dyn Any`: a static text, or a String."""
    # A fat pointer is returned in two registers, as a 128-bit integer is (System V ABI, x86-64).
    both = f"((unsigned __int128 (*)(void *)){get:#x})((void *){payload:#x})"
    answer = await _evaluate_number(lldb, both, frame)
    return await _any_text(lldb, answer & (1 << 64) - 1, answer >> 64)


async def _any_text(lldb: LldbAccess, data: int, table: int) -> str | None:
    """Read the text of a `dyn Any`, by the addresses of it and of its table."""
    if not table:
        return None
    # The second word of a Rust table of virtual functions is the size of the type behind it: by
    # that the two kinds of text differ.
    _, size = await lldb_abilities.read_words(lldb, table, 2)
    count = size // 8
    if count not in {_STATIC_TEXT, _OWNED_TEXT}:
        return None
    *first, length = await lldb_abilities.read_words(lldb, data, count)
    # A String's capacity is a small number, where its pointer is an address.
    text = await lldb_abilities.read_mapped(lldb, max(first), min(length, _TEXT_MAX))
    return text.decode(errors="replace") or None
