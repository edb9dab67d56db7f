"""Formats memory, registers, machine code and modules."""

from __future__ import annotations

from debugger.core.answers import (
    Disassembled,
    ExceptionInfo,
    InstructionView,
    MemoryView,
    MemoryWritten,
    ModulesView,
    RegistersView,
)
from debugger.render.budget import Section, fixed
from debugger.render.lists import listing, table
from debugger.render.page import Page, wider
from debugger.render.places import basename, in_sentence
from debugger.render.values import IN_A_LIST, counted, escape, short_name, shorten

_BYTES_SHOWN = 64


def memory(answer: MemoryView, _page: Page) -> list[Section]:
    """Return rows of memory, and how much of it is mapped."""
    lines = [escape(f"{row.address}  {row.text}").rstrip() for row in answer.rows]
    sections = [
        listing(
            lines,
            lambda cut: (
                f"… {counted(cut, 'more row')}: debugger memory read "
                f"{escape(answer.rows[len(lines) - cut].address)} --format {escape(answer.format)}"
            ),
        )
    ]
    if not lines:
        sections = [fixed("no memory")]
    if answer.size < answer.asked:
        what = f"only {counted(answer.size, 'byte')} of {answer.asked:,} are mapped"
        sections.append(fixed(what))
    return sections


def written(answer: MemoryWritten, _page: Page) -> list[Section]:
    """Return what memory holds now, and held before."""
    was = f" (was {_short(answer.previous)})" if answer.previous is not None else ""
    return [fixed(escape(f"{answer.address}: {_short(answer.bytes)}{was}"))]


def _short(digits: str) -> str:
    spaced = " ".join(digits[at : at + 2] for at in range(0, min(len(digits), _BYTES_SHOWN), 2))
    more = max(len(digits) - _BYTES_SHOWN, 0) // 2
    return f"{spaced} … {more} more" if more else spaced


def registers(answer: RegistersView, page: Page) -> list[Section]:
    """Return registers by group, several in a line where there are many."""
    sections: list[Section] = [] if answer.groups else [fixed("no registers")]
    for group in answer.groups:
        items = [
            f"{short_name(one.name)}={shorten(one.value, IN_A_LIST)}" for one in group.registers
        ]
        lines = [short_name(group.name) + ":", *("  " + line for line in _filled(items, page))]
        again = f"debugger registers NAME… {wider(lines)}"
        sections.append(listing(lines, lambda cut, a=again: f"… {counted(cut, 'more line')}: {a}"))  # type: ignore[misc]
    if answer.others:
        names = ", ".join(map(short_name, answer.others[:10]))
        sections.append(fixed(f"others: {names}: debugger registers all"))
    return sections


def _filled(items: list[str], page: Page) -> list[str]:
    width = min(page.width or 100, 100) - 2
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 1 <= width:
            lines[-1] += " " + item
        else:
            lines.append(item)
    return lines


def disassembled(answer: Disassembled, _page: Page) -> list[Section]:
    """Return machine code: address, instruction, and the function and line where they change."""
    views = answer.instructions
    if not views:
        return [fixed("no instructions there")]
    lines: list[str] = []
    place: tuple[object, object, object] = (None, None, None)
    width = max(len(one.bytes) for one in views)
    for one in views:
        now = (one.function, one.file, one.line)
        if now != place:
            lines += _place(one, is_new_function=now[0] != place[0])
            place = now
        mark = "->" if one.current else "  "
        said = escape(f"{one.address}  {one.bytes:<{width}}  {one.text}")
        lines.append(f"{mark} {said}".rstrip())
    last = escape(views[-1].address)
    return [
        listing(
            lines,
            lambda cut: (
                f"… {counted(cut, 'more line')}: debugger disassemble {last} or {wider(lines)}"
            ),
        )
    ]


def _place(one: InstructionView, *, is_new_function: bool) -> list[str]:
    said = [f"{short_name(one.function)}:"] if is_new_function and one.function else []
    if isinstance(one.file, str) and isinstance(one.line, int):
        text = f"  {shorten(one.source, IN_A_LIST)}" if isinstance(one.source, str) else ""
        said.append(f"   {basename(one.file)}:{one.line}{text}")
    return said


def modules(answer: ModulesView, page: Page) -> list[Section]:
    """Return what is loaded, one a line."""
    rows = [
        (
            short_name(one.name) or "?",
            escape(one.address or ""),
            escape(one.path or ""),
            short_name(one.symbols or ""),
        )
        for one in answer.modules
    ]

    def more(cut: int) -> str:
        return f"… {counted(cut, 'more module')}: debugger modules {wider(lines)}"

    lines = ["  ".join(filter(None, (row[1], row[2] or row[0], row[3]))) for row in rows]
    missing = max(answer.total - len(rows), 0)
    if not rows:
        return [fixed("no modules")]
    if page.is_terminal:
        return [table(("Name", "Address", "Path", "Symbols"), rows, more, page, missing=missing)]
    return [listing(lines, more, missing=missing)]


def exception(answer: ExceptionInfo, page: Page) -> list[Section]:
    """Return an exception: what, why, where, and the runtime's own trace."""
    message = shorten(answer.message, max(page.limit // 3, 1))
    kind = short_name(answer.type) or "exception"
    head = f"{kind}: {message}" if message else kind
    lines = [f"cause: {shorten(one, IN_A_LIST)}" for one in answer.causes]
    where = [fixed(f"in {in_sentence(answer.frame)}")] if answer.frame is not None else []
    lines_of_trace = answer.summary or answer.trace.splitlines()
    trace = [shorten(line, IN_A_LIST, tabs=True) for line in lines_of_trace]
    is_innermost_last = any(line.startswith('  File "') for line in lines_of_trace)  # Python's
    again = f"debugger exception {wider(trace)}"
    return [
        fixed(head),
        *where,
        listing(lines, lambda cut: f"… {counted(cut, 'more cause')}"),
        listing(
            trace, lambda cut: f"… {counted(cut, 'more line')}: {again}", from_end=is_innermost_last
        ),
    ]
