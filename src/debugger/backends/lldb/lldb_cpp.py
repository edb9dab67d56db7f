"""Corrects LLDB's formatters of libstdc++. Runs inside LLDB's Python (3.9).

With LLDB 19.1.7 and 20.1 and programs of gcc 12, every `std::unordered_map` and `_set` whose
elements are no plain numbers is `size=0`, and a `std::string` ends at its first NUL.
"""

import importlib
from typing import Any

lldb: Any = importlib.import_module("lldb")

_STRING = r"^std::(__cxx11::)?basic_string<char,.*>$"
_BYTES_MAX = 16384  # as target.max-string-summary-length
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_ELEMENT = 1  # the argument of std::_Hashtable that is the type of its elements


def quote_bytes(content: bytes) -> str:
    r"""Return bytes as a text in quotes: UTF-8, and `\xNN` for other bytes."""
    pieces = []
    for piece in content.decode("utf-8", "surrogateescape"):
        code = ord(piece)
        if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - a byte that is no UTF-8 (PEP 383)
            pieces.append(f"\\x{code - 0xDC00:02x}")
        else:
            plain = piece if piece.isprintable() else f"\\x{code:02x}"
            pieces.append(_ESCAPES.get(piece, plain))
    return '"' + "".join(pieces) + '"'


def string_summary(value: Any, _session: Any) -> str:
    """Return the text of a `std::string`, all of its bytes, or why they cannot be read."""
    # The members themselves, whatever formatter shows the value.
    raw = value.GetNonSyntheticValue()
    size = raw.GetChildMemberWithName("_M_string_length")
    start = raw.GetChildMemberWithName("_M_dataplus").GetChildMemberWithName("_M_p")
    # gcc's old ABI (_GLIBCXX_USE_CXX11_ABI=0): a pointer, with the length before the text.
    if not size.IsValid() or not start.IsValid():  # std::string of before C++11
        return str(raw.GetChildMemberWithName("_M_dataplus").GetSummary() or "")
    length = size.GetValueAsUnsigned()
    if length == 0:
        return '""'
    error = lldb.SBError()
    # By its length, and not up to the first NUL: a std::string may contain any byte.
    content = value.GetProcess().ReadMemory(
        start.GetValueAsUnsigned(), min(length, _BYTES_MAX), error
    )
    if not error.Success():
        return f"<not a string: {length} bytes at {start.GetValueAsUnsigned():#x} cannot be read>"
    return quote_bytes(content) + ("..." if length > _BYTES_MAX else "")


def element_type(provider: Any) -> Any:
    """Return the type of an unordered container's elements, by the arguments of its hash table.

    LLDB takes the type from the allocator, whose arguments are unknown where gcc only declares it.
    """
    return provider.head.GetType().GetTemplateArgumentType(_ELEMENT)


def __lldb_init_module(debugger: Any, _session: Any) -> None:
    debugger.HandleCommand(f'type summary add -x "{_STRING}" -F {__name__}.string_summary')
    # LLDB's own formatter, with one method replaced: it is right but for the type of the elements.
    formatters: Any = importlib.import_module("lldb.formatters.cpp.gnu_libstdcpp")
    formatters.StdUnorderedMapSynthProvider.extract_type = element_type
