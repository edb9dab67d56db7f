"""Tracks the binaries that the program has loaded, and finds lines and functions in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import capstone
from msgspec.structs import replace

from debugger.backends.inprocess.engine.engine import Engine
from debugger.backends.inprocess.engine.engine_events import EngineModule as Mapped
from debugger.backends.inprocess.thrown_exceptions import FUNCTIONS, PANIC
from debugger.backends.inprocess.tracing.trace_targets import (
    defines_name,
    is_of_system,
    match_functions,
)
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, BreakpointSpec
from debugger.model.location import (
    NO_FUNCTION,
    is_pattern,
    match_paths,
    near_names,
    split_arguments,
)
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.function_index import DebugFunction
from debugger.symbols.dwarf.line_table import LineMatch
from debugger.symbols.dwarf.scope_variables import VariableRole
from debugger.symbols.dwarf.unwinding import LoadedBinaries, LoadedBinary

# A function is decoded from its beginning, to find where instructions begin: this bounds the
# work.
_LISTED_MAX = 4  # searched files that are named
_FUNCTION_MAX = 1 << 20
_START_SIZE = 64


async def instruction_start(address: int, module: LoadedBinary, engine: Engine) -> int:
    """Return where the instruction at an address begins, as far as its function is known."""
    symbol = module.image.symbol_at(address - module.load_bias)
    if symbol is None or not symbol.is_function:
        return address
    start = symbol.address + module.load_bias
    if not 0 < address - start < _FUNCTION_MAX:
        return address
    code = await engine.read_memory(start, address - start + 16)
    # From the function's beginning on: x86 instructions cannot be decoded backwards.
    for at, size, _, _ in _make_decoder().disasm_lite(code, start):
        if at <= address < at + size:
            return int(at)
    return address


def find_main(module: LoadedBinary) -> int | None:
    """Find `main` by the program's entry code; None where that is not as usual.

    The entry code passes the address of `main` to the C library in rdi (System V ABI, AMD64,
    3.2.3).
    """
    binary = module.image.binary
    entry = binary.header.entry
    code = binary.read_at(entry, _START_SIZE)
    found = None
    # crt1.o: `lea rdi, [rip+main]` in a PIE, `mov rdi, main` in others, up to the call of
    # __libc_start_main. The last write before that call wins.
    for at, size, name, text in _make_decoder().disasm_lite(code or b"", entry):
        if name == "call":
            break
        target, _, value = text.partition(", ")
        if target not in {"rdi", "edi"}:
            continue
        if name == "lea" and value.startswith("[rip + 0x"):
            found = at + size + int(value[len("[rip + ") : -1], 16)
        elif name == "lea" and value.startswith("[rip - 0x"):
            found = at + size - int(value[len("[rip - ") : -1], 16)
        elif name in {"mov", "movabs"} and value.startswith("0x"):
            found = int(value, 16)
    return found


def _make_decoder() -> capstone.Cs:
    return capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)


# The agent is mapped as a memfd; Frida hides it from its own list, the loader's events may
# not.
_OURS = ("frida-agent", "memfd:")
_PARTS_OF_A_CRATE = 2
PATTERN_MAX = 200  # functions that one breakpoint stops in


@dataclass(frozen=True, slots=True)
class BreakpointAddress:
    """Describes one address of a breakpoint, as the program runs it."""

    address: int
    module: LoadedBinary

    @property
    def link_address(self) -> int:
        """The address in the binary itself."""
        return self.address - self.module.load_bias


class LoadedProgram:
    """Knows the binaries of one process; each is opened once, and read on demand."""

    def __init__(self, pid: int, cache: Path | None) -> None:
        self._exe = f"/proc/{pid}/exe"
        self._cache = cache
        self._images: dict[str, BinaryImage | None] = {}
        self._loaded: dict[int, LoadedBinary] = {}
        self.modules = LoadedBinaries(())
        self.main: LoadedBinary | None = None

    def load_modules(self, mapped: Iterable[Mapped]) -> list[LoadedBinary]:
        """Note mapped binaries; return those that are new and can be read."""
        new = []
        for one in mapped:
            known = self._loaded.get(one.base)
            # The list of modules and the events of the loader may name the same one.
            if known is not None and known.end == one.base + one.size:
                continue
            image = self._open_image(one)
            if image is None:
                continue
            module = LoadedBinary(image, one.base, one.base + one.size)
            # What was mapped at these addresses before has been unmapped without an event.
            self._loaded = {
                base: other
                for base, other in self._loaded.items()
                if other.end <= module.base or module.end <= base
            }
            self._loaded[module.base] = module
            if self.main is None and _is_same(one.path, self._exe):
                self.main = module
            new.append(module)
        if new:
            self.modules = LoadedBinaries(self._loaded.values())
        return new

    def unload_module(self, base: int) -> None:
        """Note that a binary was unmapped; its file is read anew when it is loaded again."""
        gone = self._loaded.pop(base, None)
        if gone is not None:
            self._images = {path: one for path, one in self._images.items() if one != gone.image}
            self.modules = LoadedBinaries(self._loaded.values())

    def _open_image(self, mapped: Mapped) -> BinaryImage | None:
        if any(word in mapped.path for word in _OURS):
            return None
        if mapped.path not in self._images:
            # A program that was rebuilt since it began has its old file at /proc/PID/exe
            # alone.
            is_main = self.main is None and not self._images
            is_gone = is_main and not _is_same(mapped.path, self._exe)
            try:
                image = BinaryImage(self._exe if is_gone else mapped.path, cache=self._cache)
            except (DebuggerError, OSError):
                image = None  # the kernel's own, or no file any more
            self._images[mapped.path] = image
        return self._images[mapped.path]

    def close(self) -> None:
        """Close the images of the binaries."""
        for image in self._images.values():
            if image is not None:
                image.close()

    # --- addresses ---

    def breakpoint_addresses(
        self, spec: BreakpointSpec, modules: Iterable[LoadedBinary]
    ) -> list[BreakpointAddress]:
        """Find all addresses of a line or a function in these binaries."""
        if spec.catch is not None:
            return self._catch_addresses(spec.catch, modules)
        if spec.function is not None:
            return self._function_addresses(spec, list(modules))
        assert spec.file is not None
        assert spec.line is not None
        found = []
        for module in modules:
            if module.image.has_debug:
                known = module.image.lines.find_line(spec.file, spec.line)
                found += [
                    BreakpointAddress(one.address + module.load_bias, module)
                    for one in known.locations
                ]
        return found

    def _catch_addresses(
        self, word: str, modules: Iterable[LoadedBinary]
    ) -> list[BreakpointAddress]:
        name = FUNCTIONS[word]
        # The C++ runtime's functions have C linkage: one name, whatever the compiler.
        if word != PANIC:
            return self._symbol_addresses(name, modules)
        # Rust mangles it, in three ways so far: all of them write a name as its length and
        # its letters.
        mangled = f"{len(name)}{name}"
        return [
            BreakpointAddress(one.address + module.load_bias, module)
            for module in modules
            for one in module.image.binary.read_symbols()
            if one.is_function and (one.name == name or mangled in one.name)
        ]

    @staticmethod
    def _symbol_addresses(name: str, modules: Iterable[LoadedBinary]) -> list[BreakpointAddress]:
        """Find the beginnings of functions, with their arguments still in registers."""
        return [
            BreakpointAddress(one.address + module.load_bias, module)
            for module in modules
            for one in module.image.symbols.find_by_name(name)
            if one.is_function
        ]

    def _function_addresses(
        self, spec: BreakpointSpec, modules: list[LoadedBinary]
    ) -> list[BreakpointAddress]:
        """Find where a function begins: one of the program's own, else one of the system's."""
        name = spec.function or ""
        if is_pattern(name):
            return self._pattern_addresses(name, modules)
        name, given = split_arguments(name)
        # args[n] is read where the arguments are known for sure, other breakpoints stand
        # behind the prologue.
        asks_arguments = any("args[" in text for text in (spec.condition, spec.log) if text)
        for is_system in (False, True):
            group = [
                one for one in modules if is_of_system(one) is is_system and defines_name(one, name)
            ]
            found = [
                BreakpointAddress(
                    (_argument_address if asks_arguments else _body_address)(one, module), module
                )
                for module in group
                if module.image.has_debug
                for one in module.image.functions.find_by_name(name)
                if (given is None or _argument_types(one, module) == given)
                and (spec.file is None or match_paths(Path(spec.file).name, [one.file]))
            ]
            # A name of the program's own hides the system's, even where its function is in a
            # library that was loaded earlier, or is inlined everywhere.
            if found or any(
                self._has_function(name, one) for one in self._searched_modules(modules)
            ):
                return found
            if given is not None:
                continue  # a symbol says nothing of arguments
            for module in sorted(group, key=lambda one: one is not self.main):
                found = [
                    BreakpointAddress(module.image.body_of(one) + module.load_bias, module)
                    for one in module.image.symbols.find_by_name(name)
                    if one.is_function
                ]
                if found:
                    return found  # a library's function of the same name is another
        return []

    @staticmethod
    def _pattern_addresses(pattern: str, modules: list[LoadedBinary]) -> list[BreakpointAddress]:
        """Find the beginnings of functions that match a pattern, up to PATTERN_MAX."""
        return [
            BreakpointAddress(
                (one.function.body + one.module.load_bias) if one.function else one.address,
                one.module,
            )
            for one in match_functions(pattern, modules, PATTERN_MAX).targets
        ]

    def _searched_modules(self, modules: list[LoadedBinary]) -> list[LoadedBinary]:
        """List the binaries that were searched before."""
        return [one for one in self.modules if one not in modules]

    @staticmethod
    def _has_function(name: str, module: LoadedBinary) -> bool:
        if not defines_name(module, name):
            return False
        if module.image.has_debug and module.image.functions.find_by_name(name):
            return True
        return any(one.is_function for one in module.image.symbols.find_by_name(name))

    def main_addresses(self) -> list[BreakpointAddress]:
        """Find where the program's own code begins, by its symbols or by the entry code."""
        module = self.main
        if module is None:
            return []
        # From the surest to the last resort: debug information, symbols, the entry code of a
        # stripped program.
        found = self._main_addresses(module) if module.image.has_debug else []
        if not found:
            mains = [one for one in module.image.symbols.find_by_name("main") if one.is_function]
            found = [module.image.body_of(one) for one in mains]
        if not found:
            at = find_main(module)
            found = [at] if at is not None else []
        return [BreakpointAddress(at + module.load_bias, module) for at in found]

    @staticmethod
    def _main_addresses(module: LoadedBinary) -> list[int]:
        known = [one for one in module.image.functions.find_by_name("main") if not one.is_inlined]
        plain = [one.body for one in known if one.name == "main"]
        # Rust's own is `crate::main`; the C function `main` is the runtime's, and only calls
        # it.
        of_crate = [one.body for one in known if len(one.name.split("::")) == _PARTS_OF_A_CRATE]
        return plain or of_crate

    def line_of(self, place: BreakpointAddress) -> tuple[str, int] | None:
        """Return the file and line of an address, where they are known."""
        image = place.module.image
        found = image.lines.line_at(place.link_address) if image.has_debug else None
        return (found.file, found.line) if found is not None and found.line else None

    # --- reasons ---

    def explain_unbound(self, spec: BreakpointSpec) -> BoundBreakpoint:
        """Say why a breakpoint has no address, with the nearest lines or names that have one."""
        if spec.catch is not None:
            why = f"the program has no {FUNCTIONS[spec.catch]} yet"
            return BoundBreakpoint(verified=False, why=why)
        if spec.function is not None:
            return self._why_function(spec.function)
        if spec.file is None or spec.line is None:
            return BoundBreakpoint(
                verified=False, address=spec.address, why=f"no code at {spec.address}"
            )
        unbound = BoundBreakpoint(verified=False, file=spec.file, line=spec.line)
        name = Path(spec.file).name
        found = [self._find_line(spec, one) for one in self.modules if one.image.has_debug]
        if not self._has_debug:
            why = "the program has no debug information: compile it with -g"
            return replace(unbound, why=why)
        near = next((one.nearest for one in found if one.nearest), ())
        if not near:
            return replace(unbound, why=f"no such file in the program: {name}")
        return replace(unbound, why=f"no code at {name}:{spec.line}", nearest_lines=near)

    @staticmethod
    def _find_line(spec: BreakpointSpec, module: LoadedBinary) -> LineMatch:
        return module.image.lines.find_line(spec.file or "", spec.line or 0)

    def _why_function(self, name: str) -> BoundBreakpoint:
        why = f"{NO_FUNCTION} {name} in the program{self._searched_text()}"
        if not self._has_debug:
            why += ", which has no debug information: compile it with -g"
        near: tuple[str, ...] = ()
        if self.main is not None:
            image = self.main.image
            near = (
                image.functions.near_names(name)
                if image.has_debug
                else near_names(name, image.symbols.function_names)
            )
        return BoundBreakpoint(verified=False, why=why, near_names=near)

    def _searched_text(self) -> str:
        """Name the binaries in which a function was searched, the program first."""
        paths = {id(image): path for path, image in self._images.items() if image is not None}
        modules = sorted(self.modules, key=lambda one: one is not self.main)
        names = [Path(paths[id(one.image)]).name for one in modules if id(one.image) in paths]
        if not names:
            return ""
        more = ", …" if len(names) > _LISTED_MAX else ""
        return f" ({', '.join(names[:_LISTED_MAX])}{more})"

    @property
    def _has_debug(self) -> bool:
        return self.main is None or self.main.image.has_debug


def _body_address(function: DebugFunction, module: LoadedBinary) -> int:
    return function.body + module.load_bias


def _argument_address(function: DebugFunction, module: LoadedBinary) -> int:
    """Return where a function's arguments are known: behind its prologue, else at its entry."""
    image = module.image

    # Optimised code keeps an argument in its register for the first instructions only, -O0
    # code stores it in the prologue: whichever address knows more of them is taken.
    def missing(address: int) -> int:
        known = image.scopes.local_variables(function.entry, address)
        return sum(
            not one.place and one.constant is None
            for one in known
            if one.role is VariableRole.ARGUMENT
        )

    at_entry = missing(function.address) < missing(function.body)
    return (function.address if at_entry else function.body) + module.load_bias


def _argument_types(function: DebugFunction, module: LoadedBinary) -> str:
    """Write the types of a function's arguments without blanks."""
    known = module.image.scopes.local_variables(function.entry, function.address)
    names = [
        one.type.name for one in known if one.role is VariableRole.ARGUMENT and one.name != "this"
    ]
    return ",".join("".join(name.split()) for name in names)


def _is_same(path: str, other: str) -> bool:
    try:
        return Path(path).samefile(other)
    except OSError:
        return False
