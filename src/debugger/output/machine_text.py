"""Formats memory, registers, machine code and modules."""

from __future__ import annotations

from functools import partial

from debugger.model.answers import (
    Disassembled,
    ExceptionInfo,
    InstructionView,
    MemoryView,
    MemoryWritten,
    ModulesView,
    RegistersView,
)
from debugger.output.list_text import list_section, table_section
from debugger.output.location_text import (
    IN_A_LIST,
    base_name,
    escape_text,
    format_count,
    in_sentence,
    short_name,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section, width_option

_BYTES_SHOWN = 64  # hexadecimal digits


def format_memory(answer: MemoryView, _page: RenderPage) -> list[TextSection]:
    """Format rows of memory, with the mapped size."""
    lines = [escape_text(f"{row.address}  {row.text}").rstrip() for row in answer.rows]
    sections = [
        list_section(
            lines,
            lambda cut: (
                f"… {format_count(cut, 'more row')}: debugger memory read "
                f"{escape_text(answer.rows[len(lines) - cut].address)} "
                f"--format {escape_text(answer.format)}"
            ),
        )
    ]
    if not lines:
        sections = [fixed_section("no memory")]
    if answer.size < answer.asked:
        what = f"only {format_count(answer.size, 'byte')} of {answer.asked:,} are mapped"
        sections.append(fixed_section(what))
    return sections


def format_written(answer: MemoryWritten, _page: RenderPage) -> list[TextSection]:
    """Format the bytes of memory before and after a write."""
    was = f" (was {_format_short(answer.previous)})" if answer.previous is not None else ""
    return [fixed_section(escape_text(f"{answer.address}: {_format_short(answer.bytes)}{was}"))]


def _format_short(digits: str) -> str:
    spaced = " ".join(digits[at : at + 2] for at in range(0, min(len(digits), _BYTES_SHOWN), 2))
    more = max(len(digits) - _BYTES_SHOWN, 0) // 2
    return f"{spaced} … {more} more" if more else spaced


def format_registers(answer: RegistersView, page: RenderPage) -> list[TextSection]:
    """Format registers by group, several in a line if there are many."""
    sections: list[TextSection] = [] if answer.groups else [fixed_section("no registers")]
    for group in answer.groups:
        items = [
            f"{short_name(one.name)}={shorten_value(one.value, IN_A_LIST)}"
            for one in group.registers
        ]
        lines = [
            short_name(group.name) + ":",
            *("  " + line for line in _format_filled(items, page)),
        ]
        again = f"debugger registers NAME… {width_option(lines)}"
        sections.append(list_section(lines, partial(_more_lines, again=again)))
    if answer.others:
        names = ", ".join(map(short_name, answer.others[:10]))
        sections.append(fixed_section(f"others: {names}: debugger registers all"))
    return sections


def _more_lines(cut: int, again: str) -> str:
    return f"… {format_count(cut, 'more line')}: {again}"


def _format_filled(items: list[str], page: RenderPage) -> list[str]:
    width = min(page.width or 100, 100) - 2
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 1 <= width:
            lines[-1] += " " + item
        else:
            lines.append(item)
    return lines


def format_disassembled(answer: Disassembled, _page: RenderPage) -> list[TextSection]:
    """Format machine code: address, instruction, and the function and line at each change."""
    views = answer.instructions
    if not views:
        return [fixed_section("no instructions there")]
    lines: list[str] = []
    place: tuple[object, object, object] = (None, None, None)
    width = max(len(one.bytes) for one in views)
    for one in views:
        now = (one.function, one.file, one.line)
        if now != place:
            lines += _format_place(one, is_new_function=now[0] != place[0])
            place = now
        mark = "->" if one.current else "  "
        text = escape_text(f"{one.address}  {one.bytes:<{width}}  {one.text}")
        lines.append(f"{mark} {text}".rstrip())
    last = escape_text(views[-1].address)
    return [
        list_section(
            lines,
            lambda cut: (
                f"… {format_count(cut, 'more line')}: debugger disassemble {last} "
                f"or {width_option(lines)}"
            ),
        )
    ]


def _format_place(one: InstructionView, *, is_new_function: bool) -> list[str]:
    texts = [f"{short_name(one.function)}:"] if is_new_function and one.function else []
    if isinstance(one.file, str) and isinstance(one.line, int):
        text = f"  {shorten_value(one.source, IN_A_LIST)}" if isinstance(one.source, str) else ""
        texts.append(f"   {base_name(one.file)}:{one.line}{text}")
    return texts


def format_modules(answer: ModulesView, page: RenderPage) -> list[TextSection]:
    """Format the loaded modules, one a line."""
    rows = [
        (
            short_name(one.name) or "?",
            escape_text(one.address or ""),
            escape_text(one.path or ""),
            short_name(one.symbols or ""),
        )
        for one in answer.modules
    ]

    def more(cut: int) -> str:
        return f"… {format_count(cut, 'more module')}: debugger modules {width_option(lines)}"

    lines = ["  ".join(filter(None, (row[1], row[2] or row[0], row[3]))) for row in rows]
    missing = max(answer.total - len(rows), 0)
    if not rows:
        return [fixed_section("no modules")]
    if page.is_terminal:
        return [
            table_section(("Name", "Address", "Path", "Symbols"), rows, more, page, missing=missing)
        ]
    return [list_section(lines, more, missing=missing)]


def format_exception(answer: ExceptionInfo, page: RenderPage) -> list[TextSection]:
    """Format an exception: type, message, location, and the runtime's own trace."""
    message = shorten_value(answer.message, max(page.limit // 3, 1))
    kind = short_name(answer.type) or "exception"
    head = f"{kind}: {message}" if message else kind
    lines = [f"cause: {shorten_value(one, IN_A_LIST)}" for one in answer.causes]
    where = [fixed_section(f"in {in_sentence(answer.frame)}")] if answer.frame is not None else []
    lines_of_trace = answer.summary or answer.trace.splitlines()
    trace = [shorten_value(line, IN_A_LIST, tabs=True) for line in lines_of_trace]
    is_innermost_last = any(line.startswith('  File "') for line in lines_of_trace)  # Python's
    again = f"debugger exception {width_option(trace)}"
    return [
        fixed_section(head),
        *where,
        list_section(lines, lambda cut: f"… {format_count(cut, 'more cause')}"),
        list_section(
            trace,
            lambda cut: f"… {format_count(cut, 'more line')}: {again}",
            from_end=is_innermost_last,
        ),
    ]
