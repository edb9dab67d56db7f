"""Lines are cut, parsed and refused, in whatever chunks they come."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.mcp.stdio_server import (
    LineReader,
    PendingRequests,
    RejectedMessage,
    known_id,
    parse_message,
)


def cut(data: bytes, size: int, limit: int = 1000) -> list[bytes | RejectedMessage]:
    lines = LineReader(limit=limit)
    found = [
        one
        for start in range(0, len(data), size)
        for one in lines.add_bytes(data[start : start + size])
    ]
    last = lines.finish()
    return found if last is None else [*found, last]


@given(st.lists(st.binary(max_size=30)), st.integers(1, 50))
def test_lines_are_the_same_however_they_come(parts, size) -> None:
    parts = [part.replace(b"\n", b"") for part in parts]
    assert cut(b"\n".join(parts), size) == [part for part in parts if part.strip()]


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_a_line_that_is_too_long_is_refused_and_the_next_is_read(size) -> None:
    long = b'{"id":5,"params":"' + b"x" * 20_000 + b'"}'
    first, second = cut(long + b"\nnext\n", size)
    assert isinstance(first, RejectedMessage)
    assert first.id == 5
    assert first.why == f"the message has {len(long)} bytes, of at most 1000"
    assert second == b"next"


def test_of_a_line_that_is_too_long_little_is_held() -> None:
    lines = LineReader(limit=10_000)
    for _ in range(1000):
        assert list(lines.add_bytes(b"x" * 1000)) == []
        assert len(lines._buffered) <= 11_000
    assert isinstance(lines.finish(), RejectedMessage)


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b'{"jsonrpc":"2.0","id":5,"method":"m","params":{"id":6,', 5),
        (b'{"params":{"id":6},"id":"a b","more', "a b"),
        (b' { "id" : 7 , "x', 7),
        (b'{"id":12', None),  # it may have gone on
        (b'{"params":{"id":5', None),
        (b'{"id":true,"x":1}', None),
        (b'{"id":null,"x":1}', None),
        (b'{"id":1.5,"x":1}', None),
        (b"[" * 5000, None),
        (b'{"a":' * 5000, None),
        (b'{"a":' + b"1" * 5000, None),
        (b"", None),
        (b"{", None),
        (b'{"id"', None),
        (b'{"id":', None),
        (b"\xff", None),
    ],
)
def test_the_id_is_found_at_the_beginning_where_it_is_whole(line, number) -> None:
    assert known_id(line, b"") == number


@pytest.mark.parametrize(
    ("tail", "number"),
    [
        (b'xx"},"jsonrpc":"2.0","id":72}', 72),
        (b'xx"}, "id" : "a" } ', "a"),
        (b'xx","id":72}}', None),  # of something inside
        (b'xx\\",\\"id\\":72}"}', None),  # a text
        (b'"id":72', None),
    ],
)
def test_the_id_is_found_at_the_end_where_it_is_the_messages_own(tail, number) -> None:
    assert known_id(b'{"params":"x', tail) == number


@given(st.binary())
def test_whatever_comes_is_a_message_or_refused(line) -> None:
    assert isinstance(
        parse_message(line), types.JSONRPCRequest | types.JSONRPCNotification | RejectedMessage
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.sampled_from(["2.0", "1.0", 2, None]),
    st.sampled_from(["ping", 4, None, ""]),
)
def test_an_id_of_a_wrong_type_is_never_taken_for_none(number, version, method) -> None:
    line = json.dumps({"jsonrpc": version, "id": number, "method": method}).encode()
    found = parse_message(line)
    if isinstance(found, RejectedMessage):
        assert found.id is None or found.id == number
    else:
        assert isinstance(found, types.JSONRPCRequest)
        assert found.id == number


def request(number: int | str) -> types.JSONRPCRequest:
    return types.JSONRPCRequest(jsonrpc="2.0", id=number, method="ping")


def cancelled(number: Any) -> types.JSONRPCNotification:
    params = {"requestId": number}
    return types.JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=params)


def test_requests_beyond_the_bounds_are_refused_until_others_are_answered() -> None:
    owed = PendingRequests(count_max=2)
    assert owed.note_received(request(1), 10) is None
    assert owed.note_received(request("b"), 10) is None
    refused = owed.note_received(request(3), 10)
    assert refused is not None
    assert refused.id == 3
    owed.note_sent(types.JSONRPCResponse(jsonrpc="2.0", id="b", result={}))
    assert owed.note_received(request(3), 10) is None
    assert owed.note_received(cancelled(1), 10) is None
    assert owed.note_received(request(4), 10) is None
    assert owed


def test_requests_are_bounded_by_their_bytes_too() -> None:
    owed = PendingRequests(bytes_max=100)
    assert owed.note_received(request(1), 101) is None
    assert owed.note_received(request(2), 1) is not None
    owed.note_sent(
        types.JSONRPCError(jsonrpc="2.0", id=1, error=types.ErrorData(code=1, message=""))
    )
    assert not owed
    assert owed.note_received(request(2), 1) is None


@pytest.mark.parametrize("number", [None, [], {}, 1.5, True, "nosuch"])
def test_a_cancellation_of_nothing_is_no_failure(number) -> None:
    owed = PendingRequests()
    assert owed.note_received(cancelled(number), 1) is None
    owed.note_received(
        types.JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled"), 1
    )
    owed.note_received(types.JSONRPCResponse(jsonrpc="2.0", id=1, result={}), 1)
    assert not owed
