"""Breakpoints by patterns of functions and by lists of arguments, where the debugger has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from debuggees import build, marker, source
from kits import where
from kits.kit import Kit
from live import Stack, stack

_CPP = str(source("overloads.cpp"))
_native_kits = where(lambda kit: kit.name in {"lldb-dap", "codelldb", "lldb-cli", "gdb", "frida"})


async def _start(ask: Stack, kit: Kit) -> None:
    line = f"{_CPP}:{marker('overloads.cpp', 'main')}"
    await ask.data("start", str(build("overloads.cpp")), *kit.words, "--break", line)


async def _functions(ask: Stack) -> list[str]:
    """Continue to the end; return the last names of the functions that it stopped in."""
    found: list[str] = []
    while (stop := await ask.data("continue"))["state"] == "stopped":
        found.append(stop["frame"]["function"].rpartition("::")[2])
        assert len(found) < 20, found
    return found


@pytest.mark.timeout(120)
@_native_kits
async def test_a_pattern_stops_in_each_of_its_functions_or_says_which_backend_can(
    kit: Kit, tmp_path: Path
):
    async with stack(tmp_path, tmp_path / "none.toml") as ask:
        await _start(ask, kit)
        set_ = await ask.data("break", "Shape::*")
        if kit.backend == "dap":
            assert "--backend frida and --backend lldb-cli do" in set_["why_unbound"]
            return
        assert list(set_["notes"]) == ["in 2 functions"]
        assert await _functions(ask) == ["one", "two"] * 2


@pytest.mark.timeout(120)
@_native_kits
async def test_an_overload_is_chosen_by_its_arguments(kit: Kit, tmp_path: Path):
    async with stack(tmp_path, tmp_path / "none.toml") as ask:
        await _start(ask, kit)
        await ask.data("break", "a::f(int)")
        assert await _functions(ask) == ["f", "f"]
