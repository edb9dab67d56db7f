"""Finds what the functions returned that a computed value of Go calls, in the records of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from debugger.questions.why import go_chain, go_expressions, go_values
from debugger.questions.why.go_run import GoRecord
from debugger.questions.why.go_source import GoSources, SiteKind
from debugger.questions.why.guilty_factor import find_guilty_factor

_SHOWN = 4


class CalledPart(Struct, frozen=True):
    """A call in an expression, and the `return` that gave its value."""

    text: str
    returned: GoRecord
    # As far as the line of the `return` shows it.
    value: str | None

    def describe(self) -> str:
        """Return the line for the link of the computed value."""
        site = self.returned.site
        names = go_expressions.paths_in(site.values[0]) if site.values else ()
        known = [(one, go_values.plain_value(self.returned.values.get(one))) for one in names]
        shown = ", ".join(f"{name}={value}" for name, value in known[:_SHOWN] if value is not None)
        place = f"{Path(site.file).name}:{site.line}"
        text = f"in it {site.function.name} returned {place}: {site.statement}"
        return f"{text}  [{shown}]" if shown else text


def find_called_parts(
    sources: GoSources, records: Sequence[GoRecord], record: GoRecord | None, text: str, before: int
) -> list[CalledPart]:
    """Return the calls of an expression whose `return` was recorded, in their order."""
    calls = sources.program_calls(text) if record is not None else []
    if record is None or not calls:
        return []
    before = go_chain.end_of_call(records, record, before)
    found: list[CalledPart] = []
    for name in dict.fromkeys(map(go_expressions.called_name, calls)):
        mine = [one for one in calls if go_expressions.called_name(one) == name]
        functions = sources.functions_named(name)
        inner = [
            one
            for one in records
            if one.site.kind is SiteKind.RETURN
            and one.site.function in functions
            and one.goroutine == record.goroutine
            and record.sequence < one.sequence < before
            and one.depth > record.depth
        ]
        outermost = min((one.depth for one in inner), default=0)
        returns = [one for one in inner if one.depth == outermost][-len(mine) :]
        # Of calls that were left out, as behind `&&`, it is not known which one returned.
        if len(returns) == len(mine):
            found += [
                CalledPart(call, one, returned_value(one))
                for call, one in zip(mine, returns, strict=True)
            ]
    return sorted(found, key=lambda one: one.returned.sequence)


def returned_value(record: GoRecord) -> str | None:
    """Return the value of a function's only result, as far as its `return` shows it."""
    if len(record.site.values) != 1:
        return None
    side = go_expressions.classify_value(record.site.values[0])
    if side.kind == "constant":
        return side.text
    value = go_values.plain_value(record.values.get(side.text.lstrip("*&")))
    return value or go_values.sum_of(side.text, record.values)


def choose_part(
    parts: Sequence[CalledPart], text: str, read: Mapping[str, str], result: str | None
) -> CalledPart | None:
    """Return the call that alone explains a computed value: no operand beside it, or by its value.

    Args:
        parts: The calls in it.
        text: The expression.
        read: The values of its other operands.
        result: Its value.
    """
    plain = without_calls(text, parts)
    names = go_expressions.paths_in(plain)
    if len(parts) == 1 and len(names) == 1:
        return parts[0]
    values = dict(read)
    values |= {f"call{at}": one.value for at, one in enumerate(parts) if one.value is not None}
    guilty = find_guilty_factor(plain, values, result or "")
    return next((one for at, one in enumerate(parts) if guilty == f"call{at}"), None)


def only_return(parts: Sequence[CalledPart], text: str) -> GoRecord | None:
    """Return the `return` of a call by its text; None where that is not one of the parts."""
    found = [one.returned for one in parts if one.text == text]
    return found[0] if len(found) == 1 else None


def index_values(path: str, record: GoRecord | None) -> dict[str, str]:
    """Return the values of the indexes and keys of a path, as far as a record has them."""
    found: dict[str, str] = {}
    for one in go_expressions.split_path(path) if record is not None else ():
        element = go_expressions.split_element(one)
        if element is None or record is None:
            continue
        base, key = element
        length = record.lengths.get(base)
        if key in record.values:
            found[key] = record.values[key]
        elif length is not None and key.replace(" ", "") == f"len({base})-1":
            found[key] = str(length - 1)
    return found


def with_known_index(suffix: str, indexes: Mapping[str, str]) -> str:
    """Return the rest of a path with the value of the index or key that it begins with."""
    at = re.match(r"\[([^\[\]]*)\]", suffix)
    value = indexes.get(at[1]) if at is not None else None
    return f"[{value}]{suffix[at.end() :]}" if at is not None and value is not None else suffix


def other_names(text: str, parts: Sequence[CalledPart]) -> list[str]:
    """Return the operands of an expression beside the calls in it."""
    own = {f"call{at}" for at in range(len(parts))}
    return [one for one in go_expressions.paths_in(without_calls(text, parts)) if one not in own]


def without_calls(text: str, parts: Sequence[CalledPart]) -> str:
    """Return an expression with a name in place of each call."""
    for at, one in enumerate(parts):
        text = text.replace(one.text, f"call{at}", 1)
    return text
