"""A stack holds the program's frames only, in whatever window."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from debugger.backends.dap import dap_inspection
from debugger.backends.dap import messages as dap
from debugger.model.program import Stopped, StopReason


class Adapter:
    """An adapter with one stack, innermost first: `.` is the program's frame, `x` is not."""

    def __init__(self, stack: str, *, tells_total: bool = True) -> None:
        self.frames = [
            dap.DapStackFrame(id=at, name=f"{kind}{at}", line=1) for at, kind in enumerate(stack)
        ]
        self.tells_total = tells_total
        self.asked = 0

    async def send_request(self, _command, arguments, _body, **_):
        self.asked += 1
        start = arguments.start_frame or 0
        shown = self.frames[start : start + arguments.levels]
        total = len(self.frames) if self.tells_total else None
        return dap.StackTraceBody(stack_frames=tuple(shown), total_frames=total)


async def keep_names(_connection, frames):
    return frames


def outside(frame: dap.DapStackFrame) -> bool:
    return (frame.name or "").startswith("x")


async def names(adapter, start, levels):
    found = await dap_inspection.stack_window(adapter, outside, 1, start, levels)
    assert [one.index for one in found.frames] == list(range(start, start + len(found.frames)))
    return [one.function for one in found.frames], found.total


@pytest.mark.parametrize("stack", ["...xx", ".x.xx", "x.x", ".", "..x" + "x" * 50, "." * 60 + "xx"])
@pytest.mark.parametrize("levels", [1, 2, 20, 1000])
async def test_every_window_shows_the_same_stack(stack, levels):
    own = len(stack.rstrip("x"))
    wanted = [f"{kind}{at}" for at, kind in enumerate(stack)][:own]
    for start in range(len(stack) + 2):
        shown, total = await names(Adapter(stack), start, levels)
        assert (shown, total) == (wanted[start : start + levels], own), start


async def test_a_thread_that_has_none_of_the_programs_frames_is_somewhere_all_the_same():
    assert await names(Adapter("xxx"), 0, 20) == (["x0"], 1)
    assert await names(Adapter("xxx"), 1, 20) == ([], 1)
    assert await names(Adapter(""), 0, 20) == ([], 0)


async def test_the_end_is_asked_for_only_where_the_window_does_not_show_it():
    short, long = Adapter("...xx"), Adapter("." * 60 + "xx")
    await names(short, 0, 20)
    await names(long, 0, 20)
    assert (short.asked, long.asked) == (1, 2)


async def test_without_a_total_a_full_window_has_no_known_end():
    assert await names(Adapter("...xx", tells_total=False), 0, 3) == ([".0", ".1", ".2"], None)
    assert await names(Adapter("...xx", tells_total=False), 0, 20) == ([".0", ".1", ".2"], 3)


@pytest.mark.parametrize(("command", "count"), [("scopes", 1), ("evaluate", 2), ("goto", 2)])
async def test_a_stack_that_a_stop_was_judged_by_serves_until_it_may_have_changed(command, count):
    adapter = Adapter("...")
    read = dap_inspection.ProgramStacks(
        adapter,
        SimpleNamespace(
            has_outside_frames=False, handles_are_calls=False, name_functions=keep_names
        ),
    )
    stop = Stopped(StopReason.STEP, "step", thread=1)

    async def judge():
        await read.read_stack(1, 0, 20)
        read.note_request("evaluate")
        return stop

    read.note_stop(await read.await_filter(judge()))
    read.note_request(command)
    assert len((await read.read_stack(1, 0, 20)).frames) == 3
    assert adapter.asked == count
