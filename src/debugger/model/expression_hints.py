"""Chooses a hint after an expression that the debugger could not evaluate. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from debugger.errors import DebuggerError, ErrorCode

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
    """Return the Rust name of a type that a debugger names in C; any other unchanged.

    LLDB does not distinguish a reference, a Box and a raw pointer.
    """
    plain = name.strip()
    if plain.endswith(" *"):
        return f"pointer to {rust_type(plain.removesuffix(' *'))}"
    if plain in _NAMES:
        return _NAMES[plain]
    return _ARGUMENT.sub(lambda found: f"{found[1]}{_NAMES[found[2]]}", name)


# What adapters are told to hint where they know nothing better.
LOCALS: Final = "debugger locals lists what is here"

# How a command takes an expression, where another than itself and an expression is right.
_USES: Final = {
    "set": "debugger set 'a[0]' 'b + 1'",
    "write": "debugger write 'a[0]' 'b + 1'",
    "call": "debugger call NAME 'a[0]' 'b + 1'",
    "watch": "debugger watch 'a[0]'",
    "memory read": "debugger memory read '&a[0]'",
}

_SYNTAX: Final = re.compile(
    r"expected (expression|operand|an? |'.+')|syntax ?error|parse error|invalid suffix"
    r"|unterminated|unmatched|unbalanced|could not parse",
    re.IGNORECASE,
)
# The program has no code of a function of the library's, which it never calls itself.
_NO_CODE: Final = re.compile(
    r"function that is not present in the target|may be inlined|Could not find operator"
)
_UNFINISHED_CALL: Final = re.compile(r"was given up|is not done")


@contextmanager
def hint_instead(hint: str) -> Iterator[None]:
    """Replace the general hint of a failed expression with this one.

    Raises:
        DebuggerError: The block's failure.
    """
    try:
        yield
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED or error.hint not in {None, LOCALS}:
            raise
        raise DebuggerError(error.code, error.message, hint=hint) from error


def choose_hint(message: str, hint: str | None, command: str = "print") -> str:
    """Return a hint for a debugger's message about an expression; a better one is kept."""
    if hint not in {None, LOCALS}:
        assert hint is not None
        return hint
    if _UNFINISHED_CALL.search(message):
        return "debugger breakpoint list shows what may stop it; debugger breakpoint disable ID"
    if _NO_CODE.search(message):
        return "print shows the whole object, debugger vars REF its elements: no function is called"
    if _SYNTAX.search(message):
        use = _USES.get(command, "debugger print 'a[0] + b'")
        return f"one whole expression of the program's language: {use}"
    return LOCALS
