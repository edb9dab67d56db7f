"""Commands that are sent ahead are answered once, as long as nothing else may change a value."""

from __future__ import annotations

import asyncio
import re

import pytest

from debugger.backends.adapters.xdebug.dbgp_engine import DbgpEngine, EngineError

SPACE = 'xmlns="urn:debugger_protocol_v1"'
REFUSED = '<error code="5"><message>no stack</message></error>'


class AnsweringWriter:
    """Answers each command as Xdebug does; `writes` are the names of what came in one write."""

    def __init__(self, reader: asyncio.StreamReader, refused: str = "") -> None:
        self._reader = reader
        self._refused = refused
        self.writes: list[list[str]] = []

    def write(self, data: bytes) -> None:
        commands = [one.decode() for one in data.split(b"\0")[:-1]]
        self.writes.append([one.split()[0] for one in commands])
        for one in commands:
            number = re.search(r"-i (\d+)", one)
            assert number is not None
            name = one.split()[0]
            inside = REFUSED if name == self._refused else ""
            text = (
                f'<r {SPACE} command="{name}" transaction_id="{number[1]}">{inside}</r>'
            ).encode()
            text = b'<?xml version="1.0"?>' + text
            self._reader.feed_data(b"%d\0%b\0" % (len(text), text))

    async def drain(self) -> None:
        """Do nothing: all is written."""

    def get_extra_info(self, _name: str) -> None:
        """Tell of no socket."""


def engine_factory(refused: str = "") -> tuple[DbgpEngine, AnsweringWriter]:
    reader = asyncio.StreamReader()
    writer = AnsweringWriter(reader, refused)
    return DbgpEngine(reader, writer, lambda _: None), writer  # type: ignore[arg-type]


async def test_commands_ahead_go_out_in_one_write_and_are_answered_without_another():
    engine, writer = engine_factory()
    step = await engine.run("step_over", ahead=["stack_get", "context_get -d 0"])
    await engine.run("breakpoint_set -t line")
    stack = await engine.run("stack_get")
    values = await engine.run("context_get -d 0")
    assert [one.get("command") for one in (step, stack, values) if one is not None] == [
        "step_over",
        "stack_get",
        "context_get",
    ]
    assert writer.writes == [["step_over", "stack_get", "context_get"], ["breakpoint_set"]]


async def test_what_may_change_a_value_drops_the_answers_that_were_sent_ahead():
    engine, writer = engine_factory()
    await engine.run("step_over", ahead=["stack_get", "context_get -d 0"])
    await engine.run("stack_get")
    await engine.run("eval -p 0", "$a = 2;")
    await engine.run("context_get -d 0")
    assert writer.writes[1:] == [["eval"], ["context_get"]]


async def test_a_refusal_is_raised_where_the_answer_is_read():
    engine, _ = engine_factory(refused="stack_get")
    assert await engine.run("step_over", ahead=["stack_get"]) is not None
    with pytest.raises(EngineError, match="no stack"):
        await engine.run("stack_get")
