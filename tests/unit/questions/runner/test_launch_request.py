"""What would be debugged, run without a debugger."""

from __future__ import annotations

import os

import pytest

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.runner import command_call


def launch(**more):
    return LaunchTarget(**{"program": None, "args": ("1", "2"), "cwd": "/src", "env": {}, **more})


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"program": "/src/a"}, ["/src/a", "1", "2"]),
        ({"program": "/src/a.py", "python": "/bin/p"}, ["/bin/p", "/src/a.py", "1", "2"]),
        ({"module": "a.b", "python": "/bin/p"}, ["/bin/p", "-m", "a.b", "1", "2"]),
    ],
)
def test_a_program_is_run_by_its_interpreter_where_it_needs_one(more, words):
    assert command_call.launch_argv(launch(**more)) == words


async def test_its_input_is_what_the_file_holds_and_nothing_without_one(tmp_path):
    (tmp_path / "in").write_bytes(b"a\nb")
    assert await command_call.stdin_bytes(launch(stdin=str(tmp_path / "in"))) == b"a\nb"
    assert await command_call.stdin_bytes(launch(stdin=None)) == b""
    assert await command_call.stdin_bytes(launch(stdin=os.devnull)) == b""


async def test_an_input_that_is_too_long_is_refused(tmp_path):
    with (tmp_path / "long").open("wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(DebuggerError) as caught:
        await command_call.stdin_bytes(launch(stdin=str(tmp_path / "long")))
    assert (caught.value.code, caught.value.hint) == (
        ErrorCode.USAGE,
        "give a shorter input: --stdin FILE",
    )
