"""Writes breakpoints for js-debug: kinds of conditions that exclude each other, and functions."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from debugger.backends.adapters.js_debug.js_made_functions import MadeFunctions, is_made
from debugger.backends.adapters.js_debug.js_steps import JsPause, JsStepOut
from debugger.backends.base import (
    AttachTarget,
    BackendEvent,
    BreakpointChanged,
    ConditionError,
    LaunchTarget,
    LogpointPassed,
    OutputPrinted,
)
from debugger.backends.dap import messages as dap
from debugger.backends.dap.debug_adapter import AdapterConnection
from debugger.backends.dap.event_dispatcher import mark_log_message
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec, split_template
from debugger.model.program import EvaluationPurpose, Frame, Stopped, StopReason, Variable
from debugger.sources import javascript_outline as source
from debugger.sources.compiled_names import OriginalNames, SourceIndex
from debugger.sources.javascript_declarations import find_inner_column, guard_reads
from debugger.sources.javascript_search import (
    enclosing_function,
    functions_in,
    near_functions,
    search_functions,
)
from debugger.sources.project_files import imported_files, installed_files, project_files
from debugger.sources.source_map import original_sources
from debugger.system.process_info import look_at

_SCRIPTS = frozenset({".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx"})
_NAME = re.compile(r"[\w$]+(\.[\w$]+)?")
_NEAR_MAX = 4
_LISTED_MAX = 5  # searched files that are named
_OTHERS_MAX = 5


def find_function(
    launched: LaunchTarget | None,
    attached: AttachTarget | None,
    spec: BreakpointSpec,
    *,
    explain: bool = False,
) -> BreakpointSpec | BoundBreakpoint:
    """Resolve a function to the line of its first statement, or explain why it is not found.

    Without a name it is the function around the line. A name that is in no text is left as it is,
    unless `explain`: the program may make the function as it runs.
    """
    if spec.file is not None:
        return _in_file(Path(spec.file), spec)
    name = spec.function or ""
    scripts, cwd = _program_scripts(launched, attached)
    folders = list(dict.fromkeys([*(str(one.parent) for one in scripts), *([cwd] if cwd else [])]))
    files = _project_files(launched, scripts, folders)
    matches = search_functions(files, name)
    installed: list[Path] = []
    if not matches and not is_made(files, name):
        installed = installed_files(files, _SCRIPTS)
        matches = search_functions(installed, name)
    if not matches:
        missing = _not_found_bound(name, files, installed, folders)
        # The program may make it of a text (`MadeFunctions`).
        is_name = launched is not None and _NAME.fullmatch(name) is not None
        return spec if is_name and not explain else missing
    first = matches[0]
    others = [
        f"{os.path.relpath(one.file, os.path.realpath(cwd))}:{one.line}"
        for one in matches[1 : 1 + _OTHERS_MAX]
    ]
    more = len(matches) - 1 - _OTHERS_MAX
    if more > 0:
        others.append(f"{more} more")
    note = f"others of this name: {', '.join(others)}" if others else None
    return replace(spec, file=first.file, line=first.line, function=None, note=note)


def _not_found_bound(
    name: str, files: Sequence[Path], installed: Sequence[Path], folders: Sequence[str]
) -> BoundBreakpoint:
    """Describe which scripts were searched, with the names that are near."""
    where = " and ".join(folders) or "no folder"
    listed = ", ".join(one.name for one in files[:_LISTED_MAX])
    some = f" ({listed}{', …' if len(files) > _LISTED_MAX else ''})" if files else ""
    count = f"{len(files):,} script{'s' if len(files) != 1 else ''}"
    near = near_functions(files, name)
    if name in near:
        # Its definition is in a string, which the program may compile.
        some += ", whose strings alone have it"
    packages = f", nor of {len(installed):,} of the packages they name" if installed else ""
    return BoundBreakpoint(
        verified=False,
        why=f"no function {name} in the text of {count} below {where}{some}"
        f"{packages}; FILE:LINE sets it anywhere",
        near_names=tuple(one for one in near if one != name),
    )


def _in_file(path: Path, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
    name, line = spec.function or "", spec.line or 0
    written = [one for one in original_sources(path) if spec.line is None] or [path]
    matches = search_functions(written, name) if name else []
    found = matches[0] if matches else enclosing_function(str(path), line) if not name else None
    if found is not None:
        others = ", ".join(f"{path.name}:{one.line}" for one in matches[1 : 1 + _OTHERS_MAX])
        note = f"others of this name: {others}" if others else spec.note
        return replace(spec, file=found.file, line=found.line, function=None, note=note)
    if not name:
        outline = source.outline_file(str(path))
        functions = outline.functions if outline is not None else ()
        # The next ones by line are the likely ones to be meant.
        nearest = sorted(functions, key=lambda one: abs(one.first_line - line))
        near = tuple(dict.fromkeys(one.name for one in nearest if one.name))[:_NEAR_MAX]
        return BoundBreakpoint(
            verified=False, why=f"{path.name}:{spec.line} is in no function", near_names=near
        )
    why = f"no function {name} in the text of {path.name}; FILE:LINE sets it anywhere"
    return BoundBreakpoint(verified=False, why=why, near_names=near_functions(written, name))


def _program_scripts(
    launched: LaunchTarget | None, attached: AttachTarget | None
) -> tuple[list[Path], str]:
    """Return the scripts that a program was started with, and its working directory.

    A program that was installed (tsx, mocha) runs scripts that are among its arguments.
    """
    if launched is not None:
        words, cwd = [launched.program or "", *launched.args], launched.cwd
    else:
        process = look_at(attached.pid) if attached is not None and attached.pid else None
        if process is None:
            return [], ""
        words, cwd = list(process.words[1:]), process.cwd
    scripts = [Path(os.path.realpath(Path(cwd, word))) for word in words if word]
    # Without node_modules: a tool that runs the program is not the program.
    own = [
        one
        for one in scripts
        if one.suffix in _SCRIPTS and "node_modules" not in one.parts and one.is_file()
    ]
    return own, cwd


def _project_files(
    launched: LaunchTarget | None, scripts: Sequence[Path], folders: Sequence[str]
) -> list[Path]:
    """Return the files of a project, with the sources in place of compiled files where they exist.

    The program's imports come first: of functions of one name it runs the imported one.
    """
    program = Path(os.path.realpath(launched.program)) if launched and launched.program else None
    own = [program] if program is not None and program.suffix in _SCRIPTS else []
    known = dict.fromkeys([*own, *imported_files(scripts), *project_files(folders, _SCRIPTS)])
    # js-debug sets breakpoints by source, and maps them to the compiled file itself.
    written = [one for path in known for one in original_sources(path) or [path]]
    return list(dict.fromkeys(written))


async def name_functions(
    connection: AdapterConnection, frames: tuple[Frame, ...]
) -> tuple[Frame, ...]:
    """Give functions of compiled scripts the names that they have in the source."""
    found = []
    for one in frames:
        names = await _original_names(connection, one.file) if one.file and one.line else None
        if names is not None:
            function = names.function_name(one.function, one.line or 1, one.column or 1)
            found.append(replace(one, function=function))
        else:
            found.append(one)
    return tuple(found)


async def _original_names(connection: AdapterConnection, file: str) -> OriginalNames | None:
    """Return the names that a source has in the script that it was compiled to."""
    sender = connection.breakpoint_sender
    return await sender.find_names(file) if isinstance(sender, JsBreakpointSender) else None


def _index_sources(launched: LaunchTarget | None, attached: AttachTarget | None) -> SourceIndex:
    scripts, _ = _program_scripts(launched, attached)
    return SourceIndex(list(dict.fromkeys([*scripts, *imported_files(scripts)])))


FAILED = "[[failed "
UNBOUND = "Unbound breakpoint"
# Beside the program's own names, which expressions of the user's read: none of them is called so.
# A local name in the condition's function: a global one would be visible to the program.
_OWN = "debuggerCliShared"
# A registered symbol is the same in all of a process's modules and contexts.
_KEY = 'Symbol.for("debugger-cli")'
# What the conditions share in a program: counters, and the way to speak. `getBuiltinModule` came
# with Node 20.16; `process.binding` goes away some day.
#
# V8 evaluates a condition once more where the line throws, and where all are false it does not stop
# at the exception (`Debug::IsMutedAtCurrentLocation`). `thrown` tells this by the place that V8
# gives the condition's code: 1:1 at a breakpoint, where it throws at an exception. The first
# evaluation is always a breakpoint's; where that has another place (V8 11.3 has not), none is
# taken for an exception's.
_THROWN = (
    "thrown(key){const E=globalThis.Error,{prepareStackTrace:own,stackTraceLimit:most}=E,"
    "had='prepareStackTrace'in E;let at='';"
    "try{E.stackTraceLimit=2;E.prepareStackTrace=(_,calls)=>calls[1].getEvalOrigin();"
    "at=String(new E().stack)}catch{}"
    "try{E.stackTraceLimit=most;if(had)E.prepareStackTrace=own;else delete E.prepareStackTrace}"
    "catch{}return(this.n[key]??=at).endsWith(':1:1)')&&!at.endsWith(':1:1)')}"
)
SHARED = (
    f"(globalThis[{_KEY}]??Object.defineProperty(globalThis,{_KEY},{{value:{{n:{{}},{_THROWN},"
    # A context of `vm` has no process, and V8's own console.
    "say:globalThis.process?(globalThis.process.getBuiltinModule?.('inspector')"
    "??globalThis.process.binding('inspector')).console.log:globalThis.console.log"
    f"}}}})[{_KEY}])"
)
# True once: the statement may be in a loop, or in a file that is loaded again.
_ENTRY = f"(()=>{{const s={SHARED};return(s.n.entry=(s.n.entry??0)+1)===1}})()"
_NO_FILE = 0x7FFFFFFE  # a reference to a source that nothing has


def stop_condition(
    breakpoint_: Breakpoint, compile_expression: Callable[[str], str] = str
) -> str | None:
    """Write the condition at which a breakpoint stops; None for one that always stops.

    `compile_expression` writes the user's expressions with the names of the script that runs.
    """
    # js-debug takes a condition, a hit condition or a log message for a breakpoint, and only one of
    # them. So all three are written as one JavaScript condition, which runs in the program at each
    # pass of the line:
    #
    # 1. `thrown`: the line throws. V8 evaluates the condition once more for that, and a false one
    #    would suppress the stop at the exception. True leaves the decision to the exception's own
    #    filter; the pass is counted nowhere.
    # 2. The user's condition; one that throws is reported by `say`, marked with our number, and
    #    does not stop.
    # 3. The hit count, in a counter of the program's `SHARED` object. Its key names count and
    #    condition: a changed breakpoint counts anew.
    # 4. A log text is written by `say`, and the result is false: the program does not stop.
    #
    # `say` is console.log of the inspector itself, not of the program: it goes to the debugger
    # alone, and the program may have replaced its own.
    spec = breakpoint_.spec
    if not (spec.condition or spec.hit_count or spec.log):
        return None
    # Keys are texts of JavaScript: JSON quotes them.
    key = json.dumps(f"{breakpoint_.id}:place")
    # An exception stops here or not as it would without the breakpoint, which it is no hit of.
    # An arrow function, evaluated where it stands: the user's names are those of the frame.
    steps = [f"const {_OWN}={SHARED};if({_OWN}.thrown({key}))return true;"]
    if spec.condition:
        failed = json.dumps(f"{FAILED}{breakpoint_.id}]] %s")
        prefix = json.dumps(f"{spec.condition}: ")
        # On lines of its own, so that a comment in it ends with it.
        steps.append(
            f"try{{if(!(\n{compile_expression(spec.condition)}\n))return false}}"
            f"catch(e){{{_OWN}.say({failed},{prefix}+(e?.message??e));return false}}"
        )
    if spec.hit_count:
        key = json.dumps(f"{breakpoint_.id}:{spec.hit_count}:{spec.condition or ''}")
        steps.append(f"if(({_OWN}.n[{key}]=({_OWN}.n[{key}]??0)+1)<{spec.hit_count})return false;")
    if spec.log:
        marked = mark_log_message(breakpoint_.id, spec.log)
        text, values = log_template(marked, compile_expression)
        steps.append(f"{_OWN}.say({','.join([json.dumps(text), *values])});return false")
    else:
        steps.append("return true")
    return f"(()=>{{{''.join(steps)}}})()"


def log_template(
    text: str, compile_expression: Callable[[str], str] = str
) -> tuple[str, list[str]]:
    """Write a logpoint's text as arguments of console.log: a format, and the expressions.

    An expression that fails is replaced by its failure, in <>.
    """
    texts: list[str] = []
    values: list[str] = []
    for part, is_expression in split_template(text):
        if is_expression:
            # %O and not %s: an object is shown with its fields.
            texts.append("%O")
            value = compile_expression(part)
            values.append(f"(()=>{{try{{return(\n{value}\n)}}catch(e){{return`<${{e}}>`}}}})()")
        else:
            texts.append(part.replace("%", "%%"))
    return "".join(texts), values


class JsBreakpointSender:
    """Sends the breakpoints of one program as js-debug 1.112 needs them."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection
        # What was sent for each file last, and the numbers that js-debug gave.
        self._sent: dict[str, tuple[list[dict[str, Any]], list[int]]] = {}
        self._known: dict[int, dap.DapBreakpoint] = {}
        self._checked: dict[str, str | None] = {}
        self._most = 0
        # Breakpoints of a step out, behind the user's in the same list.
        self._ours: dict[str, list[dict[str, Any]]] = {}
        self._finish: JsStepOut | None = None
        self._pause = JsPause(connection)
        self._made = MadeFunctions(connection)
        self._is_live = False
        self.is_changed = False
        self._is_replaying = False
        # Random: the marks of earlier attaches are among the repeated output, too.
        self._replay_end = f"[[attached {secrets.token_hex(4)}]]"
        self.returned: Variable | None = None
        self._sources: SourceIndex | None = None

    async def clear_all(self) -> None:
        """Remove all breakpoints."""
        for file in tuple(self._sent):
            await self._send_file(file, [])
        await self._connection.send_request("setExceptionBreakpoints", {"filters": []}, dap.DapBody)

    async def send_file(
        self, file: str, breakpoints: Sequence[Breakpoint]
    ) -> Sequence[dap.DapBreakpoint]:
        """Replace a file's breakpoints; the answers come in the same order."""
        # One setBreakpoints for all that belong to the file. Three kinds never get to js-debug, or
        # change on the way:
        #
        # - a line past the end is refused here: V8 would bind it to the end, where nothing ever
        #   comes;
        # - a condition whose grammar is wrong is refused here: js-debug would only print the error;
        # - our own breakpoints of a step out come last, so that the answers' order is the user's.
        #
        # The answers are cached: js-debug answers a list that is equal to the one before with an
        # empty one, and reports changes by events only (`note_event`).
        length = _count_lines(file)
        refused: dict[int, str] = {}
        for one in breakpoints:
            # V8 takes a line past the end for the end, and never comes there.
            is_past = length is not None and ((one.at or one.spec).line or 1) > length
            why = UNBOUND if is_past else await self._condition_problem(one)
            if why is not None:
                refused[one.id] = why
        sendable = [one for one in breakpoints if one.id not in refused]
        # The user's breakpoints first: answers are matched by position.
        has_expressions = any(one.spec.condition or one.spec.log for one in sendable)
        # At a stop js-debug renames variables itself; conditions and log texts it does not.
        names = await self.find_names(file) if has_expressions else None
        written = [_breakpoint_arguments(one, names) for one in sendable]
        answers = await self._send_file(file, [*written, *self._ours.get(file, [])])
        answers_by_id = dict(zip((one.id for one in sendable), answers, strict=False))
        return [
            dap.DapBreakpoint(message=refused[one.id])
            if one.id in refused
            else answers_by_id.get(one.id, dap.DapBreakpoint())
            for one in breakpoints
        ]

    async def send_functions(
        self, breakpoints: Sequence[Breakpoint]
    ) -> Sequence[dap.DapBreakpoint]:
        """Replace the breakpoints at functions that are in no file."""
        return await self._made.send(breakpoints, stop_condition)

    async def attribute_stop(self, stop: Stopped) -> Stopped:
        """Return a stop with the breakpoints that js-debug does not know."""
        return await self._made.attribute_stop(stop)

    async def find_names(self, file: str) -> OriginalNames | None:
        """Return the names that a source has in the script that it was compiled to."""
        connection = self._connection
        if self._sources is None:
            # Once: a program's imports are many files.
            self._sources = await asyncio.to_thread(
                _index_sources, connection.launch_target, connection.attach_target
            )
        if not self._sources.has(file):
            return None
        return await asyncio.to_thread(self._sources.find_names, file)

    async def _send_file(
        self, file: str, requested: list[dict[str, Any]]
    ) -> Sequence[dap.DapBreakpoint]:
        before, ids = self._sent.get(file, ([], []))
        if requested != before:
            # js-debug answers a list that is the same as before with an empty one.
            arguments = {"source": {"path": file}, "breakpoints": requested}
            body = await self._connection.send_request(
                "setBreakpoints", arguments, dap.BreakpointsBody
            )
            ids = [one.id for one in body.breakpoints if one.id is not None]
            self._known |= {one.id: one for one in body.breakpoints if one.id is not None}
            self._sent[file] = (requested, ids)
            # The highest number so far: `keep_numbers` uses up all below.
            self._most = max(self._most, *ids, 0)
        return [self._known[one] for one in ids]

    async def _condition_problem(self, breakpoint_: Breakpoint) -> str | None:
        """Return the error in a condition's grammar; js-debug would only print it."""
        text = breakpoint_.spec.condition
        if text is None or not self._is_live:
            return None
        if text not in self._checked:
            self._checked[text] = None
            try:
                await self._connection.evaluate(
                    f"(()=>{{return(\n{text}\n)}},0)", None, EvaluationPurpose.PRINT
                )
            except DebuggerError as error:
                # Other failures are none of the grammar's: the expression is not run, only parsed,
                # behind a comma that makes the result 0.
                if "SyntaxError" in error.message:
                    self._checked[text] = f"the condition {text}: {error.message}"
        return self._checked[text]

    def note_event(self, event: BackendEvent) -> None:
        """Note a changed breakpoint, or that the program stopped."""
        if isinstance(event, Stopped):
            self._pause.note_stop()
            # A reported stop ends a step out, with its value, or with None if something else
            # stopped first.
            finish, self._finish = self._finish, None
            self.is_changed = False
            self.returned = finish.value if finish is not None else None
        elif isinstance(event, BreakpointChanged) and event.bound.backend_id in self._known:
            bound = event.bound
            self._known[event.bound.backend_id] = dap.DapBreakpoint(
                id=bound.backend_id, verified=bound.verified, line=bound.line
            )

    @property
    def is_live(self) -> bool:
        """Whether the launch is done: more than breakpoints can be requested then."""
        return self._is_live

    def note_live(self) -> None:
        """Note that the launch is done."""
        self._is_live = True

    def expect_replay(self) -> None:
        """Drop what is repeated until our mark, of what an attached program logged before."""
        self._is_replaying = True

    def is_replayed(self, event: BackendEvent) -> bool:
        """Return whether an event repeats output from before the attach.

        V8 keeps a thousand messages, and sends them to whoever attaches.
        """
        if not self._is_replaying or not isinstance(
            event, OutputPrinted | LogpointPassed | ConditionError
        ):
            return False
        if isinstance(event, OutputPrinted) and event.text.strip() == self._replay_end:
            self._is_replaying = False
        return True

    async def end_replay(self) -> None:
        """Make the program log a mark at the end of the output from before the attach."""
        say = f"{SHARED}.say({json.dumps(self._replay_end)})"
        try:
            await self._connection.evaluate(say, None, EvaluationPurpose.PRINT)
        except DebuggerError:
            self._is_replaying = False

    async def step_out(self, thread: int) -> None:
        """Step out of a function, and note the returned value."""
        self._finish = JsStepOut(self._connection, thread, self._set_ours)
        self._connection.stop_checks.append(_ignore_stop)
        await self._finish.begin()

    async def pause_program(self, thread: int) -> None:
        """Pause a running program, whether or not any of its code runs."""
        await self._pause.pause(thread)

    async def is_user_stop(self, stop: Stopped) -> bool:
        """Return whether a stop is for the user; False for a part of a step of ours."""
        if not await self._pause.is_reported(stop):
            return False
        finish = self._finish
        if finish is None or finish.is_over:
            return True
        try:
            # A step out is made of several stops, of which only the last is the user's.
            is_reported = await finish.stands(stop)
        except DebuggerError:
            is_reported = True
        if is_reported:
            self._connection.stop_checks.remove(_ignore_stop)
            if stop.reason is not StopReason.STEP:
                self._finish = None
        return is_reported

    async def _set_ours(self, file: str, places: Sequence[dict[str, Any]]) -> set[int]:
        """Set our breakpoints after the user's, or remove them; return their numbers."""
        before = self._ours.pop(file, [])
        sent, _ = self._sent.get(file, ([], []))
        # Ours are always the last entries of the list.
        theirs = sent[: len(sent) - len(before)]
        if places:
            self._ours[file] = list(places)
        answers = await self._send_file(file, [*theirs, *places])
        return {one.id for one in answers[len(theirs) :] if one.id is not None}

    async def set_entry(self) -> None:
        """Set the entry breakpoint at the first statement of the program's file."""
        launched = self._connection.launch_target
        if launched is None or not launched.stop_on_entry or launched.program is None:
            return
        file = os.path.realpath(launched.program)
        found = source.outline_file(file)
        # The first statement of the program's own file: what Node and loaders run before is not the
        # program's. js-debug's own stopOnEntry would stop at the first place with code in the text.
        if found is not None and found.start is not None:
            line, column = found.start
            entry = {"line": line, "column": column, "condition": _ENTRY}
            await self._send_file(file, [*self._sent.get(file, ([], []))[0], entry])

    async def keep_numbers(self) -> None:
        """Use up the numbers from before the launch, so that no later breakpoint gets one.

        Before a session's launch js-debug numbers breakpoints from 1 on, after it from 0 on.
        """
        if not self._known:
            return
        # A source that does not exist: these breakpoints bind nowhere, and are removed at once.
        nowhere: dict[str, Any] = {"source": {"sourceReference": _NO_FILE, "name": "-"}}
        lines = [{"line": line} for line in range(1, self._most + 2)]
        for some in (lines, []):
            arguments = nowhere | {"breakpoints": some}
            await self._connection.send_request("setBreakpoints", arguments, dap.BreakpointsBody)


async def _ignore_stop(stop: Stopped) -> None:
    """Do nothing: while listed as a check, it makes every stop go through the stop filter."""
    del stop


def _count_lines(file: str) -> int | None:
    """Count the lines of a file; None if it cannot be read."""
    try:
        return len(Path(file).read_bytes().splitlines())
    except OSError:
        return None


def column_of(breakpoint_: Breakpoint) -> int | None:
    """Return the column at which a function's code begins; None for a breakpoint at a line.

    Of a line with a loop in it, it is that of the code which has what the breakpoint reads.
    """
    at = breakpoint_.at or breakpoint_.spec
    if at.column is not None:
        return at.column
    if at.file is None:
        return None
    if breakpoint_.spec.function is None:
        return find_inner_column(at.file, at.line or 0, _read_expressions(breakpoint_))
    name, line = breakpoint_.spec.function, breakpoint_.spec.line
    if not name:
        enclosing = enclosing_function(at.file, line or 0)
        return enclosing.column if enclosing is not None else None
    fitting = [one for one in functions_in(at.file, name) if one.line == at.line]
    return fitting[0].column if fitting else None


def _read_expressions(breakpoint_: Breakpoint) -> list[str]:
    """Return the expressions of a breakpoint's condition and of its log text."""
    parts = split_template(breakpoint_.spec.log or "")
    return [breakpoint_.spec.condition or "", *(part for part, is_read in parts if is_read)]


def _breakpoint_arguments(breakpoint_: Breakpoint, names: OriginalNames | None) -> dict[str, Any]:
    at = breakpoint_.at or breakpoint_.spec
    found: dict[str, Any] = {"line": at.line or 1}
    column = column_of(breakpoint_)
    if column is not None:
        found["column"] = column
    line = at.line or 1

    def compile_expression(expression: str) -> str:
        guarded = guard_reads(at.file, line, expression, column) if at.file else expression
        return names.compile_expression(guarded, line, column or 1) if names else guarded

    text = stop_condition(breakpoint_, compile_expression)
    if text is not None:
        found["condition"] = text
    return found
