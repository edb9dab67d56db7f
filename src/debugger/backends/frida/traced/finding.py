"""Finds the functions that a pattern means, or explains why there are none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from debugger.backends.frida.dwarf.functions import Function
from debugger.backends.frida.dwarf.symbols import readable
from debugger.backends.frida.dwarf.unwind import Module
from debugger.backends.frida.owned import is_of_system
from debugger.core.locate import near_names

_STAR: Final = r"(?:(?!::).)*"
_WILD: Final = re.compile(r"(\*\*|\*|\?)")
_LIBRARY: Final = re.compile(r"([\w.+-]+)!(.+)")
USERCODE: Final = "@usercode"
# Where compilers and package tools keep what they bring along.
_SYSTEM_SOURCES: Final = ("/usr/", "/rustc/", "/lib/")
_FETCHED_SOURCES: Final = ("/.rustup/", "/.cargo/registry/", "/rustlib/src/")
# So many names are read for what was meant.
_NAMES_MAX: Final = 50_000


@dataclass(frozen=True, slots=True)
class Target:
    """A function that can be traced; `function` is None where only its symbol is known."""

    name: str
    address: int
    module: Module
    function: Function | None = None


@dataclass(slots=True)
class Matched:
    """What a pattern means: at most as many as were asked for, and how many more there are."""

    targets: list[Target] = field(default_factory=list)
    left_out: int = 0
    why: str | None = None
    near_names: tuple[str, ...] = ()


def match(pattern: str, modules: Iterable[Module], most: int) -> Matched:
    """Find the functions of a pattern, by debug information, else by symbols.

    In the program and its own libraries, and if they have none, of a whole name or `@file:` in the
    system's; of `libz!in*` in the libraries whose files' names begin so. `@usercode` in a pattern
    leaves out what comes from the system, templates of its headers too.
    """
    if USERCODE in pattern.split():
        return _users(" ".join(one for one in pattern.split() if one != USERCODE), modules, most)
    modules = list(modules)
    pattern, named = _of_libraries(pattern, modules)
    own = named or own_code(modules)
    is_wide = _WILD.search(pattern) is not None and "@file:" not in pattern
    system = [one for one in modules if is_of_system(one)] if not named and not is_wide else []
    found = Matched()
    inlined = 0
    for group in (own, system):
        for module in group:
            if module.image.has_debug:
                inlined += _by_debug(pattern, module, most, found)
        if not found.targets and not inlined and "@file:" not in pattern:
            for module in group:
                _by_symbols(pattern, module, most, found)
        if found.targets or inlined:
            break
    if not found.targets:
        _explain(pattern, own, inlined, found)
    return found


def _of_libraries(pattern: str, modules: Iterable[Module]) -> tuple[str, list[Module]]:
    """Return a pattern without the libraries that it names, and these."""
    parts = _LIBRARY.fullmatch(pattern)
    if parts is None:
        return pattern, []
    meant = [one for one in modules if one.image.binary.path.name.startswith(parts[1])]
    return (parts[2], meant) if meant else (pattern, [])


def own_code(modules: Iterable[Module]) -> list[Module]:
    """List the binaries that are none of the system's."""
    return [one for one in modules if not is_of_system(one)]


def _users(words: str, modules: Iterable[Module], most: int) -> Matched:
    """Find the functions of the user's own sources; of one file has no sources, all that it has."""
    found = Matched()
    own = own_code(modules)
    known: set[int] = set()
    inlined = 0
    for module in own:
        if not module.image.has_debug:
            _by_symbols(words or "**", module, most, found)
            continue
        for one in module.image.functions.matching(words or "**"):
            address = one.address + module.bias
            if _is_system_file(one.file) or address in known:
                continue
            if one.is_inlined:
                inlined += 1
                continue
            known.add(address)
            _add(Target(one.name, address, module, one), most, found)
    if not found.targets:
        _explain(words or "**", own, inlined, found)
    return found


def _is_system_file(path: str) -> bool:
    return path.startswith(_SYSTEM_SOURCES) or any(part in path for part in _FETCHED_SOURCES)


def _by_debug(pattern: str, module: Module, most: int, found: Matched) -> int:
    functions = module.image.functions
    if "@file:" in pattern:
        fitting = functions.matching(pattern)
    elif _WILD.search(pattern):
        whole = _glob(pattern)
        names = sorted(one for one in functions.names if _fits(whole, one))
        room = max(most - len(found.targets), 0)
        # Many names are counted, and only so many looked at.
        found.left_out += max(len(names) - room, 0)
        fitting = tuple(
            one for name in names[:room] for one in functions.named(name) if one.name == name
        )
    else:
        fitting = functions.named(pattern)
    inlined = {one.name for one in fitting if one.is_inlined}
    known = {one.address for one in found.targets}
    for one in fitting:
        address = one.address + module.bias
        if one.is_inlined or address in known:
            continue
        known.add(address)
        _add(Target(one.name, address, module, one), most, found)
    return len(inlined)


def _by_symbols(pattern: str, module: Module, most: int, found: Matched) -> None:
    whole = _glob(pattern)
    known = {one.address for one in found.targets}
    for one in module.image.binary.symbols():
        if not one.is_function or one.is_indirect or not one.address:
            continue
        name = readable(one.name)
        address = one.address + module.bias
        if address in known or not (_fits(whole, name) or whole.fullmatch(one.name)):
            continue
        known.add(address)
        _add(Target(name, address, module), most, found)


def _add(target: Target, most: int, found: Matched) -> None:
    if len(found.targets) < most:
        found.targets.append(target)
    else:
        found.left_out += 1


def _explain(pattern: str, modules: Sequence[Module], inlined: int, found: Matched) -> None:
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
        near += one.image.functions.near(word)
    if not near and not with_debug:
        near += near_names(word, _symbol_names(modules))
    found.near_names = tuple(dict.fromkeys(near))[:4]


def _symbol_names(modules: Sequence[Module]) -> Iterable[str]:
    names = (name for one in modules for name in one.image.symbols.names)
    return [name for _, name in zip(range(_NAMES_MAX), names, strict=False)]


def _fits(whole: re.Pattern[str], name: str) -> bool:
    return whole.fullmatch(name) is not None or (
        "<" in name and whole.fullmatch(re.sub(r"<[^<>]*>", "", name)) is not None
    )


def _glob(pattern: str) -> re.Pattern[str]:
    meant = {"**": ".*", "*": _STAR, "?": "."}
    parts = _WILD.split(pattern.removeprefix("::"))
    return re.compile("".join(meant.get(one, re.escape(one)) for one in parts))
