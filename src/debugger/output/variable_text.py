"""Formats values and their children, traces, and live readings."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from debugger.model.answers import (
    TRACED_MAX,
    Assignment,
    Children,
    LiveReading,
    LiveReadings,
    PointerView,
    TracedView,
    Traces,
    Value,
    Variables,
    VariableView,
)
from debugger.output.byte_text import is_byte_text
from debugger.output.list_text import list_section, variables_table
from debugger.output.location_text import (
    IN_A_LIST,
    format_assigned,
    format_count,
    function_of,
    hint_for,
    ref_of,
    short_name,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section, width_option

_EXPRESSION = 100  # characters
_INDENT = "  "
_LINE = 400  # characters of one line of a table
_SUMMARY = 200  # characters of a value whose parts are listed below it
_ELEMENT = 24  # characters of an element that shares a line with others
_ROW = 80  # characters of elements in a line
_NAMED = 6  # further pointers that are named
_PRINT = "debugger print {}"
_POINTER = 160  # characters of an explanation
_TEXT_ADDRESS = re.compile(r"\A0x[0-9a-f]+ (?=\")")
_SPACED = re.compile(r"(?<=\w)(?: = |=|: )")  # between a member's name and its value
_ENDS = (",", "}", ")", " ")
_PAGE_OVERHEAD = 120  # characters beside the one value of a page


def _with_ref(view: VariableView, limit: int) -> str:
    line = format_assigned(view, limit, between=" = ")
    return line + _ref_text(line, ref_of(view.ref))


def _ref_text(line: str, ref: str) -> str:
    # A value that was cut names its ref already.
    return f" ({ref})" if ref and not line.endswith(f" vars {ref})") else ""


def format_value(answer: Value, page: RenderPage) -> list[TextSection]:
    """Format an expression's value within the budget, and its children."""
    name = shorten_value(answer.expression, min(_EXPRESSION, page.limit // 3))
    kind = f": {short_name(answer.type)}" if answer.show_type is True and answer.type else ""
    value = answer.value
    views = answer.children if isinstance(answer.children, tuple) else ()
    if _are_shown(answer, views):
        views = ()
    total = answer.children_total if isinstance(answer.children_total, int) else len(views)
    ref = ref_of(answer.ref)
    hint = f"debugger vars {ref}" if ref else width_option([value])
    if not value and not answer.type:
        return [fixed_section(f"{name}: done")]  # a statement has no value

    def fit_text(most: int) -> str:
        line = f"{name}{kind} = {_format_value(value, most, hint=hint)}".replace(" = \n", " =\n")
        return line if views else line + _ref_text(line, ref)

    # Escaping may lengthen a character to six. What is listed below is not said twice.
    own = TextSection(fit_text, count=_SUMMARY if views and "\n" not in value else len(value) * 6)
    pointers = answer.pointers if isinstance(answer.pointers, tuple) else ()
    explained = format_pointers(pointers, answer.pointers_omitted, rank=1)
    return [own, *explained, *_format_children(views, total, ref), *_format_hint(answer.hint)]


def _are_shown(answer: Value, views: Sequence[VariableView]) -> bool:
    """Return whether a short value's text has all its children, so that no rows are needed."""
    value = answer.value
    if views and is_byte_text(value):
        return True
    total = answer.children_total if isinstance(answer.children_total, int) else len(views)
    if not views or total != len(views) or len(value) > _SUMMARY or "\n" in value:
        return False
    # Of a pointer the one child is what it points to.
    first = views[0].value
    if len(views) == 1 and "{" in first and value.endswith(first[first.index("{") :]):
        return True
    # Elements of a list, and of a set, which debugpy calls by numbers, have no names in it.
    is_list = all(view.name.strip("[]").isdecimal() and not ref_of(view.ref) for view in views)
    if is_list and ",".join(view.value for view in views) in value.replace(", ", ","):
        return True
    pieces = (f"{view.name}:{_TEXT_ADDRESS.sub('', view.value)}" for view in views)
    known = f"{_SPACED.sub(':', value)} "
    return all(
        not ref_of(view.ref) and any(f"{piece}{end}" in known for end in _ENDS)
        for view, piece in zip(views, pieces, strict=True)
    )


def _are_elements(views: Sequence[VariableView], first: int = 0) -> bool:
    """Return whether children are consecutive elements of a list, without children themselves."""
    # Fields of a tuple or a variant are called by numbers, too, without brackets.
    return all(
        view.name == f"[{at}]" and not ref_of(view.ref) for at, view in enumerate(views, first)
    )


def _format_hint(hint: object) -> list[TextSection]:
    return [fixed_section(f"hint: {hint}", 1)] if isinstance(hint, str) else []


def format_pointers(
    pointers: Sequence[PointerView], omitted: object = (), *, rank: int, command: str = _PRINT
) -> list[TextSection]:
    """Format what some pointers are, one a line, and how many more there are."""
    texts = [
        f"pointer {short_name(one.name)}: {shorten_value(one.text, _POINTER)}" for one in pointers
    ]
    names = omitted if isinstance(omitted, tuple) else ()
    if names:
        more = f"… {format_count(len(names), 'more suspicious pointer')}"
        first = ", ".join(short_name(one) for one in names[:_NAMED])
        texts.append(f"{more}: {first}: {command.format(shlex.quote(names[0]))}")
    return [fixed_section(one, rank) for one in texts]


def _format_value(text: str, limit: int, *, hint: str) -> str:
    """Format a value; a multi-line one, such as a table, is indented."""
    lines = text.split("\n")
    if len(lines) == 1:
        return shorten_value(text, limit, hint=hint)
    shown: list[str] = []
    for line in lines:
        limit -= len(line) + len(_INDENT)
        if limit < 0 and shown:
            shown.append(f"… {format_count(len(lines) - len(shown), 'more line')}: {hint}")
            break
        shown.append(shorten_value(line, _LINE))
    first = "" if shown[0].startswith(" ") else shown.pop(0)  # its columns stand above the next
    return "".join([first, *(f"\n{_INDENT}{line}" for line in shown)])


def _format_children(views: Sequence[VariableView], total: int, ref: str) -> list[TextSection]:
    lines = ["  " + _with_ref(view, IN_A_LIST) for view in views]
    if not lines:
        return []
    is_joined = _are_short(views)

    def fit_text(most: int) -> str:
        cut = max(total, len(lines)) - most
        where = f"debugger vars {ref} --from {most}" if ref else width_option(lines)
        shown = _join_elements(views[:most]) if is_joined else lines[:most]
        return "\n".join([*shown, *([f"  … {cut:,} more: {where}"] if cut else [])])

    return [TextSection(fit_text, count=len(lines), rank=1, floor=3)]


def _are_short(views: Sequence[VariableView], first: int = 0) -> bool:
    """Return whether children are elements of which several have room in a line."""
    return _are_elements(views, first) and all(len(view.value) <= _ELEMENT for view in views)


def _join_elements(views: Sequence[VariableView], first: int = 0) -> list[str]:
    """Format elements, several a line: `  [0..2] = 5, 3, 8`."""
    rows: list[list[str]] = []
    for view in views:
        text = shorten_value(view.value, _ELEMENT)
        if not rows or len(", ".join([*rows[-1], text])) > _ROW:
            rows.append([])
        rows[-1].append(text)
    lines = []
    for row in rows:
        last = first + len(row) - 1
        lines.append(f"  [{first}{f'..{last}' if last > first else ''}] = {', '.join(row)}")
        first = last + 1
    return lines


def format_assignment(answer: Assignment, page: RenderPage) -> list[TextSection]:
    """Format a variable's new and old value."""
    half = max(page.limit // 3, 1)
    was = "" if answer.previous is None else f" (was {shorten_value(answer.previous, half)})"
    note = f"\nnote: {answer.note}" if answer.note else ""
    return [
        fixed_section(f"{short_name(answer.name)} = {shorten_value(answer.value, half)}{was}{note}")
    ]


def format_variables(answer: Variables, page: RenderPage) -> list[TextSection]:
    """Format a frame's variables, one a line; other groups of them below their names."""
    pointers = answer.pointers if isinstance(answer.pointers, tuple) else ()
    sections = [
        *_format_locals(answer, page),
        *format_pointers(pointers, answer.pointers_omitted, rank=1),
    ]
    sections += _format_hint(answer.hint)
    for scope in answer.scopes if isinstance(answer.scopes, tuple) else ():
        lines = [_with_ref(view, IN_A_LIST) for view in scope.variables]
        sections.append(fixed_section(f"{scope.name}:"))
        sections.append(
            list_section(
                lines,
                lambda cut: f"… {format_count(cut, 'more variable')}",
                missing=scope.total - len(lines),
            )
        )
    return sections


def _format_locals(answer: Variables, page: RenderPage) -> list[TextSection]:
    total = max(answer.total, len(answer.variables))
    if not total:
        where = f" in {function_of(answer.frame)}" if answer.frame is not None else ""
        note = f": {answer.note}" if answer.note else ""
        return [fixed_section(f"no variables{where}{note}")]
    lines = [_with_ref(view, IN_A_LIST) for view in answer.variables]
    command = width_option(lines)
    if page.is_terminal and lines:
        return [variables_table(answer.variables, total, page, limit=IN_A_LIST, command=command)]
    return [
        list_section(
            lines,
            lambda cut: f"… {format_count(cut, 'more variable')}: {command}",
            missing=total - len(lines),
        )
    ]


def format_children(answer: Children, page: RenderPage) -> list[TextSection]:
    """Format a page of a value's children, and the command for the next one."""
    views, first = answer.variables, answer.from_
    of = f" of {answer.total:,}" if answer.total is not None else ""
    ref = ref_of(answer.ref)
    if not views:
        return [fixed_section(f"{ref}[{first}..{of}]: nothing there")]
    if len(views) == 1:
        lines = [
            "  "
            + _format_child(
                views[0],
                max(page.limit - _PAGE_OVERHEAD, _PAGE_OVERHEAD),
                width_option([views[0].value]),
            )
        ]
    else:
        lines = [
            "  " + _format_child(view, IN_A_LIST, f"debugger vars {ref} --from {at} --count 1")
            for at, view in enumerate(views, first)
        ]

    is_joined = len(views) > 1 and _are_short(views, first)

    def fit_text(most: int) -> str:
        end = first + most
        goes_on = answer.total is None or end < answer.total or most < len(views)
        label = "next" if answer.total is not None or most < len(views) else "perhaps more"
        head = f"{ref}[{first}..{end - 1 if most else ''}{of}]:"
        last = [f"{label}: debugger vars {ref} --from {end}"] if goes_on else []
        shown = _join_elements(views[:most], first) if is_joined else lines[:most]
        return "\n".join([head, *shown, *last])

    return [TextSection(fit_text, count=len(lines))]


def _format_child(view: VariableView, limit: int, again: str) -> str:
    ref = ref_of(view.ref)
    value = shorten_value(view.value, limit, hint=hint_for(view) if ref else again)
    return f"{short_name(view.name)} = {value}" + _ref_text(value, ref)


_NAMES = 8


def format_traces(answer: Traces, _page: RenderPage) -> list[TextSection]:
    """Format the traced patterns, one a line, each with its result."""
    if not answer.traced:
        return [fixed_section("nothing is traced")]
    lines = [_format_line(one) for one in answer.traced]

    def more(cut: int) -> str:
        return f"… {format_count(cut, 'more trace')}: debugger trace list {width_option(lines)}"

    return [list_section(lines, more, rank=0)]


def _format_line(one: TracedView) -> str:
    head = "not traced" if one.id is None else f"trace {one.id}"
    texts = [f"{head}: {shorten_value(one.pattern, IN_A_LIST)}"]
    if one.functions:
        count = format_count(one.functions, "function")
        names = _format_some(one.names, one.functions)
        is_itself = one.functions == 1 and one.names == (one.pattern,)
        texts.append(count if is_itself or not names else f"{count} ({names})")
    else:
        why = one.why if isinstance(one.why, str) else "no function matches"
        texts.append(shorten_value(why, IN_A_LIST))
    if one.left_out:
        texts.append(_format_omitted(one))
    if one.sampled:
        pairs = zip(one.sampled, one.skipped, strict=False)
        hot = _format_some([f"{count:,} of {name}" for name, count in pairs], len(one.sampled))
        texts.append(f"not recorded, for they were too many a second: {hot}")
    if isinstance(one.near_names, tuple) and one.near_names:
        texts.append(f"near names: {_format_some(one.near_names, len(one.near_names))}")
    return ", ".join(texts)


def _format_omitted(one: TracedView) -> str:
    needed = one.functions + one.left_out
    text = f"{one.left_out:,} left out"
    return f"{text} (--limit {needed} takes them)" if needed <= TRACED_MAX else text


def _format_some(names: Iterable[str], total: int) -> str:
    shown = [short_name(name) for name in names][:_NAMES]
    more = total - len(shown)
    return ", ".join([*shown, *([f"… {more:,} more"] if more > 0 and shown else [])])


def format_readings(answer: LiveReadings, page: RenderPage) -> list[TextSection]:
    """Format live values with their children, and the errors of unreadable ones."""
    sections = [section for one in answer.values for section in _format_reading(one, page)]
    return sections or [fixed_section("nothing was read")]


def _format_reading(one: LiveReading, page: RenderPage) -> list[TextSection]:
    if isinstance(one.error, str):
        return [
            fixed_section(
                f"{shorten_value(one.name, IN_A_LIST)}: {shorten_value(one.error, IN_A_LIST)}"
            )
        ]
    shown = Value(
        expression=one.name,
        value=one.value or "",
        type=one.type,
        ref=one.ref,
        children=one.children,
        children_total=one.children_total,
    )
    return format_value(shown, page)
