"""Formats values and lists their children. Run inside gdb.

gdb 16.3's adapter writes a structure or an array as nothing, counts a container by walking all of
it, and gives a map's keys and values as elements in turn.
"""

from __future__ import annotations

import importlib
import itertools
import re
import sys
from collections.abc import Iterator
from typing import Any

gdb: Any = importlib.import_module("gdb")
globalvars: Any = importlib.import_module("gdb.dap.globalvars")
scopes: Any = importlib.import_module("gdb.dap.scopes")
varref: Any = importlib.import_module("gdb.dap.varref")

# Longer values are read in parts, by their children.
_ELEMENTS = 10  # of an array or a container in one line
_CHARACTERS = 16384
_INNER_CHARACTERS = 200  # of a text in a struct or a container
_DEPTH = 3
_KEY_MAX = 60
_WALK_MAX = 100_000  # children of what does not say how many it has
_NAMELESS = "(anonymous)"
_LENGTH = re.compile(r"\b(?:of length|with) (\d+)\b")
_TRAILING_NULS = re.compile(r"(?<!\\)(?:\\000)+\"\Z")
_STRUCTURES = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_ARRAY)
_STRING = re.compile(
    r"std::(?:__\w+::)?basic_string(?:_view)?<|&(?:mut )?str\Z|alloc::(?:\w+::)+String\Z"
)
_VECTOR = re.compile(r"std::(?:__\w+::)?vector<(?!bool\b)")
_REFERENCES = (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)
_POINTERS = (gdb.TYPE_CODE_PTR, *_REFERENCES)


def written(value: Any) -> str:
    """Write a value in one line, with the first of its elements; a reference as what it names."""
    # At each value: the printers are loaded with the library, at any time.
    _complete_strings()
    plain = value.type.strip_typedefs()
    if plain.code in _REFERENCES:
        return written(value.referenced_value())
    is_text = _is_text(plain)
    try:
        # gdb.error for a value larger than max-value-size: its size is shown instead.
        text: str = value.format_string(
            max_elements=_CHARACTERS if is_text else _ELEMENTS,
            max_characters=_CHARACTERS if is_text else _INNER_CHARACTERS,
            # Deeper members are `{...}`: their own handle shows them.
            max_depth=_DEPTH,
            # `<repeats 20 times>` would hide what is where.
            repeat_threshold=0,
            symbols=_shows_symbol(plain),
        )
    except gdb.error as error:
        if "max-value-size" not in str(error):
            raise
        return f"<{plain.sizeof} bytes>"
    if is_text and plain.code == gdb.TYPE_CODE_ARRAY:
        # What a buffer's text leaves of it: LLDB shows none either.
        text = _TRAILING_NULS.sub('"', text)
    # gdb writes nothing for a type that is only declared.
    is_declared = not text and plain.code == gdb.TYPE_CODE_STRUCT and not plain.sizeof
    return "<incomplete type>" if is_declared else text


def _complete_strings() -> None:
    """Have libstdc++'s printer read a std::string whose member with the pointer is only declared.

    clang leaves that out without -fstandalone-debug; the printer fails, and gdb writes nothing.
    """
    kind = getattr(sys.modules.get("libstdcxx.v6.printers"), "StdStringPrinter", None)
    # The mark is on the class: it is replaced when the printers are loaded again.
    if kind is None or getattr(kind, "is_complete", False):
        return
    own = kind.to_string

    def to_string(printer: Any) -> Any:
        try:
            return own(printer)
        except gdb.error:
            value = printer.val
            letter = value.type.strip_typedefs().template_argument(0)
            # The pointer lies first (libstdc++'s new ABI, gcc 5 and later).
            # By layout, as the member's own type is only declared.
            first = value.address.cast(letter.pointer().pointer()).dereference()
            return first.lazy_string(length=int(value["_M_string_length"]))

    kind.to_string, kind.is_complete = to_string, True


def _is_text(plain: Any) -> bool:
    if plain.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ARRAY):
        return "char" in str(plain.target().strip_typedefs().unqualified().name)
    return _STRING.match(plain.tag or "") is not None


def _shows_symbol(plain: Any) -> bool:
    return bool(plain.code == gdb.TYPE_CODE_PTR and plain.target().code == gdb.TYPE_CODE_FUNC)


class _PrinterChildren:
    """The children of a value that a printer shows, walked only as far as they are asked for."""

    def __init__(self, printer: Any, kind: Any) -> None:
        self._printer = printer
        self._is_flat = _VECTOR.match(str(kind.strip_typedefs().unqualified())) is not None
        self._hint = _display_hint(printer)
        self._children_read: list[tuple[str, Any]] = []
        # One iterator for all pages: printers have no other way to the next child, and each start
        # walks from the first.
        self._rest: Iterator[tuple[str, Any]] | None = None
        self.is_array = self._hint == "array"
        self.count = self._count_children()

    def _count_children(self) -> int:
        # Only gdb's newer interface (ValuePrinter) has a cheap count; for others the text says the
        # length, or all are walked, up to the limit.
        own = getattr(self._printer, "num_children", None)
        known = own() if own is not None and isinstance(self._printer, gdb.ValuePrinter) else None
        if known is None and self._hint in {"array", "map"}:
            match = _LENGTH.search(str(self._printer.to_string()))
            return int(match[1]) if match else self._walk_children(_WALK_MAX)
        if known is None:
            return self._walk_children(_WALK_MAX)
        return int(known) // 2 if self._hint == "map" else int(known)

    def _walk_children(self, limit: int) -> int:
        if self._rest is None:
            self._rest = self._all_children()
        self._children_read += itertools.islice(
            self._rest, max(limit - len(self._children_read), 0)
        )
        return len(self._children_read)

    def _all_children(self) -> Iterator[tuple[str, Any]]:
        children = iter(_struct_members(self._printer) or self._printer.children())
        if self._hint != "map":
            yield from children
            return
        # A map's printer gives key and value in turn: the same iterator twice makes pairs.
        for (_, key), (_, value) in zip(children, children):  # noqa: B905 - Python 3.9 has no strict
            text = key if isinstance(key, str) else gdb.Value(key).format_string(max_elements=40)
            yield f"[{text[:_KEY_MAX]}]", value

    def at(self, number: int) -> tuple[str, Any]:
        """Return a child; one that is not there after all is said so."""
        one = getattr(self._printer, "child", None)
        if one is not None and self._hint != "map" and isinstance(self._printer, gdb.ValuePrinter):
            name, value = one(number)
        elif (
            self._is_flat
            and self._walk_children(1)
            and self._children_read[0][1].address is not None
        ):
            # All lie in a row: a vector's printer would walk to the one that is asked for.
            name, value = f"[{number}]", (self._children_read[0][1].address + number).dereference()
        elif self._walk_children(number + 1) > number:
            name, value = self._children_read[number]
        else:
            name, value = f"[{number}]", "nothing there"
        if self._hint == "array" and not str(name).startswith("["):
            name = f"[{name}]"
        return str(name), value if isinstance(value, gdb.Value) else gdb.Value(value)


def _struct_members(printer: Any) -> list[tuple[str, Any]]:
    """List a struct's members with the unions and structs that have no name.

    gdb 16's own printer leaves those out; of every other printer it is nothing.
    """
    # The name that Python's mangling gives a private attribute of gdb's class.
    value = getattr(printer, "_NoOpStructPrinter__value", None)
    if value is None:
        return []
    fields = value.type.strip_typedefs().fields()
    return [(one.name or _NAMELESS, value[one]) for one in fields if hasattr(one, "bitpos")]


def _display_hint(printer: Any) -> str:
    hint = getattr(printer, "display_hint", None)
    return (hint() if hint is not None else None) or ""


class _ReferenceFields:
    """What a reference of gdb's knows: gdb 18 begins the names with an underscore."""

    def __init__(self, reference: Any) -> None:
        self.__dict__["reference"] = reference

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reference, _UNDERSCORE + name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.reference, _UNDERSCORE + name, value)


# By the names in the code itself: no version number says which it is.
_UNDERSCORE = "_" * ("_value" in varref.VariableReference.__init__.__code__.co_names)


def _reference_children(reference: Any) -> _PrinterChildren:
    # gdb's own field for the printer's children: it lives as long as the reference.
    if _ReferenceFields(reference).child_cache is None:
        _ReferenceFields(reference).child_cache = _PrinterChildren(*_open_value(reference))
    known: _PrinterChildren = _ReferenceFields(reference).child_cache
    return known


def _open_value(reference: Any) -> tuple[Any, Any]:
    """Return what shows a value's children, and of which type: a pointer's are its target's."""
    plain = _ReferenceFields(reference).value.type.strip_typedefs()
    # A pointer without a printer of its own shows its target's children.
    if plain.code in _POINTERS and not hasattr(_ReferenceFields(reference).printer, "display_hint"):
        target = _ReferenceFields(reference).value.referenced_value()
        kind = target.type.strip_typedefs()
        if plain.code in _REFERENCES or kind.code in _STRUCTURES:
            return gdb.printing.make_visualizer(target), kind
    if plain.code in _REFERENCES:
        plain = plain.target().strip_typedefs()
    return _ReferenceFields(reference).printer, plain


def _has_children(reference: Any) -> bool:
    """Return whether there is something to look into: not into a text, nor a null pointer."""
    plain = _ReferenceFields(reference).value.type.strip_typedefs()
    if _is_text(plain) or _display_hint(_ReferenceFields(reference).printer) == "string":
        return False
    if plain.code in _POINTERS and not _leads_somewhere(_ReferenceFields(reference).value, plain):
        return False
    return hasattr(_open_value(reference)[0], "children")


def _leads_somewhere(value: Any, plain: Any) -> bool:
    """Return whether a pointer leads to something that can be shown."""
    if plain.target().strip_typedefs().code in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC):
        return False
    try:
        # gdb reads memory only when a value is used: here, to see whether it can be.
        value.referenced_value().fetch_lazy()
    except (gdb.error, gdb.MemoryError):
        return False
    return True


def _child_count(reference: Any) -> int | None:
    return _reference_children(reference).count if reference.has_children() else None


def _fetch_children(reference: Any, start: int, count: int) -> Iterator[Any]:
    """Return some of the children, or all if `count` is 0; no more than there are."""
    total = reference.child_count() or 0
    last = min(total, start + (count or _WALK_MAX))
    if _ReferenceFields(reference).children is None:
        _ReferenceFields(reference).children = {}
    for number in range(start, last):
        if number not in _ReferenceFields(reference).children:
            name, value = _reference_children(reference).at(number)
            name = reference._compute_name(name)  # noqa: SLF001 - as gdb's own does
            child = varref.VariableReference(name, value)
            _ReferenceFields(reference).children[number] = _ReferenceFields(reference).by_name[
                name
            ] = child
        yield _ReferenceFields(reference).children[number]


def _to_object(reference: Any) -> dict[str, Any]:
    """Return a value as the protocol has it."""
    value, fields = (
        _ReferenceFields(reference).value,
        {"type": str(_ReferenceFields(reference).value.type), "variablesReference": 0},
    )
    if _ReferenceFields(reference).name is not None:
        fields["name"] = str(_ReferenceFields(reference).name)
    try:
        fields[_ReferenceFields(reference).result_name] = written(value)
        if not reference.has_children():
            return fields
        children = _reference_children(reference)
    except (gdb.error, gdb.MemoryError) as error:  # its memory cannot be read
        fields.setdefault(_ReferenceFields(reference).result_name, f"<{error}>")
        return fields
    if children.count:
        fields["variablesReference"] = _ReferenceFields(reference).ref
    fields["indexedVariables" if children.is_array else "namedVariables"] = children.count
    return fields


def _forget_scopes(event: Any) -> None:
    """Have the scopes read anew: gdb's adapter keeps what they held until the program runs."""
    del event
    # After `set`, a jump or a call the locals may be others, and so is the return value's scope.
    scopes.frame_to_scope.clear()
    globalvars._id_to_scope.clear()  # noqa: SLF001 - gdb has no other way


def begin(state: Any, replaced: Any) -> None:
    """Stand in for methods of gdb's class: others hold the class itself."""
    del state, replaced
    kind = varref.VariableReference
    kind.has_children = _has_children
    kind.child_count = _child_count
    kind.fetch_children = _fetch_children
    kind.to_object = _to_object
    for changed in ("memory_changed", "register_changed", "inferior_call"):
        getattr(gdb.events, changed).connect(_forget_scopes)
