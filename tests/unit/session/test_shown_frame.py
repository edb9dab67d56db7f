"""Which frame of a stop is shown."""

from debugger.model.program import Frame, Stack, Stopped, StopReason
from debugger.session.stop_report import users_frame


def _frame(index: int, file: str | None, *, is_subtle: bool = False) -> Frame:
    return Frame(
        handle=index, index=index, function=f"f{index}", file=file, line=1, is_subtle=is_subtle
    )


def test_a_fault_in_a_runtime_is_shown_in_the_innermost_frame_of_the_users_own(tmp_path):
    runtime = tmp_path / "go" / "pkg" / "mod" / "sema.go"
    own = tmp_path / "main.go"
    for one in (runtime, own):
        one.parent.mkdir(parents=True, exist_ok=True)
        one.write_text("package main\n")
    frames = (
        _frame(0, str(runtime), is_subtle=True),
        _frame(1, str(runtime)),
        _frame(2, str(own)),
    )
    stack = Stack(frames=frames, total=3)

    shown = users_frame(stack, Stopped(StopReason.EXCEPTION, "exception"), str(tmp_path))

    assert shown is not None
    assert shown.index == 2


def test_a_step_is_shown_where_it_ended(tmp_path):
    stack = Stack(frames=(_frame(0, None), _frame(1, __file__)), total=2)

    shown = users_frame(stack, Stopped(StopReason.STEP, "step"), str(tmp_path))

    assert shown is not None
    assert shown.index == 0
