"""Resolves an expression's names in a frame: its own, other binaries', functions', results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf import types as dwarf
from debugger.backends.frida.dwarf.functions import Function, components
from debugger.backends.frida.dwarf.unwind import Module, Modules
from debugger.backends.frida.expressions.declared import Declared, type_of
from debugger.backends.frida.expressions.nodes import Const, Machine
from debugger.backends.frida.expressions.scope import Stored, Variable
from debugger.backends.frida.expressions.types import BASIC, Type
from debugger.backends.frida.looking import made
from debugger.backends.frida.looking.stacks import Level
from debugger.backends.frida.owned import gives, is_of_system


@dataclass
class Names:
    """A scope for `resolve`; `results` are of calls that were done, `constants` those of a type."""

    modules: Modules
    level: Level | None = None
    results: dict[str, Variable] = field(default_factory=dict)
    constants: Mapping[str, tuple[int, Type]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        frame = self.level.frame if self.level is not None else None
        module = frame.module if frame is not None else None
        self._own: Declared | None = None
        if frame is not None and module is not None:
            own = frame.lookup - module.bias
            self._own = Declared(
                module.image, own, bias=module.bias, entry=frame.entry, is_stopped=True
            )
        self._module = module

    def _others(self, name: str) -> Iterator[Module]:
        """List the other binaries that may be meant, the program's own first."""
        others = [one for one in self.modules if one is not self._module]
        return (one for one in sorted(others, key=is_of_system) if gives(one, name))

    def value_named(self, name: str) -> Variable | None:
        """Find a result, a local, or a global of any binary."""
        found = self.results.get(name)
        if found is None and self._own is not None:
            found = self._own.variable(name) if self._is_near(name) else None
        if found is not None:
            return found
        is_constant = found is None and self.constant(name) is not None
        for module in self._others(name) if not is_constant else ():
            image = module.image
            linkage = (*image.symbols.objects, *image.binary.thread_local_names)
            if image.has_debug and _names(linkage, name):
                found = Declared(
                    module.image, 0, bias=module.bias, is_stopped=self.level is not None
                ).variable(name)
            if found is not None:
                return found
        return None

    def _is_near(self, name: str) -> bool:
        """Tell whether a name of the frame's binary may be meant: of its file, or given to all."""
        assert self._own is not None
        assert self._module is not None
        return gives(self._module, name) or name in self._own.names()

    def variable(self, name: str) -> Variable | None:
        """Find a value, or a function."""
        found = self.value_named(name)
        if found is not None:
            return found
        # A class has the name of its constructors.
        if self.constant(name) is not None or self._type_here(name) is not None:
            return None
        return next(self.functions(name), None)

    def functions(self, name: str) -> Iterator[Variable]:
        """Find functions by a name or its last parts, in the frame's binary first.

        What has no debug information is only known to be code.
        """
        own = [self._module] if self._module is not None else []
        for module in [*own, *self._others(name)]:
            symbols = module.image.symbols
            if not _names(symbols.functions, name):
                continue
            known = module.image.functions.named(name) if module.image.has_debug else ()
            for one in known:
                symbol = symbols.at(one.address)
                is_indirect = symbol is not None and symbol.is_indirect
                if not one.is_inlined and not is_indirect:
                    yield _function(module, one)
            for symbol in symbols.named(name.removeprefix("::")) if not known else ():
                if symbol.is_function and symbol.address:
                    address = Const(symbol.address + module.bias, Machine.U64)
                    kind = type_of(made.code(is_indirect=symbol.is_indirect))
                    yield Variable(name, kind, Stored(address, is_sure=True))

    def constant(self, name: str) -> tuple[int, Type] | None:
        """Find an enumerator."""
        found = self.constants.get(name)
        return found or (self._own.constant(name) if self._own is not None else None)

    def _type_here(self, name: str) -> Type | None:
        return self._own.type(name) if self._own is not None else BASIC.get(name)

    def type(self, name: str) -> Type | None:
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

    def names(self) -> Iterable[str]:
        """Name what is in scope, for a name that is not."""
        return [*(self._own.names() if self._own is not None else ()), *self.constants]

    def arguments(self) -> Sequence[Variable] | None:
        """Return the arguments of the frame's function."""
        return self._own.arguments() if self._own is not None else None

    def incomplete(self) -> str:
        """Say why the debug information of the frame, or of the program, lacks names."""
        here = self._own.incomplete() if self._own is not None else ""
        others = (one.image for one in self.modules if not is_of_system(one))
        return here or next(filter(None, (one.incomplete() for one in others)), "")


def _names(linkage: Iterable[str], name: str) -> bool:
    """Look at the symbols, before all debug information of a large library is read in vain."""
    last = components(name)[-1].partition("<")[0]
    if not last.isidentifier():
        return True
    within = f"{len(last)}{last}"  # as it is mangled, of C++ and of Rust
    return any(one == last or one.startswith(f"{last}.") or within in one for one in linkage)


def _function(module: Module, one: Function) -> Variable:
    address = Stored(Const(one.address + module.bias, Machine.U64), is_sure=True)
    return Variable(one.name, type_of(_function_type(module, one)), address)


def _function_type(module: Module, one: Function) -> dwarf.Type:
    scopes = module.image.scopes
    entry = module.image.units.entry(one.entry)
    if entry is None or not one.file:
        return made.code()  # assembly, which says nothing of what it takes
    takes = tuple(
        scopes.type(child.type) for child in entry.children if child.tag == dw.TAG_PARAMETER
    )
    return made.function(entry, scopes.type(entry.type), takes)
