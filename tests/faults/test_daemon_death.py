"""The daemon dies or is ended: reported, nothing left, the next command works."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from debugger.daemon import transport
from fakes import toy_handler


def _pid(runtime_dir: Path) -> int:
    return int(json.loads((runtime_dir / "daemon.json").read_text())["pid"])


def _kill(runtime_dir: Path, number: int) -> None:
    """Signal the daemon, and wait for its end by the end of a connection."""
    connection = transport.connect_daemon(str(runtime_dir))
    assert connection is not None
    os.kill(_pid(runtime_dir), number)
    assert connection.receive_line(toy_handler.PATIENCE_S) is None
    connection.close()


def test_a_killed_daemon_is_noted_once_with_what_was_lost(runtime_dir: Path):
    toy_handler.run_client("open", "app")
    pid = _pid(runtime_dir)
    _kill(runtime_dir, signal.SIGKILL)
    assert toy_handler.list_files(runtime_dir) == {"daemon.sock", "daemon.json"}
    ran = toy_handler.run_client("echo", "on")
    assert ran.stdout == "on\n"
    note = f"note: the daemon (pid {pid}) died; lost: session app (./app, pid 123)\n"
    assert ran.stderr == note
    assert toy_handler.run_client("echo").stderr == ""
    assert _pid(runtime_dir) != pid


def test_a_fault_of_the_interpreter_leaves_its_stacks_in_the_log(runtime_dir: Path):
    toy_handler.run_client("echo")
    _kill(runtime_dir, signal.SIGSEGV)
    log = (runtime_dir / "daemon.log").read_text()
    assert "Fatal Python error: Segmentation fault" in log
    assert "base_events.py" in log


def test_a_killed_daemon_without_a_session_lost_nothing(runtime_dir: Path):
    toy_handler.run_client("echo")
    _kill(runtime_dir, signal.SIGKILL)
    assert "it held no session" in toy_handler.run_client("echo").stderr


def test_of_many_clients_one_tells_of_the_death(runtime_dir: Path):
    toy_handler.run_client("open", "app")
    _kill(runtime_dir, signal.SIGKILL)
    ended = [
        toy_handler.wait_client(client)
        for client in [toy_handler.start_client("pid") for _ in range(8)]
    ]
    assert {code for code, _, _ in ended} == {0}
    assert len({out for _, out, _ in ended}) == 1
    assert sum("lost: session app" in err for _, _, err in ended) == 1


def test_a_daemon_that_dies_at_work_is_an_error_that_names_the_losses(runtime_dir: Path):
    toy_handler.run_client("open", "app")
    ran = toy_handler.run_client("die", check=1)
    assert ran.stdout == "dying\n"
    assert ran.stderr.startswith(
        "error: the daemon died while it ran 'die'; lost: session app (./app, pid 123)\nhint: "
    )
    assert toy_handler.run_client("echo", "on").stdout == "on\n"


def test_a_daemon_that_dies_at_work_is_an_error_in_json_too(runtime_dir: Path):
    toy_handler.run_client("echo")
    last = toy_handler.run_client("die", "--json", check=1).stdout.splitlines()[-1]
    assert json.loads(last)["error"]["code"] == "INTERNAL"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_daemon_told_to_end_leaves_nothing(runtime_dir: Path, number: int):
    toy_handler.run_client("open", "app")
    _kill(runtime_dir, number)
    assert not toy_handler.list_files(runtime_dir)
    assert toy_handler.run_client("echo").stderr == ""


def test_a_command_running_when_the_daemon_is_told_to_end_gets_its_answer(runtime_dir: Path):
    running = toy_handler.start_client("hang")
    assert toy_handler.read_line(running) == "waiting\n"
    os.kill(_pid(runtime_dir), signal.SIGTERM)
    code, _, err = toy_handler.wait_client(running)
    assert code == 4
    assert "the daemon was stopped" in err


def test_an_idle_daemon_ends_and_the_next_command_starts_another(
    runtime_dir: Path, monkeypatch: pytest.MonkeyPatch, wait_until: Callable[..., None]
):
    monkeypatch.setenv("TOY_IDLE_S", "0.05")
    first = toy_handler.run_client("pid").stdout
    wait_until(lambda: not toy_handler.list_files(runtime_dir), what="the idle daemon's end")
    ran = toy_handler.run_client("pid")
    assert ran.stdout != first
    assert ran.stderr == ""


def test_commands_that_meet_an_ending_daemon_are_served_by_the_next(
    runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOY_IDLE_S", "0.001")
    ended = []

    def ask_often() -> None:
        ended.extend(toy_handler.run_client("echo", "on", check=None) for _ in range(6))

    threads = [threading.Thread(target=ask_often) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(toy_handler.PATIENCE_S * 2)
    assert len(ended) == 18
    assert {(ran.returncode, ran.stdout, ran.stderr) for ran in ended} == {(0, "on\n", "")}


def test_leftovers_that_nobody_wrote_are_cleaned_away(runtime_dir: Path):
    (runtime_dir / "daemon.json").write_text("not json")
    (runtime_dir / "daemon.sock").write_text("not a socket")
    ran = toy_handler.run_client("echo", "on")
    assert (ran.stdout, ran.stderr) == ("on\n", "")
