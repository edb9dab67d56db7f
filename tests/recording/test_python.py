"""Python programs are recorded, and behave as without the recorder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from debuggees import program_text
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import OutputStream
from debugger.recorders.call_folding import FoldedCalls, count_calls, fold_trees
from debugger.recorders.call_tree import LoopRounds, build_trees, call_lifetime, walk_calls
from debugger.recorders.model import (
    CallRaised,
    FunctionPlace,
    LineRecording,
    RecordingLimits,
    RecordingNote,
    ValueWritten,
)
from debugger.recorders.python.python_branches import find_branches, find_loops, parse_watch
from debugger.recorders.recorded_process import CompletedRun, require_recording
from debugger.recorders.run_alignment import align_runs, run_points
from debugger.recorders.suspect_ranking import rank_suspects, run_spectrum
from recording.recorders import PROGRAMS, PYTHONS, run_plain, run_recorded

AT_THE_END = FunctionPlace(file="account.py", line=25)  # of `main`
ALL = {
    "calls": {},
    "lines": {"lines": LineRecording.EACH},
    "hit": {"lines": LineRecording.HIT},
    "one": {
        "lines": LineRecording.EACH,
        "functions": (FunctionPlace(name="take"), FunctionPlace(name="main")),
    },
    "watch": {"functions": (AT_THE_END,), "watch": parse_watch("a.total", AT_THE_END)},
}


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    made = tmp_path / "scratch"
    made.mkdir()
    return made


@pytest.fixture(params=PYTHONS)
def python(request: pytest.FixtureRequest) -> str:
    return PYTHONS[request.param]


def count_all_calls(ran: CompletedRun) -> dict[str, int]:
    """Count the calls of each function over all processes, from what is folded."""
    found: dict[str, int] = {}

    def add(rows: tuple[FoldedCalls, ...]) -> None:
        for row in rows:
            if row.function:
                name = row.function.name
                found[name] = found.get(name, 0) + row.call_count
            add(row.children)

    for one in ran.recordings:
        roots = build_trees(one)
        rows = fold_trees(one, roots)
        assert count_calls(rows) == sum(call.count for call in walk_calls(roots))
        add(rows)
    return found


def bare(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", text)


@pytest.mark.parametrize("program", ["sees", "raises", "forks", "tasks", "account", "killed"])
async def test_a_program_does_what_it_does_without_us(python, program, scratch):
    argv = [python, f"{program}.py", "a", "b"]
    status, out, err = run_plain(argv, PROGRAMS)
    for what, wanted in ALL.items():
        ran = await run_recorded(argv, PROGRAMS, scratch, **wanted)
        assert bare(ran.joined_output(OutputStream.STDOUT)) == bare(out), what
        assert bare(ran.joined_output(OutputStream.STDERR)) == bare(err), what
        assert (ran.status if ran.signal is None else -ran.signal) == status, what
        assert ran.recordings, what
        notes = [
            event
            for one in ran.recordings
            for event in one.events
            if isinstance(event, RecordingNote)
        ]
        assert [one.text for one in notes if one.kind in {"fault", "refused"}] == [], what


async def test_every_call_is_counted_with_its_values(python, scratch):
    ran = await run_recorded([python, "account.py"], PROGRAMS, scratch)
    (one,) = ran.recordings
    assert count_all_calls(ran) == {
        "<module>": 1,
        "main": 1,
        "Acc.__init__": 1,
        "Acc.put": 6,
        "gen": 1,
        "add": 3,
        "fib": 465,
    }
    (module,) = fold_trees(one, build_trees(one))
    put = next(row for row in module.children[0].children if "put" in row.function.name)
    assert put.raised == 1
    assert put.errors == ("ValueError: negative",)
    n = next(value for value in put.arguments if value.name == "n")
    assert (n.first, n.last, n.least, n.most) == ("0", "-1", "-1", "4")
    assert (one.is_whole, one.dropped, one.unread) == (True, 0, 0)


async def test_one_call_is_told_line_by_line(python, scratch):
    ran = await run_recorded(
        [python, "account.py"],
        PROGRAMS,
        scratch,
        functions=(FunctionPlace(name="main", file="account.py"),),
        lines=LineRecording.EACH,
        depth=1,
    )
    (one,) = ran.recordings
    assert (one.seen, one.chosen) == (1, 1)
    source = (PROGRAMS / "account.py").read_text()
    call = call_lifetime(one, build_trees(one)[0], branches=find_branches(source))
    loop = next(item for item in call.items if isinstance(item, LoopRounds))
    assert loop.rounds == 5
    assert [value.name for value in loop.varies] == ["i", "a"]
    first = call.items[0]
    assert first.callees[0].function.name == "Acc.__init__"
    assert call.value == "Acc(total=13)"
    raised = [c.error for item in call.items if hasattr(item, "callees") for c in item.callees]
    assert "ValueError: negative" in raised


async def test_the_kth_call_and_those_that_fit_a_condition_are_chosen(python, scratch):
    put = {"functions": (FunctionPlace(name="Acc.put"),), "lines": LineRecording.EACH}
    ran = await run_recorded([python, "account.py"], PROGRAMS, scratch, nth=3, most=1, **put)
    (call,) = build_trees(ran.recordings[0])
    assert [value.text for value in call.arguments] == ["Acc(total=4)", "2"]
    ran = await run_recorded(
        [python, "account.py"], PROGRAMS, scratch, when="n > 2 or n < 0", **put
    )
    assert [call.arguments[1].text for call in build_trees(ran.recordings[0])] == ["3", "4", "-1"]
    ran = await run_recorded([python, "account.py"], PROGRAMS, scratch, when="nothing > 2", **put)
    notes = [event.text for event in ran.recordings[0].events if isinstance(event, RecordingNote)]
    assert notes[0] == "NameError: name 'nothing' is not defined"
    assert build_trees(ran.recordings[0]) == []


async def test_a_thread_is_no_tracer_of_the_programs_own(python, scratch, tmp_path):
    (tmp_path / "prog.py").write_text(
        "import threading\ndef work():\n    return 1\n"
        "one = threading.Thread(target=work)\none.start()\none.join()\n"
    )
    ran = await run_recorded([python, "prog.py"], tmp_path, scratch)
    (recording,) = ran.recordings
    assert "work" in {one.name for one in recording.functions.values()}
    assert not [
        one for one in recording.events if isinstance(one, RecordingNote) and one.kind == "tracer"
    ]


async def test_a_tracer_of_the_program_s_own_gets_its_events_beside_ours(python, scratch, tmp_path):
    (tmp_path / "prog.py").write_text(
        "import sys\nseen = []\n"
        "def tracer(frame, event, argument):\n    seen.append(event)\n    return tracer\n"
        "def work(n):\n    more = n + 1\n    return more\n"
        "sys.settrace(tracer)\nassert sys.gettrace() is tracer\nwork(1)\nsys.settrace(None)\n"
        "work(2)\nprint(seen, sys.gettrace())\n"
    )
    ran = await run_recorded([python, "prog.py"], tmp_path, scratch)
    told = ran.joined_output(OutputStream.STDOUT)
    assert told == "['call', 'line', 'line', 'return'] None\n"
    assert count_all_calls(ran)["work"] == 2


async def test_an_assert_that_pytest_has_rewritten_hides_no_lines(python, scratch, tmp_path):
    # What it asks for is put together by pytest as Python's syntax does not allow it.
    (tmp_path / "prog.py").write_text(
        "import types\ndef check():\n    total = 3\n    dull = locals\n    return total\n"
        "code = check.__code__\n"
        "check = types.FunctionType(\n"
        "    code.replace(co_names=(*code.co_names, '@py_builtins')), globals())\n"
        "check()\n"
    )
    put = {"functions": (FunctionPlace(name="check"),), "lines": LineRecording.EACH}
    ran = await run_recorded([python, "prog.py"], tmp_path, scratch, **put)
    (call,) = build_trees(ran.recordings[0])
    assert call.steps


async def test_who_wrote_a_field_is_told_with_line_and_stack(python, scratch):
    ran = await run_recorded(
        [python, "account.py"],
        PROGRAMS,
        scratch,
        functions=(AT_THE_END,),
        watch=parse_watch("a.total", AT_THE_END),
    )
    (one,) = ran.recordings
    wrote = [event for event in one.events if isinstance(event, ValueWritten)]
    source = (PROGRAMS / "account.py").read_text().splitlines()
    assert [(event.old, event.new) for event in wrote] == [
        (None, "3"),
        ("3", "4"),
        ("4", "6"),
        ("6", "9"),
        ("9", "13"),
    ]
    assert {source[event.line - 1].strip() for event in wrote[1:]} == {"self.total += n"}
    names = [one.find_function(number).name.rpartition(".")[2] for number, _ in wrote[1].stack]
    assert names == ["put", "main", "<module>"]


async def test_what_was_recorded_before_a_kill_is_kept(python, scratch):
    ran = await run_recorded([python, "killed.py"], PROGRAMS, scratch)
    (one,) = ran.recordings
    assert (ran.signal, one.is_whole) == (9, False)
    calls = [
        call
        for call in walk_calls(build_trees(one))
        if one.find_function(call.function).name == "f"
    ]
    assert [call.arguments[0].text for call in calls] == ["0", "1", "2", "3"]
    assert [call.has_ended for call in calls] == [True, True, True, False]


async def test_forked_and_exec_processes_have_recordings_of_their_own(python, scratch):
    ran = await run_recorded([python, "forks.py"], PROGRAMS, scratch)
    found = {
        (one.process.is_fork, tuple(sorted(f.name for f in one.functions.values())))
        for one in ran.recordings
    }
    assert (True, ("work",)) in found
    assert (False, ("<module>", "work")) in found
    assert len(ran.recordings) == 3  # the parent, its child, and what it became
    assert any(
        isinstance(event, RecordingNote) and event.kind == "exec"
        for one in ran.recordings
        for event in one.events
    )


COPIES = """
import os, subprocess, sys

CHILD = [sys.executable, "-c", "import os; print(sorted({*os.environ} & {'PYTHONPATH', 'OWN'}))"]
env = {**os.environ, "OWN": "1"}
subprocess.run(CHILD, env=env, check=True)
os.waitpid(os.posix_spawn(CHILD[0], CHILD, env), 0)
os.execve(CHILD[0], CHILD, env)
"""


async def test_children_that_get_a_copy_of_the_environment_are_recorded(python, scratch, tmp_path):
    (tmp_path / "copies.py").write_text(COPIES)
    argv = [python, "copies.py"]
    ran = await run_recorded(argv, tmp_path, scratch)
    # The program, two children, and what it became; none of them sees the recorder's variables.
    assert len(ran.recordings) == 4
    assert ran.joined_output(OutputStream.STDOUT) == run_plain(argv, tmp_path)[1]


async def test_coroutines_belong_to_those_that_await_them(python, scratch):
    ran = await run_recorded([python, "tasks.py"], PROGRAMS, scratch)
    (one,) = ran.recordings
    assert count_all_calls(ran) == {"<module>": 1, "main": 1, "task": 4, "leaf": 4}
    leaves = [
        c for c in walk_calls(build_trees(one)) if one.find_function(c.function).name == "leaf"
    ]
    assert {one.find_function(leaf.parent.function).name for leaf in leaves} == {"task"}
    raised = {event.exception_text for event in one.events if isinstance(event, CallRaised)}
    assert raised == {"RuntimeError: two"}


async def test_threads_of_a_server_are_told_apart_from_the_library(python, scratch):
    ran = await run_recorded([python, "server.py"], PROGRAMS, scratch)
    assert ran.status == 0
    found = count_all_calls(ran)
    assert found["Handler.do_GET"] == found["Handler.answer"] == 5
    assert set(found) <= {
        "<module>",
        "main",
        "Handler.do_GET",
        "Handler.answer",
        "Handler.log_message",
    }
    assert len(ran.recordings[0].threads) > 1


async def test_a_program_that_runs_for_ever_is_ended_and_what_it_did_is_told(python, scratch):
    (scratch.parent / "spins.py").write_text(
        "def step(n):\n    return n + 1\nn = 0\nwhile True:\n    n = step(n)\n"
    )
    argv = [python, "spins.py"]
    ran = await run_recorded(argv, scratch.parent, scratch, timeout_s=2.0)
    assert ran.is_timed_out
    assert ran.signal == 9
    assert count_all_calls(ran)["step"] > 1000


async def test_a_function_that_is_called_too_often_is_counted_no_more_and_that_is_said(
    python, scratch
):
    argv = [python, "heavy.py", "calls"]
    ran = await run_recorded(argv, PROGRAMS, scratch, limits=RecordingLimits(counted=1000))
    (one,) = ran.recordings
    stopped = {one.find_function(number).name for number in one.stopped}
    assert {"small", "price", "fib"} <= stopped
    rows = fold_trees(one, build_trees(one))
    main = rows[0].children[0]
    assert next(r for r in main.children if r.function.name == "small").is_stopped


async def test_what_does_not_fit_is_counted_and_nothing_else_is_lost(python, scratch):
    ran = await run_recorded(
        [python, "account.py"], PROGRAMS, scratch, limits=RecordingLimits(bytes=4096, each=1000)
    )
    (one,) = ran.recordings
    assert ran.status == 0
    assert one.dropped > 0
    assert one.unread == 0
    ran = await run_recorded(
        [python, "account.py"], PROGRAMS, scratch, limits=RecordingLimits(events=20)
    )
    assert ran.recordings[0].dropped > 0
    assert count_all_calls(ran)["fib"] == 465


async def test_two_runs_part_where_their_input_makes_them(python, scratch):
    program = (
        "import sys\n"
        "def fee(n):\n"
        "    rate = 2 if n > 10 else 1\n"
        "    if rate == 2:\n"
        "        n += 5\n"
        "    return n * rate\n"
        "print(fee(int(sys.stdin.read())))\n"
    )
    (scratch.parent / "fee.py").write_text(program)
    runs = [
        await run_recorded(
            [python, "fee.py"], scratch.parent, scratch, lines=LineRecording.EACH, stdin=text
        )
        for text in (b"7", b"70")
    ]
    assert [ran.joined_output(OutputStream.STDOUT) for ran in runs] == ["7\n", "150\n"]
    sides = [run_points(ran.recordings[0]) for ran in runs]
    found = align_runs(*sides)
    assert found.divergence is not None
    assert (found.divergence.left[0].line, found.divergence.right[0].line) == (6, 5)
    told = [(d.name, d.left, d.right) for d in found.divergence.values]
    assert told == [("n", "7", "70"), ("rate", "1", "2")]
    passing, failing = runs
    ranking = rank_suspects(
        [
            run_spectrum(passing.recordings, passed=True),
            run_spectrum(failing.recordings, passed=False),
        ]
    )
    assert ranking.lines[0].place.line == 5


async def test_a_test_is_told_without_the_library_that_runs_it(scratch):
    project = scratch.parent / "project"
    project.mkdir()
    (project / "shop.py").write_text(
        "def total(items):\n    return sum(price(*one) for one in items)\n"
        "def price(cost, count):\n    return cost + count\n"
    )
    (project / "test_shop.py").write_text(
        "from shop import total\ndef test_total():\n    assert total([(3, 4)]) == 12\n"
    )
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_shop.py"]
    ran = await run_recorded(argv, project, scratch)
    assert ran.status == 1
    one = require_recording(ran, argv)
    rows = {r.function.name: r for r in fold_trees(one, build_trees(one)) if r.function}
    assert set(rows) == {"<module>", "test_total"}
    assert rows["test_total"].errors[0].startswith("AssertionError: assert 7 == 12")
    assert [r.function.name for r in rows["test_total"].children] == ["total"]


async def test_a_program_without_a_python_that_listens_is_said(scratch):
    for argv in (["true"], [sys.executable, "-I", "-c", "1"]):
        ran = await run_recorded(argv, scratch.parent, scratch)
        assert ran.status == 0
        with pytest.raises(DebuggerError) as raised:
            require_recording(ran, argv)
        assert raised.value.code is ErrorCode.NOT_SUPPORTED


async def test_a_program_that_cannot_be_run_is_said_and_leaves_nothing(scratch):
    with pytest.raises(DebuggerError) as raised:
        await run_recorded(["./no-such-program"], scratch.parent, scratch)
    assert raised.value.code is ErrorCode.LAUNCH_FAILED


async def test_what_a_program_leaves_running_is_killed_and_named(scratch):
    code = "import subprocess; print(subprocess.Popen(['sleep', '1000']).pid)"
    ran = await run_recorded([sys.executable, "-c", code], scratch.parent, scratch)
    pid = int(ran.joined_output(OutputStream.STDOUT))
    assert ran.killed == (f"{pid} (sleep)",)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_flood_of_output_is_cut_and_counted(scratch):
    code = "for i in range(300000): print('x' * 99)"
    ran = await run_recorded([sys.executable, "-c", code], scratch.parent, scratch)
    assert ran.status == 0
    assert ran.printed == 30_000_000
    assert len(ran.joined_output(OutputStream.STDOUT)) < 300_000


NEW = [name for name in PYTHONS if int(name.partition(".")[2]) >= 12]


@pytest.mark.parametrize("name", NEW)
async def test_calls_of_libraries_and_rounds_of_a_loop_are_no_events(name, scratch):
    # What they cost is measured by bench/recorder.py.
    for what, own in (("lib", {"<module>"}), ("cpu", {"<module>", "cpu"})):
        ran = await run_recorded([PYTHONS[name], "heavy.py", what], PROGRAMS, scratch)
        (one,) = ran.recordings
        assert {each.name for each in one.functions.values()} == own
        assert len(one.events) < 20, what


async def test_a_statement_over_several_lines_is_no_loop_and_a_task_s_exception_is_its_end(
    python, scratch, tmp_path
):
    source = (
        "import asyncio\nasync def leaf(x):\n    return 1 // x\n"
        "async def mid(x):\n    return await leaf(x)\n"
        "async def main():\n"
        "    await asyncio.gather(mid(0), mid(1), return_exceptions=True)\n"
        "def long(a):\n    return dict(a=a,\n                b=max(a,\n                      1))\n"
        "asyncio.run(main())\nlong(1)\n"
    )
    (tmp_path / "prog.py").write_text(source)
    ran = await run_recorded([python, "prog.py"], tmp_path, scratch, lines=LineRecording.EACH)
    (one,) = ran.recordings
    calls = {one.find_function(call.function).name: call for call in walk_calls(build_trees(one))}
    found = call_lifetime(one, calls["long"], loops=find_loops(source))
    assert not any(isinstance(item, LoopRounds) for item in found.items)
    raised = [call for call in walk_calls(build_trees(one)) if call.errors]
    names = sorted(one.find_function(call.function).name for call in raised)
    assert names == ["leaf", "mid"]


async def test_the_exception_that_leaves_a_function_is_told_not_one_that_it_handled_meanwhile(
    python, scratch, tmp_path
):
    source = program_text("counted_lines/passed_on.py")
    (tmp_path / "prog.py").write_text(source)
    ran = await run_recorded([python, "prog.py"], tmp_path, scratch)
    assert count_all_calls(ran)["job"] == 4
    raised = {
        event.exception_text
        for one in ran.recordings
        for event in one.events
        if isinstance(event, CallRaised)
    }
    again = {"KeyError: first"} if is_raised_again(python) else set()
    assert raised >= {"LookupError: two", *again}
    assert not any(text.startswith("StopIteration") for text in raised)
    asked = await run_recorded([python, "prog.py"], tmp_path, scratch, functions=JOB, most=1)
    assert [one.seen for one in asked.recordings] == [4]


JOB = (FunctionPlace(name="job"),)


def is_raised_again(python: str) -> bool:
    """Return whether what a `finally` raises again is known: before 3.11 it is not."""
    words = [python, "-c", "import sys; print(sys.version_info >= (3, 11))"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout == "True\n"


async def test_a_call_that_a_library_makes_is_of_the_line_that_called_the_library(
    python, scratch, tmp_path
):
    source = program_text("counted_lines/partials.py")
    (tmp_path / "prog.py").write_text(source)
    ran = await run_recorded([python, "prog.py"], tmp_path, scratch)
    (one,) = ran.recordings
    lines = {
        one.find_function(each.function).name: each.line for each in walk_calls(build_trees(one))
    }
    assert (lines["Odd.default"], lines["seen"]) == (16, 7)


def test_a_run_that_was_ended_at_once_is_not_said_to_run_no_python() -> None:
    ran = CompletedRun(None, 9, is_timed_out=True, took_s=0.0, output=(), printed=0, recordings=())
    with pytest.raises(DebuggerError, match="was ended before anything of it was recorded"):
        require_recording(ran, ["python3", "x.py"])


async def test_threads_that_follow_each_other_are_told_apart(python, scratch, tmp_path):
    (tmp_path / "threads.py").write_text(
        "import threading\ndef work(n):\n    return n\n"
        "for n in range(3):\n"
        "    one = threading.Thread(target=work, args=(n,))\n    one.start()\n    one.join()\n"
    )
    for how in ("calls", "lines"):
        ran = await run_recorded([python, "threads.py"], tmp_path, scratch, **ALL[how])
        assert ran.output == ()
        (recording,) = ran.recordings
        assert len(recording.threads) == 4, how
        threads = {
            call.thread
            for call in walk_calls(build_trees(recording))
            if recording.find_function(call.function).name == "work"
        }
        assert len(threads) == 3, how
