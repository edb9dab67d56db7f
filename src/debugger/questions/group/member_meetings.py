"""Reads, in a Python member, the call in which it meets others, its progress, and its locks."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.model.program import EvaluationPurpose
from debugger.questions.group.member_wait import (
    COMPUTES,
    WAITS,
    Blocker,
    Meeting,
    MemberWait,
    is_meeting_call,
)
from debugger.questions.hang import python_waits
from debugger.session.group import Member, ask_members

MEETINGS = Path(__file__).parent / "inside" / "meetings.py"
_LOCKS_S = 3.0  # seconds until a member must have said which locks it holds


class _ProcessGroup(Struct):
    number: int | None = None
    ranks: tuple[int, ...] = ()


class _CollectiveCall(Struct):
    name: str
    group: str = ""
    ranks: tuple[int, ...] = ()
    number: int | None = None
    tensors: str = ""
    # Of a call between two ranks.
    peer: str = ""


class MeetingFacts(Struct):
    """What a member's own libraries know of its wait."""

    parties: int | None = None
    came: int = 0
    # Items of the queue that it joins for which nobody has called `task_done`.
    unfinished: int | None = None
    # The size of the full queue into which it puts, and the descriptor from which that is read.
    full: int | None = None
    reader: int | None = None
    rank: int | None = None
    groups: dict[str, _ProcessGroup] = {}
    call: _CollectiveCall | None = None
    # The name of the lock of multiprocessing that it waits for.
    lock: str = ""
    # The same of its other threads, by key.
    threads: dict[str, MeetingFacts] = {}


def parse_facts(raw: bytes) -> MeetingFacts:
    """Decode what `inside/meetings.py` has collected; nothing where it is not understood."""
    try:
        return msgspec.json.decode(raw, type=MeetingFacts)
    except msgspec.DecodeError:
        return MeetingFacts()


def add_facts(wait: MemberWait, facts: MeetingFacts) -> MemberWait:
    """Add to a member's wait what its libraries know of it."""
    meeting, call, detail = None, wait.call, wait.detail
    found = facts.call
    if found is not None:
        if found.peer:
            detail = ", ".join(filter(None, (found.peer, found.tensors)))
        else:
            meeting = Meeting(found.group, found.ranks, found.number, found.tensors)
        # A pending asynchronous call has no frame: what the program is in waits for it.
        call = found.name or call
    elif facts.parties is not None:
        meeting = Meeting(parties=facts.parties, came=facts.came)
    elif facts.unfinished is not None:
        detail = f"items without task_done: {facts.unfinished}"
    elif facts.full is not None:
        detail = f"a queue that is full ({facts.full})"
    numbers = {name: one.number for name, one in facts.groups.items() if one.number is not None}
    # It polls for the others, or waits for a processor. An asynchronous call is in no frame.
    polls = meeting is not None and wait.kind == COMPUTES and is_meeting_call(wait.call)
    return msgspec.structs.replace(
        wait,
        kind=WAITS if polls else wait.kind,
        meeting=meeting,
        call=call,
        detail=detail,
        rank=facts.rank,
        numbers=numbers,
        lock=facts.lock,
    )


async def find_lock_owners(
    waits: Sequence[MemberWait], members: Sequence[Member]
) -> list[MemberWait]:
    """Name the members that hold the locks of multiprocessing which others wait for.

    Args:
        waits: Of all threads of all members.
        members: Those that can be asked.
    """
    names = sorted({one.lock for one in waits if one.lock})
    if not names:
        return list(waits)
    found, _ = await ask_members(members, lambda one: _read_held(one, names), _LOCKS_S)
    holders: dict[str, list[Blocker]] = {}
    for label, own in found.items():
        for name, thread in own.items():
            holders.setdefault(name, []).append(Blocker(label, thread))
    return [_with_holders(one, holders.get(one.lock, ())) for one in waits]


def _with_holders(wait: MemberWait, holders: Sequence[Blocker]) -> MemberWait:
    # A lock that a thread of its own holds, or one that it just got.
    others = [one for one in holders if (one.label, one.thread) != wait.key]
    others = [one for one in others if one.thread or one.label != wait.label]
    if not others:
        return wait
    first = others[0].label
    detail = f"a lock that {'its own process' if first == wait.label else f'member {first}'} holds"
    return msgspec.structs.replace(wait, blockers=tuple(others), detail=detail)


async def _read_held(member: Member, names: Sequence[str]) -> dict[str, str]:
    session = member.session
    module = f"__import__('sys').modules[{python_waits.SNAPSHOT_CODE!r}]"
    call = f"{module}.extra.find_held({list(names)!r}, {module}.locks)"
    expression = f"__import__('json').dumps({call})"
    answer = await session.run_job(
        lambda: session.backend.evaluate(expression, None, EvaluationPurpose.EVALUATE)
    )
    text = answer.value
    try:
        found = json.loads(ast.literal_eval(text) if text[:1] in "'\"" else text)
    except (ValueError, SyntaxError):
        return {}
    return {str(name): str(key) for name, key in found.items()} if isinstance(found, dict) else {}
