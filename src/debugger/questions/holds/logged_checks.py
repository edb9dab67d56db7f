"""Checks invariants of a running program with a debugger's logpoints, in one run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct

from debugger.model.breakpoints import BreakpointSpec
from debugger.model.hit_filter import HitFilter, refuse_thread_name
from debugger.model.hit_selection import HitSelector
from debugger.questions.holds.check_request import CheckRequest
from debugger.questions.holds.checked_lines import CheckedLine
from debugger.questions.probe.logpoint_probe import probe_by_logpoints
from debugger.questions.probe.probe_arguments import means_for
from debugger.questions.probe.probe_points import HitRange, ProbePoint
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable
from debugger.questions.probe.recorded_probe import ProbeEnd, probe_by_stopping
from debugger.questions.runner.question_run import QuestionRun

CHECKS_MAX = 20_000  # through an adapter
INSIDE_MAX = 100_000  # inside the program
_FALSE = re.compile(
    r"(?:0|0x0+|false|False|nil|NULL|null|undefined|None|0 '\\(?:0|000)'|-?0\.0*)\Z"
)
_TRUE = re.compile(r"(?:true|True|[-+]?\d[\w.]*(?: '.*')?|0x[0-9a-fA-F]+)\Z")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_POINTER = re.compile(r"(?:\([^()]*\)\s*)?(0x[0-9a-fA-F]+)")
# A path of fields without a call: what can be addressed, and watched.
_LVALUE = re.compile(
    r"(?<![\w.>\"'$])[A-Za-z_]\w*(?:(?:\.|->|::)\w+|\[[^\[\]()]*\])*(?![\w(]|\s*\(|::)"
)
# `(*p).x`, and `*p` where it is no product.
_POINTED_FIELD = re.compile(r"\(\s*\*\s*([A-Za-z_][\w.>-]*)\s*\)\.(?=[A-Za-z_])")
_POINTED = re.compile(r"(?:^|[(=<>!&|+\-,])\s*\*\s*([A-Za-z_][\w.>-]*)(?![\w(.\[]|->)")
_WORDS = frozenset(
    [
        "true",
        "false",
        "nil",
        "null",
        "NULL",
        "nullptr",
        "sizeof",
        "this",
        "self",
        "unsigned",
        "signed",
        "int",
        "long",
        "char",
        "short",
        "float",
        "double",
        "bool",
        "struct",
        "void",
        "const",
    ]
)
_SIZE = re.compile(r"(?<![\w.>])([A-Za-z_][\w.]*(?:->[\w.]+)*)(\.|->)size\(\)")
# The objects that JavaScript's checks have met are numbered, by a property that is not listed.
_OBJECT_NUMBER = (
    "((O)=>{try{const o=O();if((typeof o!=='object'&&typeof o!=='function')||o===null)return 0;"
    "const k='__debuggerHoldsIds';if(!globalThis[k])Object.defineProperty(globalThis,k,"
    "{value:{ids:new WeakMap(),next:1},configurable:true});const h=globalThis[k];"
    "if(!h.ids.has(o))h.ids.set(o,h.next++);return h.ids.get(o)}catch{return 0}})(()=>%s)"
)


def parse_truth(text: str) -> bool | None:
    """Parse a debugger's text of a condition; None if it is neither true nor false."""
    plain = re.sub(r"\A\([\w\s*]+\)\s*", "", text.strip())
    if _FALSE.match(plain):
        return False
    return True if _TRUE.match(plain) else None


def lvalues_of(text: str) -> tuple[str, ...]:
    """Return the variables and fields that an invariant reads."""
    plain = re.sub(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", '""', text)
    found = (match[0] for match in _LVALUE.finditer(plain))
    return tuple(dict.fromkeys(one for one in found if one not in _WORDS))


def watched_paths(text: str, *, is_go: bool = False) -> tuple[str, ...]:
    """Return what to watch for an invariant; of `v.size()` the vector's end, of `*p` both."""
    plain = _SIZE.sub(r"\1\2_M_impl._M_finish", text)
    plain = _POINTED_FIELD.sub(r"\1." if is_go else r"\1->", plain)
    paths = lvalues_of(plain)
    pointed = {f"*{one[1]}" for one in _POINTED.finditer(plain) if one[1] in paths}
    return (*(one for one in pointed), *paths)


class PlaceVisit(Struct, frozen=True):
    """One visit of a place: the results of the invariants, and the objects that they read."""

    place: int
    # The number of the visit of this place.
    ordinal: int
    results: tuple[bool | None, ...]
    # For each invariant; empty if unknown.
    keys: tuple[str, ...]
    thread: int | None


@dataclass
class CheckLog:
    """The checks of one run, of which only the last good ones are kept."""

    count: int  # invariants
    most: int = CHECKS_MAX
    missed: int = 0  # hits that were too many a second to be logged
    checks: int = 0
    true: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    false: dict[int, PlaceVisit] = field(default_factory=dict)
    # By invariant: the last good check of the same objects as the false one, and of any.
    good: dict[int, PlaceVisit | None] = field(default_factory=dict)
    any_good: dict[int, PlaceVisit] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)  # by place
    # By invariant: the visits of all places at its first false check.
    false_visits: dict[int, dict[int, int]] = field(default_factory=dict)
    _keys: list[dict[str, PlaceVisit]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.true = [0] * self.count
        self.failed = [0] * self.count
        self.errors = [""] * self.count
        self._keys = [{} for _ in range(self.count)]

    @property
    def is_over(self) -> bool:
        """Whether no later check counts."""
        return len(self.false) == self.count or self.checks >= self.most

    def add(self, check: PlaceVisit, errors: Sequence[str]) -> None:
        """Add a check; `errors` are the texts of what could not be evaluated."""
        self.checks += 1
        self.visits[check.place] = check.ordinal
        for number, result in enumerate(check.results):
            if number in self.false:
                continue
            if result is None:
                self.failed[number] += 1
                self.errors[number] = errors[number]
            elif result:
                self.true[number] += 1
                self.any_good[number] = check
                self._keys[number][check.keys[number]] = check
            else:
                self.false[number] = check
                self.false_visits[number] = dict(self.visits)
                self.good[number] = self._keys[number].get(check.keys[number])


class _CheckTable(ProbeTable):
    """Takes the hits of logpoints as checks."""

    def __init__(self, points: Sequence[ProbePoint], log: CheckLog, hits: HitFilter) -> None:
        within = HitRange(ends_run=True)
        super().__init__([one.expressions for one in points], within, rows=1)
        self._log = log
        self._events = [one.event for one in points]
        refuse_thread_name(hits)
        self._thread = hits.thread
        self._selectors: list[HitSelector[int]] = [HitSelector(hits) for _ in points]

    def take_hit(
        self,
        place: int,
        cells: Sequence[ProbeCell],
        *,
        at_s: float,  # noqa: ARG002 - of a table
        hit: int | None = None,  # noqa: ARG002 - as the debugger numbers it
        thread: int | None = None,
        name: str = "",  # noqa: ARG002 - of a table
    ) -> None:
        """Add a hit as a check."""
        log = self._log
        if self._events[place]:
            self._take_event_of(place)
            return
        ordinal = log.visits.get(place, 0) + 1
        if log.is_over:
            return
        is_of_thread = self._thread in {None, thread}
        if not is_of_thread or not self._selectors[place].add_hit(ordinal):
            log.visits[place] = ordinal
            return
        results, errors = [], []
        for cell in cells[: log.count]:
            result = None if cell.is_error else parse_truth(cell.text)
            results.append(result)
            is_error = cell.is_error or cell.text.startswith("<")
            errors.append(cell.text if is_error else f"neither true nor false: {cell.text}")
        own, addresses = cells[log.count : 2 * log.count], cells[2 * log.count :]
        keys = tuple(map(_key, own, addresses))
        log.add(PlaceVisit(place, ordinal, tuple(results), keys, thread), errors)

    def _take_event_of(self, place: int) -> None:
        self._log.visits[place] = self._log.visits.get(place, 0) + 1
        for one in self._selectors:
            if self._events[place] == "after":
                one.begin()
            else:
                one.end()

    def set_hits(self, place: int, hits: int) -> None:
        """Note hits that were not logged, of which no check was made."""
        super().set_hits(place, hits)
        self._log.missed = max(self._log.missed, hits - self._log.visits.get(place, 0))

    def is_over(self, place: int) -> bool:
        """Return whether no later check counts, at a place or at all."""
        return self._log.is_over or (not self._events[place] and self._selectors[place].is_over)

    @property
    def is_all_over(self) -> bool:
        """Whether no later check counts."""
        pairs = zip(self._selectors, self._events, strict=True)
        return self._log.is_over or all(one.is_over for one, event in pairs if not event)


def _key(pointer: ProbeCell, address: ProbeCell) -> str:
    """Return what tells the objects of a check apart: a pointer, else a variable's address."""
    found = None if pointer.is_error else _POINTER.match(pointer.text)
    if found is not None:
        return found[1]
    inner = None if address.is_error else _ADDRESS.search(address.text)
    if inner is not None:
        return inner[0]
    return "" if address.is_error else address.text


def expression_text(expression: str, language: str, request: CheckRequest) -> str:
    """Return the expression that a debugger evaluates for an invariant."""
    if language != "javascript":
        return expression
    truth = f"!!({expression})"
    return f"((known)=>{truth})({json.dumps(request.known)})" if request.has_known else truth


def key_expressions(expression: str, language: str) -> tuple[str, str]:
    """Return two expressions that tell the objects of an invariant apart: pointer and address."""
    if language == "javascript":
        roots = _js_roots(expression)
        return "0", _OBJECT_NUMBER % (roots[0] if roots else "0")
    paths = lvalues_of(expression)
    # A field or element tells its object; a name alone may be a pointer, or a variable that calls
    # share.
    field_path = next((one for one in paths if "." in one or "->" in one or "[" in one), "")
    if language == "go" and paths:
        # delve shows what an address points to, which differs from check to check, and converts a
        # number to uintptr as well; of a number `*` fails.
        pointer = "0" if field_path else f"uintptr(&*{paths[0]})"
        return pointer, f"uintptr(&{field_path or paths[0]})"
    if field_path or not paths:
        return "0", f"&({field_path})" if field_path else "0"
    return paths[0], f"&({paths[0]})"


def check_points(
    request: CheckRequest, lines: Sequence[CheckedLine | BreakpointSpec], language: str
) -> Iterator[ProbePoint]:
    """Return the logpoints of the checks."""
    keys = [key_expressions(one, language) for one in request.expressions]
    expressions = (
        *(expression_text(one, language, request) for one in request.expressions),
        *(pointer for pointer, _ in keys),
        *(address for _, address in keys),
    )
    for one in lines:
        spec = (
            one if isinstance(one, BreakpointSpec) else BreakpointSpec(file=one.file, line=one.line)
        )
        label = f"{spec.file}:{spec.line}" if spec.file else str(spec.function)
        yield ProbePoint(label, spec, expressions, request.when or None)
    for event in request.events:
        assert event.spec is not None  # events are locations
        spec = msgspec.structs.replace(event.spec, condition=None)
        yield ProbePoint(event.asked, spec, (), event.spec.condition, event.event)


def _js_roots(expression: str) -> list[str]:
    """Return the outermost names of fields: `this` and `o` of `this.n <= o.rows.length`."""
    found = re.findall(r"(?<![\w.$])([A-Za-z_$][\w$]*)\s*(?=\.|\[|\?\.)", expression)
    return list(dict.fromkeys(one for one in found if one not in {"known", "Math", "JSON"}))


async def log_checks(
    question: QuestionRun,
    points: Sequence[ProbePoint],
    count: int,
    hits: HitFilter,
    *,
    most: int = CHECKS_MAX,
) -> tuple[CheckLog, ProbeEnd]:
    """Run a program with the checks to its end, or until no later check counts.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED.
    """
    log = CheckLog(count, most)
    table = _CheckTable(points, log, hits)
    if means_for(question, hits, None) == "stops":
        return log, await probe_by_stopping(question, points, table, hits)
    return log, await probe_by_logpoints(question, points, table, burst=most)
