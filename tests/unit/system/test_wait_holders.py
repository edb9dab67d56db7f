"""Who could end a wait between processes: holders of locks, and of other ends of connections."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys

import pytest

from debugger.model.thread_waits import SystemCall
from debugger.system import wait_holders

# As Linux 6.6 writes it: 7 waits for 5's lock, 9 for an open file description's, which is no pid's.
LOCKS = """\
1: POSIX  ADVISORY  WRITE 5 fe:00:398607 0 EOF
1: -> POSIX  ADVISORY  WRITE 7 fe:00:398607 0 EOF
2: OFDLCK ADVISORY  WRITE -1 fe:00:395600 0 EOF
2: -> OFDLCK ADVISORY  WRITE 9 fe:00:395600 0 EOF
3: FLOCK  ADVISORY  WRITE 6 fe:00:398608 0 EOF
"""
TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 100 1
   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 101 1
   2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 102 1
   3: 0100007F:C351 0200007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 103 1
"""


def test_a_process_that_waits_for_a_file_lock_is_known_with_its_holder() -> None:
    assert wait_holders.parse_lock_table(LOCKS) == {7: 5}
    assert wait_holders.parse_lock_table("no table") == {}


def test_the_two_sockets_of_a_connection_are_each_others_ends() -> None:
    one, other = "socket:[101]", "socket:[102]"
    assert wait_holders.parse_connections(TCP) == {one: other, other: one}


@pytest.mark.skipif(sys.platform != "linux", reason="netlink is Linux's")
def test_a_pair_of_unix_sockets_is_known_by_the_kernel() -> None:
    one, other = socket.socketpair()
    with one, other:
        inodes = [os.fstat(each.fileno()).st_ino for each in (one, other)]
        pairs = wait_holders._read_unix_peers()
        assert {(inodes[0], inodes[1]), (inodes[1], inodes[0])} <= set(pairs)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_who_could_read_from_a_pipe_is_known_and_that_its_writer_could() -> None:
    reader, writer = os.pipe()
    table = wait_holders.HolderTable({}, {})
    assert table.find_reader(os.getpid(), reader) is None
    with subprocess.Popen(["cat"], stdin=reader) as other:
        table = wait_holders.HolderTable.read()
        found = table.find_reader(os.getpid(), reader)
        os.close(reader)
        os.close(writer)
    assert found is not None
    assert (found.pids, found.has_both_ends, found.end) == ((other.pid,), True, "read end")


@pytest.mark.parametrize("data", [b"", b"\0" * 15, struct.pack("=IHHII", 4, 20, 0, 0, 0) * 3])
def test_messages_of_another_shape_have_no_pairs(data: bytes) -> None:
    assert wait_holders.parse_unix_peers(data + b"\0" * 32)[1] == []


@pytest.mark.parametrize(
    ("name", "arguments", "is_forever"),
    [
        ("read", (3, 0, 1), True),
        ("poll", (0, 1, 0xFFFFFFFF), True),
        ("poll", (0, 1, 0xFFFFFFFFFFFFFFFF), True),
        ("poll", (0, 1, 500), False),
        ("epoll_wait", (4, 0, 8, 100), False),
        ("futex", (0, 0, 2, 0), True),
        ("futex", (0, 0x189, 0, 0x7FFE1000), False),
        ("select", (4, 0, 0, 0, 0x7FFE1000), False),
    ],
)
def test_a_call_with_a_time_out_does_not_wait_for_ever(
    name: str, arguments: tuple[int, ...], is_forever: bool
) -> None:
    assert wait_holders.waits_forever(SystemCall(name, arguments)) is is_forever
