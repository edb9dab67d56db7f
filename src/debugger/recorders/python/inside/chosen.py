"""Distinguishes the program's own code, and the requested part of it, from other code."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

# The recorder's own code, of which no function is the program's.
_HERE = os.path.dirname(globals()["__file__"]) + os.sep  # noqa: PTH120 - pathlib is slow to import
_LIBRARIES = ("site-packages", "dist-packages")
_NO_CALLS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_OPTIMIZED = 0x1
# What reads bytecode, and would stumble over ours.
_READERS = frozenset({"co_code", "co_consts", "marshal", "numba"})
GENERATES = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators


def lines_of(code: CodeType) -> frozenset[int]:
    """Return the lines with instructions of a code object."""
    if hasattr(code, "co_lines"):
        return frozenset(line for _, _, line in code.co_lines() if line)
    found, line = {code.co_firstlineno}, code.co_firstlineno
    for step in code.co_lnotab[1::2]:  # objects/lnotab_notes.txt: pairs of (bytes, signed lines)
        line += step - 256 if step > 127 else step  # noqa: PLR2004 - a signed byte
        found.add(line)
    return frozenset(found)


def line_at(code: CodeType, unit: int) -> int:
    """Return the line of an instruction; 0 for none."""
    at = 2 * unit
    found = (line for start, end, line in code.co_lines() if start <= at < end)
    return next(found, None) or 0


def own_lines(code: CodeType) -> frozenset[int]:
    """Return the lines of a function without its definition line, which runs outside of it."""
    lines = lines_of(code)
    if code.co_name == "<module>":
        return lines
    return lines - {code.co_firstlineno} or lines


def codes_in(code: CodeType) -> list[CodeType]:
    """Return a code object and all code objects in it."""
    found = [code]
    for one in code.co_consts:
        if type(one) is type(code):
            found += codes_in(one)
    return found


def all_lines(code: CodeType) -> set[int]:
    """Return the lines of a code object and of all code objects in it."""
    return {line for one in codes_in(code) for line in lines_of(one)}


def reads_bytecode(code: CodeType) -> bool:
    """Return whether a module reads the bytecode of functions."""
    return any(not _READERS.isdisjoint(one.co_names) for one in codes_in(code))


def matches(pattern: str, name: str) -> bool:
    """Return whether a name matches a pattern, in which * stands for anything."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == name
    if not name.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        at = name.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return len(name) - at >= len(rest[-1]) and name.endswith(rest[-1])


class CodeChooser:
    """Decides by the order whether code is recorded; decisions are cached by file."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._here = os.getcwd()  # noqa: PTH109 - pathlib is slow to import
        self._roots = [self._absolute_path(root) for root in order["roots"]]
        self._places = order["functions"]
        named = [*order["functions"], *order.get("probes", ())]
        self._anywhere = [one["name"] for one in named if one.get("is_anywhere")]
        # Files of code that was made from a text: `<generated>:2`.
        self._made = {one["file"] for one in named if one.get("file", "")[:1] == "<"}
        self._members: dict[CodeType, frozenset[str]] = {}
        self._library = os.path.dirname(os.path.realpath(os.__file__)) + os.sep  # noqa: PTH120
        out = [os.__file__, *order["left_out"]]
        self._out = [
            self._absolute_path(os.path.dirname(out[0])),  # noqa: PTH120
            *map(self._absolute_path, out[1:]),
        ]
        for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix}:
            # With a system Python these prefixes hold far more than Python.
            if prefix not in ("/", "/usr"):
                self._out.append(self._absolute_path(prefix))
        self._files: dict[str, str] = {}  # as the code names them, to their paths; "" is not ours
        words = getattr(sys, "orig_argv", ())
        # What multiprocessing starts its processes with is not the user's code.
        is_spawned = any(word.startswith("from multiprocessing.") for word in words)
        self._is_inline = getattr(sys, "argv", [])[:1] == ["-c"] and not is_spawned

    def _absolute_path(self, path: str) -> str:
        return os.path.realpath(os.path.join(self._here, path))  # noqa: PTH118

    def file(self, name: str) -> str:
        """Return the path of a file of the program's own code; "" for any other."""
        found = self._files.get(name)
        if found is None:
            found = self._files[name] = self._find_own_file(name)
        return found

    def _find_own_file(self, name: str) -> str:
        if name.startswith("<"):
            return name if name == "<string>" and self._is_inline else ""
        # A code object has the name by which its file was found, which may be relative.
        path = self._absolute_path(name)
        if any(part in _LIBRARIES for part in path.split(os.sep)):  # noqa: PTH206 - slow to import
            return ""
        # The innermost folder decides: a virtual environment lies within the project, and a project
        # may lie within an excluded folder.
        ours = max((len(root) for root in self._roots if _is_below(path, root)), default=-1)
        out = max((len(root) for root in self._out if _is_below(path, root)), default=-1)
        return path if ours > out else ""

    def is_ours(self, code: CodeType) -> bool:
        """Return whether code is a function, or a module body, of the program's own."""
        name = code.co_name
        if name in _NO_CALLS:
            return False
        if not self.file(code.co_filename):
            is_made = code.co_filename in self._made and bool(code.co_flags & _OPTIMIZED)
            return is_made or self.is_named_anywhere(code, self._anywhere)
        # Class bodies are neither, and their lines run once, at the definition.
        return bool(code.co_flags & _OPTIMIZED) or name == "<module>"

    def is_named_anywhere(self, code: CodeType, names: list[str]) -> bool:
        """Return whether a function outside of the program's own files has one of the given names.

        Python's own library only by a name with its module's, such as `json.decoder.scan`.
        """
        if not names or not code.co_flags & _OPTIMIZED:
            return False
        file, name = code.co_filename, getattr(code, "co_qualname", code.co_name)
        if file.startswith(_HERE):
            return False
        path = os.path.splitext(file)[0].replace(os.sep, ".")  # noqa: PTH122 - slow to import
        path = path.removesuffix(".__init__")  # a package
        full = [*path.split("."), *name.replace("<locals>.", "").split(".")]
        for one in names:
            parts = one.split(".")
            is_fitting = full[-len(parts) :] == parts
            if is_fitting and (len(parts) > 1 or not self._is_library(file)):
                return True
        return self._is_member(code, names)

    def _is_member(self, code: CodeType, names: list[str]) -> bool:
        """Return whether code that was made from a text is a method of a name: `Point.__init__`.

        What dataclasses, attrs and namedtuples make does not know its class.
        """
        name = code.co_name
        fitting = [
            one
            for one in names
            if "." in one and (name in (one.rpartition(".")[2], "<lambda>"))  # a namedtuple's
        ]
        if code.co_filename[:1] != "<" or not fitting:
            return False
        known = self._members.get(code)
        if known is None:
            known = self._members[code] = frozenset(
                one for one in fitting if _has_method(one.split("."), code)
            )
        return any(one in known for one in fitting)

    def _is_library(self, file: str) -> bool:
        if file.startswith("<frozen"):
            return True
        path = self._absolute_path(file)
        is_installed = any(part in _LIBRARIES for part in path.split(os.sep))  # noqa: PTH206
        return path.startswith(self._library) and not is_installed

    def shown_file(self, name: str) -> str:
        """Return the path of a file, or the name of generated code."""
        return self.file(name) or (name if name[:1] == "<" else self._absolute_path(name))

    def is_requested(self, code: CodeType, name: str) -> bool:
        """Return whether the order names a function of the program's own."""
        return not self._places or any(self._matches_place(one, code, name) for one in self._places)

    def _matches_place(  # noqa: PLR0911 - one for each way to name it
        self, place: dict[str, Any], code: CodeType, name: str
    ) -> bool:
        pattern, file, line = place.get("name"), place.get("file") or "", place.get("line")
        if place.get("spots") and is_spot(place["spots"], code, self.file(code.co_filename)):
            return True
        if place.get("is_anywhere") and self.is_named_anywhere(code, [place["name"]]):
            return True
        if file[:1] == "<" and code.co_filename != file:
            return False
        is_path = file and file[:1] != "<"
        if is_path and not f"/{self.file(code.co_filename)}".endswith(f"/{file.lstrip('/')}"):
            return False
        if line and line not in lines_of(code):
            return False
        if not pattern:
            return bool(file)
        plain = name.replace("<locals>.", "")
        return (
            matches(pattern, plain)
            or matches(pattern, code.co_name)
            or (plain.endswith(f".{pattern}"))
        )


def is_spot(spots: list[dict[str, Any]], code: CodeType, file: str) -> bool:
    """Return whether code is one of the functions that a name means by the sources."""
    return any(
        one["line"] == code.co_firstlineno
        and one["code"] == code.co_name
        and os.path.realpath(one["file"]) == file
        for one in spots
    )


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _has_method(parts: list[str], code: CodeType) -> bool:
    """Return whether a class of a loaded module has a method with this very code."""
    for module in list(sys.modules.values()):
        owner = vars(module).get(parts[0]) if type(module) is type(sys) else None
        for part in parts[1:-1]:
            owner = _members_of(owner).get(part)
        if owner is not None and _code_of(_members_of(owner).get(parts[-1])) is code:
            return True
    return False


def _members_of(kind: Any) -> Any:
    """Return the members of a class, without running code of the program; none of anything else."""
    return type.__dict__["__dict__"].__get__(kind) if isinstance(kind, type) else {}


def _code_of(member: Any) -> CodeType | None:
    inner = getattr(member, "__func__", member) if id(type(member)) in _WRAPPED else member
    return inner.__code__ if type(inner) is type(name_of) else None


def _method_name(code: CodeType, kind: type) -> str | None:
    """Return the name of a class's method, of which the code was made from a text."""
    for base in type.__dict__["__mro__"].__get__(kind):
        for name, member in list(_members_of(base).items()):
            if _code_of(member) is code:
                return f"{type.__dict__['__name__'].__get__(base)}.{name}"
    return None


def name_of(code: CodeType, arguments: dict[str, Any]) -> str:
    """Return the full name of a function; before Python 3.11 a method's class is searched for."""
    name = getattr(code, "co_qualname", None)
    if code.co_filename[:1] == "<" and arguments:
        first = next(iter(arguments.values()))
        made = _method_name(code, first if isinstance(first, type) else type(first))
        if made is not None:
            return made
    if name:
        return str(name)
    for first in list(arguments.values())[:1]:
        kind = first if type(first) is type else type(first)
        # By the type's own descriptors, since `__mro__` of a metaclass may run code of the program.
        for base in type.__dict__["__mro__"].__get__(kind):
            # The class whose function has this very code, and not one that overrides it.
            member = type.__dict__["__dict__"].__get__(base).get(code.co_name)
            inner = getattr(member, "__func__", member) if id(type(member)) in _WRAPPED else member
            if getattr(inner, "__code__", None) is code and type(inner) is type(name_of):
                return f"{type.__dict__['__name__'].__get__(base)}.{code.co_name}"
    return code.co_name


_WRAPPED = frozenset(map(id, (classmethod, staticmethod)))
