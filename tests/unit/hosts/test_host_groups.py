"""Commands of a group over several hosts, which fakes of their daemons answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import pytest

from debugger.cli import commands, parser
from debugger.config import Config
from debugger.daemon.command_request import CommandRequest
from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts import group_beginning, host_groups
from debugger.hosts.host_address import parse_addresses
from debugger.hosts.host_call import HostCall, HostLimits
from debugger.hosts.host_groups import HostGroup, PartReply
from debugger.hosts.host_list import Host, HostList, HostRequest
from debugger.model import answers as a
from debugger.model.command_registry import COMMANDS
from debugger.output import to_data
from debugger.questions.group.answer import (
    GroupStacks,
    GroupStatus,
    GroupStop,
    MemberView,
    MergedState,
)

Script = Mapping[str, Any]


class ScriptedHosts:
    """Answers for each host: data, an error to raise, or None to wait until it is ended."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.sent: list[tuple[str, Mapping[str, Any]]] = []

    async def send_request(self, host: Host, request: HostRequest) -> dict[str, Any]:
        self.sent.append((host.label, request.message))
        found = self.script[host.label]
        if isinstance(found, DebuggerError):
            raise found
        if found is None:
            assert request.interrupted is not None
            await request.interrupted.wait()
            found = GroupStop("g", "", a.Stop(session="", state="running"), RUNNING)
        if found == "silent":
            await asyncio.Event().wait()
        return {"success": True, "result": to_data(found, budget=None), "text": "x", "exit": 0}


RUNNING = (MergedState("running", ("2", "main")),)
STOPPED = GroupStop("g", "1", a.Stop(session="g@h1.1", state="stopped", reason="breakpoint"))


async def ignore_text(_text: str) -> None: ...


def build_call(*argv: str) -> HostCall:
    commands.register_all()
    request = CommandRequest(id=1, stream=ignore_text, argv=argv)
    limits = HostLimits(read_s=0.05, change_s=0.1, settle_s=0.0)
    return HostCall(request, parser.parse_argv(argv, COMMANDS), Config(), limits=limits)


def build_group(count: int = 2) -> HostGroup:
    addresses = parse_addresses(",".join(f"h{n + 1}" for n in range(count)), None, None)
    hosts = [Host(one) for one in addresses]
    return HostGroup("g", {one.label: f"g@{one.label}" for one in hosts}, hosts)


async def run(group: HostGroup, script: Script, *argv: str) -> tuple[Any, ScriptedHosts]:
    hosts = ScriptedHosts(script)
    answer = await host_groups.run_in_group(cast("HostList", hosts), build_call(*argv), group)
    return answer, hosts


async def test_the_first_stop_ends_the_wait_on_the_other_hosts() -> None:
    group = build_group()
    answer, _ = await run(group, {"h2": STOPPED, "h1": None}, "continue")
    assert (answer.member, answer.stop.state) == ("1", "stopped")
    assert answer.others == (MergedState("running", ("2", "main@h1")),)
    assert group.active.label == "h2"


async def test_a_host_that_fails_or_is_late_is_named_with_its_members() -> None:
    group = build_group(3)
    stacks = GroupStacks("g", 1, (MergedState("running", ("0",)),), (), "line")
    await run(group, {"h1": stacks, "h2": STOPPED, "h3": stacks}, "backtrace")
    lost = DebuggerError(ErrorCode.NO_SESSION, "the daemon has ended", hint="x")
    answer, _ = await run(group, {"h1": stacks, "h2": lost, "h3": "silent"}, "backtrace")
    assert [(one.label, one.reason) for one in answer.silent] == [
        ("1", "h2: the daemon has ended"),
        ("0@h3", "h3: no answer within 0.05 s"),
    ]
    # A host whose daemon has ended has no member any more.
    assert [one.label for one in group.hosts] == ["h1", "h3"]


async def test_a_set_of_members_goes_to_the_hosts_that_have_them() -> None:
    def status(*labels: str) -> GroupStatus:
        views = tuple(MemberView(one, one, 1, "running") for one in labels)
        return GroupStatus("g", "", (MergedState("running", labels),), views)

    group = build_group(3)
    script = {"h1": status("main", "0", "1"), "h2": status("main", "2"), "h3": status("main", "3")}
    _, hosts = await run(group, script, "status", "--members", "1-2,main@h1")
    chosen = {
        name: message["args"]["members"]
        for name, message in hosts.sent
        if "members" in message["args"]
    }
    assert chosen == {"h1": "main,1", "h2": "2"}
    with pytest.raises(DebuggerError, match="no member '7'; there are: 0-3,main@h1-3"):
        await run(group, script, "status", "--members", "7")


async def test_a_failure_on_all_hosts_names_each_with_its_reason() -> None:
    failures = {
        name: DebuggerError(ErrorCode.WRONG_STATE, text, hint=f"debugger pause --host {name}")
        for name, text in (("h1", "not stopped"), ("h2", "h2: not reached"), ("h3", "not stopped"))
    }
    with pytest.raises(DebuggerError, match="h1, h3: not stopped; h2: not reached") as failed:
        await run(build_group(3), failures, "continue")
    assert failed.value.hint == "debugger pause --host h1,h3"


async def test_the_hint_of_a_failure_on_several_hosts_is_for_all_of_them() -> None:
    hints = {
        "debugger start --host {} PROGRAM": "debugger start --group --host h1,h2 PROGRAM",
        "debugger setup --host {} --yes": "debugger setup --host h1,h2 --yes",
        "ssh {} must work": "ssh h1 must work",
    }
    for hint, expected in hints.items():
        failures = {
            name: DebuggerError(ErrorCode.NOT_FOUND, "no such program", hint=hint.format(name))
            for name in ("h1", "h2")
        }
        with pytest.raises(DebuggerError, match="h1, h2: no such program") as failed:
            await run(build_group(), failures, "continue")
        assert failed.value.hint == expected


async def test_a_part_that_has_nothing_to_do_is_no_failure() -> None:
    ended = DebuggerError(ErrorCode.PROGRAM_EXITED, "all members have ended", hint="x")
    answer, _ = await run(build_group(), {"h1": ended, "h2": STOPPED}, "continue")
    assert (answer.member, answer.others) == ("1", ())


async def test_a_host_that_is_frozen_delays_no_command_beyond_its_own_time() -> None:
    script = {"h1": STOPPED, "h2": "silent"}
    for argv, late_s in ((("continue",), 0.05), (("stop",), 0.1), (("hang", "--group"), 0.1)):
        answer, _ = await run(build_group(), script, *argv)
        assert f"h2: no answer within {late_s} s" in str(answer)
    limits = {argv: build_call(*argv.split()).limit_s() for argv in LIMITS}
    assert limits == LIMITS


LIMITS = {"status": 0.05, "await --timeout 5": 5.1, "stop": 0.1, "crash --group -- ./a": 60.1}


class BeginningHosts:
    """Daemons that begin a part of a group when a test lets them, and then wait for a stop."""

    def __init__(self) -> None:
        self.may_begin = {name: asyncio.Event() for name in ("h1", "h2")}
        self.stopped: list[str] = []

    async def send_request(self, host: Host, request: HostRequest) -> dict[str, Any]:
        found: Any = GroupStop("train", "", a.Stop(session="", state="running"), RUNNING)
        if request.message["command"] == "stop":
            self.stopped.append(host.label)
        elif request.message["command"] == "status":
            views = (MemberView("main", "", 1, "running"),)
            found = GroupStatus("train", "", (MergedState("running", ("main",)),), views)
        else:
            assert request.on_begun is not None
            assert request.interrupted is not None
            await self.may_begin[host.label].wait()
            request.on_begun(f"train@{host.label}")
            await request.interrupted.wait()
        return {"success": True, "result": to_data(found, budget=None), "text": "x", "exit": 0}


async def test_status_names_a_host_on_which_the_group_could_not_begin() -> None:
    h1, h2 = build_group().hosts
    group = HostGroup("train", {}, [], [h1, h2])
    beginning = group_beginning.GroupBeginning(group, lambda _: None)
    failure = DebuggerError(ErrorCode.NOT_FOUND, "h2: no Python 3.11")
    beginning.note_reply(PartReply(h2, error=failure))
    hosts = cast("HostList", BeginningHosts())
    waiting = await host_groups.run_in_group(hosts, build_call("status"), group)
    beginning.note_part(h1, "train@h1")
    begun = await host_groups.run_in_group(hosts, build_call("status"), group)
    failed = MergedState("no answer", ("*@h2",))
    assert isinstance(waiting, GroupStatus)
    assert waiting.states == (MergedState("starting", ("*@h1",)), failed)
    assert isinstance(begun, GroupStatus)
    assert begun.states == (MergedState("running", ("main@h1",)), failed)
    assert begun.members[-1].where == "h2: no Python 3.11"


async def test_a_group_is_known_and_ends_while_its_hosts_begin() -> None:
    hosts, has_news, known = BeginningHosts(), asyncio.Event(), list[HostGroup]()

    def note_group(group: HostGroup) -> None:
        known.append(group)
        has_news.set()

    async def run_now(*argv: str) -> Any:
        return await host_groups.run_in_group(cast("HostList", hosts), build_call(*argv), known[-1])

    chosen = build_group().hosts
    call = build_call("start", "--group", "--host", "h1,h2", "/x/train.py")
    begin = group_beginning.begin_group(cast("HostList", hosts), call, chosen, None, note_group)
    beginning = asyncio.create_task(begin)
    await has_news.wait()
    assert known[0].name == "train"
    assert (await run_now("status")).states == (MergedState("starting", ("*@h1", "*@h2")),)
    with pytest.raises(DebuggerError, match="train is starting on h1, h2, and has no members"):
        await run_now("continue")
    has_news.clear()
    hosts.may_begin["h1"].set()
    await has_news.wait()
    assert (await run_now("status")).states == (
        MergedState("running", ("main@h1",)),
        MergedState("starting", ("*@h2",)),
    )
    await run_now("stop")
    assert hosts.stopped == ["h1"]
    # What begins later is ended, too: nobody else would.
    hosts.may_begin["h2"].set()
    with pytest.raises(DebuggerError, match="train: stop ended it while it began"):
        await beginning
    assert hosts.stopped == ["h1", "h1", "h2"]
