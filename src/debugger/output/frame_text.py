"""Formats stacks, threads and source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from debugger.model.answers import (
    Backtrace,
    Backtraces,
    CurrentFrame,
    FrameView,
    Source,
    Threads,
    ThreadView,
)
from debugger.output.list_text import ONE_LINE, list_section, locals_of, source_of, table_section
from debugger.output.location_text import (
    IN_A_STOP,
    escape_text,
    format_assigned,
    format_count,
    in_sentence,
    in_stack,
    short_name,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section, width_option

_FOLD = 3  # this many equal frames, one after the other, are a recursion
_RUNTIME_LEAST = 3  # frames that are worth a line which counts them
_THREADS = 8  # threads with the same stack


def _frame_key(frame: FrameView) -> tuple[object, ...]:
    return (frame.function, frame.file, frame.line, frame.module, frame.file or frame.address)


def _equal_runs(frames: Sequence[FrameView], current: int) -> Iterator[list[FrameView]]:
    """Yield runs of equal consecutive frames."""

    def alike(placed: tuple[int, FrameView]) -> tuple[object, ...]:
        at, frame = placed
        stands_alone = frame.index == current or isinstance(frame.locals, tuple)
        return (*_frame_key(frame), frame.index - at, at if stands_alone else None)

    for _, run in groupby(enumerate(frames), key=alike):
        yield [frame for _, frame in run]


def _frame_lines(frames: Sequence[FrameView], current: int) -> Iterator[str]:
    """Yield a line for each frame, with a recursion folded to one, and a line for each gap."""
    expected = frames[0].index
    for run in _equal_runs(frames, current):
        first, last = run[0], run[-1]
        if first.index > expected:
            yield f"  … {format_count(first.index - expected, 'frame')} not shown"
        expected = last.index + 1
        if len(run) >= _FOLD:
            recursion = f"{in_stack(first)} ({len(run):,} frames)"
            yield f"  #{first.index:,} … #{last.index:,}: {recursion}"
            continue
        for frame in run:
            mark = "*" if frame.index == current else " "
            yield f"{mark} #{frame.index} {in_stack(frame)}" + _format_locals(frame)


def _format_locals(frame: FrameView) -> str:
    if not isinstance(frame.locals, tuple) or not frame.locals:
        return ""
    shown = [format_assigned(view, IN_A_STOP) for view in frame.locals]
    line = " ".join(shown)
    between = "\n       "
    return between + (line if len(line) <= ONE_LINE else between.join(shown))


def format_backtrace(answer: Backtrace, _page: RenderPage) -> list[TextSection]:
    """Format a thread's stack, one frame a line."""
    if not answer.frames:
        return [fixed_section(f"thread {answer.thread}: {_without_frames(answer)}")]
    noted = [fixed_section(f"note: {answer.note}")] if isinstance(answer.note, str) else []
    return [*_format_stack(answer, "debugger backtrace", rank=1), *noted]


def _without_frames(answer: Backtrace) -> str:
    return answer.state if isinstance(answer.state, str) else "no frames"


def _without_runtime(answer: Backtrace) -> Sequence[FrameView]:
    """Leave out the outermost frames without source, if they are many and none is selected."""
    own = answer.own if isinstance(answer.own, int) else len(answer.frames)
    is_short = len(answer.frames) - own < _RUNTIME_LEAST
    is_needed = own <= 0 or answer.current >= own
    return answer.frames if is_short or is_needed else answer.frames[:own]


def _format_stack(answer: Backtrace, command: str, *, rank: int) -> list[TextSection]:
    if not answer.frames:
        return [fixed_section(f"  {_without_frames(answer)}", rank)]
    frames = _without_runtime(answer)
    lines = list(_frame_lines(frames, answer.current))
    deepest = answer.frames[-1].index + 1
    below = max((answer.total or 0) - deepest, 0)
    if len(frames) < len(answer.frames) and not below:
        runtime = format_count(len(answer.frames) - len(frames), "frame")
        lines.append(f"  … {runtime} of the runtime: {command} --limit {len(answer.frames)}")
    shown = list_section(
        lines,
        lambda cut: f"… {format_count(cut, 'more line')}: {command} {width_option(lines)}",
        rank=rank,
    )
    if not below:
        return [shown]
    return [
        shown,
        fixed_section(
            f"… {format_count(below, 'more frame')}: {command} --limit {answer.total}", rank
        ),
    ]


def format_backtraces(answer: Backtraces, _page: RenderPage) -> list[TextSection]:
    """Format the stacks of all threads, equal ones once."""
    merged: dict[tuple[object, ...], list[Backtrace]] = {}
    for one in answer.threads:
        merged.setdefault((one.state, one.total, *map(_frame_key, one.frames)), []).append(one)
    sections: list[TextSection] = []
    for rank, same in enumerate(merged.values()):
        ids = ", ".join(str(one.thread) for one in same[:_THREADS])
        if len(same) == 1:
            head = f"thread {ids}:"
        else:
            head = f"threads {ids}{', …' if len(same) > _THREADS else ''} ({len(same):,} threads):"
        command = f"debugger backtrace --thread {same[0].thread}"
        sections += [
            fixed_section(head, rank),
            *_format_stack(same[0], command, rank=len(merged) + rank),
        ]
    missing = answer.total - len(answer.threads)
    if missing > 0:
        sections.append(
            fixed_section(f"… {format_count(missing, 'more thread')}: debugger threads")
        )
    return sections or [fixed_section("no threads")]


def current_frame(answer: CurrentFrame, page: RenderPage) -> list[TextSection]:
    """Format the selected frame with its source and locals."""
    head = f"frame #{answer.frame.index}: {in_sentence(answer.frame)} (thread {answer.thread})"
    return [
        fixed_section(head),
        source_of(
            answer.source,
            page,
            rank=1,
            more=lambda cut: f"   … {format_count(cut, 'more line')}: debugger context",
        ),
        locals_of(answer.locals, answer.locals_total, page, rank=2),
    ]


def format_threads(answer: Threads, page: RenderPage) -> list[TextSection]:
    """Format the threads, one a line, the current one first."""
    views = sorted(answer.threads, key=lambda view: not view.current)
    missing = max(answer.total - len(views), 0)
    if not views:
        return [fixed_section("no threads")]
    lines = [_thread_line(view) for view in views]

    def more(cut: int) -> str:
        return f"… {format_count(cut, 'more thread')}: debugger threads {width_option(lines)}"

    if page.is_terminal:
        rows = [(f"{_current_mark(view)}{view.id}", *_format_thread(view)) for view in views]
        columns = ("ID", "Name", "State", "Location")
        return [table_section(columns, rows, more, page, missing=missing)]
    return [list_section(lines, more, missing=missing)]


def _current_mark(view: ThreadView) -> str:
    return "* " if view.current else "  "


def _format_thread(view: ThreadView) -> tuple[str, str, str]:
    place = in_stack(view.frame) if view.frame is not None else ""
    return short_name(view.name), _format_state(view), place


def _format_state(view: ThreadView) -> str:
    state = short_name(view.state)
    if isinstance(view.stopped_s, float):
        state += f" for {view.stopped_s:.1f} s"
    if isinstance(view.breakpoints, tuple):
        state += f" at breakpoint {', '.join(map(str, view.breakpoints))}"
    return state


def _thread_line(view: ThreadView) -> str:
    name, state, place = _format_thread(view)
    named = f"{view.id} {name}" if name else str(view.id)
    return f"{_current_mark(view)}{named}: {state}" + (f", {place}" if place else "")


def format_source(answer: Source, page: RenderPage) -> list[TextSection]:
    """Format lines of a file below its name."""
    file = escape_text(answer.file)
    if not answer.lines:
        return [fixed_section(f"{file}: no lines there (it has {answer.total:,})")]
    first, last = answer.lines[0].line, answer.lines[-1].line
    where = f", {short_name(answer.function)}" if answer.function else ""
    option = width_option(line.text for line in answer.lines)
    return [
        fixed_section(f"{file}:{first}..{last} of {answer.total}{where}"),
        source_of(
            answer.lines,
            page,
            rank=1,
            more=lambda cut: f"   … {format_count(cut, 'more line')}: {option}",
        ),
    ]
