"""Brings a further run to the last good check, and reads an invariant from there to the false one.

The invariant's variables and fields are pinned: read by their addresses, so that it can be read in
any function. Where that is not possible, it is read in the frame of the function of the check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.answers.frames import FrameView
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.location import is_library
from debugger.model.program import EvaluationPurpose, Frame
from debugger.questions.holds.answer import BreakingStatement, FalseCheck, OperandChange
from debugger.questions.holds.captured_checks import capture_check
from debugger.questions.holds.logged_checks import PlaceVisit, lvalues_of, parse_truth
from debugger.questions.recordings.function_lookup import line_text
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.who_wrote.value_writers import skip_made_setter
from debugger.session import inspection
from debugger.session.session import Session
from debugger.sources.function_names import last_part

_DEEP = 60  # frames in which the function of the check is searched
_CALLERS = 6
_STOPS_MAX = 20_000  # stops of one run
# Of these an invariant is kept by the debugger, for there are no addresses.
_CAPTURED = frozenset({Runtime.RUBY, Runtime.PHP, Runtime.JAVA})
_CONTROL = re.compile(r"(?:\}\s*)?(?:return|if|else|while|for|switch|match)\b")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_ROOT = re.compile(r"[A-Za-z_]\w*(?=\.)")
# The types of Rust, as LLDB's expressions name them.
_RUST_TYPES: Mapping[str, str] = {
    "usize": "unsigned long",
    "u64": "unsigned long",
    "isize": "long",
    "i64": "long",
    "u32": "unsigned int",
    "i32": "int",
    "u16": "unsigned short",
    "i16": "short",
    "u8": "unsigned char",
    "i8": "signed char",
}


@dataclass(frozen=True)
class CheckWindow:
    """An invariant between its last good check and its first false one."""

    question: QuestionRun
    expression: str
    operands: tuple[str, ...]
    good: PlaceVisit
    bad: PlaceVisit
    good_spec: BreakpointSpec
    bad_spec: BreakpointSpec
    kind: str  # of the false check
    when: str = ""

    @property
    def is_one_place(self) -> bool:
        """Whether both checks are at one place."""
        return self.good.place == self.bad.place

    def breakpoints(self) -> tuple[BreakpointSpec, ...]:
        """Return the breakpoints of a run: number 1 at the good check, 2 at the false one."""
        good = self._counted(self.good_spec, self.good.ordinal)
        if self.is_one_place:
            return (good,)
        return good, self._counted(self.bad_spec, self.bad.ordinal)

    def _counted(self, spec: BreakpointSpec, ordinal: int) -> BreakpointSpec:
        # With a condition, the debuggers do not agree on what is counted.
        count = ordinal if ordinal > 1 and not self.when else None
        return msgspec.structs.replace(spec, condition=self.when or None, hit_count=count)


@dataclass(frozen=True)
class InvariantState:
    """An invariant at a stop: its truth (None: not known there), and its operands."""

    is_true: bool | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    is_in_call: bool = True  # False: outside of the check's function, whose names it needs


@dataclass(frozen=True)
class Narrowed:
    """The result of narrowing: the statement, or why it is not known."""

    statement: BreakingStatement | None = None
    why: str = ""
    check: FalseCheck | None = None
    notes: tuple[str, ...] = ()
    runs: int = 1
    means: str = ""


class WindowRun:
    """One run of a window."""

    def __init__(self, run: RunningQuestion, window: CheckWindow) -> None:
        self.run = run
        self.window = window
        self._hits = {1: 0, 2: 0}
        self._pins: dict[str, str] = {}
        self._captured: dict[str, str] = {}  # by the text of the check, or an operand's
        self._same = ""  # true where the kept objects are those of the frame
        self._home = ""  # the function of the good check

    async def reach_good_check(self) -> answers.Stop:
        """Run to the last good check.

        Raises:
            DebuggerError: NOT_FOUND if the run does not come there.
        """
        window = self.window
        stop = await self.run.wait_first()
        for _ in range(_STOPS_MAX):
            if stop.state != State.STOPPED.value:
                break
            self._count(stop)
            if self._hits[1] >= (window.good.ordinal if window.when else 1):
                # Its breakpoint stays: a change of one lets gdb count the hits of all anew.
                await self._pin_variables()
                return stop
            stop = await self.run.go_on(self.run.session_of(stop))
        raise DebuggerError(
            ErrorCode.NOT_FOUND, "a further run did not come to the last good check again"
        )

    async def disable_breakpoints(self) -> None:
        """Disable the breakpoints of the checks."""
        for number in range(1, len(self.window.breakpoints()) + 1):
            await self._disable(number)

    async def _disable(self, number: int) -> None:
        await self.session.run_job(lambda: self.session.binding.enable(number, on=False))

    @property
    def session(self) -> Session:
        """The session of the program."""
        return self.run.session

    def _count(self, stop: answers.Stop) -> None:
        for number in (1, 2):
            self._hits[number] += number in stop.hit_breakpoints

    @property
    def is_pinned(self) -> bool:
        """Whether the invariant is read by addresses: the same memory in any call."""
        return bool(self.pinned(self.window.expression))

    def is_only_check(self, stop: answers.Stop) -> bool:
        """Return whether a stop is at a check's breakpoint, and at no watchpoint."""
        return bool(stop.hit_breakpoints) and {1, 2} >= {*stop.hit_breakpoints}

    def is_at_false_check(self, stop: answers.Stop) -> bool:
        """Count a stop after the good check; tell whether it is the false check."""
        self._count(stop)
        window = self.window
        if window.is_one_place:
            base = 0 if window.when else window.good.ordinal - 1
            return 1 in stop.hit_breakpoints and base + self._hits[1] >= window.bad.ordinal
        return 2 in stop.hit_breakpoints and self._hits[2] >= (  # noqa: PLR2004 - its number
            window.bad.ordinal if window.when else 1
        )

    # -- reading -----------------------------------------------------------------------------------

    async def _evaluate(self, text: str, frame: Frame) -> tuple[str, str]:
        value = await self.session.run_job(
            lambda: self.session.backend.evaluate(text, frame, EvaluationPurpose.PRINT)
        )
        return value.value, value.type

    async def current_frame(self) -> Frame:
        """Return the innermost frame."""
        return await self.session.run_job(lambda: inspection.frame_of(self.session))

    async def _pin_variables(self) -> None:
        frame = await self.current_frame()
        self._home = frame.function
        for number, text in enumerate((self.window.expression, *self.window.operands)):
            captured = capture_check(self.runtime, text, number)
            if captured is not None and await self._read_truth(captured.keep, frame):
                self._captured[text] = captured.read
                self._same = self._same or captured.same
        if self.runtime in _CAPTURED:
            return
        for path in lvalues_of(self.window.expression):
            pinned = await self._pin(path, frame)
            if pinned:
                self._pins[path] = pinned

    async def _pin(self, path: str, frame: Frame) -> str:
        """Return an expression of the same memory for any frame; "" if there is none."""
        try:
            value, kind = await self._evaluate(path, frame)
            is_pointer = kind.strip().startswith("*") or kind.strip().endswith("*")
            if is_pointer and path.isidentifier():
                text = f"&(*{path})" if self.runtime is Runtime.GO else path
                value, _ = await self._evaluate(text, frame)
                address = _ADDRESS.search(value)
                return self._cast(kind, address[0]) if address else ""
            value, _ = await self._evaluate(f"&({path})", frame)
        except DebuggerError as error:
            if error.code is ErrorCode.ADAPTER_DIED:
                raise
            return ""
        address = _ADDRESS.search(value)
        for text in self._memory_expressions(kind, address[0]) if address else ():
            if await self._read_text(text, frame) is not None:
                return text
        # A type with parameters of its own has no name in an expression; its object's may have.
        root = _ROOT.match(path)
        if root is None:
            return ""
        pinned = await self._pin(root[0], frame)
        return f"{pinned}{path[root.end() :]}" if pinned else ""

    @property
    def runtime(self) -> Runtime:
        """The runtime of the program."""
        return self.session.traits.runtime

    def _cast(self, pointer: str, address: str) -> str:
        return (
            f"({pointer})({address})" if self.runtime is Runtime.GO else f"(({pointer}){address})"
        )

    def _memory_expressions(self, kind: str, address: str) -> tuple[str, ...]:
        """Return expressions of the memory at an address, of which a debugger takes one."""
        if self.runtime is Runtime.GO:
            return (f"*(*{kind})({address})",)
        kind = kind.rstrip("& ")  # a reference lies at the address of its object
        found = f"(*({_RUST_TYPES.get(kind, kind)}*){address})"
        return (found, f"(*({address} as *mut {kind}))")

    def address_of(self, path: str) -> str:
        """Return the pinned expression of a variable or field; "" if there is none."""
        return self._pins.get(path, "")

    def pinned(self, text: str) -> str:
        """Return an expression for any frame; "" if some of its variables are not pinned."""
        if self.runtime in _CAPTURED:
            return self._captured.get(text, "")
        paths = sorted(lvalues_of(text), key=len, reverse=True)
        if not all(one in self._pins for one in paths):
            return ""
        for at, path in enumerate(paths):
            text = re.sub(rf"(?<![\w.>]){re.escape(path)}(?!\w)", f"\x01{at}\x02", text)
        return re.sub("\x01(\\d+)\x02", lambda match: self._pins[paths[int(match[1])]], text)

    async def read_state(self) -> InvariantState:
        """Read the invariant and its operands at a stop."""
        frame = await self.current_frame()
        home: Frame | None = None
        is_true = None
        pinned = self.pinned(self.window.expression)
        if pinned:
            is_true = await self._read_truth(pinned, frame)
        if is_true is None:
            home = await self._home_frame()
            if home is not None:
                is_true = await self._read_truth(self.window.expression, home)
        if is_true is None:
            return InvariantState(is_in_call=home is not None)
        values = {}
        for one in self.window.operands:
            text = one if home is not None else self.pinned(one)
            if text and (found := await self._read_text(text, home or frame)) is not None:
                values[one] = found
        return InvariantState(is_true, values)

    async def _home_frame(self) -> Frame | None:
        for frame in await self._frames():
            if frame.function == self._home:
                return frame
        return None

    async def _frames(self) -> list[Frame]:
        thread = self.session.selection.thread or 0
        stack = await self.session.run_job(
            lambda: self.session.backend.read_stack(thread, levels=_DEEP)
        )
        return list(stack.frames)

    async def _read_truth(self, text: str, frame: Frame) -> bool | None:
        found = await self._read_text(text, frame)
        return parse_truth(found) if found is not None else None

    async def _read_text(self, text: str, frame: Frame) -> str | None:
        try:
            value, _ = await self._evaluate(text, frame)
        except DebuggerError as error:
            if error.code is ErrorCode.ADAPTER_DIED:
                raise
            return None
        return value

    async def size_of(self, path: str) -> int:
        """Return the bytes of a variable or field; 0 if unknown."""
        found = await self._read_text(f"sizeof({path})", await self.current_frame())
        return int(found) if found is not None and found.isdecimal() else 0

    async def is_on_check_line(self, *, is_false: bool = False) -> bool:
        """Return whether the program is stopped at the line of a check, or at the false one's."""
        frame = await self.current_frame()
        specs = (self.window.bad_spec, *(() if is_false else (self.window.good_spec,)))
        return any(
            one.line is not None and frame.line == one.line and frame.file == one.file
            for one in specs
        )

    async def stack_depth(self) -> int:
        """Return the number of frames, as far as they are read."""
        return len(await self._frames())

    # -- what is told ------------------------------------------------------------------------------

    async def own_frames(self) -> list[FrameView]:
        """Return the innermost frames of the program's own code."""
        frames = await self._frames()
        cwd = self.session.target.cwd
        own = [
            one
            for one in frames
            if one.file and not is_library(one.file, cwd) and Path(one.file).is_file()
        ]
        return [
            FrameView(at, one.function, one.file, one.line)
            for at, one in enumerate(own[: 1 + _CALLERS])
        ]

    async def describe_check(self) -> FalseCheck:
        """Describe the false check, at which the program is stopped."""
        frames = await self.own_frames()
        frame = await self.current_frame()
        values = []
        for one in self.window.operands:
            found = await self._read_text(one, frame)
            if found is not None:
                values.append(OperandChange(one, None, found))
        here = frames[0] if frames else FrameView(0, frame.function, frame.file, frame.line)
        return FalseCheck(
            kind=self.window.kind,
            ordinal=self.window.bad.ordinal,
            frame=here,
            callers=tuple(frames[1:]),
            values=tuple(values),
        )

    async def is_of_other_objects(self) -> bool:
        """Return whether the false check reads other objects than those kept at the good check."""
        if not self._same or not self.is_pinned:
            return False
        return await self._read_truth(self._same, await self.current_frame()) is not True

    async def is_false_here(self) -> bool | None:
        """Return whether the invariant is false of the variables at the stop."""
        is_true = await self._read_truth(self.window.expression, await self.current_frame())
        return None if is_true is None else not is_true


def enters_function(frames: Sequence[FrameView], operands: Iterable[str]) -> bool:
    """Return whether the innermost frame is at its function's head, where it stores its parameters.

    The operands are those of the invariant: on one line the body may assign to them as well.
    """
    if len(frames) < 2:  # noqa: PLR2004 - the function and its caller
        return False
    here = frames[0]
    text = line_text(here.file or "", here.line or 0)
    name = re.escape(last_part(here.function))
    is_named = re.search(rf"\b{name}\s*(?:<[^()]*>)?\s*\(", text) is not None
    is_call = text.endswith(";") or _CONTROL.match(text) is not None
    is_head = text == "{" or (is_named and not is_call)
    return is_head and not any(_is_assigned(one, text) for one in operands)


def _is_assigned(name: str, text: str) -> bool:
    word = re.escape(last_part(name.replace("->", ".")))
    assigned = rf"(?<!\w){word}\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*{word}\b"
    return re.search(assigned, text) is not None


def describe_statement(
    frames: list[FrameView],
    before: InvariantState,
    after: InvariantState,
    *,
    has_callee: bool = False,
) -> BreakingStatement:
    """Describe the statement between two states; `frames` begin with its own.

    Of a parameter it is the call that has passed it, unless it is a callee that has written.
    """
    frames = skip_made_setter(frames)
    if not has_callee and enters_function(frames, after.values):
        frames = frames[1:]
    here = frames[0]
    return BreakingStatement(
        frame=here,
        text=line_text(here.file or "", here.line or 0),
        callers=tuple(frames[1:]),
        operands=tuple(
            OperandChange(name, before.values.get(name), text)
            for name, text in after.values.items()
        ),
    )
