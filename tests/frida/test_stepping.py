"""Steps end where gdb's do, and in the right place where gdb loses them."""

from __future__ import annotations

import subprocess
from itertools import pairwise

import pytest

from debugger.backends.inprocess.engine.engine_events import (
    EngineBreakpoint,
    EngineExited,
    ThreadPaused,
)
from debugger.backends.inprocess.stepping.thread_steps import InProcessStepTargets, StepVerdict
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Frame, ResumeKind
from live_engine import PROGRAMS, BuiltProgram, build_program
from stepped_program import EXIT, SteppedProgram, step_with_gdb

LOOP = "for (long i = 0; i < rounds; i++)"


def texts(name: str, trail: list[str]) -> list[str]:
    """Say what the lines of a trail say."""
    lines = (PROGRAMS / name).read_text(encoding="utf-8").splitlines()
    return [
        EXIT if one == EXIT else lines[int(one.rpartition(":")[2]) - 1].strip() for one in trail
    ]


def line_of(name: str, text: str) -> str:
    """Find a line by what it says."""
    lines = (PROGRAMS / name).read_text(encoding="utf-8").splitlines()
    (number,) = (at for at, line in enumerate(lines, 1) if line.strip() == text)
    return f"{name}:{number}"


@pytest.fixture
def begin(start_engine):
    async def run(source: str, *flags: str, place: str, condition: str | None = None):
        stepped = SteppedProgram(await start_engine(build_program(source, *flags)))
        return stepped, await stepped.to(place, condition)

    return run


@pytest.mark.parametrize(
    ("source", "flag", "place", "how", "count"),
    [
        ("steps.c", "-O0", "main", "next", 20),
        ("steps.c", "-O0", "loops", "next", 25),
        ("steps.c", "-O0", "loops", "step", 75),
        ("steps.c", "-O0", "chosen", "next", 5),
        ("steps.c", "-O0", "factorial", "step", 28),
        ("steps.c", "-O0", "factorial", "finish", 1),
        ("steps.c", "-O0", "tail", "step", 6),
        ("steps.c", "-O0", "interrupted", "next", 6),
        ("steps.c", "-O0", "chosen", "stepi", 25),
        ("steps.c", "-O0", "loops", "nexti", 70),
        ("steps.c", "-O2", "tail", "step", 3),
        ("steps.c", "-O2", "leaf", "finish", 1),
        ("plain.c", "-O0", "main", "next", 30),
        ("plain.c", "-O2", "main", "next", 30),
        ("plain.c", "-O2", "main", "step", 30),
        ("thrown.cpp", "-O0", "main", "next", 50),
        ("thrown.cpp", "-O2", "main", "next", 20),
        ("caught.cpp", "-O0", "main", "step", 37),
        ("owned.rs", "-Copt-level=0", "owned::parsed", "finish", 1),
    ],
)
async def test_steps_end_where_those_of_gdb_do(  # noqa: PLR0917 - the fields of a case
    begin, tmp_path, source, flag, place, how, count
):
    theirs = step_with_gdb(build_program(source, flag), place, how, count, tmp_path)
    stepped, paused = await begin(source, flag, place=place)
    assert await stepped.trail(how, paused, count) == theirs


async def test_an_exception_is_followed_to_where_it_is_caught(begin):
    stepped, paused = await begin("caught.cpp", "-O0", place="main")
    trail = texts("caught.cpp", await stepped.trail("next", paused, 14))
    assert trail[5:13] == [
        "sum += catches(1);",
        "sum += deep(3);",
        "} catch (...) {",
        "sum++;",
        "}",
        'std::printf("%d %d\\n", sum, Counted::live);',
        "return 0;",
        "}",
    ]


async def test_a_step_into_what_throws_goes_on_in_each_frame_that_catches_or_cleans(begin):
    stepped, paused = await begin(
        "caught.cpp", "-O0", place="cleans", condition="(c) => c.rdi.toInt32() === 1"
    )
    trail = await stepped.trail("step", paused, 20)
    assert [one.rpartition(":")[0] for one in trail] == [
        *("Counted::Counted", "cleans", "quiet", "thrower", "thrower"),
        *("quiet", "quiet", "quiet", "quiet"),
        *("cleans", "thrower", "thrower"),
        *("cleans", "Counted::~Counted"),
        *("catches", "catches", "catches", "catches", "catches"),
        "main",
    ]
    assert "y = 2;" in texts("caught.cpp", trail)
    assert "y = 1;" not in texts("caught.cpp", trail)


async def test_out_of_what_throws_leads_to_what_catches(begin):
    stepped, paused = await begin(
        "caught.cpp", "-O0", place="thrower", condition="(c) => c.rdi.toInt32() === 1"
    )
    first = await stepped.step("finish", paused.thread)
    assert (await stepped.where(first)).startswith("quiet:")
    outer, paused = await begin("caught.cpp", "-O0", place="deep")
    ended = await outer.step("finish", paused.thread)
    assert texts("caught.cpp", [await outer.where(ended)]) == ["} catch (...) {"]


async def test_a_longjmp_is_followed_to_its_setjmp(begin):
    stepped, paused = await begin("steps.c", "-O0", place="caught")
    assert texts("steps.c", await stepped.trail("next", paused, 4)) == [
        "leaps(2);",
        "if (setjmp(outer) == 0) {",
        "sum += 2;",
        "return 1;",
    ]


async def test_out_of_what_jumps_leads_to_the_setjmp(begin):
    stepped, paused = await begin("steps.c", "-O0", place="leaps")
    ended = await stepped.step("finish", paused.thread)
    assert texts("steps.c", [await stepped.where(ended)]) == ["if (setjmp(outer) == 0) {"]


async def test_a_step_over_a_recursive_call_ends_in_its_own_frame_without_a_pause(begin):
    stepped, paused = await begin("steps.c", "-O0", place="factorial")
    first = await stepped.step("next", paused.thread)
    ended = await stepped.step("next", paused.thread)
    assert texts("steps.c", [await stepped.where(ended)]) == ["return n * rest;"]
    assert ended.registers["rsp"] == first.registers["rsp"]
    # The hits of the inner calls were judged by the agent.
    assert stepped.goes_on == 0


async def test_nothing_of_a_step_is_left_in_the_program(begin):
    stepped, paused = await begin("steps.c", "-O0", place="loops")
    await stepped.trail("step", paused, 20)
    assert not await stepped.engine.hit_counts()
    stepped.engine.resume()
    assert (await stepped.live.until(EngineExited)).status == 3


async def test_a_breakpoint_of_the_user_ends_a_step(begin):
    line = line_of("steps.c", "sum += twice(k) + thrice(k);")
    stepped, paused = await begin("steps.c", "-O0", place=line)
    await stepped.engine.add_breakpoints(
        [EngineBreakpoint(id="mine", address=stepped.body("thrice"))]
    )
    told = await stepped.step("next", paused.thread)
    assert told.points == ("mine",)
    assert not stepped.ours
    assert list(await stepped.engine.hit_counts()) == ["mine"]


async def test_where_a_step_ends_at_a_breakpoint_the_breakpoint_is_told(begin):
    line = line_of("steps.c", "while (i < 3)")
    stepped, paused = await begin("steps.c", "-O0", place="loops")
    await stepped.engine.add_breakpoints([EngineBreakpoint(id="mine", address=stepped.body(line))])
    await stepped.step("next", paused.thread)
    told = await stepped.step("next", paused.thread)
    assert "mine" in told.points
    assert not stepped.ours


async def test_a_point_of_a_forgotten_step_stops_nobody(begin):
    stepped, paused = await begin("steps.c", "-O0", place="loops")
    late = ThreadPaused(
        thread=paused.thread,
        reason="breakpoint",
        registers={},
        time=0,
        sequence=0,
        points=("step.99.0",),
    )
    assert await stepped.steps.decide_pause(late) is StepVerdict.GO_ON


async def test_a_step_in_a_thread_that_ends_lets_the_program_go_on(begin):
    line = line_of("steps.c", "pthread_exit(NULL);")
    stepped, paused = await begin("steps.c", "-O0", place=line)
    assert isinstance(await stepped.step("next", paused.thread), EngineExited)
    await stepped.steps.forget_step(paused.thread)


async def test_among_threads_in_the_same_lines_each_step_stays_in_its_own(start_engine, tmp_path):
    program = build_program("hammer.c", "-O0")
    stepped = SteppedProgram(await start_engine(program, "3000", "4"))
    paused = await stepped.to("work", "(c) => c.rdi.toInt32() === 2")
    trail = await stepped.trail("next", paused, 40)
    calls = texts("hammer.c", trail)
    assert set(pairwise(calls)) <= {
        ("x = x * 3 + 1;", "x ^= x >> 3;"),
        ("x ^= x >> 3;", "if (x & 1)"),
        ("if (x & 1)", "x += seed;"),
        ("if (x & 1)", "return x;"),
        ("x += seed;", "return x;"),
        ("return x;", "}"),
        ("}", LOOP),
        (LOOP, "x = work(x);"),
        ("x = work(x);", LOOP),
    }
    assert calls.count(LOOP) > 10
    stepped.engine.resume()
    assert (await stepped.live.until(EngineExited)).status == 7
    assert stepped.live.output() == program.alone("3000", "4")[1]


async def test_two_threads_step_at_once(start_engine):
    stepped = SteppedProgram(await start_engine(build_program("hammer.c", "-O0"), "50", "2"))
    await stepped.load()
    await stepped.engine.add_breakpoints(
        [EngineBreakpoint(id="both", address=stepped.body("work"))]
    )
    await stepped.engine.run_program()
    both = [await stepped.live.until(ThreadPaused) for _ in range(2)]
    assert len({one.thread for one in both}) == 2
    await stepped.engine.remove_breakpoints(["both"])
    for _ in range(3):
        for one in both:
            await stepped.steps.begin_step(ResumeKind.NEXT, one.thread)
        both = [await stepped.told() for _ in range(2)]
        assert stepped.ours
    assert len({one.thread for one in both}) == 2
    assert {await stepped.where(one) for one in both} == {"work:11"}


async def test_one_of_the_calls_of_a_line_is_gone_into(begin):
    line = line_of("steps.c", "sum += twice(k) + thrice(k);")
    stepped, paused = await begin("steps.c", "-O0", place=line)
    able = InProcessStepTargets(stepped, stepped.steps)
    frame = Frame(0, "loops", 1, address=hex(paused.registers["rip"]))
    targets = {one.label: one for one in await able.list_step_targets(frame)}
    assert set(targets) == {"twice", "thrice"}
    await able.step_into_target(targets["thrice"], paused.thread)
    ended = await stepped.told()
    assert (await stepped.where(ended)).startswith("thrice:")


async def test_calls_through_pointers_are_not_named_before_they_are_made(begin):
    line = line_of("steps.c", "sum += table[sum & 1](4) + table[0](5);")
    stepped, paused = await begin("steps.c", "-O0", place=line)
    frame = Frame(0, "main", 1, address=hex(paused.registers["rip"]))
    assert await InProcessStepTargets(stepped, stepped.steps).list_step_targets(frame) == []
    trail = await stepped.trail("step", paused, 3)
    assert {one.partition(":")[0] for one in trail[:2]} <= {"twice", "thrice"}


@pytest.mark.parametrize("binding", ["lazy", "now"])
async def test_a_library_is_gone_into_whether_its_function_is_bound_or_not(
    start_engine, tmp_path, binding
):
    library, path = tmp_path / "libown.so", tmp_path / "uses"
    source = tmp_path / "uses.c"
    source.write_text(
        "int added(int);\nint main(void) {\n    int x = added(1);\n    x += added(2);\n"
        "    return x;\n}\n"
    )
    _compile("-shared", "-fPIC", str(PROGRAMS / "library.c"), "-o", str(library))
    _compile(str(source), "-o", str(path), str(library), f"-Wl,-z,{binding},-rpath,{tmp_path}")
    stepped = SteppedProgram(await start_engine(BuiltProgram(path)))
    paused = await stepped.to("main")
    trail = await stepped.trail("step", paused, 9)
    once = ["added"] * 3
    assert [one.partition(":")[0] for one in trail] == [*once, "main", *once, "main", "main"]


def _compile(*argv: str) -> None:
    subprocess.run(["gcc", "-g", "-O0", *argv], check=True, timeout=60)


async def test_a_handler_of_a_signal_is_left_to_what_it_has_interrupted(begin):
    stepped, paused = await begin("steps.c", "-O0", place="on_signal")
    trail = await stepped.trail("next", paused, 6)
    assert texts("steps.c", trail[:1]) == ["}"]
    names = [one.rpartition(":")[0] for one in trail]
    # What lies between is the C library's, with lines or without.
    assert "interrupted" in names
    assert "__restore_rt" not in names


async def test_a_thread_that_runs_cannot_be_stepped(begin):
    stepped, paused = await begin("steps.c", "-O0", place="loops")
    with pytest.raises(DebuggerError) as refused:
        await stepped.step("next", paused.thread + 1)
    assert refused.value.code is ErrorCode.WRONG_STATE
