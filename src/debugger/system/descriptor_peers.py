"""Describes the other end of a file descriptor, and finds the process that listens on a port."""

from __future__ import annotations

import ipaddress
import os
import os.path
import re
import socket
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from debugger.model.thread_waits import SystemCall
from debugger.system.process_info import ProcessInfo, look_at

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTEN = "0A"  # TCP_LISTEN of net/tcp_states.h
_LOCAL, _STATE, _SOCKET_INODE = 1, 3, 9
_IPV4, _IPV6 = 8, 32
_WORD = 8  # hexadecimal digits of 32 bits
_NAMED_MAX = 3  # processes that hold the other end


class ListeningSocket(Struct, frozen=True):
    """A listening socket: its address and port, and its inode or its owner's pid."""

    address: str
    port: int
    inode: int = 0
    pid: int = 0


def parse_socket_table(table: str) -> list[ListeningSocket]:
    """Parse the listening sockets of /proc/net/tcp or tcp6, proc_pid_net(5)."""
    found = []
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) <= _SOCKET_INODE or fields[_STATE] != _LISTEN:
            continue
        host, _, port = fields[_LOCAL].partition(":")
        try:
            found.append(
                ListeningSocket(_parse_address(host), int(port, 16), int(fields[_SOCKET_INODE]))
            )
        except ValueError:
            continue
    return found


def _parse_address(text: str) -> str:
    """Parse an address: words of 32 bits in the machine's byte order, in hexadecimal.

    Raises:
        ValueError: It is malformed.
    """
    if len(text) not in {_IPV4, _IPV6}:
        raise ValueError(text)
    words = (bytes.fromhex(text[at : at + _WORD])[::-1] for at in range(0, len(text), _WORD))
    return str(ipaddress.ip_address(b"".join(words)))


def filter_by_port(
    listeners: Iterable[ListeningSocket], addresses: Iterable[str], port: int
) -> list[ListeningSocket]:
    """Return the listeners that accept a connection to a port at one of these addresses."""
    local_addresses = {str(_unmapped_address(one)) for one in addresses}
    return [
        one
        for one in listeners
        if one.port == port
        and (
            ipaddress.ip_address(one.address).is_unspecified
            or str(_unmapped_address(one.address)) in local_addresses
        )
    ]


def _unmapped_address(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed


def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of a host.

    Raises:
        OSError: It has none (socket.gaierror).
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


def is_here(address: str) -> bool:
    """Return whether an address belongs to this machine, by a test bind."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address.partition("%")[0], 0))
    except OSError:
        return False
    return True


def sees_all() -> bool:
    """Return whether `list_listeners` finds all sockets: without /proc only our own user's."""
    return os.access(_TABLES[0], os.R_OK)


def list_listeners() -> list[ListeningSocket]:
    """Return this machine's visible listening sockets."""
    if not sees_all():
        from debugger.system.process_info import list_listeners

        return [ListeningSocket(one.address, one.port, pid=one.pid) for one in list_listeners()]
    found: list[ListeningSocket] = []
    for table in _TABLES:
        with suppress(OSError):  # there may be no IPv6
            found += parse_socket_table(Path(table).read_text(encoding="ascii"))
    return found


def find_owners(found: Iterable[ListeningSocket]) -> list[ProcessInfo]:
    """Return the visible processes that hold listening sockets."""
    listed = list(found)
    sockets = {f"socket:[{one.inode}]" for one in listed if one.inode}
    holders = {
        int(pid)
        for pid in _list_directory("/proc")
        if pid.isdecimal() and _holds_socket(pid, sockets)
    }
    known = map(look_at, sorted(holders | {one.pid for one in listed if one.pid}))
    return [one for one in known if one is not None]


def _holds_socket(pid: str, sockets: set[str]) -> bool:
    folder = f"/proc/{pid}/fd"
    for name in _list_directory(folder):
        try:
            if os.readlink(f"{folder}/{name}") in sockets:
                return True
        except OSError:
            continue
    return False


def _list_directory(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


_PROCESSES_MAX = 2000
_POLLED_MAX = 8  # descriptors of one poll
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
    """Describe the descriptors that a system call waits for: `reads from fd 3: …`."""
    if call.name in _VERBS and call.arguments:
        number = call.arguments[0]
        other = call.name in {"write", "writev", "pwrite64"}
        return (
            f"{_VERBS[call.name]} fd {number}: {describe_descriptor(pid, number, is_writing=other)}"
        )
    numbers = watched_descriptors(pid, call)
    texts = [f"fd {number}: {describe_descriptor(pid, number)}" for number in numbers[:_POLLED_MAX]]
    return f"waits for {'; '.join(texts)}" if texts else f"waits in {call.name}"


def watched_descriptors(pid: int, call: SystemCall) -> Sequence[int]:
    """Return the descriptors of a poll, a select or an epoll."""
    if call.name in _POLLS:
        return _poll_descriptors(pid, call)
    if call.name in _SELECTS and len(call.arguments) > 1:
        return _select_descriptors(pid, call)
    if call.name in _EPOLLS and call.arguments:
        return _epoll_descriptors(pid, call.arguments[0])
    return ()


def _select_descriptors(pid: int, call: SystemCall) -> list[int]:
    """Read a select's set of read descriptors: a bit for each descriptor, select(2)."""
    count, address = min(call.arguments[0], _SELECTED_MAX), call.arguments[1]
    bits = int.from_bytes(_read_memory(pid, address, (count + 7) // 8), "little") if address else 0
    return [number for number in range(count) if bits >> number & 1]


def _poll_descriptors(pid: int, call: SystemCall) -> list[int]:
    address, count = call.arguments[0], min(call.arguments[1], _POLLED_MAX)
    data = _read_memory(pid, address, _POLLED_SIZE * count)
    entries = data[: len(data) // _POLLED_SIZE * _POLLED_SIZE]
    return [number for number, _, _ in struct.iter_unpack("=ihh", entries) if number >= 0]


def _read_memory(pid: int, address: int, size: int) -> bytes:
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as file:
            file.seek(address)
            return file.read(size)
    except (OSError, ValueError, OverflowError):
        return b""


def _epoll_descriptors(pid: int, number: int) -> list[int]:
    """Return the descriptors that an epoll watches, proc_pid_fdinfo(5)."""
    text = _read_text(f"/proc/{pid}/fdinfo/{number}")
    return [int(one) for one in re.findall(r"^tfd:\s*(\d+)", text, re.MULTILINE)]


def listening_ports(pid: int, numbers: Iterable[int]) -> list[int]:
    """Return the TCP ports that some of a process's descriptors listen on, sorted."""
    inodes = set()
    for number in numbers:
        with suppress(OSError):
            inode = _INODE.search(os.readlink(f"/proc/{pid}/fd/{number}"))
            inodes |= {int(inode[1])} if inode is not None else set()
    if not inodes:
        return []
    # Read once: a server with a thousand clients watches as many, and the tables have them all.
    tables = (_read_text(f"/proc/{pid}/net/{name}") for name in ("tcp", "tcp6"))
    listed = [one for table in tables for one in parse_socket_table(table)]
    return sorted({one.port for one in listed if one.inode in inodes})


def open_file_path(pid: int, number: int) -> str | None:
    """Return the path of the regular file that a descriptor has open; None for all else."""
    link = f"/proc/{pid}/fd/{number}"
    try:
        return os.readlink(link) if os.path.isfile(link) else None
    except OSError:
        return None


def describe_descriptor(pid: int, number: int, *, is_writing: bool = False) -> str:
    """Describe a descriptor: a file's path, a pipe and the holders of its other end, a socket."""
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
    """Describe the processes that hold the other end of a pipe."""
    mode = "read" if is_writing else "write"
    names = []
    for other in _list_pids():
        ends = [
            one
            for one in numbers_of(other, target)
            if opens_for(other, one, writing=not is_writing)
        ]
        if not ends:
            continue
        found = look_at(other)
        if other == pid:
            names.append(f"itself (fd {', '.join(map(str, ends))})")
        else:
            names.append(f"{found.name if found is not None else '?'} (pid {other})")
    if not names:
        return f"nobody has its {mode} end"
    return f"{mode} end held by {name_first(names)}"


def name_first(names: Sequence[str]) -> str:
    """Join the first names, and say how many more there are."""
    more = len(names) - _NAMED_MAX
    return ", ".join(names[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def numbers_of(pid: int, target: str) -> Iterator[int]:
    """Return a process's descriptors of a pipe or socket."""
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


def opens_for(pid: int, number: int, *, writing: bool) -> bool:
    """Return whether a descriptor was opened for writing, or for reading."""
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
    """Parse an address of /proc/net/tcp: words in machine order in hexadecimal, and a port."""
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
