"""Reports the exception or signal that stopped a program under gdb. Run inside gdb.

C++ exceptions and Rust panics are read by their ABIs: gdb 16.3's $_exception fails where a program
has no debug information of the type, and its adapter has no request for either.
"""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

gdb: Any = importlib.import_module("gdb")

_TEXT_MAX = 4096
_WORD = 8
_BASES_MAX = 20
_IS_VIRTUAL = 1
_WHAT = 2  # the slot of what() in std::exception's table (Itanium C++ ABI, 2.5.2)
_METHODS = range(3, 8)  # of a trait object's table, behind drop, size and alignment
# vm.mmap_min_addr is 65536 by default.
_LOWEST = 1 << 16  # no address of a program's is below
# From the unwind header back to the type_info, and on to the object (libstdc++ 12, 64 bits).
_TYPE_BEFORE = 80
_OBJECT_AFTER = 32
# From a panic's unwind header to its cause, a Box<dyn Any + Send> (Rust 1.95: panic_unwind::imp).
_CAUSE_AFTER = 40
_state: Any = None


def _exception_request(**given: Any) -> dict[str, Any]:
    """Tell the signal, or what was thrown, that a thread stopped at."""
    thread = next(
        (one for one in gdb.selected_inferior().threads() if one.global_num == given["threadId"]),
        None,
    )
    if thread is not None:
        thread.switch()
    frame = gdb.newest_frame()  # where the probes are
    frame.select()
    if given.get("signal"):
        return {"type": given["signal"], "message": _signal_message(given["signal"])}
    # The language of the frame may be Rust, or assembly; what is asked here is written in C.
    # Reset at the end, also after an error.
    with gdb.with_parameter("language", "c++"):
        if (frame.name() or "").endswith("rust_panic"):
            return {"type": "panic", "message": _panic_message()}
        return _thrown_details()


def _thrown_details() -> dict[str, Any]:
    """Tell what is thrown or caught, by the probes of libstdc++.

    gdb's own $_exception fails where a program has no debug information of the type.
    """
    try:
        # libstdc++'s probes throw, rethrow and catch have the object and its type_info as
        # arguments.
        place = int(gdb.parse_and_eval("(unsigned long) $_probe_arg0"))
        kind = int(gdb.parse_and_eval("(unsigned long) $_probe_arg1"))
        name = _demangle_name(_type_name(kind))
    except (gdb.error, gdb.MemoryError) as error:
        return {"type": "C++ exception", "message": f"what was thrown is not known: {error}"}
    try:
        return {"type": name, "message": _exception_message(place, kind, name)}
    except (gdb.error, gdb.MemoryError) as error:
        # A type that is only ever thrown has no debug information from g++.
        return {"type": name, "message": f"its value is not known: {error}"}


def describe_caught(*, is_rust: bool) -> str:
    """Describe in one line what the function that catches was called with, as its first argument.

    A dependent exception (std::exception_ptr) refers to another one's object.
    """
    with gdb.with_parameter("language", "c++"):
        try:
            header = int(gdb.parse_and_eval("$rdi"))
            if is_rust:
                data, table = (_read_word(header + _CAUSE_AFTER + at * _WORD) for at in range(2))
                text = _any_text(data, _read_word(table + _WORD))
                return f"panic: {text}" if text else "a panic"
            kind, place = _read_word(header - _TYPE_BEFORE), header + _OBJECT_AFTER
            if _read_word(header) & 0xFF == 1:
                place, kind = kind, _read_word(kind - _OBJECT_AFTER - _TYPE_BEFORE)
            name = _demangle_name(_type_name(kind))
        except (gdb.error, gdb.MemoryError, ValueError):
            return "a panic" if is_rust else "an exception of an unknown type"
        try:
            message = _exception_message(place, kind, name)
        except (gdb.error, gdb.MemoryError):
            return name
    message = re.sub(r'^0x[0-9a-f]+ (?=")', "", message)  # gdb's address before a text
    return f"{name}: {message}" if message else name


def _any_text(data: int, size: int) -> str:
    """Read the text of a Rust value of a size: a &str or a String; "" for another one."""
    if size // _WORD not in {2, 3}:
        return ""
    *first, length = (_read_word(data + at * _WORD) for at in range(size // _WORD))
    # A String's capacity is a small number, where its pointer is an address.
    text = gdb.selected_inferior().read_memory(max(first), min(length, _TEXT_MAX))
    return bytes(text).decode(errors="replace")


def _signal_message(name: str) -> str:
    text = str(_state.meaning(name))
    if name in {"SIGSEGV", "SIGBUS"}:
        try:
            # The kernel's own codes are positive.
            if int(gdb.parse_and_eval("$_siginfo.si_code")) <= 0:
                # sigaction(2): kill or raise sent it, and the sender's pid is where the address is.
                return f"{text}: sent by a process, perhaps by the program itself"
            address = gdb.parse_and_eval("$_siginfo._sifields._sigfault.si_addr")
        except gdb.error:
            return text
        return f"{text} at address {int(address):#x}"
    return text


def _exception_message(place: int, kind: int, name: str) -> str:
    """Return what an exception says: std::exception's what(), else the value itself."""
    # The object begins at std::exception only if that is its first base.
    offset = _standard_at(kind)
    if offset is None:
        return str(_value_at(place, name).format_string(max_elements=200))
    place += offset
    # By the virtual table: a program without debug information has no name for what().
    what = _read_word(_read_word(place) + _WHAT * _WORD)
    text = gdb.parse_and_eval(f"((const char *(*)(void *)) {what:#x})({place:#x})")
    return str(text.string(errors="backslashreplace"))[:_TEXT_MAX]


def _value_at(place: int, name: str) -> Any:
    """Return the value of a type at an address."""
    try:
        # Found in the whole program, where an expression sees what the frame's file knows.
        return gdb.Value(place).cast(gdb.lookup_type(name).pointer()).dereference()
    except gdb.error:  # no name, as `char const*` is none
        return gdb.parse_and_eval(f"*({name} *) {place:#x}")


def _type_name(kind: int) -> str:
    """Return the mangled name that a type_info holds."""
    # The second word of a type_info is its name; a star before it marks a name local to its module.
    name = gdb.Value(_read_word(kind + _WORD)).cast(gdb.lookup_type("char").pointer())
    return str(name.string(errors="replace")).lstrip("*")


def _demangle_name(name: str) -> str:
    if not re.fullmatch(r"\w+", name):  # nothing of the kind
        return name
    # As the name of a typeinfo symbol: a type's mangled name alone may be a letter.
    text = str(gdb.execute(f"demangle _ZTI{name}", to_string=True)).strip()
    return text.removeprefix("typeinfo for ")


def _read_word(address: int) -> int:
    """Read a word of the program's memory."""
    return int.from_bytes(gdb.selected_inferior().read_memory(address, _WORD), sys.byteorder)


def _symbol_at(address: int) -> str:
    return str(gdb.execute(f"info symbol {address:#x}", to_string=True))


def _standard_at(kind: int, depth: int = 0) -> int | None:
    """Return where in a type_info's class std::exception lies; None if it is no base of it.

    Of libstdc++'s own classes a program has no debug information; their type_info is always there
    (Itanium C++ ABI, 2.9.5: a class with one base has it in the third word; one with several has
    their count after the flags there, then for each its type_info and its offset, shifted by 8).
    """
    if _type_name(kind) == "St9exception":
        return 0
    how = _symbol_at(_read_word(kind)) if depth < _BASES_MAX else ""
    if "__si_class_type_info" in how:
        return _standard_at(_read_word(kind + 2 * _WORD), depth + 1)
    if "__vmi_class_type_info" not in how:
        return None
    for number in range(min(_read_word(kind + 2 * _WORD) >> 32, _BASES_MAX)):
        base = kind + (3 + 2 * number) * _WORD
        offset = _read_word(base + _WORD)
        # A virtual base lies where the object's own table says: it is not followed.
        inner = None if offset & _IS_VIRTUAL else _standard_at(_read_word(base), depth + 1)
        if inner is not None:
            return inner + (offset >> 8)
    return None


# -- Rust --------------------------------------------------------------------------------------


def _panic_message() -> str:
    """Ask a panic's payload for its text; "" where it has none (Rust 1.95: PanicPayload::get)."""
    try:
        frame = gdb.newest_frame()
        # `&mut dyn PanicPayload` in the first two argument registers (System V ABI, x86-64).
        payload, table = (int(frame.read_register(name)) for name in ("rdi", "rsi"))
        methods = [_read_word(table + number * _WORD) for number in _METHODS]
        get = next((one for one in methods if "PanicPayload>::get " in _symbol_at(one)), None)
        return _text_of(payload, get) if get is not None else ""
    except (gdb.error, gdb.MemoryError, ValueError):  # ValueError: another processor's registers
        return ""


def _text_of(payload: int, get: int) -> str:
    """Read the text that the `&dyn Any` of `get` is: a &str or a String.

    Only the first of the two words that it returns can be had from gdb 16.3.
    """
    place = int(gdb.parse_and_eval(f"((unsigned long (*)(unsigned long)) {get:#x})({payload:#x})"))
    first, second, third = (_read_word(place + number * _WORD) for number in range(3))
    # A String begins with its capacity, a small number, where a &str has an address.
    start, length = (first, second) if first >= _LOWEST else (second, third)
    text = gdb.selected_inferior().read_memory(start, min(length, _TEXT_MAX))
    return bytes(text).decode(errors="replace")


def begin(state: Any, replaced: Any) -> None:
    """Add the request."""
    global _state  # noqa: PLW0603 - there is one program
    _state = state
    state.describe_caught = describe_caught
    replaced("debuggerException", _exception_request)
