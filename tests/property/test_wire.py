"""The decoder gives the same messages in any chunking, or an error."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from debugger.backends.dap.dap_transport import HEADER_MAX, MessageDecoder, encode_message
from debugger.errors import DebuggerError, ErrorCode

BODIES = st.lists(st.binary(max_size=60), max_size=6)
LIMIT = 1000


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    at = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(at)]


def read(data: bytes, cuts: list[int]) -> tuple[list[bytes], bool]:
    """Return the messages up to the first error, and whether there was one."""
    decoder = MessageDecoder(message_max=LIMIT)
    found: list[bytes] = []
    try:
        for chunk in chunks(data, cuts):
            for body in decoder.add_bytes(chunk):
                found.append(body)
                assert len(body) <= LIMIT
            assert len(decoder._buffer) <= LIMIT + HEADER_MAX + len(chunk)
    except DebuggerError as error:
        assert error.code is ErrorCode.PROTOCOL
        assert len(error.message) < 1000
        return found, True
    return found, False


@given(BODIES, st.lists(st.integers(0, 10_000)))
def test_messages_are_the_same_in_any_chunking(bodies, cuts):
    assert read(b"".join(map(encode_message, bodies)), cuts) == (bodies, False)


@given(BODIES, st.binary(max_size=200), st.lists(st.integers(0, 10_000)))
def test_garbage_after_messages_loses_none_of_them_in_any_chunking(bodies, garbage, cuts):
    data = b"".join(map(encode_message, bodies)) + garbage
    found, is_broken = read(data, cuts)
    assert found[: len(bodies)] == bodies
    assert (found, is_broken) == read(data, [])


@given(st.binary(max_size=300), st.lists(st.integers(0, 10_000)))
def test_garbage_is_an_error_or_waited_for(garbage, cuts):
    assert read(garbage, cuts) == read(garbage, [])


HEADERS = st.lists(
    st.sampled_from(
        [b"Content-Length", b": ", b"5", b"-1", b"99999999", b"\r\n", b"\r\n\r\n", b"{}", b"\n"]
    ),
    max_size=20,
).map(b"".join)


@given(HEADERS, st.lists(st.integers(0, 10_000)))
def test_what_looks_like_headers_is_read_the_same_in_any_chunking(data, cuts):
    assert read(data, cuts) == read(data, [])
