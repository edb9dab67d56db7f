"""A group: the processes of one program act and answer together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from cli_commands import Cli, answer_data, marked_location, resolve_program
from debuggees import build_debuggee
from debugger.system.process_info import command_line, is_suspended
from mcp_client import connect_stdio
from process_trees import is_alive, list_sessions, read_again
from running_programs import find_tracer, run_program

PROGRAM = "groups/ranks.py"
MEET = marked_location(PROGRAM, "meet")
ODD = marked_location(PROGRAM, "odd")
COUNT = 4
pytestmark = pytest.mark.adapter("debugpy")


def start_ranks(cli: Cli, *words: str, method: str = "fork") -> dict[str, Any]:
    """Start the ranks as a group; return the first stop, or that they run."""
    program = resolve_program(PROGRAM)
    return answer_data(
        cli("--json", "start", "--group", program, *words, "--", method, str(COUNT), check=None)
    )


def leaves(branches: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in branches:
        yield from leaves(one["branches"]) if one["branches"] else [one]


def count_adapters(cli: Cli) -> int:
    """Return how many debugpy adapters the daemon has started."""
    daemon = answer_data(cli("--json", "daemon", "status", check=0))["pid"]
    below = psutil.Process(daemon).children(recursive=True)
    # The third word: the supervisor's command line names the adapter, too.
    scripts = [command_line(one.pid)[2:3] for one in below]
    return sum(one.endswith("debugpy/run_adapter.py") for words in scripts for one in words)


def members_at(cli: Cli, place: str) -> list[str]:
    """Return the members of which a frame is at FILE:LINE."""
    file, line = place.rsplit(":", 1)
    stacks = read_again(cli, "backtrace")
    return sorted(
        label
        for one in leaves(stacks["branches"])
        if any(frame["file"] == file and frame["line"] == int(line) for frame in one["frames"])
        for label in one["members"]
    )


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_the_stacks_of_running_members_are_one_tree_with_the_odd_one_apart(
    cli: Cli, wait_until: Callable[..., None], method: str
) -> None:
    answer = start_ranks(cli, "--no-wait", method=method)
    assert answer["stop"]["state"] == "running"
    wait_until(lambda: members_at(cli, ODD) == ["3"], 60, what="the odd rank at the queue")
    wait_until(lambda: members_at(cli, MEET) == ["1", "2", "4"], 60, what="the others")
    text = cli("backtrace", check=0).out.splitlines()
    assert text[0] == "ranks: 5 members: 5 running (main,1-4)"
    assert text[1].startswith("main: ")
    assert text[2].startswith("1-4: work ranks.py:")
    assert text[3].startswith("  3: take_step ranks.py:")
    assert text[3].endswith("`queue.get()  # @odd`")
    assert cli("backtrace", "--by", "state", check=0).out.count("[running]") >= len(["main", "3"])
    verdict = read_again(cli, "hang", "--group")["verdict"]
    assert (verdict["kind"], verdict["rows"][0]["members"]) == ("lagging", ["3"])
    assert read_again(cli, "hang", "--group", "ranks")["group"] == "ranks"
    assert verdict["rows"][0]["call"] == "Queue.get"
    assert " 1-2,4 wait in Barrier.wait at take_step ranks.py:" in verdict["cause"]
    if method == "spawn":
        check_suspended(cli, "2")
    pids = [one["pid"] for one in list_sessions(cli).values()]
    # The stack of one in focus is read while it runs, as in the group's answer.
    cli("focus", "3", check=0)
    (alone,) = read_again(cli, "backtrace")["branches"]
    assert (alone["members"], alone["frames"][1]["function"]) == (["3"], "take_step")
    cli("focus", "all", check=0)
    cli("stop", check=0)
    assert list_sessions(cli) == {}
    wait_until(lambda: not any(map(is_alive, pids)), what="the end of all processes")


def check_suspended(cli: Cli, label: str) -> None:
    """A member that a signal has stopped cannot answer: that is said, and at once."""
    (pid,) = [one["pid"] for one in read_again(cli, "status")["members"] if one["label"] == label]
    os.kill(pid, signal.SIGSTOP)
    rows = read_again(cli, "hang", "--group")["verdict"]["rows"]
    os.kill(pid, signal.SIGCONT)
    assert [(one["members"], one["detail"]) for one in rows if one["kind"] == "stopped"] == [
        ([label], f"by a signal: kill -CONT {pid} lets it go on")
    ]


def start_stopped(cli: Cli) -> dict[str, Any]:
    """Start the ranks, and wait until each of them has stopped; return the first stop."""
    first = start_ranks(cli, "--break", MEET)
    while len(members_at(cli, MEET)) < COUNT:
        cli("await", "--timeout", "20", check=None)
    return first


def test_stopped_members_are_asked_and_go_on_together_or_one_by_one(cli: Cli) -> None:
    answer = start_stopped(cli)
    assert answer["member"] in {"1", "2", "3", "4"}
    assert answer["stop"]["reason"] == "breakpoint"
    together = [answer["member"], *(label for one in answer["others"] for label in one["members"])]
    assert set(together) <= {"1", "2", "3", "4", "main"}

    (row,) = read_again(cli, "print", "rank")["rows"]
    assert [(one["value"], one["members"]) for one in row["values"]] == [
        (str(rank), [str(rank + 1)]) for rank in range(COUNT)
    ]
    assert "step = 0 on 1-4\n" in cli("print", "step", check=0).out
    assert cli("print", "step", "--members", "2-3", check=0).out == "step = 0 on 2-3\n"
    assert cli("eval", "own = rank", check=0).out.startswith("own = rank: done on 1-4\n")
    assert "own = 0 on 1 · 1 on 2 · 2 on 3" in cli("eval", "own", check=0).out
    # Several names are read at once, as the refusal by `print` says.
    assert "debugger read rank step" in cli("print", "rank", "step", check=None).err
    both = read_again(cli, "read", "rank", "step")["rows"]
    assert [(one["name"], len(one["values"])) for one in both] == [("rank", COUNT), ("step", 1)]
    local = {one["name"]: one["values"] for one in read_again(cli, "locals")["rows"]}
    assert len(local["rank"]) == COUNT
    assert len(local["step"]) == 1

    # A name may be another variable in the next function: the frames are not mixed.
    function = read_again(cli, "up")["frame"]["function"]
    apart = {row["function"]: row["values"] for row in read_again(cli, "print", "rank")["rows"]}
    assert function in apart
    assert [len(values) for values in apart.values()].count(1) == 1
    assert f"in {function}:\n  rank = " in cli("print", "rank", check=0).out
    cli("down", check=0)

    refusals = [
        (("backtrace", "--group", "ranke"), "no group 'ranke'; there are: ranks"),
        (("backtrace", "--members", "7-9"), "no member '7-9'; there are: main,1-4"),
        (("backtrace", "--by", "color"), "--by is line, function, state, not 'color'"),
        (("print", "nothing"), "in all stopped members: NameError"),
        (("print", "rank", "--members", "main"), "main is not stopped: values are read at a stop"),
        (("break", MEET, "--members", "rank*"), "no member 'rank*'"),
        (("events", "--members", ","), "--members names no member"),
        (("focus", "9"), "no member '9'"),
        (("focus", "1-2"), "focus takes one member, and 1-2 names 2"),
    ]
    for words, message in refusals:
        assert message in cli(*words, check=None).err

    cli("focus", "2", check=0)
    assert cli("print", "rank", check=0).out == "rank = 1\n"
    assert read_again(cli, "backtrace")["frames"][0]["function"] == "take_step"
    assert read_again(cli, "print", "rank", "--members", "4")["rows"][0]["values"] == [
        {"value": "3", "members": ["4"]}
    ]
    cli("focus", "all", check=0)
    assert read_again(cli, "backtrace")["total"] == COUNT + 1
    # The group has the name of its first session.
    assert read_again(cli, "--session", "ranks", "backtrace")["total"] == COUNT + 1
    # What has no form for groups acts on the member that stopped last, not on the first session.
    assert cli("--session", "ranks", "args", check=0).out == cli("args", check=0).out

    stops = read_again(cli, "events", "--kind", "stop", "--members", "2,4")["events"]
    assert {one["member"] for one in stops} == {"2", "4"}
    assert " 4 stop " in cli("events", "--kind", "stop", check=0).out

    cli("breakpoint", "remove", "--all", check=0)
    cli("break", MEET, "--members", "not main,1,3-4", check=0)
    assert cli("breakpoint", "list", check=0).out.endswith(", in 2 only\n")
    stop = read_again(cli, "continue")
    # The odd rank waits at its queue: the others come to the barrier of the next step.
    assert (stop["member"], stop["stop"]["reason"]) == ("2", "breakpoint")
    assert cli("print", "step", "--members", "2", check=0).out == "step = 1 on 2\n"
    assert {one["session"] for one in list_sessions(cli).values() if one["state"] == "stopped"} == {
        stop["stop"]["session"]
    }

    # Restarted is the program, whichever member is in focus; the earlier members are forgotten,
    # also the labels of those whose sessions had the names that the new ones have.
    cli("breakpoint", "remove", "--all", check=0)
    cli("break", MEET, "--condition", "_rank == 2", check=0)
    cli("focus", "3", check=0)
    again = read_again(cli, "restart")
    assert (again["member"], again["stop"]["reason"]) == ("2", "breakpoint")
    labels = [one["label"] for one in read_again(cli, "status", "--group", "ranks")["members"]]
    assert labels == ["main", "1", "2", "3", "4"]


def test_a_crowd_that_computes_is_stopped_and_goes_on_and_none_stays_suspended(
    cli: Cli, wait_until: Callable[..., None]
) -> None:
    count = min(len(os.sched_getaffinity(0)) + 2, 8)
    program = resolve_program("groups/spinning_ranks.py")
    cli("start", "--group", program, "--no-wait", "--", str(count), check=0)
    spinning = f"{count + 1} running (main,1-{count})"
    wait_until(lambda: spinning in cli("backtrace", check=0).out, 60, what="all members")
    paused = cli("pause", "--members", f"1-{count}", "--timeout", "20", check=0).out
    assert f"{count} stopped (1-{count})" in paused
    assert "work spinning_ranks.py:" in paused
    pids = [one["pid"] for one in list_sessions(cli).values()]
    assert not any(map(is_suspended, pids))
    # main waits in `join` without an end: the answer does not wait for it.
    assert "main: did not stop within" in cli("pause", check=0).out
    cli("continue", "--no-wait", check=0)
    wait_until(lambda: spinning in cli("backtrace", check=0).out, what="all to go on")


def test_the_member_that_took_another_branch_first_is_named_with_the_line(cli: Cli) -> None:
    program = resolve_program("groups/branching_ranks.py")
    answer = read_again(cli, "path", "--group", "--", program)
    assert answer["members"] == ["main", "1", "2", "3", "4"]
    place = {
        mark: int(marked_location("groups/branching_ranks.py", mark).rpartition(":")[2])
        for mark in ("branch", "odd", "usual", "task")
    }
    odd, task = answer["splits"]
    assert (odd["line"], odd["hit"], odd["compared"]) == (place["branch"], 2, 3)
    assert [(one["line"], one["members"]) for one in odd["ways"]] == [
        (place["odd"], ["3"]),
        (place["usual"], ["1", "2", "4"]),
    ]
    # Where they differ from the first time on, they have different tasks.
    assert (task["line"], task["hit"]) == (place["task"], 1)
    assert read_again(cli, "diff", "--group", "--", program)["splits"] == answer["splits"]
    refusals = [
        (("path", "--group", "--around", "work", "--", program), "takes no --around"),
        (("path", "--group", "--in", "work", "--", program), "takes no --in"),
        (("diff", "--group", "--", program, "--vs", program), "takes no --vs"),
        (("diff", "--group", "--function", "work", "--", program), "takes no --function"),
        (("path", "--group", "--", "/bin/true"), "no debug information of sources of its own"),
        (("path", "--group", "--", resolve_program("loop.py")), "no other Python process"),
    ]
    for words, message in refusals:
        said, _, hint = cli(*words, check=None).err.partition("hint: ")
        assert message in said
        assert "--vs" not in hint


async def test_an_agent_asks_the_members_by_the_same_tools(cli: Cli) -> None:
    async with connect_stdio() as agent:
        first = await agent.call(
            "debug_launch",
            command=str(resolve_program(PROGRAM)),
            args=["fork", str(COUNT)],
            breakpoints=[MEET],
            group=True,
        )
        assert (first.data["status"], first.data["group"]) == ("paused", "ranks")
        while len(members_at(cli, MEET)) < COUNT:
            await agent.call("debug_session", action="wait", timeoutMs=20_000)
        stacks = await agent.call("debug_stack")
        assert stacks.data["total"] == COUNT + 1
        assert stacks.text == cli("backtrace").out
        by_state = await agent.call("debug_stack", by="state")
        assert by_state.text == cli("backtrace", "--by", "state").out
        hang = await agent.call("debug_hang", group=True)
        assert (hang.data["kind"], hang.data["hang"]["group"]) == ("unknown", "ranks")
        values = await agent.call("debug_evaluate", expression="rank", members="2-3")
        assert [one["value"] for one in values.data["rows"][0]["values"]] == ["1", "2"]
        several = await agent.call("debug_read", targets=[{"variable": "rank"}])
        assert several.data["results"][0]["values"][0] == {"value": "0", "members": ["1"]}
        every = await agent.call("debug_evaluate", expression="rank")
        assert every.text == cli("print", "rank").out
        await agent.call("debug_command", command="args")
        refused = await agent.refused("debug_variables", members="9")
        assert "no member '9'" in refused
        assert 'hint: members: "main,1-4"' in refused
        await agent.call("debug_command", command="focus 2")
        assert (await agent.call("debug_evaluate", expression="rank")).data["value"] == "1"
        await agent.call("debug_command", command="focus all")
        assert (await agent.call("debug_stack")).data["total"] == COUNT + 1
        ended = await agent.call("debug_session", action="stop")
        assert len(ended.data["ended"]) == COUNT + 1


def test_the_end_of_the_program_is_the_groups(cli: Cli) -> None:
    program = resolve_program("workers.py")
    end = answer_data(cli("--json", "start", "--group", program, "--", "pool", check=0))
    assert (end["member"], end["stop"]["exit_code"]) == ("main", 0)
    assert "main" not in [label for one in end["others"] for label in one["members"]]
    states = [one["state"] for one in read_again(cli, "status", "--group", "workers")["states"]]
    assert all(one.startswith("ended") for one in states)
    refused = cli("--json", "hang", "--group", "workers", check=4)
    assert refused.data["error"]["code"] == "PROGRAM_EXITED"
    assert "all members have ended" in cli("print", "x", "--group", "workers", check=4).err
    main = ("--group", "workers", "--members", "main")
    assert "error: main has ended" in cli("continue", *main, check=4).err
    # Its processes write to one stream: who wrote a line is not known.
    assert "main| " not in cli("output", "--group", "workers", "--all", check=0).out
    assert "the lines have no member" in cli("output", *main, check=0).out
    cli("stop", "--group", "workers", check=0)
    assert list_sessions(cli) == {}


def test_one_command_names_the_line_of_the_member_that_lags(cli: Cli) -> None:
    program = resolve_program(PROGRAM)
    for seconds in ("3", "10", "30"):  # until all ranks wait, on a machine with much to do
        words = ("hang", "--group", "--after", seconds, "--", program, "fork", str(COUNT))
        answer = read_again(cli, *words)
        if answer["verdict"]["kind"] == "lagging":
            break
    first = answer["verdict"]["rows"][0]
    assert (first["members"], f"{first['place']['file']}:{first['place']['line']}") == (["3"], ODD)
    assert list_sessions(cli) == {}
    ended = cli("hang", "--group", "--after", "30", "--", resolve_program("workers.py"), "pool")
    assert ended.out.startswith("no hang: it ended with status 0")


@pytest.mark.parametrize("victim", ["main", "3"])
def test_whatever_dies_first_nothing_is_left(
    cli: Cli, wait_until: Callable[..., None], victim: str
) -> None:
    start_ranks(cli, "--no-wait")
    wait_until(lambda: members_at(cli, ODD) == ["3"], 60, what="the odd rank at the queue")
    found = {one["label"]: one for one in read_again(cli, "status")["members"]}
    pids = [one["pid"] for one in found.values()]
    os.kill(found[victim]["pid"], signal.SIGKILL)
    name = f"{victim}: ended by SIGKILL"
    wait_until(lambda: name in cli("status", "--group", "ranks", check=0).out, 60, what=name)
    assert members_at(cli, MEET) == ["1", "2", "4"]
    if victim != "main":
        cause = read_again(cli, "hang", "--group")["verdict"]["cause"]
        assert cause.startswith("3 ended by SIGKILL; 1-2,4 wait in Barrier.wait at ")
    cli("stop", "--group", "ranks", check=0)
    assert list_sessions(cli) == {}
    wait_until(lambda: not any(map(is_alive, pids)), 60, what="the end of all processes")


def test_only_processes_of_a_pattern_are_members(cli: Cli) -> None:
    program = resolve_program("workers.py")
    cli("start", "--group", program, "--members", "*x.py*", "--", "subprocess", check=0)
    status = read_again(cli, "status", "--group", "workers")
    assert [one["label"] for one in status["members"]] == ["main"]
    refused = cli("start", program, "--members", "*x.py*", check=None)
    assert "--members chooses processes of a group" in refused.err
    cli("stop", "--group", "workers", check=0)


def test_a_group_of_one_behaves_as_a_session(cli: Cli) -> None:
    program, place = resolve_program("loop.py"), marked_location("loop.py", "add")
    stop = answer_data(cli("--json", "start", "--group", program, "--break", place, check=0))
    assert stop["stop"]["reason"] == "breakpoint"
    assert "frames" in read_again(cli, "backtrace")
    assert "value" in read_again(cli, "print", "1 + 1")
    assert read_again(cli, "print", "1 + 1", "--members", "main")["rows"][0]["values"] == [
        {"value": "2", "members": ["main"]}
    ]


def test_without_a_group_there_is_nothing_to_focus(cli: Cli) -> None:
    assert "there is no group" in cli("focus", "1", check=None).err
    assert "there is no group" in cli("hang", "--group", check=None).err
    assert cli("start", "--group", "nowhere.py", check=None).exit
    assert "there is no group" in cli("focus", "1", check=None).err


def child_pids(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.adapter("gdb-cli")
def test_a_running_tree_is_attached_to_side_by_side_and_let_go(
    cli: Cli, wait_until: Callable[..., None]
) -> None:
    program = resolve_program(PROGRAM)
    with run_program(sys.executable, program, "fork", str(COUNT), ready="all started") as process:
        pids = [process.pid, *child_pids(process.pid)]
        status = read_again(cli, "attach", "--group", "--tree", str(process.pid))
        assert [one["label"] for one in status["members"]] == ["main", "1", "2", "3", "4"]
        assert sorted(one["pid"] for one in status["members"]) == sorted(pids)
        wait_until(lambda: members_at(cli, ODD) == ["3"], 60, what="the odd rank at the queue")
        cli("detach", check=0)
        assert list_sessions(cli) == {}
        assert all(map(is_alive, pids))
        assert [find_tracer(one) for one in pids] == [0] * len(pids)
        some = ",".join(map(str, pids[1:3]))
        again = read_again(cli, "attach", "--group", "--pids", some)
        assert len(again["members"]) == len(pids[1:3])
        refused = cli("stop", "--kill", check=None)
        assert "were not started here" in refused.err
        assert "debugger stop --kill --members all" in refused.err
        assert all(map(is_alive, pids))
        cli("stop", check=0)
        assert all(map(is_alive, pids))
        for one in pids[1:]:  # they would hold the pipe of their parent's output
            os.kill(one, signal.SIGKILL)


@pytest.mark.adapter("gdb-cli")
def test_compiled_programs_have_the_ranks_of_their_environment(
    cli: Cli, wait_until: Callable[..., None]
) -> None:
    reader, other = build_debuggee("stdin.c"), build_debuggee("endless.c")
    with ExitStack() as running:
        pids = [
            running.enter_context(
                run_program(program, ready=ready, env={**os.environ, "PMI_RANK": str(rank)})
            ).pid
            for rank, (program, ready) in enumerate([(reader, "ready")] * 2 + [(other, "")])
        ]
        words = ("--pids", ",".join(map(str, pids)), "--adapter", "gdb")
        status = read_again(cli, "attach", "--group", *words)
        assert [(one["label"], one["pid"]) for one in status["members"]] == [
            (str(rank), pid) for rank, pid in enumerate(pids)
        ]
        verdict = read_again(cli, "hang", "--group")["verdict"]
        rows = [(one["is_laggard"], one["kind"], one["members"]) for one in verdict["rows"]]
        assert rows == [(True, "computes", ["2"]), (False, "waits", ["0", "1"])]
        assert verdict["rows"][1]["place"]["text"].startswith("while (fgets(line")

        def state_of(label: str) -> str:
            return next(
                str(one["state"])
                for one in read_again(cli, "status")["members"]
                if one["label"] == label
            )

        # gdb does not notice that a program is killed which it has stopped.
        cli("pause", "--members", "2", "--timeout", "30", check=0)
        assert state_of("2") == "stopped"
        os.kill(pids[2], signal.SIGKILL)
        wait_until(lambda: state_of("2") == "ended by SIGKILL", what="the end of a stopped member")
        assert state_of("1") == "running"
        cli("detach", check=0)
        assert [find_tracer(one) for one in pids[:2]] == [0, 0]


def test_a_group_takes_only_one_way_to_attach(cli: Cli) -> None:
    refused = cli("attach", "--group", "--tree", "1", check=None)
    assert "holds this debugger and programs of others" in refused.err
    assert "by one of --name, --tree and --pids" in cli("attach", "--group", check=None).err
    assert "named twice: 7 and --tree 8" in cli("attach", "7", "--tree", "8", check=None).err
    assert list_sessions(cli) == {}


@pytest.mark.adapter("gdb-cli")
def test_what_a_process_starts_after_the_attach_joins_its_group(
    cli: Cli, wait_until: Callable[..., None]
) -> None:
    program = resolve_program("groups/later.py")
    with run_program(sys.executable, program, ready="ready") as process:
        status = read_again(cli, "attach", "--group", "--tree", str(process.pid))
        assert [one["label"] for one in status["members"]] == ["main"]
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        members: dict[str, int] = {}

        def are_named() -> bool:
            members.clear()
            members.update(
                (one["label"], one["pid"]) for one in read_again(cli, "status")["members"]
            )
            return len(members) == COUNT and {"main", "1", "2"} <= members.keys()

        # By fork, by spawn, and by subprocess, which is named by its pid; no helper is a member.
        # A spawned child has its pid as its name until multiprocessing has set it up.
        wait_until(are_named, 60, what="the children, by their names")
        wait_until(
            lambda: (
                members_at(cli, marked_location("groups/later.py", "wait"))
                == sorted(members.keys() - {"main"})
            ),
            60,
            what="the children's stacks",
        )
        cli("detach", check=0)
        assert list_sessions(cli) == {}
        assert all(map(is_alive, members.values()))
        for pid in members.values():
            os.kill(pid, signal.SIGKILL)


def test_python_that_a_shell_starts_is_a_member_and_runs_as_it_does_without(
    cli: Cli, runtime_dir: Path
) -> None:
    program, place = resolve_program("groups/shell.py"), marked_location("groups/shell.py", "child")
    stop = answer_data(cli("--json", "start", "--group", program, "--break", place, check=0))
    assert (stop["member"][:3], stop["stop"]["reason"]) == ("pid", "breakpoint")
    (row,) = read_again(cli, "print", "words", "--members", "pid*")["rows"]
    assert row["values"][0]["value"] == "['a', 'b c']"
    assert count_adapters(cli) == 1
    end = answer_data(cli("--json", "continue", check=0))
    assert (end["member"], end["stop"]["exit_code"]) == ("main", 0)
    assert "status 3" in cli("output", "--all", check=0).out
    cli("stop", check=0)
    assert list_sessions(cli) == {}
    # What the debugger cannot take runs without it.
    words = ("member", "--or-alone", "--", sys.executable, "-c", "print('ran')")
    alone = subprocess.run(
        [sys.executable, "-m", "debugger", *words],
        env={**os.environ, "DEBUGGER_RUNTIME_DIR": str(runtime_dir)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (alone.stdout, alone.returncode) == ("ran\n", 0)
