"""Summarises values that contain another one: std::optional, Rc, BTreeMap. Runs inside LLDB.

LLDB 19.1.7 and 20.1 only say that these have a value, or show their implementation's fields. Each
gets a summary of one line; the children stay as they are, but for BTreeMap and BTreeSet.
"""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

lldb: Any = importlib.import_module("lldb")
# LLDB has added the folder of this module to Python's path.
quote_bytes: Any = importlib.import_module("lldb_cpp").quote_bytes
lldb_bytes: Any = importlib.import_module("lldb_bytes")

_CATEGORY = "debugger-cli"
_ELEMENTS_MAX = 5
_MEMBERS_MAX = 8
_DEPTH_MAX = 3
_TEXT_MAX = 160
_BYTES_MAX = 16384  # as target.max-string-summary-length
# A bound for garbage: an uninitialised map may have any length and any height.
_NODES_MAX = 10_000
_NODE_ENTRIES = 11  # at most, of a BTreeMap's node
_HEIGHT_MAX = 16
_POINTER = 8
_SIZE = re.compile(r"size=(\d+)\Z")
_MANAGER = re.compile(r"_Manager_(?P<where>internal|external)<(?P<type>.+)>::_S_manage")
_PADDED = re.compile(r"0x0+(?=[0-9a-f]{1,16}\b)")
_WIDE = {"char16_t": ("utf-16-le", 2), "char32_t": ("utf-32-le", 4)}
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
# Summaries call each other through LLDB, which passes no depth along.
_depth = [0]


def format_brief(value: Any) -> str:
    """Return a value's text in one line, with its children, down to a few levels."""
    if value.GetError().Fail():
        return "?"
    _depth[0] += 1
    try:
        return _brief_text(value)[:_TEXT_MAX]
    finally:
        _depth[0] -= 1


def _brief_text(value: Any) -> str:
    plain, summary = str(value.GetValue() or ""), str(value.GetSummary() or "").strip()
    # A summary of `size=N` says nothing of the elements: these are added below.
    if summary and not _SIZE.match(summary):
        # A text's number (a pointer, a character's code) adds nothing to it.
        is_text = summary[-1:] in {'"', "'"}
        has_value = is_text or not plain or summary.startswith(_PADDED.sub("0x", plain))
        return summary if has_value else f"{_PADDED.sub('0x', plain)} {summary}"
    if plain:
        return _PADDED.sub("0x", plain)
    if not value.MightHaveChildren():
        return summary or "{}"
    if _depth[0] > _DEPTH_MAX:
        return summary or "{...}"
    return f"{summary} {_member_texts(value)}".strip()


def _member_texts(value: Any) -> str:
    # A bound for LLDB: it would count all children of a large container.
    count = value.GetNumChildren(_MEMBERS_MAX + 1)
    # Children called `[0]`, `[1]` are elements, which are shown without names.
    first = value.GetChildAtIndex(0).GetName() or "" if count else ""
    most = _ELEMENTS_MAX if first.startswith("[") else _MEMBERS_MAX
    pieces = []
    for index in range(min(count, most)):
        child = value.GetChildAtIndex(index)
        name = child.GetName() or ""
        pieces.append(
            format_brief(child) if name.startswith("[") else f"{name}:{format_brief(child)}"
        )
    return "{" + ", ".join(pieces) + (", ..." if count > most else "") + "}"


def quote_text(text: str) -> str:
    """Return a text in quotes."""
    # One line: a newline would break the answer's layout.
    shown = (_ESCAPES.get(one, one if one.isprintable() else f"\\x{ord(one):02x}") for one in text)
    return '"' + "".join(shown) + '"'


def _read_memory(value: Any, address: int, size: int) -> bytes | None:
    error = lldb.SBError()
    content = value.GetProcess().ReadMemory(address, min(size, _BYTES_MAX), error) if size else b""
    return content if not size or error.Success() else None


def _pointed_text(
    value: Any, start: Any, count: Any, encoding: str = "utf-8", unit: int = 1
) -> str:
    address, size = int(start.GetValueAsUnsigned()), int(count.GetValueAsUnsigned()) * unit
    content = _read_memory(value, address, size)
    if content is None:
        return f"<not a string: {size} bytes at {address:#x} cannot be read>"
    is_wide = unit > 1
    text = quote_text(content.decode(encoding, "replace")) if is_wide else quote_bytes(content)
    return text + "..." * (size > _BYTES_MAX)


def _with_address(summary: Any) -> Any:
    """Put a pointer's address before the summary of its target, which CodeLLDB shows alone.

    LLDB applies the summaries of a type to pointers to it, too.
    """

    def of_value(value: Any, session: Any) -> str:
        # Without this a pointer's summary would hide where it points.
        if not value.GetType().IsPointerType():
            return str(summary(value, session))
        address = value.GetValueAsUnsigned()
        text = summary(value.Dereference(), session) if address else ""
        return f"{address:#x} {text}" if text else ""

    return of_value


def _held_text(name: str, value: Any, empty: str) -> str:
    return f"{name}({format_brief(value.GetChildAtIndex(0)) if value.GetNumChildren() else empty})"


@_with_address
def optional(value: Any, _session: Any) -> str:
    """Return `std::optional(VALUE)`."""
    return _held_text("std::optional", value, "empty")


@_with_address
def variant(value: Any, _session: Any) -> str:
    """Return `std::variant(VALUE)` with the value of the present alternative."""
    return _held_text("std::variant", value, "valueless")


@_with_address
def any_value(value: Any, _session: Any) -> str:
    """Return `std::any(VALUE)`; the name of its manager function contains the type."""
    raw = value.GetNonSyntheticValue()
    manager = raw.GetChildMemberWithName("_M_manager")
    if not manager.IsValid() or not manager.GetValueAsUnsigned():
        return "std::any(empty)" if manager.IsValid() else ""
    # libstdc++'s std::any keeps the type only as its manager function: _Manager_internal<T> for
    # values within the object, _Manager_external<T> for those on the heap.
    function = value.GetTarget().ResolveLoadAddress(manager.GetValueAsUnsigned()).GetFunction()
    match = _MANAGER.search(function.GetDisplayName() or function.GetName() or "")
    if match is None:
        return "std::any(...)"
    kind = value.GetTarget().FindFirstType(match["type"])
    # FindFirstType knows no basic types.
    if not kind.IsValid():
        kind = value.GetTarget().GetBasicType(_basic_type(match["type"]))
    storage = raw.GetChildMemberWithName("_M_storage")
    address = storage.GetLoadAddress()
    if match["where"] == "external":
        address = storage.GetChildMemberWithName("_M_ptr").GetValueAsUnsigned()
    if not kind.IsValid() or not kind.GetByteSize():
        return f"std::any({match['type']})"
    return f"std::any({format_brief(value.CreateValueFromAddress('value', address, kind))})"


def _basic_type(name: str) -> Any:
    names = {"int": "Int", "double": "Double", "bool": "Bool", "float": "Float", "long": "Long"}
    names |= {"char": "Char", "unsigned int": "UnsignedInt", "unsigned long": "UnsignedLong"}
    return getattr(lldb, f"eBasicType{names.get(name, 'Invalid')}")


@_with_address
def owner(value: Any, _session: Any) -> str:
    """Return a smart pointer's address, and the text of its target."""
    raw = value.GetNonSyntheticValue()
    pointer = raw.GetChildMemberWithName("_M_ptr")
    if not pointer.IsValid():  # std::unique_ptr
        pointer = value.GetChildMemberWithName("pointer")
    if not pointer.IsValid():
        return ""
    address = pointer.GetValueAsUnsigned()
    count = raw.GetChildMemberWithName("_M_refcount").GetChildMemberWithName("_M_pi")
    uses = count.GetChildMemberWithName("_M_use_count")
    # A weak_ptr whose object is gone: its memory may be another's already.
    if address and uses.IsValid() and not uses.GetValueAsUnsigned():
        return f"{address:#x} expired"
    return f"{address:#x} {format_brief(pointer.Dereference())}" if address else "nullptr"


@_with_address
def tuple_values(value: Any, _session: Any) -> str:
    """Return a std::tuple's elements in parentheses."""
    # Through the base classes, from the first element to the last.
    elements: list[str] = []
    # libstdc++: each _Tuple_impl derives from the next one and from the _Head_base of its element.
    part = value.GetNonSyntheticValue().GetChildAtIndex(0)
    while part.IsValid() and len(elements) < _MEMBERS_MAX:
        bases = [part.GetChildAtIndex(index) for index in range(part.GetNumChildren())]
        head = next((one for one in bases if "_Head_base<" in (one.GetName() or "")), None)
        if head is None:
            break
        inner = head.GetChildMemberWithName("_M_head_impl")
        elements.append(
            format_brief(inner if inner.IsValid() else head)
        )  # an empty class is its own base
        part = next(
            (one for one in bases if "_Tuple_impl<" in (one.GetName() or "")), lldb.SBValue()
        )
    return f"({', '.join(elements)})" if elements else ""


@_with_address
def array(value: Any, _session: Any) -> str:
    """Return a std::array's elements."""
    elements = value.GetNonSyntheticValue().GetChildAtIndex(0)
    shown = lldb_bytes.list_text(elements) or _member_texts(elements)
    return f"size={elements.GetNumChildren()} {shown}"


@_with_address
def string_view(value: Any, _session: Any) -> str:
    """Return the text of a std::string_view, as long as its length says."""
    raw = value.GetNonSyntheticValue()
    start, size = raw.GetChildMemberWithName("_M_str"), raw.GetChildMemberWithName("_M_len")
    return _pointed_text(value, start, size) if start.IsValid() else ""


@_with_address
def wide_string(value: Any, _session: Any) -> str:
    """Return the text of a std::u16string or std::u32string."""
    raw = value.GetNonSyntheticValue()
    start = raw.GetChildMemberWithName("_M_dataplus").GetChildMemberWithName("_M_p")
    size = raw.GetChildMemberWithName("_M_string_length")
    kind = start.GetType().GetPointeeType().GetUnqualifiedType().GetCanonicalType().GetName()
    if kind not in _WIDE:
        return ""
    encoding, unit = _WIDE[kind]
    return ("u" if unit == 2 else "U") + _pointed_text(value, start, size, encoding, unit)  # noqa: PLR2004


@_with_address
def atomic(value: Any, _session: Any) -> str:
    """Return the number in a std::atomic."""
    # The number lies one or more base classes deep, according to its type.
    part = value.GetNonSyntheticValue()
    for _ in range(_DEPTH_MAX):
        inner = part.GetChildMemberWithName("_M_i")
        if not inner.IsValid():
            inner = part.GetChildMemberWithName("_M_p")
        if inner.IsValid():
            return format_brief(inner)
        part = part.GetChildAtIndex(0)
    return ""


@_with_address
def counted(value: Any, session: Any) -> str:
    """Return the counts of an Rc, an Arc or a RefCell, and the value in it."""
    # The toolchain's own module, which differs from one rustc to another: its functions are called,
    # not copied.
    providers: Any = importlib.import_module("lldb_providers")
    is_cell = value.GetTypeName().startswith("core::")
    summary_provider = (
        providers.StdRefSummaryProvider if is_cell else providers.StdRcSummaryProvider
    )
    counts = summary_provider(value, session)
    # The provider of the toolchain gives the value as its first child, the counts behind.
    content = value.GetChildAtIndex(0)
    return (
        f"{counts} {format_brief(content)}"
        if content.IsValid() and "<str" not in value.GetTypeName()
        else counts
    )


@_with_address
def cell(value: Any, _session: Any) -> str:
    """Return the value in a Cell."""
    return f"Cell({format_brief(value.GetChildAtIndex(0))})"


@_with_address
def lock(value: Any, _session: Any) -> str:
    """Return the value that a Mutex or an RwLock guards."""
    data = value.GetNonSyntheticValue().GetChildMemberWithName("data")
    name = "RwLock" if "::RwLock<" in value.GetTypeName() else "Mutex"
    inner = data.GetChildMemberWithName("value")
    return f"{name}({format_brief(inner)})" if inner.IsValid() else ""


def box(value: Any, _session: Any) -> str:
    """Return the value behind a Box; a Box of a str is the text."""
    raw = value.GetNonSyntheticValue()
    start, size = raw.GetChildMemberWithName("data_ptr"), raw.GetChildMemberWithName("length")
    # A fat pointer: a str or a slice behind the Box.
    if start.IsValid() and size.IsValid():
        is_text = value.GetTypeName().startswith("alloc::boxed::Box<str")
        return _pointed_text(value, start, size) if is_text else f"size={size.GetValueAsUnsigned()}"
    kind = value.GetType()
    if not kind.IsPointerType() or kind.GetPointeeType().GetNumberOfFields() == 0:
        return ""
    return _member_texts(value.Dereference()) if value.GetValueAsUnsigned() else ""


def numbers(value: Any, _session: Any) -> str:
    """Return a Rust array of bytes, which LLDB shows as a text whatever they are."""
    return lldb_bytes.list_text(value) or _member_texts(value)


@_with_address
def byte_list(value: Any, _session: Any) -> str:
    """Return the size of a vector or a slice of bytes, and its text if it is one."""
    return f"size={value.GetNumChildren()} {lldb_bytes.list_text(value)}".rstrip()


class BTreeEntries:
    """The entries of a BTreeMap or a BTreeSet, in their order."""

    def __init__(self, value: Any, _session: Any) -> None:
        self._value = value
        self._entries: list[tuple[Any, Any]] = []

    def update(self) -> bool:
        """Read the tree anew."""
        raw = self._value.GetNonSyntheticValue()
        inner = raw.GetChildMemberWithName("map")
        tree = inner.GetNonSyntheticValue() if inner.IsValid() else raw
        self.size = tree.GetChildMemberWithName("length").GetValueAsUnsigned()
        self.is_set = inner.IsValid()
        self._entries = []
        # An empty map has no root.
        if self.size > 0:
            # The layout is alloc::collections::btree's: root is an Option of a node and its height;
            # leaves have the height 0.
            root = _option_value(tree.GetChildMemberWithName("root").GetNonSyntheticValue())
            if root is not None:
                node = _nonnull_pointer(root.GetChildMemberWithName("node"))
                height = root.GetChildMemberWithName("height").GetValueAsUnsigned()
                kind = node.GetType().GetPointeeType()
                self._walk_node(node.GetValueAsUnsigned(), kind, min(height, _HEIGHT_MAX))
        return False

    def _walk_node(self, address: int, kind: Any, height: int) -> None:
        """Add the entries of a node and of those below it (alloc::collections::btree::node).

        LLDB finds no type of an inner node: a leaf, then pointers to its children (repr(C)).
        """
        leaf = self._value.CreateValueFromAddress("node", address, kind)
        leaf = leaf.GetNonSyntheticValue()
        count = min(leaf.GetChildMemberWithName("len").GetValueAsUnsigned(), _NODE_ENTRIES)
        keys, values = leaf.GetChildMemberWithName("keys"), leaf.GetChildMemberWithName("vals")
        # The leaf's size, rounded up to a pointer's alignment.
        edges = address + -(-kind.GetByteSize() // _POINTER) * _POINTER
        # In order: the child before each key, the key, and the last child.
        for index in range(count + 1):
            if len(self._entries) >= _NODES_MAX:
                return
            if height:
                error = lldb.SBError()
                process = self._value.GetProcess()
                below = process.ReadPointerFromMemory(edges + index * _POINTER, error)
                if error.Success():
                    self._walk_node(below, kind, height - 1)
            if index < count:
                self._entries.append(
                    (
                        _maybe_uninit_value(keys.GetChildAtIndex(index)),
                        _maybe_uninit_value(values.GetChildAtIndex(index)),
                    )
                )

    def num_children(self) -> int:
        """Count the entries."""
        return len(self._entries)

    def has_children(self) -> bool:
        """Return True: a map or a set can always be expanded."""
        return True

    def get_child_index(self, name: str) -> int:
        """Return the index of an entry by its name, as `[3]`."""
        number = name.strip("[]")
        return int(number) if number.isdigit() else -1

    def get_child_at_index(self, at: int) -> Any:
        """Return an element of a set, or the value of a key."""
        if not 0 <= at < len(self._entries):
            return None
        key, entry_value = self._entries[at]
        shown = key if self.is_set else entry_value
        name = f"[{at}]" if self.is_set else f"[{format_brief(key)}]"
        # A child has the name of its slot: copied, so that it can be called by its key.
        return shown.CreateValueFromData(name, shown.GetData(), shown.GetType())

    def entry_texts(self, most: int) -> list[str]:
        """Return the first entries as texts."""
        return [
            format_brief(key)
            if self.is_set
            else f"({format_brief(key)}, {format_brief(entry_value)})"
            for key, entry_value in self._entries[:most]
        ]


@_with_address
def tree(value: Any, session: Any) -> str:
    """Return the size of a BTreeMap or a BTreeSet, and its first entries."""
    entries = BTreeEntries(value, session)
    entries.update()
    more = ", ..." if entries.size > _ELEMENTS_MAX else ""
    if _depth[0] >= _DEPTH_MAX:
        return f"size={entries.size}"
    return f"size={entries.size} {{{', '.join(entries.entry_texts(_ELEMENTS_MAX))}{more}}}"


def _option_value(option: Any) -> Any | None:
    """Return the value in an Option of a root: the first one found that has a node."""
    # rustc encodes an Option of a pointer in various ways: the first value within it that has a
    # `node` is taken.
    pending = [option]
    for _ in range(32):
        if not pending:
            return None
        value = pending.pop(0)
        if value.GetChildMemberWithName("node").IsValid():
            return value
        pending += [
            value.GetChildAtIndex(at).GetNonSyntheticValue()
            for at in range(min(value.GetNumChildren(), 8))
        ]
    return None


def _nonnull_pointer(value: Any) -> Any:
    """Return the pointer in a NonNull."""
    value = value.GetNonSyntheticValue()
    while not value.GetType().IsPointerType() and value.GetNumChildren():
        value = value.GetChildAtIndex(0).GetNonSyntheticValue()
    return value


def _maybe_uninit_value(slot: Any) -> Any:
    """Return the value in a MaybeUninit: a union of nothing and a ManuallyDrop."""
    value = slot.GetNonSyntheticValue()
    # The layers differ with the library's version: a name that is not there is skipped.
    for name in ("value", "value", "__0"):
        inner = value.GetChildMemberWithName(name)
        if inner.IsValid():
            value = inner.GetNonSyntheticValue()
    return value.GetSyntheticValue() if value.GetSyntheticValue().IsValid() else value


_CPP = {
    "optional<.+>": "optional",
    "variant<.*>": "variant",
    "any": "any_value",
    "(unique_ptr|shared_ptr|weak_ptr)<.+>": "owner",
    "tuple<.*>": "tuple_values",
    "array<.+>": "array",
    "vector<(((un)?signed )?char|std::byte),.*>": "byte_list",
    "(basic_string_view<char, ?.*>|string_view)": "string_view",
    "(__cxx11::)?(basic_string<char(16|32)_t,.*>|u(16|32)string)": "wide_string",
    "atomic<.+>": "atomic",
}
_RUST = {
    r"(alloc::([a-z_]+::)+)(Rc|Arc)<.+>": "counted",
    r"(core::([a-z_]+::)+)RefCell<.+>": "counted",
    r"(core::([a-z_]+::)+)Cell<.+>": "cell",
    r"std::sync::([a-z_]+::)+(Mutex|RwLock)<.+>": "lock",
    r"alloc::boxed::Box<.+>": "box",
    r"(alloc::([a-z_]+::)+)(BTreeMap|BTreeSet)<.+>": "tree",
    # Of [u8; N] alone: CodeLLDB gives the texts of Python as `char [N]`, which is [i8; N] here.
    r"unsigned char ?\[[0-9]+\]": "numbers",
    r"(alloc::([a-z_]+::)+Vec<(u8|unsigned char),.+>|&(mut )?\[u8\])": "byte_list",
}


def __lldb_init_module(debugger: Any, _session: Any) -> None:
    # The toolchain's formatters are loaded before this module, for Rust programs only.
    is_rust = "lldb_providers" in sys.modules
    debugger.HandleCommand(f"type category define {_CATEGORY}")
    known = (
        _RUST
        if is_rust
        else {f"std::{name}": function_name for name, function_name in _CPP.items()}
    )
    for pattern, function in known.items():
        debugger.HandleCommand(
            # -e: the children can still be expanded beneath the summary.
            f'type summary add -e -w {_CATEGORY} -x "^{pattern}$" -F {__name__}.{function}'
        )
    if is_rust:
        trees = next(pattern for pattern, function in known.items() if function == "tree")
        debugger.HandleCommand(
            f'type synthetic add -w {_CATEGORY} -x "^{trees}$" -l {__name__}.BTreeEntries'
        )
    else:
        debugger.HandleCommand("type format add -f decimal wchar_t")
    debugger.HandleCommand(f"type category enable {_CATEGORY}")
