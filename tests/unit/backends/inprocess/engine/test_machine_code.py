"""The shipped machine code is that of the sources."""

from __future__ import annotations

import platform
import shutil
import subprocess

import pytest

from debuggees import find_source
from debugger.backends.inprocess.engine import machine_code
from debugger.backends.inprocess.engine.agent_connection import agent_source
from debugger.backends.inprocess.engine.code import build
from left_out import leave_out


@pytest.fixture
def compiler():
    if platform.machine() != "x86_64":
        pytest.skip("the code is for x86-64")
    if shutil.which("gcc") is None:
        leave_out("gcc is missing")


@pytest.mark.parametrize("name", build.SOURCES)
def test_the_shipped_bytes_are_those_of_the_sources(compiler, name):
    assert getattr(machine_code, name) == build.build_code(build.SOURCES[name])


@pytest.mark.parametrize("source", ["trace.c", "log.c"])
def test_a_ring_is_full_only_where_it_is_also_for_a_thread_that_is_held_up(
    compiler, source, tmp_path
):
    program = tmp_path / "ring_room"
    flags = [one for one in build.FLAGS if one != "-ffreestanding"]
    flags += [f'-DRING_SOURCE="{build.HERE / source}"', "-o", str(program)]
    subprocess.run(["gcc", *flags, find_source("ring_room.c")], check=True)
    assert subprocess.run([str(program)], check=False).returncode == 0


@pytest.mark.parametrize(
    ("code", "marks"),
    [
        (machine_code.TRAP, {"8877665544332211": 1}),
        (machine_code.CRASH, {"8877665544332211": 2}),
        (
            machine_code.ENTER,
            {
                "5857565554535251": 1,
                "3837363534333231": 2,
                "4847464544434241": 1,
                "6867666564636261": 1,
                "7877767574737271": 1,
                "8887868584838281": 1,
            },
        ),
    ],
)
def test_each_mark_for_an_address_is_there(code, marks):
    assert {mark: code.hex().count(mark) for mark in marks} == marks


def test_the_common_code_fits_the_head_of_an_arena():
    assert len(machine_code.ENTER) <= 0x400


def test_the_agent_is_put_together_with_its_code():
    source = agent_source(holds_modules=True)
    assert source.index("const HOLDS_MODULES = true") < source.index("function mapArena")
    assert machine_code.TRAP.hex() in source
