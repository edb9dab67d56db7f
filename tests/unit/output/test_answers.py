"""Every kind of answer has a text and an object, and says what was omitted."""

from __future__ import annotations

import json
import re

import pytest
from msgspec.structs import replace

from debugger.cli.answer_text import FORMATTERS, format_answer
from debugger.model import answers as a
from debugger.output import OutputStyle, to_data, to_json
from debugger.output.list_text import indent_tree
from debugger.questions.calls.answer import Calls
from debugger.questions.diff.answer import Diff, DiffOfProbes
from debugger.questions.hang.answer import Hang
from debugger.questions.path.answer import PathAnswer
from debugger.questions.probe.answer import Probe
from debugger.questions.recordings.answer import SavedRuns
from debugger.questions.runner.answer import (
    Crash,
    EvidenceDrawing,
    EvidenceList,
    EvidenceReport,
    EvidenceShown,
)
from debugger.questions.test.answer import SuiteAnswer
from debugger.questions.try_change.answer import Tried
from debugger.questions.who_wrote.answer import WhoWrote
from fakes.sample_answers import BACKTRACE, EXAMPLES, LOCALS, STATUS, STOP, SUM_TO, breakpoint_at

SGR = re.compile(r"\x1b\[[0-9;]*m")
BY_KIND = {type(one): one for one in EXAMPLES}


def test_a_small_budget_leaves_the_cause_of_a_crash_whole() -> None:
    answer = replace(BY_KIND[Crash], cause="division by zero: rate is 0 (ZeroDivisionError)")
    for budget in (300, 200):
        data = to_data(answer, budget=budget)
        assert data["cause"] == "division by zero: rate is 0 (ZeroDivisionError)"
        assert len(json.dumps(data, separators=(",", ":"))) <= 4 * budget


def answer_lines(
    answer: a.Answer, budget: int = 1000, style: OutputStyle = OutputStyle.PLAIN, width: int = 80
) -> str:
    return format_answer(answer, budget=budget, style=style, width=width)


TEXTS = {
    a.Value: "sum = 4950",
    a.Assignment: "sum = 7 (was 4950)",
    a.Variables: "n = 100\nsum = 4950\ni = 49",
    a.Children: "v1[2..3 of 10]:\n  [2] = 20\n  [3] = {…} (v2)\nnext: debugger vars v1 --from 4",
    a.Backtrace: "* #0 sum_to main.c:42\n  #1 main main.c:60",
    a.Backtraces: "threads 1, 2 (2 threads):\n* #0 sum_to main.c:42\n  #1 main main.c:60",
    a.Threads: "* 2 main: stopped, sum_to main.c:42\n  1 worker: running",
    a.BreakpointView: "breakpoint 1: main.c:42",
    a.BreakpointList: "breakpoint 1: main.c:42, 2 hits\nbreakpoint 2: main.c:99, pending",
    a.Removed: "removed: breakpoints 1, 2",
    a.Status: (
        "main: stopped, pid 42\nlast stop: breakpoint\nprogram: /src/app -n '5 6'\ncwd: /src\n"
        "adapter: lldb-dap (dap)\nbreakpoints: 2, unread output: 3 lines"
    ),
    a.Sessions: "* main: stopped, pid 42, app",
    a.Output: "a\nerr| b",
    a.Events: ("7 +0.000s stop here (sum_to main.c:42, thread 1)\n8 +0.500s output step"),
    a.Ended: "ended: main",
    a.Raw: "Line 42\nof main.c",
    a.MemoryView: '0x10  "hi"\nonly 2 bytes of 4 are mapped',
    a.MemoryWritten: "0x10: 2a (was 00)",
    a.RegistersView: "General:\n  rax=0x1\nothers: Float: debugger registers all",
    a.Disassembled: "work:\n   main.c:7  x++;\n-> 0x10  90  nop\n   0x11  c3  ret",
    a.ModulesView: "0x400000  /src/app",
    a.ExceptionInfo: (
        "ValueError: no\nin sum_to at main.c:42\ncause: KeyError: 3\nTraceback…\nValueError: no"
    ),
    a.Doctor: (
        "ok       gdb 14.1 /usr/bin/gdb\nerror    lldb: not found · fix: debugger setup lldb"
    ),
    a.Settings: 'config: /c.toml\ndefaults.adapter = "gdb" (file)',
    a.HostReplies: "h2: error: h2: no such host\n  hint: x\nh1:\n  two\n  lines",
    a.DaemonStatus: "daemon: running, pid 7, version 1.0, up 61 s\nsessions: x\nsocket: /s",
    a.Text: "done",
    a.AdapterList: (
        "installed  gdb 16.3 · c, c++ · /usr/bin/gdb\n"
        "missing    delve · go · install: debugger setup delve --yes"
    ),
    a.Installation: (
        "delve is not ready; it would be installed so:\n  go install dlv\n"
        "it would not work: no go here"
    ),
    a.Traces: (
        "trace 1: audio::*, 3 functions (audio::mix, audio::fade, … 1 more), "
        "2 left out (--limit 5 takes them), "
        "not recorded, for they were too many a second: 90,000 of audio::mix\n"
        "not traced: wrok, no function is called so, near names: work\n"
        "trace 3: work, 1 function"
    ),
    a.LiveReadings: "counter = 3\npair = {…}\n  x = 1\nnosuch: no such name",
    Probe: (
        "probe: 1,800 hits; stopped by SIGUSR1; exited with status 3 "
        "(logpoints of lldb-dap, 1.50 s)\n"
        "A main.c:42 in sum_to: 1,800 hits, values of 900\n"
        "  sum: -7 (hit 900) to 898 (hit 899), 900 distinct; turns at hit 900: 898→-7; "
        "stands out: -7 at hit 900\n"
        "  zz: never a value: no zz\n"
        "  in scope there: sum i (did you mean sum?)\n"
        "B other.c:9, x > 3: never hit\n"
        "  no code at other.c:9; nearest: 7, 11\n"
        "A1 sum=0\nA900 thread 2 sum=-7\n… 898 rows left out: --rows N, --csv, --from, --to\n"
        "output: 4 lines\n  same\n  … 3 more lines\n"
        "note: hits of 2 processes\nevidence: e2"
    ),
    Crash: (
        "crash: null pointer: node->next, node=0x0, in pop main.c:42\n"
        "SIGSEGV at 0x8 (near null: 8 bytes from a null pointer)\n/src/main.c:42\n"
        "   40  int sum = 0;\n   41  for (int i = 0; i < n; i++) {\n"
        "-> 42    sum += calculate(i);\n"
        "called by main main.c:60: pop(list);  [list=0x5 {head: 0x0}]\n"
        "before it: index out of bounds (UBSan)\nother threads: 3 in main main.c:60\n"
        "output: 5 lines, 3 of the report left out, the last:\n  same (2 times)\n"
        "note: freed in drop main.c:9\nevidence: e1"
    ),
    Hang: (
        "deadlock of 2 threads: one waits for a, held by two, in pop main.c:42\n"
        "processor 2% over 0.5 s · 2 samples by lldb-dap\n/src/main.c:42\n"
        "   40  int sum = 0;\n   41  for (int i = 0; i < n; i++) {\n"
        "-> 42    sum += calculate(i);\n"
        "loop: seen at lines 41 to 42\n  changes: i 1 → 9\n  the same: n=10\n"
        "one: at sum_to main.c:42 < main :60\n"
        "5 threads (x, y, z, …) (processor 50%): runs\noutput: 9 lines, the last:\n  begun\n"
        "note: it runs on, without the debugger\nevidence: e3"
    ),
    WhoWrote: (
        "order->total=5 at check was last written: 4 → 5, in pop main.c:42\n/src/main.c:42\n"
        "4 writes before check:\n"
        "-> #1 to #4 sum_to main.c:42: 4 times, 1 → 2 … 4 → 5 < main :60 "
        "(and from 1 other line)\n"
        "1 write after it:\n   #5 main main.c:60: nothing → 7\n"
        "seen by a hardware watchpoint, in two runs\nnote: once more\nevidence: e4"
    ),
    Tried: (
        "try: order->total == 100 holds (order->total=100)\nwith count=1→8 in sum_to at main.c:42\n"
        "then: stopped in main at main.c:60\n-> 42    sum += calculate(i);\n"
        "locals: i=3\noutput: +1 line\n  round 1\n"
        "tried in a second run; the session is where it was\n"
        "note: before the change the second run had other values: noise=2 (here 1), 2 more values\n"
        "note: once more\nevidence: e5"
    ),
    SuiteAnswer: (
        "failed: assertion failed: assert 3 == 4 with sum=3, in test_sum main.c:42\n"
        "test: test_sum.py::test_sum · pytest: 3 failed, recorded inside Python, 1.5 s\n"
        "E: x\n  +  where\ncaused by: KeyError: x\ninside: main at main.c:60\n/src/main.c:42\n"
        "   40  int sum = 0;\n   41  for (int i = 0; i < n; i++) {\n"
        "-> 42    sum += calculate(i);\n"
        "a promise that nobody awaited: save(); at main.c:42 in sum_to, 2 times, made in main at "
        "main.c:60, rejected [rerun]\n"
        "the fewest of 2 passing tests beside it ran (0.5 s):\n"
        "  main.c:42-43 in sum_to, as `n > 0` was true :42  sum = 3 (1 of 2 passing ran it)\n"
        "  … 3 more lines that as few ran\n"
        "only the failing test did not run:\n"
        "  main.c:42 in sum_to, as `n > 0` was true :42  sum = 4 (2 passing)\n"
        "its values come from:\n    main.c:60 return 3  [main() → 3]\n"
        "  main.c:42 sum = main()  [sum=3]\nlocals: i=49 … 1 more\n"
        "called by main main.c:60: sum_to(5)  [x=5]\n"
        "2 other tests failed:\n  test_b (main.c:60): no\n  … 1 more: --json\n"
        "output: 4 lines, the last:\n  err| said\nnote: once\nevidence: e5"
    ),
    EvidenceList: (
        "e1 (stale) 03:04:05 debugger crash -- ./a: null pointer: x\n2 older ones are not kept"
    ),
    EvidenceShown: (
        "e1 of 2026-01-02T03:04:05+00:00 in /src\n$ debugger crash -- ./a\n"
        "stale: changed since: /src/a.c; run it again\ncrash: x\nmore"
    ),
    EvidenceDrawing: "./shop 3: exited with status 1\n  main()  12 ms\n    pop(n=1)",
    SavedRuns: (
        "run:before 2026-01-02T03:04:05+00:00 path: ./shop 3: status 0\n"
        "run:after 2026-01-02T03:04:06+00:00 diff --function main: ./shop: SIGSEGV; "
        "changed since: shop.py"
    ),
    PathAnswer: (
        "path: exited with status 1 after 0.2 s: 4 calls of 2 functions in 1 file\n"
        "main main.c:60 12 ms caught KeyError\n"
        "  pop(n=1..3) :42 x3 → 0 4.0 ms 1 raised KeyError: 3\nevidence: e2"
    ),
    Calls: (
        "calls: pop was called 3 times, 1 shown line by line; exited with status 1 after 0.2 s\n"
        "#1 pop(n=1) → 2 main.c:42, 1.5 ms, 5 lines passed\n"
        "  43  n += 1    n=1 → 2\n"
        "  loop at 44: 3 rounds; i=0..2\n    44  for i in n:\n"
        "  branch 45 if n: → 46 x1, never past it\n"
        "other calls:\n  #2 pop(n=9) raised KeyError: 9"
    ),
    Diff: (
        "diff: the runs of pop part after 5 steps, at main.c:42 in pop\n"
        "A: ./a b: exited with status 1\nB: ./a b: exited with status 1\n"
        "values that differ before that, the first first:\n"
        "  returned: 1 / 2  (from top main.c:9)\n"
        "both:\n  main.c:42  call of pop(n=1)\nthen A:\n  main.c:43  n += 1\n"
        "then B: nothing more\nnote: only the first thread is compared"
    ),
    DiffOfProbes: (
        "diff: the runs differ first at hit 5 of main.c:42: sum 10 | 11\n"
        "A: ./a b: exited with status 1\nB: ./a b: exited with status 1\n"
        "main.c:42 (in B 44) in sum_to, i > 1: 6 hits | 5 hits\n"
        "  sum: differs at 1 of 5 hits, first at hit 5: 10 | 11\n"
        "  node: the same but for addresses\n"
        "  zz: never a value: no zz\n"
        "  in scope there: sum i (did you mean sum?)\n"
        "other.c:9: never hit | 1 hit\n"
        "  A: it was never entered\n"
        "   hit 4 of main.c:42  sum=6  node=0x5000010\n"
        "-> hit 5 of main.c:42  sum=10 | 11  node=0x5000010\n"
        "   only A: hit 6 of main.c:42  sum=15  node=0x5000010\n"
        "   only B: hit 1 of other.c:9\n"
        "4 hits the same, 1 differ, 1 only A's, 1 only B's\n"
        "note: A: hits of 2 processes\nevidence: e3"
    ),
    EvidenceReport: "wrote 2 answers (1 of them stale) to /tmp/report.md",
}


def test_there_is_an_example_of_every_kind_of_answer():
    assert set(BY_KIND) == set(FORMATTERS)


@pytest.mark.parametrize("kind", TEXTS, ids=lambda kind: kind.__name__)
def test_each_kind_of_answer_is_told_in_these_words(kind):
    assert answer_lines(BY_KIND[kind]) == TEXTS[kind]


def test_each_configuration_is_named_with_its_command_or_why_not():
    assert answer_lines(BY_KIND[a.LaunchConfigurations]) == (
        "/w/.vscode/launch.json: 3 configurations\n"
        '"App" → start app.py\n"Web" (not by its name): is not read\n'
        '"All" → start --config "All" (one group: App, Web)\n'
        "note: not read: /w/.zed/debug.json"
    )


def test_the_source_is_told_with_and_without_its_frame():
    lines = (
        "   40  int sum = 0;\n   41  for (int i = 0; i < n; i++) {\n"
        "-> 42    sum += calculate(i);\n   43  }"
    )
    assert answer_lines(BY_KIND[a.Source]) == f"/src/main.c:40..43 of 60, sum_to\n{lines}"
    assert answer_lines(BY_KIND[a.CurrentFrame]) == (
        f"frame #1: main at main.c:60 (thread 1)\n{lines}\nlocals: n=100 sum=4950 i=49"
    )


@pytest.mark.parametrize("answer", EXAMPLES, ids=lambda one: type(one).__name__)
def test_a_terminal_is_told_the_same_facts(answer):
    shown = SGR.sub("", answer_lines(answer, style=OutputStyle.TERMINAL))
    assert "\x1b" not in shown
    facts = set(re.findall(r"\w+", answer_lines(answer)))
    # What a table's heading says, the rows need not.
    facts -= {"breakpoint", "hits", "pid", "fix"}
    assert facts <= set(re.findall(r"\w+", shown))


@pytest.mark.parametrize("answer", EXAMPLES, ids=lambda one: type(one).__name__)
def test_every_kind_of_answer_is_one_line_of_json(answer):
    line = to_json(answer, budget=None)
    assert "\n" not in line
    assert json.loads(line) == to_data(answer, budget=None) == to_data(answer, budget=10_000)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (a.Variables((), 0, SUM_TO), "no variables in sum_to"),
        (a.Children("v1", 3, 9, ()), "v1[9.. of 3]: nothing there"),
        (a.Source("/a.c", (), 5), "/a.c: no lines there (it has 5)"),
        (a.Backtrace(3, (), 0), "thread 3: no frames"),
        (
            a.Backtrace(3, (a.FrameView(0, "f"),), 1, note="it ends early"),
            "* #0 f\nnote: it ends early",
        ),
        (a.Backtraces((), 0), "no threads"),
        (a.Threads((), 0), "no threads"),
        (a.BreakpointList(()), "no breakpoints"),
        (a.Removed(()), "no breakpoints to remove"),
        (a.Removed((), noun="trace"), "no traces to remove"),
        (a.Removed((3,), noun="trace"), "removed: trace 3"),
        (a.Traces((), 0), "nothing is traced"),
        (
            a.Backtraces((a.Backtrace(7, (), None, state="running"),), 1),
            "thread 7:\n  running",
        ),
        (a.Sessions((), None), "no sessions"),
        (a.Output((), 0), "no new output"),
        (a.Output((), 4), "(4 lines lost: over the limits)\nno new output"),
        (a.Output((), 0, cleared=True), "output cleared"),
        (a.Events((), 0, 0, 0), "no events"),
        (a.Output((), 0, total=3), ""),  # after --follow, which has shown them
        (a.Events((), 0, 0, 3), ""),
        (a.Ended(("job", *(f"job.{n}" for n in range(1, 1000)))), "ended: job, job.1-999"),
        (a.Ended(()), "no sessions to end"),
        (a.Raw("x", "\n"), "no output"),
        (a.Raw("x", "\x1b[31m\x1b[0m\n"), "no output"),
        (a.Doctor(()), "nothing was checked"),
        (a.DaemonStatus(running=False), "daemon: not running"),
        (a.Text(""), "done"),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, str) else "",
)
@pytest.mark.parametrize("style", OutputStyle)
def test_nothing_is_said_in_words(answer, words, style):
    assert SGR.sub("", answer_lines(answer, style=style)) == words


# What was cut is counted, and the command that shows it is named


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            a.Variables(tuple(a.VariableView(f"v{n}", "1") for n in range(100)), 100),
            r"… \d+ more variables: --budget 1000$",
        ),
        (
            a.Children("r", 100, 0, tuple(a.VariableView(f"[{n}]", "1") for n in range(100))),
            r"next: debugger vars r --from (\d+)$",
        ),
        (a.Source("/a.c", tuple(a.SourceLine(n, "x") for n in range(1, 99)), 99), r"… \d+ more l"),
        (
            a.Backtrace(1, tuple(a.FrameView(n, f"f{n}") for n in range(99)), 99),
            r"… \d+ more lines: debugger backtrace --budget 1000$",
        ),
        (
            a.Threads(tuple(a.ThreadView(n, "t", "running") for n in range(99)), 99),
            r"… \d+ more threads: debugger threads --budget",
        ),
        (
            a.BreakpointList(tuple(breakpoint_at(id=n) for n in range(99))),
            r"… \d+ more breakpoints: debugger breakpoint list --budget 1000$",
        ),
        (a.Removed(tuple(range(999))), r"… \d+ more$"),
        (
            a.Sessions(tuple(replace(STATUS, session=f"s{n}") for n in range(99)), "s0"),
            r"… \d+ more sessions: debugger sessions --budget",
        ),
        (
            a.Output(tuple(a.OutputLine("stdout", f"{n}", n) for n in range(999)), 0, 999),
            r"^… \d+ earlier lines: debugger output --all --budget 1000\n(.*\n)*998$",
        ),
        (
            a.Events(
                tuple(a.EventView(n, n, "stop", "s", 1, "", {}) for n in range(1, 99)), 98, 0, 98
            ),
            r"… \d+ more events: debugger events --since \d+$",
        ),
        (a.Raw("x", "y\n" * 999), r"… \d+ more lines: --budget 1000$"),
        (a.Value("big", "x" * 5000, "str"), r"\(5,000 chars; --budget 2000\)$"),
        (a.Value("big", "x" * 5000, "str", ref="v9"), r"\(5,000 chars; debugger vars v9\)$"),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, str) else "",
)
def test_what_was_cut_is_counted_and_found_again(answer, said):
    shown = answer_lines(answer, budget=60)
    assert len(shown) <= 240
    assert re.search(said, shown)
    assert not re.search(said, answer_lines(answer, budget=100_000))


@pytest.mark.parametrize("value", ["1", "x" * 30])
def test_pages_of_children_join_without_a_gap(value):
    views = tuple(a.VariableView(f"[{n}]", value) for n in range(100))
    seen, start = [], 0
    for _ in range(100):
        shown = answer_lines(a.Children("r", 100, start, views[start:]), budget=40)
        for begin, end in re.findall(r"^  \[(\d+)(?:\.\.(\d+))?\] =", shown, re.MULTILINE):
            seen += range(int(begin), int(end or begin) + 1)
        if not (more := re.search(r"--from (\d+)$", shown)):
            break
        start = int(more[1])
    assert seen == list(range(100))


def test_the_cursor_of_cut_events_is_the_last_that_was_shown():
    events = tuple(a.EventView(n, 0, "stop", "s", None, "", {}) for n in range(1, 99))
    shown = answer_lines(a.Events(events, 98, 0, 98), budget=60).splitlines()
    last = shown[-2].split()[0]
    assert shown[-1] == f"… {98 - int(last)} more events: debugger events --since {last}"


def test_a_recursion_is_folded_but_not_the_chosen_frame():
    frames = tuple(a.FrameView(n, "fact", "/a.py", 3) for n in range(100))
    shown = answer_lines(
        a.Backtrace(1, (*frames, a.FrameView(100, "main", "/a.py", 9)), 101, current=5)
    )
    assert shown.splitlines() == [
        "  #0 … #4: fact a.py:3 (5 frames)",
        "* #5 fact a.py:3",
        "  #6 … #99: fact a.py:3 (94 frames)",
        "  #100 main a.py:9",
    ]


def test_frames_that_were_not_fetched_are_counted_with_the_limit_that_fetches_them():
    shown = answer_lines(replace(BACKTRACE, total=500))
    assert shown.splitlines()[-1] == "… 498 more frames: debugger backtrace --limit 500"


def test_a_backtrace_shows_the_locals_it_was_given():
    with_locals = replace(BACKTRACE, frames=(replace(SUM_TO, locals=LOCALS),))
    assert answer_lines(with_locals).splitlines()[1].strip() == "n=100 sum=4950 i=49"


def test_a_breakpoint_tells_its_options_and_why_it_is_pending():
    view = breakpoint_at(
        line=44, condition="n > 3", hit_count=2, log="x={x}", thread=7, temporary=True, hits=1
    )
    assert answer_lines(view) == (
        "breakpoint 1: main.c:42 → 44 (condition n > 3) (hit count 2)"
        ' log "x={x}" (thread 7) (temporary), 1 hit'
    )
    pending = breakpoint_at(verified=False, why_unbound="no such file in the program")
    assert answer_lines(pending).endswith(", pending: no such file in the program")
    assert answer_lines(replace(pending, enabled=False)) == "breakpoint 1: main.c:42 (disabled)"
    assert (
        answer_lines(breakpoint_at(kind="watchpoint", file=None, function="sum"))
        == "watchpoint 1: sum"
    )


def test_a_breakpoint_with_a_hit_count_that_has_not_stopped_says_what_is_known_of_its_hits():
    view = breakpoint_at(hit_count=3, hits_below=3)
    assert (
        answer_lines(a.BreakpointList((view,)))
        .rstrip()
        .endswith("(hit count 3), fewer than 3 hits")
    )


def test_child_sessions_stand_below_their_parents_and_a_circle_loses_none():
    named = {
        name: replace(STATUS, session=name, parent=parent, program=None, pid=None)
        for name, parent in (("kid", "top"), ("top", "gone"), ("x", "y"), ("y", "x"))
    }
    shown = answer_lines(a.Sessions(tuple(named.values()), "kid")).splitlines()
    assert shown[:2] == ["  top: stopped", "*   kid: stopped"]
    assert sorted(line.strip() for line in shown[2:]) == ["x: stopped", "y: stopped"]


def test_colour_of_the_program_reaches_a_terminal_and_nothing_else_does():
    line = a.OutputLine("stdout", "\x1b[31mred\x1b[0m\x1b[2J\x1b]0;title\x07", 1)
    answer = a.Output((line,), 0, 1)
    assert answer_lines(answer) == "red\\x1b[2J\\x1b]0;title\\x07"
    assert answer_lines(answer, style=OutputStyle.TERMINAL) == (
        "\x1b[31mred\x1b[0m\\x1b[2J\\x1b]0;title\\x07"
    )


def test_a_programs_line_with_a_colon_is_not_painted_as_a_word_of_ours():
    crash = Crash("exited", output=(a.OutputLine("stdout", "quiet: 4", 1),), output_total=1)
    shown = answer_lines(crash, style=OutputStyle.TERMINAL)
    assert "\x1b[1moutput:\x1b[0m quiet: 4" in shown
    shown = answer_lines(replace(crash, output_total=2), style=OutputStyle.TERMINAL)
    assert "\x1b[1moutput:\x1b[0m" in shown
    assert "  quiet: 4" in shown


def test_a_table_stays_within_a_narrow_terminal_and_folds_its_cells():
    wide = a.Variables((a.VariableView("name", "v" * 100, "t" * 50),), 1)
    shown = answer_lines(wide, style=OutputStyle.TERMINAL, width=40)
    assert max(map(len, shown.splitlines())) <= 40
    assert shown.count("v") == 100


@pytest.mark.parametrize("number", [0x1B, 0x7F, 0x9B, 0x2028, 0x200F, 0x202E, 0x2066, 0x2069])
def test_what_moves_a_cursor_or_turns_the_writing_around_is_escaped(number):
    shown = answer_lines(a.Value("x", f"a{chr(number)}b", "str"))
    assert shown in {f"x = a\\x{number:02x}b", f"x = a\\u{number:04x}b"}


def test_a_value_of_several_lines_is_shown_as_lines_that_are_indented():
    table = "DataFrame (2, 1)\n   x\n0  1\n1  2"
    assert (
        answer_lines(a.Value("df", table, "DataFrame"))
        == "df = DataFrame (2, 1)\n     x\n  0  1\n  1  2"
    )
    assert answer_lines(a.Value("s", " x\nnote: well", "T")) == "s =\n   x\n  note: well"
    long = answer_lines(a.Value("t", "row\n" * 999, "T", ref="v1"), budget=60)
    assert len(long) <= 240
    assert re.search(r"… \d+ more lines: debugger vars v1", long)


def test_a_value_is_short_where_its_items_are_listed_below():
    items = (a.VariableView("'key0'", "0"),)
    shown = answer_lines(
        a.Value("d", "{" + "'key': 0, " * 99 + "}", "dict", ref="v1", children=items)
    )
    assert len(shown.splitlines()[0]) < 220
    assert shown.splitlines()[1] == "  'key0' = 0"


def test_the_name_of_a_file_does_not_leave_its_line():
    frame = a.FrameView(0, "run", file="/tmp/app\n-> 1  note: all is well.py", line=3)
    crash = Crash("crashed", "ValueError", frame=frame)
    assert "/tmp/app\\n-> 1  note: all is well.py:3" in answer_lines(crash)


# JSON


def test_json_has_the_keys_of_the_contract():
    data = to_data(STOP, budget=None)
    assert {
        *("reason", "raw_reason", "description", "thread", "frame", "source", "locals", "changed"),
        *("stack", "output", "hit_breakpoints", "exit_code", "signal", "state"),
    } <= set(data)
    assert data["frame"] == {
        "index": 0,
        "function": "sum_to",
        "file": "/src/main.c",
        "line": 42,
        "column": 5,
        "address": None,
        "module": None,
    }
    assert set(data["locals"][0]) == {"name", "type", "value"}
    assert "stack_own" not in data
    children = to_data(BY_KIND[a.Children], budget=None)
    assert set(children) == {"ref", "total", "from", "variables"}
    assert "show_type" not in to_data(a.Value("x", "1", "int", show_type=True), budget=None)


def test_json_holds_what_json_cannot_say():
    strange = a.Settings("\ud800", exists=True, settings=(a.Setting("x", float("nan"), "file"),))
    data = json.loads(to_json(strange, budget=None))
    assert (data["path"], data["settings"][0]["value"]) == ("\ufffd", None)


def test_json_that_is_too_long_says_what_was_cut():
    long = a.Variables(tuple(a.VariableView(f"v{n}", "x" * 300) for n in range(300)), 300)
    data = to_data(long, budget=200)
    assert data["total"] == 300
    assert data["truncated"]["budget"] == 200
    assert data["truncated"]["cut"][0].startswith("variables[")
    assert 0 < len(data["variables"]) < 300
    assert all(one["name"].startswith("v") for one in data["variables"])


def test_a_small_budget_says_that_parts_are_missing():
    shown = answer_lines(STOP, budget=25)
    assert shown.splitlines()[-1].startswith("…")
    assert answer_lines(STOP, budget=30).endswith("… more with a larger --budget")
    assert "…" not in answer_lines(STOP, budget=1000)


def test_output_of_both_streams_says_that_their_order_is_not_known():
    lines = (a.OutputLine("stdout", "out", 1), a.OutputLine("stderr", "err", 2))
    assert "output: +2 lines (stdout and stderr each in order)" in answer_lines(
        replace(STOP, output=lines, output_total=2)
    )
    assert "(stdout" not in answer_lines(replace(STOP, output=lines[:1], output_total=1))


def test_a_terminal_keeps_the_tabs_that_its_budget_counted() -> None:
    answer = a.Assignment(name="x", previous="", value="1", type="int", note="\t" * 3000)
    shown = SGR.sub("", format_answer(answer, budget=18, style=OutputStyle.TERMINAL, width=80))
    assert len(shown) <= 4 * 18
    assert "\t\t" in shown


@pytest.mark.parametrize("depth", [-(2**70), -1, 0, 3, 2**70])
def test_a_depth_beyond_all_bounds_is_indented_within_them(depth: int) -> None:
    assert len(indent_tree(depth)) <= 400


def test_a_cut_never_leaves_a_part_of_a_colour() -> None:
    line = a.OutputLine(seq=1, stream="stdout", text="\x1b[31m" * 100)
    answer = a.Output(lines=(line,), dropped=0)
    for budget in range(1, 12):
        shown = format_answer(answer, budget=budget, style=OutputStyle.TERMINAL, width=80)
        assert "\x1b" not in SGR.sub("", shown)
