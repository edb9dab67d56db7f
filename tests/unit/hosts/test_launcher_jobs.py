"""A launcher's wait and a hang of its job take in the hosts that it comes to reach."""

from __future__ import annotations

from typing import Any, cast

import pytest

from debugger.cli import commands, parser
from debugger.config import Config
from debugger.daemon.command_request import CommandRequest
from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts import job_hang, launcher_jobs
from debugger.hosts.host_call import HostCall
from debugger.hosts.host_groups import HostGroup
from debugger.hosts.host_list import HostList
from debugger.hosts.launcher_jobs import LauncherJobs, encode_breakpoints
from debugger.model import answers as a
from debugger.model.breakpoints import Breakpoint, BreakpointSpec
from debugger.model.command_registry import COMMANDS
from debugger.model.location import SourceMap
from debugger.questions.group.answer import GroupHang, GroupStop, MergedState
from debugger.questions.group.laggards import GroupVerdict, WaitRow
from debugger.questions.group.member_wait import SILENT
from debugger.questions.hang.answer import Hang
from debugger.session.group import SilentMember

RUNS = GroupStop("job", "", a.Stop(session="job", state="running"))
ENDS = GroupStop("job", "main", a.Stop(session="job", state="terminated", exit_code=1))
STOPS = GroupStop("job", "2", a.Stop(session="job@h1.1", state="stopped"))


async def ignore_text(_text: str) -> None: ...


async def run_nothing(_request: object) -> dict[str, Any]:
    raise AssertionError("nothing is asked of this machine")


def build_call(*argv: str) -> HostCall:
    commands.register_all()
    request = CommandRequest(id=1, stream=ignore_text, argv=argv)
    return HostCall(request, parser.parse_argv(argv, COMMANDS), Config())


async def test_a_start_goes_on_with_the_ranks_of_hosts_that_join(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hosts, ran = HostList(run_nothing), []
    group = cast("HostGroup", object())
    known: dict[str, HostGroup] = {}
    jobs = LauncherJobs(hosts, known.get)

    async def run_here(own: HostCall) -> a.Answer:
        ran.append((own.invocation.command.name, "here"))
        if own.invocation.command.name == "await":
            # Another group's part has come: this one waits on.
            known["job"] = group
        jobs.note_part()
        await own.request.interrupted.wait()
        return RUNS

    async def run_in_group(_hosts: HostList, own: HostCall, at: HostGroup) -> a.Answer:
        assert at is group
        ran.append((own.invocation.command.name, "everywhere"))
        assert 0 <= own.invocation.args["timeout"] <= 30
        return STOPS

    monkeypatch.setattr(launcher_jobs, "run_in_group", run_in_group)
    call = build_call("start", "--group", "--", "mpirun", "./app")
    assert await jobs.follow_start(call, 30, run_here) == STOPS
    assert ran == [("start", "here"), ("await", "here"), ("await", "everywhere")]


@pytest.mark.parametrize("has_ended", [False, True])
async def test_a_hang_is_looked_at_until_it_is_the_same_and_the_job_ends(has_ended: bool) -> None:
    asked: list[str] = []
    row = WaitRow(("2",), "waits", is_laggard=True)
    verdict = GroupHang("job", 4, GroupVerdict("lagging", "2 lags", (row,)))

    async def ask(own: HostCall) -> a.Answer:
        asked.append(own.invocation.command.name)
        answers = {"await": ENDS if has_ended else RUNS, "hang": verdict, "stop": RUNS}
        return answers[asked[-1]]

    call = build_call("hang", "--group", "--after", "1", "--", "mpirun", "./app")
    answer = await job_hang.find_laggards_of_job(call, ask)
    if has_ended:
        assert isinstance(answer, Hang)
        assert (answer.kind, answer.cause) == ("ended", "no hang: it ended with status 1")
    else:
        assert answer == verdict
    looks = [] if has_ended else ["hang", "await", "hang"]
    assert asked == ["await", *looks, "stop"]
    assert job_hang.begin_call(call).invocation.args["only_begins"] is True


async def test_a_host_that_was_not_reached_makes_no_hang_be_looked_at_longer() -> None:
    asked: list[str] = []
    looks = ["await", "hang", "await", "hang", "stop"]
    lost = SilentMember("*@h3", "h3: the connection was refused")
    rows = (WaitRow(("2",), "waits", is_laggard=True), WaitRow((lost.label,), SILENT))
    verdict = GroupHang("job", 5, GroupVerdict("lagging", "2 lags", rows))

    async def ask(own: HostCall) -> a.Answer:
        asked.append(own.invocation.command.name)
        assert len(asked) <= len(looks)
        return {"await": RUNS, "hang": verdict, "stop": RUNS}[asked[-1]]

    call = build_call("hang", "--group", "--", "mpirun", "./app")
    assert await job_hang.find_laggards_of_job(call, ask, [lost]) == verdict
    assert asked == looks


async def test_what_stops_at_an_exception_goes_on_to_the_end_of_its_job() -> None:
    replies = {"await": [STOPS], "continue": [STOPS, ENDS], "stop": [RUNS]}
    asked: list[str] = []

    async def ask(own: HostCall) -> a.Answer:
        asked.append(own.invocation.command.name)
        return replies[asked[-1]].pop(0)

    call = build_call("hang", "--group", "--after", "50", "--", "mpirun", "./app")
    answer = await job_hang.find_laggards_of_job(call, ask)
    assert isinstance(answer, Hang)
    assert answer.kind == "ended"
    assert asked == ["await", "continue", "continue", "stop"]


async def test_a_job_that_is_stopped_at_an_exception_is_looked_at_once() -> None:
    row = WaitRow(("main",), "stopped", detail="KeyError", is_laggard=True)
    verdict = GroupHang("job", 1, GroupVerdict("blocked", "main is stopped", (row,)))

    async def ask(own: HostCall) -> a.Answer:
        return {"await": STOPS, "hang": verdict, "stop": RUNS}[own.invocation.command.name]

    call = build_call("hang", "--group", "--after", "0", "--", "mpirun", "./app")
    assert await job_hang.find_laggards_of_job(call, ask) == verdict


def test_a_job_that_ends_by_itself_is_reported_with_all_its_output() -> None:
    first = a.OutputLine("stderr", "Error: unknown option", 1)
    last = a.OutputLine("stderr", "usage: mpirun", 2)
    states = [
        GroupStop("job", "", a.Stop("job", "running", output=(first,), output_total=1)),
        GroupStop(
            "job",
            "main@h1",
            a.Stop("job", "terminated", exit_code=3, output=(last,), output_total=1),
            (MergedState("ended with status 3", ("main@h2",)),),
        ),
    ]
    answer = job_hang.report_job_end(states, [SilentMember("*@h3", "h3: refused")])
    assert (answer.output, answer.output_total) == ((first, last), 2)
    assert answer.cause == "no hang: it ended with status 3"
    assert answer.notes == ("main@h2: ended with status 3", "*@h3: h3: refused")
    gone = job_hang.report_job_end([GroupStop("job", "", a.Stop("job", "terminated"))])
    assert gone.cause == "no hang: it ended"


async def test_a_job_whose_host_fails_is_ended_all_the_same() -> None:
    asked: list[str] = []

    async def ask(own: HostCall) -> a.Answer:
        asked.append(own.invocation.command.name)
        if asked[-1] == "hang":
            raise DebuggerError(ErrorCode.ADAPTER_DIED, "broken", hint="x")
        return RUNS

    with pytest.raises(DebuggerError, match="broken"):
        await job_hang.find_laggards_of_job(build_call("hang", "--group", "--", "mpirun"), ask)
    assert asked == ["await", "hang", "stop"]


def test_breakpoints_come_to_a_host_with_its_folders() -> None:
    known = [Breakpoint(3, BreakpointSpec(file="/home/me/x.c", line=7, condition="i > 2"))]
    text = encode_breakpoints(known, SourceMap((("/srv", "/home/me"),)))
    assert '"file":"/srv/x.c"' in text
    assert '"id":3' in text
