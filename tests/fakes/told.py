"""What does one of every kind of answer look like?"""

from __future__ import annotations

from debugger.core import answers as a

MAIN = a.FrameView(1, "main", "/src/main.c", 60)
SUM_TO = a.FrameView(0, "sum_to", "/src/main.c", 42, 5)
SOURCE = (
    a.SourceLine(40, "int sum = 0;"),
    a.SourceLine(41, "for (int i = 0; i < n; i++) {"),
    a.SourceLine(42, "  sum += calculate(i);", current=True),
    a.SourceLine(43, "}"),
)
LOCALS = (
    a.VariableView("n", "100", "int"),
    a.VariableView("sum", "4950", "int"),
    a.VariableView("i", "49", "int"),
)
STOP = a.Stop(
    session="main",
    state="stopped",
    reason="breakpoint",
    raw_reason="breakpoint",
    thread=1,
    frame=SUM_TO,
    source=SOURCE,
    locals=LOCALS,
    locals_total=3,
    stack=(SUM_TO, MAIN),
    stack_total=2,
    output=(a.OutputLine("stdout", "step 48", 1), a.OutputLine("stdout", "step 49", 2)),
    output_total=2,
    hit_breakpoints=(1,),
)


def breakpoint_at(**changed) -> a.BreakpointView:
    """Return a bound breakpoint at main.c:42, with what is `changed`."""
    shown = {
        "id": 1,
        "kind": "line",
        "verified": True,
        "file": "/src/main.c",
        "line": 42,
        "requested_line": 42,
        "function": None,
        "address": None,
        "condition": None,
        "hit_count": None,
        "log": None,
        "enabled": True,
    }
    return a.BreakpointView(**{**shown, **changed})


STATUS = a.Status(
    "main", "stopped", "/src/app", ("-n", "5 6"), "/src", 42, "lldb-dap", "dap", 2, 3, "breakpoint"
)
BACKTRACE = a.Backtrace(1, (SUM_TO, MAIN), 2)
EVIDENCE = a.EvidenceView(
    "e1",
    "debugger crash -- ./a",
    "/src",
    "2026-01-02T03:04:05+00:00",
    "null pointer: x",
    ("/src/a.c",),
    ("/src/a.c",),
)
EXAMPLES: tuple[a.Answer, ...] = (
    STOP,
    a.Value("sum", "4950", "int"),
    a.Assignment("sum", "4950", "7", "int"),
    a.Variables(LOCALS, 3, SUM_TO),
    a.Children("v1", 10, 2, (a.VariableView("[2]", "20"), a.VariableView("[3]", "{…}", ref="v2"))),
    a.Source("/src/main.c", SOURCE, 60, "sum_to"),
    BACKTRACE,
    a.Backtraces((BACKTRACE, a.Backtrace(2, (SUM_TO, MAIN), 2)), 2),
    a.CurrentFrame(1, MAIN, SOURCE, LOCALS, 3),
    a.Threads(
        (
            a.ThreadView(1, "worker", "running"),
            a.ThreadView(2, "main", "stopped", SUM_TO, current=True),
        ),
        2,
    ),
    breakpoint_at(),
    a.BreakpointList(
        (breakpoint_at(hits=2), breakpoint_at(id=2, line=None, requested_line=99, verified=False))
    ),
    a.Removed((1, 2)),
    STATUS,
    a.Sessions((STATUS,), "main"),
    a.Output((a.OutputLine("stdout", "a", 1), a.OutputLine("stderr", "b", 2)), 0, 2),
    a.Events(
        (
            a.EventView(7, 10**9, "stop", "main", 1, "here", {}, "sum_to", "/src/main.c", 42),
            a.EventView(8, 15 * 10**8, "output", "main", None, "step", {"stream": "stdout"}),
        ),
        8,
        0,
        2,
    ),
    a.Ended(("main",)),
    a.Raw("info line", "Line 42\nof main.c"),
    a.MemoryView("0x10", "6869", "string", (a.MemoryRow("0x10", '"hi"'),), 2, 4),
    a.MemoryWritten("0x10", "00", "2a", 1),
    a.RegistersView((a.RegisterGroupView("General", (a.RegisterView("rax", "0x1"),)),), ("Float",)),
    a.Disassembled(
        (
            a.InstructionView("0x10", "90", "nop", "work", "/src/main.c", 7, "x++;", current=True),
            a.InstructionView("0x11", "c3", "ret", "work", "/src/main.c", 7),
        )
    ),
    a.ModulesView((a.ModuleView("app", "/src/app", "0x400000"),), 1),
    a.ExceptionInfo("ValueError", "no", ("KeyError: 3",), "Traceback…\nValueError: no", 1, SUM_TO),
    a.Doctor(
        (
            a.Check("gdb", "ok", "", "14.1", "/usr/bin/gdb"),
            a.Check("lldb", "error", "not found", fix="debugger setup lldb"),
        )
    ),
    a.Settings("/c.toml", exists=True, settings=(a.Setting("defaults.adapter", "gdb", "file"),)),
    a.DaemonStatus(running=True, pid=7, version="1.0", uptime_s=61.0, socket="/s", sessions=("x",)),
    a.Text("done"),
    a.AdapterList(
        (
            a.AdapterView("gdb", "installed", ("c", "c++"), "16.3", "/usr/bin/gdb"),
            a.AdapterView("delve", "missing", ("go",), how="debugger setup delve --yes"),
        )
    ),
    a.Installation("delve", "checked", ("go install dlv",), works=False, problem="no go here"),
    a.Traces(
        (
            a.TracedView(1, "audio::*", 3, ("audio::mix", "audio::fade"), 2, ("audio::mix",)),
            a.TracedView(None, "wrok", 0, why="no function is called so", near_names=("work",)),
            a.TracedView(3, "work", 1, ("work",)),
        ),
        4,
    ),
    a.Readings(
        (
            a.Reading("counter", "3", "int"),
            a.Reading("pair", "{…}", "Pair", "v1", (a.VariableView("x", "1", "int"),), 1),
            a.Reading("nosuch", None, error="no such name"),
        )
    ),
    a.Crash(
        "crashed",
        cause="null pointer: node->next, node=0x0, in pop main.c:42",
        kind="null_pointer",
        signal="SIGSEGV",
        address="0x8",
        address_text="near null: 8 bytes from a null pointer",
        frame=SUM_TO,
        source=SOURCE,
        locals=(a.VariableView("node", "0x0"),),
        locals_total=1,
        callers=(a.CallerView(MAIN, "pop(list);", (a.VariableView("list", "0x5 {head: 0x0}"),)),),
        threads=(a.ThreadGroup(3, MAIN),),
        threads_total=4,
        output=(a.OutputLine("stdout", "same", 1), a.OutputLine("stdout", "same", 2)),
        output_total=5,
        traces_left_out=3,
        exit_signal="SIGSEGV",
        earlier=("index out of bounds (UBSan)",),
        notes=("freed in drop main.c:9",),
        evidence="e1",
    ),
    a.EvidenceList((EVIDENCE,), dropped=2),
    a.EvidenceShown(EVIDENCE, "crash: x\nmore"),
    a.EvidenceReport(2, "", "/tmp/report.md", stale=1, bytes=90),
)
