"""Finds the body of a lambda, a closure or a function on one line within a statement. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from debugger.questions.why import statement_origin

_CLOSURE = re.compile(r"\|(?P<names>[^|]*)\|\s*(?:->[^{|]*)?")
_LAMBDA = re.compile(r"\[[^\[\]]*\]\s*(?:\((?P<names>[^()]*)\))?[^{};()]*\{")
_FUNCTION = re.compile(r"\bfn\s+(\w+)\b.*?\{(.*)\}\s*$", re.DOTALL)
_HIDDEN = frozenset({"__closure", "this", "self"})


def body_of(function: str, arguments: Sequence[str], statement: str) -> str:
    """Return the body of the function that runs, if a statement holds it and more; else "".

    Args:
        function: The function as gdb names it.
        arguments: The names of its parameters.
        statement: The statement that its line is part of.
    """
    if "{closure" in function:
        bodies = list(_closure_bodies(statement))
    elif function.endswith("operator()") or "lambda" in function:
        bodies = list(_lambda_bodies(statement))
    else:
        one_line = _FUNCTION.search(statement)
        is_own = one_line is not None and one_line[1] == re.split(r"::|<", function)[-1]
        return _last_expression(one_line[2]) if one_line is not None and is_own else ""
    names = {one for one in arguments if one not in _HIDDEN}
    fitting = {body for body, known in bodies if names <= known}
    return fitting.pop() if len(fitting) == 1 else ""


def _closure_bodies(statement: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the bodies of Rust's closures, each with the words of its parameters."""
    at = 0
    while (match := _CLOSURE.search(statement, at)) is not None:
        at = match.end()
        rest = statement[at:]
        end = statement_origin.closing_bracket(rest, 0) if rest.startswith("{") else 0
        first = statement_origin.split_arguments(rest)[:1]
        body = rest[1:end] if end > 0 else first[0] if first and not end else ""
        if body:
            yield _last_expression(body), set(re.findall(r"\w+", match["names"]))


def _lambda_bodies(statement: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the bodies of C++'s lambdas, each with the words of its parameters."""
    for match in _LAMBDA.finditer(statement):
        end = statement_origin.closing_bracket(statement, match.end() - 1)
        if end > 0:
            yield (
                statement[match.end() : end].strip(),
                set(re.findall(r"\w+", match["names"] or "")),
            )


def _last_expression(body: str) -> str:
    """Return the expression that gives a block of Rust its value, as far as it is on one line."""
    depth = begin = 0
    for at, letter in enumerate(body):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == ";" and not depth:
            begin = at + 1
    return body[begin:].strip()
