"""Describes what a thread of a member does, and the threads and members it waits for. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from debugger.model.group_merge import StackPlace

WAITS, COMPUTES, CHILD, STOPPED, FAILED, ENDED, SILENT = (
    *("waits", "computes", "child", "stopped", "failed", "ended", "silent"),
)
STARTING = "its start"  # in the place of a call
# The same, of a Python process that answers nothing: mpi4py's `allreduce` of objects.
LOCKED = "compiled code that holds the interpreter's lock"
# Calls in which the members of a job meet: of threading and multiprocessing, torch.distributed,
# MPI and mpi4py. A method of compiled code has no frame: then the line of the program names it.
_MEETING = re.compile(
    r"(?:Barrier\.wait|pthread_barrier_wait"
    # One-sided and file calls of MPI, and those that make communicators, come in pairs, too.
    r"|\bP?MPI_(?:i?(?:ex)?scan|i?neighbor_\w+|finalize|win_(?:fence|create\w*|allocate\w*|free)"
    r"|comm_(?:i?dup\w*|split\w*|create\w*|free)|cart_create|cart_sub|graph_create|dist_graph_\w+"
    r"|intercomm_\w+|file_(?:open|close|set_view|\w+_all))|ompi_mpi_finalize"
    # Dask's client has methods of such names, and waits for its workers.
    r"|(?<!client\.)\b(?:P?MPI_)?(?:i?barrier|monitored_barrier"
    r"|i?all_?reduce\w*|i?all_?gather\w*"
    r"|i?broadcast\w*|i?bcast|reduce|reduce_scatter\w*|i?scatter(?:v|_object_list)?"
    r"|i?gather(?:v|_object)?|i?all_?to_?all\w*|init_process_group|new_group))(?:$|\()",
    re.IGNORECASE,
)
# Methods of mpi4py, whose compiled code has no frame, and which poll for what others send.
_MPI_METHOD = re.compile(
    r"\.(?:i?m?probe|i?(?:b|s|r)?send(?:_init)?|i?m?recv(?:_init)?|sendrecv(?:_replace)?"
    r"|wait(?:all|any|some)?|finalize|disconnect|accept|connect|fence|lock|unlock"
    r"|(?:i?(?:barrier|bcast|reduce|allreduce|gather|allgather|scatter|alltoall|scan|exscan)[vw]?)"
    r")\(",
    re.IGNORECASE,
)


class Meeting(Struct, frozen=True):
    """The call in which a member waits for others, as its library knows it."""

    # Of a collective call: the process group, "" for the one of all ranks, and its ranks.
    group: str = ""
    ranks: tuple[int, ...] = ()
    # Which call of the group it is, counted from 1.
    number: int | None = None
    # Shape and type of what is sent: `[4, 3] float32`.
    tensors: str = ""
    # Of a barrier: how many must come, and how many are there.
    parties: int | None = None
    came: int = 0


class Blocker(Struct, frozen=True):
    """A thread or a member that could end a wait."""

    label: str
    # The key of its thread, "" where it is not known.
    thread: str = ""
    # The kernel's number of its thread, where that is known instead.
    native: int = 0
    # It is not known to: it has the other end of a pipe, or fills a queue.
    is_possible: bool = False


class MemberWait(Struct, frozen=True):
    """What a thread does: it waits, computes, waits for processes that it started, or has ended.

    The first of a member's is that of its main thread.
    """

    label: str
    kind: str
    # The innermost frame of the program's own code, and the function of a library that it called.
    place: StackPlace | None = None
    call: str = ""
    # What the system says of the wait, or how the member ended.
    detail: str = ""
    # It started the others.
    is_main: bool = False
    meeting: Meeting | None = None
    # Its rank in torch.distributed, and how many collective calls of each group it has come to.
    rank: int | None = None
    numbers: Mapping[str, int] = {}
    # Those that could end the wait: one is enough.
    blockers: tuple[Blocker, ...] = ()
    # Another thread of its own process could, too: that has both ends of the pipe or socket.
    has_both_ends: bool = False
    # The thread's key in its process, and its name (`thread loader`), "" for the main one's.
    thread: str = ""
    name: str = ""
    # The kernel's number of the thread; 0 where it is not known.
    native: int = 0
    # The name of a lock of multiprocessing that it waits for.
    lock: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The member and the thread."""
        return self.label, self.thread


def is_meeting_call(function: str) -> bool:
    """Return whether a function of a library is one in which members meet."""
    return _MEETING.search(function) is not None


def calls_mpi(text: str) -> bool:
    """Return whether a line of Python calls a method of mpi4py that waits for other ranks."""
    return _MPI_METHOD.search(text) is not None


def is_meeting(wait: MemberWait) -> bool:
    """Return whether a member waits in a call that others must come to."""
    if is_meeting_call(wait.call):
        return True
    return not wait.call and wait.place is not None and bool(_MEETING.search(wait.place.text))
