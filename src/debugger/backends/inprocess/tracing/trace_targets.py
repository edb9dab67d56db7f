"""Finds the functions that a pattern matches, and tells the program's own binaries from others."""

from __future__ import annotations

import re
import struct
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from debugger.model.location import near_names
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.elf_file import demangle
from debugger.symbols.dwarf.function_index import DebugFunction, name_components
from debugger.symbols.dwarf.unwinding import LoadedBinary

_STAR: Final = r"(?:(?!::).)*"
_WILD: Final = re.compile(r"(\*\*|\*|\?)")
_LIBRARY: Final = re.compile(r"([\w.+-]+)!(.+)")
USERCODE: Final = "@usercode"
# Where compilers and package tools put the sources that they bring along.
_SYSTEM_SOURCES: Final = ("/usr/", "/rustc/", "/rust/deps/", "/lib/")
_FETCHED_SOURCES: Final = ("/.rustup/", "/.cargo/registry/", "/rustlib/src/")
# The most names that are searched for suggestions.
_NAMES_MAX: Final = 50_000
_SYSTEM_FOLDERS: Final = ("/lib", "/usr/lib")
_SYMBOL: Final = struct.Struct("<I2xH16x")  # its name, and the section that defines it
_given: weakref.WeakKeyDictionary[BinaryImage, frozenset[bytes]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class TraceTarget:
    """Describes a function that can be traced; `function` is None where only a symbol is known."""

    name: str
    address: int
    module: LoadedBinary
    function: DebugFunction | None = None


@dataclass(slots=True)
class MatchedFunctions:
    """Holds the functions that a pattern matches, up to a limit, and the number of the others."""

    targets: list[TraceTarget] = field(default_factory=list)
    left_out: int = 0
    why: str | None = None
    near_names: tuple[str, ...] = ()


def match_functions(pattern: str, modules: Iterable[LoadedBinary], most: int) -> MatchedFunctions:
    """Find the functions that a pattern matches, by debug information, else by symbols.

    They are searched in the program and its own libraries; if those have none, a whole name or
    `@file:` in the system's; `libz!in*` in the libraries whose file names begin so. `@usercode` in
    a pattern excludes what comes from the system, templates of its headers too.
    """
    if USERCODE in pattern.split():
        return _user_functions(
            " ".join(one for one in pattern.split() if one != USERCODE), modules, most
        )
    modules = list(modules)
    pattern, named = _of_libraries(pattern, modules)
    own = named or own_code(modules)
    # `mem*` in libc would be hundreds of functions, some of which the agent itself calls.
    is_wide = _WILD.search(pattern) is not None and "@file:" not in pattern
    system = [one for one in modules if is_of_system(one)] if not named and not is_wide else []
    found = MatchedFunctions()
    inlined = 0
    for group in (own, system):
        for module in group:
            if module.image.has_debug:
                inlined += _by_debug(pattern, module, most, found)
        # Symbols only where the debug information knows nothing: they have no files, and no
        # arguments.
        if not found.targets and not inlined and "@file:" not in pattern:
            for module in group:
                _by_symbols(pattern, module, most, found)
        if found.targets or inlined:
            break
    if not found.targets:
        _explain_no_match(pattern, own, inlined, found)
    return found


def _of_libraries(pattern: str, modules: Iterable[LoadedBinary]) -> tuple[str, list[LoadedBinary]]:
    """Return a pattern without the libraries that it names, and these."""
    parts = _LIBRARY.fullmatch(pattern)
    if parts is None:
        return pattern, []
    libraries = [one for one in modules if one.image.binary.path.name.startswith(parts[1])]
    return (parts[2], libraries) if libraries else (pattern, [])


def own_code(modules: Iterable[LoadedBinary]) -> list[LoadedBinary]:
    """List the binaries that are none of the system's."""
    return [one for one in modules if not is_of_system(one)]


def _user_functions(words: str, modules: Iterable[LoadedBinary], most: int) -> MatchedFunctions:
    """Find the functions of the user's own sources; of a binary without debug information, all."""
    found = MatchedFunctions()
    own = own_code(modules)
    known: set[int] = set()
    inlined = 0
    for module in own:
        if not module.image.has_debug:
            _by_symbols(words or "**", module, most, found)
            continue
        for one in module.image.functions.find_by_pattern(words or "**"):
            address = one.address + module.load_bias
            # By the file and not by the binary: templates of system headers are compiled into
            # the program.
            if _is_system_file(one.file) or address in known:
                continue
            if one.is_inlined:
                inlined += 1
                continue
            known.add(address)
            _add_target(TraceTarget(one.name, address, module, one), most, found)
    if not found.targets:
        _explain_no_match(words or "**", own, inlined, found)
    return found


def _is_system_file(path: str) -> bool:
    return path.startswith(_SYSTEM_SOURCES) or any(part in path for part in _FETCHED_SOURCES)


def _by_debug(pattern: str, module: LoadedBinary, most: int, found: MatchedFunctions) -> int:
    functions = module.image.functions
    if "@file:" in pattern:
        fitting = functions.find_by_pattern(pattern)
    elif _WILD.search(pattern):
        regex = _glob_pattern(pattern)
        names = sorted(one for one in functions.all_names if _pattern_matches(regex, one))
        room = max(most - len(found.targets), 0)
        # Many names are counted, and only so many looked at.
        found.left_out += max(len(names) - room, 0)
        fitting = tuple(
            one for name in names[:room] for one in functions.find_by_name(name) if one.name == name
        )
    else:
        fitting = functions.find_by_name(pattern)
    inlined = {one.name for one in fitting if one.is_inlined}
    known = {one.address for one in found.targets}
    for one in fitting:
        address = one.address + module.load_bias
        if one.is_inlined or address in known:
            continue
        known.add(address)
        _add_target(TraceTarget(one.name, address, module, one), most, found)
    return len(inlined)


def _by_symbols(pattern: str, module: LoadedBinary, most: int, found: MatchedFunctions) -> None:
    regex = _glob_pattern(pattern)
    known = {one.address for one in found.targets}
    for one in module.image.binary.read_symbols():
        if not one.is_function or one.is_indirect or not one.address:
            continue
        name = demangle(one.name)
        address = one.address + module.load_bias
        if address in known or not (_pattern_matches(regex, name) or regex.fullmatch(one.name)):
            continue
        known.add(address)
        _add_target(TraceTarget(name, address, module), most, found)


def _add_target(target: TraceTarget, most: int, found: MatchedFunctions) -> None:
    if len(found.targets) < most:
        found.targets.append(target)
    else:
        found.left_out += 1


def _explain_no_match(
    pattern: str, modules: Sequence[LoadedBinary], inlined: int, found: MatchedFunctions
) -> None:
    if inlined:
        found.why = "it is inlined wherever it is called, and has no code of its own to trace"
        return
    with_debug = [one for one in modules if one.image.has_debug]
    if "@file:" in pattern:
        path = pattern.partition("@file:")[2]
        files = [file for one in with_debug for file in one.image.lines.files]
        found.why = f"no function of a file {path} has code"
        by_name = {file.rpartition("/")[2]: None for file in files}
        found.near_names = near_names(path.rpartition("/")[2], by_name)
        return
    found.why = (
        "no function has such a name"
        if with_debug
        else "there is no debug information, and no symbol has such a name"
    )
    word = _WILD.sub("", pattern).strip(":") or pattern
    near: list[str] = []
    for one in with_debug:
        near += one.image.functions.near_names(word)
    if not near and not with_debug:
        near += near_names(word, _symbol_names(modules))
    found.near_names = tuple(dict.fromkeys(near))[:4]


def _symbol_names(modules: Sequence[LoadedBinary]) -> Iterable[str]:
    names = (name for one in modules for name in one.image.symbols.function_names)
    return [name for _, name in zip(range(_NAMES_MAX), names, strict=False)]


def _pattern_matches(regex: re.Pattern[str], name: str) -> bool:
    # `largest` matches `largest<int>`, too.
    return regex.fullmatch(name) is not None or (
        "<" in name and regex.fullmatch(re.sub(r"<[^<>]*>", "", name)) is not None
    )


def _glob_pattern(pattern: str) -> re.Pattern[str]:
    translations = {"**": ".*", "*": _STAR, "?": "."}
    parts = _WILD.split(pattern.removeprefix("::"))
    return re.compile("".join(translations.get(one, re.escape(one)) for one in parts))


def is_of_system(module: LoadedBinary) -> bool:
    """Return whether a binary lies where the system's libraries do."""
    return str(module.image.binary.path).startswith(_SYSTEM_FOLDERS)


def defines_name(module: LoadedBinary, name: str) -> bool:
    """Return whether an unqualified name may be of this binary.

    Internal names of a system library may be those of anything, so only its exports count.
    """
    if not is_of_system(module):
        return True
    last = name_components(name)[-1].partition("<")[0].encode()
    given = _given.get(module.image)
    if given is None:
        given = _given[module.image] = _exported_names(module.image)
    # As it is mangled, of C++.
    within = b"%d%s" % (len(last), last)
    return last in given or any(within in one for one in given)


def _exported_names(image: BinaryImage) -> frozenset[bytes]:
    texts = bytes(image.binary.read_section(".dynstr"))
    raw = bytes(image.binary.read_section(".dynsym"))
    entries = raw[: len(raw) // _SYMBOL.size * _SYMBOL.size]
    return frozenset(
        texts[name : texts.find(b"\0", name)]
        for name, section in _SYMBOL.iter_unpack(entries)
        if section
    )
