"""Breakpoints at one location stand beside each other, whatever the debugger keeps of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapter_specs import with_real_specs
from adapter_specs.adapter_spec import AdapterSpec
from driven_backend import DaemonStack, open_stack


async def _stops(ask: DaemonStack) -> list[tuple[int, ...]]:
    """Continue to the end; return what each stop was for."""
    found: list[tuple[int, ...]] = []
    for _ in range(8):
        stop = await ask.data("continue")
        if stop["state"] != "stopped":
            return found
        found.append(tuple(stop["hit_breakpoints"]))
    raise AssertionError(f"it stopped too often: {found}")


async def _begun(ask: DaemonStack, adapter_spec: AdapterSpec) -> str:
    """Start the loop and stop before its turns; return the line where all of them are to be."""
    loop = adapter_spec.loop()
    started = await ask.data(
        "start",
        loop.program,
        *adapter_spec.words,
        "--break",
        f"{adapter_spec.file}:{adapter_spec.call_line}",
    )
    assert started["hit_breakpoints"] == [1] or started["hit_breakpoints"] == (1,)
    await ask.data("breakpoint", "remove", "1")
    return f"{adapter_spec.file}:{adapter_spec.stop_line}"


async def _hits(ask: DaemonStack) -> dict[int, int]:
    listed: Any = (await ask.data("breakpoint", "list"))["breakpoints"]
    return {one["id"]: one["hits"] for one in listed}


@pytest.mark.timeout(120)
@with_real_specs
async def test_each_of_several_breakpoints_at_a_line_stops_logs_and_counts_by_itself(
    adapter_spec: AdapterSpec, tmp_path: Path
):
    async with open_stack(tmp_path, tmp_path / "none.toml") as ask:
        line = await _begun(ask, adapter_spec)
        await ask.data("break", line)
        await ask.data("log", line, f"now {{{adapter_spec.variable}}}")
        await ask.data("break", line, "-c", adapter_spec.condition(1))
        await ask.data("break", line, "-c", adapter_spec.condition(3))
        await ask.data("break", line, "--hit-count", "3")
        again = await ask.data("break", line)
        assert (again["id"], list(again["notes"])) == (2, ["it was set already"])
        assert await _stops(ask) == [(2,), (2, 4), (2, 6), (2, 5, 6), (2, 6)]
        logged = (await ask.data("events", "--kind", "logpoint"))["events"]
        turns = range(adapter_spec.first, adapter_spec.first + 5)
        assert [one["text"] for one in logged] == [f"now {turn}" for turn in turns]
        assert await _hits(ask) == {2: 5, 3: 5, 4: 1, 5: 1, 6: 5}


@pytest.mark.timeout(120)
@with_real_specs
async def test_a_function_and_its_line_both_stop_and_one_removed_leaves_the_other(
    adapter_spec: AdapterSpec, tmp_path: Path
):
    async with open_stack(tmp_path, tmp_path / "none.toml") as ask:
        await _begun(ask, adapter_spec)
        named = f"{adapter_spec.file}:{adapter_spec.inner}"
        function = await ask.data("break", named, "-c", adapter_spec.condition(2))
        if not function["verified"]:
            pytest.skip(str(function["why_unbound"]))
        at = await ask.data("continue")
        assert tuple(at["hit_breakpoints"]) == (2,)
        line = f"{at['frame']['file']}:{at['frame']['line']}"
        await ask.data("break", line)
        await ask.data("log", line, "passed")
        stop = await ask.data("continue")
        assert tuple(stop["hit_breakpoints"]) == (3,)
        await ask.data("breakpoint", "remove", "3")
        await ask.data("break", adapter_spec.inner)
        await ask.data("breakpoint", "remove", "2")
        assert await _stops(ask) == [(5,)]
        assert (await _hits(ask))[4] == 2


@pytest.mark.timeout(120)
@with_real_specs
async def test_a_step_passes_breakpoints_that_are_not_due(
    adapter_spec: AdapterSpec, tmp_path: Path
):
    """A step over a call, and one out of it, end where they do without them; none is counted."""
    async with open_stack(tmp_path, tmp_path / "none.toml") as ask:
        line = await _begun(ask, adapter_spec)
        await ask.data("break", line, "-c", adapter_spec.condition(98))
        await ask.data("break", line, "-c", adapter_spec.condition(99))
        await ask.data("break", line, "--hit-count", "50")
        over = await ask.data("next")
        assert (over["reason"], over["frame"]["function"]) == ("step", adapter_spec.outer)
        while (inner := await ask.data("step"))["frame"]["function"] != adapter_spec.inner:
            pass
        again = await ask.data("next")
        assert [tuple(one["hit_breakpoints"]) for one in (over, inner, again)] == [(), (), ()]
        assert (await ask.data("finish"))["frame"]["function"] == adapter_spec.outer
        assert await _hits(ask) == {2: 0, 3: 0, 4: 0}
