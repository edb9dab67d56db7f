"""Inspected values are gdb's, and a value that is set is really set."""

from __future__ import annotations

import re

import pytest

from debuggees import find_marker
from debugger.backends import abilities
from debugger.backends.inprocess.engine.engine_events import EngineBreakpoint as Point
from debugger.backends.inprocess.engine.engine_events import EngineExited, ThreadPaused
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import Breakpoint, BreakpointSpec, WatchAccess
from debugger.model.program import EvaluationPurpose, Stopped, StopReason
from inspected_program import print_with_gdb, stop_debuggee, stop_program
from live_engine import PROGRAMS, BuiltProgram, build_program, run

_REAL = re.compile(r"-?\d+\.\d+")
# The same in gdb's words and in ours: `x = 1` and `x:1`, `'\000'` and 0.
_C = (
    ("n", "n"),
    ("total", "total"),
    ("u", "u"),
    ("little", "little"),
    ("half", "half"),
    ("ratio * 2", "ratio * 2"),
    ("letter", "letter"),
    ("text", "text"),
    ("word", "word"),
    ("numbers", "numbers"),
    ("numbers[3] + n", "numbers[3] + n"),
    ("*q", "*q"),
    ("q[-1]", "q[-1]"),
    ("calls", "calls"),
    ("here.x", "here.x"),
    ("p->value", "p->value"),
    ("p->next->name", "p->next->name"),
    ("p->low", "p->low"),
    ("p->middle", "p->middle"),
    ("p->high", "p->high"),
    ("p->real", "p->real"),
    ("p->colour", "p->colour"),
    ("p->grid", "p->grid"),
    ("counter", "counter"),
    ("sizeof(struct node)", "sizeof(node)"),
    ("(unsigned char)(n + 60)", "(unsigned char)(n + 60)"),
    ("n > 3 && total < 0", "n > 3 && total < 0"),
)
_CPP = (
    ("argc", "argc"),
    ("track.kept", "track.kept"),
    ("track.mode", "track.mode"),
    ("ref.loud", "ref.loud"),
    ("shadow", "shadow"),
    ("audio::rate", "audio::rate"),
    ("Counter::made", "Counter::made"),
    ("fixed._M_elems[1]", "fixed[1]"),
    ("tracks._M_impl._M_start[1].kept", "tracks[1].kept"),
    ("track.level()", "track.level()"),
    ("ref.level() + 1", "ref.level() + 1"),
)


def plain_gdb_text(text: str) -> str:
    """Give a value of gdb's without what is only its way of writing."""
    text = re.sub(r"^\((?:[^()]|\([^()]*\))*\) ", "", text)
    text = re.sub(r"^0x[0-9a-f]+ (?:<[^>]*> )?(?=\")", "", text)
    text = re.sub(r'(?:\\000)+"', '"', text)
    return repr(float(text)) if _REAL.fullmatch(text) else text


@pytest.mark.adapter("gdb")
async def test_values_of_c_are_those_of_gdb(start_engine):
    theirs = print_with_gdb("expressions.c", "@here", [one for one, _ in _C])
    seen = await stop_debuggee(start_engine, "expressions.c", "@here")
    ours = [(await seen.print(one)).value for _, one in _C]
    truths = {"true": "1", "false": "0"}
    assert [truths.get(one, one) for one in ours] == [plain_gdb_text(one) for one in theirs]


@pytest.mark.adapter("gdb")
async def test_values_of_cpp_are_those_of_gdb(start_engine):
    theirs = print_with_gdb("expressions.cpp", "@here", [one for one, _ in _CPP])
    seen = await stop_debuggee(start_engine, "expressions.cpp", "@here")
    ours = [(await seen.print(one)).value for _, one in _CPP]
    assert ours == [plain_gdb_text(one) for one in theirs]


@pytest.mark.adapter("gdb")
async def test_members_of_a_method_s_object_are_found_before_globals_as_by_gdb(start_engine):
    names = ["kept", "::kept", "kept + 1", "loud", "mode", "rate"]
    theirs = print_with_gdb("expressions.cpp", "@inside", names)
    seen = await stop_debuggee(start_engine, "expressions.cpp", "@inside")
    ours = [(await seen.print(one)).value for one in names]
    assert ours == [plain_gdb_text(one) for one in theirs]
    assert ours[:2] == ["4", "90"]


async def test_elements_of_maps_bits_and_queues_are_found_by_subscripts(start_engine):
    seen = await stop_debuggee(start_engine, "subscripts.cpp", "@shown")
    asked = {
        'ages["bob"]': "42",
        'ages["ann"] + 1': "32",
        "names[9]": '"nine"',
        "squares[20]": "400",
        "queue[2]": "9",
        "bits[1]": "false",
        "names[9][1]": "105 'i'",
    }
    assert {one: (await seen.print(one)).value for one in asked} == asked
    for missing, why in (('ages["eve"]', 'it has "ann", "bob"'), ("queue[3]", "the size is 3")):
        with pytest.raises(DebuggerError, match=why):
            await seen.print(missing)
    await seen.inspector.assign_value('ages["bob"]', "43", await seen.frame())
    assert (await seen.print("ages")).value == 'size=2 {["ann"]:31, ["bob"]:43}'


async def test_bytes_wide_letters_and_pointers_to_members_are_shown_whole(start_engine):
    seen = await stop_debuggee(start_engine, "subscripts.cpp", "@shown")
    shown = {name: one.value for name, one in (await seen.locals()).items()}
    assert shown["raw"] == r'"\x01\x00\x02\x03"'
    assert shown["cut"] == '"ab", then 2 more bytes'
    assert shown["buffer"] == '"short", then 16 more bytes'
    assert shown["field"] == "&Item::price"
    assert shown["none"] == "null"
    assert "Item::get" in shown["method"]
    assert shown["point"] == "{_M_value:1.5 + -2.0i}"
    assert shown["bits"] == "size=3 {true, false, true}"
    assert shown["wide"] == 'L"wideé"'
    assert shown["pointer"].endswith(' L"wideé"')
    assert shown["sixteen"].endswith(' u"six"')
    assert shown["text"] == '"letters"'


async def test_locals_and_arguments_are_told_apart_and_have_children(start_engine):
    seen = await stop_debuggee(start_engine, "expressions.c", "@here")
    frame = await seen.frame()
    assert (frame.function, frame.line) == ("work", find_marker("expressions.c", "here"))
    assert await seen.inspector.argument_names(frame) == ["n", "ratio", "word", "p"]
    names = [one.name for one in await seen.inspector.read_scopes(frame)]
    assert names == ["Arguments", "Locals", "Globals", "Registers"]
    shown = await seen.locals()
    assert shown["numbers"].value == "{10, 20, 30, 40, 50}"
    assert shown["text"].handle == 0
    inner = await seen.inspector.read_variables(shown["numbers"].handle, start=3, count=2)
    assert [(one.name, one.value) for one in inner] == [("[3]", "40"), ("[4]", "50")]
    assert await seen.inspector.count_elements(shown["numbers"].handle) == 5
    members = {one.name: one for one in await seen.inspector.read_variables(shown["p"].handle)}
    assert (members["name"].value, members["name"].expression) == ('"adam"', "p.name")
    again = await seen.print(str(members["next"].expression) + "->value")
    assert again.value == "2"


async def test_a_parameter_that_is_gone_is_known_as_its_caller_passed_it(start_engine):
    program = build_program("called_with.c", "-O2")
    seen = await stop_program(start_engine, program, "middle", source="called_with.c")
    assert (await seen.locals(1))["b"].value == "<not saved; 30 at the call>"


async def test_thread_locals_of_the_program_and_of_its_libraries_are_read_and_set(
    start_engine, tmp_path
):
    source, library = str(PROGRAMS / "thread_locals.c"), tmp_path / "libshared.so"
    run("gcc", "-g", "-shared", "-fPIC", "-DLIBRARY", "-o", str(library), source)
    run("gcc", "-g", "-o", str(tmp_path / "program"), source, str(library))
    seen = await stop_program(start_engine, BuiltProgram(tmp_path / "program"), "main")
    calls = next(one for one in seen.modules if str(one.image.binary.path) == str(library))
    address = calls.image.functions.find_by_name("bump")[0].body + calls.load_bias
    assert not await seen.engine.add_breakpoints([Point(id="bump", address=address)])
    seen.resume()
    await seen.stopped()
    names = ("shared", "hidden", "mine", "*&hidden + 1")
    assert [(await seen.print(one)).value for one in names] == ["7", "70", "3", "71"]
    await seen.inspector.assign_value("hidden", "500", await seen.frame())
    seen.resume()
    await seen.stopped()
    assert [(await seen.print(one)).value for one in names] == ["8", "501", "3", "502"]


async def test_globals_and_registers_are_scopes_of_a_frame(start_engine):
    seen = await stop_debuggee(start_engine, "expressions.c", "@here")
    scopes = {one.name: one.handle for one in await seen.inspector.read_scopes(await seen.frame())}
    found = {one.name: one.value for one in await seen.inspector.read_variables(scopes["Globals"])}
    assert found["counter"] == "41"
    held = {one.name: one.value for one in await seen.inspector.read_variables(scopes["Registers"])}
    assert int(held["rip"], 16) == seen.paused_thread(seen.thread).registers["rip"]


async def test_a_caller_is_seen_with_its_own_variables(start_engine):
    seen = await stop_debuggee(start_engine, "expressions.c", "@here")
    frame = await seen.frame(1)
    assert frame.function == "main"
    assert (await seen.print("first.at.y", 1)).value == "-4"
    with pytest.raises(DebuggerError, match="no 'total' in scope here"):
        await seen.print("total", 1)


async def test_values_of_rust_are_written_as_rust_has_them(start_engine):
    seen = await stop_debuggee(start_engine, "shapes.rs", "@shown")
    shown = {name: one.value for name, one in (await seen.locals()).items()}
    assert shown["animal"] == 'Dog{legs:4, name:"rex"}'
    assert (shown["maybe"], shown["nothing"]) == ("Some(Box(9))", "None")
    assert shown["names"] == 'size=2 {"a", "bc"}'
    assert shown["value"] == '"inner"'
    asked = {
        "*maybe.0": "9",
        "animal.name": '"rex"',
        "animal.legs + 1": "5",
        "failed.Err.0": '"bad"',
        "pair.0": "-3",
        "tuple.1": "2.5",
        "names[1].len()": "2",
        "zoo::legs(&animal)": "7",
    }
    assert {one: (await seen.print(one)).value for one in asked} == asked


async def test_a_case_of_an_enum_that_is_not_the_one_is_not_read(start_engine):
    seen = await stop_debuggee(start_engine, "shapes.rs", "@shown")
    for text in ("failed.Ok.0", "nothing.0"):
        with pytest.raises(DebuggerError, match="cannot be read"):
            await seen.print(text)


async def test_what_smart_pointers_own_is_reached_through_them(start_engine):
    seen = await stop_debuggee(start_engine, "expressions.cpp", "@here")
    asked = {
        "owner->kept": "4",
        "(*owner).notes[1]": "-2",
        "owner->level()": "7",
        "map.size()": "2",
    }
    assert {one: (await seen.print(one)).value for one in asked} == asked


async def test_functions_are_called_and_their_effects_seen(start_engine):
    seen = await stop_debuggee(start_engine, "expressions.c", "@here")
    before = seen.paused_thread(seen.thread).registers
    called = await seen.print('work(2, 0.5, "three", p) + 1')
    assert (called.value, called.type) == ("3", "long int")
    assert (await seen.print("counter")).value == "42"
    assert (await seen.print('(long)strlen("hallo")')).value == "5"
    assert (await seen.print("n > 100 && work(1, 1.0, word, p)")).value == "false"
    assert (await seen.print("counter")).value == "42"
    function = await seen.print("work")
    assert function.value.startswith("{long int (int, double, const char *, node_t *)} 0x")
    assert seen.paused_thread(seen.thread).registers == before


_CALLS_SAY = (
    ("work(1)", "work takes 4 arguments, not 1"),
    ("strlen(text)", "what strlen returns is not known: cast the call"),
    ("n(1)", "n is no function: it is int"),
    ("nobody(1)", "no 'nobody' in scope here"),
    ("work(1, 1.0, 5, here)", "point cannot be converted to node_t"),
    ("printf(word, 1)", "what printf returns is not known"),
)


async def test_a_call_that_does_not_fit_says_why(start_engine):
    seen = await stop_debuggee(start_engine, "expressions.c", "@here")
    for text, says in _CALLS_SAY:
        with pytest.raises(DebuggerError, match=re.escape(says)) as caught:
            await seen.print(text)
        assert caught.value.code is ErrorCode.EVALUATION_FAILED, text
        assert caught.value.hint, text


async def test_a_call_that_faults_leaves_the_thread_where_it_was(start_engine):
    seen = await stop_debuggee(start_engine, "hard.cpp", "main")
    before = seen.paused_thread(seen.thread).registers
    with pytest.raises(DebuggerError, match=r"the call of broken failed: .*where it was"):
        await seen.print("broken()")
    assert seen.paused_thread(seen.thread).registers == before
    assert (await seen.print("twice(21)")).value == "42"


_SET = (
    ("total", "n * 1000000007L", "6000000042"),
    ("n", "-1", "-1"),
    ("ratio", "1.25", "1.25"),
    ("half", "3", "3"),
    ("yes", "false", "false"),
    ("letter", "'z'", "122 'z'"),
    ("text", '"new"', '"new", then 5 more bytes'),
    ("here", "p->at", "{x:3, y:-4}"),
    ("numbers[4]", "0x10", "16"),
    ("p->low", "2", "2"),
    ("p->high", "-1", "-1"),
    ("p->next->colour", "GREEN", "GREEN"),
    ("q", "&numbers[1]", None),
    ("counter", "7", "7"),
    ("calls", "1", "1"),
    ("$rbx", "0x1234", None),
)


async def test_what_is_set_is_set(start_engine):
    seen = await stop_debuggee(start_engine, "expressions.c", "@here")
    untouched = (await seen.print("p->middle")).value
    for target, value, becomes in _SET:
        now = await seen.inspector.assign_value(target, value, await seen.frame())
        assert now.value == (becomes or (await seen.print(value)).value), target
        assert (await seen.print(target)).value == now.value, target
        assert (await seen.print("p->middle")).value == untouched, target


async def test_the_program_goes_on_with_what_was_set(start_engine):
    seen = await stop_debuggee(start_engine, "memory.c", "@ready")
    frame = await seen.frame()
    await seen.inspector.assign_value("local", "50", frame)
    await seen.inspector.assign_value("counter", "100", frame)
    await seen.inspector.assign_value("bytes[0]", "0xff", frame)
    seen.resume()
    await seen.live.until(EngineExited)
    assert seen.live.output() == "103 53 20 53 ff\n"


_SETTING_SAYS = (
    ("nope", "1", "no 'nope' in scope here"),
    ("here", "1", "point cannot be set to int"),
    ("n + 1", "1", "only a variable can be set"),
    ("text", '"a text that is far too long"', "bytes do not fit in char [16]"),
    ("word", "ratio", "cannot be set to double"),
    ("work", "1", "cannot be set"),
)


async def test_what_cannot_be_set_says_why(start_engine):
    seen = await stop_debuggee(start_engine, "expressions.c", "@here")
    for target, value, says in _SETTING_SAYS:
        with pytest.raises(DebuggerError, match=re.escape(says)) as caught:
            await seen.inspector.assign_value(target, value, await seen.frame())
        assert caught.value.code is ErrorCode.EVALUATION_FAILED, target
        assert caught.value.hint, target


async def test_a_handle_of_an_earlier_stop_is_refused(start_engine):
    seen = await stop_debuggee(start_engine, "memory.c", "@ready")
    frame = await seen.frame()
    pair = await seen.print("pair")
    await seen.break_at("@local")
    seen.resume()
    await seen.stopped()
    for stale in (seen.inspector.read_variables(pair.handle), seen.inspector.read_scopes(frame)):
        with pytest.raises(DebuggerError) as caught:
            await stale
        assert caught.value.code is ErrorCode.STALE_REF


async def test_memory_is_what_the_program_wrote_and_no_breakpoint(start_engine):
    seen = await stop_debuggee(start_engine, "memory.c", "@ready")
    memory = seen.ability(abilities.MemoryAbility)
    address = int((await seen.print("&bytes")).value, 16)
    assert await memory.read_memory(address, 8) == bytes(range(0x11, 0x99, 0x11))
    await memory.write_memory(address, b"\x01\x02")
    assert (await seen.print("bytes[1]")).value == "2 '\\x02'"
    here = seen.paused_thread(seen.thread).registers["rip"]
    link = seen.main.image.binary.read_at(here - seen.main.load_bias, 8)
    assert await memory.read_memory(here, 8) == link
    for bad in (
        memory.read_memory(16, 4),
        memory.read_memory(1 << 63, 4),
        memory.write_memory(16, b"a"),
    ):
        with pytest.raises(DebuggerError) as caught:
            await bad
        assert caught.value.code is ErrorCode.EVALUATION_FAILED


async def test_code_is_shown_as_it_was_with_functions_and_lines(start_engine):
    seen = await stop_debuggee(start_engine, "memory.c", "@ready")
    code = seen.ability(abilities.DisassemblyAbility)
    here = seen.paused_thread(seen.thread).registers["rip"]
    shown = await code.read_instructions(here, 5)
    assert [one.function for one in shown] == ["main"] * 5
    assert shown[0].line == find_marker("memory.c", "ready")
    assert shown[0].text.startswith("call 0x")
    assert bytes.fromhex(shown[0].bytes)[0] == 0xE8
    assert shown[1].address == here + 5
    with pytest.raises(DebuggerError, match="no code at 0x10"):
        await code.read_instructions(16, 2)


async def test_registers_are_those_of_the_frame(start_engine):
    seen = await stop_debuggee(start_engine, "expressions.c", "@here")
    registers = seen.ability(abilities.RegisterAbility)
    groups = await registers.read_registers(await seen.frame())
    assert [one.name for one in groups] == ["General Purpose", "Floating Point", "Vector"]
    held = {one.name: one.value for one in groups[0].registers}
    assert int(held["rip"], 16) == seen.paused_thread(seen.thread).registers["rip"]
    vectors = {one.name for one in groups[2].registers}
    assert vectors == {f"xmm{number}" for number in range(16)}
    outer = await registers.read_registers(await seen.frame(1))
    caller = {one.name: one.value for one in outer[0].registers}
    assert int(caller["rsp"], 16) > int(held["rsp"], 16)
    assert "rax" not in caller


async def test_modules_are_listed_with_the_program_first(start_engine):
    seen = await stop_debuggee(start_engine, "memory.c", "@ready")
    found = await seen.ability(abilities.ModuleAbility).list_modules()
    assert found[0].path == str(seen.live.program.path)
    assert (found[0].address, found[0].symbols) == (hex(seen.main.base), "debug information")
    assert any(one.name == "libc.so.6" for one in found)


async def test_a_thread_is_sent_to_a_line_of_its_function(start_engine):
    seen = await stop_debuggee(start_engine, "memory.c", "@ready")
    jump = seen.ability(abilities.JumpAbility)
    path = (await seen.frame()).file
    await jump.jump_to(path, find_marker("memory.c", "local"), seen.thread)
    assert (await seen.frame()).line == find_marker("memory.c", "local")
    for line, says in ((find_marker("memory.c", "twice"), "is not in main"), (1, "has no code")):
        with pytest.raises(DebuggerError, match=says):
            await jump.jump_to(path, line, seen.thread)
    seen.resume()
    await seen.live.until(EngineExited)
    assert seen.live.output().startswith("0 8 20")


async def test_what_a_function_returned_is_told_where_it_has_just_returned(start_engine):
    seen = await stop_debuggee(start_engine, "memory.c", "twice")
    await seen.inspector.read_stack(seen.thread)
    caller = await seen.frame(1)
    returns = seen.ability(abilities.ReturnValueAbility)
    step = Stopped(StopReason.STEP, "step", seen.thread)
    assert await returns.returned_value(step, await seen.frame()) is None
    address = int(str(caller.address), 16)
    assert not await seen.engine.add_breakpoints([Point(id="back", address=address)])
    seen.resume()
    await seen.stopped()
    told = await returns.returned_value(step, await seen.frame())
    assert told is not None
    assert (told.name, told.value, told.type) == ("(return)", "16", "int")


def _watch(expression: str, access: WatchAccess = WatchAccess.WRITE) -> Breakpoint:
    return Breakpoint(id=3, spec=BreakpointSpec(watch=expression, access=access))


async def test_a_watched_value_stops_where_it_changes_and_is_seen_again(start_engine):
    seen = await stop_debuggee(start_engine, "memory.c", "@ready")
    watchpoints = seen.ability(abilities.WatchpointAbility)
    bound = await watchpoints.set_watchpoint(_watch("counter"), await seen.frame())
    assert (bound.verified, bound.backend_id) == (True, -3)
    assert bound.address == (await seen.print("&counter")).value
    seen.resume()
    paused = await seen.stopped()
    assert [name for name, _, _ in paused.watches] == ["-3"]
    assert (await seen.frame()).function == "count"
    assert (await seen.print(str(bound.again))).value == "1"
    await watchpoints.remove_watchpoint(bound)
    seen.resume()
    await seen.live.until(EngineExited)


async def test_what_is_watched_in_a_frame_ends_with_the_frame(start_engine):
    seen = await stop_debuggee(start_engine, "memory.c", "twice")
    bound = await seen.ability(abilities.WatchpointAbility).set_watchpoint(
        _watch("n"), await seen.frame()
    )
    seen.resume()
    paused = await seen.stopped()
    while paused.reason == "watch":
        # Whether the epilogue writes there is the compiler's affair.
        assert await seen.inspector.pause_counts(paused)
        seen.resume()
        paused = await seen.stopped()
    assert not await seen.inspector.pause_counts(paused)
    assert [(one.bound.verified, one.bound.backend_id) for one in seen.told] == [
        (False, bound.backend_id)
    ]
    seen.resume()
    await seen.live.until(EngineExited)


async def test_a_watchpoint_with_a_condition_counts_where_it_holds(start_engine):
    seen = await stop_debuggee(start_engine, "memory.c", "@ready")
    spec = BreakpointSpec(watch="counter", condition="counter > 1", hit_count=2)
    watchpoints = seen.ability(abilities.WatchpointAbility)
    await watchpoints.set_watchpoint(Breakpoint(id=3, spec=spec), await seen.frame())
    counted = []
    for _ in range(3):
        seen.resume()
        counted.append(await seen.inspector.pause_counts(await seen.stopped()))
    assert counted == [False, False, True]
    assert (await seen.print("counter")).value == "3"
    assert (await seen.print("twice(4)")).value == "8"


async def test_what_can_be_watched_is_up_to_eight_bytes_in_memory(start_engine):
    seen = await stop_debuggee(start_engine, "memory.c", "@ready")
    watchpoints, frame = seen.ability(abilities.WatchpointAbility), await seen.frame()
    for text in ("bytes", "local"):
        assert (await watchpoints.set_watchpoint(_watch(text), frame)).verified, text
    for text, says in (
        ("local + 1", "cannot be watched: it is a value without a place"),
        ("nobody", "no 'nobody' in scope"),
    ):
        with pytest.raises(DebuggerError, match=re.escape(says)):
            await watchpoints.set_watchpoint(_watch(text), frame)


async def test_too_much_to_watch_says_what_can_be(start_engine):
    seen = await stop_debuggee(start_engine, "expressions.c", "@here")
    watchpoints = seen.ability(abilities.WatchpointAbility)
    with pytest.raises(DebuggerError, match="numbers has 20 bytes, and a watchpoint 1, 2, 4 or 8"):
        await watchpoints.set_watchpoint(_watch("numbers"), await seen.frame())


async def test_globals_are_read_and_written_while_the_program_runs(start_engine):
    seen = await stop_debuggee(start_engine, "live.c", "main", "forever")
    live = seen.ability(abilities.LiveValueAbility)
    seen.resume()
    assert not [one for one in await seen.inspector.list_threads() if not one.is_running]
    found = await live.read_live_value("bonus")
    assert (found.name, found.value, found.type) == ("bonus", "1", "int")
    with pytest.raises(DebuggerError, match="no global 'nobody'"):
        await live.read_live_value("nobody")
    before, after = await live.write_live_value("go", "0")
    assert (before.value, after.value) == ("1", "0")
    await seen.live.until(EngineExited)


async def test_an_address_is_read_and_written_as_a_type(start_engine):
    seen = await stop_debuggee(start_engine, "memory.c", "@ready")
    live = seen.ability(abilities.LiveValueAbility)
    address = (await seen.print("&bytes")).value
    assert (await live.read_live_value(address, kind="u16")).value == "8721"
    assert (await live.read_live_value("pair.second")).value == "2"
    before, after = await live.write_live_value(address, "-2", kind="i8")
    assert (before.value, after.value, after.name) == ("17", "-2", address)
    before, after = await live.write_live_value("pair.second", "41")
    assert (before.value, after.value) == ("2", "41")
    with pytest.raises(DebuggerError, match="Local variable writes require a paused breakpoint"):
        await live.write_live_value("local", "1")
    with pytest.raises(DebuggerError, match="an address is read as a type"):
        await live.read_live_value(address)
    with pytest.raises(DebuggerError, match="no type 'u128'"):
        await live.read_live_value(address, kind="u128")


async def test_a_crash_is_told_with_its_address(start_engine):
    seen = await stop_debuggee(start_engine, "crash.c", "main")
    seen.resume()
    paused = await seen.live.until(ThreadPaused)
    seen.inspector.new_stop()
    stop = Stopped(StopReason.SIGNAL, "crash", paused.thread)
    details = await seen.inspector.read_exception(stop)
    assert details is not None
    assert details.type == "SIGSEGV"
    assert details.message.startswith("Segmentation fault: address not mapped at 0x")


async def test_an_expression_may_set_where_it_is_evaluated(start_engine):
    seen = await stop_debuggee(start_engine, "expressions.c", "@here")
    frame = await seen.frame()
    assert (await seen.inspector.evaluate("n = 9", frame, EvaluationPurpose.EVALUATE)).value == "9"
    assert (
        await seen.inspector.evaluate("n == 9", frame, EvaluationPurpose.EVALUATE)
    ).value == "true"
    with pytest.raises(DebuggerError, match="would change the program"):
        await seen.inspector.evaluate("n = 9", frame, EvaluationPurpose.PRINT)


async def test_containers_of_cpp_show_what_is_in_them(start_engine):
    seen = await stop_debuggee(start_engine, "holders.cpp", "@here")
    shown = {name: one.value for name, one in (await seen.locals()).items()}
    expected = {
        "list": "size=3 {1, 2, 3}",
        "forward": "size=2 {4, 5}",
        "deque": "size=299 {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …}",
        "set": 'size=2 {"a", "b"}',
        "unordered": 'size=1 {[1]:"one"}',
        "distinct": "size=1 {7}",
        "variant": 'std::variant("text")',
        "nothing": "std::optional(empty)",
        "something": "std::optional(3)",
        "tuple": 'size=2 {1, "two"}',
        "shared": "std::shared_ptr(8)",
        "wide": "1267650600228229401496703205377",
        "precise": "1.25",
    }
    assert {name: shown[name] for name in expected} == expected
    assert shown["seaplane"].count("Named:{id:6}") == 2
    deque = (await seen.locals())["deque"]
    paged = await seen.inspector.read_variables(deque.handle, start=200, count=2)
    assert [(one.name, one.value) for one in paged] == [("[200]", "201"), ("[201]", "202")]
    assert (await seen.print("wide")).value == expected["wide"]


async def test_an_object_is_of_the_class_that_it_was_made_as(start_engine):
    seen = await stop_debuggee(start_engine, "holders.cpp", "@here")
    shown = await seen.locals()
    assert "radius:2.0" in shown["same"].value
    assert "radius:2.0" in shown["owned"].value
    inner = {
        one.name: one.value for one in await seen.inspector.read_variables(shown["shape"].handle)
    }
    assert inner["radius"] == "2.0"
    assert (await seen.print("shape->area()")).value == "12.0"
    assert (await seen.print("same.area()")).value == "12.0"


async def test_containers_of_rust_show_what_is_in_them(start_engine):
    seen = await stop_debuggee(start_engine, "holders.rs", "@here")
    shown = {name: one.value for name, one in (await seen.locals()).items()}
    expected = {
        "counted": "Rc({x:1, y:2})",
        "atomic": 'Arc("shared")',
        "map": 'size=1 {[3]:"three"}',
        "set": "size=1 {5}",
        "queue": "size=4 {2, 3, 4, 5}",
        "wide": "-1267650600228229401496703205376",
        "slice": "size=3 {1, 2, 3}",
        "nested": "Some(Ok(4))",
    }
    assert {name: shown[name] for name in expected} == expected
    assert (await seen.print("counted.y + again.x")).value == "3"
    # Its first element is not the first of its buffer.
    with pytest.raises(DebuggerError, match="has no elements"):
        await seen.print("queue[1]")


async def test_what_a_caller_has_in_a_register_is_set_where_it_was_saved(start_engine):
    seen = await stop_program(start_engine, build_program("saved.c", "-O2"), "inner")
    # Behind the prologue: the registers have been pushed.
    call = await seen.ability(abilities.DisassemblyAbility).read_instructions(
        seen.paused_thread(seen.thread).registers["rip"], 30
    )
    at = next(one.address for one in call if one.text.startswith("call"))
    assert not await seen.engine.add_breakpoints([Point(id="call", address=at)])
    seen.resume()
    await seen.stopped()
    frame = await seen.frame(1)
    assert (frame.function, (await seen.print("kept", 1)).value) == ("outer", "41")
    now = await seen.inspector.assign_value("kept", "1000", frame)
    assert now.value == "1000"
    seen.resume()
    await seen.live.until(EngineExited)
    assert seen.live.output() == "42\n1084\n0\n"


async def test_what_is_in_a_vector_register_is_set(start_engine):
    seen = await stop_program(start_engine, build_program("saved.c", "-O2"), "scaled")
    frame = await seen.frame()
    assert (await seen.print("real")).value == "0.0"
    assert (await seen.inspector.assign_value("real", "2.5", frame)).value == "2.5"
    assert (await seen.print("$xmm0")).value == "0x00000000000000004004000000000000"
    seen.resume()
    await seen.live.until(EngineExited)
    assert seen.live.output().endswith("\n7.5\n")


async def test_a_function_of_many_names_is_one_frame(start_engine):
    seen = await stop_debuggee(start_engine, "threads.c", "@all_alive")
    names = [one.function for one in (await seen.inspector.read_stack(seen.thread)).frames]
    assert names[0] == "work"
    # Assembly declares each of its names, all for the same code.
    assert sum("clone3" in one for one in names) <= 1


async def test_the_stack_of_a_thread_that_runs_is_refused(start_engine):
    seen = await stop_debuggee(start_engine, "threads.c", "@all_alive")
    running = next(one for one in await seen.inspector.list_threads() if one.is_running)
    with pytest.raises(DebuggerError, match="is running") as caught:
        await seen.inspector.read_stack(running.id)
    assert caught.value.code is ErrorCode.WRONG_STATE


@pytest.mark.parametrize("level", ["-O0", "-O2"])
async def test_what_is_set_at_the_entry_reaches_the_function_alone(start_engine, level):
    program = build_program("entries.c", level)
    name = "make" if level == "-O0" else "make.constprop.0.isra.0"
    entry = program.symbol(name)
    seen = await stop_program(start_engine, program, hex(entry))
    assert (await seen.print("n")).value == "0"
    frame = await seen.frame()
    assert (await seen.inspector.assign_value("n", "70", frame)).value == "70"
    for target, value in (("extended", "0.1"), ("wide", str((1 << 70) + 3)), ("is_on", "5")):
        await seen.inspector.assign_value(target, value, frame)
    await seen.engine.remove_breakpoints([f"{entry:#x}{entry}"])
    seen.resume()
    await seen.live.until(EngineExited)
    assert seen.live.output() == "70 73\n1 4\n2 5\n0.1 64 3 1\n"


async def test_thread_locals_and_statics_are_those_that_gdb_reads_and_left_out_ones_are_not(
    start_engine,
):
    flags = ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
    program = build_program("left_out.c", *flags, also=["left_out_part.c"])
    seen = await stop_program(start_engine, program, "part")
    names = ("own", "other", "left_out.c::state", "'left_out_part.c'::state", "count::calls")
    assert [(await seen.print(one, 1)).value for one in names] == ["6", "7", "1", "20", "11"]
    assert (await seen.inspector.assign_value("own", "50", await seen.frame(1))).value == "50"
    assert (await seen.print("own")).value == "50"
    for said in ("unused", "&unused"):
        with pytest.raises(DebuggerError, match="the linker left it out"):
            await seen.print(said)
    header = await seen.ability(abilities.MemoryAbility).read_memory(seen.main.load_bias, 4)
    with pytest.raises(DebuggerError, match="the linker left it out"):
        await seen.inspector.assign_value("unused", "9", await seen.frame())
    assert await seen.ability(abilities.MemoryAbility).read_memory(seen.main.load_bias, 4) == header
