"""What a descriptor is, and what is at its other end."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from debugger.model.thread_waits import SystemCall
from debugger.system import descriptor_peers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


def test_a_pipe_is_told_with_who_holds_its_other_end() -> None:
    read, write = os.pipe()
    try:
        told = descriptor_peers.blocked_on(os.getpid(), SystemCall("read", (read, 0, 1)))
        assert told == f"reads from fd {read}: a pipe, write end held by itself (fd {write})"
        os.close(write)
        told = descriptor_peers.describe_descriptor(os.getpid(), read)
        assert told == "a pipe, nobody has its write end"
    finally:
        os.close(read)


def test_of_many_holders_it_is_said_how_many_more_there_are() -> None:
    assert descriptor_peers.name_first(["a", "b", "c"]) == "a, b, c"
    assert descriptor_peers.name_first(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


def test_a_connection_is_told_with_its_peer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            told = descriptor_peers.describe_descriptor(os.getpid(), client.fileno())
            assert told == f"a TCP socket, peer 127.0.0.1:{port}"
        told = descriptor_peers.blocked_on(os.getpid(), SystemCall("accept", (server.fileno(),)))
        assert told.endswith(f"a TCP socket at 127.0.0.1:{port}")


def test_what_is_not_open_is_said() -> None:
    assert descriptor_peers.describe_descriptor(os.getpid(), 9999) == "not open"


def test_an_address_of_version_six_is_read_as_words_of_the_machine() -> None:
    text = "00000000000000000000000001000000:1F90"
    assert descriptor_peers.parse_address(text) == "[::1]:8080"
