"""Defines the syntax tree of an expression, and what its operators are. Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.statement import LOCALS


class TypeName(Struct, frozen=True):
    """Names a type as it was written: its words, and the number of pointers to it."""

    name: str
    pointers: int
    # The column in the text, from 0 on; every tree has it, for the messages of errors.
    at: int


class NameTree(Struct, frozen=True):
    """Names a variable or an enumerator, with its scopes: `audio::rate`."""

    text: str
    at: int


class RegisterTree(Struct, frozen=True):
    """Names a register, without its dollar."""

    name: str
    at: int


class IntegerTree(Struct, frozen=True):
    """Holds a whole number; `kind` is its suffix in small letters, `is_decimal` its notation."""

    value: int
    kind: str
    is_decimal: bool
    at: int


class RealTree(Struct, frozen=True):
    """Holds a number with a fraction."""

    value: float
    is_single: bool
    at: int


class CharacterTree(Struct, frozen=True):
    """Holds a character in quotes, as its number."""

    value: int
    at: int


class TextTree(Struct, frozen=True):
    """Holds a string in quotes, its escapes resolved."""

    value: str
    at: int


class TruthTree(Struct, frozen=True):
    """Represents `true` or `false`."""

    value: bool
    at: int


class NullTree(Struct, frozen=True):
    """Represents `null`, `nullptr`, `NULL`, `None`."""

    text: str
    at: int


class MemberTree(Struct, frozen=True):
    """Represents `of.name` or `of->name`: both work on values and on pointers."""

    of: Tree
    name: str
    at: int


class IndexTree(Struct, frozen=True):
    """Represents `of[index]`."""

    of: Tree
    index: Tree
    at: int


class ArgumentTree(Struct, frozen=True):
    """Represents `args[number]`: the function's argument, counted from 0."""

    number: int
    at: int


class UnaryTree(Struct, frozen=True):
    """Represents one of `- + ~ ! * &` before its operand."""

    op: str
    of: Tree
    at: int


class BinaryTree(Struct, frozen=True):
    """Represents an operator between two; `and` and `or` are `&&` and `||` here."""

    op: str
    left: Tree
    right: Tree
    at: int


class ConditionalTree(Struct, frozen=True):
    """Represents `test ? yes : no`."""

    test: Tree
    yes: Tree
    no: Tree
    at: int


class CastTree(Struct, frozen=True):
    """Represents `(kind) of`, `of as kind`, `static_cast<kind>(of)`."""

    kind: TypeName
    of: Tree
    at: int


class SizeOfTree(Struct, frozen=True):
    """Represents `sizeof(kind)` or `sizeof of`."""

    of: Tree | TypeName
    at: int


class LengthTree(Struct, frozen=True):
    """Represents `len(of)`, `of.len()`, `of.size()`: `what` is `len` or `empty`."""

    what: str
    of: Tree
    at: int


class CallTree(Struct, frozen=True):
    """Represents `of(arguments)`: a call of a function, or of a value's method."""

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


COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def divide_whole(op: str, left: int, right: int) -> int:
    """Divide whole numbers, or return the remainder for `%`.

    C and Rust truncate towards zero, Python's // rounds down.
    """
    quotient = abs(left) // abs(right)
    quotient = -quotient if (left < 0) != (right < 0) else quotient
    return quotient if op == "/" else left - quotient * right


def subtrees(tree: Tree) -> dict[str, Tree]:
    """Return the operands of a tree by the fields that have them; without a call's arguments."""
    fields = {name: getattr(tree, name) for name in tree.__struct_fields__}
    return {name: part for name, part in fields.items() if isinstance(part, Tree)}


class ExpressionError(DebuggerError):
    """Says what is wrong in an expression, and where."""


def expression_error(message: str, *, hint: str = LOCALS) -> DebuggerError:
    """Make the error of an expression that cannot be used."""
    return DebuggerError(ErrorCode.EVALUATION_FAILED, message, hint=hint)


def fault_at(text: str, at: int, message: str, *, hint: str | None = LOCALS) -> ExpressionError:
    """Make an error that shows where in the expression it is, by column and by the rest."""
    rest = text[at : at + 20]
    where = f"before {rest!r}" if rest.strip() else "at the end"
    reported = f"{message}, column {at + 1} ({where})"
    return ExpressionError(ErrorCode.EVALUATION_FAILED, reported, hint=hint)
