"""Classifies library calls, bytes and memory that the chain of a native value meets."""

from __future__ import annotations

import re
import struct

import msgspec

from debugger.model.answers import FrameView
from debugger.questions.why.traced_run import TraceEvent, TraceFrame, TraceValue, WatchPlan

_TEMPLATES_MAX = 16  # templates within templates
_WORD = 8  # bytes that a watchpoint sees
_TEXT_LEAST = 4  # printable bytes that are taken for text
_ALLOCATORS = re.compile(
    r"^_*(?:(?:GI_+)?(?:libc_)?(?:malloc|calloc|realloc|memalign|posix_memalign|aligned_alloc"
    r"|valloc|strdup|strndup)|operator new(?:\[\])?|rdl_alloc\w*|rust_alloc\w*|int_malloc)\b"
)
_FREEING = re.compile(
    r"^_*(?:(?:GI_+)?(?:libc_)?c?free|operator delete(?:\[\])?|rdl_dealloc|rust_dealloc)\b"
)
_INNER_FREE = "_int_free"  # of glibc, below `free` and `realloc`
COPYING = re.compile(r"\b(mem(?:p?cpy|move)|bcopy|str(?:n?cpy|n?cat)|stpcpy)\s*\(")
_INPUT_CALLS = frozenset(
    {"read", "pread", "fread", "fgets", "gets", "getline", "getdelim", "getc", "getchar", "fgetc"}
    | {"scanf", "fscanf", "recv", "recvfrom", "recvmsg", "getenv", "secure_getenv", "readlink"}
    | {"getcwd", "time", "clock", "gettimeofday", "clock_gettime", "rand", "random", "rand_r"}
    | {"getpid", "gethostname", "getrandom", "lrand48", "drand48", "args", "read_line", "ifstream"}
)
_CONVERSIONS = frozenset(
    {"atoi", "atol", "atoll", "atof", "strtol", "strtoul", "strtoll", "strtoull", "strtod"}
    | {"strdup", "strndup", "stoi", "stol", "stoul", "stod", "strlen", "sscanf", "parse", "abs"}
)


# Functions by which a container moves its items, as the libraries of C++ and Rust call them.
_MOVING = re.compile(
    r"relocate|uninitialized_(?:move|copy)|move_backward|copy_move|grow|realloc_move|shift"
)


# Names of functions that return their argument, or a part of it, in another type.
_HANDING_ON = re.compile(r"(?:try_)?\w*(?:into|from)|(?:as|to)_\w+|abs|cloned?|copied|index|value")


def is_moving(function: str) -> bool:
    """Return whether a library's function moves the items of a container."""
    return _MOVING.search(without_templates(function)) is not None


def is_moved(event: TraceEvent, statement: str) -> bool:
    """Return whether a library copied from known memory, in a call that does not name it."""
    is_named = COPYING.search(statement) is not None
    return event.source != 0 and not is_named and not is_input(event.library_call)


def is_handed_on(function: str) -> bool:
    """Return whether a function's name says that its value is the one that it was given."""
    return _HANDING_ON.fullmatch(function) is not None


_STREAM_READS = re.compile(
    r"\bbasic_istream<.*>::(?:(?:get|getline|read|readsome|_M_extract)\b|operator ?>>)"
    r"|\bstd::getline\b|\boperator ?>>.*\bbasic_istream<"
)


def plain_call(function: str) -> str:
    """Return a library function's name without decorations: `fgets` of `__GI__IO_fgets`."""
    name = re.sub(r"@.*$|\(.*$|<.*$", "", without_templates(function))
    name = re.sub(r"^_*(?:GI_+)?(?:IO_|libc_|isoc\d+_)?(?:new_)?", "", name)
    copy = re.match(r"(mem(?:p?cpy|move|set)|str(?:n?cpy|n?cat)|stpcpy)_", name)
    return copy[1] if copy else name.rpartition("::")[2]


def without_templates(function: str) -> str:
    """Return a name without the arguments of its templates: `std::vector::push_back`."""
    for _ in range(_TEMPLATES_MAX):
        shorter = re.sub(r"(?<!operator)<[^<>]*>", "", function)
        if shorter == function:
            break
        function = shorter
    return function.partition("(")[0] if function[:1] not in {"", "("} else function


def is_allocation(event: TraceEvent) -> bool:
    """Return whether an allocation function made the change."""
    functions = _library_functions(event)
    return _INNER_FREE not in functions and any(_ALLOCATORS.match(one) for one in functions)


def is_free(event: TraceEvent) -> bool:
    """Return whether a function that frees made the change, or `realloc` as it moved the block."""
    functions = _library_functions(event)
    return _INNER_FREE in functions or (
        any(_FREEING.match(one) for one in functions) and not is_allocation(event)
    )


def _library_functions(event: TraceEvent) -> list[str]:
    found = []
    for one in event.frames:
        if not one.library and one.file:
            break
        found.append(one.function)
    return found


def is_input(function: str) -> bool:
    """Return whether a function reads from outside of the program."""
    return plain_call(function) in _INPUT_CALLS or _STREAM_READS.search(function) is not None


def is_conversion(function: str) -> bool:
    """Return whether a function computes its result from the text or value of its argument."""
    return plain_call(function) in _CONVERSIONS


def frame_view(frame: TraceFrame, index: int = 0) -> FrameView:
    """Return a frame for the answer."""
    return FrameView(index, frame.function or hex(frame.pc), frame.file, frame.line)


def callers_of(frames: tuple[TraceFrame, ...], start: int) -> tuple[FrameView, ...]:
    """Return the program's own callers of a frame, the nearest first."""
    own = [one for one in frames[start + 1 :] if not one.library and one.file]
    return tuple(frame_view(one, at) for at, one in enumerate(own, 1))[:4]


def format_bytes(text: str | None, kind: str) -> str | None:
    """Return the value of bytes in hexadecimal; None where nothing was mapped."""
    if text is None or not text:
        return None
    raw = bytes.fromhex(text)
    if kind in {"bool", "text"}:
        return ("true" if any(raw) else "false") if kind == "bool" else _quote(raw)
    if kind == "float" and len(raw) in {4, 8}:
        return f"{struct.unpack('<f' if len(raw) == 4 else '<d', raw)[0]:g}"  # noqa: PLR2004
    if kind in {"int", "enum"}:
        return str(int.from_bytes(raw, "little", signed=True))
    if kind == "unsigned":
        return str(int.from_bytes(raw, "little"))
    words = text_of(raw)
    number = f"0x{int.from_bytes(raw, 'little'):x}"
    return f'{number} "{words}"' if words else number


def number_bytes(literal: str, kind: str, size: int) -> str | None:
    """Return the bytes of a literal of a number's kind in hexadecimal; None for another text."""
    if literal in {"NULL", "nullptr", "false"}:
        return "00" * size
    plain = re.sub(r"(?<=[\d.])(?:[uUlLfFzZ]+|_?[iuf]\d+)\Z", "", literal).replace("'", "")
    try:
        if kind == "float":
            return struct.pack("<f" if size == 4 else "<d", float(plain)).hex()  # noqa: PLR2004
        return (int(plain, 0) % (1 << 8 * size)).to_bytes(size, "little").hex()
    except (ValueError, OverflowError, struct.error):
        return None


def _quote(raw: bytes) -> str:
    return repr(raw.rstrip(b"\0").decode("latin-1"))


def text_of(raw: bytes) -> str:
    """Return bytes as text if all before the last zeros are printable; else nothing."""
    plain = raw.rstrip(b"\0")
    is_text = len(plain) >= _TEXT_LEAST and all(0x20 <= one < 0x7F for one in plain)  # noqa: PLR2004
    return plain.decode("ascii") if is_text else ""


def describe_meaning(value: TraceValue) -> str | None:
    """Return what a pointer is by its bytes, if it is none."""
    if value.kind != "pointer" or not value.bytes:
        return None
    words = text_of(bytes.fromhex(value.bytes))
    if words:
        return f'no address: its bytes are the text "{words}"'
    if 0 < value.number < 1 << 16:
        return f"no address: the small number {value.number}"
    return None


def text_end(value: TraceValue) -> TraceValue:
    """Return the last word of a string object's characters; another value as it is.

    The object itself, a pointer and a length, is not what its text was made of.
    """
    begin, count = value.characters or (0, 0)
    if not begin or not count:
        return value
    address = (begin + count - 1) & ~(_WORD - 1)
    # Characters that lie in the object itself are among its bytes.
    at = address - value.address
    is_inside = 0 <= at < value.size
    known = value.bytes[2 * at : 2 * (at + begin + count - address)] if is_inside else ""
    return msgspec.structs.replace(
        value, address=max(address, begin), size=_WORD, kind="text", bytes=known, fields={}
    )


def watch_plan(
    key: str, address: int, size: int, bits: tuple[int, int] | None = None, content: str = ""
) -> WatchPlan:
    """Return a watchpoint that the processor can set at an address: 8 aligned bytes at most.

    `content` is what the memory has at last, in hexadecimal, as far as it is known.
    """
    fitting = (one for one in (8, 4, 2) if one <= size and address % one == 0)
    length = next(fitting, 1)
    is_known = bits is None and len(content) >= 2 * length
    value = content[: 2 * length] if is_known else ""
    return WatchPlan(key, address, length, bits=_bits_within(bits, length), value=value)


def _bits_within(bits: tuple[int, int] | None, length: int) -> tuple[int, int] | None:
    """Return the bits of a field that lie in the watched bytes."""
    return (bits[0], min(bits[1], 8 * length - bits[0])) if bits is not None else None


def is_local(expression: str, value: TraceValue, frame: TraceFrame) -> bool:
    """Return whether an expression is a variable of a frame, or a part of one."""
    is_plain = "->" not in expression and not expression.startswith("*")
    depth = frame.cfa - value.address
    return bool(frame.cfa) and is_plain and 0 <= depth < 8 << 20


def describe_source(event: TraceEvent) -> str:
    """Return the file and the offset of a byte that was read in; nothing if unknown."""
    if event.file is None:
        return ""
    # A question gives the program a file of ours as standard input.
    name = "standard input" if event.descriptor == 0 else event.file
    return name + (f", byte {event.offset:,}" if event.offset is not None else "")
