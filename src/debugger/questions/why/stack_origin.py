"""Finds the origin of a value as far as a stack and the source show it, without a run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.model.answers.frames import FrameView
from debugger.model.statement import join_statement
from debugger.questions.runner.answer import CallerView, ValueOrigin
from debugger.questions.why import native_values, statement_origin
from debugger.questions.why.answer import LinkCertainty
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin
from debugger.session import source_files
from debugger.sources.function_names import last_part
from debugger.sources.function_span import find_span

_NAME = re.compile(r"[A-Za-z_$][\w$]*\Z")
_NEWTYPE = re.compile(r"(?:[\w:<>]+\s*)?\{\s*\w+:\s*([^\s{},]+)\s*\}\Z")
_PATTERN = r"\b(?:if|while)\s+let\b[^=]*\b{}\b[^=]*=(?!=)"
_FRAMES_MAX = 20
_HEAD_MAX = 12  # lines of a function's head
_OWN = frozenset({"self", "cls"})
_NAME_FIRST = (".go", ".rs", ".py", ".pyw", ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx")
_HASHES = (".py", ".pyw")
_MODULES = frozenset({"<module>", "<anonymous>"})


class StackPosition(Struct, frozen=True):
    """How far a value is known by the stack: its origin, and what is to be followed on, where."""

    origin: ValueOrigin
    expression: str
    frame: FrameView
    # Whether the expression is another one with the same value, of a caller.
    is_passed: bool = False


def follow_stack(
    origin: ValueOrigin, frame: FrameView, callers: Sequence[CallerView]
) -> StackPosition:
    """Follow a parameter to the callers' arguments, as far as they are names or literals."""
    found = StackPosition(origin, origin.expression, frame)
    for caller in list(callers)[:_FRAMES_MAX]:
        argument = _argument_of(found, caller)
        if argument is None:
            break
        argument = _handed_on(argument)
        origin = _add_argument(found.origin, found.expression, argument, caller)
        found = StackPosition(origin, argument.text, caller.frame, is_passed=True)
        if argument.kind is not OriginKind.OPERAND:
            break
    return found


def find_origin(
    origin: ValueOrigin, frame: FrameView, callers: Sequence[CallerView]
) -> ValueOrigin:
    """Follow a parameter to the callers' arguments, and a local to its only assignment.

    The origin is unchanged where neither shows it.
    """
    found = follow_stack(origin, frame, callers)
    lines, span = _function_lines(found.frame)
    name = found.expression
    if not span or not _NAME.match(name) or name in _parameters(found.frame, lines, span):
        return found.origin
    return _only_assignment(found.origin, name, found.frame, lines, span) or found.origin


def _handed_on(argument: StatementOrigin) -> StatementOrigin:
    """Return the object of a call, as `x.index()`, whose name says that it has the same value."""
    is_it = argument.kind is OriginKind.CALL and native_values.is_handed_on(argument.function)
    if not is_it or argument.arguments or not _NAME.match(argument.receiver):
        return argument
    return StatementOrigin(OriginKind.OPERAND, argument.receiver)


def _function_lines(frame: FrameView) -> tuple[Sequence[str], tuple[int, int] | None]:
    """Return the source of a frame, and the lines of its function; all of a module's."""
    lines = source_files.read_source(frame.file) if frame.file is not None else None
    if lines is None or frame.file is None or frame.line is None:
        return (), None
    if frame.function in _MODULES:
        return lines, (1, len(lines))
    return lines, find_span(frame.file, lines, frame.line, frame.function)


def _argument_of(found: StackPosition, caller: CallerView) -> StatementOrigin | None:
    """Return the argument that a caller gave to a parameter that its function does not change."""
    lines, span = _function_lines(found.frame)
    name = found.expression
    if _is_recursing(found.frame, lines, caller):
        return None
    if span is None or not _NAME.match(name) or name not in _parameters(found.frame, lines, span):
        return None
    # A loop may lead back from below.
    if statement_origin.is_reassigned(name, list(lines[span[0] : span[1]])):
        return None
    return _passed_argument(found.frame, lines, span[0], name, caller)


def _is_recursing(frame: FrameView, lines: Sequence[str], caller: CallerView) -> bool:
    """Test whether a function called itself at a frame's line: the calls between are not listed."""
    if caller.frame.index == frame.index + 1 or not frame.line:
        return False
    text = join_statement(lines[frame.line - 1 : frame.line + 4])
    return bool(statement_origin.calls_in_statement(text, last_part(frame.function)))


def _parameters(frame: FrameView, lines: Sequence[str], span: tuple[int, int]) -> tuple[str, ...]:
    if frame.function in _MODULES:
        return ()
    return parameter_names(frame.file or "", lines, span[0], frame.function)


def is_complete(origin: ValueOrigin) -> bool:
    """Return whether nothing is left to follow: the value is a literal of the source."""
    call = statement_origin.classify_expression(origin.text.removeprefix(_LITERAL))
    return origin.text.startswith(_LITERAL) and call.kind is OriginKind.CONSTANT


_LITERAL = "it is the literal "


def _add_argument(
    found: ValueOrigin, name: str, argument: StatementOrigin, caller: CallerView
) -> ValueOrigin:
    is_literal = argument.kind is OriginKind.CONSTANT
    known = {one.name: one.value for one in caller.values}
    value = known.get(argument.text) or ""
    is_same = is_literal or found.value in {value, _NEWTYPE.sub(r"\1", value)}
    certainty = LinkCertainty.SEEN if is_same else LinkCertainty.INFERRED
    if found.certainty == LinkCertainty.INFERRED.value:
        certainty = LinkCertainty.INFERRED
    text = f"{_LITERAL}{argument.text}" if is_literal else f"passed as {name}"
    return msgspec.structs.replace(
        found,
        text=text,
        certainty=certainty.value,
        frame=caller.frame,
        statement=caller.text,
        links=found.links + 1,
    )


def _only_assignment(
    found: ValueOrigin, name: str, at: FrameView, lines: Sequence[str], span: tuple[int, int]
) -> ValueOrigin | None:
    """Return the only assignment to a local in its function; None if there are several or none."""
    changing = [
        number
        for number in range(span[0], span[1] + 1)
        if _is_changed(name, lines[number - 1], at.file or "")
    ]
    if len(changing) != 1 or at.line is None or changing[0] >= at.line:
        return None
    is_hash = (at.file or "").endswith(_HASHES)
    text = join_statement(lines[changing[0] - 1 : changing[0] + 4], hash_comments=is_hash)
    return msgspec.structs.replace(
        found,
        text=f"assigned to {name}",
        certainty=LinkCertainty.INFERRED.value,
        frame=FrameView(at.index, at.function, at.file, changing[0]),
        statement=text.rstrip(" {"),
        links=found.links + 1,
    )


def _is_changed(name: str, line: str, file: str) -> bool:
    """Return whether a line may give a local its value, also by a pattern of Rust."""
    if not file.endswith(".rs"):
        return statement_origin.is_reassigned(name, [line])
    # A shared reference of Rust changes nothing.
    plain = re.sub(r"&(?!\s*mut\b)", " ", line)
    is_bound = re.search(_PATTERN.format(re.escape(name)), line) is not None
    return is_bound or statement_origin.is_reassigned(name, [plain])


def _passed_argument(
    at: FrameView, lines: Sequence[str], first: int, name: str, caller: CallerView
) -> StatementOrigin | None:
    """Return the argument that a call gave to a parameter; None if the call does not show it."""
    call = statement_origin.call_in_statement(caller.text, last_part(at.function))
    if call is None or at.file is None:
        return None
    names = [one for one in parameter_names(at.file, lines, first, at.function) if one not in _OWN]
    # Arguments by keyword or from a list are in another order than the parameters.
    is_plain = not any(re.match(r"\*|\.\.\.|\w+\s*=(?!=)", one) for one in call.arguments)
    if name not in names or not is_plain or names.index(name) >= len(call.arguments):
        return None
    return statement_origin.classify_expression(call.arguments[names.index(name)])


def parameter_names(path: str, lines: Sequence[str], first: int, function: str) -> tuple[str, ...]:
    """Return the names of a function's parameters, by the text of its definition."""
    short = last_part(function)
    head = "\n".join(lines[first - 1 : first - 1 + _HEAD_MAX])
    match = (
        re.search(rf"(?<![\w.>]){re.escape(short)}\s*(?:<[^()]*>\s*)?\(", head) if short else None
    )
    if match is None:
        return ()
    depth, end = 0, len(head)
    for at, letter in enumerate(head[match.end() - 1 :], match.end() - 1):
        depth += (letter in "([{") - (letter in ")]}")
        if not depth:
            end = at
            break
    parts = statement_origin.split_arguments(head[match.end() : end])
    is_first = Path(path).suffix in _NAME_FIRST
    found = [_parameter_name(one, is_first=is_first) for one in parts]
    return tuple(one for one in found if one)


def _parameter_name(text: str, *, is_first: bool) -> str:
    plain = text.partition("=")[0].partition(":")[0] if is_first else text.partition("=")[0]
    names = re.findall(r"[A-Za-z_$][\w$]*", re.sub(r"\[[^\]]*\]|\bmut\b", "", plain))
    if not names or "{" in plain:
        return ""
    return str(names[0] if is_first else names[-1])
