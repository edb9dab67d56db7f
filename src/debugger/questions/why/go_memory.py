"""Explains a write of Go's memory that a watchpoint has seen, by the source of its line."""

from __future__ import annotations

import re
from pathlib import Path

from debugger.model.answers.frames import FrameView
from debugger.questions.why import go_expressions, go_source, go_values
from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind, WhyLink
from debugger.questions.why.go_chain import Activation, ChainEnded, GoPosition, NeedsWatch
from debugger.questions.why.go_source import GoSources
from debugger.questions.why.go_watch import MemoryWrite
from debugger.questions.why.why_request import repeat_with

_IN_PLACE = ("append", "copy")
_FIELDS = re.compile(r"\]((?:\.\w+)*)$")
_ELEMENT = re.compile(r"^(?P<slice>.+)\[(?P<index>\d+)\](?P<fields>(?:\.\w+)*)$")
_PART = re.compile(r"^(?P<slice>[\w.]+)(?:\[(?P<first>\d*):[^\[\]]*\])?$")


def explain_memory_write(
    sources: GoSources, write: MemoryWrite, step: NeedsWatch
) -> tuple[WhyLink, GoPosition | ChainEnded]:
    """Return the link of a write, and what it wrote."""
    file, line = write.frame.file or "", write.frame.line or 0
    lines = go_source.lines_of(file)
    statement = go_source.join_statement(lines, line) if 0 < line <= len(lines) else ""
    how = next((one for one in _IN_PLACE if f"{one}(" in statement), "")
    by = f"{how} wrote it: both slices have one array" if how == "append" else ""
    by = by or (f"{how} wrote it" if how else "written by another name")
    link = WhyLink(
        LinkKind.WRITTEN,
        LinkCertainty.RERUN,
        f"{write.expression}: {by}",
        frame=FrameView(0, go_expressions.plain_name(write.frame.function), file, line),
        statement=statement,
        stack=write.callers,
        old=write.old,
        new=write.new,
    )
    function = sources.function_at(file, line)
    given = _written_expression(sources, file, line, write.expression)
    given = given or _copied_element(statement, write.expression)
    place = f"{Path(file).name}:{line}"
    if function is None or given is None:
        text = f"{statement} at {place} wrote it"
        return link, ChainEnded(ChainEnd.NOT_FOLLOWED, text)
    side = go_expressions.classify_value(given)
    if side.kind == "constant":
        return link, ChainEnded(ChainEnd.CONSTANT, f"{given} is a literal at {place}")
    if side.kind != "path":
        again = repeat_with((*go_expressions.paths_in(given), given)[0], place)
        text = f"computed by {given} at {place}; go on with {again}"
        return link, ChainEnded(ChainEnd.NOT_FOLLOWED, text)
    there = Activation(function, 0, 0)
    return link, GoPosition(given, there, 0, line, step.value, LinkCertainty.RERUN)


def _written_expression(sources: GoSources, file: str, line: int, watched: str) -> str | None:
    """Return the expression whose value a line wrote to watched memory; None if it is not known."""
    suffix = _FIELDS.search(watched)
    fields = suffix[1] if suffix is not None else ""
    for site in sources.sites:
        if (site.file, site.line) != (file, line) or len(site.values) != 1:
            continue
        side = go_expressions.classify_value(site.values[0])
        if side.kind != "append" or side.origin is None:
            is_whole = len(site.targets) == 1 and not site.operator
            return site.values[0] if is_whole else None
        added = side.origin.arguments[1:]
        if len(added) != 1 or added[0].endswith("..."):
            return None
        part = re.match(r"\.\w+", fields)
        if part is not None and go_expressions.classify_value(added[0]).kind == "literal":
            return go_values.part_of_literal(added[0], part[0], sources.fields_of(added[0]))
        return added[0] + fields
    return None


def _copied_element(statement: str, watched: str) -> str | None:
    """Return the element that `copy(a[1:], b)` has copied to a watched element of `a`."""
    call = re.search(r"\bcopy\((.*)\)", statement)
    element = _ELEMENT.match(watched)
    parts = [_PART.match(one.strip()) for one in call[1].split(",")] if call else []
    if element is None or len(parts) != 2 or None in parts:  # noqa: PLR2004 - to, from
        return None
    target, source = (one for one in parts if one is not None)
    if target["slice"] != element["slice"]:
        return None
    at = int(element["index"]) - int(target["first"] or 0) + int(source["first"] or 0)
    return f"{source['slice']}[{at}]{element['fields']}"
