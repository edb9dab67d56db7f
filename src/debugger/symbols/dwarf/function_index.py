"""Finds a binary's functions by name or pattern, and the address where their code begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from debugger.model import location
from debugger.sources.function_names import choose_matches, last_part, split_name
from debugger.symbols.dwarf import code_spans
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.code_spans import CodeSpan
from debugger.symbols.dwarf.debug_cache import DebugCache
from debugger.symbols.dwarf.debug_entries import DebugUnit, DebugUnits, without_collector
from debugger.symbols.dwarf.lambda_names import find_lambdas
from debugger.symbols.dwarf.line_table import LineTable

# With more texts of one ending the search is no longer faster than reading all units.
_TEXTS_MAX = 48


def units_naming(units: DebugUnits, name: str, cache: DebugCache) -> list[int] | None:
    """List the units, by offset, that may have an entry of this name, or a template of it.

    Returns:
        The offsets, or None where that cannot be told.
    """
    # A name index of a large program costs seconds and much memory, and a first breakpoint
    # needs one name. So the name is searched as bytes: a unit refers to it by its offset in
    # .debug_str (four bytes somewhere in the unit's part of .debug_info), or has it inline. A
    # false match costs reading one unit more; units that keep names elsewhere (tables of
    # offsets, other units, .dwo files) are always included.
    known = {unit.offset: unit for unit in units}
    needles = _search_needles(units, name)
    if needles is None:
        return None
    found = set(
        cache.get_or_make("linked", list[int], lambda: _units_with_linked_names(known.values()))
    )
    info = units.sections["info"]
    for needle in needles:
        at = info.find(needle)
        while at >= 0:
            unit = units.unit_containing(at)
            if unit is None:
                at = info.find(needle, at + 1)
                continue
            found.add(unit.offset)
            # One match is enough for a unit: on to the next.
            at = info.find(needle, unit.end)
    return sorted(found)


def _search_needles(units: DebugUnits, name: str) -> list[bytes] | None:
    needles = [name.encode() + b"\0", name.encode() + b"<"]
    places = {place for one in needles for place in _find_places(units.sections["str"], one)}
    if len(places) > _TEXTS_MAX:
        return None
    return [*needles, *(place.to_bytes(4, "little") for place in places)]


def _find_places(texts: bytes, needle: bytes) -> Iterator[int]:
    at = texts.find(needle)
    count = 0
    while at >= 0 and count <= _TEXTS_MAX:
        yield at
        count += 1
        at = texts.find(needle, at + 1)


def _units_with_linked_names(units: Iterable[DebugUnit]) -> list[int]:
    """List the units whose names stand elsewhere: in a table, or in another unit."""
    return [
        unit.offset
        for unit in units
        if unit.skeleton is not None
        or unit.top_entry.has_attribute(dw.AT_STR_OFFSETS_BASE)
        or unit.abbreviations.has_form(dw.FORM_REF_ADDR)
    ]


_NEAR_MAX = 20_000  # names that are compared
# Where the sources of a compiler's and the system's libraries are.
_LIBRARIES = ("/rustc/", "/rust/deps/", "/usr/include/", "/usr/lib/", "library/")
_FILE = re.compile(r"@file:(\S+)")


@dataclass(frozen=True, slots=True)
class DebugFunction:
    """Describes a function, or an inlined copy of one; addresses are link-time.

    `body` is the address behind the prologue; `ranges` is all of its code.
    """

    name: str
    address: int
    body: int
    ranges: tuple[tuple[int, int], ...]
    file: str
    line: int
    entry: int
    is_inlined: bool = False
    linkage: str = ""
    is_lambda: bool = False  # of C++, found by its variable or the function around it


class FunctionIndex:
    """Finds the functions of one binary."""

    def __init__(
        self,
        units: DebugUnits,
        lines: LineTable,
        cache: DebugCache,
        symbols: Callable[[], Iterable[str]],
    ) -> None:
        self._symbols = symbols
        self._units = units
        self._lines = lines
        self._cache = cache

    @cached_property
    def _units_by_name(self) -> dict[str, list[int]]:
        """Map each plain name to the units that have it."""
        return self._cache.get_or_make("functions", dict[str, list[int]], self._read_names)

    def _read_names(self) -> dict[str, list[int]]:
        return self._names_in(unit.offset for unit in self._units)

    @cached_property
    def _by_last(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in self._units_by_name:
            parts = name_components(name)
            found.setdefault(without_arguments(parts[-1]), []).append(name)
        return found

    @property
    def all_names(self) -> Iterable[str]:
        """The qualified names of all functions that have code."""
        return self._units_by_name.keys()

    def find_by_name(self, name: str) -> tuple[DebugFunction, ...]:
        """Find functions by a name, or by its last parts; inlined copies come last.

        Where none has these parts at its end, parts that nobody types are left out: anonymous
        namespaces, the numbers of closures, and Rust's blocks without a name. A lambda of C++ is
        found by its variable, or as `lambda` of the function around it. The program's own
        functions hide those that the compiler's library has compiled into it: `add` of pointers.
        """
        requested = name_components(name.removeprefix("::"))
        last = without_arguments(requested[-1])
        # Once the index of all names is there (in memory or in the cache), it is faster; it
        # is built only for patterns and for questions about all names.
        units = self._units_naming(requested) if not self._is_indexed else None
        if units is None:
            known = {one: self._units_by_name[one] for one in self._by_last.get(last, [])}
        else:
            known = self._names_in(units)
        found = self._make_functions(
            {
                one: at
                for one, at in known.items()
                if _matches_components(name_components(one), requested)
            }
        )
        if not all(map(_is_of_library, found)):
            found = tuple(one for one in found if not _is_of_library(one))
        return (
            found
            or self._find_loosely(name)
            or self._find_joined(name)
            or find_lambdas(self, self._lines, requested)
        )

    def _find_joined(self, name: str) -> tuple[DebugFunction, ...]:
        """Find functions whose compiler joins the parts of a name by `__`, as Nim's and GNAT do.

        Nim's `square` of shop.nim is `square__shop_42`, Ada's `Shop.Fill` is `shop__fill`.
        """
        parts = split_name(name)
        needles = (f"{parts[-1]}__".encode(), f"__{parts[-1].lower()}\0".encode()) if parts else ()
        texts = self._units.sections["str"], self._units.sections["info"]
        if not any(text.find(needle) >= 0 for text in texts for needle in needles):
            return ()
        module = re.escape(parts[-2]) if len(parts) > 1 else r"\w+?"
        joined = re.escape("__".join(parts).lower())
        regex = re.compile(rf"{re.escape(parts[-1])}__{module}_u?\d+|(?:\w+__)?{joined}")
        some = {one: at for one, at in self._units_by_name.items() if regex.fullmatch(one)}
        return self._make_functions(some)

    def _find_loosely(self, name: str) -> tuple[DebugFunction, ...]:
        """Find functions whose name without its nameless parts ends in a name."""
        parts = split_name(name)
        words = [one for one in parts if one.isidentifier()]
        # Who names a template's types means no other instance.
        is_instance = any(without_arguments(one) != one for one in name_components(name))
        if not words or is_instance:
            return ()
        units = self._units_naming(words[-1:]) if not self._is_indexed else None
        known = self._names_in(units) if units is not None else self._units_by_name
        last = parts[-1].rstrip("}")
        some = {one: at for one, at in known.items() if last in one and last_part(one) == parts[-1]}
        return tuple(
            choose_matches(name, self._make_functions(some), lambda one: (_source_name(one), ""))
        )

    def _units_naming(self, parts: Iterable[str]) -> set[int] | None:
        """List the units that name every part of a name; None where that cannot be told."""
        found: set[int] | None = None
        for part in map(without_arguments, parts):
            # What has no name is only written as if it had one.
            if part.startswith("(anonymous"):
                continue
            units = units_naming(self._units, part, self._cache)
            if units is not None:
                found = set(units) if found is None else found & set(units)
        return found

    @property
    def _is_indexed(self) -> bool:
        return "_units_by_name" in self.__dict__ or self._cache.has_key("functions")

    def _names_in(self, units: Iterable[int]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        # Millions of entries refer to each other: the collector would traverse them again and
        # again.
        with without_collector():
            for unit in units:
                for name in {span.name for span in self._lines.unit_spans(unit) if not span.block}:
                    found.setdefault(name, []).append(unit)
        return found

    def find_by_pattern(self, pattern: str) -> tuple[DebugFunction, ...]:
        """Find functions by a pattern: `*` stops at `::`, `**` does not, `@file:` names files."""
        file = _FILE.search(pattern)
        words = _FILE.sub("", pattern).strip() or "**"
        regex = re.compile(_glob_pattern(words, r"(?:(?!::).)*"))

        def fits(name: str) -> bool:
            return words == "**" or bool(
                regex.fullmatch(name) or regex.fullmatch(_plain_name(name))
            )

        if file is None:
            some = {name: units for name, units in self._units_by_name.items() if fits(name)}
            return self._make_functions(some)
        path = re.compile(r"(?:.*/)?" + _glob_pattern(file[1], "[^/]*"))
        found = (
            one
            for name, functions in self._by_file.items()
            if path.fullmatch(name)
            for one in functions
            if fits(one.name)
        )
        return tuple(sorted(found, key=_address_order))

    @cached_property
    def _by_file(self) -> dict[str, list[DebugFunction]]:
        """All functions by file, kept because patterns ask for one file after the other."""
        found: dict[str, list[DebugFunction]] = {}
        for one in self._make_functions(self._units_by_name):
            found.setdefault(one.file, []).append(one)
        return found

    def near_names(self, name: str) -> tuple[str, ...]:
        """Return names that are similar to one without a match."""
        names = self._units_by_name if self._is_indexed else self._symbols()
        plain = (location.plain_function(one) for one in islice(names, _NEAR_MAX))
        return location.near_names(name, map(_plain_name, plain))

    def functions_at(self, address: int) -> tuple[DebugFunction, ...]:
        """Find the functions around an address, the innermost inlined copy first."""
        unit = self._units.unit_at_address(address)
        if unit is None:
            return ()
        all_spans = self._lines.spans_at(unit.offset, address)
        return tuple(
            self._find_function(unit.offset, [one for one in all_spans if one.entry == span.entry])
            for span in code_spans.enclosing_spans(all_spans, address)
        )

    def _make_functions(self, requested: Mapping[str, Sequence[int]]) -> tuple[DebugFunction, ...]:
        found = []
        for unit in sorted({unit for units in requested.values() for unit in units}):
            by_entry: dict[int, list[CodeSpan]] = {}
            for span in self._lines.unit_spans(unit):
                if span.name in requested:
                    by_entry.setdefault(span.entry, []).append(span)
            found += [self._find_function(unit, parts) for parts in by_entry.values()]
        return tuple(sorted(found, key=_address_order))

    def _find_function(self, unit: int, parts: list[CodeSpan]) -> DebugFunction:
        # The part that contains the entry: the first by address may be the cold one.
        span = next((one for one in parts if one.low <= one.first < one.high), parts[0])
        body = span.first if span.is_inlined else self._lines.prologue_end(unit, span)
        return DebugFunction(
            span.name,
            span.first,
            body,
            tuple((one.low, one.high) for one in parts),
            self._lines.file_of(unit, span.file) if span.file else "",
            span.line,
            span.entry,
            span.is_inlined,
            span.linkage,
        )


def _address_order(one: DebugFunction) -> tuple[bool, int]:
    return one.is_inlined, one.address


def _is_of_library(function: DebugFunction) -> bool:
    return function.file.startswith(_LIBRARIES)


def _source_name(function: DebugFunction) -> str:
    """Return a function's name with the type that a Rust `impl` block is of."""
    if "{impl#" not in function.name or not function.linkage.startswith("_ZN"):
        return function.name
    parts, rest = [], function.linkage[3:]
    while (length := re.match(r"\d+", rest)) is not None:
        end = length.end() + int(length[0])
        parts.append(rest[length.end() : end])
        rest = rest[end:]
    # The last part is a hash.
    return "::".join(parts[:-1])


def name_components(name: str) -> list[str]:
    """Split a qualified name at each `::` that is in no brackets."""
    parts, depth, start = [], 0, 0
    at = 0
    while at < len(name):
        letter = name[at]
        if letter in "<({":
            depth += 1
        elif letter in ">)}" and not name.endswith(("-", "operator", "operator>"), 0, at):
            depth -= 1
        elif letter == ":" and depth <= 0 and name.startswith("::", at):
            parts.append(name[start:at])
            at += 1
            start = at + 1
        at += 1
    return [*parts, name[start:]]


def without_arguments(part: str) -> str:
    """Remove a template's arguments: `largest<int>` → `largest`; `operator<` stays."""
    if part.startswith(("operator", "<", "{")):
        return part
    return part.partition("<")[0]


def _plain_name(name: str) -> str:
    return "::".join(without_arguments(part) for part in name_components(name))


def _matches_components(parts: list[str], requested: list[str]) -> bool:
    ends = parts[-len(requested) :]
    return len(ends) == len(requested) and all(
        one in {part, without_arguments(part)} for part, one in zip(ends, requested, strict=True)
    )


def _glob_pattern(pattern: str, star: str) -> str:
    parts = re.split(r"(\*\*|\*|\?)", pattern)
    translations = {"**": ".*", "*": star, "?": "."}
    return "".join(translations.get(part, re.escape(part)) for part in parts)
