"""Narrows a false invariant of JavaScript to a statement, with conditions that V8 evaluates.

A breakpoint on each line of the program's sources has a condition that is never true: from the last
good check on it evaluates the invariant, and keeps the line before each change to false. The
invariant is a closure of the good check's frame, and so reads the same objects in any function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import State
from debugger.model.program import EvaluationPurpose
from debugger.questions.holds.answer import BreakingStatement, OperandChange
from debugger.questions.holds.check_window import CheckWindow, Narrowed, WindowRun
from debugger.questions.holds.invariant_text import root_names
from debugger.questions.recordings.function_lookup import line_text, lines_of
from debugger.questions.runner import question_run
from debugger.session import inspection
from debugger.session.session import Session
from debugger.sources.compiled_names import find_original_frame
from debugger.sources.javascript_outline import outline_file

_FOLLOWED_MAX = 3_000  # lines with a condition
STATE_NAME = "__debuggerHolds"
_CALLERS = 6
_NO_CODE = re.compile(r"\s*(?:[{(\[;]*|//.*|/?\*.*)\Z")
_FRAME = re.compile(
    r"at (?:async )?(?:(?P<name>.+?) \()?(?:file://)?(?P<file>/[^()]*?):(?P<line>\d+):(?P<column>\d+)\)?\Z"
)
_WRITES = re.compile(r"(?<![=!<>])=(?![=>])|\+\+|--|\bdelete\b")
# The state of the run. The errors keep the stack of a line, and format it only when it is read.
_STATE = (
    "if(!globalThis." + STATE_NAME + ")Object.defineProperty(globalThis,'" + STATE_NAME + "',"
    "{configurable:true,value:{g:0,b:0,n:0,on:false,c:null,"
    "text(f){try{const v=f();return typeof v==='string'?JSON.stringify(v):typeof v==='function'?"
    "'function '+v.name:typeof v==='object'&&v?JSON.stringify(v).slice(0,200):String(v)}"
    "catch{return '?'}},"
    "line(live){if(!this.on)return false;let r=null;try{r=live?live():null}catch{}"
    "if(!r)try{r=this.read()}catch{}"
    "if(r){if(!r[0]){if(this.t!==false){this.n++;this.c={at:this.last.stack,now:new Error().stack,"
    "before:this.v,after:r[1]}}}else this.c=null;this.t=r[0];this.v=r[1]}"
    "this.last=new Error();return false}}});const $dbg=globalThis." + STATE_NAME + ";"
)
_PLAIN_LINE = f"!!globalThis.{STATE_NAME}&&globalThis.{STATE_NAME}.line()"
# Read part by part, since js-debug cuts long texts, and without characters that it would escape.
_PART = "encodeURIComponent(JSON.stringify({}))"
_STACK = (
    "(globalThis." + STATE_NAME + ".c?.{}??'').split('\\n')"
    ".filter(l=>l.includes('/')&&!l.includes('eval at')&&!l.includes('node:')).slice(0,8)"
)
_VALUES = f"(globalThis.{STATE_NAME}.c?.{{}}??[])"


class _Change(Struct):
    """The last change to false: the stacks of the line before it, and of the line after it."""

    at: tuple[str, ...]
    now: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


class _FollowedState(Struct):
    """The state of the run at the false check."""

    has_change: bool = False
    changes: int = 0
    is_true: bool | None = None


_SUMMARY = (
    f"{{has_change:!!globalThis.{STATE_NAME}.c,changes:globalThis.{STATE_NAME}.n,"
    f"is_true:globalThis.{STATE_NAME}.t}}"
)
_Part = TypeVar("_Part")


class NarrowingCondition:
    """The conditions for one invariant."""

    def __init__(self, window: CheckWindow, known: str) -> None:
        self._window = window
        operands = ",".join(f"$dbg.text(()=>({one}))" for one in window.operands)
        values = f"[!!({window.expression}),[{operands}]]"
        self._read = f"()=>((known)=>{values})({known})" if known else f"()=>{values}"
        self._roots = ",".join(root_names(window.expression))
        when = window.when
        self._when = (
            f"(()=>{{try{{return !!({when})}}catch{{return false}}}})()" if when else "true"
        )
        # Live where the names are those of the check: also a local that is bound anew is seen.
        self._live = (
            f"()=>{{if(![{self._roots}].every((x,i)=>typeof x!=='object'||x===$dbg.roots[i]))"
            f"return null;$dbg.read={self._read};return $dbg.read()}}"
        )

    def home_line(self) -> str:
        """Return the condition of a line in a function of the checks."""
        name = f"globalThis.{STATE_NAME}"
        return f"(()=>{{const $dbg={name};return !!$dbg&&$dbg.line({self._live})}})()"

    def check_line(self, *, is_good: bool, is_bad: bool) -> str:
        """Return the condition of the line of a check; it stops at the false one."""
        window = self._window
        steps = [f"$dbg.line({self._live});", f"if(!{self._when})return false;"]
        if is_good:
            last = f"if($dbg.g==={window.bad.ordinal})return true;" if is_bad else ""
            first = (
                f"$dbg.roots=[{self._roots}];$dbg.read={self._read};"
                "[$dbg.t,$dbg.v]=$dbg.read();$dbg.last=new Error();$dbg.on=true"
            )
            steps.append(f"$dbg.g++;{last}if($dbg.g==={window.good.ordinal}){{{first}}}")
        elif is_bad:
            steps.append(f"$dbg.b++;if($dbg.on&&$dbg.b==={window.bad.ordinal})return true;")
        body = "".join(steps)
        return f"(()=>{{try{{{_STATE}{body}}}catch{{}}return false}})()"


async def narrow_in_node(window: CheckWindow, known: str, files: Sequence[str]) -> Narrowed:
    """Run a program with a condition on each line, to the false check.

    `known` is the JSON of the value that the invariant reads by this name, "" for none.

    Raises:
        DebuggerError: What starting the program raises; NOT_SUPPORTED for a check without a line.
    """
    good, bad = window.good_spec, window.bad_spec
    if good.line is None or bad.line is None or good.file is None or bad.file is None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "the check's function is in no file, so that its lines cannot be followed: "
            "debugger calls FUNC -- CMD steps through it",
        )
    specs, notes = _conditions(window, known, files)
    question = replace(window.question, breakpoints=tuple(specs))
    async with question_run.run_question(question) as run:
        there = WindowRun(run, window)
        stop = await run.wait_first()
        if stop.state != State.STOPPED.value or not stop.hit_breakpoints:
            return Narrowed(why="a further run did not come to the false check again")
        session = run.session_of(stop)
        state = await _read_part(session, _SUMMARY, _FollowedState)
        change = await _read_change(session) if state is not None and state.has_change else None
        check = await there.describe_check()
    if state is None or change is None:
        is_true = state is not None and state.is_true
        why = "no line that was followed made it false" if is_true else "it could not be followed"
        return Narrowed(why=why, check=check, notes=notes)
    statement = _describe_statement(window, change)
    if statement is None:
        return Narrowed(why="the line is not one of the program's sources", check=check)
    if state.changes > 1:
        text = f"since the last good check it became false {state.changes:,} times"
        notes = (*notes, f"{text}; this is the last")
    rest = () if _is_passed(window, change) else tuple(_rest_note(change))
    return Narrowed(statement, check=check, notes=(*notes, *rest), means="conditions on lines")


async def _read_part(session: Session, text: str, shape: type[_Part]) -> _Part | None:
    """Read one value of the run's state; None if it cannot be read."""
    frame = await session.run_job(lambda: inspection.frame_of(session))
    try:
        value = await session.run_job(
            lambda: session.backend.evaluate(_PART.format(text), frame, EvaluationPurpose.PRINT)
        )
        return msgspec.json.decode(unquote(value.value.strip("'\"")), type=shape)
    except msgspec.DecodeError:
        return None
    except DebuggerError as error:
        if error.code is ErrorCode.ADAPTER_DIED:
            raise
        return None


async def _read_change(session: Session) -> _Change | None:
    parts = [
        await _read_part(session, text.format(name), tuple[str, ...])
        for text, name in (
            (_STACK, "at"),
            (_STACK, "now"),
            (_VALUES, "before"),
            (_VALUES, "after"),
        )
    ]
    at, now, before, after = parts
    return _Change(at, now or (), before or (), after or ()) if at else None


def _conditions(
    window: CheckWindow, known: str, files: Sequence[str]
) -> tuple[list[BreakpointSpec], tuple[str, ...]]:
    """Return a breakpoint for each line with code, those of the checks first."""
    conditions = NarrowingCondition(window, known)
    good = (window.good_spec.file or "", window.good_spec.line or 0)
    bad = (window.bad_spec.file or "", window.bad_spec.line or 0)
    places: dict[tuple[str, int, int | None], str] = {
        (*one, None): conditions.check_line(is_good=one == good, is_bad=one == bad)
        for one in (good, bad)
    }
    roots = root_names(window.expression)
    homes = [_span_of_names(*one, roots) for one in (good, bad)]
    near = dict.fromkeys([good[0], bad[0], *files])
    remaining = 0
    for file in near:
        for number, text in enumerate(lines_of(file), 1):
            if _NO_CODE.match(text) or (file, number, None) in places:
                continue
            if len(places) >= _FOLLOWED_MAX:
                remaining += 1
                continue
            is_home = any(file == home[0] and home[1] <= number <= home[2] for home in homes)
            places[file, number, None] = conditions.home_line() if is_home else _PLAIN_LINE
        for line, column in _inner_starts(file):
            if len(places) < _FOLLOWED_MAX:
                places[file, line, column] = _PLAIN_LINE
    notes = (f"{remaining:,} further lines of its sources were not followed",) if remaining else ()
    return [
        BreakpointSpec(file=file, line=number, column=column, condition=text)
        for (file, number, column), text in places.items()
    ], notes


def _inner_starts(file: str) -> Iterator[tuple[int, int]]:
    """Yield where functions begin behind other code of their line, as callbacks do.

    A breakpoint at the line is at that other code.
    """
    outline = outline_file(file)
    lines = lines_of(file)
    for one in outline.functions if outline is not None else ():
        is_there = 0 < one.line <= len(lines)
        if is_there and lines[one.line - 1][: one.column - 1].strip(" \t{"):
            yield one.line, one.column


def _span_of_names(file: str, line: int, roots: Sequence[str]) -> tuple[str, int, int]:
    """Return the lines of a check's function from where the invariant's variables have values."""
    outline = outline_file(file)
    found = outline.innermost_function(line) if outline is not None else None
    if found is None:
        return file, line, line
    first = found.first_line
    for number, text in enumerate(lines_of(file)[first - 1 : line - 1], first):
        declared = re.search(r"\b(?:const|let|var)\b([^=]*)=(?![=>])", text)
        # V8 gives a variable before its declaration as undefined, which may break the invariant.
        if declared is not None and set(re.findall(r"[\w$]+", declared[1])) & set(roots):
            first = number + 1
    return file, first, found.last_line


def _stack_frames(stack: Sequence[str]) -> Iterator[FrameView]:
    """Parse the frames of a stack in files, without those of the conditions themselves."""
    index = 0
    for line in stack:
        found = _FRAME.search(line.strip())
        if found is None:
            continue
        name, file, number = found["name"] or "(anonymous)", found["file"], int(found["line"])
        original = find_original_frame(file, number, int(found["column"]), name)
        yield FrameView(index, *(original or (name, file, number)))
        index += 1


def _describe_statement(window: CheckWindow, change: _Change) -> BreakingStatement | None:
    frames = list(_stack_frames(change.at))
    if _is_passed(window, change):
        # No line before the call has the parameter: the call itself gave it its value.
        frames = list(_stack_frames(change.now))[1:]
    if not frames:
        return None
    here = frames[0]
    before: Mapping[str, str] = dict(zip(window.operands, change.before, strict=False))
    after = dict(zip(window.operands, change.after, strict=False))
    return BreakingStatement(
        frame=here,
        text=line_text(here.file or "", here.line or 0),
        callers=tuple(frames[1 : 1 + _CALLERS]),
        operands=tuple(
            OperandChange(one, before.get(one), after[one])
            for one in window.operands
            if one in after
        ),
    )


def _is_passed(window: CheckWindow, change: _Change) -> bool:
    """Return whether an invariant is false at a function's entry by the value of a parameter."""
    file, line = window.bad_spec.file or "", window.bad_spec.line or 0
    outline = outline_file(file) if window.kind == "entry" else None
    found = outline.innermost_function(line) if outline is not None else None
    now = list(_stack_frames(change.now))
    if found is None or len(now) < len(("callee", "caller")) or now[0].line != line:
        return False
    return not set(found.arguments).isdisjoint(root_names(window.expression))


def _rest_note(change: _Change) -> Iterator[str]:
    """Name the caller's statement if the rest of it may have made the change after the call."""
    last, now = list(_stack_frames(change.at)), list(_stack_frames(change.now))
    if len(last) > len(now) > 0 and len(last) > 1:
        caller = last[len(last) - len(now)]
        text = line_text(caller.file or "", caller.line or 0)
        if _WRITES.search(text):
            yield f"or by the rest of line {caller.line}, after the call: {text}"
