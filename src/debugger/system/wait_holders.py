"""Finds the processes that could end a thread's wait, in Linux's /proc and by netlink.

They hold a file lock, a mutex in shared memory, or the other end of a pipe or socket.
"""

from __future__ import annotations

import os
import re
import socket
import struct
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, structs

from debugger.model.thread_waits import SystemCall
from debugger.system import descriptor_peers
from debugger.system.process_info import words_at

_FILE_LOCKS = frozenset({"flock", "fcntl"})
_PRIVATE = 0x80  # FUTEX_PRIVATE_FLAG
_WAIT = 0  # FUTEX_WAIT
_WORDS = 5  # of glibc's struct __pthread_mutex_s: __lock, __count, __owner, __nusers, __kind
_SHARED = 0x80  # PTHREAD_MUTEX_PSHARED_BIT of __kind
_PROCESSES_MAX = 2000
_FOREVER = 0xFFFFFFFF  # a time-out of -1, as a 32-bit argument
_READS = frozenset({"read", "readv", "pread64", "recvfrom", "recvmsg"})
_SENDS = frozenset({"write", "writev", "pwrite64", "sendto", "sendmsg"})
_TIMEOUTS: Mapping[str, tuple[int, int]] = {
    # The argument that holds the time-out, and its value for none.
    **dict.fromkeys(("poll",), (2, _FOREVER)),
    **dict.fromkeys(("epoll_wait", "epoll_pwait"), (3, _FOREVER)),
    **dict.fromkeys(("epoll_pwait2",), (3, 0)),
    **dict.fromkeys(("rt_sigtimedwait",), (2, 0)),
    **dict.fromkeys(("ppoll",), (2, 0)),
    **dict.fromkeys(("select", "pselect6"), (4, 0)),
    **dict.fromkeys(("futex",), (3, 0)),
}


_SLEEPS = frozenset({"nanosleep", "clock_nanosleep"})


class WaitHolder(Struct, frozen=True):
    """Processes that could end a wait."""

    pids: tuple[int, ...]
    # What the thread waits for, where the system call alone does not tell.
    what: str = ""
    # The kernel's number of the thread, where one is known.
    thread: int = 0
    # Any thread of any of them could: they have the other end of a pipe or socket.
    is_possible: bool = False
    # The waiting process has the other end, too.
    has_both_ends: bool = False
    end: str = "other end"


def waits_forever(call: SystemCall) -> bool:
    """Return whether a system call has no time-out of its own."""
    if call.name in _SLEEPS:
        return False
    at, never = _TIMEOUTS.get(call.name, (0, None))
    return never is None or len(call.arguments) <= at or call.arguments[at] & _FOREVER == never


def parse_lock_table(text: str) -> dict[int, int]:
    """Parse /proc/locks, proc_locks(5): the process that holds a lock, by each that waits for it.

    A waiting process has the number of the lock that it waits for, and an arrow.
    """
    holders: dict[str, int] = {}
    found: dict[int, int] = {}
    for line in text.splitlines():
        number, *fields = line.split()
        is_waiting = fields[:1] == ["->"]
        fields = fields[is_waiting:]
        # kind, ADVISORY, READ or WRITE, the pid (-1 of an open file description's), the file
        if len(fields) <= 3 or not fields[3].lstrip("-").isdecimal():  # noqa: PLR2004
            continue
        if is_waiting:
            found[int(fields[3])] = holders.get(number, 0)
        else:
            holders[number] = int(fields[3])
    return {waiter: holder for waiter, holder in found.items() if holder > 0}


def describe_file_lock(pid: int, call: SystemCall) -> str:
    """Describe the file lock that a thread of a process waits for, and who holds it."""
    if not call.arguments:
        return ""
    path = _read_link(pid, call.arguments[0])
    holder = parse_lock_table(_read_text("/proc/locks")).get(pid, 0)
    what = f"waits for a lock on {path}" if path else "waits for a file lock"
    if not holder:
        return what
    return f"{what}, which {'it holds itself' if holder == pid else f'process {holder} holds'}"


class HolderTable:
    """The open pipes and sockets, and the file locks, of all processes at one moment."""

    def __init__(self, locks: Mapping[int, int], ends: Mapping[str, Sequence[int]]) -> None:
        self._locks = locks
        self._ends = ends  # processes by pipe or socket, as its link in /proc reads
        self._connections = _read_connections()

    @classmethod
    def read(cls) -> HolderTable:
        """Read the tables (this takes some milliseconds for each hundred processes)."""
        ends: dict[str, list[int]] = {}
        for pid in [int(one) for one in os.listdir("/proc") if one.isdecimal()][:_PROCESSES_MAX]:
            for target in _read_links(pid):
                ends.setdefault(target, []).append(pid)
        return cls(parse_lock_table(_read_text("/proc/locks")), ends)

    def find_holder(self, pid: int, call: SystemCall) -> WaitHolder | None:
        """Return who could end the wait of a thread of a process; None if it is not known."""
        if call.name in _FILE_LOCKS and pid in self._locks and call.arguments:
            path = _read_link(pid, call.arguments[0])
            return WaitHolder((self._locks[pid],), f"a lock on {path}")
        if call.name == "futex":
            owner = find_mutex_owner(pid, call)
            own = _process_of(owner) if owner else 0
            return WaitHolder((own,), "a mutex", owner) if own else None
        number = _awaited_descriptor(pid, call)
        if number is None or not waits_forever(call):
            return None
        target = _read_link(pid, number)
        if target.startswith("pipe:"):
            return self._find_pipe_holder(pid, target, is_writing=call.name not in _SENDS)
        return _possible_holder(pid, self._ends.get(self._connections.get(target, ""), ()))

    def find_reader(self, pid: int, number: int) -> WaitHolder | None:
        """Return who could read from a pipe, of which a process has this descriptor."""
        found = self._find_pipe_holder(pid, _read_link(pid, number), is_writing=False)
        return structs.replace(found, end="read end") if found is not None else None

    def _find_pipe_holder(self, pid: int, target: str, *, is_writing: bool) -> WaitHolder | None:
        found = self._ends.get(target, ())
        return _possible_holder(
            pid, [one for one in found if _holds_end(one, target, is_writing=is_writing)]
        )


def _possible_holder(pid: int, found: Sequence[int]) -> WaitHolder | None:
    others = tuple(one for one in found if one != pid)
    has_both_ends = len(others) < len(found)
    return WaitHolder(others, is_possible=True, has_both_ends=has_both_ends) if others else None


def find_mutex_owner(pid: int, call: SystemCall) -> int:
    """Return the thread that holds the mutex in shared memory that a futex waits for; else 0.

    glibc's pthread_mutex_lock waits without a time-out, and names the owner in the mutex.
    """
    if len(call.arguments) < 3 or call.arguments[1] & (_PRIVATE | 0x7F) != _WAIT:  # noqa: PLR2004
        return 0
    words = words_at(pid, call.arguments[0], _WORDS)
    if len(words) < _WORDS or not words[0] or not words[4] & _SHARED:
        return 0
    return max(words[2], 0)


def _process_of(thread: int) -> int:
    found = re.search(r"^Tgid:\s*(\d+)", _read_text(f"/proc/{thread}/status"), re.MULTILINE)
    return int(found[1]) if found else 0


def _awaited_descriptor(pid: int, call: SystemCall) -> int | None:
    """Return the only descriptor that a call waits for."""
    if call.name in _READS | _SENDS and call.arguments:
        return call.arguments[0]
    watched = descriptor_peers.watched_descriptors(pid, call)
    return watched[0] if len(watched) == 1 else None


def _holds_end(pid: int, target: str, *, is_writing: bool) -> bool:
    return any(
        descriptor_peers.opens_for(pid, number, writing=is_writing)
        for number in descriptor_peers.numbers_of(pid, target)
    )


def _read_links(pid: int) -> set[str]:
    """Return the pipes and sockets that a process has open."""
    found = set()
    folder = f"/proc/{pid}/fd"
    with suppress(OSError):
        for number in os.listdir(folder):
            with suppress(OSError):
                target = os.readlink(f"{folder}/{number}")
                if target.startswith(("pipe:", "socket:")):
                    found.add(target)
    return found


def _read_link(pid: int, number: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/fd/{number}")
    except OSError:
        return ""


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""


def _read_connections() -> dict[str, str]:
    """Return the other end of each connected socket of this machine, as links in /proc read."""
    found = {f"socket:[{one}]": f"socket:[{other}]" for one, other in _read_unix_peers()}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        found.update(parse_connections(_read_text(table)))
    return found


def parse_connections(table: str) -> dict[str, str]:
    """Parse /proc/net/tcp: the pairs of sockets whose addresses are each other's."""
    rows = [line.split() for line in table.splitlines()[1:]]
    # local address, remote address, state, ..., inode
    rows = [one for one in rows if len(one) > 9 and one[9] != "0"]  # noqa: PLR2004
    by_addresses = {(one[1], one[2]): one[9] for one in rows}
    return {
        f"socket:[{one[9]}]": f"socket:[{by_addresses[one[2], one[1]]}]"
        for one in rows
        if (one[2], one[1]) in by_addresses
    }


_SOCK_DIAG = 4  # NETLINK_SOCK_DIAG
_BY_FAMILY = 20  # SOCK_DIAG_BY_FAMILY
_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
_DONE = 3  # NLMSG_DONE
_SHOW_PEER = 4  # UDIAG_SHOW_PEER
_PEER = 2  # UNIX_DIAG_PEER
_HEADER = 16  # struct nlmsghdr
_MESSAGE = 16  # struct unix_diag_msg
_RECEIVED_MAX = 1 << 16


def _read_unix_peers() -> list[tuple[int, int]]:
    """Ask the kernel for the connected pairs of Unix sockets, by inode: sock_diag(7)."""
    # struct unix_diag_req: family, protocol, pad, states, inode, show, cookie
    request = struct.pack("=BBHIIIII", socket.AF_UNIX, 0, 0, 0xFFFFFFFF, 0, _SHOW_PEER, 0, 0)
    header = struct.pack("=IHHII", _HEADER + len(request), _BY_FAMILY, _DUMP, 1, 0)
    found: list[tuple[int, int]] = []
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as channel:
            channel.settimeout(1)
            channel.send(header + request)
            while True:
                kinds, pairs = parse_unix_peers(channel.recv(_RECEIVED_MAX))
                found += pairs
                if not kinds or kinds[-1] != _BY_FAMILY:
                    return found
    except OSError:  # a kernel without it, or a sandbox: then their peers are not known
        return found


def parse_unix_peers(data: bytes) -> tuple[list[int], list[tuple[int, int]]]:
    """Parse netlink messages of unix_diag: their kinds, and the inodes of connected pairs."""
    kinds, pairs = [], []
    while len(data) >= _HEADER:
        size, kind = struct.unpack_from("=IH", data)
        kinds.append(kind)
        if kind == _BY_FAMILY:
            (inode,) = struct.unpack_from("=I", data, _HEADER + 4)
            pairs += [(inode, peer) for peer in _peers_in(data[_HEADER + _MESSAGE : size])]
        data = data[max(_align(size), _HEADER) :]
    return kinds, pairs


def _peers_in(attributes: bytes) -> Iterable[int]:
    while len(attributes) > 4:  # noqa: PLR2004 - struct rtattr
        size, kind = struct.unpack_from("=HH", attributes)
        if kind == _PEER and size >= 8:  # noqa: PLR2004
            yield struct.unpack_from("=I", attributes, 4)[0]
        attributes = attributes[max(_align(size), 4) :]


def _align(size: int) -> int:
    return (size + 3) & ~3
