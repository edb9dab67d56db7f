"""A program's standard streams carry all that it reads and writes."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import OutputStream
from debugger.system.program_streams import ProgramStreams
from event_loop import begin_task

BOUND_S = 60.0
OUT, ERR = OutputStream.STDOUT, OutputStream.STDERR


class RecordedStreams:
    """What a program wrote, by stream."""

    def __init__(self) -> None:
        self.text = {OUT: "", ERR: ""}
        self.more = asyncio.Event()

    def __call__(self, stream: OutputStream, text: str) -> None:
        self.text[stream] += text
        self.more.set()

    async def until(self, stream: OutputStream, text: str) -> None:
        async with asyncio.timeout(BOUND_S):
            while text not in self.text[stream]:
                self.more.clear()
                await self.more.wait()


@pytest.fixture
def recorded_streams() -> RecordedStreams:
    return RecordedStreams()


@pytest.fixture(params=[True, False], ids=["terminal", "fifo"])
async def stdio(
    request, tmp_path: Path, recorded_streams: RecordedStreams
) -> AsyncIterator[ProgramStreams]:
    made = ProgramStreams(tmp_path, as_terminal=request.param, on_output=recorded_streams)
    yield made
    made.close()


@contextmanager
def program(stdio: ProgramStreams, code: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run Python code on the streams, as a debugger would open them."""
    opener = (
        "import os,sys\n"
        f"os.dup2(os.open({stdio.stdin!r}, os.O_RDONLY), 0)\n"
        f"os.dup2(os.open({stdio.stdout!r}, os.O_WRONLY | os.O_NOCTTY), 1)\n"
        f"os.dup2(os.open({stdio.stderr!r}, os.O_WRONLY | os.O_NOCTTY), 2)\n"
        "w = os.write\n"
    )
    child = subprocess.Popen([sys.executable, "-S", "-c", opener + code])
    try:
        yield child
    finally:
        child.kill()
        child.wait()


async def ended(child: subprocess.Popen[bytes]) -> int:
    async with asyncio.timeout(BOUND_S):
        return await asyncio.to_thread(child.wait)


async def test_stdout_and_stderr_are_told_apart(stdio, recorded_streams):
    with program(stdio, "w(1, b'out\\n'); w(2, b'err\\n')") as child:
        await ended(child)
    await stdio.read_to_end()
    assert recorded_streams.text == {OUT: "out\n", ERR: "err\n"}


async def test_a_line_is_heard_before_the_program_goes_on(stdio, recorded_streams):
    with program(stdio, "w(1, b'ready\\n'); os.read(0, 1)"):
        await recorded_streams.until(OUT, "ready\n")


async def test_output_without_a_newline_and_bytes_that_are_no_text_come_as_they_are(
    stdio, recorded_streams
):
    with program(stdio, "w(1, b'a\\x00\\xff\\r\\n!')") as child:
        await ended(child)
    await stdio.read_to_end()
    assert recorded_streams.text[OUT] == "a\x00\\xff\r\n!"


async def test_half_a_letter_at_the_end_is_told_as_its_byte(tmp_path, recorded_streams):
    stdio = ProgramStreams(tmp_path, as_terminal=False, on_output=recorded_streams)
    with program(stdio, "w(1, b'a\\xc3')") as child:
        await ended(child)
    await stdio.read_to_end()
    stdio.close()
    assert recorded_streams.text[OUT] == "a\\xc3"


async def test_a_letter_cut_between_two_writes_is_whole(stdio, recorded_streams):
    code = "w(1, b'\\xe2\\x82'); os.read(0, 1); w(1, b'\\xac!')"
    with program(stdio, code) as child:
        await stdio.write_input(b"x")
        await ended(child)
    await stdio.read_to_end()
    assert recorded_streams.text[OUT] == "\N{EURO SIGN}!"


async def test_megabytes_of_output_come_in_order_and_all_of_it(stdio, recorded_streams):
    code = (
        "block = b''.join(b'%07d\\n' % i for i in range(200000))\n"
        "while block: block = block[w(1, block):]"
    )
    with program(stdio, code) as child:
        await ended(child)
    await stdio.read_to_end()
    assert recorded_streams.text[OUT] == "".join(f"{number:07}\n" for number in range(200_000))


async def test_what_a_program_writes_as_its_last_is_drained_after_its_end(stdio, recorded_streams):
    with program(stdio, "w(2, b'x' * 4000); os._exit(3)") as child:
        assert await ended(child) == 3
    stdio.note_opened()
    await stdio.read_to_end()
    assert recorded_streams.text[ERR] == "x" * 4000


async def test_drain_is_bounded_while_somebody_still_writes(stdio, recorded_streams):
    with program(stdio, "while True: w(1, b'y\\n')"):
        await recorded_streams.until(OUT, "y\n")
        async with asyncio.timeout(BOUND_S):
            await stdio.read_to_end()


async def test_input_comes_as_it_was_written_and_ends(stdio, recorded_streams):
    code = "data = b''\nwhile chunk := os.read(0, 999): data += chunk\nw(1, data.upper())"
    with program(stdio, "w(2, b'up')\n" + code) as child:
        await recorded_streams.until(ERR, "up")
        await stdio.write_input(b"a\0b")
        await stdio.write_input(b"c\n")
        stdio.end_input()
        await ended(child)
    await stdio.read_to_end()
    assert recorded_streams.text[OUT] == "A\0BC\n"


async def test_input_over_the_pipes_size_waits_for_the_reader(stdio, recorded_streams):
    data = bytes(range(256)) * 4000
    code = (
        "import hashlib\ndigest = hashlib.sha256()\n"
        "while chunk := os.read(0, 4096): digest.update(chunk)\n"
        "w(1, digest.hexdigest().encode())"
    )
    with program(stdio, "w(2, b'up')\n" + code) as child:
        await recorded_streams.until(ERR, "up")
        async with asyncio.timeout(BOUND_S):
            await stdio.write_input(data)
        stdio.end_input()
        await ended(child)
    await stdio.read_to_end()
    assert recorded_streams.text[OUT] == hashlib.sha256(data).hexdigest()


async def test_two_that_write_at_once_are_both_written_one_after_the_other(stdio, recorded_streams):
    size = 300_000
    code = (
        "left = 600000\nwhile left:\n got = os.read(0, 50000)\n left -= len(got)\n"
        " while got: got = got[w(1, got):]"
    )
    with program(stdio, "w(2, b'up')\n" + code) as child:
        await recorded_streams.until(ERR, "up")
        async with asyncio.timeout(BOUND_S):
            await asyncio.gather(stdio.write_input(b"a" * size), stdio.write_input(b"b" * size))
        await ended(child)
    await stdio.read_to_end()
    assert recorded_streams.text[OUT] in {"a" * size + "b" * size, "b" * size + "a" * size}


@pytest.mark.parametrize("as_terminal", [True, False], ids=["terminal", "fifo"])
async def test_a_program_that_does_not_read_is_a_time_out_that_says_how_much(
    tmp_path, recorded_streams, as_terminal
):
    stdio = ProgramStreams(
        tmp_path, as_terminal=as_terminal, on_output=recorded_streams, write_s=0.05
    )
    with program(stdio, "import time; time.sleep(60)"), pytest.raises(DebuggerError) as slow:
        await stdio.write_input(b"x" * 1_000_000)
    assert slow.value.code is ErrorCode.TIMEOUT
    assert "of 1000000 bytes" in slow.value.message
    stdio.close()


async def test_an_end_of_input_ends_a_write_that_waits(stdio):
    writing = await begin_task(stdio.write_input(b"x" * 1_000_000))
    stdio.end_input()
    with pytest.raises(DebuggerError) as over:
        async with asyncio.timeout(BOUND_S):
            await writing
    assert over.value.code is ErrorCode.WRONG_STATE


async def test_input_after_its_end_is_refused(stdio):
    stdio.end_input()
    stdio.end_input()
    with pytest.raises(DebuggerError) as refused:
        await stdio.write_input(b"x")
    assert refused.value.code is ErrorCode.WRONG_STATE


async def test_a_terminals_output_is_a_terminal_and_a_fifos_is_not(tmp_path, recorded_streams):
    for as_terminal in (True, False):
        folder = tmp_path / str(as_terminal)
        folder.mkdir()
        stdio = ProgramStreams(folder, as_terminal=as_terminal, on_output=recorded_streams)
        with program(stdio, "w(2, b'%d ' % os.isatty(1))") as child:
            await ended(child)
        await stdio.read_to_end()
        stdio.close()
    assert recorded_streams.text[ERR] == "1 0 "


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="there is no /proc")
async def test_nothing_is_left_open(tmp_path, recorded_streams):
    before = len(os.listdir("/proc/self/fd"))
    for number, as_terminal in enumerate((True, False)):
        folder = tmp_path / str(number)
        folder.mkdir()
        ProgramStreams(folder, as_terminal=as_terminal, on_output=recorded_streams).close()
    assert len(os.listdir("/proc/self/fd")) == before
