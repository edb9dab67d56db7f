"""Finds the functions and the first statement of a JavaScript file, by its text.

A debugger without function breakpoints needs these locations. The text is scanned, not parsed:
comments and strings are blanked out, brackets are matched, and whatever has the form of a function
counts as one.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

_SIZE_MAX = 1 << 19  # bytes; what is longer was written by a program
_NAME_MAX = 200  # characters before a function in which its name is searched
_QUOTED = re.compile(
    r"\A#![^\n]*|//[^\n]*|/\*.*?\*/"
    r"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`"
    # A regular expression, where no value can be before it.
    r"|(?<=[(,=:\[!&|?{};])[ \t]*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*",
    re.DOTALL,
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_NAME = r"[\w$#]+"
_FUNCTION = re.compile(rf"(?<![\w$.])function\b\s*\*?\s*({_NAME})?\s*(?=[(<])")
_CLASS = re.compile(rf"(?<![\w$.])class\s+({_NAME})[^{{;()]*(?=\{{)|(?<![\w$.])class\s*(?=\{{)")
_METHOD = re.compile(rf"(?<![\w$.#])({_NAME})\s*(?=\()")
# `[Symbol.iterator]() {`: no other text has a bracket, a parameter list and a block in a row.
_COMPUTED_METHOD = re.compile(r"(?<=\])\s*(?=\()")
_ARROW = re.compile(r"=>")
_RESULT = re.compile(r"\)\s*:[^()=;{}?]*\Z")
# What a function without a name of its own is put into: `name = `, `a.name = `, `name: `.
_OWNER = re.compile(rf"((?:{_NAME}\s*\.\s*)*{_NAME})\s*(?::[^=,;{{}}()]*)?[=:]\s*(?:async\s*)?\Z")
_NOT_IN_OWNER = ",;{}()"
_NO_METHODS = {
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "with",
    "function",
    "return",
    "typeof",
    "await",
    "new",
    "super",
    "import",
    "do",
    "else",
}
_NO_OBJECTS = {"exports", "prototype", "default"}
_DECLARATION = re.compile(
    r"(?:export\s+(?:default\s+)?)?(?:declare\s+)?(?:abstract\s+)?"
    r"(?:(?:async\s+)?function\b|class\b|interface\b|enum\b|namespace\b)"
)
_DECLARED = re.compile(r"(?:export\s+)?(?:const|let|var)\b")
_NO_CODE = re.compile(r"(?:import\b(?!\s*[.(])|export\s*[*{]|type\b|declare\b)")


@dataclass(frozen=True)
class JavaScriptFunction:
    """A function: its name with its class, its parameters, and the start of its code.

    It extends from `begin` to `end`; lines and columns count from 1.
    """

    name: str
    arguments: tuple[str, ...]
    begin: tuple[int, int]
    end: tuple[int, int]
    line: int
    column: int

    @property
    def first_line(self) -> int:
        """The first line of the function."""
        return self.begin[0]

    @property
    def last_line(self) -> int:
        """The last line of the function."""
        return self.end[0]

    def contains(self, line: int, column: int) -> bool:
        """Return whether a position is in the function, its closing bracket included.

        At its first character is the statement around it: `const double = (n) => n * 2`.
        """
        return self.begin < (line, column) <= self.end


@dataclass(frozen=True)
class JavaScriptOutline:
    """The functions of a file, and its first own statement; None if it has none."""

    functions: tuple[JavaScriptFunction, ...]
    start: tuple[int, int] | None

    def innermost_function(self, line: int, column: int | None = None) -> JavaScriptFunction | None:
        """Return the innermost function around a position, or a line."""
        found = [
            one
            for one in self.functions
            if (
                one.first_line <= line <= one.last_line
                if column is None
                else one.contains(line, column)
            )
        ]
        return max(found, key=lambda one: one.begin, default=None)

    def nesting_depth(self, line: int, column: int) -> int:
        """Count the functions around a position, and one that begins there."""
        return sum(one.begin <= (line, column) <= one.end for one in self.functions)

    def find_named(self, name: str) -> JavaScriptFunction | None:
        """Return the first function of a name, with its class or without."""
        exact = next((one for one in self.functions if one.name == name), None)
        ending = (one for one in self.functions if one.name.endswith(f".{name}"))
        return exact or next(ending, None)

    def find_function(self, name: str, line: int | None) -> JavaScriptFunction | None:
        """Return the function of a name; without one, the innermost around a line."""
        return self.find_named(name) if name or line is None else self.innermost_function(line)


@dataclass(frozen=True)
class NestedFunction:
    """A function, and its name with those of the functions, classes and objects around it."""

    function: JavaScriptFunction
    full_name: str


def find_nested(text: str, name: str) -> list[NestedFunction]:
    """Find the functions of a text whose own name is `name`, in the order of the text.

    Of a text of 8 MB this takes half the time of an outline, and hardly any of its memory.
    """
    return _OutlineReader(blank_quoted(text)).read_named(name)


def outline_file(path: str, *, size_max: int = _SIZE_MAX) -> JavaScriptOutline | None:
    """Outline a file; None if it cannot be read or is too long."""
    try:
        info = Path(path).stat()
        if info.st_size > size_max:
            return None
        return _cached_outline(path, info.st_mtime_ns, info.st_size)
    except OSError:
        return None


def line_of(path: str, line: int) -> str:
    """Return the text of a line; "" if there is none."""
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return lines[line - 1] if 0 < line <= len(lines) else ""


@functools.lru_cache(maxsize=256)
def _cached_outline(path: str, changed: int, size: int) -> JavaScriptOutline:
    del changed, size  # a file that has changed is another one
    return outline_text(Path(path).read_text(encoding="utf-8", errors="replace"))


def outline_text(text: str) -> JavaScriptOutline:
    """Outline a text."""
    return _OutlineReader(blank_quoted(text)).read_outline()


def blank_quoted(text: str) -> str:
    """Replace comments, strings and regular expressions by blanks."""
    return _QUOTED.sub(lambda found: _blank_text(found[0]), text)


def _blank_text(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


@dataclass(frozen=True)
class _NamingOwner:
    """A class or object whose name prefixes the functions in it; `outer` is its owner, or -1."""

    start: int
    end: int
    name: str
    outer: int


class _OutlineReader:
    """Reads a text with blanked comments and strings, by its brackets."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        self._ends = match_brackets(text)
        self._starts = {end: start for start, end in self._ends.items()}
        self._edges = sorted([*self._ends, *self._starts])
        depths = accumulate(1 if at in self._ends else -1 for at in self._edges)
        self._depths = [0, *depths]
        self._owners: list[_NamingOwner] = []
        self._only = ""  # the name of the functions to read; all without one
        self._find_owners()

    def read_outline(self) -> JavaScriptOutline:
        found: dict[int, JavaScriptFunction] = {}
        for one in self._every_function():
            found.setdefault(one[0], one[1])
        start = self._first_statement()
        return JavaScriptOutline(
            tuple(found[at] for at in sorted(found)),
            self._line_and_column(start) if start is not None else None,
        )

    def read_named(self, name: str) -> list[NestedFunction]:
        """Read the functions of a name only, with what is around each."""
        self._only = name
        found: dict[int, JavaScriptFunction] = {}
        for one in self._every_function():
            if one[1].name.rpartition(".")[2].lstrip("#") == name:
                found.setdefault(one[0], one[1])
        outer = self._outer_names(sorted(found))
        return [
            NestedFunction(one, ".".join(filter(None, [*outer[at], one.name])))
            for at, one in sorted(found.items())
        ]

    def _every_function(self) -> Iterator[tuple[int, JavaScriptFunction]]:
        yield from self._plain_functions()
        yield from self._arrow_functions()
        yield from self._method_functions()
        yield from self._computed_methods()

    def _outer_names(self, positions: Sequence[int]) -> dict[int, list[str]]:
        """Return the names of the functions around each body, the outermost first."""
        found: dict[int, list[str]] = {}
        names: dict[int, str] = {}  # by the start of a body
        enclosing: list[int] = []
        edges = iter(self._edges)
        edge = next(edges, len(self._text))
        for at in positions:
            while edge < at:
                if edge in self._ends:
                    enclosing.append(edge)
                else:
                    enclosing.pop()
                edge = next(edges, len(self._text))
            for start in enclosing:
                if start not in names:
                    is_block = self._text[start] == "{"
                    names[start] = self._name_of_body(start) if is_block else ""
            found[at] = [names[start] for start in enclosing if names[start]]
        return found

    def _name_of_body(self, start: int) -> str:
        """Return the name of the function whose body begins at a bracket; "" if it is none."""
        end = self._end_before(start)
        if self._text[end - 2 : end] == "=>":
            end = self._end_before(end - 2)
            is_list = self._text[end - 1 : end] == ")"
            begin = self._starts.get(end - 1, end) if is_list else end
            return self._owner_name(begin)
        opened = self._starts.get(end - 1) if self._text[end - 1 : end] == ")" else None
        if opened is None:
            return ""
        head = self._text[max(0, opened - _NAME_MAX) : opened]
        plain = re.search(rf"\bfunction\b\s*\*?\s*({_NAME})?\s*\Z", head)
        if plain is not None:
            at = opened - len(head) + plain.start()
            return plain[1] or self._owner_name(at)
        method = re.search(rf"({_NAME})\s*\Z", head)
        if method is None or method[1] in _NO_METHODS:
            return ""
        return self._qualified_name(method[1], opened - len(head) + method.start())

    def _is_unwanted(self, name: str | None, start: int) -> bool:
        """Return whether a function cannot have the only name that is read.

        One without a name of its own has it before it.
        """
        if not self._only or name == self._only or (name or "").lstrip("#") == self._only:
            return False
        return bool(name) or self._only not in self._text[max(0, start - 2 * _NAME_MAX) : start]

    def _plain_functions(self) -> list[tuple[int, JavaScriptFunction]]:
        found = []
        for one in _FUNCTION.finditer(self._text):
            if self._is_unwanted(one[1], one.start()):
                continue
            name = one[1] or self._owner_name(one.start())
            found += self._read_function(name, one.start(), self._text.find("(", one.end() - 1))
        return found

    def _method_functions(self) -> list[tuple[int, JavaScriptFunction]]:
        found = []
        for one in _METHOD.finditer(self._text):
            if self._is_unwanted(one[1], one.start()):
                continue
            end = self._end_before(one.start())
            before = self._text[max(0, end - 12) : end]
            is_called = one[1] in _NO_METHODS or before.endswith(("function", "new", ".", "=>"))
            if not is_called:
                found += self._read_function(
                    self._qualified_name(one[1], one.start()), one.start(), one.end()
                )
        return found

    def _computed_methods(self) -> list[tuple[int, JavaScriptFunction]]:
        """Read the methods whose names are expressions."""
        found = []
        for one in _COMPUTED_METHOD.finditer(self._text):
            start = self._starts.get(one.start() - 1)
            if start is None or self._is_unwanted(None, start):
                continue
            name = self._qualified_name(self._text[start : one.start()], start)
            found += self._read_function(name, start, one.end())
        return found

    def _read_function(
        self, name: str, start: int, bracket: int
    ) -> list[tuple[int, JavaScriptFunction]]:
        """Read a function from the bracket of its parameters on; nothing without a body."""
        close = self._ends.get(bracket)
        if close is None:
            return []
        # TypeScript may say what it returns.
        body = re.compile(r"\s*(?::[^;{}=]*)?(?=\{)").match(self._text, close + 1)
        if body is None:
            return []
        arguments = self._argument_names(self._text[bracket + 1 : close])
        return [self._make_function(name, arguments, start, body.end())]

    def _arrow_functions(self) -> list[tuple[int, JavaScriptFunction]]:
        found = []
        for one in _ARROW.finditer(self._text):
            if self._is_unwanted(None, one.start()):
                continue
            end = self._end_before(one.start())
            # TypeScript may say what it returns.
            typed = _RESULT.search(self._text[max(0, end - _NAME_MAX) : end])
            end = end - len(typed[0]) + 1 if typed is not None else end
            if end and self._text[end - 1] == ")":
                start = self._starts.get(end - 1, end)
                arguments = self._argument_names(self._text[start + 1 : end - 1])
            else:
                name = re.search(rf"({_NAME})\Z", self._text[max(0, end - _NAME_MAX) : end])
                start = end - len(name[1]) if name is not None else end
                arguments = (name[1],) if name is not None else ()
            body = re.compile(r"\s*").match(self._text, one.end())
            at = body.end() if body is not None else one.end()
            found.append(self._make_function(self._owner_name(start), arguments, start, at))
        return found

    def _make_function(
        self, name: str, arguments: tuple[str, ...], start: int, body: int
    ) -> tuple[int, JavaScriptFunction]:
        """Build a function; an arrow function's body may be an expression."""
        is_block = self._text[body : body + 1] == "{"
        last = self._ends.get(body, body) if is_block else self._expression_end(body)
        code = body + 1 if is_block else body
        while code < last and self._text[code].isspace():
            code += 1
        line, column = self._line_and_column(code)
        begin, end = self._line_and_column(start), self._line_and_column(last)
        return body, JavaScriptFunction(name, arguments, begin, end, line, column)

    def _expression_end(self, at: int) -> int:
        """Return the end of an expression: a comma, a semicolon or a closing bracket."""
        while at < len(self._text) and self._text[at] not in ",;)]}\n":
            at = self._ends.get(at, at) + 1
        return at

    def _find_owners(self) -> None:
        """Find the classes, and the objects that are assigned to a name: `helpers = {`."""
        classes = {found.end(): found[1] or "" for found in _CLASS.finditer(self._text)}
        for start, end in sorted(self._ends.items()):  # the outer ones first: they name the inner
            before = self._end_before(start)
            is_put = self._text[start] == "{" and self._text[before - 1 : before] in {"=", ":"}
            name = classes[start] if start in classes else self._owner_name(start) if is_put else ""
            if start in classes or (name and name not in _NO_OBJECTS):
                self._owners.append(_NamingOwner(start, end, name, self._innermost_owner(start)))

    def _innermost_owner(self, at: int) -> int:
        """Return the index of the innermost owner around a position; -1 without one."""
        number = bisect_left(self._owners, at, key=lambda one: one.start) - 1
        while number >= 0 and self._owners[number].end <= at:
            number = self._owners[number].outer
        return number

    def _owner_name(self, start: int) -> str:
        """Return the variable or field to which a nameless function or object is assigned."""
        before = self._text[max(0, start - _NAME_MAX) : start]
        found = _OWNER.search(before, max(map(before.rfind, _NOT_IN_OWNER)) + 1)
        if found is None:
            return ""
        parts = [part.strip() for part in found[1].split(".")]
        own = [one for one in parts if one not in {"module", "exports", "prototype", "this"}]
        name = ".".join(own) or parts[-1]
        return self._qualified_name(name, start) if len(own) == 1 else name

    def _qualified_name(self, name: str, at: int) -> str:
        """Prefix a method's name with its class or object."""
        number = self._innermost_owner(at)
        if number < 0:
            return name
        owner = self._owners[number]
        is_own = self._bracket_depth(at) == self._bracket_depth(owner.start) + 1
        return f"{owner.name}.{name}" if owner.name and is_own else name

    def _bracket_depth(self, at: int) -> int:
        """Count the open brackets before a position."""
        return self._depths[bisect_left(self._edges, at)]

    def _end_before(self, at: int) -> int:
        """Return the end of the text before a position, without blanks."""
        while at and self._text[at - 1].isspace():
            at -= 1
        return at

    def _argument_names(self, text: str) -> tuple[str, ...]:
        """Return the names in a parameter list, destructured ones included."""
        names: list[str] = []
        for part in _split_arguments(text):
            argument = part.strip().removeprefix("...")
            if argument.startswith(("{", "[")):
                closing = match_brackets(argument).get(0, len(argument))
                inner = [one.rpartition(":")[2] for one in _split_arguments(argument[1:closing])]
                names += self._argument_names(",".join(inner))
                continue
            found = re.match(rf"(?:(?:public|private|protected|readonly)\s+)*({_NAME})", argument)
            if found is not None:
                names.append(found[1])
        return tuple(names)

    def _first_statement(self) -> int | None:
        """Return the first statement outside of functions, if the file has any."""
        at, text = 0, self._text
        while at < len(text):
            if text[at].isspace() or text[at] == ";":
                at += 1
            elif declaration := _DECLARATION.match(text, at):
                at = self._past_block(declaration.end())
            elif _NO_CODE.match(text, at) or (
                _DECLARED.match(text, at) and "=" not in text[at : self._next_statement(at)]
            ):
                at = self._next_statement(at) + 1
            else:
                return at
        return None

    def _past_block(self, at: int) -> int:
        while at < len(self._text) and self._text[at] not in "{;":
            at = self._ends.get(at, at) + 1
        return self._ends.get(at, at) + 1

    def _next_statement(self, at: int) -> int:
        while at < len(self._text) and self._text[at] not in ";\n":
            at = self._ends.get(at, at) + 1
        return at

    def _line_and_column(self, at: int) -> tuple[int, int]:
        line = bisect_right(self._lines, at)
        return line, at - self._lines[line - 1] + 1


def match_brackets(text: str) -> dict[int, int]:
    """Return the closing bracket of each bracket; unclosed ones are omitted."""
    found: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    for one in re.finditer(r"[()\[\]{}]", text):
        if one[0] in _PAIRS:
            opened.append((_PAIRS[one[0]], one.start()))
        elif opened and opened[-1][0] == one[0]:
            found[opened.pop()[1]] = one.start()
    return found


def _split_arguments(text: str) -> Sequence[str]:
    """Split a list at the commas outside of its brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{<") - (letter in ")]}")
        depth -= letter == ">" and text[at - 1 : at] != "="
        if letter == "," and depth <= 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]
