"""Describes the other end of a file descriptor that a thread waits for."""

from __future__ import annotations

import os
import re
import socket
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from debugger.model.thread_waits import SystemCall
from debugger.system.listening_sockets import parse_socket_table
from debugger.system.process_info import look_at

_PROCESSES_MAX = 2000
_POLLED_MAX = 8
_POLLED_SIZE = 8  # struct pollfd, poll(2)
_LISTENING = "0A"
_INODE = re.compile(r"\[(\d+)\]")
_WRITES = 0o3  # of the flags of open(2): the access mode
_VERBS = {
    **dict.fromkeys(("read", "readv", "pread64", "recvfrom", "recvmsg"), "reads from"),
    **dict.fromkeys(("write", "writev", "pwrite64", "sendto", "sendmsg"), "writes to"),
    **dict.fromkeys(("accept", "accept4"), "accepts connections on"),
    "connect": "connects",
    "fsync": "syncs",
}
_POLLS = frozenset({"poll", "ppoll"})
_SELECTS = frozenset({"select", "pselect6"})
_SELECTED_MAX = 1024  # FD_SETSIZE
_EPOLLS = frozenset({"epoll_wait", "epoll_pwait", "epoll_pwait2"})


def blocked_on(pid: int, call: SystemCall) -> str:
    """Say which descriptors a system call waits for, and what they are: `reads from fd 3: …`."""
    if call.name in _VERBS and call.arguments:
        number = call.arguments[0]
        other = call.name in {"write", "writev", "pwrite64"}
        return (
            f"{_VERBS[call.name]} fd {number}: {describe_descriptor(pid, number, is_writing=other)}"
        )
    numbers = watched_descriptors(pid, call)
    told = [f"fd {number}: {describe_descriptor(pid, number)}" for number in numbers[:_POLLED_MAX]]
    return f"waits for {'; '.join(told)}" if told else f"waits in {call.name}"


def watched_descriptors(pid: int, call: SystemCall) -> Sequence[int]:
    """Return the descriptors that a poll, a select or an epoll waits for."""
    if call.name in _POLLS:
        return _poll_descriptors(pid, call)
    if call.name in _SELECTS and len(call.arguments) > 1:
        return _select_descriptors(pid, call)
    if call.name in _EPOLLS and call.arguments:
        return _epoll_descriptors(pid, call.arguments[0])
    return ()


def _select_descriptors(pid: int, call: SystemCall) -> list[int]:
    """Read the set that select waits to read from: a bit for each descriptor, select(2)."""
    count, address = min(call.arguments[0], _SELECTED_MAX), call.arguments[1]
    bits = int.from_bytes(_read_memory(pid, address, (count + 7) // 8), "little") if address else 0
    return [number for number in range(count) if bits >> number & 1]


def _poll_descriptors(pid: int, call: SystemCall) -> list[int]:
    address, count = call.arguments[0], min(call.arguments[1], _POLLED_MAX)
    data = _read_memory(pid, address, _POLLED_SIZE * count)
    whole = data[: len(data) // _POLLED_SIZE * _POLLED_SIZE]
    return [number for number, _, _ in struct.iter_unpack("=ihh", whole) if number >= 0]


def _read_memory(pid: int, address: int, size: int) -> bytes:
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as file:
            file.seek(address)
            return file.read(size)
    except (OSError, ValueError, OverflowError):
        return b""


def _epoll_descriptors(pid: int, number: int) -> list[int]:
    """Return what an epoll descriptor watches, proc_pid_fdinfo(5)."""
    text = _read_text(f"/proc/{pid}/fdinfo/{number}")
    return [int(one) for one in re.findall(r"^tfd:\s*(\d+)", text, re.MULTILINE)]


def listening_port(pid: int, number: int) -> int | None:
    """Return the TCP port that a descriptor listens at; None where it is no such socket."""
    try:
        inode = _INODE.search(os.readlink(f"/proc/{pid}/fd/{number}"))
    except OSError:
        return None
    if inode is None:
        return None
    for table in ("tcp", "tcp6"):
        for one in parse_socket_table(_read_text(f"/proc/{pid}/net/{table}")):
            if one.inode == int(inode[1]):
                return one.port
    return None


def describe_descriptor(pid: int, number: int, *, is_writing: bool = False) -> str:
    """Say what a descriptor is: a file's path, a pipe and who holds its other end, a socket."""
    try:
        target = os.readlink(f"/proc/{pid}/fd/{number}")
    except OSError:
        return "not open"
    inode = _INODE.search(target)
    if target.startswith("pipe:"):
        return f"a pipe, {_other_end(pid, target, is_writing=is_writing)}"
    if target.startswith("socket:") and inode:
        return _describe_socket(pid, inode[1])
    if target.startswith("anon_inode:"):
        return target.removeprefix("anon_inode:").strip("[]")
    return target


def _other_end(pid: int, target: str, *, is_writing: bool) -> str:
    """Say which processes hold the other end of a pipe."""
    wanted = "read" if is_writing else "write"
    names = []
    for other in _list_pids():
        ends = [
            one
            for one in _pids_with_target(other, target)
            if _is_for(other, one, writing=not is_writing)
        ]
        if not ends:
            continue
        found = look_at(other)
        if other == pid:
            names.append(f"itself (fd {', '.join(map(str, ends))})")
        else:
            names.append(f"{found.name if found is not None else '?'} (pid {other})")
    if not names:
        return f"nobody has its {wanted} end"
    return f"{wanted} end held by {', '.join(names[:3])}"


def _pids_with_target(pid: int, target: str) -> Iterator[int]:
    try:
        numbers = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for number in numbers:
        try:
            if os.readlink(f"/proc/{pid}/fd/{number}") == target:
                yield int(number)
        except OSError:
            continue


def _is_for(pid: int, number: int, *, writing: bool) -> bool:
    flags = re.search(
        r"^flags:\s*([0-7]+)", _read_text(f"/proc/{pid}/fdinfo/{number}"), re.MULTILINE
    )
    mode = int(flags[1], 8) & _WRITES if flags else 0
    return mode != 0 if writing else mode != 1


def _list_pids() -> list[int]:
    return [int(one) for one in os.listdir("/proc") if one.isdecimal()][:_PROCESSES_MAX]


def _describe_socket(pid: int, inode: str) -> str:
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in _read_text(f"/proc/{pid}/net/{table}").splitlines()[1:]:
            fields = line.split()
            if len(fields) > 9 and fields[9] == inode:  # noqa: PLR2004 - proc_pid_net(5)
                return _describe_connection(table.rstrip("6"), fields[1], fields[2], fields[3])
    for line in _read_text(f"/proc/{pid}/net/unix").splitlines()[1:]:
        fields = line.split()
        if len(fields) > 6 and fields[6] == inode:  # noqa: PLR2004 - proc_pid_net(5)
            return f"a Unix socket {fields[7]}" if len(fields) > 7 else "a Unix socket"  # noqa: PLR2004
    return "a socket"


def _describe_connection(kind: str, local: str, remote: str, state: str) -> str:
    here, there = parse_address(local), parse_address(remote)
    if state == _LISTENING or remote.endswith(":0000"):
        return f"a {kind.upper()} socket at {here}"
    return f"a {kind.upper()} socket, peer {there}"


def parse_address(text: str) -> str:
    """Read an address of /proc/net/tcp: words of the machine's order in hexadecimal, and a port."""
    packed, _, port = text.partition(":")
    raw = bytes.fromhex(packed)
    count = len(raw) // 4
    words = struct.pack(f"={count}I", *struct.unpack(f">{count}I", raw))
    family = socket.AF_INET if len(words) == 4 else socket.AF_INET6  # noqa: PLR2004 - bytes
    shown = socket.inet_ntop(family, words)
    shown = f"[{shown}]" if family == socket.AF_INET6 else shown
    return f"{shown}:{int(port, 16)}"


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""
