"""A hint after an end names a command that helps: what was attached to is not restarted."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.session.session_list import fit_hint

LAUNCH = LaunchTarget(program="/bin/true", cwd="/", env={})
ENDED = DebuggerError(ErrorCode.PROGRAM_EXITED, "it ended", hint="debugger restart runs it again")


def session(
    target: LaunchTarget | AttachTarget, *, pid: int | None = None, running: tuple[str, ...] = ()
) -> Any:
    others = [SimpleNamespace(name=name, is_live=True) for name in running]
    family = SimpleNamespace(tree_sessions=lambda _: others)
    return SimpleNamespace(target=target, pid=pid, family=family)


@pytest.mark.parametrize(
    ("target", "pid", "hint"),
    [
        (
            AttachTarget(pid=os.getpid(), cwd="/", env={}),
            os.getpid(),
            f"debugger attach {os.getpid()}",
        ),
        (AttachTarget(pid=999999999, cwd="/", env={}), 999999999, "debugger start PROGRAM"),
        (
            AttachTarget(pid=None, cwd="/", env={}, connect=("h", 1)),
            7,
            "debugger attach --connect h:1",
        ),
        (
            AttachTarget(pid=None, cwd="/", env={}, core="/core"),
            None,
            "debugger attach --core /core",
        ),
        (LAUNCH, 7, "debugger restart runs it again"),
    ],
    ids=["runs on", "has ended", "server", "core", "started by us"],
)
def test_after_an_end_the_hint_is_what_begins_again(
    target: LaunchTarget | AttachTarget, pid: int | None, hint: str
) -> None:
    found = fit_hint(ENDED, session(target, pid=pid), "next")
    assert hint in str(found.hint)
    assert (found.code, found.message) == (ENDED.code, ENDED.message)


def test_where_another_process_of_the_program_runs_the_hint_goes_there() -> None:
    found = fit_hint(ENDED, session(LAUNCH, running=("gunicorn.2",)), "next")
    assert found.hint == "debugger use gunicorn.2: it still runs"
    other = DebuggerError(ErrorCode.USAGE, "no", hint="debugger locals")
    assert fit_hint(other, session(LAUNCH, running=("gunicorn.2",)), "next") is other
