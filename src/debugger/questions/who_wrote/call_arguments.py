"""Finds the argument that a parameter got, by the call's text. Pure, of any language."""

from __future__ import annotations

import re

from msgspec import Struct

_PARTS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[^\"'()\[\]{},]+|.", re.DOTALL)
_KEYWORD = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*(.*)", re.DOTALL)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_OWN = frozenset({"self", "cls", "this"})


class ParameterNames(Struct, frozen=True):
    """The names that a function gives its arguments: by position, and by keyword only."""

    positional: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class CallArgument(Struct, frozen=True):
    """A call's text, and what a parameter got: `argument`, or its default if it is `left_out`."""

    text: str
    argument: str | None = None
    left_out: bool = False


def call_of(
    statement: str, function: str, name: str, parameters: ParameterNames, *, unpacks: bool
) -> CallArgument:
    """Find the call of a function in a statement, and what it gave a parameter.

    Where the statement does not call it by its name, or more than once, it is told as it is.
    `unpacks`: as in Python `name=x` names an argument, and `*x` stands for several.
    """
    plain = re.sub(r"[(<].*", "", function.replace("<locals>.", ""), flags=re.DOTALL)
    *outer, last = re.split(r"::|\.", plain)
    is_constructor = last == "__init__" and bool(outer)
    called = outer[-1] if is_constructor else last
    pattern = rf"((?:[\w$]+(?:\.|->|::))*)\b{re.escape(called)}(?:<[^()]*>)?\s*\("
    found = list(re.finditer(pattern, statement))
    if not called or len(found) != 1:
        return CallArgument(statement)
    begun = found[0]
    given, end = _split_arguments(statement, begun.end())
    if not end:
        return CallArgument(statement)
    text = statement[begun.start() : end]
    # Of `box.put(x)` the first argument is box, and not of `Box.put(box, x)`.
    before = statement[: begun.start(1)] + begun[1]
    is_of_class = begun[1].rstrip(".") in outer[-1:]
    is_bound = is_constructor or (before.endswith((".", "->")) and not is_of_class)
    has_own = is_bound and not _OWN.isdisjoint(parameters.positional[:1])
    positional = parameters.positional[has_own:]
    if name not in positional and name not in parameters.keywords:
        return CallArgument(text)
    named = [match for one in given if unpacks and (match := _KEYWORD.fullmatch(one))]
    for one in named:
        if one[1] == name:
            return CallArgument(text, one[2])
    given = given[: len(given) - len(named)]
    at = positional.index(name) if name in positional else len(given)
    if unpacks and any(one.startswith("*") for one in given[: at + 1]):
        return CallArgument(text)  # it may stand for the one that is meant
    return CallArgument(text, given[at]) if at < len(given) else CallArgument(text, left_out=True)


def _split_arguments(text: str, start: int) -> tuple[list[str], int]:
    """Return the arguments of a call from behind its bracket, and its end; 0: it has none."""
    found = [""]
    depth = 1
    for part in _PARTS.finditer(text, start):
        depth += (part[0] in _OPENING) - (part[0] in _CLOSING)
        if not depth:
            told = [one.strip() for one in found]
            return [one for one in told if one], part.end()
        if depth == 1 and part[0] == ",":
            found.append("")
        else:
            found[-1] += part[0]
    return [], 0
