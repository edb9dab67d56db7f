"""Which call of a library a member waits in, by its stack."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.questions.group.laggards import judge_waits
from debugger.questions.group.member_threads import find_own_call
from debugger.questions.group.member_wait import FAILED, SILENT, MemberWait

LIBRARY = "/usr/lib/python3/dist-packages/torch/distributed"
THREADING = "/usr/lib/python3.11/threading.py"


@pytest.mark.parametrize(
    ("inner", "call"),
    [
        ([("Condition.wait", THREADING, 3), ("Barrier.wait", THREADING, 9)], "Barrier.wait"),
        # torch.distributed puts a wrapper around each of its functions.
        (
            [
                ("all_reduce", f"{LIBRARY}/distributed_c10d.py", 5),
                ("_exception_logger.wrapper", f"{LIBRARY}/c10d_logger.py", 7),
            ],
            "all_reduce",
        ),
        (
            [
                ("__sched_yield", None, None),
                ("opal_progress", None, None),
                ("PMPI_Barrier", None, None),
            ],
            "PMPI_Barrier",
        ),
        ([], ""),
    ],
)
def test_a_member_waits_in_the_call_of_its_innermost_own_line(
    tmp_path: Path, inner: list[tuple[str, str | None, int | None]], call: str
) -> None:
    file = tmp_path / "train.py"
    file.write_text("def step():\n    meet()\n")
    stack = [*inner, ("Trainer.step", str(file), 2), ("main", str(file), 9)]
    place, found = find_own_call(stack, str(tmp_path))
    assert place is not None
    assert (place.function, place.line, place.text, found) == ("step", 2, "meet()", call)


def test_a_stack_without_own_code_has_the_innermost_function_only() -> None:
    assert find_own_call([("poll", "/usr/lib/python3.11/selectors.py", 1)], "/job") == (
        None,
        "poll",
    )
    assert find_own_call([], "/job") == (None, "")


@pytest.mark.parametrize(
    ("script", "place"),
    [("/venv/bin/celery", None), ("/job/bin/train.py", "<module>"), ("/job/train", "<module>")],
)
def test_the_script_of_an_installed_command_is_no_own_code(script: str, place: str | None) -> None:
    stack = [("poll", "/usr/lib/python3.11/selectors.py", 1), ("<module>", script, 8)]
    found, call = find_own_call(stack, "/job")
    assert (found.function if found else None, call) == (place, "poll")


def test_members_without_a_line_are_apart_by_how_they_ended_and_why_they_do_not_answer() -> None:
    details = [
        (FAILED, "ended by SIGKILL"),
        (FAILED, "ended with status 3"),
        (SILENT, "h2: the connection was refused"),
        (SILENT, "no answer within 6 s"),
        (SILENT, "no answer within 6 s"),
    ]
    waits = [MemberWait(str(at), kind, detail=why) for at, (kind, why) in enumerate(details)]
    rows = {(one.kind, one.detail): one.members for one in judge_waits(waits).rows}
    assert rows == {
        (FAILED, "ended by SIGKILL"): ("0",),
        (FAILED, "ended with status 3"): ("1",),
        (SILENT, "h2: the connection was refused"): ("2",),
        (SILENT, "no answer within 6 s"): ("3", "4"),
    }
