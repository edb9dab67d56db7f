"""Reads C++ exceptions and Rust panics from memory (LLDB 19.1.7).

The name of an exception's type is in its type_info, as are its base classes (Itanium C++ ABI,
2.9.5). what() is called only on an object that has std::exception among its bases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from debugger.backends import lldb_text
from debugger.backends.lldb import machine
from debugger.backends.lldb.inside import Inside
from debugger.core.model import ExceptionDetails, Frame, Purpose, Reason, Stopped
from debugger.errors import DebuggerError

_TEXT_MAX = 4096
_BASES_MAX = 16
_DEPTH_MAX = 16
_FRAMES = 12
_STD_EXCEPTION = "St9exception"
_WHAT = 2  # in std::exception's table of virtual functions, behind the two destructors
_PRIMARY = int.from_bytes(b"GNUCC++\0", "big")
_DEPENDENT = _PRIMARY + 1
# From an exception's unwind header (Itanium C++ ABI: Exception Handling, 2.2.1; libstdc++ 12).
_TYPE_BEFORE = 80
_OBJECT_AFTER = 32
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


class Thrown(msgspec.Struct, frozen=True):
    """The addresses of a thrown object and of its type_info."""

    object: int
    type_info: int


async def exception(inside: Inside, stop: Stopped) -> ExceptionDetails | None:
    """Describe what a stopped program has thrown, or has died of.

    At a stop in the C++ runtime (`RUNTIME`) the object is in the arguments of the function; at
    SIGABRT below std::terminate it is the exception that is being handled. None where there is
    neither, or the memory cannot be read: LLDB's own description is reported then.
    """
    is_signal = stop.reason is Reason.SIGNAL
    if stop.thread is None or (is_signal and stop.signal != "SIGABRT"):
        return None
    frames = (await inside.stack(stop.thread, levels=_FRAMES if is_signal else 1)).frames
    try:
        return await (_cause_of_abort if is_signal else _of_call)(inside, frames)
    except DebuggerError:
        return None  # LLDB's own description is reported instead


async def _of_call(inside: Inside, frames: Sequence[Frame]) -> ExceptionDetails | None:
    if not frames:
        return None
    if frames[0].function.rpartition("::")[2] == _PANIC:
        return ExceptionDetails("panic", await _panic(inside, frames[0]) or "")
    thrown = await _thrown(inside, frames[0])
    return await _told(inside, thrown, frames[0]) if thrown is not None else None


async def _cause_of_abort(inside: Inside, frames: Sequence[Frame]) -> ExceptionDetails | None:
    if not any(frame.function == "std::terminate" for frame in frames):
        return None
    thrown = await _current(inside, frames[0])
    if thrown is None:
        return None
    cause = await _told(inside, thrown, frames[0])
    return ExceptionDetails(
        "SIGABRT", "an exception was not caught", causes=(f"{cause.type}: {cause.message}",)
    )


# -- C++ ---------------------------------------------------------------------------------------


async def _thrown(inside: Inside, frame: Frame) -> Thrown | None:
    match frame.function:
        case "__cxa_throw":
            thrown, type_info = await _arguments(inside, frame)
            return Thrown(thrown, type_info)
        case "__cxa_begin_catch":
            header, _ = await _arguments(inside, frame)
            return await _of_header(inside, header)
        case "__cxa_rethrow" | "std::terminate":
            return await _current(inside, frame)
    return None


async def _arguments(inside: Inside, frame: Frame) -> tuple[int, int]:
    """Return the first two arguments of a function that is being entered."""
    first, second = [await _number(inside, f"(unsigned long long)$arg{at}", frame) for at in (1, 2)]
    return first, second


async def _number(inside: Inside, expression: str, frame: Frame) -> int:
    value = (await inside.evaluate(expression, frame, Purpose.PRINT)).value
    try:
        return int(value, 0)
    except ValueError:
        return 0


async def _of_header(inside: Inside, header: int) -> Thrown | None:
    """Find the object and its type by an unwind header."""
    (kind,) = await machine.words(inside, header, 1)
    (first,) = await machine.words(inside, header - _TYPE_BEFORE, 1)
    if kind == _DEPENDENT:  # thrown by std::rethrow_exception: the object is another's
        return await _of_header(inside, first - _OBJECT_AFTER)
    return Thrown(header + _OBJECT_AFTER, first) if kind == _PRIMARY else None


async def _current(inside: Inside, frame: Frame) -> Thrown | None:
    """Find the exception that is being handled (Itanium C++ ABI: __cxa_get_globals)."""
    held = await _number(inside, "*(unsigned long long *)(void *)__cxa_get_globals()", frame)
    return await _of_header(inside, held + _TYPE_BEFORE) if held else None


async def _told(inside: Inside, thrown: Thrown, frame: Frame) -> ExceptionDetails:
    mangled = await _name(inside, thrown.type_info)
    command = f"language cplusplus demangle {lldb_text.quoted('_ZTI' + mangled)}"
    whole = lldb_text.demangled(await inside.raw(command, None)) or mangled
    kind = _STRING.sub("std::string", whole)
    base = await _std_exception(inside, thrown, _DEPTH_MAX)
    if base is not None:
        message = await _what(inside, base, frame)
    else:
        message = await _value(inside, kind, thrown.object, frame)
    return ExceptionDetails(kind, message)


async def _name(inside: Inside, type_info: int) -> str:
    _, name = await machine.words(inside, type_info, 2)
    # A star before a name: the type is local to its module.
    return (await _text(inside, name)).removeprefix("*")


async def _text(inside: Inside, address: int) -> str:
    data = await machine.read(inside, address, _TEXT_MAX)
    return data.partition(b"\0")[0].decode(errors="replace")


async def _std_exception(inside: Inside, thrown: Thrown, depth: int) -> int | None:
    """Find the std::exception within an object; None without one."""
    if depth == 0:
        return None
    if await _name(inside, thrown.type_info) == _STD_EXCEPTION:
        return thrown.object
    for base in await _bases(inside, thrown):
        found = await _std_exception(inside, base, depth - 1)
        if found is not None:
            return found
    return None


async def _bases(inside: Inside, thrown: Thrown) -> list[Thrown]:
    """List a class's bases by its type_info, whose own class determines the layout."""
    table, _, first = await machine.words(inside, thrown.type_info, 3)
    kind = " ".join(lldb_text.symbols(await inside.raw(f"image lookup --address {table:#x}", None)))
    if "__si_class_type_info" in kind:
        return [Thrown(thrown.object, first)]
    if "__vmi_class_type_info" not in kind:
        return []
    count = min(first >> 32, _BASES_MAX)
    told = await machine.words(inside, thrown.type_info + 24, 2 * count)
    found = []
    for base, flags in zip(told[::2], told[1::2], strict=True):
        offset = (flags >> 8) - (1 << 56 if flags >> 63 else 0)
        if flags & 1:  # virtual: the offset is in the object's own table
            (own,) = await machine.words(inside, thrown.object, 1)
            (offset,) = await machine.words(inside, own + offset, 1)
            offset -= 1 << 64 if offset >> 63 else 0
        found.append(Thrown(thrown.object + offset, base))
    return found


async def _what(inside: Inside, base: int, frame: Frame) -> str:
    (table,) = await machine.words(inside, base, 1)
    (function,) = await machine.words(inside, table + 8 * _WHAT, 1)
    call = f"(unsigned long long)((const char *(*)(void *)){function:#x})((void *){base:#x})"
    text = await _number(inside, call, frame)
    return await _text(inside, text) if text else ""


async def _value(inside: Inside, kind: str, address: int, frame: Frame) -> str:
    """Read an object that is no std::exception, by its type's name."""
    try:
        value = await inside.evaluate(f"*({kind} *){address:#x}", frame, Purpose.PRINT)
    except DebuggerError:
        return ""  # a type that has no debug information, or is local
    return _POINTED_TEXT.sub("", value.value)


# -- Rust --------------------------------------------------------------------------------------


async def _panic(inside: Inside, frame: Frame) -> str | None:
    """Call the payload's `get` for a panic's text (Rust 1.95: core::panic::PanicPayload::get)."""
    payload, table = await _arguments(inside, frame)
    methods = await machine.words(inside, table, _PAYLOAD_METHODS)
    for method in methods[3:]:  # behind drop, size and alignment
        names = lldb_text.symbols(await inside.raw(f"image lookup --address {method:#x}", None))
        if any(map(_PAYLOAD_GET.search, names)):
            return await _payload(inside, payload, method, frame)
    return None


async def _payload(inside: Inside, payload: int, get: int, frame: Frame) -> str | None:
    """Read the text behind `&dyn Any`: a static text, or a String."""
    both = f"((unsigned __int128 (*)(void *)){get:#x})((void *){payload:#x})"
    answer = await _number(inside, both, frame)
    data, table = answer & (1 << 64) - 1, answer >> 64
    if not table:
        return None
    _, size = await machine.words(inside, table, 2)
    count = size // 8
    if count not in {_STATIC_TEXT, _OWNED_TEXT}:
        return None
    *first, length = await machine.words(inside, data, count)
    # A String's capacity is a small number, where its pointer is an address.
    text = await machine.read(inside, max(first), min(length, _TEXT_MAX))
    return text.decode(errors="replace") or None
