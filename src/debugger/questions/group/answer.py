"""Defines the answers about groups: merged stacks and values, stops, and the members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from debugger.model.answers import Stop
from debugger.model.group_merge import MergedValue, StackBranch, order_members
from debugger.questions.group.laggards import GroupVerdict
from debugger.questions.group.member_branches import BranchSplit, MemberLines
from debugger.questions.group.member_counts import CountSplit, MemberCounts
from debugger.questions.group.member_differences import ComparedLocation, MemberHits
from debugger.questions.group.member_wait import MemberWait
from debugger.questions.runner.answer import Crash
from debugger.session.group import SilentMember

# What `crash` of one host's part of a job streams, as lines, to the daemon that asks all hosts. The
# first has the name of its group behind it.
PART_BEGUN = "begun"
PART_FAILED = "failed"
PART_READ = "read"
_TOGETHER_S = 1.0  # seconds in which ends count as one


class MergedState(Struct, frozen=True):
    """A state, and the members in it."""

    state: str
    members: tuple[str, ...]


class GroupStacks(Struct, frozen=True):
    """The stacks of a group's members as one tree, the branch with fewest members first."""

    group: str
    total: int
    states: tuple[MergedState, ...]
    branches: tuple[StackBranch, ...]
    by: str
    silent: tuple[SilentMember, ...] = ()
    notes: tuple[str, ...] = ()


class GroupHang(Struct, frozen=True):
    """Why a group does not go on: the member that is not where the others wait."""

    group: str
    total: int
    verdict: GroupVerdict
    # What each member does, for the daemon of another machine, which judges all parts together.
    waits: tuple[MemberWait, ...] = ()
    notes: tuple[str, ...] = ()


class MemberEnd(Struct, frozen=True):
    """How members ended after another had failed."""

    members: tuple[str, ...]
    how: str
    # Seconds after the failure, of the first of them; None where their host gave no answer.
    after_s: float | None


def merge_ends(ends: Mapping[str, Sequence[tuple[str, float]]]) -> tuple[MemberEnd, ...]:
    """Merge the ends of members that ended alike within a second.

    Args:
        ends: By how they ended: the member, and how many seconds later it did.
    """
    merged = []
    for how, some in ends.items():
        rest = sorted(some, key=lambda one: one[1])
        while rest:
            first_s = rest[0][1]
            same = [label for label, at_s in rest if at_s <= first_s + _TOGETHER_S]
            merged.append(MemberEnd(order_members(same), how, round(first_s, 1)))
            rest = rest[len(same) :]
    return tuple(merged)


class GroupCrash(Struct, frozen=True):
    """The first member of a group to fail, and what that did to the others."""

    group: str
    total: int
    # "" where none failed.
    member: str
    how: str
    crash: Crash
    # Where the others were when it failed.
    others: GroupStacks | None = None
    ends: tuple[MemberEnd, ...] = ()
    timed_out: bool = False
    # When it failed, by the clock of its machine's timelines; None where none failed.
    failed_ns: int | None = None
    # By how much that may be wrong, of another machine's clock.
    error_ns: int = 0
    # The lower, the less others can have caused it: a fault, a status, a kill, a request to end.
    blame: int = 0
    notes: tuple[str, ...] = ()


class NamedValues(Struct, frozen=True):
    """An expression or a variable, and its values with the members that have each.

    The members' current frames are of one function: a name may be another variable in the next.
    """

    name: str
    values: tuple[MergedValue, ...]
    function: str = ""


class GroupValues(Struct, frozen=True):
    """Values in all members, each merged."""

    group: str
    total: int
    rows: tuple[NamedValues, ...]
    silent: tuple[SilentMember, ...] = ()


class ProbedPoint(Struct, frozen=True):
    """A probed location: its number in the hits, and its expressions in their order."""

    number: int
    asked: str
    expressions: tuple[str, ...]


class MemberProbes(Struct, frozen=True):
    """The values of a program's processes at locations: where they differ first."""

    group: str
    members: tuple[str, ...]
    places: tuple[ComparedLocation, ...]
    # How the program ended.
    end: str
    took_s: float
    evidence: str | None = None
    # All hits of each member, for the daemon of another machine, which compares those of all hosts,
    # and what was probed.
    hits: tuple[MemberHits, ...] = ()
    points: tuple[ProbedPoint, ...] = ()
    notes: tuple[str, ...] = ()


class MemberBranches(Struct, frozen=True):
    """The lines after which a program's processes went different ways, the first of them first."""

    group: str
    members: tuple[str, ...]
    splits: tuple[BranchSplit, ...]
    # How many there are, and of how many lines.
    total: int
    lines: int
    # How the program ended.
    end: str
    evidence: str | None = None
    # What each member did, for the daemon of another machine, which compares those of all hosts.
    passed: tuple[MemberLines, ...] = ()
    # Where only counts of lines are known, in the place of `splits`; or only which lines ran.
    counted: tuple[CountSplit, ...] = ()
    counts: tuple[MemberCounts, ...] = ()
    is_counted: bool = False
    only_lines: bool = False


class GroupStop(Struct, frozen=True):
    """The first stop of a group, and where its other members are."""

    group: str
    # The member that the stop is of; "" where none stopped.
    member: str
    stop: Stop
    others: tuple[MergedState, ...] = ()
    timed_out: bool = False


class JoinedMember(Struct, frozen=True):
    """How a process becomes its program, or that it has joined a group (empty `words`)."""

    group: str
    # The file to run, and its command line.
    program: str
    words: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    # The program waits at its first instruction until its debugger has attached.
    is_held: bool = False


class RemoteShellEnd(Struct, frozen=True):
    """How the process has ended by which a launcher had ranks on another host."""

    group: str
    status: int

    @property
    def has_failed(self) -> bool:
        """Whether a launcher is to hear of a failure."""
        return self.status != 0


class MemberView(Struct, frozen=True):
    """A member of a group."""

    label: str
    session: str
    pid: int | None
    state: str
    # Its location while it is stopped, or how it ended.
    where: str = ""


class GroupStatus(Struct, frozen=True):
    """The members of a group and their states."""

    group: str
    focused: str
    states: tuple[MergedState, ...]
    members: tuple[MemberView, ...]
    notes: tuple[str, ...] = ()
