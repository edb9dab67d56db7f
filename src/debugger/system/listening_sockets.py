"""Finds the process of this machine that listens at a port."""

from __future__ import annotations

import ipaddress
import os
import os.path
import socket
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from debugger.system.process_info import ProcessInfo, look_at

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTEN = "0A"  # TCP_LISTEN of net/tcp_states.h
_LOCAL, _STATE, _INODE = 1, 3, 9
_IPV4, _IPV6 = 8, 32
_WORD = 8


class ListeningSocket(Struct, frozen=True):
    """A socket that listens: its address and port, and its inode or the process that has it."""

    address: str
    port: int
    inode: int = 0
    pid: int = 0


def parse_socket_table(table: str) -> list[ListeningSocket]:
    """Read the listening sockets of /proc/net/tcp or tcp6, proc_pid_net(5)."""
    found = []
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) <= _INODE or fields[_STATE] != _LISTEN:
            continue
        host, _, port = fields[_LOCAL].partition(":")
        try:
            found.append(ListeningSocket(_parse_address(host), int(port, 16), int(fields[_INODE])))
        except ValueError:
            continue
    return found


def _parse_address(text: str) -> str:
    """Read an address: words of 32 bits in the byte order of the machine, in hexadecimal.

    Raises:
        ValueError: It is none.
    """
    if len(text) not in {_IPV4, _IPV6}:
        raise ValueError(text)
    words = (bytes.fromhex(text[at : at + _WORD])[::-1] for at in range(0, len(text), _WORD))
    return str(ipaddress.ip_address(b"".join(words)))


def filter_by_port(
    listeners: Iterable[ListeningSocket], addresses: Iterable[str], port: int
) -> list[ListeningSocket]:
    """Return the listeners that take a connection to a port at one of these addresses."""
    wanted = {str(_unmapped_address(one)) for one in addresses}
    return [
        one
        for one in listeners
        if one.port == port
        and (
            ipaddress.ip_address(one.address).is_unspecified
            or str(_unmapped_address(one.address)) in wanted
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
    """Tell whether an address is one of this machine's: only to those can a socket be bound."""
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
    """Return what listens on this machine, as far as it may be seen."""
    if not sees_all():
        from debugger.system.psutil_processes import (
            list_listeners,  # psutil takes a while to import
        )

        return [ListeningSocket(one.address, one.port, pid=one.pid) for one in list_listeners()]
    found: list[ListeningSocket] = []
    for table in _TABLES:
        with suppress(OSError):  # there may be no IPv6
            found += parse_socket_table(Path(table).read_text(encoding="ascii"))
    return found


def find_owners(found: Iterable[ListeningSocket]) -> list[ProcessInfo]:
    """Return the processes that hold listening sockets, as far as we may see them."""
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
