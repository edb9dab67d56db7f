"""Finds the writes of a JavaScript value by breakpoints at the lines that may write it.

V8 has no watchpoints. A breakpoint at each line whose source writes that property, element or
variable records there, without a stop, the object and its value; the value is that of before the
line. At the location the records of the same object remain.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import EvaluationPurpose
from debugger.output.location_text import format_count
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.who_wrote.answer import WhoWrote, build_writers_answer
from debugger.questions.who_wrote.value_writers import ValueWrite, WriteLocation, WriteRequest
from debugger.questions.who_wrote.watched_writes import reach_location
from debugger.session import inspection, source_files
from debugger.sources.compiled_names import find_original_frame
from debugger.sources.javascript_outline import blank_quoted

_FILES_MAX = 400  # source files that are searched
_LINES_MAX = 150  # lines that get a breakpoint
_BYTES_MAX = 1 << 20  # of a file
_MOST = 5_000  # records in the program
_READ = 40  # records that are read at the location
_STACK = 6
_SUFFIXES = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts")
_LEFT_OUT = frozenset({"node_modules", ".git", "dist", "coverage"})
_PATH = r"(?:[A-Za-z_$#][\w$]*|\[\d+\])"
_OWNER = r"((?:this|[A-Za-z_$][\w$]*)(?:\??\.[A-Za-z_$#][\w$]*|\[\w+\])*)"
_ASSIGNS = r"\s*(?:=(?![=>])|[-+*/%&|^]=|\*\*=|<<=|>>>?=|&&=|\|\|=|\?\?=|\+\+|--)"
_CHANGES = r"\.(?:push|pop|shift|unshift|splice|sort|reverse|fill|set|copyWithin)\s*\("
_EXPRESSION = re.compile(
    r"(?P<owner>[\w$.\[\]'\"]+?)(?:\.(?P<name>[A-Za-z_$#][\w$]*)|\[(?P<key>[^\[\]]+)\])$"
)
_FRAME = re.compile(
    r"^\s*at (?:(?P<function>(?:async )?[^()]*?) \()?(?P<file>(?:file://)?/[^()]*?):(?P<line>\d+):(?P<column>\d+)\)?$"
)
_METHOD = "breakpoints at {} that may write it by the source, in one run"
_SAME_NAME = "the records are of every variable {}: another one of that name may be among them"
_NOT_WRITTEN = "only lines that name {} were watched: a computed name or a library is not seen"
_UNTIL = "--until is for compiled programs: of JavaScript the writes before LOC are recorded"
_FIRST = "line 1 of {} may write it, too, and was not watched"
ITSELF = "{} writes {} itself; the value is that before it: --at the line after it shows its write"
_TEXT = 'Symbol.for("debugger.writes.text")'
_PART = 600  # characters of the records that are read at once
_RECORDS = 'globalThis[Symbol.for("debugger.writes")]'


class WritingSource(Struct, frozen=True):
    """A line that may write the value: its object there, and the key, as expressions."""

    file: str
    line: int
    owner: str
    key: str


class RecordedWrites(Struct, frozen=True):
    """The value at a location, and its writes before it."""

    value: str
    writes: tuple[ValueWrite, ...]
    # For each write, how often its line had been reached.
    hits: tuple[int, ...]
    sources: tuple[WritingSource, ...]
    notes: tuple[str, ...] = ()


class _WriteRecord(Struct, frozen=True, array_like=True):
    """A record of the program: the line's number, the value before it, and the stack.

    `hit` counts the times that the line was reached.
    """

    number: int
    old: str
    stack: str
    hit: int = 0


def split_expression(expression: str) -> tuple[str, str, str]:
    """Return the object, and the property's name or the element's key; a variable has neither."""
    match = _EXPRESSION.fullmatch(expression.strip())
    if match is None:
        return "", "", ""
    return match["owner"], match["name"] or "", match["key"] or ""


def find_writing_lines(file: str, text: str, expression: str) -> Iterator[WritingSource]:
    """Yield the lines of a source that may write the value of an expression."""
    owner, name, key = split_expression(expression)
    patterns: list[tuple[str, str]] = []
    if name:
        patterns.append((rf"{_OWNER}\.{re.escape(name)}\b{_ASSIGNS}", repr_name(name)))
        patterns.append((rf"(?:\+\+|--)\s*{_OWNER}\.{re.escape(name)}\b", repr_name(name)))
    elif owner:
        patterns.append((rf"{_OWNER}\[([^\[\]]+)\]{_ASSIGNS}", ""))
        patterns.append((rf"{_OWNER}{_CHANGES}", key))
    else:
        variable = re.escape(expression.strip())
        patterns.append((rf"(?<![\w$.]){variable}\b{_ASSIGNS}", ""))
        # With a type of TypeScript.
        patterns.append((rf"\b(?:let|const|var)\s+{variable}\s*!?:[^=;]+=(?![=>])", ""))
    # What is in quotes and comments writes nothing; a key is read from the text itself.
    lines = zip(text.split("\n"), blank_quoted(text).split("\n"), strict=True)
    for number, (line, code) in enumerate(lines, 1):
        for pattern, known in patterns:
            match = re.search(pattern, code)
            if match is None:
                continue
            groups = [line[first:last] for first, last in match.regs[1:] if first >= 0]
            found_key = groups[1].strip() if len(groups) > 1 else known
            yield WritingSource(file, number, groups[0] if groups else "", found_key)
            break


def repr_name(name: str) -> str:
    """Return a property's name as a JavaScript string."""
    return f'"{name}"'


def recording_condition(number: int, source: WritingSource, expression: str) -> str:
    """Return the condition that records a write and never stops."""
    if source.owner:
        holder, value = source.owner, f"$dbg[{source.key}]"
        # An object that the line cannot name yet is none.
        is_plain = re.fullmatch(r"[\w$.\"'+\- ]+", source.key) is not None
        value = value if is_plain else "undefined"
        key = f"String({source.key})" if is_plain else '"?"'
    else:
        holder, value, key = "null", expression, '""'
    # What the program names is outside of the function, whose own names would hide the program's.
    return (
        "((H,V,K)=>{try{const s=Symbol.for('debugger.writes');"
        "if(!globalThis[s])Object.defineProperty(globalThis,s,{value:[],configurable:true});"
        f"const r=globalThis[s],h=H();if(r.length>={_MOST})r.splice(0,{_MOST // 2});"
        "let v;try{v=V(h)}catch{}"
        "const t=v!==null&&typeof v==='object'?(Array.isArray(v)?`Array(${v.length})`:'Object')"
        ":typeof v==='string'?JSON.stringify(v.slice(0,80)):typeof v==='function'?'function'"
        ":String(v);"
        "const o=h!==null&&(typeof h==='object'||typeof h==='function')?new WeakRef(h):null;"
        f"const c=r.c??=[];c[{number}]=(c[{number}]??0)+1;"
        # Without the frames of the condition itself and of Node; more than 10 are read for them.
        "const l=Error.stackTraceLimit;Error.stackTraceLimit=40;"
        "const e=String(new Error().stack);Error.stackTraceLimit=l;"
        "const p=e.split('\\n').filter(x=>/^ *at /.test(x)&&!/eval at|node:/.test(x)).slice(0,6);"
        f"r.push([{number},o,K(),t,p.join('\\n'),c[{number}]])"
        f"}}catch{{}}return false}})(()=>{holder},$dbg=>{value},()=>{key})"
    )


def find_sources(folder: str, expression: str, script: str | None) -> list[WritingSource]:
    """Return the lines below a folder, and of the script, that may write a value."""
    files = [Path(script)] if script is not None else []
    waiting, count = [Path(folder)], 0
    while waiting and count < _FILES_MAX:
        here = waiting.pop()
        try:
            inner = sorted(here.iterdir())
        except OSError:
            continue
        for one in inner:
            if one.is_dir() and one.name not in _LEFT_OUT and not one.is_symlink():
                waiting.append(one)
            elif one.suffix in _SUFFIXES:
                files.append(one)
                count += 1
    found: list[WritingSource] = []
    for file in dict.fromkeys(one.resolve() for one in files):
        try:
            if file.stat().st_size <= _BYTES_MAX:
                text = file.read_text("utf-8", "replace")
                found += find_writing_lines(str(file), text, expression)
        except OSError:
            continue
    return found


def parse_stack(text: str) -> list[WriteLocation]:
    """Return the program's frames of a stack of V8, `async` ones as it marks them."""
    found = []
    for line in text.splitlines():
        match = _FRAME.match(line)
        if match is None or "node:" in line or "/node_modules/" in line:
            continue
        file = unquote(match["file"].removeprefix("file://"))
        function, number = match["function"] or "<anonymous>", int(match["line"])
        original = find_original_frame(file, number, int(match["column"]), function)
        found.append(WriteLocation(*(original or (function, file, number))))
    return found


async def who_wrote(question: QuestionRun, request: WriteRequest) -> WhoWrote:
    """Run a program to a location, and report the writes of a value before it.

    Raises:
        DebuggerError: NOT_FOUND if the location is never reached or no line writes the value.
    """
    began = asyncio.get_running_loop().time()
    recorded = await record_writes(question, request)
    writes, sources = recorded.writes, recorded.sources
    answer = build_writers_answer(
        request.expression, request.place, recorded.value, writes, misses_same=False
    )
    notes = [*recorded.notes]
    if request.until is not None:
        notes.append(_UNTIL)
    lines = f"{len(sources)} line{'s' * (len(sources) != 1)}"
    return msgspec.structs.replace(
        answer,
        method=_METHOD.format(lines),
        adapter="recorder",
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=tuple(notes),
    )


async def record_writes(question: QuestionRun, request: WriteRequest) -> RecordedWrites:
    """Return the value at a location, and its writes in order.

    Raises:
        DebuggerError: NOT_FOUND if the location is never reached or no line writes the value.
    """
    target = question.target
    script = getattr(target, "program", None)
    cwd = str(getattr(target, "cwd", "."))
    lines = source_files.read_source(request.at.file) if request.at.file is not None else None
    if lines is not None and (request.at.line or 0) > len(lines):
        length = format_count(len(lines), "line")
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"{request.place} is behind the end of the file: it has {length}",
            hint="debugger path -- CMD shows what ran",
        )
    sources = await asyncio.to_thread(find_sources, cwd, request.expression, script)
    if request.scope is not None and not split_expression(request.expression)[0]:
        file, first, last = request.scope
        sources = [one for one in sources if one.file == file and first <= one.line <= last]
    if not sources:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no line below {cwd} writes {request.expression} by its name",
            hint=request.no_value_hint,
        )
    # With a condition at a file's first line js-debug 1.112 misses that of the next line.
    firsts = [one for one in sources if one.line == 1]
    sources = [one for one in sources if one.line > 1]
    owner, name, _ = split_expression(request.expression)
    notes = [] if owner else [_SAME_NAME.format(request.expression)]
    if owner and name:
        notes.append(_NOT_WRITTEN.format(f".{name}"))
    notes += [_FIRST.format(Path(one.file).name) for one in firsts[:1]]
    if len(sources) > _LINES_MAX:
        notes.append(f"of {len(sources):,} lines the first {_LINES_MAX} were watched")
        sources = sources[:_LINES_MAX]
    if any(_is_at(request.at, one) for one in sources):
        notes.append(ITSELF.format(request.place, request.expression))
    specs = _breakpoints(request, sources)
    async with question_run.run_question(replace(question, breakpoints=specs)) as run:
        await reach_location(run, request)
        value = await _evaluate(run, request.expression, EvaluationPurpose.PRINT, request.frame)
        records = await _read_records(run, request)
        # The location's own line is recorded where the program stands, before it runs.
        if records and _is_at(request.at, sources[records[-1].number]):
            records = records[:-1]
    return RecordedWrites(
        value=value,
        writes=tuple(_value_writes(records, sources, value)),
        hits=tuple(one.hit for one in records),
        sources=tuple(sources),
        notes=tuple(notes),
    )


def _is_at(at: BreakpointSpec, source: WritingSource) -> bool:
    """Return whether a line that may write is the location's own."""
    is_line = at.file is not None and at.line == source.line
    return is_line and Path(at.file or "").name == Path(source.file).name


def is_written_at(request: WriteRequest) -> bool:
    """Return whether the location's own line may write the value."""
    file = request.at.file or ""
    text = "\n".join(source_files.read_source(file) or ())
    return any(
        _is_at(request.at, one) for one in find_writing_lines(file, text, request.expression)
    )


def _breakpoints(
    request: WriteRequest, sources: Sequence[WritingSource]
) -> tuple[BreakpointSpec, ...]:
    """Return the location first, then a recording breakpoint for each other line."""
    at, found = request.at, []
    for number, one in enumerate(sources):
        condition = recording_condition(number, one, request.expression)
        if _is_at(at, one):
            # Of two breakpoints at one line V8 keeps one, so that the location's own records, too:
            # in a loop its line has run before.
            at = msgspec.structs.replace(at, condition=f"({condition},{at.condition or 'true'})")
            continue
        found.append(BreakpointSpec(file=one.file, line=one.line, condition=condition))
    return (at, *found)


async def _evaluate(
    run: RunningQuestion, expression: str, purpose: EvaluationPurpose, number: int = 0
) -> str:
    session = run.session
    frame = await session.run_job(lambda: inspection.frame_of(session, number or None))
    value = await session.run_job(lambda: session.backend.evaluate(expression, frame, purpose))
    return value.value


async def _read_records(run: RunningQuestion, request: WriteRequest) -> list[_WriteRecord]:
    """Read the records of the same object and key; other objects' are dropped."""
    owner, name, key = split_expression(request.expression)
    holder = owner or "null"
    property_test = f"String({key})" if key else f'"{name}"'
    same = "o.deref()===h&&(k===p||k==='?')" if owner else "o===null"
    text = (
        f"(globalThis[{_TEXT}]=encodeURIComponent(JSON.stringify(((h,p)=>({_RECORDS}||[])"
        f".filter(([n,o,k])=>{same}).slice(-{_READ})"
        f".map(([n,o,k,t,s,c])=>[n,t,s.slice(0,600),c]))({holder},{property_test})))).length"
    )
    length = int(await _evaluate(run, text, EvaluationPurpose.EVALUATE, request.frame))
    parts = []
    # In parts, because the text of a value is cut.
    for begin in range(0, length, _PART):
        part = f"globalThis[{_TEXT}].slice({begin},{begin + _PART})"
        value = await _evaluate(run, part, EvaluationPurpose.EVALUATE)
        parts.append(value.strip("'\"`"))
    return msgspec.json.decode(unquote("".join(parts)), type=list[_WriteRecord])


def _value_writes(
    records: Sequence[_WriteRecord],
    sources: Sequence[WritingSource],
    value: str,
) -> list[ValueWrite]:
    """Return the writes: the value after each is that of before the next one."""
    found = []
    for at, one in enumerate(records):
        source = sources[one.number]
        new = records[at + 1].old if at + 1 < len(records) else value
        stack = parse_stack(one.stack)
        first = next((n for n, each in enumerate(stack) if each.line == source.line), None)
        # A minifier has put what several lines of the source do into one expression.
        if first is None and stack and stack[0].file == source.file:
            first = 0
        shown = stack[first:] if first is not None else stack
        function = shown[0].function if first is not None else "<anonymous>"
        place = WriteLocation(function, source.file, source.line)
        rest = shown[1:] if first is not None else shown
        found.append(ValueWrite(stack=(place, *rest[:_STACK]), old=one.old, new=new))
    return found


def statement_text(write: ValueWrite) -> str:
    """Return the source line of a write."""
    site = write.location
    lines = source_files.read_source(site.file) if site.file else None
    is_there = lines is not None and site.line is not None and site.line <= len(lines)
    return lines[site.line - 1].strip() if is_there and lines and site.line else ""
