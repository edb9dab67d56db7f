"""Messages are cut out of the byte stream, and nothing else."""

from __future__ import annotations

import asyncio
import socket

import pytest

from debugger.backends.dap.dap_transport import (
    HEADER_MAX,
    MessageDecoder,
    TcpConnection,
    encode_message,
)
from debugger.errors import DebuggerError, ErrorCode
from event_loop import begin_task


def test_what_is_encoded_is_decoded():
    assert list(MessageDecoder().add_bytes(encode_message(b'{"a":1}') + encode_message(b""))) == [
        b'{"a":1}',
        b"",
    ]


def test_a_message_may_come_byte_by_byte():
    decoder = MessageDecoder()
    found = [body for byte in encode_message(b"{}") for body in decoder.add_bytes(bytes([byte]))]
    assert found == [b"{}"]


@pytest.mark.parametrize(
    "header",
    [
        b"content-length:2\r\n\r\n{}",
        b"Content-Type: x\r\nContent-Length: 2\r\n\r\n{}",
        b"CONTENT-LENGTH:   2  \r\nX: y\r\n\r\n{}",
        b"what an adapter printed: it\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_a_header_may_be_written_in_any_way(header):
    assert list(MessageDecoder().add_bytes(header)) == [b"{}"]


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: \r\n\r\n",
        b"Content-Length: 0x2\r\n\r\n{}",
        b"Content-Length: 1_0\r\n\r\n",
        b"\r\n\r\n",
        b"Traceback (most recent call last):\n" * 200,
        b"\xff" * (HEADER_MAX + 1),
    ],
)
def test_what_is_no_header_is_a_protocol_error(data):
    with pytest.raises(DebuggerError) as broken:
        list(MessageDecoder().add_bytes(data))
    assert broken.value.code is ErrorCode.PROTOCOL


@pytest.mark.parametrize("length", [b"101", b"9" * 5000])
def test_a_message_over_the_limit_is_refused_by_its_header(length):
    with pytest.raises(DebuggerError, match=r"over 100 bytes|not the Debug Adapter Protocol"):
        list(MessageDecoder(message_max=100).add_bytes(b"Content-Length: " + length + b"\r\n\r\n"))


def test_what_came_before_something_broken_is_not_lost():
    bodies = MessageDecoder().add_bytes(
        encode_message(b"1") + encode_message(b"2") + b"oops\r\n\r\n"
    )
    assert [next(bodies), next(bodies)] == [b"1", b"2"]
    with pytest.raises(DebuggerError):
        next(bodies)


@pytest.mark.parametrize("has_ended", [False, True])
async def test_what_an_adapter_sends_before_it_is_read_is_not_lost(has_ended: bool):
    # CPython 3.11.2 reads from a connection that `connection_made` has paused.
    adapter, own = socket.socketpair()
    _, connection = await asyncio.get_running_loop().create_connection(TcpConnection, sock=own)
    taken: list[bytes] = []
    with adapter:
        connection.data_received(b"early ")
        if has_ended:
            connection.connection_lost(None)
        forwarding = await begin_task(connection.forward_output(taken.append))
        adapter.sendall(b"late")
    await forwarding
    connection.close()
    assert b"".join(taken) == (b"early " if has_ended else b"early late")
