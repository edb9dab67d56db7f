"""Finds the call whose result was nothing, in the statement that failed for it. Pure.

Of `repo.find(key).rows` and "'NoneType' object has no attribute 'rows'" it is `repo.find(key)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from debugger.model.null_message import NullMessage, parse_null_message
from debugger.sources.condition_text import closing_bracket

_STATEMENT_MAX = 2_000  # characters that are looked at
_SOURCE_MAX = 2_000_000  # characters of a file that is parsed
_CALLS_MAX = 40
_MARK = r"(?:\?\.|\.|::|->)"
_NAME = r"[A-Za-z_$][\w$]*"
# A call begins no name, or behind the dots of a spread; its object may be a literal text.
_CALL = re.compile(
    r"(?<![\w$>:])(?:(?<!\.)|(?<=\.{3}))"
    rf"(?:(?:\"[^\"\n]*\"|'[^'\n]*')\.)?{_NAME}(?:\[[^\[\]()]*\]|{_MARK}{_NAME})*\("
)
_METHOD = re.compile(rf"(?:\s*{_MARK}\s*{_NAME})+\(")
# What may follow the result of a call.
_MEMBER = re.compile(rf"\s*{_MARK}\s*(?P<name>{_NAME})")
_KEY = re.compile(r"\s*\[\s*[\"'`]?(?P<key>[^\]\"'`]*)[\"'`]?\s*\]")
_POINTED = re.compile(r"\s*->\s*[A-Za-z_]")
# CPython's and V8's words where the result is gone through, unpacked, or entered.
_TAKEN = re.compile(
    r"'NoneType' object is not iterable|non-iterable NoneType object|'NoneType' has no len\(\)"
    r"|argument of type 'NoneType'|'NoneType' object does not support the (?:\w+ )*context manager"
    r"|(?:undefined|null) is not iterable"
)
# V8 names the function.
_RETURNED = re.compile(
    r"(?P<called>[\w$.]+) is not a function or its return value is not iterable"
    r"|Cannot destructure property '.*' of '(?P<taken>[\w$.]+)\(\.\.\.\)' as it is"
    r"|(?P<result>[\w$.]+)\(\.\.\.\) is not a function"
)
_SUBSCRIPTED = "'NoneType' object is not subscriptable"
_CALLED = "'NoneType' object is not callable"
_OPERATED = re.compile(
    r"unsupported operand type\(s\) for (?P<op>[^:]+): '(?P<left>\w+)' and '(?P<right>\w+)'"
    r"|'(?P<compared>[<>]=?)' not supported between instances of '(?P<one>\w+)' and "
    r"'(?P<other>\w+)'"
    r"|can only concatenate (?P<joined>\w+) \(not \"NoneType\"\)"
)
# What stands before a call whose result is gone through, unpacked, or entered.
_TAKES = re.compile(
    r"(?:\b(?:in|of|with|from)\s+|\.{3}|[\]}]\s*=\s*|[(,\[]\s*\*|,[^=]*(?<![=!<>])=\s*"
    r"|(?<![\w.])(?:list|tuple|set|dict|sorted|enumerate|sum|min|max|any|all|frozenset|iter|reversed"
    r"|deque|len|zip|map\([^(),]*,)\s*\(?\s*)\Z"
)


def is_about_nothing(message: str) -> bool:
    """Return whether a message may be about the result of a call, so that the source matters."""
    ways = (_RETURNED, _TAKEN, _OPERATED)
    return any(one.search(message) for one in ways) or parse_null_message(message) is not None


def find_nothing_call(statement: str, message: str) -> str:
    """Return the only call of a statement whose result may be what a message calls nothing.

    Args:
        statement: The source of the statement that failed.
        message: The exception's message: CPython's, V8's, CRuby's or PHP's.
    """
    text = statement[:_STATEMENT_MAX]
    returned = _RETURNED.search(message)
    if returned is not None:
        name = returned["called"] or returned["taken"] or returned["result"]
        return _only(one for one, _, _ in _calls(text) if one.startswith(f"{name}("))
    if _TAKEN.search(message):
        return _only(one for one, before, _ in _calls(text) if _TAKES.search(before))
    operated = _OPERATED.search(message)
    if operated is not None:
        return _find_operand(text, operated)
    null = parse_null_message(message)
    if null is None:
        return ""
    return _only(one for one, _, rest in _calls(text) if _is_read(rest, null, message))


def python_statement(source: str, line: int) -> str:
    """Return the statement of Python that a line is in, without its body; "" if there is none.

    The line of a failure may be in the middle of one, as in a chain of calls over several lines.
    """
    if len(source) > _SOURCE_MAX:
        return ""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    found: tuple[int, int] | None = None
    for one in ast.walk(tree):
        if isinstance(one, ast.stmt) and one.lineno <= line <= (one.end_lineno or one.lineno):
            body = getattr(one, "body", None)
            end = max(body[0].lineno - 1, one.lineno) if body else one.end_lineno or one.lineno
            if line <= end and (found is None or one.lineno >= found[0]):
                found = one.lineno, end
    if found is None:
        return ""
    lines = [one.strip() for one in source.splitlines()[found[0] - 1 : found[1]]]
    return "".join(one if one.startswith(".") else f" {one}" for one in lines).strip()


def find_null_call(statement: str) -> str:
    """Return the only call of a statement of C or C++ through whose result it reads memory."""
    return _only(one for one, _, rest in _calls(statement[:_STATEMENT_MAX]) if _POINTED.match(rest))


def describe_nothing_call(call: str, message: str, exception: str) -> str:
    """Say that a call returned nothing, and what was done to that; of other words the message."""
    null = parse_null_message(message)
    if null is None or not null.name:
        text = f"{call} returned None: {message}" if "NoneType" in message else message
        return f"{text} ({exception})"
    mark = "[{}]" if null.name.isdigit() else ".{}"
    done = f"{mark.format(null.name)} of it is {null.verb}"
    return f"{null.what}: {call} returned {null.what}, {done} ({exception})"


def _calls(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield each call of a text, also of what another one returned, what is before and behind."""
    for count, begin in enumerate(_CALL.finditer(text)):
        if count == _CALLS_MAX:
            return
        end = closing_bracket(text, begin.end() - 1)
        while end >= 0:
            yield text[begin.start() : end + 1], text[: begin.start()], text[end + 1 :]
            method = _METHOD.match(text, end + 1)
            end = closing_bracket(text, method.end() - 1) if method is not None else -1


def _is_read(rest: str, null: NullMessage, message: str) -> bool:
    """Return whether what follows a call reads, sets or calls the member that a message names."""
    if _CALLED in message:
        return rest.lstrip().startswith("(")
    key = _KEY.match(rest)
    if _SUBSCRIPTED in message or "array offset" in message:
        return key is not None
    member = _MEMBER.match(rest)
    names = {member["name"] if member is not None else "", key["key"] if key is not None else ""}
    return bool(null.name) and null.name in names


def _find_operand(text: str, operated: re.Match[str]) -> str:
    """Return the call on that side of an operator on which None was."""
    op = (operated["op"] or operated["compared"] or "+").partition(" ")[0]
    is_left = "NoneType" in {operated["left"], operated["one"]}
    is_right = not is_left or "NoneType" in {operated["right"], operated["other"]}
    return _only(
        one
        for one, before, rest in _calls(text)
        if (is_left and rest.lstrip().startswith(op)) or (is_right and before.rstrip().endswith(op))
    )


def _only(found: Iterator[str]) -> str:
    every = list(dict.fromkeys(found))
    return every[0] if len(every) == 1 else ""
