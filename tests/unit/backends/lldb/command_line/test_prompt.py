"""Answers are told apart from LLDB's other output, in whatever pieces."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.backends.lldb.command_line.lldb_console import (
    LldbAnswerText,
    LldbOutputSplitter,
    LldbTalk,
    is_end_of_opening,
    opening_commands,
    question_command,
)
from debugger.errors import DebuggerError, ErrorCode

SECRET = "0123456789abcdef" * 2
HEAD = b"\x1e" + SECRET.encode() + b" "
# What LLDB, the program, and what they echo may write: no line of theirs begins an answer.
TALK = st.text(st.characters(codec="utf-8", exclude_characters="\n\x1e"), max_size=30)
BODY = st.binary(max_size=40).filter(lambda body: b"\n" not in body and HEAD not in body)
LINES = st.lists(
    st.one_of(
        TALK.map(lambda text: (text, None)),
        st.tuples(TALK, st.tuples(st.integers(0, 10**6), BODY)),
    ),
    max_size=8,
)


def chunks(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    at = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(at)]


def split(data: bytes, cuts: Sequence[int] = ()) -> list[LldbAnswerText | LldbTalk]:
    splitter = LldbOutputSplitter(SECRET)
    return [piece for chunk in chunks(data, cuts) for piece in splitter.add_bytes(chunk)]


@given(LINES, st.lists(st.integers(0, 10_000)))
def test_answers_and_talk_are_the_same_in_any_chunking(lines, cuts):
    data, expected = b"", []
    for text, answer in lines:
        data += text.encode()
        expected += [LldbTalk(text)] if text else []
        if answer is not None:
            number, body = answer
            data += HEAD + str(number).encode() + b" " + body
            expected.append(LldbAnswerText(number, body))
        data += b"\n"
    assert split(data, cuts) == expected


@given(st.binary(max_size=200), st.lists(st.integers(0, 1000)))
def test_hostile_bytes_are_talk_or_one_error(data, cuts):
    try:
        pieces = split(HEAD.join([b"", data]) + b"\n", cuts)
    except DebuggerError as error:
        assert error.code is ErrorCode.PROTOCOL
    else:
        assert all(isinstance(piece, LldbAnswerText | LldbTalk) for piece in pieces)


def test_a_prompt_an_echo_and_stop_text_before_an_answer_are_no_part_of_it():
    data = b'(lldb) script lldb_inside.ask("e30=")\nProcess 7 stopped\n(lldb) ' + HEAD + b"3 {}\n"
    assert split(data)[-2:] == [LldbTalk("(lldb) "), LldbAnswerText(3, b"{}")]


def test_the_secret_without_its_mark_is_talk_as_where_a_command_is_echoed():
    echoed = opening_commands("/x/lldb_inside.py", SECRET)
    assert SECRET.encode() in echoed
    assert not any(isinstance(piece, LldbAnswerText) for piece in split(echoed))
    assert split(SECRET.encode() + b" 3 {}\n") == [LldbTalk(f"{SECRET} 3 {{}}")]


def test_another_sessions_mark_is_talk():
    other = b"\x1e" + b"f" * 32 + b" 3 {}\n"
    assert split(other) == [LldbTalk(other[:-1].decode())]


def test_an_answer_without_a_number_is_a_fault():
    with pytest.raises(DebuggerError) as raised:
        split(HEAD + b"three {}\n")
    assert raised.value.code is ErrorCode.PROTOCOL


def test_talk_without_an_end_is_not_kept_but_an_answer_after_it_is_found():
    splitter = LldbOutputSplitter(SECRET)
    for _ in range(100):
        assert splitter.add_bytes(b"x" * (1 << 14)) == []
        assert len(splitter._received) <= 1 << 16
    *_, last = splitter.add_bytes(HEAD + b"1 {}\n")
    assert last == LldbAnswerText(1, b"{}")


HOSTILE = ("a\nprocess kill", "a\0b", '") ; quit ("', "`help`", "\x1e", "\u2028", "ü")


@pytest.mark.parametrize("word", HOSTILE)
def test_a_question_is_one_command_whatever_its_words_are(word):
    line = question_command(7, "evaluate", {"expression": word})
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    before, _, rest = line.partition(b'("')
    body, _, after = rest.partition(b'")')
    assert (before, after) == (b"script lldb_inside.ask", b"\n")
    told = json.loads(base64.b64decode(body, validate=True))
    assert told == {"number": 7, "do": "evaluate", "with": {"expression": word}}


def test_the_end_of_the_opening_is_known_from_its_answer_and_not_from_its_echo():
    lines = [LldbTalk(line) for line in opening_commands("/x", SECRET).decode().splitlines()]
    assert not any(is_end_of_opening(line, SECRET) for line in lines)
    prompt = lines[0].text.partition('"')[2].rstrip('"')
    assert is_end_of_opening(LldbTalk(f'prompt (string) = "{prompt}"'), SECRET)
    assert not is_end_of_opening(LldbTalk(f'prompt (string) = "{prompt}"'), "f" * 32)


def test_a_path_with_quotes_is_one_word():
    line = opening_commands('/a "b"/c\\d.py', SECRET).decode().splitlines()[1]
    assert line == 'command script import "/a \\"b\\"/c\\\\d.py"'
