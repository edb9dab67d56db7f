"""Reads Go sources as text: functions, assignments, returns and sends, and what they read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.questions.why import go_expressions, go_values, statement_origin
from debugger.session import source_files

_HEAD = re.compile(r"func\s+(?:\((?P<receiver>[^)]*)\)\s*)?(?P<name>\w+)\s*(?:\[[^\]]*\])?\(")
_GLOBAL = re.compile(r"(?:var|const)\s+(?P<name>\w+)\b|\s+(?P<inner>\w+)(?:\s+[\w.*\[\]]+)?\s*=")
_STRUCT = re.compile(r"type\s+(\w+)(?:\[[^\]]*\])?\s+struct\s*\{(?:(?P<inner>.*)\})?$")
# What a line that gives a value has, and a line that opens a closure.
_GIVES = re.compile(r"=|<-|\+\+|--|^return\b|\bfunc\s*\(|\b(?:Store|Swap|Add)\w*\(")
# A function without a name, and no type: `[]func(int) int{…}` is a slice.
_CLOSURE = re.compile(
    r"(?<!\])\bfunc\s*\((?=(?:[^()]|\([^()]*\))*\)\s*(?:\([^()]*\)|[^(){};=,]*)"
    r"(?:func\s*\([^()]*\)[^(){};=,]*)?\{)"
)
_JOINED_MAX = 60  # lines of one statement
_STEP = re.compile(r"^([\w.\[\]\"*]+)\s*(?:\+\+|--)\s*\{?$")
_LEAD = re.compile(
    r"^(?:\}\s*)?(?:(?:else\s+)?if|for|switch|case|var|const|else\s*\{|select\s*\{|defer|go)\s+"
)
_SIDES = re.compile(r"^(?P<left>[^=:<>!]+?)\s*(?P<sign>:=|[-+*/%&|^]=|<<=|>>=|&\^=|=)(?!=)\s*")
_SEND = re.compile(r"^(?:case\s+)?(?P<channel>[\w.\[\]]+)\s*<-\s*(?P<value>.+?):?$")
_ELEMENT = re.compile(r"\[[^\[\]]*\]$")
_CALLED = re.compile(r"(?<!func )([A-Za-z_.][\w.]*)\(")


_BUILT_IN = frozenset(
    {"append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max"}
    | {"min", "new", "panic", "print", "println", "real", "recover", "any", "error", "uint", "rune"}
)

# The operators of sites that declare their targets.
DECLARING = frozenset({":=", "range", "loop"})


class SiteKind(Enum):
    """The kinds of line that a value of Go comes by."""

    ASSIGN = "assign"
    RETURN = "return"
    SEND = "send"
    # Of which no value is read.
    CALL = "call"


class GoSourceFunction(Struct, frozen=True):
    """A function of a source, with its parameters; closures belong to the one around them."""

    name: str
    file: str
    head: int
    last: int
    parameters: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    receiver: str = ""

    def contains(self, file: str | None, line: int | None) -> bool:
        """Return whether a line is in the function."""
        return self.file == file and line is not None and self.head <= line <= self.last


class GoSite(Struct, frozen=True):
    """A line that gives values: the targets and the right sides, as written."""

    kind: SiteKind
    file: str
    line: int
    function: GoSourceFunction
    statement: str
    targets: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    # "+" of `x += y`; ":=" of a declaration, "loop" of a loop's counter, "range" of its element.
    operator: str = ""
    # Of a function without a name on one line: its parameters. What it captures is in a register
    # that is not set yet where delve stops.
    readable: tuple[str, ...] | None = None

    @property
    def place(self) -> str:
        """The file's name and the line."""
        return f"{Path(self.file).name}:{self.line}"

    def value_of(self, target: str) -> tuple[str, int]:
        """Return the right side for a target, and the number of the result if it is of a call."""
        at = self.targets.index(target) if target in self.targets else 0
        if len(self.values) == len(self.targets):
            return self.values[at], 0
        return (self.values[0] if self.values else ""), at


class GoGlobal(Struct, frozen=True):
    """The declaration of a variable or a constant of a package."""

    name: str
    file: str
    line: int
    text: str


class GoSources:
    """The functions and sites of a program's sources."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files
        self.functions: list[GoSourceFunction] = []
        self.sites: list[GoSite] = []
        # The `return` lines of functions without a name: a variable may hold these.
        self.closure_returns: list[GoSite] = []
        self._globals: list[GoGlobal] = []
        self._structs: dict[str, tuple[str, ...]] = {}
        for file in files:
            lines = source_files.read_source(file)
            if lines is not None:
                self._read_file(file, lines)
        self._by_name: dict[str, list[GoSourceFunction]] = {}
        for one in self.functions:
            self._by_name.setdefault(one.name, []).append(one)
        self._by_function: dict[GoSourceFunction, list[GoSite]] = {}
        for site in self.sites:
            self._by_function.setdefault(site.function, []).append(site)

    def _read_file(self, file: str, lines: Sequence[str]) -> None:
        number = 1
        while number <= len(lines):
            head = _HEAD.match(lines[number - 1])
            if head is None:
                struct = _STRUCT.match(without_comment(lines[number - 1]).rstrip())
                if struct is not None:
                    last = _function_end(lines, number)
                    inner = [f" {one.strip()}" for one in (struct["inner"] or "").split(";")]
                    fields = lines[number : last - 1] or inner
                    self._structs[struct[1]] = tuple(_field_names(fields))
                named = _GLOBAL.match(lines[number - 1])
                if named is not None:
                    text = without_comment(lines[number - 1]).strip()
                    self._globals.append(
                        GoGlobal(named["name"] or named["inner"], file, number, text)
                    )
                number += 1
                continue
            last = _function_end(lines, number)
            function = _parse_head(file, join_statement(lines, number), number, last)
            self.functions.append(function)
            self.sites += _sites_of(function, lines)
            self.closure_returns += _closure_returns(function, lines)
            number = last + 1

    def function_at(self, file: str | None, line: int | None) -> GoSourceFunction | None:
        """Return the function that a line is in."""
        return next((one for one in self.functions if one.contains(file, line)), None)

    def functions_named(self, called: str) -> list[GoSourceFunction]:
        """Return the functions that a call may mean: `fill` of `o.fill`, or of `fill[int]`."""
        return self._by_name.get(_ELEMENT.sub("", called).rpartition(".")[2], [])

    def is_function_value(self, called: str) -> bool:
        """Return whether a call is of a variable, a field or an element that holds a function."""
        fields = {one for some in self._structs.values() for one in some}
        name = called.rpartition(".")[2]
        is_known = bool(self.functions_named(called)) or called in _BUILT_IN
        is_element = _ELEMENT.search(called) is not None
        return not is_known and (called.isidentifier() or name in fields or is_element)

    def returns_of_values(self, file: str) -> list[GoSite]:
        """Return the `return` lines of the functions that a variable may hold: a file's first."""
        used = [one for one in self.functions if self._is_value(one.name)]
        named = [site for one in used for site in self.sites_in(one, SiteKind.RETURN)]
        return sorted((*self.closure_returns, *named), key=lambda one: one.file != file)

    def _is_value(self, name: str) -> bool:
        """Return whether the sources use a function's name without calling it."""
        if name in {"main", "init"}:
            return False
        used = re.compile(rf"(?<![\w.])(?:\w+\.)?{name}\b(?!\s*[(:\[])")
        return any(
            name in text and not _HEAD.match(text) and used.search(without_comment(text))
            for file in self._files
            for text in source_files.read_source(file) or ()
        )

    def sites_in(self, function: GoSourceFunction, kind: SiteKind) -> Iterator[GoSite]:
        """Yield the sites of a function."""
        yield from (one for one in self._by_function.get(function, ()) if one.kind is kind)

    def calls_in(self, function: GoSourceFunction) -> Iterator[GoSite]:
        """Yield the lines of a function at which a statement with a call begins."""
        lines, depth = lines_of(function.file), 0
        for number in range(function.head + 1, function.last):
            text = without_comment(lines[number - 1]).strip()
            names = _CALLED.findall(text) if depth <= 0 and not text.endswith(",") else []
            if any(self.functions_named(one) or one.isidentifier() for one in names):
                yield GoSite(SiteKind.CALL, function.file, number, function, text)
            depth += sum((one in "([") - (one in ")]") for one in text)

    def program_calls(self, text: str) -> list[str]:
        """Return the calls of the program's functions in an expression, not those in arguments."""
        found: list[tuple[int, int]] = []
        for begin, end, name in statement_origin.find_calls(text):
            is_inner = any(first <= begin < last for first, last in found)
            if not is_inner and self.functions_named(name):
                found.append((begin, end))
        return [text[begin:end] for begin, end in found]

    def globals_named(self, name: str) -> list[GoGlobal]:
        """Return the declarations of a variable outside of the functions."""
        return [one for one in self._globals if one.name == name]

    def unseen_writers(self, name: str, *, is_part: bool = False) -> list[str]:
        """Return the lines that may write a variable of a package, and are no sites of it.

        A part of it may be written by a method.
        """
        word = re.escape(name)
        method = rf"|(?<![\w.]){word}(?:\.\w+)*\.\w+\(" if is_part else ""
        pattern = re.compile(
            rf"(?<![\w.]){word}(?:\.\w+|\[[^\]]*\])*\s*(?:(?:[-+*/%&|^]|<<|>>|&\^)?=(?!=)|\+\+|--)"
            rf"|&{word}\b{method}"
        )
        known = {(one.file, one.line) for one in self.sites if name in one.targets}
        known |= {(one.file, one.line) for one in self.globals_named(name)}
        return [
            f"{Path(file).name}:{number}"
            for file in self._files
            for number, text in enumerate(source_files.read_source(file) or (), 1)
            if name in text
            and (file, number) not in known
            and pattern.search(without_comment(text)) is not None
        ]

    def fields_of(self, literal: str) -> tuple[str, ...]:
        """Return the fields of a literal's struct type, in order; none if it is not known."""
        name = literal.partition("{")[0].lstrip("&*").rpartition(".")[2]
        return self._structs.get(name, ())

    def embedded_with(self, literal: str, field: str) -> str:
        """Return the embedded struct of a literal's type that has a field; "" if none has."""
        fields = self.fields_of(literal)
        if field in fields:
            return ""
        return next((one for one in fields if field in self._structs.get(one, ())), "")

    def callers_of(self, function: GoSourceFunction) -> list[tuple[GoSourceFunction, str]]:
        """Return the functions that may call a function by its name, with the statements."""
        called = re.compile(rf"(?<!func )\b{function.name}\(")
        found = []
        for one in self.functions:
            lines = source_files.read_source(one.file) or ()
            inner = _one_line_body(one, lines) if lines else []
            found += [(one, text) for text in inner if called.search(text)]
            for number in range(one.head + 1, one.last):
                if function.name in lines[number - 1] and called.search(lines[number - 1]):
                    found.append((one, join_statement(lines, number)))
        return found


def _field_names(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        plain = without_comment(line).rstrip()
        found = re.match(r"\s+(\w+(?:,\s*\w+)*)\s+[^\s`]", plain)
        if found is not None:
            yield from re.split(r",\s*", found[1])
        embedded = re.match(r"\s+\*?(?:\w+\.)?(\w+)(?:\s+`[^`]*`)?$", plain)
        if embedded is not None:
            yield embedded[1]


def _function_end(lines: Sequence[str], head: int) -> int:
    """Return the last line of a function: gofmt closes it at the line's start."""
    if re.search(r"\{.*\}\s*$", without_comment(lines[head - 1])):
        return head
    for number in range(head + 1, len(lines) + 1):
        if lines[number - 1].startswith("}"):
            return number
    return len(lines)


def join_statement(lines: Sequence[str], number: int) -> str:
    """Return a statement with the lines that its brackets go on to, without comments."""
    text = without_comment(lines[number - 1]).strip()
    if text.endswith("{") and not _opens_literal(text):
        return text
    depth = _depth(text)
    for at in range(number, min(number + _JOINED_MAX, len(lines))):
        is_open = text.endswith((",", "+", "||", "&&", "=", "(")) and not text.endswith("++")
        if depth <= 0 and not is_open:
            break
        added = without_comment(lines[at]).strip()
        depth += _depth(added)
        text += " " + added
    return text


def _opens_literal(text: str) -> bool:
    """Return whether the last bracket opens a composite literal, and no block."""
    if re.search(r"\bfunc\s*\([^{]*\{$", text):
        return False
    is_block = re.match(r"(?:\}\s*)?(?:if|for|switch|select|else|func|type|case)\b", text)
    return is_block is None and re.search(r"[\w\]]\{$", text) is not None


def without_comment(line: str) -> str:
    """Return a line without the comment at its end."""
    plain = re.sub(r'"(?:\\.|[^"\\])*"|`[^`]*`', lambda one: "x" * len(one[0]), line)
    at = plain.find("//")
    return line[:at] if at >= 0 else line


def _depth(text: str) -> int:
    plain = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|`[^`]*`', "", text)
    return sum((one in "([{") - (one in ")]}") for one in plain)


def _parse_head(file: str, text: str, head: int, last: int) -> GoSourceFunction:
    found = _HEAD.match(text)
    assert found is not None
    end = statement_origin.closing_bracket(text, found.end() - 1)
    names = _parameter_names(text[found.end() : end])
    result = re.match(r"\s*\(([^()]*)\)", text[end + 1 :])
    results = _parameter_names(result[1]) if result and " " in result[1].strip() else ()
    receiver = (found["receiver"] or "").split()
    owner = receiver[0] if len(receiver) > 1 else ""
    return GoSourceFunction(found["name"], file, head, last, names, results, owner)


def _parameter_names(text: str) -> tuple[str, ...]:
    parts = statement_origin.split_arguments(text)
    return tuple(one.split()[0] for one in parts if one.split())


def _one_line_body(function: GoSourceFunction, lines: Sequence[str]) -> list[str]:
    """Return the statements of a function on one line; none of another one."""
    text = without_comment(lines[function.head - 1]).strip()
    if function.last != function.head or not text.endswith("}"):
        return []
    begin = statement_origin.opening_bracket(text)
    return [one for part in text[begin + 1 : -1].split(";") if (one := part.strip())]


def closure_parameters(function: GoSourceFunction, line: int) -> tuple[str, ...]:
    """Return the parameters of the functions without a name around a line, the outer ones first."""
    lines, names = lines_of(function.file), list[str]()
    for number in range(function.head, min(line, len(lines)) + 1):
        text = without_comment(lines[number - 1]).strip()
        for match in _CLOSURE.finditer(text):
            is_around = number == line or line <= _closure_end(lines, number, function.last)
            if is_around and (number == line or text.endswith("{")):
                end = statement_origin.closing_bracket(text, match.end() - 1)
                names += _parameter_names(text[match.end() : end])
    return tuple(names)


def _sites_of(function: GoSourceFunction, lines: Sequence[str]) -> Iterator[GoSite]:
    inner = 0
    for one in _one_line_body(function, lines):
        site = _parse_site(function, function.head, one)
        if site is not None:
            yield site
        yield from _closure_sites(function, function.head, one)
    for number in range(function.head + 1, function.last):
        text = lines[number - 1].strip()
        if text.startswith("//") or _GIVES.search(text) is None:
            continue
        statement = join_statement(lines, number)
        site = _parse_site(function, number, statement)
        # A `return` in a closure is none of the function around it.
        if site is not None and not (site.kind is SiteKind.RETURN and number <= inner):
            yield site
        if _CLOSURE.search(statement) and statement.endswith("{"):
            inner = max(inner, _closure_end(lines, number, function.last))
        if _CLOSURE.search(statement):
            yield from _closure_sites(function, number, statement)


def _closure_sites(function: GoSourceFunction, number: int, statement: str) -> Iterator[GoSite]:
    """Yield the assignments and sends of functions without a name within a statement."""
    for one, names in _inner_bodies(statement):
        site = _parse_site(function, number, one)
        if site is not None and site.kind is not SiteKind.RETURN:
            yield msgspec.structs.replace(site, readable=names)


def _inner_bodies(statement: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the statements of functions without a name in one on one line; their parameters."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for match in _CLOSURE.finditer(statement):
        end = statement_origin.closing_bracket(statement, match.end() - 1)
        begin = statement.find("{", end)
        close = statement_origin.closing_bracket(statement, begin) if begin > 0 <= end else -1
        if close > 0:
            inner = statement[begin + 1 : close]
            # What is in a further function is found by that one.
            cut = _CLOSURE.search(inner)
            inner = inner[: cut.start()] if cut is not None else inner
            names = _parameter_names(statement[match.end() : end])
            found += [(one, names) for part in inner.split(";") if (one := part.strip())]
    return found


def _closure_returns(function: GoSourceFunction, lines: Sequence[str]) -> Iterator[GoSite]:
    """Yield the `return` lines of the functions without a name in a function."""
    inner = 0
    if function.last == function.head:
        bodies = [each for one in _one_line_body(function, lines) for each in _inner_bodies(one)]
        yield from _return_sites(function, function.head, bodies)
    for number in range(function.head + 1, function.last):
        text = without_comment(lines[number - 1]).strip()
        is_return = number <= inner and text.startswith("return")
        if _CLOSURE.search(text) and text.endswith("{"):
            inner = max(inner, _closure_end(lines, number, function.last))
        bodies = _inner_bodies(text) if _CLOSURE.search(text) else []
        returned = [(join_statement(lines, number), None)] if is_return else []
        yield from _return_sites(function, number, [*returned, *bodies])


def _return_sites(
    function: GoSourceFunction,
    number: int,
    statements: Iterable[tuple[str, tuple[str, ...] | None]],
) -> Iterator[GoSite]:
    for one, names in statements:
        site = _parse_site(function, number, one)
        if site is not None and site.kind is SiteKind.RETURN:
            yield msgspec.structs.replace(site, readable=names)


def _closure_end(lines: Sequence[str], number: int, last: int) -> int:
    width = len(lines[number - 1]) - len(lines[number - 1].lstrip())
    for at in range(number, last):
        text = lines[at]
        if text.strip().startswith("}") and len(text) - len(text.lstrip()) <= width:
            return at + 1
    return last


def _parse_site(function: GoSourceFunction, number: int, statement: str) -> GoSite | None:
    if statement.startswith("return"):
        given = statement_origin.split_arguments(statement.removeprefix("return").strip())
        parts = _SiteParts(SiteKind.RETURN, (), given or function.results)
    else:
        found = _parse_assignment(statement)
        if found is None:
            return None
        parts = found
    return GoSite(
        parts.kind,
        function.file,
        number,
        function,
        statement,
        parts.targets,
        parts.values,
        parts.operator,
    )


class _SiteParts(Struct, frozen=True):
    """The sides of a statement."""

    kind: SiteKind
    targets: tuple[str, ...]
    values: tuple[str, ...]
    operator: str = ""


def _parse_assignment(statement: str) -> _SiteParts | None:
    text = _LEAD.sub("", statement).rstrip("{").rstrip() if _LEAD.match(statement) else statement
    step = _STEP.match(text)
    if step:
        return _SiteParts(SiteKind.ASSIGN, (step[1],), (step[1],), "+")
    sides = _SIDES.match(text)
    if sides is None:
        return _parse_send(text)
    left = [one.strip() for one in statement_origin.split_arguments(sides["left"])]
    # `var total int = 3`
    targets = tuple(one.split()[0] if " " in one else one for one in left)
    if not all(go_expressions.is_path(one) for one in targets):
        return None
    right = text[sides.end() :]
    is_short = statement.startswith(("if ", "switch ", "for ", "} else if "))
    right = right.partition(";")[0] if is_short else right
    if right.startswith("range "):
        value = right.removeprefix("range ").strip()
        return _SiteParts(SiteKind.ASSIGN, targets, (value,), "range")
    values = statement_origin.split_arguments(right.rstrip(":") if "case " in statement else right)
    return _SiteParts(SiteKind.ASSIGN, targets, values, _operator(statement, sides["sign"]))


def _parse_send(text: str) -> _SiteParts | None:
    """Return the parts of a send to a channel, or of an atomic write."""
    sent, atomic = _SEND.match(text), go_values.parse_atomic_write(text)
    if atomic is not None:
        return _SiteParts(SiteKind.ASSIGN, (atomic[0],), (atomic[1],), atomic[2])
    if sent is None:
        return None
    return _SiteParts(SiteKind.SEND, (sent["channel"],), (sent["value"],))


def _operator(statement: str, sign: str) -> str:
    if statement.startswith("for "):
        return "loop"
    if statement.startswith("var "):
        return ":="
    return sign if sign == ":=" else sign[:-1]


def line_of(function: GoSourceFunction, statement: str) -> int:
    """Return the line of a function at which a statement begins; its head without one."""
    lines = lines_of(function.file)
    found = (
        number
        for number in range(function.head, function.last + 1)
        if without_comment(lines[number - 1]).strip()
        and statement.startswith(without_comment(lines[number - 1]).strip())
    )
    return next(found, function.head)


def lines_of(file: str) -> Sequence[str]:
    """Return the lines of a source; none if it cannot be read."""
    return source_files.read_source(file) or ()


def recovers(function: GoSourceFunction) -> bool:
    """Return whether a function calls `recover`, as in a function that it defers."""
    body = lines_of(function.file)[function.head - 1 : function.last]
    return any("recover()" in without_comment(one) for one in body)
