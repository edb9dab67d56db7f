"""Reads, in a Python member, the call in which it meets others, its progress, and its locks."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.model.program import EvaluationPurpose
from debugger.questions.group.laggards import Meeting, MemberWait
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
    rank: int | None = None
    groups: dict[str, _ProcessGroup] = {}
    call: _CollectiveCall | None = None
    # The name of the lock of multiprocessing that it waits for.
    lock: str = ""


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
    numbers = {name: one.number for name, one in facts.groups.items() if one.number is not None}
    return msgspec.structs.replace(
        wait, meeting=meeting, call=call, detail=detail, rank=facts.rank, numbers=numbers
    )


async def find_lock_owners(
    waits: Sequence[MemberWait], locks: Mapping[str, str], members: Sequence[Member]
) -> list[MemberWait]:
    """Name the members that hold the locks which others wait for.

    Args:
        waits: Of all members.
        locks: The name of the lock that a member waits for, by label.
        members: Those that can be asked.
    """
    if not locks:
        return list(waits)
    names = sorted(set(locks.values()))
    found, _ = await ask_members(members, lambda one: _read_held(one, names), _LOCKS_S)
    owners: dict[str, list[str]] = {}
    for label, own in found.items():
        for name in own:
            owners.setdefault(name, []).append(label)
    return [_with_owners(one, tuple(owners.get(locks.get(one.label, ""), ()))) for one in waits]


def _with_owners(wait: MemberWait, owners: tuple[str, ...]) -> MemberWait:
    others = tuple(one for one in owners if one != wait.label)
    if not others:
        return wait
    detail = f"a lock that member {others[0]} holds"
    return msgspec.structs.replace(wait, owners=others, detail=detail)


async def _read_held(member: Member, names: Sequence[str]) -> list[str]:
    session = member.session
    expression = (
        f"__import__('json').dumps(__import__('sys').modules[{python_waits.SNAPSHOT_CODE!r}]"
        f".extra.find_held({list(names)!r}))"
    )
    answer = await session.run_job(
        lambda: session.backend.evaluate(expression, None, EvaluationPurpose.EVALUATE)
    )
    text = answer.value
    try:
        found = json.loads(ast.literal_eval(text) if text[:1] in "'\"" else text)
    except (ValueError, SyntaxError):
        return []
    return [str(one) for one in found] if isinstance(found, list) else []
