"""Formats which adapters are installed, and how to install one."""

from __future__ import annotations

from debugger.model.answers import AdapterList, AdapterView, Installation
from debugger.output.budget import TextSection, fixed_section
from debugger.output.list_text import list_section, table_section
from debugger.output.page import RenderPage, width_option
from debugger.output.value_text import (
    IN_A_LIST,
    escape_text,
    format_count,
    short_name,
    shorten_value,
)

_LINE = 300
_STEPS_MAX = 20


def format_adapters(answer: AdapterList, page: RenderPage) -> list[TextSection]:
    """Return the adapters, one a line."""
    if not answer.adapters:
        return [fixed_section("no adapters")]
    lines = [_format_line(one) for one in answer.adapters]

    def more(cut: int) -> str:
        return f"… {format_count(cut, 'more adapter')}: debugger setup --list {width_option(lines)}"

    if page.is_terminal:
        rows = [
            (short_name(one.status), _format_named(one), _format_languages(one), _format_where(one))
            for one in answer.adapters
        ]
        return [table_section(("Status", "Adapter", "Debugs", "Where, or how"), rows, more, page)]
    return [list_section(lines, more, rank=0)]


def _format_named(one: AdapterView) -> str:
    return " ".join(short_name(part) for part in (one.name, one.version) if part)


def _format_languages(one: AdapterView) -> str:
    return ", ".join(short_name(language) for language in one.languages)


def _format_where(one: AdapterView) -> str:
    problem = one.problem if one.status == "broken" else None  # a missing one has no more to say
    said = [shorten_value(part, IN_A_LIST) for part in (one.path, problem) if part]
    if one.how:
        said.append(f"install: {shorten_value(one.how, _LINE)}")
    return " · ".join(said)


def _format_line(one: AdapterView) -> str:
    parts = [_format_named(one), _format_languages(one), _format_where(one)]
    return f"{short_name(one.status):<9}  " + " · ".join(part for part in parts if part)


def format_installation(answer: Installation, _page: RenderPage) -> list[TextSection]:
    """Return what was done, or would be."""
    name = short_name(answer.name)
    if answer.status == "installed":
        return _format_installed(answer, name)
    steps = [f"  {shorten_value(step, _LINE)}" for step in answer.steps[:_STEPS_MAX]]
    told = [
        fixed_section(f"{name} is not ready; it would be installed so:" if steps else f"{name}:")
    ]
    if steps:
        told.append(
            list_section(steps, lambda cut: f"  … {format_count(cut, 'more step')}", rank=1)
        )
    if isinstance(answer.problem, str):
        told.append(fixed_section(f"it would not work: {shorten_value(answer.problem, _LINE)}"))
    elif answer.works is True:
        told.append(fixed_section("it would work"))
    if not isinstance(answer.problem, str):
        told.append(fixed_section(f"run: debugger setup {name} --yes"))
    return told


def _format_installed(answer: Installation, name: str) -> list[TextSection]:
    version = f" {short_name(answer.version)}" if answer.version else ""
    path = f": {escape_text(answer.path)}" if answer.path else ""
    how = "is installed" if answer.changed else "is here already"
    told = [fixed_section(f"{name}{version} {how} and starts{path}")]
    if isinstance(answer.config, str):
        told.append(fixed_section(f"config: {escape_text(answer.config)} says where it is", 1))
    return told
