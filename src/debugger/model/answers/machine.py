"""Memory, registers, machine code and modules."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType


class MemoryRow(Struct, frozen=True):
    """A part of memory: where it begins, and what it holds in the format that was asked for."""

    address: str
    text: str


class MemoryView(Struct, frozen=True):
    """Memory; `bytes` in hexadecimal. Less than was `asked` for is mapped where it is shorter."""

    address: str
    bytes: str
    format: str
    rows: tuple[MemoryRow, ...]
    size: int
    asked: int


class MemoryWritten(Struct, frozen=True):
    """Memory that was written, before and now, in hexadecimal."""

    address: str
    previous: str | None
    bytes: str
    size: int


class RegisterView(Struct, frozen=True):
    """A register."""

    name: str
    value: str


class RegisterGroupView(Struct, frozen=True):
    """Registers of one kind."""

    name: str
    registers: tuple[RegisterView, ...]


class RegistersView(Struct, frozen=True):
    """Registers of a frame; `others` names the groups that were not asked for."""

    groups: tuple[RegisterGroupView, ...]
    others: tuple[str, ...] = ()


class InstructionView(Struct, frozen=True):
    """A machine instruction; `current` is the next one to run."""

    address: str
    bytes: str
    text: str
    function: str | None
    file: str | UnsetType = UNSET
    line: int | UnsetType = UNSET
    source: str | UnsetType = UNSET
    current: bool = False


class Disassembled(Struct, frozen=True):
    """Machine code."""

    instructions: tuple[InstructionView, ...]


class ModuleView(Struct, frozen=True):
    """The program or a library of it."""

    name: str
    path: str | None = None
    address: str | None = None
    version: str | None = None
    symbols: str | None = None


class ModulesView(Struct, frozen=True):
    """What is loaded."""

    modules: tuple[ModuleView, ...]
    total: int
