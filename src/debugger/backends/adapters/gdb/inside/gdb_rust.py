"""Reads paths of Rust through its pointers, cells and vectors, without a call. Run inside gdb."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

gdb: Any = importlib.import_module("gdb")
texts: Any = importlib.import_module("gdb_texts")

_ITEMS_MAX = 20_000  # of a vector
_STEPS_MAX = 12  # pointers and cells around a value
# Methods that hand out what is inside.
_HANDING = re.compile(r"\.(?:borrow|borrow_mut|get|as_ref|as_slice|as_ptr|lock\(\)\.unwrap)\(\)")
_PATH = re.compile(r"([A-Za-z_]\w*)((?:\.\w+|\[[^\[\]]+\])+)")
_STEP = re.compile(r"\.(\w+)|\[([^\[\]]+)\]")
_CELLS = re.compile(r"core::cell::(?:Cell|RefCell|UnsafeCell)<|core::mem::\w+::ManuallyDrop<")
_BORROWED = re.compile(r"core::cell::Ref(?:Mut)?<")
_SHARED = re.compile(r"alloc::(?:rc::Rc|sync::Arc)<")
# Options whose None is a null pointer: they lie in registers as they do in memory.
_OPTION_OF_POINTER = re.compile(
    r"core::option::Option<(?:&|alloc::(?:boxed::Box|rc::Rc|sync::Arc)<|core::ptr::non_null)"
)
_LOCKS = re.compile(r"std::sync::.*(?:Mutex|RwLock)<")


def read_path(expression: str) -> Any:
    """Return the value of `name.field[index]`, as far as cells around it go; None for another.

    Raises:
        gdb.error: If a step of it is not there.
        IndexError: For an element that the vector does not have.
    """
    match = _PATH.fullmatch(_HANDING.sub("", expression))
    if match is None or not is_rust():
        return None
    value = gdb.parse_and_eval(match[1])
    for field, index in _STEP.findall(match[2]):
        value = _field_of(value, field) if field else _element_of(value, index)
    return without_cells(value)


def describe_option(kind: Any, register: str) -> dict[str, Any] | None:
    """Describe an option of a pointer that a function gives back in a register; None for another.

    No value of such a type is made of bytes: gdb 13 fails an assertion of its own for some.

    Args:
        kind: The type.
        register: The bytes of the register, in hexadecimal.
    """
    if _OPTION_OF_POINTER.match(kind.name or "") is None:
        return None
    number = int.from_bytes(bytes.fromhex(register), "little")
    return {
        "text": f"Some({number:#x})" if number else "None",
        "type": kind.name,
        "kind": "pointer",
        "address": 0,
        "size": kind.sizeof,
        "bytes": register,
        "pointee": 0,
        "fields": {},
        "characters": None,
    }


def is_rust() -> bool:
    """Return whether the selected frame is one of Rust."""
    symtab = gdb.selected_frame().find_sal().symtab
    return symtab is not None and symtab.filename.endswith(".rs")


def _name_of(value: Any) -> str:
    return str(value.type.strip_typedefs())


def without_cells(value: Any) -> Any:
    """Return what is in the cells around a value."""
    for _ in range(_STEPS_MAX):
        if _CELLS.match(_name_of(value)) is None:
            break
        value = value["value"]
    return value


def without_references(value: Any) -> Any:
    """Return what references, boxes and cells of Rust lead to; any other value as it is."""
    if not is_rust():
        return value
    for _ in range(_STEPS_MAX):
        value = without_cells(value)
        if value.type.strip_typedefs().code != gdb.TYPE_CODE_PTR:
            break
        value = value.dereference()
    return value


def is_enum(value: Any) -> bool:
    """Return whether a value of Rust is one of several variants, which have no path."""
    return is_rust() and any(one.name is None for one in value.type.strip_typedefs().fields())


def vector_items(value: Any) -> Iterator[tuple[str, Any]] | None:
    """Return the items of a vector or a slice of Rust, each with its index; None for others."""
    found = _begin_of(value)
    if found is None:
        return None
    begin, length = found
    return ((f"[{at}]", (begin + at).dereference()) for at in range(min(length, _ITEMS_MAX)))


def _begin_of(value: Any) -> tuple[Any, int] | None:
    """Return the pointer to the items of a vector or a slice, and their number."""
    kind, name = value.type.strip_typedefs(), _name_of(value)
    if name.startswith("alloc::vec::Vec<"):
        begin = _pointer_in(value["buf"]).cast(kind.template_argument(0).pointer())
        return begin, int(value["len"])
    fields = kind.fields() if name.startswith("&") and kind.code == gdb.TYPE_CODE_STRUCT else ()
    if "data_ptr" in {one.name for one in fields}:
        return value["data_ptr"], int(value["length"])
    return None


def _inner_of(value: Any) -> Any:
    """Return what a pointer, a counted reference, a borrow or a lock refers to."""
    name, kind = _name_of(value), value.type.strip_typedefs()
    if kind.code in {gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF}:
        return value.dereference()
    if _SHARED.match(name):
        counted = value["ptr"]["pointer"].dereference()
        return counted["value" if "::rc::" in name.partition("<")[0] else "data"]
    if _BORROWED.match(name):
        return value["value"]["pointer"].dereference()
    if _LOCKS.match(name):
        return value["data"]
    raise gdb.error(f"{name} refers to nothing")


def _field_of(value: Any, field: str) -> Any:
    for _ in range(_STEPS_MAX):
        value = without_cells(value)
        kind = value.type.strip_typedefs()
        names = {one.name for one in kind.fields()} if kind.code == gdb.TYPE_CODE_STRUCT else set()
        # A field of a tuple has a number.
        own = f"__{field}" if field.isdecimal() else field
        if own in names and _SHARED.match(_name_of(value)) is None:
            return value[own]
        value = _inner_of(value)
    raise gdb.error(f"no field {field}")


def _element_of(value: Any, index: str) -> Any:
    number = int(index) if index.isdecimal() else int(gdb.parse_and_eval(index))
    for _ in range(_STEPS_MAX):
        value = without_cells(value)
        if value.type.strip_typedefs().code == gdb.TYPE_CODE_ARRAY:
            return value[number]
        letter, items = texts.character_at(value, number), _begin_of(value)
        if letter is not None:
            return letter
        if items is not None:
            return _item_at(*items, number)
        value = _inner_of(value)
    raise gdb.error(f"no element {index}")


def _pointer_in(value: Any) -> Any:
    """Return the first pointer in a structure, as a vector's buffer has it."""
    for _ in range(_STEPS_MAX):
        kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_PTR:
            return value
        names = {one.name for one in kind.fields()}
        value = value[next(one for one in ("inner", "ptr", "pointer") if one in names)]
    raise gdb.error("no pointer")


def _item_at(begin: Any, length: int, number: int) -> Any:
    if not 0 <= number < length:
        raise IndexError(number)
    return (begin + number).dereference()
