"""Probes a running program with a debugger's logpoints, or with those of the Frida engine."""

from __future__ import annotations

import asyncio
import functools
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import msgspec
from msgspec import Struct

from debugger.backends.base import (
    AttachTarget,
    Backend,
    BackendEvent,
    ChildStarted,
    ConditionError,
    LogpointPassed,
    Sink,
)
from debugger.backends.wrapped_backend import WrappedBackend
from debugger.errors import DebuggerError
from debugger.model.breakpoints import Breakpoint, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits, LogDialect, Runtime
from debugger.model.events import State
from debugger.model.program import ExitedProgram
from debugger.questions.probe.object_identity import (
    JAVASCRIPT_MARK,
    go_addresses,
    parse_go_address,
    split_mark,
)
from debugger.questions.probe.probe_points import ProbePoint
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable
from debugger.questions.probe.recorded_probe import EntryHits, ProbeEnd, to_the_end
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.session import source_files
from debugger.session.session import Session
from debugger.session.stepping import WaitLimit
from debugger.sources.expression_names import mark_own_names

_HEAD = re.compile(
    r"(?P<indent>\s*)(?:(?:export|default|async|static|pub(?:\([^)]*\))?|unsafe|const|inline)\s+)*"
    r"(?:function\*?\s+(?P<js>[\w$]+)|fn\s+(?P<rust>\w+)|func\s+(?:\([^)]*\)\s*)?(?P<go>\w+)"
    r"|(?P<c>[A-Za-z_][\w:<>,*&\s\[\]~]*?[\s*&:](?P<name>[A-Za-z_]\w*))\s*\((?!.*;\s*\Z))"
)
_BARE = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*\((?!.*;\s*\Z)")  # below its type
_METHOD = re.compile(
    r"(?P<indent>\s+)(?:async\s+|static\s+)*(?P<name>[\w$]+)\s*\([^;]*\)\s*\{\s*\Z"
)
_WORDS = frozenset({"if", "for", "while", "switch", "catch", "return", "else", "do", "with"})
_ABOVE_MAX = 1000  # lines in which a function's header is searched
_BODY_MAX = 20  # lines in which a body's first line is searched


class FunctionEntry(Struct, frozen=True):
    """A function, and the first line of its body."""

    function: str
    line: int


def find_entry(lines: Sequence[str], line: int) -> FunctionEntry | None:
    """Return the function around a line (from 1); None if it cannot be found."""
    if not 1 <= line <= len(lines):
        return None
    here = _indent_width(lines[line - 1])
    for at in range(line - 2, max(line - 2 - _ABOVE_MAX, -1), -1):
        text = lines[at]
        if not text.strip() or _indent_width(text) >= here:
            continue
        name = _header_name(text)
        if name is not None:
            first = _first_body_line(lines, at)
            return FunctionEntry(name, first) if first is not None and first < line else None
        if text.strip() not in {"{", ")", "):", ") {"}:
            here = min(here, max(_indent_width(text), 1))
    return None


def _indent_width(text: str) -> int:
    return len(text.expandtabs(8)) - len(text.expandtabs(8).lstrip())


def _header_name(text: str) -> str | None:
    found = _HEAD.match(text) or _BARE.match(text) or _METHOD.match(text)
    if found is None:
        return None
    names = found.groupdict()
    name = next((names[key] for key in ("js", "rust", "go", "name") if names.get(key)), None)
    if name in _WORDS or text.split(maxsplit=1)[0] in _WORDS:
        return None
    return name


def _first_body_line(lines: Sequence[str], head: int) -> int | None:
    """Return the first line of a body, after its opening bracket."""
    for at in range(head, min(head + _BODY_MAX, len(lines))):
        if lines[at].rstrip().endswith("{"):
            for inner in range(at + 1, min(at + _BODY_MAX, len(lines))):
                text = lines[inner].strip()
                if text and not text.startswith(("//", "/*", "*", "#")):
                    return inner + 1
            return None
    return None


_MARK = "\x1f"
_WORD = "|~6b1f0a2e|"  # where no control character is taken
_MORE = re.compile(r"\((\d+) more hits, too many a second to be logged\)\Z")
# How the debuggers write that there is no value.
_ERROR = re.compile(
    r"<(error: .*|No symbol .*|Cannot access .*|[A-Za-z]*Error: .*|could not .*"
    r"|(?:value has been )?optimized out|not available)>\Z",
    re.DOTALL,
)
_LINE_END = re.compile(r"\n|\\n")  # LLDB escapes it in a logpoint's text
# The address of a text says nothing that is the same in the next run.
_POINTED = re.compile(r"0x[0-9a-f]+ (?=\")")
# JSON where it loses nothing, else what Node itself writes of a value (util.inspect).
_JS_WHOLE = (
    "let whole=1;const plain=x=>{const up=Object.getPrototypeOf(x);"
    "return Array.isArray(x)||up===null||Object.getPrototypeOf(up)===null};let text;"
    "try{text=plain(v)?JSON.stringify(v,function(k,x){const y=this[k],t=typeof y;"
    "if(t!=='string'&&t!=='boolean'&&y!==null&&!(t==='number'&&isFinite(y)&&!Object.is(y,-0))&&"
    "!(t==='object'&&plain(y)))whole=0;return whole?x:0}):(whole=0)}catch{whole=0}"
    "const inspect=globalThis.process?.getBuiltinModule?.('util')?.inspect;"
    "if(!whole)text=inspect?inspect(v,{depth:3,breakLength:Infinity,customInspect:false,"
    "maxArrayLength:20,maxStringLength:200}):JSON.stringify(v);"
)
_VALUE = "VALUE"  # the place of the user's expression
# No variable of a program has these names: its own are looked for in the whole text.
_JS = mark_own_names(
    "(()=>{try{return(v=>{if(typeof v==='string')return JSON.stringify(v);"
    "if(typeof v==='bigint')return String(v)+'n';"
    "if(typeof v==='function')return 'function '+v.name;"
    "if(typeof v!=='object'||v===null)return Object.is(v,-0)?'-0':String(v);"
    f"{_JS_WHOLE}return {JAVASCRIPT_MARK}(v)"
    "+text.replace(/\\n +(?:at|\\.{3}) .*?( \\x7b)?(?=\\n|$)/g,"
    "'$1').replace(/\\n */g,' ')"
    f".slice(0,300)}})({_VALUE})}}"
    "catch(e){return '<'+e+'>'}})()"
)


def logpoint_text(expressions: Sequence[str], traits: DebuggerTraits, language: str) -> str:
    """Return the log message of an adapter's logpoint."""
    parts = [traits.log.thread] if traits.log.thread is not None else []
    parts += [_value_expression(one, traits.runtime, language) for one in expressions]
    mark = _mark_text(traits.log)
    return "".join(f"{mark}{{{one}}}" for one in parts) + mark


def _mark_text(log: LogDialect) -> str:
    return _MARK if log.prints_control_characters else _WORD


def _value_expression(expression: str, runtime: Runtime, language: str) -> str:
    """Return an expression whose text is the value of the user's, in full."""
    if runtime is Runtime.NODE or language == "javascript":
        return _JS.replace(_VALUE, expression)
    if runtime is Runtime.PYTHON:
        return f"repr({expression})"
    if runtime is Runtime.RUBY:
        return f"DebuggerAgent.values.describe(({expression}))"
    return expression


def parse_cells(
    printed: str, count: int, log: LogDialect
) -> tuple[int | None, tuple[ProbeCell, ...]]:
    """Parse the thread, if any, and the values of a logged line.

    A line with another number of parts than requested is an error of all cells.
    """
    before, *values = printed.split(_mark_text(log))
    has_thread = log.thread is not None
    if before.strip() or len(values) != count + has_thread + 1:
        text = " ".join(printed.replace(_MARK, " ").split())[-200:]
        return None, (ProbeCell(text or "nothing was told", is_error=True),) * count
    values = values[:-1]
    number = values[0].partition(" = ")[0] if has_thread else ""  # delve's is `7 = 0x7`
    thread = int(number) if number.isdecimal() else None
    return thread, tuple(_parse_cell(one, log) for one in values[int(has_thread) :])


def _parse_cell(value: str, log: LogDialect) -> ProbeCell:
    text = value.strip()
    failed = _ERROR.match(text)
    message = log.read_error(failed[1] if failed is not None else text)
    if message is None and failed is not None:
        message = failed[1]
    if message is not None:
        return ProbeCell(_LINE_END.split(message.removeprefix("error: "))[0], is_error=True)
    text = log.clean_value(text)
    text, identity, departure = split_mark(text)
    text = _POINTED.sub("", text, count=1) if _POINTED.match(text) else text
    shown = " ".join(text.split()) if "\n" in text else text
    return ProbeCell(shown, identity=identity, departure=departure)


def _with_addresses(
    cells: Sequence[ProbeCell], count: int, addresses: Mapping[int, str]
) -> tuple[ProbeCell, ...]:
    """Return the cells of the expressions, with the addresses that the cells behind them are."""
    own = list(cells[:count])
    for at, cell in zip(addresses, cells[count:], strict=True):
        own[at] = msgspec.structs.replace(own[at], identity=parse_go_address(cell.text))
    return tuple(own)


def parse_missed(printed: str) -> int:
    """Return the number of hits that a backend reports as not logged."""
    found = _MORE.match(printed)
    return int(found[1]) if found is not None else 0


LOGGED_BURST = 20_000
_DROP_S = 5.0
_LAST = re.compile(r"::|\.")  # before the last part of a function's name


@dataclass
class LoggedValues:
    """The values that the logpoints of one question have logged; logpoints count from 1."""

    table: ProbeTable
    wanted: Sequence[ProbePoint]
    log: LogDialect
    began: float
    ends_run: bool  # at the last hit that counts
    language: str = ""
    failures: dict[int, tuple[int, str]] = field(default_factory=dict)
    told: dict[int, int] = field(default_factory=dict)  # hits, by place
    hitting: dict[int, set[int]] = field(default_factory=dict)  # processes, by place
    processes: int = 0
    missed: int = 0  # hits that were too many to be logged
    over: asyncio.Event = field(default_factory=asyncio.Event)
    dropped: dict[int, Breakpoint] = field(default_factory=dict)  # as they were
    ended: float | None = None  # when the last process did

    def add_process(self) -> Callable[[BackendEvent], bool]:
        """Return the event handler of a further process, which numbers its own hits."""
        self.processes += 1
        return functools.partial(self.take_event, self.processes)

    def take_event(self, process: int, event: BackendEvent) -> bool:
        """Process an event if it belongs to the probes."""
        if isinstance(event, ExitedProgram):
            self.ended = time.monotonic()
        if isinstance(event, ConditionError) and self._is_ours(event.number):
            count, _ = self.failures.get(event.number or 0, (0, ""))
            self.failures[event.number or 0] = (count + 1, event.message)
            return False
        if not isinstance(event, LogpointPassed) or event.number is None:
            return False
        if event.number > len(self.wanted):
            return False
        place = event.number - 1
        missed = parse_missed(event.text)
        # Who numbers the hits, or counts those that had no room, knows of no condition.
        is_plain = self.wanted[place].when is None and not self.table.numbers_hits
        if missed:
            self.missed += missed
            self.table.set_hits(place, self.told.get(place, 0) + missed if is_plain else 0)
            return True
        self.told[place] = self.told.get(place, 0) + 1
        hit = self._hit_number(process, place, event.hit) if is_plain else None
        if self.table.is_over(place):
            if not (self.ends_run and self.table.is_all_over):
                self.table.set_hits(place, hit or self.table.hit_count(place) + 1)
            return True
        expressions = self.wanted[place].expressions
        addresses = go_addresses(expressions, self.language)
        thread, cells = parse_cells(event.text, len(expressions) + len(addresses), self.log)
        cells = _with_addresses(cells, len(expressions), addresses)
        cells = tuple(
            msgspec.structs.replace(one, identity=f"{process}:{one.identity}")
            if one.identity
            else one
            for one in cells
        )
        self.table.take_hit(
            place,
            cells,
            at_s=time.monotonic() - self.began,
            hit=hit,
            thread=self.table.thread_number(event.thread if event.thread is not None else thread),
        )
        if self.table.is_over(place):
            self.over.set()
        return True

    def finished_points(self) -> list[int]:
        """Return the numbers of the probes whose later hits do not count."""
        return [place + 1 for place in range(len(self.wanted)) if self.table.is_over(place)]

    def _hit_number(self, process: int, place: int, hit: int | None) -> int | None:
        """Return the number of a hit; None for the next one: each process counts its own."""
        hitting = self.hitting.setdefault(place, set())
        hitting.add(process)
        return hit if len(hitting) == 1 else None

    def _is_ours(self, number: int | None) -> bool:
        return number is not None and 1 <= number <= len(self.wanted)


class _TappedBackend(WrappedBackend):
    """A child's backend, wrapped so that its events pass through the probe first."""

    def __init__(self, inner: Backend, logged: LoggedValues) -> None:
        super().__init__(inner)
        self._logged = logged

    def set_sink(self, sink: Sink) -> None:
        """Send events to another sink from now on."""
        super().set_sink(_tap_sink(sink, self._logged))


def _tap_sink(sink: Sink, logged: LoggedValues) -> Sink:
    take = logged.add_process()

    def tell(event: BackendEvent) -> None:
        if isinstance(event, ChildStarted):
            sink(msgspec.structs.replace(event, backend=_TappedBackend(event.backend, logged)))
        elif not take(event):
            sink(event)

    return tell


async def probe_by_logpoints(
    question: QuestionRun,
    points: Sequence[ProbePoint],
    table: ProbeTable,
    *,
    burst: int = LOGGED_BURST,
) -> ProbeEnd:
    """Run a program with logpoints to its end, or until the time-out.

    `burst` is the number of hits of a logpoint that are logged however fast they come.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED.
    """
    traits = question.traits
    is_attached = isinstance(question.target, AttachTarget)
    ends_run = table.ends_run and not is_attached
    table.number_threads(are_passing=question.has_passing_thread_ids)
    logged = LoggedValues(table, points, traits.log, time.monotonic(), ends_run, question.language)
    make, enough = question.make_backend, asyncio.Event()
    entries = await asyncio.to_thread(_entry_functions, points)
    numbers = {place: len(points) + at for at, place in enumerate(entries, 1)}
    markers = [_entry_breakpoint(points[place], found) for place, found in entries.items()]
    tapped = replace(
        question,
        make_backend=lambda sink, tasks: make(_tap_sink(sink, logged), tasks),
        breakpoints=(
            *(build_logpoint(one, traits, question.language, burst) for one in points),
            *markers,
        ),
        patience=WaitLimit(question.patience.seconds, enough),
    )
    async with question_run.run_question(tapped) as run:
        began = time.monotonic()
        ends_early = is_attached or ends_run
        # Logpoints are disabled while the program runs, beside the wait for its end.
        ends = enough if ends_early else None
        is_live = traits.changes_breakpoints_live
        tasks = [
            asyncio.create_task(_disable_finished(run, logged, ends, is_live=is_live)),
            asyncio.create_task(_pass_on(question.patience.interrupted, enough)),
        ]
        try:
            ending = await to_the_end(
                run,
                began,
                markers=frozenset(numbers.values()),
                is_limited=lambda: ends_run and table.is_all_over,
            )
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    # The run may also have come to its own end meanwhile.
    ending = msgspec.structs.replace(ending, is_limited=ends_run and table.is_all_over)
    if is_attached and table.is_all_over and ending.last.timed_out:
        # The wait was ended by us, since all requested hits are there.
        last = msgspec.structs.replace(ending.last, timed_out=False)
        ending = msgspec.structs.replace(ending, last=last)
    return _add_logged(ending, logged, began, entries, numbers)


def _add_logged(
    ending: ProbeEnd,
    logged: LoggedValues,
    began: float,
    entries: Mapping[int, FunctionEntry],
    numbers: Mapping[int, int],
) -> ProbeEnd:
    """Add to a run's end what its logpoints and the markers of its functions reported.

    `entries` and `numbers` are the functions' entries and their breakpoints by location.
    """
    # What the debugger does after the program's end is none of its time.
    took_s = ending.took_s
    if logged.ended is not None and ending.last.state == State.TERMINATED.value:
        took_s = min(max(logged.ended - began, 0.0), took_s)
    notes = ending.notes
    if logged.missed and logged.table.numbers_hits:
        lost = f"{logged.missed:,} hits came too fast to be logged: the filter did not see them"
        notes = (*notes, f"{lost}; --by stops misses none")
    breakpoints = tuple(logged.dropped.get(one.id, one) for one in ending.breakpoints)
    bound = {one.id for one in breakpoints if one.bound is not None and one.bound.verified}
    return msgspec.structs.replace(
        ending,
        notes=notes,
        took_s=took_s,
        breakpoints=breakpoints,
        failures=dict(logged.failures),
        entries={
            place: EntryHits(entries[place].function, entries[place].line, number in ending.passed)
            for place, number in numbers.items()
            if number in ending.passed or number in bound
        },
    )


def _entry_functions(points: Sequence[ProbePoint]) -> dict[int, FunctionEntry]:
    """Find the entries of the functions around lines, as far as the sources show them."""
    taken = {(one.spec.file, one.spec.line) for one in points}
    # Where a function is entered that is asked for by name, LLDB would stop, and not log that hit.
    names = {_LAST.split(one.spec.function)[-1] for one in points if one.spec.function}
    found: dict[int, FunctionEntry] = {}
    for place, one in enumerate(points):
        if one.spec.file is None or one.spec.line is None:
            continue
        lines = source_files.read_source(one.spec.file)
        entry = find_entry(lines, one.spec.line) if lines is not None else None
        if entry is None or entry.function in names:
            continue
        if (one.spec.file, entry.line) not in taken:
            taken.add((one.spec.file, entry.line))
            found[place] = entry
    return found


def _entry_breakpoint(one: ProbePoint, entry: FunctionEntry) -> BreakpointSpec:
    """Return a breakpoint that stops once at a function's entry."""
    return BreakpointSpec(file=one.spec.file, line=entry.line, temporary=True)


async def _pass_on(first: asyncio.Event, second: asyncio.Event) -> None:
    await first.wait()
    second.set()


def build_logpoint(
    one: ProbePoint, traits: DebuggerTraits, language: str, burst: int
) -> BreakpointSpec:
    """Build the logpoint of a probe; `burst` hits of it are logged however fast they come."""
    addresses = go_addresses(one.expressions, language)
    expressions = [*one.expressions, *addresses.values()]
    text = logpoint_text(expressions, traits, language)
    return msgspec.structs.replace(one.spec, log=text, condition=one.when, burst=burst)


async def _disable_finished(
    run: RunningQuestion, logged: LoggedValues, enough: asyncio.Event | None, *, is_live: bool
) -> None:
    """Disable a logpoint when no later hit of it counts: the program then runs undisturbed.

    With `enough` that ends the question, once it applies to all logpoints.
    """
    while True:
        await logged.over.wait()
        logged.over.clear()
        if enough is not None and logged.table.is_all_over:
            enough.set()
        if not is_live:
            continue
        for number in logged.finished_points():
            if number not in logged.dropped:
                # As it is now: disabled, it loses its bound location.
                logged.dropped[number] = run.session.breakpoints.get(number)
                for session in (run.session, *run.session.family.tree_sessions(run.session)):
                    await _drop_of(session, number)


async def _drop_of(session: Session, number: int) -> None:
    """Disable a logpoint without removing it, so that the final report still has its location."""
    with suppress(DebuggerError, TimeoutError):
        async with asyncio.timeout(_DROP_S):
            await session.run_job(lambda: session.binding.enable(number, on=False))
