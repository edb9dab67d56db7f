"""Chooses by the sources the lines and the returns that a native value may have come by.

One run records them all, so that the chain needs a run of its own only for memory.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator

from msgspec import Struct

from debugger.model.statement import join_statement
from debugger.questions.why import native_values, settled_locals, statement_origin, value_lines
from debugger.questions.why.statement_origin import OriginKind
from debugger.questions.why.traced_run import CodeFunction, LinePlan, ReturnPlan, TraceFrame
from debugger.session import source_files
from debugger.sources.function_names import last_part
from debugger.sources.function_span import find_span

_LINES_MAX = 60
_RETURNS_MAX = 24
_VISITED_MAX = 160  # locals and functions that are looked for
_STATEMENT_LINES = 8
_RETURNED = ""  # stands for a function's value, where else a local's name stands
_LOOP = re.compile(r"\s*(?:'\w+:\s*)?for\s+([^(].*?)\s+in\s")
_ENDS = (";", "{", "}", ",")
_WRAPPERS = frozenset({"clone", "unwrap", "to_owned", "into", "get", "as_ref", "borrow"})


class NativeFunction(Struct, frozen=True):
    """A function by its first instruction, its source, and the lines from its head to its end."""

    name: str
    file: str
    head: int
    last: int
    entry: int


class NativeSources:
    """The functions of a compiled program, and what their sources say."""

    def __init__(self) -> None:
        self._code: dict[int, CodeFunction] = {}

    def add_functions(self, functions: Iterable[CodeFunction]) -> None:
        """Add what a run has shown of the program's code."""
        self._code |= {one.entry: one for one in functions}

    def function_of(self, frame: TraceFrame) -> NativeFunction | None:
        """Return the function of a frame; None without its source."""
        return _find_function(frame.function, frame.file, frame.line, frame.entry)

    def function_at(self, file: str, line: int) -> NativeFunction | None:
        """Return the function around a line, of those whose code is known."""
        before = [one for one in self._code.values() if one.file == file and one.line <= line]
        one = max(before, key=lambda each: each.line, default=None)
        return _find_function(one.name, file, line, one.entry) if one is not None else None

    def functions_called(
        self, function: NativeFunction, numbers: Collection[int]
    ) -> Iterator[NativeFunction]:
        """Yield the functions that lines of a function call, in their order."""
        code = self._code.get(function.entry)
        targets = [entry for line, entry in code.calls if line in numbers] if code else []
        for entry in dict.fromkeys(targets):
            one = self._code.get(entry)
            found = _find_function(one.name, one.file, one.line, entry) if one else None
            if found is not None:
                yield found

    def settled_lines(self, function: NativeFunction, name: str, field: str) -> tuple[int, ...]:
        """Return the lines that alone can have given a local its value."""
        lines = source_files.read_source(function.file) or ()
        return settled_locals.settled_lines(
            function.file,
            lines,
            (function.head, function.last),
            name,
            field=field,
            is_reading=self._is_reading,
        )

    def assigning_lines(self, function: NativeFunction, name: str) -> tuple[int, ...]:
        """Return the lines of C that alone assign to a local."""
        lines = source_files.read_source(function.file) or ()
        span = (function.head, function.last)
        return settled_locals.assigning_lines(function.file, lines, span, name)

    def is_shared_local(self, function: NativeFunction, name: str) -> bool:
        """Return whether a local is written by other means than one line of its function."""
        lines = source_files.read_source(function.file) or ()
        span = (function.head, function.last)
        return settled_locals.is_shared(function.file, lines, span, name)

    def _is_reading(self, method: str) -> bool:
        """Test whether all of the program's known methods of a name leave their object as it is."""
        heads = [
            join_statement((source_files.read_source(one.file) or ())[one.line - 1 :])
            for one in self._code.values()
            if last_part(one.name) == method
        ]
        return bool(heads) and not any("&mut self" in one for one in heads)


def _find_function(
    name: str, file: str | None, line: int | None, entry: int
) -> NativeFunction | None:
    lines = source_files.read_source(file) if file else None
    if lines is None or file is None or not line:
        return None
    short = last_part(name)
    span = find_span(file, lines, line, short)
    return NativeFunction(short, file, *span, entry) if span is not None else None


def _gives_local(name: str, line: str) -> bool:
    loop = _LOOP.match(line)
    is_element = loop is not None and re.search(rf"\b{re.escape(name)}\b", loop[1]) is not None
    return is_element or settled_locals.is_binding(name, line)


def returning_lines(function: NativeFunction) -> list[int]:
    """Return the lines that give a function's value."""
    lines = source_files.read_source(function.file) or ()
    found = []
    for number in range(function.head, min(function.last, len(lines)) + 1):
        line = lines[number - 1].strip()
        # A line of a chain of methods belongs to the line before it.
        is_last = bool(line) and not line.endswith(_ENDS) and not line.startswith((".", "//", "#"))
        if (is_last and function.file.endswith(".rs")) or re.search(r"\breturn\b", line):
            found.append(number)
    if function.file.endswith(".rs"):
        found += value_lines.last_expressions(lines, function.head, function.last)
    return sorted(set(found))


def _statement_at(function: NativeFunction, number: int) -> str:
    """Return the statement that begins at a line, with the methods of a chain below it."""
    lines = source_files.read_source(function.file) or ()
    some = lines[number - 1 : number - 1 + _STATEMENT_LINES]
    methods = [one.strip() for one in some[1:] if one.lstrip().startswith(".")]
    text = join_statement(some, most=_STATEMENT_LINES)
    return " ".join([text, *(one for one in methods if one not in text)])


def _giving_parts(text: str, target: str) -> str:
    """Return the part of a statement that gives its value: of calls the last one's arguments.

    The chain mostly ends at a sum of several operands.
    """
    origin = statement_origin.origin_of_assignment(text, target)
    if origin.kind is OriginKind.CALL:
        return f"{origin.function}({', '.join(origin.arguments)})"
    is_sum = origin.kind is OriginKind.COMPUTED and len(origin.operands) > 1
    return "" if is_sum else origin.text


class ChainSites:
    """The lines and the returns that the runs of one chain record."""

    def __init__(self, sources: NativeSources, new_key: Callable[[str], str]) -> None:
        self._sources, self._new_key = sources, new_key
        self._lines: dict[tuple[str, int], LinePlan] = {}
        self._returns: dict[tuple[int, int], ReturnPlan] = {}
        self._visited: set[tuple[NativeFunction, str]] = set()

    @property
    def lines(self) -> tuple[LinePlan, ...]:
        """The lines, each with its key."""
        return tuple(self._lines.values())

    @property
    def returns(self) -> tuple[ReturnPlan, ...]:
        """The functions whose returns are recorded."""
        return tuple(self._returns.values())

    def all_keys(self) -> list[str]:
        """Return the keys of all lines and returns."""
        return [*(one.key for one in self.lines), *(one.key for one in self.returns)]

    def functions(self) -> list[NativeFunction]:
        """Return the functions that the chain may come by."""
        return list(dict.fromkeys(function for function, _ in self._visited))

    def drop(self, keys: Collection[str]) -> None:
        """Record no longer what came too often."""
        self._lines = {at: one for at, one in self._lines.items() if one.key not in keys}
        self._returns = {at: one for at, one in self._returns.items() if one.key not in keys}

    def return_keys(self, function: str) -> set[str]:
        """Return the keys of the returns of the functions of a name."""
        return {one.key for one in self._returns.values() if one.function == function}

    def line_keys(self, file: str, numbers: Iterable[int]) -> set[str]:
        """Return the keys of lines of a file; those that are not recorded have none."""
        known = (self._lines.get((file, one)) for one in numbers)
        return {one.key for one in known if one is not None}

    def extend(self, function: NativeFunction | None, expression: str, line: int | None) -> None:
        """Add what an expression of a function's line may come by, the nearest first."""
        if function is None or not function.entry:
            return
        near = deque((function, one) for one in statement_origin.operand_names(expression))
        near.extend(self._add_calls(function, line or 0, expression))
        # What a statement reads besides what gives its value is looked at last.
        far: deque[tuple[NativeFunction, str]] = deque()
        while (near or far) and len(self._visited) < _VISITED_MAX:
            here = (near or far).popleft()
            if here in self._visited:
                continue
            self._visited.add(here)
            for number in self._binding_lines(*here) if here[1] else returning_lines(here[0]):
                text = _statement_at(here[0], number)
                giving = _giving_parts(text, here[1])
                near.extend(self._read_by(here[0], number, giving))
                far.extend(self._read_by(here[0], number, text))

    def _binding_lines(self, function: NativeFunction, name: str) -> list[int]:
        """Return the lines that bind a local; those that alone can give its value are recorded."""
        lines = source_files.read_source(function.file) or ()
        settled = self._sources.settled_lines(function, name, settled_locals.ANY_FIELD)
        settled = settled or self._sources.assigning_lines(function, name)
        found = [
            number
            for number in range(function.head + 1, min(function.last, len(lines)) + 1)
            if name in lines[number - 1] and _gives_local(name, lines[number - 1])
        ]
        for number in sorted({*found, *settled}):
            at = (function.file, number)
            if number in settled and at not in self._lines and len(self._lines) < _LINES_MAX:
                location = f"{function.file}:{number}"
                self._lines[at] = LinePlan(self._new_key("s"), location, is_site=True)
        return found

    def _read_by(
        self, function: NativeFunction, number: int, text: str
    ) -> Iterator[tuple[NativeFunction, str]]:
        """Yield the locals that a part of a statement reads, and the functions that it calls."""
        yield from ((function, one) for one in statement_origin.operand_names(text))
        yield from self._add_calls(function, number, text)

    def _add_calls(
        self, function: NativeFunction, number: int, text: str
    ) -> Iterator[tuple[NativeFunction, str]]:
        """Add the returns of the functions that a statement calls; yield these."""
        numbers = range(number, number + _STATEMENT_LINES)
        for called in self._sources.functions_called(function, numbers):
            at = (called.entry, function.entry)
            is_written = re.search(rf"\b{re.escape(called.name)}\b", text) is not None
            is_written |= called.name == statement_origin.NEXT and bool(_LOOP.match(text))
            is_value = native_values.is_handed_on(called.name) or called.name in _WRAPPERS
            if not is_written or is_value:
                continue
            if at not in self._returns and len(self._returns) < _RETURNS_MAX:
                self._returns[at] = ReturnPlan(
                    self._new_key("q"),
                    called.name,
                    entry=called.entry,
                    caller_entry=function.entry,
                    is_site=True,
                    lines=tuple(returning_lines(called)),
                )
            yield called, _RETURNED
