"""Formats which adapters are installed, and how to install one."""

from __future__ import annotations

from debugger.core.answers import AdapterList, AdapterView, Installation
from debugger.render.budget import Section, fixed
from debugger.render.lists import listing, table
from debugger.render.page import Page, wider
from debugger.render.values import IN_A_LIST, counted, escape, short_name, shorten

_LINE = 300
_STEPS_MAX = 20


def adapters(answer: AdapterList, page: Page) -> list[Section]:
    """Return the adapters, one a line."""
    if not answer.adapters:
        return [fixed("no adapters")]
    lines = [_line(one) for one in answer.adapters]

    def more(cut: int) -> str:
        return f"… {counted(cut, 'more adapter')}: debugger setup --list {wider(lines)}"

    if page.is_terminal:
        rows = [
            (short_name(one.status), _named(one), _languages(one), _where(one))
            for one in answer.adapters
        ]
        return [table(("Status", "Adapter", "Debugs", "Where, or how"), rows, more, page)]
    return [listing(lines, more, rank=0)]


def _named(one: AdapterView) -> str:
    return " ".join(short_name(part) for part in (one.name, one.version) if part)


def _languages(one: AdapterView) -> str:
    return ", ".join(short_name(language) for language in one.languages)


def _where(one: AdapterView) -> str:
    problem = one.problem if one.status == "broken" else None  # a missing one has no more to say
    said = [shorten(part, IN_A_LIST) for part in (one.path, problem) if part]
    if one.how:
        said.append(f"install: {shorten(one.how, _LINE)}")
    return " · ".join(said)


def _line(one: AdapterView) -> str:
    parts = [_named(one), _languages(one), _where(one)]
    return f"{short_name(one.status):<9}  " + " · ".join(part for part in parts if part)


def installation(answer: Installation, _page: Page) -> list[Section]:
    """Return what was done, or would be."""
    name = short_name(answer.name)
    if answer.status == "installed":
        return _installed(answer, name)
    steps = [f"  {shorten(step, _LINE)}" for step in answer.steps[:_STEPS_MAX]]
    told = [fixed(f"{name} is not ready; it would be installed so:" if steps else f"{name}:")]
    if steps:
        told.append(listing(steps, lambda cut: f"  … {counted(cut, 'more step')}", rank=1))
    if isinstance(answer.problem, str):
        told.append(fixed(f"it would not work: {shorten(answer.problem, _LINE)}"))
    elif answer.works is True:
        told.append(fixed("it would work"))
    if not isinstance(answer.problem, str):
        told.append(fixed(f"run: debugger setup {name} --yes"))
    return told


def _installed(answer: Installation, name: str) -> list[Section]:
    version = f" {short_name(answer.version)}" if answer.version else ""
    path = f": {escape(answer.path)}" if answer.path else ""
    how = "is installed" if answer.changed else "is here already"
    told = [fixed(f"{name}{version} {how} and starts{path}")]
    if isinstance(answer.config, str):
        told.append(fixed(f"config: {escape(answer.config)} says where it is", 1))
    return told
