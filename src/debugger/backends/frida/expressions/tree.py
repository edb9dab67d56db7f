"""Defines the syntax tree of an expression. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from debugger.core.expression_hints import LOCALS
from debugger.errors import Code, DebuggerError


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as it was written: its words, and how many pointers to it."""

    name: str
    pointers: int
    at: int


@dataclass(frozen=True, slots=True)
class Name:
    """A variable or an enumerator, with its scopes: `audio::rate`."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Register:
    """A register, without its dollar."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number; `kind` is its suffix in small letters, `is_decimal` how it was written."""

    value: int
    kind: str
    is_decimal: bool
    at: int


@dataclass(frozen=True, slots=True)
class Real:
    """A number with a fraction."""

    value: float
    is_single: bool
    at: int


@dataclass(frozen=True, slots=True)
class Character:
    """A character in quotes, as its number."""

    value: int
    at: int


@dataclass(frozen=True, slots=True)
class Text:
    """A string in quotes, its escapes resolved."""

    value: str
    at: int


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`."""

    value: bool
    at: int


@dataclass(frozen=True, slots=True)
class Null:
    """`null`, `nullptr`, `NULL`, `None`."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Member:
    """`of.name` or `of->name`: both work on values and on pointers."""

    of: Tree
    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Index:
    """`of[index]`."""

    of: Tree
    index: Tree
    at: int


@dataclass(frozen=True, slots=True)
class Argument:
    """`args[number]`: the function's argument, counted from 0."""

    number: int
    at: int


@dataclass(frozen=True, slots=True)
class Unary:
    """One of `- + ~ ! * &` before its operand."""

    op: str
    of: Tree
    at: int


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator between two; `and` and `or` are `&&` and `||` here."""

    op: str
    left: Tree
    right: Tree
    at: int


@dataclass(frozen=True, slots=True)
class Conditional:
    """`test ? yes : no`."""

    test: Tree
    yes: Tree
    no: Tree
    at: int


@dataclass(frozen=True, slots=True)
class Cast:
    """`(kind) of`, `of as kind`, `static_cast<kind>(of)`."""

    kind: TypeName
    of: Tree
    at: int


@dataclass(frozen=True, slots=True)
class SizeOf:
    """`sizeof(kind)` or `sizeof of`."""

    of: Tree | TypeName
    at: int


@dataclass(frozen=True, slots=True)
class Ask:
    """`len(of)`, `of.len()`, `of.size()`: `what` is `len` or `empty`."""

    what: str
    of: Tree
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    """`of(arguments)`: a function, or a member of a value that is one."""

    of: Tree
    arguments: tuple[Tree, ...]
    at: int


Tree = (
    Name
    | Register
    | Integer
    | Real
    | Character
    | Text
    | Truth
    | Null
    | Member
    | Index
    | Argument
    | Unary
    | Binary
    | Conditional
    | Cast
    | SizeOf
    | Ask
    | Call
)


class Misplaced(DebuggerError):
    """An error that says already where in the expression it is."""


def fault(message: str, *, hint: str = LOCALS) -> DebuggerError:
    """Make the error of an expression that cannot be used."""
    return DebuggerError(Code.EVALUATION_FAILED, message, hint=hint)


def fault_at(text: str, at: int, message: str, *, hint: str | None = LOCALS) -> Misplaced:
    """Make an error that shows where in the expression it is, by column and by the rest."""
    rest = text[at : at + 20]
    where = f"before {rest!r}" if rest.strip() else "at the end"
    told = f"{message}, column {at + 1} ({where})"
    return Misplaced(Code.EVALUATION_FAILED, told, hint=hint)
