"""Decides which commands run on other hosts, sends them there, and returns their answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from debugger.cli.parser import Invocation
from debugger.daemon.command_request import CommandReply, CommandRequest
from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts.group_beginning import begin_group
from debugger.hosts.host_address import HostAddress, parse_addresses
from debugger.hosts.host_call import HostCall, build_reply
from debugger.hosts.host_channel import HostGreeting
from debugger.hosts.host_groups import ENDING, HostGroup, has_group_form, run_in_group
from debugger.hosts.host_list import Host, HostList, RunHere
from debugger.hosts.host_setup import HostInstaller
from debugger.hosts.job_hang import begin_call, find_laggards_of_job
from debugger.hosts.launcher_jobs import LauncherJobs, run_remote_shell
from debugger.model.answers import (
    Answer,
    HostFailure,
    HostReplies,
    HostReply,
    Sessions,
    Status,
)
from debugger.output import to_data
from debugger.targets.launchers import parse_remote_shell

# They begin something, or are about the tool itself: here, unless a host is named.
_BEGINNING = frozenset({"start", "attach"})
_OWN = _BEGINNING | {"sessions", "config", "doctor", "setup", "test", "daemon", "evidence", "runs"}
# Of a process whose streams are the client's: it is started where it is to serve.
_DOORS = frozenset({"mcp", "dap", "ui", "skill"})
# A question with one of these starts or attaches to a program of its own.
_PROGRAM_ARGUMENTS = ("words", "core", "pid")
# Its words are changes of the program of the session.
_OF_SESSION = frozenset({"try"})
# Each host's answer stands for itself.
_SIDE_BY_SIDE = frozenset({"config", "doctor", "setup", "daemon", "sessions"})
_LIST_S = 10.0  # seconds for a host to list its sessions
# The session that they make, or choose, becomes the current one.
_SELECTING = _BEGINNING | {"use", "focus"}


class Route(Struct, frozen=True):
    """Where a command runs: on which hosts, and in which session or group there."""

    hosts: tuple[HostAddress, ...]
    session: str | None = None
    # Its parts are on several hosts.
    group: str | None = None
    # What a launcher runs there in the place of ssh.
    shell_command: str | None = None


class HostRouter:
    """Sends commands to the hosts that they name, or whose session they act on."""

    def __init__(self, run_here: RunHere) -> None:
        self.hosts = HostList(run_here)
        self.jobs = LauncherJobs(self.hosts, self._find_group)
        # The session of a host, or the group of several, that is the current one; None: one of
        # this machine's.
        self.current: str | None = None
        self._groups: dict[str, HostGroup] = {}
        # Of groups whose clients have gone while they began.
        self._finishing: set[asyncio.Task[None]] = set()

    def find_route(self, invocation: Invocation, request: CommandRequest) -> Route | None:
        """Return where a command runs; None: on this machine.

        Raises:
            DebuggerError: USAGE for a bad host, or for several where one is meant.
        """
        if invocation.args.get("is_shell") and request.known_as is None:
            return _route_shell(invocation)
        given = invocation.host
        addresses = parse_addresses(given.host, given.container, given.pod)
        if addresses:
            return self._route_to_hosts(addresses, invocation, request)
        if invocation.command.name in _BEGINNING:
            self._check_name(invocation.session or request.session)
        session = self._find_session(invocation, request)
        if session is None:
            return None
        route = self._route_to(session)
        if route is None and invocation.command.name not in _BEGINNING:
            host = self.hosts.host_in_name(session)
            route = Route((host.address,), session) if host is not None else None
        return route

    def _check_name(self, name: str | None) -> None:
        """Refuse the name of a host's session for one of this machine."""
        if name is not None and self._route_to(name) is not None:
            raise _name_in_use(name)

    def _route_to_hosts(
        self, addresses: tuple[HostAddress, ...], invocation: Invocation, request: CommandRequest
    ) -> Route:
        name = invocation.command.name
        if name in _DOORS:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"{name} serves on the machine that it runs on",
                hint=f"debugger {name}, there",
            )
        if len(addresses) > 1:
            if name.split()[0] not in _SIDE_BY_SIDE:
                if not invocation.args.get("is_group"):
                    raise _one_host_only(name)
                return Route(addresses, invocation.session or request.session or None)
            return Route(addresses)
        named = invocation.session or request.session or None
        return Route(addresses, named or self._current_at(addresses[0], invocation))

    def _find_session(self, invocation: Invocation, request: CommandRequest) -> str | None:
        """Return the name of the session or group that a command acts on, if it may be a host's."""
        command, args = invocation.command.name, invocation.args
        if command.split()[0] in _OWN or command in _DOORS:
            return None
        if command == "stop" and args.get("every"):  # with the daemon here those of hosts end, too
            return None
        if command == "use":
            return str(args.get("name"))
        named = invocation.session or request.session or request.env.get("DEBUGGER_SESSION")
        if isinstance(group := args.get("group"), str):
            named = group
        has_program = any(args.get(one) for one in _PROGRAM_ARGUMENTS)
        if not named and has_program and command not in _OF_SESSION:
            return None
        return named or self.current

    def _route_to(self, session: str) -> Route | None:
        group = self._find_group(session)
        if group is not None:
            return Route(tuple(one.address for one in group.hosts), group=group.name)
        host = self.hosts.host_of_session(session)
        return Route((host.address,), session) if host is not None else None

    def _find_group(self, name: str | None) -> HostGroup | None:
        self._groups = {name: one for name, one in self._groups.items() if one.is_live}
        return self._groups.get(name or "")

    def _current_at(self, address: HostAddress, invocation: Invocation) -> str | None:
        """Return the host's current session for a command that acts on one."""
        if invocation.command.name.split()[0] in _OWN:
            return None
        host = next((one for one in self.hosts.all_hosts() if one.address == address), None)
        return host.current if host is not None else None

    async def run(self, call: HostCall, route: Route) -> CommandReply | Answer:
        """Run a command on its hosts: a host's reply, or the answer of several.

        Raises:
            DebuggerError: The host cannot be reached, or the connection broke.
        """
        name, args = call.invocation.command.name, call.invocation.args
        is_taken = route.session in call.names_here or self._find_group(route.session) is not None
        if name in _BEGINNING and is_taken:
            raise _name_in_use(str(route.session))
        if route.shell_command is not None:
            return await self._run_remote_shell(call, route, route.shell_command)
        if name == "doctor" or (name == "setup" and not args.get("name") and not args.get("every")):
            ask = self._examine_host if name == "doctor" else self._set_up_host
            return await self._run_side_by_side(call, route, ask)
        if route.group is not None:
            return await self._run_in_group(call, self._groups[route.group])
        if len(route.hosts) > 1 and args.get("is_group"):
            return await self._begin_group(call, route)
        if len(route.hosts) > 1:
            return await self._run_side_by_side(call, route, self._ask_host)
        return await self._run_on_host(call, route)

    async def _run_on_host(self, call: HostCall, route: Route) -> CommandReply:
        host = self.hosts.host_at(route.hosts[0])
        name, before = call.invocation.command.name, self.current
        # What begins there is the current session before the answer, which may wait for a stop.
        note_begun = self._make_current if name in _BEGINNING else None
        own = msgspec.structs.replace(call, on_begun=note_begun)
        request = own.build_request(host, route.session)
        try:
            answer = await self.hosts.send_request(host, request)
        except DebuggerError as error:
            if name not in ENDING or host.is_reached or not host.sessions:
                raise
            host.forget_sessions()
            kept_s = call.config.hosts.keep_secs
            note = f"; its sessions are forgotten here, and end there after {kept_s:g} s"
            raise DebuggerError(error.code, error.message + note, hint=error.hint) from error
        finally:
            self._follow_current(host)
        if name in _BEGINNING and not answer.get("success") and self.current is None:
            self.current = before
        # A member that is chosen in the current group leaves that the current one.
        selects = name in _BEGINNING or not self._find_group(self.current)
        if name in _SELECTING and answer.get("success") and selects:
            self.current = host.current
        return build_reply(answer, call.folders_at(host), host.address)

    def _make_current(self, _host: Host, session: str) -> None:
        self.current = session

    async def _run_remote_shell(self, call: HostCall, route: Route, command: str) -> CommandReply:
        """Start what a launcher of this machine runs on a host, as a part of its group."""
        host = self.hosts.host_at(route.hosts[0])
        name = str(call.invocation.args["group"])
        if self.jobs.has_question(name):
            return await self.jobs.run_question_part(name, host, command)
        if call.invocation.args.get("is_crash"):
            return await self.jobs.run_crash_part(call, host, command)

        def add_part(part: str) -> None:
            group = self._find_group(name)
            if group is None:
                own = self.hosts.own
                # It has its session there, as the launcher's process runs.
                own.sessions = {name: {}}
                group = self._groups[name] = HostGroup(name, {own.label: name}, [own])
            group.add_part(host, part)
            if call.current_here == name:
                self.current = name
            self.jobs.note_part()

        return await run_remote_shell(self.hosts, call, host, command, add_part)

    async def _begin_group(self, call: HostCall, route: Route) -> Answer:
        chosen = [self.hosts.host_at(one) for one in route.hosts]
        name = call.invocation.command.name
        if name != "hang" and name not in _BEGINNING:
            _, answer = await begin_group(self.hosts, call, chosen, route.session)
            return answer
        own = begin_call(call) if name == "hang" else call
        work = (
            begin_group(self.hosts, own, chosen, route.session)
            if name == "hang"
            else self._begin_known_group(call, chosen, route.session)
        )
        beginning = asyncio.create_task(work)
        try:
            group, answer = await asyncio.shield(beginning)
        except asyncio.CancelledError:
            # The client has gone, and the hosts have begun their parts: no wait for a stop goes on.
            call.request.interrupted.set()
            task = asyncio.create_task(self._finish_beginning(call, beginning))
            self._finishing.add(task)
            task.add_done_callback(self._finishing.discard)
            raise
        if name == "hang":
            return await find_laggards_of_job(
                call, lambda own: run_in_group(self.hosts, own, group), group.unreached
            )
        return answer

    async def _begin_known_group(
        self, call: HostCall, chosen: Sequence[Host], session: str | None
    ) -> tuple[HostGroup, Answer]:
        """Begin a group that other commands find at once; one that fails is forgotten."""
        known: list[HostGroup] = []
        before = self.current

        def forget_name() -> None:
            self._groups = {name: one for name, one in self._groups.items() if one not in known}

        def note_group(group: HostGroup) -> None:
            known[:] = [group]
            forget_name()
            self._add_group(call, group)

        try:
            return await begin_group(self.hosts, call, chosen, session, note_group)
        except DebuggerError:
            if self.current in {one.name for one in known}:
                self.current = before
            forget_name()
            raise

    async def _finish_beginning(
        self, call: HostCall, beginning: asyncio.Task[tuple[HostGroup, Answer]]
    ) -> None:
        """Keep a group whose client has gone while it began, or end the job of a question."""
        with suppress(DebuggerError):
            group, _ = await beginning
            if call.invocation.command.name == "hang":
                await run_in_group(self.hosts, call.replace_command("stop", {}), group)

    def _add_group(self, call: HostCall, group: HostGroup) -> None:
        """Make a group that begins the current one, under a name that no other has."""
        # What had these sessions' names before has ended.
        self._groups = {
            name: one for name, one in self._groups.items() if not one.shares_part(group)
        }
        base, number = group.name, 1
        while self._find_group(group.name) is not None or group.name in call.names_here:
            number += 1
            group.name = f"{base}-{number}"
        self._groups[group.name] = group
        self.current = group.name

    async def _run_in_group(self, call: HostCall, group: HostGroup) -> CommandReply | Answer:
        """Run a command on all parts, or on the host of the current member."""
        command, args = call.invocation.command, call.invocation.args
        if command.name == "use":
            self.current, group.has_focus = group.name, False
            return await run_in_group(self.hosts, call.replace_command("status", {}), group)
        is_named = any(isinstance(args.get(one), str) for one in ("group", "members"))
        is_for_all = is_named or not group.has_focus or command.name == "focus"
        if has_group_form(call) and is_for_all:
            return await run_in_group(self.hosts, call, group)
        if not group.hosts:
            return await run_in_group(self.hosts, call, group)  # which says that it starts
        current = group.active.current or group.parts[group.active.label]
        return await self._run_on_host(call, Route((group.active.address,), current))

    async def _run_side_by_side(
        self, call: HostCall, route: Route, ask: Callable[[HostCall, Host], Awaitable[HostReply]]
    ) -> HostReplies:
        """Ask hosts at the same time; the failure of one is its answer."""

        async def ask_one(address: HostAddress) -> HostReply:
            host = self.hosts.host_at(address)
            try:
                return await ask(call, host)
            except DebuggerError as error:
                failure = HostFailure(error.code.value, error.message, error.hint)
                return HostReply((host.label,), "", error=failure)

        replies = await asyncio.gather(*map(ask_one, route.hosts))
        if len(replies) == 1 and replies[0].error is not UNSET:
            failure = replies[0].error
            raise DebuggerError(ErrorCode(failure.code), failure.message, hint=failure.hint)
        return HostReplies(tuple(replies))

    async def _ask_host(self, call: HostCall, host: Host) -> HostReply:
        changes = {"json": False, "result": True, "progress": False}
        answer = await self.hosts.send_request(host, call.build_request(host, None, changes))
        reply = build_reply(answer, call.folders_at(host), host.address)
        if reply.error is not None:
            raise reply.error
        return HostReply((host.label,), reply.text or "", dict(reply.result or {}))

    async def _examine_host(self, call: HostCall, host: Host) -> HostReply:
        """Report how a host is reached, and which adapters start there."""
        greeting = await self.hosts.connect(host, call.build_request(host, None))
        reply = await self._ask_host(call, host)
        own = host.address.add_to_commands(reply.data or {})
        data = {"reached": to_data(greeting, budget=None), **own}
        text = f"{_describe_greeting(greeting)}\n{host.address.add_to_commands(reply.text)}"
        return HostReply(reply.hosts, text, data)

    async def _set_up_host(self, call: HostCall, host: Host) -> HostReply:
        """Put this debugger onto a host, or tell what that would do, or check what is there."""
        request = call.build_request(host, None)
        if not call.invocation.args.get("check"):
            installer = HostInstaller(host.address, request.tools, request.env)
            if not call.invocation.args.get("yes"):
                return HostReply((host.label,), await installer.describe_plan())
            self._refuse_in_use(host)
            await installer.install()
            await self.hosts.disconnect(host)
        greeting = await self.hosts.connect(host, request)
        data = {"reached": to_data(greeting, budget=None)}
        return HostReply((host.label,), _describe_greeting(greeting), data)

    def _refuse_in_use(self, host: Host) -> None:
        if live := host.live_sessions():
            raise DebuggerError(
                ErrorCode.WRONG_STATE,
                f"{host.label} has live sessions: {', '.join(one['name'] for one in live)}",
                hint=f"{host.address.write_command('daemon stop')} ends them",
            )

    async def list_sessions(self, call: HostCall, answer: Sessions) -> Sessions:
        """Add the sessions of hosts to those of this machine; of a silent host what is known."""

        async def list_one(host: Host) -> Sequence[Status]:
            known = dict(host.sessions)
            try:
                async with asyncio.timeout(_LIST_S):
                    reply = await self._ask_host(call, host)
                return msgspec.convert(reply.data, Sessions, strict=False).sessions
            except (DebuggerError, TimeoutError, msgspec.ValidationError) as error:
                return [_unknown_session(name, one, str(error)) for name, one in known.items()]

        reached = [one for one in self.hosts.all_hosts() if one.sessions]
        listed = await asyncio.gather(*map(list_one, reached))
        found = (*answer.sessions, *(each for one in listed for each in one))
        current = self.current or answer.current
        return msgspec.structs.replace(answer, sessions=found, current=current)

    def _follow_current(self, host: Host) -> None:
        """Take the host's current session where the one from here has ended."""
        if self.current is None or self._find_group(self.current) is not None:
            return
        if self.hosts.host_of_session(self.current) is None:
            self.current = host.current

    def choose_group(self, name: str) -> None:
        """Make a group of several hosts the current one; another name changes nothing."""
        if self._find_group(name) is not None:
            self.current = name

    def leave(self, command: str) -> None:
        """Record that a command of this machine has chosen a session."""
        if command in _SELECTING:
            self.current = None


def _route_shell(invocation: Invocation) -> Route:
    words = tuple(map(str, invocation.args.get("words") or ()))
    host, command = parse_remote_shell(words)
    return Route(parse_addresses(host, None, None), shell_command=command)


def _describe_greeting(greeting: HostGreeting) -> str:
    return (
        f"debugger {greeting.version} as {greeting.user} on {greeting.host}, "
        f"Python {greeting.python}, {greeting.system}, clock {greeting.clock_ahead_s:+.1f} s"
    )


def _unknown_session(name: str, known: Mapping[str, Any], reason: str) -> Status:
    """Return what is known of a session whose host gives no answer."""
    program, pid = known.get("program"), known.get("pid")
    return Status(
        session=name,
        state="unknown",
        program=program if isinstance(program, str) else None,
        args=(),
        cwd="",
        pid=pid if isinstance(pid, int) else None,
        adapter="",
        backend="",
        breakpoints=0,
        unread_output=0,
        error=reason or f"no answer within {_LIST_S:g} s",
    )


def _name_in_use(name: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.USAGE,
        f"the session {name!r} is in use",
        hint=f"debugger stop --session {name} ends it",
    )


def _one_host_only(command: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.USAGE,
        f"{command} on several hosts is for a group",
        hint=f"debugger {command} --group --host h1,h2 …"
        if command in {"start", "attach", "hang", "crash", "probe", "diff", "path"}
        else "--host h1",
    )
