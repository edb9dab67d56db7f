"""Finds the calls in statements of Ruby and PHP, with their arguments and receivers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from debugger.questions.why.script_statement import (
    MODIFIER,
    blank_strings,
    classify,
    closing_bracket,
    split_arguments,
)
from debugger.questions.why.statement_origin import OriginKind

_CALLED = re.compile(r"[$@]{0,2}[A-Za-z_\\][\w\\]*[?!]?(?:(?:\?->|->|::|&?\.)\$?\w+[?!]?)*\s*\(")
_VALUE_CALLED = r"\.call(?![\w?!])|(?<![\w.:$@])yield(?!\w)|\.(?=\()|(?<![>:])\$\w+(?=\()|\)(?=\()"
_MAPPING = re.compile(
    r"(?<![\w$>:])(?:array_(?:map|filter|walk|reduce|any|all|find)|u[ak]?sort|iterator_apply)(?=\s*\()"
)
_NO_CALLS = frozenset(
    {"array", "defined?", "elsif", "fn", "function", "if", "isset", "list", "match"}
)


def find_calls(text: str) -> list[str]:
    """Return the calls in an expression that no other call contains, as they stand there."""
    found: list[str] = []
    plain, at = blank_strings(text), 0
    while (match := _CALLED.search(plain, at)) is not None:
        end = closing_bracket(text, match.end() - 1)
        is_made = plain[: match.start()].rstrip().endswith("new")
        if end < 0:
            break
        if match[0].rstrip(" (") in _NO_CALLS:
            at = match.end()
            continue
        if not is_made:
            found.append(text[match.start() : end + 1])
        at = end + 1
    return found


def is_method_call(expression: str) -> bool:
    """Return whether an expression is a call with brackets, of an object's or a class's method."""
    origin = classify(expression)
    is_made = origin.function in {"new", "__construct"}
    is_call = origin.kind is OriginKind.CALL and expression.rstrip().endswith(")")
    return is_call and bool(origin.receiver) and not is_made


def last_name(function: str) -> str:
    """Return a function's name without its class, its object or its namespace."""
    return re.split(r"\?->|->|#|::|&?\.|\\", function)[-1]


def without_calls(text: str, calls: Iterable[str]) -> str:
    """Return an expression with blanks where calls stand in it."""
    for one in calls:
        text = text.replace(one, " " * len(one))
    return text


def list_called_arguments(statement: str, function: str) -> list[tuple[str, ...]]:
    """Return the arguments that a statement gives to a function, once for each call that it names.

    The calls stand in the order in which they begin: what is within another's brackets comes first.
    """
    name = re.split(r"::|->|#|\.|\\", function)[-1]
    patterns = [rf"(?<![\w$@]){re.escape(name)}(?![\w?!])"]
    if name in {"initialize", "__construct"}:
        owner = re.split(r"::|->|#|\.", function)[0].rsplit("\\", 1)[-1]
        patterns = [
            rf"\b{re.escape(owner)}\.new\b|\bnew\s+\\?(?:\w+\\)*{re.escape(owner)}\b",
            r"\b(?:super|parent::__construct|new\s+(?:static|self)|new)\b",
        ]
    plain = blank_strings(statement)
    ends = next((found for one in patterns if (found := _find_ends(one, plain))), [])
    known = sorted((_read_arguments(statement, end) for end in ends), key=lambda one: one[0])
    return [arguments for _, arguments in known]


def list_value_arguments(statement: str) -> tuple[str, ...] | None:
    """Return the arguments of a statement's only call of a value: a block, a closure, a method.

    Ruby's `rule.call(n)`, `rule.(n)` and `yield n`; PHP's `$rule($n)` and `($this->rule)($n)`.
    """
    ends = _find_ends(_VALUE_CALLED, blank_strings(statement))
    return _read_arguments(statement, ends[0])[1] if len(ends) == 1 else None


def find_mapped_array(statement: str) -> str | None:
    """Return the array that a function of PHP calls a closure with, as of `usort($a, fn…)`."""
    found = _MAPPING.search(blank_strings(statement))
    if found is None:
        return None
    arguments = _read_arguments(statement, found.end())[1]
    at = 1 if found[0] == "array_map" else 0
    return arguments[at] if at < len(arguments) else None


def _find_ends(pattern: str, plain: str) -> list[int]:
    return [one.end() for one in re.finditer(pattern, plain)]


def _read_arguments(statement: str, end: int) -> tuple[int, tuple[str, ...]]:
    """Return where the call ends whose name ends at a position, and its arguments."""
    rest = statement[end:]
    if rest.lstrip().startswith("("):
        begin = len(statement) - len(rest.lstrip())
        last = closing_bracket(statement, begin)
        return last, split_arguments(statement[begin + 1 : last]) if last > 0 else ()
    # A command call of Ruby: `add x, 3`.
    bare = re.match(r"[ \t]+(?P<arguments>[^=\s|&.].*)$", MODIFIER.sub("", rest))
    if bare is None:
        return end, ()
    return len(statement), split_arguments(bare["arguments"])


def receiver_of(statement: str, function: str) -> str | None:
    """Return the object, or the class, whose method a statement calls; None if it names none."""
    parts = re.split(r"::|->|#|\.", function)
    owner, name = parts[0], parts[-1]
    if name in {"initialize", "__construct"}:
        made = re.search(rf"\b{re.escape(owner)}\.new\b|\bnew\s+{re.escape(owner)}\b", statement)
        return made[0] if made is not None else None
    path = r"[$@\w]+(?:(?:\?->|->|::|&?\.)\w+|\[[^\[\]]*\])*?"
    found = re.search(
        rf"(?P<path>{path})(?:\?->|->|&?\.){re.escape(name)}(?![\w?!])", blank_strings(statement)
    )
    if found is not None:
        return statement[found.start("path") : found.end("path")]
    is_own = re.search(rf"(?<![\w$@.>:]){re.escape(name)}(?![\w?!])", blank_strings(statement))
    return "self" if is_own is not None else None  # only Ruby calls a method so


def default_of(definition: str, name: str) -> str | None:
    """Return the default that a function's head gives to a parameter."""
    head = definition.partition("(")[2] or definition
    match = re.search(rf"(?<!\w){re.escape(name.lstrip('$'))}\s*(?:=|:)\s*(?P<value>.+)$", head)
    if match is None:
        return None
    value = split_arguments(match["value"] + " ")
    text = value[0] if value else ""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return text[:at].strip() or None
    return text.strip() or None
