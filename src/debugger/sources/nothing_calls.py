"""Finds the call whose result was nothing, in the statement that failed for it. Pure.

Of `repo.find(key).rows` and "'NoneType' object has no attribute 'rows'" it is `repo.find(key)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from debugger.model.null_message import NullMessage, parse_null_message
from debugger.sources.condition_text import closing_bracket

_STATEMENT_MAX = 2_000  # characters that are looked at
_SOURCE_MAX = 2_000_000  # characters of a file that is parsed
_CALLS_MAX = 40
_CHAIN_MAX = 12  # lines of a chain of calls
_MARK = r"(?:\?\.|\.|::|->)"
_GENERIC = r"(?:::<[\w:<>, ]*>)?"  # of Rust
_NAME = r"[A-Za-z_$][\w$]*"
# A call begins no name, or behind the dots of a spread; its object may be a literal text.
_CALL = re.compile(
    r"(?<![\w$>:])(?:(?<!\.)|(?<=\.{3}))"
    rf"(?:new\s+|(?:\"[^\"\n]*\"|'[^'\n]*')\.)?{_NAME}(?:\[[^\[\]()]*\]|{_MARK}{_NAME})*{_GENERIC}\("
)
_METHOD = re.compile(rf"(?:\s*{_MARK}\s*{_NAME})+{_GENERIC}\(")
# What may follow the result of a call.
_MEMBER = re.compile(rf"\s*{_MARK}\s*(?P<name>{_NAME})")
_KEY = re.compile(r"\s*\[\s*[\"'`]?(?P<key>[^\]\"'`]*)[\"'`]?\s*\]")
_PART = re.compile(rf"{_MARK}{_NAME}(?![\w$(])|\[[^\[\]()]*\]")
_POINTED = re.compile(r"\s*->\s*[A-Za-z_]")
# A call that is a whole argument, and one that has another in its arguments.
_PASSES, _PASSED = re.compile(r"[\w)](?:\(|,)\s*\Z|\w\([^()]*,\s*\Z"), re.compile(r"\s*[,)]")
_INNER_CALL = re.compile(rf"\(.*{_NAME}\(", re.DOTALL)
# CPython's and V8's words where the result is gone through, unpacked, or entered.
_TAKEN = re.compile(
    r"'NoneType' object is not iterable|non-iterable NoneType object|'NoneType' has no len\(\)"
    r"|argument of type 'NoneType'|'NoneType' object does not support the (?:\w+ )*context manager"
    r"|(?:undefined|null) is not iterable"
)
# PHP names the function that was given null, and the number of the argument.
_GIVEN = re.compile(r"(?P<to>\w+)\(\): Argument #(?P<at>\d+) .*\bnull given")
# V8 names the function.
_RETURNED = re.compile(
    r"(?P<called>[\w$.]+) is not a function or its return value is not iterable"
    r"|Cannot destructure property '.*' of '(?P<taken>[\w$.]+)\(\.\.\.\)' as it is"
    r"|(?P<result>[\w$.]+)\(\.\.\.\) is not a function"
)
# Go's runtime names no member. A package's name begins no method of a result.
_DEREFERENCED = "nil pointer dereference"
# What Rust takes a value out of an option or a result with, and its own words of a failure.
_UNWRAPS = re.compile(
    r"\s*\.\s*(?:unwrap|unwrap_err|expect|expect_err)\(\s*(?:\"(?P<words>[^\"]*)\")?"
)
# A chain of names and calls at a text's end, with brackets in brackets.
_BRACKETS = r"(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[[^\[\]]*\])"
_RECEIVER = re.compile(
    rf"(?<![\w.])[A-Za-z_]\w*(?:(?:\.|::)(?:[A-Za-z_]\w*|<[\w:<>, ]*>)|{_BRACKETS})*\Z"
)
_UNWRAPPED = re.compile(r"called `\w+::unwrap(?:_err)?\(\)` on an? ")
_PATH = re.compile(
    r"(?<![\w.\])?:])(?P<path>[A-Za-z_]\w*(?:\.\w+)*?)(?=\s*\.\s*(?:unwrap|expect)(?:_err)?\()"
)
_LOOKUP = re.compile(
    r"\.(?:get|get_mut|remove|nth|get_key_value)\(\s*[&*]*(?P<key>[A-Za-z_][\w.]*)\s*\)\Z"
)
# Go: an element of a call's result is set, or called.
_NIL_MAP = "assignment to entry in nil map"
_SET = re.compile(r"\[[^\[\]]*\]\s*(?:[-+*/|&^%]?=(?!=)|\+\+|--)")
_ELEMENT_CALLED = re.compile(
    r"(?<![\w.\])])(?P<callee>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\[[^\[\]()]*\])+)\("
)
# Variables, their elements and members, which may be calls of Ruby without brackets.
_PLAIN = re.compile(r"[@$]*\w+(?:\[[^\[\]]*\]|(?:&?\.|\?\.|::\$?|\??->)\w+)*")
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
    ways = (_RETURNED, _TAKEN, _OPERATED, _GIVEN)
    is_it = any(one.search(message) for one in ways) or parse_null_message(message) is not None
    return is_it or _NIL_MAP in message


def find_nothing_call(statement: str, message: str) -> str:
    """Return the only call of a statement whose result, or part of it, a message calls nothing.

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
        taken = [(one, rest) for one, before, rest in _calls(text) if _TAKES.search(before)]
        return _only(f"{one}{_longest_part(rest)}" for one, rest in taken)
    operated = _OPERATED.search(message)
    if operated is not None:
        return _find_operand(text, operated)
    given = _GIVEN.search(message)
    if given is not None:
        return _only(one for one, before, rest in _calls(text) if _is_given(before, rest, given))
    every = list(_calls(text))
    null = parse_null_message(message)
    if null is None:
        return _only(_set_elements(every)) if _NIL_MAP in message else ""
    return _only(one for one, _, rest in every if _is_read(rest, null, message)) or _only(
        f"{one}{part}"
        for one, _, rest in every
        for part, behind in _parts(rest)
        if _is_read(behind, null, message)
    )


def _set_elements(calls: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Yield the results of calls, and their elements, of which an element is set."""
    for one, _, rest in calls:
        for part, behind in (("", rest), *_parts(rest)):
            if _SET.match(behind):
                yield f"{one}{part}"


def _parts(rest: str) -> Iterator[tuple[str, str]]:
    """Yield the members of a call's result, as `.value` of `it.next().value.x`, what is behind."""
    end = 0
    while (part := _PART.match(rest, end)) is not None:
        end = part.end()
        yield rest[:end], rest[end:]


def _longest_part(rest: str) -> str:
    return max((part for part, _ in _parts(rest)), key=len, default="")


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


def find_called_element(statement: str) -> str:
    """Return the only element of a statement of Go that it calls, as `handlers[name]`."""
    text = statement[:_STATEMENT_MAX]
    return _only(one["callee"] for one in _ELEMENT_CALLED.finditer(text))


def find_unwrapped_call(statement: str, message: str, begin: str = "") -> str:
    """Return the only call or variable of a statement of Rust of whose value a panic complains.

    Args:
        statement: The source of the statement that failed.
        message: The panic's message: that of `unwrap`, or the one that was given to `expect`.
        begin: Of the source, what is before the column of the panic; empty where it is not known.
    """
    text = statement[:_STATEMENT_MAX]
    is_plain = _UNWRAPPED.search(message) is not None
    if is_plain and begin.rstrip().endswith("."):
        # The column is that of the method: what is before it is unwrapped.
        receiver = _RECEIVER.search(begin.rstrip()[:-1])
        if receiver is not None:
            return receiver[0].strip()
    found = [(one, _UNWRAPS.match(rest)) for one, _, rest in _calls(text)]
    found += [(one["path"], _UNWRAPS.match(text, one.end())) for one in _PATH.finditer(text)]
    return _only(
        one
        for one, taken in found
        if taken is not None
        and (is_plain if taken["words"] is None else message.startswith(taken["words"]))
    )


def find_lookup_key(call: str) -> str:
    """Return the key or index of a call that looks one up in a collection of Rust; "" for others.

    What the collection gives for it has no function of the program that could be followed.
    """
    found = _LOOKUP.search(call)
    return found["key"] if found is not None else ""


def rust_statement(lines: Sequence[str], line: int) -> str:
    """Return the statement of Rust that a line is in, where that may be in a chain of calls."""
    first = line
    while first > 1 and lines[first - 1].lstrip().startswith((".", "?")):
        first -= 1
    parts = [one.split("//")[0].strip() for one in lines[first - 1 : first + _CHAIN_MAX]]
    text = ""
    for one in parts:
        text += one if one.startswith(".") else f" {one}"
        is_open = text.count("(") > text.count(")") or text.count("[") > text.count("]")
        if one.endswith((";", "{", "}")) or (one.endswith(",") and not is_open):
            break
    return text.strip()


def find_null_call(statement: str, *, is_inside: bool = False) -> str:
    """Return the only call of a statement of C or C++ through whose result it reads memory.

    `is_inside`: a library's function failed, to which the result may have been passed.
    """
    every = list(_calls(statement[:_STATEMENT_MAX]))
    found = _only(one for one, _, rest in every if _POINTED.match(rest))
    if found or not is_inside:
        return found
    return _only(
        one
        for one, before, rest in every
        if _PASSES.search(before) and _PASSED.match(rest) and not _INNER_CALL.search(one)
    )


def describe_nothing_call(call: str, message: str, exception: str) -> str:
    """Say that a call returned nothing, and what was done to that; of other words the message."""
    null = parse_null_message(message)
    if _NIL_MAP in message:
        return f"write to a nil map: {call} is nil"
    if _DEREFERENCED in message and call.endswith("]") and not call.partition("(")[1]:
        return f"nil pointer, perhaps {call}, a function that is nil or has no entry"
    if _DEREFERENCED in message:
        return f"nil pointer, perhaps what {call} returned"
    if null is None or not null.name:
        text = f"{call} returned None: {message}" if "NoneType" in message else message
        return f"{text} ({exception})"
    arrow = "->" if message.startswith("Call to a member function") else "."  # of PHP
    mark = (
        "[{}]" if null.name.isdigit() else f"{arrow}{{}}" if null.bare_name.isidentifier() else "{}"
    )
    is_called = null.what == "nil" and null.verb == "read"  # an operator, or `[]`: methods of Ruby
    done = f"{mark.format(null.name)} of it is {'called' if is_called else null.verb}"
    verb = "is" if is_plain_path(call) else "returned"
    return f"{null.what}: {call} {verb} {null.what}, {done} ({exception})"


def is_plain_path(text: str) -> bool:
    """Return whether a text is a variable, or an element or member of one, and no call."""
    return _PLAIN.fullmatch(text) is not None


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
    if not null.name and _DEREFERENCED in message:
        return member is not None
    names = {member["name"] if member is not None else "", key["key"] if key is not None else ""}
    return bool(null.name) and null.bare_name in names


def _is_given(before: str, rest: str, given: re.Match[str]) -> bool:
    """Return whether a call is the whole argument that a function of PHP refused."""
    others = r"[^(),]*," * (int(given["at"]) - 1)
    begins = re.search(rf"\b{given['to']}\({others}\s*\Z", before)
    return begins is not None and rest.lstrip().startswith((",", ")"))


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
