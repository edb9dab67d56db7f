"""Reads values as LLDB and gdb show them: numbers, texts, sizes, keys of maps. Pure."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

from debugger.backends.expressions.syntax_tree import COMPARE, divide_whole, expression_error
from debugger.errors import DebuggerError
from debugger.model.program import Variable

Scalar = int | float | str

_INTEGER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+)\Z")
_REAL = re.compile(r"-?(?:\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|inf|nan)\Z")
# gdb shows a character as `97 'a'`, LLDB as `'a'`.
_CHARACTER = re.compile(r"(?:(-?\d+) )?U?'((?:[^'\\]|\\.)*)'\Z", re.DOTALL)
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TRUTHS = {"true": True, "false": False}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]+)\}|([0-7]{3})|(.))", re.DOTALL)
_MEANS = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
# The number of elements: LLDB's summary, gdb's printers of libstdc++, and rustc's of Rust.
_COUNT = re.compile(
    r"(?:^|0x[0-9a-f]+ )size=(\d+)|\b(?:of length|with) (\d+)\b|^[\w&:<>\[\], ]*\(size=(\d+)\)"
)
_MAP = re.compile(r"\b(?:multi|unordered_|unordered_multi|flat_)?map<|\b(?:HashMap|BTreeMap)<")
_CONTAINER = re.compile(r"^(?:const )?std::|^(?:&(?:mut )?)?(?:alloc|std|core|hashbrown)::|^&.*\[")
# How a pair begins in a summary: LLDB's of C++, and of Rust's tuples.
_FIRST = re.compile(
    r"\{first:(\"(?:[^\"\\]|\\.)*\"|[^,{}]+)[,}]|\((\"(?:[^\"\\]|\\.)*\"|[^,(){}]+),"
)
# A slice and a text of Rust are references, but know how long they are.
_POINTER = re.compile(r"\*\s*(?:const)?$|^(?:pointer to |&(?!(?:mut )?(?:\[[^;]*\]|str)$)|\*)")
_NULL = re.compile(r"(?:0x0+|nullptr|NULL)(?:\s|\Z)")
_WRAPPER = re.compile(
    r"\b(?:Rc|Arc|Box|Ref|RefMut|RefCell|Cell|Mutex|MutexGuard|RwLock|Pin|Cow|NonNull|Unique"
    r"|ManuallyDrop|RcInner|ArcInner|RcBox|UnsafeCell"
    r"|unique_ptr|shared_ptr|weak_ptr|optional|reference_wrapper)<"
)
# Members that lead to what a wrapper is for: of LLDB's, gdb's and rustc's formatters, and Rust's
# own fields, in this order.
INNER = (
    "get()", "object", "pointer", "value", "Value", "[contained value]", "data", "borrow",
    "__pointer", "ptr", "__0", "0",
)  # fmt: skip
_CASE = re.compile(r"(?:^|::)(Some|None|Ok|Err)\b")


def read_scalar(value: Variable) -> Scalar | None:
    """Return the number, truth or text that a value shows; a character is its number."""
    shown = value.value.strip()
    if shown in _TRUTHS:
        return _TRUTHS[shown]
    if _INTEGER.match(shown):
        return int(shown, 0)
    if _REAL.match(shown):
        return float(shown)
    character = _CHARACTER.match(shown)
    if character is not None:
        return int(character[1]) if character[1] else _one_character(character[2])
    return read_text(shown)


def read_text(shown: str) -> str | None:
    """Return the text of a value that shows one in quotes, in full; a pointer may come before."""
    begin = shown.find('"')
    if begin < 0 or not re.fullmatch(r"(?:0x[0-9a-f]+ )?", shown[:begin]):
        return None
    found = _TEXT.match(shown, begin)
    # What follows the text, such as `...`, says that it was cut.
    return _without_escapes(found[0][1:-1]) if found and found.end() == len(shown) else None


def _one_character(inner: str) -> int | None:
    plain = _without_escapes(inner)
    return ord(plain) if len(plain) == 1 else None


def _without_escapes(inner: str) -> str:
    def means(found: re.Match[str]) -> str:
        if found[1] or found[2]:
            return chr(int(found[1] or found[2], 16))
        return chr(int(found[3], 8)) if found[3] else _MEANS.get(found[4], found[4])

    return _ESCAPE.sub(means, inner)


def shown_count(value: Variable) -> int | None:
    """Return how many elements a container's summary says that it has, or a text bytes."""
    text = read_text(value.value)
    if text is not None:
        return len(text.encode())
    found = _COUNT.search(value.value)
    return int(found[1] or found[2] or found[3]) if found else None


def is_map(value: Variable) -> bool:
    """Return whether a value's elements have keys."""
    return bool(_MAP.search(_outermost(value.type)))


def is_library_container(value: Variable) -> bool:
    """Return whether a value is a container or a wrapper of the language's own library."""
    return bool(_CONTAINER.search(value.type.strip()))


def is_pointer(value: Variable) -> bool:
    """Return whether a value is a pointer or a reference, and not a slice or a text."""
    return bool(_POINTER.search(value.type.strip()))


def is_null(value: Variable) -> bool:
    """Return whether a value is a null pointer."""
    return bool(_NULL.match(value.value.strip()))


def leads_on(value: Variable) -> bool:
    """Return whether a value is a pointer, or a wrapper such as `Rc<T>`, of another one."""
    return is_pointer(value) or bool(_WRAPPER.search(_outermost(value.type)))


def _outermost(kind: str) -> str:
    """Return a type's own name, up to its first argument."""
    begin = kind.find("<")
    return kind if begin < 0 else kind[: begin + 1]


def present_case(value: Variable) -> str | None:
    """Return which of `Some`, `None`, `Ok`, `Err` a value is."""
    found = _CASE.search(value.value.split("(")[0].split("{")[0])
    return found[1] if found else None


def key_of_name(name: str) -> Scalar | None:
    """Return the key in an element's name, as gdb has it: `["ice"]`, `[2]`."""
    return read_scalar(Variable("", name[1:-1])) if name.startswith("[") else None


def key_of_pair(pair: Variable) -> Scalar | None:
    """Return the key that a pair's summary begins with; None where it shows none."""
    found = _FIRST.match(pair.value)
    return read_scalar(Variable("", (found[1] or found[2]).strip())) if found else None


_BITS: Mapping[str, Callable[[int, int], int]] = {
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": lambda left, right: left << min(right, 64),
    ">>": operator.rshift,
}


def apply_operator(op: str, left: Scalar, right: Scalar) -> Scalar:
    """Apply an operator to two values; whole numbers do not overflow.

    Raises:
        DebuggerError: EVALUATION_FAILED for a text and a number, a division by zero, and so on.
    """
    if isinstance(left, str) or isinstance(right, str):
        if op in COMPARE and isinstance(left, str) and isinstance(right, str):
            return COMPARE[op](left, right)
        raise _unfit_error(op, left, right)
    if op in COMPARE:
        return COMPARE[op](left, right)
    if op not in _BITS:
        return _calculate(op, left, right)
    if isinstance(left, int) and isinstance(right, int) and not (op in {"<<", ">>"} and right < 0):
        return _BITS[op](left, right)
    raise _unfit_error(op, left, right)


def _unfit_error(op: str, left: Scalar, right: Scalar) -> DebuggerError:
    kinds = ["a text" if isinstance(one, str) else "a number" for one in (left, right)]
    return expression_error(f"{op} of {kinds[0]} and {kinds[1]}")


def _calculate(op: str, left: float, right: float) -> int | float:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    if not right:
        raise expression_error("a division by zero")
    if not (isinstance(left, int) and isinstance(right, int)):
        if op == "%":
            raise expression_error("% of a number with a fraction")
        return left / right
    return divide_whole(op, left, right)


_REALS = frozenset({"f32", "f64", "float", "double"})
_C_BITS = {"char": 8, "short": 16, "int": 32, "long": 64, "long long": 64}
_RUST_INTEGER = re.compile(r"([iu])(8|16|32|64|size)\Z")


def cast_number(value: Scalar, kind: str) -> Scalar | None:
    """Return a number as another type has it; None for a type that is none of numbers."""
    if isinstance(value, str):
        return None
    if kind in _REALS:
        return float(value)
    rust = _RUST_INTEGER.match(kind)
    if rust is not None:
        bits, is_signed = int(rust[2].replace("size", "64")), rust[1] == "i"
    else:
        is_signed = not kind.startswith("unsigned")
        found = _C_BITS.get(kind.removeprefix("unsigned").removeprefix("signed").strip() or "int")
        if found is None:
            return None
        bits = found
    number = int(value) & ((1 << bits) - 1)
    return number - (1 << bits) if is_signed and number >> (bits - 1) else number


def show_scalar(value: Scalar) -> str:
    """Return a computed value as debuggers show it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return str(value)
