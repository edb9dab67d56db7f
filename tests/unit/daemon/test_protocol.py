"""Messages survive the wire, and malformed ones are refused."""

from __future__ import annotations

import json

import pytest

from debugger.daemon import protocol
from debugger.daemon.protocol import MalformedMessage

HOSTILE = ["", "a\nb", "\0\x1f\x7f", '"\\/', "ü😀\u2028", "\udcff\udc80", "</script>", "\ud83d"]


@pytest.mark.parametrize("text", HOSTILE)
def test_every_text_survives_also_as_a_key_and_foreign_bytes(text):
    message = {text: [text, {"deep": text}]}
    line = protocol.encode_message(message)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert protocol.decode_message(line) == message


@pytest.mark.parametrize(
    "value", [None, True, False, 0, -1, 1 << 70, 1.5, -1e300, [], {}, [[], {}], {"a": {"b": [1]}}]
)
def test_values_are_written_as_the_standard_library_writes_them(value):
    assert json.loads(protocol.encode_ascii(value)) == value
    assert protocol.decode_message(protocol.encode_message({"x": value})) == {"x": value}


def test_a_tuple_is_a_list_and_a_key_that_is_no_text_becomes_one():
    assert protocol.encode_ascii({1: (1, "a")}) == '{"1":[1,"a"]}'


@pytest.mark.parametrize(
    ("value", "error"), [(object(), TypeError), (float("nan"), ValueError), ([{1}], TypeError)]
)
def test_what_json_cannot_hold_is_an_error_and_not_a_guess(value, error):
    with pytest.raises(error):
        protocol.encode_ascii(value)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"GET / HTTP/1.1\r\n",
        b"{",
        b'{"a":}',
        b"[]",
        b"1",
        b'"text"',
        b"null",
        b"{} {}",
        b"{}x",
        b"\xff{}",
        b'{"a":"\n"}',
        b'{"a":' + b"[" * 1_000_000,
    ],
)
def test_bytes_that_are_no_single_object_are_malformed(raw):
    with pytest.raises(MalformedMessage):
        protocol.decode_message(raw)


def test_spaces_around_a_message_are_no_matter():
    assert protocol.decode_message(b' \t{"a": 1} \r\n') == {"a": 1}


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], []),
        (["daemon", "stop"], ["daemon", "stop"]),
        (["--json", "daemon", "--no-color", "stop"], ["daemon", "stop"]),
        (["--session", "daemon", "next"], ["next"]),
        (["--session=app", "--budget", "9", "next", "3"], ["next", "3"]),
        (["start", "--cwd", "daemon"], ["start"]),
        (["start", "--", "daemon"], ["start"]),
        (["next", "--session"], ["next"]),
    ],
)
def test_the_words_of_a_command_end_at_its_own_options(argv, words):
    assert protocol.command_words(argv) == words


def test_an_option_after_the_double_dash_is_the_programs():
    assert protocol.has_option(["start", "app", "--json"], "--json")
    assert not protocol.has_option(["start", "app", "--", "--json"], "--json")
    assert protocol.has_option(["start", "-h"], "--help", "-h")
    assert not protocol.has_option(["start", "--jsonx"], "--json")


def test_sessions_are_named_for_a_person():
    sessions = [
        {"name": "app", "program": "./prog", "pid": 123},
        {"name": "b", "program": "x", "pid": None},
    ]
    assert protocol.name_sessions(sessions) == (
        "session app (./prog, pid 123), session b (x, pid None)"
    )
    assert not protocol.name_sessions([])
