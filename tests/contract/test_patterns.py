"""Breakpoints by patterns of functions and by lists of arguments, where the debugger has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapter_specs import with_specs_where
from adapter_specs.adapter_spec import AdapterSpec
from debuggees import build_debuggee, find_marker, find_source
from driven_backend import DaemonStack, open_stack

_CPP = str(find_source("overloads.cpp"))
_native_specs = with_specs_where(
    lambda adapter_spec: adapter_spec.name in {"lldb-dap", "codelldb", "lldb-cli", "gdb", "frida"}
)


async def _start(ask: DaemonStack, adapter_spec: AdapterSpec) -> None:
    line = f"{_CPP}:{find_marker('overloads.cpp', 'main')}"
    await ask.data(
        "start", str(build_debuggee("overloads.cpp")), *adapter_spec.words, "--break", line
    )


async def _functions(ask: DaemonStack) -> list[str]:
    """Continue to the end; return the last names of the functions that it stopped in."""
    found: list[str] = []
    while (stop := await ask.data("continue"))["state"] == "stopped":
        found.append(stop["frame"]["function"].rpartition("::")[2])
        assert len(found) < 20, found
    return found


@pytest.mark.timeout(120)
@_native_specs
async def test_a_pattern_stops_in_each_of_its_functions_or_says_which_backend_can(
    adapter_spec: AdapterSpec, tmp_path: Path
):
    async with open_stack(tmp_path, tmp_path / "none.toml") as ask:
        await _start(ask, adapter_spec)
        set_ = await ask.data("break", "Shape::*")
        if adapter_spec.backend == "dap":
            assert "--backend frida and --backend lldb-cli do" in set_["why_unbound"]
            return
        assert list(set_["notes"]) == ["in 2 functions"]
        assert await _functions(ask) == ["one", "two"] * 2


@pytest.mark.timeout(120)
@_native_specs
async def test_an_overload_is_chosen_by_its_arguments(adapter_spec: AdapterSpec, tmp_path: Path):
    async with open_stack(tmp_path, tmp_path / "none.toml") as ask:
        await _start(ask, adapter_spec)
        await ask.data("break", "a::f(int)")
        assert await _functions(ask) == ["f", "f"]
