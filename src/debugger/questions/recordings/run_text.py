"""Formats the shared parts of answers about a whole run: its end, its calls, its values."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from debugger.model.answers import FrameView
from debugger.output.byte_text import show_bytes
from debugger.output.list_text import format_output_line, indent_tree, list_section
from debugger.output.location_text import (
    IN_A_LIST,
    base_name,
    escape_command,
    escape_text,
    file_names,
    format_chain,
    format_count,
    function_of,
    in_stack,
    line_of,
    short_name,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.recordings import recorded_run
from debugger.questions.recordings.answer import (
    CallRow,
    CountView,
    RatioView,
    RunView,
    SavedRun,
    SavedRuns,
    ValueView,
    VaryView,
)
from debugger.questions.runner.answer import ReachingCondition, ValueOrigin
from debugger.recorders.call_folding import TreeLine
from debugger.recorders.python.python_branches import may_catch


def format_end(signal: str | None, status: int | None) -> str:
    """Format a program's end."""
    if signal is not None:
        return f"ended by signal {short_name(signal)}"
    return f"exited with status {status}" if status is not None else "it ended"


def format_location(
    frame: FrameView | None, page: RenderPage, *, text: str | None, rank: int
) -> list[TextSection]:
    """Format the location above a source, unless it is `said` in the first line."""
    if frame is None or not frame.file:
        return []
    file = frame.file.removeprefix(f"{page.folder}/") if page.folder else frame.file
    where = f"{escape_text(file)}:{frame.line}"
    return [fixed_section(where, rank)] if "/" in file or where not in (text or "") else []


def format_caller(frame: FrameView, text: str, values: str) -> str:
    """Format a caller: its location, its line's text, and its values, if any."""
    message = f"{in_stack(frame)}: {text}" if text else in_stack(frame)
    return f"{message}  [{values}]" if values else message


def format_callers(lines: Sequence[str], *, rank: int) -> TextSection:
    """Format the callers of a frame, the nearest first."""
    shown = [f"{'  by' if at else 'called by'} {line}" for at, line in enumerate(lines)]
    return list_section(shown, lambda cut: f"  … {format_count(cut, 'more caller')}", rank=rank)


def end_of(label: str, lines: Sequence[str], *, rank: int, floor: int) -> TextSection:
    """Build a section of the last lines below a label, which is alone if none of them fits.

    The only line of an output stands behind its label: `output: total 50`.
    """
    name, only, rest = label.partition(": 1 line")

    def fit_text(most: int) -> str:
        if most == len(lines) == 1 and only and not rest:
            return f"{name}: {lines[0].strip()}"
        return "\n".join([f"{label}, the last:", *lines[len(lines) - most :]]) if most else label

    return TextSection(fit_text, count=len(lines), rank=rank, floor=floor)


def format_origin(origin: ValueOrigin | None, *, rank: int) -> list[TextSection]:
    """Format where a wrong value comes from, in one line, with the command that shows all of it."""
    if origin is None or not (origin.text or origin.reason or origin.command):
        return []
    value = f"={shorten_value(origin.value, _VALUE)}" if origin.value is not None else ""
    value += f", not {shorten_value(origin.other, _VALUE)}" if origin.other is not None else ""
    parts = [f"why: {shorten_value(origin.expression + origin.part, _VALUE)}{value}"]
    if origin.text:
        place = line_of(origin.frame) if origin.frame is not None else ""
        where = f" at {place}" if place else ""  # of code without lines only the function is known
        function = f" in {function_of(origin.frame)}" if origin.frame is not None else ""
        text = f": {shorten_value(origin.statement, _CODE)}" if origin.statement else ""
        back = f", {origin.links} links back" if origin.links > 1 else ""
        parts.append(
            f"{shorten_value(origin.text, _CHANGED)}{where}{function}{text} "
            f"[{origin.certainty}]{back}"
        )
    parts += [shorten_value(origin.reason, _CHANGED)] if origin.reason else []
    command = f" ({escape_command(origin.command)})" if origin.command else ""
    earlier = ""
    frames = tuple(dict.fromkeys(origin.earlier))
    if frames:
        # Where the chain ends says most.
        cut = len(frames) > _EARLIER
        ends = [frames[: _EARLIER // 2], frames[-_EARLIER // 2 :]] if cut else [frames]
        places = " < … < ".join(map(format_chain, ends))
        earlier = f"\n  before that: {places}: {shorten_value(origin.earliest, _CHANGED)}"
    facts = [
        *(shorten_value(one, _ERROR) for one in origin.details),
        format_reached(origin.reached),
        f"on the way {format_conditions(origin.decided)}" if origin.decided else "",
    ]
    details = "".join(f"\n  {one}" for one in facts if one)
    return [fixed_section(", ".join(parts) + command + earlier + details, rank)]


def format_reached(conditions: Sequence[ReachingCondition]) -> str:
    """Format the conditions by which a statement was reached; "" without any."""
    text = format_conditions(conditions)
    return f"reached as {text}" if text else ""


def format_conditions(conditions: Sequence[ReachingCondition]) -> str:
    """Format conditions, what each was, and where."""
    return "; ".join(
        f"`{shorten_value(one.text, _CODE)}` was {'true' if one.is_true else 'false'}"
        + (f" [{shorten_value(one.values, _CODE)}]" if one.values else "")
        + f", {line_of(one.frame)}"
        for one in conditions
    )


_CHILD_NUMBERS = re.compile(r"(?:\.\d+)+\Z")


def format_picture(path: object, *, rank: int) -> list[TextSection]:
    """Name the file that a picture was written to; nothing without one."""
    return [fixed_section(f"picture: {escape_text(path)}", rank)] if isinstance(path, str) else []


def format_notes(
    some: Sequence[str], evidence: object, session: object = None, *, rank: int
) -> list[TextSection]:
    """Build the section of notes, of the evidence id, and of the kept session."""
    sections = [fixed_section(f"note: {shorten_value(one, 2 * IN_A_LIST)}", rank) for one in some]
    last = [f"evidence: {evidence}"] if isinstance(evidence, str) else []
    if isinstance(session, str):
        # Of a child process, as pytest-xdist's worker: the program itself is kept with it.
        root = _CHILD_NUMBERS.sub("", session)
        ends = "debugger stop" if root == session else f"debugger stop --session {root}"
        last.append(f"kept, stopped there: debugger context, {ends} ({session})")
    return [*sections, fixed_section(" · ".join(last), rank)] if last else sections


_VALUE = 48  # characters
_ARGUMENTS = 4
_SOME = 3  # distinct values
_BEFORE = 12  # characters before what changed in a long value
_CHANGED = 80
_EARLIER = 8  # places on the way back
_ROOM = 110  # characters of all arguments
_COMMAND = 160  # characters
_ERROR = 160  # characters
_CODE = 70  # characters of a source line
_EVERYWHERE = 0.7  # of all counts that have one ratio
_NOTHING = frozenset({"", "None"})
_MOMENT_S = 0.05  # a shorter run is shown without its time
_LEAST_MS = 0.1  # a faster call is shown without its time
_SHARE = 0.02  # of the whole run: what took less has its time left out


def format_run_end(run: RunView, *, has_time: bool = True) -> str:
    """Format a run's end: `exited with status 1 after 0.2 s`, if it is informative."""
    took = f" after {run.took_s:.1f} s" if has_time and run.took_s >= _MOMENT_S else ""
    if run.is_cut:
        return "the program was ended then"
    if run.timed_out:
        return f"still running after {run.took_s:.1f} s, and ended"
    if run.exit_signal is None and run.exit_code is None:
        took = ""
    return f"{format_end(run.exit_signal, run.exit_code)}{took}"


def format_command(run: RunView) -> str:
    """Format the command, its program without the folders."""
    program, space, rest = run.command.partition(" ")
    is_plain = program.startswith("/") and "'" not in program
    return shorten_value((base_name(program) if is_plain else program) + space + rest, _COMMAND)


def cut_value(text: str, limit: int = _VALUE) -> str:
    """Truncate a value without its length: the recorder has truncated it already."""
    escaped = escape_text(show_bytes(text))
    return escaped if len(escaped) <= limit else escaped[: limit - 1] + "…"


def format_value(one: ValueView, limit: int = _VALUE) -> str:
    """Format `n=3`, or `n=2 → 3` for a changed value."""
    new = cut_value(one.value, limit) if one.value is not None else "(gone)"
    if one.old is None:
        return f"{short_name(one.name)}={new}"
    if max(len(one.old), len(one.value or "")) > limit:  # what changed may be behind the cut
        return f"{short_name(one.name)}={format_changed(one.old, one.value or '', _CHANGED)}"
    return f"{short_name(one.name)}={cut_value(one.old, limit)} → {new}"


def format_changed(old: str, new: str, limit: int = _VALUE) -> str:
    """Format a long value from its first difference on: `…, 'b': 3}`."""
    old, new = show_bytes(old), show_bytes(new)
    same = next(
        (at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
        min(len(old), len(new)),
    )
    start = max(same - _BEFORE, 0)
    return ("…" if start else "") + cut_value(new[start:], limit)


def format_values(some: Sequence[ValueView], most: int = 8) -> str:
    """Format values in a line, and the number of omitted ones."""
    texts = [format_value(one) for one in some[:most]]
    return " ".join([*texts, *([f"… {len(some) - most} more"] if len(some) > most else [])])


def format_varied(one: VaryView) -> str:
    """Format one value, a range of numbers, or the first distinct values."""
    if one.distinct == 1:
        return cut_value(one.first)
    if one.least is not None and one.most is not None:
        return f"{one.least}..{one.most}"
    some = [cut_value(text, _VALUE // 2) for text in one.some[:_SOME]]
    while len(some) > 1 and sum(map(len, some)) > _VALUE:
        some.pop()
    more = one.distinct - len(some)
    return " | ".join([*some, *([f"… {more} more"] if more > 0 else [])])


def format_arguments(some: Sequence[VaryView]) -> str:
    """Format `(n=1..40, kind='a')`."""
    if not some:
        return ""
    texts = [f"{short_name(one.name)}={format_varied(one)}" for one in some[:_ARGUMENTS]]
    while len(texts) > 1 and sum(map(len, texts)) > _ROOM:
        texts.pop()
    more = ["…"] if len(some) > len(texts) else []
    return f"({', '.join([*texts, *more])})"


def tree_section(every: Sequence[CallRow], total: int, *, rank: int) -> TextSection:
    """Build the section of a tree's lines; the least informative are cut, and counted there."""
    total_ms = every[0].total_ms if every else 0.0
    names = file_names(one.file for one in every)
    below, inner = _parent_lines(every), _inner_errors(every)
    ordered = sorted(every, key=lambda one: one.order)
    remaining = total - len(every)

    def fit_text(most: int) -> str:
        shown = {id(one) for one in ordered[:most]}
        lines, file, cut = [], "", 0
        hidden: dict[int, int] = {}
        for at, one in enumerate(every):
            if id(one) not in shown:
                cut += 1
                parent = below[at]
                while parent >= 0 and id(every[parent]) not in shown:
                    parent = below[parent]
                hidden[parent] = hidden.get(parent, 0) + 1
        for at, one in enumerate(every):
            if id(one) in shown:
                more = hidden.get(at, 0) or one.below
                row = format_row(one, file=file, total_ms=total_ms, inner=inner[at], names=names)
                note = f" [{more:,} more below]" if more else ""
                lines.append(f"{indent_tree(one.depth)}{row}{note}")
                file = one.file or file
        if cut + remaining:
            lines.append(
                f"… {format_count(cut + remaining, 'more line')}: --budget 4000, or --around FUNC"
            )
        return "\n".join(lines)

    return TextSection(fit_text, count=len(every), rank=rank, floor=8)


def _parent_lines(every: Sequence[CallRow]) -> list[int]:
    """Return the index of each line's parent; -1 without one."""
    found: list[int] = []
    open_: list[int] = []
    for at, one in enumerate(every):
        del open_[one.depth :]
        found.append(open_[-1] if open_ else -1)
        open_.append(at)
    return found


def format_row(
    one: CallRow,
    *,
    file: str = "",
    total_ms: float = 0.0,
    inner: Sequence[str] = (),
    known: Container[tuple[str, str | None]] = (),
    names: Mapping[str, str] = {},
) -> str:
    """Format a line of a tree without its indentation.

    `file` is that of the line above, `whole` the milliseconds of the tree, and `inner` are the
    exceptions of the calls that it made; arguments in `known` are not repeated. `names` are the
    files' short names.
    """
    if not one.function:
        return f"loop x{one.count:,}"
    name = names.get(one.file) or base_name(one.file)
    where = f"{name}:{one.line}" if one.file and one.file != file else f":{one.line}"
    given = [
        each for each in one.arguments if each.distinct > 1 or (each.name, each.first) not in known
    ]
    parts = [f"{short_name(one.function)}{format_arguments(given)}", where if one.line else ""]
    if not one.count:
        parts.append("entered before")
    elif one.count != 1:
        parts.append(f"x{one.count:,}{'+' if one.is_stopped else ''}")
    if one.recursions:
        parts.append(f"and {one.recursions:,} of itself")
    if one.value is not None and one.value.first not in _NOTHING:
        parts.append(f"→ {format_varied(one.value)}")
    if (given or one.value is not None) and 0 < one.known < one.count + one.recursions:
        parts.append(f"(values of the first {one.known:,})")
    if one.threads > 1:
        parts.append(f"in {one.threads} threads")
    if one.total_ms >= max(_LEAST_MS, total_ms * _SHARE):
        parts.append(format_time(one.total_ms))
    parts += _format_errors(one, inner)
    if one.open:
        parts.append("had not ended" if one.open == one.count else f"{one.open} had not ended")
    return " ".join(part for part in parts if part)


def _inner_errors(every: Sequence[CallRow]) -> list[tuple[str, ...]]:
    """Return for each line the exceptions of the calls that it made, except through loops."""
    found: list[dict[str, None]] = [{} for _ in every]
    below = _parent_lines(every)
    for at, outer in enumerate(below):
        parent = outer
        while parent >= 0 and not every[parent].function:
            parent = below[parent]
        if parent >= 0:
            found[parent].update(dict.fromkeys(every[at].errors))
    return [tuple(one) for one in found]


def _format_errors(one: CallRow, inner: Sequence[str]) -> list[str]:
    texts = []
    inner = [text for text in inner if not is_closing(text)]
    if one.raised and one.errors and all(map(is_closing, one.errors)):
        texts.append("closed")
    elif one.raised:
        new = [text for text in one.errors if text not in inner]
        how = "raised" if one.raised == one.count + one.recursions else f"{one.raised:,} raised"
        if new or not one.errors:
            texts.append(
                f"{how} {' | '.join(shorten_value(text, _ERROR) for text in new)}".rstrip()
            )
        else:
            texts.append(f"passed on {_format_types(one.errors)}")
    caught = [text for text in inner if text not in one.errors]
    if caught:
        # A library that it called did, in whose calls the one that raised was.
        by = "" if one.may_catch else "a library "
        texts.append(f"{by}caught {_format_types(caught)}")
    return texts


def is_closing(error: str) -> bool:
    """Return whether an exception only closes a generator that is no longer used."""
    return short_name(error.partition(":")[0]) == "GeneratorExit"


def _format_types(errors: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(short_name(text.partition(":")[0]) for text in errors))


def label_notes(left: Sequence[str], right: Sequence[str]) -> Iterator[str]:
    """Yield the notes of two runs: those of both once, the others with the run that has them."""
    yield from (note for note in left if note in right)
    for side, notes, others in (("A", left, right), ("B", right, left)):
        yield from (f"{side}: {note}" for note in notes if note not in others)


def output_sections(
    run: RunView, page: RenderPage, *, rank: int, most: int = 6, name: str = "output"
) -> list[TextSection]:
    """Build the section of the output's end."""
    if not run.output_total:
        return []
    lines = [
        f"  {shorten_value(format_output_line(one, page), IN_A_LIST)}" for one in run.output[-most:]
    ]
    lost = f" after {format_count(run.output_dropped, 'character')}" if run.output_dropped else ""
    label = f"{name}: {format_count(run.output_total, 'line')}{lost}"
    return [end_of(label, lines, rank=rank, floor=2)]


def format_ratio(one: RatioView, names: tuple[str, str] = ("A", "B")) -> str:
    """Format the ratio of the counts of two runs, and how many counts have it."""
    part = "nearly everywhere" if one.matching >= _EVERYWHERE * one.compared else "mostly"
    more = names[0] if one.is_more_left else names[1]
    of = f"{one.matching:,} of {one.compared:,} functions and lines that ran more than once"
    return f"counts differ by {one.text} {part} ({of}; more in {more})"


def format_count_pair(one: CountView) -> str:
    """Format the two counts of a function or of lines."""
    where = f"{base_name(one.file)}:{one.line}"
    where += f"-{one.last}" if one.last > one.line else f":{one.column}" if one.column else ""
    what = shorten_value(one.text, _CODE) or "called"
    return f"{where}  x{one.left:,} / x{one.right:,}  {what}  (in {short_name(one.function)})"


def format_time(milliseconds: float) -> str:
    """Format a time in a suitable unit."""
    if milliseconds >= 1000:  # noqa: PLR2004 - a second
        return f"{milliseconds / 1000:.2f} s"
    return f"{milliseconds:.1f} ms" if milliseconds < 10 else f"{milliseconds:.0f} ms"  # noqa: PLR2004


_NS = 1_000_000  # nanoseconds in a millisecond


def call_row(folded: TreeLine) -> CallRow:
    """Convert a line of a tree of calls."""
    one = folded.folded
    function = one.function
    return CallRow(
        depth=folded.depth,
        order=folded.order,
        function=function.name if function is not None else "",
        file=function.file if function is not None else "",
        line=function.line if function is not None else 0,
        count=one.count,
        recursions=one.recursions,
        raised=one.raised,
        open=one.open,
        threads=one.threads,
        total_ms=round(one.total_ns / _NS, 3),
        self_ms=round(one.self_ns / _NS, 3),
        arguments=tuple(recorded_run.vary_view(value) for value in one.arguments),
        value=recorded_run.vary_view(one.value) if one.value is not None else None,
        known=one.known,
        errors=one.errors,
        below=one.left_out.calls,
        is_stopped=one.is_stopped,
        may_catch=function is None or _may_catch(function.file, function.line),
    )


def _may_catch(file: str, line: int) -> bool:
    """Return whether a Python function may catch; true for every other language."""
    if not file.endswith((".py", ".pyw")):
        return True
    try:
        return _may_catch_now(file, line, Path(file).stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError):
        return True


@lru_cache(1000)
def _may_catch_now(file: str, line: int, _changed_ns: int) -> bool:
    return may_catch(Path(file).read_text(encoding="utf-8"), line)


_FILES = 3


def saved_runs(answer: SavedRuns, page: RenderPage) -> list[TextSection]:  # noqa: ARG001 - one signature
    """Build the section of the saved runs, one a line."""
    if not answer.runs:
        return [fixed_section("no saved runs: debugger path --save NAME -- CMD")]
    lines = [_format_run(one) for one in answer.runs]
    return [list_section(lines, lambda cut: f"… {format_count(cut, 'more run')}")]


def _format_run(one: SavedRun) -> str:
    ended = f"status {one.exit_code}" if one.exit_code is not None else one.exit_signal or "cut"
    text = f"run:{one.name} {one.time} {one.verb}: {shorten_value(one.command, IN_A_LIST)}: {ended}"
    if not one.changed:
        return text
    names = ", ".join(base_name(file) for file in one.changed[:_FILES])
    return f"{text}; changed since: {names}"
