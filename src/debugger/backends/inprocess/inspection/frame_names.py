"""Resolves an expression's names in a frame: its own, other binaries', functions', results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from debugger.backends.inprocess.expressions import nodes
from debugger.backends.inprocess.expressions.declared_names import DeclaredNames, type_of
from debugger.backends.inprocess.expressions.location_nodes import ScopeVariable, StoredValue
from debugger.backends.inprocess.expressions.nodes import (
    BASIC,
    ConstantNode,
    ExpressionKind,
    ExpressionType,
    MachineType,
)
from debugger.backends.inprocess.inspection.thread_stacks import FrameLevel
from debugger.backends.inprocess.tracing.trace_targets import defines_name, is_of_system
from debugger.symbols.dwarf import debug_types as dwarf
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.debug_entries import DebugEntry
from debugger.symbols.dwarf.function_index import DebugFunction, name_components
from debugger.symbols.dwarf.unwinding import LoadedBinaries, LoadedBinary

_KINDS = {
    ExpressionKind.INTEGER: dwarf.TypeKind.INTEGER,
    ExpressionKind.CHARACTER: dwarf.TypeKind.CHARACTER,
    ExpressionKind.BOOLEAN: dwarf.TypeKind.BOOL,
    ExpressionKind.REAL: dwarf.TypeKind.FLOAT,
    ExpressionKind.POINTER: dwarf.TypeKind.POINTER,
    ExpressionKind.REFERENCE: dwarf.TypeKind.REFERENCE,
    ExpressionKind.ARRAY: dwarf.TypeKind.ARRAY,
    ExpressionKind.FUNCTION: dwarf.TypeKind.FUNCTION,
}

# The type of an indirect function (STT_GNU_IFUNC), as gdb names it.
INDIRECT = "<text gnu-indirect-function variable, no debug info>"


class SyntheticType(dwarf.DebugType):
    """Describes a type that the debug information does not have."""

    def __init__(
        self,
        name: str,
        kind: dwarf.TypeKind,
        size: int,
        *,
        is_signed: bool = False,
        target: dwarf.DebugType | None = None,
        entry: DebugEntry | None = None,
        counts: tuple[int | None, ...] = (),
    ) -> None:
        # Set as attributes: they replace the properties that the entry would be asked for.
        super().__init__(entry)
        self.name = name
        self.kind = kind
        self.size = size
        self.is_signed = is_signed
        self.target_type = target if target is not None else dwarf.DebugType(None)
        self.dimension_counts = counts
        self.without_names = self


def to_debug_type(kind: nodes.ExpressionType) -> dwarf.DebugType:
    """Return the debug type by which values of an expression's type are shown."""
    if kind.declared is not None:
        return kind.declared
    known = _KINDS.get(kind.kind)
    if known is None:
        return dwarf.DebugType(None)
    target = to_debug_type(kind.points_to()) if kind.target is not None else None
    return SyntheticType(
        kind.name,
        known,
        kind.size,
        is_signed=kind.is_signed,
        target=target,
        counts=(kind.count,) if kind.kind is ExpressionKind.ARRAY else (),
    )


def text_type(size: int) -> dwarf.DebugType:
    """Return the type of a written string."""
    letter = to_debug_type(nodes.CHAR)
    name = f"char [{size}]"
    return SyntheticType(name, dwarf.TypeKind.ARRAY, size, target=letter, counts=(size,))


def function_type(
    entry: DebugEntry, returns: dwarf.DebugType, takes: tuple[dwarf.DebugType, ...]
) -> dwarf.DebugType:
    """Return the type of a function, by its entry."""
    name = f"{returns.name} ({', '.join(one.name for one in takes) or 'void'})"
    return SyntheticType(name, dwarf.TypeKind.FUNCTION, 1, target=returns, entry=entry)


def code_type(*, is_indirect: bool = False) -> dwarf.DebugType:
    """Return the type of code that is known by its symbol alone."""
    name = INDIRECT if is_indirect else "<text variable, no debug info>"
    return SyntheticType(name, dwarf.TypeKind.FUNCTION, 1)


def parameter_types(kind: dwarf.DebugType) -> tuple[dwarf.DebugType, ...] | None:
    """Return the types of a function's parameters; None where they are unknown."""
    entry = kind.without_names.entry
    if entry is None:
        return None
    return tuple(
        dwarf.DebugType(one.type, kind.definition)
        for one in entry.children
        if one.tag == dw.TAG_PARAMETER
    )


def is_variadic(kind: dwarf.DebugType) -> bool:
    """Return whether a function takes more arguments than it names."""
    entry = kind.without_names.entry
    return entry is not None and any(
        one.tag == dw.TAG_UNSPECIFIED_PARAMETERS for one in entry.children
    )


@dataclass
class FrameNames:
    """Resolves names in a frame; `results` are of calls, `constants` are those of a type."""

    modules: LoadedBinaries
    level: FrameLevel | None = None
    results: dict[str, ScopeVariable] = field(default_factory=dict)
    constants: Mapping[str, tuple[int, ExpressionType]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        frame = self.level.frame if self.level is not None else None
        module = frame.module if frame is not None else None
        self._own: DeclaredNames | None = None
        if frame is not None and module is not None:
            own = frame.lookup - module.load_bias
            self._own = DeclaredNames(
                module.image, own, bias=module.load_bias, entry=frame.entry, is_stopped=True
            )
        self._module = module

    def _other_binaries(self, name: str) -> Iterator[LoadedBinary]:
        """List the other binaries that may define a name, the program's own first."""
        others = [one for one in self.modules if one is not self._module]
        return (one for one in sorted(others, key=is_of_system) if defines_name(one, name))

    def value_named(self, name: str) -> ScopeVariable | None:
        """Find a result, a local, or a global of any binary."""
        # In C's order: the frame's own variables hide globals, those of its binary hide other
        # binaries'.
        found = self.results.get(name)
        if found is None and self._own is not None:
            found = self._own.find_variable(name) if self._is_near(name) else None
        if found is not None:
            return found
        is_constant = found is None and self.find_constant(name) is not None
        for module in self._other_binaries(name) if not is_constant else ():
            image = module.image
            # The symbols are asked first: a large library's debug information takes seconds
            # to read.
            linkage = (*image.symbols.object_names, *image.binary.thread_local_names)
            if image.has_debug and _has_symbol(linkage, name):
                found = DeclaredNames(
                    module.image, 0, bias=module.load_bias, is_stopped=self.level is not None
                ).find_variable(name)
            if found is not None:
                return found
        return None

    def _is_near(self, name: str) -> bool:
        """Return whether the frame's binary may define a name: in its file, or for all."""
        assert self._own is not None
        assert self._module is not None
        return defines_name(self._module, name) or name in self._own.visible_names()

    def is_local(self, name: str) -> bool:
        """Return whether a name is a result's, or a variable of the function's own."""
        return name in self.results or (self._own is not None and self._own.is_local(name))

    def find_variable(self, name: str) -> ScopeVariable | None:
        """Find a value, or a function."""
        found = self.value_named(name)
        if found is not None:
            return found
        # A class has the name of its constructors, and is not a function.
        if self.find_constant(name) is not None or self._type_here(name) is not None:
            return None
        return next(self.find_functions(name), None)

    def find_functions(self, name: str) -> Iterator[ScopeVariable]:
        """Find functions by a name or its last parts, in the frame's binary first.

        A function without debug information is only known to be code.
        """
        own = [self._module] if self._module is not None else []
        for module in [*own, *self._other_binaries(name)]:
            symbols = module.image.symbols
            if not _has_symbol(symbols.linkage_names, name):
                continue
            known = module.image.functions.find_by_name(name) if module.image.has_debug else ()
            # Inlined copies have no code to call; an indirect function's code is the one that
            # chooses.
            for one in known:
                symbol = symbols.symbol_at(one.address)
                is_indirect = symbol is not None and symbol.is_indirect
                if not one.is_inlined and not is_indirect:
                    yield _function_variable(module, one)
            for symbol in symbols.find_by_name(name.removeprefix("::")) if not known else ():
                if symbol.is_function and symbol.address:
                    address = ConstantNode(symbol.address + module.load_bias, MachineType.U64)
                    kind = type_of(code_type(is_indirect=symbol.is_indirect))
                    yield ScopeVariable(name, kind, StoredValue(address, is_sure=True))

    def find_constant(self, name: str) -> tuple[int, ExpressionType] | None:
        """Find an enumerator."""
        found = self.constants.get(name)
        return found or (self._own.find_constant(name) if self._own is not None else None)

    def _type_here(self, name: str) -> ExpressionType | None:
        return self._own.find_type(name) if self._own is not None else BASIC.get(name)

    def find_type(self, name: str) -> ExpressionType | None:
        """Find a type of the frame's file, else of any other."""
        found = self._type_here(name)
        if found is not None:
            return found
        for module in self.modules:
            if module.image.has_debug:
                known = module.image.scopes.type_named(name.removeprefix("::"))
                if known is not None:
                    return type_of(known)
        return None

    def visible_names(self) -> Iterable[str]:
        """List the names in scope, for the error about an unknown one."""
        return [*(self._own.visible_names() if self._own is not None else ()), *self.constants]

    def function_arguments(self) -> Sequence[ScopeVariable] | None:
        """Return the arguments of the frame's function."""
        return self._own.function_arguments() if self._own is not None else None

    def why_incomplete(self) -> str:
        """Say why the debug information of the frame, or of the program, lacks names."""
        here = self._own.why_incomplete() if self._own is not None else ""
        others = (one.image for one in self.modules if not is_of_system(one))
        return here or next(filter(None, (one.why_incomplete() for one in others)), "")


def _has_symbol(linkage: Iterable[str], name: str) -> bool:
    """Search the symbols for a name, before a library's debug information is read in vain."""
    last = name_components(name)[-1].partition("<")[0]
    if not last.isidentifier():
        return True
    within = f"{len(last)}{last}"  # as it is mangled, of C++ and of Rust
    return any(one == last or one.startswith(f"{last}.") or within in one for one in linkage)


def _function_variable(module: LoadedBinary, one: DebugFunction) -> ScopeVariable:
    address = StoredValue(
        ConstantNode(one.address + module.load_bias, MachineType.U64), is_sure=True
    )
    return ScopeVariable(one.name, type_of(_function_type(module, one)), address)


def _function_type(module: LoadedBinary, one: DebugFunction) -> dwarf.DebugType:
    scopes = module.image.scopes
    entry = module.image.units.find_entry(one.entry)
    if entry is None or not one.file:
        return code_type()  # assembly, which says nothing of what it takes
    takes = tuple(
        scopes.type_of(child.type) for child in entry.children if child.tag == dw.TAG_PARAMETER
    )
    return function_type(entry, scopes.type_of(entry.type), takes)
