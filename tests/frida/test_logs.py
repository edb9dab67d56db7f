"""Machine code logs the same text as JavaScript, and loses nothing."""

from __future__ import annotations

import signal

import pytest

from debugger.backends.inprocess import site_breakpoints
from debugger.backends.inprocess.engine.agent_connection import AgentConnection
from debugger.backends.inprocess.engine.engine_events import (
    EngineBreakpoint,
    EngineExited,
    RecordLogged,
    RecordsDropped,
    ThreadPaused,
)
from debugger.backends.inprocess.loaded_program import BreakpointAddress
from debugger.model.breakpoints import BreakpointSpec
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.unwinding import LoadedBinary
from live_engine import PROGRAMS, build_program

ROUNDS = 9
# What is asked for at which mark: a record has room for twelve numbers.
_NUMBERS = {
    "one": "{tiny} {byte} {letter} {small} {usmall} {number} {unumber} {wide} {uwide} {yes} "
    "{colour} 100%",
    "two": "{real} {half} {infinite} {counter} {first.low} {last.high} {q} {&row} {q[-1]} {*q}",
    "three": "{last.at} {row} {row[round & 3]} {real * 2} {half + 1} {wide + 1} {nobody} {item}",
    "four": "{(unsigned char)wide} {-wide} {~number} {yes ? real : 1.5} {number == 0} "
    "{uwide >> 3} {item->weight} {(float)wide} {(char)number} {wide < 0 ? half : -half}",
}
# Some of these can be read in some rounds only, and the rest of the line says so.
_FAILING = {
    "one": "{item->next->at.x} and {number}",
    "two": "{nobody->weight} {nobody->next->low} {wide}",
    "three": "{wide / round} {1 << round * 4} {row[round]} {(int)real}",
    "four": "{(unsigned long)infinite} {*(int *)wide} {(short)half}",
}
# What has more than machine code can write down.
_MORE = {"one": "{word} {number}", "two": "{row} {row} {row} {last}"}
_RECORD = """
int values(const unsigned long long *frame, unsigned long long *words) {
  words[0] = frame[8];
  return frame[8] == 3 ? -1 : 1;
}
"""


class _Lines:
    """The lines of a running program that have a mark, and what may be logged there."""

    def __init__(self, live):
        self._image = BinaryImage(live.program.path)
        self._module = LoadedBinary(self._image, live.base, live.base)
        self._live = live
        self._texts = {}

    async def log(self, mark, text, *, is_native=True, **spec):
        """Log at a mark, by machine code if it can do that."""
        lines = (PROGRAMS / "values.c").read_text(encoding="utf-8").splitlines()
        line = next(at for at, one in enumerate(lines, 1) if f"@{mark} */" in one)
        (found, *_) = self._image.lines.find_line("values.c", line).locations
        place = BreakpointAddress(found.address + self._module.load_bias, self._module)
        made = site_breakpoints.compile_breakpoint(
            mark, BreakpointSpec(log=text, **spec), place, group=mark
        )
        point = made.point if is_native else site_breakpoints.without_native(made.point)
        assert await self._live.engine.add_breakpoints([point]) == {}
        self._texts[mark] = made.text

    def told(self):
        """Return each record: of which mark, which hit, its text, and whether machine code told."""
        found = []
        for one in self._live.events:
            if isinstance(one, RecordLogged):
                is_native = isinstance(one.values, tuple)
                text = self._texts[one.point](one.values) if is_native else one.values
                found.append((one.point, one.hits, text, is_native))
        self._image.close()
        return found


async def _pairs(start, flag, asked, **spec):
    """Log the same at the first and the second pass of lines, there by machine code."""
    live = await start(build_program("values.c", flag))
    lines = _Lines(live)
    for mark, text in asked.items():
        await lines.log(mark, text, **spec)
        await lines.log(f"{mark} again", text, is_native=False, **spec)
    await live.engine.run_program()
    await live.until(EngineExited)
    told = lines.told()
    marks = [one for one, *_ in told]
    assert marks[1::2] == [f"{one} again" for one in marks[::2]]
    return told[::2], told[1::2], await live.engine.hit_counts()


@pytest.mark.parametrize("flag", ["-O0", "-O1"])
async def test_machine_code_and_javascript_tell_the_same_of_numbers(start_engine, flag):
    ours, theirs, counts = await _pairs(start_engine, flag, _NUMBERS)
    assert [one[1:3] for one in ours] == [one[1:3] for one in theirs]
    assert [one for one, *_ in ours] == [*_NUMBERS] * ROUNDS
    assert {is_native for *_, is_native in theirs} == {False}
    assert flag != "-O0" or all(is_native for *_, is_native in ours)
    assert any(is_native for *_, is_native in ours)
    assert {(one.hits, one.dropped) for one in counts.values()} == {(ROUNDS, 0)}


async def test_what_cannot_be_read_is_told_in_the_words_of_javascript(start_engine):
    ours, theirs, _ = await _pairs(start_engine, "-O0", _FAILING)
    assert [one[1:3] for one in ours] == [one[1:3] for one in theirs]
    assert [one for one, *_ in ours] == [*_FAILING] * ROUNDS
    errors = [is_native for *_, text, is_native in ours if "<error: " in text]
    assert errors
    assert not any(errors)
    assert all(is_native for *_, text, is_native in ours if "<error: " not in text)
    assert any("access violation" in text for _, _, text, _ in ours)


async def test_what_is_no_number_or_too_much_is_left_to_javascript(start_engine):
    ours, theirs, _ = await _pairs(start_engine, "-O0", _MORE)
    assert [one[1:3] for one in ours] == [one[1:3] for one in theirs]
    assert not any(is_native for *_, is_native in ours)


@pytest.mark.parametrize("hit_count", [None, 3])
async def test_a_condition_chooses_what_is_logged_and_numbered(start_engine, hit_count):
    asked = {"one": "{round}", "two": "{wide}", "three": "{item->next->at.x} {round}"}
    spec = {"condition": "round % 2 == 0 || number < -9", "hit_count": hit_count}
    ours, theirs, counts = await _pairs(start_engine, "-O0", asked, **spec)
    assert [one[1:3] for one in ours] == [one[1:3] for one in theirs]
    first = hit_count or 1
    assert [hits for mark, hits, *_ in ours if mark == "one"] == [*range(first, 6)]
    assert {(one.hits, one.dropped) for one in counts.values()} == {(5, 0)}


@pytest.mark.parametrize("end", ["crash", "abort", "_exit", "fork"])
async def test_the_last_records_before_an_end_are_told(start_engine, end):
    live = await start_engine(build_program("values.c", "-O0"), end)
    lines = _Lines(live)
    await lines.log("one", "{round}")
    await live.engine.run_program()
    if end in {"crash", "abort"}:
        paused = await live.until(ThreadPaused)
        assert paused.signal == {"crash": signal.SIGSEGV, "abort": signal.SIGABRT}[end]
        before = [one for one in live.events if isinstance(one, RecordLogged)]
        assert [one.sequence for one in before] == sorted(one.sequence for one in before)
        assert max(one.sequence for one in before) < paused.sequence
        assert len(before) == ROUNDS
        live.engine.resume()
        if end == "abort":
            await live.until(ThreadPaused)
            live.engine.resume()
    await live.until(EngineExited)
    # A forked child only runs on.
    assert lines.told() == [("one", at + 1, str(at), True) for at in range(ROUNDS)]


async def test_what_was_logged_before_a_stop_is_told_before_it(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "50", "1")
    stops = live.program.statements()
    begin = live.program.symbol("work")
    (second,) = [one for one in stops if one > begin][:1]
    logs = EngineBreakpoint(
        id="l", address=live.at("work"), pauses=False, log="() => 0", record=_ALWAYS, width=1
    )
    await live.engine.add_breakpoints([logs, EngineBreakpoint(id="s", address=live.base + second)])
    await live.engine.run_program()
    for number in range(1, 51):
        await live.until(ThreadPaused)
        told = [one.hits for one in live.events if isinstance(one, RecordLogged)]
        assert told == [*range(1, number + 1)]
        live.engine.resume()
    await live.until(EngineExited)


_ALWAYS = _RECORD.replace("== 3", "== -1")


async def test_records_of_threads_and_of_both_kinds_are_in_order(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "100")
    begin, end = live.program.symbol("work"), live.program.symbol("hammer")
    places = [live.base + one for one in live.program.statements() if begin <= one < end][:3]
    wanted = [
        EngineBreakpoint(
            id="a", address=places[0], pauses=False, log="() => 0", record=_ALWAYS, width=1
        ),
        EngineBreakpoint(id="b", address=places[1], pauses=False, log="() => 0"),
        EngineBreakpoint(
            id="c", address=places[2], pauses=False, log="() => 0", record=_ALWAYS, width=1
        ),
    ]
    assert await live.engine.add_breakpoints(wanted) == {}
    await live.engine.run_program()
    await live.until(EngineExited)
    told = [one for one in live.events if isinstance(one, RecordLogged)]
    assert len({one.thread for one in told}) == 4
    for thread in {one.thread for one in told}:
        own = [one for one in told if one.thread == thread]
        assert [one.point for one in own] == ["a", "b", "c"] * 100
        assert [one.time for one in own] == sorted(one.time for one in own)
    for point in "abc":
        assert sorted(one.hits for one in told if one.point == point) == [*range(1, 401)]
    numbers = [one.sequence for one in told]
    assert numbers == sorted(set(numbers))


async def test_hits_that_machine_code_leaves_to_javascript_are_counted_once(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "300")
    point = EngineBreakpoint(
        id="l",
        address=live.at("work"),
        pauses=False,
        log="(c) => c.rdi.toInt32()",
        record=_RECORD.replace("== 3", "& 1"),
        width=1,
    )
    await live.engine.add_breakpoints([point])
    await live.engine.run_program()
    await live.until(EngineExited)
    told = [one for one in live.events if isinstance(one, RecordLogged)]
    assert sorted(one.hits for one in told) == [*range(1, 1201)]
    assert {isinstance(one.values, tuple) for one in told} == {True, False}
    tally = (await live.engine.hit_counts())["l"]
    assert (tally.hits, tally.dropped) == (1200, 0)


async def test_records_that_there_is_no_room_for_are_counted(start_engine, monkeypatch):
    # Nobody takes what was sent: so the ring has to be full at last.
    monkeypatch.setattr(AgentConnection, "acknowledge_batch", lambda _: None)
    live = await start_engine(build_program("hammer.c", "-O2"), "50000")
    point = EngineBreakpoint(
        id="l", address=live.at("work"), pauses=False, log="() => 0", record=_ALWAYS, width=1
    )
    await live.engine.add_breakpoints([point])
    await live.engine.run_program()
    await live.until(EngineExited)
    tally = (await live.engine.hit_counts())["l"]
    logged = sum(isinstance(one, RecordLogged) for one in live.events)
    lost = sum(one.records for one in live.events if isinstance(one, RecordsDropped))
    assert tally.hits == 200_000
    assert logged + lost == 200_000
    assert tally.dropped == lost > 0


@pytest.mark.parametrize("condition", [None, "int predicate(const void *f) { return 1; }"])
async def test_machine_code_keeps_to_the_rate_and_to_its_burst(start_engine, condition):
    live = await start_engine(build_program("hammer.c", "-O0"), "30000")
    point = EngineBreakpoint(
        id="l",
        address=live.at("work"),
        pauses=False,
        log="() => 0",
        native=condition,
        record=_ALWAYS,
        width=1,
        rate=200,
        burst=5000,
    )
    await live.engine.add_breakpoints([point])
    await live.engine.run_program()
    await live.until(EngineExited)
    told = [one for one in live.events if isinstance(one, RecordLogged)]
    tally = (await live.engine.hit_counts())["l"]
    assert tally.hits == 120_000
    assert tally.dropped == tally.hits - len(told)
    seconds = (told[-1].time - told[0].time) / 1e6
    assert 5000 <= len(told) <= 5000 + 200 * seconds + 10
    assert sorted(one.hits for one in told)[:1000] == [*range(1, 1001)]
    assert len({one.hits for one in told}) == len(told)


async def test_who_logs_at_a_place_may_change_and_no_hit_is_told_twice(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "20000", "1")
    point = EngineBreakpoint(
        id="l", address=live.at("work"), pauses=False, log="() => 0", record=_ALWAYS, width=1
    )
    beside = EngineBreakpoint(id="s", address=live.at("work"), ignore=4_999)
    await live.engine.add_breakpoints([point, beside])
    await live.engine.run_program()
    await live.until(ThreadPaused)
    await live.engine.remove_breakpoints(["s"])
    live.engine.resume()
    await live.until(EngineExited)
    told = [one for one in live.events if isinstance(one, RecordLogged)]
    assert [one.hits for one in told] == [*range(1, 20_001)]
    # Where two points stand, JavaScript tells of both.
    assert [isinstance(one.values, tuple) for one in told] == [False] * 5_000 + [True] * 15_000
