"""Holds groups whose members are on several hosts, and runs their commands on all of them."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts.answer_merge import (
    STARTING,
    GroupAnswer,
    HostEvents,
    Relabel,
    has_stopped,
    list_labels,
    merge_answers,
    merge_events,
    merge_statuses,
    read_answer,
    relabel_answer,
)
from debugger.hosts.first_failure import FirstFailure
from debugger.hosts.host_address import HostKind
from debugger.hosts.host_call import HostCall, build_reply
from debugger.hosts.host_list import Host, HostList, HostRequest
from debugger.model.answers import Answer, Events, HostFailure, HostReplies, HostReply
from debugger.model.group_labels import MAIN, format_members, select_members, sort_key
from debugger.questions.group.answer import (
    GroupCrash,
    GroupStacks,
    GroupStatus,
)
from debugger.session.group import SilentMember

_OF_GROUPS = re.compile("debugger (?:start|attach|hang|crash|probe|path|diff) --host ")
_NO_ANSWER = ErrorCode.NOT_FOUND.value
BUDGET = 1_000_000  # tokens of a host's answer, which is cut only when it is merged
# They have no form for groups, and are for all parts all the same.
_FOR_ALL = ("breakpoint", "catch", "output")
# They end sessions, or let go of them.
ENDING = frozenset({"stop", "detach"})
# Their answers name the hosts on which the group could not begin, too.
_NAMES_UNREACHED = frozenset({"hang", "status"})
# They resume or await, and the first stop is the answer.
_AWAITING = frozenset({"start", "continue", "await"})
# Waits that a broken connection does not end. What is to be resumed has been by then.
_REPEATED = frozenset({"continue", "await"})
_AGAIN_S = 2.0  # seconds between two tries to reach a host again


class PartReply(Struct, frozen=True):
    """What one host answered for its part of a group."""

    host: Host
    text: str = ""
    data: dict[str, Any] = {}
    error: DebuggerError | None = None


class HostGroup:
    """A group with a part on each of several hosts."""

    def __init__(
        self,
        name: str,
        parts: dict[str, str],
        hosts: Sequence[Host],
        starting: Sequence[Host] = (),
        start_wait: asyncio.Event | None = None,
    ) -> None:
        self.name = name
        # The name of the part on each host.
        self.parts = parts
        self.hosts = list(hosts)
        # The host of the member that stopped last, or that is in focus.
        self.active = (*self.hosts, *starting)[0]
        self.has_focus = False
        # The hosts on which it could not begin.
        self.unreached: list[SilentMember] = []
        # The hosts that have not begun their part yet.
        self.starting = list(starting)
        # The command that ended the group while it began: for the parts that begin later.
        self.ending: HostCall | None = None
        # Ends the wait of the command that begins it.
        self._start_wait = start_wait
        self._labels: dict[str, set[str]] = {one.label: set() for one in hosts}

    def add_part(self, host: Host, name: str) -> None:
        """Add the part of a host that began it after the first, or that a launcher has reached."""
        if host in self.starting:
            self.starting.remove(host)
        self.parts[host.label] = name
        self._labels.setdefault(host.label, set())
        if host not in self.hosts:
            self.hosts.append(host)
        if len(self.hosts) == 1:
            self.active = host

    def order_hosts(self, chosen: Sequence[Host]) -> None:
        """Put the hosts, which began in any order, into that of the command."""
        self.hosts.sort(key=chosen.index)
        if not self.has_focus:
            self.active = self.hosts[0]

    def note_command(self, call: HostCall) -> None:
        """Record a command that ends the group: it is for the parts that begin later, too."""
        is_for_all = call.invocation.args.get("members") is None
        if self.starting and is_for_all and call.invocation.command.name in ENDING:
            self.ending = call
            if self._start_wait is not None:
                self._start_wait.set()

    def note_failure(self, host: Host, reason: str) -> None:
        """Record a host that could not begin its part."""
        if host in self.starting:
            self.starting.remove(host)
        elif host in self.hosts:
            self.forget_host(host)
        self.unreached.append(SilentMember(f"*@{host.label}", reason))

    def starting_members(self) -> list[SilentMember]:
        """Return the hosts that have not begun their part yet, in place of their members."""
        return [SilentMember(f"*@{one.label}", STARTING) for one in self.starting]

    @property
    def is_live(self) -> bool:
        """Whether a host still has, or will have, sessions of the group, as far as is known."""
        return bool(self.starting) or any(
            session.startswith(self.parts[host.label])
            for host in self.hosts
            for session in host.sessions
        )

    def shares_part(self, other: HostGroup) -> bool:
        """Return whether another group has a part of the same name on the same host."""
        return bool(self.parts.items() & other.parts.items())

    def forget_host(self, host: Host) -> None:
        """Go on without a host whose daemon, and with it all members there, has ended."""
        if len(self.hosts) > 1:
            self.hosts.remove(host)
            self._labels.pop(host.label)
            if self.active is host:
                self.active, self.has_focus = self.hosts[0], False

    def note_labels(self, host: Host, answer: GroupAnswer | Events, *, is_all: bool) -> None:
        """Record the labels of a host's members: a new one is a pid until it has its name."""
        if is_all and isinstance(answer, GroupStacks | GroupStatus):
            self._labels[host.label] = set()
        self._labels[host.label] |= list_labels(answer)

    def name_member(self, host: Host, label: str) -> str:
        """Return the label of a member in the whole group: with its host where it needs it.

        A rank is a rank of the whole job; what each host has, as `main`, is told apart.
        """
        known_elsewhere = any(
            label in labels for name, labels in self._labels.items() if name != host.label
        )
        if label == MAIN and host.address.kind is HostKind.OWN:
            return label
        if label == MAIN or label.startswith("pid") or known_elsewhere:
            return f"{label}@{host.label}"
        return label

    def relabel(self, host: Host) -> Relabel:
        """Return the function that names a host's members in the whole group."""
        return partial(self.name_member, host)

    def select(self, members: str | None) -> dict[str, str | None]:
        """Return the set of members for each host that has some of them; None: all of its own.

        Raises:
            DebuggerError: USAGE, NOT_FOUND.
        """
        if members is None:
            return dict.fromkeys(one.label for one in self.hosts)
        names = {
            self.name_member(host, label): (host.label, label)
            for host in self.hosts
            for label in self._labels[host.label]
        }
        chosen = select_members(members, sorted(names, key=sort_key))
        found: dict[str, list[str]] = {}
        for one in chosen:
            host, label = names[one]
            found.setdefault(host, []).append(label)
        return {host: format_members(labels) for host, labels in found.items()}

    def silent_members(self, host: Host, reason: str) -> list[SilentMember]:
        """Return the members of a host that gives no answer; where none is known, the host."""
        labels = sorted(self._labels[host.label], key=sort_key)
        names = [self.name_member(host, one) for one in labels] or [f"*@{host.label}"]
        return [SilentMember(one, _name_host(host, reason)) for one in names]


def has_group_form(call: HostCall) -> bool:
    """Return whether a command acts on all members of a group."""
    command, args = call.invocation.command, call.invocation.args
    is_hang = command.name == "hang" and bool(args.get("is_group"))
    names = {one.name for one in command.parameters}
    return is_hang or {"group", "members"} <= names or command.name.split()[0] in _FOR_ALL


async def run_in_group(hosts: HostList, call: HostCall, group: HostGroup) -> Answer:
    """Run a command on the parts of a group, and merge their answers.

    Raises:
        DebuggerError: NOT_FOUND for unknown members; what the first host says if all fail.
    """
    command, args = call.invocation.command, dict(call.invocation.args)
    group.note_command(call)
    if not group.hosts:
        return _describe_starting(group, command.name)
    if command.name == "focus":
        return await _focus_member(hosts, call, group, str(args.get("label")))
    members = args.get("members")
    if isinstance(members, str):
        await _learn_labels(hosts, call, group)
    selected = group.select(members if isinstance(members, str) else None)
    chosen = [one for one in group.hosts if one.label in selected]
    takes_group = any(one.name == "group" for one in command.parameters)
    changes = {}
    for host in chosen:
        part = group.parts[host.label]
        own = {name: one for name, one in args.items() if name not in {"group", "members"}}
        if takes_group:
            own |= {"group": part, "members": selected[host.label]}
        changes[host.label] = {"args": call.map_arguments(own, host), "session": part}
    replies = await ask_hosts(hosts, call, chosen, changes)
    forget_unreached(command.name, replies)
    good = [one for one in replies if one.error is None]
    if not good:
        raise join_failures(replies)
    silent = _list_silent(group, replies, is_all=members is None)
    if command.name in _NAMES_UNREACHED and members is None:
        silent += group.unreached
    answer = merge_replies(group, good, silent, is_all=members is None)
    for one in replies:
        if one.error is not None and one.error.code is ErrorCode.NO_SESSION:
            group.forget_host(one.host)
    return answer


def _describe_starting(group: HostGroup, command: str) -> GroupStatus:
    """Describe a group of which no host has begun its part.

    Raises:
        DebuggerError: WRONG_STATE for a command that needs members.
    """
    silent = [*group.starting_members(), *group.unreached]
    if command != "status" and group.ending is None:
        names = ", ".join(one.label for one in group.starting)
        raise DebuggerError(
            ErrorCode.WRONG_STATE,
            f"{group.name} is starting on {names}, and has no members yet",
            hint="debugger status",
        )
    notes = ("it ends as soon as it has begun",) if group.ending is not None else ()
    nothing = GroupStatus(group.name, "", (), (), notes)
    return merge_statuses(group.name, [nothing], silent)


def _list_silent(
    group: HostGroup, replies: Iterable[PartReply], *, is_all: bool
) -> list[SilentMember]:
    silent = [
        each
        for one in replies
        if one.error is not None and not _is_over(one.error)
        for each in group.silent_members(one.host, one.error.message)
    ]
    return [*silent, *(group.starting_members() if is_all else ())]


async def measure_clocks(hosts: HostList, call: HostCall, failed: Sequence[Host]) -> None:
    """Compare the clocks of hosts whose members have failed: the order is by them."""
    if len(failed) <= 1:
        return
    own = call.replace_command("daemon status", {})
    requests = [(one, own.build_request(one, None)) for one in failed]
    await asyncio.gather(*(hosts.measure_clock(*one) for one in requests))


def forget_unreached(command: str, replies: Iterable[PartReply]) -> None:
    """Forget the sessions of hosts that could not be asked to end them."""
    for one in replies:
        is_own = one.host.address.kind is HostKind.OWN
        if command in ENDING and one.error is not None and not (is_own or one.host.is_reached):
            one.host.forget_sessions()


def join_failures(replies: Sequence[PartReply]) -> DebuggerError:
    """Return the error of a command that failed on all hosts, each named with its reason."""
    by_reason: dict[str, list[Host]] = {}
    for one in replies:
        if one.error is not None:
            reason = _strip_host(one.host, one.error.message)
            by_reason.setdefault(reason, []).append(one.host)
    text = "; ".join(
        f"{', '.join(one.label for one in hosts)}: {reason}" for reason, hosts in by_reason.items()
    )
    first = next(one.error for one in replies if one.error is not None)
    alike = next(iter(by_reason.values()))
    return DebuggerError(first.code, text, hint=_name_hosts(first.hint or "", alike) or None)


def describe_failure(host: Host, error: DebuggerError) -> str:
    """Describe why a host could not begin, with what helps: the answer itself has no hint."""
    reason = _name_host(host, error.message)
    return f"{reason}; {error.hint}" if error.hint else reason


def _name_hosts(hint: str, hosts: Sequence[Host]) -> str:
    """Return the first host's hint for all hosts that failed alike."""
    names = [one.address.text for one in hosts]
    own = re.compile(rf"(?<=--host ){re.escape(names[0])}(?= |\Z)")
    every = own.sub(lambda _: ",".join(names), hint)
    # Of several hosts these are for groups alone.
    is_bare = len(names) > 1 and _OF_GROUPS.match(every) and "--group" not in every
    return every.replace("--host", "--group --host", 1) if is_bare else every


def _name_host(host: Host, message: str) -> str:
    return f"{host.label}: {_strip_host(host, message)}"


def _strip_host(host: Host, message: str) -> str:
    """Return a message without the host that it begins with."""
    return message.removeprefix(f"{host.label}: ").removeprefix(f"{host.label} ")


def _is_over(error: DebuggerError) -> bool:
    """Return whether a part has only nothing to do: it has ended, or no member of it is stopped."""
    return error.code in {ErrorCode.PROGRAM_EXITED, ErrorCode.WRONG_STATE}


async def _learn_labels(hosts: HostList, call: HostCall, group: HostGroup) -> None:
    """Ask which members there are now: a set of them may name new ones."""
    changes = {
        host.label: {
            "command": "status",
            "args": {"group": group.parts[host.label]},
            "session": group.parts[host.label],
        }
        for host in group.hosts
    }
    for one in await ask_hosts(hosts, call, group.hosts, changes):
        answer = read_answer(one.data)
        if answer is not None:
            group.note_labels(one.host, answer, is_all=True)


async def _focus_member(hosts: HostList, call: HostCall, group: HostGroup, label: str) -> Answer:
    await _learn_labels(hosts, call, group)
    selected = group.select(None if label == "all" else label)
    chosen = [one for one in group.hosts if one.label in selected]
    if label != "all" and len(chosen) > 1:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"focus takes one member, and {label} is on {len(chosen)} hosts",
            hint="debugger status lists the members",
        )
    changes = {
        host.label: {
            "args": {"label": selected[host.label] or "all", "group": group.parts[host.label]},
            "session": group.parts[host.label],
        }
        for host in chosen
    }
    replies = await ask_hosts(hosts, call, chosen, changes)
    failed = next((one.error for one in replies if one.error is not None), None)
    if failed is not None:
        raise failed
    group.active, group.has_focus = chosen[0], label != "all"
    return merge_replies(group, replies, [], is_all=label == "all")


def _ignore_reply(_reply: PartReply) -> None: ...


async def ask_hosts(
    hosts: HostList,
    call: HostCall,
    chosen: Sequence[Host],
    changes: Mapping[str, Mapping[str, Any]],
    note_reply: Callable[[PartReply], None] = _ignore_reply,
) -> list[PartReply]:
    """Ask hosts side by side, in their order; one that fails or is late delays no other."""
    awaits = call.invocation.command.name in _AWAITING
    failure = FirstFailure()
    ends = {host.label: failure.add_part(host.label) for host in chosen}
    asking = {
        asyncio.create_task(_ask_part(hosts, call, one, changes[one.label], failure)): one
        for one in chosen
    }
    user = asyncio.create_task(_set_when(call.request.interrupted, list(ends.values())))
    pending, found = set(asking), {}
    try:
        limit, is_ending = None, False
        while pending:
            done, pending = await asyncio.wait(
                pending, timeout=limit, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                found[asking[task].label] = task.result()
                note_reply(task.result())
                failure.end_part(asking[task].label)
            if not done and is_ending:
                break  # what has not answered that its wait is over is frozen
            if not done:
                # The others run on: their part of the answer is where they are.
                for task in pending:
                    ends[asking[task].label].set()
                limit, is_ending = call.limits.read_s, True
            elif awaits and limit is None and _any_stopped(done):
                limit = call.limits.settle_s
            elif failure.is_known:
                limit = call.limits.read_s
    finally:
        user.cancel()
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending)
    return [
        found.get(one.label) or PartReply(one, error=_late_error(call.limits.read_s, one))
        for one in chosen
    ]


def _late_error(seconds: float, host: Host) -> DebuggerError:
    hint = host.address.write_command("doctor")
    return DebuggerError(ErrorCode.TIMEOUT, f"no answer within {seconds:g} s", hint=hint)


def _any_stopped(done: set[asyncio.Task[PartReply]]) -> bool:
    return any(has_stopped(read_answer(one.result().data)) for one in done)


async def _set_when(event: asyncio.Event, others: Sequence[asyncio.Event]) -> None:
    await event.wait()
    for one in others:
        one.set()


async def _ask_part(
    hosts: HostList,
    call: HostCall,
    host: Host,
    changes: Mapping[str, Any],
    failure: FirstFailure,
) -> PartReply:
    own = {"json": False, "result": True, "budget": BUDGET, "progress": False, **changes}
    request = call.build_request(host, None, own, interrupted=failure.wait_of(host.label))
    if call.invocation.command.name == "crash":
        request = replace(request, stream=partial(failure.take_reports, host.label))
    limit_s = call.limit_s()
    try:
        async with asyncio.timeout(limit_s):
            answer = await _send_through_breaks(hosts, host, request, call.wait_s())
    except TimeoutError:
        return PartReply(host, error=_late_error(limit_s, host))
    except DebuggerError as error:
        return PartReply(host, error=error)
    reply = build_reply(answer, call.folders_at(host), host.address)
    if reply.error is not None:
        return PartReply(host, error=reply.error)
    return PartReply(host, reply.text or "", dict(reply.result or {}))


async def _send_through_breaks(
    hosts: HostList, host: Host, request: HostRequest, wait_s: float
) -> dict[str, Any]:
    """Send a request; a wait that is broken off goes on as soon as the host is reached again.

    Raises:
        DebuggerError: As `HostList.send_request`; for a wait, that of the last try to connect.
    """
    loop = asyncio.get_running_loop()
    limit = loop.time() + wait_s
    try:
        return await hosts.send_request(host, request)
    except DebuggerError as error:
        message = request.message
        if error.code is not ErrorCode.ADAPTER_DIED or message["command"] not in _REPEATED:
            raise
    while True:
        args = {**message["args"], "timeout": max(0.0, limit - loop.time())}
        again = replace(request, message={**message, "command": "await", "args": args})
        try:
            return await hosts.send_request(host, again)
        except DebuggerError as failure:
            is_over = request.interrupted is not None and request.interrupted.is_set()
            if is_over or loop.time() >= limit or failure.code is ErrorCode.NO_SESSION:
                raise
        await _pause_until(request.interrupted, min(_AGAIN_S, limit - loop.time()))


async def _pause_until(event: asyncio.Event | None, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await (event or asyncio.Event()).wait()


def merge_replies(
    group: HostGroup,
    replies: Sequence[PartReply],
    silent: Sequence[SilentMember],
    *,
    is_all: bool,
) -> Answer:
    """Merge what the parts answered; what has no merge is shown host by host."""
    answers = [(one.host, read_answer(one.data)) for one in replies]
    for host, answer in answers:
        if answer is not None:
            group.note_labels(host, answer, is_all=is_all)
            if has_stopped(answer):
                group.active = host
    if all(isinstance(one, Events) for _, one in answers):
        return merge_events(
            [
                HostEvents(one, _clock_shift(host), _clock_error(host), group.relabel(host))
                for host, one in answers
                if isinstance(one, Events)
            ]
        )
    named = [
        relabel_answer(_move_clock(one, host), group.relabel(host))
        for host, one in answers
        if one is not None and not isinstance(one, Events)
    ]
    merged = merge_answers(group.name, named, silent) if len(named) == len(answers) else None
    return merged if merged is not None else join_replies(replies, silent)


def _move_clock(answer: GroupAnswer, host: Host) -> GroupAnswer:
    """Return an answer with the times of this machine's clock."""
    if isinstance(answer, GroupCrash) and answer.failed_ns is not None and host.channel is not None:
        moved = answer.failed_ns + _clock_shift(host)
        return msgspec.structs.replace(answer, failed_ns=moved, error_ns=_clock_error(host))
    return answer


def _clock_shift(host: Host) -> int:
    """Return the nanoseconds by which a time of the host's clock is to be put forward."""
    channel = host.channel
    return round(channel.clock.shift_s * 1e9) if channel is not None else 0


def _clock_error(host: Host) -> int:
    """Return by how many nanoseconds that may be wrong."""
    channel = host.channel
    return round(channel.clock.error_s * 1e9) if channel is not None else 0


def join_replies(replies: Sequence[PartReply], silent: Sequence[SilentMember] = ()) -> HostReplies:
    """Return the answers of hosts, equal ones together."""
    by_text: dict[str, list[PartReply]] = {}
    for one in replies:
        by_text.setdefault(one.text.replace(f"@{one.host.label}", ""), []).append(one)
    found = [
        HostReply(tuple(each.host.label for each in same), text, same[0].data)
        for text, same in by_text.items()
    ]
    by_reason: dict[str, list[str]] = {}
    for each in silent:
        by_reason.setdefault(each.reason, []).append(each.label)
    found += [
        HostReply((format_members(labels),), "", error=HostFailure(_NO_ANSWER, reason))
        for reason, labels in by_reason.items()
    ]
    return HostReplies(tuple(found))
