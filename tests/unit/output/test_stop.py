"""A stop reads word for word as the interface promises, and is cut from the least important."""

from __future__ import annotations

from msgspec.structs import replace

from debugger.cli.answer_text import format_answer
from debugger.model.answers import (
    BreakpointView,
    ChangedValue,
    ExceptionView,
    FrameView,
    OutputLine,
    SourceLine,
    Stop,
    VariableView,
)
from debugger.output import OutputStyle
from fakes.sample_answers import SOURCE, STOP, SUM_TO, breakpoint_at

ENDED = Stop(session="main", state="terminated", reason="exit", exit_code=3)


def stop_lines(stop: Stop, budget: int = 1000) -> str:
    return format_answer(stop, budget=budget, style=OutputStyle.PLAIN, width=80)


def head(stop: Stop) -> str:
    return stop_lines(stop).splitlines()[0]


def printed(*lines: str) -> tuple[OutputLine, ...]:
    return tuple(OutputLine("stdout", line, seq) for seq, line in enumerate(lines, 1))


def test_the_first_stop_in_a_frame_shows_everything():
    assert stop_lines(STOP) == (
        "stopped: breakpoint 1, sum_to at main.c:42 (thread 1)\n"
        "   40  int sum = 0;\n"
        "   41  for (int i = 0; i < n; i++) {\n"
        "-> 42    sum += calculate(i);\n"
        "   43  }\n"
        "locals: n=100 sum=4950 i=49\n"
        "stack: #0 sum_to main.c:42 · #1 main main.c:60\n"
        "output: +2 lines\n"
        "  step 48\n"
        "  step 49"
    )


def test_the_next_stop_in_the_frame_shows_what_changed():
    repeat = replace(
        STOP,
        is_repeat=True,
        changed=(ChangedValue("i", "49", "50", "int"), ChangedValue("square", None, "2500", "int")),
        output=(),
        output_total=0,
    )
    assert stop_lines(repeat) == (
        "stopped: breakpoint 1, sum_to at main.c:42 (thread 1)\n"
        "-> 42    sum += calculate(i);\n"
        "changed: i=49→50 square=2500"
    )


def test_a_change_of_an_element_is_not_shown_again_with_its_list():
    item = ChangedValue("item", "Item(n=2)", "Item(n=3)")
    items = ChangedValue("items", "[Item(n=1), Item(n=2)]", "[Item(n=1), Item(n=3)]")
    other = ChangedValue("other", "[Item(n=2), Item(n=4)]", "[Item(n=3), Item(n=5)]")
    counts = (ChangedValue("i", "2", "3"), ChangedValue("row", "[2]", "[3]"))
    repeat = replace(
        STOP, is_repeat=True, changed=(items, item, other, *counts), output=(), output_total=0
    )
    assert " ".join(stop_lines(repeat).split()).endswith(
        "changed: items: that of item item=Item(n=2)→Item(n=3) "
        "other=[Item(n=2), Item(n=4)]→[Item(n=3), Item(n=5)] i=2→3 row=[2]→[3]"
    )


def test_a_stop_where_nothing_is_known_is_one_line():
    assert stop_lines(Stop(session="s", state="stopped")) == "stopped: unknown reason"


def test_each_reason_has_its_words():
    bare = Stop(session="s", state="stopped", frame=SUM_TO, thread=1)
    at = ", sum_to at main.c:42 (thread 1)"
    assert head(replace(bare, reason="step")) == f"stopped: step{at}"
    assert head(replace(bare, reason="step", hit_breakpoints=(2, 3))) == (
        f"stopped: step to breakpoint 2, 3{at}"
    )
    watched = replace(bare, reason="watchpoint", hit_breakpoints=(4,), description="sum: 1 → 2")
    assert head(watched) == f"stopped: watchpoint 4: sum: 1 → 2{at}"
    killed = replace(bare, reason="signal", signal="SIGSEGV", description="SIGSEGV: bad address")
    assert head(killed) == f"stopped: signal SIGSEGV: bad address{at}"
    assert head(replace(bare, raw_reason="instruction step")) == f"stopped: instruction step{at}"


def test_a_frame_without_source_is_named_by_its_module_or_its_address():
    library = FrameView(0, "memcpy", module="/lib/libc.so.6", address="0x7f00")
    assert head(replace(STOP, frame=library)).endswith("memcpy in libc.so.6 (thread 1)")
    nameless = FrameView(0, "", address="0x7f00")
    assert head(replace(STOP, frame=nameless)) == "stopped: breakpoint 1, 0x7f00 (thread 1)"


def test_a_stop_shown_in_an_outer_frame_says_where_the_program_really_is():
    abort = FrameView(0, "abort", module="libc.so.6")
    outer = replace(STOP, frame=replace(SUM_TO, index=2), stack=(abort, SUM_TO))
    assert head(outer).endswith("sum_to at main.c:42 (thread 1, frame #2; #0 is abort)")


def test_an_exception_gives_its_type_its_message_and_its_causes():
    raised = replace(
        STOP,
        reason="exception",
        exception=ExceptionView("ValueError", "no\nnumber", ("KeyError: 'x'", "OSError: gone")),
    )
    lines = stop_lines(raised).splitlines()
    assert lines[0] == (
        "stopped: exception ValueError: no\\nnumber, sum_to at main.c:42 (thread 1)"
    )
    assert lines[1:3] == ["cause: KeyError: 'x'", "cause: OSError: gone"]


def test_a_finished_function_shows_what_it_returned():
    finished = replace(STOP, reason="step", returned=VariableView("sum_to", "4950", "int"))
    assert "\nreturned: 4950\n" in stop_lines(finished)


def test_frames_of_the_runtime_are_only_counted():
    start = FrameView(1, "__libc_start_main", module="libc.so.6")
    shown = stop_lines(replace(STOP, stack=(SUM_TO, start, start), stack_own=1, stack_total=3))
    assert "stack: #0 sum_to main.c:42 · 2 without source\n" in shown


def test_a_deep_stack_shows_eight_frames_and_says_how_to_see_the_others():
    deep = tuple(FrameView(n, "f", "/a.c", n + 1) for n in range(20))
    line = next(
        line
        for line in stop_lines(replace(STOP, stack=deep, stack_total=1000)).splitlines()
        if line.startswith("stack:")
    )
    assert line.count(" · ") == 8
    assert line.endswith("· #7 f a.c:8 · … 992 more frames: debugger backtrace")


def test_much_output_keeps_its_first_and_last_lines():
    shown = stop_lines(replace(STOP, output=printed(*map(str, range(50))), output_total=500))
    at = shown.index("output:")
    assert shown[at:].splitlines() == [
        "output: +500 lines",
        *(f"  {n}" for n in range(3)),
        "  … 487 more lines: debugger output --all",
        *(f"  {n}" for n in range(40, 50)),
    ]


def test_errors_are_told_from_output_and_lost_lines_counted():
    mixed = (OutputLine("stderr", "bad", 1), OutputLine("console", "loaded", 2))
    shown = stop_lines(replace(ENDED, output=mixed, output_total=2, output_dropped=7))
    assert shown == ("exited: status 3\noutput: +2 lines, 7 lost\n  err| bad\n  dbg| loaded")


def test_the_end_tells_the_status_the_output_and_the_breakpoints_that_missed():
    unbound = breakpoint_at(id=2, verified=False, line=None, why_unbound="no code at the line")
    unbound = replace(unbound, nearest_lines=(40, 44), near_names=())
    misnamed = replace(
        breakpoint_at(id=3, kind="function", function="smu", verified=False),
        near_names=("sum", "main"),
    )
    ended = replace(
        ENDED,
        output=printed("bye"),
        output_total=1,
        unbound=(unbound, misnamed),
        never_hit=(breakpoint_at(id=4),),
        notes=("the adapter was slow",),
    )
    assert stop_lines(ended) == (
        "exited: status 3\n"
        "output: +1 line\n"
        "  bye\n"
        "breakpoint 2 was never bound: no code at the line; nearest lines: 40, 44\n"
        "breakpoint 3 was never bound: near names: sum, main\n"
        "breakpoint 4 was never hit: main.c:42\n"
        "note: the adapter was slow"
    )


def test_an_end_by_a_signal_or_without_a_status_says_so():
    assert stop_lines(replace(ENDED, exit_code=None, signal="SIGKILL")) == "exited: signal SIGKILL"
    assert stop_lines(replace(ENDED, exit_code=None)) == "exited"
    assert stop_lines(replace(ENDED, exit_code=0)) == "exited: status 0"


def test_what_runs_on_after_the_end_can_be_waited_for():
    seven = tuple(f"shop.{number}" for number in range(1, 8))
    assert stop_lines(replace(ENDED, exit_code=0, left_running=seven)) == (
        "exited: status 0\n"
        "note: still running: shop.1, shop.2, shop.3, shop.4, shop.5 and 2 more: "
        "debugger await waits for it, debugger stop ends it"
    )


def test_a_program_that_runs_on_says_what_to_do_next():
    running = Stop(session="s", state="running", timed_out=True, waited_s=2.5)
    assert stop_lines(running) == (
        "running: no stop within 2.5 s\ndebugger await waits on; debugger pause stops it"
    )
    assert stop_lines(Stop(session="s", state="running")) == "running"


def test_values_are_shortened_and_name_the_command_that_shows_them():
    many = VariableView("items", "[" + ", ".join(map(str, range(1000))) + "]", ref="v3")
    long = VariableView("text", "x" * 500)
    shown = stop_lines(replace(STOP, locals=(many, long), locals_total=2))
    assert "debugger vars v3)" in shown
    assert "(500 chars; debugger print text)" in shown
    assert max(map(len, shown.splitlines())) <= 120


def test_the_source_around_the_current_line_outlives_the_rest_of_it():
    lines = tuple(SourceLine(n, f"line {n}", current=n == 50) for n in range(1, 101))
    shown = stop_lines(replace(STOP, source=lines, output=(), output_total=0), budget=60)
    assert "-> " in shown
    assert "50  line 50" in shown
    assert "more lines: debugger context" in shown
    assert "line 1\n" not in shown


def test_output_goes_before_the_stack_the_locals_the_source_and_the_head():
    marks = ["  a line of", "#0 sum_to", "name0=", "-> 42", "stopped: breakpoint 1"]
    full = replace(
        STOP,
        output=printed(*(f"a line of output, number {n}" for n in range(40))),
        output_total=40,
        locals=tuple(VariableView(f"name{n}", "value" * 10) for n in range(12)),
        locals_total=12,
    )
    shown = [[mark in stop_lines(full, budget) for mark in marks] for budget in range(14, 400)]
    firsts = [next(at for at, row in enumerate(shown) if row[n]) for n in range(len(marks))]
    assert firsts == sorted(firsts, reverse=True)
    assert firsts[-1] == 0
    assert all(shown[-1])


def test_notes_are_said_even_when_the_budget_is_small():
    shown = stop_lines(replace(STOP, notes=("the program was built without -g",)), budget=25)
    assert shown.splitlines()[0] == "stopped: breakpoint 1, sum_to at main.c:42 (thread 1)"
    assert "note: the program was built without -g" in shown


def test_a_terminal_gets_a_table_and_colour():
    shown = format_answer(STOP, budget=1000, style=OutputStyle.TERMINAL, width=80)
    assert shown.startswith("\x1b[1;33mstopped:\x1b[0m breakpoint 1")
    assert "│ sum  │ int  │ 4950  │" in shown
    assert "\x1b[1m-> 42    sum += calculate(i);\x1b[0m" in shown


def test_the_source_of_a_repeated_stop_is_its_current_line():
    assert sum(line.current for line in SOURCE) == 1
    shown = stop_lines(replace(STOP, is_repeat=True, output=(), output_total=0))
    assert shown.splitlines()[1:] == ["-> 42    sum += calculate(i);"]


def test_an_unverified_breakpoint_without_a_reason_is_named_by_its_place():
    unbound: BreakpointView = breakpoint_at(verified=False)
    assert stop_lines(replace(ENDED, unbound=(unbound,))).endswith(
        "breakpoint 1 was never bound: main.c:42"
    )


def test_a_pointer_that_changed_is_shown_with_its_new_target_only():
    moved = ChangedValue("one", "0x1000 {id:1}", "0x2000 {id:2}", "item *")
    written = ChangedValue("two", "0x1000 {id:1}", "0x1000 {id:2}", "item *")
    stop = replace(STOP, is_repeat=True, changed=(moved, written))
    text = stop_lines(stop)
    assert "one=0x1000→0x2000 {id:2}" in text
    assert "two=0x1000 {id:1}→0x1000 {id:2}" in text
