"""Groups writes by line, and finds the storage and the call argument of a value."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BoundBreakpoint, BreakpointSpec
from debugger.model.program import EvaluationPurpose, Frame
from debugger.session import inspection, source_files, stop_report
from debugger.session.session import Session

_INLINED_STEP, _INLINED_MAX = 8, 256  # bytes of code before an inlined function's instruction
_FRAMES = 40  # frames to search for the owner of an address
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_ADDR_NO_RANDOMIZE = 0x0040000  # personality(2)
_BEYOND = 64 << 20  # bytes: what is zero at first lies behind the program's file


class _SourceFrame(Protocol):
    @property
    def function(self) -> str: ...
    @property
    def file(self) -> str | None: ...
    @property
    def line(self) -> int | None: ...


_AnyFrame = TypeVar("_AnyFrame", bound=_SourceFrame)


def skip_made_setter(frames: list[_AnyFrame]) -> list[_AnyFrame]:
    """Return frames without the innermost one if kotlinc made it: the setter of a property.

    Its line is that of the declaration (`class Account(var balance: Int)`), which writes nothing.
    """
    first = frames[0] if len(frames) > 1 else None
    if first is None or not (first.file or "").endswith(".kt") or not first.line:
        return frames
    setter = re.search(r"\.set(?P<first>[A-Z])(?P<rest>\w*)$", first.function)
    lines = source_files.read_source(first.file or "") if setter is not None else None
    if setter is None or lines is None or first.line > len(lines):
        return frames
    name = f"{setter['first'].lower()}{setter['rest']}"
    text = lines[first.line - 1]
    is_declared = re.search(rf"\bvar\s+(?:is)?{name}\b", text, re.IGNORECASE) is not None
    return frames[1:] if is_declared and not re.search(r"\bset\s*\(", text) else frames


async def line_before(session: Session, frame: Frame) -> int | None:
    """Return the line of the instruction that wrote (a job): the processor stops after it.

    Of a function of another file that was inlined, it is the line of the code before it.
    """
    written = await stop_report.accessed_by(session, frame)
    if not isinstance(written, answers.AccessView):
        return frame.line
    if frame.file is None or not frame.address:
        return written.line
    address = int(frame.address, 16)
    for back in range(_INLINED_STEP, _INLINED_MAX, _INLINED_STEP):
        if Path(written.file).name == Path(frame.file).name:
            return written.line
        before = msgspec.structs.replace(frame, address=hex(address - back))
        earlier = await stop_report.accessed_by(session, before)
        if not isinstance(earlier, answers.AccessView):
            break
        written = earlier
    return frame.line


async def storage_address(
    session: Session, bound: BoundBreakpoint, expression: str, frame: Frame
) -> int:
    """Return the address of a watched expression (a job); 0 if unknown."""
    text = bound.address or bound.again or ""
    if not _ADDRESS.search(text):
        try:
            place = await session.backend.evaluate(
                f"uintptr(&{expression})", frame, EvaluationPurpose.PRINT
            )
        except DebuggerError:
            return 0
        text = place.value
    return _parse_address(text)


async def place_of(session: Session, name: str) -> int:
    """Return the address of a variable of C or a similar language at a stop (a job); 0: unknown."""
    try:
        frame = await inspection.frame_of(session)
        place = await session.backend.evaluate(f"&{name}", frame, EvaluationPurpose.PRINT)
    except DebuggerError:
        return 0
    return _parse_address(place.value)


async def stack_owner(session: Session, thread: int, place: int) -> str:
    """Return the function whose frame on a thread's stack contains an address (a job)."""
    stack = await session.backend.read_stack(thread, levels=_FRAMES)
    last = stack.frames[0].function if stack.frames else ""
    for frame in stack.frames:
        try:
            value = await session.backend.evaluate("$sp", frame, EvaluationPurpose.PRINT)
        except DebuggerError:
            break
        # The stack grows down: this frame and its callers begin above.
        if _parse_address(value.value) > place:
            break
        last = frame.function
    return last


def _parse_address(text: str) -> int:
    found = _ADDRESS.search(text)
    if found:
        return int(found[0], 16)
    return int(text) if text.strip().isdecimal() else 0


def _memory_maps(pid: int | None) -> Sequence[tuple[int, int, str]]:
    try:
        lines = Path(f"/proc/{pid}/maps").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ()
    found = []
    for line in lines:
        fields = line.split(maxsplit=5)
        first, _, last = fields[0].partition("-")
        found.append((int(first, 16), int(last, 16), fields[5] if len(fields) > 5 else ""))  # noqa: PLR2004
    return found


def is_in(pid: int | None, address: int, region: str) -> bool:
    """Return whether an address is in a region of a process, by the name in its memory map."""
    return any(
        first <= address < last and name == region for first, last, name in _memory_maps(pid)
    )


def is_randomized(pid: int | None) -> bool:
    """Return whether the system randomizes a process's addresses."""
    try:
        flags = int(Path(f"/proc/{pid}/personality").read_text("ascii"), 16)
    except (OSError, ValueError):
        return False
    return not flags & _ADDR_NO_RANDOMIZE


def is_in_program(pid: int | None, address: int) -> bool:
    """Return whether an address is in the program's own data, at a fixed place in each run."""
    maps = _memory_maps(pid)
    own = [one for one in maps if one[2] == maps[0][2]] if maps else []
    # The heap comes next, and begins elsewhere in each run.
    is_heap = is_in(pid, address, "[heap]")
    return bool(own) and not is_heap and own[0][0] <= address < own[-1][1] + _BEYOND


HINT_WHEN = "debugger probe --at {} '{}' -- CMD shows what it was there"


@dataclass(frozen=True)
class WriteRequest:
    """The request: the value, the location and its hit, and the end of the search."""

    expression: str
    at: BreakpointSpec
    place: str
    hit: int = 1
    until: BreakpointSpec | None = None
    limit: int = 1000
    when: str = ""
    # The frame of the expression, from the innermost.
    frame: int = 0
    # The lines of the function whose variable it is: a file, the first and the last line.
    scope: tuple[str, int, int] | None = None

    @property
    def condition_text(self) -> str:
        """The location and its condition in words."""
        return f"{self.place} with {self.when}" if self.when else self.place

    @property
    def no_value_hint(self) -> str:
        """A hint for an expression without a value, because the session ends with the answer."""
        if self.expression.isidentifier():
            return f"debugger who-wrote NAME --at {self.place} -- CMD: a name that is known there"
        expression = shlex.quote(self.expression)
        return f"debugger probe --at {self.place} {expression} -- CMD evaluates it"

    def expression_error(self, error: DebuggerError) -> DebuggerError:
        """Return a debugger's error about the expression, with a hint for the question."""
        is_of_question = any(one in (error.hint or "") for one in ("who-wrote", "-- CMD"))
        if error.code is not ErrorCode.EVALUATION_FAILED or is_of_question:
            return error
        return DebuggerError(error.code, error.message, hint=self.no_value_hint)


_PARTS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[^\"'()\[\]{},]+|.", re.DOTALL)
_KEYWORD = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*(.*)", re.DOTALL)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_OWN = frozenset({"self", "cls", "this"})


class ParameterNames(Struct, frozen=True):
    """The parameter names of a function: positional ones, and keyword-only ones."""

    positional: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class CallArgument(Struct, frozen=True):
    """A call's text and one argument: its text, or the default if it is `left_out`."""

    text: str
    argument: str | None = None
    left_out: bool = False


def call_of(
    statement: str, function: str, name: str, parameters: ParameterNames, *, unpacks: bool
) -> CallArgument:
    """Find the call of a function in a statement, and the argument of a parameter.

    If the statement does not call it by its name, or more than once, the whole statement is
    returned. `unpacks`: as in Python `name=x` names an argument, and `*x` stands for several.
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
    """Return the arguments of a call after its bracket, and its end; 0: it has none."""
    found = [""]
    depth = 1
    for part in _PARTS.finditer(text, start):
        depth += (part[0] in _OPENING) - (part[0] in _CLOSING)
        if not depth:
            parts = [one.strip() for one in found]
            return [one for one in parts if one], part.end()
        if depth == 1 and part[0] == ",":
            found.append("")
        else:
            found[-1] += part[0]
    return [], 0


class WriteLocation(Struct, frozen=True):
    """A function, and a line in it."""

    function: str
    file: str | None = None
    line: int | None = None


class ValueWrite(Struct, frozen=True):
    """One write: the old and the new value, and the stack, the writer first."""

    stack: tuple[WriteLocation, ...]
    old: str | None
    new: str | None
    thread: int | None = None
    is_after: bool = False  # after the place that was asked about

    @property
    def location(self) -> WriteLocation:
        """The location of the write."""
        return self.stack[0] if self.stack else WriteLocation("?")


class WritingLine(Struct, frozen=True):
    """A line that wrote `count` times; `first` and `last` are write numbers, from 1."""

    site: WriteLocation
    stack: tuple[WriteLocation, ...]
    count: int
    first: int
    last: int
    first_write: ValueWrite
    last_write: ValueWrite
    is_last: bool = False
    is_after: bool = False
    callers: int = 1  # ways that led there
    threads: int = 1


def group_writes(writes: Sequence[ValueWrite]) -> list[WritingLine]:
    """Group the writes by line, separately before and after the location, in order.

    The line of the last write before the location is marked.
    """
    groups: dict[tuple[WriteLocation, bool], list[tuple[int, ValueWrite]]] = {}
    for number, one in enumerate(writes, 1):
        groups.setdefault((one.location, one.is_after), []).append((number, one))
    before = [number for number, one in enumerate(writes, 1) if not one.is_after]
    marked = before[-1] if before else 0
    return [
        WritingLine(
            site=site,
            stack=some[-1][1].stack,
            count=len(some),
            first=some[0][0],
            last=some[-1][0],
            first_write=some[0][1],
            last_write=some[-1][1],
            is_last=some[-1][0] == marked,
            is_after=is_after,
            callers=len({one.stack[1:2] for _, one in some}),
            threads=len({one.thread for _, one in some}),
        )
        for (site, is_after), some in groups.items()
    ]


def last_before(writes: Sequence[ValueWrite]) -> ValueWrite | None:
    """Return the last write before the place."""
    return next((one for one in reversed(writes) if not one.is_after), None)
