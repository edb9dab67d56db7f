"""Options of breakpoints that an adapter of the user's own does not claim are decided here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from debugger.backends.dap.breakpoint_sites import BreakpointSites
from debugger.backends.dap.messages import AdapterCapabilities
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.program import Frame, Stopped, StopReason


def make_sites(frame: Frame | None = None, *, is_own: bool = True, **claimed: bool) -> Any:
    async def read_stack(_thread: int, *, levels: int) -> Any:
        return SimpleNamespace(frames=[frame][:levels])

    adapter: Any = SimpleNamespace(
        name="own",
        claims_breakpoint_options=is_own,
        format_condition=lambda one: one.spec.condition,
    )
    backend: Any = SimpleNamespace(read_stack=read_stack)
    return BreakpointSites(backend, adapter, lambda _: None, lambda: AdapterCapabilities(**claimed))


async def fill(text: str, _frame: Frame) -> str:
    return text


@pytest.mark.parametrize(
    ("option", "capability"),
    [
        ({"condition": "n > 1"}, "supports_conditional_breakpoints"),
        ({"log": "{n}"}, "supports_log_points"),
    ],
)
def test_a_site_is_filtered_where_an_option_is_not_claimed(
    option: dict[str, Any], capability: str
) -> None:
    given = [Breakpoint(1, BreakpointSpec(file="/a.x", line=3, **option))]
    plain = [Breakpoint(1, BreakpointSpec(file="/a.x", line=3))]
    sites = make_sites()
    assert sites.is_filtered(given)
    assert sites.breakpoint_to_send(given) == plain[0]
    assert not sites.is_filtered(plain)
    claiming = make_sites(**{capability: True})
    assert not claiming.is_filtered(given)
    assert claiming.breakpoint_to_send(given) == given[0]
    assert not make_sites(is_own=False).is_filtered(given)  # known from trying


def test_hit_counts_are_decided_here_whatever_the_adapter_claims() -> None:
    given = [Breakpoint(1, BreakpointSpec(file="/a.x", line=3, hit_count=2))]
    claiming = make_sites(supports_hit_conditional_breakpoints=True)
    assert claiming.is_filtered(given)
    assert claiming.breakpoint_to_send(given).spec.hit_count is None
    assert not make_sites(is_own=False).is_filtered(given)


@pytest.mark.parametrize(
    ("path", "is_due"),
    [("/a/cart.rb", True), ("/a/order.rb", False), ("jar:/lib/cart.rb", True), (None, False)],
)
async def test_a_function_of_a_file_is_none_of_another_file(path: str | None, is_due: bool) -> None:
    sites = make_sites(Frame(0, "add", 0, path, 2), is_own=False)
    spec = BreakpointSpec(file="/a/cart.rb", function="add")
    one = Breakpoint(1, spec, at=spec)
    [bound] = sites.to_member_bounds([one], BoundBreakpoint(verified=True, backend_id=7))
    stop = Stopped(StopReason.BREAKPOINT, "breakpoint", 1, hits=(7,))
    filtered = await sites.filter_stop(stop, fill)
    assert (filtered.hits if filtered else ()) == ((bound.backend_id,) if is_due else ())


@pytest.mark.parametrize(
    ("function", "line", "found"),
    [("main", 3, [7]), ("Shop.Price", 9, [8]), ("Shop.Price(Item, int)", 9, [8]), ("other", 9, [])],
)
async def test_a_stop_that_names_no_breakpoint_is_attributed_by_its_location(
    function: str, line: int, found: list[int]
) -> None:
    sites = make_sites(Frame(0, function, 0, "/a.x", line))
    at_line = Breakpoint(1, BreakpointSpec(file="/a.x", line=3))
    in_function = Breakpoint(2, BreakpointSpec(function="Price"))
    sites.note_bounds("/a.x", [at_line], [BoundBreakpoint(verified=True, backend_id=7)])
    sites.note_bounds("", [in_function], [BoundBreakpoint(verified=True, backend_id=8)])
    stop = Stopped(StopReason.BREAKPOINT, "breakpoint", 1)
    assert list((await sites.complete_hits(stop)).hits) == found
    step = Stopped(StopReason.STEP, "step", 1)
    assert (await sites.complete_hits(step)).hits == ()


async def test_a_breakpoint_without_a_number_gets_one() -> None:
    sites = make_sites(Frame(0, "main", 0, "/a.x", 4))
    known = Breakpoint(1, BreakpointSpec(file="/a.x", line=3))
    [bound] = sites.note_bounds("/a.x", [known], [BoundBreakpoint(verified=True, line=4)])
    assert bound.backend_id is not None
    stop = await sites.complete_hits(Stopped(StopReason.BREAKPOINT, "breakpoint", 1))
    assert stop.hits == (bound.backend_id,)
