"""Debugging from inside the program, by the commands alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli_commands import answer_data, marked_location, print_value
from debuggees import build_debuggee, find_source, program_text
from live_engine import PROGRAMS
from refused_commands import check_refused
from running_programs import process_state, run_program

pytestmark = [
    pytest.mark.adapter("frida"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it is for Linux"),
]
Cli = Callable[..., Any]
FRIDA = ("--backend", "frida")
# It ends with 6 where its input ends.
_READS = """
#include <unistd.h>
int main(void) {
    char one;
    while (read(0, &one, 1) == 1) {}
    return 6;
}
"""
# Two threads that pass the same line, each three times.
_PAIR = program_text("counted_lines/frida_pair.c")


# A line of two places, of which each is passed once a turn.
_TWICE = """
#include <cstdio>
template <class T> __attribute__((noinline)) T twice(T x) {
    return x + x; // @twice
}
int main() {
    double sum = 0;
    for (int i = 0; i < 10; i++) {
        sum += twice(i);
        sum += twice(i + 0.5);
    }
    printf("%g\\n", sum);
    return 0;
}
"""


def compiled(folder: Path, text: str, *flags: str, name: str = "own.c") -> Path:
    file, program = folder / name, folder / Path(name).stem
    file.write_text(text)
    subprocess.run(["gcc", "-g", "-pthread", *flags, file, "-o", program], check=True, timeout=60)
    return program


def begin(cli: Cli, program: str | Path, *words: str, check: int = 0) -> dict[str, Any]:
    return answer_data(cli("--json", "start", program, *FRIDA, *words, check=check))


def go_on(cli: Cli, *words: str) -> dict[str, Any]:
    return answer_data(cli("--json", "continue", *words, check=0))


@pytest.mark.parametrize(
    ("how", "signal_name", "code"),
    [("3", None, 3), ("segv", "SIGSEGV", None), ("abort", "SIGABRT", None)],
)
def test_the_end_is_told_as_it_is_without_us(
    cli: Cli, how: str, signal_name: str | None, code: int | None
):
    told = begin(cli, build_debuggee("exits.c"), "--", how)
    if signal_name is not None:
        assert (told["reason"], told["signal"]) == ("signal", signal_name)
        assert any(frame["function"] == "main" for frame in told["stack"])
        told = go_on(cli)
    assert (told["reason"], told["exit_code"], told["signal"]) == ("exit", code, signal_name)


def test_a_signal_that_is_not_caught_ends_the_program(cli: Cli):
    told = begin(cli, build_debuggee("exits.c"), "--", "term")
    assert (told["reason"], told["signal"]) == ("exit", "SIGTERM")


def test_what_cannot_be_entered_is_refused(cli: Cli, tmp_path: Path):
    static = compiled(tmp_path, find_source("loop.c").read_text(), "-static", name="static.c")
    words = {"exit": 1, "code": "NOT_SUPPORTED"}
    check_refused(cli, "start", static, *FRIDA, **words, says="statically", hint="--adapter gdb")
    check_refused(
        cli, "start", tmp_path / "nothing", *FRIDA, exit=1, code="LAUNCH_FAILED", says="nothing"
    )
    says = "it is a python program"
    check_refused(
        cli, "start", find_source("loop.py"), *FRIDA, **words, says=says, hint="--backend dap"
    )
    check_refused(
        cli,
        *("start", build_debuggee("loop.c"), *FRIDA, "--adapter", "gdb"),
        exit=2,
        code="USAGE",
        says="gdb",
        hint="--adapter frida",
    )


def test_a_place_without_code_names_the_lines_that_have_some(cli: Cli):
    told = begin(
        cli,
        build_debuggee("loop.c"),
        "--break",
        marked_location("loop.c", "step"),
        "--break",
        "calculat",
    )
    assert told["reason"] == "breakpoint"
    added = answer_data(cli("--json", "break", f"{find_source('loop.c')}:3", check=0))
    assert not added["verified"]
    assert added["nearest_lines"] == [5, 6]
    assert "no code at loop.c:3" in added["why_unbound"]
    listed = answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"]
    unbound = next(one for one in listed if one["function"] == "calculat")
    assert unbound["near_names"] == ["calculate"]


def test_without_debug_information_functions_are_still_found(cli: Cli, tmp_path: Path):
    program = tmp_path / "bare"
    shutil.copy(build_debuggee("loop.c"), program)
    subprocess.run(["strip", "-g", program], check=True, timeout=60)
    told = begin(cli, program, "--break", "calculate", "--break", marked_location("loop.c", "step"))
    assert told["frame"]["function"] == "calculate"
    assert any("no debug information" in note for note in told["notes"])


@pytest.mark.parametrize("is_stripped", [False, True])
def test_it_stops_at_its_entry_also_without_symbols(cli: Cli, tmp_path: Path, is_stripped: bool):
    program = tmp_path / "entered"
    shutil.copy(build_debuggee("loop.c"), program)
    if is_stripped:
        subprocess.run(["strip", program], check=True, timeout=60)
    told = begin(cli, program, "--stop-on-entry")
    assert told["reason"] == "entry"
    if not is_stripped:
        assert told["frame"]["function"] == "main"
    assert go_on(cli)["exit_code"] == 3


def test_a_library_that_is_loaded_later_is_stopped_in(cli: Cli, tmp_path: Path):
    library, program = tmp_path / "library.so", tmp_path / "loads"
    shared = ("gcc", "-g", "-shared", "-fPIC", PROGRAMS / "library.c", "-o", library)
    subprocess.run(shared, check=True, timeout=60)
    subprocess.run(["gcc", "-g", PROGRAMS / "loads.c", "-o", program], check=True, timeout=60)
    words = ("--break", "begins", "--break", "added", "--", str(library))
    told = begin(cli, program, *words)
    assert told["frame"]["function"] == "begins"  # before any of its code has run
    told = go_on(cli)
    assert told["frame"]["function"] == "added"
    cli("breakpoint", "remove", "--all", check=0)
    assert go_on(cli)["exit_code"] == 0


def test_threads_at_one_breakpoint_are_told_one_after_the_other(cli: Cli, tmp_path: Path):
    program = compiled(tmp_path, _PAIR)
    stops = [begin(cli, program, "--break", f"{tmp_path / 'own.c'}:8")]
    while stops[-1]["reason"] == "breakpoint":
        stops.append(go_on(cli))
    threads = [one["thread"] for one in stops[:-1]]
    assert len(threads) == 6
    assert sorted(map(threads.count, set(threads))) == [3, 3]
    assert (stops[-1]["exit_code"], stops[-1]["output"][-1]["text"]) == (0, "total 9")


def test_a_hit_count_counts_the_hits_of_all_places_of_a_line(cli: Cli, tmp_path: Path):
    program = compiled(tmp_path, _TWICE, name="own.cpp")
    begin(cli, program, "--stop-on-entry")
    cli("break", marked_location(tmp_path / "own.cpp", "twice"), "--hit-count", "7", check=0)
    assert go_on(cli)["reason"] == "breakpoint"
    assert print_value(cli, "x") == "3"
    assert go_on(cli)["reason"] == "breakpoint"
    assert print_value(cli, "x") == "3.5"


def test_threads_are_continued_separately(cli: Cli, tmp_path: Path):
    first = begin(cli, compiled(tmp_path, _PAIR), "--break", f"{tmp_path / 'own.c'}:8")
    second = go_on(cli)
    while second["thread"] == first["thread"]:
        second = go_on(cli)
    told = answer_data(cli("--json", "pause", "--all", check=0))
    assert told["thread"] == second["thread"]
    cli("breakpoint", "remove", "--all", check=0)
    assert go_on(cli)["exit_code"] == 0


def test_a_breakpoint_is_removed_under_the_thread_that_waits_at_it(cli: Cli):
    begin(cli, build_debuggee("loop.c"), "--break", marked_location("loop.c", "step"))
    cli("breakpoint", "remove", "1", check=0)
    assert go_on(cli)["exit_code"] == 3


def test_a_program_that_is_killed_while_it_waits_has_ended(cli: Cli):
    begin(cli, build_debuggee("loop.c"), "--break", marked_location("loop.c", "step"))
    os.kill(answer_data(cli("--json", "status", check=0))["pid"], signal.SIGKILL)
    told = answer_data(cli("--json", "wait", "--timeout", "20", check=0))
    assert (told["reason"], told["signal"]) == ("exit", "SIGKILL")


def test_each_run_has_the_same_addresses(cli: Cli):
    seen = set()
    for _ in range(2):
        begin(cli, build_debuggee("loop.c"), "--break", marked_location("loop.c", "step"))
        seen.add((print_value(cli, "$rsp"), print_value(cli, "$rip")))
    assert len(seen) == 1


def test_a_restart_keeps_breakpoints_and_conditions(cli: Cli):
    begin(cli, build_debuggee("loop.c"), "--stop-on-entry")
    cli("break", marked_location("loop.c", "step"), "--condition", "i == 3", check=0)
    for _ in range(2):
        assert go_on(cli)["reason"] == "breakpoint"
        assert print_value(cli, "i") == "3"
        assert answer_data(cli("--json", "restart", check=0))["reason"] == "entry"


def test_input_is_read_to_its_end(cli: Cli):
    begin(cli, build_debuggee("stdin.c"), "--no-wait")
    cli("input", "hello", check=0)
    cli("input", "--eof", check=0)
    told = answer_data(cli("--json", "wait", "--timeout", "20", check=0))
    lines = [one["text"] for one in answer_data(cli("--json", "output", "--all"))["lines"]]
    assert (told["exit_code"], lines) == (0, ["ready", "HELLO", "1 lines"])


def test_a_hot_logpoint_is_bounded_and_says_what_it_left_out(cli: Cli, tmp_path: Path):
    text = "#include <stdio.h>\nlong sum;\nint main(void) {\n"
    text += "    for (long i = 0; i < 2000000; i++)\n        sum += i;\n"
    text += '    printf("%ld\\n", sum);\n    return 0;\n}\n'
    begin(cli, compiled(tmp_path, text), "--stop-on-entry")
    cli("break", f"{tmp_path / 'own.c'}:5", "--log", "i={i}", check=0)
    assert go_on(cli)["exit_code"] == 0
    words = ("--json", "events", "--kind", "logpoint", "--limit", "1")
    (last,) = answer_data(cli(*words, check=0))["events"]
    assert "more hits" in last["text"]


@pytest.fixture
def counting() -> Iterator[Any]:
    with run_program(build_debuggee("endless.c"), ready="counting") as process:
        yield process


def _is_clean(pid: int) -> bool:
    return "frida" not in Path(f"/proc/{pid}/maps").read_text()


def test_a_process_is_entered_looked_at_and_left(cli: Cli, counting: Any):
    pid = str(counting.pid)
    told = answer_data(cli("--json", "attach", pid, *FRIDA, "--pause", check=0))
    assert told["reason"] == "pause"
    assert int(print_value(cli, "counter")) > 0
    cli("break", marked_location("endless.c", "count"), check=0)
    assert go_on(cli)["reason"] == "breakpoint"
    cli("detach", check=0)
    assert process_state(counting.pid) == "R"
    assert _is_clean(counting.pid)
    told = answer_data(cli("--json", "attach", pid, *FRIDA, "--pause", check=0))
    assert told["frame"]["file"] == str(find_source("endless.c"))


def test_a_program_that_was_started_goes_on_after_a_detach(cli: Cli):
    begin(cli, build_debuggee("endless.c"), "--break", marked_location("endless.c", "count"))
    pid = answer_data(cli("--json", "status", check=0))["pid"]
    cli("detach", check=0)
    try:
        assert process_state(pid) == "R"
    finally:
        os.kill(pid, signal.SIGKILL)


def test_a_process_goes_on_when_the_daemon_dies_while_it_waits(
    cli: Cli, counting: Any, runtime_dir: Path, wait_until: Callable[..., None]
):
    cli("attach", str(counting.pid), *FRIDA, "--pause", check=0)
    assert process_state(counting.pid) == "S"
    os.kill(json.loads((runtime_dir / "daemon.json").read_text())["pid"], signal.SIGKILL)
    wait_until(lambda: process_state(counting.pid) == "R", what="the process goes on")
    wait_until(lambda: _is_clean(counting.pid), what="nothing of ours is in it")


def test_children_in_a_row_stop_each_and_what_system_starts_runs_free(cli: Cli, tmp_path: Path):
    text = program_text("counted_lines/frida_children.c")
    told = begin(cli, compiled(tmp_path, text), "--break", "work")
    for turn in range(5):
        assert (told["session"], told["locals"][0]["value"]) == (f"own.{turn + 1}", str(turn))
        told = go_on(cli)
    assert (told["reason"], told["locals"][0]["value"]) == ("function_breakpoint", "4")
    assert (told["session"], told["output"][-1]["text"]) == ("own", "3")
    assert go_on(cli)["exit_code"] == 8


def test_a_program_dies_of_a_pipe_that_nobody_reads_as_it_would_without_us(cli: Cli) -> None:
    end = begin(cli, "/bin/sh", "--", "-c", "kill -PIPE $$; echo survived")
    assert (end["reason"], end["signal"], end["output"]) == ("exit", "SIGPIPE", [])


def test_a_program_that_becomes_one_that_cannot_be_entered_is_told_of_to_its_end(
    cli: Cli, wait_until: Callable[..., None], tmp_path: Path
) -> None:
    free = compiled(tmp_path, _READS, "-static")
    begin(cli, "/bin/sh", "--no-wait", "--break", "printf", "--", "-c", f"exec {free}")

    def is_said() -> bool:
        told = answer_data(cli("--json", "events", "--kind", "adapter", check=0))
        return any(f"{free} is linked statically" in one["text"] for one in told["events"])

    wait_until(is_said, what="the other program")
    (never,) = answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"]
    assert (never["verified"], "by exec" in never["why_unbound"]) == (False, True)
    cli("input", "--eof", check=0)
    assert answer_data(cli("--json", "await", check=0))["exit_code"] == 6


def test_what_the_system_keeps_to_itself_is_no_name_of_the_program(
    cli: Cli, tmp_path: Path
) -> None:
    text = """
    #include <stdio.h>
    #include <unistd.h>
    volatile int quit;
    static int twice(int n) { return 2 * n; }
    int main(void) { while (!quit) { twice(quit); usleep(1000); } puts("bye"); _exit(4); }
    """
    begin(cli, compiled(tmp_path, text), "--no-wait")
    says = "no global 'result' in the program"
    check_refused(cli, "read", "result", exit=1, code="EVALUATION_FAILED", says=says)
    (traced,) = answer_data(cli("--json", "trace", "add", "tw*", check=0))["traced"]
    assert traced["names"] == ["twice"]
    # What is written may end the program before it can be read again.
    written = answer_data(cli("--json", "write", "quit", "1", check=0))
    assert (written["previous"], written["value"]) == ("0", "1")
    assert answer_data(cli("--json", "await", check=0))["exit_code"] == 4


def test_what_can_never_be_evaluated_is_said_when_it_is_set(cli: Cli) -> None:
    cli(
        "start",
        str(build_debuggee("overloads.cpp")),
        *FRIDA,
        "--break",
        marked_location("overloads.cpp", "main"),
        check=0,
    )
    line = marked_location("overloads.cpp", "incr")
    for option, text, says in (
        ("-c", "nope > 1", "no 'nope' in scope here"),
        ("-c", "x >", "expected an operand"),
        ("--log", "{nope}", "no 'nope' in scope here"),
    ):
        (note,) = answer_data(cli("--json", "break", line, option, text, check=0))["notes"]
        assert says in note
    known = answer_data(cli("--json", "break", line, "-c", "args[0] == 1", check=0))
    assert (known["function"], known.get("notes")) == ("incr", None)
    stop = answer_data(cli("--json", "continue", check=0))
    assert (stop["hit_breakpoints"], print_value(cli, "x")) == ([known["id"]], "1")
