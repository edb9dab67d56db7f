"""Reads how the runtimes of Go, Rust, Ruby, PHP and Java report an uncaught error. Pure.

For processes that no debugger sees: those that a program starts. Python's and Node's reports, and
the parts of Rust's and C++'s, are read by `exception_cause`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from debugger.model.exception_cause import Traceback, TracebackFrame

_GO_BEGINS = re.compile(r"(?:panic|fatal error): (?P<message>.*?)(?: \[recovered\])?$")
_GO_STACK = re.compile(r"goroutine \d+ .*\[running.*\]:$")
_GO_CALL = re.compile(r"(?P<function>\S.*)\((?:[^()]*|\.\.\.)\)$")
_GO_PLACE = re.compile(r"\t(?P<file>/.*\.\w+):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$")
_RUST_PANIC = re.compile(r"thread '[^']*'(?: \(\d+\))? panicked at (?P<rest>.*)")
_RUST_PLACE = re.compile(r"(?P<file>.*):(?P<line>\d+):\d+$")
_RUST_CALL = re.compile(r"\s+\d+: (?P<function>\S.*)$")
_RUST_AT = re.compile(r"\s+at (?P<file>\S.*):(?P<line>\d+):\d+$")
_RUBY_BEGINS = re.compile(
    r"(?P<file>[^\s:][^:]*):(?P<line>\d+):in [`'](?P<function>[^']+)': "
    r"(?P<message>.*) \((?P<type>[A-Z][\w:]*)\)$"
)
_RUBY_FROM = re.compile(r"\s+from (?P<file>[^:]+):(?P<line>\d+):in [`'](?P<function>[^']+)'$")
_PHP_BEGINS = re.compile(
    r"(?:PHP )?Fatal error:\s+Uncaught (?P<type>[\w\\]+)(?:: (?P<message>.*))? in "
    r"(?P<file>/.*):(?P<line>\d+)$"
)
_PHP_CALL = re.compile(r"#\d+ (?:(?P<file>/.*)\((?P<line>\d+)\)|\[internal function\]): ")
_PHP_NAME = re.compile(r"(?P<function>[\w\\:>{}-]+)\(")
_JAVA_BEGINS = re.compile(r'Exception in thread "[^"]*" (?P<type>[\w.$]+)(?:: (?P<message>.*))?$')
_JAVA_CALL = re.compile(
    r"\s+at (?:[^/()]+/)*(?P<function>[\w.$<>]+)\((?P<file>[^:()]+):(?P<line>\d+)\)$"
)
_JAVA_OTHER = re.compile(r"\s+at \S|\s+\.\.\. \d+ more")
# What cannot be compiled has no frame of its own. Ruby names its type in a required file, and
# since 3.2 always.
_RUBY_UNREADABLE = re.compile(
    r"(?P<file>[^\s:][^:]*):(?P<line>\d+): (?!warning: )(?P<message>.+?)"
    r"(?: \((?P<type>SyntaxError|ArgumentError)\))?$"
)
_RUBY_POINTS = re.compile(r"\s*\^[~^]*$")
# What Ruby before 3.4 writes without the statement below it.
_RUBY_COMPILES_NOT = re.compile(
    r"syntax error|invalid multibyte char|Can't set variable|unknown encoding name: |"
    r"Invalid (?:break|next|redo|retry|yield)|\S.*: /.*/[a-z]*$"
)
_RUBY_COUNTED = re.compile(r"syntax errors? found$")  # 3.4: the words stand below the statement
_RUBY_WORDS = re.compile(r"\s+\| +\^[~^]*\s(?P<message>\S.*)$")
_PHP_UNREADABLE = re.compile(
    r"(?:PHP )?(?P<type>Parse error|Fatal error|Compile error):\s+(?!Uncaught )(?P<message>.*) in "
    r"(?P<file>/.*) on line (?P<line>\d+)$"
)
_NODE_FATAL = re.compile(r"FATAL ERROR: (?P<what>.*)")
_FRAMES_MAX = 100
PANIC = "panic"
"""The type of an error of Go and Rust, which have none."""


def parse_report(lines: Sequence[str]) -> Traceback | None:
    """Return the last report of an uncaught error in an output; None without one.

    Without one, the first error of a file that Ruby or PHP could not compile.
    """
    for at in range(len(lines) - 1, -1, -1):
        for begins, parse in _PARSERS:
            if begins.match(lines[at]) and (found := parse(lines[at:])) is not None:
                return found
    return next(filter(None, (_parse_unreadable(lines, at) for at in range(len(lines)))), None)


def fatal_error(lines: Sequence[str]) -> str | None:
    """Return the message of V8's fatal error, such as a full heap."""
    found = [match["what"] for line in lines if (match := _NODE_FATAL.match(line))]
    return found[-1] if found else None


def panic_message(lines: Sequence[str]) -> tuple[str, str] | None:
    """Return the location and message of the last panic of Rust's runtime."""
    last = None
    for at, line in enumerate(lines):
        match = _RUST_PANIC.search(line)
        if match is None:
            continue
        rest = match["rest"]
        old = re.match(r"'(?P<message>.*)', (?P<place>\S+:\d+:\d+)$", rest)
        if old:
            last = (old["place"], old["message"])
            continue
        texts = []
        for one in lines[at + 1 : at + 12]:
            if one.startswith(("note: ", "stack backtrace:", "thread '")):
                break
            texts.append(one)
        last = (rest.rstrip(":"), "\n".join(texts).strip())
    return last


def _parse_unreadable(lines: Sequence[str], at: int) -> Traceback | None:
    """Parse the error of a file that could not be compiled; its place is the only frame."""
    error = _PHP_UNREADABLE.match(lines[at])
    if error is not None:
        return _traceback(error["type"], error["message"], [_frame("", error)])
    error, below = _RUBY_UNREADABLE.match(lines[at]), lines[at + 1 :]
    if error is None:
        return None
    words, is_shown = error["message"], any(map(_RUBY_POINTS.match, below[1:2]))
    type_ = error["type"] or "SyntaxError"
    if not (error["type"] == "SyntaxError" or is_shown or _RUBY_COMPILES_NOT.match(words)):
        return None
    if _RUBY_COUNTED.match(words):
        shown = next(filter(None, map(_RUBY_WORDS.match, below)), None)
        words = shown["message"] if shown is not None else words
    return _traceback(type_, words, [_frame("", error)])


def _parse_go(lines: Sequence[str]) -> Traceback | None:
    begins = _GO_BEGINS.match(lines[0])
    first = next((at for at, line in enumerate(lines) if _GO_STACK.match(line)), None)
    if begins is None or first is None:
        return None
    frames = []
    for above, line in zip(lines[first + 1 :], lines[first + 2 :], strict=False):
        call, place = _GO_CALL.match(above), _GO_PLACE.match(line)
        if call is not None and place is not None:
            frames.append(_frame(call["function"], place))
        elif not above.strip():
            break
    return _traceback(PANIC, begins["message"], frames)


def _parse_rust(lines: Sequence[str]) -> Traceback | None:
    panic = panic_message(lines)
    place = _RUST_PLACE.match(panic[0]) if panic is not None else None
    if panic is None or place is None:
        return None
    stack = []
    for above, line in pairwise(lines):
        call, at = _RUST_CALL.match(above), _RUST_AT.match(line)
        if call is not None and at is not None:
            stack.append(_frame(call["function"], at, at["file"].removeprefix("./")))
    thrown = (place["file"].removeprefix("./"), int(place["line"]))
    begins = next((at for at, one in enumerate(stack) if (one.file, one.line) == thrown), None)
    frames = stack[begins:] if begins is not None else [TracebackFrame("", *thrown)]
    return _traceback(PANIC, panic[1], frames)


def _parse_ruby(lines: Sequence[str]) -> Traceback | None:
    begins = _RUBY_BEGINS.match(lines[0])
    if begins is None:
        return None
    frames = [_frame(begins["function"], begins)]
    for line in lines[1:]:
        below = _RUBY_FROM.match(line)
        if below is None:
            break
        frames.append(_frame(below["function"], below))
    # A method of the runtime has the place of its caller.
    return _traceback(begins["type"], begins["message"], _without_internal(frames))


def _parse_php(lines: Sequence[str]) -> Traceback | None:
    begins = _PHP_BEGINS.match(lines[0])
    if begins is None:
        return None
    frames, place = [], (begins["file"], int(begins["line"]))
    for line in lines[1:]:
        call = _PHP_CALL.match(line)
        if call is not None:
            name = _PHP_NAME.match(line[call.end() :])
            frames.append(TracebackFrame(name["function"] if name is not None else "", *place))
            place = (call["file"] or "", int(call["line"] or 0))
        elif line.endswith("{main}"):
            frames.append(TracebackFrame("{main}", *place))
            break
    return _traceback(begins["type"], begins["message"] or "", _without_internal(frames))


def _parse_java(lines: Sequence[str]) -> Traceback | None:
    begins = _JAVA_BEGINS.match(lines[0])
    if begins is None:
        return None
    frames = []
    for line in lines[1:]:
        call = _JAVA_CALL.match(line)
        if call is not None:
            frames.append(_frame(call["function"], call))
        elif not _JAVA_OTHER.match(line):
            break
    return _traceback(begins["type"], begins["message"] or "", frames)


_PARSERS = (
    (_GO_BEGINS, _parse_go),
    (_RUST_PANIC, _parse_rust),
    (_RUBY_BEGINS, _parse_ruby),
    (_PHP_BEGINS, _parse_php),
    (_JAVA_BEGINS, _parse_java),
)


def _frame(function: str, place: re.Match[str], file: str | None = None) -> TracebackFrame:
    return TracebackFrame(function, file or place["file"], int(place["line"]))


def _without_internal(frames: list[TracebackFrame]) -> list[TracebackFrame]:
    """Leave out the innermost frames that have the place of the one below them."""
    while len(frames) > 1 and (frames[0].file, frames[0].line) == (frames[1].file, frames[1].line):
        del frames[0]
    return frames


def _traceback(type_: str, message: str, frames: Sequence[TracebackFrame]) -> Traceback | None:
    if not frames:
        return None
    return Traceback(type_, message, tuple(frames[:_FRAMES_MAX]), len(frames))
