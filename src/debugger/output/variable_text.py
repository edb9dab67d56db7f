"""Formats values and their children."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.model.answers import Assignment, Children, Value, Variables, VariableView
from debugger.output.budget import TextSection, fixed_section
from debugger.output.list_text import list_section, variables_table
from debugger.output.location_text import function_of
from debugger.output.page import RenderPage, width_option
from debugger.output.value_text import (
    IN_A_LIST,
    format_assigned,
    format_count,
    hint_for,
    ref_of,
    short_name,
    shorten_value,
)

_EXPRESSION = 100
_INDENT = "  "
_LINE = 400  # characters of one line of a table
_BESIDE = 200  # characters of a value whose parts are listed below it
_AROUND = 120  # characters beside the one value of a page


def _with_ref(view: VariableView, limit: int) -> str:
    line = format_assigned(view, limit, between=" = ")
    return line + _ref_beside(line, ref_of(view.ref))


def _ref_beside(line: str, ref: str) -> str:
    # A value that was cut names its ref already.
    return f" ({ref})" if ref and not line.endswith(f" vars {ref})") else ""


def format_value(answer: Value, page: RenderPage) -> list[TextSection]:
    """Return an expression's value, as long as there is room, and its children."""
    name = shorten_value(answer.expression, min(_EXPRESSION, page.limit // 3))
    kind = f": {short_name(answer.type)}" if answer.show_type is True and answer.type else ""
    whole = answer.value
    views = answer.children if isinstance(answer.children, tuple) else ()
    total = answer.children_total if isinstance(answer.children_total, int) else len(views)
    ref = ref_of(answer.ref)
    hint = f"debugger vars {ref}" if ref else width_option([whole])
    if not whole and not answer.type:
        return [fixed_section(f"{name}: done")]  # a statement has no value

    def lay(kept: int) -> str:
        line = f"{name}{kind} = {_format_value(whole, kept, hint=hint)}".replace(" = \n", " =\n")
        return line if views else line + _ref_beside(line, ref)

    # Escaping may lengthen a character to six. What is listed below is not said twice.
    own = TextSection(lay, count=_BESIDE if views and "\n" not in whole else len(whole) * 6)
    return [own, *_format_children(views, total, ref)]


def _format_value(text: str, limit: int, *, hint: str) -> str:
    """Return a value; the lines of one that has several, as a table, are indented."""
    lines = text.split("\n")
    if len(lines) == 1:
        return shorten_value(text, limit, hint=hint)
    kept: list[str] = []
    for line in lines:
        limit -= len(line) + len(_INDENT)
        if limit < 0 and kept:
            kept.append(f"… {format_count(len(lines) - len(kept), 'more line')}: {hint}")
            break
        kept.append(shorten_value(line, _LINE))
    first = "" if kept[0].startswith(" ") else kept.pop(0)  # its columns stand above the next
    return "".join([first, *(f"\n{_INDENT}{line}" for line in kept)])


def _format_children(views: Sequence[VariableView], total: int, ref: str) -> list[TextSection]:
    lines = ["  " + _with_ref(view, IN_A_LIST) for view in views]
    if not lines:
        return []

    def lay(kept: int) -> str:
        cut = max(total, len(lines)) - kept
        where = f"debugger vars {ref} --from {kept}" if ref else width_option(lines)
        return "\n".join([*lines[:kept], *([f"  … {cut:,} more: {where}"] if cut else [])])

    return [TextSection(lay, count=len(lines), rank=1, floor=3)]


def format_assignment(answer: Assignment, page: RenderPage) -> list[TextSection]:
    """Return what a variable is now, and was."""
    half = max(page.limit // 3, 1)
    was = "" if answer.previous is None else f" (was {shorten_value(answer.previous, half)})"
    note = f"\nnote: {answer.note}" if answer.note else ""
    return [
        fixed_section(f"{short_name(answer.name)} = {shorten_value(answer.value, half)}{was}{note}")
    ]


def format_variables(answer: Variables, page: RenderPage) -> list[TextSection]:
    """Return the variables of a frame, one a line; other groups of them below their names."""
    sections = _format_locals(answer, page)
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
    """Return a page of what is inside a value, and the command for the next one."""
    views, first = answer.variables, answer.from_
    of = f" of {answer.total:,}" if answer.total is not None else ""
    ref = ref_of(answer.ref)
    if not views:
        return [fixed_section(f"{ref}[{first}..{of}]: nothing there")]
    if len(views) == 1:
        lines = [
            "  "
            + _format_child(
                views[0], max(page.limit - _AROUND, _AROUND), width_option([views[0].value])
            )
        ]
    else:
        lines = [
            "  " + _format_child(view, IN_A_LIST, f"debugger vars {ref} --from {at} --count 1")
            for at, view in enumerate(views, first)
        ]

    def lay(kept: int) -> str:
        end = first + kept
        goes_on = answer.total is None or end < answer.total or kept < len(views)
        label = "next" if answer.total is not None or kept < len(views) else "perhaps more"
        head = f"{ref}[{first}..{end - 1 if kept else ''}{of}]:"
        last = [f"{label}: debugger vars {ref} --from {end}"] if goes_on else []
        return "\n".join([head, *lines[:kept], *last])

    return [TextSection(lay, count=len(lines))]


def _format_child(view: VariableView, limit: int, again: str) -> str:
    ref = ref_of(view.ref)
    value = shorten_value(view.value, limit, hint=hint_for(view) if ref else again)
    return f"{short_name(view.name)} = {value}" + _ref_beside(value, ref)
