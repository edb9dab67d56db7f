"""Expressions that LLDB and gdb cannot evaluate themselves are evaluated by what they show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from adapter_specs import with_specs_where
from adapter_specs.adapter_spec import AdapterSpec, native_program
from debuggees import find_marker, find_source
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import Stopped

_OF_CPP: Mapping[str, str] = {
    "parcels.size()": "3",
    "parcels[1].name": '"ice"',
    # A member of a base class.
    "parcels[1].number": "2",
    "parcels.back().name": '"jam"',
    'by_name["tea"].tags[0]': '"hot"',
    'by_name.at("ice").price': "5",
    'by_name.count("oil")': "0",
    # The key, and not the position.
    "rates[2]": "2.5",
    "owned->price": "3",
    "maybe.value()": "4",
    "*maybe + 1": "5",
    'parcels[0].name == "tea" && parcels.size() > 2': "true",
    "grid[1][2]": "6",
    # Without the nuls behind the text.
    "label": r'"a \\000"',
}
_OF_RUST: Mapping[str, str] = {
    "parcels.len()": "3",
    "parcels[1].name": '"ice"',
    "parcels.last().name": '"jam"',
    'by_name["tea"].tags[0]': '"hot"',
    'by_name.contains_key("oil")': "false",
    "rates[&7]": "7.5",
    "rates[2]": "2.5",
    "maybe.unwrap()": "4",
    "nothing.is_none()": "true",
    "parcels[2].price - 2 * parcels[0].price": "1",
    "parcels[0].price as f64 / 2.0": "1.5",
    'parcels[0].name.starts_with("t")': "true",
    "pair.1": "2",
}
_REFUSED: Mapping[str, str] = {
    "parcels[9].name": r"no element \[9\]: there are 3 elements",
    "parcels[1].weight": "has no member 'weight'; it has name, price, tags|it has .*name",
    'by_name["oil"]': 'no key "oil": there are 3 elements',
}
_natives = with_specs_where(
    lambda adapter_spec: adapter_spec.name in {"lldb-dap", "codelldb", "lldb-cli", "gdb"}
)


@_natives
@pytest.mark.parametrize(
    ("name", "values", "condition"),
    [
        ("parcels.cpp", _OF_CPP, 'parcel.name == "jam" && parcels.size() == 3'),
        ("parcels.rs", _OF_RUST, 'parcel.name == "jam" && parcels.len() == 3'),
    ],
)
async def test_containers_texts_and_methods_of_the_language_are_evaluated(
    adapter_spec: AdapterSpec,
    drive_backend: Callable[[AdapterSpec], Any],
    name: str,
    values: Mapping[str, str],
    condition: str,
):
    file = str(find_source(name))
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(
            native_program(name)(Path()),
            BreakpointSpec(file=file, line=find_marker(name, "sum"), condition=condition),
        )
        # The third of three: the condition was false at two.
        assert await one.value(stop, "sum") == "8"
        await one.add(BreakpointSpec(file=file, line=find_marker(name, "here")))
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        shown = {expression: await one.value(stop, expression) for expression in values}
        assert shown == values
        frame = await one.frame(stop)
        for expression, says in _REFUSED.items():
            with pytest.raises(DebuggerError, match=says):
                await one.value(stop, expression)
        now = await one.backend.assign_value("parcels[1].price", "9", frame)
        assert now.value == "9"
        assert await one.value(stop, "parcels[1].price") == "9"
