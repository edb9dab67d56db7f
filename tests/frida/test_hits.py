"""Every statement is hit as often as gdb counts, and the program notices nothing."""

from __future__ import annotations

import os

import pytest

from debugger.backends.inprocess.engine.engine_events import EngineBreakpoint, EngineExited
from live_engine import build_program, count_with_gdb

BUILDS = [
    ("plain.c", ("-O0",)),
    ("plain.c", ("-O2",)),
    ("plain.c", ("-O2", "-no-pie")),
    ("thrown.cpp", ("-O0",)),
    ("thrown.cpp", ("-O2",)),
    ("owned.rs", ("-Copt-level=0",)),
    ("owned.rs", ("-Copt-level=2",)),
    ("plain.c", ("-O3", "-mavx2", "-ftree-vectorize")),
    ("hammer.c", ("-O0",)),
]
# So many statements of each program are armed with nothing else, each in a run of its own. All
# of them are 436 runs, of half a second of a processor each: DEBUGGER_ALL_STATEMENTS=1 does those.
IS_ALL = os.environ.get("DEBUGGER_ALL_STATEMENTS") == "1"
ALONE = 1000 if IS_ALL else 4
# The stub counts by itself; or JavaScript is asked at every hit.
ASKED = [None, "() => true"]


@pytest.mark.adapter("gdb-cli")
@pytest.mark.parametrize("condition", ASKED, ids=["counted", "asked"])
@pytest.mark.parametrize(("name", "flags"), BUILDS, ids="".join)
async def test_all_statements_at_once_are_hit_as_often_as_gdb_says(
    start_engine, name, flags, condition
):
    program = build_program(name, *flags)
    args = ("300",) if name == "hammer.c" else ("a", "b")
    status, out, err = program.alone(*args)
    live = await start_engine(program, *args)
    offset = 0 if "-no-pie" in flags else live.base
    addresses = program.statements()
    assert len(addresses) > 15
    failed = await live.engine.add_breakpoints(
        EngineBreakpoint(id=str(one), address=offset + one, pauses=False, condition=condition)
        for one in addresses
    )
    assert failed == {}
    await live.engine.run_program()
    exited = await live.until(EngineExited)
    assert (exited.status, exited.signal) == (status, None)
    assert (live.output("out"), live.output("err")) == (out, err)
    tally = await live.engine.hit_counts()
    seen = {one: tally[str(one)].hits for one in addresses}
    gdb_base = 0 if "-no-pie" in flags else 0x555555554000
    expected = dict(zip(addresses, count_with_gdb(program, addresses, args, gdb_base), strict=True))
    assert seen == expected


@pytest.mark.adapter("gdb-cli")
@pytest.mark.timeout(1200 if IS_ALL else 120)
@pytest.mark.parametrize(("name", "flags"), BUILDS, ids="".join)
async def test_each_statement_alone_is_hit_as_often_as_gdb_says(start_engine, name, flags):
    program = build_program(name, *flags)
    args = ("20",) if name == "hammer.c" else ("a", "b")
    is_fixed = "-no-pie" in flags
    statements = program.statements()
    addresses = statements[:: -(-len(statements) // ALONE)]
    status, out, _ = program.alone(*args)
    expected = count_with_gdb(program, addresses, args, 0 if is_fixed else 0x555555554000)
    assert sum(expected) > 0
    for address, count in zip(addresses, expected, strict=True):
        live = await start_engine(program, *args)
        place = address if is_fixed else live.base + address
        await live.engine.add_breakpoints(
            [EngineBreakpoint(id="b", address=place, pauses=False, condition="(c) => true")]
        )
        await live.engine.run_program()
        assert (await live.until(EngineExited)).status == status
        assert live.output() == out
        assert (await live.engine.hit_counts())["b"].hits == count, hex(address)
        await live.engine.end_program()


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("plain.c", ("-O0",)),
        ("plain.c", ("-O3", "-mavx2", "-ftree-vectorize")),
        ("thrown.cpp", ("-O2",)),
        ("hammer.c", ("-O2",)),
    ],
    ids="".join,
)
async def test_a_program_of_copies_alone_does_what_the_program_does(start_engine, name, flags):
    program = build_program(name, *flags)
    status, out, err = program.alone("50")
    live = await start_engine(program, "50")
    addresses = program.instructions()
    assert len(addresses) > 100
    failed = await live.engine.add_breakpoints(
        EngineBreakpoint(id=str(one), address=live.base + one, pauses=False) for one in addresses
    )
    assert all("hlt" in why or "ud2" in why for why in failed.values()), failed
    await live.engine.run_program()
    exited = await live.until(EngineExited)
    assert (exited.status, exited.signal) == (status, None)
    assert (live.output("out"), live.output("err")) == (out, err)
    tally = await live.engine.hit_counts()
    assert sum(one.hits for one in tally.values()) > 1000
