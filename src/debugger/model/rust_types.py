"""Rust's names of types, which LLDB reports by those of C."""

from __future__ import annotations

import re

_NAMES = {
    "signed char": "i8",
    "unsigned char": "u8",
    "short": "i16",
    "unsigned short": "u16",
    "int": "i32",
    "unsigned int": "u32",
    # LLDB keeps the size alone.
    "long": "i64 or isize",
    "unsigned long": "u64 or usize",
    "__int128": "i128",
    "unsigned __int128": "u128",
    "float": "f32",
    "double": "f64",
    "char32_t": "char",
}
# One between the angle brackets of a generic type.
_ARGUMENT = re.compile(rf"([<,(]\s*)({'|'.join(map(re.escape, _NAMES))})(?=\s*[>,)])")


def rust_type(name: str) -> str:
    """Return the Rust name of a type that a debugger names as C does; any other as it is.

    Of a pointer LLDB does not know whether it is a reference, a Box or a raw pointer.
    """
    plain = name.strip()
    if plain.endswith(" *"):
        return f"pointer to {rust_type(plain.removesuffix(' *'))}"
    if plain in _NAMES:
        return _NAMES[plain]
    return _ARGUMENT.sub(lambda found: f"{found[1]}{_NAMES[found[2]]}", name)
