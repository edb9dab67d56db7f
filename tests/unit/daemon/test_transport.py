"""A client and the daemon find each other, and nobody else does."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from debugger import paths
from debugger.daemon import protocol, transport
from debugger.errors import DebuggerError

PATIENCE_S = 60.0
TOKEN = "0" * 64


@pytest.fixture
def pair() -> Iterator[tuple[transport.DaemonConnection, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(PATIENCE_S)
        yield transport.DaemonConnection(ours), theirs


@pytest.fixture
def listening(runtime_dir: Path) -> Iterator[socket.socket]:
    listener, _ = transport.listen_for_clients(str(runtime_dir), TOKEN)
    with listener:
        listener.settimeout(PATIENCE_S)
        yield listener


@pytest.fixture
def over_tcp(runtime_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    monkeypatch.setenv("DEBUGGER_TRANSPORT", "tcp")
    listener, address = transport.listen_for_clients(str(runtime_dir), TOKEN)
    transport.write_state(str(runtime_dir), {"pid": os.getpid(), **address})
    with listener:
        listener.settimeout(PATIENCE_S)
        yield listener


def connected(directory: str | Path) -> transport.DaemonConnection:
    connection = transport.connect_daemon(str(directory))
    assert connection is not None
    return connection


def test_lines_are_given_one_at_a_time_however_they_arrive(pair):
    connection, daemon = pair
    daemon.sendall(b"one\ntw")
    assert connection.receive_line(PATIENCE_S) == b"one"
    daemon.sendall(b"o\n\nthree\nunfinished")
    assert [connection.receive_line(PATIENCE_S) for _ in range(3)] == [b"two", b"", b"three"]
    daemon.shutdown(socket.SHUT_WR)
    assert connection.receive_line(PATIENCE_S) is None


def test_a_wait_for_a_line_is_bounded_and_loses_nothing(pair):
    connection, daemon = pair
    daemon.sendall(b"half ")
    with pytest.raises(TimeoutError):
        connection.receive_line(0.05)
    daemon.sendall(b"a line\n")
    assert connection.receive_line(PATIENCE_S) == b"half a line"


def test_a_line_over_the_bound_is_not_collected(pair, monkeypatch):
    monkeypatch.setattr(protocol, "MAX_BYTES", 1000)
    connection, daemon = pair
    daemon.sendall(b"x" * 1001)
    with pytest.raises(transport.MessageTooLong):
        connection.receive_line(PATIENCE_S)


def test_what_a_daemon_said_before_it_hung_up_is_still_received(pair):
    connection, daemon = pair
    daemon.sendall(b"farewell\n")
    daemon.close()
    connection.send_line(b"unheard\n")
    assert connection.receive_line(PATIENCE_S) == b"farewell"
    assert connection.receive_line(PATIENCE_S) is None


def test_a_daemon_that_takes_nothing_is_given_up(pair):
    connection, _ = pair
    connection._timeout = 0.05
    with pytest.raises(TimeoutError):
        connection.send_line(b"x" * (8 << 20))


def test_the_socket_is_its_owners_alone_and_leads_to_the_daemon(runtime_dir, listening):
    mode = os.lstat(runtime_dir / paths.SOCKET).st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600
    connection = connected(runtime_dir)
    accepted, _ = listening.accept()
    with accepted:
        assert transport.is_own_peer(accepted)
        connection.send_line(b"hello\n")
        assert accepted.recv(100) == b"hello\n"
    connection.close()


def test_a_process_of_another_user_is_no_peer(runtime_dir, listening, monkeypatch):
    connection = connected(runtime_dir)
    accepted, _ = listening.accept()
    uid = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    with accepted:
        assert not transport.is_own_peer(accepted)
    connection.close()


def test_where_none_listens_there_is_no_connection(runtime_dir):
    assert transport.connect_daemon(str(runtime_dir)) is None
    listener, _ = transport.listen_for_clients(str(runtime_dir), TOKEN)
    listener.close()
    assert (runtime_dir / paths.SOCKET).exists()
    assert transport.connect_daemon(str(runtime_dir)) is None


def test_a_daemon_with_a_full_queue_is_not_taken_for_dead(runtime_dir, monkeypatch):
    monkeypatch.setattr(transport, "BACKLOG", 0)
    monkeypatch.setattr(transport, "CONNECT_S", 0.05)
    listener, _ = transport.listen_for_clients(str(runtime_dir), TOKEN)

    def fill() -> None:
        for _ in range(10):
            queued.callback(connected(runtime_dir).close)

    with listener, ExitStack() as queued, pytest.raises(TimeoutError):
        fill()


def test_a_directory_of_any_length_works(tmp_path):
    directory = tmp_path / ("d" * 120)
    directory.mkdir()
    listener, _ = transport.listen_for_clients(str(directory), TOKEN)
    with listener:
        connected(directory).close()
    assert stat.S_ISSOCK(os.lstat(directory / paths.SOCKET).st_mode)


def test_a_long_directory_is_refused_where_there_is_no_way_round_it(tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, "isdir", lambda _: False)
    directory = tmp_path / ("d" * 120)
    directory.mkdir()
    for use in (transport.connect_daemon, lambda path: transport.listen_for_clients(path, TOKEN)):
        with pytest.raises(DebuggerError, match="longer than 100 bytes") as refused:
            use(str(directory))
        assert "DEBUGGER_RUNTIME_DIR" in refused.value.hint


def test_over_tcp_the_token_is_the_first_line(runtime_dir, over_tcp):
    assert over_tcp.getsockname()[0] == "127.0.0.1"
    assert stat.S_IMODE(os.lstat(runtime_dir / paths.STATE).st_mode) == 0o600
    connection = connected(runtime_dir)
    accepted, _ = over_tcp.accept()
    with accepted, accepted.makefile("rb") as lines:
        assert protocol.decode_message(lines.readline()) == {"token": TOKEN}
        assert transport.is_own_peer(accepted)
    connection.close()


def test_a_daemon_on_tcp_is_found_also_by_who_did_not_ask_for_it(
    runtime_dir, over_tcp, monkeypatch
):
    monkeypatch.delenv("DEBUGGER_TRANSPORT")
    connected(runtime_dir).close()


def test_a_daemon_on_a_unix_socket_is_found_also_by_who_asked_for_tcp(
    runtime_dir, listening, monkeypatch
):
    monkeypatch.setenv("DEBUGGER_TRANSPORT", "tcp")
    transport.write_state(str(runtime_dir), {"pid": os.getpid(), "transport": "unix"})
    connected(runtime_dir).close()


@pytest.mark.parametrize(
    "change", [{"closing": True}, {"port": "x"}, {"token": None}, {"pid": None}, {"pid": "dead"}]
)
def test_a_state_that_names_no_living_daemon_is_not_followed(runtime_dir, over_tcp, change):
    if change.get("pid") == "dead":
        child = os.posix_spawn("/bin/true", ["true"], {})
        os.waitpid(child, 0)
        change = {"pid": child}
    state = transport.read_state(str(runtime_dir))
    transport.write_state(str(runtime_dir), {**state, **change})
    assert transport.connect_daemon(str(runtime_dir)) is None
    over_tcp.setblocking(False)
    with pytest.raises(BlockingIOError):
        over_tcp.accept()


def test_a_port_where_nobody_listens_any_more_is_no_daemon(runtime_dir, over_tcp):
    over_tcp.close()
    assert transport.connect_daemon(str(runtime_dir)) is None


@pytest.mark.parametrize("content", [None, b"", b"not json", b"[]", b"\xff", b'{"pid": 1'])
def test_a_state_that_cannot_be_read_says_nothing(tmp_path, content):
    if content is not None:
        (tmp_path / paths.STATE).write_bytes(content)
    assert transport.read_state(str(tmp_path)) is None


def test_who_reads_the_state_while_it_is_written_reads_all_of_one(tmp_path):
    states = [{"pid": number, "fill": str(number) * 100_000} for number in range(2)]
    transport.write_state(str(tmp_path), states[0])

    def write() -> None:
        for number in range(100):
            transport.write_state(str(tmp_path), states[number % 2])

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        assert transport.read_state(str(tmp_path)) in states
    writer.join(PATIENCE_S)
