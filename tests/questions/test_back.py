"""A session goes back to an earlier stop, by running its program again."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS

ADAPTERS = [
    pytest.param(words, marks=pytest.mark.adapter(adapter), id=adapter)
    for adapter, words in {
        "lldb-dap": ("./prog", "prog.c"),
        "gdb": ("./prog", "prog.c", "--adapter", "gdb"),
        "debugpy": ("prog.py", "prog.py"),
        "delve": ("prog.go", "prog.go"),
        "js-debug": ("prog.js", "prog.js"),
    }.items()
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("back") / "back"
    shutil.copytree(PROGRAMS / "back", where)
    words = ["gcc", "-g", "-O0", "-o", "prog", "prog.c"]
    subprocess.run(words, cwd=where, check=True, timeout=60)
    return where


def _line(folder: Path, file: str, part: str) -> int:
    lines = (folder / file).read_text().splitlines()
    return next(number for number, one in enumerate(lines, 1) if part in one)


class SessionWithPast:
    """A session at the third hit of the line that returns."""

    def __init__(self, cli: Any, folder: Path, program: str, file: str, *options: str) -> None:
        self.cli, self.folder, self.file = cli, folder, file
        self.returns = _line(folder, file, "return total")
        self("start", program, "--break", f"{file}:{self.returns}", *options)
        self("continue")
        self("continue")

    def __call__(self, *words: object, check: int = 0) -> Any:
        return self.cli(*map(str, words), cwd=self.folder, check=check, timeout=120)

    def state(self) -> tuple[str, int]:
        """Return where it is: the value of `i`, and the line."""
        stop = self("--json", "context").data["data"]
        values = {one["name"]: one["value"] for one in stop["locals"]}
        return values["i"], stop["frame"]["line"]


@pytest.mark.parametrize("words", ADAPTERS)
def test_each_command_goes_back_to_an_earlier_state(
    cli: Any, folder: Path, words: tuple[str, ...]
) -> None:
    session = SessionWithPast(cli, folder, *words)
    assert session.state() == ("2", session.returns)
    multiplies = _line(folder, words[1], "i * k")
    answer = session("back")
    assert "note: went back by running the program again" in answer.out
    assert session.state() == ("2", multiplies)
    session("back-finish")
    assert session.state() == ("2", _line(folder, words[1], "work(i, 3)"))
    session("back-continue")
    assert session.state() == ("1", session.returns)
    listed = session("--json", "breakpoint", "list").data["data"]["breakpoints"]
    assert [one["line"] for one in listed] == [session.returns]  # none of ours is left


@pytest.mark.adapter("debugpy")
def test_a_location_is_the_end_of_the_way_back(cli: Any, folder: Path) -> None:
    session = SessionWithPast(cli, folder, "prog.py", "prog.py")
    session("next")
    begins = _line(folder, "prog.py", "sum = 0")
    session("back-continue", "--to", f"prog.py:{begins}")
    assert session("--json", "context").data["data"]["frame"]["line"] == begins
    refused = session("back-continue", "--to", "prog.py:12", check=1)
    assert "there is no hit of " in refused.err
    assert session("--json", "context").data["data"]["frame"]["line"] == begins


@pytest.mark.adapter("debugpy")
def test_steps_are_gone_back_one_by_one(cli: Any, folder: Path) -> None:
    session = SessionWithPast(cli, folder, "prog.py", "prog.py")
    session("finish")
    calls = _line(folder, "prog.py", "work(i, 3)")
    session("next", 2)
    assert session.state() == ("3", calls)
    session("back", 2)
    assert session.state() == ("2", calls)
    assert session("print", "sum").out.split()[-1] in {"3", "sum=3"}
    session("back-step")  # the call has returned already: `finish` stops in the middle of the line
    assert session.state() == ("2", session.returns)


@pytest.mark.adapter("debugpy")
def test_a_program_that_runs_differently_each_time_is_left_where_it_is(
    cli: Any, folder: Path
) -> None:
    def call(*words: str, check: int = 0) -> Any:
        return cli(*words, cwd=folder, check=check, timeout=120)

    call("start", "random_prog.py", "--break", "random_prog.py:7")
    call("breakpoint", "add", "random_prog.py:8")
    call("breakpoint", "remove", "1")
    call("next")
    before = call("print", "number").out
    refused = call("back", check=1)
    assert refused.err.startswith("error: the repeated run did not come to this stop")
    assert call("print", "number").out == before
    call("stop")


@pytest.mark.adapter("debugpy")
def test_bad_requests_are_refused(cli: Any, folder: Path) -> None:
    def call(*words: str) -> Any:
        return cli(*words, cwd=folder, timeout=120)

    assert re.match(r"error: no ", call("back").err)
    call("start", "prog.py", "--break", "prog.py:9")
    assert "COUNT is 1 to 1,000, not 0" in call("back", "0").err
    refused = call("back-finish")
    assert refused.err.startswith("error: there is no call of this function")
    assert "hint: debugger back-continue --to FILE:LINE" in refused.err
    call("stop")


@pytest.mark.adapter("lldb-dap")
def test_a_function_is_the_end_of_the_way_back_also_where_a_watchpoint_stops_before(
    cli: Any, tmp_path: Path
) -> None:
    (tmp_path / "two.c").write_text(
        "static int total;\n"
        "static int first(int n) { total += n + 1; return n + 1; }\n"
        "static int second(int n) { return n * 2; }\n"
        "int main(void) {\n"
        "    for (int i = 0; i < 3; i++)\n"
        "        second(first(i));\n"
        "    return 0;\n}\n"
    )
    words = ["gcc", "-g", "-O0", "-o", "two", "two.c"]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=60)
    cli("start", "./two", "--break", "two.c:3", cwd=tmp_path, timeout=120)
    refused = cli("back-continue", "--to", "nosuch", cwd=tmp_path, timeout=120)
    assert refused.err.startswith("error: there is no hit of nosuch before this stop")
    cli("continue", cwd=tmp_path, check=0)
    cli("watch", "total", cwd=tmp_path, check=0)
    went = cli("back-continue", "--to", "first", cwd=tmp_path, timeout=120)
    assert re.search(r"stopped: goto, first at two\.c:2", went.out)
    assert cli("args", cwd=tmp_path, check=0).out == "n = 1\n"
    assert "watchpoint 2: total" in cli("watch", "list", cwd=tmp_path, check=0).out
    # A loop's condition has code in two places of its line; a breakpoint stops at one.
    cli("back", cwd=tmp_path, check=0, timeout=120)
    assert re.search(r"main at two\.c:5", cli("back", cwd=tmp_path, timeout=120).out)
    assert cli("print", "i", cwd=tmp_path, check=0).out.strip().endswith("0")
    cli("stop", cwd=tmp_path)


@pytest.mark.adapter("debugpy")
def test_values_of_the_earlier_stop_that_vary_from_run_to_run_are_named(
    cli: Any, tmp_path: Path
) -> None:
    (tmp_path / "timed.py").write_text(
        "import threading, time\nearly = time.perf_counter_ns()\nk = 3\nearly = 0\n"
        "k, thread = 4, threading.Thread(target=print)\nk += 1\n"
    )
    # The numbers of Python's threads vary, as the debugger starts some.
    cli("start", "timed.py", "--break", "timed.py:6", cwd=tmp_path, check=0)
    said = cli("back-continue", "--to", "timed.py:3", cwd=tmp_path, check=0, timeout=120).out
    assert "at the stop that was left its values were the same\n" in said
    assert "these values differ here from run to run, and may not be those that were: early" in said


@pytest.mark.adapter("debugpy")
def test_a_state_that_is_another_than_the_session_has_shown_is_said_to_be(
    cli: Any, tmp_path: Path
) -> None:
    (tmp_path / "twice.py").write_text(
        "import os\n"
        "def begin():\n"
        "    is_first = not os.path.exists('lock')\n"
        "    open('lock', 'w').close()\n"
        "    print('begins' if is_first else 'goes on', flush=True)\n"
        "    return 1\n"
        "def work(n):\n"
        "    return n * 2\n"
        "begin()\n"
        "work(3)\n"
    )
    cli("start", "twice.py", "--break", "twice.py:6", cwd=tmp_path, check=0)
    cli("until", "twice.py:8", cwd=tmp_path, check=0)
    went = cli("back-continue", cwd=tmp_path, check=0, timeout=120).out
    assert "note: this is not the state that it was: is_first=False and not True\n" in went
    assert "the program has printed `goes on` and not `begins`: it runs differently\n" in went


@pytest.mark.adapter("xdebug")
def test_calls_with_equal_values_are_told_apart_by_the_way_to_them(
    cli: Any, tmp_path: Path
) -> None:
    (tmp_path / "alike.php").write_text(
        "<?php\n"
        "$calls = 0;\n"
        "function work($n) {\n"
        "    $GLOBALS['calls']++; $twice = 2 * $n;\n"
        "    return $twice;\n"
        "}\n"
        "for ($i = 0; $i < 4; $i++) {\n"
        "    work(5);\n"
        "}\n"
    )

    def call(*words: str) -> str:
        return cli(*words, cwd=tmp_path, check=0, timeout=120).out

    call("start", "alike.php", "--break", "alike.php:2")
    for _ in range(3):
        call("until", "alike.php:5")
    assert "work at alike.php:4" in call("back")
    assert call("print", "$GLOBALS['calls']").endswith("= 3\n")
    assert "work at alike.php:4" in call("back")
    assert call("print", "$GLOBALS['calls']").endswith("= 2\n")
    call("back-finish")
    assert call("print", "$i").endswith("= 2\n")
    # In the middle of the line, behind the call: what is before that is the line's begin.
    call("step")
    call("finish")
    assert call("print", "$GLOBALS['calls']").endswith("= 3\n")
    assert "alike.php:8" in call("back")
    assert call("print", "$GLOBALS['calls']").endswith("= 2\n")
