"""Explains a Go value that no record of a run was seen to write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from debugger.questions.why import go_expressions, go_source, go_values
from debugger.questions.why.answer import ChainEnd, WhyLink
from debugger.questions.why.go_chain import ChainEnded, GoPosition
from debugger.questions.why.go_source import GoSourceFunction, GoSources, SiteKind
from debugger.questions.why.why_request import repeat_with

PLAIN_BUILD = "go build -gcflags='all=-N -l'"
_WRITERS_SHOWN = 4
_READS_ONLY = re.compile(r"\b(?:len|cap|append|fmt\.\w+|log\.\w+|string)\(")


def describe_optimisation(function: str) -> str:
    """Return what is not known of a function that was built with optimisation."""
    return (
        f"{function} was built with optimisation: its lines run in another order, and some values "
        f"are not seen; {PLAIN_BUILD} shows all"
    )


def explain_unwritten(
    sources: GoSources, position: GoPosition, root: str, *, is_optimised: bool
) -> ChainEnded:
    """Return the end of a chain at a variable that no record wrote.

    Args:
        sources: The sources of the program.
        position: The value.
        root: The variable that its expression begins with.
        is_optimised: Whether the compiler may have kept the variable in registers.
    """
    declared = next(iter(sources.globals_named(root)), None)
    is_part = position.expression.lstrip("*&") != root
    writers = sources.unseen_writers(root, is_part=is_part) if declared is not None else ()
    if writers:
        shown = ", ".join(writers[:_WRITERS_SHOWN])
        text = f"no write of {root} was seen; not watched are {shown}"
        return ChainEnded(ChainEnd.NOT_FOLLOWED, text)
    if declared is not None:
        at = f"{Path(declared.file).name}:{declared.line}"
        text = f"{root} was not changed: {declared.text} at {at}"
        return ChainEnded(ChainEnd.CONSTANT, text)
    function = position.activation.function
    place = f"{Path(function.file).name}:{position.line}"
    if is_optimised:
        return ChainEnded(
            ChainEnd.NOT_FOLLOWED,
            f"{function.name} was built with optimisation: {root} was in registers or optimised "
            f"out, where its writes are not seen; {PLAIN_BUILD}, or the source (-- FILE.go, "
            "-- DIR) as the program, which is built so",
        )
    address_use = describe_address_use(function, root, position.line)
    begin = _zero_begin(function, root, position.line)
    if begin and not address_use and go_values.is_zero(position.value):
        return ChainEnded(ChainEnd.CONSTANT, f"the zero value: {begin}, not written before {place}")
    return ChainEnded(
        ChainEnd.NOT_FOLLOWED,
        f"no line of the program's sources was seen to write {position.expression} before "
        f"{place}: a library may have, or {address_use or 'a pointer to it'}; debugger who-wrote "
        f"'{position.expression}' --at {place} -- CMD watches the memory from there on",
    )


def describe_address_use(function: GoSourceFunction, name: str, line: int) -> str:
    """Say where a function last took the address of a variable before a line; "" if nowhere."""
    lines = go_source.lines_of(function.file)
    pattern = re.compile(rf"&{re.escape(name)}\b")
    for number in range(min(line - 1, len(lines)), function.head, -1):
        text = go_source.without_comment(lines[number - 1])
        if pattern.search(text):
            return f"what got its address at {Path(function.file).name}:{number} `{text.strip()}`"
    return ""


def describe_argument_use(sources: GoSources, links: Sequence[WhyLink]) -> str:
    """Name the last call that got a variable which the links read, and may have written to it.

    A read of a file is the system's write, which no watchpoint sees, and a sort moves elements.
    """
    for link in reversed(links):
        frame = link.frame
        function = sources.function_at(frame.file, frame.line) if frame is not None else None
        if frame is None or frame.line is None or function is None:
            continue
        lines = go_source.lines_of(function.file)
        paths = go_expressions.paths_in(link.statement)
        for name in {go_expressions.split_path(one)[-1] for one in paths}:
            given = re.compile(
                rf"[\w)]\([^()]*(?<![\w.]){re.escape(name)}(?:\[[^\[\]]*:[^\[\]]*\])?\s*[,)]"
            )
            for at in range(frame.line - 1, function.head, -1):
                text = lines[at - 1].partition("//")[0].strip()
                if given.search(text) and not _READS_ONLY.search(text):
                    place = f"{Path(function.file).name}:{at}"
                    return f"; what got {name} at {place} `{text}` may have"
    return ""


def _zero_begin(function: GoSourceFunction, root: str, line: int) -> str:
    """Return where a variable begins with its zero value: as a result, or by `var x int`."""
    if root in function.results:
        return f"{root} is a result of {function.name}"
    declared = re.compile(rf"\s*var\s+{re.escape(root)}\s+[^=]+$")
    lines = go_source.lines_of(function.file)
    for at in range(min(line, len(lines)), function.head, -1):
        if declared.match(lines[at - 1].partition("//")[0]):
            return f"{lines[at - 1].strip()} at {Path(function.file).name}:{at}"
    return ""


class MissingVariable(Struct, frozen=True):
    """Why a variable of the source has no value at a line, and the command that helps."""

    reason: str
    hint: str


def explain_missing(
    sources: GoSources,
    function: GoSourceFunction,
    expression: str,
    line: int,
    *,
    is_optimised: bool,
) -> MissingVariable | None:
    """Return why a local variable has no value at a line; None if the source does not tell."""
    root = go_expressions.split_path(expression)[-1]
    declared = [
        one.line
        for one in sources.sites_in(function, SiteKind.ASSIGN)
        if root in one.targets and one.operator in go_source.DECLARING
    ]
    name = Path(function.file).name
    if declared and min(declared) >= line:
        first = min(declared)
        after = _line_after(function, first)
        reason = f"it is declared by {name}:{first}, which has not run yet"
        return MissingVariable(reason, repeat_with(expression, f"{name}:{after}"))
    if declared and is_optimised:
        reason = f"{function.name} was built with optimisation, which left {root} out there"
        return MissingVariable(reason, f"{PLAIN_BUILD} keeps it")
    return None


def _line_after(function: GoSourceFunction, line: int) -> int:
    lines = go_source.lines_of(function.file)
    for at in range(line, min(function.last, len(lines))):
        if lines[at].strip() and not lines[at].lstrip().startswith(("//", "}")):
            return at + 1
    return line + 1
