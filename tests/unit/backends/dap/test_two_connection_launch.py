"""A process that waits for its debugger goes on whenever it gets none."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from debugger.backends.base import ClosedBackend, LaunchTarget
from debugger.backends.dap import two_connection_launch
from debugger.backends.dap.two_connection_launch import ForkedChildren

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")


def state(pid: int) -> str:
    """Return a process's state, as proc_pid_stat(5) has it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.fixture(name="waiting")
def _waiting(wait_until: Any) -> Iterator[Callable[[], int]]:
    made: list[subprocess.Popen[bytes]] = []

    def make() -> int:
        process = subprocess.Popen(["sleep", "60"])
        made.append(process)
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: state(process.pid) == "T", what="a stopped process")
        return process.pid

    yield make
    for process in made:
        process.kill()
        process.wait()


def test_a_process_waits_until_its_adapter_is_closed(waiting: Any, wait_until: Any) -> None:
    forks, pid = ForkedChildren(), waiting()
    held = forks.hold_child(pid)
    assert held is not None
    assert state(pid) == "T"
    forks.release_child(held)
    forks.release_child(held)
    wait_until(lambda: state(pid) == "S", what="its going on")


def test_too_many_at_once_go_on_and_leave_room_when_they_end(
    waiting: Any, wait_until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(two_connection_launch, "AT_ONCE", 1)
    forks, first, second = ForkedChildren(), waiting(), waiting()
    held = forks.hold_child(first)
    assert held is not None
    assert forks.hold_child(second) is None
    wait_until(lambda: state(second) == "S", what="its going on")
    forks.release_child(held)
    third = forks.hold_child(waiting())
    assert third is not None
    forks.release_child(third)


def test_too_many_altogether_go_on(
    waiting: Any, wait_until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(two_connection_launch, "ALTOGETHER", 1)
    forks, first = ForkedChildren(), waiting()
    held = forks.hold_child(first)
    assert held is not None
    forks.release_child(held)
    wait_until(lambda: state(first) == "S", what="its going on")
    second = waiting()
    assert forks.hold_child(second) is None
    wait_until(lambda: state(second) == "S", what="its going on")


def test_one_that_has_ended_is_not_held() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert ForkedChildren().hold_child(process.pid) is None


@pytest.mark.parametrize("is_taken", [True, False])
async def test_closing_kills_only_what_the_adapter_holds(
    waiting: Any, wait_until: Any, *, is_taken: bool
) -> None:
    forks, pid, asked = ForkedChildren(), waiting(), []

    async def close(*, kill: bool) -> ClosedBackend:
        asked.append(kill)
        raise OSError

    held = forks.hold_child(pid)
    assert held is not None
    held.is_taken = is_taken
    with pytest.raises(OSError):  # noqa: PT011 - its own, without words
        await held.close_function(close)(kill=True)
    assert asked == [is_taken]
    wait_until(lambda: state(pid) == "S", what="its going on")


def test_it_is_attached_to_as_its_parent_was_launched(waiting: Any, tmp_path: Path) -> None:
    forks, pid = ForkedChildren(), waiting()
    held = forks.hold_child(pid)
    assert held is not None
    target = held.attach_target(LaunchTarget("/bin/true", cwd="/tmp", env={"A": "b"}))
    assert (target.pid, target.cwd, target.env, target.pause) == (pid, "/tmp", {"A": "b"}, False)
    assert held.make_scratch(tmp_path).parent == tmp_path
    forks.release_child(held)


def test_a_process_that_cannot_be_watched_goes_on(
    waiting: Any, wait_until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_pid: int) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    pid = waiting()
    assert ForkedChildren().hold_child(pid) is None
    wait_until(lambda: state(pid) == "S", what="its going on")
