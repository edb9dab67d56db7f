"""Defines the syntax tree of an expression. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.expression_hints import LOCALS


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as it was written: its words, and how many pointers to it."""

    name: str
    pointers: int
    at: int


@dataclass(frozen=True, slots=True)
class NameTree:
    """A variable or an enumerator, with its scopes: `audio::rate`."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class RegisterTree:
    """A register, without its dollar."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class IntegerTree:
    """A whole number; `kind` is its suffix in small letters, `is_decimal` how it was written."""

    value: int
    kind: str
    is_decimal: bool
    at: int


@dataclass(frozen=True, slots=True)
class RealTree:
    """A number with a fraction."""

    value: float
    is_single: bool
    at: int


@dataclass(frozen=True, slots=True)
class CharacterTree:
    """A character in quotes, as its number."""

    value: int
    at: int


@dataclass(frozen=True, slots=True)
class TextTree:
    """A string in quotes, its escapes resolved."""

    value: str
    at: int


@dataclass(frozen=True, slots=True)
class TruthTree:
    """`true` or `false`."""

    value: bool
    at: int


@dataclass(frozen=True, slots=True)
class NullTree:
    """`null`, `nullptr`, `NULL`, `None`."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class MemberTree:
    """`of.name` or `of->name`: both work on values and on pointers."""

    of: Tree
    name: str
    at: int


@dataclass(frozen=True, slots=True)
class IndexTree:
    """`of[index]`."""

    of: Tree
    index: Tree
    at: int


@dataclass(frozen=True, slots=True)
class ArgumentTree:
    """`args[number]`: the function's argument, counted from 0."""

    number: int
    at: int


@dataclass(frozen=True, slots=True)
class UnaryTree:
    """One of `- + ~ ! * &` before its operand."""

    op: str
    of: Tree
    at: int


@dataclass(frozen=True, slots=True)
class BinaryTree:
    """An operator between two; `and` and `or` are `&&` and `||` here."""

    op: str
    left: Tree
    right: Tree
    at: int


@dataclass(frozen=True, slots=True)
class ConditionalTree:
    """`test ? yes : no`."""

    test: Tree
    yes: Tree
    no: Tree
    at: int


@dataclass(frozen=True, slots=True)
class CastTree:
    """`(kind) of`, `of as kind`, `static_cast<kind>(of)`."""

    kind: TypeName
    of: Tree
    at: int


@dataclass(frozen=True, slots=True)
class SizeOfTree:
    """`sizeof(kind)` or `sizeof of`."""

    of: Tree | TypeName
    at: int


@dataclass(frozen=True, slots=True)
class LengthTree:
    """`len(of)`, `of.len()`, `of.size()`: `what` is `len` or `empty`."""

    what: str
    of: Tree
    at: int


@dataclass(frozen=True, slots=True)
class CallTree:
    """`of(arguments)`: a function, or a member of a value that is one."""

    of: Tree
    arguments: tuple[Tree, ...]
    at: int


Tree = (
    NameTree
    | RegisterTree
    | IntegerTree
    | RealTree
    | CharacterTree
    | TextTree
    | TruthTree
    | NullTree
    | MemberTree
    | IndexTree
    | ArgumentTree
    | UnaryTree
    | BinaryTree
    | ConditionalTree
    | CastTree
    | SizeOfTree
    | LengthTree
    | CallTree
)


class ExpressionError(DebuggerError):
    """An error that says already where in the expression it is."""


def expression_error(message: str, *, hint: str = LOCALS) -> DebuggerError:
    """Make the error of an expression that cannot be used."""
    return DebuggerError(ErrorCode.EVALUATION_FAILED, message, hint=hint)


def fault_at(text: str, at: int, message: str, *, hint: str | None = LOCALS) -> ExpressionError:
    """Make an error that shows where in the expression it is, by column and by the rest."""
    rest = text[at : at + 20]
    where = f"before {rest!r}" if rest.strip() else "at the end"
    told = f"{message}, column {at + 1} ({where})"
    return ExpressionError(ErrorCode.EVALUATION_FAILED, told, hint=hint)
