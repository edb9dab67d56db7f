"""Lists the names at an address, and where their values are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from debugger.backends.frida.expressions.nodes import Node
from debugger.backends.frida.expressions.types import BASIC, Type


@dataclass(frozen=True, slots=True)
class Stored:
    """A value in memory; `is_sure` where the address cannot be wrong: a frame's, a module's.

    `bits` are a bit field's: its first bit from the address on, and how many it has.
    """

    address: Node
    is_sure: bool = False
    bits: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A value in a register: `rax`, `xmm0`."""

    register: str


@dataclass(frozen=True, slots=True)
class Computed:
    """A value without a place; the node gives its bits as U64."""

    bits: Node


@dataclass(frozen=True, slots=True)
class Absent:
    """A value that is not there; `why` says it: `optimized out`."""

    why: str


Where = Stored | Held | Computed | Absent


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in scope."""

    name: str
    type: Type
    where: Where


class Scope(Protocol):
    """What an expression's names are looked up in: the program at one address."""

    def variable(self, name: str) -> Variable | None:
        """Find what a name stands for, the innermost first; `a::b` as it was written."""

    def constant(self, name: str) -> tuple[int, Type] | None:
        """Find an enumerator's number and its type."""

    def type(self, name: str) -> Type | None:
        """Find a type by its name, without stars."""

    def names(self) -> Iterable[str]:
        """Name what is in scope, for a name that is not."""

    def arguments(self) -> Sequence[Variable] | None:
        """Return the function's arguments; None where nothing is known of it."""

    def incomplete(self) -> str:
        """Say why names are missing that the source has; "" where none are known to be."""


@dataclass(frozen=True, slots=True)
class Names:
    """A scope out of tables; the basic types of C, C++ and Rust are always there."""

    variables: Mapping[str, Variable] = field(default_factory=dict)
    constants: Mapping[str, tuple[int, Type]] = field(default_factory=dict)
    types: Mapping[str, Type] = field(default_factory=dict)
    entry: Sequence[Variable] | None = None

    def variable(self, name: str) -> Variable | None:
        """Find a variable."""
        return self.variables.get(name)

    def constant(self, name: str) -> tuple[int, Type] | None:
        """Find an enumerator."""
        return self.constants.get(name)

    def type(self, name: str) -> Type | None:
        """Find a type."""
        return self.types.get(name) or BASIC.get(name)

    def names(self) -> Iterable[str]:
        """Name all variables and enumerators."""
        return [*self.variables, *self.constants]

    def arguments(self) -> Sequence[Variable] | None:
        """Return the function's arguments."""
        return self.entry

    def incomplete(self) -> str:
        """Return nothing: a table has all that it should."""
        return ""
