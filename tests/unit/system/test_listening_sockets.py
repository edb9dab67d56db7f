"""The process that listens at a port."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.system import descriptor_peers
from debugger.system.descriptor_peers import (
    ListeningSocket,
    addresses_of,
    filter_by_port,
    find_owners,
    is_here,
    list_listeners,
    listening_ports,
    parse_socket_table,
)

TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:162E 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 147754 1
   1: 0100007F:162E 0100007F:BD70 01 00000000:00000000 00:00000000 00000000     0        0 147755 1
   2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99 1 x y
   3: ZZ00007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 98 1 x y
   4: short
"""
REST = "00000000:00000000 00:00000000 00000000     0        0"
TABLE_6 = f"""\
  sl  local_address                         remote_address                        st
   0: 00000000000000000000000001000000:1F90 {"0" * 32}:0000 0A {REST} 7 1
   1: 0000000000000000FFFF00000100007F:1F91 {"0" * 32}:0000 0A {REST} 8 1
"""


def test_the_listening_sockets_of_a_table_are_read():
    assert parse_socket_table(TABLE) == [
        ListeningSocket("127.0.0.1", 0x162E, 147754),
        ListeningSocket("0.0.0.0", 80, 99),
    ]


def test_the_ports_of_several_descriptors_are_found_together(monkeypatch):
    read: list[str] = []
    monkeypatch.setattr(
        descriptor_peers, "_read_text", lambda path: read.append(path) or Path(path).read_text()
    )
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryFile() as file:
        client = socket.create_connection(server.getsockname())
        numbers = [server.fileno(), client.fileno(), file.fileno(), 99_999]
        assert listening_ports(os.getpid(), numbers) == [server.getsockname()[1]]
        client.close()
        # A server with many clients watches as many descriptors.
        assert len(read) <= 2
        assert listening_ports(os.getpid(), numbers[2:]) == []


def test_addresses_of_version_6_are_read():
    found = [
        (ipaddress.ip_address(one.address), one.port, one.inode)
        for one in parse_socket_table(TABLE_6)
    ]
    mapped = ipaddress.ip_address("::ffff:127.0.0.1")
    assert found == [(ipaddress.ip_address("::1"), 0x1F90, 7), (mapped, 0x1F91, 8)]


@given(st.text())
def test_no_text_is_too_strange_to_be_read(text):
    assert all(isinstance(one, ListeningSocket) for one in parse_socket_table(text))


def test_a_listener_serves_its_address_and_one_for_all_serves_every_address():
    known = [ListeningSocket("127.0.0.1", 5678, 1), ListeningSocket("0.0.0.0", 80, 2)]
    known.append(ListeningSocket("::ffff:127.0.0.1", 9, 3))
    assert filter_by_port(known, ["127.0.0.1"], 5678) == known[:1]
    assert filter_by_port(known, ["10.0.0.1"], 5678) == []
    assert filter_by_port(known, ["10.0.0.1", "::1"], 80) == known[1:2]
    assert filter_by_port(known, ["127.0.0.1"], 9) == known[2:]
    assert filter_by_port(known, ["127.0.0.1"], 81) == []


def test_only_this_machines_addresses_are_here():
    assert is_here("127.0.0.1")
    assert not is_here("192.0.2.1")  # for documentation only: RFC 5737


def test_a_host_that_is_none_is_an_error():
    with pytest.raises(socket.gaierror):
        addresses_of("nosuch.invalid", 80)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
def test_the_process_that_holds_a_socket_is_found():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = filter_by_port(list_listeners(), addresses_of("localhost", port), port)
        assert len(found) == 1
        assert os.getpid() in {one.pid for one in find_owners(found)}
    assert filter_by_port(list_listeners(), ["127.0.0.1"], port) == []
