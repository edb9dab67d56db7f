"""Builds the PHP code that Xdebug evaluates, so that what it throws is told and not lost.

Xdebug 3.2 says of an expression that throws only "error evaluating code", and a condition that
throws is false to it. So an expression is evaluated inside `try`, and its error is its value.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from typing import Protocol

from debugger.backends.adapters.xdebug import dbgp_values as dbgp

_FUNCTION = re.compile(r"\A(?:(?P<owner>[\w\\]+)(?:->|::))?(?P<name>[\w\\]+)\Z")
_ERROR = "$debugger_error"
_MARK = "\0debugger\0"
_TEXT = f"get_class({_ERROR}) . ': ' . {_ERROR}->getMessage()"
STATE = "debugger_state"  # a global variable that has what conditions found
_STATE = f"$GLOBALS['{STATE}']"
# Takes what the last condition found: the numbers that are due, and [number, error] of others.
TAKE_DUE = f"json_encode([{_STATE}['due'] ?? [], {_STATE}['errors'] ?? []])"

# Where a value of a frame waits to be read, and the expression that takes it from there.
VALUE = f"{_STATE}['value']"
TAKE_VALUE = f"(static function () {{ $taken = {VALUE}; unset({VALUE}); return $taken; }})()"


class CheckedBreakpoint(Protocol):
    """What is checked of a breakpoint."""

    number: int
    condition: str | None
    hit_count: int | None


def quote_text(text: str) -> str:
    """Quote a text as PHP does."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def capture_error(expression: str) -> str:
    """Return an expression whose value is that of another one, or what that threw."""
    mark = '"\\0debugger\\0"'
    # A part of its own, so that one that does not parse is told, too.
    part = quote_text(f"return {expression};")
    code = (
        f"try {{ return eval({part}); }} catch (\\Throwable {_ERROR}) "
        f"{{ return {mark} . {_TEXT}; }} finally {{ unset({_ERROR}); }}"
    )
    return f"eval({quote_text(code)})"


def check_breakpoints(group: Sequence[CheckedBreakpoint]) -> str | None:
    """Return a condition that is true where one of the breakpoints is due, or its condition throws.

    None where there is nothing to check.
    """
    if not any(one.condition or one.hit_count for one in group):
        return None
    checks = "".join(map(_check_breakpoint, group))
    start = f"{_STATE}['due'] = {_STATE}['errors'] = []; "
    end = f"return {_STATE}['due'] || {_STATE}['errors'];"
    return f"eval({quote_text(start + checks + end)})"


def _check_breakpoint(one: CheckedBreakpoint) -> str:
    parts = [f"eval({quote_text(f'return {one.condition};')})"] if one.condition else []
    if one.hit_count:
        hits = f"{_STATE}['hits'][{one.number}]"
        parts.append(f"({hits} = ({hits} ?? 0) + 1) >= {one.hit_count}")
    due = f"if ({' && '.join(parts) or 'true'}) {_STATE}['due'][] = {one.number};"
    return (
        f"try {{ {due} }} catch (\\Throwable {_ERROR}) "
        f"{{ {_STATE}['errors'][] = [{one.number}, {_TEXT}]; }} finally {{ unset({_ERROR}); }} "
    )


def match_function(function: str) -> re.Match[str] | None:
    """Return the groups `owner`, a class, and `name` of a function's name, if it has one."""
    return _FUNCTION.match(function)


def list_parameters(function: str) -> str | None:
    """Return code that reads the names of a function's parameters; None without a name."""
    match = match_function(function)
    if match is None:
        return None
    owner, name = match["owner"], quote_text(match["name"])
    reflected = (
        f"ReflectionMethod({quote_text(owner)}, {name})" if owner else f"ReflectionFunction({name})"
    )
    names = f"fn ($one) => $one->getName(), (new {reflected})->getParameters()"
    return f"json_encode(array_map({names}))"


def list_variables(calls: int) -> str:
    """Return code that lists the variables of the caller of one of PHP's own functions."""
    return f"get_defined_vars() + array_filter(['this' => {_find_object(calls)}])"


def bind_object(expression: str, calls: int) -> str:
    """Return an expression with its `$this`, which in one of PHP's own methods is that one's."""
    if "$this" not in expression:
        return expression
    found = _find_object(calls)
    return f"\\Closure::bind(fn () => {expression}, {found}, {found})()"


def _find_object(calls: int) -> str:
    """Return code that finds the object of a method, which so many calls of functions led to."""
    return f"(array_reverse(debug_backtrace(1))[{calls - 1}]['object'] ?? null)"


def check_built_in(functions: Iterable[str]) -> str:
    """Return code that tells of each function, by its name, whether it is one of PHP's own."""
    return f"json_encode([{', '.join(map(_check_built_in, functions))}])"


def _check_built_in(function: str) -> str:
    match = match_function(function)
    if match is None:
        return "false"
    owner, name = quote_text(match["owner"] or ""), quote_text(match["name"])
    if match["owner"]:
        reflected = f"new ReflectionMethod({owner}, {name})"
        return f"method_exists({owner}, {name}) && ({reflected})->isInternal()"
    return f"function_exists({name}) && (new ReflectionFunction({name}))->isInternal()"


def read_thrown(value: ET.Element | None) -> str | None:
    """Return what an expression of `capture_error` threw."""
    if value is None or value.get("type") != "string":
        return None
    text = dbgp.read_text(value)
    return text.removeprefix(_MARK) if text.startswith(_MARK) else None
