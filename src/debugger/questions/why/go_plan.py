"""Plans which lines of a Go program are logged for the origin of a value, by the source alone."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from debugger.model.breakpoints import BreakpointSpec
from debugger.questions.why import go_expressions, go_source, go_values, statement_origin
from debugger.questions.why.go_expressions import RightSide
from debugger.questions.why.go_source import GoSite, GoSourceFunction, GoSources, SiteKind

SITES_MAX = 100
_VISITED_MAX = 400  # names that are looked for
_NAMESAKES_MAX = 12  # functions that a call may mean, as of an interface
_VALUES_MAX = 60  # returns of functions that a variable may hold
_CALLERS_MAX = 6
_OPERANDS_MAX = 4
_TARGETS_MAX = 3
# Where a frame begins on its goroutine's stack: the stack may move, and keeps this distance.
DEPTH = ("uintptr(_RSP)", "runtime.curg.stack.hi")
_LAST = re.compile(r"^(?P<slice>[\w.]+)\[len\((?P=slice)\) ?- ?1\]$")
_LOOP = re.compile(r"\s*(?:\w+:\s*)?for\b.*\{\s*$")
_VARIABLES = re.compile(r"\s*var\s+(\w+(?:,\s*\w+)*)\s+[^=]+$")


def line_breakpoint(site: GoSite) -> BreakpointSpec:
    """Return a breakpoint at a site."""
    return BreakpointSpec(file=site.file, line=site.line)


class PassBegin(Struct, frozen=True):
    """The line that begins each pass of a function, or of a loop in it."""

    function: GoSourceFunction
    line: int
    # The last line of the loop.
    last: int
    # The variables that each pass of the loop has anew; None: all of the function.
    fresh: frozenset[str] | None = None

    @property
    def spec(self) -> BreakpointSpec:
        """A breakpoint at the line."""
        return BreakpointSpec(file=self.function.file, line=self.line)

    @property
    def place(self) -> str:
        """The file's name and the line."""
        return f"{Path(self.function.file).name}:{self.line}"

    def is_of_pass(self, site: GoSite) -> bool:
        """Return whether what a site gives is gone with the pass."""
        if site.function != self.function or not self.line <= site.line <= self.last:
            return False
        roots = {go_expressions.split_path(one.lstrip("*"))[-1] for one in site.targets}
        return site.kind is not SiteKind.ASSIGN or self.fresh is None or roots <= self.fresh


def find_pass(
    sources: GoSources, function: GoSourceFunction | None, at: int | None
) -> PassBegin | None:
    """Return what begins the pass that leads to a line: of its function, or a loop's body.

    The outermost loop of the function around the line is meant: one of a test's table.
    """
    if function is None or at is None:
        return None
    lines = [go_source.without_comment(one).rstrip() for one in go_source.lines_of(function.file)]
    width, head = _indent(lines[at - 1]), function.head
    for number in range(at - 1, function.head, -1):
        text = lines[number - 1]
        if text and _indent(text) < width:
            width = _indent(text)
            head = number if _LOOP.match(text) else head
    if head == function.head:
        return PassBegin(function, head, function.last) if head != at else None
    # A breakpoint at the line of `for … range` is hit once.
    width, body = _indent(lines[head - 1]), range(head + 1, function.last + 1)
    first = next(one for one in body if lines[one - 1])
    last = next((one for one in body if lines[one - 1] and _indent(lines[one - 1]) <= width), first)
    declared = {
        target
        for site in sources.sites_in(function, SiteKind.ASSIGN)
        if head <= site.line <= last and site.operator in go_source.DECLARING
        for target in site.targets
    }
    named = (_VARIABLES.match(lines[one - 1]) for one in range(head, last))
    declared |= {name for one in named if one is not None for name in re.split(r",\s*", one[1])}
    found = PassBegin(function, first, last, frozenset(declared))
    return found if first != at else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


class LoggedExpression(Struct, frozen=True):
    """An expression of a logpoint: a value, an address, or the pointer of a map or a channel."""

    role: str
    # The path in the source that it belongs to.
    path: str
    text: str


def address_text(path: str) -> str:
    """Return the expression of delve for the address of a path."""
    if path.startswith("*"):
        return f"uintptr({path[1:]})"
    return f"uintptr(&{path})"


def pointer_text(path: str) -> str:
    """Return the expression of delve for the pointer that a map or a channel is."""
    return f"*(*uintptr)(uintptr(&{path}))"


def logged_expressions(site: GoSite) -> list[LoggedExpression]:
    """Return what is logged at a site, before it runs."""
    found = [LoggedExpression("depth", "", one) for one in DEPTH]
    for target in site.targets[:_TARGETS_MAX]:
        if target == "_":
            continue
        found += _target_expressions(site, target)
    operands: dict[str, None] = {}
    for value in site.values:
        operands |= dict.fromkeys(go_expressions.paths_in(value))
        appended = go_expressions.classify_value(value)
        if appended.kind == "append" and appended.origin is not None:
            first = appended.origin.arguments[0]
            found.append(LoggedExpression("length", first, f"len({first})"))
        if appended.kind == "receive":
            found.append(LoggedExpression("pointer", appended.text, pointer_text(appended.text)))
    for path in list(operands)[:_OPERANDS_MAX]:
        if site.readable is not None and go_expressions.split_path(path)[-1] not in site.readable:
            continue
        last = _LAST.match(path)
        if last is not None:
            found.append(LoggedExpression("length", last["slice"], f"len({last['slice']})"))
        found.append(LoggedExpression("value", path, path))
        found.append(LoggedExpression("address", path, address_text(path)))
        found += _key_expressions(path)
    return found


def _target_expressions(site: GoSite, target: str) -> Iterator[LoggedExpression]:
    if site.kind is SiteKind.SEND:
        yield LoggedExpression("pointer", target, pointer_text(target))
        return
    # A variable that the line declares is not there yet.
    if site.operator in go_source.DECLARING:
        return
    yield LoggedExpression("address", target, address_text(target))
    yield LoggedExpression("value", target, target)
    yield from _key_expressions(target)


def _key_expressions(path: str) -> Iterator[LoggedExpression]:
    """Yield what tells which entry of which map, or element of which slice, a path is."""
    element = go_expressions.split_element(path)
    if element is not None:
        base, key = element
        yield LoggedExpression("pointer", base, pointer_text(base))
        if go_expressions.is_path(key):
            yield LoggedExpression("value", key, key)


def plan_sites(
    sources: GoSources, function: GoSourceFunction | None, expression: str
) -> list[GoSite]:
    """Return the lines that may give a value, and those before them, the nearest first."""
    found: dict[GoSite, None] = {}
    waiting: deque[tuple[GoSourceFunction | None, str]] = deque([(function, expression)])
    visited: set[tuple[GoSourceFunction | None, str]] = set()
    while waiting and len(found) < SITES_MAX and len(visited) < _VISITED_MAX:
        here = waiting.popleft()
        if here in visited:
            continue
        visited.add(here)
        for site in _giving_sites(sources, *here):
            if site not in found:
                found[site] = None
                at, suffix = _target_part(site, here[1])
                waiting.extend(_read_by(sources, site, found, at, suffix))
        waiting.extend(_passed_by(sources, *here, found))
    sites = list(found)[:SITES_MAX]
    return [*sites, *_other_calls(sources, sites)][:SITES_MAX]


def _other_calls(sources: GoSources, sites: Sequence[GoSite]) -> Iterator[GoSite]:
    """Yield the further lines with calls in the functions whose calls are followed.

    A `return` that is reached after such a line is of a later call.
    """
    calling = [
        site.function
        for site in sites
        if any(
            (side := go_expressions.classify_value(one)).kind == "call"
            or (side.kind == "computed" and sources.program_calls(side.text))
            for one in site.values
        )
    ]
    known = {(one.file, one.line) for one in sites}
    for function in dict.fromkeys(calling):
        yield from (one for one in sources.calls_in(function) if (one.file, one.line) not in known)


def _giving_sites(
    sources: GoSources, function: GoSourceFunction | None, expression: str
) -> Iterator[GoSite]:
    """Yield the assignments that may write a path, or one of its beginnings."""
    paths = go_expressions.split_path(expression.lstrip("*&"))
    root = paths[-1]
    # An element under another name of its key.
    elements = {_any_element(one) for one in paths if one.endswith("]")}
    if function is not None:
        for site in sources.sites_in(function, SiteKind.ASSIGN):
            if any(
                one.lstrip("*") in paths or _any_element(one) in elements for one in site.targets
            ):
                yield site
    is_local = function is not None and (
        root in (*function.parameters, *function.results, function.receiver)
        or any(root in one.targets for one in sources.sites_in(function, SiteKind.ASSIGN))
    )
    for site in sources.sites:
        if site.kind is not SiteKind.ASSIGN or site.function == function:
            continue
        if any(_may_be(one, paths, is_local=is_local) for one in site.targets):
            yield site


def _any_element(path: str) -> str:
    """Return a path with its last key or index left out: `a.b[]` of `a.b[row.id]`."""
    element = go_expressions.split_element(path)
    return f"{element[0]}[]" if element is not None else path


def _may_be(target: str, paths: Sequence[str], *, is_local: bool) -> bool:
    """Return whether a target elsewhere may be the memory of a path, by its last name."""
    if target.startswith("*"):
        return is_local
    if len(paths) == 1:
        return not is_local and target == paths[0]
    last = _any_element(target).rpartition(".")[2]
    requested = [_any_element(one) for one in paths[:-1]]
    if last.endswith("[]"):
        return any(one.endswith("[]") for one in requested)
    is_field = "." in target and any(one.endswith(f".{last}") for one in requested)
    return is_field or (not is_local and target == paths[-1])


def _target_part(site: GoSite, expression: str) -> tuple[int, str]:
    """Return which of a site's targets an expression begins with, and the rest; else the first."""
    text = expression.lstrip("*&")
    paths = go_expressions.split_path(text)
    at = next((at for at, one in enumerate(site.targets) if one.lstrip("*") in paths), None)
    return (at, text.removeprefix(site.targets[at].lstrip("*"))) if at is not None else (0, "")


def _read_by(
    sources: GoSources, site: GoSite, found: dict[GoSite, None], at: int, suffix: str = ""
) -> Iterator[tuple[GoSourceFunction, str]]:
    """Yield what a site reads for one of its values or results, counted from 0.

    The returns of what it calls are added to `found`. `suffix` is the part of the value.
    """
    for value in site.values[at : at + 1] or site.values:
        result = at if len(site.values) == 1 else 0
        part = "" if site.operator in {"range", "loop"} else suffix
        yield from _value_reads(sources, site.function, value, found, result, part)


def read_by_value(
    sources: GoSources, function: GoSourceFunction, value: str, found: dict[GoSite, None]
) -> list[tuple[GoSourceFunction, str]]:
    """Return what an expression reads; the returns of what it calls are added to `found`."""
    return list(_value_reads(sources, function, value, found, 0, ""))


def _value_reads(  # noqa: PLR0917 - a value and its part
    sources: GoSources,
    function: GoSourceFunction,
    value: str,
    found: dict[GoSite, None],
    result: int,
    suffix: str,
) -> Iterator[tuple[GoSourceFunction, str]]:
    """Yield what a right side reads for a part of it."""
    side = go_expressions.classify_value(value)
    # The part first: a line is looked through once, for what it is found for.
    if side.kind == "path" and suffix:
        yield function, side.text.lstrip("*&") + suffix
    yield from ((function, one) for one in go_expressions.paths_in(value))
    part = re.match(r"\.[A-Za-z_]\w*|\[[^\[\]]*\]", suffix)
    if side.kind == "literal" and part is not None:
        fields = sources.fields_of(side.text)
        inner = go_values.part_of_literal(side.text, part[0], fields) or ""
        rest = suffix[part.end() :]
        yield from _value_reads(sources, function, inner, found, 0, rest) if inner else ()
    if side.kind == "append" and side.origin is not None and part is not None:
        for one in side.origin.arguments[1:]:
            yield from _value_reads(sources, function, one, found, 0, suffix[part.end() :])
    if side.kind == "receive":
        for other in sources.sites:
            if other.kind is SiteKind.SEND and other not in found:
                found[other] = None
                yield from _read_by(sources, other, found, 0, suffix)
    if side.kind == "call":
        yield from _returned_by(sources, function, value, found, result, suffix)
    for call, rest in _inner_calls(sources, side, part):
        yield from _returned_by(sources, function, call, found, 0, rest)


def _inner_calls(
    sources: GoSources, side: RightSide, part: re.Match[str] | None
) -> Iterator[tuple[str, str]]:
    """Yield the calls in a computed value, or in a literal, and the part of their results."""
    if side.kind == "computed":
        yield from ((one, "") for one in sources.program_calls(side.text))
    # Of an element by a variable each may be meant.
    if side.kind == "literal" and part is not None and not go_expressions.is_fixed_part(part[0]):
        rest = part.string[part.end() :]
        yield from ((one, rest) for one in sources.program_calls(side.text))


def _returned_by(  # noqa: PLR0917 - a call and a part of its result
    sources: GoSources,
    function: GoSourceFunction,
    value: str,
    found: dict[GoSite, None],
    result: int,
    suffix: str,
) -> Iterator[tuple[GoSourceFunction, str]]:
    """Yield what the returns of a call read for one of its results; they are added to `found`."""
    called = go_expressions.called_name(value)
    functions = sources.functions_named(called)[:_NAMESAKES_MAX]
    returns = [site for one in functions for site in sources.sites_in(one, SiteKind.RETURN)]
    if not functions and sources.is_function_value(called):
        returns = sources.returns_of_values(function.file)[:_VALUES_MAX]
    for returned in returns:
        if returned not in found and len(found) < SITES_MAX:
            found[returned] = None
            yield from _read_by(sources, returned, found, result, suffix)
    # What a deferred function gives to a result has no `return`.
    for one in functions:
        yield from ((one, name) for name in one.results[result : result + 1])
    atomic = go_values.atomic_path(value)
    if not functions and atomic is not None:
        yield function, atomic


def _passed_by(
    sources: GoSources,
    function: GoSourceFunction | None,
    expression: str,
    found: dict[GoSite, None],
) -> Iterator[tuple[GoSourceFunction, str]]:
    """Yield the arguments that the callers by the source may pass for a parameter."""
    if function is None:
        return
    root = go_expressions.split_path(expression.lstrip("*&"))[-1]
    suffix = expression.lstrip("*&").removeprefix(root)
    if root not in (*function.parameters, function.receiver):
        return
    for caller, statement in sources.callers_of(function)[:_CALLERS_MAX]:
        text = passed_argument(statement, function, root)
        if text and go_expressions.is_path(text):
            yield caller, text.lstrip("*&") + suffix
        elif text:
            yield from _value_reads(sources, caller, text, found, 0, suffix)


def passed_argument(statement: str, function: GoSourceFunction, name: str) -> str:
    """Return the text that a call passes for a parameter or the receiver; "" if unknown."""
    call = statement_origin.call_in_statement(statement, function.name)
    if call is None:
        return ""
    if name == function.receiver:
        found = re.match(rf"(.+)\.{function.name}\(", call.text)
        return found[1] if found else ""
    at = function.parameters.index(name)
    return call.arguments[at] if at < len(call.arguments) else ""
