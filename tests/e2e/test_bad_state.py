"""Commands that do not fit the program's state are refused, and the next one works."""

from __future__ import annotations

from pathlib import Path

import pytest

from debuggees import build_debuggee, find_marker, find_source
from refused_commands import check_refused

lldb = pytest.mark.adapter("lldb-dap")
python = pytest.mark.adapter("debugpy")
both = pytest.mark.parametrize(
    "language", [pytest.param("c", marks=lldb), pytest.param("py", marks=python)]
)
NEED_A_STOP = (
    "next",
    "step",
    "continue",
    "finish",
    "until 10",
    "locals",
    "args",
    "print 1",
    "eval 1",
    "set counter 3",
    "vars v1",
    "backtrace",
    "backtrace --all",
    "thread",
    "frame",
    "up",
    "down",
    "context",
    "source",
)
NEED_A_PROGRAM = (*NEED_A_STOP, "threads", "pause", "await", "raw help")
NEED_A_PROGRAM += ("input hello", "input --eof")
NEED_A_SESSION = (*NEED_A_PROGRAM, "break main", "status", "output", "events", "stop", "restart")
NEED_A_SESSION += ("breakpoint list", "breakpoint remove 1")


def program(name: str, language: str) -> Path:
    return build_debuggee(f"{name}.c") if language == "c" else find_source(f"{name}.py")


@both
def test_what_needs_a_stop_is_refused_while_the_program_runs(cli, language):
    cli("start", program("endless", language), "--no-wait", check=0)
    wrong = {"exit": 4, "code": "WRONG_STATE", "hint": "debugger pause"}
    for words in NEED_A_STOP:
        if (words, language) == ("print 1", "py"):
            continue  # Python answers beside the program's own threads
        check_refused(cli, *words.split(), **wrong, says="the program is running")
    assert cli("pause", check=0).out.startswith("stopped: pause")
    cli("locals", check=0)


@both
def test_a_pause_in_a_loop_stops_it_and_a_second_one_shows_the_same(cli, language):
    cli("start", program("endless", language), "--no-wait", check=0)
    assert cli("await", "--timeout", "0.2").exit == 3
    first = cli("pause", "--json", check=0).data["data"]
    assert first["reason"] == "pause"
    assert cli("pause", "--json", check=0).data["data"]["frame"] == first["frame"]


@python
def test_a_pause_of_a_program_that_sleeps_in_a_library_gives_up_by_itself(cli, tmp_path):
    path = tmp_path / "asleep.py"
    path.write_text("import time\nprint('asleep', flush=True)\ntime.sleep(60)\n")
    cli("start", path, "--timeout", "1")
    still = cli("pause", timeout=30)
    assert still.exit == 3, str(still)
    assert still.out.startswith("running: no stop within 10 s")


@both
def test_what_needs_a_program_is_refused_once_it_has_ended(cli, tmp_path, language):
    script = tmp_path / "short.py"
    script.write_text("print('done')\n")
    short = build_debuggee("loop.c") if language == "c" else script
    assert cli("start", short, check=0).out.startswith("exited: ")
    ended = {"exit": 4, "code": "PROGRAM_EXITED", "hint": "debugger restart"}
    for words in NEED_A_PROGRAM:
        check_refused(cli, *words.split(), **ended, says="the program has ended")
    assert "terminated" in cli("status", check=0).out
    assert cli("restart", check=0).out.startswith("exited: ")


def test_what_needs_a_session_says_how_to_begin_one(cli):
    none = {"exit": 4, "code": "NO_SESSION", "hint": "debugger start PROGRAM"}
    for words in NEED_A_SESSION:
        check_refused(cli, *words.split(), **none, says="no debug session")
    assert cli("sessions", check=0).out == "no sessions\n"


@both
def test_a_frame_thread_or_count_that_is_not_there_is_refused(cli, language):
    cli("start", program("loop", language), "--break", "calculate", check=0)
    missing = {"exit": 1, "code": "NOT_FOUND"}
    check_refused(
        cli, "frame", "99", **missing, says="no frame 99: there are", hint="debugger backtrace"
    )
    check_refused(
        cli, "frame", "-1", **missing, says="frames count from 0", hint="debugger backtrace"
    )
    check_refused(cli, "down", **missing, says="the innermost frame", hint="debugger up")
    check_refused(
        cli, "thread", "1234567", **missing, says="no thread 1234567", hint="debugger threads"
    )
    check_refused(cli, "backtrace", "--thread", "1234567", **missing, says="no thread 1234567")
    usage = {"exit": 2, "code": "USAGE"}
    for count in ("0", "-1", "99999999"):
        check_refused(
            cli, "next", count, **usage, says=f"cannot step {count} times", hint="debugger"
        )
        check_refused(
            cli, "step", count, **usage, says=f"cannot step {count} times", hint="debugger"
        )
    check_refused(cli, "next", "many", **usage, says="'many' is not a valid integer")
    check_refused(cli, "backtrace", "--limit", "0", **usage, says="--limit is 1 to")
    check_refused(cli, "context", "--context", "-1", **usage, says="--context is 0 to")
    for seconds in ("-1", "1e300", "inf", "nan"):
        check_refused(
            cli, "continue", "--timeout", seconds, **usage, says="--timeout is in seconds"
        )
    assert "calculate" in cli("context", check=0).out


@both
def test_up_goes_no_further_than_the_outermost_frame(cli, language):
    cli("start", program("loop", language), "--break", "calculate", check=0)
    last = cli("backtrace", "--json", check=0).data["data"]["frames"][-1]
    top = cli("up", "99", "--json", check=0).data["data"]
    assert top["frame"]["index"] == last["index"]
    assert cli("down", "99").exit == 1


@lldb
def test_up_from_the_outermost_frame_is_refused(cli):
    cli("start", build_debuggee("loop.c"), "--break", "calculate", check=0)
    cli("up", "99", check=0)
    missing = {"exit": 1, "code": "NOT_FOUND", "hint": "debugger backtrace"}
    check_refused(cli, "up", **missing, says="this is the outermost frame")


@python
def test_a_ref_of_an_earlier_stop_is_refused_and_an_unknown_one_too(cli):
    place = f"values.py:{find_marker('values.py', 'ready')}"
    cli("start", find_source("values.py"), "--break", place, check=0)
    ref = cli("print", "nested", "--json", check=0).data["data"]["ref"]
    assert "user" in cli("vars", ref, check=0).out
    for unknown in ("v999", "x", "v", "v1;v2"):
        check_refused(cli, "vars", unknown, exit=1, code="NOT_FOUND", says="no ref", hint="locals")
    for option, value in (("--count", "0"), ("--count", "-1"), ("--from", "-1")):
        check_refused(cli, "vars", ref, option, value, exit=2, code="USAGE", says="counts from 0")
    cli("next", check=0)
    stale = {"exit": 1, "code": "STALE_REF", "hint": "debugger locals"}
    check_refused(cli, "vars", ref, **stale, says="belonged to an earlier stop")


def test_a_process_that_does_not_exist_cannot_be_attached_to(cli):
    for pid in ("999999999", "-1", "0"):
        check_refused(cli, "attach", pid, exit=1, code="NOT_FOUND", says=f"no process {pid}")


@lldb
def test_a_program_that_ignores_sigterm_is_ended_all_the_same(cli, wait_until):
    cli("start", build_debuggee("ignores_term.c"), "--no-wait", check=0)
    pid = cli("status", "--json", check=0).data["data"]["pid"]
    assert Path(f"/proc/{pid}").is_dir()
    cli("stop", check=0)
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), what="the end of the program")


@lldb
def test_a_child_that_a_program_leaves_behind_is_ended_and_told(cli, wait_until):
    ended = cli("start", build_debuggee("forks.c"), check=0).out
    assert ended.startswith("exited: status 0")
    (note,) = [line for line in ended.splitlines() if line.startswith("note: ")]
    child = note.split()[-2]
    assert note == f"note: ended what the program left running: {child} (forks)"
    wait_until(lambda: not Path(f"/proc/{child}").exists(), what="the end of the child")
