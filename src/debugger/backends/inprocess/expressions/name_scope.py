"""Lists the names at an address, and where their values are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from debugger.backends.inprocess.expressions.expression_types import BASIC, ExpressionType
from debugger.backends.inprocess.expressions.nodes import Node


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A value in memory; `is_sure` where the address cannot be wrong: a frame's, a module's.

    `bits` are a bit field's: its first bit from the address on, and how many it has.
    """

    address: Node
    is_sure: bool = False
    bits: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class RegisterValue:
    """A value in a register: `rax`, `xmm0`."""

    register: str


@dataclass(frozen=True, slots=True)
class ComputedValue:
    """A value without a place; the node gives its bits as U64."""

    bits: Node


@dataclass(frozen=True, slots=True)
class AbsentValue:
    """A value that is not there; `why` says it: `optimized out`."""

    why: str


Where = StoredValue | RegisterValue | ComputedValue | AbsentValue


@dataclass(frozen=True, slots=True)
class ScopeVariable:
    """A variable in scope."""

    name: str
    type: ExpressionType
    where: Where


class NameScope(Protocol):
    """What an expression's names are looked up in: the program at one address."""

    def find_variable(self, name: str) -> ScopeVariable | None:
        """Find what a name stands for, the innermost first; `a::b` as it was written."""

    def find_constant(self, name: str) -> tuple[int, ExpressionType] | None:
        """Find an enumerator's number and its type."""

    def find_type(self, name: str) -> ExpressionType | None:
        """Find a type by its name, without stars."""

    def visible_names(self) -> Iterable[str]:
        """Name what is in scope, for a name that is not."""

    def function_arguments(self) -> Sequence[ScopeVariable] | None:
        """Return the function's arguments; None where nothing is known of it."""

    def why_incomplete(self) -> str:
        """Say why names are missing that the source has; "" where none are known to be."""


@dataclass(frozen=True, slots=True)
class TableScope:
    """A scope out of tables; the basic types of C, C++ and Rust are always there."""

    variables: Mapping[str, ScopeVariable] = field(default_factory=dict)
    constants: Mapping[str, tuple[int, ExpressionType]] = field(default_factory=dict)
    types: Mapping[str, ExpressionType] = field(default_factory=dict)
    entry: Sequence[ScopeVariable] | None = None

    def find_variable(self, name: str) -> ScopeVariable | None:
        """Find a variable."""
        return self.variables.get(name)

    def find_constant(self, name: str) -> tuple[int, ExpressionType] | None:
        """Find an enumerator."""
        return self.constants.get(name)

    def find_type(self, name: str) -> ExpressionType | None:
        """Find a type."""
        return self.types.get(name) or BASIC.get(name)

    def visible_names(self) -> Iterable[str]:
        """Name all variables and enumerators."""
        return [*self.variables, *self.constants]

    def function_arguments(self) -> Sequence[ScopeVariable] | None:
        """Return the function's arguments."""
        return self.entry

    def why_incomplete(self) -> str:
        """Return nothing: a table has all that it should."""
        return ""
