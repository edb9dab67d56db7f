"""Resolves an expression's names in a frame: its own, other binaries', functions', results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from debugger.backends.inprocess.expressions.declared_names import DeclaredNames, type_of
from debugger.backends.inprocess.expressions.expression_types import BASIC, ExpressionType
from debugger.backends.inprocess.expressions.name_scope import ScopeVariable, StoredValue
from debugger.backends.inprocess.expressions.nodes import ConstantNode, MachineType
from debugger.backends.inprocess.inspection import synthetic_types
from debugger.backends.inprocess.inspection.thread_stacks import FrameLevel
from debugger.backends.inprocess.own_binaries import defines_name, is_of_system
from debugger.symbols.dwarf import debug_types as dwarf
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.function_index import DebugFunction, name_components
from debugger.symbols.dwarf.unwinding import LoadedBinaries, LoadedBinary


@dataclass
class FrameNames:
    """A scope for `resolve`; `results` are of calls that were done, `constants` those of a type."""

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
        """List the other binaries that may be meant, the program's own first."""
        others = [one for one in self.modules if one is not self._module]
        return (one for one in sorted(others, key=is_of_system) if defines_name(one, name))

    def value_named(self, name: str) -> ScopeVariable | None:
        """Find a result, a local, or a global of any binary."""
        found = self.results.get(name)
        if found is None and self._own is not None:
            found = self._own.find_variable(name) if self._is_near(name) else None
        if found is not None:
            return found
        is_constant = found is None and self.find_constant(name) is not None
        for module in self._other_binaries(name) if not is_constant else ():
            image = module.image
            linkage = (*image.symbols.object_names, *image.binary.thread_local_names)
            if image.has_debug and _has_symbol(linkage, name):
                found = DeclaredNames(
                    module.image, 0, bias=module.load_bias, is_stopped=self.level is not None
                ).find_variable(name)
            if found is not None:
                return found
        return None

    def _is_near(self, name: str) -> bool:
        """Tell whether a name of the frame's binary may be meant: of its file, or given to all."""
        assert self._own is not None
        assert self._module is not None
        return defines_name(self._module, name) or name in self._own.visible_names()

    def find_variable(self, name: str) -> ScopeVariable | None:
        """Find a value, or a function."""
        found = self.value_named(name)
        if found is not None:
            return found
        # A class has the name of its constructors.
        if self.find_constant(name) is not None or self._type_here(name) is not None:
            return None
        return next(self.find_functions(name), None)

    def find_functions(self, name: str) -> Iterator[ScopeVariable]:
        """Find functions by a name or its last parts, in the frame's binary first.

        What has no debug information is only known to be code.
        """
        own = [self._module] if self._module is not None else []
        for module in [*own, *self._other_binaries(name)]:
            symbols = module.image.symbols
            if not _has_symbol(symbols.linkage_names, name):
                continue
            known = module.image.functions.find_by_name(name) if module.image.has_debug else ()
            for one in known:
                symbol = symbols.symbol_at(one.address)
                is_indirect = symbol is not None and symbol.is_indirect
                if not one.is_inlined and not is_indirect:
                    yield _function_variable(module, one)
            for symbol in symbols.find_by_name(name.removeprefix("::")) if not known else ():
                if symbol.is_function and symbol.address:
                    address = ConstantNode(symbol.address + module.load_bias, MachineType.U64)
                    kind = type_of(synthetic_types.code_type(is_indirect=symbol.is_indirect))
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
        """Name what is in scope, for a name that is not."""
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
    """Look at the symbols, before all debug information of a large library is read in vain."""
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
        return synthetic_types.code_type()  # assembly, which says nothing of what it takes
    takes = tuple(
        scopes.type_of(child.type) for child in entry.children if child.tag == dw.TAG_PARAMETER
    )
    return synthetic_types.function_type(entry, scopes.type_of(entry.type), takes)
