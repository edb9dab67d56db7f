"""Corrects the toolchain's formatters of Rust: enums, references, texts. Runs inside LLDB.

Loaded after the toolchain's formatters. LLDB 19 keeps only 32 bits of a discriminant in a variant's
name (DW_AT_discr_value). For an enum whose discriminant hides in a capacity (`Option<String>`)
rustc's formatters then choose the wrong variant, read garbage, and loop over billions of elements.
"""

from __future__ import annotations

import re
import sys
from typing import Any

_TEXTS = (
    "StdStringSummaryProvider",
    "StdOsStringSummaryProvider",
    "StdStrSummaryProvider",
    "StdPathSummaryProvider",
)
_ESCAPED = re.compile(r'[\x00-\x1f"\\]')
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LOW = 0xFFFFFFFF
_HIGH = 1 << 63
_ELEMENTS_MAX = 1 << 24
_DEPTH_MAX = 8
_NAME = "$variant$"
_ENUM = "$variants$"
# A capacity's values end at isize::MAX: larger numbers stand for variants.
_CAPACITIES = ("UsizeNoHighBit", "::Cap", "raw_vec::Cap")


def _is_capacity(value: Any, address: int, depth: int = 0) -> bool:
    """Return whether a capacity is stored at an address within a value."""
    if value.GetLoadAddress() == address and value.GetTypeName().endswith(_CAPACITIES):
        return True
    if depth == _DEPTH_MAX:
        return False
    # Bounded: the value may be garbage with billions of elements.
    children = (value.GetChildAtIndex(at) for at in range(min(value.GetNumChildren(), 32)))
    return any(_is_capacity(child, address, depth + 1) for child in children)


def _stands_for(number: int, discriminant: int, *, is_capacity: bool) -> bool:
    """Return whether a variant's number stands for a discriminant."""
    if is_capacity:
        # A capacity never has its highest bit set: such a number is one of the variants without
        # data. LLDB's name of the variant has only its lower 32 bits.
        return discriminant >= _HIGH and discriminant & _LOW == number & _LOW
    return number in {discriminant, discriminant & _LOW}


def variant_index(provider: Any, variants: Any) -> int:
    """Return the index of an enum's present variant; the one without a discriminant is the rest."""
    every = [variants.GetChildAtIndex(at) for at in range(variants.GetNumChildren())]
    # The variant without a discriminant is the one with data: it is meant unless another one's
    # number matches.
    marks = [one.GetChildMemberWithName(provider.DISCRIMINANT_MEMBER_NAME) for one in every]
    rest = next((at for at, mark in enumerate(marks) if not mark.IsValid()), None)
    for at, one in enumerate(every):
        mark = marks[at]
        number = one.GetName().removeprefix(_NAME)
        if at == rest or not number.isdigit():
            continue
        is_capacity = rest is not None and _is_capacity(
            every[rest].GetNonSyntheticValue(), mark.GetLoadAddress()
        )
        if _stands_for(int(number), mark.GetValueAsUnsigned(), is_capacity=is_capacity):
            return at
    return rest or 0


def _points_to_enum(value: Any) -> bool:
    """Return whether a value is a reference to an enum, of which LLDB lists all variants."""
    kind = value.GetType()
    if not kind.IsPointerType() or not value.GetValueAsUnsigned():
        return False
    pointee = kind.GetPointeeType()
    # LLDB gives each Rust enum one field of this name, with all variants in it.
    return bool(pointee.GetNumberOfFields() == 1 and pointee.GetFieldAtIndex(0).GetName() == _ENUM)


def _dereference_enums(look_up: Any, provider: Any) -> Any:
    """Make a reference to an enum list the members of the present variant."""

    def look_up_dereferenced(value: Any, internal: Any) -> Any:
        if _points_to_enum(value):
            return provider(value.Dereference().GetNonSyntheticValue(), internal)
        return look_up(value, internal)

    return look_up_dereferenced


def _bound_count(count: Any) -> Any:
    """Make an implausible number of elements 0: the container is garbage."""

    # LLDB inspects the signature: with a second parameter it would pass a maximum.
    def count_elements(provider: Any) -> int:
        number = count(provider)
        return number if isinstance(number, int) and 0 <= number <= _ELEMENTS_MAX else 0

    return count_elements


def _escape_character(found: re.Match[str]) -> str:
    letter = found[0]
    return _ESCAPES.get(letter) or (f"\\x{ord(letter):02x}" if letter < " " else f"\\{letter}")


def _escape_summary(summary: Any) -> Any:
    """Make a summary escape its text as Rust's Debug does, in one line."""
    if getattr(summary, "is_escaped", False):
        return summary

    def show_escaped(value: Any, internal: Any) -> Any:
        text = summary(value, internal)
        is_text = isinstance(text, str) and len(text) > 1 and text[0] == text[-1] == '"'
        return f'"{_ESCAPED.sub(_escape_character, text[1:-1])}"' if is_text else text

    show_escaped.is_escaped = True  # type: ignore[attr-defined]
    return show_escaped


def __lldb_init_module(debugger: Any, session: Any) -> None:
    del debugger, session
    providers = sys.modules.get("lldb_providers")
    if providers is None:
        return
    # Every class of the module that counts children: which ones there are depends on rustc's
    # version.
    for kind in list(vars(providers).values()):
        count = vars(kind).get("num_children") if isinstance(kind, type) else None
        if count is not None and count.__code__.co_argcount == 1:
            kind.num_children = _bound_count(count)
    known = getattr(providers, "ClangEncodedEnumProvider", None)
    if known is not None and hasattr(known, "_getCurrentVariantIndex"):
        known._getCurrentVariantIndex = variant_index  # noqa: SLF001 (it is what is wrong)
    lookup: Any = sys.modules.get("lldb_lookup")
    for module in (providers, lookup):
        # lldb_lookup imports the functions by name: they are replaced in both modules.
        for name in _TEXTS:
            if hasattr(module, name):
                setattr(module, name, _escape_summary(getattr(module, name)))
    if known is not None and hasattr(lookup, "synthetic_lookup"):
        lookup.synthetic_lookup = _dereference_enums(lookup.synthetic_lookup, known)
